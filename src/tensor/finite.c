/* finite.c - NaN and infinities in a tensor, for debug mode. */
#include <math.h>

#include "tensor/dims.h"

/* Goes through x in row-major order. first: the number of the first NaN, or else of the first
 * infinity. */
static unsigned int finite_search(const hd_tensor *x, int64_t *first)
{
    hd_tensor *xs[] = {(hd_tensor *)(uintptr_t)x};
    hd__dims w;
    hd__place p = {0};
    unsigned int has = 0;
    hd__dims_make(&w, x->ndim, x->sizes, 1, xs);
    for (int64_t i = 0; i < x->numel && !(has & HD__HAS_NAN); i++) {
        double v = hd__float_at(x, x->offset + p.offset[0] / hd__bytes_of(x->dtype));
        unsigned int found = isnan(v) ? HD__HAS_NAN : isinf(v) ? HD__HAS_INF : 0;
        if (found & ~has) {
            *first = i;
            has |= found;
        }
        hd__dims_next(&w, 0, &p);
    }
    return has;
}

unsigned int hd__not_finite(const hd_tensor *x)
{
    int64_t first;
    return hd__is_none(x) || !hd__is_float(x->dtype) ? 0 : finite_search(x, &first);
}

const char *hd__not_finite_text(const hd_tensor *x, char text[HD__PLACE_TEXT])
{
    int64_t first = 0;
    bool has_nan = finite_search(x, &first) & HD__HAS_NAN;
    snprintf(text, HD__PLACE_TEXT, "%s at %s", has_nan ? "nan" : "inf or -inf",
             HD__INDEX(x, first));
    return text;
}
