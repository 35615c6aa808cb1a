/* saved.c - what every function that saves or loads the state of an object begins with: the check
 * of its arguments. */
#include "base/base_internal.h"

bool hd__state_given(const char *arg, const void *object, const void *d, const char *prefix)
{
    return hd__object(arg, object) && hd__object("d", d) && hd__given("prefix", prefix);
}
