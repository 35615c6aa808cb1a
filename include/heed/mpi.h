/* mpi.h - data-parallel training with MPI, on several machines or on one (libheed-mpi).
 *
 *   hd_mpi_init(&argc, &argv);
 *   hd_ddp *ddp = hd_ddp_new(model, NULL); // gives every rank the weights of rank 0
 *   for (step = 1; step <= steps; step++) { // as before, on each rank's part of the data
 *       HD_SCOPE;
 *       loss = hd_cross_entropy(hd_forward(model, x), y);
 *       hd_optim_zero_grad(opt);
 *       hd_backward(loss);
 *       hd_optim_step(opt);
 *   }
 *   hd_ddp_free(ddp);
 *   hd_mpi_finish();
 *
 * MPI starts several processes, the ranks (`mpirun -n 4 ./train`), and each of them runs the
 * program. Each rank computes the gradients of its own batch. hd_backward then leaves in .grad the
 * average over all ranks, so every rank makes the same step. A program that was started without
 * mpirun is the only rank; for it, these calls change nothing.
 *
 * If the comment of a function says "Collective", all ranks must call it, and in the same order.
 * Before such a function does its work, all ranks tell each other which function they call, and
 * whether they have failed. If a rank has failed, or has called another collective function, the
 * call fails on every rank, and the message names that rank and its error. So no rank waits for one
 * that does something else. The library ends no process; mpirun notices a process that dies, and
 * ends the others.
 *
 * Only the thread that called hd_mpi_init may call these functions, and while an hd_ddp exists,
 * only it may call hd_backward. The options of all ranks must be equal. */
#ifndef HEED_MPI_H
#define HEED_MPI_H

#include "heed/nn.h"
#include "heed/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- ranks */

/* Starts MPI, unless the program has started it itself. argc and argv are those of main, or both
 * are NULL. If the environment has no variable of a launcher (PMI..., PMIX...,
 * OMPI_COMM_WORLD_SIZE, MPI_LOCALNRANKS, SLURM_PROCID, PALS_RANKID), this process is the only rank,
 * and MPI is not started. Unless HEED_THREADS is set, the ranks of a machine divide its CPUs: each
 * rank gets its share as the number of its threads, at least 1. HD_STATE: hd_mpi_init was called
 * before, even if hd_mpi_finish was called since. Collective. */
HD_API bool hd_mpi_init(int *argc, char ***argv);

/* Ends MPI if hd_mpi_init started it. If there is an hd_ddp, frees it first, as hd_ddp_free does.
 * Without hd_mpi_init, the call does nothing and returns true. HD_STATE: a hook calls it while the
 * ranks average gradients. Collective. */
HD_API bool hd_mpi_finish(void);

/* Ends all ranks at once, with this exit status (MPI_Abort). It does not return. Without MPI it
 * calls _Exit. heed never calls this function itself. */
HD_API void hd_mpi_abort(int status);

HD_API int hd_mpi_rank(void);      /* this rank's number, from 0 on; 0 without hd_mpi_init */
HD_API int hd_mpi_size(void);      /* the number of ranks; 1 without hd_mpi_init */
HD_API int hd_mpi_host_rank(void); /* this rank's number on its machine, from 0 on */
HD_API int hd_mpi_host_size(void); /* the number of ranks on this machine */

/* Describes this rank in one line, without a newline: "rank 1 of 4: host node7, 2 threads, avx512".
 * Free it with hd_free. */
HD_API char *hd_mpi_describe(void);

/* ---------------------------------------------------------------- agreement */

/* With only one rank, these functions return at once. */

/* Returns true if ok is true on every rank. Otherwise the call fails on every rank with the error
 * of the first rank whose ok is false: "hd_mpi_all_ok: rank 2: its error". If that rank has set no
 * error, the code is HD_USER, and the message says that `what` has failed, as in "the work has
 * failed". A rank that has already set an error keeps it. HD_VALUE: the ranks pass different
 * `what`. Collective. */
HD_API bool hd_mpi_all_ok(const char *what, bool ok);

/* Returns true if text is the same on every rank. Otherwise the call fails with HD_VALUE. The
 * message names the first rank whose text differs from that of rank 0, and shows the first
 * different line of both. `what` is the name of the text in the message. Collective. */
HD_API bool hd_mpi_all_same(const char *what, const char *text);

/* Sets each values[i], for i from 0 to n - 1, to the sum (hd_mpi_sum) or to the largest
 * (hd_mpi_max) of the values[i] of all ranks. The sum is taken in the order of the ranks. If a rank
 * has a NaN, the result is NaN. HD_VALUE: the ranks pass different n. Collective. */
HD_API bool hd_mpi_sum(int n, double *values);
HD_API bool hd_mpi_max(int n, double *values);

/* Returns the texts of all ranks, in the order of the ranks, each followed by a newline. Free the
 * result with hd_free. Collective. */
HD_API char *hd_mpi_gather_text(const char *text);

/* Returns the tensors x of all ranks, stacked in a new first dim. The result does not require grad.
 * HD_VALUE: the tensors have different shapes or dtypes. Collective. */
HD_API hd_tensor *hd_mpi_gather(hd_tensor *x);

/* Sets x to the values that x has on rank 0, and returns x. HD_VALUE: the shapes or dtypes of x
 * differ between the ranks. Collective. */
HD_API hd_tensor *hd_mpi_broadcast_(hd_tensor *x);

/* ---------------------------------------------------------------- data-parallel training */

/* Averages a model's gradients over all ranks, in each hd_backward. */
typedef struct hd_ddp hd_ddp;

typedef struct hd_ddp_options {
    size_t size;
    int64_t bucket_bytes; /* default 26214400; gradients are sent in buckets of this many bytes */
    /* default 1048576; the bytes of the first bucket, which is small so that sending begins
     * early */
    int64_t first_bucket_bytes;
    /* default false; if true, MPI adds up the gradients, in an order that it chooses */
    bool fast;
    /* default false; if true, each rank optimizes only some of the parameters */
    bool shard_optimizer;
} hd_ddp_options;

HD_API hd_ddp_options hd_ddp_defaults(void);

/* Gives every rank the parameters and buffers of rank 0, and registers a hook with each parameter
 * that requires grad. Parameters that are registered or replaced later, or that begin to require
 * grad later, are not averaged. The models of all ranks must have the same names, shapes and dtypes
 * (HD_VALUE names the first difference). There is at most one hd_ddp at a time, so train several
 * models as children of one module. model must outlive the hd_ddp. o NULL: the defaults.
 * Collective.
 *
 * While an hd_ddp exists, every hd_backward of the thread is collective, even for a loss that does
 * not use model, and even for a loss that is NULL because the forward failed.
 *
 * A backward first adds, on each rank, the new gradient to the .grad of this rank. Then .grad
 * becomes the average of these sums over all ranks. If only some ranks used a parameter, its
 * gradient counts as 0 on the others. If no rank used it, its .grad does not change. Hooks of the
 * program get the gradient of their own rank. A hook must make no collective call: while the ranks
 * average gradients, such a call fails with HD_STATE. A backward that a hook calls fails with
 * HD_STATE if it reaches a parameter that the hd_ddp averages.
 *
 * The sum is taken in the order of the ranks, so every run with the same number of ranks gives the
 * same bits. With `fast`, MPI_Iallreduce takes the sum.
 *
 * If the backward of one rank fails, for lack of memory, in a hook, or because its forward failed,
 * hd_backward fails on all ranks. Then no .grad changes on any rank, and the message names the rank
 * that failed and its error. After hd_error_clear the training may continue.
 *
 * HD_STATE: there is an hd_ddp already; or mpirun started this process as one of several, but
 * hd_mpi_init was not called. HD_VALUE: no parameter of model requires grad, or a parameter that
 * requires grad is not contiguous.
 *
 * Li et al. 2020, "PyTorch Distributed: Experiences on Accelerating Data Parallel Training" */
HD_API hd_ddp *hd_ddp_new(hd_module *model, const hd_ddp_options *o);

/* Ends the averaging and frees d. Takes NULL. A rank that leaves its training loop because of an
 * error must call this function, too: the other ranks, which are in a backward, then fail with that
 * error. Collective. */
HD_API void hd_ddp_free(hd_ddp *d);

/* Turns averaging off if on is true, and on again if on is false. While it is off, a backward adds
 * to the .grad of its own rank and is not collective. The next backward with averaging averages all
 * that has been added. Returns true if averaging was off before the call. Returns false if it was
 * on, and on error. All ranks must pass the same value. */
HD_API bool hd_ddp_no_sync(hd_ddp *d, bool on);

/* Statistics since hd_ddp_new, or since the last hd_ddp_get_figures with reset. */
typedef struct hd_ddp_figures {
    int64_t backwards;   /* the number of backwards that averaged */
    int64_t bytes;       /* the bytes of gradients that were averaged */
    int64_t bytes_early; /* the bytes whose sending began before backward ended */
    /* the bytes whose sending began before this rank's last gradient was complete */
    int64_t bytes_hidden;
    int64_t bytes_moved;    /* the bytes that this rank has sent */
    double seconds_exposed; /* the seconds that hd_backward waited at its end */
    double seconds_hooks;   /* the seconds of packing, adding and sending during backward */
    int64_t buckets;        /* the number of buckets of one backward */
} hd_ddp_figures;

/* Sets *f to the statistics. With reset, all of them except `buckets` begin at 0 again. */
HD_API bool hd_ddp_get_figures(hd_ddp *d, hd_ddp_figures *f, bool reset);

/* ---------------------------------------------------------------- an optimizer on all ranks */

/* ZeRO, stage 1 (Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion
 * Parameter Models"): with shard_optimizer each parameter belongs to one rank, and only this rank
 * has the parameter's optimizer state. The results have the same bits as without
 * shard_optimizer. In a program:
 *
 *   hd_optim *o = hd_adamw_new(hd_ddp_parameters(ddp), NULL);
 *   hd_ddp_step(ddp, o); // in each step, in place of hd_optim_step
 *
 * A program may also call these functions without shard_optimizer: then hd_ddp_parameters returns
 * all parameters, and hd_ddp_step calls hd_optim_step. */

/* Returns the parameters for the optimizer of this rank, in the order of the model. HD_VALUE: no
 * parameter is left for this rank. */
HD_API hd_list *hd_ddp_parameters(hd_ddp *d);

/* Makes one step of o. Afterwards every rank has the new values of all parameters. If the step
 * fails on one rank, the call fails on all ranks, and the parameters then differ between the ranks.
 * Collective. */
HD_API bool hd_ddp_step(hd_ddp *d, hd_optim *o);

/* Save or load the optimizer's state of the whole model, as hd_optim_save and hd_optim_load do.
 * hd_ddp_optim_save gathers the states of all ranks in the dictionary d of rank 0, under the names
 * that they have without shard_optimizer; the d of any other rank does not change. Every rank must
 * pass the whole dictionary to hd_ddp_optim_load, which loads the states of that rank's own
 * parameters. So a state may be loaded by another number of ranks, and with or without
 * shard_optimizer. HD_VALUE: o has several groups of parameters. Collective. */
HD_API bool hd_ddp_optim_save(hd_ddp *ddp, const hd_optim *o, hd_dict *d, const char *prefix);
HD_API bool hd_ddp_optim_load(hd_ddp *ddp, hd_optim *o, const hd_dict *d, const char *prefix);

#ifdef __cplusplus
}
#endif
#endif
