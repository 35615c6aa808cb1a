/* access.c - reads a tensor's shape and its elements, and writes elements outside the graph. */
#include <inttypes.h>
#include <math.h>

#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/tensor_args.h"

int64_t hd__tensor_version_of(const hd_tensor *x)
{
    return hd__tensor_storage_version(x);
}

hd__tensor_grad_use *hd__tensor_grad_use_of(const hd_tensor *p, int64_t *version)
{
    return p->attachment ? p->attachment_ops->grad_use(p->attachment, version) : NULL;
}

/* ---------------------------------------------------------------- shape */

int hd_ndim(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_ndim", x) ? x->ndim : -1;
}

/* Returns dim counted from the front. Returns -1 with an error if x or dim is wrong; a 0-d x has no
 * dims. */
static inline int own_dim(const hd_tensor *x, int dim)
{
    bool ok =
        hd__tensor_any_arg("x", x, false) &&
        (x->ndim > 0 || hd_fail(HD_INDEX, "dim %d of (): expected a tensor with dimensions", dim));
    return ok ? hd__tensor_dim(x, dim) : -1;
}

int64_t hd_size(const hd_tensor *x, int dim)
{
    HD__CALL("hd_size");
    int d = own_dim(x, dim);
    return d < 0 ? -1 : x->sizes[d];
}

int64_t hd_stride(const hd_tensor *x, int dim)
{
    HD__CALL("hd_stride");
    int d = own_dim(x, dim);
    return d < 0 ? INT64_MIN : x->strides[d];
}

const int64_t *hd_sizes(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_sizes", x) ? x->sizes : NULL;
}

const int64_t *hd_strides(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_strides", x) ? x->strides : NULL;
}

int64_t hd_numel(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_numel", x) ? x->numel : -1;
}

int64_t hd_storage_offset(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_storage_offset", x) ? x->offset : -1;
}

hd_dtype hd_dtype_of(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_dtype_of", x) ? x->dtype : HD_FLOAT32;
}

bool hd_is_contiguous(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_is_contiguous", x) && hd__tensor_contig(x);
}

bool hd_shares_storage(const hd_tensor *a, const hd_tensor *b)
{
    HD__CALL("hd_shares_storage");
    return hd__tensor_any_arg("a", a, false) && hd__tensor_any_arg("b", b, false) &&
           a->storage == b->storage;
}

int64_t hd_version_of(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_version_of", x) ? (int64_t)hd__tensor_storage_version(x) : -1;
}

const void *hd_data(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_data", x) ? hd__tensor_ptr(x) : NULL;
}

bool hd__tensor_may_write(hd_tensor *x)
{
    return hd__tensor_any_arg("x", x, false) && hd__tensor_write_ok("x", x);
}

void hd__tensor_tell_change(hd_tensor *x)
{
    hd__events->changes(x);
}

void *hd_data_mut(hd_tensor *x)
{
    HD__CALL("hd_data_mut");
    if (!hd__tensor_may_write(x)) {
        return NULL;
    }
    hd__tensor_changes(x);
    hd__tensor_bump(x);
    return hd__tensor_ptr(x);
}

/* ---------------------------------------------------------------- elements */

static hd_scalar load(const hd_tensor *x, int64_t at)
{
    return hd__tensor_holds_floats(x->dtype) ? hd_scalar_double(hd__tensor_float_at(x, at))
                                             : hd_scalar_int(hd__tensor_int_at(x, at));
}

/* number_at and integer_at return element number `at` of x's storage. If at is -1, because a check
 * has failed, they return NaN and INT64_MIN. */
static double number_at(const hd_tensor *x, int64_t at)
{
    return at < 0 ? NAN : hd__tensor_scalar_double(load(x, at));
}

static int64_t integer_at(const hd_tensor *x, int64_t at)
{
    return at < 0 ? INT64_MIN : hd__tensor_scalar_int(load(x, at));
}

/* Returns the position of x's only element in the storage, in elements. Returns -1 with an error if
 * x is wrong or does not have exactly one element. */
static int64_t locate_one(const hd_tensor *x)
{
    bool one = hd__tensor_any_arg("x", x, false) &&
               (x->numel == 1 || hd_fail(HD_SHAPE, "%s has %" PRId64 " elements: expected one",
                                         HD__SHAPE(x), x->numel));
    return one ? x->offset : -1;
}

double hd_item(const hd_tensor *x)
{
    HD__CALL("hd_item");
    return number_at(x, locate_one(x));
}

int64_t hd_item_int(const hd_tensor *x)
{
    HD__CALL("hd_item_int");
    return integer_at(x, locate_one(x));
}

/* Returns the position in x's storage, in elements, of the element at index[n]. Returns -1 with an
 * error if an argument is wrong. */
static int64_t locate(const hd_tensor *x, int n, const int64_t *index)
{
    bool ok = hd__tensor_any_arg("x", x, false) && (n <= 0 || hd__arg_given("index", index)) &&
              (n == x->ndim ||
               hd_fail(HD_INDEX, "%d indices into %s: expected %d", n, HD__SHAPE(x), x->ndim));
    int64_t at = ok ? x->offset : -1;
    for (int d = 0; ok && d < n; d++) {
        int64_t i = hd__tensor_index_at(x, d, index[d]);
        if (i < 0) {
            return -1;
        }
        at += i * x->strides[d];
    }
    return at;
}

double hd_get_n(const hd_tensor *x, int n, const int64_t *index)
{
    HD__CALL("hd_get");
    return number_at(x, locate(x, n, index));
}

int64_t hd_get_int_n(const hd_tensor *x, int n, const int64_t *index)
{
    HD__CALL("hd_get_int");
    return integer_at(x, locate(x, n, index));
}

bool(hd_set_n)(hd_tensor *x, hd_scalar value, int n, const int64_t *index)
{
    HD__CALL("hd_set");
    int64_t at = locate(x, n, index);
    if (at < 0 || !hd__tensor_scalar_fits(x->dtype, value) || !hd__tensor_write_ok("x", x)) {
        return false;
    }
    hd_tensor one = {.dtype = x->dtype, .storage = x->storage, .offset = at, .numel = 1};
    hd__tensor_changes(x);
    hd__tensor_bump(x);
    hd__tensor_fill(&one, value);
    return true;
}
