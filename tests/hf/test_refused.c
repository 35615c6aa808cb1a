/* test_refused.c - tests of invalid folders and calls: the error names the fault, and nothing is
 * leaked. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"

/* The path of a file in the test's folder "m". */
static const char *in_m(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", temporary("m"), name);
    return path;
}

static void begin_m(void)
{
    ck_assert_int_eq(mkdir(temporary("m"), 0700), 0);
}

static void end_m(void)
{
    unlink(in_m("config.json"));
    unlink(in_m("generation_config.json"));
    unlink(in_m("model.safetensors"));
    unlink(in_m("model.safetensors.index.json"));
    unlink(in_m("pytorch_model.bin"));
    ck_assert_int_eq(rmdir(temporary("m")), 0);
}

static void put(const char *name, const char *text)
{
    write_file(in_m(name), text, strlen(text));
}

static void put_weights(const char *model)
{
    char path[512];
    size_t n;
    snprintf(path, sizeof path, MODELS "/%s/model.safetensors", model);
    char *bytes = read_file(path, &n);
    write_file(in_m("model.safetensors"), bytes, n);
    free(bytes);
}

/* Loading fails with this code and message, in which @ stands for the folder. */
static void ck_refused(hd_code code, const char *message)
{
    char wanted[1024];
    const char *at = strchr(message, '@');
    snprintf(wanted, sizeof wanted, "hd_from_pretrained: %.*s%s%s", (int)(at - message), message,
             temporary("m"), at + 1);
    ck_assert_ptr_null(hd_from_pretrained(temporary("m"), NULL));
    ck_error(code, wanted);
}

/* ---------------------------------------------------------------- config.json */

/* That of llama_f16, with one text in place of another. */
static void put_config(const char *old, const char *new)
{
    static const char config[] =
        "{\"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 64, \"hidden_size\": 16, "
        "\"intermediate_size\": 24, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
        "\"num_key_value_heads\": 2, \"tie_word_embeddings\": true, \"hidden_act\": \"silu\", "
        "\"max_position_embeddings\": 64, \"pad_token_id\": 0, \"rope_scaling\": null}";
    char text[1024];
    const char *at = strstr(config, old);
    ck_assert_ptr_nonnull(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - config), config, new, at + strlen(old));
    put("config.json", text);
}

START_TEST(configurations)
{
    static const struct {
        const char *old, *new;
        hd_code code;
        const char *message;
    } cases[] = {
        {"LlamaForCausalLM", "BertModel", HD_VALUE,
         "'@/config.json': model_type none and architectures BertModel" FAMILIES},
        {"[\"LlamaForCausalLM\"]", "null", HD_VALUE,
         "'@/config.json': model_type none and architectures none" FAMILIES},
        {"\"silu\"", "\"gelu\"", HD_VALUE,
         "'@/config.json': hidden_act: found gelu: expected silu or swish"},
        {": 64", ": \"64\"", HD_VALUE,
         "'@/config.json': vocab_size: found \"64\": expected a whole number"},
        {": true", ": 1", HD_VALUE,
         "'@/config.json': tie_word_embeddings: found 1: expected true or false"},
        {"null}", "{\"rope_type\": \"yarn\", \"factor\": 2}}", HD_VALUE,
         "'@/config.json': rope_scaling.rope_type: found yarn: expected default or llama3"},
        {"\"rope_scaling\": null", "\"rms_norm_eps\": \"x\"", HD_VALUE,
         "'@/config.json': rms_norm_eps: found \"x\": expected a number with a point or an "
         "exponent, such as 1.0"},
        {"\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3", HD_VALUE,
         "'@/config.json': num_key_value_heads 3 does not divide num_attention_heads 4"},
        {"\"num_attention_heads\": 4", "\"num_attention_heads\": 6", HD_VALUE,
         "'@/config.json': num_attention_heads 6 does not divide hidden_size 16"},
        {"\"rope_scaling\": null", "\"head_dim\": 7", HD_VALUE,
         "'@/config.json': head_dim 7: expected an even number"},
        {"\"hidden_size\": 16", "\"hidden_size\": -16", HD_VALUE,
         "'@/config.json': hidden_size -16: expected 1 to 2147483647"},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 2000000", HD_FORMAT,
         "'@/config.json': num_hidden_layers is 2000000, but the weights are only 20 tensors"},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", HD_FORMAT,
         "'@/model.safetensors' has no model.layers.2.self_attn.q_proj.weight, which is (16, 16) "
         "in the model"},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", HD_FORMAT,
         "'@/model.safetensors' has model.layers.1.input_layernorm.weight, which the model lacks"},
        {"\"intermediate_size\": 24", "\"intermediate_size\": 25", HD_SHAPE,
         "'@/model.safetensors': model.layers.0.mlp.gate_proj.weight is (24, 16): expected (25, "
         "16)"},
        {": true", ": false", HD_FORMAT,
         "'@/model.safetensors' has no lm_head.weight, which is (64, 16) in the model"},
    };
    begin_m();
    put_weights("llama_f16");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_config(cases[i].old, cases[i].new);
        ck_refused(cases[i].code, cases[i].message);
    }
    put("config.json", "[1, {}");
    ck_refused(HD_FORMAT, "'@/config.json': line 1, column 7: found the end: expected ',' or ']'");
    end_m();
}
END_TEST

START_TEST(keys_without_effect)
{
    char warning[512];
    begin_m();
    put_weights("llama_f16");
    put_config("\"rope_scaling\": null",
               "\"transformers.js_config\": {\"dtype\": 1}, \"a_key\": [1], \"empty\": {}");
    snprintf(warning, sizeof warning,
             "hd_from_pretrained: '%s': a_key.0 has no effect: heed does not know this key",
             in_m("config.json"));
    hd_module *m = NULL;
    ck_warning(m = hd_from_pretrained(temporary("m"), NULL), warning);
    ck_assert_ptr_nonnull(m);
    hd_module_free(m);
    end_m();
}
END_TEST

/* ---------------------------------------------------------------- weights */

START_TEST(weights_that_are_not_there)
{
    begin_m();
    ck_refused(HD_IO, "'@/config.json': cannot open: No such file or directory");
    put_config("null", "null");
    put("pytorch_model.bin", "PK");
    ck_refused(HD_IO, "'@' has no weights: expected model.safetensors or "
                      "model.safetensors.index.json");
    put("model.safetensors.index.json",
        "{\"weight_map\": {\"model.norm.weight\": \"../a.safetensors\"}}");
    ck_assert_ptr_null(hd_from_pretrained(temporary("m"), NULL));
    ck_assert_int_eq(hd_error_code(), HD_FORMAT);
    hd_error_clear();
    put("model.safetensors.index.json",
        "{\"weight_map\": {\"model.norm.weight\": \"a.safetensors\"}}");
    ck_assert_ptr_null(hd_from_pretrained(temporary("m"), NULL));
    ck_assert_int_eq(hd_error_code(), HD_IO);
    hd_error_clear();
    end_m();
}
END_TEST

/* A tied model with a head of its own is untied, with a warning; an equal one stays tied. */
START_TEST(a_head_that_should_be_tied)
{
    char warning[512];
    begin_m();
    put_config("null", "null");
    for (int same = 0; same < 2; same++) {
        HD_SCOPE;
        hd_module *m = golden_model("llama_f16");
        hd_dict *d = hd_module_state_dict(m); /* with lm_head.weight */
        if (!same) {
            ck_assert(hd_dict_set(d, "lm_head.weight", hd_ones(HD_FLOAT32, 64, 16)));
        }
        ck_assert(hd_save_safetensors(in_m("model.safetensors"), d));
        hd_dict_free(d);
        hd_module_free(m);
        snprintf(warning, sizeof warning,
                 "hd_from_pretrained: '%s': tie_word_embeddings is true, but lm_head.weight "
                 "differs from the embedding, so it is not tied",
                 in_m("model.safetensors"));
        CK_WARNINGS(m = hd_from_pretrained(temporary("m"), NULL), !same, same ? "" : warning);
        ck_assert_ptr_nonnull(m);
        hd_tensor *head = hd_module_get_parameter(m, "lm_head.weight");
        bool tied = head == hd_module_get_parameter(m, "model.embed_tokens.weight");
        ck_assert(tied == same && (same || hd_item(hd_min(head)) == 1));
        hd_module_free(m);
    }
    end_m();
}
END_TEST

/* The names that GPT-2's files have on the hub, with masks that nothing needs. */
START_TEST(names_without_transformer)
{
    HD_SCOPE;
    begin_m();
    size_t n;
    char *config = read_file(MODELS "/gpt2/config.json", &n);
    put("config.json", config);
    free(config);
    hd_dict *d = hd_load_safetensors(MODELS "/gpt2/model.safetensors", NULL), *bare = hd_dict_new();
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        if (hd_dict_kind_of(d, name) == HD_DICT_TENSOR) {
            ck_assert(hd_dict_set(bare, name + strlen("transformer."), hd_dict_get(d, name)));
        }
    }
    ck_assert(hd_dict_set(bare, "h.0.attn.bias", hd_ones(HD_FLOAT32, 1, 1, 64, 64)) &&
              hd_dict_set(bare, "h.0.attn.masked_bias", hd_zeros(HD_FLOAT32, 1)));
    ck_assert(hd_save_safetensors(in_m("model.safetensors"), bare));
    hd_module *m = hd_from_pretrained(temporary("m"), NULL), *same = golden_model("gpt2");
    hd_tensor *ids = hd_ones(HD_INT64, 1, 3);
    ck_assert(hd_equal(hd_forward(m, ids), hd_forward(same, ids)));
    hd_dict_free(d);
    hd_dict_free(bare);
    hd_module_free(m);
    hd_module_free(same);
    end_m();
}
END_TEST

START_TEST(options_of_loading)
{
    hd_pretrained_options o = hd_pretrained_defaults();
    o.dtype = HD_FLOAT64;
    ck_assert_ptr_null(hd_from_pretrained(MODELS "/gpt2", &o));
    ck_error(HD_DTYPE, "hd_from_pretrained: o->dtype float64: expected float32 or bfloat16");
    o.size = 3;
    ck_assert_ptr_null(hd_from_pretrained(MODELS "/gpt2", &o));
    ck_error(HD_VALUE, sized("hd_from_pretrained: o->size 3: expected %zu, as "
                             "hd_pretrained_defaults() gives",
                             sizeof o));
#define SIZED(name)                                                                                \
    {                                                                                              \
        hd_##name##_config c = hd_##name##_config_defaults();                                      \
        c.size = 3;                                                                                \
        ck_assert_ptr_null(hd_##name##_new(&c));                                                   \
        ck_error(HD_VALUE, sized("hd_" #name "_new: c->size 3: expected %zu, as hd_" #name         \
                                 "_config_defaults() gives",                                       \
                                 sizeof c));                                                       \
    }
    CONFIGS(SIZED)
}
END_TEST

/* ---------------------------------------------------------------- generation */

START_TEST(calls_of_generate)
{
    HD_SCOPE;
    hd_module *m = golden_model("gpt2"), *linear = hd_linear_new(2, 3, true);
    hd_tensor *ids = hd_ones(HD_INT64, 1, 60);
    hd_generate_options o = hd_generate_defaults();
    ck_assert_ptr_null(hd_generate(m, ids, &o));
    ck_error(HD_VALUE, "hd_generate: ids have 60 tokens, and max_new_tokens is 20: expected at "
                       "most 64 in all, the context of GPT2LMHeadModel");
    ck_assert_ptr_null(hd_forward(m, hd_ones(HD_INT64, 1, 65)));
    ck_error(HD_VALUE,
             "GPT2LMHeadModel: ids have 65 tokens: expected at most 64, the context of the model");
    ck_assert_ptr_null(hd_generate(m, hd_ones(HD_INT64, 1, 0), &o));
    ck_error(HD_SHAPE, "hd_generate: ids are int64 (1, 0): expected int64 (batch, "
                       "tokens)");
    ck_assert_ptr_null(hd_generate(m, hd_ones(HD_FLOAT32, 1, 2), &o));
    ck_error(HD_DTYPE, "hd_generate: ids are float32 (1, 2): expected int64 (batch, "
                       "tokens)");
    ck_assert_ptr_null(hd_forward(m, hd_ones(HD_FLOAT32, 1, 2)));
    ck_error(HD_DTYPE, "GPT2LMHeadModel: ids are float32 (1, 2): expected int64 "
                       "(batch, tokens)");
    ck_assert_ptr_null(hd_generate(m, hd_full(HD_INT64, 64, 1, 2), &o));
    ck_error(HD_INDEX, "Embedding: hd_embedding: index 64 at (0, 0): expected 0 to 63");
    ck_assert_ptr_null(hd_generate(linear, ids, &o));
    ck_error(HD_VALUE, "hd_generate: m is a Linear: expected a model of heed/hf.h");
    o.tokenizer = hd_tokenizer_bytes();
    ids = hd_ones(HD_INT64, 1, 2);
    ck_assert_ptr_null(hd_generate(m, ids, &o));
    ck_error(HD_VALUE, "hd_generate: the tokenizer has 256 tokens: expected at most 64, the "
                       "vocab_size of the model");
    hd_tokenizer_free((hd_tokenizer *)(uintptr_t)o.tokenizer);
    o = hd_generate_defaults();
    o.top_p = 1.5;
    ck_assert_ptr_null(hd_generate(m, ids, &o));
    ck_error(HD_VALUE, "hd_generate: top_p 1.5: expected a number from 0 to 1");
    o = hd_generate_defaults();
    o.temperature = 0;
    o.do_sample = true;
    ck_assert_ptr_null(hd_generate(m, ids, &o));
    ck_error(HD_VALUE, "hd_generate: temperature 0: expected a number above 0");
    o = hd_generate_defaults();
    o.num_eos = 17;
    ck_assert_ptr_null(hd_generate(m, ids, &o));
    ck_error(HD_VALUE, "hd_generate: num_eos 17: expected 0 to 16");
    o.num_eos = 1;
    o.pad_token_id = 64;
    hd_tensor *y = hd_generate(m, ids, &o); /* one text needs no filling */
    ck_assert(y && hd_size(y, 1) > 2);
    ck_assert_ptr_null(hd_generate(m, hd_cat(0, ids, ids), &o));
    ck_error(HD_VALUE, "hd_generate: the pad token is 64: expected less than 64, the vocab_size of "
                       "the model, which reads it after the end of a text");
    hd_tensor *tokens;
    ck_assert_ptr_null(hd_generate_probabilities(ids, ids, NULL, &tokens));
    ck_error(HD_DTYPE, "hd_generate_probabilities: logits (1, 2), ids (1, "
                       "2): expected float32 (batch, vocab) and int64 (batch, tokens)");
    hd_module_free(m);
    hd_module_free(linear);
}
END_TEST

START_TEST(generation_config)
{
    static const struct {
        const char *ends, *found;
    } cases[] = {
        {"[1, \"2\"]", "1: found \"2\""},    {"[1, [2]]", "1.0: found 2"},
        {"[[1, 2]]", "0.0: found 1"},        {"[1, null]", "1: found null"},
        {"[1, {\"a\": 2}]", "1.a: found 2"},
    };
    char text[128], wanted[512];
    hd_generate_options o;
    begin_m();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{\"eos_token_id\": %s, \"top_k\": 3}", cases[i].ends);
        put("generation_config.json", text);
        ck_assert(!hd_generate_options_load(temporary("m"), &o));
        snprintf(wanted, sizeof wanted,
                 "hd_generate_options_load: '%s': eos_token_id.%s: expected a whole number, and at "
                 "most 16 of them",
                 in_m("generation_config.json"), cases[i].found);
        ck_error(HD_VALUE, wanted);
    }
    ck_assert(o.num_eos == 0 && o.top_k == 50);
    put("generation_config.json", "{\"num_beams\": 4}");
    ck_assert(!hd_generate_options_load(temporary("m"), &o));
    snprintf(wanted, sizeof wanted,
             "hd_generate_options_load: '%s': num_beams: found 4: expected 1",
             in_m("generation_config.json"));
    ck_error(HD_VALUE, wanted);
    end_m();
}
END_TEST

Suite *suite_refused(void)
{
    const TTest *const tests[] = {configurations,
                                  keys_without_effect,
                                  weights_that_are_not_there,
                                  a_head_that_should_be_tied,
                                  names_without_transformer,
                                  options_of_loading,
                                  calls_of_generate,
                                  generation_config};
    return SUITE("refused", tests);
}
