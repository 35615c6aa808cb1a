/* platform.c - the functions of system.h that need more than C11 and POSIX.1-2008.
 *
 * The build defines _POSIX_C_SOURCE, so the system's headers declare nothing but POSIX. This file
 * undefines it: glibc and musl declare everything with _GNU_SOURCE, macOS and the BSDs without
 * _POSIX_C_SOURCE. */
#undef _POSIX_C_SOURCE
#undef _GNU_SOURCE
#define _GNU_SOURCE

#include "base/system/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#elif defined(__FreeBSD__)
#include <sys/cpuset.h>
#endif

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

/* ---------------------------------------------------------------- threads */

int hd__sys_affinity_cpus(void)
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

long hd__sys_second_cache_told(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    return sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
    return 0;
#endif
}

/* ---------------------------------------------------------------- memory */

size_t hd__sys_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *map_plain(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* mmap aligns to pages only. For a larger alignment, this maps `align` more bytes, and unmaps the
 * parts before and after the aligned range. */
void *hd__sys_pages_map(size_t bytes, size_t align)
{
    if (align <= hd__sys_page_bytes()) {
        return map_plain(bytes);
    }
    char *p = map_plain(bytes + align);
    if (!p) {
        return NULL;
    }
    size_t lead = -(uintptr_t)p % align;
    if (lead) {
        munmap(p, lead);
    }
    munmap(p + lead + bytes, align - lead);
#ifdef MADV_HUGEPAGE
    madvise(p + lead, bytes, MADV_HUGEPAGE);
#endif
    return p + lead;
}

/* MADV_DONTNEED frees the pages at once on Linux, and is only a hint elsewhere. */
bool hd__sys_pages_drop(void *p, size_t bytes)
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

/* Syncs like fsync, and also empties the drive's cache. fsync of macOS leaves the bytes there. */
static int sync_once(int fd)
{
#ifdef F_FULLFSYNC
    int done = fcntl(fd, F_FULLFSYNC);
    if (done == 0 || errno == EINTR || errno == EIO) {
        return done; /* any other errno: the file system has no F_FULLFSYNC */
    }
#endif
    return fsync(fd);
}

int hd__sys_sync(int fd)
{
    int synced;
    do {
        synced = sync_once(fd);
    } while (synced != 0 && errno == EINTR);
    return synced == 0 || errno == EINVAL ? 0 : errno;
}

int hd__sys_exchange(const char *a, const char *b)
{
#if defined(__linux__) && defined(SYS_renameat2)
    const unsigned exchange = 2; /* RENAME_EXCHANGE of linux/fs.h; glibc names it since 2.28 */
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, exchange) == 0 ? 0 : errno;
#elif defined(__APPLE__)
    return renamex_np(a, b, RENAME_SWAP) == 0 ? 0 : errno;
#else
    (void)a, (void)b;
    return ENOSYS;
#endif
}

int hd__sys_lock(int fd)
{
    int locked;
    do {
        locked = flock(fd, LOCK_EX | LOCK_NB);
    } while (locked != 0 && errno == EINTR);
    return locked == 0 ? 0 : errno;
}
