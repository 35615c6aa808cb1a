/* base.h - what lies under every layer of heed: errors, memory, random generators, threads.
 *
 * The contract of the whole API (ownership, errors, threads, determinism) stands in heed.h.
 * Functions here may be called from any thread; errors and hd_generator_use are per thread. */
#ifndef HEED_BASE_H
#define HEED_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define HD_API __attribute__((visibility("default")))
#else
#define HD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- version */

#define HD_VERSION_MAJOR 0
#define HD_VERSION_MINOR 1
#define HD_VERSION_PATCH 0

HD_API const char *hd_version(void); /* "0.1.0": the version of the library at run time */

/* ---------------------------------------------------------------- errors */

/* The values are permanent: they may be stored and sent. */
typedef enum hd_code {
    HD_OK = 0,       /* no error stands */
    HD_NULL_ARG = 1, /* an argument is NULL or HD_NONE where an object is required */
    HD_SHAPE = 2,    /* shapes or ranks do not fit */
    HD_DTYPE = 3,    /* a dtype the function does not take */
    HD_INDEX = 4,    /* a dim or an index out of range */
    HD_VALUE = 5,    /* a number outside its range, as p = 1.5 */
    HD_MEMORY = 6,   /* out of memory, or a size that overflows */
    HD_GRAD = 7,     /* the backward graph forbids it */
    HD_STATE = 8,    /* the object is not in a state that allows it */
    HD_IO = 9,       /* the operating system refused */
    HD_FORMAT = 10,  /* a file or text is malformed */
    HD_USER = 11     /* raised by a user's op, hook or module */
} hd_code;

HD_API hd_code hd_error_code(void);         /* the calling thread's standing error, or HD_OK */
HD_API const char *hd_error_message(void);  /* its text, "" when none stands; never NULL */
HD_API void hd_error_clear(void);           /* forgets it; the next failure stands again */
HD_API const char *hd_code_name(hd_code c); /* "SHAPE"; "?" for a value that is no code */

/* Sets the calling thread's error, for users' ops and modules: printf-like; the message should
 * begin with the function's name. While an error stands, a later one is counted, not kept.
 * Returns NULL, so that a function may end in `return hd_error_set(...)`. */
HD_API void *hd_error_set(hd_code code, const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Failed calls on this thread since it began: it grows by one with every failure, whether an
 * error already stood or not, and hd_error_clear does not change it. */
HD_API uint64_t hd_error_count(void);

typedef void (*hd_error_handler)(hd_code code, const char *message, void *user);

/* Called at every failure of every thread, on that thread, with the failure's own message, while an
 * older error stands too. NULL: none (the default). */
HD_API void hd_on_error(hd_error_handler handler, void *user);

/* A ready handler for examples and debuggers: prints the message to stderr and aborts.
 *   hd_on_error(hd_error_abort, NULL); */
HD_API void hd_error_abort(hd_code code, const char *message, void *user);

/* ---------------------------------------------------------------- memory */

/* All memory of heed comes through one door. Both are thread safe; hd_free takes NULL. */
HD_API void *hd_alloc(size_t size); /* 16-byte aligned, 64 from 1 KiB on; NULL: HD_MEMORY */
HD_API void hd_free(void *p);       /* what hd_alloc, or a function that says so, returned */

typedef struct hd_allocator {
    size_t size;                                                /* sizeof(hd_allocator) */
    void *(*alloc)(size_t bytes, size_t alignment, void *user); /* NULL: out of memory */
    void (*free)(void *p, size_t bytes, void *user);
    void *user;
} hd_allocator;

/* Replaces the door's back: every block is then asked of it one by one, with no cache between.
 * NULL: the system's again. An error (HD_STATE) while any block is live. */
HD_API bool hd_set_allocator(const hd_allocator *a);

/* What is freed is kept for the next hd_alloc of any thread, so that a loop asks the system for
 * nothing after its first rounds. Kept are, at most: of each size class up to 1 KiB what was live
 * of it at once; 6 MB for each thread; of larger blocks, an eighth of what is live and 16 MiB
 * whenever more memory is asked of the system, else what was live at the peak. Blocks above 64
 * KiB are packed to 4 KiB, and lie in huge pages where the system has them. $HEED_CACHE=0:
 * nothing is kept. */
HD_API void hd_empty_cache(void); /* gives it to the system, but for other threads' 6 MB */

HD_API int64_t hd_bytes_live(void);    /* bytes that callers hold now; size 0 counts as 1 */
HD_API int64_t hd_bytes_peak(void);    /* the most that were live since the last reset */
HD_API void hd_bytes_peak_reset(void); /* peak = live */
HD_API int64_t hd_system_allocs(void); /* blocks asked of the system so far */

/* ---------------------------------------------------------------- random numbers */

/* A Mersenne twister (MT19937) whose streams are PyTorch's, bit for bit. Seeds are taken as
 * 64-bit two's complement; the low 32 bits count. One default generator serves the process, behind
 * a lock; a generator of one's own must not be drawn from by two threads at once. */
typedef struct hd_generator hd_generator;

/* The stream that Bernoulli draws and dropout use; see docs/architecture.md for both. */
typedef enum hd_bernoulli_stream {
    HD_BERNOULLI_MCG31 = 0, /* PyTorch up to 2.6 on x86-64, as the notebooks print (the default) */
    HD_BERNOULLI_NATIVE = 1 /* PyTorch 2.7 and later */
} hd_bernoulli_stream;

HD_API hd_generator *hd_generator_new(int64_t seed);
HD_API void hd_generator_free(hd_generator *g); /* takes NULL; the default one: HD_VALUE */
HD_API bool hd_generator_seed(hd_generator *g, int64_t seed); /* keeps the Bernoulli stream */
HD_API bool hd_generator_set_bernoulli(hd_generator *g, hd_bernoulli_stream s);
HD_API hd_bernoulli_stream hd_generator_bernoulli(const hd_generator *g);
HD_API uint32_t hd_generator_random(hd_generator *g);   /* the next 32-bit output */
HD_API uint64_t hd_generator_random64(hd_generator *g); /* two outputs, the first the high half */

HD_API hd_generator *hd_default_generator(void); /* the process's; at start seeded 67280421310721 */
HD_API hd_generator *hd_generator_current(void); /* what this thread draws from */
HD_API bool hd_manual_seed(int64_t seed);        /* seeds what this thread draws from */

/* The calling thread draws from g until told otherwise; NULL: the default one again.
 * g must outlive its use. */
HD_API void hd_generator_use(hd_generator *g);

/* ---------------------------------------------------------------- threads and CPU */

/* Work inside one call is split over a pool of the process. Results never depend on its size. With
 * no more threads than CPUs, one without work looks for it for 50 microseconds before it sleeps.
 * Default: $HEED_THREADS, else the CPUs that affinity and cgroup allow. n < 1 or > 1024: error. */
HD_API bool hd_set_num_threads(int n);
HD_API int hd_num_threads(void);

/* "baseline", "avx2", "avx512": the level of the kernels in use, chosen from the CPU at start-up;
 * $HEED_CPU lowers it. NULL when HEED_CPU names a level that does not exist or this CPU lacks:
 * then every creation of a tensor fails with that error. */
HD_API const char *hd_cpu_level(void);

/* Closes the calling thread's root scope, ends the pool's threads and returns every cache to the
 * system. Runs at exit if not called. Tensors must not be used afterwards. */
HD_API void hd_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
