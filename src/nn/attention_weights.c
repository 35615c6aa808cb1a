/* attention_weights.c - the common functions of the attention classes in the two notebooks
 * (README.md): checks of arguments, the causal mask, attention under a mask, and
 * hd_attention_keep_weights. */
#include "nn/attention_weights.h"
#include "nn/layers.h"
#include "nn/module_args.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- arguments */

bool hd__nn_attention_args(int64_t d_in, int64_t d_out, int64_t context_length, double dropout,
                           int64_t num_heads)
{
    return hd__nn_size_arg("d_in", d_in, 0) && hd__nn_size_arg("d_out", d_out, 0) &&
           hd__nn_size_arg("context_length", context_length, 0) &&
           hd__nn_probability_arg("dropout", dropout) && hd__nn_size_arg("num_heads", num_heads, 1);
}

bool hd__nn_tokens_arg(const hd__nn_attention *m, hd_tensor *x)
{
    int64_t context_length = hd_size(m->mask, 0);
    return (hd_ndim(x) == 3 ||
            hd_fail(HD_SHAPE, "x %s: expected (b, num_tokens, d_in)", HD__DIMS(x))) &&
           (hd_size(x, 1) <= context_length ||
            hd_fail(HD_SHAPE, "x %s: num_tokens %" PRId64 " is more than context_length %" PRId64,
                    HD__DIMS(x), hd_size(x, 1), context_length));
}

hd_module *hd__nn_attention_blank(const hd_module_type *type, int64_t d_in, int64_t d_out,
                                  bool qkv_bias)
{
    hd__nn_attention *m = (hd__nn_attention *)hd_module_new(type);
    if (!m) {
        return NULL;
    }
    const char *const names[] = {"W_query", "W_key", "W_value"};
    hd_module **const fields[] = {&m->W_query, &m->W_key, &m->W_value};
    for (int i = 0; i < 3 && !m->base.priv->failed; i++) {
        hd_register_module(&m->base, names[i], fields[i],
                           hd__nn_linear_blank(&hd__nn_linear_type, d_in, d_out, qkv_bias));
    }
    return &m->base;
}

hd__nn_projected hd__nn_project(const hd__nn_attention *m, hd_tensor *x)
{
    hd__nn_projected p;
    p.keys = hd_forward(m->W_key, x);
    p.queries = hd_forward(m->W_query, x);
    p.values = hd_forward(m->W_value, x);
    return p;
}

/* Returns triu(ones(n, n), diagonal=1): 1 where the token of column j is later than that of row i,
 * and 0 elsewhere. */
static hd_tensor *causal_mask(int64_t n)
{
    hd_tensor *mask = hd_empty(HD_FLOAT32, n, n);
    float *x = mask ? hd_data_mut(mask) : NULL;
    for (int64_t i = 0; x && i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            *x++ = j > i;
        }
    }
    return mask;
}

void hd__nn_register_mask(hd__nn_attention *m, double dropout, int64_t n)
{
    hd_register_module(&m->base, "dropout", &m->dropout, hd_dropout_new(dropout, false));
    if (!m->base.priv->failed) {
        hd_scope *scope = hd_scope_open();
        hd_register_buffer(&m->base, "mask", &m->mask, scope ? causal_mask(n) : NULL, true);
        hd_scope_close(scope);
    }
}

/* ---------------------------------------------------------------- attention */

/* True if the n numbers at x, of `size` bytes each, are equal bit by bit. */
static bool all_same(const char *x, int64_t n, size_t size)
{
    return n < 2 || memcmp(x, x + size, (size_t)(n - 1) * size) == 0;
}

/* True if for each of the tokens first to n - 1 the mask masks the later tokens, and no others;
 * false for any mask that is not contiguous. Every call reads the mask again, because a stored
 * answer would be a data race between threads. */
static bool hides_what_follows(const hd_tensor *mask, int64_t first, int64_t n)
{
    size_t size = (size_t)hd_dtype_size(hd_dtype_of(mask));
    int64_t row = hd_size(mask, 1);
    bool hides = hd_is_contiguous(mask);
    for (int64_t i = first; hides && i < n; i++) {
        static const char zero[8];
        const char *x = (const char *)hd_data(mask) + (size_t)(i * row) * size;
        const char *next = x + (size_t)(i + 1) * size;
        hides = memcmp(x, zero, size) == 0 && all_same(x, i + 1, size) &&
                (i + 1 == n || (memcmp(next, zero, size) != 0 && all_same(next, n - i - 1, size)));
    }
    return hides;
}

/* Returns a view (n - first, n) of the mask: the rows of the tokens first to n - 1. */
static hd_tensor *mask_part(hd_tensor *mask, int64_t first, int64_t n)
{
    return hd_slice(hd_slice(mask, 0, first, n), 1, 0, n);
}

/* Stores attn_weights in m->weights if m->keep is set. Returns attn_weights, or NULL on error. */
static hd_tensor *keep_weights(hd__nn_attention *m, hd_tensor *attn_weights)
{
    bool ok = !m->keep || hd_assign(&m->weights, hd_detach(attn_weights));
    return ok ? attn_weights : NULL;
}

hd_tensor *hd__nn_weigh(hd__nn_attention *m, hd_tensor *attn_scores, hd_tensor *keys,
                        hd_tensor *values)
{
    hd_tensor *attn_weights =
        hd_softmax(hd_div_scalar(attn_scores, sqrt((double)hd_size(keys, -1))), -1);
    attn_weights = m->dropout ? hd_forward(m->dropout, attn_weights) : attn_weights;
    return hd_matmul(keep_weights(m, attn_weights), values);
}

hd_tensor *hd__nn_masked_attention(hd__nn_attention *m, hd__nn_projected p, int64_t first)
{
    int64_t num_tokens = hd_size(p.queries, -2), n = first + num_tokens;
    double dropout_p = hd__nn_dropout_now(m->dropout);
    if (!hd_fused_attention() || hd_size(p.keys, -1) == 0 || dropout_p < 0) {
        hd_tensor *attn_scores = hd_matmul(p.queries, hd_transpose(p.keys, -2, -1));
        hd_tensor *mask = hd_to(mask_part(m->mask, first, n), HD_BOOL); /* (num_tokens, n) */
        attn_scores = hd_masked_fill_(attn_scores, mask, -INFINITY);
        return hd__nn_weigh(m, attn_scores, p.keys, p.values);
    }
    hd_attention_options o = hd_attention_defaults();
    o.safe_softmax = false;
    o.dropout_p = dropout_p;
    bool causal = hides_what_follows(m->mask, first, n);
    o.is_causal = causal && first == 0;
    if (!o.is_causal && !(causal && num_tokens == 1)) {
        o.attn_mask = hd_eq_scalar(mask_part(m->mask, first, n), 0);
    }
    hd_tensor *weights = NULL;
    hd_tensor *y = hd_scaled_dot_product_attention_with(p.queries, p.keys, p.values, &o,
                                                        m->keep ? &weights : NULL);
    return keep_weights(m, weights) || !m->keep ? y : NULL;
}

/* ---------------------------------------------------------------- kept weights */

void hd__nn_attention_free(hd_module *self)
{
    hd_release(((hd__nn_attention *)self)->weights);
}

/* Checks that m's struct begins with hd__nn_attention: only such a module has hd__nn_attention_free
 * as the `free` function of its type. Otherwise returns false with an error. */
static bool keeps_weights(const hd_module *m)
{
    return hd__object("m", m) &&
           (m->type->free == hd__nn_attention_free ||
            hd_fail(HD_VALUE,
                    "m is a %s: expected a SelfAttention_v1, SelfAttention_v2, "
                    "CausalAttention or MultiHeadAttention",
                    m->type->name));
}

bool hd_attention_keep_weights(hd_module *m, bool keep)
{
    HD__CALL("hd_attention_keep_weights");
    if (!keeps_weights(m)) {
        return false;
    }
    hd__nn_attention *self = (hd__nn_attention *)m;
    self->keep = keep;
    return keep || hd_assign(&self->weights, HD_NONE);
}

/* Returns a new alias of the weights, which stays unchanged when the next forward replaces
 * m->weights. */
hd_tensor *hd_attention_weights(const hd_module *m)
{
    HD__CALL("hd_attention_weights");
    if (!keeps_weights(m)) {
        return NULL;
    }
    hd_tensor *weights = ((const hd__nn_attention *)m)->weights;
    return weights && weights != HD_NONE ? hd_detach(weights) : HD_NONE;
}
