/* walk.c - all elements of a parameter and its gradient, in runs that a kernel takes. */
#include "optim/optim_internal.h"

typedef struct walk {
    hd__run run;
    void *arg;
} walk;

static void run_range(int64_t begin, int64_t end, void *arg)
{
    const walk *w = arg;
    w->run((int64_t[]){begin, begin}, (int64_t[]){1, 1}, begin, end - begin, w->arg);
}

/* Rows: runs along the last dim. */
static void run_rows(const hd_tensor *const x[2], const walk *w)
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
        w->run(at, (int64_t[]){strides[0][last], strides[1][last]}, row * sizes[last], sizes[last],
               w->arg);
        for (int d = last - 1; d >= 0 && ++index[d] == sizes[d]; d--) {
            index[d] = 0;
        }
    }
}

void hd__walk(const hd_tensor *a, const hd_tensor *b, hd__run run, void *arg)
{
    const hd_tensor *const x[2] = {a, b ? b : a};
    walk w = {run, arg};
    if (hd_is_contiguous(x[0]) && hd_is_contiguous(x[1])) {
        hd__parallel_for(hd_numel(a), HD__GRAIN, run_range, &w);
    } else if (hd_numel(a) > 0) {
        run_rows(x, &w);
    }
}
