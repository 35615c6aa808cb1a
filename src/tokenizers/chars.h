/* chars.h - checks that a text is UTF-8, and tells the classes of characters (chars.c,
 * char_classes.c). */
#ifndef HEED_TOKENIZERS_CHARS_H
#define HEED_TOKENIZERS_CHARS_H

#include "base/text/utf8.h"

/* True if s is UTF-8. Otherwise fails with HD_FORMAT, with the first wrong byte and its place. */
bool hd__chars_utf8_check(const char *s, int64_t n);

/* The classes of characters in GPT-2's pattern: \p{L}, \p{N} and \s. */
enum { HD__OTHER, HD__LETTER, HD__NUMERAL, HD__SPACE };
int hd__chars_class(uint32_t code);

/* Tables of numbers are texts, printed by tools/generate. A number is `letters` letters in a row;
 * each letter has six bits, the lowest six of its code, the highest bits first. */
uint32_t hd__chars_number_at(const char *table, int letters, int i);
/* The numbers at [low, high) ascend. Returns the index of the last one that is at most `most`; low
 * - 1: none. */
int hd__chars_last_number(const char *table, int letters, int low, int high, uint32_t most);

/* A value for each character: the table lists the characters where it changes. */
typedef struct hd__tokenizer_char_table {
    const char *before;  /* the number of changes before each 1024 characters: two letters each */
    const char *changes; /* the lowest ten bits of a character, and the value from there on */
    int letters, bits;   /* letters of a change; bits of a value */
    uint32_t n;          /* from character 1024 n on, the value is 0 */
} hd__tokenizer_char_table;

int hd__chars_value(const hd__tokenizer_char_table *t, uint32_t code);

extern const hd__tokenizer_char_table hd__chars_classes;

#endif
