/* decoder.h - the layers that Llama and similar families share: RMS norms, attention with rotary
 * positions and grouped heads of keys, and a gated MLP. Names and shapes are those of transformers.
 *
 *     model.embed_tokens, .layers.N.{input_layernorm, self_attn, post_attention_layernorm, mlp},
 *     .norm; lm_head
 *
 * A family whose attention or MLP has other parameters names its own functions in its row
 * (family.h). */
#ifndef HEED_HF_DECODER_H
#define HEED_HF_DECODER_H

#include "hf/family.h"

/* The first member of each family's attention struct. */
typedef struct hd__decoder_attention {
    hd_module base;
    hd_module *q_proj, *k_proj, *v_proj, *o_proj;
    int64_t heads, kv_heads;
    bool rotary; /* true: it has rotary positions */
    /* Sets qkv to the queries (b, heads, t, d), keys and values (b, kv heads, t, d) of x (b, t, e),
     * without rotary positions. `project` is hd__decoder_heads_of, or the family's own function.
     * Returns false with an error on failure. */
    bool (*project)(const struct hd__decoder_attention *m, hd_tensor *x, hd_tensor *qkv[3]);
} hd__decoder_attention;

typedef struct hd__decoder_mlp {
    hd_module base;
    hd_module *gate_proj, *up_proj, *down_proj, *act_fn;
} hd__decoder_mlp;

typedef struct hd__decoder_layer {
    hd_module base;
    hd_module *self_attn, *mlp, *input_layernorm, *post_attention_layernorm;
} hd__decoder_layer;

typedef struct hd__decoder_body {
    hd_module base;
    hd_module *embed_tokens, *layers, *norm;
} hd__decoder_body;

enum { HD__ATTENTION, HD__MLP, HD__LAYER, HD__BODY }; /* the index of each class in `classes` */

/* The array of the classes of the family `name`, such as "Llama". The struct `attention` begins
 * with an hd__decoder_attention. */
#define HD__DECODER_CLASSES(name, attention, mlp, mlp_forward)                                     \
    {                                                                                              \
        HD_MODULE_TYPE(attention, name "Attention", NULL),                                         \
            HD_MODULE_TYPE(mlp, name "MLP", mlp_forward),                                          \
            HD_MODULE_TYPE(hd__decoder_layer, name "DecoderLayer", NULL),                          \
            HD_MODULE_TYPE(hd__decoder_body, name "Model", NULL)                                   \
    }

hd_tensor *hd__decoder_mlp_forward(hd_module *m, hd_tensor *x);
hd_module *hd__decoder_attention_new(const hd__hf_config *c, int64_t layer);
hd_module *hd__decoder_mlp_new(const hd__hf_config *c);
bool hd__decoder_heads_of(const hd__decoder_attention *m, hd_tensor *x, hd_tensor *qkv[3]);

/* ---------------------------------------------------------------- a family's row (family.h) */

/* The fields of hd__hf_family that have the same values in all families that use this file. */
#define HD__DECODER_ROW                                                                            \
    .elements = hd__decoder_elements, .body_new = hd__decoder_body_new,                            \
    .hidden = hd__decoder_hidden, .body = "model", .words = "model.embed_tokens",                  \
    .layers = "num_hidden_layers", .known = hd__decoder_known, .heads = hd__decoder_heads,         \
    .passed_over = ".rotary_emb.inv_freq"

bool hd__decoder_resolve(hd__hf_config *c);
double hd__decoder_elements(const hd__hf_config *c);
hd_module *hd__decoder_body_new(const hd__hf_config *c, const hd_dtype *d);
hd_tensor *hd__decoder_hidden(hd__hf_model *m, hd_tensor *ids, const hd__hf_context *c);
int64_t hd__decoder_heads(const hd_module *m);
extern const hd__hf_known hd__decoder_known[];

/* The keys of all families that use this file. `of` is the family's public configuration. DIM is
 * the kind of head_dim: SIZE if the class requires a number, and DERIVED otherwise. */
#define HD__DECODER_KEYS(of, model_type, DIM)                                                      \
    HD__FIELD(of, SIZE, vocab_size), HD__FIELD(of, SIZE, hidden_size),                             \
        HD__FIELD(of, SIZE, intermediate_size), HD__FIELD(of, SIZE, num_hidden_layers),            \
        HD__FIELD(of, SIZE, num_attention_heads), HD__FIELD(of, DERIVED, num_key_value_heads),     \
        HD__FIELD(of, DIM, head_dim), HD__FIELD(of, SIZE, max_position_embeddings),                \
        HD__FIELD(of, TOKEN, pad_token_id), HD__FIELD(of, FLOAT, rms_norm_eps),                    \
        HD__FIELD(of, FLOAT, initializer_range), HD__FIELD(of, BOOL, tie_word_embeddings),         \
        HD__ROW("rope_theta", HD__NUMBER, offsetof(of, rope.theta), NULL),                         \
        HD__CHECKED("rope_parameters.", OBJECT, "null {}"),                                        \
        HD__CHECKED("rope_scaling.", OBJECT, "null {} [] false 0"),                                \
        HD__CHECKED("original_max_position_embeddings", ANY, NULL),                                \
        HD__CHECKED("partial_rotary_factor", ANY, "null 1"),                                       \
        HD__ONLY_ROW("hidden_act", "silu swish"), HD__CHECKED("rope_interleaved", ANY, "false"),   \
        HD__COMMON_KEYS(model_type)

/* The keys of families whose layers from number max_window_layers on may have a sliding window. */
#define HD__WINDOW_KEYS                                                                            \
    HD__CHECKED("attention_dropout", NUMBER, "0"), HD__CHECKED("use_sliding_window", BOOL, NULL),  \
        HD__CHECKED("sliding_window", INT, NULL), HD__CHECKED("max_window_layers", SIZE, NULL),    \
        HD__CHECKED("layer_types.", FULL, "null")

/* If the file has layer_types, returns false with an error unless it has one entry for each layer.
 * If the file has no layer_types, returns false with an error if use_sliding_window and `windowed`
 * are both true. `windowed` says that some layer would have a sliding window, which heed does not
 * support. */
bool hd__decoder_layer_types_ok(const hd__hf_config_file *f, const hd__hf_config *c, bool windowed);
/* Calls hd__decoder_layer_types_ok, and returns its result. Computes `windowed` from the keys
 * sliding_window and max_window_layers. */
bool hd__decoder_window_ok(const hd__hf_config_file *f, const hd__hf_config *c);

#endif
