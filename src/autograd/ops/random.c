/* random.c - ops that draw random numbers: bernoulli, dropout, multinomial, and fills.
 *
 * The streams are PyTorch's (src/base/random/rng.c). This file decides the order of the draws.
 * bernoulli draws in row-major order. race (for multinomial) and dropout's native stream draw in
 * memory order, into a new tensor that is laid out as the result of an elementwise op. */
#include <float.h>
#include <inttypes.h>

#include "autograd/ops/assign.h"
#include "autograd/record.h"
#include "base/random/bernoulli.h"
#include "base/random/draws.h"
#include "base/random/generator.h"
#include "base/text/number.h"
#include "base/threads/pool.h"
#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/dropout.h"
#include "tensor/random_fill.h"
#include "tensor/tensor_args.h"

enum { DRAW_GRAIN = 8192 }; /* the fewest elements that a task draws */

/* ---------------------------------------------------------------- checks */

static bool probability(double p)
{
    return (p >= 0 && p <= 1) || hd_fail(HD_VALUE, "p %s: expected 0 to 1", HD__FLOAT(p));
}

/* Returns element i of p, which is contiguous. */
static double value_at(const hd_tensor *p, int64_t i)
{
    return hd__tensor_float_at(p, p->offset + i);
}

/* Returns the index of the first element outside [0, most] of the contiguous p; -1 if none is. */
static int64_t first_outside(const hd_tensor *p, double most)
{
    const float *f = hd__tensor_ptr(p);
    const double *d = hd__tensor_ptr(p);
    int64_t i = 0;
    if (p->dtype == HD_FLOAT32) {
        while (i < p->numel && f[i] >= 0 && (double)f[i] <= most) {
            i++;
        }
    } else {
        while (i < p->numel && d[i] >= 0 && d[i] <= most) {
            i++;
        }
    }
    return i < p->numel ? i : -1;
}

/* Returns p, or a contiguous copy of it. Returns NULL with an error if p is not of a float dtype or
 * an element lies outside [0, most]. `expected` says this range in words. */
static hd_tensor *probabilities(hd_tensor *p, double most, const char *expected)
{
    if (!hd__tensor_float_arg(p)) {
        return NULL;
    }
    hd_tensor *flat = hd__tensor_contiguous(p);
    int64_t at = flat ? first_outside(flat, most) : -1;
    return at < 0 ? flat
                  : hd_fail(HD_VALUE, "p is %s at %s: expected %s", HD__FLOAT(value_at(flat, at)),
                            HD__INDEX(flat, at), expected);
}

/* ---------------------------------------------------------------- bernoulli */

static const hd__op bernoulli_op = HD__OP("BernoulliBackward0", hd__op_zero_backward);

/* Returns a tensor that is 1 where a uniform random number is below p, and 0 elsewhere; NULL on
 * failure. */
static hd_tensor *draw_bernoulli(hd_tensor *p)
{
    const hd_dtype d = p->dtype;
    hd_tensor *y = hd__tensor_empty_as(d, p);
    HD__SCOPE_OR(NULL);
    hd_tensor *u = y ? hd__tensor_empty_as(d, p) : NULL;
    if (!u) {
        return NULL;
    }
    hd__tensor_uniform_fill(u, 0, 1);
    hd_tensor *below = hd__map_binary(hdk_binary_for(d)->of[HDK_LT][d], d, HD_BOOL, u, p);
    return HD__RECORD(&bernoulli_op, below ? hd__tensor_copy(y, below) : NULL, HD__IN(1, &p));
}

hd_tensor *hd_bernoulli(hd_tensor *p)
{
    HD__CALL("hd_bernoulli");
    if (!hd__tensor_arg("p", p) || !probabilities(p, 1, "0 to 1")) {
        return NULL;
    }
    HD__DRAWS_BEGIN(d);
    hd_tensor *y = draw_bernoulli(p);
    hd__draws_end(&d, y);
    return y;
}

/* ---------------------------------------------------------------- dropout */

/* Returns x * (mask / keep), unrecorded, where keep is 1 - p; NULL on failure. */
static hd_tensor *apply(hd_tensor *x, hd_tensor *mask, double keep)
{
    const double scale[2] = {1 / keep};
    const float scale_f32[2] = {1 / (float)keep};
    return hd__map(hdk_binary_loop(HDK_DROPOUT, x->dtype),
                   x->dtype == HD_FLOAT64 ? (const void *)scale : scale_f32, 3,
                   (hd_tensor *[]){hd__loop_out(x->dtype, 1, &x), x, mask});
}

/* y = x * (mask / keep):  dx += dy * (mask / keep) */
static void dropout_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = apply(dy[0], hd__node_saved_get(n, 0), *(const double *)hd__node_params(n));
}

static const hd__op dropout_op = HD__OP("MulBackward0", dropout_backward);

/* Returns a random mask in x's shape, 1 with probability keep and 0 otherwise; NULL on failure.
 * Draws from the native stream in x's memory order, and from the MCG31 stream in row-major
 * order. */
static hd_tensor *draw_mask(hd_tensor *x, double keep)
{
    hd_generator *g = hd_generator_current();
    bool native = hd_generator_bernoulli(g) == HD_BERNOULLI_NATIVE;
    hd_tensor *mask = native ? hd__loop_out(HD_BOOL, 1, &x) : hd__tensor_empty_as(HD_BOOL, x);
    if (mask) {
        HD__GEN_LOCKED(g);
        hd__rng_bernoulli(g, hd__tensor_ptr(mask), mask->numel, keep);
    }
    return mask;
}

typedef struct drop_task {
    hdk_drop d;
    int dtype;
    int64_t item;
    const char *x;
    char *y;
} drop_task;

static void drop_part(int64_t begin, int64_t end, void *arg)
{
    const drop_task *k = arg;
    hdk_dropout_for(k->dtype)->draw[k->dtype](&k->d, begin, end - begin, k->x + begin * k->item,
                                              k->y + begin * k->item);
}

/* Sets y = x * (kept / keep), where kept is drawn for each element: 1 with probability keep, else
 * 0. x is contiguous, and y may be x. */
static void drop_into(hd_tensor *y, hd_tensor *x, hdk_drop d)
{
    int64_t item = hd__tensor_bytes_of(x->dtype);
    d.stream = x != y && x->numel * item >= HDK_STREAM_BYTES;
    drop_task k = {d, x->dtype, item, hd__tensor_ptr(x), hd__tensor_ptr(y)};
    hd__parallel_for(x->numel, DRAW_GRAIN, drop_part, &k);
}

static hd_tensor *drop(hd_tensor *x, hdk_drop d)
{
    hd_tensor *y = hd__tensor_empty_as(x->dtype, x);
    if (y) {
        drop_into(y, x, d);
    }
    return y;
}

/* dx += dy * (kept / keep). No mask was saved: drop_into draws kept again from the same seed. */
static void drawn_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hdk_drop *d = hd__node_params(n);
    if (hd__tensor_held_once(dy[0])) {
        drop_into(dy[0], dy[0], *d);
        dx[0] = dy[0];
        return;
    }
    hd_tensor *g = hd__tensor_contiguous(dy[0]);
    dx[0] = g ? drop(g, *d) : NULL;
}

static const hd__op drawn_op = HD__OP("MulBackward0", drawn_backward);

static hd_tensor *drawn_dropout(hd_tensor *x, double keep)
{
    hd_generator *g = hd_generator_current();
    hd__gen_lock(g);
    hdk_drop d = {.x0 = hd__mcg31_seed(g), .limit = hd__mcg31_limit(keep), .keep = keep};
    hd__gen_unlock(g);
    return HD__RECORD(&drawn_op, drop(x, d), HD__IN(1, &x), HD__PARAMS(d));
}

static hd_tensor *masked_dropout(hd_tensor *x, double keep)
{
    hd_tensor *mask = draw_mask(x, keep), *y = mask ? apply(x, mask, keep) : NULL;
    return HD__RECORD(&dropout_op, y, HD__IN(1, &x), HD__SAVES(1, &mask), HD__PARAMS(keep));
}

hd_tensor *hd_dropout(hd_tensor *x, double p, bool training)
{
    HD__CALL("hd_dropout");
    if (!hd__tensor_arg("x", x) || !probability(p)) {
        return NULL;
    }
    if (!training || p == 0 || x->numel == 0) {
        return x;
    }
    if (p == 1) {
        hd_tensor *zero = hd_zeros_n((hd_dtype)x->dtype, 0, NULL);
        return zero ? hd_mul(x, zero) : NULL;
    }
    if (!hd__tensor_float_arg(x)) {
        return NULL;
    }
    bool drawn = hd__tensor_contig(x) &&
                 hd_generator_bernoulli(hd_generator_current()) == HD_BERNOULLI_MCG31;
    HD__DRAWS_BEGIN(d);
    hd_tensor *y = drawn ? drawn_dropout(x, 1 - p) : masked_dropout(x, 1 - p);
    hd__draws_end(&d, y);
    return y;
}

/* ---------------------------------------------------------------- multinomial */

/* Returns true if each row of p has a weight above 0, and false with HD_VALUE otherwise. p (rows,
 * m) is contiguous. */
static bool rows_positive(const hd_tensor *p, int64_t m)
{
    for (int64_t r = 0; r * m < p->numel; r++) {
        int64_t j = 0;
        while (j < m && !(value_at(p, r * m + j) > 0)) {
            j++;
        }
        if (j == m) {
            return hd_fail(HD_VALUE,
                           "the weights of row %" PRId64 " of %s are all 0: expected one above 0",
                           r, HD__SHAPE(p));
        }
    }
    return true;
}

typedef struct shares {  /* the running sums of one row of m weights */
    double *sums, whole; /* the m running sums; the sum of all weights, which equals sums[m - 1] */
    int64_t m;
    bool single; /* true: weights and sums are rounded to float32; false: to float64 */
} shares;

/* Sets s->sums and s->whole to the running sums of a row of s->m weights, rounded to their
 * dtype. */
static void cumulate(const void *weights, shares *s)
{
    const float *f = weights;
    const double *d = weights;
    float sum_f32 = 0; /* one variable for both dtypes would be converted at each step */
    double sum_f64 = 0;
    if (s->single) {
        for (int64_t j = 0; j < s->m; j++) {
            s->sums[j] = sum_f32 += f[j];
        }
        s->whole = sum_f32;
    } else {
        for (int64_t j = 0; j < s->m; j++) {
            s->sums[j] = sum_f64 += d[j];
        }
        s->whole = sum_f64;
    }
}

/* Returns share j: (w_0 + ... + w_j) / (the sum of all weights). The last share is exactly 1. */
static inline double share_of(const shares *s, int64_t j)
{
    return j == s->m - 1 ? 1
           : s->single   ? (double)((float)s->sums[j] / (float)s->whole)
                         : s->sums[j] / s->whole;
}

/* True if share j is below u. Divides only if the share is so close to u that rounding decides. */
static inline bool below(const shares *s, int64_t j, double u)
{
    const double near = 0x1p-20, sum = s->sums[j], limit = u * s->whole;
    bool clear = j < s->m - 1 && (sum < limit * (1 - near) || sum > limit * (1 + near));
    return clear ? sum < limit : share_of(s, j) < u;
}

/* Returns the index of the first share that is not below u. */
static int64_t search(const shares *s, double u)
{
    int64_t left = 0, right = s->m;
    while (left < right) {
        int64_t middle = left + (right - left) / 2;
        if (below(s, middle, u)) {
            left = middle + 1;
        } else {
            right = middle;
        }
    }
    return left;
}

/* Draws n indices for each row of the contiguous p (rows, m), and writes them to y (rows, n).
 * Returns false with an error if memory runs out. */
static bool draw_with_replacement(hd_tensor *y, const hd_tensor *p, int64_t m, int64_t n)
{
    shares s = {hd__arg_alloc_items(m, sizeof(double)), .m = m, .single = p->dtype == HD_FLOAT32};
    if (!s.sums) {
        return false;
    }
    hd_generator *g = hd_generator_current();
    int64_t *to = hd__tensor_ptr(y), bytes = hd__tensor_bytes_of(p->dtype);
    hd__gen_lock(g);
    for (int64_t r = 0; r * m < p->numel; r++) {
        cumulate((const char *)hd__tensor_ptr(p) + r * m * bytes, &s);
        for (int64_t i = 0; i < n; i++) {
            to[r * n + i] = search(&s, hd__rng_unit_f64(g));
        }
    }
    hd__gen_unlock(g);
    hd_free(s.sums);
    return true;
}

/* Returns the indices of the n largest p / q in each row, where each q is an exponential random
 * number. Index i comes first with probability p_i / sum(p). Returns NULL with an error on
 * failure. */
static hd_tensor *race(hd_tensor *p, int64_t n)
{
    HD_NO_GRAD;
    hd_tensor *indices = NULL, *q = hd__loop_out(p->dtype, 1, &p);
    if (!q) {
        return NULL;
    }
    hd__tensor_exponential_fill(q, 1);
    hd_tensor *ratio = hd_div(p, q);
    return !ratio                                  ? NULL
           : n == 1                                ? hd_argmax_dim(ratio, -1, true)
           : hd_topk(ratio, n, -1, true, &indices) ? indices
                                                   : NULL;
}

hd_tensor *hd_multinomial(hd_tensor *p, int64_t n, bool replacement)
{
    HD__CALL("hd_multinomial");
    if (!hd__tensor_arg("p", p)) {
        return NULL;
    }
    hd_tensor *flat = probabilities(p, DBL_MAX, "0 or more, and finite");
    if (!flat) {
        return NULL;
    }
    if (p->ndim != 1 && p->ndim != 2) {
        return hd_fail(HD_SHAPE, "p %s: expected (m,) or (rows, m)", HD__SHAPE(p));
    }
    int64_t m = p->sizes[p->ndim - 1];
    bool no_rows = p->ndim == 2 && p->sizes[0] == 0;
    if (n < 1 || (!replacement && n > m) || (m == 0 && !no_rows)) {
        return hd_fail(HD_VALUE,
                       "%" PRId64
                       " samples %s replacement from p %s: expected at least one sample and one "
                       "weight, and without replacement at most one sample for each weight",
                       n, replacement ? "with" : "without", HD__SHAPE(p));
    }
    if (!rows_positive(flat, m)) {
        return NULL;
    }
    if ((n == 1 || !replacement) && !no_rows) {
        HD__DRAWS_BEGIN(d);
        hd_tensor *indices = race(p, n);
        hd__draws_end(&d, indices);
        return indices;
    }
    int64_t sizes[] = {p->sizes[0], n};
    hd_tensor *y = hd__tensor_empty(HD_INT64, p->ndim, sizes + (p->ndim == 1));
    bool ok = y && draw_with_replacement(y, flat, m, n);
    return hd__record_told(NULL, ok ? y : NULL, 1, &p);
}

/* ---------------------------------------------------------------- in place */

static const hd__op uniform_op = HD__OP("UniformBackward0", hd__op_zero_backward);
static const hd__op normal_op = HD__OP("NormalBackward0", hd__op_zero_backward);
static const hd__op bernoulli_inplace_op = HD__OP("BernoulliBackward2", hd__op_zero_backward);
static const hd__op exponential_op = HD__OP("ExponentialBackward0", hd__op_zero_backward);

hd_tensor *hd_uniform_(hd_tensor *x, double a, double b)
{
    HD__CALL("hd_uniform_");
    if (!hd__tensor_float_x(x)) {
        return NULL;
    }
    double limit = x->dtype == HD_FLOAT32 ? (double)FLT_MAX : DBL_MAX;
    if (!(a <= b && a >= -limit && b <= limit && b - a <= limit)) {
        return hd_fail(HD_VALUE,
                       "a %s and b %s for x of %s: expected finite a <= b with a finite difference",
                       HD__FLOAT(a), HD__FLOAT(b), hd_dtype_name(x->dtype));
    }
    return hd__op_overwrites(&uniform_op, x)
               ? hd__record_told(&uniform_op, hd__tensor_uniform_fill(x, a, b), 1, &x)
               : NULL;
}

hd_tensor *hd_normal_(hd_tensor *x, double mean, double std)
{
    HD__CALL("hd_normal_");
    bool ok = hd__tensor_float_x(x) &&
              (std >= 0 || hd_fail(HD_VALUE, "std %s: expected 0 or more", HD__FLOAT(std)));
    return ok && hd__op_overwrites(&normal_op, x)
               ? hd__record_told(&normal_op, hd__tensor_normal_fill(x, mean, std), 1, &x)
               : NULL;
}

hd_tensor *hd_bernoulli_(hd_tensor *x, double p)
{
    HD__CALL("hd_bernoulli_");
    if (!hd__tensor_arg("x", x) || !probability(p)) {
        return NULL;
    }
    hd_tensor *bytes = hd__tensor_empty(HD_BOOL, 1, &x->numel);
    if (!bytes || !hd__op_overwrites(&bernoulli_inplace_op, x)) {
        return NULL;
    }
    hd__tensor_bernoulli_fill(x, bytes, p);
    return hd__record_told(&bernoulli_inplace_op, x, 1, &x);
}

hd_tensor *hd_exponential_(hd_tensor *x, double lambda)
{
    HD__CALL("hd_exponential_");
    bool ok =
        hd__tensor_float_x(x) &&
        (lambda > 0 || hd_fail(HD_VALUE, "lambda %s: expected more than 0", HD__FLOAT(lambda)));
    return ok && hd__op_overwrites(&exponential_op, x)
               ? hd__record_told(&exponential_op, hd__tensor_exponential_fill(x, lambda), 1, &x)
               : NULL;
}
