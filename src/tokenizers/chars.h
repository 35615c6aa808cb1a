/* chars.h - texts that must be UTF-8, and the classes of characters (chars.c, char_classes.c). */
#ifndef HEED_TOKENIZERS_CHARS_H
#define HEED_TOKENIZERS_CHARS_H

#include "base/text/utf8.h"

/* Is s UTF-8? Otherwise HD_FORMAT, with the first wrong byte and its place. */
bool hd__chars_utf8_check(const char *s, int64_t n);

/* The classes of characters in GPT-2's pattern: \p{L}, \p{N} and \s. */
enum { HD__OTHER, HD__LETTER, HD__NUMERAL, HD__SPACE };
int hd__chars_class(uint32_t code);

/* Tables of numbers are texts, which tools/generate prints: each number is some letters in a row,
 * and each letter is six bits, the lowest six of its code. The higher bits come first. */
uint32_t hd__chars_number_at(const char *table, int letters, int i);
/* Of the numbers [low, high), which ascend, the last one that is at most `most`; low - 1: none. */
int hd__chars_last_number(const char *table, int letters, int low, int high, uint32_t most);

/* A value for each character, and where it changes. */
typedef struct hd__tokenizer_char_table {
    const char *before;  /* how many changes stand before each 1024 characters, two letters each */
    const char *changes; /* the lowest ten bits of a character, and its value */
    int letters, bits;   /* of a change; of a value */
    uint32_t n;          /* 1024 n and what follows has the value 0 */
} hd__tokenizer_char_table;

int hd__chars_value(const hd__tokenizer_char_table *t, uint32_t code);

extern const hd__tokenizer_char_table hd__chars_classes;

#endif
