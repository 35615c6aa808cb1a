/* unary_body.h - sine, cosine and softplus for one element type: the template (template.h) that
 * unary_kernels.c includes. */

/* Computes y = sin(x + quarters * pi / 2) for n elements with |x| < F64_SIN_MOST. n must be a
 * multiple of HDK_WHOLE. */
static HDK_NOINLINE void fn(sines)(T *y, const T *x, int64_t n, int quarters)
{
    HDK_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        y[i] = SIN_OF(x[i], quarters);
    }
}

/* Computes y = sin(x + quarters * pi / 2). Calls C's function `libm` for x with |x| >=
 * F64_SIN_MOST, and for NaN. */
static HDK_NOINLINE void fn(circle)(T *y, const T *x, int64_t n, int quarters, T (*libm)(T))
{
    for (int64_t m; n > 0; n -= m, x += m, y += m) {
        int large = 0;
        m = n < UNARY_PART ? n : UNARY_PART;
        for (int64_t i = 0; i < m; i++) {
            large |= !(ABSOLUTE(x[i]) < F64_SIN_MOST);
        }
        if (!large && m % HDK_WHOLE == 0) {
            fn(sines)(y, x, m, quarters);
            continue;
        }
        T xs[UNARY_PART], ys[UNARY_PART];
        const int64_t whole = (m + HDK_WHOLE - 1) & -HDK_WHOLE;
        memcpy(xs, x, (size_t)m * sizeof(T));
        memset(xs + m, 0, (size_t)(whole - m) * sizeof(T));
        fn(sines)(ys, xs, whole, quarters);
        for (int64_t i = 0; large && i < m; i++) {
            if (!(ABSOLUTE(xs[i]) < F64_SIN_MOST)) {
                ys[i] = libm(xs[i]);
            }
        }
        memcpy(y, ys, (size_t)m * sizeof(T));
    }
}

static void fn(sin)(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    HDK_DENSE(fn(sin), params, 2, sizeof(T), sizeof(T))
    fn(circle)((T *)data[0], (const T *)data[1], n, 0, _Generic((T)0, float : sinf, default : sin));
}

static void fn(cos)(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    HDK_DENSE(fn(cos), params, 2, sizeof(T), sizeof(T))
    fn(circle)((T *)data[0], (const T *)data[1], n, 1, _Generic((T)0, float : cosf, default : cos));
}

/* Computes y = log(1 + e^(beta * x)) / beta, or y = x where beta * x > threshold. Works on
 * UNARY_PART elements at a time, so that each step runs over several elements side by side. */
static void fn(softplus)(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    const T beta = ((const T *)params)[0], threshold = ((const T *)params)[1];
    T e[UNARY_PART];
    HDK_DENSE(fn(softplus), params, 2, sizeof(T), sizeof(T))
    for (int64_t at = 0, m; at < n; at += m) {
        T *y = (T *)data[0] + at;
        const T *x = (const T *)data[1] + at;
        m = n - at < UNARY_PART ? n - at : UNARY_PART;
        for (int64_t i = 0; i < m; i++) {
            e[i] = beta * x[i];
        }
        fn(hdk_unary_all)(HDK_EXP, e, m);
        fn(hdk_unary_all)(HDK_LOG1P, e, m);
        HDK_INDEPENDENT
        for (int64_t i = 0; i < m; i++) {
            const T v = x[i], curved = e[i] / beta;
            y[i] = beta * v > threshold ? v : curved;
        }
    }
}

/* Names: sines_f32 sines_f64 circle_f32 circle_f64 sin_f32 sin_f64 cos_f32 cos_f64 softplus_f32
 * softplus_f64 */
