/* plain_loss.h - cross entropy, -log(softmax(x)[target]), and the squared error, (x - t)^2: a
 * template (template.h) for plain.c, included after plain_softmax.h. */

/* Computes loss_i = -log(softmax(x_i)[target_i]) = -(x[target] - m - log(sum(e^(x - m)))), where m
 * is max(x). */
static void fn(cross_entropy)(const hdk_logits *l, void *out)
{
    T *loss = out, *stats = l->stats;
    for (int64_t i = 0; i < l->rows; i++) {
        const T *x = (const T *)l->x + i * l->stride; /* (c,) */
        T m = fn(largest)(x, 1, l->c), log_sum = LOG(fn(sum_of_exp)(x, 1, l->c, m));
        stats[2 * i] = m;
        stats[2 * i + 1] = log_sum;
        if (l->target[i] == l->ignore) {
            loss[i] = 0;
            continue;
        }
        T log_p = x[l->target[i]] - m - log_sum; /* heed-loop */
        /* With one class, PyTorch's loss is -0, or 0 if the logits have one dim. */
        loss[i] = l->ndim == 1 ? 0 - log_p : -log_p;
    }
}

/* Computes dx = g - softmax(x) * sum(g), where g is -dy / divisor at the target, and 0
 * elsewhere. */
static void fn(cross_entropy_backward)(const hdk_logits *l, const void *g, int64_t gs,
                                       double divisor, bool stream, void *out)
{
    const T *dy = g, *stats = l->stats;
    (void)stream;
    for (int64_t i = 0; i < l->rows; i++) {
        const T *x = (const T *)l->x + i * l->stride; /* (c,) */
        T *dx = (T *)out + i * l->c, m = stats[2 * i], log_sum = stats[2 * i + 1];
        bool counts = l->target[i] != l->ignore;
        T at_target = counts ? -(dy[i * gs] / (T)divisor) : 0;
        /* With one class, PyTorch's sum may be -0 if the logits have one or two dims. */
        T sum = l->c > 1 || l->ndim > 2 ? 0 + at_target : at_target;
        for (int64_t j = 0; j < l->c; j++) {
            T p = fn(exp)(x[j] - m - log_sum), g = counts && j == l->target[i] ? at_target : 0;
            dx[j] = g - p * sum; /* heed-loop */
        }
    }
}

/* Computes y = (x - t)^2. */
static void fn(square)(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        T x = *(const T *)(data[1] + i * strides[1]);
        T t = *(const T *)(data[2] + i * strides[2]);
        *(T *)(data[0] + i * strides[0]) = (x - t) * (x - t); /* heed-loop */
    }
}

/* Computes dx = norm * (x - t) * dy. */
static void fn(square_backward)(char *const *data, const int64_t *strides, int64_t n,
                                const void *params)
{
    const T norm = (T) * (const double *)params;
    for (int64_t i = 0; i < n; i++) {
        T x = *(const T *)(data[1] + i * strides[1]);
        T t = *(const T *)(data[2] + i * strides[2]);
        T dy = *(const T *)(data[3] + i * strides[3]);
        *(T *)(data[0] + i * strides[0]) = norm * (x - t) * dy; /* heed-loop */
    }
}

/* Names: cross_entropy_f32 cross_entropy_f64 cross_entropy_backward_f32 cross_entropy_backward_f64
 * square_f32 square_f64 square_backward_f32 square_backward_f64 */
