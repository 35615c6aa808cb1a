/* train_checkpoint.c - saves a run and loads it, so that a resumed run gives the same bits.
 *
 * model.safetensors is only the state_dict. state.safetensors is everything else: settings,
 * optimizer, schedule, generator, loader, tokenizer, and the lengths of the logs. */
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

/* The step in a name such as "step-00000100"; 0 for other names. */
static int64_t checkpoint_step(const char *name)
{
    char *end;
    int64_t step = strncmp(name, "step-", 5) == 0 ? strtoll(name + 5, &end, 10) : 0;
    return step > 0 && *end == '\0' ? step : 0;
}

static bool fill_state(run *r, hd_dict *d)
{
    int64_t csv_size, jsonl_size;
    char *config = hd_config_text(&settings_table, &r->s);
    bool ok =
        config && log_sync(&r->log, &csv_size, &jsonl_size) &&
        hd_dict_set_string(d, "config", config) && hd_dict_set_int(d, "step", r->step) &&
        hd_dict_set_int(d, "best.step", r->best_step) &&
        hd_dict_set_double(d, "best.loss", r->best_loss) &&
        hd_dict_set_int(d, "log.csv", csv_size) && hd_dict_set_int(d, "log.jsonl", jsonl_size) &&
        hd_dict_set_int(d, "text.hash", r->text_hash) && gpt_config_save(&r->s.model, d, "model") &&
        hd_tokenizer_save(r->tokenizer, d, "tokenizer") && hd_optim_save(r->optim, d, "optim") &&
        hd_schedule_save(r->schedule, d, "schedule") &&
        hd_generator_save(hd_default_generator(), d, "generator") &&
        hd_loader_save(r->loader, d, "loader");
    hd_free(config);
    return ok;
}

/* Makes `name` a link to the checkpoint of a step. The new link replaces the old one atomically. */
static bool link_to(const run *r, const char *name, int64_t step)
{
    char path[2 * PATH_SIZE], fresh[2 * PATH_SIZE], target[32];
    run_path(r, path, name);
    run_path(r, fresh, ".link");
    snprintf(target, sizeof target, "step-%08lld", (long long)step);
    unlink(fresh);
    if (symlink(target, fresh) == 0 && rename(fresh, path) == 0) {
        return true;
    }
    return hd_error_set(HD_IO, "%s: %s", path, strerror(errno));
}

/* The step of the next checkpoint in the directory, and its name; 0 at the end, and -1 if the
 * directory cannot be read. */
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

/* Removes all checkpoints except the newest and the best. */
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

bool run_save(run *r)
{
    HD_SCOPE;
    char path[2 * PATH_SIZE];
    checkpoint_path(r, path, r->step);
    hd_dict *model = hd_module_state_dict(r->model), *state = hd_dict_new();
    bool ok = fill_state(r, state) && hd_checkpoint_save(path, model, state);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok && run_settle(r);
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

bool run_load(const run *r, int64_t step, hd_dict **model, hd_dict **state)
{
    char path[2 * PATH_SIZE];
    checkpoint_path(r, path, step);
    return hd_checkpoint_load(path, model, state);
}

bool run_restore(run *r, const hd_dict *model, const hd_dict *d)
{
    int64_t csv_size, jsonl_size;
    return hd_module_load_state_dict(r->model, model, true, NULL) &&
           hd_optim_load(r->optim, d, "optim") && hd_schedule_load(r->schedule, d, "schedule") &&
           hd_loader_load(r->loader, d, "loader") &&
           hd_generator_load(hd_default_generator(), d, "generator") &&
           hd_dict_get_int(d, "step", &r->step) && hd_dict_get_int(d, "best.step", &r->best_step) &&
           hd_dict_get_double(d, "best.loss", &r->best_loss) &&
           hd_dict_get_int(d, "log.csv", &csv_size) &&
           hd_dict_get_int(d, "log.jsonl", &jsonl_size) &&
           log_open(&r->log, r->dir, csv_size, jsonl_size);
}
