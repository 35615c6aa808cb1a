/* test_create.c - tests of new tensors: PyTorch's golden values, invalid sizes, values that a dtype
 * cannot hold. */
#include "base/start.h"
#include "suites.h"
#include "support/golden_reader.h"

/* ---------------------------------------------------------------- golden cases */

static hd_scalar scalar_of(const golden_case *c, const char *field, int64_t otherwise)
{
    const golden_record *r = golden_get(c, "%s", field);
    if (!r) {
        return hd_scalar_int(otherwise);
    }
    return r->type == GOLDEN_F64 ? hd_scalar_double(r->d[0]) : hd_scalar_int(r->i[0]);
}

static int dtype_in(const golden_case *c)
{
    static const char *const names[] = {"f32", "f64", "i64", "bool"};
    const char *name = golden_text(c, "dtype", "");
    for (int d = 0; d < 4; d++) {
        if (strcmp(name, names[d]) == 0) {
            return d;
        }
    }
    return -1;
}

static hd_tensor *create(const golden_case *c, const char *op)
{
    int d = dtype_in(c);
    hd_dtype dtype = d < 0 ? HD_FLOAT32 : (hd_dtype)d;
    if (strcmp(op, "arange") == 0) {
        hd_scalar start = scalar_of(c, "s0", 0), end = scalar_of(c, "s1", 0);
        hd_scalar step = scalar_of(c, "s2", 1);
        return d < 0 ? hd_arange(start, end, step) : hd_arange_as(dtype, start, end, step);
    }
    if (strcmp(op, "linspace") == 0) {
        return hd_linspace(dtype, golden_double(c, "start", 0), golden_double(c, "end", 0),
                           golden_int(c, "steps", 0));
    }
    if (strcmp(op, "eye") == 0) {
        int64_t n = golden_int(c, "n", 0);
        return hd_eye(dtype, n, golden_int(c, "m", n));
    }
    const golden_record *sizes = golden_get(c, "sizes");
    return hd_full_n(dtype, scalar_of(c, "s0", 0), (int)sizes->numel, sizes->i);
}

static void check_case(const golden_case *c, const char *op)
{
    HD_SCOPE;
    const golden_record *out = golden_get(c, "out");
    hd_tensor *y = create(c, op);
    if (!out) {
        ck_assert_msg(!y, "%s: %s", c->name, golden_text(c, "error", ""));
        hd_error_clear();
        return;
    }
    ck_assert_msg(y && hd_dtype_of(y) == (hd_dtype)out->type && hd_ndim(y) == out->ndim &&
                      hd_numel(y) == out->numel && hd_is_contiguous(y),
                  "%s: %s", c->name, hd_error_message());
    for (int64_t i = 0; i < out->numel; i++) {
        double got = element_at(y, i), want = out->d[i];
        bool same = got == want && signbit(got) == signbit(want);
        ck_assert_msg(same || (isnan(got) && isnan(want)), "%s: [%lld] is %.17g not %.17g", c->name,
                      (long long)i, got, want);
        const void *data = hd_data(y);
        ck_assert(out->type != GOLDEN_I64 || ((const int64_t *)data)[i] == out->i[i]);
        ck_assert(out->type != GOLDEN_BOOL || ((const uint8_t *)data)[i] == out->i[i]);
    }
}

/* How many cases the file has of these functions; all are checked. */
static int check_file(const char *path)
{
    static const char *const ops[] = {"arange", "linspace", "eye", "full"};
    golden_file *f = golden_read(path);
    int cases = 0;
    ck_assert_ptr_nonnull(f);
    for (int k = 0; k < f->count; k++) {
        for (int i = 0; i < 4; i++) {
            if (strcmp(golden_text(&f->cases[k], "op", ""), ops[i]) == 0) {
                check_case(&f->cases[k], ops[i]);
                cases++;
            }
        }
    }
    golden_free(f);
    return cases;
}

START_TEST(arange_linspace_eye_full_as_pytorch)
{
    ck_assert_int_ge(check_file(GOLDEN_DIR "/ops.txt"), 90);
    ck_assert_int_ge(check_file(GOLDEN_DIR "/arange.txt"), 100);
}
END_TEST

/* ---------------------------------------------------------------- ranges by their hashes */

enum { RANGES = 40 }; /* of a group */

/* Small numbers, those of the generator in tools/golden/golden_layout.py. */
static int64_t below(uint64_t *state, int64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((*state >> 33) % (uint64_t)n);
}

typedef struct range {
    double start, end, step;
} range;

/* Range k of a group, as tools/golden/golden_arange.py draws it. */
static range draw_range(uint64_t *state, int k)
{
    static const double divisors[] = {1, 2, 3, 7, 10, 100, 1000, 1024, 1e6, 3e-5};
    const int64_t count = sizeof divisors / sizeof *divisors;
    int64_t n = below(state, k == RANGES - 1 ? 60000 : k % 10 == 9 ? 3000 : 70);
    double start = (double)(below(state, 20001) - 10000);
    start /= divisors[below(state, count)];
    double step = (double)(1 + below(state, 1000));
    step /= divisors[below(state, count)];
    step = below(state, 2) ? -step : step;
    return (range){start, start + step * ((double)n + (double)below(state, 4) / 4), step};
}

/* FNV-1a whose letters are the bits of the elements. */
static uint64_t fold(uint64_t hash, const hd_tensor *x)
{
    const uint32_t *narrow = hd_data(x);
    const uint64_t *wide = hd_data(x);
    for (int64_t i = 0; i < hd_numel(x); i++) {
        hash = (hash ^ (hd_dtype_of(x) == HD_FLOAT32 ? narrow[i] : wide[i])) * 0x100000001b3u;
    }
    return hash;
}

static void check_group(const golden_case *c, uint64_t *state, const char *level)
{
    uint64_t hash[2] = {0xcbf29ce484222325u, 0xcbf29ce484222325u};
    int64_t elements = 0;
    for (int k = 0; k < RANGES; k++) {
        HD_SCOPE;
        range r = draw_range(state, k);
        for (int d = 0; d < 2; d++) {
            hd_tensor *y = hd_arange_as((hd_dtype)d, r.start, r.end, r.step);
            ck_assert_msg(y, "%s: %s", c->name, hd_error_message());
            hash[d] = fold(hash[d], y);
            elements += hd_numel(y);
        }
    }
    ck_assert_int_eq(elements, golden_int(c, "elements", -1));
    for (int d = 0; d < 2; d++) {
        const golden_record *want = golden_get(c, d == 0 ? "f32.hash" : "f64.hash");
        ck_assert_msg((int64_t)hash[d] == want->i[0], "%s at level %s: other bits in %s", c->name,
                      level, hd_dtype_name((hd_dtype)d));
    }
}

START_TEST(ranges_of_floats_have_pytorchs_bits)
{
    golden_file *f = golden_read(GOLDEN_DIR "/arange.txt");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(hd_cpu_level());
    int best = hd__level, groups = 0;
    for (int level = 0; level <= best; level++) {
        uint64_t state = 1;
        hd__level = level;
        for (int k = 0; k < f->count; k++) {
            if (strncmp(f->cases[k].name, "ranges_", strlen("ranges_")) == 0) {
                check_group(&f->cases[k], &state, hd_cpu_level());
                groups++;
            }
        }
    }
    hd__level = best;
    ck_assert_int_eq(groups, 100 * (best + 1));
    golden_free(f);
}
END_TEST

/* ---------------------------------------------------------------- plain ones */

START_TEST(filled)
{
    HD_SCOPE;
    ck_elements(hd_zeros(HD_FLOAT64, 2, 1), 0, 0);
    ck_elements(hd_ones(HD_BOOL, 2), 1, 1);
    ck_elements(hd_full(HD_INT64, -7, 1, 3), -7, -7, -7);
    ck_elements(hd_full(HD_FLOAT32, INFINITY, 1), INFINITY);
    ck_elements(hd_full(HD_BOOL, NAN, 1), 1);
    ck_elements(hd_scalar_tensor(HD_FLOAT32, 2.5), 2.5);
    ck_assert_int_eq(hd_ndim(hd_scalar_tensor(HD_INT64, INT64_MAX)), 0);
    ck_assert_int_eq(hd_item_int(hd_scalar_tensor(HD_INT64, INT64_MAX)), INT64_MAX);
    ck_assert_int_eq(hd_numel(hd_empty(HD_FLOAT32, 3, 0, 2)), 0);
    ck_assert_int_eq(hd_ndim(hd_empty_n(HD_FLOAT32, 0, NULL)), 0);
    ck_no_error();
}
END_TEST

START_TEST(like_another)
{
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 2, 3);
    hd_tensor *y[] = {hd_empty_like(x, HD_FLOAT64), hd_zeros_like(x, HD_INT64),
                      hd_ones_like(x, HD_BOOL),     hd_full_like(x, HD_FLOAT32, 4.5),
                      hd_rand_like(x, HD_FLOAT64),  hd_randn_like(x, HD_FLOAT32)};
    static const int dtypes[] = {HD_FLOAT64, HD_INT64, HD_BOOL, HD_FLOAT32, HD_FLOAT64, HD_FLOAT32};
    for (int i = 0; i < 6; i++) {
        ck_assert(hd__tensor_same_shape(x, y[i]) && !hd_shares_storage(x, y[i]));
        ck_assert_int_eq(hd_dtype_of(y[i]), dtypes[i]);
    }
    ck_elements(y[3], 4.5, 4.5, 4.5, 4.5, 4.5, 4.5);
    ck_no_error();
}
END_TEST

START_TEST(from_data_copies)
{
    HD_SCOPE;
    float data[] = {1, 2, 3, 4};
    hd_tensor *x = hd_from_data(HD_FLOAT32, data, 2, 2);
    data[0] = 9;
    ck_elements(x, 1, 2, 3, 4);
    hd_tensor *b = hd_from_data(HD_BOOL, ((uint8_t[]){0, 1, 7, 255}), 4);
    ck_elements(b, 0, 1, 1, 1); /* any byte but zero is true */
    ck_assert_ptr_null(hd_from_data(HD_FLOAT32, NULL, 2));
    ck_error(HD_NULL_ARG, "hd_from_data: data is NULL");
}
END_TEST

/* ---------------------------------------------------------------- refusals */

START_TEST(sizes_that_do_not_exist)
{
    HD_SCOPE;
    int64_t big = (int64_t)1 << 40, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    ck_assert_ptr_null(hd_zeros(HD_FLOAT32, 2, -1));
    ck_error(HD_SHAPE, "hd_zeros: (2, -1): expected sizes of 0 or more");
    ck_assert_ptr_null(hd_empty(HD_FLOAT32, INT64_MIN));
    ck_error(HD_SHAPE, "hd_empty: (-9223372036854775808,): expected sizes of 0 or more");
    ck_assert_ptr_null(hd_ones_n(HD_FLOAT32, 9, nine));
    ck_error(HD_SHAPE, "hd_ones: 9 dimensions: expected 0 to 8");
    ck_assert_ptr_null(hd_rand_n(HD_FLOAT32, -1, nine));
    ck_error(HD_SHAPE, "hd_rand: -1 dimensions: expected 0 to 8");
    ck_assert_ptr_nonnull(hd_ones_n(HD_FLOAT32, 8, nine));
    ck_assert_ptr_null(hd_full_n(HD_FLOAT32, 1, 2, NULL));
    ck_error(HD_NULL_ARG, "hd_full: sizes is NULL");
    ck_assert_ptr_null(hd_zeros(HD_FLOAT32, big, big));
    ck_error(HD_MEMORY, "hd_zeros: (1099511627776, 1099511627776) of float32: the size overflows");
    ck_assert_ptr_null(hd_zeros(HD_BOOL, big, big, 0)); /* as in PyTorch: its strides overflow */
    ck_error(HD_MEMORY, "hd_zeros: (1099511627776, 1099511627776, 0) of bool: the size overflows");
    ck_assert_ptr_null(hd_empty(HD_FLOAT64, INT64_MAX));
    ck_error(HD_MEMORY, "hd_empty: (9223372036854775807,) of float64: the size overflows");
    ck_assert_ptr_null(hd_eye(HD_FLOAT32, -1, 3));
    ck_error(HD_SHAPE, "hd_eye: (-1, 3): expected sizes of 0 or more");
    uint64_t failures = hd_error_count();
    ck_assert_ptr_null(hd_zeros(HD_BOOL, big, 1 << 20)); /* it fits int64, but not this machine */
    ck_assert(hd_error_count() == failures + 1);
    ck_error(HD_MEMORY, SIZE_MAX < INT64_MAX
                            ? "hd_zeros: (1099511627776, 1048576) of bool: the size overflows"
                            : "hd_zeros: 1152921504606846976 bytes: out of memory");
}
END_TEST

START_TEST(dtypes_that_do_not_exist)
{
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 1);
#define NO_DTYPE(f, call)                                                                          \
    ck_assert_ptr_null(call);                                                                      \
    ck_error(HD_DTYPE, f ": dtype 5: expected HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL or "       \
                         "HD_BFLOAT16")
    hd_dtype no = (hd_dtype)5;
    NO_DTYPE("hd_empty", hd_empty(no, 1));
    NO_DTYPE("hd_zeros", hd_zeros(no, 1));
    NO_DTYPE("hd_ones", hd_ones(no, 1));
    NO_DTYPE("hd_full", hd_full(no, 1, 1));
    NO_DTYPE("hd_scalar_tensor", hd_scalar_tensor(no, 1));
    NO_DTYPE("hd_from_data", hd_from_data(no, &no, 1));
    NO_DTYPE("hd_wrap", hd_wrap(no, &no, NULL, NULL, 1));
    NO_DTYPE("hd_arange_as", hd_arange_as(no, 0, 1, 1));
    NO_DTYPE("hd_linspace", hd_linspace(no, 0, 1, 2));
    NO_DTYPE("hd_eye", hd_eye(no, 1, 1));
    NO_DTYPE("hd_empty_like", hd_empty_like(x, no));
    NO_DTYPE("hd_zeros_like", hd_zeros_like(x, no));
    NO_DTYPE("hd_ones_like", hd_ones_like(x, no));
    NO_DTYPE("hd_full_like", hd_full_like(x, no, 1));
    NO_DTYPE("hd_rand_like", hd_rand_like(x, no));
    NO_DTYPE("hd_randn_like", hd_randn_like(x, no));
    NO_DTYPE("hd_rand", hd_rand(no, 1));
    NO_DTYPE("hd_randn", hd_randn(no, 1));
    NO_DTYPE("hd_randint", hd_randint(no, 0, 2, 1));
    ck_assert_str_eq(hd_dtype_name(no), "?");
    ck_assert_int_eq(hd_dtype_size(no), -1);
    ck_assert_ptr_null(hd_rand(HD_INT64, 1));
    ck_error(HD_DTYPE, "hd_rand: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_randn_like(x, HD_BOOL));
    ck_error(HD_DTYPE, "hd_randn_like: dtype bool: expected float32 or float64");
    ck_assert_ptr_null(hd_randint(HD_BOOL, 0, 2, 1));
    ck_error(HD_DTYPE, "hd_randint: dtype bool: expected float32, float64 or int64");
    ck_assert_ptr_null(hd_arange_as(HD_BOOL, 0, 2, 1));
    ck_error(HD_DTYPE, "hd_arange_as: dtype bool: expected float32, float64 or int64");
    ck_assert_ptr_null(hd_linspace(HD_BOOL, 0, 2, 1));
    ck_error(HD_DTYPE, "hd_linspace: dtype bool: expected float32, float64 or int64");
}
END_TEST

START_TEST(values_that_a_dtype_cannot_hold)
{
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 1);
    ck_assert_ptr_null(hd_full(HD_INT64, INFINITY, 2));
    ck_error(HD_VALUE, "hd_full: value inf: expected one that int64 can hold");
    ck_assert_ptr_null(hd_full(HD_INT64, 1e19, 2));
    ck_error(HD_VALUE, "hd_full: value 1e+19: expected one that int64 can hold");
    ck_assert_ptr_null(hd_full(HD_FLOAT32, -1e40, 2));
    ck_error(HD_VALUE, "hd_full: value -1e+40: expected one that float32 can hold");
    ck_assert_ptr_null(hd_full_like(x, HD_FLOAT32, 3.5e38));
    ck_error(HD_VALUE, "hd_full_like: value 3.5e+38: expected one that float32 can hold");
    ck_assert_ptr_null(hd_scalar_tensor(HD_INT64, -1e30));
    ck_error(HD_VALUE, "hd_scalar_tensor: value -1e+30: expected one that int64 can hold");
    ck_elements(hd_full(HD_INT64, -2.9, 1), -2);
    ck_assert_ptr_null(hd_linspace(HD_FLOAT32, 0, 1e40, 3));
    ck_error(HD_VALUE, "hd_linspace: value 1e+40: expected one that float32 can hold");
    ck_elements(hd_linspace(HD_INT64, 2.7, -7.9, 4), 2, -1, -4, -7);
    ck_elements(hd_linspace(HD_FLOAT32, 3, INFINITY, 1), 3);
}
END_TEST

START_TEST(ranges_that_lead_nowhere)
{
    HD_SCOPE;
    ck_assert_ptr_null(hd_arange(5, 1, 1));
    ck_error(HD_VALUE,
             "hd_arange: from 5 to 1 by 1: expected a step from the start towards the end");
    ck_assert_ptr_null(hd_arange(1, 5, -1));
    ck_error(HD_VALUE,
             "hd_arange: from 1 to 5 by -1: expected a step from the start towards the end");
    ck_assert_ptr_null(hd_arange(0, 1, 0));
    ck_error(HD_VALUE,
             "hd_arange: from 0 to 1 by 0: expected a step from the start towards the end");
    ck_assert_ptr_null(hd_arange(0, NAN, 1));
    ck_error(HD_VALUE, "hd_arange: from 0 to nan by 1: expected finite numbers");
    ck_assert_ptr_null(hd_arange(0, 1e30, 1));
    ck_assert_int_eq(hd_error_code(), HD_MEMORY);
    hd_error_clear();
    ck_assert_int_eq(hd_numel(hd_arange(1, 1, 1)), 0);
    ck_assert_int_eq(hd_numel(hd_arange(0, 1, INFINITY)), 0);
    ck_elements(hd_arange(3, 0, -1), 3, 2, 1);
    ck_elements(hd_arange_as(HD_INT64, 0.5, 3.7, 1.9), 0, 1, 2);
    ck_elements(hd_arange_as(HD_INT64, -0.5, 2.5, 1), 0, 1);
    ck_assert_ptr_null(hd_arange_as(HD_INT64, 0, 3, 0.5));
    ck_error(HD_VALUE,
             "hd_arange_as: from 0 to 3 by 0: expected a step from the start towards the end");
    ck_assert_ptr_null(hd_arange_as(HD_INT64, 0, 1e19, 1));
    ck_error(HD_VALUE, "hd_arange_as: value 1e+19: expected one that int64 can hold");
    ck_assert_int_eq(hd_get_int(hd_arange(INT64_MAX - 2, INT64_MAX, 1), 1), INT64_MAX - 1);
    ck_assert_int_eq(hd_get_int(hd_arange(INT64_MIN, INT64_MAX, INT64_MAX), 2), INT64_MAX - 1);
    ck_assert_ptr_null(hd_linspace(HD_FLOAT32, 0, 1, -1));
    ck_error(HD_VALUE, "hd_linspace: -1 steps: expected 0 or more");
    ck_assert_ptr_null(hd_randint(HD_INT64, 5, 5, 2));
    ck_error(HD_VALUE, "hd_randint: [5, 5): expected lo < hi");
    ck_assert_ptr_null(hd_randperm(-1));
    ck_error(HD_VALUE, "hd_randperm: n -1: expected 0 or more");
}
END_TEST

/* ---------------------------------------------------------------- when memory runs out */

START_TEST(no_memory_leaves_nothing)
{
    for (int left = 0; left < 2; left++) {
        scarce s = {.left = -1};
        scarce_use(&s);
        hd_scope *scope = hd_scope_open();
        s.left = left;
        uint64_t failures = hd_error_count();
        hd_tensor *x = hd_randint(HD_FLOAT64, 0, 9, 100);
        ck_assert_ptr_null(x);
        ck_assert_int_eq(hd_error_code(), HD_MEMORY);
        ck_assert(hd_error_count() > failures);
        ck_assert_int_eq(strncmp(hd_error_message(), "hd_", 3), 0);
        hd_error_clear();
        hd_scope_close(scope);
        ck_assert_int_eq(s.blocks, 0);
        scarce_end();
    }
}
END_TEST

Suite *suite_creation(void)
{
    const TTest *const tests[] = {
        arange_linspace_eye_full_as_pytorch,
        ranges_of_floats_have_pytorchs_bits,
        filled,
        like_another,
        from_data_copies,
        sizes_that_do_not_exist,
        dtypes_that_do_not_exist,
        values_that_a_dtype_cannot_hold,
        ranges_that_lead_nowhere,
        no_memory_leaves_nothing,
    };
    return SUITE_OF("creation", tests);
}
