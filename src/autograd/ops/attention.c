/* attention.c - scaled_dot_product_attention: checks its arguments, chooses one of two paths, and
 * records the node.
 *
 * The fused path (attention_run.c) saves the inputs, the output, and log(sum(exp(score))) of each
 * row of scores. The composed path calls other ops. */
#include <math.h>
#include <stdatomic.h>

#include "autograd/record.h"
#include "base/random/bernoulli.h"
#include "base/random/draws.h"
#include "base/random/generator.h"
#include "tensor/attention_run.h"
#include "tensor/copy.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

typedef hd__attention_call attention_args;

/* With few keys, the fused path goes row by row. Up to this many multiplications, it is then faster
 * than the composed path, as measured with 8 and 16 features per head. */
enum { ROWS_PAY = 1 << 13 };

static atomic_bool fused = true;

void hd_set_fused_attention(bool on)
{
    atomic_store_explicit(&fused, on, memory_order_relaxed);
}

bool hd_fused_attention(void)
{
    return atomic_load_explicit(&fused, memory_order_relaxed);
}

/* ---------------------------------------------------------------- the call */

/* Writes the shape (c's batch dims, rows, cols) to sizes; leaves out cols if it is negative.
 * Returns the number of dims. */
static int sizes_of(const attention_args *c, int64_t rows, int64_t cols, int64_t *sizes)
{
    memcpy(sizes, c->batch, sizeof *sizes * (size_t)c->n_batch);
    sizes[c->n_batch] = rows;
    sizes[c->n_batch + 1] = cols;
    return c->n_batch + (cols < 0 ? 1 : 2);
}

/* Matrix products are written @. Dropout's factor m of each weight is 0 or 1 / keep.
 * w = softmax(scale * q @ k^T + mask),  y = (w * m) @ v,  ds = w * (m * (dy @ v^T) - sum(dy * y)):
 * dq += scale * ds @ k,  dk += scale * ds^T @ q,  dv += (w * m)^T @ dy */
static void attention_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const attention_args *c = hd__node_params(n);
    hd_tensor *x[HD__OPERANDS] = {NULL}, **made = &x[HD__DQ];
    for (int i = 0; i <= HD__SAVED; i++) {
        x[i] = hd__node_saved_get(n, i);
    }
    const hdk_head *h = &c->head;
    const int64_t rows[] = {h->l, h->s, h->s}, cols[] = {h->d, h->d, h->dv};
    for (int i = 0; i < 3; i++) {
        int64_t sizes[HD_MAX_DIMS];
        int ndim = sizes_of(c, rows[i], cols[i], sizes);
        made[i] = hd__tensor_laid_out_as(hd__tensor_empty(x[i]->dtype, ndim, sizes), x[i]);
    }
    x[HD__DOUT] = dy[0];
    if (made[0] && made[1] && made[2] && hd__attention_backward(c, x)) {
        memcpy(dx, made, 3 * sizeof *dx);
    }
}

static const hd__op flash_op =
    HD__OP("ScaledDotProductFlashAttentionForCpuBackward0", attention_backward);
static const hd__op attention_unsafe_view_op = HD__OP("UnsafeViewBackward0", attention_backward);
static const hd__op attention_mm_op = HD__OP("MmBackward0", attention_backward);

/* Returns the op whose name PyTorch shows as grad_fn. PyTorch's fused kernel takes only the cases
 * that `plain` describes. In the other cases PyTorch's last op is a matrix product or a view. */
static const hd__op *attention_op_for(const hd_tensor *q, const hd_tensor *k, const hd_tensor *v,
                                      const hd_tensor *mask, const attention_args *c)
{
    if (q->ndim == 2 && k->ndim == 2 && v->ndim == 2) {
        return &attention_mm_op;
    }
    bool plain = q->ndim == 4 && k->ndim == 4 && v->ndim == 4 && c->head.keep == 1 &&
                 c->head.d == c->head.dv && c->head.safe &&
                 (hd__tensor_is_none(mask) || mask->ndim == 2 || mask->ndim == 4);
    for (int i = 0; plain && i < 2; i++) {
        plain = q->sizes[i] == k->sizes[i] && k->sizes[i] == v->sizes[i];
    }
    plain = plain && q->strides[3] == 1 && k->strides[3] == 1 && v->strides[3] == 1;
    return plain ? &flash_op : &attention_unsafe_view_op;
}

/* Draws the random numbers for dropout. From the MCG31 stream, draws only a seed into c->head, and
 * sets *bits to HD_NONE. From the native stream, draws one bit for each score, and sets *bits to a
 * new tensor with them. Returns false with an error if memory runs out. */
static bool draw_bits(attention_args *c, hd_tensor **bits)
{
    enum { RUN = 4096 };
    hd_generator *g = hd_generator_current();
    hdk_head *h = &c->head;
    int64_t n = c->heads * h->l * h->s, bytes = (n + 7) / 8;
    *bits = HD_NONE;
    if (h->keep == 1 || h->keep == 0) {
        h->bits = NULL; /* h->limit stays 0, so with a keep of 0 no weight is kept */
        h->seed = 1;
        return true;
    }
    if (hd_generator_bernoulli(g) == HD_BERNOULLI_MCG31) {
        HD__GEN_LOCKED(g);
        h->seed = hd__mcg31_seed(g);
        h->limit = hd__mcg31_limit(h->keep);
        return true;
    }
    *bits = hd__tensor_empty(HD_BOOL, 1, &bytes);
    if (!*bits) {
        return false;
    }
    uint8_t run[RUN], *to = hd__tensor_ptr(*bits);
    memset(to, 0, (size_t)bytes);
    HD__GEN_LOCKED(g);
    for (int64_t i = 0; i < n; i++) {
        if (i % RUN == 0) {
            hd__rng_bernoulli(g, run, n - i < RUN ? n - i : RUN, h->keep);
        }
        to[i >> 3] |= (uint8_t)(run[i % RUN] << (i & 7));
    }
    return true;
}

static hd_tensor *fused_attention(hd_tensor *q, hd_tensor *k, hd_tensor *v, hd_tensor *mask,
                                  const hd__op *op, attention_args *c, hd_tensor **weights)
{
    int64_t sizes[HD_MAX_DIMS];
    hd_tensor *x[HD__OPERANDS] = {q, k, v, mask, HD_NONE};
    int ndim = sizes_of(c, c->head.l, -1, sizes);
    x[HD__LSE] = hd__tensor_empty(q->dtype, ndim, sizes);
    ndim = sizes_of(c, c->head.l, c->head.dv, sizes);
    hd_tensor *y = hd__tensor_empty(q->dtype, ndim, sizes);
    x[HD__OUT] = q->strides[q->ndim - 1] == 1 ? hd__tensor_laid_out_as(y, q) : y;
    if (weights) {
        sizes_of(c, c->head.l, c->head.s, sizes);
        x[HD__WEIGHTS] = hd__tensor_empty(q->dtype, ndim, sizes);
    }
    if (!x[HD__OUT] || !x[HD__LSE] || (weights && !x[HD__WEIGHTS]) || !draw_bits(c, &x[HD__BITS]) ||
        !hd__attention_forward(c, x)) {
        return NULL;
    }
    if (weights) {
        *weights = x[HD__WEIGHTS];
    }
    return HD__RECORD(op, x[HD__OUT], HD__IN(3, x), HD__SAVES(HD__SAVED, x), .save_y = true,
                      HD__PARAMS(*c));
}

/* ---------------------------------------------------------------- in plain ops */

static hd_tensor *composed(hd_tensor *q, hd_tensor *k, hd_tensor *v, const hd_attention_options *o,
                           const attention_args *c, hd_tensor **weights)
{
    hd_tensor *scores = hd_matmul(q, hd_transpose(k, -2, -1)), *mask = o->attn_mask;
    scores = c->head.divisor != 0 ? hd_div_scalar(scores, c->head.divisor)
                                  : hd_mul_scalar(scores, c->head.scale);
    if (o->is_causal) {
        hd_tensor *hidden = hd_triu(hd_ones(HD_BOOL, c->head.l, c->head.s), 1); /* (l, s) */
        scores = hd_masked_fill(scores, hidden, -INFINITY);
    } else if (!hd__tensor_is_none(mask)) {
        scores = mask->dtype == HD_BOOL ? hd_masked_fill(scores, hd_logical_not(mask), -INFINITY)
                                        : hd_add(scores, mask);
    }
    hd_tensor *w; /* (..., l, s) */
    if (o->safe_softmax && !hd__tensor_is_none(mask) && c->head.s > 0) {
        hd_tensor *dead = hd_all_dim(hd_eq_scalar(scores, -INFINITY), -1, true); /* (..., l, 1) */
        w = hd_masked_fill(hd_softmax(hd_masked_fill(scores, dead, 0), -1), dead, 0);
    } else {
        w = hd_softmax(scores, -1);
    }
    w = hd_dropout(w, o->dropout_p, true);
    if (weights) {
        *weights = hd_detach(w);
        w = *weights ? w : NULL;
    }
    hd_tensor *y = hd_matmul(w, v);
    bool nothing = y && (y->numel == 0 || v->numel == 0);
    return nothing ? hd_add_scalar(y, 0) : y; /* PyTorch's node is then AddBackward0 */
}

/* ---------------------------------------------------------------- arguments */

hd_attention_options hd_attention_defaults(void)
{
    return (hd_attention_options){.size = sizeof(hd_attention_options),
                                  .attn_mask = HD_NONE,
                                  .scale = NAN,
                                  .safe_softmax = true};
}

static bool dtypes_ok(const hd_tensor *q, const hd_tensor *k, const hd_tensor *v,
                      const hd_tensor *mask)
{
    if (q->dtype != k->dtype || q->dtype != v->dtype) {
        return hd_fail(HD_DTYPE, "q of %s, k of %s, v of %s: expected one dtype",
                       hd_dtype_name(q->dtype), hd_dtype_name(k->dtype), hd_dtype_name(v->dtype));
    }
    return hd__tensor_float_arg(q) &&
           (hd__tensor_is_none(mask) || mask->dtype == HD_BOOL || mask->dtype == q->dtype ||
            hd_fail(HD_DTYPE, "attn_mask of %s: expected bool, or %s as in q",
                    hd_dtype_name(mask->dtype), hd_dtype_name(q->dtype)));
}

/* Broadcasts c->batch with the batch dims of x, which are all dims except the last two. The last
 * batch dim, the heads of x, counts as `group` times its size. Returns false, without an error, if
 * the dims do not broadcast. */
static bool join_grouped(attention_args *c, const hd_tensor *x, int64_t group)
{
    int64_t sizes[HD_MAX_DIMS];
    memcpy(sizes, x->sizes, sizeof sizes);
    if (x->ndim > 2) {
        sizes[x->ndim - 3] *= group;
    }
    return hd__tensor_broadcast_with(&c->n_batch, c->batch, x->ndim - 2, sizes) == 0;
}

/* Returns the number of heads of q that share one head of k and v; -1 with HD_SHAPE if the heads do
 * not fit. */
static int64_t group_of(const hd_tensor *q, const hd_tensor *k, const hd_tensor *v, bool enable_gqa)
{
    if (!enable_gqa) {
        return 1;
    }
    if (q->ndim > 2 && k->ndim > 2 && v->ndim > 2) {
        int64_t all = q->sizes[q->ndim - 3], heads = k->sizes[k->ndim - 3];
        bool same = v->sizes[v->ndim - 3] == heads;
        if (same && (all == heads || (heads > 0 && all % heads == 0))) {
            return all == heads ? 1 : all / heads;
        }
    }
    hd_fail(HD_SHAPE,
            "q %s, k %s, v %s with enable_gqa: expected (..., heads, n, d) each, as many heads in "
            "v as in k, and a multiple of that number in q",
            HD__SHAPE(q), HD__SHAPE(k), HD__SHAPE(v));
    return -1;
}

/* Returns false with HD_SHAPE unless mask has 2 dims or more and broadcasts to the weights
 * (c->batch, l, s). */
static bool attn_mask_ok(const hd_tensor *mask, const attention_args *c)
{
    int64_t sizes[HD_MAX_DIMS];
    int ndim = sizes_of(c, c->head.l, c->head.s, sizes);
    return (mask->ndim >= 2 && hd__tensor_spreads_to(mask->ndim, mask->sizes, ndim, sizes)) ||
           hd_fail(HD_SHAPE, "attn_mask %s: expected 2 dims or more that broadcast to %s",
                   HD__SHAPE(mask), HD__SIZES(ndim, sizes));
}

static bool attention_shapes_ok(const hd_tensor *q, const hd_tensor *k, const hd_tensor *v,
                                const hd_tensor *mask, int64_t group, attention_args *c)
{
    bool ok = q->ndim >= 2 && k->ndim >= 2 && v->ndim >= 2;
    if (ok) {
        hdk_head *h = &c->head;
        h->l = q->sizes[q->ndim - 2];
        h->d = q->sizes[q->ndim - 1];
        h->s = k->sizes[k->ndim - 2];
        h->dv = v->sizes[v->ndim - 1];
        ok = k->sizes[k->ndim - 1] == h->d && v->sizes[v->ndim - 2] == h->s &&
             join_grouped(c, q, 1) && join_grouped(c, k, group);
        if (ok && !hd__tensor_is_none(mask) && !attn_mask_ok(mask, c)) {
            return false;
        }
        ok = ok && join_grouped(c, v, group);
    }
    return ok || hd_fail(HD_SHAPE,
                         "q %s, k %s, v %s: expected (..., l, d), (..., s, d) and (..., s, dv), "
                         "with batch dims that broadcast",
                         HD__SHAPE(q), HD__SHAPE(k), HD__SHAPE(v));
}

static bool attention_options_ok(const hd_attention_options *o)
{
    if (!HD__SIZE_OK(o, "hd_attention_defaults()") ||
        !hd__tensor_arg_or_none("attn_mask", o->attn_mask)) {
        return false;
    }
    if (!(o->dropout_p >= 0 && o->dropout_p <= 1)) {
        return hd_fail(HD_VALUE, "dropout_p %s: expected 0 to 1", hd_float_repr(o->dropout_p));
    }
    return !o->is_causal || hd__tensor_is_none(o->attn_mask) ||
           hd_fail(HD_VALUE, "is_causal and an attn_mask: expected at most one of them");
}

/* Sets c->heads to the number of heads in all batches. Returns false with HD_MEMORY if the size of
 * the scores overflows. This can happen if q, k and v are expanded tensors. */
static bool count_heads(attention_args *c)
{
    /* the bytes of the scores, where a size of 0 counts as 1 */
    int64_t sizes[HD_MAX_DIMS], scores = 8;
    int ndim = sizes_of(c, c->head.l, c->head.s, sizes);
    c->heads = 1;
    for (int i = 0; i < ndim; i++) {
        if (__builtin_mul_overflow(scores, sizes[i] ? sizes[i] : 1, &scores)) {
            return hd_fail(HD_MEMORY, "scores of %s: the size overflows", HD__SIZES(ndim, sizes));
        }
        c->heads *= i < c->n_batch ? sizes[i] : 1;
    }
    return true;
}

/* Sets the fields of c->head that depend on the options. */
static void fill_call(attention_args *c, const hd_attention_options *o)
{
    hdk_head *h = &c->head;
    h->sees = o->is_causal ? 1 : h->s;
    h->mask_is_bool = !hd__tensor_is_none(o->attn_mask) && o->attn_mask->dtype == HD_BOOL;
    h->safe = o->safe_softmax;
    h->keep = 1 - o->dropout_p;
    h->scale = o->scale;
    if (isnan(o->scale)) {
        h->divisor = sqrt((double)h->d);
        h->scale = 1; /* used only if d is 0: all scores are then 0 */
    }
}

/* True if v has batch dims that q and k do not have. Then several heads of v share their weights.
 * The fused path would compute these weights, and draw their dropout, once for each head of v, so
 * it is not used. */
static bool weights_repeat(const hd_tensor *q, const hd_tensor *k, const attention_args *c)
{
    if (q->ndim == c->n_batch + 2 && q->numel == c->heads * c->head.l * c->head.d) {
        return false; /* q has all heads */
    }
    attention_args w = {0};
    bool all = join_grouped(&w, q, 1) && join_grouped(&w, k, 1) && w.n_batch == c->n_batch;
    return !all || memcmp(w.batch, c->batch, sizeof *w.batch * (size_t)w.n_batch) != 0;
}

/* Returns attention, computed by the fused or the composed path; NULL with an error on failure. The
 * caller has checked the arguments and filled c. */
static hd_tensor *attention_of(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                               const hd_attention_options *o, attention_args *c,
                               hd_tensor **weights)
{
    const hdk_head *h = &c->head;
    bool mask_learns = hd__record_wants_grad(o->attn_mask);
    bool empty = !c->heads || !h->l || !h->s || !h->d || !h->dv;
    /* With few keys, the fused path goes row by row. For a few tokens, the fused path is faster,
     * because the composed path calls ten ops. For some dozens of tokens, the fused path takes up
     * to four times as long. Both paths give the same bits. */
    bool rows_are_slow = h->s <= HD__FEW_KEYS && hd__attention_work(c) > ROWS_PAY;
    if (!hd_fused_attention() || mask_learns || empty || rows_are_slow || weights_repeat(q, k, c)) {
        return composed(q, k, v, o, c, weights);
    }
    hd_tensor *mask = o->attn_mask;
    if (!hd__tensor_is_none(mask)) { /* expands the mask's dims of size 1, without a copy */
        int64_t sizes[HD_MAX_DIMS];
        mask = hd__tensor_expand(mask, sizes_of(c, h->l, h->s, sizes), sizes);
    }
    const hd__op *op = attention_op_for(q, k, v, o->attn_mask, c);
    return mask ? fused_attention(q, k, v, mask, op, c, weights) : NULL;
}

/* Returns a view of x whose dim -3, the heads, is split in two: (keys, group) if x has keys * group
 * heads, (heads, 1) otherwise. NULL on failure. */
static hd_tensor *split_groups(hd_tensor *x, int64_t keys, int64_t group)
{
    int64_t sizes[HD_MAX_DIMS + 1], *heads = sizes + x->ndim - 3;
    memcpy(sizes, x->sizes, sizeof *sizes * (size_t)x->ndim);
    memmove(heads + 2, heads + 1, 2 * sizeof *sizes);
    bool all = *heads == keys * group;
    heads[0] = all ? keys : *heads;
    heads[1] = all ? group : 1;
    return hd_view_n(x, x->ndim + 1, sizes);
}

/* Returns attention in which `group` heads of q share a head of k and v; NULL with an error on
 * failure. Views q as (..., keys, group, l, d), k as (..., keys, 1, s, d) and v as (..., keys, 1,
 * s, dv), which broadcast without a copy. */
static hd_tensor *grouped_attention(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                    const hd_attention_options *o, int64_t group, attention_args *c,
                                    hd_tensor **weights)
{
    hd_attention_options of = *o;
    int64_t keys = k->sizes[k->ndim - 3];
    c->batch[c->n_batch - 1] = keys;
    c->batch[c->n_batch++] = group;
    q = split_groups(q, keys, group);
    k = split_groups(k, keys, group);
    v = split_groups(v, keys, group);
    if (!hd__tensor_is_none(o->attn_mask) && o->attn_mask->ndim > 2) {
        of.attn_mask = split_groups(o->attn_mask, keys, group);
    }
    bool ok = q && k && v && of.attn_mask;
    hd_tensor *y = ok ? attention_of(q, k, v, &of, c, weights) : NULL;
    if (y && weights) {
        *weights = hd_flatten(*weights, -4, -3);
        ok = *weights;
    }
    return y && ok ? hd_flatten(y, -4, -3) : NULL;
}

hd_tensor *hd_scaled_dot_product_attention_with(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                                const hd_attention_options *o, hd_tensor **weights)
{
    HD__CALL("hd_scaled_dot_product_attention_with");
    hd_attention_options defaults = hd_attention_defaults();
    attention_args c = {0};
    o = o ? o : &defaults;
    if (weights) {
        *weights = NULL;
    }
    if (!hd__tensor_arg("q", q) || !hd__tensor_arg("k", k) || !hd__tensor_arg("v", v) ||
        !attention_options_ok(o) || !dtypes_ok(q, k, v, o->attn_mask)) {
        return NULL;
    }
    int64_t group = group_of(q, k, v, o->enable_gqa);
    if (group < 0 || !attention_shapes_ok(q, k, v, o->attn_mask, group, &c) || !count_heads(&c)) {
        return NULL;
    }
    fill_call(&c, o);
    HD__DRAWS_BEGIN(d);
    hd_tensor *y = group == 1 ? attention_of(q, k, v, o, &c, weights)
                              : grouped_attention(q, k, v, o, group, &c, weights);
    hd__draws_end(&d, y);
    if (weights && !y) {
        *weights = NULL;
    }
    return y;
}

hd_tensor *hd_scaled_dot_product_attention(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                           hd_tensor *attn_mask, double dropout_p, bool is_causal)
{
    HD__CALL("hd_scaled_dot_product_attention");
    hd_attention_options o = hd_attention_defaults();
    o.attn_mask = attn_mask;
    o.dropout_p = dropout_p;
    o.is_causal = is_causal;
    return hd_scaled_dot_product_attention_with(q, k, v, &o, NULL);
}
