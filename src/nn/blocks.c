/* blocks.c - the layers of a GPT: the feed-forward net, and the transformer block, which normalizes
 * before attention and before the feed-forward net (pre-norm). */
#include "nn/layers.h"
#include "nn/module_args.h"

/* ---------------------------------------------------------------- FeedForward */

typedef struct feed_forward {
    hd_module base;
    hd_module *layers;
} feed_forward;

static hd_tensor *feed_forward_forward(hd_module *self, hd_tensor *x)
{
    return hd_forward(((feed_forward *)self)->layers, x);
}

static const hd_module_type feed_forward_type =
    HD_MODULE_TYPE(feed_forward, "FeedForward", feed_forward_forward);

hd_module *hd_feed_forward_new(int64_t emb_dim, int64_t hidden_dim)
{
    HD__CALL("hd_feed_forward_new");
    if (!hd__nn_size_arg("emb_dim", emb_dim, 0) || !hd__nn_size_arg("hidden_dim", hidden_dim, 0)) {
        return NULL;
    }
    hd_module *self = hd_module_new(&feed_forward_type);
    if (!self) {
        return NULL;
    }
    hd_register_module(
        self, "layers", &((feed_forward *)self)->layers,
        hd_sequential(hd__nn_linear_blank(&hd__nn_linear_type, emb_dim, hidden_dim, true),
                      hd_gelu_new("tanh"),
                      hd__nn_linear_blank(&hd__nn_linear_type, hidden_dim, emb_dim, true)));
    return hd__module_drawn(self, NULL);
}

/* ---------------------------------------------------------------- TransformerBlock */

typedef struct transformer_block {
    hd_module base;
    hd_module *att, *ff, *norm1, *norm2, *drop_shortcut;
} transformer_block;

/* Returns x + drop_shortcut(y), for x and y (b, num_tokens, emb_dim). */
static hd_tensor *add_shortcut(const transformer_block *m, hd_tensor *x, hd_tensor *y)
{
    return hd_add(hd_forward(m->drop_shortcut, y), x);
}

/* Returns the block's result for x. If c is not NULL, m->att attends also to the tokens in the
 * cache c. */
static hd_tensor *block_run(const transformer_block *m, hd_tensor *x, hd_kv_cache *c)
{
    hd_tensor *y = hd_forward(m->norm1, x);
    y = c ? hd_multi_head_attention_cached(m->att, y, c) : hd_forward(m->att, y);
    x = add_shortcut(m, x, y);
    return add_shortcut(m, x, hd_forward(m->ff, hd_forward(m->norm2, x)));
}

static hd_tensor *transformer_block_forward(hd_module *self, hd_tensor *x)
{
    return block_run((transformer_block *)self, x, NULL);
}

static const hd_module_type transformer_block_type =
    HD_MODULE_TYPE(transformer_block, "TransformerBlock", transformer_block_forward);

/* Frees each part that has no parent. Frees it only once, even if the caller gave it twice. */
static void free_all(int n, hd_module *const *parts)
{
    for (int i = 0; i < n; i++) {
        bool again = false;
        for (int j = 0; j < i; j++) {
            again |= parts[j] == parts[i];
        }
        if (parts[i] && !again && !parts[i]->priv->parent) {
            hd_module_free(parts[i]);
        }
    }
}

hd_module *hd_transformer_block_new(hd_module *att, hd_module *ff, hd_module *norm1,
                                    hd_module *norm2, double drop_rate)
{
    HD__CALL("hd_transformer_block_new");
    const char *const names[] = {"att", "ff", "norm1", "norm2"};
    hd_module *parts[] = {att, ff, norm1, norm2};
    bool ok = true;
    for (int i = 0; i < 4; i++) {
        if (!hd__object(names[i], parts[i])) {
            parts[i] = NULL; /* so that free_all skips it: it is not a live module */
            ok = false;
        }
    }
    ok = hd__nn_probability_arg("drop_rate", drop_rate) && ok;
    hd_module *self = ok ? hd_module_new(&transformer_block_type) : NULL;
    if (!self) {
        free_all(4, parts);
        return NULL;
    }
    transformer_block *m = (transformer_block *)self;
    hd_register_module(self, "att", &m->att, att);
    hd_register_module(self, "ff", &m->ff, ff);
    hd_register_module(self, "norm1", &m->norm1, norm1);
    hd_register_module(self, "norm2", &m->norm2, norm2);
    hd_register_module(self, "drop_shortcut", &m->drop_shortcut, hd_dropout_new(drop_rate, false));
    return hd_module_ready(self);
}

hd_tensor *hd_transformer_block_cached(hd_module *self, hd_tensor *x, hd_kv_cache *c)
{
    HD__CALL("hd_transformer_block_cached");
    if (!hd__nn_type_arg("m", self, &transformer_block_type) || !hd__nn_tensor_given("x", x) ||
        !hd__object("c", c) || !hd_forward_begin(self)) {
        return NULL;
    }
    HD_NO_GRAD;
    int64_t seen = hd_kv_cache_len(c);
    x = hd_forward_end(self, block_run((transformer_block *)self, x, c));
    bool undone = x || hd_kv_cache_truncate(c, seen);
    return undone ? x : NULL;
}
