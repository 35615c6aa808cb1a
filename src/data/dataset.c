/* dataset.c - datasets: sliding windows over tokens, and random parts of them.
 *
 * Window k begins at token k * stride. A part of a dataset has a list of window numbers, one for
 * each item. A part of a part also lists windows, so there is never a list of a list. */
#include <inttypes.h>

#include "data/data_internal.h"

/* ---------------------------------------------------------------- life */

/* Holds t. with_order: it has a list of windows, which are not chosen yet. */
static hd_dataset *dataset_new(const hd_tokens *t, int64_t max_length, int64_t stride, int64_t len,
                               bool with_order)
{
    hd_dataset *s = hd__alloc_zeroed(sizeof *s);
    int64_t *order = s && with_order ? hd__alloc_items(len, sizeof *order) : NULL;
    if (!s || (with_order && !order)) {
        hd_free(s);
        return NULL;
    }
    atomic_init(&s->refs, 1);
    s->tokens = hd__tokens_hold(t);
    s->max_length = max_length;
    s->stride = stride;
    s->len = len;
    s->order = order;
    return s;
}

hd_dataset *hd_windows_new(const hd_tokens *t, int64_t max_length, int64_t stride)
{
    HD__CALL("hd_windows_new");
    if (!hd__tokens_given(t)) {
        return NULL;
    }
    if (max_length < 1 || stride < 1) {
        return hd__fail(HD_VALUE, "max_length %" PRId64 ", stride %" PRId64 ": expected 1 or more",
                        max_length, stride);
    }
    /* the length of Python's range(0, t->len - max_length, stride) */
    int64_t room = t->len - max_length;
    return dataset_new(t, max_length, stride, room > 0 ? (room - 1) / stride + 1 : 0, false);
}

hd_dataset *hd__dataset_hold(const hd_dataset *s)
{
    hd_dataset *held = (hd_dataset *)s;
    hd__refs_up(&held->refs);
    return held;
}

void hd__dataset_drop(hd_dataset *s)
{
    if (s && hd__refs_down(&s->refs)) {
        hd__tokens_drop(s->tokens);
        hd_free(s->order);
        hd__retire_object(s, "hd_dataset_free");
    }
}

void hd_dataset_free(hd_dataset *s)
{
    HD__CALL("hd_dataset_free");
    if (hd__may_free("s", s, HD_NONE) && hd__given_up("s", &s->freed)) {
        hd__dataset_drop(s);
    }
}

bool hd__dataset_given(const hd_dataset *s)
{
    return hd__object("s", s) && hd__not_given_up("s", &s->freed, "hd_dataset_free");
}

int64_t hd_dataset_len(const hd_dataset *s)
{
    HD__CALL("hd_dataset_len");
    return hd__dataset_given(s) ? s->len : -1;
}

/* ---------------------------------------------------------------- items */

bool hd__batch_new(const hd_dataset *s, int ndim, int64_t n, hd__batch *b)
{
    const int64_t all[] = {n, s->max_length}, *sizes = ndim == 2 ? all : all + 1;
    b->input = hd__empty(HD_INT64, ndim, sizes);
    b->target = b->input ? hd__empty(HD_INT64, ndim, sizes) : NULL;
    return b->target;
}

void hd__batch_fill(const hd__batch *b, const hd_dataset *s, int64_t first, int64_t step,
                    const int64_t *order)
{
    int64_t len = s->max_length, n = b->input->numel / len;
    int64_t *x = hd__ptr(b->input), *y = hd__ptr(b->target);
    for (int64_t i = 0; i < n; i++, x += len, y += len) {
        int64_t item = (first + i * step) % s->len;
        item = order ? order[item] : item;
        int64_t at = (s->order ? s->order[item] : item) * s->stride;
        hd__tokens_copy(s->tokens, at, len, x);
        hd__tokens_copy(s->tokens, at + 1, len, y);
    }
}

void hd__batch_give(const hd__batch *b, hd_tensor **input, hd_tensor **target)
{
    if (input) {
        *input = b->input;
    }
    if (target) {
        *target = b->target;
    }
}

bool hd_dataset_get(const hd_dataset *s, int64_t i, hd_tensor **input, hd_tensor **target)
{
    HD__CALL("hd_dataset_get");
    hd__batch b; /* (max_length,) each */
    if (!hd__dataset_given(s)) {
        return false;
    }
    int64_t at = hd__index(hd__call, i, s->len, "items");
    if (at < 0 || !hd__batch_new(s, 1, 1, &b)) {
        return false;
    }
    hd__batch_fill(&b, s, at, 1, NULL);
    hd__batch_give(&b, input, target);
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
    return (ok && left == 0) || hd__fail(HD_VALUE, "lengths %s: expected a sum of %" PRId64,
                                         HD__SIZES(n, lengths), s->len);
}

/* Makes all parts, or none. */
static bool make_parts(const hd_dataset *s, int n, const int64_t *lengths, hd_dataset **parts)
{
    for (int i = 0; i < n; i++) {
        parts[i] = dataset_new(s->tokens, s->max_length, s->stride, lengths[i], true);
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

/* The parts have memory for their windows, which this draws. */
static void draw_parts(const hd_dataset *s, int n, int64_t *order, hd_generator *g,
                       hd_dataset **parts)
{
    hd__randperm(g ? g : hd_generator_current(), order, s->len);
    for (int i = 0; i < n; i++) {
        for (int64_t k = 0; k < parts[i]->len; k++) {
            int64_t item = *order++;
            parts[i]->order[k] = s->order ? s->order[item] : item;
        }
    }
}

bool hd_random_split(const hd_dataset *s, int n, const int64_t *lengths, hd_generator *g,
                     hd_dataset **parts)
{
    HD__CALL("hd_random_split");
    if (!hd__dataset_given(s) || !hd__given("lengths", lengths) || !hd__given("parts", parts) ||
        (g && !hd__object("g", g)) || !check_lengths(s, n, lengths)) {
        return false;
    }
    int64_t *order = hd__alloc_items(s->len, sizeof *order);
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
