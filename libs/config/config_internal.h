/* config_internal.h - libheed-config: JSON settings, checked and put into a struct.
 *
 * It may include heed/base.h, base's headers for siblings (base/sibling.h), and cJSON, which it
 * alone needs. Programs use it by heed/config.h; of heed's own, train_gpt. This header has what its
 * files share. */
#ifndef HEED_CONFIG_INTERNAL_H
#define HEED_CONFIG_INTERNAL_H

#include "base/error/args.h"
#include "base/error/speak.h"
#include "base/files/whole_file.h"
#include "base/system/shared.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "heed/config.h"

struct hd_config_source {
    const char *place; /* "gpt.json" */
    const char *call;  /* while the user's check runs: the function of this library that runs it */
};

enum { HD__CONFIG_LARGEST = 1 << 20 }; /* bytes of a file */
enum { HD__SHOWN = 96, HD__EXPECTED = 320 };

/* ---------------------------------------------------------------- texts (struct_json.c) */

/* Makes text fit for a message: short, and on one line. Returns out. */
const char *hd__config_shown(const char *text, char out[HD__SHOWN]);
#define HD__CONFIG_SHOWN(text) hd__config_shown((text), (char[HD__SHOWN]){0})

/* ---------------------------------------------------------------- the table (table.c) */

/* Is the table itself right? Every public function asks this first. */
bool hd__config_table_ok(const hd_config_table *t);
/* Writes what the field allows, "an integer from 1 to 96". Returns out. */
const char *hd__config_expected(const hd_config_field *f, char out[HD__EXPECTED]);

/* The bounds of the field, or of its C type where these are narrower. */
double hd__config_min(const hd_config_field *f);
double hd__config_max(const hd_config_field *f);

/* The number of the choice that text names; -1 if it names none. */
int hd__config_choice(const hd_config_field *f, const char *text);
/* Choice number i, of *n bytes; NULL after the last one. */
const char *hd__config_choice_at(const hd_config_field *f, int64_t i, size_t *n);

/* The length of path up to the end of its part number i: 5 of "model.n_layers" for i 0, 14 for 1.
 * 0 if it has no such part. */
size_t hd__config_prefix(const char *path, int i);

/* Reads the value of a field that is no text, and writes it. */
double hd__config_get(const hd_config_field *f, const void *config);
void hd__config_put(const hd_config_field *f, void *config, double v);

/* Runs the user's check. If it fails without an error, this sets one (load.c). */
bool hd__config_check(const hd_config_table *t, const void *config, const hd_config_source *from);

/* ---------------------------------------------------------------- suggestions (suggest.c) */

/* Writes to out the path of a field or an object in the table of which `path` may be a misspelling.
 * False if none is near. */
bool hd__config_meant(const hd_config_table *t, const char *path, char out[HD__SHOWN]);
/* The same for the choices of a field. */
bool hd__config_meant_choice(const hd_config_field *f, const char *text, char out[HD__SHOWN]);

#endif
