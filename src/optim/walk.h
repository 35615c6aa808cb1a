/* walk.h - the elements of many tensors, spread over the threads (walk.c). */
#ifndef HEED_OPTIM_WALK_H
#define HEED_OPTIM_WALK_H

#include "heed/optim.h"

enum { HD__GRAIN = 32768 };

typedef struct hd__optim_walk {
    int64_t n;
    hd_tensor **x, **dense; /* dense: x[i], or a copy of it if it is not contiguous */
} hd__optim_walk;

/* Makes room for so many tensors, which hd__optim_walk_add takes. Ends with hd_free(w->x). */
bool hd__optim_walk_begin(hd__optim_walk *w, int64_t most);
bool hd__optim_walk_add(hd__optim_walk *w, hd_tensor *x);

/* Called for the elements of dense[i] from `begin` to end - 1. They are grain number `grain` of
 * all. */
typedef void (*hd__optim_run)(int64_t i, int64_t grain, int64_t begin, int64_t end, void *arg);

/* Calls run for all elements, spread over the threads. A grain has HD__GRAIN elements, or those
 * that are left, or all of a tensor that is not contiguous. If the runs write, what they write to
 * such a copy goes to the tensor, too; there the grain has no number. */
void hd__optim_walk_all(const hd__optim_walk *w, bool writes, hd__optim_run run, void *arg);
int64_t hd__optim_grains(const hd_tensor *x); /* how many x has */

#endif
