/* loops.h - what loops over elements have in common.
 *
 * A loop (hdk_loop) has an output and at most three inputs. The output may be the same memory as an
 * input, element for element. A loop has contiguous operands; others are gathered for it (runs.c).
 * The compiler makes vectors of it. */
#ifndef HEED_KERNELS_LOOPS_H
#define HEED_KERNELS_LOOPS_H

#include "tensor/kernels/kernels.h"

/* Stands before a loop whose turns are independent although its output may be one of its inputs.
 * Clang warns where it cannot vectorise such a loop, as under sanitizers. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define HDK_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define HDK_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Of a long expression a loop computes a multiple of so many elements, and those that are missing
 * are padded. It is then computed in whole vectors at every level. */
enum { HDK_WHOLE = 16 };

/* How many operands a loop has, the output first, and the bytes of an element of each. */
typedef struct hdk_operands {
    int n, size[4];
} hdk_operands;

static inline bool hdk_is_dense(const hdk_operands *o, const int64_t *strides)
{
    return strides[0] == o->size[0] && strides[1] == o->size[1] &&
           (o->n < 3 || strides[2] == o->size[2]) && (o->n < 4 || strides[3] == o->size[3]);
}

#define hdk_in_runs HDK_TABLE(hdk_in_runs)
#define hdk_padded HDK_TABLE(hdk_padded)

/* Runs f, which wants contiguous operands, on any strides: an input that is not contiguous is
 * copied beside f, a run at a time, and the output is copied back. */
void hdk_in_runs(hdk_loop f, const hdk_operands *o, char *const *data, const int64_t *strides,
                 int64_t n, const void *params);

/* Runs f over the elements [from, n), fewer than HDK_WHOLE, and zeros after them. */
void hdk_padded(hdk_loop f, const hdk_operands *o, char *const *data, int64_t from, int64_t n,
                const void *params);

/* Stands at the beginning of f, an hdk_loop of `count` operands whose elements have so many bytes:
 * after it they are contiguous. */
#define HDK_DENSE(f, params, count, ...)                                                           \
    static const hdk_operands dense = {count, {__VA_ARGS__}};                                      \
    if (!hdk_is_dense(&dense, strides)) {                                                          \
        hdk_in_runs(f, &dense, data, strides, n, params);                                          \
        return;                                                                                    \
    }

#endif
