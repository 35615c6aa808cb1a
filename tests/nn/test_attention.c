/* test_attention.c - tests of the notebooks' five attention classes: arguments, grad_fn names, kept
 * weights. tests/whole tests their values and training. */
#include "suites.h"

/* ---------------------------------------------------------------- constructors */

#define refuses(call, code, message)                                                               \
    do {                                                                                           \
        ck_assert_ptr_null(call);                                                                  \
        ck_error(code, message);                                                                   \
    } while (0)

START_TEST(constructors_check_their_arguments)
{
    refuses(hd_self_attention_v1_new(-1, 2), HD_VALUE,
            "hd_self_attention_v1_new: d_in -1: expected 0 or more");
    refuses(hd_self_attention_v2_new(3, -2, false), HD_VALUE,
            "hd_self_attention_v2_new: d_out -2: expected 0 or more");
    refuses(hd_causal_attention_new(3, 2, -6, 0, false), HD_VALUE,
            "hd_causal_attention_new: context_length -6: expected 0 or more");
    refuses(hd_causal_attention_new(3, 2, 6, 1.5, false), HD_VALUE,
            "hd_causal_attention_new: dropout 1.5: expected a number from 0 to 1");
    refuses(hd_causal_attention_new(3, 2, 6, NAN, false), HD_VALUE,
            "hd_causal_attention_new: dropout nan: expected a number from 0 to 1");
    refuses(hd_multi_head_attention_wrapper_new(3, 2, 6, 0, 0, false), HD_VALUE,
            "hd_multi_head_attention_wrapper_new: num_heads 0: expected 1 or more");
    refuses(hd_multi_head_attention_wrapper_new(3, 2, 6, -0.5, 2, false), HD_VALUE,
            "hd_multi_head_attention_wrapper_new: dropout -0.5: expected a number from 0 to 1");
    refuses(hd_multi_head_attention_new(3, 8, 6, 0, 3, false), HD_VALUE,
            "hd_multi_head_attention_new: d_out 8, num_heads 3: d_out must be divisible by "
            "num_heads");
    refuses(hd_multi_head_attention_new(3, 8, 6, 0, -2, false), HD_VALUE,
            "hd_multi_head_attention_new: num_heads -2: expected 1 or more");
    refuses(hd_multi_head_attention_new(3, 8, INT64_MAX / 2, 0, 2, false), HD_MEMORY,
            "hd_multi_head_attention_new: (4611686018427387903, 4611686018427387903) of float32: "
            "the size overflows");
}
END_TEST

/* ---------------------------------------------------------------- inputs */

START_TEST(too_many_tokens)
{
    HD_SCOPE;
    hd_module *causal = hd_causal_attention_new(3, 2, 4, 0, false);
    refuses(hd_forward(causal, notebook_batch()), HD_SHAPE,
            "CausalAttention: x (2, 6, 3): num_tokens 6 is more than context_length 4");
    refuses(hd_forward(causal, notebook_inputs()), HD_SHAPE,
            "CausalAttention: x (6, 3): expected (b, num_tokens, d_in)");
    hd_module_free(causal);
    hd_module *wrapper = hd_multi_head_attention_wrapper_new(3, 2, 4, 0, 2, false);
    refuses(hd_forward(wrapper, notebook_batch()), HD_SHAPE,
            "CausalAttention: x (2, 6, 3): num_tokens 6 is more than context_length 4");
    hd_module_free(wrapper);
    hd_module *heads = hd_multi_head_attention_new(3, 2, 4, 0, 2, false);
    refuses(hd_forward(heads, notebook_batch()), HD_SHAPE,
            "MultiHeadAttention: x (2, 6, 3): num_tokens 6 is more than context_length "
            "4");
    refuses(hd_forward(heads, hd_ones(HD_FLOAT32, 2)), HD_SHAPE,
            "MultiHeadAttention: x (2,): expected (b, num_tokens, d_in)");
    hd_module_free(heads);
}
END_TEST

/* keys.T of a batch would be wrong without an error where sizes happen to agree, so hd_t refuses
 * it. */
START_TEST(v1_and_v2_take_no_batch)
{
    HD_SCOPE;
    hd_module *ms[] = {hd_self_attention_v1_new(3, 2), hd_self_attention_v2_new(3, 2, false)};
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_null(hd_forward(ms[i], notebook_batch()));
        ck_assert_msg(strstr(hd_error_message(), "hd_transpose"), "%s", hd_error_message());
        hd_error_clear();
        ck_assert_ptr_null(hd_forward(ms[i], hd_ones(HD_FLOAT32, 6, 4)));
        ck_assert_int_eq(hd_error_code(), HD_SHAPE);
        hd_error_clear();
        hd_module_free(ms[i]);
    }
}
END_TEST

START_TEST(empty_inputs)
{
    HD_SCOPE;
    hd_module *m = hd_multi_head_attention_new(3, 4, 6, 0, 2, true);
    ck_assert_str_eq(hd_shape_repr(hd_forward(m, hd_ones(HD_FLOAT32, 0, 6, 3))),
                     "torch.Size([0, 6, 4])");
    ck_assert_str_eq(hd_shape_repr(hd_forward(m, hd_ones(HD_FLOAT32, 2, 0, 3))),
                     "torch.Size([2, 0, 4])");
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- results */

static void ck_grad_fn(hd_module *m, hd_tensor *x, const char *name)
{
    ck_assert_ptr_nonnull(m);
    hd_tensor *y = hd_forward(m, x);
    ck_assert_msg(y, "%s", hd_error_message());
    ck_assert_str_eq(hd_grad_fn(y), name);
    hd_module_free(m);
}

START_TEST(grad_fn_names)
{
    HD_SCOPE;
    hd_tensor *x = notebook_inputs(), *batch = notebook_batch();
    ck_grad_fn(hd_self_attention_v1_new(3, 2), x, "MmBackward0");
    ck_grad_fn(hd_self_attention_v2_new(3, 2, false), x, "MmBackward0");
    ck_grad_fn(hd_self_attention_v2_new(3, 2, true), x, "MmBackward0");
    ck_grad_fn(hd_causal_attention_new(3, 2, 6, 0, false), batch, "UnsafeViewBackward0");
    ck_grad_fn(hd_multi_head_attention_wrapper_new(3, 2, 6, 0, 2, false), batch, "CatBackward0");
    ck_grad_fn(hd_multi_head_attention_new(3, 2, 6, 0, 2, false), batch, "ViewBackward0");
}
END_TEST

/* What the notebook printed in cells ko/20, 21 and 38. */
START_TEST(as_the_notebook_prints)
{
    HD_SCOPE;
    hd_manual_seed(123);
    hd_module *v1 = hd_self_attention_v1_new(3, 2);
    ck_repr(hd_forward(v1, notebook_inputs()), "tensor([[0.2996, 0.8053],\n"
                                               "        [0.3061, 0.8210],\n"
                                               "        [0.3058, 0.8203],\n"
                                               "        [0.2948, 0.7939],\n"
                                               "        [0.2927, 0.7891],\n"
                                               "        [0.2990, 0.8040]], "
                                               "grad_fn=<MmBackward0>)");
    hd_manual_seed(789);
    hd_module *v2 = hd_self_attention_v2_new(3, 2, false);
    ck_repr(hd_forward(v2, notebook_inputs()), "tensor([[-0.0739,  0.0713],\n"
                                               "        [-0.0748,  0.0703],\n"
                                               "        [-0.0749,  0.0702],\n"
                                               "        [-0.0760,  0.0685],\n"
                                               "        [-0.0763,  0.0679],\n"
                                               "        [-0.0754,  0.0693]], "
                                               "grad_fn=<MmBackward0>)");
    hd_module_free(v1);
    hd_module_free(v2);
}
END_TEST

START_TEST(dropout_only_in_training)
{
    HD_SCOPE;
    hd_module *m = hd_causal_attention_new(3, 2, 6, 0.5, false);
    hd_tensor *x = notebook_batch(), *one = hd_forward(m, x), *two = hd_forward(m, x);
    ck_assert(!same_bits(one, two));
    hd_module_eval(m);
    ck_assert(same_bits(hd_forward(m, x), hd_forward(m, x)));
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- kept weights */

START_TEST(kept_weights)
{
    HD_SCOPE;
    hd_module *m = hd_multi_head_attention_new(3, 4, 6, 0, 2, false);
    hd_tensor *x = notebook_batch();
    ck_assert_ptr_eq(hd_attention_weights(m), HD_NONE);
    hd_forward(m, x);
    ck_assert_ptr_eq(hd_attention_weights(m), HD_NONE); /* only on demand */
    ck_assert(hd_attention_keep_weights(m, true));
    hd_forward(m, x);
    hd_tensor *w = hd_attention_weights(m); /* (2, 2, 6, 6) */
    ck_assert_str_eq(hd_shape_repr(w), "torch.Size([2, 2, 6, 6])");
    ck_assert(!hd_requires_grad(w));
    ck_assert(hd_allclose(hd_sum_dim(w, -1, false), hd_ones(HD_FLOAT32, 2, 2, 6), 0, 1e-6, false));
    ck_assert(same_bits(hd_tril(w, 0), w)); /* no token sees a later one */

    hd_forward(m, hd_slice(x, 1, 0, 3)); /* the caller's tensors stay as they were */
    ck_assert_str_eq(hd_shape_repr(w), "torch.Size([2, 2, 6, 6])");
    ck_assert_str_eq(hd_shape_repr(hd_attention_weights(m)), "torch.Size([2, 2, 3, 3])");
    ck_assert(hd_attention_keep_weights(m, false));
    ck_assert_ptr_eq(hd_attention_weights(m), HD_NONE);
    hd_module_free(m);

    hd_module *dropping = hd_causal_attention_new(3, 2, 6, 0.5, false); /* after dropout */
    ck_assert(hd_attention_keep_weights(dropping, true));
    hd_forward(dropping, x);
    w = hd_attention_weights(dropping);
    ck_assert_str_eq(hd_shape_repr(w), "torch.Size([2, 6, 6])");
    ck_assert_double_gt(hd_item(hd_sum(hd_eq_scalar(w, 0))), 30);
    hd_module_free(dropping);

    hd_module *v1 = hd_self_attention_v1_new(3, 2), *v2 = hd_self_attention_v2_new(3, 2, false);
    hd_forward(v1, notebook_inputs());
    ck_assert_ptr_eq(hd_attention_weights(v1), HD_NONE);
    ck_assert(hd_attention_keep_weights(v1, true) && hd_attention_keep_weights(v2, true));
    hd_forward(v1, notebook_inputs());
    hd_forward(v2, notebook_inputs());
    ck_assert_str_eq(hd_shape_repr(hd_attention_weights(v1)), "torch.Size([6, 6])");
    ck_assert_str_eq(hd_shape_repr(hd_attention_weights(v2)), "torch.Size([6, 6])");
    hd_module_free(v1);
    hd_module_free(v2);
}
END_TEST

START_TEST(other_modules_keep_none)
{
    hd_module *m = hd_linear_new(2, 2, true);
    ck_assert(!hd_attention_keep_weights(m, true));
    ck_error(HD_VALUE, "hd_attention_keep_weights: m is a Linear: expected a SelfAttention_v1, "
                       "SelfAttention_v2, CausalAttention or MultiHeadAttention");
    ck_assert_ptr_null(hd_attention_weights(m));
    ck_error(HD_VALUE, "hd_attention_weights: m is a Linear: expected a SelfAttention_v1, "
                       "SelfAttention_v2, CausalAttention or MultiHeadAttention");
    ck_assert(!hd_attention_keep_weights(NULL, true));
    ck_error(HD_NULL_ARG, "hd_attention_keep_weights: m is NULL");
    ck_assert_ptr_null(hd_attention_weights(NULL));
    ck_error(HD_NULL_ARG, "hd_attention_weights: m is NULL");
    hd_module_free(m);
}
END_TEST

Suite *suite_attention(void)
{
    const TTest *const tests[] = {
        constructors_check_their_arguments,
        too_many_tokens,
        v1_and_v2_take_no_batch,
        empty_inputs,
        grad_fn_names,
        as_the_notebook_prints,
        dropout_only_in_training,
        kept_weights,
        other_modules_keep_none,
    };
    return SUITE("attention", tests);
}
