/* ownership.c - the program of docs/guides/ownership.md: who frees what, and when. */
#include "heed/heed.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

/* ---------------------------------------------------------------- scopes */

static void show_a_scope(void)
{
    printf("before the block: %d tensors\n", (int)hd_scope_count());
    {
        HD_SCOPE;
        hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3); /* (2, 3) */
        hd_tensor *y = hd_sum(hd_mul(x, x));      /* () */
        printf("in the block: %d tensors, y is %g\n", (int)hd_scope_count(), hd_item(y));
    }
    printf("after the block: %d tensors\n", (int)hd_scope_count());
}

/* ---------------------------------------------------------------- keeping a tensor */

static void keep_the_best(void)
{
    hd_tensor *best = NULL; /* (3,) */
    double most = -INFINITY;
    for (int i = 0; i < 5; i++) {
        HD_SCOPE;
        hd_tensor *x = hd_rand(HD_FLOAT32, 3); /* (3,) */
        double sum = hd_item(hd_sum(x));
        if (sum > most) {
            most = sum;
            hd_assign(&best, x); /* keeps x, and releases the best one before it */
        }
    }
    hd_print(best);
    hd_release(best);
}

/* ---------------------------------------------------------------- returning a tensor */

/* Returns (x - mean) / sqrt(var) for x (n,): (n,). */
static hd_tensor *normalised(hd_tensor *x)
{
    HD_SCOPE;
    hd_tensor *centred = hd_sub(x, hd_mean(x));
    hd_tensor *y = hd_div(centred, hd_sqrt(hd_var(x, 0)));
    return hd_scope_return(y);
}

static void return_a_tensor(void)
{
    HD_SCOPE;
    hd_tensor *x = hd_arange(0, 5, 1);               /* (5,) int64 */
    hd_tensor *y = normalised(hd_to(x, HD_FLOAT32)); /* (5,) */
    hd_print(y);
}

/* ---------------------------------------------------------------- a loop that grows a tensor */

/* Returns all (1, n) followed by `rounds` copies of its first column: (1, n + rounds). */
static hd_tensor *grown(hd_tensor *all, int rounds)
{
    HD_SCOPE;
    for (int i = 0; i < rounds; i++) {
        HD_SCOPE;
        hd_tensor *next = hd_narrow(all, 1, 0, 1);   /* (1, 1) */
        all = hd_scope_return(hd_cat(1, all, next)); /* from the round to the function */
    }
    return hd_scope_return(all); /* from the function to the caller */
}

/* Returns ids (1, t) continued by n tokens, each of them the likeliest: (1, t + n). */
static hd_tensor *generate(hd_module *model, hd_tensor *ids, int n)
{
    HD_SCOPE;
    HD_NO_GRAD;
    hd_tensor *all = NULL; /* (1, t), and one more column after each round */
    bool ok = hd_assign(&all, ids);
    for (int i = 0; ok && i < n; i++) {
        HD_SCOPE;
        hd_tensor *logits = hd_select(hd_forward(model, all), 1, -1); /* (1, vocabulary) */
        hd_tensor *next = hd_argmax_dim(logits, -1, true);            /* (1, 1) */
        ok = hd_assign(&all, hd_cat(1, all, next));                   /* releases the old one */
    }
    hd_tensor *text = ok ? hd_detach(all) : NULL; /* the same elements, owned by the scope */
    hd_release(all);
    return hd_scope_return(text);
}

static void grow_a_tensor(void)
{
    HD_SCOPE;
    hd_print(grown(hd_ones(HD_FLOAT32, 1, 1), 3));
    hd_module *model =
        hd_sequential(hd_embedding_new(5, 8, HD_NO_PADDING), hd_linear_new(8, 5, true));
    hd_print(generate(model, hd_zeros(HD_INT64, 1, 1), 4));
    hd_module_free(model);
}

/* ---------------------------------------------------------------- objects that keep tensors */

/* Returns the mean square () of the model's answers to x (n, 3), after tanh. */
static hd_tensor *loss_of(hd_module *model, hd_tensor *x)
{
    HD_SCOPE;
    hd_tensor *y = hd_tanh(hd_forward(model, x)); /* (n, 1) */
    return hd_scope_return(hd_mean(hd_mul(y, y)));
}

static void train_a_step(void)
{
    HD_SCOPE;
    hd_module *model = hd_linear_new(3, 1, true);
    hd_optim *opt = hd_sgd_new(hd_module_parameters(model), NULL);
    {
        HD_SCOPE;
        hd_tensor *loss = loss_of(model, hd_rand(HD_FLOAT32, 4, 3)); /* () */
        hd_backward(loss);
        hd_optim_step(opt);
    }
    hd_print(hd_grad(hd_module_get_parameter(model, "bias")));
    hd_optim_free(opt);
    hd_module_free(model);
}

/* ---------------------------------------------------------------- another thread */

static void *print_sum(void *x)
{
    hd_print(hd_sum(x));
    hd_release(x);
    return NULL; /* the thread ends, and so does its root scope */
}

static void use_another_thread(void)
{
    pthread_t thread;
    {
        HD_SCOPE;
        hd_tensor *x = hd_ones(HD_FLOAT32, 10); /* (10,) */
        hd_retain(x);                           /* for the thread, which releases it */
        pthread_create(&thread, NULL, print_sum, x);
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    hd_on_error(hd_error_abort, NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_manual_seed(123);
    show_a_scope();
    keep_the_best();
    return_a_tensor();
    grow_a_tensor();
    train_a_step();
    use_another_thread();
    printf("at the end: %d tensors\n", (int)hd_tensor_count());
    return 0;
}
