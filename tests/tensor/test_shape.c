/* test_shape.c - compares dims, broadcasting, promotion, and views without copies with counting
 * index by index. The tables are PyTorch's. */
#include "strided.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/strides.h"

/* ---------------------------------------------------------------- texts and dims */

START_TEST(shapes_as_pythons_tuples)
{
    char text[HD__SHAPE_TEXT];
    ck_assert_str_eq(hd__text_of_sizes(0, NULL, text), "()");
    ck_assert_str_eq(hd__text_of_sizes(1, (int64_t[]){3}, text), "(3,)");
    ck_assert_str_eq(hd__text_of_sizes(3, (int64_t[]){2, 0, -1}, text), "(2, 0, -1)");
    int64_t most[HD_MAX_DIMS];
    for (int i = 0; i < HD_MAX_DIMS; i++) {
        most[i] = INT64_MIN;
    }
    ck_assert_int_eq(strlen(hd__text_of_sizes(HD_MAX_DIMS, most, text)), 8 * 20 + 7 * 2 + 2);
}
END_TEST

START_TEST(dims_count_from_both_ends)
{
    HD__CALL("f");
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 6, 3), *point = hd_zeros_n(HD_FLOAT32, 0, NULL);
    for (int d = 0; d < 3; d++) {
        ck_assert_int_eq(hd__tensor_dim(x, d), d);
        ck_assert_int_eq(hd__tensor_dim(x, d - 3), d);
    }
    ck_assert_int_eq(hd__tensor_dim(x, 3), -1);
    ck_error(HD_INDEX, "f: dim 3 of (2, 6, 3): expected -3 to 2");
    ck_assert_int_eq(hd__tensor_dim(x, INT64_MIN), -1);
    ck_error(HD_INDEX, "f: dim -9223372036854775808 of (2, 6, 3): expected -3 to 2");
    ck_assert_int_eq(hd__tensor_dim(point, 0), 0);
    ck_assert_int_eq(hd__tensor_dim(point, -1), 0);
    ck_assert_int_eq(hd__tensor_dim(point, 1), -1);
    ck_error(HD_INDEX, "f: dim 1 of (): expected -1 to 0");
}
END_TEST

START_TEST(lists_of_dims)
{
    HD__CALL("f");
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 6, 3), *point = hd_zeros_n(HD_FLOAT32, 0, NULL);
    ck_assert_int_eq(hd__dims_mask(x, 2, (int64_t[]){-1, 0}), 5);
    ck_assert_int_eq(hd__dims_mask(x, 0, NULL), 7);
    ck_assert_int_eq(hd__dims_mask(point, 1, (int64_t[]){-1}), 1);
    ck_assert_int_eq(hd__dims_mask(x, 2, (int64_t[]){2, -1}), 0);
    ck_error(HD_INDEX, "f: dim 2 of (2, 6, 3) appears twice: expected distinct dims");
    ck_assert_int_eq(hd__dims_mask(x, 1, (int64_t[]){-4}), 0);
    ck_error(HD_INDEX, "f: dim -4 of (2, 6, 3): expected -3 to 2");
    ck_assert_int_eq(hd__dims_mask(x, 1, NULL), 0);
    ck_error(HD_NULL_ARG, "f: dims is NULL");
}
END_TEST

/* ---------------------------------------------------------------- broadcasting, promotion */

static hd_tensor *of(int ndim, const int64_t *sizes)
{
    return hd_empty_n(HD_FLOAT32, ndim, sizes);
}
#define OF(...) of(HD__LIST(__VA_ARGS__))

START_TEST(broadcast_shapes)
{
    HD__CALL("f");
    HD_SCOPE;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    char text[HD__SHAPE_TEXT];
    hd_tensor *sets[][3] = {
        {OF(2, 1, 3), OF(5, 1), of(0, NULL)},
        {OF(1), OF(0), HD_NONE},
        {OF(4, 1), HD_NONE, OF(1, 1, 1)},
        {of(0, NULL), of(0, NULL), HD_NONE},
        {OF(1, 2, 3, 4, 5, 6, 7, 8), OF(8), OF(6, 1, 1)},
    };
    const char *wants[] = {"(2, 5, 3)", "(0,)", "(1, 4, 1)", "()", "(1, 2, 3, 4, 5, 6, 7, 8)"};
    for (int i = 0; i < 5; i++) {
        ck_assert(hd__tensor_broadcast(3, sets[i], &ndim, sizes));
        ck_assert_str_eq(hd__text_of_sizes(ndim, sizes, text), wants[i]);
    }
    ck_assert(!hd__tensor_broadcast(2, (hd_tensor *[]){OF(2, 3), OF(4)}, &ndim, sizes));
    ck_error(HD_SHAPE, "f: (2, 3) and (4,): sizes 3 and 4 at dim -1 do not broadcast");
    ck_assert(!hd__tensor_broadcast(2, (hd_tensor *[]){OF(0), OF(2)}, &ndim, sizes));
    ck_error(HD_SHAPE, "f: (0,) and (2,): sizes 0 and 2 at dim -1 do not broadcast");
    ck_assert(!hd__tensor_broadcast(3, (hd_tensor *[]){OF(2, 1), OF(7), OF(3, 1)}, &ndim, sizes));
    ck_error(HD_SHAPE, "f: (2, 1) and (7,) and (3, 1): sizes 2 and 3 at dim -2 do not broadcast");
}
END_TEST

START_TEST(promotion_is_pytorchs)
{
    enum { F = HD_FLOAT32, D = HD_FLOAT64, I = HD_INT64, B = HD_BOOL };
    static const int want[2][2][4][4] = {
        /* both 0-d; the second has dims */
        {{{F, D, F, F}, {D, D, D, D}, {F, D, I, I}, {F, D, I, B}},
         {{F, D, F, F}, {F, D, D, D}, {F, D, I, I}, {F, D, I, B}}},
        /* the first has dims; both have */
        {{{F, F, F, F}, {D, D, D, D}, {F, D, I, I}, {F, D, I, B}},
         {{F, D, F, F}, {D, D, D, D}, {F, D, I, I}, {F, D, I, B}}},
    };
    HD_SCOPE;
    for (int i = 0; i < 64; i++) {
        int na = i >> 5, nb = i >> 4 & 1, da = i >> 2 & 3, db = i & 3;
        hd_tensor *a = hd_empty_n((hd_dtype)da, na, (int64_t[]){1});
        hd_tensor *b = hd_empty_n((hd_dtype)db, nb, (int64_t[]){1});
        ck_assert_int_eq(hd__tensor_promote(a, b), want[na][nb][da][db]);
    }
    static const int with_int[] = {F, D, I, I}, with_double[] = {F, D, F, F};
    for (int i = 0; i < 8; i++) {
        hd_tensor *a = hd_empty_n((hd_dtype)(i & 3), i >> 2, (int64_t[]){1});
        ck_assert_int_eq(hd__tensor_promote_scalar(a, hd_scalar_int(1)), with_int[i & 3]);
        ck_assert_int_eq(hd__tensor_promote_scalar(a, hd_scalar_double(1.5)), with_double[i & 3]);
    }
}
END_TEST

/* ---------------------------------------------------------------- views */

/* May x be viewed with these sizes? The stride of a dim is the distance to its index 1; then all
 * elements must fit. */
static bool naive_view(const hd_tensor *x, int ndim, const int64_t *sizes)
{
    hd_tensor view = {.ndim = (uint8_t)ndim, .offset = x->offset};
    int64_t inner = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        view.sizes[d] = sizes[d];
        view.strides[d] = sizes[d] > 1 ? place_of(x, inner) - x->offset : 0;
        inner *= sizes[d];
    }
    for (int64_t i = 0; i < x->numel; i++) {
        if (place_of(&view, i) != place_of(x, i)) {
            return false;
        }
    }
    return true;
}

/* Splits n into random factors. */
static int random_shape_of(dice *r, int64_t n, int64_t *sizes)
{
    int ndim = 0;
    while (n > 1 && ndim < HD_MAX_DIMS - 1) {
        int64_t f = 1 + roll(r, 6);
        if (n % f == 0) {
            sizes[ndim++] = f;
            n /= f;
        }
    }
    if (n > 1 || ndim == 0) {
        sizes[ndim++] = n;
    }
    return ndim;
}

START_TEST(a_view_is_there_exactly_when_indices_allow_it)
{
    dice r = {7};
    int allowed = 0, refused = 0;
    for (int round = 0; round < 4000; round++) {
        HD_SCOPE;
        int64_t sizes[HD_MAX_DIMS], fit[HD_MAX_DIMS], strides[HD_MAX_DIMS];
        int ndim = (int)roll(&r, 5);
        for (int d = 0; d < ndim; d++) {
            sizes[d] = 1 + roll(&r, 4);
        }
        hd_tensor *x = strided(&r, HD_BOOL, ndim, sizes, true);
        int n = random_shape_of(&r, x->numel, fit);
        bool views = hd__tensor_view_strides(x, n, fit, strides);
        ck_assert_int_eq(views, naive_view(x, n, fit));
        if (views) {
            hd_tensor *y = hd__tensor_alias(x, n, fit, strides, x->offset);
            for (int64_t i = 0; i < x->numel; i++) {
                ck_assert_int_eq(place_of(y, i), place_of(x, i));
            }
        }
        allowed += views;
        refused += !views;
    }
    ck_assert_int_gt(allowed, 1000);
    ck_assert_int_gt(refused, 500);
}
END_TEST

/* PyTorch's strides where the elements alone do not determine them: for sizes 1 and 0. */
START_TEST(strides_that_nobody_walks)
{
    static const struct {
        int n, m;
        int64_t sizes[4], strides[4], view[4], want[4];
    } cases[] = {
        {2, 1, {3, 1}, {1, 50}, {3}, {1}},
        {2, 2, {3, 1}, {1, 50}, {3, 1}, {1, 50}},
        {2, 2, {1, 3}, {50, 1}, {1, 3}, {3, 1}},
        {2, 2, {1, 3}, {50, 1}, {3, 1}, {1, 1}},
        {2, 4, {3, 1}, {1, 50}, {1, 3, 1, 1}, {3, 1, 50, 50}},
        {1, 2, {1}, {50}, {1, 1}, {50, 50}},
        {0, 2, {0}, {0}, {1, 1}, {1, 1}},
        {2, 2, {0, 3}, {3, 1}, {3, 0}, {1, 1}},
        {3, 2, {2, 0, 3}, {3, 3, 1}, {0, 5}, {5, 1}},
        {3, 3, {3, 0, 2}, {1, 3, 3}, {3, 0, 2}, {1, 3, 3}},
        {3, 4, {3, 0, 2}, {1, 3, 3}, {3, 0, 2, 1}, {2, 2, 1, 1}},
    };
    HD_SCOPE;
    hd_tensor *all = hd_zeros(HD_FLOAT32, 60);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t strides[HD_MAX_DIMS];
        hd_tensor *x = hd__tensor_alias(all, cases[i].n, cases[i].sizes, cases[i].strides, 0);
        ck_assert(hd__tensor_view_strides(x, cases[i].m, cases[i].view, strides));
        for (int d = 0; d < cases[i].m; d++) {
            ck_assert_int_eq(strides[d], cases[i].want[d]);
        }
    }
}
END_TEST

START_TEST(contiguous_and_overlapping)
{
    HD_SCOPE;
    hd_tensor *all = hd_zeros(HD_FLOAT32, 60);
    static const struct {
        int n;
        int64_t sizes[3], strides[3];
        bool contiguous, overlaps;
    } cases[] = {
        {0, {0}, {0}, true, false},        {2, {2, 3}, {3, 1}, true, false},
        {2, {3, 2}, {1, 3}, false, false}, {2, {1, 3}, {50, 1}, true, false},
        {2, {0, 3}, {1, 7}, true, false},  {2, {2, 3}, {0, 1}, false, true},
        {2, {1, 3}, {0, 1}, true, false},  {2, {0, 3}, {1, 0}, true, false},
        {1, {3}, {2}, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hd_tensor *x = hd__tensor_alias(all, cases[i].n, cases[i].sizes, cases[i].strides, 0);
        ck_assert_int_eq(hd_is_contiguous(x), cases[i].contiguous);
        ck_assert_int_eq(hd__tensor_overlaps_itself(x), cases[i].overlaps);
    }
}
END_TEST

START_TEST(one_size_is_inferred)
{
    HD__CALL("f");
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 6), *none = hd_zeros(HD_FLOAT32, 0, 3);
    int64_t fit[HD_MAX_DIMS];
    ck_assert(hd__tensor_infer_sizes(x, 3, (int64_t[]){2, -1, 3}, fit));
    ck_assert_int_eq(fit[1], 2);
    ck_assert(hd__tensor_infer_sizes(none, 2, (int64_t[]){-1, 3}, fit));
    ck_assert_int_eq(fit[0], 0);
    ck_assert(hd__tensor_infer_sizes(none, 1, (int64_t[]){-1}, fit));
    ck_assert_int_eq(fit[0], 0);
    ck_assert(!hd__tensor_infer_sizes(x, 2, (int64_t[]){-1, -1}, fit));
    ck_error(HD_SHAPE, "f: (2, 6) as (-1, -1): expected sizes of 0 or more and at most one -1");
    ck_assert(!hd__tensor_infer_sizes(x, 2, (int64_t[]){-2, 6}, fit));
    ck_error(HD_SHAPE, "f: (2, 6) as (-2, 6): expected sizes of 0 or more and at most one -1");
    ck_assert(!hd__tensor_infer_sizes(x, 2, (int64_t[]){5, -1}, fit));
    ck_error(HD_SHAPE, "f: (2, 6) as (5, -1): the 12 elements do not fit");
    ck_assert(!hd__tensor_infer_sizes(x, 1, (int64_t[]){13}, fit));
    ck_error(HD_SHAPE, "f: (2, 6) as (13,): the 12 elements do not fit");
    ck_assert(!hd__tensor_infer_sizes(none, 2, (int64_t[]){0, -1}, fit));
    ck_error(HD_SHAPE, "f: (0, 3) as (0, -1): the 0 elements do not fit");
    ck_assert(!hd__tensor_infer_sizes(x, 2, (int64_t[]){INT64_MAX, INT64_MAX}, fit));
    ck_error(HD_SHAPE, "f: (2, 6) as (9223372036854775807, 9223372036854775807): the 12 elements "
                       "do not fit");
    ck_assert(!hd__tensor_infer_sizes(x, 9, (int64_t[9]){12}, fit));
    ck_error(HD_SHAPE, "f: 9 dimensions: expected 0 to 8");
    ck_assert(!hd__tensor_infer_sizes(x, 2, NULL, fit));
    ck_error(HD_NULL_ARG, "f: sizes is NULL");
}
END_TEST

Suite *suite_shape(void)
{
    const TTest *const tests[] = {
        shapes_as_pythons_tuples,
        dims_count_from_both_ends,
        lists_of_dims,
        broadcast_shapes,
        promotion_is_pytorchs,
        a_view_is_there_exactly_when_indices_allow_it,
        strides_that_nobody_walks,
        contiguous_and_overlapping,
        one_size_is_inferred,
    };
    return SUITE_OF("shape", tests);
}
