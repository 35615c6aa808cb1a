/* attention_cached.c - attention over a text that grows, token by token or piece by piece. The
 * cache keeps the keys and values of all earlier tokens, in tensors allocated for the whole
 * context. */
#include "nn/attention_causal.h"
#include "nn/module_args.h"

#include <inttypes.h>

struct hd_kv_cache {
    /* the module for which hd_kv_cache_new made the cache; hd_multi_head_attention_cached refuses
     * other modules. NULL if hd_kv_cache_new_for made it */
    const hd_module *attention;
    hd_tensor *keys, *values; /* (batch, heads, length, head_dim), retained */
    int64_t len;              /* the number of tokens in the cache */
};

/* ---------------------------------------------------------------- the cache */

hd_kv_cache *(hd_kv_cache_new_for)(hd_dtype dtype, int64_t batch, int64_t heads, int64_t length,
                                   int64_t head_dim)
{
    HD__CALL("hd_kv_cache_new_for");
    if (!hd__nn_size_arg("batch", batch, 0) || !hd__nn_size_arg("heads", heads, 0) ||
        !hd__nn_size_arg("length", length, 0) || !hd__nn_size_arg("head_dim", head_dim, 0)) {
        return NULL;
    }
    if (dtype != HD_FLOAT32 && dtype != HD_FLOAT64) {
        return hd_fail(HD_DTYPE, "dtype %s: expected float32 or float64", hd_dtype_name(dtype));
    }
    HD__SCOPE_OR(NULL);
    hd_kv_cache *c = hd__object_new(HD__KV_CACHE, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->keys = hd_retain(hd_empty(dtype, batch, heads, length, head_dim));
    c->values = hd_retain(hd_empty(dtype, batch, heads, length, head_dim));
    if (!c->keys || !c->values) {
        hd_kv_cache_free(c);
        return NULL;
    }
    return c;
}

hd_kv_cache *hd_kv_cache_new(const hd_module *attention, int64_t batch)
{
    HD__CALL("hd_kv_cache_new");
    if (!hd__nn_type_arg("attention", attention, &hd__nn_multi_head_attention_type)) {
        return NULL;
    }
    const hd__nn_multi_head_attention *m = (const hd__nn_multi_head_attention *)attention;
    hd_tensor *w = hd_module_get_parameter(m->base.W_key, "weight");
    const hd_dtype d = w && hd_dtype_of(w) == HD_FLOAT64 ? HD_FLOAT64 : HD_FLOAT32;
    int64_t length = hd_size(m->base.mask, 0), heads = m->num_heads;
    hd_kv_cache *c = w ? hd_kv_cache_new_for(d, batch, heads, length, m->d_out / heads) : NULL;
    if (c) {
        c->attention = attention;
    }
    return c;
}

void hd_kv_cache_free(hd_kv_cache *c)
{
    HD__CALL("hd_kv_cache_free");
    if (hd__object_may_free("c", c, HD_NONE)) {
        hd_release(c->keys);
        hd_release(c->values);
        hd__mem_retire_object(c, hd__call_kept());
    }
}

int64_t hd_kv_cache_len(const hd_kv_cache *c)
{
    HD__CALL("hd_kv_cache_len");
    return hd__object("c", c) ? c->len : -1;
}

bool hd_kv_cache_truncate(hd_kv_cache *c, int64_t len)
{
    HD__CALL("hd_kv_cache_truncate");
    if (!hd__object("c", c)) {
        return false;
    }
    if (len < 0 || len > c->len) {
        return hd_fail(HD_VALUE, "len %" PRId64 ": expected 0 to %" PRId64, len, c->len);
    }
    c->len = len;
    return true;
}

static bool cache_fits(const hd_kv_cache *c, const hd_tensor *keys, const hd_tensor *values)
{
    const int64_t *room = hd_sizes(c->keys), t = hd_ndim(keys) == 4 ? hd_size(keys, 2) : -1;
    const int64_t sizes[] = {room[0], room[1], t, room[3]};
    if (!hd__nn_sizes_are(keys, 4, sizes) || !hd__nn_sizes_are(values, 4, sizes)) {
        return hd_fail(HD_SHAPE,
                       "keys %s, values %s: expected (%" PRId64 ", %" PRId64 ", t, %" PRId64
                       ") for both",
                       HD__DIMS(keys), HD__DIMS(values), room[0], room[1], room[3]);
    }
    hd_dtype d = hd_dtype_of(c->keys);
    return (t <= room[2] - c->len ||
            hd_fail(HD_SHAPE,
                    "keys %s after %" PRId64 " tokens: expected at most %" PRId64
                    " in all, the cache's length",
                    HD__DIMS(keys), c->len, room[2])) &&
           ((hd_dtype_of(keys) == d && hd_dtype_of(values) == d) ||
            hd_fail(HD_DTYPE, "keys of dtype %s, values of dtype %s: expected dtype %s, as in c",
                    hd_dtype_name(hd_dtype_of(keys)), hd_dtype_name(hd_dtype_of(values)),
                    hd_dtype_name(d)));
}

bool hd_kv_cache_update(hd_kv_cache *c, hd_tensor **keys, hd_tensor **values)
{
    HD__CALL("hd_kv_cache_update");
    if (!hd__object("c", c) || !hd__arg_given("keys", keys) || !hd__arg_given("values", values) ||
        !hd__nn_tensor_given("keys", *keys) || !hd__nn_tensor_given("values", *values) ||
        !cache_fits(c, *keys, *values)) {
        return false;
    }
    HD_NO_GRAD;
    int64_t t = hd_size(*keys, 2), all = c->len + t;
    hd_tensor *k = hd_narrow(c->keys, 2, 0, all), *v = hd_narrow(c->values, 2, 0, all);
    hd_tensor *new_k = hd_narrow(k, 2, c->len, t), *new_v = hd_narrow(v, 2, c->len, t);
    if (!new_k || !new_v || !hd_copy_(new_k, *keys) || !hd_copy_(new_v, *values)) {
        return false;
    }
    c->len = all;
    *keys = k;
    *values = v;
    return true;
}

/* ---------------------------------------------------------------- attention */

static bool cached_args_ok(const hd_module *m, const hd_tensor *x, const hd_kv_cache *c)
{
    if (!hd__nn_type_arg("m", m, &hd__nn_multi_head_attention_type) ||
        !hd__nn_tensor_given("x", x) || !hd__object("c", c)) {
        return false;
    }
    if (c->attention != m) {
        return hd_fail(
            HD_VALUE, "c was made for another module: expected a cache of hd_kv_cache_new(m, ...)");
    }
    int64_t b = hd_size(c->keys, 0), context_length = hd_size(c->keys, 2);
    return ((hd_ndim(x) == 3 && hd_size(x, 0) == b) ||
            hd_fail(HD_SHAPE, "x %s: expected (%" PRId64 ", num_tokens, d_in)", HD__DIMS(x), b)) &&
           (hd_size(x, 1) <= context_length - c->len ||
            hd_fail(HD_SHAPE,
                    "x %s after %" PRId64 " tokens: expected at most %" PRId64
                    " in all, the context_length",
                    HD__DIMS(x), c->len, context_length));
}

hd_tensor *hd_multi_head_attention_cached(hd_module *m, hd_tensor *x, hd_kv_cache *c)
{
    HD__CALL("hd_multi_head_attention_cached");
    if (!cached_args_ok(m, x, c) || !hd_forward_begin(m)) {
        return NULL;
    }
    HD_NO_GRAD;
    hd__nn_multi_head_attention *self = (hd__nn_multi_head_attention *)m;
    int64_t seen = c->len;
    hd__nn_projected p = hd__nn_project_heads(self, x);
    bool ok = hd_kv_cache_update(c, &p.keys, &p.values);
    hd_tensor *y = hd_forward_end(m, ok ? hd__nn_attend(self, p, seen) : NULL);
    if (!y) {
        c->len = seen;
    }
    return y;
}
