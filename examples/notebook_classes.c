/* notebook_classes.c - the classes of the notebooks' cells: SelfAttention_v1 and _v2,
 * CausalAttention, MultiHeadAttentionWrapper and MultiHeadAttention.
 *
 * Each class has all lines of its cell, in the same order: first the constructor, which is
 * __init__, then forward. Where C reads differently, a comment shows the line of Python. Two things
 * exist in C only: the type, which stands for the class and its super().__init__(), and
 * hd_module_ready, which returns NULL if a registration failed. Shapes: b sequences in the batch,
 * num_tokens tokens in each, d_in numbers for a token. */
#include "notebook_classes.h"

#include <math.h>

/* ---------------------------------------------------------------- ko In [20], ru In [4] */

/* class SelfAttention_v1(nn.Module): */
static hd_tensor *self_attention_v1_forward(hd_module *self, hd_tensor *x);

hd_module *self_attention_v1_new(int64_t d_in, int64_t d_out)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(self_attention_v1, "SelfAttention_v1", self_attention_v1_forward);
    hd_module *self = hd_module_new(&type); /* super().__init__() */
    self_attention_v1 *m = (self_attention_v1 *)self;
    if (!m) {
        return NULL;
    }
    m->d_out = d_out; /* in the Russian notebook */
    /* self.W_query = nn.Parameter(torch.rand(d_in, d_out)) */
    hd_register_parameter(self, "W_query", &m->W_query,
                          hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true));
    hd_register_parameter(self, "W_key", &m->W_key,
                          hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true));
    hd_register_parameter(self, "W_value", &m->W_value,
                          hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true));
    return hd_module_ready(self);
}

static hd_tensor *self_attention_v1_forward(hd_module *self, hd_tensor *x) /* (num_tokens, d_in) */
{
    self_attention_v1 *m = (self_attention_v1 *)self;

    hd_tensor *keys = hd_matmul(x, m->W_key);      /* (num_tokens, d_out) */
    hd_tensor *queries = hd_matmul(x, m->W_query); /* (num_tokens, d_out) */
    hd_tensor *values = hd_matmul(x, m->W_value);  /* (num_tokens, d_out) */

    /* attn_scores = queries @ keys.T: (num_tokens, num_tokens) */
    hd_tensor *attn_scores = hd_matmul(queries, hd_t(keys));
    /* attn_weights = torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1) */
    hd_tensor *attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1);

    hd_tensor *context_vec = hd_matmul(attn_weights, values); /* (num_tokens, d_out) */
    return context_vec;
}

/* ---------------------------------------------------------------- ko In [21] */

/* class SelfAttention_v2(nn.Module): */
static hd_tensor *self_attention_v2_forward(hd_module *self, hd_tensor *x);

hd_module *self_attention_v2_new(int64_t d_in, int64_t d_out, bool qkv_bias)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(self_attention_v2, "SelfAttention_v2", self_attention_v2_forward);
    hd_module *self = hd_module_new(&type); /* super().__init__() */
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

static hd_tensor *self_attention_v2_forward(hd_module *self, hd_tensor *x) /* (num_tokens, d_in) */
{
    self_attention_v2 *m = (self_attention_v2 *)self;

    hd_tensor *keys = hd_forward(m->W_key, x);      /* (num_tokens, d_out) */
    hd_tensor *queries = hd_forward(m->W_query, x); /* (num_tokens, d_out) */
    hd_tensor *values = hd_forward(m->W_value, x);  /* (num_tokens, d_out) */

    /* attn_scores = queries @ keys.T: (num_tokens, num_tokens) */
    hd_tensor *attn_scores = hd_matmul(queries, hd_t(keys));
    /* attn_weights = torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1) */
    hd_tensor *attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1);

    hd_tensor *context_vec = hd_matmul(attn_weights, values); /* (num_tokens, d_out) */
    return context_vec;
}

/* ---------------------------------------------------------------- ko In [None], ru In [7] */

/* class CausalAttention(nn.Module): */
static hd_tensor *causal_attention_forward(hd_module *self, hd_tensor *x);

hd_module *causal_attention_new(int64_t d_in, int64_t d_out, int64_t context_length, double dropout,
                                bool qkv_bias)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(causal_attention, "CausalAttention", causal_attention_forward);
    hd_module *self = hd_module_new(&type); /* super().__init__() */
    causal_attention *m = (causal_attention *)self;
    if (!m) {
        return NULL;
    }
    m->d_out = d_out;
    /* self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias) */
    hd_register_module(self, "W_query", &m->W_query, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_key", &m->W_key, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_value", &m->W_value, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "dropout", &m->dropout, hd_dropout_new(dropout, false));
    /* self.register_buffer('mask',
     *     torch.triu(torch.ones(context_length, context_length), diagonal=1)) */
    hd_register_buffer(self, "mask", &m->mask,
                       hd_triu(hd_ones(HD_FLOAT32, context_length, context_length), 1), true);
    return hd_module_ready(self);
}

static hd_tensor *causal_attention_forward(hd_module *self,
                                           hd_tensor *x) /* (b, num_tokens, d_in) */
{
    causal_attention *m = (causal_attention *)self;

    /* b, num_tokens, d_in = x.shape; the lines below need num_tokens only */
    int64_t num_tokens = hd_size(x, 1);
    hd_tensor *keys = hd_forward(m->W_key, x);      /* (b, num_tokens, d_out) */
    hd_tensor *queries = hd_forward(m->W_query, x); /* (b, num_tokens, d_out) */
    hd_tensor *values = hd_forward(m->W_value, x);  /* (b, num_tokens, d_out) */

    /* attn_scores = queries @ keys.transpose(1, 2): (b, num_tokens, num_tokens) */
    hd_tensor *attn_scores = hd_matmul(queries, hd_transpose(keys, 1, 2));
    /* attn_scores.masked_fill_(self.mask.bool()[:num_tokens, :num_tokens], -torch.inf) */
    hd_tensor *mask = hd_to(m->mask, HD_BOOL); /* (context_length, context_length) */
    mask = hd_slice(hd_slice(mask, 0, 0, num_tokens), 1, 0, num_tokens);
    hd_masked_fill_(attn_scores, mask, -INFINITY);

    /* attn_weights = torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1) */
    hd_tensor *attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1);
    attn_weights = hd_forward(m->dropout, attn_weights); /* (b, num_tokens, num_tokens) */

    hd_tensor *context_vec = hd_matmul(attn_weights, values); /* (b, num_tokens, d_out) */
    return context_vec;
}

/* ---------------------------------------------------------------- ru In [8] */

/* class MultiHeadAttentionWrapper(nn.Module): */
static hd_tensor *multi_head_attention_wrapper_forward(hd_module *self, hd_tensor *x);

hd_module *multi_head_attention_wrapper_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                            double dropout, int64_t num_heads, bool qkv_bias)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(multi_head_attention_wrapper, "MultiHeadAttentionWrapper",
                       multi_head_attention_wrapper_forward);
    hd_module *self = hd_module_new(&type); /* super().__init__() */
    multi_head_attention_wrapper *m = (multi_head_attention_wrapper *)self;
    if (!m) {
        return NULL;
    }
    /* self.heads = nn.ModuleList(
     *     [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
     *      for _ in range(num_heads)]) */
    hd_module *heads = hd_module_list_n(0, NULL);
    for (int64_t i = 0; i < num_heads; i++) {
        hd_module_list_append(heads,
                              causal_attention_new(d_in, d_out, context_length, dropout, qkv_bias));
    }
    hd_register_module(self, "heads", &m->heads, hd_module_ready(heads));
    return hd_module_ready(self);
}

static hd_tensor *multi_head_attention_wrapper_forward(hd_module *self,
                                                       hd_tensor *x) /* (b, num_tokens, d_in) */
{
    multi_head_attention_wrapper *m = (multi_head_attention_wrapper *)self;

    /* return torch.cat([head(x) for head in self.heads], dim=-1) */
    hd_list *outs = hd_list_n(0, NULL); /* (b, num_tokens, d_out) each */
    for (int64_t i = 0; i < hd_module_list_len(m->heads); i++) {
        hd_list_append(outs, hd_forward(hd_module_list_get(m->heads, i), x));
    }
    return hd_cat_list(outs, -1); /* (b, num_tokens, num_heads * d_out) */
}

/* ---------------------------------------------------------------- ru In [9] */

/* class MultiHeadAttention(nn.Module): */
static hd_tensor *multi_head_attention_forward(hd_module *self, hd_tensor *x);

hd_module *multi_head_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                    double dropout, int64_t num_heads, bool qkv_bias)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(multi_head_attention, "MultiHeadAttention", multi_head_attention_forward);
    hd_module *self = hd_module_new(&type); /* super().__init__() */
    multi_head_attention *m = (multi_head_attention *)self;
    if (!m) {
        return NULL;
    }
    /* assert d_out % num_heads == 0, "d_out must be divisible by num_heads" */
    if (num_heads < 1 || d_out % num_heads != 0) {
        hd_module_free(self);
        return hd_error_set(
            HD_VALUE, "multi_head_attention_new: d_out %lld must be divisible by num_heads %lld",
            (long long)d_out, (long long)num_heads);
    }

    m->d_out = d_out;
    m->num_heads = num_heads;
    m->head_dim = d_out / num_heads;
    /* self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias) */
    hd_register_module(self, "W_query", &m->W_query, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_key", &m->W_key, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "W_value", &m->W_value, hd_linear_new(d_in, d_out, qkv_bias));
    hd_register_module(self, "out_proj", &m->out_proj, hd_linear_new(d_out, d_out, true));
    hd_register_module(self, "dropout", &m->dropout, hd_dropout_new(dropout, false));
    /* self.register_buffer('mask',
     *     torch.triu(torch.ones(context_length, context_length), diagonal=1)) */
    hd_register_buffer(self, "mask", &m->mask,
                       hd_triu(hd_ones(HD_FLOAT32, context_length, context_length), 1), true);
    return hd_module_ready(self);
}

static hd_tensor *multi_head_attention_forward(hd_module *self,
                                               hd_tensor *x) /* (b, num_tokens, d_in) */
{
    multi_head_attention *m = (multi_head_attention *)self;

    int64_t b = hd_size(x, 0), num_tokens = hd_size(x, 1); /* b, num_tokens, d_in = x.shape */
    hd_tensor *keys = hd_forward(m->W_key, x);             /* (b, num_tokens, d_out) */
    hd_tensor *queries = hd_forward(m->W_query, x);        /* (b, num_tokens, d_out) */
    hd_tensor *values = hd_forward(m->W_value, x);         /* (b, num_tokens, d_out) */

    /* (b, num_tokens, num_heads, head_dim) */
    keys = hd_view(keys, b, num_tokens, m->num_heads, m->head_dim);
    values = hd_view(values, b, num_tokens, m->num_heads, m->head_dim);
    queries = hd_view(queries, b, num_tokens, m->num_heads, m->head_dim);

    /* (b, num_heads, num_tokens, head_dim) */
    keys = hd_transpose(keys, 1, 2);
    queries = hd_transpose(queries, 1, 2);
    values = hd_transpose(values, 1, 2);

    /* attn_scores = queries @ keys.transpose(2, 3): (b, num_heads, num_tokens, num_tokens) */
    hd_tensor *attn_scores = hd_matmul(queries, hd_transpose(keys, 2, 3));
    /* mask_bool = self.mask.bool()[:num_tokens, :num_tokens] */
    hd_tensor *mask_bool = hd_to(m->mask, HD_BOOL); /* (context_length, context_length) */
    mask_bool = hd_slice(hd_slice(mask_bool, 0, 0, num_tokens), 1, 0, num_tokens);

    /* attn_scores.masked_fill_(mask_bool, -torch.inf) */
    hd_masked_fill_(attn_scores, mask_bool, -INFINITY);

    /* attn_weights = torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1) */
    hd_tensor *attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1);
    attn_weights = hd_forward(m->dropout, attn_weights);

    /* context_vec = (attn_weights @ values).transpose(1, 2) */
    /* (b, num_tokens, num_heads, head_dim) */
    hd_tensor *context_vec = hd_transpose(hd_matmul(attn_weights, values), 1, 2);

    /* context_vec = context_vec.contiguous().view(b, num_tokens, self.d_out) */
    context_vec = hd_view(hd_contiguous(context_vec), b, num_tokens, m->d_out);
    context_vec = hd_forward(m->out_proj, context_vec); /* (b, num_tokens, d_out) */
    return context_vec;
}
