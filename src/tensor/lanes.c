/* lanes.c - the walk along one dim.
 *
 * Neighbouring dims that all operands lay out densely are merged. Of what is left, the dim in which
 * the input is densest becomes the lanes' own, so that a kernel reads memory in order. How the
 * work is cut depends on shapes only, never on the number of threads. */
#include "tensor/lanes.h"

enum {
    FEW = 16384, /* elements not worth the pool */
    UNIT = 4096, /* elements of a task at least */
    SIDE = 128   /* strided lanes side by side in one task at least */
};

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
