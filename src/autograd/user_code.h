/* user_code.h - guards the engine's calls of the user's code: of hooks, and of the forward and
 * backward of users' ops (user_code.c). */
#ifndef HEED_AUTOGRAD_USER_CODE_H
#define HEED_AUTOGRAD_USER_CODE_H

#include "autograd/op.h"

/* A guest is one call of the user's code by the engine. The user's code may change errors, scopes
 * and grad mode, so hd__graph_guest_left checks them after the call.
 *
 * The user's code must not change the gradients that it is passed, because other gradients and the
 * caller's tensors may share their memory. So until the call returns, in-place ops refuse every
 * tensor in that memory. The user's code may also keep the passed tensors. So these tensors and
 * their aliases have the flag HD__F_LENT and can never be changed. */
typedef struct hd__graph_guest {
    const char *call;       /* hd__call before the call */
    const hd__node *n;      /* the node whose gradients are passed */
    int64_t hook;           /* the hook's id; 0 if n's own function is called: n is a user's op */
    int n_lent;             /* number of passed gradients */
    hd_tensor *const *lent; /* the passed gradients, held; NULL for a forward */
    bool grad_mode;         /* grad mode before the call */
    hd_scope *scope;        /* the innermost scope before the call */
    uint64_t serial;        /* that scope's serial number */
    uint64_t failures;      /* the number of uncleared failures before the call */
    const struct hd__graph_guest *around; /* the guest inside which this one runs; else NULL */
} hd__graph_guest;

/* The innermost guest that runs on this thread, or NULL. */
extern HD__TLS const hd__graph_guest *hd__graph_guests;

/* Stores the thread's state in g, makes g the innermost guest and turns grad mode off. The caller
 * has set g's fields n, hook, n_lent and lent, and calls the user's code next. */
void hd__graph_guest_enter(hd__graph_guest *g);
/* Ends g; the caller calls it right after the user's code. True if the user's code has left no
 * failure uncleared and the scopes as they were. Otherwise sets an error, and the caller must not
 * read the results of the call. */
bool hd__graph_guest_left(hd__graph_guest *g);

/* Returns a read-only alias of g for the user's code, in the innermost scope. NULL if memory runs
 * out. */
hd_tensor *hd__graph_lend(const hd_tensor *g);

/* True if the program may write to x; otherwise fails with HD_GRAD. It may not if x is a gradient
 * that was once passed to the user's code, or an alias of one, or if x shares memory with a
 * gradient that is passed to a running guest. `arg` is x's name in the message. */
bool hd__graph_lent_fail(const char *arg, const hd_tensor *x);
static inline bool hd__graph_not_lent(const char *arg, const hd_tensor *x)
{
    return !HD__UNLIKELY(hd__graph_guests || x->flags & HD__F_LENT) || hd__graph_lent_fail(arg, x);
}

/* Returns false, for a function that has failed. Sets an error if the user's code has cleared the
 * one of the failure, so that no function fails without an error. */
bool hd__graph_failed(void);

#endif
