/* test_own.c - tests of datasets that a program defines: order and resume as with windows, batches
 * in the shapes of default_collate, the book's padding against PyTorch, and every error. */
#include "suites.h"
#include "support/golden_tensor.h"
#include "support/quarantine.h"
#include "tensor/lifecycle.h"
#include "tensor/list.h"

static hd_loader *loader_with(const hd_dataset *s, int64_t batch_size, hd_collate collate)
{
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = batch_size;
    o.collate = collate;
    return hd_loader_new(s, &o);
}

/* A loader of a dataset that nothing else holds. */
static hd_loader *loader_over(int64_t length, hd_list *(*get)(int64_t i, void *user), void *user,
                              int64_t batch_size, hd_collate collate)
{
    hd_dataset *s = hd_dataset_new(length, get, user, NULL);
    hd_loader *l = loader_with(s, batch_size, collate);
    hd_dataset_free(s);
    return l;
}

static hd_tensor *number(int64_t i)
{
    return hd_full_n(HD_INT64, hd_scalar_of(i), 0, NULL);
}

static void check_ints(const hd_tensor *x, const golden_record *want, int ndim)
{
    ck_assert_int_eq(hd_dtype_of(x), HD_INT64);
    ck_assert_int_eq(hd_ndim(x), ndim);
    ck_assert_int_eq(hd_numel(x), want->numel);
    for (int64_t i = 0; i < want->numel; i++) {
        ck_assert_int_eq(((const int64_t *)hd_data(x))[i], want->i[i]);
    }
}

/* ---------------------------------------------------------------- against windows */

enum { ITEMS = 7, CALLS = 14 };

/* The windows of length 1 over 0, 1, 2 ... */
static hd_list *window(int64_t i, void *user)
{
    (void)user;
    return hd_list_of(hd_full(HD_INT64, i, 1), hd_full(HD_INT64, i + 1, 1));
}

typedef struct world { /* a loader with every generator that it may draw from */
    hd_generator *thread, *own;
    hd_loader *l;
} world;

/* options: 1 shuffle, 2 drop_last, 4 a generator of its own, 8 rank 1 of 2, 16 a random part */
static world world_new(int options, bool own)
{
    world w = {hd_generator_new(1), hd_generator_new(2), NULL};
    hd_tokens *t = counted_tokens(ITEMS + 1);
    hd_dataset *s = own ? hd_dataset_new(ITEMS, window, NULL, NULL) : hd_windows_new(t, 1, 1);
    if (options & 16) {
        hd_dataset *part[2];
        ck_assert(hd_random_split(s, 2, (int64_t[]){5, 2}, w.own, part));
        hd_dataset_free(s);
        hd_dataset_free(part[1]);
        s = part[0];
    }
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = 2;
    o.shuffle = options & 1;
    o.drop_last = options & 2;
    o.generator = options & 4 ? w.own : NULL;
    o.num_replicas = options & 8 ? 2 : 0;
    o.rank = options & 8 ? 1 : 0;
    w.l = hd_loader_new(s, &o);
    ck_assert_ptr_nonnull(w.l);
    hd_dataset_free(s);
    hd_tokens_free(t);
    return w;
}

static void world_free(world *w)
{
    hd_loader_free(w->l);
    hd_generator_free(w->thread);
    hd_generator_free(w->own);
}

/* The batch as one number, or -1 at an epoch's end. as_list: by hd_loader_next_list. */
static int64_t step(world *w, bool as_list)
{
    HD_SCOPE;
    hd_tensor *x = NULL, *y = NULL; /* (b, 1) */
    hd_list *batch = NULL;
    int64_t sum = 0;
    hd_generator_use(w->thread);
    bool more = as_list ? hd_loader_next_list(w->l, &batch) : hd_loader_next(w->l, &x, &y);
    hd_generator_use(NULL);
    ck_no_error();
    if (batch) {
        ck_assert_int_eq(hd_list_len(batch), 2);
        x = hd_list_get(batch, 0);
        y = hd_list_get(batch, 1);
    }
    for (int64_t i = 0; more && i < hd_size(x, 0); i++) {
        ck_assert_int_eq(hd_ndim(x), 2);
        ck_assert_int_eq(hd_get_int(y, i, 0), hd_get_int(x, i, 0) + 1);
        sum = 10 * sum + hd_get_int(x, i, 0) + 1;
    }
    return more ? sum : -1;
}

static bool possible(int options)
{
    return !(options & 4) || !(options & 8);
}

START_TEST(order_and_draws_are_those_of_windows)
{
    if (!possible(_i)) {
        return;
    }
    world windows = world_new(_i, false), own = world_new(_i, true);
    ck_assert_int_eq(hd_loader_len(windows.l), hd_loader_len(own.l));
    for (int k = 0; k < CALLS; k++) {
        ck_assert_int_eq(step(&own, k % 2), step(&windows, k % 3));
        ck_assert_int_eq(upcoming(own.thread), upcoming(windows.thread));
        ck_assert_int_eq(upcoming(own.own), upcoming(windows.own));
        ck_assert_int_eq(hd_loader_epoch(own.l), hd_loader_epoch(windows.l));
        ck_assert_int_eq(hd_loader_batch(own.l), hd_loader_batch(windows.l));
    }
    world_free(&windows);
    world_free(&own);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(resumes_at_every_position)
{
    if (!possible(_i)) {
        return;
    }
    int64_t whole[CALLS];
    world w = world_new(_i, true);
    for (int k = 0; k < CALLS; k++) {
        whole[k] = step(&w, true);
    }
    world_free(&w);
    for (int k = 0; k <= CALLS; k++) {
        world a = world_new(_i, true), b = world_new(_i, true);
        for (int i = 0; i < k; i++) {
            step(&a, false);
        }
        step(&b, false);
        hd_dict *d = hd_dict_new();
        ck_assert(hd_loader_save(a.l, d, "l") && hd_generator_save(a.thread, d, "t") &&
                  hd_generator_save(a.own, d, "o"));
        ck_assert(hd_loader_load(b.l, d, "l") && hd_generator_load(b.thread, d, "t") &&
                  hd_generator_load(b.own, d, "o"));
        hd_dict_free(d);
        for (int i = k; i < CALLS; i++) {
            ck_assert_int_eq(step(&b, i % 2), whole[i]);
        }
        world_free(&a);
        world_free(&b);
    }
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(refuses_the_state_of_windows)
{
    world windows = world_new(0, false), own = world_new(0, true);
    hd_dict *d = hd_dict_new();
    ck_assert(hd_loader_save(windows.l, d, "l"));
    ck_assert(!hd_loader_load(own.l, d, "l"));
    ck_error(HD_VALUE, "hd_loader_load: 'l.max_length' is 1: expected 0, as in this loader");
    hd_dict_free(d);
    world_free(&windows);
    world_free(&own);
}
END_TEST

/* ---------------------------------------------------------------- batches */

/* float32 (2, 3), transposed in memory; int64 (); bool (4,); float64 (0,) */
static hd_list *four(int64_t i, void *user)
{
    (void)user;
    hd_tensor *x = hd_arange((double)i, (double)i + 6, 1);
    hd_tensor *a = hd_zeros(HD_FLOAT32, 3, 2);
    for (int64_t k = 0; k < 6; k++) {
        hd_set(a, (float)hd_get_int(x, k), k % 3, k / 3);
    }
    a = hd__tensor_alias(a, 2, (int64_t[]){2, 3}, (int64_t[]){1, 2}, 0);
    return hd_list_of(a, number(i), hd_full(HD_BOOL, i % 2, 4), hd_zeros(HD_FLOAT64, 0));
}

/* torch's default_collate of tuples: one tensor for each place in the tuple, stacked */
START_TEST(stacks_each_tensor_of_an_item)
{
    hd_loader *l = loader_over(5, four, NULL, 3, NULL);
    hd_list *batch = NULL;
    int64_t before = hd_scope_count();
    ck_assert(hd_loader_next_list(l, &batch) && hd_loader_next_list(l, &batch));
    ck_assert_int_eq(hd_scope_count(), before + 10);
    hd_loader_free(l);
    ck_assert_int_eq(hd_list_len(batch), 4);
    ck_assert_str_eq(
        hd_list_repr(batch),
        "[tensor([[[3., 4., 5.],\n         [6., 7., 8.]],\n\n        [[4., 5., 6.],\n"
        "         [7., 8., 9.]]]), tensor([3, 4]), tensor([[ True,  True,  True,  True],\n"
        "        [False, False, False, False]]), tensor([], size=(2, 0), "
        "dtype=torch.float64)]");
}
END_TEST

START_TEST(an_item_of_its_own)
{
    hd_dataset *s = hd_dataset_new(3, window, NULL, NULL), *part;
    hd_tensor *x = NULL, *y = NULL; /* (1,) */
    int64_t before = hd_scope_count();
    ck_assert_int_eq(hd_dataset_len(s), 3);
    ck_assert(hd_dataset_get(s, -1, &x, &y));
    ck_assert_int_eq(hd_scope_count(), before + 2);
    ck_elements(x, 2);
    ck_elements(y, 3);
    ck_assert(!hd_dataset_get(s, 3, &x, &y));
    ck_error(HD_INDEX, "hd_dataset_get: index 3 of 3 items: expected -3 to 2");
    hd_manual_seed(0);
    ck_assert(hd_random_split(s, 1, (int64_t[]){3}, NULL, &part));
    hd_manual_seed(0);
    hd_tensor *order = hd_randperm(3); /* (3,) */
    for (int64_t i = 0; i < 3; i++) {
        ck_assert(hd_dataset_get(part, i, &x, NULL));
        ck_assert_int_eq(hd_item_int(x), hd_get_int(order, i));
    }
    hd_dataset_free(s);
    hd_dataset_free(part);
}
END_TEST

static void count(void *user)
{
    ++*(int *)user;
}

START_TEST(releases_once)
{
    int released = 0;
    hd_dataset *s = hd_dataset_new(4, window, &released, count), *parts[2], *quarter;
    ck_assert(hd_random_split(s, 2, (int64_t[]){2, 2}, NULL, parts));
    ck_assert(hd_random_split(parts[0], 1, (int64_t[]){2}, NULL, &quarter));
    hd_dataset_free(s);
    hd_dataset_free(parts[1]);
    hd_dataset_free(parts[0]);
    hd_loader *l = loader_with(quarter, 2, NULL);
    hd_dataset_free(quarter);
    ck_assert_int_eq(released, 0);
    ck_assert(hd_loader_next(l, NULL, NULL));
    hd_loader_free(l);
    ck_assert_int_eq(released, 1);
    ck_assert_ptr_null(hd_dataset_new(-1, window, &released, count));
    ck_error(HD_VALUE, "hd_dataset_new: length -1: expected 0 or more");
    ck_assert_int_eq(released, 2);
    ck_assert_ptr_null(hd_dataset_new(1, NULL, &released, count));
    ck_error(HD_NULL_ARG, "hd_dataset_new: get is NULL");
    ck_assert_int_eq(released, 3);
    hd_loader *empty = loader_over(0, window, NULL, 2, NULL);
    ck_assert(!hd_loader_next_list(empty, NULL));
    ck_no_error();
    hd_loader_free(empty);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* ---------------------------------------------------------------- a collate */

/* The sum of the first tensors, and how many items there are. */
static hd_list *sum_up(hd_list *const *items, int64_t n, void *user)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += hd_item_int(hd_list_get(items[i], 0));
    }
    ck_assert_ptr_null(user);
    return hd_list_of(number(sum), number(n), hd_list_get(items[0], 1));
}

START_TEST(a_collate_makes_the_batch)
{
    hd_tokens *t = counted_tokens(6);
    hd_dataset *windows = hd_windows_new(t, 1, 1);
    hd_loader *both[] = {loader_over(5, window, NULL, 3, sum_up), loader_with(windows, 3, sum_up)};
    hd_dataset_free(windows);
    hd_tokens_free(t);
    for (int k = 0; k < 2; k++) {
        hd_list *batch = NULL;
        ck_assert(hd_loader_next_list(both[k], &batch));
        ck_assert_str_eq(hd_list_repr(batch), "[tensor(3), tensor(3), tensor([1])]");
        ck_assert(hd_loader_next_list(both[k], &batch));
        ck_assert_str_eq(hd_list_repr(batch), "[tensor(7), tensor(2), tensor([4])]");
        ck_assert(!hd_loader_next_list(both[k], &batch));
        ck_no_error();
        hd_loader_free(both[k]);
    }
}
END_TEST

typedef struct texts {
    const golden_record *tokens, *lengths, *prompts, *learnt; /* learnt: NULL, there are prompts */
} texts;

/* Which of the text's tokens are learnt: (n,) bool */
static hd_tensor *marks_of(const texts *t, int64_t at, int64_t n)
{
    hd_tensor *marks = hd_zeros(HD_BOOL, n);
    for (int64_t k = 0; k < n; k++) {
        ((bool *)hd_data_mut(marks))[k] = t->learnt->i[at + k];
    }
    return marks;
}

static hd_list *text(int64_t i, void *user)
{
    const texts *t = user;
    int64_t at = 0;
    for (int64_t k = 0; k < i; k++) {
        at += t->lengths->i[k];
    }
    int64_t n = t->lengths->i[i], prompt = t->prompts->i[i];
    hd_tensor *ids = hd_from_data(HD_INT64, t->tokens->i + at, n);
    if (t->learnt) {
        return hd_list_of(ids, marks_of(t, at, n));
    }
    hd_tensor *length = i % 2 ? number(prompt) : hd_full(HD_INT64, prompt, 1);
    return prompt ? hd_list_of(ids, length) : hd_list_of(ids);
}

static void check_pad(const golden_case *c)
{
    HD_SCOPE;
    texts t = {golden_get(c, "tokens"), golden_get(c, "lengths"), golden_get(c, "prompts"),
               golden_get(c, "learnt")};
    hd_collate_pad_options p = hd_collate_pad_defaults();
    p.pad_token_id = golden_int(c, "pad_token_id", 0);
    p.ignore_index = golden_int(c, "ignore_index", 0);
    p.allowed_max_length = golden_int(c, "allowed_max_length", 0);
    bool usual = p.pad_token_id == 50256 && p.ignore_index == -100 && !p.allowed_max_length;
    hd_dataset *s = hd_dataset_new(t.lengths->numel, text, &t, NULL);
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = 9;
    o.collate = hd_collate_pad;
    o.collate_user = usual ? NULL : &p;
    hd_loader *l = hd_loader_new(s, &o);
    hd_tensor *x, *y; /* (b, longest) */
    ck_assert_msg(hd_loader_next(l, &x, &y), "%s", c->name);
    check_ints(x, golden_get(c, "inputs"), 2);
    check_ints(y, golden_get(c, "targets"), 2);
    for (int d = 0; d < 2; d++) {
        ck_assert_int_eq(hd_size(x, d), golden_get(c, "shape")->i[d]);
        ck_assert_int_eq(hd_size(y, d), golden_get(c, "shape")->i[d]);
    }
    hd_loader_free(l);
    hd_dataset_free(s);
}

START_TEST(pads_as_the_book)
{
    int cases = 0;
    for (int i = 0; i < golden_data()->count; i++) {
        const golden_case *c = &golden_data()->cases[i];
        if (strncmp(c->name, "pad_", 4) == 0) {
            check_pad(c);
            cases++;
        }
    }
    ck_assert_int_eq(cases, 18);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* ids and marks that do not lie side by side, and a batch that outlives its items */
START_TEST(pads_strided_ids)
{
    hd_list *batch;
    {
        HD_SCOPE;
        hd_tensor *ids = hd_arange(0, 6, 1);
        ids = hd__tensor_alias(ids, 1, (int64_t[]){3}, (int64_t[]){2}, 1);
        hd_list *item = hd_list_of(ids);
        batch = hd__tensor_list_return(hd_collate_pad(&item, 1, NULL));
    }
    ck_elements(hd_list_get(batch, 0), 1, 3, 5);
    ck_elements(hd_list_get(batch, 1), 3, 5, 50256);
    hd_tensor *ids = hd_arange(0, 3, 1);
    hd_tensor *six = hd_from_data(HD_BOOL, ((bool[]){true, true, false, false, true, true}), 6);
    hd_list *item = hd_list_of(ids, hd__tensor_alias(six, 1, (int64_t[]){3}, (int64_t[]){2}, 1));
    ck_elements(hd_list_get(hd_collate_pad(&item, 1, NULL), 1), -100, 2, 50256);
}
END_TEST

/* ---------------------------------------------------------------- errors of get and collate */

static hd_list *gives_null(int64_t i, void *user)
{
    return i == 1 ? NULL : window(i, user);
}
static hd_list *own_error(int64_t i, void *user)
{
    return i == 1 ? hd_error_set(HD_USER, "line 1 of the table: no comma") : window(i, user);
}
static hd_list *fails_inside(int64_t i, void *user)
{
    if (i == 1) {
        hd_zeros(HD_INT64, -3);
    }
    return window(i, user);
}
static hd_list *gives_none(int64_t i, void *user)
{
    return i == 1 ? hd_list_of(number(i), HD_NONE) : window(i, user);
}
static hd_list *leaves_a_scope(int64_t i, void *user)
{
    if (i == 1) {
        hd_scope_open();
    }
    return window(i, user);
}
static hd_list *closed_list(int64_t i, void *user)
{
    HD_SCOPE;
    hd_list *l = window(i, user);
    return i == 1 ? l : hd__tensor_list_return(l);
}
static hd_list *fewer(int64_t i, void *user)
{
    return i == 1 ? hd_list_of(number(i)) : window(i, user);
}
static hd_list *another_shape(int64_t i, void *user)
{
    return i == 1 ? hd_list_of(hd_zeros(HD_INT64, 1), hd_zeros(HD_INT64, 1, 2)) : window(i, user);
}
static hd_list *another_dtype(int64_t i, void *user)
{
    return i == 1 ? hd_list_of(hd_zeros(HD_FLOAT32, 1), hd_zeros(HD_INT64, 1)) : window(i, user);
}
static hd_list *alone(int64_t i, void *user)
{
    (void)user;
    return hd_list_of(number(i));
}
static hd_list *many_dims(int64_t i, void *user)
{
    int64_t sizes[HD_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};
    (void)user;
    (void)i;
    hd_tensor *x = hd_zeros_n(HD_INT64, HD_MAX_DIMS, sizes);
    return hd_list_of(x, x);
}
static hd_list *two_and_two(int64_t i, void *user)
{
    (void)user;
    return hd_list_of(hd_full(HD_INT64, i, 2), hd_full(HD_INT64, i, 2));
}
static hd_list *null_batch(hd_list *const *items, int64_t n, void *user)
{
    (void)items;
    (void)n;
    (void)user;
    return NULL;
}
static hd_list *failed_batch(hd_list *const *items, int64_t n, void *user)
{
    (void)items;
    (void)user;
    return hd_error_set(HD_USER, "%d items are too many", (int)n);
}

static const struct {
    hd_list *(*get)(int64_t i, void *user);
    hd_collate collate;
    hd_code code;
    const char *message;
} bad[] = {
    {gives_null, NULL, HD_USER,
     "hd_loader_next: get(1) gave NULL without an error: expected a list"},
    {own_error, NULL, HD_USER, "line 1 of the table: no comma"},
    {fails_inside, NULL, HD_SHAPE, "hd_zeros: (-3,): expected sizes of 0 or more"},
    {gives_none, NULL, HD_NULL_ARG, "hd_loader_next: get(1)[1] is HD_NONE: expected a tensor"},
    {leaves_a_scope, NULL, HD_STATE,
     "hd_loader_next: get(1) left 1 scope open. Call hd_scope_close for each hd_scope_open"},
    {closed_list, NULL, HD_STATE,
     "hd_loader_next: get(1) was freed when its scope closed. Use the list inside the scope that "
     "made it"},
    {fewer, NULL, HD_VALUE,
     "hd_loader_next: item 1 of the batch has 1 tensors, but item 0 has 2: expected equal numbers"},
    {another_shape, NULL, HD_SHAPE,
     "hd_loader_next: tensor 1 of item 1 of the batch is int64 (1, 2), but that of item 0 is int64 "
     "(1,): expected one dtype and shape"},
    {another_dtype, NULL, HD_DTYPE,
     "hd_loader_next: tensor 0 of item 1 of the batch is float32 (1,), but that of item 0 is int64 "
     "(1,): expected one dtype and shape"},
    {alone, NULL, HD_VALUE, "hd_loader_next: a batch of 1 tensors: expected 2, input and target"},
    {many_dims, NULL, HD_SHAPE, "hd_loader_next: 9 dimensions: expected 0 to 8"},
    {window, null_batch, HD_USER,
     "hd_loader_next: collate gave NULL without an error: expected a list"},
    {window, failed_batch, HD_USER, "2 items are too many"},
    {window, sum_up, HD_VALUE,
     "hd_loader_next: a batch of 3 tensors: expected 2, input and target"},
    {two_and_two, hd_collate_pad, HD_SHAPE,
     "hd_collate_pad: items[0][1] is int64 (2,): expected one int64, the length of the prompt, or "
     "bool (2,), true where a token counts in the loss"},
};

START_TEST(errors_travel)
{
    if (bad[_i].get == closed_list && !quarantine_on()) {
        return;
    }
    hd_tensor *x = NULL;
    hd_scope *around = hd_scope_open();
    hd_loader *l = loader_over(4, bad[_i].get, NULL, 2, bad[_i].collate);
    int64_t before = hd_scope_count();
    for (int k = 0; k < 2; k++) { /* a second time as the first */
        ck_assert(!hd_loader_next(l, &x, &x));
        ck_error(bad[_i].code, bad[_i].message);
        ck_assert_ptr_null(x);
        ck_assert_int_eq(hd_loader_batch(l), 0);
        ck_assert_int_eq(hd_loader_epoch(l), 1);
        ck_assert_int_eq(hd_scope_count(), before);
    }
    hd_loader_free(l);
    hd_scope_close(around);
    ck_no_error();
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

static hd_list *closes_a_scope(int64_t i, void *user)
{
    hd_scope_close(user);
    return window(i, NULL);
}

START_TEST(get_closes_a_scope_around)
{
    hd_scope *around = hd_scope_open();
    hd_loader *l = loader_over(4, closes_a_scope, around, 2, NULL);
    ck_assert(!hd_loader_next_list(l, NULL));
    ck_error(HD_STATE, "hd_loader_next_list: get(0) closed a scope that it had not opened: the "
                       "tensors in it are gone");
    hd_loader_free(l);
}
END_TEST

static hd_list *frees_the_loader(int64_t i, void *user)
{
    hd_loader **l = user;
    if (*l) {
        hd_loader_free(*l);
        *l = NULL;
    }
    return window(i, NULL);
}

static hd_list *collates_and_frees(hd_list *const *items, int64_t n, void *user)
{
    (void)n;
    frees_the_loader(0, user);
    return items[0];
}

START_TEST(get_or_collate_frees_the_loader)
{
    for (int k = 0; k < 2 && quarantine_on(); k++) {
        HD_SCOPE;
        hd_loader *l = NULL;
        hd_dataset *s = hd_dataset_new(4, k ? window : frees_the_loader, &l, NULL);
        hd_loader_options o = hd_loader_defaults();
        o.batch_size = 2;
        o.collate = k ? collates_and_frees : NULL;
        o.collate_user = &l;
        l = hd_loader_new(s, &o);
        ck_assert(!hd_loader_next_list(l, NULL));
        ck_error(HD_STATE, "hd_loader_next_list: l was freed by hd_loader_free");
        hd_dataset_free(s);
    }
}
END_TEST

/* Fails as long as *user is not 0. */
static hd_list *sometimes(int64_t i, void *user)
{
    return *(int *)user && i == 3 ? hd_error_set(HD_USER, "not now") : window(i, NULL);
}

START_TEST(goes_on_after_a_failure)
{
    int failing = 1;
    hd_loader_options o = hd_loader_defaults();
    hd_dataset *s = hd_dataset_new(5, sometimes, &failing, NULL);
    hd_tensor *x, *y; /* (5, 1) */
    o.batch_size = 5;
    o.shuffle = true;
    hd_loader *l = hd_loader_new(s, &o), *other = hd_loader_new(s, &o);
    hd_manual_seed(4);
    ck_assert(!hd_loader_next(l, &x, NULL));
    ck_error(HD_USER, "not now");
    failing = 0;
    ck_assert(hd_loader_next(l, &x, NULL));
    hd_manual_seed(4);
    ck_assert(hd_loader_next(other, &y, NULL));
    for (int64_t i = 0; i < 5; i++) {
        ck_assert_int_eq(hd_get_int(x, i, 0), hd_get_int(y, i, 0));
    }
    ck_assert(!hd_loader_next(l, NULL, NULL));
    ck_assert_int_eq(hd_loader_epoch(l), 1);
    hd_loader_free(l);
    hd_loader_free(other);
    hd_dataset_free(s);
}
END_TEST

/* An error that stood before is no failure of get, and one that get clears is its own affair. */
static hd_list *clears(int64_t i, void *user)
{
    hd_zeros(HD_INT64, -1);
    hd_error_clear();
    return window(i, user);
}

START_TEST(errors_of_others)
{
    hd_loader *l = loader_over(4, window, NULL, 2, NULL),
              *m = loader_over(4, clears, NULL, 2, NULL);
    hd_error_set(HD_USER, "older");
    ck_assert(hd_loader_next_list(l, NULL));
    ck_error(HD_USER, "older");
    ck_assert(hd_loader_next(m, NULL, NULL));
    ck_no_error();
    hd_loader_free(l);
    hd_loader_free(m);
}
END_TEST

/* ---------------------------------------------------------------- arguments */

static hd_list *padded(hd_list *item)
{
    return hd_collate_pad((hd_list *[]){hd_list_of(hd_arange(0, 3, 1)), item}, 2, NULL);
}

#define SECOND                                                                                     \
    "one int64, the length of the prompt, or bool (3,), true where a token counts in the loss"

START_TEST(refuses_items)
{
    hd_tensor *ids = hd_arange(0, 3, 1); /* (3,) */
    ck_assert_ptr_null(padded(hd_list_n(0, NULL)));
    ck_error(HD_VALUE, "hd_collate_pad: items[1] has 0 tensors: expected 1 or 2: the ids of a "
                       "text, and optionally the length of its prompt or a bool for each token");
    ck_assert_ptr_null(padded(hd_list_of(ids, number(1), number(2))));
    ck_error(HD_VALUE, "hd_collate_pad: items[1] has 3 tensors: expected 1 or 2: the ids of a "
                       "text, and optionally the length of its prompt or a bool for each token");
    ck_assert_ptr_null(padded(hd_list_of(hd_zeros(HD_FLOAT32, 3))));
    ck_error(HD_DTYPE, "hd_collate_pad: items[1][0] is float32 (3,): expected int64 (n,)");
    ck_assert_ptr_null(padded(hd_list_of(hd_zeros(HD_INT64, 1, 3))));
    ck_error(HD_SHAPE, "hd_collate_pad: items[1][0] is int64 (1, 3): expected int64 (n,)");
    ck_assert_ptr_null(padded(hd_list_of(ids, hd_zeros(HD_FLOAT32, 3))));
    ck_error(HD_DTYPE, "hd_collate_pad: items[1][1] is float32 (3,): expected " SECOND);
    ck_assert_ptr_null(padded(hd_list_of(ids, hd_zeros(HD_INT64, 3))));
    ck_error(HD_SHAPE, "hd_collate_pad: items[1][1] is int64 (3,): expected " SECOND);
    ck_assert_ptr_null(padded(hd_list_of(ids, hd_zeros(HD_BOOL, 1))));
    ck_error(HD_SHAPE, "hd_collate_pad: items[1][1] is bool (1,): expected " SECOND);
    ck_assert_ptr_null(padded(hd_list_of(ids, hd_zeros(HD_BOOL, 1, 3))));
    ck_error(HD_SHAPE, "hd_collate_pad: items[1][1] is bool (1, 3): expected " SECOND);
    ck_assert_ptr_null(padded(hd_list_of(hd_zeros(HD_BOOL, 3))));
    ck_error(HD_DTYPE, "hd_collate_pad: items[1][0] is bool (3,): expected int64 (n,)");
    ck_assert_ptr_null(padded(hd_list_of(ids, number(4))));
    ck_error(HD_VALUE,
             "hd_collate_pad: items[1][1], the length of the prompt, is 4: expected 0 to 3");
    ck_assert_ptr_null(padded(hd_list_of(ids, number(-1))));
    ck_error(HD_VALUE,
             "hd_collate_pad: items[1][1], the length of the prompt, is -1: expected 0 to 3");
    ck_assert_ptr_null(padded(hd_list_of(ids, HD_NONE)));
    ck_error(HD_NULL_ARG, "hd_collate_pad: items[1][1] is HD_NONE: expected a tensor");
    ck_assert_ptr_null(padded(NULL));
    ck_error(HD_NULL_ARG, "hd_collate_pad: items[1] is NULL");
    ck_assert_ptr_nonnull(padded(hd_list_of(ids, number(3))));
}
END_TEST

START_TEST(refuses_options)
{
    hd_collate_pad_options o = hd_collate_pad_defaults();
    hd_list *item = hd_list_of(hd_arange(0, 3, 1));
    ck_assert_ptr_null(hd_collate_pad(NULL, 1, &o));
    ck_error(HD_NULL_ARG, "hd_collate_pad: items is NULL");
    ck_assert_ptr_null(hd_collate_pad(&item, 0, &o));
    ck_error(HD_VALUE,
             "hd_collate_pad: n 0, allowed_max_length 0: expected n >= 1, allowed_max_length >= 0");
    o.allowed_max_length = -1;
    ck_assert_ptr_null(hd_collate_pad(&item, 1, &o));
    ck_error(
        HD_VALUE,
        "hd_collate_pad: n 1, allowed_max_length -1: expected n >= 1, allowed_max_length >= 0");
    o = (hd_collate_pad_options){0};
    ck_assert_ptr_null(hd_collate_pad(&item, 1, &o));
    ck_error(HD_VALUE,
             sized("hd_collate_pad: o->size 0: expected %zu, as hd_collate_pad_defaults() gives",
                   sizeof o));
    ck_assert(!hd_loader_next_list(NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_loader_next_list: l is NULL");
}
END_TEST

Suite *suite_own(void)
{
    const TTest *const tests[] = {
        refuses_the_state_of_windows,
        stacks_each_tensor_of_an_item,
        an_item_of_its_own,
        releases_once,
        a_collate_makes_the_batch,
        pads_as_the_book,
        pads_strided_ids,
        get_closes_a_scope_around,
        get_or_collate_frees_the_loader,
        goes_on_after_a_failure,
        errors_of_others,
        refuses_items,
        refuses_options,
    };
    Suite *s = SUITE_OF("own", tests);
    suite_add_loop(s, order_and_draws_are_those_of_windows, 32);
    suite_add_loop(s, resumes_at_every_position, 32);
    suite_add_loop(s, errors_travel, sizeof bad / sizeof bad[0]);
    return s;
}
