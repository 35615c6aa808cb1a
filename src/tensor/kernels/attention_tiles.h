/* attention_tiles.h - attention in float32 by blocks of queries and keys: a part of
 * attention_kernels.c.
 *
 * A block's scores (QUERIES, KEYS) stay in the L1 and L2 caches. The operands of the register tiles
 * (gemm_tile.h) are packed, row after row (attention_pack.h). Keys, and in backward values, are
 * also packed transposed, in panels of WIDE columns. Zeros pad each width to a multiple of WIDE.
 * Every sum over queries or keys is in order, block by block, and blocks lie at multiples of
 * QUERIES and KEYS. All parts of the work use the same blocks, so the result does not depend on the
 * threads. */

#define TILE HDK_TABLE(hdk_tile)

enum {
    WIDE = 2 * HDK_V,             /* number of columns of a register tile */
    TALL = HDK_TILE_ROWS,         /* number of rows of a register tile */
    QUERIES = (56 / TALL) * TALL, /* number of queries of a block */
    KEYS = 128                    /* number of keys of a block */
};

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t rounded_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

#include "tensor/kernels/attention_drop.h"
#include "tensor/kernels/attention_pack.h"

/* ---------------------------------------------------------------- blocks */

static inline float scale_of(const hdk_head *h)
{
    return (float)(h->divisor != 0 ? 1 / h->divisor : h->scale);
}

/* Returns the number of keys that query i sees among the n keys from j0 on. */
static inline int64_t seen_in(const hdk_head *h, int64_t i, int64_t j0, int64_t n)
{
    return smaller(larger(seen_by(h, i) - j0, 0), n);
}

/* Computes y (rows, n) = a (rows, k) times panels (k, WIDE), for `rows` queries from i0 on and n
 * keys from j0 on. Skips a tile if none of its queries sees any of its keys. */
static void score_block(const hdk_head *h, int64_t i0, int64_t rows, int64_t j0, int64_t n,
                        const float *a, int64_t a_row, const float *panels, int64_t k, float *y)
{
    for (int64_t j = 0; j < n; j += WIDE, panels += k * WIDE) {
        for (int64_t i = 0; i < rows; i += TALL) {
            int64_t some = smaller(rows - i, TALL);
            if (seen_in(h, i0 + i + some - 1, j0, n) > j) {
                TILE[some](k, a + i * a_row, a_row, 1, panels, WIDE, y + i * KEYS + j, KEYS, false,
                           HDK_ASK_NOTHING);
            }
        }
    }
}

/* Adds w (rows, n) times x (n, width), whose rows lie x_row apart, to y (rows, width). */
static void add_over_keys(const hdk_head *h, int64_t i0, int64_t rows, int64_t j0, int64_t n,
                          const float *w, const float *x, int64_t x_row, float *y, int64_t width)
{
    for (int64_t e = 0; e < width; e += WIDE) {
        for (int64_t i = 0; i < rows; i += TALL) {
            int64_t some = smaller(rows - i, TALL), k = seen_in(h, i0 + i + some - 1, j0, n);
            TILE[some](k, w + i * KEYS, KEYS, 1, x + e, x_row, y + i * width + e, width, true,
                       HDK_ASK_NOTHING);
        }
    }
}

/* Adds w (rows, n)^T times x (rows, width) to y (n, width). */
static void add_over_queries(const hdk_head *h, int64_t i0, int64_t rows, int64_t j0, int64_t n,
                             const float *w, const float *x, int64_t width, float *y)
{
    for (int64_t e = 0; e < width; e += WIDE) {
        for (int64_t j = 0; j < n; j += TALL) {
            /* the queries before i do not see these keys */
            int64_t some = smaller(n - j, TALL), i = larger(j0 + j + 1 - h->sees - i0, 0);
            if (i < rows) {
                TILE[some](rows - i, w + i * KEYS + j, 1, KEYS, x + i * width + e, width,
                           y + j * width + e, width, true, HDK_ASK_NOTHING);
            }
        }
    }
}

/* Applies the mask to the scores x of query i and the n keys from j0 on. */
static void mask_row(const hdk_head *h, int64_t i, int64_t j0, int64_t n, float *x)
{
    int64_t step = h->mask.col, at = i * h->mask.row + j0 * step;
    if (h->mask_is_bool) {
        const uint8_t *mask = (const uint8_t *)h->mask.p + at;
        for (int64_t j = 0; j < n; j++) {
            x[j] = mask[j * step] ? x[j] : -INFINITY;
        }
    } else {
        const float *mask = (const float *)h->mask.p + at;
        for (int64_t j = 0; j < n; j++) {
            x[j] += mask[j * step];
        }
    }
}

static inline void fill_row(float *x, int64_t from, int64_t to, float value)
{
    for (int64_t j = from; j < to; j++) {
        x[j] = value;
    }
}

#include "tensor/kernels/attention_forward.h"
#include "tensor/kernels/attention_backward.h"
