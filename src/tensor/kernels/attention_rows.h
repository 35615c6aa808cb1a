/* attention_rows.h - attention one query at a time: a template (template.h), for
 * attention_kernels.c.
 *
 * Every sum is one chain of additions in order, as in the matrix product, and softmax's sum is that
 * of softmax_parts.h. So for few tokens, the results have the same bits as those of separate ops.
 * Keys and values are first transposed to (width, keys), so that keys are neighbours in memory. The
 * number of keys is padded to whole vectors. A query never uses the elements after the keys that it
 * sees. */

static inline int64_t fn(padded)(int64_t n)
{
    return (n + SVECTOR - 1) & -SVECTOR;
}

/* Returns a vector with the first n elements of a, and the remaining ones of b. */
static inline SVEC fn(first_of)(int64_t n, SVEC a, SVEC b)
{
    SVEC number;
    HDK_UNROLL
    for (int l = 0; l < SVECTOR; l++) {
        number[l] = l;
    }
    __typeof__(a < b) m = number < (T)n - (SVEC){0};
    return (SVEC)((m & (__typeof__(m))a) | (~m & (__typeof__(m))b));
}

static inline T fn(strided_dot)(const T *a, int64_t a_col, const T *b, int64_t b_col, int64_t n)
{
    T sum = 0;
    for (int64_t e = 0; e < n; e++) {
        sum = FMA(a[e * a_col], b[e * b_col], sum);
    }
    return sum;
}

static inline const T *fn(row)(const hdk_rows *m, int64_t i)
{
    return (const T *)m->p + i * m->row;
}

/* Sets `to` (cols, padded(n)) to the n rows of m from `from` on, transposed, and pads it with
 * zeros. */
static HDK_NOINLINE void fn(transpose_rows)(const hdk_rows *m, int64_t from, int64_t n,
                                            int64_t cols, T *to)
{
    int64_t stride = fn(padded)(n);
    memset(to, 0, (size_t)(cols * stride) * sizeof *to);
    for (int64_t j = 0; j < n; j++) {
        const T *x = fn(row)(m, from + j);
        for (int64_t e = 0; e < cols; e++) {
            to[e * stride + j] = x[e * m->col];
        }
    }
}

static HDK_NOINLINE void fn(transpose_back)(const T *x, int64_t from, int64_t n, int64_t cols,
                                            const hdk_rows *m)
{
    int64_t stride = fn(padded)(n);
    for (int64_t j = 0; j < n; j++) {
        T *to = (T *)m->p + (from + j) * m->row;
        for (int64_t e = 0; e < cols; e++) {
            to[e * m->col] = x[e * stride + j];
        }
    }
}

/* Computes y = x m, with x (cols,), m (cols, stride) and y (n,). Writes whole vectors, so y must
 * have padded(n) elements. */
static inline void fn(row_times)(const T *x, int64_t x_col, int64_t cols, const T *m,
                                 int64_t stride, int64_t n, T *y)
{
    for (int64_t j = 0; j < n; j += SVECTOR) {
        SVEC sum = {0};
        for (int64_t e = 0; e < cols; e++) {
            sum = fn(smuladd)(x[e * x_col], *(const SVEC *)(m + e * stride + j), sum);
        }
        *(SVEC *)(y + j) = sum; /* heed-loop */
    }
}

/* Adds x^T y to the first n columns of m (cols, stride). */
static inline void fn(add_outer)(const T *x, int64_t x_col, int64_t cols, const T *y, int64_t n,
                                 T *m, int64_t stride)
{
    for (int64_t e = 0; e < cols; e++, m += stride) {
        for (int64_t j = 0; j < n; j += SVECTOR) {
            SVEC *to = (SVEC *)(m + j);
            SVEC sum = fn(smuladd)(x[e * x_col], *(const SVEC *)(y + j), *to);
            *to = fn(first_of)(n - j, sum, *to);
        }
    }
}

/* Returns x, the score of query i and key j, with the mask applied. */
static HDK_NOINLINE T fn(masked)(const hdk_head *h, int64_t i, int64_t j, T x)
{
    int64_t at = i * h->mask.row + j * h->mask.col;
    if (h->mask_is_bool) {
        return ((const uint8_t *)h->mask.p)[at] ? x : -(T)INFINITY;
    }
    return x + ((const T *)h->mask.p)[at];
}

/* Sets w to the scores of query i and the n keys from `from` on, with the mask applied. Query i
 * must see all these keys. */
static inline void fn(scores)(const hdk_head *h, int64_t i, const T *keys, int64_t stride,
                              int64_t from, int64_t n, T *w)
{
    fn(row_times)(fn(row)(&h->q, i), h->q.col, h->d, keys, stride, n, w);
    for (int64_t j = 0; j < n; j += SVECTOR) {
        SVEC *x = (SVEC *)(w + j);
        *x = h->divisor != 0 ? *x / (T)h->divisor : *x * (T)h->scale;
    }
    for (int64_t j = 0; j < n && h->mask.p; j++) {
        w[j] = fn(masked)(h, i, from + j, w[j]);
    }
}

/* True if all n scores in w are -inf. A maximum of -inf does not prove it, because w may also
 * contain NaN. */
static bool fn(all_hidden)(const T *w, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        if (!(w[j] == -(T)INFINITY)) {
            return false;
        }
    }
    return true;
}

/* Multiplies each element of w, the weights of query i and the n keys from `from` on, by dropout's
 * 0 or 1 / keep. */
static HDK_NOINLINE void fn(drop)(const hdk_head *h, int64_t i, int64_t from, int64_t n, T *w)
{
    T scale = fn(keep_scale)(h);
    draw_at d = draw_begin(h, i, from);
    for (int64_t j = 0; j < n; j++) {
        w[j] *= draw_next(h, &d) ? scale : 0;
    }
}

/* Sets w (n, padded(s)) to the weights after dropout of the n queries from i on, and writes their
 * log-sum-exp to h->lse. */
static HDK_NOINLINE void fn(weights)(const hdk_head *h, int64_t i, int64_t n, const T *keys, T *w)
{
    int64_t stride = fn(padded)(h->s);
    bool dead[QUERIES_TOGETHER];
    T top[QUERIES_TOGETHER];
    for (int64_t r = 0; r < n; r++) {
        T *x = w + r * stride;
        int64_t seen = seen_by(h, i + r);
        fn(scores)(h, i + r, keys, stride, 0, seen, x);
        for (int64_t j = seen & -SVECTOR; j < stride; j += SVECTOR) {
            SVEC *y = (SVEC *)(x + j), none = fn(sall)(-(T)INFINITY);
            *y = fn(first_of)(seen - j, *y, none);
        }
        top[r] = fn(row_max)(x, h->s);
        dead[r] = h->safe && top[r] == -(T)INFINITY && fn(all_hidden)(x, h->s);
        for (int64_t j = 0; j < stride; j += SVECTOR) {
            *(SVEC *)(x + j) -= top[r];
        }
    }
    fn(hdk_unary_all)(HDK_EXP, w, n * stride);
    for (int64_t r = 0; r < n; r++) {
        T *x = w + r * stride, sum = fn(row_sum)(x, h->s), inverse = 1 / sum;
        for (int64_t j = 0; j < stride; j += SVECTOR) {
            *(SVEC *)(x + j) *= inverse;
        }
        if (dead[r]) {
            memset(x, 0, (size_t)h->s * sizeof *x);
        }
        ((T *)h->lse)[i + r] = dead[r] ? (T)INFINITY : top[r] + LOG(sum);
        if (h->keep < 1) {
            fn(drop)(h, i + r, 0, h->s, x);
        }
    }
}

static int64_t fn(rows_forward_room)(const hdk_head *h)
{
    return (h->d + QUERIES_TOGETHER) * fn(padded)(h->s) * (int64_t)sizeof(T);
}

static inline int64_t fn(some_rows)(int64_t i, int64_t to)
{
    return to - i < QUERIES_TOGETHER ? to - i : QUERIES_TOGETHER;
}

/* Computes y = w v, with w (s,), v (s, dv) and y (dv,). */
static inline void fn(weighted_values)(const hdk_head *h, const T *w, T *y)
{
    for (int64_t e = 0; e < h->dv; e++) {
        const T *v = (const T *)h->v.p + e * h->v.col;
        y[e * h->out.col] = fn(strided_dot)(w, 1, v, h->v.row, h->s);
    }
}

/* Writes the weights of the queries [from, to) to `weights` or, if it is NULL, their outputs to
 * h->out. */
static void fn(rows_weights)(const hdk_head *h, int64_t from, int64_t to, void *weights,
                             void *scratch)
{
    int64_t stride = fn(padded)(h->s);
    T *keys = scratch, *w = keys + h->d * stride;
    fn(transpose_rows)(&h->k, 0, h->s, h->d, keys);
    for (int64_t i = from; i < to; i += QUERIES_TOGETHER) {
        int64_t n = fn(some_rows)(i, to);
        fn(weights)(h, i, n, keys, w);
        for (int64_t r = 0; r < n; r++) {
            if (weights) {
                memcpy((T *)weights + (i + r) * h->s, w + r * stride, (size_t)h->s * sizeof(T));
            } else {
                fn(weighted_values)(h, w + r * stride, (T *)h->out.p + (i + r) * h->out.row);
            }
        }
    }
}

static void fn(rows_forward)(const hdk_head *h, int64_t from, int64_t to, void *scratch)
{
    fn(rows_weights)(h, from, to, NULL, scratch);
}

static int64_t fn(rows_backward_room)(const hdk_head *h)
{
    return (2 * h->d + 2 * h->dv + QUERIES_TOGETHER + 2) * fn(padded)(h->s) * (int64_t)sizeof(T);
}

static void fn(ones)(T *x, int64_t n)
{
    for (int64_t j = 0; j < n; j += SVECTOR) {
        *(SVEC *)(x + j) = fn(sall)(1);
    }
}

/* Returns the number of the keys [from, to) that query i sees. */
static inline int64_t fn(seen_from)(const hdk_head *h, int64_t i, int64_t from, int64_t to)
{
    int64_t seen = seen_by(h, i);
    return seen < from ? 0 : (seen < to ? seen : to) - from;
}

/* Computes the weights before dropout of the queries [i, end) from their lse, and writes them to w,
 * one row per query. A row has a weight for each key in [from, to) that its query sees, and is
 * padded to whole vectors. So the rows differ in length; each begins where the one before it
 * ends. */
static inline void fn(weights_again)(const hdk_head *h, int64_t i, int64_t end, const T *keys,
                                     int64_t stride, int64_t from, int64_t to, T *w)
{
    T *x = w;
    for (; i < end; i++) {
        int64_t n = fn(seen_from)(h, i, from, to);
        T lse = ((const T *)h->lse)[i];
        fn(scores)(h, i, keys, stride, from, n, x);
        for (int64_t j = 0; j < n; j += SVECTOR) {
            *(SVEC *)(x + j) -= lse;
        }
        x += fn(padded)(n);
    }
    fn(hdk_unary_all)(HDK_EXP, w, x - w);
}

/* If the lse of query i is NaN, sets x[j] to 0 for each j < n for which a bool mask masks the key
 * from + j. Otherwise, or without a bool mask, does nothing. As with hd_masked_fill in separate
 * ops, a masked score has no gradient, even in a row of NaN. */
static inline void fn(clear_hidden)(const hdk_head *h, int64_t i, int64_t from, int64_t n, T *x)
{
    T lse = ((const T *)h->lse)[i];
    const uint8_t *seen = (const uint8_t *)h->mask.p;
    if (lse == lse || !seen || !h->mask_is_bool) {
        return;
    }
    seen += i * h->mask.row + from * h->mask.col;
    for (int64_t j = 0; j < n; j++) {
        x[j] = seen[j * h->mask.col] ? x[j] : 0;
    }
}

/* Computes dk and dv of the keys [from, to), and their part of dq:
 *     w = exp(scores - lse), p = w * kept / keep, out = p @ v, dp = dout @ v^T
 *     ds = w * (dp * kept / keep - sum(dout * out)) * scale
 *     dq = ds @ k, dk = ds^T @ q, dv = p^T @ dout
 * w are the weights before dropout, and p those after it; kept is 1 or 0. */
static void fn(rows_backward)(const hdk_head *h, const hdk_head_grads *g, int64_t from, int64_t to,
                              void *scratch)
{
    int64_t all = to - from, stride = fn(padded)(all);
    T *keys = scratch, *values = keys + h->d * stride, *dk = values + h->dv * stride;
    T *dv = dk + h->d * stride, *ds = dv + h->dv * stride, *factor = ds + stride;
    T *w = factor + stride;
    T scale = h->divisor != 0 ? 1 / (T)h->divisor : (T)h->scale;
    fn(transpose_rows)(&h->k, from, all, h->d, keys);
    fn(transpose_rows)(&h->v, from, all, h->dv, values);
    memset(dk, 0, (size_t)((h->d + h->dv) * stride) * sizeof(T));
    fn(ones)(factor, stride);
    for (int64_t i = 0, n; i < h->l; i++, w += fn(padded)(n)) {
        if (i % QUERIES_TOGETHER == 0) {
            w = factor + stride;
            fn(weights_again)(h, i, i + fn(some_rows)(i, h->l), keys, stride, from, to, w);
        }
        const T *dy = fn(row)(&g->dout, i);
        T *dq = (T *)g->dq.p + i * g->dq.row;
        T both = fn(strided_dot)(dy, g->dout.col, fn(row)(&h->out, i), h->out.col, h->dv);
        n = fn(seen_from)(h, i, from, to);
        fn(row_times)(dy, g->dout.col, h->dv, values, stride, n, ds);
        if (h->keep < 1) {
            fn(ones)(factor, n);
            fn(drop)(h, i, from, n, factor);
        }
        for (int64_t j = 0; j < n; j += SVECTOR) {
            SVEC *p = (SVEC *)(w + j), *dp = (SVEC *)(ds + j);
            SVEC by = *(const SVEC *)(factor + j);
            *dp = *p * (*dp * by - both) * scale;
            *p *= by;
        }
        fn(clear_hidden)(h, i, from, n, ds);
        for (int64_t e = 0; e < h->d; e++) {
            dq[e * g->dq.col] = fn(strided_dot)(ds, 1, keys + e * stride, 1, n);
        }
        fn(add_outer)(fn(row)(&h->q, i), h->q.col, h->d, ds, n, dk, stride);
        fn(add_outer)(dy, g->dout.col, h->dv, w, n, dv, stride);
    }
    fn(transpose_back)(dk, from, all, h->d, &g->dk);
    fn(transpose_back)(dv, from, all, h->dv, &g->dv);
}

/* Names: padded_f32 padded_f64 first_of_f32 first_of_f64 strided_dot_f32 strided_dot_f64 row_f32
 * row_f64 transpose_rows_f32 transpose_rows_f64 transpose_back_f32 transpose_back_f64 row_times_f32
 * row_times_f64 add_outer_f32 add_outer_f64 masked_f32 masked_f64 scores_f32 scores_f64
 * all_hidden_f32 all_hidden_f64 drop_f32 drop_f64 weights_f32 weights_f64 rows_forward_room_f32
 * rows_forward_room_f64 some_rows_f32 some_rows_f64 weighted_values_f32 weighted_values_f64
 * rows_weights_f32 rows_weights_f64 rows_forward_f32 rows_forward_f64 rows_backward_room_f32
 * rows_backward_room_f64 ones_f32 ones_f64 seen_from_f32 seen_from_f64 weights_again_f32
 * weights_again_f64 clear_hidden_f32 clear_hidden_f64 rows_backward_f32 rows_backward_f64 */
