/* unary.c - functions of one tensor, element by element.
 *
 * A node saves x or y if backward needs it. The formulas, and the order in which they round, are
 * those of PyTorch's CPU kernels. */
#include "autograd/ops/arith.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- of x alone */

enum unary_saves { SAVE_X, SAVE_Y, SAVE_NOTHING };

/* Returns y = f(x), recorded; NULL on failure. f is loop number `loop`. Computes in float32 if f
 * has no loop for x's dtype. */
static hd_tensor *unary(const hd__op *op, int loop, hd_tensor *x, enum unary_saves saves)
{
    if (!hd__tensor_arg("x", x)) {
        return NULL;
    }
    hd_dtype d = hdk_unary_loop(loop, x->dtype) ? x->dtype : HD_FLOAT32;
    hd_tensor *y = hd__map_unary(hdk_unary_loop(loop, d), NULL, d, x);
    return HD__RECORD(op, y, HD__IN(1, &x), HD__SAVES(saves == SAVE_X, &x),
                      .save_y = saves == SAVE_Y);
}

/* dx += loop(dy, the saved tensor), where loop is number op->kind of hdk_binary. */
static void loop_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd__map_backward(n->op->kind, NULL, dy[0], hd__node_saved_get(n, 0));
}

/* dx += dy * 2 / sqrt(pi) * e^(-x^2) */
static void erf_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const double two_over_sqrt_pi = 1.12837916709551257390;
    hd_tensor *x = hd__node_saved_get(n, 0);
    dx[0] = hd_mul(hd_mul_scalar(hd_exp(hd_neg(hd_mul(x, x))), two_over_sqrt_pi), dy[0]);
}

/* dx += dy * cos(x) */
static void sin_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd_mul(dy[0], hd_cos(hd__node_saved_get(n, 0)));
}

/* dx += -dy * sin(x) */
static void cos_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd_mul(dy[0], hd_neg(hd_sin(hd__node_saved_get(n, 0))));
}

/* dx += -dy * y^2 */
static void reciprocal_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *y = hd__node_saved_get(n, 0);
    dx[0] = hd_mul(hd_neg(dy[0]), hd_mul(y, y));
}

/* dx += dy * y */
static const hd__op exp_op = HD__OP_KIND("ExpBackward0", loop_backward, HDK_MUL);
/* dx += dy / x */
static const hd__op log_op = HD__OP_KIND("LogBackward0", loop_backward, HDK_DIV);
/* dx += dy / (2 * y) */
static const hd__op sqrt_op = HD__OP_KIND("SqrtBackward0", loop_backward, HDK_SQRT_BACKWARD);
/* dx += -dy * y^3 / 2 */
static const hd__op rsqrt_op = HD__OP_KIND("RsqrtBackward0", loop_backward, HDK_RSQRT_BACKWARD);
/* dx += dy * (1 - y^2) */
static const hd__op tanh_op = HD__OP_KIND("TanhBackward0", loop_backward, HDK_TANH_BACKWARD);
/* dx += dy * (1 - y) * y */
static const hd__op sigmoid_op =
    HD__OP_KIND("SigmoidBackward0", loop_backward, HDK_SIGMOID_BACKWARD);
/* dx += dy / (1 + x) */
static const hd__op log1p_op = HD__OP_KIND("Log1PBackward0", loop_backward, HDK_LOG1P_BACKWARD);
static const hd__op erf_op = HD__OP("ErfBackward0", erf_backward);
static const hd__op sin_op = HD__OP("SinBackward0", sin_backward);
static const hd__op cos_op = HD__OP("CosBackward0", cos_backward);
static const hd__op reciprocal_op = HD__OP("ReciprocalBackward0", reciprocal_backward);

hd_tensor *hd_exp(hd_tensor *x)
{
    HD__CALL("hd_exp");
    return unary(&exp_op, HDK_EXP, x, SAVE_Y);
}

hd_tensor *hd_log(hd_tensor *x)
{
    HD__CALL("hd_log");
    return unary(&log_op, HDK_LOG, x, SAVE_X);
}

hd_tensor *hd_sqrt(hd_tensor *x)
{
    HD__CALL("hd_sqrt");
    return unary(&sqrt_op, HDK_SQRT, x, SAVE_Y);
}

hd_tensor *hd_rsqrt(hd_tensor *x)
{
    HD__CALL("hd_rsqrt");
    return unary(&rsqrt_op, HDK_RSQRT, x, SAVE_Y);
}

hd_tensor *hd_tanh(hd_tensor *x)
{
    HD__CALL("hd_tanh");
    return unary(&tanh_op, HDK_TANH, x, SAVE_Y);
}

hd_tensor *hd_erf(hd_tensor *x)
{
    HD__CALL("hd_erf");
    return unary(&erf_op, HDK_ERF, x, SAVE_X);
}

hd_tensor *hd_sigmoid(hd_tensor *x)
{
    HD__CALL("hd_sigmoid");
    return unary(&sigmoid_op, HDK_SIGMOID, x, SAVE_Y);
}

hd_tensor *hd_sin(hd_tensor *x)
{
    HD__CALL("hd_sin");
    return unary(&sin_op, HDK_SIN, x, SAVE_X);
}

hd_tensor *hd_cos(hd_tensor *x)
{
    HD__CALL("hd_cos");
    return unary(&cos_op, HDK_COS, x, SAVE_X);
}

hd_tensor *hd_log1p(hd_tensor *x)
{
    HD__CALL("hd_log1p");
    return unary(&log1p_op, HDK_LOG1P, x, SAVE_X);
}

/* Computes (1 / x) * s, which rounds twice, as s / x does in PyTorch. */
hd_tensor *(hd_rdiv_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_rdiv_scalar");
    hd_tensor *y = unary(&reciprocal_op, HDK_RECIPROCAL, x, SAVE_Y);
    return y ? hd_mul_scalar(y, s) : NULL;
}

/* ---------------------------------------------------------------- of x's own dtype */

static bool numbers_arg(const hd_tensor *x, const char *expected)
{
    return hd__tensor_arg("x", x) &&
           (x->dtype != HD_BOOL || hd_fail(HD_DTYPE, "bool: expected %s", expected));
}

static const hd__op neg_op = HD__OP("NegBackward0", hd__op_neg_backward);
/* dx += dy where y > 0 */
static const hd__op relu_op = HD__OP_KIND("ReluBackward0", loop_backward, HDK_RELU_BACKWARD);
/* dx += dy * sign(x) */
static const hd__op abs_op = HD__OP_KIND("AbsBackward0", loop_backward, HDK_ABS_BACKWARD);
/* dx += dy * (Phi(x) + x * Phi'(x)), where Phi is the standard normal distribution function */
static const hd__op gelu_op = HD__OP_KIND("GeluBackward0", loop_backward, HDK_GELU_BACKWARD);
/* t = tanh(u), u = sqrt(2/pi) * (x + 0.044715 * x^3):
 * dx += dy * (1 + t + x * (1 - t^2) * du/dx) / 2 */
static const hd__op gelu_tanh_op =
    HD__OP_KIND("GeluBackward0", loop_backward, HDK_GELU_TANH_BACKWARD);
/* s = sigmoid(x): dx += dy * s * (1 + x * (1 - s)) */
static const hd__op silu_op = HD__OP_KIND("SiluBackward0", loop_backward, HDK_SILU_BACKWARD);

hd_tensor *hd_neg(hd_tensor *x)
{
    HD__CALL("hd_neg");
    bool ok = numbers_arg(x, "numbers. Use hd_logical_not for bool");
    return ok ? unary(&neg_op, HDK_NEG, x, SAVE_NOTHING) : NULL;
}

hd_tensor *hd_relu(hd_tensor *x)
{
    HD__CALL("hd_relu");
    return numbers_arg(x, "numbers") ? unary(&relu_op, HDK_RELU, x, SAVE_Y) : NULL;
}

hd_tensor *hd_abs(hd_tensor *x)
{
    HD__CALL("hd_abs");
    return numbers_arg(x, "numbers") ? unary(&abs_op, HDK_ABS, x, SAVE_X) : NULL;
}

hd_tensor *hd_gelu(hd_tensor *x)
{
    HD__CALL("hd_gelu");
    return hd__tensor_float_x(x) ? unary(&gelu_op, HDK_GELU, x, SAVE_X) : NULL;
}

hd_tensor *hd_gelu_tanh(hd_tensor *x)
{
    HD__CALL("hd_gelu_tanh");
    return hd__tensor_float_x(x) ? unary(&gelu_tanh_op, HDK_GELU_TANH, x, SAVE_X) : NULL;
}

hd_tensor *hd_silu(hd_tensor *x)
{
    HD__CALL("hd_silu");
    return hd__tensor_float_x(x) ? unary(&silu_op, HDK_SILU, x, SAVE_X) : NULL;
}

/* dx += dy * sigmoid(-x) */
static void logsigmoid_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd_mul(dy[0], hd_sigmoid(hd_neg(hd__node_saved_get(n, 0))));
}

static const hd__op logsigmoid_op = HD__OP("LogSigmoidBackward0", logsigmoid_backward);

/* Returns min(x, 0) - log(1 + e^-|x|), unrecorded, and row-major as in PyTorch; NULL on failure. */
static hd_tensor *log_sigmoids(hd_tensor *x)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    x = hd_contiguous(x);
    hd_tensor *rest = hd_log1p(hd_exp(hd_neg(hd_abs(x))));
    return hd_scope_return(hd_sub(hd_clamp_max(x, 0), rest));
}

hd_tensor *hd_logsigmoid(hd_tensor *x)
{
    HD__CALL("hd_logsigmoid");
    hd_tensor *y = hd__tensor_float_x(x) ? log_sigmoids(x) : NULL;
    return HD__RECORD(&logsigmoid_op, y, HD__IN(1, &x), HD__SAVES(1, &x));
}

/* ---------------------------------------------------------------- of x and numbers */

/* Writes two numbers as elements of dtype d to `elements`, which a loop takes as its params.
 * Returns false with an error if d cannot hold them. */
static bool two_elements(hd_dtype d, const hd_scalar numbers[2], void *elements)
{
    bool fits = true;
    for (int i = 0; i < 2 && fits; i++) {
        fits = hd__tensor_scalar_fits(d, numbers[i]);
        hd__tensor_scalar_bytes(d, numbers[i], (char *)elements + i * hd__tensor_bytes_of(d));
    }
    return fits;
}

/* Returns y = f(x, a, b), recorded; NULL on failure. f is loop number `loop`. The caller has
 * checked that there is such a loop for x's dtype. A loop with one number ignores b. */
static hd_tensor *with_numbers(const hd__op *op, int loop, hd_tensor *x, double a, double b)
{
    const hd_scalar numbers[] = {hd_scalar_double(a), hd_scalar_double(b)};
    int64_t elements[2];
    if (!two_elements(x->dtype, numbers, elements)) {
        return NULL;
    }
    hd_tensor *y = hd__map_unary(hdk_unary_loop(loop, x->dtype), elements, x->dtype, x);
    return HD__RECORD(op, y, HD__IN(1, &x), HD__SAVES(1, &x), HD__PARAMS(numbers));
}

/* dx += loop(dy, x, a, b), where loop is number op->kind of hdk_binary. */
static void numbers_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    int64_t elements[2];
    if (two_elements(dy[0]->dtype, hd__node_params(n), elements)) {
        dx[0] = hd__map_backward(n->op->kind, elements, dy[0], hd__node_saved_get(n, 0));
    }
}

/* dx += dy where x > 0, dy * alpha * e^x elsewhere */
static const hd__op elu_op = HD__OP_KIND("EluBackward0", numbers_backward, HDK_ELU_BACKWARD);

hd_tensor *hd_elu(hd_tensor *x, double alpha)
{
    HD__CALL("hd_elu");
    return hd__tensor_float_x(x) ? with_numbers(&elu_op, HDK_ELU, x, alpha, 0) : NULL;
}

/* dx += dy where x > 0, dy * negative_slope elsewhere */
static const hd__op leaky_relu_op =
    HD__OP_KIND("LeakyReluBackward0", numbers_backward, HDK_LEAKY_RELU_BACKWARD);

hd_tensor *hd_leaky_relu(hd_tensor *x, double negative_slope)
{
    HD__CALL("hd_leaky_relu");
    bool ok = hd__tensor_float_x(x);
    return ok ? with_numbers(&leaky_relu_op, HDK_LEAKY_RELU, x, negative_slope, 0) : NULL;
}

/* z = e^(beta * x): dx += dy where beta * x > threshold, dy * z / (z + 1) elsewhere */
static const hd__op softplus_op =
    HD__OP_KIND("SoftplusBackward0", numbers_backward, HDK_SOFTPLUS_BACKWARD);

hd_tensor *hd_softplus(hd_tensor *x, double beta, double threshold)
{
    HD__CALL("hd_softplus");
    return hd__tensor_float_x(x) ? with_numbers(&softplus_op, HDK_SOFTPLUS, x, beta, threshold)
                                 : NULL;
}

/* dx += dy where min < x < max */
static const hd__op hardtanh_op =
    HD__OP_KIND("HardtanhBackward0", numbers_backward, HDK_HARDTANH_BACKWARD);

hd_tensor *hd_hardtanh(hd_tensor *x, double min, double max)
{
    HD__CALL("hd_hardtanh");
    bool ok = numbers_arg(x, "numbers") &&
              (!(min > max) || hd_fail(HD_VALUE, "min %g, max %g: expected min <= max", min, max));
    hd_tensor *y = ok ? with_numbers(&hardtanh_op, HDK_CLAMP, x, min, max) : NULL;
    return y && (isnan(min) || isnan(max)) ? hd__tensor_fill(y, hd_scalar_double(NAN)) : y;
}

/* ---------------------------------------------------------------- clamp */

typedef struct bounds {
    bool has_lo, has_hi;
    hd_scalar lo, hi; /* a missing bound is the end of the dtype's range */
} bounds;

/* dx += dy where lo <= x <= hi */
static void clamp_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const bounds *b = hd__node_params(n);
    hd_tensor *x = hd__node_saved_get(n, 0);
    hd_tensor *inside = b->has_lo ? hd_ge_scalar(x, b->lo) : hd_le_scalar(x, b->hi);
    if (b->has_lo && b->has_hi) {
        inside = hd_logical_and(inside, hd_le_scalar(x, b->hi));
    }
    dx[0] = hd_masked_fill(dy[0], hd_logical_not(inside), 0);
}

static const hd__op clamp_op = HD__OP("ClampBackward1", clamp_backward);

/* Returns the dtype of the result. A bound promotes x's dtype as a number does in x + lo. */
static hd_dtype clamp_dtype(const hd_tensor *x, const bounds *b)
{
    hd_dtype lo = b->has_lo ? hd__tensor_promote_scalar(x, b->lo) : x->dtype;
    hd_dtype hi = b->has_hi ? hd__tensor_promote_scalar(x, b->hi) : x->dtype;
    return hd__tensor_is_float(hi) || lo == HD_BOOL ? hi : lo;
}

static bool is_nan(hd_scalar s)
{
    return isnan(hd__tensor_scalar_double(s));
}

static hd_tensor *clamp(hd_tensor *x, bounds b)
{
    int64_t ends[2];
    if (!hd__tensor_arg("x", x)) {
        return NULL;
    }
    hd_dtype d = clamp_dtype(x, &b);
    bool real = hd__tensor_is_float(d);
    if (!b.has_lo) {
        b.lo = real ? hd_scalar_double(-INFINITY) : hd_scalar_int(INT64_MIN);
    }
    if (!b.has_hi) {
        b.hi = real ? hd_scalar_double(INFINITY) : hd_scalar_int(INT64_MAX);
    }
    if (is_nan(b.lo) || is_nan(b.hi)) { /* a NaN bound makes all elements NaN */
        b.lo = b.hi = hd_scalar_double(NAN);
    }
    if (!two_elements(d, (hd_scalar[]){b.lo, b.hi}, ends)) {
        return NULL;
    }
    hd_tensor *y = hd__map_unary(hdk_unary_loop(HDK_CLAMP, d), ends, d, x);
    if (y && is_nan(b.lo)) {
        hd__tensor_fill(y, hd_scalar_double(NAN));
    }
    return HD__RECORD(&clamp_op, y, HD__IN(1, &x), HD__SAVES(1, &x), HD__PARAMS(b));
}

hd_tensor *(hd_clamp)(hd_tensor *x, hd_scalar lo, hd_scalar hi)
{
    HD__CALL("hd_clamp");
    return clamp(x, (bounds){true, true, lo, hi});
}

hd_tensor *(hd_clamp_min)(hd_tensor *x, hd_scalar lo)
{
    HD__CALL("hd_clamp_min");
    return clamp(x, (bounds){.has_lo = true, .lo = lo});
}

hd_tensor *(hd_clamp_max)(hd_tensor *x, hd_scalar hi)
{
    HD__CALL("hd_clamp_max");
    return clamp(x, (bounds){.has_hi = true, .hi = hi});
}
