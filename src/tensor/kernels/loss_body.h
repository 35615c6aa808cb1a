/* loss_body.h - the kernels of one type: included by loss.c behind softmax_row.h. */

static void F(cross_entropy)(const hdk_logits *l, void *loss)
{
    T *y = loss, *stats = l->stats;
    for (int64_t i = 0; i < l->rows; i++) {
        const T *x = (const T *)l->x + i * l->stride;
        int64_t at = l->target[i];
        T m = l->c > 0 ? F(row_max)(x, l->c) : 0, log_sum = LOG(F(row_exp_sum)(x, l->c, m));
        stats[2 * i] = m;
        stats[2 * i + 1] = log_sum;
        y[i] = at == l->ignore ? 0 : -(x[at] - m - log_sum);
    }
}

static void F(cross_entropy_backward)(const hdk_logits *l, const void *g, int64_t gs,
                                      double divisor, void *out)
{
    const T *dy = g, *stats = l->stats;
    for (int64_t i = 0; i < l->rows; i++) {
        const T *restrict x = (const T *)l->x + i * l->stride;
        T *restrict dx = (T *)out + i * l->c;
        int64_t at = l->target[i];
        T m = stats[2 * i], log_sum = stats[2 * i + 1];
        T d = at == l->ignore ? 0 : dy[i * gs] / (T)divisor;
        for (int64_t j = 0; j < l->c; j++) {
            dx[j] = EXP(x[j] - m - log_sum) * d;
        }
        if (at != l->ignore) {
            dx[at] -= d;
        }
    }
}

static void F(square)(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    int64_t sy = strides[0], sx = strides[1], st = strides[2], item = sizeof(T);
    (void)params;
    if (sy == item && sx == item && st == item) {
        T *restrict y = (T *)data[0];
        const T *x = (const T *)data[1], *t = (const T *)data[2];
        for (int64_t i = 0; i < n; i++) {
            y[i] = (x[i] - t[i]) * (x[i] - t[i]);
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        T d = *(const T *)(data[1] + i * sx) - *(const T *)(data[2] + i * st);
        *(T *)(data[0] + i * sy) = d * d;
    }
}

static void F(square_backward)(char *const *data, const int64_t *strides, int64_t n,
                               const void *params)
{
    T norm = (T) * (const double *)params;
    int64_t s0 = strides[0], sx = strides[1], st = strides[2], sd = strides[3], item = sizeof(T);
    if (s0 == item && sx == item && st == item && sd == 0) {
        T *restrict dx = (T *)data[0];
        const T *x = (const T *)data[1], *t = (const T *)data[2];
        T dy = *(const T *)data[3];
        for (int64_t i = 0; i < n; i++) {
            dx[i] = norm * (x[i] - t[i]) * dy;
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        T d = *(const T *)(data[1] + i * sx) - *(const T *)(data[2] + i * st);
        *(T *)(data[0] + i * s0) = norm * d * *(const T *)(data[3] + i * sd);
    }
}
