/* live.c - debug mode's list of live tensors, and the report of what is in it.
 *
 * A tensor that is made in debug mode enters the list, with the module whose forward runs then, and
 * leaves it when it is freed. What the graph saves of a tensor enters with the maker of that
 * tensor. The lock protects the list and made_by of the tensors in it. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tensor/tensor_internal.h"

static struct {
    pthread_mutex_t lock;
    hd_tensor *first;
    int64_t n;
} live = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Tensors of one maker: a function, and the module that ran then. */
typedef struct maker {
    const hd__storage *storage;
    const char *made_by, *made_in; /* made_in: NULL outside of any forward */
    int64_t count, bytes, age;     /* age: 0 is the tensor that was made last */
} maker;

/* ---------------------------------------------------------------- the list */

static void live_lock(void)
{
    pthread_mutex_lock(&live.lock);
}

static void live_unlock(void)
{
    pthread_mutex_unlock(&live.lock);
}

static void report_at_shutdown(void);

static void hold_over_forks(void)
{
    pthread_atfork(live_lock, live_unlock, live_unlock);
}

void hd__live_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, hold_over_forks);
}

static void live_prepare(void)
{
    hd__on_shutdown(report_at_shutdown);
}

void hd__live_add(hd_tensor *t, const char *made_in)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, live_prepare);
    t->made_in = made_in;
    t->flags |= HD__F_LISTED;
    t->live_prev = NULL;
    live_lock();
    t->live_next = live.first;
    if (live.first) {
        live.first->live_prev = t;
    }
    live.first = t;
    live.n++;
    live_unlock();
}

void hd__live_rename(hd_tensor *t, const char *made_by)
{
    live_lock();
    t->made_by = hd__outer_or(made_by);
    live_unlock();
}

void hd__live_remove(hd_tensor *t)
{
    live_lock();
    *(t->live_prev ? &t->live_prev->live_next : &live.first) = t->live_next;
    if (t->live_next) {
        t->live_next->live_prev = t->live_prev;
    }
    live.n--;
    live_unlock();
}

void hd__changed_by(const char *function, hd_tensor *x)
{
    if (x->storage->release) {
        x->storage->changed_by = hd__outer_or(function);
        x->storage->changed_in = hd__module;
    }
}

/* ---------------------------------------------------------------- the report */

/* The oldest of the tensors that share a storage comes first. */
static int by_address(const void *a, const void *b)
{
    uintptr_t p = (uintptr_t)((const maker *)a)->storage,
              q = (uintptr_t)((const maker *)b)->storage;
    int64_t younger = ((const maker *)b)->age - ((const maker *)a)->age;
    return p != q ? (p > q) - (p < q) : younger > 0 ? 1 : -1;
}

static int by_function(const void *a, const void *b)
{
    const maker *x = a, *y = b;
    int order = strcmp(x->made_by, y->made_by);
    return order ? order : strcmp(x->made_in ? x->made_in : "", y->made_in ? y->made_in : "");
}

static int most_first(const void *a, const void *b)
{
    const maker *x = a, *y = b;
    int order = (x->bytes < y->bytes) - (x->bytes > y->bytes);
    order = order ? order : (x->count < y->count) - (x->count > y->count);
    return order ? order : by_function(a, b);
}

/* A row for each tensor, and *n, their number; hd_free. NULL and an error if memory runs out. */
static maker *list_makers(const char *function, int64_t *n)
{
    live_lock();
    *n = live.n;
    size_t bytes = (size_t)(live.n + 1) * sizeof(maker);
    maker *rows = hd__alloc(bytes), *row = rows;
    for (const hd_tensor *t = live.first; t && rows; t = t->live_next, row++) {
        *row =
            (maker){t->storage, t->made_by, t->made_in, 1, (int64_t)t->storage->nbytes, row - rows};
    }
    live_unlock();
    return rows ? rows : hd__no_memory(function, bytes);
}

/* Counts the bytes of each storage at the oldest of its tensors, and joins the rows of one maker.
 * Returns how many rows are left. */
static int64_t join_makers(maker *rows, int64_t n)
{
    qsort(rows, (size_t)n, sizeof *rows, by_address);
    for (int64_t i = n - 1; i > 0; i--) {
        if (rows[i].storage == rows[i - 1].storage) {
            rows[i].bytes = 0;
        }
    }
    qsort(rows, (size_t)n, sizeof *rows, by_function);
    int64_t len = 0;
    for (int64_t i = 0; i < n; i++) {
        if (len > 0 && by_function(&rows[len - 1], &rows[i]) == 0) {
            rows[len - 1].count += rows[i].count;
            rows[len - 1].bytes += rows[i].bytes;
        } else {
            rows[len++] = rows[i];
        }
    }
    qsort(rows, (size_t)len, sizeof *rows, most_first);
    return len;
}

static void warn_of_makers(const char *function, const maker *rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        bool one = rows[i].count == 1;
        char memory[40];
        if (rows[i].bytes) {
            snprintf(memory, sizeof memory, "with %" PRId64 " bytes", rows[i].bytes);
        } else {
            snprintf(memory, sizeof memory, "without memory of %s own", one ? "its" : "their");
        }
        hd__warn("%s: %" PRId64 " tensor%s %s that %s made%s%s %s live", function, rows[i].count,
                 one ? "" : "s", memory, rows[i].made_by, rows[i].made_in ? " in " : "",
                 rows[i].made_in ? rows[i].made_in : "", one ? "is" : "are");
    }
}

/* Returns the number of live tensors, or -1. */
static int64_t report(const char *function)
{
    int64_t n;
    maker *rows = list_makers(function, &n);
    if (!rows) {
        return -1;
    }
    warn_of_makers(function, rows, join_makers(rows, n));
    hd_free(rows);
    int64_t all = hd_tensor_count();
    if (all > n) {
        hd__warn("%s: %" PRId64 " tensor%s made while debug mode was off %s live", function,
                 all - n, all - n == 1 ? "" : "s", all - n == 1 ? "is" : "are");
    }
    return all;
}

int64_t hd_tensor_report(void)
{
    return report("hd_tensor_report");
}

/* hd_shutdown also runs at exit. It tells of the same tensors once. */
static void report_at_shutdown(void)
{
    static atomic_llong told;
    int64_t n = hd_tensor_count();
    if (hd__watching() && hd__warns() && atomic_exchange(&told, n) != n && n > 0) {
        report("hd_shutdown");
    }
}
