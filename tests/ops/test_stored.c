/* test_stored.c - tests of bfloat16 tensors, which are for storing only: views and copies; their
 * use as the weight of hd_linear and hd_embedding, with the bits of the weight converted to
 * float32, at every CPU level and for any number of threads; and refusals. tests/whole/test_null.c
 * tests that all other functions refuse them. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"
#include "tensor/kernels/kernels.h"

/* ---------------------------------------------------------------- weights */

static bool same_bits(const hd_tensor *a, const hd_tensor *b)
{
    return a && b && hd_numel(a) == hd_numel(b) &&
           memcmp(hd_data(a), hd_data(b), (size_t)(4 * hd_numel(a))) == 0;
}

enum { PLAIN, TRANSPOSED, GAPS, LAYOUTS };

/* (n, k) of float32 */
static hd_tensor *weight_of(int layout, int64_t n, int64_t k)
{
    return layout == TRANSPOSED ? hd_t(hd_randn(HD_FLOAT32, k, n))
           : layout == GAPS     ? hd_slice_step(hd_randn(HD_FLOAT32, n, 2 * k), 1, 0, HD_END, 2)
                                : hd_randn(HD_FLOAT32, n, k);
}

/* y = x W^T + b and dx with a stored weight, and with the same numbers as float32. */
static void check_linear(int64_t m, int64_t k, int64_t n, int layout)
{
    HD_SCOPE;
    hd_tensor *stored = hd_to(weight_of(layout, n, k), HD_BFLOAT16);
    hd_tensor *wide = hd_to(stored, HD_FLOAT32), *bias = hd_randn(HD_FLOAT32, n);
    hd_tensor *b = m % 2 ? bias : HD_NONE, *dy = hd_randn(HD_FLOAT32, m, n);
    hd_tensor *x = hd_randn(HD_FLOAT32, m, k);
    hd_tensor *x1 = hd_requires_grad_(hd_clone(x), true);
    hd_tensor *x2 = hd_requires_grad_(hd_clone(x), true);
    hd_tensor *y1 = hd_linear(x1, stored, b), *y2 = hd_linear(x2, wide, b);
    ck_each(same_bits(y1, y2), "forward (%d, %d, %d), layout %d, level %d", (int)m, (int)k, (int)n,
            layout, hd__level);
    ck_assert_str_eq(hd_grad_fn(y1), hd_grad_fn(y2));
    ck_assert(hd_backward_with(y1, dy, false) && hd_backward_with(y2, dy, false));
    ck_each(same_bits(hd_grad(x1), hd_grad(x2)), "backward (%d, %d, %d), layout %d, level %d",
            (int)m, (int)k, (int)n, layout, hd__level);
    ck_no_error();
}

static void check_linear_shapes(void)
{
    static const int64_t rows[] = {1, 2, 8, 9, 100};
    static const int64_t shapes[][2] = {{0, 3},    {1, 5},     {7, 1},    {64, 577}, {65, 513},
                                        {257, 33}, {300, 111}, {577, 60}, {9000, 4}, {35000, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (int layout = 0; layout < LAYOUTS; layout++) {
                check_linear(rows[i], shapes[s][0], shapes[s][1], layout);
            }
        }
    }
}

START_TEST(linear_has_the_bits_of_float32)
{
    ck_assert_ptr_nonnull(hd_cpu_level());
    const int threads = hd_num_threads(), best = hd__level;
    for (int n = 1; n <= 3; n += 2) {
        ck_assert(hd_set_num_threads(n));
        for (hd__level = 0; hd__level <= best; hd__level++) {
            check_linear_shapes();
        }
        hd__level = best;
    }
    ck_assert(hd_set_num_threads(threads));
}
END_TEST

/* More than one block of what is widened together, for few rows and for many. */
START_TEST(linear_in_blocks)
{
    check_linear(3, 500, 700, TRANSPOSED);
    check_linear(40, 700, 1500, PLAIN);
    check_linear(40, 1500, 700, TRANSPOSED);
    check_linear(12, 9001, 70, PLAIN);
}
END_TEST

/* A batch whose rows lie in another order than its batches. */
START_TEST(linear_of_a_batch)
{
    HD_SCOPE;
    hd_tensor *w = hd_to(hd_randn(HD_FLOAT32, 600, 70), HD_BFLOAT16);
    hd_tensor *x = hd_permute(hd_randn(HD_FLOAT32, 5, 70, 3), 2, 0, 1);
    ck_assert(same_bits(hd_linear(x, w, HD_NONE), hd_linear(x, hd_to(w, HD_FLOAT32), HD_NONE)));
    hd_tensor *expanded = hd_expand(hd_to(hd_ones(HD_FLOAT32, 1, 70), HD_BFLOAT16), 9, 70);
    ck_assert(same_bits(hd_linear(x, expanded, HD_NONE),
                        hd_linear(x, hd_ones(HD_FLOAT32, 9, 70), HD_NONE)));
    ck_no_error();
}
END_TEST

START_TEST(embedding_is_widened)
{
    HD_SCOPE;
    ck_assert_ptr_nonnull(hd_cpu_level());
    const int threads = hd_num_threads(), best = hd__level;
    hd_tensor *index = hd_randint(HD_INT64, 0, 50, 4, 25);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        hd_tensor *w = hd_to(weight_of(layout, 50, 67), HD_BFLOAT16);
        for (int n = 1; n <= 3; n += 2) {
            ck_assert(hd_set_num_threads(n));
            for (hd__level = 0; hd__level <= best; hd__level++) {
                hd_tensor *y = hd_embedding(index, w, 3);
                ck_assert_int_eq(hd_dtype_of(y), HD_FLOAT32);
                ck_assert(same_bits(y, hd_embedding(index, hd_to(w, HD_FLOAT32), 3)));
            }
            hd__level = best;
        }
    }
    ck_assert(hd_set_num_threads(threads));
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- storing */

START_TEST(views_and_copies)
{
    HD_SCOPE;
    hd_tensor *x = hd_to(hd_view(hd_arange(0, 6, 1), 2, 3), HD_BFLOAT16), *t = hd_t(x);
    ck_assert_ptr_eq(hd_to(x, HD_BFLOAT16), x);
    ck_repr(x, "tensor([[0., 1., 2.],\n        [3., 4., 5.]], dtype=torch.bfloat16)");
    ck_assert(hd_shares_storage(t, x) && !hd_is_contiguous(t));
    ck_elements(hd_contiguous(t), 0, 3, 1, 4, 2, 5);
    ck_elements(hd_clone(hd_select(x, 0, 1)), 3, 4, 5);
    ck_elements(hd_reshape(t, 6), 0, 3, 1, 4, 2, 5);
    ck_elements(hd_expand(hd_unsqueeze(hd_narrow(x, 1, 2, 1), 0), 2, 2, 1), 2, 5, 2, 5);
    ck_elements(hd_list_get(hd_chunk(x, 2, 0), 1), 3, 4, 5);
    ck_assert_ptr_eq(hd_copy_(t, vec(HD_FLOAT32, 1.00390625, 259)), t);
    ck_elements(x, 1, 1, 1, 260, 260, 260);
    hd_tensor *f = hd_copy_(hd_zeros(HD_FLOAT32, 2, 3), x);
    ck_elements(f, 1, 1, 1, 260, 260, 260);
    ck_assert_ptr_eq(hd_fill_(x, 0.1), x);
    ck_assert(hd_get(x, 0, 0) == 0x1.9ap-4 && hd_item(hd_select(hd_select(x, 0, 0), 0, 0)) > 0.1);
    ck_assert(hd_set(hd_zero_(x), 7, 1, 1));
    ck_elements(x, 0, 0, 0, 0, 7, 0);
    ck_no_error();
}
END_TEST

START_TEST(no_gradient)
{
    HD_SCOPE;
    hd_tensor *p = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true);
    hd_tensor *h = hd_to(hd_detach(p), HD_BFLOAT16);
    ck_assert_ptr_null(hd_to(p, HD_BFLOAT16));
    ck_error(HD_GRAD, "hd_to: (2, 3) requires grad, but bfloat16 has no gradients. Use "
                      "hd_detach(x), or HD_NO_GRAD");
    {
        HD_NO_GRAD;
        ck_assert_ptr_nonnull(hd_to(p, HD_BFLOAT16));
    }
    ck_assert_ptr_null(hd_requires_grad_(h, true));
    ck_error(HD_DTYPE, "hd_requires_grad_: dtype bfloat16: expected float32 or float64");
    ck_assert_ptr_null(hd_parameter(h, true));
    ck_error(HD_DTYPE, "hd_parameter: dtype bfloat16: expected float32 or float64");
    ck_assert(hd_is_parameter(hd_parameter(h, false)) && !hd_requires_grad(h));
    ck_assert(hd_is_leaf(h) && hd_grad(h) == HD_NONE);
    ck_assert_ptr_eq(hd_requires_grad_(h, false), h);
    ck_no_error();
}
END_TEST

START_TEST(other_operands_of_linear)
{
    HD_SCOPE;
    hd_tensor *w = hd_ones(HD_BFLOAT16, 2, 3), *x = hd_ones(HD_FLOAT32, 1, 3);
    ck_assert_ptr_null(hd_linear(hd_ones(HD_FLOAT64, 1, 3), w, HD_NONE));
    ck_error(HD_DTYPE, "hd_linear: x of float64: expected float32");
    ck_assert_ptr_null(hd_linear(hd_to(x, HD_BFLOAT16), w, HD_NONE));
    ck_error(HD_DTYPE, "hd_linear: x is bfloat16, which is for storing only: expected another "
                       "dtype. hd_to(x, HD_FLOAT32) converts it");
    ck_assert_ptr_null(hd_linear(x, w, hd_ones(HD_BFLOAT16, 2)));
    ck_error(HD_DTYPE, "hd_linear: bias is bfloat16, which is for storing only: expected another "
                       "dtype. hd_to(x, HD_FLOAT32) converts it");
    ck_assert_ptr_null(hd_linear(x, w, hd_ones(HD_FLOAT64, 2)));
    ck_error(HD_DTYPE, "hd_linear: x of float32 and bias of float64: expected the same dtype. "
                       "hd_to converts one of them");
    ck_assert_ptr_null(hd_matmul(x, hd_t(w)));
    ck_error(HD_DTYPE, "hd_matmul: b is bfloat16, which is for storing only: expected another "
                       "dtype. hd_to(x, HD_FLOAT32) converts it");
}
END_TEST

Suite *suite_stored(void)
{
    const TTest *const tests[] = {
        linear_has_the_bits_of_float32, linear_in_blocks, linear_of_a_batch,
        embedding_is_widened,           views_and_copies, no_gradient,
        other_operands_of_linear,
    };
    return SUITE_OF("stored", tests);
}
