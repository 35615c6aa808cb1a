/* tensor_args.h - the checks of arguments that are tensors, and what is known of a freed one
 * (tensor_args.c). */
#ifndef HEED_TENSOR_TENSOR_ARGS_H
#define HEED_TENSOR_TENSOR_ARGS_H

#include "tensor/dtype.h"
#include "tensor/shape.h"

/* Fails for x, which is NULL, a number, HD_NONE or freed, or of a dtype for storing; none_ok: not
 * for HD_NONE. */
bool hd__tensor_arg_fail(const char *arg, const hd_tensor *x, bool none_ok);

/* Is x a tensor, of a dtype that heed computes with? HD_NONE sets HD_NULL_ARG, and so does NULL,
 * but there an error that stands already stays (hd__arg_null_arg). A freed tensor sets HD_STATE,
 * with how it was freed and what made it, as long as it is found to be freed (base's quarantine.c).
 * bfloat16 sets HD_DTYPE: "hd_add: b is bfloat16, which is for storing only: ...". */
static inline bool hd__tensor_arg(const char *arg, const hd_tensor *x)
{
    return (hd__tensor_is_address(x) && hd__tensor_is_computed(x)) ||
           hd__tensor_arg_fail(arg, x, false);
}

/* The same for a function that takes every dtype, as it does not compute. none_ok: it takes
 * HD_NONE, too. */
static inline bool hd__tensor_any_arg(const char *arg, const hd_tensor *x, bool none_ok)
{
    return (hd__tensor_is_address(x) &&
            (hd__tensor_is_tensor(x) || (none_ok && hd__tensor_is_none(x)))) ||
           hd__tensor_arg_fail(arg, x, none_ok);
}

/* The same in a public function that only reads a field of x. Programs call these often, and
 * HD__CALL would take longer than the reading, so `call` becomes the call only if x is wrong. */
bool hd__tensor_read_fail(const char *call, const hd_tensor *x);
static inline bool hd__tensor_read_arg(const char *call, const hd_tensor *x)
{
    return (hd__tensor_is_address(x) && hd__tensor_is_tensor(x)) || hd__tensor_read_fail(call, x);
}

/* hd__tensor_arg where HD_NONE is taken, too. */
static inline bool hd__tensor_arg_or_none(const char *arg, const hd_tensor *x)
{
    return (hd__tensor_is_address(x) && (hd__tensor_is_computed(x) || hd__tensor_is_none(x))) ||
           hd__tensor_arg_fail(arg, x, true);
}

/* Are all of them tensors? any: HD_NONE and every dtype are taken. The message calls them name[0],
 * name[1] ... */
bool hd__tensor_args(const char *name, int64_t n, hd_tensor *const *xs, bool any);

/* Are the arguments a and b tensors? Is x one, of a float dtype? */
static inline bool hd__tensor_two_args(const hd_tensor *a, const hd_tensor *b)
{
    return hd__tensor_arg("a", a) && hd__tensor_arg("b", b);
}
static inline bool hd__tensor_float_x(const hd_tensor *x)
{
    return hd__tensor_arg("x", x) && hd__tensor_float_arg(x);
}

static inline uintptr_t hd__tensor_seal_of(const hd_tensor *t)
{
    return (uintptr_t)t ^ (uintptr_t)t->freed_by ^ (uintptr_t)t->made_by;
}

/* Writes over t, whose last holder is gone, what the message of hd__tensor_arg will tell
 * (tensor_args.c). From then on t is known as freed. */
static inline void hd__tensor_bury(hd_tensor *t)
{
    t->freed_by = hd__call;
    t->seal = hd__tensor_seal_of(t);
    t->mark = 0;
    atomic_store_explicit(&t->refs, HD__REFS_FREED, memory_order_relaxed);
}

#endif
