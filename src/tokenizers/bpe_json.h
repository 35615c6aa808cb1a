/* bpe_json.h - reads a tokenizer.json, or GPT-2's vocab.json and merges.txt: bpe_read.c reads
 * files, bytes and tokens, bpe_values.c the values of a file, bpe_parts.c the components around the
 * model, and bpe_json.c the model and the added tokens.
 *
 * The files spell bytes as characters: a printable byte of Latin-1 stands for itself, and the other
 * 68 are U+0100, U+0101 ... in their order. */
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
    char where[128]; /* its path, or its name in a dictionary, in quotes */
    char *s;         /* from hd_alloc; ends with a zero */
    int64_t n;
} hd__bpe_source;

typedef struct hd__bpe_entry {
    int64_t begin, n; /* its bytes are entries.bytes[begin .. begin + n) */
    bool hidden;      /* no word is encoded as this token */
} hd__bpe_entry;

/* Every id is below this, so that a wrong id in a file does not take all memory. */
enum { HD__MOST_IDS = 1 << 20 };

/* The vocabulary, in the file's order. */
typedef struct hd__bpe_entries {
    hd__text bytes; /* of all tokens, one after the other */
    hd__bpe_entry *v;
    int64_t n, room;
    int32_t *by_id;        /* the index of an id's entry, + 1; 0: the id has no token */
    int64_t ids, ids_room; /* ids: the largest id + 1 */
} hd__bpe_entries;

typedef struct hd__bpe_reader {
    hd__bpe_source f, merges; /* tokenizer.json and {0}, or vocab.json and merges.txt */
    hd__bpe_alphabet a;
    const hd__bpe_alphabet *alphabet; /* &a; NULL: tokens are written as they are */
    hd__bpe_entries entries;
    int64_t n_vocab; /* the number of entries that are not added tokens */
    hd__text text;   /* the result of the last hd__bpe_text_of */
    hd__text bytes;  /* the bytes of the last token or merge that was looked up */
    int first, rank; /* the line or index of the first merge; the number of merges read */
    hd__bpe_added *added;
    int64_t n_added, added_room;
    hd__text added_text; /* for each added token, its text and its pattern */
    hd__bpe *b;
    bool failed;       /* an error is set */
    bool warned;       /* the warning about an added token's id was given */
    hd__bpe_form form; /* set by hd__bpe_parts_read */
} hd__bpe_reader;

/* ---------------------------------------------------------------- files, bytes and tokens */

void hd__bpe_alphabet_init(hd__bpe_alphabet *a);
/* Adds the bytes that s spells; if a is NULL, adds s itself. Returns false, without an error, if a
 * character of s spells no byte. */
bool hd__bpe_unspell(const hd__bpe_alphabet *a, const char *s, int64_t n, hd__text *bytes);

bool hd__bpe_source_read(hd__bpe_source *f, const char *path);
/* Reads the string entry `name` of d into *f. False, with an error, if d has none. */
bool hd__bpe_source_get(hd__bpe_source *f, const hd_dict *d, const char *name);
/* Fails with HD_FORMAT: "hd_fn: 'file': 'text': expected ...". */
void hd__bpe_source_fail(hd__bpe_reader *r, const hd__bpe_source *f, const char *s, int64_t n,
                         const char *expected);
/* hd__bpe_source_fail for a token's bytes, which the message spells by the alphabet. */
void hd__bpe_token_fail(hd__bpe_reader *r, const hd__bpe_source *f, const char *token, int64_t n,
                        const char *expected);

/* Adds an entry, whose id must be new. In a tokenizer.json, s may spell no bytes: then the entry
 * gets s itself, and no word is encoded as it. */
void hd__bpe_entry_add(hd__bpe_reader *r, const char *s, int64_t n, int64_t id, bool hidden);
/* True if id is a token of the vocabulary, not only of an added token. */
bool hd__bpe_id_in_vocab(const hd__bpe_reader *r, int64_t id);
/* A new encoder with the entries. Tokens that are not hidden must differ. Returns NULL on
 * failure. */
hd__bpe *hd__bpe_new(hd__bpe_reader *r);
/* Finds the token for each of the 256 bytes. In a tokenizer that works on characters, the byte's
 * token is the one written like <0x0A>. Fails if a byte has no token. */
void hd__bpe_bytes_find(hd__bpe_reader *r, const char *expected);
/* Marks every token that is written like <0x0A>. Decoding takes it as that byte, even if encoding
 * never gives it. */
void hd__bpe_bytes_mark(hd__bpe *b);
/* Allocates zeroed slots for n things: a power of 2, at least 2 n. Sets *mask to the number of
 * slots - 1. */
int32_t *hd__bpe_slots(int64_t n, uint32_t *mask);

/* ---------------------------------------------------------------- values */

/* A value of the file, by its place. A missing value has kind HD__JSON_NULL and end 0. */
typedef struct hd__bpe_value {
    hd__json_kind kind;
    size_t begin, end;
} hd__bpe_value;

hd__bpe_value hd__bpe_whole(hd__bpe_reader *r); /* the object that is the whole file */

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
/* Finds the members of an object by their names; the list ends with NULL. Another member is an
 * error that names the object as `only`, unless `only` is NULL. */
void hd__bpe_members(hd__bpe_reader *r, hd__bpe_value object, const char *const *names,
                     hd__bpe_value *v, const char *only);
hd__bpe_value hd__bpe_member(hd__bpe_reader *r, hd__bpe_value object, const char *name);

/* Adds the text of a string, a number, true or false. */
void hd__bpe_add_text_of(hd__bpe_reader *r, hd__bpe_value v, hd__text *to);
/* The text of hd__bpe_add_text_of, valid until the next call. */
const hd__text *hd__bpe_text_of(hd__bpe_reader *r, hd__bpe_value v);
/* The value of true or false; a missing value is false. `null`: null is allowed, and is false. */
bool hd__bpe_flag_of(hd__bpe_reader *r, const char *key, hd__bpe_value v, bool null);
int64_t hd__bpe_id_of(hd__bpe_reader *r, const char *key, hd__bpe_value v);
/* Fails unless v has this kind. */
void hd__bpe_expect_kind(hd__bpe_reader *r, const char *key, hd__bpe_value v, hd__json_kind kind,
                         const char *expected);
/* Fails with HD_FORMAT: "hd_fn: 'file': model.type is 'WordPiece': expected BPE", unless an error
 * stands. */
void hd__bpe_value_fail(hd__bpe_reader *r, const char *key, hd__bpe_value v, const char *expected);

/* ---------------------------------------------------------------- the components around the
 * model */

/* Sets r->form and r->alphabet. Fails unless the three are known and of one form. */
void hd__bpe_parts_read(hd__bpe_reader *r, hd__bpe_value normalizer, hd__bpe_value pre_tokenizer,
                        hd__bpe_value decoder);
/* Reads the ids that go before and after a text into r->b. */
void hd__bpe_post_processor_read(hd__bpe_reader *r, hd__bpe_value v);

#endif
