/* padding.c - texts of different lengths in one batch: reads the attention mask, and makes the mask
 * and the positions for a call of the model.
 *
 * A token attends to the tokens of its text up to itself, and its position is the number of tokens
 * before it. Padding attends to nothing, and no token attends to it. So each row of a batch gives
 * the result of its text alone, wherever its padding is. */
#include <inttypes.h>

#include "hf/hf_internal.h"

static bool mask_shape_ok(const hd_tensor *ids, const hd_tensor *mask)
{
    bool typed = hd_dtype_of(mask) == HD_INT64 || hd_dtype_of(mask) == HD_BOOL;
    bool fits = hd_ndim(mask) == 2 && hd_size(mask, 0) == hd_size(ids, 0) &&
                hd_size(mask, 1) == hd_size(ids, 1);
    return (typed && fits) ||
           hd_fail(typed ? HD_SHAPE : HD_DTYPE,
                   "attention_mask is %s %s: expected int64 or bool %s, the shape of ids",
                   hd_dtype_name(hd_dtype_of(mask)), HD__SIZES(hd_ndim(mask), hd_sizes(mask)),
                   HD__SIZES(hd_ndim(ids), hd_sizes(ids)));
}

/* Adds the number of ones in row i, whose t values begin at `one`, to *ones. Returns false with an
 * error if the row has no 1, or a value that is not 0 or 1. */
static bool row_ok(const int64_t *one, int64_t i, int64_t t, int64_t *ones)
{
    int64_t before = *ones;
    for (int64_t k = 0; k < t; k++) {
        if (one[k] != 0 && one[k] != 1) {
            return hd_fail(HD_VALUE,
                           "attention_mask has %" PRId64 " at (%" PRId64 ", %" PRId64
                           "): expected 1 for a token, or 0 for padding",
                           one[k], i, k);
        }
        *ones += one[k];
    }
    return *ones > before ||
           hd_fail(HD_VALUE, "row %" PRId64 " of attention_mask has no 1: expected at least one",
                   i);
}

bool hd__hf_padding_read(const hd_tensor *ids, hd_tensor *mask, int64_t more, hd__hf_padding *p)
{
    *p = (hd__hf_padding){NULL, NULL};
    if (!hd__arg_given("attention_mask", mask)) {
        return false;
    }
    if (mask == HD_NONE) {
        return true;
    }
    if (!mask_shape_ok(ids, mask)) {
        return false;
    }
    int64_t b = hd_size(ids, 0), t = hd_size(ids, 1), ones = 0;
    mask = hd_contiguous(hd_to(mask, HD_INT64));
    const int64_t *one = hd_data(mask);
    for (int64_t i = 0; one && i < b; i++) {
        if (!row_ok(one + i * t, i, t, &ones)) {
            return false;
        }
    }
    if (!one || ones == b * t) {
        return one;
    }
    mask = hd_cat(1, mask, hd_ones(HD_INT64, b, more));
    p->real = hd_to(mask, HD_BOOL);
    p->positions = hd_sub(hd_cumsum(mask, 1), mask);
    return p->real && p->positions;
}

bool hd__hf_context_begin(hd__hf_context *c, const hd__hf_padding *p, hd__hf_seen *seen, int64_t t)
{
    *c = (hd__hf_context){.seen = seen};
    if (!p->real) {
        return true;
    }
    int64_t before = seen ? seen->len : 0;
    hd_tensor *queries = hd_narrow(p->real, 1, before, t);  /* (b, t) */
    hd_tensor *keys = hd_narrow(p->real, 1, 0, before + t); /* (b, s) */
    hd_tensor *both = hd_logical_and(hd_unsqueeze(queries, 2), hd_unsqueeze(keys, 1));
    c->mask = hd_unsqueeze(hd_tril(both, before), 1);
    c->positions = hd_narrow(p->positions, 1, before, t);
    return c->mask && c->positions;
}
