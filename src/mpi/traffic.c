/* traffic.c - averages pieces of gradients over all ranks while they compute.
 *
 * A piece is cut into as many slices as there are ranks. Every rank sends each slice to the rank
 * that adds it up (MPI_Ialltoallv), adds what it got in the order of the ranks, divides by their
 * number, and sends the averages to all (MPI_Iallgatherv). So the bits depend neither on MPI nor on
 * the timing. Either half has a communicator of its own, in which all ranks post the pieces in the
 * same order. With `fast` MPI adds (MPI_Iallreduce).
 *
 * While a round runs nothing here asks for memory, so a rank that has failed can still take part to
 * the end. MPI moves bytes only inside of its calls, and hd__traffic_go_on is one. */
#include "mpi/mpi_internal.h"

#include <string.h>

static MPI_Datatype type_of(hd_dtype d)
{
    return d == HD_FLOAT64 ? MPI_DOUBLE : MPI_FLOAT;
}

/* ---------------------------------------------------------------- the plan */

static int slice_begin(int64_t n, int rank)
{
    return (int)(n / hd__mpi.size * rank + (n % hd__mpi.size < rank ? n % hd__mpi.size : rank));
}

static int slice_length(int64_t n, int rank)
{
    return slice_begin(n, rank + 1) - slice_begin(n, rank);
}

static int *counts_of(const hd__piece *p)
{
    int ranks = hd__mpi.size, own = slice_length(p->n, hd__mpi.rank);
    int *counts = hd__alloc_items(4 * (int64_t)ranks, sizeof *counts);
    for (int r = 0; r < ranks && counts; r++) {
        counts[r] = slice_length(p->n, r);
        counts[ranks + r] = slice_begin(p->n, r);
        counts[2 * ranks + r] = own;
        counts[3 * ranks + r] = own * r;
    }
    return counts;
}

bool hd__traffic_plan(hd__traffic *e)
{
    bool ok = true;
    for (int64_t i = 0; i < e->n && ok; i++) {
        hd__piece *p = &e->pieces[i];
        int64_t bytes = slice_length(p->n, 0) * (int64_t)hd_dtype_size(p->dtype);
        p->counts = counts_of(p);
        e->slice_bytes = bytes > e->slice_bytes ? bytes : e->slice_bytes;
        ok = p->counts;
    }
    e->slice_bytes = (e->slice_bytes + 63) / 64 * 64;
    return ok;
}

void hd__traffic_free(hd__traffic *e)
{
    for (int64_t i = 0; i < e->n && e->pieces; i++) {
        hd_free(e->pieces[i].counts);
    }
    hd_free(e->pieces);
}

bool hd__traffic_begin(hd__traffic *e)
{
    e->posted = e->added = e->finished = 0;
    e->ring =
        e->fast ? NULL : hd__alloc_items(HD__RING * (int64_t)hd__mpi.size, (size_t)e->slice_bytes);
    return e->fast || e->ring;
}

void hd__traffic_end(hd__traffic *e)
{
    hd_free(e->ring);
    e->ring = NULL;
}

/* ---------------------------------------------------------------- adding */

/* The sums stay in the first cache while the ranks' parts are added to them, one after the other,
 * and the compiler makes vectors of the inner loops. */
#define AVERAGE(type, T)                                                                           \
    static void divide_##type(T *x, int64_t n, int ranks)                                          \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            x[i] /= (T)ranks;                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void average_##type(T *restrict sum, const T *restrict parts, int64_t n, int ranks)     \
    {                                                                                              \
        enum { BLOCK = 2048 };                                                                     \
        for (int64_t at = 0; at < n; at += BLOCK) {                                                \
            int64_t some = n - at < BLOCK ? n - at : BLOCK;                                        \
            memcpy(sum + at, parts + at, (size_t)some * sizeof(T));                                \
            for (int r = 1; r < ranks; r++) {                                                      \
                const T *part = parts + r * n + at;                                                \
                for (int64_t i = 0; i < some; i++) {                                               \
                    sum[at + i] += part[i];                                                        \
                }                                                                                  \
            }                                                                                      \
            divide_##type(sum + at, some, ranks);                                                  \
        }                                                                                          \
    }
AVERAGE(f32, float)
AVERAGE(f64, double)

/* Where the slices of piece i arrive. */
static char *arrivals(const hd__traffic *e, int64_t i)
{
    return e->ring + i % HD__RING * hd__mpi.size * e->slice_bytes;
}

static void average(const hd__traffic *e, int64_t i)
{
    const hd__piece *p = &e->pieces[i];
    void *own = p->data + slice_begin(p->n, hd__mpi.rank) * (int64_t)hd_dtype_size(p->dtype);
    const void *parts = arrivals(e, i);
    int64_t n = slice_length(p->n, hd__mpi.rank);
    if (p->dtype == HD_FLOAT64) {
        average_f64(own, parts, n, hd__mpi.size);
    } else {
        average_f32(own, parts, n, hd__mpi.size);
    }
}

static void divide(const hd__piece *p)
{
    void *sums = p->data;
    if (p->dtype == HD_FLOAT64) {
        divide_f64(sums, p->n, hd__mpi.size);
    } else {
        divide_f32(sums, p->n, hd__mpi.size);
    }
}

/* ---------------------------------------------------------------- the steps of a piece */

/* Is the request of p done? If `wait`, waits for it. False after a failure too. */
static bool request_done(hd__piece *p, bool wait)
{
    int done = 1;
    int result = wait ? MPI_Wait(&p->request, MPI_STATUS_IGNORE)
                      : MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
    return hd__mpi_ok(result) && done;
}

/* The next piece has arrived from all ranks: adds up this rank's slice and sends it on. */
static bool add_next(hd__traffic *e, bool wait)
{
    hd__piece *p = &e->pieces[e->added];
    if (!request_done(p, wait)) {
        return false;
    }
    if (e->fast) {
        divide(p);
        e->added++;
        return true;
    }
    average(e, e->added++);
    int ranks = hd__mpi.size;
    e->moved += (int64_t)p->counts[hd__mpi.rank] * (ranks - 1) * (int64_t)hd_dtype_size(p->dtype);
    return hd__mpi_ok(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p->data, p->counts,
                                      p->counts + ranks, type_of(p->dtype), hd__mpi.averages,
                                      &p->request));
}

bool hd__traffic_post(hd__traffic *e, void *data)
{
    hd__piece *p = &e->pieces[e->posted];
    if (e->posted - e->added == HD__RING && !add_next(e, true)) {
        return false;
    }
    int ranks = hd__mpi.size, *counts = p->counts;
    MPI_Datatype type = type_of(p->dtype);
    int64_t bytes = (int64_t)hd_dtype_size(p->dtype);
    p->data = data;
    if (e->fast) {
        e->moved += 2 * (p->n - slice_length(p->n, hd__mpi.rank)) * bytes; /* of a ring */
        e->posted++;
        return hd__mpi_ok(MPI_Iallreduce(MPI_IN_PLACE, data, (int)p->n, type, MPI_SUM,
                                         hd__mpi.parts, &p->request));
    }
    e->moved += (p->n - counts[hd__mpi.rank]) * bytes;
    return hd__mpi_ok(MPI_Ialltoallv(data, counts, counts + ranks, type, arrivals(e, e->posted++),
                                     counts + 2 * ranks, counts + 3 * ranks, type, hd__mpi.parts,
                                     &p->request));
}

/* With `fast` a piece is finished when it was added up. */
static bool finish_next(hd__traffic *e, bool wait)
{
    if (!e->fast && !request_done(&e->pieces[e->finished], wait)) {
        return false;
    }
    e->finished++;
    return true;
}

bool hd__traffic_go_on(hd__traffic *e)
{
    while (e->added < e->posted && add_next(e, false)) {
    }
    while (e->finished < e->added && finish_next(e, false)) {
    }
    return !hd__mpi.apart;
}

bool hd__traffic_wait(hd__traffic *e)
{
    while (e->added < e->posted && add_next(e, true) && hd__traffic_go_on(e)) {
    }
    while (e->finished < e->added && finish_next(e, true)) {
    }
    return e->finished == e->posted;
}
