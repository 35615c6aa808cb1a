/* args.h - the checks of arguments with which functions of all heed libraries begin, in one
 * wording, and a scope for them. Messages begin with the call (HD__CALL).
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_BASE_ARGS_H
#define HEED_BASE_ARGS_H

#include "base/sibling.h"

/* Fails with HD_NULL_ARG because argument `arg` is NULL: "hd_add: b is NULL", followed by
 * `expected`, which is ": expected ..." or "". A standing error stays, because a chain of calls is
 * checked once, at its end. Returns NULL. */
HD__SIBLING void *hd__error_null_arg_or(const char *arg, const char *expected);
static inline void *hd__arg_null_arg(const char *arg)
{
    return hd__error_null_arg_or(arg, "");
}

/* True if p is not NULL; otherwise fails as hd__arg_null_arg does. */
static inline bool hd__arg_given(const char *arg, const void *p)
{
    return p || hd__arg_null_arg(arg);
}

/* Sets *bytes to n * size. Returns false, without an error, if memory cannot have that many
 * bytes. */
static inline bool hd__arg_bytes(int64_t n, size_t size, size_t *bytes)
{
    return !__builtin_mul_overflow(n, size, bytes) && *bytes <= PTRDIFF_MAX;
}

/* Allocates n items of `size` bytes. Fails with HD_MEMORY if memory runs out or n * size
 * overflows. */
HD__SIBLING void *hd__arg_alloc_items(int64_t n, size_t size);

/* True if no error is set; otherwise fails with HD_STATE. Functions that save call it first. */
static inline bool hd__arg_may_save(void)
{
    return hd_error_code() == HD_OK ||
           hd_fail(HD_STATE, "an earlier error is not cleared: nothing is written");
}

/* True if an options struct or a type table begins with the size of its type. Otherwise fails with
 * HD_VALUE: "hd_sgd_new: o->size 8: expected 48, as hd_sgd_defaults() gives". A struct from an
 * older or a newer header is refused. */
HD__SIBLING bool hd__arg_size_ok(const char *arg, size_t size, size_t expected, const char *giver);
#define HD__SIZE_OK(o, giver) hd__arg_size_ok(#o, (o)->size, sizeof *(o), giver)

/* Returns the position, from 0 to n - 1, of index i among n things; a negative i counts from the
 * end. If i is out of range, returns -1 with HD_INDEX: "hd_list_get: index 5 of 3 tensors: expected
 * -3 to 2". */
int64_t hd__arg_index(int64_t i, int64_t n, const char *things);

/* HD_SCOPE for heed's own functions: returns `failure` if memory runs out. Without a scope of its
 * own, a function would leave its temporaries to the caller, and could succeed while that error
 * stands. The scope has no file and line, so messages name the program's scope.
 *   HD__SCOPE_OR(NULL); */
#define HD__SCOPE_OR(failure)                                                                      \
    hd_scope *HD__JOIN(hd_scope_at_, __LINE__)                                                     \
        __attribute__((cleanup(hd_scope_cleanup), unused)) = hd_scope_open_at(NULL, 0);            \
    if (!HD__JOIN(hd_scope_at_, __LINE__)) {                                                       \
        return failure;                                                                            \
    }                                                                                              \
    (void)0

#endif
