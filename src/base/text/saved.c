/* saved.c - what every function that saves or loads the state of an object begins with: the check
 * of its arguments, and the names in the dictionary. */
#include <inttypes.h>

#include "base/base_internal.h"

bool hd__state_given(const char *arg, const void *object, const void *d, const char *prefix)
{
    return hd__object(arg, object) && hd__object("d", d) && hd__given("prefix", prefix);
}

const char *hd__key(hd__text *t, const char *prefix, const char *list, int64_t i, const char *name)
{
    hd__text_cut(t, 0);
    hd__text_format(t, "%s%s", prefix, *prefix ? "." : "");
    if (list) {
        hd__text_format(t, "%s.%" PRId64 ".", list, i);
    }
    hd__text_puts(t, name);
    return t->failed ? NULL : t->s;
}
