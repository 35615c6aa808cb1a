/* config_keys.c - which keys of a configuration file are used, which have no effect, and which may
 * have some values only, because heed has no others.
 *
 * The tables of models follow the classes of transformers 5.23: what a class reads, of which type
 * it must be, and where null stands for the default. */
#include "hf/config_keys.h"

#define ROW(...)                                                                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define FIELD(of, kind, field) ROW(#field, HD__##kind, offsetof(of, field), NULL)
#define GPT2(kind, field) FIELD(hd_gpt2_config, kind, field)
#define ALIAS(name, field) ROW(name, HD__ALIAS, offsetof(hd_gpt2_config, field), NULL)
#define LLAMA(kind, field) FIELD(hd_llama_config, kind, field)
#define ROPE(name, kind, at) ROW(name, HD__##kind, offsetof(hd_llama_config, rope.at), NULL)
#define CHECKED(name, kind, words) ROW(name, HD__##kind, HD__NOWHERE, words)
#define ONLY(name, words) CHECKED(name, ONLY, words)
#define LAST(kind) CHECKED(NULL, kind, "false")

/* ---------------------------------------------------------------- models */

/* What every family may have: nothing follows from it for the numbers of a model. */
#define IDLE                                                                                       \
    "architectures. torch_dtype dtype transformers_version eos_token_id. "                         \
    "_name_or_path name_or_path task_specific_params. transformers.js_config. "                    \
    "gradient_checkpointing output_ return_dict chunk_size_feed_forward id2label. label2id. "      \
    "num_labels problem_type is_encoder_decoder is_decoder "

/* What is checked in every family: some of it would make other numbers. */
#define COMMON                                                                                     \
    ONLY("model_type", "gpt2 llama qwen2 null"), CHECKED("use_cache", BOOL, NULL),                 \
        CHECKED("bos_token_id", INT, NULL), ONLY("per_layer_config.", "null {}"),                  \
        ONLY("quantization_config.", "null")

static const hd__config_key gpt2_keys[] = {
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
    CHECKED("pad_token_id", INT, NULL),
    CHECKED("reorder_and_upcast_attn", BOOL, NULL), /* for float16: the same in float32 */
    ONLY("scale_attn_weights", "true"),
    ONLY("scale_attn_by_inverse_layer_idx", "false"),
    ONLY("add_cross_attention", "false"),
    COMMON,
    LAST(INT),
};

static void gpt2_defaults(hd__config *c)
{
    c->is_gpt2 = true;
    c->gpt2 = hd_gpt2_config_defaults();
}

/* What Llama and Qwen 2 have in common */
#define LLAMA_KEYS                                                                                 \
    LLAMA(SIZE, vocab_size), LLAMA(SIZE, hidden_size), LLAMA(SIZE, intermediate_size),             \
        LLAMA(SIZE, num_hidden_layers), LLAMA(SIZE, num_attention_heads),                          \
        LLAMA(DERIVED, num_key_value_heads), LLAMA(DERIVED, head_dim),                             \
        LLAMA(SIZE, max_position_embeddings), LLAMA(INT, pad_token_id),                            \
        LLAMA(FLOAT, rms_norm_eps), LLAMA(FLOAT, initializer_range),                               \
        LLAMA(BOOL, tie_word_embeddings), ROPE("rope_theta", NUMBER, theta),                       \
        CHECKED("rope_parameters.", OBJECT, "null {}"),                                            \
        CHECKED("rope_scaling.", OBJECT, "null {} [] false 0"),                                    \
        CHECKED("original_max_position_embeddings", ANY, NULL),                                    \
        CHECKED("partial_rotary_factor", ANY, "null 1"), ONLY("hidden_act", "silu swish"),         \
        CHECKED("rope_interleaved", ANY, "false"), COMMON

static const hd__config_key llama_keys[] = {
    LLAMA_KEYS,
    LLAMA(BOOL, attention_bias),
    LLAMA(BOOL, mlp_bias),
    CHECKED("attention_dropout", NUMBER, "0 null"),
    CHECKED("pretraining_tp", INT, NULL),
    CHECKED("use_sliding_window", ANY, "false null"),
    CHECKED("sliding_window", INT, "null"),
    CHECKED("layer_types.", ANY, "full_attention null"),
    LAST(INT),
};

static void llama_defaults(hd__config *c)
{
    c->is_gpt2 = false;
    c->llama = hd_llama_config_defaults();
}

/* layers_ok reads those of the sliding window. */
static const hd__config_key qwen2_keys[] = {
    LLAMA_KEYS,
    CHECKED("attention_bias", ANY, "false null"),
    CHECKED("mlp_bias", ANY, "false null"),
    CHECKED("attention_dropout", NUMBER, "0"),
    CHECKED("use_sliding_window", BOOL, NULL),
    CHECKED("sliding_window", INT, NULL),
    CHECKED("max_window_layers", SIZE, NULL),
    ONLY("layer_types.", "full_attention null"),
    LAST(INT),
};

static void qwen2_defaults(hd__config *c)
{
    llama_defaults(c);
    c->llama.qkv_bias = true;
    c->llama.vocab_size = 151936;
    c->llama.intermediate_size = 22016;
    c->llama.num_key_value_heads = 32;
    c->llama.max_position_embeddings = 32768;
}

const hd__family hd__families[HD__FAMILIES] = {
    {"gpt2",
     "GPT2LMHeadModel",
     {gpt2_keys, IDLE "n_ctx summary_", NULL, false},
     gpt2_defaults,
     50256,
     50256},
    {"llama",
     "LlamaForCausalLM",
     {llama_keys, IDLE "is_llama_config max_window_layers", NULL, false},
     llama_defaults,
     1,
     2},
    {"qwen2",
     "Qwen2ForCausalLM",
     {qwen2_keys, IDLE "pretraining_tp", NULL, false},
     qwen2_defaults,
     HD_NO_PADDING,
     HD_NO_PADDING},
};

const hd__family *hd__family_of(const hd__config *c)
{
    return &hd__families[c->is_gpt2 ? 0 : c->llama.qkv_bias ? 2 : 1];
}

/* ---------------------------------------------------------------- rotary positions */

/* The type llama3 needs the first three; the default takes the rows from rope_theta on. */
static const hd__config_key rope_keys[] = {
    ROPE("factor", NUMBER, factor),
    ROPE("low_freq_factor", NUMBER, low_freq_factor),
    ROPE("high_freq_factor", NUMBER, high_freq_factor),
    ROPE("original_max_position_embeddings", SIZE, original_max_position_embeddings),
    ONLY("partial_rotary_factor", "null 1"),
    ROPE("rope_theta", NUMBER, theta),
    ONLY("rope_type", "default llama3"),
    ONLY("type", "default llama3"), /* the older name */
    LAST(INT),
};

const hd__config_keys hd__rope_llama3 = {rope_keys, "", NULL, false};
const hd__config_keys hd__rope_default = {rope_keys + 5, "", NULL, false};

static const hd__config_key beside_keys[] = {
    ROPE("original_max_position_embeddings", SIZE, original_max_position_embeddings),
    ONLY("partial_rotary_factor", "null 1"),
    LAST(INT),
};

const hd__config_keys hd__rope_beside = {beside_keys, NULL, NULL, false};

/* ---------------------------------------------------------------- generation, adapters */

static const hd__config_key generation_keys[] = {
    FIELD(hd_generate_options, BOOL, do_sample),
    FIELD(hd_generate_options, NUMBER, temperature),
    FIELD(hd_generate_options, INT, top_k),
    FIELD(hd_generate_options, NUMBER, top_p),
    FIELD(hd_generate_options, NUMBER, repetition_penalty),
    FIELD(hd_generate_options, INT, max_new_tokens),
    FIELD(hd_generate_options, INT, pad_token_id),
    ONLY("num_beams", "1"),
    {"eos_token_id.", HD__ENDS, 0, "null []"},
    LAST(INT),
};

static const hd__config_key adapter_keys[] = {
    FIELD(hd_lora_options, INT, r),
    FIELD(hd_lora_options, NUMBER, lora_alpha),
    FIELD(hd_lora_options, NUMBER, lora_dropout),
    {"target_modules.", HD__NAMES, 0, NULL},
    ONLY("bias", "none"),
    ONLY("init_lora_weights", "true false gaussian"),
    ONLY("peft_type", "LORA"),
    LAST(ONLY),
};

const hd__config_keys hd__generation_keys = {
    generation_keys,
    "bos_token_id transformers_version _from_model_config max_length use_cache output_ "
    "return_dict_in_generate",
    NULL, true};
const hd__config_keys hd__ends_keys = {
    &generation_keys[sizeof generation_keys / sizeof *generation_keys - 2], NULL, NULL, true};
const hd__config_keys hd__adapter_keys = {
    adapter_keys,
    "auto_mapping. base_model_name_or_path fan_in_fan_out inference_mode peft_version "
    "megatron_core. qalora_group_size revision task_type",
    "plain LoRA, without this key or with its default", true};
