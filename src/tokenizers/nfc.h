/* nfc.h - normalizes texts to Unicode's form C (nfc.c), by tables that tools/generate/gen_nfc.py
 * prints (nfc_tables.c). */
#ifndef HEED_DATA_NFC_H
#define HEED_DATA_NFC_H

#include "base/text/text.h"
#include "tokenizers/chars.h"

/* Adds s in form C to `to`. s is UTF-8. */
void hd__nfc(const char *s, int64_t n, hd__text *to);

extern const hd__tokenizer_char_table hd__nfc_classes; /* combining classes */

/* Characters that decompose, in ranges. hd__chars_number_at reads the tables. */
typedef struct hd__nfc_table {
    const char *codes;   /* the first character of each range: three letters */
    const char *numbers; /* index of a range's first character, then their count: two letters */
    const char *firsts;  /* the first character of each decomposition: three letters */
    int n;               /* ranges */
} hd__nfc_table;

/* Characters that decompose into two, and characters that decompose into one, which may decompose
 * again. */
extern const hd__nfc_table hd__nfc_pairs, hd__nfc_singles;

/* hd__nfc_second has one letter for each of hd__nfc_pairs: letter - HD__NFC_LETTER is the index of
 * its second character in hd__nfc_seconds, which has three letters each. Below index
 * hd__nfc_composing the seconds ascend, and their pairs compose again. */
enum { HD__NFC_LETTER = '#' };
extern const char hd__nfc_second[], hd__nfc_seconds[];
extern const int hd__nfc_composing;

#endif
