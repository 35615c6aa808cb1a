/* data.h - from a text to batches: tokenizers, token files, sliding windows, the loader.
 *
 *   hd_tokens *train, *val;
 *   hd_tokens_split(tokens, 0.9, &train, &val);
 *   hd_dataset *windows = hd_windows_new(train, 256, 128);
 *   hd_loader *loader = hd_loader_new(windows, &options);
 *   for (;;) {
 *       HD_SCOPE;
 *       hd_tensor *x, *y;                          (batch_size, 256), int64
 *       if (!hd_loader_next(loader, &x, &y))
 *           break;                                 the epoch is over, or an error stands
 *       ...
 *   }
 *
 * Every object here is freed by its _free function, which takes NULL; parts hold what they are made
 * of, so the order does not matter. Only a loader changes after it was made: the others may be read
 * by any number of threads. Texts are UTF-8; positions in messages count from 0. */
#ifndef HEED_DATA_H
#define HEED_DATA_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- tokenizers */

typedef struct hd_tokenizer hd_tokenizer;

/* What becomes of a special token's name, as <|endoftext|>, that stands in a text. */
typedef enum hd_special {
    HD_SPECIAL_REFUSE = 0, /* an error that names its place (tiktoken's default) */
    HD_SPECIAL_ALLOW = 1,  /* it is that token (tiktoken's allowed_special="all") */
    HD_SPECIAL_TEXT = 2    /* it is text like any other (tiktoken's encode_ordinary) */
} hd_special;

/* A byte is its own id: 256 of them. Encodes anything, UTF-8 or not. */
HD_API hd_tokenizer *hd_tokenizer_bytes(void);

/* The distinct characters (code points) of a text, in their order: ids 0, 1, ... n < 0: text ends
 * at its zero. A character that the text had not cannot be encoded; U+0000 cannot be in it. */
HD_API hd_tokenizer *hd_tokenizer_chars(const char *text, int64_t n);

/* Byte-level BPE from GPT-2's two files, vocab.json (encoder.json) and merges.txt (vocab.bpe):
 * GPT-2's cutting into words, and tiktoken's ids. Every token of the vocabulary is a byte, what a
 * merge makes, or <|endoftext|>, its one special token; anything else is HD_FORMAT. */
HD_API hd_tokenizer *hd_tokenizer_bpe(const char *vocab_path, const char *merges_path);

HD_API void hd_tokenizer_free(hd_tokenizer *t);
HD_API int64_t hd_tokenizer_size(const hd_tokenizer *t); /* ids are 0 to size - 1; -1 on error */

/* The id of the token with exactly these bytes ("<|endoftext|>" too); -1, without an error, when
 * there is none. n < 0 as above. */
HD_API int64_t hd_tokenizer_id(const hd_tokenizer *t, const char *token, int64_t n);

/* The ids of a text: (count,) int64. HD_VALUE, with the place: a special token (by `special`), a
 * character outside the vocabulary; HD_FORMAT: no UTF-8 (but bytes take anything). */
HD_API hd_tensor *hd_tokenizer_encode(const hd_tokenizer *t, const char *text, int64_t n,
                                      hd_special special);

/* The text of int64 ids of any shape, in the innermost scope and ended by a zero; *n, unless NULL,
 * is its length. Bytes: as they are. Text: valid UTF-8, with U+FFFD for what is not, as Python's
 * decode(errors="replace"). HD_INDEX: an id outside the vocabulary, with its place. */
HD_API const char *hd_tokenizer_decode_bytes(const hd_tokenizer *t, const hd_tensor *ids,
                                             int64_t *n);
HD_API const char *hd_tokenizer_decode(const hd_tokenizer *t, const hd_tensor *ids, int64_t *n);

/* All that is needed to make it again, as the strings prefix.kind, prefix.chars (a character
 * vocabulary), prefix.vocab and prefix.merges (BPE: the two files). */
HD_API bool hd_tokenizer_save(const hd_tokenizer *t, hd_dict *d, const char *prefix);
HD_API hd_tokenizer *hd_tokenizer_load(const hd_dict *d, const char *prefix);

/* ---------------------------------------------------------------- tokens */

/* A row of token ids in a file or in memory. A file holds nothing but the ids, little-endian. It is
 * mapped, not read: one that is made shorter by someone while it is open raises SIGBUS. */
typedef struct hd_tokens hd_tokens;

/* The value is the bytes of an id. */
typedef enum hd_token_type {
    HD_TOKEN_U16 = 2, /* ids up to 65535 */
    HD_TOKEN_U32 = 4  /* up to 4294967295 */
} hd_token_type;

/* HD_FORMAT when the size is no multiple of the type's; HD_IO for what is no regular file. */
HD_API hd_tokens *hd_tokens_open(const char *path, hd_token_type type);

/* A copy of int64 ids (n,). HD_VALUE: an id outside uint32. */
HD_API hd_tokens *hd_tokens_from(const hd_tensor *ids);

/* Writes int64 ids (n,) to a file, atomically: a temporary file beside it, synced, then renamed; a
 * failure leaves the old file. HD_VALUE: an id that the type cannot hold; HD_STATE: an error stands
 * already. */
HD_API bool hd_tokens_write(const char *path, hd_token_type type, const hd_tensor *ids);

HD_API void hd_tokens_free(hd_tokens *t);
HD_API int64_t hd_tokens_len(const hd_tokens *t);                            /* -1 on error */
HD_API hd_tensor *hd_tokens_read(const hd_tokens *t, int64_t at, int64_t n); /* (n,) int64 */

/* Both parts of a row cut once: the first floor(fraction len) ids, and the rest. fraction in
 * [0, 1]. */
HD_API bool hd_tokens_split(const hd_tokens *t, double fraction, hd_tokens **first,
                            hd_tokens **rest);

/* ---------------------------------------------------------------- datasets */

/* Pairs (input, target) by number. */
typedef struct hd_dataset hd_dataset;

/* Windows: item k is input = tokens[i : i + max_length], target = the same one token on, with
 * i = k stride, for i in range(0, len - max_length, stride): GPTDatasetV1 in Raschka, "Build a
 * Large Language Model (From Scratch)", listing 2.5. Too few tokens for one: a dataset of 0. */
HD_API hd_dataset *hd_windows_new(const hd_tokens *t, int64_t max_length, int64_t stride);

/* Cuts a dataset into `parts` of these lengths (their sum must be its own) in the order of one
 * randperm from g (NULL: hd_generator_current()); parts[i] is to be freed. torch's random_split. */
HD_API bool hd_random_split(const hd_dataset *s, int n, const int64_t *lengths, hd_generator *g,
                            hd_dataset **parts);

HD_API void hd_dataset_free(hd_dataset *s);
HD_API int64_t hd_dataset_len(const hd_dataset *s); /* -1 on error */

/* Item i (i < 0 counts from the end), each (max_length,) int64. An out-parameter may be NULL. */
HD_API bool hd_dataset_get(const hd_dataset *s, int64_t i, hd_tensor **input, hd_tensor **target);

/* ---------------------------------------------------------------- the loader */

/* Batches of a dataset, epoch after epoch, in the order of torch.utils.data.DataLoader and with its
 * draws. Each epoch begins with one random64 from the generator; with shuffle, its first batch then
 * draws the order: without a generator of its own a random64, the seed of a fresh generator's
 * randperm; with one that one's randperm, and a second when the epoch ends. */
typedef struct hd_loader hd_loader;

typedef struct hd_loader_options {
    size_t size;
    int64_t batch_size;      /* 1 */
    bool shuffle;            /* false; of 0 items: HD_VALUE */
    bool drop_last;          /* false: the last batch of an epoch may be shorter */
    hd_generator *generator; /* NULL: hd_generator_current() at each draw; it outlives the loader */
} hd_loader_options;

HD_API hd_loader_options hd_loader_defaults(void);
HD_API hd_loader *hd_loader_new(const hd_dataset *s,
                                const hd_loader_options *o); /* NULL: defaults */
HD_API void hd_loader_free(hd_loader *l);
HD_API int64_t hd_loader_len(const hd_loader *l); /* batches of one epoch; -1 on error */

/* The next batch, each (b, max_length) int64, in the innermost scope. False at the end of an epoch,
 * once, without an error; the next call begins another. An out-parameter may be NULL. */
HD_API bool hd_loader_next(hd_loader *l, hd_tensor **input, hd_tensor **target);

/* Leaves the epoch under way, if there is one: the next call begins another. */
HD_API bool hd_loader_restart(hd_loader *l);

HD_API int64_t hd_loader_epoch(const hd_loader *l); /* epochs begun so far; -1 on error */
HD_API int64_t hd_loader_batch(const hd_loader *l); /* batches taken from this one; -1 on error */

/* Where the loader stands, as prefix.epoch, prefix.batch, prefix.order ...: one that is loaded into
 * a loader over an equal dataset, with equal options (else HD_VALUE), goes on with the very next
 * batch. Generators are not part of it: hd_generator_save. */
HD_API bool hd_loader_save(const hd_loader *l, hd_dict *d, const char *prefix);
HD_API bool hd_loader_load(hd_loader *l, const hd_dict *d, const char *prefix);

#ifdef __cplusplus
}
#endif
#endif
