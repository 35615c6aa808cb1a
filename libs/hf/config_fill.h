/* config_fill.h - fills a configuration with a file's values, by a table of keys. */
#ifndef HEED_HF_CONFIG_FILL_H
#define HEED_HF_CONFIG_FILL_H

#include "hf/config_keys.h"

/* The values of a file, or of an object in it. */
typedef struct hd__hf_config_file {
    const char *path; /* the file's path, for messages */
    const hd_dict *values;
    const char *inside; /* "" for the whole file; "rope_scaling." for the object of this name */
} hd__hf_config_file;

typedef struct hd__hf_value {
    const char *name; /* its path in the file or object; NULL: there is no such value */
    const char *text; /* the text, or null, true, false, {} or []; NULL: it is a number */
    bool quoted;      /* true: it is a JSON string */
    bool whole;       /* true: it is a whole number, which `integer` has */
    int64_t integer;
    double number;
} hd__hf_value;

/* Returns the value of this name in f. If there is none, the `name` of the result is NULL. */
hd__hf_value hd__hf_value_of(const hd__hf_config_file *f, const char *name);
/* Returns the number of values of f whose name begins with f->inside. */
int64_t hd__hf_count_inside(const hd__hf_config_file *f);
/* True if v is one of `words`, which are separated by blanks, as in "null true 1". False if words
 * is NULL. The text "true" is not the word true. */
bool hd__hf_is_word(const hd__hf_value *v, const char *words);

/* Always returns false, with HD_VALUE. The message has the value v, and says which values key k
 * takes. `other` is the member `other` of k's table. */
bool hd__hf_refuse_value(const hd__hf_config_file *f, const hd__hf_value *v,
                         const hd__hf_config_key *k, const char *other);
/* Sets the fields of `config` to the file's values, in the order of the keys. Returns false with an
 * error at a value that its key does not take. Warns of values without effect. */
bool hd__hf_config_fill(const hd__hf_config_file *f, const hd__hf_config_keys *t, void *config);

#endif
