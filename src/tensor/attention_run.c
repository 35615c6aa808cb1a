/* attention_run.c - runs scaled_dot_product_attention and its backward on the threads.
 *
 * Each thread computes heads, or parts of heads (kernels/attention.h). If there are few heads,
 * forward cuts the queries of each head into parts, and backward cuts its keys. The cuts depend on
 * shapes only. In backward, each part computes a dq of its own, and these are added up in order. So
 * the result does not depend on the threads. */
#include <inttypes.h>
#include <stdatomic.h>

#include "base/threads/pool.h"
#include "tensor/attention_run.h"
#include "tensor/copy.h"

#include "tensor/elementwise.h"

enum {
    ATTENTION_WORTH = 1 << 14, /* a call of at most this many multiplications runs on one thread */
    ATTENTION_PARTS = 16, /* a larger call is cut into about this many parts: more if it has more
                           * heads, fewer if a head has few blocks of queries or keys */
    SMALL_SCRATCH = 2048  /* scratch of at most this many bytes lies on the stack */
};

typedef hd__attention_call attention_call;

/* ---------------------------------------------------------------- operands */

/* A tensor (..., rows, cols) of the call. Each head uses one of its matrices. */
typedef struct operand {
    char *p;          /* NULL if the call has no such tensor; the other fields are then not set */
    int64_t row, col; /* strides of rows and of columns, in elements */
    int64_t head[HD_MAX_DIMS]; /* strides along the dims of attention_task's `heads`, in bytes */
} operand;

typedef struct attention_task {
    const attention_call *c;
    const hdk_attention_kernels *kernel;
    operand x[HD__OPERANDS];
    hd__dims heads; /* the batch dims; only their sizes are set */
    const uint8_t *bits;
    bool backward;
    int64_t block, parts; /* each head has `parts` parts of `block` queries (keys in backward) */
    char *dq_part;        /* dq of each part (parts, ..., l, d); set only if backward has several */
    int64_t item;         /* bytes of an element */
    int64_t room;         /* bytes of scratch for each thread */
    char *scratch;
    atomic_llong next;
} attention_task;

/* Sets operand `which` to x. If `own` is 2, the last two dims of x are the rows and columns of a
 * head. If `own` is 1, the last dim is the rows of a head. */
static void give(attention_task *t, int which, const hd_tensor *x, int own)
{
    operand *o = &t->x[which];
    int nb = x->ndim - own;
    int64_t bytes = hd__tensor_bytes_of(x->dtype);
    o->p = hd__tensor_ptr(x);
    o->row = x->strides[nb];
    o->col = own == 2 ? x->strides[nb + 1] : 0;
    for (int d = 0; d < t->heads.ndim; d++) {
        o->head[d] = hd__dims_stride_over(x, nb - 1 - d, t->heads.dim[d].size) * bytes;
    }
}

/* Returns the matrix of operand `which` for the head at index head[]. Its p is NULL if the call has
 * no such operand. */
static hdk_rows rows_at(const attention_task *t, int which, const int64_t *head)
{
    const operand *o = &t->x[which];
    hdk_rows rows = {o->p, o->row, o->col};
    if (!o->p) {
        return (hdk_rows){NULL, 0, 0};
    }
    for (int d = 0; d < t->heads.ndim; d++) {
        rows.p = (char *)rows.p + head[d] * o->head[d];
    }
    return rows;
}

static void set_up(attention_task *t, const attention_call *c, hd_tensor *const *x, bool backward)
{
    t->c = c;
    t->backward = backward;
    const hd_dtype d = x[HD__Q]->dtype;
    const struct hdk_attention *of = hdk_attention();
    bool tiled = d == HD_FLOAT32 && c->head.s > HD__FEW_KEYS && of->tiles.forward;
    t->kernel = tiled ? &of->tiles : &of->rows[d];
    t->item = hd__tensor_bytes_of(d);
    t->bits = hd__tensor_ptr_or_null(x[HD__BITS]);
    hd__dims_make(&t->heads, c->n_batch, c->batch, 0, NULL);
    for (int i = 0; i < HD__OPERANDS; i++) {
        t->x[i].p = NULL;
        if (x[i] && !hd__tensor_is_none(x[i]) && i != HD__BITS) {
            give(t, i, x[i], i == HD__LSE ? 1 : 2);
        }
    }
}

/* ---------------------------------------------------------------- running */

/* Computes one part of one head. `item` is its number, counted over the parts of all heads. h has
 * the call's sizes and options; this function sets the matrices of h. */
static void run_item(const attention_task *t, int64_t item, hdk_head *h, void *scratch)
{
    int64_t u = item / t->parts, part = item - u * t->parts;
    int64_t from = part * t->block, n = t->backward ? h->s : h->l;
    int64_t to = n - from < t->block ? n : from + t->block;
    int64_t head[HD_MAX_DIMS];
    hd__dims_index(&t->heads, u, head);
    h->first = u * h->l * h->s;
    h->q = rows_at(t, HD__Q, head);
    h->k = rows_at(t, HD__K, head);
    h->v = rows_at(t, HD__V, head);
    h->out = rows_at(t, HD__OUT, head);
    h->mask = rows_at(t, HD__MASK, head);
    h->lse = rows_at(t, HD__LSE, head).p;
    if (t->backward) {
        hdk_head_grads g = {rows_at(t, HD__DOUT, head), rows_at(t, HD__DQ, head),
                            rows_at(t, HD__DK, head), rows_at(t, HD__DV, head)};
        if (t->parts > 1) {
            g.dq =
                (hdk_rows){t->dq_part + (part * t->c->heads + u) * h->l * h->d * t->item, h->d, 1};
        }
        t->kernel->backward(h, &g, from, to, scratch);
        return;
    }
    t->kernel->forward(h, from, to, scratch);
    if (t->x[HD__WEIGHTS].p) {
        t->kernel->weights(h, from, to, rows_at(t, HD__WEIGHTS, head).p, scratch);
    }
}

/* Computes items, which are parts of heads, until none is left. No result depends on which thread
 * computes an item. */
static void run_thread(int thread, void *arg)
{
    attention_task *t = arg;
    char *scratch = t->scratch + thread * t->room;
    int64_t item, items = t->c->heads * t->parts;
    hdk_head h = t->c->head;
    h.bits = t->bits;
    while ((item = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < items) {
        run_item(t, item, &h, scratch);
    }
}

static bool is_large(const attention_call *c)
{
    return hd__attention_work(c) > ATTENTION_WORTH;
}

/* Sets t->room to the bytes of scratch for one thread, and *bytes to those for all threads. Returns
 * false with HD_MEMORY if they overflow, as they may for expanded tensors. A thread needs less than
 * 64 * rows * cols bytes, with the `rows` and `cols` computed here. */
static bool count_scratch(attention_task *t, int threads, size_t *bytes)
{
    const hdk_head *h = &t->c->head;
    double rows = (double)h->l + (double)h->s + 256, cols = (double)h->d + (double)h->dv + 256;
    bool few = 64 * rows * cols < 0x1p62;
    if (few) {
        t->room = t->backward ? t->kernel->backward_room(h) : t->kernel->forward_room(h);
        t->room = (t->room + 63) / 64 * 64;
    }
    return (few && hd__arg_bytes(t->room, (size_t)threads, bytes)) ||
           hd_fail(HD_MEMORY,
                   "%" PRId64 " queries and %" PRId64 " keys of %" PRId64
                   " elements, values of %" PRId64 ": the scratch memory would be too large",
                   h->l, h->s, h->d, h->dv);
}

static bool run_attention(attention_task *t)
{
    int64_t items = t->c->heads * t->parts;
    int width = is_large(t->c) ? hd__parallel_width() : 1;
    int threads = items < width ? (int)items : width;
    _Alignas(64) char small[SMALL_SCRATCH];
    size_t bytes = 0;
    if (!count_scratch(t, threads, &bytes)) {
        return false;
    }
    bool fits = bytes <= sizeof small;
    t->scratch = fits ? small : hd__mem_alloc(bytes);
    if (!t->scratch) {
        hd__error_no_memory(bytes);
        return false;
    }
    for (int i = 0; i < threads; i++) {
        memset(t->scratch + i * t->room, 0, t->room < 64 ? (size_t)t->room : 64);
    }
    atomic_init(&t->next, 0);
    hd__parallel(threads, run_thread, t);
    if (!fits) {
        hd_free(t->scratch);
    }
    return true;
}

/* Cuts the n queries of each head (in backward, its n keys) into t->parts parts. A part has
 * t->block queries or keys, a multiple of `unit`; the last part of a head may have fewer. In a
 * large call, all heads together should have ATTENTION_PARTS parts or more. They have fewer if a
 * head has too few units, or if its units do not divide evenly. The cut depends on shapes only. */
static void cut_heads(attention_task *t, int64_t n, int64_t unit)
{
    int64_t units = (n + unit - 1) / unit;
    int64_t parts = is_large(t->c) ? (ATTENTION_PARTS + t->c->heads - 1) / t->c->heads : 1;
    parts = parts < units ? parts : units;
    t->block = (units + parts - 1) / parts * unit;
    t->parts = (n + t->block - 1) / t->block;
}

/* ---------------------------------------------------------------- forward and backward */

/* Returns the number of weights that forward computes in all heads. Query i sees the keys whose
 * index is below i + c->head.sees. */
static int64_t seen_keys(const hd__attention_call *c)
{
    const hdk_head *h = &c->head;
    int64_t growing = h->s - h->sees < h->l ? h->s - h->sees : h->l;
    return c->heads * (growing * h->sees + growing * (growing - 1) / 2 + (h->l - growing) * h->s);
}

bool hd__attention_forward(const hd__attention_call *c, hd_tensor *const *x)
{
    attention_task t;
    set_up(&t, c, x, false);
    cut_heads(&t, c->head.l, t.kernel->query_block);
    HD__FLOP(2 * seen_keys(c) * (c->head.d + c->head.dv));
    return run_attention(&t);
}

/* Computes the backward of all parts, each with a dq of its own, and sets dq to the sum of these,
 * added in order. Returns false with an error if memory runs out. */
static bool run_parts(attention_task *t, hd_tensor *dq)
{
    t->dq_part = hd__arg_alloc_items(t->parts, (size_t)(dq->numel * t->item));
    bool ok = t->dq_part && run_attention(t);
    if (ok) {
        hd__tensor_fill(dq, hd_scalar_int(0));
    }
    for (int64_t k = 0; ok && k < t->parts; k++) {
        hd__tensor_array part;
        hd__loop_add_into(dq, hd__tensor_array_of(&part, dq, t->dq_part + k * dq->numel * t->item));
    }
    hd_free(t->dq_part);
    return ok;
}

bool hd__attention_backward(const hd__attention_call *c, hd_tensor *const *x)
{
    attention_task t;
    HD__FLOP(2 * seen_keys(c) * (3 * c->head.d + 2 * c->head.dv));
    set_up(&t, c, x, true);
    cut_heads(&t, c->head.s, t.kernel->key_block);
    return t.parts == 1 ? run_attention(&t) : run_parts(&t, x[HD__DQ]);
}
