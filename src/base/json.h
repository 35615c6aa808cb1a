/* json.h - the one strict JSON reader (RFC 8259): a text in, an event at a time out.
 *
 *   hd__json j;
 *   hd__json_init(&j, text, n);
 *   while (hd__json_next(&j) > HD__JSON_END) { ... j.kind, j.s, j.len ... }
 *   if (j.kind == HD__JSON_BAD) hd__json_fail(&j, "hd_fn", "'x.json'");
 *   hd__json_free(&j);
 *
 * Strict: UTF-8 only, no byte order mark, no lone surrogates, no number beyond a double, at most
 * HD__JSON_DEPTH levels, nothing behind the value. Whether a name comes twice is the caller's to
 * see. It does not recurse, and uses nothing of heed but heed/base.h, so that a library beside
 * libheed may compile it in. */
#ifndef HEED_BASE_JSON_H
#define HEED_BASE_JSON_H

#include "base/text.h"

enum { HD__JSON_DEPTH = 127 };

typedef enum hd__json_kind {
    HD__JSON_BAD, /* for good: every further call says so too */
    HD__JSON_END, /* of the text, behind its one value */
    HD__JSON_OBJECT,
    HD__JSON_OBJECT_END,
    HD__JSON_ARRAY,
    HD__JSON_ARRAY_END,
    HD__JSON_NAME, /* of an object's member; its value follows */
    HD__JSON_STRING,
    HD__JSON_NUMBER,
    HD__JSON_TRUE,
    HD__JSON_FALSE,
    HD__JSON_NULL
} hd__json_kind;

typedef struct hd__json {
    hd__json_kind kind;   /* of the last event */
    const char *s;        /* NAME, STRING: decoded, perhaps with zeros in it; NUMBER: as written; */
    size_t len;           /* not ended by a zero; until the next call */
    size_t at;            /* the event's first byte; BAD: the byte that is wrong */
    int depth;            /* objects and arrays open now */
    const char *expected; /* BAD: what is; NULL: memory ran out */

    /* private */
    const char *text;
    size_t n, next;
    int state;
    uint8_t is_object[HD__JSON_DEPTH / 8 + 1]; /* a bit a level */
    char *decoded;
    size_t room;
} hd__json;

/* text need not end in a zero; it stays the caller's, and must outlive the reader. */
void hd__json_init(hd__json *j, const char *text, size_t n);
hd__json_kind hd__json_next(hd__json *j);
void hd__json_free(hd__json *j);

/* The last event was a NUMBER: its value. int: false unless written as an integer, with neither
 * fraction nor exponent, that fits. double: rounded correctly whatever the locale; false when
 * memory ran out. */
bool hd__json_int(const hd__json *j, int64_t *v);
bool hd__json_double(const hd__json *j, double *v);

/* "an object", "the end": for messages. */
const char *hd__json_kind_name(hd__json_kind kind);

/* Line and column (in bytes) of a place in the text, both from 1. */
void hd__json_place(const char *text, size_t at, int64_t *line, int64_t *column);

/* After BAD: HD_FORMAT "hd_fn: 'x.json': line 2, column 7: found '}': expected a value", or
 * HD_MEMORY. Returns NULL. */
void *hd__json_fail(const hd__json *j, const char *function, const char *where);

#endif
