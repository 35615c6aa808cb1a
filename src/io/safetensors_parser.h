/* safetensors_parser.h - the parser of JSON that reads a header (safetensors_header.c, which
 * defines these functions) or an index (safetensors_index.c). */
#ifndef HEED_IO_SAFETENSORS_PARSER_H
#define HEED_IO_SAFETENSORS_PARSER_H

#include "base/text/json.h"
#include "io/safetensors.h"

enum { HD__LONGEST_HEADER = 100000000 }; /* bytes; also of an index */

typedef struct hd__safetensors_parser {
    hd_safetensors *f;
    const char *part; /* "header" or "index", for messages */
    hd__json json;
    hd__text name, text; /* the last name and the last other text */
    hd_dict *shards;     /* index only: maps each open shard's name to its place in f->shards */
} hd__safetensors_parser;

/* "hd_load_safetensors: 'x.safetensors': tensor 'w': ..."; what: "tensor", "metadata" */
#define bad(p, what, name, format, ...)                                                            \
    hd_fail(HD_FORMAT, "'%.*s': %s '%.*s': " format, HD__CUT((p)->f->path), what, HD__CUT(name),   \
            __VA_ARGS__)

/* Parses the n bytes at text, and frees them. */
bool hd__safetensors_parser_run(hd__safetensors_parser *p, char *text, size_t n,
                                bool (*parse)(hd__safetensors_parser *p));

/* Fails: the JSON is wrong, or its last event is not `expected`. */
bool hd__safetensors_parser_unexpected(const hd__safetensors_parser *p, const char *expected);
/* Reads the next event. Fails if it is of another kind. */
bool hd__safetensors_parser_expect(hd__safetensors_parser *p, hd__json_kind kind);
/* Reads the next name of an object. False at its end, where at_end is true, and after an error. */
bool hd__safetensors_parser_next(hd__safetensors_parser *p);

static inline bool at_end(const hd__safetensors_parser *p)
{
    return p->json.kind == HD__JSON_OBJECT_END;
}

static inline bool is_name(const hd__safetensors_parser *p, const char *name)
{
    return strlen(name) == p->json.len && memcmp(name, p->json.s, p->json.len) == 0;
}

/* Copies the event's text to t. Fails if the text contains U+0000. */
bool hd__safetensors_parser_text(hd__safetensors_parser *p, hd__text *t, const char *what);
/* Copies the event's name to p->name. Fails if the name is empty or already in d. */
bool hd__safetensors_parser_new_name(hd__safetensors_parser *p, const char *what, const hd_dict *d);

#endif
