/* test_unary.c - tests of functions of one tensor: PyTorch's values, float32 exp bit for bit,
 * errors. */
#include <float.h>

#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"
#include "tensor/kernels/copy.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/scalar_f32.h"

/* The steps of exp, one after the other. */
static float plain_exp(float x)
{
    static const float c[] = {0.00139304355252534151077271f, 0.00833336077630519866943359f,
                              0.0416664853692054748535156f, 0.166666671633720397949219f, 0.5f};
    if (isnan(x) || x < -104 || x > 100) {
        return isnan(x) ? x : x < 0 ? 0 : INFINITY;
    }
    float q = rintf(x * 1.44269504088896341f);
    float s = fmaf(q, -0.693145751953125f, x);
    s = fmaf(q, -1.428606765330187045e-06f, s);
    float u = 0.000198527617612853646278381f;
    for (int i = 0; i < 5; i++) {
        u = fmaf(u, s, c[i]);
    }
    return ldexpf(1 + fmaf(s * s, u, s), (int)q);
}

/* Bit patterns from all of float32, in runs whose lengths are no multiple of a vector. */
START_TEST(exp_of_float32_bit_for_bit)
{
    enum { RUN = 4093 };
    static float x[RUN], y[RUN];
    const int64_t strides[] = {sizeof(float), sizeof(float)};
    char *data[] = {(char *)y, (char *)x};
    for (uint32_t block = 0; block < 256; block++) {
        for (uint32_t i = 0; i < RUN; i++) {
            x[i] = scalar_of_f32((block << 24) + i * 4099u);
            y[i] = NAN;
        }
        hdk_unary()->of[HDK_EXP][HD_FLOAT32](data, strides, RUN, NULL);
        for (int i = 0; i < RUN; i++) {
            float want = plain_exp(x[i]);
            ck_each(isnan(want) ? isnan(y[i]) : scalar_bits_f32(want) == scalar_bits_f32(y[i]),
                    "exp(%a) is %a, expected %a", (double)x[i], (double)y[i], (double)want);
        }
    }
}
END_TEST

/* sigmoid and SiLU of float32 have the bits that this exp gives, wherever an element lies. */
/* The gradients that one loop computes, from several ops */
static hd_tensor *composed_slope(int op, hd_tensor *x, hd_tensor *dy)
{
    hd_tensor *s = op == 1 ? hd_sigmoid(x) : NULL, *scaled, *z;
    switch (op) {
    case 0:
        scaled = hd_mul_scalar(x, 1.5);
        z = hd_exp(scaled);
        return hd_where(hd_gt_scalar(scaled, 3), dy, hd_div(hd_mul(dy, z), hd_add_scalar(z, 1)));
    case 1: return hd_mul(hd_mul(dy, s), hd_add_scalar(hd_mul(x, hd_rsub_scalar(s, 1)), 1));
    case 2: return hd_div(dy, hd_mul_scalar(hd_sqrt(x), 2));
    case 3: return hd_mul(hd_mul_scalar(dy, -0.5), hd_pow_scalar(hd_rsqrt(x), 3));
    default: return hd_div(dy, hd_add_scalar(x, 1));
    }
}

static hd_tensor *slope_case(int op, hd_tensor *x)
{
    return op == 0   ? hd_softplus(x, 1.5, 3)
           : op == 1 ? hd_silu(x)
           : op == 2 ? hd_sqrt(x)
           : op == 3 ? hd_rsqrt(x)
                     : hd_log1p(x);
}

START_TEST(backward_in_one_loop_has_the_bits_of_its_formula)
{
    warnings_expected(); /* of a loss that is not finite */
    static const double special[] = {0.0,  -0.0,  INFINITY, -INFINITY, NAN, 1e-310, 2,
                                     2.01, -1000, 1000,     -1,        88,  -104,   1e30};
    for (int n = 1; n < 600; n = n * 3 + 1) {
        for (int op = 0; op < 5; op++) {
            hd_dtype d = _i ? HD_FLOAT64 : HD_FLOAT32;
            hd_tensor *x = hd_mul_scalar(hd_randn(HD_FLOAT64, n), 3);
            for (int i = 0; i < n; i += 3) {
                ((double *)hd_data(x))[i] = special[i % 14];
            }
            x = hd_requires_grad_(hd_to(x, d), true);
            hd_tensor *dy = hd_randn(d, n), *y = slope_case(op, x);
            ck_assert(hd_backward_with(y, dy, false));
            hd_tensor *expected = composed_slope(op, hd_detach(x), dy);
            hd_tensor *same = hd_eq(hd_grad(x), expected);
            hd_tensor *nans =
                hd_logical_and(hd_ne(expected, expected), hd_ne(hd_grad(x), hd_grad(x)));
            ck_assert_msg(hd_item(hd_all(hd_logical_or(same, nans))) == 1, "op %d, %d elements", op,
                          n);
        }
    }
}
END_TEST

START_TEST(sigmoid_and_silu_bit_for_bit)
{
    enum { RUN = 4093 };
    static float x[RUN], y[RUN];
    const int64_t strides[] = {sizeof(float), sizeof(float)};
    char *data[] = {(char *)y, (char *)x};
    for (uint32_t i = 0; i < RUN; i++) {
        x[i] = i % 3 == 0 ? scalar_of_f32(i * 1049347u) : 0.05f * (float)((int)i - RUN / 2);
    }
    for (int op = 0; op < 2; op++) {
        hdk_unary()->of[op ? HDK_SILU : HDK_SIGMOID][HD_FLOAT32](data, strides, RUN, NULL);
        for (int i = 0; i < RUN; i++) {
            float want = (op ? x[i] : 1) / (1 + plain_exp(-x[i]));
            ck_each(isnan(want) ? isnan(y[i]) : scalar_bits_f32(want) == scalar_bits_f32(y[i]),
                    "%s(%a) is %a, expected %a", op ? "silu" : "sigmoid", (double)x[i],
                    (double)y[i], (double)want);
        }
    }
}
END_TEST

/* The distance from y to the exact value, in units of y's last place as a float32. It is infinite
 * if one is NaN, infinite or a zero and the other is not the same. */
static double ulps(float y, double exact)
{
    int e;
    float want = (float)exact;
    if (isnan(want) || isinf(want) || want == 0) {
        bool same = scalar_bits_f32(want) == scalar_bits_f32(y) || (isnan(want) && isnan(y));
        return same ? 0 : INFINITY;
    }
    frexp(exact, &e);
    double off = fabs((double)y - exact) / ldexp(1, (e < -125 ? -125 : e) - 24);
    return isnan(off) ? INFINITY : off;
}

/* A loop() of the table of functions */
struct function_row {
    int op;
    const char *name;
    double (*exact)(double);
    float params[2];
    double most; /* units in the last place */
};

/* A double() of the table */
struct double_row {
    int op;
    const char *name;
    long double (*exact)(long double);
    double most, room; /* units in the last place; inputs are up to `room`, besides the ends */
};

#include "loops_made.h"

/* Every 1021st float32 from -NaN to NaN, and the values at the ends, are within some units in the
 * last place of float64's value. NaN, infinities and zeros are exact, with their signs. */
START_TEST(float32_within_some_ulps)
{
    static const float ends[] = {NAN,    INFINITY, -INFINITY, 0.0f,    -0.0f,     -1,
                                 1,      FLT_MIN,  -FLT_MIN,  FLT_MAX, -FLT_MAX,  0x1p-149f,
                                 0.625f, 0.9375f,  4,         9,       -0x1p-149f};
    enum { ENDS = sizeof ends / sizeof *ends, RUN = 4096 + ENDS };
    const int64_t strides[] = {sizeof(float), sizeof(float)};
    static float x[RUN], y[RUN];
    char *data[] = {(char *)y, (char *)x};
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        double worst = 0, at = 0;
        hdk_loop loop = hdk_unary_loop(functions[f].op, HDK_F32);
        ck_assert_msg(loop, "%s has no loop", functions[f].name);
        for (uint64_t bits = 0; bits < UINT64_C(1) << 32;) {
            int n = 0;
            for (; n < RUN - ENDS; n++, bits += 1021) {
                x[n] = scalar_of_f32((uint32_t)bits);
            }
            memcpy(x + n, ends, sizeof ends);
            loop(data, strides, RUN, functions[f].params);
            for (int i = 0; i < RUN; i++) {
                double off = ulps(y[i], functions[f].exact((double)x[i]));
                at = off > worst ? (double)x[i] : at;
                worst = off > worst ? off : worst;
            }
        }
        ck_assert_msg(worst <= functions[f].most, "%s(%a) is %g units in the last place off",
                      functions[f].name, at, worst);
        printf("%s: %.3f units in the last place\n", functions[f].name, worst);
    }
}
END_TEST

/* A loop that is exact by IEEE 754, or that has a test of its own, needs no row in functions[].
 * Conversions have theirs in tests/tensor/test_copy.c. */
START_TEST(every_loop_of_float32_is_compared)
{
    bool compared[HDK_UNARIES] = {
        [HDK_NEG] = true,       [HDK_ABS] = true,        [HDK_RELU] = true,
        [HDK_CLAMP] = true,     [HDK_RECIPROCAL] = true, [HDK_SQRT] = true,
        [HDK_RSQRT] = true,     [HDK_SIGMOID] = true,    [HDK_GELU] = true,
        [HDK_GELU_TANH] = true, [HDK_CUBE] = true,       [HDK_INVERSE_SQUARE] = true,
    };
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        compared[functions[f].op] = true;
    }
    for (int op = 0; op < HDK_TO_F32; op++) {
        ck_assert_msg(hdk_unary_loop(op, HDK_F32), "operation %d of elementwise.h has no loop", op);
        ck_assert_msg(compared[op], "operation %d of elementwise.h has no row in functions[]", op);
    }
}
END_TEST

/* ---------------------------------------------------------------- float64 */

enum { DOUBLES = sizeof doubles / sizeof doubles[0], DOUBLE_RUN = 4093 };

/* As ulps, of a float64; where long double has no more digits the exact value is off, too. */
static double double_ulps(double y, long double exact)
{
    int e;
    double want = (double)exact;
    if (isnan(want) || isinf(want) || want == 0) {
        bool same = want == y && signbit(want) == signbit(y);
        return same || (isnan(want) && isnan(y)) ? 0 : (double)INFINITY;
    }
    frexp(want, &e);
    double off = (double)(fabsl((long double)y - exact) / ldexpl(1, (e < -1021 ? -1021 : e) - 53));
    return isnan(off) ? (double)INFINITY : off;
}

/* Inputs of many sizes, at their ends the special values */
static void fill_doubles(double *x, double room, uint64_t seed)
{
    static const double ends[] = {
        NAN,     (double)INFINITY, -(double)INFINITY, 0.0,       -0.0,   -1,     1,       DBL_MIN,
        DBL_MAX, -DBL_MIN,         -DBL_MAX,          0x1p-1074, 709.78, 709.79, -745.13, -745.14,
        -708.5,  0x1p-53,          -0x1p-60,          6,         25,     1e22,   16384,   -1e300};
    for (int i = 0; i < DOUBLE_RUN; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double u = ((double)(seed >> 11) * 0x1p-52 - 1) * room;
        x[i] = i % 3 == 0 ? u : i % 3 == 1 ? u / room : ldexp(u, -(int)(seed % 60));
    }
    memcpy(x, ends, sizeof ends);
}

START_TEST(float64_within_some_ulps)
{
    static double x[DOUBLE_RUN], y[DOUBLE_RUN];
    const int64_t strides[] = {sizeof(double), sizeof(double)};
    const double blur = LDBL_MANT_DIG > 60 ? 0 : 1;
    double worst = 0, at = 0;
    for (uint64_t round = 0; round < 50; round++) {
        fill_doubles(x, doubles[_i].room, round);
        hdk_unary_loop(doubles[_i].op, HDK_F64)((char *[]){(char *)y, (char *)x}, strides,
                                                DOUBLE_RUN, NULL);
        for (int i = 0; i < DOUBLE_RUN; i++) {
            double off = double_ulps(y[i], doubles[_i].exact((long double)x[i]));
            at = off > worst ? x[i] : at;
            worst = off > worst ? off : worst;
        }
    }
    ck_assert_msg(worst <= doubles[_i].most + blur, "%s(%a) is %g units in the last place off",
                  doubles[_i].name, at, worst);
    printf("%s of float64: %.3f units in the last place\n", doubles[_i].name, worst);
}
END_TEST

/* At every level, in place, with strides, and wherever in a run an element lies. float32 functions
 * that compute in float64 are the same everywhere, too. */
START_TEST(float64_has_the_same_bits_everywhere)
{
    static double x[DOUBLE_RUN], y[DOUBLE_RUN], want[DOUBLE_RUN];
    const int64_t one[] = {sizeof(double), sizeof(double)};
    const int64_t three[] = {3 * sizeof(double), 3 * sizeof(double)};
    const int op = doubles[_i].op;
    fill_doubles(x, doubles[_i].room, 7);
    hdk_unary_baseline.of[op][HDK_F64]((char *[]){(char *)want, (char *)x}, one, DOUBLE_RUN, NULL);
    memcpy(y, x, sizeof x);
    hdk_unary_loop(op, HDK_F64)((char *[]){(char *)y, (char *)y}, one, DOUBLE_RUN, NULL);
    ck_assert(memcmp(y + 1, want + 1, sizeof y - sizeof *y) == 0 && isnan(y[0]));
    for (int i = 1; i < 40; i++) {
        hdk_unary_loop(op, HDK_F64)((char *[]){(char *)y, (char *)(x + i)}, one, i, NULL);
        ck_assert_msg(memcmp(y, want + i, (size_t)i * sizeof *y) == 0, "%s: %d elements",
                      doubles[_i].name, i);
    }
    hdk_unary_loop(op, HDK_F64)((char *[]){(char *)y, (char *)x}, three, DOUBLE_RUN / 3, NULL);
    for (int i = 3; i < DOUBLE_RUN / 3 * 3; i += 3) {
        ck_each(memcmp(y + i, want + i, sizeof *y) == 0, "%s of %a", doubles[_i].name, x[i]);
    }
}
END_TEST

/* Every 1021st float32 has the bits of the level baseline. HEED_TEST_STEP=N (environment) compares
 * every Nth; 1 takes two minutes. */
START_TEST(float32_through_float64_has_the_same_bits_everywhere)
{
    static const int ops[] = {HDK_LOG1P, HDK_SIN, HDK_COS};
    static float x[DOUBLE_RUN], y[DOUBLE_RUN], want[DOUBLE_RUN];
    const int64_t one[] = {sizeof(float), sizeof(float)};
    const char *told = getenv("HEED_TEST_STEP");
    const uint32_t step = told ? (uint32_t)atoi(told) : 1021;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32;) {
        for (int i = 0; i < DOUBLE_RUN; i++, bits += step) {
            x[i] = scalar_of_f32((uint32_t)bits);
        }
        for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
            hdk_unary_baseline.of[ops[k]][HDK_F32]((char *[]){(char *)want, (char *)x}, one,
                                                   DOUBLE_RUN, NULL);
            hdk_unary()->of[ops[k]][HDK_F32]((char *[]){(char *)y, (char *)x}, one, DOUBLE_RUN,
                                             NULL);
            ck_each(memcmp(y, want, sizeof y) == 0, "operation %d, near %a", ops[k], (double)x[0]);
        }
    }
}
END_TEST

/* ---------------------------------------------------------------- gelu */

static double exact_gelu(double x)
{
    return x * 0.5 * erfc(-x * 0.70710678118654752440);
}

static double exact_gelu_slope(double x)
{
    double density = 0.39894228040143267794 * exp(x * x * -0.5);
    return 0.5 * erfc(-x * 0.70710678118654752440) + x * density;
}

static double exact_gelu_tanh(double x)
{
    return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static double exact_gelu_tanh_slope(double x)
{
    double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
    double du = 0.79788456080286535588 * (1 + 3 * 0.044715 * x * x);
    return 1 / (1 + exp(-2 * u)) + x * du / (1 + cosh(2 * u));
}

static const struct gelu_kind {
    const char *name;
    int op, backward;
    hd_tensor *(*of)(hd_tensor *x);
    double (*exact)(double x);
    double (*slope)(double x);
    double room;    /* |y - r| <= room 2^-24 |x| for the exact value r, with subnormals rounded */
    double ulps;    /* from -0.5 on */
    double nothing; /* what a slope may be from x = -10 on */
} gelu_kinds[] = {
    {"gelu", HDK_GELU, HDK_GELU_BACKWARD, hd_gelu, exact_gelu, exact_gelu_slope, 4, 3, 0},
    {"gelu_tanh", HDK_GELU_TANH, HDK_GELU_TANH_BACKWARD, hd_gelu_tanh, exact_gelu_tanh,
     exact_gelu_tanh_slope, 2, 2, 1e-35}};

enum {
    GELU_KINDS = sizeof gelu_kinds / sizeof gelu_kinds[0],
    GELU_RUN = 4093 /* no whole vectors */
};

typedef struct gelu_arrays {
    float x[GELU_RUN], dy[GELU_RUN], y[GELU_RUN], dx[GELU_RUN];
} gelu_arrays;

/* y and dx by the loops of one level, on every third element or dense */
static void run_gelu(const struct gelu_kind *kind, gelu_arrays *a, const struct hdk_unary *unary,
                     const struct hdk_binary *binary, int64_t step, bool past)
{
    const int64_t s = step * (int64_t)sizeof(float), strides[] = {s, s, s};
    const int64_t n = (GELU_RUN + step - 1) / step;
    hdk_loop f = unary->of[kind->op][HD_FLOAT32], g = binary->of[kind->backward][HD_FLOAT32];
    hdk_past_cache past_f = {f, NULL, 2, sizeof(float)}, past_g = {g, NULL, 3, sizeof(float)};
    char *fs[] = {(char *)a->y, (char *)a->x}, *gs[] = {(char *)a->dx, (char *)a->dy, (char *)a->x};
    (past ? hdk_copy()->past_cache : f)(fs, strides, n, past ? &past_f : NULL);
    (past ? hdk_copy()->past_cache : g)(gs, strides, n, past ? &past_g : NULL);
    hdk_copy()->past_cache_end();
}

/* For every 4099th float32 up to 2^60: |slope - r| <= 5 2^-24, where r is the exact slope. */
START_TEST(gelu_within_its_bounds)
{
    static gelu_arrays a;
    const struct gelu_kind *kind = &gelu_kinds[_i];
    double worst = 0, worst_slope = 0, at = 0, slope_at = 0;
    for (int i = 0; i < GELU_RUN; i++) {
        a.dy[i] = 1;
    }
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32;) {
        for (int i = 0; i < GELU_RUN; i++, bits += 4099) {
            float x = scalar_of_f32((uint32_t)bits);
            a.x[i] = fabsf(x) < 0x1p60f ? x : 0;
        }
        run_gelu(kind, &a, hdk_unary(), hdk_binary(), 1, false);
        for (int i = 0; i < GELU_RUN; i++) {
            double x = (double)a.x[i], y = kind->exact(x), slope = kind->slope(x);
            double off = fabs((double)a.y[i] - y) / (fabs(x) + 0x1p-126) * 0x1p24 / kind->room;
            double off_slope = fabs((double)a.dx[i] - slope) * 0x1p24;
            if (x >= -0.5 && ulps(a.y[i], y) / kind->ulps > off) {
                off = ulps(a.y[i], y) / kind->ulps;
            }
            if (!(off <= worst)) { /* NaN too */
                worst = isnan(off) ? INFINITY : off;
                at = x;
            }
            if (!(off_slope <= worst_slope)) {
                worst_slope = isnan(off_slope) ? INFINITY : off_slope;
                slope_at = x;
            }
            ck_each(y == 0 || (y < 0) == (a.y[i] < 0) || a.y[i] == 0, "%s(%a) is %a", kind->name, x,
                    (double)a.y[i]);
        }
    }
    ck_assert_msg(worst <= 1, "%s(%a): %.3f of its bound", kind->name, at, worst);
    ck_assert_msg(worst_slope <= 5, "%s's slope at %a: %.3f of 2^-24", kind->name, slope_at,
                  worst_slope);
    printf("%s: %.3f of its bound; its slope: %.3f of 2^-24\n", kind->name, worst, worst_slope);
}
END_TEST

/* At every level, with strides, and for results that are written past the cache. */
START_TEST(gelu_has_the_same_bits_everywhere)
{
    static gelu_arrays a, want;
    const struct gelu_kind *kind = &gelu_kinds[_i];
    for (int i = 0; i < GELU_RUN; i++) {
        a.x[i] = want.x[i] = 0.003f * (float)(i - GELU_RUN / 2) * (i % 7 == 0 ? 5 : 1);
        a.dy[i] = want.dy[i] = (float)(i % 11) - 5.5f;
    }
    run_gelu(kind, &want, &hdk_unary_baseline, &hdk_binary_baseline, 1, false);
    for (int k = 0; k < 3; k++) {
        const int64_t step = k == 1 ? 3 : 1;
        memset(a.y, 0, sizeof a.y);
        memset(a.dx, 0, sizeof a.dx);
        run_gelu(kind, &a, hdk_unary(), hdk_binary(), step, k == 2);
        for (int64_t i = 0; i < GELU_RUN; i += step) {
            ck_each(scalar_bits_f32(a.y[i]) == scalar_bits_f32(want.y[i]), "%s of %a", kind->name,
                    (double)a.x[i]);
            ck_each(scalar_bits_f32(a.dx[i]) == scalar_bits_f32(want.dx[i]), "dx of %s of %a",
                    kind->name, (double)a.x[i]);
        }
    }
}
END_TEST

START_TEST(gelu_at_its_ends)
{
    HD_SCOPE;
    const struct gelu_kind *kind = &gelu_kinds[_i];
    hd_tensor *x = vec(HD_FLOAT32, -FLT_MAX, -100, -10, -0.0, 0, 10, 100, FLT_MAX, INFINITY);
    ck_elements(kind->of(x), -0.0, -0.0, hd_get(kind->of(x), 2), -0.0, 0, 10, 100, (double)FLT_MAX,
                INFINITY);
    ck_assert(fabs(hd_get(kind->of(x), 2)) <= kind->nothing);
    ck_assert(isnan(hd_item(kind->of(vec(HD_FLOAT32, NAN)))));
    x = hd_mul_scalar(hd_arange_as(HD_FLOAT32, 0, 1 << 20, 1),
                      0x1p-17); /* to 8: every fourth or so */
    ck_assert(hd_item_int(hd_all(hd_le(kind->of(x), x))));
    ck_assert(hd_item_int(hd_all(hd_le_scalar(kind->of(hd_neg(x)), 0))));
    x = hd_requires_grad_(vec(HD_FLOAT32, -FLT_MAX, 0, FLT_MAX, -INFINITY, INFINITY, NAN), true);
    ck_assert(hd_backward_with(kind->of(x), hd_ones(HD_FLOAT32, 6), false));
    ck_assert(fabs(hd_get(hd_grad(x), 0)) <= kind->nothing);
    ck_assert(hd_get(hd_grad(x), 1) == 0.5 && hd_get(hd_grad(x), 2) == 1);
    for (int64_t i = 3; i < 6; i++) { /* infinity times a density of 0, as in PyTorch */
        ck_assert(isnan(hd_get(hd_grad(x), i)));
    }
}
END_TEST

START_TEST(exp_at_its_ends)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, -INFINITY, -200, -104, -103.5, -87.5, 88.722839, 88.8, INFINITY);
    hd_tensor *y = hd_exp(x);
    ck_elements(y, 0, 0, 0, 0x1p-149, (double)plain_exp(-87.5f), (double)plain_exp(88.722839f),
                INFINITY, INFINITY);
    ck_assert(hd_get(y, 4) > 0 && hd_get(y, 4) < 0x1p-126); /* subnormal, not flushed */
    ck_assert(isnan(hd_item(hd_exp(vec(HD_FLOAT32, NAN)))));
}
END_TEST

/* Gradients of strided and of large tensors, against a plain loop. */
START_TEST(gradient_of_relu_through_a_transpose)
{
    HD_SCOPE;
    hd_tensor *x = hd_sub_scalar(hd_arange_as(HD_FLOAT32, 0, 70000, 1), 35000);
    x = hd_requires_grad_(hd_view(x, 7, 10000), true);
    hd_tensor *y = hd_relu(hd_transpose(x, 0, 1));
    ck_assert(hd_backward_with(y, hd_full(HD_FLOAT32, 3, 10000, 7), false));
    hd_tensor *grad = hd_grad(x);
    for (int64_t i = 0; i < 7; i++) {
        for (int64_t j = 0; j < 10000; j++) {
            ck_assert(hd_get(grad, i, j) == (i * 10000 + j > 35000 ? 3 : 0));
        }
    }
}
END_TEST

START_TEST(errors)
{
    HD_SCOPE;
    hd_tensor *t = hd_zeros(HD_BOOL, 2), *i = hd_zeros(HD_INT64, 2);
    ck_assert_ptr_null(hd_exp(NULL));
    ck_error(HD_NULL_ARG, "hd_exp: x is NULL");
    ck_assert_ptr_null(hd_relu(HD_NONE));
    ck_error(HD_NULL_ARG, "hd_relu: x is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_relu(t));
    ck_error(HD_DTYPE, "hd_relu: bool: expected numbers");
    ck_assert_ptr_null(hd_abs(t));
    ck_error(HD_DTYPE, "hd_abs: bool: expected numbers");
    ck_assert_ptr_null(hd_gelu(i));
    ck_error(HD_DTYPE, "hd_gelu: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_gelu_tanh(t));
    ck_error(HD_DTYPE, "hd_gelu_tanh: dtype bool: expected float32 or float64");
    ck_assert_ptr_null(hd_silu(i));
    ck_error(HD_DTYPE, "hd_silu: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_elu(i, 1));
    ck_error(HD_DTYPE, "hd_elu: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_leaky_relu(hd_zeros(HD_FLOAT32, 2), 1e40));
    ck_error(HD_VALUE, "hd_leaky_relu: value 1e+40: expected one that float32 can hold");
    ck_assert_ptr_null(hd_softplus(t, 1, 20));
    ck_error(HD_DTYPE, "hd_softplus: dtype bool: expected float32 or float64");
    ck_assert_ptr_null(hd_softplus(hd_zeros(HD_FLOAT32, 2), 1e40, 20));
    ck_error(HD_VALUE, "hd_softplus: value 1e+40: expected one that float32 can hold");
    ck_assert_ptr_null(hd_clamp(NULL, 0, 1));
    ck_error(HD_NULL_ARG, "hd_clamp: x is NULL");
    ck_assert_ptr_null(hd_clamp_max(hd_zeros(HD_FLOAT32, 2), 1e40));
    ck_error(HD_VALUE, "hd_clamp_max: value 1e+40: expected one that float32 can hold");
    ck_assert_ptr_null(hd_clamp(i, -1e40, INFINITY)); /* of int64, bounds of float32 */
    ck_error(HD_VALUE, "hd_clamp: value -1e+40: expected one that float32 can hold");
    ck_elements(hd_clamp(hd_zeros(HD_FLOAT32, 2), NAN, 1e40), NAN, NAN); /* as in PyTorch */
    ck_elements(hd_clamp(hd_zeros(HD_FLOAT64, 1), -1e300, -1e40), -1e40);
}
END_TEST

START_TEST(grad_fn_names)
{
    HD_SCOPE;
    hd_tensor *a = hd_requires_grad_(vec(HD_FLOAT32, 1, 2), true);
    ck_assert_str_eq(hd_grad_fn(hd_exp(a)), "ExpBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_log(a)), "LogBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_sqrt(a)), "SqrtBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_rsqrt(a)), "RsqrtBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_tanh(a)), "TanhBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_erf(a)), "ErfBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_sigmoid(a)), "SigmoidBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_relu(a)), "ReluBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_abs(a)), "AbsBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_gelu(a)), "GeluBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_gelu_tanh(a)), "GeluBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_sin(a)), "SinBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_cos(a)), "CosBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_log1p(a)), "Log1PBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_silu(a)), "SiluBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_softplus(a, 1, 20)), "SoftplusBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_clamp(a, 0, 1)), "ClampBackward1");
    ck_assert_str_eq(hd_grad_fn(hd_clamp_min(a, 0)), "ClampBackward1");
}
END_TEST

/* ---------------------------------------------------------------- int64 */

/* Integers wrap: -INT64_MIN and |INT64_MIN| are INT64_MIN. */
static int64_t plain_int(int op, int64_t x)
{
    int64_t minus = (int64_t)(0 - (uint64_t)x);
    return op == HDK_NEG    ? minus
           : op == HDK_ABS  ? (x < 0 ? minus : x)
           : op == HDK_RELU ? (x < 0 ? 0 : x)
           : x < -5         ? -5
           : x > 9          ? 9
                            : x;
}

/* Every length up to 70, of each and of every second element; what lies beside the results
 * stays. */
START_TEST(loops_of_integers)
{
    enum { MOST = 70, STAYS = 12345 };
    static const int64_t some[] = {0, 1, -1, 9, 10, -5, -6, INT64_MAX, INT64_MIN, 1000, -1000};
    static const int ops[] = {HDK_NEG, HDK_ABS, HDK_RELU, HDK_CLAMP};
    const int64_t limits[] = {-5, 9};
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        for (int64_t n = 0; n <= MOST; n++) {
            for (int64_t step = 1; step <= 2; step++) {
                int64_t x[2 * MOST], y[2 * MOST + 1], strides[] = {step * 8, step * 8};
                for (int i = 0; i < 2 * MOST; i++) {
                    x[i] = some[i % 11];
                }
                for (int i = 0; i < 2 * MOST + 1; i++) {
                    y[i] = STAYS;
                }
                hdk_unary_loop(ops[o], HD_INT64)((char *[]){(char *)y, (char *)x}, strides, n,
                                                 limits);
                for (int64_t i = 0; i < 2 * MOST + 1; i++) {
                    bool result = i % step == 0 && i / step < n;
                    int64_t want = result ? plain_int(ops[o], x[i]) : STAYS;
                    ck_each(y[i] == want, "op %d, n %d, step %d: element %d", ops[o], (int)n,
                            (int)step, (int)i);
                }
            }
        }
    }
}
END_TEST

START_TEST(logsigmoid_at_its_ends)
{
    warnings_expected(); /* of a loss that is not finite */
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT64, 0, INFINITY, -INFINITY, NAN, -800, 800), true);
    hd_tensor *y = hd_logsigmoid(x);
    ck_elements(y, -log(2), 0, -INFINITY, NAN, -800, 0);
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(x), 0.5, 0, 1, NAN, 1, 0);
    hd_tensor *turned = hd_logsigmoid(hd_t(hd_zeros(HD_FLOAT32, 2, 3)));
    ck_assert_int_eq(hd_stride(turned, 1), 1); /* row-major, as in PyTorch */
    ck_no_error();
    ck_assert_ptr_null(hd_logsigmoid(hd_ones(HD_INT64, 1)));
    ck_error(HD_DTYPE, "hd_logsigmoid: dtype int64: expected float32 or float64");
}
END_TEST

Suite *suite_unary(void)
{
    const TTest *const tests[] = {
        exp_of_float32_bit_for_bit,
        sigmoid_and_silu_bit_for_bit,
        float32_within_some_ulps,
        every_loop_of_float32_is_compared,
        float32_through_float64_has_the_same_bits_everywhere,
        exp_at_its_ends,
        loops_of_integers,
        gradient_of_relu_through_a_transpose,
        errors,
        grad_fn_names,
        logsigmoid_at_its_ends,
    };
    Suite *s = SUITE_OF("unary", tests);
    suite_add_loop(s, float64_within_some_ulps, DOUBLES);
    suite_add_loop(s, float64_has_the_same_bits_everywhere, DOUBLES);
    suite_add_loop(s, gelu_within_its_bounds, GELU_KINDS);
    suite_add_loop(s, backward_in_one_loop_has_the_bits_of_its_formula, 2);
    suite_add_loop(s, gelu_has_the_same_bits_everywhere, GELU_KINDS);
    suite_add_loop(s, gelu_at_its_ends, GELU_KINDS);
    return s;
}
