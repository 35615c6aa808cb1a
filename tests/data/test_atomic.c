/* test_atomic.c - loaders that run out of memory, in states that tests/faults_memory lacks. A
 * failed call draws no random number and loses no batch, and a dictionary gets all entries or
 * none. */
#include "suites.h"
#include "support/atomic.h"
#include "support/quarantine.h"

static void free_loader(world *w)
{
    hd_loader_free(w->object);
    hd_generator_free(w->other);
}

static void loader_of(world *w, bool own_generator, bool shuffle, int64_t num_replicas)
{
    hd_tokens *t = counted_tokens(9);
    hd_dataset *s = hd_windows_new(t, 2, 1);
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = 3;
    o.num_replicas = num_replicas;
    o.shuffle = shuffle;
    o.generator = w->other = own_generator ? hd_generator_new(5) : NULL;
    w->object = hd_loader_new(s, &o);
    ck_assert_ptr_nonnull(w->object);
    hd_dataset_free(s);
    hd_tokens_free(t);
}

static void a_loader(world *w)
{
    loader_of(w, false, true, 0);
}

static void a_loader_with_a_generator(world *w)
{
    loader_of(w, true, true, 0);
}

static void a_loader_in_order(world *w)
{
    loader_of(w, false, false, 0);
}

static void a_loader_of_a_rank(world *w)
{
    loader_of(w, false, true, 1);
}

/* An epoch of 7 items has batches of 3, 3 and 1. */
static void take(world *w, int batches)
{
    for (int i = 0; i < batches; i++) {
        ck_assert(hd_loader_next(w->object, NULL, NULL));
    }
}

static void before_the_end(world *w)
{
    a_loader_with_a_generator(w);
    take(w, 2);
}

static bool next_batch(world *w)
{
    hd_tensor *mark = HD_NONE, *input = mark, *target = mark;
    bool ok = hd_loader_next(w->object, &input, &target);
    ck_assert_msg(ok || (input == mark && target == mark), "half a batch");
    return ok;
}

/* The state that a checkpoint would have. */
static uint64_t look_at_loader(const world *w)
{
    hd_dict *d = hd_dict_new();
    ck_assert(hd_loader_save(w->object, d, "l"));
    int64_t numbers[3] = {0};
    ck_assert(hd_dict_get_int(d, "l.epoch", &numbers[0]) &&
              hd_dict_get_int(d, "l.batch", &numbers[1]) &&
              hd_dict_get_int(d, "l.under_way", &numbers[2]));
    uint64_t h = mix(0, numbers, sizeof numbers);
    for (int64_t i = 0; numbers[2] && i < 7; i++) {
        double item = hd_dict_kind_of(d, "l.order") == HD_DICT_MISSING
                          ? (double)i
                          : element_at(hd_dict_get(d, "l.order"), i);
        h = mix(h, &item, sizeof item);
    }
    hd_dict_free(d);
    return w->other ? look_at_generator(h, w->other) : h;
}

/* The state is that of the first epoch, whose order follows from the seed. */
static void with_a_state_of_ranks(world *w)
{
    a_loader_of_a_rank(w);
    take(w, 1);
    w->d = hd_dict_new();
    ck_assert(hd_loader_save(w->object, w->d, "l") && hd_loader_restart(w->object));
    take(w, 2);
}

static bool load_loader(world *w)
{
    return hd_loader_load(w->object, w->d, "l");
}

static bool save_loader(world *w)
{
    return hd_loader_save(w->object, w->d, "l");
}

START_TEST(nothing_changes_if_memory_runs_out)
{
    static const atomic_call calls[] = {
        {"the first batch, own generator", a_loader_with_a_generator, next_batch, look_at_loader,
         free_loader},
        {"the first batch, in order", a_loader_in_order, next_batch, look_at_loader, free_loader},
        {"the first batch of a rank", a_loader_of_a_rank, next_batch, look_at_loader, free_loader},
        {"hd_loader_load on a rank", with_a_state_of_ranks, load_loader, look_at_loader,
         free_loader},
        {"the last batch", before_the_end, next_batch, look_at_loader, free_loader},
        {"hd_loader_save on a rank", with_a_state_of_ranks, save_loader, NULL, free_loader},
    };
    ATOMIC_AT_EACH(calls);
}
END_TEST

/* ---------------------------------------------------------------- errors that stand */

START_TEST(nothing_is_saved_while_an_error_stands)
{
    world w = {0};
    hd_dict *d = hd_dict_new();
    a_loader(&w);
    hd_error_set(HD_USER, "an error");
    ck_assert(!hd_loader_save(w.object, d, ""));
    ck_assert_int_eq(hd_dict_len(d), 0);
    ck_error(HD_USER, "an error");
    free_loader(&w);
    hd_dict_free(d);
}
END_TEST

START_TEST(a_freed_generator_is_noticed_before_anything_is_drawn)
{
    if (!quarantine_on()) {
        return;
    }
    world w = {0};
    loader_of(&w, true, true, 0);
    hd_generator_free(w.other);
    ck_assert(!hd_loader_next(w.object, NULL, NULL));
    ck_error(HD_STATE, "hd_loader_next: the generator of l was freed by hd_generator_free");
    ck_assert_int_eq(hd_loader_epoch(w.object), 0);
    hd_loader_free(w.object);
}
END_TEST

Suite *suite_atomic(void)
{
    const TTest *const tests[] = {
        nothing_changes_if_memory_runs_out,
        nothing_is_saved_while_an_error_stands,
        a_freed_generator_is_noticed_before_anything_is_drawn,
    };
    return SUITE_OF("atomic", tests);
}
