/* main.c - runs every suite of the tensor layer. */
#include "support/run_suites.h"
#include "suites.h"

static Suite *(*const suites[])(void) = {
    suite_print,    suite_dict, suite_list,   suite_scope,  suite_shape,
    suite_creation, suite_copy, suite_access, suite_random,
};

/* ---------------------------------------------------------------- scarce memory */

static void *scarce_alloc(size_t bytes, size_t alignment, void *user)
{
    scarce *s = user;
    void *p = NULL;
    if (s->left == 0 || posix_memalign(&p, alignment, bytes) != 0) {
        return NULL;
    }
    s->left -= s->left > 0;
    s->blocks++;
    return p;
}

static void scarce_free(void *p, size_t bytes, void *user)
{
    (void)bytes;
    ((scarce *)user)->blocks--;
    free(p);
}

void scarce_use(scarce *s)
{
    hd_allocator a = {sizeof a, scarce_alloc, scarce_free, s};
    ck_assert(hd_set_allocator(&a));
}

void scarce_end(void)
{
    ck_assert(hd_set_allocator(NULL));
}

/* ---------------------------------------------------------------- main */

int main(void)
{
    return RUN_SUITES(suites);
}
