/* inplace.c - arithmetic that writes to x and returns it; and masked_fill, which shares its code.
 * What writes over x without reading it is in assign.c.
 *
 * Everything is checked before the first byte is written: arguments, the result's dtype and shape,
 * memory that x shares with b, and what the graph forbids (hd__inplace_ok). */
#include "autograd/history.h"
#include "autograd/ops/arith.h"
#include "autograd/ops/assign.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/tensor_args.h"

/* A result fits into a dtype of its own category or of a higher one: bool < integer < float, as the
 * dtypes' numbers fall. */
static bool dtype_fits(const hd_tensor *x, hd_dtype result)
{
    return hd__is_float(x->dtype) || result >= x->dtype ||
           hd__fail(HD_DTYPE, "the result is %s: expected one that x of %s can hold",
                    hd_dtype_name(result), hd_dtype_name(x->dtype));
}

/* ---------------------------------------------------------------- arithmetic */

/* The end of x = x op b in dtype d, after what can be refused. What needs memory is first: b in d
 * or, if x is of another dtype, the result. */
static hd_tensor *record_and_write(const hd__op *record, hd_tensor *x, const hd__record_args *a,
                                   hdk_loop loop, hd_dtype d, hd_tensor *b)
{
    bool direct = x->dtype == d;
    hd_tensor *read = direct ? hd__cast(b, d) : hd__map_binary(loop, d, d, x, b);
    unsigned int before = hd__watching() ? hd__events->overwrite_begins(a->n_in, a->in) : 0;
    if (!read || !hd__record_inplace(record, x, a)) {
        return NULL;
    }
    if (direct) {
        hd__map(loop, NULL, 3, (hd_tensor *[]){x, x, read});
    } else {
        hd__copy(x, read);
    }
    if (hd__watching()) {
        hd__events->overwritten(before, x);
    }
    return hd__told(record, x, (int)a->n_in, a->in);
}

/* save: backward needs b for dx, and x as it was for db; the db of a quotient needs b, too. */
static hd_tensor *arith_(const hd__op *op, hd_tensor *x, hd_tensor *b, bool save)
{
    hd_dtype d;
    hd_tensor *in[] = {x, b}, *read = b;
    bool ok = hd__arg("x", x) && hd__arg("b", b);
    hdk_loop loop = ok ? hd__arith_loop(op->kind, x, b, &d) : NULL;
    if (!loop || !dtype_fits(x, d) || !hd__operand_ok(x, &read) || !hd__inplace_ok(x, 2, in)) {
        return NULL;
    }
    bool db = save && hd__wants_grad(b);
    bool needs_b = save && (hd__wants_grad(x) || (db && op == &hd__div_op));
    hd_tensor *saved[] = {db ? hd__clone(x) : HD_NONE, hd__save_if(needs_b, b)};
    hd__record_args a = {HD__IN(2, in), HD__SAVES(2, saved), .saved_is_old = true};
    return saved[0] ? record_and_write(op, x, &a, loop, d, read) : NULL;
}

static hd_tensor *scalar_(const hd__op *op, hd_tensor *x, hd_scalar s)
{
    hd_dtype d;
    hd__number number;
    hdk_loop loop = hd__arg("x", x) ? hd__arith_loop_scalar(op->kind, x, s, &d) : NULL;
    if (!loop || !dtype_fits(x, d) || !hd__inplace_ok(x, 1, &x)) {
        return NULL;
    }
    hd__record_args a = {HD__IN(1, &x), HD__PARAMS(s)};
    return record_and_write(op, x, &a, loop, d, hd__number_of(&number, d, s));
}

hd_tensor *hd_add_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("hd_add_");
    return arith_(&hd__add_op, x, b, false);
}

hd_tensor *hd_sub_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("hd_sub_");
    return arith_(&hd__sub_op, x, b, false);
}

hd_tensor *hd_mul_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("hd_mul_");
    return arith_(&hd__mul_op, x, b, true);
}

hd_tensor *hd_div_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("hd_div_");
    return arith_(&hd__div_op, x, b, true);
}

hd_tensor *(hd_add_scalar_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_add_scalar_");
    return scalar_(&hd__add_op, x, s);
}

hd_tensor *(hd_sub_scalar_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_sub_scalar_");
    return scalar_(&hd__sub_op, x, s);
}

hd_tensor *(hd_mul_scalar_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_mul_scalar_");
    return scalar_(&hd__mul_scalar_op, x, s);
}

hd_tensor *(hd_div_scalar_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_div_scalar_");
    return scalar_(&hd__div_scalar_op, x, s);
}

/* ---------------------------------------------------------------- masked_fill */

/* dx += dy where the mask is false */
static void masked_fill_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd_masked_fill(dy[0], hd__saved_get(n, 0), 0);
}

static const hd__op masked_fill_op = {
    .name = "MaskedFillBackward0", .backward = masked_fill_backward, .fills = true};

static bool fill_mask_ok(hd_tensor *x, hd_tensor *mask, hd_scalar value)
{
    return hd__arg("x", x) && hd__arg("mask", mask) && hd__dtype_is("mask", mask, HD_BOOL) &&
           hd__scalar_fits(x->dtype, value);
}

/* y = mask ? value : x */
static hd_tensor *select(hd_tensor *(*map)(hdk_loop f, const void *params, int n,
                                           hd_tensor *const *operands),
                         hd_tensor *y, hd_tensor *x, hd_tensor *mask, hd_scalar value)
{
    hd__number number;
    hd_tensor *v = hd__number_of(&number, x->dtype, value);
    return map(hdk_binary_loop(HDK_WHERE, x->dtype), NULL, 4, (hd_tensor *[]){y, mask, v, x});
}

/* x may broadcast to the mask, too. The result is row-major, whatever x's strides are. */
hd_tensor *(hd_masked_fill)(hd_tensor *x, hd_tensor *mask, hd_scalar value)
{
    HD__CALL("hd_masked_fill");
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    if (!fill_mask_ok(x, mask, value) ||
        !hd__broadcast(2, (hd_tensor *[]){x, mask}, &ndim, sizes)) {
        return NULL;
    }
    hd_tensor *y = select(hd__map_to_new, hd__empty(x->dtype, ndim, sizes), x, mask, value);
    return HD__RECORD(&masked_fill_op, y, HD__IN(1, &x), HD__SAVES(1, &mask));
}

hd_tensor *(hd_masked_fill_)(hd_tensor *x, hd_tensor *mask, hd_scalar value)
{
    HD__CALL("hd_masked_fill_");
    hd_tensor *read = mask;
    const hd__record_args a = {HD__IN(1, &x), HD__SAVES(1, &mask)};
    if (!fill_mask_ok(x, mask, value) || !hd__operand_ok(x, &read) || !hd__inplace_ok(x, 1, &x) ||
        !hd__record_inplace(&masked_fill_op, x, &a)) {
        return NULL;
    }
    return hd__told(&masked_fill_op, select(hd__map, x, x, read, value), 1, &x);
}
