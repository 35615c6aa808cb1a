/* qwen2.c - the family Qwen 2: a Llama whose q_proj, k_proj and v_proj have biases. */
#include "hf/decoder.h"

/* hd__decoder_window_ok checks the values of HD__WINDOW_KEYS. */
static const hd__hf_config_key qwen2_keys[] = {
    HD__DECODER_KEYS(hd_llama_config, "qwen2", DERIVED),
    HD__CHECKED("attention_bias", ANY, "false null"),
    HD__CHECKED("mlp_bias", ANY, "false null"),
    HD__WINDOW_KEYS,
    HD__LAST_ROW(INT),
};

static void qwen2_defaults(void *values)
{
    hd_llama_config *c = values;
    *c = hd_llama_config_defaults();
    c->qkv_bias = true;
    c->vocab_size = 151936;
    c->intermediate_size = 22016;
    c->num_key_value_heads = 32;
    c->max_position_embeddings = 32768;
}

static const hd_module_type qwen2_classes[] =
    HD__DECODER_CLASSES("Qwen2", hd__decoder_attention, hd__decoder_mlp, hd__decoder_mlp_forward);

const hd__hf_family hd__hf_qwen2_family = {
    HD__DECODER_ROW,
    .model_type = "qwen2",
    .type = HD__MODEL_TYPE("Qwen2ForCausalLM"),
    .size = sizeof(hd_llama_config),
    .defaults = qwen2_defaults,
    .keys = {qwen2_keys, HD__IDLE "pretraining_tp", NULL, false},
    .bos_token_id = HD_NO_PADDING,
    .eos_token_id = HD_NO_PADDING,
    .rope = offsetof(hd_llama_config, rope),
    .file_ok = hd__decoder_window_ok,
    .resolve = hd__decoder_resolve,
    .classes = qwen2_classes,
    .attention_new = hd__decoder_attention_new,
    .mlp_new = hd__decoder_mlp_new,
    .qkv_bias = true,
};
