/* config_write.c - the configuration that a model has now, and config.json made of it.
 *
 * The user may have put other modules into the model. So hd__config_now reads what they know:
 * sizes, eps, dropouts, the activation. Then it makes a model of this configuration, without memory
 * for weights. If a module of that model differs from the user's, config.json cannot say what the
 * user's model is. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/json.h"
#include "hf/config_keys.h"

/* ---------------------------------------------------------------- tables */

/* WHOLE and LENGTH are int64_t, and a LENGTH is that of a list of modules. ACTIVATION is a text. */
typedef enum kind { WHOLE, LENGTH, REAL, TRUTH, ACTIVATION } kind;

/* A value of the configuration, and the module that knows it: the end of the module's name, and the
 * text that stands before the value in its line of the summary. The last one of several modules
 * counts. */
typedef struct known {
    kind kind;
    size_t offset; /* in the configuration */
    const char *module, *before;
} known;

#define GPT2(kind, field) kind, offsetof(hd_gpt2_config, field)
#define LLAMA(kind, field) kind, offsetof(hd_llama_config, field)

static const known gpt2_known[] = {
    {GPT2(WHOLE, vocab_size), "transformer.wte", ""},
    {GPT2(WHOLE, n_positions), "transformer.wpe", ""},
    {GPT2(LENGTH, n_layer), "transformer.h", ""},
    {GPT2(WHOLE, n_inner), ".c_fc", "nf="},
    {GPT2(REAL, layer_norm_epsilon), "transformer.ln_f", "eps="},
    {GPT2(REAL, embd_pdrop), "transformer.drop", "p="},
    {GPT2(REAL, attn_pdrop), ".attn_dropout", "p="},
    {GPT2(REAL, resid_pdrop), ".resid_dropout", "p="},
    {GPT2(ACTIVATION, activation_function), ".mlp.act", ""},
    {WHOLE, 0, NULL, NULL},
};

static const known llama_known[] = {
    {LLAMA(WHOLE, vocab_size), "model.embed_tokens", ""},
    {LLAMA(WHOLE, intermediate_size), ".gate_proj", "out_features="},
    {LLAMA(LENGTH, num_hidden_layers), "model.layers", ""},
    {LLAMA(REAL, rms_norm_eps), "model.norm", "eps="},
    {LLAMA(TRUTH, attention_bias), ".o_proj", "bias="},
    {LLAMA(TRUTH, mlp_bias), ".down_proj", "bias="},
    {WHOLE, 0, NULL, NULL},
};

/* ---------------------------------------------------------------- read from the modules */

enum { EXTRA = 256 };

/* The text in the brackets of m's line in the summary, without the parts that no configuration
 * says. */
static const char *brackets_of(const hd_module *m, char text[EXTRA])
{
    static const char *const unsaid[] = {", padding_idx=", ", inplace=", "inplace="};
    text[0] = '\0';
    if (m->type->extra) {
        m->type->extra(m, text, EXTRA);
        text[EXTRA - 1] = '\0';
    }
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++) {
        char *at = strstr(text, unsaid[i]);
        if (at) {
            *at = '\0';
        }
    }
    return text;
}

/* Reads the number that stands after `before` in what the summary says of m: "p=" in
 * "Dropout(p=0.1, inplace=False)". False: there is none. */
static bool extra_number(const hd_module *m, const char *before, double *v)
{
    char text[EXTRA];
    const char *at = strstr(brackets_of(m, text), before);
    at = at ? at + strlen(before) : "";
    hd__json j;
    hd__json_init(&j, at, strspn(at, "0123456789.e+-"));
    bool ok = hd__json_next(&j) == HD__JSON_NUMBER && hd__json_double(&j, v);
    hd__json_free(&j);
    return ok;
}

/* The name in transformers of the activation m; `now` if it is that, too, or if m is another. */
static const char *activation_read(const hd_module *m, const char *now)
{
    char text[EXTRA];
    const char *name = brackets_of(m, text);
    if (strcmp(m->type->name, "ReLU") == 0) {
        return "relu";
    }
    if (strcmp(name, "approximate='none'") == 0) {
        return "gelu";
    }
    bool by_tanh = strcmp(name, "approximate='tanh'") == 0;
    return by_tanh && strcmp(now, "gelu_pytorch_tanh") != 0 ? "gelu_new" : now;
}

/* Sets the value at `at` if m knows it. */
static bool value_read(const known *r, hd_module *m, void *at)
{
    char text[EXTRA];
    double v;
    bool number = extra_number(m, r->before, &v);
    const char *found = strstr(brackets_of(m, text), r->before);
    switch (r->kind) {
    case WHOLE: *(int64_t *)at = number && fabs(v) < 0x1p53 ? (int64_t)v : *(int64_t *)at; break;
    case REAL: *(double *)at = number ? v : *(double *)at; break;
    case TRUTH: *(bool *)at = found && strncmp(found + strlen(r->before), "True", 4) == 0; break;
    case ACTIVATION: *(const char **)at = activation_read(m, *(const char **)at); break;
    case LENGTH:
        if (strcmp(m->type->name, "ModuleList") == 0) {
            *(int64_t *)at = hd_module_list_len(m);
        }
        break;
    }
    return hd_error_code() == HD_OK; /* memory may have run out */
}

/* Puts into the configuration what the module m knows. One of another class may know nothing. */
static bool module_read(hd_module *m, const char *name, void *user)
{
    hd__config *c = user;
    bool ok = true;
    for (const known *r = c->is_gpt2 ? gpt2_known : llama_known; ok && r->module; r++) {
        ok = !hd__ends_in(name, r->module) || value_read(r, m, (char *)&c->gpt2 + r->offset);
    }
    return ok;
}

/* ---------------------------------------------------------------- compared */

enum { TEXT = 2 * EXTRA };

/* "Linear(in_features=16, out_features=2, bias=True)", "GPT2Attention() with 2 heads" */
static const char *described(const hd_module *m, char text[TEXT])
{
    char extra[EXTRA];
    int64_t heads = hd__gpt2_heads(m) + hd__llama_heads(m);
    int n = snprintf(text, TEXT, "%s(%s)", m->type->name, brackets_of(m, extra));
    if (heads > 0) {
        snprintf(text + n, (size_t)(TEXT - n), " with %" PRId64 " heads", heads);
    }
    return text;
}

typedef struct comparison {
    const char *function;
    hd_module *made; /* of the configuration */
    hd_dict *names;  /* of the modules that both have */
} comparison;

static bool module_unlike(const comparison *c, const char *name, const char *found,
                          const char *expected)
{
    return hd_error_set(HD_STATE,
                        "%s: %.*s is %s, but the configuration says %s. transformers has no "
                        "such model. Save it with hd_checkpoint_save.",
                        c->function, HD__CUT(*name ? name : "m"), found, expected);
}

/* Has the module m no adapter? It would hide what the module knows. */
static bool module_plain(hd_module *m, const char *name, void *user)
{
    const comparison *c = user;
    return strcmp(m->type->name, "lora.Linear") != 0 ||
           hd_error_set(HD_STATE,
                        "%s: '%s' has an adapter: merge them with hd_lora_merge or save them with "
                        "hd_lora_save",
                        c->function, name);
}

/* Is the module m equal to the one that the configuration makes? The modules above it are. */
static bool module_same(hd_module *m, const char *name, void *user)
{
    const comparison *c = user;
    const hd_module *wanted = *name ? hd_module_get(c->made, name) : c->made;
    char found[TEXT], expected[TEXT];
    if (!wanted) {
        return false;
    }
    if (strcmp(described(m, found), described(wanted, expected)) != 0) {
        return module_unlike(c, name, found, expected);
    }
    return m->type == wanted->type ? !*name || hd_dict_set_int(c->names, name, 0)
                                   : module_unlike(c, name, "a class of your own", expected);
}

/* Does the model have the module m, which the configuration makes? */
static bool module_there(hd_module *m, const char *name, void *user)
{
    const comparison *c = user;
    char expected[TEXT];
    return !*name || hd_dict_kind_of(c->names, name) != HD_DICT_MISSING ||
           module_unlike(c, name, "missing", described(m, expected));
}

/* Does transformers read a config.json with these numbers? LlamaConfig asks for the multiple, with
 * any head_dim. */
static bool numbers_ok(const char *function, const hd__config *c)
{
    for (const hd__config_key *k = hd__family_of(c)->table.keys; k->name; k++) {
        const double *v = (const void *)((const char *)&c->gpt2 + k->offset);
        bool number = k->kind == HD__FLOAT || k->kind == HD__NUMBER;
        if (number && k->offset != HD__NOWHERE && !isfinite(*v)) {
            return hd_error_set(HD_VALUE, "%s: %s %s: expected a finite number", function, k->name,
                                HD__FLOAT(*v));
        }
    }
    return c->is_gpt2 || c->llama.qkv_bias ||
           hd__divides_ok(function, "num_attention_heads", c->llama.num_attention_heads,
                          "hidden_size", c->llama.hidden_size);
}

bool hd__config_now(const char *function, hd__model *m, hd__config *c)
{
    HD_NO_INIT;
    const hd_dtype d = HD_FLOAT32;
    comparison both = {.function = function};
    *c = m->config;
    if (!hd_module_visit(&m->base, module_plain, &both) ||
        !hd_module_visit(&m->base, module_read, c)) {
        return false;
    }
    if (!c->is_gpt2 && c->llama.qkv_bias) { /* Qwen 2 has no other biases */
        c->llama.attention_bias = c->llama.mlp_bias = false;
    }
    both.made = c->is_gpt2 ? hd__gpt2_make(function, &c->gpt2, &d)
                           : hd__llama_make(function, &c->llama, &d);
    both.names = hd_dict_new();
    bool ok = both.made && both.names && numbers_ok(function, c) &&
              hd_module_visit(&m->base, module_same, &both) &&
              hd_module_visit(both.made, module_there, &both);
    if (ok) {
        *(c->is_gpt2 ? &c->gpt2.tie_word_embeddings : &c->llama.tie_word_embeddings) =
            hd_module_get_parameter(&m->base, "lm_head.weight") ==
            hd_module_get_parameter(&m->base, c->is_gpt2 ? "transformer.wte.weight"
                                                         : "model.embed_tokens.weight");
    }
    hd_module_free(both.made);
    hd_dict_free(both.names);
    return ok;
}

/* ---------------------------------------------------------------- written */

/* A token, or null */
static void add_special(hd__text *t, int64_t id)
{
    if (id == HD_NO_PADDING) {
        hd__text_puts(t, "null");
    } else {
        hd__text_format(t, "%" PRId64, id);
    }
}

/* The keys of the table that the configuration has a place for. */
static void add_members(hd__text *t, const hd__config_key *k, const void *config)
{
    for (; k->name; k++) {
        const void *at = (const char *)config + k->offset;
        if (k->offset == HD__NOWHERE || k->kind == HD__ALIAS) {
            continue;
        }
        hd__text_format(t, ",\n  \"%s\": ", k->name);
        switch (k->kind) {
        case HD__FLOAT:
        case HD__NUMBER: hd__text_puts(t, HD__FLOAT(*(const double *)at)); break;
        case HD__BOOL: hd__text_puts(t, *(const bool *)at ? "true" : "false"); break;
        case HD__ACTIVATION: hd__text_format(t, "\"%s\"", *(const char *const *)at); break;
        default: add_special(t, *(const int64_t *)at); break;
        }
    }
}

/* The rotary positions in both forms: transformers 5 reads rope_parameters, and version 4 knows
 * rope_theta, which is a key of the table, and rope_scaling alone. */
static void add_rope(hd__text *t, const hd_rotary_options *o)
{
    bool scaled = o->original_max_position_embeddings > 0;
    for (int i = 0; i <= scaled; i++) {
        hd__text_format(t, ",\n  \"%s\": {\"rope_type\": \"%s\"",
                        i ? "rope_scaling" : "rope_parameters", scaled ? "llama3" : "default");
        if (scaled) {
            hd__text_format(t,
                            ", \"factor\": %s, \"low_freq_factor\": %s, "
                            "\"high_freq_factor\": %s, "
                            "\"original_max_position_embeddings\": %" PRId64,
                            HD__FLOAT(o->factor), HD__FLOAT(o->low_freq_factor),
                            HD__FLOAT(o->high_freq_factor), o->original_max_position_embeddings);
        }
        if (i == 0) {
            hd__text_format(t, ", \"rope_theta\": %s", HD__FLOAT(o->theta));
        }
        hd__text_puts(t, "}");
    }
}

/* One end token is a number, several are a list. */
static void add_ends(hd__text *t, const hd_generate_options *o)
{
    const char *open = o->num_eos > 1 ? "[" : "";
    hd__text_format(t, ",\n  \"eos_token_id\": %s", o->num_eos ? open : "null");
    for (int64_t i = 0; i < o->num_eos; i++) {
        hd__text_format(t, "%s%" PRId64, i ? ", " : "", o->eos_token_id[i]);
    }
    hd__text_puts(t, o->num_eos > 1 ? "]" : "");
}

void hd__config_write(const hd__config *c, const char *architecture, hd_dtype d, hd__text *t)
{
    hd__text_format(t, "{\n  \"architectures\": [\"%s\"],\n  \"model_type\": \"%s\"", architecture,
                    hd__family_of(c)->model_type);
    add_members(t, hd__family_of(c)->table.keys, &c->gpt2);
    hd__text_puts(t, ",\n  \"bos_token_id\": ");
    add_special(t, c->kept.bos_token_id);
    if (c->is_gpt2) { /* Llama's has a place in the configuration */
        hd__text_puts(t, ",\n  \"pad_token_id\": ");
        add_special(t, c->kept.pad_token_id);
    } else {
        add_rope(t, &c->llama.rope);
    }
    add_ends(t, &c->kept.ends);
    hd__text_format(t, ",\n  \"use_cache\": %s,\n  \"dtype\": \"%s\"\n}\n",
                    c->kept.use_cache ? "true" : "false", hd_dtype_name(d));
}
