/* smollm3.c - the family SmolLM3: a Llama in which some layers have no rotary positions. */
#include <inttypes.h>

#include "hf/decoder.h"

hd_smollm3_config hd_smollm3_config_defaults(void)
{
    hd_smollm3_config c = {.size = sizeof c,
                           .vocab_size = 128256,
                           .hidden_size = 2048,
                           .intermediate_size = 11008,
                           .num_hidden_layers = 36,
                           .num_attention_heads = 16,
                           .num_key_value_heads = 4,
                           .max_position_embeddings = 32768,
                           .rms_norm_eps = 1e-6,
                           .rope = hd_rotary_defaults(),
                           .initializer_range = 0.02,
                           .pad_token_id = 128004,
                           .tie_word_embeddings = true,
                           .no_rope_layer_interval = 4};
    c.rope.theta = 2000000;
    return c;
}

/* True if layer i has rotary positions, as no_rope_layers[i] says. If the list has no entry i, true
 * unless i + 1 is a multiple of no_rope_layer_interval. An interval below 1 has no multiples. */
static bool is_rotary(const hd_smollm3_config *c, int64_t i)
{
    const int64_t interval = c->no_rope_layer_interval;
    return i < c->num_no_rope_layers ? c->no_rope_layers[i]
                                     : interval < 1 || (i + 1) % interval != 0;
}

/* Gives no_rope_layers one entry for each layer: shortens a longer list, or fills an empty list by
 * no_rope_layer_interval. Returns false with an error if the list or the interval is wrong. */
static bool list_ok(const hd__hf_config *config)
{
    hd_smollm3_config *c = config->values;
    const int64_t layers = c->num_hidden_layers, n = c->num_no_rope_layers,
                  interval = c->no_rope_layer_interval;
    if (layers > HD_LAYERS_MOST) {
        return hd__hf_config_refuse(config, "num_hidden_layers %" PRId64 ": expected at most %d",
                                    layers, HD_LAYERS_MOST);
    }
    if (n != 0 && (n < layers || n > HD_LAYERS_MOST)) {
        return hd__hf_config_refuse(config,
                                    "no_rope_layers has %" PRId64 " entries: expected %" PRId64
                                    ", the num_hidden_layers",
                                    n, layers);
    }
    if (n == 0 && interval < 1) {
        return hd__hf_config_refuse(
            config, "no_rope_layer_interval %" PRId64 ": expected 1 or more", interval);
    }
    for (int64_t i = 0; n == 0 && i < layers; i++) {
        c->no_rope_layers[i] = is_rotary(c, i);
    }
    c->num_no_rope_layers = layers;
    return true;
}

static bool smollm3_resolve(hd__hf_config *c)
{
    return hd__decoder_resolve(c) && list_ok(c);
}

hd_module *hd_smollm3_new(const hd_smollm3_config *c)
{
    HD__CALL("hd_smollm3_new");
    bool sized = !c || HD__SIZE_OK(c, "hd_smollm3_config_defaults()");
    return sized ? hd__hf_model_make(&hd__hf_smollm3_family, c, NULL) : NULL;
}

/* ---------------------------------------------------------------- the description of the family */

/* HD__FLAGS requires that the list follows its length in the struct. */
_Static_assert(offsetof(hd_smollm3_config, no_rope_layers) ==
                   offsetof(hd_smollm3_config, num_no_rope_layers) + sizeof(int64_t),
               "the list follows its length");

static const hd__hf_config_key smollm3_keys[] = {
    HD__DECODER_KEYS(hd_smollm3_config, "smollm3", DERIVED),
    HD__FIELD(hd_smollm3_config, BOOL, attention_bias),
    HD__FIELD(hd_smollm3_config, BOOL, mlp_bias),
    HD__FIELD(hd_smollm3_config, INT, no_rope_layer_interval),
    HD__ROW("no_rope_layers.", HD__FLAGS, offsetof(hd_smollm3_config, num_no_rope_layers), "null"),
    HD__CHECKED("attention_dropout", NUMBER, "0"),
    HD__CHECKED("use_sliding_window", BOOL, NULL),
    HD__CHECKED("sliding_window", INT, NULL),
    HD__CHECKED("layer_types.", FULL, "null"),
    HD__LAST_ROW(INT),
};

static void smollm3_defaults(void *values)
{
    *(hd_smollm3_config *)values = hd_smollm3_config_defaults();
}

/* Returns false with an error if config.json gives a layer a sliding window, which heed lacks. If
 * sliding_window is a number, the layers without rotary positions may have such a window. */
static bool smollm3_file_ok(const hd__hf_config_file *f, const hd__hf_config *config)
{
    const hd_smollm3_config *c = config->values;
    hd__hf_value window = hd__hf_value_of(f, "sliding_window");
    bool windowed = false;
    for (int64_t i = 0; window.whole && i < c->num_hidden_layers && i < HD_LAYERS_MOST; i++) {
        windowed |= !is_rotary(c, i);
    }
    return hd__decoder_layer_types_ok(f, config, windowed);
}

/* heed calls this function for the model and then for each module m in it. The first call empties
 * no_rope_layers. The call for an attention appends its entry. */
static void smollm3_read(const hd_module *m, void *values)
{
    hd_smollm3_config *c = values;
    bool attention = m->type == &hd__hf_smollm3_family.classes[HD__ATTENTION];
    if (m->type == &hd__hf_smollm3_family.type) {
        c->num_no_rope_layers = 0;
    }
    if (attention && c->num_no_rope_layers < HD_LAYERS_MOST) {
        c->no_rope_layers[c->num_no_rope_layers++] = ((const hd__decoder_attention *)m)->rotary;
    }
}

static const hd_module_type smollm3_classes[] =
    HD__DECODER_CLASSES("SmolLM3", hd__decoder_attention, hd__decoder_mlp, hd__decoder_mlp_forward);

const hd__hf_family hd__hf_smollm3_family = {
    HD__DECODER_ROW,
    .model_type = "smollm3",
    .type = HD__MODEL_TYPE("SmolLM3ForCausalLM"),
    .size = sizeof(hd_smollm3_config),
    .defaults = smollm3_defaults,
    .keys = {smollm3_keys, HD__IDLE "pretraining_tp max_window_layers", NULL, false},
    .bos_token_id = 128000,
    .eos_token_id = 128001,
    .rope = offsetof(hd_smollm3_config, rope),
    .file_ok = smollm3_file_ok,
    .read = smollm3_read,
    .resolve = smollm3_resolve,
    .classes = smollm3_classes,
    .attention_new = hd__decoder_attention_new,
    .mlp_new = hd__decoder_mlp_new,
};
