/* test_grad_of.c - hd_grad_of: gradients that are returned and put into no .grad. */
#include "heed/autograd.h"
#include "leaf.h"
#include "suites.h"
#include "support/support.h"

START_TEST(grad_of_looks_at_its_options_size)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3);
    hd_list *y = hd_list_of(hd_mul(a, a)), *x = hd_list_of(a);
    hd_grad_options o = {.retain_graph = true};
    ck_assert_ptr_null(hd_grad_of(y, x, NULL, &o));
    ck_error(HD_VALUE, "hd_grad_of: o->size 0: expected 16, as hd_grad_defaults() gives");
    o.size = sizeof o + 8;
    ck_assert_ptr_null(hd_grad_of(y, x, NULL, &o));
    ck_error(HD_VALUE, "hd_grad_of: o->size 24: expected 16, as hd_grad_defaults() gives");
    o.size = sizeof o;
    ck_elements(hd_list_get(hd_grad_of(y, x, NULL, &o), 0), 6);
}
END_TEST

START_TEST(grad_of_leaves_grad_alone)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = LEAF(4), *m = hd_mul(a, b), *y = hd_mul(m, m);
    hd_grad_options o = hd_grad_defaults();
    o.retain_graph = true;
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(a, m), NULL, &o);
    ck_assert_int_eq(hd_list_len(g), 2);
    ck_elements(hd_list_get(g, 0), 96);
    ck_elements(hd_list_get(g, 1), 24);
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_assert_ptr_eq(hd_grad(b), HD_NONE);
    hd_tensor *apart = LEAF(1);
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(a, apart), NULL, &o));
    ck_error(HD_GRAD, "hd_grad_of: input 1 of (1,): the outputs do not depend on it; allow_unused "
                      "gives HD_NONE there");
    o.allow_unused = true;
    g = hd_grad_of(hd_list_of(y, a), hd_list_of(a, apart), NULL, &o);
    ck_elements(hd_list_get(g, 0), 97);
    ck_assert_ptr_eq(hd_list_get(g, 1), HD_NONE);
    ck_assert(hd_backward(y)); /* the graph was retained */
    ck_elements(hd_grad(a), 96);
}
END_TEST

static hd_tensor *five_times(hd_tensor *grad, void *user)
{
    ++*(int *)user;
    return hd_mul_scalar(grad, 5);
}

/* torch: 5 for y itself, and 10 for a leaf with a hook */
START_TEST(grad_of_what_has_a_hook)
{
    HD_SCOPE;
    int calls = 0;
    hd_tensor *x = LEAF(1), *y = hd_mul_scalar(x, 3), *z = LEAF(1);
    hd_register_hook(y, five_times, &calls);
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(y), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 5);
    ck_assert_int_eq(calls, 1);
    g = hd_grad_of(hd_list_of(y, y), hd_list_of(y), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 10);
    ck_assert_int_eq(calls, 2);
    hd_register_hook(z, five_times, &calls);
    g = hd_grad_of(hd_list_of(hd_mul_scalar(z, 2)), hd_list_of(z), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 10);
    g = hd_grad_of(hd_list_of(z), hd_list_of(z), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 5);
    ck_no_error();
}
END_TEST

Suite *suite_grad_of(void)
{
    const TTest *const tests[] = {
        grad_of_looks_at_its_options_size,
        grad_of_leaves_grad_alone,
        grad_of_what_has_a_hook,
    };
    return SUITE_OF("grad_of", tests);
}
