/* generate.c - the book's generate(), with top-p and a cache of keys and values. */
#include "generate.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* A colder softmax could overflow: its draw is taken as the likeliest token. */
static const double coldest = 1e-5;

int64_t sample_token(hd_tensor *logits, const sampling *s) /* (vocab_size,) */
{
    HD_SCOPE;
    HD_NO_GRAD;
    if (s->temperature < coldest) {
        return hd_item_int(hd_argmax(logits));
    }
    int64_t vocab_size = hd_size(logits, 0);
    int64_t k = s->top_k > 0 && s->top_k < vocab_size ? s->top_k : vocab_size;
    hd_tensor *ids;                                                       /* (k,) */
    hd_tensor *top = hd_topk(logits, k, 0, true, &ids);                   /* (k,), largest first */
    hd_tensor *probs = hd_softmax(hd_div_scalar(top, s->temperature), 0); /* (k,) */
    /* A token stays if the tokens before it have less than top_p together. The first one, which has
     * 0 before it, always stays, also for a top_p that is 0 as a float. */
    hd_tensor *before = hd_sub(hd_cumsum(probs, 0), probs); /* (k,) */
    if (s->top_p < 1) {
        probs = hd_masked_fill(probs, hd_ge_scalar(before, fmax(s->top_p, FLT_MIN)), 0);
    }
    hd_tensor *drawn = hd_multinomial(probs, 1, false); /* (1,) */
    return hd_error_code() == HD_OK ? hd_get_int(ids, hd_item_int(drawn)) : -1;
}

/* The logits (vocab_size,) of the token that follows window (num_tokens,). The first tokens of
 * window are already in c. */
static hd_tensor *next_logits(hd_module *gpt, hd_tensor *window, const gpt_cache *c, bool cache)
{
    hd_tensor *logits; /* (1, num_tokens, vocab_size) */
    if (cache) {
        hd_tensor *rest = hd_slice(window, 0, gpt_cache_len(c), HD_END); /* (num_tokens - seen,) */
        logits = gpt_forward_cached(gpt, hd_unsqueeze(rest, 0), c);
    } else {
        logits = hd_forward(gpt, hd_unsqueeze(window, 0));
    }
    return hd_select(hd_select(logits, 0, 0), 0, -1);
}

static bool write_token(const hd_tokenizer *tokenizer, hd_tensor *id, FILE *f)
{
    int64_t n = 0;
    const char *text = hd_tokenizer_decode_bytes(tokenizer, id, &n);
    if (!text) {
        return false;
    }
    if (fwrite(text, 1, (size_t)n, f) == (size_t)n && fflush(f) == 0) {
        return true;
    }
    return hd_error_set(HD_IO, "generate: the text cannot be written: %s", strerror(errno));
}

/* The window (num_tokens,), or its second half if it has grown longer than the context. */
static hd_tensor *forget(hd_tensor *window, const gpt_config *cfg, const gpt_cache *c)
{
    if (hd_size(window, 0) <= cfg->context_length) {
        return window;
    }
    gpt_cache_truncate(c, 0);
    return hd_slice(window, 0, -(cfg->context_length + 1) / 2, HD_END);
}

bool generate(hd_module *gpt, const gpt_config *cfg, const hd_tokenizer *tokenizer, hd_tensor *ids,
              int64_t n, const sampling *s, FILE *f)
{
    HD_SCOPE;
    HD_NO_GRAD;
    gpt_cache c = {0};
    hd_module_eval(gpt);
    if (s->cache && !gpt_cache_new(&c, gpt, 1)) {
        return false;
    }
    hd_tensor *window = hd_retain(forget(ids, cfg, &c)); /* (num_tokens,) */
    bool ok = window;
    for (int64_t i = 0; ok && i < n; i++) {
        HD_SCOPE;
        int64_t id = sample_token(next_logits(gpt, window, &c, s->cache), s);
        hd_tensor *token = hd_tensor_of(&id, 1); /* (1,) */
        ok = hd_error_code() == HD_OK && write_token(tokenizer, token, f) &&
             hd_assign(&window, forget(hd_cat(0, window, token), cfg, &c));
    }
    hd_release(window);
    gpt_cache_free(&c);
    return ok;
}
