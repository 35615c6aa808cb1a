/* test_user_op.c - tests of ops that a user defines: forward, backward, saving, freeing,
 * failing. */
#include "heed/autograd.h"
#include "ops/suites.h"
#include "support/quarantine.h"
#include "support/support.h"

static int freed;

/* y = exp(x): dx = dy y */
static bool exp_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_exp(x[0]);
    return hd_save(ctx, y[0]);
}

static void exp_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_mul(gy[0], hd_saved(ctx, 0));
}

static void count_free(hd_ctx *ctx)
{
    freed += *(int *)hd_ctx_user(ctx);
}

static const hd_op exp_op = {sizeof(hd_op), "MyExp", exp_forward, exp_backward, count_free};

static hd_tensor *call_exp(hd_tensor *const *x, int n, void *user)
{
    (void)n;
    return hd_apply(&exp_op, user, x[0]);
}

START_TEST(an_op_of_ones_own)
{
    int one = 1;
    freed = 0;
    {
        HD_SCOPE;
        hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT64, 0, 1), true);
        hd_tensor *y = hd_apply(&exp_op, &one, x);
        ck_assert_str_eq(hd_grad_fn(y), "MyExpBackward");
        ck_assert_str_eq(strchr(hd_repr(y), 'g'), "grad_fn=<MyExpBackward>)");
        ck_assert(hd_backward(hd_sum(y)));
        ck_assert(hd_get(hd_grad(x), 1) == hd_get(y, 1));
        ck_assert(hd_gradcheck_n(call_exp, &one, 1, &x, NULL));
    }
    ck_assert_int_gt(freed, 0);
    ck_no_error();
}
END_TEST

/* (a + b, a - b), the second output unused in most tests */
static bool both_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = hd_add(x[0], x[1]);
    y[1] = hd_sub(x[0], x[1]);
    return true;
}

static void both_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_add(gy[0], gy[1]);
    if (hd_needs_grad(ctx, 1)) {
        gx[1] = hd_sub(gy[0], gy[1]);
    }
}

static const hd_op both_op = {sizeof(hd_op), "Both", both_forward, both_backward, NULL};

START_TEST(several_outputs)
{
    HD_SCOPE;
    hd_tensor *a = hd_requires_grad_(vec(HD_FLOAT32, 5), true), *b = vec(HD_FLOAT32, 2);
    hd_requires_grad_(b, true);
    hd_list *y = hd_apply_multi_n(&both_op, NULL, 2, 2, (hd_tensor *[]){a, b});
    ck_elements(hd_list_get(y, 0), 7);
    ck_elements(hd_list_get(y, 1), 3);
    hd_backward_with(hd_list_get(y, 1), HD_NONE, true); /* zeros replace the other gradient */
    ck_elements(hd_grad(a), 1);
    ck_elements(hd_grad(b), -1);
    hd_backward(hd_mul(hd_list_get(y, 0), hd_list_get(y, 1))); /* a^2 - b^2 */
    ck_elements(hd_grad(a), 11);
    ck_elements(hd_grad(b), -5);
}
END_TEST

static bool no_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    hd_matmul(x[0], x[0]); /* fails: its result is not used */
    y[0] = hd_clone(x[0]);
    return true;
}

static bool false_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx, (void)x, (void)y;
    return false;
}

static bool plain_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_clone(x[0]);
    return hd_save(ctx, x[0]);
}

static void misshaped_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx, (void)gy;
    gx[0] = hd_zeros(HD_FLOAT32, 5);
}

static void null_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx, (void)gy;
    gx[0] = NULL;
}

START_TEST(failures)
{
    int one = 1;
    hd_op op = {sizeof(hd_op), "Op", no_forward, misshaped_backward, count_free};
    HD_SCOPE; /* closes before op and `one` are released */
    hd_tensor *x = hd_requires_grad_(hd_zeros(HD_FLOAT32, 2, 3), true);
    freed = 0;
    ck_assert_ptr_null(hd_apply(&op, &one, x));
    ck_assert_int_eq(freed, 1);
    ck_assert_int_eq(hd_error_code(), HD_SHAPE);
    hd_error_clear();
    op.forward = false_forward;
    ck_assert_ptr_null(hd_apply(&op, &one, x));
    ck_error(HD_USER, "hd_apply: the forward of Op returned false without an error. Call "
                      "hd_error_set there to say why");
    ck_assert_int_eq(freed, 2);
    op.size = 3;
    ck_assert_ptr_null(hd_apply(&op, &one, x));
    ck_error(HD_VALUE,
             sized("hd_apply: op->size 3: expected %zu, as sizeof(hd_op) gives", sizeof(hd_op)));
    op.size = sizeof op + 8; /* of a newer header */
    ck_assert_ptr_null(hd_apply(&op, &one, x));
    ck_error(HD_VALUE, sized("hd_apply: op->size %zu: expected %zu, as sizeof(hd_op) gives",
                             op.size, sizeof op));
    op.size = sizeof op;
    op.name = NULL;
    ck_assert_ptr_null(hd_apply(&op, &one, x));
    ck_error(HD_VALUE, "hd_apply: op->name is NULL: expected a name, a forward and a backward");
    op.name = "Op";
    op.forward = plain_forward;
    ck_assert_ptr_null(hd_apply(&op, &one, NULL));
    ck_error(HD_NULL_ARG, "hd_apply: inputs[0] is NULL: expected a tensor or HD_NONE");
    ck_assert(!hd_backward(hd_sum(hd_apply(&op, &one, x))));
    ck_error(HD_SHAPE, "hd_backward: OpBackward gave a gradient of (5,) for input 0 of (2, 3): "
                       "expected the input's shape");
    op.backward = null_backward;
    ck_assert(!hd_backward(hd_sum(hd_apply(&op, &one, x))));
    ck_error(HD_USER,
             "hd_backward: OpBackward gave NULL for input 0: expected a gradient or HD_NONE");
    ck_assert_ptr_eq(hd_grad(x), HD_NONE);
}
END_TEST

static void clearing_free(hd_ctx *ctx)
{
    (void)ctx;
    hd_error_clear();
}

START_TEST(a_failure_whose_error_free_clears)
{
    HD_SCOPE;
    const hd_op op = {sizeof(hd_op), "Op", false_forward, null_backward, clearing_free};
    ck_assert_ptr_null(hd_apply(&op, NULL, hd_zeros(HD_FLOAT32, 2)));
    ck_error(HD_STATE, "hd_apply: the work failed, but a hook or a user's op cleared the error");
}
END_TEST

/* ---------------------------------------------------------------- freed results */

static hd_tensor *freed_one(void)
{
    hd_tensor *t = hd_zeros(HD_FLOAT32, 2, 3);
    hd_release(t);
    return t;
}

static bool freed_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = hd_clone(x[0]);
    y[1] = freed_one();
    return true;
}

static bool saves_freed_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_clone(x[0]);
    return hd_save(ctx, freed_one());
}

static void freed_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx, (void)gy;
    gx[0] = freed_one();
}

static hd_tensor *freed_hook(hd_tensor *grad, void *user)
{
    (void)grad, (void)user;
    return freed_one();
}

static hd_tensor *freed_function(hd_tensor *const *inputs, int n, void *user)
{
    (void)inputs, (void)n, (void)user;
    return freed_one();
}

#define FREED " was freed by hd_release; hd_zeros made it"

START_TEST(freed_results_are_errors)
{
    if (!quarantine_on()) {
        return; /* the sanitizer or valgrind stops the program here */
    }
    hd_op op = {sizeof(hd_op), "Op", freed_forward, freed_backward, NULL};
    HD_SCOPE; /* closes before op is released */
    hd_tensor *x = hd_requires_grad_(hd_zeros(HD_FLOAT32, 2, 3), true);
    ck_assert_ptr_null(hd_apply_multi_n(&op, NULL, 2, 1, &x));
    ck_error(HD_STATE, "hd_apply_multi_n: output 1 of Op" FREED);
    op.forward = saves_freed_forward;
    ck_assert_ptr_null(hd_apply(&op, NULL, x));
    ck_error(HD_STATE, "hd_save: t" FREED);
    op.forward = plain_forward;
    uint64_t failures = hd_error_count();
    ck_assert(!hd_backward(hd_sum(hd_apply(&op, NULL, x))));
    ck_assert_int_eq(hd_error_count(), failures + 1);
    ck_error(HD_STATE, "hd_backward: gradient 0 of Op" FREED);
    hd_tensor *y = hd_sum(hd_mul_scalar(x, 2));
    int64_t id = hd_register_hook(x, freed_hook, NULL);
    ck_assert(!hd_backward(y));
    ck_error(HD_STATE, "hd_backward: the result of a hook" FREED);
    ck_assert_ptr_eq(hd_grad(x), HD_NONE);
    hd_remove_hook(x, id);
    x = hd_requires_grad_(hd_zeros(HD_FLOAT64, 2), true);
    ck_assert(!hd_gradcheck_n(freed_function, NULL, 1, &x, NULL));
    ck_error(HD_STATE, "hd_gradcheck: f's result" FREED);
}
END_TEST

START_TEST(saved_tensors_are_version_checked)
{
    int one = 1;
    HD_SCOPE;
    hd_tensor *x = hd_mul_scalar(hd_requires_grad_(vec(HD_FLOAT32, 1, 2), true), 1);
    hd_tensor *y = hd_apply(&exp_op, &one, x);
    hd_mul_scalar_(y, 2);
    ck_assert(!hd_backward(hd_sum(y)));
    ck_error(HD_GRAD, "hd_saved: MyExpBackward: its saved tensor 0 of (2,) was changed in place: "
                      "version 1, expected 0. Call hd_set_debug(true) at the start to see the "
                      "calls that saved and changed it");
}
END_TEST

/* gives back its second input, and the first one */
static bool swap_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = x[1];
    y[1] = x[0];
    return true;
}

static void swap_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx;
    gx[0] = gy[1];
    gx[1] = gy[0];
}

static const hd_op swap_op = {sizeof(hd_op), "Swap", swap_forward, swap_backward, NULL};

START_TEST(inputs_given_back_stay_as_they_are)
{
    HD_SCOPE;
    hd_tensor *a = hd_requires_grad_(vec(HD_FLOAT32, 2), true), *b = vec(HD_FLOAT32, 3);
    hd_list *y = hd_apply_multi_n(&swap_op, NULL, 2, 2, (hd_tensor *[]){a, b});
    ck_assert(!hd_requires_grad(b) && hd_is_leaf(a));
    ck_assert_str_eq(hd_grad_fn(hd_list_get(y, 0)), "SwapBackward");
    ck_assert(hd_backward(hd_mul(hd_list_get(y, 0), hd_list_get(y, 1))));
    ck_elements(hd_grad(a), 3);
    ck_assert_ptr_eq(hd_grad(b), HD_NONE);
    ck_assert_ptr_nonnull(hd_mul_scalar_(hd_list_get(y, 1), 5)); /* a itself is not written */
    ck_elements(a, 2);
    ck_elements(hd_list_get(y, 1), 10);
    ck_no_error();
}
END_TEST

/* y = x; dx lies in the caller's memory */
static float own_memory[2];

static bool wrapping_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = hd_clone(x[0]);
    return true;
}

static void pass_over(void *data, void *user)
{
    (void)data, (void)user;
}

static void wrapping_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_wrap(HD_FLOAT32, own_memory, hd_ctx_user(ctx) ? pass_over : NULL, NULL, 2);
    hd_copy_to(gy[0], own_memory, sizeof own_memory);
}

static const hd_op wrapping_op = {sizeof(hd_op), "Wrapping", wrapping_forward, wrapping_backward,
                                  NULL};

/* The engine never adds into memory of the caller's, and keeps none of it as a .grad. */
START_TEST(gradients_in_the_callers_memory)
{
    for (int releases = 0; releases < 2; releases++) {
        HD_SCOPE;
        hd_tensor *a = hd_requires_grad_(vec(HD_FLOAT32, 1, 2), true);
        void *user = releases ? own_memory : NULL;
        hd_tensor *plain = hd_mul_scalar(a, 10), *own = hd_apply(&wrapping_op, user, a);
        ck_assert(hd_backward(hd_sum(hd_add(plain, own)))); /* own's gradient comes first */
        ck_assert(own_memory[0] == 1 && own_memory[1] == 1);
        ck_elements(hd_grad(a), 11, 11);
        hd_set_grad(a, HD_NONE);
        own = hd_apply(&wrapping_op, user, a);
        ck_assert(hd_backward(hd_sum(own)));
        own_memory[0] = 7;
        ck_elements(hd_grad(a), 1, 1);
        ck_no_error();
    }
}
END_TEST

/* y = x^2 with a backward that forgets the 2 */
static bool square_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul(x[0], x[0]);
    return hd_save(ctx, x[0]);
}

static void wrong_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_mul(gy[0], hd_saved(ctx, 0));
}

static const hd_op wrong_op = {sizeof(hd_op), "Square", square_forward, wrong_backward, NULL};

static hd_tensor *call_wrong(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    return hd_apply(&wrong_op, NULL, x[0]);
}

static hd_tensor *first_alone(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    return hd_square(x[0]);
}

START_TEST(gradcheck_of_an_input_that_is_not_used)
{
    HD_SCOPE;
    hd_tensor *x[] = {hd_requires_grad_(vec(HD_FLOAT64, 1, 2), true),
                      hd_requires_grad_(vec(HD_FLOAT64, 3), true)};
    ck_assert(hd_gradcheck_n(first_alone, NULL, 2, x, NULL));
}
END_TEST

START_TEST(gradcheck_sees_a_wrong_backward)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_view(vec(HD_FLOAT64, 0, 2, 0, 0), 2, 2), true);
    ck_assert(!hd_gradcheck_n(call_wrong, NULL, 1, &x, NULL));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    const char *want = "hd_gradcheck: SquareBackward, input 0 at (0, 1): backward gives ";
    ck_assert_int_eq(strncmp(hd_error_message(), want, strlen(want)), 0);
    hd_error_clear();
    hd_tensor *single = hd_requires_grad_(vec(HD_FLOAT32, 1), true);
    ck_assert(!hd_gradcheck_n(call_wrong, NULL, 1, &single, NULL));
    ck_error(
        HD_VALUE,
        "hd_gradcheck: input 0, (1,) of float32: expected a float64 leaf that is not expanded");
}
END_TEST

static hd_tensor *kept_gy;

static void keeping_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx;
    kept_gy = hd_retain(gy[0]);
    gx[0] = gy[0];
}

static const hd_op keeping_op = {sizeof(hd_op), "Keeping", plain_forward, keeping_backward, NULL};

/* The caller's tensor lies in the same memory. */
START_TEST(a_kept_gy_is_not_changed_later)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT32, 1, 2), true), *g = vec(HD_FLOAT32, 5, 6);
    ck_assert(hd_backward_with(hd_apply(&keeping_op, NULL, x), g, false));
    ck_assert_ptr_null(hd_fill_(kept_gy, 7));
    ck_error(HD_GRAD,
             "hd_fill_: x of (2,) must not change, because it is a gradient that a hook or a "
             "backward was given, or shares its memory. Change a clone of it instead");
    ck_elements(g, 5, 6);
    ck_assert(hd_mul_scalar_(hd_grad(x), 2)); /* what backward returned is a gradient as any */
    ck_elements(kept_gy, 5, 6);
    hd_release(kept_gy);
    ck_no_error();
}
END_TEST

Suite *suite_user_op(void)
{
    const TTest *const tests[] = {
        a_kept_gy_is_not_changed_later,
        an_op_of_ones_own,
        several_outputs,
        failures,
        a_failure_whose_error_free_clears,
        freed_results_are_errors,
        saved_tensors_are_version_checked,
        inputs_given_back_stay_as_they_are,
        gradients_in_the_callers_memory,
        gradcheck_of_an_input_that_is_not_used,
        gradcheck_sees_a_wrong_backward,
    };
    return SUITE_OF("user ops", tests);
}
