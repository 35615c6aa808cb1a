/* gemm_tile.h - the register tile of the matrix product, for float32 and float64.
 *
 * gemm.c has for each type (gemm_tile_type.h), and for 1 <= rows <= HDK_TILE_ROWS,
 *
 *     fn(tile)[rows](k, a, a_row, a_step, b, b_step, c, c_row, go_on, ask)
 *
 * It computes c = a @ b, or c += a @ b if go_on is true, over k steps:
 *     a    element (i, p) at a[i * a_row + p * a_step]; if packed k-major, a_row = 1, a_step = rows
 *     b    element (p, j) at b[p * b_step + j], 2 * VECTOR columns; if packed, b_step = 2 * VECTOR
 *     c    element (i, j) at c[i * c_row + j], 2 * VECTOR columns
 *     ask  the memory that the tile prefetches (hdk_ask)
 * fn(half) does the same for VECTOR columns. fn(packing)[rows](k, a, a_row, a_step, b, b_step,
 * panel, c, c_row, go_on) prefetches b, and also copies it to `panel`, packed. fn(packing)[rows] is
 * NULL for few rows (HDK_PACKING_TILES).
 *
 * Steps that prefetch nothing have their own loop, which takes two steps per iteration and has
 * only loads beside the multiply-adds. Any other instruction makes Intel's servers lower their
 * clock, but costs nothing on AMD's CPUs.
 *
 * Every element of c is one chain of multiply-adds over the steps in order, which begins with c or
 * with 0. No bit changes if k is cut into several calls with go_on, or rows and columns into other
 * tiles. */
#ifndef HEED_KERNELS_GEMM_TILE_H
#define HEED_KERNELS_GEMM_TILE_H

#include "tensor/kernels/vec.h"

/* The number of rows of a tile, whose sums must fit into the vector registers. Each row takes two
 * registers, b takes two, and an element of a takes one. AVX-512 has 32 registers, and the other
 * levels of x86 have 16. */
#if HDK_AT_AVX512
#define HDK_TILE_ROWS 14
#define HDK_TILES(f) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14)
#define HDK_PACKING_TILES(f) f(10) f(11) f(12) f(13) f(14)
#elif HDK_AT_AVX2
#define HDK_TILE_ROWS 6
#define HDK_TILES(f) f(1) f(2) f(3) f(4) f(5) f(6)
#define HDK_PACKING_TILES(f) f(5) f(6)
#elif defined(__aarch64__)
#define HDK_TILE_ROWS 8 /* there are 32 registers of 128 bits */
#define HDK_TILES(f) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8)
#define HDK_PACKING_TILES(f) f(6) f(7) f(8)
#else
#define HDK_TILE_ROWS 4 /* a product takes one more register before it is added */
#define HDK_TILES(f) f(1) f(2) f(3) f(4)
#define HDK_PACKING_TILES(f) f(3) f(4)
#endif

/* The memory that a tile prefetches. */
typedef enum hdk_ask {
    HDK_ASK_NOTHING, /* nothing, because the caches have b and c */
    HDK_ASK_C,       /* the tile of c to the right, one row in each of the first steps */
    HDK_ASK_B        /* b, 16 steps ahead */
} hdk_ask;

typedef void (*hdk_tile_loop)(int64_t k, const float *a, int64_t a_row, int64_t a_step,
                              const float *b, int64_t b_step, float *c, int64_t c_row, bool go_on,
                              hdk_ask ask);

/* fn(tile) for float32, which attention uses, too. */
extern const hdk_tile_loop *const HDK_TABLE(hdk_tile);

#endif
