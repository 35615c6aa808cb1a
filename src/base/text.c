/* text.c - arrays and texts that grow, and the small texts and checks that every layer's messages
 * need. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base_internal.h"

bool hd__grow(void *array, int64_t *room, int64_t n, size_t size)
{
    if (n <= *room) {
        return true;
    }
    int64_t more = *room < 4 ? 8 : 2 * *room;
    more = more < n ? n : more;
    void *old, *grown = hd_alloc((size_t)more * size);
    if (!grown) {
        hd__no_memory("hd_alloc", (size_t)more * size);
        return false;
    }
    memcpy(&old, array, sizeof old);
    if (old) {
        memcpy(grown, old, (size_t)*room * size);
    }
    hd_free(old);
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

/* ---------------------------------------------------------------- text */

/* Room for n more bytes and a zero. */
static bool make_room(hd__text *t, size_t n)
{
    t->failed = t->failed || !hd__grow(&t->s, &t->room, (int64_t)(t->len + n + 1), 1);
    return !t->failed;
}

static void advance(hd__text *t, size_t n)
{
    t->len += n;
    t->s[t->len] = '\0';
}

void hd__text_add(hd__text *t, const char *s, size_t n)
{
    if (make_room(t, n)) {
        memcpy(t->s + t->len, s, n);
        advance(t, n);
    }
}

void hd__text_puts(hd__text *t, const char *s)
{
    hd__text_add(t, s, strlen(s));
}

void hd__text_repeat(hd__text *t, char c, int64_t n)
{
    if (n > 0 && make_room(t, (size_t)n)) {
        memset(t->s + t->len, c, (size_t)n);
        advance(t, (size_t)n);
    }
}

void hd__text_format(hd__text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0 && make_room(t, (size_t)n)) {
        vsnprintf(t->s + t->len, (size_t)n + 1, format, again);
        advance(t, (size_t)n);
    }
    va_end(again);
    va_end(args);
}

void hd__text_cut(hd__text *t, size_t len)
{
    t->len = len;
    if (t->s) {
        t->s[len] = '\0';
    }
}

const char *hd__sizes_text(int ndim, const int64_t *sizes, char text[HD__SHAPE_TEXT])
{
    int at = snprintf(text, HD__SHAPE_TEXT, "(");
    for (int i = 0; i < ndim && at < HD__SHAPE_TEXT; i++) {
        at += snprintf(text + at, (size_t)(HD__SHAPE_TEXT - at), "%s%" PRId64, i ? ", " : "",
                       sizes[i]);
    }
    if (at < HD__SHAPE_TEXT) {
        snprintf(text + at, (size_t)(HD__SHAPE_TEXT - at), ndim == 1 ? ",)" : ")");
    }
    return text;
}
