/* call.c - the names with which messages begin, and the name that objects remember.
 *
 * "GPT: my_loss: hd_mm: ..." has all three names that can be set on a thread: the class whose
 * forward runs, the program's function that HD_CALL names, and heed's function that the program
 * called (hd__call). A forward begins without a name from HD_CALL. So messages from inside it name
 * a function of the program only if the forward has called that function.
 *
 * An object remembers names for as long as it lives, but a program's text may be unloaded with its
 * plugin. So HD_CALL's names are copied. */
#include <stdio.h>

#include "base/error/call.h"
#include "base/error/debug.h"
#include "base/error/lasting.h"

HD__TLS const char *hd__call;

/* The HD_CALL that is active on this thread: a copy of its name that lasts as long as the process
 * (NULL if no HD_CALL is active), and the forward in which it began. */
static HD__TLS hd_call program;

hd__call_forward (*_Atomic hd__forward_now)(void);

static hd__call_forward now_running(void)
{
    hd__call_forward (*f)(void) = hd__forward_now;
    return f ? f() : (hd__call_forward){NULL, NULL};
}

/* Returns the name that HD_CALL set inside the forward f, or NULL. */
static const char *program_call(hd__call_forward f)
{
    return program.forward == f.id ? program.name : NULL;
}

hd_call hd_call_begin(const char *name)
{
    HD__CALL("hd_call_begin");
    const hd_call before = program;
    const hd__call_forward f = now_running();
    if (hd__arg_given("name", name) && !program_call(f)) {
        program = (hd_call){hd__lasting_text(name), f.id};
        if (!(hd__debug_any() & HD__NAMES_CALLS)) {
            atomic_fetch_or(&hd__debug, HD__NAMES_CALLS);
        }
    }
    return before;
}

void hd_call_end(hd_call before)
{
    program = before;
}

const char *hd__call_enter(const char *name)
{
    return hd__call_swap(hd__call ? hd__call : hd__lasting_text(name));
}

const char *hd__call_exchange(const char *now)
{
    return hd__call_swap(now);
}

const char *hd__call_kept(void)
{
    const char *name = program_call(now_running());
    return name ? name : hd__call;
}

int hd__call_write(char *text, size_t size)
{
    const hd__call_forward f = now_running();
    const char *names[] = {f.class, program_call(f), hd__call};
    int n = 0;
    for (int i = 0; i < 3; i++) {
        if (names[i]) {
            n += snprintf(text + n, size - (size_t)n, "%.100s: ", names[i]);
        }
    }
    return n;
}
