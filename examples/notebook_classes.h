/* notebook_classes.h - the classes of the notebooks' cells, written as modules of a user's program.
 *
 * heed has these classes, too (hd_causal_attention_new and so on). These show how a program makes a
 * module with the public functions only, and they give the same bits. Every constructor takes the
 * arguments of its class in the same order, and draws its weights in the order of the class's
 * lines. If a call in it fails, it returns NULL with the error set. */
#ifndef HEED_EXAMPLES_NOTEBOOK_CLASSES_H
#define HEED_EXAMPLES_NOTEBOOK_CLASSES_H

#include "heed/heed.h"

typedef struct {
    hd_module base; /* the first member of every module */
    int64_t d_out;
    hd_tensor *W_query, *W_key, *W_value; /* (d_in, d_out) */
} self_attention_v1;

typedef struct {
    hd_module base;
    hd_module *W_query, *W_key, *W_value; /* Linear (d_in, d_out) */
} self_attention_v2;

typedef struct {
    hd_module base;
    int64_t d_out;
    hd_module *W_query, *W_key, *W_value, *dropout;
    hd_tensor *mask; /* (context_length, context_length), buffer: 1 above the diagonal */
} causal_attention;

typedef struct {
    hd_module base;
    hd_module *heads; /* ModuleList of CausalAttention */
} multi_head_attention_wrapper;

typedef struct {
    hd_module base;
    int64_t d_out, num_heads, head_dim;
    hd_module *W_query, *W_key, *W_value, *out_proj, *dropout;
    hd_tensor *mask; /* (context_length, context_length), buffer: 1 above the diagonal */
} multi_head_attention;

hd_module *self_attention_v1_new(int64_t d_in, int64_t d_out);
hd_module *self_attention_v2_new(int64_t d_in, int64_t d_out, bool qkv_bias);
hd_module *causal_attention_new(int64_t d_in, int64_t d_out, int64_t context_length, double dropout,
                                bool qkv_bias);
hd_module *multi_head_attention_wrapper_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                            double dropout, int64_t num_heads, bool qkv_bias);
hd_module *multi_head_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                    double dropout, int64_t num_heads, bool qkv_bias);

#endif
