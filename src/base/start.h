/* start.h - the start, which runs once, what it chooses, and the end of threads (start.c). */
#ifndef HEED_BASE_START_H
#define HEED_BASE_START_H

#include "base/system/cpus.h"
#include "heed/base.h"

/* Reads the environment and chooses the CPU level, once. A failure or a warning calls it, because
 * the environment says whether they are printed. */
void hd__start(void);
/* The same. Returns false with an error if HEED_CPU or HEED_THREADS is wrong. */
bool hd__init(void);

/* Has f called on every armed thread when it ends, and on the thread that calls hd_shutdown before
 * the caches are freed. There is one f, which the tensor layer sets to close root scopes. */
void hd__start_on_thread_end(void (*f)(void));
void hd__start_thread_arm(void);

/* ---------------------------------------------------------------- CPU level */

/* The best level whose kernels are compiled. The build defines these words where they are. */
#ifdef HDK_HAVE_AVX512
enum { HD__LEVEL_BUILT = HD__AVX512 };
#elif defined(HDK_HAVE_AVX2)
enum { HD__LEVEL_BUILT = HD__AVX2 };
#else
enum { HD__LEVEL_BUILT = HD__BASELINE };
#endif

extern int hd__level; /* valid after hd__init */

/* The bytes of a core's second cache, by which kernels choose blocks. No bit depends on it. */
extern int64_t hd__start_second_cache;

/* The level to use on a CPU that could run the level `cpu`, with kernels compiled up to `built`:
 * the lower of the two, or the one that text, the value of HEED_CPU, names. If that one is higher
 * or does not exist, writes a message into `wrong`. */
int hd__level_choose(int cpu, int built, const char *text, char *wrong, size_t size);

#endif
