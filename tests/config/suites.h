/* suites.h - the suites of the config library, and the settings that they load. */
#ifndef HEED_TESTS_CONFIG_SUITES_H
#define HEED_TESTS_CONFIG_SUITES_H

#include "heed/config.h"
#include "support/files.h"
#include "support/leak_checked.h"
#include "support/scarce.h"

#define SUITES(X) X(load) X(set) X(effective) X(table) X(mutations) X(null)
SUITES(DECLARE_SUITE)

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

/* Settings in which every field differs from its default. */
settings changed_settings(void);
/* Loads from a text that is called "t.json", or sets the error. */
bool load_text(settings *s, const char *text);

#endif
