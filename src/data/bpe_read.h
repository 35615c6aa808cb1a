/* bpe_read.h - what the readers of GPT-2's files and of a tokenizer.json share.
 *
 * Both spell bytes as characters: a printable byte of Latin-1 stands for itself, and the other 68
 * are U+0100, U+0101 ... in their order. */
#ifndef HEED_DATA_BPE_READ_H
#define HEED_DATA_BPE_READ_H

#include "base/text/json.h"
#include "data/bpe.h"

enum { HD__BYTES_SPELLED = 256, HD__CODES_SPELLED = 256 + 68 };

typedef struct hd__alphabet {
    int16_t byte[HD__CODES_SPELLED];  /* the byte that a code point spells; -1: none */
    uint32_t code[HD__BYTES_SPELLED]; /* the code point that spells a byte */
} hd__alphabet;

void hd__alphabet_init(hd__alphabet *a);
/* Adds the bytes that s spells; NULL: s as it is. False, without an error, if a character in it
 * spells no byte. */
bool hd__unspell(const hd__alphabet *a, const char *s, int64_t n, hd__text *bytes);

typedef struct hd__source {
    char where[128]; /* its path, or the entry of a dictionary, in quotes */
    char *s;         /* from hd_alloc; ends with a zero */
    int64_t n;
} hd__source;

bool hd__source_read(hd__source *f, const char *path);
/* Copies an entry of a dictionary. */
bool hd__source_get(hd__source *f, const hd_dict *d, const char *name);

/* HD_FORMAT: "hd_fn: 'file': line 3: 'text': expected ...". Line 0 is left out. Returns false. */
bool hd__source_fail(const hd__source *f, int64_t line, const char *s, int64_t n,
                     const char *expected);
/* The same for a token, which the message spells by the alphabet, or as it is if that is NULL. */
bool hd__token_fail(const hd__source *f, const hd__alphabet *a, int64_t line, const char *token,
                    int64_t n, const char *expected);

typedef struct hd__entry {
    int64_t id, begin, n; /* its bytes are entries.bytes[begin .. begin + n) */
    int64_t by_id;        /* where the entry is whose id is this one's place; -1: not found yet */
    bool hidden;          /* no word is encoded as it */
} hd__entry;

/* The vocabulary in the file's order. It begins as {0}. */
typedef struct hd__entries {
    hd__text bytes; /* of all tokens, one after the other */
    hd__entry *v;
    int64_t n, room;
} hd__entries;

/* Adds a token whose bytes are the last ones of e->bytes, from `begin` on. */
bool hd__entries_add(hd__entries *e, int64_t id, size_t begin, bool hidden);
void hd__entries_free(hd__entries *e);
/* A new encoder with these tokens; each id of 0 .. n - 1, and each token that is not hidden, must
 * come once. The alphabet is for messages. NULL on failure. */
hd__bpe *hd__bpe_new(const hd__tokenizer_type *type, const hd__source *f, const hd__alphabet *a,
                     hd__entries *e);

/* Reads a merge "left right" into m, and the bytes of both into `bytes`; an id is -1 if there is no
 * such token. Returns how many of the bytes are of the left one; 0, without an error, if s is not
 * two tokens with a space between them. The caller looks at bytes->failed. */
int64_t hd__merge_read(const hd__bpe *b, const hd__alphabet *a, const char *s, int64_t n,
                       hd__text *bytes, hd__merge *m);

/* Slots for n things: a power of 2 that is at least 2 n. Zeroed; *mask gets their number - 1. */
int32_t *hd__bpe_slots(int64_t n, uint32_t *mask);

#endif
