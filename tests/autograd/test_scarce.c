/* test_scarce.c - runs out of memory at each single allocation of a call. The call must report the
 * error and leak nothing, and leave the graph, values, versions and .grad unchanged. */
#include "suites.h"
#include "support/scarce.h"
#include "tensor/copy.h"

typedef struct inputs {
    hd_tensor *a, *b; /* (4,), (2,): leaves that require grad */
    hd_tensor *x, *v; /* a * 1, and a view of it (2,), both with retain_grad */
    hd_tensor *stale; /* another view of x (2,), which needs a new node, with retain_grad */
} inputs;

static int calls, freed; /* of users' ops */

static bool copy_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd__tensor_clone(x[0]);
    y[1] = y[0] ? hd__tensor_clone(x[0]) : NULL;
    return y[1] && hd_save(ctx, x[0]) && hd_save(ctx, y[0]);
}

static void copy_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_saved(ctx, 1) ? gy[0] : NULL;
}

static void copy_free(hd_ctx *ctx)
{
    (void)ctx;
    freed++;
}

static const hd_op copy_op = {sizeof(hd_op), "Copy", copy_forward, copy_backward, copy_free};

/* ---------------------------------------------------------------- scenarios */

/* The last call is the only one that may change what is checked, and it fails as a whole. */

static bool forward_and_backward(inputs *in)
{
    hd_tensor *ys[2], *y = own_square(own_mul(in->b, own_part(in->a, 0, 2)));
    return y && own_both(y, in->b, ys) && hd_backward_with(ys[0], ONES(ys[0]), false);
}

static bool gradients_of(inputs *in)
{
    hd_tensor *y = own_mul(own_square(in->b), in->b);
    return y && hd_grad_of(hd_list_of(y), hd_list_of(in->b), hd_list_of(ONES(y)), NULL);
}

static bool views(inputs *in)
{
    hd_tensor *ys[2];
    return own_halves(in->x, ys) && own_mul(ys[0], ys[1]) && own_wide(own_part(in->b, 0, 1), 3);
}

static bool change_of_a_plain_tensor(inputs *in)
{
    return own_mul_(in->x, in->a);
}

static bool change_through_a_view(inputs *in)
{
    return own_mul_(in->v, in->b);
}

static bool use_of_a_stale_view(inputs *in)
{
    return own_mul(in->stale, in->b);
}

static bool backward_through_slices(inputs *in)
{
    hd_tensor *x = own_scale(in->a, 2), *v = x ? own_part(x, 1, 3) : NULL;
    hd_tensor *y = v && own_mul_(v, in->b) ? own_mul(v, in->b) : NULL;
    return y && hd_backward_with(y, ONES(y), false);
}

static bool a_users_op(inputs *in)
{
    calls++;
    hd_list *y = hd_apply_multi_n(&copy_op, NULL, 2, 1, &in->b);
    hd_tensor *first = y ? hd_list_get(y, 0) : NULL;
    return first && hd_backward_with(first, ONES(first), false);
}

/* Its node may fail after it was begun: the edge to a stale view needs memory, too. */
static bool a_users_op_on_a_stale_view(inputs *in)
{
    calls++;
    return hd_apply_multi_n(&copy_op, NULL, 2, 1, &in->stale);
}

static hd_tensor *halves(hd_tensor *grad, void *user)
{
    (void)user;
    return scaled(grad, 0.5);
}

static bool hooks(inputs *in)
{
    hd_tensor *y = own_scale(in->b, 2);
    return y && hd_retain_grad(y) && hd_register_hook(y, halves, NULL) > 0 &&
           hd_backward_with(y, ONES(y), false);
}

static const struct {
    const char *name;
    bool (*run)(inputs *in);
} scenarios[] = {
    {"forward and backward", forward_and_backward},
    {"gradients of", gradients_of},
    {"views", views},
    {"change of a plain tensor", change_of_a_plain_tensor},
    {"change through a view", change_through_a_view},
    {"use of a stale view", use_of_a_stale_view},
    {"backward through slices", backward_through_slices},
    {"a user's op", a_users_op},
    {"a user's op on a stale view", a_users_op_on_a_stale_view},
    {"hooks", hooks},
};

/* ---------------------------------------------------------------- every allocation */

static void make_inputs(inputs *in)
{
    in->a = LEAF(1, 2, 3, 4);
    in->b = LEAF(5, 6);
    in->x = hd_retain_grad(own_scale(in->a, 1));
    in->v = hd_retain_grad(own_part(in->x, 1, 3));
    hd_tensor *y = own_scale(in->a, 1);
    in->stale = hd_retain_grad(own_part(y, 0, 2));
    ck_assert_ptr_nonnull(own_scale_(y, 3));
    ck_no_error();
}

static void same_inputs(const inputs *in, const hd__node *x, const hd__node *v)
{
    ck_elements(in->x, 1, 2, 3, 4);
    ck_elements(in->stale, 3, 6);
    ck_assert_int_eq(hd_version_of(in->x), 0);
    ck_assert_ptr_eq(in->x->attachment, x);
    ck_assert_ptr_eq(in->v->attachment, v);
    ck_assert(x->outs[0].extra->own->retain_grad && v->outs[0].extra->own->retain_grad);
    ck_assert_ptr_eq(hd_grad(in->a), HD_NONE);
    ck_assert_ptr_eq(hd_grad(in->b), HD_NONE);
    ck_assert(hd_grad_mode());
}

/* With block k refused, and all later ones unless once. Did the scenario need fewer blocks? */
static bool enough(scarce *s, int scenario, int64_t k, bool once)
{
    HD_SCOPE;
    inputs in;
    make_inputs(&in);
    const hd__node *x = in.x->attachment, *v = in.v->attachment;
    s->refused = 0;
    s->once = once;
    hd_scope *scope = hd_scope_open();
    s->left = k;
    bool ok = scenarios[scenario].run(&in);
    s->left = -1;
    hd_scope_close(scope);
    const bool refused = s->refused > 0;
    if (refused) {
        ck_assert_msg(!ok && hd_error_code() == HD_MEMORY, "%s, block %lld: %s, '%s'",
                      scenarios[scenario].name, (long long)k, ok ? "went well" : "failed",
                      hd_error_message());
        /* No scenario calls hd_backward, so no message may say so. */
        ck_assert_ptr_null(strstr(hd_error_message(), "hd_backward:"));
        hd_error_clear();
        same_inputs(&in, x, v);
    }
    ck_assert_msg(ok || refused, "%s: %s", scenarios[scenario].name, hd_error_message());
    return !refused;
}

START_TEST(every_block_refused_in_turn)
{
    scarce s = {.left = -1};
    scarce_use(&s);
    calls = freed = 0;
    int64_t k = 0;
    while (!enough(&s, _i, k, false)) {
        k++;
    }
    ck_assert_int_gt(k, 0);
    for (int64_t i = 0; i < k; i++) {
        enough(&s, _i, i, true);
    }
    ck_assert_int_eq(calls, freed);
    ck_assert_int_eq(s.blocks, 0);
    ck_assert_int_eq(hd_bytes_live(), 0);
    scarce_end();
}
END_TEST

Suite *suite_scarce(void)
{
    Suite *s = suite_create("scarce memory");
    suite_add_loop(s, every_block_refused_in_turn, sizeof scenarios / sizeof *scenarios);
    return s;
}
