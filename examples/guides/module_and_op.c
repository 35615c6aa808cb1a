/* module_and_op.c - the program of docs/guides/module_and_op.md: it makes a module and an op. */
#include "heed/heed.h"

#include <stdio.h>

/* ---------------------------------------------------------------- a module */

typedef struct {
    hd_module base; /* the first member */
    hd_module *attn, *out;
    hd_tensor *scale; /* (1,), parameter */
} net;

static hd_tensor *net_forward(hd_module *self, hd_tensor *x) /* x (b, num_tokens, 8) */
{
    net *m = (net *)self;
    hd_tensor *context = hd_forward(m->attn, x);          /* (b, num_tokens, 8) */
    return hd_mul(hd_forward(m->out, context), m->scale); /* (b, num_tokens, 1) */
}

static hd_module *net_new(void)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward);
    hd_module *self = hd_module_new(&type);
    net *m = (net *)self;
    if (!m) {
        return NULL;
    }
    /* d_in, d_out, context_length, dropout, num_heads, qkv_bias */
    hd_module *attn = hd_multi_head_attention_new(8, 8, 16, 0.0, 2, false);
    hd_register_module(self, "attn", &m->attn, attn);
    hd_register_module(self, "out", &m->out, hd_linear_new(8, 1, true));
    hd_register_parameter(self, "scale", &m->scale, hd_parameter(hd_ones(HD_FLOAT32, 1), true));
    return hd_module_ready(self);
}

static void show_the_module(void)
{
    HD_SCOPE;
    hd_module *model = net_new();
    hd_module_print(model);

    hd_dict *parameters = hd_module_named_parameters(model);
    for (int64_t i = 0; i < hd_dict_len(parameters); i++) {
        const char *name = hd_dict_name(parameters, i);
        printf("%s %s\n", name, hd_shape_repr(hd_dict_get(parameters, name)));
    }
    hd_dict_free(parameters);

    hd_tensor *y = hd_forward(model, hd_rand(HD_FLOAT32, 2, 16, 8)); /* (2, 16, 1) */
    hd_backward(hd_mean(y));
    hd_tensor *dscale = hd_grad(hd_module_get_parameter(model, "scale")); /* (1,) */
    printf("y: %s, the gradient of scale: %s\n", hd_shape_repr(y), hd_repr(dscale));
    hd_module_free(model);
}

/* ---------------------------------------------------------------- a module with settings */

typedef struct {
    hd_module base;
    hd_module *layers; /* a ModuleList */
    double shortcut;
} tower;

static hd_tensor *tower_forward(hd_module *self, hd_tensor *x) /* x (n, width) */
{
    tower *m = (tower *)self;
    for (int64_t i = 0; i < hd_module_list_len(m->layers); i++) {
        hd_tensor *y = hd_relu(hd_forward(hd_module_list_get(m->layers, i), x)); /* (n, width) */
        x = hd_add(y, hd_mul_scalar(x, m->shortcut));
    }
    return x;
}

static void tower_extra(const hd_module *self, char *text, size_t n)
{
    snprintf(text, n, "shortcut=%g", ((const tower *)self)->shortcut);
}

static hd_module *tower_new(int64_t width, int64_t depth, double shortcut)
{
    HD_CALL("tower_new");
    static const hd_module_type type =
        HD_MODULE_TYPE(tower, "Tower", tower_forward, NULL, tower_extra);
    hd_module *self = hd_module_new(&type);
    tower *m = (tower *)self;
    if (!m) {
        return NULL;
    }
    if (shortcut < 0 || shortcut > 1) {
        hd_module_free(self);
        return hd_fail(HD_VALUE, "shortcut %g: expected 0 to 1", shortcut);
    }
    m->shortcut = shortcut;
    hd_module *layers = hd_module_list_n(0, NULL);
    for (int64_t i = 0; i < depth; i++) {
        hd_module_list_append(layers, hd_linear_new(width, width, true));
    }
    hd_register_module(self, "layers", &m->layers, hd_module_ready(layers));
    return hd_module_ready(self);
}

static void show_the_tower(void)
{
    HD_SCOPE;
    hd_module *model = tower_new(4, 2, 0.5);
    hd_module_print(model);
    hd_module_free(model);

    if (!tower_new(4, 2, 1.5)) {
        printf("%s: %s\n", hd_code_name(hd_error_code()), hd_error_message());
        hd_error_clear();
    }
}

/* ---------------------------------------------------------------- an op */

/* Sets y = x * gate, where gate is (x + 3) / 6, clamped to 0 to 1. x and y have n elements. */
static void hard_swish_f32(int64_t n, const float *x, float *y)
{
    for (int64_t i = 0; i < n; i++) {
        float gate = (x[i] + 3) / 6;
        y[i] = x[i] * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
    }
}

static void hard_swish_f64(int64_t n, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        double gate = (x[i] + 3) / 6;
        y[i] = x[i] * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
    }
}

static bool hard_swish_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    hd_tensor *in = hd_contiguous(x[0]); /* so that the elements lie one after the other */
    hd_dtype d = hd_dtype_of(in);
    if (d != HD_FLOAT32 && d != HD_FLOAT64) {
        return hd_fail(HD_DTYPE, "%s: expected a float dtype", hd_dtype_name(d));
    }
    y[0] = hd_empty_like(in, d);
    if (!y[0]) {
        return false;
    }
    if (d == HD_FLOAT32) {
        hard_swish_f32(hd_numel(in), hd_data(in), hd_data_mut(y[0]));
    } else {
        hard_swish_f64(hd_numel(in), hd_data(in), hd_data_mut(y[0]));
    }
    return hd_save(ctx, x[0]); /* backward needs it */
}

/* dx = dy * (2 x + 3) / 6 where |x| < 3; dx = dy where x >= 3; dx = 0 where x <= -3 */
static void hard_swish_backward(hd_ctx *ctx, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *x = hd_saved(ctx, 0);
    hd_tensor *slope = hd_div_scalar(hd_add_scalar(hd_mul_scalar(x, 2), 3), 6);
    slope = hd_masked_fill(slope, hd_ge_scalar(x, 3), 1);
    slope = hd_masked_fill(slope, hd_le_scalar(x, -3), 0);
    dx[0] = hd_mul(dy[0], slope);
}

static hd_tensor *hard_swish(hd_tensor *x)
{
    static const hd_op op = {.size = sizeof(hd_op),
                             .name = "HardSwish",
                             .forward = hard_swish_forward,
                             .backward = hard_swish_backward};
    HD_CALL("hard_swish");
    return hd_apply(&op, NULL, x);
}

static void show_the_op(void)
{
    HD_SCOPE;
    hd_tensor *x = hd_linspace(HD_FLOAT32, -4, 4, 5); /* (5,) */
    hd_requires_grad_(x, true);
    hd_tensor *y = hard_swish(x); /* (5,) */
    hd_print(y);
    hd_backward(hd_sum(y));
    hd_print(hd_grad(x));
    if (!hard_swish(hd_arange(0, 5, 1))) {
        printf("%s: %s\n", hd_code_name(hd_error_code()), hd_error_message());
        hd_error_clear();
    }
}

/* ---------------------------------------------------------------- the check of the gradient */

static hd_tensor *call_hard_swish(hd_tensor *const *inputs, int n, void *user)
{
    (void)n, (void)user;
    return hard_swish(inputs[0]);
}

static void check_the_gradient(void)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_randn(HD_FLOAT64, 20), true); /* (20,) */
    bool right = hd_gradcheck_n(call_hard_swish, NULL, 1, &x, NULL);
    printf("the gradient is %s\n", right ? "right" : hd_error_message());
}

int main(void)
{
    hd_on_warning(hd_warning_print, NULL);
    hd_manual_seed(123);
    show_the_module();
    show_the_tower();
    show_the_op();
    check_the_gradient();
    return hd_error_code();
}
