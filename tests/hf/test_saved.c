/* test_saved.c - saves models whose modules were replaced: the saved configuration describes the
 * model as it is now, or the save is refused if config.json cannot describe it.
 * tools/oracle/hf_saved.py loads such folders with transformers. */
#include <math.h>
#include <string.h>

#include "suites.h"

/* ---------------------------------------------------------------- changes */

/* A small GPT-2 or Llama, whose middle layer is `inner` wide, with these heads. */
static hd_module *gpt2_with(int64_t inner, int64_t heads)
{
    hd_gpt2_config c = hd_gpt2_config_defaults();
    c.vocab_size = c.n_positions = 64;
    c.n_embd = 16;
    c.n_layer = 2;
    c.n_inner = inner;
    c.n_head = heads;
    return hd_gpt2_new(&c);
}

static hd_module *llama_with(int64_t inner, int64_t heads, bool qkv_bias)
{
    hd_llama_config c = hd_llama_config_defaults();
    c.vocab_size = c.max_position_embeddings = 64;
    c.hidden_size = 16;
    c.num_hidden_layers = 2;
    c.intermediate_size = inner;
    c.num_attention_heads = heads;
    c.num_key_value_heads = 2;
    c.qkv_bias = qkv_bias;
    return hd_llama_new(&c);
}

static void put(hd_module *m, const char *name, hd_module *child)
{
    ck_assert_msg(hd_module_set(m, name, child), "%s", hd_error_message());
}

/* Puts a module of another model in the place of m's own, in both layers if the name has %d. The
 * other model is freed. */
static void put_from(hd_module *m, hd_module *other, const char *form)
{
    char name[64];
    for (int i = 0; i < (strchr(form, '%') ? 2 : 1); i++) {
        snprintf(name, sizeof name, form, i);
        put(m, name, hd_module_take(other, name));
    }
    hd_module_free(other);
}

static hd_module *layer_norm(double eps)
{
    return hd_layer_norm_new_n(1, (const int64_t[]){16}, eps, true, true);
}

static void other_eps(hd_module *m)
{
    put(m, "transformer.h.0.ln_1", layer_norm(0.5));
    put(m, "transformer.h.0.ln_2", layer_norm(0.5));
    put(m, "transformer.h.1.ln_1", layer_norm(0.5));
    put(m, "transformer.h.1.ln_2", layer_norm(0.5));
    put(m, "transformer.ln_f", layer_norm(0.5));
}

static void other_rms_eps(hd_module *m)
{
    put(m, "model.layers.0.input_layernorm", hd_rms_norm_new(16, 0.1));
    put(m, "model.layers.0.post_attention_layernorm", hd_rms_norm_new(16, 0.1));
    put(m, "model.layers.1.input_layernorm", hd_rms_norm_new(16, 0.1));
    put(m, "model.layers.1.post_attention_layernorm", hd_rms_norm_new(16, 0.1));
    put(m, "model.norm", hd_rms_norm_new(16, 0.1));
}

static void gpt2_layer_more(hd_module *m)
{
    hd_module *other = golden_model("gpt2_bf16");
    hd_module *layer = hd_module_take(other, "transformer.h.1");
    ck_assert(hd_module_list_append(hd_module_get(m, "transformer.h"), layer));
    hd_module_free(other);
}

static void llama_layer_more(hd_module *m)
{
    hd_module *other = golden_model("llama");
    hd_module *layer = hd_module_take(other, "model.layers.0");
    ck_assert(hd_module_list_append(hd_module_get(m, "model.layers"), layer));
    hd_module_free(other);
}

static void gpt2_wider(hd_module *m)
{
    put_from(m, gpt2_with(40, 2), "transformer.h.%d.mlp");
}

static void llama_wider(hd_module *m)
{
    put_from(m, llama_with(40, 4, false), "model.layers.%d.mlp");
}

static void tie(hd_module *m, const char *embedding)
{
    ck_assert(hd_module_set_parameter(m, "lm_head.weight", hd_module_get_parameter(m, embedding)));
}

static void more_words(hd_module *m)
{
    put(m, "transformer.wte", hd_embedding_new(80, 16, HD_NO_PADDING));
    put(m, "lm_head", hd_linear_new(16, 80, false));
    tie(m, "transformer.wte.weight");
}

static void fewer_words_and_an_own_head(hd_module *m)
{
    put(m, "model.embed_tokens", hd_embedding_new(30, 16, HD_NO_PADDING));
    put(m, "lm_head", hd_linear_new(16, 30, false));
}

static void more_positions(hd_module *m)
{
    put(m, "transformer.wpe", hd_embedding_new(128, 16, HD_NO_PADDING));
}

static void untie(hd_module *m)
{
    put(m, "lm_head", hd_linear_new(16, 64, false));
}

static void tie_llama(hd_module *m)
{
    tie(m, "model.embed_tokens.weight");
}

static void tie_layers(hd_module *m)
{
    hd_tensor *w = hd_module_get_parameter(m, "transformer.h.0.mlp.c_fc.weight");
    ck_assert(hd_module_set_parameter(m, "transformer.h.1.mlp.c_fc.weight", w));
}

static void other_dropouts(hd_module *m)
{
    static const char *const names[] = {"transformer.h.0.attn.resid_dropout",
                                        "transformer.h.0.mlp.dropout",
                                        "transformer.h.1.attn.resid_dropout",
                                        "transformer.h.1.mlp.dropout",
                                        "transformer.h.0.attn.attn_dropout",
                                        "transformer.h.1.attn.attn_dropout",
                                        "transformer.drop"};
    for (int i = 0; i < 7; i++) {
        put(m, names[i], hd_dropout_new(i < 4 ? 0.3 : i < 6 ? 0.4 : 0, i == 6));
    }
}

static void freeze_norm(hd_module *m)
{
    ck_assert(hd_module_freeze(m, "model.norm"));
}

static void silu_in_place(hd_module *m)
{
    put(m, "model.layers.1.mlp.act_fn", hd_silu_new(true));
}

static void twice_as_large(hd_module *m)
{
    ck_assert(hd_module_to(m, HD_FLOAT64));
}

static void relu_everywhere(hd_module *m)
{
    put(m, "transformer.h.0.mlp.act", hd_relu_new(false));
    put(m, "transformer.h.1.mlp.act", hd_relu_new(true));
}

static void gelu_everywhere(hd_module *m)
{
    put(m, "transformer.h.0.mlp.act", hd_gelu_new("none"));
    put(m, "transformer.h.1.mlp.act", hd_gelu_new("none"));
}

/* Puts a Linear with a bias in the place of each of these in both layers. */
static void put_biases(hd_module *m, const char *const names[])
{
    char name[64];
    for (int i = 0; names[i / 2]; i++) {
        snprintf(name, sizeof name, "model.layers.%d.%s", i % 2, names[i / 2]);
        hd_tensor *w = hd_module_get_parameter(hd_module_get(m, name), "weight");
        put(m, name, hd_linear_new(hd_size(w, 1), hd_size(w, 0), true));
    }
}

static void attention_biases(hd_module *m)
{
    put_biases(m, (const char *const[]){"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                        "self_attn.o_proj", NULL});
}

static void mlp_biases(hd_module *m)
{
    put_biases(m, (const char *const[]){"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", NULL});
}

static void exchange_layers(hd_module *m)
{
    hd_module *first = hd_module_take(m, "model.layers.0");
    put(m, "model.layers.0", hd_module_take(m, "model.layers.1"));
    put(m, "model.layers.1", first);
}

static void smollm3_layer_more(hd_module *m)
{
    hd_module *other = golden_model("smollm3");
    hd_module *layer = hd_module_take(other, "model.layers.0");
    ck_assert(hd_module_list_append(hd_module_get(m, "model.layers"), layer));
    hd_module_free(other);
}

static void qwen3_eps(hd_module *m)
{
    other_rms_eps(m);
    put(m, "model.layers.0.self_attn.q_norm", hd_rms_norm_new(8, 0.1));
    put(m, "model.layers.0.self_attn.k_norm", hd_rms_norm_new(8, 0.1));
    put(m, "model.layers.1.self_attn.q_norm", hd_rms_norm_new(8, 0.1));
    put(m, "model.layers.1.self_attn.k_norm", hd_rms_norm_new(8, 0.1));
}

/* ---------------------------------------------------------------- what is saved */

static const struct {
    const char *folder;
    void (*change)(hd_module *m);
    const char *line; /* of config.json */
} saved[] = {
    {"gpt2", other_eps, "\"layer_norm_epsilon\": 0.5,"},
    {"llama", other_rms_eps, "\"rms_norm_eps\": 0.1,"},
    {"gpt2", gpt2_layer_more, "\"n_layer\": 3,"},
    {"llama_f16", llama_layer_more, "\"num_hidden_layers\": 3,"},
    {"gpt2", gpt2_wider, "\"n_inner\": 40,"},
    {"llama", llama_wider, "\"intermediate_size\": 40,"},
    {"gpt2", more_words, "\"vocab_size\": 80,"},
    {"qwen2", fewer_words_and_an_own_head, "\"vocab_size\": 30,"},
    {"gpt2", more_positions, "\"n_positions\": 128,"},
    {"gpt2", untie, "\"tie_word_embeddings\": false,"},
    {"llama", tie_llama, "\"tie_word_embeddings\": true,"},
    {"gpt2", tie_layers, "\"n_layer\": 2,"},
    {"gpt2", other_dropouts,
     "\"embd_pdrop\": 0.0,\n  \"attn_pdrop\": 0.4,\n  \"resid_pdrop\": 0.3,"},
    {"llama", freeze_norm, "\"rms_norm_eps\": 1e-06,"},
    {"qwen2", silu_in_place, "\"model_type\": \"qwen2\","},
    {"gpt2", relu_everywhere, "\"activation_function\": \"relu\","},
    {"gpt2_bf16", gelu_everywhere, "\"activation_function\": \"gelu\","},
    {"llama", attention_biases, "\"attention_bias\": true,\n  \"mlp_bias\": false,"},
    {"llama3", mlp_biases, "\"attention_bias\": false,\n  \"mlp_bias\": true,"},
    {"gpt2", twice_as_large, "\"dtype\": \"float32\""},
    {"llama3", twice_as_large, "\"dtype\": \"float32\""},
    {"smollm3", exchange_layers, "\"no_rope_layers\": [0, 1],"},
    {"smollm3", smollm3_layer_more, "\"no_rope_layers\": [1, 0, 1],"},
    {"qwen3", qwen3_eps, "\"rms_norm_eps\": 0.1,"},
    {"qwen3", attention_biases, "\"attention_bias\": true,"},
};

static hd_tensor *logits(hd_module *m)
{
    HD_NO_GRAD;
    return hd_to(hd_forward(m, hd_view(hd_arange(0, 24, 1), 2, 12)), HD_FLOAT32);
}

START_TEST(changes_are_saved)
{
    HD_SCOPE;
    char path[512];
    size_t n;
    const char *folder = temporary("changed");
    hd_module *m = golden_model(saved[_i].folder), *again = NULL;
    saved[_i].change(m);
    ck_assert_msg(hd_save_pretrained(m, folder, NULL), "%s", hd_error_message());
    ck_no_warning(again = hd_from_pretrained(folder, NULL));
    ck_assert_msg(again, "%s", hd_error_message());
    snprintf(path, sizeof path, "%s/config.json", folder);
    char *config = read_file(path, &n);
    ck_assert_msg(strstr(config, saved[_i].line), "%s lacks %s", config, saved[_i].line);
    hd_tensor *y = hd_module_eval(m) ? logits(m) : NULL;
    hd_tensor *off = hd_max(hd_abs(hd_sub(logits(again), y)));
    ck_assert_double_le(hd_item(off), 1e-5 * hd_item(hd_max(hd_abs(y))));
    free(config);
    hd_module_free(m);
    hd_module_free(again);
    remove_saved(folder);
}
END_TEST

/* ---------------------------------------------------------------- what is refused */

static void two_classes(hd_module *m)
{
    put(m, "lm_head", hd_linear_new(16, 2, true));
}

static void no_head(hd_module *m)
{
    put(m, "lm_head", hd_dropout_new(0.5, false));
}

static void words_without_head(hd_module *m)
{
    put(m, "transformer.wte", hd_embedding_new(80, 16, HD_NO_PADDING));
}

static void one_activation(hd_module *m)
{
    put(m, "transformer.h.0.mlp.act", hd_relu_new(false));
}

static void gelu_in_llama(hd_module *m)
{
    put(m, "model.layers.0.mlp.act_fn", hd_gelu_new("none"));
    put(m, "model.layers.1.mlp.act_fn", hd_gelu_new("none"));
}

static void one_eps(hd_module *m)
{
    put(m, "transformer.h.1.ln_2", layer_norm(0.5));
}

static void one_rms_eps(hd_module *m)
{
    put(m, "model.layers.1.input_layernorm", hd_rms_norm_new(16, 0.1));
}

static void layer_norm_in_llama(hd_module *m)
{
    put(m, "model.norm", hd_layer_norm_new(16));
}

static void norm_without_bias(hd_module *m)
{
    put(m, "transformer.ln_f", hd_layer_norm_new_n(1, (const int64_t[]){16}, 1e-5, true, false));
}

static void one_layer_less(hd_module *m)
{
    hd_module_free(hd_module_take(m, "transformer.h.1"));
}

static void no_activation(hd_module *m)
{
    hd_module_free(hd_module_take(m, "model.layers.0.mlp.act_fn"));
}

static void one_wider(hd_module *m)
{
    put_from(m, llama_with(40, 4, false), "model.layers.0.mlp");
}

static void one_wider_conv1d(hd_module *m)
{
    put_from(m, gpt2_with(40, 2), "transformer.h.0.mlp");
}

static void one_bias(hd_module *m)
{
    put(m, "model.layers.0.self_attn.q_proj", hd_linear_new(16, 16, true));
}

static void one_dropout(hd_module *m)
{
    put(m, "transformer.h.0.mlp.dropout", hd_dropout_new(0.3, false));
}

static void linear_for_conv1d(hd_module *m)
{
    put(m, "transformer.h.0.mlp.c_fc", hd_linear_new(16, 64, true));
}

static void identity(hd_module *m)
{
    put(m, "transformer.drop", hd_sequential_n(0, NULL));
}

static void gpt2_heads(hd_module *m)
{
    put_from(m, gpt2_with(64, 4), "transformer.h.0.attn");
}

static void llama_heads(hd_module *m)
{
    put_from(m, llama_with(24, 2, false), "model.layers.1.self_attn");
}

static void qwen2_layer(hd_module *m)
{
    put_from(m, llama_with(24, 4, true), "model.layers.1");
}

static void qwen2_biases(hd_module *m)
{
    put_biases(m, (const char *const[]){"self_attn.o_proj", NULL});
}

static void one_head_norm(hd_module *m)
{
    put(m, "model.layers.1.self_attn.k_norm", hd_rms_norm_new(8, 0.1));
}

static void llama_attention(hd_module *m)
{
    put_from(m, llama_with(24, 4, false), "model.layers.0.self_attn");
}

static void other_width(hd_module *m)
{
    put(m, "model.embed_tokens", hd_embedding_new(64, 32, HD_NO_PADDING));
}

static void adapters(hd_module *m)
{
    ck_assert(hd_lora_apply(m, NULL));
}

static void adapters_that_hide_biases(hd_module *m)
{
    static const char *const targets[] = {"o_proj", "down_proj"};
    hd_lora_options o = hd_lora_defaults();
    o.target_modules = targets;
    o.num_target_modules = 2;
    ck_assert(hd_lora_apply(m, &o));
}

static hd_tensor *own_forward(hd_module *m, hd_tensor *x)
{
    (void)m;
    return hd_silu(x);
}

static const hd_module_type own_type = HD_MODULE_TYPE(hd_module, "Swish", own_forward);
static const hd_module_type namesake = HD_MODULE_TYPE(hd_module, "SiLU", own_forward);

static void own_module(hd_module *m)
{
    put(m, "model.layers.0.mlp.act_fn", hd_module_ready(hd_module_new(&own_type)));
}

static void own_module_of_the_same_name(hd_module *m)
{
    put(m, "model.layers.0.mlp.act_fn", hd_module_ready(hd_module_new(&namesake)));
}

#define NO_SUCH ". transformers has no such model. Save it with hd_checkpoint_save."

static const struct {
    const char *folder;
    void (*change)(hd_module *m);
    const char *message;
} refused[] = {
    {"llama", two_classes,
     "lm_head is Linear(in_features=16, out_features=2, bias=True), but the configuration says "
     "Linear(in_features=16, out_features=64, bias=False)" NO_SUCH},
    {"gpt2", no_head,
     "lm_head is Dropout(p=0.5), but the configuration says Linear(in_features=16, "
     "out_features=64, bias=False)" NO_SUCH},
    {"gpt2", words_without_head,
     "lm_head is Linear(in_features=16, out_features=64, bias=False), but the configuration says "
     "Linear(in_features=16, out_features=80, bias=False)" NO_SUCH},
    {"gpt2", one_activation,
     "transformer.h.0.mlp.act is ReLU(), but the configuration says "
     "GELU(approximate='tanh')" NO_SUCH},
    {"llama", gelu_in_llama,
     "model.layers.0.mlp.act_fn is GELU(approximate='none'), but the configuration says "
     "SiLU()" NO_SUCH},
    {"gpt2", one_eps,
     "transformer.h.1.ln_2 is LayerNorm((16,), eps=0.5, elementwise_affine=True, bias=True), but "
     "the configuration says LayerNorm((16,), eps=1e-05, elementwise_affine=True, "
     "bias=True)" NO_SUCH},
    {"llama3", one_rms_eps,
     "model.layers.1.input_layernorm is RMSNorm((16,), eps=0.1, elementwise_affine=True), but the "
     "configuration says RMSNorm((16,), eps=1e-06, elementwise_affine=True)" NO_SUCH},
    {"llama", layer_norm_in_llama,
     "model.layers.0.input_layernorm is RMSNorm((16,), eps=1e-06, elementwise_affine=True), but "
     "the configuration says RMSNorm((16,), eps=1e-05, elementwise_affine=True)" NO_SUCH},
    {"gpt2", norm_without_bias,
     "transformer.ln_f is LayerNorm((16,), eps=1e-05, elementwise_affine=True, bias=False), but "
     "the configuration says LayerNorm((16,), eps=1e-05, elementwise_affine=True, "
     "bias=True)" NO_SUCH},
    {"gpt2", one_layer_less,
     "transformer.h.1 is missing, but the configuration says GPT2Block()" NO_SUCH},
    {"qwen2", no_activation,
     "model.layers.0.mlp.act_fn is missing, but the configuration says SiLU()" NO_SUCH},
    {"llama", one_wider,
     "model.layers.0.mlp.gate_proj is Linear(in_features=16, out_features=40, bias=False), but "
     "the configuration says Linear(in_features=16, out_features=24, bias=False)" NO_SUCH},
    {"gpt2", one_wider_conv1d,
     "transformer.h.0.mlp.c_fc is Conv1D(nf=40, nx=16), but the configuration says Conv1D(nf=64, "
     "nx=16)" NO_SUCH},
    {"llama", one_bias,
     "model.layers.0.self_attn.q_proj is Linear(in_features=16, out_features=16, bias=True), but "
     "the configuration says Linear(in_features=16, out_features=16, bias=False)" NO_SUCH},
    {"gpt2", one_dropout,
     "transformer.h.0.mlp.dropout is Dropout(p=0.3), but the configuration says "
     "Dropout(p=0.1)" NO_SUCH},
    {"gpt2", linear_for_conv1d,
     "transformer.h.0.mlp.c_fc is Linear(in_features=16, out_features=64, bias=True), but the "
     "configuration says Conv1D(nf=64, nx=16)" NO_SUCH},
    {"gpt2", identity,
     "transformer.drop is Sequential(), but the configuration says Dropout(p=0.1)" NO_SUCH},
    {"gpt2", gpt2_heads,
     "transformer.h.0.attn is GPT2Attention() with 4 heads, but the configuration says "
     "GPT2Attention() with 2 heads" NO_SUCH},
    {"llama", llama_heads,
     "model.layers.1.self_attn is LlamaAttention() with 2 heads, but the configuration says "
     "LlamaAttention() with 4 heads" NO_SUCH},
    {"llama", qwen2_layer,
     "model.layers.1 is Qwen2DecoderLayer(), but the configuration says "
     "LlamaDecoderLayer()" NO_SUCH},
    {"qwen2", qwen2_biases,
     "model.layers.0.self_attn.o_proj is Linear(in_features=16, out_features=16, bias=True), but "
     "the configuration says Linear(in_features=16, out_features=16, bias=False)" NO_SUCH},
    {"qwen3", one_head_norm,
     "model.layers.1.self_attn.k_norm is RMSNorm((8,), eps=0.1, elementwise_affine=True), but the "
     "configuration says RMSNorm((8,), eps=1e-06, elementwise_affine=True)" NO_SUCH},
    {"qwen3", llama_attention,
     "model.layers.0.self_attn is LlamaAttention() with 4 heads, but the configuration says "
     "Qwen3Attention() with 4 heads" NO_SUCH},
    {"llama", other_width,
     "model.embed_tokens is Embedding(64, 32), but the configuration says "
     "Embedding(64, 16)" NO_SUCH},
    {"llama", own_module,
     "model.layers.0.mlp.act_fn is Swish(), but the configuration says SiLU()" NO_SUCH},
    {"llama", own_module_of_the_same_name,
     "model.layers.0.mlp.act_fn is a class of your own, but the configuration says SiLU()" NO_SUCH},
    {"llama", adapters,
     "'model.layers.0.self_attn.q_proj' has an adapter. Merge the adapters with hd_lora_merge, or "
     "save them with hd_lora_save."},
    {"llama_bias", adapters_that_hide_biases,
     "'model.layers.0.self_attn.o_proj' has an adapter. Merge the adapters with hd_lora_merge, or "
     "save them with hd_lora_save."},
};

/* Nothing is written or drawn, and the model stays. */
START_TEST(changes_are_refused)
{
    HD_SCOPE;
    char wanted[1024];
    int before = files_in_folder();
    hd_module *m = golden_model(refused[_i].folder);
    refused[_i].change(m);
    hd_manual_seed(1);
    hd_tensor *first = hd_rand(HD_FLOAT32, 2);
    const char *summary = hd_module_summary(m);
    hd_manual_seed(1);
    ck_assert(!hd_save_pretrained(m, temporary("changed"), NULL));
    snprintf(wanted, sizeof wanted, "hd_save_pretrained: %s", refused[_i].message);
    ck_error(HD_STATE, wanted);
    ck_assert(hd_equal(hd_rand(HD_FLOAT32, 2), first));
    ck_assert_str_eq(hd_module_summary(m), summary);
    ck_assert_int_eq(files_in_folder(), before);
    hd_module_free(m);
}
END_TEST

/* A size that is out of range has the message of the constructors. */
START_TEST(no_layer_and_no_word)
{
    hd_module *m = golden_model("gpt2");
    put(m, "transformer.h", hd_module_list_n(0, NULL));
    ck_assert(!hd_save_pretrained(m, temporary("changed"), NULL));
    ck_error(HD_VALUE, "hd_save_pretrained: n_layer 0: expected 1 to 2147483647");
    hd_module_free(m);
    m = golden_model("llama");
    put(m, "model.embed_tokens", hd_embedding_new(0, 16, HD_NO_PADDING));
    ck_assert(!hd_save_pretrained(m, temporary("changed"), NULL));
    ck_error(HD_VALUE, "hd_save_pretrained: vocab_size 0: expected 1 to 2147483647");
    hd_module_free(m);
}
END_TEST

/* transformers cannot read these configurations. */
START_TEST(no_config_json)
{
    hd_llama_config c = hd_llama_config_defaults();
    c.vocab_size = c.hidden_size = c.intermediate_size = c.head_dim = 8;
    c.num_hidden_layers = 1;
    c.num_attention_heads = 3;
    hd_module *m = hd_llama_new(&c);
    ck_assert(!hd_save_pretrained(m, temporary("changed"), NULL));
    ck_error(HD_VALUE, "hd_save_pretrained: num_attention_heads 3 does not divide hidden_size 8");
    hd_module_free(m);
    c.num_attention_heads = 2;
    c.rms_norm_eps = INFINITY;
    m = hd_llama_new(&c);
    ck_assert(!hd_save_pretrained(m, temporary("changed"), NULL));
    ck_error(HD_VALUE, "hd_save_pretrained: rms_norm_eps inf: expected a finite number");
    hd_module_free(m);
    c.rms_norm_eps = 1e-6;
    c.pad_token_id = 7;
    m = hd_llama_new(&c);
    put(m, "model.embed_tokens", hd_embedding_new(5, 8, HD_NO_PADDING));
    put(m, "lm_head", hd_linear_new(8, 5, false));
    ck_assert(!hd_save_pretrained(m, temporary("changed"), NULL));
    ck_error(HD_VALUE,
             "hd_save_pretrained: pad_token_id 7 and vocab_size 5: expected a token of the "
             "vocabulary");
    hd_module_free(m);
}
END_TEST

/* Without the key, the class would have a token. */
START_TEST(no_padding_is_written)
{
    HD_SCOPE;
    const char *folder = temporary("changed");
    hd_smollm3_config c = hd_smollm3_config_defaults();
    c.vocab_size = c.hidden_size = c.intermediate_size = 8;
    c.num_hidden_layers = c.num_attention_heads = 2;
    c.num_key_value_heads = 1;
    c.pad_token_id = HD_NO_PADDING;
    hd_module *m = hd_smollm3_new(&c), *again = NULL;
    ck_assert_msg(hd_save_pretrained(m, folder, NULL), "%s", hd_error_message());
    ck_no_warning(again = hd_from_pretrained(folder, NULL));
    ck_assert_msg(again, "%s", hd_error_message());
    ck_assert_str_eq(hd_module_summary(m), hd_module_summary(again));
    hd_module_free(m);
    hd_module_free(again);
    remove_saved(folder);
}
END_TEST

/* The two names of one function: the model's own stays. */
START_TEST(gelu_pytorch_tanh_stays)
{
    size_t n;
    char path[512];
    const char *folder = temporary("changed");
    hd_gpt2_config c = hd_gpt2_config_defaults();
    c.vocab_size = c.n_positions = c.n_embd = 8;
    c.n_layer = c.n_head = 1;
    c.activation_function = "gelu_pytorch_tanh";
    hd_module *m = hd_gpt2_new(&c);
    ck_assert_msg(hd_save_pretrained(m, folder, NULL), "%s", hd_error_message());
    snprintf(path, sizeof path, "%s/config.json", folder);
    char *config = read_file(path, &n);
    ck_assert(strstr(config, "\"activation_function\": \"gelu_pytorch_tanh\","));
    free(config);
    hd_module_free(m);
    remove_saved(folder);
}
END_TEST

/* A text of GPT-2 has as many tokens as the embedding of positions has rows. */
START_TEST(positions_are_those_of_the_module)
{
    HD_SCOPE;
    hd_module *m = golden_model("gpt2");
    hd_tensor *ids = hd_ones(HD_INT64, 1, 65);
    hd_generate_options o = hd_generate_defaults();
    o.max_new_tokens = 63;
    ck_assert_ptr_null(hd_forward(m, ids));
    hd_error_clear();
    more_positions(m);
    ck_assert_int_eq(hd_size(hd_forward(m, ids), 1), 65);
    ck_assert_int_eq(hd_size(hd_generate(m, ids, &o), 1), 128);
    put(m, "transformer.wpe", hd_embedding_new(32, 16, HD_NO_PADDING));
    ck_assert_ptr_null(hd_forward(m, hd_ones(HD_INT64, 1, 33)));
    ck_error(HD_VALUE,
             "GPT2LMHeadModel: ids have 33 tokens: expected at most 32, the context of the model");
    hd_module_free(m);
}
END_TEST

/* GPT-2's attention drops with the module that the summary shows. */
START_TEST(attention_drops_as_its_module_says)
{
    HD_SCOPE;
    hd_module *m = gpt2_with(64, 2);
    other_dropouts(m);
    for (int i = 0; i < 2; i++) {
        put(m, i ? "transformer.h.1.attn.attn_dropout" : "transformer.h.0.attn.attn_dropout",
            hd_dropout_new(0, false));
        put(m, i ? "transformer.h.1.mlp.dropout" : "transformer.h.0.mlp.dropout",
            hd_dropout_new(0, false));
        put(m, i ? "transformer.h.1.attn.resid_dropout" : "transformer.h.0.attn.resid_dropout",
            hd_dropout_new(0, false));
    }
    ck_assert(hd_module_training(m));
    ck_assert(hd_equal(logits(m), logits(m)));
    put(m, "transformer.h.0.attn.attn_dropout", hd_dropout_new(0.5, false));
    ck_assert(!hd_equal(logits(m), logits(m)));
    put(m, "transformer.h.0.attn.attn_dropout", hd_relu_new(false));
    ck_assert_ptr_null(logits(m));
    ck_error(HD_VALUE, "GPT2Attention: hd_dropout_p: m is a ReLU: expected a Dropout");
    ck_assert(hd_module_eval(m) && logits(m));
    hd_module_free(hd_module_take(m, "transformer.h.0.attn.attn_dropout"));
    ck_assert(logits(m) && hd_module_train(m, true) && !logits(m));
    ck_error(HD_NULL_ARG, "GPT2Attention: hd_dropout_p: m is NULL; the field \"attn_dropout\" of "
                          "GPT2Attention is empty");
    hd_module_free(m);
}
END_TEST

Suite *suite_saved(void)
{
    const TTest *const tests[] = {no_layer_and_no_word,
                                  no_config_json,
                                  gelu_pytorch_tanh_stays,
                                  no_padding_is_written,
                                  attention_drops_as_its_module_says,
                                  positions_are_those_of_the_module};
    Suite *s = SUITE("saved", tests);
    TCase *c = tcase_create("changes");
    tcase_add_checked_fixture(c, leak_checked_begin, leak_checked_end);
    tcase_add_loop_test(c, changes_are_saved, 0, sizeof saved / sizeof *saved);
    tcase_add_loop_test(c, changes_are_refused, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(s, c);
    return s;
}
