/* softmax_body.h - the kernels of one type: included by softmax.c behind softmax_row.h. */

/* ---------------------------------------------------------------- the last dim: row by row */

/* k rows of under 8 elements side by side: exp runs over all of them at once. */
static void F(softmax_short)(const T *x, int64_t xk, int64_t n, int64_t k, T *y)
{
    for (int64_t j = 0; j < k; j++) {
        T m = x[j * xk];
        for (int64_t i = 1; i < n; i++) {
            m = x[j * xk + i] > m ? x[j * xk + i] : m;
        }
        for (int64_t i = 0; i < n; i++) {
            y[j * n + i] = x[j * xk + i] - m;
        }
    }
    F(exp_all)(y, n * k);
    for (int64_t j = 0; j < k; j++) {
        T sum = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += y[j * n + i];
        }
        T scale = 1 / sum;
        for (int64_t i = 0; i < n; i++) {
            y[j * n + i] *= scale;
        }
    }
}

static void F(softmax_last)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t n = l->n;
    (void)p;
    if (n > 0 && n < 8 && l->sk[0] == n) {
        for (int64_t j = 0; j < l->k; j += SHORT) {
            int64_t k = l->k - j < SHORT ? l->k - j : SHORT;
            F(softmax_short)
            ((const T *)data[1] + j * l->sk[1], l->sk[1], n, k, (T *)data[0] + j * n);
        }
        return;
    }
    for (int64_t j = 0; j < l->k && n > 0; j++) {
        T *restrict y = (T *)data[0] + j * l->sk[0];
        const T *x = (const T *)data[1] + j * l->sk[1];
        F(row_exp)(x, n, F(row_max)(x, n), y);
        T scale = 1 / F(row_sum)(y, n);
        for (int64_t i = 0; i < n; i++) {
            y[i] *= scale;
        }
    }
}

static void F(softmax_last_backward)(const hdk_lanes *l, void *const *data, double p)
{
    /* dx = (dy - sum(dy y)) y */
    int64_t n = l->n;
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        T *restrict dx = (T *)data[0] + j * l->sk[0];
        const T *restrict dy = (const T *)data[1] + j * l->sk[1];
        const T *restrict y = (const T *)data[2] + j * l->sk[2];
        for (int64_t i = 0; i < n; i++) {
            dx[i] = dy[i] * y[i];
        }
        T s = F(row_sum)(dx, n);
        for (int64_t i = 0; i < n; i++) {
            dx[i] = (dy[i] - s) * y[i];
        }
    }
}

static void F(log_softmax_last)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t n = l->n;
    (void)p;
    for (int64_t j = 0; j < l->k && n > 0; j++) {
        T *restrict y = (T *)data[0] + j * l->sk[0];
        const T *restrict x = (const T *)data[1] + j * l->sk[1];
        T m = F(row_max)(x, n), log_sum = LOG(F(row_exp_sum)(x, n, m));
        for (int64_t i = 0; i < n; i++) {
            y[i] = x[i] - m - log_sum;
        }
    }
}

static void F(log_softmax_last_backward)(const hdk_lanes *l, void *const *data, double p)
{
    /* dx = dy - exp(y) sum(dy) */
    int64_t n = l->n;
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        T *restrict dx = (T *)data[0] + j * l->sk[0];
        const T *restrict dy = (const T *)data[1] + j * l->sk[1];
        const T *y = (const T *)data[2] + j * l->sk[2];
        T s = F(row_sum)(dy, n);
        F(row_exp)(y, n, 0, dx);
        for (int64_t i = 0; i < n; i++) {
            dx[i] = dy[i] - dx[i] * s;
        }
    }
}

/* ---------------------------------------------------------------- other dims: TILE lanes a time */

#define TILES(l, j0, tile)                                                                         \
    for (int64_t j0 = 0, tile; (tile = (l)->k - j0 < TILE ? (l)->k - j0 : TILE) > 0; j0 += TILE)

static inline void F(tile_max)(const T *restrict x, int64_t n, int64_t sn, int64_t k, int64_t sk,
                               T *restrict m)
{
    for (int64_t j = 0; j < k; j++) {
        m[j] = x[j * sk];
    }
    for (int64_t i = 1; i < n; i++) {
        for (int64_t j = 0; j < k; j++) {
            m[j] = x[i * sn + j * sk] > m[j] ? x[i * sn + j * sk] : m[j];
        }
    }
}

static void F(softmax_other)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t n = l->n, xn = l->sn[1], xk = l->sk[1], yn = l->sn[0], yk = l->sk[0];
    (void)p;
    TILES(l, j0, k)
    {
        T *restrict y = (T *)data[0] + j0 * yk;
        const T *restrict x = (const T *)data[1] + j0 * xk;
        T m[TILE], s[TILE] = {0};
        if (n > 0) {
            F(tile_max)(x, n, xn, k, xk, m);
        }
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < k; j++) {
                T e = EXP(x[i * xn + j * xk] - m[j]);
                y[i * yn + j * yk] = e;
                s[j] += e;
            }
        }
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < k; j++) {
                y[i * yn + j * yk] /= s[j];
            }
        }
    }
}

static void F(log_softmax_other)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t n = l->n, xn = l->sn[1], xk = l->sk[1], yn = l->sn[0], yk = l->sk[0];
    (void)p;
    TILES(l, j0, k)
    {
        T *restrict y = (T *)data[0] + j0 * yk;
        const T *restrict x = (const T *)data[1] + j0 * xk;
        T m[TILE], s[TILE] = {0};
        if (n > 0) {
            F(tile_max)(x, n, xn, k, xk, m);
        }
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < k; j++) {
                s[j] += EXP(x[i * xn + j * xk] - m[j]);
            }
        }
        for (int64_t j = 0; j < k; j++) {
            s[j] = LOG(s[j]);
        }
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < k; j++) {
                y[i * yn + j * yk] = x[i * xn + j * xk] - m[j] - s[j];
            }
        }
    }
}

static inline void F(tile_backward)(const hdk_lanes *l, void *const *data, bool logarithm)
{
    int64_t n = l->n;
    TILES(l, j0, k)
    {
        T *restrict dx = (T *)data[0] + j0 * l->sk[0];
        const T *restrict dy = (const T *)data[1] + j0 * l->sk[1];
        const T *restrict y = (const T *)data[2] + j0 * l->sk[2];
        T s[TILE] = {0};
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < k; j++) {
                T d = dy[i * l->sn[1] + j * l->sk[1]], v = y[i * l->sn[2] + j * l->sk[2]];
                s[j] += logarithm ? d : d * v;
            }
        }
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < k; j++) {
                T d = dy[i * l->sn[1] + j * l->sk[1]], v = y[i * l->sn[2] + j * l->sk[2]];
                dx[i * l->sn[0] + j * l->sk[0]] = logarithm ? d - EXP(v) * s[j] : (d - s[j]) * v;
            }
        }
    }
}

static void F(softmax_other_backward)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    F(tile_backward)(l, data, false);
}

static void F(log_softmax_other_backward)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    F(tile_backward)(l, data, true);
}

/* ---------------------------------------------------------------- logsumexp, cumsum */

/* What is subtracted before exp: the maximum, but 0 where that is infinite. */
static inline T F(shift)(T m)
{
    return m == (T)INFINITY || m == (T)-INFINITY ? 0 : m;
}

static void F(logsumexp)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t n = l->n, xn = l->sn[1], xk = l->sk[1];
    (void)p;
    TILES(l, j0, k)
    {
        T *y = (T *)data[0] + j0 * l->sk[0];
        const T *restrict x = (const T *)data[1] + j0 * xk;
        T m[TILE] = {0}, s[TILE] = {0};
        if (n > 0 && xn != 1) {
            F(tile_max)(x, n, xn, k, xk, m);
        }
        for (int64_t j = 0; j < k && n > 0; j++) {
            m[j] = F(shift)(xn == 1 ? F(row_max)(x + j * xk, n) : m[j]);
            s[j] = xn == 1 ? F(row_exp_sum)(x + j * xk, n, m[j]) : 0;
        }
        for (int64_t i = 0; i < n && xn != 1; i++) {
            for (int64_t j = 0; j < k; j++) {
                s[j] += EXP(x[i * xn + j * xk] - m[j]);
            }
        }
        for (int64_t j = 0; j < k; j++) {
            y[j * l->sk[0]] = LOG(s[j]) + m[j];
        }
    }
}
