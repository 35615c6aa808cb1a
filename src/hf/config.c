/* config.c - config.json and generation_config.json.
 *
 * The tables say which keys of config.json are used, which have no effect, and which may have one
 * value only, because heed has no other. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hf/hf_internal.h"

/* ---------------------------------------------------------------- tables */

typedef enum kind { INT, DOUBLE, BOOL, ONLY } kind;

typedef struct key {
    const char *name; /* a path; one that ends in '.' stands for all that begin so */
    kind kind;
    size_t offset;    /* in the configuration */
    const char *only; /* the one value */
} key;

#define GPT2(kind, field)                                                                          \
    {                                                                                              \
#field, kind, offsetof(hd_gpt2_config, field), NULL                                        \
    }
#define LLAMA(kind, field)                                                                         \
    {                                                                                              \
#field, kind, offsetof(hd_llama_config, field), NULL                                       \
    }
#define ROPE(name, field)                                                                          \
    {                                                                                              \
        name, DOUBLE, offsetof(hd_llama_config, rope.field), NULL                                  \
    }
#define ROPE_INT(name, field)                                                                      \
    {                                                                                              \
        name, INT, offsetof(hd_llama_config, rope.field), NULL                                     \
    }

static const key gpt2_keys[] = {
    GPT2(INT, vocab_size),
    GPT2(INT, n_positions),
    GPT2(INT, n_embd),
    GPT2(INT, n_layer),
    GPT2(INT, n_head),
    GPT2(INT, n_inner),
    GPT2(DOUBLE, layer_norm_epsilon),
    GPT2(DOUBLE, embd_pdrop),
    GPT2(DOUBLE, attn_pdrop),
    GPT2(DOUBLE, resid_pdrop),
    GPT2(DOUBLE, initializer_range),
    GPT2(BOOL, tie_word_embeddings),
    {"activation_function", ONLY, 0, "gelu_new"},
    {"scale_attn_weights", ONLY, 0, "true"},
    {"scale_attn_by_inverse_layer_idx", ONLY, 0, "false"},
    {"reorder_and_upcast_attn", ONLY, 0, "false"},
    {"add_cross_attention", ONLY, 0, "false"},
    {NULL, INT, 0, NULL},
};

static const key llama_keys[] = {
    LLAMA(INT, vocab_size),
    LLAMA(INT, hidden_size),
    LLAMA(INT, intermediate_size),
    LLAMA(INT, num_hidden_layers),
    LLAMA(INT, num_attention_heads),
    LLAMA(INT, num_key_value_heads),
    LLAMA(INT, head_dim),
    LLAMA(INT, max_position_embeddings),
    LLAMA(INT, pad_token_id),
    LLAMA(DOUBLE, rms_norm_eps),
    LLAMA(DOUBLE, initializer_range),
    LLAMA(BOOL, tie_word_embeddings),
    ROPE("rope_theta", theta),
    ROPE("rope_parameters.rope_theta", theta),
    ROPE("rope_parameters.factor", factor),
    ROPE("rope_parameters.low_freq_factor", low_freq_factor),
    ROPE("rope_parameters.high_freq_factor", high_freq_factor),
    ROPE_INT("rope_parameters.original_max_position_embeddings", original_max_position_embeddings),
    ROPE("rope_scaling.factor", factor),
    ROPE("rope_scaling.low_freq_factor", low_freq_factor),
    ROPE("rope_scaling.high_freq_factor", high_freq_factor),
    ROPE_INT("rope_scaling.original_max_position_embeddings", original_max_position_embeddings),
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

/* What has no effect: words in the form of a key's name. rope_type_ok reads the types. */
static const char idle_keys[] =
    "architectures. model_type torch_dtype dtype transformers_version use_cache bos_token_id "
    "eos_token_id eos_token_id. pad_token_id _name_or_path task_specific_params. "
    "transformers.js_config. gradient_checkpointing output_ return_dict chunk_size_feed_forward "
    "id2label. label2id. n_ctx summary_ rope_parameters.rope_type rope_scaling.rope_type "
    "rope_scaling.type pretraining_tp is_llama_config max_window_layers sliding_window";

static const key generation_keys[] = {
    {"do_sample", BOOL, offsetof(hd_generate_options, do_sample), NULL},
    {"temperature", DOUBLE, offsetof(hd_generate_options, temperature), NULL},
    {"top_k", INT, offsetof(hd_generate_options, top_k), NULL},
    {"top_p", DOUBLE, offsetof(hd_generate_options, top_p), NULL},
    {"repetition_penalty", DOUBLE, offsetof(hd_generate_options, repetition_penalty), NULL},
    {"max_new_tokens", INT, offsetof(hd_generate_options, max_new_tokens), NULL},
    {"pad_token_id", INT, offsetof(hd_generate_options, pad_token_id), NULL},
    {"num_beams", ONLY, 0, "1"},
    {NULL, INT, 0, NULL},
};

static const char idle_generation_keys[] =
    "eos_token_id eos_token_id. bos_token_id transformers_version _from_model_config max_length "
    "use_cache output_ return_dict_in_generate";

/* ---------------------------------------------------------------- values */

/* The value of a name as a text, for a message or to compare it. */
static const char *value_text(const hd_dict *d, const char *name, char text[64])
{
    int64_t whole;
    double v;
    hd_dict_kind found = hd_dict_kind_of(d, name);
    if (found == HD_DICT_STRING) {
        return hd_dict_get_string(d, name);
    }
    if (found == HD_DICT_INT && hd_dict_get_int(d, name, &whole)) {
        snprintf(text, 64, "%" PRId64, whole);
    } else if (hd_dict_get_double(d, name, &v)) {
        return hd__short_text(v, text);
    }
    return text;
}

static bool refuse(const char *call, const char *path, const hd_dict *d, const char *name,
                   const char *expected)
{
    char text[64];
    const char *found = value_text(d, name, text);
    return hd_error_set(HD_VALUE, "%s: '%.*s': %.*s: found %.*s: expected %s", call, HD__CUT(path),
                        HD__CUT(name), HD__CUT(found), expected);
}

static bool config_set(const char *call, const char *path, const hd_dict *d, const char *name,
                       const key *k, void *config)
{
    char *at = (char *)config + k->offset, text[64];
    hd_dict_kind found = hd_dict_kind_of(d, name);
    const char *string = found == HD_DICT_STRING ? hd_dict_get_string(d, name) : NULL;
    switch (k->kind) {
    case INT:
        return found == HD_DICT_INT ? hd_dict_get_int(d, name, (int64_t *)(void *)at)
                                    : refuse(call, path, d, name, "a whole number");
    case DOUBLE:
        return found != HD_DICT_STRING ? hd_dict_get_double(d, name, (double *)(void *)at)
                                       : refuse(call, path, d, name, "a number");
    case BOOL:
        if (!string || (strcmp(string, "true") != 0 && strcmp(string, "false") != 0)) {
            return refuse(call, path, d, name, "true or false");
        }
        *(bool *)at = string[0] == 't';
        return true;
    default:
        return strcmp(value_text(d, name, text), k->only) == 0 ||
               refuse(call, path, d, name, k->only);
    }
}

/* Does the key of n bytes stand for the name? */
static bool stands_for(const char *key, size_t n, const char *name)
{
    bool all = key[n - 1] == '.' || key[n - 1] == '_';
    return strncmp(name, key, n) == 0 && (all || name[n] == '\0');
}

static bool is_idle(const char *idle, const char *name)
{
    size_t n = strcspn(idle, " ");
    while (*idle && !stands_for(idle, n, name)) {
        idle += n + (idle[n] == ' ');
        n = strcspn(idle, " ");
    }
    return *idle;
}

/* Fills `config` with what the file at path has for the keys. */
static bool config_fill(const char *function, const char *path, const hd_dict *d, const key *keys,
                        const char *idle, void *config)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        const key *k = keys;
        while (k->name && !stands_for(k->name, strlen(k->name), name)) {
            k++;
        }
        if (k->name) {
            ok = config_set(function, path, d, name, k, config);
        } else if (!is_idle(idle, name)) {
            hd_warn("%s: '%.*s': %.*s has no effect: heed does not know this key", function,
                    HD__CUT(path), HD__CUT(name));
        }
    }
    return ok;
}

/* ---------------------------------------------------------------- config.json */

/* Which scaling of rotary positions is asked for, in the new form or in the older one? */
static bool rope_type_ok(const char *function, const char *path, const hd_dict *d,
                         hd_rotary_options *rope)
{
    static const char *const names[] = {"rope_parameters.rope_type", "rope_scaling.rope_type",
                                        "rope_scaling.type"};
    const char *type = "default";
    char text[64];
    for (int i = 2; i >= 0; i--) {
        if (hd_dict_kind_of(d, names[i]) != HD_DICT_MISSING) {
            type = value_text(d, names[i], text);
            if (strcmp(type, "default") != 0 && strcmp(type, "llama3") != 0) {
                return refuse(function, path, d, names[i], "default or llama3");
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

static bool config_of(const char *function, const char *path, const hd_dict *d, hd__config *c)
{
    static const char name[] = "architectures.0";
    char text[64];
    const char *found =
        hd_dict_kind_of(d, name) == HD_DICT_MISSING ? "none" : value_text(d, name, text);
    c->is_gpt2 = strcmp(found, "GPT2LMHeadModel") == 0;
    if (c->is_gpt2) {
        c->gpt2 = hd_gpt2_config_defaults();
        return config_fill(function, path, d, gpt2_keys, idle_keys, &c->gpt2);
    }
    bool qwen2 = strcmp(found, "Qwen2ForCausalLM") == 0;
    if (!qwen2 && strcmp(found, "LlamaForCausalLM") != 0) {
        return hd_error_set(HD_VALUE,
                            "%s: '%.*s': architectures: found %.*s: expected GPT2LMHeadModel, "
                            "LlamaForCausalLM or Qwen2ForCausalLM",
                            function, HD__CUT(path), HD__CUT(found));
    }
    c->llama = hd_llama_config_defaults();
    c->llama.qkv_bias = qwen2;
    return config_fill(function, path, d, llama_keys, idle_keys, &c->llama) &&
           rope_type_ok(function, path, d, &c->llama.rope);
}

bool hd__config_read(const char *function, const char *path, hd__config *c)
{
    hd_dict *d = hd__json_values(function, path);
    bool ok = d && config_of(function, path, d, c);
    hd_dict_free(d);
    return ok;
}

/* ---------------------------------------------------------------- written back */

/* A member of the object, unless it stands for "none" or "as it follows". */
static void add_member(hd__text *t, const key *k, const char *name, const void *config)
{
    const void *at = (const char *)config + k->offset;
    bool padding = strcmp(name, "pad_token_id") == 0;
    if (k->kind == INT && *(const int64_t *)at == (padding ? HD_NO_PADDING : 0)) {
        return;
    }
    hd__text_format(t, ",\n  \"%s\": ", name);
    switch (k->kind) {
    case INT: hd__text_format(t, "%" PRId64, *(const int64_t *)at); break;
    case DOUBLE: hd__text_puts(t, HD__FLOAT(*(const double *)at)); break;
    default: hd__text_puts(t, *(const bool *)at ? "true" : "false"); break;
    }
}

/* The keys of rope_parameters, in the form of today. */
static void add_rope(hd__text *t, const hd_llama_config *c)
{
    static const char prefix[] = "rope_parameters.";
    const size_t n = sizeof prefix - 1;
    bool scaled = c->rope.original_max_position_embeddings > 0;
    hd__text_format(t, ",\n  \"rope_parameters\": {\"rope_type\": \"%s\"",
                    scaled ? "llama3" : "default");
    for (const key *k = llama_keys; k->name; k++) {
        bool theta = k->offset == offsetof(hd_llama_config, rope.theta);
        if (k->kind != ONLY && strncmp(k->name, prefix, n) == 0 && (theta || scaled)) {
            add_member(t, k, k->name + n, c);
        }
    }
    hd__text_puts(t, "}");
}

void hd__config_write(const hd__config *c, const char *architecture, hd_dtype d, hd__text *t)
{
    const char *type = c->is_gpt2 ? "gpt2" : c->llama.qkv_bias ? "qwen2" : "llama";
    const void *config = c->is_gpt2 ? (const void *)&c->gpt2 : &c->llama;
    hd__text_format(t, "{\n  \"architectures\": [\"%s\"],\n  \"model_type\": \"%s\"", architecture,
                    type);
    for (const key *k = c->is_gpt2 ? gpt2_keys : llama_keys; k->name; k++) {
        if (k->kind != ONLY && strncmp(k->name, "rope_", 5) != 0) {
            add_member(t, k, k->name, config);
        }
    }
    if (!c->is_gpt2) {
        add_rope(t, &c->llama);
    }
    hd__text_format(t, ",\n  \"dtype\": \"%s\"\n}\n", hd_dtype_name(d));
}

/* ---------------------------------------------------------------- generation_config.json */

static bool ends_of(const char *function, const char *path, const hd_dict *d,
                    hd_generate_options *o)
{
    static const char list[] = "eos_token_id.";
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        if (strcmp(name, "eos_token_id") == 0 || strncmp(name, list, sizeof list - 1) == 0) {
            if (hd_dict_kind_of(d, name) != HD_DICT_INT || o->num_eos == HD_EOS_MOST) {
                return refuse(function, path, d, name, "a whole number, and at most 16 of them");
            }
            if (!hd_dict_get_int(d, name, &o->eos_token_id[o->num_eos++])) {
                return false;
            }
        }
    }
    return true;
}

bool hd_generate_options_load(const char *folder, hd_generate_options *o)
{
    static const char function[] = "hd_generate_options_load";
    if (!hd__given_to(function, "folder", folder) || !hd__given_to(function, "o", o)) {
        return false;
    }
    *o = hd_generate_defaults();
    hd_generate_options read = *o;
    hd__text path = {0};
    int own = hd__look_for(function, folder, "generation_config.json", &path);
    bool given = own > 0 || (own == 0 && hd__path_of(folder, "config.json", &path));
    hd_dict *d = given ? hd__json_values(function, path.s) : NULL;
    bool ok =
        d && ends_of(function, path.s, d, &read) &&
        (!own || config_fill(function, path.s, d, generation_keys, idle_generation_keys, &read));
    if (ok) {
        *o = read;
    }
    hd_dict_free(d);
    hd_free(path.s);
    return ok;
}
