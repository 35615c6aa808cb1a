/* alloc_test.c - the door for memory: alignment, counts, threads, an allocator of the user's. */
#include "suites.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const size_t sizes[] = {0,    1,    16,   47,   48,   49,   100,  496,   1007,
                               1008, 1009, 1023, 1024, 1025, 4096, 5000, 65536, 3000000};

enum { SIZES = sizeof sizes / sizeof *sizes };

static bool all_are(const unsigned char *p, size_t n, int value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            return false;
    return true;
}

START_TEST(blocks)
{
    unsigned char *p[SIZES];
    int64_t live = 0;
    for (int i = 0; i < SIZES; i++) {
        p[i] = hd_alloc(sizes[i]);
        ck_assert_ptr_nonnull(p[i]);
        ck_assert_uint_eq((uintptr_t)p[i] % (sizes[i] < 1024 ? 16 : 64), 0);
        memset(p[i], i + 1, sizes[i]);
        live += sizes[i] ? (int64_t)sizes[i] : 1;
        ck_assert_int_eq(hd_bytes_live(), live);
    }
    for (int i = 0; i < SIZES; i++) {
        ck_assert(all_are(p[i], sizes[i], i + 1));
        hd_free(p[i]);
    }
    hd_free(NULL);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(zero_size)
{
    void *a = hd_alloc(0), *b = hd_alloc(0);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_ne(a, b);
    hd_free(a);
    hd_free(b);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(zeroed)
{
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < SIZES; i++) {
            unsigned char *p = hd__alloc_zeroed(sizes[i]);
            ck_assert(all_are(p, sizes[i], 0));
            memset(p, 0xa5, sizes[i]);
            hd_free(p);
        }
    }
}
END_TEST

START_TEST(too_large)
{
    static const size_t large[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 64, PTRDIFF_MAX};
    for (int i = 0; i < 4; i++) {
        char message[64];
        snprintf(message, sizeof message, "hd_alloc: %zu bytes: out of memory", large[i]);
        ck_assert_ptr_null(hd_alloc(large[i]));
        ck_error(HD_MEMORY, message);
        ck_assert_ptr_null(hd__alloc_zeroed(large[i]));
        ck_error(HD_MEMORY, message);
    }
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(peak)
{
    void *a = hd_alloc(100);
    hd_bytes_peak_reset();
    ck_assert_int_eq(hd_bytes_peak(), 100);
    void *b = hd_alloc(5000);
    hd_free(b);
    b = hd_alloc(40);
    ck_assert_int_eq(hd_bytes_live(), 140);
    ck_assert_int_eq(hd_bytes_peak(), 5100);
    hd_bytes_peak_reset();
    ck_assert_int_eq(hd_bytes_peak(), 140);
    hd_free(a);
    hd_free(b);
    ck_assert_int_eq(hd_bytes_peak(), 140);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* A class keeps 256 blocks: they come back without the system, whichever thread freed them. */
START_TEST(reuse)
{
    enum { N = 300, KEPT = 256 };
    static void *p[N];
    hd_shutdown(); /* empties the cache */
    for (int round = 0; round < 2; round++) {
        int64_t before = hd_system_allocs();
        for (int i = 0; i < N; i++)
            p[i] = hd_alloc(100);
        int64_t asked = hd_system_allocs() - before;
        ck_assert_msg(asked == N || (round == 1 && asked == N - KEPT), "%d", (int)asked);
        for (int i = 0; i < N; i++)
            hd_free(p[i]);
    }
    hd_shutdown();
    int64_t before = hd_system_allocs();
    hd_free(hd_alloc(100));
    ck_assert_int_eq(hd_system_allocs(), before + 1);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

enum { THREADS = 4, SLOTS = 64, STEPS = 20000 };

static void *slots[SLOTS];
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

/* Puts blocks into slots that others empty, so that most are freed on another thread. */
static void *exchange(void *arg)
{
    uint32_t random = (uint32_t)(uintptr_t)arg;
    for (int i = 0; i < STEPS; i++) {
        random = random * 1664525u + 1013904223u;
        size_t size = random >> 16 & 2047;
        unsigned char *p = hd_alloc(size + 1);
        memset(p, (int)(size & 255), size + 1);
        pthread_mutex_lock(&slots_lock);
        void **slot = &slots[(random >> 8) % SLOTS], *other = *slot;
        *slot = p;
        pthread_mutex_unlock(&slots_lock);
        hd_free(other);
    }
    return NULL;
}

START_TEST(threads)
{
    pthread_t t[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, exchange, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < SLOTS; i++)
        hd_free(slots[i]);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* An allocator that counts, and fails when none are left. */
typedef struct counter {
    int left, blocks;
    int64_t bytes;
    size_t alignment;
} counter;

static void *counting_alloc(size_t bytes, size_t alignment, void *user)
{
    counter *c = user;
    void *p = NULL;
    if (c->left == 0 || posix_memalign(&p, alignment, bytes) != 0)
        return NULL;
    c->left--;
    c->blocks++;
    c->bytes += (int64_t)bytes;
    c->alignment = alignment;
    return p;
}

static void counting_free(void *p, size_t bytes, void *user)
{
    counter *c = user;
    c->blocks--;
    c->bytes -= (int64_t)bytes;
    free(p);
}

START_TEST(custom)
{
    counter c = {.left = SIZES};
    hd_allocator a = {sizeof a, counting_alloc, counting_free, &c};
    hd_free(hd_alloc(100)); /* what the cache keeps now must not come back */
    ck_assert(hd_set_allocator(&a));
    void *p[SIZES];
    for (int i = 0; i < SIZES; i++) {
        p[i] = hd_alloc(sizes[i]);
        ck_assert_int_eq(c.blocks, i + 1);
        ck_assert_uint_eq((uintptr_t)p[i] % (sizes[i] < 1024 ? 16 : 64), 0);
        ck_assert_uint_ge(c.alignment, sizes[i] < 1024 ? 16 : 64);
        memset(p[i], 0x5a, sizes[i]);
    }
    ck_assert_int_ge(c.bytes, hd_bytes_live());
    ck_assert_ptr_null(hd_alloc(100));
    ck_error(HD_MEMORY, "hd_alloc: 100 bytes: out of memory");
    for (int i = 0; i < SIZES; i++) {
        hd_free(p[i]);
        ck_assert_int_eq(c.blocks, SIZES - i - 1);
    }
    ck_assert_int_eq(c.bytes, 0);
    ck_assert(hd_set_allocator(NULL));
    hd_free(hd_alloc(100));
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(custom_refused)
{
    counter c = {.left = 1};
    hd_allocator a = {sizeof a, counting_alloc, counting_free, &c};
    void *p = hd_alloc(72);
    ck_assert(!hd_set_allocator(&a));
    ck_error(HD_STATE, "hd_set_allocator: 72 bytes are live: expected none");
    ck_assert(!hd_set_allocator(NULL));
    ck_error(HD_STATE, "hd_set_allocator: 72 bytes are live: expected none");
    hd_free(p);
    a.size = 3;
    ck_assert(!hd_set_allocator(&a));
    ck_error(HD_VALUE, "hd_set_allocator: size 3: expected sizeof(hd_allocator)");
    a.size = sizeof a;
    a.free = NULL;
    ck_assert(!hd_set_allocator(&a));
    ck_error(HD_NULL_ARG, "hd_set_allocator: a->free is NULL");
    a.alloc = NULL;
    ck_assert(!hd_set_allocator(&a));
    ck_error(HD_NULL_ARG, "hd_set_allocator: a->alloc is NULL");
    hd_free(hd_alloc(100));
    ck_assert_int_eq(c.left, 1);
}
END_TEST

Suite *alloc_suite(void)
{
    Suite *suite = suite_create("alloc");
    TCase *tests = tcase_create("alloc");
    tcase_add_test(tests, blocks);
    tcase_add_test(tests, zero_size);
    tcase_add_test(tests, zeroed);
    tcase_add_test(tests, too_large);
    tcase_add_test(tests, peak);
    tcase_add_test(tests, reuse);
    tcase_add_test(tests, threads);
    tcase_add_test(tests, custom);
    tcase_add_test(tests, custom_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
