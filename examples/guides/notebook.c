/* notebook.c - the program of docs/guides/notebook.md: lines of a PyTorch notebook, in C. */
#include "heed/heed.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- one query by hand */

static const float words[6][3] = {
    {0.43f, 0.15f, 0.89f}, /* Your */
    {0.55f, 0.87f, 0.66f}, /* journey */
    {0.57f, 0.85f, 0.64f}, /* starts */
    {0.22f, 0.58f, 0.33f}, /* with */
    {0.77f, 0.25f, 0.10f}, /* one */
    {0.05f, 0.80f, 0.55f}, /* step */
};

static void one_query(hd_tensor *inputs) /* (6, 3) */
{
    HD_SCOPE;
    hd_tensor *query = hd_getitem(inputs, 1);           /* (3,) */
    hd_tensor *attn_scores_2 = hd_empty(HD_FLOAT32, 6); /* (6,) */
    for (int64_t i = 0; i < hd_size(inputs, 0); i++) {
        hd_tensor *x_i = hd_getitem(inputs, i); /* (3,) */
        hd_setitem(attn_scores_2, hd_dot(x_i, query), i);
    }
    hd_print(attn_scores_2);

    hd_tensor *attn_weights_2 = hd_softmax(attn_scores_2, 0); /* (6,) */
    printf("Attention weights: %s\n", hd_repr(attn_weights_2));
    printf("Sum: %s\n", hd_repr(hd_sum(attn_weights_2)));
}

/* ---------------------------------------------------------------- all queries at once */

static void all_queries(hd_tensor *inputs) /* (6, 3) */
{
    HD_SCOPE;
    hd_tensor *attn_scores = hd_matmul(inputs, hd_t(inputs));      /* (6, 6) */
    hd_tensor *attn_weights = hd_softmax(attn_scores, -1);         /* (6, 6) */
    hd_tensor *all_context_vecs = hd_matmul(attn_weights, inputs); /* (6, 3) */
    hd_print(all_context_vecs);
}

/* ---------------------------------------------------------------- weights, a mask, a module */

static void causal(hd_tensor *inputs) /* (6, 3) */
{
    HD_SCOPE;
    hd_manual_seed(789);
    hd_module *sa_v2 = hd_self_attention_v2_new(3, 2, false);
    hd_tensor *queries = hd_forward(hd_module_get(sa_v2, "W_query"), inputs); /* (6, 2) */
    hd_tensor *keys = hd_forward(hd_module_get(sa_v2, "W_key"), inputs);      /* (6, 2) */
    hd_tensor *attn_scores = hd_matmul(queries, hd_t(keys));                  /* (6, 6) */

    hd_tensor *mask = hd_triu(hd_ones(HD_FLOAT32, 6, 6), 1); /* (6, 6) */
    hd_tensor *masked = hd_masked_fill(attn_scores, hd_to(mask, HD_BOOL), -INFINITY);
    hd_tensor *attn_weights = hd_softmax(hd_div_scalar(masked, sqrt(hd_size(keys, -1))), -1);
    hd_print(attn_weights);
    hd_module_free(sa_v2);
}

/* ---------------------------------------------------------------- numbers for C */

static void numbers(hd_tensor *inputs) /* (6, 3) */
{
    HD_SCOPE;
    double mean = hd_item(hd_mean(inputs)); /* the tensor has one element */
    double one = hd_get(inputs, 1, 2);      /* inputs[1, 2].item() */
    float column[6];
    hd_copy_to(hd_select(inputs, 1, 2), column, sizeof column); /* inputs[:, 2] */
    const float *all = hd_data(inputs);                         /* no copy, row by row */
    printf("%.4f %.2f %.2f %.2f\n", mean, one, column[1], all[1 * 3 + 2]);
}

int main(void)
{
    hd_on_error(hd_error_abort, NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_tensor *inputs = hd_tensor_of(words, 6, 3); /* (6, 3) */
    one_query(inputs);
    all_queries(inputs);
    causal(inputs);
    numbers(inputs);
    return 0;
}
