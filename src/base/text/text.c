/* text.c - arrays and texts that grow, and short texts for messages. */
#include "base/text/text.h"

#include "base/error/args.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool hd__text_grow(void *array, int64_t *room, int64_t n, size_t size)
{
    if (n <= *room) {
        return true;
    }
    int64_t more = *room < 4 ? 8 : 2 * *room;
    more = more < n ? n : more;
    void *old, *grown = hd__arg_alloc_items(more, size);
    if (!grown) {
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

/* Makes room for n more bytes and a zero. Returns false with an error if memory runs out, or if an
 * earlier addition failed. */
static bool make_room(hd__text *t, int64_t n)
{
    int64_t room;
    if (__builtin_add_overflow((int64_t)t->len + 1, n, &room)) {
        room = INT64_MAX;
    }
    t->failed = t->failed || !hd__text_grow(&t->s, &t->room, room, 1);
    return !t->failed;
}

static void advance(hd__text *t, size_t n)
{
    t->len += n;
    t->s[t->len] = '\0';
}

void hd__text_add(hd__text *t, const char *s, size_t n)
{
    if (make_room(t, (int64_t)n)) {
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
    if (n > 0 && make_room(t, n)) {
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
    if (n >= 0 && make_room(t, n)) {
        vsnprintf(t->s + t->len, (size_t)n + 1, format, again);
        advance(t, (size_t)n);
    }
    va_end(again);
    va_end(args);
}

void hd__text_json(hd__text *t, const char *s, size_t n, bool letters)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    hd__text_puts(t, "\"");
    for (size_t i = 0; i < n; i++) {
        const char *at = memchr(escaped, s[i], letters ? sizeof escaped - 1 : 2);
        if (at) {
            hd__text_format(t, "\\%c", letter[at - escaped]);
        } else if ((unsigned char)s[i] < 0x20) {
            hd__text_format(t, "\\u%04x", (unsigned)s[i]);
        } else {
            hd__text_add(t, s + i, 1);
        }
    }
    hd__text_puts(t, "\"");
}

void hd__text_cut(hd__text *t, size_t len)
{
    t->len = len;
    if (t->s) {
        t->s[len] = '\0';
    }
}

const char *hd__text_key(hd__text *t, const char *prefix, const char *list, int64_t i,
                         const char *name)
{
    hd__text_cut(t, 0);
    hd__text_format(t, "%s%s", prefix, *prefix ? "." : "");
    if (list) {
        hd__text_format(t, "%s.%" PRId64 ".", list, i);
    }
    hd__text_puts(t, name);
    return t->failed ? NULL : t->s;
}

char *hd__text_take(hd__text *t)
{
    char *s = t->s;
    if (t->failed) {
        hd_free(s);
        s = NULL;
    }
    *t = (hd__text){0};
    return s;
}

/* ---------------------------------------------------------------- messages */

int hd__text_clip(const char *s, size_t n)
{
    enum { SHORT_TEXT = 120 };
    size_t end = n < SHORT_TEXT ? n : SHORT_TEXT;
    while (end > 0 && end < n && ((unsigned char)s[end] & 0xC0) == 0x80) {
        end--;
    }
    return (int)end;
}

const char *hd__text_of_sizes(int ndim, const int64_t *sizes, char text[HD__SHAPE_TEXT])
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
