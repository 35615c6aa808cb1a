/* diagnose_internal.h - the room of what watches and tells: HEED_TRACE, HEED_PROFILE, debug mode,
 * reports, and the warnings about a whole training.
 *
 *   events.c           the start, and the table of who is told of which event (base/events.h)
 *   trace.c            how a line of HEED_TRACE is written; the lines of modules and steps
 *   trace_graph.c      the lines of ops and nodes
 *   profile.c          HEED_PROFILE: the time of ops and modules
 *   live_tensors.c     which tensors live, and who made them
 *   first_nan.c        debug mode: the first NaN or infinity; with finite.c, which looks for them
 *   stray_modules.c    debug mode: a module that a forward runs, and that nothing holds
 *   full_scope.c       the warning of a loop that has no scope
 *   stale_gradients.c  the warnings of steps with gradients used already, and with none
 *
 * What every call needs stays where it is needed. The word that an event looks at is hd__debug
 * (base/events.h). Freed blocks wait in quarantine (base/memory/quarantine.c), and the checks of
 * arguments find them there (tensor/tensor_args.c). What backwards and steps did to a leaf's .grad
 * stands in its hd__tensor_grad_use (tensor/for_nn_and_optim.h); who recorded a node, in the node;
 * who made a tensor, in the tensor. A warning about one call is given by the function that is
 * called.
 *
 * The listeners run on the threads of the program, several at the same time. One lock protects what
 * they share. */
#ifndef HEED_DIAGNOSE_INTERNAL_H
#define HEED_DIAGNOSE_INTERNAL_H

#include "tensor/scope.h"

/* A fork takes it before those of base. Whoever has it calls no handler of the program. */
extern pthread_mutex_t hd__diagnose_lock;

/* ---------------------------------------------------------------- tracing (trace.c) */

/* What a thread remembers while hd__event_telling. It is no thread-local variable, because a
 * library that is loaded late may have few of them. */
typedef struct hd__trace_hearing {
    int thread;          /* its number in lines, from 1 on; 0: it wrote none yet */
    int depth;           /* of the forwards and backwards that run, in lines */
    const char *walking; /* hd__call of the backward whose node runs; NULL: none */
    int spans;           /* that have begun and not ended */
    int64_t seen;        /* the time up to here is in the profile; 0: no tensor was made yet */
    const char *call;    /* that began an op at `began`, when so many calls had failed; or NULL */
    int64_t began;       /* or the outermost span began then */
    uint64_t failures;
    int64_t flop; /* that were computed since an op or a span began */
} hd__trace_hearing;

HD__RARE hd__trace_hearing *hd__trace_heard(void); /* never NULL */

/* A line of HEED_TRACE. What does not fit is left out. */
enum { HD__LINE_MOST = 1000 };
typedef struct hd__trace_line {
    int len;
    char text[HD__LINE_MOST + 5];
} hd__trace_line;

HD__RARE void hd__trace_line_begin(hd__trace_line *l, const char *name);
HD__RARE void hd__trace_line_add(hd__trace_line *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
HD__RARE void hd__trace_line_tensors(hd__trace_line *l, int64_t n,
                                     hd_tensor *const *x); /* " (2, 3) None" */
/* Adds the module, or NULL, and writes the line. */
HD__RARE void hd__trace_line_end(hd__trace_line *l, const char *module);

/* The forward of a module of that type begins on x, as the event forward_begins. */
void hd__trace_tell_forward(const char *type, hd_tensor *x);
/* An optimizer of that type has stepped: n of all parameters had a gradient; n is -1 if it
 * failed. */
void hd__trace_tell_step(const char *type, int64_t n, int64_t all);

/* ---------------------------------------------------------------- profiling (profile.c) */

/* What HEED_PROFILE counts under a name and in a module. */
typedef struct hd__diagnose_profiled {
    const char *name, *module; /* texts that last; "": a forward of the module; NULL: no module */
    int64_t calls, time, backward; /* nanoseconds; backward: the part of the time in backward */
    int64_t bytes, flop;
} hd__diagnose_profiled;

void hd__profile_prepare(void);
HD__RARE void hd__profile_begin(void); /* hd__call begins an op, if it did not yet */
/* A span, from hd__hear_call_begins on, in which nothing else is counted, or an op, or a forward
 * has ended, with so many calls and bytes. Its time is that of a backward if there are no
 * calls. */
HD__RARE void hd__profile_end(bool span, const hd__diagnose_profiled *e);

/* ---------------------------------------------------------------- debug mode */

/* What x of a float dtype has besides finite numbers (finite.c). */
enum { HD__HAS_NAN = 1, HD__HAS_INF = 2 };
unsigned int hd__diagnose_not_finite(const hd_tensor *x);
/* The first NaN of x, or else its first infinity, as "nan at (0, 2)". x has one. */
enum { HD__PLACE_TEXT = HD__SHAPE_TEXT + 16 };
const char *hd__diagnose_not_finite_text(const hd_tensor *x, char text[HD__PLACE_TEXT]);

/* A warning if ys, which op made of a->in, have NaN or infinities that nothing before them has; and
 * one if the loss that made_by made has (first_nan.c). */
HD__RARE void hd__watch_record(const struct hd__op *op, int n_out, hd_tensor *const *ys,
                               const struct hd__record_args *a);
void hd__watch_loss(double loss, const char *made_by);

/* "the root scope", or "the scope opened at" and its file and line (live_tensors.c) */
const char *hd__live_scope_name(const hd_scope *s, char *text, size_t size);

/* At the end, in debug mode: the modules that nothing holds, and the tensors that live. */
void hd__diagnose_tell_strays(void);
void hd__live_tell(void);

/* ---------------------------------------------------------------- listeners */

/* hd__hear_made is told of the event made, and so on (base/events.h). */
#define HD__LISTENER(result, event, ...) result hd__hear_##event(__VA_ARGS__);
HD__EVENTS(HD__LISTENER)

#endif
