/* work_decode.c - times text generation with the book's GPT and a cache of keys and values: reading
 * many tokens at once, and writing tokens one by one. */
#include "bench.h"

enum { PROMPT = GPT_OWN, TOKENS };

/* x (batch, prompt) and y (batch, tokens) int64; the prompt is in the cache */
static bool set_up(bench_work *w, const double *a)
{
    gpt_config cfg = bench_gpt_config(a);
    int64_t b = (int64_t)a[GPT_BATCH], tokens = (int64_t)a[TOKENS];
    w->module = gpt_model_new(&cfg);
    w->x = hd_retain(hd_randint(HD_INT64, 0, cfg.vocab_size, b, (int64_t)a[PROMPT]));
    w->y = tokens > 0 ? hd_retain(hd_randint(HD_INT64, 0, cfg.vocab_size, b, tokens)) : NULL;
    return hd_module_eval(w->module) && gpt_cache_new(&w->cache, w->module, b) &&
           gpt_forward_cached(w->module, w->x, &w->cache);
}

/* The logits (batch, prompt, vocab) of the prompt. */
static hd_tensor *prefill_run(bench_work *w)
{
    gpt_cache_truncate(&w->cache, 0);
    return gpt_forward_cached(w->module, w->x, &w->cache);
}

/* The logits (batch, 1, vocab) of the last of the tokens that follow the prompt. */
static hd_tensor *decode_run(bench_work *w)
{
    gpt_cache_truncate(&w->cache, hd_size(w->x, 1));
    for (int64_t i = 0; i < hd_size(w->y, 1); i++) {
        HD_SCOPE;
        hd_assign(&w->target, gpt_forward_cached(w->module, hd_narrow(w->y, 1, i, 1), &w->cache));
    }
    return w->target;
}

static double prefill_flops(const double *a)
{
    double attended =
        2 * a[GPT_BATCH] * a[PROMPT] * a[PROMPT] * a[GPT_WIDTH]; /* half of two products */
    return 2 * bench_gpt_weights(a) * a[GPT_BATCH] * a[PROMPT] + a[GPT_LAYERS] * attended;
}

/* Every token reads the weights once, and the keys and values that are there. */
static bench_traffic decode_traffic(const double *a)
{
    double cached =
        2 * a[GPT_LAYERS] * a[GPT_WIDTH] * a[GPT_BATCH] * (a[PROMPT] + (a[TOKENS] + 1) / 2);
    return (bench_traffic){.in = 1, .bytes = 4 * a[TOKENS] * (bench_gpt_weights(a) + cached)};
}

const bench_kind kind_prefill = {
    .name = "prefill",
    .args = {"layers", "heads", "width", "context", "batch", "vocab", "prompt", "tokens"},
    .set_up = set_up,
    .run = prefill_run,
    .flops = prefill_flops,
};

const bench_kind kind_decode = {
    .name = "decode",
    .args = {"layers", "heads", "width", "context", "batch", "vocab", "prompt", "tokens"},
    .set_up = set_up,
    .run = decode_run,
    .traffic = decode_traffic,
};
