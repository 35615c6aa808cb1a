/* test_names.c - tests that the grad_fn of every operation has PyTorch's name
 * (tests/golden/modules.txt), and that names and strides are PyTorch's for operands of any layout
 * (tests/golden/names.txt). The tests of nn have the cases of modules. */
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
    NAMED(embedding, hd_embedding(o->i, o->a, HD_NO_PADDING))
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

/* ---------------------------------------------------------------- names and strides */

enum { OPERANDS = 4 };

/* The operand i of the case (tests/golden/README.md), or HD_NONE if there is none. */
static hd_tensor *layout_operand(const golden_case *c, int i)
{
    const golden_record *memory = golden_get(c, "in%d.memory", i);
    const golden_record *permute = golden_get(c, "in%d.permute", i);
    const golden_record *cut = golden_get(c, "in%d.slice", i);
    const golden_record *expand = golden_get(c, "in%d.expand", i);
    static const char *const names[] = {"f32", "f64", "i64", "bool"};
    static const hd_dtype dtypes[] = {HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL};
    if (!memory) {
        return HD_NONE;
    }
    int d = 0;
    while (strcmp(golden_get(c, "in%d.dtype", i)->text, names[d]) != 0) {
        d++;
    }
    hd_tensor *x = hd_ones_n(dtypes[d], (int)memory->numel, memory->i);
    if (golden_get(c, "in%d.grad", i)->i[0]) {
        hd_requires_grad_(x, true);
    }
    x = permute ? hd_permute_n(x, (int)permute->numel, permute->i) : x;
    x = cut ? hd_slice_step(x, (int)cut->i[0], cut->i[1], cut->i[2], cut->i[3]) : x;
    return expand ? hd_expand_n(x, (int)expand->numel, expand->i) : x;
}

static hd_tensor *change_product(hd_tensor *a, hd_tensor *b)
{
    hd_tensor *y = hd_matmul(a, b);
    return hd_mul_scalar_(hd_view(y, -1), 2) ? y : NULL;
}

static hd_tensor *layout_result(const golden_case *c)
{
    const char *op = golden_text(c, "op", "");
    const golden_record *index = golden_get(c, "index");
    int n = index ? (int)index->numel : 0;
    const int64_t *at = index ? index->i : NULL;
    hd_tensor *x[OPERANDS];
    for (int i = 0; i < OPERANDS; i++) {
        x[i] = layout_operand(c, i);
    }
#define OP(name, y)                                                                                \
    if (strcmp(op, name) == 0) {                                                                   \
        return y;                                                                                  \
    }
    OP("getitem", hd_getitem_n(x[0], n, at))
    OP("setitem", hd_setitem_n(hd_clone(x[0]), x[1], n, at))
    OP("setitem_scalar", (hd_setitem_scalar_n)(hd_clone(x[0]), hd_scalar_double(0.25), n, at))
    OP("fill_", hd_fill_(hd_clone(x[0]), 0.25))
    OP("zero_", hd_zero_(hd_clone(x[0])))
    OP("linear", hd_linear(x[0], x[1], x[2]))
    OP("attention", hd_scaled_dot_product_attention(x[0], x[1], x[2], x[3], 0, false))
    OP("mse_loss_none", hd_mse_loss_with(x[0], x[1], HD_REDUCE_NONE))
    OP("add", hd_add(x[0], x[1]))
    OP("div", hd_div(x[0], x[1]))
    OP("mul", hd_mul(x[0], x[1]))
    OP("gt", hd_gt(x[0], x[1]))
    OP("maximum", hd_maximum(x[0], x[1]))
    OP("logical_xor", hd_logical_xor(x[0], x[1]))
    OP("where", hd_where(x[0], x[1], x[2]))
    OP("clone", hd_clone(x[0]))
    OP("double", hd_to(x[0], HD_FLOAT64))
    OP("rand_like", hd_rand_like(x[0], HD_FLOAT32))
    OP("change_product", change_product(x[0], x[1]))
    return HD_NONE;
}

static void ck_strides(const golden_case *c, const hd_tensor *y)
{
    const golden_record *want = golden_get(c, "out.strides");
    ck_assert_msg(hd_ndim(y) == want->numel, "%s: %d dims", c->name, hd_ndim(y));
    for (int d = 0; d < hd_ndim(y); d++) {
        ck_assert_msg(hd_size(y, d) == 1 || hd_stride(y, d) == want->i[d],
                      "%s: stride %lld of dim %d, expected %lld", c->name,
                      (long long)hd_stride(y, d), d, (long long)want->i[d]);
    }
}

START_TEST(names_and_strides_of_any_layout)
{
    warnings_expected();
    golden_file *f = golden_read(GOLDEN_DIR "/names.txt");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_gt(f->count, 300);
    for (int k = 0; k < f->count; k++) {
        HD_SCOPE;
        const golden_case *c = &f->cases[k];
        hd_tensor *y = layout_result(c);
        ck_assert_msg(y && y != HD_NONE, "%s: %s", c->name, hd_error_message());
        const char *name = hd_grad_fn(y), *want = golden_text(c, "name", "");
        ck_assert_msg(strcmp(name ? name : "", want) == 0, "%s: %s, expected %s", c->name,
                      name ? name : "no node", want);
        ck_strides(c, y);
    }
    golden_free(f);
    ck_no_error();
}
END_TEST

/* What a file of names cannot say: x[()] is x's own memory, also of a 0-d x, and the value of a
 * filled tensor gets its gradient. */
START_TEST(aliases_and_gradients_of_fills)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3, 4);
    hd_tensor *one = hd_requires_grad_(hd_scalar_tensor(HD_FLOAT32, 2), true);
    ck_assert(hd_shares_storage(hd_getitem_n(x, 0, NULL), x));
    ck_assert(hd_shares_storage(hd_getitem_n(one, 0, NULL), one));
    ck_assert(hd_backward(hd_sum(hd_setitem(hd_zeros(HD_FLOAT32, 3, 4), one, HD_ALL))));
    ck_elements(hd_grad(one), 12);
    ck_no_error();
}
END_TEST

Suite *suite_names(void)
{
    const TTest *const tests[] = {every_name_is_pytorchs, names_and_strides_of_any_layout,
                                  aliases_and_gradients_of_fills};
    return SUITE_OF("names", tests);
}
