/* reduce_sum.h - sums: a template (template.h) for reduce_kernels.c.
 *
 * The order depends only on n and on the way, a run or a tile (reduce_kernels.c). A run of fewer
 * than 8 elements has PyTorch's four partial sums. A longer run is cut into blocks of REDUCE_BLOCK
 * elements, each summed in REDUCE_LANES partial sums, which are folded in halves. The blocks' sums
 * are added in pairs, like the carries of a binary counter, so errors grow with log n. In a tile of
 * neighbouring lanes, a block is REDUCE_STEP elements, added in order. */

static T fn(short_sum)(const T *x, int64_t n)
{
    T p[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int l = 0; l < 4; l++) {
            p[l] += x[i + l]; /* heed-loop */
        }
    }
    for (; i < n; i++) {
        p[0] += x[i]; /* heed-loop */
    }
    return p[0] + p[1] + p[2] + p[3];
}

/* Returns the sum of n <= REDUCE_BLOCK elements. The partial sums begin with 0, so none is -0, and
 * zeros after the last elements change nothing. */
static T fn(block_sum)(const T *restrict x, int64_t n)
{
    enum { VECTORS = REDUCE_LANES / VECTOR };
    V p[VECTORS], rest[VECTORS];
    HDK_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        p[v] = (V){0};
    }
    for (; n >= REDUCE_LANES; x += REDUCE_LANES, n -= REDUCE_LANES) {
        HDK_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            p[v] += fn(vload)(x + v * VECTOR); /* heed-loop */
        }
    }
    if (n > 0) {
        HDK_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            rest[v] = (V){0};
        }
        memcpy(rest, x, (size_t)n * sizeof *x);
        HDK_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            p[v] += rest[v]; /* heed-loop */
        }
    }
    HDK_UNROLL
    for (int h = VECTORS / 2; h > 0; h /= 2) {
        HDK_UNROLL
        for (int v = 0; v < h; v++) {
            p[v] += p[v + h];
        }
    }
    return fn(vsum)(p[0]);
}

/* Adds s, the sum of one more block after `blocks` blocks, to the tree of partial sums, in which
 * level[i] has the sum of 2^i blocks. */
static void fn(push)(T *level, uint64_t blocks, T s)
{
    for (; blocks & 1; blocks >>= 1) {
        s = *level++ + s;
    }
    *level = s;
}

/* Returns the sum of all `blocks` blocks in the tree. */
static T fn(collect)(const T *level, uint64_t blocks)
{
    T s = 0;
    for (; blocks; blocks >>= 1, level++) {
        s = blocks & 1 ? *level + s : s;
    }
    return s;
}

static T fn(run_sum)(const T *x, int64_t sn, int64_t n)
{
    T level[LEVELS], room[REDUCE_BLOCK];
    if (n < 8) {
        return fn(short_sum)(fn(dense)(x, sn, n, room), n);
    }
    if (n <= REDUCE_BLOCK) {
        return fn(block_sum)(fn(dense)(x, sn, n, room), n);
    }
    uint64_t blocks = 0;
    for (int64_t i = 0; i < n; i += REDUCE_BLOCK) {
        int64_t m = n - i < REDUCE_BLOCK ? n - i : REDUCE_BLOCK;
        fn(push)(level, blocks++, fn(block_sum)(fn(dense)(x + i * sn, sn, m, room), m));
    }
    return fn(collect)(level, blocks);
}

/* Sets s to the sums of k <= REDUCE_TILE lanes of n <= REDUCE_STEP elements, which are added in
 * order. Adds four rows at a time, which saves loads of s. */
static inline void fn(step_sum)(const T *x, int64_t sn, int64_t sk, int64_t n, int64_t k,
                                T *restrict s)
{
    T room[4][REDUCE_TILE];
    int64_t i = 0;
    for (int64_t j = 0; j < k; j++) {
        s[j] = 0;
    }
    for (; i + 4 <= n; i += 4, x += 4 * sn) {
        const T *a = fn(dense)(x, sk, k, room[0]), *b = fn(dense)(x + sn, sk, k, room[1]);
        const T *c = fn(dense)(x + 2 * sn, sk, k, room[2]);
        const T *d = fn(dense)(x + 3 * sn, sk, k, room[3]);
        for (int64_t j = 0; j < k; j++) {
            s[j] = s[j] + a[j] + b[j] + c[j] + d[j]; /* heed-loop */
        }
    }
    for (; i < n; i++, x += sn) {
        const T *row = fn(dense)(x, sk, k, room[0]);
        for (int64_t j = 0; j < k; j++) {
            s[j] += row[j]; /* heed-loop */
        }
    }
}

static void fn(tile_sum)(const T *x, int64_t sn, int64_t sk, int64_t n, int64_t k, T *y, int64_t ys)
{
    T level[LEVELS][REDUCE_TILE], s[REDUCE_TILE];
    uint64_t blocks = 0;
    for (int64_t i = 0; i < n || i == 0; i += REDUCE_STEP) {
        int64_t m = n - i < REDUCE_STEP ? n - i : REDUCE_STEP, at = 0;
        fn(step_sum)(x + i * sn, sn, sk, m, k, s);
        for (uint64_t b = blocks++; b & 1; b >>= 1, at++) {
            for (int64_t j = 0; j < k; j++) {
                s[j] = level[at][j] + s[j];
            }
        }
        if (n > REDUCE_STEP) {
            memcpy(level[at], s, (size_t)k * sizeof *s);
        }
    }
    for (int64_t j = 0; j < k; j++) {
        if (n > REDUCE_STEP) {
            s[j] = 0;
            for (uint64_t b = blocks, at = 0; b; b >>= 1, at++) {
                s[j] = b & 1 ? level[at][j] + s[j] : s[j];
            }
        }
        y[j * ys] = s[j];
    }
}

REDUCTION(fn(sum), T, T, REDUCE_TILE, fn(run_sum)(x, sn, n), fn(tile_sum)(x, sn, sk, n, k, y, ys))

/* Names: short_sum_f32 short_sum_f64 short_sum_u64 block_sum_f32 block_sum_f64 block_sum_u64
 * push_f32 push_f64 push_u64 collect_f32 collect_f64 collect_u64 run_sum_f32 run_sum_f64
 * run_sum_u64 step_sum_f32 step_sum_f64 step_sum_u64 tile_sum_f32 tile_sum_f64 tile_sum_u64 sum_f32
 * sum_f64 sum_u64 */
