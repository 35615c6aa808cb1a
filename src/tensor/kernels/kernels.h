/* kernels.h - how kernels are compiled once per CPU level and found at run time.
 *
 * A family of kernels is a struct of function pointers (hdk_softmax), declared in its own header
 * with HDK_FAMILY, and defined in its .c file, at the end, as
 *     const struct hdk_softmax HDK_TABLE(hdk_softmax) = {...};
 * The build compiles every .c file here once per level, with -DHDK_LEVEL=<level>; statics need no
 * suffix, as each level is its own set of objects. The level plain has a file of its own
 * (plain/plain.c). Callers write hdk_softmax()->rows_f32(...). Kernels take out-parameters,
 * allocate nothing, know no tensor, and never fail.
 *
 * The comment heed-loop ends a line that computes the elements: gdb's command of this name stops
 * there, and in the loops that are made of elementwise.h's rows. A call in tests/gdb/loops.c
 * reaches each of these lines. */
#ifndef HEED_KERNELS_H
#define HEED_KERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/start.h"

/* Inlined whatever its size, because a loop with a call in it is not vectorised. */
#define HDK_INLINE static inline __attribute__((always_inline))

/* Never inlined: one copy of the code for all its callers. */
#define HDK_NOINLINE __attribute__((noinline, unused))

/* Stands before a loop of at most 16 turns, which is unrolled whole. */
#ifdef __clang__
#define HDK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HDK_UNROLL _Pragma("GCC unroll 16")
#endif

#define HDK__JOIN2(a, b) a##_##b
#define HDK__JOIN(a, b) HDK__JOIN2(a, b)
#define HDK_TABLE(family) HDK__JOIN(family, HDK_LEVEL)

/* The level tells what a kernel may use: HDK_AT_AVX2 is true at the levels avx2 and avx512, and
 * HDK_AT_AVX512 at avx512. No kernel asks the compiler's own macros, such as __AVX2__. */
#define HDK__RANK_OF_plain 1
#define HDK__RANK_OF_baseline 2
#define HDK__RANK_OF_avx2 3
#define HDK__RANK_OF_avx512 4
#define HDK__RANK HDK__JOIN(HDK__RANK_OF, HDK_LEVEL)
#define HDK_AT_AVX2 (HDK__RANK >= HDK__RANK_OF_avx2)
#define HDK_AT_AVX512 (HDK__RANK >= HDK__RANK_OF_avx512)
#if defined(HDK_LEVEL) && !HDK__RANK
#error "HDK_LEVEL is none of plain, baseline, avx2 and avx512"
#endif

/* The build defines HDK_HAVE_AVX2 and HDK_HAVE_AVX512 where those levels are compiled. */
#ifdef HDK_HAVE_AVX2
#define HDK__AVX2(f) f##_avx2
#else
#define HDK__AVX2(f) f##_baseline
#endif
#ifdef HDK_HAVE_AVX512
#define HDK__AVX512(f) f##_avx512
#else
#define HDK__AVX512(f) HDK__AVX2(f)
#endif

/* Types in which few programs compute much, and loops that combine others, are not compiled for
 * AVX-512, which AVX2's serve, too: HDK_WIDE_TYPES is defined at the other levels. A family names
 * the last dtype that each level has of its own, and hdk_softmax_for(dtype) is the table to take.
 * HDK_WIDE(kernel) is NULL at AVX-512; hdk_softmax_common() has the kernel. */
enum { HDK_F32, HDK_F64, HDK_I64, HDK_B8, HDK_BF16 };
#if HDK_AT_AVX512
#define HDK_WIDE(kernel) NULL
#define HDK_IF_WIDE(...)
#else
#define HDK_WIDE_TYPES
#define HDK_WIDE(kernel) kernel
#define HDK_IF_WIDE(...) __VA_ARGS__
#endif

/* `lowest` is the lowest level of which the family has a table: plain, or baseline, whose table
 * then serves plain, too. */

/* A family that waits for memory: AVX2's table serves AVX-512 too. */
#define HDK_FAMILY_AVX2(family, lowest) HDK__FAMILY_AVX2(family, lowest, family)
#define HDK__FAMILY_AVX2(family, lowest, function)                                                 \
    extern const struct family family##_##lowest, family##_baseline, HDK__AVX2(family);            \
    static inline const struct family *function(void)                                              \
    {                                                                                              \
        return hd__level >= HD__AVX2       ? &HDK__AVX2(family)                                    \
               : hd__level == HD__BASELINE ? &family##_baseline                                    \
                                           : &family##_##lowest;                                   \
    }

#define HDK_FAMILY(family, lowest, most)                                                           \
    HDK__FAMILY_AVX2(family, lowest, family##_common)                                              \
    extern const struct family HDK__AVX512(family);                                                \
    static inline const struct family *family(void)                                                \
    {                                                                                              \
        static const struct family *const levels[] = {&family##_##lowest, &family##_baseline,      \
                                                      &HDK__AVX2(family), &HDK__AVX512(family)};   \
        return levels[hd__level];                                                                  \
    }                                                                                              \
    static inline const struct family *family##_for(int dtype)                                     \
    {                                                                                              \
        return dtype <= (most) ? family() : family##_common();                                     \
    }

/* A bfloat16 is the upper half of a float32. */
static inline float hdk_from_bf16(uint16_t v)
{
    const uint32_t bits = (uint32_t)v << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x rounded to the nearest bfloat16, ties to even. Every NaN becomes the one that PyTorch's vectors
 * give. */
static inline uint16_t hdk_to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(x != x ? 0xffff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* An elementwise loop over n elements: data[i] advances by strides[i] bytes, data[0] is the output,
 * and what params points to depends on the op. */
typedef void (*hdk_loop)(char *const *data, const int64_t *strides, int64_t n, const void *params);

/* A result of at least so many bytes is written past the cache, which could not keep it. Memory is
 * then not read before it is written, which saves a third of the traffic. */
enum { HDK_STREAM_BYTES = 16 << 20 };

/* a b + c with one rounding where the level has the instruction, with two elsewhere. Where the bits
 * must not depend on the level, call fmaf or fma. */
#if HDK_AT_AVX2
#define HDK_FUSED
#define HDK_FMAF(a, b, c) __builtin_fmaf((a), (b), (c))
#define HDK_FMA(a, b, c) __builtin_fma((a), (b), (c))
#else
#define HDK_FMAF(a, b, c) ((a) * (b) + (c))
#define HDK_FMA(a, b, c) ((a) * (b) + (c))
#endif

#endif
