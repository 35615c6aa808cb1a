/* data.h - from texts to batches: tokenizers, files of tokens, datasets and loaders.
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
 * Every type of object has a _free function, which takes NULL. An object keeps the objects from
 * which it was made, so a program may free them in any order. Only a loader changes after it was
 * made; any number of threads may use the other objects at the same time. Texts are UTF-8.
 * Positions in messages count from 0. */
#ifndef HEED_DATA_H
#define HEED_DATA_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- tokenizers */

typedef struct hd_tokenizer hd_tokenizer; /* converts a text to ids and back */

/* The treatment of a special token, such as <|endoftext|>, that is written in a text. */
typedef enum hd_special {
    HD_SPECIAL_REFUSE = 0, /* the call fails and names the token's place (tiktoken's default) */
    HD_SPECIAL_ALLOW = 1,  /* it becomes the special token (tiktoken's allowed_special="all") */
    HD_SPECIAL_TEXT = 2    /* it is encoded like any text (tiktoken's encode_ordinary) */
} hd_special;

/* Makes a tokenizer of bytes: the id of a byte is its value, 0 to 255. It encodes any text, even
 * one that is not UTF-8. */
HD_API hd_tokenizer *hd_tokenizer_bytes(void);

/* Makes a tokenizer of characters (code points). Its vocabulary is the set of characters that occur
 * in text, which get the ids 0, 1, ... in the order of their code points. It can encode only these
 * characters. text must not contain U+0000. n is the length of text in bytes; n < 0: text ends at
 * its first zero byte. */
HD_API hd_tokenizer *hd_tokenizer_chars(const char *text, int64_t n);

/* Makes a tokenizer of byte-level BPE from GPT-2's two files, vocab.json (encoder.json) and
 * merges.txt (vocab.bpe). It splits a text into words as GPT-2 does. A word that is a token stays
 * whole; in any other word it merges the pairs of merges.txt. For files that BPE training has made,
 * the ids are those of tiktoken. Every token of the vocabulary must be a byte, the result of one
 * merge, or <|endoftext|>, which is the only special token; otherwise the call fails with
 * HD_FORMAT. */
HD_API hd_tokenizer *hd_tokenizer_bpe(const char *vocab_path, const char *merges_path);

/* Makes the tokenizer of a model folder, from a tokenizer.json of Hugging Face. Its ids and texts
 * are those of the Python package tokenizers 0.23. It supports byte pair encoding in five forms:
 *
 *   GPT-2       the regular expression of ByteLevel splits a text into words
 *   SmolLM      as GPT-2, but each digit is a word of its own (Digits)
 *   Llama 3     the regular expression of Split splits a text into words; it must be one of those
 *               that heed has built in
 *   Qwen 2      as Llama 3, after the normalizer NFC
 *   Llama 2     (also TinyLlama) a text is a single word, made of characters, or of bytes where a
 *               character is unknown; U+2581 stands for a space (the normalizers Prepend and
 *               Replace, or Metaspace)
 *
 * All forms may have added tokens (except those with single_word) and TemplateProcessing. heed
 * ignores truncation and padding. The ids of the vocabulary are below 1048576 and may have gaps.
 * Added tokens that are not in a vocabulary of n tokens get the ids n, n + 1, ... in their order;
 * if the file states other ids, a warning says so. HD_FORMAT: the file is not such a
 * tokenizer.json, or a value has a type that the package tokenizers refuses. The message names the
 * file and the key, the value that it has and the one that is expected. */
HD_API hd_tokenizer *hd_tokenizer_json(const char *path);

HD_API void hd_tokenizer_free(hd_tokenizer *t);
/* Returns the size of the vocabulary: ids are 0 to size - 1. An id without a token stands for the
 * empty text. Returns -1 on error. */
HD_API int64_t hd_tokenizer_size(const hd_tokenizer *t);

/* Returns the id of the token with exactly these n bytes, which may be a special token such as
 * "<|endoftext|>". n < 0: `token` ends at its first zero byte. If there is no such token, the
 * result is -1, without an error. For a tokenizer of Llama 2's form, write tokens as its file does:
 * "\u2581the", "<0x0A>". */
HD_API int64_t hd_tokenizer_id(const hd_tokenizer *t, const char *token, int64_t n);

/* Returns the ids of a text: (count,) int64. n is as in hd_tokenizer_chars. HD_VALUE: the text has
 * a special token that `special` refuses, or a character or byte outside the vocabulary; the
 * message has its place. (The Python package tokenizers leaves such characters out.) HD_FORMAT: the
 * text is not UTF-8 (the byte tokenizer accepts any text). */
HD_API hd_tensor *hd_tokenizer_encode(const hd_tokenizer *t, const char *text, int64_t n,
                                      hd_special special);

typedef struct hd_encode_options {
    size_t size;
    hd_special special; /* default HD_SPECIAL_ALLOW; for special tokens in the text */
    /* default true: adds the special tokens of the tokenizer.json's template */
    bool add_special_tokens;
} hd_encode_options;

HD_API hd_encode_options hd_encode_defaults(void);
/* Returns the ids of a text as a model reads it: hd_tokenizer_encode, plus the special tokens that
 * the tokenizer.json adds around a text, unless o says otherwise. o NULL: the defaults. */
HD_API hd_tensor *hd_tokenizer_encode_with(const hd_tokenizer *t, const char *text, int64_t n,
                                           const hd_encode_options *o);

/* Return the text of int64 ids of any shape. The innermost scope owns the text, which ends in a
 * zero byte; *n gets its length without this byte (NULL: not wanted). hd_tokenizer_decode_bytes
 * returns the bytes of the tokens as they are. hd_tokenizer_decode returns valid UTF-8, with U+FFFD
 * for invalid bytes, as Python's decode(errors="replace") does. HD_INDEX: an id is outside the
 * vocabulary; the message has its place. */
HD_API const char *hd_tokenizer_decode_bytes(const hd_tokenizer *t, const hd_tensor *ids,
                                             int64_t *n);
HD_API const char *hd_tokenizer_decode(const hd_tokenizer *t, const hd_tensor *ids, int64_t *n);
/* Does the same as hd_tokenizer_decode, but leaves out special tokens if skip_special_tokens is
 * true. With a tokenizer of Llama 2's form, the text loses its first space. Some tokens of this
 * form stand for a single byte. If a sequence of such tokens is not valid UTF-8, each of its bytes
 * becomes one U+FFFD. */
HD_API const char *hd_tokenizer_decode_with(const hd_tokenizer *t, const hd_tensor *ids,
                                            bool skip_special_tokens, int64_t *n);

/* Save or load a tokenizer; free a loaded one with hd_tokenizer_free. The entries of d are strings:
 * prefix.kind, and depending on the kind prefix.chars (the characters of the vocabulary),
 * prefix.vocab and prefix.merges (GPT-2's two files), or prefix.json (the tokenizer.json). While an
 * error is set, d does not change. */
HD_API bool hd_tokenizer_save(const hd_tokenizer *t, hd_dict *d, const char *prefix);
HD_API hd_tokenizer *hd_tokenizer_load(const hd_dict *d, const char *prefix);

/* ---------------------------------------------------------------- tokens */

/* A sequence of token ids in a file or in memory. The file contains nothing but the ids,
 * little-endian. heed maps the file: if another program makes it shorter while it is open, reading
 * the missing part raises SIGBUS. */
typedef struct hd_tokens hd_tokens;

/* The type of the ids in a file. The value is the number of bytes of one id. */
typedef enum hd_token_type {
    HD_TOKEN_U16 = 2, /* ids up to 65535 */
    HD_TOKEN_U32 = 4  /* ids up to 4294967295 */
} hd_token_type;

/* Opens a file of ids. HD_FORMAT: the size of the file is not a multiple of the size of an id.
 * HD_IO: it is not a regular file, or it has 2 GB or more, which a 32-bit machine cannot map. */
HD_API hd_tokens *hd_tokens_open(const char *path, hd_token_type type);

/* Copies int64 ids (n,) to memory. HD_VALUE: an id does not fit uint32. */
HD_API hd_tokens *hd_tokens_from(const hd_tensor *ids);

/* Writes int64 ids (n,) to a file. It writes and syncs a temporary file in the same directory and
 * then renames it, so a call that fails leaves the old file. HD_VALUE: an id does not fit the type.
 * HD_STATE: an error is already set. */
HD_API bool hd_tokens_write(const char *path, hd_token_type type, const hd_tensor *ids);

HD_API void hd_tokens_free(hd_tokens *t);
HD_API int64_t hd_tokens_len(const hd_tokens *t); /* the number of ids; -1 on error */
/* returns the n ids that begin at position `at`: (n,) int64 */
HD_API hd_tensor *hd_tokens_read(const hd_tokens *t, int64_t at, int64_t n);

/* Splits a sequence of len ids: *first gets the first floor(fraction * len) ids, and *rest the
 * others. fraction is in [0, 1]. Free both with hd_tokens_free. On failure both are NULL. */
HD_API bool hd_tokens_split(const hd_tokens *t, double fraction, hd_tokens **first,
                            hd_tokens **rest);

/* ---------------------------------------------------------------- datasets */

/* A dataset has items, and each item is a list of tensors. An item of hd_windows_new is a pair
 * (input, target). */
typedef struct hd_dataset hd_dataset;

/* Makes a dataset of windows. With i = k * stride, item k is the pair input = tokens[i : i +
 * max_length] and target = tokens[i + 1 : i + 1 + max_length]; i takes the values of Python's
 * range(0, len - max_length, stride). If there are too few tokens for one window, the dataset has 0
 * items. This is GPTDatasetV1 in Raschka, "Build a Large Language Model (From Scratch)", listing
 * 2.5. */
HD_API hd_dataset *hd_windows_new(const hd_tokens *t, int64_t max_length, int64_t stride);

/* Makes a dataset of your own, with the items 0 to length - 1. get(i, user) returns the list of the
 * tensors of item i, such as hd_list_of(x, y). It runs in a scope of its own, which lives until the
 * batch is complete. If several threads read one dataset, they may call get at the same time.
 *
 * If get fails, it returns NULL with an error set, by hd_error_set or by a function of heed. The
 * call that needs the item then fails with this error. heed calls release(user) when the dataset,
 * its parts and its loaders are all freed, or if hd_dataset_new fails. release may be NULL.
 * HD_VALUE: length < 0. */
HD_API hd_dataset *hd_dataset_new(int64_t length, hd_list *(*get)(int64_t i, void *user),
                                  void *user, void (*release)(void *user));

/* Splits a dataset into n parts of these lengths, whose sum must be the dataset's length. parts[0]
 * to parts[n - 1] get the items in the order of one randperm from g (NULL: hd_generator_current()).
 * Free each part with hd_dataset_free. This is torch's random_split. */
HD_API bool hd_random_split(const hd_dataset *s, int n, const int64_t *lengths, hd_generator *g,
                            hd_dataset **parts);

HD_API void hd_dataset_free(hd_dataset *s);
HD_API int64_t hd_dataset_len(const hd_dataset *s); /* the number of items; -1 on error */

/* Sets *input and *target to the two tensors of item i. A negative i counts from the end. For
 * windows, each of them is (max_length,) int64. An out-parameter may be NULL. HD_VALUE: the item
 * does not have two tensors. HD_USER: get returned NULL without an error. */
HD_API bool hd_dataset_get(const hd_dataset *s, int64_t i, hd_tensor **input, hd_tensor **target);

/* ---------------------------------------------------------------- the loader */

/* A loader: returns batches of a dataset, epoch after epoch, in the order of
 * torch.utils.data.DataLoader and with the same random draws.
 *
 * At the beginning of each epoch, the loader draws one hd_generator_random64 from the generator of
 * the options, or from hd_generator_current() if the options have no generator. With shuffle, the
 * first batch then draws the order of the epoch. If the options have no generator, the loader draws
 * another random64, seeds a new generator with it, and draws the order as a randperm of this new
 * generator. If the options have a generator, the loader draws the order as a randperm of that
 * generator. When the epoch ends, it draws another randperm, which it does not use; PyTorch's
 * sampler does so, too.
 *
 * With num_replicas n, each of n processes makes a loader for its own rank, and together these
 * loaders return every item. The order of an epoch is that of torch.utils.data.DistributedSampler.
 * With shuffle it is a randperm of a generator whose seed is `seed` plus the number of epochs that
 * began before, as after set_epoch. Without shuffle it is 0, 1, 2, ... If the number of items is
 * not a multiple of n, items from the beginning of the order are added at its end, or, with
 * drop_last, the order is shortened. Rank r takes the items r, r + n, r + 2 * n, ... of the order,
 * in batches of batch_size. Each epoch still begins with one random64 from the current generator,
 * which has no other effect. */
typedef struct hd_loader hd_loader;

/* A collate function, torch's collate_fn. It makes a batch, which is a list of tensors, from the
 * lists of n items. The items live until the loader has the batch. The rules of get in
 * hd_dataset_new hold for it, too: its scope, its threads and its failure. */
typedef hd_list *(*hd_collate)(hd_list *const *items, int64_t n, void *user);

typedef struct hd_loader_options {
    size_t size;
    int64_t batch_size; /* default 1; the number of items in a batch */
    /* default false; if true, the order of the items is random; with 0 items, true requires
     * num_replicas */
    bool shuffle;
    /* default false: the last batch may have fewer items; true: such a batch is left out */
    bool drop_last;
    /* default NULL: each draw uses hd_generator_current(); a generator here must outlive the
     * loader */
    hd_generator *generator;
    /* default 0: no ranks; else the number of ranks, and generator must be NULL */
    int64_t num_replicas;
    int64_t rank; /* default 0; the rank of this process, at most num_replicas - 1 */
    /* default 0; with num_replicas, the seed of the order, which must be the same on all ranks */
    int64_t seed;
    /* default NULL: stacks the first tensors of all items, the second ones and so on, as torch's
     * default_collate */
    hd_collate collate;
    void *collate_user; /* default NULL; the last argument of collate; must outlive the loader */
} hd_loader_options;

HD_API hd_loader_options hd_loader_defaults(void);
/* makes a loader of s; o NULL: the defaults */
HD_API hd_loader *hd_loader_new(const hd_dataset *s, const hd_loader_options *o);
HD_API void hd_loader_free(hd_loader *l); /* frees l; takes NULL */
/* the number of this rank's batches in an epoch; -1 on error */
HD_API int64_t hd_loader_len(const hd_loader *l);

/* Sets *input and *target to the two tensors of the next batch, in the innermost scope. For
 * windows, each of them is (b, max_length) int64. At the end of an epoch one call returns false
 * without an error; the call after it begins the next epoch. An out-parameter may be NULL.
 *
 * HD_VALUE: the batch does not have two tensors, or its items have different numbers of tensors.
 * HD_SHAPE, HD_DTYPE: tensors of two items differ in shape or dtype, and there is no collate.
 * HD_USER: get or collate returned NULL without an error. An error that get or collate set stays as
 * it is.
 *
 * After a failure the next call makes the same batch again. A failure draws nothing, with one
 * exception: if it happens in the first batch of an epoch, after get or collate was called, the
 * epoch has begun, and its draws are done. */
HD_API bool hd_loader_next(hd_loader *l, hd_tensor **input, hd_tensor **target);
/* Does the same as hd_loader_next, but sets *batch to the list of all tensors of the batch, in the
 * innermost scope. */
HD_API bool hd_loader_next_list(hd_loader *l, hd_list **batch);

typedef struct hd_collate_pad_options {
    size_t size;
    int64_t pad_token_id; /* default 50256; GPT-2's <|endoftext|>; ends each text and fills it up */
    /* default -100; targets with this value are ignored in hd_cross_entropy */
    int64_t ignore_index;
    int64_t allowed_max_length; /* default 0: any length; else longer inputs and targets are cut */
} hd_collate_pad_options;

HD_API hd_collate_pad_options hd_collate_pad_defaults(void);
/* A ready collate function for texts of different lengths. Items of one tensor, (n,) int64, become
 * inputs and targets, both (b, longest n) int64. Each text gets pad_token_id as its end token, and
 * then more of them up to the length of the longest text of the batch. The target of a token is the
 * token after it. In the targets of a text, the first end token stays, and those after it become
 * ignore_index. This is custom_collate_fn in Raschka, "Build a Large Language Model (From
 * Scratch)", listing 7.5.
 *
 * An item may have a second tensor, which chooses the targets that count in the loss; all other
 * targets become ignore_index.
 *
 * If it is one int64, it is the length of the prompt with which the text begins (exercise 7.2). The
 * tokens after the prompt count, but only the first end token among them. So the end of the answer
 * counts even if the prompt has end tokens.
 *
 * If it is bool (n,), it is true for each token that counts, even for end tokens; this is for
 * conversations with several answers. The end token that is added to the text counts if the last
 * token of the text counts and is not an end token itself.
 *
 *   hd_collate_pad_options pad = hd_collate_pad_defaults();
 *   hd_loader_options o = hd_loader_defaults();
 *   o.collate = hd_collate_pad;
 *   o.collate_user = &pad; // NULL: the defaults
 *
 * HD_DTYPE, HD_SHAPE, HD_VALUE: an item is not as described here. HD_VALUE: n < 1, or
 * allowed_max_length < 0. */
HD_API hd_list *hd_collate_pad(hd_list *const *items, int64_t n, void *options);

/* Ends the current epoch, if there is one. The next batch begins a new epoch. */
HD_API bool hd_loader_restart(hd_loader *l);

/* the number of epochs that have begun; -1 on error */
HD_API int64_t hd_loader_epoch(const hd_loader *l);
/* the number of batches that this epoch has returned so far; -1 on error */
HD_API int64_t hd_loader_batch(const hd_loader *l);

/* Save or load the position of a loader in the data, as prefix.epoch, prefix.batch, prefix.order
 * and so on. After hd_loader_load the loader continues with the next batch. HD_VALUE: the loader
 * that was saved had another dataset or other options. Generators are not part of the state: see
 * hd_generator_save. While an error is set, d does not change.
 *
 * With num_replicas the state has the seed in place of the order, and every rank saves the same
 * state. Another number of ranks can load it, if the product of batch_size and num_replicas stays
 * the same; this product is saved as batch_size. The ranks then continue with the next batch of the
 * same order; only the items that are added at the end of the order depend on the number of ranks.
 * Ranks can also load the state of a loader without num_replicas, and finish its epoch in its
 * order. A loader without num_replicas cannot load the state of one with num_replicas; use
 * num_replicas 1 for it. */
HD_API bool hd_loader_save(const hd_loader *l, hd_dict *d, const char *prefix);
HD_API bool hd_loader_load(hd_loader *l, const hd_dict *d, const char *prefix);

#ifdef __cplusplus
}
#endif
#endif
