/* test_config.c - tests of config.json: the meaning of its keys in any order, keys without effect,
 * refusals. tools/oracle/hf_configs.py compares random files with transformers. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"

static const char *in_config(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", temporary("config"), name);
    return path;
}

static void begin(void)
{
    leak_checked_begin();
    ck_assert_int_eq(mkdir(temporary("config"), 0700), 0);
}

static void end(void)
{
    unlink(in_config("config.json"));
    unlink(in_config("model.safetensors"));
    ck_assert_int_eq(rmdir(temporary("config")), 0);
    leak_checked_end();
}

/* The golden folders whose weights the tests use, and the keys that all of their files have here */
static const struct {
    const char *folder, *keys;
} bases[] = {
    {"gpt2", "\"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 64, \"n_embd\": 16, "
             "\"n_layer\": 2, \"n_positions\": 64"},
    {"llama_f16", "\"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 64, "
                  "\"intermediate_size\": 24, \"num_hidden_layers\": 2, \"hidden_size\": 16, "
                  "\"num_attention_heads\": 4, \"tie_word_embeddings\": true, "
                  "\"max_position_embeddings\": 64"},
    {"qwen2", "\"architectures\": [\"Qwen2ForCausalLM\"], \"vocab_size\": 64, "
              "\"intermediate_size\": 24, \"num_hidden_layers\": 2, \"hidden_size\": 16, "
              "\"num_attention_heads\": 4, \"max_position_embeddings\": 64"},
    {"qwen3", "\"architectures\": [\"Qwen3ForCausalLM\"], \"vocab_size\": 64, "
              "\"intermediate_size\": 24, \"num_hidden_layers\": 2, \"hidden_size\": 16, "
              "\"num_attention_heads\": 4, \"max_position_embeddings\": 64, "
              "\"num_key_value_heads\": 2"},
    {"smollm3", "\"architectures\": [\"SmolLM3ForCausalLM\"], \"vocab_size\": 64, "
                "\"intermediate_size\": 24, \"num_hidden_layers\": 2, \"hidden_size\": 16, "
                "\"num_attention_heads\": 4, \"max_position_embeddings\": 64, "
                "\"num_key_value_heads\": 2, \"pad_token_id\": 0"},
};
enum { GPT2, LLAMA, QWEN2, QWEN3, SMOLLM3 };

#define WINDOW_OF_4 "\"use_sliding_window\": true, \"sliding_window\": 4"
#define KV "\"num_key_value_heads\": 2, "
#define DIM "\"head_dim\": 8, "
#define FACTORS "\"factor\": 8, \"low_freq_factor\": 1, \"high_freq_factor\": 4"

/* A file with these keys, before or after those of its base. */
static void put_keys(int base, const char *keys, bool before)
{
    char text[1024], weights[512];
    size_t n;
    const char *first = before ? keys : bases[base].keys, *then = before ? bases[base].keys : keys;
    snprintf(text, sizeof text, "{%s%s%s}", first, *keys ? ", " : "", then);
    write_file(in_config("config.json"), text, strlen(text));
    snprintf(weights, sizeof weights, MODELS "/%s/model.safetensors", bases[base].folder);
    char *bytes = read_file(weights, &n);
    write_file(in_config("model.safetensors"), bytes, n);
    free(bytes);
}

/* The logits (1, 12, 64) of the model with these keys, which gives one warning, "": none. */
static hd_tensor *logits_of(int base, const char *keys, bool before, const char *warning)
{
    HD_SCOPE;
    char whole[1024] = "";
    put_keys(base, keys, before);
    if (*warning) {
        snprintf(whole, sizeof whole, "hd_from_pretrained: '%s': %s", in_config("config.json"),
                 warning);
    }
    hd_module *m = NULL;
    CK_WARNINGS(m = hd_from_pretrained(temporary("config"), NULL), *warning != '\0', whole);
    ck_assert_msg(m, "%s: %s", keys, hd_error_message());
    hd_tensor *y = hd_forward(m, hd_view(hd_arange(3, 15, 1), 1, 12));
    y = hd_scope_return(hd_detach(y));
    hd_module_free(m);
    return y;
}

/* The keys say what `same` says; `other` has other logits, so that they say something at all. */
START_TEST(keys_that_say_the_same)
{
    static const struct {
        int base;
        const char *keys, *same, *other, *warning;
    } cases[] = {
        {LLAMA,
         KV "\"rope_theta\": 10000, "
            "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 100.0}",
         KV "\"rope_theta\": 100", KV "\"rope_theta\": 10000",
         "rope_theta 10000 has no effect: rope_parameters.rope_theta is 100"},
        {LLAMA, KV "\"rope_scaling\": {\"rope_theta\": 100.0}", KV "\"rope_theta\": 100",
         KV "\"b\": []", ""},
        {LLAMA,
         KV "\"rope_scaling\": {\"type\": \"default\"}, \"rope_theta\": 50, "
            "\"rope_parameters\": {\"rope_theta\": 100.0}",
         KV "\"rope_theta\": 50", KV "\"rope_theta\": 100",
         "rope_parameters has no effect beside rope_scaling"},
        {LLAMA, KV "\"rope_scaling\": {}, \"rope_parameters\": {\"rope_theta\": 100.0}",
         KV "\"rope_theta\": 100", KV "\"b\": []", ""},
        {LLAMA, KV "\"rope_scaling\": {\"type\": \"llama3\", " FACTORS "}",
         KV "\"rope_parameters\": {\"rope_type\": \"llama3\", " FACTORS
            ", \"original_max_position_embeddings\": 64}",
         KV "\"b\": []", ""},
        {LLAMA,
         KV
         "\"original_max_position_embeddings\": 4, \"rope_scaling\": {\"rope_type\": \"llama3\", "
         "\"original_max_position_embeddings\": 64, " FACTORS "}",
         KV "\"rope_scaling\": {\"rope_type\": \"llama3\", "
            "\"original_max_position_embeddings\": 4, " FACTORS "}",
         KV "\"rope_scaling\": {\"rope_type\": \"llama3\", "
            "\"original_max_position_embeddings\": 64, " FACTORS "}",
         ""},
        {LLAMA, KV "\"rope_parameters\": {\"rope_type\": \"default\", \"factor\": 4}",
         KV "\"b\": []", NULL, "rope_parameters.factor has no effect: heed does not know this key"},
        {LLAMA, KV "\"rope_parameters\": {\"partial_rotary_factor\": 1.0}", KV "\"b\": []", NULL,
         ""},
        {LLAMA, KV "\"rope_parameters\": {\"partial_rotary_factor\": 0.5}", KV "\"b\": []", NULL,
         "rope_parameters.partial_rotary_factor has no effect on this model"},
        {LLAMA, KV "\"sliding_window\": 4", KV "\"b\": []", NULL,
         "sliding_window has no effect on this model"},
        {LLAMA, KV "\"use_sliding_window\": true", KV "\"b\": []", NULL,
         "use_sliding_window has no effect on this model"},
        {LLAMA, KV "\"layer_types\": [\"full_attention\", \"sliding_attention\"]", KV "\"b\": []",
         NULL, "layer_types.1 has no effect on this model"},
        {LLAMA, KV "\"partial_rotary_factor\": 0.5", KV "\"b\": []", NULL,
         "partial_rotary_factor has no effect on this model"},
        {LLAMA, KV "\"attention_dropout\": 0.1", KV "\"b\": []", NULL,
         "attention_dropout has no effect on this model"},
        {LLAMA,
         KV "\"hidden_act\": \"swish\", \"attention_dropout\": null, \"pad_token_id\": null, "
            "\"head_dim\": null, \"model_type\": \"llama\", \"rms_norm_eps\": 1e-06",
         KV "\"b\": []", NULL, ""},
        {QWEN2, KV "\"attention_bias\": true", KV "\"b\": []", NULL,
         "attention_bias has no effect on this model"},
        {QWEN2, KV "\"mlp_bias\": {\"a\": 1}", KV "\"b\": []", NULL,
         "mlp_bias.a has no effect: heed does not know this key"},
        {QWEN2, KV "\"use_sliding_window\": true, \"max_window_layers\": 28", KV "\"b\": []", NULL,
         ""},
        {QWEN2,
         KV "\"use_sliding_window\": true, \"max_window_layers\": 0, \"sliding_window\": null",
         KV "\"b\": []", NULL, ""},
        {QWEN3, DIM "\"attention_bias\": false, \"mlp_bias\": false, \"sliding_window\": 4",
         DIM "\"b\": []", NULL, ""},
        {QWEN3, DIM "\"rms_norm_eps\": 0.5", DIM "\"rms_norm_eps\": 0.5", DIM "\"b\": []", ""},
        {SMOLLM3, "\"no_rope_layers\": [2, 0, 1]", "\"no_rope_layer_interval\": 2",
         "\"no_rope_layers\": [1, 1]", ""},
        {SMOLLM3, "\"no_rope_layers\": null", "\"no_rope_layers\": [1, 1]",
         "\"no_rope_layers\": [0, 0]", ""},
        {SMOLLM3, "\"rope_theta\": 2e6, \"use_sliding_window\": true", "\"b\": []",
         "\"rope_theta\": 100", ""},
        {SMOLLM3, WINDOW_OF_4 ", \"no_rope_layers\": [1, 2, 0]", "\"no_rope_layers\": [1, 1]",
         "\"no_rope_layers\": [0, 0]", ""}, /* no layer that is run has the window */
        {SMOLLM3, WINDOW_OF_4, "\"b\": []", NULL, ""},
        {SMOLLM3,
         WINDOW_OF_4 ", \"layer_types\": [\"full_attention\", \"full_attention\"], "
                     "\"no_rope_layers\": [0, 0]",
         "\"no_rope_layers\": [0, 0]", "\"b\": []", ""},
        {GPT2, "\"n_head\": 4, \"num_attention_heads\": 2", "\"n_head\": 2", "\"n_head\": 4", ""},
        {GPT2, "\"n_head\": 2, \"n_inner\": null, \"reorder_and_upcast_attn\": true, \"n_ctx\": 9",
         "\"n_head\": 2", NULL, ""},
        {GPT2, "\"n_head\": 2, \"activation_function\": \"gelu_pytorch_tanh\"",
         "\"n_head\": 2, \"activation_function\": \"gelu_new\"",
         "\"n_head\": 2, \"activation_function\": \"gelu\"", ""},
        {GPT2, "\"n_head\": 2, \"activation_function\": \"relu\"",
         "\"n_head\": 2, \"activation_function\": \"relu\"", "\"n_head\": 2", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int before = 0; before < 2; before++) {
            HD_SCOPE;
            hd_tensor *y = logits_of(cases[i].base, cases[i].keys, before, cases[i].warning);
            hd_tensor *same = logits_of(cases[i].base, cases[i].same, before, "");
            ck_assert_msg(hd_equal(y, same), "%s: other logits than %s", cases[i].keys,
                          cases[i].same);
            ck_assert(!cases[i].other ||
                      !hd_equal(y, logits_of(cases[i].base, cases[i].other, before, "")));
        }
    }
}
END_TEST

#define ENDS ": expected a whole number, and at most 16 of them"
#define FULL ": expected a list of full_attention, or null"
#define FLAGS ": expected a list of at most 128 whole numbers"
#define WINDOW "expected false. heed has no attention with a window"

START_TEST(keys_that_are_refused)
{
    static const struct {
        int base;
        const char *keys, *message;
    } cases[] = {
        {LLAMA, "\"model_type\": \"mistral\", \"sliding_window\": 4",
         "model_type mistral and architectures LlamaForCausalLM" FAMILIES},
        {LLAMA, "\"model_type\": \"qwen2\"",
         "model_type qwen2 and architectures LlamaForCausalLM" FAMILIES},
        {LLAMA, "\"model_type\": 7",
         "model_type a number and architectures LlamaForCausalLM" FAMILIES},
        {LLAMA, "\"model_type\": [\"llama\"]",
         "model_type: found a list or an object: expected llama or null"},
        {LLAMA, "\"model_type\": \"llama\\u0000\"",
         "model_type \"llama\\u0000\" and architectures LlamaForCausalLM" FAMILIES},
        {LLAMA, "\"model_type\": {}", "model_type {} and architectures LlamaForCausalLM" FAMILIES},
        {LLAMA,
         "\"rope_scaling\": {\"rope_type\": \"llama3\", \"low_freq_factor\": 1, "
         "\"high_freq_factor\": 4}",
         "rope_scaling.factor is missing: expected a number. The rope_type llama3 needs it"},
        {LLAMA,
         "\"rope_parameters\": {\"type\": \"llama3\", \"factor\": 2, \"low_freq_factor\": 1}",
         "rope_parameters.high_freq_factor is missing: expected a number. The rope_type llama3 "
         "needs it"},
        {LLAMA,
         "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 2, \"low_freq_factor\": 4, "
         "\"high_freq_factor\": 4}",
         "rope_theta 10000, factor 2, low_freq_factor 4 and high_freq_factor 4: expected numbers "
         "above 0, and low_freq_factor below high_freq_factor"},
        {LLAMA,
         "\"rope_scaling\": {\"rope_type\": \"llama3\", " FACTORS
         ", \"partial_rotary_factor\": 0.5}",
         "rope_scaling.partial_rotary_factor: found 0.5: expected null or 1"},
        {LLAMA,
         "\"rope_scaling\": {\"rope_type\": \"llama3\", \"original_max_position_embeddings\": "
         "null, " FACTORS "}",
         "rope_scaling.original_max_position_embeddings: found null: expected a whole number"},
        {LLAMA, "\"rope_scaling\": {\"rope_type\": null}",
         "rope_scaling.rope_type: found null: expected default or llama3"},
        {LLAMA, "\"rope_scaling\": {\"type\": [1]}",
         "rope_scaling.type: found a list or an object: expected default or llama3"},
        {LLAMA, "\"rope_scaling\": true", "rope_scaling: found true: expected an object"},
        {LLAMA, "\"rope_scaling\": [1]", "rope_scaling.0: found 1: expected an object"},
        {LLAMA, "\"rope_scaling\": [[]]", "rope_scaling.0: found []: expected an object"},
        {LLAMA, "\"rope_scaling\": [{\"type\": \"default\"}]",
         "rope_scaling.0.type: found \"default\": expected an object"},
        {LLAMA, "\"rope_parameters\": []", "rope_parameters: found []: expected an object"},
        {LLAMA, "\"rope_parameters\": {\"rope_theta\": \"5\"}",
         "rope_parameters.rope_theta: found \"5\": expected a number"},
        {LLAMA, "\"rope_theta\": null", "rope_theta: found null: expected a number"},
        {LLAMA, "\"rms_norm_eps\": {}",
         "rms_norm_eps: found {}: expected a number with a point or an exponent, such as 1.0"},
        {LLAMA, "\"rms_norm_eps\": 1",
         "rms_norm_eps: found 1: expected a number with a point or an exponent, such as 1.0"},
        {LLAMA, "\"hidden_act\": []", "hidden_act: found []: expected silu or swish"},
        {LLAMA, "\"hidden_act\": [\"silu\"]",
         "hidden_act: found a list or an object: expected silu or swish"},
        {LLAMA, "\"attention_bias\": null", "attention_bias: found null: expected true or false"},
        {LLAMA, "\"mlp_bias\": \"true\"", "mlp_bias: found \"true\": expected true or false"},
        {LLAMA, "\"use_cache\": 1", "use_cache: found 1: expected true or false"},
        {LLAMA, "\"head_dim\": 0", "head_dim: found 0: expected a whole number above 0, or null"},
        {LLAMA, "\"bos_token_id\": 1.5", "bos_token_id: found 1.5: expected a whole number"},
        {LLAMA, "\"bos_token_id\": 1.0", "bos_token_id: found 1.0: expected a whole number"},
        {LLAMA, "\"eos_token_id\": \"7\"",
         "eos_token_id: found \"7\": expected a whole number, and at most 16 of them"},
        {LLAMA, "\"pad_token_id\": true", "pad_token_id: found true: expected a whole number"},
        {LLAMA, "\"pad_token_id\": 64",
         "pad_token_id 64 and vocab_size 64: expected a token of the vocabulary"},
        {LLAMA, "\"pad_token_id\": -65",
         "pad_token_id -65 and vocab_size 64: expected a token of the vocabulary"},
        {LLAMA, "\"eos_token_id\": {\"0\": 1}",
         "eos_token_id.\"0\": found 1: expected a whole number, and at most 16 of them"},
        {LLAMA, "\"eos_token_id\": {\"a\": 1}",
         "eos_token_id.a: found 1: expected a whole number, and at most 16 of them"},
        {LLAMA, "\"eos_token_id\": [1, [2]]", "eos_token_id.1.0: found 2" ENDS},
        {LLAMA, "\"eos_token_id\": [[]]", "eos_token_id.0: found []" ENDS},
        {GPT2, "\"eos_token_id\": [1, null]", "eos_token_id.1: found null" ENDS},
        {GPT2, "\"eos_token_id\": [{\"a\": 1}]", "eos_token_id.0.a: found 1" ENDS},
        {LLAMA, "\"layer_types\": [\"full_attention\"]",
         "layer_types has 1 entries: expected 2, the num_hidden_layers"},
        {LLAMA, "\"per_layer_config\": {\"0\": {\"head_dim\": 2}}",
         "per_layer_config.\"0\".head_dim: found 2: expected null or {}"},
        {LLAMA, "\"quantization_config\": {\"bits\": 4}",
         "quantization_config.bits: found 4: expected null"},
        {QWEN2, "\"attention_dropout\": null", "attention_dropout: found null: expected a number"},
        {QWEN2, "\"use_sliding_window\": true, \"max_window_layers\": 1",
         "use_sliding_window: found true: " WINDOW},
        {QWEN2, "\"use_sliding_window\": 1", "use_sliding_window: found 1: expected true or false"},
        {QWEN3, "\"head_dim\": null", "head_dim: found null: expected a whole number"},
        {QWEN3, DIM "\"use_sliding_window\": true, \"max_window_layers\": 1",
         "use_sliding_window: found true: " WINDOW},
        {QWEN3, DIM "\"layer_types\": [\"full_attention\", \"sliding_attention\"]",
         "layer_types.1: found sliding_attention" FULL},
        {QWEN2, "\"layer_types\": \"full_attention\"", "layer_types: found full_attention" FULL},
        {QWEN2, "\"layer_types\": [\"full_attention\", null]", "layer_types.1: found null" FULL},
        {QWEN3, DIM "\"layer_types\": [\"full_attention\", [\"full_attention\"]]",
         "layer_types.1.0: found full_attention" FULL},
        {SMOLLM3, "\"no_rope_layers\": [1]",
         "no_rope_layers has 1 entries: expected 2, the num_hidden_layers"},
        {SMOLLM3, "\"no_rope_layers\": []", "no_rope_layers: found []" FLAGS},
        {SMOLLM3, "\"no_rope_layers\": 1", "no_rope_layers: found 1" FLAGS},
        {SMOLLM3, "\"no_rope_layers\": [true, 1]", "no_rope_layers.0: found true" FLAGS},
        {SMOLLM3, "\"no_rope_layers\": {\"a\": 1}", "no_rope_layers.a: found 1" FLAGS},
        {SMOLLM3, "\"no_rope_layers\": [1, [0]]", "no_rope_layers.1.0: found 0" FLAGS},
        {SMOLLM3, "\"no_rope_layers\": [1, 0, {\"a\": 1}]", "no_rope_layers.2.a: found 1" FLAGS},
        {SMOLLM3, "\"no_rope_layers\": [1, null, 0]", "no_rope_layers.1: found null" FLAGS},
        {SMOLLM3, "\"no_rope_layer_interval\": 0", "no_rope_layer_interval 0: expected 1 or more"},
        {SMOLLM3, WINDOW_OF_4 ", \"no_rope_layer_interval\": 2",
         "use_sliding_window: found true: " WINDOW},
        {SMOLLM3, WINDOW_OF_4 ", \"no_rope_layers\": [1, 0]",
         "use_sliding_window: found true: " WINDOW},
        {SMOLLM3, WINDOW_OF_4 ", \"no_rope_layers\": [0, 0]",
         "use_sliding_window: found true: " WINDOW},
        {SMOLLM3, WINDOW_OF_4 ", \"no_rope_layer_interval\": 0",
         "no_rope_layer_interval 0: expected 1 or more"},
        {SMOLLM3, WINDOW_OF_4 ", \"no_rope_layers\": [1]",
         "no_rope_layers has 1 entries: expected 2, the num_hidden_layers"},
        {SMOLLM3, "\"layer_types\": [\"full_attention\"]",
         "layer_types has 1 entries: expected 2, the num_hidden_layers"},
        {GPT2, "\"activation_function\": \"silu\"",
         "activation_function: found silu: expected gelu_new, gelu_pytorch_tanh, gelu or relu"},
        {GPT2, "\"activation_function\": null",
         "activation_function: found null: expected gelu_new, gelu_pytorch_tanh, gelu or relu"},
        {GPT2, "\"n_inner\": 0", "n_inner: found 0: expected a whole number above 0, or null"},
        {GPT2, "\"embd_pdrop\": null", "embd_pdrop: found null: expected a number"},
        {GPT2, "\"num_hidden_layers\": \"2\"",
         "num_hidden_layers: found \"2\": expected a whole number"},
        {GPT2, "\"scale_attn_weights\": false", "scale_attn_weights: found false: expected true"},
        {GPT2, "\"scale_attn_weights\": \"true\"",
         "scale_attn_weights: found \"true\": expected true"},
    };
    char wanted[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int before = 0; before < 2; before++) {
            put_keys(cases[i].base, cases[i].keys, before);
            ck_assert_ptr_null(hd_from_pretrained(temporary("config"), NULL));
            snprintf(wanted, sizeof wanted, "hd_from_pretrained: '%s': %s",
                     in_config("config.json"), cases[i].message);
            ck_error(HD_VALUE, wanted);
        }
    }
}
END_TEST

/* Fails with the code, and with this at the end of the message. */
static void ck_ends(const char *config, hd_code code, const char *message)
{
    write_file(in_config("config.json"), config, strlen(config));
    ck_assert_ptr_null(hd_from_pretrained(temporary("config"), NULL));
    ck_assert_int_eq(hd_error_code(), code);
    const char *found = strstr(hd_error_message(), message);
    ck_assert_msg(found && !found[strlen(message)], "%s", hd_error_message());
    hd_error_clear();
}

/* A size has the default of its family, and the error says that the file does not have it. */
START_TEST(sizes_that_are_left_out)
{
    put_keys(LLAMA, "", false);
    ck_ends("{\"model_type\": \"llama\", \"vocab_size\": 64, \"intermediate_size\": 24, "
            "\"num_hidden_layers\": 2, \"num_attention_heads\": 4}",
            HD_FORMAT, ". config.json has no hidden_size");
    ck_ends("{\"model_type\": \"llama\", \"vocab_size\": 64, \"hidden_size\": 32, "
            "\"num_hidden_layers\": 2, \"num_attention_heads\": 4}",
            HD_FORMAT, ". config.json has no intermediate_size");
    ck_ends("{\"model_type\": \"llama\", \"vocab_size\": 64, \"hidden_size\": 16, "
            "\"intermediate_size\": 24, \"num_attention_heads\": 4}",
            HD_FORMAT, "but the weights are only 20 tensors. config.json has no num_hidden_layers");
    ck_ends("{\"model_type\": \"qwen2\", \"vocab_size\": 64, \"hidden_size\": 16, "
            "\"intermediate_size\": 24, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
            "\"max_position_embeddings\": 64}",
            HD_VALUE, "num_key_value_heads 32 does not divide num_attention_heads 4");
    ck_ends("{\"model_type\": \"llama\", \"model_type\": \"llama\"}", HD_FORMAT,
            "line 1, column 39: found a string: expected each name once");
    ck_ends(
        "{\"model_type\": \"llama\", \"rope_scaling\": {\"rope_theta\": 1}, \"rope_scaling\": {}}",
        HD_FORMAT, "line 1, column 76: found an object: expected each name once");
    ck_ends("{\"a\": [1], \"a\": []}", HD_FORMAT,
            "line 1, column 17: found an array: expected each name once");
    ck_ends("3", HD_FORMAT, "line 1, column 1: found a number: expected an object");
    ck_ends(" \"a\"", HD_FORMAT, "line 1, column 2: found a string: expected an object");
}
END_TEST

/* The file of a tied model that safetensors' save_model has written */
START_TEST(a_head_alone)
{
    HD_SCOPE;
    put_keys(LLAMA, "\"num_key_value_heads\": 2", false);
    hd_module *m = hd_from_pretrained(temporary("config"), NULL);
    hd_dict *d = hd_module_state_dict(m);
    hd_tensor *ids = hd_view(hd_arange(3, 15, 1), 1, 12), *y = hd_forward(m, ids);
    ck_assert(hd_dict_remove(d, "model.embed_tokens.weight"));
    ck_assert(hd_save_safetensors(in_config("model.safetensors"), d));
    hd_module *again = NULL;
    ck_no_warning(again = hd_from_pretrained(temporary("config"), NULL));
    ck_assert(hd_equal(hd_forward(again, ids), y));
    ck_assert(hd_module_get_parameter(again, "lm_head.weight") ==
              hd_module_get_parameter(again, "model.embed_tokens.weight"));
    hd_dict_free(d);
    hd_module_free(m);
    hd_module_free(again);
}
END_TEST

START_TEST(pointers_of_git_lfs)
{
    static const char pointer[] =
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    static const char *const names[] = {"model.safetensors", "config.json"};
    char wanted[1024];
    put_keys(LLAMA, KV "\"b\": []", false);
    for (int i = 0; i < 2; i++) {
        write_file(in_config(names[i]), pointer, strlen(pointer));
        ck_assert_ptr_null(hd_from_pretrained(temporary("config"), NULL));
        snprintf(wanted, sizeof wanted,
                 "hd_from_pretrained: '%s': this is a Git LFS pointer, not the file. To fetch the "
                 "file, run 'git lfs pull' in its folder",
                 in_config(names[i]));
        ck_error(HD_FORMAT, wanted);
    }
    ck_assert_ptr_null(hd_tokenizer_json(in_config("config.json")));
    snprintf(wanted, sizeof wanted,
             "hd_tokenizer_json: '%s': this is a Git LFS pointer, not the file. To fetch the "
             "file, run 'git lfs pull' in its folder",
             in_config("config.json"));
    ck_error(HD_FORMAT, wanted);
}
END_TEST

/* The end tokens of config.json: without the key, those of the class. */
START_TEST(end_tokens_that_are_left_out)
{
    static const struct {
        int base;
        const char *keys;
        int64_t n, first;
    } cases[] = {
        {GPT2, "", 1, 50256},
        {LLAMA, "", 1, 2},
        {QWEN2, "", 0, 0},
        {LLAMA, "\"eos_token_id\": null", 0, 0},
        {LLAMA, "\"eos_token_id\": []", 0, 0},
        {GPT2, "\"eos_token_id\": [7, 5]", 2, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_generate_options o;
        put_keys(cases[i].base, cases[i].keys, false);
        ck_assert(hd_generate_options_load(temporary("config"), &o));
        ck_assert_int_eq(o.num_eos, cases[i].n);
        ck_assert(o.num_eos == 0 || o.eos_token_id[0] == cases[i].first);
    }
}
END_TEST

START_TEST(new_models)
{
    hd_gpt2_config gpt2 = hd_gpt2_config_defaults();
    gpt2.n_embd = gpt2.n_head = gpt2.n_layer = 1;
    for (int i = 0; i < 2; i++) {
        gpt2.activation_function = i ? "silu" : NULL;
        ck_assert_ptr_null(hd_gpt2_new(&gpt2));
        ck_error(HD_VALUE, i ? "hd_gpt2_new: activation_function silu: expected gelu_new, "
                               "gelu_pytorch_tanh, gelu or relu"
                             : "hd_gpt2_new: activation_function NULL: expected gelu_new, "
                               "gelu_pytorch_tanh, gelu or relu");
    }
    hd_llama_config llama = hd_llama_config_defaults();
    llama.qkv_bias = llama.mlp_bias = true;
    ck_assert_ptr_null(hd_llama_new(&llama));
    ck_error(HD_VALUE,
             "hd_llama_new: qkv_bias and mlp_bias are both true: expected only one of them");
    llama.attention_bias = true;
    ck_assert_ptr_null(hd_llama_new(&llama));
    ck_error(HD_VALUE,
             "hd_llama_new: qkv_bias and attention_bias are both true: expected only one of them");
    hd_smollm3_config smollm3 = hd_smollm3_config_defaults();
    smollm3.num_no_rope_layers = 35;
    ck_assert_ptr_null(hd_smollm3_new(&smollm3));
    ck_error(HD_VALUE, "hd_smollm3_new: no_rope_layers has 35 entries: expected 36, the "
                       "num_hidden_layers");
    smollm3.num_hidden_layers = HD_LAYERS_MOST + 1;
    ck_assert_ptr_null(hd_smollm3_new(&smollm3));
    ck_error(HD_VALUE, "hd_smollm3_new: num_hidden_layers 129: expected at most 128");
    hd_qwen3_config qwen3 = hd_qwen3_config_defaults();
    qwen3.head_dim = 0;
    ck_assert_ptr_null(hd_qwen3_new(&qwen3));
    ck_error(HD_VALUE, "hd_qwen3_new: head_dim 0: expected 1 to 2147483647");
}
END_TEST

Suite *suite_config(void)
{
    const TTest *const tests[] = {keys_that_say_the_same,
                                  keys_that_are_refused,
                                  sizes_that_are_left_out,
                                  a_head_alone,
                                  pointers_of_git_lfs,
                                  end_tokens_that_are_left_out,
                                  new_models};
    return SUITE_BETWEEN("config", tests, begin, end);
}
