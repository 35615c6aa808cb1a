/* results.c - prints a hash of the bits of many results, and of each of 10 training steps.
 *
 * The test of heed.c (tests/checks/check_one_file) links it with libheed and with heed.c, and
 * compares the lines at each CPU level. tools/cross/platforms compares them between systems and
 * compilers. The sizes cross the edges of vectors and tiles. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <heed/heed.h>

enum { STEPS = 10, BATCH = 3, TOKENS = 21, WIDTH = 36, HEADS = 4 };

/* Returns the FNV-1a hash of x's elements, continued from `hash`. It reads the bytes of an element
 * from the lowest to the highest, on big-endian machines, too. */
static uint64_t hash_of(hd_tensor *x, uint64_t hash)
{
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    hd_tensor *y = hd_contiguous(hd_detach(x));
    const unsigned char *element = hd_data(y);
    int64_t size = hd_dtype_size(hd_dtype_of(y));
    for (int64_t i = 0; i < hd_numel(y); i++, element += size) {
        for (int64_t b = 0; b < size; b++) {
            hash = (hash ^ element[little ? b : size - 1 - b]) * 0x100000001b3;
        }
    }
    return hash;
}

static void print_hash(hd_dtype d, const char *name, hd_tensor *x)
{
    printf("%s %-16s %016" PRIx64 "\n", hd_dtype_name(d), name, hash_of(x, 0xcbf29ce484222325));
}

#define UNARY(ROW)                                                                                 \
    ROW(exp)                                                                                       \
    ROW(log)                                                                                       \
    ROW(sqrt)                                                                                      \
    ROW(rsqrt)                                                                                     \
    ROW(tanh)                                                                                      \
    ROW(erf)                                                                                       \
    ROW(sigmoid)                                                                                   \
    ROW(sin)                                                                                       \
    ROW(cos)                                                                                       \
    ROW(log1p)                                                                                     \
    ROW(relu)                                                                                      \
    ROW(gelu)                                                                                      \
    ROW(gelu_tanh)                                                                                 \
    ROW(silu)                                                                                      \
    ROW(logsigmoid)                                                                                \
    ROW(sum)                                                                                       \
    ROW(mean)                                                                                      \
    ROW(square)                                                                                    \
    ROW(max)                                                                                       \
    ROW(argmin)

#define PRINT_UNARY(name) print_hash(dtype, #name, hd_##name(x));

/* x (61, 67) has numbers from 0.1 to 3.1. No other line depends on randn, for which the C library
 * computes functions. */
static void print_results(hd_dtype dtype)
{
    HD_SCOPE;
    hd_manual_seed(1);
    hd_tensor *x = hd_add_scalar(hd_mul_scalar(hd_rand(dtype, 61, 67), 3), 0.1);
    hd_tensor *b = hd_add_scalar(hd_rand(dtype, 67, 45), -0.5);
    hd_tensor *weight = hd_rand(dtype, 67);
    print_hash(dtype, "randn", hd_randn(dtype, 61, 67));
    UNARY(PRINT_UNARY)
    print_hash(dtype, "softmax, rows", hd_softmax(x, 1));
    print_hash(dtype, "softmax, columns", hd_softmax(x, 0));
    print_hash(dtype, "log_softmax", hd_log_softmax(x, 1));
    print_hash(dtype, "logsumexp", hd_logsumexp_dim(x, 1, false));
    print_hash(dtype, "cumsum", hd_cumsum(x, 1));
    print_hash(dtype, "var", hd_var_dims(x, 1, false, 0));
    print_hash(dtype, "rms_norm", hd_rms_norm(x, weight, 1e-5));
    print_hash(dtype, "pow", hd_pow(x, weight));
    print_hash(dtype, "matmul", hd_matmul(x, b));
    print_hash(dtype, "matmul, turned", hd_matmul(hd_t(b), hd_t(x)));
    print_hash(dtype, "dropout", hd_dropout(x, 0.3, true));
    print_hash(dtype, "sort", hd_sort(x, 1, true, NULL));
    print_hash(dtype, "transposed", hd_transpose(x, 0, 1));
}

static hd_module *block_new(void)
{
    hd_module *att = hd_multi_head_attention_new(WIDTH, WIDTH, TOKENS, 0.1, HEADS, true);
    hd_module *ff = hd_feed_forward_new(WIDTH, 4 * WIDTH);
    hd_module *norm1 = hd_layer_norm_new(WIDTH), *norm2 = hd_layer_norm_new(WIDTH);
    return hd_transformer_block_new(att, ff, norm1, norm2, 0.1);
}

/* AdamW trains a block with dropout to turn the order of the tokens. */
static void print_steps(void)
{
    hd_manual_seed(2);
    hd_module *block = block_new();
    hd_list *parameters = hd_module_parameters(block);
    hd_optim *optim = hd_adamw_new(parameters, NULL);
    hd_tensor *x = hd_add_scalar(hd_rand(HD_FLOAT32, BATCH, TOKENS, WIDTH), -0.5); /* (b, t, d) */
    for (int step = 1; step <= STEPS; step++) {
        HD_SCOPE;
        hd_tensor *loss = hd_mse_loss(hd_forward(block, x), hd_flip(x, 1));
        hd_optim_zero_grad(optim);
        hd_backward(loss);
        hd_optim_step(optim);
        uint64_t hash = 0xcbf29ce484222325;
        for (int64_t i = 0; i < hd_list_len(parameters); i++) {
            hash = hash_of(hd_list_get(parameters, i), hash);
        }
        printf("step %-2d loss %.6f %016" PRIx64 "\n", step, hd_item(loss), hash);
    }
    hd_optim_free(optim);
    hd_module_free(block);
}

int main(void)
{
    hd_on_error(hd_error_abort, NULL);
    print_results(HD_FLOAT32);
    print_results(HD_FLOAT64);
    print_steps();
    return hd_error_code();
}
