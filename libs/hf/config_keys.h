/* config_keys.h - the tables of the keys that configuration files may have, one for each kind. */
#ifndef HEED_HF_CONFIG_KEYS_H
#define HEED_HF_CONFIG_KEYS_H

#include "hf/hf_internal.h"

/* The kind of a key: the values that it takes, and the type of its field in the configuration */
typedef enum hd__hf_config_kind {
    HD__INT,        /* a whole number, or null, which changes nothing; int64_t */
    HD__TOKEN,      /* a whole number, or null for HD_NO_PADDING; int64_t */
    HD__SIZE,       /* a whole number from 1 to 2^31 - 1; int64_t */
    HD__DERIVED,    /* a SIZE, or null, for which the field is 0 and follows from others; int64_t */
    HD__ALIAS,      /* another name of a size, which overrides the first name; int64_t */
    HD__FLOAT,      /* a number with a point or an exponent; double */
    HD__NUMBER,     /* any number; double */
    HD__BOOL,       /* true or false; bool */
    HD__ACTIVATION, /* a text that hd__hf_activation knows; const char * */
    HD__ANY,        /* any value; no field */
    HD__OBJECT,     /* an object, which is read elsewhere, or one of `words`; no field */
    HD__ONLY,       /* one of `words`; no field */
    HD__ENDS,       /* an end token, which is appended; hd_generate_options */
    HD__NAMES,      /* a target module, appended to an array with space for all; hd_lora_options */
    HD__FULL,       /* a list of the text full_attention; no field */
    HD__FLAGS /* a list of whole numbers, 0 for false; int64_t n, and then bool[HD_LAYERS_MOST] */
} hd__hf_config_kind;

#define HD__NOWHERE SIZE_MAX /* the offset of a key without a field */

/* A key that a file may have. Its name is a path. A name that ends in '.' also stands for the paths
 * inside it. A name that ends in '_' stands for all names that begin with it. */
typedef struct hd__hf_config_key {
    const char *name;
    hd__hf_config_kind kind;
    size_t offset; /* of its field in the configuration */
    /* NULL, or values that the key takes besides those of its kind. If the key has no field, heed
     * warns of any other value, because it has no effect. */
    const char *words;
} hd__hf_config_key;

/* The keys of a kind of file. If two rows have the same field, the value of the later row
 * counts. */
typedef struct hd__hf_config_keys {
    const hd__hf_config_key *keys; /* the last one has name NULL */
    const char *idle;              /* names without effect, with blanks between; NULL: all others */
    /* NULL: heed warns of a name that is neither in keys nor in idle. Otherwise such a name is an
     * error, whose message ends in "expected" and this text, unless its value is null, {}, [] or
     * one of the last row's words. Messages about HD__ONLY end in this text, too. */
    const char *other;
    bool null_is_left_out; /* true: a key that is null counts as left out */
} hd__hf_config_keys;

/* ---------------------------------------------------------------- rows */

#define HD__ROW(...)                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* A key with the name of its field in the configuration `of`. */
#define HD__FIELD(of, kind, field) HD__ROW(#field, HD__##kind, offsetof(of, field), NULL)
#define HD__CHECKED(name, kind, words) HD__ROW(name, HD__##kind, HD__NOWHERE, words)
#define HD__ONLY_ROW(name, words) HD__CHECKED(name, ONLY, words)
#define HD__LAST_ROW(kind) HD__CHECKED(NULL, kind, "false")

/* Names that config.json may have in every family, and that have no effect on a model's numbers */
#define HD__IDLE                                                                                   \
    "architectures. torch_dtype dtype transformers_version eos_token_id. "                         \
    "_name_or_path name_or_path task_specific_params. \"transformers.js_config\". "                \
    "gradient_checkpointing output_ return_dict chunk_size_feed_forward id2label. label2id. "      \
    "num_labels problem_type is_encoder_decoder is_decoder "

/* Keys without a field that every family checks: some values would change a model's numbers */
#define HD__COMMON_KEYS(model_type)                                                                \
    HD__ONLY_ROW("model_type", model_type " null"), HD__CHECKED("use_cache", BOOL, NULL),          \
        HD__CHECKED("bos_token_id", INT, NULL), HD__ONLY_ROW("per_layer_config.", "null {}"),      \
        HD__ONLY_ROW("quantization_config.", "null")

/* ---------------------------------------------------------------- the tables of all families */

/* The keys inside rope_parameters and rope_scaling, for the rope_type llama3 and for the default
 * one. They fill an hd_rotary_options. */
extern const hd__hf_config_keys hd__hf_rope_llama3, hd__hf_rope_default;
/* The keys beside rope_parameters and rope_scaling that the rope_type llama3 also has. */
extern const hd__hf_config_keys hd__hf_rope_beside;
extern const hd__hf_config_keys hd__hf_generation_keys, hd__hf_ends_keys, hd__hf_adapter_keys;

#endif
