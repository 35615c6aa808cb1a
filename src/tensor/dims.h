/* dims.h - walks. A walk is a loop over the elements of several operands together, whatever their
 * strides (dims.c).
 *
 * hd__dims has the sizes and strides of a walk. Callers make it from tensors or dim by dim, sort
 * and merge its dims, and then step from place to place. A place is an index in every dim, with an
 * offset for each operand, which the caller adds to the operand's pointer. Strides and offsets are
 * in bytes, so no function here needs a dtype. Dim 0 is the innermost. */
#ifndef HEED_TENSOR_DIMS_H
#define HEED_TENSOR_DIMS_H

#include "tensor/tensor_struct.h"

enum { HD__WALKED = 4 }; /* the largest number of operands in a walk */

typedef struct hd__dims_axis {
    int64_t size, stride[HD__WALKED]; /* stride 0 repeats the operand along the dim */
} hd__dims_axis;

typedef struct hd__dims {
    int n, ndim; /* number of operands; number of dims */
    hd__dims_axis dim[HD_MAX_DIMS];
} hd__dims;

/* A place in a walk. The first place is {0}. */
typedef struct hd__dims_place {
    int64_t at[HD_MAX_DIMS];    /* the index in each dim */
    int64_t offset[HD__WALKED]; /* offset of each operand, in bytes */
} hd__dims_place;

/* Returns the stride, in elements, of x's dim d in a walk that has `size` places along this dim. It
 * is 0 if x lacks the dim (d < 0), or if x has size 1 there and is broadcast. */
static inline int64_t hd__dims_stride_over(const hd_tensor *x, int d, int64_t size)
{
    return d < 0 || (x->sizes[d] == 1 && size != 1) ? 0 : x->strides[d];
}

/* Makes w the walk over the shape sizes[ndim], to which the n tensors xs[] broadcast. The dims keep
 * their order. HD_NONE gets strides of 0. */
void hd__dims_make(hd__dims *w, int ndim, const int64_t *sizes, int n, hd_tensor *const *xs);

/* Makes w the walk over the shape of xs[0], to which the other tensors broadcast, with its dims
 * sorted and merged. w has at least one dim. If xs[0] has one element, that dim has size 1, and
 * every operand is dense along it. */
void hd__dims_of(hd__dims *w, int n, hd_tensor *const *xs);

void hd__dims_append(hd__dims *w, const hd__dims_axis *dim); /* adds an outermost dim */
hd__dims_axis hd__dims_take(hd__dims *w, int d);             /* removes dim d and returns it */

/* Sets operand i's strides to those of a dense array whose elements lie in the order of the walk,
 * `step` bytes apart. */
void hd__dims_dense(hd__dims *w, int i, int64_t step);

/* Sorts the dims by operand 0's absolute strides. The smallest becomes innermost; dims of equal
 * strides keep their order. */
void hd__dims_sort(hd__dims *w);

/* Sets y's strides so that y has no gaps, and its dims have the order of w's strides, as PyTorch's
 * TensorIterator does. y has as many dims as w.
 *
 * To decide which of two dims is the inner one, the function looks at the operands in order. It
 * skips an operand that has a stride of 0 in one of the two dims. If the operand's strides differ,
 * the dim with the smaller stride becomes the inner one. If they are equal, and the dim that is now
 * the inner one has the larger size, the two dims swap. Otherwise it looks at the next operand.
 * Dims that no operand decides keep their order. */
void hd__dims_lay_out(const hd__dims *w, hd_tensor *y);

/* Joins outer to inner and returns true if, in each operand, outer's stride is inner's size times
 * inner's stride. Otherwise changes nothing and returns false. */
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

/* Drops dims of size 1, and joins neighbouring dims where the strides allow it. The places keep
 * their offsets and their order. */
void hd__dims_merge(hd__dims *w);

/* Returns a dim along which operand i, with elements of `item` bytes, is dense. Returns 0 if
 * operand i is dense or repeated along the innermost dim, or if no such dim is long enough for
 * tiles. */
int hd__dims_across(const hd__dims *w, int i, int64_t item);

/* Returns the number of places in the walk, which is 1 if it has no dims. */
int64_t hd__dims_count(const hd__dims *w);

/* For assertions: true if a and b have the same number of places, and operand 0 has the same offset
 * at their last places. Sorting and merging dims keeps this true; losing a dim, or counting one
 * twice, does not. */
bool hd__dims_alike(const hd__dims *a, const hd__dims *b);

/* Sets *p to place number `flat` of the walk, with 0 <= flat < hd__dims_count(w). */
void hd__dims_seek(const hd__dims *w, int64_t flat, hd__dims_place *p);
/* Sets at[] to the index in each dim of place number `flat`. */
static inline void hd__dims_index(const hd__dims *w, int64_t flat, int64_t *at)
{
    for (int d = 0; d < w->ndim; d++) {
        int64_t size = w->dim[d].size, rest = flat < size ? 0 : flat / size;
        at[d] = flat - rest * size;
        flat = rest;
    }
}

/* Does the work of hd__dims_next for a p at the end of dim d. Moves p to the beginning of dim d,
 * and one step along the next outer dim that is not at its end. Returns false if there is no such
 * dim; then p is at the beginning of dim d and of all dims outside d. */
bool hd__dims_carry(const hd__dims *w, int d, hd__dims_place *p);
/* Moves p one step along dim d, and returns true. If p is at the end of dim d, moves it to the
 * beginning of dim d and one step along the next outer dim. p's index in the dims inside d does not
 * change. If p is at the end of dim d and of all dims outside d, moves it to the beginning of all
 * these dims and returns false. */
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
