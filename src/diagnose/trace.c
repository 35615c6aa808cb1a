/* trace.c - writes the lines of HEED_TRACE for modules and optimizers, and counts their calls and
 * time for HEED_PROFILE. trace_graph.c writes the lines of ops and nodes.
 *
 * A line is built on the stack and written by one call, so lines of several threads do not mix, and
 * no memory is needed. A line that is too long is cut off. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "diagnose/diagnose_internal.h"
#include "tensor/shape.h"

static pthread_key_t key; /* the key of each thread's hd__trace_hearing */
static bool key_made;

static void hearing_prepare(void)
{
    key_made = pthread_key_create(&key, free) == 0;
    hd__profile_prepare();
}

hd__trace_hearing *hd__trace_heard(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /* shared by all threads that got no memory for one of their own */
    static hd__trace_hearing spare;
    pthread_once(&once, hearing_prepare);
    hd__trace_hearing *mine = key_made ? pthread_getspecific(key) : &spare;
    if (!mine) {
        mine = calloc(1, sizeof *mine);
        if (!mine || pthread_setspecific(key, mine) != 0) {
            free(mine);
            mine = &spare;
        }
    }
    return mine;
}

/* ---------------------------------------------------------------- lines */

void hd__trace_line_add(hd__trace_line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int room = HD__LINE_MOST - l->len;
    int n = vsnprintf(l->text + l->len, (size_t)room + 1, format, args);
    l->len += n < 0 ? 0 : n < room ? n : room;
    va_end(args);
}

void hd__trace_line_begin(hd__trace_line *l, const char *name)
{
    static atomic_int threads; /* the number of threads that have written a line */
    hd__trace_hearing *mine = hd__trace_heard();
    l->len = 0;
    mine->thread = mine->thread ? mine->thread : atomic_fetch_add(&threads, 1) + 1;
    if (mine->thread > 1) {
        hd__trace_line_add(l, "thread %d: ", mine->thread);
    }
    hd__trace_line_add(l, "%*s%s", 2 * mine->depth, "", name);
}

void hd__trace_line_tensors(hd__trace_line *l, int64_t n, hd_tensor *const *x)
{
    for (int64_t i = 0; i < n; i++) {
        hd__trace_line_add(l, " %s", hd__tensor_is_none(x[i]) ? "None" : HD__SHAPE(x[i]));
    }
}

void hd__trace_line_end(hd__trace_line *l, const char *module)
{
    if (module) {
        hd__trace_line_add(l, " in %s", module);
    }
    strcpy(l->text + l->len, l->len == HD__LINE_MOST ? "...\n" : "\n");
    fflush(stdout); /* so that the program's own output comes first */
    fwrite(l->text, 1, strlen(l->text), stderr);
}

/* ---------------------------------------------------------------- modules and optimizers */

void hd__trace_tell_forward(const char *type, hd_tensor *x)
{
    hd__trace_line l;
    if (hd__debug_any() & HD__TRACES) {
        hd__trace_line_begin(&l, hd__debug_module);
        if (strcmp(hd__debug_module, type) != 0) {
            hd__trace_line_add(&l, ": %s", type);
        }
        hd__trace_line_tensors(&l, x != NULL, &x);
        hd__trace_line_end(&l, NULL);
        hd__trace_heard()->depth++;
    }
}

void hd__hear_forward_ends(hd_tensor *y)
{
    hd__trace_line l;
    hd__profile_end(false,
                    &(hd__diagnose_profiled){.name = "", .module = hd__debug_module, .calls = 1});
    if (hd__debug_any() & HD__TRACES) {
        hd__trace_heard()->depth--;
        hd__trace_line_begin(&l, hd__debug_module);
        hd__trace_line_add(&l, " ->%s", y ? "" : " an error");
        hd__trace_line_tensors(&l, y != NULL, &y);
        hd__trace_line_end(&l, NULL);
    }
}

void hd__trace_tell_step(const char *type, int64_t n, int64_t all)
{
    hd__trace_line l;
    hd__profile_end(
        true, &(hd__diagnose_profiled){.name = hd__call, .module = hd__debug_module, .calls = 1});
    if (hd__debug_any() & HD__TRACES && n >= 0) {
        hd__trace_line_begin(&l, hd__call);
        hd__trace_line_add(&l, " %s: %" PRId64 " of %" PRId64 " parameters have a gradient", type,
                           n, all);
        hd__trace_line_end(&l, hd__debug_module);
    }
}
