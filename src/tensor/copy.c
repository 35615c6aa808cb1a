/* copy.c - copies, converts and fills tensors of any strides, without recording. */
#include <float.h>
#include <math.h>

#include "base/threads/pool.h"
#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/copy.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- copies */

enum {
    COPY_GRAIN = 32768,
    /* hd__tensor_join copies row by row if a part's row has at most this many bytes on average */
    NARROW = 256,
    TOGETHER = 8 /* hd__tensor_join copies this many rows at a time, which stay in the L1 cache */
};

/* The two loops that convert between bfloat16 and another dtype, by way of float32. */
typedef struct two_steps {
    hdk_loop to_float, from_float;
} two_steps;

static void by_way_of_float(char *const *data, const int64_t *strides, int64_t n,
                            const void *params)
{
    enum { SOME = 256 };
    const two_steps *s = params;
    float some[SOME];
    const int64_t item = sizeof *some;
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < SOME ? n - i : SOME;
        s->to_float((char *[]){(char *)some, data[1] + i * strides[1]},
                    (int64_t[]){item, strides[1]}, m, NULL);
        s->from_float((char *[]){data[0] + i * strides[0], (char *)some},
                      (int64_t[]){strides[0], item}, m, NULL);
    }
}

typedef struct repetition {
    hdk_loop convert, fill;
    const void *params; /* the params of convert */
    int64_t item[2];    /* bytes of an element of the output and of the input */
} repetition;

/* An hdk_loop whose params are a repetition. Fills n elements of the output with the same value,
 * the converted first element of the input, because the input's stride is 0. */
static void repeat_value(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    const repetition *r = params;
    int64_t value;
    r->convert((char *[]){(char *)&value, data[1]}, r->item, 1, r->params);
    r->fill(data, strides, n, &value);
}

static void copy_repeated(const hd__dims *w, int to, int from, char *const *data, hdk_loop convert,
                          const void *params)
{
    repetition r = {convert,
                    hdk_copy()->fill[to],
                    params,
                    {hd__tensor_bytes_of(to), hd__tensor_bytes_of(from)}};
    hd__loop(repeat_value, &r, w, data, NULL);
}

hd_tensor *hd__tensor_copy(hd_tensor *dst, const hd_tensor *src)
{
    hd__dims w;
    if (!dst || dst->numel == 0) {
        return dst;
    }
    char *data[] = {hd__tensor_ptr(dst), hd__tensor_ptr(src)};
    if (dst->dtype == src->dtype && hd__tensor_contig(dst) && hd__tensor_contig(src) &&
        dst->numel == src->numel && dst->numel <= 4096) {
        memmove(data[0], data[1], (size_t)(dst->numel * hd__tensor_bytes_of(dst->dtype)));
        return dst;
    }
    hd_tensor *operands[] = {dst, (hd_tensor *)src};
    hd__dims_of(&w, 2, operands);
    const two_steps two = {hdk_convert(HD_FLOAT32, src->dtype),
                           hdk_convert(dst->dtype, HD_FLOAT32)};
    hdk_loop convert = hdk_convert(dst->dtype, src->dtype);
    const void *params = convert ? NULL : &two;
    convert = convert ? convert : by_way_of_float;
    bool rows = dst->dtype == src->dtype && w.dim[0].stride[0] == hd__tensor_bytes_of(dst->dtype);
    int across = rows ? hd__loop_tiled_dim(&w, operands) : 0;
    if (across > 0) {
        hd__loop_over_tiles(NULL, NULL, &w, across, data, operands);
    } else if (w.dim[0].stride[1] == 0) {
        copy_repeated(&w, dst->dtype, src->dtype, data, convert, params);
    } else {
        hd__map_to_new(convert, params, 2, operands);
    }
    return dst;
}

/* ---------------------------------------------------------------- parts side by side */

/* Copies x into the part of y that begins at index `start` of dim. */
static void lay(hd_tensor *y, const hd_tensor *x, int dim, int64_t start)
{
    hd_tensor place = *y;
    place.sizes[dim] = x->sizes[dim];
    place.offset += start * place.strides[dim];
    hd__tensor_geometry_changed(&place);
    hd__tensor_copy(&place, x);
}

/* The task of joining narrow parts row by row, so that the output is written in order. */
typedef struct joint {
    char *out;
    hd_tensor *const *parts;
    /* n: number of parts; row: bytes of an output row; inner: bytes of one step along `dim` */
    int64_t n, row, inner;
    int dim, lead; /* the dim of the join; the dim whose stride leads to a part's next row */
} joint;

static void join_rows(int64_t begin, int64_t end, void *arg)
{
    const joint *j = arg;
    for (int64_t r = begin, rows; r < end; r += rows) {
        rows = end - r < TOGETHER ? end - r : TOGETHER;
        char *column = j->out + r * j->row;
        for (int64_t k = 0; k < j->n; k++) {
            const hd_tensor *x = j->parts[k];
            if (x->numel == 0) {
                continue;
            }
            int64_t next = x->strides[j->lead] * hd__tensor_bytes_of(x->dtype);
            size_t bytes = (size_t)(x->sizes[j->dim] * j->inner);
            const char *from = (const char *)hd__tensor_ptr(x) + r * next;
            for (int64_t i = 0; i < rows; i++) {
                memcpy(column + i * j->row, from + i * next, bytes);
            }
            column += bytes;
        }
    }
}

/* True if the elements along x's dims [begin, end) lie in memory in order, `next` elements
 * apart. */
static bool in_order(const hd_tensor *x, int begin, int end, int64_t next)
{
    for (int d = end - 1; d >= begin; d--) {
        if (x->sizes[d] != 1 && x->strides[d] != next) {
            return false;
        }
        next *= x->sizes[d];
    }
    return true;
}

void hd__tensor_join(hd_tensor *y, int dim, int64_t n, hd_tensor *const *parts)
{
    joint j = {hd__tensor_ptr(y), parts,          n, .inner = hd__tensor_bytes_of(y->dtype),
               .dim = dim,        .lead = dim - 1};
    int64_t rows = 1;
    for (int d = 0; d < y->ndim; d++) {
        *(d < dim ? &rows : &j.inner) *= d == dim ? 1 : y->sizes[d];
    }
    for (; j.lead >= 0 && y->sizes[j.lead] == 1; j.lead--) {
    }
    j.row = j.inner * y->sizes[dim];
    /* A part's row has `mean` bytes on average. Rows of one element are copied faster part by
     * part. */
    const int64_t mean = j.row / n;
    bool narrow =
        y->numel > 0 && j.lead >= 0 && mean <= NARROW && mean > hd__tensor_bytes_of(y->dtype);
    for (int64_t k = 0; k < n && narrow; k++) {
        const hd_tensor *x = parts[k];
        bool rows_of_y = x->numel > 0 && x->dtype == y->dtype && in_order(x, dim, x->ndim, 1) &&
                         in_order(x, 0, j.lead + 1, x->strides[j.lead]);
        narrow = x->numel == 0 || (x->numel < y->numel && rows_of_y);
    }
    if (narrow) {
        hd__parallel_for(rows, COPY_GRAIN * hd__tensor_bytes_of(y->dtype) / j.row + 1, join_rows,
                         &j);
        return;
    }
    for (int64_t k = 0, start = 0; k < n; k++) {
        if (parts[k]->numel > 0) {
            lay(y, parts[k], dim, start);
            start += parts[k]->sizes[dim];
        }
    }
}

/* ---------------------------------------------------------------- fills */

void hd__tensor_scalar_bytes(hd_dtype d, hd_scalar value, void *bytes)
{
    float f = value.is_int ? (float)value.v.i : (float)value.v.d;
    double g = hd__tensor_scalar_double(value);
    int64_t i = hd__tensor_scalar_int(value);
    uint8_t b = value.is_int ? value.v.i != 0 : value.v.d != 0;
    uint16_t h = hdk_to_bf16(f);
    const void *from[] = {&f, &g, &i, &b, &h};
    memcpy(bytes, from[d], (size_t)hd__tensor_bytes_of(d));
}

bool hd__tensor_scalar_fits(hd_dtype d, hd_scalar value)
{
    double v = value.v.d;
    const double most = d == HD_BFLOAT16 ? 0x1.fep127 : FLT_MAX;
    bool fits = value.is_int || d == HD_FLOAT64 || d == HD_BOOL ||
                (d == HD_INT64 ? v >= -0x1p63 && v < 0x1p63 : !(fabs(v) > most) || isinf(v));
    return fits ||
           hd_fail(HD_VALUE, "value %g: expected one that %s can hold", v, hd_dtype_name(d));
}

hd_tensor *hd__tensor_fill(hd_tensor *x, hd_scalar value)
{
    int64_t bytes;
    hd__tensor_scalar_bytes(x->dtype, value, &bytes);
    return hd__map_to_new(hdk_copy()->fill[x->dtype], &bytes, 1, &x);
}

hd_tensor *hd__tensor_clone(const hd_tensor *x)
{
    return hd__tensor_copy(hd__tensor_empty_as(x->dtype, x), x);
}

hd_tensor *hd__tensor_contiguous(hd_tensor *x)
{
    return hd__tensor_contig(x) ? x : hd__tensor_clone(x);
}

hd_tensor *hd__tensor_copied(const hd_tensor *x, hd_dtype d)
{
    return hd__tensor_copy(hd__tensor_laid_out_as(hd__tensor_empty_as(d, x), x), x);
}

hd_tensor *hd__tensor_cast(hd_tensor *x, hd_dtype d)
{
    return x->dtype == d ? x : hd__tensor_copied(x, d);
}

hd_tensor *hd__tensor_expand(hd_tensor *x, int ndim, const int64_t *sizes)
{
    /* next: the stride of a dim of size 1 that x lacks. If x is 0-d, all strides become 0. */
    int64_t strides[HD_MAX_DIMS], next = x->ndim > 0;
    for (int d = ndim - 1; d >= 0; d--) {
        int at = d - (ndim - x->ndim);
        bool spread = sizes[d] != (at < 0 ? 1 : x->sizes[at]);
        strides[d] = spread ? 0 : at < 0 ? next : x->strides[at];
        next = strides[d] * sizes[d];
    }
    return hd__tensor_alias(x, ndim, sizes, strides, x->offset);
}

static bool array_fits(const hd_tensor *x, const void *array, size_t bytes)
{
    size_t need;
    return hd__tensor_any_arg("x", x, false) && hd__arg_given("array", array) &&
           hd__tensor_bytes(x, &need) &&
           (bytes == need ||
            hd_fail(HD_VALUE, "an array of %zu bytes for %s of %s: expected %zu bytes", bytes,
                    HD__SHAPE(x), hd_dtype_name(x->dtype), need));
}

hd_tensor *hd__tensor_array_of(hd__tensor_array *a, const hd_tensor *x, const void *array)
{
    a->storage = (hd__tensor_storage){.data = (void *)(uintptr_t)array,
                                      .nbytes = (size_t)(x->numel * hd__tensor_bytes_of(x->dtype))};
    a->t = (hd_tensor){.dtype = x->dtype, .storage = &a->storage};
    hd__tensor_set_contiguous(&a->t, x->numel, x->ndim, x->sizes);
    return &a->t;
}

bool hd_copy_to(const hd_tensor *x, void *array, size_t bytes)
{
    HD__CALL("hd_copy_to");
    hd__tensor_array to;
    return array_fits(x, array, bytes) && hd__tensor_copy(hd__tensor_array_of(&to, x, array), x);
}

bool hd__tensor_writable(const char *arg, hd_tensor *x)
{
    return hd__tensor_write_ok(arg, x) && (!hd__tensor_overlaps_itself(x) ||
                                           hd_fail(HD_STATE,
                                                   "%s of %s is expanded: several elements share "
                                                   "memory. hd_clone gives each of them its own",
                                                   arg, HD__SHAPE(x)));
}

void hd__tensor_write_array(hd_tensor *x, const void *array)
{
    hd__tensor_array from;
    hd__tensor_changes(x);
    hd__tensor_bump(x);
    hd__tensor_copy(x, hd__tensor_array_of(&from, x, array));
}

bool hd_copy_from(hd_tensor *x, const void *array, size_t bytes)
{
    HD__CALL("hd_copy_from");
    if (!array_fits(x, array, bytes) || !hd__tensor_writable("x", x)) {
        return false;
    }
    hd__tensor_write_array(x, array);
    return true;
}
