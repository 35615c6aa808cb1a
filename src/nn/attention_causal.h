/* attention_causal.h - MultiHeadAttention, also for attention_cached.c (attention_causal.c). */
#ifndef HEED_NN_ATTENTION_CAUSAL_H
#define HEED_NN_ATTENTION_CAUSAL_H

#include "nn/attention_weights.h"

typedef struct hd__multi_head_attention {
    hd__attention base;
    hd_module *out_proj;
    int64_t d_out, num_heads;
} hd__multi_head_attention;

/* hd__project of x (b, num_tokens, d_in), each split to (b, num_heads, num_tokens, head_dim) */
hd__projected hd__project_heads(const hd__multi_head_attention *m, hd_tensor *x);
/* Attention and out_proj for the tokens first, first + 1, ..., from queries (b, num_heads,
 * num_tokens, head_dim), and keys and values (b, num_heads, first + num_tokens, head_dim). Gives
 * (b, num_tokens, d_out). */
hd_tensor *hd__attend(hd__multi_head_attention *m, hd__projected p, int64_t first);

extern const hd_module_type hd__multi_head_attention_type;

#endif
