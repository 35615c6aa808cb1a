/* test_softmax.c - tests of softmax bit for bit, log_softmax, logsumexp, cumsum: rows, layouts,
 * errors. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/golden_reader.h"
#include "support/level.h"
#include "support/support.h"
#include "tensor/kernels/softmax.h"

/* ---------------------------------------------------------------- bits */

/* the numbers that PyTorch was given for the hashes below */
static hd_tensor *digits(int64_t a, int64_t b, int64_t c)
{
    hd_tensor *x = hd_empty(HD_FLOAT32, a, b, c);
    float *v = hd_data_mut(x);
    for (int64_t i = 0; i < a * b * c; i++) {
        v[i] = (float)((i * 7919 + 13) % 2003 - 1001) * 0.007f;
    }
    return x;
}

/* FNV-1a of all results of f(x, dim) for x (a, n, c) and n = 1 .. last. */
static int64_t hash(hd_tensor *(*f)(hd_tensor *x, int dim), int64_t a, int64_t last, int64_t c)
{
    static float all[64 * 1024];
    int64_t used = 0;
    for (int64_t n = 1; n <= last; n++) {
        HD_SCOPE;
        hd_tensor *x = digits(a, n, c);
        hd_tensor *y = c == 1 ? f(hd_reshape(x, a, n), 1) : f(x, 1);
        ck_assert(hd_copy_to(y, all + used, (size_t)hd_numel(x) * sizeof *all));
        used += hd_numel(x);
    }
    return golden_fnv(all, (uint64_t)used * sizeof *all, sizeof *all);
}

/* PyTorch 2.13 gave these hashes at its AVX2 level. heed must give the same bytes at every level,
 * of which plain has PyTorch's order for short lanes alone. */
START_TEST(pytorchs_bits)
{
    ck_assert_ptr_nonnull(hd_cpu_level());
    const int best = hd__level;
    for (hd__level = 0; hd__level <= best; hd__level++) {
        ck_assert_int_eq(hash(hd_softmax, 5, 7, 1), 8645552703648307835);
        ck_assert_int_eq(hash(hd_softmax, 2, 7, 8), 2225217450383084981);
        if (hd__level != HD__PLAIN) {
            ck_assert_int_eq(hash(hd_softmax, 5, 100, 1), -6836421478330976356);
            ck_assert_int_eq(hash(hd_softmax, 2, 40, 8), 7432824278495646836);
        }
        ck_assert_int_eq(hash(hd_cumsum, 5, 100, 1), 5394413011123191942);
    }
    hd__level = best;
}
END_TEST

/* y = the softmax of three rows of n at the level in use; returns whether nothing else is
 * written. */
static bool softmax_of_rows(const float *rows, int64_t n, float *y, size_t bytes)
{
    hdk_lanes l = {n, 3, {1, 1}, {n, n}};
    bool alone = true;
    memset(y, 0xff, bytes);
    hdk_softmax_along(HDK_SOFTMAX, HDK_LAST, HD_FLOAT32)(&l, (void *[]){y, (void *)rows}, 0);
    for (int64_t i = 3 * n; i < (int64_t)(bytes / sizeof *y); i++) {
        alone = alone && isnan(y[i]);
    }
    return alone;
}

START_TEST(every_level_gives_the_same_bits)
{
    float want[3 * 300 + 8], got[3 * 300 + 8];
    const int before = leave_plain(), best = hd__level;
    for (int64_t n = 1; n <= 300; n += n < 70 ? 1 : 23) {
        HD_SCOPE;
        hd_tensor *x = hd_mul_scalar(digits(3, n, 1), 4.0);
        float *rows = hd_data_mut(x);
        rows[n / 2] = -INFINITY;
        hd__level = n < 8 ? HD__PLAIN : HD__BASELINE;
        ck_assert(softmax_of_rows(rows, n, want, sizeof want));
        for (hd__level = HD__BASELINE; hd__level <= best; hd__level++) {
            ck_assert(softmax_of_rows(rows, n, got, sizeof got));
            for (int64_t i = 0; i < 3 * n; i++) {
                ck_assert_msg(got[i] == want[i] || (isnan(got[i]) && isnan(want[i])),
                              "level %d, n %d, element %d: %.9g, expected %.9g", hd__level, (int)n,
                              (int)i, (double)got[i], (double)want[i]);
            }
        }
        hd__level = best;
    }
    hd__level = before;
}
END_TEST

/* ---------------------------------------------------------------- values */

typedef hd_tensor *lane_function(hd_tensor *x, int dim);

/* f(x, dim) in float64 by the loops of the level plain */
static hd_tensor *in_plain(lane_function *f, hd_tensor *x, int dim)
{
    const int level = at_plain();
    hd_tensor *y = f(hd_to(x, HD_FLOAT64), dim);
    hd__level = level;
    return y;
}

START_TEST(values_of_any_layout)
{
    HD_SCOPE;
    const int level = leave_plain();
    static lane_function *const functions[] = {hd_softmax, hd_log_softmax, hd_cumsum};
    hd_tensor *x = digits(3, 11, 18);
    hd_tensor *layouts[] = {x,
                            hd_transpose(digits(18, 11, 3), 0, 2),
                            hd_transpose(digits(3, 18, 11), 1, 2),
                            hd_slice_step(digits(3, 11, 36), 2, 0, 36, 2),
                            hd_expand(digits(1, 11, 1), 3, 11, 18),
                            hd_to(x, HD_FLOAT64)};
    for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
        double room = hd_dtype_of(layouts[k]) == HD_FLOAT64 ? 4e-14 : 4e-6;
        for (int c = 0; c < 3; c++) {
            for (int dim = 0; dim < 3; dim++) {
                hd_tensor *y = functions[c](layouts[k], dim - 3 * (dim % 2));
                hd_tensor *want = in_plain(functions[c], layouts[k], dim);
                ck_assert_msg(hd_allclose(hd_to(y, HD_FLOAT64), want, room, room, false),
                              "function %d, layout %d, dim %d", c, (int)k, dim);
            }
        }
    }
    hd__level = level;
    ck_no_error();
}
END_TEST

/* dx_i = w_i + ... + w_last, in numbers that float32 adds without rounding */
static void check_sums_from_the_end(hd_tensor *w, int dim)
{
    hd_tensor *x = hd_requires_grad_(hd_zeros_n(hd_dtype_of(w), 2, hd_sizes(w)), true);
    ck_assert(hd_backward(hd_sum(hd_mul(hd_cumsum(x, dim), w))));
    for (int64_t lane = 0; lane < hd_size(w, 1 - dim); lane++) {
        double want = 0;
        for (int64_t i = hd_size(w, dim) - 1; i >= 0; i--) {
            int64_t row = dim ? lane : i, column = dim ? i : lane;
            want += hd_get(w, row, column);
            ck_assert_double_eq(hd_get(hd_grad(x), row, column), want);
        }
    }
}

START_TEST(sums_from_the_end_of_any_layout)
{
    for (int64_t rows = 1; rows < 12; rows++) {
        HD_SCOPE;
        hd_tensor *w = hd_to(hd_to(hd_mul_scalar(digits(2, rows, 80), 10), HD_INT64), HD_FLOAT32);
        hd_tensor *layouts[] = {hd_select(w, 0, 0), hd_slice_step(hd_select(w, 0, 0), 1, 0, 80, 2),
                                hd_transpose(hd_select(w, 0, 1), 0, 1),
                                hd_expand(hd_slice(hd_select(w, 0, 0), 1, 0, 1), rows, 30)};
        for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
            for (int dim = 0; dim < 2; dim++) {
                check_sums_from_the_end(layouts[k], dim);
                check_sums_from_the_end(hd_to(layouts[k], HD_FLOAT64), dim);
            }
        }
    }
}
END_TEST

START_TEST(special_rows)
{
    HD_SCOPE;
    static const double rows[][3] = {{-INFINITY, -INFINITY, -INFINITY},
                                     {1, NAN, 2},
                                     {NAN, 1, 2},
                                     {INFINITY, 1, 2},
                                     {INFINITY, -INFINITY, INFINITY}};
    for (int r = 0; r < 5; r++) {
        for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
            hd_tensor *x = row_of(d, 3, rows[r]);
            ck_elements(hd_softmax(x, 0), NAN, NAN, NAN);
            ck_elements(hd_softmax(hd_unsqueeze(x, 1), 0), NAN, NAN, NAN);
            hd_tensor *nine = hd_cat(0, x, x, x); /* a whole vector and a tail */
            ck_assert_int_eq(hd_item_int(hd_any(hd_eq(hd_softmax(nine, 0), hd_softmax(nine, 0)))),
                             0);
        }
    }
    hd_tensor *masked = vec(HD_FLOAT32, 0, -INFINITY, 0);
    ck_elements(hd_softmax(masked, 0), 0.5, 0, 0.5);
    ck_elements(hd_softmax(hd_unsqueeze(masked, 1), 0), 0.5, 0, 0.5);
    ck_elements(hd_softmax(vec(HD_FLOAT32, 1000, 1000), 0), 0.5, 0.5); /* no overflow */
    ck_elements(hd_logsumexp_dim(vec(HD_FLOAT32, INFINITY, 1), 0, false), INFINITY);
    ck_elements(hd_logsumexp_dim(vec(HD_FLOAT32, -INFINITY, -INFINITY), 0, false), -INFINITY);
    ck_elements(hd_logsumexp_dim(vec(HD_FLOAT32, -INFINITY, NAN), 0, false), NAN);
    ck_elements(hd_logsumexp_dim(hd_zeros(HD_FLOAT32, 1, 0), 1, false), -INFINITY);
    ck_repr(hd_softmax(hd_zeros(HD_FLOAT32, 2, 0), 1), "tensor([], size=(2, 0))");
    ck_repr(hd_softmax(hd_zeros(HD_FLOAT32, 0, 2), 1), "tensor([], size=(0, 2))");
    ck_repr(hd_softmax(hd_scalar_tensor(HD_FLOAT32, 3.0), -1), "tensor(1.)");
    ck_repr(hd_cumsum(hd_ones(HD_BOOL, 3), 0), "tensor([1, 2, 3])");
    hd_tensor *big = hd_from_data(HD_INT64, ((int64_t[]){INT64_MAX, 1}), 2);
    ck_assert_int_eq(hd_get_int(hd_cumsum(big, 0), 1), INT64_MIN);
    ck_no_error();
}
END_TEST

START_TEST(logsumexp_over_dims)
{
    HD_SCOPE;
    hd_tensor *x = hd_to(digits(3, 5, 7), HD_FLOAT64);
    for (int mask = 1; mask < 8; mask++) {
        int64_t dims[3], n = 0;
        for (int d = 0; d < 3; d++) {
            if (mask >> d & 1) {
                dims[n++] = d;
            }
        }
        hd_tensor *want = hd_log(hd_sum_dims_n(hd_exp(x), true, (int)n, dims));
        hd_tensor *y = hd_logsumexp_dims_n(x, true, (int)n, dims);
        ck_assert(hd_allclose(y, want, 1e-13, 1e-13, false));
        y = hd_logsumexp_dims_n(hd_to(x, HD_FLOAT32), true, (int)n, dims);
        ck_assert(hd_allclose(hd_to(y, HD_FLOAT64), want, 1e-6, 1e-6, false));
    }
    hd_tensor *ints = hd_from_data(HD_INT64, ((int64_t[]){0, 0}), 2);
    ck_elements(hd_logsumexp_dim(ints, 0, false), (double)logf(2));
    ck_no_error();
}
END_TEST

/* +inf among other values, anywhere in rows of vectors, steps and tails */
START_TEST(logsumexp_of_infinite_rows)
{
    for (int64_t n = 1; n < 200; n += n < 70 ? 1 : 43) {
        HD_SCOPE;
        hd_tensor *x = hd_full(HD_FLOAT32, 3e38, 3, n); /* exp of which is +inf as well */
        ck_assert(hd_set(x, INFINITY, 0, n / 2) && hd_set(x, INFINITY, 1, n - 1));
        ck_assert(hd_set(x, -INFINITY, 0, 0) && hd_set(x, NAN, 1, 0));
        double all_hidden = n == 1 ? -INFINITY : INFINITY;
        ck_elements(hd_logsumexp_dim(x, 1, false), all_hidden, NAN, 3e38f + logf((float)n));
        hd_tensor *columns = hd_contiguous(hd_t(x));
        ck_elements(hd_logsumexp_dim(columns, 0, false), all_hidden, NAN, 3e38f + logf((float)n));

        hd_tensor *wide = hd_zeros(HD_FLOAT32, 3, n); /* lanes of +inf among others */
        ck_assert(hd_set(wide, INFINITY, 1, n / 2) && hd_set(wide, INFINITY, 0, n - 1));
        hd_tensor *y = hd_logsumexp_dim(wide, 0, false);
        for (int64_t j = 0; j < n; j++) {
            bool infinite = j == n / 2 || j == n - 1;
            ck_assert_double_eq(hd_get(y, j), infinite ? INFINITY : (double)logf(3));
        }
        ck_no_error();
    }
}
END_TEST

/* dx of f(x, dim) for this dy */
static hd_tensor *gradient(lane_function *f, hd_tensor *x, int dim, hd_tensor *dy)
{
    hd_tensor *leaf = hd_requires_grad_(hd_clone(x), true);
    ck_assert(hd_backward_with(f(leaf, dim), dy, false));
    return hd_grad(leaf);
}

/* Sums of 50,000 elements in float32 would be off by more than 1e-6 of their size. */
START_TEST(plain_adds_in_float64)
{
    HD_SCOPE;
    static lane_function *const functions[] = {hd_softmax, hd_log_softmax};
    ck_assert_ptr_nonnull(hd_cpu_level());
    const int level = hd__level;
    hd_tensor *x = hd_arange_as(HD_FLOAT32, 0, 6.25, 1.0 / 8000);
    hd_tensor *dy = hd_add_scalar(hd_sin(hd_mul_scalar(x, 1000)), 1);
    hd_tensor *x64 = hd_to(x, HD_FLOAT64), *dy64 = hd_to(dy, HD_FLOAT64);
    hd__level = HD__PLAIN;
    for (int c = 0; c < 2; c++) {
        hd_tensor *y = functions[c](x, 0), *dx = gradient(functions[c], x, 0, dy);
        hd_tensor *dx64 = gradient(functions[c], x64, 0, dy64);
        ck_assert(hd_allclose(hd_to(y, HD_FLOAT64), functions[c](x64, 0), 1e-6, 0, false));
        double off = hd_item(hd_max(hd_abs(hd_sub(hd_to(dx, HD_FLOAT64), dx64))));
        ck_assert_double_lt(off, 1e-6 * hd_item(hd_max(hd_abs(dx64))));
    }
    hd__level = level;
    ck_no_error();
}
END_TEST

/* (rows, n): contiguous, rows with gaps, columns, columns with gaps, one row for all */
static hd_tensor *layout_of(int kind, hd_dtype d, int64_t rows, int64_t n)
{
    int64_t shape[5][2] = {{rows, n}, {rows, 2 * n}, {n, rows}, {n, 3 * rows}, {1, n}};
    hd_tensor *x = hd_div_scalar(digits(1, shape[kind][0], shape[kind][1]), 7);
    x = hd_select(hd_to(x, d), 0, 0);
    return kind == 0   ? x
           : kind == 1 ? hd_slice_step(x, 1, 0, 2 * n, 2)
           : kind == 2 ? hd_t(x)
           : kind == 3 ? hd_t(hd_slice_step(x, 1, 0, 3 * rows, 3))
                       : hd_expand(x, rows, n);
}

/* Each sum is taken in order in float64, however many rows go together. */
START_TEST(cumsum_adds_in_order)
{
    static const int64_t rows[] = {1, 3, 4, 5, 8, 17, 131};
    const int before = leave_plain();
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        for (int c = 0; c < 25; c++) {
            for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
                HD_SCOPE;
                hd_tensor *x = hd_requires_grad_(hd_detach(layout_of(c % 5, d, rows[k], 37)), true);
                hd_tensor *dy = layout_of(c / 5, d, rows[k], 37), *y = hd_cumsum(x, 1);
                ck_assert(hd_backward_with(y, dy, false));
                hd_tensor *plain_x = hd_clone(hd_to(hd_detach(x), HD_FLOAT64));
                const int level = at_plain();
                hd_tensor *plain_y = hd_cumsum(hd_requires_grad_(plain_x, true), 1);
                ck_assert(hd_backward_with(plain_y, hd_to(dy, HD_FLOAT64), false));
                hd__level = level;
                ck_assert(hd_equal(y, hd_to(plain_y, d)));
                ck_assert(hd_equal(hd_grad(x), hd_to(hd_grad(plain_x), d)));
            }
        }
    }
    hd__level = before;
}
END_TEST

START_TEST(threads_do_not_change_bits)
{
    HD_SCOPE;
    hd_tensor *x = digits(70, 33, 40), *y[2][3];
    int before = hd_num_threads();
    for (int many = 0; many < 2; many++) {
        ck_assert(hd_set_num_threads(many ? 4 : 1));
        y[many][0] = hd_softmax(x, 2);
        y[many][1] = hd_softmax(x, 0);
        y[many][2] = hd_cumsum(x, 1);
    }
    ck_assert(hd_set_num_threads(before));
    for (int i = 0; i < 3; i++) {
        ck_assert(hd_equal(y[0][i], y[1][i]));
    }
}
END_TEST

/* ---------------------------------------------------------------- names, gradients, errors */

START_TEST(names)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true);
    ck_assert_str_eq(hd_grad_fn(hd_softmax(x, 0)), "SoftmaxBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_log_softmax(x, 1)), "LogSoftmaxBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_logsumexp_dim(x, 1, true)), "LogsumexpBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_logsumexp_dims(x, true, 0, 1)), "LogsumexpBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_cumsum(x, 1)), "CumsumBackward0");
}
END_TEST

START_TEST(masked_elements_get_no_gradient)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT32, 1, -INFINITY, 2, 3), true);
    ck_assert(hd_backward_with(hd_softmax(x, 0), vec(HD_FLOAT32, 1, 2, 3, 4), false));
    ck_assert(hd_get(hd_grad(x), 1) == 0);
    ck_assert(hd_get(hd_grad(x), 0) < 0 && hd_get(hd_grad(x), 3) > 0);
}
END_TEST

START_TEST(errors)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *i = hd_ones(HD_INT64, 2, 3);
    ck_assert_ptr_null(hd_softmax(NULL, 0));
    ck_error(HD_NULL_ARG, "hd_softmax: x is NULL");
    ck_assert_ptr_null(hd_softmax(i, 0));
    ck_error(HD_DTYPE, "hd_softmax: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_softmax(x, 2));
    ck_error(HD_INDEX, "hd_softmax: dim 2 of (2, 3): expected -2 to 1");
    ck_assert_ptr_null(hd_log_softmax(x, -3));
    ck_error(HD_INDEX, "hd_log_softmax: dim -3 of (2, 3): expected -2 to 1");
    ck_assert_ptr_null(hd_logsumexp_dim(HD_NONE, 0, false));
    ck_error(HD_NULL_ARG, "hd_logsumexp_dim: x is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_logsumexp_dims(x, false, 1, 1));
    ck_error(HD_INDEX, "hd_logsumexp_dims: dim 1 of (2, 3) appears twice: expected distinct dims");
    ck_assert_ptr_null(hd_cumsum(x, 5));
    ck_error(HD_INDEX, "hd_cumsum: dim 5 of (2, 3): expected -2 to 1");
}
END_TEST

/* An empty tensor of many rows takes no time. */
START_TEST(empty_rows)
{
    const int64_t many = (int64_t)1 << 40;
    hd_tensor *(*const ops[])(hd_tensor *, int) = {hd_softmax, hd_log_softmax, hd_cumsum};
    for (int k = 0; k < 12; k++) {
        HD_SCOPE;
        hd_tensor *x =
            k % 2 ? hd_zeros(HD_FLOAT32, many, 0) : hd_zeros(HD_FLOAT32, 0, many); /* no elements */
        hd_requires_grad_(x, true);
        hd_tensor *y = ops[k / 4](x, k / 2 % 2);
        ck_assert_int_eq(hd_size(y, k % 2), 0);
        ck_assert_int_eq(hd_size(y, 1 - k % 2), many);
        ck_assert(hd_backward_with(y, hd_zeros_like(y, HD_FLOAT32), false));
        ck_assert_int_eq(hd_numel(hd_grad(x)), 0);
    }
    ck_no_error();
}
END_TEST

Suite *suite_softmax(void)
{
    const TTest *const tests[] = {
        pytorchs_bits,
        every_level_gives_the_same_bits,
        values_of_any_layout,
        sums_from_the_end_of_any_layout,
        special_rows,
        empty_rows,
        logsumexp_over_dims,
        logsumexp_of_infinite_rows,
        cumsum_adds_in_order,
        plain_adds_in_float64,
        threads_do_not_change_bits,
        names,
        masked_elements_get_no_gradient,
        errors,
    };
    return SUITE_OF("softmax", tests);
}
