/* mpi.h - libheed-mpi: data-parallel training with MPI, on several machines or on one.
 *
 *   hd_mpi_init(&argc, &argv);
 *   hd_ddp *ddp = hd_ddp_new(model, NULL); // the weights of rank 0, on every rank
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
 * MPI starts a process for each rank (`mpirun -n 4 ./train`), and every process runs the program.
 * Each rank computes the gradients of its own batch; hd_backward leaves in .grad the average over
 * all ranks, so every rank makes the same step. A program that was started without mpirun is the
 * only rank, and it runs as if these calls were not there.
 *
 * A function that is called collective here must be called by all ranks, in the same order. Before
 * it does its work, it asks whether all ranks are there and well. If a rank has failed, or is in
 * another collective function, the call fails on every rank, and the message names that rank and
 * its error. No rank waits for a rank that has gone on to something else. The library ends no
 * process; mpirun notices a process that dies, and ends the others.
 *
 * All calls must come from the thread that called hd_mpi_init, and so must hd_backward while there
 * is an hd_ddp. The options of all ranks must be equal. */
#ifndef HEED_MPI_H
#define HEED_MPI_H

#include "heed/nn.h"
#include "heed/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- ranks */

/* Starts MPI, unless the program has done so itself. argc and argv are those of main, or both are
 * NULL. If the environment has no variable of a launcher (PMI..., PMIX..., OMPI_COMM_WORLD_SIZE,
 * MPI_LOCALNRANKS, SLURM_PROCID, PALS_RANKID), this process is the only rank, and MPI is not
 * started. Unless HEED_THREADS is set, a rank gets its share of the machine's CPUs as its threads,
 * at least 1. HD_STATE: a second call, or one after hd_mpi_finish. Collective. */
HD_API bool hd_mpi_init(int *argc, char ***argv);

/* Ends MPI, if hd_mpi_init started it. An hd_ddp that was not freed no longer takes part in
 * backwards. Without hd_mpi_init it does nothing and returns true. Collective. */
HD_API bool hd_mpi_finish(void);

/* Ends all ranks at once, with this exit status (MPI_Abort). It does not return. Without MPI it
 * calls _Exit. Only a program may decide this; heed never calls it. */
HD_API void hd_mpi_abort(int status);

HD_API int hd_mpi_rank(void);      /* 0 to hd_mpi_size() - 1; 0 without hd_mpi_init */
HD_API int hd_mpi_size(void);      /* the number of ranks; 1 without hd_mpi_init */
HD_API int hd_mpi_host_rank(void); /* the rank among those on this machine, from 0 */
HD_API int hd_mpi_host_size(void); /* the number of ranks on this machine */

/* Describes this rank in one line, without a newline: "rank 1 of 4: host node7, 2 threads, avx512".
 * Free it with hd_free. */
HD_API char *hd_mpi_describe(void);

/* ---------------------------------------------------------------- agreement */

/* With one rank, each of these returns at once. */

/* Succeeds if ok is true on every rank. Otherwise the call fails on every rank (HD_USER, or the
 * code of the error that is set on the first rank that failed): "hd_mpi_all_ok: rank 2: its error".
 * A rank on which an error is set keeps that error. `what` names the work for the message.
 * Collective. */
HD_API bool hd_mpi_all_ok(const char *what, bool ok);

/* Succeeds if text is the same on every rank. Otherwise HD_VALUE names the first rank that differs,
 * and the first line that differs, on rank 0 and there. `what` is the name of the text for the
 * message. Collective. */
HD_API bool hd_mpi_all_same(const char *what, const char *text);

/* Sets each of the n values to the sum of the values of all ranks, taken in the order of the ranks
 * (hd_mpi_sum), or to the largest of them (hd_mpi_max). Collective. */
HD_API bool hd_mpi_sum(int n, double *values);
HD_API bool hd_mpi_max(int n, double *values);

/* Returns the texts of all ranks, in the order of the ranks, each followed by a newline. Free the
 * result with hd_free. Collective. */
HD_API char *hd_mpi_gather_text(const char *text);

/* Returns the tensors x of all ranks: (ranks, x's sizes). They must have one shape and one dtype.
 * Collective. */
HD_API hd_tensor *hd_mpi_gather(hd_tensor *x);

/* Sets x to the values that x has on rank 0, and returns x. It must have one shape and one dtype on
 * all ranks. Collective. */
HD_API hd_tensor *hd_mpi_broadcast_(hd_tensor *x);

/* ---------------------------------------------------------------- data-parallel training */

/* The averaging of a model's gradients over all ranks, in each hd_backward. */
typedef struct hd_ddp hd_ddp;

typedef struct hd_ddp_options {
    size_t size;
    int64_t bucket_bytes; /* 26214400: the bytes of gradients that are sent at a time */
    int64_t
        first_bucket_bytes; /* 1048576: that of the first bucket; small, to begin sending early */
    bool fast;              /* false; if true, MPI adds the gradients, in an order of its own */
    bool shard_optimizer;   /* false; if true, each rank has the optimizer of some parameters */
} hd_ddp_options;

HD_API hd_ddp_options hd_ddp_defaults(void);

/* Gives every rank the parameters and buffers of rank 0, and registers a hook with each parameter
 * that requires grad. Parameters that are registered or replaced later, or that begin to require
 * grad later, are not averaged. The models of all ranks must have the same names, shapes and dtypes
 * (HD_VALUE names the first difference). There is at most one hd_ddp at a time: train several
 * models as children of one module. model must outlive it. o NULL: defaults. Collective.
 *
 * While an hd_ddp lives, every hd_backward of the thread is collective: also a backward of another
 * loss, and also one that is given NULL because the forward failed.
 *
 * A backward adds, on each rank, its gradient to the .grad of this rank, and .grad becomes the
 * average of these sums over all ranks. A parameter that no rank has used keeps its .grad; for a
 * rank that did not use it, its gradient is 0. Hooks of the program get this rank's gradient. They
 * must make no collective call, and a backward that they call must not reach these parameters
 * (HD_STATE).
 *
 * The sum of the ranks is taken in the order of the ranks, so the same number of ranks gives the
 * same bits on every run. With `fast` the sum is MPI's (MPI_Iallreduce).
 *
 * If one rank fails in a backward (memory, a hook, an error in the forward before it), hd_backward
 * fails on all ranks, no .grad changes anywhere, and the message names the rank and its error.
 * After hd_error_clear the training may continue.
 *
 * HD_STATE: mpirun started this process as one of several, and hd_mpi_init was not called.
 *
 * Li et al. 2020, "PyTorch Distributed: Experiences on Accelerating Data Parallel Training" */
HD_API hd_ddp *hd_ddp_new(hd_module *model, const hd_ddp_options *o);

/* Ends the averaging. It takes NULL. A rank that leaves its loop because of an error calls it, too:
 * then the others, which are in a backward, fail with that error. Collective. */
HD_API void hd_ddp_free(hd_ddp *d);

/* Turns averaging off (on true) or on again (on false). While it is off, backwards add to the .grad
 * of this rank alone and are not collective. The next backward with averaging averages everything
 * that has accumulated. Returns the value of `on` before the call; false on error. All ranks must
 * set it in the same way. */
HD_API bool hd_ddp_no_sync(hd_ddp *d, bool on);

/* The counts since hd_ddp_new, or since the last hd_ddp_get_figures with reset. */
typedef struct hd_ddp_figures {
    int64_t backwards;      /* backwards that averaged */
    int64_t bytes;          /* bytes of gradients that were averaged */
    int64_t bytes_early;    /* those that were posted before backward ended */
    int64_t bytes_hidden;   /* those posted before this rank's last gradient was complete */
    int64_t bytes_moved;    /* bytes that this rank has sent */
    double seconds_exposed; /* time for which hd_backward waited at its end */
    double seconds_hooks;   /* time of packing, adding and sending while backward ran */
    int64_t buckets;        /* the buckets of one backward */
} hd_ddp_figures;

/* Sets *f to the figures; with reset, counting begins at zero again. */
HD_API bool hd_ddp_get_figures(hd_ddp *d, hd_ddp_figures *f, bool reset);

/* ---------------------------------------------------------------- an optimizer on all ranks */

/* ZeRO, stage 1 (Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion
 * Parameter Models"): with shard_optimizer each parameter belongs to one rank, and only that rank
 * has its averages. The results are the same, to the bit:
 *
 *   hd_optim *o = hd_adamw_new(hd_ddp_parameters(ddp), NULL);
 *   hd_ddp_step(ddp, o); // in each step, in place of hd_optim_step
 *
 * A program may call these functions in either case: without shard_optimizer hd_ddp_parameters
 * gives all parameters, and hd_ddp_step is hd_optim_step. */

/* The parameters for the optimizer of this rank, in the order of the model. HD_VALUE: no parameter
 * is left for this rank. */
HD_API hd_list *hd_ddp_parameters(hd_ddp *d);

/* Makes one step of o, after which every rank has all parameters. If the step fails on one rank,
 * the call fails on all of them, and the parameters then differ between the ranks. Collective. */
HD_API bool hd_ddp_step(hd_ddp *d, hd_optim *o);

/* Save and load the optimizer's state of the whole model, as hd_optim_save and hd_optim_load do.
 * Saving gathers the states of all ranks in the d of rank 0, under the numbers that the parameters
 * have without shard_optimizer, and changes no other d. Loading takes this rank's states from such
 * a d, which every rank must have. So a state may be loaded with another number of ranks, and with
 * or without shard_optimizer. All parameters must be in one group. Collective. */
HD_API bool hd_ddp_optim_save(hd_ddp *ddp, const hd_optim *o, hd_dict *d, const char *prefix);
HD_API bool hd_ddp_optim_load(hd_ddp *ddp, hd_optim *o, const hd_dict *d, const char *prefix);

#ifdef __cplusplus
}
#endif
#endif
