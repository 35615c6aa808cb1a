/* nfc.h - the tables of nfc.c, which tools/generate/gen_nfc.py prints. */
#ifndef HEED_DATA_NFC_H
#define HEED_DATA_NFC_H

#include "tokenizers/tokenizers_internal.h"

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
