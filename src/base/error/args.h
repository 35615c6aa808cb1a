/* args.h - what functions of every library of heed begin with: the checks of arguments, in one
 * wording, and a scope. Messages begin with the call (HD__CALL).
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_BASE_ARGS_H
#define HEED_BASE_ARGS_H

#include "base/sibling.h"

/* The call was given NULL for its argument `arg`. Sets HD_NULL_ARG, which names both, unless an
 * error stands: a chain of calls is checked once, at its end. Counts a failure and returns NULL.
 * expected: what the message says after that, ": expected ..." or "". */
HD__SIBLING void *hd__error_null_arg_or(const char *arg, const char *expected);
static inline void *hd__arg_null_arg(const char *arg)
{
    return hd__error_null_arg_or(arg, "");
}

/* Is p not NULL? If it is, fails as hd__arg_null_arg does. */
static inline bool hd__arg_given(const char *arg, const void *p)
{
    return p || hd__arg_null_arg(arg);
}

/* n items of `size` bytes. False, without an error, if memory cannot have so many bytes. */
static inline bool hd__arg_bytes(int64_t n, size_t size, size_t *bytes)
{
    return !__builtin_mul_overflow(n, size, bytes) && *bytes <= PTRDIFF_MAX;
}

/* As hd_alloc, for n items of `size` bytes: HD_MEMORY if their bytes overflow. */
HD__SIBLING void *hd__arg_alloc_items(int64_t n, size_t size);

/* May something be saved? Not while an error stands: then it fails with HD_STATE. */
static inline bool hd__arg_may_save(void)
{
    return hd_error_code() == HD_OK || hd_fail(HD_STATE, "an error stands: nothing is written");
}

/* Does an options struct or a type table begin with the size of its type? If not, fails with
 * HD_VALUE: "hd_sgd_new: o->size 8: expected 48, as hd_sgd_defaults() gives". The smaller struct of
 * an older header and the larger one of a newer header are refused too. */
HD__SIBLING bool hd__arg_size_ok(const char *arg, size_t size, size_t expected, const char *giver);
#define HD__SIZE_OK(o, giver) hd__arg_size_ok(#o, (o)->size, sizeof *(o), giver)

/* The place of index i among n things, from 0 to n - 1; a negative i counts from the end. If i is
 * out of range, returns -1 with HD_INDEX: "hd_list_get: index 5 of 3 tensors: expected -3 to 2". */
int64_t hd__arg_index(int64_t i, int64_t n, const char *things);

/* HD_SCOPE, which gives up if memory runs out: without a scope of its own, a function
 * would leave its temporaries to the caller, and could succeed while that error stands. It has no
 * place: messages tell that of the program's scope.
 *   HD__SCOPE_OR(NULL); */
#define HD__SCOPE_OR(failure)                                                                      \
    hd_scope *HD__JOIN(hd_scope_at_, __LINE__)                                                     \
        __attribute__((cleanup(hd_scope_cleanup), unused)) = hd_scope_open_at(NULL, 0);            \
    if (!HD__JOIN(hd_scope_at_, __LINE__)) {                                                       \
        return failure;                                                                            \
    }                                                                                              \
    (void)0

#endif
