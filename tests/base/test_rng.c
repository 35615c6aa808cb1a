/* test_rng.c - tests of random generators: every stream equals PyTorch's draws (rng_known.h). */
#include "base/random/draws.h"
#include "base/random/bernoulli.h"
#include "base/random/generator.h"
#include "base/random/rng_fill.h"
#include "base/start.h"
#include "support/golden_reader.h"
#include "suites.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum known_stream {
    UNIFORM_F32,
    UNIFORM_F64,
    NORMAL_F32,
    RANDINT,
    RANDPERM,
    BERNOULLI
} known_stream;

/* The hash of the bytes of n draws with arguments a and b after `seed`, and then 24 bits of the
 * generator's next output. */
typedef struct known_row {
    known_stream stream;
    hd_bernoulli_stream bernoulli;
    int64_t seed, n;
    double a, b;
    uint64_t hash;
    uint32_t next;
} known_row;

#include "rng_known.h"

enum { ROWS = sizeof known_rows / sizeof *known_rows };

/* Draws n elements; the bytes of one. */
static int draw(hd_generator *g, const known_row *k, void *x)
{
    switch (k->stream) {
    case UNIFORM_F32: hd__rng_uniform_f32(g, x, k->n, k->a, k->b); return sizeof(float);
    case UNIFORM_F64: hd__rng_uniform_f64(g, x, k->n, k->a, k->b); return sizeof(double);
    case NORMAL_F32: hd__rng_normal_f32(g, x, k->n, k->a, k->b); return sizeof(float);
    case RANDINT: hd__rng_randint(g, x, k->n, (int64_t)k->a, (int64_t)k->b); return sizeof(int64_t);
    case RANDPERM: hd__rng_randperm(g, x, k->n); return sizeof(int64_t);
    default: hd__rng_bernoulli(g, x, k->n, k->a); return 1;
    }
}

START_TEST(known_streams)
{
    const known_row *k = &known_rows[_i];
    hd_generator *g = hd_generator_new(k->seed);
    void *x = hd_alloc((size_t)k->n * 8);
    memset(x, 0xff, (size_t)k->n * 8);
    ck_assert(hd_generator_set_bernoulli(g, k->bernoulli));
    int width = draw(g, k, x);
    uint64_t hash = (uint64_t)golden_fnv(x, (uint64_t)(k->n * width), width);
    ck_assert_msg(hash == k->hash, "row %d", _i);
    ck_assert_uint_eq(hd_generator_random(g) & 0xffffff, k->next);
    hd_free(x);
    hd_generator_free(g);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* libm's log, sin and cos may differ by a unit in the last place between its versions. */
static void compare(const double *x, const double *known, int n)
{
    for (int i = 0; i < n; i++) {
        ck_assert_msg(fabs(x[i] - known[i]) <= 4 * 0x1p-53 * fabs(known[i]), "[%d] %a %a", i, x[i],
                      known[i]);
    }
}

START_TEST(known_values)
{
    double x[21];
    hd_generator *g = hd_generator_new(123);
    hd__rng_normal_f64(g, x, 21, -3, 0.02);
    compare(x, known_normal_f64, 21);
    ck_assert_uint_eq(hd_generator_random(g) & 0xffffff, known_normal_f64_next);
    hd_generator_seed(g, 123);
    for (int i = 0; i < 7; i++) {
        x[i] = hd__rng_normal_sample(g);
    }
    compare(x, known_normal_sample, 7);
    ck_assert_uint_eq(hd_generator_random(g) & 0xffffff, known_normal_sample_next);
    hd_generator_seed(g, 123);
    for (int i = 0; i < 8; i++) {
        x[i] = hd__rng_exponential_sample(g, 1.5);
    }
    compare(x, known_exponential, 8);
    ck_assert_uint_eq(hd_generator_random(g) & 0xffffff, known_exponential_next);
    hd_generator_free(g);
}
END_TEST

/* The 10,000th output after seed 5489, as the C++ standard states it for mt19937. */
START_TEST(twister)
{
    hd_generator *g = hd_generator_new(5489), *low = hd_generator_new((INT64_C(9) << 32) + 5489);
    int same = 1;
    while (same < 10000 && hd_generator_random(g) == hd_generator_random(low)) {
        same++;
    }
    ck_assert_int_eq(same, 10000);
    ck_assert_uint_eq(hd_generator_random(g), 4123659995u);
    hd_generator_seed(g, 1);
    hd_generator_seed(low, 1);
    uint64_t high = hd_generator_random(low);
    ck_assert(hd_generator_random64(g) == (high << 32 | hd_generator_random(low)));
    hd_generator_free(g);
    hd_generator_free(low);
}
END_TEST

START_TEST(samples)
{
    hd_generator *g = hd_generator_new(7), *h = hd_generator_new(7);
    float x[100];
    double y[100];
    hd__rng_uniform_f32(h, x, 100, 0, 1);
    hd__rng_uniform_f64(h, y, 100, 0, 1);
    for (int i = 0; i < 100; i++) {
        ck_assert((float)(hd__rng_random(g) & 0xffffffu) * 0x1p-24f == x[i]);
    }
    for (int i = 0; i < 100; i++) {
        ck_assert(hd__rng_unit_f64(g) == y[i]);
    }
    hd_generator_free(g);
    hd_generator_free(h);
}
END_TEST

enum { FILLED = 700 };

/* What array fills give, drawn one by one. */
static void check_fills(hd_generator *g, hd_generator *h, int64_t n, double a, double b)
{
    static float x[FILLED];
    static double y[FILLED];
    static int64_t r[FILLED];
    const float low = (float)a, high = (float)b;
    hd__rng_uniform_f32(h, x, n, a, b);
    for (int64_t i = 0; i < n; i++) {
        float want = fmaf((float)(hd_generator_random(g) & 0xffffffu) * 0x1p-24f, high - low, low);
        ck_assert(x[i] == (want == high ? low : want));
    }
    hd__rng_uniform_f64(h, y, n, a, b);
    for (int64_t i = 0; i < n; i++) {
        double want = fma(hd__rng_unit_f64(g), b - a, a);
        ck_assert(y[i] == (want == b ? a : want));
    }
    for (int large = 0; large < 2; large++) {
        const int64_t to = large ? INT64_C(1) << 40 : 1000;
        hd__rng_randint(h, r, n, -7, to);
        for (int64_t i = 0; i < n; i++) {
            uint64_t word = large ? hd_generator_random64(g) : hd_generator_random(g);
            ck_assert_int_eq(r[i], (int64_t)(word % (uint64_t)(to + 7)) - 7);
        }
    }
}

/* Arrays are filled from many outputs at once, which begin and end anywhere in the state. */
START_TEST(fills_are_single_draws)
{
    static const double bounds[][2] = {{0, 1}, {-1, 1}, {-0.1, 0.3}, {0, 5}, {3, 4}, {-1, 0}};
    hd_generator *g = hd_generator_new(11), *h = hd_generator_new(11);
    for (int64_t n = 0; n <= FILLED; n += n < 40 ? 1 : 61) {
        for (size_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++) {
            check_fills(g, h, n, bounds[k][0], bounds[k][1]);
        }
    }
    ck_assert_uint_eq(hd_generator_random(g), hd_generator_random(h));
    hd_generator_free(g);
    hd_generator_free(h);
}
END_TEST

/* The second half of a pair outlives every other kind of draw, but not a seed. */
START_TEST(spare)
{
    hd_generator *g = hd_generator_new(123), *other = hd_generator_new(123);
    double x[32], second;
    uint8_t b[20];
    int64_t r[20];
    hd__rng_normal_sample(other);
    second = hd__rng_normal_sample(other);
    hd__rng_normal_sample(g);
    hd__rng_uniform_f64(g, x, 32, 0, 1);
    hd__rng_normal_f64(g, x, 32, 0, 1);
    hd__rng_bernoulli(g, b, 20, 0.5);
    hd__rng_randperm(g, r, 20);
    hd__rng_exponential_sample(g, 1);
    ck_assert_double_eq(hd__rng_normal_sample(g), second);
    hd__rng_normal_sample(g);
    hd_generator_seed(g, 123);
    hd_generator_seed(other, 123);
    ck_assert_double_eq(hd__rng_normal_sample(g), hd__rng_normal_sample(other));
    hd_generator_free(g);
    hd_generator_free(other);
}
END_TEST

START_TEST(uniform_below_b)
{
    hd_generator *g = hd_generator_new(3);
    float x[1000];
    double y[1000];
    int low = 0;
    hd__rng_uniform_f32(g, x, 1000, 1, 1 + 0x1p-23);
    hd__rng_uniform_f64(g, y, 1000, 1, 1 + 0x1p-52);
    for (int i = 0; i < 1000; i++) {
        low += x[i] == 1.0f && y[i] == 1.0;
    }
    ck_assert_int_eq(low, 1000);
    hd_generator_free(g);
}
END_TEST

/* An element is 1 for a p above the number that it drew, and 0 for that number itself. */
START_TEST(bernoulli_strict)
{
    hd_generator *g = hd_generator_new(123);
    uint8_t x[1];
    for (int seed = 0; seed < 200; seed++) {
        for (int s = HD_BERNOULLI_MCG31; s <= HD_BERNOULLI_NATIVE; s++) {
            hd_generator_set_bernoulli(g, (hd_bernoulli_stream)s);
            hd_generator_seed(g, seed);
            double p = s == HD_BERNOULLI_NATIVE
                           ? hd__rng_unit_f64(g)
                           : hd_generator_random(g) % 2147483647u / 2147483647.0;
            hd_generator_seed(g, seed);
            hd__rng_bernoulli(g, x, 1, p);
            ck_assert_int_eq(x[0], 0);
            hd_generator_seed(g, seed);
            hd__rng_bernoulli(g, x, 1, nextafter(p, 1));
            ck_assert_int_eq(x[0], 1);
        }
    }
    hd_generator_free(g);
}
END_TEST

START_TEST(bernoulli_any_cut)
{
    enum { N = 100003 };
    uint8_t *x = hd_alloc(N), *y = hd_alloc(N);
    hd_generator *g = hd_generator_new(123);
    hd_set_num_threads(1);
    hd__rng_bernoulli(g, x, N, 0.3);
    for (int threads = 2; threads <= 7; threads++) {
        hd_set_num_threads(threads);
        hd_generator_seed(g, 123);
        memset(y, 0xff, N);
        hd__rng_bernoulli(g, y, N, 0.3);
        ck_assert_mem_eq(x, y, N);
    }
    hd_generator_free(g);
    hd_free(x);
    hd_free(y);
}
END_TEST

static void *draw_default(void *arg)
{
    (void)arg;
    hd_generator *g = hd_generator_current();
    for (int i = 0; i < 10000; i++) {
        hd_generator_random(g);
    }
    return NULL;
}

START_TEST(default_generator)
{
    hd_generator *d = hd_default_generator(), *g = hd_generator_new(67280421310721);
    for (int i = 0; i < 10; i++) {
        ck_assert_uint_eq(hd_generator_random(d), hd_generator_random(g));
    }
    ck_assert_ptr_eq(hd_generator_current(), d);
    ck_assert_int_eq(hd_generator_bernoulli(d), HD_BERNOULLI_MCG31);
    hd_generator_use(g);
    ck_assert_ptr_eq(hd_generator_current(), g);
    uint32_t before = hd_generator_random(g);
    ck_assert_uint_eq(before, hd_generator_random(d));
    ck_assert(hd_manual_seed(42));
    ck_assert_uint_ne(hd_generator_random(g), hd_generator_random(d));
    hd_generator_use(NULL);
    ck_assert_ptr_eq(hd_generator_current(), d);

    ck_assert(hd_manual_seed(42));
    hd_generator_seed(g, 42);
    pthread_t t[4];
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, draw_default, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
    }
    for (int i = 0; i < 40000; i++) {
        hd_generator_random(g);
    }
    ck_assert_uint_eq(hd_generator_random(d), hd_generator_random(g));
    hd_generator_free(g);
}
END_TEST

START_TEST(bernoulli_choice)
{
    hd_generator *g = hd_generator_new(1);
    ck_assert_int_eq(hd_generator_bernoulli(g), HD_BERNOULLI_MCG31);
    ck_assert(hd_generator_set_bernoulli(g, HD_BERNOULLI_NATIVE));
    ck_assert(hd_generator_seed(g, 2));
    ck_assert_int_eq(hd_generator_bernoulli(g), HD_BERNOULLI_NATIVE);
    ck_assert(!hd_generator_set_bernoulli(g, (hd_bernoulli_stream)7));
    ck_error(HD_VALUE, "hd_generator_set_bernoulli: stream 7: "
                       "expected HD_BERNOULLI_MCG31 or HD_BERNOULLI_NATIVE");
    ck_assert_int_eq(hd_generator_bernoulli(g), HD_BERNOULLI_NATIVE);
    hd_generator_free(g);
}
END_TEST

START_TEST(refused)
{
    ck_assert(!hd_generator_seed(NULL, 1));
    ck_error(HD_NULL_ARG, "hd_generator_seed: g is NULL");
    ck_assert(!hd_generator_set_bernoulli(NULL, HD_BERNOULLI_NATIVE));
    ck_error(HD_NULL_ARG, "hd_generator_set_bernoulli: g is NULL");
    ck_assert_int_eq(hd_generator_bernoulli(NULL), HD_BERNOULLI_MCG31);
    ck_error(HD_NULL_ARG, "hd_generator_bernoulli: g is NULL");
    ck_assert_uint_eq(hd_generator_random(NULL), 0);
    ck_error(HD_NULL_ARG, "hd_generator_random: g is NULL");
    ck_assert(hd_generator_random64(NULL) == 0);
    ck_error(HD_NULL_ARG, "hd_generator_random64: g is NULL");
    hd_generator_free(NULL);
    ck_assert_int_eq(hd_error_code(), HD_OK);
    hd_generator_free(hd_default_generator());
    ck_error(HD_VALUE, "hd_generator_free: g is the default generator: "
                       "expected one that hd_generator_new made");
}
END_TEST

/* ---------------------------------------------------------------- draws that are taken back */

static bool same_state(const hd_generator *a, const hd_generator *b)
{
    return memcmp(a->state, b->state, sizeof a->state) == 0 && a->next == b->next &&
           a->bernoulli == b->bernoulli && a->has_spare == b->has_spare &&
           (!a->has_spare || a->spare == b->spare);
}

/* Draws so much that the twister makes new words. */
static void draw_much(hd_generator *g)
{
    double x[700];
    hd__gen_lock(g);
    hd__rng_uniform_f64(g, x, 700, 0, 1);
    hd__rng_normal_sample(g);
    hd__gen_unlock(g);
}

START_TEST(draws_are_taken_back)
{
    hd_generator *g = hd_default_generator();
    hd_manual_seed(3);
    draw_much(g);
    hd_generator before = *g;
    hd__draws outer, inner, last;
    hd__draws_begin(&outer);
    hd__draws_begin(&inner);
    draw_much(g);
    hd__draws_end(&inner, false); /* both found the same state */
    ck_assert(same_state(g, &before));
    draw_much(g);
    hd_generator kept = *g;
    hd__draws_begin(&inner);
    hd__draws_begin(&last);
    draw_much(g);
    hd__draws_end(&last, true);
    hd__draws_end(&inner, false);
    ck_assert(same_state(g, &kept));
    hd__draws_begin(&inner); /* ends with the one around it */
    ck_assert(hd_generator_seed(g, 9) && hd_generator_set_bernoulli(g, HD_BERNOULLI_NATIVE));
    hd__draws_end(&outer, false);
    ck_assert(same_state(g, &before));
    hd__draws_end(&inner, false);
    ck_assert(same_state(g, &before));
    hd__draws_begin(&outer);
    draw_much(g);
    hd__draws_end(&outer, true);
    ck_assert(!same_state(g, &before));
}
END_TEST

START_TEST(draws_from_a_freed_generator_are_forgotten)
{
    hd__draws d;
    hd_generator *g = hd_generator_new(3);
    hd__draws_begin(&d);
    draw_much(g);
    hd_generator_free(g);
    hd__draws_end(&d, false); /* writes nothing, as a sanitizer would tell */
    ck_no_error();
}
END_TEST

static void *draw_elsewhere(void *g)
{
    draw_much(g);
    return NULL;
}

/* Another thread has got numbers of g: they are not given again. */
static void keeps_what_others_drew(hd_generator *g)
{
    hd__draws d;
    pthread_t thread;
    hd_generator_seed(g, 3);
    hd__draws_begin(&d);
    draw_much(g);
    ck_assert_int_eq(pthread_create(&thread, NULL, draw_elsewhere, g), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    hd_generator now = *g;
    hd__draws_end(&d, false);
    ck_assert(same_state(g, &now));
    hd__draws_begin(&d); /* what it drew before does not matter */
    draw_much(g);
    hd__draws_end(&d, false);
    ck_assert(same_state(g, &now));
}

START_TEST(draws_between_those_of_another_thread_stay)
{
    hd_generator *g = hd_generator_new(3);
    keeps_what_others_drew(hd_default_generator());
    keeps_what_others_drew(g);
    hd_generator_free(g);
}
END_TEST

/* A fork, like a save, draws nothing: what is drawn afterwards is taken back. */
START_TEST(a_fork_is_no_draw)
{
    hd_generator *g = hd_generator_new(3);
    hd__draws d;
    hd_generator before = *g;
    ck_assert(hd__init());
    hd__draws_begin(&d);
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    draw_much(g);
    hd__draws_end(&d, false);
    ck_assert(same_state(g, &before));
    hd_generator_free(g);
}
END_TEST

Suite *suite_rng(void)
{
    const TTest *const tests[] = {
        known_values,
        twister,
        samples,
        fills_are_single_draws,
        spare,
        uniform_below_b,
        bernoulli_strict,
        bernoulli_any_cut,
        default_generator,
        bernoulli_choice,
        refused,
        draws_are_taken_back,
        draws_from_a_freed_generator_are_forgotten,
        draws_between_those_of_another_thread_stay,
        a_fork_is_no_draw,
    };
    Suite *s = SUITE_OF("rng", tests);
    suite_add_loop(s, known_streams, ROWS);
    return s;
}
