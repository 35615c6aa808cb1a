/* loss_elements.c - losses that compare each element with its target: mse, l1, smooth_l1, kl_div
 * and the binary cross entropies.
 *
 * If PyTorch records one node for a loss, heed does, too: it computes the loss unrecorded, and the
 * node's backward multiplies dy by the derivative. */
#include "autograd/ops/loss_elements.h"
#include "autograd/ops/reductions.h"
#include "autograd/record.h"
#include "base/threads/pool.h"
#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/loss.h"
#include "tensor/kernels/reduce.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- all losses */

bool hd__op_reduction_fail(hd_reduction r)
{
    return hd_fail(HD_VALUE, "reduction %d: expected HD_MEAN, HD_SUM or HD_REDUCE_NONE", (int)r);
}

hd_tensor *hd__op_reduced_loss(hd_tensor *losses, hd_reduction r, double n)
{
    hd_tensor *y = losses;
    if (y && y->ndim > 0 && r != HD_REDUCE_NONE) {
        y = hd__reduce_sum(losses, hd__tensor_all_dims(losses), false);
        hd_release(losses);
    }
    if (y && r == HD_MEAN) {
        hd__op_divide_by(y, n);
    }
    return y;
}

/* ---------------------------------------------------------------- distances: arguments */

/* Writes the shape of the losses to *ndim and sizes. Returns false with an error if an argument is
 * wrong. */
static bool distance_args(hd_tensor *x, hd_tensor *target, hd_reduction r, int *ndim,
                          int64_t *sizes)
{
    return hd__tensor_arg("x", x) && hd__tensor_arg("target", target) && hd__op_reduction_arg(r) &&
           hd__tensor_broadcast(2, (hd_tensor *[]){x, target}, ndim, sizes);
}

/* Sets *d to the dtype of the losses. Returns false with HD_DTYPE unless x or target is float32 or
 * float64. */
static inline bool distance_dtype(const hd_tensor *x, const hd_tensor *target, hd_dtype *d)
{
    /* As in PyTorch, and unlike in arithmetic, a 0-d float64 tensor makes the losses float64. */
    *d = x->dtype == HD_FLOAT64 || target->dtype == HD_FLOAT64 ? HD_FLOAT64 : HD_FLOAT32;
    return hd__tensor_is_float(x->dtype) || hd__tensor_is_float(target->dtype) ||
           hd_fail(HD_DTYPE, "%s and %s: expected float32 or float64 in one of them",
                   hd_dtype_name(x->dtype), hd_dtype_name(target->dtype));
}

HD__RARE static void tell_of_broadcast(const hd_tensor *x, const hd_tensor *target, int ndim,
                                       const int64_t *sizes)
{
    hd_warn("x %s and target %s differ in shape, so the loss is taken over their broadcast %s, "
            "which is probably wrong. Give both the same shape, for example with hd_view",
            HD__SHAPE(x), HD__SHAPE(target), HD__SIZES(ndim, sizes));
}

static inline void warn_broadcast_loss(const hd_tensor *x, const hd_tensor *target, int ndim,
                                       const int64_t *sizes)
{
    if (hd__error_warns() && !hd__tensor_same_shape(x, target)) {
        tell_of_broadcast(x, target, ndim, sizes);
    }
}

/* ---------------------------------------------------------------- mse_loss */

/* Returns norm * (x - t) * dy in the shape to which x and t broadcast; NULL on failure. norm
 * is n's params. */
static hd_tensor *mse_slope(hd__node *n, hd_tensor *x, hd_tensor *t, hd_tensor *dy)
{
    hd_tensor *in[] = {x, t};
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    hd_tensor *g =
        hd__tensor_broadcast(2, in, &ndim, sizes) ? hd__tensor_empty(dy->dtype, ndim, sizes) : NULL;
    return hd__map(hdk_loss_for(dy->dtype)->square_backward[dy->dtype], hd__node_params(n), 4,
                   (hd_tensor *[]){g, x, t, dy});
}

/* y = norm / 2 * sum((x - t)^2), where norm is 2 / the number of losses for HD_MEAN, else 2:
 * dx += norm * (x - t) * dy,  dt += norm * (t - x) * dy */
static void mse_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *x = hd__tensor_cast(hd__node_saved_get(n, 0), dy[0]->dtype);
    hd_tensor *t = hd__tensor_cast(hd__node_saved_get(n, 1), dy[0]->dtype);
    if (!x || !t) {
        return;
    }
    dx[0] = hd__node_needs(n, 0) ? mse_slope(n, x, t, dy[0]) : HD_NONE;
    dx[1] = hd__node_needs(n, 1) ? mse_slope(n, t, x, dy[0]) : HD_NONE;
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
            const double *x = hd__tensor_ptr(k->x), *t = hd__tensor_ptr(k->t);
            ((double *)hd__tensor_ptr(k->pieces))[i] =
                hdk_reduce()->distance_f64(x + at, t + at, n);
        } else {
            const float *x = hd__tensor_ptr(k->x), *t = hd__tensor_ptr(k->t);
            ((float *)hd__tensor_ptr(k->pieces))[i] = hdk_reduce()->distance_f32(x + at, t + at, n);
        }
    }
}

/* Returns (x - t)^2 in the shape to which x and t broadcast; NULL on failure. */
static hd_tensor *squares(hd_tensor *x, hd_tensor *t)
{
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    hdk_loop square = hdk_loss_for(x->dtype)->square[x->dtype];
    HD__SCOPE_OR(NULL);
    if (!hd__tensor_broadcast(2, (hd_tensor *[]){x, t}, &ndim, sizes)) {
        return NULL;
    }
    /* As in PyTorch, y is laid out like the expanded x and t. */
    x = hd__tensor_expand(x, ndim, sizes);
    t = x ? hd__tensor_expand(t, ndim, sizes) : NULL;
    hd_tensor *y = t ? hd__loop_out(x->dtype, 2, (hd_tensor *[]){x, t}) : NULL;
    return hd_scope_return(hd__map(square, NULL, 3, (hd_tensor *[]){y, x, t}));
}

/* Returns a tensor whose sum is the sum of (x - t)^2: the squares or, if x and t have one shape and
 * are contiguous, the sums of pieces of the squares, which need less memory. If there is one piece,
 * the result is 0-d. NULL on failure. */
static hd_tensor *square_sums(hd_tensor *x, hd_tensor *t)
{
    if (!hd__tensor_same_shape(x, t) || !hd__tensor_contig(x) || !hd__tensor_contig(t)) {
        return squares(x, t);
    }
    int64_t pieces = x->numel > HDK_SUM_MAX ? (x->numel + HDK_SUM_MAX - 1) / HDK_SUM_MAX : 1;
    distance_task k = {x, t, hd__tensor_empty(x->dtype, pieces > 1, &pieces)};
    if (k.pieces) {
        hd__parallel_for(pieces, 1, distances, &k);
    }
    return k.pieces;
}

static hd_tensor *mse(hd_tensor *x, hd_tensor *t, hd_dtype d, hd_reduction r, double numel)
{
    if (x->dtype != d || t->dtype != d) {
        HD__SCOPE_OR(NULL);
        hd_tensor *a = hd__tensor_cast(x, d), *b = hd__tensor_cast(t, d);
        return a && b ? hd_scope_return(mse(a, b, d, r, numel)) : NULL;
    }
    return hd__op_reduced_loss(r == HD_REDUCE_NONE ? squares(x, t) : square_sums(x, t), r, numel);
}

hd_tensor *hd_mse_loss_with(hd_tensor *x, hd_tensor *target, hd_reduction r)
{
    HD__CALL("hd_mse_loss_with");
    hd_tensor *in[] = {x, target};
    hd_dtype d;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    /* Does what distance_args does. A call of distance_args would slow down a tiny training
     * step. */
    if (!hd__tensor_arg("x", x) || !hd__tensor_arg("target", target) || !hd__op_reduction_arg(r) ||
        !hd__tensor_broadcast(2, in, &ndim, sizes) || !distance_dtype(x, target, &d)) {
        return NULL;
    }
    warn_broadcast_loss(x, target, ndim, sizes);
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

/* ---------------------------------------------------------------- compositions */

/* Returns `losses`, their sum or their mean, as r says; NULL on failure. `losses` is the recorded
 * result of another op. */
static hd_tensor *reduced(hd_tensor *losses, hd_reduction r)
{
    return r == HD_REDUCE_NONE ? losses : r == HD_SUM ? hd_sum(losses) : hd_mean(losses);
}

hd_tensor *hd_l1_loss_with(hd_tensor *x, hd_tensor *target, hd_reduction r)
{
    HD__CALL("hd_l1_loss_with");
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    if (!distance_args(x, target, r, &ndim, sizes)) {
        return NULL;
    }
    warn_broadcast_loss(x, target, ndim, sizes);
    HD__SCOPE_OR(NULL);
    /* gives a 0-d x or target more dims, so that its dtype counts for the dtype of the result */
    if (!hd__tensor_same_shape(x, target)) {
        x = hd_expand_n(x, ndim, sizes);
        target = hd_expand_n(target, ndim, sizes);
    }
    return hd_scope_return(reduced(hd_abs(hd_sub(x, target)), r));
}

hd_tensor *hd_l1_loss(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_l1_loss");
    return hd_l1_loss_with(x, target, HD_MEAN);
}

/* Returns t * log t, and 0 where t is 0, without computing log 0; NULL on failure. */
static hd_tensor *entropies(hd_tensor *t)
{
    return hd_mul(t, hd_log(hd_masked_fill(t, hd_eq_scalar(t, 0), 1)));
}

hd_tensor *hd_kl_div_with(hd_tensor *x, hd_tensor *target, bool log_target, hd_reduction r)
{
    HD__CALL("hd_kl_div_with");
    if (!hd__tensor_arg("x", x) || !hd__tensor_arg("target", target) || !hd__tensor_float_arg(x) ||
        !hd__tensor_float_arg(target) || !hd__op_reduction_arg(r)) {
        return NULL;
    }
    HD__SCOPE_OR(NULL);
    hd_tensor *y = log_target ? hd_mul(hd_exp(target), hd_sub(target, x))
                              : hd_sub(entropies(target), hd_mul(target, x));
    return hd_scope_return(reduced(y, r));
}

hd_tensor *hd_kl_div(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_kl_div");
    return hd_kl_div_with(x, target, false, HD_MEAN);
}

/* ---------------------------------------------------------------- losses of one node */

typedef struct loss_params {
    double norm; /* 1 / the number of losses for HD_MEAN, else 1 */
    double beta; /* the beta of smooth_l1_loss; else 0 */
} loss_params;

/* Reduces the unrecorded losses, records the result as an output of op with the inputs x and
 * target, and returns it. NULL if losses is NULL or memory runs out. */
static hd_tensor *record_losses(const hd__op *op, hd_tensor *losses, hd_reduction r, hd_tensor *x,
                                hd_tensor *target, double beta)
{
    hd_tensor *in[] = {x, target};
    const double n = losses && r == HD_MEAN ? (double)losses->numel : 1;
    const loss_params p = {1 / n, beta};
    return HD__RECORD(op, hd__op_reduced_loss(losses, r, n), HD__IN(2, in), HD__SAVES(2, in),
                      HD__PARAMS(p));
}

/* Returns norm * dy, the gradient for each single loss; NULL on failure. norm is in n's params,
 * loss_params. */
static hd_tensor *dy_of_one(hd__node *n, hd_tensor *dy)
{
    const loss_params *p = hd__node_params(n);
    return hd_mul_scalar(dy, p->norm);
}

/* Returns m^2 / (2 * beta) + |x - t| - m, where m = min(|x - t|, beta), unrecorded; NULL on
 * failure. */
static hd_tensor *smooth_losses(hd_tensor *x, hd_tensor *t, double beta)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    hd_tensor *distance = hd_abs(hd_sub(x, t)), *m = hd_clamp_max(distance, beta);
    hd_tensor *square = hd_div_scalar(hd_mul(hd_mul_scalar(m, 0.5), m), beta);
    return hd_scope_return(hd_add(square, hd_sub(distance, m)));
}

/* dx += norm * dy * clamp((x - t) / beta, -1, 1);  dt += the same, negated */
static void smooth_l1_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const loss_params *p = hd__node_params(n);
    const hd_dtype d = dy[0]->dtype;
    hd_tensor *difference =
        hd_sub(hd_to(hd__node_saved_get(n, 0), d), hd_to(hd__node_saved_get(n, 1), d));
    hd_tensor *slope = hd_clamp(hd_div_scalar(difference, p->beta), -1, 1);
    dx[0] = hd_mul(slope, dy_of_one(n, dy[0]));
    dx[1] = hd__node_needs(n, 1) ? hd_neg(dx[0]) : HD_NONE;
}

static const hd__op smooth_l1_op = HD__OP("SmoothL1LossBackward0", smooth_l1_backward);

hd_tensor *hd_smooth_l1_loss_with(hd_tensor *x, hd_tensor *target, double beta, hd_reduction r)
{
    HD__CALL("hd_smooth_l1_loss_with");
    hd_dtype d;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    if (beta == 0) {
        return hd_l1_loss_with(x, target, r);
    }
    if (!distance_args(x, target, r, &ndim, sizes) || !distance_dtype(x, target, &d)) {
        return NULL;
    }
    if (!(beta > 0)) {
        return hd_fail(HD_VALUE, "beta %g: expected 0 or more", beta);
    }
    warn_broadcast_loss(x, target, ndim, sizes);
    HD__SCOPE_OR(NULL);
    hd_tensor *losses = smooth_losses(hd_to(x, d), hd_to(target, d), beta);
    return hd_scope_return(record_losses(&smooth_l1_op, losses, r, x, target, beta));
}

hd_tensor *hd_smooth_l1_loss(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_smooth_l1_loss");
    return hd_smooth_l1_loss_with(x, target, 1, HD_MEAN);
}

/* ---------------------------------------------------------------- binary cross entropies */

static bool binary_args(hd_tensor *x, hd_tensor *target, hd_reduction r)
{
    return hd__tensor_arg("x", x) && hd__tensor_arg("target", target) && hd__op_reduction_arg(r) &&
           hd__tensor_one_dtype("x", x, "target", target) && hd__tensor_float_arg(x) &&
           (hd__tensor_same_shape(x, target) ||
            hd_fail(HD_SHAPE, "x %s and target %s: expected equal shapes", HD__SHAPE(x),
                    HD__SHAPE(target)));
}

/* Returns true if all elements of x lie in [0, 1], and false with HD_VALUE otherwise. The message
 * calls x `name` and ends in `advice`, which may be "". */
static bool probabilities_arg(const char *name, hd_tensor *x, const char *advice)
{
    HD__SCOPE_OR(false);
    x = hd__tensor_contiguous(x);
    for (int64_t i = 0; x && i < x->numel; i++) {
        const double v = hd__tensor_float_at(x, x->offset + i);
        if (!(v >= 0 && v <= 1)) {
            return hd_fail(HD_VALUE, "%s has %g at %s: expected 0 to 1%s", name, v, HD__INDEX(x, i),
                           advice);
        }
    }
    return x;
}

/* Returns max(f(x), -100), where f is a logarithm. Where x equals pole, f(x) is -infinity; the
 * result is -100, and f is called with 1 instead. NULL on failure. */
static hd_tensor *log_or_100(hd_tensor *(*f)(hd_tensor *), hd_tensor *x, double pole)
{
    hd_tensor *at_pole = hd_eq_scalar(x, pole);
    hd_tensor *y = hd_masked_fill(f(hd_masked_fill(x, at_pole, 1)), at_pole, -100);
    return hd_clamp_min(y, -100);
}

/* Returns (t - 1) * log(1 - x) - t * log x, unrecorded; NULL on failure. A logarithm below -100
 * counts as -100. */
static hd_tensor *binary_losses(hd_tensor *x, hd_tensor *t)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    hd_tensor *not_x = log_or_100(hd_log1p, hd_neg(x), -1), *log_x = log_or_100(hd_log, x, 0);
    hd_tensor *y = hd_sub(hd_mul(not_x, hd_sub_scalar(t, 1)), hd_mul(log_x, t));
    hd_tensor *as_x = y ? hd__tensor_laid_out_as(hd__tensor_empty_as(x->dtype, x), x) : NULL;
    return hd_scope_return(hd__tensor_copy(as_x, y));
}

/* dx += norm * dy * (x - t) / max((1 - x) * x, 1e-12)
 * dt += norm * dy * (log(1 - x) - log x) */
static void binary_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *x = hd__node_saved_get(n, 0), *t = hd__node_saved_get(n, 1),
              *g = dy_of_one(n, dy[0]);
    if (hd__node_needs(n, 0)) {
        hd_tensor *variance = hd_clamp_min(hd_mul(hd_rsub_scalar(x, 1), x), 1e-12);
        dx[0] = hd_div(hd_mul(g, hd_sub(x, t)), variance);
    }
    if (hd__node_needs(n, 1)) {
        dx[1] = hd_mul(g, hd_sub(hd_log1p(hd_neg(x)), hd_log(x)));
    }
}

static const hd__op binary_op = HD__OP("BinaryCrossEntropyBackward0", binary_backward);

hd_tensor *hd_binary_cross_entropy_with(hd_tensor *x, hd_tensor *target, hd_reduction r)
{
    HD__CALL("hd_binary_cross_entropy_with");
    const char *advice = ". Pass the input of hd_sigmoid to hd_binary_cross_entropy_with_logits";
    if (!binary_args(x, target, r) || !probabilities_arg("x", x, advice) ||
        !probabilities_arg("target", target, "")) {
        return NULL;
    }
    return record_losses(&binary_op, binary_losses(x, target), r, x, target, 0);
}

hd_tensor *hd_binary_cross_entropy(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_binary_cross_entropy");
    return hd_binary_cross_entropy_with(x, target, HD_MEAN);
}

/* Returns (1 - t) * x - log(sigmoid(x)), unrecorded; NULL on failure. */
static hd_tensor *logit_losses(hd_tensor *x, hd_tensor *t)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    return hd_scope_return(hd_sub(hd_mul(hd_rsub_scalar(t, 1), x), hd_logsigmoid(x)));
}

/* dx += norm * dy * (sigmoid(x) - t);  dt += -norm * dy * x */
static void binary_logits_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *x = hd__node_saved_get(n, 0), *t = hd__node_saved_get(n, 1),
              *g = dy_of_one(n, dy[0]);
    dx[0] = hd__node_needs(n, 0) ? hd_mul(g, hd_sub(hd_sigmoid(x), t)) : HD_NONE;
    dx[1] = hd__node_needs(n, 1) ? hd_mul(g, hd_neg(x)) : HD_NONE;
}

static const hd__op binary_logits_op =
    HD__OP("BinaryCrossEntropyWithLogitsBackward0", binary_logits_backward);

hd_tensor *hd_binary_cross_entropy_with_logits_with(hd_tensor *x, hd_tensor *target, hd_reduction r)
{
    HD__CALL("hd_binary_cross_entropy_with_logits_with");
    hd_tensor *losses = binary_args(x, target, r) ? logit_losses(x, target) : NULL;
    return record_losses(&binary_logits_op, losses, r, x, target, 0);
}

hd_tensor *hd_binary_cross_entropy_with_logits(hd_tensor *x, hd_tensor *target)
{
    HD__CALL("hd_binary_cross_entropy_with_logits");
    return hd_binary_cross_entropy_with_logits_with(x, target, HD_MEAN);
}
