/* gpt2.c - the family GPT-2: GPT2LMHeadModel, with the names and shapes of transformers.
 *
 *     transformer.wte, .wpe, .drop, .h.N.{ln_1, attn, ln_2, mlp}, .ln_f; lm_head */
#include <inttypes.h>
#include <stdio.h>
#include <math.h>

#include "hf/family.h"

typedef struct conv1d { /* the layer y = x @ W + b, whose weight W is (in, out) */
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
    HD__SCOPE_OR(hd__hf_module_if(false, &m->base));
    hd_register_parameter(&m->base, "weight", &m->weight,
                          hd_parameter(hd_zeros(HD_FLOAT32, in, out), true));
    hd_register_parameter(&m->base, "bias", &m->bias,
                          hd_parameter(hd_zeros(HD_FLOAT32, out), true));
    return hd_module_ready(&m->base);
}

/* ---------------------------------------------------------------- a block */

static const hd_module_type attention_type = HD_MODULE_TYPE(attention, "GPT2Attention", NULL);

static int64_t gpt2_heads(const hd_module *m)
{
    return m->type == &attention_type ? ((const attention *)m)->heads : 0;
}

/* Returns the output (b, t, e) of the attention m of layer number `layer` for x (b, t, e), or NULL
 * on failure. */
static hd_tensor *gpt2_attention_run(attention *m, hd_tensor *x, const hd__hf_context *c,
                                     int64_t layer)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    double dropout = hd_module_training(&m->base) ? hd_dropout_p(m->attn_dropout) : 0;
    hd_list *qkv = hd_chunk(hd_forward(m->c_attn, x), 3, 2);
    hd_tensor *of[3];
    for (int i = 0; i < 3; i++) {
        of[i] = hd__hf_heads(hd_list_get(qkv, i), m->heads);
    }
    hd_tensor *y = isnan(dropout) ? NULL : hd__hf_attend(of[0], of[1], of[2], c, layer, dropout);
    y = hd_forward(m->resid_dropout, hd_forward(m->c_proj, y));
    return hd_forward_end(&m->base, y);
}

static hd_module *gpt2_attention_new(const hd_gpt2_config *c)
{
    int64_t e = c->n_embd;
    hd_module *self = hd__hf_module_of(
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
    return hd__hf_module_of(
        &type, HD__PARTS(HD__PART(mlp, c_fc, conv1d_new(e, inner)),
                         HD__PART(mlp, c_proj, conv1d_new(inner, e)),
                         HD__PART(mlp, act, hd__hf_activation_new(c->activation_function)),
                         HD__PART(mlp, dropout, hd_dropout_new(c->resid_pdrop, false))));
}

static const hd_module_type block_type = HD_MODULE_TYPE(block, "GPT2Block", NULL);

static hd_tensor *gpt2_block_run(block *m, hd_tensor *x, const hd__hf_context *c, int64_t layer)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    x = hd_add(x, gpt2_attention_run(hd__hf_part_of(m->attn, &attention_type),
                                     hd_forward(m->ln_1, x), c, layer));
    x = hd_add(x, hd_forward(m->mlp, hd_forward(m->ln_2, x)));
    return hd_forward_end(&m->base, x);
}

static hd_module *norm_new(const hd_gpt2_config *c)
{
    return hd_layer_norm_new_n(1, &c->n_embd, c->layer_norm_epsilon, true, true);
}

static hd_module *block_new(const hd__hf_config *config, int64_t layer)
{
    const hd_gpt2_config *c = config->values;
    (void)layer;
    return hd__hf_module_of(&block_type, HD__PARTS(HD__PART(block, ln_1, norm_new(c)),
                                                   HD__PART(block, attn, gpt2_attention_new(c)),
                                                   HD__PART(block, ln_2, norm_new(c)),
                                                   HD__PART(block, mlp, gpt2_mlp_new(c))));
}

/* ---------------------------------------------------------------- the model */

static const hd_module_type transformer_type = HD_MODULE_TYPE(transformer, "GPT2Model", NULL);

static hd_tensor *gpt2_hidden(hd__hf_model *model, hd_tensor *ids, const hd__hf_context *c)
{
    transformer *m = hd__hf_part_of(model->body, &transformer_type);
    if (!m) {
        return NULL;
    }
    int64_t before = c->seen ? c->seen->len : 0;
    hd_tensor *at = c->positions ? c->positions : hd_arange(before, before + hd_size(ids, 1), 1);
    hd_tensor *x = hd_forward(m->drop, hd_add(hd_forward(m->wte, ids), hd_forward(m->wpe, at)));
    for (int64_t i = 0; i < hd_module_list_len(m->h); i++) {
        x = gpt2_block_run(hd__hf_part_of(hd_module_list_get(m->h, i), &block_type), x, c, i);
    }
    return hd_forward(m->ln_f, x);
}

static int64_t gpt2_positions(const hd__hf_model *model)
{
    const transformer *m = (const transformer *)model->body;
    const hd_gpt2_config *c = model->config.values;
    bool known = m && m->base.type == &transformer_type;
    return known ? hd__hf_embedding_rows(m->wpe, c->n_positions) : c->n_positions;
}

static hd_module *transformer_new(const hd__hf_config *config, const hd_dtype *d)
{
    const hd_gpt2_config *c = config->values;
    int64_t e = c->n_embd;
    return hd__hf_module_of(
        &transformer_type,
        HD__PARTS(HD__PART(transformer, wte,
                           hd__hf_stored(hd_embedding_new(c->vocab_size, e, HD_NO_PADDING), d)),
                  HD__PART(transformer, wpe,
                           hd__hf_stored(hd_embedding_new(c->n_positions, e, HD_NO_PADDING), d)),
                  HD__PART(transformer, drop, hd_dropout_new(c->embd_pdrop, false)),
                  HD__PART(transformer, h, hd__hf_layers(config, block_new, d)),
                  HD__PART(transformer, ln_f, norm_new(c))));
}

static bool gpt2_resolve(hd__hf_config *config)
{
    hd_gpt2_config *c = config->values;
    const char *given = c->activation_function ? c->activation_function : "NULL";
    c->activation_function = hd__hf_activation(given);
    if (!c->activation_function) {
        return hd__hf_config_refuse(config, "activation_function %.*s: expected " HD__ACTIVATIONS,
                                    HD__CUT(given));
    }
    return hd__hf_divides_ok(config, "n_head", c->n_head, "n_embd", c->n_embd);
}

static double gpt2_elements(const hd__hf_config *config)
{
    const hd_gpt2_config *c = config->values;
    double e = (double)c->n_embd, inner = c->n_inner ? (double)c->n_inner : 4 * e;
    return e * ((double)c->vocab_size + (double)c->n_positions) +
           (double)c->n_layer * (4 * e * e + 2 * e * inner);
}

hd_module *hd_gpt2_new(const hd_gpt2_config *c)
{
    HD__CALL("hd_gpt2_new");
    bool sized = !c || HD__SIZE_OK(c, "hd_gpt2_config_defaults()");
    return sized ? hd__hf_model_make(&hd__hf_gpt2_family, c, NULL) : NULL;
}

/* ---------------------------------------------------------------- the description of the family */

#define GPT2(kind, field) HD__FIELD(hd_gpt2_config, kind, field)
#define ALIAS(name, field) HD__ROW(name, HD__ALIAS, offsetof(hd_gpt2_config, field), NULL)

static const hd__hf_config_key gpt2_keys[] = {
    GPT2(SIZE, vocab_size),
    GPT2(SIZE, n_positions),
    GPT2(SIZE, n_embd),
    GPT2(SIZE, n_layer),
    GPT2(SIZE, n_head),
    GPT2(DERIVED, n_inner),
    GPT2(FLOAT, layer_norm_epsilon),
    GPT2(NUMBER, embd_pdrop),
    GPT2(NUMBER, attn_pdrop),
    GPT2(NUMBER, resid_pdrop),
    GPT2(FLOAT, initializer_range),
    GPT2(BOOL, tie_word_embeddings),
    GPT2(ACTIVATION, activation_function),
    ALIAS("max_position_embeddings", n_positions),
    ALIAS("hidden_size", n_embd),
    ALIAS("num_hidden_layers", n_layer),
    ALIAS("num_attention_heads", n_head),
    HD__CHECKED("pad_token_id", INT, NULL),
    HD__CHECKED("reorder_and_upcast_attn", BOOL, NULL), /* its value matters in float16 only */
    HD__ONLY_ROW("scale_attn_weights", "true"),
    HD__ONLY_ROW("scale_attn_by_inverse_layer_idx", "false"),
    HD__ONLY_ROW("add_cross_attention", "false"),
    HD__COMMON_KEYS("gpt2"),
    HD__LAST_ROW(INT),
};

static const hd__hf_known gpt2_known[] = {
    {"vocab_size", HD__ROWS, "transformer.wte"},
    {"n_positions", HD__ROWS, "transformer.wpe"},
    {"n_layer", HD__LENGTH, "transformer.h"},
    {"n_inner", HD__COLUMNS, ".c_fc"},
    {"layer_norm_epsilon", HD__EPS, "transformer.ln_f"},
    {"embd_pdrop", HD__P, "transformer.drop"},
    {"attn_pdrop", HD__P, ".attn_dropout"},
    {"resid_pdrop", HD__P, ".resid_dropout"},
    {"activation_function", HD__ACT, ".mlp.act"},
    {NULL, HD__ROWS, NULL},
};

static void gpt2_defaults(void *values)
{
    *(hd_gpt2_config *)values = hd_gpt2_config_defaults();
}

const hd__hf_family hd__hf_gpt2_family = {
    .model_type = "gpt2",
    .type = HD__MODEL_TYPE("GPT2LMHeadModel"),
    .size = sizeof(hd_gpt2_config),
    .defaults = gpt2_defaults,
    .keys = {gpt2_keys, HD__IDLE "n_ctx summary_", NULL, false},
    .bos_token_id = 50256,
    .eos_token_id = 50256,
    .rope = HD__NOWHERE,
    .resolve = gpt2_resolve,
    .elements = gpt2_elements,
    .body_new = transformer_new,
    .hidden = gpt2_hidden,
    .positions = gpt2_positions,
    .body = "transformer",
    .words = "transformer.wte",
    .layers = "n_layer",
    .known = gpt2_known,
    .heads = gpt2_heads,
    .bare_names = true,
    .passed_over = ".attn.bias .attn.masked_bias",
};
