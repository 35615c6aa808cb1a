/* nn_internal.h - the private part of a module, and what the files of nn share.
 *
 * Invariants: names are unique within a module; a tensor entry's field holds a tensor that the
 * module retains; a child's priv->parent is the module that holds it, and that alone frees it. */
#ifndef HEED_NN_INTERNAL_H
#define HEED_NN_INTERNAL_H

#include "base/base_internal.h"
#include "heed/nn.h"

typedef enum hd__kind {
    HD__PARAMETER = 1,
    HD__BUFFER = 2,    /* persistent */
    HD__TRANSIENT = 4, /* a buffer that is not part of the state_dict */
    HD__CHILD = 8
} hd__kind;

typedef struct hd__entry {
    char *name;
    hd__kind kind;
    hd_tensor **tensor; /* the registered field, in the module's struct */
    hd_module **child;  /* likewise; NULL: a container's, which is `own` */
    hd_module *own;
} hd__entry;

struct hd__module {
    hd_module *parent; /* NULL: the user frees it */
    bool training;
    bool failed; /* a registration failed: hd_module_ready will */
    int64_t n, room;
    hd__entry *entries; /* in the order of registration */
};

static inline hd_module *hd__child(const hd__entry *e)
{
    return e->child ? *e->child : e->own;
}

/* Registers a child that has no field (containers). As hd_register_module otherwise. */
bool hd__register_own(const char *function, hd_module *m, const char *name, hd_module *child);

/* The i-th child of a Sequential or ModuleList; NULL when there are fewer. */
hd_module *hd__list_child(const hd_module *list, int64_t i);

/* ---------------------------------------------------------------- arguments */

/* As hd__given, also false when x is HD_NONE. */
bool hd__tensor_given(const char *function, const char *arg, const hd_tensor *x);
/* "hd_linear_new: in_features -1: expected 0 or more"; least is that 0. */
bool hd__size_arg(const char *function, const char *arg, int64_t value, int64_t least);
/* "hd_dropout_new: p 1.5: expected a number from 0 to 1" */
bool hd__probability_arg(const char *function, const char *arg, double p);

bool hd__same_sizes(const hd_tensor *a, const hd_tensor *b);

#define HD__DIMS(x) HD__SIZES(hd_ndim(x), hd_sizes(x))

/* ---------------------------------------------------------------- what is inside */

typedef struct hd__item {
    char *name; /* dotted */
    hd__kind kind;
    hd_tensor **field;
} hd__item;

typedef struct hd__items {
    hd__item *v;
    int64_t n, room;
} hd__items;

/* All tensors of m and below whose kind is in the mask `kinds`, in PyTorch's order; once: each
 * tensor once. Zero *items first, and free it whatever the result. */
bool hd__collect(const hd_module *m, int kinds, bool once, hd__items *items);
void hd__items_free(hd__items *items);

/* The entry of one of those kinds under a dotted name; NULL, without an error: there is none. */
const hd__entry *hd__find(const hd_module *m, const char *name, int kinds);

/* ---------------------------------------------------------------- layers */

/* Of another class name: the out_proj of nn.MultiheadAttention. */
extern const hd_module_type hd__packed_out_proj_type;
hd_module *hd__linear_of(const hd_module_type *type, int64_t in_features, int64_t out_features,
                         bool bias);
bool hd__is_module_list(const hd_module *m); /* its summary folds equal children */
double hd__dropout_now(const hd_module *m);  /* a Dropout's p; 0 in evaluation mode */

/* ---------------------------------------------------------------- attention of the notebooks */

/* The beginning of each of those classes' structs. */
typedef struct hd__attention {
    hd_module base;
    bool keep;
    hd_tensor *kept; /* the last weights, held; NULL: none yet */
} hd__attention;

/* Registers the three Linear(d_in, d_out) under the notebooks' names, in their order. */
void hd__register_qkv(hd_module *m, hd_module **W_query, hd_module **W_key, hd_module **W_value,
                      int64_t d_in, int64_t d_out, bool qkv_bias);

/* What they make of x (..., d_in), in the notebooks' order: keys first; (..., d_out) each. */
typedef struct hd__projected {
    hd_tensor *keys, *queries, *values;
} hd__projected;
hd__projected hd__project(hd_tensor *x, hd_module *W_query, hd_module *W_key, hd_module *W_value);

/* The context vectors (..., num_tokens, d) of queries (..., num_tokens, d), the tokens first,
 * first + 1, ..., from keys and values (..., first + num_tokens, d): what is not 0 in mask is
 * hidden. dropout is the class's child. Fused, unless hd_set_fused_attention(false). */
hd_tensor *hd__masked_attention(hd_module *self, hd_tensor *queries, hd_tensor *keys,
                                hd_tensor *values, hd_tensor *mask, int64_t first,
                                hd_module *dropout);
/* The last step of a forward's weights: keeps them if told to. Returns attn_weights. */
hd_tensor *hd__keep_weights(hd_module *self, hd_tensor *attn_weights);
void hd__attention_free(hd_module *self); /* the types' free */
/* Is x (b, num_tokens, d_in), with at most context_length tokens? */
bool hd__tokens_arg(const hd_module *self, hd_tensor *x, int64_t context_length);
/* The constructors' arguments, those not negative that sizes must not be. */
bool hd__attention_args(const char *function, int64_t d_in, int64_t d_out, int64_t context_length,
                        double dropout, int64_t num_heads);
/* triu(ones(n, n), diagonal=1): one where a token must not look */
hd_tensor *hd__causal_mask(int64_t n);

typedef struct hd__multi_head_attention {
    hd__attention base;
    hd_module *W_query, *W_key, *W_value, *out_proj, *dropout;
    hd_tensor *mask; /* (context_length, context_length), buffer */
    int64_t d_out, num_heads, head_dim;
} hd__multi_head_attention;

/* x (b, num_tokens, d_out) to (b, num_heads, num_tokens, head_dim) */
hd_tensor *hd__split_heads(const hd__multi_head_attention *m, hd_tensor *x);
/* Attention and out_proj for tokens first, first + 1, ...: queries (b, num_heads, num_tokens,
 * head_dim), keys and values (b, num_heads, first + num_tokens, head_dim); gives
 * (b, num_tokens, d_out). */
hd_tensor *hd__attend(hd__multi_head_attention *m, hd_tensor *queries, hd_tensor *keys,
                      hd_tensor *values, int64_t first);

extern const hd_module_type hd__self_attention_v1_type, hd__self_attention_v2_type,
    hd__causal_attention_type, hd__multi_head_attention_type;

#endif
