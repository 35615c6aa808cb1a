/* args.h - the checks of arguments that every library of heed makes, in one wording.
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_BASE_ARGS_H
#define HEED_BASE_ARGS_H

#include "base/sibling.h"

/* The call was given NULL for its argument `arg`. Sets HD_NULL_ARG, which names both, unless an
 * error stands: a chain of calls is checked once, at its end. Counts a failure and returns NULL. */
void *hd__null_arg_to(const char *function, const char *arg);

/* Is p not NULL? If it is, fails as hd__null_arg_to does. */
HD__SIBLING bool hd__given_to(const char *function, const char *arg, const void *p);

/* n items of `size` bytes. False, without an error, if memory cannot have so many bytes. */
static inline bool hd__bytes(int64_t n, size_t size, size_t *bytes)
{
    return !__builtin_mul_overflow(n, size, bytes) && *bytes <= PTRDIFF_MAX;
}

/* As hd_alloc, for n items of `size` bytes: HD_MEMORY if their bytes overflow. */
HD__SIBLING void *hd__alloc_items(int64_t n, size_t size);

/* May something be saved? Not while an error stands: then it fails with HD_STATE. */
HD__SIBLING bool hd__may_save(const char *function);

/* Does an options struct or a type table begin with the size of its type? If not, fails with
 * HD_VALUE: "hd_sgd_new: o->size 8: expected 48, as hd_sgd_defaults() gives". The smaller struct of
 * an older header and the larger one of a newer header are refused too. */
HD__SIBLING bool hd__size_ok_to(const char *function, const char *arg, size_t size, size_t expected,
                                const char *giver);
#define HD__SIZE_OK_TO(function, o, giver)                                                         \
    hd__size_ok_to(function, #o, (o)->size, sizeof *(o), giver)

/* The place of index i among n things, from 0 to n - 1; a negative i counts from the end. If i is
 * out of range, returns -1 with HD_INDEX: "hd_list_get: index 5 of 3 tensors: expected -3 to 2". */
int64_t hd__index(const char *function, int64_t i, int64_t n, const char *things);

#endif
