/* reduce_extreme.h - maximum or minimum, and where it is: a template (template.h) for reduce.c,
 * which defines MOST (max or min), OP (>= or <=) and STRICTLY (> or <) for it. A NaN wins and
 * stays. Maxima of integers are vectorised without lanes. */

static T best(run)(const T *restrict x, int64_t n)
{
    T m = x[0];
    if (IS_FLOAT && n >= LANES) {
        T p[LANES];
        int64_t i = LANES;
        memcpy(p, x, sizeof p);
        for (; i + LANES <= n; i += LANES) {
            for (int l = 0; l < LANES; l++) {
                T v = x[i + l];
                p[l] = ((v OP p[l]) | IS_NAN(v)) ? v : p[l];
            }
        }
        m = p[0];
        for (int l = 1; l < LANES; l++) {
            m = ((p[l] OP m) | IS_NAN(p[l])) ? p[l] : m;
        }
        x += i;
        n -= i;
    }
    for (int64_t i = 0; i < n; i++) {
        m = ((x[i] OP m) | IS_NAN(x[i])) ? x[i] : m;
    }
    return m;
}

static inline void best(update)(const T *restrict x, int64_t sk, int64_t k, T *restrict m)
{
    for (int64_t j = 0; j < k; j++) {
        T v = x[j * sk];
        m[j] = ((v OP m[j]) | IS_NAN(v)) ? v : m[j];
    }
}

static void best(tile)(const T *x, int64_t sn, int64_t sk, int64_t n, int64_t k, T *y, int64_t ys)
{
    T m[TILE];
    for (int64_t j = 0; j < k; j++) {
        m[j] = x[j * sk];
    }
    for (int64_t i = 1; i < n; i++) {
        if (sk == 1) {
            best(update)(x + i * sn, 1, k, m);
        } else {
            best(update)(x + i * sn, sk, k, m);
        }
    }
    for (int64_t j = 0; j < k; j++) {
        y[j * ys] = m[j];
    }
}

static void best(value)(const hdk_lanes *l, void *const *data, double p)
{
    T *y = data[0];
    const T *x = data[1];
    int64_t ys = l->sk[0], sn = l->sn[1], sk = l->sk[1];
    (void)p;
    if (sn == 1) {
        for (int64_t j = 0; j < l->k; j++) {
            y[j * ys] = best(run)(x + j * sk, l->n);
        }
        return;
    }
    for (int64_t j = 0; j < l->k; j += TILE) {
        int64_t k = l->k - j < TILE ? l->k - j : TILE;
        best(tile)(x + j * sk, sn, sk, l->n, k, y + j * ys, ys);
    }
}

static int64_t best(find)(const T *x, int64_t n, T m)
{
    for (int64_t i = 0; i < n; i++) {
        if (x[i] == m || IS_NAN(x[i])) {
            return i;
        }
    }
    return 0;
}

static void best(tile_arg)(const T *x, int64_t sn, int64_t sk, int64_t n, int64_t k, int64_t *at)
{
    T m[TILE];
    for (int64_t j = 0; j < k; j++) {
        m[j] = x[j * sk];
        at[j] = 0;
    }
    for (int64_t i = 1; i < n; i++) {
        for (int64_t j = 0; j < k; j++) {
            T v = x[i * sn + j * sk];
            bool better = (v STRICTLY m[j]) | (IS_NAN(v) & !IS_NAN(m[j]));
            m[j] = better ? v : m[j];
            at[j] = better ? i : at[j];
        }
    }
}

static void best(arg)(const hdk_lanes *l, void *const *data, double p)
{
    int64_t *y = data[0], at[TILE];
    const T *x = data[1];
    T *value = data[2];
    int64_t sn = l->sn[1], sk = l->sk[1];
    (void)p;
    for (int64_t j0 = 0; j0 < l->k; j0 += TILE) {
        int64_t k = l->k - j0 < TILE ? l->k - j0 : TILE;
        if (sn != 1) {
            best(tile_arg)(x + j0 * sk, sn, sk, l->n, k, at);
        }
        for (int64_t j = 0; j < k; j++) {
            const T *lane = x + (j0 + j) * sk;
            int64_t i = sn == 1 ? best(find)(lane, l->n, best(run)(lane, l->n)) : at[j];
            y[(j0 + j) * l->sk[0]] = i;
            if (value) {
                value[(j0 + j) * l->sk[2]] = lane[i * sn];
            }
        }
    }
}
