/* ranks.c - the program of docs/guides/ranks.md: a model learns on all ranks that mpirun starts. */
#include "heed/heed.h"
#include "heed/mpi.h"

#include <stdio.h>

enum { ROWS = 48, STEPS = 60 }; /* ROWS in a batch: a multiple of the number of ranks */

/* Makes batch `step`, the same on every rank: points x (ROWS, 2), and classes y (ROWS,) int64,
 * which are 1 for points above a line. */
static void batch(int step, hd_tensor **x, hd_tensor **y)
{
    hd_tensor *n = hd_arange_as(HD_FLOAT32, step * ROWS, (step + 1) * ROWS, 1); /* (ROWS,) */
    hd_tensor *a = hd_sin(hd_mul_scalar(n, 1.7)), *b = hd_cos(hd_mul_scalar(n, 2.9));
    *x = hd_stack(1, a, b);
    *y = hd_to(hd_gt(b, hd_mul_scalar(a, 0.5)), HD_INT64);
}

/* Returns the rows of x (ROWS, ...) on which this rank trains. */
static hd_tensor *share_of(hd_tensor *x)
{
    int64_t share = ROWS / hd_mpi_size(), first = hd_mpi_rank() * share;
    return hd_slice(x, 0, first, first + share);
}

/* Returns the mean of value over all ranks. */
static double mean_of(double value)
{
    hd_mpi_sum(1, &value);
    return value / hd_mpi_size();
}

static void train(hd_module *model)
{
    hd_ddp *ddp = hd_ddp_new(model, NULL);
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 0.1;
    hd_optim *opt = hd_adamw_new(hd_module_parameters(model), &o);
    for (int step = 1; step <= STEPS; step++) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (ROWS, 2), (ROWS,) */
        batch(step, &x, &y);
        hd_tensor *loss = hd_cross_entropy(hd_forward(model, share_of(x)), share_of(y)); /* () */
        hd_optim_zero_grad(opt);
        if (!hd_backward(loss) || !hd_optim_step(opt)) { /* if one rank fails, all do */
            break;
        }
        double all = mean_of(hd_item(loss));
        if (step % 20 == 0 && hd_mpi_rank() == 0) {
            printf("step %d: loss %.2f\n", step, all);
        }
    }
    hd_optim_free(opt);
    hd_ddp_free(ddp);
}

/* Rank 0 writes the file. Returns true on all ranks if it succeeds, and false on all if not. */
static bool save(hd_module *model, const char *path)
{
    hd_dict *weights = hd_module_state_dict(model);
    bool ok = hd_mpi_rank() > 0 || hd_save_safetensors(path, weights);
    hd_dict_free(weights);
    return hd_mpi_all_ok("saving the weights", ok);
}

int main(int argc, char **argv)
{
    hd_on_warning(hd_warning_print, NULL);
    hd_mpi_init(&argc, &argv);
    hd_manual_seed(123);
    hd_module *model = hd_linear_new(2, 2, true);
    train(model);
    save(model, "weights.safetensors");
    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "rank %d: %s\n", hd_mpi_rank(), hd_error_message());
    }
    hd_module_free(model);
    hd_mpi_finish();
    return hd_error_code();
}
