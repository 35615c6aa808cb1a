/* draws.h - takes back the draws of a call that fails, so that a failed call has drawn nothing.
 *
 * A function that can fail after it drew encloses its work in begin and end:
 *   HD__DRAWS_BEGIN(d);
 *   hd_tensor *y = draw_and_compute(x);
 *   hd__draws_end(&d, y != NULL);
 *
 * These pairs may be nested. Begin copies nothing; the first draw copies the generator. Only the
 * first generator from which the call draws is put back. If the call frees that generator, the next
 * one is put back in its place. If another thread has drawn from the generator meanwhile, nothing
 * is put back. Otherwise two threads would get the same numbers. */
#ifndef HEED_BASE_DRAWS_H
#define HEED_BASE_DRAWS_H

#include "base/random/rng.h"
#include "base/system/threads.h"

typedef struct hd__draws {
    struct hd__draws *outer;
    bool noted;              /* true once the call has drawn; g and before are valid from then on */
    hd_generator *g, before; /* the generator, and a copy of it from before the draw */
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

/* Does the work of hd__draws_end if d has noted a draw or is not the innermost hd__draws. */
void hd__draws_end_slowly(hd__draws *d, bool keep);

/* Ends d. If `keep`, the call's draws stay; otherwise they are taken back. Also ends every
 * hd__draws that began after d and was not ended. */
static inline void hd__draws_end(hd__draws *d, bool keep)
{
    if (hd__draws_top == d && !d->noted) {
        hd__draws_top = d->outer;
    } else {
        hd__draws_end_slowly(d, keep);
    }
}

/* Notes that this thread, which has locked g, is about to draw from it. */
void hd__draws_note(hd_generator *g);
/* Makes every hd__draws of this thread forget g, which is about to be freed. */
void hd__draws_forget(const hd_generator *g);

#endif
