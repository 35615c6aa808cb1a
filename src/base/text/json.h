/* json.h - the one strict JSON reader (RFC 8259), which returns a text as a series of events.
 *
 *   hd__json j;
 *   hd__json_init(&j, text, n);
 *   while (hd__json_next(&j) > HD__JSON_END) { ... j.kind, j.s, j.len ... }
 *   if (j.kind == HD__JSON_BAD) hd__json_fail(&j, "'x.json'", NULL);
 *   hd__json_free(&j);
 *
 * It refuses bytes that are not UTF-8, a byte order mark, lone surrogates, numbers that a double
 * cannot hold, objects and arrays that are nested more than HD__JSON_DEPTH deep, and anything after
 * the value. It does not check whether an object has two members with the same name. It does not
 * recurse.
 *
 * The libraries in libs/ may include this header (base/sibling.h). */
#ifndef HEED_BASE_JSON_H
#define HEED_BASE_JSON_H

#include "base/text/text.h"

enum { HD__JSON_DEPTH = 127 };

typedef enum hd__json_kind {
    HD__JSON_BAD, /* the text is wrong; every further call returns BAD, too */
    HD__JSON_END, /* the end of the text, after its one value */
    HD__JSON_OBJECT,
    HD__JSON_OBJECT_END,
    HD__JSON_ARRAY,
    HD__JSON_ARRAY_END,
    HD__JSON_NAME, /* the name of an object's member; its value follows */
    HD__JSON_STRING,
    HD__JSON_NUMBER,
    HD__JSON_TRUE,
    HD__JSON_FALSE,
    HD__JSON_NULL
} hd__json_kind;

typedef struct hd__json {
    hd__json_kind kind; /* the last event */
    const char *s;      /* NAME, STRING: decoded, may contain zeros; NUMBER: as written */
    /* the length of s, which has no zero at its end; both are valid until the next call */
    size_t len;
    size_t at;            /* index of the event's first byte; BAD: of the wrong byte */
    int depth;            /* the number of objects and arrays that are open */
    const char *expected; /* BAD: what was expected; NULL: memory ran out */

    /* private */
    const char *text;
    size_t n, next;
    int state;
    /* the brackets of the open objects and arrays, outermost first */
    char open[HD__JSON_DEPTH + 1];
    char *decoded;
    int64_t room;
} hd__json;

/* Prepares j to read the n bytes of text. The text need not end in a zero. It must outlive the
 * reader, which does not copy it. */
HD__SIBLING void hd__json_init(hd__json *j, const char *text, size_t n);
HD__SIBLING hd__json_kind hd__json_next(hd__json *j);
HD__SIBLING void hd__json_free(hd__json *j);

/* Both write the value of the last event, a NUMBER, to *v. hd__json_int returns false without an
 * error if the number has a fraction or an exponent, or does not fit. hd__json_double rounds
 * correctly in every locale; it returns false with an error if memory runs out. */
HD__SIBLING bool hd__json_int(const hd__json *j, int64_t *v);
HD__SIBLING bool hd__json_double(const hd__json *j, double *v);

/* Returns the name of a kind for messages: "an object", "the end". */
const char *hd__json_kind_name(hd__json_kind kind);

/* Fails with HD_FORMAT: "hd_fn: 'x.json': line 2, column 7: found '}': expected a value".
 * `expected` says what the caller expected in place of the last event; after BAD, the message has
 * j->expected instead. Columns are counted in bytes. If memory ran out, that error stays. Returns
 * NULL. */
HD__SIBLING void *hd__json_fail(const hd__json *j, const char *where, const char *expected);

#endif
