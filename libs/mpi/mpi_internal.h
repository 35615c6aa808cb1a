/* mpi_internal.h - libheed-mpi: training on several processes, each with a part of every batch.
 *
 * It may include the public headers of nn and optim, base's headers for siblings (base/sibling.h),
 * and MPI, which it alone needs. Programs use it by heed/mpi.h; of heed's own, train_gpt. This
 * header has what its files share.
 *
 * Every collective function begins with a meeting: each rank tells the others which function it is
 * in, and whether it is well. Only after all ranks have met in the same function, and all are well,
 * does any of them send more. So a rank that failed cannot leave the others waiting, wherever it
 * goes. If ranks meet in different functions, no further meeting is possible: each has learned it,
 * and every collective function fails from then on, or does nothing if it frees. */
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
    bool apart;        /* ranks have met in different functions */
    int rank, size, host_rank, host_size;
    MPI_Comm control;  /* for meetings and small things */
    MPI_Comm parts;    /* for the slices of gradients, and */
    MPI_Comm averages; /* for their averages: each is used in the order of the pieces */
    hd_ddp *ddp;       /* the one that lives; or NULL */
} hd__mpi_world;

extern hd__mpi_world hd__mpi;

/* Are there other ranks? */
static inline bool hd__mpi_others(void)
{
    return hd__mpi.size > 1;
}

/* How many processes a launcher says that it started, of which this is one; 1 if it does not say; 0
 * if there was none */
int hd__mpi_launched(void);

/* Was this call of MPI's well? Otherwise sets HD_IO with MPI's message. */
bool hd__mpi_ok(int result);

/* ---------------------------------------------------------------- meetings (agree.c) */

/* All ranks meet in the same call. Are all of them there and well? `ok` is this rank's own state.
 * The ranks' arguments, in words, must be equal; NULL: there are none. Otherwise an error stands.
 * One rank: returns ok. */
bool hd__mpi_meet(const char *argument, bool ok);
/* The same for what hd_backward calls, in the midst of a backward that averages. */
bool hd__mpi_meet_in_backward(const char *argument, bool ok);

/* The same for a function that ends something: no error is set, whatever the others do. */
void hd__mpi_meet_to_end(void);

/* Asks for the memory of meetings. All ranks have it, or none of them will meet. */
bool hd__mpi_meetings_begin(void);
void hd__mpi_meetings_end(void);

/* A copy of the text of `root`; NULL on all ranks if one of them fails, or is not ok. Free it with
 * hd_free. */
char *hd__mpi_broadcast_text(const char *text, int root, bool ok);

/* Is text the same on all ranks, and ok true on all of them? Otherwise the error names `what`. */
bool hd__mpi_same_text(const char *what, const char *text, bool ok);

/* ---------------------------------------------------------------- moving (move.c) */

/* n bytes of `root` to all ranks, in parts that MPI can count. */
bool hd__mpi_broadcast_bytes(void *bytes, int64_t n, int root);
/* x of `root` to all ranks; x need not be contiguous. x NULL: this rank has failed. */
bool hd__mpi_broadcast_tensor(hd_tensor *x, int root);
int64_t hd__mpi_bytes_of(const hd_tensor *x);
/* "(2, 3) float32" */
const char *hd__mpi_kind_of(const hd_tensor *x, char text[HD__SHAPE_TEXT]);

/* ---------------------------------------------------------------- exchanges (traffic.c) */

enum { HD__RING = 4 }; /* so many pieces may be on their way to be added up */

/* A part of a bucket that is sent at once. Each rank adds up one slice of it, which gives the
 * averages of that slice, and sends them to the others. */
typedef struct hd__mpi_piece {
    int64_t at, n;  /* elements, in its bucket; n: a multiple of the number of ranks */
    hd_dtype dtype; /* float32 or float64 */
    char *data;     /* in this round; NULL before and after */
    MPI_Request request;
} hd__mpi_piece;

/* The pieces of a round. All ranks send them in the same order. */
typedef struct hd__mpi_traffic {
    bool fast;
    int64_t n, room;
    hd__mpi_piece *pieces;
    int64_t slice_bytes; /* of the largest slice */
    char *ring;          /* in this round: where the slices of all ranks arrive, HD__RING times */
    int64_t posted, added, finished; /* pieces; posted >= added >= finished */
    int64_t moved;                   /* bytes that this rank has sent, since the last reset */
} hd__mpi_traffic;

/* Asks for the memory of a round. */
bool hd__mpi_traffic_begin(hd__mpi_traffic *e);
/* Posts the next piece, whose data in its bucket are ready. */
bool hd__mpi_traffic_post(hd__mpi_traffic *e, char *bucket);
/* Does what can be done now without waiting; or waits until all that was posted is finished. False
 * if MPI has failed. */
bool hd__mpi_traffic_go_on(hd__mpi_traffic *e, bool wait);
void hd__mpi_traffic_end(hd__mpi_traffic *e);

/* ---------------------------------------------------------------- buckets (bucket.c) */

typedef struct hd__mpi_slot { /* of a parameter that requires grad */
    hd_ddp *d;
    hd_tensor *p; /* retained */
    int64_t hook;
    int64_t bucket, at; /* its place in the bucket, in elements */
    bool ready;         /* in this round: its gradient lies in the bucket */
    bool used;          /* and it took part */
    bool touched;       /* this backward under hd_ddp_no_sync has come by */
    bool alone;         /* backwards under hd_ddp_no_sync have given it a gradient */
} hd__mpi_slot;

typedef struct hd__mpi_bucket {
    hd_dtype dtype;
    int64_t n, room;        /* elements, and with zeros a multiple of the number of ranks */
    int64_t slots, missing; /* slots, and those that are not ready in this round */
    int64_t pieces;
    hd_tensor *data; /* in this round: (room,), retained */
} hd__mpi_bucket;

struct hd_ddp {
    hd_module *model;
    hd_ddp_options o;
    int64_t n, n_buckets;
    hd__mpi_slot
        *slots; /* in the order in which gradients are expected: the last parameter first */
    hd__mpi_bucket *buckets;
    hd__mpi_traffic e;
    int *owners;         /* by slot: the rank that a parameter belongs to */
    unsigned char *used; /* by slot, at the end of a round: has any rank used it? */
    bool listens;        /* hd_on_backward_end was called */
    int64_t n_ready;     /* slots */
    int64_t next;        /* the bucket to be sent next */
    bool no_sync;
    int64_t backwards; /* of this thread that have ended */
    pthread_t thread;  /* that made it */
    bool met;          /* this backward has met the other ranks, and */
    bool going;        /* all were well */
    hd_ddp_figures figures;
};

/* Deals the slots to buckets, and these to pieces. */
bool hd__mpi_buckets_plan(hd_ddp *d);
/* Asks for the memory of a round. */
bool hd__mpi_buckets_begin(hd_ddp *d);
void hd__mpi_buckets_end(hd_ddp *d);
/* The place of s in its bucket: p's shape; NULL on failure. */
hd_tensor *hd__mpi_slot_part(const hd__mpi_slot *s);
/* The gradient of s is g, or what s->p has alone where g is HD_NONE. It is added to what s->p has,
 * and put into the bucket. */
bool hd__mpi_slot_fill(const hd__mpi_slot *s, hd_tensor *g);
/* s is ready, or never will be. Sends the buckets that are full, in their order. */
bool hd__mpi_slot_ready(hd__mpi_slot *s);

/* Deals the slots to the ranks (shard.c). */
bool hd__mpi_owners_plan(hd_ddp *d);

/* Is this rank in the midst of a backward that averages? Then the call fails with HD_STATE. */
bool hd__mpi_in_round(void);

/* Is d, the argument `arg`, the hd_ddp that lives, and is this the thread that made it? */
bool hd__mpi_ddp_given(const char *arg, const hd_ddp *d);

#endif
