/* system.c - replaces malloc and its kin, and mmap of anonymous memory, by functions that can fail
 * on request. Because they are defined in this program, every library that it loads calls them:
 * heed with its caches, cJSON and the C library. A sanitizer replaces them by its own. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults_memory/faults.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

static atomic_int_least64_t left = -1, asked_for, refusals, blocks;
static atomic_bool only_once;

/* Is this the block to refuse? */
static bool refuses(void)
{
    atomic_fetch_add(&asked_for, 1);
    if (atomic_load(&left) < 0) {
        return false;
    }
    if (atomic_load(&left) > 0) {
        atomic_fetch_sub(&left, 1);
        return false;
    }
    if (atomic_load(&only_once)) {
        atomic_store(&left, -1);
    }
    atomic_fetch_add(&refusals, 1);
    errno = ENOMEM;
    return true;
}

static void *counted(void *p)
{
    atomic_fetch_add(&blocks, p != NULL);
    return p;
}

void *malloc(size_t n)
{
    return refuses() ? NULL : counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return refuses() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    if (!p) {
        return malloc(n);
    }
    return refuses() ? NULL : __libc_realloc(p, n);
}

void *memalign(size_t alignment, size_t n)
{
    return refuses() ? NULL : counted(__libc_memalign(alignment, n));
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    void *block = memalign(alignment, n);
    if (!block) {
        return ENOMEM;
    }
    *p = block;
    return 0;
}

void free(void *p)
{
    atomic_fetch_sub(&blocks, p != NULL);
    __libc_free(p);
}

void *mmap(void *at, size_t n, int protection, int flags, int file, off_t offset)
{
    if (flags & MAP_ANONYMOUS && refuses()) {
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, n, protection, flags, file, offset);
}

bool system_fails(void)
{
    return true;
}

void system_refuse(int64_t n, bool once)
{
    atomic_store(&left, -1);
    atomic_store(&only_once, once);
    atomic_store(&asked_for, 0);
    if (n >= 0) {
        atomic_store(&refusals, 0);
        atomic_store(&left, n);
    }
}

int64_t system_refused(void)
{
    return atomic_load(&refusals);
}

int64_t system_asked(void)
{
    return atomic_load(&asked_for);
}

int64_t system_blocks(void)
{
    return atomic_load(&blocks);
}

#else

bool system_fails(void)
{
    return false;
}

void system_refuse(int64_t n, bool once)
{
    (void)n, (void)once;
}

int64_t system_refused(void)
{
    return 0;
}

int64_t system_asked(void)
{
    return 0;
}

int64_t system_blocks(void)
{
    return 0;
}

#endif
