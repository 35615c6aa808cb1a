/* config_keys.h - the tables of the keys that configuration files may have, one table for each kind
 * of file. */
#ifndef HEED_HF_CONFIG_KEYS_H
#define HEED_HF_CONFIG_KEYS_H

#include "hf/hf_internal.h"

/* The kind of a key decides which values the key takes, and which type its field in the
 * configuration has. */
typedef enum hd__hf_config_kind {
    HD__INT,        /* a whole number, or null, which changes nothing; int64_t */
    HD__TOKEN,      /* a whole number, or null for HD_NO_PADDING; int64_t */
    HD__SIZE,       /* a whole number from 1 to 2^31 - 1; int64_t */
    HD__DERIVED,    /* a size, or null: the field is then 0, and heed computes it; int64_t */
    HD__ALIAS,      /* another name of a size, which counts if a file has both names; int64_t */
    HD__FLOAT,      /* a number with a point or an exponent; double */
    HD__NUMBER,     /* any number; double */
    HD__BOOL,       /* true or false; bool */
    HD__ACTIVATION, /* a text that hd__hf_activation knows; const char * */
    HD__ANY,        /* any value; the key has no field */
    HD__OBJECT,     /* an object, which other code reads, or one of `words`; no field */
    HD__ONLY,       /* one of `words`; no field */
    HD__ENDS,       /* end tokens, appended to those of the options; hd_generate_options */
    HD__NAMES,      /* names, appended to target_modules, which has room; hd_lora_options */
    HD__FULL,       /* a list in which each text is full_attention; no field */
    HD__FLAGS /* a list of whole numbers, 0 for false; int64_t n, and then bool[HD_LAYERS_MOST] */
} hd__hf_config_kind;

#define HD__NOWHERE SIZE_MAX /* the offset of a key without a field */

/* A key that a file may have. Its name is a path. A name that ends in '.' also stands for the paths
 * inside it. A name that ends in '_' stands for all names that begin with it. */
typedef struct hd__hf_config_key {
    const char *name;
    hd__hf_config_kind kind;
    size_t offset; /* the offset of its field in the configuration, or HD__NOWHERE */
    /* Values, separated by blanks, that the key takes besides those of its kind; or NULL. If the
     * key has `words` but no field, and its kind is HD__ANY or stands before HD__ANY in the enum,
     * heed warns that another value has no effect. */
    const char *words;
} hd__hf_config_key;

/* The keys of a kind of file. If two rows have the same field, the value of the later row
 * counts. */
typedef struct hd__hf_config_keys {
    const hd__hf_config_key *keys; /* the keys; the last one has name NULL */
    /* names without effect, separated by blanks; NULL: all names that are not in keys */
    const char *idle;
    /* NULL: heed warns of a name that is neither in keys nor in idle. A text: such a name is an
     * error, unless its value is one of the last row's words. With the value null, {} or [], each
     * name is accepted. The messages about such names and about keys of kind HD__ONLY end in
     * "expected" and this text. */
    const char *other;
    bool null_is_left_out; /* true: a key whose value is null counts as missing */
} hd__hf_config_keys;

/* ---------------------------------------------------------------- rows */

#define HD__ROW(...)                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* The row of a key that has the same name as its field in the configuration `of`. */
#define HD__FIELD(of, kind, field) HD__ROW(#field, HD__##kind, offsetof(of, field), NULL)
#define HD__CHECKED(name, kind, words) HD__ROW(name, HD__##kind, HD__NOWHERE, words)
#define HD__ONLY_ROW(name, words) HD__CHECKED(name, ONLY, words)
#define HD__LAST_ROW(kind) HD__CHECKED(NULL, kind, "false")

/* The names that config.json may have in every family without effect on a model's numbers. */
#define HD__IDLE                                                                                   \
    "architectures. torch_dtype dtype transformers_version eos_token_id. "                         \
    "_name_or_path name_or_path task_specific_params. \"transformers.js_config\". "                \
    "gradient_checkpointing output_ return_dict chunk_size_feed_forward id2label. label2id. "      \
    "num_labels problem_type is_encoder_decoder is_decoder "

/* The rows of keys that have no field, but that every family checks, because some of their values
 * would change a model's numbers. */
#define HD__COMMON_KEYS(model_type)                                                                \
    HD__ONLY_ROW("model_type", model_type " null"), HD__CHECKED("use_cache", BOOL, NULL),          \
        HD__CHECKED("bos_token_id", INT, NULL), HD__ONLY_ROW("per_layer_config.", "null {}"),      \
        HD__ONLY_ROW("quantization_config.", "null")

/* ---------------------------------------------------------------- the tables of all families */

/* The keys inside rope_parameters and rope_scaling, for the rope_type llama3 and for the default
 * one. They fill an hd_rotary_options. */
extern const hd__hf_config_keys hd__hf_rope_llama3, hd__hf_rope_default;
/* For the rope_type llama3: the keys that are not inside rope_parameters or rope_scaling, but
 * beside them. */
extern const hd__hf_config_keys hd__hf_rope_beside;
extern const hd__hf_config_keys hd__hf_generation_keys, hd__hf_ends_keys, hd__hf_adapter_keys;

#endif
