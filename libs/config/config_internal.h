/* config_internal.h - the functions that the files of libheed-config share.
 *
 * libheed-config reads JSON settings into a program's struct, as a table describes them. It
 * includes heed/base.h, cJSON, and those headers of base that base/sibling.h permits to the
 * libraries in libs/. */
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
    const char *place; /* where the values come from, for messages: "gpt.json" */
    const char *call;  /* the public function that messages name; NULL: the one that runs now */
};

enum { HD__CONFIG_LARGEST = 1 << 20 };       /* the size of the largest file, in bytes */
enum { HD__SHOWN = 96, HD__EXPECTED = 320 }; /* sizes in bytes of buffers for a message */

/* ---------------------------------------------------------------- texts (struct_json.c) */

/* Copies text to out as messages show it: cut to fit into out, with '?' in place of control
 * characters and of bytes that are not UTF-8. Returns out. */
const char *hd__config_shown(const char *text, char out[HD__SHOWN]);
#define HD__CONFIG_SHOWN(text) hd__config_shown((text), (char[HD__SHOWN]){0})

/* ---------------------------------------------------------------- the table (table.c) */

/* Returns false with an error if the table itself is wrong. Every public function that takes a
 * table calls this. */
bool hd__config_table_ok(const hd_config_table *t);
/* Writes the values that the field allows to out, such as "an integer from 1 to 96". Returns
 * out. */
const char *hd__config_expected(const hd_config_field *f, char out[HD__EXPECTED]);

/* hd__config_min and hd__config_max return the smallest and the largest value that both the field
 * and its C type allow. */
double hd__config_min(const hd_config_field *f);
double hd__config_max(const hd_config_field *f);

/* Returns the number of the field's choice that equals text, or -1 if none does. */
int hd__config_choice(const hd_config_field *f, const char *text);
/* Returns the field's choice number i, and sets *n to its length. Returns NULL after the last
 * choice. */
const char *hd__config_choice_at(const hd_config_field *f, int64_t i, size_t *n);

/* Returns the length of path up to the end of its part i, or 0 if there is no part i. For
 * "model.n_layers" this is 5 if i is 0, and 14 if i is 1. */
size_t hd__config_prefix(const char *path, int i);

/* hd__config_get returns the value of a field of config, and hd__config_put sets it. The type of
 * the field is not HD_CONFIG_STRING. */
double hd__config_get(const hd_config_field *f, const void *config);
void hd__config_put(const hd_config_field *f, void *config, double v);

/* Runs the table's check on config, if the table has one (load.c). Returns false with an error if
 * the check returns false. */
bool hd__config_check(const hd_config_table *t, const void *config, const hd_config_source *from);

/* ---------------------------------------------------------------- suggestions (suggest.c) */

/* Copies to out the path of the field or object that is nearest to `path`, cut to fit. Returns
 * false, without an error, if none is near. */
bool hd__config_meant(const hd_config_table *t, const char *path, char out[HD__SHOWN]);
/* Copies to out the choice of the field that is nearest to `text`, cut to fit. Returns false,
 * without an error, if none is near. */
bool hd__config_meant_choice(const hd_config_field *f, const char *text, char out[HD__SHOWN]);

#endif
