/* walk.c - calls a kernel for all elements of many tensors, parameters or gradients, in one
 * parallel pass. */
#include "base/threads/pool.h"
#include "optim/walk.h"
#include "tensor/for_nn_and_optim.h"

bool hd__optim_walk_begin(hd__optim_walk *w, int64_t most)
{
    *w = (hd__optim_walk){.x = hd__arg_alloc_items(2 * most + 1, sizeof *w->x)};
    w->dense = w->x ? w->x + most : NULL;
    return w->x;
}

bool hd__optim_walk_add(hd__optim_walk *w, hd_tensor *x)
{
    w->x[w->n] = x;
    w->dense[w->n] = hd_contiguous(x);
    return w->dense[w->n++];
}

int64_t hd__optim_grains(const hd_tensor *x)
{
    int64_t n = hd_numel(x);
    return hd_is_contiguous(x) ? n / HD__GRAIN + (n % HD__GRAIN != 0) : n > 0;
}

typedef struct tour {
    const hd__optim_walk *w;
    bool writes;
    hd__optim_run run;
    void *arg;
} tour;

static void run_grains(int64_t begin, int64_t end, void *arg)
{
    const tour *t = arg;
    const hd__optim_walk *w = t->w;
    int64_t i = -1, first = 0, past = 0; /* x[i] has the grains from `first` to past - 1 */
    for (int64_t grain = begin; grain < end; grain++) {
        while (past <= grain) {
            first = past;
            past += hd__optim_grains(w->x[++i]);
        }
        int64_t at = (grain - first) * HD__GRAIN, to = at + HD__GRAIN;
        if (!t->writes || w->dense[i] == w->x[i]) {
            t->run(i, grain, at, grain + 1 < past ? to : hd_numel(w->x[i]), t->arg);
        }
    }
}

/* Calls t->run on a copy of x[i], and copies the result back. The copy is made only now, because
 * x[i] may share memory with a tensor that was written just before. */
static void run_copied(const tour *t, int64_t i)
{
    hd_tensor *x = t->w->x[i];
    void *copy = hd_data_mut(t->w->dense[i]);
    if (hd_copy_to(x, copy, (size_t)hd_numel(x) * (size_t)hd_dtype_size(hd_dtype_of(x)))) {
        t->run(i, -1, 0, hd_numel(x), t->arg);
        hd__tensor_write_array(x, copy);
    }
}

void hd__optim_walk_all(const hd__optim_walk *w, bool writes, hd__optim_run run, void *arg)
{
    int64_t sum = 0, elements = 0;
    tour t = {w, writes, run, arg};
    for (int64_t i = 0; i < w->n; i++) {
        sum += hd__optim_grains(w->x[i]);
        elements += hd_numel(w->x[i]);
    }
    int64_t least = elements > HD__GRAIN ? 1 : sum; /* a few elements need no second thread */
    hd__parallel_for(sum, least, run_grains, &t);
    for (int64_t i = 0; writes && i < w->n; i++) {
        if (w->dense[i] != w->x[i]) {
            run_copied(&t, i);
        }
    }
}
