/* test_state.c - tests of state_dict and its loading, gradients, requires_grad, dtypes. */
#include "suites.h"

/* a (3,), buffers b (2,) persistent or not, left: Linear(2, 2) */
static probe *model(bool persistent)
{
    HD_SCOPE;
    probe *m = (probe *)hd_module_new(&probe_type);
    hd_register_parameter(&m->base, "a", &m->a, ramp_parameter(3));
    hd_register_buffer(&m->base, "b", &m->b, hd_zeros(HD_FLOAT32, 2), persistent);
    hd_register_module(&m->base, "left", &m->left, hd_linear_new(2, 2, true));
    return (probe *)hd_module_ready(&m->base);
}

START_TEST(state_dict_shares_memory_and_is_detached)
{
    HD_SCOPE;
    probe *m = model(true);
    int64_t before = hd_scope_count();
    hd_dict *d = hd_module_state_dict(&m->base);
    ck_assert_int_eq(hd_scope_count(), before);
    ck_assert_int_eq(hd_dict_len(d), 4);
    hd_tensor *a = hd_dict_get(d, "a");
    ck_assert(hd_shares_storage(a, m->a) && !hd_requires_grad(a));
    hd_dict_free(d);

    probe *other = model(false); /* b is not in the state_dict then */
    d = hd_module_state_dict(&other->base);
    ck_assert_int_eq(hd_dict_kind_of(d, "b"), HD_DICT_MISSING);
    ck_assert_int_eq(hd_dict_len(d), 3);
    hd_dict_free(d);
    hd_dict *buffers = hd_module_named_buffers(&other->base); /* but a buffer it is */
    ck_assert_str_eq(hd_dict_name(buffers, 0), "b");
    hd_dict_free(buffers);
    hd_module_free(&m->base);
    hd_module_free(&other->base);
    ck_assert_ptr_null(hd_module_state_dict(NULL));
    ck_error(HD_NULL_ARG, "hd_module_state_dict: m is NULL");
}
END_TEST

START_TEST(loading_copies)
{
    HD_SCOPE;
    probe *from = model(true), *to = model(true);
    hd_dict *d = hd_module_state_dict(&from->base);
    hd_dict_set(d, "a", hd_from_data(HD_FLOAT64, ((double[]){5, 6, 7}), 3)); /* is converted */
    hd_dict *report = hd_dict_new();
    hd_tensor *a = to->a, *weight = hd_module_get_parameter(to->left, "weight");
    ck_assert(hd_module_load_state_dict(&to->base, d, true, report));
    ck_assert_int_eq(hd_dict_len(report), 0);
    ck_assert_ptr_eq(to->a, a); /* the tensor stays the same, and its values change */
    ck_assert(hd_requires_grad(a));
    ck_assert_int_eq(hd_dtype_of(a), HD_FLOAT32);
    ck_elements(a, 5, 6, 7);
    ck_assert(same_bits(weight, hd_module_get_parameter(from->left, "weight")));
    ck_assert(!hd_shares_storage(weight, hd_module_get_parameter(from->left, "weight")));
    hd_dict_free(d);
    hd_dict_free(report);

    d = hd_module_state_dict(&to->base); /* its own state: nothing changes */
    ck_assert(hd_module_load_state_dict(&to->base, d, true, NULL));
    ck_elements(a, 5, 6, 7);
    hd_dict_free(d);
    hd_module_free(&from->base);
    hd_module_free(&to->base);
}
END_TEST

/* An expanded tensor cannot be written to; nothing is, then. */
START_TEST(loading_into_an_expanded_tensor)
{
    HD_SCOPE;
    probe *from = model(true), *to = model(true);
    hd_dict *d = hd_module_state_dict(&from->base);
    hd_dict_set(d, "a", vec(HD_FLOAT32, 5, 6, 7)); /* comes before b */
    hd_assign(&to->b, hd_expand(hd_ones(HD_FLOAT32, 1), 2));
    ck_assert(!hd_module_load_state_dict(&to->base, d, true, NULL));
    ck_error(HD_STATE, "hd_module_load_state_dict: Probe: \"b\" of (2,) is expanded: several "
                       "elements share memory. hd_clone gives each of them its own");
    ck_elements(to->a, 0, 1, 2);
    ck_elements(to->b, 1, 1);
    hd_dict_remove(d, "b");
    ck_assert(hd_module_load_state_dict(&to->base, d, false, NULL)); /* b is not written */
    ck_elements(to->a, 5, 6, 7);
    hd_dict_free(d);
    hd_module_free(&from->base);
    hd_module_free(&to->base);
}
END_TEST

START_TEST(strict_loading_lists_what_does_not_fit)
{
    HD_SCOPE;
    probe *m = model(true);
    hd_dict *d = hd_dict_new(), *report = hd_dict_new();
    hd_dict_set(d, "left.weight", hd_ones(HD_FLOAT32, 2, 3));
    hd_dict_set(d, "b", hd_ones(HD_FLOAT32, 2));
    hd_dict_set(d, "left.gain", hd_ones(HD_FLOAT32, 2));
    hd_dict_set(d, "c", hd_ones(HD_FLOAT32, 2));
    hd_dict_set_int(d, "left.bias", 3);
    hd_dict_set(d, "left", hd_ones(HD_FLOAT32, 2));
    ck_assert(!hd_module_load_state_dict(&m->base, d, true, report));
    ck_error(HD_VALUE,
             "hd_module_load_state_dict: Probe: missing \"a\"; unexpected \"left.gain\", "
             "\"c\", \"left\"; in the dictionary \"left.weight\" is (2, 3), expected (2, 2), "
             "\"left.bias\" is no tensor, expected (2,)");
    ck_assert_int_eq(hd_dict_len(report), 6);
    ck_assert_str_eq(hd_dict_get_string(report, "a"), "missing");
    ck_assert_str_eq(hd_dict_get_string(report, "c"), "unexpected");
    ck_assert_str_eq(hd_dict_get_string(report, "left.weight"), "(2, 3), expected (2, 2)");
    ck_elements(m->b, 0, 0); /* nothing was loaded */
    hd_dict_free(d);
    hd_dict_free(report);
    hd_module_free(&m->base);
}
END_TEST

START_TEST(strict_is_about_names)
{
    HD_SCOPE;
    hd_module *m = hd_linear_new(2, 1, true);
    hd_dict *d = hd_module_state_dict(m);
    hd_dict_set_string(d, "format", "pt"); /* a file's metadata */
    ck_assert(hd_module_load_state_dict(m, d, true, NULL));
    hd_dict_set(d, "gain", hd_ones(HD_FLOAT32, 1));
    ck_assert(!hd_module_load_state_dict(m, d, true, NULL));
    ck_error(HD_VALUE, "hd_module_load_state_dict: Linear: unexpected \"gain\"");
    ck_assert(hd_module_load_state_dict(m, d, false, NULL));
    ck_assert(hd_dict_remove(d, "gain") && hd_dict_remove(d, "bias"));
    ck_assert(!hd_module_load_state_dict(m, d, true, NULL));
    ck_error(HD_VALUE, "hd_module_load_state_dict: Linear: missing \"bias\"");
    ck_assert(hd_module_load_state_dict(m, d, false, NULL));
    hd_dict_free(d);
    hd_module_free(m);
}
END_TEST

START_TEST(loose_loading)
{
    HD_SCOPE;
    probe *m = model(true);
    hd_dict *d = hd_dict_new(), *report = hd_dict_new();
    hd_dict_set(d, "b", hd_ones(HD_FLOAT32, 2));
    hd_dict_set(d, "c", hd_ones(HD_FLOAT32, 2));
    ck_assert(hd_module_load_state_dict(&m->base, d, false, report));
    ck_elements(m->b, 1, 1);
    ck_elements(m->a, 0, 1, 2);
    ck_assert_int_eq(hd_dict_len(report), 4); /* a, left.weight, left.bias, c */

    hd_dict_set(d, "b", hd_ones(HD_FLOAT32, 1, 2)); /* another shape is always refused */
    hd_dict_set(d, "a", hd_ones(HD_FLOAT32, 3));
    ck_assert(!hd_module_load_state_dict(&m->base, d, false, NULL));
    ck_error(HD_SHAPE, "hd_module_load_state_dict: Probe: in the dictionary \"b\" is (1, 2), "
                       "expected (2,)");
    ck_elements(m->a, 0, 1, 2);
    hd_dict_free(d);
    hd_dict_free(report);

    ck_assert(!hd_module_load_state_dict(&m->base, NULL, false, NULL));
    ck_error(HD_NULL_ARG, "hd_module_load_state_dict: d is NULL");
    ck_assert(!hd_module_load_state_dict(NULL, NULL, false, NULL));
    ck_error(HD_NULL_ARG, "hd_module_load_state_dict: m is NULL");
    hd_module_free(&m->base);
}
END_TEST

/* Each is compared with the first that has a tensor of the right shape. */
START_TEST(unequal_tensors_of_one_parameter)
{
    HD_SCOPE;
    hd_module *m = hd_sequential(hd_layer_norm_new(1), hd_layer_norm_new(1), hd_layer_norm_new(1),
                                 hd_layer_norm_new(1));
    hd_dict *d = hd_module_state_dict(m), *report = hd_dict_new();
    hd_tensor *weight = hd_module_get_parameter(m, "0.weight");
    for (int i = 1; i < 4; i++) {
        hd_module_set_parameter(hd_module_list_get(m, i), "weight", weight);
    }
    hd_dict_set(d, "0.weight", hd_ones(HD_FLOAT32, 2));
    hd_dict_set(d, "1.weight", hd_full(HD_FLOAT32, 5, 1));
    hd_dict_set(d, "2.weight", hd_full(HD_FLOAT32, 6, 1));
    hd_dict_set(d, "3.weight", hd_full(HD_FLOAT32, 6, 1));
    ck_assert(!hd_module_load_state_dict(m, d, true, report));
    ck_error(HD_VALUE,
             "hd_module_load_state_dict: Sequential: in the dictionary \"0.weight\" is (2,), "
             "expected (1,); "
             "in the dictionary \"2.weight\" is unequal to \"1.weight\", which is the same tensor "
             "in the module, "
             "\"3.weight\" is unequal to \"1.weight\", which is the same tensor in the module");
    ck_assert_int_eq(hd_dict_len(report), 3);
    hd_dict_remove(d, "0.weight");
    hd_dict_set(d, "1.weight", hd_full(HD_FLOAT32, 6, 1));
    ck_assert(hd_module_load_state_dict(m, d, true, NULL)); /* one of its names is enough */
    ck_elements(weight, 6);
    hd_dict_free(d);
    hd_dict_free(report);
    hd_module_free(m);
}
END_TEST

START_TEST(only_shapes_are_a_shape_error)
{
    HD_SCOPE;
    hd_module *m = hd_linear_new(2, 1, false);
    hd_dict *d = hd_dict_new();
    hd_dict_set(d, "weight", hd_ones(HD_FLOAT32, 1, 3));
    ck_assert(!hd_module_load_state_dict(m, d, true, NULL));
    ck_error(HD_SHAPE, "hd_module_load_state_dict: Linear: in the dictionary \"weight\" is (1, 3), "
                       "expected (1, 2)");
    hd_dict_free(d);
    hd_module_free(m);
}
END_TEST

/* What cannot be written is asked for before anything is. */
START_TEST(loading_into_what_is_expanded)
{
    HD_SCOPE;
    probe *m = probe_new();
    hd_register_parameter(&m->base, "a", &m->a, ramp_parameter(2));
    hd_register_buffer(&m->base, "b", &m->b, hd_expand(hd_zeros(HD_FLOAT32, 1), 1, 3), true);
    hd_dict *d = hd_dict_new(), *report = hd_dict_new();
    hd_dict_set(d, "a", hd_ones(HD_FLOAT32, 2));
    hd_dict_set(d, "b", hd_ones(HD_FLOAT32, 1, 3));
    int64_t version = hd_version_of(m->a);
    ck_assert(!hd_module_load_state_dict(&m->base, d, true, report));
    ck_error(HD_STATE, "hd_module_load_state_dict: Probe: \"b\" of (1, 3) is expanded: several "
                       "elements share memory. hd_clone gives each of them its own");
    ck_elements(m->a, 0, 1);
    ck_assert_int_eq(hd_version_of(m->a), version);
    ck_assert_int_eq(hd_dict_len(report), 0);
    ck_assert(hd_dict_remove(d, "b"));
    ck_assert(hd_module_load_state_dict(&m->base, d, false, NULL)); /* b is not written then */
    ck_elements(m->a, 1, 1);
    hd_dict_free(d);
    hd_dict_free(report);
    hd_module_free(&m->base);
}
END_TEST

static hd_tensor *load_in_hook(hd_tensor *grad, void *user)
{
    probe *m = user;
    hd_dict *d = hd_dict_new();
    hd_assign(&m->b, grad);
    hd_dict_set(d, "a", hd_ones(HD_FLOAT32, 2));
    hd_dict_set(d, "b", hd_ones(HD_FLOAT32, 2));
    int64_t version = hd_version_of(m->a);
    ck_assert(!hd_module_load_state_dict(&m->base, d, true, NULL));
    ck_error(HD_GRAD, "hd_module_load_state_dict: Probe: \"b\" of (2,) lies in the memory of the "
                      "gradient that hook 1 of AccumulateGrad was given, which must not change. "
                      "Return another tensor instead");
    ck_elements(m->a, 0, 1);
    ck_assert_int_eq(hd_version_of(m->a), version);
    hd_dict_free(d);
    return HD_NONE;
}

START_TEST(loading_into_a_gradient_that_a_hook_is_given)
{
    HD_SCOPE;
    probe *m = probe_new();
    hd_register_parameter(&m->base, "a", &m->a, ramp_parameter(2));
    hd_register_buffer(&m->base, "b", &m->b, hd_zeros(HD_FLOAT32, 2), true);
    hd_register_hook(m->a, load_in_hook, m);
    ck_assert(hd_backward(hd_sum(hd_mul_scalar(m->a, 2))));
    hd_module_free(&m->base);
}
END_TEST

/* Saving, and the report with it, changes nothing while an error is set. */
START_TEST(no_report_while_an_error_stands)
{
    HD_SCOPE;
    hd_module *m = hd_linear_new(2, 1, false);
    hd_dict *d = hd_dict_new(), *report = hd_dict_new();
    hd_tensor *weight = hd_module_get_parameter(m, "weight");
    hd_dict_set(d, "weight", hd_ones(HD_FLOAT32, 1, 2));
    hd_dict_set(d, "gain", hd_ones(HD_FLOAT32, 1));
    int64_t version = hd_version_of(weight);
    uint64_t failures = hd_error_count();
    hd_error_set(HD_USER, "older");
    ck_assert(!hd_module_load_state_dict(m, d, false, report));
    ck_error(HD_USER, "older");
    ck_assert_uint_eq(hd_error_count(), failures + 2);
    ck_assert_int_eq(hd_dict_len(report), 0);
    ck_assert_int_eq(hd_version_of(weight), version);
    ck_assert(hd_module_load_state_dict(m, d, false, report));
    ck_assert_int_eq(hd_dict_len(report), 1);
    ck_elements(weight, 1, 1);
    hd_dict_free(d);
    hd_dict_free(report);
    hd_module_free(m);
}
END_TEST

START_TEST(loading_counts_as_a_change)
{
    HD_SCOPE;
    hd_module *m = hd_linear_new(2, 1, false);
    hd_tensor *weight = hd_module_get_parameter(m, "weight");
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 3, 2), true);
    hd_tensor *loss = hd_sum(hd_forward(m, x)); /* saves the weight */
    hd_dict *d = hd_dict_new();
    hd_dict_set(d, "weight", hd_ones(HD_FLOAT32, 1, 2));
    int64_t version = hd_version_of(weight);
    ck_assert(hd_module_load_state_dict(m, d, true, NULL));
    ck_assert_int_eq(hd_version_of(weight), version + 1);
    ck_assert(!hd_backward(loss));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    hd_error_clear();
    hd_dict_free(d);
    hd_module_free(m);
}
END_TEST

START_TEST(gradients_of_all)
{
    HD_SCOPE;
    hd_module *m = hd_linear_new(2, 1, true);
    hd_tensor *weight = hd_module_get_parameter(m, "weight");
    ck_assert(hd_backward(hd_sum(hd_forward(m, hd_ones(HD_FLOAT32, 3, 2)))));
    ck_elements(hd_grad(weight), 3, 3);
    ck_assert(hd_module_zero_grad(m));
    ck_assert_ptr_eq(hd_grad(weight), HD_NONE);
    ck_assert(hd_module_requires_grad_(m, false));
    ck_assert(!hd_requires_grad(weight));
    ck_assert(!hd_requires_grad(hd_forward(m, hd_ones(HD_FLOAT32, 3, 2))));
    ck_assert(hd_module_requires_grad_(m, true));
    ck_assert(hd_requires_grad(weight));
    ck_assert(!hd_module_zero_grad(NULL));
    ck_error(HD_NULL_ARG, "hd_module_zero_grad: m is NULL");
    ck_assert(!hd_module_requires_grad_(NULL, true));
    ck_error(HD_NULL_ARG, "hd_module_requires_grad_: m is NULL");
    hd_module_free(m);
}
END_TEST

START_TEST(frozen_and_counted)
{
    HD_SCOPE;
    hd_module *m = hd_sequential(hd_linear_new(2, 3, true), hd_relu_new(false),
                                 hd_sequential(hd_linear_new(3, 4, false)), hd_layer_norm_new(4));
    ck_assert_int_eq(hd_module_num_parameters(m, false), 9 + 12 + 8);
    ck_assert_int_eq(hd_module_num_parameters(m, true), 9 + 12 + 8);
    ck_assert(hd_module_freeze(m, "2"));
    ck_assert(!hd_requires_grad(hd_module_get_parameter(m, "2.0.weight")));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 9 + 8);
    ck_assert(hd_module_freeze(m, "0.bias"));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 6 + 8);
    ck_assert(!hd_module_freeze(m, "0.b"));
    ck_error(HD_VALUE,
             "hd_module_freeze: Sequential: no parameter's name begins with \"0.b\": expected a "
             "name that begins with 0, 2, 3");
    ck_assert(!hd_module_freeze(m, "1"));
    ck_assert_int_eq(hd_error_code(), HD_VALUE);
    hd_error_clear();
    ck_assert(hd_module_freeze(m, ""));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 0);
    ck_assert_int_eq(hd_module_num_parameters(m, false), 29);
    ck_assert(
        hd_module_set_parameter(m, "0.weight", hd_parameter(hd_ones(HD_FLOAT32, 3, 2), true)));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 6);
    hd_module_free(m);

    m = hd_sequential(hd_linear_new(3, 3, false), hd_linear_new(3, 3, false)); /* tied */
    ck_assert(hd_module_set_parameter(m, "1.weight", hd_module_get_parameter(m, "0.weight")));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 9);
    ck_assert(hd_module_freeze(m, "1"));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 0);
    hd_module_free(m);
    m = hd_relu_new(false);
    ck_assert(hd_module_freeze(m, ""));
    ck_assert(!hd_module_freeze(m, "a"));
    ck_error(HD_VALUE,
             "hd_module_freeze: ReLU: no parameter's name begins with \"a\", because it has no "
             "parameters");
    ck_assert_int_eq(hd_module_num_parameters(m, false), 0);
    hd_module_free(m);
    ck_assert_int_eq(hd_module_num_parameters(NULL, false), -1);
    ck_error(HD_NULL_ARG, "hd_module_num_parameters: m is NULL");
}
END_TEST

START_TEST(gradients_written_and_read)
{
    HD_SCOPE;
    probe *m = model(true), *other = model(true);
    hd_tensor *weight = hd_module_get_parameter(m->left, "weight");
    hd_dict *d = hd_dict_new();
    hd_set_grad(m->a, vec(HD_FLOAT32, 1, 2, 3));
    hd_set_grad(weight, hd_t(hd_view(vec(HD_FLOAT32, 1, 2, 3, 4), 2, 2)));
    hd_dict_set(d, "grad.left.bias", vec(HD_FLOAT32, 5, 6)); /* of an earlier save */
    int64_t before = hd_scope_count();
    ck_assert(hd_module_save_grads(&m->base, d, "grad"));
    ck_assert_int_eq(hd_scope_count(), before);
    ck_assert_int_eq(hd_dict_len(d), 2); /* buffers have no gradient, nor has left.bias */
    ck_elements(hd_dict_get(d, "grad.a"), 1, 2, 3);
    ck_assert(hd_shares_storage(hd_dict_get(d, "grad.a"), hd_grad(m->a)));

    hd_set_grad(hd_module_get_parameter(other->left, "bias"), vec(HD_FLOAT32, 8, 9));
    hd_set_grad(other->a, vec(HD_FLOAT32, 8, 9, 10));
    hd_dict_set(d, "best", hd_ones(HD_FLOAT32, 1)); /* not under the prefix */
    hd_dict_set(d, "gradient", hd_ones(HD_FLOAT32, 1));
    hd_dict_set_int(d, "grad.step", 3); /* no tensor */
    before = hd_scope_count();
    ck_assert_msg(hd_module_load_grads(&other->base, d, "grad"), "%s", hd_error_message());
    ck_assert_int_eq(hd_scope_count(), before);
    ck_elements(hd_grad(other->a), 1, 2, 3);
    ck_assert(!hd_shares_storage(hd_grad(other->a), hd_grad(m->a)));
    ck_elements(hd_grad(hd_module_get_parameter(other->left, "weight")), 1, 3, 2, 4);
    ck_assert(hd_grad(hd_module_get_parameter(other->left, "bias")) == HD_NONE);

    hd_dict *plain = hd_dict_new(); /* "" gives bare names; its own gradients, read again, stay */
    ck_assert(hd_module_save_grads(&other->base, plain, ""));
    ck_assert_str_eq(hd_dict_name(plain, 0), "a");
    ck_assert_str_eq(hd_dict_name(plain, 1), "left.weight");
    ck_assert(hd_module_load_grads(&other->base, plain, ""));
    ck_elements(hd_grad(other->a), 1, 2, 3);
    hd_dict_free(plain);
    hd_dict_free(d);
    hd_module_free(&m->base);
    hd_module_free(&other->base);
}
END_TEST

START_TEST(gradients_of_tied_parameters)
{
    HD_SCOPE;
    hd_module *m = hd_sequential(hd_linear_new(2, 2, false), hd_linear_new(2, 2, false));
    hd_tensor *weight = hd_module_get_parameter(m, "0.weight");
    hd_dict *d = hd_dict_new();
    ck_assert(hd_module_set_parameter(m, "1.weight", weight));
    hd_set_grad(weight, hd_ones(HD_FLOAT32, 2, 2));
    ck_assert(hd_module_save_grads(m, d, ""));
    ck_assert_int_eq(hd_dict_len(d), 1);
    hd_module_zero_grad(m);
    ck_assert(hd_module_load_grads(m, d, ""));
    ck_elements(hd_grad(weight), 1, 1, 1, 1);
    hd_dict_set(d, "1.weight", hd_zeros(HD_FLOAT32, 2, 2));
    ck_assert(!hd_module_load_grads(m, d, ""));
    ck_error(HD_VALUE, "hd_module_load_grads: Sequential: '1.weight' is not a parameter: expected "
                       "names of hd_module_named_parameters");
    hd_dict_free(d);
    hd_module_free(m);
}
END_TEST

START_TEST(gradients_that_do_not_fit)
{
    HD_SCOPE;
    probe *m = model(true);
    hd_dict *d = hd_dict_new();
    hd_set_grad(m->a, vec(HD_FLOAT32, 1, 2, 3));
    hd_dict_set(d, "g.a", hd_zeros(HD_FLOAT32, 3));
    hd_dict_set(d, "g.b", hd_zeros(HD_FLOAT32, 2)); /* a buffer's */
    ck_assert(!hd_module_load_grads(&m->base, d, "g"));
    ck_error(HD_VALUE, "hd_module_load_grads: Probe: 'g.b' is not a parameter: expected names of "
                       "hd_module_named_parameters");
    ck_assert(hd_dict_remove(d, "g.b"));
    hd_dict_set(d, "g.left.bias", hd_zeros(HD_FLOAT32, 2, 1));
    ck_assert(!hd_module_load_grads(&m->base, d, "g"));
    ck_error(HD_SHAPE, "hd_module_load_grads: Probe: 'g.left.bias' is float32 (2, 1): expected "
                       "float32 (2,)");
    hd_dict_set(d, "g.left.bias", hd_zeros(HD_FLOAT64, 2));
    ck_assert(!hd_module_load_grads(&m->base, d, "g"));
    ck_error(HD_SHAPE, "hd_module_load_grads: Probe: 'g.left.bias' is float64 (2,): expected "
                       "float32 (2,)");
    hd_dict_set_int(d, "g.left.bias", 3);
    ck_assert(!hd_module_load_grads(&m->base, d, "g"));
    ck_error(HD_VALUE, "hd_module_load_grads: 'g.left.bias' is an integer: expected a tensor");
    ck_elements(hd_grad(m->a), 1, 2, 3);

    hd_error_set(HD_USER, "older");
    ck_assert(!hd_module_save_grads(&m->base, d, "again"));
    ck_error(HD_USER, "older");
    ck_assert_int_eq(hd_dict_kind_of(d, "again.a"), HD_DICT_MISSING);
    hd_dict_free(d);
    hd_module_free(&m->base);
}
END_TEST

START_TEST(to_another_dtype)
{
    HD_SCOPE;
    probe *m = model(true);
    hd_set_grad(m->a, hd_ones(HD_FLOAT32, 3));
    hd_tensor *counts = hd_zeros(HD_INT64, 2);
    probe *ints = probe_new();
    hd_register_buffer(&ints->base, "b", &ints->b, counts, true);
    hd_register_module(&m->base, "right", &m->right, &ints->base);
    ck_assert(hd_module_requires_grad_(m->left, false));

    ck_assert(hd_module_to(&m->base, HD_FLOAT64));
    ck_repr(m->a, "Parameter containing:\ntensor([0., 1., 2.], dtype=torch.float64, "
                  "requires_grad=True)");
    ck_assert_int_eq(hd_dtype_of(hd_grad(m->a)), HD_FLOAT64);
    ck_elements(hd_grad(m->a), 1, 1, 1);
    ck_assert_int_eq(hd_dtype_of(m->b), HD_FLOAT64);
    ck_assert_ptr_eq(ints->b, counts); /* not a float */
    ck_assert(!hd_requires_grad(hd_module_get_parameter(m->left, "weight")));
    ck_assert_int_eq(hd_dtype_of(hd_forward(m->left, hd_ones(HD_FLOAT64, 2))), HD_FLOAT64);

    hd_tensor *a = m->a;
    ck_assert(hd_module_to(&m->base, HD_FLOAT64)); /* nothing to do */
    ck_assert_ptr_eq(m->a, a);
    ck_assert(!hd_module_to(&m->base, HD_INT64));
    ck_error(HD_DTYPE, "hd_module_to: Probe to dtype int64: expected float32 or float64");
    ck_assert(!hd_module_to(NULL, HD_FLOAT64));
    ck_error(HD_NULL_ARG, "hd_module_to: m is NULL");
    hd_module_free(&m->base);
}
END_TEST

/* A frozen Linear with its weight in bfloat16: the results are those of the rounded weight. */
START_TEST(frozen_in_bfloat16)
{
    HD_SCOPE;
    hd_module *m = hd_linear_new(70, 30, true), *other = hd_linear_new(70, 30, true);
    hd_tensor *w = hd_detach(hd_module_get_parameter(m, "weight")),
              *x = hd_randn(HD_FLOAT32, 4, 70);
    hd_tensor *h = hd_parameter(hd_to(w, HD_BFLOAT16), false);
    ck_assert(hd_module_set_parameter(m, "weight", h) && hd_module_freeze(m, "bias"));
    hd_dict *d = hd_module_state_dict(m);
    ck_assert_int_eq(hd_dtype_of(hd_dict_get(d, "weight")), HD_BFLOAT16);
    ck_assert(hd_module_load_state_dict(other, d, true, NULL)); /* widened */
    ck_assert(hd_equal(hd_forward(m, x), hd_forward(other, x)));
    ck_assert(hd_module_load_state_dict(m, d, true, NULL));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 0);
    ck_assert(hd_module_zero_grad(m) && hd_module_requires_grad_(m, false));
    ck_no_error();
    ck_assert(!hd_module_requires_grad_(m, true));
    ck_error(HD_DTYPE, "hd_module_requires_grad_: dtype bfloat16: expected float32 or float64");
    ck_assert_int_eq(hd_module_num_parameters(m, true), 0);
    ck_assert(!hd_module_to(m, HD_BFLOAT16));
    ck_error(HD_DTYPE, "hd_module_to: Linear to dtype bfloat16: expected float32 or float64");
    ck_assert(hd_module_to(m, HD_FLOAT32));
    ck_assert_int_eq(hd_dtype_of(hd_module_get_parameter(m, "weight")), HD_FLOAT32);
    ck_assert(hd_equal(hd_forward(m, x), hd_forward(other, x)));
    ck_assert(hd_module_set_parameter(m, "weight", h));
    ck_assert(hd_module_set_parameter(m, "weight", hd_parameter(w, true)));
    ck_assert(!hd_module_set_parameter(m, "weight", hd_parameter(hd_to(w, HD_FLOAT64), true)));
    ck_error(HD_SHAPE, "hd_module_set_parameter: Linear: \"weight\": t is float64 (30, 70), the "
                       "parameter float32 (30, 70): expected the same dtype and shape");
    hd_dict_free(d);
    hd_module_free(other);
    hd_module_free(m);
}
END_TEST

Suite *suite_state(void)
{
    const TTest *const tests[] = {
        state_dict_shares_memory_and_is_detached,
        loading_copies,
        loading_into_an_expanded_tensor,
        strict_loading_lists_what_does_not_fit,
        strict_is_about_names,
        loose_loading,
        unequal_tensors_of_one_parameter,
        only_shapes_are_a_shape_error,
        loading_into_what_is_expanded,
        loading_into_a_gradient_that_a_hook_is_given,
        no_report_while_an_error_stands,
        loading_counts_as_a_change,
        gradients_of_all,
        frozen_and_counted,
        frozen_in_bfloat16,
        gradients_written_and_read,
        gradients_of_tied_parameters,
        gradients_that_do_not_fit,
        to_another_dtype,
    };
    return SUITE("state", tests);
}
