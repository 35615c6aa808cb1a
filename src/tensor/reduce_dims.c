/* reduce_dims.c - reductions over any set of dims, as a sequence of reductions along one dim
 * (lanes.h).
 *
 * The reduced dims are made the innermost ones, and merged. Each step reduces the innermost dim,
 * and the next step reduces the results. The order of a sum depends on shapes and strides only,
 * never on the number of threads. */
#include "tensor/copy.h"
#include "tensor/reduce_dims.h"

#include "tensor/kernels/reduce.h"
#include "tensor/lanes.h"

enum {
    NO_PLAN_MOST = 32768, /* a contiguous tensor of at most this many elements needs no plan */
    PIECE = HDK_SUM_MAX   /* a lane is cut into pieces of at most this many elements */
};

/* The dims of a tensor x, in another order. The innermost ones are the reduced dims, merged. Around
 * them are the kept dims, in x's order. */
typedef struct plan {
    int dtype, reduced; /* x's dtype; the number of reduced dims, at least 1 */
    char *data;
    hd__dims dims;
} plan;

static void make_plan(plan *q, const hd_tensor *x, uint32_t mask)
{
    hd__dims all;
    hd__dims_make(&all, x->ndim, x->sizes, 1, (hd_tensor *[]){(hd_tensor *)x});
    q->dtype = x->dtype;
    q->data = hd__tensor_ptr(x);
    q->dims.n = 1;
    q->dims.ndim = 0;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (mask >> d & 1) {
            hd__dims_append(&q->dims, &all.dim[x->ndim - 1 - d]);
        }
    }
    hd__dims_sort(&q->dims); /* a reduction may take its dims in any order */
    hd__dims_merge(&q->dims);
    if (q->dims.ndim == 0) {
        hd__dims_append(&q->dims, &(hd__dims_axis){1, {hd__tensor_bytes_of(x->dtype)}});
    }
    q->reduced = q->dims.ndim;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (!(mask >> d & 1)) {
            hd__dims_append(&q->dims, &all.dim[x->ndim - 1 - d]);
        }
    }
    hd__assert(hd__dims_alike(&q->dims, &all));
}

/* Reduces `pieces` pieces of the innermost dim by f, with n elements each, from element `begin` on.
 * Writes the results to y, and second results to extra unless extra is NULL. Results for
 * neighbouring places of the other dims lie `row` elements apart. */
static void reduce_innermost(const plan *q, hdk_lane_kernel f, hd_tensor *y, hd_tensor *extra,
                             int64_t row, int64_t begin, int64_t pieces, int64_t n, double p)
{
    const hd__dims_axis *own = &q->dims.dim[0];
    hd__lanes w;
    int64_t *item = w.item;
    w.dims.n = extra ? 3 : 2;
    w.dims.ndim = 0;
    w.lanes.n = n;
    item[0] = hd__tensor_bytes_of(y->dtype);
    item[1] = item[2] = hd__tensor_bytes_of(q->dtype);
    if (pieces > 1) {
        hd__dims_append(&w.dims, &(hd__dims_axis){pieces, {item[0], n * own->stride[0]}});
    }
    for (int d = 1; d < q->dims.ndim; d++) {
        const hd__dims_axis *x = &q->dims.dim[d];
        hd__dims_append(&w.dims,
                        &(hd__dims_axis){x->size, {row * item[0], x->stride[0], row * item[2]}});
        row *= x->size;
    }
    w.lanes.sn[0] = w.lanes.sn[2] = 0;
    w.lanes.sn[1] = own->stride[0] / item[1];
    w.data[0] = (char *)hd__tensor_ptr(y) + begin / PIECE * item[0];
    w.data[1] = q->data + begin * own->stride[0];
    w.data[2] = extra ? hd__tensor_ptr(extra) : NULL;
    hd__lanes_run(&w, f, p);
}

/* Makes t, the results of a step, the input of the next step. The kept dims of q stay.
 * Inside them q gets one dense dim of size `left`, which is the number of results in t for each
 * place of the kept dims. */
static void next_plan(plan *q, const hd_tensor *t, int64_t left)
{
    while (q->reduced > 1) {
        hd__dims_take(&q->dims, --q->reduced);
    }
    q->dtype = t->dtype;
    q->data = hd__tensor_ptr(t);
    q->dims.dim[0].size = left;
    hd__dims_dense(&q->dims, 0, hd__tensor_bytes_of(t->dtype));
}

/* Returns a contiguous copy of x in which the dims of *mask come last, in x's order. Sets *mask to
 * the mask of these dims in the copy. Returns NULL with an error if memory runs out. */
static hd_tensor *gather(const hd_tensor *x, uint32_t *mask)
{
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    uint32_t last = 0;
    int n = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (int d = 0; d < x->ndim; d++) {
            if ((*mask >> d & 1) == pass) {
                last |= pass << n;
                sizes[n] = x->sizes[d];
                strides[n++] = x->strides[d];
            }
        }
    }
    *mask = last;
    hd_tensor *moved = hd__tensor_alias(x, n, sizes, strides, x->offset);
    return moved ? hd__tensor_contiguous(moved) : NULL;
}

static bool reduce_steps(const hdk_lane_kernel *kernels, bool cut, hd_tensor *y, plan *q, double p,
                         hd_tensor *extra)
{
    for (;;) {
        int64_t n = q->dims.dim[0].size, pieces = cut && n > PIECE ? (n + PIECE - 1) / PIECE : 1;
        /* left: number of results for each place of the kept dims; count: number of all results */
        int64_t left = pieces, count = pieces;
        for (int d = 1; d < q->dims.ndim; d++) {
            left *= d < q->reduced ? q->dims.dim[d].size : 1;
            count *= q->dims.dim[d].size;
        }
        if (left == 1) {
            hd__assert(count == y->numel);
            reduce_innermost(q, kernels[q->dtype], y, extra, 1, 0, 1, n, p);
            return true;
        }
        hd_tensor *t = hd__tensor_empty(y->dtype, 1, &count); /* (..., left) */
        if (!t) {
            return false;
        }
        int64_t even = pieces > 1 ? n / PIECE : 1, size = pieces > 1 ? PIECE : n;
        hd__assert(even * size + (even < pieces ? n % PIECE : 0) == n);
        reduce_innermost(q, kernels[q->dtype], t, NULL, pieces, 0, even, size, p);
        if (even < pieces) {
            reduce_innermost(q, kernels[q->dtype], t, NULL, pieces, even * PIECE, 1, n % PIECE, p);
        }
        next_plan(q, t, left);
    }
}

/* If x is small and contiguous, and mask has its last or its first dims, reduces x by one call of f
 * and returns true. Otherwise does nothing and returns false without an error. */
static bool reduce_small(hdk_lane_kernel f, hd_tensor *y, const hd_tensor *x, uint32_t mask,
                         double p, hd_tensor *extra)
{
    bool leading = (mask & (mask + 1)) == 0;
    bool trailing = mask + (mask & -mask) == 1u << (x->ndim > 0 ? x->ndim : 1);
    if (!hd__tensor_contig(x) || x->numel > NO_PLAN_MOST || y->numel == 0 ||
        !(leading || trailing)) {
        return false;
    }
    int64_t k = y->numel, n = x->numel / k;
    hdk_lanes l = {.n = n, .k = k};
    l.sn[1] = trailing ? 1 : k;
    l.sk[0] = l.sk[2] = 1;
    l.sk[1] = trailing ? n : 1;
    f(&l, (void *[]){hd__tensor_ptr(y), hd__tensor_ptr(x), extra ? hd__tensor_ptr(extra) : NULL},
      p);
    return true;
}

bool hd__reduce(const hdk_lane_kernel *kernels, hd__reduce_pieces pieces, hd_tensor *y,
                const hd_tensor *x, uint32_t mask, double p, hd_tensor *extra)
{
    if (reduce_small(kernels[x->dtype], y, x, mask, p, extra)) {
        return true;
    }
    plan q;
    make_plan(&q, x, mask);
    bool several = (mask & (mask - 1)) != 0;
    bool shuffled = pieces == HD__IN_ORDER && several && !hd__tensor_contig(x);
    HD__SCOPE_OR(false);
    if (pieces != HD__PIECES && (q.reduced > 1 || shuffled)) {
        hd_tensor *dense = gather(x, &mask); /* shape (kept..., reduced...) */
        if (!dense) {
            return false;
        }
        make_plan(&q, dense, mask);
    }
    return reduce_steps(kernels, pieces == HD__PIECES, y, &q, p, extra);
}

/* ---------------------------------------------------------------- results and sums */

hd_tensor *hd__reduced(const hd_tensor *x, uint32_t mask, bool keepdim, hd_dtype d)
{
    int64_t sizes[HD_MAX_DIMS];
    int n = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (!(mask >> i & 1)) {
            sizes[n++] = x->sizes[i];
        } else if (keepdim) {
            sizes[n++] = 1;
        }
    }
    return hd__tensor_empty(d, n, sizes);
}

hd_tensor *hd__reduce_to(int kernel, hd__reduce_pieces pieces, const hd_tensor *x, uint32_t mask,
                         bool keepdim, hd_dtype d)
{
    hd_tensor *y = hd__reduced(x, mask, keepdim, d);
    bool ok = y && hd__reduce(hdk_reduce()->kernel[kernel], pieces, y, x, mask, 0, NULL);
    return ok ? y : NULL;
}

hd_tensor *hd__reduce_sum(hd_tensor *x, uint32_t mask, bool keepdim)
{
    hd_dtype d = x->dtype == HD_BOOL ? HD_INT64 : x->dtype;
    return hd__reduce_to(HDK_SUM, HD__PIECES, x, mask, keepdim, d);
}

hd_tensor *hd__reduce_sum_to(hd_tensor *x, int ndim, const int64_t *sizes)
{
    uint32_t mask = 0;
    int lead = x->ndim - ndim;
    for (int d = 0; lead >= 0 && d < x->ndim; d++) {
        bool extra = d < lead, spread = !extra && sizes[d - lead] == 1 && x->sizes[d] != 1;
        if (!extra && !spread && x->sizes[d] != sizes[d - lead]) {
            return NULL;
        }
        mask |= (uint32_t)(extra || spread) << d;
    }
    if (lead < 0 || mask == 0) {
        return lead < 0 ? NULL : x;
    }
    /* keepdim is true if a dim after the `lead` leading dims is summed to size 1. Then y also keeps
     * the leading dims, and the alias drops them. */
    bool keepdim = mask >> lead;
    hd_tensor *y = hd__reduce_sum(x, mask, keepdim);
    return y && keepdim && lead ? hd__tensor_alias(y, ndim, sizes, y->strides + lead, y->offset)
                                : y;
}
