/* test_attention.c - tests of scaled_dot_product_attention: the fused function against the composed
 * one, rows whose keys are all masked, layouts, threads, names and errors. The table of functions
 * tests its gradients. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/level.h"
#include "support/support.h"

enum { FEW = 9, MANY = 150 }; /* keys: row by row, and in tiles */

static hd_tensor *leaf(int64_t rows, int64_t cols) /* (2, 3, rows, cols) */
{
    return hd_requires_grad_(hd_randn(HD_FLOAT32, 2, 3, rows, cols), true);
}

static hd_tensor *attend(hd_tensor *const *x, const hd_attention_options *o, hd_tensor **weights)
{
    hd_manual_seed(4);
    return hd_scaled_dot_product_attention_with(x[0], x[1], x[2], o, weights);
}

/* Relative to b's largest absolute value, unless that is 0. */
static double distance(hd_tensor *a, hd_tensor *b)
{
    double most = hd_item(hd_max(hd_abs(hd_detach(b))));
    return hd_item(hd_max(hd_abs(hd_sub(hd_detach(a), hd_detach(b))))) / (most > 0 ? most : 1);
}

/* every other key of odd queries */
static hd_tensor *stripes(int64_t l, int64_t s)
{
    hd_tensor *mask = hd_ones(HD_BOOL, l, s);
    for (int64_t i = 1; i < l; i += 2) {
        for (int64_t j = 0; j < s; j += 2) {
            hd_set(mask, false, i, j);
        }
    }
    return mask;
}

static hd_attention_options option_set(int k, int64_t l, int64_t s)
{
    hd_attention_options o = hd_attention_defaults();
    o.dropout_p = k & 1 ? 0.3 : 0;
    switch (k >> 1) {
    case 1: o.is_causal = true; break;
    case 2: o.attn_mask = stripes(l, s); break;
    case 3: o.attn_mask = hd_mul_scalar(hd_to(stripes(l, s), HD_FLOAT32), 2); break;
    case 4: o.attn_mask = hd_transpose(stripes(s, l), 0, 1), o.scale = -0.4; break;
    default: break;
    }
    return o;
}

/* ---------------------------------------------------------------- fused and composed */

/* PLAIN is fused, by the loops of that level */
enum { COMPOSED, FUSED, PLAIN, WAYS };

START_TEST(fused_is_composed)
{
    const int before = leave_plain(), best = hd__level;
    static const int64_t sizes[][4] = {/* l, s, d, dv */
                                       {FEW, FEW, 4, 4}, {MANY, MANY, 24, 24}, {MANY, 70, 5, 40},
                                       {7, 301, 33, 1},  {61, 129, 64, 64},    {260, 65, 1, 17},
                                       {1, 300, 64, 64}, {8, 301, 61, 32},     {3, 128, 128, 96}};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        HD_SCOPE;
        const int64_t *size = sizes[n];
        hd_tensor *x[] = {leaf(size[0], size[2]), leaf(size[1], size[2]), leaf(size[1], size[3])};
        hd_tensor *dy = hd_randn(HD_FLOAT32, 2, 3, size[0], size[3]), *w[WAYS], *y[WAYS], *again;
        hd_tensor *grad[WAYS][3];
        hd_attention_options o = option_set(_i, size[0], size[1]);
        for (int way = 0; way < WAYS; way++) {
            hd__level = way == PLAIN ? HD__PLAIN : best;
            hd_set_fused_attention(way != COMPOSED);
            y[way] = attend(x, &o, &w[way]);
            ck_assert(hd_backward_with(y[way], dy, false));
            hd__level = best;
            for (int i = 0; i < 3; i++) {
                grad[way][i] = hd_grad(x[i]);
                hd_set_grad(x[i], HD_NONE);
            }
        }
        again = attend(x, &o, NULL);
        ck_no_error();
        ck_assert(hd_equal(again, y[FUSED]));
        for (int way = FUSED; way < WAYS; way++) {
            ck_assert_double_le(distance(y[way], y[COMPOSED]), 1e-5);
            ck_assert_double_le(distance(w[way], w[COMPOSED]), 1e-5);
            ck_assert(!hd_requires_grad(w[way]));
            for (int i = 0; i < 3; i++) {
                ck_assert_double_le(distance(grad[way][i], grad[COMPOSED][i]), 1e-5);
            }
        }
    }
    hd__level = before;
}
END_TEST

/* Where the rows have the order of hd_matmul and hd_softmax, few queries have it too. */
START_TEST(few_keys_have_the_bits_of_the_ops)
{
    static const int64_t sizes[][4] = {/* l, s, d, dv */
                                       {1, 4, 64, 64},
                                       {4, 64, 128, 64},
                                       {8, 8, 700, 1},
                                       {5, 64, 64, 1}};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
            for (int64_t heads = 1; heads <= 3; heads += 2) {
                HD_SCOPE;
                int64_t l = sizes[n][0], s = d == HD_FLOAT64 ? 3 * sizes[n][1] : sizes[n][1];
                hd_tensor *x[] = {hd_randn(d, heads, l, sizes[n][2]),
                                  hd_randn(d, heads, s, sizes[n][2]),
                                  hd_randn(d, heads, s, sizes[n][3])};
                hd_attention_options o = hd_attention_defaults();
                hd_set_fused_attention(true);
                hd_tensor *fused = attend(x, &o, NULL);
                hd_set_fused_attention(false);
                ck_assert(hd_equal(fused, attend(x, &o, NULL)));
                hd_set_fused_attention(true);
                ck_no_error();
            }
        }
    }
}
END_TEST

/* The same bits for one thread and for several, and for views and for copies. */
START_TEST(threads_and_layouts)
{
    hd_tensor *kept[2][4];
    int threads = hd_num_threads();
    for (int run = 0; run < 2; run++) {
        ck_assert(hd_set_num_threads(run ? 3 : 1));
        hd_manual_seed(1);
        hd_tensor *x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = hd_transpose(hd_randn(HD_FLOAT32, 1, 333, 2, 40), 1, 2); /* (1, 2, 333, 40) */
            x[i] = hd_requires_grad_(hd_detach(run ? hd_contiguous(x[i]) : x[i]), true);
        }
        hd_attention_options o = option_set(3, 0, 0);
        kept[run][0] = attend(x, &o, NULL);
        ck_assert_int_eq(hd_is_contiguous(kept[run][0]), run);
        ck_assert(hd_is_contiguous(hd_transpose(kept[run][0], 1, 2)) == !run);
        ck_assert(hd_backward(hd_sum(kept[run][0])));
        for (int i = 0; i < 3; i++) {
            kept[run][i + 1] = hd_grad(x[i]);
        }
    }
    hd_set_num_threads(threads);
    for (int i = 0; i < 4; i++) {
        ck_assert(hd_equal(kept[0][i], kept[1][i]));
    }
}
END_TEST

/* ---------------------------------------------------------------- rows that see nothing */

/* As in PyTorch 2.13, a row that sees nothing is 0 and gets no gradient, whether a bool mask or
 * -inf hides the keys. A plain softmax gives NaN there, which masked_fill keeps from queries and
 * keys. */
START_TEST(rows_that_see_nothing)
{
    warnings_expected(); /* of a loss that is not finite */
    static const int64_t keys[] = {FEW, MANY};
    for (int k = 0; k < 8; k++) {
        HD_SCOPE;
        int64_t s = keys[k & 1];
        bool adds = k & 2, safe = k & 4;
        hd_tensor *x[] = {leaf(5, 8), leaf(s, 8), leaf(s, 8)};
        hd_attention_options o = hd_attention_defaults();
        o.safe_softmax = safe;
        o.attn_mask = adds ? hd_zeros(HD_FLOAT32, 5, s) : hd_ones(HD_BOOL, 5, s);
        for (int64_t j = 0; j < s; j++) {
            hd_set(o.attn_mask, adds ? -INFINITY : 0, 2, j);
        }
        hd_tensor *y = attend(x, &o, NULL);
        ck_assert(hd_backward(hd_sum(y)));
        for (int64_t i = 0; i < 5; i++) {
            double first = hd_get(y, 1, 2, i, 7);
            ck_assert_int_eq(isnan(first), i == 2 && !safe);
            ck_assert_int_eq(first == 0, i == 2 && safe);
            ck_assert_int_eq(hd_get(hd_grad(x[0]), 1, 2, i, 7) == 0, i == 2 && (safe || !adds));
        }
        for (int i = 0; i < 3; i++) { /* a sum over all keys reaches every gradient */
            bool lost = !safe && (adds || i == 2), one = i == 0 && adds && !safe;
            hd_tensor *nan = hd_ne(hd_grad(x[i]), hd_grad(x[i]));
            ck_assert_int_eq(hd_item_int(hd_any(nan)), lost);
            ck_assert_int_eq(hd_item_int(hd_all(nan)), lost && !one);
        }
    }
}
END_TEST

START_TEST(more_queries_than_keys_and_none)
{
    hd_tensor *q = hd_randn(HD_FLOAT32, 1, 1, 6, 4), *k = hd_randn(HD_FLOAT32, 1, 1, 3, 4);
    hd_tensor *y = hd_scaled_dot_product_attention(q, k, k, HD_NONE, 0, true);
    ck_assert_double_lt(
        distance(hd_select(y, 2, 5),
                 hd_select(hd_scaled_dot_product_attention(q, k, k, HD_NONE, 0, false), 2, 5)),
        1e-6);
    hd_tensor *none = hd_empty(HD_FLOAT32, 1, 1, 0, 4);
    y = hd_scaled_dot_product_attention(q, none, none, HD_NONE, 0, false); /* (1, 1, 6, 4) */
    ck_assert_double_eq(hd_item(hd_max(hd_abs(y))), 0);
    ck_assert_int_eq(hd_numel(hd_scaled_dot_product_attention(none, k, k, HD_NONE, 0, true)), 0);
    hd_tensor *thin = hd_empty(HD_FLOAT32, 1, 1, 3, 0); /* scores of 0: the mean of the values */
    y = hd_scaled_dot_product_attention(thin, thin, k, HD_NONE, 0, false);
    ck_assert_double_lt(distance(hd_select(y, 2, 0), hd_mean_dim(k, 2, false)), 1e-6);
    ck_no_error();
}
END_TEST

/* One key outweighs the others by more than exp can hold: the result is its value, exactly. */
START_TEST(one_key_alone_counts)
{
    for (int k = 0; k < 70; k++) {
        HD_SCOPE;
        int64_t s = k & 1 ? FEW : MANY;
        hd_tensor *x[] = {leaf(5, 8), leaf(s, 8), leaf(s, 8)};
        hd_attention_options o = hd_attention_defaults();
        o.attn_mask = hd_full(HD_FLOAT32, -3 * pow(10, 3 + k / 2), 5, s);
        ck_assert(hd_setitem_scalar(o.attn_mask, 0, HD_ALL, s - 2));
        hd_tensor *alone = hd_expand(hd_narrow(x[2], 2, s - 2, 1), 2, 3, 5, 8);
        ck_assert(hd_equal(attend(x, &o, NULL), alone));
    }
    ck_no_error();
}
END_TEST

static bool all_zero(hd_tensor *x)
{
    return !hd_item_int(hd_any(x));
}

/* Sums of zeros are 0, not a tiny number: nothing is left of what the accumulators held before. */
START_TEST(zeros_stay_zeros)
{
    for (int k = 0; k < 20; k++) {
        HD_SCOPE;
        int64_t s = k & 1 ? FEW : MANY;
        bool zero_dy = k & 2;
        hd_tensor *x[] = {leaf(s, 8), leaf(s, 8), leaf(s, 8)};
        hd_attention_options o = option_set(k >> 1, s, s);
        if (!zero_dy) {
            HD_NO_GRAD;
            hd_zero_(x[2]);
        }
        hd_tensor *y = attend(x, &o, NULL);
        ck_assert(hd_backward_with(y, hd_full_like(y, HD_FLOAT32, !zero_dy), false));
        ck_assert_int_eq(all_zero(y), !zero_dy);
        ck_assert(all_zero(hd_grad(x[0])) && all_zero(hd_grad(x[1])));
        ck_assert_int_eq(all_zero(hd_grad(x[2])), zero_dy);
    }
}
END_TEST

/* NaN and infinity reach the rows that see them, and with is_causal they reach no earlier tile. */
START_TEST(not_numbers)
{
    for (int k = 0; k < 2; k++) {
        HD_SCOPE;
        int64_t s = k ? 300 : FEW;
        hd_tensor *x[] = {hd_randn(HD_FLOAT32, s, 8), hd_randn(HD_FLOAT32, s, 8),
                          hd_randn(HD_FLOAT32, s, 8)};
        hd_set(x[0], NAN, 3, 1);
        hd_tensor *y = hd_scaled_dot_product_attention(x[0], x[1], x[2], HD_NONE, 0, true);
        for (int64_t i = 0; i < s; i++) {
            ck_assert_int_eq(isnan(hd_get(y, i, 0)), i == 3);
        }
        hd_set(x[0], 0, 3, 1);
        hd_set(x[1], INFINITY, s - 1, 0); /* scores of +-inf in the last row alone */
        y = hd_scaled_dot_product_attention(x[0], x[1], x[2], HD_NONE, 0, true);
        for (int64_t i = 0; i < s - 1; i++) {
            ck_assert(isfinite(hd_get(y, i, 0)));
        }
        ck_assert_int_eq(isnan(hd_get(y, s - 1, 0)), hd_get(x[0], s - 1, 0) > 0);
    }
}
END_TEST

/* The maximum of -inf and NaN may be -inf, and yet such a row is not one that sees nothing. */
START_TEST(a_hidden_row_with_a_nan)
{
    for (int k = 0; k < 4; k++) {
        HD_SCOPE;
        int64_t s = k & 1 ? FEW : MANY, at = k & 2 ? s - 1 : 0;
        hd_tensor *x[] = {hd_randn(HD_FLOAT32, 4, 8), hd_randn(HD_FLOAT32, s, 8),
                          hd_randn(HD_FLOAT32, s, 8)};
        hd_set(x[1], NAN, at, 3);
        hd_attention_options o = hd_attention_defaults();
        o.safe_softmax = true;
        o.attn_mask = hd_full(HD_FLOAT32, -INFINITY, 4, s);
        hd_tensor *y = attend(x, &o, NULL);
        ck_assert(hd_item_int(hd_all(hd_ne(y, y))));
        hd_set(x[1], 0, at, 3);
        ck_assert(all_zero(attend(x, &o, NULL)));
    }
    ck_no_error();
}
END_TEST

/* A value of NaN reaches the row that does not see its key, and the gradients of queries and keys,
 * as in PyTorch 2.13, at every level. */
START_TEST(a_hidden_value_of_nan)
{
    warnings_expected(); /* of a loss that is not finite */
    ck_assert_ptr_nonnull(hd_cpu_level());
    const int best = hd__level;
    for (hd__level = 0; hd__level <= best; hd__level++) {
        for (int k = 0; k < 4; k++) {
            HD_SCOPE;
            const hd_dtype d = k & 1 ? HD_FLOAT64 : HD_FLOAT32;
            const int64_t s = k & 2 ? MANY : FEW;
            hd_tensor *x[] = {hd_randn(d, 1, 8), hd_randn(d, s, 8), hd_randn(d, s, 8)};
            hd_attention_options o = hd_attention_defaults();
            o.attn_mask = hd_ones(HD_BOOL, 1, s);
            hd_set(o.attn_mask, 0, 0, 1);
            hd_set(x[2], NAN, 1, 3);
            for (int i = 0; i < 3; i++) {
                x[i] = hd_requires_grad_(x[i], true);
            }
            hd_tensor *y = attend(x, &o, NULL);
            ck_assert(hd_backward(hd_sum(y)));
            for (int64_t e = 0; e < 8; e++) {
                ck_assert_int_eq(isnan(hd_get(y, 0, e)), e == 3);
            }
            for (int i = 0; i < 3; i++) {
                hd_tensor *nan = hd_ne(hd_grad(x[i]), hd_grad(x[i]));
                ck_assert_int_eq(hd_item_int(hd_any(nan)), i < 2);
                ck_assert_int_eq(hd_item_int(hd_all(nan)), i < 2);
            }
        }
    }
    hd__level = best;
}
END_TEST

/* ---------------------------------------------------------------- grouped queries */

/* Each head of x (2, h, n, d) `group` times, in memory of its own. */
static hd_tensor *repeated(hd_tensor *x, int64_t group)
{
    int64_t h = hd_size(x, 1), n = hd_size(x, 2), d = hd_size(x, 3);
    return hd_reshape(hd_expand(hd_unsqueeze(x, 2), 2, h, group, n, d), 2, h * group, n, d);
}

/* Query head i takes key head i / group: the results and gradients are those of repeated keys and
 * values. A mask for each head is split, too. */
START_TEST(grouped_queries_share_keys)
{
    static const int64_t sizes[][4] = {
        {FEW, FEW, 4, 4}, {1, 300, 64, 64}, {MANY, MANY, 24, 8}, {40, 61, 33, 33}};
    for (int k = 0; k < 4 * 2 * 2; k++) {
        HD_SCOPE;
        const int64_t *size = sizes[k / 4], group = k & 1 ? 3 : 2;
        hd_tensor *x[3], *y[2], *w[2], *grad[2][3];
        for (int i = 0; i < 3; i++) {
            x[i] = hd_randn(HD_FLOAT32, 2, size[i > 0], i ? 3 : 3 * group, size[i < 2 ? 2 : 3]);
            x[i] = hd_requires_grad_(hd_detach(hd_transpose(x[i], 1, 2)), true);
        }
        hd_attention_options o = option_set(_i, size[0], size[1]);
        if (k & 2 && o.attn_mask != HD_NONE) {
            hd_tensor *other = hd_add_scalar(hd_randn(HD_FLOAT32, 3 * group, size[0], size[1]), 1);
            o.attn_mask = hd_gt_scalar(other, 0);
        }
        hd_tensor *dy = hd_randn(HD_FLOAT32, 2, 3 * group, size[0], size[3]);
        for (int grouped = 0; grouped < 2; grouped++) {
            o.enable_gqa = grouped;
            hd_tensor *all[] = {x[0], grouped ? x[1] : repeated(x[1], group),
                                grouped ? x[2] : repeated(x[2], group)};
            y[grouped] = attend(all, &o, &w[grouped]);
            ck_assert_msg(y[grouped], "%s", hd_error_message());
            ck_assert(hd_backward_with(y[grouped], dy, false));
            for (int i = 0; i < 3; i++) {
                grad[grouped][i] = hd_grad(x[i]);
                hd_set_grad(x[i], HD_NONE);
            }
        }
        ck_assert_double_le(distance(y[1], y[0]), 1e-6);
        ck_assert_double_le(distance(w[1], w[0]), 1e-6);
        for (int i = 0; i < 3; i++) {
            ck_assert_double_le(distance(grad[1][i], grad[0][i]), 1e-5);
        }
        ck_no_error();
    }
}
END_TEST

/* The call takes the memory that it takes where each query head has a key head, but for views. */
START_TEST(grouped_queries_copy_nothing)
{
    int64_t bytes[2];
    for (int grouped = 0; grouped < 2; grouped++) {
        HD_SCOPE;
        hd_tensor *q = hd_randn(HD_FLOAT32, 1, 8, 1, 64);
        hd_tensor *k = hd_randn(HD_FLOAT32, 1, grouped ? 2 : 8, 2000, 64);
        hd_attention_options o = hd_attention_defaults();
        o.enable_gqa = true;
        int64_t before = hd_bytes_live();
        hd_bytes_peak_reset();
        ck_assert_ptr_nonnull(hd_scaled_dot_product_attention_with(q, k, k, &o, NULL));
        bytes[grouped] = hd_bytes_peak() - before;
    }
    ck_assert_int_lt(bytes[1], bytes[0] + 8192);
}
END_TEST

START_TEST(what_grouped_queries_refuse)
{
    HD_SCOPE;
    hd_attention_options o = hd_attention_defaults();
    o.enable_gqa = true;
    hd_tensor *q = hd_zeros(HD_FLOAT32, 2, 6, 5, 4), *k = hd_zeros(HD_FLOAT32, 2, 4, 7, 4);
    hd_tensor *two = hd_narrow(k, 1, 0, 2), *none = hd_narrow(k, 1, 0, 0);
#define refuses(code, message, ...)                                                                \
    ck_assert_ptr_null(hd_scaled_dot_product_attention_with(__VA_ARGS__, &o, NULL));               \
    ck_error(code, "hd_scaled_dot_product_attention_with: " message)
#define EXPECTED                                                                                   \
    " with enable_gqa: expected (..., heads, n, d) each, as many heads in v as in k, and a "       \
    "multiple of that number in q"
    refuses(HD_SHAPE, "q (2, 6, 5, 4), k (2, 4, 7, 4), v (2, 4, 7, 4)" EXPECTED, q, k, k);
    refuses(HD_SHAPE, "q (2, 6, 5, 4), k (2, 2, 7, 4), v (2, 4, 7, 4)" EXPECTED, q, two, k);
    refuses(HD_SHAPE, "q (2, 6, 5, 4), k (2, 0, 7, 4), v (2, 0, 7, 4)" EXPECTED, q, none, none);
    refuses(HD_SHAPE, "q (5, 4), k (7, 4), v (7, 4)" EXPECTED, hd_zeros(HD_FLOAT32, 5, 4),
            hd_zeros(HD_FLOAT32, 7, 4), hd_zeros(HD_FLOAT32, 7, 4));
    refuses(HD_SHAPE,
            "q (2, 6, 5, 4), k (3, 2, 7, 4), v (3, 2, 7, 4): expected (..., l, d), (..., s, d) and "
            "(..., s, dv), with batch dims that broadcast",
            q, hd_zeros(HD_FLOAT32, 3, 2, 7, 4), hd_zeros(HD_FLOAT32, 3, 2, 7, 4));
    hd_tensor *deep = hd_zeros(HD_FLOAT32, 1, 1, 1, 1, 1, 2, 1, 4);
    refuses(HD_SHAPE, "9 dimensions: expected 0 to 8", deep, hd_narrow(deep, 5, 0, 1),
            hd_narrow(deep, 5, 0, 1));
    o.attn_mask = hd_ones(HD_BOOL, 2, 5, 7);
    refuses(HD_SHAPE, "attn_mask (2, 5, 7): expected 2 dims or more that broadcast to (2, 6, 5, 7)",
            q, two, two);
#undef refuses
    o.attn_mask = HD_NONE;
    hd_tensor *y = hd_scaled_dot_product_attention_with(hd_narrow(q, 1, 0, 0), two, two, &o, NULL);
    ck_assert_int_eq(hd_size(y, 1), 0);
    ck_assert_int_eq(hd_size(y, 2), 5);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- memory, names */

/* The memory of a call grows with the number of tokens, not with its square; dropout's mask
 * included. */
START_TEST(linear_memory)
{
    int64_t bytes[2];
    for (int k = 0; k < 2; k++) {
        HD_SCOPE;
        int64_t s = 2048 << k;
        hd_tensor *x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = hd_requires_grad_(hd_randn(HD_FLOAT32, s, 16), true);
        }
        int64_t before = hd_bytes_live();
        hd_bytes_peak_reset();
        hd_attention_options o = option_set(3, 0, 0);
        ck_assert(hd_backward(hd_sum(attend(x, &o, NULL))));
        bytes[k] = hd_bytes_peak() - before;
    }
    ck_assert_int_lt(bytes[1], bytes[0] * 9 / 4);
}
END_TEST

START_TEST(names)
{
    hd_tensor *q = leaf(4, 8), *one = hd_getitem(q, 0, 0), *head = hd_getitem(q, 0);
    static const char flash[] = "ScaledDotProductFlashAttentionForCpuBackward0";
    ck_assert_str_eq(hd_grad_fn(hd_scaled_dot_product_attention(q, q, q, HD_NONE, 0, true)), flash);
    ck_assert_str_eq(hd_grad_fn(hd_scaled_dot_product_attention(q, q, q, HD_NONE, 0.5, true)),
                     "UnsafeViewBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_scaled_dot_product_attention(head, head, head, HD_NONE, 0, 0)),
                     "UnsafeViewBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_scaled_dot_product_attention(one, one, one, HD_NONE, 0, 0)),
                     "MmBackward0");
}
END_TEST

/* The values are PyTorch's. The weights are those of q and k, and v repeats them. */
START_TEST(more_heads_of_v_than_weights)
{
    hd_tensor *q = hd_requires_grad_(hd_view(vec(HD_FLOAT32, 1, 0, 0.5, -1), 2, 2), true);
    hd_tensor *k = hd_view(vec(HD_FLOAT32, 1, 2, -1, 0.5, 0, 1), 3, 2), *weights;
    hd_tensor *v = hd_div_scalar(hd_arange_as(HD_FLOAT32, 0, 12, 1), 4), *y, *want;
    hd_attention_options o = hd_attention_defaults();
    q = hd_requires_grad_(hd_detach(q), true);
    v = hd_view(v, 2, 1, 3, 2);
    y = hd_scaled_dot_product_attention_with(q, k, v, &o, &weights); /* (2, 1, 2, 2) */
    want = vec(HD_FLOAT32, 0.354010016, 0.604009986, 0.555105567, 0.805105567, 1.85400999,
               2.10400987, 2.05510569, 2.30510569);
    ck_assert_str_eq(hd_shape_repr(y), "torch.Size([2, 1, 2, 2])");
    ck_assert_str_eq(hd_shape_repr(weights), "torch.Size([2, 3])");
    ck_assert_str_eq(hd_grad_fn(y), "CloneBackward0");
    ck_assert_double_le(distance(hd_flatten(y, 0, -1), want), 1e-6);
    ck_assert(hd_backward(hd_sum(y)));
    want = vec(HD_FLOAT32, -0.634540379, -0.605629742, -0.35031864, -0.379158497);
    ck_assert_double_le(distance(hd_flatten(hd_grad(q), 0, -1), want), 1e-6);
    /* with dropout, one draw for each weight */
    hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_NATIVE);
    hd_manual_seed(3);
    y = hd_scaled_dot_product_attention(q, k, v, HD_NONE, 0.5, false);
    want = vec(HD_FLOAT32, 0.140029237, 0.498031527, 0, 0.129929587, 2.28804302, 2.64604521,
               0.779577494, 0.909507096);
    ck_assert_double_le(distance(hd_flatten(y, 0, -1), want), 1e-6);
    ck_elements(hd_rand(HD_FLOAT32, 1), 0x1.32dfc8p-3);
    hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_MCG31);
    ck_assert_ptr_null(hd_scaled_dot_product_attention(q, k, v, hd_ones(HD_BOOL, 1, 2, 3), 0, 0));
    ck_error(HD_SHAPE, "hd_scaled_dot_product_attention: attn_mask (1, 2, 3): expected 2 dims or "
                       "more that broadcast to (2, 3)");
}
END_TEST

/* ---------------------------------------------------------------- errors */

START_TEST(errors)
{
    hd_tensor *q = hd_zeros(HD_FLOAT32, 2, 5, 4), *k = hd_zeros(HD_FLOAT32, 2, 6, 4);
    hd_tensor *mask = hd_zeros(HD_BOOL, 5, 6);
#define refuses(code, message, ...)                                                                \
    ck_assert_ptr_null(hd_scaled_dot_product_attention(__VA_ARGS__));                              \
    ck_error(code, "hd_scaled_dot_product_attention: " message)
    refuses(HD_SHAPE,
            "q (4,), k (2, 6, 4), v (2, 6, 4): expected (..., l, d), (..., s, d) and (..., s, dv), "
            "with batch dims that broadcast",
            hd_zeros(HD_FLOAT32, 4), k, k, HD_NONE, 0, false);
    refuses(HD_SHAPE,
            "q (2, 5, 4), k (2, 6, 3), v (2, 6, 4): expected (..., l, d), (..., s, d) and "
            "(..., s, dv), with batch dims that broadcast",
            q, hd_zeros(HD_FLOAT32, 2, 6, 3), k, HD_NONE, 0, false);
    refuses(HD_SHAPE,
            "q (2, 5, 4), k (2, 6, 4), v (2, 5, 4): expected (..., l, d), (..., s, d) and "
            "(..., s, dv), with batch dims that broadcast",
            q, k, q, HD_NONE, 0, false);
    refuses(HD_SHAPE,
            "q (2, 5, 4), k (3, 6, 4), v (2, 6, 4): expected (..., l, d), (..., s, d) and "
            "(..., s, dv), with batch dims that broadcast",
            q, hd_zeros(HD_FLOAT32, 3, 6, 4), k, HD_NONE, 0, false);
    refuses(HD_DTYPE, "q of float32, k of float64, v of float32: expected one dtype", q,
            hd_to(k, HD_FLOAT64), k, HD_NONE, 0, false);
    refuses(HD_DTYPE, "dtype int64: expected float32 or float64", hd_to(q, HD_INT64),
            hd_to(k, HD_INT64), hd_to(k, HD_INT64), HD_NONE, 0, false);
    refuses(HD_DTYPE, "attn_mask of int64: expected bool, or float32 as in q", q, k, k,
            hd_to(mask, HD_INT64), 0, false);
    refuses(HD_SHAPE, "attn_mask (6,): expected 2 dims or more that broadcast to (2, 5, 6)", q, k,
            k, hd_ones(HD_BOOL, 6), 0, false);
    refuses(HD_SHAPE, "attn_mask (3, 5, 6): expected 2 dims or more that broadcast to (2, 5, 6)", q,
            k, k, hd_ones(HD_BOOL, 3, 5, 6), 0, false);
    refuses(HD_VALUE, "is_causal and an attn_mask: expected at most one of them", q, k, k, mask, 0,
            true);
    refuses(HD_VALUE, "dropout_p 1.5: expected 0 to 1", q, k, k, HD_NONE, 1.5, false);
    refuses(HD_VALUE, "dropout_p nan: expected 0 to 1", q, k, k, HD_NONE, NAN, false);
    hd_attention_options o = {0};
    ck_assert_ptr_null(hd_scaled_dot_product_attention_with(q, k, k, &o, NULL));
    ck_error(HD_VALUE, sized("hd_scaled_dot_product_attention_with: o->size 0: expected %zu, as "
                             "hd_attention_defaults() gives",
                             sizeof(hd_attention_options)));
}
END_TEST

Suite *suite_attention(void)
{
    const TTest *const tests[] = {
        few_keys_have_the_bits_of_the_ops,
        threads_and_layouts,
        more_heads_of_v_than_weights,
        rows_that_see_nothing,
        more_queries_than_keys_and_none,
        one_key_alone_counts,
        zeros_stay_zeros,
        not_numbers,
        a_hidden_row_with_a_nan,
        a_hidden_value_of_nan,
        linear_memory,
        grouped_queries_copy_nothing,
        what_grouped_queries_refuse,
        names,
        errors,
    };
    Suite *s = SUITE_OF("attention", tests);
    suite_add_loop(s, fused_is_composed, 10);
    suite_add_loop(s, grouped_queries_share_keys, 10);
    return s;
}
