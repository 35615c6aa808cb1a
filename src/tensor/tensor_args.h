/* tensor_args.h - checks of tensor arguments, and the marking of freed tensors (tensor_args.c).
 * Each check returns true if the argument is fine; otherwise it sets an error and returns false. */
#ifndef HEED_TENSOR_TENSOR_ARGS_H
#define HEED_TENSOR_TENSOR_ARGS_H

#include "tensor/dtype.h"
#include "tensor/shape.h"

/* Sets the error for an x that a check below refuses, and returns false. For HD_NONE with none_ok,
 * returns true and sets no error. */
bool hd__tensor_arg_fail(const char *arg, const hd_tensor *x, bool none_ok);

/* True if x is a tensor of a dtype that heed computes with; otherwise sets an error:
 * - HD_NONE and NULL fail with HD_NULL_ARG. If x is NULL and an error is set already, that error
 *   stays (hd__arg_null_arg).
 * - A freed tensor fails with HD_STATE as long as it is recognised (base's quarantine.c). The
 *   message names the functions that freed it and made it.
 * - A number in place of a tensor fails with HD_VALUE.
 * - bfloat16 fails with HD_DTYPE: "hd_add: b is bfloat16, which is for storing only: ...". */
static inline bool hd__tensor_arg(const char *arg, const hd_tensor *x)
{
    return (hd__tensor_is_address(x) && hd__tensor_is_computed(x)) ||
           hd__tensor_arg_fail(arg, x, false);
}

/* True if x is a tensor of any dtype or, with none_ok, HD_NONE; otherwise false with the error of
 * hd__tensor_arg. For functions that do not compute. */
static inline bool hd__tensor_any_arg(const char *arg, const hd_tensor *x, bool none_ok)
{
    return (hd__tensor_is_address(x) &&
            (hd__tensor_is_tensor(x) || (none_ok && hd__tensor_is_none(x)))) ||
           hd__tensor_arg_fail(arg, x, none_ok);
}

/* hd__tensor_read_arg is true if x is a tensor of any dtype; otherwise it is false, with the error
 * of hd__tensor_arg. It is for a public function called `call` that only reads a field of x.
 * Programs call these functions often, and HD__CALL would take longer than the reading. So this
 * check sets hd__call only if x is wrong. */
bool hd__tensor_read_fail(const char *call, const hd_tensor *x);
static inline bool hd__tensor_read_arg(const char *call, const hd_tensor *x)
{
    return (hd__tensor_is_address(x) && hd__tensor_is_tensor(x)) || hd__tensor_read_fail(call, x);
}

/* True if x is HD_NONE or passes hd__tensor_arg; otherwise sets an error. */
static inline bool hd__tensor_arg_or_none(const char *arg, const hd_tensor *x)
{
    return (hd__tensor_is_address(x) && (hd__tensor_is_computed(x) || hd__tensor_is_none(x))) ||
           hd__tensor_arg_fail(arg, x, true);
}

/* True if each of xs[] passes hd__tensor_arg; otherwise sets an error. With `any`, HD_NONE and
 * every dtype pass, too. The message calls the tensors name[0], name[1] ... */
bool hd__tensor_args(const char *name, int64_t n, hd_tensor *const *xs, bool any);

static inline bool hd__tensor_two_args(const hd_tensor *a, const hd_tensor *b)
{
    return hd__tensor_arg("a", a) && hd__tensor_arg("b", b);
}
static inline bool hd__tensor_float_x(const hd_tensor *x)
{
    return hd__tensor_arg("x", x) && hd__tensor_float_arg(x);
}

/* Returns the seal of the freed tensor t: a checksum of fields that a message about t reads. */
static inline uintptr_t hd__tensor_seal_of(const hd_tensor *t)
{
    return (uintptr_t)t ^ (uintptr_t)t->freed_by ^ (uintptr_t)t->made_by;
}

/* Marks t as freed, and notes the function that freed it, for hd__tensor_arg's message. */
static inline void hd__tensor_bury(hd_tensor *t)
{
    t->freed_by = hd__call;
    t->seal = hd__tensor_seal_of(t);
    t->mark = 0;
    atomic_store_explicit(&t->refs, HD__REFS_FREED, memory_order_relaxed);
}

#endif
