/* tokens.h - a sequence of token ids of two or four bytes each (tokens.c). */
#ifndef HEED_DATA_TOKENS_H
#define HEED_DATA_TOKENS_H

#include <stdatomic.h>

#include "heed/data.h"

struct hd_tokens {
    atomic_int refs;
    atomic_bool freed; /* true if the program has called hd_tokens_free */
    int width;         /* the number of bytes of one id */
    int64_t len;
    unsigned char *bytes;
    /* of a part: the sequence that owns the bytes, to which the part holds a reference; NULL: this
     * sequence owns its bytes */
    hd_tokens *owner;
    bool allocated; /* true if this sequence owns bytes from hd_alloc */
    size_t mapped;  /* the size of the mapping that this sequence owns; 0: none */
};

/* Returns false with an error if t is NULL, or if the program has freed t. Public functions begin
 * with this check. Datasets may still use tokens that the program has freed. */
bool hd__data_tokens_given(const hd_tokens *t);
hd_tokens *hd__data_tokens_hold(const hd_tokens *t);
void hd__data_tokens_drop(hd_tokens *t); /* drops a reference to t; t may be NULL */
/* Copies n ids of t, from position `at` on, to ids[]. The caller has checked that t has them. */
void hd__data_tokens_copy(const hd_tokens *t, int64_t at, int64_t n, int64_t *ids);

#endif
