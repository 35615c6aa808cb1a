/* generate.c - hd_generate: writes texts token by token, with a cache of keys and values. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "hf/family.h"

hd_generate_options hd_generate_defaults(void)
{
    return (hd_generate_options){.size = sizeof(hd_generate_options),
                                 .max_new_tokens = 20,
                                 .temperature = 1,
                                 .top_k = 50,
                                 .top_p = 1,
                                 .repetition_penalty = 1,
                                 .pad_token_id = -1,
                                 .attention_mask = HD_NONE};
}

typedef struct writing { /* one text of the batch */
    bool ended;
    int64_t shown; /* the bytes of the prompt plus the bytes that on_token got */
} writing;

typedef struct generation { /* one call of hd_generate */
    hd__hf_model *m;
    const hd_generate_options *o;
    hd__hf_padding padding;
    hd__hf_seen *seen;
    writing *texts; /* one for each row of ids */
    hd__text piece; /* the bytes that the newest token added to its text */
} generation;

/* ---------------------------------------------------------------- the cache */

static void seen_free(hd__hf_seen *s)
{
    for (int64_t i = 0; s && i < s->layers; i++) {
        hd_kv_cache_free(s->cache[i]);
    }
    hd_release(s ? s->cos : NULL);
    hd_release(s ? s->sin : NULL);
    hd_free(s);
}

static hd__hf_seen *seen_new(const hd__hf_model *m, int64_t most)
{
    const int64_t layers = hd__hf_config_int(&m->config, "num_hidden_layers");
    const size_t bytes = sizeof(hd__hf_seen) + (size_t)layers * sizeof(hd_kv_cache *);
    hd__hf_seen *s = hd_alloc(bytes);
    if (s) {
        memset(s, 0, bytes);
        s->layers = layers;
        s->most = most;
    }
    return s;
}

/* Returns the logits (b, vocab) after ids (b, t), or NULL. Messages name the op that failed. */
static hd_tensor *last_logits(hd__hf_model *m, hd_tensor *ids, const hd__hf_context *c)
{
    HD__CALLS_BACK;
    hd_tensor *h = m->config.family->hidden(m, ids, c); /* (b, t, e) */
    return hd_to(hd_forward(m->head, hd_select(h, 1, -1)), HD_FLOAT32);
}

/* Returns the logits (b, vocab) after ids (b, t), which follow the tokens in g->seen and are added
 * to it. Returns NULL on failure. */
static hd_tensor *next_logits(generation *g, hd_tensor *ids)
{
    hd__hf_context c;
    if (!hd__hf_context_begin(&c, &g->padding, g->seen, hd_size(ids, 1))) {
        return NULL;
    }
    hd_tensor *logits = last_logits(g->m, ids, &c);
    g->seen->len += logits ? hd_size(ids, 1) : 0;
    return logits;
}

/* ---------------------------------------------------------------- a token */

/* Returns the logits (b, vocab), in which each token of ids (b, t) is penalized once: `penalty`
 * divides a positive logit, and multiplies a negative one. NULL with an error on failure. */
static hd_tensor *penalized(hd_tensor *logits, hd_tensor *ids, double penalty)
{
    if (penalty == 1) {
        return logits;
    }
    logits = hd_contiguous(logits);
    hd_tensor *y = hd_clone(logits);
    ids = hd_contiguous(ids);
    const float *from = hd_data(logits);
    const int64_t *id = hd_data(ids);
    float *to = hd_data_mut(y);
    int64_t t = hd_size(ids, 1), vocab = hd_size(logits, 1);
    for (int64_t i = 0; from && id && to && i < hd_numel(ids); i++) {
        if (id[i] >= vocab) {
            return hd_fail(HD_INDEX, "id %" PRId64 ": expected 0 to %" PRId64, id[i], vocab - 1);
        }
        int64_t at = i / t * vocab + id[i];
        to[at] = from[at] < 0 ? from[at] * (float)penalty : from[at] / (float)penalty;
    }
    return y;
}

/* Returns the probabilities (b, k) of the k likeliest tokens, or NULL; *tokens gets their ids. */
static hd_tensor *kept_probabilities(hd_tensor *logits, hd_tensor *ids,
                                     const hd_generate_options *o, hd_tensor **tokens)
{
    int64_t vocab = hd_size(logits, 1), k = o->top_k > 0 && o->top_k < vocab ? o->top_k : vocab;
    logits = hd_div_scalar(penalized(logits, ids, o->repetition_penalty), o->temperature);
    hd_tensor *p = hd_softmax(hd_topk(logits, k, 1, true, tokens), 1); /* (b, k) */
    if (o->top_p < 1) { /* a token stays if the likelier tokens sum to less than top_p */
        hd_tensor *before = hd_sub(hd_cumsum(p, 1), p);
        p = hd_masked_fill(p, hd_ge_scalar(before, fmax(o->top_p, FLT_MIN)), 0);
        p = hd_div(p, hd_sum_dim(p, 1, true));
    }
    return p;
}

/* Returns ids (b, t) with the last id of a row in the place of its padding, so that the pad token
 * gets no penalty. NULL on failure. */
static hd_tensor *unpadded(hd_tensor *ids, const hd__hf_padding *p)
{
    int64_t t = hd_size(ids, 1);
    return p->real ? hd_where(hd_narrow(p->real, 1, 0, t), ids, hd_narrow(ids, 1, t - 1, 1)) : ids;
}

/* Returns the next tokens (b,): drawn if o->do_sample is true, the likeliest otherwise; or NULL. */
static hd_tensor *choose(hd_tensor *logits, hd_tensor *ids, const hd_generate_options *o)
{
    if (!o->do_sample) {
        return hd_argmax_dim(penalized(logits, ids, o->repetition_penalty), 1, false);
    }
    hd_tensor *tokens = NULL, *p = kept_probabilities(logits, ids, o, &tokens);
    return hd_select(hd_gather(tokens, 1, hd_multinomial(p, 1, false)), 1, 0);
}

/* ---------------------------------------------------------------- texts */

/* Returns row i of `all` (b, t) as ids (n,) without padding or ids that the tokenizer lacks. */
static hd_tensor *ids_with_text(const generation *g, hd_tensor *all, int64_t i)
{
    hd_tensor *ids = hd_clone(hd_contiguous(hd_select(all, 0, i)));
    hd_tensor *real = g->padding.real ? hd_select(g->padding.real, 0, i) : NULL;
    const bool *is_real = real ? hd_data(real) : NULL;
    int64_t *id = hd_data_mut(ids), n = 0, size = hd_tokenizer_size(g->o->tokenizer);
    for (int64_t k = 0; id && k < hd_numel(ids); k++) {
        if ((!is_real || is_real[k]) && id[k] < size) {
            id[n++] = id[k];
        }
    }
    return hd_narrow(ids, 0, 0, n);
}

/* Returns the length of the text without U+FFFD at its end: there a character may be incomplete. */
static int64_t whole_part(const char *text, int64_t n)
{
    static const char unknown[] = "\xEF\xBF\xBD"; /* U+FFFD */
    while (n >= 3 && memcmp(text + n - 3, unknown, 3) == 0) {
        n -= 3;
    }
    return n;
}

/* Sets g->piece to the bytes that text i of `all` (b, t) got since the last call. Decodes the whole
 * text, because a token's bytes depend on earlier tokens. Unless `last` is true, leaves out an
 * incomplete character at the end. Returns false with an error on failure. */
static bool piece_set(generation *g, hd_tensor *all, int64_t i, bool last)
{
    writing *w = &g->texts[i];
    hd__text_cut(&g->piece, 0);
    hd__text_puts(&g->piece, "");
    if (!g->o->tokenizer) {
        return !g->piece.failed;
    }
    int64_t n = 0;
    const char *text =
        hd_tokenizer_decode_with(g->o->tokenizer, ids_with_text(g, all, i), true, &n);
    if (!text) {
        return false;
    }
    n = last ? n : whole_part(text, n);
    int64_t from = w->shown < n ? w->shown : n;
    while ((text[from] & 0xC0) == 0x80) { /* do not begin inside a character */
        from++;
    }
    w->shown = n > w->shown ? n : w->shown;
    hd__text_add(&g->piece, text + from, (size_t)(n - from));
    return !g->piece.failed;
}

/* Begins g->texts with the prompts ids (b, t). Returns false with an error on failure. */
static bool texts_begin(generation *g, hd_tensor *ids)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_size(ids, 0); i++) {
        g->texts[i] = (writing){false, 0};
        ok = !g->o->on_token || piece_set(g, ids, i, true);
    }
    return ok;
}

/* Returns the token to append to texts that have ended, or -1 if there is none. */
static int64_t pad_of(const hd_generate_options *o)
{
    return o->pad_token_id >= 0 || o->num_eos == 0 ? o->pad_token_id : o->eos_token_id[0];
}

static bool pad_ended(const generation *g, hd_tensor *token)
{
    int64_t *id = hd_data_mut(token);
    for (int64_t i = 0; id && i < hd_numel(token); i++) {
        id[i] = g->texts[i].ended ? pad_of(g->o) : id[i];
    }
    return id;
}

/* Calls on_token for a new token. Returns false if on_token ends all texts. */
static bool tell_user(const generation *g, int64_t row, int64_t id)
{
    HD__CALLS_BACK;
    return g->o->on_token(row, id, g->piece.s, (int64_t)g->piece.len, g->o->user);
}

/* For the last column of `all` (b, t), marks texts that end and calls on_token. See piece_set for
 * `last`. Sets *goes_on to true if more tokens follow. Returns false with an error on failure. */
static bool texts_add(generation *g, hd_tensor *all, bool last, bool *goes_on)
{
    const hd_generate_options *o = g->o;
    writing *w = g->texts;
    bool more = false, stopped = false;
    for (int64_t i = 0; !stopped && i < hd_size(all, 0); i++) {
        if (w[i].ended) {
            continue;
        }
        int64_t id = hd_get_int(all, i, -1);
        for (int64_t k = 0; k < o->num_eos; k++) {
            w[i].ended |= o->eos_token_id[k] == id;
        }
        more = more || !w[i].ended;
        if (o->on_token) {
            if (!piece_set(g, all, i, last || w[i].ended)) {
                return false;
            }
            stopped = !tell_user(g, i, id);
        }
    }
    *goes_on = more && !stopped;
    return true;
}

/* ---------------------------------------------------------------- the loop */

/* Returns false with an error if an option is wrong. If may_be_cold, accepts any temperature. */
static bool options_ok(const hd_generate_options *o, bool may_be_cold)
{
    const struct {
        const char *name, *expected;
        double value;
        bool ok;
    } checks[] = {
        {"max_new_tokens", "0 or more", (double)o->max_new_tokens, o->max_new_tokens >= 0},
        {"temperature", "a number above 0", o->temperature, o->temperature > 0 || may_be_cold},
        {"top_k", "0 or more", (double)o->top_k, o->top_k >= 0},
        {"top_p", "a number from 0 to 1", o->top_p, o->top_p >= 0 && o->top_p <= 1},
        {"repetition_penalty", "a number above 0", o->repetition_penalty,
         o->repetition_penalty > 0},
        {"num_eos", "0 to 16", (double)o->num_eos, o->num_eos >= 0 && o->num_eos <= HD_EOS_MOST},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (!checks[i].ok) {
            return hd_fail(HD_VALUE, "%s %g: expected %s", checks[i].name, checks[i].value,
                           checks[i].expected);
        }
    }
    return true;
}

/* Returns the tokens (b, 1) that follow `all` (b, t), or NULL on failure. The model reads only
 * `rest`, the columns of `all` that it has not read yet. */
static hd_tensor *next_column(generation *g, hd_tensor *all, hd_tensor *rest)
{
    hd_tensor *token = choose(next_logits(g, rest), unpadded(all, &g->padding), g->o); /* (b,) */
    return token && pad_ended(g, token) ? hd_unsqueeze(token, 1) : NULL;
}

/* Appends a token to each text of *all (b, t), and sets *rest to these tokens (b, 1). See texts_add
 * for `last` and *goes_on. Returns false with an error on failure. */
static bool write_one(generation *g, hd_tensor **all, hd_tensor **rest, bool last, bool *goes_on)
{
    HD__SCOPE_OR(false);
    hd_tensor *column = next_column(g, *all, *rest);
    return column && hd_assign(rest, column) && hd_assign(all, hd_cat(1, *all, column)) &&
           texts_add(g, *all, last, goes_on);
}

/* Returns ids (b, t) followed by up to max_new_tokens new tokens, or NULL on failure. */
static hd_tensor *write_on(generation *g, hd_tensor *ids)
{
    hd_tensor *all = hd_retain(ids), *rest = hd_retain(ids);
    bool ok = texts_begin(g, ids), goes_on = true;
    for (int64_t i = 0; ok && goes_on && i < g->o->max_new_tokens; i++) {
        ok = write_one(g, &all, &rest, i + 1 == g->o->max_new_tokens, &goes_on);
    }
    hd_tensor *y = ok ? hd_detach(all) : NULL; /* the caller's scope owns it */
    hd_release(rest);
    hd_release(all);
    return y;
}

/* ---------------------------------------------------------------- evaluation mode */

typedef struct modes { /* the modules of a model, and whether each is in training mode */
    struct mode {
        hd_module *m;
        bool training, there; /* there: m is still in the model at the end */
    } * v;
    int64_t n, room;
    bool any; /* at least one module is in training mode */
} modes;

static bool mode_add(hd_module *m, const char *name, void *user)
{
    modes *all = user;
    if (!hd__text_grow(&all->v, &all->room, all->n + 1, sizeof *all->v)) {
        return false;
    }
    bool training = hd_module_training(m);
    all->v[all->n++] = (struct mode){m, training, !*name}; /* there: true for the model itself */
    all->any = all->any || training;
    return true;
}

/* Stores the modes of m's modules in *all, and sets m to evaluation mode. Writes nothing to m if no
 * module is in training mode: other threads may run m. Returns false with an error on failure. */
static bool modes_begin(modes *all, hd_module *m)
{
    return hd__hf_visit(m, mode_add, all) && (!all->any || hd_module_eval(m));
}

static bool mode_is_there(hd_module *m, const char *name, void *user)
{
    modes *all = user;
    (void)name;
    for (int64_t i = 0; i < all->n; i++) {
        all->v[i].there |= all->v[i].m == m;
    }
    return true;
}

/* Sets m's modules back to their modes, and frees all->v. Visits m first, and leaves out the
 * modules that on_token has freed or taken out of m. If memory runs out in the visit, each module
 * that the visit did not reach gets its parent's mode. Returns false with an error on failure. */
static bool modes_end(modes *all, hd_module *m)
{
    bool ok = !all->any || hd__hf_visit(m, mode_is_there, all);
    for (int64_t i = 0; all->any && i < all->n; i++) { /* a module comes before its children */
        const struct mode *v = &all->v[i];
        ok = (!v->there || hd_module_train(v->m, v->training)) && ok;
    }
    hd_free(all->v);
    return ok;
}

/* ---------------------------------------------------------------- the public functions */

/* Returns false with an error if the last column of the mask, which new tokens follow, has a 0. */
static bool ends_ok(hd_tensor *mask)
{
    for (int64_t i = 0; mask != HD_NONE && i < hd_size(mask, 0); i++) {
        if (hd_get_int(mask, i, -1) == 0) {
            return hd_fail(HD_VALUE,
                           "row %" PRId64 " of attention_mask ends in 0: expected 1. Put the "
                           "padding on the left, because new tokens are added on the right",
                           i);
        }
    }
    return true;
}

/* Returns the number of pad tokens with which the t ids id[0], id[step], id[2 * step] ... begin. */
static int64_t pads_from(const int64_t *id, int64_t t, int64_t step, int64_t pad)
{
    int64_t n = 0;
    while (n < t && id[n * step] == pad) {
        n++;
    }
    return n;
}

/* If there is no mask, warns if rows begin or end with different numbers of pad tokens. Returns
 * false with an error if the ids cannot be read. */
static bool warn_of_padding(hd_tensor *ids, const hd_generate_options *o)
{
    int64_t t = hd_size(ids, 1), pad = pad_of(o);
    const int64_t *first = hd_data(hd_contiguous(ids)), *row = first;
    for (int64_t i = 1; row && o->attention_mask == HD_NONE && i < hd_size(ids, 0); i++) {
        row += t;
        if (pads_from(first, t, 1, pad) != pads_from(row, t, 1, pad) ||
            pads_from(first + t - 1, t, -1, pad) != pads_from(row + t - 1, t, -1, pad)) {
            hd_warn("rows 0 and %" PRId64 " begin or end with different numbers of the pad "
                    "token %" PRId64 ", which the model reads as text. Set o->attention_mask, with "
                    "0 for padding",
                    i, pad);
            break;
        }
    }
    return row;
}

/* Returns false with an error if the model would read a pad token that its vocabulary lacks. */
static bool pad_ok(hd__hf_model *m, hd_tensor *ids, const hd_generate_options *o)
{
    bool fills = o->num_eos > 0 && hd_size(ids, 0) > 1;
    int64_t vocab = hd__hf_vocab(m);
    return !fills || pad_of(o) < vocab ||
           hd_fail(HD_VALUE,
                   "the pad token is %" PRId64 ": expected less than %" PRId64
                   ", the vocab_size of the model, which reads it after the end of a text",
                   pad_of(o), vocab);
}

static bool lengths_ok(hd__hf_model *m, hd_tensor *ids, const hd_generate_options *o)
{
    int64_t t = hd_size(ids, 1), most = hd__hf_positions(m);
    if (o->max_new_tokens > most - t) {
        return hd_fail(HD_VALUE,
                       "ids have %" PRId64 " tokens, and max_new_tokens is %" PRId64
                       ": expected at most %" PRId64 " in all, the context of %s",
                       t, o->max_new_tokens, most, m->base.type->name);
    }
    int64_t size = o->tokenizer ? hd_tokenizer_size(o->tokenizer) : 0, vocab = hd__hf_vocab(m);
    return (size >= 0 && size <= vocab) ||
           hd_fail(HD_VALUE,
                   "the tokenizer has %" PRId64 " tokens: expected at most %" PRId64
                   ", the vocab_size of the model",
                   size, vocab);
}

hd_tensor *hd_generate_probabilities(hd_tensor *logits, hd_tensor *ids,
                                     const hd_generate_options *o, hd_tensor **tokens)
{
    HD__CALL("hd_generate_probabilities");
    hd_generate_options defaults = hd_generate_defaults();
    o = o ? o : &defaults;
    if (!HD__SIBLING_OK() || !hd__tensor_given("logits", logits, false) ||
        !hd__tensor_given("ids", ids, false) || !hd__arg_given("tokens", tokens) ||
        !HD__SIZE_OK(o, "hd_generate_defaults()") || !options_ok(o, false)) {
        return NULL;
    }
    bool typed = hd_dtype_of(logits) == HD_FLOAT32 && hd_dtype_of(ids) == HD_INT64;
    if (!typed || hd_ndim(logits) != 2 || hd_ndim(ids) != 2 ||
        hd_size(ids, 0) != hd_size(logits, 0)) {
        return hd_fail(typed ? HD_SHAPE : HD_DTYPE,
                       "logits %s, ids %s: expected float32 (batch, vocab) and int64 "
                       "(batch, tokens)",
                       HD__SIZES(hd_ndim(logits), hd_sizes(logits)),
                       HD__SIZES(hd_ndim(ids), hd_sizes(ids)));
    }
    HD_NO_GRAD;
    *tokens = NULL;
    HD__SCOPE_OR(NULL);
    hd_tensor *of, *p = NULL;
    if (hd_gather(logits, 1, ids)) { /* NULL with an error if an id is outside of the vocabulary */
        p = hd_scope_return(kept_probabilities(logits, ids, o, &of));
    }
    *tokens = p ? hd_scope_return(of) : NULL;
    return p;
}

hd_tensor *hd_generate(hd_module *module, hd_tensor *ids, const hd_generate_options *o)
{
    HD__CALL("hd_generate");
    const hd_generate_options own = o ? *o : hd_generate_defaults(); /* on_token may change *o */
    hd__hf_model *m = hd__hf_model_of(module);
    HD__SCOPE_OR(NULL);
    o = &own;
    generation g = {.m = m, .o = o};
    if (!m || !hd__hf_ids_ok(ids) || !HD__SIZE_OK(o, "hd_generate_defaults()") ||
        !options_ok(o, !o->do_sample) || !lengths_ok(m, ids, o) || !pad_ok(m, ids, o) ||
        !hd__hf_padding_read(ids, o->attention_mask, o->max_new_tokens, &g.padding) ||
        !ends_ok(o->attention_mask) || !warn_of_padding(ids, o)) {
        return NULL;
    }
    HD_NO_GRAD;
    int64_t b = hd_size(ids, 0);
    modes before = {0};
    g.texts = hd__arg_alloc_items(b, sizeof *g.texts);
    g.seen = g.texts ? seen_new(m, hd_size(ids, 1) + o->max_new_tokens) : NULL;
    bool begun = g.seen && modes_begin(&before, module) && hd_forward_begin(module);
    hd_tensor *all = begun ? write_on(&g, ids) : NULL;
    all = modes_end(&before, module) ? all : NULL;
    all = begun ? hd_forward_end(module, all) : NULL; /* if all is NULL, undoes random draws */
    seen_free(g.seen);
    hd_free(g.texts);
    hd_free(g.piece.s);
    return hd_scope_return(all);
}
