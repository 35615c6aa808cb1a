/* train_loop.c - the steps of a training run, the work after each step, and the signals that stop
 * the run. */
#include "train_loop.h"

#include <signal.h>

#include "train_progress.h"

/* ---------------------------------------------------------------- signals */

static volatile sig_atomic_t stop_signal, hung_up;

static void handle(int number, void (*handler)(int))
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
    sigaction(number, &a, NULL);
}

/* Remembers the signal. A second SIGINT or SIGTERM ends the program at once. */
static void on_signal(int number)
{
    stop_signal = number;
    handle(SIGINT, SIG_DFL);
    handle(SIGTERM, SIG_DFL);
}

/* Remembers that the terminal is closed. The shell often sends a second SIGHUP, which must not end
 * the program before it saves. */
static void on_hangup(int number)
{
    hung_up = 1;
    stop_signal = stop_signal != 0 ? stop_signal : number;
}

/* Remembers SIGUSR1, which job managers send some time before a signal that kills. */
static void on_request(int number)
{
    stop_signal = stop_signal != 0 ? stop_signal : number;
}

/* If a signal comes while a write waits for a slow reader, the write continues (SA_RESTART). If
 * SIGHUP is ignored, as under nohup, it stays ignored. */
void loop_catch_signals(void)
{
    struct sigaction hangup;
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    handle(SIGUSR1, on_request);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
        handle(SIGHUP, on_hangup);
    }
}

int loop_signal(void)
{
    return stop_signal;
}

bool loop_hung_up(void)
{
    return hung_up;
}

/* ---------------------------------------------------------------- training */

/* Returns the mean loss () per token of a batch x, y (b, num_tokens). */
static hd_tensor *batch_loss(hd_module *model, hd_tensor *x, hd_tensor *y)
{
    hd_tensor *logits = hd_forward(model, x); /* (b, num_tokens, vocab_size) */
    return hd_cross_entropy(hd_flatten(logits, 0, 1), hd_flatten(y, 0, 1));
}

static bool next_batch(hd_loader *l, hd_tensor **x, hd_tensor **y)
{
    return hd_loader_next(l, x, y) || (hd_error_code() == HD_OK && hd_loader_next(l, x, y));
}

/* Makes one step with the mean gradient of `accumulate` batches. Only the last backward averages
 * the gradients over the ranks, which is enough for all batches. Returns false with an error on
 * failure. */
static bool train_step(run *r, log_row *row)
{
    int64_t n = r->s.train.accumulate;
    hd_module_zero_grad(r->model);
    hd_module_train(r->model, true);
    row->loss = 0;
    for (int64_t i = 0; i < n; i++) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (batch_size / ranks, context_length) */
        if (!next_batch(r->loader, &x, &y)) {
            return false;
        }
        /* () */
        hd_tensor *loss = hd_div_scalar(batch_loss(r->model, x, y), n);
        ranks_average(i == n - 1);
        hd_backward(loss);
        row->loss += hd_item(loss);
    }
    if (r->s.train.clip_norm > 0) {
        hd_clip_grad_norm_(r->parameters, r->s.train.clip_norm, 2, false);
    }
    row->lr = hd_optim_lr(r->optim);
    row->epoch = hd_loader_epoch(r->loader);
    row->step = ++r->step;
    row->val_loss = NAN;
    return ranks_step(r->optim) && hd_schedule_step(r->schedule);
}

/* Replaces row->loss by its mean over the ranks. If a signal came to any rank, sets *stop, so that
 * all ranks stop after the same step. One sum over the ranks does both. Returns false with an error
 * if it fails. */
static bool agree(log_row *row, bool *stop)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    enum { SIGNALS = sizeof signals / sizeof signals[0] };
    double values[1 + SIGNALS] = {row->loss};
    int mine = stop_signal, agreed = 0;
    for (int i = 0; i < SIGNALS; i++) {
        values[1 + i] = mine == signals[i];
    }
    if (!ranks_sum(1 + SIGNALS, values)) {
        return false;
    }
    row->loss = values[0] / ranks_count();
    for (int i = 0; i < SIGNALS && agreed == 0; i++) {
        agreed = values[1 + i] > 0 ? signals[i] : 0;
    }
    stop_signal = agreed != 0 ? agreed : stop_signal;
    *stop = agreed != 0;
    return true;
}

/* Returns the mean loss of the first eval_batches batches of the validation text, or NaN with an
 * error. Each rank computes a part of them. */
static double validate(run *r)
{
    HD_NO_GRAD;
    double sum = 0;
    int64_t n = 0;
    hd_module_eval(r->model);
    hd_loader_restart(r->val_loader);
    for (bool more = true; more && n < r->s.train.eval_batches;) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (b, context_length) */
        more = hd_loader_next(r->val_loader, &x, &y);
        if (more && n % ranks_count() == ranks_this()) {
            sum += hd_item(batch_loss(r->model, x, y));
        }
        n += more;
    }
    return ranks_sum(1, &sum) ? sum / (double)n : NAN;
}

static bool print_sample(const run *r)
{
    HD_SCOPE;
    sampling how = {r->s.sample.temperature, r->s.sample.top_k, r->s.sample.top_p, true};
    /* (count,) */
    hd_tensor *ids = hd_tokenizer_encode(r->tokenizer, r->prompt, -1, HD_SPECIAL_ALLOW);
    hd_generator_seed(r->sample_generator, r->s.train.seed);
    hd_generator_use(r->sample_generator);
    printf("---- a sample after %lld steps\n%s", (long long)r->step, r->prompt);
    bool ok =
        generate(r->model, &r->s.model, r->tokenizer, ids, r->s.sample.length, &how, stdout, NULL);
    hd_generator_use(NULL);
    printf("\n----\n");
    if (!ok && hung_up &&
        hd_error_code() == HD_IO) { /* nobody reads the output: the run continues */
        hd_error_clear();
        return true;
    }
    return ok;
}

bool run_print_sample(const run *r)
{
    return ranks_all_ok("the sample", !ranks_first() || print_sample(r));
}

/* Does the work after a step: validation, log, progress, sample, checkpoint. Returns false with an
 * error on failure. */
static bool after_step(run *r, progress *p, log_row *row, bool stop)
{
    bool end = r->step == r->s.train.steps;
    bool better = false;
    if (end || r->step % r->s.train.eval_every == 0) {
        row->val_loss = validate(r);
        better = row->val_loss < r->best_loss;
    }
    if (better) {
        r->best_loss = row->val_loss;
        r->best_step = r->step;
    }
    if (hd_error_code() != HD_OK || (ranks_first() && !log_write(&r->log, row))) {
        return false;
    }
    progress_show(p, row->step, row->loss, row->val_loss);
    if (!end && !stop && r->s.train.sample_every > 0 && r->step % r->s.train.sample_every == 0) {
        progress_clear(p);
        if (!run_print_sample(r)) {
            return false;
        }
    }
    if (!end && !stop && !better && r->step % r->s.train.save_every != 0) {
        return true;
    }
    return run_save(r);
}

bool run_train(run *r, int64_t stop_at)
{
    const settings *s = &r->s;
    progress p = progress_new(r->step, s->train.steps, s->train.report_every,
                              s->train.batch_size * s->train.accumulate * s->model.context_length);
    p.bar = p.bar && ranks_count() == 1; /* mpirun's terminal may lead to a file */
    bool ok = true, stop = false;
    while (ok && !stop && r->step < s->train.steps) {
        log_row row;
        ok = train_step(r, &row) && agree(&row, &stop);
        stop = stop || r->step == stop_at;
        ok = ok && after_step(r, &p, &row, stop);
    }
    progress_clear(&p);
    return ok;
}
