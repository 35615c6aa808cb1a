/* test_graph.c - tests of walking the graph: nodes, their names, inputs, outputs and shapes. */
#include "heed/autograd.h"
#include "ops/suites.h"
#include "support/support.h"

#define ck_sizes(node, output, ...)                                                                \
    do {                                                                                           \
        int ndim_ = -1;                                                                            \
        const int64_t want_[] = {__VA_ARGS__}, *got_ = hd_node_sizes(node, output, &ndim_);        \
        ck_assert_int_eq(ndim_, (int)(sizeof want_ / sizeof *want_));                              \
        ck_assert_mem_eq(got_, want_, sizeof want_);                                               \
    } while (0)

START_TEST(from_result_to_leaf)
{
    HD_SCOPE;
    hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 3, 4), true);
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *y = hd_matmul(x, w);
    const hd_node *n = hd_grad_node(y);
    ck_assert_str_eq(hd_node_name(n), hd_grad_fn(y));
    ck_assert_str_eq(hd_node_name(n), "MmBackward0");
    ck_assert(!hd_node_is_leaf(n));
    ck_assert_int_eq(hd_node_inputs(n), 2);
    ck_assert_int_eq(hd_node_outputs(n), 1);
    ck_sizes(n, 0, 2, 4);
    ck_assert(!hd_needs_grad(n, 0));
    ck_assert(hd_needs_grad(n, 1));
    int output = -1;
    const hd_node *leaf = hd_node_input(n, 1, &output);
    ck_assert_int_eq(output, 0);
    ck_assert_ptr_eq(leaf, hd_grad_node(w));
    ck_assert_str_eq(hd_node_name(leaf), "AccumulateGrad");
    ck_assert(hd_node_is_leaf(leaf));
    ck_assert_int_eq(hd_node_inputs(leaf), 0);
    ck_sizes(leaf, 0, 3, 4);
    ck_assert(hd_backward(hd_sum(y)));
    ck_assert_ptr_eq(hd_grad_node(y), n); /* a backward leaves the nodes */
    ck_assert_ptr_eq(hd_node_input(n, 1, NULL), leaf);
    ck_no_error();
}
END_TEST

START_TEST(several_outputs)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 5, 2), true);
    hd_list *parts = hd_split(x, 2, 0);
    const hd_node *first = hd_grad_node(hd_list_get(parts, 0));
    ck_assert_ptr_eq(hd_grad_node(hd_list_get(parts, 2)), first);
    ck_assert_int_eq(hd_node_outputs(first), 3);
    ck_sizes(first, 1, 2, 2);
    ck_sizes(first, 2, 1, 2);
    int output = -1;
    const hd_node *exp = hd_grad_node(hd_exp(hd_list_get(parts, 2)));
    ck_assert_ptr_eq(hd_node_input(exp, 0, &output), first);
    ck_assert_int_eq(output, 2);
    ck_no_error();
}
END_TEST

/* A view has the node that the change of its base gave it. */
START_TEST(view_of_a_changed_base)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true);
    hd_tensor *y = hd_exp(x), *row = hd_select(y, 0, 1);
    const hd_node *before = hd_grad_node(row);
    ck_assert_str_eq(hd_node_name(before), "SelectBackward0");
    hd_mul_scalar_(y, 2.0);
    const hd_node *after = hd_grad_node(row);
    ck_assert_str_eq(hd_node_name(after), "AsStridedBackward0");
    ck_assert_ptr_eq(hd_grad_node(row), after);
    ck_assert_ptr_eq(hd_node_input(after, 0, NULL), hd_grad_node(y));
    ck_sizes(after, 0, 3);
    ck_no_error();
}
END_TEST

START_TEST(refused)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
    const hd_node *n = hd_grad_node(hd_mul(x, hd_ones(HD_FLOAT32, 2)));
    int ndim;
    ck_assert_ptr_null(hd_grad_node(hd_ones(HD_FLOAT32, 2, 3)));
    ck_error(HD_GRAD, "hd_grad_node: x of (2, 3) does not require grad");
    ck_assert_ptr_null(hd_node_input(n, 1, NULL));
    ck_error(HD_GRAD, "hd_node_input: input 1 needs no gradient, so it has no node. Check "
                      "hd_needs_grad(n, i) first");
    ck_assert_ptr_null(hd_node_input(n, 2, NULL));
    ck_error(HD_INDEX, "hd_node_input: input 2 of a node that has 2: expected 0 to 1");
    ck_assert_ptr_null(hd_node_input(n, -1, NULL));
    ck_error(HD_INDEX, "hd_node_input: input -1 of a node that has 2: expected 0 to 1");
    ck_assert_ptr_null(hd_node_sizes(n, 1, &ndim));
    ck_error(HD_INDEX, "hd_node_sizes: output 1 of a node that has 1: expected 0 to 0");
}
END_TEST

Suite *suite_graph(void)
{
    const TTest *const tests[] = {
        from_result_to_leaf,
        several_outputs,
        view_of_a_changed_base,
        refused,
    };
    return SUITE_OF("graph", tests);
}
