/* arith.c - arithmetic of two tensors, or of a tensor and a number; and where.
 *
 * Backward functions return gradients in the shape of the result; the engine sums them to the
 * shapes of the inputs. The _scalar functions keep their number as the node's params. */
#include <inttypes.h>

#include "autograd/ops/arith.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- two tensors */

enum arith_saves { NOTHING, FACTORS, DIVISOR, BOTH_FACTORS };

/* Returns y = a op b, recorded; NULL with an error on failure. With NOTHING, the node saves no
 * operand. With FACTORS, it saves each operand if the other one needs a gradient. DIVISOR is like
 * FACTORS, but always saves b. BOTH_FACTORS always saves both. */
static hd_tensor *arith(const hd__op *op, hd_tensor *a, hd_tensor *b, enum arith_saves saves)
{
    hd_dtype d;
    hdk_loop loop = hd__tensor_two_args(a, b) ? hd__loop_arith(op->kind, a, b, &d) : NULL;
    hd_tensor *y = loop ? hd__map_binary(loop, d, d, a, b) : NULL, *in[] = {a, b};
    if (!y || saves == NOTHING) {
        return HD__RECORD(op, y, HD__IN(2, in));
    }
    hd_tensor *saved[] = {hd__record_save_if(saves == BOTH_FACTORS || hd__record_wants_grad(b), a),
                          hd__record_save_if(saves != FACTORS || hd__record_wants_grad(a), b)};
    return HD__RECORD(op, y, HD__IN(2, in), HD__SAVES(2, saved),
                      .save_y = op->kind == HDK_POW && hd__record_wants_grad(b));
}

void hd__op_same_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    for (int i = 0; i < n->n_in; i++) {
        dx[i] = hd__node_needs(n, i) ? dy[0] : HD_NONE;
    }
}

void hd__op_neg_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    (void)n;
    dx[0] = hd_neg(dy[0]);
}

/* da += dy,  db += -dy. For x - s, a is x, and there is no b. */
static void sub_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd__node_needs(n, 0) ? dy[0] : HD_NONE;
    if (n->n_in == 2 && hd__node_needs(n, 1)) {
        dx[1] = hd_neg(dy[0]);
    }
}

/* da += dy * b,  db += dy * a */
static void mul_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    for (int i = 0; i < 2; i++) {
        dx[i] = hd__node_needs(n, i) ? hd_mul(dy[0], hd__node_saved_get(n, 1 - i)) : HD_NONE;
    }
}

/* da += dy / b,  db += -dy * (a / b) / b */
static void div_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *b = hd__node_saved_get(n, 1);
    dx[0] = hd__node_needs(n, 0) ? hd_div(dy[0], b) : HD_NONE;
    if (hd__node_needs(n, 1)) {
        dx[1] = hd_mul(hd_neg(dy[0]), hd_div(hd_div(hd__node_saved_get(n, 0), b), b));
    }
}

/* da += dy * b * a^(b-1), 0 where b = 0;  db += dy * y * ln a, 0 where a = 0 and b >= 0 */
static void pow_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *a = hd__node_saved_get(n, 0), *b = hd__node_saved_get(n, 1);
    if (hd__node_needs(n, 0)) {
        hd_tensor *slope = hd_mul(b, hd_pow(a, hd_sub_scalar(b, 1)));
        dx[0] = hd_masked_fill(hd_mul(dy[0], slope), hd_eq_scalar(b, 0), 0);
    }
    if (hd__node_needs(n, 1)) {
        hd_tensor *y = hd__node_saved_get(n, 2);
        hd_tensor *slope = hd_mul(y, hd_log(hd_to(a, hd_dtype_of(y))));
        hd_tensor *flat = hd_logical_and(hd_eq_scalar(a, 0), hd_ge_scalar(b, 0));
        dx[1] = hd_mul(dy[0], hd_masked_fill(slope, flat, 0));
    }
}

/* maximum: da += dy where a > b,  db += dy where a < b; minimum: da += dy where a < b,  db += dy
 * where a > b. Where a = b, each gets dy / 2. Where a or b is NaN, each gets dy. */
static void larger_or_smaller_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const bool maximum = n->op->kind == HDK_MAXIMUM;
    hd_tensor *a = hd__node_saved_get(n, 0), *b = hd__node_saved_get(n, 1);
    hd_tensor *shared = hd_where(hd_eq(a, b), hd_div_scalar(dy[0], 2), dy[0]);
    for (int i = 0; i < 2; i++) {
        dx[i] = hd__node_needs(n, i)
                    ? hd_masked_fill(shared, i == maximum ? hd_gt(a, b) : hd_lt(a, b), 0)
                    : HD_NONE;
    }
}

/* da += dy,  db += dy. For x + s, a is x, and there is no b. */
const hd__op hd__op_add = HD__OP_KIND("AddBackward0", hd__op_same_backward, HDK_ADD);
const hd__op hd__op_sub = HD__OP_KIND("SubBackward0", sub_backward, HDK_SUB);
const hd__op hd__op_mul = HD__OP_KIND("MulBackward0", mul_backward, HDK_MUL);
const hd__op hd__op_div = HD__OP_KIND("DivBackward0", div_backward, HDK_DIV);
static const hd__op pow_op = HD__OP_KIND("PowBackward1", pow_backward, HDK_POW);
static const hd__op maximum_op =
    HD__OP_KIND("MaximumBackward0", larger_or_smaller_backward, HDK_MAXIMUM);
static const hd__op minimum_op =
    HD__OP_KIND("MinimumBackward0", larger_or_smaller_backward, HDK_MINIMUM);

hd_tensor *hd_add(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_add");
    return arith(&hd__op_add, a, b, NOTHING);
}

hd_tensor *hd_sub(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_sub");
    return arith(&hd__op_sub, a, b, NOTHING);
}

hd_tensor *hd_mul(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_mul");
    return arith(&hd__op_mul, a, b, FACTORS);
}

hd_tensor *hd_div(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_div");
    return arith(&hd__op_div, a, b, DIVISOR);
}

hd_tensor *hd_pow(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_pow");
    return arith(&pow_op, a, b, BOTH_FACTORS);
}

hd_tensor *hd_maximum(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_maximum");
    return arith(&maximum_op, a, b, BOTH_FACTORS);
}

hd_tensor *hd_minimum(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_minimum");
    return arith(&minimum_op, a, b, BOTH_FACTORS);
}

/* ---------------------------------------------------------------- a tensor and a number */

/* Returns y = x op s, or s op x if number_first is true, recorded; NULL with an error on
 * failure. */
static hd_tensor *arith_scalar(const hd__op *op, hd_tensor *x, hd_scalar s, bool number_first)
{
    hd_dtype d;
    hd__loop_number number;
    hdk_loop loop = hd__tensor_arg("x", x) ? hd__loop_arith_scalar(op->kind, x, s, &d) : NULL;
    if (!loop) {
        return NULL;
    }
    hd_tensor *n = hd__loop_number_of(&number, d, s);
    hd_tensor *y =
        number_first ? hd__map_binary(loop, d, d, n, x) : hd__map_binary(loop, d, d, x, n);
    return HD__RECORD(op, y, HD__IN(1, &x), HD__PARAMS(s));
}

/* dx += dy * s for x * s,  dx += dy / s for x / s */
static void scalar_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hd_scalar *s = hd__node_params(n);
    dx[0] = arith_scalar(n->op, dy[0], *s, false);
}

/* dx += dy * s * x^(s-1), 0 where s = 0 */
static void pow_scalar_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hd_scalar s = *(const hd_scalar *)hd__node_params(n);
    hd_tensor *x = hd__node_saved_get(n, 0);
    if (hd__tensor_scalar_double(s) == 0) {
        dx[0] = hd_zeros_like(dy[0], hd_dtype_of(dy[0]));
        return;
    }
    hd_scalar less = s.is_int ? hd_scalar_int(s.v.i - 1) : hd_scalar_double(s.v.d - 1);
    hd_tensor *power = hd__tensor_scalar_double(less) == 1 ? x : hd_pow_scalar(x, less);
    dx[0] = hd_mul(dy[0], hd_mul_scalar(power, s));
}

const hd__op hd__op_mul_scalar = {
    .name = "MulBackward0", .backward = scalar_backward, .once = true, .kind = HDK_MUL};
const hd__op hd__op_div_scalar = {
    .name = "DivBackward0", .backward = scalar_backward, .once = true, .kind = HDK_DIV};
static const hd__op rsub_op = HD__OP_KIND("RsubBackward1", hd__op_neg_backward, HDK_SUB);
static const hd__op pow_scalar_op = HD__OP("PowBackward0", pow_scalar_backward);

hd_tensor *(hd_add_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_add_scalar");
    return arith_scalar(&hd__op_add, x, s, false);
}

hd_tensor *(hd_sub_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_sub_scalar");
    return arith_scalar(&hd__op_sub, x, s, false);
}

hd_tensor *(hd_mul_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_mul_scalar");
    return arith_scalar(&hd__op_mul_scalar, x, s, false);
}

hd_tensor *(hd_div_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_div_scalar");
    return arith_scalar(&hd__op_div_scalar, x, s, false);
}

hd_tensor *(hd_rsub_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_rsub_scalar");
    return arith_scalar(&rsub_op, x, s, true);
}

/* Returns x to the power s in dtype d, unrecorded; NULL on failure. As in PyTorch, exponents such
 * as 2 and 0.5 have loops of their own, because pow_loop would round differently. */
static hd_tensor *power(hd_tensor *x, hd_scalar s, hdk_loop pow_loop, hd_dtype d)
{
    static const struct {
        double e;
        int loop;
    } floats[] = {{0.5, HDK_SQRT},
                  {-0.5, HDK_RSQRT},
                  {-1, HDK_RECIPROCAL},
                  {-2, HDK_INVERSE_SQUARE},
                  {3, HDK_CUBE}};
    const double e = hd__tensor_scalar_double(s);
    for (int i = 0; i < 5 && hd__tensor_is_float(d); i++) {
        if (e == floats[i].e) {
            return hd__map_unary(hdk_unary_loop(floats[i].loop, d), NULL, d, x);
        }
    }
    hd__loop_number number;
    hdk_loop mul = hdk_binary_loop(HDK_MUL, d);
    if (e == 1) {
        return hd__map_binary(mul, d, d, x, hd__loop_number_of(&number, d, hd_scalar_int(1)));
    }
    if (e == 2 || e == 3) {
        hd_tensor *y = hd__map_binary(mul, d, d, x, x);
        return y && e == 3 ? hd__map_binary(mul, d, d, y, x) : y;
    }
    return hd__map_binary(pow_loop, d, d, x, hd__loop_number_of(&number, d, s));
}

hd_tensor *(hd_pow_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_pow_scalar");
    hd_dtype d;
    if (!hd__tensor_arg("x", x)) {
        return NULL;
    }
    if (s.is_int && s.v.i < 0 && !hd__tensor_is_float(x->dtype)) {
        return hd_fail(
            HD_VALUE, "%s to the power %" PRId64 ": expected an exponent of 0 or more for integers",
            hd_dtype_name(x->dtype), s.v.i);
    }
    hdk_loop loop = hd__loop_arith_scalar(HDK_POW, x, s, &d);
    hd_tensor *y = loop ? power(x, s, loop, d) : NULL;
    return HD__RECORD(&pow_scalar_op, y, HD__IN(1, &x), HD__SAVES(1, &x), HD__PARAMS(s));
}

hd_tensor *hd_square(hd_tensor *x)
{
    HD__CALL("hd_square");
    return hd_pow_scalar(x, 2);
}

/* ---------------------------------------------------------------- where */

/* da += dy where the condition holds,  db += dy elsewhere */
static void where_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd__loop_number zero;
    hd_tensor *condition = hd__node_saved_get(n, 0);
    hd_tensor *nothing = hd__loop_number_of(&zero, dy[0]->dtype, hd_scalar_int(0));
    dx[0] = hd__node_needs(n, 0) ? hd_where(condition, dy[0], nothing) : HD_NONE;
    dx[1] = hd__node_needs(n, 1) ? hd_where(condition, nothing, dy[0]) : HD_NONE;
}

static const hd__op where_op = HD__OP("WhereBackward0", where_backward);

static hd_tensor *where(hd_tensor *condition, hd_tensor *a, hd_tensor *b)
{
    hd_dtype d = hd__tensor_promote(a, b);
    /* a and b are cast before y is made, because y is laid out like the cast operands */
    a = hd__tensor_cast(a, d);
    b = a ? hd__tensor_cast(b, d) : NULL;
    hd_tensor *y = b ? hd__loop_out(d, 3, (hd_tensor *[]){condition, a, b}) : NULL;
    return hd__map_to_new(hdk_binary_loop(HDK_WHERE, d), NULL, 4,
                          (hd_tensor *[]){y, condition, a, b});
}

hd_tensor *hd_where(hd_tensor *condition, hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_where");
    if (!hd__tensor_arg("condition", condition) || !hd__tensor_two_args(a, b) ||
        !hd__tensor_dtype_is("condition", condition, HD_BOOL)) {
        return NULL;
    }
    hd_tensor *in[] = {a, b};
    return HD__RECORD(&where_op, where(condition, a, b), HD__IN(2, in), HD__SAVES(1, &condition));
}
