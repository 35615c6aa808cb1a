/* test_large.c - tests that results large enough to be written past the cache have the bits of
 * small ones: each row is compared with the same row computed alone. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"

typedef struct layer {
    hd_tensor *weight, *bias; /* (n,) */
    hd_tensor *target;        /* (rows,) */
} layer;

static hd_tensor *softmax(hd_tensor *x, const layer *l)
{
    (void)l;
    return hd_softmax(x, -1);
}

static hd_tensor *log_softmax(hd_tensor *x, const layer *l)
{
    (void)l;
    return hd_log_softmax(x, -1);
}

static hd_tensor *layer_norm(hd_tensor *x, const layer *l)
{
    return hd_layer_norm_n(x, 1, hd_sizes(l->weight), l->weight, l->bias, 1e-5);
}

static hd_tensor *layer_norm_alone(hd_tensor *x, const layer *l)
{
    return hd_layer_norm_n(x, 1, hd_sizes(l->weight), HD_NONE, HD_NONE, 1e-5);
}

static hd_tensor *cross_entropy(hd_tensor *x, const layer *l)
{
    hd_cross_entropy_options o = hd_cross_entropy_defaults();
    o.reduction = HD_REDUCE_NONE;
    o.ignore_index = 3;
    return hd_cross_entropy_with(x, l->target, &o);
}

static void same_bits(hd_tensor *whole, int64_t row, hd_tensor *alone)
{
    hd_tensor *part = hd_slice(whole, 0, row, row + 1);
    ck_assert_int_eq(hd_numel(part), hd_numel(alone));
    ck_assert_mem_eq(hd_data(hd_contiguous(part)), hd_data(alone),
                     (size_t)hd_numel(alone) * (size_t)hd_dtype_size(hd_dtype_of(alone)));
}

/* y and the gradient of x, for dy */
static hd_tensor *both_ways(hd_tensor *(*f)(hd_tensor *x, const layer *l), hd_tensor *x,
                            const layer *l, hd_tensor *dy, hd_tensor **dx)
{
    hd_tensor *leaf = hd_requires_grad_(hd_clone(x), true), *y = f(leaf, l);
    ck_assert_msg(hd_backward_with(y, dy, false), "%s", hd_error_message());
    *dx = hd_grad(leaf);
    return y;
}

static void rows_alone(hd_tensor *(*f)(hd_tensor *x, const layer *l), hd_dtype d, int64_t rows,
                       int64_t n)
{
    HD_SCOPE;
    hd_manual_seed(7);
    hd_tensor *x = hd_mul_scalar(hd_randn(d, rows, n), 3.0); /* (rows, n) */
    hd_tensor *dy = f == cross_entropy ? hd_randn(d, rows) : hd_randn(d, rows, n), *dx, *dx_alone;
    const layer whole = {hd_randn(d, n), hd_randn(d, n), hd_randint(HD_INT64, 0, 9, rows)};
    hd_tensor *y = both_ways(f, x, &whole, dy, &dx);
    for (int64_t row = 0; row < rows; row += row < 3 ? 1 : rows / 5) {
        layer one = whole;
        one.target = hd_slice(whole.target, 0, row, row + 1);
        hd_tensor *alone = both_ways(f, hd_slice(x, 0, row, row + 1), &one,
                                     hd_slice(dy, 0, row, row + 1), &dx_alone);
        same_bits(y, row, alone);
        same_bits(dx, row, dx_alone);
    }
    ck_no_error();
}

/* The results have 16 MiB and more. Their rows are shorter or longer than the first cache, and
 * begin off cache lines, or are made of whole lines. */
START_TEST(large_results_have_the_bits_of_small_ones)
{
    hd_tensor *(*const ops[])(hd_tensor * x, const layer *l) = {softmax, log_softmax, layer_norm,
                                                                layer_norm_alone, cross_entropy};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        rows_alone(ops[i], HD_FLOAT32, 4207, 1001);
        rows_alone(ops[i], HD_FLOAT32, 513, 8203);
        rows_alone(ops[i], HD_FLOAT64, 257, 8201);
        rows_alone(ops[i], HD_FLOAT32, 4100, 1024);
    }
}
END_TEST

/* Dropout draws while it computes; bernoulli_ fills with the same draws. */
START_TEST(dropout_draws_what_bernoulli_draws)
{
    static const int64_t sizes[] = {1, 36, 63, 64, 65, 127, 8191, 8193, 100003, 4200001};
    const hd_dtype types[] = {HD_FLOAT32, HD_FLOAT64};
    int before = hd_num_threads();
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        HD_SCOPE;
        hd_dtype d = types[i % 2];
        hd_tensor *x = hd_requires_grad_(hd_randn(d, sizes[i / 2]), true);
        hd_set_num_threads(1 + (int)i % 4);
        hd_manual_seed((int64_t)i);
        hd_tensor *y = hd_dropout(x, 0.3, true);
        hd_manual_seed((int64_t)i);
        hd_tensor *mask = hd_bernoulli_(hd_zeros(d, sizes[i / 2]), 0.7);
        ck_assert(
            hd_equal(y, hd_mul(x, hd_mul_scalar(mask, d == HD_FLOAT32 ? 1 / 0.7f : 1 / 0.7))));
        hd_tensor *dy = hd_randn(d, sizes[i / 2]);
        hd_backward_with(y, dy, false);
        ck_assert(hd_equal(hd_grad(x),
                           hd_mul(dy, hd_mul_scalar(mask, d == HD_FLOAT32 ? 1 / 0.7f : 1 / 0.7))));
    }
    hd_set_num_threads(before);
    ck_no_error();
}
END_TEST

/* Inputs with gaps, in the order of the result or in another one, and inputs that repeat */
START_TEST(large_results_of_parts)
{
    enum { N = 2051 }; /* N N float32 are more than what is kept in the cache */
    HD_SCOPE;
    hd_tensor *wide = hd_randn(HD_FLOAT32, N, 2 * N), *deep = hd_randn(HD_FLOAT32, 2 * N, N);
    hd_tensor *column = hd_randn(HD_FLOAT32, N, 1), *row = hd_randn(HD_FLOAT32, N);
    hd_tensor *parts[] = {hd_slice_step(wide, 1, 1, 2 * N, 2), hd_slice_step(deep, 0, 0, 2 * N, 2),
                          hd_narrow(wide, 1, 7, N), hd_t(hd_slice_step(wide, 1, 0, 2 * N, 2)),
                          hd_t(hd_narrow(wide, 1, 3, N))};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        HD_SCOPE;
        hd_tensor *x = parts[i], *same = hd_contiguous(x), *other = parts[(i + 1) % 5];
        ck_assert(hd_equal(hd_abs(x), hd_abs(same)));
        ck_assert(hd_equal(hd_mul_scalar(x, 3), hd_mul_scalar(same, 3)));
        ck_assert(hd_equal(hd_add(x, other), hd_add(same, hd_contiguous(other))));
        ck_assert(hd_equal(hd_mul(x, column), hd_mul(same, column)));
        ck_assert(hd_equal(hd_sub(row, x), hd_sub(row, same)));
        ck_assert(hd_equal(hd_to(x, HD_FLOAT64), hd_to(same, HD_FLOAT64)));
        ck_assert(hd_equal(hd_where(hd_gt(x, other), x, other),
                           hd_where(hd_gt(same, other), same, hd_contiguous(other))));
        ck_assert_double_eq(hd_item(hd_sum(hd_sub(hd_neg(x), hd_neg(same)))), 0);
    }
    ck_no_error();
}
END_TEST

Suite *suite_large(void)
{
    const TTest *const tests[] = {
        large_results_have_the_bits_of_small_ones,
        dropout_draws_what_bernoulli_draws,
        large_results_of_parts,
    };
    return SUITE_OF("large", tests);
}
