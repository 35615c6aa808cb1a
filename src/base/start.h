/* start.h - starts heed once, chooses the CPU level, calls a function at the end of each thread,
 * and takes heed's locks around a fork (start.c). */
#ifndef HEED_BASE_START_H
#define HEED_BASE_START_H

#include "base/system/cpus.h"
#include "base/system/threads.h"
#include "heed/base.h"

/* Reads the environment and chooses the CPU level. Only the first call does anything. hd_error_set
 * and hd_warn call it too, because the environment says whether messages are printed. */
void hd__start(void);
/* Calls hd__start. Returns false with HD_VALUE if a HEED_ variable of the environment is wrong. */
bool hd__init(void);

/* Sets the function f, which runs on every armed thread when that thread ends. hd_shutdown also
 * calls f, and then frees the caches. There is only one f: the tensor layer's, which closes root
 * scopes. hd__start_thread_arm arms the calling thread. */
void hd__start_on_thread_end(void (*f)(void));
void hd__start_thread_arm(void);

/* Locks of the layers above base. They stand here because start.c locks them around a fork, too. */
extern pthread_mutex_t hd__start_views_lock;    /* protects the replacement of a view's node */
extern pthread_mutex_t hd__start_diagnose_lock; /* protects the data that the listeners share */
extern pthread_mutex_t hd__start_print_lock;    /* protects the print options of the process */

/* ---------------------------------------------------------------- CPU level */

/* The best level whose kernels were compiled. The build defines a macro for each level that it
 * compiles. */
#ifdef HDK_HAVE_AVX512
enum { HD__LEVEL_BUILT = HD__AVX512 };
#elif defined(HDK_HAVE_AVX2)
enum { HD__LEVEL_BUILT = HD__AVX2 };
#else
enum { HD__LEVEL_BUILT = HD__BASELINE };
#endif

extern int hd__level; /* the CPU level that heed uses; valid after hd__init */

/* The bytes of a core's second-level cache, from which kernels choose block sizes. Results do not
 * depend on it. */
extern int64_t hd__start_second_cache;

/* Returns the level that text, the value of HEED_CPU, names. If text is NULL or empty, returns the
 * best level: the lower of `cpu` and `built`. If the named level is higher than the best one or
 * does not exist, also writes a message into `wrong`; the returned level is then not valid. */
int hd__level_choose(int cpu, int built, const char *text, char *wrong, size_t size);

#endif
