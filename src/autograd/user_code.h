/* user_code.h - guards calls of the user's code by the engine: hooks, and the forward and backward
 * of users' ops (user_code.c). */
#ifndef HEED_AUTOGRAD_USER_CODE_H
#define HEED_AUTOGRAD_USER_CODE_H

#include "autograd/op.h"

/* A guest is one call of the user's code by the engine. The user's code may change errors, scopes
 * and grad mode: hd__graph_guest_left checks all three. It must not change the gradients that it is
 * passed, because other gradients and the caller's tensors may share their memory. So until the
 * call returns, changes in place refuse every tensor in that memory. The passed tensors themselves
 * and their aliases (flag HD__F_LENT) are read-only for ever, because the user's code may keep
 * them. */
typedef struct hd__graph_guest {
    const char *call;                     /* hd__call before it */
    const hd__node *n;                    /* the node whose gradients are passed */
    int64_t hook;                         /* the hook's id; 0 for n's own function */
    int n_lent;                           /* number of passed gradients */
    hd_tensor *const *lent;               /* the passed gradients, held */
    bool grad_mode;                       /* grad mode before it */
    hd_scope *scope;                      /* the innermost scope before it */
    uint64_t serial;                      /* that scope's serial number */
    uint64_t failures;                    /* uncleared failures before it */
    const struct hd__graph_guest *around; /* the guest inside which this one runs, or NULL */
} hd__graph_guest;

/* The innermost running guest of this thread, or NULL. */
extern HD__TLS const hd__graph_guest *hd__graph_guests;

/* Call it right before the user's code. The caller has set n, hook, n_lent and lent. */
void hd__graph_guest_enter(hd__graph_guest *g);
/* Call it right after the user's code. True if no failure is left uncleared and the scopes are as
 * before; otherwise an error is set, and the caller must not read the call's results. */
bool hd__graph_guest_left(hd__graph_guest *g);

/* A read-only alias of g for the user's code, in the innermost scope. */
hd_tensor *hd__graph_lend(const hd_tensor *g);

/* True if the user's code may write to x; otherwise fails with HD_GRAD and names the hook or op. x
 * must never have been passed as a gradient, and must share no memory with one that is passed
 * now. */
bool hd__graph_lent_fail(const char *arg, const hd_tensor *x);
static inline bool hd__graph_not_lent(const char *arg, const hd_tensor *x)
{
    return !HD__UNLIKELY(hd__graph_guests || x->flags & HD__F_LENT) || hd__graph_lent_fail(arg, x);
}

/* Returns false, for a call that failed. Sets a new error if the user's code has cleared the old
 * one. */
bool hd__graph_failed(void);

#endif
