/* bucket.c - packs gradients into buckets, which are sent as soon as they are full.
 *
 * Backward completes the gradients of the last layers first, so the last parameter is the first in
 * the first bucket. A gradient is written into its place in a bucket and averaged there. Then this
 * place becomes the parameter's .grad, so nothing is copied back. Therefore each round allocates
 * new buckets. */
#include "mpi/mpi_internal.h"

#include <string.h>

/* ---------------------------------------------------------------- the plan */

/* Assigns slot s a place in the last bucket, or in a new bucket if the last one is full or has
 * another dtype. */
static void plan_slot(hd_ddp *d, hd__mpi_slot *s)
{
    hd_dtype dtype = hd_dtype_of(s->p);
    int64_t most = d->n_buckets <= 1 ? d->o.first_bucket_bytes : d->o.bucket_bytes;
    hd__mpi_bucket *b = d->n_buckets > 0 ? &d->buckets[d->n_buckets - 1] : NULL;
    if (!b || b->dtype != dtype || b->n * (int64_t)hd_dtype_size(dtype) >= most) {
        b = &d->buckets[d->n_buckets++];
        b->dtype = dtype;
    }
    s->bucket = d->n_buckets - 1;
    s->at = b->n;
    b->n += hd_numel(s->p);
    b->slots++;
}

/* Returns the smallest multiple of `by` that is at least n. */
static int64_t rounded_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by * by;
}

/* Cuts bucket b into pieces of about bucket_bytes, and appends them to e. A bucket with a large
 * parameter has several pieces. Returns false with an error if memory runs out. */
static bool plan_pieces(const hd_ddp *d, hd__mpi_bucket *b, hd__mpi_traffic *e)
{
    int64_t bytes = (int64_t)hd_dtype_size(b->dtype), ranks = hd__mpi.size;
    int64_t most = d->o.bucket_bytes / bytes + 1;
    most = rounded_up(most < 1 << 28 ? most : 1 << 28, ranks);
    b->room = rounded_up(b->n, ranks);
    for (int64_t at = 0; at < b->room; at += most) {
        int64_t n = b->room - at < most ? b->room - at : most;
        int64_t slice_bytes = rounded_up(n / ranks * bytes, 64);
        if (!hd__text_grow(&e->pieces, &e->room, e->n + 1, sizeof *e->pieces)) {
            return false;
        }
        e->pieces[e->n++] = (hd__mpi_piece){.at = at, .n = n, .dtype = b->dtype};
        e->slice_bytes = slice_bytes > e->slice_bytes ? slice_bytes : e->slice_bytes;
        b->pieces++;
    }
    return true;
}

bool hd__mpi_buckets_plan(hd_ddp *d)
{
    d->buckets = hd__arg_alloc_items(d->n, sizeof *d->buckets);
    if (!d->buckets) {
        return false;
    }
    memset(d->buckets, 0, (size_t)d->n * sizeof *d->buckets);
    for (int64_t i = 0; i < d->n; i++) {
        plan_slot(d, &d->slots[i]);
    }
    bool ok = true;
    for (int64_t i = 0; ok && i < d->n_buckets; i++) {
        ok = plan_pieces(d, &d->buckets[i], &d->e);
    }
    return ok;
}

/* ---------------------------------------------------------------- the memory of a round */

bool hd__mpi_buckets_begin(hd_ddp *d)
{
    bool ok = hd__mpi_traffic_begin(&d->e);
    d->n_ready = d->next = 0;
    for (int64_t i = 0; i < d->n; i++) {
        d->slots[i].ready = d->slots[i].used = false;
    }
    for (int64_t i = 0; i < d->n_buckets && ok; i++) {
        hd__mpi_bucket *b = &d->buckets[i];
        b->missing = b->slots;
        b->data = hd_retain(hd_empty(b->dtype, b->room));
        ok = b->data && hd_fill_(hd_narrow(b->data, 0, b->n, b->room - b->n), 0);
    }
    return ok;
}

void hd__mpi_buckets_end(hd_ddp *d)
{
    hd__mpi_traffic_end(&d->e);
    for (int64_t i = 0; i < d->n_buckets; i++) {
        hd_release(d->buckets[i].data);
        d->buckets[i].data = NULL;
    }
}

hd_tensor *hd__mpi_slot_part(const hd__mpi_slot *s)
{
    hd_tensor *data = s->d->buckets[s->bucket].data; /* (room,) */
    return hd_view_n(hd_narrow(data, 0, s->at, hd_numel(s->p)), hd_ndim(s->p), hd_sizes(s->p));
}

/* ---------------------------------------------------------------- filling and sending */

bool hd__mpi_slot_fill(const hd__mpi_slot *s, hd_tensor *g)
{
    /* `part` and `alone` have p's shape. `alone` is the .grad of p, which may be HD_NONE. */
    hd_tensor *part = hd__mpi_slot_part(s), *alone = hd_grad(s->p);
    hd_tensor *first = g == HD_NONE ? alone : g;
    if (first == HD_NONE) {
        return hd_fill_(part, 0);
    }
    return alone && hd_copy_(part, first) &&
           (g == HD_NONE || alone == HD_NONE || hd_add_(part, alone));
}

static bool send_bucket(hd_ddp *d, const hd__mpi_bucket *b)
{
    char *data = (char *)(uintptr_t)hd_data(b->data);
    bool ok = true;
    for (int64_t i = 0; i < b->pieces && ok; i++) {
        ok = hd__mpi_traffic_post(&d->e, data);
    }
    return ok;
}

bool hd__mpi_slot_ready(hd__mpi_slot *s)
{
    hd_ddp *d = s->d;
    bool ok = true;
    s->ready = true;
    d->n_ready++;
    d->buckets[s->bucket].missing--;
    while (ok && d->next < d->n_buckets && d->buckets[d->next].missing == 0) {
        ok = send_bucket(d, &d->buckets[d->next++]);
    }
    return hd__mpi_traffic_go_on(&d->e, false) && ok;
}
