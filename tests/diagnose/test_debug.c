/* test_debug.c - tests of debug mode: the first NaN or infinity, both calls of a version error, and
 * the list of live tensors. The tests must also pass with HEED_DEBUG=1 in the environment. */
#include <math.h>

#include "suites.h"
#include "support/child.h"
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

/* ---------------------------------------------------------------- turning it on and off */

/* What the environment asked for goes on. */
static void fail_with_debug_off(void)
{
    setenv("HEED_DEBUG", "1", 1);
    hd_set_debug(false);
    hd_error_set(HD_SHAPE, "q = %d", 6);
    hd_warn("w = %d", 7);
}

static void turn_on_with_a_wrong_start(void)
{
    setenv("HEED_CPU", "none", 1);
    hd_on_error(NULL, NULL);
    fprintf(stderr, "%d", hd_set_debug(true));
    fprintf(stderr, "%d, %s", hd_set_debug(true), hd_code_name(hd_error_code()));
}

START_TEST(in_a_process_of_its_own)
{
    char printed[256];
    hd_on_warning(NULL, NULL);
    child_prints(fail_with_debug_off, false, printed, sizeof printed);
    ck_assert_str_eq(printed, "SHAPE: q = 6\nwarning: w = 7\n");
    child_prints(turn_on_with_a_wrong_start, false, printed, sizeof printed);
    ck_assert_str_eq(printed, "00, VALUE");
}
END_TEST

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
    ck_warning(
        y = hd_forward(model, x),
        "Log: hd_log: the result (3,) has inf or -inf at (1,), but every input is finite; in "
        "Sequential.0.inner");
    /* An infinity goes on without further warnings. */
    ck_no_warning(hd_add_scalar(y, 1));
    hd_module_free(model);
}
END_TEST

START_TEST(nan_of_infinities_is_news)
{
    hd_tensor *x = hd_tensor_of(((float[]){INFINITY, 1}), 2), *y; /* (2,) */
    ck_warning(y = hd_sub(x, x), "hd_sub: the result (2,) has nan at (0,), but no input has nan");
    ck_no_warning(hd_mul(y, y));
    hd_tensor *scores = hd_ones(HD_FLOAT64, 2, 2);
    hd_tensor *mask = hd_tensor_of(((bool[2][2]){{true, true}, {false, true}}), 2, 2);
    ck_no_warning(scores = hd_masked_fill(scores, mask, -INFINITY));
    ck_warning(hd_softmax(scores, -1),
               "hd_softmax: the result (2, 2) has nan at (0, 0), but no input has nan");
}
END_TEST

START_TEST(strided_results_and_the_first_element)
{
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 3);
    ck_warning(hd_log(hd_transpose(x, 0, 1)),
               "hd_log: the result (3, 2) has inf or -inf at (0, 0), but every input is finite");
    hd_fill_(x, 1);
    hd_set(x, 0, 1, 2);
    ck_warning(hd_log(hd_transpose(x, 0, 1)),
               "hd_log: the result (3, 2) has inf or -inf at (2, 1), but every input is finite");
    ck_no_warning(hd_log(hd_slice(x, 1, 0, 2)));
    ck_no_warning(hd_log(hd_zeros(HD_FLOAT32, 0)));
}
END_TEST

START_TEST(changes_in_place_are_watched)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    ck_warning(
        hd_div_scalar_(x, 0),
        "hd_div_scalar_: the result (2,) has inf or -inf at (0,), but every input is finite");
    ck_warning(hd_sub_(x, x), "hd_sub_: the result (2,) has nan at (0,), but no input has nan");
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
               "hd_copy_: the result (2,) has inf or -inf at (0,), but every input is finite");
    ck_warning(hd_setitem(x, large, 0),
               "hd_setitem: the result (2,) has inf or -inf at (0,), but every input is finite");
    ck_warning(hd_copy_(hd_select(x, 0, 1), large), /* what x was before is no input */
               "hd_copy_: the result (2,) has inf or -inf at (0,), but every input is finite");
    ck_no_warning(hd_copy_(hd_select(x, 0, 1), hd_full(HD_FLOAT32, INFINITY, 2)));
}
END_TEST

/* Some functions meet infinities on the way, or ask for them. */
START_TEST(infinities_inside_of_a_call)
{
    hd_tensor *p = hd_tensor_of(((double[]){0, 1, 0, 1}), 4); /* (4,) */
    hd_tensor *t = hd_tensor_of(((double[]){0, 1, 1, 0}), 4); /* (4,) */
    ck_no_warning(hd_binary_cross_entropy_with(p, t, HD_REDUCE_NONE));
    ck_no_warning(hd_kl_div(p, t));
    ck_no_warning(hd_isfinite(hd_tensor_of(((double[]){NAN, INFINITY}), 2)));
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
    ck_warning(hd_backward_with(y, dy, false),
               "hd_backward_with: the gradient (2,) that LogBackward0 computed for input 0 has inf "
               "or -inf "
               "at (1,), but the gradient that it received is finite; recorded by hd_log in "
               "Sequential.0.inner");
    ck_assert(isinf(hd_get(hd_grad(x), 1))); /* the results are the same */
    hd_tensor *z = hd_sqrt(leaf((float[]){0}, 1));
    ck_warning(hd_backward(hd_sum(hd_mul_scalar(z, 0))),
               "hd_backward: the gradient (1,) that SqrtBackward0 computed for input 0 has nan at "
               "(0,), but the gradient that it received has no nan; recorded by hd_sqrt");
    hd_module_free(model);
}
END_TEST

/* The loss is NaN and said so. Its backward reads what forward saved, and is not to blame. */
START_TEST(backward_of_a_nan_is_no_news)
{
    hd_tensor *x = leaf((float[]){NAN, 1}, 2), *y = hd_zeros(HD_FLOAT32, 2), *loss; /* (2,) */
    ck_no_warning(loss = hd_mse_loss(x, y));
    ck_warning(hd_backward(loss),
               "hd_backward: the loss of hd_mse_loss is nan. An earlier warning names the call "
               "that made the first nan or infinity. If there is none, the data has it");
    ck_no_warning(hd_backward(hd_mse_loss(x, y))); /* once */
    ck_assert(isnan(hd_get(hd_grad(x), 0)));
}
END_TEST

START_TEST(the_loss_of_ignored_rows)
{
    hd_set_debug(false);
    hd_tensor *logits = hd_requires_grad_(hd_ones(HD_FLOAT32, 1, 3), true); /* (1, 3) */
    hd_tensor *ignored = hd_full(HD_INT64, -100, 1);                        /* (1,) */
    ck_warning(hd_backward(hd_cross_entropy(logits, ignored)),
               "hd_backward: the loss of hd_cross_entropy is nan. Set HEED_DEBUG=1 in the "
               "environment to see the call that made the first nan or infinity");
}
END_TEST

START_TEST(no_news_while_it_is_off)
{
    hd_set_debug(false);
    hd_tensor *x = leaf((float[]){0}, 1);
    ck_warning(hd_backward(hd_log(x)),
               "hd_backward: the loss of hd_log is -inf. Set HEED_DEBUG=1 in the environment to "
               "see the call that made the first nan or infinity");
    ck_warning(hd_backward_with(hd_exp(hd_add_scalar(x, 1000)), HD_NONE, true),
               "hd_backward_with: the loss of hd_exp is inf. Set HEED_DEBUG=1 in the environment "
               "to see the call that made the first nan or infinity");
    ck_no_warning(hd_backward(hd_log(x)));
    hd_tensor *two = hd_log(leaf((float[]){0, 1}, 2)); /* what is no loss */
    ck_no_warning(hd_backward_with(two, hd_ones(HD_FLOAT32, 2), false));
    ck_no_warning(hd_div_scalar_(hd_ones(HD_FLOAT32, 1), 0));
    warnings_expected();
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
    y = hd_clone(x);
    hd_mul_(y, y); /* saves y as it was */
    hd_backward(hd_sum(y));
    ck_error(HD_GRAD, "hd_backward: MulBackward0: its saved tensor 1 of (2,) was changed in place: "
                      "version 1, expected 0; hd_mul_ saved it, and hd_mul_ changed it");
    hd_module_free(model);
}
END_TEST

/* An error names the innermost module, once, and only in debug mode. */
START_TEST(errors_name_the_module)
{
    hd_module *model = hd_sequential(hd_sequential(hd_linear_new(4, 8, false)));
    hd_tensor *x = hd_ones(HD_FLOAT32, 3, 5);
    ck_assert_ptr_null(hd_forward(model, x));
    ck_error(HD_SHAPE,
             "Linear: hd_linear: x (3, 5) and weight (8, 4): inner sizes 5 and 4 differ; in "
             "Sequential.0.0");
    ck_assert_ptr_null(hd_matmul(x, x));
    ck_error(HD_SHAPE, "hd_matmul: (3, 5) and (3, 5): inner sizes 5 and 3 differ");
    hd_set_debug(false);
    ck_assert_ptr_null(hd_forward(model, x));
    ck_error(HD_SHAPE, "Linear: hd_linear: x (3, 5) and weight (8, 4): inner sizes 5 and 4 differ");
    hd_module_free(model);
}
END_TEST

/* The weight of (2, 2) is saved, and `change` changes it. */
static void ck_changed_by(bool (*change)(hd_module *model, hd_list *parameters), const char *by)
{
    HD_SCOPE;
    hd_module *model = hd_sequential(hd_linear_new(2, 2, false));
    hd_tensor *x = leaf((float[]){1, 2}, 2), *y = hd_sum(hd_forward(model, x));
    ck_assert(hd_backward_with(y, HD_NONE, true));
    ck_assert(change(model, hd_module_parameters(model)));
    ck_assert(!hd_backward(y));
    char expected[100];
    snprintf(expected, sizeof expected, "hd_linear in Sequential.0 saved it, and %s changed it",
             by);
    ck_assert_msg(strstr(hd_error_message(), expected), "%s", hd_error_message());
    hd_error_clear();
    hd_module_free(model);
}

static bool step(hd_module *model, hd_list *parameters)
{
    (void)model;
    hd_optim *o = hd_adamw_new(parameters, NULL);
    bool ok = hd_optim_step(o);
    hd_optim_free(o);
    return ok;
}

static bool load(hd_module *model, hd_list *parameters)
{
    (void)parameters;
    hd_dict *d = hd_module_state_dict(model);
    bool ok = hd_module_load_state_dict(model, d, true, NULL);
    hd_dict_free(d);
    return ok;
}

static bool init_zeros(hd_module *model, hd_list *parameters)
{
    (void)model;
    return hd_init_zeros_(hd_list_get(parameters, 0));
}

static bool init_kaiming(hd_module *model, hd_list *parameters)
{
    (void)model;
    return hd_init_kaiming_uniform_(hd_list_get(parameters, 0), 1, HD_FAN_IN, "leaky_relu");
}

static bool init_orthogonal(hd_module *model, hd_list *parameters)
{
    (void)model;
    return hd_init_orthogonal_(hd_list_get(parameters, 0), 1);
}

static bool fill_after_a_step(hd_module *model, hd_list *parameters)
{
    HD_NO_GRAD;
    return step(model, parameters) && hd_fill_(hd_list_get(parameters, 0), 1);
}

START_TEST(the_function_that_the_program_called)
{
    ck_changed_by(step, "hd_optim_step");
    ck_changed_by(load, "hd_module_load_state_dict");
    ck_changed_by(init_zeros, "hd_init_zeros_");
    ck_changed_by(init_kaiming, "hd_init_kaiming_uniform_");
    ck_changed_by(init_orthogonal, "hd_init_orthogonal_");
    ck_changed_by(fill_after_a_step, "hd_fill_");
}
END_TEST

START_TEST(clipping_is_named)
{
    hd_tensor *x = leaf((float[]){1, 2}, 2), *w = leaf((float[]){3, 4}, 2);
    ck_assert(hd_backward(hd_sum(hd_mul_scalar(x, 2))));
    hd_tensor *z = hd_sum(hd_mul(hd_grad(x), w));
    hd_clip_grad_norm_(hd_list_of(x), 0.5, 2, false);
    ck_assert(!hd_backward(z));
    ck_error(HD_GRAD, "hd_backward: MulBackward0: its saved tensor 0 of (2,) was changed in place: "
                      "version 1, expected 0; hd_mul saved it, and hd_clip_grad_norm_ changed it");
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
                      "version 1, expected 0. Call hd_set_debug(true) at the start to see the "
                      "calls that saved and changed it");
}
END_TEST

/* ---------------------------------------------------------------- the place */

static int forward_line;

static hd_tensor *scoped_forward(hd_module *self, hd_tensor *x)
{
    (void)self;
    HD_SCOPE;
    forward_line = __LINE__ - 1;
    return hd_scope_return(hd_matmul(x, x));
}

static const hd_module_type scoped_type = {
    .size = sizeof scoped_type,
    .name = "Scoped",
    .instance_size = sizeof(hd_module),
    .forward = scoped_forward,
};

#define TWO_DTYPES                                                                                 \
    "hd_allclose: a of float32 and b of float64: expected the same dtype. hd_to converts one of "  \
    "them"
#define PLACE "; in the scope opened at " __FILE__ ":%d"

/* hd_allclose opens a scope of its own, and so does hd_forward. */
START_TEST(messages_end_with_the_scope_of_the_program)
{
    char expected[512];
    hd_tensor *x = hd_zeros(HD_FLOAT32, 1, 2), *wide = hd_ones(HD_FLOAT64, 1);
    ck_assert(!hd_allclose(x, wide, 0, 0, false));
    ck_error(HD_DTYPE, TWO_DTYPES);
    HD_SCOPE;
    int line = __LINE__ - 1;
    ck_assert(!hd_allclose(x, wide, 0, 0, false));
    snprintf(expected, sizeof expected, TWO_DTYPES PLACE, line);
    ck_error(HD_DTYPE, expected);
    hd_module *m = hd_module_ready(hd_module_new(&scoped_type));
    ck_assert_ptr_null(hd_forward(m, x));
    snprintf(expected, sizeof expected,
             "Scoped: hd_matmul: (1, 2) and (1, 2): inner sizes 2 and 1 differ; in Scoped" PLACE,
             forward_line);
    ck_error(HD_SHAPE, expected);
    hd_module_free(m);
    snprintf(expected, sizeof expected,
             "hd_log: the result (1, 2) has inf or -inf at (0, 0), but every input is finite" PLACE,
             line);
    ck_warning(hd_log(x), expected);
    hd_set_debug(false);
    ck_assert(!hd_allclose(x, wide, 0, 0, false));
    ck_error(HD_DTYPE, TWO_DTYPES);
}
END_TEST

static hd_module *left_open;

static hd_tensor *opening_forward(hd_module *m, hd_tensor *x)
{
    (void)m, (void)x;
    hd_forward_begin(left_open); /* without hd_forward_end */
    return NULL;
}

START_TEST(a_module_that_left_another_open)
{
    static const hd_module_type type = HD_MODULE_TYPE(hd_module, "Opening", opening_forward);
    hd_module *m = hd_module_ready(hd_module_new(&type));
    left_open = hd_relu_new(false);
    ck_assert_ptr_null(hd_forward(m, hd_ones(HD_FLOAT32, 2)));
    ck_error(HD_USER, "hd_forward: Opening gave NULL without an error: expected a tensor; in "
                      "Opening");
    hd_module_free(left_open);
    hd_module_free(m);
}
END_TEST

/* What is cut off is the message, and never its place. */
START_TEST(messages_of_every_length)
{
    char text[600] = "", place[300];
    HD_SCOPE;
    snprintf(place, sizeof place, PLACE, __LINE__ - 1);
    for (size_t n = 0; n < sizeof text - 1; n++) {
        text[n] = 'a';
        hd_error_set(HD_VALUE, "%s", text);
        const char *message = hd_error_message();
        size_t length = strlen(message), most = 511, whole = n + 1 + strlen(place);
        ck_assert_uint_eq(length, whole < most ? whole : most);
        ck_assert_str_eq(message + length - strlen(place), place);
        hd_error_clear();
    }
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
        "hd_tensor_report: 1 tensor without memory of its own that hd_select made is live",
        "hd_tensor_report: 1 live tensor was made while debug mode was off",
        "hd_shutdown: 1 tensor with 24 bytes that hd_mul_scalar made in Sequential.0 is live",
        "hd_shutdown: 1 tensor with 24 bytes that hd_ones made is live",
        "hd_shutdown: 1 tensor without memory of its own that hd_select made is live",
        "hd_shutdown: 1 live tensor was made while debug mode was off",
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

/* The graph's own handles of x, of a weight and of what the first module made have the maker of
 * these, wherever they were saved. */
START_TEST(makers_of_what_the_graph_saved)
{
    hd_set_debug(true);
    hd_module *model = hd_sequential(hd_linear_new(4, 8, false), hd_linear_new(8, 3, false));
    hd_list *parameters = hd_module_parameters(model);
    hd_tensor *x = hd_randn(HD_FLOAT32, 3, 4), *y = hd_forward(model, x);
    ck_assert_ptr_nonnull(y);
    n_heard = 0;
    hd_on_warning(hear_all, NULL);
    ck_assert_int_eq(hd_tensor_report(), 8);
    hd_on_warning(NULL, NULL);
    const char *expected[] = {
        "hd_tensor_report: 3 tensors with 224 bytes that hd_linear_new made are live",
        "hd_tensor_report: 1 tensor with 96 bytes that hd_linear made in Sequential.0 is live",
        "hd_tensor_report: 2 tensors with 48 bytes that hd_randn made are live",
        "hd_tensor_report: 1 tensor with 36 bytes that hd_linear made in Sequential.1 is live",
    };
    ck_assert_int_eq(n_heard, 5);
    int others = 0; /* how many bytes a list has, and so its place, depends on the machine */
    for (int i = 0; i < 5; i++) {
        if (!strstr(all_heard[i], " that hd_module_parameters made is live")) {
            ck_assert_int_lt(others, 4);
            ck_assert_str_eq(all_heard[i], expected[others++]);
        }
    }
    ck_assert_int_eq(hd_list_len(parameters), 2);
    hd_module_free(model);
}
END_TEST

START_TEST(most_bytes_and_then_most_tensors_come_first)
{
    hd_set_debug(true);
    hd_tensor *x[7];
    {
        HD_SCOPE;
        x[0] = hd_retain(hd_ones(HD_FLOAT32, 6));
        x[1] = hd_retain(hd_zeros(HD_FLOAT32, 3));
        x[2] = hd_retain(hd_full(HD_FLOAT32, 1, 7));
        x[3] = hd_retain(hd_zeros(HD_FLOAT32, 3));
        for (int i = 4; i < 7; i++) {
            x[i] = hd_retain(hd_arange(0, 2.5, 1.5)); /* 2 numbers */
        }
    }
    n_heard = 0;
    hd_on_warning(hear_all, NULL);
    ck_assert_int_eq(hd_tensor_report(), 7);
    hd_on_warning(NULL, NULL);
    const char *expected[] = {
        "hd_tensor_report: 1 tensor with 28 bytes that hd_full made is live",
        "hd_tensor_report: 3 tensors with 24 bytes that hd_arange made are live",
        "hd_tensor_report: 2 tensors with 24 bytes that hd_zeros made are live",
        "hd_tensor_report: 1 tensor with 24 bytes that hd_ones made is live",
    };
    ck_assert_int_eq(n_heard, 4);
    for (int i = 0; i < n_heard; i++) {
        ck_assert_str_eq(all_heard[i], expected[i]);
    }
    for (int i = 6; i > 0; i--) { /* from the middle of the list, the newer one first */
        if (i != 3) {
            hd_release(x[i]);
        }
    }
    n_heard = 0;
    hd_on_warning(hear_all, NULL);
    ck_assert_int_eq(hd_tensor_report(), 2);
    hd_on_warning(NULL, NULL);
    ck_assert_int_eq(n_heard, 2);
    ck_assert_str_eq(all_heard[0],
                     "hd_tensor_report: 1 tensor with 24 bytes that hd_ones made is live");
    ck_assert_str_eq(all_heard[1],
                     "hd_tensor_report: 1 tensor with 12 bytes that hd_zeros made is live");
    hd_release(x[3]);
    hd_release(x[0]);
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
    ck_assert_str_eq(
        all_heard[1],
        "hd_tensor_report: 2 tensors without memory of their own that hd_select made are live");
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
        infinities_inside_of_a_call,
        views_are_not_searched,
        the_backward_of_which_call,
        backward_of_a_nan_is_no_news,
        the_loss_of_ignored_rows,
        no_news_while_it_is_off,
        both_calls_of_a_version_error,
        errors_name_the_module,
        the_function_that_the_program_called,
        clipping_is_named,
        a_hint_while_it_is_off,
        messages_end_with_the_scope_of_the_program,
        messages_of_every_length,
        a_module_that_left_another_open,
        live_tensors_by_function_and_module,
        makers_of_what_the_graph_saved,
        most_bytes_and_then_most_tensors_come_first,
        views_have_no_bytes_of_their_own,
        a_long_path_is_cut,
    };
    Suite *s = SUITE_BETWEEN("debug", tests, debug_on, debug_off);
    suite_add_loop(s, in_a_process_of_its_own, 1);
    return s;
}
