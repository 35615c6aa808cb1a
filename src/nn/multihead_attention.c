/* multihead_attention.c - torch.nn.MultiheadAttention, which packs the weights of its three
 * projections into one.
 *
 * Internally, tensors are (sequence, batch, embed_dim). For the attention itself, the heads of
 * all b sequences of a batch form one dimension of b * num_heads. In shapes, l is the number of
 * queries, and s the number of keys. With need_weights, heed computes the softmax itself, and a
 * query whose keys are all masked gives NaN. Without need_weights, as in hd_forward, heed calls
 * hd_scaled_dot_product_attention_with, and such a query gives 0. PyTorch 2.13 does the same in
 * training. */
#include "nn/layers.h"
#include "nn/module_args.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct multihead_attention {
    hd_module base;
    /* (3E, E), where E is embed_dim, if kdim and vdim are E, too; the next three weights are then
     * HD_NONE. Otherwise they are used, and in_proj_weight is HD_NONE. */
    hd_tensor *in_proj_weight;
    hd_tensor *q_proj_weight, *k_proj_weight, *v_proj_weight; /* (E, E), (E, kdim), (E, vdim) */
    hd_tensor *in_proj_bias;                                  /* (3E,), or HD_NONE */
    hd_tensor *bias_k, *bias_v;                               /* (1, 1, E), or HD_NONE */
    hd_module *out_proj;
    int64_t embed_dim, num_heads, kdim, vdim;
    double dropout;
    bool batch_first, add_zero_attn;
} multihead_attention;

typedef hd_multihead_attention_args call_args;

/* ---------------------------------------------------------------- arguments of a call */

static bool rank_ok(const hd_tensor *query, const hd_tensor *key, const hd_tensor *value)
{
    int rank = hd_ndim(query);
    return (rank == 2 || rank == 3 ||
            hd_fail(HD_SHAPE, "query %s: expected 2 dimensions, or 3 with a batch",
                    HD__DIMS(query))) &&
           ((hd_ndim(key) == rank && hd_ndim(value) == rank) ||
            hd_fail(HD_SHAPE, "query %s, key %s, value %s: expected %d dimensions each",
                    HD__DIMS(query), HD__DIMS(key), HD__DIMS(value), rank));
}

static bool input_ok(const multihead_attention *m, const char *arg, const hd_tensor *x,
                     const char *width_name, int64_t width)
{
    const hd_tensor *w = m->in_proj_weight == HD_NONE ? m->q_proj_weight : m->in_proj_weight;
    return (hd_size(x, -1) == width ||
            hd_fail(HD_SHAPE, "%s %s: expected the last size to be %s, %" PRId64, arg, HD__DIMS(x),
                    width_name, width)) &&
           (hd_dtype_of(x) == hd_dtype_of(w) ||
            hd_fail(HD_DTYPE, "%s of %s: expected %s, as the weights of m", arg,
                    hd_dtype_name(hd_dtype_of(x)), hd_dtype_name(hd_dtype_of(w))));
}

static bool mask_dtype_ok(const char *arg, const hd_tensor *mask, hd_dtype query)
{
    hd_dtype d = hd_dtype_of(mask);
    return d == HD_BOOL || d == query ||
           hd_fail(HD_DTYPE, "%s of %s: expected bool, or query's %s", arg, hd_dtype_name(d),
                   hd_dtype_name(query));
}

static bool masks_ok(const multihead_attention *m, const call_args *a, hd_dtype query, bool batched,
                     int64_t b, int64_t l, int64_t s)
{
    if (a->key_padding_mask != HD_NONE) {
        const int64_t sizes[] = {b, s}, *want = batched ? sizes : sizes + 1;
        int n = batched ? 2 : 1;
        if (!hd__nn_sizes_are(a->key_padding_mask, n, want)) {
            return hd_fail(HD_SHAPE, "key_padding_mask %s: expected %s",
                           HD__DIMS(a->key_padding_mask), HD__SIZES(n, want));
        }
    }
    if (a->attn_mask != HD_NONE) {
        const int64_t sizes[] = {b * m->num_heads, l, s};
        if (!hd__nn_sizes_are(a->attn_mask, 2, sizes + 1) &&
            !hd__nn_sizes_are(a->attn_mask, 3, sizes)) {
            return hd_fail(HD_SHAPE, "attn_mask %s: expected %s or %s", HD__DIMS(a->attn_mask),
                           HD__SIZES(2, sizes + 1), HD__SIZES(3, sizes));
        }
    }
    return (!a->is_causal || a->attn_mask != HD_NONE ||
            hd_fail(HD_VALUE, "is_causal without attn_mask: expected an attn_mask")) &&
           (a->key_padding_mask == HD_NONE ||
            mask_dtype_ok("key_padding_mask", a->key_padding_mask, query)) &&
           (a->attn_mask == HD_NONE || mask_dtype_ok("attn_mask", a->attn_mask, query));
}

static void warn_two_kinds(const call_args *a)
{
    hd_tensor *padding = a->key_padding_mask, *attn = a->attn_mask;
    if (padding != HD_NONE && attn != HD_NONE && hd_dtype_of(padding) != hd_dtype_of(attn)) {
        hd_warn("key_padding_mask is %s and attn_mask is %s. Use one dtype for both, as PyTorch "
                "asks",
                hd_dtype_name(hd_dtype_of(padding)), hd_dtype_name(hd_dtype_of(attn)));
    }
}

static bool call_ok(const multihead_attention *m, const hd_tensor *query, const hd_tensor *key,
                    const hd_tensor *value, const call_args *a)
{
    HD__CALL("hd_multihead_attention"); /* errors begin with this name, even in hd_forward */
    if (!rank_ok(query, key, value) || !input_ok(m, "query", query, "embed_dim", m->embed_dim) ||
        !input_ok(m, "key", key, "kdim", m->kdim) ||
        !input_ok(m, "value", value, "vdim", m->vdim)) {
        return false;
    }
    bool batched = hd_ndim(query) == 3;
    int seq = batched && m->batch_first ? 1 : 0, batch = 1 - seq;
    int64_t l = hd_size(query, seq), s = hd_size(key, seq);
    int64_t b = batched ? hd_size(query, batch) : 1;
    if (hd_size(value, seq) != s ||
        (batched && (hd_size(key, batch) != b || hd_size(value, batch) != b))) {
        return hd_fail(HD_SHAPE,
                       "query %s, key %s, value %s: expected the same batch in all, and key "
                       "and value of the same length",
                       HD__DIMS(query), HD__DIMS(key), HD__DIMS(value));
    }
    return masks_ok(m, a, hd_dtype_of(query), batched, b, l, s);
}

/* ---------------------------------------------------------------- masks */

/* Returns the mask in the form that is added to the scores: a bool mask becomes -inf where it is
 * true, and 0 elsewhere. */
static hd_tensor *additive(hd_tensor *mask, hd_dtype d)
{
    return hd_dtype_of(mask) == HD_BOOL ? hd_masked_fill(hd_zeros_like(mask, d), mask, -INFINITY)
                                        : mask;
}

/* Returns the mask with `more` columns of 0 appended, for the keys that add_bias_kv and
 * add_zero_attn append. */
static hd_tensor *widen_mask(hd_tensor *mask, int64_t more)
{
    if (more == 0 || !mask) {
        return mask;
    }
    int64_t sizes[HD_MAX_DIMS];
    int n = hd_ndim(mask);
    memcpy(sizes, hd_sizes(mask), (size_t)n * sizeof *sizes);
    sizes[n - 1] = more;
    return hd_cat(-1, mask, hd_zeros_n(hd_dtype_of(mask), n, sizes));
}

/* True if the call ignores attn_mask because is_causal is set. As in PyTorch, it does so only if
 * need_weights is false and there is no key_padding_mask. */
static bool only_causal(const call_args *a)
{
    return a->is_causal && !a->need_weights && a->key_padding_mask == HD_NONE;
}

/* Returns the sum of both masks, which is added to the scores and broadcasts to (b * num_heads, l,
 * s). Returns HD_NONE if there is no mask, or if only_causal is true. s includes the `more`
 * appended keys. */
static hd_tensor *merged_mask(const multihead_attention *m, const call_args *a, hd_dtype d,
                              int64_t b, int64_t s, int64_t more)
{
    hd_tensor *attn = a->attn_mask, *padding = a->key_padding_mask;
    if (only_causal(a)) {
        return HD_NONE;
    }
    if (attn != HD_NONE) {
        attn = widen_mask(additive(attn, d), more); /* (l, s) or (b * num_heads, l, s) */
    }
    if (padding == HD_NONE) {
        return attn;
    }
    padding = widen_mask(additive(padding, d), more);
    padding = hd_expand(hd_view(padding, b, 1, 1, s), b, m->num_heads, 1, s);
    padding = hd_reshape(padding, b * m->num_heads, 1, s);
    return attn == HD_NONE ? padding : hd_add(attn, padding);
}

/* ---------------------------------------------------------------- forward */

/* Projects in[] = {query, key, value}, (n, b, width) each, to out[], (n, b, E) each. E is
 * embed_dim. */
static void project(const multihead_attention *m, hd_tensor *const *in, hd_tensor **out)
{
    int64_t e = m->embed_dim;
    bool packed = m->in_proj_weight != HD_NONE, biased = m->in_proj_bias != HD_NONE;
    if (packed && in[0] == in[1] && in[1] == in[2]) {
        hd_list *qkv = hd_split(hd_linear(in[0], m->in_proj_weight, m->in_proj_bias), e, -1);
        for (int i = 0; i < 3; i++) {
            out[i] = hd_list_get(qkv, i);
        }
        return;
    }
    hd_tensor *const separate[] = {m->q_proj_weight, m->k_proj_weight, m->v_proj_weight};
    for (int i = 0; i < 3; i++) {
        hd_tensor *w = packed ? hd_narrow(m->in_proj_weight, 0, i * e, e) : separate[i];
        hd_tensor *bias = biased ? hd_narrow(m->in_proj_bias, 0, i * e, e) : HD_NONE;
        out[i] = hd_linear(in[i], w, bias);
    }
}

/* Returns x (n, b, E) as (b * num_heads, n, head_dim). */
static hd_tensor *split_heads(const multihead_attention *m, hd_tensor *x)
{
    int64_t n = hd_size(x, 0), b = hd_size(x, 1);
    return hd_transpose(hd_reshape(x, n, b * m->num_heads, m->embed_dim / m->num_heads), 0, 1);
}

/* Splits the keys or values x (n, b, E) into heads: returns (b * num_heads, n + more, head_dim).
 * `more` is the number of rows that are appended to each sequence: the row `bias` (1, 1, E) unless
 * it is HD_NONE (add_bias_kv), and a row of zeros if add_zero_attn is set. */
static hd_tensor *key_heads(const multihead_attention *m, hd_tensor *x, hd_tensor *bias)
{
    if (bias != HD_NONE) {
        x = hd_cat(0, x, hd_expand(bias, 1, hd_size(x, 1), -1));
    }
    x = split_heads(m, x);
    if (m->add_zero_attn && x) {
        x = hd_cat(1, x, hd_zeros(hd_dtype_of(x), hd_size(x, 0), 1, hd_size(x, 2)));
    }
    return x;
}

/* Returns softmax(q @ k^T / sqrt(head_dim) + mask) @ v (b * num_heads, l, head_dim); NULL on error.
 * With need_weights, sets *weights to the softmax after dropout. Without need_weights, the
 * attention is fused. */
static hd_tensor *packed_attention(const multihead_attention *m, hd_tensor *q, hd_tensor *k,
                                   hd_tensor *v, hd_tensor *mask, const call_args *a,
                                   hd_tensor **weights)
{
    bool training = hd_module_training(&m->base);
    if (!a->need_weights) {
        hd_attention_options o = hd_attention_defaults();
        o.dropout_p = training ? m->dropout : 0;
        o.is_causal = only_causal(a);
        o.attn_mask = mask;
        return hd_scaled_dot_product_attention_with(q, k, v, &o, NULL);
    }
    q = hd_mul_scalar(q, sqrt(1.0 / (double)(m->embed_dim / m->num_heads)));
    hd_tensor *scores = hd_matmul(q, hd_transpose(k, -2, -1)); /* (b * num_heads, l, s) */
    hd_tensor *w = hd_softmax(mask == HD_NONE ? scores : hd_add(scores, mask), -1);
    *weights = hd_dropout(w, m->dropout, training);
    return hd_matmul(*weights, v);
}

/* Returns the output (l, b, E) for in[] = {query, key, value}, (n, b, width) each; NULL on error.
 * With need_weights, sets *weights to the weights (b * num_heads, l, s). */
static hd_tensor *attend(const multihead_attention *m, hd_tensor *const *in, const call_args *a,
                         hd_tensor **weights)
{
    hd_tensor *qkv[3];
    project(m, in, qkv);
    int64_t l = hd_size(in[0], 0), b = hd_size(in[0], 1), e = m->embed_dim;
    int64_t more = (m->bias_k != HD_NONE) + m->add_zero_attn, s = hd_size(in[1], 0) + more;
    hd_tensor *q = split_heads(m, qkv[0]); /* (b * num_heads, l, head_dim) */
    hd_tensor *k = key_heads(m, qkv[1], m->bias_k), *v = key_heads(m, qkv[2], m->bias_v);
    hd_tensor *mask = merged_mask(m, a, hd_dtype_of(in[0]), b, s, more);
    hd_tensor *y = packed_attention(m, q, k, v, mask, a, weights);
    y = hd_transpose(y, 0, 1); /* (l, b * num_heads, head_dim) */
    return hd_view(hd_forward(m->out_proj, hd_reshape(y, l * b, e)), l, b, e);
}

/* Returns the weights w (b * num_heads, l, s) as (b, num_heads, l, s), or averaged over the heads
 * as (b, l, s). Without a batch, removes the first dim. */
static hd_tensor *shaped_weights(const multihead_attention *m, hd_tensor *w, const call_args *a,
                                 bool batched)
{
    w = hd_view(w, hd_size(w, 0) / m->num_heads, m->num_heads, hd_size(w, 1), hd_size(w, 2));
    if (a->average_attn_weights) {
        w = hd_mean_dim(w, 1, false);
    }
    return batched ? w : hd_squeeze(w, 0);
}

/* Returns the attention for given[] = {query, key, value} in the caller's layout. Unless weights is
 * NULL, sets *weights to the attention weights, or to HD_NONE without need_weights. Returns NULL on
 * error. */
static hd_tensor *packed_run(const hd_module *self, hd_tensor *const *given, const call_args *a,
                             hd_tensor **weights)
{
    const multihead_attention *m = (const multihead_attention *)self;
    if (!call_ok(m, given[0], given[1], given[2], a)) {
        return NULL;
    }
    warn_two_kinds(a);
    bool batched = hd_ndim(given[0]) == 3;
    hd_tensor *in[3];
    for (int i = 0; i < 3; i++) {
        /* A tensor that is given twice stays one tensor, because project() compares pointers. */
        bool again = i > 0 && given[i] == given[i - 1];
        in[i] = again            ? in[i - 1]
                : !batched       ? hd_unsqueeze(given[i], 1)
                : m->batch_first ? hd_transpose(given[i], 0, 1)
                                 : given[i];
        if (!in[i]) {
            return NULL;
        }
    }
    hd_tensor *w = NULL, *y = attend(m, in, a, &w);
    if (weights) {
        *weights = a->need_weights ? shaped_weights(m, w, a, batched) : HD_NONE;
    }
    return !batched ? hd_squeeze(y, 1) : m->batch_first ? hd_transpose(y, 0, 1) : y;
}

hd_multihead_attention_args hd_multihead_attention_arg_defaults(void)
{
    return (hd_multihead_attention_args){.size = sizeof(hd_multihead_attention_args),
                                         .key_padding_mask = HD_NONE,
                                         .attn_mask = HD_NONE,
                                         .need_weights = true,
                                         .average_attn_weights = true};
}

static hd_tensor *multihead_attention_forward(hd_module *self, hd_tensor *x)
{
    call_args a = hd_multihead_attention_arg_defaults();
    a.need_weights = false;
    hd_tensor *const given[] = {x, x, x};
    return packed_run(self, given, &a, NULL);
}

static const hd_module_type multihead_attention_type =
    HD_MODULE_TYPE(multihead_attention, "MultiheadAttention", multihead_attention_forward);

hd_tensor *hd_multihead_attention(hd_module *m, hd_tensor *query, hd_tensor *key, hd_tensor *value,
                                  const hd_multihead_attention_args *a, hd_tensor **weights)
{
    HD__CALL("hd_multihead_attention");
    if (weights) {
        *weights = NULL;
    }
    call_args defaults = hd_multihead_attention_arg_defaults();
    a = a ? a : &defaults;
    if (!hd__nn_type_arg("m", m, &multihead_attention_type) ||
        !HD__SIZE_OK(a, "hd_multihead_attention_arg_defaults()") ||
        !hd__nn_tensor_given("query", query) || !hd__nn_tensor_given("key", key) ||
        !hd__nn_tensor_given("value", value) ||
        !hd__tensor_given("key_padding_mask", a->key_padding_mask, true) ||
        !hd__tensor_given("attn_mask", a->attn_mask, true) || !hd_forward_begin(m)) {
        return NULL;
    }
    hd_tensor *const given[] = {query, key, value};
    hd_tensor *w = HD_NONE, *y = packed_run(m, given, a, weights ? &w : NULL);
    w = hd_scope_return(w);
    y = hd_forward_end(m, y);
    if (weights) {
        *weights = y ? w : NULL;
    }
    return y;
}

/* ---------------------------------------------------------------- making */

hd_multihead_attention_options hd_multihead_attention_defaults(void)
{
    return (hd_multihead_attention_options){.size = sizeof(hd_multihead_attention_options),
                                            .bias = true};
}

static bool packed_options_ok(int64_t embed_dim, int64_t num_heads,
                              const hd_multihead_attention_options *o)
{
    return HD__SIZE_OK(o, "hd_multihead_attention_defaults()") &&
           hd__nn_size_arg("embed_dim", embed_dim, 1) &&
           hd__nn_size_arg("num_heads", num_heads, 1) &&
           hd__nn_probability_arg("dropout", o->dropout) && hd__nn_size_arg("kdim", o->kdim, 0) &&
           hd__nn_size_arg("vdim", o->vdim, 0) &&
           hd__nn_heads_arg("embed_dim", embed_dim, num_heads);
}

/* Registers all parameters in PyTorch's order. Their values are drawn later. */
static void register_blanks(multihead_attention *m, const hd_multihead_attention_options *o)
{
    hd_module *self = &m->base;
    int64_t e = m->embed_dim;
    bool packed = m->kdim == e && m->vdim == e, more = o->add_bias_kv;
    hd_register_module(self, "out_proj", &m->out_proj,
                       hd__nn_linear_blank(&hd__nn_packed_out_proj_type, e, e, o->bias));
    if (!m->out_proj) { /* e may be so large that 3 * e would overflow below */
        return;
    }
    hd__nn_register_blank(self, "in_proj_weight", &m->in_proj_weight, packed, 2,
                          (int64_t[]){3 * e, e});
    hd__nn_register_blank(self, "q_proj_weight", &m->q_proj_weight, !packed, 2, (int64_t[]){e, e});
    hd__nn_register_blank(self, "k_proj_weight", &m->k_proj_weight, !packed, 2,
                          (int64_t[]){e, m->kdim});
    hd__nn_register_blank(self, "v_proj_weight", &m->v_proj_weight, !packed, 2,
                          (int64_t[]){e, m->vdim});
    hd__nn_register_blank(self, "in_proj_bias", &m->in_proj_bias, o->bias, 1, (int64_t[]){3 * e});
    hd__nn_register_blank(self, "bias_k", &m->bias_k, more, 3, (int64_t[]){1, 1, e});
    hd__nn_register_blank(self, "bias_v", &m->bias_v, more, 3, (int64_t[]){1, 1, e});
}

/* Draws the values in PyTorch's order: out_proj first. As in PyTorch, its bias is drawn, too, and
 * set to 0 afterwards. Returns false with an error if a draw fails. */
static bool packed_draw(hd_module *self)
{
    multihead_attention *m = (multihead_attention *)self;
    hd_tensor *const weights[] = {m->in_proj_weight, m->q_proj_weight, m->k_proj_weight,
                                  m->v_proj_weight};
    hd_tensor *const biases[] = {m->bias_k, m->bias_v};
    bool ok = hd__module_draw(m->out_proj);
    for (int i = 0; i < 4 && ok; i++) {
        ok = weights[i] == HD_NONE || hd_init_xavier_uniform_(weights[i], 1);
    }
    for (int i = 0; i < 2 && ok; i++) {
        ok = biases[i] == HD_NONE || hd_init_xavier_normal_(biases[i], 1);
    }
    return ok &&
           (m->in_proj_bias == HD_NONE ||
            (hd_zero_(m->in_proj_bias) && hd_zero_(hd_module_get_parameter(m->out_proj, "bias"))));
}

hd_module *hd_multihead_attention_new(int64_t embed_dim, int64_t num_heads,
                                      const hd_multihead_attention_options *o)
{
    HD__CALL("hd_multihead_attention_new");
    hd_multihead_attention_options defaults = hd_multihead_attention_defaults();
    o = o ? o : &defaults;
    if (!packed_options_ok(embed_dim, num_heads, o)) {
        return NULL;
    }
    multihead_attention *m = (multihead_attention *)hd_module_new(&multihead_attention_type);
    if (!m) {
        return NULL;
    }
    m->embed_dim = embed_dim;
    m->num_heads = num_heads;
    m->kdim = o->kdim ? o->kdim : embed_dim;
    m->vdim = o->vdim ? o->vdim : embed_dim;
    m->dropout = o->dropout;
    m->batch_first = o->batch_first;
    m->add_zero_attn = o->add_zero_attn;
    register_blanks(m, o);
    return hd__module_drawn(&m->base, packed_draw);
}
