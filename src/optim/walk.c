/* walk.c - all elements of the parameters or of the gradients, in runs that a kernel takes, in one
 * pass over the threads for any number of tensors. */
#include "optim/optim_internal.h"

int64_t hd__grains(const hd_tensor *x)
{
    int64_t n = hd_numel(x);
    return hd_is_contiguous(x) ? n / HD__GRAIN + (n % HD__GRAIN != 0) : n > 0;
}

typedef struct tour {
    hd_tensor *const *x;
    hd__run run;
    void *arg;
} tour;

static void run_grains(int64_t begin, int64_t end, void *arg)
{
    const tour *t = arg;
    int64_t i = -1, first = 0, past = 0; /* x[i] has the grains from `first` to past - 1 */
    for (int64_t grain = begin; grain < end; grain++) {
        while (past <= grain) {
            first = past;
            past += hd__grains(t->x[++i]);
        }
        int64_t at = (grain - first) * HD__GRAIN, to = at + HD__GRAIN;
        t->run(i, grain, at, grain + 1 < past ? to : hd_numel(t->x[i]), t->arg);
    }
}

void hd__walk_all(int64_t n, hd_tensor *const *x, hd__run run, void *arg)
{
    int64_t sum = 0, elements = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += hd__grains(x[i]);
        elements += hd_numel(x[i]);
    }
    int64_t least = elements > HD__GRAIN ? 1 : sum; /* few elements are not worth a second thread */
    hd__parallel_for(sum, least, run_grains, &(tour){x, run, arg});
}
