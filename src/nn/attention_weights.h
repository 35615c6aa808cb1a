/* attention_weights.h - the common parts of the attention classes in the two notebooks (README.md):
 * fields, checks and functions (attention_weights.c). */
#ifndef HEED_NN_ATTENTION_WEIGHTS_H
#define HEED_NN_ATTENTION_WEIGHTS_H

#include "nn/module.h"

/* The structs of all attention classes begin with this one, except MultiHeadAttentionWrapper's. A
 * field is NULL if the class lacks it. */
typedef struct hd__nn_attention {
    hd_module base;
    bool keep; /* set by hd_attention_keep_weights; true: each forward sets `weights` */
    /* attention weights of the last forward that kept them, retained; NULL if no forward has kept
     * any; HD_NONE after hd_attention_keep_weights(m, false) */
    hd_tensor *weights;
    hd_module *W_query, *W_key, *W_value, *dropout; /* three Linear and a Dropout */
    /* (context_length, context_length), a buffer; a nonzero element masks its key */
    hd_tensor *mask;
} hd__nn_attention;

/* Returns a module of class `type` with three Linear(d_in, d_out), W_query, W_key and W_value,
 * which are registered in this order, as in the notebooks. They are blank: hd__module_drawn
 * (module.h) draws their values later. Returns NULL on error. */
hd_module *hd__nn_attention_blank(const hd_module_type *type, int64_t d_in, int64_t d_out,
                                  bool qkv_bias);

/* The results of W_key, W_query and W_value: (..., d_out) each, or split into heads (b, num_heads,
 * num_tokens, head_dim). */
typedef struct hd__nn_projected {
    hd_tensor *keys, *queries, *values;
} hd__nn_projected;
/* Returns W_key(x), W_query(x) and W_value(x) for x (..., d_in). Computes the keys first, as the
 * notebooks do. A result is NULL on error. */
hd__nn_projected hd__nn_project(const hd__nn_attention *m, hd_tensor *x);

/* Returns the context vectors (..., num_tokens, d) under m's mask. The queries (..., num_tokens, d)
 * belong to the tokens from `first` on, and the keys and values (..., first + num_tokens, d) to all
 * tokens. The attention is fused unless the user has called hd_set_fused_attention(false). */
hd_tensor *hd__nn_masked_attention(hd__nn_attention *m, hd__nn_projected p, int64_t first);
/* Returns softmax(attn_scores / sqrt(d)) @ values, where d is the last size of keys. Applies
 * m->dropout, if it is not NULL, to the softmax. If m->keep is set, stores the weights after
 * dropout in m->weights. */
hd_tensor *hd__nn_weigh(hd__nn_attention *m, hd_tensor *attn_scores, hd_tensor *keys,
                        hd_tensor *values);
/* The `free` function of all types whose struct begins with hd__nn_attention. keeps_weights
 * (attention_weights.c) recognizes these types by it. */
void hd__nn_attention_free(hd_module *self);
/* Checks that x is (b, num_tokens, d_in) with num_tokens at most context_length. Otherwise returns
 * false with HD_SHAPE. */
bool hd__nn_tokens_arg(const hd__nn_attention *m, hd_tensor *x);
/* Checks the arguments of a constructor. Returns false with an error if one is wrong. */
bool hd__nn_attention_args(int64_t d_in, int64_t d_out, int64_t context_length, double dropout,
                           int64_t num_heads);
/* Registers a Dropout with probability `dropout`, and the causal mask (n, n). If that fails,
 * hd_module_ready fails, too. */
void hd__nn_register_mask(hd__nn_attention *m, double dropout, int64_t n);

#endif
