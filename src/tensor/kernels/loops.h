/* loops.h - the parts that all elementwise loops share.
 *
 * A loop (hdk_loop) has one output and at most three inputs. The output may be the same memory as
 * an input, element for element. The loops are written for contiguous operands, and the compiler
 * vectorises them. hdk_in_runs copies other operands into contiguous ones. */
#ifndef HEED_KERNELS_LOOPS_H
#define HEED_KERNELS_LOOPS_H

#include "tensor/kernels/kernels.h"

/* Goes before a loop whose iterations are independent although its output may be one of its inputs.
 * The first pragma silences clang about such loops that it cannot vectorise, for instance under
 * sanitizers. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define HDK_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define HDK_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* A loop with a long expression computes a multiple of HDK_WHOLE elements, so that every level
 * computes whole vectors. hdk_padded computes the elements after the last multiple. */
enum { HDK_WHOLE = 16 };

/* The number of a loop's operands, and the bytes of an element of each. Operand 0 is the output. */
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

/* Runs f, which needs contiguous operands, on operands of any strides, one run of elements at a
 * time. Copies strided inputs to buffers before each run, and a strided output from its buffer
 * after the run. */
void hdk_in_runs(hdk_loop f, const hdk_operands *o, char *const *data, const int64_t *strides,
                 int64_t n, const void *params);

/* Runs f over the elements [from, n) of contiguous operands, which must be fewer than HDK_WHOLE.
 * Pads the inputs with zeros to HDK_WHOLE elements. */
void hdk_padded(hdk_loop f, const hdk_operands *o, char *const *data, int64_t from, int64_t n,
                const void *params);

/* Goes at the beginning of f, an hdk_loop of `count` operands. The last arguments are the bytes of
 * an element of each operand. If an operand is not contiguous, the macro runs f by hdk_in_runs and
 * returns from f. So the code after the macro has contiguous operands. */
#define HDK_DENSE(f, params, count, ...)                                                           \
    static const hdk_operands dense = {count, {__VA_ARGS__}};                                      \
    if (!hdk_is_dense(&dense, strides)) {                                                          \
        hdk_in_runs(f, &dense, data, strides, n, params);                                          \
        return;                                                                                    \
    }

#endif
