/* config_keys.h - the keys of configuration files: a table for each kind of file. */
#ifndef HEED_HF_CONFIG_KEYS_H
#define HEED_HF_CONFIG_KEYS_H

#include "hf/hf_internal.h"

/* What the value of a key must be, in the file and in the configuration */
typedef enum hd__config_kind {
    HD__INT,        /* a whole number, or null, which changes nothing; int64_t */
    HD__SIZE,       /* a whole number from 1 to 2^31 - 1; int64_t */
    HD__DERIVED,    /* the same, or null: as it follows from others, which is 0 in int64_t */
    HD__ALIAS,      /* a size under another name, which counts for more */
    HD__FLOAT,      /* a number with a point or an exponent; double */
    HD__NUMBER,     /* any number; double */
    HD__BOOL,       /* bool */
    HD__ACTIVATION, /* a text, which hd__activation knows; const char * */
    HD__ANY,        /* anything: it is not kept */
    HD__OBJECT,     /* an object, or one of `words`: what is inside is read elsewhere */
    HD__ONLY,       /* one of `words`: it is not kept */
    HD__ENDS,       /* the next of the end tokens; hd_generate_options */
    HD__NAMES       /* the next of the target modules, for which there is room; hd_lora_options */
} hd__config_kind;

#define HD__NOWHERE SIZE_MAX /* the place of a value that is not kept */

/* A name is a path. One that ends in '.' also stands for what is inside of it, and one that ends in
 * '_' for all that begin so. */
typedef struct hd__config_key {
    const char *name;
    hd__config_kind kind;
    size_t offset; /* in the configuration */
    /* NULL, or values that are taken whatever the kind is. Where there are such and nothing is
     * kept, any other value is a warning: it has no effect. */
    const char *words;
} hd__config_key;

/* A later row counts for more than an earlier one that has the same place. */
typedef struct hd__config_keys {
    const hd__config_key *keys; /* up to one without a name */
    const char *idle;           /* names that have no effect, as words; NULL: all other names */
    const char *other;     /* what is expected in place of a key that is in neither, whose values
                            * the row without a name has, and of HD__ONLY; NULL: such a key is a
                            * warning */
    bool null_is_left_out; /* true: a key that is null is as good as none */
} hd__config_keys;

/* A class of transformers, with the defaults that it has for what config.json leaves out */
typedef struct hd__family {
    const char *model_type, *architecture;
    hd__config_keys table; /* in the order in which a folder's keys are written */
    void (*defaults)(hd__config *c);
    int64_t bos_token_id, eos_token_id; /* HD_NO_PADDING: none */
} hd__family;

enum { HD__FAMILIES = 3 };
extern const hd__family hd__families[HD__FAMILIES];
/* The one of a configuration */
const hd__family *hd__family_of(const hd__config *c);

/* What is inside of rope_parameters or rope_scaling, for the type llama3 and for the default */
extern const hd__config_keys hd__rope_llama3, hd__rope_default;
/* What counts beside them for the type llama3 */
extern const hd__config_keys hd__rope_beside;
extern const hd__config_keys hd__generation_keys, hd__ends_keys, hd__adapter_keys;

#endif
