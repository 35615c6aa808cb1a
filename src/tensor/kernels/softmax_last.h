/* softmax_last.h - softmax and log_softmax along the last dim, row by row: a template (template.h)
 * for softmax_kernels.c, included after softmax_other.h and softmax_parts.h. */

/* Computes the softmax of k rows of n < 8 elements, and writes it to y (k, n). exp runs over all
 * elements at once. */
static void fn(softmax_short)(const T *x, int64_t xk, int64_t n, int64_t k, T *y)
{
    for (int64_t j = 0; j < k; j++) {
        T m = x[j * xk];
        for (int64_t i = 1; i < n; i++) {
            m = x[j * xk + i] > m ? x[j * xk + i] : m;
        }
        for (int64_t i = 0; i < n; i++) {
            y[j * n + i] = x[j * xk + i] - m; /* heed-loop */
        }
    }
    fn(hdk_unary_all)(HDK_EXP, y, n * k);
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

/* Computes the softmax of one row, whose maximum is *m. Sets *m to the maximum of the row `next`.
 * For a long row that is written past the cache, the exponentials are computed twice, so that they
 * need no buffer. */
static void fn(softmax_row)(const T *x, int64_t n, T *m, const T *next, T *y, bool stream)
{
    T room[SOFTMAX_ROOM], most = *m;
    if (!stream || n <= SOFTMAX_ROOM) {
        T *e = fn(result_at)(y, room, stream);
        T scale = 1 / fn(row_exp_sum)(x, n, m, next, e);
        fn(put_scaled)(y, e, n, scale, stream);
        return;
    }
    T scale = 1 / fn(row_exp_sum)(x, n, m, next, NULL);
    for (int64_t i = 0, part; (part = part_of(n, i, SOFTMAX_ROOM)) > 0; i += SOFTMAX_ROOM) {
        fn(row_exp)(x + i, part, most, 0, room);
        fn(put_scaled)(y + i, room, part, scale, true);
    }
}

static void fn(softmax_last)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t n = l->n;
    if (n > 0 && n < 8 && l->sk[0] == n) {
        for (int64_t j = 0; j < l->k; j += SHORT_ROWS) {
            int64_t k = l->k - j < SHORT_ROWS ? l->k - j : SHORT_ROWS;
            fn(softmax_short)((const T *)data[1] + j * l->sk[1], l->sk[1], n, k,
                              (T *)data[0] + j * n);
        }
        return;
    }
    const T *x = data[1];
    T m = n > 0 && l->k > 0 ? fn(row_max)(x, n) : 0;
    for (int64_t j = 0; j < l->k && n > 0; j++) {
        const T *next = j + 1 < l->k ? x + l->sk[1] : x; /* the last row has no next row */
        fn(softmax_row)(x, n, &m, next, (T *)data[0] + j * l->sk[0], p != 0);
        x = next;
    }
    hdk_stream_end();
}

/* Computes dx = (dy - sum(dy * y)) * y. */
static void fn(softmax_last_backward)(const hdk_lanes *l, void *const *data, double p)
{
    for (int64_t j = 0; j < l->k; j++) {
        T *dx = (T *)data[0] + j * l->sk[0];
        const T *dy = (const T *)data[1] + j * l->sk[1];
        const T *y = (const T *)data[2] + j * l->sk[2];
        T s = fn(row_products)(dy, y, l->n);
        fn(put_products)(dx, dy, s, y, 0, l->n, p != 0);
    }
    hdk_stream_end();
}

static void fn(log_softmax_last)(const hdk_lanes *l, void *const *data, double p)
{
    T room[SOFTMAX_ROOM];
    const T *x = data[1];
    T most = l->n > 0 && l->k > 0 ? fn(row_max)(x, l->n) : 0;
    for (int64_t j = 0; j < l->k && l->n > 0; j++) {
        T *y = (T *)data[0] + j * l->sk[0];
        const T *next = j + 1 < l->k ? x + l->sk[1] : x;
        T m = fn(minus_zero)(most), log_sum = LOG(fn(row_exp_sum)(x, l->n, &most, next, NULL));
        for (int64_t i = 0, n; (n = part_of(l->n, i, SOFTMAX_ROOM)) > 0; i += SOFTMAX_ROOM) {
            T *restrict to = fn(result_at)(y + i, room, p != 0);
            fn(put_less)(to, x + i, n, m, log_sum);
            fn(result_done)(y + i, to, n);
        }
        x = next;
    }
    hdk_stream_end();
}

/* Computes dx = dy - exp(y) * sum(dy). */
static void fn(log_softmax_last_backward)(const hdk_lanes *l, void *const *data, double p)
{
    T room[SOFTMAX_ROOM];
    for (int64_t j = 0; j < l->k; j++) {
        T *dx = (T *)data[0] + j * l->sk[0];
        const T *dy = (const T *)data[1] + j * l->sk[1];
        const T *y = (const T *)data[2] + j * l->sk[2];
        T s = fn(row_sum)(dy, l->n);
        for (int64_t i = 0, n; (n = part_of(l->n, i, SOFTMAX_ROOM)) > 0; i += SOFTMAX_ROOM) {
            T *restrict to = fn(result_at)(dx + i, room, p != 0);
            fn(row_exp)(y + i, n, 0, 0, to);
            for (int64_t at = 0; at < n; at++) {
                to[at] = dy[i + at] - to[at] * s;
            }
            fn(result_done)(dx + i, to, n);
        }
    }
    hdk_stream_end();
}

/* Names: softmax_short_f32 softmax_short_f64 softmax_row_f32 softmax_row_f64 softmax_last_f32
 * softmax_last_f64 softmax_last_backward_f32 softmax_last_backward_f64 log_softmax_last_f32
 * log_softmax_last_f64 log_softmax_last_backward_f32 log_softmax_last_backward_f64 */
