/* train_gpt.c - trains a GPT (gpt.h) on a text. A run can be stopped and resumed, and then gives
 * the same bits as a run that never stopped.
 *
 * A run is a directory:
 *   config.json            the settings of the run
 *   log.csv, log.jsonl     one row for each step; a resumed run cuts off the rows after its step
 *   step-00000100/         a checkpoint: model.safetensors (PyTorch loads it) and state.safetensors
 *   events.out.tfevents.*  the log for TensorBoard, if the setting train.tensorboard is true
 *   last, best             links to the newest checkpoint and to that of the least validation loss
 * A checkpoint is whole, or it is not there. An older checkpoint is removed when the new one is
 * on the disk. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "train_help.h"
#include "train_loop.h"

/* ---------------------------------------------------------------- the program */

typedef struct {
    const char *config, *resume;
    int n_sets;
    const char **sets;
    int64_t stop_at; /* 0: do not stop */
    bool print_config;
} arguments;

/* Prints a message about the arguments to stderr, on rank 0 alone. */
#if defined(__GNUC__) || defined(__clang__)
__attribute__((format(printf, 1, 2)))
#endif
static void
say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (ranks_first()) {
        vfprintf(stderr, format, args);
    }
    va_end(args);
}

/* Prints that an option does not exist. If a setting has this name, also prints how to set it. */
static void refuse_option(const char *program, const char *name, const char *value)
{
    const char *path = name[0] == '-' ? settings_find(name + strspn(name, "-")) : NULL;
    const char *equals = strchr(name, '=');
    if (path) {
        char word[SHELL_WORD];
        const char *given = equals ? equals + 1 : value && value[0] != '-' ? value : "VALUE";
        say("%s: unknown option '%s': expected --set %s=%s (see --help)\n", program, name, path,
            shell_word(given, word));
        return;
    }
    say("%s: %s '%s' (see --help)\n", program,
        name[0] == '-' ? "unknown option" : "expected one CONFIG.json, found also", name);
}

/* Reads the option argv[0], and its value if it has one. Returns the number of words that it read,
 * or 0 with a message if they are wrong. */
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
        say("%s: %s %s: expected %s (see --help)\n", program, name,
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
        say("%s: --resume DIR takes the settings of DIR: expected no %s (see --help)\n", argv[0],
            other);
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

/* Sets r->refused if the settings could not be loaded because they are wrong. Returns ok. */
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

/* Returns false with an error if the ranks have different settings, or if one could not load them.
 * `loaded` says whether this rank could. */
static bool same_settings(const run *r, bool loaded)
{
    if (ranks_count() == 1) {
        return loaded;
    }
    char *text = loaded ? hd_config_text(&settings_table, &r->s) : NULL;
    bool ok = ranks_same("the configuration", text);
    hd_free(text);
    return ok;
}

/* Returns false with an error unless all ranks have the same text and the same CPU level, which
 * gives the same bits. `read` says whether this rank could read the text. */
static bool same_data(const run *r, bool read)
{
    char hash[32];
    snprintf(hash, sizeof hash, "hash %016llx", (unsigned long long)r->text_hash);
    return ranks_same("the text", read ? hash : NULL) &&
           ranks_same("the CPU level (HEED_CPU lowers it)", hd_cpu_level());
}

static bool begin(run *r, const arguments *a)
{
    bool ok =
        settings_loaded(r, hd_config_load(&settings_table, &r->s, a->config, a->n_sets, a->sets));
    if (!same_settings(r, ok) ||
        !same_data(r, settings_find_files(&r->s) && run_read_data(r, NULL))) {
        return false;
    }
    ok = !ranks_first() || (run_make_directory(r) && save_config(r));
    ok = ranks_all_ok("the directory", ok) && run_make_model(r) && run_make_loaders(r) &&
         (!ranks_first() || (log_open(&r->log, r->dir, 0, 0) && add_events(r)));
    return ranks_all_ok("the beginning", ok);
}

/* Sets the error for --resume with a directory that has no checkpoint, and returns false. The
 * directory may itself be a checkpoint, or a run that ended before its first one. */
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
               ? hd_error_set(HD_IO, "%s has no checkpoint yet. Begin again without --resume", dir)
               : hd_error_set(HD_IO, "%s has no checkpoint: expected the directory of a run", dir);
}

/* Loads the settings from the run's config.json, which the user may have edited, and from the
 * arguments. Some settings must be the same as in the checkpoint: returns false with an error if
 * one is not. */
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

/* Returns the step of the newest checkpoint, which rank 0 finds, or 0 with an error. */
static int64_t find_checkpoint(const run *r)
{
    double step = 0;
    if (ranks_first()) {
        int64_t newest = run_newest_step(r);
        step = newest > 0 ? (double)newest : 0;
        if (newest == 0) {
            no_run(r->dir);
        }
    }
    return ranks_sum(1, &step) ? (int64_t)step : 0;
}

/* Makes the run from the dictionaries of its checkpoint. `state` is NULL if this rank could not
 * load them. Returns false with an error on failure. */
static bool resume_from(run *r, const arguments *a, const hd_dict *model, const hd_dict *state)
{
    if (!same_settings(r, state && load_settings(r, state, a)) ||
        !same_data(r, run_read_data(r, state))) {
        return false;
    }
    bool ok = run_make_model(r) && run_make_loaders(r) && run_restore(r, model, state) &&
              (!ranks_first() || (run_settle(r) && save_config(r) && add_events(r)));
    return ranks_all_ok("the checkpoint", ok);
}

static bool resume(run *r, const arguments *a)
{
    hd_dict *model = NULL, *state = NULL;
    snprintf(r->dir, sizeof r->dir, "%.*s", directory_length(a->resume), a->resume);
    int64_t newest = find_checkpoint(r);
    if (newest == 0) {
        return false;
    }
    if (ranks_first()) {
        run_remove_leftovers(r);
    }
    bool loaded = run_load(r, newest, &model, &state);
    bool ok = resume_from(r, a, model, loaded ? state : NULL);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

enum { LAUNCHER = 32 };

/* Writes the words that stand before the program in a command for the same number of ranks to room,
 * such as "mpirun -n 2 ". Returns room. */
static const char *launcher(char room[LAUNCHER])
{
    room[0] = '\0';
    if (ranks_count() > 1) {
        snprintf(room, LAUNCHER, "mpirun -n %d ", ranks_count());
    }
    return room;
}

/* Prints where the resumed run continues. If it has done all its steps, prints whether it can do
 * more: only a constant schedule allows that. */
static void print_resumed(const run *r, const char *program)
{
    char program_word[SHELL_WORD], dir[SHELL_WORD];
    long long step = r->step;
    if (r->ranks_before != ranks_count()) {
        printf("the run was on %lld rank%s, and goes on with %d: dropout begins new streams\n",
               (long long)r->ranks_before, r->ranks_before == 1 ? "" : "s", ranks_count());
    }
    if (r->step < r->s.train.steps) {
        printf("resumed after step %lld\n", step);
    } else if (r->s.train.schedule == SCHEDULE_CONSTANT) {
        char mpirun[LAUNCHER];
        printf(
            "the run has all its %lld steps; to go on: %s%s --resume %s --set train.steps=%lld\n",
            step, launcher(mpirun), shell_word(program, program_word), shell_word(r->dir, dir),
            2 * step);
    } else {
        printf("the run has all its %lld steps, and its cosine schedule ends with them. For more "
               "steps, begin a new run. With train.schedule=constant it can continue later.\n",
               step);
    }
}

static void print_start(const run *r, const char *program)
{
    int64_t count = 0;
    for (int64_t i = 0; i < hd_list_len(r->parameters); i++) {
        count += hd_numel(hd_list_get(r->parameters, i));
    }
    printf("%s: %lld tokens to learn, %lld for validation,\n"
           "a vocabulary of %lld, %lld parameters\n",
           r->dir, (long long)hd_tokens_len(r->train_tokens),
           (long long)hd_tokens_len(r->val_tokens), (long long)r->s.model.vocab_size,
           (long long)count);
    if (r->step > 0) {
        print_resumed(r, program);
    }
    fflush(stdout);
}

/* Prints a command line for sample_gpt. It has "--", which ends the options, if a later word begins
 * with dashes. */
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
        char mpirun[LAUNCHER];
        printf("stopped after step %lld of %lld; to go on: %s%s --resume %s\n", (long long)r->step,
               (long long)r->s.train.steps, launcher(mpirun), shell_word(program, program_word),
               shell_word(r->dir, dir));
        return true;
    }
    bool ok = run_print_sample(r);
    printf("validation loss %.4f nats per token (best, step %lld)\n"
           "a uniform guess has %.4f\n",
           r->best_loss, (long long)r->best_step, log((double)r->s.model.vocab_size));
    print_how_to_sample(r, program);
    return ok;
}

/* ---------------------------------------------------------------- errors */

/* Returns the part of text after start, if text begins with start, and text otherwise. */
static const char *skip(const char *text, const char *start)
{
    size_t n = strlen(start);
    return strncmp(text, start, n) == 0 ? text + n : text;
}

/* Prints the error in the words of the command line. hd_config_load says "setting KEY=VALUE: KEY:
 * unknown", where the user wrote --set KEY=VALUE. */
static void print_error(const char *program, bool refused)
{
    const char *text = skip(skip(hd_error_message(), "hd_mpi_all_ok: "), "hd_mpi_all_same: ");
    text = skip(skip(text, "hd_config_load: "), "the settings: ");
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

/* Prints the help or the version if the arguments ask for it. True if they do. */
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
    return !r->refused ||
           hd_error_set(HD_VALUE,
                        "--stop-at %lld: %s is at step %lld: expected a later step (see --help)",
                        (long long)a->stop_at, r->dir, (long long)r->step);
}

/* Begins or resumes the run and trains it, or prints its settings. Returns false on an error. */
static bool work(run *r, const arguments *a, const char *program)
{
    bool ok = start(r, a);
    if (!ok || a->print_config) {
        return ok;
    }
    print_start(r, program);
    return ranks_print() && run_train(r, a->stop_at) && finish(r, program);
}

/* Reads the arguments and does the work. Returns the exit status. */
static int run_program(int argc, char **argv, arguments *a)
{
    static run r;
    r.best_loss = INFINITY;
    bool read = a->sets && read_arguments(a, argc, argv);
    if (!ranks_all_ok("the arguments", read)) {
        if (read && ranks_first()) {
            print_error(argv[0], false);
        }
        return 2;
    }
    loop_catch_signals();
    bool ok = work(&r, a, argv[0]);
    run_free(&r);
    ok = ranks_all_ok("the run", ok && hd_error_code() == HD_OK);
    if (!ok && ranks_first()) {
        print_error(argv[0], r.refused);
    }
    ok = ok && ranks_all_ok("the output", loop_hung_up() || stdout_written(argv[0]));
    if (!ok) {
        return r.refused ? 2 : 1;
    }
    return loop_signal() != 0 && r.step < r.s.train.steps ? 128 + loop_signal() : 0;
}

/* Prints the help or the version even if the ranks cannot start. Then each process prints it. */
int main(int argc, char **argv)
{
    open_standard_files();
    hd_on_warning(hd_warning_print, NULL);
    bool started = ranks_start(&argc, &argv);
    int status = 1;
    if (print_about(argc, argv)) {
        status = stdout_written(argv[0]) ? 0 : 1;
    } else if (!started) {
        print_error(argv[0], false);
    } else {
        arguments a = {.sets = calloc((size_t)argc, sizeof *a.sets)};
        status = run_program(argc, argv, &a);
        free(a.sets);
    }
    ranks_end();
    return status;
}
