/* test_init.c - compares torch.nn.init with tests/golden/init.txt, bit for bit except for
 * orthogonal_. */
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/golden_reader.h"

/* ---------------------------------------------------------------- against PyTorch */

static hd_tensor *view_of(hd_tensor *x, const char *view)
{
    int a, b, c;
    if (sscanf(view, "transpose %d %d", &a, &b) == 2) {
        return hd_transpose(x, a, b);
    }
    if (sscanf(view, "permute %d %d %d", &a, &b, &c) == 3) {
        return hd_permute(x, a, b, c);
    }
    return x;
}

static hd_tensor *call(const golden_case *c, hd_tensor *x)
{
    const char *op = golden_text(c, "op", "");
    const char *nonlinearity = golden_text(c, "nonlinearity", "leaky_relu");
    double gain = golden_double(c, "gain", 1), mean = golden_double(c, "mean", 0);
    double std = golden_double(c, "std", 1);
    bool out = strcmp(golden_text(c, "mode", "fan_in"), "fan_out") == 0;
    hd_fan mode = out ? HD_FAN_OUT : HD_FAN_IN;
    if (strcmp(op, "uniform_") == 0) {
        return hd_init_uniform_(x, golden_double(c, "a", 0), golden_double(c, "b", 1));
    }
    if (strcmp(op, "normal_") == 0) {
        return hd_init_normal_(x, mean, std);
    }
    if (strcmp(op, "trunc_normal_") == 0) {
        return hd_init_trunc_normal_(x, mean, std, golden_double(c, "a", -2),
                                     golden_double(c, "b", 2));
    }
    if (strcmp(op, "xavier_uniform_") == 0) {
        return hd_init_xavier_uniform_(x, gain);
    }
    if (strcmp(op, "xavier_normal_") == 0) {
        return hd_init_xavier_normal_(x, gain);
    }
    if (strcmp(op, "kaiming_uniform_") == 0) {
        return hd_init_kaiming_uniform_(x, golden_double(c, "a", 0), mode, nonlinearity);
    }
    if (strcmp(op, "kaiming_normal_") == 0) {
        return hd_init_kaiming_normal_(x, golden_double(c, "a", 0), mode, nonlinearity);
    }
    if (strcmp(op, "constant_") == 0) {
        return hd_init_constant_(x, golden_double(c, "val", NAN));
    }
    if (strcmp(op, "orthogonal_") == 0) {
        return hd_init_orthogonal_(x, gain);
    }
    return strcmp(op, "ones_") == 0 ? hd_init_ones_(x) : hd_init_zeros_(x);
}

/* FNV-1a of x's bytes, row-major */
static int64_t hash_of(const hd_tensor *x)
{
    int width = (int)hd_dtype_size(hd_dtype_of(x));
    size_t bytes = (size_t)(hd_numel(x) * width);
    void *data = malloc(bytes);
    ck_assert(hd_copy_to(x, data, bytes));
    int64_t h = golden_fnv(data, bytes, width);
    free(data);
    return h;
}

static void ck_values(const golden_case *c, const hd_tensor *x)
{
    const golden_record *out = golden_get(c, "out");
    bool exact = strcmp(golden_text(c, "op", ""), "orthogonal_") != 0;
    double error = !exact ? 2e-5 : hd_dtype_of(x) == HD_FLOAT64 ? GOLDEN_DOUBLE_ERROR : 0;
    if (!out) {
        out = golden_get(c, "out.first");
        ck_assert(hash_of(x) == golden_int(c, "out.fnv", 0) || (exact && error > 0));
    }
    for (int64_t i = 0; i < out->numel; i++) {
        double got = element_at(x, i), off = fabs(got - out->d[i]);
        ck_assert_msg(off <= error, "%s: element %lld is %.17g, expected %.17g", c->name,
                      (long long)i, got, out->d[i]);
    }
}

static void run(const golden_case *c)
{
    HD_SCOPE;
    const golden_record *sizes = golden_get(c, "sizes");
    bool f32 = strcmp(golden_text(c, "dtype", ""), "f32") == 0;
    hd_tensor *base = hd_zeros_n(f32 ? HD_FLOAT32 : HD_FLOAT64, (int)sizes->numel, sizes->i);
    hd_tensor *x = hd_parameter(view_of(base, golden_text(c, "view", "")), true);
    hd_manual_seed(golden_int(c, "seed", -1));
    ck_assert_msg(call(c, x) == x, "%s: %s", c->name, hd_error_message());
    ck_assert(hd_is_leaf(x) && hd_requires_grad(x));
    ck_values(c, base);
    int64_t next = (int64_t)(hd_generator_random64(hd_default_generator()) & INT64_MAX);
    ck_assert_msg(next == golden_int(c, "next", -1), "%s: the generator's state", c->name);
}

START_TEST(golden_inits)
{
    warnings_expected();
    golden_file *f = golden_read(GOLDEN_DIR "/init.txt");
    ck_assert_ptr_nonnull(f);
    int fills = 0, gains = 0;
    for (int k = 0; k < f->count; k++) {
        const golden_case *c = &f->cases[k];
        if (golden_get(c, "op")) {
            run(c);
            fills++;
            continue;
        }
        ck_assert_double_eq(
            hd_calculate_gain(golden_text(c, "nonlinearity", ""), golden_double(c, "param", NAN)),
            golden_double(c, "gain", NAN));
        gains++;
    }
    ck_assert_int_eq(fills, 376);
    ck_assert_int_eq(gains, 10);
    golden_free(f);
}
END_TEST

/* ---------------------------------------------------------------- orthogonal, and edges */

START_TEST(rows_or_columns_are_orthonormal)
{
    HD_SCOPE;
    for (int turned = 0; turned < 2; turned++) {
        hd_tensor *x = turned ? hd_empty(HD_FLOAT32, 70, 40) : hd_empty(HD_FLOAT32, 40, 70);
        ck_assert_ptr_eq(hd_init_orthogonal_(x, 1), x);
        hd_tensor *y = turned ? hd_t(x) : x; /* (40, 70) */
        ck_assert(hd_allclose(hd_matmul(y, hd_t(y)), hd_eye(HD_FLOAT32, 40, 40), 0, 1e-6, false));
    }
}
END_TEST

/* One pass of the Gram-Schmidt process leaves 1e-12 here. */
START_TEST(orthonormal_to_the_last_bits)
{
    HD_SCOPE;
    hd_tensor *x = hd_init_orthogonal_(hd_empty(HD_FLOAT64, 150, 150), 1);
    ck_assert(hd_allclose(hd_matmul(hd_t(x), x), hd_eye(HD_FLOAT64, 150, 150), 0, 1e-14, false));
}
END_TEST

START_TEST(without_elements)
{
    HD_SCOPE;
    hd_tensor *none = hd_empty(HD_FLOAT32, 0, 5), *row = hd_empty(HD_FLOAT32, 0), *y;
    ck_assert_ptr_eq(hd_init_orthogonal_(none, 1), none);
    ck_no_warning(y = hd_init_xavier_normal_(none, 1));
    ck_assert_ptr_eq(y, none);
    ck_warning(y = hd_init_kaiming_uniform_(none, 0, HD_FAN_OUT, "relu"),
               "hd_init_kaiming_uniform_: x (0, 5) has no elements, so nothing is initialized: "
               "expected sizes above 0");
    ck_assert_ptr_eq(y, none);
    ck_warning(y = hd_init_kaiming_normal_(row, 0, HD_FAN_IN, "relu"),
               "hd_init_kaiming_normal_: x (0,) has no elements, so nothing is initialized: "
               "expected sizes above 0");
    ck_assert_ptr_eq(y, row);
    ck_assert_ptr_eq(hd_init_trunc_normal_(row, 0, 1, -2, 2), row);
}
END_TEST

/* As in PyTorch: more than 2 std away, not at 2 std. */
START_TEST(a_mean_far_from_its_bounds)
{
    HD_SCOPE;
    hd_tensor *x = hd_empty(HD_FLOAT32, 5);
    ck_warning(
        hd_init_trunc_normal_(x, 5, 1, -2, 2),
        "hd_init_trunc_normal_: mean 5 is outside [a, b] = [-2, 2] by more than 2 std, 2, so the "
        "values may not follow the requested distribution. Choose a mean nearer to [a, b]");
    ck_warning(
        hd_init_trunc_normal_(x, -1.5, 0.25, -0.5, 2),
        "hd_init_trunc_normal_: mean -1.5 is outside [a, b] = [-0.5, 2] by more than 2 std, 0.5, "
        "so the values may not follow the requested distribution. Choose a mean nearer to [a, b]");
    ck_no_warning(hd_init_trunc_normal_(x, 4, 1, -2, 2));
    ck_no_warning(hd_init_trunc_normal_(x, -4, 1, -2, 2));
}
END_TEST

START_TEST(what_is_refused)
{
    warnings_expected();
    HD_SCOPE;
    hd_tensor *row = hd_zeros(HD_FLOAT32, 4), *x = hd_zeros(HD_FLOAT32, 2, 2);
    ck_assert_ptr_null(hd_init_xavier_uniform_(row, 1));
    ck_error(HD_SHAPE, "hd_init_xavier_uniform_: x (4,): expected two dimensions or more");
    ck_assert_ptr_null(hd_init_kaiming_normal_(row, 0, HD_FAN_IN, "relu"));
    ck_error(HD_SHAPE, "hd_init_kaiming_normal_: x (4,): expected two dimensions or more");
    ck_assert_ptr_null(hd_init_orthogonal_(row, 1));
    ck_error(HD_SHAPE, "hd_init_orthogonal_: x (4,): expected two dimensions or more");
    ck_assert_ptr_null(hd_init_xavier_normal_(hd_zeros(HD_FLOAT32, 0, 0), 1));
    ck_error(HD_SHAPE, "hd_init_xavier_normal_: x (0, 0): expected sizes above 0");
    ck_assert_ptr_null(hd_init_xavier_uniform_(x, -1));
    ck_error(HD_VALUE, "hd_init_xavier_uniform_: gain -1: expected 0 or more");
    ck_assert_ptr_null(hd_init_kaiming_uniform_(x, 0, (hd_fan)7, "relu"));
    ck_error(HD_VALUE, "hd_init_kaiming_uniform_: mode 7: expected HD_FAN_IN or HD_FAN_OUT");
    ck_assert_ptr_null(hd_init_kaiming_uniform_(x, 0, HD_FAN_IN, "swish"));
    ck_error(HD_VALUE, "hd_init_kaiming_uniform_: nonlinearity \"swish\": expected linear, conv1d, "
                       "conv2d, conv3d, "
                       "conv_transpose1d, conv_transpose2d, conv_transpose3d, sigmoid, tanh, relu, "
                       "leaky_relu or selu");
    static const char *const of_1[] = {"linear",           "sigmoid",          "conv1d",
                                       "conv2d",           "conv3d",           "conv_transpose1d",
                                       "conv_transpose2d", "conv_transpose3d", NULL};
    for (int i = 0; of_1[i]; i++) {
        ck_assert(hd_calculate_gain(of_1[i], 0) == 1);
    }
    ck_assert(isnan(hd_calculate_gain(NULL, 0)));
    ck_error(HD_NULL_ARG, "hd_calculate_gain: nonlinearity is NULL");
    ck_assert_ptr_null(hd_init_trunc_normal_(x, 0, 1, 2, -2));
    ck_error(HD_VALUE, "hd_init_trunc_normal_: mean 0, std 1, a 2, b -2: expected a finite "
                       "mean, a finite std above 0, and a <= b");
    ck_assert_ptr_null(hd_init_trunc_normal_(x, 0, 0, -2, 2));
    ck_error(HD_VALUE, "hd_init_trunc_normal_: mean 0, std 0, a -2, b 2: expected a finite "
                       "mean, a finite std above 0, and a <= b");
    ck_assert_ptr_null(hd_init_trunc_normal_(HD_NONE, 0, 1, -2, 2));
    ck_error(HD_NULL_ARG, "hd_init_trunc_normal_: x is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_init_uniform_(x, 1, 0));
    ck_assert_int_eq(hd_error_code(), HD_VALUE);
    hd_error_clear();
    ck_assert_ptr_null(hd_init_trunc_normal_(x, 0, 1, 3, INFINITY));
    ck_assert_int_eq(hd_error_code(), HD_VALUE);
    hd_error_clear();
    ck_assert_ptr_null(hd_init_normal_(hd_zeros(HD_INT64, 2), 0, 1));
    ck_assert_int_eq(hd_error_code(), HD_DTYPE);
    hd_error_clear();
    ck_elements(x, 0, 0, 0, 0);
}
END_TEST

/* ---------------------------------------------------------------- without */

static hd_module *made(int which)
{
    switch (which) {
    case 0: return hd_linear_new(3, 2, true);
    case 1: return hd_embedding_new(5, 4, 1);
    case 2: return hd_layer_norm_new(4);
    case 3: return hd_rms_norm_new(4, 1e-5);
    case 4: return hd_self_attention_v1_new(3, 2);
    case 5: return hd_causal_attention_new(3, 2, 6, 0.5, true);
    case 6: return hd_multi_head_attention_wrapper_new(3, 2, 6, 0.5, 2, true);
    case 7: return hd_multi_head_attention_new(4, 4, 6, 0.5, 2, true);
    case 8: return hd_multihead_attention_new(4, 2, NULL);
    default: return hd_feed_forward_new(4, 8);
    }
}

static void ck_parameters(const hd_module *m, bool zero)
{
    hd_list *all = hd_module_parameters(m);
    ck_assert_int_gt(hd_list_len(all), 0);
    bool some = false;
    for (int64_t i = 0; i < hd_list_len(all); i++) {
        some |= hd_item_int(hd_any(hd_list_get(all, i)));
        ck_assert(hd_requires_grad(hd_list_get(all, i)));
    }
    ck_assert_int_eq(some, !zero);
}

START_TEST(without_init_weights_are_zero)
{
    HD_SCOPE;
    hd_manual_seed(1);
    hd_tensor *next = hd_rand(HD_FLOAT32, 4);
    hd_manual_seed(1);
    for (int i = 0; i < 10; i++) {
        hd_module *m;
        {
            HD_NO_INIT;
            {
                HD_NO_INIT;
            }
            m = made(i);
        }
        ck_parameters(m, true);
        hd_dict *buffers = hd_module_named_buffers(m);
        for (int64_t k = 0; k < hd_dict_len(buffers); k++) {
            hd_tensor *mask = hd_dict_get(buffers, hd_dict_name(buffers, k));
            ck_assert(hd_equal(mask, hd_triu(hd_ones(HD_FLOAT32, 6, 6), 1)));
        }
        ck_assert_int_eq(hd_dict_len(buffers), i == 6 ? 2 : i == 5 || i == 7);
        hd_dict_free(buffers);
        hd_module_free(m);
    }
    ck_assert(same_bits(hd_rand(HD_FLOAT32, 4), next));
    for (int i = 0; i < 10; i++) {
        hd_module *m = made(i);
        ck_parameters(m, false);
        hd_module_free(m);
    }
    HD_NO_INIT;
    hd_module *m = hd_linear_new(3, 2, false);
    ck_elements(hd_init_ones_(hd_module_get_parameter(m, "weight")), 1, 1, 1, 1, 1, 1);
    hd_module_free(m);
}
END_TEST

Suite *suite_init(void)
{
    const TTest *const tests[] = {
        golden_inits,
        rows_or_columns_are_orthonormal,
        orthonormal_to_the_last_bits,
        without_elements,
        a_mean_far_from_its_bounds,
        what_is_refused,
        without_init_weights_are_zero,
    };
    return SUITE("init", tests);
}
