/* debugging.c - the program of docs/guides/debugging.md: mistakes, and heed's answer to each.
 *
 *   debugging NAME     makes the mistake with this name; without a name it prints all names */
#include "heed/heed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- a message */

static void chain(void)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 6, 3); /* (2, 6, 3) */
    hd_tensor *w = hd_ones(HD_FLOAT32, 4, 2);    /* (4, 2) */
    hd_tensor *y = hd_softmax(hd_matmul(x, w), -1);
    if (!y) {
        printf("%s: %s\n", hd_code_name(hd_error_code()), hd_error_message());
        hd_error_clear();
    }
}

/* ---------------------------------------------------------------- for gdb */

/* Returns the causal attention weights (n, n) of the tokens x (n, d). */
static hd_tensor *causal_weights(hd_tensor *x)
{
    int64_t n = hd_size(x, 0);
    hd_tensor *scores = hd_matmul(x, hd_t(x)); /* (n, n) */
    hd_tensor *mask = hd_to(hd_triu(hd_ones(HD_FLOAT32, n, n), 1), HD_BOOL);
    hd_tensor *masked = hd_masked_fill(scores, mask, -INFINITY);
    return hd_softmax(masked, -1);
}

static void attention(void)
{
    hd_manual_seed(123);
    hd_print(causal_weights(hd_rand(HD_FLOAT32, 4, 3)));
}

static void aborts(void)
{
    hd_on_error(hd_error_abort, NULL);
    hd_tensor *x = hd_ones(HD_FLOAT32, 6, 3); /* (6, 3) */
    hd_tensor *y = hd_matmul(x, x);
    hd_print(y);
}

/* ---------------------------------------------------------------- wrong numbers */

static bool has_nan(hd_tensor *x)
{
    return hd_item(hd_any(hd_ne(x, x))) != 0; /* only NaN differs from itself */
}

static void find_nan(void)
{
    hd_tensor *x = hd_linspace(HD_FLOAT32, -1, 1, 3); /* (3,) */
    hd_tensor *y = hd_log(x);                         /* (3,) */
    printf("x has NaN: %s\n", has_nan(x) ? "yes" : "no");
    printf("y has NaN: %s\n", has_nan(y) ? "yes" : "no");
}

/* Returns x (n, d) with each row divided by its sum. */
static hd_tensor *normalised_forward(hd_module *self, hd_tensor *x)
{
    (void)self;
    return hd_div(x, hd_sum_dim(x, -1, true));
}

static const hd_module_type normalised_type = {
    .size = sizeof normalised_type,
    .name = "Normalised",
    .instance_size = sizeof(hd_module),
    .forward = normalised_forward,
};

static void first_nan(void)
{
    hd_on_warning(hd_warning_print, NULL);
    hd_set_debug(true);
    hd_module *model = hd_sequential(hd_relu_new(false), hd_module_new(&normalised_type));
    hd_tensor *x = hd_tensor_of(((float[2][2]){{1, 2}, {-1, -2}}), 2, 2); /* (2, 2) */
    hd_tensor *y = hd_softmax(hd_forward(model, x), -1);                  /* (2, 2) */
    hd_print(y);
    hd_module_free(model);
}

/* Returns the binary cross-entropy () of the model's answers to x (n, 1), with classes y (n, 1). */
static hd_tensor *loss_by_hand(hd_module *model, hd_tensor *x, hd_tensor *y)
{
    hd_tensor *p = hd_sigmoid(hd_forward(model, x)); /* (n, 1), the probability of class 1 */
    hd_tensor *one = hd_mul(y, hd_log(p));           /* (n, 1) */
    hd_tensor *zero = hd_mul(hd_rsub_scalar(y, 1), hd_log(hd_rsub_scalar(p, 1))); /* (n, 1) */
    return hd_neg(hd_mean(hd_add(one, zero)));
}

static void nan_loss(void)
{
    hd_on_warning(hd_warning_print, NULL);
    hd_manual_seed(123);
    hd_module *model = hd_linear_new(1, 1, true);
    hd_sgd_options o = hd_sgd_defaults();
    o.lr = 0.1;
    hd_optim *opt = hd_sgd_new(hd_module_parameters(model), &o);
    hd_tensor *x = hd_tensor_of(((float[4]){-20, -1, 1, 20}), 4, 1); /* (4, 1) */
    hd_tensor *y = hd_to(hd_gt_scalar(x, 0), HD_FLOAT32);            /* (4, 1), 0 or 1 */
    for (int step = 1; step <= 50; step++) {
        HD_SCOPE;
        hd_tensor *loss = loss_by_hand(model, x, y); /* () */
        if (!isfinite(hd_item(loss))) {
            printf("step %d: the loss is %s\n", step, hd_repr(loss));
            break;
        }
        hd_optim_zero_grad(opt);
        hd_backward(loss);
        hd_optim_step(opt);
        if (step % 5 == 0) {
            printf("step %d: loss %.2f\n", step, hd_item(loss));
        }
    }
    hd_set_debug(true);
    loss_by_hand(model, x, y); /* computes the same NaN again, and heed names the call */
    hd_optim_free(opt);
    hd_module_free(model);
}

static void mistakes_in_a_training(void)
{
    hd_on_warning(hd_warning_print, NULL);
    hd_module *model = hd_linear_new(3, 2, true);
    hd_optim *o = hd_sgd_new(hd_module_parameters(model), NULL);
    hd_tensor *y = hd_zeros(HD_INT64, 4); /* (4,) */
    for (int step = 0; step < 3; step++) {
        HD_SCOPE;
        hd_tensor *logits = hd_forward(model, hd_ones(HD_FLOAT32, 4, 3)); /* (4, 2) */
        hd_backward(hd_cross_entropy(hd_softmax(logits, -1), y));         /* wrong: pass logits */
        hd_optim_step(o); /* wrong: hd_optim_zero_grad(o) is missing */
    }
    hd_optim_free(o);
    hd_module_free(model);
}

static void loss_of_two_shapes(void)
{
    hd_on_warning(hd_warning_print, NULL);
    hd_tensor *y = hd_ones(HD_FLOAT32, 4, 1);   /* (4, 1) */
    hd_tensor *target = hd_ones(HD_FLOAT32, 4); /* (4,) */
    hd_print(hd_mse_loss(y, target));
}

/* ---------------------------------------------------------------- memory that grows */

static void live(void)
{
    hd_on_warning(hd_warning_print, NULL);
    hd_set_debug(true);
    static hd_tensor *total;
    for (int step = 0; step < 3; step++) {
        HD_SCOPE;
        hd_tensor *x = hd_rand(HD_FLOAT32, 100); /* (100,) */
        total = hd_retain(hd_add_scalar(x, 1));  /* wrong: hd_assign frees the old one */
    }
    hd_release(total);
}

/* ---------------------------------------------------------------- common mistakes */

static void after_scope(void)
{
    hd_tensor *best = NULL;
    for (int i = 0; i < 3; i++) {
        HD_SCOPE;
        hd_tensor *x = hd_full(HD_FLOAT32, i + 1, 3); /* (3,) */
        if (i == 1) {
            best = x; /* wrong: hd_assign(&best, x) keeps it */
        }
    }
    hd_print(best);
}

static void count(void)
{
    for (int step = 1; step <= 3; step++) {
        hd_tensor *x = hd_rand(HD_FLOAT32, 100); /* (100,) */
        hd_mean(hd_mul(x, x));
        printf("step %d: %d tensors in scopes\n", step, (int)hd_scope_count());
    }
}

static void no_scope(void)
{
    hd_on_warning(hd_warning_print, NULL);
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 3), true); /* (3,) */
    for (int step = 0; step < 50001; step++) {
        hd_backward(hd_sum(hd_exp(x))); /* an HD_SCOPE; above it frees both results */
    }
}

static void freed_twice(void)
{
    hd_module *layer = hd_linear_new(3, 3, true);
    hd_module *model = hd_sequential(layer); /* model is now the parent of layer, and frees it */
    hd_module_free(model);
    hd_module_free(layer);
}

static void second_backward(void)
{
    hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 3), true); /* (3,) */
    hd_tensor *loss = hd_sum(hd_mul(w, w));
    hd_backward(loss);
    hd_backward(loss);
}

static void change_a_parameter(void)
{
    hd_module *layer = hd_linear_new(3, 2, true);
    hd_tensor *w = hd_module_get_parameter(layer, "weight"); /* (2, 3) */
    hd_mul_scalar_(w, 0.5);
    hd_module_free(layer);
}

static void change_a_saved_tensor(void)
{
    hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 3), true); /* (3,) */

    hd_tensor *y = hd_exp(w); /* (3,); backward needs it */
    hd_zero_(y);
    hd_backward(hd_sum(y));
}

static void classes_in_the_last_dim(void)
{
    hd_tensor *logits = hd_zeros(HD_FLOAT32, 2, 5, 7); /* (b, t, vocabulary) */
    hd_tensor *target = hd_zeros(HD_INT64, 2, 5);      /* (b, t) */
    hd_cross_entropy(logits, target);
}

static void wrong_dtype(void)
{
    hd_tensor *logits = hd_zeros(HD_FLOAT32, 4, 2); /* (n, classes) */
    hd_tensor *target = hd_zeros(HD_FLOAT32, 4);    /* (n,) */
    hd_cross_entropy(logits, target);
}

static void other_weights(void)
{
    hd_module *small = hd_linear_new(3, 2, true), *large = hd_linear_new(3, 4, false);
    hd_dict *weights = hd_module_state_dict(small);
    hd_module_load_state_dict(large, weights, true, NULL);
    hd_dict_free(weights);
    hd_module_free(small);
    hd_module_free(large);
}

/* ---------------------------------------------------------------- the program */

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    {"chain", chain},
    {"attention", attention},
    {"aborts", aborts},
    {"nan", find_nan},
    {"first_nan", first_nan},
    {"nan_loss", nan_loss},
    {"loss", loss_of_two_shapes},
    {"training", mistakes_in_a_training},
    {"live", live},
    {"after_scope", after_scope},
    {"count", count},
    {"no_scope", no_scope},
    {"freed_twice", freed_twice},
    {"second_backward", second_backward},
    {"change_a_parameter", change_a_parameter},
    {"change_a_saved_tensor", change_a_saved_tensor},
    {"classes", classes_in_the_last_dim},
    {"dtype", wrong_dtype},
    {"other_weights", other_weights},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        if (argc < 2) {
            printf("%s\n", mistakes[i].name);
        } else if (strcmp(argv[1], mistakes[i].name) == 0) {
            mistakes[i].make();
        }
    }
    if (hd_error_code() != HD_OK) {
        printf("%s: %s\n", hd_code_name(hd_error_code()), hd_error_message());
    }
    return 0;
}
