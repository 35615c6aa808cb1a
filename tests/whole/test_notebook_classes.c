/* test_notebook_classes.c - tests that the classes written out in examples/notebook_classes.c have
 * the bits of the library's classes: initial weights, output, gradients, and dropout's draws. That
 * holds while fused attention is off; with it, the output has the same bits for few tokens, and is
 * within 1e-5 for many. */
#include "suites.h"

#include "support/warnings.h"

#include "../../examples/notebook_classes.h"

/* ---------------------------------------------------------------- the classes, one a row */

typedef struct {
    const char *name;
    int ndim; /* of the input: 2, one sequence; 3, a batch */
    int64_t d_in;
    hd_module *(*library)(void);
    hd_module *(*example)(void);
} class_pair;

/* hd_constructor and constructor are both called with d_in and the arguments after it. */
#define PAIR(name, ndim, constructor, d_in, ...)                                                   \
    static hd_module *library_##name(void)                                                         \
    {                                                                                              \
        return hd_##constructor(d_in, __VA_ARGS__);                                                \
    }                                                                                              \
    static hd_module *example_##name(void)                                                         \
    {                                                                                              \
        return constructor(d_in, __VA_ARGS__);                                                     \
    }                                                                                              \
    static const class_pair name = {#name, ndim, d_in, library_##name, example_##name};

PAIR(v1, 2, self_attention_v1_new, 3, 2)
PAIR(v2, 2, self_attention_v2_new, 3, 2, false)
PAIR(v2_bias, 2, self_attention_v2_new, 3, 2, true)
PAIR(causal, 3, causal_attention_new, 3, 2, 6, 0.5, true)
PAIR(causal_longer_context, 3, causal_attention_new, 3, 2, 9, 0.0, false)
PAIR(wrapper, 3, multi_head_attention_wrapper_new, 3, 2, 6, 0.5, 2, true)
PAIR(multi_head, 3, multi_head_attention_new, 3, 4, 6, 0.5, 2, false)
PAIR(multi_head_bias, 3, multi_head_attention_new, 8, 8, 7, 0.1, 4, true)

static const class_pair *const pairs[] = {
    &v1, &v2, &v2_bias, &causal, &causal_longer_context, &wrapper, &multi_head, &multi_head_bias,
};

/* ---------------------------------------------------------------- comparing */

static void ck_same_bits(const char *what, const hd_tensor *a, const hd_tensor *b)
{
    ck_assert_msg(a && b && a != HD_NONE && b != HD_NONE, "%s is missing", what);
    ck_assert_str_eq(hd_shape_repr(a), hd_shape_repr(b));
    size_t bytes = (size_t)hd_numel(a) * sizeof(float);
    void *left = malloc(bytes), *right = malloc(bytes);
    ck_assert(hd_copy_to(a, left, bytes) && hd_copy_to(b, right, bytes));
    ck_assert_msg(memcmp(left, right, bytes) == 0, "%s differs:\n%s\n%s", what, hd_repr(a),
                  hd_repr(b));
    free(left);
    free(right);
}

static void ck_same_state(const hd_module *a, const hd_module *b)
{
    hd_dict *left = hd_module_state_dict(a), *right = hd_module_state_dict(b);
    ck_assert_int_gt(hd_dict_len(left), 0);
    ck_assert_int_eq(hd_dict_len(left), hd_dict_len(right));
    for (int64_t i = 0; i < hd_dict_len(left); i++) {
        const char *name = hd_dict_name(left, i);
        ck_assert_str_eq(name, hd_dict_name(right, i));
        ck_same_bits(name, hd_dict_get(left, name), hd_dict_get(right, name));
    }
    hd_dict_free(left);
    hd_dict_free(right);
}

static void ck_same_gradients(const hd_module *a, const hd_module *b)
{
    hd_dict *left = hd_module_named_parameters(a), *right = hd_module_named_parameters(b);
    for (int64_t i = 0; i < hd_dict_len(left); i++) {
        const char *name = hd_dict_name(left, i);
        ck_same_bits(name, hd_grad(hd_dict_get(left, name)), hd_grad(hd_dict_get(right, name)));
    }
    hd_dict_free(left);
    hd_dict_free(right);
}

/* Forward in training mode, where dropout draws, and backward of the mean square. */
static hd_tensor *run(hd_module *m, hd_tensor *x)
{
    hd_manual_seed(7);
    hd_tensor *y = hd_forward(m, x);
    ck_assert(hd_backward(hd_mean(hd_mul(y, y))));
    return y;
}

/* ---------------------------------------------------------------- the tests */

START_TEST(same_bits)
{
    HD_SCOPE;
    const class_pair *p = pairs[_i];
    hd_set_fused_attention(false);
    hd_manual_seed(123);
    hd_module *library = p->library();
    hd_manual_seed(123);
    hd_module *example = p->example();
    ck_no_error();
    ck_assert_str_eq(hd_module_summary(library), hd_module_summary(example));
    ck_same_state(library, example);

    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 6, p->d_in); /* (2, 6, d_in) */
    if (p->ndim == 2) {
        x = hd_getitem(x, 0); /* (6, d_in) */
    }
    hd_tensor *left = run(library, x), *right = run(example, x);
    ck_assert_str_eq(hd_grad_fn(left), hd_grad_fn(right));
    ck_same_bits(p->name, left, right);
    ck_same_gradients(library, example);
    hd_set_fused_attention(true);
    ck_same_bits("fused", run(library, x), right);
    ck_no_error();
    hd_module_free(library);
    hd_module_free(example);
}
END_TEST

/* ---------------------------------------------------------------- fused and plain */

/* The largest difference, relative to b's largest absolute value. */
static double difference(const hd_tensor *a, const hd_tensor *b)
{
    ck_assert(a && b && a != HD_NONE && b != HD_NONE);
    hd_tensor *most = hd_max(hd_abs(hd_detach((hd_tensor *)b)));
    double d =
        hd_item(hd_max(hd_abs(hd_sub(hd_detach((hd_tensor *)a), hd_detach((hd_tensor *)b)))));
    return hd_item(most) > 0 ? d / hd_item(most) : d;
}

static void ck_close_gradients(const char *name, hd_module *m, hd_dict *plain)
{
    hd_dict *fused = hd_module_named_parameters(m);
    for (int64_t i = 0; i < hd_dict_len(fused); i++) {
        const char *parameter = hd_dict_name(fused, i);
        if (strcmp(parameter, "W_key.bias") == 0) {
            continue; /* truly 0: any value is rounding */
        }
        double d =
            difference(hd_grad(hd_dict_get(fused, parameter)), hd_dict_get(plain, parameter));
        ck_assert_msg(d <= 1e-5, "%s: gradient of %s: %g", name, parameter, d);
    }
    hd_dict_free(fused);
}

static hd_dict *gradients(hd_module *m)
{
    hd_dict *names = hd_module_named_parameters(m), *all = hd_dict_new();
    for (int64_t i = 0; i < hd_dict_len(names); i++) {
        const char *parameter = hd_dict_name(names, i);
        hd_dict_set(all, parameter, hd_grad(hd_dict_get(names, parameter)));
    }
    hd_dict_free(names);
    return all;
}

/* Fused attention off and on, in one module: output and gradients are within 1e-5, and the same
 * seed gives the same mask. */
static void compare(const char *name, hd_module *m, int64_t tokens, int64_t d_in)
{
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, tokens, d_in); /* (2, tokens, d_in) */
    hd_set_fused_attention(false);
    hd_tensor *plain = run(m, x);
    hd_dict *want = gradients(m);
    hd_module_zero_grad(m);
    hd_set_fused_attention(true);
    hd_tensor *y = run(m, x);
    ck_no_error();
    ck_assert_msg(difference(y, plain) <= 1e-5, "%s: %g", name, difference(y, plain));
    ck_close_gradients(name, m, want);

    hd_module_zero_grad(m);
    ck_assert(hd_attention_keep_weights(m, true));
    ck_same_bits("with weights", run(m, x), y);
    hd_tensor *weights = hd_attention_weights(m); /* (2, ..., tokens, tokens) */
    hd_set_fused_attention(false);
    run(m, x);
    ck_assert_msg(difference(weights, hd_attention_weights(m)) <= 1e-5, "%s: weights", name);
    hd_set_fused_attention(true);
    hd_dict_free(want);
}

START_TEST(fused_is_plain)
{
    static const int64_t tokens[] = {1, 5, 64, 65, 70, 100, 129, 200, 333};
    static const double rates[] = {0, 0.25};
    for (int k = 0; k < 4; k++) {
        HD_SCOPE;
        double dropout = rates[k % 2];
        hd_generator_set_bernoulli(hd_default_generator(),
                                   k < 2 ? HD_BERNOULLI_MCG31 : HD_BERNOULLI_NATIVE);
        hd_manual_seed(3);
        hd_module *heads = hd_multi_head_attention_new(20, 60, 340, dropout, 3, true);
        compare("MultiHeadAttention", heads, tokens[_i], 20);
        hd_module_free(heads);
        hd_module *one = hd_causal_attention_new(20, 37, 340, dropout, false);
        compare("CausalAttention", one, tokens[_i], 20);
        hd_module_free(one);
    }
}
END_TEST

/* A mask that is not the triangle is used as it is; a token that sees nothing gives NaN, as in the
 * written-out class. */
START_TEST(other_masks)
{
    warnings_expected(); /* a loss is NaN */
    for (int64_t tokens = 6; tokens <= 96; tokens += 90) {
        HD_SCOPE;
        hd_manual_seed(5);
        hd_module *m = hd_multi_head_attention_new(8, 16, 96, 0.1, 2, true);
        hd_tensor *mask = hd_module_get_buffer(m, "mask");
        hd_set(mask, 1, 3, 2);
        hd_set(mask, 0, 2, 5);
        compare("odd mask", m, tokens, 8);
        for (int64_t j = 0; j < 96; j++) {
            hd_set(mask, 1, 4, j);
        }
        hd_tensor *y = run(m, hd_randn(HD_FLOAT32, 2, tokens, 8)); /* (2, tokens, 16) */
        for (int64_t i = 0; i < tokens; i++) {
            ck_assert_int_eq(isnan(hd_get(y, 1, i, 0)), i == 4);
        }
        hd_module_free(m);
    }
}
END_TEST

/* Every row shows its first token, hides another one that it would see, and hides what follows by
 * different numbers. */
START_TEST(a_mask_without_an_even_row)
{
    hd_manual_seed(6);
    hd_module *m = hd_multi_head_attention_new(8, 16, 4, 0, 2, true);
    hd_tensor *mask = hd_module_get_buffer(m, "mask"); /* (4, 4) */
    for (int64_t i = 1; i < 4; i++) {
        hd_set(mask, 1, i, 1);
    }
    hd_set(mask, 2, 0, 2);
    hd_set(mask, 2, 1, 3);
    compare("uneven mask", m, 4, 8);
    hd_module_free(m);
}
END_TEST

START_TEST(heads_must_divide)
{
    ck_assert_ptr_null(multi_head_attention_new(8, 8, 6, 0.0, 3, false));
    ck_error(HD_VALUE, "multi_head_attention_new: d_out 8 must be divisible by num_heads 3");
}
END_TEST

START_TEST(failed_constructors_leave_nothing)
{
    int64_t tensors = hd_tensor_count();
    {
        HD_SCOPE;
        ck_assert_ptr_null(causal_attention_new(3, 2, 6, 1.5, false));
        ck_assert_ptr_null(multi_head_attention_wrapper_new(3, 2, 6, 1.5, 2, false));
        ck_assert_ptr_null(self_attention_v1_new(3, -1));
        ck_assert_int_ne(hd_error_code(), HD_OK);
        hd_error_clear();
    }
    ck_assert_int_eq(hd_tensor_count(), tensors);
}
END_TEST

Suite *suite_notebook_classes(void)
{
    const TTest *const tests[] = {
        other_masks,
        a_mask_without_an_even_row,
        heads_must_divide,
        failed_constructors_leave_nothing,
    };
    Suite *s = SUITE_OF("notebook classes", tests);
    suite_add_loop(s, same_bits, (int)(sizeof pairs / sizeof *pairs));
    suite_add_loop(s, fused_is_plain, 9);
    return s;
}
