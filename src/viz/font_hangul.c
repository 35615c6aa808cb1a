/* font_hangul.c - Korean syllables, put together from their letters.
 *
 * A syllable has an initial consonant, a vowel and perhaps a final consonant. A vowel stands to the
 * right of the initial, below it, or both; the final stands below all. Two consonants share the
 * room of one. A letter's grid goes from 0 to 8 in both directions. */
#include "viz/font.h"

/* In the order of Unicode's consonants, without those that are two. */
static const char *const consonants[] = {
    "008088",                      /* giyeok */
    "000888",                      /* nieun */
    "80000888",                    /* digeut */
    "008084040888",                /* rieul */
    "0080880800",                  /* mieum */
    "00088880 0484",               /* bieup */
    "4008 4388",                   /* siot */
    "206082866828060220",          /* ieung */
    "0080 4008 4388",              /* jieut */
    "3050 0282 4208 4588",         /* chieuch */
    "008088 0484",                 /* kieuk */
    "80000888 0484",               /* tieut */
    "0080 2028 6068 0888",         /* pieup */
    "3050 0282 345475775838171534" /* hieut */
};

/* For each initial and final its one or two letters, as 1 + the place among the consonants. */
static const uint8_t initials[19][2] = {{1},  {1, 1}, {2},  {3},    {3, 3}, {4}, {5},
                                        {6},  {6, 6}, {7},  {7, 7}, {8},    {9}, {9, 9},
                                        {10}, {11},   {12}, {13},   {14}};
static const uint8_t finals[28][2] = {{0},     {1},     {1, 1}, {1, 7}, {2},    {2, 9}, {2, 14},
                                      {3},     {4},     {4, 1}, {4, 5}, {4, 6}, {4, 7}, {4, 12},
                                      {4, 13}, {4, 14}, {5},    {6},    {6, 7}, {7},    {7, 7},
                                      {8},     {9},     {10},   {11},   {12},   {13},   {14}};

/* For each vowel the strokes below the initial, and those to its right. */
static const struct {
    const char *below, *right;
} vowels[21] = {
    {NULL, "2028 2484"},
    {NULL, "1018 1474 7078"},
    {NULL, "2028 2383 2585"},
    {NULL, "1018 1373 1575 7078"},
    {NULL, "6068 0464"},
    {NULL, "4048 0444 7078"},
    {NULL, "6068 0363 0565"},
    {NULL, "4048 0343 0545 7078"},
    {"0686 4146", NULL},
    {"0686 4146", "2028 2484"},
    {"0686 4146", "1018 1474 7078"},
    {"0686 4146", "4048"},
    {"0686 2126 6166", NULL},
    {"0282 4247", NULL},
    {"0282 4247", "6068 0464"},
    {"0282 4247", "4048 0444 7078"},
    {"0282 4247", "4048"},
    {"0282 2227 6267", NULL},
    {"0484", NULL},
    {"0484", "4048"},
    {NULL, "4048"},
};

static void add_strokes(hd__glyph *g, const char *strokes, double x, double y, double width,
                        double height)
{
    g->parts[g->n++] = (hd__glyph_part){strokes, x, y, width / 8, height / 8};
}

/* One consonant, or two in the room of one. */
static void add_consonants(hd__glyph *g, const uint8_t letters[2], double x, double y, double width,
                           double height)
{
    double each = letters[1] ? (width - 1.2) / 2 : width;
    add_strokes(g, consonants[letters[0] - 1], x, y, each, height);
    if (letters[1]) {
        add_strokes(g, consonants[letters[1] - 1], x + width - each, y, each, height);
    }
}

hd__glyph hd__hangul(uint32_t code)
{
    uint32_t at = code - 0xAC00, final = at % 28, vowel = at / 28 % 21, initial = at / (28 * 21);
    const char *below = vowels[vowel].below, *right = vowels[vowel].right;
    double height = final ? 5.9 : 9.6; /* of initial and vowel */
    double width = right ? 5.6 : 9;    /* of the initial */
    hd__glyph g = {.width = 10.5, .advance = 12.5, .thick = 0.07, .known = true, .tall = true};
    double left = below && !right ? 0.8 : 0.4;
    add_consonants(&g, initials[initial], left, -0.2, width - (below && !right ? 0.6 : 0),
                   below ? height * 0.5 : height * 0.86);
    if (below) {
        add_strokes(&g, below, 0, height * 0.58, right ? 6.6 : 10, height * 0.42);
    }
    if (right) {
        add_strokes(&g, right, 7.1, -0.6, 3.2, height + 0.4);
    }
    if (final) {
        add_consonants(&g, finals[final], 1.2, 7, 8, 3);
    }
    return g;
}
