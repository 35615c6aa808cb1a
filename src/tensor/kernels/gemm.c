/* gemm.c - one matrix product of any strides, for float32, float64 and int64.
 *
 * gemm_body.h computes it with the register tile of gemm_tile.h; this file chooses the blocks.
 * int64 is multiplied as uint64, so it wraps. */
#include "tensor/kernels/gemm.h"

#include <string.h>

#include "tensor/kernels/gemm_tile.h"
#include "tensor/kernels/template.h"

enum {
    TILE_WORTH = 256,     /* products of at most this many multiplications use no tile */
    LARGE = 1 << 22,      /* products of more multiplications may pack a and b into scratch */
    BLOCK_ROWS = 80 * 14, /* rows of a that are packed together; they stay in the L3 cache */
    GROUP = 4,       /* number of panels of a that are packed together before their first use */
    A_IN_PLACE = 24, /* dense rows of a are packed only if a row of c has more tiles than this */
    SHALLOW = 128,   /* the largest k of a panel of b that lies on the stack */
    STREAMS = 8,     /* number of rows of b that a product of few rows reads side by side */
    /* Columns of b that gemm_split.h reads side by side for 1, 2 and 4 rows of a. The sums of more
     * columns would not stay in registers. BESIDE_BF16 is for one row of a and a bfloat16 b; b is
     * then read nearly in the order of memory. */
    BESIDE_1 = 8,
    BESIDE_2 = HDK_REGISTER > 32 ? 8 : 4,
    BESIDE_4 = HDK_REGISTER > 32 ? 6 : 2,
    BESIDE_BF16 = HDK_REGISTER > 32 ? 2 : 8,
    AHEAD_BF16 = 3072 /* bfloat16 is prefetched this many elements before it is read */
};

typedef struct hdk_blocking {
    bool pack_a, pack_b;       /* true if the operand is packed into scratch */
    int64_t rows, cols, depth; /* number of rows, columns and steps of a block */
    int64_t room_a, room_b;    /* elements of scratch for the packed operand */
} hdk_blocking;

/* Cuts n evenly into as few parts of at most `most` as possible. Returns the size of the largest
 * part. */
static int64_t hdk_evenly(int64_t n, int64_t most)
{
    int64_t count = (n + most - 1) / most;
    return count > 0 ? (n + count - 1) / count : 0;
}

/* Returns the number of panels of b that are packed together. They fill a quarter of the L2
 * cache. */
static int64_t hdk_panels(int64_t depth)
{
    int64_t panels = hd__start_second_cache / 4 / (2 * HDK_REGISTER * depth);
    return panels > 1 ? panels : 1;
}

/* Returns the number of rows of a that are packed together. It grows with the L2 cache. */
static int64_t hdk_rows_together(void)
{
    int64_t times = hd__start_second_cache >> 20;
    return BLOCK_ROWS * (times < 1 ? 1 : times < 4 ? times : 4);
}

/* Chooses the blocks of product p. `width` is the number of columns of a panel of b, `depth` the
 * most steps of k in a block, and `scratch` is false if the caller has no memory to pack into.
 * Packing b saves time if many rows use it, and packing a if many columns use it. If the rows of a
 * are not dense, or would evict each other from the L1 cache, packing a saves time with fewer
 * columns. If m or n grows, rows and cols may shrink, but room_a and room_b never do. So the
 * scratch of the largest of several products serves all of them. */
static hdk_blocking hdk_plan(const hdk_product *p, int64_t width, int64_t depth, bool scratch)
{
    hdk_blocking how = {0};
    bool large = scratch && p->m * p->n * p->k > LARGE;
    bool crowded = scratch && p->a_row % 1024 == 0 && p->m > 8;
    int64_t in_place = p->a_col == 1 && !crowded ? A_IN_PLACE : 2;
    how.pack_a = (large || crowded) && p->n > in_place * width && p->m > 2;
    how.pack_b = large && p->m > 2 * HDK_TILE_ROWS;
    how.depth = hdk_evenly(p->k, how.pack_b ? depth : SHALLOW);
    int64_t most_rows = hdk_rows_together(), most = hdk_panels(depth);
    int64_t panels = (p->n + width - 1) / width, steps = p->k < how.depth ? p->k : how.depth;
    int64_t rows = p->m < most_rows ? p->m : most_rows;
    how.rows = hdk_evenly(p->m, most_rows);
    how.cols = hdk_evenly(panels, most) * width;
    how.room_a = how.pack_a ? ((rows + HDK_TILE_ROWS) * steps + 15) / 16 * 16 : 0;
    how.room_b = how.pack_b ? (panels < most ? panels : most) * width * steps : 0;
    return how;
}

typedef void (*hdk_path)(const hdk_product *p);

/* Returns the product c^T = b^T @ a^T, which has one row, for a product c = a @ b of one column. */
static hdk_product hdk_turned(const hdk_product *p)
{
    hdk_product t = *p;
    t.m = 1, t.n = p->m, t.bias_step = 0;
    t.a = p->b, t.a_row = p->b_col, t.a_col = p->b_row;
    t.b = p->a, t.b_row = p->a_col, t.b_col = p->a_row;
    return t;
}

/* ---------------------------------------------------------------- tiles */

/* Hides the distances between the rows of matrix a from the compiler. Otherwise the compiler would
 * compute a distance for every row, and keep most of the distances in memory. */
#define HIDE(reach) __asm__("" : "+r"((reach).one), "+r"((reach).three), "+r"((reach).five))

#define REACH fn(reach)
#define TILE_LOOP fn(tile_loop)
#define PACKING_LOOP fn(packing_loop)

#define TYPE f32
#include "tensor/kernels/gemm_tile_type.h"
#undef TYPE
#define TYPE f64
#include "tensor/kernels/gemm_tile_type.h"
#undef TYPE

const hdk_tile_loop *const HDK_TABLE(hdk_tile) = tile_f32;

/* ---------------------------------------------------------------- products */

/* The number of columns of a tile, and of a panel of b. */
#define WIDTH (2 * VECTOR)

/* HALVES is true if the type also uses tiles of one vector. Tiles need no buffer if the number of
 * their columns is a multiple of UNIT. */
#define HALVES (sizeof(T) == 4)
#define UNIT (HALVES ? VECTOR : WIDTH)

/* The largest number of steps (indices along k) that are packed together. */
#define DEPTH (sizeof(T) == 8 ? 192 : HDK_REGISTER > 32 ? 512 : 384)

#define BLOCK fn(block)

#define B T
#define BESIDE BESIDE_1
#define B_VECTOR(b) fn(vload)(b)
#define B_ELEMENT(v) (v)
#define split(name) fn(name)

#define TYPE f32
#include "tensor/kernels/gemm_split.h"
#include "tensor/kernels/gemm_body.h"
#undef TYPE

#define TYPE f64
#include "tensor/kernels/gemm_split.h"
#include "tensor/kernels/gemm_body.h"
#undef TYPE

#undef B
#undef BESIDE
#undef B_VECTOR
#undef B_ELEMENT
#undef split
#define B uint16_t
#define BESIDE BESIDE_BF16
#define B_VECTOR(b) vload_bf16(b)
#define B_ELEMENT(v) hdk_from_bf16(v)
#define split(name) name##_bf16

#define TYPE f32
#include "tensor/kernels/gemm_split.h"
#undef TYPE

#undef B
#undef BESIDE
#undef B_VECTOR
#undef B_ELEMENT
#undef split

static void product_bf16(const hdk_product *p)
{
    split_bf16(p);
    if (p->bias) {
        add_bias_f32(p->c, p->c_row, p->m, p->n, p->bias, p->bias_step);
    }
}

#ifdef HDK_WIDE_TYPES
/* Integers wrap, so every order of sums gives the same bits. If b's rows are dense, adds multiples
 * of them to each row of c. Otherwise computes each element as a dot. */
static void product_u64(const hdk_product *p, void *scratch)
{
    const bool rows = p->b_col == 1 && p->n > 1;
    const uint64_t *bias = p->bias;
    (void)scratch;
    for (int64_t i = 0; i < p->m; i++) {
        const uint64_t *a = (const uint64_t *)p->a + i * p->a_row, *b = p->b;
        uint64_t *restrict c = (uint64_t *)p->c + i * p->c_row;
        for (int64_t j = 0; j < p->n; j++) {
            uint64_t sum = (p->add ? c[j] : 0) + (bias ? bias[j * p->bias_step] : 0);
            for (int64_t q = 0; q < p->k && !rows; q++) {
                sum += a[q * p->a_col] * b[j * p->b_col + q * p->b_row]; /* heed-loop */
            }
            c[j] = sum;
        }
        for (int64_t q = 0; q < p->k && rows; q++, b += p->b_row) {
            const uint64_t x = a[q * p->a_col];
            for (int64_t j = 0; j < p->n; j++) {
                c[j] += x * b[j]; /* heed-loop */
            }
        }
    }
}

static int64_t room_u64(const hdk_product *p)
{
    (void)p;
    return 0;
}
#endif

const struct hdk_gemm HDK_TABLE(hdk_gemm) = {
    .product = {product_f32, product_f64, HDK_WIDE(product_u64)},
    .room = {room_f32, room_f64, HDK_WIDE(room_u64)},
    .bf16 = product_bf16,
    .tile_rows = HDK_TILE_ROWS,
    .tile_cols = 2 * HDK_REGISTER / 4,
};
