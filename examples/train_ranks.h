/* train_ranks.h - the ranks of a training run: the processes that mpirun starts. Each computes the
 * gradients of its part of every batch.
 *
 * With one rank, or without libheed-mpi (HEED_HAVE_MPI is not defined), these functions do the same
 * as heed's functions for one process, or nothing. Unless a comment says otherwise, all ranks must
 * call them, in the same order. If an error is set on one rank, a call fails on all of them. */
#ifndef HEED_EXAMPLES_TRAIN_RANKS_H
#define HEED_EXAMPLES_TRAIN_RANKS_H

#include "heed/heed.h"

/* Starts MPI. Call it before the program prints anything. The standard output of all ranks but rank
 * 0 becomes /dev/null. Returns false with an error on failure. */
bool ranks_start(int *argc, char ***argv);
void ranks_end(void); /* call it even after an error */

/* One rank alone may call these three. */
int ranks_count(void);
int ranks_this(void);   /* 0 to ranks_count() - 1 */
bool ranks_first(void); /* true on rank 0, which writes all files */

/* If there are several ranks, prints a line about each. Returns false with an error on failure. */
bool ranks_print(void);

/* Returns true if ok is true on all ranks. Otherwise returns false with an error on all of them. */
bool ranks_all_ok(const char *what, bool ok);
/* Returns true if all ranks have the same text. Otherwise returns false with an error on all of
 * them. `text` is NULL on a rank that has an error. */
bool ranks_same(const char *what, const char *text);
/* Replaces each value by its sum over all ranks. Returns false with an error on failure. */
bool ranks_sum(int n, double *values);
/* Returns the x of all ranks, stacked: (ranks, the sizes of x). Returns NULL on failure. */
hd_tensor *ranks_gather(hd_tensor *x);

/* Gives all ranks the weights of rank 0's model. From now on hd_backward averages the gradients
 * over the ranks. If `shard` is true, the optimizer of each rank is for a part of the parameters.
 * `model` is NULL on a rank that has an error; then all ranks return false with an error. */
bool ranks_join(hd_module *model, bool shard);
void ranks_leave(void); /* call it before the model is freed, even after an error */

/* Makes the next calls of hd_backward average the gradients over the ranks, or not. One rank may
 * call it alone, but all must give the same value. */
void ranks_average(bool on);

/* Returns the parameters, out of `all`, for this rank's optimizer. */
hd_list *ranks_parameters(hd_list *all);
bool ranks_step(hd_optim *o);
bool ranks_save_optim(const hd_optim *o, hd_dict *d, const char *prefix);
bool ranks_load_optim(hd_optim *o, const hd_dict *d, const char *prefix);

#endif
