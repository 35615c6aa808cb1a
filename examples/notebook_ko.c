/* notebook_ko.c - the Korean notebook "Coding attention mechanisms", one function for each cell.
 *
 * The cells have the order and the names of the notebook. Where a line of C reads differently, a
 * comment above it or at its end shows the Python; other comments explain. The table at the end
 * gives each cell a title, which is the line of Python that best describes the cell. The classes of
 * In [20], [21] and [None] are in notebook_classes.c. The notebook has no cells 30 to 36. To step
 * through a cell: gdb --args build/examples/notebook_ko --cell 8, then break cell_8. */
#include "cells.h"
#include "notebook_classes.h"

#include <math.h>

/* The numbers that the program's options change. */
static notebook_numbers numbers = {
    .seed = 123,
    .d_out = 2,
    .dropout = 0.5,
    .embeddings =
        {
            {0.43f, 0.15f, 0.89f}, /* Your     (x^1) */
            {0.55f, 0.87f, 0.66f}, /* journey  (x^2) */
            {0.57f, 0.85f, 0.64f}, /* starts   (x^3) */
            {0.22f, 0.58f, 0.33f}, /* with     (x^4) */
            {0.77f, 0.25f, 0.10f}, /* one      (x^5) */
            {0.05f, 0.80f, 0.55f}, /* step     (x^6) */
        },
};

/* The notebook's global variables. */
static hd_tensor *inputs;               /* (6, 3) */
static hd_tensor *query;                /* (3,) */
static hd_tensor *attn_scores_2;        /* (6,) */
static hd_tensor *attn_weights_2_tmp;   /* (6,) */
static hd_tensor *attn_weights_2_naive; /* (6,) */
static hd_tensor *attn_weights_2;       /* (6,) */
static hd_tensor *context_vec_2;        /* (3,); from In [19] on (2,) */
static hd_tensor *attn_scores;          /* (6, 6) */
static hd_tensor *attn_weights;         /* (6, 6) */
static hd_tensor *all_context_vecs;     /* (6, 3) */
static hd_tensor *x_2;                  /* (3,) */
static int64_t d_in, d_out, d_k, context_length;
static hd_tensor *W_query, *W_key, *W_value; /* (3, 2) */
static hd_tensor *query_2, *key_2, *value_2; /* (2,) */
static hd_tensor *queries, *keys, *values;   /* (6, 2) */
static hd_tensor *keys_2;                    /* (2,) */
static hd_tensor *attn_score_22;             /* () */
static hd_module *sa_v1, *sa_v2, *dropout, *ca;
static hd_tensor *mask_simple, *masked_simple; /* (6, 6) */
static hd_tensor *row_sums;                    /* (6, 1) */
static hd_tensor *masked_simple_norm;          /* (6, 6) */
static hd_tensor *mask, *masked;               /* (6, 6) */
static hd_tensor *example;                     /* (6, 6) */
static hd_tensor *batch;                       /* (2, 6, 3) */
static hd_tensor *context_vecs;                /* (2, 6, 2) */

/* print("torch version:", version("torch")) */
static void cell_1(void)
{
    print("heed version: %s", hd_version());
}

/* inputs = torch.tensor([[0.43, 0.15, 0.89], ...]) */
static void cell_2(void)
{
    inputs = hd_tensor_of(numbers.embeddings, 6, 3);
}

/* Computes the score of every token, with the second token as the query: one dot product after the
 * other. */
static void cell_3(void)
{
    query = hd_getitem(inputs, 1);

    attn_scores_2 = hd_empty(HD_FLOAT32, hd_size(inputs, 0));
    /* for i, x_i in enumerate(inputs): attn_scores_2[i] = torch.dot(query, x_i) */
    for (int64_t i = 0; i < hd_size(inputs, 0); i++) {
        hd_tensor *x_i = hd_getitem(inputs, i); /* (3,) */
        hd_setitem(attn_scores_2, hd_dot(query, x_i), i);
    }

    show(attn_scores_2);
}

/* Normalises the scores by their sum. */
static void cell_4(void)
{
    /* attn_weights_2_tmp = attn_scores_2 / attn_scores_2.sum() */
    attn_weights_2_tmp = hd_div(attn_scores_2, hd_sum(attn_scores_2));

    print("Attention weights: %s", hd_repr(attn_weights_2_tmp));
    print("Sum: %s", hd_repr(hd_sum(attn_weights_2_tmp)));
}

/* Overflows for large x, where hd_softmax does not. */
static hd_tensor *softmax_naive(hd_tensor *x)
{
    /* return torch.exp(x) / torch.exp(x).sum(dim=0) */
    return hd_div(hd_exp(x), hd_sum_dim(hd_exp(x), 0, false));
}

static void cell_5(void)
{
    attn_weights_2_naive = softmax_naive(attn_scores_2);

    print("Attention weights: %s", hd_repr(attn_weights_2_naive));
    print("Sum: %s", hd_repr(hd_sum(attn_weights_2_naive)));
}

static void cell_6(void)
{
    /* attn_weights_2 = torch.softmax(attn_scores_2, dim=0) */
    attn_weights_2 = hd_softmax(attn_scores_2, 0);

    print("Attention weights: %s", hd_repr(attn_weights_2));
    print("Sum: %s", hd_repr(hd_sum(attn_weights_2)));
}

/* The context vector of the second token is the weighted sum of all tokens. */
static void cell_7(void)
{
    query = hd_getitem(inputs, 1);

    context_vec_2 = hd_zeros_like(query, HD_FLOAT32); /* torch.zeros(query.shape) */
    /* for i, x_i in enumerate(inputs): context_vec_2 += attn_weights_2[i] * x_i */
    for (int64_t i = 0; i < hd_size(inputs, 0); i++) {
        hd_tensor *x_i = hd_getitem(inputs, i); /* (3,) */
        hd_add_(context_vec_2, hd_mul(hd_getitem(attn_weights_2, i), x_i));
    }

    show(context_vec_2);
}

/* Step 1 for all tokens at once: compute the scores. */
static void cell_8(void)
{
    /* attn_scores = inputs @ inputs.T */
    attn_scores = hd_matmul(inputs, hd_t(inputs));
    show(attn_scores);
}

/* Step 2: normalise every row. */
static void cell_9(void)
{
    /* attn_weights = torch.softmax(attn_scores, dim=-1) */
    attn_weights = hd_softmax(attn_scores, -1);
    show(attn_weights);
}

/* Step 3: multiply the weights (6, 6) by the tokens (6, 3). */
static void cell_10(void)
{
    /* all_context_vecs = attn_weights @ inputs */
    all_context_vecs = hd_matmul(attn_weights, inputs);
    show(all_context_vecs);
}

/* Prints the context vector of cell 7, which is also the second row of all_context_vecs. */
static void cell_11(void)
{
    print("Previous 2nd context vector: %s", hd_repr(context_vec_2));
}

static void cell_12(void)
{
    x_2 = hd_getitem(inputs, 1);
    d_in = hd_size(inputs, 1);
    d_out = numbers.d_out; /* d_out = 2 */
}

static void cell_13(void)
{
    hd_manual_seed(numbers.seed); /* torch.manual_seed(123) */

    /* W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False) */
    W_query = hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), false);
    W_key = hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), false);
    W_value = hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), false);
}

static void cell_14(void)
{
    query_2 = hd_matmul(x_2, W_query); /* x_2 @ W_query */
    key_2 = hd_matmul(x_2, W_key);     /* x_2 @ W_key */
    value_2 = hd_matmul(x_2, W_value); /* x_2 @ W_value */

    show(query_2);
}

/* The keys and values of a token have 2 dimensions, and the token has 3. */
static void cell_15(void)
{
    keys = hd_matmul(inputs, W_key);     /* inputs @ W_key */
    values = hd_matmul(inputs, W_value); /* inputs @ W_value */

    print("keys.shape: %s", hd_shape_repr(keys));
    print("values.shape: %s", hd_shape_repr(values));
}

static void cell_16(void)
{
    keys_2 = hd_getitem(keys, 1);
    attn_score_22 = hd_dot(query_2, keys_2); /* query_2.dot(keys_2) */
    show(attn_score_22);
}

static void cell_17(void)
{
    attn_scores_2 = hd_matmul(query_2, hd_t(keys)); /* query_2 @ keys.T */
    show(attn_scores_2);
}

static void cell_18(void)
{
    d_k = hd_size(keys, 1);
    /* attn_weights_2 = torch.softmax(attn_scores_2 / d_k**0.5, dim=-1) */
    attn_weights_2 = hd_softmax(hd_div_scalar(attn_scores_2, sqrt(d_k)), -1);
    show(attn_weights_2);
}

static void cell_19(void)
{
    context_vec_2 = hd_matmul(attn_weights_2, values); /* attn_weights_2 @ values */
    show(context_vec_2);
}

/* class SelfAttention_v1(nn.Module): notebook_classes.c */
static void cell_20(void)
{
    hd_manual_seed(numbers.seed); /* torch.manual_seed(123) */
    sa_v1 = self_attention_v1_new(d_in, d_out);
    show(hd_forward(sa_v1, inputs));
}

/* class SelfAttention_v2(nn.Module): notebook_classes.c */
static void cell_21(void)
{
    hd_manual_seed(789);
    sa_v2 = self_attention_v2_new(d_in, d_out, false);
    show(hd_forward(sa_v2, inputs));
}

/* From here on, the cells mask the attention weights of sa_v2. */
static void cell_22(void)
{
    const self_attention_v2 *sa = (self_attention_v2 *)sa_v2;
    queries = hd_forward(sa->W_query, inputs); /* sa_v2.W_query(inputs) */
    keys = hd_forward(sa->W_key, inputs);
    attn_scores = hd_matmul(queries, hd_t(keys)); /* queries @ keys.T */

    /* attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1) */
    attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), -1);
    show(attn_weights);
}

static void cell_23(void)
{
    context_length = hd_size(attn_scores, 0);
    /* mask_simple = torch.tril(torch.ones(context_length, context_length)) */
    mask_simple = hd_tril(hd_ones(HD_FLOAT32, context_length, context_length), 0);
    show(mask_simple);
}

static void cell_24(void)
{
    masked_simple = hd_mul(attn_weights, mask_simple); /* attn_weights * mask_simple */
    show(masked_simple);
}

/* After the mask the rows no longer sum to 1. This cell normalises them again. */
static void cell_25(void)
{
    row_sums = hd_sum_dim(masked_simple, -1, true); /* masked_simple.sum(dim=-1, keepdim=True) */
    masked_simple_norm = hd_div(masked_simple, row_sums);
    show(masked_simple_norm);
}

/* The other way to mask: a score of -inf, whose exponential is 0. */
static void cell_26(void)
{
    /* mask = torch.triu(torch.ones(context_length, context_length), diagonal=1) */
    mask = hd_triu(hd_ones(HD_FLOAT32, context_length, context_length), 1);
    /* masked = attn_scores.masked_fill(mask.bool(), -torch.inf) */
    masked = hd_masked_fill(attn_scores, hd_to(mask, HD_BOOL), -INFINITY);
    show(masked);
}

static void cell_27(void)
{
    /* attn_weights = torch.softmax(masked / keys.shape[-1]**0.5, dim=-1) */
    attn_weights = hd_softmax(hd_div_scalar(masked, sqrt(hd_size(keys, -1))), -1);
    show(attn_weights);
}

static void cell_28(void)
{
    hd_manual_seed(numbers.seed);                     /* torch.manual_seed(123) */
    dropout = hd_dropout_new(numbers.dropout, false); /* torch.nn.Dropout(0.5) */
    example = hd_ones(HD_FLOAT32, 6, 6);

    show(hd_forward(dropout, example));
}

static void cell_29(void)
{
    hd_manual_seed(numbers.seed); /* torch.manual_seed(123) */
    show(hd_forward(dropout, attn_weights));
}

static void cell_37(void)
{
    /* batch = torch.stack((inputs, inputs), dim=0) */
    batch = hd_stack(0, inputs, inputs);
    print("%s", hd_shape_repr(batch));
}

/* class CausalAttention(nn.Module): notebook_classes.c */
static void cell_38(void)
{
    hd_manual_seed(numbers.seed); /* torch.manual_seed(123) */

    context_length = hd_size(batch, 1);
    ca = causal_attention_new(d_in, d_out, context_length, 0.0, false);

    context_vecs = hd_forward(ca, batch);
    show(context_vecs);
    print("context_vecs.shape: %s", hd_shape_repr(context_vecs));
}

static void free_modules(void)
{
    hd_module_free(sa_v1);
    hd_module_free(sa_v2);
    hd_module_free(dropout);
    hd_module_free(ca);
}

static const cell cells[] = {
    CELL(1, "print(\"torch version:\", version(\"torch\"))"),
    CELL(2, "inputs = torch.tensor(...)"),
    CELL(3, "query = inputs[1] #2nd input token is the query"),
    CELL(4, "attn_weights_2_tmp = attn_scores_2 / attn_scores_2.sum()"),
    CELL(5, "def softmax_naive(x):"),
    CELL(6, "attn_weights_2 = torch.softmax(attn_scores_2, dim=0)"),
    CELL(7, "context_vec_2 = torch.zeros(query.shape)"),
    CELL(8, "attn_scores = inputs @ inputs.T"),
    CELL(9, "attn_weights = torch.softmax(attn_scores, dim=-1)"),
    CELL(10, "all_context_vecs = attn_weights @ inputs"),
    CELL(11, "print(\"Previous 2nd context vector:\", context_vec_2)"),
    CELL(12, "x_2 = inputs[1]"),
    CELL(13, "W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)"),
    CELL(14, "query_2 = x_2 @ W_query"),
    CELL(15, "keys = inputs @ W_key"),
    CELL(16, "attn_score_22 = query_2.dot(keys_2)"),
    CELL(17, "attn_scores_2 = query_2 @ keys.T"),
    CELL(18, "attn_weights_2 = torch.softmax(attn_scores_2 / d_k**0.5, dim=-1)"),
    CELL(19, "context_vec_2 = attn_weights_2 @ values"),
    CELL(20, "class SelfAttention_v1(nn.Module):"),
    CELL(21, "class SelfAttention_v2(nn.Module):"),
    CELL(22, "queries = sa_v2.W_query(inputs)"),
    CELL(23, "mask_simple = torch.tril(torch.ones(context_length, context_length))"),
    CELL(24, "masked_simple = attn_weights * mask_simple"),
    CELL(25, "row_sums = masked_simple.sum(dim=-1, keepdim=True)"),
    CELL(26, "masked = attn_scores.masked_fill(mask.bool(), -torch.inf)"),
    CELL(27, "attn_weights = torch.softmax(masked / keys.shape[-1]**0.5, dim=-1)"),
    CELL(28, "dropout = torch.nn.Dropout(0.5)"),
    CELL(29, "dropout(attn_weights)"),
    CELL(37, "batch = torch.stack((inputs, inputs), dim=0)"),
    {38, "None", "class CausalAttention(nn.Module):", cell_38},
};

int main(int argc, char **argv)
{
    hd_on_warning(hd_warning_print, NULL);
    return run_notebook(argc, argv, cells, sizeof cells / sizeof *cells, &numbers, free_modules);
}
