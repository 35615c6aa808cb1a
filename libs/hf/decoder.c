/* decoder.c - the layers, the model and the checks of Llama and similar families. */
#include "hf/decoder.h"

#include <inttypes.h>

/* One call of the model. */
typedef struct call {
    /* the rows of the rotary tables for its tokens: (t, head_dim), or (b, 1, t, head_dim) if the
     * context has positions */
    hd_tensor *cos, *sin;
    const hd__hf_context *context;
} call;

/* ---------------------------------------------------------------- classes */

/* True if the type of m is class number `class` (HD__ATTENTION, ...) of any family. */
static bool is_part(const hd_module *m, int class)
{
    const hd__hf_family *const *f = hd__hf_families;
    while (*f && (!(*f)->classes || m->type != &(*f)->classes[class])) {
        f++;
    }
    return *f;
}

/* Returns m if is_part(m, class) is true. Otherwise, also if m is NULL, returns NULL with
 * HD_STATE. */
static void *decoder_part(hd_module *m, const hd__hf_model *model, int class)
{
    return m && is_part(m, class) ? m : hd__hf_part_of(m, &model->config.family->classes[class]);
}

int64_t hd__decoder_heads(const hd_module *m)
{
    return is_part(m, HD__ATTENTION) ? ((const hd__decoder_attention *)m)->heads : 0;
}

/* ---------------------------------------------------------------- a layer */

bool hd__decoder_heads_of(const hd__decoder_attention *m, hd_tensor *x, hd_tensor *qkv[3])
{
    qkv[0] = hd__hf_heads(hd_forward(m->q_proj, x), m->heads);
    qkv[1] = hd__hf_heads(hd_forward(m->k_proj, x), m->kv_heads);
    qkv[2] = hd__hf_heads(hd_forward(m->v_proj, x), m->kv_heads);
    return qkv[0] && qkv[1] && qkv[2];
}

/* Returns the attention's result (b, t, e) for x (b, t, e); NULL on failure. */
static hd_tensor *decoder_attention_run(hd__decoder_attention *m, hd_tensor *x, const call *c,
                                        int64_t layer)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    hd_tensor *of[3] = {NULL};
    bool ok = m->project(m, x, of);
    for (int i = 0; ok && m->rotary && i < 2; i++) {
        of[i] = hd_rotary(of[i], c->cos, c->sin);
    }
    hd_tensor *y = ok ? hd__hf_attend(of[0], of[1], of[2], c->context, layer, 0) : NULL;
    return hd_forward_end(&m->base, hd_forward(m->o_proj, y));
}

hd_module *hd__decoder_attention_new(const hd__hf_config *c, int64_t layer)
{
    const int64_t e = hd__hf_config_int(c, "hidden_size"), dim = hd__hf_config_int(c, "head_dim"),
                  heads = hd__hf_config_int(c, "num_attention_heads"),
                  kv_heads = hd__hf_config_int(c, "num_key_value_heads");
    const bool bias = hd__hf_config_bool(c, "attention_bias"),
               qkv_bias = c->family->qkv_bias || bias;
    const bool *rotary = hd__hf_config_flags(c, "no_rope_layers.");
    hd__decoder_attention *m = (hd__decoder_attention *)hd__hf_module_of(
        &c->family->classes[HD__ATTENTION],
        HD__PARTS(
            HD__PART(hd__decoder_attention, q_proj, hd_linear_new(e, heads * dim, qkv_bias)),
            HD__PART(hd__decoder_attention, k_proj, hd_linear_new(e, kv_heads * dim, qkv_bias)),
            HD__PART(hd__decoder_attention, v_proj, hd_linear_new(e, kv_heads * dim, qkv_bias)),
            HD__PART(hd__decoder_attention, o_proj, hd_linear_new(heads * dim, e, bias))));
    if (m) {
        m->heads = heads;
        m->kv_heads = kv_heads;
        m->rotary = !rotary || rotary[layer];
        m->project = hd__decoder_heads_of;
    }
    return (hd_module *)m;
}

/* Returns down(act(gate(x)) * up(x)); NULL with an error on failure. */
hd_tensor *hd__decoder_mlp_forward(hd_module *self, hd_tensor *x)
{
    hd__decoder_mlp *m = (hd__decoder_mlp *)self;
    hd_tensor *gate = hd_forward(m->act_fn, hd_forward(m->gate_proj, x));
    return hd_forward(m->down_proj, hd_mul(gate, hd_forward(m->up_proj, x)));
}

hd_module *hd__decoder_mlp_new(const hd__hf_config *c)
{
    const int64_t e = hd__hf_config_int(c, "hidden_size"),
                  n = hd__hf_config_int(c, "intermediate_size");
    const bool bias = hd__hf_config_bool(c, "mlp_bias");
    return hd__hf_module_of(
        &c->family->classes[HD__MLP],
        HD__PARTS(HD__PART(hd__decoder_mlp, gate_proj, hd_linear_new(e, n, bias)),
                  HD__PART(hd__decoder_mlp, up_proj, hd_linear_new(e, n, bias)),
                  HD__PART(hd__decoder_mlp, down_proj, hd_linear_new(n, e, bias)),
                  HD__PART(hd__decoder_mlp, act_fn, hd_silu_new(false))));
}

static hd_tensor *decoder_layer_run(hd__decoder_layer *m, hd_tensor *x, const hd__hf_model *model,
                                    const call *c, int64_t number)
{
    if (!m || !hd_forward_begin(&m->base)) {
        return NULL;
    }
    hd_tensor *y = hd_forward(m->input_layernorm, x);
    x = hd_add(
        x, decoder_attention_run(decoder_part(m->self_attn, model, HD__ATTENTION), y, c, number));
    y = hd_forward(m->post_attention_layernorm, x);
    return hd_forward_end(&m->base, hd_add(x, hd_forward(m->mlp, y)));
}

static hd_module *decoder_norm_new(const hd__hf_config *c)
{
    return hd_rms_norm_new(hd__hf_config_int(c, "hidden_size"),
                           hd__hf_config_double(c, "rms_norm_eps"));
}

static hd_module *decoder_layer_new(const hd__hf_config *c, int64_t i)
{
    const hd__hf_family *family = c->family;
    return hd__hf_module_of(
        &family->classes[HD__LAYER],
        HD__PARTS(HD__PART(hd__decoder_layer, self_attn, family->attention_new(c, i)),
                  HD__PART(hd__decoder_layer, mlp, family->mlp_new(c)),
                  HD__PART(hd__decoder_layer, input_layernorm, decoder_norm_new(c)),
                  HD__PART(hd__decoder_layer, post_attention_layernorm, decoder_norm_new(c))));
}

/* ---------------------------------------------------------------- the model */

/* Returns the rows of a rotary table (n, head_dim) for the t tokens of this call. The table is
 * float32, as in transformers; the rows are converted to d, the dtype of queries and keys. NULL on
 * failure. */
static hd_tensor *rows_of(hd_tensor *table, const hd__hf_context *c, int64_t t, hd_dtype d)
{
    if (!c->positions) {
        return hd_to(hd_narrow(table, 0, c->seen ? c->seen->len : 0, t), d);
    }
    hd_tensor *rows = hd_to(hd_index_select(table, 0, hd_flatten(c->positions, 0, 1)), d);
    return hd_view(rows, hd_size(c->positions, 0), 1, t, hd_size(table, 1));
}

/* Sets c->cos and c->sin for x (b, t, e). The context's `seen`, if there is one, keeps the tables,
 * so hd_generate makes them once. Returns false with an error on failure. */
static bool rows_set(call *c, const hd__hf_config *config, const hd_tensor *x)
{
    const int64_t t = hd_size(x, 1), dim = hd__hf_config_int(config, "head_dim");
    hd__hf_seen *seen = c->context->seen;
    hd_tensor *cos = seen ? seen->cos : NULL, *sin = seen ? seen->sin : NULL;
    if (!cos &&
        !hd_rotary_tables(dim, seen ? seen->most : t, hd__hf_config_rope(config), &cos, &sin)) {
        return false;
    }
    if (seen && !seen->cos) {
        seen->cos = hd_retain(cos);
        seen->sin = hd_retain(sin);
    }
    c->cos = rows_of(cos, c->context, t, hd_dtype_of(x));
    c->sin = rows_of(sin, c->context, t, hd_dtype_of(x));
    return c->cos && c->sin;
}

hd_tensor *hd__decoder_hidden(hd__hf_model *m, hd_tensor *ids, const hd__hf_context *context)
{
    hd__decoder_body *b = decoder_part(m->body, m, HD__BODY);
    call c = {.context = context};
    hd_tensor *x = b ? hd_forward(b->embed_tokens, ids) : NULL; /* (b, t, e) */
    if (!x || !rows_set(&c, &m->config, x)) {
        return NULL;
    }
    for (int64_t i = 0; i < hd_module_list_len(b->layers); i++) {
        hd__decoder_layer *each = decoder_part(hd_module_list_get(b->layers, i), m, HD__LAYER);
        x = decoder_layer_run(each, x, m, &c, i);
    }
    return hd_forward(b->norm, x);
}

hd_module *hd__decoder_body_new(const hd__hf_config *c, const hd_dtype *d)
{
    hd_module *words =
        hd_embedding_new(hd__hf_config_int(c, "vocab_size"), hd__hf_config_int(c, "hidden_size"),
                         hd__hf_config_int(c, "pad_token_id"));
    return hd__hf_module_of(
        &c->family->classes[HD__BODY],
        HD__PARTS(HD__PART(hd__decoder_body, embed_tokens, hd__hf_stored(words, d)),
                  HD__PART(hd__decoder_body, layers, hd__hf_layers(c, decoder_layer_new, d)),
                  HD__PART(hd__decoder_body, norm, decoder_norm_new(c))));
}

/* ---------------------------------------------------------------- the configuration */

const hd__hf_known hd__decoder_known[] = {
    {"vocab_size", HD__ROWS, "model.embed_tokens"},
    {"intermediate_size", HD__COLUMNS, ".down_proj"},
    {"num_hidden_layers", HD__LENGTH, "model.layers"},
    {"rms_norm_eps", HD__EPS, "model.norm"},
    {"attention_bias", HD__BIAS, ".o_proj"},
    {"mlp_bias", HD__BIAS, ".down_proj"},
    {NULL, HD__ROWS, NULL},
};

/* Sets num_key_value_heads and head_dim if they are 0. Returns false with an error if they do not
 * fit the other sizes. */
static bool heads_ok(hd__hf_config *c)
{
    const int64_t heads = hd__hf_config_int(c, "num_attention_heads"),
                  e = hd__hf_config_int(c, "hidden_size");
    int64_t *kv_heads = hd__hf_config_at(c, "num_key_value_heads"),
            *dim = hd__hf_config_at(c, "head_dim");
    *kv_heads = *kv_heads ? *kv_heads : heads;
    if ((*dim == 0 && !hd__hf_divides_ok(c, "num_attention_heads", heads, "hidden_size", e)) ||
        !hd__hf_divides_ok(c, "num_key_value_heads", *kv_heads, "num_attention_heads", heads)) {
        return false;
    }
    *dim = *dim ? *dim : e / heads;
    return *dim % 2 == 0 ||
           hd__hf_config_refuse(c, "head_dim %" PRId64 ": expected an even number", *dim);
}

bool hd__decoder_resolve(hd__hf_config *c)
{
    const int64_t pad = hd__hf_config_int(c, "pad_token_id"),
                  vocab = hd__hf_config_int(c, "vocab_size");
    hd_tensor *cos, *sin; /* tables of 0 rows, made only to check the options */
    if (pad >= vocab || (pad < -vocab && pad != HD_NO_PADDING)) {
        return hd__hf_config_refuse(c,
                                    "pad_token_id %" PRId64 " and vocab_size %" PRId64
                                    ": expected a token of the vocabulary",
                                    pad, vocab);
    }
    if (!heads_ok(c) || !hd_rotary_tables(0, 0, hd__hf_config_rope(c), &cos, &sin)) {
        return false;
    }
    hd_release(cos);
    hd_release(sin);
    return true;
}

double hd__decoder_elements(const hd__hf_config *c)
{
    double q = (double)hd__hf_config_int(c, "num_attention_heads") *
               (double)hd__hf_config_int(c, "head_dim"),
           inner = (double)hd__hf_config_int(c, "intermediate_size"),
           layers = (double)hd__hf_config_int(c, "num_hidden_layers");
    return (double)hd__hf_config_int(c, "hidden_size") *
           ((double)hd__hf_config_int(c, "vocab_size") + layers * (2 * q + 3 * inner));
}

/* ---------------------------------------------------------------- windows */

bool hd__decoder_layer_types_ok(const hd__hf_config_file *f, const hd__hf_config *c, bool windowed)
{
    int64_t layers = hd__hf_config_int(c, "num_hidden_layers");
    hd__hf_config_file types = *f;
    types.inside = "layer_types.";
    int64_t n = hd__hf_count_inside(&types);
    hd__hf_value use = hd__hf_value_of(f, "use_sliding_window");
    if (n > 0) {
        return n == layers || hd_fail(HD_VALUE,
                                      "'%.*s': layer_types has %" PRId64
                                      " entries: expected %" PRId64 ", the num_hidden_layers",
                                      HD__CUT(f->path), n, layers);
    }
    return !windowed || !hd__hf_is_word(&use, "true") ||
           hd_fail(HD_VALUE,
                   "'%.*s': use_sliding_window: found true: expected false. heed has no attention "
                   "with a window",
                   HD__CUT(f->path));
}

bool hd__decoder_window_ok(const hd__hf_config_file *f, const hd__hf_config *c)
{
    hd__hf_value window = hd__hf_value_of(f, "sliding_window"),
                 first = hd__hf_value_of(f, "max_window_layers");
    return hd__decoder_layer_types_ok(f, c,
                                      !hd__hf_is_word(&window, "null") &&
                                          (first.name ? first.integer : 28) <
                                              hd__hf_config_int(c, "num_hidden_layers"));
}
