/* level.h - macros for kernels. Their meaning depends on the CPU level.
 *
 * Only kernels include this header. The headers that callers include, such as kernels.h, mean the
 * same at every level. So heed.c, the whole library in one file (tools/amalgamate), has those
 * headers once, and this one once for each level. */
#ifndef HEED_KERNELS_LEVEL_H
#define HEED_KERNELS_LEVEL_H

#include "tensor/kernels/kernels.h"

/* Two sorts of kernels are not compiled for AVX-512: kernels for types that few programs use much,
 * and transposition. Their AVX2 kernels serve AVX-512, too. At AVX-512, HDK_WIDE(kernel) is NULL
 * and HDK_IF_WIDE(code) is empty. At all other levels HDK_WIDE_TYPES is defined. */
#if HDK_AT_AVX512
#define HDK_WIDE(kernel) NULL
#define HDK_IF_WIDE(...)
#else
#define HDK_WIDE_TYPES
#define HDK_WIDE(kernel) kernel
#define HDK_IF_WIDE(...) __VA_ARGS__
#endif

/* HDK_FMAF and HDK_FMA compute a * b + c, rounded once if the CPU level has an instruction for it,
 * and twice otherwise. Code whose bits must not depend on the level calls scalar_fma_f32 or fma
 * instead, unless its product a * b is exact. */
#if HDK_AT_AVX2
#define HDK_FUSED
#define HDK_FMAF(a, b, c) __builtin_fmaf((a), (b), (c))
#define HDK_FMA(a, b, c) __builtin_fma((a), (b), (c))
#else
#define HDK_FMAF(a, b, c) ((a) * (b) + (c))
#define HDK_FMA(a, b, c) ((a) * (b) + (c))
#endif

#endif
