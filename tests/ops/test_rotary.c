/* test_rotary.c - tests of rotary positions: the tables against transformers
 * (tests/golden/rotary.txt), the rotation against plain ops, and refusals. The table of functions
 * tests the gradients. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/golden_reader.h"
#include "support/support.h"

/* ---------------------------------------------------------------- tables */

static hd_rotary_options options_of(const golden_case *c)
{
    hd_rotary_options o = hd_rotary_defaults();
    o.theta = golden_double(c, "theta", 0);
    o.factor = golden_double(c, "factor", 1);
    o.low_freq_factor = golden_double(c, "low_freq_factor", o.low_freq_factor);
    o.high_freq_factor = golden_double(c, "high_freq_factor", o.high_freq_factor);
    o.original_max_position_embeddings = golden_int(c, "original_max_position_embeddings", 0);
    return o;
}

static void ck_rows(const golden_case *c, const char *field, hd_tensor *table, int64_t head_dim)
{
    const golden_record *rows = golden_get(c, "rows"), *want = golden_get(c, "%s", field);
    int64_t half = head_dim / 2;
    ck_assert_int_eq(hd_size(table, 1), head_dim);
    ck_assert_int_eq(want->numel, rows->numel * half);
    for (int64_t i = 0; i < want->numel; i++) {
        int64_t row = rows->i[i / half], at = i % half;
        double got = hd_get(table, row, at);
        ck_assert_double_eq(got, hd_get(table, row, at + half));
        ck_assert_msg(fabs(got - want->d[i]) <= 1e-6, "%s/%s: (%d, %d) is %.9g, not %.9g", c->name,
                      field, (int)row, (int)at, got, want->d[i]);
    }
}

START_TEST(tables_are_those_of_transformers)
{
    golden_file *f = golden_read(GOLDEN_DIR "/rotary.txt");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(f->count, 6);
    for (int i = 0; i < f->count; i++) {
        HD_SCOPE;
        const golden_case *c = &f->cases[i];
        hd_rotary_options o = options_of(c);
        hd_tensor *cos, *sin;
        int64_t head_dim = golden_int(c, "head_dim", 0), length = golden_int(c, "length", 0);
        ck_assert(hd_rotary_tables(head_dim, length, &o, &cos, &sin));
        ck_assert_int_eq(hd_size(cos, 0), length);
        ck_rows(c, "cos", cos, head_dim);
        ck_rows(c, "sin", sin, head_dim);
    }
    golden_free(f);
}
END_TEST

START_TEST(what_tables_refuse)
{
    HD_SCOPE;
    hd_tensor *cos = HD_NONE, *sin = HD_NONE;
    ck_assert(hd_rotary_tables(4, 0, NULL, &cos, &sin));
    ck_assert_int_eq(hd_numel(cos), 0);
#define refused(head_dim, length, code, message)                                                   \
    cos = sin = HD_NONE;                                                                           \
    ck_assert(!hd_rotary_tables(head_dim, length, &o, &cos, &sin));                                \
    ck_error(code, "hd_rotary_tables: " message);                                                  \
    ck_assert(!cos && !sin)
    hd_rotary_options o = hd_rotary_defaults();
    refused(5, 3, HD_VALUE,
            "head_dim 5, length 3: expected an even number, and a length of 0 or more");
    refused(4, -1, HD_VALUE,
            "head_dim 4, length -1: expected an even number, and a length of 0 or more");
    o.theta = 0;
    refused(4, 3, HD_VALUE, "theta 0, factor 1: expected finite numbers above 0");
    o.theta = 10000;
    o.factor = 8;
    refused(4, 3, HD_VALUE,
            "original_max_position_embeddings 0, factor 8: expected a length above 0, or 0 and a "
            "factor of 1");
    o.original_max_position_embeddings = 8192;
    o.high_freq_factor = 1;
    refused(4, 3, HD_VALUE, "low_freq_factor 1, high_freq_factor 1: expected 0 < low < high");
    o.size = 8;
    ck_assert(!hd_rotary_tables(4, 3, &o, &cos, &sin));
    ck_error(HD_VALUE,
             sized("hd_rotary_tables: o->size 8: expected %zu, as hd_rotary_defaults() gives",
                   sizeof o));
#undef refused
}
END_TEST

/* ---------------------------------------------------------------- the turn */

/* As transformers writes it. */
static hd_tensor *plainly(hd_tensor *x, hd_tensor *cos, hd_tensor *sin)
{
    int64_t half = hd_size(x, -1) / 2;
    hd_tensor *turned = hd_cat(-1, hd_neg(hd_narrow(x, -1, half, half)), hd_narrow(x, -1, 0, half));
    return hd_add(hd_mul(x, cos), hd_mul(turned, sin));
}

/* Queries (b, heads, t, head_dim) as they come from a Linear, contiguous, with gaps, and expanded:
 * the bits of the plain ops, also where the work is dealt to threads. */
START_TEST(a_turn_is_its_plain_ops)
{
    for (int k = 0; k < 4 * 4 * 2; k++) {
        HD_SCOPE;
        static const int64_t widths[] = {2, 6, 64, 90};
        hd_dtype d = k & 1 ? HD_FLOAT64 : HD_FLOAT32;
        int64_t width = widths[k / 8], t = k & 2 ? 5 : 200;
        hd_tensor *cos, *sin, *x = hd_randn(d, 2, t, 3, 2 * width), *dy, *y, *want;
        ck_assert(hd_rotary_tables(width, t + 9, NULL, &cos, &sin));
        cos = hd_to(hd_narrow(cos, 0, 9, t), d);
        sin = hd_to(hd_narrow(sin, 0, 9, t), d);
        x = hd_transpose(k & 4 ? hd_narrow(x, 3, 1, width) : hd_randn(d, 2, t, 3, width), 1, 2);
        hd_tensor *leaf = hd_requires_grad_(hd_detach(x), true);
        y = hd_rotary(leaf, cos, sin); /* (2, 3, t, width) */
        ck_assert_msg(y, "%s", hd_error_message());
        ck_assert(hd_equal(y, want = plainly(leaf, cos, sin)));
        ck_assert_str_eq(hd_grad_fn(y), hd_grad_fn(want));
        ck_assert(k & 4 || hd_is_contiguous(hd_transpose(y, 1, 2)));
        dy = hd_randn(d, 2, 3, t, width);
        ck_assert(hd_backward_with(y, dy, false));
        hd_tensor *dx = hd_grad(leaf);
        hd_set_grad(leaf, HD_NONE);
        ck_assert(hd_backward_with(want, dy, false));
        ck_assert(hd_equal(dx, hd_grad(leaf)));
        hd_tensor *wide = hd_expand(hd_narrow(x, 1, 0, 1), 2, 3, t, width);
        ck_assert(hd_equal(hd_rotary(wide, cos, sin), plainly(wide, cos, sin)));
        ck_assert(hd_equal(hd_rotary(hd_transpose(hd_narrow(x, 2, 0, t), 0, 1), cos, sin),
                           plainly(hd_transpose(x, 0, 1), cos, sin)));
        /* each text of the batch has rows of its own, with halves that differ */
        cos = hd_randn(d, 2, 1, t, width), sin = hd_randn(d, 2, 1, t, width);
        hd_tensor *narrow = hd_expand(hd_narrow(sin, 0, 1, 1), 2, 1, t, width);
        y = hd_rotary(leaf, cos, narrow);
        ck_assert(hd_equal(y, want = plainly(leaf, cos, narrow)));
        hd_set_grad(leaf, HD_NONE);
        ck_assert(hd_backward_with(y, dy, false));
        dx = hd_grad(leaf);
        hd_set_grad(leaf, HD_NONE);
        ck_assert(hd_backward_with(want, dy, false) && hd_equal(dx, hd_grad(leaf)));
        ck_no_error();
    }
}
END_TEST

START_TEST(what_a_turn_refuses)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3, 4), *table = hd_ones(HD_FLOAT32, 3, 4);
#define refused(x, cos, sin, code, message)                                                        \
    ck_assert_ptr_null(hd_rotary(x, cos, sin));                                                    \
    ck_error(code, "hd_rotary: " message)
#define EXPECTED                                                                                   \
    ": expected x (..., t, head_dim), head_dim even, and tables (t, head_dim) with batch dims "    \
    "that broadcast to x's"
    refused(x, table, hd_narrow(table, 0, 0, 2), HD_SHAPE,
            "x (2, 3, 4), cos (3, 4), sin (2, 4)" EXPECTED);
    refused(x, hd_expand(table, 3, 3, 4), table, HD_SHAPE,
            "x (2, 3, 4), cos (3, 3, 4), sin (3, 4)" EXPECTED);
    refused(x, table, hd_expand(table, 1, 2, 3, 4), HD_SHAPE,
            "x (2, 3, 4), cos (3, 4), sin (1, 2, 3, 4)" EXPECTED);
    refused(x, hd_narrow(table, 0, 0, 1), table, HD_SHAPE,
            "x (2, 3, 4), cos (1, 4), sin (3, 4)" EXPECTED);
    hd_tensor *odd = hd_narrow(table, 1, 0, 3);
    refused(odd, odd, odd, HD_SHAPE, "x (3, 3), cos (3, 3), sin (3, 3)" EXPECTED);
    hd_tensor *row = hd_select(table, 0, 0);
    refused(row, table, table, HD_SHAPE, "x (4,), cos (3, 4), sin (3, 4)" EXPECTED);
    refused(x, table, hd_to(table, HD_FLOAT64), HD_DTYPE,
            "x of float32 and sin of float64: expected the same dtype. hd_to converts one of them");
    refused(hd_to(x, HD_INT64), table, table, HD_DTYPE, "dtype int64: expected float32 or float64");
#undef EXPECTED
#undef refused
    ck_assert_int_eq(hd_numel(hd_rotary(hd_narrow(x, 0, 0, 0), table, table)), 0);
    ck_no_error();
}
END_TEST

Suite *suite_rotary(void)
{
    const TTest *const tests[] = {
        tables_are_those_of_transformers,
        what_tables_refuse,
        a_turn_is_its_plain_ops,
        what_a_turn_refuses,
    };
    return SUITE_OF("rotary positions", tests);
}
