/* user_code.c - guards the user's code that the engine calls: hooks, and the functions of users'
 * ops.
 *
 * Whatever the user's code does, the engine must finish or fail with an error, and must not use
 * freed tensors. So it compares the state of the thread before the call with the state after it:
 * - failures: as in hd_forward, the call fails if a function of heed failed inside and the user's
 *   code did not clear the error;
 * - scopes: a scope left open is closed; a scope closed too early has freed the caller's tensors.
 *   Both are errors;
 * - grad mode: it is set back to what it was.
 *
 * The gradients that are passed to the user's code are read-only (hd__graph_not_lent), during the
 * call and for ever after it. */
#include <inttypes.h>

#include "autograd/node.h"
#include "autograd/user_code.h"
#include "tensor/lifecycle.h"
#include "tensor/scope.h"
#include "tensor/shape.h"

HD__TLS const hd__graph_guest *hd__graph_guests;

/* Writes a description of g into text, such as "hook 3 of MulBackward0", "the backward of Exp" or
 * "the forward of Exp". Returns text. */
static const char *name_guest(const hd__graph_guest *g, char text[200])
{
    char name[64];
    if (g->hook) {
        snprintf(text, 200, "hook %" PRId64 " of %s", g->hook, hd__node_name(g->n, name));
    } else {
        snprintf(text, 200, "the %s of %s", g->lent ? "backward" : "forward",
                 hd__node_user_name(g->n));
    }
    return text;
}

void hd__graph_guest_enter(hd__graph_guest *g)
{
    g->call = hd__call_swap(NULL);
    g->grad_mode = hd_set_grad_mode(false);
    g->scope = hd__scope_ready() ? hd__scope_top : NULL;
    g->serial = g->scope ? hd__scope_serial(g->scope) : 0;
    g->failures = hd__error_uncleared_swap(0);
    g->around = hd__graph_guests;
    hd__graph_guests = g;
}

bool hd__graph_guest_left(hd__graph_guest *g)
{
    char who[200];
    hd__call = g->call;
    uint64_t failures = hd__error_uncleared_swap(0);
    int above = hd__scopes_above(g->scope, g->serial);
    hd__graph_guests = g->around;
    hd_set_grad_mode(g->grad_mode);
    for (int i = 0; i < above; i++) {
        hd_scope_close(hd__scope_top);
    }
    if (!failures && above != 0) {
        hd__scopes_wrong(name_guest(g, who), above);
        failures++;
    } else if (failures && hd_error_code() == HD_OK) {
        hd_fail(HD_STATE, "a call inside %s failed, and its error was cleared", name_guest(g, who));
    }
    hd__error_uncleared_swap(g->failures + failures);
    return failures == 0;
}

hd_tensor *hd__graph_lend(const hd_tensor *g)
{
    hd_tensor *lent = hd__tensor_alias_of(g);
    if (lent) {
        lent->flags |= HD__F_LENT;
    }
    return lent;
}

bool hd__graph_lent_fail(const char *arg, const hd_tensor *x)
{
    char who[200];
    for (const hd__graph_guest *g = hd__graph_guests; g; g = g->around) {
        for (int k = 0; k < g->n_lent; k++) {
            if (g->lent[k]->storage == x->storage) {
                return hd_fail(HD_GRAD,
                               "%s of %s lies in the memory of the gradient that %s was "
                               "given, which must not change. Return another tensor instead",
                               arg, HD__SHAPE(x), name_guest(g, who));
            }
        }
    }
    return !(x->flags & HD__F_LENT) ||
           hd_fail(HD_GRAD,
                   "%s of %s must not change, because it is a gradient that a hook or a backward "
                   "was given, or shares its memory. Change a clone of it instead",
                   arg, HD__SHAPE(x));
}

bool hd__graph_failed(void)
{
    return hd_error_code() == HD_OK
               ? hd_fail(HD_STATE, "the work failed, but a hook or a user's op cleared the error")
               : false;
}
