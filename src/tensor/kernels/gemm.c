/* gemm.c - one matrix product, of any strides, for float32, float64 and int64.
 *
 * Tiles of six rows and two vectors of c stay in registers over k; b's panels are read where they
 * are or from a copy on the stack. Integers wrap: they are multiplied unsigned. */
#include "tensor/kernels/gemm.h"

#ifdef __AVX512F__
#define REGISTER 64 /* bytes */
#elif defined(__AVX2__)
#define REGISTER 32
#else
#define REGISTER 16
#endif

enum {
    TILE_ROWS = 6,
    DEPTH = 256,    /* rows of b in a packed panel */
    PACK_ROWS = 64, /* from so many rows of a on, a copy of b's panel pays */
    FEW = 256       /* up to so many multiplications, setting up panels costs more than it saves */
};

#define UNROLL _Pragma("GCC unroll 16")

#define T float
#define VECTOR (REGISTER / 4)
#define MULADD HDK_FMAF
#define NAME(x) x##_f32
#include "tensor/kernels/gemm_body.h"

#define T double
#define VECTOR (REGISTER / 8)
#define MULADD HDK_FMA
#define NAME(x) x##_f64
#include "tensor/kernels/gemm_body.h"

#define T uint64_t
#define VECTOR (REGISTER / 8)
#define MULADD(a, b, c) ((a) * (b) + (c))
#define NAME(x) x##_i64
#include "tensor/kernels/gemm_body.h"

const struct hdk_gemm HDK_TABLE(hdk_gemm) = {.product = {product_f32, product_f64, product_i64}};
