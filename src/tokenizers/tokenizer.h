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
    /* saves all but the kind; NULL: there is nothing else to save */
    bool (*save)(const hd_tokenizer *t, hd_dict *d, const char *prefix);
    hd_tokenizer *(*load)(const hd_dict *d, const char *prefix);
    void (*free)(hd_tokenizer *t); /* frees the fields that only this type has; NULL: it has none */
} hd__tokenizer_type;

/* Flags of a token, for decoding. */
enum {
    HD__SPECIAL_TOKEN = 1,
    HD__BYTE_TOKEN = 2,
    HD__SPACED_TOKEN = 4, /* decoding writes a space before the token */
    /* a merge makes the token; only the functions that read files use this flag */
    HD__MADE_TOKEN = 8,
    HD__NO_TOKEN = 16 /* no token has this id */
};

/* The fields that all tokenizers share. The bytes of token id are those of `bytes` in the range
 * [starts[id], starts[id + 1]). */
struct hd_tokenizer {
    const hd__tokenizer_type *type;
    int64_t size;
    char *bytes; /* bytes, starts and kinds come from hd_alloc */
    int64_t *starts;
    uint8_t *kinds;   /* kinds[id] has the flags of token id; NULL: all flags are 0 */
    bool metaspaces;  /* true if U+2581 in a token stands for a space */
    bool strip_space; /* true if decoding removes the first space of a text */
};

extern const hd__tokenizer_type hd__tokenizer_byte_type, hd__tokenizer_char_type, hd__bpe_type,
    hd__bpe_json_type;

/* Makes a tokenizer of `size` tokens: a struct of struct_size bytes, which begins with an
 * hd_tokenizer t. Allocates t->bytes for `bytes` bytes, and t->starts, whose elements are 0. All
 * other fields are 0. The caller frees the tokenizer with hd_tokenizer_free. Returns NULL with an
 * error if memory runs out. */
hd_tokenizer *hd__tokenizer_new(const hd__tokenizer_type *type, size_t struct_size, int64_t size,
                                int64_t bytes);

static inline const char *hd__tokenizer_token(const hd_tokenizer *t, int64_t id, int64_t *n)
{
    *n = t->starts[id + 1] - t->starts[id];
    return t->bytes + t->starts[id];
}

#endif
