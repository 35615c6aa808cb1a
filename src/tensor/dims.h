/* dims.h - walks: loops over the elements of several operands of any strides together (dims.c).
 *
 * hd__dims has the sizes and strides of a walk. It is made from tensors or dim by dim, then sorted,
 * merged, and walked from place to place. The caller adds a place's offsets to the operands'
 * pointers. Strides are in bytes, so that no function needs a dtype. Dim 0 is the innermost. */
#ifndef HEED_TENSOR_DIMS_H
#define HEED_TENSOR_DIMS_H

#include "tensor/tensor_struct.h"

enum { HD__WALKED = 4 }; /* the most operands of a walk */

typedef struct hd__dims_axis {
    int64_t size, stride[HD__WALKED]; /* stride 0: the operand is repeated along the dim */
} hd__dims_axis;

typedef struct hd__dims {
    int n, ndim; /* number of operands, of dims */
    hd__dims_axis dim[HD_MAX_DIMS];
} hd__dims;

/* A place in a walk. The first one is {0}. */
typedef struct hd__dims_place {
    int64_t at[HD_MAX_DIMS];    /* the index in each dim */
    int64_t offset[HD__WALKED]; /* of each operand, in bytes */
} hd__dims_place;

/* The stride, in elements, of x's dim d in a walk that has this size there: 0 if x has size 1 and
 * is broadcast, or lacks the dim (d < 0). */
static inline int64_t hd__dims_stride_over(const hd_tensor *x, int d, int64_t size)
{
    return d < 0 || (x->sizes[d] == 1 && size != 1) ? 0 : x->strides[d];
}

/* The walk over a shape that n tensors broadcast to, with its dims in their order. HD_NONE gets
 * strides of 0. */
void hd__dims_make(hd__dims *w, int ndim, const int64_t *sizes, int n, hd_tensor *const *xs);

/* The walk over xs[0], to which the others broadcast, sorted and merged. It has at least one dim,
 * which is dense if there is only one element. */
void hd__dims_of(hd__dims *w, int n, hd_tensor *const *xs);

void hd__dims_append(hd__dims *w, const hd__dims_axis *dim); /* adds an outermost dim */
hd__dims_axis hd__dims_take(hd__dims *w, int d);             /* removes dim d, and returns it */

/* Gives operand i the strides of an array in the order of the walk, its elements `step` bytes
 * apart. */
void hd__dims_dense(hd__dims *w, int i, int64_t step);

/* Sorts the dims by operand 0's absolute strides. The smallest becomes innermost; dims of equal
 * strides keep their order. */
void hd__dims_sort(hd__dims *w);

/* Sets y's strides without gaps, in the order of w's strides, as PyTorch's TensorIterator does. y
 * has w's number of dims. Of two dims, the one with the smaller stride is inside; the first operand
 * whose strides are not 0 in both decides. If its strides are equal, the dims swap if the inner one
 * is larger; otherwise the next operand decides. Dims that no operand decides keep their order. */
void hd__dims_lay_out(const hd__dims *w, hd_tensor *y);

/* Joins outer to inner, if outer's stride is inner's size times inner's stride in each operand. */
static inline bool hd__dims_join(hd__dims_axis *inner, const hd__dims_axis *outer, int n)
{
    for (int i = 0; i < n; i++) {
        if (outer->stride[i] != inner->size * inner->stride[i]) {
            return false;
        }
    }
    inner->size *= outer->size;
    return true;
}

/* Drops dims of size 1 and joins neighbours. The offsets and their order do not change. */
void hd__dims_merge(hd__dims *w);

/* The dim in which operand i, with elements of `item` bytes, is dense. Returns 0 if operand i is
 * dense or repeated in the innermost dim, or if no such dim is long enough for tiles. */
int hd__dims_across(const hd__dims *w, int i, int64_t item);

/* The number of places in the walk; 1 if it has no dims. */
int64_t hd__dims_count(const hd__dims *w);

/* For assertions: true if a and b have the same number of places, and operand 0 the same last
 * offset. This holds after dims were reordered or merged, but not if one was left out or taken
 * twice. */
bool hd__dims_alike(const hd__dims *a, const hd__dims *b);

/* Writes place number `flat` of the walk, 0 <= flat < hd__dims_count. */
void hd__dims_seek(const hd__dims *w, int64_t flat, hd__dims_place *p);
/* The same for the indices alone. */
static inline void hd__dims_index(const hd__dims *w, int64_t flat, int64_t *at)
{
    for (int d = 0; d < w->ndim; d++) {
        int64_t size = w->dim[d].size, rest = flat < size ? 0 : flat / size;
        at[d] = flat - rest * size;
        flat = rest;
    }
}

/* hd__dims_next at the end of dim d. */
bool hd__dims_carry(const hd__dims *w, int d, hd__dims_place *p);
/* Moves p by one step in dim d or, at its end, in the next outer dim; dims inside d do not move.
 * After the last place it returns false, and p is at the first place again. */
static inline bool hd__dims_next(const hd__dims *w, int d, hd__dims_place *p)
{
    if (d >= w->ndim || p->at[d] + 1 == w->dim[d].size) {
        return hd__dims_carry(w, d, p);
    }
    p->at[d]++;
    for (int i = 0; i < w->n; i++) {
        p->offset[i] += w->dim[d].stride[i];
    }
    return true;
}

#endif
