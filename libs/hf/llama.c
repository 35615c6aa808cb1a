/* llama.c - the family Llama (LlamaForCausalLM), and hd_llama_config, which Qwen 2 uses, too. */
#include "hf/decoder.h"

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

hd_module *hd_llama_new(const hd_llama_config *c)
{
    HD__CALL("hd_llama_new");
    if (c && !HD__SIZE_OK(c, "hd_llama_config_defaults()")) {
        return NULL;
    }
    if (c && c->qkv_bias && (c->attention_bias || c->mlp_bias)) {
        return hd_fail(HD_VALUE, "qkv_bias and %s are both true: expected only one of them",
                       c->attention_bias ? "attention_bias" : "mlp_bias");
    }
    return hd__hf_model_make(c && c->qkv_bias ? &hd__hf_qwen2_family : &hd__hf_llama_family, c,
                             NULL);
}

/* ---------------------------------------------------------------- the description of the family */

static const hd__hf_config_key llama_keys[] = {
    HD__DECODER_KEYS(hd_llama_config, "llama", DERIVED),
    HD__FIELD(hd_llama_config, BOOL, attention_bias),
    HD__FIELD(hd_llama_config, BOOL, mlp_bias),
    HD__CHECKED("attention_dropout", NUMBER, "0 null"),
    HD__CHECKED("pretraining_tp", INT, NULL),
    HD__CHECKED("use_sliding_window", ANY, "false null"),
    HD__CHECKED("sliding_window", INT, "null"),
    HD__CHECKED("layer_types.", ANY, "full_attention null"),
    HD__LAST_ROW(INT),
};

static void llama_defaults(void *values)
{
    *(hd_llama_config *)values = hd_llama_config_defaults();
}

static bool llama_file_ok(const hd__hf_config_file *f, const hd__hf_config *c)
{
    return hd__decoder_layer_types_ok(f, c, false);
}

static const hd_module_type llama_classes[] =
    HD__DECODER_CLASSES("Llama", hd__decoder_attention, hd__decoder_mlp, hd__decoder_mlp_forward);

const hd__hf_family hd__hf_llama_family = {
    HD__DECODER_ROW,
    .model_type = "llama",
    .type = HD__MODEL_TYPE("LlamaForCausalLM"),
    .size = sizeof(hd_llama_config),
    .defaults = llama_defaults,
    .keys = {llama_keys, HD__IDLE "is_llama_config max_window_layers", NULL, false},
    .bos_token_id = 1,
    .eos_token_id = 2,
    .rope = offsetof(hd_llama_config, rope),
    .file_ok = llama_file_ok,
    .heads_divide = true,
    .resolve = hd__decoder_resolve,
    .classes = llama_classes,
    .attention_new = hd__decoder_attention_new,
    .mlp_new = hd__decoder_mlp_new,
};
