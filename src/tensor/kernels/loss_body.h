/* loss_body.h - cross entropy and the squared error: a template (template.h) for
 * softmax_kernels.c. */

static void fn(cross_entropy)(const hdk_logits *l, void *loss)
{
    T *y = loss, *stats = l->stats;
    const T *x = l->x;
    T most = l->rows > 0 && l->c > 0 ? fn(row_max)(x, l->c) : 0;
    for (int64_t i = 0; i < l->rows; i++) {
        const T *next = i + 1 < l->rows ? x + l->stride : x; /* the last row has no next row */
        int64_t at = l->target[i];
        T m = fn(minus_zero)(most);
        T log_sum = LOG(l->c > 0 ? fn(row_exp_sum)(x, l->c, &most, next, NULL) : 0);
        stats[2 * i] = m;
        stats[2 * i + 1] = log_sum;
        if (at == l->ignore) {
            y[i] = 0;
        } else {
            y[i] = l->ndim == 1 ? 0 - (x[at] - m - log_sum) : -(x[at] - m - log_sum);
        }
        x = next;
    }
}

/* Computes dx = (softmax(x) - onehot(target)) * dy / divisor. */
static void fn(cross_entropy_backward)(const hdk_logits *l, const void *g, int64_t gs,
                                       double divisor, bool stream, void *out)
{
    const T *dy = g, *stats = l->stats;
    T room[LOGITS_ROOM];
    for (int64_t i = 0; i < l->rows; i++) {
        const T *x = (const T *)l->x + i * l->stride;
        T *dx = (T *)out + i * l->c;
        int64_t target = l->target[i];
        bool counts = target != l->ignore;
        T d = counts ? dy[i * gs] / (T)divisor : 0, sum = l->c > 1 || l->ndim > 2 ? 0 - d : -d;
        for (int64_t j = 0; j < l->c; j += LOGITS_ROOM) {
            int64_t n = l->c - j < LOGITS_ROOM ? l->c - j : LOGITS_ROOM;
            T *restrict to = fn(result_at)(dx + j, room, stream);
            fn(row_exp)(x + j, n, stats[2 * i], stats[2 * i + 1], to);
            bool here = counts && target >= j && target < j + n;
            T slope = here ? -d - to[target - j] * sum : 0;
            for (int64_t at = 0; at < n; at++) {
                to[at] = to[at] * d + 0; /* never -0 */
            }
            if (here) {
                to[target - j] = slope;
            }
            fn(result_done)(dx + j, to, n);
        }
    }
    hdk_stream_end();
}

static void fn(square)(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    T *y = (T *)data[0];
    const T *x = (const T *)data[1], *t = (const T *)data[2];
    HDK_DENSE(fn(square), params, 3, sizeof(T), sizeof(T), sizeof(T));
    HDK_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        y[i] = (x[i] - t[i]) * (x[i] - t[i]);
    }
}

/* Computes dx = norm * (x - t) * dy. dy is one number for all elements, or has one for each. */
static void fn(square_backward)(char *const *data, const int64_t *strides, int64_t n,
                                const void *params)
{
    const T norm = (T) * (const double *)params;
    const int64_t item = sizeof(T), step = strides[3] / item;
    T *dx = (T *)data[0];
    const T *x = (const T *)data[1], *t = (const T *)data[2], *dy = (const T *)data[3];
    if (strides[0] != item || strides[1] != item || strides[2] != item ||
        (step != 0 && step != 1)) {
        const hdk_operands dense = {4, {sizeof(T), sizeof(T), sizeof(T), sizeof(T)}};
        hdk_in_runs(fn(square_backward), &dense, data, strides, n, params);
        return;
    }
    HDK_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        dx[i] = norm * (x[i] - t[i]) * dy[i * step];
    }
}

/* Names: cross_entropy_f32 cross_entropy_f64 cross_entropy_backward_f32 cross_entropy_backward_f64
 * square_f32 square_f64 square_backward_f32 square_backward_f64 */
