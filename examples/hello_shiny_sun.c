/* hello_shiny_sun.c - self-attention by hand: the context vector of "shiny" in "Hello shiny sun!".
 *
 * Three source texts compute this example by hand: scores, weights, context vector. Their result is
 * [0.3992, 0.3858, 0.8610], but the right one is [0.3990, 0.3854, 0.8610]. The last step of this
 * program computes their products again, with their rounded weights, and finds the wrong ones. */
#include "heed/heed.h"

#include <math.h>

static const char *const words[3] = {"Hello", "shiny", "sun"};
static const float embeddings[3][3] = {
    {0.34f, 0.22f, 0.54f},
    {0.53f, 0.34f, 0.98f},
    {0.29f, 0.54f, 0.93f},
};

/* The numbers in the texts: the weights to four digits, and each weight times its word's
 * embedding. */
static const double text_weights[3] = {0.2291, 0.4064, 0.3645};
static const double text_products[3][3] = {
    {0.0779, 0.0504, 0.1237},
    {0.2156, 0.1382, 0.3983},
    {0.1057, 0.1972, 0.3390},
};

static hd_tensor *scores_of(hd_tensor *inputs, hd_tensor *query) /* (3, 3), (3,) -> (3,) */
{
    printf("Step 1: the score of each word is its dot product with \"shiny\"\n");
    hd_tensor *scores = hd_matmul(inputs, query); /* (3,) */
    for (int i = 0; i < 3; i++) {
        printf("  %-5s . shiny = ", words[i]);
        for (int j = 0; j < 3; j++) {
            printf("%s%.2f*%.2f", j > 0 ? " + " : "", hd_get(inputs, i, j), hd_get(query, j));
        }
        printf(" = %.4f\n", hd_get(scores, i));
    }
    return scores;
}

static hd_tensor *weights_of(hd_tensor *scores) /* (3,) -> (3,) */
{
    printf("\nStep 2: softmax turns scores into weights that sum to 1\n");
    hd_tensor *exps = hd_exp(scores);                /* (3,) */
    hd_tensor *weights = hd_div(exps, hd_sum(exps)); /* (3,), as in the texts */
    for (int i = 0; i < 3; i++) {
        printf("  %-5s  exp(%.4f) = %.4f   / %.4f = %.4f\n", words[i], hd_get(scores, i),
               hd_get(exps, i), hd_item(hd_sum(exps)), hd_get(weights, i));
    }
    printf("  hd_softmax(scores, 0) = %s\n", hd_repr(hd_softmax(scores, 0)));
    return weights;
}

static hd_tensor *context_of(hd_tensor *weights, hd_tensor *inputs) /* (3,), (3, 3) -> (3,) */
{
    printf("\nStep 3: the context vector is the sum of the weighted words\n");
    hd_tensor *weighted = hd_mul(hd_unsqueeze(weights, 1), inputs); /* (3, 3) */
    for (int i = 0; i < 3; i++) {
        printf("  %-5s  %.4f * [%.2f, %.2f, %.2f] = [%.4f, %.4f, %.4f]\n", words[i],
               hd_get(weights, i), hd_get(inputs, i, 0), hd_get(inputs, i, 1), hd_get(inputs, i, 2),
               hd_get(weighted, i, 0), hd_get(weighted, i, 1), hd_get(weighted, i, 2));
    }
    hd_tensor *context = hd_matmul(weights, inputs); /* (3,) */
    printf("  weights @ inputs = %s\n", hd_repr(context));
    return context;
}

/* Compares every product in the texts with the product of the rounded weight. A correct product
 * differs by at most half a unit of its fourth digit. Returns the number of wrong products. */
static int find_mistakes(hd_tensor *inputs)
{
    int mistakes = 0;
    printf("\nThe texts' [0.3992, 0.3858, 0.8610] comes from products of rounded weights:\n");
    hd_tensor *w = hd_tensor_of(text_weights, 3, 1);        /* (3, 1) */
    hd_tensor *theirs = hd_tensor_of(text_products, 3, 3);  /* (3, 3) */
    hd_tensor *ours = hd_mul(w, hd_to(inputs, HD_FLOAT64)); /* (3, 3) */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double right = hd_get(ours, i, j), printed = hd_get(theirs, i, j);
            bool wrong = fabs(right - printed) > 0.5e-4 + 1e-7;
            printf("  %-5s  %.2f * %.4f = %.4f, the texts: %.4f%s\n", words[i],
                   hd_get(inputs, i, j), text_weights[i], right, printed, wrong ? "   wrong" : "");
            mistakes += wrong;
        }
    }
    printf("  sums of the texts' products:    %s\n", hd_repr(hd_sum_dim(theirs, 0, false)));
    printf("  sums of the correct products:   %s\n", hd_repr(hd_sum_dim(ours, 0, false)));
    return mistakes;
}

int main(void)
{
    HD_SCOPE;
    hd_on_warning(hd_warning_print, NULL);
    hd_tensor *inputs = hd_tensor_of(embeddings, 3, 3); /* (3, 3) */
    hd_tensor *query = hd_getitem(inputs, 1);           /* (3,), the word "shiny" */

    hd_tensor *scores = scores_of(inputs, query);     /* (3,) */
    hd_tensor *weights = weights_of(scores);          /* (3,) */
    hd_tensor *context = context_of(weights, inputs); /* (3,) */
    int mistakes = find_mistakes(inputs);
    printf(
        "\n%d of the texts' products are wrong. They are the whole difference: exact weights and\n"
        "rounded weights give the same four digits, %s.\n",
        mistakes, hd_repr(context));

    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "%s\n", hd_error_message());
    }
    return hd_error_code() == HD_OK && mistakes == 2 ? 0 : 1;
}
