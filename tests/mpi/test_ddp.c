/* test_ddp.c - tests of an hd_ddp on one rank: the training has the same bits as without it. */
#include "suites.h"

typedef struct training {
    hd_module *model;
    hd_ddp *ddp; /* or NULL */
    hd_optim *o;
} training;

static training training_new(bool with, bool shard)
{
    training t = {NULL, NULL, NULL};
    hd_ddp_options d = hd_ddp_defaults();
    d.shard_optimizer = shard;
    d.bucket_bytes = d.first_bucket_bytes = 40;
    hd_manual_seed(7);
    t.model =
        hd_sequential(hd_linear_new(4, 5, true), hd_gelu_new("none"), hd_linear_new(5, 2, true));
    t.ddp = with ? hd_ddp_new(t.model, &d) : NULL;
    t.o = hd_adamw_new(with ? hd_ddp_parameters(t.ddp) : hd_module_parameters(t.model), NULL);
    return t;
}

static void training_free(training *t)
{
    hd_optim_free(t->o);
    hd_ddp_free(t->ddp);
    hd_module_free(t->model);
}

static hd_tensor *loss_of(const training *t, int step)
{
    hd_tensor *x = hd_sin(hd_arange_as(HD_FLOAT32, step, step + 12, 1)); /* (12,) */
    return hd_mean(hd_square(hd_forward(t->model, hd_view(x, 3, 4))));
}

/* Steps `first` to first + n - 1; the gradients of two backwards make one step. */
static bool run_steps(training *t, int first, int n)
{
    bool ok = true;
    for (int i = first; i < first + n && ok; i++) {
        HD_SCOPE;
        ok = hd_optim_zero_grad(t->o) && (!t->ddp || !hd_ddp_no_sync(t->ddp, true)) &&
             hd_backward(loss_of(t, 2 * i)) && (!t->ddp || hd_ddp_no_sync(t->ddp, false)) &&
             hd_backward(loss_of(t, 2 * i + 1)) &&
             hd_clip_grad_norm_(hd_module_parameters(t->model), 0.05, 2, false) > 0 &&
             (t->ddp ? hd_ddp_step(t->ddp, t->o) : hd_optim_step(t->o));
    }
    return ok;
}

static void same_parameters(const training *a, const training *b)
{
    hd_list *x = hd_module_parameters(a->model), *y = hd_module_parameters(b->model);
    ck_assert_int_eq(hd_list_len(x), 4);
    for (int64_t i = 0; i < hd_list_len(x); i++) {
        ck_assert(hd_equal(hd_list_get(x, i), hd_list_get(y, i)));
    }
}

static void same_dicts(const hd_dict *a, const hd_dict *b)
{
    ck_assert_int_eq(hd_dict_len(a), hd_dict_len(b));
    for (int64_t i = 0; i < hd_dict_len(a); i++) {
        const char *name = hd_dict_name(a, i);
        ck_assert(hd_dict_kind_of(a, name) == hd_dict_kind_of(b, name));
        ck_assert(hd_dict_kind_of(a, name) != HD_DICT_TENSOR ||
                  hd_equal(hd_dict_get(a, name), hd_dict_get(b, name)));
    }
}

/* ---------------------------------------------------------------- training */

START_TEST(steps_are_the_same)
{
    HD_SCOPE;
    training plain = training_new(false, false);
    ck_assert(run_steps(&plain, 0, 5));
    for (int shard = 0; shard < 2; shard++) {
        training t = training_new(true, shard);
        ck_assert(run_steps(&t, 0, 5));
        same_parameters(&t, &plain);
        training_free(&t);
    }
    training_free(&plain);
}
END_TEST

/* What one kind saves, the other loads, and goes on as if nothing had been. */
START_TEST(states_are_the_same)
{
    HD_SCOPE;
    training plain = training_new(false, false), t = training_new(true, true);
    hd_dict *a = hd_dict_new(), *b = hd_dict_new();
    ck_assert(run_steps(&plain, 0, 3) && run_steps(&t, 0, 3));
    ck_assert(hd_optim_save(plain.o, a, "o") && hd_ddp_optim_save(t.ddp, t.o, b, "o"));
    same_dicts(a, b);
    training_free(&t);
    t = training_new(true, false);
    ck_assert(run_steps(&t, 0, 3) && hd_ddp_optim_load(t.ddp, t.o, a, "o"));
    ck_assert(run_steps(&t, 3, 2) && run_steps(&plain, 3, 2));
    same_parameters(&t, &plain);
    ck_assert(hd_ddp_optim_load(t.ddp, t.o, b, "o") && hd_optim_load(plain.o, b, "o"));
    ck_assert(run_steps(&t, 5, 1) && run_steps(&plain, 5, 1));
    same_parameters(&t, &plain);
    training_free(&t);
    training_free(&plain);
    hd_dict_free(a);
    hd_dict_free(b);
}
END_TEST

START_TEST(one_group)
{
    HD_SCOPE;
    hd_module *model = hd_linear_new(2, 2, true);
    hd_ddp *ddp = hd_ddp_new(model, NULL);
    hd_tensor *more = hd_parameter(hd_ones(HD_FLOAT32, 2), true); /* (2,) */
    hd_optim *o = hd_sgd_new(hd_ddp_parameters(ddp), NULL);
    hd_dict *d = hd_dict_new();
    ck_assert_int_ge(hd_optim_add_group(o, hd_list_of(more), NULL), 0);
    ck_assert(!hd_ddp_optim_save(ddp, o, d, "o"));
    ck_error(HD_VALUE, "hd_ddp_optim_save: o has 2 groups of parameters: expected 1");
    ck_assert(!hd_ddp_optim_load(ddp, o, d, "o"));
    ck_error(HD_VALUE, "hd_ddp_optim_load: o has 2 groups of parameters: expected 1");
    ck_assert_int_eq(hd_dict_len(d), 0);
    hd_dict_free(d);
    hd_optim_free(o);
    hd_ddp_free(ddp);
    hd_module_free(model);
}
END_TEST

START_TEST(a_step_fails)
{
    HD_SCOPE;
    training t = training_new(true, true), same = training_new(true, true);
    ck_assert_ptr_null(same.ddp);
    hd_error_clear();
    hd_error_set(HD_USER, "it stands");
    ck_assert(!hd_ddp_step(t.ddp, t.o));
    ck_error(HD_USER, "it stands");
    same_parameters(&t, &same);
    training_free(&same);
    training_free(&t);
}
END_TEST

/* ---------------------------------------------------------------- making */

static void refused(hd_module *model, const hd_ddp_options *o, hd_code code, const char *message)
{
    ck_assert_ptr_null(hd_ddp_new(model, o));
    ck_error(code, message);
}

START_TEST(options_refused)
{
    hd_module *model = hd_linear_new(2, 2, true);
    hd_ddp_options size = hd_ddp_defaults(), bucket = hd_ddp_defaults(), first = hd_ddp_defaults();
    size.size = 8;
    bucket.bucket_bytes = 0;
    first.first_bucket_bytes = -1;
    refused(model, &size, HD_VALUE,
            sized("hd_ddp_new: o->size 8: expected %zu, as hd_ddp_defaults() gives",
                  sizeof(hd_ddp_options)));
    refused(model, &bucket, HD_VALUE, "hd_ddp_new: bucket_bytes 0: expected 1 or more");
    refused(model, &first, HD_VALUE, "hd_ddp_new: first_bucket_bytes -1: expected 1 or more");
    hd_module_free(model);
}
END_TEST

START_TEST(models_refused)
{
    HD_SCOPE;
    hd_module *frozen = hd_linear_new(2, 2, true), *model = hd_linear_new(2, 2, true);
    hd_list *parameters = hd_module_parameters(frozen);
    for (int64_t i = 0; i < hd_list_len(parameters); i++) {
        hd_requires_grad_(hd_list_get(parameters, i), false);
    }
    refused(frozen, NULL, HD_VALUE, "hd_ddp_new: no parameter of model requires grad");
    hd_ddp *ddp = hd_ddp_new(model, NULL);
    refused(model, NULL, HD_STATE,
            "hd_ddp_new: there is an hd_ddp already. Call hd_ddp_free first.");
    hd_ddp_free(ddp);
    hd_ddp_free(hd_ddp_new(model, NULL));
    hd_module_free(frozen);
    hd_module_free(model);
}
END_TEST

START_TEST(freed_by_finish)
{
    HD_SCOPE;
    hd_module *model = hd_linear_new(2, 2, true);
    ck_assert(hd_mpi_init(NULL, NULL));
    hd_ddp *ddp = hd_ddp_new(model, NULL);
    ck_assert(hd_mpi_finish());
    ck_assert(!hd_ddp_no_sync(ddp, true));
    ck_error(HD_STATE, "hd_ddp_no_sync: d is not the current hd_ddp: it was freed, or "
                       "hd_mpi_finish was called");
    ck_assert(hd_backward(hd_sum(hd_forward(model, hd_ones(HD_FLOAT32, 1, 2)))));
    hd_module_free(model);
}
END_TEST

START_TEST(figures)
{
    HD_SCOPE;
    hd_module *model = hd_linear_new(2, 2, true);
    hd_ddp *ddp = hd_ddp_new(model, NULL);
    hd_ddp_figures f;
    ck_assert(hd_backward(hd_sum(hd_forward(model, hd_ones(HD_FLOAT32, 1, 2)))));
    ck_assert(hd_ddp_get_figures(ddp, &f, true));
    ck_assert(f.buckets == 1 && f.bytes_moved == 0 && f.seconds_exposed == 0);
    hd_ddp_free(ddp);
    hd_module_free(model);
}
END_TEST

/* ---------------------------------------------------------------- memory */

static bool makes_one(void)
{
    HD_SCOPE;
    hd_module *model = hd_linear_new(3, 2, true);
    hd_ddp *ddp = hd_ddp_new(model, NULL);
    hd_optim *o = ddp ? hd_sgd_new(hd_ddp_parameters(ddp), NULL) : NULL;
    hd_dict *d = o ? hd_dict_new() : NULL;
    bool ok = d && hd_backward(hd_sum(hd_forward(model, hd_ones(HD_FLOAT32, 1, 3)))) &&
              hd_ddp_step(ddp, o) && hd_ddp_optim_save(ddp, o, d, "o") &&
              hd_ddp_optim_load(ddp, o, d, "o");
    hd_dict_free(d);
    hd_optim_free(o);
    hd_ddp_free(ddp);
    hd_module_free(model);
    return ok;
}

START_TEST(memory_runs_out)
{
    ck_assert_int_gt(scarce_at_each(makes_one, false), 20);
    ck_assert_int_gt(scarce_at_each(makes_one, true), 20);
}
END_TEST

Suite *suite_ddp(void)
{
    const TTest *const tests[] = {
        steps_are_the_same, states_are_the_same, one_group, a_step_fails,   options_refused,
        models_refused,     freed_by_finish,     figures,   memory_runs_out};
    return SUITE("ddp", tests);
}
