/* random_fill.c - random numbers into tensors of any strides.
 *
 * PyTorch fills in memory order (dims by falling stride), but for the MCG31 Bernoulli stream, which
 * goes in logical order. A run that is not dense is drawn into a small buffer and spread. */
#include "tensor/tensor_internal.h"

enum { BUFFER = 256 };

typedef struct draw {
    hd_generator *g;
    double a, b; /* the distribution's */
    void (*f32)(const struct draw *d, float *x, int64_t n);
    void (*f64)(const struct draw *d, double *x, int64_t n);
} draw;

static void uniform_f32(const draw *d, float *x, int64_t n)
{
    hd__uniform_f32(d->g, x, n, d->a, d->b);
}

static void uniform_f64(const draw *d, double *x, int64_t n)
{
    hd__uniform_f64(d->g, x, n, d->a, d->b);
}

static double normal_sample(const draw *d)
{
    return __builtin_fma(hd__normal_sample(d->g), d->b, d->a);
}

static void normal_f32(const draw *d, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)normal_sample(d);
    }
}

static void normal_f64(const draw *d, double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = normal_sample(d);
    }
}

static void exponential_f32(const draw *d, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)hd__exponential_sample(d->g, d->a);
    }
}

static void exponential_f64(const draw *d, double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = hd__exponential_sample(d->g, d->a);
    }
}

static void fill_run(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    const draw *d = params;
    union {
        float f32[BUFFER];
        double f64[BUFFER];
    } buffer;
    bool single = d->f32;
    if (strides[0] == (single ? 4 : 8)) {
        if (single) {
            d->f32(d, (float *)data[0], n);
        } else {
            d->f64(d, (double *)data[0], n);
        }
        return;
    }
    for (int64_t done = 0; done < n; done += BUFFER) {
        int64_t m = n - done < BUFFER ? n - done : BUFFER;
        char *to = data[0] + done * strides[0];
        if (single) {
            d->f32(d, buffer.f32, m);
        } else {
            d->f64(d, buffer.f64, m);
        }
        for (int64_t i = 0; i < m; i++) {
            if (single) {
                *(float *)(to + i * strides[0]) = buffer.f32[i];
            } else {
                *(double *)(to + i * strides[0]) = buffer.f64[i];
            }
        }
    }
}

/* Walks x's runs in memory order on this thread: the order is the stream's. */
static void in_memory_order(hd_tensor *x, const draw *d)
{
    hd__iter it;
    if (x->numel == 0) {
        return;
    }
    hd__iter_init(&it, 1, &x);
    int64_t run = it.sizes[0], outer = it.numel / run;
    for (int64_t o = 0; o < outer; o++) {
        char *data = it.data[0];
        int64_t rest = o;
        for (int k = 1; k < it.ndim; k++) {
            data += rest % it.sizes[k] * it.strides[0][k];
            rest /= it.sizes[k];
        }
        fill_run(&data, &it.strides[0][0], run, d);
    }
}

static bool fill(hd_tensor *x, draw d)
{
    if (x->dtype == HD_FLOAT32) {
        d.f64 = NULL;
    } else {
        d.f32 = NULL;
    }
    hd__gen_lock(d.g);
    in_memory_order(x, &d);
    hd__gen_unlock(d.g);
    return true;
}

bool hd__uniform_fill(hd_tensor *x, double a, double b)
{
    draw d = {hd_generator_current(), a, b, uniform_f32, uniform_f64};
    return fill(x, d);
}

bool hd__exponential_fill(hd_tensor *x, double lambda)
{
    draw d = {hd_generator_current(), lambda, 0, exponential_f32, exponential_f64};
    return fill(x, d);
}

/* mean and std are cast to the tensor's type for whole blocks, and stay double sample by sample */
bool hd__normal_fill(hd_tensor *x, double mean, double std)
{
    hd_generator *g = hd_generator_current();
    if (x->numel < 16 || !hd__contig(x)) {
        draw d = {g, mean, std, normal_f32, normal_f64};
        return fill(x, d);
    }
    hd__gen_lock(g);
    if (x->dtype == HD_FLOAT32) {
        hd__normal_f32(g, hd__ptr(x), x->numel, mean, std);
    } else {
        hd__normal_f64(g, hd__ptr(x), x->numel, mean, std);
    }
    hd__gen_unlock(g);
    return true;
}

/* Reorders x's dims by falling stride; a dim of stride 0 keeps its place. */
static void order_by_stride(hd_tensor *x)
{
    for (int i = 1; i < x->ndim; i++) {
        for (int j = i; j > 0; j--) {
            int64_t outer = x->strides[j - 1], inner = x->strides[j], size = x->sizes[j];
            if (inner <= outer || inner == 0 || outer == 0) {
                break;
            }
            x->strides[j - 1] = inner;
            x->strides[j] = outer;
            x->sizes[j] = x->sizes[j - 1];
            x->sizes[j - 1] = size;
        }
    }
}

static void spread(const hd_tensor *x, hd_tensor *bytes, bool memory_order)
{
    hd_tensor to = *x; /* the geometry, for the length of the copy */
    if (memory_order) {
        order_by_stride(&to);
    }
    hd_tensor from = {.dtype = HD_BOOL, .ndim = to.ndim, .storage = bytes->storage};
    memcpy(from.sizes, to.sizes, sizeof from.sizes);
    hd__default_strides(from.ndim, from.sizes, from.strides);
    hd__geometry_changed(&from);
    hd__geometry_changed(&to);
    hd__copy(&to, &from);
}

void hd__bernoulli_fill_by(hd_tensor *x, hd_tensor *bytes, double p)
{
    hd_generator *g = hd_generator_current();
    if (x->numel > 0) {
        hd__gen_lock(g);
        hd__bernoulli(g, hd__ptr(bytes), x->numel, p);
        hd__gen_unlock(g);
        spread(x, bytes, hd_generator_bernoulli(g) == HD_BERNOULLI_NATIVE);
    }
    hd_release(bytes);
}

bool hd__bernoulli_fill(hd_tensor *x, double p)
{
    hd_tensor *bytes = hd__empty("hd_bernoulli_", HD_BOOL, 1, &x->numel);
    if (bytes) {
        hd__bernoulli_fill_by(x, bytes, p);
    }
    return bytes;
}
