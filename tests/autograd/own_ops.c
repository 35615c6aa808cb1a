/* own_ops.c - small ops for the tests of the engine; see own_ops.h. */
#include "own_ops.h"

#include "support/support.h"

#include "tensor/copy.h"
#include "tensor/elementwise.h"

char own_ran[256];

void own_ran_clear(void)
{
    own_ran[0] = '\0';
}

static void note(const hd__node *n)
{
    size_t used = strlen(own_ran);
    snprintf(own_ran + used, sizeof own_ran - used, "%s ", n->op->name);
}

/* ---------------------------------------------------------------- unrecorded maths */

hd_tensor *product_of(hd_tensor *a, hd_tensor *b)
{
    hd_dtype d;
    hdk_loop loop = a && b ? hd__loop_arith(HDK_MUL, a, b, &d) : NULL;
    return loop ? hd__map_binary(loop, d, d, a, b) : NULL;
}

static hd_tensor *number(hd_tensor *x, double s)
{
    return x ? hd_full_n((hd_dtype)x->dtype, s, 0, NULL) : NULL;
}

hd_tensor *scaled(hd_tensor *x, double s)
{
    return product_of(x, number(x, s));
}

/* x = y; NULL where y could not be made. */
static hd_tensor *written(hd_tensor *x, const hd_tensor *y)
{
    if (!x || !y) {
        return NULL;
    }
    hd__tensor_copy(x, y);
    return x;
}

/* ---------------------------------------------------------------- plain ops */

/* da += dy b,  db += dy a */
static void mul_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    note(n);
    for (int i = 0; i < 2; i++) {
        if (hd__node_needs(n, i)) {
            dx[i] = product_of(dy[0], hd__node_saved_get(n, 1 - i));
        }
    }
}

static const hd__op mul_op = {.name = "OwnMul", .backward = mul_backward};

hd_tensor *own_mul(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("own_mul");
    if (!a || !b) {
        return NULL;
    }
    hd_tensor *in[] = {a, b};
    hd_tensor *saved[] = {hd__record_save_if(hd__record_wants_grad(b), a),
                          hd__record_save_if(hd__record_wants_grad(a), b)};
    const hd__record_args args = {.n_in = 2, .in = in, .n_saved = 2, .saved = saved};
    return hd__record(&mul_op, product_of(a, b), &args);
}

/* dx += dy s */
static void scale_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    note(n);
    dx[0] = scaled(dy[0], *(const double *)hd__node_params(n));
}

static const hd__op scale_op = {.name = "OwnScale", .backward = scale_backward};

hd_tensor *own_scale(hd_tensor *x, double s)
{
    HD__CALL("own_scale");
    if (!x) {
        return NULL;
    }
    const hd__record_args args = {.n_in = 1, .in = &x, .params = &s, .params_size = sizeof s};
    return hd__record(&scale_op, scaled(x, s), &args);
}

/* dx += dy 2 x, where y is fetched to see that it was saved after x */
static void square_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    note(n);
    hd_tensor *x = hd__node_saved_get(n, 0), *y = hd__node_saved_get(n, 1);
    ck_assert(!x || !y || element_at(y, 0) == element_at(x, 0) * element_at(x, 0));
    dx[0] = y ? scaled(product_of(dy[0], x), 2) : NULL;
}

static const hd__op square_op = {.name = "OwnSquare", .backward = square_backward};

hd_tensor *own_square(hd_tensor *x)
{
    HD__CALL("own_square");
    if (!x) {
        return NULL;
    }
    const hd__record_args args = {.n_in = 1, .in = &x, .n_saved = 1, .saved = &x, .save_y = true};
    return hd__record(&square_op, product_of(x, x), &args);
}

/* da += dy0 b + 3 dy1,  db += dy0 a */
static void both_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    note(n);
    hd_tensor *a = hd__node_saved_get(n, 0), *b = hd__node_saved_get(n, 1);
    hd_tensor *left = product_of(dy[0], b), *right = scaled(dy[1], 3);
    dx[0] = left && right ? hd__loop_add(left, right) : NULL;
    if (hd__node_needs(n, 1)) {
        dx[1] = product_of(dy[0], a);
    }
}

static const hd__op both_op = {.name = "OwnBoth", .backward = both_backward};

bool own_both(hd_tensor *a, hd_tensor *b, hd_tensor *ys[2])
{
    hd_tensor *in[] = {a, b};
    ys[0] = product_of(a, b);
    ys[1] = ys[0] ? scaled(a, 3) : NULL;
    const hd__record_args args = {.n_in = 2, .in = in, .n_saved = 2, .saved = in};
    return ys[1] && hd__record_multi(&both_op, 2, ys, &args);
}

static void faulty_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    note(n);
    switch (*(const int *)hd__node_params(n)) {
    case GIVES_NULL: dx[0] = NULL; break;
    case GIVES_FIVE: dx[0] = hd_zeros(HD_FLOAT32, 5); break;
    default:
        dx[0] = dy[0]; /* which does not help after a failure */
        hd_fail(HD_VALUE, "no");
    }
}

static const hd__op faulty_op = {.name = "OwnFaulty", .backward = faulty_backward};

hd_tensor *own_faulty(hd_tensor *x, int fault)
{
    HD__CALL("own_faulty");
    if (!x) {
        return NULL;
    }
    const hd__record_args args = {
        .n_in = 1, .in = &x, .params = &fault, .params_size = sizeof fault};
    return hd__record(&faulty_op, hd__tensor_clone(x), &args);
}

/* ---------------------------------------------------------------- views */

/* dx = 0, but dy at the part */
static void part_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    note(n);
    const hd__node_out_meta *meta = hd__node_input_meta(n, 0);
    hd_tensor *zeros = hd_zeros_n((hd_dtype)dy[0]->dtype, meta->ndim, meta->sizes);
    const int64_t begin = *(const int64_t *)hd__node_params(n);
    hd_tensor *part =
        zeros ? hd__tensor_alias(zeros, 1, dy[0]->sizes, zeros->strides, begin) : NULL;
    dx[0] = written(part, dy[0]) ? zeros : NULL;
}

static const hd__op part_op = {.name = "OwnPart", .backward = part_backward};

hd_tensor *own_part(hd_tensor *x, int64_t begin, int64_t end)
{
    HD__CALL("own_part");
    if (!x) {
        return NULL;
    }
    const int64_t size = end - begin;
    hd_tensor *y = hd__tensor_alias(x, 1, &size, x->strides, x->offset + begin * x->strides[0]);
    return hd__record_view(&part_op, y, x, &begin, sizeof begin);
}

/* dx += dy, which the engine sums */
static void wide_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    note(n);
    dx[0] = dy[0];
}

static const hd__op wide_op = {.name = "OwnWide", .backward = wide_backward};

hd_tensor *own_wide(hd_tensor *x, int64_t n)
{
    HD__CALL("own_wide");
    if (!x) {
        return NULL;
    }
    return hd__record_view(&wide_op, hd__tensor_expand(x, 1, &n), x, NULL, 0);
}

/* dx = dy0 and dy1, one after the other */
static void halves_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    note(n);
    const hd__node_out_meta *meta = hd__node_input_meta(n, 0);
    hd_tensor *whole = hd_zeros_n((hd_dtype)meta->dtype, meta->ndim, meta->sizes);
    dx[0] = whole;
    for (int k = 0; k < 2 && dx[0]; k++) {
        const int64_t half = meta->sizes[0] / 2;
        hd_tensor *part = hd__tensor_alias(whole, 1, &half, whole->strides, k * half);
        dx[0] = part && (!dy[k] || written(part, dy[k])) ? whole : NULL;
    }
}

static const hd__op halves_op = {.name = "OwnHalves", .backward = halves_backward};

bool own_halves(hd_tensor *x, hd_tensor *ys[2])
{
    const int64_t half = x->sizes[0] / 2;
    ys[0] = hd__tensor_alias(x, 1, &half, x->strides, x->offset);
    ys[1] =
        ys[0] ? hd__tensor_alias(x, 1, &half, x->strides, x->offset + half * x->strides[0]) : NULL;
    return ys[1] && hd__record_multi_view(&halves_op, 2, ys, x, NULL, 0);
}

/* ---------------------------------------------------------------- in place */

static const hd__op mul_in_place_op = {.name = "OwnMul_", .backward = mul_backward};
static const hd__op scale_in_place_op = {.name = "OwnScale_", .backward = scale_backward};

hd_tensor *own_mul_(hd_tensor *x, hd_tensor *b)
{
    HD__CALL("own_mul_");
    hd_tensor *in[] = {x, b};
    if (!hd__graph_inplace_ok(x, 2, in)) {
        return NULL;
    }
    hd_tensor *saved[] = {hd__record_wants_grad(b) ? hd__tensor_clone(x) : HD_NONE,
                          hd__record_save_if(hd__record_wants_grad(x), b)};
    const hd__record_args args = {.n_in = 2, .in = in, .n_saved = 2, .saved = saved};
    hd_tensor *y = saved[0] ? product_of(x, b) : NULL;
    return y && hd__record_inplace(&mul_in_place_op, x, &args) ? written(x, y) : NULL;
}

hd_tensor *own_scale_(hd_tensor *x, double s)
{
    HD__CALL("own_scale_");
    const hd__record_args args = {.n_in = 1, .in = &x, .params = &s, .params_size = sizeof s};
    hd_tensor *y = hd__graph_inplace_ok(x, 1, &x) ? scaled(x, s) : NULL;
    return y && hd__record_inplace(&scale_in_place_op, x, &args) ? written(x, y) : NULL;
}
