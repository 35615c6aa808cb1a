/* test_backward_end.c - tests of the callbacks at the end of a backward, and of leaves whose
 * gradient is complete earlier. */
#include <string.h>

#include "heed/autograd.h"
#include "ops/leaf.h"
#include "ops/suites.h"
#include "support/support.h"

/* ---------------------------------------------------------------- what happened, in order */

static char events[64];

static hd_tensor *note(hd_tensor *grad, void *user)
{
    (void)grad;
    strcat(events, user);
    return HD_NONE;
}

static hd_tensor *note_depth(hd_tensor *grad, void *user)
{
    (void)grad;
    *(int *)user = hd_backward_depth();
    return HD_NONE;
}

static bool note_end(bool ok, void *user)
{
    (void)user;
    ck_assert(!hd_grad_mode());
    strcat(events, ok ? "." : "!");
    return true;
}

static void listen(hd_tensor *x, const char *name)
{
    ck_assert(hd_register_hook(x, note, (void *)(uintptr_t)name) > 0);
}

/* a and b are leaves; the node h lies between them. */
START_TEST(leaves_are_complete_early)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4);
    listen(a, "a");
    listen(b, "b");
    for (int round = 0; round < 2; round++) {
        hd_tensor *h = hd_tanh(hd_mul(a, a));
        listen(h, "h");
        events[0] = '\0';
        ck_assert(hd_backward(hd_sum(hd_mul(h, b))));
        ck_assert_str_eq(events, round == 0 ? "hba" : "bha.");
        ck_assert_int_eq(hd_backward_depth(), 0);
        hd_on_backward_end(round == 0 ? note_end : NULL, NULL);
    }
    ck_no_error();
}
END_TEST

/* A leaf with several edges waits for the last of them, also if it gives no gradient, and if it
 * comes from an earlier call of the graph. */
START_TEST(a_leaf_waits_for_its_last_edge)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4);
    listen(a, "a");
    listen(b, "b");
    hd_on_backward_end(note_end, NULL);
    for (int round = 0; round < 3; round++) {
        hd_tensor *first = hd_mul(a, b), *second = hd_mul(hd_exp(first), b);
        listen(first, "f");
        events[0] = '\0';
        ck_assert(hd_backward(hd_sum(second)));
        ck_assert(strcmp(events, "fab.") == 0 || strcmp(events, "fba.") == 0);
    }
    hd_tensor *last = hd_mul(hd_tanh(a), b);
    events[0] = '\0';
    ck_assert(hd_backward_with(hd_sum(last), HD_NONE, true));
    ck_assert(hd_backward(hd_sum(last)));
    ck_assert_str_eq(events, "ba.ba.");
    hd_on_backward_end(NULL, NULL);
    ck_no_error();
}
END_TEST

static void no_gradient(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_needs_grad(ctx, 0) ? gy[0] : HD_NONE; /* input 1 gets none */
}

static bool first_input(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = hd_clone(x[0]);
    return y[0];
}

/* What gives no gradient is passed as well; and nothing runs behind it. */
START_TEST(edges_without_a_gradient_count)
{
    static const hd_op op = {
        .size = sizeof op, .name = "First", .forward = first_input, .backward = no_gradient};
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4), *c = LEAF(5, 6);
    listen(a, "a");
    listen(b, "b");
    hd_on_backward_end(note_end, NULL);
    hd_tensor *h = hd_tanh(a);
    listen(h, "h");
    events[0] = '\0';
    ck_assert(hd_backward(hd_sum(hd_mul(hd_apply(&op, NULL, h, b), b))));
    ck_assert_str_eq(events, "bha.");
    ck_elements(hd_grad(b), element_at(h, 0), element_at(h, 1));

    /* The exp of c never runs, so c waits for the end; a does not. */
    listen(c, "c");
    events[0] = '\0';
    hd_tensor *k = hd_apply(&op, NULL, hd_mul(a, c), hd_exp(c));
    ck_assert(hd_backward(hd_sum(k)));
    ck_assert_str_eq(events, "ac.");
    hd_on_backward_end(NULL, NULL);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- when it is called */

static hd_tensor *backward_inside(hd_tensor *grad, void *user)
{
    (void)grad;
    ck_assert_int_eq(hd_backward_depth(), 1);
    hd_set_grad_mode(true);
    ck_assert(hd_backward(hd_sum(hd_mul(user, user))));
    hd_set_grad_mode(false);
    ck_assert_int_eq(hd_backward_depth(), 1);
    return HD_NONE;
}

START_TEST(it_is_called_once_for_each_backward)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4);
    hd_on_backward_end(note_end, NULL);
    int depth = -1, inner = -1;
    int64_t id = hd_register_hook(a, note_depth, &depth);
    hd_register_hook(b, note_depth, &inner);
    events[0] = '\0';
    ck_assert(hd_grad_of(hd_list_of(hd_sum(hd_exp(a))), hd_list_of(a), NULL, NULL));
    ck_assert_int_eq(depth, 0);
    ck_assert(hd_remove_hook(a, id));
    ck_assert_str_eq(events, "");
    ck_assert(!hd_backward(NULL));
    hd_error_clear();
    ck_assert(!hd_backward(hd_zeros(HD_FLOAT32, 2)));
    hd_error_clear();
    ck_assert(!hd_backward_with(hd_exp(a), NULL, false));
    hd_error_clear();
    ck_assert_str_eq(events, "!!!");
    events[0] = '\0';
    hd_register_hook(a, backward_inside, b);
    listen(b, "b");
    ck_assert(hd_backward(hd_sum(hd_mul(a, b))));
    ck_assert_str_eq(events, "bb.");
    ck_elements(hd_grad(b), 2 * 3 + 1, 2 * 4 + 2);
    ck_assert(!hd_on_backward_end(note_end, NULL));
    ck_error(HD_STATE, "hd_on_backward_end: this thread has a function already. Call "
                       "hd_on_backward_end(NULL, NULL) first");
    hd_on_backward_end(NULL, NULL);
    ck_assert(hd_on_backward_end(note_end, NULL));
    hd_on_backward_end(NULL, NULL);
}
END_TEST

/* ---------------------------------------------------------------- other gradients */

typedef struct {
    hd_tensor *x, *g, *more, *more_g;
    bool ok;
} given;

static bool give(bool ok, void *user)
{
    const given *t = user;
    ck_assert(ok);
    return (!t->x || hd_set_backward_grad(t->x, t->g)) &&
           (!t->more || hd_set_backward_grad(t->more, t->more_g)) && t->ok;
}

START_TEST(it_may_give_other_gradients)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4);
    given t = {a, hd_full(HD_FLOAT32, 9, 2), b, hd_full(HD_FLOAT32, 8, 2), false};
    hd_on_backward_end(give, &t);
    hd_set_grad(a, hd_full(HD_FLOAT32, 5, 2));
    ck_assert(!hd_backward(hd_sum(hd_exp(a)))); /* it says no, and has set no error */
    ck_error(
        HD_STATE,
        "hd_backward: the function passed to hd_on_backward_end returned false without an error");
    ck_elements(hd_grad(a), 5, 5);
    ck_assert(hd_grad(b) == HD_NONE);

    t.ok = true;
    ck_assert(hd_backward(hd_sum(hd_exp(a)))); /* b takes no part in it */
    ck_elements(hd_grad(a), 9, 9);
    ck_elements(hd_grad(b), 8, 8);
    ck_assert(hd_shares_storage(hd_grad(a), t.g));
    t.more = NULL;
    t.x = b;
    t.g = hd_full(HD_FLOAT32, 7, 2);
    ck_assert(hd_backward(hd_sum(hd_mul(a, b)))); /* a: what it has, and 3 and 4 */
    ck_elements(hd_grad(a), 12, 13);
    ck_elements(hd_grad(b), 7, 7);
    ck_elements(t.more_g, 8, 8);
    hd_on_backward_end(NULL, NULL);
    ck_no_error();
}
END_TEST

START_TEST(wrong_gradients_are_refused)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *plain = hd_zeros(HD_FLOAT32, 2);
    given t = {a, hd_zeros(HD_FLOAT32, 3), NULL, NULL, true};
    ck_assert(!hd_set_backward_grad(a, plain));
    ck_error(HD_STATE, "hd_set_backward_grad: no backward is ending. Call it in the function "
                       "passed to hd_on_backward_end");
    hd_on_backward_end(give, &t);
    ck_assert(!hd_backward(hd_sum(hd_exp(a))));
    ck_error(HD_SHAPE, "hd_set_backward_grad: g (3,) of float32 for x (2,) of float32: expected "
                       "the same shape and dtype");
    t.x = plain;
    t.g = plain;
    ck_assert(!hd_backward(hd_sum(hd_exp(a))));
    ck_error(HD_GRAD, "hd_set_backward_grad: x of (2,): expected a leaf that requires grad");
    ck_assert(hd_grad(a) == HD_NONE);
    hd_on_backward_end(NULL, NULL);
}
END_TEST

/* ---------------------------------------------------------------- the same bits */

static bool nothing(bool ok, void *user)
{
    (void)user;
    return ok;
}

START_TEST(the_bits_stay_the_same)
{
    HD_SCOPE;
    hd_tensor *grads[2][8];
    int n = 0;
    for (int way = 0; way < 2; way++) {
        hd_manual_seed(1);
        hd_tensor *x = hd_randn(HD_FLOAT32, 3, 7, 12), *w = hd_randn(HD_FLOAT32, 12, 12);
        hd_tensor *b = hd_randn(HD_FLOAT32, 12), *all[] = {x, w, b};
        n = 3;
        for (int i = 0; i < n; i++) {
            hd_requires_grad_(all[i], true);
        }
        hd_tensor *y = x;
        for (int i = 0; i < 4; i++) { /* each leaf is used many times */
            y = hd_tanh(hd_add(hd_matmul(y, hd_mul(w, b)), hd_mul(b, x)));
        }
        hd_on_backward_end(way ? nothing : NULL, NULL);
        ck_assert(hd_backward(hd_mean(y)));
        for (int i = 0; i < n; i++) {
            grads[way][i] = hd_grad(all[i]);
        }
    }
    hd_on_backward_end(NULL, NULL);
    for (int i = 0; i < n; i++) {
        ck_assert(memcmp(hd_data(grads[0][i]), hd_data(grads[1][i]),
                         (size_t)hd_numel(grads[0][i]) * sizeof(float)) == 0);
    }
}
END_TEST

Suite *suite_backward_end(void)
{
    const TTest *const tests[] = {
        leaves_are_complete_early,      a_leaf_waits_for_its_last_edge,
        edges_without_a_gradient_count, it_is_called_once_for_each_backward,
        it_may_give_other_gradients,    wrong_gradients_are_refused,
        the_bits_stay_the_same,
    };
    return SUITE_OF("backward_end", tests);
}
