/* leak_checked.h - suites with one test case that checks for leaks. Each test begins with a seeded
 * generator and no error. It fails unless it ends without an error, and with the number of live
 * bytes and tensors that it began with. */
#ifndef HEED_TESTS_LEAK_CHECKED_H
#define HEED_TESTS_LEAK_CHECKED_H

#include "support/run_suites.h"
#include "support/support.h"

static int64_t leak_bytes, leak_tensors; /* before the test */

static inline void leak_checked_begin(void)
{
    hd_manual_seed(123);
    hd_error_clear();
    leak_bytes = hd_bytes_live();
    leak_tensors = hd_tensor_count();
}

static inline void leak_checked_end(void)
{
    ck_no_error();
    ck_assert_int_eq(hd_tensor_count(), leak_tensors);
    ck_assert_int_eq(hd_bytes_live(), leak_bytes);
}

#define SUITE(name, tests) SUITE_BETWEEN(name, tests, leak_checked_begin, leak_checked_end)

#endif
