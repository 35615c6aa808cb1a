/* test_ranks_failures.c - tests that all ranks report the failure of one rank, and that no rank
 * waits forever. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ranks.h"

static bool failing;

static hd_tensor *failing_hook(hd_tensor *g, void *user)
{
    (void)g, (void)user;
    return failing ? hd_error_set(HD_USER, "the sensor is off") : HD_NONE;
}

/* Do all ranks have this error, the one that failed its own, and the others with its number? */
static bool told(int culprit, hd_code code, const char *text)
{
    char who[64] = "";
    if (hd_mpi_rank() != culprit) {
        snprintf(who, sizeof who, "hd_backward: rank %d: ", culprit);
    }
    return error_has(code, text, who);
}

/* The k-th rank fails in a hook of the first, or of the last, parameter that is complete, or in its
 * forward. Then no .grad has changed, and the training goes on. */
static bool backward_fails(void)
{
    static const char *const names[] = {"second.bias", "first.weight", "first.bias"};
    hd_module *m = small_new();
    hd_tensor *before = NULL; /* (n,) */
    for (int culprit = 0; culprit < hd_mpi_size(); culprit++) {
        for (int where = 0; where < 4; where++) {
            HD_SCOPE;
            bool mine = culprit == hd_mpi_rank();
            hd_ddp_options o = hd_ddp_defaults();
            o.bucket_bytes = o.first_bucket_bytes = where % 2 ? 1 : 100;
            hd_ddp *d = hd_ddp_new(m, &o);
            hd_tensor *p = hd_module_get_parameter(m, names[where % 3]);
            int64_t id = hd_register_hook(p, failing_hook, NULL);
            hd_module_zero_grad(m);
            CHECK(hd_backward(rows_loss(m, hd_mpi_rank(), 3)));
            before = all_grads(m);
            failing = mine && where < 3;
            hd_tensor *x = mine && where == 3 ? NULL : rows_x(0, 2);
            hd_tensor *loss = hd_sum(hd_forward(m, x));
            CHECK(!hd_backward(loss));
            failing = false;
            CHECK(where < 3 ? told(culprit, HD_USER, "the sensor is off")
                            : told(culprit, HD_NULL_ARG, "x is NULL"));
            CHECK(same_bits(all_grads(m), before));
            hd_module_zero_grad(m);
            CHECK(hd_backward(rows_loss(m, hd_mpi_rank(), 3)));
            CHECK(same_bits(all_grads(m), before));
            CHECK(hd_remove_hook(p, id));
            hd_ddp_free(d);
        }
    }
    hd_module_free(m);
    return true;
}

/* ---------------------------------------------------------------- calls inside a backward */

static hd_ddp *hooked;

static hd_tensor *hook_agrees(hd_tensor *g, void *user)
{
    (void)g, (void)user;
    return hd_mpi_all_ok("a hook", true) ? HD_NONE : NULL;
}

static hd_tensor *hook_frees(hd_tensor *g, void *user)
{
    (void)g, (void)user;
    hd_ddp_free(hooked);
    return HD_NONE;
}

static hd_tensor *hook_switches(hd_tensor *g, void *user)
{
    (void)g, (void)user;
    hd_ddp_no_sync(hooked, true);
    return HD_NONE;
}

static hd_tensor *hook_finishes(hd_tensor *g, void *user)
{
    (void)g, (void)user;
    return hd_mpi_finish() ? HD_NONE : NULL;
}

static hd_tensor *hook_nests(hd_tensor *g, void *user)
{
    (void)g;
    hd_set_grad_mode(true);
    return hd_backward(hd_sum(user)) ? HD_NONE : NULL;
}

/* What would part the ranks, or change gradients behind their back, is an error on all of them. */
static bool calls_inside(void)
{
    const hd_hook hooks[] = {hook_agrees, hook_frees, hook_switches, hook_finishes, hook_nests};
    if (hd_mpi_size() == 1) {
        return true;
    }
    hd_module *m = small_new();
    hd_tensor *w = hd_module_get_parameter(m, "first.weight"); /* (5, 6) */
    hd_tensor *last = hd_module_get_parameter(m, "second.weight");
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++) {
        HD_SCOPE;
        hooked = hd_ddp_new(m, NULL);
        int64_t id = hd_mpi_rank() == 1 ? hd_register_hook(w, hooks[i], last) : 0;
        CHECK(hooked && !hd_backward(rows_loss(m, hd_mpi_rank(), 3)));
        CHECK(error_has(HD_STATE, hd_mpi_rank() == 1 ? "hd_" : "rank 1",
                        hooks[i] == hook_nests ? "Only the outermost backward averages" : ""));
        CHECK(hd_grad(w) == HD_NONE && hd_grad(last) == HD_NONE);
        CHECK(hd_mpi_rank() != 1 || hd_remove_hook(w, id));
        CHECK(hd_backward(rows_loss(m, hd_mpi_rank(), 3)) && same_everywhere(all_grads(m)));
        hd_module_zero_grad(m);
        hd_ddp_free(hooked);
    }
    hd_module_free(m);
    return true;
}

/* A parameter that is not contiguous is refused, and so is a rank for which none is left. */
static bool unfit_models(void)
{
    hd_module *m = hd_linear_new(6, 5, false);
    hd_ddp_options o = hd_ddp_defaults();
    o.shard_optimizer = true;
    hd_ddp *d = hd_ddp_new(m, &o);
    CHECK(d && !hd_ddp_parameters(d) == (hd_mpi_rank() > 0));
    CHECK(hd_mpi_rank() == 0 || error_has(HD_VALUE, "hd_ddp_parameters: none of the 1", "rank"));
    hd_ddp_free(d);
    hd_tensor *across = hd_t(hd_zeros(HD_FLOAT32, 6, 5)); /* (5, 6) */
    CHECK(hd_module_set_parameter(m, "weight", hd_parameter(across, true)));
    CHECK(!hd_ddp_new(m, NULL) &&
          error_has(HD_VALUE, "parameter 0 of model is not contiguous", "hd_module_set_parameter"));
    hd_module_free(m);
    return true;
}

/* The buckets have the dtypes of the parameters at hd_ddp_new. */
static bool converted_models(void)
{
    hd_module *m = small_new();
    hd_ddp *d = hd_ddp_new(m, NULL);
    CHECK(d && hd_module_to(m, HD_FLOAT64));
    hd_tensor *x = hd_to(rows_x(hd_mpi_rank(), 3), HD_FLOAT64); /* (3, 6) */
    CHECK(hd_backward(hd_sum(hd_forward(m, x))) == (hd_mpi_size() == 1));
    CHECK(hd_mpi_size() == 1 ||
          error_has(HD_STATE, "hd_module_to has converted the model after hd_ddp_new", ""));
    hd_module_zero_grad(m);
    CHECK(hd_module_to(m, HD_FLOAT32) && hd_backward(rows_loss(m, hd_mpi_rank(), 3)));
    CHECK(same_everywhere(all_grads(m)));
    hd_ddp_free(d);
    hd_module_free(m);
    return true;
}

static void *backward_elsewhere(void *user)
{
    static bool refused;
    HD_SCOPE;
    refused = !hd_backward(hd_sum(hd_exp(user))) &&
              strstr(hd_error_message(), "was made by another thread");
    return &refused;
}

/* Another thread's backward is refused, and disturbs nothing. */
static bool other_threads(void)
{
    hd_module *m = small_new();
    hd_ddp *d = hd_ddp_new(m, NULL);
    hd_tensor *w = hd_module_get_parameter(m, "first.weight"); /* (5, 6) */
    pthread_t t;
    void *refused = NULL;
    CHECK(pthread_create(&t, NULL, backward_elsewhere, w) == 0 && pthread_join(t, &refused) == 0);
    CHECK(*(bool *)refused == (hd_mpi_size() > 1));
    CHECK(hd_mpi_size() == 1 || hd_grad(w) == HD_NONE);
    hd_module_zero_grad(m);
    CHECK(hd_backward(rows_loss(m, hd_mpi_rank(), 3)) && same_everywhere(all_grads(m)));
    hd_ddp_free(d);
    hd_module_free(m);
    return true;
}

/* Ranks that do not accumulate in the same way are told so. */
static bool sync_differs(void)
{
    bool last = hd_mpi_rank() == hd_mpi_size() - 1;
    if (hd_mpi_size() == 1) {
        return true;
    }
    hd_module *m = small_new();
    hd_ddp *d = hd_ddp_new(m, NULL);
    hd_ddp_no_sync(d, last);
    if (last) {
        CHECK(hd_backward(rows_loss(m, 0, 2)));
        hd_ddp_no_sync(d, false);
    }
    CHECK(!hd_backward(rows_loss(m, 0, 2)));
    CHECK(error_has(HD_VALUE, "backward 0 on rank 0", "backward 1 on rank"));
    hd_ddp_free(d);
    hd_module_free(m);
    return true;
}

/* ---------------------------------------------------------------- memory */

typedef struct {
    hd_module *m;
    hd_ddp *d;
    hd_optim *o;
    hd_dict *state;
} work;

static bool do_backward(work *w)
{
    return hd_backward(rows_loss(w->m, hd_mpi_rank(), 3));
}

static bool do_step(work *w)
{
    return hd_ddp_step(w->d, w->o);
}

static bool do_save(work *w)
{
    return hd_ddp_optim_save(w->d, w->o, w->state, "optim");
}

static bool do_new(work *w)
{
    hd_ddp_options o = hd_ddp_defaults();
    o.shard_optimizer = true;
    hd_ddp_free(w->d);
    w->d = hd_ddp_new(w->m, &o);
    return w->d;
}

static bool do_gather(work *w)
{
    char *text = hd_mpi_gather_text("a text");
    bool ok = text && hd_mpi_gather(hd_module_get_parameter(w->m, "first.weight")) &&
              hd_mpi_all_same("a text", "a text");
    hd_free(text);
    return ok;
}

static bool work_new(work *w)
{
    hd_manual_seed(1);
    *w = (work){.m = small_new(), .state = hd_dict_new()};
    CHECK(do_new(w));
    w->o = hd_adamw_new(hd_ddp_parameters(w->d), NULL);
    CHECK(w->o && do_backward(w) && hd_ddp_step(w->d, w->o));
    return true;
}

static void work_free(work *w)
{
    hd_optim_free(w->o);
    hd_ddp_free(w->d);
    hd_dict_free(w->state);
    hd_module_free(w->m);
}

/* Each block that the call asks for is refused on one rank: all ranks fail, with that rank's error,
 * and what they do next is right. */
static bool refuse_each(bool (*f)(work *w), int culprit, bool keeps_grads)
{
    bool again = true;
    int64_t step = hd_mpi_size() > 2 ? 31 : 1; /* ranks that share a core wait for each other */
    for (int64_t k = 0; again; k += k < 30 ? step : 5 * step) {
        HD_SCOPE;
        work w;
        CHECK(work_new(&w));
        hd_tensor *before = all_grads(w.m); /* (n,) */
        refuse_block(hd_mpi_rank() == culprit ? k : -1);
        bool ok = f(&w);
        bool right = hd_error_code() == (ok ? HD_OK : HD_MEMORY);
        hd_error_clear();
        again = block_refused();
        CHECK(right && ok == !again);
        if (again && keeps_grads) {
            CHECK(same_bits(all_grads(w.m), before));
        }
        if (again && w.d) {
            CHECK(f(&w));
        }
        work_free(&w);
    }
    return true;
}

static bool memory_runs_out(void)
{
    int n = hd_mpi_size();
    for (int culprit = n > 2 ? n - 1 : 0; culprit < n; culprit++) {
        CHECK(refuse_each(do_backward, culprit, true));
        CHECK(refuse_each(do_step, culprit, true));
        CHECK(refuse_each(do_save, culprit, true));
        CHECK(refuse_each(do_gather, culprit, true));
        CHECK(refuse_each(do_new, culprit, true));
    }
    return true;
}

/* ---------------------------------------------------------------- ranks that differ */

/* An error that stands on one rank from elsewhere does not fail the others. */
static bool models_differ(void)
{
    bool last = hd_mpi_rank() == hd_mpi_size() - 1;
    if (hd_mpi_size() == 1) {
        return true;
    }
    hd_module *m = last ? hd_linear_new(6, 4, true) : hd_linear_new(6, 5, true);
    CHECK(!hd_ddp_new(m, NULL));
    CHECK(error_has(HD_VALUE, "line 1 is 'parameter weight (5, 6) float32' on rank 0",
                    "'parameter weight (4, 6) float32' on rank "));
    hd_module_free(m);
    m = hd_linear_new(6, 5, !last);
    CHECK(!hd_ddp_new(m, NULL));
    CHECK(error_has(HD_VALUE, "line 2 is 'parameter bias (5,) float32' on rank 0",
                    "the end of the text on rank "));
    hd_module_free(m);
    m = hd_linear_new(6, 5, true);
    hd_ddp_options o = hd_ddp_defaults();
    o.fast = last;
    CHECK(!hd_ddp_new(m, &o) && error_has(HD_VALUE, "hd_ddp_options differs: line 3 is 'fast 0' on",
                                          "'fast 1' on rank "));
    CHECK(!hd_ddp_new(last ? NULL : m, NULL) && error_has(HD_NULL_ARG, "model is NULL", ""));
    hd_ddp *d = hd_ddp_new(m, NULL);
    CHECK(d && hd_backward(hd_sum(hd_forward(m, rows_x(0, 1)))));
    hd_ddp_free(d);
    hd_module_free(m);
    return true;
}

/* One rank leaves its loop with an error while the others go on. It is the last case. */
static bool one_leaves(void)
{
    bool last = hd_mpi_rank() == hd_mpi_size() - 1;
    if (hd_mpi_size() == 1) {
        return true;
    }
    hd_module *m = small_new();
    hd_ddp *d = hd_ddp_new(m, NULL);
    CHECK(d && hd_backward(rows_loss(m, 0, 2)));
    if (last) {
        hd_error_set(HD_IO, "the disk is full");
        hd_ddp_free(d);
        CHECK(error_has(HD_IO, "the disk is full", ""));
    } else {
        char who[64];
        snprintf(who, sizeof who, "rank %d is in hd_ddp_free", hd_mpi_size() - 1);
        CHECK(!hd_backward(rows_loss(m, 0, 2)));
        CHECK(error_has(HD_STATE, who, "the disk is full"));
        CHECK(!hd_backward(rows_loss(m, 0, 2)) &&
              error_has(HD_STATE, "hd_backward", "different functions"));
        hd_ddp_free(d);
    }
    double v = 1;
    CHECK(!hd_mpi_sum(1, &v) && error_has(HD_STATE, "hd_mpi_sum", "different functions"));
    hd_module_free(m);
    return true;
}

/* Ranks that are in different functions, one of which has failed. */
static bool functions_differ(void)
{
    double v = 1;
    bool last = hd_mpi_rank() == hd_mpi_size() - 1;
    if (hd_mpi_size() > 1 && last) {
        CHECK(!hd_mpi_sum(1, &v) && error_has(HD_STATE, "rank 0 is in hd_mpi_all_ok: ", "late"));
    } else if (hd_mpi_size() > 1) {
        hd_error_set(HD_IO, "late");
        CHECK(!hd_mpi_all_ok("the work", hd_mpi_rank() > 0));
        CHECK(error_has(HD_IO, "late", ""));
        CHECK(!hd_mpi_all_ok("the work", true) && error_has(HD_STATE, "different functions", ""));
    }
    return true;
}

static bool functions_differ_while_well(void)
{
    double v = 1;
    char who[64];
    int last = hd_mpi_size() - 1;
    if (last > 0 && hd_mpi_rank() == last) {
        CHECK(!hd_mpi_sum(1, &v) && error_has(HD_STATE, "rank 0 is in hd_mpi_gather_text: ",
                                              "all ranks must make the same collective calls"));
    } else if (last > 0) {
        snprintf(who, sizeof who, "hd_mpi_gather_text: rank %d is in hd_mpi_sum", last);
        CHECK(!hd_mpi_gather_text("a") && error_has(HD_STATE, who, ""));
    }
    return true;
}

const ranks_case parting_cases[] = {{"functions_differ", functions_differ},
                                    {"functions_differ_while_well", functions_differ_while_well},
                                    {NULL, NULL}};

const ranks_case failure_cases[] = {{"backward_fails", backward_fails},
                                    {"calls_inside", calls_inside},
                                    {"sync_differs", sync_differs},
                                    {"unfit_models", unfit_models},
                                    {"converted_models", converted_models},
                                    {"other_threads", other_threads},
                                    {"memory_runs_out", memory_runs_out},
                                    {"models_differ", models_differ},
                                    {"one_leaves", one_leaves},
                                    {NULL, NULL}};
