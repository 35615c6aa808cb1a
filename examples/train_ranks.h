/* train_ranks.h - the ranks of a training run: the processes that mpirun starts. Each computes the
 * gradients of its part of every batch.
 *
 * With one rank, and without libheed-mpi (HEED_HAVE_MPI is not defined), these functions do the
 * same as the plain functions, or nothing. Unless a comment says otherwise, all ranks must call
 * each of them in the same order. A call fails on all ranks if an error is set on one. */
#ifndef HEED_EXAMPLES_TRAIN_RANKS_H
#define HEED_EXAMPLES_TRAIN_RANKS_H

#include "heed/heed.h"

/* Call it before the program prints anything. Only rank 0 prints: the standard output of the other
 * ranks becomes /dev/null. */
bool ranks_start(int *argc, char ***argv);
void ranks_end(void); /* call it after an error, too */

/* One rank alone may call these three. */
int ranks_count(void);
int ranks_this(void);   /* 0 to ranks_count() - 1 */
bool ranks_first(void); /* true on rank 0, which writes all files */

/* Prints a line about each rank, if there are several. */
bool ranks_print(void);

/* True if ok is true on all ranks. Otherwise each rank has an error. */
bool ranks_all_ok(const char *what, bool ok);
/* True if all ranks have the same text. text NULL: this rank has an error. */
bool ranks_same(const char *what, const char *text);
/* Each value becomes its sum over all ranks. */
bool ranks_sum(int n, double *values);
/* (ranks, the sizes of x) */
hd_tensor *ranks_gather(hd_tensor *x);

/* From now on the ranks train one model, that of rank 0. model NULL: an error is set. shard: each
 * rank has the optimizer of some parameters. */
bool ranks_join(hd_module *model, bool shard);
void ranks_leave(void); /* call it before the model is freed, after an error, too */

/* Makes the next backwards average the gradients of all ranks, or not. One rank may call it alone,
 * but all must give the same value. */
void ranks_average(bool on);

/* The parameters of this rank's optimizer, out of all parameters. */
hd_list *ranks_parameters(hd_list *all);
bool ranks_step(hd_optim *o);
bool ranks_save_optim(const hd_optim *o, hd_dict *d, const char *prefix);
bool ranks_load_optim(hd_optim *o, const hd_dict *d, const char *prefix);

#endif
