/* test_unregistered.c - the warning of a parameter that a constructor made and did not register,
 * and right programs that look like it. */
#include "suites.h"

#include "support/warnings.h"

enum { STEPS = 4 };

typedef struct net {
    hd_module base;
    hd_module *head, *other;
    hd_tensor *scale; /* (1,) */
} net;

static hd_tensor *net_forward(hd_module *self, hd_tensor *x) /* x (b, 3) */
{
    net *m = (net *)self;
    hd_tensor *y = hd_forward(m->head, x); /* (b, 3) */
    y = m->other ? hd_forward(m->other, y) : y;
    return m->scale ? hd_mul(y, m->scale) : y;
}

static net *net_begin(const hd_module_type *type)
{
    net *m = (net *)hd_module_new(type);
    hd_register_module(&m->base, "head", &m->head, hd_linear_new(3, 3, true));
    return m;
}

/* The generator is registered, and trains first; the optimizer of the discriminator comes later. */
static void adversarial(net *m)
{
    hd_optim *o = hd_sgd_new(hd_module_parameters(m->head), NULL), *later = NULL;
    for (int i = 0; i < 2 * STEPS; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(o);
        hd_backward(hd_sum(hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3))));
        hd_optim_step(o);
        later = i == STEPS ? hd_sgd_new(hd_module_parameters(m->other), NULL) : later;
        ck_assert(!later || hd_optim_step(later));
        hd_module_zero_grad(m->other);
    }
    hd_optim_free(later);
    hd_optim_free(o);
}

/* A net whose features are compared, and which stays as it is. */
static void with_features(net *m)
{
    hd_optim *o = hd_sgd_new(hd_module_parameters(&m->base), NULL);
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(o);
        hd_backward(hd_sum(hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3))));
        hd_optim_step(o);
    }
    hd_optim_free(o);
}

START_TEST(children_that_are_not_registered_on_purpose)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward);
    void (*const runs[])(net *) = {adversarial, with_features};
    for (int i = 0; i < 2; i++) {
        net *m = net_begin(&type);
        m->other = hd_sequential(hd_linear_new(3, 3, true), hd_relu_new(false));
        ck_assert(hd_module_ready(&m->base));
        ck_no_warning(runs[i](m));
        hd_module_free(m->other);
        hd_module_free(&m->base);
    }
}
END_TEST

static void free_other(hd_module *self)
{
    hd_module_free(((net *)self)->other);
}

static net *with_scale(const hd_module_type *type, hd_tensor *scale)
{
    net *m = net_begin(type);
    m->scale = scale ? scale : hd_parameter(hd_ones(HD_FLOAT32, 1), true);
    return m;
}

START_TEST(a_parameter_is_not_registered)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward),
                                other = HD_MODULE_TYPE(net, "Other", net_forward);
    net *m = with_scale(&type, NULL);
    ck_warning(hd_module_ready(&m->base),
               "hd_module_ready: Net: its parameter (1,) is not registered: hd_module_parameters "
               "and files leave it out, and it is freed with its scope (hd_register_parameter)");
    net *others[] = {with_scale(&type, NULL), with_scale(&other, NULL), with_scale(&type, NULL)};
    ck_no_warning(hd_module_ready(&m->base));
    ck_no_warning(hd_module_ready(&others[0]->base));
    ck_warning(hd_module_ready(&others[1]->base),
               "hd_module_ready: Other: its parameter (1,) is not registered: hd_module_parameters "
               "and files leave it out, and it is freed with its scope (hd_register_parameter)");
    ck_no_warning(hd_module_ready(&others[2]->base)); /* two types in turn */
    hd_module_free(&m->base);
    for (int i = 0; i < 3; i++) {
        hd_module_free(&others[i]->base);
    }
}
END_TEST

START_TEST(parameters_that_are_not_registered_on_purpose)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward),
                                frees = HD_MODULE_TYPE(net, "Net", net_forward, free_other);
    hd_tensor *shared = hd_parameter(hd_ones(HD_FLOAT32, 1), true); /* (1,) */
    net *given = with_scale(&type, shared), *frozen = with_scale(&type, NULL);
    net *kept = with_scale(&type, NULL), *owner = with_scale(&frees, NULL);
    net *tied = net_begin(&type), *registered = with_scale(&type, NULL);
    hd_requires_grad_(frozen->scale, false);
    hd_retain(kept->scale);
    tied->scale = hd_module_get_parameter(tied->head, "bias");
    hd_register_parameter(&registered->base, "scale", &registered->scale, registered->scale);
    net *all[] = {given, frozen, kept, owner, tied, registered};
    for (int i = 0; i < 6; i++) {
        ck_no_warning(hd_module_ready(&all[i]->base));
    }
    hd_release(kept->scale);
    for (int i = 0; i < 6; i++) {
        hd_module_free(&all[i]->base);
    }
}
END_TEST

Suite *suite_unregistered(void)
{
    const TTest *const tests[] = {
        children_that_are_not_registered_on_purpose,
        a_parameter_is_not_registered,
        parameters_that_are_not_registered_on_purpose,
    };
    return SUITE_OF("what is not registered", tests);
}
