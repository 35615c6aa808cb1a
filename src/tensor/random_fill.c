/* random_fill.c - fills tensors of any strides with random numbers.
 *
 * PyTorch fills in the order of memory (dims by falling stride); only the MCG31 Bernoulli
 * stream goes in logical order. A run that is not dense is drawn into a small buffer and copied
 * from there. */
#include "tensor/random_fill.h"

#include "tensor/elementwise.h"
#include "tensor/kernels/copy.h"

enum { BUFFER = 256 };

typedef struct draw {
    hd_generator *g;
    double a, b; /* parameters of the distribution */
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

/* Fills x in the order of its memory, on this thread. */
static void fill_in_order(hd_tensor *x, draw d)
{
    hd__dims w;
    hd__place p = {0};
    if (x->dtype == HD_FLOAT32) {
        d.f64 = NULL;
    } else {
        d.f32 = NULL;
    }
    if (x->numel == 0) {
        return;
    }
    hd__dims_of(&w, 1, &x);
    hd__gen_lock(d.g);
    do {
        char *data = (char *)hd__ptr(x) + p.offset[0];
        fill_run(&data, w.dim[0].stride, w.dim[0].size, &d);
    } while (hd__dims_next(&w, 1, &p));
    hd__gen_unlock(d.g);
}

void hd__uniform_fill(hd_tensor *x, double a, double b)
{
    fill_in_order(x, (draw){hd_generator_current(), a, b, uniform_f32, uniform_f64});
}

void hd__exponential_fill(hd_tensor *x, double lambda)
{
    fill_in_order(x, (draw){hd_generator_current(), lambda, 0, exponential_f32, exponential_f64});
}

/* For whole blocks mean and std are cast to the tensor's dtype; sample by sample they stay
 * double. */
void hd__normal_fill(hd_tensor *x, double mean, double std)
{
    hd_generator *g = hd_generator_current();
    if (x->numel < 16 || !hd__contig(x)) {
        fill_in_order(x, (draw){g, mean, std, normal_f32, normal_f64});
        return;
    }
    hd__gen_lock(g);
    if (x->dtype == HD_FLOAT32) {
        hd__normal_f32(g, hd__ptr(x), x->numel, mean, std);
    } else {
        hd__normal_f64(g, hd__ptr(x), x->numel, mean, std);
    }
    hd__gen_unlock(g);
}

/* x = bytes, which are in the order of x's memory, or in logical order. */
static void spread(hd_tensor *x, hd_tensor *bytes, bool memory_order)
{
    char *data[] = {hd__ptr(x), hd__ptr(bytes)};
    hd__dims w;
    hd__dims_make(&w, x->ndim, x->sizes, 2, (hd_tensor *[]){x, HD_NONE});
    if (memory_order) {
        hd__dims_sort(&w);
    }
    hd__dims_dense(&w, 1, 1);
    hd__dims_sort(&w);
    hd__dims_merge(&w);
    hd__loop(hdk_copy_for(HD_BOOL)->convert[x->dtype][HD_BOOL], NULL, &w, data);
}

void hd__bernoulli_fill(hd_tensor *x, hd_tensor *bytes, double p)
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
