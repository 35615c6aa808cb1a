/* safetensors_parser.h - functions that parse the JSON of a header or an index.
 * safetensors_header.c defines them; safetensors_index.c uses them, too. */
#ifndef HEED_IO_SAFETENSORS_PARSER_H
#define HEED_IO_SAFETENSORS_PARSER_H

#include "base/text/json.h"
#include "io/safetensors.h"

enum { HD__LONGEST_HEADER = 100000000 }; /* the most bytes of a header, or of an index */

typedef struct hd__safetensors_parser {
    hd_safetensors *f;
    const char *part; /* the part of the file that is parsed, for messages: "header" or "index" */
    hd__json json;
    /* name: the name of the tensor or metadata entry that was read last; text: the string that was
     * read last within this entry, such as a dtype */
    hd__text name, text;
    /* for an index: maps each open shard's name to its index in f->shards; NULL for a header */
    hd_dict *shards;
} hd__safetensors_parser;

/* Sets an error such as "hd_load_safetensors: 'x.safetensors': tensor 'w': ...", with HD_FORMAT,
 * and returns NULL. `what` is the word before the name, such as "tensor" or "metadata". */
#define bad(p, what, name, format, ...)                                                            \
    hd_fail(HD_FORMAT, "'%.*s': %s '%.*s': " format, HD__CUT((p)->f->path), what, HD__CUT(name),   \
            __VA_ARGS__)

/* Parses the n bytes at text with the function `parse`, and returns its result. Frees text, and p's
 * fields json, name, text and shards. */
bool hd__safetensors_parser_run(hd__safetensors_parser *p, char *text, size_t n,
                                bool (*parse)(hd__safetensors_parser *p));

/* Sets the error HD_FORMAT and returns false. The message says that the JSON is malformed, or that
 * the last event of the JSON reader (json.h) is not what the text `expected` describes. */
bool hd__safetensors_parser_unexpected(const hd__safetensors_parser *p, const char *expected);
/* Reads the next event of the JSON (json.h), such as a string or the end of an object. Returns
 * false with an error if the event's kind is not `kind`. */
bool hd__safetensors_parser_expect(hd__safetensors_parser *p, hd__json_kind kind);
/* Reads the next member's name in an object. Returns false, without an error, at the end of the
 * object: then at_end returns true. Returns false with an error if there is no name. */
bool hd__safetensors_parser_next(hd__safetensors_parser *p);

static inline bool at_end(const hd__safetensors_parser *p)
{
    return p->json.kind == HD__JSON_OBJECT_END;
}

static inline bool is_name(const hd__safetensors_parser *p, const char *name)
{
    return strlen(name) == p->json.len && memcmp(name, p->json.s, p->json.len) == 0;
}

/* Copies the string or name that was read last to t. Returns false with an error if this text
 * contains U+0000, or if memory runs out. `what` is the word before the text in the message, such
 * as "tensor". */
bool hd__safetensors_parser_text(hd__safetensors_parser *p, hd__text *t, const char *what);
/* Copies the name that was read last to p->name. Returns false with an error if the name is empty,
 * contains U+0000 or is already a name in d, or if memory runs out. `what` is the word before the
 * name in the message, such as "tensor". */
bool hd__safetensors_parser_new_name(hd__safetensors_parser *p, const char *what, const hd_dict *d);

#endif
