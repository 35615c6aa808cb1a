/* scenarios.c - sequences of calls as programs make them: every family of functions, forward and
 * backward, modules, texts, files. Backward comes last in each sequence, so that a failure leaves
 * every .grad unchanged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "faults_memory/faults.h"

/* ---------------------------------------------------------------- scenarios: tensors */

static bool backward(hd_tensor *y)
{
    return hd_backward(hd_sum(y));
}

static bool arithmetic(scenario_inputs *in)
{
    hd_tensor *y = hd_div(hd_mul(hd_add(in->a, in->b), in->a), hd_sub_scalar(in->b, 7));
    return backward(hd_maximum(hd_pow_scalar(y, 2), hd_pow(in->a, in->b)));
}

static bool mixed_dtypes(scenario_inputs *in)
{
    hd_tensor *y = hd_mul(hd_to(in->a, HD_FLOAT64), hd_to(in->mask, HD_INT64));
    return backward(hd_add(y, in->b));
}

static bool unary(scenario_inputs *in)
{
    hd_tensor *y = hd_gelu(hd_exp(hd_tanh(hd_sigmoid(in->a))));
    return backward(hd_relu(hd_sqrt(hd_abs(hd_log(hd_clamp(y, 0.5, 9))))));
}

static bool reductions(scenario_inputs *in)
{
    hd_tensor *at, *y = hd_max_dim(hd_mul(in->a, in->b), 1, true, &at);
    y = hd_add(hd_var_dim(in->a, 0, 1, false), y);
    y = hd_add(y, hd_logsumexp_dim(in->a, 1, true));
    return backward(hd_mul(hd_cumsum(y, 0), hd_mean_dims(in->a, true, 0, 1)));
}

static bool softmaxes(scenario_inputs *in)
{
    hd_tensor *turned = hd_transpose(in->a, 0, 1);
    return backward(hd_mul(hd_softmax(turned, 0), hd_log_softmax(turned, 1)));
}

static bool attentions(scenario_inputs *in)
{
    hd_tensor *weights = NULL, *many = hd_reshape(hd_expand(in->a, 40, 2, 3), 80, 3); /* (80, 3) */
    hd_attention_options o = hd_attention_defaults();
    o.dropout_p = 0.5;
    hd_tensor *y = hd_scaled_dot_product_attention_with(many, many, many, &o, &weights);
    o.attn_mask = in->mask;                                                     /* (2, 3) */
    hd_tensor *x = hd_cat(0, in->a, hd_unsqueeze(in->b, 0));                    /* (3, 3) */
    hd_tensor *z = hd_scaled_dot_product_attention_with(in->a, x, x, &o, NULL); /* (2, 3) */
    return weights && z && backward(hd_add(hd_sum(y), hd_sum(z)));
}

/* A mask that learns: in plain ops. */
static bool attention_composed(scenario_inputs *in)
{
    hd_tensor *weights, *x = hd_cat(0, in->a, hd_unsqueeze(in->b, 0)); /* (3, 3) */
    hd_attention_options o = hd_attention_defaults();
    o.attn_mask = in->a;
    hd_tensor *y = hd_scaled_dot_product_attention_with(in->a, x, x, &o, &weights); /* (2, 3) */
    return y && backward(y);
}

static bool products(scenario_inputs *in)
{
    hd_tensor *y = hd_linear(in->a, in->w, in->bias);                                   /* (2, 4) */
    y = hd_matmul(hd_expand(in->a, 5, 2, 3), hd_t(in->w)) ? hd_matmul(y, in->w) : NULL; /* (2, 3) */
    return hd_dot(in->b, in->b) && hd_matmul(in->w, in->b) &&
           backward(hd_matmul(hd_expand(in->a, 5, 2, 3), hd_transpose(y, 0, 1)));
}

static bool views(scenario_inputs *in)
{
    hd_tensor *y = hd_unsqueeze(hd_permute(in->a, 1, 0), 1);
    hd_tensor *rows = hd_reshape(y, 2, 3), *wide = hd_expand(in->b, 2, 3);
    hd_list *parts = hd_split(hd_mul(rows, wide), 2, 1);
    hd_list *ones = hd_unbind(parts ? hd_list_get(parts, 0) : NULL, 0);
    hd_tensor *one = hd_getitem(hd_slice_step(hd_flatten(y, 0, -1), 0, 0, 6, 2), 1);
    return backward(hd_mul(one, hd_list_get(ones, 1)));
}

static bool joined(scenario_inputs *in)
{
    hd_tensor *y = hd_cat(0, in->a, in->w, in->a);
    hd_tensor *z = hd_stack(1, in->b, hd_select(in->a, 0, 1));
    return backward(hd_matmul(hd_tril(y, 1), hd_contiguous(hd_triu(z, 0))));
}

static bool picked(scenario_inputs *in)
{
    hd_tensor *at = NULL, *y = hd_index_select(in->w, 0, in->index);
    y = hd_topk(hd_add(y, hd_embedding(in->index, in->w, HD_NO_PADDING)), 2, 1, true, &at);
    return y && hd_one_hot(in->index, 3) && hd_equal(in->a, in->a) &&
           hd_argmax_dim(in->a, 0, true) && hd_any_dim(in->mask, 0, false) &&
           backward(hd_add(y, hd_gather(in->a, 1, at)));
}

static bool chosen(scenario_inputs *in)
{
    hd_tensor *y = hd_where(in->mask, in->a, in->b);
    return hd_lt(in->a, in->b) && hd_logical_and(in->mask, in->a) &&
           backward(hd_masked_fill(y, in->mask, -3));
}

static bool random_numbers(scenario_inputs *in)
{
    hd_tensor *y = hd_dropout(hd_mul(in->a, in->b), 0.5, true);
    return hd_randn(HD_FLOAT64, 40) && hd_randint(HD_FLOAT32, 0, 9, 3) && hd_randperm(9) &&
           hd_bernoulli(hd_detach(in->a)) && hd_multinomial(hd_detach(in->a), 2, true) &&
           backward(y);
}

static bool losses(scenario_inputs *in)
{
    hd_tensor *y = hd_layer_norm_n(in->a, 1, (int64_t[]){3}, in->b, HD_NONE, 1e-5);
    hd_tensor *loss = hd_cross_entropy(hd_linear(y, in->w, in->bias), in->index);
    return hd_backward(hd_add(loss, hd_mse_loss(in->a, hd_detach(y))));
}

/* ---------------------------------------------------------------- scenarios: the graph */

static bool changes_h(scenario_inputs *in)
{
    return hd_add_(in->h, in->b);
}

static bool multiplies_h(scenario_inputs *in)
{
    return hd_mul_(in->h, in->b);
}

static bool divides_h_by_float64(scenario_inputs *in)
{
    return hd_div_(in->h, hd_to(in->b, HD_FLOAT64));
}

static bool scales_h(scenario_inputs *in)
{
    return hd_mul_scalar_(in->h, 3);
}

static bool fills_h(scenario_inputs *in)
{
    return hd_fill_(in->h, 3);
}

static bool copies_to_h(scenario_inputs *in)
{
    return hd_copy_(in->h, in->b);
}

static bool masks_h(scenario_inputs *in)
{
    return hd_masked_fill_(in->h, in->mask, -INFINITY);
}

static bool draws_into_h(scenario_inputs *in)
{
    return hd_normal_(in->h, 0, 1);
}

static bool drops_h(scenario_inputs *in)
{
    return hd_bernoulli_(in->h, 0.5);
}

static bool sets_a_row_of_h(scenario_inputs *in)
{
    return hd_setitem(in->h, in->b, 1);
}

static bool sets_an_element_of_h(scenario_inputs *in)
{
    return hd_setitem_scalar(in->h, 4, 1, 2);
}

static bool changes_through_views(scenario_inputs *in)
{
    hd_tensor *copy = hd_clone(in->h), *row = hd_select(copy, 0, 0),
              *column = hd_slice(copy, 1, 1, 2);
    if (!hd_mul_(row, in->b) || !hd_setitem(copy, in->b, 1) || !hd_add_scalar_(column, 1)) {
        return false;
    }
    return backward(hd_mul(row, hd_sum(column)));
}

static bool gradients_asked_for(scenario_inputs *in)
{
    hd_tensor *y = hd_sum(hd_mul(in->h, in->b));
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(in->h, in->b), NULL, NULL);
    return g && hd_list_get(g, 1);
}

static hd_tensor *doubled(hd_tensor *grad, void *user)
{
    (void)user;
    return hd_mul_scalar(grad, 2);
}

static bool hooks_and_kept_gradients(scenario_inputs *in)
{
    hd_tensor *y = hd_retain_grad(hd_mul(in->a, in->b));
    return hd_register_hook(y, doubled, NULL) > 0 && backward(hd_mul(y, y));
}

static bool own_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul(x[0], x[0]);
    return y[0] && hd_save(ctx, x[0]) && hd_save(ctx, y[0]);
}

static void own_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_mul_scalar(hd_mul(gy[0], hd_saved(ctx, 0)), 2);
}

static void own_free(hd_ctx *ctx)
{
    --*(int *)hd_ctx_user(ctx);
}

static const hd_op own_op = {sizeof(hd_op), "Own", own_forward, own_backward, own_free};

static bool own_operation(scenario_inputs *in)
{
    in->own_live++;
    return backward(hd_apply(&own_op, &in->own_live, in->a));
}

static hd_tensor *cube(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    return hd_mul(hd_mul(x[0], x[0]), x[0]);
}

static bool checked_gradients(scenario_inputs *in)
{
    hd_tensor *x = hd_requires_grad_(hd_to(hd_detach(in->b), HD_FLOAT64), true);
    return hd_gradcheck_n(cube, NULL, 1, &x, NULL);
}

/* ---------------------------------------------------------------- scenarios: modules, texts */

static bool trained(hd_module *m, hd_tensor *x, bool adamw)
{
    hd_list *parameters = m ? hd_module_parameters(m) : NULL;
    hd_optim *o = adamw ? hd_adamw_new(parameters, NULL) : hd_sgd_new(parameters, NULL);
    bool ok = o && backward(hd_forward(m, x)) && hd_optim_step(o) && hd_optim_zero_grad(o);
    hd_optim_free(o);
    hd_module_free(m);
    return ok;
}

static bool small_modules(scenario_inputs *in)
{
    hd_module *m = hd_sequential(hd_linear_new(3, 4, true), hd_gelu_new("none"),
                                 hd_layer_norm_new(4), hd_dropout_new(0.5, false));
    return trained(m, hd_detach(in->a), true);
}

static bool embeddings(scenario_inputs *in)
{
    return trained(hd_sequential(hd_embedding_new(5, 3, 0), hd_relu_new(false)), in->index, false);
}

static bool attention(scenario_inputs *in)
{
    hd_module *m = hd_multi_head_attention_new(3, 4, 2, 0.5, 2, true);
    return trained(m, hd_unsqueeze(hd_detach(in->a), 0), true);
}

static bool wrapped_attention(scenario_inputs *in)
{
    hd_module *m = hd_multi_head_attention_wrapper_new(3, 2, 2, 0, 2, false);
    return trained(m, hd_unsqueeze(hd_detach(in->a), 0), false);
}

static bool self_attention(scenario_inputs *in)
{
    return trained(hd_self_attention_v1_new(3, 2), hd_detach(in->a), false) &&
           trained(hd_self_attention_v2_new(3, 2, true), hd_detach(in->a), false);
}

static bool packed_attention(scenario_inputs *in)
{
    hd_module *m = hd_multihead_attention_new(3, 3, NULL);
    hd_tensor *weights = NULL, *x = hd_unsqueeze(hd_detach(in->a), 1);
    bool ok = m && hd_multihead_attention(m, x, x, x, NULL, &weights) && weights != HD_NONE;
    hd_module_free(m);
    return ok;
}

/* Is it the text of a call that did not fail? */
static bool shown(const char *text)
{
    return strcmp(text, "NULL") != 0;
}

static bool states(scenario_inputs *in)
{
    (void)in;
    hd_module *m = hd_sequential(hd_linear_new(3, 2, true), hd_layer_norm_new(2));
    hd_dict *d = m ? hd_module_state_dict(m) : NULL, *report = hd_dict_new();
    bool ok = d && report && hd_module_load_state_dict(m, d, true, report) &&
              shown(hd_module_summary(m)) && hd_module_get(m, "0") && hd_module_to(m, HD_FLOAT64);
    hd_dict_free(report);
    hd_dict_free(d);
    hd_module_free(m);
    return ok;
}

typedef struct two_parameters {
    hd_module base;
    hd_tensor *a, *b;
} two_parameters;

/* A load that fails leaves no gradient; the test checks that afterwards. */
static bool gradient_states(scenario_inputs *in)
{
    static const hd_module_type type = HD_MODULE_TYPE(two_parameters, "Two", NULL);
    two_parameters *m = (two_parameters *)hd_module_new(&type);
    hd_dict *d = hd_dict_new();
    bool ok = m && d && hd_register_parameter(&m->base, "a", &m->a, in->a) &&
              hd_register_parameter(&m->base, "b", &m->b, in->b) &&
              hd_dict_set(d, "g.a", hd_detach(in->a)) && hd_dict_set(d, "g.b", hd_detach(in->b));
    bool loaded = ok && hd_module_load_grads(&m->base, d, "g");
    ok = loaded && hd_module_save_grads(&m->base, d, "again");
    if (loaded) {
        hd_set_grad(in->a, HD_NONE);
        hd_set_grad(in->b, HD_NONE);
    }
    hd_dict_free(d);
    hd_module_free(m ? &m->base : NULL);
    return ok;
}

static bool optimizer_states(scenario_inputs *in)
{
    hd_list *parameters = hd_list_of(hd_parameter(hd_clone(hd_detach(in->a)), true));
    hd_optim *o = hd_adamw_new(parameters, NULL);
    hd_schedule *s = hd_linear_lr_new(o, 0.5, 1, 3);
    hd_dict *d = hd_dict_new();
    hd_tensor *p = parameters ? hd_list_get(parameters, 0) : NULL;
    bool ok = s && d && backward(hd_mul(p, p)) &&
              isfinite(hd_clip_grad_norm_(parameters, 1, 2, true)) && hd_optim_step(o) &&
              hd_schedule_step(s) && hd_optim_save(o, d, "optim") &&
              hd_schedule_save(s, d, "schedule") && hd_optim_load(o, d, "optim") &&
              hd_schedule_load(s, d, "schedule");
    hd_dict_free(d);
    hd_schedule_free(s);
    hd_optim_free(o);
    return ok;
}

static bool batches(scenario_inputs *in)
{
    (void)in;
    hd_tokenizer *t = hd_tokenizer_bytes();
    hd_tokens *tokens =
        hd_tokens_from(hd_tokenizer_encode(t, "every allocation", -1, HD_SPECIAL_TEXT));
    hd_dataset *windows = hd_windows_new(tokens, 3, 2);
    hd_loader_options o = hd_loader_defaults();
    o.shuffle = true;
    o.batch_size = 2;
    hd_loader *l = hd_loader_new(windows, &o);
    hd_dict *d = hd_dict_new();
    hd_tensor *x = NULL, *y = NULL;
    bool ok = l && d && hd_loader_next(l, &x, &y) && hd_loader_save(l, d, "loader") &&
              hd_loader_load(l, d, "loader") && hd_loader_next(l, &x, &y) &&
              hd_tokenizer_decode(t, x, NULL);
    hd_dict_free(d);
    hd_loader_free(l);
    hd_dataset_free(windows);
    hd_tokens_free(tokens);
    hd_tokenizer_free(t);
    return ok;
}

static bool files(scenario_inputs *in)
{
    char path[100];
    hd_dict *d = hd_dict_new(), *back = NULL;
    snprintf(path, sizeof path, "%s/scenario", in->folder);
    bool ok = d && hd_dict_set(d, "a", hd_detach(in->a)) && hd_save_safetensors(path, d) &&
              (back = hd_load_safetensors(path, NULL)) && hd_save_npy(path, in->index) &&
              hd_load_npy(path);
    hd_dict_free(back);
    hd_dict_free(d);
    remove(path);
    return ok;
}

static bool dictionaries(scenario_inputs *in)
{
    hd_dict *d = hd_dict_new();
    char name[16];
    bool ok = d;
    for (int i = 0; i < 40 && ok; i++) {
        snprintf(name, sizeof name, "entry %d", i);
        ok = i % 2 ? hd_dict_set_string(d, name, "text") : hd_dict_set(d, name, in->a);
    }
    ok = ok && hd_dict_get_string(d, "entry 7") && hd_dict_remove(d, "entry 8");
    hd_dict_free(d);
    return ok;
}

static bool texts(scenario_inputs *in)
{
    hd_generator *g = hd_generator_new(1);
    bool ok = g && shown(hd_repr(in->a)) && shown(hd_repr(in->h)) &&
              shown(hd_list_repr(hd_list_of(in->a, in->b))) && shown(hd_shape_repr(in->a)) &&
              hd_float_repr(0.1) && hd_grad_fn(in->h);
    hd_generator_free(g);
    return ok;
}

/* ---------------------------------------------------------------- all of them */

#define SCENARIO(flags, f)                                                                         \
    static void run_##f(world *w, outcome *o)                                                      \
    {                                                                                              \
        keep(o, thing_of_bool(f(&w->in)));                                                         \
    }
#include "faults_memory/scenarios.h"
#undef SCENARIO
#define SCENARIO(flags, f) {"scenario", #f, SEQUENCE | (flags), run_##f},
static const row rows[] = {
#include "faults_memory/scenarios.h"
};

const table table_scenarios = {"scenarios", rows, (int)(sizeof rows / sizeof rows[0]),
                               SCENARIOS | FOLDER, NULL};
