/* tokenizers_internal.h - what the files of the tokenizers offer to each other. */
#ifndef HEED_TOKENIZERS_INTERNAL_H
#define HEED_TOKENIZERS_INTERNAL_H

#include "base/error/call.h"
#include "base/text/text.h"
#include "heed/data.h"

/* ---------------------------------------------------------------- text (utf8.c) */

/* Is s UTF-8? Otherwise HD_FORMAT, with the first wrong byte and its place. */
bool hd__utf8_check(const char *s, int64_t n);

/* The classes of characters in GPT-2's pattern: \p{L}, \p{N} and \s. */
enum { HD__OTHER, HD__LETTER, HD__NUMBER, HD__SPACE };
int hd__char_class(uint32_t code);

/* Tables of numbers are texts, which tools/generate prints: each number is some letters in a row,
 * and each letter is six bits, the lowest six of its code. The higher bits come first. */
uint32_t hd__number_at(const char *table, int letters, int i);
/* Of the numbers [low, high), which ascend, the last one that is at most `most`; low - 1: none. */
int hd__last_number(const char *table, int letters, int low, int high, uint32_t most);

/* A value for each character, and where it changes. */
typedef struct hd__char_table {
    const char *before;  /* how many changes stand before each 1024 characters, two letters each */
    const char *changes; /* the lowest ten bits of a character, and its value */
    int letters, bits;   /* of a change; of a value */
    uint32_t n;          /* 1024 n and what follows has the value 0 */
} hd__char_table;

int hd__char_value(const hd__char_table *t, uint32_t code);

extern const hd__char_table hd__char_classes;

/* Adds the text in Unicode's normalization form C (nfc.c). s is UTF-8. */
void hd__nfc(const char *s, int64_t n, hd__text *to);

/* ---------------------------------------------------------------- tokenizers */

/* It begins as {0}. After one failure, additions change nothing; the error then stands. */
typedef struct hd__ids {
    int64_t *v; /* hd_free */
    int64_t n, room;
    bool failed;
} hd__ids;

void hd__ids_add(hd__ids *ids, int64_t id);

typedef struct hd__tokenizer_type {
    const char *kind; /* its name in a dictionary */
    bool (*encode)(const hd_tokenizer *t, const char *text, int64_t n, const hd_encode_options *o,
                   hd__ids *ids);
    int64_t (*find)(const hd_tokenizer *t, const char *token, int64_t n);
    bool (*save)(const hd_tokenizer *t, hd_dict *d, const char *prefix); /* NULL: nothing more */
    hd_tokenizer *(*load)(const hd_dict *d, const char *prefix);
    void (*free)(hd_tokenizer *t); /* frees what the type adds to the common part; NULL: nothing */
} hd__tokenizer_type;

/* What decoding knows of a token. */
enum {
    HD__SPECIAL_TOKEN = 1,
    HD__BYTE_TOKEN = 2,
    HD__SPACED_TOKEN = 4, /* a space belongs before it */
    HD__MADE_TOKEN = 8,   /* only while files are read: a merge makes it */
    HD__NO_TOKEN = 16     /* the file has no token with this id */
};

/* The common part: the bytes of token id are bytes[starts[id] .. starts[id + 1]). */
struct hd_tokenizer {
    const hd__tokenizer_type *type;
    int64_t size;
    char *bytes; /* the three come from hd_alloc */
    int64_t *starts;
    uint8_t *kinds;   /* by id; NULL: all are 0 */
    bool metaspaces;  /* in a token, U+2581 stands for a space */
    bool strip_space; /* a text loses its first space */
};

extern const hd__tokenizer_type hd__byte_type, hd__char_type, hd__bpe_type, hd__json_type;

/* A zeroed struct of struct_size bytes, with room for `size` tokens of `bytes` bytes together. */
hd_tokenizer *hd__tokenizer_new(const hd__tokenizer_type *type, size_t struct_size, int64_t size,
                                int64_t bytes);

static inline const char *hd__token(const hd_tokenizer *t, int64_t id, int64_t *n)
{
    *n = t->starts[id + 1] - t->starts[id];
    return t->bytes + t->starts[id];
}

/* How a pattern cuts a text into words (words.c). */
typedef struct hd__words {
    const char *pattern;
    bool any_case;            /* 's, 're ... also in capitals, and with U+017F */
    bool any_before_letters;  /* any character but a newline, not only a space, begins a word */
    bool newlines;            /* newlines end other characters, and white space ends with them */
    int64_t digits;           /* how many digits a word has at most */
    bool space_before_digits; /* a space begins a word of digits */
} hd__words;

extern const hd__words hd__words_gpt2, hd__words_llama3, hd__words_qwen2;

/* The length of the first word of s[0 .. n); n > 0, and s is UTF-8. */
int64_t hd__next_word(const hd__words *w, const char *s, int64_t n);
/* The length of what stands before the first digit; if s begins with one, the digit's. n > 0 */
int64_t hd__before_digit(const char *s, int64_t n);

#endif
