/* test_hand_written.c - tests of ops that a user defines by an hd_op table: saved tensors, several
 * outputs, freeing. */
#include "suites.h"
#include "tensor/elementwise.h"

static int freed;

static void count_free(hd_ctx *ctx)
{
    ck_assert_ptr_eq(hd_ctx_user(ctx), &freed);
    freed++;
}

/* y = x^2, z = 3 x */
static bool pair_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    ck_assert(!hd_grad_mode());
    y[0] = product_of(x[0], x[0]);
    y[1] = scaled(x[0], 3);
    return hd_save(ctx, x[0]) && hd_save(ctx, HD_NONE);
}

/* dx += dy 2 x + 3 dz */
static void pair_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    ck_assert_ptr_eq(hd_saved(ctx, 1), HD_NONE);
    hd_tensor *x = hd_saved(ctx, 0), *left = x ? scaled(product_of(gy[0], x), 2) : NULL;
    hd_tensor *right = left ? scaled(gy[1], 3) : NULL;
    gx[0] = right ? hd__loop_add(left, right) : NULL;
}

static const hd_op pair_op = {sizeof(hd_op), "Pair", pair_forward, pair_backward, count_free};

START_TEST(an_op_with_two_outputs)
{
    freed = 0;
    {
        HD_SCOPE;
        hd_tensor *a = LEAF(3, 4);
        hd_list *y = hd_apply_multi_n(&pair_op, &freed, 2, 1, &a);
        ck_elements(hd_list_get(y, 0), 9, 16);
        ck_elements(hd_list_get(y, 1), 9, 12);
        ck_assert_str_eq(hd_grad_fn(hd_list_get(y, 1)), "PairBackward");
        ck_assert_ptr_eq(hd_grad_node(hd_list_get(y, 0)), hd_grad_node(hd_list_get(y, 1)));
        hd_tensor *sum = own_mul(hd_list_get(y, 0), hd_list_get(y, 1)); /* 3 x^3 */
        ck_assert(hd_backward_with(sum, ONES(sum), true));
        ck_elements(hd_grad(a), 81, 144);
        hd_tensor *second = hd_list_get(y, 1);
        ck_assert(hd_backward_with(second, ONES(second), false)); /* zeros stand for the first */
        ck_elements(hd_grad(a), 84, 147);
        ck_assert_int_eq(freed, 0);
    }
    ck_assert_int_eq(freed, 1);
}
END_TEST

START_TEST(what_a_context_refuses)
{
    HD_SCOPE;
    freed = 0;
    hd_tensor *a = LEAF(3);
    hd_list *y = hd_apply_multi_n(&pair_op, &freed, 2, 1, &a);
    hd_ctx *ctx = hd_list_get(y, 0)->attachment;
    ck_assert(hd_needs_grad(ctx, 0));
    ck_assert(!hd_needs_grad(ctx, 1));
    ck_error(HD_INDEX, "hd_needs_grad: input 1 of a node that has 1: expected 0 to 0");
    ck_assert_ptr_null(hd_saved(ctx, -1));
    ck_error(HD_INDEX, "hd_saved: saved tensor -1 of a node that has 2: expected 0 to 1");
    ck_assert_ptr_null(hd_saved(NULL, 0));
    ck_error(HD_NULL_ARG, "hd_saved: ctx is NULL");
    ck_assert(!hd_needs_grad(NULL, 0));
    ck_error(HD_NULL_ARG, "hd_needs_grad: ctx is NULL");
    ck_assert(!hd_save(ctx, NULL));
    ck_error(HD_NULL_ARG, "hd_save: t is NULL: expected a tensor or HD_NONE");
    ck_assert(hd_backward_with(hd_list_get(y, 0), ONES(hd_list_get(y, 0)), false));
    ck_assert_ptr_null(hd_saved(ctx, 0));
    ck_error(HD_GRAD, "hd_saved: PairBackward: its graph was freed by an earlier backward. Call "
                      "hd_backward_with(y, HD_NONE, true) to keep a graph, or hd_detach to get a "
                      "tensor without one");
}
END_TEST

static bool empty_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx, (void)x, (void)y;
    return true;
}

/* The user's data is freed once, whether or not the call got as far as a node. */
START_TEST(calls_that_fail)
{
    HD_SCOPE;
    hd_op op = pair_op;
    hd_tensor *a = LEAF(3), *none[2] = {a, NULL};
    freed = 0;
    op.forward = empty_forward;
    ck_assert_ptr_null(hd_apply(&op, &freed, a));
    ck_error(HD_USER, "hd_apply: Pair left output 0 empty: expected a tensor in y[0]");
    ck_assert_int_eq(freed, 1);
    ck_assert_ptr_null(hd_apply_multi_n(&op, &freed, 2, 2, none));
    ck_error(HD_NULL_ARG, "hd_apply_multi_n: inputs[1] is NULL: expected a tensor or HD_NONE");
    ck_assert_int_eq(freed, 2);
    ck_assert_ptr_null(hd_apply_multi_n(&op, &freed, 0, 1, &a));
    ck_error(HD_VALUE,
             "hd_apply_multi_n: Pair with 1 inputs and 0 outputs: expected 1 or more of each");
    ck_assert_int_eq(freed, 3);
    op.backward = NULL;
    ck_assert_ptr_null(hd_apply(&op, &freed, a));
    ck_error(HD_VALUE,
             "hd_apply: op->backward of Pair is NULL: expected a name, a forward and a backward");
    ck_assert_int_eq(freed, 4);
}
END_TEST

Suite *suite_hand_written(void)
{
    const TTest *const tests[] = {
        an_op_with_two_outputs,
        what_a_context_refuses,
        calls_that_fail,
    };
    return SUITE("hand-written ops", tests);
}
