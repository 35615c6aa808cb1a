/* plain.c - the level plain: kernels that compute the same as those of the other levels, written to
 * be read and stepped through.
 *
 * They are nested loops without packing, vectors and threads. This file includes each template once
 * for each type. Sums are in order and in float64, with two exceptions. Sums of matrix products are
 * in the elements' type. Short sums have PyTorch's type and order, so that results print the same
 * last digit. The tests of the kernels compare the other levels with these. A family without a
 * table here uses the table of the level baseline. */
#include "base/random/mcg31.h"
#include "tensor/kernels/attention.h"
#include "tensor/kernels/gemm.h"
#include "tensor/kernels/loss.h"
#include "tensor/kernels/norm.h"
#include "tensor/kernels/reduce.h"
#include "tensor/kernels/softmax.h"
#include "tensor/kernels/template.h"

/* total_T is the type in which elements of type T are added up. */
typedef double total_f32, total_f64;
typedef uint64_t total_u64;

/* weight_T is the type of the elements of a product's second matrix. With TYPE bf16 that matrix is
 * bfloat16, and T, which is hdk_t_bf16, is float. */
typedef float weight_f32, hdk_t_bf16;
typedef double weight_f64;
typedef uint64_t weight_u64;
typedef uint16_t weight_bf16;
#define widened_f32(x) (x)
#define widened_f64(x) (x)
#define widened_u64(x) (x)
#define widened_bf16(x) hdk_from_bf16(x)

/* Returns the number with which the sum of a lane begins, 0 or -0, so that a sum of zeros gets
 * PyTorch's sign. Over the last dim, where the elements of a lane are side by side, it is -0,
 * because PyTorch's sum begins with the first element, and -0 + x is x. Over other dims it is 0.
 * l->sn[0], the distance of the elements, is 0 for a tensor of no dims. */
static double first_zero(const hdk_lanes *l)
{
    return l->sn[0] <= 1 ? -0.0 : 0.0;
}

/* True if the causal mask or a bool mask masks key j for query i. */
static bool is_hidden(const hdk_head *h, int64_t i, int64_t j)
{
    const uint8_t *seen = h->mask.p;
    bool later = j >= i + h->sees;
    return later || (seen && h->mask_is_bool && !seen[i * h->mask.row + j * h->mask.col]);
}

/* True if dropout keeps weight (i, j). If h has bits, the weight's bit decides; otherwise its
 * element of the random stream does. */
static bool is_kept(const hdk_head *h, int64_t i, int64_t j)
{
    int64_t n = h->first + i * h->s + j;
    if (h->bits) {
        return h->bits[n / 8] >> n % 8 & 1;
    }
    return hd__mcg31_times(h->seed, hd__mcg31_power(n)) < h->limit;
}

#define TYPE f32
#include "tensor/kernels/plain/plain_product.h"
#include "tensor/kernels/plain/plain_sum.h"
#include "tensor/kernels/plain/plain_distance.h"
#include "tensor/kernels/plain/plain_extreme.h"
#include "tensor/kernels/plain/plain_softmax.h"
#include "tensor/kernels/plain/plain_loss.h"
#include "tensor/kernels/plain/plain_norm.h"
#include "tensor/kernels/plain/plain_attention.h"
#undef TYPE

#define TYPE f64
#include "tensor/kernels/plain/plain_product.h"
#include "tensor/kernels/plain/plain_sum.h"
#include "tensor/kernels/plain/plain_distance.h"
#include "tensor/kernels/plain/plain_extreme.h"
#include "tensor/kernels/plain/plain_softmax.h"
#include "tensor/kernels/plain/plain_loss.h"
#include "tensor/kernels/plain/plain_norm.h"
#include "tensor/kernels/plain/plain_attention.h"
#undef TYPE

#define TYPE u64
#include "tensor/kernels/plain/plain_product.h"
#include "tensor/kernels/plain/plain_sum.h"
#undef TYPE

#define TYPE i64
#include "tensor/kernels/plain/plain_extreme.h"
#undef TYPE

#define TYPE b8
#include "tensor/kernels/plain/plain_extreme.h"
#undef TYPE

#define TYPE bf16
#include "tensor/kernels/plain/plain_product.h"
#undef TYPE

static void split_bf16(const hdk_product *p)
{
    product_bf16(p, NULL);
}

/* Returns 0 bytes of scratch, because the product here packs nothing. */
static int64_t no_room(const hdk_product *p)
{
    (void)p;
    return 0;
}

/* Sets y, which is int64, to the number of true elements of each lane. */
static void sum_b8(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        const uint8_t *x = (const uint8_t *)data[1] + j * l->sk[1];
        int64_t sum = 0;
        for (int64_t i = 0; i < l->n; i++) {
            sum += x[i * l->sn[1]] != 0; /* heed-loop */
        }
        ((int64_t *)data[0])[j * l->sk[0]] = sum;
    }
}

/* ---------------------------------------------------------------- the tables */

#define FLOATS(name) name##_f32, name##_f64
#define ALL(name) FLOATS(name), name##_i64, name##_b8

const struct hdk_gemm HDK_TABLE(hdk_gemm) = {
    .product = {FLOATS(product), product_u64},
    .room = {no_room, no_room, no_room},
    .bf16 = split_bf16,
    .tile_rows = 1,
    .tile_cols = 1,
};

const struct hdk_reduce HDK_TABLE(hdk_reduce) = {
    .kernel =
        {
            [HDK_SUM] = {FLOATS(sum), sum_u64, sum_b8},
            [HDK_MAX] = {ALL(max_value)},
            [HDK_MIN] = {ALL(min_value)},
            [HDK_ANY] = {ALL(any)},
            [HDK_ALL] = {ALL(all)},
            [HDK_VAR] = {FLOATS(var)},
            [HDK_ARGMAX] = {ALL(max_arg)},
            [HDK_ARGMIN] = {ALL(min_arg)},
        },
    .center = {FLOATS(center)},
    .distance_f32 = square_distance_f32,
    .distance_f64 = square_distance_f64,
};

/* One kernel serves both the last dim and the others. */
const struct hdk_softmax HDK_TABLE(hdk_softmax) = {
    .along =
        {
            [HDK_SOFTMAX] = {{FLOATS(softmax)}, {FLOATS(softmax)}},
            [HDK_SOFTMAX_BACKWARD] = {{FLOATS(softmax_backward)}, {FLOATS(softmax_backward)}},
            [HDK_LOG_SOFTMAX] = {{FLOATS(log_softmax)}, {FLOATS(log_softmax)}},
            [HDK_LOG_SOFTMAX_BACKWARD] = {{FLOATS(log_softmax_backward)},
                                          {FLOATS(log_softmax_backward)}},
        },
    .logsumexp = {FLOATS(logsumexp)},
    .cumsum = {FLOATS(cumsum), cumsum_u64},
};

const struct hdk_loss HDK_TABLE(hdk_loss) = {
    .cross_entropy = {FLOATS(cross_entropy)},
    .cross_entropy_backward = {FLOATS(cross_entropy_backward)},
    .square = {FLOATS(square)},
    .square_backward = {FLOATS(square_backward)},
};

const struct hdk_norm HDK_TABLE(hdk_norm) = {
    .layer_norm = {FLOATS(layer_norm)},
    .layer_norm_backward = {FLOATS(layer_norm_backward)},
};

#define ROWS(suffix)                                                                               \
    {                                                                                              \
        .forward_room = attention_room_##suffix, .forward = attention_##suffix,                    \
        .weights = attention_weights_##suffix, .backward_room = attention_room_##suffix,           \
        .backward = attention_backward_##suffix, .query_block = 1, .key_block = 1                  \
    }

const struct hdk_attention HDK_TABLE(hdk_attention) = {
    .rows = {ROWS(f32), ROWS(f64)},
    .tiles = ROWS(f32),
};
