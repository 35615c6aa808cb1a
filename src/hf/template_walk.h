/* template_walk.h - the current token of a run, and what expressions are for statements. */
#ifndef HEED_HF_TEMPLATE_WALK_H
#define HEED_HF_TEMPLATE_WALK_H

#include "hf/template.h"

/* Is it this name or sign, or one of these? A list ends with NULL. */
bool hd__walk_is(const hd__token *t, const char *text);
bool hd__walk_is_one(const hd__token *t, const char *const *texts);

/* Goes to the next token. After a failure, and at the end of the text, that is the last one. */
void hd__walk_on(hd__run *r);
/* Fails at the current token. */
hd__value hd__walk_fail(hd__run *r, const char *expected);
/* Goes over a name or a sign: if it is the current token, or else fails. */
bool hd__walk_given(hd__run *r, const char *text);
void hd__walk_expect(hd__run *r, const char *text);
hd__value hd__walk_name(hd__run *r);
/* One level deeper, which the caller takes back. False: the run has failed. */
bool hd__walk_deeper(hd__run *r);

/* A variable; NULL: there is none of the name */
hd__value *hd__walk_find(hd__run *r, hd__value name);
hd__value hd__expression(hd__run *r);
/* One without an "if" of its own: level 0 is "or". */
hd__value hd__expression_level(hd__run *r, size_t level);

#endif
