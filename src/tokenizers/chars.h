/* chars.h - checks that a text is UTF-8, and looks up the classes of characters (chars.c,
 * char_classes.c). */
#ifndef HEED_TOKENIZERS_CHARS_H
#define HEED_TOKENIZERS_CHARS_H

#include "base/text/utf8.h"

/* Returns false with HD_FORMAT if s is not UTF-8. The message has the first wrong byte and its
 * place. */
bool hd__chars_utf8_check(const char *s, int64_t n);

/* The classes of characters in GPT-2's pattern: \p{L} is HD__LETTER, \p{N} is HD__NUMERAL, \s is
 * HD__SPACE. */
enum { HD__OTHER, HD__LETTER, HD__NUMERAL, HD__SPACE };
int hd__chars_class(uint32_t code);

/* Returns number i, counted from 0, of a table that tools/generate has printed as a text. A number
 * is written with `letters` ASCII characters, which heed calls letters. Each letter stands for six
 * bits, the low bits of its ASCII code; the first letter has the highest bits. */
uint32_t hd__chars_number_at(const char *table, int letters, int i);
/* Returns the largest index in [low, high) whose number in the table is at most `most`, or low - 1
 * if there is none. The numbers in this range must ascend. */
int hd__chars_last_number(const char *table, int letters, int low, int high, uint32_t most);

/* A function from characters to small numbers, stored as a list of the characters at which its
 * value changes. */
typedef struct hd__tokenizer_char_table {
    /* for each page of 1024 characters, the number of changes before the page, and then the number
     * of all changes; each number has two letters (hd__chars_number_at) */
    const char *before;
    /* one number for each character at which the value changes: its low ten bits, followed by the
     * bits of the new value */
    const char *changes;
    int letters, bits; /* letters: those of a number in `changes`; bits: those of a value */
    uint32_t n;        /* the number of pages; beyond them the value is 0 */
} hd__tokenizer_char_table;

int hd__chars_value(const hd__tokenizer_char_table *t, uint32_t code);

extern const hd__tokenizer_char_table hd__chars_classes;

#endif
