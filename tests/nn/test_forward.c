/* test_forward.c - tests of hd_forward: its scope, and failures inside that the program did not
 * check. */
#include "suites.h"
#include "support/quarantine.h"

/* ---------------------------------------------------------------- forwards to try */

/* Fails and returns NULL, as any call may. */
static hd_tensor *failing_call(hd_tensor *x)
{
    return hd_masked_fill_(x, hd_ones(HD_BOOL, 7), 0); /* (7,) does not broadcast to (2,) */
}

static hd_tensor *ignores_a_failure(hd_module *self, hd_tensor *x)
{
    (void)self;
    hd_tensor *y = hd_mul_scalar(x, 2);
    failing_call(y);
    return y;
}

static hd_tensor *clears_a_failure(hd_module *self, hd_tensor *x)
{
    (void)self;
    failing_call(x);
    hd_error_clear();
    return hd_mul_scalar(x, 2);
}

static hd_tensor *fails_after_clearing(hd_module *self, hd_tensor *x)
{
    hd_tensor *y = clears_a_failure(self, x);
    failing_call(y);
    return y;
}

static hd_tensor *calls_left(hd_module *self, hd_tensor *x)
{
    return hd_forward(((probe *)self)->left, x);
}

static hd_tensor *fails_then_calls_left(hd_module *self, hd_tensor *x)
{
    failing_call(x);
    return calls_left(self, x);
}

static hd_tensor *covers_for_left(hd_module *self, hd_tensor *x)
{
    hd_tensor *y = calls_left(self, x);
    if (!y) {
        hd_error_clear();
        y = hd_mul_scalar(x, 3);
    }
    return y;
}

static hd_tensor *ignores_left(hd_module *self, hd_tensor *x)
{
    calls_left(self, x);
    return hd_mul_scalar(x, 2);
}

static hd_tensor *fails_then_begins_only(hd_module *self, hd_tensor *x)
{
    failing_call(x);
    hd_forward_begin(((probe *)self)->left);
    return x;
}

static hd_tensor *gives_null(hd_module *self, hd_tensor *x)
{
    (void)self;
    (void)x;
    return NULL;
}

static hd_tensor *gives_none(hd_module *self, hd_tensor *x)
{
    (void)self;
    (void)x;
    return HD_NONE;
}

static hd_tensor *makes_garbage(hd_module *self, hd_tensor *x)
{
    (void)self;
    for (int i = 0; i < 10; i++) {
        x = hd_add_scalar(x, 1);
    }
    return x;
}

static hd_tensor *gives_its_parameter(hd_module *self, hd_tensor *x)
{
    (void)x;
    return ((probe *)self)->a;
}

static hd_tensor *begins_only(hd_module *self, hd_tensor *x)
{
    hd_module *left = ((probe *)self)->left;
    return hd_forward_begin(left) ? hd_mul_scalar(x, 2) : NULL; /* and never ends it */
}

static hd_tensor *ends_itself(hd_module *self, hd_tensor *x)
{
    hd_forward_end(self, x);
    return x;
}

/* ---------------------------------------------------------------- failures */

/* The message of failing_call in the forward of a probe, when x has two elements. */
static const char *bad_mask(void)
{
    static char text[600];
    HD_SCOPE;
    failing_call(hd_ones(HD_FLOAT32, 2));
    snprintf(text, sizeof text, "Probe: %s", hd_error_message());
    hd_error_clear();
    return text;
}

static void with(probe *m, hd_tensor *(*hook)(hd_module *self, hd_tensor *x))
{
    m->hook = hook;
}

START_TEST(an_unused_failure_fails_the_forward)
{
    HD_SCOPE;
    const char *message = bad_mask();
    ck_assert_int_gt(strlen(message), 20);
    probe *m = probe_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    with(m, ignores_a_failure);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_SHAPE, message);
    ck_elements(x, 1, 1);

    hd_error_set(HD_USER, "older"); /* which stays */
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_USER, "older");
    hd_module_free(&m->base);
}
END_TEST

START_TEST(an_older_error_does_not_fail_it)
{
    HD_SCOPE;
    probe *m = probe_new();
    with(m, makes_garbage);
    hd_error_set(HD_USER, "older");
    ck_elements(hd_forward(&m->base, hd_zeros(HD_FLOAT32, 1)), 10);
    ck_error(HD_USER, "older");
    hd_module_free(&m->base);
}
END_TEST

START_TEST(a_cleared_failure_does_not)
{
    HD_SCOPE;
    const char *message = bad_mask();
    probe *m = probe_new();
    with(m, clears_a_failure);
    ck_elements(hd_forward(&m->base, hd_ones(HD_FLOAT32, 2)), 2, 2);
    ck_no_error();
    with(m, fails_after_clearing);
    ck_assert_ptr_null(hd_forward(&m->base, hd_ones(HD_FLOAT32, 2)));
    ck_error(HD_SHAPE, message);
    hd_module_free(&m->base);
}
END_TEST

START_TEST(failures_of_modules_in_modules)
{
    HD_SCOPE;
    const char *message = bad_mask();
    probe *m = probe_new(), *left = probe_new();
    hd_register_module(&m->base, "left", &m->left, &left->base);
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    with(m, calls_left);
    with(left, ignores_a_failure);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_SHAPE, message);

    with(m, ignores_left);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_SHAPE, message);

    with(m, covers_for_left);
    ck_elements(hd_forward(&m->base, x), 3, 3);
    ck_no_error();

    with(m, fails_then_calls_left); /* left clears its own error, and not m's */
    with(left, clears_a_failure);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_STATE, "hd_forward: a call inside Probe failed, and its error was cleared");
    hd_module_free(&m->base);
}
END_TEST

START_TEST(a_forward_gives_a_tensor)
{
    HD_SCOPE;
    probe *m = probe_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    with(m, gives_null);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_USER, "hd_forward: Probe gave NULL without an error: expected a tensor");
    with(m, gives_none);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_USER, "hd_forward: Probe gave HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_forward(NULL, x));
    ck_error(HD_NULL_ARG, "hd_forward: m is NULL");
    ck_assert_ptr_null(hd_forward(&m->base, NULL));
    ck_error(HD_NULL_ARG, "hd_forward: x is NULL");
    ck_assert_ptr_null(hd_forward(&m->base, HD_NONE));
    ck_error(HD_NULL_ARG, "hd_forward: x is HD_NONE: expected a tensor");
    hd_module_free(&m->base);
}
END_TEST

static hd_tensor *gives_a_freed_one(hd_module *self, hd_tensor *x)
{
    (void)self;
    HD_SCOPE;
    return hd_mul_scalar(x, 2);
}

static hd_tensor *releases_its_result(hd_module *self, hd_tensor *x)
{
    (void)self;
    hd_tensor *y = hd_mul_scalar(x, 2);
    hd_release(y);
    return y;
}

static hd_tensor *leaves_a_scope_open(hd_module *self, hd_tensor *x)
{
    (void)self;
    hd_scope_open();
    hd_scope_open();
    return hd_mul_scalar(x, 2);
}

/* The end of an error about a result whose scope closed; the scope's place is only told with
 * HEED_DEBUG=1. */
#define CURE " closed; hd_mul_scalar made it. Keep it with hd_retain, hd_assign or hd_scope_return"

static void ck_state(const char *begin, const char *end)
{
    const char *message = hd_error_message();
    size_t length = strlen(message);
    ck_assert_int_eq(hd_error_code(), HD_STATE);
    ck_assert_msg(strncmp(message, begin, strlen(begin)) == 0 && length > strlen(end) &&
                      strcmp(message + length - strlen(end), end) == 0,
                  "%s", message);
    hd_error_clear();
}

START_TEST(a_freed_result_is_an_error)
{
    if (!quarantine_on()) {
        return; /* the sanitizer or valgrind stops the program here */
    }
    HD_SCOPE;
    probe *m = probe_new(), *left = probe_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    with(m, gives_a_freed_one);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_state("hd_forward: the result of Probe's forward was freed when its scope", CURE);
    with(m, releases_its_result);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_STATE, "hd_forward: the result of Probe's forward was freed by hd_release; "
                       "hd_mul_scalar made it");
    int64_t before = hd_scope_count();
    with(m, leaves_a_scope_open);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_STATE,
             "hd_forward: Probe left 2 scopes open. Call hd_scope_close for each hd_scope_open");
    ck_assert_int_eq(hd_scope_count(), before); /* in the scope that was the innermost one */

    hd_register_module(&m->base, "left", &m->left, &left->base); /* one failure, told once */
    with(m, calls_left);
    with(left, gives_a_freed_one);
    uint64_t failures = hd_error_count();
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_assert_int_eq(hd_error_count(), failures + 1);
    ck_state("Probe: hd_forward: the result of Probe's forward was freed when its scope", CURE);

    ck_assert(hd_forward_begin(&m->base));
    ck_assert_ptr_null(hd_forward_end(&m->base, gives_a_freed_one(&m->base, x)));
    ck_state("hd_forward_end: y was freed when its scope", CURE);
    hd_module_free(&m->base);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- scopes */

START_TEST(only_the_result_comes_out)
{
    HD_SCOPE;
    probe *m = probe_new();
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2);
    int64_t before = hd_scope_count();
    with(m, makes_garbage);
    hd_tensor *y = hd_forward(&m->base, x);
    ck_assert_int_eq(hd_scope_count(), before + 1);
    ck_elements(y, 10, 10);

    with(m, NULL); /* x itself: nothing is made and nothing moves */
    ck_assert_ptr_eq(hd_forward(&m->base, x), x);
    ck_assert_int_eq(hd_scope_count(), before + 1);

    hd_register_parameter(&m->base, "a", &m->a, ramp_parameter(2));
    before = hd_scope_count();
    with(m, gives_its_parameter);
    ck_assert_ptr_eq(hd_forward(&m->base, x), m->a);
    ck_assert_int_eq(hd_scope_count(), before);
    ck_elements(m->a, 0, 1);
    hd_module_free(&m->base);
}
END_TEST

START_TEST(begin_and_end)
{
    HD_SCOPE;
    const char *message = bad_mask();
    probe *m = probe_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    int64_t before = hd_scope_count();
    ck_assert(hd_forward_begin(&m->base));
    hd_tensor *y = hd_forward_end(&m->base, hd_add_scalar(hd_mul_scalar(x, 2), 1));
    ck_elements(y, 3, 3);
    ck_assert_int_eq(hd_scope_count(), before + 1);

    ck_assert(hd_forward_begin(&m->base));
    failing_call(x);
    ck_assert_ptr_null(hd_forward_end(&m->base, x));
    ck_error(HD_SHAPE, message);

    ck_assert_ptr_null(hd_forward_end(&m->base, x));
    ck_error(HD_STATE,
             "hd_forward_end: m is a Probe: expected the module of the last hd_forward_begin");
    ck_assert(!hd_forward_begin(NULL));
    ck_error(HD_NULL_ARG, "hd_forward_begin: m is NULL");
    ck_assert_ptr_null(hd_forward_end(NULL, x));
    ck_error(HD_NULL_ARG, "hd_forward_end: m is NULL");
    hd_module_free(&m->base);
}
END_TEST

START_TEST(begin_without_end)
{
    HD_SCOPE;
    const char *message = bad_mask();
    probe *m = probe_new(), *left = probe_new();
    hd_register_module(&m->base, "left", &m->left, &left->base);
    with(m, begins_only);
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    ck_assert_ptr_null(hd_forward(&m->base, NULL));
    hd_error_clear();
    ck_elements(hd_forward(&m->base, x), 2, 2); /* it comes out of the scope that was begun, too */
    with(m, fails_then_begins_only);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_SHAPE, message);
    with(m, ends_itself);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(
        HD_STATE,
        "Probe: hd_forward_end: m is a Probe: expected the module of the last hd_forward_begin");
    hd_module_free(&m->base);
}
END_TEST

/* ---------------------------------------------------------------- scopes that are not as before */

static hd_tensor *leaves_one_and_gives_x(hd_module *self, hd_tensor *x)
{
    (void)self;
    hd_scope_open();
    return x;
}

static hd_scope *around;

static hd_tensor *closes_too_many(hd_module *self, hd_tensor *x)
{
    (void)self;
    hd_scope_close(around);
    return x;
}

static hd_tensor *closes_and_opens_as_many(hd_module *self, hd_tensor *x)
{
    (void)self;
    hd_scope_close(around);
    hd_scope_open();
    hd_scope_open();
    return x;
}

static hd_tensor *begins_and_leaves_one(hd_module *self, hd_tensor *x)
{
    hd_forward_begin(((probe *)self)->left);
    hd_scope_open();
    return x;
}

static hd_tensor *begins_and_closes_it(hd_module *self, hd_tensor *x)
{
    hd_scope *s = hd_scope_open();
    hd_forward_begin(((probe *)self)->left);
    hd_scope_close(s);
    return x;
}

START_TEST(a_forward_leaves_the_scopes_as_they_were)
{
    HD_SCOPE;
    probe *m = probe_new(), *left = probe_new();
    hd_register_module(&m->base, "left", &m->left, &left->base);
    hd_tensor *x = hd_retain(hd_ones(HD_FLOAT32, 2));
    int64_t before = hd_scope_count();
    uint64_t failures = hd_error_count();
    with(m, leaves_one_and_gives_x);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_assert_int_eq(hd_error_count(), failures + 1);
    ck_error(HD_STATE,
             "hd_forward: Probe left 1 scope open. Call hd_scope_close for each hd_scope_open");
    with(m, begins_and_leaves_one);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_STATE,
             "hd_forward: Probe left 1 scope open. Call hd_scope_close for each hd_scope_open");
    with(m, begins_and_closes_it);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_STATE, "hd_forward: Probe closed a scope that it had not opened: the tensors in it "
                       "are gone");

    ck_assert(hd_forward_begin(&m->base));
    hd_scope_open();
    hd_tensor *y = hd_mul_scalar(x, 2);
    ck_assert_ptr_null(hd_forward_end(&m->base, y)); /* y was freed with the scope */
    ck_error(HD_STATE,
             "hd_forward_end: Probe left 1 scope open. Call hd_scope_close for each hd_scope_open");
    ck_assert_int_eq(hd_scope_count(), before);

    around = hd_scope_open();
    with(m, closes_too_many);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_STATE, "hd_forward: Probe closed a scope that it had not opened: the tensors in it "
                       "are gone");
    around = hd_scope_open();
    with(m, closes_and_opens_as_many);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_STATE, "hd_forward: Probe closed a scope that it had not opened: the tensors in it "
                       "are gone");
    hd_scope_close(around); /* the forward's, in the same place */
    with(m, NULL);
    ck_assert_ptr_eq(hd_forward(&m->base, x), x);
    ck_assert_int_eq(hd_scope_count(), before);
    hd_release(x);
    hd_module_free(&m->base);
    ck_no_error();
}
END_TEST

static hd_tensor *uses_a_matrix(hd_module *self, hd_tensor *x)
{
    return hd_matmul(x, ((probe *)self)->a);
}

static hd_tensor *uses_a_bias(hd_module *self, hd_tensor *x)
{
    return hd_linear(x, hd_ones(HD_FLOAT32, 2, 2), ((probe *)self)->a);
}

/* What a NULL in a forward may have been: a field that the constructor has not set. */
START_TEST(a_field_that_is_not_set)
{
    HD_SCOPE;
    probe *m = probe_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 2);
    with(m, calls_left);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_NULL_ARG, "Probe: hd_forward: m is NULL; in the forward of Probe, whose "
                          "constructor has registered no "
                          "field");
    hd_register_buffer(&m->base, "b", &m->b, x, true);
    hd_register_module(&m->base, "right", &m->right, hd_relu_new(false));
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(
        HD_NULL_ARG,
        "Probe: hd_forward: m is NULL; in the forward of Probe, whose constructor has registered "
        "only \"b\", \"right\"");
    with(m, uses_a_matrix);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_NULL_ARG, "Probe: hd_matmul: b is NULL; in the forward of Probe, whose constructor "
                          "has registered only "
                          "\"b\", \"right\"");
    with(m, uses_a_bias);
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_NULL_ARG,
             "Probe: hd_linear: bias is NULL: expected a tensor or HD_NONE; in the forward of "
             "Probe, whose constructor has registered only \"b\", \"right\"");
    hd_module_free(hd_module_take(&m->base, "right"));
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_error(HD_NULL_ARG, "Probe: hd_linear: bias is NULL: expected a tensor or HD_NONE; the field "
                          "\"right\" of Probe is empty");
    with(m, fails_then_calls_left); /* a NULL after an error is most likely that call's */
    ck_assert_ptr_null(hd_forward(&m->base, x));
    ck_assert_int_eq(hd_error_code(), HD_SHAPE);
    hd_error_clear();
    ck_assert_ptr_null(hd_matmul(x, NULL));
    ck_error(HD_NULL_ARG, "hd_matmul: b is NULL");
    hd_module_free(&m->base);
}
END_TEST

Suite *suite_forward(void)
{
    const TTest *const tests[] = {
        an_unused_failure_fails_the_forward,
        an_older_error_does_not_fail_it,
        a_cleared_failure_does_not,
        failures_of_modules_in_modules,
        a_forward_gives_a_tensor,
        a_freed_result_is_an_error,
        only_the_result_comes_out,
        begin_and_end,
        begin_without_end,
        a_forward_leaves_the_scopes_as_they_were,
        a_field_that_is_not_set,
    };
    return SUITE("forward", tests);
}
