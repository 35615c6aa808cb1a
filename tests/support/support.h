/* support.h - assertions and small tensors that the tests of several layers use. */
#ifndef HEED_TESTS_SUPPORT_H
#define HEED_TESTS_SUPPORT_H

#include <check.h>
#include <math.h>
#include <string.h>

#include "heed/tensor.h"
#include "support/errors.h"
#include "support/warnings.h"

/* ck_assert_msg for loops over many elements: Check's own sends its parent process a message at
 * each call. */
#define ck_each(condition, ...)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ck_abort_msg(__VA_ARGS__);                                                             \
        }                                                                                          \
    } while (0)

/* Asserts that x prints as this text. */
#define ck_repr(x, text) ck_assert_str_eq(hd_repr(x), (text))

/* Asserts that x has exactly these elements in row-major order: ck_elements(x, 1, 2, 3) */
#define ck_elements(x, ...)                                                                        \
    do {                                                                                           \
        const hd_tensor *x_ = (x);                                                                 \
        double want_[] = {__VA_ARGS__}, got_;                                                      \
        ck_assert_ptr_nonnull(x_);                                                                 \
        ck_assert_int_eq(hd_numel(x_), (int64_t)(sizeof want_ / sizeof *want_));                   \
        for (int64_t i_ = 0; i_ < hd_numel(x_); i_++) {                                            \
            got_ = element_at(x_, i_);                                                             \
            ck_assert_msg(got_ == want_[i_] || (isnan(got_) && isnan(want_[i_])),                  \
                          "element %lld of %s is %.17g, expected %.17g", (long long)i_, #x, got_,  \
                          want_[i_]);                                                              \
        }                                                                                          \
    } while (0)

/* Element i in row-major order. */
static inline double element_at(const hd_tensor *x, int64_t i)
{
    int64_t index[HD_MAX_DIMS];
    for (int d = hd_ndim(x) - 1; d >= 0; d--) {
        index[d] = i % hd_size(x, d);
        i /= hd_size(x, d);
    }
    return hd_get_n(x, hd_ndim(x), index);
}

/* A float32 or float64 row of numbers: vec(HD_FLOAT32, 1, 2, 3) */
#define vec(d, ...)                                                                                \
    row_of(d, (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

static inline hd_tensor *row_of(hd_dtype d, int64_t n, const double *values)
{
    hd_tensor *x = hd_empty_n(d, 1, &n);
    for (int64_t i = 0; x && i < n; i++) {
        (hd_set_n)(x, hd_scalar_double(values[i]), 1, &i);
    }
    return x;
}

#endif
