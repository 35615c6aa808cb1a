/* plain_norm.h - layer normalisation of the rows of x (rows, n): a template (template.h) for
 * plain.c. A row's stats are its mean, a correction and rstd = 1 / sqrt(var + eps). The mean is
 * rounded; the correction is the mean of what it leaves of x, which rounding took away. */

/* y = u w + b, with u = (x - mean - correction) rstd */
static void fn(layer_norm)(const hdk_norm_rows *r, const void *bias, double eps, bool stream,
                           void *out)
{
    const int64_t n = r->n;
    const T *w = r->weight, *b = bias;
    (void)stream;
    for (int64_t i = 0; i < r->rows; i++) {
        const T *x = (const T *)r->x + i * n;
        T *y = (T *)out + i * n, *stats = (T *)r->stats + 3 * i;
        T mean = 0, correction = 0, var = 0;
        for (int64_t j = 0; j < n; j++) {
            mean += x[j];
        }
        mean /= (T)n;
        for (int64_t j = 0; j < n; j++) {
            correction += x[j] - mean;
        }
        correction /= (T)n;
        for (int64_t j = 0; j < n; j++) {
            T d = x[j] - mean - correction;
            var += d * d;
        }
        var /= (T)n;
        stats[0] = mean;
        stats[1] = correction;
        stats[2] = 1 / SQRT(var + (T)eps);
        for (int64_t j = 0; j < n; j++) {
            T u = (x[j] - mean - correction) * stats[2];
            y[j] = (w ? u * w[j] : u) + (b ? b[j] : 0); /* heed-loop */
        }
    }
}

/* With g = dy w: dx = rstd (g - mean(g) - u mean(g u)), dw = sum of dy u and db = sum of dy over
 * the rows */
static void fn(layer_norm_backward)(const hdk_norm_rows *r, const void *dout, bool stream,
                                    void *din, void *dweight, void *dbias)
{
    const int64_t n = r->n;
    const T *w = r->weight;
    T *dw = dweight, *db = dbias;
    (void)stream;
    for (int64_t j = 0; j < n && dw; j++) {
        dw[j] = 0;
    }
    for (int64_t j = 0; j < n && db; j++) {
        db[j] = 0;
    }
    for (int64_t i = 0; i < r->rows; i++) {
        const T *x = (const T *)r->x + i * n, *dy = (const T *)dout + i * n;
        const T *stats = (const T *)r->stats + 3 * i;
        T *dx = din ? (T *)din + i * n : NULL, g_mean = 0, gu_mean = 0;
        for (int64_t j = 0; j < n; j++) {
            T u = (x[j] - stats[0] - stats[1]) * stats[2], g = w ? dy[j] * w[j] : dy[j];
            g_mean += g;
            gu_mean += g * u;
            if (dw) {
                dw[j] += dy[j] * u;
            }
            if (db) {
                db[j] += dy[j];
            }
        }
        g_mean /= (T)n;
        gu_mean /= (T)n;
        for (int64_t j = 0; j < n && dx; j++) {
            T u = (x[j] - stats[0] - stats[1]) * stats[2], g = w ? dy[j] * w[j] : dy[j];
            dx[j] = stats[2] * (g - g_mean - u * gu_mean); /* heed-loop */
        }
    }
}

/* Names: layer_norm_f32 layer_norm_f64 layer_norm_backward_f32 layer_norm_backward_f64 */
