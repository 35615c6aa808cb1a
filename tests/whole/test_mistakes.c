/* test_mistakes.c - warnings of mistakes in a training: each mistake gives one, and right programs
 * that look like it give none. */
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
    "hd_optim_step: " counts " gradients are those of the last step, to which hd_backward has "    \
    "added: call hd_optim_zero_grad once for each step, before its first hd_backward"

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

#define EMPTY                                                                                      \
    "hd_optim_step: none of the 4 parameters has a gradient, and hd_backward gave one to other "   \
    "tensors: expected an optimizer of the parameters that the loss comes from "                   \
    "(hd_module_parameters)"

static void train(hd_module *model, hd_optim *o)
{
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(o);
        hd_backward(loss_of(model));
        hd_optim_step(o);
    }
}

START_TEST(an_optimizer_of_other_parameters)
{
    training t = begin();
    hd_module *trained = model_new();
    ck_warning(train(trained, t.o), EMPTY);
    end(&t);
    hd_module_free(trained);
}
END_TEST

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
    "hd_optim_step: none of the last 10 steps found a gradient, because those that hd_backward "   \
    "gave were freed before: expected hd_optim_zero_grad, hd_backward and hd_optim_step in this "  \
    "order"

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

/* The optimizer's layer thaws later. */
static void thawed_later(const training *t, hd_module *head)
{
    hd_module_freeze(t->model, "");
    for (int i = 0; i < STEPS; i++) {
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
    training frozen = begin();
    hd_module *head = model_new();
    ck_no_warning(thawed_later(&frozen, head));
    end(&frozen);
    training later = begin();
    ck_no_warning(after_a_training(&later, head));
    end(&later);
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

/* ---------------------------------------------------------------- softmax before the loss */

static hd_tensor *scores(int64_t n, int64_t c) /* (n, c), requires grad */
{
    return hd_requires_grad_(hd_rand(HD_FLOAT32, n, c), true);
}

static hd_tensor *labels(int64_t n) /* (n,) */
{
    return hd_zeros(HD_INT64, n);
}

#define SOFTMAX(shape, classes)                                                                    \
    "hd_cross_entropy: x " shape " is what hd_softmax over the " classes " classes gave, and the " \
    "loss does a softmax of its own, so that the model hardly learns: expected what went into "    \
    "hd_softmax"

static void classify(int64_t classes)
{
    for (int i = 0; i < STEPS; i++) {
        hd_cross_entropy(hd_softmax(scores(4, classes), -1), labels(4));
    }
}

START_TEST(softmax_into_the_loss)
{
    ck_warning(classify(6), SOFTMAX("(4, 6)", "6"));
    ck_no_warning(classify(6));
    ck_warning(classify(7), SOFTMAX("(4, 7)", "7")); /* another model */
    ck_warning(hd_cross_entropy(hd_softmax(hd_select(scores(4, 8), 0, 0), 0), labels(1)),
               SOFTMAX("(8,)", "8"));
    ck_no_warning((classify(6), classify(7))); /* two heads in turn */
}
END_TEST

static hd_tensor *in_the_middle(int64_t t, int64_t c, int dim) /* (2, t, c), softmax over dim */
{
    return hd_softmax(hd_requires_grad_(hd_rand(HD_FLOAT32, 2, t, c), true), dim);
}

START_TEST(views_of_a_softmax)
{
    warnings_expected();
    classify(9); /* nobody hears it */
    ck_warning(classify(9), SOFTMAX("(4, 9)", "9"));
    ck_warning(hd_cross_entropy(hd_flatten(in_the_middle(3, 10, 2), 0, 1), labels(6)),
               SOFTMAX("(6, 10)", "10"));
    ck_warning(hd_cross_entropy(in_the_middle(11, 5, 1), hd_zeros(HD_INT64, 2, 5)),
               SOFTMAX("(2, 11, 5)", "11"));
    ck_warning(
        hd_cross_entropy(hd_transpose(in_the_middle(3, 12, 2), 1, 2), hd_zeros(HD_INT64, 2, 3)),
        SOFTMAX("(2, 12, 3)", "12"));
    ck_warning(hd_cross_entropy(hd_select(in_the_middle(13, 5, 1), 2, -1), labels(2)),
               SOFTMAX("(2, 13)", "13"));
    ck_warning(hd_cross_entropy(hd_select(in_the_middle(3, 14, 2), 1, -1), labels(2)),
               SOFTMAX("(2, 14)", "14"));
    ck_warning(
        hd_cross_entropy(hd_narrow(in_the_middle(15, 5, 1), 2, 1, 2), hd_zeros(HD_INT64, 2, 2)),
        SOFTMAX("(2, 15, 2)", "15"));
    ck_warning(hd_cross_entropy(hd_transpose(hd_softmax(scores(16, 6), 0), 0, 1), labels(6)),
               SOFTMAX("(6, 16)", "16"));
}
END_TEST

/* Only a part of these lanes, or lanes over another dim, are what the loss takes. */
static void other_lanes(void)
{
    hd_tensor *x = hd_requires_grad_(hd_zeros(HD_FLOAT32, 4, 4), true); /* (4, 4) */
    hd_tensor *rows = hd_softmax(x, 1), *columns = hd_softmax(x, 0);    /* each is 1/4 */
    hd_cross_entropy(columns, labels(4));
    hd_cross_entropy(hd_transpose(rows, 0, 1), labels(4));
    hd_cross_entropy(hd_narrow(rows, 1, 0, 3), labels(4));
    hd_cross_entropy(hd_view(rows, 2, 8), labels(2));
    hd_cross_entropy(hd_view(rows, 8, 2), labels(8));
    hd_tensor *shifted = hd_narrow(hd_flatten(rows, 0, -1), 0, 2, 12); /* (12,) */
    hd_cross_entropy(hd_view(shifted, 3, 4), labels(3));
    hd_cross_entropy(hd_view(rows, 2, 4, 2), hd_zeros(HD_INT64, 2, 2));
    hd_cross_entropy(hd_slice(hd_flatten(columns, 0, -1), 0, 0, 4), labels(1));
    /* A lane of each begins in one lane of these and goes on in another. */
    hd_tensor *wide = hd_flatten(hd_softmax(hd_view(scores(4, 6), 2, 4, 3), 1), 0, -1); /* (24,) */
    hd_cross_entropy(hd_transpose(hd_view(hd_narrow(wide, 0, 1, 12), 4, 3), 0, 1), labels(3));
    hd_tensor *rows_of_6 = hd_view(hd_softmax(scores(6, 4), 1), 4, 6); /* (4, 6) */
    hd_cross_entropy(hd_narrow(rows_of_6, 1, 0, 4), labels(4));
}

/* What a softmax is for besides the classes, and what undoes it. */
static void other_uses(void)
{
    hd_tensor *x = scores(4, 4), *values = scores(4, 4); /* (4, 4) */
    hd_tensor *y = hd_softmax(x, -1), *teacher = hd_softmax(values, -1);
    hd_cross_entropy(hd_matmul(y, values), labels(4)); /* attention */
    hd_cross_entropy(hd_log_softmax(x, -1), labels(4));
    hd_cross_entropy(hd_log(y), labels(4));
    hd_cross_entropy(hd_div_scalar(y, 0.1), labels(4));
    hd_add(hd_cross_entropy(x, labels(4)), hd_mse_loss(y, teacher)); /* distillation */
    hd_cross_entropy(hd_mul(x, y), labels(4));                       /* a gate */
    hd_cross_entropy(hd_cat(1, y, x), labels(4));
    hd_cross_entropy(hd_mul_(hd_softmax(x, -1), values), labels(4));
    {
        HD_NO_GRAD; /* a figure of an evaluation */
        hd_cross_entropy(hd_softmax(x, -1), labels(4));
        hd_mul_scalar_(y, 10); /* it is no softmax any more */
    }
    hd_cross_entropy(y, labels(4));
    hd_cross_entropy(hd_softmax(scores(4, 1), -1), labels(4));
}

START_TEST(a_softmax_that_the_loss_does_not_take)
{
    ck_no_warning(other_lanes());
    ck_no_warning(other_uses());
}
END_TEST

/* ---------------------------------------------------------------- what is not registered */

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
    m->other = model_new();
    hd_module *wide = hd_sequential(hd_linear_new(3, 3, true), hd_relu_new(false));
    hd_module_free(m->other);
    m->other = wide;
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

/* ---------------------------------------------------------------- memory that a scope holds */

enum { MANY = 50 << 20 }; /* elements of float32, 200 MiB, that nobody touches */

static bool large_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx, (void)x;
    *y = hd_empty(HD_FLOAT32, MANY);
    return *y;
}

static bool small_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)x;
    *y = hd_ones_n(HD_FLOAT32, 0, NULL);
    return *y && hd_save(ctx, *x);
}

static void zero_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    bool last = !strcmp(*(const char *const *)hd_ctx_user(ctx), "small");
    *gx = last ? hd_expand(hd_zeros(HD_FLOAT32, 1), MANY) : hd_zeros_n(HD_FLOAT32, 0, NULL);
    (void)gy;
}

static hd_tensor *small_loss(hd_tensor *y) /* () */
{
    static const char *small = "small";
    static const hd_op op = {sizeof op, "Small", small_forward, zero_backward, NULL};
    return hd_apply(&op, (void *)&small, y);
}

static hd_tensor *large_loss(hd_tensor *x, hd_tensor **kept) /* () */
{
    static const char *large = "large";
    static const hd_op op = {sizeof op, "Large", large_forward, zero_backward, NULL};
    hd_tensor *y = hd_apply(&op, (void *)&large, x); /* (MANY,) */
    if (kept) {
        *kept = hd_retain(y);
    }
    return small_loss(y);
}

static void fill_root_scope(hd_tensor *x, int steps)
{
    for (int i = 0; i < steps; i++) {
        hd_backward(large_loss(x, NULL));
    }
}

#define HELD(scope, bytes, backwards)                                                              \
    "hd_backward: " scope " owns " bytes " bytes of results of " backwards " backwards that are "  \
    "over, as of the (52428800,) that hd_apply made: write HD_SCOPE; at the start of a loop's "    \
    "body, so that each round frees what it made (hd_scope_report lists them all)"

START_TEST(a_loop_without_a_scope)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_warning(fill_root_scope(x, 7), HELD("the root scope", "1258291224", "6"));
    ck_no_warning(fill_root_scope(x, 3)); /* until the memory has doubled */
}
END_TEST

/* So many small losses, and then large ones, in one scope. */
static void fill_scope(hd_tensor *x, int small)
{
    hd_scope *scope = hd_scope_open_at("opened.c", 12);
    for (int i = 0; i < small; i++) {
        ck_assert(hd_backward(small_loss(x)));
    }
    fill_root_scope(x, 7);
    hd_scope_close(scope);
}

START_TEST(a_loop_in_one_scope)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_warning(fill_scope(x, 26), HELD("the scope opened at opened.c:12", "1258291328", "32"));
}
END_TEST

START_TEST(a_batch_in_parts)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(fill_scope(x, 25)); /* 31, whose gradients are added up */
}
END_TEST

static void in_scopes(hd_tensor *x, hd_tensor **kept)
{
    for (int i = 0; i < 8; i++) {
        HD_SCOPE;
        hd_backward(large_loss(x, kept ? &kept[i] : NULL));
    }
}

/* All memory is of graphs that may be used again, or of one. */
static void graphs_that_are_kept(hd_tensor *x)
{
    for (int i = 0; i < 8; i++) {
        hd_backward_with(large_loss(x, NULL), HD_NONE, true);
    }
}

static void data_in_the_root_scope(hd_tensor *x)
{
    for (int i = 0; i < 5; i++) {
        hd_tensor *loss = hd_square(x); /* () */
        hd_backward(loss);
        hd_empty(HD_FLOAT32, MANY);
    }
    hd_empty(HD_FLOAT32, 2 * MANY);
    hd_backward(hd_square(x));
}

static void released(hd_tensor *x)
{
    hd_empty(HD_FLOAT32, 6 * MANY);
    for (int i = 0; i < 8; i++) {
        hd_tensor *loss = large_loss(x, NULL); /* () */
        hd_backward(loss);
        hd_release(loss);
    }
}

/* Three losses of one scope, and parts of each. */
static void losses_of_three_kinds(hd_tensor *x)
{
    for (int i = 0; i < 2; i++) {
        hd_backward(large_loss(x, NULL));
        hd_backward(hd_square(large_loss(x, NULL)));
        hd_backward(hd_exp(large_loss(x, NULL)));
    }
}

START_TEST(much_memory_of_several_losses)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(losses_of_three_kinds(x));
}
END_TEST

/* A test of its own, because a thread looks again only when its memory has doubled. */
START_TEST(much_data_in_the_root_scope)
{
    ck_no_warning(data_in_the_root_scope(hd_requires_grad_(hd_ones(HD_FLOAT32, 1), true)));
}
END_TEST

START_TEST(much_memory_that_is_in_use)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true), *kept[8]; /* () */
    ck_no_warning(in_scopes(x, NULL));
    ck_no_warning(in_scopes(x, kept));
    for (int i = 0; i < 8; i++) {
        hd_release(kept[i]);
    }
}
END_TEST

START_TEST(much_memory_of_graphs_that_stay)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(graphs_that_are_kept(x));
}
END_TEST

START_TEST(losses_that_are_released)
{
    hd_tensor *x = hd_requires_grad_(hd_ones_n(HD_FLOAT32, 0, NULL), true); /* () */
    ck_no_warning(released(x));
}
END_TEST

/* ---------------------------------------------------------------- memory runs out */

START_TEST(what_holds_memory_when_it_runs_out)
{
    hd_ones(HD_FLOAT32, 10);
    ck_assert_ptr_null(hd_empty(HD_FLOAT32, INT64_MAX / 16));
    ck_error(HD_MEMORY, "hd_empty: 2305843009213693948 bytes: out of memory");
    hd_tensor *x = hd_ones(HD_FLOAT32, 1 << 18); /* (262144,) */
    hd_neg(x);
    hd_neg(hd_view(x, 2, -1));
    HD_SCOPE;
    hd_exp(x);
    ck_assert_ptr_null(hd_empty(HD_FLOAT32, INT64_MAX / 16));
    ck_error(HD_MEMORY, "hd_empty: 2305843009213693948 bytes: out of memory; the root scope holds "
                        "3145768 bytes, 2097152 of them made by hd_neg");
}
END_TEST

/* ---------------------------------------------------------------- the suite */

Suite *suite_mistakes(void)
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
        an_optimizer_of_other_parameters,
        a_step_after_zero_grad,
        steps_for_nothing_that_are_right,
        other_networks_and_gradients_of_ones_own,
        softmax_into_the_loss,
        views_of_a_softmax,
        a_softmax_that_the_loss_does_not_take,
        a_child_is_not_registered,
        children_that_are_not_registered_on_purpose,
        children_of_the_constructor_that_are_trained_by_hand,
        children_of_the_constructor_that_are_not_trained_by_it,
        a_parameter_is_not_registered,
        parameters_that_are_not_registered_on_purpose,
        a_loop_without_a_scope,
        a_loop_in_one_scope,
        a_batch_in_parts,
        much_data_in_the_root_scope,
        much_memory_of_several_losses,
        much_memory_that_is_in_use,
        much_memory_of_graphs_that_stay,
        losses_that_are_released,
        what_holds_memory_when_it_runs_out,
    };
    return SUITE_OF("mistakes", tests);
}
