/* optim_body.h - norms and clipping of gradients: a template (template.h) for optim_kernels.c. */

/* Returns the sum of the squares of x, added in double, in eight partial sums that the compiler may
 * keep in vectors. */
static double fn(norm_squares)(const T *x, int64_t n)
{
    double part[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int j = 0; j < 8; j++) {
            double v = x[i + j];
            part[j] += v * v;
        }
    }
    for (; i < n; i++) {
        part[0] += (double)x[i] * x[i];
    }
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
}

static void fn(norm)(const void *data, int64_t begin, int64_t end, double p, double *sum)
{
    const T *x = data;
    if (p == 2) {
        *sum += fn(norm_squares)(x + begin, end - begin);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        double v = fabs((double)x[i]);
        if (p == INFINITY) {
            *sum = v > *sum || v != v ? v : *sum;
        } else if (p == -INFINITY) {
            *sum = v < *sum || v != v ? v : *sum;
        } else {
            *sum += p == 0 ? v != 0 : pow(v, p);
        }
    }
}

static void fn(scale)(void *data, int64_t begin, int64_t end, double by)
{
    T *x = data;
    const T a = (T)by;
    for (int64_t i = begin; i < end; i++) {
        x[i] *= a;
    }
}

static void fn(clamp_both)(void *data, int64_t begin, int64_t end, double by)
{
    T *x = data;
    const T a = (T)by;
    for (int64_t i = begin; i < end; i++) {
        x[i] = x[i] < -a ? -a : x[i] > a ? a : x[i];
    }
}

/* Names: norm_squares_f32 norm_squares_f64 norm_f32 norm_f64 scale_f32 scale_f64 clamp_both_f32
 * clamp_both_f64 */
