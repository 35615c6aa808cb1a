/* plain_norm.h - layer normalisation of the rows of x (rows, n), with w and b (n,): a template
 * (template.h) for plain.c.
 *     y = (x - mean) * rstd * w + b, with rstd = 1 / sqrt(var + eps)
 * A row's stats are its mean, a correction and rstd. The mean is rounded. The correction is the
 * mean of x - mean, which has the digits that were lost in the rounding. */

/* Returns element (i, j) of u = (x - mean - correction) * rstd. */
static T fn(u)(const hdk_norm_rows *r, int64_t i, int64_t j)
{
    const T *x = r->x, *stats = (const T *)r->stats + 3 * i;
    return (x[i * r->n + j] - stats[0] - stats[1]) * stats[2];
}

/* Computes y = u * w + b, and writes the stats. */
static void fn(layer_norm)(const hdk_norm_rows *r, const void *bias, double eps, bool stream,
                           void *out)
{
    const int64_t n = r->n;
    const T *w = r->weight, *b = bias;
    (void)stream;
    for (int64_t i = 0; i < r->rows; i++) {
        const T *x = (const T *)r->x + i * n;
        T *y = (T *)out + i * n, *stats = (T *)r->stats + 3 * i;
        double sum = 0, left = 0, squares = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += x[j];
        }
        const T mean = (T)(sum / (double)n);
        for (int64_t j = 0; j < n; j++) {
            left += (double)x[j] - mean;
        }
        const T correction = (T)(left / (double)n);
        for (int64_t j = 0; j < n; j++) {
            T d = x[j] - mean - correction;
            squares += d * d;
        }
        const T var = (T)(squares / (double)n);
        stats[0] = mean;
        stats[1] = correction;
        /* Squares that are too large for T make the row NaN. A row of 0 would hide that. */
        stats[2] = isinf(var) ? (T)NAN : 1 / SQRT(var + (T)eps);
        for (int64_t j = 0; j < n; j++) {
            T u = fn(u)(r, i, j);
            y[j] = (w ? u * w[j] : u) + (b ? b[j] : 0); /* heed-loop */
        }
    }
}

/* Sets dw to the sum of dy * u over the rows, where u is the normalized x, and db to the sum of dy.
 * dw and db may be NULL. */
static void fn(sums_over_rows)(const hdk_norm_rows *r, const T *dy, T *dw, T *db)
{
    for (int64_t j = 0; j < r->n && (dw || db); j++) {
        double w_sum = 0, b_sum = 0;
        for (int64_t i = 0; i < r->rows; i++) {
            w_sum += dy[i * r->n + j] * fn(u)(r, i, j);
            b_sum += dy[i * r->n + j];
        }
        if (dw) {
            dw[j] = (T)w_sum;
        }
        if (db) {
            db[j] = (T)b_sum;
        }
    }
}

/* Computes dx = rstd * (g - mean(g) - u * mean(g * u)) with g = dy * w, and dweight and dbias. */
static void fn(layer_norm_backward)(const hdk_norm_rows *r, const void *dout, bool stream,
                                    void *din, void *dweight, void *dbias)
{
    const int64_t n = r->n;
    const T *w = r->weight;
    (void)stream;
    fn(sums_over_rows)(r, dout, dweight, dbias);
    for (int64_t i = 0; i < r->rows && din; i++) {
        const T *dy = (const T *)dout + i * n, rstd = ((const T *)r->stats)[3 * i + 2];
        T *dx = (T *)din + i * n;
        double g_sum = 0, gu_sum = 0;
        for (int64_t j = 0; j < n; j++) {
            T g = w ? dy[j] * w[j] : dy[j];
            g_sum += g;
            gu_sum += g * fn(u)(r, i, j);
        }
        const T g_mean = (T)(g_sum / (double)n), gu_mean = (T)(gu_sum / (double)n);
        for (int64_t j = 0; j < n; j++) {
            T g = w ? dy[j] * w[j] : dy[j];
            dx[j] = rstd * (g - g_mean - fn(u)(r, i, j) * gu_mean) + 0; /* heed-loop */
        }
    }
}

/* Names: u_f32 u_f64 layer_norm_f32 layer_norm_f64 sums_over_rows_f32 sums_over_rows_f64
 * layer_norm_backward_f32 layer_norm_backward_f64 */
