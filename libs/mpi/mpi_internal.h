/* mpi_internal.h - the types and functions that the files of libheed-mpi share.
 *
 * libheed-mpi trains a model in several processes, the ranks, each with a part of every batch. It
 * includes the public headers of nn and optim, base's headers for siblings (base/sibling.h), and
 * MPI.
 *
 * Every collective function begins with a meeting: each rank sends the others the name of its
 * function, and its error if it failed. The ranks send more only if all of them are in the same
 * function and none has failed. So a failed rank never leaves the others waiting. If ranks meet in
 * different functions, all of them are `apart` from then on: collective functions fail at once, and
 * those that free something do so without a meeting. */
#ifndef HEED_MPI_INTERNAL_H
#define HEED_MPI_INTERNAL_H

#include <mpi.h>
#include <pthread.h>

#include "base/error/args.h"
#include "base/error/speak.h"
#include "base/system/shared.h"
#include "base/text/text.h"
#include "heed/mpi.h"

/* ---------------------------------------------------------------- this rank (init.c) */

typedef struct hd__mpi_world {
    bool begun, ended; /* hd_mpi_init and hd_mpi_finish were called */
    bool ours;         /* hd_mpi_init has started MPI */
    bool apart;        /* ranks have met in different functions, or MPI has failed */
    int rank, size, host_rank, host_size;
    MPI_Comm control;  /* carries meetings, texts and single tensors */
    MPI_Comm parts;    /* carries slices of gradients, in the order of the pieces */
    MPI_Comm averages; /* carries averages of slices, in the order of the pieces */
    hd_ddp *ddp;       /* the only hd_ddp, or NULL */
} hd__mpi_world;

extern hd__mpi_world hd__mpi;

static inline bool hd__mpi_others(void)
{
    return hd__mpi.size > 1;
}

/* The number of processes that the launcher (such as mpirun) started, as the environment gives it.
 * 1 if there was a launcher but it gives no number; 0 if there was no launcher. */
int hd__mpi_launched(void);

/* True if a function of MPI returned success. Otherwise sets HD_IO with MPI's message, and marks
 * the ranks as `apart`. */
bool hd__mpi_ok(int result);

/* ---------------------------------------------------------------- meetings (agree.c) */

/* Waits for all ranks. True if all ranks are in the same call, with ok true and equal arguments.
 * `argument` describes a rank's arguments in words ("3 values"; NULL: none). Otherwise returns
 * false with an error on every rank. With one rank, returns ok. During a backward that averages,
 * fails with HD_STATE. */
bool hd__mpi_meet(const char *argument, bool ok);
/* As hd__mpi_meet, for hd_backward itself during a backward that averages. */
bool hd__mpi_meet_in_backward(const char *argument, bool ok);

/* Waits for all ranks at the end of something. Reports no error of another rank. */
void hd__mpi_meet_to_end(void);

/* Allocates the memory of meetings. Fails on all ranks if it fails on one. */
bool hd__mpi_meetings_begin(void);
void hd__mpi_meetings_end(void);

/* A copy of root's text; hd_free. NULL on all ranks if one has text NULL or ok false, or fails. */
char *hd__mpi_broadcast_text(const char *text, int root, bool ok);

/* True if ok is true and text is equal on all ranks. Otherwise every rank gets an error; if the
 * texts differ, it names `what` and the first line that differs. */
bool hd__mpi_same_text(const char *what, const char *text, bool ok);

/* ---------------------------------------------------------------- moving (move.c) */

/* Copies root's n bytes to all ranks. */
bool hd__mpi_broadcast_bytes(void *bytes, int64_t n, int root);
/* Copies the elements of root's x to all ranks. x need not be contiguous. NULL on a rank that has
 * failed: then the call fails on all ranks. */
bool hd__mpi_broadcast_tensor(hd_tensor *x, int root);
int64_t hd__mpi_bytes_of(const hd_tensor *x);
/* Writes x's sizes and dtype, "(2, 3) float32", and returns text. */
const char *hd__mpi_kind_of(const hd_tensor *x, char text[HD__SHAPE_TEXT]);

/* ---------------------------------------------------------------- exchanges (traffic.c) */

enum { HD__RING = 4 }; /* the most pieces whose slices are on their way at a time */

/* A part of a bucket that is sent as a whole. Each rank averages one slice of the piece, and sends
 * the averages to the others. */
typedef struct hd__mpi_piece {
    int64_t at;     /* its first element in the bucket */
    int64_t n;      /* elements, a multiple of the number of ranks */
    hd_dtype dtype; /* float32 or float64 */
    char *data;     /* during a round: its elements in the bucket's memory */
    MPI_Request request;
} hd__mpi_piece;

/* The pieces of a round, which all ranks send in the same order. */
typedef struct hd__mpi_traffic {
    bool fast;
    int64_t n, room; /* pieces, and those that have memory */
    hd__mpi_piece *pieces;
    int64_t slice_bytes;             /* the size of the largest slice */
    char *ring;                      /* during a round: HD__RING times room for a slice per rank */
    int64_t posted, added, finished; /* numbers of pieces; posted >= added >= finished */
    int64_t moved;                   /* bytes that this rank has sent in this round */
} hd__mpi_traffic;

/* Allocates the memory of a round. */
bool hd__mpi_traffic_begin(hd__mpi_traffic *e);
/* Starts to send the next piece, whose elements in `bucket` are ready. */
bool hd__mpi_traffic_post(hd__mpi_traffic *e, char *bucket);
/* Goes on with the posted pieces: without waiting, or, if `wait`, until all are finished. False if
 * MPI has failed. */
bool hd__mpi_traffic_go_on(hd__mpi_traffic *e, bool wait);
void hd__mpi_traffic_end(hd__mpi_traffic *e);

/* ---------------------------------------------------------------- buckets (bucket.c) */

/* A parameter that requires grad, and the place of its gradient. */
typedef struct hd__mpi_slot {
    hd_ddp *d;
    hd_tensor *p; /* the parameter, retained */
    int64_t hook;
    int64_t bucket; /* the bucket's number */
    int64_t at;     /* the gradient's first element in the bucket */
    bool ready;     /* in this round: the gradient is in the bucket */
    bool used;      /* in this round: this rank has a gradient for it */
    bool touched;   /* the running backward, under hd_ddp_no_sync, has reached it */
    bool alone;     /* backwards under hd_ddp_no_sync have reached it since the last round */
} hd__mpi_slot;

/* Gradients that are sent together. */
typedef struct hd__mpi_bucket {
    hd_dtype dtype;
    int64_t n;       /* elements */
    int64_t room;    /* n, filled up with zeros to a multiple of the number of ranks */
    int64_t slots;   /* the number of its slots */
    int64_t missing; /* in this round: the number of its slots that are not ready */
    int64_t pieces;
    hd_tensor *data; /* in this round: (room,), retained */
} hd__mpi_bucket;

struct hd_ddp {
    hd_module *model;
    hd_ddp_options o;
    int64_t n, n_buckets; /* slots and buckets */
    /* The last parameter is the first slot, because backward completes gradients in this order. */
    hd__mpi_slot *slots;
    hd__mpi_bucket *buckets;
    hd__mpi_traffic e;
    int *owners;         /* by slot: the rank whose optimizer has the parameter */
    unsigned char *used; /* by slot, at the end of a round: 1 if any rank has used it */
    bool listens;        /* hd_on_backward_end was called */
    int64_t n_ready;     /* the number of slots that are ready */
    int64_t next;        /* the bucket that is sent next */
    bool no_sync;
    int64_t backwards; /* the number of this thread's backwards that have ended */
    pthread_t thread;  /* the thread that made this hd_ddp */
    bool met;          /* the running backward has met the other ranks */
    bool going;        /* at that meeting no rank had failed */
    hd_ddp_figures figures;
};

/* Assigns each slot its place in a bucket, and cuts the buckets into pieces. */
bool hd__mpi_buckets_plan(hd_ddp *d);
/* Allocates the memory of a round. */
bool hd__mpi_buckets_begin(hd_ddp *d);
void hd__mpi_buckets_end(hd_ddp *d);
/* A view of s's place in its bucket, of p's shape; NULL on failure. */
hd_tensor *hd__mpi_slot_part(const hd__mpi_slot *s);
/* Writes g plus p's .grad into s's place. Either may be HD_NONE, which counts as 0. */
bool hd__mpi_slot_fill(const hd__mpi_slot *s, hd_tensor *g);
/* Marks s as ready, whether its place was filled or this failed. Sends the buckets whose slots are
 * all ready, in their order, and goes on with pieces on their way. */
bool hd__mpi_slot_ready(hd__mpi_slot *s);

/* Assigns each parameter to a rank (shard.c). */
bool hd__mpi_owners_plan(hd_ddp *d);

/* True, with HD_STATE, if this rank is in a backward that averages. */
bool hd__mpi_in_round(void);

/* True if d is the current hd_ddp and this is the thread that made it; otherwise sets an error
 * about the argument `arg`. */
bool hd__mpi_ddp_given(const char *arg, const hd_ddp *d);

#endif
