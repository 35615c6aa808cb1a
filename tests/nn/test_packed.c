/* test_packed.c - tests of torch.nn.MultiheadAttention: options, masks, weights, and every error.
 * tests/whole compares its values and training with PyTorch. */
#include "suites.h"

typedef hd_multihead_attention_options options;
typedef hd_multihead_attention_args args;

/* E = 4, two heads, batch first */
static hd_module *packed(void)
{
    options o = hd_multihead_attention_defaults();
    o.batch_first = true;
    return hd_multihead_attention_new(4, 2, &o);
}

/* ---------------------------------------------------------------- constructor */

#define refuses_options(e, h, change, code, message)                                               \
    do {                                                                                           \
        options o = hd_multihead_attention_defaults();                                             \
        change;                                                                                    \
        ck_assert_ptr_null(hd_multihead_attention_new(e, h, &o));                                  \
        ck_error(code, message);                                                                   \
    } while (0)

START_TEST(constructor_errors)
{
    refuses_options(0, 2, (void)0, HD_VALUE,
                    "hd_multihead_attention_new: embed_dim 0: expected 1 or more");
    refuses_options(4, 0, (void)0, HD_VALUE,
                    "hd_multihead_attention_new: num_heads 0: expected 1 or more");
    refuses_options(5, 2, (void)0, HD_VALUE,
                    "hd_multihead_attention_new: embed_dim 5, num_heads 2: embed_dim must be "
                    "divisible by num_heads");
    refuses_options(4, 2, o.dropout = 1.5, HD_VALUE,
                    "hd_multihead_attention_new: dropout 1.5: expected a number from 0 to 1");
    refuses_options(4, 2, o.kdim = -1, HD_VALUE,
                    "hd_multihead_attention_new: kdim -1: expected 0 or more");
    refuses_options(4, 2, o.vdim = -1, HD_VALUE,
                    "hd_multihead_attention_new: vdim -1: expected 0 or more");
    refuses_options(4, 2, o.size = 3, HD_VALUE,
                    sized("hd_multihead_attention_new: o->size 3: expected %zu, as "
                          "hd_multihead_attention_defaults() gives",
                          sizeof(hd_multihead_attention_options)));
}
END_TEST

/* ---------------------------------------------------------------- calls */

#define refuses_call(m, q, k, v, change, code, message)                                            \
    do {                                                                                           \
        HD_SCOPE;                                                                                  \
        args a = hd_multihead_attention_arg_defaults();                                            \
        hd_tensor *weights = HD_NONE;                                                              \
        change;                                                                                    \
        ck_assert_ptr_null(hd_multihead_attention(m, q, k, v, &a, &weights));                      \
        ck_error(code, message);                                                                   \
        ck_assert_ptr_null(weights);                                                               \
    } while (0)

START_TEST(call_errors)
{
    HD_SCOPE;
    hd_module *m = packed(), *relu = hd_relu_new(false);
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 3, 4), *y = hd_randn(HD_FLOAT32, 2, 5, 4);
    hd_tensor *x0 = hd_select(x, 0, 0), *y0 = hd_select(y, 0, 0);
    refuses_call(NULL, x, y, y, (void)0, HD_NULL_ARG, "hd_multihead_attention: m is NULL");
    refuses_call(relu, x, y, y, (void)0, HD_VALUE,
                 "hd_multihead_attention: m is a ReLU: expected a MultiheadAttention");
    refuses_call(m, NULL, y, y, (void)0, HD_NULL_ARG, "hd_multihead_attention: query is NULL");
    refuses_call(m, x, y, HD_NONE, (void)0, HD_NULL_ARG,
                 "hd_multihead_attention: value is HD_NONE: expected a tensor");
    refuses_call(m, x, y, y, a.attn_mask = NULL, HD_NULL_ARG,
                 "hd_multihead_attention: attn_mask is NULL: expected a tensor or HD_NONE");
    refuses_call(m, x, y, y, a.size = 1, HD_VALUE,
                 sized("hd_multihead_attention: a->size 1: expected %zu, as "
                       "hd_multihead_attention_arg_defaults() gives",
                       sizeof(hd_multihead_attention_args)));
    refuses_call(m, hd_select(x0, 0, 0), x, x, (void)0, HD_SHAPE,
                 "hd_multihead_attention: query (4,): expected 2 dimensions, or 3 with a batch");
    refuses_call(m, x, y0, y0, (void)0, HD_SHAPE,
                 "hd_multihead_attention: query (2, 3, 4), key (5, 4), value (5, 4): expected 3 "
                 "dimensions each");
    refuses_call(m, x, y, y0, (void)0, HD_SHAPE,
                 "hd_multihead_attention: query (2, 3, 4), key (2, 5, 4), value (5, 4): expected 3 "
                 "dimensions each");
    refuses_call(m, x, y0, y, (void)0, HD_SHAPE,
                 "hd_multihead_attention: query (2, 3, 4), key (5, 4), value (2, 5, 4): expected 3 "
                 "dimensions each");
    refuses_call(
        m, hd_slice(x, 2, 0, 3), y, y, (void)0, HD_SHAPE,
        "hd_multihead_attention: query (2, 3, 3): expected the last size to be embed_dim, 4");
    refuses_call(m, x, hd_slice(y, 2, 0, 3), y, (void)0, HD_SHAPE,
                 "hd_multihead_attention: key (2, 5, 3): expected the last size to be kdim, 4");
    refuses_call(m, x, y, hd_slice(y, 2, 0, 3), (void)0, HD_SHAPE,
                 "hd_multihead_attention: value (2, 5, 3): expected the last size to be vdim, 4");
    refuses_call(m, x, y, x, (void)0, HD_SHAPE,
                 "hd_multihead_attention: query (2, 3, 4), key (2, 5, 4), value (2, 3, 4): "
                 "expected the same batch in all, and key and value of the same length");
    refuses_call(m, x, hd_slice(y, 0, 0, 1), hd_slice(y, 0, 0, 1), (void)0, HD_SHAPE,
                 "hd_multihead_attention: query (2, 3, 4), key (1, 5, 4), value (1, 5, 4): "
                 "expected the same batch in all, and key and value of the same length");
    refuses_call(m, x, y, y, a.attn_mask = hd_zeros(HD_FLOAT32, 5, 3), HD_SHAPE,
                 "hd_multihead_attention: attn_mask (5, 3): expected (3, 5) or (4, 3, 5)");
    refuses_call(m, x0, y0, y0, a.attn_mask = hd_zeros(HD_FLOAT32, 1, 3, 5), HD_SHAPE,
                 "hd_multihead_attention: attn_mask (1, 3, 5): expected (3, 5) or (2, 3, 5)");
    refuses_call(m, x, y, y, a.key_padding_mask = hd_zeros(HD_BOOL, 5, 2), HD_SHAPE,
                 "hd_multihead_attention: key_padding_mask (5, 2): expected (2, 5)");
    refuses_call(m, x0, y0, y0, a.key_padding_mask = hd_zeros(HD_BOOL, 1, 5), HD_SHAPE,
                 "hd_multihead_attention: key_padding_mask (1, 5): expected (5,)");
    refuses_call(m, x, y, y, a.attn_mask = hd_zeros(HD_INT64, 3, 5), HD_DTYPE,
                 "hd_multihead_attention: attn_mask of int64: expected bool, or query's float32");
    refuses_call(m, x, y, y, a.key_padding_mask = hd_zeros(HD_FLOAT64, 2, 5), HD_DTYPE,
                 "hd_multihead_attention: key_padding_mask of float64: expected bool, or query's "
                 "float32");
    refuses_call(m, x, y, y, a.is_causal = true, HD_VALUE,
                 "hd_multihead_attention: is_causal without attn_mask: expected an attn_mask");
    refuses_call(m, hd_to(x, HD_FLOAT64), y, y, hd_error_set(HD_USER, "first"), HD_USER, "first");
    hd_module_free(m);
    hd_module_free(relu);
}
END_TEST

START_TEST(weights_and_names)
{
    HD_SCOPE;
    hd_module *m = packed(), *seq_first = hd_multihead_attention_new(4, 2, NULL);
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 3, 4), *y = hd_randn(HD_FLOAT32, 2, 5, 4), *w = NULL;
    args a = hd_multihead_attention_arg_defaults();
    int64_t before = hd_scope_count();
    hd_tensor *out = hd_multihead_attention(m, x, y, y, NULL, &w);
    ck_assert_int_eq(hd_scope_count(), before + 2); /* out and w */
    ck_assert_str_eq(hd_shape_repr(out), "torch.Size([2, 3, 4])");
    ck_assert_str_eq(hd_shape_repr(w), "torch.Size([2, 3, 5])");
    ck_assert_str_eq(hd_grad_fn(out), "TransposeBackward0");
    ck_assert_str_eq(hd_grad_fn(w), "MeanBackward1");

    a.average_attn_weights = false;
    ck_assert(same_bits(hd_multihead_attention(m, x, y, y, &a, &w), out));
    ck_assert_str_eq(hd_shape_repr(w), "torch.Size([2, 2, 3, 5])");
    ck_assert(same_bits(hd_multihead_attention(m, x, y, y, &a, NULL), out));

    a.need_weights = false;
    hd_tensor *again = hd_multihead_attention(m, x, y, y, &a, &w);
    ck_assert_ptr_eq(w, HD_NONE);
    ck_assert_double_lt(distance(again, out), 1e-6);

    hd_tensor *x0 = hd_select(x, 0, 0), *y0 = hd_select(y, 0, 0); /* unbatched */
    hd_tensor *one = hd_multihead_attention(m, x0, y0, y0, NULL, &w);
    ck_assert_double_lt(distance(one, hd_select(out, 0, 0)), 1e-6);
    ck_assert_str_eq(hd_shape_repr(w), "torch.Size([3, 5])");
    ck_assert_str_eq(hd_grad_fn(one), "SqueezeBackward1");

    hd_tensor *self = hd_forward(m, x);
    ck_assert(same_bits(self, hd_multihead_attention(m, x, x, x, &a, NULL)));
    hd_tensor *same = hd_clone(x); /* the same values, not the same tensor */
    ck_assert_double_lt(distance(hd_multihead_attention(m, x, same, same, NULL, NULL), self), 1e-6);

    ck_assert_str_eq(hd_grad_fn(hd_forward(seq_first, x)), "ViewBackward0");
    hd_module_free(m);
    hd_module_free(seq_first);
}
END_TEST

/* ---------------------------------------------------------------- masked rows */

/* As in PyTorch 2.13: NaN with need_weights; without it zeros, to which out_proj adds its bias of
 * 0. */
START_TEST(rows_that_see_nothing)
{
    HD_SCOPE;
    hd_module *m = packed();
    hd_tensor *x = hd_randn(HD_FLOAT32, 1, 3, 4), *w = NULL;
    args a = hd_multihead_attention_arg_defaults();
    a.attn_mask = hd_zeros(HD_BOOL, 3, 3);
    hd_fill_(hd_select(a.attn_mask, 0, 1), true);
    hd_tensor *y = hd_multihead_attention(m, x, x, x, &a, &w);
    ck_elements(hd_getitem(y, 0, 1), NAN, NAN, NAN, NAN);
    ck_elements(hd_getitem(w, 0, 1), NAN, NAN, NAN);
    ck_assert(!isnan(element_at(y, 0)) && !isnan(element_at(y, 8)));

    a.need_weights = false;
    y = hd_multihead_attention(m, x, x, x, &a, &w);
    ck_elements(hd_getitem(y, 0, 1), 0, 0, 0, 0);
    ck_assert(hd_backward(hd_sum(y)));
    hd_tensor *g = hd_grad(hd_module_get_parameter(m, "in_proj_weight"));
    ck_elements(hd_any(hd_ne(g, g)), 0); /* no NaN comes back */
    hd_module_free(m);
}
END_TEST

START_TEST(is_causal_is_a_hint)
{
    HD_SCOPE;
    hd_module *m = packed();
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 3, 4);
    args a = hd_multihead_attention_arg_defaults();
    a.attn_mask = hd_to(hd_triu(hd_ones(HD_FLOAT32, 3, 3), 1), HD_BOOL);
    hd_tensor *causal = hd_multihead_attention(m, x, x, x, &a, NULL);
    a.is_causal = true;
    ck_assert(same_bits(hd_multihead_attention(m, x, x, x, &a, NULL), causal));
    a.attn_mask = hd_zeros(HD_FLOAT32, 3, 3); /* which only need_weights asks for */
    ck_assert_double_gt(distance(hd_multihead_attention(m, x, x, x, &a, NULL), causal), 1e-3);
    a.need_weights = false;
    ck_assert_double_lt(distance(hd_multihead_attention(m, x, x, x, &a, NULL), causal), 1e-6);
    hd_module_free(m);
}
END_TEST

START_TEST(masks_of_two_dtypes)
{
    HD_SCOPE;
    hd_module *m = packed();
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 3, 4), *y;
    args a = hd_multihead_attention_arg_defaults();
    a.key_padding_mask = hd_zeros(HD_BOOL, 2, 3);
    ck_no_warning(hd_multihead_attention(m, x, x, x, &a, NULL));
    a.attn_mask = hd_zeros(HD_FLOAT32, 3, 3);
    ck_warning(y = hd_multihead_attention(m, x, x, x, &a, NULL),
               "hd_multihead_attention: key_padding_mask is bool and attn_mask is float32. Use one "
               "dtype for both, as PyTorch asks");
    ck_assert_ptr_nonnull(y);
    a.key_padding_mask = hd_zeros(HD_FLOAT32, 2, 3);
    ck_no_warning(hd_multihead_attention(m, x, x, x, &a, NULL));
    hd_module_free(m);
}
END_TEST

START_TEST(empty_inputs)
{
    HD_SCOPE;
    hd_module *m = packed();
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 3, 4), *none = hd_zeros(HD_FLOAT32, 2, 0, 4), *w;
    ck_assert_str_eq(hd_shape_repr(hd_multihead_attention(m, none, x, x, NULL, &w)),
                     "torch.Size([2, 0, 4])");
    ck_elements(hd_sum(hd_multihead_attention(m, x, none, none, NULL, &w)), 0);
    ck_assert_str_eq(hd_shape_repr(w), "torch.Size([2, 3, 0])");
    hd_tensor *no_batch = hd_zeros(HD_FLOAT32, 0, 3, 4);
    ck_assert_str_eq(hd_shape_repr(hd_forward(m, no_batch)), "torch.Size([0, 3, 4])");
    hd_module_free(m);
}
END_TEST

Suite *suite_packed(void)
{
    const TTest *const tests[] = {
        constructor_errors,  call_errors,         weights_and_names, rows_that_see_nothing,
        is_causal_is_a_hint, masks_of_two_dtypes, empty_inputs,
    };
    return SUITE("packed", tests);
}
