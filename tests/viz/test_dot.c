/* test_dot.c - the backward graph as DOT, word for word. */
#include <stdlib.h>

#include "suites.h"

#define HEAD                                                                                       \
    "digraph backward {\n"                                                                         \
    "    node [shape=box, style=filled, fillcolor=\"#f4f4f4\", fontname=\"Helvetica\", "           \
    "fontsize=11];\n"                                                                              \
    "    edge [color=\"#555555\", fontname=\"Helvetica\", fontsize=9];\n"
#define LEAF "\", fillcolor=\"#cfe5f2\"];\n"

static void ck_dot(hd_tensor *x, const hd_dict *names, const char *wanted)
{
    char *dot = hd_graph_dot(x, names);
    ck_assert_msg(dot, "%s", hd_error_message());
    ck_assert_str_eq(dot, wanted);
    hd_free(dot);
}

static hd_tensor *leaf(int64_t n, int64_t m)
{
    return hd_requires_grad_(hd_ones(HD_FLOAT32, n, m), true);
}

START_TEST(a_product)
{
    HD_SCOPE;
    hd_tensor *w = leaf(3, 4), *b = leaf(1, 4);
    hd_tensor *y = hd_sum(hd_add(hd_matmul(hd_ones(HD_FLOAT32, 2, 3), w), b));
    hd_dict *names = hd_dict_new();
    hd_dict_set_int(names, "a number", 3);
    hd_dict_set(names, "elsewhere", leaf(1, 1));
    hd_dict_set(names, "a mask", hd_ones(HD_BOOL, 1));
    hd_dict_set(names, "W \"q\\\" &\n\x01\xef\xbf\xbe", w);
    hd_dict_set(names, "tied", w);
    ck_dot(y, names,
           HEAD "    n0 [label=\"SumBackward0\\n()\", penwidth=2];\n"
                "    n1 [label=\"AddBackward0\\n(2, 4)\"];\n"
                "    n2 [label=\"MmBackward0\\n(2, 4)\"];\n"
                "    n3 [label=\"leaf\\n(1, 4)" LEAF
                "    n4 [label=\"W \\\"q\\\\\\\" &amp;\\n\xef\xbf\xbd\xef\xbf\xbe\\n(3, 4)" LEAF
                "    n1 -> n0;\n    n2 -> n1;\n    n3 -> n1;\n    n4 -> n2;\n}\n");
    hd_dict_free(names);
}
END_TEST

/* A tensor that is used twice is one node; an op with several outputs shows the output's number. */
START_TEST(shared_and_split)
{
    HD_SCOPE;
    hd_tensor *x = leaf(6, 2);
    hd_list *parts = hd_chunk(x, 2, 0);
    hd_tensor *y = hd_mul(hd_list_get(parts, 1), hd_list_get(parts, 1));
    ck_dot(y, NULL,
           HEAD "    n0 [label=\"MulBackward0\\n(3, 2)\", penwidth=2];\n"
                "    n1 [label=\"SplitBackward0\\n(3, 2)\\n(3, 2)\"];\n"
                "    n2 [label=\"leaf\\n(6, 2)" LEAF "    n1 -> n0 [label=\"1\"];\n"
                "    n1 -> n0 [label=\"1\"];\n    n2 -> n1;\n}\n");
    parts = hd_unbind(x, 0);
    char *dot = hd_graph_dot(hd_list_get(parts, 5), NULL);
    ck_assert_ptr_nonnull(
        strstr(dot, "[label=\"UnbindBackward0\\n(2,)\\n(2,)\\n(2,)\\n(2,)\\n...\", penwidth=2]"));
    hd_free(dot);
}
END_TEST

START_TEST(a_leaf_alone)
{
    HD_SCOPE;
    ck_dot(leaf(1, 2), NULL, HEAD "    n0 [label=\"leaf\\n(1, 2)" LEAF "}\n");
}
END_TEST

/* A view that is changed in place through its base is a part of the base's new value. */
START_TEST(in_place)
{
    HD_SCOPE;
    hd_tensor *x = hd_mul_scalar(leaf(2, 2), 2.0), *row = hd_select(x, 0, 0);
    hd_mul_scalar_(x, 3.0);
    ck_dot(row, NULL,
           HEAD "    n0 [label=\"AsStridedBackward0\\n(2,)\", penwidth=2];\n"
                "    n1 [label=\"MulBackward0\\n(2, 2)\"];\n"
                "    n2 [label=\"MulBackward0\\n(2, 2)\"];\n"
                "    n3 [label=\"leaf\\n(2, 2)" LEAF "    n1 -> n0;\n    n2 -> n1;\n"
                "    n3 -> n2;\n}\n");
    ck_assert_str_eq(hd_grad_fn(row), "AsStridedBackward0");
}
END_TEST

static bool twice_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = hd_add(x[0], x[1]);
    return y[0];
}

static void twice_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx;
    gx[0] = gy[0];
}

START_TEST(a_users_op)
{
    HD_SCOPE;
    static const hd_op op = {sizeof op, "My<op>", twice_forward, twice_backward, NULL};
    hd_tensor *y = hd_apply(&op, NULL, leaf(1, 1), hd_ones(HD_FLOAT32, 1, 1));
    ck_dot(y, NULL,
           HEAD "    n0 [label=\"My<op>Backward\\n(1, 1)\", penwidth=2];\n"
                "    n1 [label=\"leaf\\n(1, 1)" LEAF "    n1 -> n0;\n}\n");
}
END_TEST

/* A chain that is too long for recursion. It looks the same after a backward. */
START_TEST(a_long_chain)
{
    HD_SCOPE;
    enum { LENGTH = 60000 };
    hd_tensor *x = leaf(1, 1), *y = x;
    for (int i = 0; i < LENGTH; i++) {
        HD_SCOPE;
        y = hd_scope_return(hd_mul_scalar(y, 1.0));
    }
    char *before = hd_graph_dot(y, NULL), *at = before;
    int lines = 0;
    while ((at = strchr(at, '\n'))) {
        lines++;
        at++;
    }
    ck_assert_int_eq(lines, 3 + (LENGTH + 1) + LENGTH + 1);
    ck_assert(hd_backward(y));
    char *after = hd_graph_dot(y, NULL);
    ck_assert_str_eq(before, after);
    hd_free(before);
    hd_free(after);
}
END_TEST

START_TEST(refused)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3);
    ck_assert_ptr_null(hd_graph_dot(x, NULL));
    ck_error(HD_GRAD, "hd_graph_dot: (2, 3) does not require grad");
    ck_assert_ptr_null(hd_graph_dot(NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_graph_dot: x is NULL");
    hd_list *parts = hd_chunk(hd_mul_scalar(leaf(4, 1), 1.0), 2, 0);
    hd_tensor *part = hd_list_get(parts, 0);
    ck_assert(!hd_graph_save_dot(part, NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_graph_save_dot: path is NULL");
    ck_assert(!hd_graph_save_dot(NULL, NULL, "x"));
    ck_error(HD_NULL_ARG, "hd_graph_save_dot: x is NULL");
}
END_TEST

Suite *suite_dot(void)
{
    const TTest *const tests[] = {a_product,  shared_and_split, a_leaf_alone, in_place,
                                  a_users_op, a_long_chain,     refused};
    return SUITE("dot", tests);
}
