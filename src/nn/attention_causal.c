/* attention_causal.c - CausalAttention, MultiHeadAttentionWrapper and MultiHeadAttention, line for
 * line as in the notebooks (README.md): a mask prevents each token from attending to later ones. */
#include "nn/attention_causal.h"
#include "nn/layers.h"
#include "nn/module_args.h"

/* ---------------------------------------------------------------- CausalAttention */

/* Takes x (b, num_tokens, d_in), and returns (b, num_tokens, d_out). */
static hd_tensor *causal_attention_forward(hd_module *self, hd_tensor *x)
{
    hd__nn_attention *m = (hd__nn_attention *)self;
    return hd__nn_tokens_arg(m, x) ? hd__nn_masked_attention(m, hd__nn_project(m, x), 0) : NULL;
}

static const hd_module_type causal_attention_type = HD_MODULE_TYPE(
    hd__nn_attention, "CausalAttention", causal_attention_forward, hd__nn_attention_free);

/* Returns a CausalAttention with undefined values, which are drawn later (module.h); NULL on
 * error. */
static hd_module *causal_attention_blank(int64_t d_in, int64_t d_out, int64_t context_length,
                                         double dropout, bool qkv_bias)
{
    hd_module *m = hd__nn_attention_blank(&causal_attention_type, d_in, d_out, qkv_bias);
    if (!m) {
        return NULL;
    }
    hd__nn_register_mask((hd__nn_attention *)m, dropout, context_length);
    return hd_module_ready(m);
}

hd_module *hd_causal_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                   double dropout, bool qkv_bias)
{
    HD__CALL("hd_causal_attention_new");
    bool ok = hd__nn_attention_args(d_in, d_out, context_length, dropout, 1);
    return ok ? hd__module_drawn(
                    causal_attention_blank(d_in, d_out, context_length, dropout, qkv_bias), NULL)
              : NULL;
}

/* ---------------------------------------------------------------- MultiHeadAttentionWrapper */

typedef struct multi_head_attention_wrapper {
    hd_module base;
    hd_module *heads; /* ModuleList of CausalAttention */
} multi_head_attention_wrapper;

static hd_tensor *wrapper_forward(hd_module *self, hd_tensor *x) /* x (b, num_tokens, d_in) */
{
    multi_head_attention_wrapper *m = (multi_head_attention_wrapper *)self;
    hd_list *outs = hd_list_n(0, NULL); /* (b, num_tokens, d_out) each */
    bool ok = outs;
    for (int64_t i = 0; ok && i < hd_module_list_len(m->heads); i++) {
        ok = hd_list_append(outs, hd_forward(hd_module_list_get(m->heads, i), x));
    }
    return ok ? hd_cat_list(outs, -1) : NULL; /* (b, num_tokens, num_heads * d_out) */
}

static const hd_module_type wrapper_type =
    HD_MODULE_TYPE(multi_head_attention_wrapper, "MultiHeadAttentionWrapper", wrapper_forward);

hd_module *hd_multi_head_attention_wrapper_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                               double dropout, int64_t num_heads, bool qkv_bias)
{
    HD__CALL("hd_multi_head_attention_wrapper_new");
    if (!hd__nn_attention_args(d_in, d_out, context_length, dropout, num_heads)) {
        return NULL;
    }
    hd_module *m = hd_module_new(&wrapper_type);
    if (!m) {
        return NULL;
    }
    multi_head_attention_wrapper *self = (multi_head_attention_wrapper *)m;
    hd_register_module(m, "heads", &self->heads, hd_module_list_n(0, NULL));
    for (int64_t i = 0; !m->priv->failed && i < num_heads; i++) {
        hd_module *head = causal_attention_blank(d_in, d_out, context_length, dropout, qkv_bias);
        m->priv->failed = !hd_module_list_append(self->heads, head);
    }
    return hd__module_drawn(m, NULL);
}

/* ---------------------------------------------------------------- MultiHeadAttention */

/* Returns x (b, num_tokens, d_out) as (b, num_heads, num_tokens, head_dim). */
static hd_tensor *heads_of(const hd__nn_multi_head_attention *m, hd_tensor *x)
{
    x = hd_view(x, hd_size(x, 0), hd_size(x, 1), m->num_heads, m->d_out / m->num_heads);
    return hd_transpose(x, 1, 2);
}

hd__nn_projected hd__nn_project_heads(const hd__nn_multi_head_attention *m, hd_tensor *x)
{
    hd__nn_projected p = hd__nn_project(&m->base, x); /* (b, num_tokens, d_out) */
    p.keys = heads_of(m, p.keys);                     /* (b, num_heads, num_tokens, head_dim) */
    p.queries = heads_of(m, p.queries);
    p.values = heads_of(m, p.values);
    return p;
}

hd_tensor *hd__nn_attend(hd__nn_multi_head_attention *m, hd__nn_projected p, int64_t first)
{
    hd_tensor *context_vec = hd__nn_masked_attention(&m->base, p, first);
    int64_t b = hd_size(p.queries, 0), num_tokens = hd_size(p.queries, 2);
    /* Fused attention gives its result the strides of the queries, so hd_contiguous then copies
     * nothing. */
    context_vec = hd_contiguous(hd_transpose(context_vec, 1, 2));
    context_vec = hd_view(context_vec, b, num_tokens, m->d_out);
    return hd_forward(m->out_proj, context_vec);
}

/* Takes x (b, num_tokens, d_in), and returns (b, num_tokens, d_out). */
static hd_tensor *multi_head_attention_forward(hd_module *self, hd_tensor *x)
{
    hd__nn_multi_head_attention *m = (hd__nn_multi_head_attention *)self;
    return hd__nn_tokens_arg(&m->base, x) ? hd__nn_attend(m, hd__nn_project_heads(m, x), 0) : NULL;
}

const hd_module_type hd__nn_multi_head_attention_type =
    HD_MODULE_TYPE(hd__nn_multi_head_attention, "MultiHeadAttention", multi_head_attention_forward,
                   hd__nn_attention_free);

hd_module *hd_multi_head_attention_new(int64_t d_in, int64_t d_out, int64_t context_length,
                                       double dropout, int64_t num_heads, bool qkv_bias)
{
    HD__CALL("hd_multi_head_attention_new");
    if (!hd__nn_attention_args(d_in, d_out, context_length, dropout, num_heads) ||
        !hd__nn_heads_arg("d_out", d_out, num_heads)) {
        return NULL;
    }
    hd_module *m = hd__nn_attention_blank(&hd__nn_multi_head_attention_type, d_in, d_out, qkv_bias);
    if (!m) {
        return NULL;
    }
    hd__nn_multi_head_attention *self = (hd__nn_multi_head_attention *)m;
    self->d_out = d_out;
    self->num_heads = num_heads;
    hd_register_module(m, "out_proj", &self->out_proj,
                       hd__nn_linear_blank(&hd__nn_linear_type, d_out, d_out, true));
    hd__nn_register_mask(&self->base, dropout, context_length);
    return hd__module_drawn(m, NULL);
}
