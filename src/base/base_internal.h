/* base_internal.h - what base offers to the layers inside libheed.
 *
 * Names begin with hd__ (internal, never exported). Every layer may include this header. */
#ifndef HEED_BASE_INTERNAL_H
#define HEED_BASE_INTERNAL_H

#include <stdatomic.h>

#include "base/args.h"
#include "base/text.h"

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define HD__ALONE __libc_single_threaded
#endif
#endif
#ifndef HD__ALONE
#define HD__ALONE 0
#endif

/* Thread-local state is read in every call: initial-exec spares the call into the loader. */
#define HD__TLS _Thread_local __attribute__((tls_model("initial-exec")))
#define HD__UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---------------------------------------------------------------- counts of holders */

/* While the process has one thread, adding needs no bus lock. Only that thread itself can end this
 * state, by making another, so no addition is ever half done when it ends. */
static inline void hd__refs_up(atomic_int *refs)
{
    if (HD__ALONE) {
        int now = atomic_load_explicit(refs, memory_order_relaxed);
        atomic_store_explicit(refs, now + 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
    }
}

/* Was this the last? A sole holder need not write: nobody can come to hold it from elsewhere. */
static inline bool hd__refs_down(atomic_int *refs)
{
    int now = atomic_load_explicit(refs, memory_order_acquire);
    if (now == 1) {
        return true;
    }
    if (HD__ALONE) {
        atomic_store_explicit(refs, now - 1, memory_order_relaxed);
        return false;
    }
    return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

/* ---------------------------------------------------------------- errors */

/* HD_MEMORY naming the function and the bytes; allocates nothing. Returns NULL. */
void *hd__no_memory(const char *function, size_t bytes);

/* Failures of this thread that no hd_error_clear followed: sets their number, returns what it was.
 * A frame that must know of its own failures alone begins with before = swap(0), and ends with
 * own = swap(0); swap(before + own). */
uint64_t hd__uncleared_swap(uint64_t n);

/* ---------------------------------------------------------------- numbers as text */

enum {
    HD__PRECISION_MAX = 1000,
    HD__NUMBER_TEXT =
        HD__PRECISION_MAX + 400, /* the longest double has 309 digits before the point */
    HD__FLOAT_TEXT = 56
};

/* v as %.{precision}f or %.{precision}e ends in `form`, whatever the locale; `nan` has no sign.
 * Returns the length. */
int hd__number_text(char text[HD__NUMBER_TEXT], double v, char form, int precision);

/* Python's repr of a float, as hd_float_repr: needs no memory. Returns text.
 * In a message: hd_error_set(HD_VALUE, "hd_dropout: p %s: ...", HD__FLOAT(p)) */
const char *hd__float_text(double v, char text[HD__FLOAT_TEXT]);
#define HD__FLOAT(v) hd__float_text((v), (char[HD__FLOAT_TEXT]){0})

/* ---------------------------------------------------------------- saved state */

/* Are object, which the caller calls `arg`, the dictionary d and prefix given? */
bool hd__state_given(const char *function, const char *arg, const void *object, const void *d,
                     const char *prefix);

/* The name of a part of saved state, into t: "PREFIX.name", or "PREFIX.list.i.name" where list is
 * not NULL; without the first dot where prefix is "". NULL if memory runs out. */
const char *hd__key(hd__text *t, const char *prefix, const char *list, int64_t i, const char *name);

/* ---------------------------------------------------------------- start and end */

/* Chooses the CPU level once. False with the error set when HEED_CPU is wrong. */
bool hd__init(void);

/* f runs on a thread that ends (and on the main one in hd_shutdown, before caches are freed).
 * One slot: the tensor layer's, for root scopes. Called lazily: hd__thread_arm() once a thread. */
void hd__on_thread_end(void (*f)(void));
void hd__thread_arm(void);

/* ---------------------------------------------------------------- CPU level */

enum { HD__BASELINE, HD__AVX2, HD__AVX512, HD__LEVELS };
extern int hd__level; /* valid after hd__init */

/* ---------------------------------------------------------------- memory */

/* As hd_alloc, but a failure is the caller's to tell, by hd__no_memory and its own name. */
void *hd__alloc(size_t size);
/* As hd_alloc, zeroed. */
void *hd__alloc_zeroed(size_t size);

/* What is alive: count.c tells how it is counted. */
enum { HD__BYTES, HD__TENSORS, HD__COUNTS, HD__FLUSH = 1 << 16 };

typedef struct hd__tally {                      /* only its own thread writes it */
    atomic_int_least64_t now[HD__COUNTS], high; /* high: of the bytes */
    struct hd__tally *prev, *next;
    bool listed;
} hd__tally;

extern HD__TLS hd__tally hd__mine;

void hd__count_bytes_moved(void);
int64_t hd__counted(int what); /* over all threads */

static inline void hd__count(int what, int64_t delta)
{
    int64_t now = atomic_load_explicit(&hd__mine.now[what], memory_order_relaxed) + delta;
    atomic_store_explicit(&hd__mine.now[what], now, memory_order_relaxed);
    if (what == HD__BYTES &&
        HD__UNLIKELY(now > atomic_load_explicit(&hd__mine.high, memory_order_relaxed) ||
                     now < -HD__FLUSH)) {
        hd__count_bytes_moved();
    }
}

/* ---------------------------------------------------------------- thread pool */

/* Threads that a call may use, at least 1. */
int hd__parallel_width(void);

/* Calls f(0, arg) to f(pieces - 1, arg), each once, on the pool and the caller, begun in order;
 * returns when all are done. In order on the caller alone when one thread is set, inside a pool
 * worker, or when the pool is busy. A piece must not wait for another, fail, record or allocate
 * tensors. Scratch for each thread: allocate for `pieces` before, and index by piece. */
void hd__parallel(int pieces, void (*f)(int piece, void *arg), void *arg);

/* Calls f(begin, end, arg) over disjoint ranges that cover [0, n), each but the last a multiple of
 * `grain` long, by hd__parallel, one for each thread at most; at once f(0, n, arg) when n <= grain.
 * f must not depend on how the range is cut. */
void hd__parallel_for(int64_t n, int64_t grain, void (*f)(int64_t begin, int64_t end, void *arg),
                      void *arg);

/* ---------------------------------------------------------------- random streams (rng.c) */

/* All draws of one call happen between lock and unlock (a no-op but for the default generator). */
void hd__gen_lock(hd_generator *g);
void hd__gen_unlock(hd_generator *g);

/* n contiguous elements each; formulas and rounding: the streams' description in rng.c. */
void hd__uniform_f32(hd_generator *g, float *x, int64_t n, double a, double b);
void hd__uniform_f64(hd_generator *g, double *x, int64_t n, double a, double b);

/* n >= 16 contiguous elements: the blocks of 16. */
void hd__normal_f32(hd_generator *g, float *x, int64_t n, double mean, double std);
void hd__normal_f64(hd_generator *g, double *x, int64_t n, double mean, double std);
/* one standard normal in float64: Box-Muller with the generator's spare (n < 16, strided). */
double hd__normal_sample(hd_generator *g);

int64_t hd__randint(hd_generator *g, int64_t lo, int64_t hi); /* in [lo, hi), one draw */
void hd__randperm(hd_generator *g, int64_t *r, int64_t n);
double hd__uniform_sample64(hd_generator *g); /* 53 bits of two outputs, times 2^-53 */
double hd__exponential_sample(hd_generator *g, double lambda);

/* n Bernoulli(p) draws as bytes 0 or 1, in the order of the generator's stream:
 * MCG31 takes one seed and is parallel by skip-ahead; native draws one uniform64 an element. */
void hd__bernoulli(hd_generator *g, uint8_t *x, int64_t n, double p);

/* For who draws elements of an MCG31 stream himself (mcg31.h): one draw gives x_0, and element i is
 * 1 when x_i is below the limit of p. */
uint32_t hd__mcg31_seed(hd_generator *g);
uint32_t hd__mcg31_limit(double p);

#endif
