/* hf_internal.h - libheed-hf: models that people have, their folders, chats and adapters.
 *
 * It may include the public headers and base's headers for siblings (base/sibling.h); what computes
 * is libheed. Programs use it by heed/hf.h; of heed's own, sample_gpt and finetune. This header has
 * what its files share, and template.h the chat templates. */
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

/* The keys and values of the tokens that a model has seen: a cache for each layer; NULL: it was not
 * needed yet. */
typedef struct hd__hf_seen {
    int64_t layers, len, most; /* tokens seen, and the most */
    hd_tensor *cos, *sin;      /* rotary tables (most, head_dim); NULL: not made yet */
    hd_kv_cache *cache[];
} hd__hf_seen;

/* Texts of different lengths in one batch (b, n); NULL: none has padding. */
typedef struct hd__hf_padding {
    hd_tensor *real;      /* (b, n) bool: is it a token of the text? */
    hd_tensor *positions; /* (b, n) int64: how many tokens of the text are before it */
} hd__hf_padding;

/* What the tokens (b, t) of a call see */
typedef struct hd__hf_context {
    hd__hf_seen *seen; /* the tokens before them; NULL: there are none */
    hd_tensor *mask;   /* (b, 1, t, s) bool: which of all s tokens each one sees; NULL: itself and
                           * all before it */
    hd_tensor *positions; /* (b, t) int64, with a mask; NULL: they follow those before them */
} hd__hf_context;

/* What config.json has for other programs and the model does not use, to write it back: a key that
 * the file does not have counts as it does in transformers 4. A token may be HD_NO_PADDING: none,
 * which is null in the file. */
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
    const char *path;     /* of config.json, while it is read; or NULL */
    const char *left_out; /* a size that it does not have; NULL: it has all */
} hd__hf_config;

typedef struct hd__hf_model {
    hd_module base;
    hd_module *body, *head; /* the head: hidden to logits */
    hd__hf_config config;
    char *generation; /* the text of generation_config.json of its folder; NULL: there is none */
} hd__hf_model;

/* A static text that is equal to the name of an activation in transformers; NULL: heed has none. */
const char *hd__hf_activation(const char *name);
hd_module *hd__hf_activation_new(const char *name); /* of a name that there is */
#define HD__ACTIVATIONS "gelu_new, gelu_pytorch_tanh, gelu or relu"

/* *c becomes a configuration of the family, with values of its own: a copy of those given, or the
 * defaults if that is NULL. hd_free(c->values) ends it. */
bool hd__hf_config_begin(hd__hf_config *c, const hd__hf_family *family, const void *values);
/* The place of the value of this key; NULL: the family has none. The others need one. */
void *hd__hf_config_at(const hd__hf_config *c, const char *key);
int64_t hd__hf_config_int(const hd__hf_config *c, const char *key);
double hd__hf_config_double(const hd__hf_config *c, const char *key);
hd_rotary_options *hd__hf_config_rope(const hd__hf_config *c);
/* Is it true? Not without a place. */
bool hd__hf_config_bool(const hd__hf_config *c, const char *key);
const bool *hd__hf_config_flags(const hd__hf_config *c,
                                const char *key); /* a list; NULL: no place */
/* Checks the values, and sets those that follow from others. */
bool hd__hf_config_resolve(hd__hf_config *c);
/* Fails with HD_VALUE: a value of c is wrong. The message has c's path, if there is one. */
bool hd__hf_config_refuse(const hd__hf_config *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A new model of a configuration that was resolved, whose values it takes over. Weights are drawn
 * if the init mode is on: normal(0, initializer_range), norms of ones and biases of zeros. d: NULL,
 * or for hd__hf_stored. */
hd_module *hd__hf_model_new(hd__hf_config *c, const hd_dtype *d);
/* The same of a public configuration, or of the defaults if it is NULL. */
hd_module *hd__hf_model_make(const hd__hf_family *family, const void *values, const hd_dtype *d);
/* How many rows the embedding has, in whose place the user may have put another one; `otherwise` if
 * it is another module, or NULL. */
int64_t hd__hf_embedding_rows(hd_module *embedding, int64_t otherwise);
int64_t hd__hf_vocab(hd__hf_model *m); /* how many tokens it knows */
/* How many tokens a text has at most */
int64_t hd__hf_positions(hd__hf_model *m);
/* The forward of all models, by which they are known. */
hd_tensor *hd__hf_model_forward(hd_module *m, hd_tensor *ids);
void hd__hf_model_free(hd_module *m); /* the function `free` of all */

/* A child of a module: its name, its field's place in the struct, and the child. */
typedef struct hd__hf_part {
    const char *name;
    size_t at;
    hd_module *module;
} hd__hf_part;

#define HD__PART(type, field, module)                                                              \
    {                                                                                              \
#field, offsetof(type, field), module                                                      \
    }
#define HD__PARTS(...) ((const hd__hf_part[]){__VA_ARGS__, {NULL, 0, NULL}})

/* A new module of the class with these children, which it takes over: on failure they are freed. */
hd_module *hd__hf_module_of(const hd_module_type *type, const hd__hf_part *parts);
/* A list of the layers, which layer_new makes, as hd__hf_stored gives them. */
hd_module *hd__hf_layers(const hd__hf_config *c,
                         hd_module *(*layer_new)(const hd__hf_config *c, int64_t i),
                         const hd_dtype *d);
/* m, which may be NULL; unless d is NULL, its parameters become such as a file is to take the place
 * of: they have no memory and no values. Those with two dims are of dtype *d, and frozen if that is
 * HD_BFLOAT16. Parts of a model get them one by one, so that it never has the memory of all
 * weights. On failure m is freed. */
hd_module *hd__hf_stored(hd_module *m, const hd_dtype *d);

/* m, a part of a model, if it is of the class; otherwise NULL with HD_STATE. */
void *hd__hf_part_of(hd_module *m, const hd_module_type *type);

/* The same if `ok`; otherwise it is freed, and NULL. */
hd_dict *hd__hf_dict_if(bool ok, hd_dict *d);
hd_module *hd__hf_module_if(bool ok, hd_module *m);

/* As hd_module_visit, but the call speaks in f, too. */
bool hd__hf_visit(hd_module *m, bool (*f)(hd_module *m, const char *name, void *user), void *user);

bool hd__hf_ends_in(const char *text, const char *end);

/* m as one of the models; NULL with HD_VALUE if it is none. */
hd__hf_model *hd__hf_model_of(hd_module *m);

/* Attention of q (b, heads, t, d) over keys and values (b, kv heads, t, d), which follow those in
 * the cache of `layer`; gives (b, t, heads d). */
hd_tensor *hd__hf_attend(hd_tensor *q, hd_tensor *k, hd_tensor *v, const hd__hf_context *c,
                         int64_t layer, double dropout);
/* x (b, t, heads d) as (b, heads, t, d) */
hd_tensor *hd__hf_heads(hd_tensor *x, int64_t heads);

/* Are the ids int64 (b, t), with a token? */
bool hd__hf_ids_ok(const hd_tensor *ids);

/* Sets *p to what an attention mask says of the ids (b, t) and of `more` tokens of each text after
 * them. HD_NONE, and a mask of ones, give no padding. */
bool hd__hf_padding_read(const hd_tensor *ids, hd_tensor *mask, int64_t more, hd__hf_padding *p);
/* Sets *c to what the next t tokens of such texts see, after those in `seen`, which may be NULL. */
bool hd__hf_context_begin(hd__hf_context *c, const hd__hf_padding *p, hd__hf_seen *seen, int64_t t);

/* Is `size` a multiple of n? If not, fails as hd__hf_config_refuse does. */
bool hd__hf_divides_ok(const hd__hf_config *c, const char *n_name, int64_t n, const char *size_name,
                       int64_t size);

/* ---------------------------------------------------------------- folders */

/* The values of a JSON file by their paths (json_values.c): numbers, and texts, before which stands
 * a quotation mark. true, false, null, {} and [] are texts without one. The path of list.0 is that
 * of the first one in a list. NULL on failure. */
hd_dict *hd__hf_json_values(const char *path);
/* The text at this path, without its quotation mark; NULL if there is another value, or none */
const char *hd__hf_json_text(const hd_dict *values, const char *path);

/* How many bytes the tensors of the file have */
int64_t hd__hf_file_bytes(const hd_safetensors *f);
/* Is it a dtype of files and weights: float32 or bfloat16? */
bool hd__hf_dtype_ok(hd_dtype d);

/* Writes the first two of f's names: a configuration, and tensors, to which it adds what Python
 * asks for. */
bool hd__hf_files_write(const hd__folder *f, const hd__text *config, hd_dict *tensors);

/* "folder/name" in path, which begins as {0}; NULL if memory runs out. */
const char *hd__hf_path_of(const char *folder, const char *name, hd__text *path);
/* The same, if there is something: 1. If not: 0. If that cannot be told: -1 with an error. */
int hd__hf_look_for(const char *folder, const char *name, hd__text *path);

/* The configuration that the file at path holds. */
bool hd__hf_config_read(const char *path, hd__hf_config *c);
/* Sets *o to what adapter_config.json at path says, whose values are d. o->target_modules has room
 * for as many names, which stay d's. */
bool hd__hf_adapter_config(const char *path, const hd_dict *d, hd_lora_options *o);
/* *c becomes the configuration of m as its modules are now. HD_STATE names the first module that
 * no configuration can say. */
bool hd__hf_config_now(hd__hf_model *m, hd__hf_config *c);
/* Adds it as a JSON text, for weights of dtype d. */
void hd__hf_config_write(const hd__hf_config *c, hd_dtype d, hd__text *t);

#endif
