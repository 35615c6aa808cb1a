/* count.c - counts the live bytes and tensors without an atomic addition for each of them.
 *
 * Each thread counts in a tally of its own, whose counts no other thread changes, and adds the
 * tally to the total from time to time. A reader adds the total and all tallies. A tally also holds
 * the highest value of its bytes since it was last added to the total, so the peak of one thread is
 * exact. If several threads allocate at once, the peak may come out too high, by at most HD__FLUSH
 * for each thread. */
#include "base/memory/count.h"
#include "base/start.h"

typedef struct hd__count_tally tally;

/* The `high` of a tally that is not in the list yet. This value is so low that hd__count calls
 * hd__count_bytes_moved at the first change of the thread's bytes, even at a free. That call puts
 * the tally into the list. */
enum { UNLISTED_HIGH = INT32_MIN };
HD__TLS tally hd__count_mine = {.high = UNLISTED_HIGH};

pthread_mutex_t hd__count_lock = PTHREAD_MUTEX_INITIALIZER;

static struct { /* the totals, protected by hd__count_lock */
    tally *first;
    int64_t total[HD__COUNTS], peak;
} all;

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
    all.peak = to > all.peak ? to : all.peak;
}

/* Adds the calling thread's tally to the total. The caller holds the lock, so that no reader misses
 * the tally. */
static void flush(void)
{
    raise_peak(all.total[HD__BYTES] + count_get(&hd__count_mine.high));
    for (int i = 0; i < HD__COUNTS; i++) {
        all.total[i] += count_get(&hd__count_mine.now[i]);
        count_set(&hd__count_mine.now[i], 0);
    }
    count_set(&hd__count_mine.high, 0);
}

static bool listed(void)
{
    return count_get(&hd__count_mine.high) != UNLISTED_HIGH;
}

static void list(void)
{
    hd__start_thread_arm();
    HD__LOCKED(hd__count_lock);
    hd__count_mine.next = all.first;
    all.first = &hd__count_mine;
    count_set(&hd__count_mine.high, 0);
}

void hd__count_thread_end(void)
{
    if (!listed()) {
        return;
    }
    HD__LOCKED(hd__count_lock);
    flush();
    tally **at = &all.first;
    while (*at != &hd__count_mine) {
        at = &(*at)->next;
    }
    *at = hd__count_mine.next;
    count_set(&hd__count_mine.high, UNLISTED_HIGH);
}

/* hd__count calls this when the thread's bytes rise above their highest value or fall below
 * -HD__FLUSH. */
void hd__count_bytes_moved(void)
{
    int64_t now = count_get(&hd__count_mine.now[HD__BYTES]);
    if (!listed()) {
        list();
    }
    if (now > count_get(&hd__count_mine.high)) {
        count_set(&hd__count_mine.high, now);
    }
    if (now > HD__FLUSH || now < -HD__FLUSH) {
        HD__LOCKED(hd__count_lock);
        flush();
    }
}

int64_t hd__count_counted(int what)
{
    HD__LOCKED(hd__count_lock);
    int64_t n = all.total[what];
    for (tally *t = all.first; t; t = t->next) {
        n += count_get(&t->now[what]);
    }
    return n;
}

int64_t hd_bytes_live(void)
{
    return hd__count_counted(HD__BYTES);
}

/* The total and the `high` of all tallies together are the most that the live bytes may have been
 * since the threads last flushed. This may be above the recorded peak. */
int64_t hd_bytes_peak(void)
{
    HD__LOCKED(hd__count_lock);
    int64_t high = all.total[HD__BYTES];
    for (tally *t = all.first; t; t = t->next) {
        high += count_get(&t->high);
    }
    raise_peak(high);
    return all.peak;
}

void hd_bytes_peak_reset(void)
{
    HD__LOCKED(hd__count_lock);
    all.peak = all.total[HD__BYTES];
    for (tally *t = all.first; t; t = t->next) {
        int64_t now = count_get(&t->now[HD__BYTES]);
        count_set(&t->high, now);
        all.peak += now;
    }
}
