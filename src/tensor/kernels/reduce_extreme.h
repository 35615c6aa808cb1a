/* reduce_extreme.h - maximum or minimum, and its place: a template (template.h) for
 * reduce_extremes.h, which defines MOST (max or min), OP (>= or <=) and STRICTLY (> or <). The
 * result of a lane with a NaN is NaN. */

static T best(run)(const T *restrict x, int64_t n)
{
    T m = x[0];
    if (n >= REDUCE_LANES) {
        T p[REDUCE_LANES];
        int64_t i = REDUCE_LANES;
        memcpy(p, x, sizeof p);
        for (; i + REDUCE_LANES <= n; i += REDUCE_LANES) {
            HDK_UNROLL
            for (int l = 0; l < REDUCE_LANES; l++) {
                T v = x[i + l];
                p[l] = ((v OP p[l]) | IS_NAN(v)) ? v : p[l];
            }
        }
        m = p[0];
        for (int l = 1; l < REDUCE_LANES; l++) {
            m = ((p[l] OP m) | IS_NAN(p[l])) ? p[l] : m;
        }
        x += i;
        n -= i;
    }
    for (int64_t i = 0; i < n; i++) {
        m = ((x[i] OP m) | IS_NAN(x[i])) ? x[i] : m; /* heed-loop */
    }
    return m;
}

static T best(lane)(const T *x, int64_t sn, int64_t n)
{
    T m = x[0], room[REDUCE_BLOCK];
    if (sn == 1) {
        return best(run)(x, n);
    }
    for (int64_t i = 0; i < n; i += REDUCE_BLOCK) {
        int64_t block = n - i < REDUCE_BLOCK ? n - i : REDUCE_BLOCK;
        T v = best(run)(fn(dense)(x + i * sn, sn, block, room), block);
        m = ((v OP m) | IS_NAN(v)) ? v : m;
    }
    return m;
}

static void best(tile)(const T *x, int64_t sn, int64_t sk, int64_t n, int64_t k, T *y, int64_t ys)
{
    T m[REDUCE_TILE], room[REDUCE_TILE];
    for (int64_t j = 0; j < k; j++) {
        m[j] = x[j * sk];
    }
    for (int64_t i = 1; i < n; i++) {
        const T *row = fn(dense)(x + i * sn, sk, k, room);
        for (int64_t j = 0; j < k; j++) {
            T v = row[j];
            m[j] = ((v OP m[j]) | IS_NAN(v)) ? v : m[j];
        }
    }
    for (int64_t j = 0; j < k; j++) {
        y[j * ys] = m[j];
    }
}

REDUCTION(best(value), T, T, REDUCE_TILE, best(lane)(x, sn, n), best(tile)(x, sn, sk, n, k, y, ys))

/* Returns the index of the first of the n <= REDUCE_BLOCK elements that is m or NaN. m is the value
 * of one of them. */
static int64_t best(find)(const T *x, int64_t n, T m)
{
    int64_t i = 0;
    for (int hit = 0; i + REDUCE_LANES <= n; i += REDUCE_LANES) {
        HDK_UNROLL
        for (int l = 0; l < REDUCE_LANES; l++) {
            hit |= (x[i + l] == m) | IS_NAN(x[i + l]);
        }
        if (hit) {
            break;
        }
    }
    while (i < n - 1 && x[i] != m && !IS_NAN(x[i])) {
        i++;
    }
    return i;
}

/* Returns the index of the lane's first best value, or of its first NaN. Finds the first block that
 * has this value, and searches only there for its index. */
static int64_t best(lane_arg)(const T *x, int64_t sn, int64_t n)
{
    T m = 0, room[REDUCE_BLOCK];
    int64_t at = 0;
    for (int64_t i = 0; i < n; i += REDUCE_BLOCK) {
        int64_t block = n - i < REDUCE_BLOCK ? n - i : REDUCE_BLOCK;
        T v = best(run)(fn(dense)(x + i * sn, sn, block, room), block);
        if (i == 0 || v STRICTLY m || (IS_NAN(v) && !IS_NAN(m))) {
            m = v;
            at = i;
        }
    }
    int64_t block = n - at < REDUCE_BLOCK ? n - at : REDUCE_BLOCK;
    return at + best(find)(fn(dense)(x + at * sn, sn, block, room), block, m);
}

static void best(tile_arg)(const T *x, int64_t sn, int64_t sk, int64_t n, int64_t k, int64_t *at)
{
    T m[REDUCE_TILE], room[REDUCE_TILE];
    for (int64_t j = 0; j < k; j++) {
        m[j] = x[j * sk];
        at[j] = 0;
    }
    for (int64_t i = 1; i < n; i++) {
        const T *row = fn(dense)(x + i * sn, sk, k, room);
        for (int64_t j = 0; j < k; j++) {
            T v = row[j];
            bool better = (v STRICTLY m[j]) | (IS_NAN(v) & !IS_NAN(m[j]));
            m[j] = better ? v : m[j];
            at[j] = better ? i : at[j];
        }
    }
}

static void best(arg)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t *y = data[0], at[REDUCE_TILE];
    const T *x = data[1];
    T *value = data[2];
    int64_t sn = l->sn[1], sk = l->sk[1];
    bool apart = hdk_lanes_apart(l);
    (void)p;
    for (int64_t j0 = 0; j0 < l->k; j0 += REDUCE_TILE) {
        int64_t k = l->k - j0 < REDUCE_TILE ? l->k - j0 : REDUCE_TILE;
        if (!apart) {
            best(tile_arg)(x + j0 * sk, sn, sk, l->n, k, at);
        }
        for (int64_t j = 0; j < k; j++) {
            const T *lane = x + (j0 + j) * sk;
            int64_t i = apart ? best(lane_arg)(lane, sn, l->n) : at[j];
            y[(j0 + j) * l->sk[0]] = i;
            if (value) {
                value[(j0 + j) * l->sk[2]] = lane[i * sn];
            }
        }
    }
}

/* Names: max_run_b8 max_run_f32 max_run_f64 max_run_i64 max_lane_b8 max_lane_f32 max_lane_f64
 * max_lane_i64 max_tile_b8 max_tile_f32 max_tile_f64 max_tile_i64 max_value_b8 max_value_f32
 * max_value_f64 max_value_i64 max_find_b8 max_find_f32 max_find_f64 max_find_i64 max_lane_arg_b8
 * max_lane_arg_f32 max_lane_arg_f64 max_lane_arg_i64 max_tile_arg_b8 max_tile_arg_f32
 * max_tile_arg_f64 max_tile_arg_i64 max_arg_b8 max_arg_f32 max_arg_f64 max_arg_i64 min_run_b8
 * min_run_f32 min_run_f64 min_run_i64 min_lane_b8 min_lane_f32 min_lane_f64 min_lane_i64
 * min_tile_b8 min_tile_f32 min_tile_f64 min_tile_i64 min_value_b8 min_value_f32 min_value_f64
 * min_value_i64 min_find_b8 min_find_f32 min_find_f64 min_find_i64 min_lane_arg_b8 min_lane_arg_f32
 * min_lane_arg_f64 min_lane_arg_i64 min_tile_arg_b8 min_tile_arg_f32 min_tile_arg_f64
 * min_tile_arg_i64 min_arg_b8 min_arg_f32 min_arg_f64 min_arg_i64 */
