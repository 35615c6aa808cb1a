/* dims.h - the sizes and strides of operands that are walked together, as a value.
 *
 * It is made from tensors or dim by dim, then sorted and merged, and walked place by place. Strides
 * are in bytes, so that no function asks for a dtype. Dim 0 is the innermost one: a walk in order
 * goes through it fastest. A walk gives offsets; the caller adds them to the operands' pointers. */
#ifndef HEED_TENSOR_DIMS_H
#define HEED_TENSOR_DIMS_H

#include "tensor/tensor_struct.h"

enum { HD__WALKED = 4 }; /* operands of one walk at most */

typedef struct hd__axis {
    int64_t size, stride[HD__WALKED]; /* stride 0: the operand repeats itself along the dim */
} hd__axis;

typedef struct hd__dims {
    int n, ndim; /* how many operands, and how many dims */
    hd__axis dim[HD_MAX_DIMS];
} hd__dims;

/* Where a walk stands; {0} is the first place. */
typedef struct hd__place {
    int64_t at[HD_MAX_DIMS];    /* the index in each dim */
    int64_t offset[HD__WALKED]; /* of each operand, in bytes */
} hd__place;

/* The stride, in elements, of x along its dim d, where the walk has this size: 0 if x is spread
 * over the walk, because it has size 1 there or lacks the dim (d < 0). */
static inline int64_t hd__stride_over(const hd_tensor *x, int d, int64_t size)
{
    return d < 0 || (x->sizes[d] == 1 && size != 1) ? 0 : x->strides[d];
}

/* The dims of a shape that the tensors broadcast to, in its order. HD_NONE does not move. */
void hd__dims_make(hd__dims *w, int ndim, const int64_t *sizes, int n, hd_tensor *const *xs);

/* The dims of xs[0], which the others broadcast to, sorted and merged for a loop over its elements.
 * There is at least one dim; for a single element its strides are those of a dense array. */
void hd__dims_of(hd__dims *w, int n, hd_tensor *const *xs);

void hd__dims_append(hd__dims *w, const hd__axis *dim); /* outside the others */
hd__axis hd__dims_take(hd__dims *w, int d);             /* removes dim d */

/* Gives operand i the strides of an array whose elements, `step` bytes apart, the walk goes through
 * in order. */
void hd__dims_dense(hd__dims *w, int i, int64_t step);

/* Sorts by the absolute strides of operand 0: the smallest becomes innermost, equal ones keep their
 * order. */
void hd__dims_sort(hd__dims *w);

/* Lays y, which has as many dims, out without gaps and in the order of w's strides, as PyTorch's
 * TensorIterator does. Of two dims, the one with the smaller stride is inside; the first operand
 * that moves along both decides. If its strides are equal, the larger size is outside, or the next
 * operand decides. Dims that no operand decides keep their order. */
void hd__dims_lay_out(const hd__dims *w, hd_tensor *y);

/* Joins two dims into inner, if each operand's stride along outer continues that along inner. */
static inline bool hd__dims_join(hd__axis *inner, const hd__axis *outer, int n)
{
    for (int i = 0; i < n; i++) {
        if (outer->stride[i] != inner->size * inner->stride[i]) {
            return false;
        }
    }
    inner->size *= outer->size;
    return true;
}

/* Drops dims of size 1 and joins neighbours. The walk visits the same offsets in the same order. */
void hd__dims_merge(hd__dims *w);

/* The dim in which operand i, of `item` bytes an element, has its elements as neighbours. Returns 0
 * if that is the innermost one, or if there is none that is long enough for tiles. */
int hd__dims_across(const hd__dims *w, int i, int64_t item);

/* The number of places; 1 if there are no dims. */
int64_t hd__dims_count(const hd__dims *w);

/* For assertions: have a and b as many places, and operand 0 the same last one? So it is after
 * dims were put into another order or merged, and not if one was left out or taken twice. */
bool hd__dims_alike(const hd__dims *a, const hd__dims *b);

/* The place number `flat` of a walk in order, 0 <= flat < count; index: its indices only. */
void hd__dims_seek(const hd__dims *w, int64_t flat, hd__place *p);
static inline void hd__dims_index(const hd__dims *w, int64_t flat, int64_t *at)
{
    for (int d = 0; d < w->ndim; d++) {
        int64_t size = w->dim[d].size, rest = flat < size ? 0 : flat / size;
        at[d] = flat - rest * size;
        flat = rest;
    }
}

/* Goes on by one in dim d or, at its end, in the next one outside it; dims inside d stay as they
 * are. After the last place it returns false, and the walk is at the first place again. */
bool hd__dims_carry(const hd__dims *w, int d, hd__place *p);
static inline bool hd__dims_next(const hd__dims *w, int d, hd__place *p)
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
