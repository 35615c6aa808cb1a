/* user_code.h - guards the engine's calls of the user's code: of hooks, and of the forward and
 * backward of users' ops (user_code.c). */
#ifndef HEED_AUTOGRAD_USER_CODE_H
#define HEED_AUTOGRAD_USER_CODE_H

#include "autograd/op.h"

/* A guest is one call of the user's code by the engine. The user's code may change errors, scopes
 * and grad mode, so hd__graph_guest_left checks them after the call.
 *
 * The user's code must not change the gradients that it is passed, because other tensors may share
 * their memory. So until the call returns, an in-place change of any tensor in that memory fails.
 * The passed tensors and their aliases have the flag HD__F_LENT, and are read-only for ever,
 * because the user's code may keep them. */
typedef struct hd__graph_guest {
    const char *call;                     /* the value of hd__call (call.h) before the call */
    const hd__node *n;                    /* the node whose gradients are passed */
    int64_t hook;                         /* the hook's id; 0 for a function of n's own op */
    int n_lent;                           /* the number of passed gradients */
    hd_tensor *const *lent;               /* the passed gradients, held */
    bool grad_mode;                       /* grad mode before the call */
    hd_scope *scope;                      /* the innermost scope before the call */
    uint64_t serial;                      /* that scope's serial number */
    uint64_t failures;                    /* the number of uncleared failures before the call */
    const struct hd__graph_guest *around; /* the guest inside which this one runs; else NULL */
} hd__graph_guest;

/* The innermost guest that runs on this thread, or NULL. */
extern HD__TLS const hd__graph_guest *hd__graph_guests;

/* Begins g, right before the user's code runs. The caller has set n, hook, n_lent and lent. */
void hd__graph_guest_enter(hd__graph_guest *g);
/* Ends g, right after the user's code has run. Returns false with an error if the user's code left
 * a failure uncleared or changed the scopes. The caller must then not read the call's results. */
bool hd__graph_guest_left(hd__graph_guest *g);

/* Returns a read-only alias of g for the user's code, in the innermost scope; NULL with an error if
 * memory runs out. */
hd_tensor *hd__graph_lend(const hd_tensor *g);

/* Returns false with HD_GRAD if the program must not write to x: it was passed to the user's code
 * as a gradient, or it shares memory with a gradient that is passed now. The message names the hook
 * or op, and x as `arg`. */
bool hd__graph_lent_fail(const char *arg, const hd_tensor *x);
static inline bool hd__graph_not_lent(const char *arg, const hd_tensor *x)
{
    return !HD__UNLIKELY(hd__graph_guests || x->flags & HD__F_LENT) || hd__graph_lent_fail(arg, x);
}

/* Called when a function of the engine has failed. Always returns false. If the user's code has
 * cleared the error, sets a new one. */
bool hd__graph_failed(void);

#endif
