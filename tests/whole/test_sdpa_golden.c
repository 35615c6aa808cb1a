/* test_sdpa_golden.c - compares scaled_dot_product_attention with PyTorch: result and gradients,
 * with either Bernoulli stream (tests/golden/sdpa.txt, sdpa_mcg31.txt). */
#include "support/golden_reader.h"
#include "suites.h"

/* (batch, heads, n, width): multiples of 1/32 in [-1, 1), as golden_attention.py makes them */
static hd_tensor *pattern(int64_t batch, int64_t heads, int64_t n, int64_t width, int64_t k)
{
    hd_tensor *x = hd_empty(HD_FLOAT32, batch, heads, n, width);
    float *v = hd_data_mut(x);
    for (int64_t i = 0; i < hd_numel(x); i++) {
        v[i] = (float)((i * 37 + k * 11) % 64 - 32) / 32;
    }
    return x;
}

/* The masks of tools/golden/golden_sdpa.py. Query 2 sees nothing by "bool" and by "float". */
static hd_tensor *mask_of(const golden_case *c, int64_t l, int64_t s, int64_t heads)
{
    const char *name = golden_text(c, "mask", "");
    if (strcmp(name, "bool") == 0) {
        hd_tensor *mask = hd_gt_scalar(pattern(1, 1, l, s, 3), -0.25);
        hd_fill_(hd_select(mask, 2, 2), false);
        return mask;
    }
    if (strcmp(name, "float") == 0) {
        hd_tensor *mask = pattern(1, 1, l, s, 4);
        hd_fill_(hd_select(mask, 2, 2), -INFINITY);
        return mask;
    }
    if (strcmp(name, "heads") == 0) {
        return hd_gt_scalar(pattern(1, heads, l, s, 7), -0.5);
    }
    return *name ? hd_gt_scalar(pattern(1, 1, 1, s, 5), 0) : HD_NONE;
}

static void ck_sampled(const golden_case *c, const char *field, hd_tensor *x)
{
    enum { EVERY = 41 };
    const golden_record *r = golden_get(c, "%s", field);
    ck_assert_msg(r && x && x != HD_NONE, "%s/%s: missing: %s", c->name, field, hd_error_message());
    ck_assert_int_eq(r->numel, (hd_numel(x) + EVERY - 1) / EVERY);
    double largest = 0;
    for (int64_t i = 0; i < r->numel; i++) {
        largest = fmax(largest, fabs(r->d[i]));
    }
    for (int64_t i = 0; i < r->numel; i++) {
        double got = element_at(x, i * EVERY);
        ck_assert_msg(fabs(got - r->d[i]) <= 1e-5 * largest, "%s/%s: sample %lld is %.9g, not %.9g",
                      c->name, field, (long long)i, got, r->d[i]);
    }
}

static void check_case(const golden_case *c)
{
    HD_SCOPE;
    const double *sizes = golden_get(c, "sizes")->d;
    int64_t l = (int64_t)sizes[0], s = (int64_t)sizes[1], d = (int64_t)sizes[2];
    int64_t dv = (int64_t)sizes[3];
    int64_t heads = golden_int(c, "heads", 2); /* of q: another number than 2 means enable_gqa */
    hd_tensor *x[] = {pattern(2, heads, l, d, 0), pattern(2, 2, s, d, 1), pattern(2, 2, s, dv, 2)};
    for (int i = 0; i < 3; i++) {
        hd_requires_grad_(x[i], true);
    }
    hd_attention_options o = hd_attention_defaults();
    o.attn_mask = mask_of(c, l, s, heads);
    o.enable_gqa = heads != 2;
    o.dropout_p = golden_double(c, "dropout_p", 0);
    o.is_causal = golden_int(c, "is_causal", 0);
    o.scale = golden_double(c, "scale", NAN);
    hd_manual_seed((uint64_t)golden_int(c, "seed", 0));
    hd_tensor *y = hd_scaled_dot_product_attention_with(x[0], x[1], x[2], &o, NULL);
    ck_sampled(c, "out", y);
    ck_assert(hd_backward_with(y, pattern(2, heads, l, dv, 6), false));
    static const char *const fields[] = {"dq", "dk", "dv"};
    for (int i = 0; i < 3; i++) {
        ck_sampled(c, fields[i], hd_grad(x[i]));
    }
    ck_no_error();
}

static void check_file(const char *path, hd_bernoulli_stream stream, int cases)
{
    golden_file *f = golden_read(path);
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(f->count, cases);
    ck_assert(hd_generator_set_bernoulli(hd_default_generator(), stream));
    for (int i = 0; i < f->count; i++) {
        check_case(&f->cases[i]);
    }
    golden_free(f);
}

START_TEST(native_stream)
{
    check_file(GOLDEN_DIR "/sdpa.txt", HD_BERNOULLI_NATIVE, 30);
}
END_TEST

START_TEST(mcg31_stream)
{
    check_file(GOLDEN_DIR "/sdpa_mcg31.txt", HD_BERNOULLI_MCG31, 6);
}
END_TEST

Suite *suite_sdpa_golden(void)
{
    const TTest *const tests[] = {native_stream, mcg31_stream};
    return SUITE_OF("sdpa against PyTorch", tests);
}
