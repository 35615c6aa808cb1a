/* test_stale_gradients.c - tests of the warnings about mistakes in a training: each mistake gives
 * one warning, and a correct program that looks similar gives none. */
#include "suites.h"

#include "support/warnings.h"

enum { STEPS = 4 };

typedef struct training {
    hd_module *model; /* (n, 3) to (n, 2) */
    hd_optim *o;
} training;

static hd_module *model_new(void)
{
    return hd_sequential(hd_linear_new(3, 4, true), hd_relu_new(false), hd_linear_new(4, 2, true));
}

static training begin(void)
{
    hd_manual_seed(1);
    training t = {.model = model_new()};
    t.o = hd_adamw_new(hd_module_parameters(t.model), NULL);
    ck_no_error();
    return t;
}

static void end(const training *t)
{
    hd_optim_free(t->o);
    hd_module_free(t->model);
    ck_no_error();
}

static hd_tensor *loss_of(hd_module *model)
{
    return hd_mean(hd_square(hd_forward(model, hd_rand(HD_FLOAT32, 5, 3)))); /* () */
}

/* ---------------------------------------------------------------- gradients used already */

static void without_zero_grad(const training *t, int steps)
{
    for (int i = 0; i < steps; i++) {
        HD_SCOPE;
        hd_backward(loss_of(t->model));
        hd_optim_step(t->o);
    }
}

#define USED(counts)                                                                               \
    "hd_optim_step: " counts                                                                       \
    " gradients still contain those of the last step, because hd_backward has added to them. "     \
    "Call hd_optim_zero_grad once for each step, before its first hd_backward"

START_TEST(zero_grad_is_forgotten)
{
    training t = begin();
    ck_no_warning(without_zero_grad(&t, 1));
    hd_optim_zero_grad(t.o);
    ck_warning(without_zero_grad(&t, STEPS), USED("4 of 4"));
    end(&t);
}
END_TEST

static void clipped(const training *t, bool by_value)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_list *parameters = hd_module_parameters(t->model);
        hd_backward(loss_of(t->model));
        ck_assert(by_value ? hd_clip_grad_value_(parameters, 1e-4)
                           : hd_clip_grad_norm_(parameters, 1e-4, 2, true) > 0);
        hd_optim_step(t->o);
    }
}

START_TEST(zero_grad_is_forgotten_where_gradients_are_clipped)
{
    for (int by_value = 0; by_value < 2; by_value++) {
        training t = begin();
        ck_warning(clipped(&t, by_value), USED("4 of 4"));
        end(&t);
    }
}
END_TEST

static void zero_of_one_layer(const training *t)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_module_zero_grad(hd_module_get(t->model, "2"));
        hd_backward(loss_of(t->model));
        hd_optim_step(t->o);
    }
}

START_TEST(zero_grad_of_another_module)
{
    training t = begin();
    ck_warning(zero_of_one_layer(&t), USED("2 of 4"));
    end(&t);
}
END_TEST

static void mistake_twice(const training *t)
{
    without_zero_grad(t, STEPS);
    hd_optim_zero_grad(t->o);
    without_zero_grad(t, STEPS);
}

/* The second step of each round goes on from the first one's gradients. */
static void half_steps(const training *t)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(t->o);
        without_zero_grad(t, 2);
    }
}

START_TEST(once_for_each_optimizer)
{
    training t = begin(), other = begin();
    ck_warning(mistake_twice(&t), USED("4 of 4"));
    ck_warning(half_steps(&other), USED("4 of 4"));
    ck_no_warning(mistake_twice(&t));
    end(&t);
    end(&other);
}
END_TEST

static void accumulated(const training *t)
{
    for (int i = 0; i < 4 * STEPS; i++) {
        HD_SCOPE;
        hd_backward(hd_div_scalar(loss_of(t->model), 4));
        if (i % 4 == 3) {
            hd_clip_grad_norm_(hd_module_parameters(t->model), 1e-4, 2, true);
            hd_optim_step(t->o);
            hd_optim_zero_grad(t->o);
        }
    }
}

static void steps_without_backward(const training *t)
{
    hd_backward(loss_of(t->model));
    for (int i = 0; i < STEPS; i++) {
        hd_optim_step(t->o);
    }
}

/* Also between two backwards of one step, where the first has added to what a step used. */
static void zeroed_in_place(const training *t, bool between)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_list *parameters = hd_module_parameters(t->model);
        if (between) {
            hd_backward(loss_of(t->model));
        }
        for (int64_t k = 0; k < hd_list_len(parameters); k++) {
            hd_tensor *g = hd_grad(hd_list_get(parameters, k));
            if (g != HD_NONE) {
                hd_zero_(g);
            }
        }
        hd_backward(loss_of(t->model));
        hd_optim_step(t->o);
    }
}

/* Zeroed by pointers that the program has got once. */
static void zeroed_by_pointer(const training *t)
{
    hd_list *parameters = hd_module_parameters(t->model);
    float *zero[4] = {0};
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        for (int64_t k = 0; k < 4 && zero[k]; k++) {
            memset(zero[k], 0, (size_t)hd_numel(hd_list_get(parameters, k)) * sizeof(float));
        }
        hd_backward(loss_of(t->model));
        for (int64_t k = 0; k < 4 && !zero[k]; k++) {
            zero[k] = hd_data_mut(hd_grad(hd_list_get(parameters, k)));
        }
        hd_optim_step(t->o);
    }
}

/* One layer takes each step, and the other the sum of four: its lr is 0 meanwhile. */
static void every_fourth(void)
{
    hd_module *model = model_new();
    hd_optim *o = hd_sgd_new(hd_module_parameters(hd_module_get(model, "0")), NULL);
    hd_optim_add_group(o, hd_module_parameters(hd_module_get(model, "2")), NULL);
    for (int i = 0; i < 4 * STEPS; i++) {
        HD_SCOPE;
        hd_optim_group_set_lr(o, 1, i % 4 == 3 ? 0.1 : 0);
        hd_backward(loss_of(model));
        hd_optim_step(o);
        hd_module_zero_grad(i % 4 == 3 ? model : hd_module_get(model, "0"));
    }
    hd_optim_free(o);
    hd_module_free(model);
}

/* A gradient of the program's own, in the place of what backward has added up. */
static void written_in_place(const training *t, bool clips)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_list *parameters = hd_module_parameters(t->model);
        hd_backward(loss_of(t->model));
        for (int64_t k = 0; k < hd_list_len(parameters); k++) {
            hd_tensor *g = hd_grad(hd_list_get(parameters, k));
            hd_copy_(g, hd_rand_like(g, HD_FLOAT32));
        }
        ck_assert(!clips || hd_clip_grad_value_(parameters, 1e-4));
        hd_optim_step(t->o);
    }
}

static void set_between(const training *t)
{
    hd_tensor *p = hd_module_get_parameter(t->model, "0.weight");
    hd_module_freeze(hd_module_get(t->model, "2"), "");
    hd_module_freeze(t->model, "0.bias");
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_set_grad(p, hd_mul_scalar(hd_rand_like(p, HD_FLOAT32), 0.5));
        hd_backward(loss_of(t->model));
        hd_optim_step(t->o);
    }
}

START_TEST(gradients_that_are_fresh_or_kept_on_purpose)
{
    training t = begin();
    ck_no_warning(accumulated(&t));
    ck_no_warning(steps_without_backward(&t));
    hd_optim_zero_grad(t.o);
    ck_no_warning(zeroed_in_place(&t, false));
    ck_no_warning(zeroed_in_place(&t, true));
    hd_optim_zero_grad(t.o);
    ck_no_warning(written_in_place(&t, false));
    hd_optim_zero_grad(t.o);
    ck_no_warning(written_in_place(&t, true));
    hd_optim_zero_grad(t.o);
    ck_no_warning(zeroed_by_pointer(&t));
    hd_optim_zero_grad(t.o);
    ck_no_warning(set_between(&t));
    end(&t);
    ck_no_warning(every_fourth());
}
END_TEST

static void step_zeroed(const training *t, hd_optim *o)
{
    hd_optim_zero_grad(o);
    hd_backward(loss_of(t->model));
    hd_optim_step(o);
}

/* One optimizer takes the steps in turn with the other; then both take each. */
static void two_optimizers(const training *t, hd_optim *other)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        step_zeroed(t, i % 2 ? other : t->o);
    }
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        step_zeroed(t, t->o);
        hd_optim_step(other);
    }
}

/* Each optimizer has a part, and takes what two backwards have added up, in turn. */
static void parts_in_turn(const training *t, hd_optim *first, hd_optim *last)
{
    hd_optim_zero_grad(first);
    hd_optim_zero_grad(last);
    for (int i = 0; i < 2 * STEPS; i++) {
        HD_SCOPE;
        hd_optim *o = i % 2 ? last : first;
        hd_backward(loss_of(t->model));
        hd_optim_step(o);
        hd_optim_zero_grad(o);
    }
}

START_TEST(two_optimizers_on_one_model)
{
    training t = begin();
    hd_optim *other = hd_sgd_new(hd_module_parameters(t.model), NULL);
    hd_optim *first = hd_sgd_new(hd_module_parameters(hd_module_get(t.model, "0")), NULL);
    hd_optim *last = hd_sgd_new(hd_module_parameters(hd_module_get(t.model, "2")), NULL);
    ck_no_warning(two_optimizers(&t, other));
    ck_no_warning(parts_in_turn(&t, first, last));
    hd_optim_free(other);
    hd_optim_free(first);
    hd_optim_free(last);
    end(&t);
}
END_TEST

/* The generator's backward adds to the discriminator's gradients, which its next step zeroes. */
static void play(const training *generator, const training *discriminator)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_tensor *made = hd_forward(generator->model, hd_rand(HD_FLOAT32, 5, 3)); /* (5, 2) */
        hd_tensor *pad = hd_cat(1, made, hd_zeros(HD_FLOAT32, 5, 1));              /* (5, 3) */
        hd_optim_zero_grad(discriminator->o);
        hd_backward(hd_add(hd_mean(hd_forward(discriminator->model, hd_detach(pad))),
                           loss_of(discriminator->model)));
        hd_optim_step(discriminator->o);
        hd_optim_zero_grad(generator->o);
        hd_backward(hd_neg(hd_mean(hd_forward(discriminator->model, pad))));
        hd_optim_step(generator->o);
    }
}

START_TEST(a_generator_and_a_discriminator)
{
    training generator = begin(), discriminator = begin();
    ck_no_warning(play(&generator, &discriminator));
    end(&generator);
    end(&discriminator);
}
END_TEST

/* Several backwards look for one step, as a line search does; and the graph is used twice. */
static void search(const training *t)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        for (int trial = 0; trial < 3; trial++) {
            hd_tensor *loss = loss_of(t->model); /* () */
            hd_optim_zero_grad(t->o);
            hd_backward_with(loss, HD_NONE, true);
            hd_backward(loss);
        }
        hd_optim_step(t->o);
    }
}

/* The state is loaded, and layers are frozen and thawed, between the steps. */
static void interrupted(const training *t, bool by_module)
{
    hd_dict *d = hd_dict_new();
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        by_module ? hd_module_zero_grad(t->model) : hd_optim_zero_grad(t->o);
        hd_backward(loss_of(t->model));
        hd_optim_step(t->o);
        hd_optim_save(t->o, d, "o");
        hd_optim_load(t->o, d, "o");
        hd_tensor *w = hd_module_get_parameter(t->model, "0.weight");
        hd_requires_grad_(w, i % 2);
    }
    hd_dict_free(d);
}

static void tied(hd_module *model, hd_optim *o)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(o);
        hd_backward(hd_sum(hd_forward(model, hd_rand(HD_FLOAT32, 5, 3))));
        hd_optim_step(o);
    }
}

START_TEST(other_loops_that_zero)
{
    training t = begin();
    ck_no_warning(search(&t));
    ck_no_warning(interrupted(&t, false));
    ck_no_warning(interrupted(&t, true));
    end(&t);
    hd_module *model = hd_sequential(hd_linear_new(3, 3, true), hd_linear_new(3, 3, true));
    hd_module_set_parameter(model, "1.weight", hd_module_get_parameter(model, "0.weight"));
    hd_optim *o = hd_sgd_new(hd_module_parameters(model), NULL);
    ck_no_warning(tied(model, o));
    hd_optim_free(o);
    hd_module_free(model);
}
END_TEST

/* ---------------------------------------------------------------- a step for nothing */

static void train(hd_module *model, hd_optim *o)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(o);
        hd_backward(loss_of(model));
        hd_optim_step(o);
    }
}

/* The model is trained by hand, beside an optimizer whose steps are left out. */
static void by_hand(hd_module *model)
{
    HD_SCOPE;
    hd_module_zero_grad(model);
    hd_backward(loss_of(model));
    HD_NO_GRAD;
    hd_list *parameters = hd_module_parameters(model);
    for (int64_t k = 0; k < hd_list_len(parameters); k++) {
        hd_tensor *p = hd_list_get(parameters, k);
        hd_sub_(p, hd_mul_scalar(hd_grad(p), 0.01));
    }
}

static void in_another_order(const training *t, bool step_first, int steps)
{
    for (int i = 0; i < steps; i++) {
        HD_SCOPE;
        hd_tensor *loss = loss_of(t->model);
        if (step_first) {
            hd_optim_zero_grad(t->o);
            hd_optim_step(t->o);
            hd_backward(loss);
        } else {
            hd_backward(loss);
            hd_optim_zero_grad(t->o);
            hd_optim_step(t->o);
        }
    }
}

#define IN_VAIN                                                                                    \
    "hd_optim_step: none of the last 10 steps found a gradient, because the gradients of "         \
    "hd_backward were freed before the step. Call hd_optim_zero_grad before hd_backward, and "     \
    "hd_optim_step after it"

START_TEST(a_step_after_zero_grad)
{
    for (int step_first = 0; step_first < 2; step_first++) {
        training t = begin();
        ck_no_warning(in_another_order(&t, step_first, 9 + step_first));
        ck_warning(in_another_order(&t, step_first, 1), IN_VAIN);
        ck_no_warning(in_another_order(&t, step_first, 30));
        end(&t);
    }
    training t = begin();
    ck_no_warning(in_another_order(&t, false, 9));
    ck_no_warning(train(t.model, t.o));
    ck_no_warning(in_another_order(&t, false, 20));
    end(&t);
}
END_TEST

/* A batch is left out after backward, and its step is not; the first batch too. */
static void batch_left_out(const training *t, hd_tensor *x) /* x (5, 3), requires grad */
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_backward(hd_mean(hd_forward(t->model, x)));
        hd_optim_zero_grad(t->o);
        hd_optim_step(t->o);
    }
}

static void steps_before_any_backward(const training *t)
{
    hd_optim_step(t->o);
    hd_optim_zero_grad(t->o);
    hd_optim_step(t->o);
    train(t->model, t->o);
    hd_optim_zero_grad(t->o);
    hd_optim_step(t->o);
}

/* An optimizer steps before its first backward, after other gradients were written; and its layer
 * is cut off for two steps. */
static void after_a_training(const training *t, hd_module *head)
{
    hd_optim_step(t->o);
    by_hand(head);
    hd_optim_step(t->o);
    by_hand(head);
    hd_optim_step(t->o);
    train(t->model, t->o);
}

/* The optimizer's layer is frozen, or thaws later. */
static void frozen(const training *t, hd_module *head, int steps)
{
    hd_module_freeze(t->model, "");
    for (int i = 0; i < steps; i++) {
        by_hand(head);
        hd_optim_step(t->o);
    }
}

START_TEST(steps_for_nothing_that_are_right)
{
    training t = begin();
    hd_tensor *x = hd_requires_grad_(hd_rand(HD_FLOAT32, 5, 3), true); /* (5, 3) */
    ck_no_warning(batch_left_out(&t, x));
    ck_no_warning(steps_before_any_backward(&t));
    end(&t);
    training thawed = begin();
    hd_module *head = model_new();
    ck_no_warning(frozen(&thawed, head, STEPS));
    end(&thawed);
    training later = begin();
    ck_no_warning(after_a_training(&later, head));
    end(&later);
    hd_module_free(head);
}
END_TEST

#define FROZEN                                                                                     \
    "hd_optim_step: none of the last 10 steps found a gradient, because none of the optimizer's "  \
    "4 parameters requires grad. Create the optimizer after hd_lora_apply and hd_module_freeze, "  \
    "with the parameters that train"

START_TEST(an_optimizer_made_before_the_freeze)
{
    training t = begin();
    hd_module *head = model_new();
    ck_no_warning(frozen(&t, head, 9));
    ck_warning(frozen(&t, head, 1), FROZEN);
    ck_no_warning(frozen(&t, head, 30));
    end(&t);
    hd_module_free(head);
}
END_TEST

/* A second optimizer comes and goes, which ends the count of the first one's steps. */
static void another_for_a_while(const training *t)
{
    training other = begin();
    in_another_order(t, false, 1);
    hd_module_freeze(t->model, "");
    hd_optim_step(t->o);
    hd_module_requires_grad_(t->model, true);
    end(&other);
}

/* Each warning comes once for each optimizer, and when one cause had ten steps in a row. */
START_TEST(steps_in_vain_for_two_causes)
{
    training t = begin();
    hd_module *head = model_new();
    ck_no_warning(frozen(&t, head, 9));
    hd_module_requires_grad_(t.model, true);
    ck_no_warning(in_another_order(&t, false, 9));
    ck_no_warning(frozen(&t, head, 9));
    hd_module_requires_grad_(t.model, true);
    ck_no_warning(in_another_order(&t, false, 9));
    ck_warning(in_another_order(&t, false, 1), IN_VAIN);
    ck_no_warning(another_for_a_while(&t));
    ck_no_warning(in_another_order(&t, false, 30));
    ck_no_warning(frozen(&t, head, 9));
    ck_warning(frozen(&t, head, 1), FROZEN);
    hd_module_requires_grad_(t.model, true);
    ck_no_warning(another_for_a_while(&t));
    ck_no_warning(in_another_order(&t, false, 30));
    ck_no_warning(frozen(&t, head, 30));
    end(&t);
    hd_module_free(head);
}
END_TEST

/* A step between them had no backward, so that the cause is not that of all ten. */
START_TEST(a_step_in_vain_without_a_backward)
{
    training t = begin();
    ck_no_warning(in_another_order(&t, false, 9));
    ck_no_warning(hd_optim_step(t.o));
    ck_no_warning(in_another_order(&t, false, 9));
    ck_warning(in_another_order(&t, false, 1), IN_VAIN);
    end(&t);
}
END_TEST

/* A phase in which all is frozen, behind another one; beside a gradient of one's own; and beside an
 * optimizer that trains; and a phase in which a part is. */
START_TEST(what_is_frozen_on_purpose)
{
    training t = begin();
    hd_module *head = model_new();
    ck_no_warning(train(t.model, t.o));
    ck_no_warning(frozen(&t, head, 30));
    end(&t);
    training given = begin();
    hd_set_grad(hd_module_get_parameter(given.model, "0.bias"), hd_ones(HD_FLOAT32, 4));
    ck_no_warning(frozen(&given, head, 30));
    end(&given);
    training first = begin(), other = begin();
    ck_no_warning(frozen(&first, head, 30));
    end(&first);
    hd_module_freeze(other.model, "0");
    ck_no_warning(train(other.model, other.o));
    end(&other);
    hd_module_free(head);
}
END_TEST

/* The second optimizer has not stepped when the first one does. */
static void in_turn(const training *t, const training *other)
{
    train(other->model, other->o);
    hd_optim_step(t->o);
    train(t->model, t->o);
}

/* Gradients that are no backward's: a formula's, and those of hd_grad_of. */
static void given(const training *t)
{
    HD_SCOPE;
    hd_list *p = hd_list_of(hd_module_get_parameter(t->model, "0.weight"));
    hd_list *g = hd_grad_of(hd_list_of(loss_of(t->model)), p, NULL, NULL);
    hd_set_grads(p, g);
    hd_optim_step(t->o);
}

START_TEST(other_networks_and_gradients_of_ones_own)
{
    training t = begin(), other = begin();
    ck_no_warning(in_turn(&t, &other));
    end(&other);
    training alone = begin();
    ck_no_warning(given(&alone));
    end(&alone);
    end(&t);
}
END_TEST

/* ---------------------------------------------------------------- right programs of other kinds */

/* The body is trained by hand at first; the head, which alone has an optimizer, enters the loss
 * later. */
static void late_head(const training *head, hd_module *body)
{
    for (int i = 0; i < 8 * STEPS; i++) {
        HD_SCOPE;
        hd_tensor *h = hd_forward(body, hd_rand(HD_FLOAT32, 5, 3)); /* (5, 3) */
        hd_tensor *loss = hd_mean(hd_square(h));                    /* () */
        if (i >= 6 * STEPS) {
            loss = hd_add(loss, hd_mean(hd_square(hd_forward(head->model, h))));
        }
        hd_optim_zero_grad(head->o);
        hd_backward(loss);
        hd_optim_step(head->o);
    }
}

START_TEST(a_head_that_enters_the_loss_late)
{
    training head = begin();
    hd_module *body = hd_linear_new(3, 3, true);
    ck_no_warning(late_head(&head, body));
    hd_module_free(body);
    end(&head);
}
END_TEST

/* Each layer is left out of some steps, and all are left out of the first ones. */
static void stochastic_depth(const training *t, hd_tensor *x) /* x (5, 3), requires grad */
{
    for (int i = 0; i < 8 * STEPS; i++) {
        HD_SCOPE;
        hd_tensor *y = i < 5 * STEPS || i % 3 == 0 ? x : hd_forward(t->model, x);
        hd_optim_zero_grad(t->o);
        hd_backward(hd_mean(hd_square(y)));
        hd_optim_step(t->o);
    }
}

START_TEST(no_layer_in_the_first_steps)
{
    training t = begin();
    ck_no_warning(stochastic_depth(&t, hd_requires_grad_(hd_rand(HD_FLOAT32, 5, 3), true)));
    end(&t);
}
END_TEST

/* Each step begins at the first weights, and goes along the sum of all gradients. */
static void dual_averaging(const training *t)
{
    hd_list *parameters = hd_module_parameters(t->model), *first = hd_list_n(0, NULL);
    for (int64_t k = 0; k < hd_list_len(parameters); k++) {
        ck_assert(hd_list_append(first, hd_clone(hd_detach(hd_list_get(parameters, k)))));
    }
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_backward(loss_of(t->model));
        {
            HD_NO_GRAD;
            for (int64_t k = 0; k < hd_list_len(parameters); k++) {
                hd_copy_(hd_list_get(parameters, k), hd_list_get(first, k));
            }
        }
        hd_optim_step(t->o);
    }
}

START_TEST(the_sum_of_all_gradients)
{
    training t = begin();
    ck_no_warning(dual_averaging(&t));
    hd_optim_zero_grad(t.o);
    ck_warning(without_zero_grad(&t, STEPS), USED("4 of 4"));
    end(&t);
}
END_TEST

/* ---------------------------------------------------------------- the suite */

Suite *suite_stale_gradients(void)
{
    const TTest *const tests[] = {
        zero_grad_is_forgotten,
        zero_grad_is_forgotten_where_gradients_are_clipped,
        zero_grad_of_another_module,
        once_for_each_optimizer,
        gradients_that_are_fresh_or_kept_on_purpose,
        two_optimizers_on_one_model,
        a_generator_and_a_discriminator,
        other_loops_that_zero,
        a_step_after_zero_grad,
        steps_for_nothing_that_are_right,
        an_optimizer_made_before_the_freeze,
        steps_in_vain_for_two_causes,
        a_step_in_vain_without_a_backward,
        what_is_frozen_on_purpose,
        other_networks_and_gradients_of_ones_own,
        a_head_that_enters_the_loss_late,
        no_layer_in_the_first_steps,
        the_sum_of_all_gradients,
    };
    return SUITE_OF("mistakes", tests);
}
