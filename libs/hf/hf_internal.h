/* hf_internal.h - the types and functions that the files of libheed-hf share.
 *
 * libheed-hf loads, runs and saves language models in transformers' folders, evaluates their chat
 * templates (template.h), and adds LoRA adapters. It includes the public headers and base's headers
 * for siblings (base/sibling.h); libheed computes. */
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

/* The tokens that a model has read, as the keys and values of each layer. */
typedef struct hd__hf_seen {
    int64_t layers;
    int64_t len, most;    /* tokens so far, and the most */
    hd_tensor *cos, *sin; /* rotary tables (most, head_dim); NULL until needed */
    hd_kv_cache *cache[]; /* of each layer; NULL until needed */
} hd__hf_seen;

/* Where the texts of a batch have padding. Both are NULL if no text has any. */
typedef struct hd__hf_padding {
    hd_tensor *real;      /* (b, n) bool: false for padding */
    hd_tensor *positions; /* (b, n) int64: the number of the text's tokens before this one */
} hd__hf_padding;

/* The tokens that a call's tokens (b, t) attend to, and their positions */
typedef struct hd__hf_context {
    hd__hf_seen *seen; /* the tokens before the call; NULL: none */
    /* (b, 1, t, s) bool: which of all s tokens each one attends to; NULL: itself and all before */
    hd_tensor *mask;
    hd_tensor *positions; /* (b, t) int64 if there is a mask; NULL: they follow the tokens before */
} hd__hf_context;

/* Values of config.json that are only written back. A missing key has its default of transformers
 * 4. The token HD_NO_PADDING is null in the file. */
typedef struct hd__hf_kept {
    int64_t bos_token_id, pad_token_id;
    hd_generate_options ends; /* the end tokens */
    bool use_cache;
} hd__hf_kept;

typedef struct hd__hf_family hd__hf_family; /* family.h */

typedef struct hd__hf_config {
    const hd__hf_family *family;
    void *values; /* the family's public configuration, in memory of its own */
    hd__hf_kept kept;
    const char *path;     /* of config.json while it is read, else NULL */
    const char *left_out; /* the first size that config.json lacks, or NULL */
} hd__hf_config;

typedef struct hd__hf_model {
    hd_module base;
    hd_module *body, *head; /* ids to hidden states, and these to logits */
    hd__hf_config config;
    char *generation; /* the text of the folder's generation_config.json, or NULL */
} hd__hf_model;

/* A static copy of name, if it is transformers' name of an activation that heed has; else NULL. */
const char *hd__hf_activation(const char *name);
/* The module of an activation, whose name must be known. */
hd_module *hd__hf_activation_new(const char *name);
#define HD__ACTIVATIONS "gelu_new, gelu_pytorch_tanh, gelu or relu"

/* Makes *c a configuration with a copy of `values` (NULL: the defaults). Free c->values. */
bool hd__hf_config_begin(hd__hf_config *c, const hd__hf_family *family, const void *values);
/* The place of the key's value; NULL if the family has none. */
void *hd__hf_config_at(const hd__hf_config *c, const char *key);
/* The key's value, which must have a place. */
int64_t hd__hf_config_int(const hd__hf_config *c, const char *key);
double hd__hf_config_double(const hd__hf_config *c, const char *key);
/* The rotary options, which the family must have. */
hd_rotary_options *hd__hf_config_rope(const hd__hf_config *c);
/* The key's value; false if it has no place. */
bool hd__hf_config_bool(const hd__hf_config *c, const char *key);
/* The key's list; NULL if it has no place. */
const bool *hd__hf_config_flags(const hd__hf_config *c, const char *key);
/* Checks the values, and sets those that follow from others. */
bool hd__hf_config_resolve(hd__hf_config *c);
/* Returns false with HD_VALUE for a wrong value. The message has c->path, if there is one. */
bool hd__hf_config_refuse(const hd__hf_config *c, const char *format, ...) HD__PRINTF(2, 3);

/* A new model of a resolved configuration, which takes c->values over. In init mode, weights are
 * drawn: normal(0, initializer_range), norms of ones, biases of zeros. d: for hd__hf_stored */
hd_module *hd__hf_model_new(hd__hf_config *c, const hd_dtype *d);
/* As hd__hf_model_new, from a public configuration (NULL: the defaults). */
hd_module *hd__hf_model_make(const hd__hf_family *family, const void *values, const hd_dtype *d);
/* The rows of an embedding; `otherwise` if another module or none is in its place */
int64_t hd__hf_embedding_rows(hd_module *embedding, int64_t otherwise);
/* The number of tokens that the model has. */
int64_t hd__hf_vocab(hd__hf_model *m);
/* The most tokens that a text may have. */
int64_t hd__hf_positions(hd__hf_model *m);
/* The forward function of all models. hd__hf_model_of recognizes a model by it. */
hd_tensor *hd__hf_model_forward(hd_module *m, hd_tensor *ids);
void hd__hf_model_free(hd_module *m); /* the `free` function of all models */

/* A child of a module. */
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

/* A new module of the class. It takes the children over; on failure they are freed. */
hd_module *hd__hf_module_of(const hd_module_type *type, const hd__hf_part *parts);
/* A ModuleList of the layers that layer_new makes, each after hd__hf_stored(layer, d). */
hd_module *hd__hf_layers(const hd__hf_config *c,
                         hd_module *(*layer_new)(const hd__hf_config *c, int64_t i),
                         const hd_dtype *d);
/* Unless d is NULL, replaces m's parameters by placeholders for a file's weights, which have shapes
 * but no memory and no values. Those of two dims have dtype *d, and are frozen if it is
 * HD_BFLOAT16. Each part of a model gets them when it is made, so the model never needs memory for
 * all weights. Returns m, which may be NULL; on failure frees it and returns NULL. */
hd_module *hd__hf_stored(hd_module *m, const hd_dtype *d);

/* m, a part of a model, if it is of the class; otherwise NULL with HD_STATE. */
void *hd__hf_part_of(hd_module *m, const hd_module_type *type);

/* Returns d or m if `ok`; otherwise frees it and returns NULL. */
hd_dict *hd__hf_dict_if(bool ok, hd_dict *d);
hd_module *hd__hf_module_if(bool ok, hd_module *m);

/* hd_module_visit, whose f is code of heed-hf: its messages begin with the current call, too. */
bool hd__hf_visit(hd_module *m, bool (*f)(hd_module *m, const char *name, void *user), void *user);

bool hd__hf_ends_in(const char *text, const char *end);

/* m as a model of this library; NULL with HD_VALUE if it is another module. */
hd__hf_model *hd__hf_model_of(hd_module *m);

/* Attention of q (b, heads, t, d) over k and v (b, kv heads, t, d), after it has added these to the
 * cache of `layer`. Gives (b, t, heads d). */
hd_tensor *hd__hf_attend(hd_tensor *q, hd_tensor *k, hd_tensor *v, const hd__hf_context *c,
                         int64_t layer, double dropout);
/* x (b, t, heads d) as (b, heads, t, d) */
hd_tensor *hd__hf_heads(hd_tensor *x, int64_t heads);

/* False, with an error, unless the ids are int64 (b, t) with t > 0. */
bool hd__hf_ids_ok(const hd_tensor *ids);

/* Reads the attention mask of ids (b, t) into *p, with `more` tokens after each text. If mask is
 * HD_NONE, or has only ones, *p gets no padding. */
bool hd__hf_padding_read(const hd_tensor *ids, hd_tensor *mask, int64_t more, hd__hf_padding *p);
/* Sets *c for the next t tokens of the texts, which follow the tokens in `seen` (NULL: none). */
bool hd__hf_context_begin(hd__hf_context *c, const hd__hf_padding *p, hd__hf_seen *seen, int64_t t);

/* True if n divides `size`; otherwise fails as hd__hf_config_refuse does. */
bool hd__hf_divides_ok(const hd__hf_config *c, const char *n_name, int64_t n, const char *size_name,
                       int64_t size);

/* ---------------------------------------------------------------- folders */

/* The values of a JSON file by their paths, as "rope_scaling.factor" and "eos_token_id.0": numbers,
 * and texts with a quotation mark in front. true, false, null, {} and [] are texts without one.
 * NULL on failure. */
hd_dict *hd__hf_json_values(const char *path);
/* The text at this path, without its quotation mark; NULL if the value is no text or is missing. */
const char *hd__hf_json_text(const hd_dict *values, const char *path);

/* The number of bytes of the file's tensors */
int64_t hd__hf_file_bytes(const hd_safetensors *f);
/* False, with an error, unless d is float32 or bfloat16, the dtypes of weights. */
bool hd__hf_dtype_ok(hd_dtype d);

/* Writes the configuration as f->names[0], and the tensors as f->names[1], with the entry "format"
 * that transformers requires. */
bool hd__hf_files_write(const hd__folder *f, const hd__text *config, hd_dict *tensors);

/* Writes "folder/name" to path, which begins as {0}. NULL if memory runs out. */
const char *hd__hf_path_of(const char *folder, const char *name, hd__text *path);
/* Writes "folder/name" to path. Returns 1 if it exists, 0 if not, -1 with an error if that is
 * unknown. */
int hd__hf_look_for(const char *folder, const char *name, hd__text *path);

/* Reads config.json at path into *c. */
bool hd__hf_config_read(const char *path, hd__hf_config *c);
/* Reads an adapter's options from d, the values of adapter_config.json at path. o->target_modules
 * has room for all of d's values; the names belong to d. */
bool hd__hf_adapter_config(const char *path, const hd_dict *d, hd_lora_options *o);
/* Sets *c to the configuration that m has now. HD_STATE names the first module that fits none. */
bool hd__hf_config_now(hd__hf_model *m, hd__hf_config *c);
/* Adds the text of config.json for c and weights of dtype d to t. */
void hd__hf_config_write(const hd__hf_config *c, hd_dtype d, hd__text *t);

#endif
