/* draws.h - takes back the draws of a call that fails, so that a failed call has drawn nothing.
 *
 * A function that can fail after it drew encloses its work in begin and end:
 *   HD__DRAWS_BEGIN(d);
 *   hd_tensor *y = draw_and_compute(x);
 *   hd__draws_end(&d, y != NULL);
 *
 * They may be nested. Beginning costs nothing: the generator is copied at the first draw. Only the
 * first generator that the call draws from is put back; if it is freed, the next one that it draws
 * from. If another thread has drawn from it meanwhile, nothing is taken back, because two threads
 * would otherwise get the same numbers. */
#ifndef HEED_BASE_DRAWS_H
#define HEED_BASE_DRAWS_H

#include "base/random/rng.h"
#include "base/system/threads.h"

typedef struct hd__draws {
    struct hd__draws *outer;
    bool noted;              /* something was drawn; g and before are valid from then on */
    hd_generator *g, before; /* before: a copy of g before the draw */
} hd__draws;

extern HD__TLS hd__draws *hd__draws_top;

static inline void hd__draws_begin(hd__draws *d)
{
    d->outer = hd__draws_top;
    d->noted = false;
    hd__draws_top = d;
}

#define HD__DRAWS_BEGIN(d)                                                                         \
    hd__draws d;                                                                                   \
    hd__draws_begin(&d)

/* hd__draws_end if d has drawn or is not the innermost one. */
void hd__draws_end_slowly(hd__draws *d, bool keep);

/* keep: the call succeeded, and its draws stay. Also ends those that began after d and never
 * ended. */
static inline void hd__draws_end(hd__draws *d, bool keep)
{
    if (hd__draws_top == d && !d->noted) {
        hd__draws_top = d->outer;
    } else {
        hd__draws_end_slowly(d, keep);
    }
}

/* Called before this thread draws from g, which it has locked. */
void hd__draws_note(hd_generator *g);
/* Called when g is freed. */
void hd__draws_forget(const hd_generator *g);

#endif
