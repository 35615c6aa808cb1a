/* test_control.c - calls that are wrong on purpose. The test must find each fault and report it by
 * the words beside it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults_memory/suites.h"

/* ---------------------------------------------------------------- wrong calls */

static hd_tensor *kept[4096]; /* what the leaks have taken */
static int n_kept;

/* The result of the second call is not looked at, and the failure is cleared. */
static hd_tensor *ignores_a_result(world *w)
{
    hd_tensor *y = hd_clone(hd_detach(w->x));
    hd_zero_(hd_select(y, 0, 1));
    hd_error_clear();
    return y;
}

/* It fails, and gives its result nevertheless. */
static hd_tensor *gives_a_result(world *w)
{
    hd_tensor *y = hd_clone(hd_detach(w->x));
    hd_zero_(hd_select(y, 0, 1));
    return y;
}

static bool writes_half(world *w)
{
    return hd_dict_set_int(w->dict, "first", 1) && hd_dict_set_int(w->dict, "second", 2);
}

static bool leaks(world *w)
{
    hd_tensor *held = hd_retain(hd_neg(w->plain)), *y = hd_neg(w->plain);
    if (held && y) {
        hd_release(held);
    } else if (held && n_kept < (int)(sizeof kept / sizeof *kept)) {
        kept[n_kept++] = held;
    }
    return held && y;
}

static bool draws(world *w)
{
    hd_uniform_(w->plain, 0, 1);
    return hd_neg(w->plain);
}

static bool draws_without_a_trace(world *w)
{
    hd_generator_random(w->generator);
    return hd_neg(w->plain);
}

static bool leaves_a_scope(world *w)
{
    hd_scope *s = hd_scope_open();
    if (!hd_neg(w->plain)) {
        return false;
    }
    hd_scope_close(s);
    return true;
}

static bool leaves_grad_mode(world *w)
{
    bool before = hd_set_grad_mode(false);
    return hd_neg(w->plain) && !hd_set_grad_mode(before);
}

static bool leaves_evaluation(world *w)
{
    return hd_module_eval(w->linear) && hd_neg(w->plain) && hd_module_train(w->linear, true);
}

static bool bumps_a_version(world *w)
{
    return hd_data_mut(w->plain) && hd_neg(w->plain);
}

static bool leaves_a_file(world *w)
{
    FILE *f = fopen(in_folder(w, ".heed-new.tmp"), "w");
    fclose(f);
    return hd_neg(w->plain) && remove(in_folder(w, ".heed-new.tmp")) == 0;
}

static bool has_another_code(world *w)
{
    return hd_neg(w->plain) || (hd_error_clear(), hd_error_set(HD_VALUE, "hd_wrong: no"));
}

static bool names_nothing(world *w)
{
    return hd_neg(w->plain) || (hd_error_clear(), hd_error_set(HD_MEMORY, "out of memory"));
}

static bool counts_twice(world *w)
{
    return hd_neg(w->plain) || hd_error_set(HD_MEMORY, "hd_wrong: out of memory");
}

static double remembered;

/* A failure changes what later calls give. */
static double remembers(world *w)
{
    remembered += !hd_neg(w->plain);
    return hd_error_code() == HD_OK ? remembered : NAN;
}

static bool changes_a_gradient(world *w)
{
    return hd_set_grad(w->p, w->grad) && hd_neg(w->plain);
}

/* Of STEPS: p's gradient is as it is at the end, but plain is neither as before nor as at the
 * end. */
static bool steps_half(world *w)
{
    if (!hd_set_grad(w->p, w->grad) || !hd_fill_(w->plain, 1) || !hd_neg(w->plain)) {
        return false;
    }
    return hd_fill_(w->plain, 2);
}

/* Of DRAWS: from two generators, of which only the first is taken back. */
static bool draws_from_two(world *w)
{
    hd_generator_use(w->generator);
    bool first = hd_rand(HD_FLOAT32, 1);
    hd_generator_use(NULL);
    if (!first || !hd_rand(HD_FLOAT32, 1)) {
        return false;
    }
    return hd_neg(w->plain);
}

/* ---------------------------------------------------------------- users' objects */

static bool careless_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul(x[0], x[0]);
    hd_save(ctx, x[0]);
    hd_error_clear();
    return y[0];
}

static void careless_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    (void)ctx;
    gx[0] = hd_mul_scalar(gy[0], 2);
}

static const hd_op careless_op = {sizeof(hd_op), "Careless", careless_forward, careless_backward,
                                  NULL};

static int hook_runs;

static hd_tensor *counting_hook(hd_tensor *grad, void *user)
{
    ++*(int *)user;
    return hd_mul_scalar(grad, 2);
}

static bool hook_that_counts(world *w)
{
    int64_t id = hd_register_hook(w->x, counting_hook, &hook_runs);
    bool ok = id > 0 && hd_backward_with(w->x, w->grad, true);
    if (id > 0) {
        hd_remove_hook(w->x, id);
    }
    return ok;
}

typedef struct careless {
    hd_module base;
    hd_tensor *weight;
} careless;

static hd_tensor *careless_module_forward(hd_module *self, hd_tensor *x)
{
    hd_data_mut(((careless *)self)->weight);
    return hd_neg(x);
}

static const hd_module_type careless_type =
    HD_MODULE_TYPE(careless, "Careless", careless_module_forward);
static careless *module;

static void begin(world *w)
{
    module = (careless *)hd_module_new(&careless_type);
    hd_register_buffer(&module->base, "weight", &module->weight, w->plain, true);
    world_add(w, "careless", thing_of_module(&module->base));
    world_add(w, "the count", thing_of_bytes(&hook_runs, sizeof hook_runs));
    hook_runs = 0;
    remembered = 0;
}

/* ---------------------------------------------------------------- all of them */

#define WRONG(X)                                                                                   \
    X(ignores_a_result, "although it fails")                                                       \
    X(gives_a_result, "gives the result although it fails")                                        \
    X(writes_half, "changes dict, entry first")                                                    \
    X(leaks, "leaves +1 tensors")                                                                  \
    X(draws, "changes plain: its values")                                                          \
    X(draws_without_a_trace, "changes generator, entry")                                           \
    X(leaves_a_scope, "leaves a scope open")                                                       \
    X(leaves_grad_mode, "changes the thread: its grad mode")                                       \
    X(leaves_evaluation, "changes linear: its mode")                                               \
    X(bumps_a_version, "changes plain: its version")                                               \
    X(leaves_a_file, "changes the folder: its files")                                              \
    X(has_another_code, "is no MEMORY: VALUE")                                                     \
    X(names_nothing, "names no function")                                                          \
    X(counts_twice, "counts 2 failures for 1 blocks")                                              \
    X(remembers, "gives something else")                                                           \
    X(changes_a_gradient, "changes p: ")                                                           \
    X(hook_that_counts, "changes the count")

#define WRONG_RUN(f, words)                                                                        \
    static void run_##f(world *w, outcome *o)                                                      \
    {                                                                                              \
        keep(o, THING(f(w)));                                                                      \
    }
WRONG(WRONG_RUN)

static void run_steps_half(world *w, outcome *o)
{
    keep(o, thing_of_bool(steps_half(w)));
}

static void run_draws_from_two(world *w, outcome *o)
{
    keep(o, thing_of_bool(draws_from_two(w)));
}

static void run_user_op(world *w, outcome *o)
{
    keep(o, thing_of_tensor(hd_apply(&careless_op, NULL, w->x)));
}

static void run_module(world *w, outcome *o)
{
    keep(o, thing_of_tensor(hd_forward(&module->base, w->plain)));
}

static const struct {
    row row;
    const char *words;
} wrong[] = {
#define WRONG_ROW(f, words) {{#f, "", ALONE, run_##f}, words},
    WRONG(WRONG_ROW){{"a user's op", "", ALONE, run_user_op}, "is no MEMORY"},
    {{"steps_half", "", ALONE | STEPS, run_steps_half}, "changes plain: its values"},
    {{"draws_from_two", "", ALONE | DRAWS, run_draws_from_two}, "changes the default generator"},
    {{"a module's forward", "", ALONE, run_module}, "changes plain: its version"},
};

/* ---------------------------------------------------------------- what is told */

static const char *looked_for;
static int found;
static char last[700];

static void look(const char *fault)
{
    found += strstr(fault, looked_for) != NULL;
    snprintf(last, sizeof last, "%s", fault);
}

START_TEST(each_fault_is_found)
{
    warnings_expected(); /* the world asks for a gradient that is not kept */
    const table t = {"control", NULL, 0, MODULES | FILES, begin};
    int64_t count = 0;
    found = 0;
    last[0] = '\0';
    looked_for = wrong[_i].words;
    int faults = row_faults(&wrong[_i].row, &t, ALLOCATOR, &count, look);
    ck_assert_msg(found > 0, "%s: '%s' is not told; %d others, such as '%s'",
                  wrong[_i].row.function, looked_for, faults, last);
}
END_TEST

Suite *suite_control(void)
{
    Suite *s = suite_create("control");
    suite_add_loop(s, each_fault_is_found, sizeof wrong / sizeof *wrong);
    return s;
}
