/* work_hf.c - times a real model, SmolLM2-135M-Instruct: loading its folder, writing text and
 * training.
 *
 * tools/models/smollm2 makes the folder; --model names it. */
#include "bench.h"
#include "heed/hf.h"

/* How many numbers the model has, and how many of them a token adds to its caches. */
static const double weights = 134515008, cached = 30 * 2 * 3 * 64;

static hd_module *load(double bfloat16)
{
    hd_pretrained_options o = hd_pretrained_defaults();
    o.dtype = bfloat16 != 0 ? HD_BFLOAT16 : HD_FLOAT32;
    return hd_from_pretrained(bench_model, &o);
}

static hd_tensor *random_ids(double n)
{
    return hd_retain(hd_randint(HD_INT64, 0, 49152, 1, (int64_t)n)); /* (1, n) */
}

/* ---------------------------------------------------------------- writing text */

enum { PROMPT, NEW, WRITES_BFLOAT16 };

static bool writing_set_up(bench_work *w, const double *a)
{
    w->x = random_ids(a[PROMPT]);
    w->count = (int64_t)a[NEW];
    w->module = load(a[WRITES_BFLOAT16]);
    return w->module && w->x;
}

/* The first token that is written: greedy tokens after it may differ for a last bit. */
static hd_tensor *writing_run(bench_work *w)
{
    hd_generate_options o = hd_generate_defaults();
    o.max_new_tokens = w->count;
    hd_tensor *ids = hd_generate(w->module, w->x, &o); /* (1, prompt + new) */
    return hd_select(ids, 1, hd_size(w->x, 1));
}

/* Every token reads the weights, and the keys and values that are there. A prompt is not bound by
 * them. */
static bench_traffic writing_traffic(const double *a)
{
    double element = a[WRITES_BFLOAT16] != 0 ? 2 : 4, n = a[NEW];
    double bytes = n * (weights * element + cached * 4 * (a[PROMPT] + n / 2));
    return (bench_traffic){.in = 1, .bytes = n > 1 ? bytes : 0};
}

const bench_kind kind_hf_generate = {
    .name = "hf_generate",
    .args = {"prompt", "new", "bfloat16"},
    .set_up = writing_set_up,
    .run = writing_run,
    .traffic = writing_traffic,
};

/* ---------------------------------------------------------------- learning */

enum { TOKENS, RANK, LEARNS_BFLOAT16 };

/* x and target (1, tokens). With a rank, every Linear but the head gets an adapter. */
static bool learning_set_up(bench_work *w, const double *a)
{
    w->x = random_ids(a[TOKENS]);
    w->target = random_ids(a[TOKENS]);
    w->module = load(a[LEARNS_BFLOAT16]);
    hd_lora_options lora = hd_lora_defaults();
    lora.r = (int64_t)a[RANK];
    if (!w->module || !hd_module_train(w->module, true) ||
        (lora.r > 0 && !hd_lora_apply(w->module, &lora))) {
        return false;
    }
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 1e-5;
    w->optim = hd_adamw_new(hd_module_parameters(w->module), &o);
    return w->optim && w->target;
}

const bench_kind kind_hf_step = {
    .name = "hf_step",
    .args = {"tokens", "rank", "bfloat16"},
    .set_up = learning_set_up,
    .run = bench_gpt_run,
};

/* ---------------------------------------------------------------- loading */

static bool loading_set_up(bench_work *w, const double *a)
{
    (void)w, (void)a;
    return true;
}

/* The weight of the last norm (576,) */
static hd_tensor *loading_run(bench_work *w)
{
    (void)w;
    hd_module *m = load(0);
    hd_tensor *norm = hd_clone(hd_module_get_parameter(m, "model.norm.weight"));
    hd_module_free(m);
    return norm;
}

const bench_kind kind_hf_load = {
    .name = "hf_load",
    .shape = "a folder of float32",
    .set_up = loading_set_up,
    .run = loading_run,
};
