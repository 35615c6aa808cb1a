/* traffic.c - averages pieces of gradients over all ranks while they compute.
 *
 * A piece has a slice for each rank. Each rank sends slice r to rank r (MPI_Ialltoall). Rank r adds
 * the slices in the order of the ranks, divides by the number of ranks, and sends the averages to
 * all (MPI_Iallgather). So the bits of the averages depend neither on MPI nor on the timing. Each
 * of the two steps has a communicator, in which all ranks post the pieces in the same order. With
 * the option `fast`, MPI itself adds (MPI_Iallreduce).
 *
 * Nothing here allocates memory during a round, so a rank that has failed can still take part to
 * the end. MPI moves bytes only inside its own functions, which hd__mpi_traffic_go_on calls. */
#include "mpi/mpi_internal.h"

#include <string.h>

static MPI_Datatype type_of(hd_dtype d)
{
    return d == HD_FLOAT64 ? MPI_DOUBLE : MPI_FLOAT;
}

static int slice_of(const hd__mpi_piece *p)
{
    return (int)(p->n / hd__mpi.size);
}

/* ---------------------------------------------------------------- the memory of a round */

bool hd__mpi_traffic_begin(hd__mpi_traffic *e)
{
    e->posted = e->added = e->finished = 0;
    e->ring = e->fast
                  ? NULL
                  : hd__arg_alloc_items(HD__RING * (int64_t)hd__mpi.size, (size_t)e->slice_bytes);
    return e->fast || e->ring;
}

void hd__mpi_traffic_end(hd__mpi_traffic *e)
{
    hd_free(e->ring);
    e->ring = NULL;
}

/* ---------------------------------------------------------------- adding */

/* Sets sum[i] = (parts[i] + parts[n + i] + ...) / ranks. If parts is NULL, sum already has the
 * sums, and is only divided. A block of sums stays in the first-level cache, and the compiler
 * vectorizes the inner loops. */
#define AVERAGE(type, T)                                                                           \
    static void average_##type(T *restrict sum, const T *restrict parts, int64_t n, int ranks)     \
    {                                                                                              \
        enum { BLOCK = 2048 };                                                                     \
        for (int64_t at = 0; at < n; at += BLOCK) {                                                \
            int64_t end = n - at < BLOCK ? n : at + BLOCK;                                         \
            if (parts) {                                                                           \
                memcpy(sum + at, parts + at, (size_t)(end - at) * sizeof(T));                      \
            }                                                                                      \
            for (int r = 1; parts && r < ranks; r++) {                                             \
                const T *part = parts + r * n;                                                     \
                for (int64_t i = at; i < end; i++) {                                               \
                    sum[i] += part[i];                                                             \
                }                                                                                  \
            }                                                                                      \
            for (int64_t i = at; i < end; i++) {                                                   \
                sum[i] /= (T)ranks;                                                                \
            }                                                                                      \
        }                                                                                          \
    }
AVERAGE(f32, float)
AVERAGE(f64, double)

/* Returns the place in the ring where the slices of piece i arrive. */
static char *arrivals(const hd__mpi_traffic *e, int64_t i)
{
    return e->ring + i % HD__RING * hd__mpi.size * e->slice_bytes;
}

/* Averages this rank's slice of piece i over all ranks, whose slices are in the ring. With `fast`,
 * MPI has added the whole pieces, so this only divides their sum. */
static void average(const hd__mpi_traffic *e, int64_t i)
{
    const hd__mpi_piece *p = &e->pieces[i];
    int64_t n = slice_of(p), begin = n * hd__mpi.rank * (int64_t)hd_dtype_size(p->dtype);
    void *sums = e->fast ? p->data : p->data + begin;
    const void *parts = e->fast ? NULL : arrivals(e, i);
    n = e->fast ? p->n : n;
    if (p->dtype == HD_FLOAT64) {
        average_f64(sums, parts, n, hd__mpi.size);
    } else {
        average_f32(sums, parts, n, hd__mpi.size);
    }
}

/* ---------------------------------------------------------------- the steps of a piece */

/* True if p's request is done. If wait is true, waits for it. Returns false without an error if it
 * is not done, and with an error if MPI fails. */
static bool request_done(hd__mpi_piece *p, bool wait)
{
    int done = 1;
    int result = wait ? MPI_Wait(&p->request, MPI_STATUS_IGNORE)
                      : MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
    return hd__mpi_ok(result) && done;
}

/* Averages the slices of the next piece and sends the averages, if the slices have arrived or wait
 * is true. With `fast`, only divides the sums. Returns false without an error if they have not
 * arrived, and with an error if MPI fails. */
static bool add_next(hd__mpi_traffic *e, bool wait)
{
    hd__mpi_piece *p = &e->pieces[e->added];
    if (!request_done(p, wait)) {
        return false;
    }
    average(e, e->added++);
    return e->fast ||
           hd__mpi_ok(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p->data, slice_of(p),
                                     type_of(p->dtype), hd__mpi.averages, &p->request));
}

bool hd__mpi_traffic_post(hd__mpi_traffic *e, char *bucket)
{
    if (e->posted - e->added == HD__RING && !add_next(e, true)) {
        return false;
    }
    hd__mpi_piece *p = &e->pieces[e->posted];
    MPI_Datatype type = type_of(p->dtype);
    int64_t bytes = (int64_t)hd_dtype_size(p->dtype);
    int slice = slice_of(p);
    int64_t i = e->posted++;
    p->data = bucket + p->at * bytes;
    /* MPI_Ialltoall and MPI_Iallgather send n - slice elements each. With `fast`, heed assumes that
     * MPI uses a ring algorithm, which sends as many. */
    e->moved += 2 * (p->n - slice) * bytes;
    return hd__mpi_ok(e->fast ? MPI_Iallreduce(MPI_IN_PLACE, p->data, (int)p->n, type, MPI_SUM,
                                               hd__mpi.parts, &p->request)
                              : MPI_Ialltoall(p->data, slice, type, arrivals(e, i), slice, type,
                                              hd__mpi.parts, &p->request));
}

/* With `fast`, an added piece has no request any more, and MPI reports such a piece as done. */
bool hd__mpi_traffic_go_on(hd__mpi_traffic *e, bool wait)
{
    while (e->added < e->posted && add_next(e, wait)) {
    }
    while (e->finished < e->added && request_done(&e->pieces[e->finished], wait)) {
        e->finished++;
    }
    return !hd__mpi.apart;
}
