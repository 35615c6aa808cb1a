/* test_call.c - tests that messages name the function that the program called, also if that
 * function calls others, and that errors inside a user's callback name the function that the
 * callback called. */
#include <string.h>

#include "suites.h"
#include "support/errors.h"
#include "support/module_rows.h"

static int spoke; /* how often speaks was called */

/* Fails in hd_size, and clears that; `who` begins the message. */
static void speaks_as(const char *who)
{
    char expected[100];
    snprintf(expected, sizeof expected, "%shd_size: dim 5 of (2,): expected -1 to 0", who);
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    uint64_t before = hd_error_count();
    hd_code code = hd_error_code();
    ck_assert_int_eq(code, HD_OK);
    hd_size(x, 5);
    ck_assert_uint_eq(hd_error_count(), before + 1);
    ck_assert_str_eq(hd_error_message(), expected);
    hd_error_clear();
    spoke++;
}

static void speaks(void)
{
    speaks_as("");
}

#define SPEAKS(times, ...)                                                                         \
    do {                                                                                           \
        spoke = 0;                                                                                 \
        __VA_ARGS__;                                                                               \
        ck_assert_msg(spoke == (times), "%s: spoke %d times", #__VA_ARGS__, spoke);                \
    } while (0)

/* ---------------------------------------------------------------- the program's own code */

static hd_tensor *hook(hd_tensor *grad, void *user)
{
    (void)grad, (void)user;
    speaks();
    return HD_NONE;
}

static bool at_end(bool ok, void *user)
{
    (void)user;
    speaks();
    return ok;
}

static bool op_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    speaks();
    y[0] = hd_mul_scalar(x[0], 2);
    return true;
}

static void op_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx;
    speaks();
    gx[0] = hd_mul_scalar(gy[0], 2);
}

static void op_free(hd_ctx *ctx)
{
    (void)ctx;
    speaks();
}

static const hd_op op = {.size = sizeof(hd_op),
                         .name = "Own",
                         .forward = op_forward,
                         .backward = op_backward,
                         .free = op_free};

static void use_op(hd_tensor *x)
{
    HD_SCOPE;
    ck_assert(hd_backward(hd_sum(hd_apply(&op, NULL, x))));
}

static hd_tensor *fails(hd_tensor *const *inputs, int n, void *user)
{
    (void)n, (void)user;
    return hd_transpose(inputs[0], 0, 5);
}

typedef struct own {
    hd_module base;
} own;

static hd_tensor *own_forward(hd_module *self, hd_tensor *x)
{
    (void)self;
    speaks_as("Own: ");
    return hd_mul_scalar(x, 2);
}

static void own_free(hd_module *self)
{
    (void)self;
    speaks();
}

static void own_extra(const hd_module *self, char *text, size_t n)
{
    (void)self;
    speaks();
    snprintf(text, n, "own");
}

static const hd_module_type own_type = HD_MODULE_TYPE(own, "Own", own_forward, own_free, own_extra);

static bool visit(hd_module *m, const char *name, void *user)
{
    (void)m, (void)name, (void)user;
    speaks();
    return true;
}

static void release(void *data, void *user)
{
    (void)data, (void)user;
    speaks();
}

static void on_error(hd_code code, const char *message, void *user)
{
    (void)code, (void)user;
    ck_assert_ptr_nonnull(strstr(message, "hd_add: "));
    hd_error_clear();
    hd_size(hd_ones(HD_FLOAT32, 2), 5); /* not passed to the handler that runs */
    ck_assert_str_eq(hd_error_message(), "hd_size: dim 5 of (2,): expected -1 to 0");
    hd_error_clear();
    spoke++;
}

static void on_warning(const char *message, void *user)
{
    (void)user;
    ck_assert_ptr_nonnull(strstr(message, "hd_mse_loss: "));
    speaks();
}

START_TEST(own_code_speaks_for_itself)
{
    HD_SCOPE;
    hd_tensor *x = hd_parameter(hd_ones(HD_FLOAT64, 2), true), *two = hd_ones(HD_FLOAT64, 2);
    hd_register_hook(x, hook, NULL);
    SPEAKS(1, ck_assert(hd_backward(hd_sum(hd_exp(x)))));
    ck_assert(hd_on_backward_end(at_end, NULL));
    SPEAKS(2, ck_assert(hd_backward(hd_sum(hd_exp(x)))));
    hd_on_backward_end(NULL, NULL);
    hd_set_grad(x, HD_NONE);
    SPEAKS(4, use_op(x)); /* forward, backward, the hook, free */
    hd_tensor *inputs[] = {hd_requires_grad_(hd_ones(HD_FLOAT64, 1), true)};
    ck_assert(!hd_gradcheck_n(fails, NULL, 1, inputs, NULL));
    ck_error(HD_INDEX, "hd_transpose: dim 5 of (1,): expected -1 to 0");
    hd_module *m = hd_module_ready(hd_module_new(&own_type));
    SPEAKS(1, ck_assert_ptr_nonnull(hd_forward(m, two)));
    SPEAKS(1, ck_assert(hd_module_visit(m, visit, NULL)));
    SPEAKS(1, ck_assert_ptr_nonnull(hd_module_summary(m)));
    SPEAKS(1, hd_module_free(m));
    float data[2] = {1, 2};
    hd_tensor *wrapped = hd_wrap(HD_FLOAT32, data, release, NULL, 2);
    SPEAKS(1, hd_release(wrapped));
    hd_on_error(on_error, NULL);
    SPEAKS(1, hd_add(two, hd_ones(HD_FLOAT64, 3)));
    hd_on_error(NULL, NULL);
    hd_error_clear();
    hd_on_warning(on_warning, NULL);
    SPEAKS(1, hd_mse_loss(hd_ones(HD_FLOAT64, 2, 1), two));
    hd_on_warning(NULL, NULL);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- functions that call others */

START_TEST(the_function_that_was_called)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *b = hd_ones(HD_BOOL, 2, 3);
    ck_assert_ptr_null(hd_rms_norm(x, hd_ones(HD_FLOAT32, 4), 1e-5));
    ck_assert_int_eq(strncmp(hd_error_message(), "hd_rms_norm: ", 13), 0);
    hd_error_clear();
    ck_assert_ptr_null(hd_var_dims(b, true, false, 0));
    ck_assert_int_eq(strncmp(hd_error_message(), "hd_var_dims: ", 13), 0);
    hd_error_clear();
    ck_assert_ptr_null(hd_roll(x, 1, 7));
    ck_error(HD_INDEX, "hd_roll: dim 7 of (2, 3): expected -2 to 1");
    ck_assert_ptr_null(hd_linear_new(-1, 2, true));
    ck_error(HD_VALUE, "hd_linear_new: in_features -1: expected 0 or more");
    ck_assert_ptr_null(hd_init_uniform_(x, 3, 1)); /* hd_uniform_ refuses it */
    ck_assert_int_eq(strncmp(hd_error_message(), "hd_init_uniform_: ", 18), 0);
    hd_error_clear();
    ck_assert_ptr_null(hd_linear_new(INT64_MAX, 2, true)); /* hd_empty refuses it */
    ck_assert_int_eq(strncmp(hd_error_message(), "hd_linear_new: ", 15), 0);
    hd_error_clear();
    hd_module *linear = hd_linear_new(4, 2, true);
    ck_assert_ptr_null(hd_forward(linear, x)); /* a built-in forward is code like the program's */
    ck_assert_int_eq(strncmp(hd_error_message(), "Linear: hd_linear: ", 19), 0);
    hd_error_clear();
    hd_module_free(linear);
    hd_size(x, 2); /* and after all that, nothing is left of the other names */
    ck_error(HD_INDEX, "hd_size: dim 2 of (2, 3): expected -2 to 1");
}
END_TEST

typedef struct search {
    const char *message;
    bool found;
} search;

static bool begins_with_its_class(hd_module *m, const char *name, void *user)
{
    search *s = user;
    size_t n = strlen(m->type->name);
    (void)name;
    s->found |= strncmp(s->message, m->type->name, n) == 0 && s->message[n] == ':';
    return true;
}

static bool begins_with_class(hd_module *m, const char *message)
{
    search s = {message, false};
    if (!m->type->forward) {
        return strncmp(message, "hd_forward: ", 12) == 0;
    }
    return hd_module_visit(m, begins_with_its_class, &s) && s.found;
}

/* Whatever a built-in forward is given, the message begins with its class, or with that of a module
 * in it. */
START_TEST(built_in_forwards_have_names)
{
    HD_SCOPE;
    hd_module *modules[] = {
        hd_self_attention_v1_new(4, 2),
        hd_self_attention_v2_new(4, 2, false),
        hd_causal_attention_new(4, 2, 6, 0, false),
        hd_multi_head_attention_wrapper_new(4, 2, 6, 0, 2, false),
        hd_multi_head_attention_new(4, 2, 6, 0, 2, false),
        hd_multihead_attention_new(4, 2, NULL),
        hd_feed_forward_new(4, 8),
        hd_relu_new(true),
    };
    const int by_hand = sizeof modules / sizeof *modules, count = by_hand + MODULE_ROWS;
    hd_tensor *xs[] = {
        hd_ones(HD_FLOAT32, 1),          hd_ones(HD_FLOAT32, 2, 3),     hd_ones(HD_BOOL, 2, 4),
        hd_ones(HD_FLOAT64, 2, 3, 4),    hd_ones(HD_FLOAT32, 2, 9, 4),  hd_ones(HD_INT64, 2, 3, 4),
        hd_ones(HD_FLOAT32, 2, 3, 4, 4), hd_full(HD_INT64, 7, 2, 3, 4),
    };
    int failed = 0;
    for (int i = 0; i < count; i++) {
        hd_module *m = i < by_hand ? modules[i] : module_row_new(i - by_hand);
        ck_assert_ptr_nonnull(m);
        for (int k = 0; m->type->forward && k < (int)(sizeof xs / sizeof *xs); k++) {
            if (!hd_forward(m, xs[k])) {
                ck_assert_msg(begins_with_class(m, hd_error_message()), "module %d, x %d: %s", i, k,
                              hd_error_message());
                failed++;
            }
            hd_error_clear();
        }
        hd_module_free(m);
    }
    printf("%d of %d calls of built-in forwards fail, each with a name\n", failed, count * 8);
    ck_assert_int_gt(failed, count);
}
END_TEST

Suite *suite_call(void)
{
    const TTest *const tests[] = {own_code_speaks_for_itself, the_function_that_was_called,
                                  built_in_forwards_have_names};
    return SUITE_OF("call", tests);
}
