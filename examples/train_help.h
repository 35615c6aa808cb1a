/* train_help.h - the texts of --help and --help-settings of train_gpt. */
#ifndef HEED_EXAMPLES_TRAIN_HELP_H
#define HEED_EXAMPLES_TRAIN_HELP_H

#include <stdio.h>

#include "train_settings.h"

enum { HELP_TEXT = 256 };

/* These write the values that a setting may have, such as "a whole number from 1 to 96", and its
 * default as a user writes it, or "empty". Both return out. */
const char *help_allowed(const hd_config_field *f, char out[HELP_TEXT]);
const char *help_default(const hd_config_field *f, char out[HELP_TEXT]);
/* Returns the heading of the group of settings that begins with setting i, or NULL if none begins
 * there. */
const char *help_heading(int64_t i);

void help_print(FILE *f);          /* train_gpt --help */
void help_print_settings(FILE *f); /* train_gpt --help-settings */

#endif
