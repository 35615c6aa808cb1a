/* threads.h - POSIX threads, and heed's additions to them. No other header of heed includes
 * <pthread.h>. */
#ifndef HEED_BASE_THREADS_H
#define HEED_BASE_THREADS_H

#include <pthread.h>

/* Windows has no fork. Its pthread_atfork is a macro that ignores the functions, so the compiler
 * would call them unused. */
#ifdef _WIN32
#undef pthread_atfork
#define pthread_atfork(prepare, parent, child) ((void)(prepare), (void)(parent), (void)(child))
#endif

/* True if the process has no thread but this one. glibc says so since 2.32; with other libraries
 * the macro is 0. */
#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define HD__ALONE __libc_single_threaded
#endif
#endif
#ifndef HD__ALONE
#define HD__ALONE 0
#endif

/* Declares a thread-local variable. Every call of heed reads such variables. With the initial-exec
 * model, a read does not call the dynamic loader. */
#define HD__TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* Marks a function that makes a key whose destructor uses thread-local variables. GCC on Windows
 * keeps these variables behind a key of its own, whose destructor frees them. Destructors run in
 * the order in which the keys were made. So HD__EARLY calls the function before main, and the
 * destructor of the function's key runs while the variables still exist. */
#if defined(_WIN32) && !defined(__clang__)
#define HD__EARLY __attribute__((constructor))
#else
#define HD__EARLY
#endif

/* Tells the CPU that this thread waits for another one to write to memory. */
static inline void hd__sys_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Locks a mutex until the end of the enclosing block. */
#define HD__LOCKED(mutex)                                                                          \
    pthread_mutex_t *const hd__locked __attribute__((cleanup(hd__sys_mutex_unlock), unused)) =     \
        hd__sys_mutex_lock(&(mutex))

static inline pthread_mutex_t *hd__sys_mutex_lock(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    return mutex;
}

static inline void hd__sys_mutex_unlock(pthread_mutex_t *const *mutex)
{
    pthread_mutex_unlock(*mutex);
}

#endif
