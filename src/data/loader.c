/* loader.c - batches of a dataset. It draws from the generator what torch.utils.data.DataLoader
 * draws, and at the same moments.
 *
 * An epoch begins with one random64, which PyTorch draws as the base seed of its workers. With
 * shuffle, the first batch draws the order. PyTorch's sampler draws a second randperm, and does not
 * use it, when it is asked for an item after the last one: by a last batch that is short, or by the
 * call that finds the end. That draw changes what follows only if the loader has a generator of its
 * own. */
#include <inttypes.h>

#include "data/data_internal.h"

struct hd_loader {
    hd_dataset *s; /* held */
    hd_loader_options o;
    int64_t epoch;  /* epochs begun */
    int64_t batch;  /* batches taken from this one */
    bool under_way; /* an epoch has begun and has not ended */
    int64_t *order; /* with shuffle: the order of the s->len items in the epoch under way */
};

/* ---------------------------------------------------------------- making */

hd_loader_options hd_loader_defaults(void)
{
    return (hd_loader_options){.size = sizeof(hd_loader_options), .batch_size = 1};
}

static bool loader_options_ok(const hd_dataset *s, const hd_loader_options *o)
{
    if (!HD__SIZE_OK("hd_loader_new", o, "hd_loader_defaults()")) {
        return false;
    }
    if (o->batch_size < 1) {
        return hd_error_set(HD_VALUE, "hd_loader_new: batch_size %" PRId64 ": expected 1 or more",
                            o->batch_size);
    }
    return !o->shuffle || s->len > 0 ||
           hd_error_set(HD_VALUE, "hd_loader_new: shuffle of 0 items: expected 1 or more");
}

hd_loader *hd_loader_new(const hd_dataset *s, const hd_loader_options *options)
{
    hd_loader_options o = options ? *options : hd_loader_defaults();
    if (!hd__dataset_given("hd_loader_new", s) || !loader_options_ok(s, &o)) {
        return NULL;
    }
    hd_loader *l = hd__alloc_zeroed(sizeof *l);
    int64_t *order = l && o.shuffle ? hd__alloc_items(s->len, sizeof *order) : NULL;
    if (!l || (o.shuffle && !order)) {
        hd_free(l);
        return NULL;
    }
    l->s = hd__dataset_hold(s);
    l->o = o;
    l->order = order;
    return l;
}

void hd_loader_free(hd_loader *l)
{
    if (hd__may_free("hd_loader_free", "l", l, HD_NONE)) {
        hd__dataset_drop(l->s);
        hd_free(l->order);
        hd__retire_object(l, "hd_loader_free");
    }
}

/* ---------------------------------------------------------------- draws */

static void permute(hd_generator *g, int64_t *order, int64_t n)
{
    hd__gen_lock(g);
    hd__randperm(g, order, n);
    hd__gen_unlock(g);
}

/* Draws what an epoch begins with, and its order from the loader's own generator. Without one, it
 * draws a seed, and then the order from `fresh`, which gets that seed. */
static void draw_epoch(hd_loader *l, hd_generator *fresh)
{
    hd_generator *g = l->o.generator ? l->o.generator : hd_generator_current();
    hd_generator_random64(g);
    if (fresh) {
        hd__gen_seed(fresh, (int64_t)(hd_generator_random64(g) & INT64_MAX));
    }
    if (l->o.shuffle) {
        permute(fresh ? fresh : g, l->order, l->s->len);
    }
}

/* Draws what PyTorch's sampler draws when it is asked for more items than there are. The order is
 * not needed any more. */
static void draw_at_end(hd_loader *l)
{
    if (l->o.generator && l->o.shuffle) {
        permute(l->o.generator, l->order, l->s->len);
    }
}

/* ---------------------------------------------------------------- batches */

/* Memory comes first: if it runs out, nothing was drawn. */
static bool begin_epoch(hd_loader *l)
{
    hd_generator *fresh = NULL;
    if (l->o.shuffle && !l->o.generator && !(fresh = hd_generator_new(0))) {
        return false;
    }
    draw_epoch(l, fresh);
    hd_generator_free(fresh);
    l->under_way = true;
    l->batch = 0;
    l->epoch++;
    return true;
}

/* The number of items in the batch with this number; 0 at the end of the epoch. */
static int64_t size_of_batch(const hd_loader *l, int64_t batch)
{
    int64_t left = l->s->len - batch * l->o.batch_size;
    return left >= l->o.batch_size ? l->o.batch_size : l->o.drop_last || left < 0 ? 0 : left;
}

bool hd_loader_next(hd_loader *l, hd_tensor **input, hd_tensor **target)
{
    hd__batch b;
    if (!hd__object("hd_loader_next", "l", l) ||
        (l->o.generator && !hd__object("hd_loader_next", "the generator of l", l->o.generator))) {
        return false;
    }
    int64_t n = size_of_batch(l, l->under_way ? l->batch : 0);
    if ((n > 0 && !hd__batch_new("hd_loader_next", l->s, n, &b)) ||
        (!l->under_way && !begin_epoch(l))) {
        return false;
    }
    if (n > 0) {
        int64_t at = l->batch * l->o.batch_size;
        hd__batch_fill(&b, l->s, at, l->o.shuffle ? l->order + at : NULL);
        hd__batch_give(&b, input, target);
    }
    if (n > 0 ? n < l->o.batch_size : l->o.drop_last || l->s->len % l->o.batch_size == 0) {
        draw_at_end(l);
    }
    l->batch += n > 0;
    l->under_way = n > 0;
    return n > 0;
}

bool hd_loader_restart(hd_loader *l)
{
    if (!hd__object("hd_loader_restart", "l", l)) {
        return false;
    }
    l->under_way = false;
    return true;
}

int64_t hd_loader_len(const hd_loader *l)
{
    if (!hd__object("hd_loader_len", "l", l)) {
        return -1;
    }
    return l->s->len / l->o.batch_size + (!l->o.drop_last && l->s->len % l->o.batch_size != 0);
}

int64_t hd_loader_epoch(const hd_loader *l)
{
    return hd__object("hd_loader_epoch", "l", l) ? l->epoch : -1;
}

int64_t hd_loader_batch(const hd_loader *l)
{
    return hd__object("hd_loader_batch", "l", l) ? l->batch : -1;
}

/* ---------------------------------------------------------------- saved state */

enum { FIXED = 6 };

/* What must be the same in the loader that saved and in the one that loads. */
static const char *const fixed[FIXED] = {"len",        "max_length", "stride",
                                         "batch_size", "shuffle",    "drop_last"};

/* The values of l in the order of `fixed`. */
static void fixed_values(const hd_loader *l, int64_t values[FIXED])
{
    const int64_t v[FIXED] = {l->s->len,       l->s->max_length, l->s->stride,
                              l->o.batch_size, l->o.shuffle,     l->o.drop_last};
    memcpy(values, v, sizeof v);
}

static bool loader_write(const hd_loader *l, hd_dict *d, const char *prefix)
{
    int64_t values[FIXED];
    fixed_values(l, values);
    for (int i = 0; i < FIXED; i++) {
        if (!hd_dict_set_int(d, hd__field(prefix, fixed[i]), values[i])) {
            return false;
        }
    }
    return hd_dict_set_int(d, hd__field(prefix, "epoch"), l->epoch) &&
           hd_dict_set_int(d, hd__field(prefix, "batch"), l->batch) &&
           hd_dict_set_int(d, hd__field(prefix, "under_way"), l->under_way) &&
           (!l->under_way || !l->o.shuffle ||
            hd_dict_set(d, hd__field(prefix, "order"),
                        hd_from_data(HD_INT64, l->order, l->s->len)));
}

bool hd_loader_save(const hd_loader *l, hd_dict *d, const char *prefix)
{
    if (!hd__state_given("hd_loader_save", "l", l, d, prefix) || !hd__may_save("hd_loader_save")) {
        return false;
    }
    HD__SCOPE_OR(false);
    hd_dict *fresh = hd_dict_new();
    return hd__dict_commit(d, fresh, fresh && loader_write(l, fresh, prefix));
}

/* Is the integer prefix.field what this loader has? */
static bool is_as_here(const hd_dict *d, const char *prefix, const char *field, int64_t here)
{
    const char *name = hd__field(prefix, field);
    int64_t v;
    return hd_dict_get_int(d, name, &v) &&
           (v == here || hd_error_set(HD_VALUE,
                                      "hd_loader_load: '%s' is %" PRId64 ": expected %" PRId64
                                      ", as in this loader",
                                      name, v, here));
}

static bool loader_read_int(const hd_dict *d, const char *prefix, const char *field, int64_t max,
                            int64_t *v)
{
    return hd__int_within("hd_loader_load", d, hd__field(prefix, field), 0, max, v);
}

/* seen: n bytes of 0. */
static bool is_permutation(const int64_t *order, int64_t n, unsigned char *seen)
{
    int64_t i = 0;
    while (i < n && order[i] >= 0 && order[i] < n && !seen[order[i]]) {
        seen[order[i++]] = 1;
    }
    return i == n;
}

/* The saved order, after all checks; NULL if it is wrong. */
static const int64_t *read_order(const hd_dict *d, const char *prefix, int64_t n)
{
    const char *name = hd__field(prefix, "order");
    hd_tensor *order = hd_dict_get(d, name); /* (n,) */
    if (!order) {
        return NULL;
    }
    order = hd__contiguous(order);
    unsigned char *seen = order ? hd__alloc_zeroed((size_t)n) : NULL;
    if (!seen) {
        return NULL;
    }
    bool ok = order->dtype == HD_INT64 && order->ndim == 1 && order->numel == n &&
              is_permutation(hd__ptr(order), n, seen);
    hd_free(seen);
    if (!ok) {
        return hd_error_set(HD_VALUE,
                            "hd_loader_load: '%s': expected int64 (%" PRId64
                            ",), each of 0 to %" PRId64 " once",
                            name, n, n - 1);
    }
    return hd__ptr(order);
}

bool hd_loader_load(hd_loader *l, const hd_dict *d, const char *prefix)
{
    HD__SCOPE_OR(false);
    HD__READS("hd_loader_load");
    int64_t values[FIXED], epoch, batch, under_way;
    const int64_t *order = NULL;
    if (!hd__state_given("hd_loader_load", "l", l, d, prefix)) {
        return false;
    }
    fixed_values(l, values);
    for (int i = 0; i < FIXED; i++) {
        if (!is_as_here(d, prefix, fixed[i], values[i])) {
            return false;
        }
    }
    if (!loader_read_int(d, prefix, "epoch", HD__MOST_SAVED, &epoch) ||
        !loader_read_int(d, prefix, "batch", hd_loader_len(l), &batch) ||
        !loader_read_int(d, prefix, "under_way", 1, &under_way)) {
        return false;
    }
    if (under_way && l->o.shuffle) {
        order = read_order(d, prefix, l->s->len);
        if (!order) {
            return false;
        }
        memcpy(l->order, order, (size_t)l->s->len * sizeof *order);
    }
    l->epoch = epoch;
    l->batch = batch;
    l->under_way = under_way;
    return true;
}
