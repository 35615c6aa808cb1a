/* test_layers.c - tests of the layers: initial bits (tests/golden/modules.txt), forwards, every
 * error. */
#include "suites.h"

#include <stdlib.h>

#include "support/golden_reader.h"

/* ---------------------------------------------------------------- initial weights */

static hd_module *packed(const golden_case *c)
{
    hd_multihead_attention_options o = hd_multihead_attention_defaults();
    o.kdim = golden_int(c, "kdim", 0);
    o.vdim = golden_int(c, "vdim", 0);
    o.add_bias_kv = golden_int(c, "add_bias_kv", 0);
    return hd_multihead_attention_new(golden_int(c, "embed_dim", 0), golden_int(c, "num_heads", 0),
                                      &o);
}

static hd_module *layer_of(const golden_case *c)
{
    const char *name = golden_text(c, "class", "");
    if (strcmp(name, "Linear") == 0) {
        return hd_linear_new(golden_int(c, "in_features", -1), golden_int(c, "out_features", -1),
                             golden_int(c, "bias", 1));
    }
    if (strcmp(name, "Embedding") == 0) {
        return hd_embedding_new(golden_int(c, "num_embeddings", -1),
                                golden_int(c, "embedding_dim", -1),
                                golden_int(c, "padding_idx", HD_NO_PADDING));
    }
    if (strcmp(name, "LayerNorm") == 0) {
        return hd_layer_norm_new(golden_int(c, "normalized_shape", -1));
    }
    return packed(c);
}

void ck_init(const golden_case *c, const char *name, const hd_tensor *t)
{
    const golden_record *r = golden_get(c, "init/%s", name);
    const golden_record *hash = golden_get(c, "init/%s.fnv", name);
    ck_assert_msg(r || hash, "%s: no %s", c->name, name);
    size_t bytes = (size_t)hd_numel(t) * sizeof(float);
    float *values = malloc(bytes + 1);
    ck_assert(hd_copy_to(t, values, bytes));
    if (hash) {
        ck_assert_msg(golden_fnv(values, bytes, sizeof *values) == hash->i[0], "%s: %s differs",
                      c->name, name);
    } else {
        ck_assert_int_eq(r->numel, hd_numel(t));
        for (int64_t i = 0; i < r->numel; i++) {
            ck_assert_msg((double)values[i] == r->d[i], "%s: %s[%lld] is %a, expected %a", c->name,
                          name, (long long)i, (double)values[i], r->d[i]);
        }
    }
    free(values);
}

START_TEST(initial_weights_bit_for_bit)
{
    golden_file *f = golden_read(GOLDEN_DIR "/modules.txt");
    int found = 0;
    for (int k = 0; f && k < f->count; k++) {
        HD_SCOPE;
        const golden_case *c = &f->cases[k];
        if (strncmp(c->name, "init_", 5) != 0) {
            continue;
        }
        hd_manual_seed(golden_int(c, "seed", -1));
        hd_module *m = layer_of(c);
        ck_assert_msg(m, "%s: %s", c->name, hd_error_message());
        int64_t next = (int64_t)(hd_generator_random64(hd_default_generator()) & INT64_MAX);
        ck_assert_msg(next == golden_int(c, "next", -1), "%s: draws otherwise", c->name);
        hd_dict *d = hd_module_state_dict(m);
        for (int64_t i = 0; i < hd_dict_len(d); i++) {
            ck_init(c, hd_dict_name(d, i), hd_dict_get(d, hd_dict_name(d, i)));
        }
        hd_dict_free(d);
        hd_module_free(m);
        found++;
    }
    ck_assert_int_gt(found, 20);
    golden_free(f);
}
END_TEST

/* ---------------------------------------------------------------- Linear */

START_TEST(linear)
{
    warnings_expected();
    HD_SCOPE;
    hd_module *m = hd_linear_new(2, 3, true);
    hd_tensor *w = hd_module_get_parameter(m, "weight"), *b = hd_module_get_parameter(m, "bias");
    ck_assert(hd_requires_grad(w) && hd_requires_grad(b));
    hd_tensor *x = hd_randn(HD_FLOAT32, 4, 5, 2);
    ck_assert(same_bits(hd_forward(m, x), hd_linear(x, w, b)));
    hd_module_free(m);

    m = hd_linear_new(0, 3, true); /* PyTorch: zeros, and three draws */
    ck_elements(hd_module_get_parameter(m, "bias"), 0, 0, 0);
    ck_elements(hd_forward(m, hd_ones(HD_FLOAT32, 1, 0)), 0, 0, 0);
    hd_module_free(m);
    m = hd_linear_new(3, 0, true);
    ck_assert_int_eq(hd_numel(hd_forward(m, hd_ones(HD_FLOAT32, 5, 3))), 0);
    hd_module_free(m);

    ck_assert_ptr_null(hd_linear_new(INT64_MAX, 2, true));
    ck_assert_int_eq(hd_error_code(), HD_MEMORY);
    hd_error_clear();
}
END_TEST

/* ---------------------------------------------------------------- Dropout */

START_TEST(dropout)
{
    HD_SCOPE;
    hd_module *m = hd_dropout_new(0.5, false);
    hd_tensor *x = hd_ones(HD_FLOAT32, 4, 4);
    hd_manual_seed(3);
    hd_tensor *want = hd_dropout(x, 0.5, true);
    hd_manual_seed(3);
    ck_assert(same_bits(hd_forward(m, x), want));
    ck_elements(hd_sum(x), 16);
    hd_module_eval(m);
    ck_assert_ptr_eq(hd_forward(m, x), x);
    ck_assert_double_eq(hd_dropout_p(m), 0.5);
    hd_module_free(m);

    m = hd_relu_new(false);
    ck_assert_double_nan(hd_dropout_p(m));
    ck_error(HD_VALUE, "hd_dropout_p: m is a ReLU: expected a Dropout");
    hd_module_free(m);

    m = hd_dropout_new(1, false);
    ck_elements(hd_forward(m, vec(HD_FLOAT32, 3, 4)), 0, 0);
    hd_module_free(m);
}
END_TEST

START_TEST(dropout_in_place)
{
    HD_SCOPE;
    hd_module *m = hd_dropout_new(0.25, true);
    hd_tensor *x = hd_rand(HD_FLOAT32, 5, 7), *leaf = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
    hd_manual_seed(3);
    hd_tensor *want = hd_dropout(x, 0.25, true);
    hd_manual_seed(3);
    ck_assert_ptr_eq(hd_forward(m, x), x);
    ck_assert(same_bits(x, want));

    hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_NATIVE);
    hd_tensor *turned = hd_t(hd_rand(HD_FLOAT32, 5, 7)); /* in the order of elements */
    hd_manual_seed(3);
    want = hd_dropout(turned, 0.25, true);
    hd_manual_seed(3);
    ck_assert(same_bits(hd_forward(m, turned), want));
    hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_MCG31);

    hd_tensor *y = hd_mul_scalar(leaf, 3);
    ck_assert_str_eq(hd_grad_fn(hd_forward(m, y)), "MulBackward0");
    ck_assert(hd_backward(hd_sum(y)));
    ck_assert(same_bits(hd_grad(leaf), hd_detach(y))); /* 3 mask / (1 - p), and leaf is 1 */
    ck_assert_ptr_null(hd_forward(m, leaf));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    hd_error_clear();
    hd_module_eval(m);
    ck_assert_ptr_eq(hd_forward(m, leaf), leaf);
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- Embedding */

START_TEST(embedding)
{
    HD_SCOPE;
    hd_module *m = hd_embedding_new(5, 3, -2);
    hd_tensor *w = hd_module_get_parameter(m, "weight");
    hd_tensor *x = hd_from_data(HD_INT64, ((int64_t[]){0, 3, 3, 4}), 2, 2);
    hd_tensor *y = hd_forward(m, x); /* (2, 2, 3) */
    ck_assert(same_bits(y, hd_embedding(x, w, 3)));
    ck_elements(hd_getitem(y, 0, 1), 0, 0, 0);
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(w), 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1); /* none for row 3 */
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- LayerNorm, ReLU, GELU */

START_TEST(layer_norm)
{
    HD_SCOPE;
    hd_module *m = hd_layer_norm_new(2);
    hd_tensor *y = hd_forward(m, hd_from_data(HD_FLOAT32, ((float[]){1, 3, -5, 5}), 2, 2));
    ck_assert_double_lt(fabs(element_at(y, 1) - 1 / sqrt(1 + 1e-5)), 1e-6);
    ck_assert_double_lt(fabs(element_at(y, 2) + 5 / sqrt(25 + 1e-5)), 1e-6);
    hd_module_free(m);

    m = hd_layer_norm_new_n(2, (int64_t[]){2, 2}, 0.5, false, false);
    ck_assert_double_eq(hd_norm_eps(m), 0.5);
    hd_module_free(m);
    m = hd_silu_new(false);
    ck_assert_double_nan(hd_norm_eps(m));
    ck_error(HD_VALUE, "hd_norm_eps: m is a SiLU: expected a LayerNorm or an RMSNorm");
    hd_module_free(m);

    ck_assert_ptr_null(hd_layer_norm_new_n(0, NULL, 1e-5, true, true));
    ck_error(HD_SHAPE, "hd_layer_norm_new: normalized_shape of 0 dimensions: expected 1 to 8");
    ck_assert_ptr_null(hd_layer_norm_new_n(2, NULL, 1e-5, true, true));
    ck_error(HD_NULL_ARG, "hd_layer_norm_new: normalized_shape is NULL");
}
END_TEST

/* torch: nn.RMSNorm(2, eps=1e-5) */
START_TEST(rms_norm)
{
    HD_SCOPE;
    hd_module *m = hd_rms_norm_new(2, 1e-5);
    hd_tensor *x = hd_from_data(HD_FLOAT32, ((float[]){1, 3, -5, 5}), 2, 2);
    hd_tensor *y = hd_forward(m, x), *weight = hd_module_get_parameter(m, "weight");
    ck_assert_double_lt(fabs(element_at(y, 1) - 3 / sqrt(5 + 1e-5)), 1e-6);
    ck_assert_double_lt(fabs(element_at(y, 2) + 5 / sqrt(25 + 1e-5)), 1e-6);
    ck_elements(weight, 1, 1);
    ck_assert_str_eq(hd_grad_fn(y), "MulBackward0");
    static const char *const names[] = {"MulBackward0", "MulBackward0",  "RsqrtBackward0",
                                        "AddBackward1", "MeanBackward1", "PowBackward0"};
    const hd_node *node = hd_grad_node(hd_forward(m, hd_requires_grad_(x, true)));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) { /* x is the first factor, too */
        ck_assert_str_eq(hd_node_name(node), names[i]);
        node = hd_node_input(node, i == 1, NULL);
    }
    ck_assert_double_eq(hd_norm_eps(m), 1e-5);
    hd_module_free(m);
}
END_TEST

START_TEST(relu_and_gelu)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, -1, 0, 2, NAN);
    hd_module *relu = hd_relu_new(false), *in_place = hd_relu_new(true);
    ck_elements(hd_forward(relu, x), 0, 0, 2, NAN);
    ck_elements(x, -1, 0, 2, NAN);
    ck_assert_ptr_eq(hd_forward(in_place, x), x);
    ck_elements(x, 0, 0, 2, NAN);
    ck_assert_ptr_null(hd_forward(in_place, hd_ones(HD_BOOL, 2)));
    ck_error(HD_DTYPE, "ReLU: x is bool: expected a dtype of numbers");

    hd_tensor *leaf = hd_parameter(vec(HD_FLOAT32, -1, 0, 2), true);
    ck_assert(hd_backward(hd_sum(hd_forward(in_place, hd_mul_scalar(leaf, 1)))));
    ck_elements(hd_grad(leaf), 0, 0, 1);

    hd_module *erf = hd_gelu_new("none"), *by_tanh = hd_gelu_new("tanh");
    x = hd_randn(HD_FLOAT32, 20);
    ck_assert(same_bits(hd_forward(erf, x), hd_gelu(x)));
    ck_assert(same_bits(hd_forward(by_tanh, x), hd_gelu_tanh(x)));
    ck_assert_str_eq(hd_gelu_approximate(erf), "none");
    ck_assert_str_eq(hd_gelu_approximate(by_tanh), "tanh");
    ck_assert_ptr_null(hd_gelu_approximate(relu));
    ck_error(HD_VALUE, "hd_gelu_approximate: m is a ReLU: expected a GELU");
    ck_assert_ptr_null(hd_gelu_new(NULL));
    ck_error(HD_NULL_ARG, "hd_gelu_new: approximate is NULL");
    hd_module_free(relu);
    hd_module_free(in_place);
    hd_module_free(erf);
    hd_module_free(by_tanh);
}
END_TEST

START_TEST(silu)
{
    HD_SCOPE;
    hd_module *m = hd_silu_new(false), *in_place = hd_silu_new(true);
    for (int64_t n = 4; n < 50; n += 41) {
        hd_tensor *x = hd_randn(HD_FLOAT32, n), *y = hd_silu(x), *kept = hd_clone(x);
        ck_assert(same_bits(hd_forward(m, x), y) && same_bits(x, kept));
        ck_assert_ptr_eq(hd_forward(in_place, x), x);
        ck_assert(same_bits(x, y));
        hd_tensor *leaf = hd_parameter(kept, true), *other = hd_parameter(kept, true);
        ck_assert(hd_backward(hd_sum(hd_forward(in_place, hd_mul_scalar(leaf, 1)))));
        ck_assert(hd_backward(hd_sum(hd_forward(m, other))));
        ck_assert(same_bits(hd_grad(leaf), hd_grad(other)));
        ck_assert_ptr_null(hd_forward(in_place, leaf));
        ck_assert_int_eq(hd_error_code(), HD_GRAD);
        hd_error_clear();
    }
    ck_assert_ptr_null(hd_forward(in_place, hd_ones(HD_INT64, 2)));
    ck_error(HD_DTYPE, "SiLU: hd_silu: dtype int64: expected float32 or float64");
    hd_module_free(m);
    hd_module_free(in_place);
}
END_TEST

START_TEST(sequential)
{
    HD_SCOPE;
    hd_module *first = hd_linear_new(2, 3, true), *last = hd_linear_new(3, 1, true);
    hd_module *m = hd_sequential(first, hd_relu_new(false), last);
    hd_tensor *x = hd_randn(HD_FLOAT32, 4, 2);
    ck_assert(same_bits(hd_forward(m, x), hd_forward(last, hd_relu(hd_forward(first, x)))));
    ck_assert_ptr_null(hd_forward(m, hd_ones(HD_FLOAT32, 4, 3)));
    ck_assert_int_eq(hd_error_code(), HD_SHAPE);
    hd_error_clear();
    hd_module_free(m);

    m = hd_sequential_n(0, NULL);
    ck_assert_ptr_eq(hd_forward(m, x), x);
    hd_module_free(m);
}
END_TEST

/* C leaves the order open; GCC and Clang go from left to right, as Python does. */
START_TEST(a_list_is_made_from_left_to_right)
{
    HD_SCOPE;
    hd_manual_seed(7);
    hd_module *m = hd_sequential(hd_linear_new(2, 3, true), hd_linear_new(3, 1, true));
    hd_tensor *both = hd_cat(0, hd_rand(HD_FLOAT32, 2), hd_rand(HD_FLOAT32, 3)); /* (5,) */
    hd_manual_seed(7);
    hd_module *first = hd_linear_new(2, 3, true);
    hd_module *last = hd_linear_new(3, 1, true);
    ck_assert(same_bits(hd_module_get_parameter(m, "0.weight"),
                        hd_module_get_parameter(first, "weight")));
    ck_assert(
        same_bits(hd_module_get_parameter(m, "1.weight"), hd_module_get_parameter(last, "weight")));
    ck_assert(same_bits(hd_slice(both, 0, 0, 2), hd_rand(HD_FLOAT32, 2)));
    hd_module_free(m);
    hd_module_free(first);
    hd_module_free(last);
}
END_TEST

Suite *suite_layers(void)
{
    const TTest *const tests[] = {
        initial_weights_bit_for_bit,
        linear,
        dropout,
        dropout_in_place,
        embedding,
        layer_norm,
        rms_norm,
        relu_and_gelu,
        silu,
        sequential,
        a_list_is_made_from_left_to_right,
    };
    return SUITE("layers", tests);
}
