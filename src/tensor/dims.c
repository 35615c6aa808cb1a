/* dims.c - makes, sorts, merges and steps through walks (dims.h). */
#include "tensor/dims.h"
#include "tensor/strides.h"

#include <stdlib.h>

#include "tensor/kernels/copy.h"

/* ---------------------------------------------------------------- making */

void hd__dims_make(hd__dims *w, int ndim, const int64_t *sizes, int n, hd_tensor *const *xs)
{
    w->n = n;
    w->ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        w->dim[d].size = sizes[ndim - 1 - d];
    }
    for (int i = 0; i < n; i++) {
        int64_t bytes = hd__tensor_bytes_of(xs[i]->dtype);
        for (int d = 0, own = xs[i]->ndim - 1; d < ndim; d++, own--) {
            /* A dim of size 1 may have any stride, even one whose bytes overflow. No walk uses
             * this stride. */
            (void)__builtin_mul_overflow(hd__dims_stride_over(xs[i], own, w->dim[d].size), bytes,
                                         &w->dim[d].stride[i]);
        }
    }
}

void hd__dims_of(hd__dims *w, int n, hd_tensor *const *xs)
{
    hd__dims_make(w, xs[0]->ndim, xs[0]->sizes, n, xs);
    hd__dims_sort(w);
    hd__dims_merge(w);
    if (w->ndim == 0) {
        w->ndim = 1;
        w->dim[0].size = 1;
        for (int i = 0; i < n; i++) {
            w->dim[0].stride[i] = hd__tensor_bytes_of(xs[i]->dtype);
        }
    }
}

void hd__dims_append(hd__dims *w, const hd__dims_axis *dim)
{
    w->dim[w->ndim++] = *dim;
}

hd__dims_axis hd__dims_take(hd__dims *w, int d)
{
    hd__dims_axis dim = w->dim[d];
    w->ndim--;
    memmove(&w->dim[d], &w->dim[d + 1], sizeof dim * (size_t)(w->ndim - d));
    return dim;
}

void hd__dims_dense(hd__dims *w, int i, int64_t step)
{
    for (int d = 0; d < w->ndim; d++) {
        w->dim[d].stride[i] = step;
        step *= w->dim[d].size;
    }
}

/* ---------------------------------------------------------------- sorting and merging */

void hd__dims_sort(hd__dims *w)
{
    for (int i = 1; i < w->ndim; i++) {
        hd__dims_axis *dim = &w->dim[i];
        for (; dim > w->dim && llabs(dim[0].stride[0]) < llabs(dim[-1].stride[0]); dim--) {
            hd__dims_axis inner = dim[0];
            dim[0] = dim[-1];
            dim[-1] = inner;
        }
    }
}

/* Returns a negative number if dim a belongs inside dim b, a positive one if a belongs outside b,
 * and 0 if no operand decides. hd__dims_lay_out in dims.h states the rule. */
static int compare_dims(const hd__dims_axis *a, const hd__dims_axis *b, int n)
{
    for (int i = 0; i < n; i++) {
        int64_t sa = a->stride[i], sb = b->stride[i];
        if (sa != sb && sa != 0 && sb != 0) {
            return sa < sb ? -1 : 1;
        }
        if (sa == sb && sa != 0 && a->size > b->size) {
            return 1;
        }
    }
    return 0;
}

/* This is an insertion sort. It skips a pair of dims if no operand decides their order. */
void hd__dims_lay_out(const hd__dims *w, hd_tensor *y)
{
    const hd__dims_axis *order[HD_MAX_DIMS]; /* w's dims, the innermost first */
    int64_t stride = 1;
    for (int i = 0; i < w->ndim; i++) {
        const hd__dims_axis *dim = order[i] = &w->dim[i];
        for (int at = i, j = i - 1; j >= 0; j--) {
            int c = compare_dims(order[j], dim, w->n);
            if (c < 0) {
                break;
            }
            if (c > 0) {
                order[at] = order[j];
                order[j] = dim;
                at = j;
            }
        }
    }
    for (int i = 0; i < w->ndim; i++) {
        int64_t d = w->ndim - 1 - (order[i] - w->dim);
        y->strides[d] = stride;
        stride *= y->sizes[d] > 1 ? y->sizes[d] : 1;
    }
    hd__tensor_geometry_changed(y);
}

void hd__dims_merge(hd__dims *w)
{
    int n = 0;
    for (int d = 0; d < w->ndim; d++) {
        const hd__dims_axis *dim = &w->dim[d];
        if (dim->size != 1 && (n == 0 || !hd__dims_join(&w->dim[n - 1], dim, w->n))) {
            w->dim[n++] = *dim;
        }
    }
    w->ndim = n;
}

int hd__dims_across(const hd__dims *w, int i, int64_t item)
{
    if (w->dim[0].stride[i] != item && w->dim[0].stride[i] != 0) {
        for (int d = 1; d < w->ndim; d++) {
            if (w->dim[d].stride[i] == item && w->dim[d].size >= HDK_STRIP / 2) {
                return d;
            }
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- walking */

int64_t hd__dims_count(const hd__dims *w)
{
    int64_t count = 1;
    for (int d = 0; d < w->ndim; d++) {
        count *= w->dim[d].size;
    }
    return count;
}

#ifdef HD__ASSERT
bool hd__dims_alike(const hd__dims *a, const hd__dims *b)
{
    hd__dims_place in_a, in_b;
    int64_t n = hd__dims_count(a);
    if (n != 0 && n == hd__dims_count(b)) {
        hd__dims_seek(a, n - 1, &in_a);
        hd__dims_seek(b, n - 1, &in_b);
        return in_a.offset[0] == in_b.offset[0];
    }
    return n == hd__dims_count(b);
}
#endif

void hd__dims_seek(const hd__dims *w, int64_t flat, hd__dims_place *p)
{
    hd__dims_index(w, flat, p->at);
    for (int i = 0; i < w->n; i++) {
        int64_t offset = 0;
        for (int d = 0; d < w->ndim; d++) {
            offset += p->at[d] * w->dim[d].stride[i];
        }
        p->offset[i] = offset;
    }
}

bool hd__dims_carry(const hd__dims *w, int d, hd__dims_place *p)
{
    for (; d < w->ndim; d++) {
        const hd__dims_axis *dim = &w->dim[d];
        bool last = p->at[d] + 1 == dim->size;
        int64_t step = last ? -p->at[d] : 1;
        for (int i = 0; i < w->n; i++) {
            p->offset[i] += step * dim->stride[i];
        }
        p->at[d] += step;
        if (!last) {
            return true;
        }
    }
    return false;
}
