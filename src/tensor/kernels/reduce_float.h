/* reduce_float.h - what only floats have: a template (template.h) for reduce.c, after reduce_sum.h.
 * The variance is computed in float64 whatever T is. */

/* sum_l += sum(x - mean), or of its squares, over x_l, x_(l + LANES), ... */
HDK_INLINE void fn(moments)(const T *restrict x, int64_t n, double mean, bool squared, double *sum)
{
    double p[LANES];
    int64_t i = 0;
    HDK_UNROLL
    for (int l = 0; l < LANES; l++) {
        p[l] = sum[l];
    }
    for (; i + LANES <= n; i += LANES) {
        HDK_UNROLL
        for (int l = 0; l < LANES; l++) {
            double d = (double)x[i + l] - mean;
            p[l] += squared ? d * d : d;
        }
    }
    for (int l = 0; i + l < n; l++) {
        double d = (double)x[i + l] - mean;
        p[l] += squared ? d * d : d;
    }
    HDK_UNROLL
    for (int l = 0; l < LANES; l++) {
        sum[l] = p[l];
    }
}

/* sum(x - mean), or of its squares */
HDK_INLINE double fn(moment)(const T *x, int64_t sn, int64_t n, double mean, bool squared)
{
    double p[LANES] = {0}, sum = 0;
    T room[BLOCK];
    if (n < LANES) {
        for (int64_t i = 0; i < n; i++) {
            double d = (double)x[i * sn] - mean;
            sum += squared ? d * d : d;
        }
        return sum;
    }
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;
        fn(moments)(fn(dense)(x + i * sn, sn, m, room), m, mean, squared, p);
    }
    HDK_UNROLL
    for (int l = 0; l < LANES; l++) {
        sum += p[l];
    }
    return sum;
}

static void fn(run_var)(const T *x, int64_t sn, int64_t n, T *y, double divisor)
{
    double mean = fn(moment)(x, sn, n, 0, false) / (double)n;
    *y = (T)(fn(moment)(x, sn, n, mean, true) / divisor);
}

static void fn(tile_var)(const T *x, int64_t sn, int64_t sk, int64_t n, int64_t k, T *y, int64_t ys,
                         double divisor)
{
    double mean[TILE] = {0}, squares[TILE] = {0};
    T room[TILE];
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

static void fn(var)(const hdk_lanes *l, void *const *data, double divisor)
{
    T *y = data[0];
    const T *x = data[1];
    int64_t ys = l->sk[0], sn = l->sn[1], sk = l->sk[1];
    if (hdk_lanes_apart(l)) {
        for (int64_t j = 0; j < l->k; j++) {
            fn(run_var)(x + j * sk, sn, l->n, y + j * ys, divisor);
        }
        return;
    }
    for (int64_t j = 0; j < l->k; j += TILE) {
        int64_t k = l->k - j < TILE ? l->k - j : TILE;
        fn(tile_var)(x + j * sk, sn, sk, l->n, k, y + j * ys, ys, divisor);
    }
}

static T fn(square_distance)(const T *restrict x, const T *restrict t, int64_t n)
{
    T level[LEVELS], d[BLOCK];
    uint64_t blocks = 0;
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;
        for (int64_t j = 0; j < m; j++) {
            T difference = x[i + j] - t[i + j];
            d[j] = difference * difference;
        }
        if (n <= BLOCK) {
            return fn(run_sum)(d, 1, n);
        }
        fn(push)(level, blocks++, fn(block_sum)(d, m));
    }
    return fn(collect)(level, blocks);
}
