/* compare.c - comparison and logic. All results are bool and have no gradient. */
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/tensor_args.h"

static hd_tensor *compare(int op, hd_tensor *a, hd_tensor *b)
{
    if (!hd__tensor_two_args(a, b)) {
        return NULL;
    }
    hd_dtype d = hd__tensor_promote(a, b);
    hd_tensor *y = hd__map_binary(hdk_binary_for(d)->of[op][d], d, HD_BOOL, a, b);
    return hd__record_told(NULL, y, 2, (hd_tensor *[]){a, b});
}

static hd_tensor *compare_in(hd_dtype d, int op, hd_tensor *x, hd_scalar s)
{
    hd__loop_number number;
    hd_tensor *y = hd__map_binary(hdk_binary_for(d)->of[op][d], d, HD_BOOL, x,
                                  hd__loop_number_of(&number, d, s));
    return hd__record_told(NULL, y, 1, &x);
}

static hd_tensor *compare_scalar(int op, hd_tensor *x, hd_scalar s)
{
    return hd__tensor_arg("x", x) ? compare_in(hd__tensor_promote_scalar(x, s), op, x, s) : NULL;
}

/* Returns the bool tensor loop(a, b); NULL with an error on failure. Converts a and b to their
 * common dtype first, and then to bool. So if a is a float32 tensor and b is a 0-d float64 of
 * 1e-50, b becomes 0, which is false. */
static hd_tensor *logical_op(hdk_loop loop, hd_tensor *a, hd_tensor *b)
{
    if (!hd__tensor_two_args(a, b)) {
        return NULL;
    }
    HD__SCOPE_OR(NULL);
    hd_dtype d = hd__tensor_promote(a, b);
    a = hd__tensor_cast(a, d);
    b = a ? hd__tensor_cast(b, d) : NULL;
    hd_tensor *y = b ? hd__loop_out(HD_BOOL, 2, (hd_tensor *[]){a, b}) : NULL;
    a = y ? hd__tensor_cast(a, HD_BOOL) : NULL;
    b = a ? hd__tensor_cast(b, HD_BOOL) : NULL;
    if (!b) {
        return NULL;
    }
    hd__map(loop, NULL, 3, (hd_tensor *[]){y, a, b});
    return hd__record_told(NULL, hd_scope_return(y), 2, (hd_tensor *[]){a, b});
}

hd_tensor *hd_eq(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_eq");
    return compare(HDK_EQ, a, b);
}

hd_tensor *hd_ne(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_ne");
    return compare(HDK_NE, a, b);
}

hd_tensor *hd_lt(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_lt");
    return compare(HDK_LT, a, b);
}

hd_tensor *hd_le(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_le");
    return compare(HDK_LE, a, b);
}

hd_tensor *hd_gt(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_gt");
    return compare(HDK_GT, a, b);
}

hd_tensor *hd_ge(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_ge");
    return compare(HDK_GE, a, b);
}

hd_tensor *(hd_eq_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_eq_scalar");
    return compare_scalar(HDK_EQ, x, s);
}

hd_tensor *(hd_ne_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_ne_scalar");
    return compare_scalar(HDK_NE, x, s);
}

hd_tensor *(hd_lt_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_lt_scalar");
    return compare_scalar(HDK_LT, x, s);
}

hd_tensor *(hd_le_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_le_scalar");
    return compare_scalar(HDK_LE, x, s);
}

hd_tensor *(hd_gt_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_gt_scalar");
    return compare_scalar(HDK_GT, x, s);
}

hd_tensor *(hd_ge_scalar)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_ge_scalar");
    return compare_scalar(HDK_GE, x, s);
}

/* A bool is a byte, 0 or 1. So "and" is the loop of the product, "or" that of the sum, and "xor"
 * that of the inequality. */
hd_tensor *hd_logical_and(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_logical_and");
    return logical_op(hdk_binary_for(HD_BOOL)->of[HDK_MUL][HD_BOOL], a, b);
}

hd_tensor *hd_logical_or(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_logical_or");
    return logical_op(hdk_binary_for(HD_BOOL)->of[HDK_ADD][HD_BOOL], a, b);
}

hd_tensor *hd_logical_xor(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_logical_xor");
    return logical_op(hdk_binary_for(HD_BOOL)->of[HDK_NE][HD_BOOL], a, b);
}

hd_tensor *hd_logical_not(hd_tensor *x)
{
    HD__CALL("hd_logical_not");
    return hd__tensor_arg("x", x) ? compare_in(x->dtype, HDK_EQ, x, hd_scalar_int(0)) : NULL;
}

/* ---------------------------------------------------------------- kinds of numbers */

/* Only NaN differs from itself. */
hd_tensor *hd_isnan(hd_tensor *x)
{
    HD__CALL("hd_isnan");
    return hd__tensor_arg("x", x) ? hd_ne(x, x) : NULL;
}

/* Returns a bool tensor of x's shape, laid out as x, whose elements are all `value`; NULL with an
 * error if memory runs out. */
static hd_tensor *everywhere(hd_tensor *x, bool value)
{
    hd_tensor *y = hd__loop_out(HD_BOOL, 1, &x);
    return hd__record_told(NULL, y ? hd__tensor_fill(y, hd_scalar_int(value)) : NULL, 1, &x);
}

hd_tensor *hd_isinf(hd_tensor *x)
{
    HD__CALL("hd_isinf");
    if (!hd__tensor_arg("x", x)) {
        return NULL;
    }
    if (!hd__tensor_is_float(x->dtype)) {
        return everywhere(x, false);
    }
    HD__SCOPE_OR(NULL);
    return hd_scope_return(hd_logical_or(hd_eq_scalar(x, INFINITY), hd_eq_scalar(x, -INFINITY)));
}

hd_tensor *hd_isfinite(hd_tensor *x)
{
    HD__CALL("hd_isfinite");
    if (!hd__tensor_arg("x", x)) {
        return NULL;
    }
    if (!hd__tensor_is_float(x->dtype)) {
        return everywhere(x, true);
    }
    HD__SCOPE_OR(NULL);
    return hd_scope_return(hd_logical_and(hd_gt_scalar(x, -INFINITY), hd_lt_scalar(x, INFINITY)));
}

/* ---------------------------------------------------------------- whole tensors */

/* True if all elements of y are true; false if y is NULL. y is new, so its bytes have no gaps. */
static bool all_true(const hd_tensor *y)
{
    return y && !memchr(hd__tensor_ptr(y), 0, (size_t)y->numel);
}

bool hd_equal(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_equal");
    HD__SCOPE_OR(false);
    return hd__tensor_two_args(a, b) && hd__tensor_same_shape(a, b) &&
           all_true(compare(HDK_EQ, a, b));
}

/* Returns a bool tensor; NULL with an error on failure. An element is true if a == b, or if |a - b|
 * is finite and at most atol + |rtol * b|, or if equal_nan is true and both are NaN. The
 * differences of integers are computed in float32. */
static hd_tensor *is_close(hd_tensor *a, hd_tensor *b, double rtol, double atol, bool equal_nan)
{
    hd_tensor *close = hd_eq(a, b);
    if (equal_nan) {
        close = hd_logical_or(close, hd_logical_and(hd_ne(a, a), hd_ne(b, b)));
    }
    if (rtol == 0 && atol == 0) {
        return close;
    }
    hd_dtype d = hd__tensor_is_float(a->dtype) ? a->dtype : HD_FLOAT32;
    a = hd_to(a, d);
    b = hd_to(b, d);
    hd_tensor *error = hd_abs(hd_sub(a, b));
    hd_tensor *allowed = hd_add_scalar(hd_abs(hd_mul_scalar(b, rtol)), atol);
    hd_tensor *within = hd_logical_and(hd_lt_scalar(error, INFINITY), hd_le(error, allowed));
    return hd_logical_or(close, within);
}

bool hd_allclose(hd_tensor *a, hd_tensor *b, double rtol, double atol, bool equal_nan)
{
    HD__CALL("hd_allclose");
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    if (!hd__tensor_two_args(a, b) ||
        !hd__tensor_broadcast(2, (hd_tensor *[]){a, b}, &ndim, sizes) ||
        !hd__tensor_one_dtype("a", a, "b", b)) {
        return false;
    }
    return ((rtol >= 0 && atol >= 0) ||
            hd_fail(HD_VALUE, "rtol %g and atol %g: expected 0 or more", rtol, atol)) &&
           all_true(is_close(a, b, rtol, atol, equal_nan));
}
