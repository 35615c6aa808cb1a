/* config_keys.h - the keys of configuration files: a table for each kind of file. */
#ifndef HEED_HF_CONFIG_KEYS_H
#define HEED_HF_CONFIG_KEYS_H

#include "hf/hf_internal.h"

/* What the value of a key must be, in the file and in the configuration */
typedef enum hd__hf_config_kind {
    HD__INT,        /* a whole number, or null, which changes nothing; int64_t */
    HD__TOKEN,      /* a whole number, or null for HD_NO_PADDING; int64_t */
    HD__SIZE,       /* a whole number from 1 to 2^31 - 1; int64_t */
    HD__DERIVED,    /* the same, or null: as it follows from others, which is 0 in int64_t */
    HD__ALIAS,      /* a size under another name, which counts for more */
    HD__FLOAT,      /* a number with a point or an exponent; double */
    HD__NUMBER,     /* any number; double */
    HD__BOOL,       /* bool */
    HD__ACTIVATION, /* a text, which hd__hf_activation knows; const char * */
    HD__ANY,        /* anything: it is not kept */
    HD__OBJECT,     /* an object, or one of `words`: what is inside is read elsewhere */
    HD__ONLY,       /* one of `words`: it is not kept */
    HD__ENDS,       /* the next of the end tokens; hd_generate_options */
    HD__NAMES,      /* the next of the target modules, for which there is room; hd_lora_options */
    HD__FULL,       /* a list of the text full_attention: it is not kept */
    HD__FLAGS /* a list of whole numbers, 0 for false; int64_t n, and then bool[HD_LAYERS_MOST] */
} hd__hf_config_kind;

#define HD__NOWHERE SIZE_MAX /* the place of a value that is not kept */

/* A name is a path. One that ends in '.' also stands for what is inside of it, and one that ends in
 * '_' for all that begin so. */
typedef struct hd__hf_config_key {
    const char *name;
    hd__hf_config_kind kind;
    size_t offset; /* in the configuration */
    /* NULL, or values that are taken whatever the kind is, in the place of the whole list or
     * object. Where there are such and nothing is kept, any other value is a warning: it has no
     * effect. */
    const char *words;
} hd__hf_config_key;

/* A later row counts for more than an earlier one that has the same place. */
typedef struct hd__hf_config_keys {
    const hd__hf_config_key *keys; /* up to one without a name */
    const char *idle;              /* names that have no effect, as words; NULL: all other names */
    const char *other;     /* what is expected in place of a key that is in neither, whose values
                            * the row without a name has, and of HD__ONLY; NULL: such a key is a
                            * warning */
    bool null_is_left_out; /* true: a key that is null is as good as none */
} hd__hf_config_keys;

/* ---------------------------------------------------------------- rows */

#define HD__ROW(...)                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* A field of the configuration `of`, under its own name */
#define HD__FIELD(of, kind, field) HD__ROW(#field, HD__##kind, offsetof(of, field), NULL)
#define HD__CHECKED(name, kind, words) HD__ROW(name, HD__##kind, HD__NOWHERE, words)
#define HD__ONLY_ROW(name, words) HD__CHECKED(name, ONLY, words)
#define HD__LAST_ROW(kind) HD__CHECKED(NULL, kind, "false")

/* What the config.json of every family may have: nothing follows from it for the numbers of a
 * model. */
#define HD__IDLE                                                                                   \
    "architectures. torch_dtype dtype transformers_version eos_token_id. "                         \
    "_name_or_path name_or_path task_specific_params. \"transformers.js_config\". "                \
    "gradient_checkpointing output_ return_dict chunk_size_feed_forward id2label. label2id. "      \
    "num_labels problem_type is_encoder_decoder is_decoder "

/* What is checked in every family: some of it would make other numbers. */
#define HD__COMMON_KEYS(model_type)                                                                \
    HD__ONLY_ROW("model_type", model_type " null"), HD__CHECKED("use_cache", BOOL, NULL),          \
        HD__CHECKED("bos_token_id", INT, NULL), HD__ONLY_ROW("per_layer_config.", "null {}"),      \
        HD__ONLY_ROW("quantization_config.", "null")

/* ---------------------------------------------------------------- the tables of all families */

/* What is inside of rope_parameters or rope_scaling, for the type llama3 and for the default; the
 * configuration is a hd_rotary_options. */
extern const hd__hf_config_keys hd__hf_rope_llama3, hd__hf_rope_default;
/* What counts beside them for the type llama3 */
extern const hd__hf_config_keys hd__hf_rope_beside;
extern const hd__hf_config_keys hd__hf_generation_keys, hd__hf_ends_keys, hd__hf_adapter_keys;

#endif
