/* norm_body.h - layer normalisation of one type: included by norm.c with T, F and SQRT defined. */

static inline T F(fold)(T *p)
{
    for (int h = LANES / 2; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            p[l] += p[l + h];
        }
    }
    return p[0];
}

/* sum(x - shift), and of its squares */
static inline void F(moments)(const T *restrict x, int64_t n, T shift, T *sum, T *squares)
{
    T p[LANES] = {0}, q[LANES] = {0};
    int64_t i = 0;
    if (n < SHORT) {
        for (; i < n; i++) {
            T d = x[i] - shift;
            p[0] += d;
            q[0] += d * d;
        }
        *sum = p[0];
        *squares = q[0];
        return;
    }
    for (; i + LANES <= n; i += LANES) {
        AHEAD(x + n + i);
        for (int l = 0; l < LANES; l++) {
            T d = x[i + l] - shift;
            p[l] += d;
            q[l] += d * d;
        }
    }
    for (int l = 0; i + l < n; l++) {
        T d = x[i + l] - shift;
        p[l] += d;
        q[l] += d * d;
    }
    *sum = F(fold)(p);
    *squares = F(fold)(q);
}

/* y = u w + b, the product rounded; weight and bias are decided outside of the loop. */
static inline void F(normalized)(const T *restrict x, int64_t n, const T *stats,
                                 const T *restrict w, const T *restrict b, T *restrict y)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2];
    if (w && b) {
        for (int64_t j = 0; j < n; j++) {
            y[j] = (x[j] - mean - correction) * rstd * w[j] + b[j];
        }
        return;
    }
    for (int64_t j = 0; j < n; j++) {
        y[j] = (x[j] - mean - correction) * rstd;
    }
    for (int64_t j = 0; w && j < n; j++) {
        y[j] *= w[j];
    }
    for (int64_t j = 0; b && j < n; j++) {
        y[j] += b[j];
    }
}

/* What was made beside y goes past the cache. */
static inline void F(put)(T *y, const T *to, int64_t n, bool stream)
{
    if (stream) {
        hdk_stream_copy((float *)y, (const float *)to, n * (int64_t)(sizeof(T) / sizeof(float)));
    }
}

static void F(layer_norm)(const hdk_norm_rows *r, const void *bias, double eps, bool stream,
                          void *out)
{
    T room[ROOM];
    int64_t n = r->n;
    T *stats = r->stats;
    const T *w = r->weight, *b = bias;
    for (int64_t i = 0; i < r->rows; i++) {
        const T *restrict x = (const T *)r->x + i * n;
        T *restrict y = (T *)out + i * n;
        T sum, squares;
        F(moments)(x, n, 0, &sum, &squares);
        T mean = sum / (T)n;
        F(moments)(x, n, mean, &sum, &squares);
        T correction = sum / (T)n, var = squares / (T)n - correction * correction;
        T rstd = 1 / SQRT((var < 0 ? 0 : var) + (T)eps);
        stats[3 * i] = mean;
        stats[3 * i + 1] = correction;
        stats[3 * i + 2] = rstd;
        for (int64_t at = 0; at < n; at += ROOM) {
            int64_t part = n - at < ROOM ? n - at : ROOM;
            T *to = stream ? room : y + at;
            F(normalized)(x + at, part, stats + 3 * i, w ? w + at : NULL, b ? b + at : NULL, to);
            F(put)(y + at, to, part, stream);
        }
    }
    hdk_stream_end();
}

/* Into of[0] sum(g), into of[1] sum(g u), g = dy w. */
static inline void F(row_sums)(const T *restrict x, const T *restrict dy, const T *restrict w,
                               const T *stats, int64_t n, T *of)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2];
    T p[LANES] = {0}, q[LANES] = {0};
    int64_t i = 0;
    for (; w && i + LANES <= n; i += LANES) {
        AHEAD(x + n + i);
        AHEAD(dy + n + i);
        for (int l = 0; l < LANES; l++) {
            T g = dy[i + l] * w[i + l];
            p[l] += g;
            q[l] += g * ((x[i + l] - mean - correction) * rstd);
        }
    }
    for (; !w && i + LANES <= n; i += LANES) {
        AHEAD(x + n + i);
        AHEAD(dy + n + i);
        for (int l = 0; l < LANES; l++) {
            T g = dy[i + l];
            p[l] += g;
            q[l] += g * ((x[i + l] - mean - correction) * rstd);
        }
    }
    for (int l = 0; i < n; i++, l = n < SHORT ? 0 : l + 1) {
        T g = w ? dy[i] * w[i] : dy[i];
        p[l] += g;
        q[l] += g * ((x[i] - mean - correction) * rstd);
    }
    of[0] = n < SHORT ? p[0] : F(fold)(p);
    of[1] = n < SHORT ? q[0] : F(fold)(q);
}

/* dx = rstd (g - mean(g) - u mean(g u)) with g = dy w and u the normalised x; and with dw and db,
 * which then both are wanted, dw += dy u, db += dy. */
static inline __attribute__((always_inline)) void
F(row_dx)(const T *restrict x, const T *restrict dy, const T *restrict w, const T *stats,
          const T *of, int64_t n, T *restrict dx, T *restrict dw, T *restrict db)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2];
    for (int64_t j = 0; j < n; j++) {
        T u = (x[j] - mean - correction) * rstd, g = w ? dy[j] * w[j] : dy[j];
        dx[j] = rstd * (g - of[0] - u * of[1]);
        if (dw) {
            dw[j] += dy[j] * u;
            db[j] += dy[j];
        }
    }
}

static inline void F(row_dw)(const T *restrict x, const T *restrict dy, const T *stats, int64_t n,
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
static inline void F(row_backward)(const hdk_norm_rows *r, int64_t i, const T *dy, T *dx, T *dw,
                                   T *db, bool stream)
{
    int64_t n = r->n;
    const T *x = (const T *)r->x + i * n, *stats = (const T *)r->stats + 3 * i, *w = r->weight;
    bool all = w && dw && db;
    T of[2], room[ROOM];
    if (!dx || !all) {
        F(row_dw)(x, dy, stats, n, dw, db);
    }
    if (!dx) {
        return;
    }
    F(row_sums)(x, dy, w, stats, n, of);
    of[0] /= (T)n;
    of[1] /= (T)n;
    for (int64_t at = 0; at < n; at += ROOM) {
        int64_t part = n - at < ROOM ? n - at : ROOM;
        T *to = stream ? room : dx + at;
        if (all) {
            F(row_dx)(x + at, dy + at, w + at, stats, of, part, to, dw + at, db + at);
        } else if (w) {
            F(row_dx)(x + at, dy + at, w + at, stats, of, part, to, NULL, NULL);
        } else {
            F(row_dx)(x + at, dy + at, NULL, stats, of, part, to, NULL, NULL);
        }
        F(put)(dx + at, to, part, stream);
    }
}

static void F(layer_norm_backward)(const hdk_norm_rows *r, const void *dy, bool stream, void *dx,
                                   void *dweight, void *dbias)
{
    int64_t n = r->n;
    if (dweight) {
        memset(dweight, 0, (size_t)n * sizeof(T));
    }
    if (dbias) {
        memset(dbias, 0, (size_t)n * sizeof(T));
    }
    for (int64_t i = 0; i < r->rows; i++) {
        F(row_backward)
        (r, i, (const T *)dy + i * n, dx ? (T *)dx + i * n : NULL, dweight, dbias, stream);
    }
    hdk_stream_end();
}
