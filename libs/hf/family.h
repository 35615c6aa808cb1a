/* family.h - the row of a model family: a struct that describes a class of transformers.
 *
 * The file of each family ends in its row, and families.h lists all families. The code that reads,
 * makes, runs and writes models knows a family by its row alone. */
#ifndef HEED_HF_FAMILY_H
#define HEED_HF_FAMILY_H

#include "hf/config_fill.h"

/* The kind of a value of the configuration that can be read from a module. */
typedef enum hd__hf_known_kind {
    HD__ROWS,    /* dim 0 of the module's weight */
    HD__COLUMNS, /* dim 1 of the module's weight */
    HD__LENGTH,  /* the number of modules of a ModuleList */
    HD__BIAS,    /* true if the module has a bias */
    HD__EPS,     /* eps of a norm */
    HD__P,       /* p of a Dropout */
    HD__ACT      /* the name of an activation */
} hd__hf_known_kind;

/* A key of config.json, and the module from which heed reads the key's value. The name of this
 * module ends in `module`; if several modules have such a name, the last one counts. A key that the
 * family's configuration lacks is ignored. */
typedef struct hd__hf_known {
    const char *key;
    hd__hf_known_kind kind;
    const char *module;
} hd__hf_known;

struct hd__hf_family {
    const char *model_type;
    hd_module_type type;                /* the model's class; its name is the architecture */
    size_t size;                        /* the size of the public configuration */
    void (*defaults)(void *values);     /* fills a public configuration with the class's defaults */
    hd__hf_config_keys keys;            /* the keys of config.json, in the order of writing */
    int64_t bos_token_id, eos_token_id; /* defaults for config.json; HD_NO_PADDING: no token */
    size_t rope; /* the offset of the hd_rotary_options; HD__NOWHERE: the family has none */
    /* Checks the values of config.json that the table of keys cannot check. Returns false with an
     * error if heed does not support them. NULL: the table checks all values. */
    bool (*file_ok)(const hd__hf_config_file *f, const hd__hf_config *c);
    /* true: transformers refuses a config.json whose number of heads does not divide the width */
    bool heads_divide;

    /* Sets the values that are computed from others. heed has checked the sizes before. Returns
     * false with an error if a value is wrong. */
    bool (*resolve)(hd__hf_config *c);
    /* Returns a lower bound of the number of weights, without those of an untied head. */
    double (*elements)(const hd__hf_config *c);
    /* Returns a new model without its head; NULL with an error on failure. */
    hd_module *(*body_new)(const hd__hf_config *c, const hd_dtype *d);
    /* Returns the last layer's output (b, t, width) for ids (b, t) in this context; NULL with an
     * error on failure. */
    hd_tensor *(*hidden)(hd__hf_model *m, hd_tensor *ids, const hd__hf_context *c);
    /* Returns the number of positions for which the modules have embeddings. NULL: the number is
     * max_position_embeddings. */
    int64_t (*positions)(const hd__hf_model *m);
    const char *body;          /* the name of the module that body_new makes */
    const char *words;         /* the name of the embedding of the tokens */
    const char *layers;        /* the key of the number of layers */
    const hd__hf_known *known; /* values to read from modules; the last one has key NULL */
    /* Sets in `values` the values that only modules of this family have. heed calls this function
     * for the model and then for each of its modules m. NULL: no such values. */
    void (*read)(const hd_module *m, void *values);
    int64_t (*heads)(const hd_module *m); /* the number of m's heads; 0 if m is no attention */

    bool bare_names; /* true: in files, the names of tensors may lack the body's name */
    /* endings, separated by blanks, of the names of tensors that no module needs */
    const char *passed_over;

    /* Only the families of decoder.h set the fields below: the classes of their parts, the
     * functions that make a layer's attention and MLP, and qkv_bias. It is true if q_proj, k_proj
     * and v_proj always have biases. */
    const hd_module_type *classes;
    hd_module *(*attention_new)(const hd__hf_config *c, int64_t layer);
    hd_module *(*mlp_new)(const hd__hf_config *c);
    bool qkv_bias;
};

extern const hd__hf_family *const hd__hf_families[]; /* ends with NULL */

#define FAMILY(name) extern const hd__hf_family hd__hf_##name##_family;
#include "hf/families.h"
#undef FAMILY

#define HD__MODEL_TYPE(architecture)                                                               \
    HD_MODULE_TYPE(hd__hf_model, architecture, hd__hf_model_forward, hd__hf_model_free)

#endif
