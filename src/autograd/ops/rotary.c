/* rotary.c - rotary positions in the half layout (Su et al. 2021, "RoFormer: Enhanced Transformer
 * with Rotary Position Embedding"): the tables of cosines and sines, and the op that rotates x.
 *
 * The tables equal those of transformers bit for bit: they use the same float32 operations in the
 * same order. A large angle has few bits after the point, so another order would change the
 * tables. */
#include <inttypes.h>
#include <math.h>

#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/kernels/rotary.h"
#include "tensor/lanes.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- the tables */

hd_rotary_options hd_rotary_defaults(void)
{
    return (hd_rotary_options){.size = sizeof(hd_rotary_options),
                               .theta = 10000,
                               .factor = 1,
                               .low_freq_factor = 1,
                               .high_freq_factor = 4};
}

static bool rotary_options_ok(const hd_rotary_options *o)
{
    if (!HD__SIZE_OK(o, "hd_rotary_defaults()")) {
        return false;
    }
    int64_t known = o->original_max_position_embeddings;
    if (!(o->theta > 0 && isfinite(o->theta)) || !(o->factor > 0 && isfinite(o->factor))) {
        return hd_fail(HD_VALUE, "theta %g, factor %g: expected finite numbers above 0", o->theta,
                       o->factor);
    }
    return (known > 0 || (known == 0 && o->factor == 1) ||
            hd_fail(HD_VALUE,
                    "original_max_position_embeddings %" PRId64
                    ", factor %g: expected a length of 0 or more, and above 0 unless factor is 1",
                    known, o->factor)) &&
           ((o->low_freq_factor > 0 && o->high_freq_factor > o->low_freq_factor) ||
            hd_fail(HD_VALUE, "low_freq_factor %g, high_freq_factor %g: expected 0 < low < high",
                    o->low_freq_factor, o->high_freq_factor));
}

/* Returns 1 / theta^(2 * i / head_dim). If o->original_max_position_embeddings is not 0,
 * frequencies of long waves are divided by o->factor, frequencies of short waves stay, and those
 * between are interpolated. */
static float inverse_frequency(const hd_rotary_options *o, int64_t i, int64_t head_dim)
{
    const double known = (double)o->original_max_position_embeddings, turn = 6.283185307179586;
    const float low = (float)o->low_freq_factor, factor = (float)o->factor;
    float f = 1 / (float)pow(o->theta, (double)((float)(2 * i) / (float)head_dim));
    float wave = 1 / f * (float)turn;
    if (known == 0 || wave < (float)(known / o->high_freq_factor)) {
        return f;
    }
    if (wave > (float)(known / o->low_freq_factor)) {
        return f / factor;
    }
    float smooth = (1 / wave * (float)known - low) / (float)(o->high_freq_factor - low);
    return (1 - smooth) * f / factor + smooth * f;
}

bool hd_rotary_tables(int64_t head_dim, int64_t length, const hd_rotary_options *o, hd_tensor **cos,
                      hd_tensor **sin)
{
    HD__CALL("hd_rotary_tables");
    hd_rotary_options defaults = hd_rotary_defaults();
    o = o ? o : &defaults;
    if (!hd__arg_given("cos", cos) || !hd__arg_given("sin", sin)) {
        return false;
    }
    *cos = *sin = NULL;
    if (head_dim < 0 || head_dim % 2 != 0 || length < 0) {
        return hd_fail(HD_VALUE,
                       "head_dim %" PRId64 ", length %" PRId64
                       ": expected an even head_dim, and a length of 0 or more",
                       head_dim, length);
    }
    HD__SCOPE_OR(false);
    hd_tensor *f = rotary_options_ok(o) ? hd_empty(HD_FLOAT32, head_dim / 2) : NULL;
    for (int64_t i = 0; f && i < f->numel; i++) {
        ((float *)hd__tensor_ptr(f))[i] = inverse_frequency(o, i, head_dim);
    }
    hd_tensor *at = f ? hd_view(hd_arange_as(HD_FLOAT32, 0, length, 1), length, 1) : NULL;
    hd_tensor *angles = hd_mul(at, f); /* (length, head_dim / 2) */
    angles = hd_cat(-1, angles, angles);
    hd_tensor *c = hd_cos(angles), *s = hd_sin(angles);
    if (!c || !s) {
        return false;
    }
    *cos = hd_scope_return(c);
    *sin = hd_scope_return(s);
    return true;
}

/* ---------------------------------------------------------------- the turn */

/* Returns x * cos + (-x2, x1) * sin, unrecorded, where x1 and x2 are the halves of x along its last
 * dim. The result is laid out as x if x is dense. NULL on failure. */
static hd_tensor *turned(hd_tensor *x, hd_tensor *cos, hd_tensor *sin)
{
    HD__SCOPE_OR(NULL);
    hd_tensor *y = hd__tensor_empty_as(x->dtype, x);
    if (!y || y->numel == 0) {
        return hd_scope_return(y);
    }
    x = hd__lanes_side_by_side(x, x->ndim - 1, true);
    cos = hd__tensor_contiguous(cos);
    sin = hd__tensor_contiguous(sin);
    if (!x || !cos || !sin) {
        return NULL;
    }
    y = hd__tensor_dense(x) ? hd__tensor_laid_out_as(y, x) : y;
    hd__lanes w;
    hd__lanes_init(&w, x->ndim - 1, 4, (hd_tensor *[]){y, x, cos, sin});
    hd__lanes_run(&w, hdk_rotary()->turn[x->dtype], 0);
    return hd_scope_return(y);
}

/* Returns (-x2, x1), where x1 and x2 are the halves of x along its last dim; NULL on failure. */
static hd_tensor *rotate_half(hd_tensor *x)
{
    int64_t half = x->sizes[x->ndim - 1] / 2;
    return hd_cat(-1, hd_neg(hd_narrow(x, -1, half, half)), hd_narrow(x, -1, 0, half));
}

/* The halves along the last dim are x = (x1, x2), cos = (c1, c2) and sin = (s1, s2).
 * y1 = x1 * c1 - x2 * s1,  y2 = x2 * c2 + x1 * s2:
 * dx1 += dy1 * c1 + dy2 * s2,  dx2 += dy2 * c2 - dy1 * s1. So dx is dy, rotated with the sines
 * (-s2, -s1).  dcos += dy * x,  dsin += dy * (-x2, x1) */
static void rotary_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *x = hd__node_saved_get(n, 0), *cos = hd__node_saved_get(n, 1),
              *sin = hd__node_saved_get(n, 2);
    if (hd__node_needs(n, 0)) {
        hd_tensor *back = hd_neg(hd_roll(sin, sin->sizes[sin->ndim - 1] / 2, -1));
        dx[0] = back ? turned(dy[0], cos, back) : NULL;
    }
    dx[1] = hd__node_needs(n, 1) ? hd_mul(dy[0], x) : HD_NONE;
    dx[2] = hd__node_needs(n, 2) ? hd_mul(dy[0], rotate_half(x)) : HD_NONE;
}

static const hd__op rotary_op = HD__OP("AddBackward0", rotary_backward);

/* True if the last two dims of table have x's sizes (t, head_dim), and its other dims broadcast to
 * those of x. */
static bool is_table_for(const hd_tensor *x, const hd_tensor *table)
{
    int more = x->ndim - table->ndim;
    bool fits = table->ndim >= 2 && more >= 0;
    for (int d = 0; fits && d < table->ndim; d++) {
        fits =
            table->sizes[d] == x->sizes[d + more] || (d < table->ndim - 2 && table->sizes[d] == 1);
    }
    return fits;
}

static bool rotary_shapes_ok(const hd_tensor *x, const hd_tensor *cos, const hd_tensor *sin)
{
    return (is_table_for(x, cos) && is_table_for(x, sin) && x->sizes[x->ndim - 1] % 2 == 0) ||
           hd_fail(HD_SHAPE,
                   "x %s, cos %s, sin %s: expected x (..., t, head_dim), head_dim even, and tables "
                   "(t, head_dim) with batch dims that broadcast to x's",
                   HD__SHAPE(x), HD__SHAPE(cos), HD__SHAPE(sin));
}

hd_tensor *hd_rotary(hd_tensor *x, hd_tensor *cos, hd_tensor *sin)
{
    HD__CALL("hd_rotary");
    if (!hd__tensor_float_x(x) || !hd__tensor_arg("cos", cos) || !hd__tensor_arg("sin", sin) ||
        !hd__tensor_one_dtype("x", x, "cos", cos) || !hd__tensor_one_dtype("x", x, "sin", sin) ||
        !rotary_shapes_ok(x, cos, sin)) {
        return NULL;
    }
    bool learned = hd__record_wants_grad(cos) || hd__record_wants_grad(sin);
    hd_tensor *in[] = {x, cos, sin}, *saved[] = {hd__record_save_if(learned, x), cos, sin};
    return HD__RECORD(&rotary_op, turned(x, cos, sin), HD__IN(3, in), HD__SAVES(3, saved));
}
