/* scarce.h - memory that runs out: an allocator that refuses every block once `left` is used up. */
#ifndef HEED_TESTS_SCARCE_H
#define HEED_TESTS_SCARCE_H

#include <check.h>
#include <stdlib.h>

#include "heed/base.h"

typedef struct scarce {
    int64_t left;    /* blocks that it still gives; < 0: it never refuses */
    bool once;       /* it refuses one block, and then gives blocks again */
    int64_t refused; /* how often it refused so far */
    int64_t blocks;  /* given out and not yet freed */
} scarce;

static inline void *scarce_alloc(size_t bytes, size_t alignment, void *user)
{
    scarce *s = user;
    void *p = NULL;
    if (s->left == 0) {
        s->refused++;
        s->left -= s->once;
        return NULL;
    }
    if (posix_memalign(&p, alignment, bytes) != 0) {
        return NULL;
    }
    s->left -= s->left > 0;
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

#endif
