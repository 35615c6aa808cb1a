/* loops.c - calls that together reach every line of the kernels that is marked for heed-loop.
 *
 * tests/checks/check_gdb_loops runs it in gdb, with a breakpoint at each of these lines. The calls
 * are small, because the kernels are not optimised in this build. */
#include "heed/heed.h"

static hd_tensor *ones_of(int64_t rows, int64_t cols)
{
    return hd_ones(HD_FLOAT32, rows, cols);
}

/* src/tensor/kernels/gemm_body.h: path_of says which product goes which way. */
static void products(void)
{
    hd_matmul(ones_of(2, 3), ones_of(3, 4));                      /* chains */
    hd_matmul(ones_of(2, 40), ones_of(40, 37));                   /* rows, with a rest */
    hd_matmul(ones_of(16, 16), ones_of(16, 64));                  /* tiles */
    hd_matmul(ones_of(2, 515), hd_t(ones_of(64, 515)));           /* split, with a rest */
    hd_dot(hd_ones(HD_FLOAT32, 4099), hd_ones(HD_FLOAT32, 4099)); /* long dot */
    hd_matmul(ones_of(5, 1), ones_of(1, 7));                      /* outer */
    hd_matmul(ones_of(5, 1), hd_t(ones_of(7, 1)));                /* the same, apart */
    hd_matmul(ones_of(5, 1), hd_t(hd_slice(ones_of(7, 2), 1, 0, 1)));
    hd_tensor *n = hd_view(hd_arange(0, 9, 1), 3, 3); /* (3, 3) int64 */
    hd_matmul(n, n);
    hd_matmul(n, hd_t(n));
}

static void elements(void)
{
    hd_tensor *x = ones_of(3, 5), *d = hd_to(x, HD_FLOAT64), *n = hd_to(x, HD_INT64);
    hd_tensor *b = hd_lt(x, hd_mul(x, x));
    hd_eq(d, d);
    hd_eq(n, n);
    hd_eq(b, b);
    hd_where(b, x, x);
    hd_where(b, d, d);
    hd_where(b, b, b);
    hd_exp(x);
    hd_dropout(x, 0.5, true);
}

static void rows(void)
{
    const int64_t width[] = {37};
    hd_tensor *x = ones_of(3, 37);                    /* (3, 37) */
    hd_sum_dim(hd_slice(x, 1, 0, 6), 1, false);       /* a short sum */
    hd_sum_dim(x, 1, false);                          /* a long one, with a rest */
    hd_sum_dim(hd_rand(HD_FLOAT32, 6, 40), 0, false); /* sums side by side, with a rest */
    hd_softmax(x, 1);
    hd_softmax(hd_to(x, HD_FLOAT64), 1);
    hd_softmax(ones_of(3, 4), 1);
    hd_layer_norm_n(x, 1, width, HD_NONE, HD_NONE, 1e-5);
    hd_layer_norm_n(x, 1, width, hd_ones(HD_FLOAT32, 37), hd_ones(HD_FLOAT32, 37), 1e-5);
    hd_tensor *q = hd_rand(HD_FLOAT32, 1, 1, 3, 4); /* (1, 1, 3, 4) */
    hd_scaled_dot_product_attention(q, q, q, HD_NONE, 0.0, false);
}

static void gradients(void)
{
    const int64_t width[] = {37};
    hd_tensor *x = hd_parameter(ones_of(3, 37), true); /* (3, 37) */
    hd_tensor *w = hd_rand(HD_FLOAT32, 37);            /* (37,) */
    hd_backward(hd_max(hd_softmax(x, 1)));
    hd_backward(hd_sum(hd_layer_norm_n(x, 1, width, w, w, 1e-5)));
}

/* What has loops of its own at the level plain alone */
static void plain(void)
{
    hd_tensor *x = hd_parameter(ones_of(3, 37), true); /* (3, 37) */
    hd_tensor *t = hd_zeros(HD_FLOAT32, 3, 37), *b = hd_ones(HD_BOOL, 5);
    hd_sum(b);
    hd_any(b);
    hd_all(b);
    hd_argmax(hd_rand(HD_FLOAT32, 37));
    hd_cumsum(t, 1);
    hd_backward(hd_var(x, 1));
    hd_backward(hd_sum(hd_log_softmax(x, 1)));
    hd_backward(hd_cross_entropy(x, hd_zeros(HD_INT64, 3)));
    hd_backward(hd_mse_loss(x, t));
    hd_mse_loss_with(x, t, HD_REDUCE_NONE);
}

static void steps(void)
{
    hd_module *model = hd_linear_new(3, 2, true);
    hd_adamw_options a = hd_adamw_defaults();
    hd_sgd_options s = hd_sgd_defaults();
    hd_optim *adam = hd_adamw_new(hd_module_parameters(model), &a);
    hd_optim *sgd = hd_sgd_new(hd_module_parameters(model), &s);
    hd_backward(hd_sum(hd_forward(model, ones_of(4, 3))));
    hd_optim_step(adam);
    hd_optim_step(sgd);
    hd_optim_free(adam);
    hd_optim_free(sgd);
    hd_module_free(model);
}

int main(void)
{
    hd_on_error(hd_error_abort, NULL);
    products();
    elements();
    rows();
    gradients();
    plain();
    steps();
    return hd_error_code();
}
