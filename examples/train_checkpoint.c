/* train_checkpoint.c - saves a run and loads it. A resumed run gives the same bits as one that
 * never stopped.
 *
 * model.safetensors is only the state_dict. state.safetensors is everything else: settings,
 * optimizer, schedule, generator, loader, tokenizer, and the lengths of the logs. A run on several
 * ranks adds their number, as `ranks`, and the generators of all ranks, as `generators.state` and
 * `generators.spare`. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train_run.h"

void run_path(const run *r, char path[2 * PATH_SIZE], const char *name)
{
    snprintf(path, 2 * PATH_SIZE, "%s/%s", r->dir, name);
}

/* Returns the step in a name such as "step-00000100", or 0 for other names. */
static int64_t checkpoint_step(const char *name)
{
    char *end;
    int64_t step = strncmp(name, "step-", 5) == 0 ? strtoll(name + 5, &end, 10) : 0;
    return step > 0 && *end == '\0' ? step : 0;
}

/* ---------------------------------------------------------------- the generators of the ranks */

enum { WORDS = 624, NUMBERS = WORDS + 3 }; /* words of a generator; 3 integers follow them */

/* Adds the generators of all ranks to d, which already has this rank's own as "generator". Returns
 * false with an error on failure. */
static bool save_generators(hd_dict *d)
{
    int64_t more[NUMBERS - WORDS];
    double spare[1];
    bool ok = hd_dict_get_int(d, "generator.next", &more[0]) &&
              hd_dict_get_int(d, "generator.bernoulli", &more[1]) &&
              hd_dict_get_int(d, "generator.has_spare", &more[2]) &&
              hd_dict_get_double(d, "generator.spare", spare);
    hd_tensor *words = ok ? hd_dict_get(d, "generator.state") : NULL; /* (624,) */
    hd_tensor *numbers =
        words ? hd_cat(0, words, hd_from_data(HD_INT64, more, NUMBERS - WORDS)) : NULL; /* (627,) */
    return hd_dict_set(d, "generators.state", ranks_gather(numbers)) && /* (ranks, 627) */
           hd_dict_set(d, "generators.spare",
                       ranks_gather(hd_from_data(HD_FLOAT64, spare, 1))); /* (ranks, 1) */
}

/* Loads this rank's generator from d, which has those of all ranks. Returns false with an error on
 * failure. */
static bool load_generator(const hd_dict *d)
{
    HD_SCOPE;
    hd_tensor *numbers =
        hd_select(hd_dict_get(d, "generators.state"), 0, ranks_this());                 /* (627,) */
    hd_tensor *spares = hd_select(hd_dict_get(d, "generators.spare"), 0, ranks_this()); /* (1,) */
    hd_dict *one = hd_dict_new();
    bool ok = hd_dict_set(one, "state", hd_narrow(numbers, 0, 0, WORDS)) &&
              hd_dict_set_int(one, "next", hd_get_int(numbers, WORDS)) &&
              hd_dict_set_int(one, "bernoulli", hd_get_int(numbers, WORDS + 1)) &&
              hd_dict_set_int(one, "has_spare", hd_get_int(numbers, WORDS + 2)) &&
              hd_dict_set_double(one, "spare", hd_item(spares)) &&
              hd_generator_load(hd_default_generator(), one, "");
    hd_dict_free(one);
    return ok;
}

static bool save_ranks(const run *r, hd_dict *d)
{
    return !r->dealt || (hd_dict_set_int(d, "ranks", ranks_count()) &&
                         (ranks_count() == 1 || save_generators(d)));
}

enum { FAR = 1000003 }; /* the seeds of two successive steps differ by FAR */

/* Makes this rank continue its stream of random numbers. If the number of ranks has changed, all
 * ranks begin new streams instead, which depend on the seed, the step and the rank. Returns false
 * with an error on failure. */
static bool restore_generator(const run *r, const hd_dict *d)
{
    if (r->ranks_before != ranks_count()) {
        return hd_manual_seed(r->s.train.seed + FAR * r->step + ranks_this());
    }
    return ranks_first() ? hd_generator_load(hd_default_generator(), d, "generator")
                         : load_generator(d);
}

/* ---------------------------------------------------------------- the state */

/* Fills d with the part of the state that is the same on all ranks. Returns false with an error on
 * failure. */
static bool fill_common(run *r, hd_dict *d)
{
    int64_t csv_size = 0, jsonl_size = 0;
    char *config = hd_config_text(&settings_table, &r->s);
    bool ok =
        config && (!ranks_first() || log_sync(&r->log, &csv_size, &jsonl_size)) &&
        hd_dict_set_string(d, "config", config) && hd_dict_set_int(d, "step", r->step) &&
        hd_dict_set_int(d, "best.step", r->best_step) &&
        hd_dict_set_double(d, "best.loss", r->best_loss) &&
        hd_dict_set_int(d, "log.csv", csv_size) && hd_dict_set_int(d, "log.jsonl", jsonl_size) &&
        hd_dict_set_int(d, "text.hash", r->text_hash) && gpt_config_save(&r->s.model, d, "model") &&
        hd_tokenizer_save(r->tokenizer, d, "tokenizer");
    hd_free(config);
    return ok;
}

static bool fill_state(run *r, hd_dict *d)
{
    return ranks_all_ok("filling a checkpoint", fill_common(r, d)) &&
           ranks_save_optim(r->optim, d, "optim") && hd_schedule_save(r->schedule, d, "schedule") &&
           hd_generator_save(hd_default_generator(), d, "generator") &&
           hd_loader_save(r->loader, d, "loader") && save_ranks(r, d);
}

/* ---------------------------------------------------------------- the directory */

/* Makes `name` a link to the checkpoint of a step. The new link replaces the old one atomically.
 * Returns false with an error on failure. */
static bool link_to(const run *r, const char *name, int64_t step)
{
    char path[2 * PATH_SIZE], fresh[2 * PATH_SIZE], target[32];
    run_path(r, path, name);
    run_path(r, fresh, ".link");
    snprintf(target, sizeof target, "step-%08lld", (long long)step);
    unlink(fresh);
    bool linked = symlink(target, fresh) == 0;
    if ((linked && rename(fresh, path) == 0) || (!linked && errno == ENOSYS)) {
        return true; /* ENOSYS: a system without links has only the checkpoints themselves */
    }
    return hd_error_set(HD_IO, "%s: %s", path, strerror(errno));
}

/* Returns the step of the next checkpoint in the directory, and sets *name to its name. Returns 0
 * at the end of the directory, or -1 with an error if it cannot be read. */
static int64_t next_checkpoint(const run *r, DIR *dir, const char **name)
{
    errno = 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL; errno = 0) {
        if (checkpoint_step(e->d_name) > 0) {
            *name = e->d_name;
            return checkpoint_step(e->d_name);
        }
    }
    if (errno == 0) {
        return 0;
    }
    hd_error_set(HD_IO, "%s: %s", r->dir, strerror(errno));
    return -1;
}

/* Removes all checkpoints except the newest and the best. Returns false with an error on
 * failure. */
static bool remove_old(const run *r)
{
    DIR *dir = opendir(r->dir);
    const char *name = "";
    int64_t step = 1;
    if (!dir) {
        return hd_error_set(HD_IO, "%s: %s", r->dir, strerror(errno));
    }
    bool ok = true;
    while (ok && (step = next_checkpoint(r, dir, &name)) > 0) {
        char path[2 * PATH_SIZE];
        run_path(r, path, name);
        if (step != r->step && step != r->best_step) {
            ok = hd_checkpoint_remove(path);
        }
    }
    closedir(dir);
    return ok && step == 0;
}

/* Removes a file, or a directory that holds only files. */
static void remove_flat(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char inner[3 * PATH_SIZE];
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            unlink(inner);
        }
    }
    if (dir) {
        closedir(dir);
    }
    remove(path);
}

void run_remove_leftovers(const run *r)
{
    DIR *dir = opendir(r->dir);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char path[2 * PATH_SIZE];
        run_path(r, path, e->d_name);
        if (strncmp(e->d_name, ".heed-", 6) == 0) {
            remove_flat(path);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static void checkpoint_path(const run *r, char path[2 * PATH_SIZE], int64_t step)
{
    char name[32];
    snprintf(name, sizeof name, "step-%08lld", (long long)step);
    run_path(r, path, name);
}

bool run_settle(const run *r)
{
    return link_to(r, "last", r->step) && (r->best_step == 0 || link_to(r, "best", r->best_step)) &&
           remove_old(r);
}

static bool write_checkpoint(run *r, const hd_dict *state)
{
    char path[2 * PATH_SIZE];
    checkpoint_path(r, path, r->step);
    hd_dict *model = hd_module_state_dict(r->model);
    bool ok = hd_checkpoint_save(path, model, state);
    hd_dict_free(model);
    return ok && run_settle(r);
}

bool run_save(run *r)
{
    HD_SCOPE;
    hd_dict *state = hd_dict_new();
    bool ok = fill_state(r, state) && (!ranks_first() || write_checkpoint(r, state));
    hd_dict_free(state);
    return ranks_all_ok("saving a checkpoint", ok);
}

int64_t run_newest_step(const run *r)
{
    int64_t newest = 0, step = 1;
    const char *name;
    DIR *dir = opendir(r->dir);
    if (!dir) {
        bool none = errno == ENOENT || errno == ENOTDIR;
        bool failed = !none && !hd_error_set(HD_IO, "%s: %s", r->dir, strerror(errno));
        return failed ? -1 : 0;
    }
    while ((step = next_checkpoint(r, dir, &name)) > 0) {
        newest = step > newest ? step : newest;
    }
    closedir(dir);
    return step < 0 ? -1 : newest;
}

bool run_load(run *r, int64_t step, hd_dict **model, hd_dict **state)
{
    char path[2 * PATH_SIZE];
    checkpoint_path(r, path, step);
    if (!hd_checkpoint_load(path, model, state)) {
        return false;
    }
    r->ranks_before = 1;
    r->dealt = hd_dict_kind_of(*state, "ranks") != HD_DICT_MISSING;
    return !r->dealt || hd_dict_get_int(*state, "ranks", &r->ranks_before);
}

bool run_restore(run *r, const hd_dict *model, const hd_dict *d)
{
    int64_t csv_size, jsonl_size;
    return hd_module_load_state_dict(r->model, model, true, NULL) &&
           ranks_load_optim(r->optim, d, "optim") && hd_schedule_load(r->schedule, d, "schedule") &&
           hd_loader_load(r->loader, d, "loader") && hd_dict_get_int(d, "step", &r->step) &&
           restore_generator(r, d) && hd_dict_get_int(d, "best.step", &r->best_step) &&
           hd_dict_get_double(d, "best.loss", &r->best_loss) &&
           hd_dict_get_int(d, "log.csv", &csv_size) &&
           hd_dict_get_int(d, "log.jsonl", &jsonl_size) &&
           (!ranks_first() || log_open(&r->log, r->dir, csv_size, jsonl_size));
}
