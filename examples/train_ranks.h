/* train_ranks.h - the ranks of a training run: the processes that mpirun starts, of which each
 * computes the gradients of its part of every batch.
 *
 * With one rank, and if libheed-mpi is not there (HEED_HAVE_MPI is not defined), these functions do
 * what the plain functions do, or nothing. Unless it says otherwise, each must be called by all
 * ranks in the same order. It fails on all of them if an error stands on one. */
#ifndef HEED_EXAMPLES_TRAIN_RANKS_H
#define HEED_EXAMPLES_TRAIN_RANKS_H

#include "heed/heed.h"

/* To be called before the program prints anything. Only rank 0 prints: the standard output of the
 * other ranks becomes /dev/null. */
bool ranks_start(int *argc, char ***argv);
void ranks_end(void); /* after an error, too */

/* These may be called by one rank alone. */
int ranks_count(void);
int ranks_this(void);   /* 0 to ranks_count() - 1 */
bool ranks_first(void); /* is it rank 0, which writes all files? */

/* Prints a line about each rank, if there are several. */
bool ranks_print(void);

/* Is ok true on all ranks? If not, an error stands on each of them. */
bool ranks_all_ok(const char *what, bool ok);
/* Have all ranks the same text? text NULL: an error stands. */
bool ranks_same(const char *what, const char *text);
/* Each value becomes its sum over all ranks. */
bool ranks_sum(int n, double *values);
/* (ranks, the sizes of x) */
hd_tensor *ranks_gather(hd_tensor *x);

/* From now on the ranks train one model, which becomes that of rank 0. model NULL: an error stands.
 * shard: each rank has the optimizer of some parameters. */
bool ranks_join(hd_module *model, bool shard);
void ranks_leave(void); /* before the model is freed, after an error, too */

/* Shall the next backwards average the gradients of all ranks? One rank may call it alone, but all
 * must have the same answer. */
void ranks_average(bool on);

/* The parameters that this rank's optimizer is made of, out of all of them. */
hd_list *ranks_parameters(hd_list *all);
bool ranks_step(hd_optim *o);
bool ranks_save_optim(const hd_optim *o, hd_dict *d, const char *prefix);
bool ranks_load_optim(hd_optim *o, const hd_dict *d, const char *prefix);

#endif
