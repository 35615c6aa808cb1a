/* norm_body.h - layer normalisation of one type: included by norm.c with T, F and SQRT defined. */

static inline T fn(fold)(T *p)
{
    for (int h = LANES / 2; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            p[l] += p[l + h];
        }
    }
    return p[0];
}

/* ---------------------------------------------------------------- vectors of T */

/* y aligned to the vector's size where it goes past the cache */
HDK_INLINE void fn(vput)(T *y, V v, bool stream)
{
    if (stream) {
        fn(vstream)(y, v);
    } else {
        fn(vstore)(y, v);
    }
}

/* Whether every row of y is whole cache lines. */
static inline bool fn(in_lines)(const T *y, int64_t n)
{
    return (uintptr_t)y % HDK_LINE == 0 && (size_t)n * sizeof(T) % HDK_LINE == 0;
}

/* ---------------------------------------------------------------- forward */

static ROW T fn(sum)(const T *restrict x, int64_t n)
{
    V pv[PARTS] = {{0}};
    T p[LANES];
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < PARTS; k++) {
            pv[k] += fn(vload)(x + i + k * VECTOR);
        }
    }
    memcpy(p, pv, sizeof p);
    for (int l = 0; i < n; i++, l = n < SHORT ? 0 : l + 1) {
        p[l] += x[i];
    }
    return n < SHORT ? p[0] : fn(fold)(p);
}

/* sum(x - shift), and of its squares */
static ROW void fn(moments)(const T *restrict x, int64_t n, T shift, T *sum, T *squares)
{
    V pv[PARTS] = {{0}}, qv[PARTS] = {{0}};
    T p[LANES], q[LANES];
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        hdk_ask(x + i, LANES * sizeof(T));
        for (int k = 0; k < PARTS; k++) {
            V d = fn(vload)(x + i + k * VECTOR) - shift;
            pv[k] += d;
            qv[k] += d * d;
        }
    }
    memcpy(p, pv, sizeof p);
    memcpy(q, qv, sizeof q);
    for (int l = 0; i < n; i++, l = n < SHORT ? 0 : l + 1) {
        T d = x[i] - shift;
        p[l] += d;
        q[l] += d * d;
    }
    *sum = n < SHORT ? p[0] : fn(fold)(p);
    *squares = n < SHORT ? q[0] : fn(fold)(q);
}

/* y = u w + b, the product rounded */
static ROW void fn(normalized)(const T *restrict x, int64_t n, const T *stats, const T *restrict w,
                               const T *restrict b, bool stream, T *restrict y)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2];
    int64_t j = 0;
    for (; w && b && j + VECTOR <= n; j += VECTOR) {
        V u = (fn(vload)(x + j) - mean - correction) * rstd;
        fn(vput)(y + j, u * fn(vload)(w + j) + fn(vload)(b + j), stream);
    }
    for (; j < n; j++) {
        T u = (x[j] - mean - correction) * rstd;
        u = w ? u * w[j] : u;
        y[j] = b ? u + b[j] : u;
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
        T sum, squares, mean = fn(sum)(x, n) / (T)n;
        fn(moments)(x, n, mean, &sum, &squares);
        T correction = sum / (T)n, var = squares / (T)n - correction * correction;
        stats[0] = mean;
        stats[1] = correction;
        stats[2] = 1 / SQRT((var < 0 ? 0 : var) + (T)eps);
        fn(normalized)(x, n, stats, w, b, stream, y);
    }
    hdk_stream_end();
}

/* ---------------------------------------------------------------- backward */

/* Into of[0] mean(g), into of[1] mean(g u), g = dy w. */
static ROW void fn(row_means)(const T *restrict x, const T *restrict dy, const T *restrict w,
                              const T *stats, int64_t n, T *of)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2];
    V pv[PARTS] = {{0}}, qv[PARTS] = {{0}};
    T p[LANES], q[LANES];
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        hdk_ask(x + i, LANES * sizeof(T));
        for (int k = 0; k < PARTS; k++) {
            int64_t at = i + k * VECTOR;
            V g = fn(vload)(dy + at);
            if (w) {
                g *= fn(vload)(w + at);
            }
            pv[k] += g;
            qv[k] += g * ((fn(vload)(x + at) - mean - correction) * rstd);
        }
    }
    memcpy(p, pv, sizeof p);
    memcpy(q, qv, sizeof q);
    for (int l = 0; i < n; i++, l = n < SHORT ? 0 : l + 1) {
        T g = w ? dy[i] * w[i] : dy[i];
        p[l] += g;
        q[l] += g * ((x[i] - mean - correction) * rstd);
    }
    of[0] = (n < SHORT ? p[0] : fn(fold)(p)) / (T)n;
    of[1] = (n < SHORT ? q[0] : fn(fold)(q)) / (T)n;
}

/* dx = rstd (g - mean(g) - u mean(g u)) with g = dy w and u the normalised x; and with dw and db,
 * which then both are wanted, dw += dy u, db += dy. Memory is asked for what comes
 * later here more than in the sums, where there is less to compute. */
static ROW void fn(row_dx)(const T *restrict x, const T *restrict dy, const T *restrict w,
                           const T *stats, const T *of, int64_t n, bool stream, T *restrict dx,
                           T *restrict dw, T *restrict db)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2], g_mean = of[0], gu_mean = of[1];
    int64_t j = 0;
    for (; j + VECTOR <= n; j += VECTOR) {
        if (j * (int64_t)sizeof(T) % HDK_LINE == 0) {
            hdk_ask(x + j, HDK_LINE);
            hdk_ask(dy + j, HDK_LINE);
        }
        V u = (fn(vload)(x + j) - mean - correction) * rstd, d = fn(vload)(dy + j);
        V g = d;
        if (w) {
            g *= fn(vload)(w + j);
        }
        fn(vput)(dx + j, rstd * (g - g_mean - u * gu_mean), stream);
        if (dw) {
            fn(vput)(dw + j, fn(vload)(dw + j) + d * u, false);
            fn(vput)(db + j, fn(vload)(db + j) + d, false);
        }
    }
    for (; j < n; j++) {
        T u = (x[j] - mean - correction) * rstd, g = w ? dy[j] * w[j] : dy[j];
        dx[j] = rstd * (g - g_mean - u * gu_mean);
        if (dw) {
            dw[j] += dy[j] * u;
            db[j] += dy[j];
        }
    }
}

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

/* dx, dw and db of one row: one pass behind the sums where all are wanted, as they mostly are. */
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

/* Where in a room of a page more than is wanted an address lies that is so many bytes behind x's in
 * its page: a load waits for a store to the same place of another page. */
static inline T *fn(apart)(T *room, const void *x, uintptr_t bytes)
{
    return room + ((uintptr_t)x + bytes - (uintptr_t)room) % HDK_PAGE / sizeof(T);
}

static void fn(layer_norm_backward)(const hdk_norm_rows *r, const void *dy, bool stream, void *dx,
                                    void *dweight, void *dbias)
{
    int64_t n = r->n;
    T rooms[2][ROOM + HDK_PAGE / sizeof(T)];
    T *dw = dweight, *db = dbias;
    bool apart = dw && db && n <= ROOM;
    if (apart) {
        dw = fn(apart)(rooms[0], r->x, 20 * HDK_LINE);
        db = fn(apart)(rooms[1], r->x, 40 * HDK_LINE);
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
