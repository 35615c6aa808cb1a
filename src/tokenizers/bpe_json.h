/* bpe_json.h - reads a tokenizer.json, or GPT-2's vocab.json and merges.txt. bpe_read.c reads
 * files, bytes and tokens, bpe_values.c reads the values of a file, bpe_parts.c reads the
 * components around the model, and bpe_json.c reads the model and the added tokens.
 *
 * The files spell each byte as a character: the 188 printable bytes of Latin-1 stand for
 * themselves, and U+0100, U+0101 and so on stand for the other 68 bytes, in ascending order. */
#ifndef HEED_DATA_BPE_JSON_H
#define HEED_DATA_BPE_JSON_H

#include "base/text/json.h"
#include "tokenizers/bpe.h"

enum { HD__BYTES_SPELLED = 256, HD__CODES_SPELLED = 256 + 68 };

typedef struct hd__bpe_alphabet {
    int16_t byte[HD__CODES_SPELLED];  /* the byte that a code point spells; -1: none */
    uint32_t code[HD__BYTES_SPELLED]; /* the code point that spells a byte */
} hd__bpe_alphabet;

typedef struct hd__bpe_source {
    char where[128]; /* for messages: its path, or its name in a dictionary, in quotes */
    char *s;         /* its text, from hd_alloc; ends with a zero byte */
    int64_t n;
} hd__bpe_source;

typedef struct hd__bpe_entry {
    int64_t begin, n; /* its bytes are those of entries.bytes in [begin, begin + n) */
    bool hidden;      /* encoding never uses this token for a word */
} hd__bpe_entry;

/* Ids must be below this limit, so that a wrong id in a file cannot use up the memory. */
enum { HD__MOST_IDS = 1 << 20 };

/* The vocabulary and the added tokens, in the order in which they are read. */
typedef struct hd__bpe_entries {
    hd__text bytes; /* the bytes of all tokens, one after the other */
    hd__bpe_entry *v;
    int64_t n, room;
    int32_t *by_id;        /* for each id, the index of its entry + 1; 0: no token has this id */
    int64_t ids, ids_room; /* ids: the largest id + 1 */
} hd__bpe_entries;

typedef struct hd__bpe_reader {
    hd__bpe_source f, merges; /* tokenizer.json and {0}; or vocab.json and merges.txt */
    hd__bpe_alphabet a;
    /* &a; NULL: tokens are not spelled, but written as they are */
    const hd__bpe_alphabet *alphabet;
    hd__bpe_entries entries;
    /* the number of entries of the vocabulary, which come before the added tokens */
    int64_t n_vocab;
    hd__text text;  /* the result of the last hd__bpe_text_of */
    hd__text bytes; /* the bytes of the last token or merge that was looked up */
    /* the number of the first merge's line, or 0; the number of merges read so far */
    int first, rank;
    hd__bpe_added *added;
    int64_t n_added, added_room;
    hd__text added_text; /* the text and the pattern of each added token, one after the other */
    hd__bpe *b;
    bool failed;       /* true if an error is set */
    bool warned;       /* true if the warning about an added token's id was given */
    hd__bpe_form form; /* set by hd__bpe_parts_read */
} hd__bpe_reader;

/* ---------------------------------------------------------------- files, bytes and tokens */

void hd__bpe_alphabet_init(hd__bpe_alphabet *a);
/* Adds the bytes that s spells to `bytes`, or s itself if a is NULL. Returns false, without an
 * error, if a character of s spells no byte. */
bool hd__bpe_unspell(const hd__bpe_alphabet *a, const char *s, int64_t n, hd__text *bytes);

bool hd__bpe_source_read(hd__bpe_source *f, const char *path);
/* Reads the string entry `name` of d into *f. Fails if d has no such entry. */
bool hd__bpe_source_get(hd__bpe_source *f, const hd_dict *d, const char *name);
/* Fails with HD_FORMAT: "hd_fn: 'file': token 's': expected ...". */
void hd__bpe_source_fail(hd__bpe_reader *r, const hd__bpe_source *f, const char *s, int64_t n,
                         const char *expected);
/* Fails as hd__bpe_source_fail does. The token is given by its n bytes, which the message spells
 * with r->alphabet. */
void hd__bpe_token_fail(hd__bpe_reader *r, const hd__bpe_source *f, const char *token, int64_t n,
                        const char *expected);

/* Adds an entry for the token that s spells. Fails if the id is used already. If s spells no bytes,
 * the entry has s itself and is hidden; in GPT-2's files that is an error. */
void hd__bpe_entry_add(hd__bpe_reader *r, const char *s, int64_t n, int64_t id, bool hidden);
/* True if the vocabulary has a token with this id. False for an id that only an added token has. */
bool hd__bpe_id_in_vocab(const hd__bpe_reader *r, int64_t id);
/* Makes an encoder with the entries. Fails if two tokens that are not hidden have the same bytes.
 * Returns NULL on failure. */
hd__bpe *hd__bpe_new(hd__bpe_reader *r);
/* Sets r->b->fallback to the tokens of the 256 bytes. If words are made of characters, the token of
 * byte 10 is <0x0A>, and so on. If a byte has no token, fails, and the message says `expected`. */
void hd__bpe_bytes_find(hd__bpe_reader *r, const char *expected);
/* Marks every token that is written like <0x0A> as a byte. Decoding writes this byte for it, even
 * if encoding never uses the token. */
void hd__bpe_bytes_mark(hd__bpe *b);
/* Allocates a hash table for n things, whose slots are 0. Their number is a power of 2 and at least
 * 2 n. Sets *mask to the number of slots - 1. */
int32_t *hd__bpe_slots(int64_t n, uint32_t *mask);

/* ---------------------------------------------------------------- values */

/* A JSON value, as its range [begin, end) of the file's bytes. A missing value has kind
 * HD__JSON_NULL and end 0. */
typedef struct hd__bpe_value {
    hd__json_kind kind;
    size_t begin, end;
} hd__bpe_value;

hd__bpe_value hd__bpe_whole(hd__bpe_reader *r); /* the file's object */

/* A loop over the members of an object, or the items of an array:
 *   hd__bpe_each w;
 *   for (hd__bpe_each_begin(r, &w, v); hd__bpe_each_next(r, &w);) { ... w.name, w.item ... }
 * The loop must run to its end. */
typedef struct hd__bpe_each {
    hd__json j;
    hd__text name;
    hd__bpe_value item;
} hd__bpe_each;

void hd__bpe_each_begin(const hd__bpe_reader *r, hd__bpe_each *w, hd__bpe_value v);
bool hd__bpe_each_next(hd__bpe_reader *r, hd__bpe_each *w);

bool hd__bpe_is_text(const hd__text *t, const char *want);
/* Sets v[i] to the object's member with the name names[i]. NULL ends the list of names. Fails if
 * the object has another member, unless `only` is NULL; the message calls the object `only`. */
void hd__bpe_members(hd__bpe_reader *r, hd__bpe_value object, const char *const *names,
                     hd__bpe_value *v, const char *only);
hd__bpe_value hd__bpe_member(hd__bpe_reader *r, hd__bpe_value object, const char *name);

/* Adds the text of v to `to`, if v is a string, a number, true or false. */
void hd__bpe_add_text_of(hd__bpe_reader *r, hd__bpe_value v, hd__text *to);
/* Returns the text that hd__bpe_add_text_of adds. It is valid until the next call. */
const hd__text *hd__bpe_text_of(hd__bpe_reader *r, hd__bpe_value v);
/* Returns the value of true or false. A missing value counts as false, and so does null if `null`
 * is true. Any other value is an error. */
bool hd__bpe_flag_of(hd__bpe_reader *r, const char *key, hd__bpe_value v, bool null);
int64_t hd__bpe_id_of(hd__bpe_reader *r, const char *key, hd__bpe_value v);
/* Fails unless v has this kind. The message says `expected`. */
void hd__bpe_expect_kind(hd__bpe_reader *r, const char *key, hd__bpe_value v, hd__json_kind kind,
                         const char *expected);
/* Fails with HD_FORMAT: "hd_fn: 'file': model.type is 'WordPiece': expected BPE". Does nothing if
 * r->failed is true already. */
void hd__bpe_value_fail(hd__bpe_reader *r, const char *key, hd__bpe_value v, const char *expected);

/* ---------------------------------------------------------------- the components around the
 * model */

/* Sets r->form and r->alphabet. Fails unless heed knows the three components and they belong to the
 * same form of tokenizer. */
void hd__bpe_parts_read(hd__bpe_reader *r, hd__bpe_value normalizer, hd__bpe_value pre_tokenizer,
                        hd__bpe_value decoder);
/* Sets r->b->before and r->b->after to the ids that belong before and after a text. */
void hd__bpe_post_processor_read(hd__bpe_reader *r, hd__bpe_value v);

#endif
