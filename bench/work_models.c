/* work_models.c - times training: the notebook's attention, the book's GPT, the optimizer alone. It
 * also times a process from its start to its first result. */
#include "bench.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../examples/gpt.h"

/* ---------------------------------------------------------------- the notebook's step */

enum { TOKENS = 6, D_IN = 3, D_OUT = 2, HEADS = 2, BATCH = 2 };

static bool tiny_step_set_up(bench_work *w, const double *a)
{
    (void)a;
    w->module = hd_multi_head_attention_new(D_IN, D_OUT, TOKENS, 0.0, HEADS, false);
    w->x = hd_retain(hd_rand(HD_FLOAT32, BATCH, TOKENS, D_IN));
    w->target = hd_retain(hd_rand(HD_FLOAT32, BATCH, TOKENS, D_OUT));
    hd_sgd_options o = hd_sgd_defaults();
    o.lr = 0.01;
    w->optim = hd_sgd_new(hd_module_parameters(w->module), &o);
    return w->optim;
}

static hd_tensor *tiny_step_run(bench_work *w)
{
    hd_tensor *loss = hd_mse_loss(hd_forward(w->module, w->x), w->target); /* () */
    hd_optim_zero_grad(w->optim);
    hd_backward(loss);
    hd_optim_step(w->optim);
    return loss;
}

const bench_kind kind_tiny_step = {
    .name = "tiny_step",
    .shape = "MultiHeadAttention (2, 6, 3) to 2, 2 heads, mse_loss, SGD",
    .set_up = tiny_step_set_up,
    .run = tiny_step_run,
};

/* ---------------------------------------------------------------- MultiHeadAttention */

enum { A_BATCH, A_TOKENS, A_WIDTH, A_HEADS, A_DROPOUT };

/* x and dy (batch, tokens, width) */
static bool attention_set_up(bench_work *w, const double *a)
{
    int64_t b = (int64_t)a[A_BATCH], t = (int64_t)a[A_TOKENS], d = (int64_t)a[A_WIDTH];
    w->module = hd_multi_head_attention_new(d, d, t, a[A_DROPOUT], (int64_t)a[A_HEADS], false);
    w->x = hd_retain(hd_requires_grad_(hd_randn(HD_FLOAT32, b, t, d), true));
    w->dy = hd_retain(hd_randn(HD_FLOAT32, b, t, d));
    return w->dy && w->module;
}

static hd_tensor *attention_run(bench_work *w)
{
    hd_tensor *y = hd_forward(w->module, w->x); /* (batch, tokens, width) */
    hd_module_zero_grad(w->module);
    hd_set_grad(w->x, HD_NONE);
    hd_backward_with(y, w->dy, false);
    return w->x;
}

/* Forward and backward of causal attention. For each head, forward has two products with half of a
 * (tokens, tokens) matrix, and backward has four. What backward computes a second time does not
 * count. */
static double causal_flops(double batch, double tokens, double width)
{
    return 3 * 2 * batch * tokens * tokens * width;
}

static double attention_flops(const double *a)
{
    double linears = 3 * 2 * 4 * a[A_BATCH] * a[A_TOKENS] * a[A_WIDTH] * a[A_WIDTH];
    return linears + causal_flops(a[A_BATCH], a[A_TOKENS], a[A_WIDTH]);
}

const bench_kind kind_attention = {
    .name = "attention",
    .args = {"batch", "tokens", "width", "heads", "dropout"},
    .set_up = attention_set_up,
    .run = attention_run,
    .checks_grad = true,
    .flops = attention_flops,
};

/* ---------------------------------------------------------------- GPT */

gpt_config bench_gpt_config(const double *a)
{
    return (gpt_config){
        .vocab_size = (int64_t)a[GPT_VOCAB],
        .context_length = (int64_t)a[GPT_CONTEXT],
        .emb_dim = (int64_t)a[GPT_WIDTH],
        .n_heads = (int64_t)a[GPT_HEADS],
        .n_layers = (int64_t)a[GPT_LAYERS],
    };
}

double bench_gpt_weights(const double *a)
{
    return a[GPT_LAYERS] * 12 * a[GPT_WIDTH] * a[GPT_WIDTH] + a[GPT_WIDTH] * a[GPT_VOCAB];
}

enum { G_DROPOUT = GPT_OWN };

/* x and target (batch, context) int64 */
static bool gpt_set_up(bench_work *w, const double *a)
{
    gpt_config cfg = bench_gpt_config(a);
    cfg.drop_rate = a[G_DROPOUT];
    int64_t b = (int64_t)a[GPT_BATCH];
    w->module = gpt_model_new(&cfg);
    w->x = hd_retain(hd_randint(HD_INT64, 0, cfg.vocab_size, b, cfg.context_length));
    w->target = hd_retain(hd_randint(HD_INT64, 0, cfg.vocab_size, b, cfg.context_length));
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 1e-4;
    w->optim = hd_adamw_new(hd_module_parameters(w->module), &o);
    return w->optim && w->target;
}

hd_tensor *bench_gpt_run(bench_work *w)
{
    hd_tensor *logits = hd_forward(w->module, w->x);                 /* (b, t, vocab) */
    hd_tensor *loss = hd_cross_entropy(hd_flatten(logits, 0, 1),     /* (b * t, vocab) */
                                       hd_flatten(w->target, 0, 1)); /* (b * t,) */
    hd_optim_zero_grad(w->optim);
    hd_backward(loss);
    hd_optim_step(w->optim);
    return loss;
}

/* Each weight of a product takes 2 FLOP per token in forward and 4 in backward. */
static double gpt_flops(const double *a)
{
    double attended = causal_flops(a[GPT_BATCH], a[GPT_CONTEXT], a[GPT_WIDTH]);
    return 6 * bench_gpt_weights(a) * a[GPT_BATCH] * a[GPT_CONTEXT] + a[GPT_LAYERS] * attended;
}

const bench_kind kind_gpt = {
    .name = "gpt",
    .args = {"layers", "heads", "width", "context", "batch", "vocab", "dropout"},
    .set_up = gpt_set_up,
    .run = bench_gpt_run,
    .flops = gpt_flops,
};

/* ---------------------------------------------------------------- AdamW by itself */

/* The parameters of GPT-2 124M, whose last layer shares the embedding's weight. */
enum { GPT2_LAYERS = 12, GPT2_WIDTH = 768, GPT2_VOCAB = 50257, GPT2_CONTEXT = 1024 };

static const int64_t gpt2_block[][2] = {
    {1, GPT2_WIDTH},
    {1, GPT2_WIDTH},
    {GPT2_WIDTH, 3 * GPT2_WIDTH},
    {1, 3 * GPT2_WIDTH},
    {GPT2_WIDTH, GPT2_WIDTH},
    {1, GPT2_WIDTH},
    {1, GPT2_WIDTH},
    {1, GPT2_WIDTH},
    {GPT2_WIDTH, 4 * GPT2_WIDTH},
    {1, 4 * GPT2_WIDTH},
    {4 * GPT2_WIDTH, GPT2_WIDTH},
    {1, GPT2_WIDTH},
};

static const double gpt2_parameters = 124439808;

/* Adds a parameter of 0.5 everywhere, with a gradient of 0.1. */
static void add_parameter(hd_list *parameters, int64_t rows, int64_t columns)
{
    hd_tensor *p = hd_requires_grad_(hd_full(HD_FLOAT32, 0.5, rows, columns), true);
    hd_set_grad(p, hd_full(HD_FLOAT32, 0.1, rows, columns));
    hd_list_append(parameters, p);
}

static bool adamw_set_up(bench_work *w, const double *a)
{
    (void)a;
    hd_list *parameters = hd_list_n(0, NULL);
    add_parameter(parameters, GPT2_VOCAB, GPT2_WIDTH);
    add_parameter(parameters, GPT2_CONTEXT, GPT2_WIDTH);
    for (int layer = 0; layer < GPT2_LAYERS; layer++) {
        for (size_t i = 0; i < sizeof gpt2_block / sizeof *gpt2_block; i++) {
            add_parameter(parameters, gpt2_block[i][0], gpt2_block[i][1]);
        }
    }
    add_parameter(parameters, 1, GPT2_WIDTH);
    add_parameter(parameters, 1, GPT2_WIDTH);
    w->optim = hd_adamw_new(parameters, NULL);
    w->x = hd_retain(hd_list_get(parameters, 0));
    return w->optim && w->x;
}

static hd_tensor *adamw_run(bench_work *w)
{
    hd_optim_step(w->optim);
    return w->x;
}

/* The gradient is read; the parameter and both averages are read and written. */
static bench_traffic adamw_traffic(const double *a)
{
    (void)a;
    return (bench_traffic){.in = 1, .inout = 3, .bytes = 4 * gpt2_parameters};
}

const bench_kind kind_adamw = {
    .name = "adamw",
    .shape = "GPT-2's 124439808 parameters",
    .set_up = adamw_set_up,
    .run = adamw_run,
    .traffic = adamw_traffic,
};

/* ---------------------------------------------------------------- process start */

/* Starts this program again, with --first: main.c then computes a first result and stops. */
static hd_tensor *start_run(bench_work *w)
{
    (void)w;
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execl("/proc/self/exe", "heed-bench", "--first", (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
        return hd_error_set(HD_IO, "heed-bench: it cannot start itself with --first");
    }
    return HD_NONE;
}

static bool start_set_up(bench_work *w, const double *a)
{
    (void)w, (void)a;
    return true;
}

const bench_kind kind_start = {
    .name = "start",
    .shape = "a process, (6, 3) @ (3, 2) and its sum",
    .set_up = start_set_up,
    .run = start_run,
};
