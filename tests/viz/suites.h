/* suites.h - the suites of the viz library, and what they share. */
#ifndef HEED_TESTS_VIZ_SUITES_H
#define HEED_TESTS_VIZ_SUITES_H

#include "heed/viz.h"
#include "support/leak_checked.h"

Suite *suite_axis(void);
Suite *suite_lines(void);
Suite *suite_attention(void);
Suite *suite_dot(void);
Suite *suite_files(void);
Suite *suite_null(void);

/* ---------------------------------------------------------------- files */

const char *temporary(const char *name);      /* a path in this run's folder; until the next call */
char *read_file(const char *path, size_t *n); /* free() */
int files_in_folder(void);                    /* of this run's */

/* ---------------------------------------------------------------- XML (xml.c) */

/* Fails the test unless text is one well-formed XML document (of the kind without DTD). */
void check_xml(const char *text);
/* How many elements of that name there are. */
int count_elements(const char *text, const char *name);
/* The i-th element of that name: where its tag begins. */
const char *element(const char *text, const char *name, int i);
/* An attribute of the tag at `tag`: as text into out ("" when there is none); as a number. */
const char *attribute(const char *tag, const char *name, char out[4096]);
double number_of(const char *tag, const char *name);
/* What stands between the tag and its end, unescaped. */
const char *content(const char *tag, char out[4096]);
/* The <text> whose content is this; NULL: there is none. */
const char *text_element(const char *text, const char *wanted);

#endif
