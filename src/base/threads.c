/* threads.c - the pool that splits the work inside one call.
 *
 * Workers and the caller take the pieces of a job in order until none is left, so that a worker
 * that wakes late, or was never made, costs time but nothing else. One call has the pool at a
 * time; any other, a call from inside a piece too, runs on its own thread. Everything is under
 * one lock: pieces are long enough for that. */
#include "base/parts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct job {
    void (*f)(int piece, void *arg);
    void *arg;
    int pieces, taken, done;
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* pieces to take, or the end */
    pthread_cond_t done; /* the last piece is done */
    job job;
    bool busy, ending;
    int workers;
    pthread_t worker[HD__MAX_THREADS - 1];
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

static atomic_int threads; /* 0 until the start */

/* ---------------------------------------------------------------- pieces */

/* Takes pieces until none is left. Called, and returns, with the lock held. */
static void take_pieces(void)
{
    while (pool.job.taken < pool.job.pieces) {
        const job j = pool.job;
        pool.job.taken++;
        pthread_mutex_unlock(&pool.lock);
        j.f(j.taken, j.arg);
        pthread_mutex_lock(&pool.lock);
        if (++pool.job.done == pool.job.pieces)
            pthread_cond_signal(&pool.done);
    }
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    while (!pool.ending) {
        take_pieces();
        if (!pool.ending)
            pthread_cond_wait(&pool.work, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* Signals stay with the program's own threads. */
static void make_workers(int wanted)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.workers < wanted &&
           pthread_create(&pool.worker[pool.workers], NULL, work, NULL) == 0)
        pool.workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* False, and nothing done, if the pool is busy. */
static bool run_on_pool(const job *j, int helpers)
{
    pthread_mutex_lock(&pool.lock);
    if (pool.busy) {
        pthread_mutex_unlock(&pool.lock);
        return false;
    }
    pool.busy = true;
    if (pool.workers < helpers)
        make_workers(helpers);
    pool.job = *j;
    for (int i = 0; i < helpers; i++)
        pthread_cond_signal(&pool.work);
    take_pieces();
    while (pool.job.done < pool.job.pieces)
        pthread_cond_wait(&pool.done, &pool.lock);
    pool.busy = false;
    pthread_mutex_unlock(&pool.lock);
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
    if (width > 1 && run_on_pool(&j, (pieces < width ? pieces : width) - 1))
        return;
    for (int i = 0; i < pieces; i++)
        f(i, arg);
}

/* ---------------------------------------------------------------- ranges */

typedef struct range {
    int64_t n, grain, units; /* units of the grain, the last perhaps short */
    int pieces;
    void (*f)(int64_t begin, int64_t end, void *arg);
    void *arg;
} range;

/* The first few pieces are one unit longer. */
static void run_range(int i, void *arg)
{
    const range *r = arg;
    int64_t each = r->units / r->pieces, longer = r->units % r->pieces;
    int64_t first = i * each + (i < longer ? i : longer);
    int64_t last = first + each + (i < longer);
    r->f(first * r->grain, last == r->units ? r->n : last * r->grain, r->arg);
}

void hd__parallel_for(int64_t n, int64_t grain, void (*f)(int64_t begin, int64_t end, void *arg),
                      void *arg)
{
    if (n <= 0)
        return;
    if (grain < 1)
        grain = 1;
    range r = {.n = n, .grain = grain, .units = n / grain + (n % grain != 0), .f = f, .arg = arg};
    int width = n > grain ? hd__parallel_width() : 1;
    r.pieces = r.units < width ? (int)r.units : width;
    job j = {.f = run_range, .arg = &r, .pieces = r.pieces};
    if (width == 1 || !run_on_pool(&j, r.pieces - 1))
        f(0, n, arg);
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
    int count;
    const char *text = getenv("HEED_THREADS");
    if (!text || !*text)
        count = hd__cpus_allowed();
    else if (!read_count(text, &count))
        snprintf(wrong, size, "heed: HEED_THREADS=%.40s: expected 1 to %d", text, HD__MAX_THREADS);
    atomic_store(&threads, count);
}

bool hd_set_num_threads(int n)
{
    if (n < 1 || n > HD__MAX_THREADS)
        return hd_error_set(HD_VALUE, "hd_set_num_threads: %d: expected 1 to %d", n,
                            HD__MAX_THREADS);
    if (!hd__init())
        return false;
    atomic_store(&threads, n);
    return true;
}

int hd_num_threads(void)
{
    return hd__init() ? atomic_load(&threads) : -1;
}

void hd__pool_stop(void)
{
    pthread_mutex_lock(&pool.lock);
    if (!pool.busy) {
        pool.busy = pool.ending = true;
        pthread_cond_broadcast(&pool.work);
        pthread_mutex_unlock(&pool.lock);
        for (int i = 0; i < pool.workers; i++)
            pthread_join(pool.worker[i], NULL);
        pthread_mutex_lock(&pool.lock);
        pool.workers = 0;
        pool.busy = pool.ending = false;
    }
    pthread_mutex_unlock(&pool.lock);
}

void hd__pool_fork_prepare(void)
{
    pthread_mutex_lock(&pool.lock);
}

void hd__pool_fork_parent(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The condition variables may count waiters that the child does not have: they begin anew. */
void hd__pool_fork_child(void)
{
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.job = (job){0};
    pool.busy = false;
    pool.workers = 0;
    pthread_mutex_unlock(&pool.lock);
}
