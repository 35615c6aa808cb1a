/* training.c - the program of docs/guides/training.md: it trains a model that reads characters,
 * saves it in the middle, and resumes it. */
#include "heed/heed.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONTEXT = 16, BATCH = 8, WIDTH = 32, STEPS = 80 };

/* ---------------------------------------------------------------- the smallest loop */

/* Trains model to answer x (n, 2) with the classes y (n,). */
static bool fit(hd_module *model, hd_tensor *x, hd_tensor *y, int steps)
{
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 0.1;
    hd_optim *opt = hd_adamw_new(hd_module_parameters(model), &o);
    for (int step = 1; step <= steps; step++) {
        HD_SCOPE;
        hd_tensor *loss = hd_cross_entropy(hd_forward(model, x), y); /* () */
        hd_optim_zero_grad(opt);
        hd_backward(loss);
        if (!hd_optim_step(opt)) { /* an error is set: nothing was changed */
            break;
        }
        if (step % 20 == 0) {
            printf("step %d: loss %.2f\n", step, hd_item(loss));
        }
    }
    hd_optim_free(opt);
    return hd_error_code() == HD_OK;
}

/* Returns the share of right answers to x (n, 2), whose classes are y (n,). */
static double accuracy(hd_module *model, hd_tensor *x, hd_tensor *y)
{
    HD_SCOPE;
    HD_NO_GRAD;
    hd_module_eval(model);
    hd_tensor *answers = hd_argmax_dim(hd_forward(model, x), 1, false); /* (n,) int64 */
    hd_tensor *right = hd_to(hd_eq(answers, y), HD_FLOAT32);            /* (n,), 1 or 0 */
    hd_module_train(model, true);
    return hd_item(hd_mean(right));
}

/* Trains model on each row of x (n, 2) and y (n,) once, in batches and in a random order. */
static void epoch(hd_module *model, hd_optim *opt, hd_tensor *x, hd_tensor *y)
{
    HD_SCOPE;
    int64_t n = hd_size(x, 0);
    hd_tensor *order = hd_randperm(n); /* (n,) int64 */
    for (int64_t at = 0; at < n; at += BATCH) {
        HD_SCOPE;
        hd_tensor *rows = hd_slice(order, 0, at, at + BATCH); /* (b,); b is BATCH, or less */
        hd_tensor *xb = hd_index_select(x, 0, rows);          /* (b, 2) */
        hd_tensor *yb = hd_index_select(y, 0, rows);          /* (b,) */
        hd_optim_zero_grad(opt);
        hd_backward(hd_cross_entropy(hd_forward(model, xb), yb));
        hd_optim_step(opt);
    }
}

/* Trains another model on the same points, in batches. */
static void loop_with_batches(hd_tensor *x, hd_tensor *y) /* (n, 2), (n,) */
{
    hd_module *model = hd_linear_new(2, 2, true);
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 0.03;
    hd_optim *opt = hd_adamw_new(hd_module_parameters(model), &o);
    for (int i = 1; i <= 20; i++) {
        epoch(model, opt, x, y);
        if (i % 10 == 0) {
            printf("epoch %d: %.0f%% right\n", i, 100 * accuracy(model, x, y));
        }
    }
    hd_optim_free(opt);
    hd_module_free(model);
}

/* Points above the diagonal are class 1, the others class 0. */
static void smallest_loop(void)
{
    HD_SCOPE;
    hd_tensor *x = hd_randn(HD_FLOAT32, 100, 2);                      /* (100, 2) */
    hd_tensor *above = hd_gt(hd_select(x, 1, 1), hd_select(x, 1, 0)); /* (100,) bool */
    hd_module *model = hd_linear_new(2, 2, true);
    hd_tensor *y = hd_to(above, HD_INT64); /* (100,) */
    fit(model, x, y, 60);
    printf("right answers: %.0f%%\n", 100 * accuracy(model, x, y));
    hd_module_free(model);
    loop_with_batches(x, y);
}

/* ---------------------------------------------------------------- from a text to batches */

static const char text[] =
    "Mary had a little lamb, its fleece was white as snow, and everywhere that "
    "Mary went, the lamb was sure to go. It followed her to school one day, "
    "which was against the rule; it made the children laugh and play to see a "
    "lamb at school. And so the teacher turned it out, but still it lingered "
    "near, and waited patiently about till Mary did appear.";

typedef struct {
    hd_tokenizer *tokenizer;
    hd_tokens *tokens, *train, *val;
    hd_dataset *train_windows, *val_windows;
} data;

static void data_make(data *d)
{
    d->tokenizer = hd_tokenizer_chars(text, -1);
    hd_tensor *ids = hd_tokenizer_encode(d->tokenizer, text, -1, HD_SPECIAL_TEXT); /* (n,) int64 */
    d->tokens = hd_tokens_from(ids);
    hd_tokens_split(d->tokens, 0.8, &d->train, &d->val);
    d->train_windows = hd_windows_new(d->train, CONTEXT, 4);
    d->val_windows = hd_windows_new(d->val, CONTEXT, CONTEXT);
}

static void data_free(data *d)
{
    hd_dataset_free(d->train_windows), hd_dataset_free(d->val_windows);
    hd_tokens_free(d->train), hd_tokens_free(d->val), hd_tokens_free(d->tokens);
    hd_tokenizer_free(d->tokenizer);
}

/* ---------------------------------------------------------------- the model */

typedef struct {
    hd_module base;
    hd_module *token, *place, *block, *out;
} reader;

static hd_tensor *reader_forward(hd_module *self, hd_tensor *x) /* x (b, t) int64 */
{
    reader *m = (reader *)self;
    hd_tensor *places = hd_arange(0, hd_size(x, 1), 1); /* (t,) int64 */
    hd_tensor *h =
        hd_add(hd_forward(m->token, x), hd_forward(m->place, places)); /* (b, t, WIDTH) */
    return hd_forward(m->out, hd_forward(m->block, h));                /* (b, t, vocabulary) */
}

static hd_module *reader_new(int64_t vocabulary)
{
    static const hd_module_type type = HD_MODULE_TYPE(reader, "Reader", reader_forward);
    hd_module *self = hd_module_new(&type);
    reader *m = (reader *)self;
    if (!m) {
        return NULL;
    }
    hd_register_module(self, "token", &m->token,
                       hd_embedding_new(vocabulary, WIDTH, HD_NO_PADDING));
    hd_register_module(self, "place", &m->place, hd_embedding_new(CONTEXT, WIDTH, HD_NO_PADDING));
    hd_module *attention = hd_multi_head_attention_new(WIDTH, WIDTH, CONTEXT, 0.1, 2, false);
    hd_module *feed_forward = hd_feed_forward_new(WIDTH, 4 * WIDTH);
    hd_register_module(self, "block", &m->block,
                       hd_transformer_block_new(attention, feed_forward, hd_layer_norm_new(WIDTH),
                                                hd_layer_norm_new(WIDTH), 0.1));
    hd_register_module(self, "out", &m->out, hd_linear_new(WIDTH, vocabulary, true));
    return hd_module_ready(self);
}

/* Returns the mean loss () of the batch x, y (b, t) int64. */
static hd_tensor *loss_of(hd_module *model, hd_tensor *x, hd_tensor *y)
{
    hd_tensor *logits = hd_forward(model, x); /* (b, t, vocabulary) */
    return hd_cross_entropy(hd_flatten(logits, 0, 1), hd_flatten(y, 0, 1));
}

/* ---------------------------------------------------------------- a run */

typedef struct {
    hd_module *model;
    hd_optim *opt;
    hd_schedule *schedule;
    hd_loader *loader;
    int64_t step; /* steps made so far */
} run;

static void run_make(run *r, const data *d)
{
    hd_manual_seed(123);
    r->step = 0;
    r->model = reader_new(hd_tokenizer_size(d->tokenizer));
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 1e-2;
    r->opt = hd_adamw_new(hd_module_parameters(r->model), &o);
    hd_cosine_warmup_options w = hd_cosine_warmup_defaults();
    w.warmup_steps = 10, w.total_steps = STEPS;
    r->schedule = hd_cosine_warmup_new(r->opt, &w);
    hd_loader_options l = hd_loader_defaults();
    l.batch_size = BATCH, l.shuffle = true, l.drop_last = true;
    r->loader = hd_loader_new(d->train_windows, &l);
}

static void run_free(run *r)
{
    hd_loader_free(r->loader);
    hd_schedule_free(r->schedule);
    hd_optim_free(r->opt);
    hd_module_free(r->model);
}

/* Returns the mean loss of the validation windows, on which the model is not trained. */
static double evaluate(hd_module *model, const data *d)
{
    HD_SCOPE;
    HD_NO_GRAD;
    double sum = 0;
    int64_t n = hd_dataset_len(d->val_windows);
    hd_module_eval(model);
    for (int64_t i = 0; i < n; i++) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (CONTEXT,) int64 */
        hd_dataset_get(d->val_windows, i, &x, &y);
        sum += hd_item(loss_of(model, hd_unsqueeze(x, 0), hd_unsqueeze(y, 0)));
    }
    hd_module_train(model, true);
    return sum / (double)n;
}

/* Gets the next batch. At the end of an epoch hd_loader_next returns false once. */
static bool next_batch(hd_loader *loader, hd_tensor **x, hd_tensor **y)
{
    return hd_loader_next(loader, x, y) || hd_loader_next(loader, x, y);
}

static void train(run *r, const data *d, int64_t until)
{
    while (r->step < until && hd_error_code() == HD_OK) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (BATCH, CONTEXT) int64; y is x shifted by one character */
        if (!next_batch(r->loader, &x, &y)) {
            return;
        }
        hd_tensor *loss = loss_of(r->model, x, y); /* () */
        hd_optim_zero_grad(r->opt);
        hd_backward(loss);
        hd_clip_grad_norm_(hd_module_parameters(r->model), 1, 2, false);
        hd_optim_step(r->opt);
        hd_schedule_step(r->schedule);
        r->step++;
        if (r->step % 20 == 0) {
            printf("step %d: loss %.2f, validation %.2f\n", (int)r->step, hd_item(loss),
                   evaluate(r->model, d));
        }
    }
}

/* ---------------------------------------------------------------- saving and loading */

static bool save(const run *r, const char *dir)
{
    hd_dict *weights = hd_module_state_dict(r->model), *state = hd_dict_new();
    hd_dict_set_int(state, "step", r->step);
    hd_optim_save(r->opt, state, "optim");
    hd_schedule_save(r->schedule, state, "schedule");
    hd_loader_save(r->loader, state, "loader");
    hd_generator_save(hd_generator_current(), state, "generator");
    bool ok = hd_checkpoint_save(dir, weights, state);
    hd_dict_free(weights);
    hd_dict_free(state);
    return ok;
}

static bool load(run *r, const char *dir)
{
    hd_dict *weights = NULL, *state = NULL;
    hd_checkpoint_load(dir, &weights, &state);
    hd_module_load_state_dict(r->model, weights, true, NULL);
    hd_dict_get_int(state, "step", &r->step);
    hd_optim_load(r->opt, state, "optim");
    hd_schedule_load(r->schedule, state, "schedule");
    hd_loader_load(r->loader, state, "loader");
    hd_generator_load(hd_generator_current(), state, "generator");
    hd_dict_free(weights);
    hd_dict_free(state);
    return hd_error_code() == HD_OK;
}

/* ---------------------------------------------------------------- the program */

/* True if a and b have the same weights, bit for bit. */
static bool same_weights(const run *a, const run *b)
{
    HD_SCOPE;
    hd_list *x = hd_module_parameters(a->model), *y = hd_module_parameters(b->model);
    for (int64_t i = 0; i < hd_list_len(x); i++) {
        if (!hd_equal(hd_list_get(x, i), hd_list_get(y, i))) {
            return false;
        }
    }
    return true;
}

static void train_and_resume(const char *checkpoint)
{
    HD_SCOPE;
    data d;
    data_make(&d);

    run whole; /* trained, saved at step 40, and trained to the end */
    run_make(&whole, &d);
    train(&whole, &d, 40);
    save(&whole, checkpoint);
    train(&whole, &d, STEPS);

    run resumed; /* like another process: made again, loaded, and trained to the end */
    run_make(&resumed, &d);
    load(&resumed, checkpoint);
    printf("resumed after step %d\n", (int)resumed.step);
    train(&resumed, &d, STEPS);
    printf("the same weights: %s\n", same_weights(&whole, &resumed) ? "yes" : "no");

    run_free(&whole);
    run_free(&resumed);
    data_free(&d);
}

int main(void)
{
    hd_on_error(hd_error_abort, NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_manual_seed(123);
    smallest_loop();

    char folder[] = "/tmp/heed-training-XXXXXX", checkpoint[64];
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    snprintf(checkpoint, sizeof checkpoint, "%s/step-40", folder);
    train_and_resume(checkpoint);
    hd_checkpoint_remove(checkpoint);
    return rmdir(folder);
}
