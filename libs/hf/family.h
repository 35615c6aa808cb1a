/* family.h - a model family: a class of transformers in a file of its own, which ends in its row.
 *
 * families.h lists the rows. Whatever reads, makes, runs and writes models knows a family by its
 * row alone. */
#ifndef HEED_HF_FAMILY_H
#define HEED_HF_FAMILY_H

#include "hf/config_fill.h"

/* What a module tells of the configuration */
typedef enum hd__hf_known_kind {
    HD__ROWS,    /* dim 0 of its weight */
    HD__COLUMNS, /* dim 1 of its weight */
    HD__LENGTH,  /* of a ModuleList: how many modules it has */
    HD__BIAS,    /* has it a bias? */
    HD__EPS,     /* of a norm */
    HD__P,       /* of a Dropout */
    HD__ACT      /* the name of an activation */
} hd__hf_known_kind;

/* A key of config.json, if the family has a place for it, and the end of the name of the module
 * that knows its value now. The last one of several modules counts. */
typedef struct hd__hf_known {
    const char *key;
    hd__hf_known_kind kind;
    const char *module;
} hd__hf_known;

struct hd__hf_family {
    const char *model_type;
    hd_module_type type;                /* of the model: its name is the architecture */
    size_t size;                        /* of the public configuration, */
    void (*defaults)(void *values);     /* which this function fills with those of the class */
    hd__hf_config_keys keys;            /* of config.json, in the order in which they are written */
    int64_t bos_token_id, eos_token_id; /* where config.json has none; HD_NO_PADDING: none */
    size_t rope; /* the place of the hd_rotary_options; HD__NOWHERE: there are none */
    /* Has config.json nothing that the model cannot do, and no key says? Or NULL */
    bool (*file_ok)(const hd__hf_config_file *f, const hd__hf_config *c);
    /* Does transformers take only a config.json whose heads divide the width? */
    bool heads_divide;

    /* Checks the values, whose sizes are in range, and sets those that follow from others. */
    bool (*resolve)(hd__hf_config *c);
    double (*elements)(const hd__hf_config *c); /* of the weights, without a head of their own */
    hd_module *(*body_new)(const hd__hf_config *c, const hd_dtype *d); /* all but the head */
    /* The last layer's output (b, t, width) for ids (b, t) that see what the context says */
    hd_tensor *(*hidden)(hd__hf_model *m, hd_tensor *ids, const hd__hf_context *c);
    /* How many positions the modules have; NULL: as many as m was made with */
    int64_t (*positions)(const hd__hf_model *m);
    const char *body, *words;  /* names: of the body, and of the embedding of the words */
    const char *layers;        /* the key that says how many layers there are */
    const hd__hf_known *known; /* up to one without a key */
    /* Takes what only modules of the family know into the configuration, from each module of a
     * model in turn, m itself first; or NULL */
    void (*read)(const hd_module *m, void *values);
    int64_t (*heads)(const hd_module *m); /* of an attention; 0 if m is another module */

    bool bare_names;         /* may files lack the body's name before those of tensors? */
    const char *passed_over; /* tensors of files that nothing needs: the ends of their names */

    /* Of a family of decoder.h: its classes, what makes the attention and the MLP of a layer, and
     * whether q_proj, k_proj and v_proj have biases in any case */
    const hd_module_type *classes;
    hd_module *(*attention_new)(const hd__hf_config *c, int64_t layer);
    hd_module *(*mlp_new)(const hd__hf_config *c);
    bool qkv_bias;
};

extern const hd__hf_family *const hd__hf_families[]; /* up to NULL */

#define FAMILY(name) extern const hd__hf_family hd__hf_##name##_family;
#include "hf/families.h"
#undef FAMILY

#define HD__MODEL_TYPE(architecture)                                                               \
    HD_MODULE_TYPE(hd__hf_model, architecture, hd__hf_model_forward, hd__hf_model_free)

#endif
