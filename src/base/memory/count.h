/* count.h - counts the live bytes and tensors (count.c). */
#ifndef HEED_BASE_COUNT_H
#define HEED_BASE_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error/assert.h"
#include "base/system/threads.h"

/* The two counts, their number, and the bytes that a thread may count before it adds its tally to
 * the total. */
enum { HD__BYTES, HD__TENSORS, HD__COUNTS, HD__FLUSH = 1 << 16 };

typedef struct hd__count_tally {
    /* Only the tally's own thread changes `now`. high: the highest now[HD__BYTES] since `now` was
     * last added to the total, or since another thread called hd_bytes_peak_reset */
    atomic_int_least64_t now[HD__COUNTS], high;
    struct hd__count_tally *next;
} hd__count_tally;

extern HD__TLS hd__count_tally hd__count_mine;

void hd__count_bytes_moved(void);
int64_t hd__count_counted(int what); /* returns the sum over all threads */

static inline void hd__count(int what, int64_t delta)
{
    int64_t now = atomic_load_explicit(&hd__count_mine.now[what], memory_order_relaxed) + delta;
    atomic_store_explicit(&hd__count_mine.now[what], now, memory_order_relaxed);
    if (what == HD__BYTES &&
        HD__UNLIKELY(now > atomic_load_explicit(&hd__count_mine.high, memory_order_relaxed) ||
                     now < -HD__FLUSH)) {
        hd__count_bytes_moved();
    }
}

/* Adds the calling thread's tally to the total. Called when the thread ends. */
void hd__count_thread_end(void);

extern pthread_mutex_t hd__count_lock; /* start.c locks it around a fork */

#endif
