/* config_fill.h - what a file has for the keys of a table, put into a configuration. */
#ifndef HEED_HF_CONFIG_FILL_H
#define HEED_HF_CONFIG_FILL_H

#include "hf/config_keys.h"

/* A file that was read, or what is inside of one of its keys. */
typedef struct hd__hf_config_file {
    const char *path; /* for messages */
    const hd_dict *values;
    const char *inside; /* "", or a key with a dot at its end */
} hd__hf_config_file;

typedef struct hd__hf_value {
    const char *name; /* from what it is inside of; NULL: there is none */
    const char *text; /* of a text, or null, true, false, {} or []; NULL: it is a number */
    bool quoted;      /* it is a text */
    bool whole;       /* it is a whole number */
    int64_t integer;
    double number;
} hd__hf_value;

/* The value of this name; one without a name if there is none. */
hd__hf_value hd__hf_value_of(const hd__hf_config_file *f, const char *name);
/* How many values are inside */
int64_t hd__hf_count_inside(const hd__hf_config_file *f);
/* Is it one of these words? The text "true" is not the word true. */
bool hd__hf_is_word(const hd__hf_value *v, const char *words);

/* Sets HD_VALUE: what the file has for the key, and what it takes. hd__hf_config_keys explains
 * `other`. */
bool hd__hf_refuse_value(const hd__hf_config_file *f, const hd__hf_value *v,
                         const hd__hf_config_key *k, const char *other);
/* Fills `config` with what the file has for the keys, whatever their order is in it. */
bool hd__hf_config_fill(const hd__hf_config_file *f, const hd__hf_config_keys *t, void *config);

#endif
