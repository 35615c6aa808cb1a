/* test_replicas.c - a loader on each of several ranks: compares its items and draws with PyTorch's
 * DistributedSampler, and loads states on another number of ranks. */
#include "suites.h"

/* A loader over items 0 .. n - 1 whose input is the item's number. */
static hd_loader *rank_of(int64_t n, const hd_loader_options *o)
{
    hd_tokens *t = counted_tokens(n + 1);
    hd_dataset *s = hd_windows_new(t, 1, 1);
    hd_loader *l = hd_loader_new(s, o);
    hd_dataset_free(s);
    hd_tokens_free(t);
    return l;
}

/* Takes a batch, whose items go to items[0], items[step], ... Returns how many there are. */
static int64_t take(hd_loader *l, int64_t *items, int64_t step)
{
    HD_SCOPE;
    hd_tensor *x, *y; /* (b, 1) */
    if (!hd_loader_next(l, &x, &y)) {
        ck_no_error();
        return 0;
    }
    for (int64_t i = 0; i < hd_numel(x); i++) {
        items[i * step] = hd_get_int(x, i, 0);
        ck_assert_int_eq(hd_get_int(y, i, 0), items[i * step] + 1);
    }
    return hd_numel(x);
}

/* ---------------------------------------------------------------- against PyTorch */

/* Goes to the end of the last epoch before this one, as a resumed run does. */
static void go_to_epoch(hd_loader *l, int64_t epoch)
{
    hd_dict *d = hd_dict_new();
    ck_assert(hd_loader_save(l, d, "l") && hd_dict_set_int(d, "l.epoch", epoch) &&
              hd_loader_load(l, d, "l"));
    hd_dict_free(d);
}

static void check_rank(const golden_case *c, const hd_loader_options *o)
{
    static const int64_t epochs[] = {0, 1, 1000};
    const golden_record *counts = golden_get(c, "counts"), *all = golden_get(c, "items");
    const int64_t *items = all->i + o->rank * all->numel / o->num_replicas;
    hd_loader *l = rank_of(golden_int(c, "n", -1), o);
    int64_t got[32];
    ck_assert_ptr_nonnull(l);
    ck_assert_int_eq(hd_loader_len(l), counts->numel - 1);
    hd_manual_seed(123);
    for (int e = 0; e < 3; e++) {
        go_to_epoch(l, epochs[e]);
        for (int64_t k = 0; k < counts->numel; k++) {
            ck_assert_msg(take(l, got, 1) == counts->i[k], "%s: rank %d, batch %d", c->name,
                          (int)o->rank, (int)k);
            ck_assert_msg(memcmp(got, items, (size_t)counts->i[k] * sizeof *got) == 0,
                          "%s: rank %d, epoch %d, batch %d", c->name, (int)o->rank, (int)epochs[e],
                          (int)k);
            items += counts->i[k];
            ck_assert_int_eq(upcoming(hd_default_generator()), golden_get(c, "default")->i[e]);
        }
        ck_assert_int_eq(hd_loader_epoch(l), epochs[e] + 1);
        ck_assert_int_eq(hd_loader_batch(l), counts->numel - 1);
    }
    ck_assert_ptr_eq(items, all->i + (o->rank + 1) * all->numel / o->num_replicas);
    hd_loader_free(l);
}

START_TEST(as_distributed_sampler)
{
    int cases = 0;
    for (int i = 0; i < golden_data()->count; i++) {
        const golden_case *c = &golden_data()->cases[i];
        hd_loader_options o = hd_loader_defaults();
        if (strncmp(c->name, "replicas_", 9) == 0) {
            o.batch_size = golden_int(c, "batch_size", 0);
            o.shuffle = golden_int(c, "shuffle", 0);
            o.drop_last = golden_int(c, "drop_last", 0);
            o.seed = golden_int(c, "seed", 1);
            o.num_replicas = golden_int(c, "num_replicas", 0);
            for (; o.rank < o.num_replicas; o.rank++) {
                check_rank(c, &o);
            }
            cases++;
        }
    }
    ck_assert_int_eq(cases, 280);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(a_restart_begins_the_next_order)
{
    hd_loader_options o = hd_loader_defaults();
    int64_t a[9], b[9];
    o.batch_size = 9, o.shuffle = true, o.num_replicas = 1, o.seed = 5;
    hd_loader *l = rank_of(9, &o);
    take(l, a, 1);
    ck_assert(hd_loader_restart(l));
    take(l, a, 1);
    hd_loader_free(l);
    o.seed = 6;
    l = rank_of(9, &o);
    take(l, b, 1);
    hd_loader_free(l);
    ck_assert_mem_eq(a, b, sizeof a);
}
END_TEST

/* ---------------------------------------------------------------- other numbers of ranks */

enum { GLOBAL = 8, MOST = 64 };

typedef struct team { /* the loaders of all ranks, or one without ranks */
    int n;
    hd_loader *l[GLOBAL];
} team;

/* ranks 0: a loader without num_replicas */
static team team_new(int64_t n, int options, int ranks)
{
    hd_loader_options o = hd_loader_defaults();
    team t = {.n = ranks ? ranks : 1};
    o.shuffle = options & 1;
    o.drop_last = options & 2;
    o.batch_size = GLOBAL / t.n;
    o.num_replicas = ranks;
    o.seed = ranks ? 77 : 0;
    for (; o.rank < t.n; o.rank++) {
        t.l[o.rank] = rank_of(n, &o);
        ck_assert_ptr_nonnull(t.l[o.rank]);
    }
    return t;
}

static void team_free(team *t)
{
    for (int r = 0; r < t->n; r++) {
        hd_loader_free(t->l[r]);
    }
}

/* The next batch of all ranks in the order that was dealt. Returns the number of its items. */
static int64_t take_all(team *t, int64_t *items)
{
    int64_t count = take(t->l[0], items, t->n);
    for (int r = 1; r < t->n; r++) {
        ck_assert_int_eq(take(t->l[r], items + r, t->n), count);
    }
    return count * t->n;
}

/* What a checkpoint has: each rank would write the same. */
static hd_dict *save_all(const team *t)
{
    hd_dict *d = hd_dict_new(), *e = hd_dict_new();
    ck_assert(hd_loader_save(t->l[0], d, "l"));
    for (int r = 1; r < t->n; r++) {
        int64_t a, b;
        ck_assert(hd_loader_save(t->l[r], e, "l"));
        ck_assert_int_eq(hd_dict_len(e), hd_dict_len(d));
        for (int64_t i = 0; i < hd_dict_len(d); i++) {
            const char *name = hd_dict_name(d, i);
            ck_assert_str_eq(hd_dict_name(e, i), name);
            ck_assert(hd_dict_kind_of(d, name) == HD_DICT_TENSOR ||
                      (hd_dict_get_int(d, name, &a) && hd_dict_get_int(e, name, &b) && a == b));
        }
    }
    hd_dict_free(e);
    return d;
}

/* This team's place, for a new team of so many ranks; frees this one. */
static team hand_over(team *t, int64_t n, int options, int ranks)
{
    hd_dict *d = save_all(t);
    team next = team_new(n, options, ranks);
    for (int r = 0; r < next.n; r++) {
        int64_t items[GLOBAL];
        take(next.l[r], items, 1); /* wherever it stood before */
        ck_assert_msg(hd_loader_load(next.l[r], d, "l"), "%s", hd_error_message());
        ck_assert_int_eq(hd_loader_epoch(next.l[r]), hd_loader_epoch(t->l[0]));
        ck_assert_int_eq(hd_loader_batch(next.l[r]), hd_loader_batch(t->l[0]));
    }
    team_free(t);
    hd_dict_free(d);
    return next;
}

/* Takes `calls` batches of t, or all up to the end of the epoch, which must be those of the order
 * from batch k on. An item after its end is one from its beginning. */
static void check_batches(team *t, int64_t n, int options, const int64_t *order, int64_t k,
                          int calls)
{
    for (; calls != 0; calls--, k++) {
        int64_t items[2 * GLOBAL], left = n - k * GLOBAL;
        int64_t least = left >= GLOBAL ? GLOBAL : left < 0 || options & 2 ? 0 : left;
        int64_t count = take_all(t, items);
        ck_assert_msg(count == (least + t->n - 1) / t->n * t->n, "batch %d of %d ranks: %d", (int)k,
                      t->n, (int)count);
        for (int64_t i = 0; i < count; i++) {
            ck_assert_int_eq(items[i], order[(k * GLOBAL + i) % n]);
        }
        if (count == 0) {
            return;
        }
    }
}

/* The orders of two epochs, as one rank has them. */
static void orders_of(int64_t n, int options, int64_t order[2][MOST])
{
    hd_loader_options o = hd_loader_defaults();
    int64_t end;
    o.shuffle = options & 1, o.batch_size = n, o.num_replicas = 1, o.seed = 77;
    hd_loader *l = rank_of(n, &o);
    for (int e = 0; e < 2; e++) {
        ck_assert_int_eq(take(l, order[e], 1), n);
        ck_assert_int_eq(take(l, &end, 1), 0);
    }
    hd_loader_free(l);
}

/* 4 ranks, then 2, then 1, then 8, which see the ends of both epochs; a change after each batch. */
static void check_changes(int64_t n, int options, int at)
{
    int64_t order[2][MOST];
    orders_of(n, options, order);
    team t = team_new(n, options, 4);
    check_batches(&t, n, options, order[0], 0, at);
    t = hand_over(&t, n, options, 2);
    check_batches(&t, n, options, order[0], at, 1);
    t = hand_over(&t, n, options, 1);
    check_batches(&t, n, options, order[0], at + 1, -1);
    t = hand_over(&t, n, options, 8);
    check_batches(&t, n, options, order[1], 0, at);
    t = hand_over(&t, n, options, 4);
    check_batches(&t, n, options, order[1], at, -1);
    ck_assert_int_eq(hd_loader_epoch(t.l[0]), 2);
    team_free(&t);
}

START_TEST(the_number_of_ranks_may_change)
{
    for (int at = 0; at < 4; at++) {
        check_changes(40, _i, at);
        check_changes(43, _i, at);
        check_changes(45, _i, at);
    }
    check_changes(19, _i, 1);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* What one loader without ranks would give in the epoch that it has begun is given by the ranks.
 * The epoch after it has the order of the seed, and its number. */
START_TEST(ranks_finish_the_epoch_of_a_loader_without_ranks)
{
    enum { N = 43 };
    int64_t order[MOST], seeded[2][MOST];
    hd_loader_options o = {.size = sizeof o, .batch_size = N, .shuffle = _i & 1};
    hd_loader *l = rank_of(N, &o);
    hd_manual_seed(3);
    ck_assert_int_eq(take(l, order, 1), N);
    hd_loader_free(l);
    orders_of(N, _i, seeded);
    team t = team_new(N, _i, 0);
    hd_manual_seed(3);
    check_batches(&t, N, _i, order, 0, 2);
    t = hand_over(&t, N, _i, 2);
    check_batches(&t, N, _i, order, 2, 1);
    t = hand_over(&t, N, _i, 4); /* these save the order that they were given */
    check_batches(&t, N, _i, order, 3, -1);
    check_batches(&t, N, _i, seeded[1], 0, 1);
    t = hand_over(&t, N, _i, 8);
    check_batches(&t, N, _i, seeded[1], 1, -1);
    team_free(&t);
}
END_TEST

/* A loader without ranks that stands between two epochs. */
START_TEST(ranks_begin_the_epoch_after_that_of_a_loader_without_ranks)
{
    int64_t items[GLOBAL], seeded[2][MOST];
    orders_of(20, _i, seeded);
    team t = team_new(20, _i, 0);
    while (take_all(&t, items) > 0) {
    }
    t = hand_over(&t, 20, _i, 2);
    check_batches(&t, 20, _i, seeded[1], 0, -1);
    team_free(&t);
}
END_TEST

/* Only the entries of the last state are left in a dictionary. */
START_TEST(a_state_replaces_one_of_another_kind)
{
    int64_t items[GLOBAL];
    hd_dict *d = hd_dict_new();
    team plain = team_new(20, 1, 0), one = team_new(20, 1, 1);
    take_all(&plain, items);
    take_all(&one, items);
    for (int i = 0; i < 2; i++) {
        ck_assert(hd_loader_save(plain.l[0], d, "l"));
        ck_assert_int_eq(hd_dict_kind_of(d, "l.order"), HD_DICT_TENSOR);
        ck_assert_int_eq(hd_dict_kind_of(d, "l.seed"), HD_DICT_MISSING);
        ck_assert(hd_loader_load(plain.l[0], d, "l"));
        ck_assert_int_eq(hd_dict_len(d), 10);
        ck_assert(hd_loader_save(one.l[0], d, "l"));
        ck_assert_int_eq(hd_dict_kind_of(d, "l.order"), HD_DICT_MISSING);
        ck_assert_int_eq(hd_dict_kind_of(d, "l.seed"), HD_DICT_INT);
        ck_assert_int_eq(hd_dict_len(d), 10);
    }
    team_free(&plain);
    team_free(&one);
    hd_dict_free(d);
}
END_TEST

/* A loader that was in the middle of an epoch with an order of its own saves no order after it has
 * loaded a state with a seed. */
START_TEST(a_seed_takes_the_place_of_an_order)
{
    int64_t items[GLOBAL];
    team plain = team_new(20, 1, 0), one = team_new(20, 1, 1);
    take_all(&plain, items);
    take_all(&one, items);
    hd_dict *ordered = save_all(&plain), *seeded = save_all(&one);
    ck_assert(hd_loader_load(one.l[0], ordered, "l") && hd_loader_load(one.l[0], seeded, "l"));
    hd_dict *d = save_all(&one);
    ck_assert_int_eq(hd_dict_kind_of(d, "l.order"), HD_DICT_MISSING);
    ck_assert_int_eq(hd_dict_len(d), hd_dict_len(seeded));
    hd_dict_free(d);
    hd_dict_free(ordered);
    hd_dict_free(seeded);
    team_free(&plain);
    team_free(&one);
}
END_TEST

/* ---------------------------------------------------------------- errors */

static const struct {
    int ranks; /* of the loader that loads */
    const char *field;
    int64_t value;
    const char *message;
} misfits[] = {
    {0, "l.seed", 77,
     "hd_loader_load: 'l.seed' is from a loader with num_replicas: expected num_replicas 1 or more "
     "here, too"},
    {2, "l.seed", 76, "hd_loader_load: 'l.seed' is 76: expected 77, as in this loader"},
    {2, "l.batch_size", 4,
     "hd_loader_load: 'l.batch_size' is 4: expected 8, as in this loader (all ranks together)"},
    {2, "l.len", 19, "hd_loader_load: 'l.len' is 19: expected 20, as in this loader"},
    {2, "l.batch", 4, "hd_loader_load: 'l.batch' is 4: expected 0 to 3"},
};

START_TEST(refuses_what_does_not_fit_the_ranks)
{
    int64_t items[GLOBAL];
    team from = team_new(20, 1, 4), to = team_new(20, 1, misfits[_i].ranks);
    take_all(&from, items);
    hd_dict *d = save_all(&from);
    ck_assert(hd_dict_set_int(d, misfits[_i].field, misfits[_i].value));
    ck_assert(!hd_loader_load(to.l[0], d, "l"));
    ck_error(HD_VALUE, misfits[_i].message);
    ck_assert_int_eq(hd_loader_epoch(to.l[0]), 0);
    team_free(&from);
    team_free(&to);
    hd_dict_free(d);
}
END_TEST

/* An order that came with a state is checked on ranks too. */
START_TEST(refuses_a_wrong_order)
{
    int64_t items[GLOBAL];
    team from = team_new(20, 1, 0), to = team_new(20, 1, 2);
    take_all(&from, items);
    hd_dict *d = save_all(&from);
    hd_set(hd_dict_get(d, "l.order"), -1, 3);
    ck_assert(!hd_loader_load(to.l[0], d, "l"));
    ck_error(HD_VALUE, "hd_loader_load: 'l.order' is no permutation of the items: expected int64 "
                       "(20,), each of 0 to 19 once");
    ck_assert(hd_dict_remove(d, "l.order"));
    ck_assert(!hd_loader_load(to.l[0], d, "l"));
    ck_error(HD_VALUE, "hd_loader_load: 'l.order' is missing: expected a tensor");
    team_free(&from);
    team_free(&to);
    hd_dict_free(d);
}
END_TEST

static const struct {
    int64_t batch_size, num_replicas, rank;
    bool own;
    const char *message;
} refused[] = {
    {1, -1, 0, false, "hd_loader_new: num_replicas -1: expected 0 or more"},
    {1, 2, 2, false, "hd_loader_new: rank 2 with num_replicas 2: expected 0 to 1"},
    {1, 2, -1, false, "hd_loader_new: rank -1 with num_replicas 2: expected 0 to 1"},
    {1, 0, 1, false, "hd_loader_new: rank 1 with num_replicas 0: expected 0 to 0"},
    {1, 2, 0, true,
     "hd_loader_new: generator is not NULL and num_replicas is 2: expected NULL, because the order "
     "follows from seed"},
    {INT64_MAX, 2, 0, false,
     "hd_loader_new: batch_size 9223372036854775807 with num_replicas 2: expected a product of at "
     "most 9223372036854775807"},
};

START_TEST(refuses_options_of_ranks)
{
    hd_generator *g = hd_generator_new(1);
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = refused[_i].batch_size;
    o.num_replicas = refused[_i].num_replicas;
    o.rank = refused[_i].rank;
    o.generator = refused[_i].own ? g : NULL;
    ck_assert_ptr_null(rank_of(5, &o));
    ck_error(HD_VALUE, refused[_i].message);
    hd_generator_free(g);
}
END_TEST

/* The largest numbers that are not refused. */
START_TEST(more_ranks_than_can_be)
{
    hd_loader_options o = {.size = sizeof o, .batch_size = 1, .num_replicas = INT64_MAX};
    int64_t item;
    o.rank = INT64_MAX - 1;
    hd_loader *l = rank_of(5, &o);
    ck_assert_int_eq(hd_loader_len(l), 1);
    ck_assert_int_eq(take(l, &item, 1), 1);
    ck_assert_int_eq(item, (INT64_MAX - 1) % 5);
    ck_assert_int_eq(take(l, &item, 1), 0);
    hd_loader_free(l);
    o = (hd_loader_options){.size = sizeof o, .batch_size = INT64_MAX, .num_replicas = 1};
    l = rank_of(0, &o);
    ck_assert_int_eq(hd_loader_len(l), 0);
    hd_loader_free(l);
}
END_TEST

Suite *suite_replicas(void)
{
    const TTest *const tests[] = {
        as_distributed_sampler,
        a_restart_begins_the_next_order,
        a_state_replaces_one_of_another_kind,
        a_seed_takes_the_place_of_an_order,
        refuses_a_wrong_order,
        more_ranks_than_can_be,
    };
    Suite *s = SUITE_OF("replicas", tests);
    suite_add_loop(s, the_number_of_ranks_may_change, 4);
    suite_add_loop(s, ranks_finish_the_epoch_of_a_loader_without_ranks, 4);
    suite_add_loop(s, ranks_begin_the_epoch_after_that_of_a_loader_without_ranks, 4);
    suite_add_loop(s, refuses_what_does_not_fit_the_ranks, sizeof misfits / sizeof misfits[0]);
    suite_add_loop(s, refuses_options_of_ranks, sizeof refused / sizeof refused[0]);
    return s;
}
