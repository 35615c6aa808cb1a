/* test_view.c - tests of views: values, strides and names as in PyTorch, and the message of every
 * refusal. */
#include "heed/autograd.h"
#include "ramp.h"
#include "suites.h"
#include "support/support.h"

/* Asserts x's sizes and then its strides: ck_layout(x, 2, 2, 3, 3, 1) for (2, 3) and (3, 1) */
#define ck_layout(x, ndim, ...) layout_is(x, ndim, (int64_t[]){__VA_ARGS__, 0}, #x)

static void layout_is(hd_tensor *x, int ndim, const int64_t *want, const char *text)
{
    ck_assert_msg(x && hd_ndim(x) == ndim, "%s: %s", text, hd_error_message());
    for (int d = 0; d < ndim; d++) {
        ck_assert_msg(hd_size(x, d) == want[d] && hd_stride(x, d) == want[ndim + d],
                      "%s: dim %d has size %lld and stride %lld", text, d, (long long)hd_size(x, d),
                      (long long)hd_stride(x, d));
    }
}

/* ---------------------------------------------------------------- layouts and names */

START_TEST(strides_are_pytorchs)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 2, 3), *t = hd_t(x), *point = hd_scalar_tensor(HD_FLOAT32, 1);
    ck_layout(t, 2, 3, 2, 1, 3);
    ck_layout(hd_unsqueeze(x, 0), 3, 1, 2, 3, 6, 3, 1);
    ck_layout(hd_unsqueeze(x, 1), 3, 2, 1, 3, 3, 3, 1);
    ck_layout(hd_unsqueeze(x, -1), 3, 2, 3, 1, 3, 1, 1);
    ck_layout(hd_unsqueeze(t, 1), 3, 3, 1, 2, 1, 6, 3);
    ck_layout(hd_unsqueeze(t, 2), 3, 3, 2, 1, 1, 3, 1);
    ck_layout(hd_unsqueeze(point, -1), 1, 1, 1);
    ck_layout(hd_expand(ramp(HD_FLOAT32, 2, 1), 4, 2, 3), 3, 4, 2, 3, 0, 1, 0);
    ck_layout(hd_expand(ramp(HD_FLOAT32, 3), 1, 3), 2, 1, 3, 3, 1);
    ck_assert_int_eq(hd_ndim(hd_expand(ramp(HD_FLOAT32, 1), 1, 1, 1, 1, 1, 1, 1, 2)), HD_MAX_DIMS);
    ck_layout(hd_expand(ramp(HD_FLOAT32, 3), 1, 1, 3), 3, 1, 1, 3, 3, 3, 1);
    ck_layout(hd_expand(ramp(HD_FLOAT32, 1, 3), 1, -1), 2, 1, 3, 3, 1);
    ck_layout(hd_expand(hd_zeros(HD_FLOAT32, 0, 1), 0, 4), 2, 0, 4, 1, 0);
    ck_layout(hd_expand(ramp(HD_FLOAT32, 1), 0), 1, 0, 0);
    ck_layout(hd_expand(point, 2, 0), 2, 2, 0, 0, 0);
    ck_layout(hd_expand(point, 1), 1, 1, 0);
    ck_layout(hd_expand(hd_select(ramp(HD_FLOAT32, 3), 0, 1), 1, 2, 1), 3, 1, 2, 1, 0, 0, 0);
    ck_layout(hd_expand(hd_expand(point, 1), 1, 1), 2, 1, 1, 0, 0);
    ck_assert(hd_is_contiguous(hd_expand(point, 1, 1)));
    ck_elements(hd_mul_(point, hd_select(hd_expand(point, 1), 0, 0)), 1);
    ck_layout(hd_slice_step(x, 0, 0, HD_END, 100), 2, 1, 3, 300, 1);
    ck_layout(hd_view(hd_slice_step(x, 0, 0, HD_END, 100), 3), 1, 3, 1);
    ck_layout(hd_slice_step(x, 1, 1, HD_END, INT64_MAX), 2, 2, 1, 3, INT64_MAX);
    ck_layout(hd_slice(x, 1, -2, HD_END), 2, 2, 2, 3, 1);
    hd_tensor *far = hd_slice_step(hd_slice(x, 1, 1, HD_END), 1, 0, HD_END, INT64_MAX);
    ck_layout(far, 2, 2, 1, 3, INT64_MAX);
    ck_assert_int_eq(hd_storage_offset(hd_slice(far, 1, 1, HD_END)), 1); /* nothing is left */
    ck_layout(hd_view(hd_zeros(HD_FLOAT32, 0, 3), 3, 0), 2, 3, 0, 1, 1);
    ck_layout(hd_view(hd_scalar_tensor(HD_FLOAT32, 1), 1, 1), 2, 1, 1, 1, 1);
    ck_layout(hd_reshape(t, 3, 2), 2, 3, 2, 1, 3);
    ck_layout(hd_reshape(t, 6), 1, 6, 1);
    ck_layout(hd_permute(ramp(HD_FLOAT32, 2, 3, 4), -1, 0, 1), 3, 4, 2, 3, 1, 12, 4);
    ck_layout(hd_select(ramp(HD_FLOAT32, 2, 3, 4), 1, -1), 2, 2, 4, 12, 1);
    ck_assert_int_eq(hd_storage_offset(hd_select(ramp(HD_FLOAT32, 2, 3, 4), 1, -1)), 8);
    ck_assert_int_eq(hd_storage_offset(hd_slice(hd_slice(x, 0, 1, 2), 1, 1, 3)), 4);
    ck_no_error();
}
END_TEST

START_TEST(views_share_and_reshape_copies_only_if_it_must)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 2, 3), *t = hd_t(x);
    hd_tensor *views[] = {hd_view(x, 6),
                          hd_reshape(x, 3, 2),
                          hd_reshape(t, 3, 1, 2),
                          hd_flatten(x, 0, 1),
                          hd_squeeze_all(x),
                          hd_expand(x, 2, 2, 3),
                          hd_select(x, 0, 1),
                          hd_slice(x, 0, 1, 2),
                          hd_detach(x),
                          hd_getitem(x, HD_ALL),
                          hd_getitem(x, HD_ALL, HD_ALL),
                          hd_list_get(hd_unbind(x, 1), 2)};
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        ck_assert(views[i] != x && hd_shares_storage(views[i], x));
    }
    ck_assert(!hd_shares_storage(hd_reshape(t, 6), x));
    ck_assert(!hd_shares_storage(hd_flatten(t, 0, -1), x));
    ck_elements(hd_reshape(t, 6), 0, 3, 1, 4, 2, 5);
    ck_assert_ptr_eq(hd_flatten(x, 1, 1), x);
    ck_repr(hd_flatten(hd_scalar_tensor(HD_FLOAT32, 2), 0, -1), "tensor([2.])");
    ck_no_error();
}
END_TEST

START_TEST(names_are_pytorchs)
{
    HD_SCOPE;
    hd_tensor *x = hd_mul_scalar(hd_requires_grad_(ramp(HD_FLOAT32, 2, 3), true), 1), *t = hd_t(x);
    hd_tensor *point = hd_requires_grad_(hd_scalar_tensor(HD_FLOAT32, 1), true);
    const struct {
        hd_tensor *y;
        const char *name;
    } cases[] = {
        {hd_view(x, 3, 2), "ViewBackward0"},
        {hd_reshape(x, 3, 2), "ViewBackward0"},
        {hd_reshape(t, 3, 2), "ReshapeAliasBackward0"},
        {hd_reshape(t, 6), "UnsafeViewBackward0"},
        {hd_flatten(x, 0, 1), "ViewBackward0"},
        {hd_flatten(t, 0, 1), "UnsafeViewBackward0"},
        {hd_flatten(point, 0, 0), "ViewBackward0"},
        {hd_flatten(x, 1, 1), "MulBackward0"},
        {hd_expand(x, 2, 3), "ExpandBackward0"},
        {hd_squeeze(x, 0), "SqueezeBackward1"},
        {hd_squeeze(point, -1), "SqueezeBackward1"},
        {hd_squeeze_all(x), "SqueezeBackward0"},
        {hd_unsqueeze(point, 0), "UnsqueezeBackward0"},
        {hd_transpose(x, 0, 1), "TransposeBackward0"},
        {hd_transpose(x, 0, 0), "TransposeBackward0"},
        {hd_transpose(point, 0, -1), "TransposeBackward0"},
        {t, "PermuteBackward0"},
        {hd_t(hd_select(x, 0, 0)), "PermuteBackward0"},
        {hd_t(point), "PermuteBackward0"},
        {hd_permute_n(point, 0, NULL), "PermuteBackward0"},
        {hd_select(x, 0, 0), "SelectBackward0"},
        {hd_slice(x, 0, 0, HD_END), "SliceBackward0"},
        {hd_slice_step(x, 0, 0, 2, 2), "SliceBackward0"},
        {hd_narrow(x, 0, -1, 1), "SliceBackward0"},
        {hd_getitem(x, 1), "SelectBackward0"},
        {hd_getitem(x, HD_ALL), "SliceBackward0"},
        {hd_getitem(x, HD_ALL, HD_ALL), "AliasBackward0"},
        {hd_getitem(x, HD_ALL, 1), "SelectBackward0"},
        {hd_list_get(hd_unbind(x, 0), 0), "UnbindBackward0"},
        {hd_list_get(hd_split(x, 1, 0), 0), "SplitBackward0"},
        {hd_list_get(hd_split_sizes_n(x, 2, (int64_t[]){1, 2}, 1), 0), "SplitWithSizesBackward0"},
        {hd_list_get(hd_chunk(x, 2, 0), 0), "SplitBackward0"},
        {hd_list_get(hd_chunk(hd_slice(x, 0, 0, 0), 2, 0), 0), "SplitWithSizesBackward0"},
        {hd_detach(x), ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_str_eq(hd_grad_fn(cases[i].y), cases[i].name);
    }
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- parts */

START_TEST(slices_clamp_as_pythons)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 5);
    ck_elements(hd_slice(x, 0, -3, -1), 2, 3);
    ck_elements(hd_slice(x, 0, -100, 2), 0, 1);
    ck_elements(hd_slice(x, 0, 3, 100), 3, 4);
    ck_elements(hd_slice_step(x, -1, 1, HD_END, 3), 1, 4);
    ck_elements(hd_slice_step(x, 0, 0, HD_END, INT64_MAX), 0);
    ck_repr(hd_slice(x, 0, 4, 2), "tensor([])");
    ck_repr(hd_slice(x, 0, 100, HD_END), "tensor([])");
    ck_repr(hd_slice(x, 0, INT64_MIN, INT64_MIN), "tensor([])");
    ck_elements(hd_narrow(x, 0, -2, 2), 3, 4);
    ck_repr(hd_narrow(x, 0, 5, 0), "tensor([])");
    ck_no_error();
}
END_TEST

static void lengths_are(hd_list *l, int dim, int n, const int64_t *want)
{
    ck_assert_msg(l && hd_list_len(l) == n, "%s", hd_error_message());
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(hd_size(hd_list_get(l, i), dim), want[i]);
    }
}
#define ck_lengths(l, dim, ...) lengths_are(l, dim, HD__LIST(__VA_ARGS__))

START_TEST(splits_and_chunks)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 5, 2), *none = hd_zeros(HD_FLOAT32, 0, 2);
    ck_lengths(hd_split(x, 2, 0), 0, 2, 2, 1);
    ck_lengths(hd_split(x, 9, 0), 0, 5);
    ck_lengths(hd_split(none, 3, 0), 0, 0);
    ck_lengths(hd_split(none, 0, 0), 0, 0);
    ck_lengths(hd_split(none, 1, 1), 1, 1, 1);
    ck_lengths(hd_chunk(x, 3, 0), 0, 2, 2, 1);
    ck_lengths(hd_chunk(x, 4, 0), 0, 2, 2, 1); /* three, not four */
    ck_lengths(hd_chunk(x, 9, -2), 0, 1, 1, 1, 1, 1);
    ck_lengths(hd_chunk(none, 3, 0), 0, 0, 0, 0);
    ck_lengths(hd_split_sizes_n(x, 3, (int64_t[]){0, 4, 1}, 0), 0, 0, 4, 1);
    ck_assert_int_eq(hd_list_len(hd_split_sizes_n(none, 0, NULL, 0)), 0);
    ck_assert_int_eq(hd_list_len(hd_unbind(none, 0)), 0);
    ck_assert_int_eq(hd_list_len(hd_unbind(none, 1)), 2);
    ck_elements(hd_list_get(hd_unbind(x, -1), 1), 1, 3, 5, 7, 9);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- refusals */

START_TEST(shapes_that_do_not_fit)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 2, 3), *t = hd_t(x);
    int64_t big = (int64_t)1 << 40;
    ck_assert_ptr_null(hd_view(t, 6));
    ck_error(HD_SHAPE, "hd_view: (3, 2) with strides (1, 3) has no view of shape (6,). Use "
                       "hd_reshape, or hd_contiguous first");
    ck_assert_ptr_null(hd_view(x, 4, -1));
    ck_error(HD_SHAPE, "hd_view: (2, 3) as (4, -1): the 6 elements do not fit");
    ck_assert_ptr_null(hd_view(hd_zeros(HD_FLOAT32, 0), big, big)); /* 2^80, not 0 */
    ck_error(HD_SHAPE,
             "hd_view: (0,) as (1099511627776, 1099511627776): the 0 elements do not fit");
    ck_assert_ptr_null(hd_reshape(x, -1, -1));
    ck_error(HD_SHAPE,
             "hd_reshape: (2, 3) as (-1, -1): expected sizes of 0 or more and at most one -1");
    ck_assert_ptr_null(hd_expand(x, 3));
    ck_error(HD_SHAPE, "hd_expand: (2, 3) to 1 dimensions: expected 2 to 8");
    ck_assert_ptr_null(hd_expand(x, 2, 4));
    ck_error(HD_SHAPE, "hd_expand: (2, 3) to (2, 4): expected size 3 at dim 1");
    ck_assert_ptr_null(hd_expand(x, -1, 2, 3));
    ck_error(HD_SHAPE, "hd_expand: (2, 3) to (-1, 2, 3): expected size 1 at dim 0");
    ck_assert_ptr_null(hd_expand(ramp(HD_FLOAT32, 1), -2));
    ck_error(HD_SHAPE, "hd_expand: (1,) to (-2,): expected size 1 at dim 0");
    ck_assert_ptr_null(hd_expand(ramp(HD_FLOAT32, 1), big, big));
    ck_error(HD_MEMORY, "hd_expand: (1,) to (1099511627776, 1099511627776): the size overflows");
    ck_assert_ptr_null(hd_reshape(hd_zeros(HD_FLOAT32, 0), 0, INT64_MAX, 3));
    ck_error(HD_MEMORY, "hd_reshape: (0,) as (0, 9223372036854775807, 3): the size overflows");
    ck_assert_ptr_null(hd_expand_n(x, 2, NULL));
    ck_error(HD_NULL_ARG, "hd_expand: sizes is NULL");
    ck_assert_ptr_null(hd_t(ramp(HD_FLOAT32, 1, 2, 3)));
    ck_error(HD_SHAPE, "hd_t: (1, 2, 3): expected 2 dimensions at most. Use hd_transpose(x, -2, "
                       "-1) to swap the last two");
    ck_assert_ptr_null(hd_permute(x, 0));
    ck_error(HD_SHAPE, "hd_permute: 1 dims for (2, 3): expected 2");
    ck_assert_ptr_null(hd_permute(x, 0, -2));
    ck_error(HD_INDEX, "hd_permute: dim 0 of (2, 3) appears twice: expected distinct dims");
    ck_assert_ptr_null(hd_unsqueeze(hd_zeros(HD_FLOAT32, 1, 1, 1, 1, 1, 1, 1, 1), 0));
    ck_error(
        HD_SHAPE,
        "hd_unsqueeze: (1, 1, 1, 1, 1, 1, 1, 1) with a new dim has 9 dims: expected 8 at most");
    ck_assert_ptr_null(hd_flatten(x, 1, 0));
    ck_error(HD_INDEX, "hd_flatten: dims 1 to 0 of (2, 3): expected start <= end");
}
END_TEST

START_TEST(dims_out_of_range)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 2, 3);
#define OUT(f, call, d)                                                                            \
    ck_assert_ptr_null(call);                                                                      \
    ck_error(HD_INDEX, f ": dim " d " of (2, 3): expected -2 to 1")
    OUT("hd_transpose", hd_transpose(x, 0, 2), "2");
    OUT("hd_flatten", hd_flatten(x, -3, 1), "-3");
    OUT("hd_squeeze", hd_squeeze(x, 2), "2");
    OUT("hd_select", hd_select(x, 2, 0), "2");
    OUT("hd_slice", hd_slice(x, -3, 0, 1), "-3");
    OUT("hd_narrow", hd_narrow(x, 2, 0, 1), "2");
    OUT("hd_unbind", hd_unbind(x, 2), "2");
    OUT("hd_split", hd_split(x, 1, 2), "2");
    OUT("hd_split_sizes", hd_split_sizes_n(x, 1, (int64_t[]){2}, 2), "2");
    OUT("hd_chunk", hd_chunk(x, 1, 2), "2");
    OUT("hd_permute", hd_permute(x, 0, 2), "2");
    ck_assert_ptr_null(hd_unsqueeze(x, 3));
    ck_error(HD_INDEX, "hd_unsqueeze: dim 3 of (2, 3): expected -3 to 2");
    ck_assert_ptr_null(hd_unsqueeze(x, -4));
    ck_error(HD_INDEX, "hd_unsqueeze: dim -4 of (2, 3): expected -3 to 2");
}
END_TEST

START_TEST(points_have_no_parts)
{
    HD_SCOPE;
    hd_tensor *x = hd_scalar_tensor(HD_FLOAT32, 1);
#define NO_PART(f, call)                                                                           \
    ck_assert_ptr_null(call);                                                                      \
    ck_error(HD_SHAPE, f ": x is 0-d: expected 1 dim or more")
    NO_PART("hd_select", hd_select(x, 0, 0));
    NO_PART("hd_slice", hd_slice(x, 0, 0, 1));
    NO_PART("hd_narrow", hd_narrow(x, 0, 0, 0));
    NO_PART("hd_getitem", hd_getitem(x, 0));
    NO_PART("hd_unbind", hd_unbind(x, 0));
    NO_PART("hd_split", hd_split(x, 1, 0));
    NO_PART("hd_split_sizes", hd_split_sizes_n(x, 0, NULL, 0));
    NO_PART("hd_chunk", hd_chunk(x, 1, 0));
    ck_repr(hd_squeeze(x, -1), "tensor(1.)");
    ck_assert_ptr_null(hd_squeeze(x, 1));
    ck_error(HD_INDEX, "hd_squeeze: dim 1 of (): expected -1 to 0");
}
END_TEST

START_TEST(parts_out_of_range)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 2, 3);
    ck_assert_ptr_null(hd_select(x, 1, 3));
    ck_error(HD_INDEX, "hd_select: index 3 at dim 1 of (2, 3): expected -3 to 2");
    ck_assert_ptr_null(hd_select(x, -1, -4));
    ck_error(HD_INDEX, "hd_select: index -4 at dim 1 of (2, 3): expected -3 to 2");
    ck_assert_ptr_null(hd_slice_step(x, 0, 0, 2, 0));
    ck_error(HD_VALUE, "hd_slice_step: step 0: expected 1 or more");
    ck_assert_ptr_null(hd_slice_step(x, 0, 0, 2, -1));
    ck_error(HD_VALUE, "hd_slice_step: step -1: expected 1 or more");
    ck_assert_ptr_null(hd_narrow(x, 0, 1, 2));
    ck_error(HD_INDEX,
             "hd_narrow: start 1, length 2 at dim 0 of (2, 3): expected a range within size 2");
    ck_assert_ptr_null(hd_narrow(x, 0, 3, 0));
    ck_error(HD_INDEX,
             "hd_narrow: start 3, length 0 at dim 0 of (2, 3): expected a range within size 2");
    ck_assert_ptr_null(hd_narrow(x, 0, 0, -1));
    ck_error(HD_INDEX,
             "hd_narrow: start 0, length -1 at dim 0 of (2, 3): expected a range within size 2");
    ck_assert_ptr_null(hd_narrow(x, 0, INT64_MIN, INT64_MAX));
    ck_assert_int_eq(hd_error_code(), HD_INDEX);
    hd_error_clear();
    ck_assert_ptr_null(hd_getitem(x, 0, 0, 0));
    ck_error(HD_INDEX, "hd_getitem: 3 indices into (2, 3): expected 0 to 2");
    ck_assert_ptr_null(hd_getitem(x, HD_ALL, 3));
    ck_error(HD_INDEX, "hd_getitem: index 3 at dim 1 of (2, 3): expected -3 to 2");
    ck_assert_ptr_null(hd_getitem_n(x, 1, NULL));
    ck_error(HD_NULL_ARG, "hd_getitem: index is NULL");
}
END_TEST

START_TEST(splits_that_do_not_add_up)
{
    HD_SCOPE;
    hd_tensor *x = ramp(HD_FLOAT32, 2, 3), *none = hd_zeros(HD_FLOAT32, 0);
    ck_assert_ptr_null(hd_split(x, 0, 0));
    ck_error(HD_VALUE, "hd_split: parts of size 0 for (2, 3): expected 1 or more");
    ck_assert_ptr_null(hd_split(x, -1, 0));
    ck_error(HD_VALUE, "hd_split: parts of size -1 for (2, 3): expected 1 or more");
    ck_assert_ptr_null(hd_chunk(x, 0, 0));
    ck_error(HD_VALUE, "hd_chunk: 0 chunks: expected 1 or more");
    ck_assert_ptr_null(hd_split_sizes_n(x, 2, (int64_t[]){1, 1}, 1));
    ck_error(HD_SHAPE, "hd_split_sizes: dim 1 of (2, 3): expected sizes of 0 or more whose sum is "
                       "3");
    ck_assert_ptr_null(hd_split_sizes_n(x, 2, (int64_t[]){4, -1}, 1));
    ck_assert_int_eq(hd_error_code(), HD_SHAPE);
    hd_error_clear();
    ck_assert_ptr_null(hd_split_sizes_n(x, 2, (int64_t[]){INT64_MAX, INT64_MAX}, 1));
    ck_assert_int_eq(hd_error_code(), HD_SHAPE);
    hd_error_clear();
    ck_assert_ptr_null(hd_chunk(none, (int64_t)1 << 61, 0));
    ck_error(HD_MEMORY, "hd_chunk: 2305843009213693952 parts: expected 16777216 at most");
    ck_assert_ptr_null(hd_unbind(hd_expand(ramp(HD_FLOAT32, 1), (int64_t)1 << 61), 0));
    ck_error(HD_MEMORY, "hd_unbind: 2305843009213693952 parts: expected 16777216 at most");
    ck_assert_ptr_null(hd_split(hd_expand(ramp(HD_FLOAT32, 1), (int64_t)1 << 61), 1, 0));
    ck_error(HD_MEMORY, "hd_split: 2305843009213693952 parts: expected 16777216 at most");
}
END_TEST

START_TEST(rolls_refused)
{
    HD_SCOPE;
    ck_assert_ptr_null(hd_roll(hd_scalar_tensor(HD_FLOAT32, 1), 1, 0));
    ck_error(HD_SHAPE, "hd_roll: x is 0-d: expected 1 dim or more");
    ck_assert_ptr_null(hd_roll(hd_ones(HD_FLOAT32, 2, 3), 1, 2));
    ck_error(HD_INDEX, "hd_roll: dim 2 of (2, 3): expected -2 to 1");
}
END_TEST

Suite *suite_view(void)
{
    const TTest *const tests[] = {
        rolls_refused,
        strides_are_pytorchs,
        views_share_and_reshape_copies_only_if_it_must,
        names_are_pytorchs,
        slices_clamp_as_pythons,
        splits_and_chunks,
        shapes_that_do_not_fit,
        dims_out_of_range,
        points_have_no_parts,
        parts_out_of_range,
        splits_that_do_not_add_up,
    };
    return SUITE_OF("view", tests);
}
