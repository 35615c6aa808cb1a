/* test_copies.c - tests of clone, conversion, joining, triangles and assignment: values, layouts,
 * names, dtypes and gradients as in PyTorch, and the message of every refusal. */
#include "heed/autograd.h"
#include "ramp.h"
#include "suites.h"
#include "support/support.h"

/* ---------------------------------------------------------------- clone, contiguous, to */

static void strides_are(hd_tensor *x, const int64_t *want)
{
    for (int d = 0; d < hd_ndim(x); d++) {
        ck_assert_int_eq(hd_stride(x, d), want[d]);
    }
}
#define ck_strides(x, ...) strides_are(x, (int64_t[]){__VA_ARGS__})

START_TEST(clones_keep_the_order_of_dims)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 4, 6), *y = ramp(HD_FLOAT32, 2, 3, 4);
    ck_strides(hd_clone(hd_t(x)), 1, 6);
    ck_strides(hd_clone(hd_slice_step(hd_t(x), 0, 0, 6, 2)), 1, 3);
    ck_strides(hd_clone(hd_slice_step(x, 1, 0, 6, 2)), 3, 1);
    ck_strides(hd_clone(hd_expand(ramp(HD_FLOAT32, 3, 1), 3, 4)), 4, 1);
    ck_strides(hd_clone(hd_slice(hd_permute(y, 2, 0, 1), 2, 1, 3)), 1, 8, 4);
    ck_strides(hd_clone(hd_permute(ramp(HD_FLOAT32, 2, 1, 3), 2, 1, 0)), 1, 3, 3);
    ck_strides(hd_to(hd_t(x), HD_FLOAT64), 1, 6);
    ck_strides(hd_contiguous(hd_t(x)), 4, 1);
    ck_assert(hd_equal(hd_clone(hd_permute(y, 2, 0, 1)), hd_permute(y, 2, 0, 1)));
    ck_assert(hd_equal(hd_contiguous(hd_t(x)), hd_t(x)));
    ck_no_error();
}
END_TEST

START_TEST(what_needs_no_copy_is_returned)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 2, 3);
    ck_assert_ptr_eq(hd_contiguous(x), x);
    ck_assert_ptr_eq(hd_to(x, HD_FLOAT32), x);
    ck_assert_ptr_ne(hd_clone(x), x);
    ck_assert(!hd_shares_storage(hd_clone(x), x));
    ck_assert_ptr_null(hd_to(x, (hd_dtype)9));
    ck_error(HD_DTYPE,
             "hd_to: dtype 9: expected HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL or HD_BFLOAT16");
}
END_TEST

START_TEST(names_and_gradients)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(ramp(HD_FLOAT32, 2, 3), true);
    ck_assert_str_eq(hd_grad_fn(hd_clone(x)), "CloneBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_contiguous(hd_t(x))), "CloneBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_cat(0, x, x)), "CatBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_cat(0, x)), "CatBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_stack(0, x, x)), "StackBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_tril(x, 0)), "TrilBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_triu(x, 0)), "TriuBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_setitem_scalar(hd_clone(x), 1, 0)), "CopySlices");
    ck_assert_str_eq(hd_grad_fn(hd_setitem(hd_clone(x), x, HD_ALL)), "CopyBackwards");
    hd_tensor *y = hd_to(x, HD_FLOAT64);
    ck_assert_str_eq(hd_grad_fn(y), "ToCopyBackward0");
    ck_assert(hd_backward(hd_sum(hd_mul(y, y))));
    ck_assert_int_eq(hd_dtype_of(hd_grad(x)), HD_FLOAT32);
    ck_elements(hd_grad(x), 0, 2, 4, 6, 8, 10);
    ck_assert(!hd_requires_grad(hd_to(x, HD_INT64)));
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- cat, stack */

START_TEST(joined_dtypes_and_empty_vectors)
{
    HD_SCOPE;
    hd_tensor *none = hd_zeros(HD_FLOAT64, 0), *m = hd_ones(HD_FLOAT32, 2, 3);
    ck_repr(hd_cat(0, hd_ones(HD_BOOL, 1), hd_arange(5, 7, 1)), "tensor([1, 5, 6])");
    ck_repr(hd_cat(0, none, hd_arange(5, 7, 1)), "tensor([5., 6.], dtype=torch.float64)");
    ck_repr(hd_cat(1, none), "tensor([], dtype=torch.float64)");
    ck_repr(hd_cat(-7, none, none), "tensor([], dtype=torch.float64)");
    hd_tensor *y = hd_cat(1, none, m, none);
    ck_assert(hd_dtype_of(y) == HD_FLOAT64 && hd_ndim(y) == 2 && hd_numel(y) == 6);
    ck_assert_int_eq(hd_size(hd_cat(1, hd_zeros(HD_FLOAT32, 1, 0), hd_ones(HD_FLOAT32, 1, 2)), 1),
                     2);
    ck_assert_int_eq(hd_size(hd_cat(0, hd_zeros(HD_FLOAT32, 0, 3), m), 0), 2);
    ck_assert_int_eq(hd_dtype_of(hd_stack(-1, hd_ones(HD_FLOAT32, 2), hd_ones(HD_FLOAT64, 2))),
                     HD_FLOAT64);
    ck_repr(hd_stack(0, hd_scalar_tensor(HD_FLOAT32, 1), hd_scalar_tensor(HD_INT64, 2)),
            "tensor([1., 2.])");
    hd_tensor *empty = hd_zeros(HD_FLOAT32, 2, 0);
    ck_assert_str_eq(hd_shape_repr(hd_stack(2, empty, empty)), "torch.Size([2, 0, 2])");
    ck_assert(hd_equal(hd_cat(1, hd_t(m), hd_t(m)), hd_ones(HD_FLOAT32, 3, 4)));
    ck_no_error();
}
END_TEST

/* each part's gradient in its own dtype; an empty vector's is empty */
START_TEST(joined_gradients)
{
    HD_SCOPE;
    hd_tensor *a = hd_requires_grad_(vec(HD_FLOAT32, 1, 2), true);
    hd_tensor *b = hd_requires_grad_(vec(HD_FLOAT64, 3), true);
    hd_tensor *none = hd_requires_grad_(hd_zeros(HD_FLOAT32, 0), true), *i = hd_arange(0, 2, 1);
    hd_tensor *y = hd_cat(0, a, none, i, b, a);
    ck_assert(hd_backward(hd_sum(hd_mul(y, hd_arange(1, 8, 1)))));
    ck_assert_int_eq(hd_dtype_of(hd_grad(a)), HD_FLOAT32);
    ck_elements(hd_grad(a), 1 + 6, 2 + 7);
    ck_elements(hd_grad(b), 5);
    ck_repr(hd_grad(none), "tensor([])");
    ck_no_error();
}
END_TEST

/* More parts than the arrays on the stack have room for. */
START_TEST(many_parts)
{
    enum { N = 40 };
    HD_SCOPE;
    hd_tensor *parts[N], *weights = hd_arange(0, N, 1);
    for (int i = 0; i < N; i++) {
        parts[i] = hd_requires_grad_(hd_ones(HD_FLOAT32, 1), true);
    }
    ck_assert(hd_backward(hd_sum(hd_mul(hd_cat_n(N, parts, 0), weights))));
    for (int i = 0; i < N; i++) {
        ck_elements(hd_grad(parts[i]), i);
    }
}
END_TEST

/* The part of kind `kind`, (5, rows, columns): as it is, a slice of rows that are longer, rows in
 * another order of memory, elements with gaps, of another dtype */
static hd_tensor *part_of_kind(int kind, int64_t rows, int64_t columns)
{
    hd_tensor *wide = hd_randn(HD_FLOAT32, 5, rows, 2 * columns);
    return kind == 0   ? hd_randn(HD_FLOAT32, 5, rows, columns)
           : kind == 1 ? hd_narrow(wide, 2, columns, columns)
           : kind == 2 ? hd_transpose(hd_randn(HD_FLOAT32, rows, 5, columns), 0, 1)
           : kind == 3 ? hd_slice_step(wide, 2, 0, 2 * columns, 2)
                       : hd_to(hd_randn(HD_FLOAT32, 5, rows, columns), HD_FLOAT64);
}

/* Narrow parts are copied row by row, others one by one. Each part is found again in its place. */
START_TEST(narrow_and_wide_parts)
{
    enum { KINDS = 5, PARTS = 7 };
    const int64_t rows[] = {1, 7, 8, 37, 4000}, columns[] = {1, 3, 16, 700};
    HD_SCOPE;
    for (int at = 0; at < 5 * 4 * (KINDS + 1); at++) {
        HD_SCOPE;
        hd_tensor *parts[PARTS];
        int64_t n = rows[at % 5], wide = columns[at / 5 % 4], start = 0;
        for (int k = 0; k < PARTS; k++) {
            int64_t some = n == 4000 && wide > 16 ? 16 : wide + k % 3;
            int kind = at / 20 < KINDS ? at / 20 : k;
            parts[k] = k == 3 ? hd_zeros(HD_FLOAT32, 0) : part_of_kind(kind % KINDS, n, some);
        }
        hd_tensor *y = hd_cat_n(PARTS, parts, 2);
        for (int k = 0; k < PARTS; k++) {
            if (k != 3) {
                int64_t len = hd_size(parts[k], 2);
                hd_tensor *part = hd_to(parts[k], hd_dtype_of(y));
                ck_assert(hd_equal(hd_narrow(y, 2, start, len), part));
                start += len;
            }
        }
        ck_assert_int_eq(hd_size(y, 2), start);
    }
    ck_no_error();
}
END_TEST

/* The gradient of each part goes to its place, whether all parts have one or not. */
START_TEST(gradients_of_narrow_parts)
{
    HD_SCOPE;
    for (int dim = 0; dim < 3; dim++) {
        hd_tensor *x = hd_requires_grad_(hd_randn(HD_FLOAT32, 3, 50, 67), true);
        hd_tensor *w = hd_randn(HD_FLOAT32, 3, 50, 67);
        ck_assert(hd_backward(hd_sum(hd_mul(hd_cat_list(hd_split(x, 3, dim), dim), w))));
        ck_assert(hd_equal(hd_grad(x), w));

        ck_assert(hd_set_grad(x, HD_NONE));
        hd_list *parts = hd_split(x, 3, dim);
        int64_t last = hd_list_len(parts) - 1, start = 3 * last, len = hd_size(x, dim) - start;
        ck_assert(
            hd_backward(hd_sum(hd_mul(hd_list_get(parts, last), hd_narrow(w, dim, start, len)))));
        ck_assert(hd_equal(hd_narrow(hd_grad(x), dim, start, len), hd_narrow(w, dim, start, len)));
        ck_assert_double_eq(hd_item(hd_sum(hd_abs(hd_narrow(hd_grad(x), dim, 0, start)))), 0);
    }
    ck_no_error();
}
END_TEST

START_TEST(what_cannot_be_joined)
{
    HD_SCOPE;
    hd_tensor *m = hd_ones(HD_FLOAT32, 2, 3), *v = hd_ones(HD_FLOAT32, 2);
    hd_tensor *point = hd_scalar_tensor(HD_FLOAT32, 1), *none = hd_zeros(HD_FLOAT32, 0);
    ck_assert_ptr_null(hd_cat(0, m, v));
    ck_error(HD_SHAPE,
             "hd_cat: (2, 3) and (2,) along dim 0: expected equal sizes in all other dims");
    ck_assert_ptr_null(hd_cat(1, m, hd_ones(HD_FLOAT32, 3, 3)));
    ck_error(HD_SHAPE,
             "hd_cat: (2, 3) and (3, 3) along dim 1: expected equal sizes in all other dims");
    ck_assert_ptr_null(hd_cat(2, m, m));
    ck_error(HD_INDEX, "hd_cat: dim 2 of (2, 3): expected -2 to 1");
    for (int i = 0; i < 3; i++) {
        hd_tensor *first[] = {point, none, v};
        ck_assert_ptr_null(hd_cat(0, first[i], point));
        ck_error(HD_SHAPE,
                 "hd_cat: a 0-d tensor: expected 1 dim or more. Use hd_stack for 0-d tensors");
    }
    ck_assert_ptr_null(hd_cat_n(0, &m, 0));
    ck_error(HD_VALUE, "hd_cat: 0 tensors: expected 1 or more");
    ck_assert_ptr_null(hd_cat_n(1, NULL, 0));
    ck_error(HD_NULL_ARG, "hd_cat: xs is NULL");
    ck_assert_ptr_null(hd_cat_n(2, ((hd_tensor *[]){m, NULL}), 0));
    ck_error(HD_NULL_ARG, "hd_cat: xs[1] is NULL");
    ck_assert_ptr_null(hd_stack_n(2, ((hd_tensor *[]){m, HD_NONE}), 0));
    ck_error(HD_NULL_ARG, "hd_stack: xs[1] is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_stack(0, m, v));
    ck_error(HD_SHAPE, "hd_stack: (2, 3) and (2,): expected equal shapes");
    ck_assert_ptr_null(hd_stack(3, m, m));
    ck_error(HD_INDEX, "hd_stack: dim 3 of a result with 3 dims: expected -3 to 2");
    hd_tensor *eight = hd_ones(HD_FLOAT32, 1, 1, 1, 1, 1, 1, 1, 1);
    ck_assert_ptr_null(hd_stack(0, eight));
    ck_error(HD_SHAPE, "hd_stack: 9 dimensions: expected 0 to 8");
    hd_tensor *huge = hd_expand(v, (int64_t)1 << 61, 2);
    ck_assert_ptr_null(hd_cat(0, huge, huge, huge, huge));
    ck_error(HD_MEMORY, "hd_cat: (2305843009213693952, 2) and others along dim 0: the size "
                        "overflows");
}
END_TEST

/* ---------------------------------------------------------------- triangles */

/* it selects and never multiplies, so that no -inf or NaN of the other side is left */
START_TEST(triangles_of_any_layout)
{
    HD_SCOPE;
    hd_tensor *x = hd_full(HD_FLOAT32, -INFINITY, 3, 3);
    ck_elements(hd_triu(x, 1), 0, -INFINITY, -INFINITY, 0, 0, -INFINITY, 0, 0, 0);
    ck_elements(hd_tril(hd_full(HD_FLOAT64, NAN, 2, 2), -1), 0, 0, NAN, 0);
    static const int64_t far[] = {INT64_MIN, -9, -3, -2, -1, 0, 1, 2, 3, 4, 5, INT64_MAX};
    hd_tensor *batch = hd_permute(ramp(HD_INT64, 4, 2, 3), 1, 2, 0); /* (2, 3, 4), strided */
    for (size_t k = 0; k < sizeof far / sizeof far[0]; k++) {
        hd_tensor *lower = hd_tril(batch, far[k]), *upper = hd_triu(batch, far[k]);
        ck_assert(hd_is_contiguous(lower) && hd_is_contiguous(upper));
        for (int64_t i = 0; i < 24; i++) {
            int64_t row = i / 4 % 3, column = i % 4;
            double v = element_at(batch, i);
            ck_assert(element_at(lower, i) == (column - row <= far[k] ? v : 0));
            ck_assert(element_at(upper, i) == (column - row >= far[k] ? v : 0));
        }
    }
    ck_elements(hd_triu(hd_ones(HD_BOOL, 2, 3), 1), 0, 1, 1, 0, 0, 1);
    ck_repr(hd_tril(hd_zeros(HD_FLOAT32, 0, 3), 0), "tensor([], size=(0, 3))");
    ck_repr(hd_triu(hd_zeros(HD_FLOAT32, 2, 0), 0), "tensor([], size=(2, 0))");
    ck_no_error();
    ck_assert_ptr_null(hd_tril(hd_ones(HD_FLOAT32, 3), 0));
    ck_error(HD_SHAPE, "hd_tril: (3,): expected 2 dimensions or more");
    ck_assert_ptr_null(hd_triu(hd_scalar_tensor(HD_FLOAT32, 3), 0));
    ck_error(HD_SHAPE, "hd_triu: (): expected 2 dimensions or more");
}
END_TEST

/* ---------------------------------------------------------------- assignment */

START_TEST(assigned_values_broadcast_and_convert)
{
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 3);
    ck_assert_ptr_eq(hd_setitem(x, hd_ones(HD_FLOAT64, 1, 1, 3), 0), x); /* leading ones go */
    ck_elements(x, 1, 1, 1, 0, 0, 0);
    hd_setitem(x, hd_full(HD_FLOAT32, 5, 1, 1), 0, 1);
    ck_elements(x, 1, 5, 1, 0, 0, 0);
    hd_setitem(x, hd_arange(7, 9, 1), HD_ALL, 1);
    ck_elements(x, 1, 7, 1, 0, 8, 0);
    hd_setitem(x, hd_from_data(HD_BOOL, ((uint8_t[]){1, 0, 1}), 3), -1);
    ck_elements(x, 1, 7, 1, 1, 0, 1);
    hd_setitem(x, hd_full(HD_FLOAT32, 2, 1, 2, 3), HD_ALL);
    ck_elements(x, 2, 2, 2, 2, 2, 2);
    hd_setitem_scalar(x, 4, HD_ALL, -1);
    hd_setitem_scalar(x, 0.5, 0, 0);
    ck_elements(x, 0.5, 2, 4, 2, 2, 4);
    hd_tensor *i = hd_zeros(HD_INT64, 2);
    hd_setitem(i, hd_scalar_tensor(HD_FLOAT32, 2.7), 0);
    hd_setitem_scalar(i, 3.9, 1);
    ck_elements(i, 2, 3);
    hd_setitem(x, hd_view(x, 1, 2, 3), HD_ALL); /* itself */
    ck_elements(x, 0.5, 2, 4, 2, 2, 4);
    ck_no_error();
}
END_TEST

START_TEST(assignments_that_are_refused)
{
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 3),
              *leaf = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
    ck_assert_ptr_null(hd_setitem(x, hd_ones(HD_FLOAT32, 4), 0));
    ck_error(HD_SHAPE, "hd_setitem: value (4,): expected a shape that broadcasts to (3,)");
    ck_assert_ptr_null(hd_setitem(x, hd_ones(HD_FLOAT32, 2, 3), 0));
    ck_error(HD_SHAPE, "hd_setitem: value (2, 3): expected a shape that broadcasts to (3,)");
    ck_assert_ptr_null(hd_setitem(x, hd_ones(HD_FLOAT32, 2, 1, 3), 0));
    ck_error(HD_SHAPE, "hd_setitem: value (2, 1, 3): expected a shape that broadcasts to (3,)");
    ck_assert_ptr_null(hd_setitem(x, hd_zeros(HD_FLOAT32, 0), 0));
    ck_error(HD_SHAPE, "hd_setitem: value (0,): expected a shape that broadcasts to (3,)");
    ck_assert_ptr_null(hd_setitem(x, x, 2));
    ck_error(HD_INDEX, "hd_setitem: index 2 at dim 0 of (2, 3): expected -2 to 1");
    ck_assert_ptr_null(hd_setitem_scalar(x, 1, 0, 0, 0));
    ck_error(HD_INDEX, "hd_setitem_scalar: 3 indices into (2, 3): expected 0 to 2");
    ck_assert_ptr_null(hd_setitem_scalar(x, 1e40, 0));
    ck_error(HD_VALUE, "hd_setitem_scalar: value 1e+40: expected one that float32 can hold");
    ck_assert_ptr_null(hd_setitem_scalar(hd_scalar_tensor(HD_FLOAT32, 1), 1, 0));
    ck_error(HD_SHAPE, "hd_setitem_scalar: x is 0-d: expected 1 dim or more");
    ck_assert_ptr_null(hd_setitem_scalar(leaf, 1, 0));
    ck_error(HD_GRAD, "hd_setitem_scalar: x of () is a view of a leaf that requires grad. Change "
                      "it under HD_NO_GRAD");
    ck_assert_ptr_null(hd_setitem(leaf, leaf, HD_ALL));
    ck_error(HD_GRAD, "hd_setitem: x of (2,) is a leaf that requires grad. Change it under "
                      "HD_NO_GRAD, or change a clone of it");
    ck_assert_ptr_null(hd_setitem(hd_expand(x, 2, 2, 3), x, HD_ALL));
    ck_error(
        HD_STATE,
        "hd_setitem: x of (2, 2, 3) is expanded: several elements share memory. Clone it first");
    ck_elements(x, 0, 0, 0, 0, 0, 0);
    ck_elements(leaf, 1, 1);
    ck_assert_int_eq(hd_version_of(x), 0);
}
END_TEST

/* ---------------------------------------------------------------- repeat */

START_TEST(repeats_of_any_layout)
{
    HD_SCOPE;
    hd_tensor *x = hd_t(hd_view(vec(HD_FLOAT32, 0, 1, 2, 3), 2, 2)); /* 0 2, 1 3 */
    ck_elements(hd_repeat(x, 1, 2), 0, 2, 0, 2, 1, 3, 1, 3);
    ck_elements(hd_repeat(x, 2, 1, 1), 0, 2, 1, 3, 0, 2, 1, 3);
    ck_elements(hd_repeat_interleave(x, 2, 0), 0, 2, 0, 2, 1, 3, 1, 3);
    ck_elements(hd_repeat_interleave(x, 2, -1), 0, 0, 2, 2, 1, 1, 3, 3);
    ck_repr(hd_repeat(x, 0, 2), "tensor([], size=(0, 4))");
    ck_repr(hd_repeat_n(hd_scalar_tensor(HD_BOOL, 1), 0, NULL), "tensor(True)");
    ck_no_error();
}
END_TEST

/* What lies between x and an empty result is empty too, in both directions. */
START_TEST(many_repeats_of_nothing)
{
    HD_SCOPE;
    const int64_t many = INT64_C(1) << 50;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true);
    hd_tensor *all[] = {hd_repeat(x, many, 0), hd_repeat(x, 0, many)};
    ck_assert(hd_size(all[0], 0) == 2 * many && hd_size(all[0], 1) == 0);
    ck_assert(hd_size(all[1], 0) == 0 && hd_size(all[1], 1) == 3 * many);
    for (int i = 0; i < 2; i++) {
        hd_set_grad(x, NULL);
        ck_assert_msg(hd_backward(hd_sum(all[i])), "%d: %s", i, hd_error_message());
        ck_elements(hd_grad(x), 0, 0, 0, 0, 0, 0);
    }
}
END_TEST

/* Also once, and of nothing, it is memory of its own that may be changed. */
START_TEST(repeats_are_copies)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true);
    hd_tensor *none = hd_requires_grad_(hd_ones(HD_FLOAT32, 0, 3), true);
    ck_assert_ptr_nonnull(hd_fill_(hd_repeat(x, 1, 1), 2));
    ck_assert_ptr_nonnull(hd_fill_(hd_repeat(x, 2, 1), 2));
    ck_assert_ptr_nonnull(hd_fill_(hd_repeat_interleave(x, 1, 0), 2));
    ck_assert_ptr_nonnull(hd_fill_(hd_repeat_interleave(none, 2, 0), 2));
    ck_elements(x, 1, 1, 1, 1, 1, 1);
    ck_no_error();
}
END_TEST

START_TEST(repeats_that_are_refused)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3);
    ck_assert_ptr_null(hd_repeat(x, 2));
    ck_error(HD_SHAPE, "hd_repeat: 1 repeats for (2, 3): expected at least one for each dim");
    ck_assert_ptr_null(hd_repeat(x, 2, -1));
    ck_error(HD_VALUE, "hd_repeat: -1 repeats: expected 0 or more");
    ck_assert_ptr_null(hd_repeat(x, INT64_MAX, 1));
    ck_error(HD_MEMORY, "hd_repeat: (2, 3) repeated 9223372036854775807 times: the size overflows");
    ck_assert_ptr_null(hd_repeat_n(x, 9, NULL));
    ck_error(HD_SHAPE, "hd_repeat: 9 dimensions: expected 0 to 8");
    ck_assert_ptr_null(hd_repeat_interleave(x, -1, 0));
    ck_error(HD_VALUE, "hd_repeat_interleave: -1 repeats: expected 0 or more");
    ck_assert_ptr_null(hd_repeat_interleave(hd_scalar_tensor(HD_FLOAT32, 1), 2, 0));
    ck_error(HD_SHAPE, "hd_repeat_interleave: x is 0-d: expected 1 dim or more");
}
END_TEST

Suite *suite_copies(void)
{
    const TTest *const tests[] = {
        clones_keep_the_order_of_dims,
        what_needs_no_copy_is_returned,
        names_and_gradients,
        joined_dtypes_and_empty_vectors,
        joined_gradients,
        many_parts,
        narrow_and_wide_parts,
        gradients_of_narrow_parts,
        what_cannot_be_joined,
        triangles_of_any_layout,
        assigned_values_broadcast_and_convert,
        assignments_that_are_refused,
        repeats_of_any_layout,
        many_repeats_of_nothing,
        repeats_are_copies,
        repeats_that_are_refused,
    };
    return SUITE_OF("copies", tests);
}
