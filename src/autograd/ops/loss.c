/* loss.c - the losses of classification: cross_entropy and nll_loss.
 *
 * cross_entropy runs one kernel in forward and one in backward. Its node saves two numbers for each
 * row, not the softmax. */
#include <inttypes.h>

#include "autograd/ops/loss_elements.h"
#include "autograd/ops/pick.h"
#include "autograd/ops/softmax.h"
#include "autograd/record.h"
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/kernels/loss.h"
#include "tensor/tensor_args.h"

enum { LOSS_GRAIN = 4096 }; /* the fewest elements of a task */

/* ---------------------------------------------------------------- cross_entropy */

typedef struct entropy_task {
    hdk_logits l;
    int dtype;
    int64_t item;   /* bytes of an element */
    const void *dy; /* in backward only */
    int64_t gs;     /* 1 if dy has an element for each row; 0 if all rows share its one element */
    double divisor; /* the divisor in entropy_params */
    bool stream;    /* true: dx is so large that writing it should bypass the cache */
    void *out;      /* the losses in forward, dx in backward */
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

/* Returns an alias of x with dim `from` moved to place `to`; NULL if memory runs out. */
static hd_tensor *dim_moved(const hd_tensor *x, int from, int to)
{
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    for (int d = 0; d < x->ndim; d++) {
        int other = d - (d > to); /* the position of d among the dims other than `from` */
        int source = d == to ? from : other + (other >= from);
        sizes[d] = x->sizes[source];
        strides[d] = x->strides[source];
    }
    return hd__tensor_alias(x, x->ndim, sizes, strides, x->offset);
}

/* Returns an alias of x with the dim of the classes last: (n, c, d1, ...) becomes (n, d1, ..., c).
 * NULL if memory runs out. */
static hd_tensor *classes_last(const hd_tensor *x)
{
    return dim_moved(x, x->ndim > 1, x->ndim - 1);
}

/* Sets the fields of k from which the kernels read the logits x, target and stats. Makes contiguous
 * copies of x and target if needed; these belong to the innermost scope. Returns false with an
 * error if memory runs out, or if stats is NULL because memory ran out before. */
static bool logits(entropy_task *k, hd_tensor *x, hd_tensor *target, hd_tensor *stats)
{
    k->l.ndim = x->ndim;
    bool rows_as_they_are = x->ndim <= 2 && (x->strides[x->ndim - 1] == 1 || hd__tensor_contig(x));
    if (!rows_as_they_are) {
        hd_tensor *rows = classes_last(x); /* (n, d1, ..., c) */
        x = rows ? hd__tensor_contiguous(rows) : NULL;
    }
    target = hd__tensor_contiguous(target);
    if (!x || !target || !stats) {
        return false;
    }
    int64_t c = x->sizes[x->ndim - 1];
    k->dtype = x->dtype;
    k->item = hd__tensor_bytes_of(x->dtype);
    k->l.x = hd__tensor_ptr(x);
    k->l.c = c;
    k->l.rows = target->numel;
    k->l.stride = x->ndim == 2 ? x->strides[0] : c;
    k->l.target = hd__tensor_ptr(target);
    k->l.stats = hd__tensor_ptr(stats);
    return true;
}

static void run_rows(entropy_task *k, void (*f)(int64_t, int64_t, void *))
{
    hd__parallel_for(k->l.rows, LOSS_GRAIN / (k->l.c + 1), f, k);
}

typedef struct entropy_params {
    int64_t ignore;
    double divisor; /* HD_MEAN: the number of targets that are not ignored; else 1 */
} entropy_params;

/* y_i = -log softmax(x_i)[t_i] / divisor:  dx_ij += (softmax(x_i)[j] - e) * dy_i / divisor, where e
 * is 1 if j = t_i, else 0. If t_i is ignored, y_i and dx_ij are 0. */
static void cross_entropy_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const entropy_params *p = hd__node_params(n);
    hd_tensor *x = hd__node_saved_get(n, 0), *target = hd__node_saved_get(n, 1),
              *stats = hd__node_saved_get(n, 2);
    hd_tensor *g = hd__tensor_contiguous(dy[0]);
    entropy_task k = {.l.ignore = p->ignore, .gs = dy[0]->ndim > 0, .divisor = p->divisor};
    if (!g || !logits(&k, x, target, stats)) {
        return;
    }
    hd_tensor *moved = classes_last(x);
    hd_tensor *rows = moved ? hd__tensor_empty_as(x->dtype, moved) : NULL; /* (n, d1, ..., c) */
    if (!rows) {
        return;
    }
    k.dy = hd__tensor_ptr(g);
    k.out = hd__tensor_ptr(rows);
    k.stream = rows->numel * k.item >= HDK_STREAM_BYTES;
    run_rows(&k, entropy_backward_rows);
    dx[0] = x->ndim > 2 ? dim_moved(rows, x->ndim - 1, 1) : rows;
}

/* The three ops of a loss, one for each grad_fn name that PyTorch shows. The first is for x of up
 * to 2 dims, the second for x of more dims, and the third for a loss whose last step in PyTorch is
 * a view. */
#define CLASS_OPS(backward)                                                                        \
    {                                                                                              \
        HD__OP("NllLossBackward0", backward), HD__OP("NllLoss2DBackward0", backward),              \
            HD__OP("ViewBackward0", backward)                                                      \
    }
static const hd__op entropy_ops[] = CLASS_OPS(cross_entropy_backward);

/* Returns the op whose name PyTorch shows as grad_fn. PyTorch folds the dims after the classes into
 * two. If x has such dims, but not exactly two, and the losses are not reduced, PyTorch's last step
 * is a view. */
static const hd__op *class_op(const hd__op *ops, int ndim, hd_reduction r)
{
    bool view = r == HD_REDUCE_NONE && ndim != 4;
    return &ops[ndim <= 2 ? 0 : view ? 2 : 1];
}

/* True if target has one class for each row along x's last dim. Then the classes are probably in
 * the last dim, as in the output of a language model. */
static bool rows_of_last(const hd_tensor *x, const hd_tensor *target)
{
    int64_t rows = hd__tensor_count_of(x->ndim - 1, x->sizes);
    bool leading = hd__tensor_has_sizes(target, x->ndim - 1, x->sizes);
    return target->numel == rows && (leading || x->ndim == 2 || target->ndim == 1);
}

/* Writes to text the advice to reshape x to (rows, c) and target to (rows,) with hd_flatten. */
static void name_flatten(const hd_tensor *x, const hd_tensor *target, char text[120])
{
    int x_end = x->ndim - 2, target_end = target->ndim - 1;
    if (x_end == 0) {
        snprintf(text, 120, ". Use hd_flatten(target, 0, %d)", target_end);
    } else if (target_end == 0) {
        snprintf(text, 120, ". To score every token, use hd_flatten(x, 0, %d)", x_end);
    } else {
        snprintf(text, 120,
                 ". To score every token, use hd_flatten(x, 0, %d) and hd_flatten(target, 0, %d)",
                 x_end, target_end);
    }
}

HD__RARE static bool target_shape_fail(const hd_tensor *x, const hd_tensor *target, int n,
                                       const int64_t *expected)
{
    char use[120] = "";
    if (rows_of_last(x, target)) {
        name_flatten(x, target, use);
    }
    return hd_fail(HD_SHAPE, "x %s and target %s: expected a target of %s%s%s", HD__SHAPE(x),
                   HD__SHAPE(target), HD__SIZES(n, expected),
                   x->ndim > 2 ? ", because dim 1 of x holds the classes" : "", use);
}

HD__RARE static bool class_dtypes_fail(const hd_tensor *x, const hd_tensor *target)
{
    const bool swapped = x->dtype == HD_INT64 && hd__tensor_is_float(target->dtype);
    return hd_fail(HD_DTYPE,
                   "x of %s and target of %s: expected float32 or float64 in x, the scores of the "
                   "classes, and int64 in target, the numbers of the classes%s",
                   hd_dtype_name(x->dtype), hd_dtype_name(target->dtype),
                   swapped ? ". Swap the two arguments" : "");
}

/* Returns true if x is float32 or float64 and target is int64, and false with HD_DTYPE
 * otherwise. */
static inline bool class_dtypes(const hd_tensor *x, const hd_tensor *target)
{
    return (hd__tensor_is_float(x->dtype) && target->dtype == HD_INT64) ||
           class_dtypes_fail(x, target);
}

/* Returns true if target has x's shape without the dim of the classes, and false with HD_SHAPE
 * otherwise. If x is (c,), target may also be (1,). */
static bool target_arg(const hd_tensor *x, const hd_tensor *target)
{
    int64_t expected[HD_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (d != (x->ndim > 1)) {
            expected[n++] = x->sizes[d];
        }
    }
    bool one = x->ndim == 1 && target->ndim == 1 && target->sizes[0] == 1;
    if (x->ndim == 0) {
        return hd_fail(HD_SHAPE, "x (): expected (c,), (n, c) or (n, c, d1, ...)");
    }
    return one || hd__tensor_has_sizes(target, n, expected) ||
           target_shape_fail(x, target, n, expected);
}

/* Returns the number of targets that are not ignored; -1 with HD_INDEX if one of them is not a
 * class. */
static int64_t count_targets(const hdk_logits *l)
{
    int64_t count = 0;
    for (int64_t i = 0; i < l->rows; i++) {
        int64_t t = l->target[i];
        if (t == l->ignore) {
            continue;
        }
        if (t < 0 || t >= l->c) {
            hd_fail(HD_INDEX,
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
    hd_tensor *y = hd__tensor_empty(x->dtype, x->ndim > 1 ? target->ndim : 0, target->sizes);
    if (!y || !logits(&k, x, target, stats)) {
        return NULL;
    }
    int64_t count = count_targets(&k.l);
    if (count < 0) {
        return NULL;
    }
    k.out = hd__tensor_ptr(y);
    run_rows(&k, entropy_rows);
    p->divisor = r == HD_MEAN ? (double)count : 1;
    return hd_scope_return(hd__op_reduced_loss(y, r, p->divisor));
}

/* Warns if x is the result of a softmax over the classes. Warns once for each number of classes,
 * because a program may train several models. */
HD__RARE static void warn_of_softmax(const hd_tensor *x)
{
    static atomic_uint_least64_t told;
    const int64_t classes = x->sizes[x->ndim > 1];
    if (classes > 1 && hd__op_is_softmax(x, x->ndim > 1) &&
        hd__error_first(&told, (uintptr_t)classes)) {
        hd_warn("x %s is the result of hd_softmax over the %" PRId64
                " classes, but the loss does a softmax of its own, so the model hardly learns. "
                "Pass the input of hd_softmax",
                HD__SHAPE(x), classes);
    }
}

static const hd_cross_entropy_options entropy_defaults = {
    .size = sizeof(hd_cross_entropy_options), .ignore_index = -100, .reduction = HD_MEAN};

static bool class_args(hd_tensor *x, hd_tensor *target, const hd_cross_entropy_options *o)
{
    return HD__SIZE_OK(o, "hd_cross_entropy_defaults()") && hd__tensor_arg("x", x) &&
           hd__tensor_arg("target", target) && class_dtypes(x, target) &&
           hd__op_reduction_arg(o->reduction) && target_arg(x, target);
}

hd_cross_entropy_options hd_cross_entropy_defaults(void)
{
    return entropy_defaults;
}

hd_tensor *hd_cross_entropy_with(hd_tensor *x, hd_tensor *target, const hd_cross_entropy_options *o)
{
    HD__CALL("hd_cross_entropy_with");
    o = o ? o : &entropy_defaults;
    if (!class_args(x, target, o)) {
        return NULL;
    }
    int64_t sizes[] = {target->numel, 2};
    hd_tensor *stats = hd__tensor_empty(x->dtype, 2, sizes); /* (rows, 2) */
    entropy_params p = {.ignore = o->ignore_index};
    hd_tensor *y = entropy(x, target, stats, &p, o->reduction);
    hd_tensor *saved[] = {x, target, stats};
    if (y && hd__error_warns()) {
        warn_of_softmax(x);
    }
    return HD__RECORD(class_op(entropy_ops, x->ndim, o->reduction), y, HD__IN(1, &x),
                      HD__SAVES(3, saved), HD__PARAMS(p));
}

hd_tensor *hd_cross_entropy(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_cross_entropy");
    return hd_cross_entropy_with(x, target, NULL);
}

/* ---------------------------------------------------------------- nll_loss */

/* Returns target as an index for hd_gather, with as many dims as x, and with 0 where left_out is
 * true; NULL on failure. */
static hd_tensor *class_index(hd_tensor *x, hd_tensor *target, hd_tensor *left_out)
{
    hd_tensor *index = hd_masked_fill(target, left_out, 0);
    return x->ndim == 1 ? hd_view(index, 1) : hd_unsqueeze(index, 1);
}

/* Returns the loss of each row, unrecorded: -x[target], or 0 if the target equals `ignore`. NULL
 * on failure. */
static hd_tensor *class_losses(hd_tensor *x, hd_tensor *target, int64_t ignore)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    hd_tensor *left_out = hd_eq_scalar(target, ignore), *index = class_index(x, target, left_out);
    if (x->ndim == 1) { /* As in PyTorch, the loss of a single row is never -0. */
        hd_tensor *y = hd_masked_fill(hd_rsub_scalar(hd_gather(x, 0, index), 0), left_out, 0);
        return hd_scope_return(hd_sum(y));
    }
    hd_tensor *y = hd_neg(hd_squeeze(hd_gather(x, 1, index), 1));
    return hd_scope_return(hd_masked_fill(y, left_out, 0));
}

/* y_i = -x_i[t_i] / divisor, or 0 if t_i is ignored:  dx_i[t_i] += -dy_i / divisor, or 0 */
static void nll_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const entropy_params *p = hd__node_params(n);
    hd_tensor *target = hd__node_saved_get(n, 0), *x = hd__node_saved_get(n, 1);
    hd_tensor *left_out = hd_eq_scalar(target, p->ignore);
    hd_tensor *index = class_index(x, target, left_out);
    hd_tensor *g = hd_masked_fill(hd_div_scalar(hd_neg(dy[0]), p->divisor), left_out, 0);
    g = x->ndim == 1 ? hd_view(g, 1) : hd_unsqueeze(g, 1);
    dx[0] = hd_scatter(hd__op_zeros_like_input(n, dy[0]->dtype), x->ndim > 1, index, g);
}

static const hd__op nll_ops[] = CLASS_OPS(nll_backward);

hd_tensor *hd_nll_loss_with(hd_tensor *x, hd_tensor *target, const hd_cross_entropy_options *o)
{
    HD__CALL("hd_nll_loss_with");
    o = o ? o : &entropy_defaults;
    hd_tensor *flat = class_args(x, target, o) ? hd__tensor_contiguous(target) : NULL;
    if (!flat) {
        return NULL;
    }
    const hdk_logits l = {.rows = flat->numel,
                          .c = x->sizes[x->ndim > 1],
                          .target = hd__tensor_ptr(flat),
                          .ignore = o->ignore_index};
    const int64_t count = count_targets(&l);
    const double divisor = o->reduction == HD_MEAN ? (double)count : 1;
    hd_tensor *losses = count < 0 ? NULL : class_losses(x, target, o->ignore_index);
    const entropy_params p = {o->ignore_index, divisor};
    return HD__RECORD(class_op(nll_ops, x->ndim, o->reduction),
                      hd__op_reduced_loss(losses, o->reduction, divisor), HD__IN(1, &x),
                      HD__SAVES(2, ((hd_tensor *[]){target, x})), HD__PARAMS(p));
}

hd_tensor *hd_nll_loss(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_nll_loss");
    return hd_nll_loss_with(x, target, NULL);
}
