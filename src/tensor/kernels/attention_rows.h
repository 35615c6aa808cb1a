/* attention_rows.h - attention one query at a time, of one type: included with T, F(name), EXP,
 * LOG, MULADD and softmax_row.h. Every sum is one chain in order, as in the matrix product, and
 * softmax's is softmax_row.h's, so that few tokens get the bits of the written-out layers. */

static inline T F(dot)(const T *a, int64_t a_col, const T *b, int64_t b_col, int64_t n)
{
    T sum = 0;
    for (int64_t e = 0; e < n; e++) {
        sum = MULADD(a[e * a_col], b[e * b_col], sum);
    }
    return sum;
}

static inline const T *F(row)(const hdk_rows *m, int64_t i)
{
    return (const T *)m->p + i * m->row;
}

/* score (i, j) of a key that is not hidden */
static inline T F(score)(const hdk_head *h, int64_t i, int64_t j)
{
    T x = F(dot)(F(row)(&h->q, i), h->q.col, F(row)(&h->k, j), h->k.col, h->d);
    x = h->divisor != 0 ? x / (T)h->divisor : x * (T)h->scale;
    if (!h->mask.p) {
        return x;
    }
    int64_t at = i * h->mask.row + j * h->mask.col;
    if (h->mask_is_bool) {
        return ((const uint8_t *)h->mask.p)[at] ? x : -(T)INFINITY;
    }
    return x + ((const T *)h->mask.p)[at];
}

/* all -inf, and none NaN, which a maximum does not show */
static bool F(all_hidden)(const T *w, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        if (!(w[j] == -(T)INFINITY)) {
            return false;
        }
    }
    return true;
}

/* w = the weights of query i before dropout; returns log sum exp of the scores */
static T F(row_weights)(const hdk_head *h, int64_t i, T *w)
{
    int64_t seen = seen_by(h, i);
    for (int64_t j = 0; j < h->s; j++) {
        w[j] = j < seen ? F(score)(h, i, j) : -(T)INFINITY;
    }
    T m = F(row_max)(w, h->s);
    if (h->safe && m == -(T)INFINITY && F(all_hidden)(w, h->s)) {
        memset(w, 0, (size_t)h->s * sizeof *w);
        return (T)INFINITY;
    }
    for (int64_t j = 0; j < h->s; j++) {
        w[j] -= m;
    }
    F(exp_all)(w, h->s);
    T sum = F(row_sum)(w, h->s), inverse = 1 / sum;
    for (int64_t j = 0; j < h->s; j++) {
        w[j] *= inverse;
    }
    return m + LOG(sum);
}

static void F(drop_row)(const hdk_head *h, int64_t i, T *w)
{
    T scale = keep_scale(h);
    draw_at d = draw_begin(h, i, 0);
    for (int64_t j = 0; j < h->s; j++) {
        w[j] *= draw_next(h, &d) ? scale : 0;
    }
}

static size_t F(rows_room)(const hdk_head *h)
{
    return (size_t)h->s * sizeof(T);
}

static void F(rows_weights)(const hdk_head *h, int64_t from, int64_t to, void *weights,
                            void *scratch)
{
    (void)scratch;
    for (int64_t i = from; i < to; i++) {
        T *w = (T *)weights + i * h->s;
        F(row_weights)(h, i, w);
        if (h->keep < 1) {
            F(drop_row)(h, i, w);
        }
    }
}

static void F(rows_forward)(const hdk_head *h, int64_t from, int64_t to, void *scratch)
{
    T *w = scratch;
    for (int64_t i = from; i < to; i++) {
        ((T *)h->lse)[i] = F(row_weights)(h, i, w);
        if (h->keep < 1) {
            F(drop_row)(h, i, w);
        }
        T *y = (T *)h->out.p + i * h->out.row;
        for (int64_t e = 0; e < h->dv; e++) {
            y[e * h->out.col] = F(dot)(w, 1, (const T *)h->v.p + e * h->v.col, h->v.row, h->s);
        }
    }
}

static void F(add_scaled)(T a, const T *x, int64_t x_col, T *y, int64_t y_col, int64_t n)
{
    for (int64_t e = 0; e < n; e++) {
        y[e * y_col] = MULADD(a, x[e * x_col], y[e * y_col]);
    }
}

static void F(zero_rows)(const hdk_rows *m, int64_t from, int64_t to, int64_t cols)
{
    for (int64_t i = from; i < to; i++) {
        for (int64_t e = 0; e < cols; e++) {
            ((T *)m->p)[i * m->row + e * m->col] = 0;
        }
    }
}

/* w = exp(scores - lse), p = w mask / keep, out = p v; with dp = dout v^T:
 * ds = w (dp mask / keep - dout . out), dq += ds k scale, dk += ds^T q scale, dv += p^T dout */
static void F(rows_backward)(const hdk_head *h, const hdk_head_grads *g, int64_t from, int64_t to,
                             void *scratch)
{
    (void)scratch;
    T scale = h->divisor != 0 ? 1 / (T)h->divisor : (T)h->scale, kept = keep_scale(h);
    F(zero_rows)(&g->dq, 0, h->l, h->d);
    F(zero_rows)(&g->dk, from, to, h->d);
    F(zero_rows)(&g->dv, from, to, h->dv);
    for (int64_t i = 0; i < h->l; i++) {
        int64_t seen = seen_by(h, i);
        const T *dy = F(row)(&g->dout, i);
        T *dq = (T *)g->dq.p + i * g->dq.row, lse = ((const T *)h->lse)[i];
        T both = F(dot)(dy, g->dout.col, F(row)(&h->out, i), h->out.col, h->dv);
        draw_at d = draw_begin(h, i, from);
        for (int64_t j = from; j < to && j < seen; j++) {
            T w = EXP(F(score)(h, i, j) - lse), m = draw_next(h, &d) ? kept : 0;
            T dp = F(dot)(dy, g->dout.col, F(row)(&h->v, j), h->v.col, h->dv);
            T ds = w * (dp * m - both) * scale;
            F(add_scaled)(ds, F(row)(&h->k, j), h->k.col, dq, g->dq.col, h->d);
            F(add_scaled)
            (ds, F(row)(&h->q, i), h->q.col, (T *)g->dk.p + j * g->dk.row, g->dk.col, h->d);
            F(add_scaled)(w * m, dy, g->dout.col, (T *)g->dv.p + j * g->dv.row, g->dv.col, h->dv);
        }
    }
}
