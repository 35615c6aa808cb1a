/* commit.c - writes a run's gradients to .grad. They are collected as commits until the whole walk
 * has succeeded. Then everything that may fail is done for all commits, and only after that is any
 * .grad written. So a failure leaves every .grad as it was. */
#include "autograd/backward_end.h"
#include "autograd/commit.h"
#include "autograd/grad.h"
#include "autograd/node.h"
#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/reduce_dims.h"

bool hd__run_commit_output(hd__run *r, hd__node *n, int k, bool leaf)
{
    hd__run_commit *c = hd__run_add_commit(r);
    hd__node_own_grad *own = leaf ? NULL : n->outs[k].extra->own;
    if (!c) {
        return false;
    }
    if (own) {
        hd__refs_up(&own->refs);
    }
    *c = (hd__run_commit){.own = own,
                          .slot = leaf ? &n->grad : &own->grad,
                          .value = hd__tensor_hold(n->outs[k].pending),
                          .given = leaf ? &n->grad_given : &own->grad_given};
    return true;
}

/* ---------------------------------------------------------------- the end of a run */

/* True if no commit of r changes the elements of `value` before they are added to `grad`: no .grad
 * that a commit writes shares memory with `value`. Only `grad` itself may share it, if each element
 * has the same address in `grad` and `value`. */
static bool stays_the_same(const hd__run *r, const hd_tensor *value, const hd_tensor *grad)
{
    bool stays = true;
    if (atomic_load_explicit(&value->storage->refs, memory_order_relaxed) > 1) {
        for (int64_t i = 0; i < r->n_commits && stays; i++) {
            const hd_tensor *each = *r->commits[i].slot;
            stays = !each || each->storage != value->storage ||
                    (each == grad && hd__tensor_same_memory(grad, value));
        }
    }
    return stays;
}

/* Does the part of commit c that may fail. Two kinds of .grad cannot be added to in place: a tensor
 * that the user passed to hd_set_grad, and an expanded one. For these, sets c->value to the sum
 * that will replace the .grad. Returns false with an error if memory runs out. */
static bool prepare_commit(hd__run *r, hd__run_commit *c)
{
    const hd_tensor *grad = *c->slot;
    c->in_place = grad && !*c->given && !hd__tensor_overlaps_itself(grad);
    if (grad && !c->in_place) {
        return hd__run_slot_set(&c->value, hd__loop_add(*c->slot, c->value));
    }
    if (!grad) {
        hd__tensor_leave_base(c->value); /* so that a value that is a view may need no copy below */
    }
    bool as_it_is = grad ? stays_the_same(r, c->value, grad) : hd__tensor_held_once(c->value);
    return as_it_is || hd__run_slot_set(&c->value, hd__tensor_clone(c->value));
}

static void apply_commit(hd__run_commit *c)
{
    if (c->in_place) {
        hd__loop_add_into(*c->slot, c->value);
        hd__tensor_changes(*c->slot);
        hd__tensor_bump(*c->slot);
        hd__tensor_drop(c->value);
    } else {
        hd__tensor_drop(*c->slot);
        *c->slot = c->value;
        *c->given = c->gives;
    }
}

/* True if g is contiguous and all its elements are 0. The program has then zeroed the gradient,
 * perhaps through another tensor in its memory. */
static bool all_zero(const hd_tensor *g)
{
    int64_t i = 0;
    for (; hd__tensor_contig(g) && i < g->numel && hd__tensor_float_at(g, g->offset + i) == 0;
         i++) {
    }
    return i == g->numel;
}

/* Adds a commit's value to a leaf's .grad, and updates the leaf's hd__tensor_grad_use. From this,
 * src/diagnose decides whether to warn of a gradient that is used twice. */
HD__RARE static void apply_and_note(hd__run_commit *c)
{
    hd__tensor_grad_use *use = hd__graph_leaf_use(c->n);
    bool kept = use->by && *c->slot &&
                (int64_t)hd__tensor_storage_version(*c->slot) == use->version &&
                !all_zero(*c->slot);
    apply_commit(c);
    use->by = kept ? use->by : 0;
    use->version = hd__tensor_storage_version(*c->slot);
    use->added = true;
    atomic_store(&use->written, true);
}

bool hd__run_end_commits(hd__run *r, bool ok)
{
    hd_scope *scope = ok && r->n_commits ? hd_scope_open() : NULL;
    for (int64_t i = 0; i < r->n_commits && ok; i++) {
        ok = scope && prepare_commit(r, &r->commits[i]);
    }
    ok = hd__run_call_end(r, ok);
    const bool notes = hd__error_warns();
    for (int64_t i = 0; i < r->n_commits; i++) {
        if (HD__UNLIKELY(notes) && ok && !r->commits[i].own) {
            apply_and_note(&r->commits[i]);
        } else if (ok) {
            apply_commit(&r->commits[i]);
        } else {
            hd__tensor_drop(r->commits[i].value);
        }
        hd__node_own_grad_drop(r->commits[i].own);
        hd__node_release(r->commits[i].n);
    }
    hd_scope_close(scope);
    hd_free(r->commits);
    return ok;
}
