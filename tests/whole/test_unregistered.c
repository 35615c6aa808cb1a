/* test_unregistered.c - warnings of a child or a parameter that a constructor made and did not
 * register, and right programs that look like it. */
#include "suites.h"

#include "support/warnings.h"

enum { STEPS = 4 };

typedef struct net {
    hd_module base;
    hd_module *head, *other, *others[2];
    hd_tensor *scale; /* (1,) */
    bool no_grad, detached;
    hd_module **apart; /* the place of one that others hold, or NULL */
} net;

static hd_tensor *beside(const net *m, hd_module *other, hd_tensor *x) /* x (b, 3) */
{
    bool before = hd_set_grad_mode(hd_grad_mode() && !m->no_grad);
    hd_tensor *y = hd_forward(other, x); /* (b, 3) */
    hd_set_grad_mode(before);
    return m->detached ? hd_detach(y) : y;
}

static hd_tensor *net_forward(hd_module *self, hd_tensor *x) /* x (b, 3) */
{
    net *m = (net *)self;
    hd_tensor *y = hd_forward(m->head, x); /* (b, 3) */
    for (int i = 0; i < 2; i++) {
        y = m->others[i] ? hd_add(y, beside(m, m->others[i], x)) : y;
    }
    y = m->other ? hd_add(y, beside(m, m->other, x)) : y;
    y = m->apart ? hd_add(y, beside(m, *m->apart, x)) : y;
    return m->scale ? hd_mul(y, m->scale) : y;
}

static net *net_begin(const hd_module_type *type)
{
    net *m = (net *)hd_module_new(type);
    hd_register_module(&m->base, "head", &m->head, hd_linear_new(3, 3, true));
    return m;
}

static void run(net *m)
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

static void run_in_a_model(net *m)
{
    hd_module *model = hd_sequential(hd_linear_new(3, 3, true), &m->base);
    hd_optim *o = hd_sgd_new(hd_module_parameters(hd_module_get(model, "0")), NULL);
    hd_backward(hd_sum(hd_forward(model, hd_rand(HD_FLOAT32, 2, 3))));
    hd_optim_step(o);
    hd_forward(model, hd_rand(HD_FLOAT32, 2, 3));
    hd_optim_free(o);
    hd_module_free(model);
}

#define NOT_REGISTERED(type, child)                                                                \
    "hd_forward: " type ": its forward runs a " child " that is not registered: it is not "        \
    "trained, saved or freed (hd_register_module)"

START_TEST(a_child_is_not_registered)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward),
                                other = HD_MODULE_TYPE(net, "Other", net_forward);
    net *m = net_begin(&type), *same = net_begin(&type), *inner = net_begin(&other);
    m->other = hd_sequential(hd_linear_new(3, 3, true), hd_relu_new(false));
    ck_assert(hd_module_ready(&m->base));
    same->other = hd_sequential(hd_linear_new(3, 3, true));
    ck_assert(hd_module_ready(&same->base));
    inner->others[0] = inner->head; /* the field that is registered has it, too */
    inner->others[1] = hd_linear_new(3, 3, true);
    ck_assert(hd_module_ready(&inner->base));
    ck_warning(run(m), NOT_REGISTERED("Net", "Sequential"));
    ck_no_warning(run(m));
    ck_no_warning(run(same)); /* the same constructor */
    hd_module *last = inner->others[1];
    ck_warning(run_in_a_model(inner), NOT_REGISTERED("Other", "Linear"));
    hd_module_free(last);
    hd_module_free(m->other);
    hd_module_free(same->other);
    hd_module_free(&m->base);
    hd_module_free(&same->base);
}
END_TEST

static void free_other(hd_module *self)
{
    hd_module_free(((net *)self)->other);
}

/* The other modules of m were made by others, are trained by others, or are not trained. */
static void trained_elsewhere(net *m, hd_module *child)
{
    hd_optim *o = hd_sgd_new(hd_module_parameters(child), NULL);
    run(m);
    hd_optim_free(o);
}

static void evaluated(net *m)
{
    hd_optim *o = hd_sgd_new(hd_module_parameters(&m->base), NULL);
    hd_module_eval(&m->base);
    hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3));
    hd_module_train(&m->base, true);
    hd_module_eval(m->other);
    hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3));
    hd_module_train(m->other, true);
    HD_NO_GRAD;
    hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3));
    hd_optim_free(o);
}

START_TEST(children_that_are_not_registered_on_purpose)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward),
                                frees = HD_MODULE_TYPE(net, "Net", net_forward, free_other);
    hd_module *teacher = hd_linear_new(3, 3, true), *shared = hd_linear_new(3, 3, true);
    net *m = net_begin(&type), *owner = net_begin(&frees), *holder = net_begin(&type);
    m->other = teacher; /* made before */
    ck_assert(hd_module_ready(&m->base));
    ck_no_warning(run(m));
    ck_no_warning(trained_elsewhere(m, teacher)); /* two networks that train in turn */
    m->other = hd_linear_new(3, 3, true);         /* given after the constructor */
    ck_no_warning(run(m));
    hd_module_free(m->other);
    m->other = NULL;
    owner->other = hd_linear_new(3, 3, true); /* the type frees it */
    ck_assert(hd_module_ready(&owner->base));
    ck_no_warning(run(owner));
    hd_register_module(&holder->base, "other", &holder->other, shared);
    m->other = holder->others[0] = shared; /* it has a parent */
    ck_assert(hd_module_ready(&holder->base));
    ck_no_warning(run(m));
    ck_no_warning(run(holder));
    hd_module_free(&m->base);
    hd_module_free(&owner->base);
    hd_module_free(&holder->base);
    hd_module_free(teacher);
}
END_TEST

/* As in a step of meta-learning: no .grad is written. */
static void grads_of_all(net *m)
{
    hd_optim *o = hd_sgd_new(hd_module_parameters(&m->base), NULL);
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_tensor *y = hd_sum(hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3))); /* () */
        hd_grad_of(hd_list_of(y), hd_module_parameters(m->other), NULL, NULL);
    }
    hd_optim_free(o);
}

/* Trained by hand, without an optimizer. */
static void backwards(net *m)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_backward(hd_sum(hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3))));
    }
}

START_TEST(children_of_the_constructor_that_are_trained_by_hand)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward);
    net *m = net_begin(&type);
    m->other = hd_linear_new(3, 3, true);
    ck_assert(hd_module_ready(&m->base));
    ck_no_warning(backwards(m));
    hd_module_requires_grad_(m->other, false); /* from now on it stays as it is */
    ck_no_warning(run(m));
    hd_module_free(m->other);
    hd_module_free(&m->base);
}
END_TEST

START_TEST(children_of_the_constructor_that_are_not_trained_by_it)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward);
    net *m = net_begin(&type);
    m->other = hd_linear_new(3, 3, true);
    ck_assert(hd_module_ready(&m->base));
    ck_no_warning(hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3))); /* there is no optimizer */
    m->detached = true; /* a target network, which follows the other one */
    ck_no_warning(run(m));
    m->detached = false;
    m->no_grad = true; /* a teacher's usual call */
    ck_no_warning(run(m));
    m->no_grad = false;
    ck_no_warning(grads_of_all(m));
    ck_no_warning(trained_elsewhere(m, m->other));
    ck_no_warning(run(m)); /* in turn with the other optimizer, which is gone */
    ck_no_warning(evaluated(m));
    hd_module_requires_grad_(m->other, false);
    ck_no_warning(run(m));
    hd_module_requires_grad_(m->other, true);
    hd_module_free(m->other);
    m->other = NULL;
    hd_module *kept = hd_linear_new(3, 3, true); /* the program holds it, and not the struct */
    m->apart = &kept;
    ck_assert(hd_module_ready(&m->base));
    ck_no_warning(run(m));
    m->apart = NULL;
    hd_module_free(kept);
    m->other = hd_relu_new(false); /* nothing to train */
    ck_assert(hd_module_ready(&m->base));
    ck_no_warning(run(m));
    hd_module_free(m->other);
    hd_module_free(&m->base);
}
END_TEST

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
        a_child_is_not_registered,
        children_that_are_not_registered_on_purpose,
        children_of_the_constructor_that_are_trained_by_hand,
        children_of_the_constructor_that_are_not_trained_by_it,
        a_parameter_is_not_registered,
        parameters_that_are_not_registered_on_purpose,
    };
    return SUITE_OF("what is not registered", tests);
}
