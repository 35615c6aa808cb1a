/* dropout.c - y = x * (kept / keep), where random draws decide whether kept is 1 or 0. y may be x.
 * The operation DROPOUT in elementwise.h takes a mask of bytes instead of draws. */
#include "tensor/kernels/dropout.h"
#include "tensor/kernels/draws.h"
#include "tensor/kernels/loops.h"

/* Sets `to` to HDK_DRAWS elements of x, each times scale if its draw is below the limit, and times
 * 0 otherwise. */
static inline void keep_f32(const float *x, const vec_i32 *drawn, uint32_t limit, float scale,
                            float *to)
{
    const vec_i32 below = (vec_i32){0} + (int32_t)limit;
    for (int k = 0; k < HDK_DRAW_VECTORS; k++) {
        vec_f32 factor = vkeep_f32(vall_f32(scale), drawn[k] < below);
        vstore_f32(to + k * HDK_V, vload_f32(x + k * HDK_V) * factor); /* heed-loop */
    }
}

#ifdef HDK_WIDE_TYPES
static inline void keep_f64(const double *x, const vec_i32 *drawn, uint32_t limit, double scale,
                            double *to)
{
    const vec_i32 below = (vec_i32){0} + (int32_t)limit;
    for (int k = 0; k < HDK_DRAW_VECTORS; k++) {
        int32_t kept[HDK_V]; /* -1 for a kept element, 0 for others */
        const vec_i32 mask = drawn[k] < below;
        memcpy(kept, &mask, sizeof kept);
        HDK_INDEPENDENT
        for (int l = 0; l < HDK_V; l++) {
            to[k * HDK_V + l] = x[k * HDK_V + l] * ((double)(kept[l] & 1) * scale);
        }
    }
}
#endif

#define DRAW(name, T, KEEP)                                                                        \
    static void name(const hdk_drop *d, int64_t begin, int64_t n, const void *in, void *out)       \
    {                                                                                              \
        const T *x = in, scale = 1 / (T)d->keep;                                                   \
        T *y = out;                                                                                \
        hdk_draws g = hdk_draws_at(d->x0, begin);                                                  \
        vec_i32 drawn[HDK_DRAW_VECTORS];                                                           \
        T room[HDK_DRAWS], rest[HDK_DRAWS] = {0};                                                  \
        for (int64_t i = 0; i < n; i += HDK_DRAWS) {                                               \
            bool whole = n - i >= HDK_DRAWS;                                                       \
            if (!whole) {                                                                          \
                memcpy(rest, x + i, (size_t)(n - i) * sizeof(T));                                  \
            }                                                                                      \
            hdk_draws_next(&g, drawn);                                                             \
            KEEP(whole ? x + i : rest, drawn, d->limit, scale,                                     \
                 whole && !d->stream ? y + i : room);                                              \
            if (!whole) {                                                                          \
                memcpy(y + i, room, (size_t)(n - i) * sizeof(T));                                  \
            } else if (d->stream) {                                                                \
                hdk_stream_copy(y + i, room, HDK_DRAWS * sizeof(T));                               \
            }                                                                                      \
        }                                                                                          \
        hdk_stream_end();                                                                          \
    }

DRAW(draw_f32, float, keep_f32)
#ifdef HDK_WIDE_TYPES
DRAW(draw_f64, double, keep_f64)
#endif

const struct hdk_dropout HDK_TABLE(hdk_dropout) = {
    .draw = {draw_f32, HDK_WIDE(draw_f64)},
};
