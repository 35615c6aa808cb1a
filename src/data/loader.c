/* loader.c - makes batches from a dataset. It draws the same random numbers as
 * torch.utils.data.DataLoader, in the same order.
 *
 * An epoch begins with one draw of hd_generator_random64, which is the base seed of PyTorch's
 * workers. With shuffle, the first batch draws the order. At the end of an epoch, PyTorch's sampler
 * draws a second randperm and does not use it. heed makes this draw, too, if the options have a
 * generator, because only then the draw changes later numbers. The call that returns the last batch
 * makes the draw if that batch is short; otherwise the call after it does.
 *
 * A loader with num_replicas distributes the order of each epoch over the ranks, as
 * DistributedSampler does. The seed and the epoch determine the order. There is one exception: an
 * epoch that a loader without num_replicas began has the order that was saved with that loader's
 * state. */
#include <inttypes.h>

#include "base/random/generator.h"
#include "data/dataset.h"
#include "data/tokens.h"
#include "tensor/copy.h"
#include "tensor/dict.h"
#include "tensor/list.h"

struct hd_loader {
    hd_dataset *s; /* the dataset; the loader holds a reference to it */
    hd_loader_options o;
    int64_t ranks; /* the number of ranks: num_replicas, or 1 if num_replicas is 0 */
    /* the number of this rank's items in an epoch; the last one may repeat an earlier item, so that
     * all ranks have equally many */
    int64_t items;
    int64_t epoch;  /* the number of epochs that have begun */
    int64_t batch;  /* the number of batches of this epoch so far */
    bool under_way; /* true if an epoch has begun and has not ended */
    bool own_order; /* true without num_replicas: no seed gives the order of an epoch */
    int64_t *order; /* with shuffle: the order of the s->len items in this epoch; else NULL */
};

/* ---------------------------------------------------------------- making a loader */

hd_loader_options hd_loader_defaults(void)
{
    return (hd_loader_options){.size = sizeof(hd_loader_options), .batch_size = 1};
}

/* Returns false with HD_VALUE if num_replicas, rank or generator is wrong, or if batch_size times
 * num_replicas overflows. */
static bool replicas_ok(const hd_loader_options *o)
{
    int64_t n = o->num_replicas, most = n > 0 ? n - 1 : 0, together;
    if (n < 0) {
        return hd_fail(HD_VALUE, "num_replicas %" PRId64 ": expected 0 or more", n);
    }
    if (o->rank < 0 || o->rank > most) {
        return hd_fail(HD_VALUE,
                       "rank %" PRId64 " with num_replicas %" PRId64 ": expected 0 to %" PRId64,
                       o->rank, n, most);
    }
    if (n > 0 && o->generator) {
        return hd_fail(HD_VALUE,
                       "generator is not NULL and num_replicas is %" PRId64
                       ": expected NULL, because the order follows from seed",
                       n);
    }
    return !__builtin_mul_overflow(o->batch_size, n, &together) ||
           hd_fail(HD_VALUE,
                   "batch_size %" PRId64 " with num_replicas %" PRId64
                   ": expected a product of at most %" PRId64,
                   o->batch_size, n, INT64_MAX);
}

/* Sets the error HD_VALUE, because s has no items to shuffle. Returns false. */
static bool nothing_to_shuffle(const hd_dataset *s)
{
    if (s->tokens && !s->whole) {
        return hd_fail(HD_VALUE,
                       "shuffle of 0 windows: %" PRId64
                       " tokens are too few for a window of max_length %" PRId64
                       " and its target. Use a longer text or a smaller max_length",
                       s->tokens->len, s->max_length);
    }
    return hd_fail(HD_VALUE,
                   "shuffle of a dataset of 0 items: expected 1 or more. Leave shuffle false "
                   "for an empty dataset");
}

static bool loader_options_ok(const hd_dataset *s, const hd_loader_options *o)
{
    if (!HD__SIZE_OK(o, "hd_loader_defaults()")) {
        return false;
    }
    if (o->batch_size < 1) {
        return hd_fail(HD_VALUE, "batch_size %" PRId64 ": expected 1 or more", o->batch_size);
    }
    if (!replicas_ok(o)) {
        return false;
    }
    return !o->shuffle || s->len > 0 || o->num_replicas > 0 || nothing_to_shuffle(s);
}

hd_loader *hd_loader_new(const hd_dataset *s, const hd_loader_options *options)
{
    HD__CALL("hd_loader_new");
    hd_loader_options o = options ? *options : hd_loader_defaults();
    if (!hd__data_dataset_given(s) || !loader_options_ok(s, &o)) {
        return NULL;
    }
    hd_loader *l = hd__object_new(HD__LOADER, sizeof *l);
    int64_t *order = l && o.shuffle ? hd__arg_alloc_items(s->len, sizeof *order) : NULL;
    if (!l || (o.shuffle && !order)) {
        hd_free(l);
        return NULL;
    }
    l->s = hd__data_dataset_hold(s);
    l->o = o;
    l->order = order;
    l->ranks = o.num_replicas > 0 ? o.num_replicas : 1;
    l->items = s->len / l->ranks + (!o.drop_last && s->len % l->ranks != 0);
    return l;
}

void hd_loader_free(hd_loader *l)
{
    HD__CALL("hd_loader_free");
    if (hd__object_may_free("l", l, HD_NONE)) {
        hd__data_dataset_drop(l->s);
        hd_free(l->order);
        hd__mem_retire_object(l, hd__call_kept());
    }
}

/* ---------------------------------------------------------------- draws */

/* Makes a generator whose seed is the loader's seed plus the number of the epoch, counted from 0.
 * With num_replicas this generator draws the order of this epoch, the same on all ranks. The sum
 * may wrap, because a generator uses only the low 32 bits. The caller frees the generator. Returns
 * NULL with an error if memory runs out. */
static hd_generator *generator_of_epoch(const hd_loader *l, int64_t epoch)
{
    return hd_generator_new((int64_t)((uint64_t)l->o.seed + (uint64_t)epoch));
}

/* Draws the numbers with which an epoch begins. g is the generator of the options, or the thread's
 * generator if they have none. First draws the epoch's random64 from g. Then, unless `fresh` is
 * NULL or num_replicas is set, seeds `fresh` with a second random64 of g. With shuffle, draws
 * l->order last, from `fresh`, or from g if `fresh` is NULL. */
static void draw_epoch(hd_loader *l, hd_generator *fresh)
{
    hd_generator *g = l->o.generator ? l->o.generator : hd_generator_current();
    hd_generator_random64(g);
    if (fresh && !l->o.num_replicas) {
        hd__gen_seed(fresh, (int64_t)(hd_generator_random64(g) & INT64_MAX));
    }
    if (l->o.shuffle) {
        hd__rng_randperm(fresh ? fresh : g, l->order, l->s->len);
    }
}

/* If the options have a generator, draws the unused randperm at the end of an epoch, as PyTorch's
 * sampler does. This overwrites l->order, which is no longer needed. */
static void draw_at_end(hd_loader *l)
{
    if (l->o.generator && l->o.shuffle) {
        hd__rng_randperm(l->o.generator, l->order, l->s->len);
    }
}

/* ---------------------------------------------------------------- batches */

/* Begins an epoch and draws its order. If memory runs out, draws nothing and returns false with an
 * error. */
static bool begin_epoch(hd_loader *l)
{
    hd_generator *fresh = NULL;
    if (l->o.shuffle && !l->o.generator && !(fresh = generator_of_epoch(l, l->epoch))) {
        return false;
    }
    draw_epoch(l, fresh);
    hd_generator_free(fresh);
    l->own_order = !l->o.num_replicas;
    l->under_way = true;
    l->batch = 0;
    l->epoch++;
    return true;
}

/* Returns the number of items in the batch with this number, counted from 0. Returns 0 at the end
 * of the epoch. */
static int64_t size_of_batch(const hd_loader *l, int64_t batch)
{
    int64_t left = l->items - batch * l->o.batch_size;
    return left >= l->o.batch_size ? l->o.batch_size : l->o.drop_last || left < 0 ? 0 : left;
}

/* Returns the number that item i of the next batch has in the dataset. If the order has too few
 * items for all ranks, its first items follow its last one. */
static int64_t item_at(const hd_loader *l, int64_t i)
{
    int64_t first = l->batch * l->o.batch_size * l->ranks + l->o.rank;
    int64_t at = (first + i * l->ranks) % l->s->len;
    return l->order ? l->order[at] : at;
}

static hd_list *call_collate(const hd_loader *l, hd_list *const *items, int64_t n)
{
    HD__CALLS_BACK;
    return l->o.collate(items, n, l->o.collate_user);
}

static hd_list *collated(const hd_loader *l, hd_list *const *items, int64_t n)
{
    if (!l->o.collate) {
        return hd__data_stack_items(items, n);
    }
    hd__data_visit v = hd__data_visit_begin();
    return hd__data_visit_gave(&v, "collate", call_collate(l, items, n));
}

/* Returns the next batch, of n items. Calls the dataset's get for each item, then collate. Returns
 * NULL with an error if get or collate fails, or memory runs out. Does not change l. */
static hd_list *gather_batch(const hd_loader *l, int64_t n)
{
    hd_list **items = hd__arg_alloc_items(n, sizeof *items);
    int64_t got = 0;
    while (items && got < n && hd__object("l", l) &&
           (items[got] = hd__data_dataset_item(l->s, item_at(l, got)))) {
        got++;
    }
    hd_list *batch = items && got == n && hd__object("l", l) ? collated(l, items, n) : NULL;
    hd_free(items);
    /* get or collate may have freed l, which is an error */
    return hd__object("l", l) ? batch : NULL;
}

/* Returns the next batch, in the scope that the caller has opened for it. At the end of an epoch,
 * returns NULL without an error. On failure, returns NULL with an error; with `pair`, it is a
 * failure if the batch does not have two tensors. The memory of windows is allocated before
 * anything is drawn. */
static hd_list *next(hd_loader *l, bool pair)
{
    if (!hd__object("l", l) ||
        (l->o.generator && !hd__object("the generator of l", l->o.generator))) {
        return NULL;
    }
    int64_t n = size_of_batch(l, l->under_way ? l->batch : 0);
    bool windows = n > 0 && !l->s->get && !l->o.collate;
    hd_list *b = windows ? hd__data_windows_empty(l->s, 2, n) : NULL;
    if ((windows && !b) || (!l->under_way && !begin_epoch(l))) {
        return NULL;
    }
    for (int64_t i = 0; windows && i < n; i++) {
        hd__data_windows_fill(b, i, l->s, item_at(l, i));
    }
    b = n > 0 && !windows ? gather_batch(l, n) : b;
    if (n > 0 && (!b || (pair && !hd__data_is_pair("a batch", b)))) {
        return NULL;
    }
    if (n > 0 ? n < l->o.batch_size : l->o.drop_last || l->s->len % l->o.batch_size == 0) {
        draw_at_end(l);
    }
    l->batch += n > 0;
    l->under_way = n > 0;
    return b;
}

bool hd_loader_next(hd_loader *l, hd_tensor **input, hd_tensor **target)
{
    HD__CALL("hd_loader_next");
    HD__SCOPE_OR(false);
    hd_list *b = next(l, true);
    if (b) {
        hd__data_pair_give(b, input, target);
    }
    return b;
}

bool hd_loader_next_list(hd_loader *l, hd_list **batch)
{
    HD__CALL("hd_loader_next_list");
    HD__SCOPE_OR(false);
    hd_list *b = hd__tensor_list_return(next(l, false));
    if (b && batch) {
        *batch = b;
    }
    return b;
}

bool hd_loader_restart(hd_loader *l)
{
    HD__CALL("hd_loader_restart");
    if (!hd__object("l", l)) {
        return false;
    }
    l->under_way = false;
    return true;
}

int64_t hd_loader_len(const hd_loader *l)
{
    HD__CALL("hd_loader_len");
    bool ok = hd__object("l", l);
    return ok ? l->items / l->o.batch_size + (!l->o.drop_last && l->items % l->o.batch_size) : -1;
}

int64_t hd_loader_epoch(const hd_loader *l)
{
    HD__CALL("hd_loader_epoch");
    return hd__object("l", l) ? l->epoch : -1;
}

int64_t hd_loader_batch(const hd_loader *l)
{
    HD__CALL("hd_loader_batch");
    return hd__object("l", l) ? l->batch : -1;
}

/* ---------------------------------------------------------------- saved state */

enum { FIXED = 6, NUMBERS = 9 };

/* The names of the numbers in a saved state. A loader can load the state only if its first FIXED
 * numbers are equal to those of the state. batch_size is the sum over all ranks, so the number of
 * ranks may differ. */
static const char *const names[NUMBERS] = {"len",        "max_length", "stride",
                                           "batch_size", "shuffle",    "drop_last",
                                           "epoch",      "batch",      "under_way"};

/* Sets numbers[] to the values of l, in the order of `names`. */
static void numbers_of(const hd_loader *l, int64_t numbers[NUMBERS])
{
    const int64_t v[NUMBERS] = {
        l->s->len,    l->s->max_length, l->s->stride, l->o.batch_size * l->ranks,
        l->o.shuffle, l->o.drop_last,   l->epoch,     l->batch,
        l->under_way};
    memcpy(numbers, v, sizeof v);
}

/* Sets d's entry "seed" if num_replicas is set, and d's entry "order" during a shuffled epoch whose
 * order the seed does not determine. Removes an entry that it does not set, because d may have it
 * from an older state. Returns false with an error if memory runs out. */
static bool write_order(const hd_loader *l, hd_dict *d, const char *prefix)
{
    const char *seed = hd__dict_field(prefix, "seed"), *order = hd__dict_field(prefix, "order");
    if (!seed || !order ||
        !(l->o.num_replicas ? hd_dict_set_int(d, seed, l->o.seed)
                            : hd__dict_set_removed(d, seed))) {
        return false;
    }
    return l->under_way && l->o.shuffle && l->own_order
               ? hd_dict_set(d, order, hd_from_data(HD_INT64, l->order, l->s->len))
               : hd__dict_set_removed(d, order);
}

static bool loader_write(const void *object, hd_dict *d, const char *prefix)
{
    const hd_loader *l = object;
    int64_t numbers[NUMBERS];
    numbers_of(l, numbers);
    for (int i = 0; i < NUMBERS; i++) {
        if (!hd_dict_set_int(d, hd__dict_field(prefix, names[i]), numbers[i])) {
            return false;
        }
    }
    return write_order(l, d, prefix);
}

bool hd_loader_save(const hd_loader *l, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_loader_save");
    return hd__tensor_state_save("l", l, d, prefix, loader_write);
}

/* Returns false with an error unless d has an integer prefix.field that equals `here`, this
 * loader's value. */
static bool is_as_here(const hd_loader *l, const hd_dict *d, const char *prefix, const char *field,
                       int64_t here)
{
    const char *name = hd__dict_field(prefix, field);
    const bool is_sum = l->o.num_replicas && strcmp(field, "batch_size") == 0;
    int64_t v;
    return hd_dict_get_int(d, name, &v) &&
           (v == here ||
            hd_fail(HD_VALUE, "'%s' is %" PRId64 ": expected %" PRId64 ", as in this loader%s",
                    name, v, here, is_sum ? " (all ranks together)" : ""));
}

/* Returns true if order, which has n numbers, has each of 0 to n - 1 once. `seen` is scratch
 * memory: n bytes that are 0 before the call. */
static bool is_permutation(const int64_t *order, int64_t n, unsigned char *seen)
{
    int64_t i = 0;
    while (i < n && order[i] >= 0 && order[i] < n && !seen[order[i]]) {
        seen[order[i++]] = 1;
    }
    return i == n;
}

/* Sets *has to true if d has the entry prefix.field, and to false otherwise. Returns false with an
 * error if memory runs out. */
static bool look_for(const hd_dict *d, const char *prefix, const char *field, bool *has)
{
    const char *name = hd__dict_field(prefix, field);
    *has = hd_dict_kind_of(d, name) != HD_DICT_MISSING;
    return name;
}

/* Returns false with an error unless the state is from a loader with l's dataset and options.
 * `seeded` is true if the state has a seed, which only a loader with num_replicas saves. Then l
 * must have num_replicas and the same seed. */
static bool fits_here(const hd_loader *l, const hd_dict *d, const char *prefix, bool seeded)
{
    int64_t numbers[NUMBERS];
    numbers_of(l, numbers);
    for (int i = 0; i < FIXED; i++) {
        if (!is_as_here(l, d, prefix, names[i], numbers[i])) {
            return false;
        }
    }
    if (seeded && !l->o.num_replicas) {
        return hd_fail(
            HD_VALUE,
            "'%s' is from a loader with num_replicas: expected num_replicas 1 or more here, too",
            hd__dict_field(prefix, "seed"));
    }
    return !seeded || is_as_here(l, d, prefix, "seed", l->o.seed);
}

/* Sets l->order to the order that the seed determines for this epoch, counted from 0. Returns false
 * with an error if memory runs out. */
static bool order_from_seed(hd_loader *l, int64_t epoch)
{
    hd_generator *g = generator_of_epoch(l, epoch);
    if (!g) {
        return false;
    }
    hd__rng_randperm(g, l->order, l->s->len);
    hd_generator_free(g);
    l->own_order = false;
    return true;
}

/* Sets l->order to the saved order. Returns false with an error if d does not have one, or if it is
 * not a permutation of l's items. */
static bool order_from_state(hd_loader *l, const hd_dict *d, const char *prefix)
{
    const int64_t n = l->s->len;
    const char *name = hd__dict_field(prefix, "order");
    hd_tensor *order = hd_dict_get(d, name); /* (n,) */
    order = order ? hd__tensor_contiguous(order) : NULL;
    unsigned char *seen = order ? hd__mem_alloc_zeroed((size_t)n) : NULL;
    if (!seen) {
        return false;
    }
    bool ok = order->dtype == HD_INT64 && order->ndim == 1 && order->numel == n &&
              is_permutation(hd__tensor_ptr(order), n, seen);
    hd_free(seen);
    if (!ok) {
        return hd_fail(HD_VALUE,
                       "'%s' is no permutation of the items: expected int64 (%" PRId64
                       ",), each of 0 to %" PRId64 " once",
                       name, n, n - 1);
    }
    memcpy(l->order, hd__tensor_ptr(order), (size_t)n * sizeof *l->order);
    l->own_order = true;
    return true;
}

bool hd_loader_load(hd_loader *l, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_loader_load");
    HD__SCOPE_OR(false);
    int64_t epoch, batch, under_way;
    bool seeded, ordered;
    if (!hd__tensor_state_given("l", l, d, prefix) || !look_for(d, prefix, "seed", &seeded) ||
        !look_for(d, prefix, "order", &ordered) || !fits_here(l, d, prefix, seeded) ||
        !hd__dict_int_within(d, hd__dict_field(prefix, "epoch"), 0, HD__MOST_SAVED, &epoch) ||
        !hd__dict_int_within(d, hd__dict_field(prefix, "batch"), 0, hd_loader_len(l), &batch) ||
        !hd__dict_int_within(d, hd__dict_field(prefix, "under_way"), 0, 1, &under_way)) {
        return false;
    }
    if (under_way && l->o.shuffle &&
        !(seeded && !ordered ? order_from_seed(l, epoch - 1) : order_from_state(l, d, prefix))) {
        return false;
    }
    l->epoch = epoch;
    l->batch = batch;
    l->under_way = under_way;
    return true;
}
