/* lanes.c - runs a kernel on all lanes along one dim.
 *
 * The other dims are merged where all operands allow it. A call of the kernel gets lanes that are
 * neighbours along the dim in which the input has its smallest stride. So the kernel reads memory
 * in order. The cut into tasks depends on shapes and strides only, never on the number of
 * threads. */
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/lanes.h"

#include <stdlib.h>

enum {
    LANES_WORTH = 16384, /* a call with at most this many elements runs on one thread */
    UNIT = 4096,         /* a task has about this many elements, more if one kernel call has more */
    /* If the kernel does not read lane by lane (hdk_lanes_apart), a call gets at least this many
     * bytes of neighbouring elements, one of each lane. */
    LANES_SIDE = 512,
    /* If there are many lanes with several results each, a call gets at least this many lanes. */
    GROUP = 4
};

_Static_assert((int)HDK_LANE_OPERANDS <= (int)HD__WALKED, "hd__dims walks all operands");

int hd__lanes_innermost(const hd_tensor *x)
{
    int best = x->ndim - 1;
    for (int d = best - 1; d >= 0; d--) {
        bool closer = x->sizes[best] == 1 || x->strides[d] < x->strides[best];
        best = x->sizes[d] != 1 && closer ? d : best;
    }
    return best;
}

hd_tensor *hd__lanes_side_by_side(hd_tensor *x, int d, bool again)
{
    bool so = x->ndim == 0 || x->strides[d] == 1 || (!again && hd__lanes_innermost(x) == d);
    return so ? x : hd__tensor_contiguous(x);
}

void hd__lanes_init(hd__lanes *w, int dim, int operands, hd_tensor *const *xs)
{
    hd__dims_axis own = {1, {0}};
    hd__dims_make(&w->dims, xs[0]->ndim, xs[0]->sizes, operands, xs);
    /* If the lanes are empty, their dim of size 0 stays in w->dims, so no kernel is called. */
    if (xs[0]->ndim > 0 && xs[0]->sizes[dim] > 0) {
        own = hd__dims_take(&w->dims, xs[0]->ndim - 1 - dim);
    }
    w->lanes.n = own.size;
    for (int i = 0; i < operands; i++) {
        w->data[i] = hd__tensor_ptr_or_null(xs[i]);
        w->item[i] = hd__tensor_bytes_of(xs[i]->dtype);
        w->lanes.sn[i] = own.stride[i] / w->item[i];
    }
}

/* Moves the dim in which operand 1 has its smallest stride from w->dims to w->lanes. A call of the
 * kernel gets lanes that are neighbours along this dim. */
static void choose_side(hd__lanes *w)
{
    hd__dims_axis side = {1, {0}};
    int best = 0;
    for (int d = 1; d < w->dims.ndim; d++) {
        best = llabs(w->dims.dim[d].stride[1]) < llabs(w->dims.dim[best].stride[1]) ? d : best;
    }
    if (w->dims.ndim > 0) {
        side = hd__dims_take(&w->dims, best);
    }
    w->lanes.k = side.size;
    for (int i = 0; i < w->dims.n; i++) {
        w->lanes.sk[i] = side.stride[i] / w->item[i];
    }
}

typedef struct lanes_task {
    const hd__lanes *w;
    hdk_lane_kernel f;
    double p;
    /* side: number of lanes in one call of f; sides: number of calls for each index of w->dims */
    int64_t side, sides;
} lanes_task;

static void run_units(int64_t begin, int64_t end, void *arg)
{
    const lanes_task *t = arg;
    const hd__lanes *w = t->w;
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t outer = unit / t->sides, j = (unit - outer * t->sides) * t->side;
        hdk_lanes lanes = w->lanes;
        void *data[HDK_LANE_OPERANDS] = {NULL};
        hd__dims_place p;
        hd__dims_seek(&w->dims, outer, &p);
        lanes.k = lanes.k - j < t->side ? lanes.k - j : t->side;
        for (int i = 0; i < w->dims.n; i++) {
            int64_t offset = p.offset[i] + j * lanes.sk[i] * w->item[i];
            data[i] = w->data[i] ? (char *)w->data[i] + offset : NULL;
        }
        t->f(&lanes, data, t->p);
    }
}

void hd__lanes_run(hd__lanes *w, hdk_lane_kernel f, double p)
{
    if (hd__dims_count(&w->dims) == 0) {
        return;
    }
    hd__dims_merge(&w->dims);
    choose_side(w);
    int64_t n = w->lanes.n > 0 ? w->lanes.n : 1, k = w->lanes.k, outer = hd__dims_count(&w->dims);
    int64_t least = hdk_lanes_apart(&w->lanes) ? 1 : LANES_SIDE / w->item[1],
            side = UNIT / n > least ? UNIT / n : least;
    side = side < GROUP && w->lanes.sn[0] != 0 && k >= GROUP * GROUP ? GROUP : side;
    lanes_task t = {w, f, p, side < k ? side : k, 0};
    t.sides = (k + t.side - 1) / t.side;
    if (n * k * outer <= LANES_WORTH || outer * t.sides == 1) {
        run_units(0, outer * t.sides, &t);
    } else {
        int64_t grain = UNIT / (n * t.side);
        hd__parallel_for(outer * t.sides, grain > 0 ? grain : 1, run_units, &t);
    }
}
