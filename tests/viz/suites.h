/* suites.h - the suites of the viz library, and the helpers that they share. */
#ifndef HEED_TESTS_VIZ_SUITES_H
#define HEED_TESTS_VIZ_SUITES_H

#include "heed/viz.h"
#include "support/files.h"
#include "support/leak_checked.h"
#include "support/scarce.h"

#define SUITES(X) X(axis) X(lines) X(attention) X(dot) X(files) X(null)
SUITES(DECLARE_SUITE)

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
/* The text between the tag and its end, unescaped. */
const char *content(const char *tag, char out[4096]);
/* The <text> element with this content, or NULL. */
const char *text_element(const char *text, const char *wanted);

#endif
