/* config_keys.c - the tables of keys of rotary positions, generation_config.json and
 * adapter_config.json. The tables of config.json are in the families' files. */
#include "hf/config_keys.h"

#define ROPE(kind, field) HD__FIELD(hd_rotary_options, kind, field)

/* ---------------------------------------------------------------- rotary positions */

/* The keys of the rope_type llama3, which requires the first three of them. The default type has
 * only the rows from the second partial_rotary_factor on. */
static const hd__hf_config_key rope_keys[] = {
    ROPE(NUMBER, factor),
    ROPE(NUMBER, low_freq_factor),
    ROPE(NUMBER, high_freq_factor),
    ROPE(SIZE, original_max_position_embeddings),
    HD__ONLY_ROW("partial_rotary_factor", "null 1"),
    HD__CHECKED("partial_rotary_factor", ANY, "null 1"),
    HD__ROW("rope_theta", HD__NUMBER, offsetof(hd_rotary_options, theta), NULL),
    HD__ONLY_ROW("rope_type", "default llama3"),
    HD__ONLY_ROW("type", "default llama3"), /* the older name of rope_type */
    HD__LAST_ROW(INT),
};

const hd__hf_config_keys hd__hf_rope_llama3 = {rope_keys, "", NULL, false};
const hd__hf_config_keys hd__hf_rope_default = {rope_keys + 5, "", NULL, false};

static const hd__hf_config_key beside_keys[] = {
    ROPE(SIZE, original_max_position_embeddings),
    HD__ONLY_ROW("partial_rotary_factor", "null 1"),
    HD__LAST_ROW(INT),
};

const hd__hf_config_keys hd__hf_rope_beside = {beside_keys, NULL, NULL, false};

/* ---------------------------------------------------------------- generation, adapters */

static const hd__hf_config_key generation_keys[] = {
    HD__FIELD(hd_generate_options, BOOL, do_sample),
    HD__FIELD(hd_generate_options, NUMBER, temperature),
    HD__FIELD(hd_generate_options, INT, top_k),
    HD__FIELD(hd_generate_options, NUMBER, top_p),
    HD__FIELD(hd_generate_options, NUMBER, repetition_penalty),
    HD__FIELD(hd_generate_options, INT, max_new_tokens),
    HD__FIELD(hd_generate_options, INT, pad_token_id),
    HD__ONLY_ROW("num_beams", "1"),
    {"eos_token_id.", HD__ENDS, 0, "null []"},
    HD__LAST_ROW(INT),
};

static const hd__hf_config_key adapter_keys[] = {
    HD__FIELD(hd_lora_options, INT, r),
    HD__FIELD(hd_lora_options, NUMBER, lora_alpha),
    HD__FIELD(hd_lora_options, NUMBER, lora_dropout),
    {"target_modules.", HD__NAMES, 0, NULL},
    HD__ONLY_ROW("bias", "none"),
    HD__ONLY_ROW("init_lora_weights", "true false gaussian"),
    HD__ONLY_ROW("peft_type", "LORA"),
    HD__LAST_ROW(ONLY),
};

const hd__hf_config_keys hd__hf_generation_keys = {
    generation_keys,
    "bos_token_id transformers_version _from_model_config max_length use_cache output_ "
    "return_dict_in_generate",
    NULL, true};
const hd__hf_config_keys hd__hf_ends_keys = {
    &generation_keys[sizeof generation_keys / sizeof *generation_keys - 2], NULL, NULL, true};
const hd__hf_config_keys hd__hf_adapter_keys = {
    adapter_keys,
    "auto_mapping. base_model_name_or_path fan_in_fan_out inference_mode peft_version "
    "megatron_core. qalora_group_size revision task_type",
    "the default of this key. heed has plain LoRA only", true};
