/* plain_extreme.h - max(x), min(x) and their places in each lane, and whether any or all of x are
 * not 0: a template (template.h) for plain.c. Of the lane at x, element i is x[i * xn]. */

/* Returns the largest of n elements, or the smallest if `least`. If several are equal, as 0 and -0
 * are, returns the last of them. If one is NaN, returns NaN. */
static T fn(extreme)(const T *x, int64_t xn, int64_t n, bool least)
{
    T best = x[0];
    for (int64_t i = 1; i < n; i++) {
        T v = x[i * xn];
        bool better = least ? v <= best : v >= best;
        best = better || isnan((double)v) ? v : best; /* heed-loop */
    }
    return best;
}

static void fn(values)(const hdk_lanes *l, void *const *data, bool least)
{
    for (int64_t j = 0; j < l->k; j++) {
        const T *x = (const T *)data[1] + j * l->sk[1];
        ((T *)data[0])[j * l->sk[0]] = fn(extreme)(x, l->sn[1], l->n, least);
    }
}

/* Writes the first index of each lane's maximum or, if `least`, minimum to operand 0. Writes its
 * value to operand 2 unless that is NULL. */
static void fn(places)(const hdk_lanes *l, void *const *data, bool least)
{
    const int64_t xn = l->sn[1];
    T *value = data[2];
    for (int64_t j = 0; j < l->k; j++) {
        const T *x = (const T *)data[1] + j * l->sk[1], best = fn(extreme)(x, xn, l->n, least);
        int64_t at = 0;
        while (at < l->n - 1 && x[at * xn] != best && !isnan((double)x[at * xn])) {
            at++; /* heed-loop */
        }
        ((int64_t *)data[0])[j * l->sk[0]] = at;
        if (value) {
            value[j * l->sk[2]] = x[at * xn];
        }
    }
}

/* The kernels of the table: fn(values) and fn(places), each for the maximum and the minimum */
static void fn(max_value)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    fn(values)(l, data, false);
}

static void fn(min_value)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    fn(values)(l, data, true);
}

static void fn(max_arg)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    fn(places)(l, data, false);
}

static void fn(min_arg)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    fn(places)(l, data, true);
}

/* Sets y to true if any element of the lane is not 0. */
static void fn(any)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        const T *x = (const T *)data[1] + j * l->sk[1];
        bool y = false;
        for (int64_t i = 0; i < l->n; i++) {
            y = y || x[i * l->sn[1]] != 0; /* heed-loop */
        }
        ((uint8_t *)data[0])[j * l->sk[0]] = y;
    }
}

/* Sets y to true if no element of the lane is 0. */
static void fn(all)(const hdk_lanes *l, void *const *data, double p)
{
    (void)p;
    for (int64_t j = 0; j < l->k; j++) {
        const T *x = (const T *)data[1] + j * l->sk[1];
        bool y = true;
        for (int64_t i = 0; i < l->n; i++) {
            y = y && x[i * l->sn[1]] != 0; /* heed-loop */
        }
        ((uint8_t *)data[0])[j * l->sk[0]] = y;
    }
}

/* Names: extreme_b8 extreme_f32 extreme_f64 extreme_i64 values_b8 values_f32 values_f64 values_i64
 * places_b8 places_f32 places_f64 places_i64 max_value_b8 max_value_f32 max_value_f64 max_value_i64
 * min_value_b8 min_value_f32 min_value_f64 min_value_i64 max_arg_b8 max_arg_f32 max_arg_f64
 * max_arg_i64 min_arg_b8 min_arg_f32 min_arg_f64 min_arg_i64 any_b8 any_f32 any_f64 any_i64 all_b8
 * all_f32 all_f64 all_i64 */
