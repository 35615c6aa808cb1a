/* model.c - the code that all model families share. It makes a model, draws its weights, runs it,
 * and computes attention with a cache. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "hf/family.h"

hd_dict *hd__hf_dict_if(bool ok, hd_dict *d)
{
    if (!ok) {
        hd_dict_free(d);
    }
    return ok ? d : NULL;
}

hd_module *hd__hf_module_if(bool ok, hd_module *m)
{
    if (!ok) {
        hd_module_free(m);
    }
    return ok ? m : NULL;
}

hd__hf_model *hd__hf_model_of(hd_module *m)
{
    if (!hd__arg_given("m", m)) {
        return NULL;
    }
    if (m->type->forward != hd__hf_model_forward) {
        return hd_fail(HD_VALUE, "m is a %s: expected a model of heed/hf.h", m->type->name);
    }
    return (hd__hf_model *)m;
}

bool hd__hf_ids_ok(const hd_tensor *ids)
{
    if (!hd__tensor_given("ids", ids, false)) {
        return false;
    }
    bool whole = hd_dtype_of(ids) == HD_INT64;
    return (whole && hd_ndim(ids) == 2 && hd_size(ids, 1) > 0) ||
           hd_fail(whole ? HD_SHAPE : HD_DTYPE, "ids are %s %s: expected int64 (batch, tokens)",
                   hd_dtype_name(hd_dtype_of(ids)), HD__SIZES(hd_ndim(ids), hd_sizes(ids)));
}

/* Returns the logits (b, t, vocab) of ids (b, t) in the context c, or NULL on failure. A message
 * begins with the name of the op that failed. */
static hd_tensor *run_model(hd__hf_model *m, hd_tensor *ids, const hd__hf_context *c)
{
    HD__CALLS_BACK;
    return hd_forward(m->head, m->config.family->hidden(m, ids, c));
}

/* Returns the logits (b, t, vocab) of ids (b, t) with this attention mask. Returns NULL with an
 * error if the ids or the mask are wrong. */
static hd_tensor *logits_of(hd__hf_model *m, hd_tensor *ids, hd_tensor *mask)
{
    hd__hf_padding padding;
    hd__hf_context c;
    if (!hd__hf_ids_ok(ids)) {
        return NULL;
    }
    int64_t t = hd_size(ids, 1), most = hd__hf_positions(m);
    if (t > most) {
        return hd_fail(HD_VALUE,
                       "ids have %" PRId64 " tokens: expected at most %" PRId64
                       ", the context of the model",
                       t, most);
    }
    if (!hd__hf_padding_read(ids, mask, 0, &padding) ||
        !hd__hf_context_begin(&c, &padding, NULL, t)) {
        return NULL;
    }
    return run_model(m, ids, &c);
}

hd_tensor *hd__hf_model_forward(hd_module *self, hd_tensor *ids)
{
    return logits_of((hd__hf_model *)self, ids, HD_NONE);
}

hd_tensor *hd_forward_with_mask(hd_module *module, hd_tensor *ids, hd_tensor *attention_mask)
{
    HD__CALL("hd_forward_with_mask");
    hd__hf_model *m = hd__hf_model_of(module);
    if (!m || !hd__arg_given("attention_mask", attention_mask) || !hd_forward_begin(module)) {
        return NULL;
    }
    return hd_forward_end(module, logits_of(m, ids, attention_mask));
}

void hd__hf_model_free(hd_module *self)
{
    hd__hf_model *m = (hd__hf_model *)self;
    hd_free(m->generation);
    hd_free(m->config.values);
}

int64_t hd__hf_embedding_rows(hd_module *embedding, int64_t otherwise)
{
    bool known = embedding && strcmp(embedding->type->name, "Embedding") == 0;
    return known ? hd_size(hd_module_get_parameter(embedding, "weight"), 0) : otherwise;
}

int64_t hd__hf_vocab(hd__hf_model *m)
{
    hd_module *words = hd_module_get(&m->base, m->config.family->words);
    return hd__hf_embedding_rows(words, hd__hf_config_int(&m->config, "vocab_size"));
}

int64_t hd__hf_positions(hd__hf_model *m)
{
    const hd__hf_family *family = m->config.family;
    return family->positions ? family->positions(m)
                             : hd__hf_config_int(&m->config, "max_position_embeddings");
}

hd_tensor *hd__hf_heads(hd_tensor *x, int64_t heads)
{
    return hd_transpose(hd_view(x, hd_size(x, 0), hd_size(x, 1), heads, hd_size(x, 2) / heads), 1,
                        2);
}

hd_tensor *hd__hf_attend(hd_tensor *q, hd_tensor *k, hd_tensor *v, const hd__hf_context *c,
                         int64_t layer, double dropout)
{
    hd__hf_seen *seen = c->seen;
    if (seen && layer >= seen->layers) {
        return hd_fail(HD_STATE,
                       "the model has layer %" PRId64
                       ", counted from 0, but its configuration has %" PRId64 " layers",
                       layer, seen->layers);
    }
    if (seen && k && !seen->cache[layer]) {
        seen->cache[layer] = hd_kv_cache_new_for(hd_dtype_of(k), hd_size(k, 0), hd_size(k, 1),
                                                 seen->most, hd_size(k, 3));
    }
    if (seen && !hd_kv_cache_update(seen->cache[layer], &k, &v)) {
        return NULL;
    }
    hd_attention_options o = hd_attention_defaults();
    o.dropout_p = dropout;
    o.enable_gqa = hd_size(q, 1) != hd_size(k, 1);
    o.attn_mask = c->mask ? c->mask : HD_NONE;
    o.is_causal = !c->mask && hd_size(q, 2) == hd_size(k, 2); /* else q has only the last token */
    hd_tensor *y = hd_scaled_dot_product_attention_with(q, k, v, &o, NULL); /* (b, heads, t, d) */
    return hd_flatten(hd_transpose(y, 1, 2), 2, 3);
}

void *hd__hf_part_of(hd_module *m, const hd_module_type *type)
{
    return m && m->type == type ? m
                                : hd_fail(HD_STATE, "a module of the model is %s: expected %s",
                                          m ? m->type->name : "NULL", type->name);
}

typedef struct visit {
    const char *call;
    bool (*f)(hd_module *m, const char *name, void *user);
    void *user;
} visit;

static bool visit_one(hd_module *m, const char *name, void *user)
{
    const visit *v = user;
    HD__CALL(v->call);
    return v->f(m, name, v->user);
}

bool hd__hf_visit(hd_module *m, bool (*f)(hd_module *m, const char *name, void *user), void *user)
{
    return hd_module_visit(m, visit_one, &(visit){hd__call_now(), f, user});
}

bool hd__hf_ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---------------------------------------------------------------- activations */

/* transformers' name of each activation, and the argument of hd_gelu_new for it (NULL: relu) */
static const char *const activations[][2] = {
    {"gelu_new", "tanh"}, {"gelu_pytorch_tanh", "tanh"}, {"gelu", "none"}, {"relu", NULL}};

static const char *const *activation_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof activations / sizeof *activations; i++) {
        if (strcmp(activations[i][0], name) == 0) {
            return activations[i];
        }
    }
    return NULL;
}

const char *hd__hf_activation(const char *name)
{
    const char *const *a = activation_of(name);
    return a ? a[0] : NULL;
}

hd_module *hd__hf_activation_new(const char *name)
{
    const char *approximate = activation_of(name)[1];
    return approximate ? hd_gelu_new(approximate) : hd_relu_new(false);
}

/* ---------------------------------------------------------------- making */

/* Sets m's biases to 0 and the weights of norms to 1, and draws all other weights. Draws smaller
 * weights for GPT-2's c_proj, because the result of c_proj is added to the layer's input. Returns
 * false with an error on failure. */
static bool draw_weights(hd__hf_model *m)
{
    if (!hd_forward_begin(&m->base)) { /* on failure, hd_forward_end resets the generator */
        return false;
    }
    const double std = hd__hf_config_double(&m->config, "initializer_range"),
                 layers = (double)hd__hf_config_int(&m->config, "num_hidden_layers");
    hd_dict *weights = hd_module_named_parameters(&m->base);
    hd_tensor *last = NULL;
    bool ok = weights;
    for (int64_t i = 0; ok && i < hd_dict_len(weights); i++) {
        const char *name = hd_dict_name(weights, i);
        hd_tensor *w = hd_dict_get(weights, name);
        double less = hd__hf_ends_in(name, "c_proj.weight") ? sqrt(2 * layers) : 1;
        last = hd__hf_ends_in(name, ".bias") ? hd_init_zeros_(w)
               : hd_ndim(w) == 1             ? hd_init_ones_(w)
                                             : hd_init_normal_(w, 0, std / less);
        ok = last;
    }
    hd_dict_free(weights);
    return hd_forward_end(&m->base, last);
}

hd_module *hd__hf_stored(hd_module *m, const hd_dtype *d)
{
    if (!m || !d) {
        return m;
    }
    HD__SCOPE_OR(hd__hf_module_if(false, m));
    hd_dict *weights = hd_module_named_parameters(m);
    bool ok = weights;
    for (int64_t i = 0; ok && i < hd_dict_len(weights); i++) {
        const char *name = hd_dict_name(weights, i);
        hd_tensor *w = hd_dict_get(weights, name);
        hd_dtype to = hd_ndim(w) == 2 ? *d : HD_FLOAT32;
        hd_tensor *one = hd_expand_n(hd_empty_n(to, 0, NULL), hd_ndim(w), hd_sizes(w));
        ok = hd_module_set_parameter(m, name, hd_parameter(one, to == HD_FLOAT32));
    }
    hd_dict_free(weights);
    return hd__hf_module_if(ok, m);
}

hd_module *hd__hf_module_of(const hd_module_type *type, const hd__hf_part *p)
{
    hd_module *m = hd_module_new(type);
    for (; p->name; p++) {
        hd_register_module(m, p->name, m ? (hd_module **)(void *)((char *)m + p->at) : NULL,
                           p->module);
    }
    return hd_module_ready(m);
}

hd_module *hd__hf_layers(const hd__hf_config *c,
                         hd_module *(*layer_new)(const hd__hf_config *c, int64_t i),
                         const hd_dtype *d)
{
    hd_module *list = hd_module_list_n(0, NULL);
    bool ok = list;
    for (int64_t i = 0; ok && i < hd__hf_config_int(c, "num_hidden_layers"); i++) {
        ok = hd_module_list_append(list, hd__hf_stored(layer_new(c, i), d));
    }
    return hd_module_ready(list);
}

/* Makes the weight of m's embedding, the module `words`, also the weight of the head. Returns false
 * with an error on failure. */
static bool tie_head(hd_module *m, const char *words)
{
    hd_tensor *w = hd_module_get_parameter(hd_module_get(m, words), "weight");
    return hd_module_set_parameter(m, "lm_head.weight", w);
}

hd_module *hd__hf_model_new(hd__hf_config *c, const hd_dtype *d)
{
    const hd__hf_family *family = c->family;
    hd__hf_model *model = (hd__hf_model *)hd_module_new(&family->type);
    if (!model) {
        return NULL;
    }
    hd_module *m = &model->base;
    model->config = *c;
    c->values = NULL;
    c = &model->config;
    bool draw = hd_set_init_mode(false);
    hd_register_module(m, family->body, &model->body, family->body_new(c, d));
    hd_module *head = hd_linear_new(hd__hf_config_int(c, "hidden_size"),
                                    hd__hf_config_int(c, "vocab_size"), false);
    hd_register_module(m, "lm_head", &model->head, hd__hf_stored(head, d));
    hd_set_init_mode(draw);
    m = hd_module_ready(m);
    bool ok = m && (!hd__hf_config_bool(c, "tie_word_embeddings") || tie_head(m, family->words));
    return hd__hf_module_if(ok && (!draw || draw_weights(model)), m);
}

hd_module *hd__hf_model_make(const hd__hf_family *family, const void *values, const hd_dtype *d)
{
    hd__hf_config c = {.values = NULL};
    bool ok =
        HD__SIBLING_OK() && hd__hf_config_begin(&c, family, values) && hd__hf_config_resolve(&c);
    hd_module *m = ok ? hd__hf_model_new(&c, d) : NULL;
    hd_free(c.values);
    return m;
}

bool hd__hf_divides_ok(const hd__hf_config *c, const char *n_name, int64_t n, const char *size_name,
                       int64_t size)
{
    return size % n == 0 || hd__hf_config_refuse(c, "%s %" PRId64 " does not divide %s %" PRId64,
                                                 n_name, n, size_name, size);
}
