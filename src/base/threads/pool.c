/* pool.c - the pool of threads that share the work inside one call.
 *
 * The workers and the caller take the pieces of a job in order until none is left. So a worker that
 * wakes late, or that could not be created, only costs time. Only one call has the pool at a time.
 * Any other call, even one from inside a piece, runs on its own thread.
 *
 * A job is published by one store, to `left`. A thread that lowers `left` from n > 0 has a piece,
 * and the job's fields do not change before that piece is done. A thread without a piece keeps
 * looking for a short time, and then sleeps. The next job often comes soon, and waking a thread
 * costs more than most jobs. If there are more threads than CPUs, the thread sleeps at once. A
 * thread that goes to sleep first sets `asleep`, and then looks for work once more. A thread that
 * wakes others first changes the fields that they look at, and then reads `asleep`. These accesses
 * are sequentially consistent, so at least one of the two threads sees the other's store. */
#include "base/error/assert.h"
#include "base/error/call.h"
#include "base/start.h"
#include "base/system/system.h"
#include "base/threads/pool.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* A thread looks for work for SPIN_NANOSECONDS before it sleeps, and reads the clock after every
 * SPIN_LOOKS looks. */
enum { SPIN_NANOSECONDS = 50000, SPIN_LOOKS = 32 };

typedef struct job {
    void (*f)(int piece, void *arg);
    void *arg;
    int pieces;
} job;

typedef struct worker {
    pthread_t thread; /* not used in pool.caller */
    pthread_cond_t wake;
    atomic_bool asleep;
} worker;

static struct {
    _Alignas(64) job job;
    atomic_int left;    /* the number of pieces that no thread has taken */
    atomic_int helpers; /* the first `helpers` workers take part in the job */
    atomic_bool ending;

    _Alignas(64) atomic_int undone; /* the number of pieces that are not done */
    worker caller;

    /* true while a call has the pool; only this call changes the fields below */
    _Alignas(64) atomic_bool busy;
    int workers;
    worker worker[HD__MAX_THREADS - 1];
} pool = {.caller.wake = PTHREAD_COND_INITIALIZER};

/* A thread holds this lock while it goes to sleep, wakes another thread, or creates workers. */
pthread_mutex_t hd__pool_lock = PTHREAD_MUTEX_INITIALIZER;

static atomic_int threads; /* the most threads that a call may use; 0 before hd__init */
static atomic_int cpus;

/* ---------------------------------------------------------------- waiting */

/* Calls ready(w) again and again for a short time, or only once if there are more threads than
 * CPUs. Returns true as soon as ready(w) is true, and false if it never is. */
static bool spin(bool (*ready)(const worker *w), const worker *w)
{
    if (ready(w)) {
        return true;
    }
    if (atomic_load_explicit(&threads, memory_order_relaxed) >
        atomic_load_explicit(&cpus, memory_order_relaxed)) {
        return false;
    }
    int64_t end = hd__sys_nanoseconds() + SPIN_NANOSECONDS;
    do {
        for (int i = 0; i < SPIN_LOOKS; i++) {
            if (ready(w)) {
                return true;
            }
            hd__sys_pause();
        }
    } while (hd__sys_nanoseconds() < end);
    return false;
}

/* Waits until ready(w) is true or the thread is woken. After a wake-up ready(w) may be false, so
 * callers check again. */
static void wait_for(bool (*ready)(const worker *w), worker *w)
{
    if (spin(ready, w)) {
        return;
    }
    HD__LOCKED(hd__pool_lock);
    atomic_store(&w->asleep, true);
    if (!ready(w)) {
        pthread_cond_wait(&w->wake, &hd__pool_lock);
    }
    atomic_store(&w->asleep, false);
}

static void wake_sleeping(worker *w)
{
    if (atomic_load(&w->asleep)) {
        HD__LOCKED(hd__pool_lock);
        pthread_cond_signal(&w->wake);
    }
}

static bool wanted(const worker *w)
{
    return (atomic_load(&pool.left) > 0 && w - pool.worker < atomic_load(&pool.helpers)) ||
           atomic_load(&pool.ending);
}

static bool all_done(const worker *unused)
{
    (void)unused;
    return atomic_load(&pool.undone) <= 0;
}

/* ---------------------------------------------------------------- pieces */

/* Takes a piece. Returns the number of pieces that were left before, this one included. Returns 0
 * if there was none to take. */
static int take_piece(void)
{
    int left = atomic_load_explicit(&pool.left, memory_order_relaxed);
    while (left > 0 && !atomic_compare_exchange_weak(&pool.left, &left, left - 1)) {
        ;
    }
    return left;
}

static void take_pieces(void)
{
    int taken = 0;
    for (int left; (left = take_piece()) > 0; taken++) {
        pool.job.f(pool.job.pieces - left, pool.job.arg);
    }
    int undone = taken == 0 ? 0 : atomic_fetch_sub(&pool.undone, taken);
    hd__assert(undone >= taken);
    if (taken > 0 && undone == taken) {
        wake_sleeping(&pool.caller);
    }
}

static void *work(void *self)
{
    worker *w = self;
    for (;;) {
        wait_for(wanted, w);
        if (atomic_load(&pool.ending)) {
            return NULL;
        }
        take_pieces();
    }
}

static bool make_worker(worker *w)
{
    pthread_cond_init(&w->wake, NULL);
    atomic_store(&w->asleep, false);
    return hd__sys_thread_start(&w->thread, work, w);
}

static void make_workers(int most)
{
    HD__LOCKED(hd__pool_lock);
    while (pool.workers < most && make_worker(&pool.worker[pool.workers])) {
        pool.workers++;
    }
}

/* Wakes the sleeping ones among the first n workers. */
static void wake_workers(int n)
{
    for (int i = 0; i < n && i < pool.workers; i++) {
        wake_sleeping(&pool.worker[i]);
    }
}

static bool take_pool(void)
{
    return !atomic_load_explicit(&pool.busy, memory_order_relaxed) &&
           !atomic_exchange_explicit(&pool.busy, true, memory_order_acquire);
}

/* Runs job j on the first `helpers` workers and the calling thread. Returns false, and does
 * nothing, if the pool is busy. */
static bool run_on_pool(const job *j, int helpers)
{
    if (!take_pool()) {
        return false;
    }
    if (pool.workers < helpers) {
        make_workers(helpers);
    }
    pool.job = *j;
    atomic_store_explicit(&pool.helpers, helpers, memory_order_relaxed);
    atomic_store_explicit(&pool.undone, j->pieces, memory_order_relaxed);
    atomic_store(&pool.left, j->pieces);
    wake_workers(helpers);
    take_pieces();
    while (!all_done(&pool.caller)) {
        wait_for(all_done, &pool.caller);
    }
    atomic_store_explicit(&pool.busy, false, memory_order_release);
    return true;
}

int hd__parallel_width(void)
{
    return hd__init() ? atomic_load_explicit(&threads, memory_order_relaxed) : 1;
}

void hd__parallel(int pieces, void (*f)(int piece, void *arg), void *arg)
{
    int width = pieces > 1 ? hd__parallel_width() : 1;
    job j = {.f = f, .arg = arg, .pieces = pieces};
    if (width > 1 && run_on_pool(&j, (pieces < width ? pieces : width) - 1)) {
        return;
    }
    for (int i = 0; i < pieces; i++) {
        f(i, arg);
    }
}

/* ---------------------------------------------------------------- ranges */

typedef struct pool_range {
    /* n indices make `units` units of `grain` indices each; the last unit may be shorter */
    int64_t n, grain, units;
    int pieces;
    void (*f)(int64_t begin, int64_t end, void *arg);
    void *arg;
} pool_range;

/* Returns the unit at which a piece begins. The first `units % pieces` pieces are one unit
 * longer. */
static int64_t begin_of(const pool_range *r, int piece)
{
    int64_t each = r->units / r->pieces, longer = r->units % r->pieces;
    return piece * each + (piece < longer ? piece : longer);
}

static void pool_run_range(int i, void *arg)
{
    const pool_range *r = arg;
    int64_t first = begin_of(r, i), last = begin_of(r, i + 1);
    hd__assert(first < last && (i > 0 || first == 0) && (i + 1 < r->pieces || last == r->units));
    r->f(first * r->grain, last == r->units ? r->n : last * r->grain, r->arg);
}

void hd__parallel_for(int64_t n, int64_t grain, void (*f)(int64_t begin, int64_t end, void *arg),
                      void *arg)
{
    if (n <= 0) {
        return;
    }
    grain = grain < 1 ? 1 : grain;
    pool_range r = {
        .n = n, .grain = grain, .units = n / grain + (n % grain != 0), .f = f, .arg = arg};
    int width = n > grain ? hd__parallel_width() : 1;
    r.pieces = r.units < width ? (int)r.units : width;
    job j = {.f = pool_run_range, .arg = &r, .pieces = r.pieces};
    if (width == 1 || !run_on_pool(&j, r.pieces - 1)) {
        f(0, n, arg);
    }
}

/* ---------------------------------------------------------------- size, start and end */

static bool read_count(const char *text, int *count)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    *count = (int)n;
    return errno == 0 && end != text && *end == '\0' && n >= 1 && n <= HD__MAX_THREADS;
}

void hd__pool_start(char *wrong, size_t size)
{
    const int allowed = hd__sys_cpus_allowed(HD__MAX_THREADS);
    int count = hd__level == HD__PLAIN ? 1 : allowed; /* one thread, for debuggers */
    const char *text = getenv("HEED_THREADS");
    atomic_store(&cpus, allowed);
    if (text && *text && !read_count(text, &count)) {
        snprintf(wrong, size, "heed: HEED_THREADS=%.40s: expected 1 to %d", text, HD__MAX_THREADS);
    }
    atomic_store(&threads, count);
}

bool hd_set_num_threads(int n)
{
    HD__CALL("hd_set_num_threads");
    bool ok = ((n >= 1 && n <= HD__MAX_THREADS) ||
               hd_fail(HD_VALUE, "n is %d: expected 1 to %d", n, HD__MAX_THREADS)) &&
              hd__init();
    if (ok) {
        atomic_store(&threads, n);
    }
    return ok;
}

int hd_num_threads(void)
{
    return hd__init() ? atomic_load(&threads) : -1;
}

void hd__pool_stop(void)
{
    if (!take_pool()) {
        return;
    }
    atomic_store(&pool.ending, true);
    wake_workers(pool.workers);
    for (int i = 0; i < pool.workers; i++) {
        pthread_join(pool.worker[i].thread, NULL);
    }
    pool.workers = 0;
    atomic_store(&pool.ending, false);
    atomic_store_explicit(&pool.busy, false, memory_order_release);
}

/* Initializes the caller's condition again: it may count a waiting thread that the child does not
 * have. make_worker initializes the condition of a new worker. */
void hd__pool_fork_child(void)
{
    pthread_cond_init(&pool.caller.wake, NULL);
    atomic_store(&pool.left, 0);
    atomic_store(&pool.undone, 0);
    atomic_store(&pool.caller.asleep, false);
    atomic_store(&pool.ending, false);
    atomic_store(&pool.busy, false);
    pool.workers = 0;
}
