/* gpt2.c - GPT2LMHeadModel, with the names and shapes of transformers.
 *
 *     transformer.wte, .wpe, .drop, .h.N.{ln_1, attn, ln_2, mlp}, .ln_f; lm_head */
#include "hf/hf_internal.h"

typedef struct conv1d { /* y = x W + b, with W (in, out) */
    hd_module base;
    hd_tensor *weight, *bias;
} conv1d;

typedef struct attention {
    hd_module base;
    hd_module *c_attn, *c_proj, *attn_dropout, *resid_dropout;
    int64_t heads;
    double dropout;
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

typedef struct gpt2 {
    hd__model model;
    hd_module *transformer;
} gpt2;

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
                            .tie_word_embeddings = true};
}

/* ---------------------------------------------------------------- Conv1D */

static hd_tensor *conv1d_forward(hd_module *self, hd_tensor *x)
{
    conv1d *m = (conv1d *)self;
    return hd_linear(x, hd_t(m->weight), m->bias);
}

static hd_module *conv1d_new(int64_t in, int64_t out)
{
    static const hd_module_type type = HD_MODULE_TYPE(conv1d, "Conv1D", conv1d_forward);
    conv1d *m = (conv1d *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    hd_scope *scope = hd_scope_open(); /* without one, registering NULL fails */
    hd_tensor *weight = scope ? hd_zeros(HD_FLOAT32, in, out) : NULL;
    hd_register_parameter(&m->base, "weight", &m->weight, hd_parameter(weight, true));
    hd_register_parameter(&m->base, "bias", &m->bias,
                          hd_parameter(hd_zeros(HD_FLOAT32, out), true));
    hd_scope_close(scope);
    return hd_module_ready(&m->base);
}

/* ---------------------------------------------------------------- a block */

/* x (b, t, e) */
static hd_tensor *gpt2_attention_run(attention *m, hd_tensor *x, hd__seen *seen, int64_t layer)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    hd_list *qkv = hd_chunk(hd_forward(m->c_attn, x), 3, 2);
    hd_tensor *of[3];
    for (int i = 0; i < 3; i++) {
        of[i] = hd__heads(hd_list_get(qkv, i), m->heads);
    }
    double dropout = hd_module_training(&m->base) ? m->dropout : 0;
    hd_tensor *y = hd__hf_attend(of[0], of[1], of[2], seen, layer, dropout);
    y = hd_forward(m->resid_dropout, hd_forward(m->c_proj, y));
    return hd_forward_end(&m->base, y);
}

static hd_module *gpt2_attention_new(const hd_gpt2_config *c)
{
    static const hd_module_type type = HD_MODULE_TYPE(attention, "GPT2Attention", NULL);
    attention *m = (attention *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    m->heads = c->n_head;
    m->dropout = c->attn_pdrop;
    hd_register_module(&m->base, "c_attn", &m->c_attn, conv1d_new(c->n_embd, 3 * c->n_embd));
    hd_register_module(&m->base, "c_proj", &m->c_proj, conv1d_new(c->n_embd, c->n_embd));
    hd_register_module(&m->base, "attn_dropout", &m->attn_dropout,
                       hd_dropout_new(c->attn_pdrop, false));
    hd_register_module(&m->base, "resid_dropout", &m->resid_dropout,
                       hd_dropout_new(c->resid_pdrop, false));
    return hd_module_ready(&m->base);
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
    mlp *m = (mlp *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    int64_t inner = c->n_inner ? c->n_inner : 4 * c->n_embd;
    hd_register_module(&m->base, "c_fc", &m->c_fc, conv1d_new(c->n_embd, inner));
    hd_register_module(&m->base, "c_proj", &m->c_proj, conv1d_new(inner, c->n_embd));
    hd_register_module(&m->base, "act", &m->act, hd_gelu_new("tanh"));
    hd_register_module(&m->base, "dropout", &m->dropout, hd_dropout_new(c->resid_pdrop, false));
    return hd_module_ready(&m->base);
}

static hd_tensor *gpt2_block_run(block *m, hd_tensor *x, hd__seen *seen, int64_t layer)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    x = hd_add(x, gpt2_attention_run(hd__part(m->attn, "GPT2Attention", ""), hd_forward(m->ln_1, x),
                                     seen, layer));
    x = hd_add(x, hd_forward(m->mlp, hd_forward(m->ln_2, x)));
    return hd_forward_end(&m->base, x);
}

static hd_module *norm_new(const hd_gpt2_config *c)
{
    return hd_layer_norm_new_n(1, &c->n_embd, c->layer_norm_epsilon, true, true);
}

static hd_module *block_new(const hd_gpt2_config *c)
{
    static const hd_module_type type = HD_MODULE_TYPE(block, "GPT2Block", NULL);
    block *m = (block *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    hd_register_module(&m->base, "ln_1", &m->ln_1, norm_new(c));
    hd_register_module(&m->base, "attn", &m->attn, gpt2_attention_new(c));
    hd_register_module(&m->base, "ln_2", &m->ln_2, norm_new(c));
    hd_register_module(&m->base, "mlp", &m->mlp, gpt2_mlp_new(c));
    return hd_module_ready(&m->base);
}

/* ---------------------------------------------------------------- the model */

static hd_tensor *gpt2_hidden(hd_module *self, hd_tensor *ids, hd__seen *seen)
{
    transformer *m = hd__part(((gpt2 *)self)->transformer, "GPT2Model", "");
    if (!m) {
        return NULL;
    }
    int64_t before = seen ? seen->len : 0;
    hd_tensor *x = hd_add(hd_forward(m->wte, ids),
                          hd_forward(m->wpe, hd_arange(before, before + hd_size(ids, 1), 1)));
    x = hd_forward(m->drop, x);
    for (int64_t i = 0; i < hd_module_list_len(m->h); i++) {
        x = gpt2_block_run(hd__part(hd_module_list_get(m->h, i), "GPT2Block", ""), x, seen, i);
    }
    return hd_forward(m->ln_f, x);
}

static hd_tensor *gpt2_forward(hd_module *self, hd_tensor *ids)
{
    gpt2 *m = (gpt2 *)self;
    return hd__ids_ok(&m->model, ids, NULL)
               ? hd_forward(m->model.head, gpt2_hidden(self, ids, NULL))
               : NULL;
}

static const hd_module_type gpt2_type = HD_MODULE_TYPE(gpt2, "GPT2LMHeadModel", gpt2_forward);

bool hd__is_gpt2(const hd_module *m)
{
    return m->type == &gpt2_type;
}

static hd_module *transformer_new(const hd_gpt2_config *c, hd_dtype d)
{
    static const hd_module_type type = HD_MODULE_TYPE(transformer, "GPT2Model", NULL);
    transformer *m = (transformer *)hd_module_new(&type);
    if (!m) {
        return NULL;
    }
    hd_module *blocks = hd_module_list_n(0, NULL);
    bool ok = blocks;
    for (int64_t i = 0; ok && i < c->n_layer; i++) {
        ok = hd_module_list_append(blocks, hd__stored(block_new(c), d));
    }
    if (!ok) {
        hd_module_free(blocks);
        blocks = NULL;
    }
    hd_register_module(&m->base, "wte", &m->wte,
                       hd__stored(hd_embedding_new(c->vocab_size, c->n_embd, HD_NO_PADDING), d));
    hd_register_module(&m->base, "wpe", &m->wpe,
                       hd__stored(hd_embedding_new(c->n_positions, c->n_embd, HD_NO_PADDING), d));
    hd_register_module(&m->base, "drop", &m->drop, hd_dropout_new(c->embd_pdrop, false));
    hd_register_module(&m->base, "h", &m->h, blocks);
    hd_register_module(&m->base, "ln_f", &m->ln_f, norm_new(c));
    return hd_module_ready(&m->base);
}

hd_module *hd__gpt2_make(const char *caller, const hd_gpt2_config *c, hd_dtype d)
{
    if (!hd__sizes_ok(caller, (hd__named_size[]){{"vocab_size", c->vocab_size},
                                                 {"n_positions", c->n_positions},
                                                 {"n_embd", c->n_embd},
                                                 {"n_layer", c->n_layer},
                                                 {"n_head", c->n_head},
                                                 {"n_inner", c->n_inner ? c->n_inner : 1},
                                                 {NULL, 0}}) ||
        !hd__divides_ok(caller, "n_head", c->n_head, "n_embd", c->n_embd)) {
        return NULL;
    }
    gpt2 *m = (gpt2 *)hd_module_new(&gpt2_type);
    if (!m) {
        return NULL;
    }
    m->model = (hd__model){.base = m->model.base,
                           .hidden = gpt2_hidden,
                           .config = {.is_gpt2 = true, .gpt2 = *c},
                           .layers = c->n_layer,
                           .kv_heads = c->n_head,
                           .head_dim = c->n_embd / c->n_head,
                           .positions = c->n_positions,
                           .vocab = c->vocab_size};
    bool draw = hd_set_init_mode(false);
    hd_module *self = &m->model.base;
    hd_register_module(self, "transformer", &m->transformer, transformer_new(c, d));
    hd_register_module(self, "lm_head", &m->model.head,
                       hd__stored(hd_linear_new(c->n_embd, c->vocab_size, false), d));
    return hd__model_ready(&m->model, draw, c->initializer_range,
                           c->tie_word_embeddings ? "transformer.wte.weight" : NULL);
}

hd_module *hd_gpt2_new(const hd_gpt2_config *c)
{
    static const char function[] = "hd_gpt2_new";
    hd_gpt2_config defaults = hd_gpt2_config_defaults();
    c = c ? c : &defaults;
    return HD__SIZE_OK_TO(function, c, "hd_gpt2_config_defaults()")
               ? hd__gpt2_make(function, c, HD_FLOAT32)
               : NULL;
}
