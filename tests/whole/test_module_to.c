/* test_module_to.c - tests of hd_module_to while optimizers, hooks, views, graphs and other modules
 * hold the parameters. As in PyTorch, the parameters stay the same objects. */
#include "optimizers_made.h"
#include "suites.h"
#include "support/scarce.h"

#define OPTIM_NUMBER(kind, ...) OPTIM_##kind, OPTIM_##kind##_used,
enum { OPTIMIZERS(OPTIM_NUMBER) OPTIMS };

/* Each optimizer by its defaults, and with every state in use. */
static hd_optim *optim_new(int number, const hd_list *p)
{
#define OPTIM_NEW(kind, name, ...)                                                                 \
    if (number == OPTIM_##kind || number == OPTIM_##kind##_used) {                                 \
        hd_##kind##_options o = hd_##kind##_defaults();                                            \
        if (number == OPTIM_##kind##_used) {                                                       \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        return hd_##kind##_new(p, &o);                                                             \
    }
    OPTIMIZERS(OPTIM_NEW)
    return NULL;
}

static void step(hd_module *m, hd_optim *o, hd_dtype d)
{
    HD_SCOPE;
    hd_tensor *x = hd_to(hd_view(hd_arange(0, 6, 1), 2, 3), d); /* (2, 3) */
    ck_assert(hd_optim_zero_grad(o));
    ck_assert(hd_backward(hd_mean(hd_square(hd_forward(m, x)))));
    ck_assert(hd_optim_step(o));
}

/* The same state in a model and an optimizer that were of dtype d from the start. */
static void begin_in(hd_dtype d, int kind, hd_module *from, const hd_optim *o, hd_module **m,
                     hd_optim **copy)
{
    hd_dict *weights = hd_module_state_dict(from), *state = hd_dict_new();
    *m = hd_linear_new(3, 2, true);
    ck_assert(hd_module_to(*m, d) && hd_module_load_state_dict(*m, weights, true, NULL));
    *copy = optim_new(kind, hd_module_parameters(*m));
    ck_assert(hd_optim_save(o, state, "o") && hd_optim_load(*copy, state, "o"));
    hd_dict_free(weights);
    hd_dict_free(state);
}

static void ck_goes_on(int kind, hd_module *m, hd_optim *o, hd_dtype d)
{
    hd_module *other;
    hd_optim *copy;
    begin_in(d, kind, m, o, &other, &copy);
    for (int i = 0; i < 3; i++) {
        step(m, o, d);
        step(other, copy, d);
    }
    ck_assert(
        hd_equal(hd_module_get_parameter(m, "weight"), hd_module_get_parameter(other, "weight")));
    hd_optim_free(copy);
    hd_module_free(other);
}

START_TEST(every_optimizer_goes_on)
{
    for (int kind = 0; kind < OPTIMS; kind++) {
        hd_module *m = hd_linear_new(3, 2, true);
        hd_tensor *weight = hd_module_get_parameter(m, "weight");
        hd_optim *o = optim_new(kind, hd_module_parameters(m));
        step(m, o, HD_FLOAT32);
        step(m, o, HD_FLOAT32);
        ck_assert(hd_module_to(m, HD_FLOAT64));
        ck_assert_ptr_eq(hd_module_get_parameter(m, "weight"), weight);
        ck_assert_int_eq(hd_dtype_of(hd_grad(weight)), HD_FLOAT64);
        ck_goes_on(kind, m, o, HD_FLOAT64);
        ck_assert(hd_module_to(m, HD_FLOAT32)); /* and back */
        ck_goes_on(kind, m, o, HD_FLOAT32);
        hd_optim_free(o);
        hd_module_free(m);
    }
    ck_no_error();
}
END_TEST

/* A step for which memory runs out, while it converts the states of some parameters or later, can
 * be repeated. */
START_TEST(no_memory_for_the_states)
{
    scarce s = {.left = -1};
    int64_t failures = 0;
    scarce_use(&s);
    hd_module *m = hd_linear_new(3, 2, true);
    hd_optim *o = hd_adamw_new(hd_module_parameters(m), NULL);
    hd_tensor *weight = hd_module_get_parameter(m, "weight");
    step(m, o, HD_FLOAT32);
    ck_assert(hd_module_to(m, HD_FLOAT64));
    {
        HD_SCOPE;
        hd_tensor *before = hd_clone(hd_detach(weight)); /* (2, 3) */
        for (s.left = 0; !hd_optim_step(o); s.left = ++failures) {
            s.left = -1;
            ck_assert_int_eq(hd_error_code(), HD_MEMORY);
            hd_error_clear();
            ck_assert(hd_equal(weight, before));
        }
        s.left = -1;
        ck_assert(!hd_equal(weight, before));
    }
    ck_assert_int_gt(failures, 2);
    ck_goes_on(OPTIM_adamw, m, o, HD_FLOAT64);
    hd_optim_free(o);
    hd_module_free(m);
    hd_shutdown();
    scarce_end();
}
END_TEST

START_TEST(before_the_first_step)
{
    hd_module *m = hd_linear_new(3, 2, true), *other = hd_linear_new(3, 2, true);
    hd_module_to(other, HD_FLOAT64);
    hd_optim *o = hd_adamw_new(hd_module_parameters(m), NULL);
    ck_assert(hd_module_to(m, HD_FLOAT64));
    ck_goes_on(OPTIM_adamw, m, o, HD_FLOAT64);
    hd_optim_free(o);
    hd_module_free(m);
    hd_module_free(other);
}
END_TEST

START_TEST(shared_by_two_modules)
{
    hd_module *m = hd_linear_new(3, 3, false), *other = hd_linear_new(3, 3, false);
    hd_module *both = hd_sequential(hd_linear_new(3, 3, false), hd_linear_new(3, 3, false));
    hd_tensor *w = hd_module_get_parameter(both, "0.weight");
    ck_assert(hd_module_set_parameter(both, "1.weight", w));
    ck_assert(hd_module_set_parameter(m, "weight", w));
    ck_assert(hd_module_to(both, HD_FLOAT64));
    ck_assert_ptr_eq(hd_module_get_parameter(both, "0.weight"), w);
    ck_assert_ptr_eq(hd_module_get_parameter(both, "1.weight"), w);
    ck_assert_int_eq(hd_dtype_of(hd_module_get_parameter(m, "weight")), HD_FLOAT64);
    ck_assert_int_eq(hd_module_num_parameters(both, true), 9);
    hd_module_free(both);
    hd_module_free(m);
    hd_module_free(other);
}
END_TEST

static hd_tensor *note_dtype(hd_tensor *g, void *user)
{
    *(hd_dtype *)user = hd_dtype_of(g);
    return HD_NONE;
}

START_TEST(hooks_views_and_graphs)
{
    hd_module *m = hd_linear_new(3, 2, false);
    hd_tensor *w = hd_module_get_parameter(m, "weight"); /* (2, 3) */
    hd_tensor *row = hd_slice(w, 0, 0, 1), *alias = hd_detach(w), *x = hd_ones(HD_FLOAT32, 4, 3);
    hd_tensor *before = hd_clone(alias), *loss = hd_sum(hd_square(hd_forward(m, x)));
    hd_tensor *want = hd_mul_scalar(hd_matmul(hd_transpose(hd_forward(m, x), 0, 1), x), 2);
    hd_dtype seen = HD_INT64;
    hd_register_hook(w, note_dtype, &seen);
    ck_assert(hd_module_to(m, HD_FLOAT64));
    ck_assert(hd_dtype_of(row) == HD_FLOAT32 && hd_equal(alias, before));
    ck_assert(hd_equal(w, hd_to(before, HD_FLOAT64)));
    ck_assert(hd_backward(loss)); /* what the graph has saved is that of before */
    ck_assert(hd_equal(hd_grad(w), hd_to(hd_detach(want), HD_FLOAT64)));
    ck_assert_int_eq(seen, HD_FLOAT64);
    hd_set_grad(w, HD_NONE);
    ck_assert(hd_backward(hd_sum(row))); /* a view's gradient still goes to the parameter */
    ck_assert_double_eq(hd_item(hd_sum(hd_grad(w))), 3);
    {
        HD_NO_GRAD;
        ck_assert(hd_mul_scalar_(row, 2)); /* of the old memory alone */
    }
    ck_assert(hd_equal(w, hd_to(before, HD_FLOAT64)));
    ck_no_error();
    ck_assert_ptr_null(hd_exp(row));
    ck_error(HD_GRAD, "hd_exp: (1, 3) is a view of a parameter that hd_module_to has converted "
                      "since. Take the view again");
    hd_module_free(m);
}
END_TEST

/* A view of a frozen parameter may be changed with a graph; later it lies elsewhere. */
START_TEST(a_change_through_a_view)
{
    hd_module *m = hd_linear_new(3, 2, false);
    hd_tensor *w = hd_module_get_parameter(m, "weight"); /* (2, 3) */
    hd_requires_grad_(w, false);
    hd_tensor *row = hd_slice(w, 0, 1, 2), *x = hd_parameter(hd_ones(HD_FLOAT32, 1, 3), true);
    ck_assert(hd_module_to(m, HD_FLOAT64));
    ck_assert_ptr_null(hd_mul_(row, x));
    ck_error(HD_GRAD, "hd_mul_: (1, 3) is a view of a parameter that hd_module_to has converted "
                      "since. Take the view again");
    ck_assert(hd_mul_scalar_(row, 2));
    hd_module_free(m);
}
END_TEST

/* Tensors that hd_parameter did not make, which lie in one block with their first elements. */
typedef struct bare {
    hd_module base;
    hd_tensor *small, *large, *part;
} bare;

START_TEST(parameters_of_their_own_block)
{
    static const hd_module_type type = HD_MODULE_TYPE(bare, "Bare", NULL);
    for (int debug = 0; debug < 2; debug++) {
        hd_set_debug(debug);
        int64_t live = hd_bytes_live();
        bare *m = (bare *)hd_module_new(&type);
        {
            HD_SCOPE;
            hd_tensor *all = hd_ones(HD_FLOAT32, 4, 3);
            hd_tensor *small = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
            hd_tensor *large = hd_requires_grad_(hd_ones(HD_FLOAT32, 3, 1000), true);
            hd_tensor *part = hd_requires_grad_(hd_transpose(all, 0, 1), true); /* (3, 4) */
            hd_register_parameter(&m->base, "small", &m->small, small);
            hd_register_parameter(&m->base, "large", &m->large, large);
            hd_register_parameter(&m->base, "part", &m->part, part);
            for (int i = 0; i < 4; i++) {
                ck_assert(hd_module_to(&m->base, i % 2 ? HD_FLOAT32 : HD_FLOAT64));
                ck_assert(m->small == small && m->large == large && m->part == part);
                ck_assert_double_eq(hd_item(hd_sum(large)), 3000);
                ck_assert_double_eq(hd_item(hd_sum(part)), 12);
            }
        }
        ck_assert_double_eq(hd_item(hd_sum(m->small)), 2);
        hd_module_free(&m->base);
        ck_assert_int_le(hd_bytes_live() - live, 1024); /* results above */
    }
    hd_set_debug(false);
    ck_no_error();
}
END_TEST

static hd_tensor *convert(hd_tensor *g, void *user)
{
    (void)g;
    ck_assert(!hd_module_to(user, HD_FLOAT64));
    ck_error(HD_STATE,
             "hd_module_to: a backward runs on this thread. Call it before or after the backward");
    return HD_NONE;
}

START_TEST(what_is_refused)
{
    hd_module *m = hd_linear_new(3, 2, true);
    hd_tensor *w = hd_module_get_parameter(m, "weight"), *b = hd_module_get_parameter(m, "bias");
    hd_tensor *y = hd_forward(m, hd_ones(HD_FLOAT32, 4, 3));
    hd_register_hook(y, convert, m);
    ck_assert(hd_grad_of(hd_list_of(hd_sum(y)), hd_list_of(w), NULL, NULL));
    y = hd_forward(m, hd_ones(HD_FLOAT32, 4, 3));
    hd_register_hook(y, convert, m);
    ck_assert(hd_backward(hd_sum(y)));
    hd_requires_grad_(b, false);
    ck_assert(hd_mul_(b, hd_parameter(hd_ones(HD_FLOAT32, 2), true)));
    ck_assert(!hd_module_to(m, HD_FLOAT64));
    ck_error(HD_GRAD, "hd_module_to: Linear: a parameter (2,) is the result of an operation: "
                      "expected a leaf");
    ck_assert(hd_dtype_of(w) == HD_FLOAT32 && hd_dtype_of(hd_grad(w)) == HD_FLOAT32);
    hd_module_free(m);
}
END_TEST

Suite *suite_module_to(void)
{
    const TTest *const tests[] = {
        every_optimizer_goes_on,       no_memory_for_the_states, before_the_first_step,
        shared_by_two_modules,         hooks_views_and_graphs,   a_change_through_a_view,
        parameters_of_their_own_block, what_is_refused,
    };
    return SUITE_OF("hd_module_to", tests);
}
