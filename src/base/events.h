/* events.h - the events that lower layers report to src/diagnose.
 *
 * src/diagnose lies above all other layers, so they do not call it. Where an event happens, they
 * look at one word, hd__debug (error/debug.h), and call the event's function in a table. Only
 * src/diagnose sets the bits of this word that lead to the table. So a program that links without
 * src/diagnose has no table, and never looks for one. */
#ifndef HEED_BASE_EVENTS_H
#define HEED_BASE_EVENTS_H

#include "base/error/debug.h"
#include "heed/base.h"

struct hd_tensor;
struct hd_module;
struct hd_optim;
struct hd_ctx; /* a node of the graph */
struct hd__op;
struct hd__record_args;

/* The events. The table has a function for each, called when it happens. hd__call is the
 * function that the program called.
 *
 *   While hd__event_listening:
 *     made              hd__call has made t
 *     changes           hd__call is about to change x in place
 *     recorded          op has made ys from a->in
 *     forward_begins    the forward of m, which is now hd__debug_module, begins on x (NULL:
 *                       unknown), inside the forward of `around` (NULL: outside any forward)
 *     forward_ends      the forward of hd__debug_module ends with y (NULL: it failed)
 *   While hd__event_watching:
 *     saved             heed has made t, an alias of x, to hold it. Messages name the function that
 *                       made x
 *     overwrite_begins  an in-place change is about to read `in`, and may write over it
 *     overwritten       the change has written x; `before` is what overwrite_begins returned
 *     gradients_begin   the backward of node n is about to run on dy
 *     gradients_end     it has computed dx (NULL: it failed); `before` is what gradients_begin
 *                       returned
 *   While hd__event_telling:
 *     computed          flop floating-point operations are computed
 *     ready             y is the result of a call that records nothing (op NULL), or that recorded
 *                       before it computed
 *     call_begins       a call begins that is timed as a whole, until `applied` or `stepped`
 *     applied           the forward of a user's op has ended. n is its node; n_out is 0 if
 *                       it failed
 *     node_begins       a backward reaches node n
 *     node_ends         it leaves node n, after its hooks
 *   While hd__event_advised:
 *     backward_ended    a backward has ended. It began at a tensor of this value, which made_by
 *                       made. loss is the tensor's node; NULL: the graph was kept
 *     stepped           o has stepped with the gradients of n parameters. Also called while
 *                       hd__event_telling; n is then -1 if the step failed
 *   While there is a table:
 *     freed             t is about to be freed, and made or saved has set HD__F_LISTED for it. Or
 *                       its storage is about to be exchanged, and `saved` follows
 *     module_freed      m is about to be freed
 *     memory_ran_out    writes the end of the message into text, which is empty
 *     shutdown          hd_shutdown has closed the root scope of its thread */
#define HD__EVENTS(EVENT)                                                                          \
    EVENT(void, made, struct hd_tensor *t)                                                         \
    EVENT(void, changes, struct hd_tensor *x)                                                      \
    EVENT(void, recorded, const struct hd__op *op, int n_out, struct hd_tensor *const *ys,         \
          const struct hd__record_args *a)                                                         \
    EVENT(void, forward_begins, const struct hd_module *around, struct hd_module *m,               \
          struct hd_tensor *x)                                                                     \
    EVENT(void, saved, struct hd_tensor *t, const struct hd_tensor *x)                             \
    EVENT(unsigned int, overwrite_begins, int64_t n, struct hd_tensor *const *in)                  \
    EVENT(void, overwritten, unsigned int before, const struct hd_tensor *x)                       \
    EVENT(unsigned int, gradients_begin, const struct hd_ctx *n, struct hd_tensor *const *dy)      \
    EVENT(void, gradients_end, const struct hd_ctx *n, unsigned int before,                        \
          struct hd_tensor *const *dx)                                                             \
    EVENT(void, computed, int64_t flop)                                                            \
    EVENT(void, ready, const struct hd__op *op, struct hd_tensor *y, int n_in,                     \
          struct hd_tensor *const *in)                                                             \
    EVENT(void, call_begins, void)                                                                 \
    EVENT(void, applied, struct hd_ctx *n, int n_out, struct hd_tensor *const *ys,                 \
          struct hd_tensor *const *in)                                                             \
    EVENT(void, node_begins, const struct hd_ctx *n)                                               \
    EVENT(void, node_ends, const struct hd_ctx *n)                                                 \
    EVENT(void, forward_ends, struct hd_tensor *y)                                                 \
    EVENT(void, backward_ended, struct hd_ctx *loss, const char *made_by, double value)            \
    EVENT(void, stepped, struct hd_optim *o, int64_t n)                                            \
    EVENT(void, freed, struct hd_tensor *t)                                                        \
    EVENT(void, module_freed, const struct hd_module *m)                                           \
    EVENT(void, memory_ran_out, char text[HD__NOTE])                                               \
    EVENT(void, shutdown, void)

#define HD__EVENT_FUNCTION(result, event, ...) result (*event)(__VA_ARGS__);
typedef struct hd__event_table {
    HD__EVENTS(HD__EVENT_FUNCTION)
} hd__event_table;

extern _Atomic(const hd__event_table *) hd__events; /* NULL: there is no listener */

/* True if warnings have a handler, and src/diagnose is there to decide the warnings about whole
 * trainings. */
static inline bool hd__event_advised(void)
{
    return hd__error_warns() && hd__events;
}

/* Reports n floating-point operations. n is computed only while hd__event_telling. */
#define HD__FLOP(n) (hd__event_telling() ? hd__events->computed(n) : (void)0)

/* Reads HEED_TRACE, HEED_PROFILE and HEED_DEBUG, and listens from now on. If one of them or
 * HEED_CACHE is wrong, writes a message into `wrong`. hd__init calls it; this brings src/diagnose
 * into every program that links libheed.a. */
HD__RARE void hd__diagnose_start(char *wrong, size_t size);

#endif
