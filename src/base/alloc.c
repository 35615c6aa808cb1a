/* alloc.c - the one door for all memory.
 *
 * Every block has its header right before it. Small blocks come in classes of 64 bytes, header
 * included, and a thread keeps some freed ones of each class for its next allocations, without a
 * lock and whichever thread made them. Larger blocks are aligned to 64 bytes and go back to the
 * system at once. Nothing is kept under a sanitizer, with HEED_CACHE=0 (for valgrind), or while
 * an allocator of the user's is in place. */
#include "base/parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

enum {
    HEADER = 16,
    CLASS_STEP = 64,
    CLASSES = 16, /* the last holds blocks of 1024 bytes */
    LARGE = CLASSES,
    LARGE_ALIGNMENT = 64,
    KEPT = 256 /* blocks that a thread keeps in each class */
};

typedef struct header {
    size_t size;        /* what the caller asked for, at least 1 */
    unsigned int class; /* LARGE: none */
} header;

_Static_assert(sizeof(header) <= HEADER, "the header must not reach into the block");

typedef struct kept_block {
    struct kept_block *next;
} kept_block;

static HD__TLS struct {
    kept_block *first[CLASSES];
    uint16_t room[CLASSES]; /* how many more are taken in */
    bool open;              /* room has been made */
} cache;

static pthread_once_t environment_once = PTHREAD_ONCE_INIT;
static bool cache_wanted;
static atomic_bool cache_on;

static hd_allocator custom; /* in place when custom_on; both change only while nothing is live */
static atomic_bool custom_on;

static atomic_int_least64_t system_allocs;

static header *header_of(void *p)
{
    return (header *)((char *)p - HEADER);
}

static unsigned int class_of(size_t size)
{
    return size > CLASSES * CLASS_STEP - HEADER ? LARGE
                                                : (unsigned int)((size + HEADER - 1) / CLASS_STEP);
}

/* From the start of the system's block to the caller's. */
static size_t lead_of(unsigned int class)
{
    return class == LARGE ? LARGE_ALIGNMENT : HEADER;
}

static size_t bytes_of(size_t size, unsigned int class)
{
    return class == LARGE ? size + LARGE_ALIGNMENT : (size_t)(class + 1) * CLASS_STEP;
}

static void read_environment(void)
{
#ifndef SANITIZED
    const char *text = getenv("HEED_CACHE");
    cache_wanted = !text || strcmp(text, "0") != 0;
#endif
    atomic_store(&cache_on, cache_wanted);
}

static void *system_alloc(size_t bytes, size_t alignment)
{
    atomic_fetch_add_explicit(&system_allocs, 1, memory_order_relaxed);
    if (atomic_load_explicit(&custom_on, memory_order_acquire))
        return custom.alloc(bytes, alignment, custom.user);
    void *p;
    return posix_memalign(&p, alignment, bytes) == 0 ? p : NULL;
}

static void system_free(void *p)
{
    header *h = header_of(p);
    char *start = (char *)p - lead_of(h->class);
    if (atomic_load_explicit(&custom_on, memory_order_acquire))
        custom.free(start, bytes_of(h->size, h->class), custom.user);
    else
        free(start);
}

static void *new_block(size_t size, unsigned int class)
{
    pthread_once(&environment_once, read_environment);
    char *start = NULL;
    if (size <= PTRDIFF_MAX - LARGE_ALIGNMENT)
        start = system_alloc(bytes_of(size, class), lead_of(class));
    if (!start)
        return NULL;
    char *p = start + lead_of(class);
    header_of(p)->class = class;
    return p;
}

static void *kept(unsigned int class)
{
    if (class == LARGE || !atomic_load_explicit(&cache_on, memory_order_relaxed))
        return NULL;
    kept_block *b = cache.first[class];
    if (b) {
        cache.first[class] = b->next;
        cache.room[class]++;
    }
    return b;
}

/* The first block that a thread frees makes room in its cache, and sees to its end. */
static bool open_cache(void)
{
    if (cache.open)
        return false;
    hd__thread_arm();
    cache.open = true;
    for (int i = 0; i < CLASSES; i++)
        cache.room[i] = KEPT;
    return true;
}

static bool keep(void *p, unsigned int class)
{
    if (class == LARGE || !atomic_load_explicit(&cache_on, memory_order_relaxed))
        return false;
    if (HD__UNLIKELY(cache.room[class] == 0) && !open_cache())
        return false;
    kept_block *b = p;
    b->next = cache.first[class];
    cache.first[class] = b;
    cache.room[class]--;
    return true;
}

void *hd__alloc(size_t size)
{
    if (size == 0)
        size = 1;
    unsigned int class = class_of(size);
    void *p = kept(class);
    if (!p && !(p = new_block(size, class)))
        return NULL;
    header_of(p)->size = size;
    hd__count(HD__BYTES, (int64_t)size);
    return p;
}

void *hd_alloc(size_t size)
{
    void *p = hd__alloc(size);
    return p ? p : hd__no_memory("hd_alloc", size);
}

void *hd__alloc_zeroed(size_t size)
{
    void *p = hd_alloc(size);
    return p ? memset(p, 0, size) : NULL;
}

void hd_free(void *p)
{
    if (!p)
        return;
    header *h = header_of(p);
    hd__count(HD__BYTES, -(int64_t)h->size);
    if (!keep(p, h->class))
        system_free(p);
}

void hd__cache_release(void)
{
    for (int i = 0; i < CLASSES; i++) {
        for (kept_block *b = cache.first[i], *next; b; b = next) {
            next = b->next;
            free((char *)b - HEADER);
        }
    }
    memset(&cache, 0, sizeof cache);
}

bool hd_set_allocator(const hd_allocator *a)
{
    if (a && a->size != sizeof *a)
        return hd_error_set(HD_VALUE, "hd_set_allocator: size %zu: expected sizeof(hd_allocator)",
                            a->size);
    if (a && (!a->alloc || !a->free))
        return hd__null_arg("hd_set_allocator", a->alloc ? "a->free" : "a->alloc");
    int64_t live = hd_bytes_live();
    if (live != 0)
        return hd_error_set(HD_STATE, "hd_set_allocator: %lld bytes are live: expected none",
                            (long long)live);
    pthread_once(&environment_once, read_environment);
    hd__cache_release();
    atomic_store(&cache_on, cache_wanted && !a);
    if (a)
        custom = *a;
    atomic_store_explicit(&custom_on, a != NULL, memory_order_release);
    return true;
}

int64_t hd_system_allocs(void)
{
    return atomic_load_explicit(&system_allocs, memory_order_relaxed);
}
