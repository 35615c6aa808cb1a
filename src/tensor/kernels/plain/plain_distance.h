/* plain_distance.h - the reductions that only floats have: the variance sum((x - mean)^2) / p, with
 * the last step of its gradient, and sum((x - t)^2). A template (template.h) for plain.c, included
 * after plain_sum.h. */

/* Computes y = sum((x - mean)^2) / p of each lane. */
static void fn(var)(const hdk_lanes *l, void *const *data, double p)
{
    for (int64_t j = 0; j < l->k; j++) {
        const T *x = (const T *)data[1] + j * l->sk[1];
        double mean = 0, sum = 0;
        for (int64_t i = 0; i < l->n; i++) {
            mean += (double)x[i * l->sn[1]];
        }
        mean /= (double)l->n;
        for (int64_t i = 0; i < l->n; i++) {
            double d = (double)x[i * l->sn[1]] - mean;
            sum += d * d; /* heed-loop */
        }
        ((T *)data[0])[j * l->sk[0]] = (T)(sum / p);
    }
}

/* Computes y = g * (x - m). */
static void fn(center)(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        T x = *(const T *)(data[1] + i * strides[1]);
        T g = *(const T *)(data[2] + i * strides[2]);
        T m = *(const T *)(data[3] + i * strides[3]);
        *(T *)(data[0] + i * strides[0]) = g * (x - m); /* heed-loop */
    }
}

/* Returns sum((x - t)^2) of n adjacent elements, in the order in which plain_sum.h would add these
 * squares. */
static T fn(square_distance)(const T *x, const T *t, int64_t n)
{
    T few[8];
    fn(total) sum = 0;
    for (int64_t i = 0; i < n; i++) {
        T square = (x[i] - t[i]) * (x[i] - t[i]); /* heed-loop */
        few[i % 8] = square;
        sum += square;
    }
    return n < 8 ? fn(sum_of)(few, 1, n, true) : (T)sum;
}

/* Names: var_f32 var_f64 center_f32 center_f64 square_distance_f32 square_distance_f64 */
