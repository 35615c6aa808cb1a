/* platform.c - what heed uses of a system beyond C11 and POSIX.1-2008 (platform.h).
 *
 * The build asks for POSIX alone, which hides everything else. This file takes that back: glibc and
 * musl show all with _GNU_SOURCE, and macOS and the BSDs show all if nothing is asked for. */
#undef _POSIX_C_SOURCE
#undef _GNU_SOURCE
#define _GNU_SOURCE

#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#if defined(__linux__)
#include <sys/syscall.h>
#elif defined(__FreeBSD__)
#include <sys/cpuset.h>
#endif

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

/* ---------------------------------------------------------------- threads */

int hd__affinity_cpus(void)
{
#if defined(__linux__) && defined(CPU_COUNT)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
#elif defined(__FreeBSD__)
    cpuset_t set;
    if (cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > INT_MAX ? INT_MAX : (int)n;
}

#if defined(__x86_64__) || defined(__i386__)
/* Leaf 4 is Intel's, and leaf 0x8000001D is AMD's. Their fields are the same: eax has the type and
 * the level of a cache. ebx has the numbers of ways, of partitions and of bytes in a line, and ecx
 * has the number of sets. The CPU gives each of these four numbers minus 1. */
static long cache_of_cpuid(unsigned leaf)
{
    unsigned a, b, c, d;
    for (unsigned i = 0; __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31) != 0; i++) {
        if ((a >> 5 & 7) == 2 && (a & 31) != 2) { /* not one of instructions alone */
            long ways = (long)(b >> 22) + 1, partitions = (long)(b >> 12 & 1023) + 1;
            return ways * partitions * ((long)(b & 4095) + 1) * ((long)c + 1);
        }
    }
    return 0;
}
#endif

long hd__second_cache_bytes(void)
{
    long bytes = 0;
#if defined(__x86_64__) || defined(__i386__)
    bytes = cache_of_cpuid(4);
    bytes = bytes > 0 ? bytes : cache_of_cpuid(0x8000001Du);
#endif
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = bytes > 0 ? bytes : sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes;
}

/* ---------------------------------------------------------------- memory */

void *hd__pages_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void hd__pages_prefer_huge(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#else
    (void)p, (void)bytes;
#endif
}

/* MADV_DONTNEED gives pages back at once on Linux, and is only advice elsewhere. */
bool hd__pages_drop(void *p, size_t bytes)
{
#if defined(__linux__)
    return madvise(p, bytes, MADV_DONTNEED) == 0;
#elif defined(MADV_FREE)
    return madvise(p, bytes, MADV_FREE) == 0;
#else
    (void)p, (void)bytes;
    return false;
#endif
}

/* ---------------------------------------------------------------- files */

int hd__sync(int fd)
{
#ifdef F_FULLFSYNC
    int done = fcntl(fd, F_FULLFSYNC);
    if (done == 0 || errno == EINTR || errno == EIO) {
        return done; /* with another errno, the file system has no such sync */
    }
#endif
    return fsync(fd);
}

int hd__directory_open(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

#if defined(__linux__) && defined(SYS_renameat2)

int hd__exchange(const char *a, const char *b)
{
    const unsigned exchange = 2; /* RENAME_EXCHANGE of linux/fs.h; glibc names it since 2.28 */
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, exchange) == 0 ? 0 : errno;
}

#elif defined(__APPLE__)

int hd__exchange(const char *a, const char *b)
{
    return renamex_np(a, b, RENAME_SWAP) == 0 ? 0 : errno;
}

#else

int hd__exchange(const char *a, const char *b)
{
    (void)a, (void)b;
    return ENOSYS;
}

#endif

int hd__lock(int fd)
{
    int locked;
    do {
        locked = flock(fd, LOCK_EX | LOCK_NB);
    } while (locked != 0 && errno == EINTR);
    return locked == 0 ? 0 : errno;
}
