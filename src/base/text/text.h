/* text.h - arrays and texts that grow, UTF-8, numbers as text, and the small texts that messages
 * are made of.
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_BASE_TEXT_H
#define HEED_BASE_TEXT_H

#include <string.h>

#include "base/sibling.h"

/* ---------------------------------------------------------------- arrays */

/* Makes room for n items of `size` bytes in *(void **)array, which has room for *room of them. The
 * array comes from hd_alloc; it starts as NULL, with 0 in *room. */
HD__SIBLING bool hd__text_grow(void *array, int64_t *room, int64_t n, size_t size);

/* ---------------------------------------------------------------- texts */

/* A text begins as {0} and ends with hd_free(t.s). A zero follows its last byte once something was
 * added. After one failure, additions change nothing; the error then stands. */
typedef struct hd__text {
    char *s;
    size_t len;
    int64_t room;
    bool failed;
} hd__text;

HD__SIBLING void hd__text_add(hd__text *t, const char *s, size_t n);
HD__SIBLING void hd__text_puts(hd__text *t, const char *s);
void hd__text_repeat(hd__text *t, char c, int64_t n);
HD__SIBLING void hd__text_format(hd__text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The n bytes at s as a JSON string: in quotes, with the escapes that JSON asks for. A control
 * character that has a letter is \n with `letters`, and \u000a without. */
HD__SIBLING void hd__text_json(hd__text *t, const char *s, size_t n, bool letters);
/* Writes the name of a part of saved state into t: "PREFIX.name", or "PREFIX.list.i.name" if list
 * is not NULL. An empty prefix has no dot after it. Returns t's text, or NULL if memory runs
 * out. */
HD__SIBLING const char *hd__text_key(hd__text *t, const char *prefix, const char *list, int64_t i,
                                     const char *name);
/* Back to a length that the text had before. */
HD__SIBLING void hd__text_cut(hd__text *t, size_t len);
/* Hands the text's memory to the caller, and empties the text. Returns NULL after a failure. */
HD__SIBLING char *hd__text_take(hd__text *t);

static inline bool hd__text_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* A number made from n bytes by FNV-1a, for tables and for names. */
static inline uint64_t hd__text_hash(const char *s, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    }
    return h;
}

/* ---------------------------------------------------------------- numbers as text (number.c) */

enum {
    HD__PRECISION_MAX = 1000,
    HD__NUMBER_TEXT =
        HD__PRECISION_MAX + 400, /* the longest double has 309 digits before the point */
    HD__FLOAT_TEXT = 56
};

/* Writes v as printf's %.{precision}f or %.{precision}e (`form` is 'f' or 'e'), with a point in
 * every locale and without a sign for nan. Returns the length. */
int hd__text_of_number(char text[HD__NUMBER_TEXT], double v, char form, int precision);

/* Writes Python's repr of a float, as hd_float_repr does, but needs no memory. Returns text. In a
 * message: hd_fail(HD_VALUE, "p %s: ...", HD__FLOAT(p)) */
HD__SIBLING const char *hd__text_of_float(double v, char text[HD__FLOAT_TEXT]);
#define HD__FLOAT(v) hd__text_of_float((v), (char[HD__FLOAT_TEXT]){0})
/* The same for what may be a whole number, which has no ".0": "96", "0.1". */
HD__SIBLING const char *hd__text_shortest(double v, char text[HD__FLOAT_TEXT]);
#define HD__SHORT(v) hd__text_shortest((v), (char[HD__FLOAT_TEXT]){0})

/* ---------------------------------------------------------------- UTF-8 */

/* The length of the first character of s[0 .. n), n > 0, and its code point. For bytes that are not
 * UTF-8 it returns minus the number of bytes that one U+FFFD replaces. It reads the next byte only
 * when the character goes on, so n may be larger than a text that ends with a zero. */
HD__SIBLING int hd__utf8_next(const char *s, int64_t n, uint32_t *code);
/* Writes the character and returns its length. */
int hd__utf8_put(uint32_t code, char s[4]);
/* How many bytes at the start of s are UTF-8: n if all of them are. */
HD__SIBLING size_t hd__utf8_good(const char *s, size_t n);

/* ---------------------------------------------------------------- messages */

/* At most 120 bytes of a text, whole characters, for a message: "'%.*s'", HD__CUT(path) */
HD__SIBLING int hd__text_clip(const char *s, size_t n);
#define HD__CLIP(s, n) hd__text_clip((s), (size_t)(n)), (s)
#define HD__CUT(s) HD__CLIP(s, strlen(s))

enum { HD__SHAPE_TEXT = 192 };

/* "(2, 6, 3)" into text; returns text. Python's tuple: "(3,)", "()".
 * In a message: hd_fail(HD_SHAPE, "%s: ...", HD__SIZES(ndim, sizes)) */
HD__SIBLING const char *hd__text_of_sizes(int ndim, const int64_t *sizes,
                                          char text[HD__SHAPE_TEXT]);
#define HD__SIZES(n, s) hd__text_of_sizes((n), (s), (char[HD__SHAPE_TEXT]){0})

#endif
