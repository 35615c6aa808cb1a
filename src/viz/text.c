/* text.c - numbers without a locale, characters one by one, escaped texts, and widths of texts. */
#include <inttypes.h>
#include <math.h>

#include "viz/viz_internal.h"

void hd__viz_number(hd__text *t, double v, int decimals)
{
    int64_t one = 1;
    for (int i = 0; i < decimals; i++) {
        one *= 10;
    }
    int64_t scaled = llround(fabs(v) * (double)one);
    hd__text_format(t, "%s%" PRId64, v < 0 && scaled ? "-" : "", scaled / one);
    for (scaled %= one, decimals = 0; scaled; scaled %= one) {
        one /= 10;
        hd__text_format(t, "%s%" PRId64, decimals++ ? "" : ".", scaled / one);
    }
}

enum { REPLACEMENT = 0xFFFD };

uint32_t hd__viz_character(const char **s)
{
    uint32_t code;
    int length = hd__utf8_next(*s, 4, &code);
    *s += length > 0 ? length : 1;
    return length > 0 ? code : REPLACEMENT;
}

/* Is code a control character, or one that XML 1.0 cannot hold? */
static bool is_no_character(uint32_t code)
{
    return code < ' ' || (code >= 0x7F && code < 0xA0) || code == 0xFFFE || code == 0xFFFF;
}

void hd__viz_escape(hd__text *t, const char *s, size_t n, const char *special,
                    const char *const *escapes)
{
    for (const char *end = s + n; s < end;) {
        uint32_t code = hd__viz_character(&s);
        const char *at = code < 0x80 ? strchr(special, (int)code) : NULL;
        if (at && code) {
            hd__text_puts(t, escapes[at - special]);
        } else {
            char c[4];
            hd__text_add(t, c, (size_t)hd__utf8_put(is_no_character(code) ? REPLACEMENT : code, c));
        }
    }
}

/* ---------------------------------------------------------------- widths */

enum { FIRST = 0x20, LAST = 0x7E, SQUARES = 0x2000, SQUARE = 100, OTHER = 80 };

/* How far a character from FIRST to LAST moves the next one, in hundredths of the font size: what
 * the wider of Liberation Sans 2.1 (as wide as Helvetica and Arial) and DejaVu Sans 2.37 has in its
 * table hmtx, rounded up. Of the others, letters with marks, Greek and Cyrillic have 62 to 72 in
 * the middle, and what follows U+2000, such as dots, arrows and the square letters of East Asia,
 * has at most 100, but for a few signs. */
static const unsigned char latin[LAST - FIRST + 1] = {
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 78, 67, 62, 78, 76, 30, 50, 67, 56, 87, 75, 79,
    67, 79, 73, 67, 62, 74, 69, 99, 69,  67, 69, 40, 34, 40, 84, 56, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84};

static int advance_of(uint32_t code)
{
    return code >= FIRST && code <= LAST ? latin[code - FIRST] : code >= SQUARES ? SQUARE : OTHER;
}

double hd__text_width(const char *text, double size)
{
    int64_t width = 0;
    while (*text) {
        width += advance_of(hd__viz_character(&text));
    }
    return (double)width * size / 100;
}

void hd__text_fit(char *out, size_t room, const char *text, double size, double width)
{
    static const char dots[] = "\xe2\x80\xa6";
    double all = hd__text_width(text, size);
    double left = all <= width ? width : width - hd__text_width(dots, size);
    size_t n = 0;
    while (*text) {
        const char *next = text;
        left -= advance_of(hd__viz_character(&next)) * size / 100;
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
