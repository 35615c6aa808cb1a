/* optim_body.h - optimizers' steps and clipping: a template (template.h) for optim.c.
 *
 * SGD's and Adam's kernels are one loop, inlined once for dense operands and the states in use,
 * which vectorises, and once for any strides. Nothing overlaps. */

/* dx += decay p; v = momentum v + keep dx; dx = v, or dx + momentum v; p -= lr dx */
HDK_INLINE void fn(sgd_run)(T *restrict p, int64_t ps, const T *restrict g, int64_t gs,
                            T *restrict v, int64_t n, const hdk_sgd *o)
{
    const T minus_lr = (T)-o->lr, momentum = (T)o->momentum, decay = (T)o->weight_decay;
    const T keep = (T)(1 - o->dampening), sign = o->maximize ? -1 : 1;
    const bool first = o->first, nesterov = o->nesterov;
    for (int64_t i = 0; i < n; i++) {
        T dx = sign * g[i * gs];
        dx = decay != 0 ? FMA(decay, p[i * ps], dx) : dx;
        if (v) {
            v[i] = first ? dx : FMA(keep, dx, v[i] * momentum);
            dx = nesterov ? FMA(momentum, v[i], dx) : v[i];
        }
        p[i * ps] = FMA(minus_lr, dx, p[i * ps]);
    }
}

static void fn(sgd)(const hdk_step *s, int64_t n, const hdk_sgd *o)
{
    if (s->p_stride != 1 || s->g_stride != 1) {
        fn(sgd_run)(s->p, s->p_stride, s->g, s->g_stride, s->state[0], n, o);
    } else if (s->state[0]) {
        fn(sgd_run)(s->p, 1, s->g, 1, s->state[0], n, o);
    } else {
        fn(sgd_run)(s->p, 1, s->g, 1, NULL, n, o);
    }
}

/* m = lerp(m, dx, w1); v = beta2 v + w2 dx^2; p = decay p - step m / (sqrt(v) / correction2 + eps).
 * The largest v so far takes the place of v where `top` holds it; a NaN stays. */
HDK_INLINE void fn(adam_run)(T *restrict p, int64_t ps, const T *restrict g, int64_t gs,
                             T *restrict m, T *restrict v, T *restrict top, int64_t n,
                             const hdk_adam *o)
{
    const T decay = (T)o->decay, w1 = (T)o->one_minus_beta1, beta2 = (T)o->beta2;
    const T w2 = (T)o->one_minus_beta2, eps = (T)o->eps, sign = o->maximize ? -1 : 1;
    const T step = (T)-o->step_size, correction2 = (T)o->correction2;
    const T added = (T)o->weight_decay;
    const bool near = w1 < (T)0.5;
    for (int64_t i = 0; i < n; i++) {
        T dx = sign * g[i * gs], x = p[i * ps] * decay;
        dx = added != 0 ? FMA(added, p[i * ps], dx) : dx;
        m[i] = LERP(m[i], dx, w1, near);
        v[i] = FMA(w2 * dx, dx, v[i] * beta2);
        T d = v[i];
        if (top) {
            top[i] = d > top[i] || d != d ? d : top[i];
            d = top[i];
        }
        p[i * ps] = x + step * m[i] / (SQRT(d) / correction2 + eps);
    }
}

static void fn(adam)(const hdk_step *s, int64_t n, const hdk_adam *o)
{
    T *top = s->state[2];
    if (s->p_stride != 1 || s->g_stride != 1) {
        fn(adam_run)(s->p, s->p_stride, s->g, s->g_stride, s->state[0], s->state[1], top, n, o);
    } else if (top) {
        fn(adam_run)(s->p, 1, s->g, 1, s->state[0], s->state[1], top, n, o);
    } else {
        fn(adam_run)(s->p, 1, s->g, 1, s->state[0], s->state[1], NULL, n, o);
    }
}

/* s = alpha s + w dx^2; p -= lr dx / (sqrt(s - m^2) + eps), by way of the momentum v */
static void fn(rmsprop)(const hdk_step *k, int64_t n, const hdk_rmsprop *o)
{
    const T alpha = (T)o->alpha, w = (T)o->one_minus_alpha, eps = (T)o->eps;
    const T minus_lr = (T)-o->lr, momentum = (T)o->momentum, decay = (T)o->weight_decay;
    const T sign = o->maximize ? -1 : 1;
    const bool near = w < (T)0.5;
    const int64_t ps = k->p_stride, gs = k->g_stride;
    const T *g = k->g;
    T *p = k->p, *s = k->state[0], *v = k->state[1], *m = k->state[2];
    for (int64_t i = 0; i < n; i++) {
        T dx = sign * g[i * gs];
        dx = decay != 0 ? FMA(decay, p[i * ps], dx) : dx;
        s[i] = FMA(w * dx, dx, s[i] * alpha);
        T d = s[i];
        if (m) {
            m[i] = LERP(m[i], dx, w, near);
            d = FMA(-m[i], m[i], d);
        }
        d = SQRT(d) + eps;
        if (v) {
            v[i] = v[i] * momentum + dx / d;
            p[i * ps] = FMA(minus_lr, v[i], p[i * ps]);
        } else {
            p[i * ps] += minus_lr * dx / d;
        }
    }
}

/* s += dx^2; p -= lr dx / (sqrt(s) + eps) */
static void fn(adagrad)(const hdk_step *k, int64_t n, const hdk_adagrad *o)
{
    const T minus_lr = (T)-o->lr, eps = (T)o->eps, decay = (T)o->weight_decay;
    const T sign = o->maximize ? -1 : 1;
    const int64_t ps = k->p_stride, gs = k->g_stride;
    const T *g = k->g;
    T *p = k->p, *s = k->state[0];
    for (int64_t i = 0; i < n; i++) {
        T dx = sign * g[i * gs];
        dx = decay != 0 ? FMA(decay, p[i * ps], dx) : dx;
        s[i] = FMA(dx, dx, s[i]);
        p[i * ps] += minus_lr * dx / (SQRT(s[i]) + eps);
    }
}

/* ---------------------------------------------------------------- clipping */

/* The sums are in double, the squares in eight parts that the compiler may keep side by side. */
static double fn(norm_squares)(const T *x, int64_t stride, int64_t n)
{
    double part[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int j = 0; j < 8; j++) {
            double v = x[(i + j) * stride];
            part[j] += v * v;
        }
    }
    for (; i < n; i++) {
        part[0] += (double)x[i * stride] * x[i * stride];
    }
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
}

static void fn(norm)(const void *data, int64_t stride, int64_t n, double p, double *sum)
{
    const T *x = data;
    if (p == 2) {
        *sum += stride == 1 ? fn(norm_squares)(x, 1, n) : fn(norm_squares)(x, stride, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double v = fabs((double)x[i * stride]);
        if (p == INFINITY) {
            *sum = v > *sum || v != v ? v : *sum;
        } else if (p == -INFINITY) {
            *sum = v < *sum || v != v ? v : *sum;
        } else {
            *sum += p == 0 ? v != 0 : pow(v, p);
        }
    }
}

static void fn(scale)(void *data, int64_t stride, int64_t n, double by)
{
    T *x = data;
    const T a = (T)by;
    for (int64_t i = 0; i < n; i++) {
        const T v = x[i * stride];
        x[i * stride] = v * a;
    }
}

static void fn(clamp_both)(void *data, int64_t stride, int64_t n, double by)
{
    T *x = data;
    const T a = (T)by;
    for (int64_t i = 0; i < n; i++) {
        const T v = x[i * stride];
        x[i * stride] = v < -a ? -a : v > a ? a : v;
    }
}
