/* finite.c - finds NaN and infinities in a tensor, for debug mode. Nearly all tensors have none, so
 * a check of many elements at a time comes first. */
#include <math.h>

#include "diagnose/diagnose_internal.h"
#include "tensor/access.h"
#include "tensor/dims.h"
#include "tensor/shape.h"

/* ---------------------------------------------------------------- check whether all are finite */

/* x - x is 0 for a finite x, and NaN otherwise. The sums are independent of each other, so
 * compilers compute them in vectors. */
enum { SUMS = 16 };
#define ALL_FINITE(name, type)                                                                     \
    static bool name(const type *x, int64_t n)                                                     \
    {                                                                                              \
        type sums[SUMS] = {0}, sum = 0;                                                            \
        int64_t i = 0;                                                                             \
        for (; i + SUMS <= n; i += SUMS) {                                                         \
            for (int k = 0; k < SUMS; k++) {                                                       \
                sums[k] += x[i + k] - x[i + k];                                                    \
            }                                                                                      \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            sum += x[i] - x[i];                                                                    \
        }                                                                                          \
        for (int k = 0; k < SUMS; k++) {                                                           \
            sum += sums[k];                                                                        \
        }                                                                                          \
        return sum == 0;                                                                           \
    }

ALL_FINITE(floats_finite, float)
ALL_FINITE(doubles_finite, double)

/* True if n elements in the storage of x, from index `at` on and `stride` apart, are finite. */
static bool run_finite(const hd_tensor *x, int64_t at, int64_t stride, int64_t n)
{
    const void *data = x->storage->data;
    if (stride == 1) {
        return x->dtype == HD_FLOAT32 ? floats_finite((const float *)data + at, n)
                                      : doubles_finite((const double *)data + at, n);
    }
    int64_t i = 0;
    while (i < n && isfinite(hd__tensor_float_at(x, at + i * stride))) {
        i++;
    }
    return i == n;
}

/* True if all elements of x are finite, checked in any order. x is not empty. */
static bool all_finite(hd_tensor *x)
{
    hd__dims w;
    hd__dims_place p = {0};
    const int64_t bytes = hd__tensor_bytes_of(x->dtype);
    bool finite = true;
    hd__dims_of(&w, 1, &x);
    do {
        finite = run_finite(x, x->offset + p.offset[0] / bytes, w.dim[0].stride[0] / bytes,
                            w.dim[0].size);
    } while (finite && hd__dims_next(&w, 1, &p));
    return finite;
}

/* ---------------------------------------------------------------- the first NaN or infinity */

/* Searches x in row-major order. Returns HD__HAS_NAN, or HD__HAS_INF, or both bits if an infinity
 * comes before the first NaN. Sets *first to the index of the first NaN in this order or, if there
 * is none, of the first infinity. If x is finite, returns 0 and does not set *first. */
static unsigned int finite_search(const hd_tensor *x, int64_t *first)
{
    hd_tensor *xs[] = {(hd_tensor *)(uintptr_t)x};
    hd__dims w;
    hd__dims_place p = {0};
    unsigned int has = 0;
    hd__dims_make(&w, x->ndim, x->sizes, 1, xs);
    for (int64_t i = 0; i < x->numel && !(has & HD__HAS_NAN); i++) {
        double v = hd__tensor_float_at(x, x->offset + p.offset[0] / hd__tensor_bytes_of(x->dtype));
        unsigned int found = isnan(v) ? HD__HAS_NAN : isinf(v) ? HD__HAS_INF : 0;
        if (found & ~has) {
            *first = i;
            has |= found;
        }
        hd__dims_next(&w, 0, &p);
    }
    return has;
}

unsigned int hd__diagnose_not_finite(const hd_tensor *x)
{
    int64_t first;
    const bool finite = hd__tensor_is_none(x) || !hd__tensor_is_float(x->dtype) || x->numel == 0 ||
                        all_finite((hd_tensor *)(uintptr_t)x);
    return finite ? 0 : finite_search(x, &first);
}

const char *hd__diagnose_not_finite_text(const hd_tensor *x, char text[HD__PLACE_TEXT])
{
    int64_t first = 0;
    bool has_nan = finite_search(x, &first) & HD__HAS_NAN;
    snprintf(text, HD__PLACE_TEXT, "%s at %s", has_nan ? "nan" : "inf or -inf",
             HD__INDEX(x, first));
    return text;
}
