/* attention.c - scaled_dot_product_attention.
 *
 * Fused: heads, or parts of them, are dealt to the threads, and only log sum exp of each row of
 * scores is saved besides inputs and output (kernels/attention.h). A head's keys are cut for
 * backward where there are few heads, by shape alone; each part then adds to dq in its own copy,
 * and the copies are added up in order: no bit depends on the threads. Composed: in plain ops, for
 * an attn_mask that needs a gradient, for empty tensors, and when fused attention is off. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#include "autograd/autograd_internal.h"
#include "tensor/kernels/attention.h"

enum {
    FEW_KEYS = 64, /* up to so many the kernel goes row by row */
    FEW = 1 << 14, /* multiplications not worth a task of the pool */
    PARTS = 16,    /* into so many a call is cut at least, if it has so many blocks */
    SMALL_SCRATCH = 2048
};

static const char function[] = "hd_scaled_dot_product_attention";

static atomic_bool fused = true;

void hd_set_fused_attention(bool on)
{
    atomic_store_explicit(&fused, on, memory_order_relaxed);
}

bool hd_fused_attention(void)
{
    return atomic_load_explicit(&fused, memory_order_relaxed);
}

typedef struct call { /* what backward must know besides the saved tensors */
    int n_batch;
    int64_t batch[HD_MAX_DIMS], heads;
    hdk_head head; /* without its matrices */
} call;

/* ---------------------------------------------------------------- operands */

enum { Q, K, V, MASK, BITS, LSE, SAVED, OUT = SAVED, WEIGHTS, DOUT, DQ, DK, DV, OPERANDS };

/* A tensor (..., rows, cols) read head by head, over the batch dims of the result. */
typedef struct operand {
    char *p; /* NULL: not there, and nothing else is set */
    int64_t row, col;
    int64_t batch[HD_MAX_DIMS]; /* strides in bytes, of the dims of the result */
} operand;

typedef struct task {
    const call *c;
    const hdk_attention_kernels *kernel;
    operand x[OPERANDS];
    const uint8_t *bits;
    bool backward;
    int64_t block, parts; /* each head is cut into parts of `block` queries, or keys backward */
    char *dq_part;        /* backward with more than one part: (parts, ..., l, d) */
    int64_t item;         /* bytes */
    size_t room;          /* scratch of a thread */
    char *scratch;
    atomic_llong next;
} task;

/* x's last `own` dims are a head's: rows and cols, or rows alone. */
static void give(task *t, int which, const hd_tensor *x, int own)
{
    operand *o = &t->x[which];
    int nb = x->ndim - own, lead = t->c->n_batch - nb;
    int64_t item = x->dtype == HD_BOOL ? 1 : t->item;
    o->p = hd__ptr(x);
    o->row = x->strides[nb];
    o->col = own == 2 ? x->strides[nb + 1] : 0;
    for (int i = 0; i < lead; i++) {
        o->batch[i] = 0;
    }
    for (int i = 0; i < nb; i++) {
        o->batch[lead + i] = x->sizes[i] == 1 ? 0 : x->strides[i] * item;
    }
}

/* The index of head u in the batch dims. */
static void head_index(const call *c, int64_t u, int64_t *at)
{
    for (int i = c->n_batch - 1; i >= 0; i--) {
        at[i] = u % c->batch[i];
        u /= c->batch[i];
    }
}

static hdk_rows rows_at(const task *t, int which, const int64_t *at)
{
    const operand *o = &t->x[which];
    char *p = o->p;
    for (int i = 0; p && i < t->c->n_batch; i++) {
        p += at[i] * o->batch[i];
    }
    return p ? (hdk_rows){p, o->row, o->col} : (hdk_rows){NULL, 0, 0};
}

/* ---------------------------------------------------------------- running */

/* h has the call's numbers, its matrices are filled in. */
static void run_item(const task *t, int64_t item, hdk_head *h, void *scratch)
{
    int64_t at[HD_MAX_DIMS], part = item % t->parts, u = item / t->parts;
    int64_t from = part * t->block, n = t->backward ? h->s : h->l;
    int64_t to = n - from < t->block ? n : from + t->block;
    head_index(t->c, u, at);
    h->first = u * h->l * h->s;
    h->q = rows_at(t, Q, at);
    h->k = rows_at(t, K, at);
    h->v = rows_at(t, V, at);
    h->out = rows_at(t, OUT, at);
    h->mask = rows_at(t, MASK, at);
    h->lse = rows_at(t, LSE, at).p;
    if (t->backward) {
        hdk_head_grads g = {rows_at(t, DOUT, at), rows_at(t, DQ, at), rows_at(t, DK, at),
                            rows_at(t, DV, at)};
        if (t->parts > 1) {
            g.dq =
                (hdk_rows){t->dq_part + (part * t->c->heads + u) * h->l * h->d * t->item, h->d, 1};
        }
        t->kernel->backward(h, &g, from, to, scratch);
        return;
    }
    t->kernel->forward(h, from, to, scratch);
    if (t->x[WEIGHTS].p) {
        t->kernel->weights(h, from, to, rows_at(t, WEIGHTS, at).p, scratch);
    }
}

/* A thread's share: items as they come. Which thread takes which changes no result. */
static void run_thread(int thread, void *arg)
{
    task *t = arg;
    char *scratch = t->scratch + (size_t)thread * t->room;
    int64_t item, items = t->c->heads * t->parts;
    hdk_head h = t->c->head;
    h.bits = t->bits;
    while ((item = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < items) {
        run_item(t, item, &h, scratch);
    }
}

/* Is the call worth more than one task of the pool? */
static bool is_large(const call *c)
{
    const hdk_head *h = &c->head;
    double work = (double)c->heads * (double)h->l * (double)h->s * (double)(h->d + h->dv);
    return work > FEW;
}

static bool run(task *t)
{
    int64_t items = t->c->heads * t->parts;
    int width = is_large(t->c) ? hd__parallel_width() : 1;
    int threads = items < width ? (int)items : width;
    _Alignas(64) char small[SMALL_SCRATCH];
    size_t (*room)(const hdk_head *) =
        t->backward ? t->kernel->backward_room : t->kernel->forward_room;
    t->room = (room(&t->c->head) + 63) / 64 * 64;
    size_t bytes = t->room * (size_t)threads;
    bool fits = bytes <= sizeof small;
    t->scratch = fits ? small : hd__alloc(bytes);
    if (!t->scratch) {
        hd__no_memory(function, bytes);
        return false;
    }
    for (int i = 0; i < threads; i++) {
        memset(t->scratch + (size_t)i * t->room, 0, t->room < 64 ? t->room : 64);
    }
    atomic_init(&t->next, 0);
    hd__parallel(threads, run_thread, t);
    if (!fits) {
        hd_free(t->scratch);
    }
    return true;
}

/* Cuts each head's n rows so that there are PARTS items, in multiples of `unit`; by shape alone. */
static void cut(task *t, int64_t n, int64_t unit)
{
    int64_t units = (n + unit - 1) / unit;
    int64_t parts = is_large(t->c) ? (PARTS + t->c->heads - 1) / t->c->heads : 1;
    parts = parts < units ? parts : units;
    t->block = (units + parts - 1) / parts * unit;
    t->parts = (n + t->block - 1) / t->block;
}

/* ---------------------------------------------------------------- the call */

static const hdk_attention_kernels *kernel_for(const hd_tensor *q, int64_t s)
{
    bool tiled = q->dtype == HD_FLOAT32 && s > FEW_KEYS && hdk_attention()->tiles.forward;
    return tiled ? &hdk_attention()->tiles : &hdk_attention()->rows[q->dtype];
}

/* Fresh and dense, of these sizes, with its dims in memory in the order of x's. */
static hd_tensor *laid_out_as(const hd_tensor *x, int ndim, const int64_t *sizes)
{
    hd_tensor *y = hd__empty(function, (hd_dtype)x->dtype, ndim, sizes);
    if (y) {
        hd__lay_out_as(y, x);
    }
    return y;
}

/* batch dims, then rows and cols (cols < 0: none) */
static int sizes_of(const call *c, int64_t rows, int64_t cols, int64_t *sizes)
{
    memcpy(sizes, c->batch, sizeof *sizes * (size_t)c->n_batch);
    sizes[c->n_batch] = rows;
    sizes[c->n_batch + 1] = cols;
    return c->n_batch + (cols < 0 ? 1 : 2);
}

/* The operands that are saved besides the output. */
static void set_up(task *t, const call *c, hd_tensor *const *saved)
{
    t->c = c;
    t->kernel = kernel_for(saved[Q], c->head.s);
    t->item = hd_dtype_size((hd_dtype)saved[Q]->dtype);
    for (int i = 0; i < OPERANDS; i++) {
        t->x[i].p = NULL;
    }
    for (int i = Q; i <= V; i++) {
        give(t, i, saved[i], 2);
    }
    if (!hd__is_none(saved[MASK])) {
        give(t, MASK, saved[MASK], 2);
    }
    t->bits = hd__is_none(saved[BITS]) ? NULL : hd__ptr(saved[BITS]);
    give(t, LSE, saved[LSE], 1);
}

/* What the parts added to dq, added up in order. */
typedef struct part_sums {
    const task *t;
    int64_t stride; /* bytes from part to part */
} part_sums;

static void sum_heads(int64_t begin, int64_t end, void *arg)
{
    const part_sums *p = arg;
    const task *t = p->t;
    int64_t l = t->c->head.l, d = t->c->head.d, at[HD_MAX_DIMS];
    for (int64_t r = begin; r < end; r++) {
        head_index(t->c, r / l, at);
        hdk_rows dq = rows_at(t, DQ, at);
        int64_t i = r % l;
        for (int64_t e = 0; e < d; e++) {
            const char *from = t->dq_part + (r * d + e) * t->item;
            int64_t to = i * dq.row + e * dq.col;
            double sum = 0;
            float sum32 = 0;
            for (int64_t k = 0; k < t->parts; k++, from += p->stride) {
                if (t->item == sizeof sum) {
                    sum += *(const double *)from;
                } else {
                    sum32 += *(const float *)from;
                }
            }
            if (t->item == sizeof sum) {
                ((double *)dq.p)[to] = sum;
            } else {
                ((float *)dq.p)[to] = sum32;
            }
        }
    }
}

static bool run_backward(task *t)
{
    const hdk_head *h = &t->c->head;
    t->backward = true;
    cut(t, h->s, t->kernel->key_block);
    if (t->parts == 1) {
        return run(t);
    }
    int64_t rows = t->c->heads * h->l, stride = rows * h->d * t->item;
    t->dq_part = hd__alloc((size_t)(t->parts * stride));
    if (!t->dq_part) {
        hd__no_memory(function, (size_t)(t->parts * stride));
        return false;
    }
    bool ok = run(t);
    if (ok) {
        part_sums p = {t, stride};
        hd__parallel_for(rows, FEW / (h->d < FEW ? h->d : FEW), sum_heads, &p);
    }
    hd_free(t->dq_part);
    return ok;
}

static void attention_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const call *c = hd__params(n);
    hd_tensor *saved[SAVED + 1], *made[3];
    for (int i = 0; i <= SAVED; i++) {
        saved[i] = hd__saved_get(n, i);
        if (!saved[i]) {
            dx[0] = dx[1] = dx[2] = NULL;
            return;
        }
    }
    int64_t sizes[3][HD_MAX_DIMS];
    int ndim = sizes_of(c, c->head.l, c->head.d, sizes[Q]);
    sizes_of(c, c->head.s, c->head.d, sizes[K]);
    sizes_of(c, c->head.s, c->head.dv, sizes[V]);
    for (int i = 0; i < 3; i++) {
        made[i] = laid_out_as(saved[i], ndim, sizes[i]);
    }
    bool ok = made[0] && made[1] && made[2];
    if (ok) {
        task t;
        set_up(&t, c, saved);
        give(&t, OUT, saved[OUT], 2);
        give(&t, DOUT, dy[0], 2);
        for (int i = 0; i < 3; i++) {
            give(&t, DQ + i, made[i], 2);
        }
        ok = run_backward(&t);
    }
    for (int i = 0; i < 3; i++) {
        if (hd__needs(n, i) || !ok) {
            dx[i] = ok ? made[i] : NULL;
        }
    }
}

static const hd__op flash_op = {.name = "ScaledDotProductFlashAttentionForCpuBackward0",
                                .backward = attention_backward};
static const hd__op unsafe_view_op = {.name = "UnsafeViewBackward0",
                                      .backward = attention_backward};
static const hd__op mm_op = {.name = "MmBackward0", .backward = attention_backward};

/* PyTorch's names: its fused kernel takes the plain case, its product of matrices the others. */
static const hd__op *op_of(const hd_tensor *q, const hd_tensor *k, const hd_tensor *v,
                           const call *c)
{
    if (q->ndim == 2 && k->ndim == 2 && v->ndim == 2) {
        return &mm_op;
    }
    bool plain = q->ndim == 4 && k->ndim == 4 && v->ndim == 4 && c->head.keep == 1 &&
                 c->head.d == c->head.dv && c->head.safe;
    for (int i = 0; plain && i < 2; i++) {
        plain = q->sizes[i] == k->sizes[i] && k->sizes[i] == v->sizes[i];
    }
    return plain ? &flash_op : &unsafe_view_op;
}

/* Draws what dropout needs: the seed, or with the native stream all bits in order. False without
 * memory. */
static bool draw(call *c, hd_tensor **bits)
{
    enum { RUN = 4096 };
    hd_generator *g = hd_generator_current();
    int64_t n = c->heads * c->head.l * c->head.s, bytes = (n + 7) / 8;
    *bits = HD_NONE;
    if (c->head.keep == 1 || c->head.keep == 0) {
        c->head.bits = NULL; /* keep 0: limit 0 keeps none */
        c->head.seed = 1;
        return true;
    }
    if (hd_generator_bernoulli(g) == HD_BERNOULLI_MCG31) {
        hd__gen_lock(g);
        c->head.seed = hd__mcg31_seed(g);
        hd__gen_unlock(g);
        c->head.limit = hd__mcg31_limit(c->head.keep);
        return true;
    }
    *bits = hd__empty(function, HD_BOOL, 1, &bytes);
    if (!*bits) {
        return false;
    }
    uint8_t run[RUN], *to = hd__ptr(*bits);
    memset(to, 0, (size_t)bytes);
    hd__gen_lock(g);
    for (int64_t i = 0; i < n; i++) {
        if (i % RUN == 0) {
            hd__bernoulli(g, run, n - i < RUN ? n - i : RUN, c->head.keep);
        }
        to[i >> 3] |= (uint8_t)(run[i % RUN] << (i & 7));
    }
    hd__gen_unlock(g);
    return true;
}

static hd_tensor *fused_attention(hd_tensor *q, hd_tensor *k, hd_tensor *v, hd_tensor *mask,
                                  call *c, hd_tensor **weights)
{
    int64_t sizes[HD_MAX_DIMS];
    hd_tensor *saved[SAVED] = {q, k, v, mask, HD_NONE, NULL};
    int ndim = sizes_of(c, c->head.l, -1, sizes);
    saved[LSE] = hd__empty(function, (hd_dtype)q->dtype, ndim, sizes);
    ndim = sizes_of(c, c->head.l, c->head.dv, sizes);
    hd_tensor *y = laid_out_as(q, ndim, sizes), *w = NULL;
    if (weights) {
        sizes_of(c, c->head.l, c->head.s, sizes);
        w = hd__empty(function, (hd_dtype)q->dtype, ndim, sizes);
    }
    if (!y || !saved[LSE] || (weights && !w) || !draw(c, &saved[BITS])) {
        return NULL;
    }
    task t;
    set_up(&t, c, saved);
    give(&t, OUT, y, 2);
    if (w) {
        give(&t, WEIGHTS, w, 2);
    }
    t.backward = false;
    cut(&t, c->head.l, t.kernel->query_block);
    if (!run(&t)) {
        return NULL;
    }
    if (weights) {
        *weights = w;
    }
    hd_tensor *in[] = {q, k, v};
    return hd__record(op_of(q, k, v, c), y,
                      &(hd__record_args){.n_in = 3,
                                         .in = in,
                                         .n_saved = SAVED,
                                         .saved = saved,
                                         .save_y = true,
                                         .params = c,
                                         .params_size = sizeof *c});
}

/* ---------------------------------------------------------------- in plain ops */

static hd_tensor *composed(hd_tensor *q, hd_tensor *k, hd_tensor *v, const hd_attention_options *o,
                           const call *c, hd_tensor **weights)
{
    hd_tensor *scores = hd_matmul(q, hd_transpose(k, -2, -1)), *mask = o->attn_mask;
    scores = c->head.divisor != 0 ? hd_div_scalar(scores, c->head.divisor)
                                  : hd_mul_scalar(scores, c->head.scale);
    if (o->is_causal) {
        hd_tensor *hidden = hd_triu(hd_ones(HD_BOOL, c->head.l, c->head.s), 1); /* (l, s) */
        scores = hd_masked_fill(scores, hidden, -INFINITY);
    } else if (!hd__is_none(mask)) {
        scores = mask->dtype == HD_BOOL ? hd_masked_fill(scores, hd_logical_not(mask), -INFINITY)
                                        : hd_add(scores, mask);
    }
    hd_tensor *w = hd_softmax(scores, -1); /* (..., l, s) */
    if (o->safe_softmax && !hd__is_none(mask) && scores && c->head.s > 0) {
        hd_tensor *dead = hd_all_dim(hd_eq_scalar(scores, -INFINITY), -1, true); /* (..., l, 1) */
        w = hd_masked_fill(hd_softmax(hd_masked_fill(scores, dead, 0), -1), dead, 0);
    }
    w = hd_dropout(w, o->dropout_p, true);
    if (weights) {
        *weights = hd_detach(w);
    }
    return hd_matmul(w, v);
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
        hd_error_set(HD_DTYPE, "%s: q of %s, k of %s, v of %s: expected one dtype", function,
                     hd_dtype_name((hd_dtype)q->dtype), hd_dtype_name((hd_dtype)k->dtype),
                     hd_dtype_name((hd_dtype)v->dtype));
        return false;
    }
    if (!hd__float_arg(function, q)) {
        return false;
    }
    if (!hd__is_none(mask) && mask->dtype != HD_BOOL && mask->dtype != q->dtype) {
        hd_error_set(HD_DTYPE, "%s: attn_mask of %s: expected bool, or q's %s", function,
                     hd_dtype_name((hd_dtype)mask->dtype), hd_dtype_name((hd_dtype)q->dtype));
        return false;
    }
    return true;
}

/* The batch dims of x (all but the last two) against those gathered so far. */
static bool join_batch(call *c, const hd_tensor *x)
{
    int n = x->ndim - 2;
    if (n > c->n_batch) {
        memmove(c->batch + (n - c->n_batch), c->batch, sizeof *c->batch * (size_t)c->n_batch);
        for (int i = 0; i < n - c->n_batch; i++) {
            c->batch[i] = 1;
        }
        c->n_batch = n;
    }
    for (int i = 0; i < n; i++) {
        int64_t *size = &c->batch[c->n_batch - n + i];
        if (*size != x->sizes[i] && *size != 1 && x->sizes[i] != 1) {
            return false;
        }
        *size = *size == 1 ? x->sizes[i] : *size;
    }
    return true;
}

static bool shapes_ok(const hd_tensor *q, const hd_tensor *k, const hd_tensor *v, call *c)
{
    bool ok = q->ndim >= 2 && k->ndim >= 2 && v->ndim >= 2;
    if (ok) {
        c->head.l = q->sizes[q->ndim - 2];
        c->head.d = q->sizes[q->ndim - 1];
        c->head.s = k->sizes[k->ndim - 2];
        c->head.dv = v->sizes[v->ndim - 1];
        ok = k->sizes[k->ndim - 1] == c->head.d && v->sizes[v->ndim - 2] == c->head.s &&
             join_batch(c, q) && join_batch(c, k) && join_batch(c, v);
    }
    if (!ok) {
        hd_error_set(HD_SHAPE,
                     "%s: q %s, k %s, v %s: expected (..., l, d), (..., s, d) and (..., s, dv), of "
                     "batches that broadcast",
                     function, HD__SHAPE(q), HD__SHAPE(k), HD__SHAPE(v));
    }
    return ok;
}

static bool mask_ok(const hd_tensor *mask, const call *c)
{
    int64_t sizes[HD_MAX_DIMS];
    int ndim = sizes_of(c, c->head.l, c->head.s, sizes);
    bool ok = mask->ndim >= 2 && mask->ndim <= ndim;
    for (int i = 0; ok && i < mask->ndim; i++) {
        ok = mask->sizes[i] == 1 || mask->sizes[i] == sizes[ndim - mask->ndim + i];
    }
    if (!ok) {
        hd_error_set(HD_SHAPE, "%s: attn_mask %s: expected 2 dims or more that broadcast to %s",
                     function, HD__SHAPE(mask), HD__SIZES(ndim, sizes));
    }
    return ok;
}

static bool options_ok(const hd_attention_options *o)
{
    if (o->size != sizeof *o) {
        hd_error_set(HD_VALUE, "%s: o->size %zu: expected %zu, as of hd_attention_defaults()",
                     function, o->size, sizeof *o);
        return false;
    }
    if (!hd__given(function, "attn_mask", o->attn_mask)) {
        return false;
    }
    if (!(o->dropout_p >= 0 && o->dropout_p <= 1)) {
        hd_error_set(HD_VALUE, "%s: dropout_p %s: expected 0 to 1", function,
                     hd_float_repr(o->dropout_p));
        return false;
    }
    if (o->is_causal && !hd__is_none(o->attn_mask)) {
        hd_error_set(HD_VALUE, "%s: is_causal and attn_mask: expected one of them", function);
        return false;
    }
    return true;
}

/* The numbers of the call, of arguments that are right. */
static void fill_call(call *c, const hd_attention_options *o)
{
    hdk_head *h = &c->head;
    c->heads = 1;
    for (int i = 0; i < c->n_batch; i++) {
        c->heads *= c->batch[i];
    }
    h->sees = o->is_causal ? 1 : h->s;
    h->mask_is_bool = !hd__is_none(o->attn_mask) && o->attn_mask->dtype == HD_BOOL;
    h->safe = o->safe_softmax;
    h->keep = 1 - o->dropout_p;
    h->scale = o->scale;
    if (isnan(o->scale)) {
        h->divisor = sqrt((double)h->d);
        h->scale = h->d > 0 ? 1 / h->divisor : 1;
    }
}

hd_tensor *hd_scaled_dot_product_attention_with(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                                const hd_attention_options *o, hd_tensor **weights)
{
    hd_attention_options defaults = hd_attention_defaults();
    call c = {0};
    o = o ? o : &defaults;
    if (weights) {
        *weights = NULL;
    }
    if (!hd__arg(function, "q", q) || !hd__arg(function, "k", k) || !hd__arg(function, "v", v) ||
        !options_ok(o) || !dtypes_ok(q, k, v, o->attn_mask) || !shapes_ok(q, k, v, &c) ||
        (!hd__is_none(o->attn_mask) && !mask_ok(o->attn_mask, &c))) {
        return NULL;
    }
    fill_call(&c, o);
    bool mask_learns =
        !hd__is_none(o->attn_mask) && hd__grad_mode_on && hd__wants_grad(o->attn_mask);
    bool empty = c.heads * c.head.l * c.head.s * c.head.d * c.head.dv == 0;
    if (!hd_fused_attention() || mask_learns || empty) {
        return composed(q, k, v, o, &c, weights);
    }
    hd_tensor *mask = o->attn_mask;
    if (!hd__is_none(mask)) { /* sizes of 1 repeat */
        int64_t sizes[HD_MAX_DIMS];
        mask = hd__expand(mask, sizes_of(&c, c.head.l, c.head.s, sizes), sizes);
    }
    return mask ? fused_attention(q, k, v, mask, &c, weights) : NULL;
}

hd_tensor *hd_scaled_dot_product_attention(hd_tensor *q, hd_tensor *k, hd_tensor *v,
                                           hd_tensor *attn_mask, double dropout_p, bool is_causal)
{
    hd_attention_options o = hd_attention_defaults();
    o.attn_mask = attn_mask;
    o.dropout_p = dropout_p;
    o.is_causal = is_causal;
    return hd_scaled_dot_product_attention_with(q, k, v, &o, NULL);
}

static const hd__op_row rows[] = {
    {"hd_scaled_dot_product_attention", &flash_op},
    {"hd_scaled_dot_product_attention_with", &unsafe_view_op},
};
HD__FAMILY(hd__ops_attention, rows);
