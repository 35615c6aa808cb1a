/* test_random.c - tests of random draws bit for bit, dropout, multinomial, in-place fills,
 * errors. */
#include <math.h>
#include <stdlib.h>

#include "support/golden_tensor.h"
#include "suites.h"
#include "support/support.h"
#include "heed/autograd.h"

/* ---------------------------------------------------------------- PyTorch's streams */

static hd_dtype dtype_of(const char *name)
{
    static const char *const names[] = {"f32", "f64", "i64", "bool"};
    hd_dtype d = HD_FLOAT32;
    while (d < HD_BOOL && strcmp(names[d], name) != 0) {
        d++;
    }
    return d;
}

/* "transpose 0 1; slice 0 0 8 2" */
static hd_tensor *view_of(hd_tensor *x, const char *text)
{
    for (; x && text && *text; text += strcspn(text, ";"), text += strspn(text, "; ")) {
        char *end = (char *)(uintptr_t)text + strcspn(text, " ");
        int64_t a[HD_MAX_DIMS] = {0};
        int n = 0;
        while (*end == ' ') {
            a[n++] = strtoll(end, &end, 10);
        }
        switch (text[0] * 256 + text[1]) {
        case 't' * 256 + 'r': x = hd_transpose(x, (int)a[0], (int)a[1]); break;
        case 'p' * 256 + 'e': x = hd_permute_n(x, n, a); break;
        case 's' * 256 + 'l': x = hd_slice_step(x, (int)a[0], a[1], a[2], a[3]); break;
        case 's' * 256 + 'e': x = hd_select(x, (int)a[0], a[1]); break;
        default: ck_abort_msg("view: %s", text);
        }
    }
    return x;
}

/* The case's call on x, a view of a tensor of zeros; the result is that tensor, which shows what
 * was written. */
static hd_tensor *run_in_place(const golden_case *c, const char *op, const double *a)
{
    const golden_record *sizes = golden_get(c, "sizes");
    hd_tensor *base =
        hd_zeros_n(dtype_of(golden_text(c, "dtype", "f32")), (int)sizes->numel, sizes->i);
    hd_tensor *x = view_of(base, golden_text(c, "view", NULL));
    hd_tensor *y = !strcmp(op, "uniform_")     ? hd_uniform_(x, a[0], a[1])
                   : !strcmp(op, "normal_")    ? hd_normal_(x, a[0], a[1])
                   : !strcmp(op, "bernoulli_") ? hd_bernoulli_(x, a[0])
                                               : hd_exponential_(x, a[0]);
    return y ? base : NULL;
}

static hd_tensor *run_fresh(const golden_case *c, const char *op, const double *a)
{
    const golden_record *sizes = golden_get(c, "sizes"), *in = golden_get(c, "in");
    hd_dtype d = dtype_of(golden_text(c, "dtype", "f32"));
    hd_tensor *x = in ? view_of(tensor_of(in), golden_text(c, "in.view", NULL)) : NULL;
    switch (op[0] * 256 + op[strlen(op) - 1]) {
    case 'r' * 256 + 'd': return hd_rand_n(d, (int)sizes->numel, sizes->i);
    case 'r' * 256 + 'n': return hd_randn_n(d, (int)sizes->numel, sizes->i);
    case 'r' * 256 + 't':
        return hd_randint_n(d, golden_int(c, "lo", 0), golden_int(c, "hi", 0), (int)sizes->numel,
                            sizes->i);
    case 'r' * 256 + 'm': return hd_randperm((int64_t)a[0]);
    case 'm' * 256 + 'l': return hd_multinomial(x, (int64_t)a[0], a[1] != 0);
    case 'b' * 256 + 'i': return hd_bernoulli(x);
    case 'd' * 256 + 't': return hd_dropout(x, a[0], true);
    default: ck_abort_msg("op: %s", op); return NULL;
    }
}

/* Asserts the same bits in logical order; for a long tensor the same sizes, first values and
 * hash. */
static void expect_bits(const golden_case *c, hd_tensor *y)
{
    const golden_record *out = golden_get(c, "out"), *head = out ? out : golden_get(c, "out.first");
    const golden_record *sizes = golden_get(c, "out.sizes");
    ck_assert_msg(y, "%s: %s", c->name, hd_error_message());
    y = hd_contiguous(y);
    ck_assert_msg(hd_dtype_of(y) == (hd_dtype)head->type, "%s: dtype", c->name);
    int ndim = out ? out->ndim : (int)sizes->numel;
    ck_assert_msg(hd_ndim(y) == ndim && !memcmp(hd_sizes(y), out ? out->sizes : sizes->i,
                                                sizeof(int64_t) * (size_t)ndim),
                  "%s: shape %s", c->name, hd_shape_repr(y));
    double error = hd_dtype_of(y) == HD_FLOAT64 ? GOLDEN_DOUBLE_ERROR : 0;
    for (int64_t i = 0; i < head->numel; i++) {
        double got = element_at(y, i), off = fabs(got - head->d[i]);
        ck_assert_msg(got == head->d[i] || off <= error * (1 + fabs(got)) ||
                          (isnan(got) && isnan(head->d[i])),
                      "%s: element %lld is %.17g, expected %.17g", c->name, (long long)i, got,
                      head->d[i]);
    }
    if (!out && error == 0) {
        int width = (int)hd_dtype_size(hd_dtype_of(y));
        int64_t hash = golden_fnv(hd_data(y), (uint64_t)(hd_numel(y) * width), width);
        ck_assert_msg(hash == golden_int(c, "out.fnv", 0), "%s: hash", c->name);
    }
}

static void check_streams(const char *path, hd_bernoulli_stream stream)
{
    golden_file *f = golden_read(path);
    hd_generator *g = hd_generator_new(0);
    ck_assert_ptr_nonnull(f);
    hd_generator_set_bernoulli(g, stream);
    hd_generator_use(g);
    for (int k = 0; k < f->count; k++) {
        HD_SCOPE;
        const golden_case *c = &f->cases[k];
        const golden_record *args = golden_get(c, "args"), *seed = golden_get(c, "seed");
        const char *op = golden_text(c, "op", "");
        bool in_place = op[strlen(op) - 1] == '_';
        if (seed) {
            hd_manual_seed(seed->i[0]);
        }
        expect_bits(c, (in_place ? run_in_place : run_fresh)(c, op, args ? args->d : NULL));
        int64_t next = (int64_t)(hd_generator_random64(g) & INT64_MAX);
        ck_assert_msg(next == golden_int(c, "next", -1), "%s: the generator after it", c->name);
    }
    ck_assert_int_gt(f->count, 100);
    hd_generator_use(NULL);
    hd_generator_free(g);
    golden_free(f);
    ck_no_error();
}

START_TEST(native_stream)
{
    warnings_expected();
    check_streams(GOLDEN_DIR "/rng.txt", HD_BERNOULLI_NATIVE);
}
END_TEST

START_TEST(mcg31_stream)
{
    check_streams(GOLDEN_DIR "/rng_mcg31.txt", HD_BERNOULLI_MCG31);
}
END_TEST

/* ---------------------------------------------------------------- dropout */

START_TEST(dropout_keeps_its_mask)
{
    HD_SCOPE;
    for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
        hd_manual_seed(8);
        hd_tensor *x = hd_requires_grad_(hd_randn(d, 5, 40), true);
        hd_tensor *y = hd_dropout(x, 0.3, true);
        hd_tensor *dy = hd_randn(d, 5, 40);
        ck_assert_str_eq(hd_grad_fn(y), "MulBackward0");
        ck_assert(hd_backward_with(y, dy, false));
        int kept = 0;
        double scale = d == HD_FLOAT32 ? 1 / (float)0.7 : 1 / (1 - 0.3);
        for (int64_t i = 0; i < 200; i++) {
            double v = element_at(y, i), keep = v != 0 ? scale : 0;
            double want = element_at(x, i) * keep, grad = element_at(dy, i) * keep;
            kept += v != 0;
            ck_assert(v == (d == HD_FLOAT32 ? (float)want : want));
            ck_assert(element_at(hd_grad(x), i) == (d == HD_FLOAT32 ? (float)grad : grad));
        }
        ck_assert(kept > 110 && kept < 170);
    }
    ck_no_error();
}
END_TEST

START_TEST(dropout_that_does_nothing)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3), *none = hd_ones(HD_FLOAT32, 0, 3);
    hd_tensor *ints = hd_ones(HD_INT64, 2);
    hd_manual_seed(1);
    uint32_t first = hd_generator_random(hd_generator_current());
    hd_manual_seed(1);
    ck_assert_ptr_eq(hd_dropout(x, 0.5, false), x);
    ck_assert_ptr_eq(hd_dropout(x, 1, false), x);
    ck_assert_ptr_eq(hd_dropout(x, 0, true), x);
    ck_assert_ptr_eq(hd_dropout(none, 0.5, true), none);
    ck_assert_ptr_eq(hd_dropout(ints, 0.5, false), ints);
    ck_assert_ptr_eq(hd_dropout(ints, 0, true), ints);
    ck_repr(hd_dropout(ints, 1, true), "tensor([0, 0])");
    ck_assert_uint_eq(hd_generator_random(hd_generator_current()), first); /* nothing was drawn */
    ck_no_error();
}
END_TEST

START_TEST(dropped_elements_are_multiplied_by_zero)
{
    warnings_expected(); /* of a loss that is not finite */
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT32, INFINITY, -1, NAN), true);
    hd_tensor *y = hd_dropout(x, 1, true);
    ck_repr(y, "tensor([nan, -0., nan], grad_fn=<MulBackward0>)");
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(x), 0, 0, 0);
    hd_manual_seed(0);
    int nans = 0, infinities = 0;
    y = hd_dropout(hd_full(HD_FLOAT32, INFINITY, 40), 0.5, true);
    for (int64_t i = 0; i < 40; i++) {
        nans += isnan(element_at(y, i));
        infinities += isinf(element_at(y, i));
    }
    ck_assert(nans > 5 && infinities > 5 && nans + infinities == 40);
    ck_no_error();
}
END_TEST

/* The native stream draws in x's memory order, so a transposed x drops the transposed elements. */
START_TEST(order_of_the_streams)
{
    for (hd_bernoulli_stream s = HD_BERNOULLI_MCG31; s <= HD_BERNOULLI_NATIVE; s++) {
        HD_SCOPE;
        hd_generator_set_bernoulli(hd_default_generator(), s);
        hd_tensor *x = hd_ones(HD_FLOAT32, 6, 9), *wide = hd_ones(HD_FLOAT32, 9, 6);
        hd_manual_seed(2);
        hd_tensor *y = hd_dropout(x, 0.5, true);
        hd_manual_seed(2);
        hd_tensor *turned = hd_dropout(hd_t(x), 0.5, true);
        hd_manual_seed(2);
        hd_tensor *plain = hd_dropout(wide, 0.5, true);
        bool native = s == HD_BERNOULLI_NATIVE;
        ck_assert(hd_equal(turned, native ? hd_t(y) : plain));
        ck_assert_int_eq(hd_is_contiguous(turned), false); /* laid out as its input */
        hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_MCG31);
    }
    ck_no_error();
}
END_TEST

START_TEST(threads_change_no_bit)
{
    HD_SCOPE;
    hd_tensor *first = NULL;
    int before = hd_num_threads();
    for (int threads = 1; threads <= 4; threads *= 2) {
        hd_set_num_threads(threads);
        hd_manual_seed(9);
        hd_tensor *y = hd_dropout(hd_randn(HD_FLOAT32, 300, 401), 0.1, true);
        first = threads == 1 ? y : first;
        ck_assert(hd_equal(y, first));
    }
    hd_set_num_threads(before);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- bernoulli, multinomial */

START_TEST(bernoulli_of_sure_things)
{
    HD_SCOPE;
    hd_tensor *p = hd_requires_grad_(vec(HD_FLOAT32, 0, 1, 0, 1, 1), true);
    hd_tensor *y = hd_bernoulli(p);
    ck_repr(y, "tensor([0., 1., 0., 1., 1.], grad_fn=<BernoulliBackward0>)");
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(p), 0, 0, 0, 0, 0);
    ck_no_error();
}
END_TEST

/* 1 if the uniform number is under p: one that is p itself gives 0. */
START_TEST(bernoulli_draws_under_p)
{
    for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
        HD_SCOPE;
        hd_manual_seed(5);
        hd_tensor *u = hd_rand(d, 100);
        hd_manual_seed(5);
        ck_assert(!hd_item_int(hd_any(hd_bernoulli(u))));
        hd_manual_seed(5);
        ck_assert(hd_item_int(hd_all(hd_bernoulli(hd_add_scalar(hd_mul_scalar(u, 0.5), 0.5)))));
    }
    ck_no_error();
}
END_TEST

START_TEST(multinomial_follows_the_weights)
{
    HD_SCOPE;
    hd_tensor *p = hd_view(vec(HD_FLOAT32, 0, 3, 1, 5, 0, 0), 2, 3);
    hd_manual_seed(6);
    hd_tensor *y = hd_multinomial(p, 4000, true);
    ck_assert_str_eq(hd_shape_repr(y), "torch.Size([2, 4000])");
    double ones = hd_item(hd_sum(hd_eq_scalar(hd_select(y, 0, 0), 1)));
    ck_assert(ones > 2900 && ones < 3100); /* 3 of 4; a standard deviation is 27 */
    ck_assert_double_eq(hd_item(hd_sum(hd_eq_scalar(hd_select(y, 0, 0), 0))), 0);
    ck_assert_double_eq(hd_item(hd_sum(hd_select(y, 0, 1))), 0);
    /* Without replacement each comes once, and those of weight 0 come last. */
    for (int i = 0; i < 20; i++) {
        hd_tensor *order = hd_multinomial(hd_select(p, 0, 0), 3, false);
        ck_assert_int_eq(hd_get_int(order, 2), 0);
        ck_assert_int_eq(hd_get_int(order, 0) + hd_get_int(order, 1), 3);
    }
    ck_assert_str_eq(hd_shape_repr(hd_multinomial(hd_ones(HD_FLOAT64, 0, 3), 2, true)),
                     "torch.Size([0, 2])");
    hd_tensor *nothing = hd_zeros(HD_FLOAT64, 0, 0); /* no rows, and nothing to draw from */
    ck_assert_str_eq(hd_shape_repr(hd_multinomial(nothing, 1, true)), "torch.Size([0, 1])");
    ck_assert_ptr_null(hd_multinomial(nothing, 1, false));
    ck_error(HD_VALUE, "hd_multinomial: 1 samples without replacement from p (0, 0): expected at "
                       "least one sample and one weight, and without replacement at most one "
                       "sample for each weight");
    ck_assert_ptr_null(hd_multinomial(hd_zeros(HD_FLOAT64, 2, 0), 1, true));
    ck_error(HD_VALUE, "hd_multinomial: 1 samples with replacement from p (2, 0): expected at "
                       "least one sample and one weight, and without replacement at most one "
                       "sample for each weight");
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- in place */

START_TEST(fills_are_recorded_with_a_zero_gradient)
{
    HD_SCOPE;
    static const char *const names[] = {"UniformBackward0", "NormalBackward0", "BernoulliBackward2",
                                        "ExponentialBackward0"};
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 3), true);
    for (int i = 0; i < 4; i++) {
        hd_tensor *y = hd_mul_scalar(x, 1);
        int64_t version = hd_version_of(y);
        hd_tensor *z = i == 0   ? hd_uniform_(y, 2, 3)
                       : i == 1 ? hd_normal_(y, 0, 1)
                       : i == 2 ? hd_bernoulli_(y, 0.5)
                                : hd_exponential_(y, 1);
        ck_assert_ptr_eq(z, y);
        ck_assert_int_eq(hd_version_of(y), version + 1);
        ck_assert_str_eq(hd_grad_fn(y), names[i]);
        ck_assert(hd_backward(hd_sum(y)));
        ck_elements(hd_grad(x), 0, 0, 0);
    }
    hd_tensor *base = hd_mul_scalar(x, 2);
    hd_uniform_(hd_slice(base, 0, 1, 2), 5, 5);
    ck_elements(hd_detach(base), 2, 5, 2);
    hd_set_grad(x, HD_NONE);
    ck_assert(hd_backward(hd_sum(base)));
    ck_elements(hd_grad(x), 2, 0, 2);
    ck_no_error();
}
END_TEST

START_TEST(bernoulli_into_any_dtype)
{
    for (hd_dtype d = HD_FLOAT32; d <= HD_BOOL; d++) {
        HD_SCOPE;
        hd_manual_seed(0);
        hd_tensor *x = hd_bernoulli_(hd_zeros(d, 50), 0.5);
        hd_manual_seed(0);
        ck_assert(hd_equal(hd_to(x, HD_FLOAT32), hd_bernoulli_(hd_ones(HD_FLOAT32, 50), 0.5)));
        ck_assert(hd_equal(hd_bernoulli_(x, 1), hd_ones(d, 50)));
        ck_assert(hd_equal(hd_bernoulli_(x, 0), hd_zeros(d, 50)));
    }
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- errors */

START_TEST(errors_of_draws)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3), *ints = hd_ones(HD_INT64, 3);
    ck_assert_ptr_null(hd_dropout(x, 1.5, true));
    ck_error(HD_VALUE, "hd_dropout: p 1.5: expected 0 to 1");
    ck_assert_ptr_null(hd_dropout(x, NAN, false));
    ck_error(HD_VALUE, "hd_dropout: p nan: expected 0 to 1");
    ck_assert_ptr_null(hd_dropout(x, -0.1, false));
    ck_error(HD_VALUE, "hd_dropout: p -0.1: expected 0 to 1");
    ck_assert_ptr_null(hd_dropout(ints, 0.5, true));
    ck_error(HD_DTYPE, "hd_dropout: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_dropout(NULL, 0.5, true));
    ck_error(HD_NULL_ARG, "hd_dropout: x is NULL");
    ck_assert_ptr_null(hd_bernoulli(hd_view(vec(HD_FLOAT64, 0, 1, 1, 1.25), 2, 2)));
    ck_error(HD_VALUE, "hd_bernoulli: p is 1.25 at (1, 1): expected 0 to 1");
    ck_assert_ptr_null(hd_bernoulli(vec(HD_FLOAT64, NAN)));
    ck_error(HD_VALUE, "hd_bernoulli: p is nan at (0,): expected 0 to 1");
    ck_assert_ptr_null(hd_bernoulli(ints));
    ck_error(HD_DTYPE, "hd_bernoulli: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_multinomial(ints, 1, true));
    ck_error(HD_DTYPE, "hd_multinomial: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_multinomial(vec(HD_FLOAT32, 1, -1, 1), 1, true));
    ck_error(HD_VALUE, "hd_multinomial: p is -1.0 at (1,): expected 0 or more, and finite");
    ck_assert_ptr_null(hd_multinomial(vec(HD_FLOAT32, 1, INFINITY), 2, true));
    ck_error(HD_VALUE, "hd_multinomial: p is inf at (1,): expected 0 or more, and finite");
    ck_assert_ptr_null(hd_multinomial(hd_zeros(HD_FLOAT32, 2, 3), 1, false));
    ck_error(HD_VALUE,
             "hd_multinomial: the weights of row 0 of (2, 3) are all 0: expected one above 0");
    ck_assert_ptr_null(hd_multinomial(x, 4, false));
    ck_error(HD_VALUE, "hd_multinomial: 4 samples without replacement from p (3,): expected at "
                       "least one sample and one weight, and without replacement at most one "
                       "sample for each weight");
    ck_assert_ptr_null(hd_multinomial(x, 0, true));
    ck_error(HD_VALUE, "hd_multinomial: 0 samples with replacement from p (3,): expected at "
                       "least one sample and one weight, and without replacement at most one "
                       "sample for each weight");
    ck_assert_ptr_null(hd_multinomial(hd_ones(HD_FLOAT32, 1, 1, 1), 1, true));
    ck_error(HD_SHAPE, "hd_multinomial: p (1, 1, 1): expected (m,) or (rows, m)");
}
END_TEST

START_TEST(errors_in_place)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3), *ints = hd_ones(HD_INT64, 3);
    ck_assert_ptr_null(hd_uniform_(x, 1, 0));
    ck_error(HD_VALUE, "hd_uniform_: a 1.0 and b 0.0 for x of float32: expected finite a <= b with "
                       "a finite difference");
    ck_assert_ptr_null(hd_uniform_(x, 0, 1e39));
    ck_error(HD_VALUE, "hd_uniform_: a 0.0 and b 1e+39 for x of float32: expected finite a <= b "
                       "with a finite difference");
    ck_assert_ptr_null(hd_uniform_(x, -3e38, 3e38));
    ck_error(HD_VALUE, "hd_uniform_: a -3e+38 and b 3e+38 for x of float32: expected finite a <= b "
                       "with a finite difference");
    ck_assert_ptr_null(hd_uniform_(ints, 0, 1));
    ck_error(HD_DTYPE, "hd_uniform_: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_normal_(x, 0, -1));
    ck_error(HD_VALUE, "hd_normal_: std -1.0: expected 0 or more");
    ck_assert_ptr_null(hd_normal_(ints, 0, 1));
    ck_error(HD_DTYPE, "hd_normal_: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_exponential_(x, 0));
    ck_error(HD_VALUE, "hd_exponential_: lambda 0.0: expected more than 0");
    ck_assert_ptr_null(hd_exponential_(x, NAN));
    ck_error(HD_VALUE, "hd_exponential_: lambda nan: expected more than 0");
    ck_assert_ptr_null(hd_bernoulli_(x, 2));
    ck_error(HD_VALUE, "hd_bernoulli_: p 2.0: expected 0 to 1");
    ck_assert_ptr_null(hd_normal_(hd_expand(hd_ones(HD_FLOAT32, 1), 3), 0, 1));
    ck_error(HD_STATE,
             "hd_normal_: x of (3,) is expanded: several elements share memory. Clone it first");
    hd_tensor *leaf = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
    ck_assert_ptr_null(hd_uniform_(leaf, 0, 1));
    ck_error(HD_GRAD, "hd_uniform_: x of (2,) is a leaf that requires grad. Change it under "
                      "HD_NO_GRAD, or change a clone of it");
    ck_elements(x, 1, 1, 1);
    ck_elements(leaf, 1, 1);
    HD_NO_GRAD;
    ck_assert_ptr_eq(hd_uniform_(leaf, 4, 4), leaf);
    ck_elements(leaf, 4, 4);
}
END_TEST

/* Of so many equal weights some sums are within rounding of each draw. */
START_TEST(draws_near_the_edges_of_shares)
{
    enum { M = 1 << 20, DRAWS = 2000 };
    HD_SCOPE;
    for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
        hd_manual_seed(5);
        hd_tensor *u = hd_rand(HD_FLOAT64, DRAWS);
        hd_manual_seed(5);
        hd_tensor *drawn = hd_multinomial(hd_ones(d, M), DRAWS, true);
        for (int i = 0; i < DRAWS; i++) {
            double edge = ceil(hd_get(u, i) * M);
            ck_assert_int_eq(hd_get_int(drawn, i), edge > 0 ? (int64_t)edge - 1 : 0);
        }
    }
    ck_no_error();
}
END_TEST

Suite *suite_random(void)
{
    const TTest *const tests[] = {
        native_stream,
        mcg31_stream,
        dropout_keeps_its_mask,
        dropout_that_does_nothing,
        dropped_elements_are_multiplied_by_zero,
        order_of_the_streams,
        threads_change_no_bit,
        bernoulli_of_sure_things,
        bernoulli_draws_under_p,
        multinomial_follows_the_weights,
        draws_near_the_edges_of_shares,
        fills_are_recorded_with_a_zero_gradient,
        bernoulli_into_any_dtype,
        errors_of_draws,
        errors_in_place,
    };
    return SUITE_OF("random", tests);
}
