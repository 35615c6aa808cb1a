/* rng.c - the Mersenne twister MT19937, generators, and draws of one number at a time.
 *
 * The generator is that of Matsumoto and Nishimura (1998), seeded with the low 32 bits of the seed.
 * All numbers drawn from it are PyTorch's, bit for bit: integers and single samples here, uniform
 * and normal fills in rng_fill.c, Bernoulli draws in bernoulli.c. */
#include "base/error/call.h"
#include "base/memory/blocks.h"
#include "base/memory/object.h"
#include "base/random/draws.h"
#include "base/random/generator.h"
#include "base/random/rng.h"

#include <math.h>
#include <string.h>

enum { MT_SHIFT = 397 };

/* ---------------------------------------------------------------- the twister */

static inline uint32_t twist(uint32_t a, uint32_t b, uint32_t far)
{
    uint32_t y = (a & 0x80000000u) | (b & 0x7fffffffu);
    return far ^ y >> 1 ^ (-(y & 1u) & 0x9908b0dfu);
}

/* Computes the next words [i, end) of the state s from the words after them and those `far` places
 * away. Returns end. Neighbouring words do not depend on each other, so WORDS of them are computed
 * at a time. */
enum { WORDS = 4 };
static int renew_part(uint32_t *s, int i, int end, int far)
{
    for (; i + WORDS <= end; i += WORDS) {
        uint32_t y[WORDS];
        for (int l = 0; l < WORDS; l++) {
            y[l] = twist(s[i + l], s[i + l + 1], s[i + l + far]);
        }
        memcpy(s + i, y, sizeof y);
    }
    for (; i < end; i++) {
        s[i] = twist(s[i], s[i + 1], s[i + far]);
    }
    return i;
}

void hd__mt_renew(hd_generator *g)
{
    uint32_t *s = g->state;
    int i = renew_part(s, 0, HD__MT_SIZE - MT_SHIFT, MT_SHIFT);
    i = renew_part(s, i, HD__MT_SIZE - 1, MT_SHIFT - HD__MT_SIZE);
    s[i] = twist(s[i], s[0], s[i + MT_SHIFT - HD__MT_SIZE]);
    g->next = 0;
}

void hd__rng_random_words(hd_generator *g, uint32_t *restrict y, int64_t n)
{
    while (n > 0) {
        if (g->next == HD__MT_SIZE) {
            hd__mt_renew(g);
        }
        const uint32_t *restrict s = g->state + g->next;
        int64_t i = 0, m = HD__MT_SIZE - (int64_t)g->next;
        m = m < n ? m : n;
        for (; i + WORDS <= m; i += WORDS) {
            for (int l = 0; l < WORDS; l++) {
                y[i + l] = hd__mt_output(s[i + l]);
            }
        }
        for (; i < m; i++) {
            y[i] = hd__mt_output(s[i]);
        }
        g->next += (uint32_t)m;
        y += m;
        n -= m;
    }
}

void hd__gen_seed(hd_generator *g, int64_t value)
{
    uint32_t x = (uint32_t)value;
    for (uint32_t i = 0; i < HD__MT_SIZE; i++) {
        g->state[i] = x;
        x = 1812433253u * (x ^ x >> 30) + i + 1;
    }
    g->next = HD__MT_SIZE;
    g->has_spare = false;
}

/* ---------------------------------------------------------------- the default generator */

/* The default generator, right after a header like that of a block of hd_alloc, because hd__object
 * reads the header of a generator. */
static struct {
    _Alignas(16) hd__mem_header header;
    _Alignas(16) hd_generator g;
} default_one = {.header.kind = HD__GENERATOR};
_Static_assert(sizeof(hd__mem_header) == 16 || sizeof(void *) < 8,
               "the header lies right before it");
static hd_generator *const default_generator = &default_one.g;
static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t default_once = PTHREAD_ONCE_INIT;
/* the generator of this thread's draws; NULL: the default generator */
static HD__TLS hd_generator *in_use;

static void seed_default(void)
{
    hd__gen_seed(default_generator, 67280421310721);
}

hd_generator *hd_default_generator(void)
{
    pthread_once(&default_once, seed_default);
    return default_generator;
}

hd_generator *hd_generator_current(void)
{
    return in_use ? in_use : hd_default_generator();
}

void hd_generator_use(hd_generator *g)
{
    HD__CALL("hd_generator_use");
    if (!g || hd__object("g", g)) {
        in_use = g;
    }
}

void hd__gen_hold(const hd_generator *g)
{
    if (g == default_generator) {
        pthread_mutex_lock(&default_lock);
    }
}

void hd__gen_lock(hd_generator *g)
{
    hd__gen_hold(g);
    if (g->user != &in_use) { /* the address is different in each thread */
        g->user = &in_use;
        g->switches++;
    }
    if (hd__draws_top && !hd__draws_top->noted) {
        hd__draws_note(g);
    }
}

void hd__gen_unlock(const hd_generator *g)
{
    if (g == default_generator) {
        pthread_mutex_unlock(&default_lock);
    }
}

void hd__gen_put_back(hd_generator *g, const hd_generator *before)
{
    HD__GEN_LOCKED(g);
    if (g->switches == before->switches) {
        *g = *before;
    }
}

/* ---------------------------------------------------------------- generators */

hd_generator *hd_generator_new(int64_t value)
{
    HD__CALL("hd_generator_new");
    hd_generator *g = hd__object_new(HD__GENERATOR, sizeof *g);
    if (g) {
        hd__gen_seed(g, value);
    }
    return g;
}

void hd_generator_free(hd_generator *g)
{
    HD__CALL("hd_generator_free");
    if (g == default_generator) {
        hd_fail(HD_VALUE, "g is the default generator: expected one that hd_generator_new made");
    } else if (hd__object_may_free("g", g, NULL)) {
        hd__draws_forget(g);
        hd__mem_retire_object(g, hd__call_kept());
    }
}

bool hd_generator_seed(hd_generator *g, int64_t value)
{
    HD__CALL("hd_generator_seed");
    if (!hd__object("g", g)) {
        return false;
    }
    HD__GEN_LOCKED(g);
    hd__gen_seed(g, value);
    return true;
}

bool hd_manual_seed(int64_t value)
{
    HD__CALL("hd_manual_seed");
    return hd_generator_seed(hd_generator_current(), value);
}

bool hd_generator_set_bernoulli(hd_generator *g, hd_bernoulli_stream s)
{
    HD__CALL("hd_generator_set_bernoulli");
    if (!hd__object("g", g)) {
        return false;
    }
    if (s != HD_BERNOULLI_MCG31 && s != HD_BERNOULLI_NATIVE) {
        return hd_fail(HD_VALUE, "stream %d: expected HD_BERNOULLI_MCG31 or HD_BERNOULLI_NATIVE",
                       (int)s);
    }
    HD__GEN_LOCKED(g);
    g->bernoulli = s;
    return true;
}

hd_bernoulli_stream hd_generator_bernoulli(const hd_generator *g)
{
    HD__CALL("hd_generator_bernoulli");
    if (!hd__object("g", g)) {
        return HD_BERNOULLI_MCG31;
    }
    hd__gen_hold(g);
    hd_bernoulli_stream s = g->bernoulli;
    hd__gen_unlock(g);
    return s;
}

uint32_t hd_generator_random(hd_generator *g)
{
    HD__CALL("hd_generator_random");
    if (!hd__object("g", g)) {
        return 0;
    }
    HD__GEN_LOCKED(g);
    return hd__rng_random(g);
}

uint64_t hd_generator_random64(hd_generator *g)
{
    HD__CALL("hd_generator_random64");
    if (!hd__object("g", g)) {
        return 0;
    }
    HD__GEN_LOCKED(g);
    return hd__rng_random64(g);
}

/* ---------------------------------------------------------------- integers */

/* Each number is lo + output mod (hi - lo). For a large range an output has 64 bits, because with
 * 32 bits some values would be visibly more frequent than others. */
void hd__rng_randint(hd_generator *g, int64_t *r, int64_t n, int64_t lo, int64_t hi)
{
    HD__GEN_LOCKED(g);
    uint64_t range = (uint64_t)hi - (uint64_t)lo;
    uint32_t words[HD__DRAWN];
    if (range >= UINT64_C(1) << 28) {
        for (int64_t i = 0; i < n; i++) {
            r[i] = (int64_t)((uint64_t)lo + hd__rng_random64(g) % range);
        }
        return;
    }
    for (int64_t m; n > 0; n -= m, r += m) {
        m = n < HD__DRAWN ? n : HD__DRAWN;
        hd__rng_random_words(g, words, m);
        for (int64_t i = 0; i < m; i++) {
            r[i] = (int64_t)((uint64_t)lo + words[i] % (uint32_t)range);
        }
    }
}

/* Shuffles from the front, after Fisher and Yates. If n is 2^32 / 20 or more, builds the
 * permutation by insertion ("inside out") from 64-bit outputs. */
void hd__rng_randperm(hd_generator *g, int64_t *r, int64_t n)
{
    bool small = n < UINT32_MAX / 20;
    HD__GEN_LOCKED(g);
    for (int64_t i = 0; i < n; i++) {
        int64_t j = small ? i : (int64_t)(hd__rng_random64(g) % ((uint64_t)i + 1));
        r[i] = i;
        r[i] = r[j];
        r[j] = i;
    }
    for (int64_t i = 0; small && i < n - 1; i++) {
        int64_t j = i + (int64_t)(hd__rng_random(g) % (uint64_t)(n - i));
        int64_t t = r[i];
        r[i] = r[j];
        r[j] = t;
    }
}

/* ---------------------------------------------------------------- one sample */

/* The method of Box and Muller (1958). The first uniform number gives the angle, and the second one
 * the radius. Returns radius times cosine, and keeps radius times sine for the next call. */
double hd__rng_normal_sample(hd_generator *g)
{
    if (g->has_spare) {
        g->has_spare = false;
        return g->spare;
    }
    double t = hd__rng_two_pi * hd__rng_unit_f64(g), r = sqrt(-2 * log1p(-hd__rng_unit_f64(g)));
    g->spare = r * sin(t);
    g->has_spare = true;
    return r * cos(t);
}

double hd__rng_exponential_sample(hd_generator *g, double lambda)
{
    return -1 / lambda * log1p(-hd__rng_unit_f64(g));
}
