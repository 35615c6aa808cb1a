/* loop.c - the training loop of README.md: a small network learns which points lie in a circle. */
#include <stdio.h>

#include "heed.h"

enum { POINTS = 500, TRAIN = 400, BATCH = 50 };

int main(void)
{
    hd_on_error(hd_error_abort, NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_manual_seed(123);
    hd_tensor *x = hd_randn(HD_FLOAT32, POINTS, 2);          /* (500, 2), points of a plane */
    hd_tensor *square = hd_sum_dim(hd_square(x), 1, false);  /* (500,), distance from 0, squared */
    hd_tensor *y = hd_to(hd_lt_scalar(square, 1), HD_INT64); /* (500,), 1 inside the circle */

    hd_module *model =
        hd_sequential(hd_linear_new(2, 16, true), hd_relu_new(false), hd_linear_new(16, 2, true));
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 0.02;
    hd_optim *opt = hd_adamw_new(hd_module_parameters(model), &o);
    for (int epoch = 1; epoch <= 20; epoch++) {
        HD_SCOPE; /* frees the tensors of this round at its end */
        double sum = 0;
        hd_tensor *order = hd_randperm(TRAIN); /* (400,) int64 */
        for (int64_t at = 0; at < TRAIN; at += BATCH) {
            HD_SCOPE;
            hd_tensor *rows = hd_slice(order, 0, at, at + BATCH);                    /* (50,) */
            hd_tensor *logits = hd_forward(model, hd_index_select(x, 0, rows));      /* (50, 2) */
            hd_tensor *loss = hd_cross_entropy(logits, hd_index_select(y, 0, rows)); /* () */
            hd_optim_zero_grad(opt);
            hd_backward(loss);
            hd_optim_step(opt);
            sum += hd_item(loss);
        }
        if (epoch % 5 == 0) {
            printf("epoch %d: loss %.2f\n", epoch, sum * BATCH / TRAIN);
        }
    }

    HD_NO_GRAD;            /* from here to the end of the block, nothing is recorded */
    hd_module_eval(model); /* switches dropout off, if the model has any */
    hd_tensor *logits = hd_forward(model, hd_slice(x, 0, TRAIN, POINTS)); /* (100, 2) */
    hd_tensor *answers = hd_argmax_dim(logits, 1, false);                 /* (100,) int64 */
    hd_tensor *right = hd_eq(answers, hd_slice(y, 0, TRAIN, POINTS));     /* (100,) bool */
    printf("new points: %.0f%% right\n", 100 * hd_item(hd_mean(hd_to(right, HD_FLOAT32))));

    hd_dict *weights = hd_module_state_dict(model);
    hd_save_safetensors("circle.safetensors", weights);
    hd_dict_free(weights);
    hd_optim_free(opt);
    hd_module_free(model);
    return hd_error_code();
}
