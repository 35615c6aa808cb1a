/* notebook_ru.c - the Russian notebook "The attention mechanism", one function for each cell.
 *
 * The cells have the order and the names of the notebook. Where a line of C reads differently, a
 * comment above it or at its end shows the Python; other comments explain. In [4] and [7] to [9]
 * define classes and print nothing; the classes are in notebook_classes.c. The source document cuts
 * off the outputs of In [2] and [5]; this program prints them whole. */
#include "cells.h"
#include "notebook_classes.h"

#include <math.h>

/* The numbers that the program's options change. */
static notebook_numbers numbers = {
    .seed = 123,
    .d_out = 3,
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
static hd_tensor *inputs;           /* (6, 3) */
static hd_tensor *query;            /* (3,) */
static hd_tensor *attn_score;       /* (6,) */
static hd_tensor *attn_weights;     /* (6,); from In [2] on (6, 6) */
static hd_tensor *context_vec;      /* (3,) */
static hd_tensor *attn_scores;      /* (6, 6) */
static hd_tensor *all_context_vecs; /* (6, 3) */
static int64_t d_in, d_out, d_k, context_length;
static hd_tensor *W_query, *W_key, *W_value;        /* (3, 3) */
static hd_tensor *querys, *queries, *keys, *values; /* (6, 3) */
static hd_tensor *context_vecs;                     /* (6, 3) */
static hd_module *sa, *dropout;
static hd_tensor *mask_simple, *masked_simple, *masked_simple_norm; /* (6, 6) */
static hd_tensor *row_sums;                                         /* (6, 1) */

static hd_tensor *softmax_naive(hd_tensor *x)
{
    /* return torch.exp(x) / torch.exp(x).sum(dim=0) */
    return hd_div(hd_exp(x), hd_sum_dim(hd_exp(x), 0, false));
}

/* Computes the attention of one position: scores, weights, and the context vector. */
static void cell_1(void)
{
    inputs = hd_tensor_of(numbers.embeddings, 6, 3);

    query = hd_getitem(inputs, 1);
    attn_score = hd_empty(HD_FLOAT32, hd_size(inputs, 0));
    /* for i, x_i in enumerate(inputs): attn_score[i] = torch.dot(x_i, query) */
    for (int64_t i = 0; i < hd_size(inputs, 0); i++) {
        hd_setitem(attn_score, hd_dot(hd_getitem(inputs, i), query), i);
    }
    print("Оценки внимания: %s", hd_repr(attn_score));

    attn_weights = softmax_naive(attn_score);
    print("Веса внимания: %s", hd_repr(attn_weights));
    print("Тест нормализации: %s", hd_repr(hd_sum(attn_weights)));

    query = hd_getitem(inputs, 1);
    context_vec = hd_zeros_like(query, HD_FLOAT32); /* torch.zeros(query.shape) */
    /* for i,x_i in enumerate(inputs): context_vec += attn_weights[i]*x_i */
    for (int64_t i = 0; i < hd_size(inputs, 0); i++) {
        hd_add_(context_vec, hd_mul(hd_getitem(attn_weights, i), hd_getitem(inputs, i)));
    }
    print("Вектор контекста:  %s", hd_repr(context_vec));
}

/* [row.sum() for row in x] */
static hd_list *row_sums_of(hd_tensor *x) /* (n, m) */
{
    hd_list *sums = hd_list_n(0, NULL); /* () each */
    for (int64_t i = 0; i < hd_size(x, 0); i++) {
        hd_list_append(sums, hd_sum(hd_getitem(x, i)));
    }
    return sums;
}

/* Computes the attention of all positions, first with loops, then with matrix products. */
static void cell_2(void)
{
    attn_scores = hd_empty(HD_FLOAT32, 6, 6);
    /* for i, x_i ...: for j, x_j ...: attn_scores[i, j] = torch.dot(x_i, x_j) */
    for (int64_t i = 0; i < 6; i++) {
        for (int64_t j = 0; j < 6; j++) {
            hd_setitem(attn_scores, hd_dot(hd_getitem(inputs, i), hd_getitem(inputs, j)), i, j);
        }
    }
    print("Оценки внимания:\n %s", hd_repr(attn_scores));

    /* attn_weights = torch.softmax(attn_scores, dim=1) */
    attn_weights = hd_softmax(attn_scores, 1);
    print("Веса внимания:\n %s", hd_repr(attn_weights));
    print("Проверка нормализации:\n"
          " %s",
          hd_list_repr(row_sums_of(attn_weights)));

    /* all_context_vecs = attn_weights @ inputs */
    all_context_vecs = hd_matmul(attn_weights, inputs);
    print("Матрица векторных представлений контекста:\n"
          " %s",
          hd_repr(all_context_vecs));
}

/* Computes attention with W_query, W_key and W_value, which can be trained. */
static void cell_3(void)
{
    d_in = hd_size(inputs, 1);
    d_out = numbers.d_out; /* d_out = 3 */

    hd_manual_seed(numbers.seed); /* torch.manual_seed(123) */
    /* W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=True) */
    W_query = hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true);
    W_key = hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true);
    W_value = hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true);

    querys = hd_matmul(inputs, W_query); /* inputs @ W_query */
    keys = hd_matmul(inputs, W_key);
    values = hd_matmul(inputs, W_value);

    attn_scores = hd_matmul(querys, hd_t(keys)); /* querys @ keys.T */

    d_k = hd_size(keys, -1);

    /* attn_weights = torch.softmax(attn_scores / d_k**0.5, dim=-1) */
    attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(d_k)), -1);

    context_vecs = hd_matmul(attn_weights, values); /* attn_weights @ values */
    print("Векторное представление контекста, "
          "подсчитанное с помощую обучаемых "
          "матриц-параметров:\n"
          " %s",
          hd_repr(context_vecs));
}

/* class SelfAttention_v1(nn.Module): notebook_classes.c */
static void cell_4(void)
{
}

/* Masks the weights, and normalises their rows again. The notebook does not seed the generator
 * again here. */
static void cell_5(void)
{
    sa = self_attention_v1_new(d_in, d_out);
    const self_attention_v1 *m = (self_attention_v1 *)sa;
    if (!m) {
        return;
    }
    queries = hd_matmul(inputs, m->W_query); /* inputs @ sa.W_query */
    keys = hd_matmul(inputs, m->W_key);
    attn_scores = hd_matmul(queries, hd_t(keys)); /* queries @ keys.T */
    /* attn_weights = torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=1) */
    attn_weights = hd_softmax(hd_div_scalar(attn_scores, sqrt(hd_size(keys, -1))), 1);
    print("Веса внимания:\n %s", hd_repr(attn_weights));

    context_length = hd_size(attn_scores, 0);
    /* mask_simple = torch.tril(torch.ones(context_length, context_length)) */
    mask_simple = hd_tril(hd_ones(HD_FLOAT32, context_length, context_length), 0);
    print("Матрица - маска:\n %s", hd_repr(mask_simple));

    masked_simple = hd_mul(attn_weights, mask_simple); /* attn_weights * mask_simple */
    print("Умножение маски на веса:\n %s", hd_repr(masked_simple));

    row_sums = hd_sum_dim(masked_simple, 1, true); /* masked_simple.sum(dim=1, keepdim=True) */
    masked_simple_norm = hd_div(masked_simple, row_sums);
    print("Ограниченная и ренормализованная "
          "матрица весов:\n"
          " %s",
          hd_repr(masked_simple_norm));
}

static void cell_6(void)
{
    hd_manual_seed(numbers.seed);                     /* torch.manual_seed(123) */
    dropout = hd_dropout_new(numbers.dropout, false); /* torch.nn.Dropout(0.5) */
    print("%s", hd_repr(hd_forward(dropout, attn_weights)));
}

/* class CausalAttention(nn.Module): notebook_classes.c */
static void cell_7(void)
{
}

/* class MultiHeadAttentionWrapper(nn.Module): notebook_classes.c */
static void cell_8(void)
{
}

/* class MultiHeadAttention(nn.Module): notebook_classes.c */
static void cell_9(void)
{
}

static void free_modules(void)
{
    hd_module_free(sa);
    hd_module_free(dropout);
}

static const cell cells[] = {
    CELL(1, "attn_score[i] = torch.dot(x_i, query)"),
    CELL(2, "attn_scores[i, j] = torch.dot(x_i, x_j)"),
    CELL(3, "W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=True)"),
    CELL(4, "class SelfAttention_v1(nn.Module):"),
    CELL(5, "sa = SelfAttention_v1(d_in, d_out)"),
    CELL(6, "dropout = torch.nn.Dropout(0.5)"),
    CELL(7, "class CausalAttention(nn.Module):"),
    CELL(8, "class MultiHeadAttentionWrapper(nn.Module):"),
    CELL(9, "class MultiHeadAttention(nn.Module):"),
};

int main(int argc, char **argv)
{
    hd_on_warning(hd_warning_print, NULL);
    return run_notebook(argc, argv, cells, sizeof cells / sizeof *cells, &numbers, free_modules);
}
