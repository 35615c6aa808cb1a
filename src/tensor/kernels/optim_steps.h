/* optim_steps.h - the steps of optimizers: a template (template.h) for optim_kernels.c. Without a
 * TYPE it only defines the list of the steps' names, for optim.h.
 *
 * A kernel is one loop, inlined once for each frequent set of states, so that compilers vectorise
 * it. The arrays do not overlap. */
#ifndef TYPE

/* Adagrad uses RMSPROP, too. */
#define HDK_OPTIM_STEPS(STEP)                                                                      \
    STEP(SGD, sgd) STEP(ADAM, adam) STEP(RMSPROP, rmsprop) STEP(LION, lion)

#else

/* Returns dx = g + weight_decay * x, with -g in place of g if `maximize`. */
HDK_INLINE T fn(direction)(T g, T x, const hdk_numbers *o)
{
    const T sign = o->maximize ? -1 : 1, decay = (T)o->weight_decay;
    return decay != 0 ? FMA(decay, x, sign * g) : sign * g;
}

/* A step of SGD:
 *     v = momentum * v + (1 - dampening) * dx, or v = dx at the first step
 *     dx = v or, with Nesterov, dx = dx + momentum * v; p -= lr * dx
 * If v is NULL, the step is p -= lr * dx alone. */
HDK_INLINE void fn(sgd_run)(T *restrict p, const T *restrict g, T *restrict v, int64_t begin,
                            int64_t end, const hdk_numbers o)
{
    const T minus_lr = (T)-o.lr, momentum = (T)o.momentum, keep = (T)(1 - o.dampening);
    const T first = (T)o.first, nesterov = (T)o.nesterov;
    for (int64_t i = begin; i < end; i++) {
        T dx = fn(direction)(g[i], p[i], &o);
        if (v) {
            const T next = FMA(keep, dx, v[i] * momentum), now = first != 0 ? dx : next;
            v[i] = now;
            dx = nesterov != 0 ? FMA(momentum, now, dx) : now;
        }
        p[i] = FMA(minus_lr, dx, p[i]); /* heed-loop */
    }
}

static void fn(sgd)(const hdk_step *s, int64_t begin, int64_t end)
{
    if (s->state[0]) {
        fn(sgd_run)(s->p, s->g, s->state[0], begin, end, s->numbers);
    } else {
        fn(sgd_run)(s->p, s->g, NULL, begin, end, s->numbers);
    }
}

/* A step of Adam:
 *     m = lerp(m, dx, 1 - beta1); v = beta2 * v + w2 * dx^2
 *     p = decay * p - lr * m / (sqrt(v) / correction2 + eps)
 * Unless `top` is NULL, it holds the largest v so far, which replaces v in p's equation. If v is
 * NaN, top is NaN from then on. */
HDK_INLINE void fn(adam_run)(T *restrict p, const T *restrict g, T *restrict m, T *restrict v,
                             T *restrict top, int64_t begin, int64_t end, const hdk_numbers o)
{
    const T decay = (T)o.decay, w1 = (T)(1 - o.beta1), beta2 = (T)o.beta2, eps = (T)o.eps;
    const T w2 = (T)o.w2, minus_lr = (T)-o.lr, correction2 = (T)o.correction2;
    for (int64_t i = begin; i < end; i++) {
        const T dx = fn(direction)(g[i], p[i], &o), x = p[i] * decay;
        m[i] = LERP(m[i], dx, w1);
        v[i] = FMA(w2 * dx, dx, v[i] * beta2);
        T d = v[i];
        if (top) {
            top[i] = d > top[i] || d != d ? d : top[i];
            d = top[i];
        }
        p[i] = x + minus_lr * m[i] / (SQRT(d) / correction2 + eps); /* heed-loop */
    }
}

static void fn(adam)(const hdk_step *s, int64_t begin, int64_t end)
{
    if (s->state[2]) {
        fn(adam_run)(s->p, s->g, s->state[0], s->state[1], s->state[2], begin, end, s->numbers);
    } else {
        fn(adam_run)(s->p, s->g, s->state[0], s->state[1], NULL, begin, end, s->numbers);
    }
}

/* A step of RMSprop, where m is the running mean of dx, or 0 if m is NULL:
 *     s = alpha * s + w * dx^2; d = sqrt(s - m^2) + eps; p -= lr * dx / d
 * Unless v is NULL, v = momentum * v + dx / d, and p -= lr * v instead. If alpha and w are 1 and v
 * and m are NULL, this is Adagrad's step, with the same bits. */
HDK_INLINE void fn(rmsprop_run)(T *restrict p, const T *restrict g, T *restrict s, T *restrict v,
                                T *restrict m, int64_t begin, int64_t end, const hdk_numbers o)
{
    const T alpha = (T)o.beta2, w = (T)o.w2, eps = (T)o.eps;
    const T minus_lr = (T)-o.lr, momentum = (T)o.momentum;
    for (int64_t i = begin; i < end; i++) {
        T dx = fn(direction)(g[i], p[i], &o);
        s[i] = FMA(w * dx, dx, s[i] * alpha);
        T d = s[i];
        if (m) {
            m[i] = LERP(m[i], dx, w);
            d = FMA(-m[i], m[i], d);
        }
        d = SQRT(d) + eps;
        if (v) {
            v[i] = v[i] * momentum + dx / d;
            p[i] = FMA(minus_lr, v[i], p[i]);
        } else {
            p[i] += minus_lr * dx / d;
        }
    }
}

static void fn(rmsprop)(const hdk_step *k, int64_t begin, int64_t end)
{
    T *v = k->state[1], *m = k->state[2];
    if (v || m) {
        fn(rmsprop_run)(k->p, k->g, k->state[0], v, m, begin, end, k->numbers);
    } else {
        fn(rmsprop_run)(k->p, k->g, k->state[0], NULL, NULL, begin, end, k->numbers);
    }
}

/* A step of Lion: c = beta1 * m + w1 * dx; m = beta2 * m + w2 * dx; p = decay * p - lr * sign(c).
 * If c is NaN, p becomes NaN. */
static void fn(lion)(const hdk_step *s, int64_t begin, int64_t end)
{
    T *restrict p = s->p, *restrict m = s->state[0];
    const T *restrict g = s->g;
    const hdk_numbers o = s->numbers;
    const T sign = o.maximize ? -1 : 1, decay = (T)o.decay, minus_lr = (T)-o.lr;
    const T beta1 = (T)o.beta1, w1 = (T)(1 - o.beta1), beta2 = (T)o.beta2, w2 = (T)o.w2;
    for (int64_t i = begin; i < end; i++) {
        const T dx = sign * g[i], c = FMA(w1, dx, m[i] * beta1);
        m[i] = FMA(w2, dx, m[i] * beta2);
        p[i] = FMA(minus_lr, c > 0 ? 1 : c < 0 ? -1 : c, p[i] * decay);
    }
}

#endif

/* Names: direction_f32 direction_f64 sgd_run_f32 sgd_run_f64 sgd_f32 sgd_f64 adam_run_f32
 * adam_run_f64 adam_f32 adam_f64 rmsprop_run_f32 rmsprop_run_f64 rmsprop_f32 rmsprop_f64 lion_f32
 * lion_f64 */
