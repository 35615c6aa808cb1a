/* attention_causal.h - the struct of MultiHeadAttention and the two halves of its forward, which
 * attention_causal.c defines and attention_cached.c also calls. */
#ifndef HEED_NN_ATTENTION_CAUSAL_H
#define HEED_NN_ATTENTION_CAUSAL_H

#include "nn/attention_weights.h"

typedef struct hd__nn_multi_head_attention {
    hd__nn_attention base;
    hd_module *out_proj;
    int64_t d_out, num_heads;
} hd__nn_multi_head_attention;

/* Projects x (b, num_tokens, d_in) to queries, keys and values, and splits each into heads:
 * (b, num_heads, num_tokens, head_dim). */
hd__nn_projected hd__nn_project_heads(const hd__nn_multi_head_attention *m, hd_tensor *x);
/* Returns the attention after out_proj: (b, num_tokens, d_out). The queries are those of the
 * num_tokens tokens from `first` on, (b, num_heads, num_tokens, head_dim). The keys and values are
 * those of all tokens so far, (b, num_heads, first + num_tokens, head_dim). */
hd_tensor *hd__nn_attend(hd__nn_multi_head_attention *m, hd__nn_projected p, int64_t first);

extern const hd_module_type hd__nn_multi_head_attention_type;

#endif
