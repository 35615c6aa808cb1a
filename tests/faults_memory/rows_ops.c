/* rows_ops.c - the rows of autograd.h beside the generated ones: other layouts and dtypes, and
 * functions that a generated row cannot call. */
#include "faults_memory/faults.h"

/* ---------------------------------------------------------------- users' ops */

static bool own_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul(x[0], x[0]);
    return y[0] && hd_save(ctx, x[0]) && hd_save(ctx, y[0]);
}

static void own_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    if (hd_needs_grad(ctx, 0)) {
        gx[0] = hd_mul_scalar(hd_mul(gy[0], hd_saved(ctx, 0)), 2);
    }
}

static void own_free(hd_ctx *ctx)
{
    --*(int *)hd_ctx_user(ctx);
}

static const hd_op own_op = {sizeof(hd_op), "Own", own_forward, own_backward, own_free};

static bool two_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul(x[0], x[1]);
    y[1] = hd_add(x[0], x[1]);
    return y[0] && y[1] && hd_save(ctx, x[0]) && hd_save(ctx, x[1]);
}

static void two_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_add(hd_mul(gy[0], hd_saved(ctx, 1)), gy[1]);
    gx[1] = hd_add(hd_mul(gy[0], hd_saved(ctx, 0)), gy[1]);
}

static const hd_op two_op = {sizeof(hd_op), "Two", two_forward, two_backward, own_free};

static hd_tensor *own_apply(world *w, hd_tensor *x)
{
    w->own_live++;
    return hd_apply(&own_op, &w->own_live, x);
}

static hd_list *own_apply_two(world *w)
{
    w->own_live++;
    return hd_apply_multi_n(&two_op, &w->own_live, 2, 2, (hd_tensor *[]){w->x, w->y});
}

/* ---------------------------------------------------------------- gradcheck, hooks */

static hd_tensor *cube(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    return hd_mul(hd_mul(x[0], x[0]), x[0]);
}

static hd_tensor *dropped(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    return hd_dropout(x[0], 0.5, true);
}

static bool gradcheck(world *w, hd_gradcheck_fn f)
{
    hd_tensor *x = hd_requires_grad_(hd_narrow(hd_clone(w->d), 0, 0, 1), true);
    return hd_gradcheck_n(f, NULL, 1, &x, NULL);
}

static hd_tensor *tripled(hd_tensor *grad, void *user)
{
    (void)user;
    return hd_mul_scalar(grad, 3);
}

typedef struct giving {
    hd_tensor *x, *g;
} giving;

static bool give_gradient(bool ok, void *user)
{
    const giving *t = user;
    return ok && hd_set_backward_grad(t->x, t->g);
}

static bool backward_giving(world *w, hd_tensor *x)
{
    giving t = {x, w->grad};
    hd_on_backward_end(give_gradient, &t);
    bool ok = hd_backward_with(w->loss, HD_NONE, true);
    hd_on_backward_end(NULL, NULL);
    return ok;
}

/* ---------------------------------------------------------------- attention */

static hd_attention_options attention_options(hd_tensor *mask, double dropout_p)
{
    hd_attention_options o = hd_attention_defaults();
    o.attn_mask = mask;
    o.dropout_p = dropout_p;
    return o;
}

static hd_tensor *turned_columns(world *w, hd_tensor *x) /* x (3, 2) */
{
    return hd_rotary(x, hd_narrow(w->y, 1, 0, 2), hd_narrow(w->plain, 1, 1, 2));
}

static hd_tensor *plain_attention(world *w)
{
    hd_set_fused_attention(false);
    hd_tensor *y = hd_scaled_dot_product_attention(w->x, w->y, w->y, w->mask, 0.5, false);
    hd_set_fused_attention(true);
    return y;
}

#define ROWS "faults_memory/rows_ops.h"
#define TABLE table_ops
#define NAME "ops"
#define PARTS 0
#include "faults_memory/table.h"
