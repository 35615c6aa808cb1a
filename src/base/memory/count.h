/* count.h - what is counted while it is alive (count.c). */
#ifndef HEED_BASE_COUNT_H
#define HEED_BASE_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error/assert.h"
#include "base/system/threads.h"

/* What is counted while it is alive. count.c says how. */
enum { HD__BYTES, HD__TENSORS, HD__COUNTS, HD__FLUSH = 1 << 16 };

typedef struct hd__count_tally {                /* only its own thread writes it */
    atomic_int_least64_t now[HD__COUNTS], high; /* high: the highest value of the bytes */
    struct hd__count_tally *next;
} hd__count_tally;

extern HD__TLS hd__count_tally hd__count_mine;

void hd__count_bytes_moved(void);
int64_t hd__count_counted(int what); /* over all threads */

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

/* The calling thread ends: adds what it counted to the total. */
void hd__count_thread_end(void);

extern pthread_mutex_t hd__count_lock; /* for a fork (start.c) */

#endif
