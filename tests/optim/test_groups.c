/* test_groups.c - tests of parameter groups, and of schedules over them. */
#include "suites.h"

static hd_tensor *parameter(double value)
{
    return hd_parameter(hd_full(HD_FLOAT32, value, 2), true);
}

static hd_optim *sgd(hd_tensor *p, double lr)
{
    hd_sgd_options o = hd_sgd_defaults();
    o.lr = lr;
    return hd_sgd_new(hd_list_of(p), &o);
}

START_TEST(each_has_its_options)
{
    HD_SCOPE;
    hd_tensor *a = parameter(1), *b = parameter(1), *c = parameter(1);
    hd_optim *o = sgd(a, 0.5);
    hd_sgd_options second = hd_sgd_defaults();
    second.lr = 0.25;
    second.weight_decay = 1;
    ck_assert(hd_optim_add_group(o, hd_list_of(b), &second));
    ck_assert(hd_optim_set_lr(o, 0.125));
    ck_assert(hd_optim_add_group(o, hd_list_of(c), NULL)); /* the first: as it was given */
    ck_assert_int_eq(hd_optim_group_count(o), 3);
    ck_assert_double_eq(hd_optim_group_lr(o, 0), 0.125);
    ck_assert_double_eq(hd_optim_group_lr(o, 1), 0.125);
    ck_assert_double_eq(hd_optim_group_lr(o, 2), 0.5);
    ck_assert(hd_optim_group_set_lr(o, 1, 0.25));
    ck_assert_double_eq(hd_optim_lr(o), 0.125);
    hd_set_grad(a, hd_ones(HD_FLOAT32, 2));
    hd_set_grad(b, hd_ones(HD_FLOAT32, 2));
    hd_set_grad(c, hd_ones(HD_FLOAT32, 2));
    ck_assert(hd_optim_step(o));
    ck_elements(a, 0.875, 0.875);
    ck_elements(b, 0.5, 0.5); /* 1 - 0.25 (1 + 1) */
    ck_elements(c, 0.5, 0.5);
    ck_assert(hd_optim_zero_grad(o));
    ck_assert_ptr_eq(hd_grad(c), HD_NONE);
    hd_optim_free(o);
}
END_TEST

START_TEST(what_a_group_cannot_be)
{
    HD_SCOPE;
    hd_tensor *a = parameter(1), *b = parameter(1);
    hd_optim *o = sgd(a, 0.5);
    ck_assert(!hd_optim_add_group(o, hd_list_of(b, a), NULL));
    ck_error(HD_VALUE, "hd_optim_add_group: parameter 1 is in group 0 already");
    hd_sgd_options s = hd_sgd_defaults();
    s.momentum = -1;
    ck_assert(!hd_optim_add_group(o, hd_list_of(b), &s));
    ck_error(HD_VALUE, "hd_optim_add_group: momentum -1: expected 0 or more");
    hd_adam_options other = hd_adam_defaults();
    ck_assert(!hd_optim_add_group(o, hd_list_of(b), &other));
    ck_error(
        HD_VALUE,
        sized("hd_optim_add_group: options->size %zu: expected %zu, as hd_sgd_defaults() gives",
              sizeof(hd_adam_options), sizeof(hd_sgd_options)));
    ck_assert(!hd_optim_add_group(o, hd_list_n(0, NULL), NULL));
    ck_error(HD_VALUE, "hd_optim_add_group: the list of parameters is empty: expected one or more. "
                       "Register a module's parts with hd_register_module");
    ck_assert(!hd_optim_add_group(NULL, hd_list_of(b), NULL));
    ck_error(HD_NULL_ARG, "hd_optim_add_group: o is NULL");
    ck_assert_int_eq(hd_optim_group_count(o), 1);
    ck_assert(isnan(hd_optim_group_lr(o, 1)));
    ck_error(HD_INDEX, "hd_optim_group_lr: group 1: expected 0 to 0");
    ck_assert(!hd_optim_group_set_lr(o, -1, 1));
    ck_error(HD_INDEX, "hd_optim_group_set_lr: group -1: expected 0 to 0");
    ck_assert(!hd_optim_group_set_lr(o, 0, NAN));
    ck_error(HD_VALUE, "hd_optim_group_set_lr: lr nan: expected 0 or more");
    ck_assert_int_eq(hd_optim_group_count(NULL), -1);
    ck_error(HD_NULL_ARG, "hd_optim_group_count: o is NULL");
    hd_optim_free(o);
}
END_TEST

/* ---------------------------------------------------------------- schedules */

START_TEST(schedules_start_at_each_groups_lr)
{
    warnings_expected();
    HD_SCOPE;
    hd_tensor *a = parameter(1), *b = parameter(1);
    hd_optim *o = sgd(a, 8);
    ck_assert(hd_optim_add_group(o, hd_list_of(b), NULL) && hd_optim_group_set_lr(o, 1, 4));
    hd_schedule *s = hd_step_lr_new(o, 2, 0.5);
    static const double want[] = {8, 8, 4, 4, 2};
    for (int t = 0; t < 5; t++) {
        ck_assert_double_eq(hd_optim_group_lr(o, 0), want[t]);
        ck_assert_double_eq(hd_optim_group_lr(o, 1), want[t] / 2);
        ck_assert_int_eq(hd_schedule_steps(s), t);
        ck_assert(hd_schedule_step(s));
    }
    hd_error_set(HD_USER, "older");
    ck_assert(!hd_schedule_step(s));
    ck_error(HD_USER, "older");
    ck_assert_int_eq(hd_schedule_steps(s), 5);
    hd_schedule_free(s);
    hd_schedule_free(NULL);
    hd_optim_free(o);
}
END_TEST

/* PyTorch's KeyError or ValueError; steps.txt has the schedules that go on. */
START_TEST(a_later_group_has_no_base)
{
    warnings_expected();
    HD_SCOPE;
    hd_cosine_warmup_options warmup = hd_cosine_warmup_defaults();
    hd_one_cycle_options cycle = hd_one_cycle_defaults();
    hd_cosine_annealing_options annealing = hd_cosine_annealing_defaults();
    warmup.total_steps = cycle.total_steps = 9;
    annealing.T_max = 2;
    for (int kind = 0; kind < 3; kind++) {
        hd_optim *o = sgd(parameter(1), 8);
        hd_schedule *s = kind == 0   ? hd_cosine_warmup_new(o, &warmup)
                         : kind == 1 ? hd_one_cycle_new(o, &cycle)
                                     : hd_cosine_annealing_new(o, &annealing);
        ck_assert(hd_schedule_step(s));
        ck_assert(hd_optim_add_group(o, hd_list_of(parameter(1)), NULL));
        ck_assert(kind < 2 || hd_schedule_step(s)); /* step 2: both are eta_min; 3 is a rise */
        double first = hd_optim_group_lr(o, 0), second = hd_optim_group_lr(o, 1);
        int64_t steps = hd_schedule_steps(s);
        ck_assert(!hd_schedule_step(s));
        static const char *const names[] = {"CosineWarmup", "OneCycleLR", "CosineAnnealingLR"};
        char message[200];
        snprintf(message, sizeof message,
                 "hd_schedule_step: the optimizer has 2 groups, but had 1 when this %s was made. "
                 "Make a new schedule after hd_optim_add_group",
                 names[kind]);
        ck_error(HD_STATE, message);
        ck_assert_double_eq(hd_optim_group_lr(o, 0), first);
        ck_assert_double_eq(hd_optim_group_lr(o, 1), second);
        ck_assert_int_eq(hd_schedule_steps(s), steps);
        hd_schedule_free(s);
        hd_optim_free(o);
    }
}
END_TEST

/* The values are PyTorch's. */
START_TEST(a_step_goes_on_from_the_lr_of_now)
{
    warnings_expected();
    HD_SCOPE;
    hd_optim *o = sgd(parameter(1), 8);
    hd_schedule *s = hd_step_lr_new(o, 1, 0.5);
    ck_assert(hd_optim_set_lr(o, 3) && hd_schedule_step(s));
    ck_assert_double_eq(hd_optim_lr(o), 1.5);
    hd_schedule_free(s);

    ck_assert(hd_optim_set_lr(o, 8));
    s = hd_constant_lr_new(o, 0.25, 2);
    hd_schedule *other = hd_step_lr_new(o, 1, 0.5);
    static const double want[] = {2, 1, 2, 1};
    for (int t = 0; t < 4; t++) {
        ck_assert_double_eq(hd_optim_lr(o), want[t]);
        ck_assert(hd_schedule_step(s) && hd_schedule_step(other));
    }
    hd_schedule_free(other);
    hd_schedule_free(s);
    hd_optim_free(o);
}
END_TEST

/* When PyTorch warns: at the first step of a schedule, if the optimizer has not stepped since its
 * first schedule was made. */
START_TEST(schedule_warns_before_the_optimizer)
{
    HD_SCOPE;
    static const char early[] =
        "hd_schedule_step: the optimizer has not stepped since its schedule was made, so its first "
        "learning rate, 8.0, is not used. Call hd_optim_step before hd_schedule_step";
    hd_tensor *a = parameter(1);
    hd_optim *o = sgd(a, 8);
    ck_assert(hd_optim_step(o)); /* before there is a schedule: that lr was not the schedule's */
    hd_schedule *s = hd_step_lr_new(o, 2, 0.5);
    ck_warning(hd_schedule_step(s), early);
    ck_no_warning(hd_schedule_step(s));
    hd_schedule_free(s);
    ck_assert(hd_optim_set_lr(o, 8));
    s = hd_step_lr_new(o, 2, 0.5);
    ck_warning(hd_schedule_step(s), early);
    hd_schedule_free(s);
    ck_assert(hd_optim_step(o));
    s = hd_step_lr_new(o, 2, 0.5); /* the optimizer has stepped since the first one */
    ck_no_warning(hd_schedule_step(s));
    hd_schedule_free(s);
    hd_optim_free(o);

    o = sgd(a, 8);
    s = hd_step_lr_new(o, 2, 0.5);
    ck_assert(hd_optim_step(o));
    ck_no_warning(hd_schedule_step(s));
    hd_dict *d = hd_dict_new();
    ck_assert(hd_schedule_save(s, d, "s"));
    hd_schedule_free(s);
    hd_optim_free(o);

    o = sgd(a, 8); /* a run that goes on */
    s = hd_step_lr_new(o, 2, 0.5);
    ck_assert(hd_schedule_load(s, d, "s"));
    ck_no_warning(hd_schedule_step(s));
    hd_schedule_free(s);
    hd_optim_free(o);
    hd_dict_free(d);
}
END_TEST

START_TEST(a_constant_one_leaves_the_lr)
{
    warnings_expected();
    HD_SCOPE;
    hd_optim *o = sgd(parameter(1), 0.3);
    hd_schedule *s = hd_constant_lr_new(o, 1, 0);
    for (int t = 0; t < 3; t++) {
        ck_assert_double_eq(hd_optim_lr(o), 0.3);
        ck_assert(hd_schedule_step(s));
    }
    hd_schedule_free(s);
    hd_optim_free(o);
}
END_TEST

/* The ends of the ranges are allowed: lr 0 at the start, lr 0 at the end, and no rise at all. */
START_TEST(ends_of_ranges)
{
    warnings_expected();
    HD_SCOPE;
    hd_optim *o = sgd(parameter(1), 0.5);
    hd_schedule *s = hd_constant_lr_new(o, 0, 1);
    ck_assert_double_eq(hd_optim_lr(o), 0);
    ck_assert(hd_schedule_step(s));
    ck_assert_double_eq(hd_optim_lr(o), 0.5); /* PyTorch divides by 0 here */
    hd_schedule_free(s);
    s = hd_constant_lr_new(o, 0, 2);
    ck_assert(hd_schedule_step(s) && hd_optim_add_group(o, hd_list_of(parameter(1)), NULL) &&
              hd_optim_group_set_lr(o, 1, 0.25) && hd_schedule_step(s));
    ck_assert_double_eq(hd_optim_group_lr(o, 0), 0.5);
    ck_assert_double_eq(hd_optim_group_lr(o, 1), 0.25);
    hd_schedule_free(s);
    s = hd_linear_lr_new(o, 1, 0, 2);
    ck_assert(hd_schedule_step(s));
    ck_assert_double_eq(hd_optim_lr(o), 0.25);
    ck_assert(hd_schedule_step(s));
    ck_assert_double_eq(hd_optim_lr(o), 0);
    hd_schedule_free(s);
    ck_assert(hd_optim_set_lr(o, 0.5));
    hd_one_cycle_options c = hd_one_cycle_defaults();
    c.total_steps = 4;
    c.pct_start = 0;
    c.anneal = HD_ANNEAL_LINEAR;
    c.final_div_factor = 1e300;
    s = hd_one_cycle_new(o, &c);
    ck_assert_double_eq_tol(hd_optim_lr(o), 0.375, 1e-15); /* PyTorch's lr falls from step -1 on */
    hd_schedule_free(s);
    hd_optim_free(o);
}
END_TEST

START_TEST(what_a_schedule_cannot_be)
{
    HD_SCOPE;
    hd_optim *o = sgd(parameter(1), 0.5);
    ck_assert_ptr_null(hd_constant_lr_new(o, 1.5, 3));
    ck_error(HD_VALUE, "hd_constant_lr_new: factor 1.5: expected 0 to 1");
    ck_assert_ptr_null(hd_constant_lr_new(o, 0.5, -1));
    ck_error(HD_VALUE, "hd_constant_lr_new: total_iters -1: expected 0 or more");
    ck_assert_ptr_null(hd_step_lr_new(o, 0, 0.5));
    ck_error(HD_VALUE, "hd_step_lr_new: step_size 0: expected 1 or more");
    ck_assert_ptr_null(hd_step_lr_new(o, 1, NAN));
    ck_error(HD_VALUE, "hd_step_lr_new: gamma nan: expected 0 or more");
    ck_assert_ptr_null(hd_linear_lr_new(o, 0, 1, 5));
    ck_error(HD_VALUE, "hd_linear_lr_new: start_factor 0: expected above 0, at most 1");
    ck_assert_ptr_null(hd_linear_lr_new(o, 1, 1.5, 5));
    ck_error(HD_VALUE, "hd_linear_lr_new: end_factor 1.5: expected 0 to 1");
    ck_assert_ptr_null(hd_linear_lr_new(NULL, 1, 1, 5));
    ck_error(HD_NULL_ARG, "hd_linear_lr_new: o is NULL");
    ck_assert_ptr_null(hd_cosine_warmup_new(o, NULL));
    ck_error(HD_VALUE, "hd_cosine_warmup_new: total_steps 0: expected 1 or more");
    hd_cosine_warmup_options c = hd_cosine_warmup_defaults();
    c.warmup_steps = 5;
    c.total_steps = 5;
    ck_assert_ptr_null(hd_cosine_warmup_new(o, &c));
    ck_error(HD_VALUE, "hd_cosine_warmup_new: warmup_steps 5, total_steps 5: expected warmup_steps "
                       "below total_steps");
    c.size = 1;
    ck_assert_ptr_null(hd_cosine_warmup_new(o, &c));
    ck_error(HD_VALUE, sized("hd_cosine_warmup_new: options->size 1: expected %zu, as "
                             "hd_cosine_warmup_defaults() gives",
                             sizeof(hd_cosine_warmup_options)));
    hd_cosine_annealing_options a = hd_cosine_annealing_defaults();
    ck_assert_ptr_null(hd_cosine_annealing_new(o, NULL));
    ck_error(HD_VALUE, "hd_cosine_annealing_new: T_max 0: expected 1 or more");
    a.T_max = 4;
    a.eta_min = -1;
    ck_assert_ptr_null(hd_cosine_annealing_new(o, &a));
    ck_error(HD_VALUE, "hd_cosine_annealing_new: eta_min -1: expected 0 or more");
    a.size = 1;
    ck_assert_ptr_null(hd_cosine_annealing_new(o, &a));
    ck_error(HD_VALUE, sized("hd_cosine_annealing_new: options->size 1: expected %zu, as "
                             "hd_cosine_annealing_defaults() gives",
                             sizeof(hd_cosine_annealing_options)));
    ck_assert_double_eq(hd_optim_lr(o), 0.5);
    ck_assert(!hd_schedule_step(NULL));
    ck_error(HD_NULL_ARG, "hd_schedule_step: s is NULL");
    ck_assert_int_eq(hd_schedule_steps(NULL), -1);
    ck_error(HD_NULL_ARG, "hd_schedule_steps: s is NULL");
    hd_optim_free(o);
}
END_TEST

START_TEST(what_one_cycle_cannot_be)
{
    warnings_expected();
    HD_SCOPE;
    hd_tensor *p = parameter(1);
    hd_optim *o = sgd(p, 0.5), *adagrad = hd_adagrad_new(hd_list_of(p), NULL);
    hd_one_cycle_options c = hd_one_cycle_defaults();
    ck_assert_ptr_null(hd_one_cycle_new(o, NULL));
    ck_error(HD_VALUE, "hd_one_cycle_new: total_steps 0: expected 1 or more");
    c.total_steps = 10;
    ck_assert_ptr_null(hd_one_cycle_new(adagrad, &c));
    ck_error(HD_VALUE, "hd_one_cycle_new: cycle_momentum true: expected false, because Adagrad has "
                       "neither momentum nor beta1");
    c.pct_start = 0.1; /* PyTorch divides by zero here */
    ck_assert_ptr_null(hd_one_cycle_new(o, &c));
    ck_error(HD_VALUE,
             "hd_one_cycle_new: pct_start 0.1, total_steps 10: a phase of the cycle has no length: "
             "it begins and ends at step 0. Choose another pct_start or total_steps");
    c.pct_start = -0.1;
    ck_assert_ptr_null(hd_one_cycle_new(o, &c));
    ck_error(HD_VALUE, "hd_one_cycle_new: pct_start -0.1: expected 0 to 1");
    c.pct_start = 0.3;
    c.anneal = (hd_anneal)2;
    ck_assert_ptr_null(hd_one_cycle_new(o, &c));
    ck_error(HD_VALUE, "hd_one_cycle_new: anneal 2: expected 0 or 1");
    c.anneal = HD_ANNEAL_COS;
    c.div_factor = 0;
    ck_assert_ptr_null(hd_one_cycle_new(o, &c));
    ck_error(HD_VALUE, "hd_one_cycle_new: div_factor 0: expected above 0");
    c.div_factor = 25;
    c.cycle_momentum = false;
    hd_schedule *s = hd_one_cycle_new(adagrad, &c);
    for (int t = 0; t < 10; t++) {
        ck_assert(hd_schedule_step(s));
    }
    double lr = hd_optim_lr(adagrad);
    ck_assert(!hd_schedule_step(s));
    ck_error(HD_STATE, "hd_schedule_step: step 11: expected at most total_steps 10");
    ck_assert_double_eq(hd_optim_lr(adagrad), lr);

    hd_dict *d = hd_dict_new();
    ck_assert(hd_schedule_save(s, d, "s") && hd_schedule_load(s, d, "s"));
    ck_assert(hd_dict_set_int(d, "s.step", 11) && !hd_schedule_load(s, d, "s"));
    ck_error(HD_VALUE, "hd_schedule_load: 's.step' is 11: expected 0 to 10");
    ck_assert_int_eq(hd_schedule_steps(s), 10);
    hd_dict_free(d);
    hd_schedule_free(s);
    hd_optim_free(o);
    hd_optim_free(adagrad);
}
END_TEST

#define plateau_refuses(field, value, message)                                                     \
    do {                                                                                           \
        hd_reduce_on_plateau_options options_ = hd_reduce_on_plateau_defaults();                   \
        options_.field = value;                                                                    \
        ck_assert_ptr_null(hd_reduce_on_plateau_new(o, &options_));                                \
        ck_error(HD_VALUE, message);                                                               \
    } while (0)

START_TEST(what_a_plateau_cannot_be)
{
    warnings_expected();
    HD_SCOPE;
    hd_optim *o = sgd(parameter(1), 0.5);
    plateau_refuses(mode, (hd_plateau_mode)2, "hd_reduce_on_plateau_new: mode 2: expected 0 or 1");
    plateau_refuses(factor, 1, "hd_reduce_on_plateau_new: factor 1: expected 0 or more, below 1");
    plateau_refuses(patience, -1, "hd_reduce_on_plateau_new: patience -1: expected 0 or more");
    plateau_refuses(threshold, NAN, "hd_reduce_on_plateau_new: threshold nan: expected a number");
    plateau_refuses(threshold_mode, (hd_threshold_mode)7,
                    "hd_reduce_on_plateau_new: threshold_mode 7: expected 0 or 1");
    plateau_refuses(cooldown, -1, "hd_reduce_on_plateau_new: cooldown -1: expected 0 or more");
    plateau_refuses(min_lr, -1, "hd_reduce_on_plateau_new: min_lr -1: expected 0 or more");
    plateau_refuses(eps, -1, "hd_reduce_on_plateau_new: eps -1: expected 0 or more");
    plateau_refuses(size, 1,
                    sized("hd_reduce_on_plateau_new: options->size 1: expected %zu, as "
                          "hd_reduce_on_plateau_defaults() gives",
                          sizeof(hd_reduce_on_plateau_options)));

    hd_schedule *s = hd_reduce_on_plateau_new(o, NULL);
    ck_assert(!hd_schedule_step(s));
    ck_error(HD_STATE, "hd_schedule_step: ReduceLROnPlateau needs a metric. Call "
                       "hd_schedule_step_metric");
    hd_error_set(HD_USER, "older");
    ck_assert(!hd_schedule_step_metric(s, 1));
    ck_error(HD_USER, "older");
    ck_assert_int_eq(hd_schedule_steps(s), 0);
    hd_schedule_free(s);
    s = hd_step_lr_new(o, 1, 0.5);
    ck_assert(!hd_schedule_step_metric(s, 1));
    ck_error(HD_STATE, "hd_schedule_step_metric: StepLR takes no metric. Call hd_schedule_step");
    ck_assert_double_eq(hd_optim_lr(o), 0.5);
    hd_schedule_free(s);
    hd_optim_free(o);
}
END_TEST

/* As in PyTorch: NaN is a step without a better metric, and so is an equal one. */
START_TEST(nan_is_never_better)
{
    HD_SCOPE;
    hd_reduce_on_plateau_options p = hd_reduce_on_plateau_defaults();
    p.patience = 1;
    p.factor = 0.5;
    hd_optim *o = sgd(parameter(1), 8);
    hd_schedule *s = hd_reduce_on_plateau_new(o, &p);
    static const double metrics[] = {NAN, 3, 3, NAN, 2, INFINITY, -INFINITY, NAN, NAN};
    static const double want[] = {8, 8, 8, 4, 4, 4, 4, 4, 2};
    for (int t = 0; t < 9; t++) {
        ck_no_warning(hd_schedule_step_metric(s, metrics[t])); /* nor of the optimizer's step */
        ck_assert_double_eq(hd_optim_lr(o), want[t]);
        ck_assert_int_eq(hd_schedule_steps(s), t + 1);
    }
    hd_schedule_free(s);
    hd_optim_free(o);
}
END_TEST

/* One cycle gives a momentum to an SGD that had none; then v begins with the gradient. */
START_TEST(momentum_may_begin_late)
{
    HD_SCOPE;
    hd_tensor *p = hd_parameter(hd_ones(HD_FLOAT64, 1), true);
    hd_sgd_options plain = hd_sgd_defaults();
    plain.lr = 1;
    hd_optim *o = hd_sgd_new(hd_list_of(p), &plain);
    hd_set_grad(p, hd_ones(HD_FLOAT64, 1));
    ck_assert(hd_optim_step(o));
    ck_elements(p, 0);
    hd_one_cycle_options c = hd_one_cycle_defaults();
    c.total_steps = 10;
    c.max_momentum = 0.5;
    c.div_factor = 1;
    hd_schedule *s = hd_one_cycle_new(o, &c);
    ck_assert(hd_optim_step(o));
    ck_elements(p, -1);
    ck_assert(hd_optim_step(o));
    ck_elements(p, -2.5); /* v = 0.5 + 1 */
    hd_schedule_free(s);
    hd_optim_free(o);
}
END_TEST

Suite *suite_groups(void)
{
    const TTest *const tests[] = {
        each_has_its_options,
        what_a_group_cannot_be,
        schedules_start_at_each_groups_lr,
        a_later_group_has_no_base,
        a_step_goes_on_from_the_lr_of_now,
        schedule_warns_before_the_optimizer,
        a_constant_one_leaves_the_lr,
        ends_of_ranges,
        what_a_schedule_cannot_be,
        what_one_cycle_cannot_be,
        what_a_plateau_cannot_be,
        nan_is_never_better,
        momentum_may_begin_late,
    };
    return SUITE("groups", tests);
}
