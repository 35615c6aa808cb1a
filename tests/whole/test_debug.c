/* test_debug.c - debug mode: the first NaN or infinity, both calls of a version error, and the
 * tensors that are live. With HEED_DEBUG=1 in the environment everything here holds as well. */
#include <math.h>

#include "suites.h"
#include "support/warnings.h"

static void debug_on(void)
{
    bool was = hd_set_debug(true);
    const char *text = getenv("HEED_DEBUG");
    ck_assert(was == (text && strcmp(text, "1") == 0));
}

static void debug_off(void)
{
    hd_set_debug(false);
}

/* ---------------------------------------------------------------- modules that go wrong */

typedef struct logs {
    hd_module base;
    hd_module *inner;
} logs;

static hd_tensor *log_forward(hd_module *self, hd_tensor *x)
{
    (void)self;
    return hd_log(x);
}

static hd_tensor *logs_forward(hd_module *self, hd_tensor *x)
{
    return hd_mul_scalar(hd_forward(((logs *)self)->inner, x), 2);
}

static const hd_module_type log_type = {
    .size = sizeof log_type,
    .name = "Log",
    .instance_size = sizeof(hd_module),
    .forward = log_forward,
};
static const hd_module_type logs_type = {
    .size = sizeof logs_type,
    .name = "Logs",
    .instance_size = sizeof(logs),
    .forward = logs_forward,
};

static hd_module *logs_new(void)
{
    logs *m = (logs *)hd_module_new(&logs_type);
    hd_register_module(&m->base, "inner", &m->inner, hd_module_new(&log_type));
    return hd_module_ready(&m->base);
}

static hd_tensor *leaf(const float *values, int64_t n)
{
    return hd_requires_grad_(hd_from_data(HD_FLOAT32, values, n), true);
}

/* ---------------------------------------------------------------- the first NaN or infinity */

START_TEST(the_function_and_the_module_of_an_infinity)
{
    hd_module *model = hd_sequential(logs_new());
    hd_tensor *x = leaf((float[]){1, 0, 2}, 3), *y; /* (3,) */
    ck_warning(y = hd_forward(model, x),
               "hd_log: the result (3,) has inf or -inf at (1,), and every input is finite; in "
               "Sequential.0.inner");
    /* An infinity goes on without further warnings. */
    ck_no_warning(hd_add_scalar(y, 1));
    hd_module_free(model);
}
END_TEST

START_TEST(nan_of_infinities_is_news)
{
    hd_tensor *x = hd_tensor_of(((float[]){INFINITY, 1}), 2), *y; /* (2,) */
    ck_warning(y = hd_sub(x, x), "hd_sub: the result (2,) has nan at (0,), and no input has nan");
    ck_no_warning(hd_mul(y, y));
    hd_tensor *scores = hd_ones(HD_FLOAT64, 2, 2);
    hd_tensor *mask = hd_tensor_of(((bool[2][2]){{true, true}, {false, true}}), 2, 2);
    ck_no_warning(scores = hd_masked_fill(scores, mask, -INFINITY));
    ck_warning(hd_softmax(scores, -1),
               "hd_softmax: the result (2, 2) has nan at (0, 0), and no input has nan");
}
END_TEST

START_TEST(strided_results_and_the_first_element)
{
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 3);
    ck_warning(hd_log(hd_transpose(x, 0, 1)),
               "hd_log: the result (3, 2) has inf or -inf at (0, 0), and every input is finite");
    hd_fill_(x, 1);
    hd_set(x, 0, 1, 2);
    ck_warning(hd_log(hd_transpose(x, 0, 1)),
               "hd_log: the result (3, 2) has inf or -inf at (2, 1), and every input is finite");
    ck_no_warning(hd_log(hd_slice(x, 1, 0, 2)));
    ck_no_warning(hd_log(hd_zeros(HD_FLOAT32, 0)));
}
END_TEST

START_TEST(changes_in_place_are_watched)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    ck_warning(
        hd_div_scalar_(x, 0),
        "hd_div_scalar_: the result (2,) has inf or -inf at (0,), and every input is finite");
    ck_warning(hd_sub_(x, x), "hd_sub_: the result (2,) has nan at (0,), and no input has nan");
    ck_no_warning(hd_mul_(x, x));
    ck_no_warning(hd_fill_(x, INFINITY));
    ck_no_warning(hd_masked_fill_(x, hd_ones(HD_BOOL, 2), NAN));
}
END_TEST

/* What is not finite already is no news in its parts. */
START_TEST(parts_are_watched)
{
    hd_tensor *x = leaf((float[]){INFINITY, NAN}, 2);
    ck_no_warning(hd_split(hd_mul_scalar(x, 1), 1, 0));
    ck_no_warning(hd_list_get(hd_chunk(x, 2, 0), 1));
}
END_TEST

/* A copy into another dtype may overflow. */
START_TEST(copies_are_watched)
{
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 2), *large = hd_full(HD_FLOAT64, 1e300, 2); /* (2,) */
    ck_warning(hd_copy_(hd_select(x, 0, 1), large),
               "hd_copy_: the result (2,) has inf or -inf at (0,), and every input is finite");
    ck_warning(hd_setitem(x, large, 0),
               "hd_setitem: the result (2,) has inf or -inf at (0,), and every input is finite");
    ck_no_warning(hd_copy_(hd_select(x, 0, 1), hd_full(HD_FLOAT32, INFINITY, 2)));
}
END_TEST

/* A view has no elements of its own, so nobody looks through them. This one has 2^62. */
START_TEST(views_are_not_searched)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 1), *y;
    ck_no_warning(y = hd_expand(x, 1LL << 62));
    ck_assert_int_eq(hd_numel(y), 1LL << 62);
}
END_TEST

START_TEST(the_backward_of_which_call)
{
    hd_module *model = hd_sequential(logs_new());
    hd_tensor *x = leaf((float[]){1, 1e-30f}, 2), *y = hd_forward(model, x); /* (2,) */
    hd_tensor *dy = hd_tensor_of(((float[]){1, 1e20f}), 2);
    ck_warning(
        hd_backward_with(y, dy, false),
        "hd_backward_with: the gradient (2,) that LogBackward0 gave for input 0 has inf or -inf "
        "at (1,), and the gradient that it got is finite; recorded by hd_log in "
        "Sequential.0.inner");
    ck_assert(isinf(hd_get(hd_grad(x), 1))); /* the results are the same */
    hd_tensor *z = hd_sqrt(leaf((float[]){0}, 1));
    ck_warning(
        hd_backward(hd_sum(hd_mul_scalar(z, 0))),
        "hd_backward: the gradient (1,) that SqrtBackward0 gave for input 0 has nan at (0,), "
        "and the gradient that it got has no nan; recorded by hd_sqrt");
    hd_module_free(model);
}
END_TEST

START_TEST(no_news_while_it_is_off)
{
    hd_set_debug(false);
    hd_tensor *x = leaf((float[]){0}, 1);
    ck_no_warning(hd_backward(hd_log(x)));
    ck_no_warning(hd_div_scalar_(hd_ones(HD_FLOAT32, 1), 0));
    hd_tensor_report(); /* there is no handler: nothing is printed */
}
END_TEST

/* ---------------------------------------------------------------- version errors */

START_TEST(both_calls_of_a_version_error)
{
    hd_module *model = hd_sequential(hd_linear_new(2, 2, false));
    hd_tensor *x = leaf((float[]){1, 2}, 2);
    hd_tensor *y = hd_exp(x), *z = hd_sum(y);
    hd_add_(y, hd_forward(model, x));
    hd_backward(z);
    ck_error(HD_GRAD, "hd_backward: ExpBackward0: its saved tensor 0 of (2,) was changed in place: "
                      "version 1, expected 0; hd_exp saved it, and hd_add_ changed it");
    hd_tensor *w = hd_module_get_parameter(model, "0.weight"); /* (2, 2) */
    y = hd_forward(model, hd_requires_grad_(hd_ones(HD_FLOAT32, 3, 2), true));
    {
        HD_NO_GRAD;
        hd_data_mut(w);
    }
    hd_backward(hd_sum(y));
    ck_error(HD_GRAD, "hd_backward: MmBackward0: its saved tensor 1 of (2, 2) was changed in "
                      "place: version 2, expected 1; hd_linear in Sequential.0 saved it, and "
                      "hd_data_mut changed it");
    hd_module_free(model);
}
END_TEST

START_TEST(a_hint_while_it_is_off)
{
    hd_set_debug(false);
    hd_tensor *x = leaf((float[]){1, 2}, 2);
    hd_tensor *y = hd_exp(x), *z = hd_sum(y);
    hd_zero_(y);
    hd_backward(z);
    ck_error(HD_GRAD, "hd_backward: ExpBackward0: its saved tensor 0 of (2,) was changed in place: "
                      "version 1, expected 0; hd_set_debug(true) at the start names both calls");
}
END_TEST

/* ---------------------------------------------------------------- live tensors */

enum { MOST_HEARD = 8 };
static char all_heard[MOST_HEARD][512];
static int n_heard;

static void hear_all(const char *message, void *user)
{
    (void)user;
    ck_assert_int_lt(n_heard, MOST_HEARD);
    snprintf(all_heard[n_heard++], sizeof all_heard[0], "%s", message);
}

START_TEST(live_tensors_by_function_and_module)
{
    hd_set_debug(false);
    hd_tensor *before = hd_retain(hd_ones(HD_FLOAT32, 7));
    hd_shutdown();
    hd_set_debug(true);
    hd_module *model = hd_sequential(logs_new());
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *y = hd_retain(hd_forward(model, x));
    hd_tensor *part = hd_retain(hd_select(x, 0, 0)); /* shares its memory with x */
    hd_retain(x);
    n_heard = 0;
    hd_on_warning(hear_all, NULL);
    ck_assert_int_eq(hd_tensor_report(), 4);
    hd_shutdown();
    hd_shutdown(); /* the same tensors are told of once */
    hd_on_warning(NULL, NULL);
    const char *expected[] = {
        "hd_tensor_report: 1 tensor with 24 bytes that hd_mul_scalar made in Sequential.0 is live",
        "hd_tensor_report: 1 tensor with 24 bytes that hd_ones made is live",
        "hd_tensor_report: 1 tensor with 0 bytes that hd_select made is live",
        "hd_tensor_report: 1 tensor made while debug mode was off is live",
        "hd_shutdown: 1 tensor with 24 bytes that hd_mul_scalar made in Sequential.0 is live",
        "hd_shutdown: 1 tensor with 24 bytes that hd_ones made is live",
        "hd_shutdown: 1 tensor with 0 bytes that hd_select made is live",
        "hd_shutdown: 1 tensor made while debug mode was off is live",
    };
    ck_assert_int_eq(n_heard, 8);
    for (int i = 0; i < n_heard; i++) {
        ck_assert_str_eq(all_heard[i], expected[i]);
    }
    hd_release(before);
    hd_release(part);
    hd_release(x);
    hd_release(y);
    hd_module_free(model);
    ck_assert_int_eq(hd_tensor_count(), 0);
}
END_TEST

START_TEST(most_bytes_and_then_most_tensors_come_first)
{
    hd_set_debug(true);
    hd_tensor *x[4];
    {
        HD_SCOPE;
        x[0] = hd_retain(hd_ones(HD_FLOAT32, 6));
        x[1] = hd_retain(hd_zeros(HD_FLOAT32, 3));
        x[2] = hd_retain(hd_full(HD_FLOAT32, 1, 7));
        x[3] = hd_retain(hd_zeros(HD_FLOAT32, 3));
    }
    n_heard = 0;
    hd_on_warning(hear_all, NULL);
    ck_assert_int_eq(hd_tensor_report(), 4);
    hd_on_warning(NULL, NULL);
    const char *expected[] = {
        "hd_tensor_report: 1 tensor with 28 bytes that hd_full made is live",
        "hd_tensor_report: 2 tensors with 24 bytes that hd_zeros made are live",
        "hd_tensor_report: 1 tensor with 24 bytes that hd_ones made is live",
    };
    ck_assert_int_eq(n_heard, 3);
    for (int i = 0; i < n_heard; i++) {
        ck_assert_str_eq(all_heard[i], expected[i]);
    }
    hd_release(x[1]); /* neither the first nor the last of the list */
    hd_release(x[0]);
    hd_release(x[2]);
    n_heard = 0;
    hd_on_warning(hear_all, NULL);
    ck_assert_int_eq(hd_tensor_report(), 1);
    hd_on_warning(NULL, NULL);
    ck_assert_int_eq(n_heard, 1);
    ck_assert_str_eq(all_heard[0],
                     "hd_tensor_report: 1 tensor with 12 bytes that hd_zeros made is live");
    hd_release(x[3]);
}
END_TEST

/* The bytes of a storage are counted at the oldest of its tensors, wherever it lies. */
START_TEST(views_have_no_bytes_of_their_own)
{
    hd_set_debug(true);
    hd_tensor *x[] = {hd_retain(hd_ones(HD_FLOAT32, 6)), hd_retain(hd_ones(HD_FLOAT32, 6))};
    hd_tensor *part[] = {hd_retain(hd_select(x[0], 0, 1)), hd_retain(hd_select(x[1], 0, 1))};
    n_heard = 0;
    hd_on_warning(hear_all, NULL);
    ck_assert_int_eq(hd_tensor_report(), 4);
    hd_on_warning(NULL, NULL);
    ck_assert_int_eq(n_heard, 2);
    ck_assert_str_eq(all_heard[0],
                     "hd_tensor_report: 2 tensors with 48 bytes that hd_ones made are live");
    ck_assert_str_eq(all_heard[1],
                     "hd_tensor_report: 2 tensors with 0 bytes that hd_select made are live");
    for (int i = 0; i < 2; i++) {
        hd_release(part[i]);
        hd_release(x[i]);
    }
}
END_TEST

/* Of a path that is longer than 400 characters, the end is told. */
START_TEST(a_long_path_is_cut)
{
    hd_set_debug(true);
    hd_module *model = hd_sequential(logs_new());
    for (int i = 0; i < 250; i++) {
        model = hd_sequential(model);
    }
    hd_tensor *y;
    {
        HD_SCOPE;
        y = hd_retain(hd_forward(model, hd_ones(HD_FLOAT32, 2)));
    }
    n_heard = 0;
    hd_on_warning(hear_all, NULL);
    ck_assert_int_eq(hd_tensor_report(), 1);
    hd_on_warning(NULL, NULL);
    const char *path = strstr(all_heard[0], " made in ") + strlen(" made in ");
    ck_assert_int_eq(strncmp(path, "....0.0.0", 9), 0);
    ck_assert_ptr_nonnull(strstr(path, ".0.0 is live"));
    ck_assert_uint_gt(strlen(path), 390);
    ck_assert_uint_lt(strlen(path), 420);
    hd_release(y);
    hd_module_free(model);
}
END_TEST

/* ---------------------------------------------------------------- the suite */

Suite *suite_debug(void)
{
    const TTest *const tests[] = {
        the_function_and_the_module_of_an_infinity,
        nan_of_infinities_is_news,
        strided_results_and_the_first_element,
        changes_in_place_are_watched,
        parts_are_watched,
        copies_are_watched,
        views_are_not_searched,
        the_backward_of_which_call,
        no_news_while_it_is_off,
        both_calls_of_a_version_error,
        a_hint_while_it_is_off,
        live_tensors_by_function_and_module,
        most_bytes_and_then_most_tensors_come_first,
        views_have_no_bytes_of_their_own,
        a_long_path_is_cut,
    };
    return SUITE_BETWEEN("debug", tests, debug_on, debug_off);
}
