/* lanes.c - the walk along one dim, and reductions over any dims made of it.
 *
 * Neighbouring dims that all operands lay out densely are merged. Of what is left, the dim in which
 * the input is densest becomes the lanes' own, so that a kernel reads memory in order. How the
 * work is cut depends on shapes only, never on the number of threads. */
#include "autograd/lanes.h"
#include "tensor/kernels/reduce.h" /* HDK_SUM_MAX */

enum {
    GRAIN = 32768,      /* elements worth a plan */
    FEW = 16384,        /* elements not worth the pool */
    UNIT = 4096,        /* elements of a task at least */
    SIDE = 128,         /* strided lanes side by side in one task at least */
    PIECE = HDK_SUM_MAX /* elements of one lane reduced by one task at most */
};

/* ---------------------------------------------------------------- the walk */

void hd__lanes_init(hd__lanes *w, int dim, int operands, hd_tensor *const *xs)
{
    w->operands = operands;
    w->ndim = 0;
    for (int d = 0; d < xs[0]->ndim; d++) {
        if (d == dim) {
            continue;
        }
        w->sizes[w->ndim] = xs[0]->sizes[d];
        for (int i = 0; i < operands; i++) {
            w->strides[i][w->ndim] = hd__is_none(xs[i]) ? 0 : xs[i]->strides[d];
        }
        w->ndim++;
    }
    w->lanes.n = xs[0]->ndim ? xs[0]->sizes[dim] : 1;
    for (int i = 0; i < operands; i++) {
        bool none = hd__is_none(xs[i]);
        w->data[i] = none ? NULL : hd__ptr(xs[i]);
        w->item[i] = none ? 0 : hd_dtype_size(xs[i]->dtype);
        w->lanes.sn[i] = none || xs[i]->ndim == 0 ? 0 : xs[i]->strides[dim];
    }
}

static void move_dim(hd__lanes *w, int from, int to)
{
    w->sizes[to] = w->sizes[from];
    for (int i = 0; i < w->operands; i++) {
        w->strides[i][to] = w->strides[i][from];
    }
}

/* Drops dims of size 1 and joins dense neighbours; false when there are no lanes at all. */
static bool merge(hd__lanes *w)
{
    int last = -1;
    for (int d = 0; d < w->ndim; d++) {
        if (w->sizes[d] == 0) {
            return false;
        }
        if (w->sizes[d] == 1) {
            continue;
        }
        bool dense = last >= 0;
        for (int i = 0; i < w->operands && dense; i++) {
            dense = w->strides[i][last] == w->strides[i][d] * w->sizes[d];
        }
        int64_t outer = dense ? w->sizes[last] : 1;
        last += !dense;
        move_dim(w, d, last);
        w->sizes[last] *= outer;
    }
    w->ndim = last + 1;
    return true;
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Takes the lanes' own dim out of the walk: the one with operand 1's smallest stride. */
static void choose_side(hd__lanes *w)
{
    int best = w->ndim - 1;
    for (int d = best - 1; d >= 0; d--) {
        best = magnitude(w->strides[1][d]) < magnitude(w->strides[1][best]) ? d : best;
    }
    w->lanes.k = best < 0 ? 1 : w->sizes[best];
    for (int i = 0; i < w->operands; i++) {
        w->lanes.sk[i] = best < 0 ? 0 : w->strides[i][best];
    }
    for (int d = best < 0 ? 0 : best; d + 1 < w->ndim; d++) {
        move_dim(w, d + 1, d);
    }
    w->ndim -= best >= 0;
}

typedef struct task {
    const hd__lanes *w;
    hdk_lane_kernel f;
    double p;
    int64_t side, sides; /* lanes a unit; units for one position of the outer dims */
} task;

static void run_units(int64_t begin, int64_t end, void *arg)
{
    const task *t = arg;
    const hd__lanes *w = t->w;
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t outer = unit / t->sides, j = (unit - outer * t->sides) * t->side;
        int64_t at[HDK_LANE_OPERANDS];
        hdk_lanes lanes = w->lanes;
        void *data[HDK_LANE_OPERANDS] = {NULL};
        lanes.k = lanes.k - j < t->side ? lanes.k - j : t->side;
        for (int i = 0; i < w->operands; i++) {
            at[i] = j * lanes.sk[i];
        }
        for (int d = w->ndim - 1; d >= 0; d--) {
            int64_t index = outer % w->sizes[d];
            outer /= w->sizes[d];
            for (int i = 0; i < w->operands; i++) {
                at[i] += index * w->strides[i][d];
            }
        }
        for (int i = 0; i < w->operands; i++) {
            data[i] = w->data[i] ? (char *)w->data[i] + at[i] * w->item[i] : NULL;
        }
        t->f(&lanes, data, t->p);
    }
}

void hd__lanes_run(hd__lanes *w, hdk_lane_kernel f, double p)
{
    if (!merge(w)) {
        return;
    }
    choose_side(w);
    int64_t n = w->lanes.n > 0 ? w->lanes.n : 1, k = w->lanes.k, outer = 1;
    for (int d = 0; d < w->ndim; d++) {
        outer *= w->sizes[d];
    }
    int64_t least = w->lanes.sn[1] == 1 ? 1 : SIDE, side = UNIT / n > least ? UNIT / n : least;
    task t = {w, f, p, side < k ? side : k, 0};
    t.sides = (k + t.side - 1) / t.side;
    if (n * k * outer <= FEW || outer * t.sides == 1) {
        run_units(0, outer * t.sides, &t);
    } else {
        int64_t grain = UNIT / (n * t.side);
        hd__parallel_for(outer * t.sides, grain > 0 ? grain : 1, run_units, &t);
    }
}

/* ---------------------------------------------------------------- reductions */

/* x's dims as a reduction sees them: kept ones in order, then the reduced ones. */
typedef struct plan {
    int dtype, kept, reduced;
    void *data;
    int64_t size[HD_MAX_DIMS + 1], stride[HD_MAX_DIMS + 1];
} plan;

/* Puts one reduced dim at the end, joined with the one before it where dense. */
static void add_reduced(plan *q, int64_t size, int64_t stride)
{
    int last = q->kept + q->reduced - 1;
    if (size == 1) {
        return;
    }
    if (q->reduced > 0 && q->stride[last] == size * stride) {
        q->size[last] *= size;
        q->stride[last] = stride;
        return;
    }
    q->size[last + 1] = size;
    q->stride[last + 1] = stride;
    q->reduced++;
}

static void make_plan(plan *q, const hd_tensor *x, uint32_t mask)
{
    int order[HD_MAX_DIMS], n = 0;
    *q = (plan){.dtype = x->dtype, .data = hd__ptr(x)};
    for (int d = 0; d < x->ndim; d++) {
        if (mask >> d & 1) {
            int at = n++; /* by falling stride: sums do not care which dim comes first */
            for (; at > 0 && magnitude(x->strides[order[at - 1]]) < magnitude(x->strides[d]);
                 at--) {
                order[at] = order[at - 1];
            }
            order[at] = d;
        } else {
            q->size[q->kept] = x->sizes[d];
            q->stride[q->kept++] = x->strides[d];
        }
    }
    for (int i = 0; i < n; i++) {
        add_reduced(q, x->sizes[order[i]], x->strides[order[i]]);
    }
    if (q->reduced == 0) { /* one element a lane */
        q->size[q->kept] = 1;
        q->stride[q->kept] = 1;
        q->reduced = 1;
    }
}

/* Reduces the last dim from `begin` on, n elements of it in each of `pieces`; the results for one
 * position of the other dims lie `row` apart. */
static void reduce_last(const plan *q, hdk_lane_kernel f, hd_tensor *y, hd_tensor *extra,
                        int64_t row, int64_t begin, int64_t pieces, int64_t n, double p)
{
    int last = q->kept + q->reduced - 1;
    hd__lanes w = {.operands = extra ? 3 : 2, .ndim = last + (pieces > 1)};
    for (int d = last - 1; d >= 0; d--) {
        w.sizes[d] = q->size[d];
        w.strides[0][d] = w.strides[2][d] = row;
        w.strides[1][d] = q->stride[d];
        row *= q->size[d];
    }
    if (pieces > 1) {
        w.sizes[last] = pieces;
        w.strides[0][last] = 1;
        w.strides[1][last] = n * q->stride[last];
    }
    w.lanes.n = n;
    w.lanes.sn[1] = q->stride[last];
    w.item[0] = hd_dtype_size(y->dtype);
    w.item[1] = w.item[2] = hd_dtype_size(q->dtype);
    w.data[0] = (char *)hd__ptr(y) + begin / PIECE * w.item[0];
    w.data[1] = (char *)q->data + begin * q->stride[last] * w.item[1];
    w.data[2] = extra ? hd__ptr(extra) : NULL;
    hd__lanes_run(&w, f, p);
}

/* The results so far become the input: the kept dims, and one dense dim of what is left to do. */
static void next_plan(plan *q, const hd_tensor *t, int64_t left)
{
    int64_t stride = left;
    q->dtype = t->dtype;
    q->data = hd__ptr(t);
    q->reduced = 1;
    q->size[q->kept] = left;
    q->stride[q->kept] = 1;
    for (int d = q->kept - 1; d >= 0; d--) {
        q->stride[d] = stride;
        stride *= q->size[d];
    }
}

/* A copy of x in which the dims of *mask are one dense run behind the others, in x's order. */
static hd_tensor *gather(const hd_tensor *x, uint32_t *mask)
{
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    uint32_t behind = 0;
    int n = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (int d = 0; d < x->ndim; d++) {
            if ((*mask >> d & 1) == pass) {
                behind |= pass << n;
                sizes[n] = x->sizes[d];
                strides[n++] = x->strides[d];
            }
        }
    }
    *mask = behind;
    hd_tensor *moved = hd__alias(x, n, sizes, strides, x->offset);
    return moved ? hd__contiguous(moved) : NULL;
}

static bool reduce_steps(const char *function, const hdk_lane_kernel *kernels, bool cut,
                         hd_tensor *y, plan *q, double p, hd_tensor *extra)
{
    for (;;) {
        int last = q->kept + q->reduced - 1;
        int64_t n = q->size[last], pieces = cut && n > PIECE ? (n + PIECE - 1) / PIECE : 1;
        int64_t left = pieces, count = 1;
        for (int d = q->kept; d < last; d++) {
            left *= q->size[d];
        }
        for (int d = 0; d < q->kept; d++) {
            count *= q->size[d];
        }
        if (left == 1) {
            reduce_last(q, kernels[q->dtype], y, extra, 1, 0, 1, n, p);
            return true;
        }
        count *= left;
        hd_tensor *t = hd__empty(function, y->dtype, 1, &count); /* (..., left) */
        if (!t) {
            return false;
        }
        int64_t even = pieces > 1 ? n / PIECE : 1, size = pieces > 1 ? PIECE : n;
        reduce_last(q, kernels[q->dtype], t, NULL, pieces, 0, even, size, p);
        if (even < pieces) {
            reduce_last(q, kernels[q->dtype], t, NULL, pieces, even * PIECE, 1, n % PIECE, p);
        }
        next_plan(q, t, left);
    }
}

/* A small contiguous x reduced over its last dims, or over its first: one call, no plan. */
static bool reduce_small(hdk_lane_kernel f, hd_tensor *y, const hd_tensor *x, uint32_t mask,
                         double p, hd_tensor *extra)
{
    bool leading = (mask & (mask + 1)) == 0;
    bool trailing = mask + (mask & -mask) == 1u << (x->ndim > 0 ? x->ndim : 1);
    if (!hd__contig(x) || x->numel > GRAIN || y->numel == 0 || !(leading || trailing)) {
        return false;
    }
    int64_t k = y->numel, n = x->numel / k;
    hdk_lanes l = {.n = n, .k = k};
    l.sn[1] = trailing ? 1 : k;
    l.sk[0] = l.sk[2] = 1;
    l.sk[1] = trailing ? n : 1;
    f(&l, (void *[]){hd__ptr(y), hd__ptr(x), extra ? hd__ptr(extra) : NULL}, p);
    return true;
}

bool hd__reduce(const char *function, const hdk_lane_kernel *kernels, hd__pieces pieces,
                hd_tensor *y, const hd_tensor *x, uint32_t mask, double p, hd_tensor *extra)
{
    if (reduce_small(kernels[x->dtype], y, x, mask, p, extra)) {
        return true;
    }
    plan q;
    make_plan(&q, x, mask);
    bool several = (mask & (mask - 1)) != 0;
    bool shuffled = pieces == HD__IN_ORDER && several && !hd__contig(x);
    if (q.reduced == 1 && q.size[q.kept] <= PIECE && !shuffled) {
        reduce_last(&q, kernels[q.dtype], y, extra, 1, 0, 1, q.size[q.kept], p);
        return true;
    }
    HD_SCOPE;
    if (pieces != HD__PIECES && (q.reduced > 1 || shuffled)) {
        hd_tensor *dense = gather(x, &mask); /* (kept..., reduced...) */
        if (!dense) {
            return false;
        }
        make_plan(&q, dense, mask);
    }
    return reduce_steps(function, kernels, pieces == HD__PIECES, y, &q, p, extra);
}
