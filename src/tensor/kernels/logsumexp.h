/* logsumexp.h - logsumexp along any dim: a template (template.h) for softmax_kernels.c, included
 * after softmax_other.h and softmax_parts.h. */

/* Returns the number that is subtracted before exp: the maximum m, or 0 if it is infinite. */
static inline T fn(shift)(T m)
{
    return m == (T)INFINITY || m == (T)-INFINITY ? 0 : m;
}

/* Returns sum(exp(x)) of a lane whose maximum is +inf. row_exp_sum cannot take such a lane, because
 * vexp_many_f32 takes no number above 89. */
static HDK_NOINLINE T fn(infinite_exp_sum)(const T *x, int64_t n, int64_t xn)
{
    T sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += EXP(x[i * xn]);
    }
    return sum;
}

/* Returns sum(exp(x - shift(most))) of a row whose maximum is `most`. */
static inline T fn(shifted_exp_sum)(const T *x, int64_t n, T most)
{
    T m = fn(shift)(most);
    return most == (T)INFINITY ? fn(infinite_exp_sum)(x, n, 1) : fn(row_exp_sum)(x, n, &m, x, NULL);
}

static void fn(logsumexp)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t n = l->n, xn = l->sn[1], xk = l->sk[1];
    (void)p;
    for (int64_t j0 = 0, k; (k = part_of(l->k, j0, SOFTMAX_TILE)) > 0; j0 += SOFTMAX_TILE) {
        T *y = (T *)data[0] + j0 * l->sk[0];
        const T *restrict x = (const T *)data[1] + j0 * xk;
        T m[SOFTMAX_TILE] = {0}, s[SOFTMAX_TILE] = {0}, top[SOFTMAX_TILE] = {0};
        if (n > 0 && xn != 1) {
            fn(tile_max)(x, n, xn, k, xk, top);
        }
        for (int64_t j = 0; j < k && n > 0; j++) {
            T most = xn == 1 ? fn(row_max)(x + j * xk, n) : top[j];
            s[j] = xn == 1 ? fn(shifted_exp_sum)(x + j * xk, n, most) : 0;
            m[j] = fn(shift)(most);
        }
        for (int64_t i = 0; i < n && xn != 1; i++) {
            T e[SOFTMAX_TILE];
            fn(tile_exp)(x + i * xn, xn, k, xk, m, e, s);
        }
        for (int64_t j = 0; j < k; j++) {
            T sum = top[j] == (T)INFINITY ? fn(infinite_exp_sum)(x + j * xk, n, xn) : s[j];
            y[j * l->sk[0]] = LOG(sum) + m[j];
        }
    }
}

/* Names: shift_f32 shift_f64 infinite_exp_sum_f32 infinite_exp_sum_f64 shifted_exp_sum_f32
 * shifted_exp_sum_f64 logsumexp_f32 logsumexp_f64 */
