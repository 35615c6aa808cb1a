/* bpe_json.h - reads a tokenizer.json, or GPT-2's vocab.json and merges.txt. bpe_read.c reads
 * files, bytes and tokens, bpe_values.c reads the values of a file, bpe_parts.c reads the
 * components around the model, and bpe_json.c reads the model and the added tokens. If a function
 * with a parameter r fails, it sets r->failed and an error.
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
    /* for messages: the file's path, or the entry's name in a dictionary, in quotes */
    char where[128];
    char *s; /* the file's text, from hd_alloc, which ends in a zero byte */
    int64_t n;
} hd__bpe_source;

typedef struct hd__bpe_entry {
    int64_t begin, n; /* the token has bytes [begin, begin + n) of hd__bpe_entries.bytes */
    bool hidden;      /* true if encoding never uses this token for a word */
} hd__bpe_entry;

/* Ids must be below this limit, so that a wrong id in a file cannot use up the memory. */
enum { HD__MOST_IDS = 1 << 20 };

/* The vocabulary and the added tokens, in the order in which they are read. */
typedef struct hd__bpe_entries {
    hd__text bytes; /* the bytes of all tokens, one after the other */
    hd__bpe_entry *v;
    int64_t n, room;
    int32_t *by_id;        /* for each id, the index of its entry + 1; 0: no token has this id */
    int64_t ids, ids_room; /* ids is the largest id + 1 */
} hd__bpe_entries;

typedef struct hd__bpe_reader {
    hd__bpe_source f, merges; /* tokenizer.json and {0}; or vocab.json and merges.txt */
    hd__bpe_alphabet a;
    /* &a if the file spells the bytes of tokens as characters; NULL if it has the tokens as they
     * are */
    const hd__bpe_alphabet *alphabet;
    hd__bpe_entries entries;
    /* the number of entries of the vocabulary, which come before the added tokens */
    int64_t n_vocab;
    hd__text text;  /* the result of the last hd__bpe_text_of */
    hd__text bytes; /* the bytes of the last token or merge that was looked up */
    /* first is the number of the first merge: its line in merges.txt, or 0 in a tokenizer.json;
     * rank is the number of merges that have been read so far */
    int first, rank;
    hd__bpe_added *added;
    int64_t n_added, added_room;
    hd__text added_text; /* the text and the pattern of each added token, one after the other */
    hd__bpe *b;
    bool failed;       /* true if an error is set */
    bool warned;       /* true if the warning about an added token's id was given */
    hd__bpe_form form; /* the form of the tokenizer, which hd__bpe_parts_read sets */
} hd__bpe_reader;

/* ---------------------------------------------------------------- files, bytes and tokens */

void hd__bpe_alphabet_init(hd__bpe_alphabet *a);
/* Each character of s spells a byte in the alphabet a. Appends these bytes to `bytes`, or s itself
 * if a is NULL. Returns false, without an error, if a character of s spells no byte. If memory runs
 * out, sets bytes->failed. */
bool hd__bpe_unspell(const hd__bpe_alphabet *a, const char *s, int64_t n, hd__text *bytes);

bool hd__bpe_source_read(hd__bpe_source *f, const char *path);
/* Sets *f to a copy of the string entry `name` of d; the caller frees f->s with hd_free. Returns
 * false with an error if d has no such entry, or if memory runs out. */
bool hd__bpe_source_get(hd__bpe_source *f, const hd_dict *d, const char *name);
/* Sets r->failed and the error HD_FORMAT, "hd_fn: 'file': token 's': expected ...". */
void hd__bpe_source_fail(hd__bpe_reader *r, const hd__bpe_source *f, const char *s, int64_t n,
                         const char *expected);
/* Sets r->failed and the error of hd__bpe_source_fail, for a token of n bytes. The message spells
 * the bytes with r->alphabet. */
void hd__bpe_token_fail(hd__bpe_reader *r, const hd__bpe_source *f, const char *token, int64_t n,
                        const char *expected);

/* Adds an entry for the token that s spells to r->entries. If s has a character that spells no
 * byte, the entry has s itself and is hidden; in GPT-2's files this is an error. Sets r->failed,
 * with an error, if another entry has the id. */
void hd__bpe_entry_add(hd__bpe_reader *r, const char *s, int64_t n, int64_t id, bool hidden);
/* Returns true if the vocabulary has a token with this id, and false if only an added token, or
 * none, has it. */
bool hd__bpe_id_in_vocab(const hd__bpe_reader *r, int64_t id);
/* Makes an encoder with the tokens of r->entries; the caller frees it with hd_tokenizer_free.
 * Returns NULL with an error if two tokens that are not hidden have the same bytes, or if memory
 * runs out. */
hd__bpe *hd__bpe_new(hd__bpe_reader *r);
/* Sets r->b->fallback[i] to the id of the token of byte i. This token is the byte itself, or, if
 * words are made of characters, a text such as <0x0A> for byte 10. If a byte has no token, sets
 * r->failed, with an error that says `expected`. */
void hd__bpe_bytes_find(hd__bpe_reader *r, const char *expected);
/* Sets the flag HD__BYTE_TOKEN of every token that is written like <0x0A>. Decoding then writes the
 * byte in its place, even if encoding never uses the token. */
void hd__bpe_bytes_mark(hd__bpe *b);
/* Allocates a hash table for n things, and returns its slots, which are 0; the caller frees them
 * with hd_free. The number of slots is a power of 2 and at least 2 * n, and *mask becomes this
 * number minus 1. Returns NULL with an error if memory runs out. */
int32_t *hd__bpe_slots(int64_t n, uint32_t *mask);

/* ---------------------------------------------------------------- values */

/* A JSON value, given by its range [begin, end) of the bytes of r->f. A value that the file does
 * not have has the kind HD__JSON_NULL and end 0. */
typedef struct hd__bpe_value {
    hd__json_kind kind;
    size_t begin, end;
} hd__bpe_value;

hd__bpe_value hd__bpe_whole(hd__bpe_reader *r); /* returns the object that makes up the file */

/* A loop over the members of an object, or the items of an array:
 *   hd__bpe_each w;
 *   for (hd__bpe_each_begin(r, &w, v); hd__bpe_each_next(r, &w);) { ... w.name, w.item ... }
 * The loop must run to its end, where it frees its memory. */
typedef struct hd__bpe_each {
    hd__json j;
    hd__text name;
    hd__bpe_value item;
} hd__bpe_each;

void hd__bpe_each_begin(const hd__bpe_reader *r, hd__bpe_each *w, hd__bpe_value v);
bool hd__bpe_each_next(hd__bpe_reader *r, hd__bpe_each *w);

bool hd__bpe_is_text(const hd__text *t, const char *want);
/* Sets v[i] to the object's member with the name names[i], or to a missing value if there is none.
 * NULL ends the list of names. If `only` is not NULL and the object has another member, sets
 * r->failed, with an error that calls the object `only`. */
void hd__bpe_members(hd__bpe_reader *r, hd__bpe_value object, const char *const *names,
                     hd__bpe_value *v, const char *only);
hd__bpe_value hd__bpe_member(hd__bpe_reader *r, hd__bpe_value object, const char *name);

/* Appends the text of v to `to` if v is a string, a number, true or false. Appends nothing for
 * other kinds. */
void hd__bpe_add_text_of(hd__bpe_reader *r, hd__bpe_value v, hd__text *to);
/* Returns the text that hd__bpe_add_text_of appends for v. The text, in r->text, is valid until the
 * next call. */
const hd__text *hd__bpe_text_of(hd__bpe_reader *r, hd__bpe_value v);
/* Returns true if v is true, and false if v is false or missing, or if v is null and `null` is
 * true. For any other v, sets r->failed, with an error, and returns false. */
bool hd__bpe_flag_of(hd__bpe_reader *r, const char *key, hd__bpe_value v, bool null);
/* Returns the id v. If v is not an integer from 0 to HD__MOST_IDS - 1, sets r->failed, with an
 * error that calls v `key`, and returns 0. */
int64_t hd__bpe_id_of(hd__bpe_reader *r, const char *key, hd__bpe_value v);
/* Calls hd__bpe_value_fail unless v has this kind. */
void hd__bpe_expect_kind(hd__bpe_reader *r, const char *key, hd__bpe_value v, hd__json_kind kind,
                         const char *expected);
/* Sets r->failed and the error HD_FORMAT, such as "hd_fn: 'file': model.type is 'WordPiece':
 * expected BPE". Does nothing if r->failed is true already. */
void hd__bpe_value_fail(hd__bpe_reader *r, const char *key, hd__bpe_value v, const char *expected);

/* ---------------------------------------------------------------- the components around the
 * model */

/* Sets r->form and r->alphabet to those of the three components. Sets r->failed, with an error,
 * unless heed knows all three and they belong to the same form of tokenizer. */
void hd__bpe_parts_read(hd__bpe_reader *r, hd__bpe_value normalizer, hd__bpe_value pre_tokenizer,
                        hd__bpe_value decoder);
/* Sets r->b->before and r->b->after to the ids that the post-processor v adds before and after a
 * text. Sets r->failed, with an error, if heed does not support v. */
void hd__bpe_post_processor_read(hd__bpe_reader *r, hd__bpe_value v);

#endif
