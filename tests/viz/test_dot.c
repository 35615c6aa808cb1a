/* test_dot.c - compares the DOT text of a backward graph, word for word. */
#include <stdio.h>
#include <stdlib.h>

#include "suites.h"

/* The text without its head: four lines, and a legend whose text a test of its own reads. */
static char *body_of(hd_tensor *x, const hd_dict *names, const hd_graph_options *o)
{
    hd_graph_options plain = o ? *o : hd_graph_defaults();
    plain.legend = false;
    char *dot = hd_graph_dot_with(x, names, &plain);
    ck_assert_msg(dot, "%s", hd_error_message());
    static const char start[] = "digraph backward {\n    graph [bgcolor=white, ";
    ck_assert_int_eq(strncmp(dot, start, strlen(start)), 0);
    const char *at = dot;
    for (int line = 0; line < 4; line++) {
        at = strchr(at, '\n') + 1;
    }
    memmove(dot, at, strlen(at) + 1);
    return dot;
}

static void ck_has(const char *dot, const char *part)
{
    ck_assert_msg(strstr(dot, part), "%s\nis missing in\n%.3000s", part, dot);
}

#define LEAF ", style=\"filled,rounded\", fontsize=9, fillcolor=\"#cfe5f2\"];\n"
#define CALL ", fillcolor=\"#ffffff\"];\n"
#define RESULT ", fillcolor=\"#fbe3b3\", penwidth=2];\n"
#define BOX ", peripheries=2, fillcolor=\"#e3efda\"];\n"

static void ck_dot_with(hd_tensor *x, const hd_dict *names, const hd_graph_options *o,
                        const char *wanted)
{
    char *dot = body_of(x, names, o);
    ck_assert_str_eq(dot, wanted);
    hd_free(dot);
}

static void ck_dot(hd_tensor *x, const hd_dict *names, const char *wanted)
{
    ck_dot_with(x, names, NULL, wanted);
}

static hd_tensor *leaf(int64_t n, int64_t m)
{
    return hd_requires_grad_(hd_ones(HD_FLOAT32, n, m), true);
}

/* A new leaf with this name in the dictionary. */
static hd_tensor *named(hd_dict *names, const char *name, int64_t n, int64_t m)
{
    hd_tensor *t = leaf(n, m);
    hd_dict_set(names, name, t);
    return t;
}

START_TEST(a_product)
{
    HD_SCOPE;
    hd_tensor *w = leaf(3, 4), *b = leaf(1, 4);
    hd_tensor *y = hd_sum(hd_add(hd_matmul(hd_ones(HD_FLOAT32, 2, 3), w), b));
    ck_dot(y, NULL,
           "    n4 [label=\"leaf (3, 4)\", tooltip=\"AccumulateGrad\"" LEAF
           "    n2 [label=\"Matmul (2, 4)\", tooltip=\"MmBackward0\"" CALL
           "    n3 [label=\"leaf (1, 4)\", tooltip=\"AccumulateGrad\"" LEAF
           "    n1 [label=\"Add (2, 4)\", tooltip=\"AddBackward0\"" CALL
           "    n0 [label=\"Sum ()\", tooltip=\"SumBackward0\"" RESULT "    n1 -> n0 [weight=8];\n"
           "    n2 -> n1 [weight=8];\n    n3 -> n1 [weight=1];\n    n4 -> n2 [weight=1];\n}\n");
}
END_TEST

/* One call has one box, whose title is shorter than its name. */
START_TEST(attention)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 1, 2, 128, 8), true); /* (b, h, l, e) */
    hd_tensor *y = hd_scaled_dot_product_attention(x, x, x, HD_NONE, 0, false);
    char *dot = body_of(y, NULL, NULL);
    ck_has(dot, "n0 [label=\"Attention (1, 2, 128, 8)\", "
                "tooltip=\"ScaledDotProductFlashAttentionForCpuBackward0\"" RESULT);
    hd_free(dot);
}
END_TEST

/* Only tensors of the graph and classes of its modules matter. Names may hold anything: quotes,
 * backslashes, line ends, entities, tags, control characters, other scripts. */
START_TEST(names_are_escaped)
{
    HD_SCOPE;
    hd_tensor *w = leaf(3, 4), *b = leaf(1, 4);
    hd_dict *names = hd_dict_new();
    hd_dict_set_int(names, "a number", 3);
    hd_dict_set(names, "elsewhere", leaf(1, 1));
    hd_dict_set(names, "a mask", hd_ones(HD_BOOL, 1));
    hd_dict_set(names, "W \"q\\\" &amp;\n\x01\xef\xbf\xbe\xff", w);
    hd_dict_set(names, "tied", w);
    hd_dict_set(names, "<b>\xed\x95\x9c\xea\xb5\xad</b>", b);
    hd_dict_set_string(names, "W", "no module");
    ck_dot(hd_add(hd_matmul(hd_ones(HD_FLOAT32, 2, 3), w), b), names,
           "    n3 [label=\"W \\\"q\\\\\\\" &amp;amp;\\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd (3, "
           "4)\", tooltip=\"W \\\"q\\\\\\\" &amp;amp;\\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" LEAF
           "    n1 [label=\"Matmul W \\\"q\\\\\\\" &amp;amp;\\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
           " (2, 4)\", tooltip=\"MmBackward0\"" CALL
           "    n2 [label=\"<b>\xed\x95\x9c\xea\xb5\xad</b> (1, 4)\", "
           "tooltip=\"<b>\xed\x95\x9c\xea\xb5\xad</b>\"" LEAF
           "    n0 [label=\"Add <b>\xed\x95\x9c\xea\xb5\xad</b> (2, 4)\", "
           "tooltip=\"AddBackward0\"" RESULT
           "    n1 -> n0 [weight=8];\n    n2 -> n0 [weight=1];\n    n3 -> n1 [weight=1];\n}\n");
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
           "    n2 [label=\"leaf (6, 2)\", tooltip=\"AccumulateGrad\"" LEAF
           "    n1 [label=\"Split (3, 2), (3, 2)\", tooltip=\"SplitBackward0\"" CALL
           "    n0 [label=\"Mul (3, 2)\", tooltip=\"MulBackward0\"" RESULT
           "    n1 -> n0 [weight=8, label=\"output 1\"];\n"
           "    n1 -> n0 [weight=8, label=\"output 1\"];\n    n2 -> n1 [weight=1];\n}\n");
    parts = hd_unbind(x, 0);
    char *dot = hd_graph_dot(hd_list_get(parts, 5), NULL);
    ck_assert_ptr_nonnull(strstr(dot, "[label=\"Unbind (2,), (2,), (2,), (2,), ...\", tooltip="));
    hd_free(dot);
}
END_TEST

START_TEST(a_leaf_alone)
{
    HD_SCOPE;
    hd_graph_options o = hd_graph_defaults();
    o.parameters = false; /* what is asked for is drawn in any case */
    ck_dot_with(leaf(1, 2), NULL, &o,
                "    n0 [label=\"leaf (1, 2)\", tooltip=\"AccumulateGrad\"" LEAF "}\n");
}
END_TEST

/* A view that is changed in place through its base is a part of the base's new value. */
START_TEST(in_place)
{
    HD_SCOPE;
    hd_tensor *x = hd_mul_scalar(leaf(2, 2), 2.0), *row = hd_select(x, 0, 0);
    hd_mul_scalar_(x, 3.0);
    ck_dot(row, NULL,
           "    n3 [label=\"leaf (2, 2)\", tooltip=\"AccumulateGrad\"" LEAF
           "    n2 [label=\"Mul (2, 2)\", tooltip=\"MulBackward0\"" CALL
           "    n1 [label=\"Mul (2, 2)\", tooltip=\"MulBackward0\"" CALL
           "    n0 [label=\"AsStrided (2,)\", tooltip=\"AsStridedBackward0\"" RESULT
           "    n1 -> n0 [weight=8];\n    n2 -> n1 [weight=8];\n    n3 -> n2 [weight=1];\n}\n");
    ck_assert_str_eq(hd_grad_fn(row), "AsStridedBackward0");
}
END_TEST

/* ---------------------------------------------------------------- views */

/* Views stand in the box of the call whose result only they use, and otherwise on the arrow. */
START_TEST(views)
{
    HD_SCOPE;
    hd_tensor *x = hd_exp(leaf(2, 6));                                     /* (2, 6) */
    hd_tensor *shared = hd_neg(hd_transpose(hd_view(x, 3, 4), 0, 1));      /* (4, 3) */
    hd_tensor *y = hd_mul(hd_squeeze(hd_unsqueeze(shared, 0), 0), shared); /* (4, 3) */
    ck_dot(
        y, NULL,
        "    n7 [label=\"leaf (2, 6)\", tooltip=\"AccumulateGrad\"" LEAF
        "    n6 [label=\"Exp (2, 6)\\nthen View, Transpose (4, 3)\", tooltip=\"ExpBackward0\"" CALL
        "    n2 [label=\"Neg (4, 3)\", tooltip=\"NegBackward0\"" CALL
        "    n0 [label=\"Mul (4, 3)\", tooltip=\"MulBackward0\"" RESULT
        "    n2 -> n0 [weight=8, label=\"Unsqueeze, Squeeze (4, 3)\", style=dashed];\n"
        "    n2 -> n0 [weight=8];\n    n6 -> n2 [weight=8];\n    n7 -> n6 [weight=1];\n}\n");
    hd_graph_options full = hd_graph_defaults();
    full.full = true;
    ck_dot_with(
        hd_neg(hd_view(x, 12)), NULL, &full,
        "    n3 [label=\"leaf (2, 6)\", tooltip=\"AccumulateGrad\"" LEAF
        "    n2 [label=\"Exp\\nExpBackward0 (2, 6)\", tooltip=\"ExpBackward0\"" CALL
        "    n1 [label=\"View\\nViewBackward0 (12,)\", tooltip=\"ViewBackward0\"" CALL
        "    n0 [label=\"Neg\\nNegBackward0 (12,)\", tooltip=\"NegBackward0\"" RESULT
        "    n1 -> n0 [weight=8];\n    n2 -> n1 [weight=8];\n    n3 -> n2 [weight=1];\n}\n");
}
END_TEST

/* The first four views of a long chain have their names, on an arrow the last four. A chain that
 * ends in the tensor itself, or in a tensor with a name, has a box. */
START_TEST(long_chains_of_views)
{
    HD_SCOPE;
    hd_tensor *x = hd_exp(leaf(2, 6)), *y = x;
    for (int i = 0; i < 5; i++) {
        y = hd_contiguous(i % 2 ? hd_view(y, 2, 6) : hd_transpose(hd_view(y, 3, 4), 0, 1));
    }
    hd_dict *names = hd_dict_new();
    char *dot = body_of(hd_neg(y), names, NULL);
    ck_has(dot, "label=\"Exp (2, 6)\\nthen View, Transpose, Clone, View, ... (4, 3)\"");
    hd_free(dot);
    dot = body_of(hd_add(hd_flatten(y, 0, -1), hd_flatten(x, 0, -1)), names, NULL);
    ck_has(dot, "label=\"..., View, Transpose, Clone, View (12,)\", style=dashed]");
    ck_has(dot, "label=\"View (12,)\", style=dashed]");
    hd_free(dot);
    hd_dict_set(names, "turned", y);
    dot = body_of(hd_neg(hd_view(y, 12)), names, NULL);
    ck_has(dot, "[label=\"Clone turned (4, 3)\\nthen View (12,)\"");
    hd_free(dot);
    dot = body_of(y, NULL, NULL);
    ck_has(dot, "n0 [label=\"Clone (4, 3)\", tooltip=\"CloneBackward0\"" RESULT);
    hd_free(dot);
    hd_dict_free(names);
}
END_TEST

/* ---------------------------------------------------------------- modules */

/* x + proj(attention(norm(x))), as in a block, under the names of that block. */
static hd_tensor *a_block(hd_dict *names, const char *block, hd_tensor *x) /* (2, 3, 4) */
{
    char name[64];
    hd_tensor *w[5]; /* (4, 4) each */
    static const char *const ends[] = {"norm.weight", "att.W_query.weight", "att.W_key.weight",
                                       "att.W_value.weight", "att.out_proj.weight"};
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "%s.%s", block, ends[i]);
        w[i] = i ? named(names, name, 4, 4) : hd_requires_grad_(hd_ones(HD_FLOAT32, 4), true);
        hd_dict_set(names, name, w[i]);
    }
    int64_t last = 4;
    hd_tensor *y = hd_layer_norm_n(x, 1, &last, w[0], HD_NONE, 1e-5);
    hd_tensor *q = hd_linear(y, w[1], HD_NONE), *k = hd_linear(y, w[2], HD_NONE);
    hd_tensor *v = hd_matmul(y, hd_transpose(w[3], 0, 1)); /* as hd_linear, in two calls */
    hd_tensor *a = hd_softmax(hd_matmul(q, hd_transpose(k, 1, 2)), -1); /* (2, 3, 3) */
    return hd_add(x, hd_linear(hd_matmul(a, v), w[4], HD_NONE));
}

/* Each module is a cluster in the cluster of the module around it. Linear is none. The last sum of
 * a block may be the caller's, and stands outside. */
START_TEST(clusters)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    hd_tensor *x = hd_exp(hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3, 4), true));
    x = a_block(names, "h.0", x);
    hd_dict_set_string(names, "h.0.att", "Multi\"Head");
    hd_dict_set_string(names, "h.0.att.W_key", "MyLinear");
    hd_dict_set_string(names, "h.7", "no such module");
    static const char wanted[] =
        "    n4 [label=\"leaf (2, 3, 4)\", tooltip=\"AccumulateGrad\"" LEAF
        "    n2 [label=\"Exp (2, 3, 4)\", tooltip=\"ExpBackward0\"" CALL
        "    n1 [label=\"Add (2, 3, 4)\", tooltip=\"AddBackward0\"" CALL
        "    n0 [label=\"Sum ()\", tooltip=\"SumBackward0\"" RESULT
        "    subgraph cluster_2 {\n        label=\"h.0\";\n"
        "        fillcolor=\"#f2f2f2\";\n"
        "        n14 [label=\"norm.weight (4,)\", tooltip=\"h.0.norm.weight\"" LEAF
        "        n10 [label=\"LayerNorm norm (2, 3, 4)\", tooltip=\"NativeLayerNormBackward0\"" CALL
        "        subgraph cluster_4 {\n            label=\"h.0.att: Multi\\\"Head\";\n"
        "            fillcolor=\"#e6e6e6\";\n"
        "            n9 [label=\"Matmul (2, 3, 3)\", tooltip=\"UnsafeViewBackward0\"" CALL
        "            n7 [label=\"Softmax (2, 3, 3)\", tooltip=\"SoftmaxBackward0\"" CALL
        "            n5 [label=\"Matmul (2, 3, 4)\", tooltip=\"UnsafeViewBackward0\"" CALL
        "            n16 [label=\"W_query.weight (4, 4)\", tooltip=\"h.0.att.W_query.weight\"" LEAF
        "            n12 [label=\"Linear W_query (2, 3, 4)\", tooltip=\"UnsafeViewBackward0\"" CALL
        "            n18 [label=\"W_key.weight (4, 4)\", tooltip=\"h.0.att.W_key.weight\"" LEAF
        "            n17 [label=\"MyLinear W_key (2, 3, 4)\\nthen Transpose (2, 4, 3)\", "
        "tooltip=\"UnsafeViewBackward0\"" CALL
        "            n15 [label=\"W_value.weight (4, 4)\\nthen Transpose (4, 4)\", "
        "tooltip=\"h.0.att.W_value.weight\"" LEAF
        "            n8 [label=\"Linear W_value (2, 3, 4)\", tooltip=\"UnsafeViewBackward0\"" CALL
        "            n6 [label=\"out_proj.weight (4, 4)\", tooltip=\"h.0.att.out_proj.weight\"" LEAF
        "            n3 [label=\"Linear out_proj (2, 3, 4)\", tooltip=\"UnsafeViewBackward0\"" CALL
        "        }\n    }\n    n1 -> n0 [weight=8];\n";
    char *dot = body_of(hd_sum(x), names, NULL);
    ck_has(dot, "\n    n2 -> n10 [weight=8, minlen=2];\n    n14 -> n10 [weight=1];\n");
    ck_has(dot, "\n    n12 -> n9 [weight=8];\n    n17 -> n9 [weight=8];\n");
    ck_assert_uint_gt(strlen(dot), strlen(wanted));
    dot[strlen(wanted)] = '\0';
    ck_assert_str_eq(dot, wanted);
    hd_free(dot);
    hd_dict_free(names);
}
END_TEST

/* Two blocks are beside each other, not in one: h has no call of its own. Leaves that go into
 * several calls of one module, as in a LayerNorm in plain ops, make it a cluster. */
START_TEST(modules_side_by_side)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    hd_tensor *x = hd_exp(hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3, 4), true));
    x = a_block(names, "h.1", a_block(names, "h.0", x));
    hd_tensor *scale = named(names, "norm.scale", 1, 4), *shift = named(names, "norm.shift", 1, 4);
    x = hd_relu(hd_add(hd_mul(scale, hd_sqrt(x)), shift));
    hd_tensor *w = named(names, "head.weight", 5, 4);
    char *dot = body_of(hd_linear(x, w, HD_NONE), names, NULL);
    ck_has(dot, "\n    subgraph cluster_3 {\n        label=\"h.0\";");
    ck_has(dot, "\n        }\n    }\n    subgraph cluster_10 {\n        label=\"h.1\";");
    ck_assert_ptr_null(strstr(dot, "label=\"h\""));
    ck_has(dot, "        label=\"norm\";");
    ck_has(dot, "\n        n4 [label=\"Mul scale (2, 3, 4)\", tooltip=\"MulBackward0\"" CALL);
    ck_has(dot, "\n        n3 [label=\"Add shift (2, 3, 4)\", tooltip=\"AddBackward0\"" CALL);
    ck_has(dot, "\n    n1 [label=\"Relu (2, 3, 4)\", tooltip=\"ReluBackward0\"" CALL);
    ck_has(dot, "\n    n0 [label=\"Linear head (2, 3, 5)\"");
    hd_free(dot);
    hd_dict_free(names);
}
END_TEST

/* A weight that an embedding and a Linear share draws only the embedding into its module. A module
 * that is called twice has both calls, but not what is between them. */
START_TEST(shared_weights)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    int64_t ids[] = {1, 2, 3};
    hd_tensor *emb = named(names, "emb.weight", 5, 4), *w = named(names, "rnn.weight", 4, 4);
    hd_tensor *x = hd_embedding(hd_from_data(HD_INT64, ids, 3), emb, HD_NO_PADDING); /* (3, 4) */
    x = hd_tanh(hd_linear(hd_tanh(hd_linear(x, w, HD_NONE)), w, HD_NONE));           /* (3, 4) */
    char *dot = body_of(hd_linear(x, emb, HD_NONE), names, NULL);
    ck_has(dot, "\n    n0 [label=\"Linear (3, 5)\", tooltip=\"MmBackward0\"");
    ck_has(dot, "    n4 [label=\"Tanh (3, 4)\", tooltip=\"TanhBackward0\"" CALL);
    ck_has(dot, "\n    n7 [label=\"Embedding emb (3, 4)\"");
    ck_has(dot, "        label=\"rnn\";");
    ck_has(dot, "\n        n3 [label=\"Linear weight (3, 4)\"");
    hd_free(dot);
    hd_dict_free(names);
}
END_TEST

/* Where the tensors lie in memory does not matter. */
START_TEST(addresses)
{
    HD_SCOPE;
    char *first = NULL;
    hd_tensor *between[8];
    for (int i = 0; i < 8; i++) {
        hd_dict *names = hd_dict_new();
        hd_tensor *x = hd_exp(hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3, 4), true));
        for (int k = 0; k < 8; k++) {
            between[k] = hd_neg(leaf(1 + i, 1 + k));
            hd_retain(between[k]);
        }
        x = a_block(names, "h.1", a_block(names, "h.0", x));
        char *dot = hd_graph_dot(x, names);
        ck_assert(!first || strcmp(first, dot) == 0);
        hd_free(first);
        first = dot;
        for (int k = 0; k < 8; k++) {
            hd_release(between[k]);
        }
        hd_dict_free(names);
    }
    hd_free(first);
}
END_TEST

/* ---------------------------------------------------------------- what is in which module */

/* The box whose text begins with `box` stands in the frame `frame`, "" for none. Frames come after
 * the boxes of the frame around them, so it is the last one that opened with that indentation. */
static void ck_frame(const char *dot, const char *box, const char *frame)
{
    char text[200], found[200] = "";
    snprintf(text, sizeof text, "[label=\"%s", box);
    ck_has(dot, text);
    const char *line = strstr(dot, text);
    while (line > dot && line[-1] != '\n') {
        line--;
    }
    snprintf(text, sizeof text, "\n%*slabel=\"", (int)strspn(line, " "), "");
    for (const char *at = dot; (at = strstr(at, text)) && at < line; at++) {
        snprintf(found, sizeof found, "%.*s", (int)strcspn(at + strlen(text), "\""),
                 at + strlen(text));
    }
    ck_assert_msg(strcmp(found, frame) == 0, "%s stands in '%s': expected '%s', in\n%.6000s", box,
                  found, frame, dot);
}

static hd_tensor *vector(hd_dict *names, const char *name, int64_t n)
{
    hd_tensor *t = hd_requires_grad_(hd_ones(HD_FLOAT32, n), true);
    hd_dict_set(names, name, t);
    return t;
}

/* y = x W^T with a new weight of this name, (4, 4) */
static hd_tensor *linear(hd_dict *names, const char *name, hd_tensor *x)
{
    return hd_linear(x, named(names, name, 4, 4), HD_NONE);
}

/* Sequential(Sequential(Linear, ReLU), RMSNorm, Sequential(Linear)) and a loss: what ends or begins
 * a module stands outside, with and without the modules' classes, also where modules are boxes. */
START_TEST(calls_beside_modules)
{
    HD_SCOPE;
    static const char *const outside[] = {"Relu (3, 4)",  "Pow (3, 4)", "Mean (3, 1)",
                                          "Rsqrt (3, 1)", "Mul (3, 4)", "Sum ()"};
    hd_dict *names = hd_dict_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 3, 4), *w = named(names, "0.0.weight", 4, 4);
    hd_tensor *y = hd_relu(hd_linear(x, w, vector(names, "0.0.bias", 4)));
    y = hd_mul(y, hd_rsqrt(hd_mean_dim(hd_pow_scalar(y, 2), -1, true)));
    y = hd_mul(y, vector(names, "1.weight", 4));
    y = hd_sum(linear(names, "2.0.weight", y));
    hd_graph_options o = hd_graph_defaults();
    for (int k = 0; k < 4; k++) {
        o.depth = k % 2;
        char *dot = body_of(y, names, &o);
        ck_assert_ptr_null(strstr(dot, "cluster"));
        for (int i = 0; i < 6; i++) {
            ck_frame(dot, outside[i], "");
        }
        if (k == 3) {
            ck_frame(dot, "Sequential 0 (3, 4)\\n20 parameters", "");
            ck_frame(dot, "RMSNorm 1 (3, 4)\\n4 parameters", "");
            ck_frame(dot, "Sequential 2 (3, 4)\\n16 parameters", "");
        }
        hd_free(dot);
        if (k == 1) {
            hd_dict_set_string(names, "0", "Sequential");
            hd_dict_set_string(names, "1", "RMSNorm");
            hd_dict_set_string(names, "2", "Sequential");
        }
    }
    hd_dict_free(names);
}
END_TEST

/* The sum of x + f(x) is outside of f. Of two such sums in a block, both are in it: after the first
 * one, the block goes on with both of its inputs. So is the sum of two embeddings in theirs. */
START_TEST(sums_of_blocks)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    hd_tensor *x = hd_exp(leaf(3, 4)), *y = hd_tanh(linear(names, "b.f.u.weight", x));
    x = hd_add(x, linear(names, "b.f.v.weight", y));
    y = hd_relu(linear(names, "b.g.u.weight", x));
    x = hd_sub(x, linear(names, "b.g.v.weight", y));
    y = hd_sigmoid(linear(names, "c.f.u.weight", x));
    x = hd_maximum(x, linear(names, "c.f.v.weight", y));
    char *dot = body_of(hd_neg(x), names, NULL);
    static const char *const frames[][2] = {
        {"Tanh", "b.f"}, {"Add", "b"},       {"Relu", "b.g"}, {"Sub", "b"},       {"Exp", ""},
        {"Neg", ""},     {"Sigmoid", "c.f"}, {"Maximum", ""}, {"Linear u", "b.f"}};
    for (int i = 0; i < 9; i++) {
        ck_frame(dot, frames[i][0], frames[i][1]);
    }
    hd_free(dot);
    hd_tensor *ids = hd_zeros(HD_INT64, 3), *e = named(names, "e.t.weight", 5, 4);
    x = hd_embedding(ids, e, HD_NO_PADDING);
    dot = body_of(
        hd_neg(hd_add(x, hd_embedding(ids, named(names, "e.p.weight", 5, 4), HD_NO_PADDING))),
        names, NULL);
    ck_frame(dot, "Add", "e");
    ck_frame(dot, "Neg", "");
    hd_free(dot);
    hd_dict_free(names);
}
END_TEST

/* A Sequential has what is between its members. A list has not, because it is not called; without
 * classes, members with numbers may be those of a list. */
START_TEST(lists_of_modules)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    hd_tensor *y = hd_relu(linear(names, "m.layers.0.weight", hd_ones(HD_FLOAT32, 3, 4)));
    y = hd_sigmoid(linear(names, "m.layers.1.weight", y));
    y = hd_neg(linear(names, "m.head.weight", y));
    static const char *const classes[] = {NULL, "ModuleList", "Sequential"};
    for (int k = 0; k < 3; k++) {
        if (classes[k]) {
            hd_dict_set_string(names, "m.layers", classes[k]);
        }
        char *dot = body_of(y, names, NULL);
        ck_frame(dot, "Relu", k == 2 ? "m.layers: Sequential" : "m");
        ck_frame(dot, k == 2 ? "Linear 0" : "Linear layers.0",
                 k == 2 ? "m.layers: Sequential" : "m");
        ck_frame(dot, "Sigmoid", "m");
        ck_frame(dot, "Neg", "");
        hd_free(dot);
    }
    hd_dict_free(names);
}
END_TEST

/* What joins the results of two calls of a module is not in it, nor is what a loss makes of its
 * parameters alone, even though the ways from them come together after the module. */
START_TEST(modules_called_twice)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    hd_tensor *u = named(names, "m.u.weight", 4, 4), *v = named(names, "m.v.weight", 4, 4);
    hd_tensor *y[2];
    for (int k = 0; k < 2; k++) {
        y[k] = hd_linear(hd_relu(hd_linear(hd_ones(HD_FLOAT32, 3, 4), u, HD_NONE)), v, HD_NONE);
    }
    char *dot = body_of(hd_sub(y[0], y[1]), names, NULL);
    ck_frame(dot, "Sub", "");
    ck_frame(dot, "Relu", "");
    ck_frame(dot, "Linear weight", "m.u");
    hd_free(dot);
    dot = body_of(hd_add(hd_sum(y[0]), hd_sum(hd_square(v))), names, NULL);
    ck_frame(dot, "Add", "");
    ck_frame(dot, "Sum", "");
    ck_frame(dot, "Relu", "m");
    ck_frame(dot, "Linear weight", "m.v");
    hd_free(dot);
    hd_dict_free(names);
}
END_TEST

/* A call that takes a parameter of a module and one of none belongs to no module. */
START_TEST(parameters_of_different_modules)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    hd_tensor *v = leaf(1, 2), *w = leaf(1, 2);
    hd_dict_set(names, "m.v", v);
    hd_dict_set(names, "w", w);
    hd_graph_options o = hd_graph_defaults();
    o.depth = 1;
    for (int k = 0; k < 2; k++) {
        char *dot = hd_graph_dot_with(k ? hd_add(v, w) : hd_add(w, v), names, &o);
        ck_assert_ptr_nonnull(strstr(dot, "n0 [label=\"Add"));
        hd_free(dot);
    }
    hd_dict_free(names);
}
END_TEST

/* Modules at the depth that is asked for are boxes, with their result, parameters and arrows. */
START_TEST(modules_as_boxes)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    hd_tensor *x = hd_exp(hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3, 4), true));
    x = a_block(names, "h.1", a_block(names, "h.0", x));
    hd_dict_set_string(names, "h.1", "Block");
    hd_graph_options o = hd_graph_defaults();
    o.depth = 2;
    ck_dot_with(hd_flatten(x, 0, 1), names, &o,
                "    n8 [label=\"leaf (2, 3, 4)\", tooltip=\"AccumulateGrad\"" LEAF
                "    n4 [label=\"Exp (2, 3, 4)\", tooltip=\"ExpBackward0\"" CALL
                "    n2 [label=\"Add (2, 3, 4)\", tooltip=\"AddBackward0\"" CALL
                "    n1 [label=\"Add (2, 3, 4)\", tooltip=\"AddBackward0\"" CALL
                "    n0 [label=\"View (6, 4)\", tooltip=\"ViewBackward0\"" RESULT
                "    m2 [label=\"h.0 (2, 3, 4)\\n68 parameters\", tooltip=\"h.0\"" BOX
                "    m9 [label=\"Block h.1 (2, 3, 4)\\n68 parameters\", tooltip=\"h.1\"" BOX
                "    n1 -> n0 [weight=8];\n    n2 -> n1 [weight=8];\n    m9 -> n1 [weight=8];\n"
                "    n4 -> n2 [weight=8];\n    m2 -> n2 [weight=8];\n    n8 -> n4 [weight=1];\n"
                "    n2 -> m9 [weight=8];\n    n4 -> m2 [weight=8];\n}\n");
    hd_dict_set_string(names, "h", "Sequential");
    o.depth = 1;
    ck_dot_with(hd_neg(hd_exp(hd_sum(x))), names, &o,
                "    n10 [label=\"leaf (2, 3, 4)\", tooltip=\"AccumulateGrad\"" LEAF
                "    n6 [label=\"Exp (2, 3, 4)\", tooltip=\"ExpBackward0\"" CALL
                "    n2 [label=\"Sum ()\", tooltip=\"SumBackward0\"" CALL
                "    n1 [label=\"Exp ()\", tooltip=\"ExpBackward0\"" CALL
                "    n0 [label=\"Neg ()\", tooltip=\"NegBackward0\"" RESULT
                "    m1 [label=\"Sequential h (2, 3, 4)\\n136 parameters\", tooltip=\"h\"" BOX
                "    n1 -> n0 [weight=8];\n    n2 -> n1 [weight=8];\n    m1 -> n2 [weight=8];\n"
                "    n6 -> m1 [weight=8];\n    n10 -> n6 [weight=1];\n}\n");
    hd_dict *one = hd_dict_new();
    hd_tensor *b = hd_requires_grad_(hd_ones(HD_FLOAT32, 1), true);
    hd_dict_set(one, "scale.b", b);
    ck_dot_with(hd_neg(hd_exp(b)), one, &o,
                "    n0 [label=\"Neg (1,)\", tooltip=\"NegBackward0\"" RESULT
                "    m1 [label=\"scale (1,)\\n1 parameter\", tooltip=\"scale\"" BOX
                "    m1 -> n0 [weight=8];\n}\n");
    hd_dict_free(one);
    hd_tensor *w = leaf(2, 3), *turned = hd_transpose(w, 0, 1); /* a view may have a name, too */
    hd_dict_set(names, "view.turned", turned);
    ck_dot_with(hd_exp(turned), names, &o,
                "    n2 [label=\"leaf (2, 3)\", tooltip=\"AccumulateGrad\"" LEAF
                "    n0 [label=\"Exp (3, 2)\", tooltip=\"ExpBackward0\"" RESULT
                "    m1 [label=\"view (3, 2)\\n0 parameters\", tooltip=\"view\"" BOX
                "    m1 -> n0 [weight=8];\n    n2 -> m1 [weight=1];\n}\n");
    hd_dict_free(names);
}
END_TEST

/* ---------------------------------------------------------------- options */

/* The legend has what the graph has, and the options are what viz.h says. */
START_TEST(legend_and_title)
{
    HD_SCOPE;
    hd_dict *names = hd_dict_new();
    hd_tensor *w = named(names, "m.weight", 3, 4);
    hd_tensor *y = hd_exp(hd_mul(hd_add_scalar(w, 1), w));
    hd_graph_options o = hd_graph_defaults();
    char *dot = hd_graph_dot(y, NULL);
    ck_has(dot, "subgraph cluster_legend {\n        label=\"Legend\";");
    ck_has(dot, "legend_leaf [label=\"parameter, or another leaf");
    ck_has(dot,
           "legend_call [label=\"recorded call (shape\\nof its result)\\nthen View (its shape)\"");
    ck_has(dot, "legend_result [label=\"where backward begins\"" RESULT);
    ck_assert_ptr_null(strstr(dot, "cluster_legend_module"));
    ck_assert_ptr_null(strstr(dot, "legend_box"));
    ck_assert_ptr_null(strstr(dot, "rankdir"));
    ck_assert_ptr_null(strstr(dot, "labelloc"));
    hd_free(dot);
    dot = hd_graph_dot(y, names);
    ck_has(dot, "        subgraph cluster_legend_module {\n");
    hd_free(dot);
    o.full = true, o.parameters = false, o.sideways = true, o.depth = 1;
    o.title = "A \"graph\"\n\xed\x95\x9c";
    dot = hd_graph_dot_with(y, names, &o);
    ck_has(dot, "\n    rankdir=LR;\n");
    ck_has(dot, "\n    labelloc=t;\n    label=\"A \\\"graph\\\"\\n\xed\x95\x9c\";\n");
    ck_has(dot, "legend_call [label=\"recorded call (shape\\nof its result)\"" CALL);
    ck_has(dot, "legend_box [label=\"module with all");
    ck_assert_ptr_null(strstr(dot, "legend_leaf"));
    hd_free(dot);
    o.legend = false;
    dot = hd_graph_dot_with(y, names, &o);
    ck_assert_ptr_null(strstr(dot, "legend"));
    hd_free(dot);
    hd_dict_free(names);
}
END_TEST

/* ---------------------------------------------------------------- users' ops, long chains */

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
           "    n1 [label=\"leaf (1, 1)\", tooltip=\"AccumulateGrad\"" LEAF
           "    n0 [label=\"My<op> (1, 1)\", tooltip=\"My<op>Backward\"" RESULT
           "    n1 -> n0 [weight=1];\n}\n");
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
    char *before = body_of(y, NULL, NULL), *at = before;
    int lines = 0;
    while ((at = strchr(at, '\n'))) {
        lines++;
        at++;
    }
    ck_assert_int_eq(lines, (LENGTH + 1) + LENGTH + 1);
    ck_assert(hd_backward(y));
    char *after = body_of(y, NULL, NULL);
    ck_assert_str_eq(before, after);
    hd_free(before);
    hd_free(after);
}
END_TEST

/* Names with very many dots, modules with very many children, in an order that is not theirs. */
START_TEST(deep_names)
{
    HD_SCOPE;
    enum { DEEP = 2000, WIDE = 2000 };
    hd_dict *names = hd_dict_new();
    char name[2 * DEEP + 8];
    for (int i = 0; i < DEEP; i++) {
        memcpy(name + 2 * i, "m.", 2);
    }
    memcpy(name + 2 * DEEP, "w", 2);
    hd_tensor *w = named(names, name, 1, 1), *y = hd_mul(hd_mul(w, w), w);
    for (int i = 0; i < WIDE; i++) {
        snprintf(name, sizeof name, "m.%d.w", i * 7919 % WIDE);
        y = hd_mul(y, named(names, name, 1, 1));
    }
    char *dot = body_of(y, names, NULL);
    ck_has(dot, "[label=\"Mul w (1, 1)\"");
    ck_has(dot, "[label=\"Mul 1999 (1, 1)\"");
    hd_free(dot);
    hd_dict_free(names);
}
END_TEST

START_TEST(refused)
{
    HD_SCOPE;
    hd_graph_options o = hd_graph_defaults();
    o.depth = -1;
    ck_assert_ptr_null(hd_graph_dot_with(leaf(1, 1), NULL, &o));
    ck_error(HD_VALUE, "hd_graph_dot_with: depth -1: expected 0 or more");
    ck_assert(!hd_graph_save_dot_with(leaf(1, 1), NULL, "x", &o));
    ck_error(HD_VALUE, "hd_graph_save_dot_with: depth -1: expected 0 or more");
    o.size--;
    ck_assert_ptr_null(hd_graph_dot_with(leaf(1, 1), NULL, &o));
    ck_error(HD_VALUE,
             sized("hd_graph_dot_with: o->size %zu: expected %zu, as hd_graph_defaults() gives",
                   o.size, sizeof o));
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3);
    ck_assert_ptr_null(hd_graph_dot(x, NULL));
    ck_error(HD_GRAD, "hd_graph_dot: x (2, 3) does not require grad, so it has no graph");
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
    const TTest *const tests[] = {a_product,
                                  attention,
                                  names_are_escaped,
                                  shared_and_split,
                                  a_leaf_alone,
                                  in_place,
                                  views,
                                  long_chains_of_views,
                                  clusters,
                                  shared_weights,
                                  modules_side_by_side,
                                  parameters_of_different_modules,
                                  modules_as_boxes,
                                  legend_and_title,
                                  calls_beside_modules,
                                  sums_of_blocks,
                                  lists_of_modules,
                                  modules_called_twice,
                                  addresses,
                                  deep_names,
                                  a_users_op,
                                  a_long_chain,
                                  refused};
    return SUITE("dot", tests);
}
