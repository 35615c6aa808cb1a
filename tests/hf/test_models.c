/* test_models.c - tests of models made from a configuration. */
#include "suites.h"

START_TEST(an_odd_width_is_refused)
{
    hd_gpt2_config c = hd_gpt2_config_defaults();
    c.n_head = 5;
    ck_assert_ptr_null(hd_gpt2_new(&c));
    ck_error(HD_VALUE, "hd_gpt2_new: n_head 5 does not divide n_embd 768");
}
END_TEST

Suite *suite_models(void)
{
    const TTest *const tests[] = {an_odd_width_is_refused};
    return SUITE("models", tests);
}
