/* plain_softmax.h - softmax, log_softmax and logsumexp of each lane, forward and backward: a
 * template (template.h) for plain.c. Of the lane at x, element i is x[i * xn].
 *     softmax      y = e^x / sum(e^x)
 *     log_softmax  y = x - log(sum(e^x))
 *     logsumexp    y = log(sum(e^x))
 * Each subtracts the largest x first, so that no e^x overflows. */

/* Returns e^x. The code for float32 is long, so it is compiled only once. */
static HDK_NOINLINE T fn(exp)(T x)
{
    return EXP(x);
}

/* Returns the largest of n elements, or -inf if n is 0. It may ignore NaN, which makes the sum of
 * exponentials NaN anyway. */
static T fn(largest)(const T *x, int64_t xn, int64_t n)
{
    T m = -(T)INFINITY;
    for (int64_t i = 0; i < n; i++) {
        m = x[i * xn] > m ? x[i * xn] : m;
    }
    return m;
}

/* Returns sum(e^(x - m)). Fewer than 8 elements are added up in T, as in PyTorch, because the last
 * printed digit shows it. */
static T fn(sum_of_exp)(const T *x, int64_t xn, int64_t n, T m)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += fn(exp)(x[i * xn] - m); /* heed-loop */
        sum = n < 8 ? (T)sum : sum;
    }
    return (T)sum;
}

/* Computes y = e^(x - m) / sum(e^(x - m)) with m = max(x). */
static void fn(softmax)(const hdk_lanes *l, void *const *data, double p)
{
    const int64_t yn = l->sn[0], xn = l->sn[1];
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        T *y = (T *)data[0] + j * l->sk[0];
        const T *x = (const T *)data[1] + j * l->sk[1];
        T m = fn(largest)(x, xn, l->n), sum = fn(sum_of_exp)(x, xn, l->n, m);
        for (int64_t i = 0; i < l->n; i++) {
            T e = fn(exp)(x[i * xn] - m);
            /* Along the last dim PyTorch multiplies by 1 / sum: the last printed digit shows it. */
            y[i * yn] = yn == 1 ? e * (1 / sum) : e / sum; /* heed-loop */
        }
    }
}

/* Computes dx = (dy - sum(dy * y)) * y. dx may be dy. */
static void fn(softmax_backward)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        T *dx = (T *)data[0] + j * l->sk[0];
        const T *dy = (const T *)data[1] + j * l->sk[1], *y = (const T *)data[2] + j * l->sk[2];
        double sum = first_zero(l);
        for (int64_t i = 0; i < l->n; i++) {
            sum += dy[i * l->sn[1]] * y[i * l->sn[2]]; /* heed-loop */
        }
        for (int64_t i = 0; i < l->n; i++) {
            dx[i * l->sn[0]] = (dy[i * l->sn[1]] - (T)sum) * y[i * l->sn[2]];
        }
    }
}

/* Computes y = x - m - log(sum(e^(x - m))). */
static void fn(log_softmax)(const hdk_lanes *l, void *const *data, double p)
{
    const int64_t yn = l->sn[0], xn = l->sn[1];
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        T *y = (T *)data[0] + j * l->sk[0];
        const T *x = (const T *)data[1] + j * l->sk[1];
        T m = fn(largest)(x, xn, l->n), log_sum = LOG(fn(sum_of_exp)(x, xn, l->n, m));
        for (int64_t i = 0; i < l->n; i++) {
            y[i * yn] = x[i * xn] - m - log_sum; /* heed-loop */
        }
    }
}

/* Computes dx = dy - e^y * sum(dy). dx may be dy. */
static void fn(log_softmax_backward)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        T *dx = (T *)data[0] + j * l->sk[0];
        const T *dy = (const T *)data[1] + j * l->sk[1], *y = (const T *)data[2] + j * l->sk[2];
        double sum = first_zero(l);
        for (int64_t i = 0; i < l->n; i++) {
            sum += dy[i * l->sn[1]];
        }
        for (int64_t i = 0; i < l->n; i++) {
            dx[i * l->sn[0]] = dy[i * l->sn[1]] - fn(exp)(y[i * l->sn[2]]) * (T)sum; /* heed-loop */
        }
    }
}

/* Computes y = m + log(sum(e^(x - m))). An infinite m is not subtracted, because inf - inf is
 * NaN. */
static void fn(logsumexp)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        const T *x = (const T *)data[1] + j * l->sk[1];
        T m = fn(largest)(x, l->sn[1], l->n);
        m = m == (T)INFINITY || m == -(T)INFINITY ? 0 : m;
        ((T *)data[0])[j * l->sk[0]] = LOG(fn(sum_of_exp)(x, l->sn[1], l->n, m)) + m;
    }
}

/* Names: exp_f32 exp_f64 largest_f32 largest_f64 sum_of_exp_f32 sum_of_exp_f64 softmax_f32
 * softmax_f64 softmax_backward_f32 softmax_backward_f64 log_softmax_f32 log_softmax_f64
 * log_softmax_backward_f32 log_softmax_backward_f64 logsumexp_f32 logsumexp_f64 */
