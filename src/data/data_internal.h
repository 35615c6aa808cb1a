/* data_internal.h - what the files of the data layer offer to each other. */
#ifndef HEED_DATA_INTERNAL_H
#define HEED_DATA_INTERNAL_H

#include "heed/data.h"
#include "tensor/tensor_internal.h"

/* ---------------------------------------------------------------- files (map.c) */

/* A regular file's bytes, mapped privately for reading. HD_IO names the path and the cause. */
bool hd__file_map(const char *function, const char *path, const unsigned char **bytes,
                  size_t *size);
void hd__file_unmap(const unsigned char *bytes, size_t size);

/* ---------------------------------------------------------------- tokens and datasets */

struct hd_tokens {
    atomic_int refs;
    int width; /* bytes an id */
    int64_t len;
    const unsigned char *bytes;
    hd_tokens *owner; /* of the bytes, held; NULL: this row itself, and then the bytes are */
    bool allocated;   /* of hd_alloc, or */
    size_t mapped;    /* so many mapped ones */
};

hd_tokens *hd__tokens_hold(const hd_tokens *t);
/* n ids from `at` on, which the caller has checked. */
void hd__tokens_copy(const hd_tokens *t, int64_t at, int64_t n, int64_t *ids);

struct hd_dataset {
    atomic_int refs;
    hd_tokens *tokens; /* held */
    int64_t max_length, stride;
    int64_t len;
    int64_t *order; /* the window of each item; NULL: item k is window k */
};

hd_dataset *hd__dataset_hold(const hd_dataset *s);
/* Items order[0], order[1], ... (NULL: first, first + 1, ...) as two (n, max_length) tensors. */
bool hd__dataset_batch(const char *function, const hd_dataset *s, int64_t n, int64_t first,
                       const int64_t *order, hd_tensor **input, hd_tensor **target);

/* ---------------------------------------------------------------- text (utf8.c) */

/* HD_FORMAT naming the byte and its place, when s is not UTF-8. */
bool hd__utf8_check(const char *function, const char *s, int64_t n);

/* Classes of characters as GPT-2's pattern has them: \p{L}, \p{N}, \s. */
enum { HD__OTHER, HD__LETTER, HD__NUMBER, HD__SPACE };
int hd__char_class(uint32_t code);

/* Where the class changes: code << 2 | class, ascending from code 0. */
extern const uint32_t hd__char_classes[];
extern const int hd__char_classes_len;

/* ---------------------------------------------------------------- tokenizers */

typedef struct hd__ids {
    int64_t *v; /* of hd_alloc */
    int64_t n, room;
} hd__ids;

bool hd__ids_add(hd__ids *ids, int64_t id);

typedef struct hd__tokenizer_type {
    const char *kind; /* its name in a dictionary */
    bool (*encode)(const hd_tokenizer *t, const char *text, int64_t n, hd_special special,
                   hd__ids *ids);
    int64_t (*find)(const hd_tokenizer *t, const char *token, int64_t n);
    bool (*save)(const hd_tokenizer *t, hd_dict *d, const char *prefix);
    hd_tokenizer *(*load)(const hd_dict *d, const char *prefix);
    void (*free)(hd_tokenizer *t); /* what lies behind the common part; NULL: nothing does */
} hd__tokenizer_type;

/* The common part: the bytes of token id are bytes[starts[id] .. starts[id + 1]). */
struct hd_tokenizer {
    const hd__tokenizer_type *type;
    int64_t size;
    char *bytes;     /* of hd_alloc, as */
    int64_t *starts; /* these */
};

extern const hd__tokenizer_type hd__byte_type, hd__char_type, hd__bpe_type;

/* Zeroed, of struct_size bytes, with room for so many tokens. */
hd_tokenizer *hd__tokenizer_new(const hd__tokenizer_type *type, size_t struct_size, int64_t size,
                                int64_t bytes);

static inline const char *hd__token(const hd_tokenizer *t, int64_t id, int64_t *n)
{
    *n = t->starts[id + 1] - t->starts[id];
    return t->bytes + t->starts[id];
}

/* The length of the next word of s[0 .. n), n > 0, valid UTF-8, by GPT-2's pattern (words.c). */
int64_t hd__next_word(const char *s, int64_t n);

#endif
