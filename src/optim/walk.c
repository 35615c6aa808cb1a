/* walk.c - all elements of the parameters and their gradients, in runs that a kernel takes, in one
 * pass over the threads for any number of tensors. */
#include "optim/optim_internal.h"

/* Runs along the last dim, row by row. */
static void walk_rows(const hd_tensor *const x[2], hd__run run, void *arg)
{
    int last = hd_ndim(x[0]) - 1;
    const int64_t *sizes = hd_sizes(x[0]), *strides[] = {hd_strides(x[0]), hd_strides(x[1])};
    int64_t index[HD_MAX_DIMS] = {0}, rows = hd_numel(x[0]) / sizes[last];
    for (int64_t row = 0; row < rows; row++) {
        int64_t at[2] = {0, 0};
        for (int d = 0; d < last; d++) {
            at[0] += index[d] * strides[0][d];
            at[1] += index[d] * strides[1][d];
        }
        run(at, (int64_t[]){strides[0][last], strides[1][last]}, row * sizes[last], sizes[last],
            arg);
        for (int d = last - 1; d >= 0 && ++index[d] == sizes[d]; d--) {
            index[d] = 0;
        }
    }
}

static bool in_one_run(const hd__walk *w)
{
    return hd_is_contiguous(w->a) && (!w->b || hd_is_contiguous(w->b));
}

static int64_t grains(const hd__walk *w)
{
    int64_t n = hd_numel(w->a);
    return in_one_run(w) ? n / HD__GRAIN + (n % HD__GRAIN != 0) : n > 0;
}

/* Runs the grains of one walk from `begin` to `end` - 1. */
static void run_part(const hd__walk *w, hd__run run, int64_t begin, int64_t end)
{
    if (!in_one_run(w)) {
        walk_rows((const hd_tensor *const[]){w->a, w->b ? w->b : w->a}, run, w->arg);
        return;
    }
    int64_t n = hd_numel(w->a);
    begin *= HD__GRAIN;
    end = end * HD__GRAIN < n ? end * HD__GRAIN : n;
    run((int64_t[]){begin, begin}, (int64_t[]){1, 1}, begin, end - begin, w->arg);
}

typedef struct tour {
    const hd__walk *walks;
    hd__run run;
} tour;

static void run_grains(int64_t begin, int64_t end, void *arg)
{
    const tour *t = arg;
    const hd__walk *w = t->walks;
    while (begin < end) {
        while (w->end <= begin) {
            w++;
        }
        int64_t first = w->end - grains(w), last = w->end < end ? w->end : end;
        run_part(w, t->run, begin - first, last - first);
        begin = last;
    }
}

void hd__walk_all(hd__walk *walks, int64_t n, hd__run run)
{
    int64_t sum = 0, elements = 0;
    for (int64_t i = 0; i < n; i++) {
        walks[i].end = sum += grains(&walks[i]);
        elements += hd_numel(walks[i].a);
    }
    int64_t least = elements > HD__GRAIN ? 1 : sum; /* few elements are not worth a second thread */
    hd__parallel_for(sum, least, run_grains, &(tour){walks, run});
}
