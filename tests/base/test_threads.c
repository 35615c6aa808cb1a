/* test_threads.c - tests of the thread pool: every element is processed once, however the range is
 * cut, nested, shared or forked. */
#include "suites.h"
#include "base/error/error.h"
#include "base/error/lasting.h"
#include "base/memory/count.h"
#include "base/memory/heap.h"
#include "base/start.h"
#include "base/threads/pool.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/leave.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

enum { MOST = 4097 };

typedef struct range {
    int64_t n, grain;
    atomic_int calls, misplaced;
    unsigned char seen[MOST]; /* each element belongs to one thread */
} range;

static void see(int64_t begin, int64_t end, void *arg)
{
    range *r = arg;
    atomic_fetch_add(&r->calls, 1);
    bool placed = begin >= 0 && begin < end && end <= r->n && begin % r->grain == 0 &&
                  (end == r->n || end % r->grain == 0);
    if (!placed) {
        atomic_fetch_add(&r->misplaced, 1);
    }
    for (int64_t i = begin; placed && i < end; i++) {
        r->seen[i]++;
    }
}

static bool seen_once(const range *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        if (r->seen[i] != 1) {
            return false;
        }
    }
    return true;
}

/* How many calls covered the range. Fails the test unless each element was in exactly one of
 * them. */
static int cover(int64_t n, int64_t grain)
{
    range r = {.n = n, .grain = grain};
    hd__parallel_for(n, grain, see, &r);
    ck_assert_int_eq(r.misplaced, 0);
    ck_assert(seen_once(&r));
    return r.calls;
}

START_TEST(coverage)
{
    static const int counts[] = {1, 2, 3, 7, 16, 5};
    static const int64_t grains[] = {1, 3, 64, 1000, 5000},
                         ns[] = {1, 2, 5, 64, 65, 100, 999, MOST};
    for (int t = 0; t < 6; t++) {
        ck_assert(hd_set_num_threads(counts[t]));
        ck_assert_int_eq(hd_num_threads(), counts[t]);
        for (int g = 0; g < 5; g++) {
            for (int i = 0; i < 8; i++) {
                int64_t units = (ns[i] + grains[g] - 1) / grains[g];
                ck_assert_int_eq(cover(ns[i], grains[g]), units < counts[t] ? units : counts[t]);
            }
        }
    }
    ck_assert_int_eq(cover(0, 1), 0);
    hd__parallel_for(-5, 1, see, NULL);
    range r = {.n = 1000, .grain = 1};
    hd__parallel_for(1000, 0, see, &r); /* as 1 */
    ck_assert(seen_once(&r));
    ck_assert_int_eq(hd_error_code(), HD_OK);
}
END_TEST

typedef struct pieces {
    atomic_int calls[40];
} pieces;

static void see_piece(int piece, void *arg)
{
    atomic_fetch_add(&((pieces *)arg)->calls[piece], 1);
}

/* Every piece is done once, whether there are fewer or more than threads, or none. */
START_TEST(by_piece)
{
    static const int counts[] = {1, 2, 4};
    for (int t = 0; t < 3; t++) {
        ck_assert(hd_set_num_threads(counts[t]));
        ck_assert_int_eq(hd__parallel_width(), counts[t]);
        for (int n = 0; n <= 40; n++) {
            pieces p = {0};
            hd__parallel(n, see_piece, &p);
            for (int i = 0; i < 40; i++) {
                ck_assert_int_eq(p.calls[i], i < n);
            }
        }
    }
}
END_TEST

static void see_nested(int64_t begin, int64_t end, void *arg)
{
    range *r = arg; /* MOST rows */
    for (int64_t i = begin; i < end; i++) {
        hd__parallel_for(MOST, 64, see, &r[i]);
    }
}

START_TEST(nested)
{
    enum { ROWS = 8 };
    range *rows = calloc(ROWS, sizeof *rows);
    hd_set_num_threads(4);
    for (int i = 0; i < ROWS; i++) {
        rows[i].n = MOST;
        rows[i].grain = 64;
    }
    hd__parallel_for(ROWS, 1, see_nested, rows);
    for (int i = 0; i < ROWS; i++) {
        ck_assert_int_eq(rows[i].calls, 1);
        ck_assert(seen_once(&rows[i]));
    }
    free(rows);
}
END_TEST

static void *many_calls(void *wrong)
{
    for (int i = 0; i < 300; i++) {
        range r = {.n = MOST - i, .grain = 1 + i % 7};
        hd__parallel_for(r.n, r.grain, see, &r);
        if (!seen_once(&r)) {
            atomic_fetch_add((atomic_int *)wrong, 1);
        }
    }
    return NULL;
}

START_TEST(shared)
{
    pthread_t t[3];
    atomic_int wrong = 0;
    hd_set_num_threads(3);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, many_calls, &wrong), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
    ck_assert_int_eq(wrong, 0);
}
END_TEST

static void rest(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* Jobs that follow each other at once, and jobs after a pause that lets the workers fall asleep.
 * Each counts on the caller's stack, where a piece of an earlier job would be seen. */
static void *short_jobs(void *wrong)
{
    for (int i = 0; i < 3000; i++) {
        pieces p = {0};
        int n = 1 + i % 9;
        hd__parallel(n, see_piece, &p);
        for (int k = 0; k < 10; k++) {
            if (atomic_load(&p.calls[k]) != (k < n)) {
                atomic_fetch_add((atomic_int *)wrong, 1);
            }
        }
        if (i % 200 == 0) {
            rest(300);
        }
    }
    return NULL;
}

START_TEST(jobs_in_a_row)
{
    static const int counts[] = {2, 1, 4, 3};
    for (int callers = 1; callers <= 3; callers += 2) {
        pthread_t t[3];
        atomic_int wrong = 0;
        for (int i = 0; i < callers; i++) {
            ck_assert_int_eq(pthread_create(&t[i], NULL, short_jobs, &wrong), 0);
        }
        for (int i = 0; i < 40; i++) { /* the number of threads changes under them */
            ck_assert(hd_set_num_threads(counts[i % 4]));
            rest(500);
        }
        for (int i = 0; i < callers; i++) {
            pthread_join(t[i], NULL);
        }
        ck_assert_int_eq(wrong, 0);
    }
}
END_TEST

START_TEST(sizes_refused)
{
    hd_set_num_threads(3);
    ck_assert(!hd_set_num_threads(0));
    ck_error(HD_VALUE, "hd_set_num_threads: n is 0: expected 1 to 1024");
    ck_assert(!hd_set_num_threads(-7));
    ck_error(HD_VALUE, "hd_set_num_threads: n is -7: expected 1 to 1024");
    ck_assert(!hd_set_num_threads(1025));
    ck_error(HD_VALUE, "hd_set_num_threads: n is 1025: expected 1 to 1024");
    ck_assert_int_eq(hd_num_threads(), 3);
}
END_TEST

START_TEST(shutdown_and_again)
{
    hd_set_num_threads(4);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(cover(100, 1), 4);
        hd_shutdown();
        hd_shutdown();
    }
    ck_assert_int_eq(cover(100, 1), 4);
}
END_TEST

static void meet(int64_t begin, int64_t end, void *barrier)
{
    (void)begin, (void)end;
    pthread_barrier_wait(barrier);
}

/* Returns only if four threads are at work at once. */
static void meet_all_four(void)
{
    pthread_barrier_t barrier;
    hd_set_num_threads(4);
    pthread_barrier_init(&barrier, NULL, 4);
    hd__parallel_for(4, 1, meet, &barrier);
    pthread_barrier_destroy(&barrier);
}

START_TEST(at_once)
{
    meet_all_four();
}
END_TEST

#ifdef __linux__
/* The threads of this process. Sanitizers and emulators have some of their own among them. */
static int count_threads(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; (e = readdir(tasks));) {
        n += e->d_name[0] != '.';
    }
    closedir(tasks);
    return n;
}

/* As many threads are left as there were. The system may take its time to let the others go, and
 * the thread sanitizer starts its own thread together with the first one. */
START_TEST(shutdown_ends_the_workers)
{
    hd_shutdown();
    int before = count_threads() + UNDER_TSAN;
    meet_all_four();
    ck_assert_int_gt(count_threads(), before);
    hd_shutdown();
    while (count_threads() > before) { /* Check ends it if they stay */
        rest(1000);
    }
}
END_TEST
#endif

static atomic_int taken; /* signals */

static void take_signal(int number)
{
    (void)number;
    atomic_fetch_add(&taken, 1);
}

/* A signal that the program's own thread has blocked waits for it; no worker takes it. */
START_TEST(workers_leave_signals_alone)
{
    sigset_t one, pending;
    struct sigaction action = {.sa_handler = take_signal};
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    meet_all_four(); /* the workers start while nothing is blocked */
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
    meet_all_four();
    ck_assert_int_eq(sigpending(&pending), 0);
    ck_assert_int_eq(sigismember(&pending, SIGUSR1), 1);
    ck_assert_int_eq(taken, 0);
    ck_assert_int_eq(pthread_sigmask(SIG_UNBLOCK, &one, NULL), 0);
    ck_assert_int_eq(taken, 1);
}
END_TEST

/* The child has no workers and makes its own; the parent's go on. A thread sanitizer refuses new
 * threads in a child of a process with threads, so the child works alone there. The locks of an
 * address sanitizer do not survive a fork while a thread starts, so all threads have started
 * before. */
START_TEST(forked)
{
    meet_all_four();
    pid_t child = fork();
    if (child == 0) {
        if (UNDER_TSAN) {
            hd_set_num_threads(1);
        }
        range r = {.n = MOST, .grain = 1};
        hd__parallel_for(MOST, 1, see, &r);
        bool drawn = hd_manual_seed(1) && hd_generator_random(hd_default_generator()) == 1791095845;
        hd_shutdown();
        leave(seen_once(&r) && r.calls == hd_num_threads() && drawn ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(cover(100, 1), 4);
}
END_TEST

static void hear_nothing(const char *message, void *user)
{
    (void)message;
    (void)user;
}

static void take_each_lock(void)
{
    hd_warn("a warning");
    hd_error_set(HD_STATE, "an error");
    hd_error_clear();
    hd__lasting_text("a text");
}

static void *take_locks_until(void *stop)
{
    while (!atomic_load((atomic_bool *)stop)) {
        take_each_lock();
    }
    return NULL;
}

/* A child is born while other threads warn, fail, and keep texts. It does the same, and does not
 * wait for a lock that one of them held: for ever, until Check ends the test. */
START_TEST(forked_while_threads_hold_locks)
{
    enum { FORKS = 300, LOCKERS = 3 };
    pthread_t ids[LOCKERS];
    atomic_bool stop = false;
    int status = 0;
    ck_assert(hd__init());
    hd_on_warning(hear_nothing, NULL);
    take_each_lock();
    for (int i = 0; i < LOCKERS; i++) {
        ck_assert_int_eq(pthread_create(&ids[i], NULL, take_locks_until, &stop), 0);
    }
    for (int i = 0; i < FORKS && status == 0; i++) {
        pid_t child = fork();
        if (child == 0) {
            take_each_lock();
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < LOCKERS; i++) {
        pthread_join(ids[i], NULL);
    }
    hd_on_warning(NULL, NULL);
    ck_assert_int_eq(status, 0);
}
END_TEST

typedef struct holder {
    pthread_mutex_t *lock;
    atomic_bool holds, forked;
} holder;

static void *hold_for_a_while(void *arg)
{
    holder *h = arg;
    pthread_mutex_lock(h->lock);
    atomic_store(&h->holds, true);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    pthread_mutex_unlock(h->lock);
    while (!atomic_load(&h->forked)) { /* in the child, TSan reports a thread that has ended */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return NULL;
}

/* While a thread holds one of heed's locks, a fork waits for it. So the child finds every lock
 * free. */
START_TEST(a_fork_waits_for_each_lock)
{
    pthread_mutex_t *const locks[] = {
        &hd__start_views_lock,    &hd__start_diagnose_lock, &hd__pool_lock,
        &hd__count_lock,          &hd__heap_lock,           &hd__lasting_lock,
        &hd__error_handlers_lock, &hd__start_print_lock,
    };
    enum { LOCKS = sizeof locks / sizeof locks[0] };
    ck_assert(hd__init());
    for (int i = 0; i < LOCKS; i++) {
        holder h = {.lock = locks[i]};
        pthread_t id;
        int status = -1;
        ck_assert_int_eq(pthread_create(&id, NULL, hold_for_a_while, &h), 0);
        while (!atomic_load(&h.holds)) {
        }
        pid_t child = fork();
        if (child == 0) {
            int taken_locks = 0;
            for (int k = 0; k < LOCKS; k++) {
                taken_locks += pthread_mutex_trylock(locks[k]) == 0;
            }
            _exit(taken_locks == LOCKS ? 0 : 1);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        atomic_store(&h.forked, true);
        pthread_join(id, NULL);
        ck_assert_msg(status == 0, "lock %d of %d is taken in the child", i, LOCKS);
    }
}
END_TEST

Suite *suite_threads(void)
{
    const TTest *const tests[] = {
        coverage,
        by_piece,
        nested,
        shared,
        jobs_in_a_row,
        sizes_refused,
        shutdown_and_again,
        at_once,
        workers_leave_signals_alone,
        forked,
        forked_while_threads_hold_locks,
        a_fork_waits_for_each_lock,
#ifdef __linux__
        shutdown_ends_the_workers,
#endif
    };
    return SUITE_OF("threads", tests);
}
