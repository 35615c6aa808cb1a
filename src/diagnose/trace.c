/* trace.c - the lines of HEED_TRACE: how a line is put together, and those of modules and
 * optimizers, with what HEED_PROFILE counts of them. trace_graph.c has ops and nodes.
 *
 * A line lies on the stack and is written at once, so it is whole whatever other threads write, and
 * needs no memory. Only a line of many shapes is cut. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "diagnose/diagnose_internal.h"
#include "tensor/shape.h"

static pthread_key_t key; /* of what each thread remembers */
static bool key_made;

static void hearing_prepare(void)
{
    key_made = pthread_key_create(&key, free) == 0;
    hd__profile_prepare();
}

hd__hearing *hd__heard(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static hd__hearing spare; /* of all threads for which there is no memory */
    pthread_once(&once, hearing_prepare);
    hd__hearing *mine = key_made ? pthread_getspecific(key) : &spare;
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

void hd__line_add(hd__line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int room = HD__LINE_MOST - l->len;
    int n = vsnprintf(l->text + l->len, (size_t)room + 1, format, args);
    l->len += n < 0 ? 0 : n < room ? n : room;
    va_end(args);
}

void hd__line_begin(hd__line *l, const char *name)
{
    static atomic_int threads; /* that have written a line */
    hd__hearing *mine = hd__heard();
    l->len = 0;
    mine->thread = mine->thread ? mine->thread : atomic_fetch_add(&threads, 1) + 1;
    if (mine->thread > 1) {
        hd__line_add(l, "thread %d: ", mine->thread);
    }
    hd__line_add(l, "%*s%s", 2 * mine->depth, "", name);
}

void hd__line_tensors(hd__line *l, int64_t n, hd_tensor *const *x)
{
    for (int64_t i = 0; i < n; i++) {
        hd__line_add(l, " %s", hd__is_none(x[i]) ? "None" : HD__SHAPE(x[i]));
    }
}

void hd__line_end(hd__line *l, const char *module)
{
    if (module) {
        hd__line_add(l, " in %s", module);
    }
    strcpy(l->text + l->len, l->len == HD__LINE_MOST ? "...\n" : "\n");
    fflush(stdout); /* what the program printed before stands before it */
    fwrite(l->text, 1, strlen(l->text), stderr);
}

/* ---------------------------------------------------------------- modules and optimizers */

void hd__tell_forward(const char *type, hd_tensor *x)
{
    hd__line l;
    if (hd__debug_any() & HD__TRACES) {
        hd__line_begin(&l, hd__module);
        if (strcmp(hd__module, type) != 0) {
            hd__line_add(&l, ": %s", type);
        }
        hd__line_tensors(&l, x != NULL, &x);
        hd__line_end(&l, NULL);
        hd__heard()->depth++;
    }
}

void hd__hear_forward_ends(hd_tensor *y)
{
    hd__line l;
    hd__profile_end(false, &(hd__profiled){.name = "", .module = hd__module, .calls = 1});
    if (hd__debug_any() & HD__TRACES) {
        hd__heard()->depth--;
        hd__line_begin(&l, hd__module);
        hd__line_add(&l, " ->%s", y ? "" : " an error");
        hd__line_tensors(&l, y != NULL, &y);
        hd__line_end(&l, NULL);
    }
}

void hd__tell_step(const char *type, int64_t n, int64_t all)
{
    hd__line l;
    hd__profile_end(true, &(hd__profiled){.name = hd__call, .module = hd__module, .calls = 1});
    if (hd__debug_any() & HD__TRACES && n >= 0) {
        hd__line_begin(&l, hd__call);
        hd__line_add(&l, " %s: %" PRId64 " of %" PRId64 " parameters have a gradient", type, n,
                     all);
        hd__line_end(&l, hd__module);
    }
}
