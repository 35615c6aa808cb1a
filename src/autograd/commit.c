/* commit.c - gradients on their way to a .grad. They are kept until the whole walk has succeeded,
 * and are then added to all of them, or to none. */
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
    hd__commit *c = hd__run_add_commit(r);
    hd__own_grad *own = leaf ? NULL : n->outs[k].extra->own;
    if (!c) {
        return false;
    }
    if (own) {
        hd__refs_up(&own->refs);
    }
    *c = (hd__commit){.own = own,
                      .slot = leaf ? &n->grad : &own->grad,
                      .value = hd__hold(n->outs[k].pending),
                      .given = leaf ? &n->grad_given : &own->grad_given};
    return true;
}

/* ---------------------------------------------------------------- the end of a run */

/* May a value be added to a .grad while the commits are applied one by one? Not if it shares memory
 * with a .grad that is written to, unless the two are the same element by element. */
static bool stays_the_same(const hd__run *r, const hd_tensor *value, const hd_tensor *grad)
{
    bool stays = true;
    if (atomic_load_explicit(&value->storage->refs, memory_order_relaxed) > 1) {
        for (int64_t i = 0; i < r->n_commits && stays; i++) {
            const hd_tensor *each = *r->commits[i].slot;
            stays = !each || each->storage != value->storage ||
                    (each == grad && hd__same_memory(grad, value));
        }
    }
    return stays;
}

/* The part of a commit that can fail. The value is added to a .grad in place, or to a copy of it
 * that takes its place: a tensor that the caller gave to hd_set_grad stays as it is, and an
 * expanded one cannot be added to. */
static bool prepare_commit(hd__run *r, hd__commit *c)
{
    const hd_tensor *grad = *c->slot;
    c->in_place = grad && !*c->given && !hd__overlaps_itself(grad);
    if (grad && !c->in_place) {
        return hd__slot_set(&c->value, hd__add(*c->slot, c->value));
    }
    if (!grad) {
        hd__leave_base(c->value); /* what a view's backward gives is not copied */
    }
    bool as_it_is = grad ? stays_the_same(r, c->value, grad) : hd__held_once(c->value);
    return as_it_is || hd__slot_set(&c->value, hd__clone(c->value));
}

static void apply_commit(hd__commit *c)
{
    if (c->in_place) {
        hd__add_into(*c->slot, c->value);
        hd__changes(*c->slot);
        hd__bump(*c->slot);
        hd__drop(c->value);
    } else {
        hd__drop(*c->slot);
        *c->slot = c->value;
        *c->given = c->gives;
    }
}

/* Is all of g 0? So it is if the program has zeroed it, also by a pointer that it has kept. */
static bool all_zero(const hd_tensor *g)
{
    int64_t i = 0;
    for (; hd__contig(g) && i < g->numel && hd__float_at(g, g->offset + i) == 0; i++) {
    }
    return i == g->numel;
}

/* The same for a leaf's .grad, with a note for warnings of what backward did to it. */
HD__RARE static void apply_and_note(hd__commit *c)
{
    hd__grad_use *use = hd__leaf_use(c->n);
    bool kept = use->by && *c->slot && (int64_t)hd__storage_version(*c->slot) == use->version &&
                !all_zero(*c->slot);
    apply_commit(c);
    use->by = kept ? use->by : 0;
    use->version = hd__storage_version(*c->slot);
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
    const bool notes = hd__warns();
    for (int64_t i = 0; i < r->n_commits; i++) {
        if (HD__UNLIKELY(notes) && ok && !r->commits[i].own) {
            apply_and_note(&r->commits[i]);
        } else if (ok) {
            apply_commit(&r->commits[i]);
        } else {
            hd__drop(r->commits[i].value);
        }
        hd__own_grad_drop(r->commits[i].own);
        hd__node_release(r->commits[i].n);
    }
    hd_scope_close(scope);
    hd_free(r->commits);
    return ok;
}
