/* reduce_dense.h - makes strided elements contiguous: a template (template.h) for
 * reduce_kernels.c. */

/* Returns n <= REDUCE_BLOCK elements of x, which lie `stride` apart, side by side: x itself, or a
 * copy in room. */
static HDK_NOINLINE const T *fn(dense)(const T *x, int64_t stride, int64_t n, T *restrict room)
{
    if (stride == 1) {
        return x;
    }
    if (stride == 2) {
        for (int64_t i = 0; i < n; i++) {
            room[i] = x[2 * i];
        }
        return room;
    }
    for (int64_t i = 0; i < n; i++) {
        room[i] = x[i * stride];
    }
    return room;
}

/* Names: dense_b8 dense_f32 dense_f64 dense_i64 dense_u64 */
