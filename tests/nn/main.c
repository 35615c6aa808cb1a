/* main.c - runs all suites of the nn layer, and holds the helpers that they share. */
#include <stdlib.h>

#include "suites.h"

/* ---------------------------------------------------------------- shared */

static hd_tensor *probe_forward(hd_module *self, hd_tensor *x)
{
    probe *m = (probe *)self;
    return m->hook ? m->hook(self, x) : x;
}

const hd_module_type probe_type = HD_MODULE_TYPE(probe, "Probe", probe_forward);

probe *probe_new(void)
{
    return (probe *)hd_module_ready(hd_module_new(&probe_type));
}

hd_tensor *ramp_parameter(int64_t n)
{
    return hd_parameter(hd_arange_as(HD_FLOAT32, 0, n, 1), true);
}

hd_tensor *notebook_inputs(void)
{
    static const float inputs[6][3] = {{0.43f, 0.15f, 0.89f}, {0.55f, 0.87f, 0.66f},
                                       {0.57f, 0.85f, 0.64f}, {0.22f, 0.58f, 0.33f},
                                       {0.77f, 0.25f, 0.10f}, {0.05f, 0.80f, 0.55f}};
    return hd_from_data(HD_FLOAT32, inputs, 6, 3);
}

hd_tensor *notebook_batch(void)
{
    hd_tensor *inputs = notebook_inputs();
    return hd_stack(0, inputs, inputs);
}

static bool same_shape(const hd_tensor *a, const hd_tensor *b)
{
    return hd_ndim(a) == hd_ndim(b) &&
           memcmp(hd_sizes(a), hd_sizes(b), (size_t)hd_ndim(a) * sizeof(int64_t)) == 0;
}

bool same_bits(const hd_tensor *a, const hd_tensor *b)
{
    if (!a || !b || a == HD_NONE || b == HD_NONE || hd_dtype_of(a) != hd_dtype_of(b) ||
        !same_shape(a, b)) {
        return false;
    }
    size_t bytes = (size_t)(hd_numel(a) * hd_dtype_size(hd_dtype_of(a)));
    char *left = malloc(bytes + 1), *right = malloc(bytes + 1);
    bool same = hd_copy_to(a, left, bytes) && hd_copy_to(b, right, bytes) &&
                memcmp(left, right, bytes) == 0;
    free(left);
    free(right);
    return same;
}

double distance(const hd_tensor *a, const hd_tensor *b)
{
    if (!a || !b || a == HD_NONE || b == HD_NONE || !same_shape(a, b)) {
        return INFINITY;
    }
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < hd_numel(b); i++) {
        double want = element_at(b, i), off = fabs(element_at(a, i) - want);
        largest = fmax(largest, fabs(want));
        worst = off <= worst ? worst : isnan(off) ? INFINITY : off;
    }
    return worst == 0 ? 0 : worst / largest;
}

/* ---------------------------------------------------------------- running */

int main(void)
{
    return RUN_SUITES(SUITES);
}
