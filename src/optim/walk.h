/* walk.h - calls a function for all elements of many tensors, in parallel (walk.c). */
#ifndef HEED_OPTIM_WALK_H
#define HEED_OPTIM_WALK_H

#include "heed/optim.h"

enum { HD__GRAIN = 32768 };

typedef struct hd__optim_walk {
    int64_t n;
    hd_tensor **x, **dense; /* the tensors; dense[i] is x[i], or a copy if x[i] is not contiguous */
} hd__optim_walk;

/* Begins a walk over at most `most` tensors. Returns false with an error if memory runs out. The
 * caller frees w->x with hd_free. */
bool hd__optim_walk_begin(hd__optim_walk *w, int64_t most);
/* Adds x. Returns false with an error if memory runs out. */
bool hd__optim_walk_add(hd__optim_walk *w, hd_tensor *x);

/* Handles elements [begin, end) of dense[i]. `grain` is their grain's number, counted over all
 * tensors. */
typedef void (*hd__optim_run)(int64_t i, int64_t grain, int64_t begin, int64_t end, void *arg);

/* Calls run for all elements, in parallel. A grain has HD__GRAIN elements. The last grain of a
 * tensor may have fewer, and a tensor that is not contiguous is one grain. `writes` is true if run
 * changes dense[i]. In this case, if dense[i] is a copy, run gets -1 as the grain, and the copy is
 * written back to x[i] after run. */
void hd__optim_walk_all(const hd__optim_walk *w, bool writes, hd__optim_run run, void *arg);
int64_t hd__optim_grains(const hd_tensor *x); /* returns the number of grains of x */

#endif
