/* work_ops.c - times single operations: products, sums, and the fused row operations.
 *
 * Forward is timed as in training: the input requires grad, and the result and its graph are
 * dropped. Backward is timed alone: the graph is kept, and each run computes a new .grad of the
 * input (and of the parameters) from a random gradient. */
#include "bench.h"

static hd_tensor *keep(hd_tensor *t)
{
    return hd_retain(t);
}

/* ---------------------------------------------------------------- matmul, add */

enum { M, K, N, TRANSPOSE_A, TRANSPOSE_B };

/* x (m, k) and y (k, n); each may be a transposed view */
static bool matmul_set_up(bench_work *w, const double *a)
{
    int64_t m = (int64_t)a[M], k = (int64_t)a[K], n = (int64_t)a[N];
    hd_set_grad_mode(false);
    w->x = a[TRANSPOSE_A] != 0 ? hd_t(hd_rand(HD_FLOAT32, k, m)) : hd_rand(HD_FLOAT32, m, k);
    w->y = a[TRANSPOSE_B] != 0 ? hd_t(hd_rand(HD_FLOAT32, n, k)) : hd_rand(HD_FLOAT32, k, n);
    return keep(w->x) && keep(w->y);
}

static hd_tensor *matmul_run(bench_work *w)
{
    return hd_matmul(w->x, w->y); /* (m, n) */
}

static double matmul_flops(const double *a)
{
    return 2 * a[M] * a[K] * a[N];
}

const bench_kind kind_matmul = {
    .name = "matmul",
    .args = {"m", "k", "n", "transpose_a", "transpose_b"},
    .set_up = matmul_set_up,
    .run = matmul_run,
    .flops = matmul_flops,
};

/* x and y (rows, columns), leaves that require grad */
static bool add_set_up(bench_work *w, const double *a)
{
    w->x = keep(hd_requires_grad_(hd_rand(HD_FLOAT32, (int64_t)a[0], (int64_t)a[1]), true));
    w->y = keep(hd_requires_grad_(hd_rand(HD_FLOAT32, (int64_t)a[0], (int64_t)a[1]), true));
    return w->y;
}

static hd_tensor *add_run(bench_work *w)
{
    return hd_add(w->x, w->y);
}

const bench_kind kind_add = {
    .name = "add",
    .args = {"rows", "columns"},
    .set_up = add_set_up,
    .run = add_run,
};

/* ---------------------------------------------------------------- what row operations share */

enum { ROWS, COLUMNS, P };

/* x (rows, columns), a leaf that requires grad */
static bool input_set_up(bench_work *w, const double *a)
{
    w->x =
        keep(hd_requires_grad_(hd_randn(HD_FLOAT32, (int64_t)a[ROWS], (int64_t)a[COLUMNS]), true));
    w->p = a[P];
    return w->x;
}

/* Keeps y = forward(x) with its graph, and a gradient for y. */
static bool graph_set_up(bench_work *w, hd_tensor *(*forward)(bench_work *))
{
    w->y = keep(forward(w));
    w->dy = keep(hd_randn_like(w->y, HD_FLOAT32));
    return w->dy;
}

static hd_tensor *backward_run(bench_work *w)
{
    hd_set_grad(w->x, HD_NONE);
    if (w->weight) {
        hd_set_grad(w->weight, HD_NONE);
        hd_set_grad(w->bias, HD_NONE);
    }
    hd_backward_with(w->y, w->dy, true);
    return w->x;
}

static double matrix_bytes(const double *a)
{
    return 4 * a[ROWS] * a[COLUMNS];
}

static bench_traffic read_write(const double *a)
{
    return (bench_traffic){.in = 1, .out = 1, .bytes = matrix_bytes(a)};
}

static bench_traffic read_two_write(const double *a)
{
    return (bench_traffic){.in = 2, .out = 1, .bytes = matrix_bytes(a)};
}

static bench_traffic read_only(const double *a)
{
    return (bench_traffic){.in = 1, .bytes = matrix_bytes(a)};
}

/* ---------------------------------------------------------------- softmax, gelu, dropout */

static hd_tensor *softmax_run(bench_work *w)
{
    return hd_softmax(w->x, -1);
}

static hd_tensor *gelu_run(bench_work *w)
{
    return w->p != 0 ? hd_gelu_tanh(w->x) : hd_gelu(w->x);
}

static hd_tensor *dropout_run(bench_work *w)
{
    return hd_dropout(w->x, w->p, true);
}

static bool softmax_backward_set_up(bench_work *w, const double *a)
{
    return input_set_up(w, a) && graph_set_up(w, softmax_run);
}

static bool gelu_backward_set_up(bench_work *w, const double *a)
{
    return input_set_up(w, a) && graph_set_up(w, gelu_run);
}

static bool dropout_backward_set_up(bench_work *w, const double *a)
{
    return input_set_up(w, a) && graph_set_up(w, dropout_run);
}

const bench_kind kind_softmax = {
    .name = "softmax",
    .args = {"rows", "columns"},
    .set_up = input_set_up,
    .run = softmax_run,
    .traffic = read_write,
};

const bench_kind kind_softmax_backward = {
    .name = "softmax_backward",
    .args = {"rows", "columns"},
    .set_up = softmax_backward_set_up,
    .run = backward_run,
    .checks_grad = true,
    .traffic = read_two_write,
};

const bench_kind kind_gelu = {
    .name = "gelu",
    .args = {"rows", "columns", "tanh"},
    .set_up = input_set_up,
    .run = gelu_run,
    .traffic = read_write,
};

const bench_kind kind_gelu_backward = {
    .name = "gelu_backward",
    .args = {"rows", "columns", "tanh"},
    .set_up = gelu_backward_set_up,
    .run = backward_run,
    .checks_grad = true,
    .traffic = read_two_write,
};

const bench_kind kind_dropout = {
    .name = "dropout",
    .args = {"rows", "columns", "p"},
    .set_up = input_set_up,
    .run = dropout_run,
    .traffic = read_write,
};

const bench_kind kind_dropout_backward = {
    .name = "dropout_backward",
    .args = {"rows", "columns", "p"},
    .set_up = dropout_backward_set_up,
    .run = backward_run,
    .checks_grad = true,
    .traffic = read_write,
};

/* ---------------------------------------------------------------- layer_norm */

static bool layer_norm_set_up(bench_work *w, const double *a)
{
    int64_t columns = (int64_t)a[COLUMNS];
    w->weight = keep(hd_requires_grad_(hd_ones(HD_FLOAT32, columns), true));
    w->bias = keep(hd_requires_grad_(hd_zeros(HD_FLOAT32, columns), true));
    return w->bias && input_set_up(w, a);
}

static hd_tensor *layer_norm_run(bench_work *w)
{
    int64_t columns = hd_size(w->weight, 0);
    return hd_layer_norm_n(w->x, 1, &columns, w->weight, w->bias, 1e-5);
}

static bool layer_norm_backward_set_up(bench_work *w, const double *a)
{
    return layer_norm_set_up(w, a) && graph_set_up(w, layer_norm_run);
}

const bench_kind kind_layer_norm = {
    .name = "layer_norm",
    .args = {"rows", "columns"},
    .set_up = layer_norm_set_up,
    .run = layer_norm_run,
    .traffic = read_write,
};

const bench_kind kind_layer_norm_backward = {
    .name = "layer_norm_backward",
    .args = {"rows", "columns"},
    .set_up = layer_norm_backward_set_up,
    .run = backward_run,
    .checks_grad = true,
    .traffic = read_two_write,
};

/* ---------------------------------------------------------------- cross_entropy */

/* target (rows,) int64 */
static bool cross_entropy_set_up(bench_work *w, const double *a)
{
    w->target = keep(hd_randint(HD_INT64, 0, (int64_t)a[COLUMNS], (int64_t)a[ROWS]));
    return w->target && input_set_up(w, a);
}

static hd_tensor *cross_entropy_run(bench_work *w)
{
    return hd_cross_entropy(w->x, w->target); /* () */
}

static bool cross_entropy_backward_set_up(bench_work *w, const double *a)
{
    return cross_entropy_set_up(w, a) && graph_set_up(w, cross_entropy_run);
}

const bench_kind kind_cross_entropy = {
    .name = "cross_entropy",
    .args = {"rows", "columns"},
    .set_up = cross_entropy_set_up,
    .run = cross_entropy_run,
    .traffic = read_only,
};

const bench_kind kind_cross_entropy_backward = {
    .name = "cross_entropy_backward",
    .args = {"rows", "columns"},
    .set_up = cross_entropy_backward_set_up,
    .run = backward_run,
    .checks_grad = true,
    .traffic = read_write,
};
