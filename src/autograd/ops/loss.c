/* loss.c - mse_loss and cross_entropy.
 *
 * Cross entropy is one kernel forward and one backward. It keeps two numbers for each row instead
 * of the softmax. */
#include <inttypes.h>

#include "autograd/autograd_internal.h"
#include "autograd/ops/reduce.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/loss.h"
#include "tensor/kernels/reduce.h"

enum { GRAIN = 4096 }; /* elements worth a task of the pool */

/* ---------------------------------------------------------------- both losses */

static bool reduction_arg(hd_reduction r)
{
    return r == HD_MEAN || r == HD_SUM || r == HD_REDUCE_NONE ||
           hd__fail(HD_VALUE, "reduction %d: expected HD_MEAN, HD_SUM or HD_REDUCE_NONE", (int)r);
}

/* The losses, or in their place their sum, or that divided by n; NULL stays. */
static hd_tensor *reduced_loss(hd_tensor *losses, hd_reduction r, double n)
{
    hd_tensor *y = losses;
    if (y && y->ndim > 0 && r != HD_REDUCE_NONE) {
        y = hd__sum(losses, hd__all_dims(losses), false);
        hd_release(losses);
    }
    if (y && r == HD_MEAN) {
        hd__divide_by(y, n);
    }
    return y;
}

/* ---------------------------------------------------------------- mse_loss */

/* norm (x - t) dy */
static hd_tensor *mse_slope(hd__node *n, hd_tensor *x, hd_tensor *t, hd_tensor *dy)
{
    hd_tensor *in[] = {x, t};
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    hd_tensor *g = hd__broadcast(2, in, &ndim, sizes) ? hd__empty(dy->dtype, ndim, sizes) : NULL;
    return hd__map(hdk_loss_for(dy->dtype)->square_backward[dy->dtype], hd__params(n), 4,
                   (hd_tensor *[]){g, x, t, dy});
}

/* y = norm / 2 sum (x - t)^2:  dx += norm (x - t) dy,  dt += norm (t - x) dy */
static void mse_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *x = hd__cast(hd__saved_get(n, 0), dy[0]->dtype);
    hd_tensor *t = hd__cast(hd__saved_get(n, 1), dy[0]->dtype);
    if (!x || !t) {
        return;
    }
    dx[0] = hd__needs(n, 0) ? mse_slope(n, x, t, dy[0]) : HD_NONE;
    dx[1] = hd__needs(n, 1) ? mse_slope(n, t, x, dy[0]) : HD_NONE;
}

static const hd__op mse_op = HD__OP("MseLossBackward0", mse_backward);

typedef struct distance_task {
    const hd_tensor *x, *t;
    hd_tensor *pieces;
} distance_task;

static void distances(int64_t begin, int64_t end, void *arg)
{
    const distance_task *k = arg;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = i * HDK_SUM_MAX, n = k->x->numel - at;
        n = n < HDK_SUM_MAX ? n : HDK_SUM_MAX;
        if (k->x->dtype == HD_FLOAT64) {
            const double *x = hd__ptr(k->x), *t = hd__ptr(k->t);
            ((double *)hd__ptr(k->pieces))[i] =
                hdk_reduce()->square_distance_f64(x + at, t + at, n);
        } else {
            const float *x = hd__ptr(k->x), *t = hd__ptr(k->t);
            ((float *)hd__ptr(k->pieces))[i] = hdk_reduce()->square_distance_f32(x + at, t + at, n);
        }
    }
}

/* (x - t)^2 of the broadcast shape */
static hd_tensor *squares(hd_tensor *x, hd_tensor *t)
{
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    hdk_loop square = hdk_loss_for(x->dtype)->square[x->dtype];
    HD__SCOPE_OR(NULL);
    if (!hd__broadcast(2, (hd_tensor *[]){x, t}, &ndim, sizes)) {
        return NULL;
    }
    x = hd__expand(x, ndim, sizes); /* first, because PyTorch lays the result out like these */
    t = x ? hd__expand(t, ndim, sizes) : NULL;
    hd_tensor *y = t ? hd__elementwise_out(x->dtype, 2, (hd_tensor *[]){x, t}) : NULL;
    return hd_scope_return(hd__map(square, NULL, 3, (hd_tensor *[]){y, x, t}));
}

/* What adds up to sum (x - t)^2: the squares or, so that they are not stored, their sums over
 * pieces of contiguous x and t; 0-d if that is one piece */
static hd_tensor *square_sums(hd_tensor *x, hd_tensor *t)
{
    if (!hd__same_shape(x, t) || !hd__contig(x) || !hd__contig(t)) {
        return squares(x, t);
    }
    int64_t pieces = x->numel > HDK_SUM_MAX ? (x->numel + HDK_SUM_MAX - 1) / HDK_SUM_MAX : 1;
    distance_task k = {x, t, hd__empty(x->dtype, pieces > 1, &pieces)};
    if (k.pieces) {
        hd__parallel_for(pieces, 1, distances, &k);
    }
    return k.pieces;
}

static hd_tensor *mse(hd_tensor *x, hd_tensor *t, hd_dtype d, hd_reduction r, double numel)
{
    if (x->dtype != d || t->dtype != d) {
        HD__SCOPE_OR(NULL);
        hd_tensor *a = hd__cast(x, d), *b = hd__cast(t, d);
        return a && b ? hd_scope_return(mse(a, b, d, r, numel)) : NULL;
    }
    return reduced_loss(r == HD_REDUCE_NONE ? squares(x, t) : square_sums(x, t), r, numel);
}

static void warn_broadcast_loss(const hd_tensor *x, const hd_tensor *target, int ndim,
                                const int64_t *sizes)
{
    hd_warn("x %s and target %s differ in size, so the loss is taken over their broadcast %s, "
            "which is probably wrong: give both the same size, for example with hd_view",
            HD__SHAPE(x), HD__SHAPE(target), HD__SIZES(ndim, sizes));
}

hd_tensor *hd_mse_loss_with(hd_tensor *x, hd_tensor *target, hd_reduction r)
{
    HD__CALL("hd_mse_loss_with");
    hd_tensor *in[] = {x, target};
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    if (!hd__arg("x", x) || !hd__arg("target", target) || !reduction_arg(r) ||
        !hd__broadcast(2, in, &ndim, sizes)) {
        return NULL;
    }
    /* As in PyTorch, a 0-d one decides, too. */
    const bool wide = x->dtype == HD_FLOAT64 || target->dtype == HD_FLOAT64;
    const hd_dtype d = wide ? HD_FLOAT64 : HD_FLOAT32;
    if (!hd__is_float(x->dtype) && !hd__is_float(target->dtype)) {
        return hd__fail(HD_DTYPE, "%s and %s: expected float32 or float64 in one of them",
                        hd_dtype_name(x->dtype), hd_dtype_name(target->dtype));
    }
    if (hd__warns() && !hd__same_shape(x, target)) {
        warn_broadcast_loss(x, target, ndim, sizes);
    }
    double numel = 1;
    for (int i = 0; i < ndim; i++) {
        numel *= (double)sizes[i];
    }
    double norm = r == HD_MEAN ? 2 / numel : 2;
    return HD__RECORD(&mse_op, mse(x, target, d, r, numel), HD__IN(2, in), HD__SAVES(2, in),
                      HD__PARAMS(norm));
}

hd_tensor *hd_mse_loss(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_mse_loss");
    return hd_mse_loss_with(x, target, HD_MEAN);
}

/* ---------------------------------------------------------------- cross_entropy */

typedef struct entropy_task {
    hdk_logits l;
    int dtype;
    int64_t item;
    const void *dy; /* backward; gs: 0 where all rows share one */
    int64_t gs;
    double divisor;
    bool stream; /* dx is large */
    void *out;   /* the losses, or dx */
} entropy_task;

static hdk_logits logit_rows_from(const entropy_task *k, int64_t begin, int64_t end)
{
    hdk_logits l = k->l;
    l.x = (const char *)l.x + begin * l.stride * k->item;
    l.rows = end - begin;
    l.target += begin;
    l.stats = (char *)l.stats + 2 * begin * k->item;
    return l;
}

static void entropy_rows(int64_t begin, int64_t end, void *arg)
{
    const entropy_task *k = arg;
    hdk_logits l = logit_rows_from(k, begin, end);
    hdk_loss_for(k->dtype)->cross_entropy[k->dtype](&l, (char *)k->out + begin * k->item);
}

static void entropy_backward_rows(int64_t begin, int64_t end, void *arg)
{
    const entropy_task *k = arg;
    hdk_logits l = logit_rows_from(k, begin, end);
    hdk_loss_for(k->dtype)->cross_entropy_backward[k->dtype](
        &l, (const char *)k->dy + begin * k->gs * k->item, k->gs, k->divisor, k->stream,
        (char *)k->out + begin * l.c * k->item);
}

/* x with one of its dims put elsewhere: an alias */
static hd_tensor *dim_moved(const hd_tensor *x, int from, int to)
{
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    for (int d = 0; d < x->ndim; d++) {
        int other = d - (d > to); /* which of the dims besides `from` */
        int source = d == to ? from : other + (other >= from);
        sizes[d] = x->sizes[source];
        strides[d] = x->strides[source];
    }
    return hd__alias(x, x->ndim, sizes, strides, x->offset);
}

/* (c,) and (n, c) as they are, (n, c, d1, ...) as (n, d1, ..., c) */
static hd_tensor *classes_last(const hd_tensor *x)
{
    return dim_moved(x, x->ndim > 1, x->ndim - 1);
}

/* Describes the rows of logits to the kernels. The tensors that it makes live in the caller's
 * scope. */
static bool logits(entropy_task *k, hd_tensor *x, hd_tensor *target, hd_tensor *stats)
{
    k->l.ndim = x->ndim;
    bool rows_as_they_are = x->ndim <= 2 && (x->strides[x->ndim - 1] == 1 || hd__contig(x));
    if (!rows_as_they_are) {
        hd_tensor *rows = classes_last(x); /* (n, d1, ..., c) */
        x = rows ? hd__contiguous(rows) : NULL;
    }
    target = hd__contiguous(target);
    if (!x || !target || !stats) {
        return false;
    }
    int64_t c = x->sizes[x->ndim - 1];
    k->dtype = x->dtype;
    k->item = hd__bytes_of(x->dtype);
    k->l.x = hd__ptr(x);
    k->l.c = c;
    k->l.rows = target->numel;
    k->l.stride = x->ndim == 2 ? x->strides[0] : c;
    k->l.target = hd__ptr(target);
    k->l.stats = hd__ptr(stats);
    return true;
}

static void run_rows(entropy_task *k, void (*f)(int64_t, int64_t, void *))
{
    hd__parallel_for(k->l.rows, GRAIN / (k->l.c + 1), f, k);
}

typedef struct entropy_params {
    int64_t ignore;
    double divisor; /* the number of targets that count (mean), or 1 */
} entropy_params;

/* y_i = -log softmax(x_i)[t_i]:  dx_ij += (softmax(x_i)[j] - [j = t_i]) dy_i */
static void cross_entropy_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const entropy_params *p = hd__params(n);
    hd_tensor *x = hd__saved_get(n, 0), *target = hd__saved_get(n, 1), *stats = hd__saved_get(n, 2);
    hd_tensor *g = hd__contiguous(dy[0]);
    entropy_task k = {.l.ignore = p->ignore, .gs = dy[0]->ndim > 0, .divisor = p->divisor};
    if (!g || !logits(&k, x, target, stats)) {
        return;
    }
    hd_tensor *moved = classes_last(x);
    hd_tensor *rows = moved ? hd__empty_as(x->dtype, moved) : NULL; /* (n, d1, ..., c) */
    if (!rows) {
        return;
    }
    k.dy = hd__ptr(g);
    k.out = hd__ptr(rows);
    k.stream = rows->numel * k.item >= HDK_STREAM_BYTES;
    run_rows(&k, entropy_backward_rows);
    dx[0] = x->ndim > 2 ? dim_moved(rows, x->ndim - 1, 1) : rows;
}

static const hd__op nll_op = HD__OP("NllLossBackward0", cross_entropy_backward);
static const hd__op nll2d_op = HD__OP("NllLoss2DBackward0", cross_entropy_backward);
static const hd__op nll_view_op = HD__OP("ViewBackward0", cross_entropy_backward);

/* PyTorch makes two dims of those after the classes. Where they are not two, its last step is a
 * view. */
static const hd__op *entropy_op(int ndim, hd_reduction r)
{
    bool view = r == HD_REDUCE_NONE && ndim != 4;
    return ndim <= 2 ? &nll_op : view ? &nll_view_op : &nll2d_op;
}

/* Does the target have one class for each row of x's last dim, in x's shape or flat? Then whoever
 * wrote the call has the classes last, as a language model's output has them. */
static bool rows_of_last(const hd_tensor *x, const hd_tensor *target)
{
    int64_t rows = hd__count_of(x->ndim - 1, x->sizes);
    bool leading = hd__has_sizes(target, x->ndim - 1, x->sizes);
    return target->numel == rows && (leading || x->ndim == 2 || target->ndim == 1);
}

/* Writes the calls that bring both to (rows, c) and (rows,): "; use hd_flatten(target, 0, 1)". */
static void name_flatten(const hd_tensor *x, const hd_tensor *target, char text[120])
{
    int x_end = x->ndim - 2, target_end = target->ndim - 1;
    if (x_end == 0) {
        snprintf(text, 120, "; use hd_flatten(target, 0, %d)", target_end);
    } else if (target_end == 0) {
        snprintf(text, 120, "; to score every token, use hd_flatten(x, 0, %d)", x_end);
    } else {
        snprintf(text, 120,
                 "; to score every token, use hd_flatten(x, 0, %d) and hd_flatten(target, 0, %d)",
                 x_end, target_end);
    }
}

static bool target_shape_fail(const hd_tensor *x, const hd_tensor *target, int n,
                              const int64_t *expected)
{
    char use[120] = "";
    if (rows_of_last(x, target)) {
        name_flatten(x, target, use);
    }
    return hd__fail(HD_SHAPE, "x %s and target %s: expected a target of %s%s%s", HD__SHAPE(x),
                    HD__SHAPE(target), HD__SIZES(n, expected),
                    x->ndim > 2 ? ", because dim 1 of x holds the classes" : "", use);
}

/* The target has x's shape without the classes; the target of a single row may be (1,). */
static bool target_arg(const hd_tensor *x, const hd_tensor *target)
{
    if (!hd__dtype_is("target", target, HD_INT64)) {
        return false;
    }
    int64_t expected[HD_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (d != (x->ndim > 1)) {
            expected[n++] = x->sizes[d];
        }
    }
    bool one = x->ndim == 1 && target->ndim == 1 && target->sizes[0] == 1;
    if (x->ndim == 0) {
        return hd__fail(HD_SHAPE, "x (): expected (c,), (n, c) or (n, c, d1, ...)");
    }
    return one || hd__has_sizes(target, n, expected) || target_shape_fail(x, target, n, expected);
}

/* How many targets count; -1, with the error set, if one of them is not a class. */
static int64_t count_targets(const hdk_logits *l)
{
    int64_t count = 0;
    for (int64_t i = 0; i < l->rows; i++) {
        int64_t t = l->target[i];
        if (t == l->ignore) {
            continue;
        }
        if (t < 0 || t >= l->c) {
            hd__fail(HD_INDEX,
                     "target %" PRId64 " for %" PRId64 " classes: expected 0 to %" PRId64
                     ", or ignore_index %" PRId64,
                     t, l->c, l->c - 1, l->ignore);
            return -1;
        }
        count++;
    }
    return count;
}

static hd_tensor *entropy(hd_tensor *x, hd_tensor *target, hd_tensor *stats, entropy_params *p,
                          hd_reduction r)
{
    HD__SCOPE_OR(NULL);
    entropy_task k = {.l.ignore = p->ignore};
    hd_tensor *y = hd__empty(x->dtype, x->ndim > 1 ? target->ndim : 0, target->sizes);
    if (!y || !logits(&k, x, target, stats)) {
        return NULL;
    }
    int64_t count = count_targets(&k.l);
    if (count < 0) {
        return NULL;
    }
    k.out = hd__ptr(y);
    run_rows(&k, entropy_rows);
    p->divisor = r == HD_MEAN ? (double)count : 1;
    return hd_scope_return(reduced_loss(y, r, p->divisor));
}

/* Once for each number of classes: a program may go on to another model. */
HD__RARE static void warn_of_softmax(const hd_tensor *x)
{
    static atomic_uint_least64_t told;
    const int64_t classes = x->sizes[x->ndim > 1];
    if (classes > 1 && hd__is_softmax(x, x->ndim > 1) && hd__first(&told, (uintptr_t)classes)) {
        hd_warn("x %s is what hd_softmax over the %" PRId64 " classes gave, and the loss does a "
                "softmax of its own, so that the model hardly learns: expected what went into "
                "hd_softmax",
                HD__SHAPE(x), classes);
    }
}

hd_cross_entropy_options hd_cross_entropy_defaults(void)
{
    return (hd_cross_entropy_options){
        .size = sizeof(hd_cross_entropy_options), .ignore_index = -100, .reduction = HD_MEAN};
}

hd_tensor *hd_cross_entropy_with(hd_tensor *x, hd_tensor *target, const hd_cross_entropy_options *o)
{
    HD__CALL("hd_cross_entropy_with");
    hd_cross_entropy_options defaults = hd_cross_entropy_defaults();
    o = o ? o : &defaults;
    if (!HD__SIZE_OK(o, "hd_cross_entropy_defaults()") || !hd__arg("x", x) ||
        !hd__arg("target", target) || !hd__float_arg(x) || !reduction_arg(o->reduction) ||
        !target_arg(x, target)) {
        return NULL;
    }
    int64_t sizes[] = {target->numel, 2};
    hd_tensor *stats = hd__empty(x->dtype, 2, sizes); /* (rows, 2) */
    entropy_params p = {.ignore = o->ignore_index};
    hd_tensor *y = entropy(x, target, stats, &p, o->reduction);
    hd_tensor *saved[] = {x, target, stats};
    if (y && hd__warns()) {
        warn_of_softmax(x);
    }
    return HD__RECORD(entropy_op(x->ndim, o->reduction), y, HD__IN(1, &x), HD__SAVES(3, saved),
                      HD__PARAMS(p));
}

hd_tensor *hd_cross_entropy(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_cross_entropy");
    return hd_cross_entropy_with(x, target, NULL);
}
