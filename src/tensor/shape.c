/* shape.c - shapes: their texts, the checks of arguments, and NumPy's rules of broadcasting. */
#include <inttypes.h>

#include "tensor/dims.h"
#include "tensor/shape.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- texts and arguments */

const char *hd__tensor_shape_text(const hd_tensor *x, char text[HD__SHAPE_TEXT])
{
    return hd__text_of_sizes(x->ndim, x->sizes, text);
}

const char *hd__tensor_index_text(const hd_tensor *x, int64_t flat, char text[HD__SHAPE_TEXT])
{
    int64_t index[HD_MAX_DIMS];
    for (int d = x->ndim - 1; d >= 0; d--) {
        index[d] = flat % x->sizes[d];
        flat /= x->sizes[d];
    }
    return hd__text_of_sizes(x->ndim, index, text);
}

/* Sets the error and returns -1. It is a function of its own, so that hd__tensor_dim needs no stack
 * for the text. */
static __attribute__((noinline)) int dim_fail(const hd_tensor *x, int64_t dim, int n)
{
    hd_fail(HD_INDEX, "dim %" PRId64 " of %s: expected %d to %d", dim, HD__SHAPE(x), -n, n - 1);
    return -1;
}

int hd__tensor_dim(const hd_tensor *x, int64_t dim)
{
    int n = x->ndim > 0 ? x->ndim : 1;
    if (dim < -n || dim >= n) {
        return dim_fail(x, dim, n);
    }
    return (int)(dim < 0 ? dim + n : dim);
}

int64_t hd__tensor_index_at(const hd_tensor *x, int d, int64_t index)
{
    int64_t size = x->sizes[d], at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
        hd_fail(HD_INDEX, "index %" PRId64 " at dim %d of %s: expected %" PRId64 " to %" PRId64,
                index, d, HD__SHAPE(x), -size, size - 1);
        return -1;
    }
    return at;
}

int hd__tensor_dim_of(const hd_tensor *x, int64_t dim)
{
    return hd__tensor_arg("x", x) ? hd__tensor_dim(x, dim) : -1;
}

uint32_t hd__tensor_dim_mask(const hd_tensor *x, int64_t dim)
{
    int at = hd__tensor_dim_of(x, dim);
    return at < 0 ? 0 : 1u << at;
}

uint32_t hd__dims_mask(const hd_tensor *x, int n, const int64_t *dims)
{
    return hd__tensor_arg("x", x) ? hd__dims_listed(x, n, dims) : 0;
}

uint32_t hd__dims_listed(const hd_tensor *x, int n, const int64_t *dims)
{
    if (n < 0 || (n > 0 && !dims)) {
        hd__arg_null_arg("dims");
        return 0;
    }
    uint32_t mask = n == 0 ? hd__tensor_all_dims(x) : 0;
    for (int i = 0; i < n; i++) {
        int dim = hd__tensor_dim(x, dims[i]);
        if (dim < 0) {
            return 0;
        }
        if (mask & 1u << dim) {
            hd_fail(HD_INDEX, "dim %d of %s appears twice: expected distinct dims", dim,
                    HD__SHAPE(x));
            return 0;
        }
        mask |= 1u << dim;
    }
    return mask;
}

/* ---------------------------------------------------------------- broadcasting */

static void broadcast_fail(int n, hd_tensor *const *xs, int from_end, int64_t a, int64_t b)
{
    char text[4 * HD__SHAPE_TEXT] = "";
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (!hd__tensor_is_none(xs[i])) {
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? " and " : "",
                                   HD__SHAPE(xs[i]));
            at = at < sizeof text ? at : sizeof text - 1;
        }
    }
    hd_fail(HD_SHAPE, "%s: sizes %" PRId64 " and %" PRId64 " at dim -%d do not broadcast", text, a,
            b, from_end);
}

int hd__tensor_broadcast_with(int *ndim, int64_t *sizes, int n, const int64_t *others)
{
    int both = n < *ndim ? n : *ndim, lead = n - both;
    if (lead > 0) {
        memmove(sizes + lead, sizes, sizeof *sizes * (size_t)both);
        memcpy(sizes, others, sizeof *sizes * (size_t)lead);
        *ndim = n;
    }
    for (int d = both; d > 0; d--) {
        int64_t *size = &sizes[*ndim - d], other = others[n - d];
        if (*size != other && other != 1) {
            if (*size != 1) {
                return d;
            }
            *size = other;
        }
    }
    return 0;
}

bool hd__tensor_spreads_to(int n, const int64_t *sizes, int to_n, const int64_t *to)
{
    bool fits = n <= to_n;
    for (int d = 1; fits && d <= n; d++) {
        fits = sizes[n - d] == 1 || sizes[n - d] == to[to_n - d];
    }
    return fits;
}

bool hd__tensor_broadcast(int n, hd_tensor *const *xs, int *ndim, int64_t *sizes)
{
    *ndim = 0;
    for (int i = 0; i < n; i++) {
        int bad = hd__tensor_is_none(xs[i])
                      ? 0
                      : hd__tensor_broadcast_with(ndim, sizes, xs[i]->ndim, xs[i]->sizes);
        if (bad > 0) {
            broadcast_fail(n, xs, bad, sizes[*ndim - bad], xs[i]->sizes[xs[i]->ndim - bad]);
            return false;
        }
    }
    return true;
}
