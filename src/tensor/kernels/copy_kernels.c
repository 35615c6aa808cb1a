/* copy_kernels.c - loops that fill; ranges; transposition; loops that write past the cache. */
#include "tensor/kernels/copy.h"

#include "tensor/kernels/loops.h"
#include "tensor/kernels/vec.h"

#define FILL(name, T)                                                                              \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        T v;                                                                                       \
        memcpy(&v, params, sizeof v);                                                              \
        if (strides[0] == sizeof(T)) {                                                             \
            T *y = (T *)data[0];                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                      \
                y[i] = v;                                                                          \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            *(T *)(data[0] + i * strides[0]) = v;                                                  \
        }                                                                                          \
    }

FILL(fill_4, uint32_t)
FILL(fill_8, uint64_t)
FILL(fill_1, uint8_t)
FILL(fill_2, uint16_t)

/* Defines the arange loop `name` for type T. It computes pairs of vectors of LANES elements, then
 * the remaining elements. A vector counts up from its first element, which is rounded to T. Each
 * remaining element is computed from `start`. At every CPU level, LANES is the length of PyTorch's
 * vectors. */
#define ARANGE(name, T, LANES)                                                                     \
    static void name(void *to, double start, double step, int64_t n, int64_t begin, int64_t end)   \
    {                                                                                              \
        T *y = (T *)to;                                                                            \
        int64_t i = begin, whole = n - n % (2 * LANES);                                            \
        for (; i < end && i < whole; i += LANES) {                                                 \
            const double first = (double)(T)fma(step, (double)i, start);                           \
            for (int k = 0; k < LANES; k++) {                                                      \
                y[i + k] = (T)fma((double)k, step, first);                                         \
            }                                                                                      \
        }                                                                                          \
        for (; i < end; i++) {                                                                     \
            y[i] = (T)fma(step, (double)i, start);                                                 \
        }                                                                                          \
    }

ARANGE(arange_f32, float, 8)
ARANGE(arange_f64, double, 4)

/* Defines the linspace loop `name` for type T. An index that fits into int32 is converted to T from
 * int32, because every CPU level has vector instructions for this. */
#define LINSPACE(name, T, FMA)                                                                     \
    static inline void name##_part(T *y, T step, T from, int64_t number, int sign, int64_t n)      \
    {                                                                                              \
        if (number > INT32_MAX - n) {                                                              \
            for (int64_t i = 0; i < n; i++) {                                                      \
                y[i] = FMA(step, (T)(number + sign * i), from);                                    \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        int32_t first = (int32_t)number;                                                           \
        for (int32_t i = 0; i < (int32_t)n; i++) {                                                 \
            y[i] = FMA(step, (T)(first + sign * i), from);                                         \
        }                                                                                          \
    }                                                                                              \
    static void name(void *to, double a, double b, int64_t n, int64_t begin, int64_t end)          \
    {                                                                                              \
        enum { PART = 1 << 20 };                                                                   \
        T *y = (T *)to, step = ((T)b - (T)a) / (T)(n - 1);                                         \
        while (begin < end) {                                                                      \
            int64_t stop = begin < n / 2 && end > n / 2 ? n / 2 : end;                             \
            int64_t some = stop - begin < PART ? stop - begin : PART;                              \
            if (begin < n / 2) {                                                                   \
                name##_part(y + begin, step, (T)a, begin, 1, some);                                \
            } else {                                                                               \
                name##_part(y + begin, -step, (T)b, n - 1 - begin, -1, some);                      \
            }                                                                                      \
            begin += some;                                                                         \
        }                                                                                          \
    }
LINSPACE(linspace_f32, float, scalar_fma_f32)
LINSPACE(linspace_f64, double, fma)

enum { PIECE = 4096 }; /* number of output bytes that are computed before they are written */

/* Runs p's loop for the m elements from i on, and writes its output to y. */
static void compute_piece(const hdk_past_cache *p, char *y, char *const *data,
                          const int64_t *strides, int64_t i, int64_t m)
{
    char *at[4] = {y};
    for (int k = 1; k < p->operands; k++) {
        at[k] = data[k] + i * strides[k];
    }
    p->f(at, strides, m, p->params);
}

static void run_past_cache(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    _Alignas(HDK_LINE) char piece[PIECE];
    const hdk_past_cache *p = params;
    const int64_t item = p->item;
    int64_t i = (int64_t)(-(uintptr_t)data[0] % HDK_LINE) / item;
    i = i < n ? i : n;
    if (i > 0) {
        compute_piece(p, data[0], data, strides, 0, i);
    }
    for (int64_t m; i < n; i += m) {
        m = n - i < PIECE / item ? n - i : PIECE / item;
        compute_piece(p, piece, data, strides, i, m);
        char *y = data[0] + i * item;
        size_t bytes = (size_t)(m * item), at = 0;
        for (; at + HDK_LINE <= bytes; at += HDK_LINE) {
            for (size_t v = 0; v < HDK_LINE; v += HDK_REGISTER) {
                vstream_f32((float *)(y + at + v), vload_f32((const float *)(piece + at + v)));
            }
        }
        memcpy(y + at, piece + at, bytes - at);
    }
}

static void end_past_cache(void)
{
    hdk_stream_end();
}

#ifdef HDK_WIDE_TYPES
enum { AHEAD = 3 * HDK_STRIP }; /* a row of x is prefetched this many rows before it is read */

/* Defines a function that writes the transposed tile x to y. */
#define TURN(name, T)                                                                              \
    static inline void name(char *y, int64_t y_row, T(*x)[HDK_STRIP], int64_t rows,                \
                            int64_t columns)                                                       \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            T *to = (T *)(y + i * y_row);                                                          \
            for (int64_t j = 0; j < columns; j++) {                                                \
                to[j] = x[j][i];                                                                   \
            }                                                                                      \
        }                                                                                          \
    }
TURN(turn_rest_1, uint8_t)
TURN(turn_2, uint16_t)
TURN(turn_8, uint64_t)
TURN(turn_rest_4, uint32_t)

/* Writes the transposed tile x to y. A full tile, 16 rows of 16 bytes, takes four rounds. Each
 * round interleaves every row of the first half, byte by byte, with the row at the same place in
 * the second half. */
static inline void turn_1(char *y, int64_t y_row, uint8_t (*x)[HDK_STRIP], int64_t rows,
                          int64_t columns)
{
#if defined(__clang__) || __GNUC__ >= 12
    typedef uint8_t bytes __attribute__((vector_size(HDK_STRIP)));
    bytes v[HDK_STRIP], w[HDK_STRIP];
    if (rows == HDK_STRIP && columns == HDK_STRIP) {
        memcpy(v, x, sizeof v);
        for (int round = 0; round < 4; round++) {
            HDK_UNROLL
            for (int i = 0; i < HDK_STRIP / 2; i++) {
                const bytes a = v[i], b = v[i + HDK_STRIP / 2];
                w[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                                   6, 22, 7, 23);
                w[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                                       13, 29, 14, 30, 15, 31);
            }
            memcpy(v, w, sizeof v);
        }
        for (int i = 0; i < HDK_STRIP; i++) {
            memcpy(y + i * y_row, &v[i], sizeof v[i]);
        }
        return;
    }
#endif
    turn_rest_1(y, y_row, x, rows, columns);
}

static inline void turn_4(char *y, int64_t y_row, uint32_t (*x)[HDK_STRIP], int64_t rows,
                          int64_t columns)
{
    if (rows != HDK_STRIP || columns != HDK_STRIP) {
        turn_rest_4(y, y_row, x, rows, columns);
        return;
    }
    for (int i = 0; i < HDK_STRIP; i += 4) {
        for (int j = 0; j < HDK_STRIP; j += 4) {
            turn_four_f32((float *)(y + i * y_row) + j, y_row / (int64_t)sizeof(float),
                          (const float *)&x[j][i], HDK_STRIP);
        }
    }
}

/* Defines the function `name`, which transposes x to y in tiles, with the function `turn`. Copies
 * each tile to `room` first, so that each cache line is read once and written once. Rows that lie a
 * power of two apart share a few lines of the L1 cache. Without the copy, they would be evicted
 * before their second use. */
#define TRANSPOSE(name, T, turn)                                                                   \
    static void name(char *y, int64_t y_row, const char *x, int64_t x_row, int64_t rows,           \
                     int64_t columns)                                                              \
    {                                                                                              \
        T room[HDK_STRIP][HDK_STRIP];                                                              \
        for (int64_t j = 0; j < columns; j += HDK_STRIP) {                                         \
            int64_t k = columns - j < HDK_STRIP ? columns - j : HDK_STRIP;                         \
            for (int64_t at = 0; at < k; at++, x += x_row) {                                       \
                hdk_prefetch_at(x, AHEAD *x_row, HDK_STRIP * sizeof(T));                           \
                if (rows == HDK_STRIP) {                                                           \
                    memcpy(room[at], x, HDK_STRIP * sizeof(T));                                    \
                } else {                                                                           \
                    memcpy(room[at], x, (size_t)rows * sizeof(T));                                 \
                }                                                                                  \
            }                                                                                      \
            turn(y, y_row, room, rows, k);                                                         \
            y += HDK_STRIP * sizeof(T);                                                            \
        }                                                                                          \
    }
TRANSPOSE(transpose_4, uint32_t, turn_4)
TRANSPOSE(transpose_8, uint64_t, turn_8)
TRANSPOSE(transpose_1, uint8_t, turn_1)
TRANSPOSE(transpose_2, uint16_t, turn_2)
#endif

const struct hdk_copy HDK_TABLE(hdk_copy) = {
    .fill = {fill_4, fill_8, fill_8, fill_1, fill_2},
    .arange = {arange_f32, arange_f64},
    .linspace = {linspace_f32, linspace_f64},
    .transpose = {HDK_WIDE(transpose_4), HDK_WIDE(transpose_8), HDK_WIDE(transpose_8),
                  HDK_WIDE(transpose_1), HDK_WIDE(transpose_2)},
    .past_cache = run_past_cache,
    .past_cache_end = end_past_cache,
};

/* Names: linspace_f32_part linspace_f64_part */
