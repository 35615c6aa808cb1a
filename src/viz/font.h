/* font.h - the font of a PNG: glyphs made of strokes.
 *
 * The grid of a letter has 9 units from cap height to the baseline. A glyph's text is one digit for
 * its width, then its strokes, with spaces between them. A stroke is a row of points, each of two
 * hexadecimal digits: x to the right and y downwards. y is 0 at cap height, 3 at the top of small
 * letters, 9 at the baseline and C at the lowest point. */
#ifndef HEED_VIZ_FONT_H
#define HEED_VIZ_FONT_H

#include "viz/viz_internal.h"

/* A unit of the grid, as a part of the font size. */
#define HD__FONT_UNIT 0.08

enum { HD__GLYPH_PARTS = 6 };

typedef struct hd__glyph_part {
    const char *strokes;
    double x, y, wide, high; /* where its grid begins in the glyph, and how it is stretched */
} hd__glyph_part;

typedef struct hd__glyph {
    int n;
    hd__glyph_part parts[HD__GLYPH_PARTS];
    double width, advance; /* in units; without and with the gap to the next glyph */
    double thick;          /* how thick its strokes are, as a part of the font size */
    bool known;            /* false: the font does not have it, and this is a box */
    bool mark;             /* it stands above or below the glyph before it */
    bool tall;             /* it reaches above small letters, so that a mark is 3 units higher */
} hd__glyph;

hd__glyph hd__glyph_of(uint32_t code);
/* Puts `mark` above or below g. */
void hd__glyph_add_mark(hd__glyph *g, const char *mark);

/* ---------------------------------------------------------------- font_letters.c */

/* The text of a letter or sign; NULL: the font has none. */
const char *hd__letter(uint32_t code);
/* Is code a letter with a mark, such as U+00E9? Then *base and *mark are what it is made of. */
bool hd__letter_parts(uint32_t code, uint32_t *base, uint32_t *mark);

/* ---------------------------------------------------------------- font_hangul.c */

/* A syllable from U+AC00 to U+D7A3, put together from its letters. */
hd__glyph hd__hangul(uint32_t code);

#endif
