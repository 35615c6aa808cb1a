/* softmax_parts_type.h - the parts of a softmax for one type: the template (template.h) that
 * softmax_parts.h includes. */

/* STEP is the number of elements of a step: a whole number of vectors at every level, and twice the
 * number of a sum's lanes. SIDE is the number of exponentials that a call of exp_block computes:
 * for float32 as many as stay in registers. exp_block for float64 is not inlined. */
#define STEP 16
#define SIDE (sizeof(T) == sizeof(float) ? 4 * VECTOR : 32)
#define LANES fn(lanes)

/* The partial sums of a row: 8 lanes (softmax_parts.h). */
typedef struct LANES {
    SVEC part[8 / SVECTOR];
} LANES;

/* ---------------------------------------------------------------- steps */

/* Sets the STEP elements of e to the last n < STEP elements of a row, which lie at x, and `pad`
 * after them. The caller passes a `pad` that changes no result. */
HDK_INLINE void fn(load_rest)(const T *x, int64_t n, T pad, T *e)
{
#if HDK_AT_AVX512
    if (sizeof(T) == sizeof(float)) {
        __m512 v = _mm512_set1_ps((float)pad);
        v = _mm512_mask_loadu_ps(v, (__mmask16)((1 << n) - 1), x);
        memcpy(e, &v, sizeof v);
        return;
    }
#endif
    for (int l = 0; l < STEP; l++) {
        e[l] = pad;
    }
    memcpy(e, x, (size_t)n * sizeof(T));
}

HDK_INLINE void fn(store_rest)(T *y, const T *e, int64_t n)
{
#if HDK_AT_AVX512
    if (sizeof(T) == sizeof(float)) {
        _mm512_mask_storeu_ps(y, (__mmask16)((1 << n) - 1), _mm512_loadu_ps(e));
        return;
    }
#endif
    for (int64_t l = 0; l < n; l++) {
        y[l] = e[l];
    }
}

HDK_INLINE void fn(add_step)(LANES *lane, const T *e)
{
    HDK_UNROLL
    for (int l = 0; l < STEP; l += SVECTOR) {
        lane->part[l % 8 / SVECTOR] += *(const SVEC *)(e + l);
    }
}

/* Returns the sum of the n elements of x, in order. */
HDK_INLINE T fn(sum_few)(const T *x, int64_t n)
{
    T sum = -(T)0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

/* Returns the sum of the lanes, folded in halves. If n < 8, returns the sum of the n elements at
 * `first` instead, added in order. */
HDK_INLINE T fn(fold_lanes)(const LANES *lane, const T *first, int64_t n)
{
    T p[8];
    if (n < 8) {
        return fn(sum_few)(first, n);
    }
    memcpy(p, lane, sizeof p);
    for (int h = 4; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            p[l] += p[l + h];
        }
    }
    return p[0];
}

/* ---------------------------------------------------------------- rows */

/* Sets the maxima in the four vectors m to x, or to 0 if x is -0. */
HDK_INLINE void fn(max_begin)(V *m, T x)
{
    for (int k = 0; k < 4; k++) {
        m[k] = fn(vall)(x + 0);
    }
}

/* Updates m, the maxima so far, with the next STEP elements of a row, which lie at x. */
HDK_INLINE void fn(max_step)(V *m, const T *x)
{
    HDK_UNROLL
    for (int k = 0; k < STEP / VECTOR; k++) {
        m[k % 4] = fn(vmax)(fn(vload)(x + k * VECTOR), m[k % 4]);
    }
}

/* Returns the maximum of the elements of m and of x[i] to x[n - 1]. m covers x[0] already. */
HDK_INLINE T fn(max_with_rest)(V *m, const T *x, int64_t i, int64_t n)
{
    T p[STEP];
    for (; i < n; i += STEP) {
        fn(load_rest)(x + i, n - i < STEP ? n - i : STEP, x[0], p);
        fn(max_step)(m, p);
    }
    for (int k = 1; k < 4; k++) {
        m[0] = fn(vmax)(m[0], m[k]);
    }
    return fn(vlargest)(m[0]);
}

static HDK_NOINLINE T fn(row_max)(const T *x, int64_t n)
{
    V m[4];
    T most = x[0] + 0;
    int64_t i = 0;
    for (; n < STEP && i < n; i++) {
        most = x[i] > most ? x[i] : most;
    }
    if (n < STEP) {
        return most;
    }
    fn(max_begin)(m, x[0]);
    for (; i + 4 * VECTOR <= n; i += 4 * VECTOR) {
        HDK_UNROLL
        for (int k = 0; k < 4; k++) {
            m[k] = fn(vmax)(fn(vload)(x + i + k * VECTOR), m[k]);
        }
    }
    return fn(max_with_rest)(m, x, i, n);
}

/* Sets e to exp(x - m - log_sum) for `some` elements, and adds them to the lanes. `some` is a
 * constant at compile time. Unless next is NULL, also updates the maxima `most` with `some`
 * elements of next. */
HDK_INLINE void fn(exp_pass_part)(const int some, const T *x, T m, T log_sum, T *e, LANES *lane,
                                  const T *next, V *most)
{
    enum { NEAR = 2048 }; /* next is prefetched twice: this many bytes ahead, and HDK_AHEAD */
    for (int k = 0; next && k < some; k += STEP) {
        hdk_prefetch_at(next + k, NEAR, STEP * sizeof(T));
        hdk_prefetch(next + k, STEP * sizeof(T));
        fn(max_step)(most, next + k);
    }
    fn(exp_block)(x, some, m, log_sum, e);
    for (int k = 0; k < some; k += STEP) {
        fn(add_step)(lane, e + k);
    }
}

/* Returns sum(exp(x - m - log_sum)). The exponentials go to e unless it is NULL; e may be x. Unless
 * next_max is NULL, sets *next_max to the maximum of the n elements at next, which are read from
 * memory while exp is computed. */
HDK_INLINE T fn(exp_pass)(const T *x, int64_t n, T m, T log_sum, T *e, const T *next, T *next_max)
{
    LANES lane = {{{0}}};
    V most[4];
    T step[STEP], side[SIDE];
    int64_t i = 0;
    if (next_max) {
        fn(max_begin)(most, next[0]);
    }
    for (; i + (int)SIDE <= n; i += SIDE) {
        fn(exp_pass_part)(SIDE, x + i, m, log_sum, e ? e + i : side, &lane,
                          next_max ? next + i : NULL, most);
    }
    for (; i + STEP <= n; i += STEP) {
        fn(exp_pass_part)(STEP, x + i, m, log_sum, e ? e + i : step, &lane,
                          next_max ? next + i : NULL, most);
    }
    if (next_max) {
        *next_max = fn(max_with_rest)(most, next, i, n);
    }
    if (i < n) {
        fn(load_rest)(x + i, n - i, (T)-INFINITY, step);
        fn(exp_pass_part)(STEP, step, m, log_sum, step, &lane, NULL, NULL);
        if (e) {
            fn(store_rest)(e + i, step, n - i);
        }
    }
    return fn(fold_lanes)(&lane, step, n);
}

/* Sets e to exp(x - m - log_sum) for n elements. */
static HDK_NOINLINE void fn(row_exp)(const T *x, int64_t n, T m, T log_sum, T *e)
{
    fn(exp_pass)(x, n, m, log_sum, e, NULL, NULL);
}

/* Returns the sum of exp(x - *m) over n elements. Unless e is NULL, sets e to these exponentials.
 * Sets *m to the maximum of the row `next`. */
static HDK_NOINLINE T fn(row_exp_sum)(const T *x, int64_t n, T *m, const T *next, T *e)
{
    return fn(exp_pass)(x, n, *m, 0, e, next, m);
}

/* Returns sum(x * y), or sum(x) if y is NULL. */
static HDK_NOINLINE T fn(row_products)(const T *x, const T *y, int64_t n)
{
    T step[STEP] = {0}, other[STEP];
    LANES lane;
    int64_t i = 0;
    if (n < 8 && !y) {
        return fn(sum_few)(x, n);
    }
    for (int k = 0; k < 8 / SVECTOR; k++) {
        lane.part[k] = fn(sall)(-(T)0); /* so sums begin with the first elements, as in PyTorch */
    }
    for (; i + STEP <= n; i += STEP) {
        for (int k = 0; k < STEP; k += VECTOR) {
            V v = fn(vload)(x + i + k);
            if (y) {
                v *= fn(vload)(y + i + k); /* heed-loop */
            }
            fn(vstore)(step + k, v);
        }
        fn(add_step)(&lane, step);
    }
    if (i < n) {
        fn(load_rest)(x + i, n - i, -(T)0, step);
        if (y) {
            fn(load_rest)(y + i, n - i, 0, other);
            for (int l = 0; l < n - i; l++) {
                step[l] *= other[l]; /* heed-loop */
            }
        }
        fn(add_step)(&lane, step);
    }
    return fn(fold_lanes)(&lane, step, n);
}

static inline T fn(row_sum)(const T *x, int64_t n)
{
    return fn(row_products)(x, NULL, n);
}

/* ---------------------------------------------------------------- streaming stores */

/* Returns where a result is computed: in y, or in `room` if `stream` is true. Then result_done
 * copies it from room to y, with stores that bypass the cache. */
static inline T *fn(result_at)(T *y, T *room, bool stream)
{
    return stream ? room : y;
}

static inline void fn(result_done)(T *y, const T *to, int64_t n)
{
    if (to != y) {
        hdk_stream_copy(y, to, (size_t)n * sizeof(T));
    }
}

/* Computes y = (x - s) * w, or y = (x - s) * a if w is NULL. y may be x. With `stream` y is written
 * past the cache. */
HDK_INLINE void fn(put_products)(T *y, const T *x, T s, const T *w, T a, int64_t n, bool stream)
{
    int64_t i = 0, head = stream ? hdk_line_begin(y, sizeof(T), n) : 0;
    int64_t whole = n - (n - head) % VECTOR;
    for (; i < head; i++) {
        y[i] = (x[i] - s) * (w ? w[i] : a);
    }
    for (; stream && i < whole; i += VECTOR) {
        fn(vstream)(y + i, (fn(vload)(x + i) - s) * (w ? fn(vload)(w + i) : fn(vall)(a)));
    }
    for (; i < whole; i += VECTOR) {
        fn(vstore)(y + i, (fn(vload)(x + i) - s) * (w ? fn(vload)(w + i) : fn(vall)(a)));
    }
    for (; i < n; i++) {
        y[i] = (x[i] - s) * (w ? w[i] : a);
    }
}

/* Computes y = e * a. e may be y. */
static inline void fn(put_scaled)(T *y, const T *e, int64_t n, T a, bool stream)
{
    fn(put_products)(y, e, 0, NULL, a, n, stream);
}

/* Computes y = x - m - log_sum. */
static inline void fn(put_less)(T *restrict y, const T *restrict x, int64_t n, T m, T log_sum)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] - m - log_sum;
    }
}

#undef STEP
#undef SIDE
#undef LANES

/* Names: load_rest_f32 load_rest_f64 store_rest_f32 store_rest_f64 add_step_f32 add_step_f64
 * sum_few_f32 sum_few_f64 fold_lanes_f32 fold_lanes_f64 max_begin_f32 max_begin_f64 max_step_f32
 * max_step_f64 max_with_rest_f32 max_with_rest_f64 row_max_f32 row_max_f64 exp_pass_part_f32
 * exp_pass_part_f64 exp_pass_f32 exp_pass_f64 row_exp_f32 row_exp_f64 row_exp_sum_f32
 * row_exp_sum_f64 row_products_f32 row_products_f64 row_sum_f32 row_sum_f64 result_at_f32
 * result_at_f64 result_done_f32 result_done_f64 put_products_f32 put_products_f64 put_scaled_f32
 * put_scaled_f64 put_less_f32 put_less_f64 */
