/* config_internal.h - the functions that the files of libheed-config share.
 *
 * libheed-config reads JSON settings, checks them against a table, and writes them to a struct of
 * the program. It includes heed/base.h, base's headers for siblings (base/sibling.h) and cJSON. */
#ifndef HEED_CONFIG_INTERNAL_H
#define HEED_CONFIG_INTERNAL_H

#include "base/error/args.h"
#include "base/error/speak.h"
#include "base/files/whole_file.h"
#include "base/system/shared.h"
#include "base/text/json.h"
#include "base/text/text.h"
#include "heed/config.h"

struct hd_config_source {
    const char *place; /* where the values came from, for messages: "gpt.json" */
    const char *call;  /* the public function that runs the table's check; NULL: no check runs */
};

enum { HD__CONFIG_LARGEST = 1 << 20 };       /* the most bytes that a file may have */
enum { HD__SHOWN = 96, HD__EXPECTED = 320 }; /* bytes of buffers for parts of a message */

/* ---------------------------------------------------------------- texts (struct_json.c) */

/* Returns out, a copy of text for a message: cut to fit, with '?' for controls and bad UTF-8. */
const char *hd__config_shown(const char *text, char out[HD__SHOWN]);
#define HD__CONFIG_SHOWN(text) hd__config_shown((text), (char[HD__SHOWN]){0})

/* ---------------------------------------------------------------- the table (table.c) */

/* False, with an error, if the table itself is wrong. Every public function calls this first. */
bool hd__config_table_ok(const hd_config_table *t);
/* Writes the values that the field allows: "an integer from 1 to 96". Returns out. */
const char *hd__config_expected(const hd_config_field *f, char out[HD__EXPECTED]);

/* The smallest and the largest value that both the field and its C type allow. */
double hd__config_min(const hd_config_field *f);
double hd__config_max(const hd_config_field *f);

/* The number of the choice that is equal to text; -1 if there is none. */
int hd__config_choice(const hd_config_field *f, const char *text);
/* Choice i, which has *n bytes and no zero at its end; NULL if i is past the last choice. */
const char *hd__config_choice_at(const hd_config_field *f, int64_t i, size_t *n);

/* The length of path up to the end of its part i; 0 if path has no part i. Of "model.n_layers" it
 * is 5 for i = 0 and 14 for i = 1. */
size_t hd__config_prefix(const char *path, int i);

/* Reads and writes the value of a field in the struct at config. Not for HD_CONFIG_STRING. */
double hd__config_get(const hd_config_field *f, const void *config);
void hd__config_put(const hd_config_field *f, void *config, double v);

/* Runs the table's check, if it has one (load.c). If the check fails without an error, sets one. */
bool hd__config_check(const hd_config_table *t, const void *config, const hd_config_source *from);

/* ---------------------------------------------------------------- suggestions (suggest.c) */

/* Writes to out the path of the table's field or object that is nearest to the misspelled `path`.
 * False if none is near. */
bool hd__config_meant(const hd_config_table *t, const char *path, char out[HD__SHOWN]);
/* As hd__config_meant, for the choices of a field. */
bool hd__config_meant_choice(const hd_config_field *f, const char *text, char out[HD__SHOWN]);

#endif
