/* rows.c - the rows of the benchmark: names, kinds of work and sizes. compare.py reads them with
 * heed-bench --list; the goals of the rows are in bench/table.py. */
#include "bench.h"

#include <stdio.h>

const char *bench_model;

#define MATMUL(shape, m, k, n)                                                                     \
    {"matmul/" shape "/nn", &kind_matmul, {m, k, n, 0, 0}},                                        \
        {"matmul/" shape "/nt", &kind_matmul, {m, k, n, 0, 1}},                                    \
    {                                                                                              \
        "matmul/" shape "/tn", &kind_matmul,                                                       \
        {                                                                                          \
            m, k, n, 1, 0                                                                          \
        }                                                                                          \
    }

/* "in": the data fit in the second-level caches of two cores. "out": no cache holds them. */
#define BOTH(name, kind, in_rows, out_rows, ...)                                                   \
    {name "/in", &kind, {in_rows, __VA_ARGS__}},                                                   \
    {                                                                                              \
        name "/out", &kind,                                                                        \
        {                                                                                          \
            out_rows, __VA_ARGS__                                                                  \
        }                                                                                          \
    }

#define ATTENTION(name, batch, tokens, width, heads)                                               \
    {name "/dropout0", &kind_attention, {batch, tokens, width, heads, 0}},                         \
    {                                                                                              \
        name "/dropout0.1", &kind_attention,                                                       \
        {                                                                                          \
            batch, tokens, width, heads, 0.1                                                       \
        }                                                                                          \
    }

#define GPT(name, ...)                                                                             \
    {name "/dropout0", &kind_gpt, {__VA_ARGS__, 0}},                                               \
    {                                                                                              \
        name "/dropout0.1", &kind_gpt,                                                             \
        {                                                                                          \
            __VA_ARGS__, 0.1                                                                       \
        }                                                                                          \
    }

#define HF(name, kind, ...)                                                                        \
    {name "/float32", &kind, {__VA_ARGS__, 0}},                                                    \
    {                                                                                              \
        name "/bfloat16", &kind,                                                                   \
        {                                                                                          \
            __VA_ARGS__, 1                                                                         \
        }                                                                                          \
    }

const bench_row bench_rows[] = {
    MATMUL("2048x2048x2048", 2048, 2048, 2048),
    MATMUL("1024x3072x768", 1024, 3072, 768),
    MATMUL("256x768x768", 256, 768, 768),
    {"matmul/64x64x64/nn", &kind_matmul, {64, 64, 64, 0, 0}},
    {"tiny/matmul", &kind_matmul, {6, 3, 2, 0, 0}},
    {"tiny/add", &kind_add, {6, 3}},
    {"tiny/step", &kind_tiny_step, {0}},
    ATTENTION("attention/1024", 2, 1024, 768, 12),
    ATTENTION("attention/256", 2, 256, 768, 12),
    GPT("gpt/small", 6, 6, 384, 256, 8, 65),
    GPT("gpt/124m", 12, 12, 768, 256, 2, 50257),
    {"prefill/124m", &kind_prefill, {12, 12, 768, 1024, 1, 50257, 512, 0}},
    {"decode/124m/batch1", &kind_decode, {12, 12, 768, 1024, 1, 50257, 128, 64}},
    {"decode/124m/batch8", &kind_decode, {12, 12, 768, 1024, 8, 50257, 128, 64}},
    BOTH("softmax/forward", kind_softmax, 256, 16384, 1024),
    BOTH("softmax/backward", kind_softmax_backward, 256, 16384, 1024),
    BOTH("layer_norm/forward", kind_layer_norm, 256, 16384, 1024),
    BOTH("layer_norm/backward", kind_layer_norm_backward, 256, 16384, 1024),
    BOTH("gelu/forward", kind_gelu, 256, 16384, 1024, 0),
    BOTH("gelu/backward", kind_gelu_backward, 256, 16384, 1024, 0),
    BOTH("gelu_tanh/forward", kind_gelu, 256, 16384, 1024, 1),
    BOTH("gelu_tanh/backward", kind_gelu_backward, 256, 16384, 1024, 1),
    BOTH("dropout/forward", kind_dropout, 256, 16384, 1024, 0.1),
    BOTH("dropout/backward", kind_dropout_backward, 256, 16384, 1024, 0.1),
    BOTH("cross_entropy/forward", kind_cross_entropy, 8, 512, 50257),
    BOTH("cross_entropy/backward", kind_cross_entropy_backward, 8, 512, 50257),
    {"adamw/124m", &kind_adamw, {0}},
    {"start", &kind_start, {0}},
#ifdef HEED_HAVE_HF
    HF("hf/tokens", kind_hf_generate, 8, 64),
    HF("hf/prompt", kind_hf_generate, 512, 1),
    {"hf/step/float32", &kind_hf_step, {256, 0, 0}},
    HF("hf/lora", kind_hf_step, 256, 8),
    HF("hf/lora-48", kind_hf_step, 48, 8),
    {"hf/load", &kind_hf_load, {0}},
#endif
    ATTENTION("growth/tokens/128", 1, 128, 768, 12),
    ATTENTION("growth/tokens/256", 1, 256, 768, 12),
    ATTENTION("growth/tokens/512", 1, 512, 768, 12),
    ATTENTION("growth/tokens/1024", 1, 1024, 768, 12),
    ATTENTION("growth/tokens/2048", 1, 2048, 768, 12),
    ATTENTION("growth/tokens/4096", 1, 4096, 768, 12),
    ATTENTION("growth/width/128", 2, 256, 128, 2),
    ATTENTION("growth/width/256", 2, 256, 256, 4),
    ATTENTION("growth/width/512", 2, 256, 512, 8),
    ATTENTION("growth/width/1024", 2, 256, 1024, 16),
    ATTENTION("growth/width/2048", 2, 256, 2048, 32),
};

const size_t bench_row_count = sizeof bench_rows / sizeof *bench_rows;

const char *bench_shape(const bench_row *r, char *text, size_t size)
{
    size_t at = 0;
    snprintf(text, size, "%s", r->kind->shape ? r->kind->shape : "");
    for (int i = 0; i < BENCH_ARGS && r->kind->args[i] && at < size; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s%s=%g", i > 0 ? " " : "", r->kind->args[i],
                               r->args[i]);
    }
    return text;
}

void bench_print_row(const bench_row *r)
{
    printf("{\"name\": \"%s\", \"kind\": \"%s\"", r->name, r->kind->name);
    for (int i = 0; i < BENCH_ARGS && r->kind->args[i]; i++) {
        printf(", \"%s\": %g", r->kind->args[i], r->args[i]);
    }
    printf("}\n");
}
