/* suites.h - the suites of the tokenizers, one for each topic; main.c runs them all. */
#ifndef TESTS_TOKENIZERS_SUITES_H
#define TESTS_TOKENIZERS_SUITES_H

#include <stdio.h>
#include <stdlib.h>

#include "support/files.h"
#include "support/golden_reader.h"
#include "support/run_suites.h"
#include "support/support.h"
#include "tokenizers/chars.h"
#include "tokenizers/tokenizer.h"

#define SUITES(X) X(tokenizers) X(bpe) X(model_files) X(added) X(memory)
SUITES(DECLARE_SUITE)

/* A number below n, and string `number`: a short one, and from 1000000 on a long one, which is a
 * few pieces that repeat, or many. hd_free the text. */
uint64_t random_below(uint64_t *state, uint64_t n);
hd__text random_string(int number);

/* The texts of random ids, half of them below `low`, have the hashes in want. */
void ck_decodes(const char *name, hd_tokenizer *t, uint64_t low, const golden_record *want);

#endif
