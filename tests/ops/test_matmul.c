/* test_matmul.c - tests of matrix products: kernels bit for bit against the level plain, ranks,
 * names, gradients. */
#include <stdlib.h>

#include "heed/autograd.h"
#include "suites.h"
#include "support/level.h"
#include "support/support.h"
#include "tensor/kernels/gemm.h"

static unsigned state = 1;

static int below(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)n);
}

/* ---------------------------------------------------------------- kernels */

enum { MAX = 70, ROOM = 4 * (MAX + 2) * (MAX + 2) };

/* room for elements of any dtype */
static double a[ROOM], b[ROOM], c[ROOM], plain_c[ROOM], bias[2 * MAX];

static double get(int dtype, const void *x, int64_t i)
{
    switch (dtype) {
    case HD_FLOAT32: return ((const float *)x)[i];
    case HD_FLOAT64: return ((const double *)x)[i];
    default: return (double)((const int64_t *)x)[i];
    }
}

static void set(int dtype, void *x, int64_t i, double v)
{
    switch (dtype) {
    case HD_FLOAT32: ((float *)x)[i] = (float)v; break;
    case HD_FLOAT64: ((double *)x)[i] = v; break;
    default: ((int64_t *)x)[i] = (int64_t)v; break;
    }
}

/* x y + s as this CPU level computes it in this dtype. */
static double muladd(int dtype, bool fused, double x, double y, double s)
{
    if (dtype == HD_FLOAT32) {
        float product = (float)x * (float)y;
        return fused ? fmaf((float)x, (float)y, (float)s) : product + (float)s;
    }
    return fused ? fma(x, y, s) : x * y + s;
}

static double add(int dtype, double x, double y)
{
    return dtype == HD_FLOAT32 ? (float)x + (float)y : x + y;
}

/* The strides of an (m, n) matrix: dense, transposed, with gaps, or spread. */
static void random_strides(int64_t m, int64_t n, int64_t *row, int64_t *col)
{
    const int64_t patterns[][2] = {{n, 1}, {1, m}, {n + 2, 1}, {2 * n, 2}, {0, 1}, {1, 0}, {0, 0}};
    int k = below(7);
    *row = patterns[k][0];
    *col = patterns[k][1];
}

static hdk_product random_product(int round)
{
    hdk_product p = {.a = a, .b = b, .c = c, .bias_step = 1 + below(2)};
    p.m = 1 + below(round % 4 ? MAX : 3);
    p.n = round % 7 ? 1 + below(MAX) : 1;
    p.k = below(MAX);
    random_strides(p.m, p.k, &p.a_row, &p.a_col);
    random_strides(p.k, p.n, &p.b_row, &p.b_col);
    p.c_row = p.n + below(3);
    p.add = below(3) == 0;
    p.bias = below(2) ? bias : NULL;
    return p;
}

/* The level's product is that of the level plain, and writes nothing beside c. */
static void check_product(int dtype, const hdk_product *p)
{
    int64_t end = p->m * p->c_row + 40;
    double nothing = dtype == HD_INT64 ? -12345 : NAN;
    hdk_product plain = *p;
    plain.c = plain_c;
    for (int64_t i = 0; i < end; i++) {
        set(dtype, c, i, p->add ? (double)(i % 13) : nothing);
        set(dtype, plain_c, i, p->add ? (double)(i % 13) : nothing);
    }
    hdk_gemm_for(dtype)->product[dtype](p, NULL);
    const int level = at_plain();
    hdk_gemm_for(dtype)->product[dtype](&plain, NULL);
    hd__level = level;
    for (int64_t i = 0; i < end; i++) {
        double want = get(dtype, plain_c, i), got = get(dtype, c, i);
        ck_each(got == want || (isnan(got) && isnan(want)),
                "(%d, %d, %d), dtype %d, level %d: %.9g at (%d, %d), expected %.9g", (int)p->m,
                (int)p->k, (int)p->n, dtype, hd__level, got, (int)(i / p->c_row),
                (int)(i % p->c_row), want);
    }
}

/* A number of half of the type's digits, so that products of two are exact, fused or not */
static double half_of_digits(int dtype)
{
    double v = below(4001) - 2000;
    return dtype == HD_FLOAT64 ? v * (1 << 14) + below(1 << 14) : v;
}

START_TEST(every_element_is_one_chain)
{
    const int before = leave_plain(), best = hd__level;
    for (int level = HD__BASELINE; level <= best; level++) {
        hd__level = level;
        for (hd_dtype dtype = HD_FLOAT32; dtype <= HD_INT64; dtype++) {
            for (int i = 0; i < ROOM; i++) {
                set(dtype, a, i, half_of_digits(dtype));
                set(dtype, b, i, half_of_digits(dtype));
            }
            for (int i = 0; i < 2 * MAX; i++) {
                set(dtype, bias, i, i - MAX);
            }
            for (int round = 0; round < 300; round++) {
                hdk_product p = random_product(round);
                check_product(dtype, &p);
            }
        }
    }
    hd__level = before;
}
END_TEST

/* The dot of two dense rows as gemm_split.h adds it up: chains of every lanes-th step, folded in
 * halves, and one more chain of the steps that fill no vector. */
static double dot_in_lanes(int dtype, bool fused, int lanes, int64_t k, int64_t x, int64_t y)
{
    double sum[16] = {0}, rest = 0;
    int64_t whole = k / lanes * lanes;
    for (int64_t q = 0; q < k; q++) {
        double *to = q < whole ? &sum[q % lanes] : &rest;
        *to = muladd(dtype, fused, get(dtype, a, x + q), get(dtype, b, y + q), *to);
    }
    for (int half = lanes / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            sum[l] = add(dtype, sum[l], sum[l + half]);
        }
    }
    return add(dtype, sum[0], rest);
}

static void check_dots(int dtype, bool fused, int lanes, const hdk_product *p)
{
    int64_t end = p->m * p->c_row + 40;
    for (int64_t i = 0; i < end; i++) {
        set(dtype, c, i, (double)(i % 13));
    }
    hdk_gemm_for(dtype)->product[dtype](p, NULL);
    for (int64_t i = 0; i < end; i++) {
        int64_t row = i / p->c_row, col = i % p->c_row;
        double want = (double)(i % 13), got = get(dtype, c, i);
        if (row < p->m && col < p->n) {
            double sum = dot_in_lanes(dtype, fused, lanes, p->k, row * p->a_row, col * p->b_col);
            want = p->add ? add(dtype, want, sum) : sum;
            want = p->bias ? add(dtype, want, get(dtype, bias, col)) : want;
        }
        ck_each(got == want, "(%d, %d, %d), dtype %d, level %d: %.9g at (%d, %d), expected %.9g",
                (int)p->m, (int)p->k, (int)p->n, dtype, hd__level, got, (int)row, (int)col, want);
    }
}

/* Few rows times dense columns, and dense rows times one column. */
START_TEST(few_rows_are_dots)
{
    const int before = leave_plain(), best = hd__level;
    for (int level = HD__BASELINE; level <= best; level++) {
        hd__level = level;
        for (hd_dtype dtype = HD_FLOAT32; dtype <= HD_INT64; dtype++) {
            int lanes = (int)hdk_gemm()->tile_cols / (dtype == HD_FLOAT32 ? 2 : 4);
            for (int i = 0; i < ROOM; i++) {
                set(dtype, a, i, (below(2001) - 1000) / 700.0);
                set(dtype, b, i, (below(2001) - 1000) / 700.0);
            }
            for (int i = 0; i < 2 * MAX; i++) {
                set(dtype, bias, i, i - MAX);
            }
            for (int round = 0; round < 300; round++) {
                hdk_product p = {.a = a, .b = b, .c = c, .a_col = 1, .b_row = 1, .bias_step = 1};
                p.m = 1 + below(HDK_SPLIT_ROWS), p.n = 1 + below(MAX), p.k = below(200);
                p.a_row = p.k + below(3), p.b_col = p.k + below(3), p.c_row = p.n + below(3);
                p.add = below(3) == 0;
                p.bias = below(2) ? bias : NULL;
                p.order = HDK_SPLIT;
                if (round % 4 == 0) { /* a column of c */
                    p.m = 1 + below(MAX), p.n = p.c_row = 1, p.bias = NULL;
                }
                check_dots(dtype, level >= HD__AVX2, lanes, &p);
            }
        }
    }
    hd__level = before;
}
END_TEST

/* Inner sizes beyond a packed panel, and blocks of c, against rows and columns computed one by
 * one. */
START_TEST(large_products_are_their_parts)
{
    HD_SCOPE;
    hd_manual_seed(1);
    hd_tensor *x = hd_randn(HD_FLOAT32, 301, 523), *y = hd_randn(HD_FLOAT32, 523, 167);
    hd_tensor *z = hd_matmul(x, y);
    hd_tensor *turned = hd_matmul(x, hd_t(hd_contiguous(hd_t(y))));
    ck_assert(hd_equal(z, turned));
    for (int i = 0; i < 301; i += 37) {
        ck_assert(hd_equal(hd_select(z, 0, i), hd_matmul(hd_select(x, 0, i), y)));
    }
    for (int j = 0; j < 167; j += 29) {
        ck_assert(hd_equal(hd_select(z, 1, j), hd_matmul(x, hd_select(y, 1, j))));
    }
    ck_assert_float_eq((float)hd_get(z, 300, 166),
                       (float)hd_item(hd_dot(hd_select(x, 0, 300), hd_select(y, 1, 166))));
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- ranks */

static const char *const shapes[][2] = {
    {"(3,)", "(3,)"},
    {"(2, 3)", "(3,)"},
    {"(3,)", "(3, 2)"},
    {"(2, 3)", "(3, 4)"},
    {"(5, 2, 3)", "(3,)"},
    {"(3,)", "(5, 3, 2)"},
    {"(5, 2, 3)", "(3, 4)"},
    {"(2, 3)", "(5, 3, 4)"},
    {"(5, 2, 3)", "(5, 3, 4)"},
    {"(1, 2, 3)", "(5, 3, 4)"},
    {"(5, 2, 3)", "(1, 3, 4)"},
    {"(4, 1, 2, 3)", "(5, 3, 4)"},
    {"(5, 2, 3)", "(4, 1, 3, 2)"},
    {"(4, 5, 2, 3)", "(3, 2)"},
    {"(2, 0)", "(0, 3)"},
    {"(5, 2, 0)", "(0, 3)"},
    {"(0, 2, 3)", "(3, 2)"},
    {"(0, 3)", "(3, 2)"},
    {"(2, 3)", "(3, 0)"},
    {"(1, 3)", "(0, 3, 2)"},
    {"(7, 1, 3)", "(7, 3, 1)"},
    {"(2, 2, 2, 2, 2, 2, 2, 3)", "(2, 1, 2, 1, 2, 1, 3, 2)"},
    {"(1, 2, 3)", "(1, 3, 4)"},
};

/* A tensor of the shape that the text gives, whose dims lie in memory in one of three ways. */
static hd_tensor *ramp(hd_dtype d, const char *text, int layout)
{
    int64_t sizes[HD_MAX_DIMS], numel = 1;
    int n = 0;
    for (const char *p = text + 1; *p && *p != ')'; p += strspn(p, ", ")) {
        sizes[n] = strtoll(p, (char **)(uintptr_t)&p, 10);
        numel *= sizes[n++];
    }
    hd_tensor *flat = hd_arange_as(d, 0, numel, 1);
    hd_tensor *x = hd_view_n(hd_sub_scalar(flat, numel / 3), n, sizes);
    if (layout == 1 && n > 1) { /* transposed in memory */
        x = hd_transpose(hd_contiguous(hd_transpose(x, -1, -2)), -1, -2);
    } else if (layout == 2 && n > 0) { /* gaps */
        x = hd_slice_step(hd_cat(-1, x, x, x), -1, 0, 3 * sizes[n - 1], 3);
        x = hd_copy_(x, hd_view_n(hd_sub_scalar(flat, numel / 3), n, sizes));
    }
    return x;
}

/* The product of a (..., m, k) and b (..., k, n) by loops in double. */
static double naive_at(hd_tensor *y, hd_tensor *left, hd_tensor *right, int64_t flat)
{
    int nl = hd_ndim(left), nr = hd_ndim(right), ny = hd_ndim(y);
    int64_t at[HD_MAX_DIMS], i[HD_MAX_DIMS], j[HD_MAX_DIMS];
    for (int d = ny - 1; d >= 0; d--) {
        at[d] = flat % hd_size(y, d);
        flat /= hd_size(y, d);
    }
    int batch = ny - (nl > 1) - (nr > 1);
    for (int d = 0; d < nl - 2; d++) {
        i[d] = hd_size(left, d) == 1 ? 0 : at[batch - (nl - 2) + d];
    }
    for (int d = 0; d < nr - 2; d++) {
        j[d] = hd_size(right, d) == 1 ? 0 : at[batch - (nr - 2) + d];
    }
    if (nl > 1) {
        i[nl - 2] = at[batch];
    }
    if (nr > 1) {
        j[nr - 1] = at[ny - 1];
    }
    double sum = 0;
    for (int64_t k = 0; k < hd_size(left, -1); k++) {
        i[nl - 1] = k;
        j[nr > 1 ? nr - 2 : 0] = k;
        sum += hd_get_n(left, nl, i) * hd_get_n(right, nr, j);
    }
    return sum;
}

START_TEST(all_ranks)
{
    for (hd_dtype d = HD_FLOAT32; d <= HD_INT64; d++) {
        for (int layout = 0; layout < 3; layout++) {
            HD_SCOPE;
            hd_tensor *x = ramp(d, shapes[_i][0], layout);
            hd_tensor *z = ramp(d, shapes[_i][1], (layout + below(2)) % 3);
            hd_tensor *y = hd_matmul(x, z);
            ck_assert_msg(y, "%s", hd_error_message());
            ck_assert(hd_is_contiguous(y) && hd_dtype_of(y) == d);
            for (int64_t i = 0; i < hd_numel(y); i++) { /* integers: every sum is exact */
                ck_assert_double_eq(element_at(y, i), naive_at(y, x, z, i));
            }
        }
    }
    ck_no_error();
}
END_TEST

/* The gradients of L = sum(w * (a @ b)) against those of the loops. */
START_TEST(gradients_of_all_ranks)
{
    for (int layout = 0; layout < 3; layout++) {
        HD_SCOPE;
        hd_tensor *x = hd_requires_grad_(hd_detach(ramp(HD_FLOAT64, shapes[_i][0], layout)), true);
        hd_tensor *z = hd_requires_grad_(hd_detach(ramp(HD_FLOAT64, shapes[_i][1], layout)), true);
        hd_tensor *y = hd_matmul(x, z);
        hd_tensor *w = hd_arange_as(HD_FLOAT64, 0, hd_numel(y), 1);
        w = hd_view_n(hd_sub_scalar(w, 3), hd_ndim(y), hd_sizes(y));
        ck_assert_msg(hd_backward_with(y, w, false), "%s", hd_error_message());
        hd_tensor *inputs[] = {x, z};
        for (int k = 0; k < 2; k++) {
            hd_tensor *g = hd_grad(inputs[k]);
            ck_assert(hd_numel(g) == hd_numel(inputs[k]));
            for (int64_t i = 0; i < hd_numel(g); i++) { /* the loss is linear in each element */
                HD_SCOPE;
                hd_tensor *unit = hd_zeros_n(HD_FLOAT64, hd_ndim(g), hd_sizes(g));
                ((double *)hd_data_mut(unit))[i] = 1;
                hd_tensor *other = hd_detach(inputs[1 - k]);
                hd_tensor *change = k ? hd_matmul(other, unit) : hd_matmul(unit, other);
                ck_assert_double_eq(element_at(g, i), hd_item(hd_sum(hd_mul(change, w))));
            }
        }
    }
    ck_no_error();
}
END_TEST

START_TEST(names)
{
    static const char *const expected[] = {
        "DotBackward0",        "MvBackward0",         "SqueezeBackward4",    "MmBackward0",
        "UnsafeViewBackward0", "UnsafeViewBackward0", "UnsafeViewBackward0", "CloneBackward0",
        "UnsafeViewBackward0", "CloneBackward0",      "UnsafeViewBackward0", "UnsafeViewBackward0",
        "UnsafeViewBackward0", "UnsafeViewBackward0", "MmBackward0",         "UnsafeViewBackward0",
        "UnsafeViewBackward0", "MmBackward0",         "MmBackward0",         "TransposeBackward0",
        "UnsafeViewBackward0", "UnsafeViewBackward0", "UnsafeViewBackward0",
    };
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_detach(ramp(HD_FLOAT32, shapes[_i][0], 0)), true);
    hd_tensor *z = hd_requires_grad_(hd_detach(ramp(HD_FLOAT32, shapes[_i][1], 0)), true);
    ck_assert_str_eq(hd_grad_fn(hd_matmul(x, z)), expected[_i]);
    if (strstr(expected[_i], "Clone") || strstr(expected[_i], "Transpose")) {
        ck_assert_str_eq(hd_grad_fn(hd_matmul(hd_detach(x), z)), "UnsafeViewBackward0");
    }
}
END_TEST

START_TEST(names_of_linear)
{
    HD_SCOPE;
    static const char *const inputs[] = {"(3,)", "(2, 3)", "(2, 2, 3)", "(2, 1, 2, 3)"};
    static const char *const plain[] = {"SqueezeBackward4", "MmBackward0", "UnsafeViewBackward0",
                                        "UnsafeViewBackward0"};
    static const char *const biased[] = {"ViewBackward0", "AddmmBackward0", "ViewBackward0",
                                         "ViewBackward0"};
    hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 4, 3), true);
    hd_tensor *bias_4 = hd_ones(HD_FLOAT32, 4);
    for (int i = 0; i < 4; i++) {
        hd_tensor *x = ramp(HD_FLOAT32, inputs[i], 0);
        ck_assert_str_eq(hd_grad_fn(hd_linear(x, w, HD_NONE)), plain[i]);
        ck_assert_str_eq(hd_grad_fn(hd_linear(x, w, bias_4)), biased[i]);
    }
    hd_tensor *x = ramp(HD_FLOAT32, "(2, 2, 3)", 1);
    ck_assert_str_eq(hd_grad_fn(hd_linear(x, w, bias_4)), "AddBackward0");
    ck_no_error();
}
END_TEST

/* The values are PyTorch's. */
START_TEST(linear_of_a_weight_of_1_dim)
{
    HD_SCOPE;
    hd_tensor *x = hd_div_scalar(hd_sub_scalar(hd_arange_as(HD_FLOAT32, 0, 12, 1), 5), 4);
    x = hd_requires_grad_(hd_detach(hd_view(x, 2, 2, 3)), true);
    hd_tensor *w = hd_requires_grad_(vec(HD_FLOAT32, 0.5, -1, 2), true);
    hd_tensor *v = hd_requires_grad_(hd_scalar_tensor(HD_FLOAT32, 0.25), true);
    hd_tensor *y = hd_linear(x, w, v); /* (2, 2) */
    ck_assert_int_eq(hd_ndim(y), 2);
    ck_elements(y, -0.875, 0.25, 1.375, 2.5);
    ck_assert(hd_backward_with(y, hd_view(vec(HD_FLOAT32, 1, -2, 3, 0.5), 2, 2), false));
    ck_elements(hd_grad(x), 0.5, -1, 2, -1, 2, -4, 1.5, -3, 6, 0.25, -0.5, 1);
    ck_elements(hd_grad(w), 1, 1.625, 2.25);
    ck_elements(hd_grad(v), 2.5);
    ck_elements(hd_linear(hd_select(x, 0, 0), w, HD_NONE), -1.125, 0);
    ck_elements(hd_linear(hd_getitem(x, 0, 0), w, HD_NONE), -1.125);
    ck_elements(hd_linear(hd_select(x, 0, 0), w, v), -0.875, 0.25); /* PyTorch refuses this one */
    ck_no_error();
}
END_TEST

/* One product with the bias added, and the gradients of its operands. */
START_TEST(linear_is_matmul_and_add)
{
    static const char *const inputs[] = {"(6,)", "(5, 6)", "(2, 5, 6)", "(3, 2, 5, 6)", "(0, 6)"};
    for (int layout = 0; layout < 3; layout++) {
        HD_SCOPE;
        hd_tensor *x = hd_requires_grad_(hd_detach(ramp(HD_FLOAT32, inputs[_i], layout)), true);
        hd_tensor *w = hd_requires_grad_(hd_detach(ramp(HD_FLOAT32, "(4, 6)", layout)), true);
        hd_tensor *v = hd_requires_grad_(hd_detach(ramp(HD_FLOAT32, "(4,)", layout)), true);
        hd_tensor *y = hd_linear(x, w, v), *z = hd_add(hd_matmul(x, hd_t(w)), v);
        ck_assert(hd_equal(y, z));
        ck_assert(hd_equal(hd_linear(x, w, HD_NONE), hd_matmul(x, hd_t(w))));
        hd_tensor *dy = hd_sub_scalar(hd_mul_scalar(y, 2), 1);
        dy = hd_detach(dy);
        ck_assert(hd_backward_with(y, dy, false));
        hd_tensor *dx = hd_grad(x), *dw = hd_grad(w), *dv = hd_grad(v);
        hd_set_grad(x, HD_NONE), hd_set_grad(w, HD_NONE), hd_set_grad(v, HD_NONE);
        ck_assert(hd_backward_with(z, dy, false));
        ck_assert(hd_equal(dx, hd_grad(x)) && hd_equal(dw, hd_grad(w)) &&
                  hd_equal(dv, hd_grad(v))); /* integers: exact in any order */
    }
    ck_no_error();
}
END_TEST

START_TEST(only_what_is_needed_is_saved)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true),
              *z = hd_ones(HD_FLOAT32, 3, 2);
    hd_tensor *y = hd_matmul(hd_mul_scalar(x, 1), z);
    hd_fill_(z, 2);
    ck_assert(!hd_backward(hd_sum(y)));
    ck_error(HD_GRAD,
             "hd_backward: MmBackward0: its saved tensor 1 of (3, 2) was changed in place: "
             "version 1, expected 0. Call hd_set_debug(true) at the start to see the calls that "
             "saved and changed it");
    hd_tensor *h = hd_mul_scalar(x, 1);
    y = hd_matmul(h, z);
    hd_fill_(h, 2); /* only db would need it */
    ck_assert(hd_backward(hd_sum(y)));
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- threads */

/* Lengths near those from which on a sum is cut into several; neighbours, and every third
 * length. */
START_TEST(long_dots)
{
    static const int64_t lengths[] = {4095,   4096,   4097,   4159,   4161,
                                      100003, 131071, 131072, 131073, 200003};
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        HD_SCOPE;
        int64_t n = lengths[i / 2], step = 1 + 2 * (int64_t)(i % 2);
        hd_tensor *a =
            hd_slice_step(hd_randint(HD_INT64, -1000, 1000, n * step), 0, 0, n * step, step);
        hd_tensor *b =
            hd_slice_step(hd_randint(HD_INT64, -1000, 1000, n * step), 0, 0, n * step, step);
        int64_t want = 0, size = 0;
        for (int64_t k = 0; k < n; k++) {
            want += hd_get_int(a, k) * hd_get_int(b, k);
            size += llabs(hd_get_int(a, k) * hd_get_int(b, k));
        }
        ck_assert_int_eq(hd_item_int(hd_dot(a, b)), want);
        ck_assert(hd_item(hd_dot(hd_to(a, HD_FLOAT64), hd_to(b, HD_FLOAT64))) == (double)want);
        double single = hd_item(hd_dot(hd_to(a, HD_FLOAT32), hd_to(b, HD_FLOAT32)));
        ck_assert_msg(fabs(single - (double)want) <= 1e-6 * (double)size, "%d: %.9g, expected %lld",
                      (int)n, single, (long long)want);
        ck_no_error();
    }
}
END_TEST

START_TEST(threads_change_no_bit)
{
    HD_SCOPE;
    enum { RESULTS = 10 };
    hd_tensor *first[RESULTS] = {NULL};
    int before = hd_num_threads();
    for (int threads = 1; threads <= 4; threads += threads) {
        hd_set_num_threads(threads);
        hd_manual_seed(3);
        hd_tensor *a = hd_randn(HD_FLOAT32, 3, 90000), *b = hd_randn(HD_FLOAT32, 90000);
        hd_tensor *row = hd_randn(HD_FLOAT32, 1, 8192), *to_33 = hd_randn(HD_FLOAT32, 33, 8192);
        hd_tensor *x = hd_requires_grad_(hd_randn(HD_FLOAT32, 3, 130, 70), true);
        hd_tensor *w = hd_requires_grad_(hd_randn(HD_FLOAT32, 150, 70), true);
        hd_tensor *y = hd_linear(x, w, HD_NONE);            /* (3, 130, 150) */
        hd_tensor *s = hd_matmul(y, hd_transpose(y, 1, 2)); /* (3, 130, 130) */
        hd_backward(hd_sum(hd_mul(s, s)));
        hd_tensor *now[RESULTS] = {
            y,
            s,
            hd_grad(x),
            hd_grad(w),
            hd_matmul(a, b), /* cells of one element, long sums */
            hd_matmul(hd_slice(a, 0, 0, 2), b),
            hd_linear(row, to_33, HD_NONE),
            hd_matmul(hd_slice(to_33, 0, 0, 1), hd_t(row)),
            hd_dot(b, b),
            hd_dot(hd_view(a, -1), hd_view(a, -1)), /* eight parts */
        };
        for (int k = 0; k < RESULTS; k++) {
            first[k] = threads == 1 ? now[k] : first[k];
            ck_assert(hd_equal(first[k], now[k]));
        }
    }
    hd_set_num_threads(before);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- errors */

START_TEST(errors)
{
    HD_SCOPE;
    hd_tensor *m23 = hd_ones(HD_FLOAT32, 2, 3), *v3 = hd_ones(HD_FLOAT32, 3);
    hd_tensor *m42 = hd_ones(HD_FLOAT32, 4, 2), *point = hd_scalar_tensor(HD_FLOAT32, 1);
    ck_assert_ptr_null(hd_matmul(hd_ones(HD_FLOAT32, 2, 6, 3), m42));
    ck_error(HD_SHAPE, "hd_matmul: (2, 6, 3) and (4, 2): inner sizes 3 and 4 differ");
    ck_assert_ptr_null(hd_matmul(v3, m42));
    ck_error(HD_SHAPE, "hd_matmul: (3,) and (4, 2): inner sizes 3 and 4 differ");
    ck_assert_ptr_null(hd_matmul(hd_ones(HD_FLOAT32, 5, 2, 3), hd_ones(HD_FLOAT32, 4, 3, 2)));
    ck_error(HD_SHAPE, "hd_matmul: (5, 2, 3) and (4, 3, 2): batch sizes 5 and 4 at dim -3 do not "
                       "broadcast");
    ck_assert_ptr_null(hd_matmul(point, v3));
    ck_error(HD_SHAPE, "hd_matmul: () and (3,): expected 1 or more dims each");
    ck_assert_ptr_null(hd_matmul(m23, hd_ones(HD_FLOAT64, 3, 2)));
    ck_error(HD_DTYPE, "hd_matmul: a of float32 and b of float64: expected the same dtype. hd_to "
                       "converts one of them");
    ck_assert_ptr_null(hd_matmul(hd_ones(HD_BOOL, 2, 2), hd_ones(HD_BOOL, 2, 2)));
    ck_error(HD_DTYPE, "hd_matmul: dtype bool: expected float32, float64 or int64");
    ck_assert_ptr_null(hd_matmul(NULL, v3));
    ck_error(HD_NULL_ARG, "hd_matmul: a is NULL");
    ck_assert_ptr_null(hd_matmul(v3, HD_NONE));
    ck_error(HD_NULL_ARG, "hd_matmul: b is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_dot(v3, hd_ones(HD_FLOAT32, 4)));
    ck_error(HD_SHAPE, "hd_dot: (3,) and (4,): inner sizes 3 and 4 differ");
    ck_assert_ptr_null(hd_dot(m23, v3));
    ck_error(HD_SHAPE, "hd_dot: (2, 3) and (3,): expected 1 dim each");
    ck_assert_ptr_null(hd_linear(m23, m42, HD_NONE));
    ck_error(HD_SHAPE, "hd_linear: x (2, 3) and weight (4, 2): inner sizes 3 and 2 differ");
    ck_assert_ptr_null(hd_linear(point, v3, HD_NONE));
    ck_error(HD_SHAPE, "hd_linear: () and (3,): expected 1 or more dims each");
    ck_assert_ptr_null(hd_linear(m23, hd_ones(HD_FLOAT32, 4), HD_NONE));
    ck_error(HD_SHAPE, "hd_linear: (2, 3) and (4,): inner sizes 3 and 4 differ");
    uint64_t failures = hd_error_count();
    ck_assert_ptr_null(hd_linear(m23, hd_ones(HD_FLOAT32, 4), point));
    ck_assert_uint_eq(hd_error_count() - failures, 1); /* and no second one */
    ck_error(HD_SHAPE, "hd_linear: (2, 3) and (4,): inner sizes 3 and 4 differ");
    int64_t tensors = hd_scope_count();
    ck_assert(hd_linear(m23, v3, point));
    ck_assert_int_eq(hd_scope_count() - tensors, 1);
    ck_assert_ptr_null(hd_linear(m23, hd_to(v3, HD_BFLOAT16), HD_NONE));
    ck_error(HD_DTYPE, "hd_linear: x of float32 and weight of bfloat16: expected the same dtype. "
                       "hd_to converts one of them");
    ck_assert_ptr_null(hd_linear(m23, v3, hd_ones(HD_FLOAT32, 1)));
    ck_error(HD_SHAPE, "hd_linear: weight (3,) and bias (1,): expected bias ()");
    ck_assert_ptr_null(hd_linear(m23, point, HD_NONE));
    ck_error(HD_SHAPE, "hd_linear: x (2, 3) and weight (): expected (..., in), and (out, in) or "
                       "(in,)");
    ck_assert_ptr_null(hd_linear(m42, hd_t(m23), hd_ones(HD_FLOAT32, 4)));
    ck_error(HD_SHAPE, "hd_linear: weight (3, 2) and bias (4,): expected bias (3,)");
    ck_assert_ptr_null(hd_linear(m42, hd_t(m23), NULL));
    ck_error(HD_NULL_ARG, "hd_linear: bias is NULL: expected a tensor or HD_NONE");
    ck_assert_ptr_null(hd_linear(hd_to(m42, HD_FLOAT64), hd_t(m23), HD_NONE));
    ck_error(HD_DTYPE, "hd_linear: x of float64 and weight of float32: expected the same dtype. "
                       "hd_to converts one of them");
    ck_assert_ptr_null(hd_outer(hd_ones(HD_FLOAT32, 2, 1), hd_ones(HD_FLOAT32, 3)));
    ck_error(HD_SHAPE, "hd_outer: (2, 1) and (3,): expected 1 dim each");
}
END_TEST

enum { PRODUCTS = 20 };

/* (rows, cols) */
static hd_tensor *drawn_product(hd_dtype d, int64_t rows, int64_t inner, int64_t cols)
{
    hd_tensor *x = hd_randn(d, rows, inner); /* (rows, inner) */
    return hd_matmul(x, hd_randn(d, inner, cols));
}

/* The work is divided in every way: cells of rows, of columns, of whole matrices, and sums over
 * batches. */
static void all_products(hd_tensor **y)
{
    hd_manual_seed(5);
    hd_tensor *x = hd_requires_grad_(hd_randn(HD_FLOAT32, 3, 130, 200), true);
    hd_tensor *w = hd_requires_grad_(hd_randn(HD_FLOAT32, 333, 200), true);
    hd_tensor *v = hd_requires_grad_(hd_randn(HD_FLOAT32, 333), true);
    y[0] = hd_linear(x, w, v);                                      /* (3, 130, 333) */
    y[1] = hd_matmul(y[0], hd_transpose(y[0], 1, 2));               /* (3, 130, 130) */
    y[2] = hd_matmul(hd_select(y[1], 1, 0), hd_matmul(x, hd_t(w))); /* (3, 3, 333) */
    hd_backward(hd_add(hd_sum(hd_mul(y[1], y[1])), hd_sum(y[2])));
    y[3] = hd_grad(x), y[4] = hd_grad(w), y[5] = hd_grad(v);
    y[6] = hd_matmul(hd_select(w, 0, 0), hd_t(w));          /* (333,) */
    y[7] = hd_matmul(w, hd_select(w, 0, 1));                /* (333,) */
    y[8] = drawn_product(HD_FLOAT64, 20, 500, 700);         /* wide */
    hd_tensor *batches = hd_randn(HD_FLOAT32, 7, 2, 60, 9); /* (7, 2, 60, 9) */
    y[9] = hd_matmul(batches, hd_randn(HD_FLOAT32, 2, 9, 61));
    y[10] = drawn_product(HD_FLOAT32, 29, 2000, 288);
    y[11] = drawn_product(HD_FLOAT32, 200, 500, 1030);
    y[12] = drawn_product(HD_FLOAT32, 40, 1200, 600);
    hd_tensor *m = hd_randn(HD_FLOAT32, 999, 700);
    y[13] = hd_matmul(m, hd_randn(HD_FLOAT32, 700));
    y[14] = drawn_product(HD_FLOAT32, 5, 300, 900);
    for (int i = 15, rows = 1; i < PRODUCTS; i++, rows += rows) { /* 16 in cells of fewer rows */
        y[i] = hd_linear(hd_randn(HD_FLOAT32, rows, 700), m, HD_NONE);
    }
}

START_TEST(threads_change_no_bit_of_any_cut)
{
    HD_SCOPE;
    hd_tensor *first[PRODUCTS], *now[PRODUCTS];
    int before = hd_num_threads();
    hd_set_num_threads(1);
    all_products(first);
    for (int threads = 2; threads <= 4; threads++) {
        hd_set_num_threads(threads);
        all_products(now);
        for (int k = 0; k < PRODUCTS; k++) {
            ck_assert_msg(hd_equal(first[k], now[k]), "%d threads: %d", threads, k);
        }
    }
    hd_set_num_threads(before);
    ck_no_error();
}
END_TEST

/* A dim of one element may have any stride. */
START_TEST(strides_of_one_element)
{
    HD_SCOPE;
    int64_t far = INT64_MAX / 4096;
    hd_tensor *x = hd_randn(HD_FLOAT32, 40, 900), *y = hd_randn(HD_FLOAT32, 900, 33);
    hd_tensor *row = hd_slice_step(x, 0, 0, 1, far);    /* (1, 900) */
    hd_tensor *column = hd_slice_step(x, 1, 0, 1, far); /* (40, 1) */
    hd_tensor *beside = hd_slice_step(y, 1, 0, 1, far); /* (900, 1) */
    hd_tensor *above = hd_slice_step(y, 0, 0, 1, far);  /* (1, 33) */
    ck_assert_int_gt(hd_stride(row, 0), 1LL << 60);
    ck_assert(hd_equal(hd_matmul(row, y), hd_matmul(hd_contiguous(row), y)));
    ck_assert(hd_equal(hd_matmul(row, hd_t(x)), hd_matmul(hd_contiguous(row), hd_t(x))));
    ck_assert(hd_equal(hd_matmul(row, beside), hd_matmul(row, hd_contiguous(beside))));
    ck_assert(hd_equal(hd_matmul(x, beside), hd_matmul(x, hd_narrow(y, 1, 0, 1))));
    ck_assert(hd_equal(hd_matmul(column, above), hd_mul(column, above)));
    ck_no_error();
}
END_TEST

/* Blocks are as large as the caches allow, and change no bit. */
START_TEST(caches_change_no_bit)
{
    HD_SCOPE;
    ck_assert_ptr_nonnull(hd_cpu_level()); /* after which hd__start_second_cache is known */
    int64_t before = hd__start_second_cache;
    ck_assert_int_ge(before, 64 << 10);
    hd_tensor *first[PRODUCTS], *now[PRODUCTS], *x = hd_randn(HD_FLOAT32, 2400, 40);
    hd_tensor *tall = hd_matmul(x, hd_t(x));
    all_products(first);
    for (int64_t bytes = 16 << 10; bytes <= 16 << 20; bytes *= 4) {
        hd__start_second_cache = bytes;
        all_products(now);
        for (int k = 0; k < PRODUCTS; k++) {
            ck_assert_msg(hd_equal(first[k], now[k]), "%d bytes: %d", (int)bytes, k);
        }
        ck_assert(hd_equal(tall, hd_matmul(x, hd_t(x))));
    }
    hd__start_second_cache = before;
    ck_no_error();
}
END_TEST

Suite *suite_matmul(void)
{
    int n = sizeof shapes / sizeof *shapes;
    const TTest *const tests[] = {
        every_element_is_one_chain,
        few_rows_are_dots,
        large_products_are_their_parts,
        names_of_linear,
        linear_of_a_weight_of_1_dim,
        only_what_is_needed_is_saved,
        long_dots,
        threads_change_no_bit,
        threads_change_no_bit_of_any_cut,
        strides_of_one_element,
        caches_change_no_bit,
        errors,
    };
    Suite *s = SUITE_OF("matmul", tests);
    suite_add_loop(s, all_ranks, n);
    suite_add_loop(s, gradients_of_all_ranks, n);
    suite_add_loop(s, names, n);
    suite_add_loop(s, linear_is_matmul_and_add, 5);
    return s;
}
