/* bucket.c - the buckets in which gradients are packed, sent and averaged.
 *
 * Backward completes the gradients of the last layers first, so the last parameter is the first in
 * the first bucket. A parameter's gradient is written into its place in the bucket, and that place
 * is what becomes its .grad: nothing is copied back. So each round has memory of its own. */
#include "mpi/mpi_internal.h"

#include <string.h>

/* ---------------------------------------------------------------- the plan */

/* Puts s into the last bucket if there is room, else into a new one. A bucket is closed by the
 * parameter that reaches its size. */
static void plan_slot(hd_ddp *d, hd__slot *s)
{
    hd_dtype dtype = hd_dtype_of(s->p);
    int64_t most = d->n_buckets <= 1 ? d->o.first_bucket_bytes : d->o.bucket_bytes;
    hd__bucket *b = d->n_buckets > 0 ? &d->buckets[d->n_buckets - 1] : NULL;
    if (!b || b->dtype != dtype || b->n * (int64_t)hd_dtype_size(dtype) >= most) {
        b = &d->buckets[d->n_buckets++];
        b->dtype = dtype;
    }
    s->bucket = d->n_buckets - 1;
    s->at = b->n;
    b->n += hd_numel(s->p);
    b->slots++;
}

/* A bucket of one large parameter is sent in several pieces. */
static int64_t piece_size(const hd_ddp *d, const hd__bucket *b)
{
    int64_t most = d->o.bucket_bytes / (int64_t)hd_dtype_size(b->dtype);
    most = most < 1 ? 1 : most > 1 << 28 ? 1 << 28 : most;
    int64_t pieces = (b->n + most - 1) / most;
    return pieces > 0 ? (b->n + pieces - 1) / pieces : 1;
}

static void plan_pieces(const hd_ddp *d, hd__bucket *b, hd__traffic *e)
{
    int64_t size = piece_size(d, b);
    b->first_piece = e->n;
    for (int64_t at = 0; at < b->n; at += size) {
        if (e->pieces) {
            e->pieces[e->n] =
                (hd__piece){.at = at, .n = b->n - at < size ? b->n - at : size, .dtype = b->dtype};
        }
        e->n++;
    }
    b->pieces = e->n - b->first_piece;
}

static void plan_all_pieces(hd_ddp *d)
{
    d->e.n = 0;
    for (int64_t i = 0; i < d->n_buckets; i++) {
        plan_pieces(d, &d->buckets[i], &d->e);
    }
}

bool hd__buckets_plan(hd_ddp *d)
{
    d->buckets = hd__alloc_items(d->n, sizeof *d->buckets);
    if (!d->buckets) {
        return false;
    }
    memset(d->buckets, 0, (size_t)d->n * sizeof *d->buckets);
    for (int64_t i = 0; i < d->n; i++) {
        plan_slot(d, &d->slots[i]);
    }
    plan_all_pieces(d); /* counts them */
    d->e.pieces = hd__alloc_items(d->e.n + 1, sizeof *d->e.pieces);
    if (!d->e.pieces) {
        return false;
    }
    plan_all_pieces(d);
    return hd__traffic_plan(&d->e);
}

/* ---------------------------------------------------------------- the memory of a round */

static bool begin_slot(const hd_ddp *d, hd__slot *s)
{
    hd_tensor *data = d->buckets[s->bucket].data; /* (n,) */
    hd_tensor *part = hd_narrow(data, 0, s->at, hd_numel(s->p));
    s->ready = s->used = false;
    s->part = hd_retain(hd_view_n(part, hd_ndim(s->p), hd_sizes(s->p)));
    return s->part;
}

bool hd__buckets_begin(hd_ddp *d)
{
    bool ok = hd__traffic_begin(&d->e);
    d->n_ready = d->next = 0;
    for (int64_t i = 0; i < d->n_buckets && ok; i++) {
        hd__bucket *b = &d->buckets[i];
        b->missing = b->slots;
        b->data = hd_retain(hd_empty(b->dtype, b->n));
        ok = b->data;
    }
    for (int64_t i = 0; i < d->n && ok; i++) {
        ok = begin_slot(d, &d->slots[i]);
    }
    return ok;
}

void hd__buckets_end(hd_ddp *d)
{
    hd__traffic_end(&d->e);
    for (int64_t i = 0; i < d->n; i++) {
        hd_release(d->slots[i].part);
        d->slots[i].part = NULL;
    }
    for (int64_t i = 0; i < d->n_buckets; i++) {
        hd_release(d->buckets[i].data);
        d->buckets[i].data = NULL;
    }
}

/* ---------------------------------------------------------------- filling and sending */

static bool fill_part(const hd__slot *s, hd_tensor *g)
{
    hd_tensor *alone = hd_grad(s->p); /* p's shape, or HD_NONE */
    hd_tensor *first = g == HD_NONE ? alone : g;
    if (first == HD_NONE) {
        return hd_fill_(s->part, 0);
    }
    return alone && hd_copy_(s->part, first) &&
           (g == HD_NONE || alone == HD_NONE || hd_add_(s->part, alone));
}

bool hd__slot_fill(hd__slot *s, hd_tensor *g)
{
    hd_scope *scope = hd_scope_open();
    bool ok = scope && fill_part(s, g);
    hd_scope_close(scope);
    return ok;
}

static bool send_bucket(hd_ddp *d, hd__bucket *b)
{
    char *data = (char *)(uintptr_t)hd_data(b->data);
    bool ok = true;
    for (int64_t i = 0; i < b->pieces && ok; i++) {
        int64_t at = d->e.pieces[b->first_piece + i].at;
        ok = hd__traffic_post(&d->e, data + at * (int64_t)hd_dtype_size(b->dtype));
    }
    return ok;
}

bool hd__slot_ready(hd__slot *s)
{
    hd_ddp *d = s->d;
    bool ok = true;
    s->ready = true;
    d->n_ready++;
    d->buckets[s->bucket].missing--;
    while (ok && d->next < d->n_buckets && d->buckets[d->next].missing == 0) {
        ok = send_bucket(d, &d->buckets[d->next++]);
    }
    return hd__traffic_go_on(&d->e) && ok;
}
