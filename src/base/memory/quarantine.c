/* quarantine.c - keeps freed blocks out of use for a while, so that the use of a freed object is an
 * error.
 *
 * A program that uses a tensor after its scope closed, or frees an optimizer twice, holds a pointer
 * into freed memory. If that memory were used again at once, the mistake would give wrong numbers
 * and no error. So each object that a program can hold is marked when it is freed, and its block
 * stays here until enough other blocks have been freed after it.
 *
 * The mark. A freed tensor is marked in the tensor itself (field refs; src/tensor/tensor_args.c),
 * because its block may live on for a view. The tensor also remembers the functions that made it
 * and freed it. Any other object is marked in the header before its block (HD__FREED_SIZE), where
 * the next allocation of the block writes its size. Every public function checks the mark where it
 * checks for NULL: hd__tensor_arg for tensors, hd__object for objects. So a correct program pays
 * only for storing the marks and for moving the blocks through the ring.
 *
 * The ring. Each thread has a ring of the last 64 blocks that it freed, of up to 4 KiB each. The
 * next block takes the place of the oldest one, which only then becomes free (hd__mem_block_free).
 * A tensor whose data does not fit into such a block has its header in a block of its own: the
 * header is kept, and the data becomes free at once. Memory to which the program has no pointer,
 * such as a node of the graph, is never kept.
 *
 * With HEED_DEBUG=1 a ring has 65,536 blocks and at most 32 MiB, so mistakes are found for much
 * longer. A freed tensor remembers the file and line of its scope, and its data is overwritten
 * (lifecycle.c), so that a pointer from hd_data reads NaN.
 *
 * Limits. Once its block has left the ring, a freed object is memory like any other, and its use is
 * undefined. The mark stays until the memory is used again, so most mistakes are found even then.
 *
 * A block in the ring counts as freed. hd_empty_cache, the end of a thread and hd_shutdown empty
 * the ring. Only blocks of a size class are kept (alloc.c). With HEED_CACHE=0, with a user's
 * allocator and under a sanitizer all blocks are plain: there is no quarantine, and valgrind or the
 * sanitizer sees each block freed. */
#include <stdlib.h>

#include "base/error/debug.h"
#include "base/error/lasting.h"
#include "base/memory/alloc.h"
#include "base/memory/count.h"
#include "base/memory/quarantine.h"
#include "base/start.h"

enum { MANY = 1 << 16, MANY_BYTES = 1 << 25 };

static hd__ring closed_ring;
HD__TLS hd__ring *hd__ring_mine = &closed_ring;

/* ---------------------------------------------------------------- the ring */

static bool ring_open(void)
{
    unsigned int places = hd__debug_on() ? MANY : HD__RING_FEW;
    hd__ring *r = calloc(1, sizeof *r + places * sizeof r->blocks[0]);
    if (!r) {
        return false;
    }
    hd__start_thread_arm();
    r->mask = places - 1;
    hd__ring_mine = r;
    return true;
}

#ifdef HD__ASSERT
bool hd__ring_lacks(const hd__ring *r, const void *p)
{
    unsigned int i = 0;
    while (i <= r->mask && r->blocks[i] != p) {
        i++;
    }
    return i > r->mask;
}
#endif

static size_t ring_bytes(const void *p)
{
    return hd__mem_class_bytes(hd__mem_header_of(p)->class);
}

/* Frees the oldest block of the ring r. Only for a ring of HEED_DEBUG=1, which counts its bytes. */
static void ring_drop_oldest(hd__ring *r)
{
    void *p = r->blocks[r->last];
    hd__assert(p && r->bytes >= ring_bytes(p));
    r->blocks[r->last] = NULL;
    r->last = (r->last + 1) & r->mask;
    r->bytes -= ring_bytes(p);
    hd__mem_block_free(p);
}

static void ring_put_counted(hd__ring *r, void *p)
{
    while (r->blocks[r->at] || r->bytes + ring_bytes(p) > MANY_BYTES) {
        ring_drop_oldest(r);
    }
    r->blocks[r->at] = p;
    r->at = (r->at + 1) & r->mask;
    r->bytes += ring_bytes(p);
}

/* Puts p into the ring. The caller has checked the class of p and subtracted its bytes from the
 * count. Blocks in the ring cannot be allocated. So when a ring gets its first block of a class,
 * the thread's cache gets HD__RING_FEW free blocks of that class. Otherwise a loop would take a new
 * block from the system in every iteration until the ring is full. */
static void ring_put(void *p)
{
    unsigned int class = hd__mem_header_of(p)->class;
    if (hd__ring_mine == &closed_ring && !ring_open()) {
        hd__mem_block_free(p);
    } else if (hd__debug_on()) {
        ring_put_counted(hd__ring_mine, p);
    } else {
        if (!(hd__ring_mine->quick >> class & 1)) {
            hd__mem_cache_fill(class);
            hd__ring_mine->quick |= 1u << class;
        }
        hd__ring_turn(hd__ring_mine, p);
    }
}

void hd__mem_quarantine_empty(void)
{
    hd__ring *r = hd__ring_mine;
    if (r == &closed_ring) {
        return;
    }
    hd__ring_mine = &closed_ring;
    for (unsigned int i = 0; i <= r->mask; i++) {
        if (r->blocks[i]) {
            hd__mem_block_free(r->blocks[i]);
        }
    }
    free(r);
}

/* ---------------------------------------------------------------- objects */

/* Marks the object before it calls ring_put: if there is no memory for a ring, ring_put frees the
 * block, and another thread may get the block. */
void hd__mem_retire_object(void *p, const char *freed_by)
{
    hd__mem_header *h = hd__mem_header_of(p);
    h->kind = 0;
    if (h->class > HD__RETIRED_CLASS) {
        hd_free(p);
        return;
    }
    hd__count(HD__BYTES, -(int64_t)h->size);
    if (freed_by) {
        h->size = HD__FREED_SIZE;
        h->freed_by = hd__lasting_code(freed_by);
    }
    ring_put(p);
}
