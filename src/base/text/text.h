/* text.h - arrays and texts that grow, and short texts for messages (text.c).
 *
 * The libraries in libs/ may include this header (base/sibling.h). */
#ifndef HEED_BASE_TEXT_H
#define HEED_BASE_TEXT_H

#include <string.h>

#include "base/sibling.h"

/* ---------------------------------------------------------------- arrays */

/* Grows an array, if needed, to at least n items of `size` bytes. `array` is the address of the
 * pointer to its first item, which comes from hd_alloc and is NULL at first. *room is the number of
 * items that fit, 0 at first. Returns false with HD_MEMORY if memory runs out. */
HD__SIBLING bool hd__text_grow(void *array, int64_t *room, int64_t n, size_t size);

/* ---------------------------------------------------------------- texts */

/* A text begins as {0}; hd_free(t.s) frees it. A zero follows its last byte once something was
 * added. After a failure, additions change nothing, and the error stays set. */
typedef struct hd__text {
    char *s;
    size_t len;
    int64_t room;
    bool failed;
} hd__text;

HD__SIBLING void hd__text_add(hd__text *t, const char *s, size_t n);
HD__SIBLING void hd__text_puts(hd__text *t, const char *s);
void hd__text_repeat(hd__text *t, char c, int64_t n);
HD__SIBLING void hd__text_format(hd__text *t, const char *format, ...) HD__PRINTF(2, 3);
/* Adds the n bytes at s as a JSON string: in quotes, with the escapes that JSON needs. With
 * `letters`, a control character gets its short escape if it has one: a line feed becomes \n.
 * Without `letters` it becomes \u000a. */
HD__SIBLING void hd__text_json(hd__text *t, const char *s, size_t n, bool letters);
/* Sets t to the name of a part of saved state: "PREFIX.name", or "PREFIX.list.i.name" if list is
 * not NULL. After an empty prefix there is no dot. Returns t's text, or NULL if memory runs out. */
HD__SIBLING const char *hd__text_key(hd__text *t, const char *prefix, const char *list, int64_t i,
                                     const char *name);
/* Cuts t to its first len bytes. t must be at least that long. */
HD__SIBLING void hd__text_cut(hd__text *t, size_t len);
/* Returns the text's memory, which the caller frees with hd_free, and empties the text. Returns
 * NULL after a failure, or if nothing was ever added. */
HD__SIBLING char *hd__text_take(hd__text *t);

static inline bool hd__text_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Returns the FNV-1a hash of n bytes, for tables and for names. */
static inline uint64_t hd__text_hash(const char *s, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    }
    return h;
}

/* ---------------------------------------------------------------- messages */

/* Returns how many of a text's n bytes a message shows: at most 120, in whole characters. In a
 * message: "'%.*s'", HD__CUT(path) */
HD__SIBLING int hd__text_clip(const char *s, size_t n);
#define HD__CLIP(s, n) hd__text_clip((s), (size_t)(n)), (s)
#define HD__CUT(s) HD__CLIP(s, strlen(s))

enum { HD__SHAPE_TEXT = 192 };

/* Writes sizes as Python's tuple, "(2, 6, 3)", "(3,)" or "()", into text; returns text. In a
 * message: hd_fail(HD_SHAPE, "%s: ...", HD__SIZES(ndim, sizes)) */
HD__SIBLING const char *hd__text_of_sizes(int ndim, const int64_t *sizes,
                                          char text[HD__SHAPE_TEXT]);
#define HD__SIZES(n, s) hd__text_of_sizes((n), (s), (char[HD__SHAPE_TEXT]){0})

#endif
