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

static void F(layer_norm)(const hdk_norm_rows *r, const void *bias, double eps, void *out)
{
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
}

/* With g = dy w and u the normalised x:  dx = rstd (g - mean(g) - u mean(g u)) */
static inline void F(row_dx)(const T *restrict x, const T *restrict dy, const T *restrict w,
                             const T *stats, int64_t n, T *restrict dx)
{
    T mean = stats[0], correction = stats[1], rstd = stats[2];
    T p[LANES] = {0}, q[LANES] = {0};
    for (int64_t j = 0; j < n; j++) {
        dx[j] = w ? dy[j] * w[j] : dy[j];
    }
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            T g = dx[i + l];
            p[l] += g;
            q[l] += g * ((x[i + l] - mean - correction) * rstd);
        }
    }
    for (int l = 0; i < n; i++, l = n < SHORT ? 0 : l + 1) {
        p[l] += dx[i];
        q[l] += dx[i] * ((x[i] - mean - correction) * rstd);
    }
    T of_g = (n < SHORT ? p[0] : F(fold)(p)) / (T)n, of_gu = (n < SHORT ? q[0] : F(fold)(q)) / (T)n;
    for (int64_t j = 0; j < n; j++) {
        T u = (x[j] - mean - correction) * rstd;
        dx[j] = rstd * (dx[j] - of_g - u * of_gu);
    }
}

static void F(layer_norm_backward)(const hdk_norm_rows *r, const void *dy0, void *dx, void *dweight,
                                   void *dbias)
{
    int64_t n = r->n;
    T *restrict dw = dweight;
    T *restrict db = dbias;
    for (int64_t j = 0; dw && j < n; j++) {
        dw[j] = 0;
    }
    for (int64_t j = 0; db && j < n; j++) {
        db[j] = 0;
    }
    for (int64_t i = 0; i < r->rows; i++) {
        const T *x = (const T *)r->x + i * n, *dy = (const T *)dy0 + i * n;
        const T *stats = (const T *)r->stats + 3 * i;
        T mean = stats[0], correction = stats[1], rstd = stats[2];
        if (dx) {
            F(row_dx)(x, dy, r->weight, stats, n, (T *)dx + i * n);
        }
        for (int64_t j = 0; dw && j < n; j++) {
            dw[j] += dy[j] * ((x[j] - mean - correction) * rstd);
        }
        for (int64_t j = 0; db && j < n; j++) {
            db[j] += dy[j];
        }
    }
}
