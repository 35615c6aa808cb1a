/* finite.c - NaN and infinities in a tensor, for debug mode. */
#include <math.h>

#include "tensor/dims.h"

/* Goes through x in row-major order. found: the number of the first element of each kind. */
static unsigned int finite_search(const hd_tensor *x, int64_t *first_nan, int64_t *first_inf)
{
    hd_tensor *xs[] = {(hd_tensor *)(uintptr_t)x};
    hd__dims w;
    hd__place p = {0};
    unsigned int has = 0;
    hd__dims_make(&w, x->ndim, x->sizes, 1, xs);
    for (int64_t i = 0; i < x->numel && !(has & HD__HAS_NAN); i++) {
        double v = hd__float_at(x, x->offset + p.offset[0] / hd__bytes_of(x->dtype));
        if (isnan(v)) {
            *first_nan = i;
            has |= HD__HAS_NAN;
        } else if (isinf(v) && !(has & HD__HAS_INF)) {
            *first_inf = i;
            has |= HD__HAS_INF;
        }
        hd__dims_next(&w, 0, &p);
    }
    return has;
}

unsigned int hd__not_finite(const hd_tensor *x)
{
    int64_t at;
    return hd__is_none(x) || !hd__is_float(x->dtype) ? 0 : finite_search(x, &at, &at);
}

const char *hd__not_finite_text(const hd_tensor *x, char text[HD__PLACE_TEXT])
{
    int64_t first_nan = 0, first_inf = 0;
    bool has_nan = finite_search(x, &first_nan, &first_inf) & HD__HAS_NAN;
    snprintf(text, HD__PLACE_TEXT, "%s at %s", has_nan ? "nan" : "inf or -inf",
             HD__INDEX(x, has_nan ? first_nan : first_inf));
    return text;
}
