/* grad.c - grad mode, leaves, .grad, and hooks on tensors. */
#include <inttypes.h>

#include "autograd/grad.h"
#include "autograd/history.h"
#include "autograd/record.h"
#include "tensor/lifecycle.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- grad mode */

bool hd_grad_mode(void)
{
    return hd__record_grad_mode_on;
}

bool hd_set_grad_mode(bool on)
{
    bool before = hd__record_grad_mode_on;
    hd__record_grad_mode_on = on;
    return before;
}

/* ---------------------------------------------------------------- leaves */

/* A leaf has no inputs, so its op has no backward. */
const hd__op hd__graph_leaf_op = HD__OP("AccumulateGrad", NULL);

static bool make_leaf(hd_tensor *x)
{
    const hd__tensor_grad_use use = {0};
    hd__node *n =
        hd__node_new(&hd__graph_leaf_op, &(hd__record_args){HD__PARAMS(use)}, 1, &x, NULL);
    if (n) {
        x->flags |= HD__F_LEAF;
        hd__node_attach(x, n, 0);
    }
    return n;
}

/* True if x is a leaf. Unlike hd_is_leaf, never fails. If x is a view that can no longer be used,
 * x's last node decides. */
static bool leaf_now(const hd_tensor *x)
{
    bool lost = x->flags & (HD__F_MULTI_VIEW | HD__F_NO_GRAD_VIEW);
    /* a stale view is not a leaf, because its next use gives it an AsStrided node */
    bool part = hd__graph_stale_in_graph(x) && !lost;
    return !part && (!hd__graph_attached_grad(x) || hd__graph_leaf_node(x));
}

hd_tensor *hd_requires_grad_(hd_tensor *x, bool on)
{
    HD__CALL("hd_requires_grad_");
    if (!hd__tensor_any_arg("x", x, false) || (on && !hd__tensor_float_arg(x))) {
        return NULL;
    }
    if (!leaf_now(x)) {
        return on ? x
                  : hd_fail(HD_GRAD,
                            "%s with grad_fn=<%s> is not a leaf, and only a leaf can stop "
                            "requiring grad. Use hd_detach",
                            HD__SHAPE(x), hd_grad_fn(x));
    }
    if (on && !x->attachment && !make_leaf(x)) {
        return NULL;
    }
    if (x->attachment) {
        hd__graph_leaf_node(x)->requires_grad = on;
    }
    return x;
}

bool hd_requires_grad(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_requires_grad", x) && hd__graph_requires_grad(x);
}

bool hd_is_leaf(const hd_tensor *x)
{
    HD__CALL("hd_is_leaf");
    return hd__tensor_any_arg("x", x, false) && hd__graph_refresh_view(x) &&
           (!hd__graph_attached_grad(x) || hd__graph_leaf_node(x));
}

hd_tensor *hd_parameter(hd_tensor *x, bool requires_grad)
{
    HD__CALL("hd_parameter");
    if (!hd__tensor_any_arg("x", x, false) || (requires_grad && !hd__tensor_float_arg(x))) {
        return NULL;
    }
    hd_tensor *p = hd__tensor_alias_of(x);
    if (!p) {
        return NULL;
    }
    p->flags |= HD__F_PARAMETER;
    return requires_grad ? hd_requires_grad_(p, true) : p;
}

bool hd_is_parameter(const hd_tensor *x)
{
    return hd__tensor_read_arg("hd_is_parameter", x) && x->flags & HD__F_PARAMETER;
}

/* ---------------------------------------------------------------- .grad */

/* Returns hd__graph_extra_of(x), the struct with x's hooks. Makes it first if there is none. NULL
 * with an error on failure. */
static hd__node_out_extra *extra_of(hd_tensor *x)
{
    if (!hd__graph_refresh_view(x) || (!x->attachment && !make_leaf(x))) {
        return NULL;
    }
    hd__node *n = x->attachment;
    hd__node_out_extra **extra = &n->outs[x->output].extra;
    if (!*extra) {
        *extra = hd__mem_alloc_zeroed(sizeof **extra);
    }
    return *extra;
}

/* Returns the struct with the .grad of x, which is not a leaf. Makes it first if there is none. On
 * failure, returns NULL with an error, and x is unchanged. */
static hd__node_own_grad *own_grad_of(hd_tensor *x)
{
    bool has = hd__graph_own_grad_in(x);
    hd__node_own_grad *fresh = has ? NULL : hd__mem_alloc_zeroed(sizeof *fresh);
    hd__node_out_extra *extra = has || fresh ? extra_of(x) : NULL;
    if (!extra) {
        hd_free(fresh);
        return NULL;
    }
    if (fresh) {
        atomic_init(&fresh->refs, 1);
        extra->own = fresh;
    }
    return extra->own;
}

/* Returns the address at which x's .grad is stored, and sets *given to the address of the flag
 * grad_given beside it. Returns NULL if x has no place for a .grad yet. */
static hd_tensor **grad_slot(const hd_tensor *x, bool **given)
{
    hd__node *leaf = hd__graph_leaf_node(x);
    hd__node_own_grad *own = leaf ? NULL : hd__graph_own_grad_in(x);
    if (leaf || own) {
        *given = leaf ? &leaf->grad_given : &own->grad_given;
    }
    return leaf ? &leaf->grad : own ? &own->grad : NULL;
}

/* True if backward writes no .grad for x, because x is not a leaf and hd_retain_grad was not
 * called. */
static bool keeps_none(const hd_tensor *x)
{
    const hd__node_own_grad *own = hd__graph_own_grad_in(x);
    return !(own && own->retain_grad) && !leaf_now(x);
}

hd_tensor *hd_grad(const hd_tensor *x)
{
    HD__CALL("hd_grad");
    if (!hd__tensor_any_arg("x", x, false)) {
        return NULL;
    }
    bool *given;
    hd_tensor **slot = grad_slot(x, &given);
    if ((!slot || !*slot) && hd__error_warns() && keeps_none(x)) {
        hd_warn("%s with grad_fn=<%s> is not a leaf, and its gradient is not kept. Call "
                "hd_retain_grad for it before hd_backward",
                HD__SHAPE(x), hd_grad_fn(x));
    }
    return slot && *slot ? hd__tensor_alias_of(*slot) : HD_NONE;
}

bool hd__graph_hold_grad(hd_tensor *x, hd_tensor *g, hd_tensor **held)
{
    if (!hd__tensor_any_arg("x", x, false) || !hd__tensor_arg_or_none("g", g)) {
        return false;
    }
    if (hd__tensor_is_none(g)) {
        return true;
    }
    if (x == g) {
        return hd_fail(HD_VALUE, "%s cannot be its own gradient: expected another tensor",
                       HD__SHAPE(x));
    }
    if (!hd__tensor_same_shape(x, g) || x->dtype != g->dtype) {
        return hd_fail(HD_SHAPE, "g %s of %s for x %s of %s: expected the same shape and dtype",
                       HD__SHAPE(g), hd_dtype_name(g->dtype), HD__SHAPE(x),
                       hd_dtype_name(x->dtype));
    }
    if (leaf_now(x) ? !x->attachment && (!hd__tensor_float_arg(x) || !make_leaf(x))
                    : !own_grad_of(x)) {
        return false;
    }
    *held = hd__tensor_alias_held(g);
    return *held;
}

static inline void put_grad(hd_tensor *x, hd_tensor *held)
{
    bool *given;
    hd_tensor **slot = grad_slot(x, &given);
    if (slot) {
        hd__tensor_drop(*slot);
        *slot = held;
        *given = held;
        if (hd__graph_leaf_node(x)) {
            hd__graph_leaf_use(x->attachment)->by = 0;
        }
    }
}

bool hd_set_grad(hd_tensor *x, hd_tensor *g)
{
    HD__CALL("hd_set_grad");
    hd_tensor *held = NULL;
    bool ok = hd__graph_hold_grad(x, g, &held);
    if (ok) {
        put_grad(x, held);
    }
    return ok;
}

bool hd_set_grads(const hd_list *xs, const hd_list *gs)
{
    HD__CALL("hd_set_grads");
    if (!hd__tensor_list_arg("xs", xs) || !hd__tensor_list_arg("gs", gs)) {
        return false;
    }
    int64_t n = hd_list_len(xs), given = hd_list_len(gs);
    if (n != given) {
        return hd_fail(HD_VALUE,
                       "%" PRId64 " gradients for %" PRId64 " tensors: expected one for each",
                       given, n);
    }
    hd_tensor **held = hd__mem_alloc_zeroed((size_t)(n + 1) * sizeof *held);
    bool ok = held;
    for (int64_t i = 0; i < n && ok; i++) {
        ok = hd__graph_hold_grad(hd_list_get(xs, i), hd_list_get(gs, i), &held[i]);
    }
    for (int64_t i = 0; held && i < n; i++) {
        if (ok) {
            put_grad(hd_list_get(xs, i), held[i]);
        } else {
            hd__tensor_drop(held[i]);
        }
    }
    hd_free(held);
    return ok;
}

bool hd__graph_grad_required(const hd_tensor *x)
{
    return hd__graph_requires_grad(x) ||
           hd_fail(HD_GRAD, "x of %s does not require grad", HD__SHAPE(x));
}

hd_tensor *hd_retain_grad(hd_tensor *x)
{
    HD__CALL("hd_retain_grad");
    if (!hd__tensor_arg("x", x) || !hd__graph_grad_required(x)) {
        return NULL;
    }
    if (leaf_now(x)) {
        return x;
    }
    hd__node_own_grad *own = own_grad_of(x);
    if (!own) {
        return NULL;
    }
    own->retain_grad = true;
    return x;
}

/* ---------------------------------------------------------------- hooks */

static atomic_llong last_hook_id;

int64_t hd_register_hook(hd_tensor *x, hd_hook hook, void *user)
{
    HD__CALL("hd_register_hook");
    bool ok =
        hd__tensor_arg("x", x) && (hook || hd__arg_null_arg("hook")) && hd__graph_grad_required(x);
    hd__node_hook *h = ok ? hd_alloc(sizeof *h) : NULL;
    hd__node_out_extra *extra = h ? extra_of(x) : NULL;
    if (!extra) {
        hd_free(h);
        return -1;
    }
    *h = (hd__node_hook){.id = atomic_fetch_add(&last_hook_id, 1) + 1, .f = hook, .user = user};
    hd__node_hook **end = &extra->hooks;
    while (*end) {
        end = &(*end)->next;
    }
    *end = h;
    return h->id;
}

bool hd_remove_hook(hd_tensor *x, int64_t id)
{
    HD__CALL("hd_remove_hook");
    if (!hd__tensor_arg("x", x)) {
        return false;
    }
    hd__node_out_extra *extra = hd__graph_extra_of(x);
    for (hd__node_hook **at = extra ? &extra->hooks : NULL; at && *at; at = &(*at)->next) {
        if ((*at)->id == id) {
            hd__node_hook *gone = *at;
            *at = gone->next;
            hd_free(gone);
            return true;
        }
    }
    return hd_fail(HD_VALUE, "%" PRId64 " is not the id of a hook of x %s", id, HD__SHAPE(x));
}
