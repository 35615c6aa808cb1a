/* stale_gradients.c - warnings of steps that use gradients a second time, and of steps without
 * gradients.
 *
 * A leaf's hd__tensor_grad_use records which optimizer used its .grad last, and whether only
 * backward has changed the .grad since. hd_set_grad resets this record, and so does zeroing the
 * .grad, even in place. So a loop that does one of these gets no warning. Neither does a loop that
 * adds up the gradients of several backwards before each step. */
#include <inttypes.h>

#include "diagnose/diagnose_internal.h"
#include "optim/optim.h"

/* A warning comes after this many steps in a row that found no gradient. A few such steps are no
 * mistake: a program may zero the gradients of a NaN loss before the step. */
enum { IN_VAIN = 10 };

/* The facts that a step found about the parameters of its optimizer. */
typedef struct finding {
    /* grads: the number of gradients. used: the number of those that the last step used and that
     * backward has added to since. */
    int64_t grads, used;
    /* wanted: a parameter requires grad. written: a backward has written a .grad since the last
     * step. stepped: an earlier step found a gradient. */
    bool wanted, written, stepped;
} finding;

/* True if o used this gradient of p in a step, only a backward has changed the gradient since, and
 * only that step has changed p. If the program has also changed p itself, the program's method may
 * want the sum of all gradients. */
static bool is_used(const hd_optim *o, const hd_tensor *p, const hd__tensor_grad_use *use,
                    int64_t version)
{
    return use->by == o->number && use->added && use->version == version &&
           hd__tensor_version_of(p) == use->stepped + 1;
}

static finding look_at_grads(const hd_optim *o)
{
    finding f = {0};
    for (int64_t i = 0; i < o->n; i++) {
        const hd_tensor *p = o->slots[i].p;
        int64_t version = -1;
        hd__tensor_grad_use *use = hd__tensor_grad_use_of(p, &version);
        f.stepped |= o->slots[i].steps > 0;
        f.wanted |= hd_requires_grad(p);
        if (use) {
            f.grads += version >= 0;
            f.used += is_used(o, p, use, version);
            f.written |= atomic_exchange(&use->written, false);
            /* A step with lr 0 has not used the gradient. */
            use->by = *hd__optim_lr(o, o->slots[i].group) > 0 ? o->number : 0;
            use->version = version;
            use->stepped = hd__tensor_version_of(p);
            use->added = false;
        }
    }
    return f;
}

/* Adds 1 to *steps if the step was in vain (it found no gradient); otherwise sets *steps to 0.
 * Returns true if *steps has just reached IN_VAIN. *steps then keeps this value, so the warning
 * comes only once. */
static bool is_told_now(int *steps, bool vain)
{
    if (*steps == IN_VAIN) {
        return false;
    }
    *steps = vain ? *steps + 1 : 0;
    return *steps == IN_VAIN;
}

static void watch_step(hd_optim *o)
{
    finding f = look_at_grads(o);
    bool nothing = !f.grads && !f.stepped && atomic_load(&hd__optim_alive) == 1;
    /* Decide first, because a handler may free o. */
    const bool tell_used = f.used && !o->told_used;
    const bool tell_freed = is_told_now(&o->freed, nothing && f.wanted && f.written);
    const bool tell_frozen = is_told_now(&o->frozen, nothing && !f.wanted);
    o->told_used |= tell_used;
    if (tell_used) {
        hd_warn("%" PRId64 " of %" PRId64
                " gradients still contain those of the last step, because hd_backward has added to "
                "them. Call hd_optim_zero_grad once for each step, before its first hd_backward",
                f.used, f.grads);
    }
    if (tell_freed) {
        hd_warn("none of the last %d steps found a gradient, because the gradients of hd_backward "
                "were freed before the step. Call hd_optim_zero_grad before hd_backward, and "
                "hd_optim_step after it",
                IN_VAIN);
    } else if (tell_frozen) {
        hd_warn(
            "none of the last %d steps found a gradient, because none of the optimizer's %" PRId64
            " parameters requires grad. Create the optimizer after hd_lora_apply and "
            "hd_module_freeze, with the parameters that train",
            IN_VAIN, o->n);
    }
}

void hd__hear_stepped(hd_optim *o, int64_t n)
{
    if (hd__event_telling()) {
        hd__trace_tell_step(o->type->name, n, o->n);
    }
    if (n >= 0 && hd__error_warns()) {
        watch_step(o);
    }
}
