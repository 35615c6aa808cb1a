/* softmax_other.h - softmax and log_softmax along dims other than the last, SOFTMAX_TILE lanes at
 * once: a template (template.h), which every CPU level compiles for float32 and float64. Lanes that
 * are not side by side are copied row by row. */

/* Returns m, or -0 if m is 0, because subtracting -0 from either zero gives +0. */
static inline T fn(minus_zero)(T m)
{
    return m == 0 ? -(T)0 : m;
}

/* Copies k elements, which lie `sk` elements apart, to places `to_sk` elements apart. */
static HDK_NOINLINE void fn(lanes_copy)(T *to, int64_t to_sk, const T *from, int64_t sk, int64_t k)
{
    for (int64_t j = 0; j < k; j++) {
        to[j * to_sk] = from[j * sk];
    }
}

/* Prefetches the row that lies ROWS_AHEAD rows after x, if its lanes are side by side. Rows of a
 * large tensor lie far apart, so no CPU prefetches them by itself. */
static HDK_NOINLINE void fn(tile_ahead)(const T *x, int64_t sn, int64_t k, int64_t sk)
{
    /* Without this statement, compilers drop the calls, because the function computes nothing. */
    __asm__ volatile("");
    if (sk == 1) {
        hdk_prefetch_at(x, ROWS_AHEAD * sn * (int64_t)sizeof(T), (size_t)k * sizeof(T));
    }
}

/* Returns the address of k lanes of the row at x, side by side: x itself, or a copy in `room`. */
static inline const T *fn(tile_row)(const T *x, int64_t sn, int64_t k, int64_t sk, T *room)
{
    fn(tile_ahead)(x, sn, k, sk);
    if (sk == 1) {
        return x;
    }
    fn(lanes_copy)(room, 1, x, sk, k);
    return room;
}

/* Returns the place to compute the row of y in: y itself if its lanes are side by side, else
 * `room`. */
static inline T *fn(tile_to)(T *y, int64_t sn, int64_t k, int64_t sk, T *room)
{
    fn(tile_ahead)(y, sn, k, sk);
    return sk == 1 ? y : room;
}

/* Copies `row`, k lanes, to y, unless it was computed there. */
static inline void fn(tile_put)(T *y, int64_t k, int64_t sk, const T *row)
{
    if (row != y) {
        fn(lanes_copy)(y, sk, row, 1, k);
    }
}

/* Computes to = a op b for k lanes, by the loop of op. `to` may be a or b. */
static HDK_NOINLINE void fn(lanes_op)(int op, T *to, const T *a, const T *b, int64_t k)
{
    const int dtype = sizeof(T) == sizeof(double) ? HDK_F64 : HDK_F32;
    hdk_binary_loop(op, dtype)((char *[]){(char *)to, (char *)(uintptr_t)a, (char *)(uintptr_t)b},
                               (const int64_t[]){sizeof(T), sizeof(T), sizeof(T)}, k, NULL);
}

static HDK_NOINLINE void fn(tile_max)(const T *x, int64_t n, int64_t sn, int64_t k, int64_t sk,
                                      T *restrict m)
{
    T room[SOFTMAX_TILE];
    const T *row = fn(tile_row)(x, sn, k, sk, room);
    memcpy(m, row, (size_t)k * sizeof *m);
    for (int64_t i = 1; i < n; i++) {
        row = fn(tile_row)(x + i * sn, sn, k, sk, room);
        HDK_INDEPENDENT
        for (int64_t j = 0; j < k; j++) {
            m[j] = row[j] > m[j] ? row[j] : m[j];
        }
    }
}

/* Computes e = exp(x - m) for one row of k lanes, and adds e to s. */
static HDK_NOINLINE void fn(tile_exp)(const T *x, int64_t sn, int64_t k, int64_t sk,
                                      const T *restrict m, T *restrict e, T *restrict s)
{
    T room[SOFTMAX_TILE];
    fn(lanes_op)(HDK_SUB, e, fn(tile_row)(x, sn, k, sk, room), m, k);
    fn(hdk_unary_all)(HDK_EXP, e, k);
    for (int64_t j = 0; j < k; j++) {
        s[j] += e[j];
    }
}

/* Computes the softmax of k lanes of n elements. In x, the elements of a lane lie xn apart, and
 * neighbouring lanes lie xk apart; in y, these distances are yn and yk. */
static inline void fn(softmax_tile)(T *y, int64_t yn, int64_t yk, const T *x, int64_t xn,
                                    int64_t xk, int64_t n, int64_t k)
{
    T m[SOFTMAX_TILE], s[SOFTMAX_TILE] = {0}, room[SOFTMAX_TILE];
    fn(tile_max)(x, n, xn, k, xk, m);
    for (int64_t i = 0; i < n; i++) {
        T *e = fn(tile_to)(y + i * yn, yn, k, yk, room);
        fn(tile_exp)(x + i * xn, xn, k, xk, m, e, s);
        fn(tile_put)(y + i * yn, k, yk, e);
    }
    for (int64_t i = 0; i < n; i++) {
        T *e = yk == 1 ? y + i * yn : room;
        fn(lanes_op)(HDK_DIV, e, fn(tile_row)(y + i * yn, yn, k, yk, room), s, k);
        fn(tile_put)(y + i * yn, k, yk, e);
    }
}

static inline void fn(log_softmax_tile)(T *y, int64_t yn, int64_t yk, const T *x, int64_t xn,
                                        int64_t xk, int64_t n, int64_t k)
{
    T m[SOFTMAX_TILE], s[SOFTMAX_TILE] = {0}, room[SOFTMAX_TILE];
    fn(tile_max)(x, n, xn, k, xk, m);
    for (int64_t i = 0; i < n; i++) {
        fn(tile_exp)(x + i * xn, xn, k, xk, m, room, s);
    }
    for (int64_t j = 0; j < k; j++) {
        m[j] = fn(minus_zero)(m[j]);
        s[j] = LOG(s[j]);
    }
    for (int64_t i = 0; i < n; i++) {
        T *to = fn(tile_to)(y + i * yn, yn, k, yk, room);
        fn(lanes_op)(HDK_SUB, to, fn(tile_row)(x + i * xn, xn, k, xk, room), m, k);
        fn(lanes_op)(HDK_SUB, to, to, s, k);
        fn(tile_put)(y + i * yn, k, yk, to);
    }
}

/* Computes, for the k lanes from j0 on, dx = dy - exp(y) * sum(dy) if `logarithm`, for log_softmax,
 * and dx = (dy - sum(dy * y)) * y otherwise, for softmax. */
static inline void fn(tile_backward)(const hdk_lanes *l, void *const *data, int64_t j0, int64_t k,
                                     bool logarithm)
{
    T *dx = (T *)data[0] + j0 * l->sk[0], s[SOFTMAX_TILE] = {0}, e[SOFTMAX_TILE],
      rooms[2][SOFTMAX_TILE];
    const T *dy = (const T *)data[1] + j0 * l->sk[1], *y = (const T *)data[2] + j0 * l->sk[2];
    for (int64_t i = 0; i < l->n; i++) {
        const T *d = fn(tile_row)(dy + i * l->sn[1], l->sn[1], k, l->sk[1], rooms[0]);
        if (!logarithm) {
            fn(lanes_op)(HDK_MUL, e, d,
                         fn(tile_row)(y + i * l->sn[2], l->sn[2], k, l->sk[2], rooms[1]), k);
        }
        fn(lanes_op)(HDK_ADD, s, s, logarithm ? d : e, k);
    }
    for (int64_t i = 0; i < l->n; i++) {
        T *to = fn(tile_to)(dx + i * l->sn[0], l->sn[0], k, l->sk[0], e);
        const T *d = fn(tile_row)(dy + i * l->sn[1], l->sn[1], k, l->sk[1], rooms[0]);
        const T *v = fn(tile_row)(y + i * l->sn[2], l->sn[2], k, l->sk[2], rooms[1]);
        if (logarithm) {
            memcpy(e, v, (size_t)k * sizeof *e);
            fn(hdk_unary_all)(HDK_EXP, e, k);
            fn(lanes_op)(HDK_MUL, e, e, s, k);
            fn(lanes_op)(HDK_SUB, to, d, e, k);
        } else {
            fn(lanes_op)(HDK_SUB, e, d, s, k);
            fn(lanes_op)(HDK_MUL, to, e, v, k);
        }
        fn(tile_put)(dx + i * l->sn[0], k, l->sk[0], to);
    }
}

#define TILES(name, CALL)                                                                          \
    static void fn(name)(const hdk_lanes *l, void *const *data, double p)                          \
    {                                                                                              \
        (void)p;                                                                                   \
        for (int64_t j0 = 0, k; l->n > 0 && (k = part_of(l->k, j0, SOFTMAX_TILE)) > 0;             \
             j0 += SOFTMAX_TILE) {                                                                 \
            CALL;                                                                                  \
        }                                                                                          \
    }
#define TILE_OF(data, l)                                                                           \
    (T *)(data)[0] + j0 *(l)->sk[0], (l)->sn[0], (l)->sk[0],                                       \
        (const T *)(data)[1] + j0 *(l)->sk[1], (l)->sn[1], (l)->sk[1], (l)->n, k
TILES(softmax_other, fn(softmax_tile)(TILE_OF(data, l)))
TILES(log_softmax_other, fn(log_softmax_tile)(TILE_OF(data, l)))
TILES(softmax_other_backward, fn(tile_backward)(l, data, j0, k, false))
TILES(log_softmax_other_backward, fn(tile_backward)(l, data, j0, k, true))
#undef TILES
#undef TILE_OF

/* Names: minus_zero_f32 minus_zero_f64 lanes_copy_f32 lanes_copy_f64 tile_ahead_f32 tile_ahead_f64
 * tile_row_f32 tile_row_f64 tile_to_f32 tile_to_f64 tile_put_f32 tile_put_f64 lanes_op_f32
 * lanes_op_f64 tile_max_f32 tile_max_f64 tile_exp_f32 tile_exp_f64 softmax_tile_f32
 * softmax_tile_f64 log_softmax_tile_f32 log_softmax_tile_f64 tile_backward_f32 tile_backward_f64
 * softmax_other_f32 softmax_other_f64 log_softmax_other_f32 log_softmax_other_f64
 * softmax_other_backward_f32 softmax_other_backward_f64 log_softmax_other_backward_f32
 * log_softmax_other_backward_f64 */
