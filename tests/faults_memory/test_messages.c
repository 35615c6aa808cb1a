/* test_messages.c - tests that a message with a number is complete even if no memory is left for
 * its text. */
#include "faults_memory/suites.h"
#include "support/scarce.h"
#include "support/support.h"

START_TEST(messages_need_no_memory)
{
    scarce memory = {.left = -1};
    hd_shutdown();
    scarce_use(&memory);
    {
        HD_SCOPE;
        hd_tensor *x = hd_ones(HD_FLOAT32, 2);
        hd_optim *o = hd_sgd_new(hd_list_of(hd_parameter(x, true)), NULL);
        hd_one_cycle_options c = hd_one_cycle_defaults();
        c.total_steps = 10;
        c.pct_start = 0.1;
        memory.left = 0;
        memory.once = false;
        ck_assert_ptr_null(hd_dropout(x, 1e-7 - 1, true));
        ck_error(HD_VALUE, "hd_dropout: p -0.9999999: expected 0 to 1");
        ck_assert_ptr_null(hd_normal_(x, 0, -1));
        ck_error(HD_VALUE, "hd_normal_: std -1.0: expected 0 or more");
        memory.left = 2; /* the schedule's own blocks */
        ck_assert_ptr_null(hd_one_cycle_new(o, &c));
        ck_error(HD_VALUE,
                 "hd_one_cycle_new: pct_start 0.1, total_steps 10: a phase of the cycle has no "
                 "length: it begins and ends at step 0. Choose another pct_start or total_steps");
        memory.left = -1;
        hd_optim_free(o);
    }
    ck_assert_int_eq(memory.blocks, 0);
    scarce_end();
}
END_TEST

Suite *suite_messages(void)
{
    const TTest *const tests[] = {messages_need_no_memory};
    return SUITE_OF("messages", tests);
}
