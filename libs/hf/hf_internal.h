/* hf_internal.h - the types and functions that the files of libheed-hf share.
 *
 * libheed-hf loads, runs and saves language models in transformers' folders, evaluates their chat
 * templates (template.h), and adds LoRA adapters. libheed does the computations. libheed-hf
 * includes the public headers, and the headers of base that base/sibling.h lists. */
#ifndef HEED_HF_INTERNAL_H
#define HEED_HF_INTERNAL_H

#include "base/error/args.h"
#include "base/error/speak.h"
#include "base/files/folder.h"
#include "base/text/number.h"
#include "base/text/text.h"
#include "heed/hf.h"
#include "heed/heed.h"
#include "tensor/arg.h"

/* ---------------------------------------------------------------- language models */

/* The keys and values, in each layer, of the tokens that a model has read from a batch. */
typedef struct hd__hf_seen {
    int64_t layers;
    int64_t len, most;    /* the tokens read from each text, and the tokens that a cache can hold */
    hd_tensor *cos, *sin; /* rotary tables (most, head_dim); NULL until a call needs them */
    hd_kv_cache *cache[]; /* one cache for each layer; NULL until the layer has run */
} hd__hf_seen;

/* The padding of a batch of b texts. Each text has n places, which hold padding or a token. Both
 * members are NULL if no text has padding. */
typedef struct hd__hf_padding {
    hd_tensor *real;      /* (b, n) bool: true for a token, false for padding */
    hd_tensor *positions; /* (b, n) int64: the number of tokens before each token in its text */
} hd__hf_padding;

/* The context of the tokens (b, t) of one call: the tokens to which they attend, and their own
 * positions. */
typedef struct hd__hf_context {
    hd__hf_seen *seen; /* the caches that the call reads and extends; NULL: it uses none */
    /* (b, 1, t, s) bool, where s is t plus the number of tokens before the call. Element (i, j) is
     * true if token i of the call attends to token j of its text. NULL: each token attends to
     * itself and to all tokens before it. */
    hd_tensor *mask;
    /* (b, t) int64; NULL: the positions count up from seen->len, or from 0 if `seen` is NULL */
    hd_tensor *positions;
} hd__hf_context;

/* Values that heed reads from config.json only to write them back. A key that the file lacks gets
 * its default in transformers 4. HD_NO_PADDING stands for a token that is null in the file. */
typedef struct hd__hf_kept {
    int64_t bos_token_id, pad_token_id;
    hd_generate_options ends; /* only eos_token_id and num_eos are used */
    bool use_cache;
} hd__hf_kept;

typedef struct hd__hf_family hd__hf_family; /* family.h */

typedef struct hd__hf_config {
    const hd__hf_family *family;
    void *values; /* the family's public configuration, such as hd_gpt2_config */
    hd__hf_kept kept;
    const char *path;     /* the path of config.json while it is read, NULL otherwise */
    const char *left_out; /* the name of the first size that config.json lacks, or NULL */
} hd__hf_config;

typedef struct hd__hf_model {
    hd_module base;
    hd_module *body, *head; /* body: from ids to hidden states; head: from those to logits */
    hd__hf_config config;
    char *generation; /* the text of the folder's generation_config.json, or NULL */
} hd__hf_model;

/* Returns a static copy of name if it is transformers' name of an activation that heed has, and
 * NULL otherwise. */
const char *hd__hf_activation(const char *name);
/* Returns a new module of the activation with this name, which hd__hf_activation must know, or NULL
 * on failure. */
hd_module *hd__hf_activation_new(const char *name);
#define HD__ACTIVATIONS "gelu_new, gelu_pytorch_tanh, gelu or relu"

/* Sets *c to a configuration with a copy of `values`, or with the family's defaults if `values` is
 * NULL. Returns false with an error if memory runs out. The caller frees c->values. */
bool hd__hf_config_begin(hd__hf_config *c, const hd__hf_family *family, const void *values);
/* Returns the address of the key's value in c->values, or NULL if the family has no such key or the
 * key has no field. */
void *hd__hf_config_at(const hd__hf_config *c, const char *key);
/* These two return the value of a key. The family must have a key of this name and type. */
int64_t hd__hf_config_int(const hd__hf_config *c, const char *key);
double hd__hf_config_double(const hd__hf_config *c, const char *key);
/* Returns the address of the rotary options in c->values. The family must have them. */
hd_rotary_options *hd__hf_config_rope(const hd__hf_config *c);
/* Returns the key's value, or false if the family has no such key or the key has no field. */
bool hd__hf_config_bool(const hd__hf_config *c, const char *key);
/* Returns the address of the first element of the key's list, or NULL if the family has no such
 * key. */
const bool *hd__hf_config_flags(const hd__hf_config *c, const char *key);
/* Checks the sizes in *c, and sets the values that are computed from other values. Returns false
 * with an error if a value is wrong. */
bool hd__hf_config_resolve(hd__hf_config *c);
/* Fails with HD_VALUE, and returns false. The message is the formatted text, after c->path if that
 * is not NULL. */
bool hd__hf_config_refuse(const hd__hf_config *c, const char *format, ...) HD__PRINTF(2, 3);

/* Returns a new model of *c, which hd__hf_config_resolve has accepted, or NULL on failure. The
 * model takes c->values over, and c->values becomes NULL. If this thread's init mode is on
 * (hd_set_init_mode), draws the weights from normal(0, initializer_range), but sets the weights of
 * norms to 1 and biases to 0. See hd__hf_stored for d. */
hd_module *hd__hf_model_new(hd__hf_config *c, const hd_dtype *d);
/* Returns a new model of a copy of the public configuration `values` (NULL: the defaults), as
 * hd__hf_model_new does. Returns NULL with an error if a value is wrong. */
hd_module *hd__hf_model_make(const hd__hf_family *family, const void *values, const hd_dtype *d);
/* Returns the number of rows of `embedding`. Returns `otherwise` if it is NULL or not an
 * Embedding. */
int64_t hd__hf_embedding_rows(hd_module *embedding, int64_t otherwise);
/* Returns the number of tokens in the model's vocabulary. */
int64_t hd__hf_vocab(hd__hf_model *m);
/* Returns the largest number of tokens that a text may have. */
int64_t hd__hf_positions(hd__hf_model *m);
/* The forward function of all models: returns the logits (b, t, vocab) of ids (b, t), or NULL.
 * hd__hf_model_of recognizes a model by it. */
hd_tensor *hd__hf_model_forward(hd_module *m, hd_tensor *ids);
void hd__hf_model_free(hd_module *m); /* the `free` function of all models */

/* A child of a module, and the child's name in the module. */
typedef struct hd__hf_part {
    const char *name;
    size_t at; /* the offset of the child's field in the module's struct */
    hd_module *module;
} hd__hf_part;

#define HD__PART(type, field, module)                                                              \
    {                                                                                              \
#field, offsetof(type, field), module                                                      \
    }
#define HD__PARTS(...) ((const hd__hf_part[]){__VA_ARGS__, {NULL, 0, NULL}})

/* Returns a new module of the class `type`, which takes the children in `parts` over. If a child is
 * NULL or memory runs out, frees all of them and returns NULL. */
hd_module *hd__hf_module_of(const hd_module_type *type, const hd__hf_part *parts);
/* Returns a ModuleList of num_hidden_layers layers, which layer_new makes, or NULL on failure. Each
 * layer first goes through hd__hf_stored(layer, d). */
hd_module *hd__hf_layers(const hd__hf_config *c,
                         hd_module *(*layer_new)(const hd__hf_config *c, int64_t i),
                         const hd_dtype *d);
/* Replaces m's parameters by placeholders, which have shapes but no memory and no values, until a
 * file's weights replace them. Placeholders of two dims have dtype *d, the others float32; those of
 * bfloat16 are frozen. heed calls this for each new part of a model, so the model never needs
 * memory for all weights. If d is NULL, changes nothing. Returns m, which may be NULL; on failure
 * frees it and returns NULL. */
hd_module *hd__hf_stored(hd_module *m, const hd_dtype *d);

/* Returns m, a part of a model, if its class is `type`. Otherwise returns NULL with HD_STATE. */
void *hd__hf_part_of(hd_module *m, const hd_module_type *type);

/* These two return d or m if `ok` is true. Otherwise they free d or m and return NULL. */
hd_dict *hd__hf_dict_if(bool ok, hd_dict *d);
hd_module *hd__hf_module_if(bool ok, hd_module *m);

/* Calls f for m and all modules in it, as hd_module_visit does. Messages of f begin with the name
 * of the public function that the user called. Returns false with an error if f does, or if memory
 * runs out. */
bool hd__hf_visit(hd_module *m, bool (*f)(hd_module *m, const char *name, void *user), void *user);

bool hd__hf_ends_in(const char *text, const char *end);

/* Returns m as a model of this library. Returns NULL with HD_VALUE if m is any other module. */
hd__hf_model *hd__hf_model_of(hd_module *m);

/* Returns the attention (b, t, heads * d) of the queries q (b, heads, t, d), or NULL on failure. If
 * c has caches, adds k and v (b, kv heads, t, d) to the cache of `layer`, and attends to all keys
 * and values in this cache. Otherwise attends to k and v. */
hd_tensor *hd__hf_attend(hd_tensor *q, hd_tensor *k, hd_tensor *v, const hd__hf_context *c,
                         int64_t layer, double dropout);
/* Returns a view (b, heads, t, d) of x (b, t, heads * d), or NULL on failure. */
hd_tensor *hd__hf_heads(hd_tensor *x, int64_t heads);

/* Returns false with an error unless the ids are int64 (b, t) with t > 0. */
bool hd__hf_ids_ok(const hd_tensor *ids);

/* Reads the padding of ids (b, t) from the attention mask into *p, which also covers `more` new
 * tokens after each text. If the mask is HD_NONE or has only ones, *p has no padding. Returns false
 * with an error if the mask is wrong. */
bool hd__hf_padding_read(const hd_tensor *ids, hd_tensor *mask, int64_t more, hd__hf_padding *p);
/* Sets *c to the context of the next t tokens of each text, which follow the tokens in `seen`
 * (NULL: none). Does not change `seen`. The current scope owns the tensors of *c. Returns false
 * with an error on failure. */
bool hd__hf_context_begin(hd__hf_context *c, const hd__hf_padding *p, hd__hf_seen *seen, int64_t t);

/* Returns true if n divides `size`, and false with HD_VALUE otherwise. The message has both
 * names. */
bool hd__hf_divides_ok(const hd__hf_config *c, const char *n_name, int64_t n, const char *size_name,
                       int64_t size);

/* ---------------------------------------------------------------- folders */

/* Returns a dict of the values of a JSON file under their paths, such as "rope_scaling.factor" and
 * "eos_token_id.0". In the dict, a number is a number, a text is a string that begins with a
 * quotation mark, and true, false, null, {} and [] are strings that do not. Returns NULL with an
 * error on failure. */
hd_dict *hd__hf_json_values(const char *path);
/* Returns the text at this path, without its quotation mark, or NULL if no text is there. */
const char *hd__hf_json_text(const hd_dict *values, const char *path);

/* Returns the sum of the sizes in bytes of the file's tensors. */
int64_t hd__hf_file_bytes(const hd_safetensors *f);
/* Returns false with an error unless d, which the user gave as o->dtype, is float32 or bfloat16. */
bool hd__hf_dtype_ok(hd_dtype d);

/* Writes the configuration as f->names[0] into the new folder f, and the tensors as f->names[1],
 * with the entry "format" that transformers requires. Returns false with an error on failure. */
bool hd__hf_files_write(const hd__folder *f, const hd__text *config, hd_dict *tensors);

/* Sets `path`, which is {0} before its first use, to "folder/name". Returns this text, or NULL with
 * an error if memory runs out. The caller frees path->s. */
const char *hd__hf_path_of(const char *folder, const char *name, hd__text *path);
/* Sets `path` to "folder/name", as hd__hf_path_of does. Returns 1 if this file exists, and 0 if it
 * does not. Returns -1 with an error if heed cannot find out. */
int hd__hf_look_for(const char *folder, const char *name, hd__text *path);

/* Reads config.json at `path` into *c, which is {0} before. Returns false with an error on failure.
 * The caller frees c->values in any case. */
bool hd__hf_config_read(const char *path, hd__hf_config *c);
/* Reads an adapter's options from d, the values of adapter_config.json at `path`, into *o.
 * o->target_modules must have space for as many names as d has values. The names belong to d.
 * Returns false with an error if a value is wrong. */
bool hd__hf_adapter_config(const char *path, const hd_dict *d, hd_lora_options *o);
/* Sets *c, whose `values` is NULL before, to the configuration that m has now. If no configuration
 * fits m, returns false with HD_STATE, and the message names the first module that does not fit.
 * The caller frees c->values in any case. */
bool hd__hf_config_now(hd__hf_model *m, hd__hf_config *c);
/* Appends the text of config.json for c and weights of dtype d to t. Sets t->failed if memory runs
 * out. */
void hd__hf_config_write(const hd__hf_config *c, hd_dtype d, hd__text *t);

#endif
