/* config_write.c - config.json of a model, as transformers reads it. */
#include <inttypes.h>
#include <string.h>

#include "hf/hf_internal.h"

/* A member of config.json. TOKEN and DERIVED are whole numbers: HD_NO_PADDING, or 0, is left out. */
typedef enum kind { WHOLE, TOKEN, DERIVED, REAL, TRUTH } kind;

typedef struct member {
    const char *key;
    kind kind;
    size_t offset; /* in the configuration */
} member;

#define GPT2(kind, field) #field, kind, offsetof(hd_gpt2_config, field)
#define LLAMA(kind, field) #field, kind, offsetof(hd_llama_config, field)
#define ROPE(kind, field) #field, kind, offsetof(hd_rotary_options, field)

static const member gpt2_members[] = {
    {GPT2(WHOLE, vocab_size)},
    {GPT2(WHOLE, n_positions)},
    {GPT2(WHOLE, n_embd)},
    {GPT2(WHOLE, n_layer)},
    {GPT2(WHOLE, n_head)},
    {GPT2(DERIVED, n_inner)},
    {GPT2(REAL, layer_norm_epsilon)},
    {GPT2(REAL, embd_pdrop)},
    {GPT2(REAL, attn_pdrop)},
    {GPT2(REAL, resid_pdrop)},
    {GPT2(REAL, initializer_range)},
    {GPT2(TRUTH, tie_word_embeddings)},
    {NULL, WHOLE, 0},
};

static const member llama_members[] = {
    {LLAMA(WHOLE, vocab_size)},
    {LLAMA(WHOLE, hidden_size)},
    {LLAMA(WHOLE, intermediate_size)},
    {LLAMA(WHOLE, num_hidden_layers)},
    {LLAMA(WHOLE, num_attention_heads)},
    {LLAMA(DERIVED, num_key_value_heads)},
    {LLAMA(DERIVED, head_dim)},
    {LLAMA(WHOLE, max_position_embeddings)},
    {LLAMA(TOKEN, pad_token_id)},
    {LLAMA(REAL, rms_norm_eps)},
    {LLAMA(REAL, initializer_range)},
    {LLAMA(TRUTH, tie_word_embeddings)},
    {NULL, WHOLE, 0},
};

static const member scaling_members[] = {
    {ROPE(REAL, factor)},
    {ROPE(REAL, low_freq_factor)},
    {ROPE(REAL, high_freq_factor)},
    {ROPE(WHOLE, original_max_position_embeddings)},
    {NULL, WHOLE, 0},
};

static void add_members(hd__text *t, const member *r, const void *config, const char *separator)
{
    for (; r->key; r++) {
        const void *at = (const char *)config + r->offset;
        int64_t none = r->kind == TOKEN ? HD_NO_PADDING : 0;
        if ((r->kind == TOKEN || r->kind == DERIVED) && *(const int64_t *)at == none) {
            continue;
        }
        hd__text_format(t, "%s\"%s\": ", separator, r->key);
        switch (r->kind) {
        case REAL: hd__text_puts(t, HD__FLOAT(*(const double *)at)); break;
        case TRUTH: hd__text_puts(t, *(const bool *)at ? "true" : "false"); break;
        default: hd__text_format(t, "%" PRId64, *(const int64_t *)at); break;
        }
    }
}

/* The keys of rope_parameters, in the form of today. */
static void add_rope(hd__text *t, const hd_rotary_options *o)
{
    bool scaled = o->original_max_position_embeddings > 0;
    hd__text_format(t, ",\n  \"rope_parameters\": {\"rope_type\": \"%s\", \"rope_theta\": %s",
                    scaled ? "llama3" : "default", HD__FLOAT(o->theta));
    if (scaled) {
        add_members(t, scaling_members, o, ", ");
    }
    hd__text_puts(t, "}");
}

void hd__config_write(const hd__config *c, const char *architecture, hd_dtype d, hd__text *t)
{
    const char *type = c->is_gpt2 ? "gpt2" : c->llama.qkv_bias ? "qwen2" : "llama";
    hd__text_format(t, "{\n  \"architectures\": [\"%s\"],\n  \"model_type\": \"%s\"", architecture,
                    type);
    add_members(t, c->is_gpt2 ? gpt2_members : llama_members, &c->gpt2, ",\n  ");
    if (!c->is_gpt2) {
        add_rope(t, &c->llama.rope);
    }
    for (int64_t i = 0; i < c->ends.num_eos; i++) {
        hd__text_format(t, "%s%" PRId64, i ? ", " : ",\n  \"eos_token_id\": [",
                        c->ends.eos_token_id[i]);
    }
    hd__text_puts(t, c->ends.num_eos ? "]" : "");
    hd__text_format(t, ",\n  \"dtype\": \"%s\"\n}\n", hd_dtype_name(d));
}
