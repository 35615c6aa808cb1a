/* config_fill.h - fills a configuration with a file's values, by a table of keys. */
#ifndef HEED_HF_CONFIG_FILL_H
#define HEED_HF_CONFIG_FILL_H

#include "hf/config_keys.h"

/* A file that was read, or an object in it. */
typedef struct hd__hf_config_file {
    const char *path; /* for messages */
    const hd_dict *values;
    const char *inside; /* "" for the file, "rope_scaling." for the object of this key */
} hd__hf_config_file;

typedef struct hd__hf_value {
    const char *name; /* its path in the file or object; NULL: there is no such value */
    const char *text; /* the text, or null, true, false, {} or []; NULL: it is a number */
    bool quoted;      /* it is a text */
    bool whole;       /* it is a whole number */
    int64_t integer;
    double number;
} hd__hf_value;

/* The value of this name. Its name is NULL if f has none. */
hd__hf_value hd__hf_value_of(const hd__hf_config_file *f, const char *name);
/* The number of values in f */
int64_t hd__hf_count_inside(const hd__hf_config_file *f);
/* True if v is one of these words, as in "null true 1". The text "true" is not the word true. */
bool hd__hf_is_word(const hd__hf_value *v, const char *words);

/* Returns false with HD_VALUE. The message has the value v, and the values that k takes; `other` is
 * that of k's table. */
bool hd__hf_refuse_value(const hd__hf_config_file *f, const hd__hf_value *v,
                         const hd__hf_config_key *k, const char *other);
/* Sets the fields of `config` to the file's values, in the order of the keys. Fails at a value that
 * its key does not take, and warns of values without effect. */
bool hd__hf_config_fill(const hd__hf_config_file *f, const hd__hf_config_keys *t, void *config);

#endif
