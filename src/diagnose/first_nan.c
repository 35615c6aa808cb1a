/* first_nan.c - in debug mode, warns of the first NaN or infinity. Even without debug mode, warns
 * of a loss that is not finite.
 *
 * A NaN is "first" if no input of the call has one. An infinity is "first" if all inputs of the
 * call are finite. So a softmax over a mask with -inf gives no warning, but the NaN of a row that
 * is masked completely does. */
#include <math.h>

#include "autograd/node.h"
#include "diagnose/diagnose_internal.h"
#include "tensor/shape.h"

/* The number of ops whose backward functions run on this thread now. A call inside a backward
 * function gives no warning. A warning about the gradients that the function returns names its
 * op. */
static HD__TLS int in_backward;

/* ---------------------------------------------------------------- results */

unsigned int hd__hear_overwrite_begins(int64_t n, hd_tensor *const *in)
{
    unsigned int has = 0;
    for (int64_t i = 0; i < n; i++) {
        has |= hd__diagnose_not_finite(in[i]);
    }
    return has;
}

/* Returns HD__HAS_NAN if x has a NaN and no input has one. Returns HD__HAS_INF if x has an infinity
 * but no NaN, and all inputs are finite. Otherwise returns 0. `before` has the bits of the
 * inputs. */
static unsigned int news(unsigned int before, const hd_tensor *x)
{
    unsigned int has = hd__diagnose_not_finite(x);
    return has & HD__HAS_NAN ? ~before & HD__HAS_NAN : before ? 0 : has;
}

void hd__hear_overwritten(unsigned int before, const hd_tensor *y)
{
    char place[HD__PLACE_TEXT];
    unsigned int first = hd__error_warns() && !in_backward ? news(before, y) : 0;
    if (first) {
        hd_warn("the result %s has %s, but %s%s%s", HD__SHAPE(y),
                hd__diagnose_not_finite_text(y, place),
                first == HD__HAS_NAN ? "no input has nan" : "every input is finite",
                hd__debug_module ? "; in " : "", hd__debug_module ? hd__debug_module : "");
    }
}

/* True if y is a view of the first input, so that its elements are not new. */
static bool is_view(const hd_tensor *y, const hd__record_args *a)
{
    return a->n_in > 0 && !hd__tensor_is_none(a->in[0]) && y->storage == a->in[0]->storage;
}

void hd__watch_record(const hd__op *op, int n_out, hd_tensor *const *ys, const hd__record_args *a)
{
    if (!hd__event_watching() || !hd__error_warns() || op->fills || in_backward ||
        is_view(ys[0], a)) {
        return;
    }
    for (int k = 0; k < n_out; k++) {
        if (hd__diagnose_not_finite(ys[k])) { /* a finite result needs no look at the inputs */
            hd__hear_overwritten(hd__hear_overwrite_begins(a->n_in, a->in), ys[k]);
        }
    }
}

/* ---------------------------------------------------------------- gradients */

/* True if all tensors that node n saved are finite. If one is not, a warning in the forward has
 * named it. */
static bool saved_finite(const hd__node *n)
{
    unsigned int has = 0;
    for (int i = 0; i < n->n_saved; i++) {
        has |= hd__diagnose_not_finite(n->saved[i].t);
    }
    return !has;
}

static void tell_of_gradients(const hd__node *n, unsigned int before, hd_tensor *const *dx)
{
    for (int i = 0; i < n->n_in; i++) {
        char name[64], place[HD__PLACE_TEXT], call[200];
        unsigned int first = n->edges[i].node && dx[i] ? news(before, dx[i]) : 0;
        if (first && saved_finite(n)) {
            hd_warn("the gradient %s that %s computed for input %d has %s, but the gradient that "
                    "it received %s%s%s",
                    HD__SHAPE(dx[i]), hd__node_name(n, name), i,
                    hd__diagnose_not_finite_text(dx[i], place),
                    first == HD__HAS_NAN ? "has no nan" : "is finite",
                    n->made_by ? "; recorded by " : "",
                    n->made_by ? hd__node_call_text(n->made_by, n->made_in, call) : "");
        }
    }
}

unsigned int hd__hear_gradients_begin(const hd__node *n, hd_tensor *const *dy)
{
    unsigned int before = 0;
    for (int k = 0; k < n->n_out && hd__error_warns(); k++) {
        /* before the backward, which may overwrite dy[k] */
        before |= dy[k] ? hd__diagnose_not_finite(dy[k]) : 0;
    }
    in_backward++;
    return before;
}

void hd__hear_gradients_end(const hd__node *n, unsigned int before, hd_tensor *const *dx)
{
    in_backward--;
    if (dx && hd__error_warns()) {
        tell_of_gradients(n, before, dx);
    }
}

/* ---------------------------------------------------------------- a loss */

void hd__watch_loss(double loss, const char *made_by)
{
    static atomic_uint_least64_t told;
    if (!isfinite(loss) && hd__error_first(&told, (uintptr_t)made_by)) {
        hd_warn("the loss of %s is %s. %s", made_by,
                isnan(loss) ? "nan"
                : loss > 0  ? "inf"
                            : "-inf",
                hd__event_watching() ? "An earlier warning names the call that made the first nan "
                                       "or infinity. If there is none, the data has it"
                                     : "Set HEED_DEBUG=1 in the environment to see the call that "
                                       "made the first nan or infinity");
    }
}
