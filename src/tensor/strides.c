/* strides.c - strides, and PyTorch's rule for views without a copy. */
#include <inttypes.h>

#include "tensor/dims.h"
#include "tensor/shape.h"
#include "tensor/strides.h"

void hd__tensor_default_strides(int ndim, const int64_t *sizes, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= sizes[i] > 1 ? sizes[i] : 1;
    }
}

#ifdef HD__ASSERT
bool hd__tensor_inside_storage(const hd_tensor *x)
{
    int64_t first = x->offset, last = first;
    for (int d = 0; x->numel > 0 && d < x->ndim; d++) {
        int64_t way = (x->sizes[d] - 1) * x->strides[d];
        *(way < 0 ? &first : &last) += way;
    }
    return x->numel == 0 ||
           (first >= 0 && last < (int64_t)x->storage->nbytes / hd__tensor_bytes_of(x->dtype));
}
#endif

void hd__tensor_geometry_changed(hd_tensor *x)
{
    int64_t numel = 1;
    bool contiguous = true;
    for (int i = x->ndim - 1; i >= 0; i--) {
        contiguous &= x->sizes[i] == 1 || x->strides[i] == numel;
        numel *= x->sizes[i];
    }
    x->numel = numel;
    contiguous |= numel == 0;
    x->flags = (uint8_t)((x->flags & ~HD__F_CONTIGUOUS) | (contiguous ? HD__F_CONTIGUOUS : 0));
    hd__assert(hd__tensor_inside_storage(x));
}

bool hd__tensor_overlaps_itself(const hd_tensor *x)
{
    for (int i = 0; i < x->ndim; i++) {
        if (x->sizes[i] > 1 && x->strides[i] == 0) {
            return x->numel > 0;
        }
    }
    return false;
}

/* Groups x's dims, from the last to the first, into runs. The elements of a run lie in memory at
 * even steps. Splits each run into dims of the view. Dims of size 1 get the strides that they have
 * in PyTorch. */
bool hd__tensor_view_strides(const hd_tensor *x, int ndim, const int64_t *sizes, int64_t *strides)
{
    if (x->numel == 0 && hd__tensor_has_sizes(x, ndim, sizes)) {
        memcpy(strides, x->strides, sizeof *strides * (size_t)ndim);
        return true;
    }
    if (x->numel == 0 || x->ndim == 0) {
        hd__tensor_default_strides(ndim, sizes, strides);
        return true;
    }
    int v = ndim - 1;
    int64_t base = x->strides[x->ndim - 1], run = 1;
    for (int d = x->ndim - 1; d >= 0; d--) {
        run *= x->sizes[d];
        bool ends = d == 0 || (x->sizes[d - 1] != 1 && x->strides[d - 1] != run * base);
        if (!ends) {
            continue;
        }
        int64_t filled = 1;
        while (v >= 0 && (filled < run || sizes[v] == 1)) {
            strides[v] = filled * base;
            filled *= sizes[v--];
        }
        if (filled != run) {
            return false;
        }
        if (d > 0) {
            base = x->strides[d - 1];
            run = 1;
        }
    }
    return v == -1;
}

/* True if the strides of an empty tensor of these sizes do not overflow; otherwise false with
 * HD_MEMORY. A size of 0 counts as 1, as in hd_zeros. */
static bool empty_fits(const hd_tensor *x, int n, const int64_t *sizes)
{
    int64_t reach = 2 * hd__tensor_bytes_of(x->dtype);
    for (int i = 0; i < n; i++) {
        if (__builtin_mul_overflow(reach, sizes[i] ? sizes[i] : 1, &reach)) {
            return hd_fail(HD_MEMORY, "%s as %s: the size overflows", HD__SHAPE(x),
                           HD__SIZES(n, sizes));
        }
    }
    return true;
}

bool hd__tensor_infer_sizes(const hd_tensor *x, int n, const int64_t *sizes, int64_t *out)
{
    int unknown = -1;
    int64_t product = 1;
    if (!hd__tensor_sizes_arg(n, sizes)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        out[i] = sizes[i];
        if (sizes[i] == -1 && unknown < 0) {
            unknown = i;
        } else if (sizes[i] < 0) {
            return hd_fail(HD_SHAPE, "%s as %s: expected sizes of 0 or more and at most one -1",
                           HD__SHAPE(x), HD__SIZES(n, sizes));
        } else if (__builtin_mul_overflow(product, sizes[i], &product)) {
            product = -1;
            break;
        }
    }
    bool fits = unknown < 0 ? product == x->numel : product > 0 && x->numel % product == 0;
    if (!fits) {
        return hd_fail(HD_SHAPE, "%s as %s: the %" PRId64 " elements do not fit", HD__SHAPE(x),
                       HD__SIZES(n, sizes), x->numel);
    }
    if (unknown >= 0) {
        out[unknown] = x->numel / product;
    }
    return x->numel > 0 || empty_fits(x, n, out);
}

/* ---------------------------------------------------------------- another tensor's layout */

bool hd__tensor_dense(const hd_tensor *x)
{
    int64_t stride = 1;
    for (int found = 0; found < x->ndim; found++) {
        int d = 0;
        while (d < x->ndim && (x->sizes[d] == 1 || x->strides[d] != stride)) {
            d++;
        }
        if (d == x->ndim) {
            break;
        }
        stride *= x->sizes[d];
    }
    return stride == x->numel;
}

hd_tensor *hd__tensor_laid_out_as(hd_tensor *y, const hd_tensor *x)
{
    /* As in PyTorch, y gets x's strides even if x is empty, and even those of dims of size 1. */
    if (y && hd__tensor_same_shape(x, y) && (y->numel == 0 || hd__tensor_dense(x))) {
        memcpy(y->strides, x->strides, sizeof y->strides);
        hd__tensor_geometry_changed(y);
        return y;
    }
    if (y && !hd__tensor_contig(x) && x->ndim == y->ndim) {
        hd__dims w;
        hd__dims_make(&w, x->ndim, x->sizes, 1, (hd_tensor *[]){(hd_tensor *)x});
        hd__dims_lay_out(&w, y);
    }
    return y;
}
