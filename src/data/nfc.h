/* nfc.h - the tables of nfc.c, which tools/generate/gen_nfc.py prints. */
#ifndef HEED_DATA_NFC_H
#define HEED_DATA_NFC_H

#include "data/data_internal.h"

/* Combining classes, as runs for hd__run_value. */
extern const uint32_t hd__nfc_classes[];
extern const int hd__nfc_classes_len;

/* The characters that decompose, as runs without gaps: the first character times 4096, plus the
 * number of its entry; the last run is only an end. */
extern const uint32_t hd__nfc_runs[];
extern const int hd__nfc_runs_len; /* without the last one */

/* The entries: the first character without its plane, and which of hd__nfc_seconds follows it.
 * Without a second the plane is 0 or 2; else it is the plane of the character that decomposes. */
enum {
    HD__NFC_PLANE_0 = 0,
    HD__NFC_PLANE_2 = 1,
    HD__NFC_SECOND = 0x7F, /* the bits of the number; the other bit: they do not compose again */
};
extern const uint16_t hd__nfc_first[];
extern const uint8_t hd__nfc_second[];
extern const int hd__nfc_len;
extern const uint32_t hd__nfc_seconds[];
extern const int hd__nfc_seconds_len;

#endif
