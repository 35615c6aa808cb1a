/* test_copy.c - compares conversions, copies and elementwise walks over any strides with plain
 * loops. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "strided.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/copy.h"

/* ---------------------------------------------------------------- conversions */

/* What float64 becomes as float32, int64 and bool in PyTorch on x86-64. */
START_TEST(float64_to_every_dtype)
{
    static const double from[] = {0.0,      -0.0,
                                  1.0,      -1.0,
                                  2.5,      -2.5,
                                  0.3,      NAN,
                                  INFINITY, -INFINITY,
                                  1e10,     9.3e18,
                                  -9.3e18,  9223372036854774784.0,
                                  1e40,     -1e40,
                                  1e-320,   9007199254740993.0};
    static const int64_t whole[] = {0,           0,
                                    1,           -1,
                                    2,           -2,
                                    0,           INT64_MIN,
                                    INT64_MIN,   INT64_MIN,
                                    10000000000, INT64_MIN,
                                    INT64_MIN,   9223372036854774784,
                                    INT64_MIN,   INT64_MIN,
                                    0,           9007199254740992};
    enum { N = sizeof from / sizeof from[0] };
    HD_SCOPE;
    hd_tensor *x = hd_from_data(HD_FLOAT64, from, N);
    hd_tensor *f = hd__tensor_cast(x, HD_FLOAT32), *i = hd__tensor_cast(x, HD_INT64),
              *b = hd__tensor_cast(x, HD_BOOL);
    hd_tensor *fi = hd__tensor_cast(f, HD_INT64), *fb = hd__tensor_cast(f, HD_BOOL),
              *fd = hd__tensor_cast(f, HD_FLOAT64);
    ck_assert_ptr_eq(hd__tensor_cast(x, HD_FLOAT64), x);
    for (int64_t k = 0; k < N; k++) {
        float single = (float)from[k];
        ck_assert_int_eq(memcmp((const float *)hd_data(f) + k, &single, 4), 0);
        ck_assert_int_eq(hd_get_int(i, k), whole[k]);
        ck_assert_int_eq(hd_get_int(b, k), k > 1);
        ck_assert_int_eq(hd_get_int(fb, k), k > 1 && k != 16); /* 1e-320 is 0 as float32 */
        double d = single;
        ck_assert_int_eq(memcmp((const double *)hd_data(fd) + k, &d, 8), 0);
        if (k != 13) { /* rounds up to 2^63 as float32 */
            ck_assert_int_eq(hd_get_int(fi, k), whole[k]);
        }
    }
    ck_assert_int_eq(hd_get_int(fi, 13), INT64_MIN);
}
END_TEST

START_TEST(int64_and_bool_to_every_dtype)
{
    static const int64_t from[] = {0, 1, -1, 9007199254740993, INT64_MAX, INT64_MIN, 16777217};
    static const float single[] = {0, 1, -1, 0x1p53f, 0x1p63f, -0x1p63f, 0x1p24f};
    static const double twice[] = {0, 1, -1, 0x1p53, 0x1p63, -0x1p63, 16777217};
    HD_SCOPE;
    hd_tensor *x = hd_from_data(HD_INT64, from, 7);
    ck_assert_int_eq(memcmp(hd_data(hd__tensor_cast(x, HD_FLOAT32)), single, sizeof single), 0);
    ck_assert_int_eq(memcmp(hd_data(hd__tensor_cast(x, HD_FLOAT64)), twice, sizeof twice), 0);
    hd_tensor *b = hd__tensor_cast(x, HD_BOOL);
    ck_elements(b, 0, 1, 1, 1, 1, 1, 1);
    for (hd_dtype d = HD_FLOAT32; d <= HD_INT64; d++) {
        ck_elements(hd__tensor_cast(b, d), 0, 1, 1, 1, 1, 1, 1);
    }
}
END_TEST

/* 17 values, over and over, so that each comes to each place of a vector, and strided as well: the
 * bits are those of the value alone. */
START_TEST(conversions_do_not_depend_on_the_place)
{
    static const double some[] = {0.0,    -0.0,    1.0,   NAN,    INFINITY, -INFINITY,
                                  9.3e18, -9.3e18, 1e40,  1e-320, 2.5,      -2.5,
                                  0x1p63, -0x1p63, 1e-40, 256.0,  -1e10};
    enum { N = sizeof some / sizeof some[0], ALL = 40 * N };
    HD_SCOPE;
    for (hd_dtype from = HD_FLOAT32; from <= HD_BFLOAT16; from++) {
        for (int step = 1; step <= 3; step++) {
            hd_tensor *x = hd_empty(HD_FLOAT64, ALL);
            for (int64_t i = 0; i < ALL; i++) {
                hd_set(x, some[i % N], i);
            }
            x = hd__tensor_cast(x, from);
            hd_tensor *part = hd__tensor_alias(x, 1, (int64_t[]){ALL / step}, (int64_t[]){step}, 0);
            for (hd_dtype to = HD_FLOAT32; to <= HD_BFLOAT16; to++) {
                size_t item = hd_dtype_size(to);
                hd_tensor *y = hd__tensor_contiguous(hd__tensor_cast(part, to));
                for (int64_t i = 0; i < ALL / step; i++) {
                    hd_tensor *one =
                        hd__tensor_alias(x, 1, (int64_t[]){1}, (int64_t[]){1}, i * step);
                    const char *want = hd_data(hd__tensor_cast(one, to));
                    ck_each(memcmp((const char *)hd_data(y) + (size_t)i * item, want, item) == 0,
                            "%d to %d, step %d: element %d", from, to, step, (int)i);
                }
            }
        }
    }
}
END_TEST

/* The bfloat16 that is nearest to a finite x, of two the even one, found by comparing distances. */
static uint16_t nearest_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    const uint16_t below = (uint16_t)(bits >> 16);
    const uint32_t ends[] = {(uint32_t)below << 16, ((uint32_t)below + 1) << 16};
    float near[2];
    memcpy(near, ends, sizeof near);
    const double lo = fabs((double)x - near[0]);
    const double hi = fabs((isinf(near[1]) ? copysign(0x1p128, x) : (double)near[1]) - (double)x);
    return (uint16_t)(below + (hi < lo || (hi == lo && (below & 1))));
}

/* All 65,536 patterns, and float32 numbers on and beside the halves between them. */
START_TEST(every_bfloat16)
{
    enum { N = 1 << 16 };
    static const uint32_t beside[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    HD_SCOPE;
    hd_tensor *h = hd_empty(HD_BFLOAT16, N), *x = hd_empty(HD_FLOAT32, N);
    uint16_t *pattern = hd_data_mut(h);
    for (int i = 0; i < N; i++) {
        pattern[i] = (uint16_t)i;
    }
    ck_assert_ptr_nonnull(hd_cpu_level());
    const int best = hd__level;
    for (hd__level = 0; hd__level <= best; hd__level++) {
        const uint32_t *wide = hd_data(hd__tensor_cast(h, HD_FLOAT32));
        for (int i = 0; i < N; i++) {
            ck_each(wide[i] == (uint32_t)i << 16, "%04x becomes %08x", i, wide[i]);
        }
        for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) {
            uint32_t *bits = hd_data_mut(x);
            for (int i = 0; i < N; i++) {
                bits[i] = (uint32_t)i << 16 | beside[k];
            }
            const uint16_t *got = hd_data(hd__tensor_cast(x, HD_BFLOAT16));
            const float *from = hd_data(x);
            for (int i = 0; i < N; i++) {
                const bool ok = isnan(from[i])   ? (got[i] & 0x7fff) > 0x7f80
                                : isinf(from[i]) ? got[i] == bits[i] >> 16
                                                 : got[i] == nearest_bf16(from[i]);
                ck_each(ok, "%08x becomes %04x at level %d", bits[i], got[i], hd__level);
            }
        }
    }
    hd__level = best;
    ck_no_error();
}
END_TEST

/* What PyTorch 2.13 gives: through float32. */
START_TEST(bfloat16_and_other_dtypes)
{
    HD_SCOPE;
    hd_tensor *i = vec(HD_INT64, 16777217, 16842753, 0x1p62, -3);
    ck_elements(hd__tensor_cast(i, HD_BFLOAT16), 0x1p24, 0x1p24, 0x1p62, -3);
    hd_tensor *h = hd__tensor_cast(vec(HD_FLOAT64, NAN, 1e30, -1e30, -2.5, 0), HD_BFLOAT16);
    ck_elements(hd__tensor_cast(h, HD_INT64), INT64_MIN, INT64_MIN, INT64_MIN, -2, 0);
    ck_elements(hd__tensor_cast(h, HD_BOOL), 1, 1, 1, 1, 0);
    ck_elements(hd__tensor_cast(vec(HD_BOOL, 1, 0), HD_BFLOAT16), 1, 0);
    ck_elements(hd_full(HD_BFLOAT16, 3.14159, 2), 3.140625, 3.140625);
    ck_no_error();
    ck_assert_ptr_null(hd_full(HD_BFLOAT16, 3.4e38, 2));
    ck_error(HD_VALUE, "hd_full: value 3.4e+38: expected one that bfloat16 can hold");
    ck_assert_ptr_null(hd_rand(HD_BFLOAT16, 2));
    ck_error(HD_DTYPE, "hd_rand: dtype bfloat16: expected float32 or float64");
    ck_assert_ptr_null(hd_arange_as(HD_BFLOAT16, 0, 3, 1));
    ck_error(HD_DTYPE, "hd_arange_as: dtype bfloat16: expected float32, float64 or int64");
    ck_assert_ptr_null(hd_linspace(HD_BFLOAT16, 0, 3, 4));
    ck_error(HD_DTYPE, "hd_linspace: dtype bfloat16: expected float32, float64 or int64");
    ck_assert_ptr_null(hd_randint(HD_BFLOAT16, 0, 3, 4));
    ck_error(HD_DTYPE, "hd_randint: dtype bfloat16: expected float32, float64 or int64");
}
END_TEST

/* ---------------------------------------------------------------- copies */

static void random_sizes(dice *r, int ndim, int64_t *sizes)
{
    for (int d = 0; d < ndim; d++) {
        sizes[d] = roll(r, 12) == 0 ? 0 : 1 + roll(r, ndim > 5 ? 3 : 5);
    }
}

/* Copies src to dst; each element is where it belongs, and nothing beside them changes. */
static void check_copy(hd_tensor *dst, const hd_tensor *src, int round)
{
    hd_dtype to = hd_dtype_of(dst);
    int64_t n = (int64_t)dst->storage->nbytes / hd_dtype_size(to), wrong = 0;
    double *want = malloc(sizeof *want * (size_t)n);
    hd_tensor all = *dst;
    all.ndim = 1;
    all.sizes[0] = all.numel = n;
    all.strides[0] = 1;
    all.offset = 0;
    for (int64_t i = 0; i < n; i++) {
        want[i] = element_at(&all, i);
    }
    hd_tensor *wide = hd__tensor_expand((hd_tensor *)src, dst->ndim, dst->sizes);
    for (int64_t i = 0; i < dst->numel; i++) {
        double v = element_at(wide, i);
        want[place_of(dst, i)] = to == HD_BOOL       ? v != 0
                                 : to == HD_BFLOAT16 ? (double)hdk_from_bf16(hdk_to_bf16((float)v))
                                                     : v;
    }
    hd__tensor_copy(dst, src);
    for (int64_t i = 0; i < n; i++) {
        wrong += element_at(&all, i) != want[i];
    }
    ck_assert_msg(wrong == 0, "round %d: %lld of %lld places", round, (long long)wrong,
                  (long long)n);
    free(want);
}

START_TEST(strided_copies_touch_their_elements_only)
{
    dice r = {11};
    for (int round = 0; round < 1500; round++) { /* random layouts, all dtypes */
        HD_SCOPE;
        int64_t sizes[HD_MAX_DIMS], from_sizes[HD_MAX_DIMS];
        int ndim = (int)roll(&r, HD_MAX_DIMS + 1), lead = (int)roll(&r, (uint32_t)ndim + 1);
        hd_dtype to = (hd_dtype)roll(&r, 5), from = (hd_dtype)roll(&r, 5);
        random_sizes(&r, ndim, sizes);
        for (int d = lead; d < ndim; d++) { /* src has fewer dims, and some of size 1 */
            from_sizes[d - lead] = roll(&r, 4) == 0 ? 1 : sizes[d];
        }
        hd_tensor *dst = strided(&r, to, ndim, sizes, false);
        check_copy(dst, strided(&r, from, ndim - lead, from_sizes, true), round);
    }
}
END_TEST

/* Sizes near those of tiles, strips and tasks, for neighbouring dims and for others. */
START_TEST(transposed_copies_touch_their_elements_only)
{
    static const int64_t some[] = {1, 2, 3, 15, 16, 17, 33, 50, 64};
    dice r = {12};
    for (int round = 0; round < 200; round++) {
        HD_SCOPE;
        int ndim = 2 + (int)roll(&r, 3);
        hd_dtype d = (hd_dtype)(round % 5);
        int64_t sizes[4], numel = 1;
        for (int i = 0; i < ndim; i++) {
            sizes[i] = numel > 200 ? 2 : some[roll(&r, sizeof some / sizeof some[0])];
            numel *= sizes[i];
        }
        sizes[roll(&r, (uint32_t)ndim)] = 17;
        if (round % 8 > 5) { /* more than one task along */
            ndim = 2;
            sizes[1] = 1023 + roll(&r, 1100);
        }
        ck_assert(hd_set_num_threads(1 + round % 3));
        hd_tensor *dst =
            round % 2 ? strided(&r, d, ndim, sizes, false) : hd_zeros_n(d, ndim, sizes);
        check_copy(dst, strided(&r, d, ndim, sizes, round % 5 == 0), round);
    }
}
END_TEST

START_TEST(large_copies_are_split_over_threads)
{
    for (int threads = 1; threads <= 4; threads++) {
        HD_SCOPE;
        ck_assert(hd_set_num_threads(threads));
        hd_tensor *x = hd_arange_as(HD_FLOAT32, 0, 500 * 301, 1);
        hd_tensor *turned = hd__tensor_alias(x, 2, (int64_t[]){500, 301}, (int64_t[]){1, 500}, 0);
        hd_tensor *y = hd__tensor_clone(turned);
        const float *p = hd_data(y);
        for (int64_t i = 0; i < 500; i++) {
            for (int64_t j = 0; j < 301; j++) {
                ck_assert(p[i * 301 + j] == (float)(j * 500 + i));
            }
        }
        hd__tensor_fill(turned, hd_scalar_int(3));
        ck_assert(hd_get(x, 0) == 3 && hd_get(x, 500 * 301 - 1) == 3 && hd_get(x, 75000) == 3);
    }
}
END_TEST

START_TEST(expanded_and_contiguous)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, 1, 2, 3);
    hd_tensor *wide = hd__tensor_expand(x, 2, (int64_t[]){2, 3});
    ck_elements(wide, 1, 2, 3, 1, 2, 3);
    ck_assert(hd_shares_storage(wide, x) && hd_stride(wide, 0) == 0);
    ck_elements(hd__tensor_contiguous(wide), 1, 2, 3, 1, 2, 3);
    ck_assert_ptr_eq(hd__tensor_contiguous(x), x);
    ck_assert(!hd_shares_storage(hd__tensor_clone(x), x));
    /* As in PyTorch, a new leading dim of size 1 gets the stride that it would have in a contiguous
     * tensor. */
    ck_assert_int_eq(hd_stride(hd__tensor_expand(x, 2, (int64_t[]){1, 3}), 0), 3);
}
END_TEST

/* ---------------------------------------------------------------- walks of up to four */

/* y = a + 10 b + 100 c, int64; params NULL */
static void weigh(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    ck_assert_ptr_null(params);
    for (int64_t i = 0; i < n; i++) {
        *(int64_t *)(data[0] + i * strides[0]) = *(int64_t *)(data[1] + i * strides[1]) +
                                                 10 * *(int64_t *)(data[2] + i * strides[2]) +
                                                 100 * *(int64_t *)(data[3] + i * strides[3]);
    }
}

START_TEST(four_operands_walk_together)
{
    dice r = {5};
    for (int round = 0; round < 1500; round++) {
        HD_SCOPE;
        int64_t sizes[HD_MAX_DIMS];
        hd_tensor *x[4], *wide[4];
        int ndim = (int)roll(&r, HD_MAX_DIMS + 1);
        random_sizes(&r, ndim, sizes);
        x[0] = strided(&r, HD_INT64, ndim, sizes, false);
        for (int k = 1; k < 4; k++) {
            int lead = (int)roll(&r, (uint32_t)ndim + 1);
            int64_t own[HD_MAX_DIMS];
            for (int d = lead; d < ndim; d++) {
                own[d - lead] = roll(&r, 3) == 0 ? 1 : sizes[d];
            }
            x[k] = strided(&r, HD_INT64, ndim - lead, own, true);
            wide[k] = hd__tensor_expand(x[k], ndim, sizes);
        }
        hd__map(weigh, NULL, 4, x);
        for (int64_t i = 0; i < x[0]->numel; i++) {
            ck_assert(element_at(x[0], i) == element_at(wide[1], i) + 10 * element_at(wide[2], i) +
                                                 100 * element_at(wide[3], i));
        }
    }
}
END_TEST

START_TEST(large_walks_are_split_over_threads)
{
    for (int threads = 1; threads <= 3; threads++) {
        HD_SCOPE;
        ck_assert(hd_set_num_threads(threads));
        enum { ROWS = 300, COLUMNS = 333 };
        hd_tensor *a = hd_arange(0, ROWS * COLUMNS, 1), *b = hd_arange(0, COLUMNS, 1);
        hd_tensor *x[] = {
            hd_zeros(HD_INT64, ROWS, COLUMNS),
            hd__tensor_alias(a, 2, (int64_t[]){ROWS, COLUMNS}, (int64_t[]){1, ROWS}, 0), b,
            hd_full(HD_INT64, 2, 1)};
        hd__map(weigh, NULL, 4, x);
        const int64_t *p = hd_data(x[0]);
        for (int64_t i = 0; i < ROWS; i++) {
            for (int64_t j = 0; j < COLUMNS; j++) {
                ck_assert_int_eq(p[i * COLUMNS + j], j * ROWS + i + 10 * j + 200);
            }
        }
    }
}
END_TEST

/* Operands of every dtype, each of them with dims in an order of its own, of sizes around those of
 * tiles. What lies between the elements of the output stays. */
START_TEST(transposed_inputs_walk_in_tiles)
{
    static const int64_t some[] = {1, 3, 7, 8, 9, 15, 16, 17, 33, 64};
    dice r = {13};
    for (int round = 0; round < 130; round++) {
        HD_SCOPE;
        hd_dtype d = (hd_dtype)(round % 4);
        int ndim = 2 + (int)roll(&r, 3);
        int64_t sizes[4], numel = 1, wrong = 0;
        for (int i = 0; i < ndim; i++) {
            sizes[i] = numel > 300 ? 2 : some[roll(&r, sizeof some / sizeof some[0])];
            numel *= sizes[i];
        }
        sizes[roll(&r, (uint32_t)ndim)] = 18;
        if (round % 16 > 12) { /* several tiles along */
            ndim = 2;
            sizes[1] = 250 + roll(&r, 900);
        }
        ck_assert(hd_set_num_threads(1 + round % 3));
        hd_tensor *y = strided(&r, d, ndim, sizes, false);
        hd_tensor *c = strided(&r, HD_BOOL, ndim, sizes, round % 5 == 0);
        hd_tensor *a = strided(&r, d, ndim, sizes, round % 7 == 0);
        hd_tensor *b = strided(&r, d, ndim, sizes, round % 6 == 0);
        int64_t n = (int64_t)y->storage->nbytes / hd_dtype_size(d);
        hd_tensor *all = hd__tensor_alias(y, 1, &n, (int64_t[]){1}, 0),
                  *want = hd__tensor_clone(all);
        for (int64_t i = 0; i < y->numel; i++) {
            int64_t at = place_of(y, i);
            double v = element_at(c, i) != 0 ? element_at(a, i) : element_at(b, i);
            (hd_set_n)(want, (hd_scalar){.is_int = false, .v.d = v}, 1, &at);
        }
        hd__map(hdk_binary_loop(HDK_WHERE, d), NULL, 4, (hd_tensor *[]){y, c, a, b});
        for (int64_t i = 0; i < n; i++) {
            wrong += element_at(all, i) != element_at(want, i);
        }
        ck_assert_msg(wrong == 0, "round %d: %lld of %lld places", round, (long long)wrong,
                      (long long)n);
    }
}
END_TEST

/* The output begins anywhere in a line of the cache; the bytes around it stay. */
START_TEST(results_past_the_cache)
{
    enum { MOST = 2200, LINE = 64 };
    static _Alignas(LINE) double y[MOST + 2 * LINE], a[MOST], b[MOST];
    static const int64_t lengths[] = {0, 1, 2, 7, 8, 9, 63, 511, 512, 513, 1030, MOST};
    for (int i = 0; i < MOST; i++) {
        a[i] = i;
        b[i] = 3 * i;
    }
    hdk_past_cache p = {hdk_binary_loop(HDK_SUB, HD_FLOAT64), NULL, 3, sizeof *y};
    for (int step = 0; step <= 2; step++) {
        for (int start = 0; start <= 9; start++) {
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
                int64_t n = lengths[l] / (step == 2 ? 2 : 1), w = sizeof *y;
                for (int i = 0; i < MOST + 2 * LINE; i++) {
                    y[i] = -1;
                }
                hdk_copy()->past_cache((char *[]){(char *)(y + start), (char *)a, (char *)b},
                                       (const int64_t[]){w, w, step * w}, n, &p);
                hdk_copy()->past_cache_end();
                for (int64_t i = 0; i < MOST + 2 * LINE; i++) {
                    int64_t k = i - start;
                    double want = k >= 0 && k < n ? a[k] - b[k * step] : -1;
                    ck_each(y[i] == want, "step %d, start %d, n %d: %g at %d, expected %g", step,
                            start, (int)n, y[i], (int)i, want);
                }
            }
        }
    }
}
END_TEST

/* Each of them has a large result. */
START_TEST(large_results_are_those_of_small_ones)
{
    enum { ROWS = 2100, COLUMNS = 2011 };
    hd_set_num_threads(2);
    HD_SCOPE;
    hd_tensor *x = hd_arange_as(HD_FLOAT32, 0, ROWS * COLUMNS, 1);
    x = hd__tensor_alias(x, 2, (int64_t[]){ROWS, COLUMNS}, (int64_t[]){COLUMNS, 1}, 0);
    hd_tensor *row = hd_arange_as(HD_FLOAT32, 0, COLUMNS, 1);
    hd_tensor *sum = hd__loop_add(x, row), *copy = hd__tensor_clone(x),
              *same = hd_empty(HD_FLOAT32, ROWS, COLUMNS);
    hd__tensor_fill(same, hd_scalar_int(7));
    const float *s = hd_data(sum), *c = hd_data(copy), *f = hd_data(same);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        ck_each(c[i] == (float)i && s[i] == (float)i + (float)(i % COLUMNS) && f[i] == 7,
                "element %d: %g, %g, %g", (int)i, (double)c[i], (double)s[i], (double)f[i]);
    }
}
END_TEST

Suite *suite_copy(void)
{
    const TTest *const tests[] = {
        float64_to_every_dtype,
        int64_and_bool_to_every_dtype,
        every_bfloat16,
        bfloat16_and_other_dtypes,
        conversions_do_not_depend_on_the_place,
        strided_copies_touch_their_elements_only,
        transposed_copies_touch_their_elements_only,
        large_copies_are_split_over_threads,
        expanded_and_contiguous,
        four_operands_walk_together,
        large_walks_are_split_over_threads,
        transposed_inputs_walk_in_tiles,
        results_past_the_cache,
        large_results_are_those_of_small_ones,
    };
    return SUITE_OF("copy", tests);
}
