/* tensor_args.c - the errors of wrong tensor arguments, such as NULL, a number or a freed tensor.
 *
 * quarantine.c in src/base explains how freed memory is kept. When a tensor loses its last
 * reference, hd__tensor_bury sets freed_by, the function that freed it, and seal, a checksum of the
 * fields that the message reads. If the memory was used again, the seal almost certainly does not
 * match; then the message says less, and heed does not follow the pointers in the memory. */
#include <inttypes.h>

#include "base/error/lasting.h"
#include "tensor/tensor_args.h"

#define RETURNED_IN_VAIN                                                                           \
    ". hd_scope_return was called for it in an inner scope, but moves a tensor only out of the "   \
    "innermost scope. Call it once for each scope, as in all = "                                   \
    "hd_scope_return(hd_cat(1, all, next))"

static bool freed_fail(const char *arg, const hd_tensor *x)
{
    if (hd__object_kind_at(x) != HD__NO_OBJECT) {
        return hd__object_wrong_object(HD__A_TENSOR, arg, x);
    }
    if (hd__tensor_refs_of(x) != HD__REFS_FREED || x->seal != hd__tensor_seal_of(x)) {
        return hd_fail(HD_STATE,
                       "%s is not a tensor: it was freed long ago, or the pointer never pointed "
                       "to one",
                       arg);
    }
    const char *by = x->freed_by ? x->freed_by : "";
    bool scope = strncmp(by, hd__lasting_scope_end, strlen("when its scope")) == 0;
    bool held = strstr(by, "_free"); /* an object, such as a dictionary, held x last */
    return hd_fail(HD_STATE, "%s was freed%s%s; %.100s made it%s", arg,
                   scope ? " "
                   : *by ? " by "
                         : "",
                   by, x->made_by,
                   scope && x->returned ? RETURNED_IN_VAIN
                   : scope              ? ". Keep it with hd_retain, hd_assign or hd_scope_return"
                   : held               ? ". Keep it with hd_retain or hd_assign"
                                        : "");
}

/* Returns the name of the called function's variant that takes a number: "hd_mul_scalar_" for
 * "hd_mul_". Returns "" if there is none, or if arg is "x", which is never a number. */
static const char *scalar_form(const char *arg, char text[32])
{
    static const char *const with_form[] = {"hd_add", "hd_sub", "hd_mul", "hd_div",
                                            "hd_pow", "hd_eq",  "hd_ne",  "hd_lt",
                                            "hd_le",  "hd_gt",  "hd_ge",  "hd_setitem"};
    for (size_t i = 0; i < sizeof with_form / sizeof *with_form; i++) {
        const size_t n = strlen(with_form[i]);
        const char *end = strncmp(hd__call, with_form[i], n) == 0 ? hd__call + n : "none";
        if ((*end == '\0' || strcmp(end, "_") == 0) && strcmp(arg, "x") != 0) {
            snprintf(text, 32, "%s_scalar%s", with_form[i], end);
            return text;
        }
    }
    return "";
}

/* Sets the error for a tensor argument that is NULL, and returns false. A literal 0 in place of a
 * tensor is NULL, too. So the message may name the variant of the function that takes a number. */
static bool null_fail(const char *arg, bool none_ok)
{
    char text[32];
    const char *form = scalar_form(arg, text);
    return none_ok ? hd__error_null_arg_or(arg, ": expected a tensor or HD_NONE")
           : *form ? hd_fail(HD_NULL_ARG, "%s is NULL. %s takes a number, such as 0", arg, form)
                   : hd__arg_null_arg(arg);
}

static bool number_fail(const char *arg, int number)
{
    char text[32];
    const char *form = scalar_form(arg, text);
    return hd_fail(HD_VALUE, "%s is the number %d: expected a tensor. %s %s a number", arg, number,
                   *form ? form : "hd_scalar_tensor", *form ? "takes" : "makes one of");
}

bool hd__tensor_arg_fail(const char *arg, const hd_tensor *x, bool none_ok)
{
    if (!x) {
        return null_fail(arg, none_ok);
    }
    if (!hd__tensor_is_address(x)) {
        return number_fail(arg, (int)(intptr_t)x);
    }
    if (hd__tensor_exists(x)) {
        return hd_fail(HD_DTYPE,
                       "%s is %s, which is for storing only: expected another dtype. "
                       "hd_to(x, HD_FLOAT32) converts it",
                       arg, hd_dtype_name(x->dtype));
    }
    return hd__tensor_is_none(x)
               ? none_ok || hd_fail(HD_NULL_ARG, "%s is HD_NONE: expected a tensor", arg)
               : freed_fail(arg, x);
}

bool hd__tensor_read_fail(const char *call, const hd_tensor *x)
{
    HD__CALL(call);
    return hd__tensor_arg_fail("x", x, false);
}

bool hd__tensor_exists(const hd_tensor *x)
{
    return hd__tensor_is_tensor(x);
}

bool hd__tensor_given(const char *arg, const hd_tensor *x, bool none_ok)
{
    return hd__tensor_any_arg(arg, x, none_ok);
}

bool hd__tensor_args(const char *name, int64_t n, hd_tensor *const *xs, bool any)
{
    bool ok = true;
    for (int64_t i = 0; i < n && ok; i++) {
        if (!hd__tensor_is_address(xs[i]) ||
            !(any ? hd__tensor_is_tensor(xs[i]) : hd__tensor_is_computed(xs[i]))) {
            char item[64];
            snprintf(item, sizeof item, "%s[%" PRId64 "]", name, i);
            ok = hd__tensor_arg_fail(item, xs[i], any);
        }
    }
    return ok;
}
