/* test_backward.c - tests of recording and walking the graph: values, the order of nodes, errors,
 * hooks, hd_grad_of. */
#include <pthread.h>

#include "suites.h"

/* ---------------------------------------------------------------- values */

START_TEST(values_and_names)
{
    warnings_expected();
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3), *b = LEAF(4, 5, 6), *y = own_scale(own_mul(a, b), 2);
    ck_assert_str_eq(hd_grad_fn(y), "OwnScale");
    ck_assert_str_eq(strchr(hd_repr(y), 'g'), "grad_fn=<OwnScale>)");
    ck_assert(hd_requires_grad(y) && !hd_is_leaf(y) && hd_is_leaf(a));
    ck_assert(hd_backward_with(y, ONES(y), false));
    ck_elements(hd_grad(a), 8, 10, 12);
    ck_elements(hd_grad(b), 2, 4, 6);
    ck_assert_ptr_eq(hd_grad(y), HD_NONE);
}
END_TEST

START_TEST(nothing_is_recorded_without_need)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *c = vec(HD_FLOAT32, 3, 4);
    ck_assert(!hd_requires_grad(own_mul(c, c)));
    ck_assert_str_eq(hd_grad_fn(own_mul(c, c)), "");
    {
        HD_NO_GRAD;
        ck_assert(!hd_requires_grad(own_mul(a, c)));
    }
    hd_tensor *y = own_mul(a, c);
    ck_assert_ptr_eq(hd__node_saved_get(y->attachment, 0), HD_NONE); /* a: only dc would need it */
    ck_assert(hd_shares_storage(hd__node_saved_get(y->attachment, 1), c));
    ck_assert(!hd__node_needs(y->attachment, 1));
    hd_requires_grad_(a, false);
    ck_assert(!hd_requires_grad(own_scale(a, 2)));
}
END_TEST

START_TEST(a_result_is_saved_without_a_cycle)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *y = own_square(a);
    ck_assert_ptr_ne(hd__node_saved_get(y->attachment, 1), y);
    ck_assert(hd_shares_storage(hd__node_saved_get(y->attachment, 1), y));
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(a), 6);
}
END_TEST

/* Broadcasting is undone, and the gradient cast, where it arrives. */
START_TEST(gradients_fit_their_inputs)
{
    HD_SCOPE;
    const int64_t sizes[] = {2, 3};
    const float data[] = {1, 2, 3, 4, 5, 6};
    hd_tensor *x = hd_requires_grad_(hd_from_data_n(HD_FLOAT32, data, 2, sizes), true); /* (2, 3) */
    hd_tensor *row = LEAF(1, 10, 100), *one = hd_requires_grad_(vec(HD_FLOAT64, 2), true);
    hd_tensor *y = own_mul(own_mul(x, row), one);
    ck_assert_int_eq(hd_dtype_of(y), HD_FLOAT64);
    ck_assert(hd_backward_with(y, ONES(y), false));
    ck_elements(hd_grad(x), 2, 20, 200, 2, 20, 200);
    ck_elements(hd_grad(row), 10, 14, 18);
    ck_elements(hd_grad(one), 975);
    ck_assert_int_eq(hd_dtype_of(hd_grad(row)), HD_FLOAT32);
    ck_assert_int_eq(hd_dtype_of(hd_grad(one)), HD_FLOAT64);
}
END_TEST

START_TEST(several_outputs)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(5), *b = LEAF(2), *ys[2];
    ck_assert(own_both(a, b, ys));
    ck_assert_ptr_eq(hd_grad_node(ys[0]), hd_grad_node(ys[1]));
    ck_assert(hd_backward_with(ys[1], HD_NONE, true)); /* only the second: dy[0] is zero */
    ck_elements(hd_grad(a), 3);
    ck_elements(hd_grad(b), 0);
    ck_assert(hd_backward(own_mul(ys[0], ys[1]))); /* 3 a^2 b: 6 a b, 3 a^2 */
    ck_elements(hd_grad(a), 3 + 60);
    ck_elements(hd_grad(b), 75);
}
END_TEST

/* ---------------------------------------------------------------- the order of nodes */

/* A node runs once, when all its gradients are there; the youngest node goes first. */
START_TEST(the_youngest_node_first)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *old = own_scale(a, 2), *young = own_square(a);
    hd_tensor *y = own_mul(own_mul(young, old), old); /* 4 a^4 */
    own_ran_clear();
    ck_assert(hd_backward(y));
    ck_assert_str_eq(own_ran, "OwnMul OwnMul OwnSquare OwnScale ");
    ck_elements(hd_grad(a), 16 * 27);
}
END_TEST

START_TEST(numbers_grow_from_inputs_to_results)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *x = own_scale(a, 2), *b = LEAF(5), *y = own_mul(x, b);
    const hd__node *nx = hd_grad_node(x), *ny = hd_grad_node(y), *nb = hd_grad_node(b);
    ck_assert(ny->seq > nx->seq && ny->seq > nb->seq);
    ck_assert(nb->seq > nx->seq); /* a leaf's node is made with the leaf */
    ck_assert_ptr_eq(hd_node_input(ny, 0, NULL), nx);
    ck_assert_ptr_eq(hd_node_input(ny, 1, NULL), nb);
}
END_TEST

static void *square_elsewhere(void *arg)
{
    hd_tensor **x = arg;
    *x = hd_retain(own_square(*x)); /* the first node of this thread */
    return NULL;
}

/* A node of another thread comes after its inputs, however many nodes this one has made. */
START_TEST(numbers_grow_across_threads)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *x = own_scale(a, 2), *y = x;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, square_elsewhere, &y), 0);
    pthread_join(thread, NULL);
    const hd__node *nx = hd_grad_node(x), *ny = hd_grad_node(y);
    ck_assert(ny->seq > nx->seq);
    ck_assert(hd_backward(own_mul(y, x))); /* 8 a^3 */
    ck_elements(hd_grad(a), 24 * 9);
    hd_release(y);
}
END_TEST

START_TEST(a_long_chain)
{
    HD_SCOPE;
    enum { CHAIN = 100000 };
    hd_tensor *a = LEAF(1), *y = hd_retain(own_scale(a, 1));
    for (int i = 0; i < CHAIN; i++) {
        HD_SCOPE;
        hd_assign(&y, own_scale(y, 1));
    }
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(a), 1);
    hd_release(y);
}
END_TEST

/* ---------------------------------------------------------------- .grad */

START_TEST(gradients_add_up_and_are_not_shared)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4), *g = vec(HD_FLOAT32, 5, 6);
    ck_assert(hd_backward_with(a, g, false) && hd_backward_with(b, g, false));
    ck_assert(!hd_shares_storage(hd_grad(a), g));
    ck_assert(!hd_shares_storage(hd_grad(a), hd_grad(b)));
    hd_tensor *alias = hd_grad(a);
    ck_assert(hd_backward_with(own_scale(a, 2), g, false));
    ck_elements(alias, 15, 18); /* added in place */
    ck_elements(hd_grad(b), 5, 6);
    ck_elements(g, 5, 6);
}
END_TEST

/* The .grad and what is added to it share memory, but not element by element. */
START_TEST(a_grad_that_overlaps_what_is_added)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(0, 0), *buffer = vec(HD_FLOAT32, 1, 2, 3, 4);
    ck_assert(hd_set_grad(a, own_part(buffer, 0, 2)));
    ck_assert(hd_backward_with(a, own_part(buffer, 1, 3), false));
    ck_elements(hd_grad(a), 3, 5);
    ck_assert(hd_backward_with(a, own_part(buffer, 2, 4), false));
    ck_elements(hd_grad(a), 6, 9);
    ck_elements(buffer, 1, 2, 3, 4);
    hd_tensor *one = vec(HD_FLOAT32, 1);
    ck_assert(hd_set_grad(a, own_wide(one, 2)));
    ck_assert(hd_backward_with(a, vec(HD_FLOAT32, 2, 3), false));
    ck_elements(hd_grad(a), 3, 4);
    ck_elements(one, 1);
}
END_TEST

START_TEST(retained_grads)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *x = hd_retain_grad(own_scale(a, 2)), *y = own_square(x);
    ck_assert_ptr_eq(hd_grad(x), HD_NONE);
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(x), 12);
    ck_elements(hd_grad(a), 24);
    ck_assert(hd_set_grad(x, HD_NONE));
    ck_assert_ptr_eq(hd_grad(x), HD_NONE);
}
END_TEST

/* ---------------------------------------------------------------- errors */

START_TEST(a_freed_graph)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *y = own_square(a), *z = own_scale(a, 2);
    ck_assert(hd_backward_with(y, HD_NONE, true));
    ck_assert(hd_backward(y));
    ck_assert(!hd_backward_with(y, HD_NONE, false));
    ck_error(HD_GRAD, "hd_backward_with: OwnSquare: its graph was freed by an earlier backward. "
                      "Call hd_backward_with(y, HD_NONE, true) to keep a graph, or hd_detach to "
                      "get a tensor without one");
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(a), NULL, NULL));
    ck_error(HD_GRAD, "hd_grad_of: OwnSquare: its graph was freed by an earlier backward. Call "
                      "hd_backward_with(y, HD_NONE, true) to keep a graph, or hd_detach to get a "
                      "tensor without one");
    ck_elements(hd_grad(a), 12);
    ck_assert(hd_backward(z) && hd_backward(z)); /* it saved nothing, so nothing was freed */
    ck_elements(hd_grad(a), 16);
}
END_TEST

/* Messages name the function that the user called, whichever function found the fault. */
START_TEST(saved_tensors_that_changed)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *x = own_scale(a, 2), *y = own_square(x);
    own_scale_(x, 2);
    ck_assert(!hd_backward(y));
    ck_error(HD_GRAD, "hd_backward: OwnSquare: its saved tensor 0 of (1,) was changed in place: "
                      "version 1, expected 0. Call hd_set_debug(true) at the start to see the "
                      "calls that saved and changed it");
    ck_assert(!hd_backward_with(y, ONES(y), false));
    ck_error(HD_GRAD, "hd_backward_with: OwnSquare: its saved tensor 0 of (1,) was changed in "
                      "place: version 1, expected 0. Call hd_set_debug(true) at the start to see "
                      "the calls that saved and changed it");
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(a), NULL, NULL));
    ck_error(HD_GRAD, "hd_grad_of: OwnSquare: its saved tensor 0 of (1,) was changed in place: "
                      "version 1, expected 0. Call hd_set_debug(true) at the start to see the "
                      "calls that saved and changed it");
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
}
END_TEST

START_TEST(a_backward_that_fails)
{
    const struct {
        int fault;
        hd_code code;
        const char *message;
    } rows[] = {
        {GIVES_NULL, HD_USER,
         "hd_backward_with: OwnFaulty gave NULL for input 0: expected a gradient or HD_NONE"},
        {GIVES_FIVE, HD_SHAPE,
         "hd_backward_with: OwnFaulty gave a gradient of (5,) for input 0 of (2,): expected the "
         "input's shape"},
        {FAILS, HD_VALUE, "hd_backward_with: no"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        HD_SCOPE;
        hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4), *y = own_mul(own_faulty(a, rows[i].fault), b);
        ck_assert(!hd_backward_with(y, ONES(y), false));
        ck_error(rows[i].code, rows[i].message);
        ck_assert_ptr_eq(hd_grad(a), HD_NONE);
        ck_assert_ptr_eq(hd_grad(b), HD_NONE); /* of all leaves, or of none */
        ck_assert(hd_grad_mode());
    }
}
END_TEST

START_TEST(first_gradients_that_do_not_fit)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *y = own_scale(a, 2);
    ck_assert(!hd_backward(y));
    ck_error(HD_GRAD, "hd_backward: loss (2,) has 2 elements: expected 1. Reduce it by hd_sum or "
                      "hd_mean, or pass a gradient of its shape to hd_backward_with");
    ck_assert(!hd_backward_with(y, vec(HD_FLOAT32, 1), false));
    ck_error(HD_SHAPE, "hd_backward_with: a gradient of (1,) for (2,): expected the same shape");
    ck_assert(!hd_backward_with(y, hd_zeros(HD_INT64, 2), false));
    ck_error(HD_DTYPE, "hd_backward_with: dtype int64: expected float32 or float64");
    ck_assert(!hd_backward(vec(HD_FLOAT32, 1)));
    ck_error(HD_GRAD,
             "hd_backward: loss (1,) does not require grad: no tensor that it was computed from "
             "requires grad, or grad mode was off then (HD_NO_GRAD), or hd_detach made it");
    ck_assert(!hd_backward_with(y, NULL, false));
    ck_error(HD_NULL_ARG, "hd_backward_with: grad is NULL: expected a tensor or HD_NONE");
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
}
END_TEST

/* ---------------------------------------------------------------- hooks */

static hd_tensor *doubles(hd_tensor *grad, void *user)
{
    ++*(int *)user;
    ck_assert(!hd_grad_mode());
    return scaled(grad, 2);
}

static hd_tensor *gives(hd_tensor *grad, void *user)
{
    (void)grad;
    return user;
}

START_TEST(hooks_see_the_sum_once)
{
    HD_SCOPE;
    int calls = 0;
    hd_tensor *a = LEAF(3), *x = own_scale(a, 1), *y = own_mul(x, x);
    int64_t id = hd_register_hook(x, doubles, &calls);
    ck_assert(hd_backward_with(y, HD_NONE, true));
    ck_assert_int_eq(calls, 1);
    ck_elements(hd_grad(a), 12);
    ck_assert(hd_remove_hook(x, id));
    ck_assert(hd_backward(y));
    ck_assert_int_eq(calls, 1);
    ck_elements(hd_grad(a), 18);
    ck_assert(!hd_remove_hook(x, 77));
    ck_error(HD_VALUE, "hd_remove_hook: 77 is not the id of a hook of x (1,)");
}
END_TEST

START_TEST(hooks_that_fail)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *y = own_scale(a, 2), *five = hd_zeros(HD_FLOAT32, 5);
    int64_t id = hd_register_hook(a, gives, NULL);
    ck_assert(!hd_backward_with(y, HD_NONE, true));
    ck_error(HD_USER, "hd_backward_with: a hook returned NULL: expected a gradient, or HD_NONE to "
                      "keep the one it was given");
    ck_assert(hd_remove_hook(a, id));
    id = hd_register_hook(a, gives, five);
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(a), NULL, NULL));
    ck_error(HD_SHAPE, "hd_grad_of: a hook returned (5,) of float32: expected (1,) of float32");
    ck_assert(hd_remove_hook(a, id));
    hd_register_hook(a, gives, HD_NONE);
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(a), 2);
}
END_TEST

/* A run of its own inside a run. */
static hd_tensor *runs_another(hd_tensor *grad, void *user)
{
    (void)user;
    hd_set_grad_mode(true);
    hd_tensor *b = LEAF(5), *y = own_square(b);
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(b), 10);
    hd_set_grad_mode(false);
    ck_assert_ptr_null(hd__call); /* the program's own code speaks for itself */
    return grad;
}

START_TEST(a_run_inside_a_run)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *x = own_scale(a, 2), *square = own_square(x);
    hd_register_hook(square, runs_another, NULL);
    ck_assert(hd_backward_with(square, HD_NONE, false));
    ck_elements(hd_grad(a), 24);
    ck_assert(hd_grad_mode());
    ck_assert_ptr_null(hd__call);
}
END_TEST

/* ---------------------------------------------------------------- hd_grad_of */

START_TEST(grad_of_runs_what_lies_on_a_path)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = LEAF(4), *x = own_mul(a, b);
    hd_tensor *aside = own_square(own_scale(b, 2)), *y = own_mul(x, aside);
    own_ran_clear();
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(x), NULL, NULL);
    ck_assert_str_eq(own_ran, "OwnMul "); /* neither aside's nodes nor x's own */
    ck_elements(hd_list_get(g, 0), 64);
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
}
END_TEST

START_TEST(grad_of_options)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *apart = LEAF(1), *y = own_square(a);
    hd_grad_options o = hd_grad_defaults();
    o.retain_graph = true;
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(a, apart), NULL, &o));
    ck_error(HD_GRAD, "hd_grad_of: the outputs do not depend on input 1, of shape (1,). Set "
                      "allow_unused to get HD_NONE for it");
    o.allow_unused = true;
    hd_list *g = hd_grad_of(hd_list_of(y, y), hd_list_of(a, apart),
                            hd_list_of(HD_NONE, vec(HD_FLOAT32, 10)), &o);
    ck_elements(hd_list_get(g, 0), 66);
    ck_assert_ptr_eq(hd_list_get(g, 1), HD_NONE);
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(a), hd_list_of(y, y), &o));
    ck_error(HD_VALUE, "hd_grad_of: 2 gradients for 1 outputs: expected one for each");
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(vec(HD_FLOAT32, 1)), NULL, &o));
    ck_error(HD_GRAD, "hd_grad_of: input 0, of shape (1,), does not require grad. Call "
                      "hd_requires_grad_(x, true) for it before you compute the outputs");
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(a), 6);
}
END_TEST

Suite *suite_backward(void)
{
    const TTest *const tests[] = {
        values_and_names,
        nothing_is_recorded_without_need,
        a_result_is_saved_without_a_cycle,
        gradients_fit_their_inputs,
        several_outputs,
        the_youngest_node_first,
        numbers_grow_from_inputs_to_results,
        numbers_grow_across_threads,
        a_long_chain,
        gradients_add_up_and_are_not_shared,
        a_grad_that_overlaps_what_is_added,
        retained_grads,
        a_freed_graph,
        saved_tensors_that_changed,
        a_backward_that_fails,
        first_gradients_that_do_not_fit,
        hooks_see_the_sum_once,
        hooks_that_fail,
        a_run_inside_a_run,
        grad_of_runs_what_lies_on_a_path,
        grad_of_options,
    };
    return SUITE("backward", tests);
}
