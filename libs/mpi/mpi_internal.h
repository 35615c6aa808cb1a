/* mpi_internal.h - the types and functions that the files of libheed-mpi share.
 *
 * libheed-mpi trains a model in several processes, the ranks, each with a part of every batch. It
 * includes the public headers of nn and optim, the headers of base that base/sibling.h lists, and
 * MPI's header.
 *
 * Every collective function begins with a meeting: each rank sends the others the name of its
 * function, and its error if it failed. They send more only if all are in the same function and
 * none has failed. So a failed rank never leaves the others waiting. If ranks meet in different
 * functions, all are `apart` from then on: collective functions fail, or free without a meeting. */
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
    bool begun, ended; /* begun: hd_mpi_init was called; ended: hd_mpi_finish was */
    bool ours;         /* hd_mpi_init has started MPI */
    bool apart;        /* ranks have met in different functions, or MPI has failed */
    int rank, size, host_rank, host_size;
    MPI_Comm control;  /* for meetings, texts and single tensors */
    MPI_Comm parts;    /* for slices of gradients; all ranks use it in the order of the pieces */
    MPI_Comm averages; /* for the slices' averages; all ranks use it in the order of the pieces */
    hd_ddp *ddp;       /* the process's only hd_ddp; NULL: there is none */
} hd__mpi_world;

extern hd__mpi_world hd__mpi;

static inline bool hd__mpi_others(void)
{
    return hd__mpi.size > 1;
}

/* Returns the number of processes that a launcher started, as the environment says. Returns 1 if
 * the environment has no number, and 0 if there was no launcher. */
int hd__mpi_launched(void);

/* Returns true if a function of MPI, which returned `result`, succeeded. Otherwise sets `apart` and
 * fails with HD_IO and MPI's message. */
bool hd__mpi_ok(int result);

/* ---------------------------------------------------------------- meetings (agree.c) */

/* Waits for all ranks. Returns true if all are in the same public function, have passed ok true,
 * and have passed equal texts `argument`, such as "3 values" (NULL: none). Otherwise returns false
 * with an error on every rank. With one rank, returns ok. Inside a backward that averages, returns
 * false with HD_STATE. */
bool hd__mpi_meet(const char *argument, bool ok);
/* Does and returns what hd__mpi_meet does, but also works inside a backward that averages. */
bool hd__mpi_meet_in_backward(const char *argument, bool ok);

/* Waits for all ranks, as a meeting does, but ignores the errors of other ranks. */
void hd__mpi_meet_to_end(void);

/* Allocates the memory of meetings. Returns false with an error on all ranks if it fails on one. */
bool hd__mpi_meetings_begin(void);
void hd__mpi_meetings_end(void);

/* Returns a copy of root's text, which the caller frees with hd_free. Returns NULL with an error on
 * all ranks if any rank passes text NULL or ok false, or fails. */
char *hd__mpi_broadcast_text(const char *text, int root, bool ok);

/* Returns true if ok is true and text is equal on all ranks. Otherwise returns false with an error
 * on every rank. If the texts differ, the message names `what`. */
bool hd__mpi_same_text(const char *what, const char *text, bool ok);

/* ---------------------------------------------------------------- moving (move.c) */

/* Copies root's n bytes to all ranks. Returns false with an error if MPI fails. */
bool hd__mpi_broadcast_bytes(void *bytes, int64_t n, int root);
/* Copies root's x, which need not be contiguous, to all ranks. Returns false with an error on all
 * ranks if any rank fails, or has failed and passes x NULL. */
bool hd__mpi_broadcast_tensor(hd_tensor *x, int root);
int64_t hd__mpi_bytes_of(const hd_tensor *x);
/* Writes x's sizes and dtype to text, such as "(2, 3) float32". Returns text. */
const char *hd__mpi_kind_of(const hd_tensor *x, char text[HD__SHAPE_TEXT]);

/* ---------------------------------------------------------------- exchanges (traffic.c) */

enum { HD__RING = 4 }; /* the largest number of pieces that are posted, but not yet averaged */

/* A part of a bucket that is sent at once. Each rank averages one slice of it for all ranks. */
typedef struct hd__mpi_piece {
    int64_t at;     /* the index of its first element in the bucket */
    int64_t n;      /* the number of its elements, a multiple of the number of ranks */
    hd_dtype dtype; /* float32 or float64 */
    char *data;     /* once the piece is posted: the address of its first element */
    MPI_Request request;
} hd__mpi_piece;

/* The pieces of a round, which is a backward that averages (ddp.c). All ranks send them in the same
 * order. */
typedef struct hd__mpi_traffic {
    bool fast;
    int64_t n, room;
    hd__mpi_piece *pieces;
    int64_t slice_bytes; /* the size of the largest slice */
    char *ring;          /* in a round: memory for HD__RING slices from each rank */
    int64_t posted;      /* the number of pieces that are being sent or were sent */
    int64_t added;       /* the number of pieces whose slice this rank has averaged */
    int64_t finished;    /* the number of pieces whose averages have arrived */
    int64_t moved;       /* the bytes that this rank has sent in the round */
} hd__mpi_traffic;

/* Allocates the memory of a round. Returns false with an error if memory runs out. */
bool hd__mpi_traffic_begin(hd__mpi_traffic *e);
/* Starts to send the next piece, whose elements in `bucket` are ready. Returns false with an error
 * if MPI fails. */
bool hd__mpi_traffic_post(hd__mpi_traffic *e, char *bucket);
/* Continues the exchange of the posted pieces as far as possible without waiting. If wait is true,
 * waits until all are finished. Returns false with an error if MPI has failed. */
bool hd__mpi_traffic_go_on(hd__mpi_traffic *e, bool wait);
void hd__mpi_traffic_end(hd__mpi_traffic *e);

/* ---------------------------------------------------------------- buckets (bucket.c) */

/* A parameter that requires grad, and the place of its gradient. */
typedef struct hd__mpi_slot {
    hd_ddp *d;
    hd_tensor *p;       /* the parameter, which the slot retains */
    int64_t hook;       /* the id of p's hook; -1: none */
    int64_t bucket, at; /* its gradient's bucket, and the gradient's first element in it */
    bool ready;         /* in this round: the gradient is in the bucket */
    bool used;          /* in this round: this rank has a gradient for p */
    bool touched;       /* the backward that runs now, under hd_ddp_no_sync, has reached p */
    bool alone;         /* a backward under hd_ddp_no_sync has reached p since the last round */
} hd__mpi_slot;

typedef struct hd__mpi_bucket {
    hd_dtype dtype;
    int64_t n, room; /* n: its elements; room: n rounded up to a multiple of the number of ranks */
    int64_t slots;   /* the number of its slots */
    int64_t missing; /* in this round: the number of its slots that are not ready */
    int64_t pieces;
    hd_tensor *data; /* in a round: its elements (room,), retained; NULL between rounds */
} hd__mpi_bucket;

struct hd_ddp {
    hd_module *model;
    hd_ddp_options o;
    int64_t n, n_buckets;
    hd__mpi_slot *slots; /* in the order of backward: the last parameter first */
    hd__mpi_bucket *buckets;
    hd__mpi_traffic e;
    int *owners;         /* for each slot, the rank whose optimizer has the parameter */
    unsigned char *used; /* per slot, at the end of a round: 1 if any rank has a gradient, else 0 */
    bool listens;        /* hd_on_backward_end has registered backward_ends */
    int64_t n_ready;     /* the number of slots that are ready */
    int64_t next;        /* the number of the bucket that is sent next */
    bool no_sync;
    int64_t backwards; /* the number of backwards of this thread that have ended */
    pthread_t thread;  /* the thread that made this hd_ddp */
    bool met;          /* the running backward has met the other ranks */
    bool going;        /* the running backward has met the other ranks, and none had failed */
    hd_ddp_figures figures;
};

/* Assigns each slot its place in a bucket, and cuts the buckets into pieces. Returns false with an
 * error if memory runs out. */
bool hd__mpi_buckets_plan(hd_ddp *d);
/* Allocates the memory of a round. Returns false with an error if memory runs out. */
bool hd__mpi_buckets_begin(hd_ddp *d);
void hd__mpi_buckets_end(hd_ddp *d);
/* Returns a view of s's place in its bucket, with p's shape; NULL with an error on failure. */
hd_tensor *hd__mpi_slot_part(const hd__mpi_slot *s);
/* Writes g plus the .grad of s->p into s's place. Either may be HD_NONE, which counts as 0. Returns
 * false with an error on failure. */
bool hd__mpi_slot_fill(const hd__mpi_slot *s, hd_tensor *g);
/* Marks s as ready, even if filling it failed. Then sends, in order, the buckets whose slots are
 * all ready. Returns false with an error if MPI fails. */
bool hd__mpi_slot_ready(hd__mpi_slot *s);

/* Assigns each parameter to a rank (shard.c). Returns false with an error if memory runs out. */
bool hd__mpi_owners_plan(hd_ddp *d);

/* If this rank is in a backward that averages, returns true and sets the error HD_STATE. Otherwise
 * returns false, without an error. */
bool hd__mpi_in_round(void);

/* Returns false with an error about `arg` unless d is the current hd_ddp and this thread made
 * it. */
bool hd__mpi_ddp_given(const char *arg, const hd_ddp *d);

#endif
