/* tokens.h - a row of token ids of two or four bytes each (tokens.c). */
#ifndef HEED_DATA_TOKENS_H
#define HEED_DATA_TOKENS_H

#include <stdatomic.h>

#include "heed/data.h"

struct hd_tokens {
    atomic_int refs;
    atomic_bool freed; /* the user has called hd_tokens_free */
    int width;         /* bytes of an id */
    int64_t len;
    unsigned char *bytes;
    hd_tokens *owner; /* the row that owns the bytes, held; NULL: this one owns them */
    bool allocated;   /* an owner's bytes come from hd_alloc */
    size_t mapped;    /* an owner's bytes are a mapping of this size; 0: they are not mapped */
};

/* For public functions: true if t is given and not freed by the user. Other holders may still use
 * it. */
bool hd__data_tokens_given(const hd_tokens *t);
hd_tokens *hd__data_tokens_hold(const hd_tokens *t);
void hd__data_tokens_drop(hd_tokens *t); /* t may be NULL */
/* Copies n ids from `at` on. The caller has checked that they exist. */
void hd__data_tokens_copy(const hd_tokens *t, int64_t at, int64_t n, int64_t *ids);

#endif
