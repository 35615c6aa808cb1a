/* bpe_json.h - how a tokenizer.json is read: bpe_values.c reads the values of a file, bpe_parts.c
 * the components around the model, and bpe_json.c the model and the added tokens. */
#ifndef HEED_DATA_BPE_JSON_H
#define HEED_DATA_BPE_JSON_H

#include "data/bpe_read.h"

typedef struct hd__reader {
    hd__source f;
    hd__alphabet a;
    const hd__alphabet *alphabet; /* &a; NULL: tokens are spelled as they are */
    hd__entries entries;
    int64_t n_vocab; /* of the entries, without the added tokens */
    hd__text text;   /* the last value that hd__text_of has read */
    hd__text bytes;  /* of the last token or merge that was looked up */
    hd__added *added;
    int64_t n_added, added_room;
    hd__text added_text; /* of each added token its text, and what is looked for */
    hd__bpe *b;
    bool failed;   /* an error stands */
    hd__form form; /* what hd__parts_read finds */
} hd__reader;

/* ---------------------------------------------------------------- values */

/* A value of the file; HD__JSON_NULL if it is not there. */
typedef struct hd__value {
    hd__json_kind kind;
    size_t begin, end;
} hd__value;

/* The members of an object, or the items of an array, one after the other:
 *   hd__each w;
 *   for (hd__each_begin(r, &w, v); hd__each_next(r, &w);) { ... w.name, w.item ... }
 * A loop must not be left in the middle. */
typedef struct hd__each {
    hd__json j;
    hd__text name;
    hd__value item;
} hd__each;

void hd__each_begin(const hd__reader *r, hd__each *w, hd__value v);
bool hd__each_next(hd__reader *r, hd__each *w);

bool hd__is_text(const hd__text *t, const char *want);
/* Finds the members of an object by their names, whose list ends with NULL. Another member is an
 * error that names the object, unless `only` is NULL. */
void hd__members(hd__reader *r, hd__value object, const char *const *names, hd__value *v,
                 const char *only);
hd__value hd__member(hd__reader *r, hd__value object, const char *name);

/* Adds the text of a string or a number, true or false. */
void hd__add_text_of(hd__reader *r, hd__value v, hd__text *to);
/* The same alone; valid until the next call. */
const hd__text *hd__text_of(hd__reader *r, hd__value v);
bool hd__flag_of(hd__reader *r, const char *key, hd__value v);
int64_t hd__integer_of(hd__reader *r, const char *key, hd__value v);
/* HD_FORMAT: "hd_fn: 'file': model.type is 'WordPiece': expected BPE". */
void hd__value_fail(hd__reader *r, const char *key, hd__value v, const char *expected);

/* ---------------------------------------------------------------- the parts around the model */

/* Sets the fields above; fails unless the three are known and fit together. */
void hd__parts_read(hd__reader *r, hd__value normalizer, hd__value pre_tokenizer,
                    hd__value decoder);
/* Reads the ids that stand before and after a text into r->b. */
void hd__post_processor_read(hd__reader *r, hd__value v);

#endif
