/* start.h - the start of heed, which runs once, the CPU level that it chooses, and the end of
 * threads (start.c). */
#ifndef HEED_BASE_START_H
#define HEED_BASE_START_H

#include "base/system/cpus.h"
#include "heed/base.h"

/* Reads the environment and chooses the CPU level, once. Failures and warnings call it too, because
 * the environment says whether they are printed. */
void hd__start(void);
/* hd__start, and false with an error if a HEED_ variable of the environment is wrong. */
bool hd__init(void);

/* Sets the function f, which is called on every armed thread when it ends, and by hd_shutdown
 * before it frees the caches. There is only one f: the tensor layer's, which closes root scopes. */
void hd__start_on_thread_end(void (*f)(void));
void hd__start_thread_arm(void);

/* ---------------------------------------------------------------- CPU level */

/* The best level whose kernels are compiled. The build defines the macros of the levels that it
 * compiles. */
#ifdef HDK_HAVE_AVX512
enum { HD__LEVEL_BUILT = HD__AVX512 };
#elif defined(HDK_HAVE_AVX2)
enum { HD__LEVEL_BUILT = HD__AVX2 };
#else
enum { HD__LEVEL_BUILT = HD__BASELINE };
#endif

extern int hd__level; /* valid after hd__init */

/* The bytes of a core's second-level cache, from which kernels choose block sizes. No bit of a
 * result depends on it. */
extern int64_t hd__start_second_cache;

/* The level to use: the one that text, the value of HEED_CPU, names, or else the lower of `cpu` and
 * `built`. If the named level is higher than that or does not exist, writes a message into
 * `wrong`. */
int hd__level_choose(int cpu, int built, const char *text, char *wrong, size_t size);

#endif
