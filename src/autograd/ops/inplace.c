/* inplace.c - arithmetic in place, which writes to x and returns it, and masked_fill. assign.c has
 * the ops that overwrite x without reading it.
 *
 * Before the first byte is written, each function checks the arguments, the result's dtype and
 * shape, the memory that x and b share, and the rules of the graph (hd__graph_inplace_ok). */
#include "autograd/history.h"
#include "autograd/ops/arith.h"
#include "autograd/ops/assign.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/tensor_args.h"

/* True if x's dtype is of the result's category or a higher one (bool < integer < float); otherwise
 * fails with HD_DTYPE. If x is int64 or bool, compares values of hd_dtype: the higher the category,
 * the smaller the value. */
static bool dtype_fits(const hd_tensor *x, hd_dtype result)
{
    return hd__tensor_is_float(x->dtype) || result >= x->dtype ||
           hd_fail(HD_DTYPE,
                   "the result is %s, which x of %s cannot hold. Convert x with hd_to first",
                   hd_dtype_name(result), hd_dtype_name(x->dtype));
}

/* ---------------------------------------------------------------- arithmetic */

/* Records and computes x = x op b in dtype d, and returns x. The caller has done all checks. Before
 * it writes to x, allocates a tensor: b cast to d if x has dtype d, and otherwise the result in d,
 * which it then copies to x. If memory runs out, returns NULL with an error, and x is unchanged. */
static hd_tensor *record_and_write(const hd__op *record, hd_tensor *x, const hd__record_args *a,
                                   hdk_loop loop, hd_dtype d, hd_tensor *b)
{
    bool direct = x->dtype == d;
    hd_tensor *read = direct ? hd__tensor_cast(b, d) : hd__map_binary(loop, d, d, x, b);
    unsigned int before = hd__event_watching() ? hd__events->overwrite_begins(a->n_in, a->in) : 0;
    if (!read || !hd__record_inplace(record, x, a)) {
        return NULL;
    }
    if (direct) {
        hd__map(loop, NULL, 3, (hd_tensor *[]){x, x, read});
    } else {
        hd__tensor_copy(x, read);
    }
    if (hd__event_watching()) {
        hd__events->overwritten(before, x);
    }
    return hd__record_told(record, x, (int)a->n_in, a->in);
}

/* Computes x = x op b in place. Returns x, or NULL with an error. If `save` is true, saves the
 * tensors that backward needs: b for dx, and the old elements of x for db. In a division, db needs
 * b, too. */
static hd_tensor *arith_(const hd__op *op, hd_tensor *x, hd_tensor *b, bool save)
{
    hd_dtype d;
    hd_tensor *in[] = {x, b}, *read = b;
    bool ok = hd__tensor_arg("x", x) && hd__tensor_arg("b", b);
    hdk_loop loop = ok ? hd__loop_arith(op->kind, x, b, &d) : NULL;
    if (!loop || !dtype_fits(x, d) || !hd__op_operand_ok(x, &read) ||
        !hd__graph_inplace_ok(x, 2, in)) {
        return NULL;
    }
    bool db = save && hd__record_wants_grad(b);
    bool needs_b = save && (hd__record_wants_grad(x) || (db && op == &hd__op_div));
    hd_tensor *saved[] = {db ? hd__tensor_clone(x) : HD_NONE, hd__record_save_if(needs_b, b)};
    hd__record_args a = {HD__IN(2, in), HD__SAVES(2, saved), .saved_is_old = true};
    return saved[0] ? record_and_write(op, x, &a, loop, d, read) : NULL;
}

static hd_tensor *scalar_(const hd__op *op, hd_tensor *x, hd_scalar s)
{
    hd_dtype d;
    hd__loop_number number;
    hdk_loop loop = hd__tensor_arg("x", x) ? hd__loop_arith_scalar(op->kind, x, s, &d) : NULL;
    if (!loop || !dtype_fits(x, d) || !hd__graph_inplace_ok(x, 1, &x)) {
        return NULL;
    }
    hd__record_args a = {HD__IN(1, &x), HD__PARAMS(s)};
    return record_and_write(op, x, &a, loop, d, hd__loop_number_of(&number, d, s));
}

hd_tensor *hd_add_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("hd_add_");
    return arith_(&hd__op_add, x, b, false);
}

hd_tensor *hd_sub_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("hd_sub_");
    return arith_(&hd__op_sub, x, b, false);
}

hd_tensor *hd_mul_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("hd_mul_");
    return arith_(&hd__op_mul, x, b, true);
}

hd_tensor *hd_div_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("hd_div_");
    return arith_(&hd__op_div, x, b, true);
}

hd_tensor *(hd_add_scalar_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_add_scalar_");
    return scalar_(&hd__op_add, x, s);
}

hd_tensor *(hd_sub_scalar_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_sub_scalar_");
    return scalar_(&hd__op_sub, x, s);
}

hd_tensor *(hd_mul_scalar_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_mul_scalar_");
    return scalar_(&hd__op_mul_scalar, x, s);
}

hd_tensor *(hd_div_scalar_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_div_scalar_");
    return scalar_(&hd__op_div_scalar, x, s);
}

/* ---------------------------------------------------------------- masked_fill */

/* dx += dy where the mask is false */
static void masked_fill_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd_masked_fill(dy[0], hd__node_saved_get(n, 0), 0);
}

static const hd__op masked_fill_op = {
    .name = "MaskedFillBackward0", .backward = masked_fill_backward, .fills = true};

static bool fill_mask_ok(hd_tensor *x, hd_tensor *mask, hd_scalar value)
{
    return hd__tensor_arg("x", x) && hd__tensor_arg("mask", mask) &&
           hd__tensor_dtype_is("mask", mask, HD_BOOL) && hd__tensor_scalar_fits(x->dtype, value);
}

/* Sets y to value where mask is true, and to x elsewhere. Returns y; NULL if y is NULL. map is
 * hd__map or hd__map_to_new. */
static hd_tensor *select_by_mask(hd_tensor *(*map)(hdk_loop f, const void *params, int n,
                                                   hd_tensor *const *operands),
                                 hd_tensor *y, hd_tensor *x, hd_tensor *mask, hd_scalar value)
{
    hd__loop_number number;
    hd_tensor *v = hd__loop_number_of(&number, x->dtype, value);
    return map(hdk_binary_loop(HDK_WHERE, x->dtype), NULL, 4, (hd_tensor *[]){y, mask, v, x});
}

/* Both x and mask may broadcast. The result is row-major, whatever x's strides are. */
hd_tensor *(hd_masked_fill)(hd_tensor *x, hd_tensor *mask, hd_scalar value)
{
    HD__CALL("hd_masked_fill");
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    if (!fill_mask_ok(x, mask, value) ||
        !hd__tensor_broadcast(2, (hd_tensor *[]){x, mask}, &ndim, sizes)) {
        return NULL;
    }
    hd_tensor *y =
        select_by_mask(hd__map_to_new, hd__tensor_empty(x->dtype, ndim, sizes), x, mask, value);
    return HD__RECORD(&masked_fill_op, y, HD__IN(1, &x), HD__SAVES(1, &mask));
}

hd_tensor *(hd_masked_fill_)(hd_tensor *x, hd_tensor *mask, hd_scalar value)
{
    HD__CALL("hd_masked_fill_");
    hd_tensor *read = mask;
    const hd__record_args a = {HD__IN(1, &x), HD__SAVES(1, &mask)};
    if (!fill_mask_ok(x, mask, value) || !hd__op_operand_ok(x, &read) ||
        !hd__graph_inplace_ok(x, 1, &x) || !hd__record_inplace(&masked_fill_op, x, &a)) {
        return NULL;
    }
    return hd__record_told(&masked_fill_op, select_by_mask(hd__map, x, x, read, value), 1, &x);
}
