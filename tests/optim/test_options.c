/* test_options.c - options that optimizers refuse. */
#include "suites.h"

#define refuses(kind, change, message)                                                             \
    do {                                                                                           \
        hd_##kind##_options o = hd_##kind##_defaults();                                            \
        change;                                                                                    \
        ck_assert_ptr_null(hd_##kind##_new(list, &o));                                             \
        ck_error(HD_VALUE, message);                                                               \
    } while (0)

START_TEST(sgd_options)
{
    HD_SCOPE;
    hd_list *list = hd_list_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    refuses(sgd, o.lr = -1, "hd_sgd_new: lr -1: expected 0 or more");
    refuses(sgd, o.lr = NAN, "hd_sgd_new: lr nan: expected 0 or more");
    refuses(sgd, o.momentum = -0.5, "hd_sgd_new: momentum -0.5: expected 0 or more");
    refuses(sgd, o.weight_decay = NAN, "hd_sgd_new: weight_decay nan: expected 0 or more");
    refuses(sgd, o.dampening = NAN, "hd_sgd_new: dampening nan: expected a number");
    refuses(sgd, o.nesterov = true,
            "hd_sgd_new: nesterov with momentum 0, dampening 0: expected a momentum and no "
            "dampening");
    refuses(sgd, o.nesterov = true; o.momentum = 0.9;
            o.dampening = 0.1,
            "hd_sgd_new: nesterov with momentum 0.9, dampening 0.1: expected a momentum and no "
            "dampening");
    refuses(sgd, o.size = 8,
            sized("hd_sgd_new: o->size 8: expected %zu, as hd_sgd_defaults() gives",
                  sizeof(hd_sgd_options)));
}
END_TEST

START_TEST(adamw_options)
{
    HD_SCOPE;
    hd_list *list = hd_list_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    refuses(adamw, o.lr = -1e-3, "hd_adamw_new: lr -0.001: expected 0 or more");
    refuses(adamw, o.beta1 = 1, "hd_adamw_new: beta1 1: expected 0 or more, below 1");
    refuses(adamw, o.beta2 = -0.1, "hd_adamw_new: beta2 -0.1: expected 0 or more, below 1");
    refuses(adamw, o.beta2 = NAN, "hd_adamw_new: beta2 nan: expected 0 or more, below 1");
    refuses(adamw, o.eps = -1, "hd_adamw_new: eps -1: expected 0 or more");
    refuses(adamw, o.weight_decay = -1, "hd_adamw_new: weight_decay -1: expected 0 or more");
    refuses(adamw, o.size = 8,
            sized("hd_adamw_new: o->size 8: expected %zu, as hd_adamw_defaults() gives",
                  sizeof(hd_adamw_options)));
}
END_TEST

START_TEST(the_others_options)
{
    HD_SCOPE;
    hd_list *list = hd_list_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    refuses(adam, o.beta2 = 1, "hd_adam_new: beta2 1: expected 0 or more, below 1");
    refuses(adam, o.size = 8,
            sized("hd_adam_new: o->size 8: expected %zu, as hd_adam_defaults() gives",
                  sizeof(hd_adam_options)));
    refuses(rmsprop, o.lr = NAN, "hd_rmsprop_new: lr nan: expected 0 or more");
    refuses(rmsprop, o.alpha = -1, "hd_rmsprop_new: alpha -1: expected 0 or more");
    refuses(rmsprop, o.eps = -1, "hd_rmsprop_new: eps -1: expected 0 or more");
    refuses(rmsprop, o.momentum = -1, "hd_rmsprop_new: momentum -1: expected 0 or more");
    refuses(rmsprop, o.weight_decay = -1, "hd_rmsprop_new: weight_decay -1: expected 0 or more");
    refuses(rmsprop, o.size = 8,
            sized("hd_rmsprop_new: o->size 8: expected %zu, as hd_rmsprop_defaults() gives",
                  sizeof(hd_rmsprop_options)));
    refuses(adagrad, o.lr = -1, "hd_adagrad_new: lr -1: expected 0 or more");
    refuses(adagrad, o.lr_decay = -1, "hd_adagrad_new: lr_decay -1: expected 0 or more");
    refuses(adagrad, o.initial_accumulator_value = NAN,
            "hd_adagrad_new: initial_accumulator_value nan: expected 0 or more");
    refuses(adagrad, o.weight_decay = -1, "hd_adagrad_new: weight_decay -1: expected 0 or more");
    refuses(adagrad, o.eps = -1, "hd_adagrad_new: eps -1: expected 0 or more");
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
    ck_error(HD_VALUE,
             "hd_sgd_new: an empty list of parameters: expected one or more (hd_register_module)");
    ck_assert_ptr_null(hd_adamw_new(hd_list_of(p, hd_mul_scalar(p, 2)), NULL));
    ck_error(HD_GRAD, "hd_adamw_new: parameter 1 of (2,) is the result of an operation: expected "
                      "a leaf");
    ck_assert_ptr_null(hd_sgd_new(hd_list_of(hd_ones(HD_INT64, 2)), NULL));
    ck_error(HD_DTYPE, "hd_sgd_new: parameter 0 is int64: expected float32 or float64");
    hd_tensor *frozen = hd_parameter(hd_ones(HD_BFLOAT16, 2), false); /* no step writes it */
    hd_optim *o = hd_adamw_new(hd_list_of(frozen, p), NULL);
    ck_assert(hd_backward(hd_sum(p)) && hd_optim_step(o) && hd_optim_zero_grad(o));
    ck_elements(frozen, 1, 1);
    hd_optim_free(o);
    ck_assert_ptr_null(hd_sgd_new(hd_list_of(p, hd_ones(HD_FLOAT32, 1), p), NULL));
    ck_error(HD_VALUE, "hd_sgd_new: parameters 0 and 2 are the same tensor");
    hd_tensor *wide = hd_parameter(hd_expand(hd_ones(HD_FLOAT32, 1), 3), true);
    ck_assert_ptr_null(hd_sgd_new(hd_list_of(wide), NULL));
    ck_error(HD_VALUE, "hd_sgd_new: parameter 0 of (3,) is expanded: several elements share "
                       "memory");
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
    const TTest *const tests[] = {
        sgd_options,           adamw_options, the_others_options,
        defaults_are_pytorchs, parameters,    learning_rate,
    };
    return SUITE("options", tests);
}
