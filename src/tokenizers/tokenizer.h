/* tokenizer.h - the fields that all tokenizers share (tokenizer.c), and the functions of their
 * types. */
#ifndef HEED_TOKENIZERS_TOKENIZER_H
#define HEED_TOKENIZERS_TOKENIZER_H

#include "base/error/call.h"
#include "base/text/text.h"
#include "heed/data.h"

/* A list of ids. It begins as {0}. If an addition fails, an error is set, `failed` is true, and
 * further additions change nothing. */
typedef struct hd__tokenizer_ids {
    int64_t *v; /* freed with hd_free */
    int64_t n, room;
    bool failed;
} hd__tokenizer_ids;

void hd__tokenizer_ids_add(hd__tokenizer_ids *ids, int64_t id);

typedef struct hd__tokenizer_type {
    const char *kind; /* the type's name in a saved state */
    bool (*encode)(const hd_tokenizer *t, const char *text, int64_t n, const hd_encode_options *o,
                   hd__tokenizer_ids *ids);
    int64_t (*find)(const hd_tokenizer *t, const char *token, int64_t n);
    /* NULL: it saves its kind only */
    bool (*save)(const hd_tokenizer *t, hd_dict *d, const char *prefix);
    hd_tokenizer *(*load)(const hd_dict *d, const char *prefix);
    void (*free)(hd_tokenizer *t); /* frees the fields of this type; NULL: it has none */
} hd__tokenizer_type;

/* Flags of a token, for decoding. */
enum {
    HD__SPECIAL_TOKEN = 1,
    HD__BYTE_TOKEN = 2,
    HD__SPACED_TOKEN = 4, /* decoding writes a space before it */
    HD__MADE_TOKEN = 8,   /* used while files are read: a merge makes it */
    HD__NO_TOKEN = 16     /* no token has this id */
};

/* The fields that all tokenizers share. The bytes of token id are those of `bytes` in the range
 * [starts[id], starts[id + 1]). */
struct hd_tokenizer {
    const hd__tokenizer_type *type;
    int64_t size;
    char *bytes; /* bytes, starts and kinds come from hd_alloc */
    int64_t *starts;
    uint8_t *kinds;   /* the flags of each id; NULL: all are 0 */
    bool metaspaces;  /* in a token, U+2581 stands for a space */
    bool strip_space; /* decoding removes the first space */
};

extern const hd__tokenizer_type hd__tokenizer_byte_type, hd__tokenizer_char_type, hd__bpe_type,
    hd__bpe_json_type;

/* Makes a tokenizer, a struct of struct_size bytes whose other members are 0, for `size` tokens.
 * Allocates t->bytes for `bytes` bytes, and t->starts, which is all 0. */
hd_tokenizer *hd__tokenizer_new(const hd__tokenizer_type *type, size_t struct_size, int64_t size,
                                int64_t bytes);

static inline const char *hd__tokenizer_token(const hd_tokenizer *t, int64_t id, int64_t *n)
{
    *n = t->starts[id + 1] - t->starts[id];
    return t->bytes + t->starts[id];
}

#endif
