/* kernels.h - how kernels are compiled for each CPU level and chosen at run time.
 *
 * A family of kernels is a struct of function pointers, such as hdk_softmax. Its header declares it
 * with HDK_FAMILY. Its .c file ends with the definition:
 *     const struct hdk_softmax HDK_TABLE(hdk_softmax) = {...};
 * The build compiles the .c files of this folder again for each level, with -DHDK_LEVEL=<level>.
 * Each level is a set of objects of its own, so static functions need no suffix. The level plain
 * has a file of its own (plain/plain.c). Callers write hdk_softmax()->logsumexp[dtype](...). A
 * kernel writes its results through pointers that the caller passes. It allocates nothing, knows no
 * tensor, and never fails.
 *
 * The comment heed-loop marks a line that computes elements. gdb's command heed-loop stops at these
 * lines, and in the loops that the build makes from the rows of elementwise.h. The calls of
 * tests/gdb/loops.c reach every marked line. */
#ifndef HEED_KERNELS_H
#define HEED_KERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/start.h"

/* Always inlined, because compilers do not vectorise a loop that contains a call. */
#define HDK_INLINE static inline __attribute__((always_inline))

/* Never inlined: all callers share one copy of the code. */
#define HDK_NOINLINE __attribute__((noinline, unused))

/* Goes before a loop of at most 16 iterations, which the compiler unrolls completely. */
#ifdef __clang__
#define HDK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HDK_UNROLL _Pragma("GCC unroll 16")
#endif

#define HDK__JOIN2(a, b) a##_##b
#define HDK__JOIN(a, b) HDK__JOIN2(a, b)
#define HDK_TABLE(family) HDK__JOIN(family, HDK_LEVEL)

/* HDK_LEVEL alone says which instructions a kernel may use: HDK_AT_AVX2 is true at the levels avx2
 * and avx512, and HDK_AT_AVX512 at avx512. No kernel reads the compiler's own macros for this, such
 * as __AVX2__. */
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

/* The build defines HDK_HAVE_AVX2 and HDK_HAVE_AVX512 if it compiles these levels. */
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

enum { HDK_F32, HDK_F64, HDK_I64, HDK_B8, HDK_BF16 };

/* HDK_FAMILY declares the tables of a family, and the functions that return them. For example,
 * hdk_softmax() returns the table of the CPU level in use. AVX-512's table lacks some kernels
 * (level.h). hdk_softmax_common() returns a table with every kernel: AVX2's table at AVX-512, and
 * the level's own at other levels. hdk_softmax_for(dtype) returns the level's table for dtypes up
 * to `most`, and the common table for later dtypes. `lowest`, plain or baseline, is the lowest
 * level with a table of its own. If it is baseline, the level plain uses the baseline table. */

/* Declares a family whose speed is limited by memory, so AVX-512 uses its AVX2 table. */
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

/* Returns v, a bfloat16, as float32. A bfloat16 is the upper half of a float32. */
static inline float hdk_from_bf16(uint16_t v)
{
    const uint32_t bits = (uint32_t)v << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns x rounded to the nearest bfloat16, ties to even. Every NaN becomes 0xffff, as in
 * PyTorch's vector code. */
static inline uint16_t hdk_to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(x != x ? 0xffff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* An elementwise loop over n elements. Operand i begins at data[i], with strides[i] bytes from one
 * element to the next. Operand 0 is the output. The op defines the type of *params. */
typedef void (*hdk_loop)(char *const *data, const int64_t *strides, int64_t n, const void *params);

/* A result of HDK_STREAM_BYTES or more does not fit into the cache. It is written past the cache,
 * with streaming stores. Such stores do not read the memory before they write it, which saves a
 * third of the traffic. */
enum { HDK_STREAM_BYTES = 16 << 20 };

#endif
