/* nfc.h - the tables of nfc.c, which tools/generate/gen_nfc.py prints. */
#ifndef HEED_DATA_NFC_H
#define HEED_DATA_NFC_H

#include "data/data_internal.h"

/* Ranges for hd__range_at: combining classes that are not 0; the characters that decompose, with
 * the number of the first one's entry; those of them that do not compose again though they have a
 * second character. */
extern const uint64_t hd__nfc_classes[], hd__nfc_ranges[], hd__nfc_excluded[];
extern const int hd__nfc_classes_len, hd__nfc_ranges_len, hd__nfc_excluded_len;

/* The entries: the first character without its plane, and a letter; letter - HD__NFC_LETTER is
 * which of hd__nfc_seconds follows. Without a second character the plane is 0 or 2; else it is the
 * plane of the character that decomposes. */
enum {
    HD__NFC_LETTER = '#',
    HD__NFC_PLANE_0 = 0, /* no second character */
    HD__NFC_PLANE_2 = 1,
};
extern const uint16_t hd__nfc_first[];
extern const char hd__nfc_second[];
extern const int hd__nfc_len;
extern const uint32_t hd__nfc_seconds[];
extern const int hd__nfc_seconds_len;

#endif
