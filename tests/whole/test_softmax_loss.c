/* test_softmax_loss.c - tests of the warning that cross_entropy gets a softmax over the classes:
 * also through views, and not if the loss takes another input. */
#include "suites.h"

#include "support/warnings.h"

enum { STEPS = 4 };

static hd_tensor *scores(int64_t n, int64_t c) /* (n, c), requires grad */
{
    return hd_requires_grad_(hd_rand(HD_FLOAT32, n, c), true);
}

static hd_tensor *labels(int64_t n) /* (n,) */
{
    return hd_zeros(HD_INT64, n);
}

#define SOFTMAX(shape, classes)                                                                    \
    "hd_cross_entropy: x " shape " is the result of hd_softmax over the " classes                  \
    " classes, but the loss does a softmax of its own, so the model hardly learns. Pass the "      \
    "input of hd_softmax"

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

Suite *suite_softmax_loss(void)
{
    const TTest *const tests[] = {
        softmax_into_the_loss,
        views_of_a_softmax,
        a_softmax_that_the_loss_does_not_take,
    };
    return SUITE_OF("softmax into the loss", tests);
}
