/* test_atomic.c - saving an optimizer or a schedule writes all of its entries or none, and a step
 * that fails because memory runs out keeps nothing. */
#include "suites.h"
#include "support/atomic.h"

typedef struct pair {
    hd_optim *o;
    hd_schedule *s;
} pair;

static void parameters(hd_tensor *p[2])
{
    p[0] = hd_parameter(hd_ones(HD_FLOAT32, 2, 3), true);
    p[1] = hd_parameter(hd_ones(HD_FLOAT32, 4), true);
    ck_assert(hd_set_grad(p[0], hd_ones(HD_FLOAT32, 2, 3)) &&
              hd_set_grad(p[1], hd_ones(HD_FLOAT32, 4)));
}

static void an_optimizer(world *w)
{
    hd_tensor *p[2];
    parameters(p);
    w->x = p[0];
    w->object = hd_adamw_new(hd_list_of(p[0], p[1]), NULL);
    w->other = hd_step_lr_new(w->object, 2, 0.5);
    ck_assert(w->object && w->other);
}

static void a_stepped_optimizer(world *w)
{
    an_optimizer(w);
    ck_assert(hd_optim_step(w->object) && hd_schedule_step(w->other));
    w->d = hd_dict_new();
    ck_assert(hd_dict_set_int(w->d, "o.param_groups", 77) &&
              hd_dict_set_string(w->d, "o.type", "old"));
}

static void free_optimizer(world *w)
{
    hd_schedule_free(w->other);
    hd_optim_free(w->object);
}

static bool save_optimizer(world *w)
{
    return hd_optim_save(w->object, w->d, "o");
}

static bool save_schedule(world *w)
{
    return hd_schedule_save(w->other, w->d, "o");
}

static bool step(world *w)
{
    return hd_optim_step(w->object);
}

/* The bytes that are live, as a step that failed keeps no state. */
static uint64_t look_at_bytes(const world *w)
{
    (void)w;
    return (uint64_t)hd_bytes_live();
}

START_TEST(an_optimizer_changes_as_a_whole)
{
    static const atomic_call calls[] = {
        {"hd_optim_save", a_stepped_optimizer, save_optimizer, NULL, free_optimizer},
        {"hd_schedule_save", a_stepped_optimizer, save_schedule, NULL, free_optimizer},
        {"hd_optim_step", an_optimizer, step, look_at_bytes, free_optimizer},
    };
    ATOMIC_AT_EACH(calls);
}
END_TEST

Suite *suite_atomic(void)
{
    const TTest *const tests[] = {an_optimizer_changes_as_a_whole};
    return SUITE_OF("atomic", tests);
}
