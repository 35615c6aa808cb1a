/* rows_config.c - the rows of config.h. */
#include <stdio.h>
#include <string.h>

#include "faults_memory/faults.h"
#include "heed/config.h"

typedef struct settings {
    int64_t seed;
    int emb_dim, n_heads, schedule;
    double lr;
    bool bias;
    char data[16];
} settings;

static bool heads_fit(const void *config, const hd_config_source *from)
{
    const settings *s = config;
    return s->emb_dim % s->n_heads == 0 ||
           hd_config_refuse(from, "model.n_heads", "%d does not divide %d", s->n_heads, s->emb_dim);
}

static const hd_config_field fields[] = {
    HD_CONFIG_INT_OF(settings, seed, "seed", 1, 0, 1e15),
    HD_CONFIG_INT_OF(settings, emb_dim, "model.emb_dim", 8, 1, 96),
    HD_CONFIG_INT_OF(settings, n_heads, "model.n_heads", 2, 1, 96),
    HD_CONFIG_BOOL_OF(settings, bias, "model.bias", false),
    HD_CONFIG_DOUBLE_OF(settings, lr, "train.lr", 4e-4, 0, 1),
    HD_CONFIG_ENUM_OF(settings, schedule, "train.schedule", "cosine", "constant|cosine"),
    HD_CONFIG_STRING_OF(settings, data, "data", "input.txt"),
};
static const hd_config_table settings_table = HD_CONFIG_TABLE(settings, fields, heads_fit);

static const char text[] = "{\"seed\": 7, \"model\": {\"n_heads\": 4, \"bias\": true}, "
                           "\"train\": {\"schedule\": \"constant\"}, \"data\": \"k\\u00f6\"}";
static const char *const sets[] = {"train.lr=0.25", "data=a text", "model.bias=false"};

/* What every world has. */
static settings now;

static void begin(world *w)
{
    memset(&now, 0, sizeof now);
    hd_config_defaults(&settings_table, &now);
    hd_config_save(&settings_table, &now, in_folder(w, "old.json"));
    now.seed = 3;
    FILE *f = fopen(in_folder(w, "settings.json"), "w");
    fputs(text, f);
    fclose(f);
    world_add(w, "the settings", thing_of_bytes(&now, sizeof now));
}

static bool load(world *w, int n)
{
    return hd_config_load(&settings_table, &now, in_folder(w, "settings.json"), n, sets);
}

static bool load_text(const char *t, int n)
{
    return hd_config_load_text(&settings_table, &now, "a text", t, strlen(t), n, sets);
}

#define ROWS "faults_memory/rows_config.h"
#define TABLE table_config
#define NAME "config"
#define PARTS FILES
#define BEGIN begin
#include "faults_memory/table.h"
