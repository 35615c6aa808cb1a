/* test_history.c - tests of views and in-place changes: nodes, versions, the effect on other views,
 * hooks and retain_grad, refused changes, and threads that refresh one view at once. */
#include <pthread.h>

#include "suites.h"

/* ---------------------------------------------------------------- views */

START_TEST(a_view_of_a_view_has_the_same_base)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3, 4), *x = own_scale(a, 1), *v = own_part(x, 1, 4);
    hd_tensor *w = own_part(v, 1, 3);
    ck_assert_ptr_eq(v->base, x);
    ck_assert_ptr_eq(w->base, x);
    ck_assert_ptr_null(x->base);
    ck_assert_ptr_eq(hd_node_input(hd_grad_node(w), 0, NULL), hd_grad_node(v));
    ck_assert(hd_backward_with(w, vec(HD_FLOAT32, 5, 6), false));
    ck_elements(hd_grad(a), 0, 0, 5, 6);
}
END_TEST

START_TEST(views_by_one_op_share_a_node)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3, 4), *ys[2];
    ck_assert(own_halves(own_scale(a, 1), ys));
    ck_assert_ptr_eq(hd_grad_node(ys[0]), hd_grad_node(ys[1]));
    ck_assert(hd_backward_with(ys[1], vec(HD_FLOAT32, 5, 6), false));
    ck_elements(hd_grad(a), 0, 0, 5, 6);
}
END_TEST

/* ---------------------------------------------------------------- changes */

START_TEST(a_plain_tensor_gets_a_new_node)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = LEAF(5), *x = own_scale(a, 2);
    const hd_node *before = hd_grad_node(x);
    ck_assert_ptr_eq(own_mul_(x, b), x);
    const hd_node *after = hd_grad_node(x);
    ck_assert_str_eq(hd_node_name(after), "OwnMul_");
    ck_assert_ptr_eq(hd_node_input(after, 0, NULL), before);
    ck_assert_ptr_eq(hd_node_input(after, 1, NULL), hd_grad_node(b));
    ck_assert_int_eq(hd_version_of(x), 1);
    ck_elements(x, 30);
    ck_assert(hd_backward(x));
    ck_elements(hd_grad(a), 10);
    ck_elements(hd_grad(b), 6);
}
END_TEST

/* docs/architecture.md draws this graph */
START_TEST(a_change_through_a_view)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3, 4), *b = LEAF(10, 100), *x = own_scale(a, 1);
    hd_tensor *v = own_part(x, 1, 3), *other = own_part(x, 2, 4);
    const hd_node *before = hd_grad_node(x);
    ck_assert_ptr_eq(own_mul_(v, b), v);
    ck_elements(x, 1, 20, 300, 4);
    const hd_node *slices = hd_grad_node(x), *strided = hd_grad_node(v);
    ck_assert_str_eq(hd_node_name(slices), "CopySlices");
    ck_assert_ptr_eq(hd_node_input(slices, 0, NULL), before);
    ck_assert_ptr_eq(hd_node_input(slices, 1, NULL), hd_grad_node(b));
    ck_assert_str_eq(hd_node_name(strided), "AsStridedBackward0");
    ck_assert_ptr_eq(hd_node_input(strided, 0, NULL), slices);
    ck_assert_str_eq(hd_grad_fn(other), "AsStridedBackward0");
    ck_assert_ptr_eq(hd_node_input(hd_grad_node(other), 0, NULL), slices);
    hd_tensor *y = own_mul(other, vec(HD_FLOAT32, 7, 8)); /* 7 a2 b1 + 8 a3 */
    ck_assert(hd_backward_with(y, ONES(y), true));
    ck_elements(hd_grad(a), 0, 0, 700, 8);
    ck_elements(hd_grad(b), 0, 21);
    ck_assert(hd_backward_with(x, ONES(x), false));
    ck_elements(hd_grad(a), 1, 10, 800, 9);
    ck_elements(hd_grad(b), 2, 24);
}
END_TEST

START_TEST(a_base_outside_the_graph)
{
    HD_SCOPE;
    hd_tensor *b = LEAF(10, 100), *x = vec(HD_FLOAT32, 1, 2, 3, 4), *v = own_part(x, 1, 3);
    ck_assert(!hd_requires_grad(x));
    own_mul_(v, b);
    ck_assert_str_eq(hd_grad_fn(x), "CopySlices");
    ck_assert(!hd__node_needs(x->attachment, 0));
    ck_assert(hd_backward_with(x, ONES(x), false));
    ck_elements(hd_grad(b), 2, 3);
}
END_TEST

START_TEST(changes_in_a_row)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3), *x = own_scale(a, 1), *v = own_part(x, 0, 2);
    hd_tensor *w = own_part(x, 1, 3);
    own_scale_(v, 10);
    own_scale_(w, 2); /* w is stale here */
    own_scale_(x, 3);
    own_scale_(v, 5); /* and v here */
    ck_elements(x, 150, 600, 18);
    ck_assert(hd_backward_with(x, ONES(x), false));
    ck_elements(hd_grad(a), 150, 300, 6);
}
END_TEST

/* Gradients of elements that a view repeats add up. */
START_TEST(an_expanded_view_of_a_changed_base)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(2), *x = own_scale(a, 1), *wide = own_wide(x, 3);
    own_scale_(x, 5);
    ck_elements(wide, 10, 10, 10);
    ck_assert(hd_backward_with(wide, vec(HD_FLOAT32, 1, 2, 3), false));
    ck_elements(hd_grad(a), 30);
}
END_TEST

/* ---------------------------------------------------------------- versions */

START_TEST(versions)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *x = own_scale(a, 1), *v = own_part(x, 0, 1);
    hd_tensor *y = own_square(x);
    ck_assert(!hd__graph_stale(v));
    own_scale_(x, 2);
    ck_assert_int_eq(hd_version_of(v), 1);
    ck_assert(hd__graph_stale(v));
    ck_repr(v, "tensor([2.], grad_fn=<AsStridedBackward0>)"); /* printing gives it no node */
    ck_assert(hd__graph_stale(v));
    ck_assert_str_eq(hd_grad_fn(v), "AsStridedBackward0");
    ck_assert(!hd__graph_stale(v));
    ck_assert(!hd_backward_with(y, ONES(y), false));
    ck_error(HD_GRAD, "hd_backward_with: OwnSquare: its saved tensor 0 of (2,) was changed in "
                      "place: version 1, expected 0. Call hd_set_debug(true) at the start to see "
                      "the calls that saved and changed it");
}
END_TEST

/* A change that saves x itself expects the version that it is about to make. */
START_TEST(the_new_value_may_be_saved)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *x = own_scale(a, 2);
    const hd__op op = *(const hd__op *)((const hd__node *)hd_grad_node(x))->op;
    const double s = 7;
    const hd__record_args args = {
        .n_in = 1, .in = &x, .n_saved = 1, .saved = &x, .params = &s, .params_size = sizeof s};
    ck_assert_ptr_eq(hd__record_inplace(&op, x, &args), x);
    ck_assert_ptr_nonnull(hd__node_saved_get(x->attachment, 0));
    ck_assert(hd_backward(x));
    ck_elements(hd_grad(a), 14);
}
END_TEST

START_TEST(backward_frees_what_a_change_through_a_view_saved)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3), *x = own_scale(a, 1), *dy = vec(HD_FLOAT32, 1, 1, 1);
    {
        HD_SCOPE;
        own_mul_(own_part(x, 1, 3), vec(HD_FLOAT32, 10, 100));
    }
    ck_assert(hd_backward_with(x, dy, true));
    int64_t held = hd_tensor_count();
    ck_assert(hd_backward_with(x, dy, false));
    ck_assert_int_eq(hd_tensor_count(), held - 1); /* the factor */
    ck_elements(hd_grad(a), 2, 20, 200);
}
END_TEST

START_TEST(changes_outside_the_graph_only_count)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *c = vec(HD_FLOAT32, 3, 4), *v = own_part(a, 0, 1);
    const int64_t version = hd_version_of(c);
    own_scale_(c, 2);
    ck_assert_int_eq(hd_version_of(c), version + 1);
    ck_assert(!hd_requires_grad(c));
    {
        HD_NO_GRAD;
        ck_assert_ptr_eq(own_scale_(a, 10), a);
    }
    ck_assert(hd_is_leaf(a));
    ck_assert(hd_backward(v)); /* v is stale, and leads to the leaf */
    ck_elements(hd_grad(a), 1, 0);
}
END_TEST

/* ---------------------------------------------------------------- hooks and retain_grad */

static hd_tensor *counts(hd_tensor *grad, void *user)
{
    *(double *)user += element_at(grad, 0);
    return HD_NONE;
}

START_TEST(retain_grad_moves_and_hooks_stay)
{
    HD_SCOPE;
    double seen = 0;
    hd_tensor *a = LEAF(3), *x = hd_retain_grad(own_scale(a, 2));
    hd_register_hook(x, counts, &seen);
    ck_assert(hd_backward_with(x, HD_NONE, true));
    ck_assert(seen == 1);
    own_scale_(x, 5);
    ck_elements(hd_grad(x), 1); /* what was kept so far came along */
    ck_assert(hd_backward(x));
    ck_elements(hd_grad(x), 2);
    ck_assert(seen == 1 + 5); /* the gradient of the old value */
    ck_elements(hd_grad(a), 12);
}
END_TEST

START_TEST(retain_grad_of_base_and_views)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3), *x = hd_retain_grad(own_scale(a, 1));
    hd_tensor *v = hd_retain_grad(own_part(x, 0, 2)), *w = hd_retain_grad(own_part(x, 1, 3));
    own_scale_(v, 10);
    hd_tensor *y = own_mul(v, w);
    ck_assert(hd_backward_with(y, ONES(y), false)); /* (10 a0)(10 a1) + (10 a1) a2 */
    ck_elements(hd_grad(v), 20, 3);
    ck_elements(hd_grad(w), 10, 20);
    ck_elements(hd_grad(x), 20, 13, 20);
    ck_elements(hd_grad(a), 200, 130, 20);
}
END_TEST

/* ---------------------------------------------------------------- refused */

START_TEST(refused)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3, 4), *x = own_scale(a, 1), *ys[2], *quiet;
    ck_assert_ptr_null(own_scale_(a, 2));
    ck_error(HD_GRAD, "own_scale_: x of (4,) is a leaf that requires grad. Change it under "
                      "HD_NO_GRAD, or change a clone of it");
    ck_assert_ptr_null(own_scale_(own_part(a, 0, 2), 2));
    ck_error(
        HD_GRAD,
        "own_scale_: x of (2,) is a view of a leaf that requires grad. Change it under HD_NO_GRAD");
    ck_assert_ptr_null(hd_data_mut(a)); /* the tensor layer asks too */
    ck_error(HD_GRAD, "hd_data_mut: x of (4,) is a leaf that requires grad. Change it under "
                      "HD_NO_GRAD, or change a clone of it");
    ck_assert(own_halves(x, ys));
    ck_assert_ptr_null(own_scale_(ys[0], 2));
    ck_error(HD_GRAD, "own_scale_: x of (2,) is an output of split, chunk or unbind, so it must "
                      "not change in place. Clone it first");
    ck_assert_ptr_null(own_scale_(own_part(ys[0], 0, 1), 2));
    ck_error(HD_GRAD, "own_scale_: x of (1,) is an output of split, chunk or unbind, so it must "
                      "not change in place. Clone it first");
    {
        HD_NO_GRAD;
        quiet = own_part(x, 0, 2);
    }
    ck_assert_ptr_null(own_scale_(quiet, 2));
    ck_error(HD_GRAD, "own_scale_: x of (2,) is a view taken while grad mode was off, so it must "
                      "not change in place. Clone it first");
    ck_assert_ptr_null(own_scale_(own_wide(vec(HD_FLOAT32, 1), 3), 2));
    ck_error(HD_STATE,
             "own_scale_: x of (3,) is expanded: several elements share memory. Clone it first");
    ck_assert_int_eq(hd_version_of(x), 0);
    ck_assert_str_eq(hd_grad_fn(x), "OwnScale");
}
END_TEST

START_TEST(parts_of_a_changed_base)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3, 4), *x = own_scale(a, 1), *c = vec(HD_FLOAT32, 1, 1), *ys[2];
    ck_assert(own_halves(x, ys));
    own_scale_(x, 2);
    ck_repr(ys[0], "tensor([2., 4.], grad_fn=<Invalid>)");
    ck_assert_ptr_null(own_scale(ys[0], 2));
    ck_error(HD_GRAD, "own_scale: (2,) is an output of split, chunk or unbind, and its base was "
                      "changed in place since. Clone it before that change");
    ck_assert_ptr_null(own_mul_(c, ys[0]));
    ck_error(HD_GRAD, "own_mul_: (2,) is an output of split, chunk or unbind, and its base was "
                      "changed in place since. Clone it before that change");
    ck_elements(c, 1, 1);
    ck_assert_ptr_null(hd_grad_node(ys[1]));
    ck_error(HD_GRAD, "hd_grad_node: (2,) is an output of split, chunk or unbind, and its base was "
                      "changed in place since. Clone it before that change");
    ck_assert(!hd_backward_with(ys[0], c, false));
    ck_error(HD_GRAD, "hd_backward_with: (2,) is an output of split, chunk or unbind, and its base "
                      "was changed in place since. Clone it before that change");
}
END_TEST

/* ---------------------------------------------------------------- threads */

enum { THREADS = 4, VIEWS = 64 };

typedef struct refresher {
    hd_tensor **views;
    atomic_int *waiting;
    const hd_node *nodes[VIEWS];
    bool failed;
} refresher;

static void *refresh(void *arg)
{
    refresher *r = arg;
    atomic_fetch_sub(r->waiting, 1);
    while (atomic_load(r->waiting) > 0) { /* so that all of them begin at once */
    }
    for (int i = 0; i < VIEWS; i++) {
        HD_SCOPE;
        r->nodes[i] = hd_grad_node(r->views[i]);
        hd_tensor *y = own_scale(r->views[i], 2);
        r->failed |= !y || hd_node_input(hd_grad_node(y), 0, NULL) != r->nodes[i];
    }
    return NULL;
}

START_TEST(threads_refresh_one_view_at_once)
{
    for (int round = 0; round < 50; round++) {
        HD_SCOPE;
        hd_tensor *a = LEAF(1, 2, 3), *x = own_scale(a, 1), *views[VIEWS];
        for (int i = 0; i < VIEWS; i++) {
            views[i] = hd_retain_grad(own_part(x, 0, 2));
        }
        own_scale_(x, 3);
        atomic_int waiting = THREADS;
        pthread_t thread[THREADS];
        refresher r[THREADS];
        for (int i = 0; i < THREADS; i++) {
            r[i] = (refresher){.views = views, .waiting = &waiting};
            ck_assert_int_eq(pthread_create(&thread[i], NULL, refresh, &r[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            ck_assert(!r[i].failed);
            ck_assert_mem_eq(r[i].nodes, r[0].nodes, sizeof r[0].nodes); /* each was made once */
        }
        ck_assert(hd_backward_with(views[0], ONES(views[0]), false));
        ck_elements(hd_grad(views[0]), 1, 1);
        ck_elements(hd_grad(a), 3, 3, 0);
    }
}
END_TEST

Suite *suite_history(void)
{
    const TTest *const tests[] = {
        a_view_of_a_view_has_the_same_base,
        views_by_one_op_share_a_node,
        a_plain_tensor_gets_a_new_node,
        a_change_through_a_view,
        a_base_outside_the_graph,
        changes_in_a_row,
        an_expanded_view_of_a_changed_base,
        versions,
        the_new_value_may_be_saved,
        backward_frees_what_a_change_through_a_view_saved,
        changes_outside_the_graph_only_count,
        retain_grad_moves_and_hooks_stay,
        retain_grad_of_base_and_views,
        refused,
        parts_of_a_changed_base,
        threads_refresh_one_view_at_once,
    };
    return SUITE("history", tests);
}
