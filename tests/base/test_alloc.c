/* test_alloc.c - tests of heed's allocator: alignment, counts, threads, and an allocator set by the
 * user. */
#include "suites.h"
#include "base/error/call.h"
#include "base/memory/alloc.h"
#include "base/memory/heap.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/leave.h"
#include "support/quarantine.h"

static const size_t sizes[] = {0,    1,    16,   47,   48,   49,   100,  496,   1007,
                               1008, 1009, 1023, 1024, 1025, 4096, 5000, 65536, 3000000};

enum { SIZES = sizeof sizes / sizeof *sizes };

static bool all_are(const unsigned char *p, size_t n, int value)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != value) {
            return false;
        }
    }
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
            unsigned char *p = hd__mem_alloc_zeroed(sizes[i]);
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
        ck_assert_ptr_null(hd__mem_alloc_zeroed(large[i]));
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

/* False under a sanitizer and with HEED_CACHE=0. */
static bool caching(void)
{
    hd_free(hd_alloc(100));
    int64_t before = hd_system_allocs();
    hd_free(hd_alloc(100));
    return hd_system_allocs() == before;
}

/* Blocks of mixed sizes, more of each than a thread keeps, in an order that differs by round. */
static void mixed(uint32_t random)
{
    enum { N = 2000 };
    static unsigned char *p[N];
    for (int i = 0; i < N; i++) {
        size_t size = sizes[i % SIZES] + 8 * (size_t)(i % 3);
        p[i] = hd_alloc(size ? size : 1);
        p[i][0] = 1;
        random = random * 1664525u + 1013904223u;
        int k = (int)(random % (uint32_t)(i + 1));
        if (i % 4 == 0) {
            hd_free(p[k]);
            p[k] = NULL;
        }
    }
    for (int i = 0; i < N; i++) {
        hd_free(p[(i * 7 + (int)(random % 1000)) % N]);
    }
}

/* A loop asks the system for nothing after its first rounds, not even when the order changes. */
START_TEST(reuse)
{
    hd_empty_cache();
    int64_t before = hd_system_allocs();
    for (int round = 0; round < 2; round++) {
        mixed(1);
    }
    int64_t warm = hd_system_allocs();
    ck_assert_int_gt(warm, before);
    for (int round = 0; round < 5; round++) {
        mixed(1);
    }
    ck_assert_int_eq(hd_system_allocs() == warm, caching());
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* The block that was freed last, at every size. */
START_TEST(same_block)
{
    bool same = caching();
    for (int i = 0; i < SIZES; i++) {
        void *p = hd_alloc(sizes[i]);
        uintptr_t address = (uintptr_t)p;
        hd_free(p);
        p = hd_alloc(sizes[i]);
        ck_assert_msg(!same || (uintptr_t)p == address, "%zu bytes", sizes[i]);
        hd_free(p);
    }
}
END_TEST

/* Everything goes back on demand; then the system is asked again. */
START_TEST(emptied)
{
    mixed(2);
    ck_assert(!caching() || hd__heap.touched > 0);
    hd_empty_cache();
    ck_assert_uint_eq(hd__heap.mapped, 0);
    ck_assert_uint_eq(hd__heap.touched, 0);
    for (int i = 0; i < SIZES; i++) {
        int64_t before = hd_system_allocs();
        void *p = hd_alloc(sizes[i]);
        ck_assert_int_eq(hd_system_allocs(), before + 1);
        hd_free(p);
        hd_empty_cache();
    }
    void *p = hd_alloc(3000000), *q = hd_alloc(3000000);
    memset(q, 1, 3000000);
    hd_free(p);
    hd_empty_cache();
    ck_assert_uint_eq(hd__heap.touched, 0);
    ck_assert(all_are(q, 3000000, 1));
    hd_free(q);
}
END_TEST

enum { MIB = 1 << 20 };

/* Large blocks: aligned, whole, cut from one another and joined again. */
START_TEST(cut_and_joined)
{
    enum { N = 16 };
    unsigned char *p[N];
    bool kept = caching();
    hd_empty_cache();
    unsigned char *all = hd_alloc(N * 4 * MIB);
    ck_assert_uint_eq((uintptr_t)all % 64, 0);
    memset(all, 1, N * 4 * MIB);
    hd_free(all);
    int64_t before = hd_system_allocs();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            p[i] = hd_alloc(4 * MIB - 8192);
            memset(p[i], i, 4 * MIB - 8192);
        }
        for (int i = 0; i < N; i++) {
            ck_assert(all_are(p[i], 4 * MIB - 8192, i));
        }
        for (int i = 0; i < N; i++) {
            hd_free(p[(5 * i + round) % N]);
        }
        hd_free(hd_alloc(N * 4 * MIB));
    }
    ck_assert(!kept || hd_system_allocs() == before);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* Free blocks of other sizes give their pages back before more is asked for, so what is held stays
 * near what is live. Every other block is freed here, so that no larger one fits. */
START_TEST(bounded)
{
    enum { N = 40 };
    void *p[N];
    hd_empty_cache();
    for (int i = 0; i < N; i++) {
        memset(p[i] = hd_alloc(3 * MIB), 1, 3 * MIB);
    }
    for (int i = 0; i < N; i += 2) {
        hd_free(p[i]);
    }
    ck_assert(!caching() || hd__heap.touched > N / 2 * 3 * (size_t)MIB);
    size_t used = hd__heap.used;
    void *large = hd_alloc(400 * (size_t)MIB);
    ck_assert_uint_lt(hd__heap.touched, 17 * MIB + used / 8);
    for (int i = 1; i < N; i += 2) {
        ck_assert(all_are(p[i], 3 * MIB, 1));
        hd_free(p[i]);
    }
    hd_free(large);
    hd_empty_cache();
    ck_assert_uint_eq(hd__heap.touched, 0);
}
END_TEST

static void *hand_over[512];

static void *free_all(void *unused)
{
    for (int i = 0; i < 512; i++) {
        hd_free(hand_over[i]);
    }
    return unused;
}

/* Of the sizes the first of the heap's. Smaller blocks go from thread to thread by way of the
 * system. */
enum { SHARED = 10 };

/* One thread makes blocks, another frees them and ends; what it had comes back to the first. */
START_TEST(freed_elsewhere)
{
    ck_assert_uint_eq(sizes[SHARED], 1009);
    for (int i = 0; i < SIZES - 1; i++) {
        int64_t asked[6];
        for (int round = 0; round < 6; round++) {
            int64_t before = hd_system_allocs();
            for (int k = 0; k < 512; k++) {
                hand_over[k] = hd_alloc(sizes[i]);
            }
            asked[round] = hd_system_allocs() - before;
            pthread_t t;
            ck_assert_int_eq(pthread_create(&t, NULL, free_all, NULL), 0);
            pthread_join(t, NULL);
        }
        ck_assert_msg(!caching() || i < SHARED || asked[5] == 0, "%zu bytes: %d", sizes[i],
                      (int)asked[5]);
    }
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

enum { ROUNDS = 200 };

static void *freer(void *turn)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(turn);
        free_all(NULL);
        pthread_barrier_wait(turn);
    }
    return NULL;
}

/* One thread makes blocks and another frees them, and both live on. What is more than the freer
 * keeps comes back to the maker, which asks for as much as both can hold, however long they go
 * on. */
START_TEST(made_and_freed)
{
    pthread_barrier_t turn;
    pthread_t t;
    bool kept = caching();
    int64_t before = hd_system_allocs();
    pthread_barrier_init(&turn, NULL, 2);
    ck_assert_int_eq(pthread_create(&t, NULL, freer, &turn), 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < 512; k++) {
            hand_over[k] = hd_alloc(sizes[SHARED + k % (SIZES - 1 - SHARED)]);
        }
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
    }
    pthread_join(t, NULL);
    pthread_barrier_destroy(&turn);
    ck_assert(!kept || hd_system_allocs() - before < SIZES * 300);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

enum { HANDED = 8 };

static void *retire_all(void *unused)
{
    for (int i = SHARED; i < SIZES - 1; i++) {
        for (int k = 0; k < HANDED; k++) {
            hd__mem_retire(hand_over[i * HANDED + k]);
        }
    }
    return unused;
}

/* Threads that start one after another put into their quarantine what the first one made. The free
 * blocks that they take for themselves are those of the threads before them, so nothing grows. */
START_TEST(retired_elsewhere)
{
    int64_t before = 0;
    bool kept = caching();
    for (int round = 0; round < 100; round++) {
        before = round == 50 ? hd_system_allocs() : before;
        for (int i = SHARED; i < SIZES - 1; i++) {
            for (int k = 0; k < HANDED; k++) {
                hand_over[i * HANDED + k] = hd_alloc(sizes[i]);
            }
        }
        pthread_t t;
        ck_assert_int_eq(pthread_create(&t, NULL, retire_all, NULL), 0);
        pthread_join(t, NULL);
    }
    ck_assert_int_eq(hd_system_allocs() == before, kept);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

static void *retire_one_at_a_time(void *asked)
{
    int64_t *n = asked;
    hd_empty_cache();
    for (int i = 0; i < 1000; i++) {
        int64_t before = hd_system_allocs();
        hd__mem_retire(hd_alloc(100));
        n[i > 0] += hd_system_allocs() - before;
    }
    return NULL;
}

/* A thread that frees its first block of a class takes one more for each place of the ring. A loop
 * that frees on takes no more. */
START_TEST(the_ring_is_filled_once)
{
    int64_t asked[2] = {0};
    if (!caching() || debugging()) { /* then the ring is another one */
        return;
    }
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, retire_one_at_a_time, asked), 0);
    pthread_join(t, NULL);
    ck_assert_int_eq(asked[0], 1 + 64);
    ck_assert_int_eq(asked[1], 0);
}
END_TEST

/* The bytes of this process's address space, and those of them that are in memory; 0 on a system
 * without /proc. */
typedef struct process_size {
    size_t space, resident;
} process_size;

static process_size size_of_process(void)
{
    size_t space = 0, resident = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%zu %zu", &space, &resident) != 2) {
        space = resident = 0;
    }
    if (f) {
        fclose(f);
    }
    return (process_size){space * page, resident * page};
}

/* Each time that a block between two others was written and freed, its pages go back. */
START_TEST(pages_go_back)
{
    if (!caching() || size_of_process().space == 0) {
        return;
    }
    hd_empty_cache();
    hd_free(hd_alloc(12 * MIB)); /* the mapping for the three blocks */
    void *before = hd_alloc(MIB), *p = hd_alloc(8 * MIB), *after = hd_alloc(2 * MIB);
    ck_assert(before < p && p < after && (char *)after - (char *)before < 10 * MIB);
    for (int i = 0; i < 3; i++) {
        memset(p, 1, 8 * MIB);
        const size_t written = size_of_process().resident;
        hd_free(p);
        hd_empty_cache();
        const size_t freed = size_of_process().resident;
        ck_assert_msg(freed + 7 * MIB <= written, "time %d: %zu bytes, then %zu", i, written,
                      freed);
        ck_assert_ptr_eq(p, hd_alloc(8 * MIB));
    }
    hd_free(before), hd_free(p), hd_free(after);
}
END_TEST

/* When nearly the whole address space is used up, what is kept is given back, and then the call
 * succeeds. */
static bool serves_when_full(void)
{
    enum { N = 40 };
    void *p[N];
    for (int i = 0; i < N; i++) {
        if (!(p[i] = hd_alloc(8 * MIB))) {
            return false;
        }
    }
    struct rlimit limit = {size_of_process().space + 40 * MIB, RLIM_INFINITY};
    bool limited = setrlimit(RLIMIT_AS, &limit) == 0;
    bool refused = !hd_alloc(310 * MIB) && hd_error_code() == HD_MEMORY;
    hd_error_clear();
    for (int i = 0; i < N; i++) {
        hd_free(p[i]);
    }
    void *large = hd_alloc(310 * MIB);
    hd_free(large);
    return limited && refused && large && hd_bytes_live() == 0;
}

START_TEST(system_full)
{
    if (!caching() || size_of_process().space == 0) {
        return; /* a sanitizer's own memory would be refused, and not every system has /proc */
    }
    pid_t child = fork();
    if (child == 0) {
        leave(serves_when_full() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

enum { THREADS = 4, SLOTS = 64, STEPS = 20000 };

static void *slots[SLOTS];
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

/* Puts blocks into slots that other threads empty, so that most blocks are freed on another
 * thread. */
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
    for (uintptr_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, exchange, (void *)(i + 1)), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
    }
    for (int i = 0; i < SLOTS; i++) {
        hd_free(slots[i]);
    }
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* An allocator that counts, and that fails when none are left. */
typedef struct counter {
    int left, blocks;
    int64_t bytes;
    size_t alignment;
} counter;

static void *counting_alloc(size_t bytes, size_t alignment, void *user)
{
    ck_assert_ptr_null(hd__call); /* the program's own code speaks for itself */
    counter *c = user;
    void *p = NULL;
    if (c->left == 0 || posix_memalign(&p, alignment, bytes) != 0) {
        return NULL;
    }
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
    ck_error(HD_STATE,
             "hd_set_allocator: 72 bytes are in use: expected none. Free all objects first");
    ck_assert(!hd_set_allocator(NULL));
    ck_error(HD_STATE,
             "hd_set_allocator: 72 bytes are in use: expected none. Free all objects first");
    hd_free(p);
    a.size = 3;
    ck_assert(!hd_set_allocator(&a));
    ck_error(HD_VALUE,
             sized("hd_set_allocator: a->size 3: expected %zu, as sizeof(hd_allocator) gives",
                   sizeof(hd_allocator)));
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

Suite *suite_alloc(void)
{
    const TTest *const tests[] = {
        blocks,
        zero_size,
        zeroed,
        too_large,
        peak,
        reuse,
        same_block,
        emptied,
        cut_and_joined,
        bounded,
        freed_elsewhere,
        made_and_freed,
        retired_elsewhere,
        the_ring_is_filled_once,
        pages_go_back,
        system_full,
        threads,
        custom,
        custom_refused,
    };
    return SUITE_OF("alloc", tests);
}
