/* events.h - the events that lower layers report to src/diagnose.
 *
 * src/diagnose lies above all other layers, so they do not call it. Where an event happens, they
 * test a bit of hd__debug (error/debug.h). If it is set, they call the event's function in a table.
 * Only src/diagnose sets these bits. So a program that is linked without src/diagnose has no table,
 * and never looks for one. */
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

/* The events. The table has a function for each. hd__call (error/call.h) is the public function
 * that the program called.
 *
 *   While hd__event_listening:
 *     made              hd__call has made t
 *     changes           hd__call is about to change x in place
 *     recorded          op has made the tensors ys from a->in
 *     forward_begins    the forward of m begins on x (NULL: unknown), inside the forward of
 *                       `around` (NULL: outside any forward). hd__debug_module names m already
 *     forward_ends      the forward of hd__debug_module ends with y (NULL: it failed)
 *   While hd__event_watching:
 *     saved             heed has made t, an alias of x, and keeps it. Messages about t name the
 *                       function that made x
 *     overwrite_begins  an in-place change is about to read `in`, and may write over it. Returns
 *                       whether `in` has NaN or infinities, as a set of bits for `overwritten`
 *     overwritten       the change has written x; `before` is the result of overwrite_begins
 *     gradients_begin   the backward of node n is about to run on dy. Returns whether dy has NaN
 *                       or infinities, as a set of bits for gradients_end
 *     gradients_end     the backward has computed dx (NULL: it failed); `before` is the result of
 *                       gradients_begin
 *   While hd__event_telling:
 *     computed          a call computes flop floating-point operations
 *     ready             a call has computed its result y. op is NULL if the call records nothing;
 *                       otherwise op was recorded before y was computed
 *     call_begins       a user's op or an optimizer's step begins; its time is measured until
 *                       `applied` or `stepped`
 *     applied           the forward of a user's op has ended. n is its node; n_out is 0 if
 *                       it failed
 *     node_begins       a backward reaches node n
 *     node_ends         the backward leaves node n, after its hooks
 *   While hd__event_advised:
 *     backward_ended    a backward has ended without an error. It began at a tensor: value is the
 *                       tensor's element (0 if it has several), made_by the function that made
 *                       the tensor, and loss the tensor's node (NULL: the graph was kept)
 *     stepped           o has stepped with the gradients of n parameters. Also called while
 *                       hd__event_telling; n is then -1 if the step failed
 *   While there is a table:
 *     freed             t is about to be freed, and `made` or `saved` has set its HD__F_LISTED. Or
 *                       the storage of t is about to be exchanged, and `saved` follows
 *     module_freed      m is about to be freed
 *     memory_ran_out    memory has run out; the listener may write the end of the error's message
 *                       into text, which is empty
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

/* True if warnings are handled or printed (hd__error_warns) and src/diagnose is linked.
 * src/diagnose then warns of mistakes in the training loop. */
static inline bool hd__event_advised(void)
{
    return hd__error_warns() && hd__events;
}

/* Reports that a call computes n floating-point operations. n is evaluated only while
 * hd__event_telling. */
#define HD__FLOP(n) (hd__event_telling() ? hd__events->computed(n) : (void)0)

/* Reads HEED_TRACE, HEED_PROFILE and HEED_DEBUG, and sets the table of events. If one of these
 * variables or HEED_CACHE is wrong, writes a message into `wrong`. hd__start calls this function;
 * the call brings src/diagnose into every program that links libheed.a. */
HD__RARE void hd__diagnose_start(char *wrong, size_t size);

#endif
