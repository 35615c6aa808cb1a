/* cases.c - makes heed's options from the optimizer and schedule of a golden case. */
#include "cases.h"

/* ---------------------------------------------------------------- optimizers */

static const struct field {
    const char *class, *name;
    size_t offset;
    bool is_bool;
} fields[] = {
#define FIELD(kind, class, field, is_bool)                                                         \
    {class, #field, offsetof(hd_##kind##_options, field), is_bool},
    OPTIMIZER_FIELDS(FIELD)
#undef FIELD
};

static bool is_class(const golden_case *c, const char *class)
{
    return strcmp(golden_text(c, "class", ""), class) == 0;
}

/* The value of an option, of which `betas` has beta1 and beta2; NULL: the case does not say it. */
static const double *option_of(const golden_case *c, const char *prefix, const char *name)
{
    const golden_record *r = golden_get(c, "%s%s", prefix, name);
    const golden_record *betas = golden_get(c, "%sbetas", prefix);
    if (betas && strcmp(name, "beta1") == 0) {
        return &betas->d[0];
    }
    return betas && strcmp(name, "beta2") == 0 ? &betas->d[1] : r ? r->d : NULL;
}

any_options case_options(const golden_case *c, const char *prefix, any_options o)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct field *f = &fields[i];
        const double *value = is_class(c, f->class) ? option_of(c, prefix, f->name) : NULL;
        if (value && f->is_bool) {
            *(bool *)((char *)&o + f->offset) = *value != 0;
        } else if (value) {
            *(double *)((char *)&o + f->offset) = *value;
        }
    }
    return o;
}

any_options case_defaults(const golden_case *c)
{
#define DEFAULTS(kind, class, ...)                                                                 \
    if (is_class(c, class)) {                                                                      \
        return (any_options){.kind = hd_##kind##_defaults()};                                      \
    }
    OPTIMIZERS(DEFAULTS)
#undef DEFAULTS
    ck_abort_msg("%s: an optimizer of no row", c->name);
    return (any_options){0};
}

hd_optim *case_optim(const golden_case *c, const hd_list *parameters)
{
    any_options o = case_options(c, "", case_defaults(c));
#define NEW(kind, class, ...)                                                                      \
    if (is_class(c, class)) {                                                                      \
        return hd_##kind##_new(parameters, &o.kind);                                               \
    }
    OPTIMIZERS(NEW)
#undef NEW
    return NULL;
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
