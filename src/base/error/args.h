/* args.h - the checks of arguments that all libraries of heed share, and HD__SCOPE_OR, a scope for
 * heed's own functions. The messages of the checks have one wording, and begin with the name of the
 * public function (HD__CALL).
 *
 * The libraries in libs/ may include this header (base/sibling.h). */
#ifndef HEED_BASE_ARGS_H
#define HEED_BASE_ARGS_H

#include "base/sibling.h"

/* Fails with HD_NULL_ARG because argument `arg` is NULL: "hd_add: b is NULL", followed by
 * `expected`, which is ": expected ..." or "". An error that is set already stays, because a
 * program checks a chain of calls once, at its end. Returns NULL. */
HD__SIBLING void *hd__error_null_arg_or(const char *arg, const char *expected);
static inline void *hd__arg_null_arg(const char *arg)
{
    return hd__error_null_arg_or(arg, "");
}

/* Checks that p is not NULL. Otherwise returns false with HD_NULL_ARG. */
static inline bool hd__arg_given(const char *arg, const void *p)
{
    return p || hd__arg_null_arg(arg);
}

/* Sets *bytes to n * size. Returns false without an error if the product is more than
 * PTRDIFF_MAX. */
static inline bool hd__arg_bytes(int64_t n, size_t size, size_t *bytes)
{
    return !__builtin_mul_overflow(n, size, bytes) && *bytes <= PTRDIFF_MAX;
}

/* Returns memory for n items of `size` bytes, which hd_free frees. Returns NULL with HD_MEMORY if
 * memory runs out or n * size overflows. */
HD__SIBLING void *hd__arg_alloc_items(int64_t n, size_t size);

/* Checks that no error is set. Otherwise returns false with HD_STATE. Functions that write files
 * begin with this check, so that they never save the results of failed calls. */
static inline bool hd__arg_may_save(void)
{
    return hd_error_code() == HD_OK ||
           hd_fail(HD_STATE,
                   "an earlier error is set, so nothing is written. Call hd_error_clear first");
}

/* Checks that an options struct or a type table begins with the size of its type. Otherwise returns
 * false with HD_VALUE: "hd_sgd_new: o->size 8: expected 48, as hd_sgd_defaults() gives". Here arg
 * is "o", and giver is "hd_sgd_defaults()". So a struct that was compiled with an older or a newer
 * header is an error. */
HD__SIBLING bool hd__arg_size_ok(const char *arg, size_t size, size_t expected, const char *giver);
#define HD__SIZE_OK(o, giver) hd__arg_size_ok(#o, (o)->size, sizeof *(o), giver)

/* Returns the position, from 0 to n - 1, of index i among n things; a negative i counts from the
 * end. If i is out of range, returns -1 with HD_INDEX: "hd_list_get: index 5 of 3 tensors: expected
 * -3 to 2". */
int64_t hd__arg_index(int64_t i, int64_t n, const char *things);

/* Opens a scope until the end of the block, for heed's own functions. If memory runs out for the
 * scope, the function returns `failure`. With HD_SCOPE, the function would then continue, leave its
 * temporaries to the caller's scope, and could succeed although an error is set. The scope has no
 * file and line, so messages name the program's scope.
 *   HD__SCOPE_OR(NULL); */
#define HD__SCOPE_OR(failure)                                                                      \
    hd_scope *HD__JOIN(hd_scope_at_, __LINE__)                                                     \
        __attribute__((cleanup(hd_scope_cleanup), unused)) = hd_scope_open_at(NULL, 0);            \
    if (!HD__JOIN(hd_scope_at_, __LINE__)) {                                                       \
        return failure;                                                                            \
    }                                                                                              \
    (void)0

#endif
