/* test_layout.c - compares the memory layout of elementwise results, and the order in which dropout
 * draws from the native stream, with PyTorch (tests/golden/layout.txt). */
#include "support/golden_reader.h"
#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"

/* A tensor with 1, 2, ... in memory, whose dims are permuted and then expanded to the case's
 * sizes. */
static hd_tensor *operand(const golden_case *c, const char *name)
{
    const golden_record *sizes = golden_get(c, "sizes"), *memory = golden_get(c, "%s.memory", name);
    const golden_record *permute = golden_get(c, "%s.permute", name);
    int64_t n = 1;
    for (int64_t d = 0; d < memory->numel; d++) {
        n *= memory->i[d];
    }
    hd_tensor *x = hd_arange_as(HD_FLOAT32, 1, n + 1, 1);
    x = hd_permute_n(hd_view_n(x, (int)memory->numel, memory->i), (int)permute->numel, permute->i);
    return hd_expand_n(x, (int)sizes->numel, sizes->i);
}

static void ck_strides(const golden_case *c, const char *name, const hd_tensor *y)
{
    const golden_record *want = golden_get(c, "%s.strides", name);
    ck_assert_msg(y, "%s: %s", c->name, hd_error_message());
    for (int d = 0; d < hd_ndim(y); d++) {
        ck_assert_msg(hd_size(y, d) == 1 || hd_stride(y, d) == want->i[d],
                      "%s: %s: stride %lld of dim %d, expected %lld", c->name, name,
                      (long long)hd_stride(y, d), d, (long long)want->i[d]);
    }
}

static void ck_values(const golden_case *c, const char *name, const hd_tensor *y)
{
    const golden_record *want = golden_get(c, "%s", name);
    for (int64_t i = 0; i < want->numel; i++) {
        ck_assert_msg(element_at(y, i) == want->d[i], "%s: %s: element %lld is %g, expected %g",
                      c->name, name, (long long)i, element_at(y, i), want->d[i]);
    }
}

static void run(const golden_case *c, int64_t seed)
{
    HD_SCOPE;
    hd_tensor *a = operand(c, "a"), *b = operand(c, "b"), *sum = hd_add(a, b);
    ck_strides(c, "exp", hd_exp(a));
    ck_strides(c, "add", sum);
    ck_strides(c, "gt", hd_gt(b, a));
    ck_strides(c, "where", hd_where(hd_gt(a, b), b, a));
    hd_manual_seed(seed);
    ck_strides(c, "rand_like", hd_rand_like(a, HD_FLOAT32));
    ck_values(c, "rand_like", hd_rand_like(a, HD_FLOAT32));
    ck_values(c, "randn_like", hd_randn_like(a, HD_FLOAT32));
    hd_manual_seed(seed);
    ck_values(c, "dropout", hd_dropout(a, 0.5, true));
    ck_values(c, "dropout_add", hd_dropout(sum, 0.5, true));
}

START_TEST(as_pytorchs)
{
    golden_file *f = golden_read(GOLDEN_DIR "/layout.txt");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(f->count, 120);
    hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_NATIVE);
    for (int k = 0; k < f->count; k++) {
        run(&f->cases[k], k);
    }
    hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_MCG31);
    golden_free(f);
    ck_no_error();
}
END_TEST

static void ck_strides_are(const hd_tensor *y, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t want[] = {a, b, c, d};
    ck_assert_ptr_nonnull(y);
    for (int i = 0; i < hd_ndim(y); i++) {
        ck_assert_int_eq(hd_stride(y, i), want[i]);
    }
}

/* A copy of a dense tensor keeps the strides of dims of size 1, too, and so does an operand that is
 * cast. They decide about the order of dims where another operand is expanded. */
START_TEST(strides_of_dims_of_size_1)
{
    HD_SCOPE;
    hd_tensor *x = hd_narrow(hd_transpose(hd_ones(HD_FLOAT32, 3, 9, 2), 0, 2), 1, 0, 1);
    hd_tensor *dense = hd_transpose(hd_view(hd_ones(HD_FLOAT32, 6), 3, 1, 2), 0, 2); /* (2, 1, 3) */
    ck_strides_are(x, 1, 2, 18, 0);                                                  /* with gaps */
    ck_strides_are(hd_clone(x), 1, 2, 2, 0);
    ck_strides_are(dense, 1, 2, 2, 0);
    ck_strides_are(hd_clone(dense), 1, 2, 2, 0);
    hd_tensor *a = hd_transpose(hd_ones(HD_FLOAT32, 1, 3), 0, 1);
    ck_strides_are(hd_clone(a), 1, 3, 0, 0);
    ck_strides_are(hd_to(a, HD_FLOAT64), 1, 3, 0, 0);
    ck_strides_are(hd_rand_like(a, HD_FLOAT32), 1, 3, 0, 0);
    hd_tensor *b = hd_permute(hd_ones(HD_FLOAT64, 3, 2, 2, 1), 2, 1, 0, 3);
    ck_strides_are(hd_ge(a, b), 1, 6, 2, 2);
    ck_strides_are(hd_add(a, b), 1, 6, 2, 2);
    ck_strides_are(hd_add(b, a), 1, 2, 4, 1);
    ck_no_error();
}
END_TEST

Suite *suite_layout(void)
{
    const TTest *const tests[] = {as_pytorchs, strides_of_dims_of_size_1};
    return SUITE_OF("layout", tests);
}
