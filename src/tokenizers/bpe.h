/* bpe.h - the byte pair encoder. bpe_json.c reads it from files, bpe.c encodes with it, and added.c
 * finds its added tokens in a text.
 *
 * Encoding merges two neighbouring tokens, again and again, until no pair can merge. It takes the
 * pair with the lowest rank, and of several such pairs the leftmost. The rank of a pair is its
 * index in the list of merges. */
#ifndef HEED_DATA_BPE_H
#define HEED_DATA_BPE_H

#include "tokenizers/tokenizer.h"
#include "tokenizers/words.h"

/* An added token. Encoding looks for it in a text before it splits the text into words. */
typedef struct hd__bpe_added {
    const char *s; /* the token's text, in hd__bpe.added_text */
    /* the text that encoding looks for: s, which is normalized if `normalized` is true */
    const char *pattern;
    int64_t n, pattern_n;
    int32_t id;
    bool special, normalized, lstrip, rstrip;
} hd__bpe_added;

/* A text that added.c searches for: the text or the pattern of an added token. */
typedef struct hd__bpe_needle {
    const char *s;
    int64_t n;
    int32_t index; /* the index of the token in hd__bpe.added */
    /* of needles with equal texts, the search finds the one with the lowest rank; among patterns,
     * the ranks of special tokens are below all others */
    int32_t rank;
    /* the index of the longest other needle that is a prefix of this one; -1: none */
    int32_t prefix;
} hd__bpe_needle;

typedef struct hd__bpe_needles {
    hd__bpe_needle *v;
    int64_t n;
    int32_t begins[257]; /* the texts of v[begins[c]] to v[begins[c + 1] - 1] begin with byte c */
} hd__bpe_needles;

typedef struct hd__bpe_merge {
    int32_t left, right, id;
} hd__bpe_merge;

typedef enum hd__bpe_normalizer { HD__AS_IS, HD__NFC, HD__SPACES, HD__PREPEND } hd__bpe_normalizer;
typedef enum hd__bpe_prepend { HD__NO_METASPACE, HD__NEVER, HD__FIRST, HD__ALWAYS } hd__bpe_prepend;

typedef struct hd__bpe_form {
    hd__bpe_normalizer normalizer;
    /* HD__NO_METASPACE: spaces stay. In all other cases U+2581 replaces spaces. HD__FIRST also puts
     * it before a piece at the beginning of a text, and HD__ALWAYS before every piece, unless the
     * piece begins with a space or with U+2581. */
    hd__bpe_prepend metaspace;
    /* how a text is split into words; encoding then merges the bytes of each word. NULL: the whole
     * text is one word, and encoding merges its characters */
    const hd__tokenizer_words *words;
    bool digits; /* true if each digit is a word of its own */
    bool strips; /* true if decoding removes the first space of a text */
} hd__bpe_form;

typedef struct hd__bpe {
    hd_tokenizer base;
    /* hash table that finds a token by its bytes, at most half full; a slot holds id + 1, or 0 if
     * it is free */
    int32_t *slots;
    uint32_t mask;   /* the number of slots - 1 */
    int64_t longest; /* the number of bytes of the longest token in slots */

    hd__bpe_merge *merges; /* merges[rank] is the merge with this rank */
    /* hash table that finds a merge by its pair; a slot holds rank + 1, or 0 if it is free */
    int32_t *merge_slots;
    uint32_t merge_mask;

    hd__bpe_added *added;
    int64_t n_added;
    char *added_text;
    /* names has the text of each added token. patterns[0] has the pattern of each added token whose
     * `normalized` is false, and patterns[1] of those whose `normalized` is true. */
    hd__bpe_needles names, patterns[2];

    hd__bpe_form form;
    bool ignore_merges; /* true if a word that is a token is not split */
    bool byte_fallback; /* true if a character without a token is encoded as its bytes */
    int32_t fallback[256];
    /* the id of the unknown token, which stands for characters without a token; -1: there is
     * none */
    int32_t unknown;
    bool fuse_unknown;
    hd__tokenizer_ids before, after; /* the ids that add_special_tokens adds around a text */

    /* the texts of the files, for saving: tokenizer.json, or vocab.json and merges.txt */
    char *files[2];
} hd__bpe;

#define HD__METASPACE "\xE2\x96\x81" /* U+2581 */

/* Returns the id of the token with these bytes, or -1, without an error, if there is none. Does not
 * find hidden tokens, which encoding never uses for a word. */
int32_t hd__bpe_find(const hd__bpe *b, const char *s, int64_t n);
/* Adds the token `id` to b->slots. If b->slots already has a token with the same bytes, changes
 * nothing and returns false, without an error. */
bool hd__bpe_enter(hd__bpe *b, int32_t id);
/* Adds the merge b->merges[rank] to b->merge_slots. It replaces an earlier merge of the same
 * pair. */
void hd__bpe_enter_merge(hd__bpe *b, int32_t rank);
/* Appends s to `to`, normalized as `how` says. If memory runs out, sets to->failed. */
void hd__bpe_normalize(hd__bpe_normalizer how, const char *s, int64_t n, hd__text *to);

/* Sets b->names and b->patterns from b->added. Returns false with an error if memory runs out. */
bool hd__bpe_added_index(hd__bpe *b);
/* Returns the added token whose text has these bytes, or NULL, without an error, if there is
 * none. */
const hd__bpe_added *hd__bpe_added_find(const hd__bpe *b, const char *s, int64_t n);
/* Returns the index, in hd__bpe.added, of the token whose needle is the longest with which s
 * begins. Returns -1, without an error, if s begins with none. */
int32_t hd__bpe_needles_longest(const hd__bpe_needles *k, const char *s, int64_t n);

hd_tokenizer *hd__bpe_load(const hd_dict *d, const char *prefix);
hd_tokenizer *hd__bpe_json_load(const hd_dict *d, const char *prefix);

#endif
