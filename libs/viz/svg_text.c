/* svg_text.c - reads the characters of a text, escapes them, and measures the text's width. */
#include "base/text/utf8.h"
#include "viz/viz_internal.h"

enum { REPLACEMENT = 0xFFFD };

uint32_t hd__viz_character(const char **s)
{
    uint32_t code;
    int length = hd__utf8_next(*s, 4, &code);
    *s += length > 0 ? length : 1;
    return length > 0 ? code : REPLACEMENT;
}

/* True for a control character, and for a character that XML 1.0 forbids. */
static bool is_no_character(uint32_t code)
{
    return code < ' ' || (code >= 0x7F && code < 0xA0) || code == 0xFFFE || code == 0xFFFF;
}

void hd__viz_escape(hd__text *t, const char *s, size_t n, const char *special,
                    const char *const *escapes)
{
    for (const char *end = s + n; s < end;) {
        const char *from = s;
        uint32_t code = hd__viz_character(&s);
        const char *at = code < 0x80 ? strchr(special, (int)code) : NULL;
        if (at && code) {
            hd__text_puts(t, escapes[at - special]);
        } else if (code == REPLACEMENT || is_no_character(code)) {
            hd__text_puts(t, "\xEF\xBF\xBD"); /* U+FFFD */
        } else {
            hd__text_add(t, from, (size_t)(s - from));
        }
    }
}

/* ---------------------------------------------------------------- widths */

enum { SQUARES = 0x2000, SQUARE = 100, OTHER = 80 };

/* Widths of characters, in hundredths of the font size. A row has the width of its widest character
 * in Liberation Sans 2.1 (as wide as Helvetica and Arial) and DejaVu Sans 2.37. Only '@' is wider
 * than its row: 102. A character in no row counts as OTHER (80) below U+2000, and as SQUARE (100)
 * from there on. Below U+2000, all of these are narrower than 80: capitals, and letters with marks,
 * Greek and Cyrillic letters, which have 62 to 72 on average. From U+2000 on, such as dots, arrows
 * and East Asian letters, few are wider than 100. */
static const struct {
    int width;
    const char *letters;
} rows[] = {{28, "'ijl"},        {42, " !(),-./:;I[\\]frt|"},
            {56, "\"*?JL_`csz"}, {64, "$0123456789FTabdeghknopquvxy{}"},
            {84, "#+<=>^w~"},    {99, "%@MWm"}};

static int advance_of(uint32_t code)
{
    for (size_t i = 0; code < 0x80 && i < sizeof rows / sizeof rows[0]; i++) {
        if (strchr(rows[i].letters, (int)code)) {
            return rows[i].width;
        }
    }
    return code >= SQUARES ? SQUARE : OTHER;
}

double hd__viz_text_width(const char *text, double size)
{
    int64_t width = 0;
    while (*text) {
        width += advance_of(hd__viz_character(&text));
    }
    return (double)width * size / 100;
}

size_t hd__viz_text_fit(const char *text, double size, double width)
{
    if (hd__viz_text_width(text, size) <= width) {
        return strlen(text);
    }
    const char *at = text, *next = text;
    int64_t taken = SQUARE; /* begins with the width of the ellipsis */
    while (*at) {
        taken += advance_of(hd__viz_character(&next));
        if ((double)taken * size / 100 > width) {
            break;
        }
        at = next;
    }
    return (size_t)(at - text);
}
