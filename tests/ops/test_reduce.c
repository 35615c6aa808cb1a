/* test_reduce.c - tests of sums, means, variances, extremes, any and all: bits, layouts, sizes 0,
 * errors. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/golden_reader.h"
#include "support/level.h"
#include "support/support.h"
#include "tensor/kernels/reduce.h"

/* ---------------------------------------------------------------- kernels */

enum { MAX_N = 700, MAX_K = 131, GAP = 3 };

/* Numbers of the dtype, some of int64 and most bools equal; if `rare`, few are 0 or few are not. */
static void fill(int dtype, void *x, int64_t count, bool rare)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t v = (i * 7919 + 13) % 2003 - 1001;
        v = !rare ? v : dtype == HD_FLOAT64 ? v % 300 : v % 300 == 0;
        switch (dtype) {
        case HD_FLOAT32: ((float *)x)[i] = (float)v * 0.007f; break;
        case HD_FLOAT64: ((double *)x)[i] = (double)v * 0.007; break;
        case HD_INT64: ((int64_t *)x)[i] = rare ? v : v / 100; break;
        default: ((uint8_t *)x)[i] = v % 7 == 0;
        }
    }
}

static double number(int dtype, const void *x, int64_t i)
{
    switch (dtype) {
    case HD_FLOAT32: return ((const float *)x)[i];
    case HD_FLOAT64: return ((const double *)x)[i];
    case HD_INT64: return (double)((const int64_t *)x)[i];
    default: return ((const uint8_t *)x)[i];
    }
}

static hd_dtype dtype_of_result(int op, int dtype)
{
    bool truth = op == HDK_ANY || op == HDK_ALL, place = op == HDK_ARGMAX || op == HDK_ARGMIN;
    bool whole = place || (op == HDK_SUM && dtype == HD_BOOL);
    return truth ? HD_BOOL : whole ? HD_INT64 : (hd_dtype)dtype;
}

/* Reduces k lanes of n elements, across or along memory, as the level plain does; y is filled with
 * noise and has gaps. */
static void check_lanes(int op, int dtype, int64_t n, int64_t k, bool along)
{
    static double x[MAX_N * MAX_K], y[MAX_K * GAP], want[MAX_K * GAP];
    const int to = (int)dtype_of_result(op, dtype);
    const double unit = dtype == HD_FLOAT32 ? 3e-7 : 1e-13;
    hdk_lanes l = {n, k, {0, along ? 1 : k}, {GAP, along ? n : 1}};
    memset(y, 0xff, sizeof y);
    fill(dtype, x, n * k, to == HD_BOOL && (n + k) % 2);
    hdk_reduce()->kernel[op][dtype](&l, (void *[]){y, x, NULL}, 2.5);
    const int level = at_plain();
    hdk_reduce()->kernel[op][dtype](&l, (void *[]){want, x, NULL}, 2.5);
    hd__level = level;
    for (int64_t j = 0; j < k; j++) {
        double size = 1, room = 0;
        for (int64_t i = 0; i < n; i++) {
            size += fabs(number(dtype, x, j * l.sk[1] + i * l.sn[1]));
        }
        room = op == HDK_SUM ? unit * size : op == HDK_VAR ? 8 * unit * size : 0;
        double got = number(to, y, j * GAP), expected = number(to, want, j * GAP);
        ck_assert_msg(fabs(got - expected) <= room,
                      "op %d of dtype %d, n %d, k %d, lane %d: %.9g, expected %.9g", op, dtype,
                      (int)n, (int)k, (int)j, got, expected);
    }
}

START_TEST(kernels_against_plain_loops)
{
    static const int64_t ns[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 97, 512, 513, 700};
    static const int64_t ks[] = {1, 2, 3, 8, 17, 130};
    const int level = leave_plain();
    for (int op = 0; op < HDK_REDUCTIONS; op++) {
        for (int dtype = 0; dtype < 4 && hdk_reduce()->kernel[op][dtype]; dtype++) {
            for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++) {
                for (size_t j = 0; j < sizeof ks / sizeof ks[0]; j++) {
                    check_lanes(op, dtype, ns[i], ks[j], true);
                    check_lanes(op, dtype, ns[i], ks[j], false);
                }
            }
        }
    }
    hd__level = level;
}
END_TEST

/* (rows, n): numbers with many digits, which PyTorch was given for the hashes below */
static hd_tensor *digits(int64_t rows, int64_t n)
{
    hd_tensor *x = hd_empty(HD_FLOAT32, rows, n);
    float *v = hd_data_mut(x);
    for (int64_t i = 0; i < rows * n; i++) {
        v[i] = (float)((i * 7919 + 13) % 2003 - 1001) * 0.007f;
    }
    return x;
}

/* The hash of all results of f on (50, n) for n = 1 .. 7: FNV-1a over the bytes, as PyTorch 2.13
 * gives them. */
static int64_t hash_of_short_runs(hd_tensor *(*f)(hd_tensor *x))
{
    static float all[7 * 50];
    for (int64_t n = 1; n < 8; n++) {
        HD_SCOPE;
        ck_assert(hd_copy_to(f(digits(50, n)), all + 50 * (n - 1), 50 * sizeof *all));
    }
    return golden_fnv(all, sizeof all, sizeof *all);
}

static hd_tensor *row_sums(hd_tensor *x)
{
    return hd_sum_dim(x, 1, false);
}

static hd_tensor *row_means(hd_tensor *x)
{
    return hd_mean_dim(x, -1, false);
}

static hd_tensor *sums_of_rows(hd_tensor *x)
{
    hd_tensor *y = hd_empty(HD_FLOAT32, 50);
    for (int64_t i = 0; i < 50; i++) {
        hd_set(y, hd_item(hd_sum(hd_select(x, 0, i))), i);
    }
    return y;
}

START_TEST(short_runs_have_pytorchs_bits)
{
    ck_assert_int_eq(hash_of_short_runs(row_sums), -7461959589832939274);
    ck_assert_int_eq(hash_of_short_runs(sums_of_rows), -7461959589832939274);
    ck_assert_int_eq(hash_of_short_runs(row_means), -8097767727102967004);
}
END_TEST

START_TEST(every_level_gives_the_same_bits)
{
    HD_SCOPE;
    const int before = leave_plain(), best = hd__level;
    for (int64_t n = 1; n < 3000; n += 1 + n / 5) {
        hd_tensor *x = digits(n, 20);
        float want[20], got[20];
        for (int along = 0; along < 2; along++) {
            hdk_lanes l = {n, along ? 1 : 20, {0, along ? 1 : 20}, {1, 1}};
            float *v = hd_data_mut(x);
            hdk_reduce_baseline.kernel[HDK_SUM][HD_FLOAT32](&l, (void *[]){want, v}, 0);
            for (int level = HD__BASELINE; level <= best; level++) {
                hd__level = level;
                hdk_reduce()->kernel[HDK_SUM][HD_FLOAT32](&l, (void *[]){got, v}, 0);
                ck_assert(memcmp(got, want, sizeof *got * (size_t)(along ? 1 : 20)) == 0);
            }
            hd__level = best;
        }
    }
    hd__level = before;
}
END_TEST

static void expect_equal_bits(hd_tensor *a, hd_tensor *b)
{
    static char bytes[2][16384];
    size_t size = (size_t)(hd_numel(a) * (int64_t)hd_dtype_size(hd_dtype_of(a)));
    ck_assert_uint_le(size, sizeof bytes[0]);
    ck_assert(hd_copy_to(a, bytes[0], size));
    ck_assert(hd_copy_to(b, bytes[1], size));
    ck_assert(memcmp(bytes[0], bytes[1], size) == 0);
}

/* Rows with gaps are reduced as their contiguous copies are, over rows, columns and everything. */
START_TEST(gaps_do_not_change_bits)
{
    for (int64_t n = 1; n < 1500; n += 1 + n / 3) {
        for (int64_t gap = 2; gap < 4; gap++) {
            HD_SCOPE;
            hd_tensor *wide = hd_view(digits(5, n * gap), 5, n, gap);
            for (int d = 0; d < 4; d++) {
                static const hd_dtype dtypes[] = {HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL};
                hd_tensor *x = hd_select(hd_to(wide, dtypes[d]), 2, 1), *y = hd_contiguous(x);
                for (int dim = 0; dim < 2; dim++) {
                    hd_tensor *at[2];
                    expect_equal_bits(hd_sum_dim(x, dim, false), hd_sum_dim(y, dim, false));
                    expect_equal_bits(hd_any_dim(x, dim, false), hd_any_dim(y, dim, false));
                    expect_equal_bits(hd_all_dim(x, dim, false), hd_all_dim(y, dim, false));
                    expect_equal_bits(hd_max_dim(x, dim, false, &at[0]),
                                      hd_max_dim(y, dim, false, &at[1]));
                    expect_equal_bits(at[0], at[1]);
                    if (d < 2) {
                        expect_equal_bits(hd_var_dim(x, dim, 0, false),
                                          hd_var_dim(y, dim, 0, false));
                    }
                }
                expect_equal_bits(hd_max(x), hd_max(y));
                expect_equal_bits(hd_any(x), hd_any(y));
            }
        }
    }
}
END_TEST

/* The gradient of var has the bits of 2 / (N - 1) (x - mean), whatever the layout. */
static void check_var_gradient(hd_tensor *from, int dim)
{
    hd_tensor *x = hd_requires_grad_(hd_detach(from), true);
    bool all = dim == 2;
    ck_assert(hd_backward(hd_sum(all ? hd_var(x, 1) : hd_var_dim(x, dim, 1, true))));
    HD_NO_GRAD;
    hd_tensor *mean = all ? hd_mean(x) : hd_mean_dim(x, dim, true);
    int64_t n = all ? hd_numel(x) : hd_size(x, dim);
    hd_tensor *g = hd_mul_scalar(hd_ones_n(hd_dtype_of(x), hd_ndim(mean), hd_sizes(mean)),
                                 2.0 / (double)(n - 1));
    ck_assert(hd_equal(hd_grad(x), hd_mul(g, hd_sub(x, mean))));
}

START_TEST(var_gradient_has_its_bits)
{
    HD_SCOPE;
    hd_tensor *wide = digits(9, 1200);
    hd_tensor *layouts[] = {wide, hd_slice_step(wide, 1, 0, 1200, 2), hd_transpose(wide, 0, 1),
                            hd_to(wide, HD_FLOAT64), hd_slice(wide, 1, 0, 7)};
    for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
        for (int dim = 0; dim < 3; dim++) {
            check_var_gradient(layouts[k], dim);
        }
    }
}
END_TEST

/* More rows than a byte can count */
START_TEST(bools_are_counted)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_BOOL, 1025, 3);
    for (int dim = 0; dim < 2; dim++) {
        hd_tensor *y = hd_sum_dim(x, dim, false);
        for (int64_t i = 0; i < hd_numel(y); i++) {
            ck_assert_double_eq(hd_get(y, i), dim ? 3 : 1025);
        }
    }
    ck_assert_double_eq(hd_item(hd_sum(x)), 3075);
    ck_assert_double_eq(hd_item(hd_sum(hd_logical_not(x))), 0);
}
END_TEST

START_TEST(threads_do_not_change_bits)
{
    HD_SCOPE;
    hd_tensor *x = digits(300007, 3), *w = digits(5, 70001);
    hd_tensor *ops[2][6];
    int before = hd_num_threads();
    for (int many = 0; many < 2; many++) {
        ck_assert(hd_set_num_threads(many ? 4 : 1));
        hd_tensor *y[] = {hd_sum(x),
                          hd_sum_dim(x, 0, false),
                          hd_mean_dim(w, 1, false),
                          hd_var_dim(x, 0, 1, false),
                          hd_mse_loss(x, hd_mul_scalar(x, 0.3)),
                          hd_sum_dim(x, 1, false)};
        memcpy(ops[many], y, sizeof y);
    }
    ck_assert(hd_set_num_threads(before));
    for (int i = 0; i < 6; i++) {
        ck_assert(hd_equal(ops[0][i], ops[1][i]));
    }
}
END_TEST

START_TEST(large_sums_are_accurate)
{
    HD_SCOPE;
    int64_t n = 3000007;
    double value = (double)1.1f;
    hd_tensor *x = hd_full(HD_FLOAT32, 1.1, n);
    ck_assert_double_eq_tol(hd_item(hd_sum(x)) / (value * (double)n), 1, 1e-6);
    ck_assert_double_eq_tol(hd_item(hd_mean(x)), value, 1e-6);
    hd_tensor *columns = hd_sum_dim(hd_view(hd_slice(x, 0, 0, 3000000), -1, 3), 0, false);
    ck_assert_double_eq_tol(hd_get(columns, 2) / (value * 1e6), 1, 1e-6);
    hd_tensor *spread = hd_expand(hd_scalar_tensor(HD_FLOAT32, 1.1), n); /* stride 0 */
    ck_assert_double_eq_tol(hd_item(hd_sum(spread)) / (value * (double)n), 1, 1e-6);
}
END_TEST

/* ---------------------------------------------------------------- layouts */

/* A tensor with x's elements and shape in another layout: as x is, transposed in memory, or with
 * gaps. */
static hd_tensor *laid_out(hd_tensor *x, int how)
{
    if (how == 1) {
        return hd_transpose(hd_contiguous(hd_transpose(x, 0, -1)), 0, -1);
    }
    return how == 2 ? hd_slice_step(hd_cat(-1, x, x), -1, 0, hd_size(x, -1), 1) : x;
}

START_TEST(any_dims_of_any_layout)
{
    HD_SCOPE;
    hd_tensor *x = hd_view(hd_to(digits(6, 20), HD_INT64), 2, 3, 4, 5);
    for (int mask = 0; mask < 16; mask++) {
        int64_t dims[4], n = 0;
        for (int d = 0; d < 4; d++) {
            if (mask >> d & 1) {
                dims[n++] = d - 4 * (d % 2);
            }
        }
        hd_tensor *want = x; /* Reduces one dim after the other, by slices. */
        for (int d = 0; d < 4; d++) {
            if (mask >> d & 1 || mask == 0) {
                hd_tensor *sum = hd_narrow(want, d, 0, 1);
                for (int64_t i = 1; i < hd_size(want, d); i++) {
                    sum = hd_add(sum, hd_narrow(want, d, i, 1));
                }
                want = sum;
            }
        }
        for (int how = 0; how < 3; how++) {
            hd_tensor *y = hd_sum_dims_n(laid_out(x, how), true, (int)n, dims);
            ck_assert(hd_equal(y, want));
            y = hd_sum_dims_n(hd_to(laid_out(x, how), HD_FLOAT64), false, (int)n, dims);
            ck_assert(hd_equal(hd_reshape_n(y, 4, hd_sizes(want)), hd_to(want, HD_FLOAT64)));
        }
    }
    ck_no_error();
}
END_TEST

START_TEST(extremes_of_any_layout)
{
    HD_SCOPE;
    hd_tensor *x = hd_reshape(hd_slice(digits(2, 99), 1, 3, 69), 4, 3, 11);
    int64_t at = 0;
    for (int64_t i = 0; i < hd_numel(x); i++) {
        at = element_at(x, i) > element_at(x, at) ? i : at;
    }
    for (int how = 0; how < 3; how++) {
        hd_tensor *v = laid_out(x, how), *index;
        ck_elements(hd_argmax(v), (double)at);
        ck_elements(hd_max(v), element_at(x, at));
        ck_elements(hd_argmin(hd_neg(v)), (double)at);
        for (int d = 0; d < 3; d++) {
            hd_tensor *y = hd_max_dim(v, d, true, &index);
            ck_assert(hd_equal(y, hd_gather(x, d, index)));
            ck_assert(hd_all(hd_ge(y, x)) && hd_item_int(hd_all(hd_ge(y, x))) == 1);
            ck_assert(hd_equal(index, hd_argmax_dim(v, d, true)));
        }
    }
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- special values */

START_TEST(sums_of_nothing_and_of_zeros)
{
    warnings_expected();
    HD_SCOPE;
    hd_tensor *none = hd_zeros(HD_FLOAT32, 0), *no_rows = hd_zeros(HD_FLOAT32, 0, 2);
    ck_repr(hd_sum(none), "tensor(0.)");
    ck_repr(hd_sum(hd_neg(hd_zeros(HD_FLOAT32, 5))), "tensor(0.)"); /* never -0 */
    ck_repr(hd_mean(none), "tensor(nan)");
    ck_repr(hd_sum_dim(no_rows, 0, true), "tensor([[0., 0.]])");
    ck_repr(hd_var(none, 0), "tensor(nan)");
    ck_repr(hd_var(hd_ones(HD_FLOAT32, 1), 1), "tensor(nan)");
    ck_repr(hd_var(hd_ones(HD_FLOAT32, 1), 0), "tensor(0.)");
    for (hd_dtype d = HD_FLOAT32; d <= HD_BOOL; d++) { /* in pieces, and over two strides */
        hd_tensor *many = hd_zeros(d, 300, 400), *some = hd_slice(many, 1, 0, 200);
        ck_repr(hd_any(many), "tensor(False)");
        ck_repr(hd_any(some), "tensor(False)");
        hd_set(many, 1, 299, 199);
        ck_repr(hd_any(many), "tensor(True)");
        ck_repr(hd_any(some), "tensor(True)");
        ck_repr(hd_all(many), "tensor(False)");
        ck_repr(hd_all(hd_slice(hd_ones(d, 300, 400), 1, 0, 200)), "tensor(True)");
        ck_repr(hd_all(hd_ones(d, 300, 400)), "tensor(True)");
    }
    ck_repr(hd_any(none), "tensor(False)");
    ck_repr(hd_all(none), "tensor(True)");
    hd_tensor *index;
    ck_repr(hd_max_dim(no_rows, 1, false, &index), "tensor([])");
    ck_repr(index, "tensor([], dtype=torch.int64)");
    ck_no_error();
}
END_TEST

START_TEST(std_at_its_ends)
{
    warnings_expected();
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 3), true);
    ck_assert(hd_backward(hd_std(x, 1))); /* 0: no NaN from 0 / 0 */
    ck_elements(hd_grad(x), 0, 0, 0);
    ck_repr(hd_std(hd_ones(HD_FLOAT32, 1), 1), "tensor(nan)");
    ck_repr(hd_std(vec(HD_FLOAT64, 1, 3, 5, 7), 0), "tensor(2.2361, dtype=torch.float64)");
    hd_tensor *rows = hd_view(vec(HD_FLOAT32, 1, 3, 5, 9), 2, 2);
    ck_elements(hd_std_dim(rows, -1, 0, true), 1, 2);
    ck_elements(hd_std_dims(rows, 0, false, 1), 1, 2);
    ck_no_error();
    ck_assert_ptr_null(hd_std(rows, 2));
    ck_error(HD_VALUE, "hd_std: correction 2: expected 0 or 1");
    ck_assert_ptr_null(hd_std_dims(hd_ones(HD_INT64, 2), 0, false, 0));
    ck_error(HD_DTYPE, "hd_std_dims: dtype int64: expected float32 or float64");
}
END_TEST

/* The gradient is the product of the others, also beside zeros. */
START_TEST(products_of_zeros_and_of_nothing)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT32, 0, 2, 3), true);
    hd_tensor *rows = hd_requires_grad_(hd_view(vec(HD_FLOAT64, 0, 0, 3, 5, 2, 4), 2, 3), true);
    ck_assert(hd_backward(hd_prod(x)));
    ck_elements(hd_grad(x), 6, 0, 0);
    ck_elements(hd_prod_dim(rows, 1, true), 0, 40);
    ck_assert(hd_backward(hd_sum(hd_prod_dim(rows, -1, false))));
    ck_elements(hd_grad(rows), 0, 0, 0, 8, 20, 10);
    ck_repr(hd_prod(hd_zeros(HD_FLOAT32, 0, 2)), "tensor(1.)");
    ck_repr(hd_prod_dim(hd_zeros(HD_INT64, 0, 2), 0, false), "tensor([1, 1])");
    ck_repr(hd_prod(hd_ones(HD_BOOL, 3)), "tensor(1)");
    hd_tensor *big = hd_from_data(HD_INT64, ((int64_t[]){INT64_MAX, 3}), 2);
    ck_assert_int_eq(hd_item_int(hd_prod(big)), INT64_MAX - 2); /* it wraps */
    ck_elements(hd_prod(hd_to(hd_arange(1, 12, 1), HD_FLOAT64)), 39916800);
    hd_tensor *column = hd_ones(HD_FLOAT32, 2, 1);
    ck_assert_ptr_nonnull(hd_fill_(hd_prod_dim(column, 1, true), 2)); /* of one factor: a copy */
    ck_elements(column, 1, 1);
    ck_no_error();
    ck_assert_ptr_null(hd_prod_dim(x, 1, false));
    ck_error(HD_INDEX, "hd_prod_dim: dim 1 of (3,): expected -1 to 0");
}
END_TEST

START_TEST(integers_and_bools)
{
    HD_SCOPE;
    hd_tensor *big = hd_from_data(HD_INT64, ((int64_t[]){INT64_MAX, 1, 5}), 3);
    ck_assert_int_eq(hd_item_int(hd_sum(big)), INT64_MIN + 5);
    ck_assert_int_eq(hd_item_int(hd_max(big)), INT64_MAX);
    hd_tensor *exact = hd_from_data(HD_INT64, ((int64_t[]){(1LL << 53) + 1, 2}), 2);
    ck_assert_int_eq(hd_item_int(hd_sum(exact)), (1LL << 53) + 3);
    hd_tensor *b = hd_ones(HD_BOOL, 300);
    ck_repr(hd_sum(b), "tensor(300)");
    ck_repr(hd_sum_dim(hd_view(b, 3, 100), 1, false), "tensor([100, 100, 100])");
    ck_repr(hd_max(hd_from_data(HD_BOOL, ((uint8_t[]){0, 1}), 2)), "tensor(True)");
    ck_repr(hd_any_dim(hd_from_data(HD_INT64, ((int64_t[]){0, 0, 0, 256}), 2, 2), 1, false),
            "tensor([False,  True])");
    ck_no_error();
}
END_TEST

START_TEST(nan_wins)
{
    HD_SCOPE;
    for (int64_t n = 2; n < 100; n++) {
        for (int64_t at = 0; at < n; at += 1 + n / 7) {
            hd_tensor *x = hd_arange_as(HD_FLOAT32, 0, n, 1), *index;
            hd_set(x, (double)NAN, at);
            hd_set(x, (double)NAN, n - 1);
            ck_assert(isnan(hd_item(hd_max(x))) && isnan(hd_item(hd_min(x))));
            ck_assert_int_eq(hd_item_int(hd_argmax(x)), at);
            ck_assert(isnan(hd_item(hd_min_dim(x, 0, false, &index))));
            ck_assert_int_eq(hd_item_int(index), at);
            hd_tensor *columns = hd_stack(1, x, hd_arange_as(HD_FLOAT32, 0, n, 1));
            ck_assert(isnan(hd_get(hd_max_dim(columns, 0, false, &index), 0)));
            ck_assert_int_eq(hd_get_int(index, 0), at);
            ck_assert_int_eq(hd_get_int(index, 1), n - 1);
        }
    }
}
END_TEST

/* As in PyTorch, for a few elements. */
START_TEST(of_equal_zeros_the_last_counts)
{
    HD_SCOPE;
    for (int n = 2; n < 8; n++) {
        for (int k = 0; k < 2; k++) {
            hd_tensor *x = hd_full(HD_FLOAT32, k ? -0.0 : 0.0, n);
            hd_set(x, k ? 0.0 : -0.0, n - 1);
            ck_assert_int_eq(signbit(hd_item(hd_max(x))) != 0, !k);
            ck_assert_int_eq(signbit(hd_item(hd_min(x))) != 0, !k);
        }
    }
    ck_no_error();
}
END_TEST

START_TEST(every_dim_there_may_be)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 1, 2, 1, 1, 1, 1, 1, 2), true);
    hd_tensor *y = hd_sum_dim(x, 1, false); /* (1, 1, 1, 1, 1, 1, 2) */
    ck_assert(hd_backward_with(y, hd_view(vec(HD_FLOAT32, 3, 4), 1, 1, 1, 1, 1, 1, 2), false));
    ck_elements(hd_grad(x), 3, 4, 3, 4);
    ck_no_error();
}
END_TEST

/* Neither the elements of a run nor the runs are neighbours. */
START_TEST(extremes_of_every_other_element)
{
    HD_SCOPE;
    for (hd_dtype d = HD_FLOAT32; d <= HD_INT64; d++) {
        hd_tensor *x = hd_to(hd_view(hd_arange(0, 24, 1), 3, 8), d); /* rows of 0, 8, 16, ... */
        hd_tensor *part = hd_slice_step(x, 1, 1, 8, 3);              /* columns 1, 4 and 7 */
        ck_elements(hd_max_dim(part, 0, false, NULL), 17, 20, 23);
        ck_elements(hd_min_dim(part, 0, false, NULL), 1, 4, 7);
        ck_elements(hd_max_dim(hd_neg(part), 0, false, NULL), -1, -4, -7);
        ck_elements(hd_max(part), 23);
        ck_elements(hd_min(hd_slice_step(x, 1, 0, 6, 3)), 0);
        ck_elements(hd_max(hd_slice_step(hd_neg(x), 1, 2, 8, 3)), -2);
    }
    ck_no_error();
}
END_TEST

START_TEST(variance_far_from_zero)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, 1e7, 1e7 + 1, 1e7 + 2, 1e7 + 3);
    ck_elements(hd_var(x, 0), 1.25);
    ck_elements(hd_var_dim(hd_stack(1, x, x), 0, 0, false), 1.25, 1.25);
}
END_TEST

/* ---------------------------------------------------------------- names, ties, errors */

#define ck_grad_fn(y, name) ck_assert_str_eq(hd_grad_fn(y), name)

START_TEST(names)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true);
    ck_grad_fn(hd_sum(x), "SumBackward0");
    ck_grad_fn(hd_sum_dim(x, 0, false), "SumBackward1");
    ck_grad_fn(hd_sum_dims(x, true, 0, 1), "SumBackward1");
    ck_grad_fn(hd_mean(x), "MeanBackward0");
    ck_grad_fn(hd_mean_dim(x, 0, false), "MeanBackward1");
    ck_grad_fn(hd_var(x, 1), "VarBackward0");
    ck_grad_fn(hd_max(x), "MaxBackward1");
    ck_grad_fn(hd_min(x), "MinBackward1");
    ck_grad_fn(hd_max_dim(x, 0, false, NULL), "MaxBackward0");
    ck_grad_fn(hd_min_dim(x, 0, false, NULL), "MinBackward0");
    ck_grad_fn(hd_argmax(x), "");
    ck_grad_fn(hd_any(x), "");
}
END_TEST

START_TEST(ties)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT32, 3, 1, 3, 2), true);
    ck_assert(hd_backward(hd_max(x)));
    ck_elements(hd_grad(x), 0.5, 0, 0.5, 0);
    ck_assert(hd_backward(hd_max_dim(x, 0, false, NULL)));
    ck_elements(hd_grad(x), 1.5, 0, 0.5, 0);
    hd_tensor *inf = hd_scalar_tensor(HD_FLOAT32, INFINITY);
    ck_assert(hd_set_grad(x, HD_NONE) && hd_backward_with(hd_max(x), inf, false));
    ck_elements(hd_grad(x), INFINITY, 0, INFINITY, 0); /* no 0 * inf */
}
END_TEST

/* Where PyTorch warns, except for a result without elements. */
START_TEST(var_warns_of_too_few_elements)
{
    HD_SCOPE;
    hd_tensor *one = hd_ones(HD_FLOAT32, 1), *column = hd_ones(HD_FLOAT32, 3, 1), *y;
    ck_warning(y = hd_var(one, 1),
               "hd_var: x (1,): 1 element for each result is too few for correction 1, and the "
               "result is nan: expected 2 or more, or correction 0");
    ck_elements(y, NAN);
    ck_warning(y = hd_var_dim(column, 1, 1, false),
               "hd_var_dim: x (3, 1): 1 element for each result is too few for correction 1, and "
               "the result is nan: expected 2 or more, or correction 0");
    ck_elements(y, NAN, NAN, NAN);
    ck_warning(y = hd_var_dims(hd_ones(HD_FLOAT32, 2, 0), 0, true, 1),
               "hd_var_dims: x (2, 0): 0 elements for each result is too few for correction 0, and "
               "the result is nan: expected 1 or more");
    ck_elements(y, NAN, NAN);
    ck_no_warning(hd_var(one, 0));
    ck_no_warning(hd_var_dim(column, 0, 1, false));
    ck_no_warning(hd_var_dim(hd_ones(HD_FLOAT32, 0, 1), 1, 1, false));
}
END_TEST

START_TEST(errors)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *i = hd_ones(HD_INT64, 2), *index;
    ck_assert_ptr_null(hd_sum(NULL));
    ck_error(HD_NULL_ARG, "hd_sum: x is NULL");
    ck_assert_ptr_null(hd_mean(HD_NONE));
    ck_error(HD_NULL_ARG, "hd_mean: x is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_sum_dim(x, 2, false));
    ck_error(HD_INDEX, "hd_sum_dim: dim 2 of (2, 3): expected -2 to 1");
    ck_assert_ptr_null(hd_sum_dims(x, false, 0, -2));
    ck_error(HD_INDEX, "hd_sum_dims: dim 0 of (2, 3) appears twice: expected distinct dims");
    ck_assert_ptr_null(hd_mean_dim(i, 0, false));
    ck_error(HD_DTYPE, "hd_mean_dim: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_var(x, 2));
    ck_error(HD_VALUE, "hd_var: correction 2: expected 0 or 1");
    ck_assert_ptr_null(hd_max(hd_zeros(HD_FLOAT32, 0, 3)));
    ck_error(HD_SHAPE, "hd_max: (0, 3): expected at least one element");
    index = x;
    ck_assert_ptr_null(hd_min_dim(hd_zeros(HD_FLOAT32, 2, 0), -1, false, &index));
    ck_error(HD_SHAPE, "hd_min_dim: dim 1 of (2, 0): expected a size above 0");
    ck_assert_ptr_null(index);
    ck_assert_ptr_null(hd_argmax(hd_ones(HD_BOOL, 2)));
    ck_error(HD_DTYPE, "hd_argmax: dtype bool: expected float32, float64 or int64");
    ck_assert_ptr_null(hd_any_dim(x, -3, true));
    ck_error(HD_INDEX, "hd_any_dim: dim -3 of (2, 3): expected -2 to 1");
}
END_TEST

Suite *suite_reduce(void)
{
    const TTest *const tests[] = {
        kernels_against_plain_loops,
        short_runs_have_pytorchs_bits,
        every_level_gives_the_same_bits,
        gaps_do_not_change_bits,
        var_gradient_has_its_bits,
        bools_are_counted,
        threads_do_not_change_bits,
        large_sums_are_accurate,
        any_dims_of_any_layout,
        extremes_of_any_layout,
        sums_of_nothing_and_of_zeros,
        integers_and_bools,
        std_at_its_ends,
        products_of_zeros_and_of_nothing,
        nan_wins,
        var_warns_of_too_few_elements,
        of_equal_zeros_the_last_counts,
        every_dim_there_may_be,
        extremes_of_every_other_element,
        variance_far_from_zero,
        names,
        ties,
        errors,
    };
    return SUITE_OF("reduce", tests);
}
