/* safetensors_parser.h - functions that parse the JSON of a header or an index.
 * safetensors_header.c defines them; safetensors_index.c uses them, too. */
#ifndef HEED_IO_SAFETENSORS_PARSER_H
#define HEED_IO_SAFETENSORS_PARSER_H

#include "base/text/json.h"
#include "io/safetensors.h"

enum { HD__LONGEST_HEADER = 100000000 }; /* in bytes; the limit of an index, too */

typedef struct hd__safetensors_parser {
    hd_safetensors *f;
    const char *part; /* "header" or "index", for messages */
    hd__json json;
    hd__text name, text; /* the last name of a member, and the last other text */
    hd_dict *shards;     /* for an index: maps each open shard's name to its index in f->shards */
} hd__safetensors_parser;

/* Fails with a message such as "hd_load_safetensors: 'x.safetensors': tensor 'w': ...". `what` is
 * the word before the name, such as "tensor" or "metadata". */
#define bad(p, what, name, format, ...)                                                            \
    hd_fail(HD_FORMAT, "'%.*s': %s '%.*s': " format, HD__CUT((p)->f->path), what, HD__CUT(name),   \
            __VA_ARGS__)

/* Parses the n bytes at text with the function `parse`, and frees text. Fails if `parse` fails. */
bool hd__safetensors_parser_run(hd__safetensors_parser *p, char *text, size_t n,
                                bool (*parse)(hd__safetensors_parser *p));

/* Fails with HD_FORMAT, because the JSON is malformed, or because its last event is not what the
 * text `expected` describes. */
bool hd__safetensors_parser_unexpected(const hd__safetensors_parser *p, const char *expected);
/* Reads the next event. Fails if its kind is not `kind`. */
bool hd__safetensors_parser_expect(hd__safetensors_parser *p, hd__json_kind kind);
/* Reads the next member's name in an object. Returns false at the end of the object, where at_end
 * is true, and after an error. */
bool hd__safetensors_parser_next(hd__safetensors_parser *p);

static inline bool at_end(const hd__safetensors_parser *p)
{
    return p->json.kind == HD__JSON_OBJECT_END;
}

static inline bool is_name(const hd__safetensors_parser *p, const char *name)
{
    return strlen(name) == p->json.len && memcmp(name, p->json.s, p->json.len) == 0;
}

/* Copies the event's text to t. Fails if the text contains U+0000; the message then calls the text
 * `what`. */
bool hd__safetensors_parser_text(hd__safetensors_parser *p, hd__text *t, const char *what);
/* Copies the event's name to p->name. Fails if the name is empty or already in d; the message then
 * calls the name `what`. */
bool hd__safetensors_parser_new_name(hd__safetensors_parser *p, const char *what, const hd_dict *d);

#endif
