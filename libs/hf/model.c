/* model.c - what both models share: the forward, heads, attention with a cache, the check of ids,
 * first weights. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "hf/hf_internal.h"

bool hd__hf_given(const char *function, const char *arg, const hd_tensor *x)
{
    return hd__given_to(function, arg, x) &&
           (x != HD_NONE ||
            hd_error_set(HD_NULL_ARG, "%s: %s is HD_NONE: expected a tensor", function, arg));
}

hd_dict *hd__dict_if(bool ok, hd_dict *d)
{
    if (!ok) {
        hd_dict_free(d);
    }
    return ok ? d : NULL;
}

hd_module *hd__module_if(bool ok, hd_module *m)
{
    if (!ok) {
        hd_module_free(m);
    }
    return ok ? m : NULL;
}

hd__model *hd__model_of(hd_module *m, const char *function)
{
    if (!hd__given_to(function, "m", m)) {
        return NULL;
    }
    if (m->type->forward != hd__model_forward) {
        return hd_error_set(HD_VALUE, "%s: m is a %s: expected a model of heed/hf.h", function,
                            m->type->name);
    }
    return (hd__model *)m;
}

bool hd__ids_ok(const char *function, const hd_tensor *ids)
{
    if (!hd__hf_given(function, "ids", ids)) {
        return false;
    }
    bool whole = hd_dtype_of(ids) == HD_INT64;
    return (whole && hd_ndim(ids) == 2 && hd_size(ids, 1) > 0) ||
           hd_error_set(whole ? HD_SHAPE : HD_DTYPE,
                        "%s: ids are %s %s: expected int64 (batch, tokens)", function,
                        hd_dtype_name(hd_dtype_of(ids)), HD__SIZES(hd_ndim(ids), hd_sizes(ids)));
}

/* The logits (b, t, vocab) of ids (b, t) */
static hd_tensor *logits_of(hd__model *m, const char *function, hd_tensor *ids, hd_tensor *mask)
{
    hd__padding padding;
    hd__context c;
    if (!hd__ids_ok(function, ids)) {
        return NULL;
    }
    int64_t t = hd_size(ids, 1);
    if (t > m->positions) {
        return hd_error_set(
            HD_VALUE, "%s: %" PRId64 " tokens: expected at most %" PRId64 ", which is its context",
            function, t, m->positions);
    }
    if (!hd__padding_read(function, ids, mask, 0, &padding) ||
        !hd__context_begin(&c, &padding, NULL, t)) {
        return NULL;
    }
    return hd_forward(m->head, m->hidden(m, ids, &c));
}

hd_tensor *hd__model_forward(hd_module *self, hd_tensor *ids)
{
    return logits_of((hd__model *)self, self->type->name, ids, HD_NONE);
}

hd_tensor *hd_forward_with_mask(hd_module *module, hd_tensor *ids, hd_tensor *attention_mask)
{
    static const char function[] = "hd_forward_with_mask";
    hd__model *m = hd__model_of(module, function);
    if (!m || !hd_forward_begin(module)) {
        return NULL;
    }
    return hd_forward_end(module, logits_of(m, function, ids, attention_mask));
}

void hd__model_free(hd_module *self)
{
    hd_free(((hd__model *)self)->generation);
}

hd_tensor *hd__heads(hd_tensor *x, int64_t heads)
{
    return hd_transpose(hd_view(x, hd_size(x, 0), hd_size(x, 1), heads, hd_size(x, 2) / heads), 1,
                        2);
}

hd_tensor *hd__hf_attend(hd_tensor *q, hd_tensor *k, hd_tensor *v, const hd__context *c,
                         int64_t layer, double dropout)
{
    hd__seen *seen = c->seen;
    if (seen && layer >= seen->layers) {
        return hd_error_set(HD_STATE,
                            "hd_generate: layer %" PRId64 ": expected fewer than %" PRId64, layer,
                            seen->layers);
    }
    if (seen && !hd_kv_cache_update(seen->cache[layer], &k, &v)) {
        return NULL;
    }
    hd_attention_options o = hd_attention_defaults();
    o.dropout_p = dropout;
    o.enable_gqa = hd_size(q, 1) != hd_size(k, 1);
    o.attn_mask = c->mask ? c->mask : HD_NONE;
    o.is_causal = !c->mask && hd_size(q, 2) == hd_size(k, 2); /* else one query, the last */
    hd_tensor *y = hd_scaled_dot_product_attention_with(q, k, v, &o, NULL); /* (b, heads, t, d) */
    return hd_flatten(hd_transpose(y, 1, 2), 2, 3);
}

void *hd__part_of(hd_module *m, const hd_module_type *types, int n)
{
    const char *name = types->name;
    return m && (m->type == types || m->type == types + n - 1)
               ? m
               : hd_error_set(HD_STATE, "%s: found %s in its place: expected a %s", name,
                              m ? m->type->name : "nothing", name);
}

bool hd__ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* As transformers, with the smaller weights that GPT-2 has where a layer's result is added. */
static bool draw_weights(hd__model *m, double std)
{
    if (!hd_forward_begin(&m->base)) { /* whose end takes back what a failure has drawn */
        return false;
    }
    hd_dict *weights = hd_module_named_parameters(&m->base);
    hd_tensor *last = NULL;
    bool ok = weights;
    for (int64_t i = 0; ok && i < hd_dict_len(weights); i++) {
        const char *name = hd_dict_name(weights, i);
        hd_tensor *w = hd_dict_get(weights, name);
        double less = hd__ends_in(name, "c_proj.weight") ? sqrt(2.0 * (double)m->layers) : 1;
        last = hd__ends_in(name, ".bias") ? hd_init_zeros_(w)
               : hd_ndim(w) == 1          ? hd_init_ones_(w)
                                          : hd_init_normal_(w, 0, std / less);
        ok = last;
    }
    hd_dict_free(weights);
    return hd_forward_end(&m->base, last);
}

hd_module *hd__stored(hd_module *m, const hd_dtype *d)
{
    if (!m || !d) {
        return m;
    }
    HD__OWN_SCOPE(scope);
    hd_dict *weights = scope ? hd_module_named_parameters(m) : NULL;
    bool ok = weights;
    for (int64_t i = 0; ok && i < hd_dict_len(weights); i++) {
        const char *name = hd_dict_name(weights, i);
        hd_tensor *w = hd_dict_get(weights, name);
        hd_dtype to = hd_ndim(w) == 2 ? *d : HD_FLOAT32;
        hd_tensor *one = hd_expand_n(hd_empty_n(to, 0, NULL), hd_ndim(w), hd_sizes(w));
        ok = hd_module_set_parameter(m, name, hd_parameter(one, to == HD_FLOAT32));
    }
    hd_dict_free(weights);
    return hd__module_if(ok, m);
}

hd_module *hd__module_of(const hd_module_type *type, const hd__part *p)
{
    hd_module *m = hd_module_new(type);
    for (; p->name; p++) {
        hd_register_module(m, p->name, m ? (hd_module **)(void *)((char *)m + p->at) : NULL,
                           p->module);
    }
    return hd_module_ready(m);
}

hd_module *hd__layers(int64_t n, hd_module *(*make)(const hd__config *c), const hd__config *c,
                      const hd_dtype *d)
{
    hd_module *list = hd_module_list_n(0, NULL);
    bool ok = list;
    for (int64_t i = 0; ok && i < n; i++) {
        ok = hd_module_list_append(list, hd__stored(make(c), d));
    }
    return hd_module_ready(list);
}

hd_module *hd__model_new(const hd_module_type *type, const hd__model *like, const char *body_name,
                         hd_module *(*body_new)(const hd__config *c, const hd_dtype *d), double std,
                         const char *tied, const hd_dtype *d)
{
    hd__model *model = (hd__model *)hd_module_new(type);
    if (!model) {
        return NULL;
    }
    hd_module base = model->base, *m = &model->base;
    *model = *like;
    model->base = base;
    model->config.kept = (hd__kept){HD_NO_PADDING, HD_NO_PADDING, .use_cache = true};
    bool draw = hd_set_init_mode(false);
    hd_register_module(m, body_name, &model->body, body_new(&like->config, d));
    hd_register_module(m, "lm_head", &model->head,
                       hd__stored(hd_linear_new(like->width, like->vocab, false), d));
    hd_set_init_mode(draw);
    m = hd_module_ready(m);
    bool ok = m && (!tied ||
                    hd_module_set_parameter(m, "lm_head.weight", hd_module_get_parameter(m, tied)));
    return hd__module_if(ok && (!draw || draw_weights(model, std)), m);
}

bool hd__divides_ok(const char *function, const char *n_name, int64_t n, const char *size_name,
                    int64_t size)
{
    return size % n == 0 ||
           hd_error_set(HD_VALUE, "%s: %s %" PRId64 " and %s %" PRId64 ": expected a multiple",
                        function, n_name, n, size_name, size);
}
