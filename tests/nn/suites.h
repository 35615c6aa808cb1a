/* suites.h - the suites of the nn layer, one for each topic; main.c runs them all. A test fails
 * unless it ends with the number of live bytes and tensors that it began with. */
#ifndef HEED_TESTS_NN_SUITES_H
#define HEED_TESTS_NN_SUITES_H

#include "support/leak_checked.h"
#include "heed/nn.h"
#include "support/golden_reader.h"

#define SUITES(X)                                                                                  \
    X(module)                                                                                      \
    X(forward)                                                                                     \
    X(state)                                                                                       \
    X(summary)                                                                                     \
    X(deep)                                                                                        \
    X(wide)                                                                                        \
    X(layers)                                                                                      \
    X(init)                                                                                        \
    X(attention)                                                                                   \
    X(packed)                                                                                      \
    X(claims)                                                                                      \
    X(threads)                                                                                     \
    X(blocks)                                                                                      \
    X(atomic)

SUITES(DECLARE_SUITE)

/* A user's module with room for everything. Its forward calls hook, or returns x without one. */
typedef struct probe {
    hd_module base;
    hd_tensor *a, *b;
    hd_module *left, *right, *third, *fourth;
    hd_tensor *(*hook)(hd_module *self, hd_tensor *x);
    int64_t odd; /* no pointer, and too small for one after it */
} probe;

extern const hd_module_type probe_type;
probe *probe_new(void); /* a module that is ready and has nothing registered */
static inline hd_module *base_of(probe *m)
{
    return &m->base;
}

/* (n,) float32 0, 1, ..., as a parameter that requires grad. */
hd_tensor *ramp_parameter(int64_t n);

/* The notebook's six tokens (6, 3), and two of them stacked (2, 6, 3). */
hd_tensor *notebook_inputs(void);
hd_tensor *notebook_batch(void);

/* t has the values of init/NAME, bit for bit; for a long one the hash of its bytes is compared. */
void ck_init(const golden_case *c, const char *name, const hd_tensor *t);

/* Have a and b the same dtype, shape and bits? A NaN equals a NaN of the same bits. */
bool same_bits(const hd_tensor *a, const hd_tensor *b);
/* The largest |a - b|, divided by the largest |b|; infinity if the shapes differ or NaN differs. */
double distance(const hd_tensor *a, const hd_tensor *b);

#endif
