/* count.c - how many bytes and tensors are alive, without an atomic addition for each of them.
 *
 * Each thread counts in a tally of its own, which only it writes, and adds the tally to the total
 * now and then. A reader adds the total and all tallies. A tally also remembers the highest value
 * of its bytes since it was added to the total, so the peak of one thread is exact. With several
 * threads that allocate at once, the peak may come out too high, by at most HD__FLUSH for each
 * thread. */
#include "base/parts.h"

typedef struct hd__tally tally;

/* A thread's tally begins with this. The thread's first change, even a free, is above it, and so
 * puts the tally into the list. */
enum { UNLISTED_HIGH = INT32_MIN };
HD__TLS tally hd__mine = {.high = UNLISTED_HIGH};

static struct {
    pthread_mutex_t lock;
    tally *first;
    atomic_int_least64_t total[HD__COUNTS], peak;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

hd__lock hd__count_lock = &all.lock;

static int64_t count_get(atomic_int_least64_t *a)
{
    return atomic_load_explicit(a, memory_order_relaxed);
}

static void count_set(atomic_int_least64_t *a, int64_t v)
{
    atomic_store_explicit(a, v, memory_order_relaxed);
}

static void raise_peak(int64_t to)
{
    int64_t peak = count_get(&all.peak);
    while (to > peak && !atomic_compare_exchange_weak_explicit(
                            &all.peak, &peak, to, memory_order_relaxed, memory_order_relaxed)) {
        ;
    }
}

/* Adds the calling thread's tally to the total. The caller holds the lock, so that no sum misses
 * the tally. */
static void flush(void)
{
    raise_peak(count_get(&all.total[HD__BYTES]) + count_get(&hd__mine.high));
    for (int i = 0; i < HD__COUNTS; i++) {
        atomic_fetch_add_explicit(&all.total[i], count_get(&hd__mine.now[i]), memory_order_relaxed);
        count_set(&hd__mine.now[i], 0);
    }
    count_set(&hd__mine.high, 0);
}

static void list(void)
{
    hd__thread_arm();
    pthread_mutex_lock(&all.lock);
    hd__mine.prev = NULL;
    hd__mine.next = all.first;
    if (all.first) {
        all.first->prev = &hd__mine;
    }
    all.first = &hd__mine;
    hd__mine.listed = true;
    count_set(&hd__mine.high, 0);
    pthread_mutex_unlock(&all.lock);
}

void hd__count_thread_end(void)
{
    if (!hd__mine.listed) {
        return;
    }
    pthread_mutex_lock(&all.lock);
    flush();
    if (hd__mine.prev) {
        hd__mine.prev->next = hd__mine.next;
    } else {
        all.first = hd__mine.next;
    }
    if (hd__mine.next) {
        hd__mine.next->prev = hd__mine.prev;
    }
    hd__mine.listed = false;
    count_set(&hd__mine.high, UNLISTED_HIGH);
    pthread_mutex_unlock(&all.lock);
}

/* Called by hd__count when the bytes rise above their highest value, or fall below -HD__FLUSH. */
void hd__count_bytes_moved(void)
{
    int64_t now = count_get(&hd__mine.now[HD__BYTES]);
    if (!hd__mine.listed) {
        count_set(&hd__mine.high, 0);
        list();
    }
    if (now > count_get(&hd__mine.high)) {
        count_set(&hd__mine.high, now);
    }
    if (now > HD__FLUSH || now < -HD__FLUSH) {
        pthread_mutex_lock(&all.lock);
        flush();
        pthread_mutex_unlock(&all.lock);
    }
}

/* The total plus all tallies. *high: what the bytes may have reached since the last flush. */
static int64_t count_sum(int what, int64_t *high)
{
    pthread_mutex_lock(&all.lock);
    int64_t n = count_get(&all.total[what]), most = n;
    for (tally *t = all.first; t; t = t->next) {
        n += count_get(&t->now[what]);
        most += count_get(&t->high);
    }
    pthread_mutex_unlock(&all.lock);
    *high = most;
    return n;
}

int64_t hd__counted(int what)
{
    int64_t high;
    return count_sum(what, &high);
}

int64_t hd_bytes_live(void)
{
    return hd__counted(HD__BYTES);
}

int64_t hd_bytes_peak(void)
{
    int64_t high;
    count_sum(HD__BYTES, &high);
    raise_peak(high);
    return count_get(&all.peak);
}

void hd_bytes_peak_reset(void)
{
    pthread_mutex_lock(&all.lock);
    for (tally *t = all.first; t; t = t->next) {
        count_set(&t->high, count_get(&t->now[HD__BYTES]));
    }
    pthread_mutex_unlock(&all.lock);
    count_set(&all.peak, hd_bytes_live());
}
