/* gpt.c - the book's LayerNorm, TransformerBlock and GPTModel.
 *
 * Each class has a forward, and a constructor, which is the book's __init__ and draws weights in
 * the order of its lines. Three things differ from the book. LayerNorm computes with
 * hd_layer_norm_n. The block is heed's. The embeddings have a function of their own, because
 * gpt_forward_cached needs them too. Shapes: b sequences in the batch, num_tokens tokens in each,
 * emb_dim numbers for a token. */
#include "gpt.h"

#include <stdio.h>

/* ---------------------------------------------------------------- LayerNorm */

/* class LayerNorm(nn.Module): y = scale * (x - mean) / sqrt(var + eps) + shift, where var is the
 * biased variance */
static hd_tensor *layer_norm_forward(hd_module *self, hd_tensor *x) /* (b, num_tokens, emb_dim) */
{
    layer_norm *m = (layer_norm *)self;
    int64_t emb_dim = hd_size(m->scale, 0);
    return hd_layer_norm_n(x, 1, &emb_dim, m->scale, m->shift, m->eps);
}

hd_module *layer_norm_new(int64_t emb_dim)
{
    static const hd_module_type type = HD_MODULE_TYPE(layer_norm, "LayerNorm", layer_norm_forward);
    hd_module *self = hd_module_new(&type);
    layer_norm *m = (layer_norm *)self;
    if (!m) {
        return NULL;
    }
    m->eps = 1e-5;
    /* self.scale = nn.Parameter(torch.ones(emb_dim)) */
    hd_register_parameter(self, "scale", &m->scale,
                          hd_parameter(hd_ones(HD_FLOAT32, emb_dim), true));
    hd_register_parameter(self, "shift", &m->shift,
                          hd_parameter(hd_zeros(HD_FLOAT32, emb_dim), true));
    return hd_module_ready(self);
}

/* ---------------------------------------------------------------- TransformerBlock */

/* Makes heed's block with the book's LayerNorm in it. All names are those of the book. */
hd_module *transformer_block_new(const gpt_config *cfg)
{
    hd_module *att = hd_multi_head_attention_new(cfg->emb_dim, cfg->emb_dim, cfg->context_length,
                                                 cfg->drop_rate, cfg->n_heads, cfg->qkv_bias);
    hd_module *ff = hd_feed_forward_new(cfg->emb_dim, 4 * cfg->emb_dim);
    hd_module *norm1 = layer_norm_new(cfg->emb_dim);
    hd_module *norm2 = layer_norm_new(cfg->emb_dim);
    return hd_transformer_block_new(att, ff, norm1, norm2, cfg->drop_rate);
}

/* ---------------------------------------------------------------- GPTModel */

/* Returns drop_emb(tok_emb(in_idx) + pos_emb(arange(seen, seen + num_tokens))), (b, num_tokens,
 * emb_dim), for in_idx (b, num_tokens). seen is the number of tokens before in_idx. */
static hd_tensor *embed(const gpt_model *m, hd_tensor *in_idx, int64_t seen)
{
    hd_tensor *tok_embeds = hd_forward(m->tok_emb, in_idx); /* (b, num_tokens, emb_dim) */
    hd_tensor *pos_embeds =                                 /* (num_tokens, emb_dim) */
        hd_forward(m->pos_emb, hd_arange(seen, seen + hd_size(in_idx, 1), 1));
    return hd_forward(m->drop_emb, hd_add(tok_embeds, pos_embeds));
}

/* class GPTModel(nn.Module): */
static hd_tensor *gpt_model_forward(hd_module *self, hd_tensor *in_idx) /* (b, num_tokens) */
{
    gpt_model *m = (gpt_model *)self;
    hd_tensor *x = embed(m, in_idx, 0); /* (b, num_tokens, emb_dim) */
    x = hd_forward(m->trf_blocks, x);
    x = hd_forward(m->final_norm, x);
    return hd_forward(m->out_head, x); /* (b, num_tokens, vocab_size) */
}

/* nn.Sequential(*[TransformerBlock(cfg) for _ in range(cfg["n_layers"])]) */
static hd_module *transformer_blocks(const gpt_config *cfg)
{
    hd_module *blocks = hd_sequential_n(0, NULL);
    for (int64_t i = 0; i < cfg->n_layers; i++) {
        if (!hd_module_list_append(blocks, transformer_block_new(cfg))) {
            hd_module_free(blocks);
            return NULL;
        }
    }
    return blocks;
}

hd_module *gpt_model_new(const gpt_config *cfg)
{
    static const hd_module_type type = HD_MODULE_TYPE(gpt_model, "GPTModel", gpt_model_forward);
    hd_module *self = hd_module_new(&type);
    gpt_model *m = (gpt_model *)self;
    if (!m) {
        return NULL;
    }
    hd_register_module(self, "tok_emb", &m->tok_emb,
                       hd_embedding_new(cfg->vocab_size, cfg->emb_dim, HD_NO_PADDING));
    hd_register_module(self, "pos_emb", &m->pos_emb,
                       hd_embedding_new(cfg->context_length, cfg->emb_dim, HD_NO_PADDING));
    hd_register_module(self, "drop_emb", &m->drop_emb, hd_dropout_new(cfg->drop_rate, false));
    hd_register_module(self, "trf_blocks", &m->trf_blocks, transformer_blocks(cfg));
    hd_register_module(self, "final_norm", &m->final_norm, layer_norm_new(cfg->emb_dim));
    hd_register_module(self, "out_head", &m->out_head,
                       hd_linear_new(cfg->emb_dim, cfg->vocab_size, false));
    return hd_module_ready(self);
}

/* ---------------------------------------------------------------- saving the configuration */

enum { NAMES = 7, NAME_SIZE = 128 };

static void config_names(char names[NAMES][NAME_SIZE], const char *prefix)
{
    static const char *const fields[NAMES] = {"vocab_size", "context_length", "emb_dim", "n_heads",
                                              "n_layers",   "drop_rate",      "qkv_bias"};
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], NAME_SIZE, "%s.%s", prefix, fields[i]);
    }
}

bool gpt_config_save(const gpt_config *cfg, hd_dict *d, const char *prefix)
{
    char names[NAMES][NAME_SIZE];
    config_names(names, prefix);
    return hd_dict_set_int(d, names[0], cfg->vocab_size) &&
           hd_dict_set_int(d, names[1], cfg->context_length) &&
           hd_dict_set_int(d, names[2], cfg->emb_dim) &&
           hd_dict_set_int(d, names[3], cfg->n_heads) &&
           hd_dict_set_int(d, names[4], cfg->n_layers) &&
           hd_dict_set_double(d, names[5], cfg->drop_rate) &&
           hd_dict_set_int(d, names[6], cfg->qkv_bias);
}

bool gpt_config_load(gpt_config *cfg, const hd_dict *d, const char *prefix)
{
    char names[NAMES][NAME_SIZE];
    int64_t qkv_bias = 0;
    config_names(names, prefix);
    bool ok = hd_dict_get_int(d, names[0], &cfg->vocab_size) &&
              hd_dict_get_int(d, names[1], &cfg->context_length) &&
              hd_dict_get_int(d, names[2], &cfg->emb_dim) &&
              hd_dict_get_int(d, names[3], &cfg->n_heads) &&
              hd_dict_get_int(d, names[4], &cfg->n_layers) &&
              hd_dict_get_double(d, names[5], &cfg->drop_rate) &&
              hd_dict_get_int(d, names[6], &qkv_bias);
    cfg->qkv_bias = qkv_bias != 0;
    /* A file may ask for very many layers, and even a layer without elements takes memory. */
    if (ok && (cfg->n_layers < 1 || cfg->n_layers > GPT_MOST_LAYERS)) {
        return hd_error_set(HD_VALUE, "gpt_config_load: '%s' is %lld: expected 1 to %d", names[4],
                            (long long)cfg->n_layers, GPT_MOST_LAYERS);
    }
    return ok;
}

/* ---------------------------------------------------------------- one token at a time */

bool gpt_cache_new(gpt_cache *c, hd_module *gpt, int64_t batch)
{
    hd_module *blocks = ((gpt_model *)gpt)->trf_blocks;
    *c = (gpt_cache){0};
    int64_t n = hd_module_list_len(blocks);
    c->blocks = hd_alloc((size_t)n * sizeof *c->blocks);
    for (; c->blocks && c->n < n; c->n++) {
        hd_module *block = hd_module_list_get(blocks, c->n);
        c->blocks[c->n] = hd_kv_cache_new(hd_module_get(block, "att"), batch);
        if (!c->blocks[c->n]) {
            gpt_cache_free(c);
            return false;
        }
    }
    return c->blocks;
}

void gpt_cache_free(gpt_cache *c)
{
    while (c->n > 0) {
        hd_kv_cache_free(c->blocks[--c->n]);
    }
    hd_free(c->blocks);
    c->blocks = NULL;
}

int64_t gpt_cache_len(const gpt_cache *c)
{
    return c->n > 0 ? hd_kv_cache_len(c->blocks[0]) : 0;
}

bool gpt_cache_truncate(const gpt_cache *c, int64_t len)
{
    bool ok = true;
    for (int64_t i = 0; i < c->n; i++) {
        ok = hd_kv_cache_truncate(c->blocks[i], len) && ok;
    }
    return ok;
}

hd_tensor *gpt_forward_cached(hd_module *gpt, hd_tensor *in_idx, const gpt_cache *c)
{
    gpt_model *m = (gpt_model *)gpt;
    if (!hd_forward_begin(gpt)) {
        return NULL;
    }
    HD_NO_GRAD;
    hd_tensor *x = embed(m, in_idx, gpt_cache_len(c)); /* (b, num_tokens, emb_dim) */
    for (int64_t i = 0; i < c->n; i++) {
        x = hd_transformer_block_cached(hd_module_list_get(m->trf_blocks, i), x, c->blocks[i]);
    }
    x = hd_forward(m->final_norm, x);
    return hd_forward_end(gpt, hd_forward(m->out_head, x)); /* (b, num_tokens, vocab_size) */
}
