/* cases.c - turns what a golden case says about an optimizer and its schedule into heed's
 * options. */
#include "cases.h"

/* ---------------------------------------------------------------- optimizers */

static const struct field {
    const char *class, *name;
    size_t offset;
    bool is_bool;
} fields[] = {
#define FIELD(class, struct_type, field, is_bool)                                                  \
    {                                                                                              \
        class, #field, offsetof(struct_type, field), is_bool                                       \
    }
    FIELD("SGD", hd_sgd_options, lr, false),
    FIELD("SGD", hd_sgd_options, momentum, false),
    FIELD("SGD", hd_sgd_options, dampening, false),
    FIELD("SGD", hd_sgd_options, weight_decay, false),
    FIELD("SGD", hd_sgd_options, nesterov, true),
    FIELD("SGD", hd_sgd_options, maximize, true),
    FIELD("Adam", hd_adam_options, lr, false),
    FIELD("Adam", hd_adam_options, eps, false),
    FIELD("Adam", hd_adam_options, weight_decay, false),
    FIELD("Adam", hd_adam_options, amsgrad, true),
    FIELD("Adam", hd_adam_options, maximize, true),
    FIELD("RMSprop", hd_rmsprop_options, lr, false),
    FIELD("RMSprop", hd_rmsprop_options, alpha, false),
    FIELD("RMSprop", hd_rmsprop_options, eps, false),
    FIELD("RMSprop", hd_rmsprop_options, weight_decay, false),
    FIELD("RMSprop", hd_rmsprop_options, momentum, false),
    FIELD("RMSprop", hd_rmsprop_options, centered, true),
    FIELD("RMSprop", hd_rmsprop_options, maximize, true),
    FIELD("Adagrad", hd_adagrad_options, lr, false),
    FIELD("Adagrad", hd_adagrad_options, lr_decay, false),
    FIELD("Adagrad", hd_adagrad_options, weight_decay, false),
    FIELD("Adagrad", hd_adagrad_options, initial_accumulator_value, false),
    FIELD("Adagrad", hd_adagrad_options, eps, false),
    FIELD("Adagrad", hd_adagrad_options, maximize, true),
};

static bool is_class(const golden_case *c, const char *class)
{
    return strcmp(golden_text(c, "class", ""), class) == 0;
}

static bool is_adam(const golden_case *c)
{
    return is_class(c, "Adam") || is_class(c, "AdamW");
}

any_options case_options(const golden_case *c, const char *prefix, any_options o)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct field *f = &fields[i];
        const golden_record *r = golden_get(c, "%s%s", prefix, f->name);
        bool ours = is_class(c, f->class) || (is_adam(c) && strcmp(f->class, "Adam") == 0);
        if (!ours || !r) {
            continue;
        }
        if (f->is_bool) {
            *(bool *)((char *)&o + f->offset) = r->d[0] != 0;
        } else {
            *(double *)((char *)&o + f->offset) = r->d[0];
        }
    }
    const golden_record *betas = golden_get(c, "%sbetas", prefix);
    if (betas) {
        o.adam.beta1 = betas->d[0];
        o.adam.beta2 = betas->d[1];
    }
    return o;
}

any_options case_defaults(const golden_case *c)
{
    if (is_class(c, "SGD")) {
        return (any_options){.sgd = hd_sgd_defaults()};
    }
    if (is_class(c, "RMSprop")) {
        return (any_options){.rmsprop = hd_rmsprop_defaults()};
    }
    if (is_class(c, "Adagrad")) {
        return (any_options){.adagrad = hd_adagrad_defaults()};
    }
    return (any_options){.adam = is_class(c, "Adam") ? hd_adam_defaults() : hd_adamw_defaults()};
}

hd_optim *case_optim(const golden_case *c, const hd_list *parameters)
{
    any_options o = case_options(c, "", case_defaults(c));
    if (is_class(c, "SGD")) {
        return hd_sgd_new(parameters, &o.sgd);
    }
    if (is_class(c, "RMSprop")) {
        return hd_rmsprop_new(parameters, &o.rmsprop);
    }
    if (is_class(c, "Adagrad")) {
        return hd_adagrad_new(parameters, &o.adagrad);
    }
    return is_class(c, "Adam") ? hd_adam_new(parameters, &o.adam)
                               : hd_adamw_new(parameters, &o.adam);
}

void case_second_group(const golden_case *c, hd_optim *o, hd_tensor *second)
{
    any_options options = case_options(c, "second/", case_options(c, "", case_defaults(c)));
    ck_assert_msg(hd_optim_add_group(o, hd_list_of(second), &options), "%s", hd_error_message());
}

int64_t case_joins(const golden_case *c)
{
    return golden_int(c, "joins", -1);
}

/* ---------------------------------------------------------------- schedules */

static hd_schedule *cosine(const golden_case *c, hd_optim *o)
{
    hd_cosine_warmup_options s = hd_cosine_warmup_defaults();
    s.warmup_steps = golden_int(c, "schedule/warmup_steps", -1);
    s.total_steps = golden_int(c, "schedule/total_steps", -1);
    s.initial_lr = golden_double(c, "schedule/initial_lr", 0);
    s.min_lr = golden_double(c, "schedule/min_lr", 0);
    return hd_cosine_warmup_new(o, &s);
}

static hd_schedule *one_cycle(const golden_case *c, hd_optim *o)
{
    hd_one_cycle_options s = hd_one_cycle_defaults();
    s.total_steps = golden_int(c, "schedule/total_steps", -1);
    s.max_lr = golden_double(c, "schedule/max_lr", 0);
    s.pct_start = golden_double(c, "schedule/pct_start", s.pct_start);
    bool is_linear = strcmp(golden_text(c, "schedule/anneal_strategy", "cos"), "linear") == 0;
    s.anneal = is_linear ? HD_ANNEAL_LINEAR : HD_ANNEAL_COS;
    s.cycle_momentum = golden_int(c, "schedule/cycle_momentum", s.cycle_momentum);
    s.base_momentum = golden_double(c, "schedule/base_momentum", s.base_momentum);
    s.max_momentum = golden_double(c, "schedule/max_momentum", s.max_momentum);
    s.div_factor = golden_double(c, "schedule/div_factor", s.div_factor);
    s.final_div_factor = golden_double(c, "schedule/final_div_factor", s.final_div_factor);
    s.three_phase = golden_int(c, "schedule/three_phase", s.three_phase);
    return hd_one_cycle_new(o, &s);
}

static hd_schedule *annealing(const golden_case *c, hd_optim *o)
{
    hd_cosine_annealing_options s = hd_cosine_annealing_defaults();
    s.T_max = golden_int(c, "schedule/T_max", -1);
    s.eta_min = golden_double(c, "schedule/eta_min", s.eta_min);
    return hd_cosine_annealing_new(o, &s);
}

static hd_schedule *plateau(const golden_case *c, hd_optim *o)
{
    hd_reduce_on_plateau_options s = hd_reduce_on_plateau_defaults();
    bool is_max = strcmp(golden_text(c, "schedule/mode", "min"), "max") == 0;
    bool is_abs = strcmp(golden_text(c, "schedule/threshold_mode", "rel"), "abs") == 0;
    s.mode = is_max ? HD_PLATEAU_MAX : HD_PLATEAU_MIN;
    s.factor = golden_double(c, "schedule/factor", s.factor);
    s.patience = golden_int(c, "schedule/patience", s.patience);
    s.threshold = golden_double(c, "schedule/threshold", s.threshold);
    s.threshold_mode = is_abs ? HD_THRESHOLD_ABS : HD_THRESHOLD_REL;
    s.cooldown = golden_int(c, "schedule/cooldown", s.cooldown);
    s.min_lr = golden_double(c, "schedule/min_lr", s.min_lr);
    s.eps = golden_double(c, "schedule/eps", s.eps);
    return hd_reduce_on_plateau_new(o, &s);
}

hd_schedule *case_schedule(const golden_case *c, hd_optim *o)
{
    const char *kind = golden_text(c, "schedule", "");
    int64_t total_iters = golden_int(c, "schedule/total_iters", -1);
    if (strcmp(kind, "ConstantLR") == 0) {
        return hd_constant_lr_new(o, golden_double(c, "schedule/factor", NAN), total_iters);
    }
    if (strcmp(kind, "StepLR") == 0) {
        return hd_step_lr_new(o, golden_int(c, "schedule/step_size", -1),
                              golden_double(c, "schedule/gamma", NAN));
    }
    if (strcmp(kind, "LinearLR") == 0) {
        return hd_linear_lr_new(o, golden_double(c, "schedule/start_factor", NAN),
                                golden_double(c, "schedule/end_factor", NAN), total_iters);
    }
    if (strcmp(kind, "CosineAnnealingLR") == 0) {
        return annealing(c, o);
    }
    if (strcmp(kind, "ReduceLROnPlateau") == 0) {
        return plateau(c, o);
    }
    return strcmp(kind, "one_cycle") == 0 ? one_cycle(c, o) : cosine(c, o);
}

bool case_schedule_step(const golden_case *c, hd_schedule *s, int64_t k)
{
    const golden_record *metrics = golden_get(c, "metrics"); /* (100,) */
    return metrics ? hd_schedule_step_metric(s, metrics->d[k]) : hd_schedule_step(s);
}

/* ---------------------------------------------------------------- tensors */

hd_tensor *case_tensor(const golden_record *r, int64_t from)
{
    hd_tensor *x = hd_from_data(HD_FLOAT64, r->d + from, 2, 3);
    return r->type == GOLDEN_F32 ? hd_to(x, HD_FLOAT32) : x;
}

hd_tensor *restrided(hd_tensor *x)
{
    return hd_t(hd_contiguous(hd_t(x)));
}

const golden_case *case_gradients(const golden_file *f, golden_type type)
{
    return golden_find(f, type == GOLDEN_F32 ? "gradients_f32" : "gradients_f64");
}
