/* gpt2.c - GPT2LMHeadModel, with the names and shapes of transformers.
 *
 *     transformer.wte, .wpe, .drop, .h.N.{ln_1, attn, ln_2, mlp}, .ln_f; lm_head */
#include <inttypes.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include "hf/hf_internal.h"

typedef struct conv1d { /* y = x W + b, with W (in, out) */
    hd_module base;
    hd_tensor *weight, *bias;
} conv1d;

typedef struct attention {
    hd_module base;
    hd_module *c_attn, *c_proj, *attn_dropout, *resid_dropout;
    int64_t heads;
} attention;

typedef struct mlp {
    hd_module base;
    hd_module *c_fc, *c_proj, *act, *dropout;
} mlp;

typedef struct block {
    hd_module base;
    hd_module *ln_1, *attn, *ln_2, *mlp;
} block;

typedef struct transformer {
    hd_module base;
    hd_module *wte, *wpe, *drop, *h, *ln_f;
} transformer;

hd_gpt2_config hd_gpt2_config_defaults(void)
{
    return (hd_gpt2_config){.size = sizeof(hd_gpt2_config),
                            .vocab_size = 50257,
                            .n_positions = 1024,
                            .n_embd = 768,
                            .n_layer = 12,
                            .n_head = 12,
                            .layer_norm_epsilon = 1e-5,
                            .embd_pdrop = 0.1,
                            .attn_pdrop = 0.1,
                            .resid_pdrop = 0.1,
                            .initializer_range = 0.02,
                            .tie_word_embeddings = true,
                            .activation_function = "gelu_new"};
}

/* ---------------------------------------------------------------- the activation */

/* The name in transformers, and `approximate` of hd_gelu_new; NULL: it is relu. */
static const char *const activations[][2] = {
    {"gelu_new", "tanh"}, {"gelu_pytorch_tanh", "tanh"}, {"gelu", "none"}, {"relu", NULL}};

static const char *const *activation_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof activations / sizeof *activations; i++) {
        if (strcmp(activations[i][0], name) == 0) {
            return activations[i];
        }
    }
    return NULL;
}

const char *hd__activation(const char *name)
{
    const char *const *a = activation_of(name);
    return a ? a[0] : NULL;
}

static hd_module *gpt2_activation_new(const char *name)
{
    const char *approximate = activation_of(name)[1];
    return approximate ? hd_gelu_new(approximate) : hd_relu_new(false);
}

/* ---------------------------------------------------------------- Conv1D */

static hd_tensor *conv1d_forward(hd_module *self, hd_tensor *x)
{
    conv1d *m = (conv1d *)self;
    return hd_linear(x, hd_t(m->weight), m->bias);
}

static void conv1d_extra(const hd_module *self, char *text, size_t n)
{
    const conv1d *m = (const conv1d *)self;
    snprintf(text, n, "nf=%" PRId64 ", nx=%" PRId64, hd_size(m->weight, 1), hd_size(m->weight, 0));
}

static hd_module *conv1d_new(int64_t in, int64_t out)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(conv1d, "Conv1D", conv1d_forward, NULL, conv1d_extra);
    conv1d *m = (conv1d *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    HD__OWN_SCOPE(scope); /* without one, registering NULL fails */
    hd_tensor *weight = scope ? hd_zeros(HD_FLOAT32, in, out) : NULL;
    hd_register_parameter(&m->base, "weight", &m->weight, hd_parameter(weight, true));
    hd_register_parameter(&m->base, "bias", &m->bias,
                          hd_parameter(hd_zeros(HD_FLOAT32, out), true));
    return hd_module_ready(&m->base);
}

/* ---------------------------------------------------------------- a block */

static const hd_module_type attention_type = HD_MODULE_TYPE(attention, "GPT2Attention", NULL);

int64_t hd__gpt2_heads(const hd_module *m)
{
    return m->type == &attention_type ? ((const attention *)m)->heads : 0;
}

/* x (b, t, e) */
static hd_tensor *gpt2_attention_run(attention *m, hd_tensor *x, const hd__context *c,
                                     int64_t layer)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    double dropout = hd_module_training(&m->base) ? hd_dropout_p(m->attn_dropout) : 0;
    hd_list *qkv = hd_chunk(hd_forward(m->c_attn, x), 3, 2);
    hd_tensor *of[3];
    for (int i = 0; i < 3; i++) {
        of[i] = hd__heads(hd_list_get(qkv, i), m->heads);
    }
    hd_tensor *y = isnan(dropout) ? NULL : hd__hf_attend(of[0], of[1], of[2], c, layer, dropout);
    y = hd_forward(m->resid_dropout, hd_forward(m->c_proj, y));
    return hd_forward_end(&m->base, y);
}

static hd_module *gpt2_attention_new(const hd_gpt2_config *c)
{
    int64_t e = c->n_embd;
    hd_module *self = hd__module_of(
        &attention_type,
        HD__PARTS(HD__PART(attention, c_attn, conv1d_new(e, 3 * e)),
                  HD__PART(attention, c_proj, conv1d_new(e, e)),
                  HD__PART(attention, attn_dropout, hd_dropout_new(c->attn_pdrop, false)),
                  HD__PART(attention, resid_dropout, hd_dropout_new(c->resid_pdrop, false))));
    if (self) {
        ((attention *)self)->heads = c->n_head;
    }
    return self;
}

static hd_tensor *gpt2_mlp_forward(hd_module *self, hd_tensor *x)
{
    mlp *m = (mlp *)self;
    x = hd_forward(m->act, hd_forward(m->c_fc, x));
    return hd_forward(m->dropout, hd_forward(m->c_proj, x));
}

static hd_module *gpt2_mlp_new(const hd_gpt2_config *c)
{
    static const hd_module_type type = HD_MODULE_TYPE(mlp, "GPT2MLP", gpt2_mlp_forward);
    int64_t e = c->n_embd, inner = c->n_inner ? c->n_inner : 4 * e;
    return hd__module_of(&type,
                         HD__PARTS(HD__PART(mlp, c_fc, conv1d_new(e, inner)),
                                   HD__PART(mlp, c_proj, conv1d_new(inner, e)),
                                   HD__PART(mlp, act, gpt2_activation_new(c->activation_function)),
                                   HD__PART(mlp, dropout, hd_dropout_new(c->resid_pdrop, false))));
}

static const hd_module_type block_type = HD_MODULE_TYPE(block, "GPT2Block", NULL);

static hd_tensor *gpt2_block_run(block *m, hd_tensor *x, const hd__context *c, int64_t layer)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    x = hd_add(x, gpt2_attention_run(hd__part_of(m->attn, &attention_type, 1),
                                     hd_forward(m->ln_1, x), c, layer));
    x = hd_add(x, hd_forward(m->mlp, hd_forward(m->ln_2, x)));
    return hd_forward_end(&m->base, x);
}

static hd_module *norm_new(const hd_gpt2_config *c)
{
    return hd_layer_norm_new_n(1, &c->n_embd, c->layer_norm_epsilon, true, true);
}

static hd_module *block_new(const hd__config *config)
{
    const hd_gpt2_config *c = &config->gpt2;
    return hd__module_of(&block_type, HD__PARTS(HD__PART(block, ln_1, norm_new(c)),
                                                HD__PART(block, attn, gpt2_attention_new(c)),
                                                HD__PART(block, ln_2, norm_new(c)),
                                                HD__PART(block, mlp, gpt2_mlp_new(c))));
}

/* ---------------------------------------------------------------- the model */

static const hd_module_type transformer_type = HD_MODULE_TYPE(transformer, "GPT2Model", NULL);

static hd_tensor *gpt2_hidden(hd__model *model, hd_tensor *ids, const hd__context *c)
{
    transformer *m = hd__part_of(model->body, &transformer_type, 1);
    if (!m) {
        return NULL;
    }
    int64_t before = c->seen ? c->seen->len : 0;
    hd_tensor *at = c->positions ? c->positions : hd_arange(before, before + hd_size(ids, 1), 1);
    hd_tensor *x = hd_forward(m->drop, hd_add(hd_forward(m->wte, ids), hd_forward(m->wpe, at)));
    for (int64_t i = 0; i < hd_module_list_len(m->h); i++) {
        x = gpt2_block_run(hd__part_of(hd_module_list_get(m->h, i), &block_type, 1), x, c, i);
    }
    return hd_forward(m->ln_f, x);
}

static hd_module *transformer_new(const hd__config *config, const hd_dtype *d)
{
    const hd_gpt2_config *c = &config->gpt2;
    int64_t e = c->n_embd;
    return hd__module_of(
        &transformer_type,
        HD__PARTS(HD__PART(transformer, wte,
                           hd__stored(hd_embedding_new(c->vocab_size, e, HD_NO_PADDING), d)),
                  HD__PART(transformer, wpe,
                           hd__stored(hd_embedding_new(c->n_positions, e, HD_NO_PADDING), d)),
                  HD__PART(transformer, drop, hd_dropout_new(c->embd_pdrop, false)),
                  HD__PART(transformer, h, hd__layers(c->n_layer, block_new, config, d)),
                  HD__PART(transformer, ln_f, norm_new(c))));
}

hd_module *hd__gpt2_make(const char *caller, const hd_gpt2_config *c, const hd_dtype *d)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(hd__model, "GPT2LMHeadModel", hd__model_forward, hd__model_free);
    hd_gpt2_config defaults = hd_gpt2_config_defaults();
    c = c ? c : &defaults;
    if (!HD__SIBLING_OK(caller) || !HD__SIZE_OK_TO(caller, c, "hd_gpt2_config_defaults()")) {
        return NULL;
    }
    hd__config config = {.is_gpt2 = true, .gpt2 = *c};
    const char *given = c->activation_function;
    config.gpt2.activation_function = hd__activation(given);
    if (!config.gpt2.activation_function) {
        given = given ? given : "NULL";
        return hd_error_set(HD_VALUE, "%s: activation_function %.*s: expected " HD__ACTIVATIONS,
                            caller, HD__CUT(given));
    }
    if (!hd__sizes_ok(caller, &config) ||
        !hd__divides_ok(caller, "n_head", c->n_head, "n_embd", c->n_embd)) {
        return NULL;
    }
    return hd__model_new(&type,
                         &(hd__model){.hidden = gpt2_hidden,
                                      .config = config,
                                      .layers = c->n_layer,
                                      .kv_heads = c->n_head,
                                      .head_dim = c->n_embd / c->n_head,
                                      .positions = c->n_positions,
                                      .vocab = c->vocab_size,
                                      .width = c->n_embd},
                         "transformer", transformer_new, c->initializer_range,
                         c->tie_word_embeddings ? "transformer.wte.weight" : NULL, d);
}

hd_module *hd_gpt2_new(const hd_gpt2_config *c)
{
    return hd__gpt2_make("hd_gpt2_new", c, NULL);
}
