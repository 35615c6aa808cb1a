/* attention_kernels.c - one head of attention: o = softmax(q @ k^T * scale + mask) @ v, and dq, dk
 * and dv from do. One path computes row by row, for few keys and for float64; the other computes in
 * tiles. Only the results are written. They share no memory with the operands. */
#include "tensor/kernels/attention.h"

#include <string.h>

#include "tensor/kernels/draws.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/functions.h"
#include "tensor/kernels/gemm.h"
#include "tensor/kernels/gemm_tile.h"
#include "tensor/kernels/softmax_parts.h"
#include "tensor/kernels/template.h"

/* ---------------------------------------------------------------- common to both paths */

/* Returns the number of keys that query i sees. */
static inline int64_t seen_by(const hdk_head *h, int64_t i)
{
    int64_t seen = i + h->sees;
    return seen < 0 ? 0 : seen < h->s ? seen : h->s;
}

/* The place of a weight for dropout: its index in the bits, and its element of the stream.
 * draw_next moves the place to the next weight. */
typedef struct draw_at {
    int64_t number;
    uint32_t x;
} draw_at;

static inline draw_at draw_begin(const hdk_head *h, int64_t i, int64_t j)
{
    draw_at d = {.number = h->first + i * h->s + j};
    if (h->keep < 1 && !h->bits) {
        d.x = hd__mcg31_times(h->seed, hd__mcg31_power(d.number));
    }
    return d;
}

/* Returns true if dropout keeps the weight at d, and advances d to the next weight. */
static inline bool draw_next(const hdk_head *h, draw_at *d)
{
    if (h->keep >= 1) {
        return true;
    }
    if (h->bits) {
        int64_t n = d->number++;
        return h->bits[n >> 3] >> (n & 7) & 1;
    }
    bool kept = d->x < h->limit;
    d->x = hd__mcg31_times(d->x, HD__MCG31_MULTIPLIER);
    return kept;
}

/* Returns the factor of a kept weight, 1 / keep, rounded as in dropout, or 0 if keep is 0. */
static inline float keep_scale_f32(const hdk_head *h)
{
    return h->keep > 0 ? 1 / (float)h->keep : 0;
}

static inline double keep_scale_f64(const hdk_head *h)
{
    return h->keep > 0 ? 1 / h->keep : 0;
}

/* ---------------------------------------------------------------- the two paths */

/* The path by rows computes the weights of this many queries together. */
enum { QUERIES_TOGETHER = 8 };

#define TYPE f32
#include "tensor/kernels/attention_rows.h"
#include "tensor/kernels/attention_tiles.h"
#undef TYPE

#define TYPE f64
#include "tensor/kernels/attention_rows.h"
#undef TYPE

#define ROWS(suffix)                                                                               \
    {                                                                                              \
        .forward_room = rows_forward_room_##suffix, .forward = rows_forward_##suffix,              \
        .weights = rows_weights_##suffix, .backward_room = rows_backward_room_##suffix,            \
        .backward = rows_backward_##suffix, .query_block = 1, .key_block = 1                       \
    }

const struct hdk_attention HDK_TABLE(hdk_attention) = {
    .rows = {ROWS(f32), ROWS(f64)},
    .tiles = {.forward_room = tiles_forward_room,
              .forward = tiles_forward,
              .weights = tiles_weights,
              .backward_room = tiles_backward_room,
              .backward = tiles_backward,
              .query_block = QUERIES,
              .key_block = KEYS},
};
