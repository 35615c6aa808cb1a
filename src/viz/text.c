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

void hd__viz_escape(hd__text *t, const char *s, const char *special, const char *const *escapes,
                    bool xml)
{
    while (*s) {
        uint32_t code = hd__viz_character(&s);
        const char *at = code < 0x80 ? strchr(special, (int)code) : NULL;
        if (at && code) {
            hd__text_puts(t, escapes[at - special]);
        } else {
            char c[4];
            bool bad = code < ' ' || (xml && (code == 0xFFFE || code == 0xFFFF));
            hd__text_add(t, c, (size_t)hd__utf8_put(bad ? REPLACEMENT : code, c));
        }
    }
}
