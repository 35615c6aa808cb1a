/* test_blocks.c - tests of the feed-forward net, the transformer block, tied parameters, and the KV
 * cache. */
#include "suites.h"

enum { EMB = 8, CONTEXT = 6, HEADS = 2 };

/* A block as the book builds it; the norms draw nothing. */
static hd_module *block_new(double drop_rate)
{
    hd_module *att = hd_multi_head_attention_new(EMB, EMB, CONTEXT, drop_rate, HEADS, false);
    hd_module *ff = hd_feed_forward_new(EMB, 4 * EMB);
    return hd_transformer_block_new(att, ff, hd_layer_norm_new(EMB), hd_layer_norm_new(EMB),
                                    drop_rate);
}

/* ---------------------------------------------------------------- blocks */

START_TEST(a_block_prints_and_names_its_weights_as_pytorchs)
{
    HD_SCOPE;
    static const char *const names[] = {
        "att.mask",           "att.W_query.weight",  "att.W_key.weight",
        "att.W_value.weight", "att.out_proj.weight", "att.out_proj.bias",
        "ff.layers.0.weight", "ff.layers.0.bias",    "ff.layers.2.weight",
        "ff.layers.2.bias",   "norm1.weight",        "norm1.bias",
        "norm2.weight",       "norm2.bias",
    };
    hd_module *m = block_new(0.1);
    ck_assert_str_eq(hd_module_summary(m),
                     "TransformerBlock(\n"
                     "  (att): MultiHeadAttention(\n"
                     "    (W_query): Linear(in_features=8, out_features=8, bias=False)\n"
                     "    (W_key): Linear(in_features=8, out_features=8, bias=False)\n"
                     "    (W_value): Linear(in_features=8, out_features=8, bias=False)\n"
                     "    (out_proj): Linear(in_features=8, out_features=8, bias=True)\n"
                     "    (dropout): Dropout(p=0.1, inplace=False)\n"
                     "  )\n"
                     "  (ff): FeedForward(\n"
                     "    (layers): Sequential(\n"
                     "      (0): Linear(in_features=8, out_features=32, bias=True)\n"
                     "      (1): GELU(approximate='tanh')\n"
                     "      (2): Linear(in_features=32, out_features=8, bias=True)\n"
                     "    )\n"
                     "  )\n"
                     "  (norm1): LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)\n"
                     "  (norm2): LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)\n"
                     "  (drop_shortcut): Dropout(p=0.1, inplace=False)\n"
                     ")");
    hd_dict *d = hd_module_state_dict(m);
    ck_assert_int_eq(hd_dict_len(d), 14);
    for (int i = 0; i < 14; i++) {
        ck_assert_str_eq(hd_dict_name(d, i), names[i]);
    }
    hd_dict_free(d);
    hd_module_free(m);
}
END_TEST

/* The block as the calls of its parts, in the order of listing 4.6. */
static hd_tensor *by_hand(hd_module *m, hd_tensor *x)
{
    hd_module *drop = hd_module_get(m, "drop_shortcut");
    hd_tensor *shortcut = x;
    x = hd_forward(hd_module_get(m, "norm1"), x);
    x = hd_forward(hd_module_get(m, "att"), x);
    x = hd_add(hd_forward(drop, x), shortcut);
    shortcut = x;
    x = hd_forward(hd_module_get(m, "norm2"), x);
    x = hd_forward(hd_module_get(m, "ff.layers.0"), x);
    x = hd_forward(hd_module_get(m, "ff.layers.2"), hd_gelu_tanh(x));
    return hd_add(hd_forward(drop, x), shortcut);
}

START_TEST(a_block_is_its_parts)
{
    HD_SCOPE;
    hd_module *m = block_new(0.25);
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, CONTEXT, EMB);
    for (int training = 1; training >= 0; training--) {
        hd_module_train(m, training);
        hd_manual_seed(7);
        hd_tensor *y = hd_forward(m, x);
        hd_manual_seed(7);
        ck_assert(same_bits(y, by_hand(m, x)));
        hd_manual_seed(8);
        ck_assert(same_bits(y, hd_forward(m, x)) == !training);
    }
    hd_module_free(m);
}
END_TEST

START_TEST(gradients_of_a_block)
{
    HD_SCOPE;
    hd_module *m = block_new(0);
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 3, EMB);
    ck_assert(hd_backward(hd_sum(hd_mul(hd_forward(m, x), x))));
    hd_list *parameters = hd_module_parameters(m);
    ck_assert_int_eq(hd_list_len(parameters), 13);
    for (int i = 0; i < 13; i++) {
        hd_tensor *g = hd_grad(hd_list_get(parameters, i));
        ck_assert(g != HD_NONE && hd_item(hd_sum(hd_abs(g))) > 0);
    }
    hd_module_free(m);
}
END_TEST

START_TEST(what_a_block_cannot_be)
{
    HD_SCOPE;
    ck_assert_ptr_null(block_new(1.5));
    ck_error(HD_VALUE, "hd_multi_head_attention_new: dropout 1.5: expected a number from 0 to 1");
    ck_assert_ptr_null(hd_transformer_block_new(hd_relu_new(false), hd_relu_new(false),
                                                hd_relu_new(false), hd_relu_new(false), -1));
    ck_error(HD_VALUE, "hd_transformer_block_new: drop_rate -1: expected a number from 0 to 1");
    ck_assert_ptr_null(
        hd_transformer_block_new(hd_relu_new(false), NULL, NULL, hd_relu_new(false), 0));
    ck_error(HD_NULL_ARG, "hd_transformer_block_new: ff is NULL");
    hd_module *twice = hd_relu_new(false); /* is freed once */
    ck_assert_ptr_null(hd_transformer_block_new(twice, twice, NULL, twice, 0));
    ck_error(HD_NULL_ARG, "hd_transformer_block_new: norm1 is NULL");
    twice = hd_relu_new(false);
    ck_assert_ptr_null(
        hd_transformer_block_new(twice, twice, hd_relu_new(false), hd_relu_new(false), 0));
    ck_error(HD_STATE, "hd_transformer_block_new: ReLU has a parent already: a TransformerBlock");
    ck_assert_ptr_null(hd_feed_forward_new(-1, 2));
    ck_error(HD_VALUE, "hd_feed_forward_new: emb_dim -1: expected 0 or more");
}
END_TEST

/* ---------------------------------------------------------------- tied parameters */

typedef struct tied {
    hd_module base;
    hd_module *tok_emb, *out_head;
} tied;

static hd_tensor *tied_forward(hd_module *self, hd_tensor *x) /* ids (n,) to logits (n, 5) */
{
    tied *m = (tied *)self;
    return hd_forward(m->out_head, hd_forward(m->tok_emb, x));
}

static const hd_module_type tied_type = HD_MODULE_TYPE(tied, "Tied", tied_forward);

static hd_module *tied_new(bool tie)
{
    hd_module *self = hd_module_new(&tied_type);
    tied *m = (tied *)self;
    hd_register_module(self, "tok_emb", &m->tok_emb, hd_embedding_new(5, 3, HD_NO_PADDING));
    hd_register_module(self, "out_head", &m->out_head, hd_linear_new(3, 5, false));
    hd_tensor *weight = hd_module_get_parameter(self, "tok_emb.weight");
    ck_assert(!tie || hd_module_set_parameter(self, "out_head.weight", weight));
    return hd_module_ready(self);
}

START_TEST(tied_parameters_are_one)
{
    HD_SCOPE;
    hd_module *m = tied_new(true), *apart = tied_new(false);
    hd_tensor *w = hd_module_get_parameter(m, "tok_emb.weight");
    ck_assert_ptr_eq(hd_module_get_parameter(m, "out_head.weight"), w);
    ck_assert_int_eq(hd_list_len(hd_module_parameters(m)), 1);
    hd_dict *named = hd_module_named_parameters(m), *state = hd_module_state_dict(m);
    ck_assert_int_eq(hd_dict_len(named), 1);
    ck_assert_str_eq(hd_dict_name(named, 0), "tok_emb.weight");
    ck_assert_int_eq(hd_dict_len(state), 2);
    ck_assert_str_eq(hd_dict_name(state, 1), "out_head.weight");
    ck_assert(hd_module_load_state_dict(apart, state, true, NULL));

    int64_t ids[] = {0, 3, 3, 1}, targets[] = {1, 4, 0, 2};
    hd_tensor *x = hd_from_data(HD_INT64, ids, 4), *y = hd_from_data(HD_INT64, targets, 4);
    ck_assert(hd_backward(hd_cross_entropy(hd_forward(m, x), y)));
    ck_assert(hd_backward(hd_cross_entropy(hd_forward(apart, x), y)));
    hd_tensor *sum = hd_add(hd_grad(hd_module_get_parameter(apart, "tok_emb.weight")),
                            hd_grad(hd_module_get_parameter(apart, "out_head.weight")));
    ck_assert_double_lt(distance(hd_grad(w), sum), 1e-6);

    ck_assert(hd_module_to(m, HD_FLOAT64)); /* and stay one */
    ck_assert_ptr_eq(hd_module_get_parameter(m, "tok_emb.weight"),
                     hd_module_get_parameter(m, "out_head.weight"));
    hd_dict_free(named);
    hd_dict_free(state);
    hd_module_free(m);
    hd_module_free(apart);
}
END_TEST

START_TEST(loading_tied_parameters)
{
    HD_SCOPE;
    hd_module *m = tied_new(true);
    hd_tensor *w = hd_module_get_parameter(m, "tok_emb.weight");
    hd_dict *d = hd_dict_new();
    ck_assert(!hd_module_load_state_dict(m, d, true, NULL));
    ck_error(HD_VALUE, "hd_module_load_state_dict: Tied: missing \"tok_emb.weight\", "
                       "\"out_head.weight\"");
    hd_dict_set(d, "out_head.weight", hd_ones(HD_FLOAT32, 5, 3)); /* one name is enough */
    ck_assert(hd_module_load_state_dict(m, d, true, NULL));
    ck_assert_double_eq(hd_item(hd_sum(w)), 15);
    hd_dict_set(d, "tok_emb.weight", hd_ones(HD_FLOAT64, 5, 3)); /* equal after its conversion */
    ck_assert(hd_module_load_state_dict(m, d, true, NULL));

    hd_dict *report = hd_dict_new();
    hd_dict_set(d, "tok_emb.weight", hd_zeros(HD_FLOAT32, 5, 3));
    for (int strict = 0; strict < 2; strict++) {
        ck_assert(!hd_module_load_state_dict(m, d, strict, report));
        ck_error(HD_VALUE,
                 "hd_module_load_state_dict: Tied: in the dictionary \"out_head.weight\" is "
                 "unequal to "
                 "\"tok_emb.weight\", which is the same tensor in the module");
    }
    ck_assert_str_eq(hd_dict_get_string(report, "out_head.weight"),
                     "unequal to \"tok_emb.weight\", which is the same tensor in the module");
    ck_assert_double_eq(hd_item(hd_sum(w)), 15);
    hd_dict_free(report);
    hd_dict_free(d);
    hd_module_free(m);
}
END_TEST

START_TEST(parameters_that_cannot_be_set)
{
    HD_SCOPE;
    hd_module *m = hd_linear_new(3, 2, false);
    hd_tensor *fit = hd_parameter(hd_ones(HD_FLOAT32, 2, 3), true);
    ck_assert(!hd_module_set_parameter(m, "bias", fit));
    ck_error(HD_VALUE, "hd_module_set_parameter: Linear has no parameter \"bias\"");
    ck_assert(!hd_module_set_parameter(m, "weight", hd_parameter(hd_ones(HD_FLOAT32, 3), true)));
    ck_error(HD_SHAPE, "hd_module_set_parameter: Linear: \"weight\": t is float32 (3,), the "
                       "parameter float32 (2, 3): expected the same dtype and shape");
    ck_assert(!hd_module_set_parameter(m, "weight", hd_parameter(hd_ones(HD_FLOAT64, 2, 3), true)));
    ck_error(HD_SHAPE, "hd_module_set_parameter: Linear: \"weight\": t is float64 (2, 3), the "
                       "parameter float32 (2, 3): expected the same dtype and shape");
    ck_assert(!hd_module_set_parameter(m, "weight", hd_mul_scalar(fit, 2)));
    ck_error(HD_GRAD, "hd_module_set_parameter: Linear: \"weight\" (2, 3) is the result of an "
                      "operation: expected a leaf (hd_parameter makes one)");
    ck_assert(!hd_module_set_parameter(m, "weight", HD_NONE));
    ck_error(HD_NULL_ARG, "hd_module_set_parameter: t is HD_NONE: expected a tensor");
    ck_assert(hd_module_set_parameter(m, "weight", fit));
    ck_assert_ptr_eq(hd_module_get_parameter(m, "weight"), fit);
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- the KV cache */

/* The results of x in pieces of these lengths, through the cache, joined again. */
static hd_tensor *in_pieces(hd_module *m, hd_kv_cache *c, hd_tensor *x, const int64_t *lengths,
                            bool is_block)
{
    hd_list *outs = hd_list_n(0, NULL);
    for (int64_t at = 0, i = 0; at < hd_size(x, 1); at += lengths[i++]) {
        hd_tensor *piece = hd_narrow(x, 1, at, lengths[i]);
        hd_tensor *y = is_block ? hd_transformer_block_cached(m, piece, c)
                                : hd_multi_head_attention_cached(m, piece, c);
        ck_assert_msg(y, "%s", hd_error_message());
        ck_assert(!hd_requires_grad(y));
        ck_assert_int_eq(hd_kv_cache_len(c), at + lengths[i]);
        hd_list_append(outs, y);
    }
    return hd_cat_list(outs, 1);
}

static void ck_cached(hd_module *m, hd_module *attention, bool is_block)
{
    static const int64_t cuts[][CONTEXT] = {{6}, {1, 1, 1, 1, 1, 1}, {4, 1, 1}, {2, 3, 1}};
    hd_module_eval(m);
    hd_tensor *x = hd_randn(HD_FLOAT32, 3, CONTEXT, EMB), *want = hd_forward(m, x);
    hd_kv_cache *c = hd_kv_cache_new(attention, 3);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_lt(distance(in_pieces(m, c, x, cuts[i], is_block), want), 1e-5);
        ck_assert(hd_kv_cache_truncate(c, 0));
    }
    hd_kv_cache_free(c);
}

START_TEST(attention_in_pieces)
{
    for (int bias = 0; bias < 2; bias++) {
        HD_SCOPE;
        hd_module *m = hd_multi_head_attention_new(EMB, EMB, CONTEXT, 0.5, HEADS, bias);
        ck_cached(m, m, false);
        hd_module_free(m);
    }
}
END_TEST

START_TEST(a_block_in_pieces)
{
    HD_SCOPE;
    hd_module *m = block_new(0.5);
    ck_cached(m, hd_module_get(m, "att"), true);
    hd_module_free(m);
}
END_TEST

/* Another ending after the same beginning. */
START_TEST(a_cache_cut_back)
{
    HD_SCOPE;
    hd_module *m = hd_multi_head_attention_new(EMB, EMB, CONTEXT, 0, HEADS, false);
    hd_tensor *x = hd_randn(HD_FLOAT32, 1, 4, EMB), *other = hd_randn(HD_FLOAT32, 1, 2, EMB);
    hd_kv_cache *c = hd_kv_cache_new(m, 1);
    ck_assert_ptr_nonnull(hd_multi_head_attention_cached(m, x, c));
    ck_assert(hd_kv_cache_truncate(c, 3));
    hd_tensor *y = hd_multi_head_attention_cached(m, other, c);
    hd_tensor *all = hd_forward(m, hd_cat(1, hd_narrow(x, 1, 0, 3), other));
    ck_assert_double_lt(distance(y, hd_narrow(all, 1, 3, 2)), 1e-5);
    hd_kv_cache_free(c);
    hd_module_free(m);
}
END_TEST

/* What fails after the attention takes the tokens out of the cache again. */
START_TEST(a_block_that_fails_forgets_its_tokens)
{
    HD_SCOPE;
    hd_module *att = hd_multi_head_attention_new(EMB, EMB, CONTEXT, 0, HEADS, false);
    hd_module *m = hd_transformer_block_new(att, hd_feed_forward_new(EMB + 1, 4),
                                            hd_layer_norm_new(EMB), hd_layer_norm_new(EMB), 0);
    hd_kv_cache *c = hd_kv_cache_new(att, 1);
    hd_tensor *x = hd_randn(HD_FLOAT32, 1, 2, EMB);
    ck_assert_ptr_nonnull(hd_multi_head_attention_cached(att, x, c));
    ck_assert_ptr_null(hd_transformer_block_cached(m, x, c));
    ck_assert_int_eq(hd_error_code(), HD_SHAPE);
    hd_error_clear();
    ck_assert_int_eq(hd_kv_cache_len(c), 2);
    hd_kv_cache_free(c);
    hd_module_free(m);
}
END_TEST

START_TEST(what_a_cache_refuses)
{
    HD_SCOPE;
    hd_module *m = hd_multi_head_attention_new(EMB, EMB, CONTEXT, 0, HEADS, false);
    hd_module *other = hd_multi_head_attention_new(EMB, EMB, CONTEXT, 0, HEADS, false);
    hd_module *linear = hd_linear_new(EMB, EMB, false);
    hd_kv_cache *c = hd_kv_cache_new(m, 2);
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 4, EMB);
    ck_assert_ptr_nonnull(hd_multi_head_attention_cached(m, x, c));

    ck_assert_ptr_null(hd_multi_head_attention_cached(m, hd_narrow(x, 1, 0, 3), c));
    ck_error(HD_SHAPE, "hd_multi_head_attention_cached: x (2, 3, 8) after 4 tokens: expected at "
                       "most 6 in all, the context_length");
    ck_assert_ptr_null(hd_multi_head_attention_cached(m, hd_narrow(x, 0, 0, 1), c));
    ck_error(HD_SHAPE,
             "hd_multi_head_attention_cached: x (1, 4, 8): expected (2, num_tokens, d_in)");
    ck_assert_ptr_null(hd_multi_head_attention_cached(m, hd_randn(HD_FLOAT32, 2, 1, 5), c));
    ck_assert_int_eq(hd_error_code(), HD_SHAPE);
    hd_error_clear();
    ck_assert_ptr_null(hd_multi_head_attention_cached(other, x, c));
    ck_error(HD_VALUE, "hd_multi_head_attention_cached: c was made for another module: expected a "
                       "cache of hd_kv_cache_new(m, ...)");
    ck_assert_ptr_null(hd_multi_head_attention_cached(linear, x, c));
    ck_error(HD_VALUE,
             "hd_multi_head_attention_cached: m is a Linear: expected a MultiHeadAttention");
    ck_assert_ptr_null(hd_transformer_block_cached(m, x, c));
    ck_error(HD_VALUE,
             "hd_transformer_block_cached: m is a MultiHeadAttention: expected a TransformerBlock");
    ck_assert_ptr_null(hd_kv_cache_new(linear, 1));
    ck_error(HD_VALUE, "hd_kv_cache_new: attention is a Linear: expected a MultiHeadAttention");
    ck_assert_ptr_null(hd_kv_cache_new(m, -1));
    ck_error(HD_VALUE, "hd_kv_cache_new: batch -1: expected 0 or more");
    ck_assert(!hd_kv_cache_truncate(c, 5));
    ck_error(HD_VALUE, "hd_kv_cache_truncate: len 5: expected 0 to 4");
    ck_assert_int_eq(hd_kv_cache_len(c), 4);
    ck_assert_int_eq(hd_kv_cache_len(NULL), -1);
    ck_error(HD_NULL_ARG, "hd_kv_cache_len: c is NULL");
    hd_kv_cache_free(NULL);

    hd_module_to(m, HD_FLOAT64);
    hd_tensor *wide = hd_to(hd_narrow(x, 1, 0, 1), HD_FLOAT64);
    ck_assert_ptr_null(hd_multi_head_attention_cached(m, wide, c));
    ck_error(HD_DTYPE,
             "hd_multi_head_attention_cached: keys of dtype float64, values of dtype float64: "
             "expected dtype float32, as in c");
    ck_assert_int_eq(hd_kv_cache_len(c), 4);
    hd_kv_cache_free(c);
    hd_module_free(m);
    hd_module_free(other);
    hd_module_free(linear);
}
END_TEST

/* Keys and values of two pieces, side by side, as views of one storage. */
START_TEST(a_cache_for_any_attention)
{
    HD_SCOPE;
    hd_kv_cache *c = hd_kv_cache_new_for(HD_FLOAT64, 2, 3, 5, 4);
    hd_tensor *x = hd_requires_grad_(hd_randn(HD_FLOAT64, 2, 3, 5, 4), true);
    hd_tensor *y = hd_neg(x), *all[2] = {NULL};
    for (int64_t at = 0; at < 5; at += 3) { /* of 3 tokens, and then of 2 */
        hd_tensor *k = hd_narrow(x, 2, at, at ? 2 : 3), *v = hd_narrow(y, 2, at, at ? 2 : 3);
        ck_assert(hd_kv_cache_update(c, &k, &v));
        ck_assert_int_eq(hd_kv_cache_len(c), at ? 5 : 3);
        ck_assert(!hd_requires_grad(k) && !hd_requires_grad(v));
        ck_assert(hd_equal(k, hd_narrow(x, 2, 0, at ? 5 : 3)));
        ck_assert(hd_equal(v, hd_narrow(y, 2, 0, at ? 5 : 3)));
        ck_assert(!at || (hd_shares_storage(k, all[0]) && hd_shares_storage(v, all[1])));
        all[0] = k;
        all[1] = v;
    }
    hd_tensor *none = hd_narrow(x, 2, 0, 0), *nothing = none; /* no token is no error */
    ck_assert(hd_kv_cache_update(c, &none, &nothing));
    ck_assert_int_eq(hd_size(none, 2), 5);
    ck_assert(hd_kv_cache_truncate(c, 1));
    hd_tensor *k = hd_narrow(y, 2, 0, 2), *v = k;
    ck_assert(hd_kv_cache_update(c, &k, &v));
    ck_assert(hd_equal(k, hd_cat(2, hd_narrow(x, 2, 0, 1), hd_narrow(y, 2, 0, 2))));
    hd_kv_cache_free(c);
}
END_TEST

START_TEST(what_an_update_refuses)
{
    HD_SCOPE;
    hd_kv_cache *c = hd_kv_cache_new_for(HD_FLOAT32, 2, 3, 5, 4);
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3, 4, 4), *k = x, *v = x;
    ck_assert(hd_kv_cache_update(c, &k, &v));
#define refused(keys, values, code, message)                                                       \
    k = (keys), v = (values), x = k;                                                               \
    ck_assert(!hd_kv_cache_update(c, &k, &v));                                                     \
    ck_error(code, "hd_kv_cache_update: " message);                                                \
    ck_assert_ptr_eq(k, x);                                                                        \
    ck_assert_int_eq(hd_kv_cache_len(c), 4)
    hd_tensor *two = hd_ones(HD_FLOAT32, 2, 3, 2, 4), *one = hd_narrow(two, 2, 0, 1);
    refused(two, two, HD_SHAPE,
            "keys (2, 3, 2, 4) after 4 tokens: expected at most 5 in all, the cache's length");
    refused(one, two, HD_SHAPE,
            "keys (2, 3, 1, 4), values (2, 3, 2, 4): expected (2, 3, t, 4) for both");
    refused(hd_narrow(one, 1, 0, 2), one, HD_SHAPE,
            "keys (2, 2, 1, 4), values (2, 3, 1, 4): expected (2, 3, t, 4) for both");
    refused(hd_select(one, 0, 0), one, HD_SHAPE,
            "keys (3, 1, 4), values (2, 3, 1, 4): expected (2, 3, t, 4) for both");
    refused(one, hd_to(one, HD_FLOAT64), HD_DTYPE,
            "keys of dtype float32, values of dtype float64: expected dtype float32, as in c");
    refused(one, HD_NONE, HD_NULL_ARG, "values is HD_NONE: expected a tensor");
#undef refused
    hd_kv_cache_free(c);
    ck_assert_ptr_null(hd_kv_cache_new_for(HD_FLOAT32, 2, 3, -5, 4));
    ck_error(HD_VALUE, "hd_kv_cache_new_for: length -5: expected 0 or more");
    ck_assert_ptr_null(hd_kv_cache_new_for(HD_FLOAT32, 2, -3, 5, 4));
    ck_error(HD_VALUE, "hd_kv_cache_new_for: heads -3: expected 0 or more");
    ck_assert_ptr_null(hd_kv_cache_new_for(HD_FLOAT32, 2, 3, 5, -4));
    ck_error(HD_VALUE, "hd_kv_cache_new_for: head_dim -4: expected 0 or more");
    ck_assert_ptr_null(hd_kv_cache_new_for((hd_dtype)9, 2, 3, 5, 4));
    ck_assert_int_eq(hd_error_code(), HD_DTYPE);
    hd_error_clear();
}
END_TEST

Suite *suite_blocks(void)
{
    const TTest *const tests[] = {
        a_block_prints_and_names_its_weights_as_pytorchs,
        a_block_is_its_parts,
        gradients_of_a_block,
        what_a_block_cannot_be,
        tied_parameters_are_one,
        loading_tied_parameters,
        parameters_that_cannot_be_set,
        attention_in_pieces,
        a_block_in_pieces,
        a_cache_cut_back,
        a_block_that_fails_forgets_its_tokens,
        what_a_cache_refuses,
        a_cache_for_any_attention,
        what_an_update_refuses,
    };
    return SUITE("blocks", tests);
}
