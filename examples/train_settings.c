/* train_settings.c - the table of train_gpt's settings with the rows of train_fields.h, the check
 * of values that depend on each other, and the settings that a resumed run may change. */
#include "train_settings.h"

#include <string.h>
#include <unistd.h>

/* Here the rows of train_fields.h become the fields of the table. */
#define INT(field, value, min, max, resumed, help)                                                 \
    HD_CONFIG_INT_OF(settings, field, #field, value, min, max)
#define DOUBLE(field, value, min, max, resumed, help)                                              \
    HD_CONFIG_DOUBLE_OF(settings, field, #field, value, min, max)
#define BOOL(field, value, resumed, help) HD_CONFIG_BOOL_OF(settings, field, #field, value)
#define STRING(field, text, resumed, help) HD_CONFIG_STRING_OF(settings, field, #field, text)
#define ENUM(field, text, choices, resumed, help)                                                  \
    HD_CONFIG_ENUM_OF(settings, field, #field, text, choices)
static const hd_config_field fields[] = {
#include "train_fields.h"
};
#undef INT
#undef DOUBLE
#undef BOOL
#undef STRING
#undef ENUM

/* Here the same rows become the meanings of the settings. */
#define FREE true
#define FIXED false
#define INT(field, value, min, max, resumed, help)                                                 \
    {                                                                                              \
        help, resumed                                                                              \
    }
#define DOUBLE(field, value, min, max, resumed, help)                                              \
    {                                                                                              \
        help, resumed                                                                              \
    }
#define BOOL(field, value, resumed, help)                                                          \
    {                                                                                              \
        help, resumed                                                                              \
    }
#define STRING(field, text, resumed, help)                                                         \
    {                                                                                              \
        help, resumed                                                                              \
    }
#define ENUM(field, text, choices, resumed, help)                                                  \
    {                                                                                              \
        help, resumed                                                                              \
    }
const setting_meaning settings_meaning[] = {
#include "train_fields.h"
};

int64_t settings_warmup(const settings *s)
{
    int64_t share = s->train.steps / 20 < 50 ? s->train.steps / 20 : 50;
    return s->train.warmup_steps < 0 ? share : s->train.warmup_steps;
}

static bool check(const void *config, const hd_config_source *from)
{
    const settings *s = config;
    if (s->model.emb_dim % s->model.n_heads != 0) {
        return hd_config_refuse(from, "model.emb_dim", "%lld: expected a multiple of n_heads %lld",
                                (long long)s->model.emb_dim, (long long)s->model.n_heads);
    }
    if (s->train.schedule == SCHEDULE_COSINE && s->train.warmup_steps >= s->train.steps) {
        return hd_config_refuse(from, "train.warmup_steps", "%lld: expected less than steps %lld",
                                (long long)s->train.warmup_steps, (long long)s->train.steps);
    }
    if (s->data.tokenizer == TOKENIZER_BPE && (!s->data.vocab[0] || !s->data.merges[0])) {
        return hd_config_refuse(from, "data.tokenizer",
                                "bpe: expected data.vocab and data.merges to name its files");
    }
    return true;
}

const hd_config_table settings_table = HD_CONFIG_TABLE(settings, fields, check);

/* True if the n bytes of name are this word. A dash in name counts as an underscore. */
static bool is_word(const char *name, size_t n, const char *word)
{
    if (strlen(word) != n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if ((name[i] == '-' ? '_' : name[i]) != word[i]) {
            return false;
        }
    }
    return true;
}

const char *settings_find(const char *name)
{
    size_t n = strcspn(name, "=");
    for (int64_t i = 0; i < settings_table.n; i++) {
        const char *path = fields[i].path, *dot = strrchr(path, '.');
        if (is_word(name, n, path) || (dot && is_word(name, n, dot + 1))) {
            return path;
        }
    }
    return NULL;
}

/* Makes a path absolute, so that a run resumed from another folder still finds the file. Returns
 * false with an error if the path becomes too long. */
static bool make_absolute(const char *name, char path[PATH_SIZE])
{
    char here[PATH_SIZE], whole[2 * PATH_SIZE];
    if (path[0] == '\0' || path[0] == '/') {
        return true;
    }
    if (!getcwd(here, sizeof here) ||
        snprintf(whole, sizeof whole, "%s/%s", here, path) >= PATH_SIZE) {
        return hd_error_set(HD_VALUE, "%s: %.200s: the absolute path is too long", name, path);
    }
    memcpy(path, whole, strlen(whole) + 1);
    return true;
}

bool settings_find_files(settings *s)
{
    return make_absolute("data.text", s->data.text) && make_absolute("data.vocab", s->data.vocab) &&
           make_absolute("data.merges", s->data.merges);
}

/* ---------------------------------------------------------------- resuming */

enum { SHOWN = 128 };

/* Writes the value of a field to out, as messages show it. Returns out. */
static const char *shown(const hd_config_field *f, const settings *s, char out[SHOWN])
{
    const void *at = (const char *)s + f->offset;
    const char *choice = f->choices;
    if (f->type == HD_CONFIG_STRING) {
        snprintf(out, SHOWN, "\"%.120s\"", (const char *)at);
    } else if (f->type == HD_CONFIG_BOOL) {
        snprintf(out, SHOWN, "%s", *(const bool *)at ? "true" : "false");
    } else if (f->type == HD_CONFIG_INT) {
        snprintf(out, SHOWN, "%lld", (long long)*(const int64_t *)at);
    } else if (f->type == HD_CONFIG_DOUBLE) {
        snprintf(out, SHOWN, "%.15g", *(const double *)at);
    } else {
        for (int i = *(const int *)at; i > 0; i--) {
            choice = strchr(choice, '|') + 1;
        }
        snprintf(out, SHOWN, "%.*s", (int)strcspn(choice, "|"), choice);
    }
    return out;
}

static bool equal(const hd_config_field *f, const settings *a, const settings *b)
{
    const char *at_a = (const char *)a + f->offset, *at_b = (const char *)b + f->offset;
    return f->type == HD_CONFIG_STRING ? strcmp(at_a, at_b) == 0 : memcmp(at_a, at_b, f->room) == 0;
}

bool settings_go_on(const settings *was, const settings *now, const char *dir)
{
    char before[SHOWN], after[SHOWN];
    for (int64_t i = 0; i < settings_table.n; i++) {
        const hd_config_field *f = &fields[i];
        if (!equal(f, was, now) && !settings_meaning[i].free) {
            return hd_error_set(HD_VALUE, "%s: %s: the run has %s. A resumed run must keep it",
                                f->path, shown(f, now, after), shown(f, was, before));
        }
    }
    if (was->train.schedule == SCHEDULE_COSINE && was->train.steps != now->train.steps) {
        return hd_error_set(HD_VALUE,
                            "train.steps: %lld: the cosine schedule of %s was made for %lld steps. "
                            "Only a run that began with train.schedule=constant can change them",
                            (long long)now->train.steps, dir, (long long)was->train.steps);
    }
    for (int64_t i = 0; i < settings_table.n; i++) {
        const hd_config_field *f = &fields[i];
        if (!equal(f, was, now)) {
            printf("%s: %s, was %s\n", f->path, shown(f, now, after), shown(f, was, before));
        }
    }
    return true;
}
