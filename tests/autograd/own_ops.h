/* own_ops.h - a few ops for the tests of the engine, which is linked without heed's own ops. They
 * are written like the ops of src/autograd/ops, and return NULL for NULL. */
#ifndef HEED_TESTS_AUTOGRAD_OWN_OPS_H
#define HEED_TESTS_AUTOGRAD_OWN_OPS_H

#include "autograd/history.h"
#include "autograd/record.h"

/* a * b, unrecorded, with broadcasting; NULL for NULL. */
hd_tensor *product_of(hd_tensor *a, hd_tensor *b);
hd_tensor *scaled(hd_tensor *x, double s);

hd_tensor *own_mul(hd_tensor *a, hd_tensor *b); /* saves both */
hd_tensor *own_scale(hd_tensor *x, double s);   /* saves nothing; s is its params */
hd_tensor *own_square(hd_tensor *x);            /* y = x x; saves x and y: dx = dy 2 y / x */
bool own_both(hd_tensor *a, hd_tensor *b, hd_tensor *ys[2]); /* a b and 3 a: two outputs */
hd_tensor *own_faulty(hd_tensor *x, int fault); /* y = x with a backward that is wrong */
enum { GIVES_NULL, GIVES_FIVE, FAILS };         /* for own_faulty */

hd_tensor *own_part(hd_tensor *x, int64_t begin, int64_t end); /* a view of x (n,) */
hd_tensor *own_wide(hd_tensor *x, int64_t n);                  /* a view of x (1,) as (n,) */
bool own_halves(hd_tensor *x, hd_tensor *ys[2]);               /* two views by one op */

hd_tensor *own_mul_(hd_tensor *x, hd_tensor *b); /* x = x * b: saves b, and x as it was */
hd_tensor *own_scale_(hd_tensor *x, double s);

/* The names of the nodes whose backward ran since the last own_ran_clear, as "OwnMul OwnScale ". */
extern char own_ran[256];
void own_ran_clear(void);

#endif
