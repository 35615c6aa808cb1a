/* config.c - config.json, generation_config.json and adapter_config.json.
 *
 * The tables say which keys of a file are used, which have no effect, and which may have some
 * values only, because heed has no others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hf/hf_internal.h"

/* ---------------------------------------------------------------- tables */

/* INT may have any value, SIZE is from 1 to 2^31, and DERIVED is a size or 0: as it follows from
 * others. ONLY: one of the words of `only`. ENDS and NAMES: the next of the end tokens of
 * generation, and of the target modules of adapters, for which there is room. */
typedef enum kind { INT, SIZE, DERIVED, DOUBLE, BOOL, ENDS, NAMES, ONLY } kind;

/* A name is a path. One that ends in '.' also stands for what is inside of it, and one that ends in
 * '_' for all that begin so. */
typedef struct key {
    const char *name;
    kind kind;
    size_t offset; /* in the configuration */
    const char *only;
} key;

typedef struct key_table {
    const key *keys;   /* up to one without a name */
    const char *idle;  /* names that have no effect, as words; NULL: all other names */
    const char *other; /* what is expected in place of a key that is in neither, whose values the
                        * row without a name has, and of ONLY; NULL: such a key is a warning */
} key_table;

#define FIELD(of, kind, field) #field, kind, offsetof(of, field), NULL
#define GPT2(kind, field) FIELD(hd_gpt2_config, kind, field)
#define LLAMA(kind, field) FIELD(hd_llama_config, kind, field)
#define ROPE(prefix, kind, field) prefix #field, kind, offsetof(hd_llama_config, rope.field), NULL
#define SCALING(prefix)                                                                            \
    {ROPE(prefix, DOUBLE, factor)}, {ROPE(prefix, DOUBLE, low_freq_factor)},                       \
        {ROPE(prefix, DOUBLE, high_freq_factor)},                                                  \
    {                                                                                              \
        ROPE(prefix, INT, original_max_position_embeddings)                                        \
    }

static const key gpt2_keys[] = {
    {GPT2(SIZE, vocab_size)},
    {GPT2(SIZE, n_positions)},
    {GPT2(SIZE, n_embd)},
    {GPT2(SIZE, n_layer)},
    {GPT2(SIZE, n_head)},
    {GPT2(DERIVED, n_inner)},
    {GPT2(DOUBLE, layer_norm_epsilon)},
    {GPT2(DOUBLE, embd_pdrop)},
    {GPT2(DOUBLE, attn_pdrop)},
    {GPT2(DOUBLE, resid_pdrop)},
    {GPT2(DOUBLE, initializer_range)},
    {GPT2(BOOL, tie_word_embeddings)},
    {"activation_function", ONLY, 0, "gelu_new"},
    {"scale_attn_weights", ONLY, 0, "true"},
    {"scale_attn_by_inverse_layer_idx", ONLY, 0, "false"},
    {"reorder_and_upcast_attn", ONLY, 0, "false"},
    {"add_cross_attention", ONLY, 0, "false"},
    {NULL, INT, 0, NULL},
};

static const key llama_keys[] = {
    {LLAMA(SIZE, vocab_size)},
    {LLAMA(SIZE, hidden_size)},
    {LLAMA(SIZE, intermediate_size)},
    {LLAMA(SIZE, num_hidden_layers)},
    {LLAMA(SIZE, num_attention_heads)},
    {LLAMA(DERIVED, num_key_value_heads)},
    {LLAMA(DERIVED, head_dim)},
    {LLAMA(SIZE, max_position_embeddings)},
    {LLAMA(INT, pad_token_id)},
    {LLAMA(DOUBLE, rms_norm_eps)},
    {LLAMA(DOUBLE, initializer_range)},
    {LLAMA(BOOL, tie_word_embeddings)},
    {ROPE("rope_", DOUBLE, theta)},
    {ROPE("rope_parameters.rope_", DOUBLE, theta)},
    SCALING("rope_parameters."),
    SCALING("rope_scaling."),
    {"hidden_act", ONLY, 0, "silu"},
    {"attention_bias", ONLY, 0, "false"},
    {"mlp_bias", ONLY, 0, "false"},
    {"attention_dropout", ONLY, 0, "0"},
    {"use_sliding_window", ONLY, 0, "false"},
    {"rope_interleaved", ONLY, 0, "false"},
    {"rope_parameters.partial_rotary_factor", ONLY, 0, "1"},
    {"partial_rotary_factor", ONLY, 0, "1"},
    {"layer_types.", ONLY, 0, "full_attention"},
    {NULL, INT, 0, NULL},
};

/* rope_type_ok reads the types. */
static const char idle_keys[] =
    "architectures. model_type torch_dtype dtype transformers_version use_cache bos_token_id "
    "eos_token_id. pad_token_id _name_or_path task_specific_params. transformers.js_config. "
    "gradient_checkpointing output_ return_dict chunk_size_feed_forward id2label. label2id. n_ctx "
    "summary_ rope_parameters.rope_type rope_scaling.rope_type rope_scaling.type pretraining_tp "
    "is_llama_config max_window_layers sliding_window";

static const key kept_keys[] = {
    {FIELD(hd__config, INT, bos_token_id)},
    {FIELD(hd__config, INT, pad_token_id)},
    {FIELD(hd__config, BOOL, use_cache)},
    {NULL, INT, 0, NULL},
};

static const key generation_keys[] = {
    {FIELD(hd_generate_options, BOOL, do_sample)},
    {FIELD(hd_generate_options, DOUBLE, temperature)},
    {FIELD(hd_generate_options, INT, top_k)},
    {FIELD(hd_generate_options, DOUBLE, top_p)},
    {FIELD(hd_generate_options, DOUBLE, repetition_penalty)},
    {FIELD(hd_generate_options, INT, max_new_tokens)},
    {FIELD(hd_generate_options, INT, pad_token_id)},
    {"num_beams", ONLY, 0, "1"},
    {"eos_token_id.", ENDS, 0, NULL},
    {NULL, INT, 0, NULL},
};

static const key adapter_keys[] = {
    {FIELD(hd_lora_options, INT, r)},
    {FIELD(hd_lora_options, DOUBLE, lora_alpha)},
    {FIELD(hd_lora_options, DOUBLE, lora_dropout)},
    {"target_modules.", NAMES, 0, NULL},
    {"bias", ONLY, 0, "none"},
    {"init_lora_weights", ONLY, 0, "true false gaussian"},
    {"peft_type", ONLY, 0, "LORA"},
    {NULL, ONLY, 0, "false"},
};

static const key_table gpt2_table = {gpt2_keys, idle_keys, NULL};
static const key_table llama_table = {llama_keys, idle_keys, NULL};
static const key_table generation_table = {
    generation_keys,
    "bos_token_id transformers_version _from_model_config max_length use_cache output_ "
    "return_dict_in_generate",
    NULL};
static const key_table ends_only = {
    &generation_keys[sizeof generation_keys / sizeof *generation_keys - 2], NULL, NULL};
static const key_table kept_only = {kept_keys, NULL, NULL};
static const key_table adapter_table = {
    adapter_keys,
    "auto_mapping. base_model_name_or_path fan_in_fan_out inference_mode peft_version "
    "megatron_core. qalora_group_size revision task_type",
    "plain LoRA, without this key or with its default"};

/* ---------------------------------------------------------------- values */

/* A file that was read. */
typedef struct config_file {
    const char *function, *path; /* for messages */
    const hd_dict *values;
} config_file;

/* The value of a name as a text, for a message or to compare it. */
static const char *value_text(const config_file *f, const char *name, char text[HD__FLOAT_TEXT])
{
    double v;
    if (hd_dict_kind_of(f->values, name) == HD_DICT_STRING) {
        return hd_dict_get_string(f->values, name);
    }
    return hd_dict_get_double(f->values, name, &v) ? hd__short_text(v, text) : "";
}

static bool refuse(const config_file *f, const char *name, const char *expected)
{
    char text[HD__FLOAT_TEXT];
    const char *found = value_text(f, name, text);
    return hd_error_set(HD_VALUE, "%s: '%.*s': %.*s: found %.*s: expected %s", f->function,
                        HD__CUT(f->path), HD__CUT(name), HD__CUT(found), expected);
}

/* Does the key of n bytes stand for the name? */
static bool stands_for(const char *key, size_t n, const char *name)
{
    bool inside = key[n - 1] == '.', all = key[n - 1] == '_';
    n -= inside;
    return strncmp(name, key, n) == 0 && (all || !name[n] || (inside && name[n] == '.'));
}

static bool is_among(const char *words, const char *name)
{
    while (*words && !stands_for(words, strcspn(words, " "), name)) {
        words += strcspn(words, " ");
        words += *words == ' ';
    }
    return *words;
}

static bool config_set(const config_file *f, const char *name, const key *k, void *config)
{
    void *at = (char *)config + k->offset;
    char text[HD__FLOAT_TEXT];
    const char *value = value_text(f, name, text);
    hd_dict_kind found = hd_dict_kind_of(f->values, name);
    hd_generate_options *o = config;
    hd_lora_options *lora = config;
    switch (k->kind) {
    case DOUBLE: return found != HD_DICT_STRING && hd_dict_get_double(f->values, name, at);
    case BOOL: *(bool *)at = strcmp(value, "true") == 0; return is_among("true false", value);
    case ONLY: return is_among(k->only, value);
    case ENDS:
        return found == HD_DICT_INT && o->num_eos < HD_EOS_MOST &&
               hd_dict_get_int(f->values, name, &o->eos_token_id[o->num_eos++]);
    case NAMES:
        ((const char **)lora->target_modules)[lora->num_target_modules++] = value;
        return found == HD_DICT_STRING && (strchr(name, '.') || strcmp(value, "all-linear") == 0);
    default: return found == HD_DICT_INT && hd_dict_get_int(f->values, name, at);
    }
}

/* What the key takes, for a message */
static const char *expected_of(const key *k, const char *other)
{
    switch (k->kind) {
    case DOUBLE: return "a number";
    case BOOL: return "true or false";
    case ONLY: return other ? other : k->only;
    case ENDS: return "a whole number, and at most 16 of them";
    case NAMES: return "a list of names, or all-linear";
    default: return "a whole number";
    }
}

/* Fills `config` with what the file has for the keys. */
static bool config_fill(const config_file *f, const key_table *t, void *config)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(f->values); i++) {
        const char *name = hd_dict_name(f->values, i);
        const key *k = t->keys;
        while (k->name && !stands_for(k->name, strlen(k->name), name)) {
            k++;
        }
        bool known = k->name || !t->idle || is_among(t->idle, name);
        if (k->name || (!known && t->other)) {
            ok = config_set(f, name, k, config) || refuse(f, name, expected_of(k, t->other));
        } else if (!known) {
            hd_warn("%s: '%.*s': %.*s has no effect: heed does not know this key", f->function,
                    HD__CUT(f->path), HD__CUT(name));
        }
    }
    return ok;
}

/* ---------------------------------------------------------------- config.json */

/* Which scaling of rotary positions is asked for, in the new form or in the older one? */
static bool rope_type_ok(const config_file *f, hd_rotary_options *rope)
{
    static const char *const names[] = {"rope_parameters.rope_type", "rope_scaling.rope_type",
                                        "rope_scaling.type"};
    const char *type = "default";
    char text[HD__FLOAT_TEXT];
    for (int i = 2; i >= 0; i--) {
        if (hd_dict_kind_of(f->values, names[i]) != HD_DICT_MISSING) {
            type = value_text(f, names[i], text);
            if (!is_among("default llama3", type)) {
                return refuse(f, names[i], "default or llama3");
            }
        }
    }
    if (strcmp(type, "default") == 0) {
        double theta = rope->theta;
        *rope = hd_rotary_defaults();
        rope->theta = theta;
    }
    return true;
}

static bool config_of(const config_file *f, hd__config *c)
{
    static const char name[] = "architectures.0";
    char text[HD__FLOAT_TEXT];
    const char *found =
        hd_dict_kind_of(f->values, name) == HD_DICT_MISSING ? "none" : value_text(f, name, text);
    c->is_gpt2 = strcmp(found, "GPT2LMHeadModel") == 0;
    if (c->is_gpt2) {
        c->gpt2 = hd_gpt2_config_defaults();
        return config_fill(f, &gpt2_table, &c->gpt2);
    }
    bool qwen2 = strcmp(found, "Qwen2ForCausalLM") == 0;
    if (!qwen2 && strcmp(found, "LlamaForCausalLM") != 0) {
        return hd_error_set(HD_VALUE,
                            "%s: '%.*s': architectures: found %.*s: expected GPT2LMHeadModel, "
                            "LlamaForCausalLM or Qwen2ForCausalLM",
                            f->function, HD__CUT(f->path), HD__CUT(found));
    }
    c->llama = hd_llama_config_defaults();
    c->llama.qkv_bias = qwen2;
    return config_fill(f, &llama_table, &c->llama) && rope_type_ok(f, &c->llama.rope);
}

/* What is kept. The class of transformers has values of its own for what is missing. */
static bool kept_read(const config_file *f, hd__config *c)
{
    int64_t first = c->is_gpt2 ? 50256 : 1, last = c->is_gpt2 ? 50256 : 2;
    bool ends = hd_dict_kind_of(f->values, "eos_token_id") != HD_DICT_MISSING ||
                hd_dict_kind_of(f->values, "eos_token_id.0") != HD_DICT_MISSING;
    bool qwen2 = !c->is_gpt2 && c->llama.qkv_bias;
    c->pad_token_id = HD_NO_PADDING;
    c->bos_token_id = qwen2 ? HD_NO_PADDING : first;
    c->use_cache = true;
    c->ends.eos_token_id[0] = last;
    c->ends.num_eos = !ends && !qwen2;
    return config_fill(f, &kept_only, c) && config_fill(f, &ends_only, &c->ends);
}

bool hd__config_read(const char *function, const char *path, hd__config *c)
{
    hd_dict *d = hd__json_values(function, path);
    const config_file f = {function, path, d};
    bool ok = d && config_of(&f, c) && kept_read(&f, c);
    hd_dict_free(d);
    return ok;
}

bool hd__sizes_ok(const char *function, const hd__config *c)
{
    for (const key *k = c->is_gpt2 ? gpt2_keys : llama_keys; k->name; k++) {
        const void *at = (const char *)&c->gpt2 + k->offset;
        int64_t least = k->kind == SIZE, v = least || k->kind == DERIVED ? *(const int64_t *)at : 0;
        if (v < least || v > INT32_MAX) {
            return hd_error_set(HD_VALUE, "%s: %s %" PRId64 ": expected 1 to 2147483647", function,
                                k->name, v);
        }
    }
    return true;
}

bool hd__adapter_config(const char *function, const char *path, const hd_dict *d,
                        hd_lora_options *o)
{
    return config_fill(&(config_file){function, path, d}, &adapter_table, o);
}

/* ---------------------------------------------------------------- generation_config.json */

bool hd_generate_options_load(const char *folder, hd_generate_options *o)
{
    static const char function[] = "hd_generate_options_load";
    if (!hd__given_to(function, "folder", folder) || !hd__given_to(function, "o", o)) {
        return false;
    }
    *o = hd_generate_defaults();
    hd__text path = {0};
    int own = hd__look_for(function, folder, "generation_config.json", &path);
    bool given = own > 0 || (own == 0 && hd__path_of(folder, "config.json", &path));
    hd_dict *d = given ? hd__json_values(function, path.s) : NULL;
    bool ok = d && config_fill(&(config_file){function, path.s, d},
                               own ? &generation_table : &ends_only, o);
    if (!ok) {
        *o = hd_generate_defaults();
    }
    hd_dict_free(d);
    hd_free(path.s);
    return ok;
}
