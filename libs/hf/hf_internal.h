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
    int64_t len, most;    /* tokens so far, and the largest number of them */
    hd_tensor *cos, *sin; /* rotary tables (most, head_dim); NULL until needed */
    hd_kv_cache *cache[]; /* one for each layer; NULL until needed */
} hd__hf_seen;

/* The padding of the texts in a batch. Both members are NULL if no text has padding. */
typedef struct hd__hf_padding {
    hd_tensor *real;      /* (b, n) bool: false for padding */
    hd_tensor *positions; /* (b, n) int64: the number of the text's tokens before this one */
} hd__hf_padding;

/* The tokens to which the tokens (b, t) of a call attend, and their positions. */
typedef struct hd__hf_context {
    hd__hf_seen *seen; /* the tokens before the call; NULL: none */
    /* (b, 1, t, s) bool: true where one of the t tokens attends to one of all s tokens. NULL: each
     * attends to itself and all before. */
    hd_tensor *mask;
    hd_tensor *positions; /* (b, t) int64 if there is a mask; NULL: they follow the tokens before */
} hd__hf_context;

/* Values of config.json that heed only writes back. A missing key gets its default in transformers
 * 4. HD_NO_PADDING stands for a token that is null in the file. */
typedef struct hd__hf_kept {
    int64_t bos_token_id, pad_token_id;
    hd_generate_options ends; /* the end tokens */
    bool use_cache;
} hd__hf_kept;

typedef struct hd__hf_family hd__hf_family; /* family.h */

typedef struct hd__hf_config {
    const hd__hf_family *family;
    void *values; /* an allocated public configuration of the family */
    hd__hf_kept kept;
    const char *path;     /* of config.json while it is read, else NULL */
    const char *left_out; /* the first size that config.json lacks, or NULL */
} hd__hf_config;

typedef struct hd__hf_model {
    hd_module base;
    hd_module *body, *head; /* body: ids to hidden states; head: these to logits */
    hd__hf_config config;
    char *generation; /* the text of the folder's generation_config.json, or NULL */
} hd__hf_model;

/* Returns a static copy of name if it is transformers' name of an activation that heed has, and
 * NULL otherwise. */
const char *hd__hf_activation(const char *name);
/* Returns a new module of this activation. hd__hf_activation must know its name. */
hd_module *hd__hf_activation_new(const char *name);
#define HD__ACTIVATIONS "gelu_new, gelu_pytorch_tanh, gelu or relu"

/* Makes *c a configuration with a copy of `values` (NULL: the defaults). The caller frees
 * c->values. */
bool hd__hf_config_begin(hd__hf_config *c, const hd__hf_family *family, const void *values);
/* Returns the address of the key's value, or NULL if the family has no such key. */
void *hd__hf_config_at(const hd__hf_config *c, const char *key);
/* These return the value of a key that the family must have. */
int64_t hd__hf_config_int(const hd__hf_config *c, const char *key);
double hd__hf_config_double(const hd__hf_config *c, const char *key);
/* Returns the rotary options, which the family must have. */
hd_rotary_options *hd__hf_config_rope(const hd__hf_config *c);
/* Returns the key's value, or false if the family has no such key. */
bool hd__hf_config_bool(const hd__hf_config *c, const char *key);
/* Returns the key's list, or NULL if the family has no such key. */
const bool *hd__hf_config_flags(const hd__hf_config *c, const char *key);
/* Sets the values that follow from others. Returns false with an error if a value is wrong. */
bool hd__hf_config_resolve(hd__hf_config *c);
/* Returns false with HD_VALUE for a wrong value. The message has c->path, if there is one. */
bool hd__hf_config_refuse(const hd__hf_config *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns a new model of a resolved configuration. The model takes c->values over. In init mode,
 * draws the weights from normal(0, initializer_range), and sets weights of norms to 1 and biases to
 * 0. See hd__hf_stored for d. */
hd_module *hd__hf_model_new(hd__hf_config *c, const hd_dtype *d);
/* Makes a model as hd__hf_model_new does, from a public configuration (NULL: the defaults). */
hd_module *hd__hf_model_make(const hd__hf_family *family, const void *values, const hd_dtype *d);
/* Returns the number of rows of an embedding, or `otherwise` if another module or none is in its
 * place. */
int64_t hd__hf_embedding_rows(hd_module *embedding, int64_t otherwise);
/* Returns the number of tokens in the model's vocabulary. */
int64_t hd__hf_vocab(hd__hf_model *m);
/* Returns the largest number of tokens that a text may have. */
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

/* Returns a new module of the class `type`, which takes the children over. On failure frees
 * them. */
hd_module *hd__hf_module_of(const hd_module_type *type, const hd__hf_part *parts);
/* Returns a ModuleList of the layers that layer_new makes. Each of them first goes through
 * hd__hf_stored(layer, d). */
hd_module *hd__hf_layers(const hd__hf_config *c,
                         hd_module *(*layer_new)(const hd__hf_config *c, int64_t i),
                         const hd_dtype *d);
/* Unless d is NULL, replaces m's parameters by placeholders for a file's weights, which have shapes
 * but no memory and no values. Those of two dims have dtype *d, and are frozen if it is
 * HD_BFLOAT16. Each part of a model gets them when it is made, so the model never needs memory for
 * all weights. Returns m, which may be NULL; on failure frees it and returns NULL. */
hd_module *hd__hf_stored(hd_module *m, const hd_dtype *d);

/* Returns m, a part of a model, if its class is `type`, and NULL with HD_STATE otherwise. */
void *hd__hf_part_of(hd_module *m, const hd_module_type *type);

/* Returns d or m if `ok`; otherwise frees it and returns NULL. */
hd_dict *hd__hf_dict_if(bool ok, hd_dict *d);
hd_module *hd__hf_module_if(bool ok, hd_module *m);

/* Calls f for m and its children, as hd_module_visit does, but messages of f begin with the current
 * call. */
bool hd__hf_visit(hd_module *m, bool (*f)(hd_module *m, const char *name, void *user), void *user);

bool hd__hf_ends_in(const char *text, const char *end);

/* Returns m as a model of this library, or NULL with HD_VALUE if it is another module. */
hd__hf_model *hd__hf_model_of(hd_module *m);

/* Adds k and v (b, kv heads, t, d) to the cache of `layer`, if c has a cache. Returns the attention
 * of q (b, heads, t, d) over all keys and values: (b, t, heads * d). */
hd_tensor *hd__hf_attend(hd_tensor *q, hd_tensor *k, hd_tensor *v, const hd__hf_context *c,
                         int64_t layer, double dropout);
/* Returns a view (b, heads, t, d) of x (b, t, heads * d). */
hd_tensor *hd__hf_heads(hd_tensor *x, int64_t heads);

/* Returns false with an error unless the ids are int64 (b, t) with t > 0. */
bool hd__hf_ids_ok(const hd_tensor *ids);

/* Reads the attention mask of ids (b, t) into *p, which also covers `more` new tokens after each
 * text. If mask is HD_NONE, or has only ones, *p has no padding. Returns false with an error if the
 * mask is wrong. */
bool hd__hf_padding_read(const hd_tensor *ids, hd_tensor *mask, int64_t more, hd__hf_padding *p);
/* Sets *c for the next t tokens of the texts, which follow the tokens in `seen` (NULL: none). */
bool hd__hf_context_begin(hd__hf_context *c, const hd__hf_padding *p, hd__hf_seen *seen, int64_t t);

/* Returns true if n divides `size`. Otherwise fails as hd__hf_config_refuse does. */
bool hd__hf_divides_ok(const hd__hf_config *c, const char *n_name, int64_t n, const char *size_name,
                       int64_t size);

/* ---------------------------------------------------------------- folders */

/* Returns the values of a JSON file by their paths, such as "rope_scaling.factor" and
 * "eos_token_id.0". A number is a number, and a text is a string with a quotation mark in front.
 * true, false, null, {} and [] are strings without one. Returns NULL on failure. */
hd_dict *hd__hf_json_values(const char *path);
/* Returns the text at this path, without its quotation mark, or NULL if the value is no text or is
 * missing. */
const char *hd__hf_json_text(const hd_dict *values, const char *path);

/* Returns the number of bytes of the file's tensors. */
int64_t hd__hf_file_bytes(const hd_safetensors *f);
/* Returns false with an error unless d is float32 or bfloat16, the dtypes of weights. */
bool hd__hf_dtype_ok(hd_dtype d);

/* Writes the configuration as f->names[0], and the tensors as f->names[1], with the entry "format"
 * that transformers requires. */
bool hd__hf_files_write(const hd__folder *f, const hd__text *config, hd_dict *tensors);

/* Writes "folder/name" to path, which is {0} before its first use. Returns the text, or NULL if
 * memory runs out. */
const char *hd__hf_path_of(const char *folder, const char *name, hd__text *path);
/* Writes "folder/name" to path. Returns 1 if this file exists, 0 if it does not, or -1 with an
 * error if that cannot be found out. */
int hd__hf_look_for(const char *folder, const char *name, hd__text *path);

/* Reads config.json at path into *c. */
bool hd__hf_config_read(const char *path, hd__hf_config *c);
/* Reads an adapter's options from d, the values of adapter_config.json at path. o->target_modules
 * must have space for as many names as d has values. The names belong to d. */
bool hd__hf_adapter_config(const char *path, const hd_dict *d, hd_lora_options *o);
/* Sets *c to the configuration that m has now. If no configuration fits m, fails with HD_STATE and
 * names the first module that does not fit. */
bool hd__hf_config_now(hd__hf_model *m, hd__hf_config *c);
/* Appends the text of config.json for c, and for weights of dtype d, to t. */
void hd__hf_config_write(const hd__hf_config *c, hd_dtype d, hd__text *t);

#endif
