/* random_fill.c - fills tensors of any strides with random numbers.
 *
 * Numbers are drawn in the order of the elements in memory, as in PyTorch. Only Bernoulli numbers
 * with HD_BERNOULLI_MCG31 are drawn in logical (row-major) order. If the elements have gaps between
 * them, uniform numbers are drawn into a small buffer and copied from there. */
#include "base/random/bernoulli.h"
#include "base/random/generator.h"
#include "base/random/rng_fill.h"
#include "tensor/copy.h"
#include "tensor/random_fill.h"
#include "tensor/strides.h"

#include "tensor/dims.h"

enum { BUFFER = 256 };

typedef struct distribution {
    hd_generator *g;
    double a, b; /* parameters of the distribution */
    bool single; /* true if the numbers are float32; false: float64 */
    /* draws one number; NULL if the numbers are uniform */
    double (*sample)(const struct distribution *d);
} distribution;

static double normal_sample(const distribution *d)
{
    return __builtin_fma(hd__rng_normal_sample(d->g), d->b, d->a);
}

static double exponential_sample(const distribution *d)
{
    return hd__rng_exponential_sample(d->g, d->a);
}

static void draw_uniform(const distribution *d, void *x, int64_t n)
{
    if (d->single) {
        hd__rng_uniform_f32(d->g, x, n, d->a, d->b);
    } else {
        hd__rng_uniform_f64(d->g, x, n, d->a, d->b);
    }
}

static void fill_run(const distribution *d, char *x, int64_t step, int64_t n)
{
    double buffer[BUFFER];
    const size_t item = d->single ? sizeof(float) : sizeof(double);
    if (!d->sample && step == (int64_t)item) {
        draw_uniform(d, x, n);
        return;
    }
    for (int64_t i = 0; i < n; i++, x += step) {
        if (!d->sample && i % BUFFER == 0) {
            draw_uniform(d, buffer, n - i < BUFFER ? n - i : BUFFER);
        }
        if (!d->sample) {
            memcpy(x, (char *)buffer + (size_t)(i % BUFFER) * item, item);
        } else if (d->single) {
            *(float *)x = (float)d->sample(d);
        } else {
            *(double *)x = d->sample(d);
        }
    }
}

/* Fills x with numbers from the distribution d, in the order of x's memory, on this thread. Returns
 * x. */
static hd_tensor *fill_in_order(hd_tensor *x, distribution d)
{
    hd__dims w;
    hd__dims_place p = {0};
    if (x->numel == 0) {
        return x;
    }
    d.single = x->dtype == HD_FLOAT32;
    hd__dims_of(&w, 1, &x);
    HD__GEN_LOCKED(d.g);
    do {
        fill_run(&d, (char *)hd__tensor_ptr(x) + p.offset[0], w.dim[0].stride[0], w.dim[0].size);
    } while (hd__dims_next(&w, 1, &p));
    return x;
}

hd_tensor *hd__tensor_uniform_fill(hd_tensor *x, double a, double b)
{
    return fill_in_order(x, (distribution){hd_generator_current(), a, b, .sample = NULL});
}

hd_tensor *hd__tensor_exponential_fill(hd_tensor *x, double lambda)
{
    return fill_in_order(
        x, (distribution){hd_generator_current(), lambda, .sample = exponential_sample});
}

/* The numbers for a contiguous x of at least 16 elements are drawn in blocks, with mean and std
 * cast to x's dtype. For any other x, mean and std stay double. */
hd_tensor *hd__tensor_normal_fill(hd_tensor *x, double mean, double std)
{
    hd_generator *g = hd_generator_current();
    if (x->numel < 16 || !hd__tensor_contig(x)) {
        return fill_in_order(x, (distribution){g, mean, std, .sample = normal_sample});
    }
    HD__GEN_LOCKED(g);
    if (x->dtype == HD_FLOAT32) {
        hd__rng_normal_f32(g, hd__tensor_ptr(x), x->numel, mean, std);
    } else {
        hd__rng_normal_f64(g, hd__tensor_ptr(x), x->numel, mean, std);
    }
    return x;
}

void hd__tensor_bernoulli_fill(hd_tensor *x, hd_tensor *bytes, double p)
{
    hd_generator *g = hd_generator_current();
    if (x->numel > 0) {
        hd__gen_lock(g);
        hd__rng_bernoulli(g, hd__tensor_ptr(bytes), x->numel, p);
        hd__gen_unlock(g);
        hd__tensor_set_contiguous(bytes, x->numel, x->ndim, x->sizes);
        bool logical = hd_generator_bernoulli(g) == HD_BERNOULLI_MCG31;
        hd__tensor_copy(x, logical ? bytes : hd__tensor_laid_out_as(bytes, x));
    }
    hd_release(bytes);
}
