/* bpe.h - the byte pair encoder: bpe_load.c reads its files, bpe.c encodes with it.
 *
 * Two neighbouring tokens can merge when their bytes together are a token. The pair with the lowest
 * rank merges first; among equal ranks, the leftmost pair. The rank of a merge is its line in
 * merges.txt. */
#ifndef HEED_DATA_BPE_H
#define HEED_DATA_BPE_H

#include "data/data_internal.h"

#define HD__END_OF_TEXT "<|endoftext|>"

typedef struct hd__bpe {
    hd_tokenizer base;
    int64_t special;  /* the id of HD__END_OF_TEXT, which no word is encoded as; -1: none */
    int32_t *ranks;   /* by the id that a merge makes; -1: a byte, or the special token */
    int32_t *slots;   /* by the hash of a token's bytes, at most half full: id + 1; 0: free */
    uint32_t mask;    /* the number of slots - 1 */
    int64_t longest;  /* bytes of the longest token in slots */
    char *vocab_json; /* the two files, for saving */
    char *merges_text;
} hd__bpe;

static inline bool hd__bpe_is_special(const char *token, int64_t n)
{
    return n == (int64_t)strlen(HD__END_OF_TEXT) && memcmp(token, HD__END_OF_TEXT, (size_t)n) == 0;
}

/* The id of the token with these bytes, unless it is the special one; -1: there is none. */
int32_t hd__bpe_find(const hd__bpe *b, const char *s, int64_t n);
/* Enters token id into slots. False if a token with the same bytes is there. */
bool hd__bpe_enter(hd__bpe *b, int32_t id);

hd_tokenizer *hd__bpe_load(const hd_dict *d, const char *prefix);

#endif
