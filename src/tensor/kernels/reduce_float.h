/* reduce_float.h - the reductions that only floats have: a template (template.h) for
 * reduce_kernels.c, included after reduce_sum.h. The variance is computed in float64 for both
 * types. */

/* Adds to each sum[l] the sum of x - mean, or of (x - mean)^2 if `squared`, over every
 * REDUCE_LANES-th element from x[l] on. */
HDK_INLINE void fn(moments)(const T *restrict x, int64_t n, double mean, bool squared, double *sum)
{
    double p[REDUCE_LANES];
    int64_t i = 0;
    HDK_UNROLL
    for (int l = 0; l < REDUCE_LANES; l++) {
        p[l] = sum[l];
    }
    for (; i + REDUCE_LANES <= n; i += REDUCE_LANES) {
        HDK_UNROLL
        for (int l = 0; l < REDUCE_LANES; l++) {
            double d = (double)x[i + l] - mean;
            p[l] += squared ? d * d : d;
        }
    }
    for (; i < n; i++) { /* too few for vectors; this index keeps the compiler from using them */
        double d = (double)x[i] - mean;
        p[i % REDUCE_LANES] += squared ? d * d : d;
    }
    HDK_UNROLL
    for (int l = 0; l < REDUCE_LANES; l++) {
        sum[l] = p[l];
    }
}

/* Returns sum(x - mean), or sum((x - mean)^2) if `squared`, over n elements that lie sn apart. */
HDK_INLINE double fn(moment)(const T *x, int64_t sn, int64_t n, double mean, bool squared)
{
    double p[REDUCE_LANES] = {0}, sum = 0;
    T room[REDUCE_BLOCK];
    if (n < REDUCE_LANES) {
        for (int64_t i = 0; i < n; i++) {
            double d = (double)x[i * sn] - mean;
            sum += squared ? d * d : d;
        }
        return sum;
    }
    for (int64_t i = 0; i < n; i += REDUCE_BLOCK) {
        int64_t m = n - i < REDUCE_BLOCK ? n - i : REDUCE_BLOCK;
        fn(moments)(fn(dense)(x + i * sn, sn, m, room), m, mean, squared, p);
    }
    for (int l = 0; l < REDUCE_LANES; l++) {
        sum += p[l];
    }
    return sum;
}

static T fn(run_var)(const T *x, int64_t sn, int64_t n, double divisor)
{
    double mean = fn(moment)(x, sn, n, 0, false) / (double)n;
    return (T)(fn(moment)(x, sn, n, mean, true) / divisor);
}

static void fn(tile_var)(const T *x, int64_t sn, int64_t sk, int64_t n, int64_t k, T *y, int64_t ys,
                         double divisor)
{
    double mean[REDUCE_TILE] = {0}, squares[REDUCE_TILE] = {0};
    T room[REDUCE_TILE];
    for (int64_t i = 0; i < n; i++) {
        const T *row = fn(dense)(x + i * sn, sk, k, room);
        for (int64_t j = 0; j < k; j++) {
            mean[j] += (double)row[j];
        }
    }
    for (int64_t j = 0; j < k; j++) {
        mean[j] /= (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        const T *row = fn(dense)(x + i * sn, sk, k, room);
        for (int64_t j = 0; j < k; j++) {
            double d = (double)row[j] - mean[j];
            squares[j] += d * d;
        }
    }
    for (int64_t j = 0; j < k; j++) {
        y[j * ys] = (T)(squares[j] / divisor);
    }
}

REDUCTION(fn(var), T, T, REDUCE_TILE, fn(run_var)(x, sn, n, p),
          fn(tile_var)(x, sn, sk, n, k, y, ys, p))

/* Computes y = g * (x - m). g and m are one number each, or have one element per element of x. */
static void fn(center)(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    T *restrict y = (T *)data[0], room[3][REDUCE_BLOCK];
    const T *from[3];
    int64_t step[3];
    (void)params;
    for (int k = 0; k < 3; k++) {
        from[k] = (const T *)data[k + 1];
        step[k] = strides[k + 1] / (int64_t)sizeof(T);
    }
    const T g0 = *from[1], m0 = *from[2];
    for (int64_t i = 0; i < n; i += REDUCE_BLOCK, y += REDUCE_BLOCK) {
        int64_t block = n - i < REDUCE_BLOCK ? n - i : REDUCE_BLOCK;
        const T *x = fn(dense)(from[0] + i * step[0], step[0], block, room[0]);
        if (step[1] == 0 && step[2] == 0) {
            for (int64_t j = 0; j < block; j++) {
                y[j] = g0 * (x[j] - m0);
            }
            continue;
        }
        const T *g = fn(dense)(from[1] + i * step[1], step[1], block, room[1]);
        const T *m = fn(dense)(from[2] + i * step[2], step[2], block, room[2]);
        for (int64_t j = 0; j < block; j++) {
            y[j] = g[j] * (x[j] - m[j]);
        }
    }
}

static T fn(square_distance)(const T *restrict x, const T *restrict t, int64_t n)
{
    T level[LEVELS], d[REDUCE_BLOCK];
    uint64_t blocks = 0;
    for (int64_t i = 0; i < n; i += REDUCE_BLOCK) {
        int64_t m = n - i < REDUCE_BLOCK ? n - i : REDUCE_BLOCK;
        for (int64_t j = 0; j < m; j++) {
            T difference = x[i + j] - t[i + j];
            d[j] = difference * difference;
        }
        if (n <= REDUCE_BLOCK) {
            return fn(run_sum)(d, 1, n);
        }
        fn(push)(level, blocks++, fn(block_sum)(d, m));
    }
    return fn(collect)(level, blocks);
}

/* Names: moments_f32 moments_f64 moment_f32 moment_f64 run_var_f32 run_var_f64 tile_var_f32
 * tile_var_f64 var_f32 var_f64 center_f32 center_f64 square_distance_f32 square_distance_f64 */
