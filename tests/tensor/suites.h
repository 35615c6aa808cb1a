/* suites.h - the suites of the tensor layer, one a topic; main.c runs them all. */
#ifndef TESTS_TENSOR_SUITES_H
#define TESTS_TENSOR_SUITES_H

#include <stdlib.h>

#include "support/support.h"
#include "tensor/tensor_internal.h"

Suite *suite_print(void);
Suite *suite_dict(void);
Suite *suite_list(void);
Suite *suite_scope(void);
Suite *suite_shape(void);
Suite *suite_creation(void);
Suite *suite_copy(void);
Suite *suite_access(void);
Suite *suite_random(void);

/* An allocator that refuses every block once `left` is used up; left < 0: it never refuses.
 * In place before the first tensor of a test; see hd_set_allocator. */
typedef struct scarce {
    int64_t left, blocks; /* blocks: given out and not yet freed */
} scarce;

void scarce_use(scarce *s);
void scarce_end(void);

#endif
