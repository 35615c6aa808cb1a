/* test_random.c - tests of random fills of tensors in any layout. The tests of base test the
 * streams themselves, and the tests of the ops compare every draw with PyTorch's values. */
#include "strided.h"
#include "support/atomic.h"
#include "tensor/copy.h"
#include "tensor/random_fill.h"

/* Fills x; a and b are the arguments of the distribution. */
typedef hd_tensor *(*fill)(hd_tensor *x, double a, double b);

static hd_tensor *bernoulli(hd_tensor *x, double p, double unused)
{
    (void)unused;
    hd__tensor_bernoulli_fill(x, hd_empty(HD_BOOL, x->numel), p);
    return x;
}

static hd_tensor *exponential(hd_tensor *x, double lambda, double unused)
{
    (void)unused;
    return hd__tensor_exponential_fill(x, lambda);
}

static const struct {
    fill f;
    double a, b;
} draws[] = {
    {hd__tensor_uniform_fill, -1, 3},
    {hd__tensor_normal_fill, 2, 0.5},
    {exponential, 1.5, 0},
    {bernoulli, 0.4, 0},
};
enum { DRAWS = sizeof draws / sizeof draws[0] };

static int by_place(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A strided x gets in memory order what a flat tensor of its size gets. With gaps, normal samples
 * are drawn one by one, so the flat tensor has gaps then, too. */
START_TEST(memory_order_and_nothing_in_the_gaps)
{
    dice r = {23};
    hd_generator_set_bernoulli(hd_generator_current(), HD_BERNOULLI_NATIVE);
    for (int round = 0; round < 600; round++) {
        HD_SCOPE;
        int64_t sizes[5], n = 1, places[1024];
        int ndim = (int)roll(&r, 5), k = (int)roll(&r, DRAWS);
        for (int d = 0; d < ndim; d++) {
            sizes[d] = roll(&r, 8) == 0 ? 0 : 1 + roll(&r, 5);
            n *= sizes[d];
        }
        hd_dtype dtype = (hd_dtype)roll(&r, 2);
        hd_tensor *x = strided(&r, dtype, ndim, sizes, false);
        hd_tensor *before = hd__tensor_clone(
            hd__tensor_alias(x, 1, (int64_t[]){(int64_t)x->storage->nbytes / hd_dtype_size(dtype)},
                             (int64_t[]){1}, 0));
        hd_tensor *all = hd__tensor_alias(x, 1, before->sizes, (int64_t[]){1}, 0);
        bool gapped = !hd_is_contiguous(x);
        hd_tensor *flat = hd_zeros(dtype, gapped ? 2 * n : n);
        flat = hd__tensor_alias(flat, 1, &n, (int64_t[]){gapped ? 2 : 1}, 0);
        hd_manual_seed(round);
        draws[k].f(x, draws[k].a, draws[k].b);
        hd_manual_seed(round);
        draws[k].f(flat, draws[k].a, draws[k].b);
        for (int64_t i = 0; i < n; i++) {
            places[i] = place_of(x, i);
        }
        qsort(places, (size_t)n, sizeof places[0], by_place);
        for (int64_t i = 0, at = 0; i < hd_numel(all); i++) {
            bool in = at < n && places[at] == i;
            double want = in ? element_at(flat, at) : element_at(before, i);
            ck_assert_msg(element_at(all, i) == want, "draw %d, place %lld", k, (long long)i);
            at += in;
        }
    }
    ck_no_error();
}
END_TEST

/* MCG31 draws in logical order, whatever the strides and the dtype. */
START_TEST(mcg31_goes_in_logical_order)
{
    dice r = {29};
    hd_generator_set_bernoulli(hd_generator_current(), HD_BERNOULLI_MCG31);
    for (int round = 0; round < 300; round++) {
        HD_SCOPE;
        int64_t sizes[4], n = 1;
        int ndim = (int)roll(&r, 5);
        for (int d = 0; d < ndim; d++) {
            sizes[d] = 1 + roll(&r, 5);
            n *= sizes[d];
        }
        hd_tensor *x = strided(&r, (hd_dtype)roll(&r, 4), ndim, sizes, false);
        hd_tensor *flat = hd_zeros(HD_BOOL, n);
        hd_manual_seed(round);
        bernoulli(x, 0.5, 0);
        hd_manual_seed(round);
        bernoulli(flat, 0.5, 0);
        for (int64_t i = 0; i < n; i++) {
            ck_assert(element_at(x, i) == element_at(flat, i));
        }
    }
}
END_TEST

START_TEST(nothing_is_drawn_for_nothing)
{
    HD_SCOPE;
    for (int k = 0; k < DRAWS; k++) {
        hd_manual_seed(1);
        uint64_t want = hd_generator_random64(hd_generator_current());
        hd_manual_seed(1);
        draws[k].f(hd_zeros(HD_FLOAT32, 3, 0), draws[k].a, draws[k].b);
        ck_assert(hd_generator_random64(hd_generator_current()) == want);
    }
    hd_manual_seed(1);
    uint64_t want = hd_generator_random64(hd_generator_current());
    hd_manual_seed(1);
    hd_rand(HD_FLOAT32, 0);
    hd_randn(HD_FLOAT64, 2, 0);
    hd_randint(HD_INT64, 0, 5, 0);
    hd_randperm(0);
    hd_randperm(1);
    ck_assert(hd_generator_random64(hd_generator_current()) == want);
}
END_TEST

START_TEST(thread_counts_change_no_bit)
{
    for (int k = 0; k < DRAWS; k++) {
        HD_SCOPE;
        hd_tensor *y[2];
        for (int i = 0; i < 2; i++) {
            hd_set_num_threads(i ? 4 : 1);
            hd_manual_seed(77);
            y[i] = hd_zeros(HD_FLOAT32, 300, 401);
            draws[k].f(y[i], draws[k].a, draws[k].b);
        }
        ck_assert_int_eq(memcmp(hd_data(y[0]), hd_data(y[1]), 300 * 401 * 4), 0);
    }
}
END_TEST

START_TEST(the_threads_generator_is_used)
{
    HD_SCOPE;
    hd_generator *g = hd_generator_new(5);
    hd_manual_seed(9);
    hd_tensor *a = hd_rand(HD_FLOAT32, 4), *p = hd_randperm(6);
    hd_generator_use(g);
    hd_manual_seed(9);
    ck_assert_int_eq(memcmp(hd_data(a), hd_data(hd_rand(HD_FLOAT32, 4)), 16), 0);
    ck_assert_int_eq(memcmp(hd_data(p), hd_data(hd_randperm(6)), 48), 0);
    hd_generator_use(NULL);
    hd_generator_free(g);
    int seen = 0;
    for (int64_t i = 0; i < 6; i++) {
        seen |= 1 << hd_get_int(p, i);
    }
    ck_assert_int_eq(seen, 63);
}
END_TEST

START_TEST(integers_stay_in_range)
{
    HD_SCOPE;
    hd_tensor *x = hd_randint(HD_INT64, -3, 4, 1000), *f = hd_randint(HD_FLOAT64, 0, 2, 50);
    int seen = 0;
    for (int64_t i = 0; i < 1000; i++) {
        int64_t v = hd_get_int(x, i);
        ck_assert(v >= -3 && v < 4);
        seen |= 1 << (v + 3);
    }
    ck_assert_int_eq(seen, 127);
    for (int64_t i = 0; i < 50; i++) {
        ck_assert(hd_get(f, i) == 0 || hd_get(f, i) == 1);
    }
    ck_assert_ptr_nonnull(hd_randint(HD_INT64, INT64_MIN, INT64_MAX, 3));
    ck_no_error();
}
END_TEST

/* PyTorch warns of both bounds and gives numbers of a smaller range; tests/golden/rng.txt has
 * them. */
START_TEST(ranges_that_a_float_cannot_hold)
{
    HD_SCOPE;
    hd_tensor *x;
    ck_warning(x = hd_randint(HD_FLOAT32, 0, (1 << 24) + 2, 3),
               "hd_randint: [0, 16777218) of float32: some integers of the range are never drawn, "
               "because the dtype holds every integer only from -16777216 to 16777216");
    ck_assert_ptr_nonnull(x);
    ck_warning(hd_randint(HD_FLOAT64, INT64_MIN, -1, 1),
               "hd_randint: [-9223372036854775808, -1) of float64: some integers of the range are "
               "never drawn, because the dtype holds every integer only from -9007199254740992 to "
               "9007199254740992");
    ck_no_warning(hd_randint(HD_FLOAT32, -(1 << 24), (1 << 24) + 1, 3));
    ck_no_warning(hd_randint(HD_FLOAT64, 0, 1 << 25, 3));
    ck_no_warning(hd_randint(HD_INT64, 0, INT64_MAX, 3));
    uint64_t before = look_at_generator(0, hd_generator_current());
    warnings_expected();
    ck_assert_ptr_null(hd_randint(HD_FLOAT32, (1 << 25) - 1, 1 << 25, 1));
    ck_error(HD_VALUE, "hd_randint: [33554431, 33554432) of float32: expected a range that is not "
                       "empty after its bounds are rounded to the dtype");
    ck_assert(look_at_generator(0, hd_generator_current()) == before);
    ck_assert_ptr_nonnull(hd_randint(HD_FLOAT32, 0, 2, 1));
    ck_assert_msg(look_at_generator(0, hd_generator_current()) != before, "one draw is seen");
    ck_no_error();
}
END_TEST

Suite *suite_random(void)
{
    const TTest *const tests[] = {
        memory_order_and_nothing_in_the_gaps, mcg31_goes_in_logical_order,
        nothing_is_drawn_for_nothing,         thread_counts_change_no_bit,
        the_threads_generator_is_used,        integers_stay_in_range,
        ranges_that_a_float_cannot_hold,
    };
    return SUITE_OF("random", tests);
}
