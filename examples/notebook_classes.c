/* notebook_classes.c - SelfAttention_v1 and _v2, CausalAttention, MultiHeadAttentionWrapper and
 * MultiHeadAttention, line by line as the notebooks' cells have them.
 *
 * Each is its forward, which is the chapter, and its constructor, which is __init__. Shapes:
 * b sequences in the batch, num_tokens tokens in each, d_in numbers for a token. */
#include "notebook_classes.h"

#include <math.h>

/* ---------------------------------------------------------------- ko In [20], ru In [4] */

/* class SelfAttention_v1(nn.Module): */
static hd_tensor *self_attention_v1_forward(hd_module *self, hd_tensor *x) /* (num_tokens, d_in) */
{
    self_attention_v1 *m = (self_attention_v1 *)self;

    hd_tensor *keys = hd_matmul(x, m->W_key); /* (num_tokens, d_out) */
    hd_tensor *queries = hd_matmul(x, m->W_query);
    hd_tensor *values = hd_matmul(x, m->W_value);

    hd_tensor *attn_scores = hd_matmul(queries, hd_t(keys)); /* (num_tokens, num_tokens) */
    hd_tensor *attn_weights =
        hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1); /* d_k**0.5 */

    return hd_matmul(attn_weights, values); /* (num_tokens, d_out) */
}

hd_module *self_attention_v1_new(int64_t d_in, int64_t d_out)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(self_attention_v1, "SelfAttention_v1", self_attention_v1_forward);
    hd_module *self = hd_module_new(&type);
    self_attention_v1 *m = (self_attention_v1 *)self;
    if (!m) {
        return NULL;
    }
    /* self.W_query = nn.Parameter(torch.rand(d_in, d_out)) */
    hd_register_parameter(self, "W_query", &m->W_query,
                          hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true));
    hd_register_parameter(self, "W_key", &m->W_key,
                          hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true));
    hd_register_parameter(self, "W_value", &m->W_value,
                          hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true));
    return hd_module_ready(self);
}

/* ---------------------------------------------------------------- ko In [21] */

/* class SelfAttention_v2(nn.Module): */
static hd_tensor *self_attention_v2_forward(hd_module *self, hd_tensor *x) /* (num_tokens, d_in) */
{
    self_attention_v2 *m = (self_attention_v2 *)self;

    hd_tensor *keys = hd_forward(m->W_key, x); /* (num_tokens, d_out) */
    hd_tensor *queries = hd_forward(m->W_query, x);
    hd_tensor *values = hd_forward(m->W_value, x);

    hd_tensor *attn_scores = hd_matmul(queries, hd_t(keys)); /* (num_tokens, num_tokens) */
    hd_tensor *attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1);

    return hd_matmul(attn_weights, values); /* (num_tokens, d_out) */
}

hd_module *self_attention_v2_new(int64_t d_in, int64_t d_out, bool qkv_bias)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(self_attention_v2, "SelfAttention_v2", self_attention_v2_forward);
    hd_module *self = hd_module_new(&type);
    self_attention_v2 *m = (self_attention_v2 *)self;
    if (!m) {
        return NULL;
    }
    /* self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias) */
    hd_register_module(self, "W_query", &m->W_query, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_key", &m->W_key, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_value", &m->W_value, hd_linear_new(d_in, d_out, qkv_bias));
    return hd_module_ready(self);
}

/* ---------------------------------------------------------------- ko In [None], ru In [7] */

/* torch.triu(torch.ones(context_length, context_length), diagonal=1) */
static hd_tensor *causal_mask(int64_t context_length)
{
    return hd_triu(hd_ones(HD_FLOAT32, context_length, context_length), 1);
}

/* class CausalAttention(nn.Module): */
static hd_tensor *causal_attention_forward(hd_module *self,
                                           hd_tensor *x) /* (b, num_tokens, d_in) */
{
    causal_attention *m = (causal_attention *)self;
    int64_t num_tokens = hd_size(x, 1);

    hd_tensor *keys = hd_forward(m->W_key, x); /* (b, num_tokens, d_out) */
    hd_tensor *queries = hd_forward(m->W_query, x);
    hd_tensor *values = hd_forward(m->W_value, x);

    /* attn_scores = queries @ keys.transpose(1, 2) */
    hd_tensor *attn_scores = hd_matmul(queries, hd_transpose(keys, 1, 2));
    /* attn_scores.masked_fill_(self.mask.bool()[:num_tokens, :num_tokens], -torch.inf) */
    hd_tensor *mask = hd_to(m->mask, HD_BOOL); /* (num_tokens, num_tokens) after the slices */
    mask = hd_slice(hd_slice(mask, 0, 0, num_tokens), 1, 0, num_tokens);
    attn_scores = hd_masked_fill_(attn_scores, mask, -INFINITY); /* (b, num_tokens, num_tokens) */

    hd_tensor *attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1);
    attn_weights = hd_forward(m->dropout, attn_weights);

    return hd_matmul(attn_weights, values); /* (b, num_tokens, d_out) */
}

hd_module *causal_attention_new(int64_t d_in, int64_t d_out, int64_t context_length, double dropout,
                                bool qkv_bias)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(causal_attention, "CausalAttention", causal_attention_forward);
    hd_module *self = hd_module_new(&type);
    causal_attention *m = (causal_attention *)self;
    if (!m) {
        return NULL;
    }
    hd_register_module(self, "W_query", &m->W_query, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_key", &m->W_key, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_value", &m->W_value, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "dropout", &m->dropout, hd_dropout_new(dropout, false));
    /* self.register_buffer('mask', ...) */
    hd_register_buffer(self, "mask", &m->mask, causal_mask(context_length), true);
    return hd_module_ready(self);
}

/* ---------------------------------------------------------------- ru In [8] */

/* class MultiHeadAttentionWrapper(nn.Module): */
static hd_tensor *multi_head_attention_wrapper_forward(hd_module *self, hd_tensor *x)
{
    multi_head_attention_wrapper *m = (multi_head_attention_wrapper *)self;
    /* torch.cat([head(x) for head in self.heads], dim=-1) */
    hd_list *outs = hd_list_n(0, NULL); /* (b, num_tokens, d_out) each */
    for (int64_t h = 0; h < hd_module_list_len(m->heads); h++) {
        hd_list_append(outs, hd_forward(hd_module_list_get(m->heads, h), x));
    }
    return hd_cat_list(outs, -1); /* (b, num_tokens, num_heads * d_out) */
}

hd_module *multi_head_attention_wrapper_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                            double dropout, int64_t num_heads, bool qkv_bias)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(multi_head_attention_wrapper, "MultiHeadAttentionWrapper",
                       multi_head_attention_wrapper_forward);
    hd_module *self = hd_module_new(&type);
    multi_head_attention_wrapper *m = (multi_head_attention_wrapper *)self;
    if (!m) {
        return NULL;
    }
    hd_module *heads = hd_module_list_n(0, NULL);
    for (int64_t h = 0; h < num_heads && heads; h++) {
        hd_module *head = causal_attention_new(d_in, d_out, context_length, dropout, qkv_bias);
        if (!hd_module_list_append(heads, head)) {
            hd_module_free(heads);
            heads = NULL; /* whose registration then fails */
        }
    }
    hd_register_module(self, "heads", &m->heads, heads);
    return hd_module_ready(self);
}

/* ---------------------------------------------------------------- ru In [9] */

/* (b, num_tokens, d_out) to (b, num_heads, num_tokens, head_dim) */
static hd_tensor *split_heads(const multi_head_attention *m, hd_tensor *x)
{
    /* x.view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2) */
    return hd_transpose(hd_view(x, hd_size(x, 0), hd_size(x, 1), m->num_heads, m->head_dim), 1, 2);
}

/* class MultiHeadAttention(nn.Module): */
static hd_tensor *multi_head_attention_forward(hd_module *self, hd_tensor *x)
{
    multi_head_attention *m = (multi_head_attention *)self;
    int64_t b = hd_size(x, 0), num_tokens = hd_size(x, 1); /* x (b, num_tokens, d_in) */

    hd_tensor *keys = hd_forward(m->W_key, x); /* (b, num_tokens, d_out) */
    hd_tensor *queries = hd_forward(m->W_query, x);
    hd_tensor *values = hd_forward(m->W_value, x);

    keys = split_heads(m, keys); /* (b, num_heads, num_tokens, head_dim) */
    values = split_heads(m, values);
    queries = split_heads(m, queries);

    /* attn_scores = queries @ keys.transpose(2, 3) */
    hd_tensor *attn_scores = hd_matmul(queries, hd_transpose(keys, 2, 3));
    hd_tensor *mask_bool = hd_to(m->mask, HD_BOOL); /* (num_tokens, num_tokens) after the slices */
    mask_bool = hd_slice(hd_slice(mask_bool, 0, 0, num_tokens), 1, 0, num_tokens);
    attn_scores = hd_masked_fill_(attn_scores, mask_bool, -INFINITY);

    hd_tensor *attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1);
    attn_weights =
        hd_forward(m->dropout, attn_weights); /* (b, num_heads, num_tokens, num_tokens) */

    /* (b, num_tokens, num_heads, head_dim) */
    hd_tensor *context_vec = hd_transpose(hd_matmul(attn_weights, values), 1, 2);
    context_vec = hd_view(hd_contiguous(context_vec), b, num_tokens, m->d_out);
    return hd_forward(m->out_proj, context_vec); /* (b, num_tokens, d_out) */
}

hd_module *multi_head_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                    double dropout, int64_t num_heads, bool qkv_bias)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(multi_head_attention, "MultiHeadAttention", multi_head_attention_forward);
    if (num_heads < 1 || d_out % num_heads != 0) {
        return hd_error_set(
            HD_VALUE, "multi_head_attention_new: d_out %lld must be divisible by num_heads %lld",
            (long long)d_out, (long long)num_heads);
    }
    hd_module *self = hd_module_new(&type);
    multi_head_attention *m = (multi_head_attention *)self;
    if (!m) {
        return NULL;
    }
    m->d_out = d_out;
    m->num_heads = num_heads;
    m->head_dim = d_out / num_heads;
    hd_register_module(self, "W_query", &m->W_query, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_key", &m->W_key, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_value", &m->W_value, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "out_proj", &m->out_proj, hd_linear_new(d_out, d_out, true));
    hd_register_module(self, "dropout", &m->dropout, hd_dropout_new(dropout, false));
    hd_register_buffer(self, "mask", &m->mask, causal_mask(context_length), true);
    return hd_module_ready(self);
}
