/* dims.h - the sizes and strides of operands that are walked together: a value with a few verbs.
 *
 * Strides are in bytes, so that no verb asks for a dtype. Dims lie innermost first: a walk in order
 * goes through dim 0 fastest. Whoever walks adds a place's offsets to pointers of his own. */
#ifndef HEED_TENSOR_DIMS_H
#define HEED_TENSOR_DIMS_H

#include "tensor/tensor_internal.h"

enum { HD__WALKED = 4 }; /* operands at most */

typedef struct hd__axis {
    int64_t size, stride[HD__WALKED]; /* 0: the operand is the same all along this dim */
} hd__axis;

typedef struct hd__dims {
    int n, ndim; /* operands, dims */
    hd__axis dim[HD_MAX_DIMS];
} hd__dims;

/* Where a walk stands; {0} is the first place. */
typedef struct hd__place {
    int64_t at[HD_MAX_DIMS], offset[HD__WALKED]; /* the index in each dim; bytes */
} hd__place;

/* x's stride, in elements, along its dim d, in a walk over a result of this size there: 0 where x
 * is spread over the result, because it has size 1 or lacks the dim (d < 0). */
static inline int64_t hd__stride_over(const hd_tensor *x, int d, int64_t size)
{
    return d < 0 || (x->sizes[d] == 1 && size != 1) ? 0 : x->strides[d];
}

/* The dims of a shape that the tensors broadcast to, in its order; HD_NONE stands still. */
void hd__dims_make(hd__dims *w, int ndim, const int64_t *sizes, int n, hd_tensor *const *xs);

/* The dims of xs[0], which the others broadcast to, sorted and merged for a loop over its elements.
 * There is at least one; that of a single element has the strides of a dense array. */
void hd__dims_of(hd__dims *w, int n, hd_tensor *const *xs);

void hd__dims_append(hd__dims *w, const hd__axis *dim); /* outside the others */
hd__axis hd__dims_take(hd__dims *w, int d);             /* removes dim d */

/* Gives operand i the strides of an array that the walk goes through in order, `step` apart. */
void hd__dims_dense(hd__dims *w, int i, int64_t step);

/* By the size of operand 0's strides: the smallest is innermost. Equal ones keep their order. */
void hd__dims_sort(hd__dims *w);

/* Lays y, which has as many dims, out without gaps in the order of these: the first operand that
 * moves along two dims says which one is inside, and of equal strides that of the larger size is
 * outside, as in PyTorch's TensorIterator. Dims of which none says anything keep y's order. */
void hd__dims_lay_out(const hd__dims *w, hd_tensor *y);

/* If every stride of outer goes on from inner's, inner becomes both. */
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

/* Drops dims of size 1 and joins neighbours. The walk goes through the same offsets in the same
 * order. */
void hd__dims_merge(hd__dims *w);

/* How many places there are; 1 without dims. */
int64_t hd__dims_count(const hd__dims *w);

/* The place that a walk in order reaches after `flat` others, 0 <= flat < count; and its indices
 * alone. */
void hd__dims_seek(const hd__dims *w, int64_t flat, hd__place *p);
static inline void hd__dims_index(const hd__dims *w, int64_t flat, int64_t *at)
{
    for (int d = 0; d < w->ndim; d++) {
        int64_t size = w->dim[d].size, rest = flat < size ? 0 : flat / size;
        at[d] = flat - rest * size;
        flat = rest;
    }
}

/* Goes on by one in dim d, or in the next one outside it where dim d ends. False after the last
 * place, and the walk stands at the first one again. Dims inside d are not touched. */
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
