/* test_claims.c - tests the statements of the documents about attention, one test for each
 * statement. */
#include "suites.h"

/* The classes in which no token sees a later one, for d_in 3, num_heads * d_out 4 and twelve
 * tokens. */
static int causal_classes(hd_module **ms)
{
    ms[0] = hd_causal_attention_new(3, 4, 12, 0, false);
    ms[1] = hd_multi_head_attention_wrapper_new(3, 2, 12, 0, 2, true);
    ms[2] = hd_multi_head_attention_new(3, 4, 12, 0, 2, true);
    return 3;
}

static hd_tensor *tokens(hd_tensor *x, int64_t begin, int64_t end)
{
    return hd_slice(x, 1, begin, end);
}

START_TEST(later_tokens_do_not_influence_earlier_outputs)
{
    HD_SCOPE;
    hd_module *ms[3];
    for (int i = 0, n = causal_classes(ms); i < n; i++) {
        hd_tensor *x = hd_randn(HD_FLOAT32, 2, 12, 3), *other = hd_clone(x);
        hd_fill_(tokens(other, 7, 12), 100);
        hd_tensor *y = hd_forward(ms[i], x), *changed = hd_forward(ms[i], other);
        ck_assert(same_bits(tokens(y, 0, 7), tokens(changed, 0, 7)));
        ck_assert(!same_bits(tokens(y, 7, 12), tokens(changed, 7, 12)));

        hd_requires_grad_(x, true);
        ck_assert(hd_backward(hd_sum(tokens(hd_forward(ms[i], x), 0, 7))));
        hd_tensor *late = tokens(hd_grad(x), 7, 12), *early = tokens(hd_grad(x), 0, 7);
        ck_elements(hd_sum(hd_abs(late)), 0);
        ck_assert_double_gt(hd_item(hd_min(hd_abs(early))), 0);
        hd_module_free(ms[i]);
    }
}
END_TEST

START_TEST(a_shorter_input_gives_the_prefix)
{
    HD_SCOPE;
    hd_module *ms[3];
    for (int i = 0, n = causal_classes(ms); i < n; i++) {
        hd_tensor *x = hd_randn(HD_FLOAT32, 2, 12, 3), *y = hd_forward(ms[i], x);
        for (int64_t len = 1; len < 12; len++) {
            hd_tensor *prefix = hd_forward(ms[i], tokens(x, 0, len));
            ck_assert_double_lt(distance(prefix, tokens(y, 0, len)), 1e-6);
        }
        hd_module_free(ms[i]);
    }
}
END_TEST

START_TEST(equal_rows_of_a_batch_give_equal_rows)
{
    HD_SCOPE;
    hd_module *ms[3];
    for (int i = 0, n = causal_classes(ms); i < n; i++) {
        hd_tensor *one = hd_randn(HD_FLOAT32, 12, 3), *two = hd_randn(HD_FLOAT32, 12, 3);
        hd_tensor *y = hd_forward(ms[i], hd_stack(0, one, two, one));
        ck_assert(same_bits(hd_select(y, 0, 0), hd_select(y, 0, 2)));
        ck_assert(!same_bits(hd_select(y, 0, 0), hd_select(y, 0, 1)));
        hd_module_free(ms[i]);
    }
}
END_TEST

/* Copies from[] to the tensors with these names in to's state_dict. */
static void put(hd_module *to, const char *name, hd_tensor *value)
{
    HD_NO_GRAD;
    ck_assert_msg(hd_copy_(hd_module_get_parameter(to, name), value), "%s", hd_error_message());
}

START_TEST(v1_is_v2_with_transposed_weights)
{
    HD_SCOPE;
    hd_module *v1 = hd_self_attention_v1_new(3, 2), *v2 = hd_self_attention_v2_new(3, 2, false);
    put(v1, "W_query", hd_t(hd_module_get_parameter(v2, "W_query.weight")));
    put(v1, "W_key", hd_t(hd_module_get_parameter(v2, "W_key.weight")));
    put(v1, "W_value", hd_t(hd_module_get_parameter(v2, "W_value.weight")));
    hd_tensor *x = notebook_inputs(), *y = hd_forward(v2, x);
    ck_assert_double_lt(distance(hd_forward(v1, x), y), 1e-6);
    put(v1, "W_query", hd_zeros(HD_FLOAT32, 3, 2));
    ck_assert_double_gt(distance(hd_forward(v1, x), y), 1e-4);
    hd_module_free(v1);
    hd_module_free(v2);
}
END_TEST

START_TEST(the_wrapper_is_one_with_stacked_weights)
{
    HD_SCOPE;
    hd_module *wrapper = hd_multi_head_attention_wrapper_new(3, 2, 6, 0, 2, true);
    hd_module *heads = hd_multi_head_attention_new(3, 4, 6, 0, 2, true);
    static const char *const names[] = {"W_query.weight", "W_query.bias",   "W_key.weight",
                                        "W_key.bias",     "W_value.weight", "W_value.bias"};
    for (int i = 0; i < 6; i++) {
        hd_module *first = hd_module_get(wrapper, "heads.0");
        hd_module *second = hd_module_get(wrapper, "heads.1");
        put(heads, names[i],
            hd_cat(0, hd_module_get_parameter(first, names[i]),
                   hd_module_get_parameter(second, names[i])));
    }
    put(heads, "out_proj.weight", hd_eye(HD_FLOAT32, 4, 4));
    put(heads, "out_proj.bias", hd_zeros(HD_FLOAT32, 4));
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 6, 3), *y = hd_forward(wrapper, x);
    ck_assert_double_lt(distance(hd_forward(heads, x), y), 1e-6);
    put(heads, "out_proj.weight", hd_ones(HD_FLOAT32, 4, 4));
    ck_assert_double_gt(distance(hd_forward(heads, x), y), 1e-2);
    hd_module_free(wrapper);
    hd_module_free(heads);
}
END_TEST

START_TEST(renormalising_after_the_mask_is_masking_before)
{
    HD_SCOPE;
    hd_tensor *scores = hd_randn(HD_FLOAT32, 9, 9), *ones = hd_ones(HD_FLOAT32, 9, 9);
    hd_tensor *mask = hd_to(hd_triu(ones, 1), HD_BOOL);
    hd_tensor *before = hd_softmax(hd_masked_fill(scores, mask, -INFINITY), -1);
    hd_tensor *after = hd_mul(hd_softmax(scores, -1), hd_tril(ones, 0));
    ck_assert_double_gt(distance(after, before), 0.1);
    after = hd_div(after, hd_sum_dim(after, -1, true));
    ck_assert_double_lt(distance(after, before), 1e-6);
}
END_TEST

START_TEST(triu_times_minus_infinity_is_nan)
{
    HD_SCOPE;
    hd_tensor *mask = hd_mul_scalar(hd_triu(hd_ones(HD_FLOAT32, 2, 2), 1), -INFINITY);
    ck_elements(mask, NAN, -INFINITY, NAN, NAN); /* 0 * -inf */
    ck_elements(hd_softmax(mask, -1), NAN, NAN, NAN, NAN);
    ck_elements(hd_triu(hd_full(HD_FLOAT32, -INFINITY, 2, 2), 1), 0, -INFINITY, 0, 0);
}
END_TEST

START_TEST(dot_loops_are_the_matrix_product)
{
    HD_SCOPE;
    hd_tensor *x = notebook_inputs(), *scores = hd_empty(HD_FLOAT32, 6, 6);
    for (int64_t i = 0; i < 6; i++) {
        for (int64_t j = 0; j < 6; j++) {
            hd_setitem(scores, hd_dot(hd_select(x, 0, i), hd_select(x, 0, j)), i, j);
        }
    }
    ck_assert_double_lt(distance(scores, hd_matmul(x, hd_t(x))), 1e-6);
}
END_TEST

START_TEST(the_naive_softmax_overflows)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, 1, 2, 100), *e = hd_exp(x);
    hd_tensor *naive = hd_div(e, hd_sum(e));
    ck_assert(isnan(element_at(naive, 2))); /* inf / inf */
    hd_tensor *y = hd_softmax(x, 0);
    ck_assert_double_eq(element_at(y, 2), 1);
    ck_assert_double_lt(fabs(hd_item(hd_sum(y)) - 1), 1e-6);
    x = vec(HD_FLOAT32, 1, 2, 3);
    e = hd_exp(x); /* the same where nothing overflows */
    ck_assert_double_lt(distance(hd_div(e, hd_sum(e)), hd_softmax(x, 0)), 1e-6);
}
END_TEST

START_TEST(dropout_in_evaluation_is_the_identity)
{
    HD_SCOPE;
    hd_module *m = hd_dropout_new(0.5, false), *with = hd_causal_attention_new(3, 2, 6, 0.9, true);
    hd_module *without = hd_causal_attention_new(3, 2, 6, 0, true);
    hd_dict *d = hd_module_state_dict(with);
    ck_assert(hd_module_load_state_dict(without, d, true, NULL));
    hd_dict_free(d);
    hd_tensor *x = notebook_batch();
    hd_module_eval(m);
    hd_module_eval(with);
    ck_assert_ptr_eq(hd_forward(m, x), x);
    ck_assert(same_bits(hd_forward(with, x), hd_forward(without, x)));
    hd_module_free(m);
    hd_module_free(with);
    hd_module_free(without);
}
END_TEST

/* The share of scores that get nearly no gradient from a loss of softmax(scores * scale) v. */
static double dead_gradients(hd_tensor *scores, double scale, hd_tensor *values)
{
    scores = hd_requires_grad_(hd_detach(scores), true);
    hd_tensor *weights = hd_softmax(hd_mul_scalar(scores, scale), -1);
    ck_assert(hd_backward(hd_sum(hd_mul(hd_matmul(weights, values), values))));
    hd_tensor *small = hd_lt_scalar(hd_abs(hd_grad(scores)), 1e-6 * scale);
    return hd_item(hd_mean(hd_to(small, HD_FLOAT64)));
}

START_TEST(scaling_keeps_gradients_alive)
{
    HD_SCOPE;
    hd_tensor *q = hd_randn(HD_FLOAT32, 32, 256), *k = hd_randn(HD_FLOAT32, 32, 256);
    hd_tensor *v = hd_randn(HD_FLOAT32, 32, 256), *scores = hd_matmul(q, hd_t(k));
    ck_assert_double_lt(dead_gradients(scores, 1 / sqrt(256), v), 0.01);
    ck_assert_double_gt(dead_gradients(scores, 1, v), 0.5);
}
END_TEST

Suite *suite_claims(void)
{
    const TTest *const tests[] = {
        later_tokens_do_not_influence_earlier_outputs,
        a_shorter_input_gives_the_prefix,
        equal_rows_of_a_batch_give_equal_rows,
        v1_is_v2_with_transposed_weights,
        the_wrapper_is_one_with_stacked_weights,
        renormalising_after_the_mask_is_masking_before,
        triu_times_minus_infinity_is_nan,
        dot_loops_are_the_matrix_product,
        the_naive_softmax_overflows,
        dropout_in_evaluation_is_the_identity,
        scaling_keeps_gradients_alive,
    };
    return SUITE("claims", tests);
}
