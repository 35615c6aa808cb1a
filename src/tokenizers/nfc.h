/* nfc.h - normalizes texts to Unicode's normalization form C (nfc.c). tools/generate/gen_nfc.py has
 * printed the tables for it (nfc_tables.c). */
#ifndef HEED_DATA_NFC_H
#define HEED_DATA_NFC_H

#include "base/text/text.h"
#include "tokenizers/chars.h"

/* Adds s, normalized to form C, to `to`. s is UTF-8. */
void hd__nfc(const char *s, int64_t n, hd__text *to);

extern const hd__tokenizer_char_table hd__nfc_classes; /* combining classes */

/* Ranges of characters that decompose, and their decompositions. hd__chars_number_at reads the
 * numbers, whose letters are given here. */
typedef struct hd__nfc_table {
    const char *codes; /* the first character of each range: three letters */
    /* for each range, the number of characters in the ranges before it; at the end, the number of
     * all: two letters */
    const char *numbers;
    /* for each character, the first character of its decomposition: three letters */
    const char *firsts;
    int n; /* the number of ranges */
} hd__nfc_table;

/* hd__nfc_pairs has the characters that decompose into two characters, and hd__nfc_singles those
 * that decompose into one, which may decompose further. */
extern const hd__nfc_table hd__nfc_pairs, hd__nfc_singles;

/* The second characters of the decompositions in hd__nfc_pairs. hd__nfc_seconds lists the different
 * ones, with three letters each. hd__nfc_second has one letter for each decomposition: letter -
 * HD__NFC_LETTER is the index of its second character in hd__nfc_seconds. The first
 * hd__nfc_composing of hd__nfc_seconds ascend, and only pairs with one of these compose again. */
enum { HD__NFC_LETTER = '#' };
extern const char hd__nfc_second[], hd__nfc_seconds[];
extern const int hd__nfc_composing;

#endif
