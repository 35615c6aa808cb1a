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

typedef struct llama {
    hd__model model;
    hd_module *body;
} llama;

/* The rows of the rotary tables for the tokens of a call, and the cache; NULL: none. */
typedef struct call {
    hd_tensor *cos, *sin;
    hd__seen *seen;
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
    hd_tensor *y = hd__hf_attend(q, k, v, c->seen, layer, 0);
    return hd_forward_end(&m->base, hd_forward(m->o_proj, y));
}

static hd_module *llama_attention_new(const hd_llama_config *c)
{
    static const hd_module_type llama_type = HD_MODULE_TYPE(attention, "LlamaAttention", NULL);
    static const hd_module_type qwen2_type = HD_MODULE_TYPE(attention, "Qwen2Attention", NULL);
    attention *m = (attention *)hd_module_new(c->qkv_bias ? &qwen2_type : &llama_type);
    if (!m) {
        return NULL;
    }
    int64_t e = c->hidden_size, q = c->num_attention_heads * c->head_dim,
            kv = c->num_key_value_heads * c->head_dim;
    m->heads = c->num_attention_heads;
    m->kv_heads = c->num_key_value_heads;
    hd_register_module(&m->base, "q_proj", &m->q_proj, hd_linear_new(e, q, c->qkv_bias));
    hd_register_module(&m->base, "k_proj", &m->k_proj, hd_linear_new(e, kv, c->qkv_bias));
    hd_register_module(&m->base, "v_proj", &m->v_proj, hd_linear_new(e, kv, c->qkv_bias));
    hd_register_module(&m->base, "o_proj", &m->o_proj, hd_linear_new(q, e, false));
    return hd_module_ready(&m->base);
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
    static const hd_module_type llama_type = HD_MODULE_TYPE(mlp, "LlamaMLP", llama_mlp_forward);
    static const hd_module_type qwen2_type = HD_MODULE_TYPE(mlp, "Qwen2MLP", llama_mlp_forward);
    mlp *m = (mlp *)hd_module_new(c->qkv_bias ? &qwen2_type : &llama_type);
    if (!m) {
        return NULL;
    }
    int64_t e = c->hidden_size, inner = c->intermediate_size;
    hd_register_module(&m->base, "gate_proj", &m->gate_proj, hd_linear_new(e, inner, false));
    hd_register_module(&m->base, "up_proj", &m->up_proj, hd_linear_new(e, inner, false));
    hd_register_module(&m->base, "down_proj", &m->down_proj, hd_linear_new(inner, e, false));
    hd_register_module(&m->base, "act_fn", &m->act_fn, hd_silu_new(false));
    return hd_module_ready(&m->base);
}

static hd_tensor *layer_run(layer *m, hd_tensor *x, const call *c, int64_t number)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    hd_tensor *y = hd_forward(m->input_layernorm, x);
    x = hd_add(x, llama_attention_run(hd__part(m->self_attn, "LlamaAttention", "Qwen2Attention"), y,
                                      c, number));
    y = hd_forward(m->post_attention_layernorm, x);
    return hd_forward_end(&m->base, hd_add(x, hd_forward(m->mlp, y)));
}

static hd_module *layer_new(const hd_llama_config *c)
{
    static const hd_module_type llama_type = HD_MODULE_TYPE(layer, "LlamaDecoderLayer", NULL);
    static const hd_module_type qwen2_type = HD_MODULE_TYPE(layer, "Qwen2DecoderLayer", NULL);
    layer *m = (layer *)hd_module_new(c->qkv_bias ? &qwen2_type : &llama_type);
    if (!m) {
        return NULL;
    }
    hd_register_module(&m->base, "self_attn", &m->self_attn, llama_attention_new(c));
    hd_register_module(&m->base, "mlp", &m->mlp, llama_mlp_new(c));
    hd_register_module(&m->base, "input_layernorm", &m->input_layernorm,
                       hd_rms_norm_new(c->hidden_size, c->rms_norm_eps));
    hd_register_module(&m->base, "post_attention_layernorm", &m->post_attention_layernorm,
                       hd_rms_norm_new(c->hidden_size, c->rms_norm_eps));
    return hd_module_ready(&m->base);
}

/* ---------------------------------------------------------------- the model */

/* The tables of a text stand in `seen`, so that each token does not make them anew. */
static bool tables(const hd__model *m, int64_t t, call *c)
{
    hd__seen *seen = c->seen;
    const hd_rotary_options *rope = &m->config.llama.rope;
    if (!seen) {
        return hd_rotary_tables(m->head_dim, t, rope, &c->cos, &c->sin);
    }
    if (!seen->cos) {
        if (!hd_rotary_tables(m->head_dim, seen->most, rope, &c->cos, &c->sin)) {
            return false;
        }
        seen->cos = hd_retain(c->cos);
        seen->sin = hd_retain(c->sin);
    }
    c->cos = hd_narrow(seen->cos, 0, seen->len, t); /* (t, head_dim) */
    c->sin = hd_narrow(seen->sin, 0, seen->len, t);
    return c->cos && c->sin;
}

static hd_tensor *llama_hidden(hd_module *self, hd_tensor *ids, hd__seen *seen)
{
    body *b = hd__part(((llama *)self)->body, "LlamaModel", "Qwen2Model");
    call c = {.seen = seen};
    if (!b || !tables((hd__model *)self, hd_size(ids, 1), &c)) {
        return NULL;
    }
    hd_tensor *x = hd_forward(b->embed_tokens, ids); /* (b, t, e) */
    for (int64_t i = 0; i < hd_module_list_len(b->layers); i++) {
        x = layer_run(
            hd__part(hd_module_list_get(b->layers, i), "LlamaDecoderLayer", "Qwen2DecoderLayer"), x,
            &c, i);
    }
    return hd_forward(b->norm, x);
}

static hd_tensor *llama_forward(hd_module *self, hd_tensor *ids)
{
    llama *m = (llama *)self;
    return hd__ids_ok(&m->model, ids, NULL)
               ? hd_forward(m->model.head, llama_hidden(self, ids, NULL))
               : NULL;
}

static const hd_module_type llama_type = HD_MODULE_TYPE(llama, "LlamaForCausalLM", llama_forward);
static const hd_module_type qwen2_type = HD_MODULE_TYPE(llama, "Qwen2ForCausalLM", llama_forward);

bool hd__is_llama(const hd_module *m)
{
    return m->type == &llama_type || m->type == &qwen2_type;
}

static hd_module *body_new(const hd_llama_config *c, hd_dtype d)
{
    static const hd_module_type llama_model = HD_MODULE_TYPE(body, "LlamaModel", NULL);
    static const hd_module_type qwen2_model = HD_MODULE_TYPE(body, "Qwen2Model", NULL);
    body *m = (body *)hd_module_new(c->qkv_bias ? &qwen2_model : &llama_model);
    if (!m) {
        return NULL;
    }
    hd_module *layers = hd_module_list_n(0, NULL);
    bool ok = layers;
    for (int64_t i = 0; ok && i < c->num_hidden_layers; i++) {
        ok = hd_module_list_append(layers, hd__stored(layer_new(c), d));
    }
    if (!ok) {
        hd_module_free(layers);
        layers = NULL;
    }
    hd_register_module(
        &m->base, "embed_tokens", &m->embed_tokens,
        hd__stored(hd_embedding_new(c->vocab_size, c->hidden_size, c->pad_token_id), d));
    hd_register_module(&m->base, "layers", &m->layers, layers);
    hd_register_module(&m->base, "norm", &m->norm,
                       hd_rms_norm_new(c->hidden_size, c->rms_norm_eps));
    return hd_module_ready(&m->base);
}

hd_module *hd__llama_make(const char *caller, const hd_llama_config *given, hd_dtype d)
{
    hd_llama_config c = *given;
    int64_t heads = c.num_attention_heads;
    c.num_key_value_heads = c.num_key_value_heads ? c.num_key_value_heads : heads;
    if (!hd__sizes_ok(caller,
                      (hd__named_size[]){{"vocab_size", c.vocab_size},
                                         {"hidden_size", c.hidden_size},
                                         {"intermediate_size", c.intermediate_size},
                                         {"num_hidden_layers", c.num_hidden_layers},
                                         {"num_attention_heads", heads},
                                         {"num_key_value_heads", c.num_key_value_heads},
                                         {"head_dim", c.head_dim ? c.head_dim : 1},
                                         {"max_position_embeddings", c.max_position_embeddings},
                                         {NULL, 0}}) ||
        (c.head_dim == 0 &&
         !hd__divides_ok(caller, "num_attention_heads", heads, "hidden_size", c.hidden_size)) ||
        !hd__divides_ok(caller, "num_key_value_heads", c.num_key_value_heads, "num_attention_heads",
                        heads)) {
        return NULL;
    }
    c.head_dim = c.head_dim ? c.head_dim : c.hidden_size / heads;
    if (c.head_dim % 2 != 0) {
        return hd_error_set(HD_VALUE, "%s: head_dim %" PRId64 ": expected an even number", caller,
                            c.head_dim);
    }
    hd_tensor *cos, *sin; /* without rows: the options are checked */
    if (!hd_rotary_tables(c.head_dim, 0, &c.rope, &cos, &sin)) {
        return NULL;
    }
    hd_release(cos);
    hd_release(sin);
    llama *m = (llama *)hd_module_new(c.qkv_bias ? &qwen2_type : &llama_type);
    if (!m) {
        return NULL;
    }
    m->model = (hd__model){.base = m->model.base,
                           .hidden = llama_hidden,
                           .config = {.llama = c},
                           .layers = c.num_hidden_layers,
                           .kv_heads = c.num_key_value_heads,
                           .head_dim = c.head_dim,
                           .positions = c.max_position_embeddings,
                           .vocab = c.vocab_size};
    bool draw = hd_set_init_mode(false);
    hd_module *self = &m->model.base;
    hd_register_module(self, "model", &m->body, body_new(&c, d));
    hd_register_module(self, "lm_head", &m->model.head,
                       hd__stored(hd_linear_new(c.hidden_size, c.vocab_size, false), d));
    return hd__model_ready(&m->model, draw, c.initializer_range,
                           c.tie_word_embeddings ? "model.embed_tokens.weight" : NULL);
}

hd_module *hd_llama_new(const hd_llama_config *c)
{
    static const char function[] = "hd_llama_new";
    hd_llama_config defaults = hd_llama_config_defaults();
    c = c ? c : &defaults;
    return HD__SIZE_OK_TO(function, c, "hd_llama_config_defaults()")
               ? hd__llama_make(function, c, HD_FLOAT32)
               : NULL;
}
