/* heap.c - the heap for blocks above 1 KiB: cuts them from large mappings and joins them again.
 *
 * A mapping is divided into chunks. A chunk is a line of 64 bytes and the block after it. A freed
 * chunk is joined with its free neighbours at once and put into a bin; there are eight bins for
 * each power of two. A request gets the smallest chunk that fits among the first few in its own
 * bin, or in the next bin that has one. The rest of the chunk is cut off. So memory that was freed
 * in one size serves any other size, and a training step reuses the memory of the step before.
 *
 * Mappings grow with the heap; this costs nothing before the memory is touched. Mappings of 4 MiB
 * and more are aligned for huge pages and ask for them, which makes the first touch seven times as
 * fast. Before the heap maps more, it returns the pages of free chunks to the system, if they hold
 * more than SLACK plus an eighth of the bytes in use. So the peak of live bytes bounds the memory
 * that the heap holds. Bytes are `untouched` if no block has used them since they were mapped, or
 * since their pages were returned to the system.
 *
 * Measured in a step of GPT with 124 million parameters (gpt/124m/dropout0 of bench/, 2 threads),
 * the peak was 2.99 GB. With size classes alone, eight for each power of two and never cut or
 * joined, it was 3.22 GB. With pages returned at every request, and not only before a new mapping,
 * it was 3.11 GB, and five steps had 490,000 page faults instead of 1,900. The times differed by
 * less than the times of two equal runs. */
#include "base/error/assert.h"
#include "base/memory/blocks.h"
#include "base/memory/heap.h"
#include "base/system/system.h"

enum {
    HEAP_LINE = HD__HEAP_LINE,
    HUGE_PAGE = 1 << 21,
    SLACK = 1 << 24,
    RELEASABLE = 1 << 20, /* a free chunk with at least this many touched bytes returns its pages */
    LEAST_MAP = 1 << 20,
    MOST_MAP = 1 << 28,
    ALONE = 1 << 24, /* a block of at least this size is mapped by itself */
    BIN_PARTS = 8,   /* number of bins for each power of two */
    BINS = 64 * BIN_PARTS,
    BIN_LOOKS = 8 /* the most chunks of one bin that a request looks at */
};

typedef struct chunk {
    size_t bytes;             /* the size of the line and the block together */
    struct chunk *before;     /* the chunk right before; NULL: this chunk begins the mapping */
    struct chunk *next, **at; /* in a bin: the next chunk, and the pointer to this one */
    size_t untouched;         /* the number of untouched bytes at the chunk's end */
    bool last, free;          /* last: the mapping ends with this chunk */
} chunk;

_Static_assert(sizeof(chunk) <= HEAP_LINE - 16, "the last 16 bytes of the line belong to alloc.c");

pthread_mutex_t hd__heap_lock = PTHREAD_MUTEX_INITIALIZER;

hd__mem_held hd__heap;
static chunk *bin[BINS];

/* ---------------------------------------------------------------- bins */

/* Returns the bin for a size of at least HEAP_LINE bytes. Sizes from (8 + i) * 2^e to below
 * (9 + i) * 2^e share a bin, for i = 0 to 7. */
static int bin_of(size_t bytes)
{
    int e = 60 - __builtin_clzll(bytes);
    return e * BIN_PARTS + (int)(bytes >> e) - BIN_PARTS;
}

static void bin_put(chunk *c)
{
    c->free = true;
    c->at = &bin[bin_of(c->bytes)];
    c->next = *c->at;
    if (c->next) {
        c->next->at = &c->next;
    }
    *c->at = c;
    hd__heap.touched += c->bytes - c->untouched;
}

static void bin_take(chunk *c)
{
    *c->at = c->next;
    if (c->next) {
        c->next->at = c->at;
    }
    c->free = false;
    hd__heap.touched -= c->bytes - c->untouched;
}

/* Returns the smallest of a bin's first BIN_LOOKS chunks that has at least `bytes`, or NULL. */
static chunk *best_in(chunk *first, size_t bytes)
{
    chunk *best = NULL;
    int looks = 0;
    for (chunk *c = first; c && looks < BIN_LOOKS; c = c->next, looks++) {
        if (c->bytes >= bytes && (!best || c->bytes < best->bytes)) {
            best = c;
        }
    }
    return best;
}

static chunk *heap_find(size_t bytes)
{
    chunk *best = NULL;
    for (int i = bin_of(bytes); i < BINS && !best; i++) {
        best = best_in(bin[i], bytes);
    }
    return best;
}

/* ---------------------------------------------------------------- neighbours */

static chunk *chunk_after(const chunk *c)
{
    return c->last ? NULL : (chunk *)((char *)c + c->bytes);
}

/* Makes `second` a part of c, the chunk right before it. Neither is in a bin. */
static void chunk_join(chunk *c, const chunk *second)
{
    c->untouched = second->untouched + (second->untouched == second->bytes ? c->untouched : 0);
    c->last = second->last;
    c->bytes += second->bytes;
    if (chunk_after(c)) {
        chunk_after(c)->before = c;
    }
}

/* Cuts c, which is in no bin, to `bytes`. The rest becomes a free chunk, unless it is shorter than
 * a line. */
static void chunk_cut(chunk *c, size_t bytes)
{
    if (c->bytes - bytes < HEAP_LINE) {
        return;
    }
    chunk *rest = (chunk *)((char *)c + bytes);
    *rest = (chunk){.bytes = c->bytes - bytes, .before = c, .last = c->last};
    rest->untouched = c->untouched < rest->bytes ? c->untouched : rest->bytes;
    c->bytes = bytes;
    c->last = false;
    if (chunk_after(rest)) {
        chunk_after(rest)->before = rest;
    }
    bin_put(rest);
}

static void set_free(chunk *c)
{
    chunk *a = chunk_after(c), *b = c->before;
    hd__assert(!c->free && (!a || a->before == c) && (!b || chunk_after(b) == c));
    if (a && a->free) {
        bin_take(a);
        chunk_join(c, a);
    }
    if (b && b->free) {
        bin_take(b);
        chunk_join(b, c);
        c = b;
    }
    bin_put(c);
}

/* ---------------------------------------------------------------- the system */

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static chunk *map(size_t bytes)
{
    size_t page = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : hd__sys_page_bytes();
    bytes = round_up(bytes, page);
    chunk *c = hd__sys_pages_map(bytes, page);
    if (!c) {
        return NULL;
    }
    hd__count_system_alloc();
    hd__heap.mapped += bytes;
    *c = (chunk){.bytes = bytes, .last = true, .untouched = bytes};
    return c;
}

/* Returns the pages of the free chunk c to the system, if at least RELEASABLE bytes of it were
 * touched. With `whole`, a chunk that fills its mapping is unmapped instead. */
static void chunk_release(chunk *c, bool whole)
{
    if (whole && !c->before && c->last) {
        bin_take(c);
        hd__heap.mapped -= c->bytes;
        hd__sys_unmap(c, c->bytes);
        return;
    }
    if (c->bytes - c->untouched < RELEASABLE) {
        return;
    }
    size_t page = hd__sys_page_bytes();
    uintptr_t begin = round_up((uintptr_t)c + HEAP_LINE, page);
    uintptr_t end = ((uintptr_t)c + c->bytes) / page * page;
    if (hd__sys_pages_drop((void *)begin, end - begin)) {
        hd__heap.touched -= c->bytes - c->untouched;
        c->untouched = c->bytes;
    }
}

static void release_all(bool whole)
{
    for (int i = 0; i < BINS; i++) {
        for (chunk *c = bin[i], *next; c; c = next) {
            next = c->next;
            chunk_release(c, whole);
        }
    }
}

/* Maps memory for a chunk of `bytes` and returns the chunk, or NULL if memory runs out. Maps as
 * many bytes as are mapped already, but at least LEAST_MAP and at most MOST_MAP. A block of at
 * least ALONE bytes gets a mapping of its own size, because small blocks would occupy the rest of a
 * larger mapping and keep it mapped. If the system refuses a mapping that is larger than `bytes`,
 * tries again with `bytes`. */
static chunk *heap_grow(size_t bytes)
{
    if (hd__heap.touched > SLACK + hd__heap.used / 8) {
        release_all(false);
    }
    size_t wanted = bytes >= ALONE                ? bytes
                    : hd__heap.mapped < LEAST_MAP ? LEAST_MAP
                    : hd__heap.mapped > MOST_MAP  ? MOST_MAP
                                                  : hd__heap.mapped;
    chunk *c = map(bytes > wanted ? bytes : wanted);
    return c || bytes >= wanted ? c : map(bytes);
}

/* ---------------------------------------------------------------- functions for alloc.c */

void *hd__heap_alloc(size_t size)
{
    size_t bytes = round_up(size + HEAP_LINE, HEAP_LINE);
    HD__LOCKED(hd__heap_lock);
    chunk *c = heap_find(bytes);
    if (c) {
        bin_take(c);
    } else {
        c = heap_grow(bytes);
    }
    if (c) {
        chunk_cut(c, bytes);
        c->untouched = 0;
        hd__heap.used += c->bytes;
    }
    return c ? (char *)c + HEAP_LINE : NULL;
}

void hd__heap_free(void *p)
{
    chunk *c = (chunk *)((char *)p - HEAP_LINE);
    HD__LOCKED(hd__heap_lock);
    hd__heap.used -= c->bytes;
    set_free(c);
}

void hd__heap_release(void)
{
    HD__LOCKED(hd__heap_lock);
    release_all(true);
}
