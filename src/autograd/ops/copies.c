/* copies.c - ops that copy elements into a new tensor: clone, contiguous, to, cat, stack, repeat,
 * repeat_interleave, tril and triu; and detach. */
#include <inttypes.h>

#include "autograd/ops/arith.h"
#include "autograd/record.h"
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/list.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

static const hd__op clone_op = HD__OP("CloneBackward0", hd__op_same_backward);
static const hd__op to_op = HD__OP("ToCopyBackward0", hd__op_same_backward);

/* ---------------------------------------------------------------- clone, contiguous, to, detach */

static hd_tensor *record_copy(const hd__op *op, hd_tensor *y, hd_tensor *x)
{
    return HD__RECORD(op, y, HD__IN(1, &x));
}

hd_tensor *hd_clone(hd_tensor *x)
{
    HD__CALL("hd_clone");
    return hd__tensor_any_arg("x", x, false)
               ? record_copy(&clone_op, hd__tensor_copied(x, x->dtype), x)
               : NULL;
}

hd_tensor *hd_contiguous(hd_tensor *x)
{
    HD__CALL("hd_contiguous");
    if (!hd__tensor_any_arg("x", x, false)) {
        return NULL;
    }
    return hd__tensor_contig(x) ? x : record_copy(&clone_op, hd__tensor_clone(x), x);
}

hd_tensor *(hd_to)(hd_tensor *x, hd_dtype d)
{
    HD__CALL("hd_to");
    if (!hd__tensor_any_arg("x", x, false) || !hd__tensor_dtype_arg(d)) {
        return NULL;
    }
    if (d == HD_BFLOAT16 && hd__record_wants_grad(x)) {
        return hd_fail(
            HD_GRAD,
            "%s requires grad, but bfloat16 has no gradients. Use hd_detach(x), or HD_NO_GRAD",
            HD__SHAPE(x));
    }
    return x->dtype == d ? x : record_copy(&to_op, hd__tensor_copied(x, d), x);
}

hd_tensor *hd_detach(hd_tensor *x)
{
    HD__CALL("hd_detach");
    return hd__tensor_any_arg("x", x, false) ? hd__record_told(NULL, hd__tensor_alias_of(x), 1, &x)
                                             : NULL;
}

/* ---------------------------------------------------------------- cat, stack */

/* dx_i += the i-th part of dy along dim. The params begin with two ints, of which the first is dim
 * and the second is not used. The length of each part follows. */
static void cat_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dim = hd__node_params(n);
    const int64_t *lens = (const int64_t *)(dim + 2);
    int64_t start = 0;
    for (int i = 0; i < n->n_in; i++) {
        if (hd__node_needs(n, i)) {
            /* the length of the part is also 0 for an input of shape (0,), which cat has skipped */
            const hd__node_out_meta *x = hd__node_input_meta(n, i);
            dx[i] = lens[i] ? hd_narrow(dy[0], *dim, start, lens[i])
                            : hd_zeros_n((hd_dtype)x->dtype, x->ndim, x->sizes);
        }
        start += lens[i];
    }
}

/* dx_i += dy at index i of dim */
static void stack_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dim = hd__node_params(n);
    for (int i = 0; i < n->n_in; i++) {
        dx[i] = hd__node_needs(n, i) ? hd_select(dy[0], *dim, i) : HD_NONE;
    }
}

static const hd__op cat_op = HD__OP("CatBackward0", cat_backward);
static const hd__op stack_op = HD__OP("StackBackward0", stack_backward);

static bool joined_ok(int64_t n, hd_tensor *const *xs)
{
    return ((n >= 1 && n <= INT32_MAX) ||
            hd_fail(HD_VALUE, "%" PRId64 " tensors: expected 1 or more", n)) &&
           hd__arg_given("xs", xs) && hd__tensor_args("xs", n, xs, false);
}

static hd_dtype promoted(int64_t n, hd_tensor *const *xs)
{
    hd_tensor all = {.dtype = xs[0]->dtype, .ndim = xs[0]->ndim};
    for (int64_t i = 1; i < n; i++) {
        all.dtype = (uint8_t)hd__tensor_promote(&all, xs[i]);
        all.ndim = xs[i]->ndim > all.ndim ? xs[i]->ndim : all.ndim;
    }
    return all.dtype;
}

/* True if hd_cat skips x because its shape is (0,), as PyTorch does. */
static bool skipped(const hd_tensor *x)
{
    return x->ndim == 1 && x->sizes[0] == 0;
}

/* Checks the shapes of xs[]. Sets *at to dim, counted from the front, and writes the result's sizes
 * to sizes. Returns a tensor of xs[] that has as many dims as the result; NULL with an error if the
 * shapes do not fit. */
static const hd_tensor *cat_shape(int64_t n, hd_tensor *const *xs, int dim, int *at, int64_t *sizes)
{
    const hd_tensor *first = xs[0];
    for (int64_t i = 1; i < n && skipped(first); i++) {
        first = xs[i];
    }
    *at = skipped(first) ? 0 : hd__tensor_dim(first, dim); /* if skipped, all tensors are (0,) */
    if (*at < 0) {
        return NULL;
    }
    memcpy(sizes, first->sizes, sizeof first->sizes);
    sizes[*at] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (skipped(xs[i])) {
            continue;
        }
        if (xs[i]->ndim == 0) {
            return hd_fail(HD_SHAPE,
                           "a 0-d tensor: expected 1 dim or more. Use hd_stack for 0-d tensors");
        }
        bool fits = xs[i]->ndim == first->ndim;
        for (int d = 0; d < first->ndim && fits; d++) {
            fits = d == *at || xs[i]->sizes[d] == first->sizes[d];
        }
        if (!fits) {
            return hd_fail(HD_SHAPE,
                           "%s and %s along dim %d: expected equal sizes in all other dims",
                           HD__SHAPE(first), HD__SHAPE(xs[i]), *at);
        }
        if (__builtin_add_overflow(sizes[*at], xs[i]->sizes[*at], &sizes[*at])) {
            return hd_fail(HD_MEMORY, "%s and others along dim %d: the size overflows",
                           HD__SHAPE(first), *at);
        }
    }
    return first;
}

hd_tensor *hd_cat_n(int64_t n, hd_tensor *const *xs, int dim)
{
    HD__CALL("hd_cat");
    int at = -1;
    int64_t sizes[HD_MAX_DIMS];
    if (!joined_ok(n, xs)) {
        return NULL;
    }
    const hd_tensor *first = cat_shape(n, xs, dim, &at, sizes);
    hd_tensor *y = first ? hd__tensor_empty(promoted(n, xs), first->ndim, sizes) : NULL;
    size_t params_size = 2 * sizeof(int) + (size_t)n * sizeof(int64_t);
    int *params = y ? hd_alloc(params_size) : NULL;
    if (!params) {
        return NULL;
    }
    int64_t *lens = (int64_t *)(params + 2);
    params[0] = at;
    for (int64_t i = 0; i < n; i++) {
        lens[i] = skipped(xs[i]) ? 0 : xs[i]->sizes[at];
    }
    hd__tensor_join(y, at, n, xs);
    y = HD__RECORD(&cat_op, y, HD__IN((int)n, xs), .params = params, .params_size = params_size);
    hd_free(params);
    return y;
}

hd_tensor *hd_stack_n(int64_t n, hd_tensor *const *xs, int dim)
{
    HD__CALL("hd_stack");
    if (!joined_ok(n, xs)) {
        return NULL;
    }
    for (int64_t i = 1; i < n; i++) {
        if (!hd__tensor_same_shape(xs[0], xs[i])) {
            return hd_fail(HD_SHAPE, "%s and %s: expected equal shapes", HD__SHAPE(xs[0]),
                           HD__SHAPE(xs[i]));
        }
    }
    int ndim = xs[0]->ndim + 1, at = dim < 0 ? dim + ndim : dim;
    if (at < 0 || at >= ndim) {
        return hd_fail(HD_INDEX, "dim %d of a result with %d dims: expected %d to %d", dim, ndim,
                       -ndim, ndim - 1);
    }
    int64_t sizes[HD_MAX_DIMS + 1];
    for (int d = 0; d < ndim; d++) {
        sizes[d] = d == at ? n : xs[0]->sizes[d < at ? d : d - 1];
    }
    hd_tensor *y = hd__tensor_empty(promoted(n, xs), ndim, sizes);
    for (int64_t i = 0; y && i < n; i++) {
        hd_tensor place = *y; /* y at index i of dim `at` */
        place.ndim--;
        place.offset = i * y->strides[at];
        for (int d = at; d < place.ndim; d++) {
            place.sizes[d] = y->sizes[d + 1];
            place.strides[d] = y->strides[d + 1];
        }
        hd__tensor_geometry_changed(&place);
        hd__tensor_copy(&place, xs[i]);
    }
    return HD__RECORD(&stack_op, y, HD__IN((int)n, xs), HD__PARAMS(at));
}

hd_tensor *hd_cat_list(const hd_list *xs, int dim)
{
    HD__CALL("hd_cat");
    return hd__tensor_list_arg("xs", xs) ? hd_cat_n(xs->len, xs->items, dim) : NULL;
}

hd_tensor *hd_stack_list(const hd_list *xs, int dim)
{
    HD__CALL("hd_stack");
    return hd__tensor_list_arg("xs", xs) ? hd_stack_n(xs->len, xs->items, dim) : NULL;
}

/* ---------------------------------------------------------------- repeat */

static bool repeats_ok(int64_t repeats)
{
    return repeats >= 0 || hd_fail(HD_VALUE, "%" PRId64 " repeats: expected 0 or more", repeats);
}

/* Returns a copy of x in which the size of dim d is multiplied by r: each block of the dims from
 * `inner` on is repeated r times. `inner` is d to repeat the whole dim, or d + 1 to repeat each
 * index. NULL with an error on failure. */
static hd_tensor *repeated(hd_tensor *x, int d, int inner, int64_t r)
{
    int64_t sizes[HD_MAX_DIMS], size;
    memcpy(sizes, x->sizes, sizeof sizes);
    if (__builtin_mul_overflow(x->sizes[d], r, &size)) {
        return hd_fail(HD_MEMORY, "%s repeated %" PRId64 " times: the size overflows", HD__SHAPE(x),
                       r);
    }
    const int64_t parts = hd__tensor_count_of(inner, x->sizes);
    const int64_t part = hd__tensor_count_of(x->ndim - inner, x->sizes + inner);
    hd_tensor *y = hd_expand(hd_reshape(x, parts, 1, part), parts, r, part);
    sizes[d] = size;
    y = y && hd__tensor_contig(y) ? hd_clone(y) : hd_contiguous(y);
    return y ? hd_view_n(y, x->ndim, sizes) : NULL;
}

typedef struct repeats {
    int ndim;               /* the number of dims of the result */
    int64_t n[HD_MAX_DIMS]; /* the number of repeats along each dim of the result */
} repeats;

/* Adds leading dims of size 1 to x, and repeats it p->n[d] times along each dim d. Returns the
 * result, unrecorded; NULL with an error on failure. */
static hd_tensor *tiled(hd_tensor *x, const repeats *p)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    int64_t sizes[HD_MAX_DIMS];
    for (int d = 0, lead = p->ndim - x->ndim; d < p->ndim; d++) {
        sizes[d] = d < lead ? 1 : x->sizes[d - lead];
    }
    hd_tensor *y = hd_reshape_n(x, p->ndim, sizes);
    for (int d = 0; d < p->ndim && y; d++) { /* handles repeats of 0 first, to keep y small */
        y = p->n[d] == 0 ? repeated(y, d, d, 0) : y;
    }
    for (int d = 0; d < p->ndim && y; d++) {
        y = p->n[d] <= 1 ? y : repeated(y, d, d, p->n[d]);
    }
    if (!y) {
        return NULL;
    }
    return hd_scope_return(y->storage == x->storage ? hd__tensor_clone(y) : hd__tensor_alias_of(y));
}

/* dx += the sum of dy over all repeats of an element */
static void repeat_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const repeats *p = hd__node_params(n);
    const hd__node_out_meta *x = hd__node_input_meta(n, 0);
    const int lead = p->ndim - x->ndim;
    hd_tensor *g = dy[0];
    if (g->numel == 0) {
        dx[0] = hd_zeros_n((hd_dtype)g->dtype, x->ndim, x->sizes);
        return;
    }
    for (int d = 0; d < p->ndim && g; d++) {
        if (p->n[d] == 1) {
            continue;
        }
        int64_t sizes[HD_MAX_DIMS];
        memcpy(sizes, g->sizes, sizeof sizes);
        sizes[d] = d < lead ? 1 : x->sizes[d - lead];
        const int64_t parts = hd__tensor_count_of(d, sizes);
        const int64_t part = hd__tensor_count_of(p->ndim - d, sizes + d);
        g = hd_sum_dim(hd_reshape(g, parts, p->n[d], part), 1, false);
        g = hd_view_n(g, p->ndim, sizes);
    }
    dx[0] = g ? hd_view_n(g, x->ndim, x->sizes) : NULL;
}

static const hd__op repeat_op = HD__OP("RepeatBackward0", repeat_backward);

hd_tensor *hd_repeat_n(hd_tensor *x, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_repeat");
    repeats p = {.ndim = ndim};
    if (!hd__tensor_arg("x", x) || !hd__tensor_sizes_arg(ndim, sizes)) {
        return NULL;
    }
    if (ndim < x->ndim) {
        return hd_fail(HD_SHAPE, "%d repeats for %s: expected at least one for each dim", ndim,
                       HD__SHAPE(x));
    }
    for (int d = 0; d < ndim; d++) {
        p.n[d] = sizes[d];
        if (!repeats_ok(sizes[d])) {
            return NULL;
        }
    }
    return HD__RECORD(&repeat_op, tiled(x, &p), HD__IN(1, &x), HD__PARAMS(p));
}

hd_tensor *hd_repeat_interleave(hd_tensor *x, int64_t repeats, int dim)
{
    HD__CALL("hd_repeat_interleave");
    int d = hd__tensor_dim_of(x, dim);
    if (d < 0 || !repeats_ok(repeats)) {
        return NULL;
    }
    if (x->ndim == 0) {
        return hd_fail(HD_SHAPE, "x is 0-d: expected 1 dim or more");
    }
    HD__SCOPE_OR(NULL);
    return hd_scope_return(repeated(x, d, d + 1, repeats));
}

/* ---------------------------------------------------------------- triangles */

enum { LOWER, UPPER };        /* the kinds of the ops */
enum { CUT_GRAIN = 1 << 16 }; /* the fewest bytes of a task */

typedef struct cut {
    hd_tensor *y;
    int64_t diagonal;
    bool lower;
} cut;

/* Zeroes the elements outside the triangle in rows [begin, end). In row i of a matrix these are the
 * columns j > i + diagonal for LOWER, and j < i + diagonal for UPPER. */
static void cut_rows(int64_t begin, int64_t end, void *arg)
{
    const cut *c = arg;
    const int64_t *sizes = c->y->sizes + c->y->ndim - 2, rows = sizes[0], columns = sizes[1];
    const int64_t item = hd__tensor_bytes_of(c->y->dtype);
    for (int64_t r = begin; r < end; r++) {
        char *row = (char *)hd__tensor_ptr(c->y) + r * columns * item;
        int64_t edge = r % rows + c->diagonal + c->lower;
        edge = edge < 0 ? 0 : edge > columns ? columns : edge;
        int64_t from = c->lower ? edge : 0, to = c->lower ? columns : edge;
        memset(row + from * item, 0, (size_t)((to - from) * item));
    }
}

static hd_tensor *triangle(const hd__op *op, hd_tensor *x, int64_t diagonal)
{
    if (!hd__tensor_arg("x", x)) {
        return NULL;
    }
    if (x->ndim < 2) {
        return hd_fail(HD_SHAPE, "%s: expected 2 dimensions or more", HD__SHAPE(x));
    }
    int64_t rows = x->sizes[x->ndim - 2], columns = x->sizes[x->ndim - 1];
    hd_tensor *y = hd__tensor_clone(x);
    cut c = {y, diagonal, op->kind == LOWER};
    if (diagonal < -rows || diagonal > columns) { /* otherwise i + diagonal might overflow */
        c.diagonal = diagonal < 0 ? -rows - 1 : columns;
    }
    if (y && y->numel > 0) {
        int64_t bytes = columns * hd__tensor_bytes_of(y->dtype);
        hd__parallel_for(y->numel / columns, CUT_GRAIN / bytes, cut_rows, &c);
    }
    return HD__RECORD(op, y, HD__IN(1, &x), HD__PARAMS(diagonal));
}

/* dx += the same triangle of dy */
static void triangle_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int64_t *diagonal = hd__node_params(n);
    dx[0] = triangle(n->op, dy[0], *diagonal);
}

static const hd__op tril_op = HD__OP_KIND("TrilBackward0", triangle_backward, LOWER);
static const hd__op triu_op = HD__OP_KIND("TriuBackward0", triangle_backward, UPPER);

hd_tensor *hd_tril(hd_tensor *x, int64_t diagonal)
{
    HD__CALL("hd_tril");
    return triangle(&tril_op, x, diagonal);
}

hd_tensor *hd_triu(hd_tensor *x, int64_t diagonal)
{
    HD__CALL("hd_triu");
    return triangle(&triu_op, x, diagonal);
}
