/* norm_body.h - layer normalisation: a template (template.h) for norm.c. */

static inline T fn(norm_fold)(T *p)
{
    for (int h = NORM_LANES / 2; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            p[l] += p[l + h];
        }
    }
    return p[0];
}

/* ---------------------------------------------------------------- vectors of T */

/* Sets y to v. With `stream` v is written past the cache, and y must be aligned to the size of
 * v. */
HDK_INLINE void fn(vput)(T *y, V v, bool stream)
{
    if (stream) {
        fn(vstream)(y, v);
    } else {
        fn(vstore)(y, v);
    }
}

/* True if every row of y consists of whole cache lines. */
static inline bool fn(in_lines)(const T *y, int64_t n)
{
    return (uintptr_t)y % HDK_LINE == 0 && (size_t)n * sizeof(T) % HDK_LINE == 0;
}

/* ---------------------------------------------------------------- forward */

static HDK_NOINLINE T fn(norm_sum)(const T *restrict x, int64_t n)
{
    V pv[PARTS] = {{0}};
    T p[NORM_LANES];
    int64_t i = 0;
    for (; i + NORM_LANES <= n; i += NORM_LANES) {
        for (int k = 0; k < PARTS; k++) {
            pv[k] += fn(vload)(x + i + k * VECTOR);
        }
    }
    memcpy(p, pv, sizeof p);
    for (int l = 0; i < n; i++, l = n < NORM_SHORT ? 0 : l + 1) {
        p[l] += x[i];
    }
    return n < NORM_SHORT ? p[0] : fn(norm_fold)(p);
}

/* Sets of[0] = sum(g) and of[1] = sum(g * u), with u = (x - mean - correction) * rstd and g = dy *
 * w - shift. If w is NULL, w is 1. */
HDK_INLINE void fn(two_sums)(const T *restrict x, const T *restrict dy, const T *restrict w,
                             T shift, const T *stats, int64_t n, T *of)
{
    const T mean = stats[0], correction = stats[1], rstd = stats[2];
    V pv[PARTS] = {{0}}, qv[PARTS] = {{0}};
    T p[NORM_LANES], q[NORM_LANES];
    int64_t i = 0;
    for (; i + NORM_LANES <= n; i += NORM_LANES) {
        hdk_prefetch(x + i, NORM_LANES * sizeof(T));
        for (int k = 0; k < PARTS; k++) {
            int64_t at = i + k * VECTOR;
            V g = fn(vload)(dy + at);
            if (w) {
                g *= fn(vload)(w + at);
            }
            g -= shift;
            pv[k] += g;
            qv[k] += g * ((fn(vload)(x + at) - mean - correction) * rstd);
        }
    }
    memcpy(p, pv, sizeof p);
    memcpy(q, qv, sizeof q);
    for (int l = 0; i < n; i++, l = n < NORM_SHORT ? 0 : l + 1) {
        T g = (w ? dy[i] * w[i] : dy[i]) - shift;
        p[l] += g;
        q[l] += g * ((x[i] - mean - correction) * rstd);
    }
    of[0] = n < NORM_SHORT ? p[0] : fn(norm_fold)(p);
    of[1] = n < NORM_SHORT ? q[0] : fn(norm_fold)(q);
}

/* Sets of[0] = sum(x - shift) and of[1] = sum((x - shift)^2). */
static HDK_NOINLINE void fn(norm_moments)(const T *x, int64_t n, T shift, T *of)
{
    fn(two_sums)(x, x, NULL, shift, (const T[]){shift, 0, 1}, n, of);
}

/* Computes y = u * w + b, where u is the normalised x. u * w is rounded before b is added. If w is
 * NULL, w is 1. If b is NULL, adds 0, so no y is -0. */
static HDK_NOINLINE void fn(normalized)(const T *restrict x, int64_t n, const T *stats,
                                        const T *restrict w, const T *restrict b, bool stream,
                                        T *restrict y)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2];
    int64_t j = 0;
    for (; w && b && j + VECTOR <= n; j += VECTOR) {
        V u = (fn(vload)(x + j) - mean - correction) * rstd; /* heed-loop */
        fn(vput)(y + j, u * fn(vload)(w + j) + fn(vload)(b + j), stream);
    }
    for (; j < n; j++) {
        T u = (x[j] - mean - correction) * rstd; /* heed-loop */
        u = w ? u * w[j] : u;
        y[j] = u + (b ? b[j] : 0);
    }
}

static void fn(layer_norm)(const hdk_norm_rows *r, const void *bias, double eps, bool stream,
                           void *out)
{
    int64_t n = r->n;
    T *stats = r->stats;
    const T *w = r->weight, *b = bias;
    stream = stream && w && b && fn(in_lines)(out, n);
    for (int64_t i = 0; i < r->rows; i++, stats += 3) {
        const T *restrict x = (const T *)r->x + i * n;
        T *restrict y = (T *)out + i * n;
        T of[2], mean = fn(norm_sum)(x, n) / (T)n;
        fn(norm_moments)(x, n, mean, of);
        T correction = of[0] / (T)n, var = of[1] / (T)n - correction * correction;
        stats[0] = mean;
        stats[1] = correction;
        stats[2] = 1 / SQRT((var < 0 ? 0 : var) + (T)eps);
        fn(normalized)(x, n, stats, w, b, stream, y);
    }
    hdk_stream_end();
}

/* ---------------------------------------------------------------- backward */

/* Sets of[0] = mean(g) and of[1] = mean(g * u), with g = dy * w and u the normalised x. */
static HDK_NOINLINE void fn(row_means)(const T *x, const T *dy, const T *w, const T *stats,
                                       int64_t n, T *of)
{
    fn(two_sums)(x, dy, w, 0, stats, n, of);
    of[0] /= (T)n;
    of[1] /= (T)n;
}

/* Computes dx = rstd * (g - mean(g) - u * mean(g * u)), with g = dy * w and u the normalised x.
 * Unless dw is NULL, adds dy * u to dw and dy to db. Prefetches both x and dy, because it computes
 * more than two_sums, which prefetches only x. */
static HDK_NOINLINE void fn(row_dx)(const T *restrict x, const T *restrict dy, const T *restrict w,
                                    const T *stats, const T *of, int64_t n, bool stream,
                                    T *restrict dx, T *restrict dw, T *restrict db)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2], g_mean = of[0], gu_mean = of[1];
    int64_t j = 0;
    for (; j + VECTOR <= n; j += VECTOR) {
        if (j * (int64_t)sizeof(T) % HDK_LINE == 0) {
            hdk_prefetch(x + j, HDK_LINE);
            hdk_prefetch(dy + j, HDK_LINE);
        }
        V u = (fn(vload)(x + j) - mean - correction) * rstd, d = fn(vload)(dy + j);
        V g = d; /* heed-loop */
        if (w) {
            g *= fn(vload)(w + j);
        }
        fn(vput)(dx + j, rstd * (g - g_mean - u * gu_mean) + 0, stream); /* never -0 */
        if (dw) {
            fn(vput)(dw + j, fn(vload)(dw + j) + d * u, false);
            fn(vput)(db + j, fn(vload)(db + j) + d, false);
        }
    }
    for (; j < n; j++) {
        T u = (x[j] - mean - correction) * rstd, g = w ? dy[j] * w[j] : dy[j];
        dx[j] = rstd * (g - g_mean - u * gu_mean) + 0; /* heed-loop */
        if (dw) {
            dw[j] += dy[j] * u;
            db[j] += dy[j];
        }
    }
}

/* Adds dy * u to dw and dy to db, each unless it is NULL. u is the normalised x. */
static inline void fn(row_dw)(const T *restrict x, const T *restrict dy, const T *stats, int64_t n,
                              T *restrict dw, T *restrict db)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2];
    for (int64_t j = 0; dw && j < n; j++) {
        dw[j] += dy[j] * ((x[j] - mean - correction) * rstd);
    }
    for (int64_t j = 0; db && j < n; j++) {
        db[j] += dy[j];
    }
}

/* Computes dx of row i, and adds the row's part to dw and db, each unless it is NULL. In the most
 * frequent case, none of dx, dw, db and the weight is NULL. Then one pass after the sums computes
 * dx, dw and db together. */
static inline void fn(row_backward)(const hdk_norm_rows *r, int64_t i, const T *dy, T *dx, T *dw,
                                    T *db, bool stream)
{
    int64_t n = r->n;
    const T *x = (const T *)r->x + i * n, *stats = (const T *)r->stats + 3 * i, *w = r->weight;
    bool all = dx && w && dw && db;
    T of[2];
    if (!all) {
        fn(row_dw)(x, dy, stats, n, dw, db);
    }
    if (!dx) {
        return;
    }
    fn(row_means)(x, dy, w, stats, n, of);
    fn(row_dx)(x, dy, w, stats, of, n, stream, dx, all ? dw : NULL, all ? db : NULL);
}

/* Returns the address in `room` that has the same offset within a page as (char *)x + bytes. A load
 * can be delayed by a store at the same page offset, so dw and db are kept at other offsets than x.
 * `room` is one page larger than needed. */
static inline T *fn(apart_from)(T *room, const void *x, uintptr_t bytes)
{
    return room + ((uintptr_t)x + bytes - (uintptr_t)room) % HDK_PAGE / sizeof(T);
}

static void fn(layer_norm_backward)(const hdk_norm_rows *r, const void *dy, bool stream, void *dx,
                                    void *dweight, void *dbias)
{
    int64_t n = r->n;
    T rooms[2][NORM_ROOM + HDK_PAGE / sizeof(T)];
    T *dw = dweight, *db = dbias;
    bool apart = dw && db && n <= NORM_ROOM;
    if (apart) {
        dw = fn(apart_from)(rooms[0], r->x, 20 * HDK_LINE);
        db = fn(apart_from)(rooms[1], r->x, 40 * HDK_LINE);
    }
    if (dw) {
        memset(dw, 0, (size_t)n * sizeof(T));
    }
    if (db) {
        memset(db, 0, (size_t)n * sizeof(T));
    }
    stream = stream && fn(in_lines)(dx, n);
    for (int64_t i = 0; i < r->rows; i++) {
        fn(row_backward)(r, i, (const T *)dy + i * n, dx ? (T *)dx + i * n : NULL, dw, db, stream);
    }
    if (apart) {
        memcpy(dweight, dw, (size_t)n * sizeof(T));
        memcpy(dbias, db, (size_t)n * sizeof(T));
    }
    hdk_stream_end();
}

/* Names: norm_fold_f32 norm_fold_f64 vput_f32 vput_f64 in_lines_f32 in_lines_f64 norm_sum_f32
 * norm_sum_f64 two_sums_f32 two_sums_f64 norm_moments_f32 norm_moments_f64 normalized_f32
 * normalized_f64 layer_norm_f32 layer_norm_f64 row_means_f32 row_means_f64 row_dx_f32 row_dx_f64
 * row_dw_f32 row_dw_f64 row_backward_f32 row_backward_f64 apart_from_f32 apart_from_f64
 * layer_norm_backward_f32 layer_norm_backward_f64 */
