/* shape.c - arguments, shapes and dtypes: their checks and texts, and the rules of broadcasting
 * (NumPy's), of promotion (PyTorch's) and of views without copies. */
#include <inttypes.h>

#include "tensor/dims.h"

/* ---------------------------------------------------------------- texts and arguments */

const char *hd__shape_text(const hd_tensor *x, char text[HD__SHAPE_TEXT])
{
    return hd__sizes_text(x->ndim, x->sizes, text);
}

const char *hd__index_text(const hd_tensor *x, int64_t flat, char text[HD__SHAPE_TEXT])
{
    int64_t index[HD_MAX_DIMS];
    for (int d = x->ndim - 1; d >= 0; d--) {
        index[d] = flat % x->sizes[d];
        flat /= x->sizes[d];
    }
    return hd__sizes_text(x->ndim, index, text);
}

const char *hd_dtype_name(hd_dtype d)
{
    static const char *const names[] = {"float32", "float64", "int64", "bool", "bfloat16"};
    return (unsigned)d <= HD_BFLOAT16 ? names[d] : "?";
}

int64_t hd_dtype_size(hd_dtype d)
{
    return (unsigned)d <= HD_BFLOAT16 ? hd__bytes_of(d) : -1;
}

bool hd__dtype_fail(int d)
{
    return hd__fail(
        HD_DTYPE, "dtype %d: expected HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL or HD_BFLOAT16", d);
}

bool hd__float_dtype(int d)
{
    return hd__dtype_arg(d) &&
           (hd__is_float(d) ||
            hd__fail(HD_DTYPE, "%s: expected float32 or float64", hd_dtype_name((hd_dtype)d)));
}

bool hd__dtype_is(const char *arg, const hd_tensor *x, hd_dtype d)
{
    return x->dtype == d || hd__fail(HD_DTYPE, "%s of %s: expected %s", arg,
                                     hd_dtype_name(x->dtype), hd_dtype_name(d));
}

bool hd__one_dtype(const char *a_name, const hd_tensor *a, const char *b_name, const hd_tensor *b)
{
    return a->dtype == b->dtype ||
           hd__fail(HD_DTYPE,
                    "%s of %s and %s of %s: expected one dtype; hd_to converts one of them", a_name,
                    hd_dtype_name(a->dtype), b_name, hd_dtype_name(b->dtype));
}

bool hd__number_dtype(int d)
{
    return hd__dtype_arg(d) &&
           (d < (int)HD_BOOL || hd__fail(HD_DTYPE, "%s: expected float32, float64 or int64",
                                         hd_dtype_name((hd_dtype)d)));
}

/* A function of its own, so that hd__dim needs no stack for the text. */
static __attribute__((noinline)) int dim_fail(const hd_tensor *x, int64_t dim, int n)
{
    hd__fail(HD_INDEX, "dim %" PRId64 " of %s: expected %d to %d", dim, HD__SHAPE(x), -n, n - 1);
    return -1;
}

int hd__dim(const hd_tensor *x, int64_t dim)
{
    int n = x->ndim > 0 ? x->ndim : 1;
    if (dim < -n || dim >= n) {
        return dim_fail(x, dim, n);
    }
    return (int)(dim < 0 ? dim + n : dim);
}

int64_t hd__index_at(const hd_tensor *x, int d, int64_t index)
{
    int64_t size = x->sizes[d], at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
        hd__fail(HD_INDEX, "index %" PRId64 " at dim %d of %s: expected %" PRId64 " to %" PRId64,
                 index, d, HD__SHAPE(x), -size, size - 1);
        return -1;
    }
    return at;
}

int hd__dim_of(const hd_tensor *x, int64_t dim)
{
    return hd__arg("x", x) ? hd__dim(x, dim) : -1;
}

uint32_t hd__dim_mask(const hd_tensor *x, int64_t dim)
{
    int at = hd__dim_of(x, dim);
    return at < 0 ? 0 : 1u << at;
}

uint32_t hd__dims_mask(const hd_tensor *x, int n, const int64_t *dims)
{
    return hd__arg("x", x) ? hd__dims_listed(x, n, dims) : 0;
}

uint32_t hd__dims_listed(const hd_tensor *x, int n, const int64_t *dims)
{
    if (n < 0 || (n > 0 && !dims)) {
        hd__null_arg("dims");
        return 0;
    }
    uint32_t mask = n == 0 ? hd__all_dims(x) : 0;
    for (int i = 0; i < n; i++) {
        int dim = hd__dim(x, dims[i]);
        if (dim < 0) {
            return 0;
        }
        if (mask & 1u << dim) {
            hd__fail(HD_INDEX, "dim %d of %s appears twice: expected distinct dims", dim,
                     HD__SHAPE(x));
            return 0;
        }
        mask |= 1u << dim;
    }
    return mask;
}

/* ---------------------------------------------------------------- broadcasting, promotion */

static void broadcast_fail(int n, hd_tensor *const *xs, int from_end, int64_t a, int64_t b)
{
    char text[4 * HD__SHAPE_TEXT] = "";
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (!hd__is_none(xs[i])) {
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? " and " : "",
                                   HD__SHAPE(xs[i]));
            at = at < sizeof text ? at : sizeof text - 1;
        }
    }
    hd__fail(HD_SHAPE, "%s: sizes %" PRId64 " and %" PRId64 " at dim -%d do not broadcast", text, a,
             b, from_end);
}

int hd__broadcast_with(int *ndim, int64_t *sizes, int n, const int64_t *others)
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

bool hd__spreads_to(int n, const int64_t *sizes, int to_n, const int64_t *to)
{
    bool fits = n <= to_n;
    for (int d = 1; fits && d <= n; d++) {
        fits = sizes[n - d] == 1 || sizes[n - d] == to[to_n - d];
    }
    return fits;
}

bool hd__broadcast(int n, hd_tensor *const *xs, int *ndim, int64_t *sizes)
{
    *ndim = 0;
    for (int i = 0; i < n; i++) {
        int bad =
            hd__is_none(xs[i]) ? 0 : hd__broadcast_with(ndim, sizes, xs[i]->ndim, xs[i]->sizes);
        if (bad > 0) {
            broadcast_fail(n, xs, bad, sizes[*ndim - bad], xs[i]->sizes[xs[i]->ndim - bad]);
            return false;
        }
    }
    return true;
}

/* bool < int64 < float32 < float64 */
static int rank_of(int dtype)
{
    static const int8_t ranks[] = {2, 3, 1, 0};
    return ranks[dtype];
}

hd_dtype hd__promote(const hd_tensor *a, const hd_tensor *b)
{
    int da = a->dtype, db = b->dtype;
    if (da == db) {
        return da;
    }
    /* A 0-d tensor decides only if its category is higher: bool, integer or float. */
    if ((a->ndim == 0) != (b->ndim == 0) && hd__is_float(a->ndim ? da : db)) {
        return a->ndim ? da : db;
    }
    return rank_of(da) > rank_of(db) ? da : db;
}

hd_dtype hd__promote_scalar(const hd_tensor *a, hd_scalar s)
{
    bool stays = s.is_int ? a->dtype != HD_BOOL : hd__is_float(a->dtype);
    return stays ? a->dtype : s.is_int ? HD_INT64 : HD_FLOAT32;
}

/* ---------------------------------------------------------------- strides */

void hd__default_strides(int ndim, const int64_t *sizes, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= sizes[i] > 1 ? sizes[i] : 1;
    }
}

#ifdef HD__ASSERT
bool hd__inside_storage(const hd_tensor *x)
{
    int64_t first = x->offset, last = first;
    for (int d = 0; x->numel > 0 && d < x->ndim; d++) {
        int64_t way = (x->sizes[d] - 1) * x->strides[d];
        *(way < 0 ? &first : &last) += way;
    }
    return x->numel == 0 ||
           (first >= 0 && last < (int64_t)x->storage->nbytes / hd__bytes_of(x->dtype));
}
#endif

void hd__geometry_changed(hd_tensor *x)
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
    hd__assert(hd__inside_storage(x));
}

bool hd__overlaps_itself(const hd_tensor *x)
{
    for (int i = 0; i < x->ndim; i++) {
        if (x->sizes[i] > 1 && x->strides[i] == 0) {
            return x->numel > 0;
        }
    }
    return false;
}

/* Goes through x's dims from the last one, in runs that lie densely, and fills each run with
 * dims of the view. Dims of size 1 are included, so that their strides are PyTorch's. */
bool hd__view_strides(const hd_tensor *x, int ndim, const int64_t *sizes, int64_t *strides)
{
    if (x->numel == 0 && hd__has_sizes(x, ndim, sizes)) {
        memcpy(strides, x->strides, sizeof *strides * (size_t)ndim);
        return true;
    }
    if (x->numel == 0 || x->ndim == 0) {
        hd__default_strides(ndim, sizes, strides);
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

/* A tensor without elements has strides, too, which must not overflow: as in hd_zeros, a size of 0
 * counts as 1. */
static bool empty_fits(const hd_tensor *x, int n, const int64_t *sizes)
{
    int64_t reach = 2 * hd__bytes_of(x->dtype);
    for (int i = 0; i < n; i++) {
        if (__builtin_mul_overflow(reach, sizes[i] ? sizes[i] : 1, &reach)) {
            return hd__fail(HD_MEMORY, "%s as %s: the size overflows", HD__SHAPE(x),
                            HD__SIZES(n, sizes));
        }
    }
    return true;
}

bool hd__infer_sizes(const hd_tensor *x, int n, const int64_t *sizes, int64_t *out)
{
    int unknown = -1;
    int64_t product = 1;
    if (!hd__sizes_arg(n, sizes)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        out[i] = sizes[i];
        if (sizes[i] == -1 && unknown < 0) {
            unknown = i;
        } else if (sizes[i] < 0) {
            return hd__fail(HD_SHAPE, "%s as %s: expected sizes of 0 or more and one -1 at most",
                            HD__SHAPE(x), HD__SIZES(n, sizes));
        } else if (__builtin_mul_overflow(product, sizes[i], &product)) {
            product = -1;
            break;
        }
    }
    bool fits = unknown < 0 ? product == x->numel : product > 0 && x->numel % product == 0;
    if (!fits) {
        return hd__fail(HD_SHAPE, "%s as %s: the %" PRId64 " elements do not fit", HD__SHAPE(x),
                        HD__SIZES(n, sizes), x->numel);
    }
    if (unknown >= 0) {
        out[unknown] = x->numel / product;
    }
    return x->numel > 0 || empty_fits(x, n, out);
}

/* ---------------------------------------------------------------- layouts like another's */

bool hd__dense(const hd_tensor *x)
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

hd_tensor *hd__laid_out_as(hd_tensor *y, const hd_tensor *x)
{
    /* As in PyTorch, those of an empty x, too, and those of dims of size 1, which move nothing. */
    if (y && hd__same_shape(x, y) && (y->numel == 0 || hd__dense(x))) {
        memcpy(y->strides, x->strides, sizeof y->strides);
        hd__geometry_changed(y);
        return y;
    }
    if (y && !hd__contig(x) && x->ndim == y->ndim) {
        hd__dims w;
        hd__dims_make(&w, x->ndim, x->sizes, 1, (hd_tensor *[]){(hd_tensor *)x});
        hd__dims_lay_out(&w, y);
    }
    return y;
}
