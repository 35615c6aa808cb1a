/* main.c - runs every suite of the config library. */
#include "suites.h"

/* ---------------------------------------------------------------- settings */

static const hd_config_field fields[] = {
    HD_CONFIG_INT_OF(settings, seed, "seed", 123, -9e15, 9e15),
    HD_CONFIG_INT_OF(settings, emb_dim, "model.emb_dim", 768, 1, 65536),
    HD_CONFIG_INT_OF(settings, n_heads, "model.n_heads", 12, 1, 64),
    HD_CONFIG_BOOL_OF(settings, bias, "model.qkv.bias", false),
    HD_CONFIG_DOUBLE_OF(settings, lr, "train.lr", 4e-4, 0, 1),
    HD_CONFIG_ENUM_OF(settings, schedule, "train.schedule", "cosine", "constant|linear|cosine"),
    HD_CONFIG_STRING_OF(settings, data, "data", "a.txt"),
};

static bool check(const void *config, const hd_config_source *from)
{
    const settings *s = config;
    return s->emb_dim % s->n_heads == 0 ||
           hd_config_refuse(from, "model.n_heads",
                            "found %d: expected a divisor of model.emb_dim, %d", s->n_heads,
                            s->emb_dim);
}

const hd_config_table settings_table = HD_CONFIG_TABLE(settings, fields, check);

settings changed_settings(void)
{
    settings s = {"keep", -5, 64, 4, 1, 0.1, true, "b\"\\\xc3\xa9"};
    return s;
}

bool load_text(settings *s, const char *text)
{
    return hd_config_load_text(&settings_table, s, "t.json", text, strlen(text), 0, NULL);
}

/* ---------------------------------------------------------------- main */

int main(void)
{
    int result = folder_make() ? RUN_SUITES(SUITES) : EXIT_FAILURE;
    folder_remove();
    return result;
}
