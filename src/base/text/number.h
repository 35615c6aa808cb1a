/* number.h - numbers as text (number.c).
 *
 * The libraries in libs/ may include this header (base/sibling.h). */
#ifndef HEED_BASE_NUMBER_H
#define HEED_BASE_NUMBER_H

#include "base/sibling.h"

enum {
    HD__PRECISION_MAX = 1000,
    HD__NUMBER_TEXT =
        HD__PRECISION_MAX + 400, /* a double has at most 309 digits before the point */
    HD__FLOAT_TEXT = 56
};

/* Writes v like %.{precision}f or %.{precision}e of printf (`form` is 'f' or 'e'), with a point in
 * every locale, and nan without a sign. precision is at most HD__PRECISION_MAX. Returns the
 * length. */
int hd__text_of_number(char text[HD__NUMBER_TEXT], double v, char form, int precision);

/* Writes v as Python's repr does. Returns text. Unlike hd_float_repr, allocates nothing. In a
 * message: hd_fail(HD_VALUE, "p %s: ...", HD__FLOAT(p)) */
HD__SIBLING const char *hd__text_of_float(double v, char text[HD__FLOAT_TEXT]);
#define HD__FLOAT(v) hd__text_of_float((v), (char[HD__FLOAT_TEXT]){0})
/* Writes v like %g of printf, with 15, 16 or 17 digits: the fewest that read back as v. A whole
 * number has no point: "96". Returns text. */
HD__SIBLING const char *hd__text_shortest(double v, char text[HD__FLOAT_TEXT]);
#define HD__SHORT(v) hd__text_shortest((v), (char[HD__FLOAT_TEXT]){0})

#endif
