/* events.h - the events that somebody may have asked to be told of.
 *
 * src/diagnose is told of them. It lies above all other layers, so these do not call it: where an
 * event happens they look at one word, hd__debug (error/debug.h), and call the event's function in
 * a table. Only src/diagnose sets the bits of the word that lead to the table. So a program that
 * links without it has no table, and never looks for one. */
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

/* The events: a function of the table for each, and when it is called. hd__call is the function
 * that the program called.
 *
 *   While hd__event_listening:
 *     made              hd__call has made t
 *     changes           it is about to change x in place
 *     recorded          op has made ys of a->in
 *     forward_begins    the forward of m, which is hd__debug_module now, begins on x (NULL: not
 *                       known), inside of the forward of `around` (NULL: of none)
 *     forward_ends      the forward of hd__debug_module ends with y (NULL: it failed)
 *   While hd__event_watching:
 *     saved             heed holds t, an alias of x, which counts as made where x was
 *     overwrite_begins  a change in place reads `in`, and may write over it
 *     overwritten       it has given x; `before` is what overwrite_begins gave
 *     gradients_begin   the backward of node n gets dy
 *     gradients_end     it has given dx (NULL: it failed); `before` is what gradients_begin gave
 *   While hd__event_telling:
 *     computed          a number of floating-point operations is computed
 *     ready             y is the result of a call that records nothing (op NULL), or that recorded
 *                       before it computed
 *     call_begins       a call begins whose time is measured as a whole, up to `applied` or
 *                       `stepped`
 *     applied           the forward of a user's op has ended. n is its node; n_out is 0 if it
 *                       failed
 *     node_begins       a backward comes to node n
 *     node_ends         it leaves node n, after its hooks
 *   While hd__event_advised:
 *     backward_ended    a backward of a tensor that made_by made, of that value, is over. loss is
 *                       its node; NULL: the graph was kept
 *     stepped           o has stepped with the gradients of n parameters; while
 *                       hd__event_telling, too, and then n is -1 if the step failed
 *   While there is a table:
 *     freed             t goes, for which made or saved has set HD__F_LISTED; or its storage is
 *                       exchanged, and `saved` follows
 *     module_freed      m goes
 *     memory_ran_out    text, which is empty, becomes the end of the message
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

extern _Atomic(const hd__event_table *) hd__events; /* NULL: nobody listens */

/* Is there a handler of warnings, and src/diagnose, which decides those of whole trainings? */
static inline bool hd__event_advised(void)
{
    return hd__error_warns() && hd__events;
}

/* n floating-point operations are computed; n is asked for while hd__event_telling alone. */
#define HD__FLOP(n) (hd__event_telling() ? hd__events->computed(n) : (void)0)

/* Reads what the environment asks for, and listens from now on. If HEED_TRACE, HEED_PROFILE,
 * HEED_DEBUG or HEED_CACHE is wrong, writes a message into `wrong`. hd__init calls it, and so
 * brings src/diagnose into every program that links libheed.a. */
HD__RARE void hd__diagnose_start(char *wrong, size_t size);

#endif
