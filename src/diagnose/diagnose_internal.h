/* diagnose_internal.h - the functions of this folder, which watches a program: HEED_TRACE,
 * HEED_PROFILE, debug mode, reports, and the warnings about a whole training.
 *
 *   events.c           the start, and the table of listeners for the events of base/events.h
 *   trace.c            writes a line of HEED_TRACE; the lines of modules and steps
 *   trace_graph.c      the lines of ops and nodes
 *   profile.c          HEED_PROFILE: the time of ops and modules
 *   live_tensors.c     the live tensors, by the functions that made them
 *   first_nan.c        debug mode: the first NaN or infinity; finite.c looks for it
 *   stray_modules.c    debug mode: a module that a forward runs although no module holds it
 *   full_scope.c       the warning of a loop without a scope
 *   stale_gradients.c  the warnings of steps with gradients used before, and with none
 *
 * Data that every call needs stays elsewhere. The word that an event checks is hd__debug
 * (base/error/debug.h). Freed blocks are in quarantine (base/memory/quarantine.c), where the checks
 * of arguments find them (tensor/tensor_args.c). A leaf's hd__tensor_grad_use
 * (tensor/for_nn_and_optim.h) says what backwards and steps did to its .grad. A node has the
 * function that recorded it, a tensor the function that made it. A warning about one call comes
 * from the function that is called.
 *
 * The listeners run on the threads of the program, several at a time. One lock protects the data
 * that they share. */
#ifndef HEED_DIAGNOSE_INTERNAL_H
#define HEED_DIAGNOSE_INTERNAL_H

#include "tensor/scope.h"

/* A fork locks it before the locks of base. While it is locked, no handler of the program is
 * called. */
extern pthread_mutex_t hd__diagnose_lock;

/* ---------------------------------------------------------------- tracing (trace.c) */

/* The data of a thread while hd__event_telling. It is not thread-local, because a library that is
 * loaded late may have few thread-local variables. */
typedef struct hd__trace_hearing {
    int thread;          /* its number in lines, from 1 on; 0 if it has written none */
    int depth;           /* the number of forwards and backwards that run, to indent lines */
    const char *walking; /* hd__call of the backward whose node runs now, or NULL */
    int spans;           /* the number of open spans */
    /* the profile has counted the time up to here; 0 if no tensor was made yet */
    int64_t seen;
    const char *call;  /* the call that began an op, or NULL */
    int64_t began;     /* when the op or the outermost span began */
    uint64_t failures; /* hd_error_count at that time */
    int64_t flop;      /* floating-point operations since then */
} hd__trace_hearing;

HD__RARE hd__trace_hearing *hd__trace_heard(void); /* never NULL */

/* A line of HEED_TRACE. It ends in "..." if it is too long. */
enum { HD__LINE_MOST = 1000 };
typedef struct hd__trace_line {
    int len;
    char text[HD__LINE_MOST + 5];
} hd__trace_line;

HD__RARE void hd__trace_line_begin(hd__trace_line *l, const char *name);
HD__RARE void hd__trace_line_add(hd__trace_line *l, const char *format, ...) HD__PRINTF(2, 3);
HD__RARE void hd__trace_line_tensors(hd__trace_line *l, int64_t n,
                                     hd_tensor *const *x); /* " (2, 3) None" */
/* Adds " in MODULE" unless module is NULL, and writes the line. */
HD__RARE void hd__trace_line_end(hd__trace_line *l, const char *module);

/* Writes the line of the event forward_begins, for a module of this type. */
void hd__trace_tell_forward(const char *type, hd_tensor *x);
/* Writes the line of a step by an optimizer of this type: n of `all` parameters had a gradient; n
 * is -1 if the step failed. Ends its span. */
void hd__trace_tell_step(const char *type, int64_t n, int64_t all);

/* ---------------------------------------------------------------- profiling (profile.c) */

/* The counts of HEED_PROFILE for one name in one module. */
typedef struct hd__diagnose_profiled {
    /* lasting strings; name is "" for a forward, module is NULL outside one */
    const char *name, *module;
    int64_t calls, time, backward; /* nanoseconds; backward: the part of the time in backward */
    int64_t bytes, flop;
} hd__diagnose_profiled;

void hd__profile_prepare(void);
HD__RARE void hd__profile_begin(void); /* an op of hd__call begins, unless it has begun */
/* A span, an op or a forward has ended, with the calls and bytes of e. A span began with
 * hd__hear_call_begins, and nothing inside it is counted. Time without calls counts as backward. */
HD__RARE void hd__profile_end(bool span, const hd__diagnose_profiled *e);

/* ---------------------------------------------------------------- debug mode */

/* The non-finite numbers that x, of a float dtype, has (finite.c): a set of these bits. */
enum { HD__HAS_NAN = 1, HD__HAS_INF = 2 };
unsigned int hd__diagnose_not_finite(const hd_tensor *x);
/* The first NaN of x, or else its first infinity, as "nan at (0, 2)". x must have one. */
enum { HD__PLACE_TEXT = HD__SHAPE_TEXT + 16 };
const char *hd__diagnose_not_finite_text(const hd_tensor *x, char text[HD__PLACE_TEXT]);

/* hd__watch_record warns if ys, which op made from a->in, have a NaN or an infinity that the inputs
 * do not have. hd__watch_loss warns if a loss that made_by made has one (first_nan.c). */
HD__RARE void hd__watch_record(const struct hd__op *op, int n_out, hd_tensor *const *ys,
                               const struct hd__record_args *a);
void hd__watch_loss(double loss, const char *made_by);

/* Writes "the root scope", or "the scope opened at" and its file and line (live_tensors.c). */
const char *hd__live_scope_name(const hd_scope *s, char *text, size_t size);

/* Called at the end in debug mode. hd__diagnose_tell_strays warns of stray modules, and
 * hd__live_tell of live tensors. */
void hd__diagnose_tell_strays(void);
void hd__live_tell(void);

/* ---------------------------------------------------------------- listeners */

/* hd__hear_made is the listener of the event made, and so on (base/events.h). */
#define HD__LISTENER(result, event, ...) result hd__hear_##event(__VA_ARGS__);
HD__EVENTS(HD__LISTENER)

#endif
