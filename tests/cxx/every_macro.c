/* every_macro.c - a program that uses every public macro, in the common part of C and C++.
 * tests/checks/check_headers compiles it by every standard, without a warning. */
#include <heed/config.h>
#include <heed/heed.h>
#include <heed/hf.h>
#include <heed/viz.h>

#ifdef __cplusplus
#define SCALED(p) (&static_cast<const scaled *>(p)->weight)
#define AS(type, v) static_cast<type>(v)
#else
#define SCALED(p) (&((const scaled *)(p))->weight)
#define AS(type, v) ((type)(v))
#endif
#define VERSION (HD_VERSION_MAJOR * 10000 + HD_VERSION_MINOR * 100 + HD_VERSION_PATCH)

HD_API hd_tensor *every_macro(hd_tensor *x, hd_module *m, const hd_op *op, int64_t n);

typedef struct scaled {
    hd_module base; /* first member */
    hd_tensor *weight;
} scaled;

static hd_tensor *scaled_forward(hd_module *self, hd_tensor *x)
{
    const void *struct_of_self = self;
    return hd_mul(x, *SCALED(struct_of_self));
}

static void scaled_free(hd_module *self)
{
    (void)self;
}

static const hd_module_type two_functions = HD_MODULE_TYPE(scaled, "Two", scaled_forward, NULL);
static const hd_module_type scaled_type =
    HD_MODULE_TYPE(scaled, "Scaled", scaled_forward, scaled_free, NULL);
static const hd_module_type plain_type = HD_MODULE_TYPE(scaled, "Plain", scaled_forward);

typedef struct settings {
    int n, kind;
    double lr;
    bool fast;
    char name[32];
} settings;

static const hd_config_field fields[] = {
    HD_CONFIG_INT_OF(settings, n, "model.n", 12, 1, 96),
    HD_CONFIG_ENUM_OF(settings, kind, "model.kind", "relu", "relu|gelu"),
    HD_CONFIG_DOUBLE_OF(settings, lr, "lr", 0.5, 0, 1),
    HD_CONFIG_BOOL_OF(settings, fast, "fast", true),
    HD_CONFIG_STRING_OF(settings, name, "name", "run"),
};
static const hd_config_table table = HD_CONFIG_TABLE(settings, fields, NULL);

static hd_tensor *created(int64_t n)
{
    const float array[2][3] = {{1, 2, 3}, {4, 5, 6}};
    float own[4] = {0};
    const int64_t two[] = {2, n};
    hd_tensor *x = hd_empty(HD_FLOAT32, 2, n);
    x = hd_empty_n(HD_FLOAT32, 2, two);
    x = hd_zeros_n(HD_BOOL, 2, two);
    x = hd_ones_n(HD_BFLOAT16, 2, two);
    x = hd_zeros(HD_FLOAT32, n, 2);
    x = hd_ones(HD_FLOAT32, n);
    x = hd_full(HD_FLOAT32, 2.5, n);
    x = hd_full_n(HD_FLOAT32, 2.5f, 2, two);
    x = hd_from_data(HD_FLOAT32, array, 2, 3);
    x = hd_from_data_n(HD_FLOAT32, array, 2, two);
    x = hd_tensor_of(array, 2, n);
    x = hd_tensor_of_n(array, 2, two);
    x = hd_wrap(HD_FLOAT32, own, NULL, NULL, 2, 2);
    x = hd_wrap_n(HD_FLOAT32, own, NULL, NULL, 2, two);
    x = hd_scalar_tensor(HD_INT64, n);
    x = hd_arange(0, n, 1);
    x = hd_arange_as(HD_FLOAT64, 0, 1, 0.5);
    x = hd_linspace(HD_FLOAT64, 0, 1, n);
    x = hd_eye(HD_FLOAT32, n, 2);
    x = hd_empty_like(x, HD_FLOAT32);
    x = hd_zeros_like(x, HD_FLOAT32);
    x = hd_ones_like(x, HD_FLOAT32);
    x = hd_full_like(x, HD_BOOL, true);
    x = hd_rand_like(x, HD_FLOAT32);
    x = hd_randn_like(x, HD_FLOAT32);
    x = hd_rand(HD_FLOAT32, n);
    x = hd_rand_n(HD_FLOAT32, 2, two);
    x = hd_randn(HD_FLOAT32, n, 1);
    x = hd_randn_n(HD_FLOAT32, 2, two);
    x = hd_to(x, HD_FLOAT64);
    x = hd_randint_n(HD_INT64, 0, 9, 2, two);
    return hd_randint(HD_INT64, 0, 9, n);
}

static hd_tensor *viewed(hd_tensor *x, int64_t n)
{
    const int64_t two[] = {0, n};
    double v = hd_get(x, 0, n) + AS(double, hd_get_int(x, 0, -1));
    hd_set(x, v, 0, n);
    hd_set_n(x, n, 2, two);
    x = hd_view(x, 2, -1);
    x = hd_reshape(x, -1, n);
    x = hd_permute(x, 1, 0);
    x = hd_expand(x, -1, n, 2);
    x = hd_repeat(x, 1, n, 2);
    x = hd_flip(x, 0, 1);
    x = hd_getitem(x, HD_ALL, 0);
    x = hd_slice(x, 0, n, HD_END);
    x = hd_setitem(x, HD_NONE, HD_ALL, 1);
    x = hd_setitem_scalar(x, 1.5, 0);
    x = hd_setitem_scalar_n(x, 1.5, 2, two);
    x = hd_cat(0, x, x);
    return hd_stack(0, x, x);
}

static hd_tensor *computed(hd_tensor *x, hd_tensor *mask, const hd_op *op)
{
    HD_CALL("computed");
    HD_NO_GRAD;
    HD_NO_INIT;
    hd_scalar s = hd_scalar_of(2);
    x = hd_add_scalar(x, s);
    x = hd_sub_scalar(x, 1);
    x = hd_mul_scalar(x, 2.5);
    x = hd_div_scalar(x, 2.5f);
    x = hd_pow_scalar(x, 2);
    x = hd_rsub_scalar(x, 1);
    x = hd_rdiv_scalar(x, 1);
    x = hd_clamp(x, -1, 1.5);
    x = hd_clamp_min(x, 0);
    x = hd_clamp_max(x, 1);
    mask = hd_logical_or(hd_eq_scalar(x, 1), hd_ne_scalar(x, 1));
    mask = hd_logical_or(hd_lt_scalar(x, 1), hd_le_scalar(x, 1));
    mask = hd_logical_or(hd_gt_scalar(x, 1), hd_ge_scalar(x, 1));
    x = hd_masked_fill(x, mask, -1);
    x = hd_masked_fill_(x, mask, -1.5);
    x = hd_fill_(x, 0);
    x = hd_add_scalar_(x, 1);
    x = hd_sub_scalar_(x, 1);
    x = hd_mul_scalar_(x, 2);
    x = hd_div_scalar_(x, 2);
    x = hd_sum_dims(x, true, 0, 1);
    x = hd_mean_dims(x, true, 0);
    x = hd_var_dims(x, 1, true, 0);
    x = hd_std_dims(x, 1, true, 0);
    x = hd_logsumexp_dims(x, false, -1);
    return hd_apply(op, NULL, x, x);
}

hd_tensor *every_macro(hd_tensor *x, hd_module *m, const hd_op *op, int64_t n)
{
    HD_SCOPE;
    m = hd_sequential(m, hd_module_new(&plain_type), hd_module_new(&two_functions));
    m = hd_module_list(m, hd_module_new(&scaled_type));
    hd_kv_cache_free(hd_kv_cache_new_for(HD_FLOAT32, 1, 2, 3, n));
    hd_list *l = hd_list_of(created(n), viewed(x, n), computed(x, x, op), HD_NONE);
    hd_module_free(hd_embedding_new(table.n, VERSION, HD_NO_PADDING));
    return hd_list_append(l, x) && hd_module_to(m, HD_FLOAT64) ? hd_forward(m, hd_list_get(l, 0))
                                                               : NULL;
}
