/* args.h - the checks of arguments that every library of heed makes, in one wording. Uses nothing
 * of heed but heed/base.h, so that a library beside libheed may compile it in. */
#ifndef HEED_BASE_ARGS_H
#define HEED_BASE_ARGS_H

#include "heed/base.h"

/* A call was given NULL for its argument `arg`: counts a failure, and sets HD_NULL_ARG naming both
 * unless an error stands (a chain is checked once, at its end). Returns NULL. */
void *hd__null_arg(const char *function, const char *arg);

/* Is p not NULL? Else fails as hd__null_arg. */
bool hd__given(const char *function, const char *arg, const void *p);

/* Does no error stand? Saving fails with HD_STATE while one does. */
bool hd__may_save(const char *function);

/* Is the size that an options struct or a type table begins with that of its type? Else HD_VALUE:
 * "hd_sgd_new: o->size 8: expected 48, as hd_sgd_defaults() gives". A smaller struct of an older
 * header and a larger one of a newer header are both refused. */
bool hd__size_ok(const char *function, const char *arg, size_t size, size_t expected,
                 const char *giver);
#define HD__SIZE_OK(function, o, giver) hd__size_ok(function, #o, (o)->size, sizeof *(o), giver)

/* The place of index i, which may count from the end, among n things: 0 to n - 1. Otherwise -1, and
 * HD_INDEX: "hd_list_get: index 5 of 3 tensors: expected -3 to 2". */
int64_t hd__index(const char *function, int64_t i, int64_t n, const char *things);

#endif
