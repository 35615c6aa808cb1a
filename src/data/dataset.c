/* dataset.c - datasets: sliding windows over tokens, the program's own datasets, and random parts
 * of either.
 *
 * Window k begins at token k * stride. A part of a dataset has a list of item numbers of the whole
 * dataset. The list of a part of a part also has item numbers of the whole dataset, so finding an
 * item takes one step. */
#include <inttypes.h>

#include "base/memory/refs.h"
#include "base/random/generator.h"
#include "data/dataset.h"
#include "data/tokens.h"
#include "tensor/lifecycle.h"
#include "tensor/list.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- life */

static hd_dataset *dataset_new(int64_t len)
{
    hd_dataset *s = hd__object_new(HD__DATASET, sizeof *s);
    if (s) {
        atomic_init(&s->refs, 1);
        s->len = len;
    }
    return s;
}

/* Makes a part of s with len items. The caller then sets the numbers of the items, in `order`.
 * Returns NULL with an error if memory runs out. */
static hd_dataset *part_new(const hd_dataset *s, int64_t len)
{
    hd_dataset *part = dataset_new(len);
    int64_t *order = part ? hd__arg_alloc_items(len, sizeof *order) : NULL;
    if (!order) {
        hd_free(part);
        return NULL;
    }
    part->whole = hd__data_dataset_hold(s->whole ? s->whole : s);
    part->order = order;
    part->get = s->get;
    part->user = s->user;
    part->tokens = s->tokens;
    part->max_length = s->max_length;
    part->stride = s->stride;
    return part;
}

hd_dataset *hd_windows_new(const hd_tokens *t, int64_t max_length, int64_t stride)
{
    HD__CALL("hd_windows_new");
    if (!hd__data_tokens_given(t)) {
        return NULL;
    }
    if (max_length < 1 || stride < 1) {
        return hd_fail(HD_VALUE, "max_length %" PRId64 ", stride %" PRId64 ": expected 1 or more",
                       max_length, stride);
    }
    /* the dataset has as many items as Python's range(0, t->len - max_length, stride) */
    int64_t room = t->len - max_length;
    hd_dataset *s = dataset_new(room > 0 ? (room - 1) / stride + 1 : 0);
    if (s) {
        s->tokens = hd__data_tokens_hold(t);
        s->max_length = max_length;
        s->stride = stride;
    }
    return s;
}

static void release_user(void (*release)(void *user), void *user)
{
    HD__CALLS_BACK;
    if (release) {
        release(user);
    }
}

hd_dataset *hd_dataset_new(int64_t length, hd_list *(*get)(int64_t i, void *user), void *user,
                           void (*release)(void *user))
{
    HD__CALL("hd_dataset_new");
    hd_dataset *s = NULL;
    if (length < 0) {
        hd_fail(HD_VALUE, "length %" PRId64 ": expected 0 or more", length);
    } else if (get || hd__arg_null_arg("get")) {
        s = dataset_new(length);
    }
    if (!s) {
        release_user(release, user);
        return NULL;
    }
    s->get = get;
    s->user = user;
    s->release = release;
    return s;
}

hd_dataset *hd__data_dataset_hold(const hd_dataset *s)
{
    hd_dataset *held = (hd_dataset *)s;
    hd__refs_up(&held->refs);
    return held;
}

void hd__data_dataset_drop(hd_dataset *s)
{
    if (s && hd__refs_down(&s->refs)) {
        if (s->whole) {
            hd__data_dataset_drop(s->whole);
        } else {
            hd__data_tokens_drop(s->tokens);
            release_user(s->release, s->user);
        }
        hd_free(s->order);
        hd__mem_retire_object(s, "hd_dataset_free");
    }
}

void hd_dataset_free(hd_dataset *s)
{
    HD__CALL("hd_dataset_free");
    if (hd__object_may_free("s", s, HD_NONE) && hd__object_given_up("s", &s->freed)) {
        hd__data_dataset_drop(s);
    }
}

bool hd__data_dataset_given(const hd_dataset *s)
{
    return hd__object("s", s) && hd__object_not_given_up("s", &s->freed, "hd_dataset_free");
}

int64_t hd_dataset_len(const hd_dataset *s)
{
    HD__CALL("hd_dataset_len");
    return hd__data_dataset_given(s) ? s->len : -1;
}

/* ---------------------------------------------------------------- items */

hd_list *hd__data_windows_empty(const hd_dataset *s, int ndim, int64_t n)
{
    const int64_t all[] = {n, s->max_length}, *sizes = ndim == 2 ? all : all + 1;
    hd_tensor *input = hd__tensor_empty(HD_INT64, ndim, sizes);
    hd_tensor *target = input ? hd__tensor_empty(HD_INT64, ndim, sizes) : NULL;
    return target ? hd_list_of(input, target) : NULL;
}

/* Returns the number that item `item` of s has in the whole dataset. */
static int64_t number_in_whole(const hd_dataset *s, int64_t item)
{
    return s->order ? s->order[item] : item;
}

void hd__data_windows_fill(const hd_list *b, int64_t row, const hd_dataset *s, int64_t item)
{
    int64_t len = s->max_length, at = number_in_whole(s, item) * s->stride;
    for (int k = 0; k < 2; k++) {
        hd__data_tokens_copy(s->tokens, at + k, len,
                             (int64_t *)hd__tensor_ptr(b->items[k]) + row * len);
    }
}

hd__data_visit hd__data_visit_begin(void)
{
    return (hd__data_visit){hd__scope_top, hd__scope_serial(hd__scope_top),
                            hd__error_uncleared_swap(0)};
}

hd_list *hd__data_visit_gave(const hd__data_visit *v, const char *who, hd_list *l)
{
    uint64_t failures = hd__error_uncleared_swap(0);
    int above = hd__scopes_above(v->scope, v->serial);
    bool ok = failures == 0 && (above == 0 || hd__scopes_wrong(who, above)) &&
              (l || hd_fail(HD_USER, "%s gave NULL without an error: expected a list", who)) &&
              hd__tensor_list_arg(who, l) && hd__tensor_args(who, l->len, l->items, false);
    hd__error_uncleared_swap(v->failures + failures + hd__error_uncleared_swap(0));
    return ok ? l : NULL;
}

static hd_list *call_get(const hd_dataset *s, int64_t number)
{
    HD__CALLS_BACK;
    return s->get(number, s->user);
}

hd_list *hd__data_dataset_item(const hd_dataset *s, int64_t item)
{
    if (!s->get) {
        hd_list *pair = hd__data_windows_empty(s, 1, 1);
        if (pair) {
            hd__data_windows_fill(pair, 0, s, item);
        }
        return pair;
    }
    char who[32];
    hd__data_visit v = hd__data_visit_begin();
    snprintf(who, sizeof who, "get(%" PRId64 ")", number_in_whole(s, item));
    return hd__data_visit_gave(&v, who, call_get(s, number_in_whole(s, item)));
}

bool hd__data_is_pair(const char *what, const hd_list *l)
{
    return l->len == 2 ||
           hd_fail(HD_VALUE, "%s of %" PRId64 " tensors: expected 2, input and target", what,
                   l->len);
}

void hd__data_pair_give(const hd_list *l, hd_tensor **input, hd_tensor **target)
{
    if (input) {
        *input = hd_scope_return(l->items[0]);
    }
    if (target) {
        *target = hd_scope_return(l->items[1]);
    }
}

bool hd_dataset_get(const hd_dataset *s, int64_t i, hd_tensor **input, hd_tensor **target)
{
    HD__CALL("hd_dataset_get");
    HD__SCOPE_OR(false);
    if (!hd__data_dataset_given(s)) {
        return false;
    }
    int64_t at = hd__arg_index(i, s->len, "items");
    hd_list *item = at < 0 ? NULL : hd__data_dataset_item(s, at);
    if (!item || !hd__data_is_pair("an item", item)) {
        return false;
    }
    hd__data_pair_give(item, input, target);
    return true;
}

/* ---------------------------------------------------------------- random parts */

static bool check_lengths(const hd_dataset *s, int n, const int64_t *lengths)
{
    int64_t left = s->len;
    bool ok = n > 0;
    for (int i = 0; i < n && ok; i++) {
        ok = lengths[i] >= 0 && lengths[i] <= left;
        left -= lengths[i];
    }
    return (ok && left == 0) ||
           hd_fail(HD_VALUE, "lengths %s: expected numbers of 0 or more with the sum %" PRId64,
                   HD__SIZES(n, lengths), s->len);
}

/* Makes n parts with these lengths, and sets parts[] to them. If memory runs out, frees the parts
 * that it has made and returns false with an error. */
static bool make_parts(const hd_dataset *s, int n, const int64_t *lengths, hd_dataset **parts)
{
    for (int i = 0; i < n; i++) {
        parts[i] = part_new(s, lengths[i]);
        if (!parts[i]) {
            while (i > 0) {
                hd_dataset_free(parts[--i]);
                parts[i] = NULL;
            }
            return false;
        }
    }
    return true;
}

/* Draws a permutation of the items of s from g, or from the thread's generator if g is NULL. Gives
 * each part its items, in the order of the permutation. `order` is scratch memory for s->len
 * numbers. */
static void draw_parts(const hd_dataset *s, int n, int64_t *order, hd_generator *g,
                       hd_dataset **parts)
{
    hd__rng_randperm(g ? g : hd_generator_current(), order, s->len);
    for (int i = 0; i < n; i++) {
        for (int64_t k = 0; k < parts[i]->len; k++) {
            parts[i]->order[k] = number_in_whole(s, *order++);
        }
    }
}

bool hd_random_split(const hd_dataset *s, int n, const int64_t *lengths, hd_generator *g,
                     hd_dataset **parts)
{
    HD__CALL("hd_random_split");
    if (!hd__data_dataset_given(s) || !hd__arg_given("lengths", lengths) ||
        !hd__arg_given("parts", parts) || (g && !hd__object("g", g)) ||
        !check_lengths(s, n, lengths)) {
        return false;
    }
    int64_t *order = hd__arg_alloc_items(s->len, sizeof *order);
    if (!order) {
        return false;
    }
    bool ok = make_parts(s, n, lengths, parts);
    if (ok) {
        draw_parts(s, n, order, g, parts);
    }
    hd_free(order);
    return ok;
}
