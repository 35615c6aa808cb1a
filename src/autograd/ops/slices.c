/* slices.c - views of a part of a tensor: select, slice, narrow, getitem, unbind, split, chunk; and
 * roll and flip, which copy.
 *
 * The backward of a view copies dy into zeros of the input's shape. */
#include <inttypes.h>

#include "autograd/history.h"
#include "autograd/ops/arith.h"
#include "autograd/ops/pick.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

typedef struct view_part { /* the part of the input that a view shows */
    int dim;
    bool selects;             /* true: the view shows one index of dim, and lacks this dim */
    int64_t start, step, len; /* along dim: the first index, the step, the number of indices */
} view_part;

enum { IS_SPLIT, IS_UNBIND }; /* the kinds of the ops */

/* ---------------------------------------------------------------- backward */

/* Returns an alias of x with the elements of part p; NULL if memory runs out. */
static hd_tensor *take(hd_tensor *x, const view_part *p)
{
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (d == p->dim && p->selects) {
            continue;
        }
        sizes[ndim] = d == p->dim ? p->len : x->sizes[d];
        strides[ndim] = x->strides[d];
        if (d == p->dim && __builtin_mul_overflow(x->strides[d], p->step, &strides[ndim])) {
            strides[ndim] = x->strides[d]; /* with only one element, the stride does not matter */
        }
        ndim++;
    }
    int64_t offset;
    if (__builtin_mul_overflow(p->start, x->strides[p->dim], &offset) ||
        __builtin_add_overflow(offset, x->offset, &offset)) {
        offset = x->offset; /* without elements, the offset does not matter */
    }
    return hd__tensor_alias(x, ndim, sizes, strides, offset);
}

/* Copies dy into part p of dx. Does nothing if dx or dy is NULL. */
static void add_part(hd_tensor *dx, hd_tensor *dy, const view_part *p)
{
    hd_tensor *cut = dx && dy ? take(dx, p) : NULL;
    if (cut) {
        hd__tensor_copy(cut, dy);
    }
}

static void part_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd__op_zeros_like_input(n, dy[0]->dtype);
    add_part(dx[0], dy[0], hd__node_params(n));
}

/* dx += (dy_0, dy_1, ...), joined along dim. A dy_k that is NULL counts as zeros. */
static void parts_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    view_part p = {
        .dim = *(const int *)hd__node_params(n), .selects = n->op->kind == IS_UNBIND, .step = 1};
    bool all = !p.selects;
    for (int k = 0; k < n->n_out && all; k++) {
        all = dy[k];
    }
    if (all) {
        dx[0] = hd_cat_n(n->n_out, dy, p.dim);
        return;
    }
    dx[0] = hd__op_zeros_like_input(n, n->outs[0].dtype);
    for (int k = 0; k < n->n_out; k++) {
        p.len = p.selects ? 1 : n->outs[k].sizes[p.dim];
        add_part(dx[0], dy[k], &p);
        p.start += p.len;
    }
}

static const hd__op alias_op = HD__OP("AliasBackward0", hd__op_same_backward);
static const hd__op select_op = HD__OP("SelectBackward0", part_backward);
static const hd__op slice_op = HD__OP("SliceBackward0", part_backward);
#define PARTS_OP(text, number)                                                                     \
    {                                                                                              \
        .name = (text), .backward = parts_backward, .parts = true, .kind = (number)                \
    }
static const hd__op unbind_op = PARTS_OP("UnbindBackward0", IS_UNBIND);
static const hd__op split_op = PARTS_OP("SplitBackward0", IS_SPLIT);
static const hd__op split_sizes_op = PARTS_OP("SplitWithSizesBackward0", IS_SPLIT);

/* ---------------------------------------------------------------- one part */

/* Returns false with HD_SHAPE if x is 0-d. */
static bool has_dims(const hd_tensor *x)
{
    return x->ndim > 0 || hd_fail(HD_SHAPE, "x is 0-d: expected 1 dim or more");
}

/* Returns dim, counted from the front; -1 with an error if x is 0-d or has no such dim. */
static int dim_of(const hd_tensor *x, int dim)
{
    return hd__tensor_any_arg("x", x, false) && has_dims(x) ? hd__tensor_dim(x, dim) : -1;
}

static hd_tensor *select_at(hd_tensor *x, int d, int64_t index)
{
    view_part p = {
        .dim = d, .selects = true, .start = hd__tensor_index_at(x, d, index), .step = 1, .len = 1};
    hd_tensor *y = p.start < 0 ? NULL : take(x, &p);
    return hd__record_view(&select_op, y, x, &p, sizeof p);
}

hd_tensor *hd_select(hd_tensor *x, int dim, int64_t index)
{
    HD__CALL("hd_select");
    int d = dim_of(x, dim);
    return d < 0 ? NULL : select_at(x, d, index);
}

static int64_t clamped(int64_t i, int64_t size)
{
    i = i < 0 ? i + size : i;
    return i < 0 ? 0 : i > size ? size : i;
}

hd_tensor *hd_slice_step(hd_tensor *x, int dim, int64_t start, int64_t stop, int64_t step)
{
    HD__CALL("hd_slice_step");
    int d = dim_of(x, dim);
    if (d < 0) {
        return NULL;
    }
    if (step < 1) {
        return hd_fail(HD_VALUE, "step %" PRId64 ": expected 1 or more", step);
    }
    int64_t from = clamped(start, x->sizes[d]), to = clamped(stop, x->sizes[d]);
    int64_t span = to > from ? to - from : 0;
    view_part p = {.dim = d, .start = from, .step = step, .len = span / step + (span % step != 0)};
    return hd__record_view(&slice_op, take(x, &p), x, &p, sizeof p);
}

hd_tensor *hd_slice(hd_tensor *x, int dim, int64_t start, int64_t stop)
{
    HD__CALL("hd_slice");
    return hd_slice_step(x, dim, start, stop, 1);
}

hd_tensor *hd_narrow(hd_tensor *x, int dim, int64_t start, int64_t length)
{
    HD__CALL("hd_narrow");
    int d = dim_of(x, dim);
    if (d < 0) {
        return NULL;
    }
    int64_t size = x->sizes[d], from = start < 0 ? start + size : start;
    if (from < 0 || from > size || length < 0 || length > size - from) {
        return hd_fail(HD_INDEX,
                       "start %" PRId64 ", length %" PRId64
                       " at dim %d of %s: expected a range within size %" PRId64,
                       start, length, d, HD__SHAPE(x), size);
    }
    view_part p = {.dim = d, .start = from, .step = 1, .len = length};
    return hd__record_view(&slice_op, take(x, &p), x, &p, sizeof p);
}

hd_tensor *hd_getitem_n(hd_tensor *x, int n, const int64_t *index)
{
    HD__CALL("hd_getitem");
    if (!hd__tensor_any_arg("x", x, false) || (n != 0 && !has_dims(x))) {
        return NULL;
    }
    if (n < 0 || n > x->ndim) {
        return hd_fail(HD_INDEX, "%d indices into %s: expected 0 to %d", n, HD__SHAPE(x), x->ndim);
    }
    if (n > 0 && !index) {
        return hd__arg_null_arg("index");
    }
    hd_tensor *y = x;
    for (int i = 0, d = 0; i < n && y; i++) {
        if (index[i] == HD_ALL) {
            d++;
        } else {
            y = select_at(y, d, index[i]);
        }
    }
    if (y != x) {
        return y;
    }
    return n == 1 ? hd_slice(x, 0, 0, HD_END)
                  : hd__record_view(&alias_op, hd__tensor_alias_of(x), x, NULL, 0);
}

/* ---------------------------------------------------------------- several parts */

/* Returns a list of n views of x, one after another along dim, recorded as op. View k has length
 * lens[k]. If lens is NULL, each has the length `size`, and the last one may be shorter. Views may
 * be empty, so n may exceed the size of dim. NULL with an error on failure. */
static hd_list *parts(const hd__op *op, hd_tensor *x, int dim, int64_t n, const int64_t *lens,
                      int64_t size)
{
    enum { MOST = 1 << 24 };
    if (n > MOST) {
        return hd_fail(HD_MEMORY, "%" PRId64 " parts: expected %d at most", n, MOST);
    }
    hd_tensor **ys = hd__mem_alloc_zeroed((size_t)(n ? n : 1) * sizeof *ys);
    bool ok = ys;
    view_part p = {.dim = dim, .selects = op == &unbind_op, .step = 1};
    for (int64_t k = 0; k < n && ok; k++) {
        int64_t left = x->sizes[dim] - p.start;
        p.len = lens ? lens[k] : size < left ? size : left;
        ys[k] = take(x, &p);
        ok = ys[k];
        p.start += p.len;
    }
    ok = ok && (n == 0 || hd__record_multi_view(op, (int)n, ys, x, &dim, sizeof dim));
    hd_list *list = ok ? hd_list_n(n, ys) : NULL;
    hd_free(ys);
    return list;
}

hd_list *hd_unbind(hd_tensor *x, int dim)
{
    HD__CALL("hd_unbind");
    int d = dim_of(x, dim);
    return d < 0 ? NULL : parts(&unbind_op, x, d, x->sizes[d], NULL, 1);
}

hd_list *hd_split_sizes_n(hd_tensor *x, int n, const int64_t *sizes, int dim)
{
    HD__CALL("hd_split_sizes");
    int d = dim_of(x, dim);
    if (d < 0) {
        return NULL;
    }
    if (n > 0 && !sizes) {
        return hd__arg_null_arg("sizes");
    }
    int64_t sum = 0;
    for (int k = 0; k < n; k++) {
        if (sizes[k] < 0) {
            return hd_fail(HD_SHAPE, "sizes[%d] %" PRId64 ": expected 0 or more", k, sizes[k]);
        }
        sum = sizes[k] > INT64_MAX - sum ? INT64_MAX : sum + sizes[k];
    }
    if (n < 0 || sum != x->sizes[d]) {
        return hd_fail(HD_SHAPE,
                       "%d sizes with the sum %" PRId64
                       " for dim %d of %s: expected the sum %" PRId64,
                       n, sum, d, HD__SHAPE(x), x->sizes[d]);
    }
    return parts(&split_sizes_op, x, d, n, sizes, 0);
}

/* Returns a list of views of x of length `size` along dim d; the last one may be shorter. If the
 * dim has size 0, the list has one empty view. NULL with an error on failure. */
static hd_list *split_evenly(hd_tensor *x, int d, int64_t size)
{
    int64_t total = x->sizes[d], n = total == 0 ? 1 : total / size + (total % size != 0);
    return parts(&split_op, x, d, n, NULL, size);
}

hd_list *hd_split(hd_tensor *x, int64_t size, int dim)
{
    HD__CALL("hd_split");
    int d = dim_of(x, dim);
    if (d < 0) {
        return NULL;
    }
    if (size < 0 || (size == 0 && x->sizes[d] != 0)) {
        return hd_fail(HD_VALUE, "parts of size %" PRId64 " for %s: expected 1 or more", size,
                       HD__SHAPE(x));
    }
    return split_evenly(x, d, size);
}

hd_list *hd_chunk(hd_tensor *x, int64_t chunks, int dim)
{
    HD__CALL("hd_chunk");
    int d = dim_of(x, dim);
    if (d < 0) {
        return NULL;
    }
    if (chunks < 1) {
        return hd_fail(HD_VALUE, "%" PRId64 " chunks: expected 1 or more", chunks);
    }
    int64_t size = x->sizes[d] / chunks + (x->sizes[d] % chunks != 0);
    if (size == 0) { /* as in PyTorch, `chunks` empty views */
        return parts(&split_sizes_op, x, d, chunks, NULL, 0);
    }
    return split_evenly(x, d, size);
}

/* ---------------------------------------------------------------- roll */

typedef struct roll {
    int64_t shift;
    int dim;
} roll;

/* Returns y with y[i] = x[i - shift], unrecorded: y begins with the last `shift` elements of x
 * along the dim, and x's other elements follow. NULL on failure. */
static hd_tensor *rolled(hd_tensor *x, const roll *t)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    const int64_t n = x->sizes[t->dim], by = n ? (t->shift % n + n) % n : 0;
    hd_tensor *last = hd_narrow(x, t->dim, n - by, by), *first = hd_narrow(x, t->dim, 0, n - by);
    return hd_scope_return(hd_cat(t->dim, last, first));
}

/* dx[i] += dy[i + shift] */
static void roll_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const roll *t = hd__node_params(n);
    dx[0] = rolled(dy[0], &(roll){-t->shift, t->dim});
}

static const hd__op roll_op = HD__OP("RollBackward0", roll_backward);

hd_tensor *hd_roll(hd_tensor *x, int64_t shift, int dim)
{
    HD__CALL("hd_roll");
    const roll t = {shift, hd__tensor_arg("x", x) ? dim_of(x, dim) : -1};
    hd_tensor *y = t.dim < 0 ? NULL : rolled(x, &t);
    return HD__RECORD(&roll_op, y, HD__IN(1, &x), HD__PARAMS(t));
}

/* ---------------------------------------------------------------- flip */

/* Returns a copy of x, unrecorded, reversed along each dim whose bit is set in `dims`; NULL if
 * memory runs out. */
static hd_tensor *flipped(const hd_tensor *x, uint32_t dims)
{
    hd_tensor turned = *x;
    for (int d = 0; d < x->ndim; d++) {
        if (dims >> d & 1 && x->numel > 0) {
            turned.offset += (x->sizes[d] - 1) * x->strides[d];
            turned.strides[d] = -x->strides[d];
        }
    }
    hd__tensor_geometry_changed(&turned);
    return hd__tensor_copy(hd__tensor_laid_out_as(hd__tensor_empty_as(x->dtype, x), x), &turned);
}

/* dx += dy, flipped along the same dims */
static void flip_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = flipped(dy[0], *(const uint32_t *)hd__node_params(n));
}

static const hd__op flip_op = HD__OP("FlipBackward0", flip_backward);

hd_tensor *hd_flip_n(hd_tensor *x, int n, const int64_t *dims)
{
    HD__CALL("hd_flip");
    uint32_t mask = hd__dims_mask(x, n, dims);
    const uint32_t turned = n ? mask : 0; /* for n = 0, hd__dims_mask gives all dims */
    hd_tensor *y = mask ? flipped(x, turned) : NULL;
    return HD__RECORD(&flip_op, y, HD__IN(1, &x), HD__PARAMS(turned));
}
