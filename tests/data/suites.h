/* suites.h - the suites of the data layer, one a topic; main.c runs them all. */
#ifndef TESTS_DATA_SUITES_H
#define TESTS_DATA_SUITES_H

#include <stdio.h>
#include <stdlib.h>

#include "data/data_internal.h"
#include "support/golden_reader.h"
#include "support/support.h"

Suite *suite_generator(void);
Suite *suite_tokens(void);
Suite *suite_windows(void);
Suite *suite_loader(void);
Suite *suite_tokenizers(void);
Suite *suite_bpe(void);
Suite *suite_memory(void);

/* tests/golden/data.txt, for the program's life. */
const golden_file *golden_data(void);

/* A path in the test's own folder, which is made at first use and emptied at exit. */
const char *temporary(const char *name);
/* The same, with a file of these bytes there. */
const char *file_of(const char *name, const void *bytes, size_t size);

/* The ids 0 .. n - 1 as tokens, to be freed. */
hd_tokens *counted_tokens(int64_t n);

#endif
