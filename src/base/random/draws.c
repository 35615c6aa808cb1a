/* draws.c - takes back the draws of a failed call.
 *
 * The hd__draws of a thread form a list. At a draw, each entry of the list that has not noted a
 * draw yet copies the generator. */
#include "base/random/draws.h"

HD__TLS hd__draws *hd__draws_top;

void hd__draws_note(hd_generator *g)
{
    for (hd__draws *d = hd__draws_top; d && !d->noted; d = d->outer) {
        d->noted = true;
        d->g = g;
        d->before = *g;
    }
}

void hd__draws_forget(const hd_generator *g)
{
    for (hd__draws *d = hd__draws_top; d; d = d->outer) {
        if (d->noted && d->g == g) {
            d->noted = false; /* the next draw notes its generator instead */
        }
    }
}

void hd__draws_end_slowly(hd__draws *d, bool keep)
{
    hd__draws *at = hd__draws_top;
    while (at && at != d) {
        at = at->outer;
    }
    if (!at) { /* ended already, together with an outer hd__draws */
        return;
    }
    hd__draws_top = d->outer;
    if (d->noted && !keep) {
        hd__gen_put_back(d->g, &d->before);
    }
}
