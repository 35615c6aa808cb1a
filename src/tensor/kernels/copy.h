/* copy.h - fills (y = value), ranges (y_i = start + i * step), transposition (y_ij = x_ji), and
 * loops that write past the cache, with streaming stores. y shares no memory with x. */
#ifndef HEED_KERNELS_COPY_H
#define HEED_KERNELS_COPY_H

#include "tensor/kernels/kernels.h"

enum { HDK_STRIP = 16 };

struct hdk_copy {
    hdk_loop fill[5]; /* sets the output to the number at params */
    /* Of the n numbers y[i] = start + step * i, writes those with begin <= i < end, with the bits
     * of torch.arange. begin must be a multiple of 8. Indexed by dtype: float32, float64. */
    void (*arange[2])(void *y, double start, double step, int64_t n, int64_t begin, int64_t end);
    /* Of n >= 2 numbers y[i] in even steps from a to b, writes those with begin <= i < end. As in
     * torch.linspace, the first half counts up from a, and the rest counts down from b. */
    void (*linspace[2])(void *y, double a, double b, int64_t n, int64_t begin, int64_t end);
    /* Sets y[i][j] = x[j][i] for at most HDK_STRIP rows of y. The rows of y and x are dense, and
     * lie y_row and x_row bytes apart. The AVX2 kernel serves AVX-512, too. */
    void (*transpose[5])(char *y, int64_t y_row, const char *x, int64_t x_row, int64_t rows,
                         int64_t columns);
    hdk_loop past_cache;          /* runs the loop in params and writes its output past the cache */
    void (*past_cache_end)(void); /* the writer calls it before another thread reads the output */
};
/* The params of past_cache: the loop f, its params and number of operands, and the bytes of an
 * element of its output. */
typedef struct hdk_past_cache {
    hdk_loop f;
    const void *params;
    int operands;
    int64_t item;
} hdk_past_cache;

HDK_FAMILY(hdk_copy, baseline, HDK_F64)

#endif
