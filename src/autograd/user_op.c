/* user_op.c - hd_apply, which runs ops that users define. Their node's params are the user's hd_op
 * and data.
 *
 * The node is made before forward runs, so that forward can save tensors in it. It becomes part of
 * the graph only if an input needs a gradient. */
#include "autograd/backward.h"
#include "autograd/node.h"
#include "autograd/record.h"
#include "autograd/user_code.h"
#include "base/random/draws.h"
#include "tensor/copy.h"
#include "tensor/tensor_args.h"

typedef struct user_call {
    const hd_op *op; /* the first field, because hd__node_user_name reads it there */
    void *user;
} user_call;

static user_call *call_of(const hd_ctx *ctx)
{
    return ctx->params;
}

/* ---------------------------------------------------------------- the node */

/* Sets lent[k] to a read-only alias of dy[k], for each k below n, and holds the alias. Returns the
 * number of aliases, which is less than n if memory runs out. */
static int lend_all(int n, hd_tensor *const *dy, hd_tensor **lent)
{
    int k = 0;
    while (k < n && (lent[k] = hd__tensor_hold(hd__graph_lend(dy[k])))) {
        k++;
    }
    return k;
}

/* If the user's backward has freed a gradient that it stored in dx, returns false with an error
 * that names this gradient. */
static bool none_freed(const hd__node *n, hd_tensor *const *dx)
{
    for (int i = 0; i < n->n_in; i++) {
        char name[100];
        snprintf(name, sizeof name, "gradient %d of %.60s", i, call_of(n)->op->name);
        if (dx[i] && !hd__tensor_arg_or_none(name, dx[i])) {
            return false;
        }
    }
    return true;
}

static bool call_backward_of(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd__graph_guest g = {.n = n, .n_lent = n->n_out, .lent = dy};
    hd__graph_guest_enter(&g);
    call_of(n)->op->backward(n, dy, dx);
    return hd__graph_guest_left(&g) && none_freed(n, dx);
}

static void user_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor **lent = hd_alloc((size_t)n->n_out * sizeof *lent);
    int n_lent = lent ? lend_all(n->n_out, dy, lent) : 0;
    n->failed = n_lent < n->n_out || !call_backward_of(n, lent, dx);
    for (int k = 0; k < n_lent; k++) {
        hd__tensor_drop(lent[k]);
    }
    hd_free(lent);
}

static void user_free(hd__node *n)
{
    const user_call *call = call_of(n);
    HD__CALLS_BACK;
    if (call->op->free) {
        call->op->free(n);
    }
}

const hd__op hd__graph_user_op = {.name = "user", .backward = user_backward, .free = user_free};

/* ---------------------------------------------------------------- in forward and backward */

bool hd_save(hd_ctx *ctx, hd_tensor *t)
{
    HD__CALL("hd_save");
    if (!hd__arg_given("ctx", ctx) || !hd__tensor_any_arg("t", t, true)) {
        return false;
    }
    hd_tensor *held = hd__tensor_is_none(t) ? HD_NONE : hd__tensor_alias_held(t);
    hd__node_saved *more = held ? hd_alloc((size_t)(ctx->n_saved + 1) * sizeof *more) : NULL;
    if (!more) {
        hd__tensor_drop(held);
        return false;
    }
    memcpy(more, ctx->saved, (size_t)ctx->n_saved * sizeof *more);
    if (ctx->saved_apart) {
        hd_free(ctx->saved);
    }
    ctx->saved = more;
    ctx->saved_apart = true;
    uint32_t version = hd__tensor_is_none(t) ? 0 : hd__tensor_storage_version(t);
    ctx->saved[ctx->n_saved++] = (hd__node_saved){held, version};
    return true;
}

hd_tensor *hd_saved(hd_ctx *ctx, int i)
{
    HD__CALL("hd_saved");
    bool ok = hd__arg_given("ctx", ctx) && hd__node_index_ok("saved tensor", i, ctx->n_saved);
    return ok && hd__run_saved_ok(ctx, i) ? hd__node_saved_get(ctx, i) : NULL;
}

bool hd_needs_grad(const hd_ctx *ctx, int i)
{
    HD__CALL("hd_needs_grad");
    return hd__arg_given("ctx", ctx) && hd__node_index_ok("input", i, ctx->n_in) &&
           hd__node_needs(ctx, i);
}

void *hd_ctx_user(const hd_ctx *ctx)
{
    HD__CALL("hd_ctx_user");
    return ctx ? call_of(ctx)->user : hd__arg_null_arg("ctx");
}

/* ---------------------------------------------------------------- apply */

/* One call of hd_apply_n or hd_apply_multi_n. */
typedef struct application {
    const hd_op *op;
    int n, outputs;
    hd_tensor *const *inputs; /* n tensors */
    hd_tensor **y;            /* `outputs` results, NULL at first */
} application;

static bool field_given(const application *a, const char *field, bool given)
{
    const char *name = a->op->name ? a->op->name : "";
    return given ||
           hd_fail(HD_VALUE, "op->%s%s%s is NULL: expected a name, a forward and a backward", field,
                   *name ? " of " : "", name);
}

static bool application_ok(const application *a)
{
    const hd_op *op = a->op;
    if (!hd__arg_given("op", op) || !HD__SIZE_OK(op, "sizeof(hd_op)") ||
        !field_given(a, "name", op->name != NULL) ||
        !field_given(a, "forward", op->forward != NULL) ||
        !field_given(a, "backward", op->backward != NULL) || !hd__arg_given("inputs", a->inputs)) {
        return false;
    }
    return ((a->n >= 1 && a->outputs >= 1) ||
            hd_fail(HD_VALUE, "%s with %d inputs and %d outputs: expected 1 or more of each",
                    op->name, a->n, a->outputs)) &&
           hd__tensor_args("inputs", a->n, a->inputs, true);
}

static bool shares_any(const hd_tensor *y, int n, hd_tensor *const *inputs)
{
    bool any = false;
    for (int i = 0; i < n && !any; i++) {
        any = y->storage == inputs[i]->storage;
    }
    return any;
}

/* Replaces each result in a->y by a new alias, so that a tensor that the user's code has kept stays
 * out of the graph. If a result shares memory with an input, replaces the result by a copy. Without
 * the copy, a change of one in place would change the other, and the graph would not show it.
 * Returns false with an error if a result is missing. */
static bool results_ok(const application *a)
{
    for (int k = 0; k < a->outputs; k++) {
        hd_tensor *y = a->y[k];
        if (!y || hd__tensor_is_none(y)) {
            return hd_fail(HD_USER, "%s left output %d empty: expected a tensor in y[%d]",
                           a->op->name, k, k);
        }
        char name[100];
        snprintf(name, sizeof name, "output %d of %.60s", k, a->op->name);
        if (!hd__tensor_arg(name, y)) {
            return false;
        }
        a->y[k] = shares_any(y, a->n, a->inputs) ? hd__tensor_clone(y) : hd__tensor_alias_of(y);
        if (!a->y[k]) {
            return false;
        }
    }
    return true;
}

static bool call_forward(const application *a, hd__node *n)
{
    hd__graph_guest g = {.n = n};
    hd__graph_guest_enter(&g);
    bool done = a->op->forward(n, a->inputs, a->y);
    return hd__graph_guest_left(&g) &&
           (done || hd_fail(HD_USER,
                            "the forward of %s returned false without an error. Call hd_error_set "
                            "there to say why",
                            a->op->name)) &&
           results_ok(a);
}

/* If any input needs a gradient, makes the results in a->y the outputs of n. */
static void join_graph(const application *a, hd__node *n)
{
    bool needed = hd__node_any_edge(n);
    for (int k = 0; k < a->outputs && needed; k++) {
        hd__node_describe_output(n, k, a->y[k]);
        if (hd__tensor_is_float(a->y[k]->dtype)) {
            hd__node_attach(a->y[k], hd__node_retain(n), (uint32_t)k);
        }
    }
}

/* Frees `user` by op's own function. hd_apply calls this if it fails before it has made a node.
 * Once there is a node, its release frees `user`. */
static void free_user(const hd_op *op, void *user)
{
    if (op && op->size == sizeof(hd_op) && op->free) {
        user_call call = {op, user};
        hd_ctx alone = {.params = &call};
        user_free(&alone);
    }
}

static bool run_application(const application *a, void *user)
{
    const user_call call = {a->op, user};
    const hd__record_args args = {.n_in = a->n,
                                  .in = hd__record_grad_mode_on ? a->inputs : NULL,
                                  .params = &call,
                                  .params_size = sizeof call};
    hd__node *n =
        application_ok(a) ? hd__node_new(&hd__graph_user_op, &args, a->outputs, NULL, NULL) : NULL;
    if (!n) {
        free_user(a->op, user);
        return hd__graph_failed();
    }
    for (int i = 0; i < a->n; i++) {
        hd__tensor_hold(a->inputs[i]); /* forward may release them */
    }
    if (hd__event_telling()) {
        hd__events->call_begins();
    }
    bool ok = call_forward(a, n);
    if (hd__event_telling()) {
        hd__events->applied(n, ok ? a->outputs : 0, a->y, a->inputs);
    }
    if (ok) {
        join_graph(a, n);
    }
    for (int i = 0; i < a->n; i++) {
        hd__tensor_drop(a->inputs[i]);
    }
    hd__node_release(n);
    return ok || hd__graph_failed();
}

hd_tensor *hd_apply_n(const hd_op *op, void *user, int n, hd_tensor *const *inputs)
{
    HD__CALL("hd_apply");
    hd_tensor *y = NULL;
    const application a = {op, n, 1, inputs, &y};
    HD__DRAWS_BEGIN(draws);
    bool ok = run_application(&a, user);
    hd__draws_end(&draws, ok);
    return ok ? y : NULL;
}

hd_list *hd_apply_multi_n(const hd_op *op, void *user, int outputs, int n, hd_tensor *const *inputs)
{
    HD__CALL("hd_apply_multi_n");
    hd_tensor **y = hd__mem_alloc_zeroed((size_t)(outputs > 0 ? outputs : 1) * sizeof *y);
    if (!y) {
        free_user(op, user);
        return NULL;
    }
    const application a = {op, n, outputs, inputs, y};
    HD__DRAWS_BEGIN(draws);
    hd_list *list = run_application(&a, user) ? hd_list_n(outputs, y) : NULL;
    hd__draws_end(&draws, list);
    hd_free(y);
    return list;
}
