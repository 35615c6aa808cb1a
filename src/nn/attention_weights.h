/* attention_weights.h - what the notebooks' classes of attention share (attention_weights.c). */
#ifndef HEED_NN_ATTENTION_WEIGHTS_H
#define HEED_NN_ATTENTION_WEIGHTS_H

#include "nn/module.h"

/* Each of their structs begins with this. NULL stands for what a class does not have. */
typedef struct hd__attention {
    hd_module base;
    bool keep;
    hd_tensor *weights;                             /* the last ones, retained */
    hd_module *W_query, *W_key, *W_value, *dropout; /* Linear, and Dropout */
    hd_tensor *mask; /* (context_length, context_length), buffer: not 0 where it hides */
} hd__attention;

/* A module of that class with three blank Linear(d_in, d_out) under the notebooks' names and in
 * their order. */
hd_module *hd__attention_blank(const hd_module_type *type, int64_t d_in, int64_t d_out,
                               bool qkv_bias);

/* What the three make of x (..., d_in): (..., d_out) each, computed in the notebooks' order, keys
 * first. */
typedef struct hd__projected {
    hd_tensor *keys, *queries, *values;
} hd__projected;
hd__projected hd__project(const hd__attention *m, hd_tensor *x);

/* The context vectors (..., num_tokens, d), from queries (..., num_tokens, d) of the tokens first,
 * first + 1, ..., and keys and values (..., first + num_tokens, d). The attention is fused unless
 * hd_set_fused_attention(false) was called. */
hd_tensor *hd__masked_attention(hd__attention *m, hd__projected p, int64_t first);
/* softmax(attn_scores / sqrt(d)) values, d the last size of keys. It keeps the weights, after
 * dropout, if it was asked to. */
hd_tensor *hd__weigh(hd__attention *m, hd_tensor *attn_scores, hd_tensor *keys, hd_tensor *values);
void hd__attention_free(hd_module *self); /* the function `free` of these types */
/* Is x (b, num_tokens, d_in), with at most context_length tokens? */
bool hd__tokens_arg(const hd__attention *m, hd_tensor *x);
/* Checks the constructors' arguments. */
bool hd__attention_args(int64_t d_in, int64_t d_out, int64_t context_length, double dropout,
                        int64_t num_heads);
/* Registers the Dropout and the mask, (n, n). */
void hd__register_mask(hd__attention *m, double dropout, int64_t n);

#endif
