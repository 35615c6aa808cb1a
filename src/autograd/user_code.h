/* user_code.h - the user's code while the engine runs it (user_code.c). */
#ifndef HEED_AUTOGRAD_USER_CODE_H
#define HEED_AUTOGRAD_USER_CODE_H

#include "autograd/op.h"

/* A call of the user's code by the engine: of a hook, or of the forward or backward of a user's op.
 * It may do what it likes with errors, scopes and grad mode: hd__graph_guest_left looks at all of
 * them. The gradients that it is given must stay as they are, because other gradients and the
 * caller's tensors may lie in the same memory. So until the call has returned, changes in place
 * refuse what lies there; and they refuse for ever the tensors that were given, and aliases of them
 * (HD__F_LENT), which the user's code may keep. */
typedef struct hd__graph_guest {
    const char *call;                     /* hd__call around it */
    const hd__node *n;                    /* the node whose gradients are lent */
    int64_t hook;                         /* the hook's id; 0: n's own function */
    int n_lent;                           /* gradients */
    hd_tensor *const *lent;               /* held */
    bool grad_mode;                       /* what it is set to again */
    hd_scope *scope;                      /* the innermost one before the call, and */
    uint64_t serial;                      /* its number */
    uint64_t failures;                    /* before the call, not cleared */
    const struct hd__graph_guest *around; /* a guest that this one was called from */
} hd__graph_guest;

extern HD__TLS const hd__graph_guest *hd__graph_guests; /* those that are running on this thread */

/* Fill in what messages and lending need first. A guest that enters must leave. */
void hd__graph_guest_enter(hd__graph_guest *g);
/* Did nothing fail in g's call, or did it clear what failed, and are the scopes as they were?
 * Otherwise an error stands, and what the call gave must not be looked at. */
bool hd__graph_guest_left(hd__graph_guest *g);

/* g as the user's code gets it, in the innermost scope. */
hd_tensor *hd__graph_lend(const hd_tensor *g);

/* Does x share no memory with a gradient that is lent, and is it none that was? Otherwise HD_GRAD
 * names who has it. */
bool hd__graph_lent_fail(const char *arg, const hd_tensor *x);
static inline bool hd__graph_not_lent(const char *arg, const hd_tensor *x)
{
    return !HD__UNLIKELY(hd__graph_guests || x->flags & HD__F_LENT) || hd__graph_lent_fail(arg, x);
}

/* What a call that failed returns: false. If its error was cleared, another one is set. */
bool hd__graph_failed(void);

#endif
