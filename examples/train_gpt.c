/* train_gpt.c - trains the book's GPT on a text. A run can be stopped, and when it is resumed it
 * gives the same bits.
 *
 * A run is a directory:
 *   config.json            the settings of the run
 *   log.csv, log.jsonl     one row for each step; a resumed run first cuts them to its own step
 *   step-00000100/         a checkpoint: model.safetensors (PyTorch loads it) and state.safetensors
 *   events.out.tfevents.*  the log for TensorBoard, if the setting train.tensorboard is true
 *   last, best             links to the newest checkpoint and to that of the least validation loss
 * There is never a half of a checkpoint. An older one is removed when the new one is on the
 * disk. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "train_help.h"
#include "train_progress.h"
#include "train_run.h"

static volatile sig_atomic_t stop_signal, hung_up;

static void handle(int number, void (*handler)(int))
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
    sigaction(number, &a, NULL);
}

/* A second SIGINT or SIGTERM ends the program at once, whichever came first. */
static void on_signal(int number)
{
    stop_signal = number;
    handle(SIGINT, SIG_DFL);
    handle(SIGTERM, SIG_DFL);
}

/* The terminal is closed. Its shell often sends a second SIGHUP, which must not lose the run. */
static void on_hangup(int number)
{
    hung_up = 1;
    stop_signal = stop_signal != 0 ? stop_signal : number;
}

/* After SIGINT, SIGTERM or SIGHUP the program finishes the current step, saves and stops. A write
 * that waits for a slow reader continues after the signal. If SIGHUP is ignored, as under nohup, it
 * stays ignored. */
static void catch_signals(void)
{
    struct sigaction hangup;
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
        handle(SIGHUP, on_hangup);
    }
}

/* ---------------------------------------------------------------- training */

/* The mean loss per token of a batch (b, num_tokens). */
static hd_tensor *batch_loss(hd_module *model, hd_tensor *x, hd_tensor *y)
{
    hd_tensor *logits = hd_forward(model, x); /* (b, num_tokens, vocab_size) */
    return hd_cross_entropy(hd_flatten(logits, 0, 1), hd_flatten(y, 0, 1));
}

static bool next_batch(hd_loader *l, hd_tensor **x, hd_tensor **y)
{
    return hd_loader_next(l, x, y) || (hd_error_code() == HD_OK && hd_loader_next(l, x, y));
}

/* One step, with the mean gradient of `accumulate` batches. */
static bool train_step(run *r, log_row *row)
{
    hd_optim_zero_grad(r->optim);
    hd_module_train(r->model, true);
    row->loss = 0;
    for (int64_t i = 0; i < r->s.train.accumulate; i++) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (batch_size, context_length) */
        if (!next_batch(r->loader, &x, &y)) {
            return false;
        }
        /* () */
        hd_tensor *loss = hd_div_scalar(batch_loss(r->model, x, y), r->s.train.accumulate);
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
    return hd_optim_step(r->optim) && hd_schedule_step(r->schedule);
}

/* The mean loss of the first eval_batches batches of the validation text. */
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
        if (more) {
            sum += hd_item(batch_loss(r->model, x, y));
            n++;
        }
    }
    return sum / (double)n;
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
    if (!ok && hung_up && hd_error_code() == HD_IO) { /* nobody can read it; the run goes on */
        hd_error_clear();
        return true;
    }
    return ok;
}

/* The work after a step: validation, log, progress, sample, checkpoint. */
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
    if (hd_error_code() != HD_OK || !log_write(&r->log, row)) {
        return false;
    }
    progress_show(p, row->step, row->loss, row->val_loss);
    if (!end && !stop && r->s.train.sample_every > 0 && r->step % r->s.train.sample_every == 0) {
        progress_clear(p);
        if (!print_sample(r)) {
            return false;
        }
    }
    if (!end && !stop && !better && r->step % r->s.train.save_every != 0) {
        return true;
    }
    return run_save(r);
}

/* Trains to the last step, or until a signal comes or the step `stop_at` is done. */
static bool train(run *r, int64_t stop_at)
{
    const settings *s = &r->s;
    progress p = progress_new(r->step, s->train.steps, s->train.report_every,
                              s->train.batch_size * s->train.accumulate * s->model.context_length);
    bool ok = true, stop = false;
    while (ok && !stop && r->step < s->train.steps) {
        log_row row;
        ok = train_step(r, &row);
        stop = stop_signal != 0 || r->step == stop_at;
        ok = ok && after_step(r, &p, &row, stop);
    }
    progress_clear(&p);
    return ok;
}

/* ---------------------------------------------------------------- the program */

typedef struct {
    const char *config, *resume;
    int n_sets;
    const char **sets;
    int64_t stop_at; /* 0: do not stop */
    bool print_config;
} arguments;

/* Says that there is no such option. If a setting has the name, says how to set it. */
static void refuse_option(const char *program, const char *name, const char *value)
{
    const char *path = name[0] == '-' ? settings_find(name + strspn(name, "-")) : NULL;
    const char *equals = strchr(name, '=');
    if (path) {
        char word[SHELL_WORD];
        const char *given = equals ? equals + 1 : value && value[0] != '-' ? value : "VALUE";
        fprintf(stderr, "%s: unknown option '%s': expected --set %s=%s (see --help)\n", program,
                name, path, shell_word(given, word));
        return;
    }
    fprintf(stderr, "%s: %s '%s' (see --help)\n", program,
            name[0] == '-' ? "unknown option" : "expected one CONFIG.json, found also", name);
}

/* Reads the option argv[0], and its value if it has one. Returns the number of words that it has
 * read; 0: they are wrong. */
static int read_option(arguments *a, const char *program, char **argv)
{
    const char *name = argv[0], *value = argv[1];
    char *end = NULL;
    if (strcmp(name, "--print-config") == 0) {
        a->print_config = true;
        return 1;
    }
    bool set = strcmp(name, "--set") == 0, resume = strcmp(name, "--resume") == 0;
    bool stop_at = strcmp(name, "--stop-at") == 0;
    if (!set && !resume && !stop_at) {
        refuse_option(program, name, value);
        return 0;
    }
    if (stop_at) {
        a->stop_at = value ? strtoll(value, &end, 10) : 0;
    }
    if (!value || (set && (!strchr(value, '=') || value[0] == '=')) ||
        (stop_at && (end == value || *end != '\0' || a->stop_at < 1))) {
        fprintf(stderr, "%s: %s %s: expected %s (see --help)\n", program, name,
                value ? value : "without a value",
                set      ? "KEY=VALUE"
                : resume ? "the directory of a run"
                         : "a whole number above 0");
        return 0;
    }
    if (set) {
        a->sets[a->n_sets++] = value;
    }
    if (resume) {
        a->resume = value;
    }
    return 2;
}

static bool read_arguments(arguments *a, int argc, char **argv)
{
    for (int i = 1, words; i < argc; i += words) {
        bool config = argv[i][0] != '-' && !a->config;
        words = config ? 1 : read_option(a, argv[0], &argv[i]);
        if (words == 0) {
            return false;
        }
        if (config) {
            a->config = argv[i];
        }
    }
    const char *other = a->config ? "CONFIG.json" : "--print-config";
    bool ok = !a->resume || (!a->config && !a->print_config);
    if (!ok) {
        fprintf(stderr, "%s: --resume DIR takes the settings of DIR: expected no %s (see --help)\n",
                argv[0], other);
    }
    return ok;
}

static bool save_config(const run *r)
{
    char path[2 * PATH_SIZE];
    run_path(r, path, "config.json");
    return hd_config_save(&settings_table, &r->s, path);
}

/* ---------------------------------------------------------------- beginning, going on */

/* Notes whether it was the user's settings that are wrong. Returns ok. */
static bool settings_loaded(run *r, bool ok)
{
    r->refused = !ok && (hd_error_code() == HD_VALUE || hd_error_code() == HD_FORMAT);
    return ok;
}

static bool print_config(run *r, const arguments *a)
{
    bool ok =
        settings_loaded(r, hd_config_load(&settings_table, &r->s, a->config, a->n_sets, a->sets));
    char *text = ok ? hd_config_text(&settings_table, &r->s) : NULL;
    ok = text;
    if (ok) {
        fputs(text, stdout);
    }
    hd_free(text);
    return ok;
}

static bool add_events(run *r)
{
    log_add_events(&r->log, r->s.train.tensorboard ? r->dir : NULL, r->step);
    return true;
}

static bool begin(run *r, const arguments *a)
{
    return settings_loaded(r,
                           hd_config_load(&settings_table, &r->s, a->config, a->n_sets, a->sets)) &&
           settings_find_files(&r->s) && run_read_data(r, NULL) && run_make_directory(r) &&
           save_config(r) && run_make_model(r) && run_make_loaders(r) &&
           log_open(&r->log, r->dir, 0, 0) && add_events(r);
}

/* Sets the error for --resume with a directory that is no run. It may be a checkpoint of a run, or
 * a run that ended before its first checkpoint. */
static bool no_run(const char *dir)
{
    char path[2 * PATH_SIZE], word[SHELL_WORD];
    int length = directory_length(dir);
    snprintf(path, sizeof path, "%.*s/model.safetensors", length, dir);
    bool checkpoint = access(path, F_OK) == 0;
    while (length > 0 && dir[length - 1] != '/') {
        length--;
    }
    if (checkpoint && length > 1) {
        snprintf(path, sizeof path, "%.*s", length - 1, dir);
        return hd_error_set(HD_IO, "%s is a checkpoint: did you mean --resume %s?", dir,
                            shell_word(path, word));
    }
    snprintf(path, sizeof path, "%s/config.json", dir);
    return access(path, F_OK) == 0
               ? hd_error_set(HD_IO, "%s has no checkpoint yet: begin again without --resume", dir)
               : hd_error_set(HD_IO, "%s has no checkpoint: expected the directory of a run", dir);
}

/* Loads the settings from the run's config.json, which may have been edited, and from the
 * arguments. Only some of them may differ from those of the checkpoint. */
static bool load_settings(run *r, const hd_dict *state, const arguments *a)
{
    settings was = {0};
    char path[2 * PATH_SIZE];
    const char *text = hd_dict_get_string(state, "config");
    run_path(r, path, "config.json");
    if (!text ||
        !hd_config_load_text(&settings_table, &was, a->resume, text, strlen(text), 0, NULL)) {
        return false;
    }
    bool there = access(path, F_OK) == 0;
    bool ok = there ? hd_config_load(&settings_table, &r->s, path, a->n_sets, a->sets)
                    : hd_config_load_text(&settings_table, &r->s, a->resume, text, strlen(text),
                                          a->n_sets, a->sets);
    return settings_loaded(r, ok) && settings_find_files(&r->s) &&
           settings_loaded(r, settings_go_on(&was, &r->s, r->dir));
}

static bool resume(run *r, const arguments *a)
{
    hd_dict *model = NULL, *state = NULL;
    snprintf(r->dir, sizeof r->dir, "%.*s", directory_length(a->resume), a->resume);
    int64_t newest = run_newest_step(r);
    if (newest <= 0) {
        return newest == 0 && no_run(r->dir);
    }
    run_remove_leftovers(r);
    bool ok = run_load(r, newest, &model, &state) && load_settings(r, state, a) &&
              run_read_data(r, state) && run_make_model(r) && run_make_loaders(r) &&
              run_restore(r, model, state) && run_settle(r) && save_config(r) && add_events(r);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

/* A run that has all its steps can go on only if its schedule does not end with them. */
static void print_resumed(const run *r, const char *program)
{
    char program_word[SHELL_WORD], dir[SHELL_WORD];
    long long step = r->step;
    if (r->step < r->s.train.steps) {
        printf("resumed after step %lld\n", step);
    } else if (r->s.train.schedule == SCHEDULE_CONSTANT) {
        printf("the run has all its %lld steps; to go on: %s --resume %s --set train.steps=%lld\n",
               step, shell_word(program, program_word), shell_word(r->dir, dir), 2 * step);
    } else {
        printf("the run has all its %lld steps, for which its cosine schedule was made; for more, "
               "begin another one (with train.schedule=constant it can be made longer later)\n",
               step);
    }
}

static void print_start(const run *r, const char *program)
{
    int64_t count = 0;
    for (int64_t i = 0; i < hd_list_len(r->parameters); i++) {
        count += hd_numel(hd_list_get(r->parameters, i));
    }
    printf("%s: %lld tokens to learn, %lld for validation, a vocabulary of %lld; %lld "
           "parameters\n",
           r->dir, (long long)hd_tokens_len(r->train_tokens),
           (long long)hd_tokens_len(r->val_tokens), (long long)r->s.model.vocab_size,
           (long long)count);
    if (r->step > 0) {
        print_resumed(r, program);
    }
    fflush(stdout);
}

/* Prints a line that the shell can run. "--" ends the options of sample_gpt. */
static void print_how_to_sample(const run *r, const char *program)
{
    const char *slash = strrchr(program, '/');
    char sample[4096], checkpoint[2 * PATH_SIZE], word[SHELL_WORD];
    bool dashes = strncmp(r->dir, "--", 2) == 0 || strncmp(r->prompt, "--", 2) == 0;
    run_path(r, checkpoint, r->best_step > 0 ? "best" : "last");
    snprintf(sample, sizeof sample, "%.*ssample_gpt", slash ? (int)(slash + 1 - program) : 0,
             program);
    printf("to sample: %s", shell_word(sample, word));
    printf("%s %s", dashes ? " --" : "", shell_word(checkpoint, word));
    printf(" %s\n", shell_word(r->prompt, word));
}

static bool finish(const run *r, const char *program)
{
    if (r->step < r->s.train.steps) {
        char program_word[SHELL_WORD], dir[SHELL_WORD];
        printf("stopped after step %lld of %lld; to go on: %s --resume %s\n", (long long)r->step,
               (long long)r->s.train.steps, shell_word(program, program_word),
               shell_word(r->dir, dir));
        return true;
    }
    bool ok = print_sample(r);
    printf("validation loss %.4f nats per token (best, step %lld); a uniform guess has %.4f\n",
           r->best_loss, (long long)r->best_step, log((double)r->s.model.vocab_size));
    print_how_to_sample(r, program);
    return ok;
}

/* ---------------------------------------------------------------- errors */

/* If text begins with start, returns what follows; otherwise text. */
static const char *skip(const char *text, const char *start)
{
    size_t n = strlen(start);
    return strncmp(text, start, n) == 0 ? text + n : text;
}

/* Prints the error in the user's terms. hd_config_load says "setting KEY=VALUE: KEY: unknown" after
 * its own name, and the user wrote --set KEY=VALUE. */
static void print_error(const char *program, bool refused)
{
    const char *text = skip(skip(hd_error_message(), "hd_config_load: "), "the settings: ");
    const char *set = skip(text, "setting "), *equals = strchr(set, '='), *rest = NULL;
    size_t key = set > text && equals ? (size_t)(equals - set) : 0;
    for (const char *c = key > 0 ? equals : ""; *c != '\0' && !rest; c++) {
        bool again = strncmp(c, ": ", 2) == 0 && strncmp(c + 2, set, key) == 0 &&
                     strncmp(c + 2 + key, ": ", 2) == 0;
        rest = again ? c : NULL;
    }
    const char *see = refused && !strstr(text, "(see ") ? " (see --help-settings)" : "";
    if (rest) {
        const char *what = rest + 2 + key + 2, *more = skip(what, "unknown: ");
        fprintf(stderr, "%s: --set %.*s: %s%s%s\n", program, (int)(rest - set), set,
                more > what ? "unknown setting: " : "", more, see);
    } else {
        fprintf(stderr, "%s: %s%s%s\n", program, set > text ? "--set " : "", set, see);
    }
}

/* ---------------------------------------------------------------- main */

/* Prints what the arguments ask to be told, if they do. */
static bool print_about(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            help_print(stdout);
            return true;
        }
        if (strcmp(argv[i], "--help-settings") == 0) {
            help_print_settings(stdout);
            return true;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("train_gpt %s\n", hd_version());
            return true;
        }
    }
    return false;
}

static bool start(run *r, const arguments *a)
{
    if (a->print_config) {
        return print_config(r, a);
    }
    if (!(a->resume ? resume(r, a) : begin(r, a))) {
        return false;
    }
    r->refused = a->stop_at > 0 && a->stop_at <= r->step;
    return !r->refused || hd_error_set(HD_VALUE, "--stop-at %lld: %s is at step %lld (see --help)",
                                       (long long)a->stop_at, r->dir, (long long)r->step);
}

int main(int argc, char **argv)
{
    open_standard_files();
    if (print_about(argc, argv)) {
        return stdout_written(argv[0]) ? 0 : 1;
    }
    arguments a = {.sets = calloc((size_t)argc, sizeof *a.sets)};
    if (!a.sets || !read_arguments(&a, argc, argv)) {
        free(a.sets);
        return 2;
    }
    static run r;
    r.best_loss = INFINITY;
    catch_signals();
    bool ok = start(&r, &a);
    if (ok && !a.print_config) {
        print_start(&r, argv[0]);
        ok = train(&r, a.stop_at) && finish(&r, argv[0]);
    }
    run_free(&r);
    free(a.sets);
    if (!ok || hd_error_code() != HD_OK) {
        print_error(argv[0], r.refused);
    }
    if (!ok || (!hung_up && !stdout_written(argv[0]))) {
        return r.refused ? 2 : 1;
    }
    return stop_signal != 0 && r.step < r.s.train.steps ? 128 + (int)stop_signal : 0;
}
