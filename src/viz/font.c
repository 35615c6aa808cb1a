/* font.c - the glyph of a character, and the widths of texts.
 *
 * Letters come from font_letters.c, a letter with a mark is put together here, and Korean syllables
 * come from font_hangul.c. A character that the font does not have is a box of the width that it
 * has in an SVG: East Asian scripts and pictographs are square. Two units separate glyphs. */
#include "viz/font.h"

static bool is_between(uint32_t code, const uint32_t (*ranges)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (code >= ranges[i][0] && code <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

static bool is_wide(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xA960, 0xA97C},
                                         {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6},   {0x2705, 0x2705},
                                         {0x2728, 0x2728}, {0x1F300, 0x3FFFD}, {0x231A, 0x231B}};
    return is_between(code, ranges, sizeof ranges / sizeof ranges[0]);
}

/* Marks that have no width of their own. */
static bool is_mark(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},  {0x064B, 0x065F}, {0x0E34, 0x0E3A},
        {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},  {0x20D0, 0x20FF}, {0x302A, 0x302F},
        {0x3099, 0x309A}, {0xFE20, 0xFE2F}, {0x1F3FB, 0x1F3FF}};
    return is_between(code, ranges, sizeof ranges / sizeof ranges[0]);
}

/* Soft hyphens, joiners, directions and variants, which nobody sees. */
static bool is_invisible(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0x00AD, 0x00AD}, {0x200B, 0x200F}, {0x202A, 0x202E},
                                         {0x2060, 0x2069}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};
    return is_between(code, ranges, sizeof ranges / sizeof ranges[0]);
}

/* The letter that looks like a mark of U+0300 and so on; 0: the font does not have the mark. */
static uint32_t mark_letter(uint32_t code)
{
    static const uint16_t letters[] = {0x2CB, 0xB4, 0x2C6, 0x2DC, 0xAF,  0,    0x2D8,
                                       0x2D9, 0xA8, 0,     0x2DA, 0x2DD, 0x2C7};
    return code == 0x327   ? 0xB8
           : code == 0x328 ? 0x2DB
           : code >= 0x300 && code - 0x300 < sizeof letters / sizeof letters[0]
               ? letters[code - 0x300]
               : 0;
}

/* ---------------------------------------------------------------- glyphs */

/* Does a stroke of the glyph's text reach above small letters? */
static bool reaches_up(const char *strokes)
{
    bool tall = false;
    for (size_t i = 0; strokes[i]; i++) {
        bool y = strokes[i] != ' ' && i % 2 == 0; /* a space, then two digits for each point */
        tall = tall || (y && strokes[i] < '3');
    }
    return tall;
}

static hd__glyph glyph_of_text(const char *text)
{
    double width = text[0] - '0';
    return (hd__glyph){.n = 1,
                       .parts = {{text + 1, 0, 0, 1, 1}},
                       .width = width,
                       .advance = width + 2,
                       .thick = 0.085,
                       .known = true,
                       .tall = reaches_up(text + 1)};
}

void hd__glyph_add_mark(hd__glyph *g, const char *mark)
{
    double width = mark[0] - '0', most = g->width + 2; /* it does not touch its neighbours */
    double wide = width > most ? most / width : 1;
    bool below = strchr(mark, '9'); /* a cedilla or an ogonek begins at the baseline */
    if (g->n < HD__GLYPH_PARTS) {
        g->parts[g->n++] = (hd__glyph_part){mark + 1, (g->width - wide * width) / 2,
                                            g->tall && !below ? -3 : 0, wide, 1};
    }
}

hd__glyph hd__glyph_of(uint32_t code)
{
    uint32_t base, mark;
    bool space = code == '\t' || code == '\n' || code == '\r'; /* as in an SVG */
    code = space ? ' ' : hd__viz_no_character(code) ? 0xFFFD : code;
    if (code >= 0xAC00 && code <= 0xD7A3) {
        return hd__hangul(code);
    }
    if (is_invisible(code)) {
        return (hd__glyph){.known = true};
    }
    if (is_mark(code)) {
        const char *text = mark_letter(code) ? hd__letter(mark_letter(code)) : NULL;
        return (hd__glyph){
            .n = 1, .parts = {{text, 0, 0, 1, 1}}, .known = text != NULL, .mark = true};
    }
    if (hd__letter_parts(code, &base, &mark)) {
        hd__glyph g = glyph_of_text(hd__letter(base));
        hd__glyph_add_mark(&g, hd__letter(mark));
        return g;
    }
    const char *text = hd__letter(code);
    hd__glyph g = glyph_of_text(text ? text : is_wide(code) ? "9 0009999000" : "5 0009595000");
    g.known = text != NULL;
    g.advance = is_wide(code) ? 12.5 : g.advance;
    return g;
}

/* ---------------------------------------------------------------- widths */

double hd__text_width(const char *text, double size)
{
    double units = 0;
    while (*text) {
        units += hd__glyph_of(hd__viz_character(&text)).advance;
    }
    return units * HD__FONT_UNIT * size;
}

void hd__text_fit(char *out, size_t room, const char *text, double size, double width)
{
    static const char dots[] = "\xe2\x80\xa6";
    double all = hd__text_width(text, size);
    double left = all <= width ? width : width - hd__text_width(dots, size);
    size_t n = 0;
    while (*text) {
        const char *next = text;
        left -= hd__glyph_of(hd__viz_character(&next)).advance * HD__FONT_UNIT * size;
        if (left < -1e-6 || n + (size_t)(next - text) + sizeof dots > room) {
            memcpy(out + n, dots, sizeof dots);
            return;
        }
        memcpy(out + n, text, (size_t)(next - text));
        n += (size_t)(next - text);
        text = next;
    }
    out[n] = '\0';
}
