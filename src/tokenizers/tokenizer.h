/* tokenizer.h - the part that all tokenizers share (tokenizer.c), and the functions of their
 * types. */
#ifndef HEED_TOKENIZERS_TOKENIZER_H
#define HEED_TOKENIZERS_TOKENIZER_H

#include "base/error/call.h"
#include "base/text/text.h"
#include "heed/data.h"

/* A list of ids. It begins as {0}. After a failure, additions change nothing, and the error
 * stands. */
typedef struct hd__tokenizer_ids {
    int64_t *v; /* hd_free */
    int64_t n, room;
    bool failed;
} hd__tokenizer_ids;

void hd__tokenizer_ids_add(hd__tokenizer_ids *ids, int64_t id);

typedef struct hd__tokenizer_type {
    const char *kind; /* its name in saved state */
    bool (*encode)(const hd_tokenizer *t, const char *text, int64_t n, const hd_encode_options *o,
                   hd__tokenizer_ids *ids);
    int64_t (*find)(const hd_tokenizer *t, const char *token, int64_t n);
    bool (*save)(const hd_tokenizer *t, hd_dict *d, const char *prefix); /* NULL: kind only */
    hd_tokenizer *(*load)(const hd_dict *d, const char *prefix);
    void (*free)(hd_tokenizer *t); /* frees the type's own fields; NULL: it has none */
} hd__tokenizer_type;

/* Flags of a token, for decoding. */
enum {
    HD__SPECIAL_TOKEN = 1,
    HD__BYTE_TOKEN = 2,
    HD__SPACED_TOKEN = 4, /* a space belongs before it */
    HD__MADE_TOKEN = 8,   /* while files are read: a merge makes it */
    HD__NO_TOKEN = 16     /* no token has this id */
};

/* The shared part. The bytes of token id are bytes[starts[id] .. starts[id + 1]). */
struct hd_tokenizer {
    const hd__tokenizer_type *type;
    int64_t size;
    char *bytes; /* bytes, starts and kinds come from hd_alloc */
    int64_t *starts;
    uint8_t *kinds;   /* by id; NULL: all are 0 */
    bool metaspaces;  /* in a token, U+2581 stands for a space */
    bool strip_space; /* decoding removes the first space */
};

extern const hd__tokenizer_type hd__tokenizer_byte_type, hd__tokenizer_char_type, hd__bpe_type,
    hd__bpe_json_type;

/* A zeroed struct of struct_size bytes, with room for `size` tokens that have `bytes` bytes in
 * sum. */
hd_tokenizer *hd__tokenizer_new(const hd__tokenizer_type *type, size_t struct_size, int64_t size,
                                int64_t bytes);

static inline const char *hd__tokenizer_token(const hd_tokenizer *t, int64_t id, int64_t *n)
{
    *n = t->starts[id + 1] - t->starts[id];
    return t->bytes + t->starts[id];
}

#endif
