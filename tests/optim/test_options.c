/* test_options.c - tests of options that optimizers refuse. */
#include "optimizers_made.h"
#include "suites.h"

#define refuses(kind, change, message)                                                             \
    do {                                                                                           \
        hd_##kind##_options o = hd_##kind##_defaults();                                            \
        change;                                                                                    \
        ck_assert_ptr_null(hd_##kind##_new(list, &o));                                             \
        ck_error(HD_VALUE, message);                                                               \
    } while (0)

/* Every field outside of its limits, and a struct of another size. */
START_TEST(every_option_has_its_limits)
{
    HD_SCOPE;
    hd_list *list = hd_list_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
#define REFUSES(kind, field, value, message) refuses(kind, o.field = value, message);
    OPTIMIZER_REFUSALS(REFUSES)
#define SIZED(kind, ...)                                                                           \
    refuses(kind, o.size = 8,                                                                      \
            sized("hd_" #kind "_new: o->size 8: expected %zu, as hd_" #kind "_defaults() gives",   \
                  sizeof(hd_##kind##_options)));
    OPTIMIZERS(SIZED)
}
END_TEST

START_TEST(nesterov_needs_momentum)
{
    HD_SCOPE;
    hd_list *list = hd_list_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    refuses(sgd, o.nesterov = true,
            "hd_sgd_new: nesterov with momentum 0, dampening 0: expected momentum above 0, "
            "dampening 0");
    refuses(sgd, o.nesterov = true; o.momentum = 0.9;
            o.dampening = 0.1, "hd_sgd_new: nesterov with momentum 0.9, dampening 0.1: expected "
                               "momentum above 0, dampening 0");
}
END_TEST

START_TEST(defaults_are_pytorchs)
{
    HD_SCOPE;
    hd_list *list = hd_list_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_optim *made[] = {hd_sgd_new(list, NULL), hd_adamw_new(list, NULL), hd_adam_new(list, NULL),
                        hd_rmsprop_new(list, NULL), hd_adagrad_new(list, NULL)};
    static const double lr[] = {1e-3, 1e-3, 1e-3, 1e-2, 1e-2};
    for (int i = 0; i < 5; i++) {
        ck_assert_double_eq(hd_optim_lr(made[i]), lr[i]);
        hd_optim_free(made[i]);
    }
    hd_adamw_options o = hd_adamw_defaults();
    ck_assert(o.beta1 == 0.9 && o.beta2 == 0.999 && o.eps == 1e-8 && o.weight_decay == 1e-2);
    ck_assert_double_eq(hd_adam_defaults().weight_decay, 0);
}
END_TEST

START_TEST(parameters)
{
    HD_SCOPE;
    hd_tensor *p = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
    ck_assert_ptr_null(hd_sgd_new(NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_sgd_new: parameters is NULL");
    ck_assert_ptr_null(hd_sgd_new(hd_list_n(0, NULL), NULL));
    ck_error(HD_VALUE, "hd_sgd_new: the list of parameters is empty: expected one or more. "
                       "Register a module's parts with hd_register_module");
    ck_assert_ptr_null(hd_adamw_new(hd_list_of(p, hd_mul_scalar(p, 2)), NULL));
    ck_error(HD_GRAD, "hd_adamw_new: parameter 1 of (2,) is the result of an operation: expected "
                      "a leaf (hd_parameter makes one)");
    ck_assert_ptr_null(hd_sgd_new(hd_list_of(hd_ones(HD_INT64, 2)), NULL));
    ck_error(HD_DTYPE, "hd_sgd_new: parameter 0 has dtype int64: expected float32 or float64");
    hd_tensor *frozen = hd_parameter(hd_ones(HD_BFLOAT16, 2), false); /* no step writes it */
    hd_optim *o = hd_adamw_new(hd_list_of(frozen, p), NULL);
    ck_assert(hd_backward(hd_sum(p)) && hd_optim_step(o) && hd_optim_zero_grad(o));
    ck_elements(frozen, 1, 1);
    hd_optim_free(o);
    ck_assert_ptr_null(hd_sgd_new(hd_list_of(p, hd_ones(HD_FLOAT32, 1), p), NULL));
    ck_error(HD_VALUE, "hd_sgd_new: parameters 0 and 2 are the same tensor: expected each once");
    hd_tensor *wide = hd_parameter(hd_expand(hd_ones(HD_FLOAT32, 1), 3), true);
    ck_assert_ptr_null(hd_sgd_new(hd_list_of(wide), NULL));
    ck_error(HD_VALUE, "hd_sgd_new: parameter 0 of (3,) is expanded: several elements share "
                       "memory. Make the parameter from a clone");
}
END_TEST

START_TEST(learning_rate)
{
    HD_SCOPE;
    hd_tensor *p = hd_parameter(hd_ones(HD_FLOAT32, 1), true);
    hd_optim *o = hd_sgd_new(hd_list_of(p), NULL);
    ck_assert(hd_optim_set_lr(o, 0.5));
    ck_assert_double_eq(hd_optim_lr(o), 0.5);
    hd_set_grad(p, hd_ones(HD_FLOAT32, 1));
    ck_assert(hd_optim_step(o));
    ck_elements(p, 0.5);
    ck_assert(!hd_optim_set_lr(o, -1));
    ck_error(HD_VALUE, "hd_optim_set_lr: lr -1: expected 0 or more");
    ck_assert(!hd_optim_set_lr(o, NAN));
    ck_error(HD_VALUE, "hd_optim_set_lr: lr nan: expected 0 or more");
    ck_assert_double_eq(hd_optim_lr(o), 0.5);
    hd_optim_free(o);
    hd_optim_free(NULL);
    ck_assert(isnan(hd_optim_lr(NULL)));
    ck_error(HD_NULL_ARG, "hd_optim_lr: o is NULL");
    ck_assert(!hd_optim_set_lr(NULL, 1));
    ck_error(HD_NULL_ARG, "hd_optim_set_lr: o is NULL");
    ck_assert(!hd_optim_step(NULL));
    ck_error(HD_NULL_ARG, "hd_optim_step: o is NULL");
    ck_assert(!hd_optim_zero_grad(NULL));
    ck_error(HD_NULL_ARG, "hd_optim_zero_grad: o is NULL");
}
END_TEST

Suite *suite_options(void)
{
    const TTest *const tests[] = {every_option_has_its_limits, nesterov_needs_momentum,
                                  defaults_are_pytorchs, parameters, learning_rate};
    return SUITE("options", tests);
}
