/* test_resume.c - tests that a saved optimizer goes on exactly: k steps, a save, a load elsewhere
 * and the remaining steps give the bits of an uninterrupted run. Also every refusal of a load. */
#include "cases.h"
#include "support/quarantine.h"
#include "support/scarce.h"

#include <stdlib.h>

enum { STEPS = 12 };

typedef struct training {
    hd_tensor *p[2];
    hd_optim *o;
    hd_schedule *s; /* NULL: none */
    const golden_case *c;
    const golden_record *grads;
} training;

static training begin(const golden_file *f, const golden_case *c)
{
    const golden_case *given = case_gradients(f, golden_get(c, "out")->type);
    const golden_record *start = golden_get(given, "start");
    training t = {.c = c, .grads = golden_get(given, "grads")};
    for (int i = 0; i < 2; i++) {
        t.p[i] = hd_parameter(case_tensor(start, 0), true);
    }
    bool scheduled = golden_get(c, "schedule");
    t.o = case_optim(c, scheduled ? hd_list_of(t.p[0]) : hd_list_of(t.p[0], t.p[1]));
    if (scheduled && case_joins(c) < 0) {
        case_second_group(c, t.o, t.p[1]);
    }
    t.s = scheduled ? case_schedule(c, t.o) : NULL;
    ck_no_error();
    return t;
}

static void end(training *t)
{
    hd_schedule_free(t->s);
    hd_optim_free(t->o);
}

/* Adds the second group, if it joins at step k. */
static void join(const training *t, int64_t k)
{
    if (k == case_joins(t->c)) {
        case_second_group(t->c, t->o, t->p[1]);
    }
}

/* Makes the steps from .. to - 1; parameter 1 has its first gradient at step 5. */
static void train(const training *t, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        HD_SCOPE;
        join(t, k);
        ck_assert(hd_set_grad(t->p[0], case_tensor(t->grads, 6 * k)));
        ck_assert(hd_set_grad(t->p[1], k < 5 ? HD_NONE : case_tensor(t->grads, 6 * k + 6)));
        ck_assert_msg(hd_optim_step(t->o) && (!t->s || case_schedule_step(t->c, t->s, k)), "%s",
                      hd_error_message());
    }
}

/* The state of t in a dictionary of its own, as a file would hold it. */
static hd_dict *saved(const training *t)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new(), *copy = hd_dict_new();
    ck_assert(hd_optim_save(t->o, d, "optim"));
    ck_assert(!t->s || hd_schedule_save(t->s, d, "schedule"));
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        int64_t v;
        double x;
        switch (hd_dict_kind_of(d, name)) {
        case HD_DICT_TENSOR:
            ck_assert(hd_dict_set(copy, name, hd_clone(hd_dict_get(d, name))));
            break;
        case HD_DICT_STRING:
            ck_assert(hd_dict_set_string(copy, name, hd_dict_get_string(d, name)));
            break;
        case HD_DICT_INT:
            ck_assert(hd_dict_get_int(d, name, &v) && hd_dict_set_int(copy, name, v));
            break;
        default: ck_assert(hd_dict_get_double(d, name, &x) && hd_dict_set_double(copy, name, x));
        }
    }
    hd_dict_free(d);
    return copy;
}

static void load(training *t, const hd_dict *d)
{
    ck_assert_msg(hd_optim_load(t->o, d, "optim"), "%s", hd_error_message());
    ck_assert_msg(!t->s || hd_schedule_load(t->s, d, "schedule"), "%s", hd_error_message());
}

/* Makes k steps, and then the others by another optimizer that has already done something else. */
static void resume(const golden_file *f, const golden_case *c, const training *all, int64_t k)
{
    HD_SCOPE;
    training before = begin(f, c), after = begin(f, c);
    train(&before, 0, k);
    hd_dict *d = saved(&before);
    train(&after, 0, k % 3);
    for (int i = 0; i < 2; i++) {
        HD_NO_GRAD;
        ck_assert_ptr_nonnull(hd_copy_(after.p[i], before.p[i]));
    }
    train(&before, k, STEPS); /* the copy in d does not see this */
    for (int64_t i = k % 3; i < k; i++) {
        join(&after, i);
    }
    load(&after, d);
    train(&after, k, STEPS);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(hd_equal(after.p[i], all->p[i]), "%s: after %lld steps", c->name,
                      (long long)k);
        ck_assert(hd_equal(before.p[i], all->p[i]));
        if (all->s) {
            ck_assert_double_eq(hd_optim_group_lr(after.o, i), hd_optim_group_lr(all->o, i));
        }
    }
    hd_dict_free(d);
    end(&before);
    end(&after);
}

START_TEST(at_every_step)
{
    golden_file *f = golden_read(GOLDEN_DIR "/steps.txt");
    ck_assert_ptr_nonnull(f);
    int found = 0;
    for (int i = 0; i < f->count; i++) {
        const golden_case *c = &f->cases[i];
        if (!golden_get(c, "class")) {
            continue;
        }
        HD_SCOPE;
        training all = begin(f, c);
        train(&all, 0, STEPS);
        for (int64_t k = 0; k <= STEPS; k++) {
            resume(f, c, &all, k);
        }
        end(&all);
        found++;
    }
    ck_assert_int_ge(found, 42 + 27);
    golden_free(f);
}
END_TEST

/* ---------------------------------------------------------------- what is written */

static hd_optim *adam_of(hd_tensor *p)
{
    hd_adam_options o = hd_adam_defaults();
    o.weight_decay = 0.25;
    return hd_adam_new(hd_list_of(p), &o);
}

static void step_once(hd_optim *o, hd_tensor *p)
{
    ck_assert(hd_set_grad(p, hd_ones_like(p, HD_FLOAT32)) && hd_optim_step(o));
}

static void ck_names(const hd_dict *d, int64_t n, const char *const *names)
{
    ck_assert_int_eq(hd_dict_len(d), n);
    for (int64_t i = 0; i < n; i++) {
        ck_assert_str_eq(hd_dict_name(d, i), names[i]);
    }
}

START_TEST(names_are_pytorchs)
{
    HD_SCOPE;
    static const char *const names[] = {
        "type",
        "param_groups",
        "param_groups.0.lr",
        "param_groups.0.params",
        "param_groups.0.eps",
        "param_groups.0.beta1",
        "param_groups.0.beta2",
        "param_groups.0.weight_decay",
        "param_groups.0.amsgrad",
        "param_groups.0.maximize",
        "state.0.step",
        "state.0.exp_avg",
        "state.0.exp_avg_sq",
    };
    hd_tensor *p = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
    hd_optim *o = adam_of(p);
    hd_dict *d = hd_dict_new();
    ck_assert(hd_optim_save(o, d, ""));
    ck_names(d, 10, names);
    step_once(o, p);
    ck_assert(hd_optim_save(o, d, ""));
    ck_names(d, 13, names);
    int64_t version = hd_version_of(hd_dict_get(d, "state.0.exp_avg"));
    step_once(o, p); /* the dictionary's tensor is the optimizer's memory */
    ck_assert_int_gt(hd_version_of(hd_dict_get(d, "state.0.exp_avg")), version);

    hd_error_set(HD_USER, "older");
    ck_assert(!hd_optim_save(o, d, "again"));
    ck_error(HD_USER, "older");
    ck_assert_int_eq(hd_dict_len(d), 13);
    hd_dict_free(d);
    hd_optim_free(o);
}
END_TEST

START_TEST(loading_its_own_state)
{
    HD_SCOPE;
    hd_tensor *p = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
    hd_tensor *q = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
    hd_optim *o = adam_of(p), *other = adam_of(q);
    hd_dict *d = hd_dict_new();
    step_once(o, p);
    step_once(other, q);
    ck_assert(hd_optim_save(o, d, "o") && hd_optim_load(o, d, "o"));
    for (int i = 0; i < 3; i++) {
        step_once(o, p);
        step_once(other, q);
    }
    ck_assert(hd_equal(p, q));
    hd_dict_free(d);
    hd_optim_free(o);
    hd_optim_free(other);
}
END_TEST

/* ---------------------------------------------------------------- what is refused */

/* Loading d after `change` has changed it fails with this message, and a step after that does what
 * it does without any load. */
#define refuses(code, change, message)                                                             \
    do {                                                                                           \
        hd_tensor *p_ = hd_parameter(hd_ones(HD_FLOAT32, 2), true);                                \
        hd_tensor *q_ = hd_parameter(hd_ones(HD_FLOAT32, 2), true);                                \
        hd_optim *saving = adam_of(p_), *o = adam_of(q_), *free_of_it = adam_of(p_);               \
        hd_dict *d = hd_dict_new();                                                                \
        step_once(saving, p_);                                                                     \
        ck_assert(hd_optim_set_lr(saving, 0.5) && hd_optim_save(saving, d, "o"));                  \
        change;                                                                                    \
        ck_assert(!hd_optim_load(o, d, "o"));                                                      \
        ck_error(code, message);                                                                   \
        hd_fill_(hd_detach(p_), 1);                                                                \
        step_once(free_of_it, p_);                                                                 \
        step_once(o, q_);                                                                          \
        ck_assert(hd_equal(p_, q_));                                                               \
        hd_dict_free(d);                                                                           \
        hd_optim_free(saving);                                                                     \
        hd_optim_free(o);                                                                          \
        hd_optim_free(free_of_it);                                                                 \
    } while (0)

START_TEST(differences_are_named)
{
    HD_SCOPE;
    refuses(HD_VALUE, hd_dict_set_string(d, "o.type", "AdamW"),
            "hd_optim_load: 'o.type' is AdamW: expected Adam");
    refuses(HD_VALUE, hd_dict_set_int(d, "o.param_groups", 2),
            "hd_optim_load: 'o.param_groups' is 2: expected 1");
    refuses(HD_VALUE, hd_dict_set_int(d, "o.param_groups.0.params", 3),
            "hd_optim_load: 'o.param_groups.0.params' is 3: expected 1");
    refuses(HD_VALUE, hd_dict_set_double(d, "o.param_groups.0.weight_decay", 0.1),
            "hd_optim_load: 'o.param_groups.0.weight_decay' is 0.1: expected 0.25");
    refuses(HD_VALUE, hd_dict_set_double(d, "o.param_groups.0.beta1", 0.95),
            "hd_optim_load: 'o.param_groups.0.beta1' is 0.95: expected 0.9");
    refuses(HD_VALUE, hd_dict_set_double(d, "o.param_groups.0.beta2", 0.95),
            "hd_optim_load: 'o.param_groups.0.beta2' is 0.95: expected 0.999");
    refuses(HD_VALUE, hd_dict_set_double(d, "o.param_groups.0.eps", 0.5),
            "hd_optim_load: 'o.param_groups.0.eps' is 0.5: expected 1e-08");
    refuses(HD_VALUE, hd_dict_set_int(d, "o.param_groups.0.maximize", 1),
            "hd_optim_load: 'o.param_groups.0.maximize' is 1: expected 0");
    refuses(HD_VALUE, hd_dict_set_int(d, "o.param_groups.0.amsgrad", 1),
            "hd_optim_load: 'o.param_groups.0.amsgrad' is 1: expected 0");
    refuses(HD_VALUE, hd_dict_set_double(d, "o.param_groups.0.lr", NAN),
            "hd_optim_load: 'o.param_groups.0.lr' is nan: expected a number");
    refuses(HD_VALUE, hd_dict_set_int(d, "o.state.0.step", 0),
            "hd_optim_load: 'o.state.0.step' is 0: expected 1 to 9007199254740992");
    refuses(HD_VALUE, hd_dict_set_int(d, "o.state.0.step", INT64_MAX),
            "hd_optim_load: 'o.state.0.step' is 9223372036854775807: expected 1 to "
            "9007199254740992");
    refuses(HD_SHAPE, hd_dict_set(d, "o.state.0.exp_avg_sq", hd_ones(HD_FLOAT32, 3)),
            "hd_optim_load: 'o.state.0.exp_avg_sq' is float32 (3,): expected float32 (2,)");
    refuses(HD_SHAPE, hd_dict_set(d, "o.state.0.exp_avg", hd_ones(HD_FLOAT64, 2)),
            "hd_optim_load: 'o.state.0.exp_avg' is float64 (2,): expected float32 (2,)");
    refuses(HD_VALUE, hd_dict_remove(d, "o.state.0.exp_avg"),
            "hd_optim_load: 'o.state.0.exp_avg' is missing: expected a tensor");
    refuses(HD_VALUE, hd_dict_remove(d, "o.type"),
            "hd_optim_load: 'o.type' is missing: expected a string");
}
END_TEST

/* The message names the function that was called, and the prefixes that there are. */
START_TEST(a_wrong_prefix)
{
    HD_SCOPE;
    hd_tensor *p = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
    hd_optim *o = hd_sgd_new(hd_list_of(p), NULL);
    hd_schedule *s = hd_step_lr_new(o, 2, 0.5);
    hd_dict *d = hd_dict_new();
    ck_assert(!hd_schedule_load(s, d, "schedule"));
    ck_error(HD_VALUE,
             "hd_schedule_load: 'schedule.type' is missing: expected a string. d is empty");
    ck_assert(hd_dict_set_int(d, "step", 1));
    ck_assert(!hd_optim_load(o, d, "optim"));
    ck_error(
        HD_VALUE,
        "hd_optim_load: 'optim.type' is missing: expected a string. No name in d has a prefix");
    ck_assert(hd_optim_save(o, d, "optimizer") && hd_schedule_save(s, d, "lr"));
    ck_assert(!hd_schedule_load(s, d, "schedule"));
    ck_error(HD_VALUE, "hd_schedule_load: 'schedule.type' is missing: expected a string. The "
                       "prefixes in d are 'optimizer', 'lr'");
    ck_assert(!hd_optim_load(o, d, "optim"));
    ck_error(HD_VALUE, "hd_optim_load: 'optim.type' is missing: expected a string. The prefixes in "
                       "d are 'optimizer', 'lr'");
    ck_assert(!hd_generator_load(hd_default_generator(), d, "rng"));
    ck_error(HD_VALUE, "hd_generator_load: 'rng.state' is missing: expected a tensor. The prefixes "
                       "in d are 'optimizer', 'lr'");
    ck_assert_ptr_null(hd_dict_get_string(d, "schedule.type")); /* the user's own call */
    ck_error(HD_VALUE, "hd_dict_get_string: 'schedule.type' is missing: expected a string. The "
                       "prefixes in d are 'optimizer', 'lr'");
    char name[32];
    for (int i = 0; i < 40; i++) { /* more than a message holds */
        snprintf(name, sizeof name, "prefix-number-%d.x", i);
        ck_assert(hd_dict_set_int(d, name, i));
    }
    ck_assert(!hd_schedule_load(s, d, "schedule"));
    ck_error(HD_VALUE, "hd_schedule_load: 'schedule.type' is missing: expected a string. The "
                       "prefixes in d are 'optimizer', 'lr', 'prefix-number-0', "
                       "'prefix-number-1', 'prefix-number-2'");
    hd_dict_free(d);
    hd_schedule_free(s);
    hd_optim_free(o);
}
END_TEST

/* A cycle that begins without momentum: its first step makes no buffer, and yet it can be
 * resumed. */
START_TEST(a_cycle_from_no_momentum)
{
    warnings_expected();
    HD_SCOPE;
    hd_sgd_options options = hd_sgd_defaults();
    options.momentum = 0.9;
    hd_one_cycle_options c = hd_one_cycle_defaults();
    c.total_steps = 10;
    c.max_momentum = 0;
    hd_optim *o[2];
    hd_schedule *s[2];
    hd_tensor *p[2];
    hd_dict *d = hd_dict_new();
    for (int k = 0; k < 2; k++) {
        p[k] = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
        o[k] = hd_sgd_new(hd_list_of(p[k]), &options);
        s[k] = hd_one_cycle_new(o[k], &c);
    }
    step_once(o[0], p[0]);
    ck_assert(hd_optim_save(o[0], d, "o"));
    ck_assert_int_eq(hd_dict_kind_of(d, "o.state.0.momentum_buffer"), HD_DICT_MISSING);
    ck_assert_msg(hd_optim_load(o[1], d, "o"), "%s", hd_error_message());
    ck_assert_ptr_nonnull(hd_copy_(hd_detach(p[1]), hd_detach(p[0])));
    for (int step = 0; step < 4; step++) {
        for (int k = 0; k < 2; k++) {
            ck_assert(hd_schedule_step(s[k]));
            step_once(o[k], p[k]);
        }
        ck_assert(hd_equal(p[0], p[1]));
    }
    for (int k = 0; k < 2; k++) {
        hd_schedule_free(s[k]);
        hd_optim_free(o[k]);
    }
    hd_dict_free(d);
}
END_TEST

static hd_schedule *cosine_of(hd_optim *o, int64_t warmup_steps)
{
    hd_cosine_warmup_options c = hd_cosine_warmup_defaults();
    c.warmup_steps = warmup_steps;
    c.total_steps = 10;
    return hd_cosine_warmup_new(o, &c);
}

#define schedule_refuses(change, message)                                                          \
    do {                                                                                           \
        change;                                                                                    \
        ck_assert(!hd_schedule_load(s, d, "s"));                                                   \
        ck_error(HD_VALUE, message);                                                               \
        ck_assert_int_eq(hd_schedule_steps(s), 1);                                                 \
        ck_assert_double_eq(hd_optim_lr(o), lr);                                                   \
        ck_assert(hd_schedule_save(s, d, "s"));                                                    \
    } while (0)

START_TEST(schedules_differ)
{
    warnings_expected();
    HD_SCOPE;
    hd_optim *o = adam_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_schedule *s = cosine_of(o, 4);
    ck_assert(hd_schedule_step(s));
    double lr = hd_optim_lr(o);
    hd_dict *d = hd_dict_new();
    ck_assert(hd_schedule_save(s, d, "s"));
    schedule_refuses(hd_dict_set_string(d, "s.type", "StepLR"),
                     "hd_schedule_load: 's.type' is StepLR: expected CosineWarmup");
    schedule_refuses(hd_dict_set_int(d, "s.warmup_steps", 5),
                     "hd_schedule_load: 's.warmup_steps' is 5: expected 4");
    schedule_refuses(hd_dict_set_double(d, "s.min_lr", 1e-5),
                     "hd_schedule_load: 's.min_lr' is 1e-05: expected 0.0");
    schedule_refuses(hd_dict_set_int(d, "s.step", -1),
                     "hd_schedule_load: 's.step' is -1: expected 0 to 9007199254740992");
    schedule_refuses(hd_dict_set_int(d, "s.step", (1LL << 53) + 1),
                     "hd_schedule_load: 's.step' is 9007199254740993: expected 0 to "
                     "9007199254740992");
    schedule_refuses(hd_dict_set_int(d, "s.groups", 2),
                     "hd_schedule_load: 's.groups' is 2: expected 1");
    schedule_refuses(hd_dict_set_int(d, "s.first_groups", 2),
                     "hd_schedule_load: 's.first_groups' is 2: expected 1 to 1");
    schedule_refuses(hd_dict_set_double(d, "s.last_lr.0.lr", NAN),
                     "hd_schedule_load: 's.last_lr.0.lr' is nan: expected a number");
    schedule_refuses(hd_dict_set_double(d, "s.base_lr.0.lr", NAN),
                     "hd_schedule_load: 's.base_lr.0.lr' is nan: expected 0 or more");
    schedule_refuses(hd_dict_remove(d, "s.step"),
                     "hd_schedule_load: 's.step' is missing: expected an integer");
    hd_error_set(HD_USER, "older");
    ck_assert(!hd_schedule_save(s, d, "again"));
    ck_error(HD_USER, "older");
    ck_assert_int_eq(hd_dict_kind_of(d, "again.type"), HD_DICT_MISSING);

    /* A load that fails at its end leaves the rates that the schedule began with, too. */
    ck_assert(hd_dict_set_double(d, "s.base_lr.0.lr", 55));
    hd_tensor *more = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
    hd_optim *two = adam_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_schedule *stale = cosine_of(two, 4);
    double before = hd_optim_lr(two);
    ck_assert(hd_schedule_step(stale) && hd_optim_add_group(two, hd_list_of(more), NULL));
    lr = hd_optim_lr(two);
    ck_assert(hd_dict_set_int(d, "s.groups", 2) && hd_dict_set_double(d, "s.last_lr.1.lr", 1));
    ck_assert(!hd_schedule_load(stale, d, "s"));
    ck_error(HD_VALUE, "hd_schedule_load: 's.first_groups' is 1: expected 2 to 2");
    hd_dict *kept = hd_dict_new();
    double base;
    ck_assert_double_eq(hd_optim_lr(two), lr);
    ck_assert(hd_schedule_save(stale, kept, "s") &&
              hd_dict_get_double(kept, "s.base_lr.0.lr", &base));
    ck_assert(base != 55 && before != lr);
    hd_dict_free(kept);
    hd_schedule_free(stale);
    hd_optim_free(two);
    ck_assert(hd_schedule_save(s, d, "s"));
    lr = hd_optim_lr(o);

    /* The rates that the schedule began with come from the dictionary, so the order of loads is
     * free. */
    ck_assert(hd_optim_set_lr(o, 77));
    hd_schedule *later = cosine_of(o, 4);
    ck_assert(hd_schedule_load(later, d, "s"));
    ck_assert_double_eq(hd_optim_lr(o), lr);
    hd_schedule_free(later);
    hd_schedule_free(s);
    hd_dict_free(d);
    hd_optim_free(o);
}
END_TEST

/* The program that goes on may have all groups before it makes the schedule. */
START_TEST(a_later_group_is_loaded)
{
    warnings_expected();
    HD_SCOPE;
    hd_cosine_annealing_options c = hd_cosine_annealing_defaults();
    c.T_max = 2;
    c.eta_min = 0.25;
    hd_optim *o = adam_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_optim *both = adam_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_tensor *second = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
    hd_dict *d = hd_dict_new();
    ck_assert(hd_optim_add_group(both, hd_list_of(second), NULL));
    hd_schedule *s = hd_cosine_annealing_new(o, &c), *t = hd_cosine_annealing_new(both, &c);
    ck_assert(hd_optim_add_group(o, hd_list_of(second), NULL) && hd_optim_set_lr(o, 4));
    ck_assert(hd_schedule_step(s) && hd_schedule_save(s, d, "s"));
    ck_assert(hd_schedule_load(t, d, "s"));
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq(hd_optim_group_lr(both, i), hd_optim_group_lr(o, i));
    }
    ck_assert(hd_schedule_step(s) && hd_schedule_step(t));
    ck_assert_double_eq(hd_optim_group_lr(both, 1), 0.25);
    ck_assert(!hd_schedule_step(t)); /* a rise, as in what was saved */
    ck_assert_int_eq(hd_error_code(), HD_STATE);
    hd_error_clear();
    hd_schedule_free(s);
    hd_schedule_free(t);
    hd_dict_free(d);
    hd_optim_free(o);
    hd_optim_free(both);
}
END_TEST

/* A schedule looks at its optimizer in each of these. */
START_TEST(the_optimizer_is_gone)
{
    if (!quarantine_on()) {
        return;
    }
    HD_SCOPE;
    hd_optim *o = adam_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_schedule *s = hd_step_lr_new(o, 2, 0.5), *p = hd_reduce_on_plateau_new(o, NULL);
    hd_dict *d = hd_dict_new();
    ck_assert(hd_schedule_save(s, d, "s"));
    hd_optim_free(o);
    ck_assert(!hd_schedule_step(s));
    ck_error(HD_STATE, "hd_schedule_step: the optimizer of s was freed by hd_optim_free");
    ck_assert(!hd_schedule_step_metric(p, 1));
    ck_error(HD_STATE, "hd_schedule_step_metric: the optimizer of s was freed by hd_optim_free");
    ck_assert(!hd_schedule_save(s, d, "again"));
    ck_error(HD_STATE, "hd_schedule_save: the optimizer of s was freed by hd_optim_free");
    ck_assert(!hd_schedule_load(s, d, "s"));
    ck_error(HD_STATE, "hd_schedule_load: the optimizer of s was freed by hd_optim_free");
    hd_schedule_free(s);
    hd_schedule_free(p);
    hd_dict_free(d);
}
END_TEST

START_TEST(plateaus_differ)
{
    HD_SCOPE;
    hd_optim *o = adam_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_reduce_on_plateau_options p = hd_reduce_on_plateau_defaults();
    p.patience = 3;
    p.cooldown = 2;
    hd_schedule *s = hd_reduce_on_plateau_new(o, &p);
    hd_dict *d = hd_dict_new();
    ck_assert(hd_schedule_save(s, d, "s") && hd_schedule_load(s, d, "s")); /* best is inf */
    ck_assert(hd_schedule_step_metric(s, 1) && hd_schedule_save(s, d, "s"));
    double lr = hd_optim_lr(o);
    schedule_refuses(hd_dict_set_double(d, "s.best", NAN),
                     "hd_schedule_load: 's.best' is nan: expected a number");
    schedule_refuses(hd_dict_set_int(d, "s.num_bad_epochs", 4),
                     "hd_schedule_load: 's.num_bad_epochs' is 4: expected 0 to 3");
    schedule_refuses(hd_dict_set_int(d, "s.cooldown_counter", 3),
                     "hd_schedule_load: 's.cooldown_counter' is 3: expected 0 to 2");
    schedule_refuses(hd_dict_set_int(d, "s.mode", 1),
                     "hd_schedule_load: 's.mode' is 1: expected 0");
    hd_schedule_free(s);
    hd_dict_free(d);
    hd_optim_free(o);
}
END_TEST

START_TEST(arguments)
{
    HD_SCOPE;
    hd_optim *o = adam_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true));
    hd_dict *d = hd_dict_new();
    ck_assert(!hd_optim_save(NULL, d, ""));
    ck_error(HD_NULL_ARG, "hd_optim_save: o is NULL");
    ck_assert(!hd_optim_save(o, NULL, ""));
    ck_error(HD_NULL_ARG, "hd_optim_save: d is NULL");
    ck_assert(!hd_optim_save(o, d, NULL));
    ck_error(HD_NULL_ARG, "hd_optim_save: prefix is NULL");
    ck_assert(!hd_optim_load(NULL, d, ""));
    ck_error(HD_NULL_ARG, "hd_optim_load: o is NULL");
    ck_assert(!hd_schedule_save(NULL, d, ""));
    ck_error(HD_NULL_ARG, "hd_schedule_save: s is NULL");
    ck_assert(!hd_schedule_load(NULL, d, ""));
    ck_error(HD_NULL_ARG, "hd_schedule_load: s is NULL");
    ck_assert_int_eq(hd_dict_len(d), 0);
    hd_dict_free(d);
    hd_optim_free(o);
}
END_TEST

/* ---------------------------------------------------------------- out of memory */

/* Loading fails at its n-th block, for every n, and changes nothing. */
START_TEST(no_memory_changes_nothing)
{
    scarce s = {.left = -1};
    scarce_use(&s);
    {
        HD_SCOPE;
        hd_tensor *p = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
        hd_tensor *q = hd_parameter(hd_ones(HD_FLOAT32, 2), true);
        hd_optim *from = adam_of(p), *to = adam_of(q);
        hd_dict *d = hd_dict_new();
        step_once(from, p);
        ck_assert(hd_optim_set_lr(from, 0.5) && hd_optim_save(from, d, "o"));
        bool done = false;
        int failures = 0;
        for (int64_t n = 0; !done && n < 100; n++) {
            s.left = n;
            done = hd_optim_load(to, d, "o");
            s.left = -1;
            if (!done) {
                ck_assert_int_eq(hd_error_code(), HD_MEMORY);
                hd_error_clear();
                ck_assert_double_eq(hd_optim_lr(to), 1e-3);
                failures++;
            }
        }
        ck_assert(done);
        ck_assert_int_gt(failures, 3);
        ck_assert_double_eq(hd_optim_lr(to), 0.5);
        hd_dict_free(d);
        hd_optim_free(from);
        hd_optim_free(to);
    }
    ck_assert_int_eq(hd_bytes_live(), 0);
    scarce_end();
}
END_TEST

Suite *suite_resume(void)
{
    const TTest *const tests[] = {
        at_every_step,   names_are_pytorchs, loading_its_own_state,     differences_are_named,
        a_wrong_prefix,  schedules_differ,   a_later_group_is_loaded,   the_optimizer_is_gone,
        plateaus_differ, arguments,          no_memory_changes_nothing, a_cycle_from_no_momentum,
    };
    return SUITE("resume", tests);
}
