/* layer_norm.c - layer norm over the last dims, and RMS norm, which calls other ops.
 *
 * The gradients of weight and bias are sums over all rows. Each task sums ROWS rows, and then the
 * sums of the tasks are added. So the order of the additions depends on the shapes alone. */
#include "autograd/ops/arith.h"
#include "autograd/record.h"
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/kernels/norm.h"
#include "tensor/kernels/reduce.h"
#include "tensor/reduce_dims.h"
#include "tensor/tensor_args.h"

enum {
    ROWS = 32,        /* rows that one task of backward sums */
    NORM_GRAIN = 4096 /* the fewest elements of a task */
};

typedef struct norm_task {
    hdk_norm_rows r;
    int dtype;
    int64_t item; /* bytes of an element */
    const void *bias, *dy;
    double eps;
    bool stream; /* true: the result is so large that writing it should bypass the cache */
    void *y, *dx, *dweight, *dbias;
} norm_task;

/* Returns base + elements, of `item` bytes each; NULL if base is NULL. */
static void *at(const void *base, int64_t elements, int64_t item)
{
    return base ? (char *)base + elements * item : NULL;
}

static hdk_norm_rows norm_rows_from(const norm_task *k, int64_t begin, int64_t end)
{
    hdk_norm_rows r = k->r;
    r.rows = end - begin;
    r.x = at(r.x, begin * r.n, k->item);
    r.stats = at(r.stats, begin * 3, k->item);
    return r;
}

static void forward_rows(int64_t begin, int64_t end, void *arg)
{
    const norm_task *k = arg;
    hdk_norm_rows r = norm_rows_from(k, begin, end);
    hdk_norm_for(k->dtype)->layer_norm[k->dtype](&r, k->bias, k->eps, k->stream,
                                                 at(k->y, begin * r.n, k->item));
}

static void backward_groups(int64_t begin, int64_t end, void *arg)
{
    const norm_task *k = arg;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = i * ROWS, to = from + ROWS < k->r.rows ? from + ROWS : k->r.rows, n = k->r.n;
        hdk_norm_rows r = norm_rows_from(k, from, to);
        hdk_norm_for(k->dtype)->layer_norm_backward[k->dtype](
            &r, at(k->dy, from * n, k->item), k->stream, at(k->dx, from * n, k->item),
            at(k->dweight, i * n, k->item), at(k->dbias, i * n, k->item));
    }
}

/* Returns a task for the contiguous tensor x, which is normalized over its last n dims. weight may
 * be HD_NONE. The caller adds the other fields. */
static norm_task task_of(const hd_tensor *x, int n, const hd_tensor *weight, const hd_tensor *stats)
{
    int64_t item = hd__tensor_bytes_of(x->dtype);
    return (norm_task){.r = {stats->sizes[0], hd__tensor_count_of(n, x->sizes + x->ndim - n),
                             hd__tensor_ptr(x), hd__tensor_ptr_or_null(weight),
                             hd__tensor_ptr(stats)},
                       .dtype = x->dtype,
                       .item = item,
                       .stream = x->numel * item >= HDK_STREAM_BYTES};
}

/* z = (x - mean) / s,  s = sqrt(var + eps),  g = dy * weight:
 * dx += (g - mean(g) - z * mean(g * z)) / s;  dweight += sum(dy * z) and dbias += sum(dy), both
 * over all rows */
static void layer_norm_backward(hd__node *node, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dims = hd__node_params(node);
    hd_tensor *x = hd__node_saved_get(node, 0), *weight = hd__node_saved_get(node, 1);
    hd_tensor *g = hd__tensor_contiguous(dy[0]);
    x = hd__tensor_contiguous(x);
    weight = hd__tensor_is_none(weight) ? weight : hd__tensor_contiguous(weight);
    if (!x || !weight || !g) {
        return;
    }
    norm_task k = task_of(x, *dims, weight, hd__node_saved_get(node, 2));
    int64_t groups[] = {(k.r.rows + ROWS - 1) / ROWS, k.r.n};
    void **out[] = {&k.dx, &k.dweight, &k.dbias};
    k.dy = hd__tensor_ptr(g);
    for (int i = 0; i < 3; i++) {
        if (hd__node_needs(node, i)) {
            dx[i] = i ? hd__tensor_empty(x->dtype, 2, groups) : hd__tensor_empty_as(x->dtype, x);
            if (!dx[i]) {
                return;
            }
            *out[i] = hd__tensor_ptr(dx[i]);
        }
    }
    hd__parallel_for(groups[0], NORM_GRAIN / (k.r.n * ROWS + 1), backward_groups, &k);
    for (int i = 1; i < 3; i++) { /* adds the sums of the tasks */
        if (hd__node_needs(node, i)) {
            dx[i] =
                hd_reshape_n(hd__reduce_sum(dx[i], 1, false), *dims, x->sizes + x->ndim - *dims);
        }
    }
}

static const hd__op layer_norm_op = HD__OP("NativeLayerNormBackward0", layer_norm_backward);

/* ---------------------------------------------------------------- forward */

static bool shape_arg(const hd_tensor *x, int n, const int64_t *shape)
{
    return (n >= 1 || hd_fail(HD_SHAPE, "%d normalized dims: expected 1 or more", n)) &&
           hd__arg_given("normalized_shape", shape) &&
           ((n <= x->ndim &&
             memcmp(shape, x->sizes + x->ndim - n, sizeof *shape * (size_t)n) == 0) ||
            hd_fail(HD_SHAPE, "x %s and normalized shape %s: expected the sizes of x's last dims",
                    HD__SHAPE(x), HD__SIZES(n < HD_MAX_DIMS ? n : HD_MAX_DIMS, shape)));
}

/* Returns true if w, the weight or the bias, is HD_NONE, or has x's dtype and the sizes of x's last
 * n dims. Otherwise returns false with an error, such as HD_SHAPE or HD_DTYPE. */
static bool scale_arg(const char *name, const hd_tensor *w, const hd_tensor *x, int n)
{
    if (!hd__tensor_arg_or_none(name, w) || hd__tensor_is_none(w)) {
        return w == HD_NONE;
    }
    const int64_t *sizes = x->sizes + x->ndim - n;
    return (hd__tensor_has_sizes(w, n, sizes) ||
            hd_fail(HD_SHAPE, "%s %s: expected the normalized shape %s", name, HD__SHAPE(w),
                    HD__SIZES(n, sizes))) &&
           hd__tensor_one_dtype("x", x, name, w);
}

static hd_tensor *normalize(hd_tensor *x, int n, hd_tensor *weight, hd_tensor *bias, double eps,
                            hd_tensor *stats)
{
    hd_tensor *y = hd__tensor_empty_as(x->dtype, x);
    HD__SCOPE_OR(NULL);
    hd_tensor *dense = hd__tensor_contiguous(x);
    hd_tensor *w = hd__tensor_is_none(weight) ? weight : hd__tensor_contiguous(weight);
    hd_tensor *b = hd__tensor_is_none(bias) ? bias : hd__tensor_contiguous(bias);
    if (!y || !dense || !w || !b || !stats) {
        return NULL;
    }
    norm_task k = task_of(dense, n, w, stats);
    k.bias = hd__tensor_ptr_or_null(b);
    k.eps = eps;
    k.y = hd__tensor_ptr(y);
    hd__parallel_for(k.r.rows, NORM_GRAIN / (k.r.n + 1), forward_rows, &k);
    return y;
}

hd_tensor *hd_layer_norm_n(hd_tensor *x, int n, const int64_t *normalized_shape, hd_tensor *weight,
                           hd_tensor *bias, double eps)
{
    HD__CALL("hd_layer_norm_n");
    if (!hd__tensor_float_x(x) || !shape_arg(x, n, normalized_shape) ||
        !scale_arg("weight", weight, x, n) || !scale_arg("bias", bias, x, n)) {
        return NULL;
    }
    const int64_t sizes[] = {hd__tensor_count_of(x->ndim - n, x->sizes), 3};
    hd_tensor *stats = hd__tensor_empty(x->dtype, 2, sizes); /* (rows, 3), see norm.h */
    hd_tensor *y = normalize(x, n, weight, bias, eps, stats);
    /* As in PyTorch, the bias is saved, too, so it must not change before backward. */
    hd_tensor *in[] = {x, weight, bias}, *saved[] = {x, weight, stats, bias};
    return HD__RECORD(&layer_norm_op, y, HD__IN(3, in), HD__SAVES(4, saved), HD__PARAMS(n));
}

/* ---------------------------------------------------------------- rms_norm */

static const hd__op plus_eps_op = HD__OP("AddBackward1", hd__op_same_backward);

/* Returns x + eps, recorded; NULL on failure. PyTorch adds eps in C++, so the node's name is not
 * that of hd_add_scalar. */
static hd_tensor *plus_eps(hd_tensor *x, double eps)
{
    hd_tensor *y;
    {
        HD_NO_GRAD;
        y = hd_add_scalar(x, eps);
    }
    return HD__RECORD(&plus_eps_op, y, HD__IN(1, &x));
}

hd_tensor *hd_rms_norm(hd_tensor *x, hd_tensor *weight, double eps)
{
    HD__CALL("hd_rms_norm");
    if (!hd__tensor_float_x(x)) {
        return NULL;
    }
    if (x->ndim < 1) {
        return hd_fail(HD_SHAPE, "x is 0-d: expected 1 dim or more");
    }
    if (!scale_arg("weight", weight, x, 1)) {
        return NULL;
    }
    HD__SCOPE_OR(NULL);
    hd_tensor *mean = hd_mean_dim(hd_pow_scalar(x, 2), -1, true); /* (..., 1) */
    hd_tensor *y = hd_mul(x, hd_rsqrt(plus_eps(mean, eps)));
    y = hd_contiguous(hd__tensor_is_none(weight) ? y : hd_mul(y, weight));
    return hd_scope_return(y);
}
