/* train_settings.c - the table of train_gpt's settings: path, default, and what is allowed. Below
 * it are the settings that a resumed run may change. */
#include "train_settings.h"

#include <string.h>
#include <unistd.h>

#define INT(field, ...) HD_CONFIG_INT_OF(settings, field, #field, __VA_ARGS__)
#define DOUBLE(field, ...) HD_CONFIG_DOUBLE_OF(settings, field, #field, __VA_ARGS__)
#define BOOL(field, value) HD_CONFIG_BOOL_OF(settings, field, #field, value)
#define STRING(field, text) HD_CONFIG_STRING_OF(settings, field, #field, text)
#define ENUM(field, ...) HD_CONFIG_ENUM_OF(settings, field, #field, __VA_ARGS__)

static const hd_config_field fields[] = {
    STRING(out, ""),       /* the run's directory; "": the first free name of gpt-1, gpt-2, ... */
    STRING(data.text, ""), /* a file, or a folder with .c and .h files; "": heed's own sources */
    ENUM(data.tokenizer, "chars", "chars|bytes|bpe"),
    STRING(data.vocab, ""), /* bpe: GPT-2's vocab.json and merges.txt */
    STRING(data.merges, ""),
    DOUBLE(data.train_fraction, 0.9, 0.01, 0.99),
    INT(model.context_length, 64, 1, 1 << 20),
    INT(model.emb_dim, 96, 1, 1 << 16),
    INT(model.n_heads, 4, 1, 1024),
    INT(model.n_layers, 3, 1, GPT_MOST_LAYERS),
    DOUBLE(model.drop_rate, 0, 0, 1),
    BOOL(model.qkv_bias, false),
    INT(train.steps, 1000, 1, 1e9),
    INT(train.batch_size, 16, 1, 1 << 20),
    INT(train.accumulate, 1, 1, 1 << 20), /* the number of batches that make one step */
    INT(train.stride, 0, 0, 1 << 20),     /* from one window to the next; 0: context_length */
    DOUBLE(train.lr, 2e-3, 0, 10),
    ENUM(train.schedule, "cosine", "constant|cosine"),
    INT(train.warmup_steps, -1, -1, 1e9), /* for cosine; -1: a twentieth of steps, at most 50 */
    DOUBLE(train.min_lr, 1e-4, 0, 10),    /* for cosine: the last lr */
    DOUBLE(train.weight_decay, 0.1, 0, 10),
    DOUBLE(train.clip_norm, 1, 0, 1e9), /* 0: gradients are not clipped */
    INT(train.eval_every, 100, 1, 1e9),
    INT(train.eval_batches, 20, 1, 1e9),
    INT(train.save_every, 100, 1, 1e9),
    INT(train.sample_every, 500, 0, 1e9), /* 0: only at the end */
    INT(train.report_every, 25, 1, 1e9),  /* steps from one line of output to the next, in a pipe */
    INT(train.seed, 123, -1e15, 1e15),
    STRING(sample.prompt, ""), /* "": the beginning of the text */
    INT(sample.length, 400, 0, 1e9),
    DOUBLE(sample.temperature, 0.8, 0, 100),
    INT(sample.top_k, 0, 0, 1e9),
    DOUBLE(sample.top_p, 1, 0, 1),
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

/* Makes a path absolute, so that a run that is resumed from another folder still finds the file. */
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

const char *const settings_free[] = {
    "data.text", /* the file may move, but the text must be the same */
    "train.steps",        "train.accumulate",
    "train.clip_norm",    "train.eval_every",
    "train.eval_batches", "train.save_every",
    "train.sample_every", "train.report_every",
    "sample.prompt",      "sample.length",
    "sample.temperature", "sample.top_k",
    "sample.top_p",       NULL,
};

static bool is_free(const char *path)
{
    int i = 0;
    while (settings_free[i] && strcmp(settings_free[i], path) != 0) {
        i++;
    }
    return settings_free[i];
}

enum { SHOWN = 128 };

/* The value of a field as a text for messages. */
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
        if (!equal(f, was, now) && !is_free(f->path)) {
            return hd_error_set(HD_VALUE, "%s: %s: the run has %s (see --help)", f->path,
                                shown(f, now, after), shown(f, was, before));
        }
    }
    if (was->train.schedule == SCHEDULE_COSINE && was->train.steps != now->train.steps) {
        return hd_error_set(HD_VALUE,
                            "train.steps: %lld: the cosine schedule of %s was made for %lld (only "
                            "a run that began with train.schedule=constant can change its steps)",
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
