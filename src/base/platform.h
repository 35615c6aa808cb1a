/* platform.h - what differs between systems, in one place.
 *
 * All other sources keep to C11 and POSIX.1-2008. platform.c alone sees what a system has beyond
 * them, and each function there falls back on what POSIX offers. A port to another system begins
 * with these two files. They use nothing of heed, so a library beside libheed may compile
 * platform.c in. */
#ifndef HEED_BASE_PLATFORM_H
#define HEED_BASE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

/* ---------------------------------------------------------------- threads */

/* Is this thread the only one of the process? glibc tells since 2.32. */
#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define HD__ALONE __libc_single_threaded
#endif
#endif
#ifndef HD__ALONE
#define HD__ALONE 0
#endif

/* Every call reads thread-local state. With initial-exec it does so without calling the loader. */
#define HD__TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* Tells the CPU that this thread is waiting for another one to write to memory. */
static inline void hd__pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* How many CPUs the process may run on, or how many the machine has where the system has no
 * affinity; less than 1 if it does not say. */
int hd__affinity_cpus(void);

/* The bytes of a core's second-level data cache, as the CPU or else the system says; less than 1 if
 * neither does. */
long hd__second_cache_bytes(void);

/* ---------------------------------------------------------------- memory */

/* Memory of whole pages, which is zero; NULL if there is none. munmap gives it back. */
void *hd__pages_map(size_t bytes);
/* Asks for huge pages, which make the first touch of the memory faster. */
void hd__pages_prefer_huge(void *p, size_t bytes);
/* Gives back what the pages hold, but keeps the addresses: what a read finds there afterwards is
 * not defined. Returns false if the system keeps the pages. */
bool hd__pages_drop(void *p, size_t bytes);

/* ---------------------------------------------------------------- files */

/* fsync, but through the cache of the drive too: on macOS fsync leaves the bytes there. */
int hd__sync(int fd);

/* Opens a directory, but not a link to one. Returns -1 with errno on failure. */
int hd__directory_open(const char *path);

/* Exchanges what two paths name, in one step. Returns 0, or an errno, with which nothing changed:
 * ENOSYS, EINVAL or ENOTSUP if the system or the file system cannot do it. */
int hd__exchange(const char *a, const char *b);

/* Locks an open file or directory without waiting. The lock ends when the file is closed, also by a
 * process that is killed. Returns 0, or an errno: EWOULDBLOCK if another one has it. */
int hd__lock(int fd);

#endif
