/* test_notebook_classes.c - the classes that the examples write out (examples/notebook_classes.c)
 * give the same bits as the library's: initial weights, output, gradients, and dropout's draws. */
#include "suites.h"

#include "../../examples/notebook_classes.h"

/* ---------------------------------------------------------------- the classes, one a row */

typedef struct {
    const char *name;
    int ndim; /* of the input: 2, one sequence; 3, a batch */
    int64_t d_in;
    hd_module *(*library)(void);
    hd_module *(*example)(void);
} class_pair;

/* hd_constructor and constructor, both called with d_in and what follows it. */
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
    ck_assert_msg(a != NULL && b != NULL && a != HD_NONE && b != HD_NONE, "%s is missing", what);
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

/* Forward in training mode (dropout draws), and backward of the mean square. */
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
    hd_manual_seed(123);
    hd_module *library = p->library();
    hd_manual_seed(123);
    hd_module *example = p->example();
    ck_no_error();
    ck_assert_str_eq(hd_module_summary(library), hd_module_summary(example));
    ck_same_state(library, example);

    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 6, p->d_in); /* (2, 6, d_in) */
    if (p->ndim == 2)
        x = hd_getitem(x, 0); /* (6, d_in) */
    hd_tensor *left = run(library, x), *right = run(example, x);
    ck_assert_str_eq(hd_grad_fn(left), hd_grad_fn(right));
    ck_same_bits(p->name, left, right);
    ck_same_gradients(library, example);
    ck_no_error();
    hd_module_free(library);
    hd_module_free(example);
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
    Suite *s = suite_create("notebook classes");
    TCase *t = tcase_create("notebook classes");
    tcase_add_loop_test(t, same_bits, 0, (int)(sizeof pairs / sizeof *pairs));
    tcase_add_test(t, heads_must_divide);
    tcase_add_test(t, failed_constructors_leave_nothing);
    suite_add_tcase(s, t);
    return s;
}
