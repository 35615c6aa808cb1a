/* assign.c - assignment, x[...] = value, and the functions that overwrite all of x: fill, zero,
 * copy.
 *
 * Four functions have similar names:
 * - hd_setitem writes a tensor to the part of x that an index picks, with copy_into;
 * - hd_setitem_scalar writes one number there, with fill;
 * - hd_copy_ and hd_fill_ do the same for all of x. PyTorch gives their nodes other names, so
 *   callers pass the op to copy_into and fill;
 * - hd_set (src/tensor/access.c) writes one number to one element without recording it. In grad
 *   mode it refuses a leaf that requires grad.
 *
 * The part x[...] is a view of x (slices.c). A change of it is a change of x (history.c). */
#include "autograd/history.h"
#include "autograd/ops/assign.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- checks */

/* True if b broadcasts to x's shape; otherwise fails with HD_SHAPE. */
static bool shape_fits(hd_tensor *x, hd_tensor *b)
{
    return hd__tensor_spreads_to(b->ndim, b->sizes, x->ndim, x->sizes) ||
           hd_fail(HD_SHAPE, "%s and %s: expected the second to broadcast to the first",
                   HD__SHAPE(x), HD__SHAPE(b));
}

/* True if x and b share elements, but do not have the same elements in the same order. As in
 * PyTorch, false if x or b has gaps or repeated elements (hd__tensor_dense). */
static bool partly_overlaps(const hd_tensor *x, const hd_tensor *b)
{
    return x->storage == b->storage && x->numel > 0 && b->numel > 0 &&
           !hd__tensor_same_memory(x, b) && hd__tensor_dense(x) && hd__tensor_dense(b) &&
           x->offset < b->offset + b->numel && b->offset < x->offset + x->numel;
}

bool hd__op_operand_ok(hd_tensor *x, hd_tensor **b)
{
    if (!shape_fits(x, *b)) {
        return false;
    }
    if (partly_overlaps(x, *b)) {
        return hd_fail(HD_STATE,
                       "%s and %s overlap in part, so writing to the first would change the "
                       "second. Clone the second",
                       HD__SHAPE(x), HD__SHAPE(*b));
    }
    if (x->storage == (*b)->storage && !hd__tensor_same_memory(x, *b)) {
        *b = hd__tensor_clone(*b);
    }
    return *b;
}

/* ---------------------------------------------------------------- fill, zero, copy */

void hd__op_zero_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd__node_needs(n, 0) ? hd_zeros_like(dy[0], hd_dtype_of(dy[0])) : HD_NONE;
}

/* dx += 0,  dsrc += dy, cast to src's dtype before the engine sums it to src's shape */
static void copy_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd__op_zero_backward(n, dy, dx);
    dx[1] =
        hd__node_needs(n, 1) ? hd_to(dy[0], (hd_dtype)hd__node_input_meta(n, 1)->dtype) : HD_NONE;
}

static const hd__op fill_op = HD__OP("FillBackward2", hd__op_zero_backward);
static const hd__op fill_item_op = HD__OP("FillBackward3", hd__op_zero_backward);
static const hd__op fill_value_op = HD__OP("FillBackward3", copy_backward);
static const hd__op zero_op = HD__OP("ZeroBackward0", hd__op_zero_backward);
static const hd__op copy_op = HD__OP("CopyBackwards", copy_backward);

bool hd__op_overwrites(const hd__op *op, hd_tensor *x)
{
    return hd__graph_inplace_ok(x, 1, &x) &&
           hd__record_inplace(op, x, &(hd__record_args){HD__IN(1, &x)});
}

static hd_tensor *fill(const hd__op *op, hd_tensor *x, hd_scalar s)
{
    bool ok = hd__tensor_any_arg("x", x, false) && hd__tensor_scalar_fits(x->dtype, s) &&
              hd__op_overwrites(op, x);
    return ok ? hd__record_told(op, hd__tensor_fill(x, s), 1, &x) : NULL;
}

hd_tensor *(hd_fill_)(hd_tensor *x, hd_scalar s)
{
    HD__CALL("hd_fill_");
    return fill(&fill_op, x, s);
}

hd_tensor *hd_zero_(hd_tensor *x)
{
    HD__CALL("hd_zero_");
    return fill(&zero_op, x, hd_scalar_int(0));
}

static hd_tensor *copy_into(const hd__op *op, hd_tensor *x, hd_tensor *src)
{
    if (!hd__tensor_any_arg("x", x, false) || !hd__tensor_any_arg("src", src, false)) {
        return NULL;
    }
    hd_tensor *in[] = {x, src}, *read = src;
    if (!hd__op_operand_ok(x, &read) || !hd__graph_inplace_ok(x, 2, in)) {
        return NULL;
    }
    unsigned int before = hd__event_watching() ? hd__events->overwrite_begins(1, &read) : 0;
    if (!hd__record_inplace(op, x, &(hd__record_args){HD__IN(2, in)})) {
        return NULL;
    }
    hd__tensor_copy(x, read);
    if (hd__event_watching()) {
        hd__events->overwritten(before, x);
    }
    return hd__record_told(op, x, 2, in);
}

hd_tensor *hd_copy_(hd_tensor *x, hd_tensor *src)
{
    HD__CALL("hd_copy_");
    return copy_into(&copy_op, x, src);
}

/* ---------------------------------------------------------------- x[...] = value */

/* Returns the view x[index...], to which the caller writes, or x itself if the index picks all of
 * x. NULL with an error if the index is wrong or memory runs out. */
static hd_tensor *target_of(hd_tensor *x, int n, const int64_t *index)
{
    hd_tensor *part = hd_getitem_n(x, n, index);
    return part && part->numel == x->numel && hd__tensor_same_shape(part, x) ? x : part;
}

/* Returns value without the leading dims of size 1 that target lacks, as assignment in PyTorch
 * does. If value and target share a storage, also expands value to target's shape, so that
 * hd__op_operand_ok copies value and does not refuse it. NULL with HD_SHAPE if value does not
 * broadcast to target. */
static hd_tensor *fitting(hd_tensor *value, const hd_tensor *target)
{
    int lead = 0;
    while (value->ndim - lead > target->ndim && value->sizes[lead] == 1) {
        lead++;
    }
    if (!hd__tensor_spreads_to(value->ndim - lead, value->sizes + lead, target->ndim,
                               target->sizes)) {
        return hd_fail(HD_SHAPE, "value %s: expected a shape that broadcasts to %s",
                       HD__SHAPE(value), HD__SHAPE(target));
    }
    if (value->storage == target->storage && !hd__tensor_same_shape(value, target)) {
        value = hd_view_n(value, value->ndim - lead, value->sizes + lead);
        return value ? hd_expand_n(value, target->ndim, target->sizes) : NULL;
    }
    return lead ? hd_view_n(value, value->ndim - lead, value->sizes + lead) : value;
}

hd_tensor *hd_setitem_n(hd_tensor *x, hd_tensor *value, int n, const int64_t *index)
{
    HD__CALL("hd_setitem");
    if (!hd__tensor_arg("x", x) || !hd__tensor_arg("value", value)) {
        return NULL;
    }
    HD__SCOPE_OR(NULL);
    hd_tensor *target = target_of(x, n, index);
    value = target ? fitting(value, target) : NULL;
    const hd__op *op = value && value->ndim == 0 ? &fill_value_op : &copy_op;
    return value && copy_into(op, target, value) ? x : NULL;
}

hd_tensor *(hd_setitem_scalar_n)(hd_tensor *x, hd_scalar value, int n, const int64_t *index)
{
    HD__CALL("hd_setitem_scalar");
    if (!hd__tensor_arg("x", x)) {
        return NULL;
    }
    HD__SCOPE_OR(NULL);
    hd_tensor *target = target_of(x, n, index);
    return target && fill(&fill_item_op, target, value) ? x : NULL;
}
