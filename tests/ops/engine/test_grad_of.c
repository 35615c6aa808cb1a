/* test_grad_of.c - tests of hd_grad_of, which returns gradients and writes no .grad. */
#include <pthread.h>

#include "heed/autograd.h"
#include "ops/leaf.h"
#include "ops/suites.h"
#include "support/support.h"

START_TEST(grad_of_looks_at_its_options_size)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3);
    hd_list *y = hd_list_of(hd_mul(a, a)), *x = hd_list_of(a);
    hd_grad_options o = {.retain_graph = true};
    ck_assert_ptr_null(hd_grad_of(y, x, NULL, &o));
    ck_error(HD_VALUE, sized("hd_grad_of: o->size 0: expected %zu, as hd_grad_defaults() gives",
                             sizeof(hd_grad_options)));
    o.size = sizeof o + 8;
    ck_assert_ptr_null(hd_grad_of(y, x, NULL, &o));
    ck_error(HD_VALUE, sized("hd_grad_of: o->size %zu: expected %zu, as hd_grad_defaults() gives",
                             o.size, sizeof o));
    o.size = sizeof o;
    ck_elements(hd_list_get(hd_grad_of(y, x, NULL, &o), 0), 6);
}
END_TEST

START_TEST(grad_of_leaves_grad_alone)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = LEAF(4), *m = hd_mul(a, b), *y = hd_mul(m, m);
    hd_grad_options o = hd_grad_defaults();
    o.retain_graph = true;
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(a, m), NULL, &o);
    ck_assert_int_eq(hd_list_len(g), 2);
    ck_elements(hd_list_get(g, 0), 96);
    ck_elements(hd_list_get(g, 1), 24);
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_assert_ptr_eq(hd_grad(b), HD_NONE);
    hd_tensor *apart = LEAF(1);
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(a, apart), NULL, &o));
    ck_error(HD_GRAD, "hd_grad_of: the outputs do not depend on input 1, of shape (1,). Set "
                      "allow_unused to get HD_NONE for it");
    o.allow_unused = true;
    g = hd_grad_of(hd_list_of(y, a), hd_list_of(a, apart), NULL, &o);
    ck_elements(hd_list_get(g, 0), 97);
    ck_assert_ptr_eq(hd_list_get(g, 1), HD_NONE);
    ck_assert(hd_backward(y)); /* the graph was retained */
    ck_elements(hd_grad(a), 96);
}
END_TEST

static hd_tensor *five_times(hd_tensor *grad, void *user)
{
    ++*(int *)user;
    return hd_mul_scalar(grad, 5);
}

/* torch: 5 for y itself, and 10 for a leaf with a hook */
START_TEST(grad_of_what_has_a_hook)
{
    HD_SCOPE;
    int calls = 0;
    hd_tensor *x = LEAF(1), *y = hd_mul_scalar(x, 3), *z = LEAF(1);
    hd_register_hook(y, five_times, &calls);
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(y), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 5);
    ck_assert_int_eq(calls, 1);
    g = hd_grad_of(hd_list_of(y, y), hd_list_of(y), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 10);
    ck_assert_int_eq(calls, 2);
    hd_register_hook(z, five_times, &calls);
    g = hd_grad_of(hd_list_of(hd_mul_scalar(z, 2)), hd_list_of(z), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 10);
    g = hd_grad_of(hd_list_of(z), hd_list_of(z), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 5);
    ck_no_error();
}
END_TEST

/* One tensor may be asked for several times. */
START_TEST(grad_of_keeps_the_order_of_its_inputs)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = LEAF(4), *m = hd_mul(a, b), *y = hd_mul(m, b);
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(b, m, a, b, m, y), NULL, NULL);
    const double expected[] = {24, 4, 16, 24, 4, 1};
    ck_assert_int_eq(hd_list_len(g), 6);
    for (int i = 0; i < 6; i++) {
        ck_elements(hd_list_get(g, i), expected[i]);
    }
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- several threads */

typedef struct {
    hd_tensor *x, *w; /* leaves of both threads */
    hd_tensor *wanted;
    double gradient;
} shared_leaves;

/* y = 5 w x, on another thread. */
static void *grad_of_elsewhere(void *arg)
{
    HD_SCOPE;
    shared_leaves *s = arg;
    hd_tensor *y = hd_mul_scalar(hd_mul(s->x, s->w), 5);
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(s->wanted), NULL, NULL);
    s->gradient = hd_item(hd_list_get(g, 0));
    return NULL;
}

static hd_tensor *runs_elsewhere(hd_tensor *grad, void *user)
{
    (void)grad;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, grad_of_elsewhere, user), 0);
    pthread_join(thread, NULL);
    return HD_NONE;
}

/* The other thread runs while this one is in the middle of its graph, and has a gradient waiting
 * for w. */
START_TEST(graphs_of_two_threads_share_leaves)
{
    for (int i = 0; i < 8; i++) {
        HD_SCOPE;
        hd_tensor *x = LEAF(2), *w = LEAF(3), *h = hd_mul(w, x);
        shared_leaves s = {x, w, i & 1 ? x : w, 0};
        ck_assert_int_gt(hd_register_hook(i & 4 ? w : h, runs_elsewhere, &s), 0);
        hd_tensor *y = hd_add(hd_mul(h, h), hd_mul_scalar(w, 7)); /* 2 h x + 7, 2 h w */
        if (i & 4) {
            s.w = LEAF(3); /* the hook is the other thread's as well: it would never end */
            s.wanted = i & 1 ? x : s.w;
        }
        hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(i & 2 ? x : w), NULL, NULL);
        ck_elements(hd_list_get(g, 0), i & 2 ? 36 : 31);
        ck_assert_double_eq(s.gradient, i & 4 && i & 2 ? 0 : i & 1 ? 15 : 10);
        ck_assert_ptr_eq(hd_grad(w), HD_NONE);
    }
    ck_no_error();
}
END_TEST

Suite *suite_grad_of(void)
{
    const TTest *const tests[] = {
        grad_of_looks_at_its_options_size,
        grad_of_leaves_grad_alone,
        grad_of_what_has_a_hook,
        grad_of_keeps_the_order_of_its_inputs,
        graphs_of_two_threads_share_leaves,
    };
    return SUITE_OF("grad_of", tests);
}
