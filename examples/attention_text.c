/* attention_text.c - the eight code blocks of three texts that explain attention with "Hello shiny
 * sun!".
 *
 * Each block is a function, in the order of the texts. In the texts the blocks lack their
 * indentation and use names before they exist, and three of the statements are wrong. This program
 * shows each wrong form beside the right one. The last part is the packed
 * torch.nn.MultiheadAttention, which gives the results of MultiHeadAttention if both have the same
 * weights. */
#include "notebook_classes.h"

#include <math.h>

static void heading(const char *text)
{
    printf("\n---- %s\n", text);
}

static void print(const char *name, const hd_tensor *x)
{
    printf("%s:\n%s\n", name, hd_repr(x));
}

static bool all_hold = true;

/* Prints whether the statement `what` holds. If a statement does not, main returns 1. */
static void claim(const char *what, bool holds)
{
    printf("%s: %s\n", what, holds ? "yes" : "no");
    all_hold = all_hold && holds;
}

/* Prints and clears the error of the previous call, which must have failed. */
static void print_expected_error(void)
{
    printf("error: %s\n", hd_error_message());
    claim("heed refuses it", hd_error_code() != HD_OK);
    hd_error_clear();
}

/* ---------------------------------------------------------------- the blocks */

static hd_tensor *your_journey(void) /* (6, 3) */
{
    static const float embeddings[6][3] = {
        {0.43f, 0.15f, 0.89f}, /* Your     (x^1) */
        {0.55f, 0.87f, 0.66f}, /* journey  (x^2) */
        {0.57f, 0.85f, 0.64f}, /* starts   (x^3) */
        {0.22f, 0.58f, 0.33f}, /* with     (x^4) */
        {0.77f, 0.25f, 0.10f}, /* one      (x^5) */
        {0.05f, 0.80f, 0.55f}, /* step     (x^6) */
    };
    return hd_tensor_of(embeddings, 6, 3);
}

/* The texts call W_query "the data" and say that the other two are trainable. In fact all three are
 * parameters. */
static void block_1(hd_tensor *W[3])
{
    heading("1. W_query, W_key, W_value: nn.Parameter(torch.rand(d_in, d_out))");
    static const char *const names[3] = {"W_query", "W_key", "W_value"};
    const int64_t d_in = 3, d_out = 2;
    hd_manual_seed(123); /* the texts do not seed */
    for (int i = 0; i < 3; i++) {
        W[i] = hd_parameter(hd_rand(HD_FLOAT32, d_in, d_out), true);
        print(names[i], W[i]);
    }
}

static void block_2(hd_tensor *inputs, hd_tensor *const W[3], hd_tensor **queries, hd_tensor **keys)
{
    heading("2. queries, keys, values: torch.matmul(inputs, W)");
    *queries = hd_matmul(inputs, W[0]);          /* (6, 2) */
    *keys = hd_matmul(inputs, W[1]);             /* (6, 2) */
    hd_tensor *values = hd_matmul(inputs, W[2]); /* (6, 2) */
    print("queries", *queries);
    print("keys", *keys);
    print("values", values);
}

/* keys.T is right for one sequence. For a batch heed refuses it, while PyTorch reverses all
 * dims. */
static void block_3(hd_tensor *inputs, hd_tensor *batch)
{
    heading("3. SelfAttention_v2: Linear draws its weights at random too");
    hd_manual_seed(789);
    hd_module *sa_v2 = self_attention_v2_new(3, 2, false);
    print("sa_v2(inputs)", hd_forward(sa_v2, inputs)); /* (6, 2) */
    printf("sa_v2(batch), where keys has rank 3 and keys.T is not defined\n");
    hd_forward(sa_v2, batch);
    print_expected_error();
    hd_module_free(sa_v2);
}

/* The texts multiply a matrix of 0 and 1 by -inf. The product is NaN where the scores should stay,
 * because 0 * -inf is NaN. */
static hd_tensor *block_4(hd_tensor *attention_scores) /* (n, n) */
{
    heading("4. the causal mask: scores of later tokens become -inf");
    int64_t seq_len = hd_size(attention_scores, 0);
    hd_tensor *ones = hd_ones(HD_FLOAT32, seq_len, seq_len); /* (n, n), like all below */

    hd_tensor *mask = hd_mul_scalar(hd_triu(ones, 1), -INFINITY);
    print("as written, triu(ones, diagonal=1) * -inf", mask);
    print("softmax(scores + mask): every row is NaN",
          hd_softmax(hd_add(attention_scores, mask), -1));

    mask = hd_triu(hd_full_like(ones, HD_FLOAT32, -INFINITY), 1);
    hd_tensor *masked_scores = hd_add(attention_scores, mask);
    print("right, because triu selects: triu(full(-inf), diagonal=1)", mask);
    hd_tensor *filled =
        hd_masked_fill(attention_scores, hd_to(hd_triu(ones, 1), HD_BOOL), -INFINITY);
    print("right, as in the classes: masked_fill", filled);
    claim("both right ways agree", hd_equal(masked_scores, filled));
    return masked_scores;
}

/* The texts say "only tokens before the current position". But the mask keeps the diagonal, so a
 * token also sees itself. */
static hd_tensor *block_5(hd_tensor *masked_scores)
{
    heading("5. softmax over the masked scores: a token sees itself and the tokens before it");
    hd_tensor *attention_weights = hd_softmax(masked_scores, -1); /* (n, n) */
    print("attention_weights", attention_weights);
    return attention_weights;
}

static void block_6(hd_tensor *attention_weights)
{
    heading("6. dropout: each weight is dropped with probability 1/2, and the others are doubled");
    hd_manual_seed(123); /* the texts do not seed */
    hd_module *dropout = hd_dropout_new(0.5, false);
    print("dropout(attention_weights)", hd_forward(dropout, attention_weights));
    hd_module_eval(dropout);
    claim("in evaluation mode dropout changes nothing",
          hd_equal(hd_forward(dropout, attention_weights), attention_weights));
    hd_module_free(dropout);
}

static void block_7(hd_tensor *batch)
{
    heading("7. CausalAttention: b is the number of sequences in the batch");
    printf("batch.shape: %s\n", hd_shape_repr(batch));
    hd_manual_seed(123);
    hd_module *ca = causal_attention_new(3, 2, hd_size(batch, 1), 0.0, false);
    hd_tensor *context_vecs = hd_forward(ca, batch); /* (2, 6, 2) */
    print("context_vecs", context_vecs);
    printf("context_vecs.shape: %s\n", hd_shape_repr(context_vecs));
    hd_module_free(ca);
}

static void block_8(hd_tensor *batch)
{
    heading("8. MultiHeadAttention: all heads at once");
    hd_manual_seed(123);
    hd_module *mha = multi_head_attention_new(3, 2, hd_size(batch, 1), 0.0, 2, false);
    hd_tensor *context_vecs = hd_forward(mha, batch); /* (2, 6, 2) */
    print("context_vecs", context_vecs);
    printf("context_vecs.shape: %s\n", hd_shape_repr(context_vecs));
    hd_module_free(mha);

    printf("8 dimensions cannot be split into 3 heads (the texts say \"2 arrays of 4\"):\n");
    hd_module_free(multi_head_attention_new(8, 8, 6, 0.0, 3, false));
    print_expected_error();
}

/* ---------------------------------------------------------------- torch.nn.MultiheadAttention */

/* Copies the weights of mha to packed, and sets the bias of packed's in_proj to 0, because W_query,
 * W_key and W_value of mha have no bias. */
static void copy_weights(hd_module *packed, hd_module *mha)
{
    HD_NO_GRAD;
    hd_copy_(hd_module_get_parameter(packed, "in_proj_weight"), /* (3E, E) */
             hd_cat(0, hd_module_get_parameter(mha, "W_query.weight"),
                    hd_module_get_parameter(mha, "W_key.weight"),
                    hd_module_get_parameter(mha, "W_value.weight")));
    hd_zero_(hd_module_get_parameter(packed, "in_proj_bias"));
    hd_copy_(hd_module_get_parameter(packed, "out_proj.weight"),
             hd_module_get_parameter(mha, "out_proj.weight"));
    hd_copy_(hd_module_get_parameter(packed, "out_proj.bias"),
             hd_module_get_parameter(mha, "out_proj.bias"));
}

static void packed_attention(void)
{
    heading("torch.nn.MultiheadAttention, with the weights of MultiHeadAttention");
    const int64_t embed_dim = 8, num_heads = 2, num_tokens = 6;
    hd_manual_seed(123);
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, num_tokens, embed_dim); /* (b, num_tokens, embed_dim) */
    hd_module *mha =
        multi_head_attention_new(embed_dim, embed_dim, num_tokens, 0.0, num_heads, false);
    hd_multihead_attention_options o = hd_multihead_attention_defaults();
    o.batch_first = true;
    hd_module *packed = hd_multihead_attention_new(embed_dim, num_heads, &o);
    printf("%s\n", hd_module_summary(packed));
    copy_weights(packed, mha);

    hd_tensor *ones = hd_ones(HD_FLOAT32, num_tokens, num_tokens); /* (num_tokens, num_tokens) */
    hd_multihead_attention_args a = hd_multihead_attention_arg_defaults();
    a.attn_mask = hd_to(hd_triu(ones, 1), HD_BOOL); /* true: masked */
    hd_tensor *weights = NULL;                      /* (b, num_tokens, num_tokens), mean of heads */
    /* (b, num_tokens, embed_dim) */
    hd_tensor *theirs = hd_multihead_attention(packed, x, x, x, &a, &weights);
    hd_tensor *ours = hd_forward(mha, x);
    double difference = hd_item(hd_max(hd_abs(hd_sub(theirs, ours))));
    printf("output %s, largest difference: %g\n", hd_shape_repr(theirs), difference);
    claim("they agree to 1e-6", difference <= 1e-6);
    print("attention weights of the first sequence, mean of its heads", hd_getitem(weights, 0));
    hd_module_free(packed);
    hd_module_free(mha);
}

int main(void)
{
    HD_SCOPE;
    hd_on_warning(hd_warning_print, NULL);
    hd_tensor *inputs = your_journey();             /* (6, 3) */
    hd_tensor *batch = hd_stack(0, inputs, inputs); /* (2, 6, 3) */
    hd_tensor *W[3], *queries, *keys;               /* (3, 2) each, (6, 2), (6, 2) */

    block_1(W);
    block_2(inputs, W, &queries, &keys);
    block_3(inputs, batch);
    /* Between the blocks, the texts divide the scores by the square root of the size of a key. */
    hd_tensor *attention_scores =
        hd_div_scalar(hd_matmul(queries, hd_t(keys)), sqrt(hd_size(keys, -1))); /* (6, 6) */
    hd_tensor *masked_scores = block_4(attention_scores);                       /* (6, 6) */
    hd_tensor *attention_weights = block_5(masked_scores);                      /* (6, 6) */
    block_6(attention_weights);
    block_7(batch);
    block_8(batch);
    packed_attention();

    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "%s\n", hd_error_message());
    }
    return hd_error_code() == HD_OK && all_hold ? 0 : 1;
}
