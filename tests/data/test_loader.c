/* test_loader.c - compares the loader's order and draws with PyTorch's DataLoader, and tests exact
 * resume. */
#include "suites.h"

/* A loader over items 0 .. n - 1 whose input is the item's number. */
static hd_loader *loader_of(int64_t n, int64_t batch_size, bool shuffle, bool drop_last,
                            hd_generator *own)
{
    hd_loader_options o = hd_loader_defaults();
    hd_tokens *t = counted_tokens(n + 1);
    hd_dataset *s = hd_windows_new(t, 1, 1);
    o.batch_size = batch_size;
    o.shuffle = shuffle;
    o.drop_last = drop_last;
    o.generator = own;
    hd_loader *l = hd_loader_new(s, &o);
    hd_dataset_free(s);
    hd_tokens_free(t);
    return l;
}

/* ---------------------------------------------------------------- against PyTorch */

static void check_batch(const hd_tensor *x, const hd_tensor *y, int64_t count, const int64_t *items)
{
    ck_assert_int_eq(hd_ndim(x), 2);
    ck_assert_int_eq(hd_size(x, 0), count);
    ck_assert_int_eq(hd_size(x, 1), 1);
    ck_assert_int_eq(hd_dtype_of(x), HD_INT64);
    for (int64_t i = 0; i < count; i++) {
        ck_assert_int_eq(hd_get_int(x, i, 0), items[i]);
        ck_assert_int_eq(hd_get_int(y, i, 0), items[i] + 1);
    }
}

static void check_epoch(const golden_case *c, int epoch, hd_loader *l, hd_generator *own)
{
    const golden_record *items = golden_get(c, "items%d", epoch);
    const golden_record *counts = golden_get(c, "counts%d", epoch);
    int64_t at = 0;
    for (int64_t k = 0; k < counts->numel; k++) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (b, 1) */
        bool more = hd_loader_next(l, &x, &y);
        ck_assert_msg(more == (counts->i[k] > 0), "%s: batch %d", c->name, (int)k);
        if (more) {
            check_batch(x, y, counts->i[k], items->i + at);
        }
        at += counts->i[k];
        ck_assert_msg(upcoming(hd_default_generator()) == golden_get(c, "default%d", epoch)->i[k],
                      "%s: the default generator after batch %d", c->name, (int)k);
        ck_assert_msg(!own || upcoming(own) == golden_get(c, "own%d", epoch)->i[k],
                      "%s: its own generator after batch %d", c->name, (int)k);
    }
    ck_assert_int_eq(hd_loader_epoch(l), epoch + 1);
    ck_assert_int_eq(hd_loader_batch(l), counts->numel - 1);
}

static void check_loader(const golden_case *c)
{
    hd_generator *own = golden_int(c, "own", 0) ? hd_generator_new(456) : NULL;
    hd_loader *l = loader_of(golden_int(c, "n", 0), golden_int(c, "batch_size", 0),
                             golden_int(c, "shuffle", 0), golden_int(c, "drop_last", 0), own);
    hd_manual_seed(123);
    ck_assert_int_eq(hd_loader_len(l), golden_int(c, "len", -1));
    for (int epoch = 0; epoch < 3; epoch++) {
        check_epoch(c, epoch, l, own);
    }
    hd_loader_free(l);
    hd_generator_free(own);
}

START_TEST(as_pytorch)
{
    int cases = 0;
    for (int i = 0; i < golden_data()->count; i++) {
        const golden_case *c = &golden_data()->cases[i];
        if (strncmp(c->name, "loader_", 7) == 0) {
            check_loader(c);
            cases++;
        }
    }
    ck_assert_int_eq(cases, 152);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* Two loaders of one dataset draw from the default generator in turn, as two Python iterators
 * do. */
START_TEST(uses_the_thread_s_generator)
{
    hd_generator *g = hd_generator_new(9), *h = hd_generator_new(9);
    hd_loader *l = loader_of(5, 2, true, false, NULL);
    int64_t before = upcoming(hd_default_generator());
    hd_generator_use(g);
    ck_assert(hd_loader_next(l, NULL, NULL));
    hd_generator_use(NULL);
    ck_assert_int_eq(upcoming(hd_default_generator()), before);
    hd_generator_random64(h);
    hd_generator_random64(h);
    ck_assert_int_eq(upcoming(g), upcoming(h));
    hd_loader_free(l);
    hd_generator_free(g);
    hd_generator_free(h);
}
END_TEST

START_TEST(restarts)
{
    hd_loader *l = loader_of(6, 2, false, false, NULL);
    hd_tensor *x = NULL;
    ck_assert_int_eq(hd_loader_epoch(l), 0);
    ck_assert(hd_loader_next(l, &x, NULL) && hd_loader_next(l, &x, NULL));
    ck_elements(x, 2, 3);
    ck_assert(hd_loader_restart(l));
    ck_assert(hd_loader_next(l, &x, NULL));
    ck_elements(x, 0, 1);
    ck_assert_int_eq(hd_loader_epoch(l), 2);
    ck_assert_int_eq(hd_loader_batch(l), 1);
    hd_loader_free(l);
    hd_loader_free(NULL);
}
END_TEST

/* Batches live in the caller's scope and hold nothing of the loader. */
START_TEST(batches_outlive_the_loader)
{
    hd_loader *l = loader_of(4, 4, false, false, NULL);
    hd_tensor *x, *y;
    int64_t before = hd_scope_count();
    ck_assert(hd_loader_next(l, &x, &y));
    ck_assert_int_eq(hd_scope_count(), before + 2);
    hd_loader_free(l);
    ck_elements(x, 0, 1, 2, 3);
    ck_elements(y, 1, 2, 3, 4);
}
END_TEST

static hd_list *no_item(int64_t i, void *user)
{
    (void)i, (void)user;
    return NULL;
}

#define NO_ITEMS                                                                                   \
    "hd_loader_new: shuffle of a dataset of 0 items: expected 1 or more. Leave shuffle false for " \
    "an empty dataset"

START_TEST(an_empty_dataset)
{
    hd_loader *l = loader_of(0, 2, false, false, NULL);
    ck_assert_int_eq(hd_loader_len(l), 0);
    ck_assert(!hd_loader_next(l, NULL, NULL));
    ck_assert(!hd_loader_next(l, NULL, NULL));
    ck_assert_int_eq(hd_loader_epoch(l), 2);
    hd_loader_free(l);
    ck_assert_ptr_null(loader_of(0, 2, true, false, NULL));
    ck_error(HD_VALUE, "hd_loader_new: shuffle of 0 windows: 1 tokens are too few for a window of "
                       "max_length 1 and its target. Use a longer text "
                       "or a smaller max_length");
    hd_loader_options o = hd_loader_defaults();
    o.shuffle = true;
    hd_dataset *s = hd_dataset_new(0, no_item, NULL, NULL), *parts[2];
    ck_assert_ptr_null(hd_loader_new(s, &o));
    ck_error(HD_VALUE, NO_ITEMS);
    ck_assert(hd_random_split(s, 2, (int64_t[]){0, 0}, NULL, parts));
    ck_assert_ptr_null(hd_loader_new(parts[0], &o));
    ck_error(HD_VALUE, NO_ITEMS);
    hd_dataset_free(parts[0]);
    hd_dataset_free(parts[1]);
    hd_dataset_free(s);
}
END_TEST

/* ---------------------------------------------------------------- resume */

enum { ITEMS = 7, CALLS = 14 };

typedef struct world { /* a loader with every generator that it may draw from */
    hd_generator *thread, *own;
    hd_loader *l;
} world;

static world world_new(int options, int64_t batch_size)
{
    world w = {hd_generator_new(1), hd_generator_new(2), NULL};
    w.l = loader_of(ITEMS, batch_size, options & 1, options & 2, options & 4 ? w.own : NULL);
    return w;
}

static void world_free(world *w)
{
    hd_loader_free(w->l);
    hd_generator_free(w->thread);
    hd_generator_free(w->own);
}

/* The batch as one number, or -1 at an epoch's end. Something else draws between the batches,
 * too. */
static int64_t step(world *w)
{
    HD_SCOPE;
    hd_tensor *x;
    int64_t sum = 0;
    hd_generator_use(w->thread);
    bool more = hd_loader_next(w->l, &x, NULL);
    hd_generator_random(w->thread);
    hd_generator_use(NULL);
    for (int64_t i = 0; more && i < hd_numel(x); i++) {
        sum = 10 * sum + hd_get_int(x, i, 0) + 1;
    }
    return more ? sum : -1;
}

static hd_dict *save(const world *w)
{
    hd_dict *d = hd_dict_new();
    ck_assert(hd_loader_save(w->l, d, "data.loader"));
    ck_assert(hd_generator_save(w->thread, d, "rng"));
    ck_assert(hd_generator_save(w->own, d, "own"));
    return d;
}

static void load(world *w, const hd_dict *d)
{
    ck_assert(hd_loader_load(w->l, d, "data.loader"));
    ck_assert(hd_generator_load(w->thread, d, "rng"));
    ck_assert(hd_generator_load(w->own, d, "own"));
}

/* Both have the same entries in the same order, to the bit. */
static void check_same(const hd_dict *a, const hd_dict *b)
{
    ck_assert_int_eq(hd_dict_len(a), hd_dict_len(b));
    for (int64_t i = 0; i < hd_dict_len(a); i++) {
        const char *name = hd_dict_name(a, i);
        ck_assert_str_eq(name, hd_dict_name(b, i));
        if (hd_dict_kind_of(a, name) == HD_DICT_TENSOR) {
            hd_tensor *x = hd_dict_get(a, name), *y = hd_dict_get(b, name);
            ck_assert_int_eq(hd_numel(x), hd_numel(y));
            ck_assert(memcmp(hd_data(x), hd_data(y), (size_t)hd_numel(x) * 8) == 0);
        } else {
            double v, u;
            ck_assert(hd_dict_get_double(a, name, &v) && hd_dict_get_double(b, name, &u));
            ck_assert_msg(v == u, "%s: %g and %g", name, v, u);
        }
    }
}

static void check_resume(int options, int64_t batch_size)
{
    int64_t whole[CALLS];
    world w = world_new(options, batch_size);
    for (int i = 0; i < CALLS; i++) {
        whole[i] = step(&w);
    }
    hd_dict *end = save(&w);
    world_free(&w);
    for (int k = 0; k <= CALLS; k++) {
        world a = world_new(options, batch_size), b = world_new(options, batch_size);
        for (int i = 0; i < k; i++) {
            step(&a);
        }
        for (int i = 0; i < k % 5; i++) { /* wherever it stood before */
            step(&b);
        }
        hd_dict *d = save(&a), *e;
        world_free(&a);
        load(&b, d);
        hd_dict_free(d);
        for (int i = k; i < CALLS; i++) {
            ck_assert_msg(step(&b) == whole[i], "options %d, resumed at %d, call %d", options, k,
                          i);
        }
        e = save(&b);
        check_same(e, end);
        hd_dict_free(e);
        world_free(&b);
    }
    hd_dict_free(end);
}

START_TEST(resumes_at_every_position)
{
    check_resume(_i, 2);
    check_resume(_i, 7);
    check_resume(_i, 9);
    ck_no_error();
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* ---------------------------------------------------------------- errors */

static void other_size(hd_dict *d)
{
    hd_dict_set_int(d, "l.len", 8);
}
static void other_batch_size(hd_dict *d)
{
    hd_dict_set_int(d, "l.batch_size", 3);
}
static void other_shuffle(hd_dict *d)
{
    hd_dict_set_int(d, "l.shuffle", 0);
}
static void far_batch(hd_dict *d)
{
    hd_dict_set_int(d, "l.batch", 5);
}
static void no_epoch(hd_dict *d)
{
    hd_dict_remove(d, "l.epoch");
}
static void far_epoch(hd_dict *d)
{
    hd_dict_set_int(d, "l.epoch", INT64_MAX);
}
static void no_order(hd_dict *d)
{
    hd_dict_remove(d, "l.order");
}
static void twice_in_order(hd_dict *d)
{
    hd_set(hd_dict_get(d, "l.order"), hd_get(hd_dict_get(d, "l.order"), 0), 6);
}
static void outside_order(hd_dict *d)
{
    hd_set(hd_dict_get(d, "l.order"), -1, 3);
}
static void short_order(hd_dict *d)
{
    hd_dict_set(d, "l.order", hd_randperm(6));
}

#define ORDER                                                                                      \
    "hd_loader_load: 'l.order' is no permutation of the items: expected int64 (7,), each of 0 to " \
    "6 once"

static const struct {
    void (*spoil)(hd_dict *d);
    const char *message;
} bad[] = {
    {other_size, "hd_loader_load: 'l.len' is 8: expected 7, as in this loader"},
    {other_batch_size, "hd_loader_load: 'l.batch_size' is 3: expected 2, as in this loader"},
    {other_shuffle, "hd_loader_load: 'l.shuffle' is 0: expected 1, as in this loader"},
    {far_batch, "hd_loader_load: 'l.batch' is 5: expected 0 to 4"},
    {no_epoch, "hd_loader_load: 'l.epoch' is missing: expected an integer"},
    {far_epoch, "hd_loader_load: 'l.epoch' is 9223372036854775807: expected 0 to 9007199254740992"},
    {no_order, "hd_loader_load: 'l.order' is missing: expected a tensor"},
    {twice_in_order, ORDER},
    {outside_order, ORDER},
    {short_order, ORDER},
};

START_TEST(refuses_what_does_not_fit)
{
    hd_loader *l = loader_of(7, 2, true, false, NULL);
    hd_dict *d = hd_dict_new();
    hd_tensor *x, *y;
    ck_assert(hd_loader_next(l, NULL, NULL));
    ck_assert(hd_loader_save(l, d, "l"));
    bad[_i].spoil(d);
    hd_loader *m = loader_of(7, 2, true, false, NULL);
    hd_manual_seed(5);
    ck_assert(!hd_loader_load(m, d, "l"));
    ck_error(HD_VALUE, bad[_i].message);
    ck_assert(hd_loader_next(m, &x, NULL)); /* as if nothing had been tried */
    hd_loader_free(m);
    m = loader_of(7, 2, true, false, NULL);
    hd_manual_seed(5);
    ck_assert(hd_loader_next(m, &y, NULL));
    ck_assert_int_eq(hd_get_int(x, 0, 0), hd_get_int(y, 0, 0));
    ck_assert_int_eq(hd_get_int(x, 1, 0), hd_get_int(y, 1, 0));
    hd_loader_free(m);
    hd_loader_free(l);
    hd_dict_free(d);
}
END_TEST

START_TEST(refuses_arguments)
{
    hd_loader_options o = hd_loader_defaults();
    hd_tokens *t = counted_tokens(5);
    hd_dataset *s = hd_windows_new(t, 1, 1);
    o.batch_size = 0;
    ck_assert_ptr_null(hd_loader_new(s, &o));
    ck_error(HD_VALUE, "hd_loader_new: batch_size 0: expected 1 or more");
    o = (hd_loader_options){.batch_size = 1};
    ck_assert_ptr_null(hd_loader_new(s, &o));
    ck_error(HD_VALUE,
             sized("hd_loader_new: o->size 0: expected %zu, as hd_loader_defaults() gives",
                   sizeof(hd_loader_options)));
    hd_error_clear();
    ck_assert_ptr_null(hd_loader_new(NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_loader_new: s is NULL");
    ck_assert(!hd_loader_next(NULL, NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_loader_next: l is NULL");
    ck_assert_int_eq(hd_loader_len(NULL), -1);
    ck_error(HD_NULL_ARG, "hd_loader_len: l is NULL");
    hd_loader *l = hd_loader_new(s, NULL); /* defaults */
    ck_assert_int_eq(hd_loader_len(l), 4);
    hd_loader_free(l);
    hd_dataset_free(s);
    hd_tokens_free(t);
}
END_TEST

/* What the user freed is an error even while something else holds it, which goes on using it. */
START_TEST(freed_while_held)
{
    static const int64_t half[] = {2, 2};
    hd_tokens *t = hd_tokens_from(hd_arange(0, 9, 1)), *parts[2];
    hd_dataset *s = hd_windows_new(t, 2, 2), *both[2];
    hd_loader *l = hd_loader_new(s, NULL);
    hd_tensor *input, *target;
    hd_tokens_free(t);
    ck_assert_int_eq(hd_tokens_len(t), -1);
    ck_error(HD_STATE, "hd_tokens_len: t was freed by hd_tokens_free");
    ck_assert_ptr_null(hd_tokens_read(t, 0, 1));
    ck_error(HD_STATE, "hd_tokens_read: t was freed by hd_tokens_free");
    ck_assert(!hd_tokens_split(t, 0.5, &parts[0], &parts[1]));
    ck_error(HD_STATE, "hd_tokens_split: t was freed by hd_tokens_free");
    ck_assert_ptr_null(hd_windows_new(t, 2, 2));
    ck_error(HD_STATE, "hd_windows_new: t was freed by hd_tokens_free");
    ck_assert(hd_dataset_get(s, 0, &input, &target));
    hd_dataset_free(s);
    ck_assert_int_eq(hd_dataset_len(s), -1);
    ck_error(HD_STATE, "hd_dataset_len: s was freed by hd_dataset_free");
    ck_assert(!hd_dataset_get(s, 0, &input, &target));
    ck_error(HD_STATE, "hd_dataset_get: s was freed by hd_dataset_free");
    ck_assert(!hd_random_split(s, 2, half, NULL, both));
    ck_error(HD_STATE, "hd_random_split: s was freed by hd_dataset_free");
    ck_assert_ptr_null(hd_loader_new(s, NULL));
    ck_error(HD_STATE, "hd_loader_new: s was freed by hd_dataset_free");
    ck_assert(hd_loader_next(l, &input, &target));
    ck_assert_int_eq(hd_get_int(target, 0, 1), 2);
    hd_loader_free(l);
    ck_no_error();
}
END_TEST

Suite *suite_loader(void)
{
    const TTest *const tests[] = {
        as_pytorch,       uses_the_thread_s_generator, restarts,         batches_outlive_the_loader,
        an_empty_dataset, refuses_arguments,           freed_while_held,
    };
    Suite *s = SUITE_OF("loader", tests);
    suite_add_loop(s, resumes_at_every_position, 8);
    suite_add_loop(s, refuses_what_does_not_fit, sizeof bad / sizeof bad[0]);
    return s;
}
