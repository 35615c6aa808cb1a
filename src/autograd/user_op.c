/* user_op.c - ops that users define: a node whose parameters are the user's table and data.
 *
 * The node is made before forward runs, so that forward can save into it; it joins the graph only
 * when an input needs a gradient. */
#include "autograd/autograd_internal.h"

typedef struct user_call {
    const hd_op *op; /* first: hd__node_name reads it */
    void *user;
} user_call;

static user_call *call_of(const hd_ctx *ctx)
{
    return ctx->params;
}

/* ---------------------------------------------------------------- the node */

/* Zeros for outputs that no gradient reached: a user's backward always sees tensors. */
static bool fill_in(hd__node *n, hd_tensor *const *dy, hd_tensor **full)
{
    for (int k = 0; k < n->n_out; k++) {
        const hd__out_meta *out = &n->outs[k];
        full[k] = dy[k] ? dy[k] : hd_zeros_n(out->dtype, out->ndim, out->sizes);
        if (!full[k]) {
            return false;
        }
    }
    return true;
}

static void user_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *few[HD__FEW];
    hd_tensor **full = n->n_out <= HD__FEW ? few : hd_alloc((size_t)n->n_out * sizeof *full);
    if (full && fill_in(n, dy, full)) {
        call_of(n)->op->backward(n, full, dx);
    } else {
        dx[0] = NULL;
    }
    if (full != few) {
        hd_free(full);
    }
}

static void user_free(hd__node *n)
{
    const user_call *call = call_of(n);
    if (call->op->free) {
        call->op->free(n);
    }
}

const hd__op hd__user_op = {.name = "user", .backward = user_backward, .free = user_free};

/* ---------------------------------------------------------------- in forward and backward */

static void keep(hd__saved *slot, hd_tensor *t, hd_tensor *held)
{
    slot->t = held;
    slot->version = hd__is_none(t) ? 0 : hd__storage_version(t);
}

bool hd_save(hd_ctx *ctx, hd_tensor *t)
{
    if (!ctx || !t) {
        return hd__null_arg("hd_save", ctx ? "t" : "ctx");
    }
    hd_tensor *held = hd__is_none(t) ? HD_NONE : hd__alias_held(t);
    hd__saved *more = held ? hd_alloc((size_t)(ctx->n_saved + 1) * sizeof *more) : NULL;
    if (!more) {
        hd__drop(held);
        return false;
    }
    memcpy(more, ctx->saved, (size_t)ctx->n_saved * sizeof *more);
    if (ctx->saved_apart) {
        hd_free(ctx->saved);
    }
    ctx->saved = more;
    ctx->saved_apart = true;
    keep(&ctx->saved[ctx->n_saved++], t, held);
    return true;
}

hd_tensor *hd_saved(hd_ctx *ctx, int i)
{
    if (!ctx) {
        return hd__null_arg("hd_saved", "ctx");
    }
    if (i < 0 || i >= ctx->n_saved) {
        return hd_error_set(HD_INDEX, "hd_saved: %d of %d saved tensors: expected 0 to %d", i,
                            ctx->n_saved, ctx->n_saved - 1);
    }
    return hd__saved_get(ctx, i);
}

bool hd_needs_grad(const hd_ctx *ctx, int i)
{
    if (!ctx) {
        return hd__null_arg("hd_needs_grad", "ctx");
    }
    if (i < 0 || i >= ctx->n_in) {
        hd_error_set(HD_INDEX, "hd_needs_grad: input %d of %d: expected 0 to %d", i, ctx->n_in,
                     ctx->n_in - 1);
        return false;
    }
    return hd__needs(ctx, i);
}

void *hd_ctx_user(const hd_ctx *ctx)
{
    return ctx ? call_of(ctx)->user : hd__null_arg("hd_ctx_user", "ctx");
}

/* ---------------------------------------------------------------- apply */

static bool op_ok(const hd_op *op, int outputs, int n, hd_tensor *const *inputs)
{
    if (!op) {
        return hd__null_arg("hd_apply", "op");
    }
    if (op->size < sizeof(hd_op) || !op->name || !op->forward || !op->backward) {
        hd_error_set(HD_VALUE, "hd_apply: the table of %s: expected size, name, forward, backward",
                     op->size >= sizeof(hd_op) && op->name ? op->name : "the op");
        return false;
    }
    if (!inputs) {
        return hd__null_arg("hd_apply", "inputs");
    }
    if (n < 1 || outputs < 1) {
        hd_error_set(HD_VALUE, "hd_apply: %s with %d inputs and %d outputs: expected 1 or more",
                     op->name, n, outputs);
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (!inputs[i]) {
            return hd__null_arg("hd_apply", "an input");
        }
    }
    return true;
}

static bool shares_any(const hd_tensor *y, int n, hd_tensor *const *inputs)
{
    bool any = false;
    for (int i = 0; i < n && !any; i++) {
        any = y->storage == inputs[i]->storage;
    }
    return any;
}

/* The results as fresh aliases: tensors that the user keeps stay as they are. A part of an input is
 * copied: the graph would not see that changing it in place changes the input. */
static bool results_ok(const hd_op *op, int n, hd_tensor *const *inputs, int outputs, hd_tensor **y)
{
    for (int k = 0; k < outputs; k++) {
        if (!y[k] || hd__is_none(y[k])) {
            hd_error_set(HD_USER, "hd_apply: %s left output %d empty", op->name, k);
            return false;
        }
        y[k] = shares_any(y[k], n, inputs)
                   ? hd__clone(y[k])
                   : hd__alias(y[k], y[k]->ndim, y[k]->sizes, y[k]->strides, y[k]->offset);
        if (!y[k]) {
            return false;
        }
    }
    return true;
}

static bool forward(const hd_op *op, hd__node *node, hd_tensor *const *inputs, int outputs,
                    hd_tensor **y)
{
    uint64_t failures = hd_error_count();
    bool before = hd_set_grad_mode(false);
    bool done = op->forward(node, inputs, y);
    hd_set_grad_mode(before);
    if (hd_error_count() != failures) {
        return false;
    }
    if (!done) {
        hd_error_set(HD_USER, "hd_apply: the forward of %s failed", op->name);
        return false;
    }
    return results_ok(op, node->n_in, inputs, outputs, y);
}

static bool apply(const hd_op *op, void *user, int outputs, int n, hd_tensor *const *inputs,
                  hd_tensor **y)
{
    hd__node *node = op_ok(op, outputs, n, inputs)
                         ? hd__node_new(&hd__user_op, n, hd__grad_mode_on ? inputs : NULL, 0,
                                        outputs, sizeof(user_call))
                         : NULL;
    if (!node) {
        if (op && op->size >= sizeof(hd_op) && op->free) {
            user_call call = {op, user};
            hd_ctx bare = {.params = &call};
            op->free(&bare);
        }
        return false;
    }
    *(user_call *)node->params = (user_call){op, user};
    bool ok = forward(op, node, inputs, outputs, y), needed = false;
    for (int i = 0; i < n; i++) {
        needed |= node->edges[i].node != NULL;
    }
    for (int k = 0; k < outputs && ok && needed; k++) {
        hd__describe_output(node, k, y[k]);
        if (hd__is_float(y[k]->dtype)) {
            hd__attach(y[k], hd__node_retain(node), (uint32_t)k);
        }
    }
    hd__node_release(node);
    return ok;
}

hd_tensor *hd_apply_n(const hd_op *op, void *user, int n, hd_tensor *const *inputs)
{
    hd_tensor *y = NULL;
    return apply(op, user, 1, n, inputs, &y) ? y : NULL;
}

hd_list *hd_apply_multi_n(const hd_op *op, void *user, int outputs, int n, hd_tensor *const *inputs)
{
    hd_tensor **y = hd__alloc_zeroed((size_t)(outputs > 0 ? outputs : 1) * sizeof *y);
    hd_list *list = y && apply(op, user, outputs, n, inputs, y) ? hd_list_n(outputs, y) : NULL;
    hd_free(y);
    return list;
}
