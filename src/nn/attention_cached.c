/* attention_cached.c - MultiHeadAttention over a text that comes in pieces. The keys and values of
 * all earlier tokens are kept, in tensors that have room for the whole context. */
#include "nn/nn_internal.h"

#include <inttypes.h>

struct hd_kv_cache {
    const hd_module *attention; /* the module that it was made for; not retained */
    hd_tensor *keys, *values;   /* (b, num_heads, context_length, head_dim), retained */
    int64_t len;                /* tokens that are in it */
};

/* ---------------------------------------------------------------- the cache */

hd_kv_cache *hd_kv_cache_new(const hd_module *attention, int64_t batch)
{
    HD__CALL("hd_kv_cache_new");
    if (!hd__type_arg("attention", attention, &hd__multi_head_attention_type) ||
        !hd__size_arg("batch", batch, 0)) {
        return NULL;
    }
    HD__SCOPE_OR(NULL);
    const hd__multi_head_attention *m = (const hd__multi_head_attention *)attention;
    hd_dtype d = hd_dtype_of(hd_module_get_parameter(m->base.W_key, "weight"));
    int64_t context_length = hd_size(m->base.mask, 0);
    hd_kv_cache *c = hd__alloc_zeroed(sizeof *c);
    if (!c) {
        return NULL;
    }
    c->attention = attention;
    c->keys = hd_retain(hd_empty(d, batch, m->num_heads, context_length, m->head_dim));
    c->values = hd_retain(hd_empty(d, batch, m->num_heads, context_length, m->head_dim));
    if (!c->keys || !c->values) {
        hd_kv_cache_free(c);
        return NULL;
    }
    return c;
}

void hd_kv_cache_free(hd_kv_cache *c)
{
    HD__CALL("hd_kv_cache_free");
    if (!hd__may_free("c", c, HD_NONE)) {
        return;
    }
    hd_release(c->keys);
    hd_release(c->values);
    hd__retire_object(c, hd__call);
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
        return hd__fail(HD_VALUE, "len %" PRId64 ": expected 0 to %" PRId64, len, c->len);
    }
    c->len = len;
    return true;
}

/* ---------------------------------------------------------------- attention */

static bool cached_args_ok(const hd_module *m, const hd_tensor *x, const hd_kv_cache *c)
{
    if (!hd__type_arg("m", m, &hd__multi_head_attention_type) || !hd__tensor_given("x", x) ||
        !hd__object("c", c)) {
        return false;
    }
    if (c->attention != m) {
        return hd__fail(HD_VALUE, "c was made for another MultiHeadAttention");
    }
    int64_t b = hd_size(c->keys, 0), context_length = hd_size(c->keys, 2);
    if (hd_ndim(x) != 3 || hd_size(x, 0) != b) {
        return hd__fail(HD_SHAPE, "x %s: expected (%" PRId64 ", num_tokens, d_in)", HD__DIMS(x), b);
    }
    if (hd_size(x, 1) > context_length - c->len) {
        return hd__fail(HD_SHAPE,
                        "x %s after %" PRId64 " tokens: more than context_length %" PRId64,
                        HD__DIMS(x), c->len, context_length);
    }
    return true;
}

/* Writes x (b, num_heads, num_tokens, head_dim) after the tokens in cached, and gives all of them,
 * (b, num_heads, len + num_tokens, head_dim). */
static hd_tensor *cache_append(const hd_kv_cache *c, hd_tensor *cached, hd_tensor *x)
{
    if (!x) {
        return NULL;
    }
    if (hd_dtype_of(x) != hd_dtype_of(cached)) {
        return hd__fail(HD_DTYPE, "keys or values of %s: expected %s, as in c",
                        hd_dtype_name(hd_dtype_of(x)), hd_dtype_name(hd_dtype_of(cached)));
    }
    int64_t num_tokens = hd_size(x, 2);
    if (!hd_copy_(hd_narrow(cached, 2, c->len, num_tokens), x)) {
        return NULL;
    }
    return hd_narrow(cached, 2, 0, c->len + num_tokens);
}

hd_tensor *hd_multi_head_attention_cached(hd_module *m, hd_tensor *x, hd_kv_cache *c)
{
    HD__CALL("hd_multi_head_attention_cached");
    if (!cached_args_ok(m, x, c) || !hd_forward_begin(m)) {
        return NULL;
    }
    HD_NO_GRAD;
    hd__multi_head_attention *self = (hd__multi_head_attention *)m;
    hd__projected p = hd__project_heads(self, x);
    p.keys = cache_append(c, c->keys, p.keys);
    p.values = cache_append(c, c->values, p.values);
    hd_tensor *y = hd_forward_end(m, hd__attend(self, p, c->len));
    if (y) {
        c->len += hd_size(x, 1);
    }
    return y;
}
