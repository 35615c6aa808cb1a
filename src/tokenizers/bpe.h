/* bpe.h - the byte pair encoder: bpe_json.c reads it from files, bpe.c encodes with it, and added.c
 * finds its added tokens.
 *
 * Encoding merges the pair of neighbouring tokens with the lowest rank, among equal ranks the
 * leftmost, until no pair can merge. The rank of a pair is its place among the merges. */
#ifndef HEED_DATA_BPE_H
#define HEED_DATA_BPE_H

#include "tokenizers/tokenizer.h"
#include "tokenizers/words.h"

/* An added token. Encoding finds it in a text before it cuts the text into words. */
typedef struct hd__bpe_added {
    const char *s; /* both point into added_text; pattern is s, normalized if `normalized` */
    const char *pattern;
    int64_t n, pattern_n;
    int32_t id;
    bool special, normalized, lstrip, rstrip;
} hd__bpe_added;

/* A text of an added token, for the search in added.c. The needles are sorted. */
typedef struct hd__bpe_needle {
    const char *s;
    int64_t n;
    int32_t index;  /* the index in hd__bpe.added */
    int32_t rank;   /* of equal needles the lowest rank is found: special tokens come first */
    int32_t prefix; /* the index of the longest other needle that is a prefix; -1: none */
} hd__bpe_needle;

typedef struct hd__bpe_needles {
    hd__bpe_needle *v;
    int64_t n;
    int32_t begins[257]; /* needles begins[c] .. begins[c + 1] - 1 begin with byte c */
} hd__bpe_needles;

typedef struct hd__bpe_merge {
    int32_t left, right, id;
} hd__bpe_merge;

typedef enum hd__bpe_normalizer { HD__AS_IS, HD__NFC, HD__SPACES, HD__PREPEND } hd__bpe_normalizer;
typedef enum hd__bpe_prepend { HD__NO_METASPACE, HD__NEVER, HD__FIRST, HD__ALWAYS } hd__bpe_prepend;

typedef struct hd__bpe_form {
    hd__bpe_normalizer normalizer;
    hd__bpe_prepend metaspace; /* whether U+2581 goes before a text; it also replaces spaces */
    const hd__tokenizer_words *words; /* of bytes; NULL: a text is one word of characters */
    bool digits;                      /* each digit is a word of its own */
    bool strips;                      /* decoding removes the first space */
} hd__bpe_form;

typedef struct hd__bpe {
    hd_tokenizer base;
    int32_t *slots;  /* tokens by the hash of their bytes, at most half full: id + 1; 0: free */
    uint32_t mask;   /* the number of slots - 1 */
    int64_t longest; /* the bytes of the longest token in slots */

    hd__bpe_merge *merges; /* by rank */
    int32_t *merge_slots;  /* merges by the hash of their pair, likewise: rank + 1; 0: free */
    uint32_t merge_mask;

    hd__bpe_added *added;
    int64_t n_added;
    char *added_text;
    hd__bpe_needles names, patterns[2]; /* of `added`: texts; patterns, by `normalized` */

    hd__bpe_form form;
    bool ignore_merges; /* a word that is a token is not split */
    bool byte_fallback; /* a character without a token becomes the tokens of its bytes */
    int32_t fallback[256];
    int32_t unknown; /* the id for other characters without a token; -1: none */
    bool fuse_unknown;
    hd__tokenizer_ids before, after; /* what add_special_tokens adds */

    char *files[2]; /* for saving: tokenizer.json, or vocab.json and merges.txt */
} hd__bpe;

#define HD__METASPACE "\xE2\x96\x81" /* U+2581 */

/* The id of the token with these bytes; -1 if there is none, or only one that no word is encoded
 * as. */
int32_t hd__bpe_find(const hd__bpe *b, const char *s, int64_t n);
/* Enters token id into slots. Returns false if a token with the same bytes is there already. */
bool hd__bpe_enter(hd__bpe *b, int32_t id);
/* Enters merge number `rank` into merge_slots. It replaces an earlier merge of the same pair. */
void hd__bpe_enter_merge(hd__bpe *b, int32_t rank);
/* Adds the normalized text to `to`. */
void hd__bpe_normalize(hd__bpe_normalizer how, const char *s, int64_t n, hd__text *to);

/* Fills names and patterns from added. */
bool hd__bpe_added_index(hd__bpe *b);
/* The added token with these bytes, or NULL. */
const hd__bpe_added *hd__bpe_added_find(const hd__bpe *b, const char *s, int64_t n);
/* The index in `added` of the longest needle that s begins with; -1: none. */
int32_t hd__bpe_needles_longest(const hd__bpe_needles *k, const char *s, int64_t n);

hd_tokenizer *hd__bpe_load(const hd_dict *d, const char *prefix);
hd_tokenizer *hd__bpe_json_load(const hd_dict *d, const char *prefix);

#endif
