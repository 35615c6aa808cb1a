/* test_generator.c - tests that generators are written to a dictionary and read back. */
#include "suites.h"
#include "tensor/random_fill.h"

/* Everything that can be drawn, in numbers. */
static void draw(hd_generator *g, double values[6])
{
    hd_generator_use(g);
    HD_SCOPE;
    values[0] = hd_item(hd_rand(HD_FLOAT32, 1));
    values[1] = hd_item(hd_randn(HD_FLOAT64, 1)); /* one sample leaves a spare one, or takes it */
    values[2] = (double)(hd_generator_random64(g) >> 11);
    values[3] = hd_get(hd_randn(HD_FLOAT32, 16), 15);
    hd_tensor *bits = hd_zeros(HD_FLOAT32, 40);
    hd__tensor_bernoulli_fill(bits, hd_empty(HD_BOOL, 40), 0.5);
    values[4] = values[5] = 0;
    for (int i = 0; i < 40; i++) {
        values[4] = 2 * values[4] + hd_get(bits, i);
    }
    hd_generator_use(NULL);
}

static void check_same_draws(hd_generator *a, hd_generator *b)
{
    double x[6], y[6];
    for (int k = 0; k < 3; k++) {
        draw(a, x);
        draw(b, y);
        for (int i = 0; i < 6; i++) {
            ck_assert_msg(x[i] == y[i], "draw %d of round %d: %.17g and %.17g", i, k, x[i], y[i]);
        }
    }
}

/* The state is saved at every position of the words, with and without a spare sample. */
START_TEST(goes_on_with_the_same_draws)
{
    double unused[6];
    for (int k = 0; k < 1300; k += 13) {
        hd_generator *g = hd_generator_new(k), *h = hd_generator_new(-1);
        hd_dict *d = hd_dict_new();
        hd_generator_set_bernoulli(g, k % 2 ? HD_BERNOULLI_NATIVE : HD_BERNOULLI_MCG31);
        for (int i = 0; i < k; i++) {
            hd_generator_random(g);
        }
        if (k % 3 == 0) {
            draw(g, unused);
        }
        ck_assert(hd_generator_save(g, d, "rng"));
        ck_assert(hd_generator_load(h, d, "rng"));
        ck_assert_int_eq(hd_generator_bernoulli(h), hd_generator_bernoulli(g));
        check_same_draws(g, h);
        hd_dict_free(d);
        hd_generator_free(g);
        hd_generator_free(h);
    }
    ck_no_error();
}
END_TEST

START_TEST(entries)
{
    hd_dict *d = hd_dict_new();
    hd_generator *g = hd_generator_new(5);
    ck_assert(hd_generator_save(g, d, "a.b"));
    const char *const names[] = {"a.b.state", "a.b.next", "a.b.bernoulli", "a.b.has_spare",
                                 "a.b.spare"};
    ck_assert_int_eq(hd_dict_len(d), 5);
    for (int i = 0; i < 5; i++) {
        ck_assert_str_eq(hd_dict_name(d, i), names[i]);
    }
    ck_assert_int_eq(hd_get_int(hd_dict_get(d, "a.b.state"), 0), 5); /* the seed */
    ck_assert(hd_generator_save(g, d, ""));
    ck_assert_str_eq(hd_dict_name(d, 5), "state");
    hd_generator_free(g);
    hd_dict_free(d);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* Each of these changes one entry of a good state. */
static void no_state(hd_dict *d)
{
    hd_dict_remove(d, "r.state");
}
static void short_state(hd_dict *d)
{
    hd_dict_set(d, "r.state", hd_zeros(HD_INT64, 623));
}
static void float_state(hd_dict *d)
{
    hd_dict_set(d, "r.state", hd_zeros(HD_FLOAT32, 624));
}
static void large_word(hd_dict *d)
{
    hd_set(hd_dict_get(d, "r.state"), INT64_C(1) << 32, 7);
}
static void far_next(hd_dict *d)
{
    hd_dict_set_int(d, "r.next", 625);
}
static void text_next(hd_dict *d)
{
    hd_dict_set_string(d, "r.next", "0");
}
static void other_stream(hd_dict *d)
{
    hd_dict_set_int(d, "r.bernoulli", 2);
}
static void nan_spare(hd_dict *d)
{
    hd_dict_set_double(d, "r.spare", NAN);
}

static const struct {
    void (*spoil)(hd_dict *d);
    hd_code code;
    const char *message;
} bad[] = {
    {no_state, HD_VALUE, "hd_generator_load: 'r.state' is missing: expected a tensor"},
    {short_state, HD_SHAPE, "hd_generator_load: 'r.state' is int64 (623,): expected int64 (624,)"},
    {float_state, HD_SHAPE,
     "hd_generator_load: 'r.state' is float32 (624,): expected int64 (624,)"},
    {large_word, HD_VALUE,
     "hd_generator_load: 'r.state' holds 4294967296 at index 7: expected 0 to 4294967295"},
    {far_next, HD_VALUE, "hd_generator_load: 'r.next' is 625: expected 0 to 624"},
    {text_next, HD_VALUE, "hd_generator_load: 'r.next' is a string: expected an integer"},
    {other_stream, HD_VALUE, "hd_generator_load: 'r.bernoulli' is 2: expected 0 to 1"},
    {nan_spare, HD_VALUE, "hd_generator_load: 'r.spare' is nan: expected a finite number"},
};

START_TEST(refuses_what_is_no_state)
{
    hd_generator *g = hd_generator_new(1), *h = hd_generator_new(1);
    hd_dict *d = hd_dict_new();
    hd_generator_random(g);
    ck_assert(hd_generator_save(g, d, "r"));
    bad[_i].spoil(d);
    ck_assert(!hd_generator_load(h, d, "r"));
    ck_error(bad[_i].code, bad[_i].message);
    ck_assert_uint_eq(hd_generator_random(h), 1791095845u); /* MT19937's first output of seed 1 */
    hd_dict_free(d);
    hd_generator_free(g);
    hd_generator_free(h);
}
END_TEST

START_TEST(null_arguments)
{
    hd_dict *d = hd_dict_new();
    ck_assert(!hd_generator_save(NULL, d, "r"));
    ck_error(HD_NULL_ARG, "hd_generator_save: g is NULL");
    ck_assert(!hd_generator_load(hd_default_generator(), NULL, "r"));
    ck_error(HD_NULL_ARG, "hd_generator_load: d is NULL");
    ck_assert(!hd_generator_save(hd_default_generator(), d, NULL));
    ck_error(HD_NULL_ARG, "hd_generator_save: prefix is NULL");
    ck_assert_int_eq(hd_dict_len(d), 0);
    hd_dict_free(d);
}
END_TEST

Suite *suite_generator(void)
{
    const TTest *const tests[] = {goes_on_with_the_same_draws, entries, null_arguments};
    Suite *s = SUITE_OF("generator", tests);
    suite_add_loop(s, refuses_what_is_no_state, sizeof bad / sizeof bad[0]);
    return s;
}
