/* fma.c - fma and fmaf for the systems whose C library rounds them twice (fma.h). A program that
 * heed is linked into gets these functions, too. On other systems this file is empty. */
#include "base/system/fma.h"

#include <math.h>

#if defined(_WIN32) && !defined(__clang__)
#define HD__OWN_FMA
#endif

#if defined(HD__OWN_FMA) || defined(__EMSCRIPTEN__)
float fmaf(float x, float y, float z)
{
    return (float)hd__sys_sum_to_odd((double)x * y, z);
}
#endif

#ifdef HD__OWN_FMA
/* Returns the upper 26 bits of x. */
static double upper_half(double x)
{
    double scaled = x * 134217729; /* 2^27 + 1 */
    return scaled - (scaled - x);
}

/* Returns x * y + z with one rounding, as long as no part of it is too large or too small for a
 * double. If the result is 0, infinite or NaN, returns the rounded product plus z, which then has
 * the right sign and value. */
double fma(double x, double y, double z)
{
    double product = x * y, xh = upper_half(x), yh = upper_half(y), xl = x - xh, yl = y - yh;
    double rest = xl * yl - (((product - xh * yh) - xl * yh) - xh * yl);
    double low, lower, s = hd__sys_sum_exact(z, rest, &low),
                       sum = hd__sys_sum_exact(product, s, &lower);
    double result = sum + hd__sys_sum_to_odd(low, lower);
    return result - result == 0 && result != 0 ? result : product + z;
}
#endif
