/* data.h - from a text to batches: tokenizers, token files, sliding windows, the loader.
 *
 *   hd_tokens *train, *val;
 *   hd_tokens_split(tokens, 0.9, &train, &val);
 *   hd_dataset *windows = hd_windows_new(train, 256, 128);
 *   hd_loader *loader = hd_loader_new(windows, &options);
 *   for (;;) {
 *       HD_SCOPE;
 *       hd_tensor *x, *y; // (batch_size, 256) int64
 *       if (!hd_loader_next(loader, &x, &y)) {
 *           break; // the epoch is over, or an error is set
 *       }
 *   }
 *
 * Every object here is freed by its _free function, which takes NULL. Each object keeps the objects
 * that it is made of, so the order of freeing does not matter. Only a loader changes after it was
 * made; any number of threads may read the other objects. Texts are UTF-8. Positions in messages
 * count from 0. */
#ifndef HEED_DATA_H
#define HEED_DATA_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- tokenizers */

typedef struct hd_tokenizer hd_tokenizer; /* a tokenizer: text to ids and back */

/* The treatment of the name of a special token, such as <|endoftext|>, in a text. */
typedef enum hd_special {
    HD_SPECIAL_REFUSE = 0, /* an error that names its place (tiktoken's default) */
    HD_SPECIAL_ALLOW = 1,  /* the special token (tiktoken's allowed_special="all") */
    HD_SPECIAL_TEXT = 2    /* text like any other (tiktoken's encode_ordinary) */
} hd_special;

/* A tokenizer of bytes: each of the 256 bytes is its own id. It encodes any text, UTF-8 or not. */
HD_API hd_tokenizer *hd_tokenizer_bytes(void);

/* A tokenizer of characters. Its vocabulary is the set of distinct characters (code points) of a
 * text, in code point order, with the ids from 0 on. It can encode only these characters. The text
 * must not contain U+0000. n is its length in bytes; n < 0: the text ends at its zero. */
HD_API hd_tokenizer *hd_tokenizer_chars(const char *text, int64_t n);

/* Byte-level BPE from GPT-2's two files, vocab.json (encoder.json) and merges.txt (vocab.bpe). It
 * cuts a text into words as GPT-2 does, and merges the pairs of merges.txt; a word that is a token
 * stays whole. If a training made the files, the ids are those of tiktoken. Every token of the
 * vocabulary must be a byte, the result of one merge, or <|endoftext|>, the only special token;
 * anything else is HD_FORMAT. */
HD_API hd_tokenizer *hd_tokenizer_bpe(const char *vocab_path, const char *merges_path);

/* The tokenizer of a model folder, from a tokenizer.json of Hugging Face. It gives the ids and the
 * texts of the Python package tokenizers 0.23. It knows byte pair encoding in five forms:
 *
 *   GPT-2       words by the regular expression of ByteLevel
 *   SmolLM      each digit is a word (Digits), then as GPT-2
 *   Llama 3     words by the regular expression of Split, which heed knows by its text
 *   Qwen 2      as Llama 3, after the normalizer NFC
 *   Llama 2     (also TinyLlama) a text is one word of characters, in which U+2581 stands for a
 *               space (the normalizers Prepend and Replace, or Metaspace), with bytes for unknown
 *               characters
 *
 * All forms take added tokens (except those with single_word) and TemplateProcessing. Truncation
 * and padding are not read. The ids of the vocabulary are below 1048576 and may have gaps. Added
 * tokens that the vocabulary lacks get the ids from its number of tokens on, in their order; if the
 * file says other ids, that is a warning. HD_FORMAT: the file is not such a tokenizer.json, or the
 * package tokenizers refuses the type of a value; the message names the file and the key, what is
 * there and what is expected. */
HD_API hd_tokenizer *hd_tokenizer_json(const char *path);

HD_API void hd_tokenizer_free(hd_tokenizer *t);
/* the number of ids, which are 0 to size - 1; an id without a token stands for the empty text; -1
 * on error */
HD_API int64_t hd_tokenizer_size(const hd_tokenizer *t);

/* Returns the id of the token with exactly these n bytes ("<|endoftext|>" too). n < 0: the token
 * ends at its zero. If there is no such token, the result is -1, without an error. The tokens of
 * Llama 2's form are spelled as in its file: "\u2581the", "<0x0A>". */
HD_API int64_t hd_tokenizer_id(const hd_tokenizer *t, const char *token, int64_t n);

/* The ids of a text: (count,) int64. HD_VALUE, with the place: a special token that `special`
 * refuses, or a character or byte outside the vocabulary (the package tokenizers leaves these out).
 * HD_FORMAT: the text is not UTF-8 (the byte tokenizer takes any text). */
HD_API hd_tensor *hd_tokenizer_encode(const hd_tokenizer *t, const char *text, int64_t n,
                                      hd_special special);

typedef struct hd_encode_options {
    size_t size;
    hd_special special;      /* HD_SPECIAL_ALLOW */
    bool add_special_tokens; /* true: adds the special tokens of a tokenizer.json */
} hd_encode_options;

HD_API hd_encode_options hd_encode_defaults(void);
/* The ids of a text as a model reads it; o NULL: the defaults. Unlike hd_tokenizer_encode, it adds
 * special tokens, unless o says otherwise. */
HD_API hd_tensor *hd_tokenizer_encode_with(const hd_tokenizer *t, const char *text, int64_t n,
                                           const hd_encode_options *o);

/* The text of int64 ids of any shape. It lives in the innermost scope and ends in a zero; *n gets
 * its length (NULL: not wanted). hd_tokenizer_decode_bytes gives the bytes as they are.
 * hd_tokenizer_decode gives valid UTF-8, with U+FFFD for invalid bytes, as Python's
 * decode(errors="replace") does. HD_INDEX, with the place: an id outside the vocabulary. */
HD_API const char *hd_tokenizer_decode_bytes(const hd_tokenizer *t, const hd_tensor *ids,
                                             int64_t *n);
HD_API const char *hd_tokenizer_decode(const hd_tokenizer *t, const hd_tensor *ids, int64_t *n);
/* hd_tokenizer_decode without the special tokens, if skip_special_tokens is true. In the form of
 * Llama 2, a text loses its first space, and a run of byte tokens that is not valid UTF-8 becomes
 * one U+FFFD for each byte. */
HD_API const char *hd_tokenizer_decode_with(const hd_tokenizer *t, const hd_tensor *ids,
                                            bool skip_special_tokens, int64_t *n);

/* Save and load a tokenizer, as the strings prefix.kind, prefix.chars (the character vocabulary),
 * prefix.vocab and prefix.merges (the two files of BPE), or prefix.json (tokenizer.json). While an
 * error is set, nothing is written. */
HD_API bool hd_tokenizer_save(const hd_tokenizer *t, hd_dict *d, const char *prefix);
HD_API hd_tokenizer *hd_tokenizer_load(const hd_dict *d, const char *prefix);

/* ---------------------------------------------------------------- tokens */

/* A sequence of token ids in a file or in memory. A file contains only the ids, little-endian. It
 * is mapped, not read: if another program makes the file shorter while it is open, reading it
 * raises SIGBUS. */
typedef struct hd_tokens hd_tokens;

/* The type of an id in a file. The value is its number of bytes. */
typedef enum hd_token_type {
    HD_TOKEN_U16 = 2, /* ids up to 65535 */
    HD_TOKEN_U32 = 4  /* ids up to 4294967295 */
} hd_token_type;

/* Opens a file of ids. HD_FORMAT: the size of the file is no multiple of the id's size. HD_IO: it
 * is no regular file; or the file has 2 GB or more and the machine 32 bits, which cannot map it. */
HD_API hd_tokens *hd_tokens_open(const char *path, hd_token_type type);

/* Copies int64 ids (n,) to memory. HD_VALUE: an id does not fit uint32. */
HD_API hd_tokens *hd_tokens_from(const hd_tensor *ids);

/* Writes int64 ids (n,) to a file: first to a temporary file in the same directory, which is synced
 * and renamed. So a failure leaves the old file. HD_VALUE: an id does not fit the type. HD_STATE:
 * an error already stands. */
HD_API bool hd_tokens_write(const char *path, hd_token_type type, const hd_tensor *ids);

HD_API void hd_tokens_free(hd_tokens *t);
HD_API int64_t hd_tokens_len(const hd_tokens *t); /* the number of ids; -1 on error */
/* reads n ids from number `at` on: (n,) int64 */
HD_API hd_tensor *hd_tokens_read(const hd_tokens *t, int64_t at, int64_t n);

/* Cuts a sequence in two: the first floor(fraction len) ids, and the rest. fraction in [0, 1]. */
HD_API bool hd_tokens_split(const hd_tokens *t, double fraction, hd_tokens **first,
                            hd_tokens **rest);

/* ---------------------------------------------------------------- datasets */

/* A dataset: numbered items, each a list of tensors. An item of hd_windows_new is a pair
 * (input, target). */
typedef struct hd_dataset hd_dataset;

/* A dataset of windows: item k is input = tokens[i : i + max_length], target = tokens[i + 1 : i + 1
 * + max_length] where i = k stride, for i in range(0, len - max_length, stride). With too few
 * tokens for one window, the dataset has 0 items. This is GPTDatasetV1 in Raschka, "Build a Large
 * Language Model (From Scratch)", listing 2.5. */
HD_API hd_dataset *hd_windows_new(const hd_tokens *t, int64_t max_length, int64_t stride);

/* A dataset of your own with items 0 .. length - 1. get(i, user) makes the list of an item's
 * tensors, such as hd_list_of(x, y). It runs in a scope of its own, and the tensors that it makes
 * there live until the batch is complete. Several threads that read one dataset call get at the
 * same time.
 *
 * If get fails, it returns NULL, and an error is set: its own by hd_error_set, or one of heed's.
 * The call that asked for the item then fails with this error. release(user) is called when the
 * program, the dataset's parts and the loaders no longer need the dataset, or if this call
 * fails. release may be NULL. HD_VALUE: length < 0. */
HD_API hd_dataset *hd_dataset_new(int64_t length, hd_list *(*get)(int64_t i, void *user),
                                  void *user, void (*release)(void *user));

/* Cuts a dataset into n `parts` of these lengths, whose sum must be the dataset's length. The parts
 * get the items in the order of one randperm from g (NULL: hd_generator_current()). Free every
 * parts[i]. This is torch's random_split. */
HD_API bool hd_random_split(const hd_dataset *s, int n, const int64_t *lengths, hd_generator *g,
                            hd_dataset **parts);

HD_API void hd_dataset_free(hd_dataset *s);
HD_API int64_t hd_dataset_len(const hd_dataset *s); /* the number of items; -1 on error */

/* Item i (a negative i counts from the end): its input and target; for windows each (max_length,)
 * int64. An out-parameter may be NULL. HD_VALUE: the item does not have two tensors. HD_USER: get
 * gave NULL without an error. */
HD_API bool hd_dataset_get(const hd_dataset *s, int64_t i, hd_tensor **input, hd_tensor **target);

/* ---------------------------------------------------------------- the loader */

/* A loader: batches of a dataset, epoch after epoch, in the order of torch.utils.data.DataLoader
 * and with the same draws.
 *
 * Each epoch begins with one random64 from the generator. With shuffle, the first batch then draws
 * the order of the epoch. A loader without a generator of its own draws one more random64, which
 * seeds a new generator, and takes that generator's randperm. A loader with a generator takes its
 * randperm, and another one when the epoch ends.
 *
 * With num_replicas n, each of n processes makes a loader of its own rank, and together they give
 * every item. The order of an epoch is that of torch.utils.data.DistributedSampler: with shuffle
 * the randperm of a generator seeded with `seed` plus the number of epochs begun before, as after
 * set_epoch; without shuffle 0, 1, 2, ... If the number of items is no multiple of n, the order is
 * padded with items from its beginning, or cut with drop_last. Rank r takes items r, r + n, r + 2
 * n, ... of it, in batches of batch_size. Each epoch still begins with one random64 from the
 * current generator, which has no other effect. */
typedef struct hd_loader hd_loader;

/* A collate function, torch's collate_fn. It makes a batch, a list of tensors, from the lists of n
 * items. The items live until the loader has the batch. The rules of get in hd_dataset_new hold for
 * it, too. */
typedef hd_list *(*hd_collate)(hd_list *const *items, int64_t n, void *user);

typedef struct hd_loader_options {
    size_t size;
    int64_t batch_size;      /* 1 */
    bool shuffle;            /* false; true with 0 items and without num_replicas: HD_VALUE */
    bool drop_last;          /* false: the last batch of an epoch may be shorter */
    hd_generator *generator; /* NULL: hd_generator_current() at each draw; outlives the loader */
    int64_t num_replicas;    /* 0: no ranks; else their number, without a generator */
    int64_t rank;            /* 0; from 0 to num_replicas - 1 */
    int64_t seed;            /* 0; the seed of the order with num_replicas, the same on all ranks */
    hd_collate collate; /* NULL: stacks each of an item's tensors, as torch's default_collate */
    void *collate_user; /* NULL; the last argument of collate; outlives the loader */
} hd_loader_options;

HD_API hd_loader_options hd_loader_defaults(void);
/* makes a loader of s; o NULL: the defaults */
HD_API hd_loader *hd_loader_new(const hd_dataset *s, const hd_loader_options *o);
HD_API void hd_loader_free(hd_loader *l);         /* frees l; takes NULL */
HD_API int64_t hd_loader_len(const hd_loader *l); /* batches of an epoch on its rank; -1 on error */

/* The next batch: its input and target, in the innermost scope; for windows each (b, max_length)
 * int64. At the end of an epoch one call returns false without an error; the call after it begins
 * the next epoch. An out-parameter may be NULL.
 *
 * HD_VALUE: the batch does not have two tensors, or its items have different numbers of them.
 * HD_SHAPE, HD_DTYPE: two items of the batch differ, and there is no collate. HD_USER: get or
 * collate gave NULL without an error. An error that get or collate set stays as it is.
 *
 * After a failure the next call asks for the same batch again. There is one exception: if the batch
 * was the first of its epoch, and get or collate was called, the epoch has begun and its draws are
 * done. */
HD_API bool hd_loader_next(hd_loader *l, hd_tensor **input, hd_tensor **target);
/* The next batch as the list of all its tensors; the list is in the innermost scope, too. */
HD_API bool hd_loader_next_list(hd_loader *l, hd_list **batch);

typedef struct hd_collate_pad_options {
    size_t size;
    int64_t pad_token_id;       /* 50256: GPT-2's <|endoftext|>, which also ends each text */
    int64_t ignore_index;       /* -100; hd_cross_entropy ignores it */
    int64_t allowed_max_length; /* 0: any; else longer inputs and targets are cut to this length */
} hd_collate_pad_options;

HD_API hd_collate_pad_options hd_collate_pad_defaults(void);
/* A ready collate for texts of different lengths: items of one tensor, (n,) int64, become inputs
 * and targets, (b, longest n) int64. Each text gets the end token once, and more of them up to the
 * longest text of the batch. Targets are one token further on. In them, the first end token stays,
 * and end tokens after it become ignore_index. This is custom_collate_fn in Raschka, "Build a Large
 * Language Model (From Scratch)", listing 7.5.
 *
 * An item may have a second tensor, which chooses the targets that count in the loss; all other
 * targets become ignore_index.
 *
 * If it is one int64, it is the length of the prompt that the text begins with (exercise 7.2). The
 * tokens after the prompt count, but only the first of their end tokens. So the end of the answer
 * counts even if the prompt has end tokens.
 *
 * If it is bool (n,), it is true for each token that counts, end tokens included; this is for
 * answers in several turns. The end token that the text gets counts if the text's last token counts
 * and is not an end token itself.
 *
 *   hd_collate_pad_options pad = hd_collate_pad_defaults();
 *   hd_loader_options o = hd_loader_defaults();
 *   o.collate = hd_collate_pad;
 *   o.collate_user = &pad; // NULL: the defaults
 *
 * HD_DTYPE, HD_SHAPE, HD_VALUE: items[i] is not such an item. HD_VALUE: n < 1, or
 * allowed_max_length < 0. */
HD_API hd_list *hd_collate_pad(hd_list *const *items, int64_t n, void *options);

/* Ends the current epoch, if there is one: the next batch begins a new one. */
HD_API bool hd_loader_restart(hd_loader *l);

HD_API int64_t hd_loader_epoch(const hd_loader *l); /* epochs begun so far; -1 on error */
HD_API int64_t hd_loader_batch(const hd_loader *l); /* batches given in this epoch; -1 on error */

/* Save and load the loader's place in the data, as prefix.epoch, prefix.batch, prefix.order ... A
 * loader that loads it continues with the next batch. Its dataset and its options must be equal to
 * the saved ones (else HD_VALUE). Generators are not part of the state: see hd_generator_save.
 * While an error is set, nothing is written.
 *
 * With num_replicas the state has the seed in place of the order. Every rank saves the same state.
 * Any number of ranks can load it, if batch_size times num_replicas is as it was: this product is
 * saved as batch_size. The ranks continue with the next batch of the same order; only the items
 * that pad the end of an epoch depend on the number of ranks. They can also load the state of a
 * loader without num_replicas, and finish its epoch in its order. A loader without num_replicas
 * refuses the state of one with it: use num_replicas 1. */
HD_API bool hd_loader_save(const hd_loader *l, hd_dict *d, const char *prefix);
HD_API bool hd_loader_load(hd_loader *l, const hd_dict *d, const char *prefix);

#ifdef __cplusplus
}
#endif
#endif
