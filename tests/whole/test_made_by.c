/* test_made_by.c - the error about a freed tensor names the function that the user called to make
 * it, also where that function is made of others. */
#include "suites.h"
#include "support/quarantine.h"

static int differ;

/* y was freed; does its error say that `function` made it? */
static void expect_maker(const char *function, const char *call, const hd_tensor *y)
{
    char end[100];
    snprintf(end, sizeof end, "; %s made it", function);
    int64_t n = hd_numel(y);
    const char *message = hd_error_message();
    size_t length = strlen(message);
    if (n != -1 || hd_error_code() != HD_STATE || length < strlen(end) ||
        strcmp(message + length - strlen(end), end) != 0) {
        fprintf(stderr, "%s: %s\n", call, message);
        differ++;
    }
    hd_error_clear();
}

#define MADE(function, ...)                                                                        \
    do {                                                                                           \
        hd_tensor *made;                                                                           \
        {                                                                                          \
            HD_SCOPE;                                                                              \
            made = __VA_ARGS__;                                                                    \
        }                                                                                          \
        expect_maker(function, #__VA_ARGS__, made);                                                \
    } while (0)

/* Each row runs with and without a graph, and with p contiguous and not. */
static void run_rows(hd_tensor *x, hd_tensor *p)
{
    hd_tensor *i = hd_from_data(HD_INT64, ((int64_t[]){1, 0}), 2);
    hd_tensor *mask = hd_gt_scalar(p, 0.5), *v = hd_select(p, 0, 1), *indices;
    hd_tensor *q = hd_rand(HD_FLOAT32, 2, 3, 4), *some[] = {p, p};
    (void)indices;
    MADE("hd_view", hd_view(x, 6));
    MADE("hd_reshape", hd_reshape(x, 3, 2));
    MADE("hd_reshape", hd_reshape(p, 9));
    MADE("hd_transpose", hd_transpose(p, 0, 1));
    MADE("hd_t", hd_t(p));
    MADE("hd_permute", hd_permute(p, 1, 0));
    MADE("hd_expand", hd_expand(p, 2, -1, -1));
    MADE("hd_flatten", hd_flatten(p, 0, 1));
    MADE("hd_squeeze", hd_squeeze(p, 0));
    MADE("hd_squeeze_all", hd_squeeze_all(p));
    MADE("hd_unsqueeze", hd_unsqueeze(p, 0));
    MADE("hd_select", hd_select(p, 0, 0));
    MADE("hd_detach", hd_detach(p));
    MADE("hd_slice", hd_slice(p, 0, 0, 1));
    MADE("hd_slice_step", hd_slice_step(p, 0, 0, 2, 2));
    MADE("hd_narrow", hd_narrow(p, 0, 0, 1));
    MADE("hd_getitem", hd_getitem(p, 0));
    MADE("hd_clone", hd_clone(p));
    MADE("hd_to", hd_to(p, HD_FLOAT64));
    MADE("hd_tril", hd_tril(p, 0));
    MADE("hd_triu", hd_triu(p, 0));
    MADE("hd_cat", hd_cat(0, p, p));
    MADE("hd_stack", hd_stack(0, p, p));
    MADE("hd_cat", hd_cat_n(2, some, 0));
    MADE("hd_split", hd_list_get(hd_split(p, 1, 0), 0));
    MADE("hd_chunk", hd_list_get(hd_chunk(p, 2, 0), 0));
    MADE("hd_unbind", hd_list_get(hd_unbind(p, 0), 0));
    MADE("hd_add", hd_add(p, p));
    MADE("hd_sub", hd_sub(p, p));
    MADE("hd_mul", hd_mul(p, p));
    MADE("hd_div", hd_div(p, p));
    MADE("hd_pow", hd_pow(p, p));
    MADE("hd_maximum", hd_maximum(p, p));
    MADE("hd_minimum", hd_minimum(p, p));
    MADE("hd_add_scalar", hd_add_scalar(p, 1));
    MADE("hd_sub_scalar", hd_sub_scalar(p, 1));
    MADE("hd_mul_scalar", hd_mul_scalar(p, 1));
    MADE("hd_div_scalar", hd_div_scalar(p, 2));
    MADE("hd_pow_scalar", hd_pow_scalar(p, 3));
    MADE("hd_pow_scalar", hd_pow_scalar(p, 1));
    MADE("hd_pow_scalar", hd_pow_scalar(p, 0.5));
    MADE("hd_rsub_scalar", hd_rsub_scalar(p, 1));
    MADE("hd_rdiv_scalar", hd_rdiv_scalar(p, 1));
    MADE("hd_square", hd_square(p));
    MADE("hd_neg", hd_neg(p));
    MADE("hd_exp", hd_exp(p));
    MADE("hd_log", hd_log(p));
    MADE("hd_sqrt", hd_sqrt(p));
    MADE("hd_rsqrt", hd_rsqrt(p));
    MADE("hd_tanh", hd_tanh(p));
    MADE("hd_erf", hd_erf(p));
    MADE("hd_sigmoid", hd_sigmoid(p));
    MADE("hd_sin", hd_sin(p));
    MADE("hd_cos", hd_cos(p));
    MADE("hd_log1p", hd_log1p(p));
    MADE("hd_relu", hd_relu(p));
    MADE("hd_gelu", hd_gelu(p));
    MADE("hd_gelu_tanh", hd_gelu_tanh(p));
    MADE("hd_silu", hd_silu(p));
    MADE("hd_abs", hd_abs(p));
    MADE("hd_softplus", hd_softplus(p, 1, 20));
    MADE("hd_clamp", hd_clamp(p, 0, 1));
    MADE("hd_clamp_min", hd_clamp_min(p, 0));
    MADE("hd_clamp_max", hd_clamp_max(p, 1));
    MADE("hd_where", hd_where(mask, p, p));
    MADE("hd_masked_fill", hd_masked_fill(p, mask, 0));
    MADE("hd_eq", hd_eq(p, p));
    MADE("hd_ne", hd_ne(p, p));
    MADE("hd_lt", hd_lt(p, p));
    MADE("hd_le", hd_le(p, p));
    MADE("hd_gt", hd_gt(p, p));
    MADE("hd_ge", hd_ge(p, p));
    MADE("hd_eq_scalar", hd_eq_scalar(p, 1));
    MADE("hd_gt_scalar", hd_gt_scalar(p, 1));
    MADE("hd_logical_and", hd_logical_and(p, p));
    MADE("hd_logical_or", hd_logical_or(p, p));
    MADE("hd_logical_xor", hd_logical_xor(p, p));
    MADE("hd_logical_not", hd_logical_not(p));
    MADE("hd_sum", hd_sum(p));
    MADE("hd_sum_dim", hd_sum_dim(p, 0, false));
    MADE("hd_sum_dims", hd_sum_dims(p, false, 0, 1));
    MADE("hd_mean", hd_mean(p));
    MADE("hd_mean_dim", hd_mean_dim(p, 0, true));
    MADE("hd_mean_dims", hd_mean_dims(p, false, 0, 1));
    MADE("hd_var", hd_var(p, 1));
    MADE("hd_var_dim", hd_var_dim(p, 0, 1, false));
    MADE("hd_var_dims", hd_var_dims(p, 1, false, 0, 1));
    MADE("hd_logsumexp_dim", hd_logsumexp_dim(p, 0, false));
    MADE("hd_logsumexp_dims", hd_logsumexp_dims(p, false, 0, 1));
    MADE("hd_max", hd_max(p));
    MADE("hd_min", hd_min(p));
    MADE("hd_max_dim", hd_max_dim(p, 0, false, &indices));
    MADE("hd_min_dim", hd_min_dim(p, 0, false, &indices));
    MADE("hd_max_dim", (hd_max_dim(p, 0, false, &indices), indices));
    MADE("hd_argmax", hd_argmax(p));
    MADE("hd_argmin", hd_argmin(p));
    MADE("hd_argmax_dim", hd_argmax_dim(p, 0, false));
    MADE("hd_argmin_dim", hd_argmin_dim(p, 0, true));
    MADE("hd_any", hd_any(p));
    MADE("hd_all", hd_all(p));
    MADE("hd_any_dim", hd_any_dim(p, 0, false));
    MADE("hd_all_dim", hd_all_dim(p, 0, false));
    MADE("hd_softmax", hd_softmax(p, 0));
    MADE("hd_log_softmax", hd_log_softmax(p, 1));
    MADE("hd_cumsum", hd_cumsum(p, 0));
    MADE("hd_dot", hd_dot(v, v));
    MADE("hd_matmul", hd_matmul(p, p));
    MADE("hd_matmul", hd_matmul(p, v));
    MADE("hd_matmul", hd_matmul(v, p));
    MADE("hd_matmul", hd_matmul(v, v));
    MADE("hd_matmul", hd_matmul(hd_rand(HD_FLOAT32, 2, 3, 3), p));
    MADE("hd_linear", hd_linear(p, p, HD_NONE));
    MADE("hd_linear", hd_linear(p, p, v));
    MADE("hd_linear", hd_linear(hd_unsqueeze(p, 0), p, v));
    MADE("hd_index_select", hd_index_select(p, 0, i));
    MADE("hd_gather", hd_gather(p, 0, hd_unsqueeze(i, 0)));
    MADE("hd_embedding", hd_embedding(i, p, HD_NO_PADDING));
    MADE("hd_topk", hd_topk(p, 1, 0, true, &indices));
    MADE("hd_one_hot", hd_one_hot(i, 3));
    MADE("hd_bernoulli", hd_bernoulli(p));
    MADE("hd_dropout", hd_dropout(p, 0.5, true));
    MADE("hd_dropout", hd_dropout(p, 1, true));
    MADE("hd_multinomial", hd_multinomial(hd_detach(p), 1, true));
    MADE("hd_elu", hd_elu(p, 1));
    MADE("hd_leaky_relu", hd_leaky_relu(p, 0.01));
    MADE("hd_roll", hd_roll(p, 1, 0));
    MADE("hd_rms_norm", hd_rms_norm(p, HD_NONE, 1e-5));
    MADE("hd_layer_norm_n", hd_layer_norm_n(p, 1, (int64_t[]){3}, HD_NONE, HD_NONE, 1e-5));
    MADE("hd_scaled_dot_product_attention",
         hd_scaled_dot_product_attention(q, q, q, HD_NONE, 0, true));
    MADE("hd_scaled_dot_product_attention",
         hd_scaled_dot_product_attention(q, q, q, hd_ones(HD_BOOL, 3, 3), 0.5, false));
    MADE("hd_mse_loss", hd_mse_loss(p, p));
    MADE("hd_mse_loss_with", hd_mse_loss_with(p, p, HD_SUM));
    MADE("hd_cross_entropy", hd_cross_entropy(hd_slice(p, 0, 0, 2), i));
}

START_TEST(the_function_that_the_user_called)
{
    if (!quarantine_on()) {
        return;
    }
    HD_SCOPE;
    differ = 0;
    hd_tensor *p = hd_full(HD_FLOAT32, 0.25, 3, 3), *x = hd_ones(HD_FLOAT32, 2, 3);
    run_rows(x, p);
    run_rows(x, hd_transpose(hd_full(HD_FLOAT32, 0.25, 3, 3), 0, 1));
    run_rows(x, hd_select(hd_full(HD_FLOAT32, 0.25, 3, 3, 2), 2, 0));
    run_rows(x, hd_requires_grad_(p, true));
    hd_tensor *turned = hd_transpose(x, 0, 1);
    float two[] = {1, 2};
    MADE("hd_contiguous", hd_contiguous(turned));
    MADE("hd_reshape", hd_reshape(turned, 6));
    MADE("hd_flatten", hd_flatten(turned, 0, 1));
    MADE("hd_to", hd_to(turned, HD_INT64));
    MADE("hd_ones", hd_ones(HD_FLOAT32, 2));
    MADE("hd_empty", hd_empty(HD_FLOAT32, 2));
    MADE("hd_scalar_tensor", hd_scalar_tensor(HD_FLOAT32, 2));
    MADE("hd_arange", hd_arange(0, 3, 1));
    MADE("hd_arange_as", hd_arange_as(HD_FLOAT32, 0, 3, 1));
    MADE("hd_linspace", hd_linspace(HD_FLOAT32, 0, 1, 3));
    MADE("hd_eye", hd_eye(HD_FLOAT32, 2, 2));
    MADE("hd_empty_like", hd_empty_like(x, HD_FLOAT32));
    MADE("hd_zeros_like", hd_zeros_like(x, HD_FLOAT32));
    MADE("hd_ones_like", hd_ones_like(x, HD_FLOAT32));
    MADE("hd_full_like", hd_full_like(x, HD_FLOAT32, 3));
    MADE("hd_rand_like", hd_rand_like(x, HD_FLOAT32));
    MADE("hd_randn_like", hd_randn_like(x, HD_FLOAT32));
    MADE("hd_rand", hd_rand(HD_FLOAT32, 2));
    MADE("hd_randn", hd_randn(HD_FLOAT32, 2));
    MADE("hd_randint", hd_randint(HD_INT64, 0, 3, 2));
    MADE("hd_randint", hd_randint(HD_FLOAT32, 0, 3, 2));
    MADE("hd_randperm", hd_randperm(3));
    MADE("hd_from_data", hd_from_data(HD_FLOAT32, ((float[]){1, 2}), 2));
    MADE("hd_tensor_of", hd_tensor_of(((float[]){1, 2}), 2));
    MADE("hd_wrap", hd_wrap(HD_FLOAT32, two, NULL, NULL, 2));
    MADE("hd_parameter", hd_parameter(x, true));
    MADE("hd_grad", (hd_backward(hd_sum(p)), hd_grad(p)));
    ck_assert_int_eq(differ, 0);
    ck_no_error();
}
END_TEST

Suite *suite_made_by(void)
{
    const TTest *const tests[] = {the_function_that_the_user_called};
    return SUITE_OF("made by", tests);
}
