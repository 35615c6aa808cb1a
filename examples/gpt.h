/* gpt.h - the GPT of Raschka, "Build a Large Language Model (From Scratch)", chapter 4.
 *
 * LayerNorm and GPTModel are modules of this program, with the fields of the book's classes.
 * Attention, feed-forward and block are heed's. Names, initial weights and random draws are those
 * of the book's classes in PyTorch. So a seed gives the same weights, and a state_dict can go from
 * PyTorch to heed and back. */
#ifndef HEED_EXAMPLES_GPT_H
#define HEED_EXAMPLES_GPT_H

#include "heed/heed.h"

enum { GPT_MOST_LAYERS = 1024 }; /* the largest number of layers in a configuration */

/* GPT_CONFIG_124M = {"vocab_size": 50257, "context_length": 1024, "emb_dim": 768, "n_heads": 12,
 *                    "n_layers": 12, "drop_rate": 0.1, "qkv_bias": False} */
typedef struct {
    int64_t vocab_size, context_length, emb_dim, n_heads, n_layers;
    double drop_rate;
    bool qkv_bias;
} gpt_config;

typedef struct {
    hd_module base;
    double eps;
    hd_tensor *scale, *shift; /* (emb_dim,) */
} layer_norm;

typedef struct {
    hd_module base;
    hd_module *tok_emb, *pos_emb, *drop_emb, *trf_blocks, *final_norm, *out_head;
} gpt_model;

hd_module *layer_norm_new(int64_t emb_dim);
hd_module *transformer_block_new(const gpt_config *cfg);
/* Returns a new GPTModel, or NULL with an error. Its forward takes in_idx (b, num_tokens) int64,
 * where num_tokens is at most context_length, and returns logits (b, num_tokens, vocab_size). */
hd_module *gpt_model_new(const gpt_config *cfg);

/* These write cfg to a dictionary, as the numbers prefix.vocab_size, prefix.context_length and so
 * on, and read it from there. They return false with an error on failure. */
bool gpt_config_save(const gpt_config *cfg, hd_dict *d, const char *prefix);
bool gpt_config_load(gpt_config *cfg, const hd_dict *d, const char *prefix);

/* The keys and values of the tokens that the blocks have seen: one hd_kv_cache for each block. */
typedef struct {
    int64_t n;
    hd_kv_cache **blocks;
} gpt_cache;

bool gpt_cache_new(gpt_cache *c, hd_module *gpt, int64_t batch); /* after a failure c is empty */
void gpt_cache_free(gpt_cache *c);
int64_t gpt_cache_len(const gpt_cache *c); /* the number of tokens in c; -1 on error */
bool gpt_cache_truncate(const gpt_cache *c, int64_t len); /* keeps the first len tokens */

/* Returns the logits (b, num_tokens, vocab_size) of the tokens in_idx (b, num_tokens), which follow
 * the tokens in c, and adds in_idx to c. Returns NULL with an error on failure. Records nothing for
 * backward. The logits differ by rounding from those of hd_forward for the whole sequence. */
hd_tensor *gpt_forward_cached(hd_module *gpt, hd_tensor *in_idx, const gpt_cache *c);

#endif
