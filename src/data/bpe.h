/* bpe.h - the byte pair encoder, for the file that reads it and the one that runs it.
 *
 * Two tokens side by side merge when their bytes together are a token; the merge of the least rank
 * comes first, of equal ones the leftmost. Ranks are the lines of merges.txt. */
#ifndef HEED_DATA_BPE_H
#define HEED_DATA_BPE_H

#include "data/data_internal.h"

#define HD__END_OF_TEXT "<|endoftext|>"

typedef struct hd__bpe {
    hd_tokenizer base;
    int64_t special;  /* the id of HD__END_OF_TEXT, which no bytes of a word lead to; -1: none */
    int32_t *ranks;   /* of the token that a merge makes; -1: a byte, or the special token */
    int32_t *slots;   /* by the hash of the bytes, at most half full: id + 1, or 0 for none */
    uint32_t mask;    /* the number of slots - 1 */
    int64_t longest;  /* bytes of the longest token in slots */
    char *vocab_json; /* the two files, for saving */
    char *merges_text;
} hd__bpe;

static inline bool hd__bpe_is_special(const char *token, int64_t n)
{
    return n == (int64_t)strlen(HD__END_OF_TEXT) && memcmp(token, HD__END_OF_TEXT, (size_t)n) == 0;
}

/* The token with these bytes, but not the special one; -1: none. */
int32_t hd__bpe_find(const hd__bpe *b, const char *s, int64_t n);
/* Enters token id into slots; false if there is one with its bytes. */
bool hd__bpe_enter(hd__bpe *b, int32_t id);

hd_tokenizer *hd__bpe_load(const hd_dict *d, const char *prefix);

#endif
