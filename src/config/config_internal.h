/* config_internal.h - what the files of the config library offer to each other. */
#ifndef HEED_CONFIG_INTERNAL_H
#define HEED_CONFIG_INTERNAL_H

#include "base/args.h"
#include "base/json.h"
#include "base/text.h"
#include "base/whole.h"
#include "heed/config.h"

struct hd_config_source {
    const char *function, *place; /* "hd_config_load", "gpt.json" */
};

enum { HD__SHOWN = 96, HD__EXPECTED = 320, HD__NUMBER = 32 };

/* ---------------------------------------------------------------- texts (text.c) */

/* text for a message: short, on one line. Returns out. */
const char *hd__config_shown(const char *text, char out[HD__SHOWN]);
#define HD__CONFIG_SHOWN(text) hd__config_shown((text), (char[HD__SHOWN]){0})
/* As few digits as give v back, in every locale. Returns out. */
const char *hd__config_number(double v, char out[HD__NUMBER]);

/* ---------------------------------------------------------------- the table (table.c) */

/* Is the table itself right? Asked on every call. */
bool hd__config_table_ok(const char *function, const hd_config_table *t);
/* "an integer from 1 to 96" into out. */
const char *hd__config_expected(const hd_config_field *f, char out[HD__EXPECTED]);

/* The bounds that hold: the field's, and what its C type can hold. */
double hd__config_min(const hd_config_field *f);
double hd__config_max(const hd_config_field *f);

/* Which of the choices text is; -1: none. */
int hd__config_choice(const hd_config_field *f, const char *text);
/* The i-th choice, *n bytes of it; NULL behind the last. */
const char *hd__config_choice_at(const hd_config_field *f, int64_t i, size_t *n);

/* Bytes of path up to the end of its component number i, from 0; 0: it has fewer. */
size_t hd__config_prefix(const char *path, int i);

/* The value of a number or bool field, and back. */
double hd__config_get(const hd_config_field *f, const void *config);
void hd__config_put(const hd_config_field *f, void *config, double v);

/* The user's check, which must not fail silently (load.c). */
bool hd__config_check(const hd_config_table *t, const void *config, const hd_config_source *from);

/* ---------------------------------------------------------------- suggestions (suggest.c) */

/* The path in the table, of a field or an object, that `path` may be a misspelling of: into out;
 * false: none. */
bool hd__config_meant(const hd_config_table *t, const char *path, char out[HD__SHOWN]);
bool hd__config_meant_choice(const hd_config_field *f, const char *text, char out[HD__SHOWN]);

#endif
