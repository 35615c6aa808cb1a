/* binary.c - loops of two inputs, those of the rows of elementwise.h and of comparisons, and of
 * where. */
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/functions.h"

/* Integers wrap, in uint64. */
#define WRAP(a, op, b)                                                                             \
    _Generic((a), int64_t : (int64_t)((uint64_t)(a)op(uint64_t)(b)), default : (a)op(b))
#define IS_NAN(a) _Generic((a), int64_t : false, default : (a) != (a))
#define SIGN(b) ((b > 0) - (b < 0))

#define FLOATS(name, EXPR)                                                                         \
    HDK_NUMBER_LOOP(name##_f32, float, EXPR)                                                       \
    HDK_NUMBER_LOOP(name##_f64, double, EXPR)
#define NUMBERS(name, EXPR) FLOATS(name, EXPR) HDK_NUMBER_LOOP(name##_i64, int64_t, EXPR)
#define ALL(name, EXPR, BOOLS)                                                                     \
    NUMBERS(name, EXPR) HDK_IF_WIDE(HDK_BINARY_LOOP(name##_b8, uint8_t, HDK_EACH, BOOLS))
#define TRAINING(name, EXPR)                                                                       \
    HDK_BINARY_LOOP(name##_f32, float, HDK_EACH, EXPR)                                             \
    HDK_IF_WIDE(HDK_BINARY_LOOP(name##_f64, double, HDK_EACH, EXPR))
#define VECTORS(name, EXPR)                                                                        \
    HDK_VECTOR_LOOP(name##_f32, 2, EXPR)                                                           \
    HDK_IF_WIDE(HDK_BINARY_LOOP(name##_f64, double, HDK_WHOLE, EXPR))
#define OWN(name, ...)
#define LOOPS(op, name, TYPES, ...) TYPES(name, __VA_ARGS__)
HDK_BINARY_ROWS(LOOPS) /* heed-loop */

HDK_BINARY_LOOP(pow_f32, float, HDK_EACH, scalar_pow_short_f64((double)a, (double)b))
HDK_IF_WIDE(HDK_BINARY_LOOP(pow_f64, double, HDK_EACH, pow(a, b)))

#ifdef HDK_WIDE_TYPES
/* For b < 0 the power is a fraction, of which only 1, -1 or 0 is left. */
static int64_t int_pow(int64_t a, int64_t b)
{
    uint64_t y = 1, base = (uint64_t)a;
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    }
    for (; b; b >>= 1, base *= base) {
        y *= b & 1 ? base : 1;
    }
    return (int64_t)y;
}
HDK_BINARY_LOOP(pow_i64, int64_t, HDK_EACH, int_pow(a, b))
#endif

/* f(b, a) */
#define SWAPPED(name, f)                                                                           \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        f((char *[]){data[0], data[2], data[1]},                                                   \
          (const int64_t[]){strides[0], strides[2], strides[1]}, n, params);                       \
    }

#define COMPARE(SUFFIX, T) /* heed-loop */                                                         \
    HDK_LOOP(eq_##SUFFIX, HDK_EACH, 2, uint8_t, T, T, T, a == b)                                   \
    HDK_LOOP(ne_##SUFFIX, HDK_EACH, 2, uint8_t, T, T, T, a != b)                                   \
    HDK_LOOP(lt_##SUFFIX, HDK_EACH, 2, uint8_t, T, T, T, a < b)                                    \
    HDK_LOOP(le_##SUFFIX, HDK_EACH, 2, uint8_t, T, T, T, a <= b)                                   \
    SWAPPED(gt_##SUFFIX, lt_##SUFFIX)                                                              \
    SWAPPED(ge_##SUFFIX, le_##SUFFIX)
COMPARE(f32, float)
COMPARE(f64, double)
COMPARE(i64, int64_t)
HDK_IF_WIDE(COMPARE(b8, uint8_t))

#define WHERE(name, T) HDK_LOOP(name, HDK_EACH, 3, T, uint8_t, T, T, a ? b : c) /* heed-loop */
WHERE(where_4, uint32_t)
WHERE(where_8, uint64_t)
HDK_IF_WIDE(WHERE(where_1, uint8_t))

#define FLOATS_OF(name) name##_f32, name##_f64
#define NUMBERS_OF(name) FLOATS_OF(name), name##_i64
#define ALL_OF(name) NUMBERS_OF(name), HDK_WIDE(name##_b8)
#define TRAINING_OF(name) name##_f32, HDK_WIDE(name##_f64)
#define VECTORS_OF(name) TRAINING_OF(name)
#define OWN_OF(name) TRAINING_OF(name), HDK_WIDE(name##_i64)

const struct hdk_binary HDK_TABLE(hdk_binary) = {
    .of = {HDK_BINARY_ROWS(HDK_ENTRY)},
    .compare = {{ALL_OF(eq)}, {ALL_OF(ne)}, {ALL_OF(lt)}, {ALL_OF(le)}, {ALL_OF(gt)}, {ALL_OF(ge)}},
    .where = {where_4, where_8, where_8, HDK_WIDE(where_1)},
};
