/* scarce.h - an allocator for tests without memory: it refuses blocks once `left` is used up. */
#ifndef HEED_TESTS_SCARCE_H
#define HEED_TESTS_SCARCE_H

#include <check.h>
#include <stdlib.h>

#include "heed/base.h"

typedef struct scarce {
    int64_t left;    /* blocks that it still gives; < 0: it never refuses */
    bool once;       /* it refuses one block, and then gives blocks again */
    size_t only;     /* the bytes of the blocks that it counts; 0: it counts blocks of any size */
    size_t last;     /* the bytes of the block that was asked for last */
    int64_t asked;   /* the number of counted blocks that were asked for */
    int64_t refused; /* how often it refused so far */
    int64_t blocks;  /* given out and not yet freed */
} scarce;

static inline void *scarce_alloc(size_t bytes, size_t alignment, void *user)
{
    scarce *s = user;
    void *p = NULL;
    const bool counts = s->only == 0 || s->only == bytes;
    s->last = bytes;
    s->asked += counts;
    if (s->left == 0 && (counts || s->refused > 0)) {
        s->refused++;
        s->left -= s->once;
        return NULL;
    }
    if (posix_memalign(&p, alignment, bytes) != 0) {
        return NULL;
    }
    s->left -= counts && s->left > 0;
    s->blocks++;
    return p;
}

static inline void scarce_free(void *p, size_t bytes, void *user)
{
    scarce *s = user;
    (void)bytes;
    s->blocks--;
    free(p);
}

/* From here to scarce_end all memory comes from s. No byte may be live at either. */
static inline void scarce_use(scarce *s)
{
    hd_allocator a = {sizeof a, scarce_alloc, scarce_free, s};
    ck_assert_msg(hd_set_allocator(&a), "%s", hd_error_message());
}

static inline void scarce_end(void)
{
    ck_assert_msg(hd_set_allocator(NULL), "%s", hd_error_message());
}

/* Runs `all` again and again, and refuses its first block, its second, and so on until the last.
 * With `once`, only that one block is refused. `all` must fail with HD_MEMORY whenever a block is
 * refused, and leak none. Returns the number of runs. */
static inline int64_t scarce_at_each(bool (*all)(void), bool once)
{
    enum { MOST = 4000 };
    bool refused = true;
    int64_t k = 0;
    hd_shutdown();
    for (; refused && k < MOST; k++) {
        scarce s = {.left = k, .once = once};
        scarce_use(&s);
        bool ok = all();
        refused = s.refused > 0;
        ck_assert_msg(hd_error_code() == (ok ? HD_OK : HD_MEMORY) && ok == !refused,
                      "after %d: %s, %d blocks refused: %s", (int)k, ok ? "succeeded" : "failed",
                      (int)s.refused, hd_error_message());
        hd_error_clear();
        hd_shutdown();
        ck_assert_msg(s.blocks == 0, "after %d: %d blocks are left", (int)k, (int)s.blocks);
        scarce_end();
    }
    ck_assert(!refused);
    return k;
}

#endif
