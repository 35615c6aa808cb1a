/* strided.h - makes tensors of random shapes and layouts, and computes the place of each element by
 * plain counting. */
#ifndef TESTS_TENSOR_STRIDED_H
#define TESTS_TENSOR_STRIDED_H

#include "suites.h"
#include "tensor/lifecycle.h"

/* A small generator of the tests' own. */
typedef struct dice {
    uint32_t state;
} dice;

static inline uint32_t roll(dice *d, uint32_t below)
{
    d->state = d->state * 1664525u + 1013904223u;
    return (d->state >> 8) % below;
}

/* The place of element i (row-major) of x in its storage. */
static inline int64_t place_of(const hd_tensor *x, int64_t i)
{
    int64_t at = x->offset;
    for (int d = x->ndim - 1; d >= 0; d--) {
        at += i % x->sizes[d] * x->strides[d];
        i /= x->sizes[d];
    }
    return at;
}

/* A tensor of these sizes whose dims lie in a random order, with gaps and an offset; if `spread`,
 * some dims are expanded (stride 0). The storage is filled with 1, 2, 3, ..., as far as the dtype
 * can hold them. */
static inline hd_tensor *strided(dice *r, hd_dtype d, int ndim, const int64_t *sizes, bool spread)
{
    int order[HD_MAX_DIMS] = {0};
    int64_t strides[HD_MAX_DIMS], reach = 1;
    for (int i = 0; i < ndim; i++) {
        int j = (int)roll(r, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < ndim; i++) {
        int at = order[i];
        bool zero = spread && roll(r, 4) == 0;
        reach *= roll(r, 3) == 0 ? 2 : 1; /* a gap */
        strides[at] = zero ? 0 : reach;
        reach *= zero || sizes[at] == 0 ? 1 : sizes[at];
    }
    int64_t offset = roll(r, 3), n = reach + offset;
    hd_tensor *all = hd_empty_n(d, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        (hd_set_n)(all, hd_scalar_int(d == HD_BOOL ? (i * 7 + i / 3) % 2 : i + 1), 1, &i);
    }
    return hd__tensor_alias(all, ndim, sizes, strides, offset);
}

#endif
