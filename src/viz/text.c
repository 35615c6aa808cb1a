/* text.c - texts that grow, numbers without a locale, and UTF-8. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "viz/viz_internal.h"

/* ---------------------------------------------------------------- growing */

bool hd__vgrow(void *array, size_t *room, size_t n, size_t size)
{
    if (n < *room) {
        return true;
    }
    size_t more = *room ? 2 * *room : 64;
    void *old, *grown = hd_alloc(more * size);
    if (!grown) {
        return false;
    }
    memcpy(&old, array, sizeof old);
    if (old) {
        memcpy(grown, old, n * size);
    }
    hd_free(old);
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

void hd__vtext_add(hd__vtext *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n && !t->failed; i++) {
        t->failed = !hd__vgrow(&t->s, &t->room, t->len + 1, 1);
        if (!t->failed) {
            t->s[t->len++] = s[i];
            t->s[t->len] = '\0';
        }
    }
}

void hd__vtext_puts(hd__vtext *t, const char *s)
{
    hd__vtext_add(t, s, strlen(s));
}

char *hd__vtext_take(hd__vtext *t)
{
    char *s = t->s;
    if (t->failed) {
        hd_free(s);
        s = NULL;
    }
    *t = (hd__vtext){0};
    return s;
}

/* ---------------------------------------------------------------- numbers */

void hd__vtext_int(hd__vtext *t, int64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, v);
    hd__vtext_puts(t, text);
}

void hd__vtext_number(hd__vtext *t, double v, int decimals)
{
    int64_t one = 1;
    for (int i = 0; i < decimals; i++) {
        one *= 10;
    }
    int64_t scaled = llround(fabs(v) * (double)one);
    if (v < 0 && scaled) {
        hd__vtext_puts(t, "-");
    }
    hd__vtext_int(t, scaled / one);
    for (scaled %= one, decimals = 0; scaled; scaled %= one) {
        hd__vtext_puts(t, decimals++ ? "" : ".");
        one /= 10;
        hd__vtext_int(t, scaled / one);
    }
}

const char *hd__vshape(char out[HD__VSHAPE], const hd_tensor *x)
{
    int n = hd_ndim(x), at = snprintf(out, HD__VSHAPE, "(");
    for (int d = 0; d < n && at < HD__VSHAPE; d++) {
        at += snprintf(out + at, (size_t)(HD__VSHAPE - at), "%s%" PRId64, d ? ", " : "",
                       hd_size(x, d));
    }
    if (at < HD__VSHAPE) {
        snprintf(out + at, (size_t)(HD__VSHAPE - at), n == 1 ? ",)" : ")");
    }
    return out;
}

/* ---------------------------------------------------------------- UTF-8 */

enum { REPLACEMENT = 0xFFFD };

/* Bytes of the sequence that begins with b; 0: none does. */
static int sequence_length(unsigned char b)
{
    return b < 0x80 ? 1 : b < 0xC2 ? 0 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : b < 0xF5 ? 4 : 0;
}

uint32_t hd__vutf8_next(const char **s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)*s;
    int n = sequence_length(*b);
    uint32_t code = n == 1 ? *b : n == 0 ? REPLACEMENT : *b & (0x7Fu >> n);
    for (int i = 1; i < n; i++) {
        if ((b[i] & 0xC0) != 0x80) {
            n = 0;
        }
        code = code << 6 | (b[i] & 0x3F);
    }
    bool good = n > 0 && code >= least[n] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    *s += good ? n : 1;
    return good ? code : REPLACEMENT;
}

void hd__vtext_utf8(hd__vtext *t, uint32_t code)
{
    unsigned char b[4];
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, code >>= 6) {
        b[i] = (unsigned char)(0x80 | (code & 0x3F));
    }
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    b[0] = (unsigned char)(lead[n] | code);
    hd__vtext_add(t, (const char *)b, (size_t)n);
}
