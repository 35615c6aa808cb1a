/* nfc.h - a normalization of texts (nfc.c), and its tables, which tools/generate/gen_nfc.py
 * prints (nfc_tables.c). */
#ifndef HEED_DATA_NFC_H
#define HEED_DATA_NFC_H

#include "base/text/text.h"
#include "tokenizers/chars.h"

/* Adds the text in Unicode's normalization form C. s is UTF-8. */
void hd__nfc(const char *s, int64_t n, hd__text *to);

extern const hd__tokenizer_char_table hd__nfc_classes; /* combining classes */

/* Characters that decompose, as ranges; the tables are for hd__chars_number_at. */
typedef struct hd__nfc_table {
    const char *codes;   /* the first character of each range: three letters */
    const char *numbers; /* its number, and at the end the number of characters: two letters */
    const char *firsts;  /* what each character begins with: three letters */
    int n;               /* ranges */
} hd__nfc_table;

/* Those with a second character, and those without one, which may begin with one of the others. */
extern const hd__nfc_table hd__nfc_pairs, hd__nfc_singles;

/* For each of hd__nfc_pairs a letter: letter - HD__NFC_LETTER is which of hd__nfc_seconds follows,
 * of three letters each. Below hd__nfc_composing they ascend, and the pairs compose again. */
enum { HD__NFC_LETTER = '#' };
extern const char hd__nfc_second[], hd__nfc_seconds[];
extern const int hd__nfc_composing;

#endif
