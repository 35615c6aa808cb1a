/* test_product.c - tests that the blocked matrix product has the bits of the level plain, at every
 * level, with sizes at and near every edge of its tiles, panels, blocks and cuts of k. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "support/level.h"
#include "support/support.h"
#include "tensor/kernels/gemm.h"

typedef struct size {
    int m, n, k;
} size;

/* Tiles have 1 to 14 rows and 4 to 32 columns. k is divided evenly into runs of at most 128, 192,
 * 384 or 512, rows into blocks of 1120 that are packed four tiles at a time, columns into blocks of
 * 64 or 128. Products of more than 2^22 multiplications are packed. */
static const size sizes[] = {
    {1, 1, 129},     {1, 33, 300},   {2, 16, 128},    {3, 47, 127},   {5, 65, 129},
    {13, 31, 128},   {14, 32, 128},  {15, 33, 257},   {27, 8, 384},   {28, 64, 385},
    {29, 17, 1},     {40, 1, 700},   {20, 100, 1024}, /* rows 4 KiB apart */
    {29, 380, 385},  {64, 289, 384}, {33, 257, 769},  {1023, 65, 64}, {1037, 70, 129},
    {127, 225, 193}, {90, 1100, 70}, {5, 2500, 400},  {1100, 3, 300}, {1, 1100, 500},
    {3, 1100, 43},   {2, 5, 300},    {8, 45, 200},    {9, 45, 200},   {57, 73, 1025},
    {58, 129, 577},
};

enum { LAYOUTS = 3 };

static int64_t width_of(int layout, int64_t rows, int64_t cols, int64_t *row, int64_t *col)
{
    *row = layout == 0 ? cols : layout == 1 ? 1 : 2 * cols + 3;
    *col = layout == 0 ? 1 : layout == 1 ? rows : 2;
    return (rows - 1) * *row + (cols - 1) * *col + 1;
}

/* Numbers of half of the type's digits: their products are exact, so that every level has the same
 * bits, with a fused multiply-add and without. Their sums are rounded. */
static double value(int dtype, int64_t i)
{
    const uint32_t noise = (uint32_t)i * 2654435761u;
    return dtype == HD_FLOAT64 ? (double)(noise >> 6) - (1 << 25) : (double)(noise >> 20) - 2048;
}

static void put(int dtype, void *x, int64_t i, double v)
{
    switch (dtype) {
    case HD_FLOAT32: ((float *)x)[i] = (float)v; break;
    case HD_FLOAT64: ((double *)x)[i] = v; break;
    default: ((int64_t *)x)[i] = (int64_t)v; break;
    }
}

/* A matrix of value(from + its place); NaN lies in the gaps between its elements. */
static void *matrix(int dtype, int layout, int64_t rows, int64_t cols, int64_t from, int64_t *row,
                    int64_t *col)
{
    int64_t n = width_of(layout, rows, cols, row, col);
    void *x = malloc((size_t)(n * hd_dtype_size((hd_dtype)dtype)));
    for (int64_t i = 0; i < n; i++) {
        put(dtype, x, i, dtype == HD_INT64 ? 1e6 : NAN);
    }
    for (int64_t i = 0; i < rows * cols; i++) {
        put(dtype, x, i / cols * *row + i % cols * *col, value(dtype, from + i));
    }
    return x;
}

/* c (m, n), dense, as the level plain computes it: one sum for each element, in order */
static void plain_product(int dtype, hdk_product p, void *c)
{
    p.c = c;
    p.c_row = p.n;
    for (int64_t i = 0; i < p.m * p.n; i++) {
        put(dtype, c, i, (double)(i % 13));
    }
    const int level = at_plain();
    hdk_gemm_for(dtype)->product[dtype](&p, NULL);
    hd__level = level;
}

/* Computes *p into memory filled with noise, with gaps, with and without scratch, and compares the
 * result with `want`, which is dense. */
static void check(int dtype, hdk_product *p, const char *want)
{
    int64_t bytes = hd_dtype_size((hd_dtype)dtype), room = hdk_gemm_for(dtype)->room[dtype](p);
    p->c_row = p->n + (p->m > 1 && p->n > 1 ? 3 : 0);
    char *c = malloc((size_t)(p->m * p->c_row * bytes));
    char *scratch = hd_alloc((size_t)room + 64);
    p->c = c;
    for (int with = room > 0; with >= 0; with--) {
        memset(c, 0xff, (size_t)(p->m * p->c_row * bytes));
        memset(scratch, 0xff, (size_t)room + 64);
        for (int64_t i = 0; i < p->m * p->n && p->add; i++) {
            put(dtype, c, i / p->n * p->c_row + i % p->n, (double)(i % 13));
        }
        hdk_gemm_for(dtype)->product[dtype](p, with ? scratch : NULL);
        for (int64_t i = 0; i < p->m; i++) {
            ck_each(
                !memcmp(c + i * p->c_row * bytes, want + i * p->n * bytes, (size_t)(p->n * bytes)),
                "(%d, %d, %d), dtype %d, level %d, scratch %d: row %d", (int)p->m, (int)p->n,
                (int)p->k, dtype, hd__level, with, (int)i);
            for (int64_t j = p->n * bytes; j < p->c_row * bytes && i + 1 < p->m; j++) {
                ck_each((unsigned char)c[i * p->c_row * bytes + j] == 0xff, "a gap of row %d",
                        (int)i);
            }
        }
        for (int j = 0; j < 64; j++) {
            ck_each((unsigned char)scratch[room + j] == 0xff, "byte %d after scratch", j);
        }
    }
    hd_free(scratch);
    free(c);
}

static void check_layouts(int dtype, const size *s, bool add, int best)
{
    char *want = malloc((size_t)(s->m * s->n * 8));
    for (int layout = 0; layout < LAYOUTS * LAYOUTS; layout++) {
        hdk_product p = {.m = s->m, .n = s->n, .k = s->k, .add = add, .bias_step = 1};
        void *a = matrix(dtype, layout % LAYOUTS, p.m, p.k, 0, &p.a_row, &p.a_col);
        void *b = matrix(dtype, layout / LAYOUTS, p.k, p.n, 77, &p.b_row, &p.b_col);
        int64_t row, col;
        void *bias = matrix(dtype, 0, 1, p.n, 99, &row, &col);
        p.a = a, p.b = b, p.bias = s->m % 2 ? bias : NULL;
        if (layout == 0) {
            plain_product(dtype, p, want);
        }
        for (hd__level = dtype == HD_INT64 ? HD__BASELINE : best; hd__level >= 0; hd__level--) {
            check(dtype, &p, want);
        }
        hd__level = best;
        free(a), free(b), free(bias);
    }
    free(want);
}

START_TEST(every_edge)
{
    const int before = leave_plain(), best = hd__level;
    for (hd_dtype dtype = HD_FLOAT32; dtype <= HD_INT64; dtype++) {
        check_layouts(dtype, &sizes[_i], (_i + dtype) % 2, best);
    }
    hd__level = before;
}
END_TEST

/* The scratch memory of the largest cell must suffice for smaller ones. */
START_TEST(room_never_shrinks)
{
    ck_assert_ptr_nonnull(hd_cpu_level());
    int best = hd__level;
    for (hd__level = best; hd__level >= 0; hd__level--) {
        for (hd_dtype dtype = HD_FLOAT32; dtype <= HD_FLOAT64; dtype++) {
            for (int64_t m = 1; m < 2400; m += m < 60 || (m >= 1100 && m < 1140) ? 1 : 19) {
                int64_t least = 0;
                for (int64_t n = 1; n < 2400; n++) {
                    hdk_product p = {.m = m, .n = n, .k = 700, .a_row = 700};
                    hdk_product taller = {.m = m + 1, .n = n, .k = 700, .a_row = 700};
                    int64_t room = hdk_gemm()->room[dtype](&p);
                    ck_each(room >= least, "(%d, %d): %d", (int)m, (int)n, (int)room);
                    ck_each(hdk_gemm()->room[dtype](&taller) >= room, "(%d + 1, %d): %d", (int)m,
                            (int)n, (int)room);
                    least = room;
                }
            }
        }
    }
    hd__level = best;
}
END_TEST

Suite *suite_product(void)
{
    const TTest *const tests[] = {room_never_shrinks};
    Suite *s = SUITE_OF("product", tests);
    suite_add_loop(s, every_edge, sizeof sizes / sizeof *sizes);
    return s;
}
