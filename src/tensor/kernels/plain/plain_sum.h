/* plain_sum.h - the sum of each lane, and its running sum y_i = x_0 + ... + x_i: a template
 * (template.h) for plain.c, which defines the type of the sums (`total`). Of the lane at x, element
 * i is x[i * xn]. */

/* Returns sum(x). If `row` and n < 8, adds in PyTorch's order, in four partial sums of every fourth
 * element, because the last printed digit shows the order. */
static T fn(sum_of)(const T *x, int64_t xn, int64_t n, bool row)
{
    if (row && n < 8) {
        T part[4] = {0};
        for (int64_t i = 0; i < n; i++) {
            part[i < n / 4 * 4 ? i % 4 : 0] += x[i * xn]; /* heed-loop */
        }
        return part[0] + part[1] + part[2] + part[3];
    }
    fn(total) sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i * xn]; /* heed-loop */
    }
    return (T)sum;
}

static void fn(sum)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        const T *x = (const T *)data[1] + j * l->sk[1];
        ((T *)data[0])[j * l->sk[0]] = fn(sum_of)(x, l->sn[1], l->n, hdk_lanes_apart(l));
    }
}

/* Computes y_i = x_0 + ... + x_i. */
static void fn(cumsum)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        T *y = (T *)data[0] + j * l->sk[0];
        const T *x = (const T *)data[1] + j * l->sk[1];
        fn(total) sum = 0;
        for (int64_t i = 0; i < l->n; i++) {
            sum += x[i * l->sn[1]];
            y[i * l->sn[0]] = (T)sum; /* heed-loop */
        }
    }
}

/* Names: sum_of_f32 sum_of_f64 sum_of_u64 sum_f32 sum_f64 sum_u64 cumsum_f32 cumsum_f64 cumsum_u64
 * */
