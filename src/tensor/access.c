/* access.c - reading a tensor's shape and its elements, and writing elements unrecorded. */
#include <inttypes.h>
#include <math.h>

#include "tensor/tensor_internal.h"

/* ---------------------------------------------------------------- shape */

int hd_ndim(const hd_tensor *x)
{
    return hd__arg("hd_ndim", "x", x) ? x->ndim : -1;
}

/* dim, counted from the front, or -1; a 0-d x has none. */
static int own_dim(const char *function, const hd_tensor *x, int dim)
{
    if (!hd__arg(function, "x", x)) {
        return -1;
    }
    if (x->ndim == 0) {
        hd_error_set(HD_INDEX, "%s: dim %d of (): expected a tensor with dimensions", function,
                     dim);
        return -1;
    }
    return hd__dim(function, x, dim);
}

int64_t hd_size(const hd_tensor *x, int dim)
{
    int d = own_dim("hd_size", x, dim);
    return d < 0 ? -1 : x->sizes[d];
}

int64_t hd_stride(const hd_tensor *x, int dim)
{
    int d = own_dim("hd_stride", x, dim);
    return d < 0 ? INT64_MIN : x->strides[d];
}

const int64_t *hd_sizes(const hd_tensor *x)
{
    return hd__arg("hd_sizes", "x", x) ? x->sizes : NULL;
}

const int64_t *hd_strides(const hd_tensor *x)
{
    return hd__arg("hd_strides", "x", x) ? x->strides : NULL;
}

int64_t hd_numel(const hd_tensor *x)
{
    return hd__arg("hd_numel", "x", x) ? x->numel : -1;
}

int64_t hd_storage_offset(const hd_tensor *x)
{
    return hd__arg("hd_storage_offset", "x", x) ? x->offset : -1;
}

hd_dtype hd_dtype_of(const hd_tensor *x)
{
    return hd__arg("hd_dtype_of", "x", x) ? x->dtype : HD_FLOAT32;
}

bool hd_is_contiguous(const hd_tensor *x)
{
    return hd__arg("hd_is_contiguous", "x", x) && hd__contig(x);
}

bool hd_shares_storage(const hd_tensor *a, const hd_tensor *b)
{
    return hd__arg("hd_shares_storage", "a", a) && hd__arg("hd_shares_storage", "b", b) &&
           a->storage == b->storage;
}

int64_t hd_version_of(const hd_tensor *x)
{
    return hd__arg("hd_version_of", "x", x) ? (int64_t)hd__storage_version(x) : -1;
}

const void *hd_data(const hd_tensor *x)
{
    return hd__arg("hd_data", "x", x) ? hd__ptr(x) : NULL;
}

bool hd__may_write(const char *function, hd_tensor *x)
{
    return hd__arg(function, "x", x) && hd__write_ok(function, x);
}

void *hd_data_mut(hd_tensor *x)
{
    if (!hd__may_write("hd_data_mut", x)) {
        return NULL;
    }
    hd__changes("hd_data_mut", x);
    hd__bump(x);
    return hd__ptr(x);
}

/* ---------------------------------------------------------------- elements */

static hd_scalar load(const hd_tensor *x, int64_t at)
{
    const void *data = x->storage->data;
    switch (x->dtype) {
    case HD_FLOAT32: return hd_scalar_double(((const float *)data)[at]);
    case HD_FLOAT64: return hd_scalar_double(((const double *)data)[at]);
    case HD_INT64: return hd_scalar_int(((const int64_t *)data)[at]);
    case HD_BOOL: return hd_scalar_int(((const uint8_t *)data)[at]);
    }
    return hd_scalar_int(0);
}

/* Numbers that int64 does not hold become INT64_MIN. */
static int64_t clipped_int(hd_scalar s)
{
    if (s.is_int) {
        return s.v.i;
    }
    return s.v.d >= -0x1p63 && s.v.d < 0x1p63 ? (int64_t)s.v.d : INT64_MIN;
}

static bool one_element(const char *function, const hd_tensor *x)
{
    if (!hd__arg(function, "x", x)) {
        return false;
    }
    if (x->numel != 1) {
        return hd_error_set(HD_SHAPE, "%s: %s has %" PRId64 " elements: expected one", function,
                            HD__SHAPE(x), x->numel);
    }
    return true;
}

double hd_item(const hd_tensor *x)
{
    return one_element("hd_item", x) ? hd__scalar_double(load(x, x->offset)) : NAN;
}

int64_t hd_item_int(const hd_tensor *x)
{
    return one_element("hd_item_int", x) ? clipped_int(load(x, x->offset)) : INT64_MIN;
}

/* The place of the element at index in the storage, counted in elements; -1 with the error set. */
static int64_t locate(const char *function, const hd_tensor *x, int n, const int64_t *index)
{
    if (!hd__arg(function, "x", x)) {
        return -1;
    }
    if (n > 0 && !index) {
        hd__null_arg(function, "index");
        return -1;
    }
    if (n != x->ndim) {
        hd_error_set(HD_INDEX, "%s: %d indices into %s: expected %d", function, n, HD__SHAPE(x),
                     x->ndim);
        return -1;
    }
    int64_t at = x->offset;
    for (int d = 0; d < n; d++) {
        int64_t i = index[d] < 0 ? index[d] + x->sizes[d] : index[d];
        if (i < 0 || i >= x->sizes[d]) {
            hd_error_set(HD_INDEX,
                         "%s: index %" PRId64 " at dim %d of %s: expected %" PRId64 " to %" PRId64,
                         function, index[d], d, HD__SHAPE(x), -x->sizes[d], x->sizes[d] - 1);
            return -1;
        }
        at += i * x->strides[d];
    }
    return at;
}

double hd_get_n(const hd_tensor *x, int n, const int64_t *index)
{
    int64_t at = locate("hd_get", x, n, index);
    return at < 0 ? NAN : hd__scalar_double(load(x, at));
}

int64_t hd_get_int_n(const hd_tensor *x, int n, const int64_t *index)
{
    int64_t at = locate("hd_get_int", x, n, index);
    return at < 0 ? INT64_MIN : clipped_int(load(x, at));
}

bool(hd_set_n)(hd_tensor *x, hd_scalar value, int n, const int64_t *index)
{
    int64_t at = locate("hd_set", x, n, index);
    if (at < 0 || !hd__scalar_fits("hd_set", x->dtype, value) || !hd__write_ok("hd_set", x)) {
        return false;
    }
    hd_tensor one = {.dtype = x->dtype, .storage = x->storage, .offset = at, .numel = 1};
    hd__changes("hd_set", x);
    hd__bump(x);
    hd__fill(&one, value);
    return true;
}
