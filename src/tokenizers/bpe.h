/* bpe.h - the byte pair encoder: bpe_json.c reads it from files, bpe.c encodes with it, and
 * added.c finds its added tokens.
 *
 * Of all neighbouring tokens that can merge, the pair with the lowest rank merges first; among
 * equal ranks, the leftmost pair. The rank of a pair is its place among the merges. */
#ifndef HEED_DATA_BPE_H
#define HEED_DATA_BPE_H

#include "tokenizers/tokenizer.h"
#include "tokenizers/words.h"

/* A token that is found in a text before the text is cut into words. */
typedef struct hd__bpe_added {
    const char *s; /* both in added_text; what is looked for is normalized, if the text is */
    const char *pattern;
    int64_t n, pattern_n;
    int32_t id;
    bool special, normalized, lstrip, rstrip;
} hd__bpe_added;

/* The texts of added tokens that are looked for, in order (added.c) */
typedef struct hd__bpe_needle {
    const char *s;
    int64_t n;
    int32_t index;  /* of hd__bpe.added */
    int32_t rank;   /* the lowest of equal ones is found: special tokens come first */
    int32_t prefix; /* the longest other one that this one begins with: its place; -1: none */
} hd__bpe_needle;

typedef struct hd__bpe_needles {
    hd__bpe_needle *v;
    int64_t n;
    int32_t begins[257]; /* those that begin with byte c: begins[c] .. begins[c + 1] - 1 */
} hd__bpe_needles;

typedef struct hd__bpe_merge {
    int32_t left, right, id;
} hd__bpe_merge;

typedef enum hd__bpe_normalizer { HD__AS_IS, HD__NFC, HD__SPACES, HD__PREPEND } hd__bpe_normalizer;
typedef enum hd__bpe_prepend { HD__NO_METASPACE, HD__NEVER, HD__FIRST, HD__ALWAYS } hd__bpe_prepend;

typedef struct hd__bpe_form {
    hd__bpe_normalizer normalizer;
    hd__bpe_prepend metaspace; /* U+2581 before a text, and in place of spaces */
    const hd__tokenizer_words
        *words;  /* NULL: a text is one word of characters; else words are of bytes */
    bool digits; /* each digit is a word */
    bool strips; /* decoding takes away the first space */
} hd__bpe_form;

typedef struct hd__bpe {
    hd_tokenizer base;
    int32_t *slots;  /* by the hash of a token's bytes, at most half full: id + 1; 0: free */
    uint32_t mask;   /* the number of slots - 1 */
    int64_t longest; /* bytes of the longest token in slots */

    hd__bpe_merge *merges; /* by rank */
    int32_t *merge_slots;  /* by the hash of a pair, at most half full: rank + 1; 0: free */
    uint32_t merge_mask;

    hd__bpe_added *added;
    int64_t n_added;
    char *added_text;
    hd__bpe_needles names,
        patterns[2]; /* of added: their own texts; by normalized, their patterns */

    hd__bpe_form form;
    bool ignore_merges; /* a word that is a token is not cut */
    bool byte_fallback; /* a character without a token becomes its bytes' */
    int32_t fallback[256];
    int32_t unknown; /* the token of any other; -1: none */
    bool fuse_unknown;
    hd__tokenizer_ids before, after; /* what add_special_tokens adds */

    char *files[2]; /* for saving: tokenizer.json, or vocab.json and merges.txt */
} hd__bpe;

#define HD__METASPACE "\xE2\x96\x81" /* U+2581 */

/* The id of the token with these bytes; -1: there is none that a word is encoded as. */
int32_t hd__bpe_find(const hd__bpe *b, const char *s, int64_t n);
/* Enters token id into slots. False if a token with the same bytes is there. */
bool hd__bpe_enter(hd__bpe *b, int32_t id);
/* Enters merge number `rank` into merge_slots, in place of an earlier one of the same pair. */
void hd__bpe_enter_merge(hd__bpe *b, int32_t rank);
/* Adds the text as the normalizer makes it. */
void hd__bpe_normalize(hd__bpe_normalizer how, const char *s, int64_t n, hd__text *to);

/* Fills names and patterns from added. */
bool hd__bpe_added_index(hd__bpe *b);
/* The added token with these bytes, or NULL. */
const hd__bpe_added *hd__bpe_added_find(const hd__bpe *b, const char *s, int64_t n);
/* Which added token has the longest needle that s begins with? -1: none. */
int32_t hd__bpe_needles_longest(const hd__bpe_needles *k, const char *s, int64_t n);

hd_tokenizer *hd__bpe_load(const hd_dict *d, const char *prefix);
hd_tokenizer *hd__bpe_json_load(const hd_dict *d, const char *prefix);

#endif
