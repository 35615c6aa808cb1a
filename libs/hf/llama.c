/* llama.c - LlamaForCausalLM and Qwen2ForCausalLM, with the names and shapes of transformers.
 *
 *     model.embed_tokens, .layers.N.{input_layernorm, self_attn, post_attention_layernorm, mlp},
 *     .norm; lm_head */
#include <inttypes.h>

#include "hf/hf_internal.h"

typedef struct attention {
    hd_module base;
    hd_module *q_proj, *k_proj, *v_proj, *o_proj;
    int64_t heads, kv_heads;
} attention;

typedef struct mlp {
    hd_module base;
    hd_module *gate_proj, *up_proj, *down_proj, *act_fn;
} mlp;

typedef struct layer {
    hd_module base;
    hd_module *self_attn, *mlp, *input_layernorm, *post_attention_layernorm;
} layer;

typedef struct body {
    hd_module base;
    hd_module *embed_tokens, *layers, *norm;
} body;

/* The rows of the rotary tables for the tokens of a call: (t, head_dim), or with positions of their
 * own (b, 1, t, head_dim); and what these tokens see. */
typedef struct call {
    hd_tensor *cos, *sin;
    const hd__context *context;
} call;

hd_llama_config hd_llama_config_defaults(void)
{
    return (hd_llama_config){.size = sizeof(hd_llama_config),
                             .vocab_size = 32000,
                             .hidden_size = 4096,
                             .intermediate_size = 11008,
                             .num_hidden_layers = 32,
                             .num_attention_heads = 32,
                             .max_position_embeddings = 2048,
                             .rms_norm_eps = 1e-6,
                             .rope = hd_rotary_defaults(),
                             .initializer_range = 0.02,
                             .pad_token_id = HD_NO_PADDING};
}

/* ---------------------------------------------------------------- a layer */

/* The classes of a module in Llama and in Qwen 2 */
#define CLASSES(of, name, ...)                                                                     \
    {                                                                                              \
        HD_MODULE_TYPE(of, "Llama" name, __VA_ARGS__),                                             \
            HD_MODULE_TYPE(of, "Qwen2" name, __VA_ARGS__)                                          \
    }

static const hd_module_type attention_types[] = CLASSES(attention, "Attention", NULL);

int64_t hd__llama_heads(const hd_module *m)
{
    bool is = m->type == &attention_types[0] || m->type == &attention_types[1];
    return is ? ((const attention *)m)->heads : 0;
}

/* x (b, t, e) */
static hd_tensor *llama_attention_run(attention *m, hd_tensor *x, const call *c, int64_t layer)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    hd_tensor *q = hd__heads(hd_forward(m->q_proj, x), m->heads);
    hd_tensor *k = hd__heads(hd_forward(m->k_proj, x), m->kv_heads);
    hd_tensor *v = hd__heads(hd_forward(m->v_proj, x), m->kv_heads);
    q = hd_rotary(q, c->cos, c->sin);
    k = hd_rotary(k, c->cos, c->sin);
    hd_tensor *y = hd__hf_attend(q, k, v, c->context, layer, 0);
    return hd_forward_end(&m->base, hd_forward(m->o_proj, y));
}

static hd_module *llama_attention_new(const hd_llama_config *c)
{
    int64_t e = c->hidden_size, q = c->num_attention_heads * c->head_dim,
            kv = c->num_key_value_heads * c->head_dim;
    bool bias = c->qkv_bias || c->attention_bias;
    hd_module *self = hd__module_of(
        &attention_types[c->qkv_bias],
        HD__PARTS(HD__PART(attention, q_proj, hd_linear_new(e, q, bias)),
                  HD__PART(attention, k_proj, hd_linear_new(e, kv, bias)),
                  HD__PART(attention, v_proj, hd_linear_new(e, kv, bias)),
                  HD__PART(attention, o_proj, hd_linear_new(q, e, c->attention_bias))));
    if (self) {
        ((attention *)self)->heads = c->num_attention_heads;
        ((attention *)self)->kv_heads = c->num_key_value_heads;
    }
    return self;
}

/* down(act(gate(x)) * up(x)) */
static hd_tensor *llama_mlp_forward(hd_module *self, hd_tensor *x)
{
    mlp *m = (mlp *)self;
    hd_tensor *gate = hd_forward(m->act_fn, hd_forward(m->gate_proj, x));
    return hd_forward(m->down_proj, hd_mul(gate, hd_forward(m->up_proj, x)));
}

static hd_module *llama_mlp_new(const hd_llama_config *c)
{
    static const hd_module_type types[] = CLASSES(mlp, "MLP", llama_mlp_forward);
    int64_t e = c->hidden_size, inner = c->intermediate_size;
    return hd__module_of(&types[c->qkv_bias],
                         HD__PARTS(HD__PART(mlp, gate_proj, hd_linear_new(e, inner, c->mlp_bias)),
                                   HD__PART(mlp, up_proj, hd_linear_new(e, inner, c->mlp_bias)),
                                   HD__PART(mlp, down_proj, hd_linear_new(inner, e, c->mlp_bias)),
                                   HD__PART(mlp, act_fn, hd_silu_new(false))));
}

static const hd_module_type layer_types[] = CLASSES(layer, "DecoderLayer", NULL);

static hd_tensor *layer_run(layer *m, hd_tensor *x, const call *c, int64_t number)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    hd_tensor *y = hd_forward(m->input_layernorm, x);
    x = hd_add(x, llama_attention_run(hd__part_of(m->self_attn, attention_types, 2), y, c, number));
    y = hd_forward(m->post_attention_layernorm, x);
    return hd_forward_end(&m->base, hd_add(x, hd_forward(m->mlp, y)));
}

static hd_module *norm_of(const hd_llama_config *c)
{
    return hd_rms_norm_new(c->hidden_size, c->rms_norm_eps);
}

static hd_module *layer_new(const hd__config *config)
{
    const hd_llama_config *c = &config->llama;
    return hd__module_of(&layer_types[c->qkv_bias],
                         HD__PARTS(HD__PART(layer, self_attn, llama_attention_new(c)),
                                   HD__PART(layer, mlp, llama_mlp_new(c)),
                                   HD__PART(layer, input_layernorm, norm_of(c)),
                                   HD__PART(layer, post_attention_layernorm, norm_of(c))));
}

/* ---------------------------------------------------------------- the model */

static const hd_module_type body_types[] = CLASSES(body, "Model", NULL);

/* The rows of a table (n, head_dim) for t tokens */
static hd_tensor *rows_of(hd_tensor *table, const hd__context *c, int64_t t)
{
    if (!c->positions) {
        return hd_narrow(table, 0, c->seen ? c->seen->len : 0, t);
    }
    hd_tensor *rows = hd_index_select(table, 0, hd_flatten(c->positions, 0, 1));
    return hd_view(rows, hd_size(c->positions, 0), 1, t, hd_size(table, 1));
}

/* The tables of a text stand in `seen`, so that each token does not make them anew. */
static bool tables(const hd__model *m, int64_t t, call *c)
{
    hd__seen *seen = c->context->seen;
    const hd_rotary_options *rope = &m->config.llama.rope;
    hd_tensor *cos = seen ? seen->cos : NULL, *sin = seen ? seen->sin : NULL;
    if (!cos && !hd_rotary_tables(m->head_dim, seen ? seen->most : t, rope, &cos, &sin)) {
        return false;
    }
    if (seen && !seen->cos) {
        seen->cos = hd_retain(cos);
        seen->sin = hd_retain(sin);
    }
    c->cos = rows_of(cos, c->context, t);
    c->sin = rows_of(sin, c->context, t);
    return c->cos && c->sin;
}

static hd_tensor *llama_hidden(hd__model *m, hd_tensor *ids, const hd__context *context)
{
    body *b = hd__part_of(m->body, body_types, 2);
    call c = {.context = context};
    if (!b || !tables(m, hd_size(ids, 1), &c)) {
        return NULL;
    }
    hd_tensor *x = hd_forward(b->embed_tokens, ids); /* (b, t, e) */
    for (int64_t i = 0; i < hd_module_list_len(b->layers); i++) {
        x = layer_run(hd__part_of(hd_module_list_get(b->layers, i), layer_types, 2), x, &c, i);
    }
    return hd_forward(b->norm, x);
}

static hd_module *body_new(const hd__config *config, const hd_dtype *d)
{
    const hd_llama_config *c = &config->llama;
    return hd__module_of(
        &body_types[c->qkv_bias],
        HD__PARTS(
            HD__PART(
                body, embed_tokens,
                hd__stored(hd_embedding_new(c->vocab_size, c->hidden_size, c->pad_token_id), d)),
            HD__PART(body, layers, hd__layers(c->num_hidden_layers, layer_new, config, d)),
            HD__PART(body, norm, norm_of(c))));
}

hd_module *hd__llama_make(const char *caller, const hd_llama_config *c, const hd_dtype *d)
{
    static const hd_module_type types[] =
        CLASSES(hd__model, "ForCausalLM", hd__model_forward, hd__model_free);
    hd__config own = {.llama = hd_llama_config_defaults()};
    c = c ? c : &own.llama;
    if (!HD__SIBLING_OK(caller) || !HD__SIZE_OK_TO(caller, c, "hd_llama_config_defaults()")) {
        return NULL;
    }
    own.llama = *c;
    c = &own.llama;
    if (c->qkv_bias && (c->attention_bias || c->mlp_bias)) {
        return hd_error_set(HD_VALUE, "%s: qkv_bias and %s are true: expected one of them", caller,
                            c->attention_bias ? "attention_bias" : "mlp_bias");
    }
    int64_t heads = c->num_attention_heads;
    own.llama.num_key_value_heads = c->num_key_value_heads ? c->num_key_value_heads : heads;
    if (!hd__sizes_ok(caller, &own) ||
        (c->head_dim == 0 &&
         !hd__divides_ok(caller, "num_attention_heads", heads, "hidden_size", c->hidden_size)) ||
        !hd__divides_ok(caller, "num_key_value_heads", c->num_key_value_heads,
                        "num_attention_heads", heads)) {
        return NULL;
    }
    if (c->pad_token_id >= c->vocab_size ||
        (c->pad_token_id < -c->vocab_size && c->pad_token_id != HD_NO_PADDING)) {
        return hd_error_set(HD_VALUE,
                            "%s: pad_token_id %" PRId64 " and vocab_size %" PRId64
                            ": expected a token of the vocabulary",
                            caller, c->pad_token_id, c->vocab_size);
    }
    own.llama.head_dim = c->head_dim ? c->head_dim : c->hidden_size / heads;
    if (c->head_dim % 2 != 0) {
        return hd_error_set(HD_VALUE, "%s: head_dim %" PRId64 ": expected an even number", caller,
                            c->head_dim);
    }
    hd_tensor *cos, *sin; /* without rows: the options are checked */
    if (!hd_rotary_tables(c->head_dim, 0, &c->rope, &cos, &sin)) {
        return NULL;
    }
    hd_release(cos);
    hd_release(sin);
    return hd__model_new(&types[c->qkv_bias],
                         &(hd__model){.hidden = llama_hidden,
                                      .config = own,
                                      .layers = c->num_hidden_layers,
                                      .kv_heads = c->num_key_value_heads,
                                      .head_dim = c->head_dim,
                                      .positions = c->max_position_embeddings,
                                      .vocab = c->vocab_size,
                                      .width = c->hidden_size},
                         "model", body_new, c->initializer_range,
                         c->tie_word_embeddings ? "model.embed_tokens.weight" : NULL, d);
}

hd_module *hd_llama_new(const hd_llama_config *c)
{
    return hd__llama_make("hd_llama_new", c, NULL);
}
