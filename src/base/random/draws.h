/* draws.h - what a call drew from a generator, so that it can be taken back if the call fails.
 *
 * A call that fails has drawn nothing. Where a call can fail after it drew, begin and end enclose
 * it:
 *   HD__DRAWS_BEGIN(d);
 *   hd_tensor *y = draw_and_compute(x);
 *   hd__draws_end(&d, y != NULL);
 *
 * They may be nested. Beginning costs nothing: the generator is copied only when the first number
 * is drawn. What is taken back concerns the generator that is drawn from first, of those that were
 * not freed. If another thread drew from it in the meantime, nothing is taken back, because two
 * threads would otherwise get the same numbers. */
#ifndef HEED_BASE_DRAWS_H
#define HEED_BASE_DRAWS_H

#include "base/random/rng.h"
#include "base/system/threads.h"

typedef struct hd__draws {
    struct hd__draws *outer;
    bool noted;              /* something was drawn since; the next two are valid from then on */
    hd_generator *g, before; /* before: g as it was */
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

/* hd__draws_end of anything else than the last one begun without draws. */
void hd__draws_end_slowly(hd__draws *d, bool keep);

/* keep: the call succeeded. What was begun after d, and never ended, ends too. */
static inline void hd__draws_end(hd__draws *d, bool keep)
{
    if (hd__draws_top == d && !d->noted) {
        hd__draws_top = d->outer;
    } else {
        hd__draws_end_slowly(d, keep);
    }
}

/* The thread is about to draw from g, which it has locked. */
void hd__draws_note(hd_generator *g);
/* g is being freed. */
void hd__draws_forget(const hd_generator *g);

#endif
