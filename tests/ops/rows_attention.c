/* rows_attention.c - gradcheck rows of scaled_dot_product_attention: q, k, v, and a mask. The
 * generator is reseeded before each call, so that dropout's draws stay put. */
#include "gradcheck_rows.h"

/* true but for every third key of every second query */
static hd_tensor *some(const hd_tensor *q, const hd_tensor *k)
{
    int64_t l = hd_size(q, -2), s = hd_size(k, -2);
    hd_tensor *mask = hd_ones(HD_BOOL, l, s);
    for (int64_t i = 0; i < l; i += 2) {
        for (int64_t j = 1; j < s; j += 3) {
            hd_set(mask, false, i, j);
        }
    }
    return mask;
}

/* options: a scale, dropout, and a mask that is added */
static hd_tensor *with(hd_tensor *const *x)
{
    hd_attention_options o = hd_attention_defaults();
    o.attn_mask = x[3];
    o.scale = 0.3;
    o.dropout_p = 0.25;
    return hd_scaled_dot_product_attention_with(x[0], x[1], x[2], &o, NULL);
}

ROW(plain, hd_scaled_dot_product_attention(x[0], x[1], x[2], HD_NONE, 0, false))
ROW(causal, hd_scaled_dot_product_attention(x[0], x[1], x[2], HD_NONE, 0, true))
ROW(dropped, hd_scaled_dot_product_attention(x[0], x[1], x[2], HD_NONE, 0.25, true))
ROW(all_dropped, hd_scaled_dot_product_attention(x[0], x[1], x[2], HD_NONE, 1, true))
ROW(masked, hd_scaled_dot_product_attention(x[0], x[1], x[2], some(x[0], x[1]), 0, false))
ROW(added, hd_scaled_dot_product_attention(x[0], x[1], x[2],
                                           hd_to(some(x[0], x[1]), hd_dtype_of(x[0])), 0.25, false))
ROW(learned, with(x))

#define QKV                                                                                        \
    {                                                                                              \
        "bhmd", "bhnd", "bhnc"                                                                     \
    }
#define OTHERS                                                                                     \
    {                                                                                              \
        {"md", "nd", "nc"}, {"hmd", "bhnd", "b1nc"},                                               \
        {                                                                                          \
            "bhmd", "1hnd", "nc"                                                                   \
        }                                                                                          \
    }

static const gradcheck_row table[] = {
    {"hd_scaled_dot_product_attention", "", plain, 3, QKV, OTHERS, -2, 2, 0},
    {"hd_scaled_dot_product_attention", "causal", causal, 3, QKV, OTHERS, -2, 2, 0},
    {"hd_scaled_dot_product_attention", "dropout", dropped, 3, QKV, {{0}}, -2, 2, 0},
    {"hd_scaled_dot_product_attention", "dropout 1", all_dropped, 3, QKV, {{0}}, -2, 2, 0},
    {"hd_scaled_dot_product_attention", "mask", masked, 3, QKV, {{0}}, -2, 2, 0},
    {"hd_scaled_dot_product_attention", "mask added", added, 3, QKV, {{0}}, -2, 2, 0},
    {"hd_scaled_dot_product_attention_with",
     "mask learned",
     learned,
     4,
     {"bhmd", "bhnd", "bhnc", "mn"},
     {{"bhmd", "bhnd", "bhnc", "b1mn"}, {"bhmd", "nd", "1hnc", "1n"}},
     -2,
     2,
     0},
};
GRADCHECK_ROWS(rows_attention, table);
