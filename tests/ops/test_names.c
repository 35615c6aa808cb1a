/* test_names.c - the grad_fn of every operation has PyTorch's name (tests/golden/modules.txt); the
 * tests of nn have the cases of modules. */
#include "support/golden_reader.h"
#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"

/* The leaves that tests/golden/README.md lists: element i is i + 1. */
typedef struct operands {
    hd_tensor *a, *b, *x, *h, *v3, *v4, *v5, *w, *w2, *bias, *i, *i3, *i25;
} operands;

static hd_tensor *leaf(int ndim, const int64_t *sizes)
{
    int64_t numel = 1;
    for (int d = 0; d < ndim; d++) {
        numel *= sizes[d];
    }
    hd_tensor *x = hd_view_n(hd_arange_as(HD_FLOAT32, 1, numel + 1, 1), ndim, sizes);
    return hd_requires_grad_(hd_clone(x), true);
}
#define LEAF(...) leaf(HD__LIST(__VA_ARGS__))

static operands make_operands(void)
{
    return (operands){
        .a = LEAF(3, 4),
        .b = LEAF(4, 2),
        .x = LEAF(2, 5, 4),
        .h = LEAF(2, 2, 5, 3),
        .v3 = LEAF(3),
        .v4 = LEAF(4),
        .v5 = LEAF(5),
        .w = LEAF(2, 4),
        .w2 = LEAF(2, 3),
        .bias = LEAF(2),
        .i = hd_arange(0, 2, 1),
        .i3 = hd_arange(0, 3, 1),
        .i25 = hd_zeros(HD_INT64, 2, 4),
    };
}

/* The result of the case, or HD_NONE if there is no such case here. */
static hd_tensor *result(const char *name, const operands *o)
{
    static const int64_t four[] = {4};
    hd_cross_entropy_options each = hd_cross_entropy_defaults();
    each.reduction = HD_REDUCE_NONE;
#define NAMED(case, y)                                                                             \
    if (strcmp(name, "grad_fn_" #case) == 0) {                                                     \
        return y;                                                                                  \
    }
    NAMED(mm, hd_matmul(o->a, o->b))
    NAMED(mv, hd_matmul(o->a, o->v4))
    NAMED(dot, hd_matmul(o->v4, o->v4))
    NAMED(dot_call, hd_dot(o->v4, o->v4))
    NAMED(vec_mat, hd_matmul(o->v3, o->a))
    NAMED(matmul_3d_2d, hd_matmul(o->x, o->b))
    NAMED(matmul_3d_3d, hd_matmul(o->x, hd_transpose(o->x, 1, 2)))
    NAMED(matmul_4d_4d, hd_matmul(o->h, hd_transpose(o->h, 2, 3)))
    NAMED(matmul_2d_3d, hd_matmul(o->a, hd_transpose(o->x, 1, 2)))
    NAMED(matmul_3d_1d, hd_matmul(o->x, o->v4))
    NAMED(matmul_1d_3d, hd_matmul(o->v5, o->x))
    NAMED(linear_1d, hd_linear(o->v4, o->w, HD_NONE))
    NAMED(linear_1d_bias, hd_linear(o->v4, o->w, o->bias))
    NAMED(linear_2d, hd_linear(o->a, o->w, HD_NONE))
    NAMED(linear_2d_bias, hd_linear(o->a, o->w, o->bias))
    NAMED(linear_3d, hd_linear(o->x, o->w, HD_NONE))
    NAMED(linear_3d_bias, hd_linear(o->x, o->w, o->bias))
    NAMED(linear_4d, hd_linear(o->h, o->w2, HD_NONE))
    NAMED(linear_4d_bias, hd_linear(o->h, o->w2, o->bias))
    NAMED(view, hd_view(o->a, 4, 3))
    NAMED(reshape, hd_reshape(o->a, 12))
    NAMED(reshape_copy, hd_reshape(hd_t(o->a), 12))
    NAMED(flatten, hd_flatten(o->x, 0, 1))
    NAMED(flatten_copy, hd_flatten(hd_transpose(o->x, 0, 1), 0, -1))
    NAMED(flatten_1d, hd_flatten(o->v4, 0, -1))
    NAMED(transpose, hd_transpose(o->a, 0, 1))
    NAMED(t, hd_t(o->a))
    NAMED(permute, hd_permute(o->x, 2, 0, 1))
    NAMED(expand, hd_expand(o->v4, 3, 4))
    NAMED(squeeze, hd_squeeze(hd_slice(o->x, 0, 0, 1), 0))
    NAMED(squeeze_all, hd_squeeze_all(hd_slice(o->x, 0, 0, 1)))
    NAMED(unsqueeze, hd_unsqueeze(o->a, 0))
    NAMED(select, hd_getitem(o->a, 0))
    NAMED(slice, hd_slice(o->a, 0, 0, 2))
    NAMED(slice_step, hd_slice_step(o->a, 0, 0, 3, 2))
    NAMED(narrow, hd_narrow(o->a, 0, 0, 2))
    NAMED(select_dim, hd_select(o->a, 1, 0))
    NAMED(split, hd_list_get(hd_split(o->a, 2, 0), 0))
    NAMED(split_sizes, hd_list_get(hd_split_sizes_n(o->a, 2, (int64_t[]){1, 2}, 0), 0))
    NAMED(chunk, hd_list_get(hd_chunk(o->a, 2, 0), 0))
    NAMED(unbind, hd_list_get(hd_unbind(o->a, 0), 0))
    NAMED(contiguous, hd_contiguous(hd_t(o->a)))
    NAMED(clone, hd_clone(o->a))
    NAMED(double, hd_to(o->a, HD_FLOAT64))
    NAMED(cat, hd_cat(0, o->a, o->a))
    NAMED(stack, hd_stack(0, o->a, o->a))
    NAMED(tril, hd_tril(o->a, 0))
    NAMED(triu, hd_triu(o->a, 1))
    NAMED(add, hd_add(o->a, o->a))
    NAMED(sub, hd_sub(o->a, o->a))
    NAMED(mul, hd_mul(o->a, o->a))
    NAMED(div, hd_div(o->a, o->a))
    NAMED(pow, hd_pow(o->a, o->a))
    NAMED(add_scalar, hd_add_scalar(o->a, 1))
    NAMED(sub_scalar, hd_sub_scalar(o->a, 1))
    NAMED(rsub_scalar, hd_rsub_scalar(o->a, 1))
    NAMED(mul_scalar, hd_mul_scalar(o->a, 2))
    NAMED(div_scalar, hd_div_scalar(o->a, 2))
    NAMED(rdiv_scalar, hd_rdiv_scalar(o->a, 1))
    NAMED(rdiv_scalar_2, hd_rdiv_scalar(o->a, 2))
    NAMED(pow_scalar, hd_pow_scalar(o->a, 2))
    NAMED(neg, hd_neg(o->a))
    NAMED(exp, hd_exp(o->a))
    NAMED(log, hd_log(o->a))
    NAMED(sqrt, hd_sqrt(o->a))
    NAMED(rsqrt, hd_rsqrt(o->a))
    NAMED(tanh, hd_tanh(o->a))
    NAMED(erf, hd_erf(o->a))
    NAMED(sigmoid, hd_sigmoid(o->a))
    NAMED(relu, hd_relu(o->a))
    NAMED(gelu, hd_gelu(o->a))
    NAMED(gelu_tanh, hd_gelu_tanh(o->a))
    NAMED(abs, hd_abs(o->a))
    NAMED(clamp, hd_clamp(o->a, 0, 1))
    NAMED(clamp_min, hd_clamp_min(o->a, 0))
    NAMED(clamp_max, hd_clamp_max(o->a, 1))
    NAMED(maximum, hd_maximum(o->a, o->a))
    NAMED(minimum, hd_minimum(o->a, o->a))
    NAMED(where, hd_where(hd_gt_scalar(o->a, 0), o->a, hd_mul_scalar(o->a, 2)))
    NAMED(masked_fill, hd_masked_fill(o->a, hd_gt_scalar(o->a, 0), 1.0))
    NAMED(sum, hd_sum(o->a))
    NAMED(sum_dim, hd_sum_dim(o->a, 0, false))
    NAMED(sum_dims, hd_sum_dims(o->a, false, 0, 1))
    NAMED(mean, hd_mean(o->a))
    NAMED(mean_dim, hd_mean_dim(o->a, 0, false))
    NAMED(var, hd_var(o->a, 1))
    NAMED(var_dim, hd_var_dim(o->a, 0, 1, false))
    NAMED(logsumexp, hd_logsumexp_dim(o->a, 0, false))
    NAMED(max, hd_max(o->a))
    NAMED(min, hd_min(o->a))
    NAMED(max_dim, hd_max_dim(o->a, 0, false, NULL))
    NAMED(min_dim, hd_min_dim(o->a, 0, false, NULL))
    NAMED(softmax, hd_softmax(o->a, -1))
    NAMED(log_softmax, hd_log_softmax(o->a, -1))
    NAMED(cumsum, hd_cumsum(o->a, 0))
    NAMED(index_select, hd_index_select(o->a, 0, o->i))
    NAMED(gather, hd_gather(o->a, 0, hd_view(o->i, 1, 2)))
    NAMED(embedding, hd_embedding(o->i, o->a, -1))
    NAMED(topk, hd_topk(o->a, 2, -1, true, NULL))
    NAMED(dropout, hd_dropout(o->a, 0.5, true))
    NAMED(dropout_p1, hd_dropout(o->a, 1, true))
    NAMED(layer_norm, hd_layer_norm_n(o->a, 1, four, HD_NONE, HD_NONE, 1e-5))
    NAMED(layer_norm_affine, hd_layer_norm_n(o->a, 1, four, o->v4, o->v4, 1e-5))
    NAMED(mse_loss, hd_mse_loss(o->a, hd_detach(o->a)))
    NAMED(mse_loss_sum, hd_mse_loss_with(o->a, hd_detach(o->a), HD_SUM))
    NAMED(mse_loss_none, hd_mse_loss_with(o->a, hd_detach(o->a), HD_REDUCE_NONE))
    NAMED(cross_entropy, hd_cross_entropy(o->a, o->i3))
    NAMED(cross_entropy_1d, hd_cross_entropy(o->v4, hd_select(o->i, 0, 0)))
    NAMED(cross_entropy_3d, hd_cross_entropy(o->x, o->i25))
    NAMED(cross_entropy_none, hd_cross_entropy_with(o->a, o->i3, &each))
    NAMED(add_, hd_add_(hd_clone(o->a), o->a))
    NAMED(mul_, hd_mul_scalar_(hd_clone(o->a), 2))
    NAMED(div_, hd_div_scalar_(hd_clone(o->a), 2))
    NAMED(sub_, hd_sub_(hd_clone(o->a), o->a))
    NAMED(fill_, hd_fill_(hd_clone(o->a), 2))
    NAMED(zero_, hd_zero_(hd_clone(o->a)))
    NAMED(copy_, hd_copy_(hd_zeros(HD_FLOAT32, 3, 4), o->a))
    NAMED(masked_fill_, hd_masked_fill_(hd_clone(o->a), hd_gt_scalar(o->a, 0), 1.0))
    NAMED(setitem, hd_setitem_scalar(hd_clone(o->a), 5.0, 0))
    NAMED(setitem_tensor, hd_setitem(hd_zeros(HD_FLOAT32, 3, 4), o->v4, 0))
    return HD_NONE;
}

/* What nn makes. */
static bool of_a_module(const char *name)
{
    static const char *const starts[] = {"sa_", "causal", "wrapper", "mha", "packed"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (strncmp(name + strlen("grad_fn_"), starts[i], strlen(starts[i])) == 0) {
            return true;
        }
    }
    return false;
}

START_TEST(every_name_is_pytorchs)
{
    golden_file *f = golden_read(GOLDEN_DIR "/modules.txt");
    int compared = 0;
    ck_assert_ptr_nonnull(f);
    for (int k = 0; k < f->count; k++) {
        HD_SCOPE;
        const golden_case *c = &f->cases[k];
        if (strncmp(c->name, "grad_fn_", strlen("grad_fn_")) != 0 || of_a_module(c->name)) {
            continue;
        }
        operands o = make_operands();
        hd_tensor *y = result(c->name, &o);
        ck_assert_msg(y && y != HD_NONE, "%s: %s: %s", c->name, golden_text(c, "python", ""),
                      hd_error_message());
        const char *name = hd_grad_fn(y), *want = golden_text(c, "name", "?");
        ck_assert_msg(strcmp(name, want) == 0, "%s: %s is %s, expected %s", c->name,
                      golden_text(c, "python", ""), name, want);
        compared++;
    }
    ck_assert_int_gt(compared, 100);
    golden_free(f);
}
END_TEST

static hd_tensor *ones_leaf(int n, const int64_t *sizes)
{
    return hd_requires_grad_(hd_ones_n(HD_FLOAT32, n, sizes), true);
}
#define ONES(...) ones_leaf((int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})

#define ck_name(y, name) ck_assert_str_eq(hd_grad_fn(y), name)

/* x[()] is an alias, also of a 0-d x; filling with one number is FillBackward3 where it is written
 * as an assignment. All of these names are PyTorch's. */
START_TEST(assignments_and_whole_tensors)
{
    HD_SCOPE;
    hd_tensor *x = ONES(3, 4), *one = hd_requires_grad_(hd_scalar_tensor(HD_FLOAT32, 2), true);
    ck_name(hd_getitem_n(x, 0, NULL), "AliasBackward0");
    ck_name(hd_getitem_n(one, 0, NULL), "AliasBackward0");
    ck_assert(hd_shares_storage(hd_getitem_n(x, 0, NULL), x));
    ck_name(hd_getitem(x, HD_ALL), "SliceBackward0");
    ck_name(hd_getitem(x, HD_ALL, HD_ALL), "AliasBackward0");
    ck_name(hd_setitem_scalar(hd_clone(x), 0.25, HD_ALL), "FillBackward3");
    ck_name((hd_setitem_scalar_n)(hd_clone(x), hd_scalar_double(0.25), 0, NULL), "FillBackward3");
    ck_name(hd_setitem_scalar(hd_clone(x), 0.25, 0), "CopySlices");
    ck_name(hd_fill_(hd_clone(x), 0.25), "FillBackward2");
    hd_tensor *y = hd_setitem(hd_zeros(HD_FLOAT32, 3, 4), one, HD_ALL);
    ck_name(y, "FillBackward3");
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(one), 12);
    ck_name(hd_setitem(hd_zeros(HD_FLOAT32, 3, 4), ONES(4), HD_ALL), "CopyBackwards");
    ck_name(hd_setitem(hd_zeros(HD_FLOAT32, 3, 4), hd_view(one, 1), HD_ALL), "CopyBackwards");
    ck_no_error();
}
END_TEST

START_TEST(linear_of_any_layout)
{
    HD_SCOPE;
    hd_tensor *w = ONES(2, 4), *b = ONES(2), *strided = hd_slice_step(ONES(8), 0, 0, 8, 2);
    hd_tensor *wide = hd_expand(ONES(1), 2);
    ck_name(hd_linear(ONES(4), w, b), "ViewBackward0");
    ck_name(hd_linear(strided, w, b), "AddBackward0");
    ck_name(hd_linear(strided, w, HD_NONE), "SqueezeBackward4");
    ck_name(hd_linear(ONES(4), w, wide), "AddBackward0");
    ck_name(hd_linear(ONES(2, 3, 4), w, wide), "AddBackward0");
    ck_name(hd_linear(ONES(2, 3, 4), w, b), "ViewBackward0");
    ck_name(hd_linear(hd_transpose(ONES(2, 4, 3), 1, 2), w, b), "AddBackward0");
    ck_name(hd_linear(ONES(3, 4), w, wide), "AddmmBackward0");
    ck_no_error();
}
END_TEST

/* PyTorch's fused kernel takes masks of 2 and of 4 dims; what is empty is a sum with 0. */
START_TEST(attention_of_masks_and_of_nothing)
{
    HD_SCOPE;
    hd_tensor *q = ONES(2, 2, 3, 4), *k = ONES(2, 2, 5, 4), *v = ONES(2, 2, 5, 4);
    const char *fused = "ScaledDotProductFlashAttentionForCpuBackward0";
    hd_tensor *square = hd_zeros(HD_FLOAT32, 3, 5);
    ck_name(hd_scaled_dot_product_attention(q, k, v, square, 0, false), fused);
    ck_name(hd_scaled_dot_product_attention(q, k, v, hd_unsqueeze(square, 0), 0, false),
            "UnsafeViewBackward0");
    ck_name(hd_scaled_dot_product_attention(q, k, v, hd_view(square, 1, 1, 3, 5), 0, false), fused);
    ck_name(
        hd_scaled_dot_product_attention(q, ONES(2, 2, 0, 4), ONES(2, 2, 0, 4), HD_NONE, 0, false),
        "AddBackward0");
    ck_name(hd_scaled_dot_product_attention(ONES(2, 2, 0, 4), k, v, HD_NONE, 0, false),
            "AddBackward0");
    ck_name(
        hd_scaled_dot_product_attention(ONES(2, 2, 3, 0), ONES(2, 2, 5, 0), v, HD_NONE, 0, false),
        "UnsafeViewBackward0");
    ck_no_error();
}
END_TEST

static void ck_strides_of(const hd_tensor *y, int64_t a, int64_t b, int64_t c)
{
    ck_assert_ptr_nonnull(y);
    ck_assert_int_eq(hd_stride(y, 0), a);
    ck_assert_int_eq(hd_stride(y, 1), b);
    ck_assert_int_eq(hd_stride(y, 2), c);
}

START_TEST(strides_of_losses_and_of_nothing)
{
    HD_SCOPE;
    hd_tensor *x = hd_permute(hd_ones(HD_FLOAT32, 2, 3, 4), 2, 0, 1); /* (4, 2, 3) */
    ck_strides_of(hd_mse_loss_with(x, x, HD_REDUCE_NONE), 1, 12, 4);
    ck_strides_of(hd_mse_loss_with(x, hd_ones(HD_FLOAT32, 4, 2, 3), HD_REDUCE_NONE), 1, 12, 4);
    hd_tensor *none = hd_permute(hd_ones(HD_FLOAT32, 0, 3, 4), 2, 0, 1); /* (4, 0, 3) */
    ck_strides_of(hd_clone(none), 1, 12, 4);
    ck_strides_of(hd_to(none, HD_FLOAT64), 1, 12, 4);
    ck_strides_of(hd_rand_like(none, HD_FLOAT32), 1, 12, 4);
    ck_strides_of(hd_clone(hd_expand(hd_ones(HD_FLOAT32, 1, 0, 3), 4, 0, 3)), 3, 3, 1);
    ck_no_error();
}
END_TEST

Suite *suite_names(void)
{
    const TTest *const tests[] = {every_name_is_pytorchs, assignments_and_whole_tensors,
                                  linear_of_any_layout, attention_of_masks_and_of_nothing,
                                  strides_of_losses_and_of_nothing};
    return SUITE_OF("names", tests);
}
