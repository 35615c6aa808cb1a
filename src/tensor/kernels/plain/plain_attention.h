/* plain_attention.h - one head of attention, o = softmax(q @ k^T * scale + mask) @ v, query by
 * query: a template (template.h) for plain.c, included after plain_softmax.h. q (l, d), k (s, d), v
 * (s, dv), out (l, dv). */

/* Returns row i of m, whose element e is row[e * m->col]. */
static T *fn(row)(const hdk_rows *m, int64_t i)
{
    return (T *)m->p + i * m->row;
}

/* Returns the dot a_i . b_j of n elements. */
static T fn(dot)(const hdk_rows *a, int64_t i, const hdk_rows *b, int64_t j, int64_t n)
{
    const T *x = fn(row)(a, i), *y = fn(row)(b, j);
    T sum = 0;
    for (int64_t e = 0; e < n; e++) {
        sum += x[e * a->col] * y[e * b->col]; /* heed-loop */
    }
    return sum;
}

/* Adds c * b_j to a_i, which have n elements. */
static void fn(add_row)(const hdk_rows *a, int64_t i, T c, const hdk_rows *b, int64_t j, int64_t n)
{
    T *x = fn(row)(a, i);
    const T *y = fn(row)(b, j);
    for (int64_t e = 0; e < n; e++) {
        x[e * a->col] += c * y[e * b->col]; /* heed-loop */
    }
}

/* Sets the rows [from, to) of a, of n elements each, to 0. */
static void fn(clear)(const hdk_rows *a, int64_t from, int64_t to, int64_t n)
{
    for (int64_t i = from; i < to; i++) {
        for (int64_t e = 0; e < n; e++) {
            fn(row)(a, i)[e * a->col] = 0;
        }
    }
}

/* Returns score (i, j): (q_i . k_j) * scale + mask, or -inf if query i does not see key j. */
static T fn(score)(const hdk_head *h, int64_t i, int64_t j)
{
    if (is_hidden(h, i, j)) {
        return -(T)INFINITY;
    }
    T x = fn(dot)(&h->q, i, &h->k, j, h->d);
    x = h->divisor != 0 ? x / (T)h->divisor : x * (T)h->scale;
    return h->mask.p && !h->mask_is_bool ? x + fn(row)(&h->mask, i)[j * h->mask.col] : x;
}

/* Returns the factor by which dropout multiplies weight (i, j). */
static T fn(drop_factor)(const hdk_head *h, int64_t i, int64_t j)
{
    return h->keep >= 1 ? 1 : is_kept(h, i, j) ? 1 / (T)h->keep : 0;
}

/* Sets w (s,) to the weights of query i after dropout, and writes its lse = log(sum(e^score)). */
static void fn(row_of_weights)(const hdk_head *h, int64_t i, T *w)
{
    bool dead = h->safe; /* stays true if all scores are -inf */
    for (int64_t j = 0; j < h->s; j++) {
        w[j] = fn(score)(h, i, j);
        dead = dead && w[j] == -(T)INFINITY;
    }
    T m = fn(largest)(w, 1, h->s), sum = fn(sum_of_exp)(w, 1, h->s, m);
    ((T *)h->lse)[i] = dead ? (T)INFINITY : m + LOG(sum);
    for (int64_t j = 0; j < h->s; j++) {
        w[j] = dead ? 0 : fn(exp)(w[j] - m) * (1 / sum) * fn(drop_factor)(h, i, j);
    }
}

static int64_t fn(attention_room)(const hdk_head *h)
{
    return h->s * (int64_t)sizeof(T);
}

static void fn(attention_weights)(const hdk_head *h, int64_t from, int64_t to, void *weights,
                                  void *scratch)
{
    (void)scratch;
    for (int64_t i = from; i < to; i++) {
        fn(row_of_weights)(h, i, (T *)weights + i * h->s);
    }
}

/* Computes out_i, the sum of w_j v_j over the keys, for the queries [from, to). */
static void fn(attention)(const hdk_head *h, int64_t from, int64_t to, void *scratch)
{
    T *w = scratch; /* (s,) */
    fn(clear)(&h->out, from, to, h->dv);
    for (int64_t i = from; i < to; i++) {
        fn(row_of_weights)(h, i, w);
        for (int64_t j = 0; j < h->s; j++) {
            fn(add_row)(&h->out, i, w[j], &h->v, j, h->dv);
        }
    }
}

/* Computes dk and dv of the keys [from, to), and their part of dq. w are the weights before
 * dropout, kept is the factor by which dropout multiplies a weight (0 or 1 / keep), and
 * dw = dout @ v^T is the gradient of w * kept:
 *     ds = w * (dw * kept - sum(dout * out)) * scale
 *     dq += ds @ k, dk += ds^T @ q, dv += (w * kept)^T @ dout */
static void fn(attention_backward)(const hdk_head *h, const hdk_head_grads *g, int64_t from,
                                   int64_t to, void *scratch)
{
    const T *lse = h->lse, scale = h->divisor != 0 ? 1 / (T)h->divisor : (T)h->scale;
    (void)scratch;
    fn(clear)(&g->dq, 0, h->l, h->d);
    fn(clear)(&g->dk, from, to, h->d);
    fn(clear)(&g->dv, from, to, h->dv);
    for (int64_t i = 0; i < h->l; i++) {
        T both = fn(dot)(&g->dout, i, &h->out, i, h->dv);
        for (int64_t j = from; j < to && j < i + h->sees; j++) {
            T w = fn(exp)(fn(score)(h, i, j) - lse[i]), kept = fn(drop_factor)(h, i, j);
            T dw = fn(dot)(&g->dout, i, &h->v, j, h->dv), ds = w * (dw * kept - both) * scale;
            /* In a row of NaN, a masked key's weight is NaN, but its score has no gradient. */
            ds = isnan(lse[i]) && is_hidden(h, i, j) ? 0 : ds;
            fn(add_row)(&g->dq, i, ds, &h->k, j, h->d);
            fn(add_row)(&g->dk, j, ds, &h->q, i, h->d);
            fn(add_row)(&g->dv, j, w * kept, &g->dout, i, h->dv);
        }
    }
}

/* Names: row_f32 row_f64 dot_f32 dot_f64 add_row_f32 add_row_f64 clear_f32 clear_f64 score_f32
 * score_f64 drop_factor_f32 drop_factor_f64 row_of_weights_f32 row_of_weights_f64
 * attention_room_f32 attention_room_f64 attention_weights_f32 attention_weights_f64 attention_f32
 * attention_f64 attention_backward_f32 attention_backward_f64 */
