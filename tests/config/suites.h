/* suites.h - the suites of the config library, and the settings that they load. */
#ifndef HEED_TESTS_CONFIG_SUITES_H
#define HEED_TESTS_CONFIG_SUITES_H

#include "heed/config.h"
#include "support/leak_checked.h"

Suite *suite_load(void);
Suite *suite_set(void);
Suite *suite_effective(void);
Suite *suite_table(void);
Suite *suite_null(void);

const char *temporary(const char *name); /* a path in this run's folder; until the next call */
void write_file(const char *path, const char *bytes, size_t n);

/* ---------------------------------------------------------------- settings */

typedef struct settings {
    char untouched[8];
    int64_t seed;
    int emb_dim, n_heads, schedule;
    double lr;
    bool bias;
    char data[8];
} settings;

extern const hd_config_table settings_table; /* checks that n_heads divides emb_dim */

/* Every field differs from its default. */
settings changed_settings(void);
/* Loads from a text called "t.json", or says what went wrong. */
bool load_text(settings *s, const char *text);

#endif
