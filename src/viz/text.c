/* text.c - numbers without a locale, characters one by one, and escaped texts. */
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

bool hd__viz_no_character(uint32_t code)
{
    return code < ' ' || (code >= 0x7F && code < 0xA0) || code == 0xFFFE || code == 0xFFFF;
}

void hd__viz_escape(hd__text *t, const char *s, const char *special, const char *const *escapes)
{
    while (*s) {
        uint32_t code = hd__viz_character(&s);
        const char *at = code < 0x80 ? strchr(special, (int)code) : NULL;
        if (at && code) {
            hd__text_puts(t, escapes[at - special]);
        } else {
            char c[4];
            hd__text_add(t, c,
                         (size_t)hd__utf8_put(hd__viz_no_character(code) ? REPLACEMENT : code, c));
        }
    }
}
