/* diagnose_internal.h - the functions of this folder, which watches a program: HEED_TRACE,
 * HEED_PROFILE, debug mode, reports, and the warnings about a whole training.
 *
 *   events.c           the start, and the table of listeners for the events of base/events.h
 *   trace.c            writes HEED_TRACE's lines, and makes those of modules and steps
 *   trace_graph.c      makes the lines of ops and nodes
 *   profile.c          HEED_PROFILE: the time of ops and modules
 *   live_tensors.c     the live tensors, by the functions that made them
 *   first_nan.c        debug mode: the first NaN or infinity; finite.c looks for it
 *   stray_modules.c    debug mode: a module without a parent that another module's forward runs
 *   full_scope.c       warns of a training loop without a scope
 *   stale_gradients.c  warns of steps that use gradients twice, and of steps without gradients
 *
 * Data that every call needs is elsewhere. The flags that an event checks are in hd__debug
 * (base/error/debug.h). Freed blocks are in quarantine (base/memory/quarantine.c), where the checks
 * of arguments find them (tensor/tensor_args.c). A leaf's hd__tensor_grad_use
 * (tensor/for_nn_and_optim.h) records how backwards and steps used its .grad. A node stores the
 * name of the function that recorded it, and a tensor the name of the function that made it. A
 * warning about one call comes from the called function itself.
 *
 * The listeners run on the threads of the program, several at a time. hd__start_diagnose_lock
 * protects the data that they share. No handler of the program is called while it is locked. */
#ifndef HEED_DIAGNOSE_INTERNAL_H
#define HEED_DIAGNOSE_INTERNAL_H

#include "tensor/scope.h"

/* ---------------------------------------------------------------- tracing (trace.c) */

/* The data that tracing and profiling keep for one thread. It is not thread-local, because a
 * library that the program loads late can have only few thread-local variables. */
typedef struct hd__trace_hearing {
    int thread;          /* the thread's number in lines, counted from 1; 0 before its first line */
    int depth;           /* the number of forwards and backwards that run, to indent lines */
    const char *walking; /* hd__call of the backward whose node runs now, or NULL */
    int spans;           /* the number of open spans (hd__profile_end) */
    /* the time, in nanoseconds, until which the profile has counted this thread; 0: the thread has
     * made no tensor yet */
    int64_t seen;
    const char *call;  /* the call whose op has begun, or NULL */
    int64_t began;     /* the time when the op or the outermost span began, in nanoseconds */
    uint64_t failures; /* hd_error_count when the op or the span began */
    int64_t flop;      /* floating-point operations since the op or the span began */
} hd__trace_hearing;

/* Returns the calling thread's data; never NULL. */
HD__RARE hd__trace_hearing *hd__trace_heard(void);

/* A line of HEED_TRACE. It ends in "..." if it is too long. */
enum { HD__LINE_MOST = 1000 };
typedef struct hd__trace_line {
    int len;
    char text[HD__LINE_MOST + 5];
} hd__trace_line;

HD__RARE void hd__trace_line_begin(hd__trace_line *l, const char *name);
HD__RARE void hd__trace_line_add(hd__trace_line *l, const char *format, ...) HD__PRINTF(2, 3);
HD__RARE void hd__trace_line_tensors(hd__trace_line *l, int64_t n,
                                     hd_tensor *const *x); /* adds shapes: " (2, 3) None" */
/* Adds " in MODULE" unless module is NULL, and writes the line to stderr. */
HD__RARE void hd__trace_line_end(hd__trace_line *l, const char *module);

/* Writes the line of the event forward_begins, for a module of this type. */
void hd__trace_tell_forward(const char *type, hd_tensor *x);
/* Writes the line of a step by an optimizer of this type: n of `all` parameters had a gradient. If
 * the step failed, n is -1, and there is no line. Ends the span that hd__hear_call_begins began. */
void hd__trace_tell_step(const char *type, int64_t n, int64_t all);

/* ---------------------------------------------------------------- profiling (profile.c) */

/* The counts of HEED_PROFILE for one name and one module. */
typedef struct hd__diagnose_profiled {
    /* texts that last as long as the process; name is "" for a forward, and module is NULL outside
     * a forward */
    const char *name, *module;
    /* `time` in nanoseconds; `backward` is the part of it that backward took */
    int64_t calls, time, backward;
    int64_t bytes, flop;
} hd__diagnose_profiled;

void hd__profile_prepare(void);
/* Notes that the op of hd__call begins, unless it has begun already. */
HD__RARE void hd__profile_begin(void);
/* Counts an op, a forward or a span that has ended, with the calls and bytes of e. A span began
 * with hd__hear_call_begins, and nothing inside it is counted. If e has no calls, its time counts
 * as backward. */
HD__RARE void hd__profile_end(bool span, const hd__diagnose_profiled *e);

/* ---------------------------------------------------------------- debug mode */

/* Returns which non-finite numbers x has, as a set of these bits (finite.c). 0 for HD_NONE and for
 * a tensor that is not of floats. */
enum { HD__HAS_NAN = 1, HD__HAS_INF = 2 };
unsigned int hd__diagnose_not_finite(const hd_tensor *x);
/* Writes the first NaN of x, or else its first infinity, into text, as "nan at (0, 2)". Returns
 * text. x must have a NaN or an infinity. */
enum { HD__PLACE_TEXT = HD__SHAPE_TEXT + 16 };
const char *hd__diagnose_not_finite_text(const hd_tensor *x, char text[HD__PLACE_TEXT]);

/* hd__watch_record warns if ys, which op made from a->in, have a NaN or an infinity that the inputs
 * do not have. hd__watch_loss warns if `loss`, which the function made_by returned, is not finite
 * (first_nan.c). */
HD__RARE void hd__watch_record(const struct hd__op *op, int n_out, hd_tensor *const *ys,
                               const struct hd__record_args *a);
void hd__watch_loss(double loss, const char *made_by);

/* Writes "the root scope", or "the scope opened at" and its file and line, into text
 * (live_tensors.c). For a scope without a file and line, writes "a scope". Returns text. */
const char *hd__live_scope_name(const hd_scope *s, char *text, size_t size);

/* hd_shutdown calls both in debug mode. hd__diagnose_tell_strays warns of stray modules, and
 * hd__live_tell of live tensors. */
void hd__diagnose_tell_strays(void);
void hd__live_tell(void);

/* ---------------------------------------------------------------- listeners */

/* hd__hear_made is the listener of the event `made`, and so on for all events (base/events.h). */
#define HD__LISTENER(result, event, ...) result hd__hear_##event(__VA_ARGS__);
HD__EVENTS(HD__LISTENER)

#endif
