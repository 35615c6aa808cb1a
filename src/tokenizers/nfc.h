/* nfc.h - normalizes texts to Unicode's normalization form C (nfc.c). tools/generate/gen_nfc.py has
 * printed the tables for it (nfc_tables.c). */
#ifndef HEED_DATA_NFC_H
#define HEED_DATA_NFC_H

#include "base/text/text.h"
#include "tokenizers/chars.h"

/* Appends s, normalized to form C, to `to`. s is UTF-8. If memory runs out, sets to->failed. */
void hd__nfc(const char *s, int64_t n, hd__text *to);

extern const hd__tokenizer_char_table hd__nfc_classes; /* the combining class of each character */

/* Ranges of characters that decompose, and their decompositions. The fields are texts that hold
 * numbers. hd__chars_number_at (chars.h) reads them, and says what a letter is. */
typedef struct hd__nfc_table {
    const char *codes; /* the first character of each range, in three letters */
    /* for each range, the number of characters in the ranges before it, and then the number of
     * characters of all ranges; each number has two letters (chars.h) */
    const char *numbers;
    /* for each character, the first one of its decomposition, in three letters (chars.h) */
    const char *firsts;
    int n; /* the number of ranges */
} hd__nfc_table;

/* hd__nfc_pairs has the characters that decompose into two characters, and hd__nfc_singles those
 * that decompose into one, which may decompose further. */
extern const hd__nfc_table hd__nfc_pairs, hd__nfc_singles;

/* hd__nfc_seconds lists each character that is the second one of a decomposition in hd__nfc_pairs,
 * in three letters (chars.h). hd__nfc_second has one byte for each decomposition: the index of its
 * second character in hd__nfc_seconds, plus HD__NFC_LETTER. A pair composes again only if its
 * second character is one of the first hd__nfc_composing characters of hd__nfc_seconds. These first
 * characters are in ascending order. */
enum { HD__NFC_LETTER = '#' };
extern const char hd__nfc_second[], hd__nfc_seconds[];
extern const int hd__nfc_composing;

#endif
