/* test_guests.c - hooks and users' ops that break their rules: the call must succeed, or leave an
 * error and write nothing. */
#include "heed/autograd.h"
#include "ops/leaf.h"
#include "ops/suites.h"
#include "support/atomic.h"
#include "support/quarantine.h"
#include "support/support.h"

/* ---------------------------------------------------------------- what a guest does */

typedef void (*deed)(hd_tensor *x);

static deed deed_now; /* of the hook or the op that runs next; then NULL again */
static hd_scope *of_caller;

static void do_it(hd_tensor *x)
{
    deed d = deed_now;
    deed_now = NULL;
    if (d) {
        d(x);
    }
}

static void fails(hd_tensor *x)
{
    hd_view(x, 7);
}

static void clears_its_failure(hd_tensor *x)
{
    fails(x);
    hd_error_clear();
}

static void clears_and_sets_another(hd_tensor *x)
{
    clears_its_failure(x);
    hd_error_set(HD_USER, "another one");
}

/* The failure is that of the code around the op, whose forward clears it. */
static void lets_an_op_clear_it(hd_tensor *x);

static void sets_and_leaves(hd_tensor *x)
{
    (void)x;
    hd_error_set(HD_VALUE, "not good");
}

static void leaves_scopes_open(hd_tensor *x)
{
    hd_scope_open();
    hd_scope_open();
    hd_scope_open();
    hd_add(x, x);
}

static void leaves_one_open(hd_tensor *x)
{
    (void)x;
    hd_scope_open();
}

static void closes_the_callers(hd_tensor *x)
{
    (void)x;
    hd_scope_close(of_caller);
    of_caller = NULL;
}

static void closes_and_opens(hd_tensor *x)
{
    closes_the_callers(x);
    hd_scope_open();
}

/* Of a hook or an op's backward, the engine's own scope is closed with the caller's. */
static void closes_and_opens_as_many(hd_tensor *x)
{
    closes_and_opens(x);
    hd_scope_open();
}

static void turns_grad_mode_on(hd_tensor *x)
{
    (void)x;
    ck_assert(!hd_grad_mode());
    hd_set_grad_mode(true);
}

static void shuts_down(hd_tensor *x)
{
    (void)x;
    hd_shutdown();
    of_caller = NULL;
}

static void releases_it(hd_tensor *x)
{
    hd_release(x); /* of a hook's gradient; the others are not in a scope of theirs */
    hd_error_clear();
}

/* ---------------------------------------------------------------- guests */

static hd_tensor *doing_hook(hd_tensor *grad, void *user)
{
    (void)user;
    do_it(grad);
    return HD_NONE;
}

static bool doing_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    if (hd_ctx_user(ctx)) {
        do_it(x[0]);
    }
    y[0] = hd_mul_scalar(x[0], 2);
    return y[0];
}

static void doing_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    if (!hd_ctx_user(ctx)) {
        do_it(gy[0]);
    }
    gx[0] = hd_mul_scalar(gy[0], 2);
}

static const hd_op doing_op = {sizeof(hd_op), "Doing", doing_forward, doing_backward, NULL};

static hd_tensor *clearing_op(hd_tensor *x)
{
    deed_now = clears_its_failure;
    return hd_apply(&doing_op, of_caller, x); /* of_caller: any pointer that is not NULL */
}

static void lets_an_op_clear_it(hd_tensor *x)
{
    fails(x);
    clearing_op(x);
}

enum { HOOK, LEAF_HOOK, BACKWARD, FORWARD, PLACES };
enum { PLAIN, WITH, GRAD_OF, CALLS };

static const char *const functions[PLACES][CALLS] = {
    {"hd_backward", "hd_backward_with", "hd_grad_of"},
    {"hd_backward", "hd_backward_with", "hd_grad_of"},
    {"hd_backward", "hd_backward_with", "hd_grad_of"},
    {"hd_apply", "hd_apply", "hd_apply"},
};
static const char *const names[PLACES] = {"MulBackward0", "AccumulateGrad", "the backward of Doing",
                                          "the forward of Doing"};

/* y = 2 (3 x), and backward from it, with a guest at the place that does `what`. *id is that of the
 * hook. */
static bool run(int place, int call, deed what, hd_tensor *x, int64_t *id)
{
    hd_tensor *h = hd_mul_scalar(x, 3);
    *id = place == HOOK        ? hd_register_hook(h, doing_hook, NULL)
          : place == LEAF_HOOK ? hd_register_hook(x, doing_hook, NULL)
                               : 0;
    deed_now = place == FORWARD ? what : NULL;
    hd_tensor *y = hd_apply(&doing_op, place == BACKWARD ? NULL : x, h);
    if (!y) {
        return false;
    }
    deed_now = what;
    if (call == GRAD_OF) {
        return hd_grad_of(hd_list_of(y), hd_list_of(x), NULL, NULL);
    }
    return call == PLAIN ? hd_backward(y) : hd_backward_with(y, HD_NONE, false);
}

/* ---------------------------------------------------------------- errors */

typedef struct {
    deed what;
    hd_code code;        /* OK: the call ends well */
    const char *message; /* NULL: after the function, the guest and this: `rest` */
    const char *rest;
} expectation;

static const expectation expectations[] = {
    {fails, HD_SHAPE, "hd_view: (1,) as (7,): the 1 elements do not fit", NULL},
    {clears_its_failure, HD_OK, NULL, NULL},
    {clears_and_sets_another, HD_USER, "another one", NULL},
    {lets_an_op_clear_it, HD_STATE, NULL, "failed, and its error was cleared"},
    {sets_and_leaves, HD_VALUE, "not good", NULL},
    {leaves_scopes_open, HD_STATE, NULL,
     "left 3 scopes open. Call hd_scope_close for each hd_scope_open"},
    {leaves_one_open, HD_STATE, NULL,
     "left 1 scope open. Call hd_scope_close for each hd_scope_open"},
    {closes_the_callers, HD_STATE, NULL,
     "closed a scope that it had not opened: the tensors in it are gone"},
    {closes_and_opens, HD_STATE, NULL,
     "closed a scope that it had not opened: the tensors in it are gone"},
    {closes_and_opens_as_many, HD_STATE, NULL,
     "closed a scope that it had not opened: the tensors in it are gone"},
    {turns_grad_mode_on, HD_OK, NULL, NULL},
    {shuts_down, HD_STATE, NULL,
     "closed a scope that it had not opened: the tensors in it are gone"},
};

static const char *message_of(const expectation *e, int place, int call, int64_t id)
{
    static char text[400];
    char who[100];
    if (e->message) {
        return e->message;
    }
    if (id) {
        snprintf(who, sizeof who, "hook %lld of %s", (long long)id, names[place]);
    } else {
        snprintf(who, sizeof who, "%s", names[place]);
    }
    snprintf(text, sizeof text, "%s: %s%s %s", functions[place][call],
             e->what == lets_an_op_clear_it ? "a call inside " : "", who, e->rest);
    return text;
}

START_TEST(a_failure_leaves_an_error)
{
    for (int i = 0; i < PLACES * CALLS; i++) {
        const expectation *e = &expectations[_i];
        int place = i / CALLS, call = i % CALLS;
        int64_t id;
        hd_tensor *x = hd_retain(LEAF(1)); /* outside the scope that the guest may close */
        of_caller = hd_scope_open();
        bool ok = run(place, call, e->what, x, &id);
        ck_assert_msg(ok == (e->code == HD_OK), "place %d, call %d: %s", place, call,
                      hd_error_message());
        if (ok) {
            ck_no_error();
        } else {
            const char *message = message_of(e, place, call, id);
            ck_error(e->code, message);
        }
        ck_assert(hd_grad_mode());
        hd_tensor *g = hd_grad(x);
        if (ok && call != GRAD_OF) {
            ck_elements(g, 6);
        } else {
            ck_assert_ptr_eq(g, HD_NONE);
        }
        hd_scope_close(of_caller);
        hd_release(x);
        ck_no_error();
    }
}
END_TEST

static hd_tensor *freed_seen(hd_tensor *grad, void *user)
{
    (void)user;
    releases_it(grad);
    return grad;
}

START_TEST(a_hook_may_release_what_it_was_given)
{
    HD_SCOPE;
    int64_t id;
    hd_tensor *x = LEAF(1);
    ck_assert(run(HOOK, PLAIN, releases_it, x, &id));
    ck_elements(hd_grad(x), 6);
    hd_register_hook(x, freed_seen, NULL);
    if (quarantine_on()) {
        ck_assert(!hd_backward(hd_mul_scalar(x, 2)));
        ck_error(HD_STATE, "hd_backward: the result of a hook was freed by hd_release; hd_backward "
                           "made it");
    }
    ck_elements(hd_grad(x), 6);
}
END_TEST

/* ---------------------------------------------------------------- what guests draw */

static bool fails_after;

static void draws_numbers(hd_tensor *x)
{
    hd_rand(HD_FLOAT32, 700);
    if (fails_after) {
        fails(x);
    }
}

/* A call that succeeds has drawn; one that fails has drawn nothing. */
START_TEST(a_failure_draws_nothing)
{
    for (int i = 0; i < PLACES * CALLS * 2; i++) {
        HD_SCOPE;
        int64_t id;
        int place = i / 2 / CALLS, call = i / 2 % CALLS;
        fails_after = i % 2;
        hd_manual_seed(3);
        hd_rand(HD_FLOAT32, 5);
        uint64_t before = look_at_generator(0, hd_default_generator());
        ck_assert(run(place, call, draws_numbers, LEAF(1), &id) == !fails_after);
        hd_error_clear();
        ck_assert_msg((look_at_generator(0, hd_default_generator()) == before) == fails_after,
                      "place %d, call %d", place, call);
    }
    hd_tensor *x = LEAF(1), *h = hd_mul_scalar(x, 2);
    ck_assert_int_gt(hd_register_hook(h, doing_hook, NULL), 0);
    fails_after = false;
    deed_now = draws_numbers; /* the walk succeeds, and the call fails after it */
    uint64_t before = look_at_generator(0, hd_default_generator());
    ck_assert_ptr_null(hd_grad_of(hd_list_of(h), hd_list_of(x, LEAF(1)), NULL, NULL));
    ck_assert(!deed_now);
    hd_error_clear();
    ck_assert(look_at_generator(0, hd_default_generator()) == before);
    deed_now = draws_numbers;
    ck_assert_ptr_null(
        hd_apply_multi_n(&doing_op, x, 2, 1, (hd_tensor *[]){x})); /* y[1] is empty */
    ck_assert(!deed_now);
    hd_error_clear();
    ck_assert(look_at_generator(0, hd_default_generator()) == before);
}
END_TEST

/* The node of a leaf must stay until its .grad is written, even if a hook drops everything. */
static hd_tensor *to_drop[2];

static hd_tensor *drops_all(hd_tensor *grad, void *user)
{
    (void)grad, (void)user;
    for (int i = 0; i < 2; i++) {
        hd_release(to_drop[i]);
    }
    return HD_NONE;
}

START_TEST(a_hook_may_drop_the_graph)
{
    HD_SCOPE;
    int64_t before = hd_tensor_count();
    {
        HD_SCOPE;
        hd_tensor *x = LEAF(1), *z = LEAF(2), *y = hd_mul(hd_mul_scalar(x, 3), z);
        to_drop[0] = y;
        to_drop[1] = z;
        hd_register_hook(x, drops_all, NULL); /* the last one to get a gradient */
        ck_assert(hd_backward(y));
        ck_elements(hd_grad(x), 6);
    }
    ck_assert_int_eq(hd_tensor_count(), before);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- gradients changed in place */

static hd_tensor *handle; /* the caller's own tensor with the gradient */

static void scales(hd_tensor *g)
{
    hd_mul_scalar_(g, 3);
}

static void multiplies(hd_tensor *g)
{
    hd_mul_(g, g);
}

static void adds(hd_tensor *g)
{
    hd_add_(g, hd_ones(HD_FLOAT32, 2));
}

static void zeroes(hd_tensor *g)
{
    hd_zero_(g);
}

static void fills(hd_tensor *g)
{
    hd_fill_(g, 3);
}

static void copies(hd_tensor *g)
{
    hd_copy_(g, hd_ones(HD_FLOAT32, 2));
}

static void masks(hd_tensor *g)
{
    hd_masked_fill_(g, hd_ones(HD_BOOL, 2), 0);
}

static void draws(hd_tensor *g)
{
    hd_normal_(g, 0, 1);
}

static void assigns(hd_tensor *g)
{
    hd_setitem_scalar(g, 5, 0);
}

static void changes_a_view(hd_tensor *g)
{
    hd_zero_(hd_slice(g, 0, 0, 1));
}

static void changes_a_detached_one(hd_tensor *g)
{
    hd_zero_(hd_detach(g));
}

static void writes_data(hd_tensor *g)
{
    float *v = hd_data_mut(g);
    if (v) {
        v[0] = 9;
    }
}

static void sets_one(hd_tensor *g)
{
    hd_set(g, 9, 0);
}

static void copies_from_c(hd_tensor *g)
{
    const float v[] = {8, 9};
    hd_copy_from(g, v, sizeof v);
}

static void changes_the_callers(hd_tensor *g)
{
    (void)g;
    hd_zero_(handle);
}

static const struct {
    deed what;
    const char *function, *shape; /* of what is written to; NULL: (2,) */
} writes[] = {
    {scales, "hd_mul_scalar_", NULL},
    {multiplies, "hd_mul_", NULL},
    {adds, "hd_add_", NULL},
    {zeroes, "hd_zero_", NULL},
    {fills, "hd_fill_", NULL},
    {copies, "hd_copy_", NULL},
    {masks, "hd_masked_fill_", NULL},
    {draws, "hd_normal_", NULL},
    {assigns, "hd_setitem_scalar", "()"},
    {changes_a_view, "hd_zero_", "(1,)"},
    {changes_a_detached_one, "hd_zero_", NULL},
    {writes_data, "hd_data_mut", NULL},
    {sets_one, "hd_set", NULL},
    {copies_from_c, "hd_copy_from", NULL},
    {changes_the_callers, "hd_zero_", NULL},
};

/* z = a + op(b): both get the caller's gradient itself, in one memory. */
START_TEST(a_gradient_is_not_changed_in_place)
{
    static const char *const who[] = {"hook %lld of AddBackward0", "hook %lld of AccumulateGrad",
                                      "the backward of Doing"};
    for (int place = HOOK; place <= BACKWARD; place++) {
        HD_SCOPE;
        char given[100], message[300];
        hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4), *g = vec(HD_FLOAT32, 5, 6);
        hd_tensor *z = hd_add(a, hd_apply(&doing_op, place == BACKWARD ? NULL : g, b));
        ck_assert(hd_backward(hd_sum(a))); /* a.grad = 1, 1 */
        handle = g;
        int64_t version = hd_version_of(g);
        int64_t id =
            place == BACKWARD ? 0 : hd_register_hook(place == HOOK ? z : a, doing_hook, NULL);
        deed_now = writes[_i].what;
        ck_assert(!hd_backward_with(z, g, true));
        snprintf(given, sizeof given, who[place], (long long)id);
        snprintf(message, sizeof message,
                 "%s: x of %s lies in the memory of the gradient that %s was given, which must not "
                 "change. Return another tensor instead",
                 writes[_i].function, writes[_i].shape ? writes[_i].shape : "(2,)", given);
        ck_error(HD_GRAD, message);
        ck_elements(g, 5, 6);
        ck_elements(hd_grad(a), 1, 1);
        ck_assert_ptr_eq(hd_grad(b), HD_NONE);
        ck_assert_int_eq(hd_version_of(g), version);
        ck_assert(hd_backward_with(z, g, false)); /* without the deed */
        ck_elements(hd_grad(a), 6, 7);
        ck_elements(hd_grad(b), 10, 12);
        ck_assert(hd_zero_(g)); /* it is lent no more */
        ck_no_error();
    }
}
END_TEST

static hd_tensor *changes_a_clone(hd_tensor *grad, void *user)
{
    (void)user;
    return hd_mul_scalar_(hd_clone(grad), 10);
}

START_TEST(a_clone_may_be_changed)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2);
    hd_register_hook(a, changes_a_clone, NULL);
    ck_assert(hd_backward(hd_sum(a)));
    ck_elements(hd_grad(a), 10, 10);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- backward inside backward */

static hd_tensor *inner; /* the hook's own run begins there */
static bool inner_clears;

static hd_tensor *runs_inner(hd_tensor *grad, void *user)
{
    (void)grad, (void)user;
    hd_tensor *y = inner;
    inner = NULL;
    if (y && !hd_backward_with(y, HD_NONE, true) && inner_clears) {
        hd_error_clear();
    }
    return HD_NONE;
}

/* torch: x.grad is 5 + 10 */
START_TEST(an_inner_run_may_share_leaves)
{
    HD_SCOPE;
    hd_tensor *x = LEAF(1), *a = hd_mul_scalar(x, 2), *b = hd_mul_scalar(x, 3);
    inner = hd_mul_scalar(x, 10);
    hd_register_hook(a, runs_inner, NULL); /* b's gradient waits at x by then */
    ck_assert(hd_backward(hd_add(a, b)));
    ck_elements(hd_grad(x), 15);

    hd_tensor *z = LEAF(1); /* the leaf's own hook: 2 + 10 */
    inner = hd_mul_scalar(z, 10);
    hd_register_hook(z, runs_inner, NULL);
    ck_assert(hd_backward(hd_mul_scalar(z, 2)));
    ck_elements(hd_grad(z), 12);
    ck_no_error();
}
END_TEST

/* torch: the inner run's x.grad stays when the outer one fails: 10 */
START_TEST(an_inner_run_stands_on_its_own)
{
    HD_SCOPE;
    hd_tensor *x = LEAF(1), *a = hd_mul_scalar(x, 2), *b = hd_mul_scalar(x, 3);
    inner = hd_mul_scalar(x, 10);
    hd_register_hook(a, runs_inner, NULL);
    hd_register_hook(a, doing_hook, NULL);
    deed_now = fails;
    ck_assert(!hd_backward(hd_add(a, b)));
    hd_error_clear();
    ck_elements(hd_grad(x), 10);
}
END_TEST

START_TEST(an_inner_run_over_the_same_nodes)
{
    for (int way = 0; way < 4; way++) {
        HD_SCOPE;
        bool running = way < 2; /* the inner run begins at the node whose hook runs */
        inner_clears = way % 2;
        hd_tensor *x = LEAF(2), *h = hd_exp(x), *a = hd_mul_scalar(h, 3), *b = hd_mul_scalar(h, 4);
        inner = running ? b : hd_mul_scalar(h, 5);
        hd_register_hook(running ? b : a, runs_inner, NULL); /* b before a: h has a gradient then */
        bool ok = hd_backward(hd_add(a, b));
        ck_assert_int_eq(ok, inner_clears);
        if (!ok) {
            ck_error(HD_STATE,
                     running
                         ? "hd_backward_with: a hook or a user's op started this backward inside "
                           "another one, and both reach MulBackward0, where gradients of the outer "
                           "one are waiting. Give the inner one a graph of its own"
                         : "hd_backward_with: a hook or a user's op started this backward inside "
                           "another one, and both reach ExpBackward0, where gradients of the outer "
                           "one are waiting. Give the inner one a graph of its own");
            ck_assert_ptr_eq(hd_grad(x), HD_NONE);
        } else {
            ck_assert(hd_get(hd_grad(x), 0) == hd_item(hd_mul_scalar(h, 7)));
        }
        ck_no_error();
    }
    inner_clears = false;
}
END_TEST

static hd_list *inner_xs;

static hd_tensor *asks_inner(hd_tensor *grad, void *user)
{
    (void)grad;
    hd_grad_options o = hd_grad_defaults();
    o.retain_graph = true;
    hd_list *g = hd_grad_of(hd_list_of(inner), inner_xs, NULL, &o);
    *(double *)user = g ? hd_item(hd_list_get(g, 0)) : NAN;
    return HD_NONE;
}

/* torch: the inner run goes over nodes that the outer one comes to later, and both are right. */
START_TEST(grad_of_inside_grad_of)
{
    HD_SCOPE;
    double seen = 0;
    hd_tensor *x = LEAF(2), *h = hd_mul(x, x), *y = hd_mul_scalar(h, 3);
    inner = h;
    inner_xs = hd_list_of(h);
    hd_register_hook(y, asks_inner, &seen);
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(x), NULL, NULL);
    ck_assert_ptr_nonnull(g);
    ck_elements(hd_list_get(g, 0), 12);
    ck_assert(seen == 1);
    inner_xs = hd_list_of(x);
    h = hd_mul(x, x);
    y = hd_mul_scalar(h, 3);
    inner = h;
    hd_register_hook(y, asks_inner, &seen);
    hd_set_grad(x, HD_NONE);
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(x), 12);
    ck_assert(seen == 4);
    inner = NULL;
    ck_no_error();
}
END_TEST

static int deep;

static hd_tensor *runs_deeper(hd_tensor *grad, void *user)
{
    (void)grad;
    deep++;
    hd_set_grad_mode(true);
    hd_tensor *x = LEAF(1);
    hd_register_hook(x, runs_deeper, user);
    hd_backward(hd_mul_scalar(x, 2));
    return HD_NONE;
}

/* An output of split whose base was changed: hd_grad_of fails when it has looked at `first`. */
typedef struct half_looked_at {
    hd_tensor *first, *w, *stale;
} half_looked_at;

static hd_tensor *look_at_half(hd_tensor *g, void *user)
{
    (void)g;
    const half_looked_at *h = user;
    ck_assert_ptr_null(hd_grad_of(hd_list_of(h->first, h->stale), hd_list_of(h->w), NULL, NULL));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    hd_error_clear();
    return HD_NONE;
}

START_TEST(an_inner_run_that_fails_while_it_looks)
{
    HD_SCOPE;
    for (int way = 0; way < 2; way++) {
        hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
        hd_tensor *base = hd_mul_scalar(w, 1), *stale = hd_list_get(hd_split(base, 1, 0), 0);
        hd_fill_(base, 3);
        hd_tensor *a = hd_relu(hd_mul_scalar(w, 2)), *b = hd_mul_scalar(w, 3);
        half_looked_at h = {way ? w : a, w, stale};
        hd_register_hook(b, look_at_half, &h);
        ck_assert_msg(hd_backward(hd_add(hd_sum(way ? w : a), hd_sum(b))), "%s",
                      hd_error_message());
        ck_repr(hd_grad(w), way ? "tensor([4., 4.])" : "tensor([5., 5.])");
    }
}
END_TEST

static hd_tensor *record_a_gradient(hd_tensor *g, void *user)
{
    hd_set_grad_mode(true);
    return hd_mul(g, user);
}

START_TEST(a_gradient_keeps_no_graph)
{
    int64_t before = hd_tensor_count();
    {
        HD_SCOPE;
        hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
        hd_register_hook(w, record_a_gradient, w);
        ck_assert(hd_backward(hd_sum(hd_mul_scalar(w, 2))));
        ck_repr(hd_grad(w), "tensor([2., 2.])");
    }
    ck_assert_int_eq(hd_tensor_count(), before); /* w -> .grad -> graph -> w would be a cycle */
}
END_TEST

START_TEST(runs_inside_each_other_without_end)
{
    HD_SCOPE;
    hd_tensor *x = LEAF(1);
    deep = 0;
    hd_register_hook(x, runs_deeper, NULL);
    ck_assert(!hd_backward(hd_mul_scalar(x, 2)));
    ck_error(HD_STATE, "hd_backward: 200 backwards run inside each other: expected fewer");
    ck_assert_int_eq(deep, 200);
    ck_assert(hd_backward(hd_mul_scalar(LEAF(1), 2)));
}
END_TEST

Suite *suite_guests(void)
{
    const TTest *const tests[] = {
        a_hook_may_release_what_it_was_given,
        a_failure_draws_nothing,
        a_hook_may_drop_the_graph,
        a_clone_may_be_changed,
        an_inner_run_may_share_leaves,
        an_inner_run_stands_on_its_own,
        an_inner_run_over_the_same_nodes,
        grad_of_inside_grad_of,
        an_inner_run_that_fails_while_it_looks,
        a_gradient_keeps_no_graph,
        runs_inside_each_other_without_end,
    };
    Suite *s = SUITE_OF("guests", tests);
    suite_add_loop(s, a_failure_leaves_an_error, sizeof expectations / sizeof *expectations);
    suite_add_loop(s, a_gradient_is_not_changed_in_place, sizeof writes / sizeof *writes);
    return s;
}
