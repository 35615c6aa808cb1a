/* alloc.c - hd_alloc and hd_free: all memory of heed comes from here.
 *
 * Every block has a header right before it. The header says whether the block belongs to a size
 * class, is large, or is plain. Up to 1 KiB, header included, size classes are 64 bytes apart; up
 * to 64 KiB there are eight for each power of two. A thread that frees a block of a size class
 * keeps the block in its cache, whichever thread allocated it. The thread takes its next blocks
 * from the cache without a lock. A block that does not fit into the cache, and every block of a
 * thread that ends, goes to a place from which all threads take: small blocks, up to 1 KiB, go back
 * to the system, and larger ones to the heap (heap.c). Large blocks always go to the heap at once.
 *
 * Plain blocks come from the system one by one, in their exact size, or from the user's allocator
 * while one is set. All blocks are plain under a sanitizer, and with HEED_CACHE=0 (for
 * valgrind). */
#include "base/error/error.h"
#include "base/memory/alloc.h"
#include "base/memory/count.h"
#include "base/memory/heap.h"
#include "base/memory/quarantine.h"
#include "base/start.h"
#include "base/system/system.h"

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
    SMALL_STEP = 64,
    SMALL_CLASSES = 16, /* number of small classes; the last one's blocks have 1024 bytes */
    SMALL_MOST = SMALL_CLASSES * SMALL_STEP - HEADER,
    LINE_BYTES = HD__HEAP_LINE, /* bytes before a heap block; the last 16 are its header */
    CLASSES = SMALL_CLASSES + 6 * 8,
    LISTED_MOST = (1 << 16) - LINE_BYTES,
    LARGE = CLASSES, /* LARGE and PLAIN are in the header in place of a size class */
    PLAIN,
    LARGE_STEP = 4096,
    KEPT_SMALL = 1 << 21, /* the most bytes of one small class that a thread keeps */
    KEPT_BYTES = 1 << 16  /* the same for a larger class, but the limit is at least two blocks */
};

_Static_assert(sizeof(hd__mem_header) <= HEADER, "the header must not reach into the block");
_Static_assert((HD__RETIRED_MOST + LINE_BYTES - 1) >> 8 == 15 &&
                   SMALL_CLASSES + 8 + 7 == HD__RETIRED_CLASS,
               "HD__RETIRED_MOST is the most that fits into a block of 4 KiB");

typedef struct cached_block {
    struct cached_block *next;
} cached_block;

/* The free blocks that a thread keeps. A cache is allocated, because thread-local memory is scarce.
 * A thread that has not kept a block yet uses closed_cache, which is empty, accepts no blocks, and
 * never changes. */
typedef struct cache {
    cached_block *first[CLASSES];
    uint16_t room[CLASSES]; /* how many more blocks of each class fit */
} cache;

static cache closed_cache;
static HD__TLS cache *mine = &closed_cache;

static pthread_once_t environment_once = PTHREAD_ONCE_INIT;
static bool cache_wanted;
static atomic_size_t listed_most; /* the largest size that caches keep; 0: there are no caches */

/* the user's allocator, if custom_on is true; both change only while no block is live */
static hd_allocator custom;
static atomic_bool custom_on;

static atomic_int_least64_t system_allocs;

/* Returns the class of a size up to LISTED_MOST. Blocks of a small class c have 64 * (c + 1) bytes.
 * Those of class SMALL_CLASSES + 8 * e + i, for i = 0 to 7, have (9 + i) * 128 * 2^e bytes. */
static unsigned int class_of(size_t size)
{
    if (size <= SMALL_MOST) {
        return (unsigned int)((size + HEADER - 1) / SMALL_STEP);
    }
    int e = 53 - __builtin_clzll(size + LINE_BYTES - 1);
    return (unsigned int)(SMALL_CLASSES + 8 * e) +
           (unsigned int)((size + LINE_BYTES - 1) >> (e + 7)) - 8;
}

size_t hd__mem_class_bytes(unsigned int class)
{
    return class < SMALL_CLASSES ? (size_t)(class + 1) * SMALL_STEP
                                 : (size_t)(9 + class % 8) << (7 + (class - SMALL_CLASSES) / 8);
}

static int most_cached(unsigned int class)
{
    int fit = (int)((class < SMALL_CLASSES ? KEPT_SMALL : KEPT_BYTES) / hd__mem_class_bytes(class));
    return fit > 2 ? fit : 2;
}

static void read_environment(void)
{
#ifndef SANITIZED
    const char *text = getenv("HEED_CACHE");
    cache_wanted = !text || strcmp(text, "0") != 0;
    if (cache_wanted) {
        hd__debug_start(HD__DEBUG_KEEPS);
    }
#endif
    atomic_store(&listed_most, cache_wanted ? LISTED_MOST : 0);
}

/* ---------------------------------------------------------------- memory from the system */

void hd__count_system_alloc(void)
{
    atomic_fetch_add_explicit(&system_allocs, 1, memory_order_relaxed);
}

static size_t plain_lead(size_t size)
{
    return size > SMALL_MOST ? LINE_BYTES : HEADER;
}

static void *plain_alloc(size_t size)
{
    size_t lead = plain_lead(size), bytes = size + lead;
    void *p;
    hd__count_system_alloc();
    if (atomic_load_explicit(&custom_on, memory_order_acquire)) {
        HD__CALLS_BACK;
        p = custom.alloc(bytes, lead, custom.user);
    } else {
        p = hd__sys_block_new(lead, bytes);
    }
    return p ? (char *)p + lead : NULL;
}

HD__RARE static void plain_free(void *p)
{
    size_t size = hd__mem_header_of(p)->size, lead = plain_lead(size);
    if (atomic_load_explicit(&custom_on, memory_order_acquire)) {
        HD__CALLS_BACK;
        custom.free((char *)p - lead, size + lead, custom.user);
    } else {
        hd__sys_block_free((char *)p - lead);
    }
}

static void *small_alloc(unsigned int class)
{
    void *p = hd__sys_block_new(HEADER, hd__mem_class_bytes(class));
    if (!p) {
        return NULL;
    }
    hd__count_system_alloc();
    return (char *)p + HEADER;
}

/* ---------------------------------------------------------------- caches */

/* Gives the calling thread a cache of its own, and arms the thread, so that the cache is emptied
 * when the thread ends. Returns false, and changes nothing, if memory runs out. */
static bool open_cache(void)
{
    if (mine != &closed_cache) {
        return true;
    }
    cache *c = calloc(1, sizeof *c);
    if (!c) {
        return false;
    }
    hd__start_thread_arm();
    for (unsigned int i = 0; i < CLASSES; i++) {
        c->room[i] = (uint16_t)most_cached(i);
    }
    mine = c;
    return true;
}

static void *take_cached(unsigned int class)
{
    cache *c = mine;
    cached_block *b = c->first[class];
    if (b) {
        c->first[class] = b->next;
        c->room[class]++;
    }
    return b;
}

static bool cache_keep(void *p, unsigned int class)
{
    cache *c = mine;
    cached_block *b = p;
    if (c->room[class] == 0) {
        return false;
    }
    b->next = c->first[class];
    c->first[class] = b;
    c->room[class]--;
    return true;
}

/* Makes a free block of a size class available to all threads. */
static void open_to_all(void *p, unsigned int class)
{
    if (class >= SMALL_CLASSES) {
        hd__heap_free(p);
    } else {
        hd__sys_block_free((char *)p - HEADER);
    }
}

void hd__mem_cache_leave(void)
{
    hd__mem_quarantine_empty();
    if (mine == &closed_cache) {
        return;
    }
    for (unsigned int i = 0; i < CLASSES; i++) {
        for (void *b; (b = take_cached(i));) {
            open_to_all(b, i);
        }
    }
    free(mine);
    mine = &closed_cache;
}

void hd_empty_cache(void)
{
    hd__mem_cache_leave();
    hd__heap_release();
}

/* ---------------------------------------------------------------- allocating and freeing */

void hd__mem_cache_fill(unsigned int class)
{
    if (class >= SMALL_CLASSES || !open_cache()) {
        return;
    }
    int n = HD__RING_FEW - (most_cached(class) - mine->room[class]);
    for (void *p; n > 0 && (p = small_alloc(class)); n--) {
        hd__mem_header_of(p)->class = (uint16_t) class;
        cache_keep(p, class);
    }
}

static void *block_of(size_t size, unsigned int class)
{
    if (class == PLAIN || class < SMALL_CLASSES) {
        return class == PLAIN ? plain_alloc(size) : small_alloc(class);
    }
    size_t bytes = class == LARGE ? (size + LINE_BYTES + LARGE_STEP - 1) / LARGE_STEP * LARGE_STEP
                                  : hd__mem_class_bytes(class);
    return hd__heap_alloc(bytes - LINE_BYTES);
}

/* Allocates a block without looking into the thread's cache. If memory runs out, empties the cache,
 * returns the heap's free memory to the system, and tries again. Returns NULL without an error if
 * the second try fails, too. */
static void *new_block(size_t size)
{
    pthread_once(&environment_once, read_environment);
    if (size > PTRDIFF_MAX / 2) {
        return NULL;
    }
    unsigned int class = PLAIN;
    if (atomic_load_explicit(&listed_most, memory_order_relaxed)) {
        class = size > LISTED_MOST ? LARGE : class_of(size);
    }
    void *p = block_of(size, class);
    if (!p && class != PLAIN) {
        hd_empty_cache();
        p = block_of(size, class);
    }
    if (p) {
        hd__mem_header_of(p)->class = (uint16_t) class;
        hd__mem_header_of(p)->kind = 0;
    }
    return p;
}

void *hd__mem_alloc(size_t size)
{
    size += size == 0;
    void *p = NULL;
    if (size <= atomic_load_explicit(&listed_most, memory_order_relaxed)) {
        p = take_cached(class_of(size));
    }
    if (!p && !(p = new_block(size))) {
        return NULL;
    }
    hd__mem_header_of(p)->size = size;
    hd__count(HD__BYTES, (int64_t)size);
    return p;
}

HD__RARE static void *refused_alloc(size_t size)
{
    HD__CALL("hd_alloc");
    return hd__error_no_memory(size);
}

void *hd_alloc(size_t size)
{
    void *p = hd__mem_alloc(size);
    return p ? p : refused_alloc(size);
}

void *hd__mem_alloc_zeroed(size_t size)
{
    void *p = hd_alloc(size);
    return p ? memset(p, 0, size) : NULL;
}

/* Frees a block that the thread's cache did not accept. If the thread has no cache yet, opens one
 * for the block. */
HD__RARE static void give_back(void *p, unsigned int class)
{
    if (mine != &closed_cache || !open_cache() || !cache_keep(p, class)) {
        open_to_all(p, class);
    }
}

void hd__mem_block_free(void *p)
{
    unsigned int class = hd__mem_header_of(p)->class;
    if (HD__UNLIKELY(!cache_keep(p, class))) {
        give_back(p, class);
    }
}

void hd_free(void *p)
{
    if (!p) {
        return;
    }
    hd__mem_header *h = hd__mem_header_of(p);
    unsigned int class = h->class;
    hd__count(HD__BYTES, -(int64_t)h->size);
    if (HD__UNLIKELY(class >= CLASSES)) {
        class == LARGE ? hd__heap_free(p) : plain_free(p);
        return;
    }
    hd__mem_block_free(p);
}

/* In the common case the block goes straight into the ring (quarantine.c), without a call, because
 * every freed tensor takes this path. hd__mem_retire_object frees the other blocks. */
void hd__mem_retire(void *p)
{
    hd__mem_header *h = hd__mem_header_of(p);
    hd__ring *r = hd__ring_mine;
    if (HD__UNLIKELY(h->class > HD__RETIRED_CLASS || !(r->quick >> h->class & 1))) {
        hd__mem_retire_object(p, NULL);
        return;
    }
    hd__count(HD__BYTES, -(int64_t)h->size);
    hd__ring_turn(r, p);
}

bool hd_set_allocator(const hd_allocator *a)
{
    HD__CALL("hd_set_allocator");
    if (a && !HD__SIZE_OK(a, "sizeof(hd_allocator)")) {
        return false;
    }
    if (a && (!a->alloc || !a->free)) {
        return hd__arg_null_arg(a->alloc ? "a->free" : "a->alloc");
    }
    int64_t live = hd_bytes_live();
    if (live != 0) {
        return hd_fail(HD_STATE, "%lld bytes are in use: expected none. Free all objects first",
                       (long long)live);
    }
    pthread_once(&environment_once, read_environment);
    hd_empty_cache();
    atomic_store(&listed_most, cache_wanted && !a ? LISTED_MOST : 0);
    if (a) {
        custom = *a;
    }
    atomic_store_explicit(&custom_on, a != NULL, memory_order_release);
    return true;
}

int64_t hd_system_allocs(void)
{
    return atomic_load_explicit(&system_allocs, memory_order_relaxed);
}
