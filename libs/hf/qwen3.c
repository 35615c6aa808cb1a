/* qwen3.c - the family Qwen 3: a Llama that applies an RMS norm to each head of queries and keys.
 *
 *     model.layers.N.self_attn.{q_norm, k_norm} */
#include "hf/decoder.h"

typedef struct qwen3_attention {
    hd__decoder_attention base;
    hd_module *q_norm, *k_norm;
} qwen3_attention;

hd_qwen3_config hd_qwen3_config_defaults(void)
{
    return (hd_qwen3_config){.size = sizeof(hd_qwen3_config),
                             .vocab_size = 151936,
                             .hidden_size = 4096,
                             .intermediate_size = 22016,
                             .num_hidden_layers = 32,
                             .num_attention_heads = 32,
                             .num_key_value_heads = 32,
                             .head_dim = 128,
                             .max_position_embeddings = 32768,
                             .rms_norm_eps = 1e-6,
                             .rope = hd_rotary_defaults(),
                             .initializer_range = 0.02,
                             .pad_token_id = HD_NO_PADDING};
}

static bool qwen3_project(const hd__decoder_attention *attention, hd_tensor *x, hd_tensor *qkv[3])
{
    const qwen3_attention *m = (const qwen3_attention *)attention;
    bool ok = hd__decoder_heads_of(attention, x, qkv);
    qkv[0] = ok ? hd_forward(m->q_norm, qkv[0]) : NULL;
    qkv[1] = ok ? hd_forward(m->k_norm, qkv[1]) : NULL;
    return qkv[0] && qkv[1];
}

static hd_module *qwen3_attention_new(const hd__hf_config *config, int64_t layer)
{
    const hd_qwen3_config *c = config->values;
    qwen3_attention *m = (qwen3_attention *)hd__decoder_attention_new(config, layer);
    if (!m) {
        return NULL;
    }
    m->base.project = qwen3_project;
    hd_module *self = &m->base.base;
    hd_register_module(self, "q_norm", &m->q_norm, hd_rms_norm_new(c->head_dim, c->rms_norm_eps));
    hd_register_module(self, "k_norm", &m->k_norm, hd_rms_norm_new(c->head_dim, c->rms_norm_eps));
    return hd_module_ready(self);
}

hd_module *hd_qwen3_new(const hd_qwen3_config *c)
{
    HD__CALL("hd_qwen3_new");
    bool sized = !c || HD__SIZE_OK(c, "hd_qwen3_config_defaults()");
    return sized ? hd__hf_model_make(&hd__hf_qwen3_family, c, NULL) : NULL;
}

/* ---------------------------------------------------------------- the description of the family */

static const hd__hf_config_key qwen3_keys[] = {
    HD__DECODER_KEYS(hd_qwen3_config, "qwen3", SIZE),
    HD__FIELD(hd_qwen3_config, BOOL, attention_bias),
    HD__CHECKED("mlp_bias", ANY, "false null"),
    HD__WINDOW_KEYS,
    HD__LAST_ROW(INT),
};

static void qwen3_defaults(void *values)
{
    *(hd_qwen3_config *)values = hd_qwen3_config_defaults();
}

static const hd_module_type qwen3_classes[] =
    HD__DECODER_CLASSES("Qwen3", qwen3_attention, hd__decoder_mlp, hd__decoder_mlp_forward);

const hd__hf_family hd__hf_qwen3_family = {
    HD__DECODER_ROW,
    .model_type = "qwen3",
    .type = HD__MODEL_TYPE("Qwen3ForCausalLM"),
    .size = sizeof(hd_qwen3_config),
    .defaults = qwen3_defaults,
    .keys = {qwen3_keys, HD__IDLE "pretraining_tp", NULL, false},
    .bos_token_id = HD_NO_PADDING,
    .eos_token_id = HD_NO_PADDING,
    .rope = offsetof(hd_qwen3_config, rope),
    .file_ok = hd__decoder_window_ok,
    .resolve = hd__decoder_resolve,
    .classes = qwen3_classes,
    .attention_new = qwen3_attention_new,
    .mlp_new = hd__decoder_mlp_new,
};
