/* attention_tiles.h - attention in float32 by blocks of queries and keys; attention.c includes it.
 *
 * A block's scores (QUERIES, KEYS) stay in the first two caches. What the register tiles of
 * gemm_tile.h read is packed: rows side by side, and keys (values, backward) also transposed, in
 * panels of WIDE columns. Widths are rounded up to WIDE by zeros. Every sum over queries or keys is
 * in order, by blocks that lie at multiples of QUERIES and KEYS whatever part is asked for: who
 * computes what changes no bit. */

#define T float
#define MULADD HDK_FMAF
#define NAME(x) x##_f32
#define VECTOR (HDK_REGISTER / 4)
#include "tensor/kernels/gemm_tile.h"

enum {
    WIDE = 2 * VECTOR, /* columns of a register tile */
    TALL = HDK_TILE_ROWS,
    QUERIES = (56 / TALL) * TALL,
    KEYS = 128
};

typedef vec_f32 vec;
typedef int32_t ivec __attribute__((vector_size(HDK_REGISTER), aligned(4), may_alias));
typedef uint32_t uvec __attribute__((vector_size(HDK_REGISTER), aligned(4), may_alias));
typedef uint64_t wide_uvec __attribute__((vector_size(HDK_REGISTER), aligned(4), may_alias));

/* halves and quarters of a register, where it has them */
typedef float vec_half __attribute__((vector_size(32)));
typedef int32_t ivec_half __attribute__((vector_size(32)));
typedef int32_t ivec_four __attribute__((vector_size(16)));

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* ---------------------------------------------------------------- vectors */

HDK_INLINE vec load(const float *p)
{
    return *(const vec *)p;
}

HDK_INLINE void store(float *p, vec x)
{
    *(vec *)p = x;
}

HDK_INLINE vec all(float x)
{
    return x - (vec){0};
}

/* a > b ? a : b; as a mask, since compilers make scalars of a loop over the lanes */
#define LARGER(a, b, integers) ((integers)(a) & ((a) > (b))) | ((integers)(b) & ~((a) > (b)))

HDK_INLINE vec larger(vec a, vec b)
{
    return (vec)(LARGER(a, b, ivec));
}

static inline float largest_of(vec x)
{
#if HDK_REGISTER == 64
    vec_half h[2];
    memcpy(h, &x, sizeof h);
    h[0] = (vec_half)(LARGER(h[0], h[1], ivec_half));
    memcpy(&x, h, sizeof h[0]);
#endif
#if HDK_REGISTER >= 32
    hdk_v4 f[2];
    memcpy(f, &x, sizeof f);
    f[0] = (hdk_v4)(LARGER(f[0], f[1], ivec_four));
    memcpy(&x, f, sizeof f[0]);
#endif
    float a = x[0] > x[1] ? x[0] : x[1], b = x[2] > x[3] ? x[2] : x[3];
    return a > b ? a : b;
}

static inline float sum_of(vec x)
{
    float a[VECTOR];
    memcpy(a, &x, sizeof a);
    for (int h = VECTOR / 2; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            a[l] += a[l + h];
        }
    }
    return a[0];
}

/* exp(x) for x <= 0 and a little above, as hdk_vexpf; below -87 it is 0. NaN stays. */
HDK_INLINE vec exp_of(vec x)
{
    const vec magic = all(12582912.0f);
    vec t = muladd_f32(x, all(1.44269504088896341f), magic), q = t - magic;
    vec s = muladd_f32(q, all(-0.693145751953125f), x);
    s = muladd_f32(q, all(-1.428606765330187045e-06f), s);
    vec u = all(0.000198527617612853646278381f);
    u = muladd_f32(u, s, all(0.00139304355252534151077271f));
    u = muladd_f32(u, s, all(0.00833336077630519866943359f));
    u = muladd_f32(u, s, all(0.0416664853692054748535156f));
    u = muladd_f32(u, s, all(0.166666671633720397949219f));
    u = muladd_f32(u, s, all(0.5f));
    u = muladd_f32(s * s, u, s) + all(1.0f);
    vec power = (vec)(((ivec)t << 23) + 0x3f800000);
    return (vec)((ivec)(u * power) & ~(ivec)(x < all(-87.0f)));
}

/* ---------------------------------------------------------------- dropout */

/* The stream at a block of weights: row by row, in vectors. */
typedef struct dice {
    const hdk_head *h;
    int64_t number;       /* of the weight at the row's beginning */
    uint32_t x, next_row; /* x_number; the step to the next row's */
    wide_uvec even, odd;  /* a^0, a^2, ... and a^1, a^3, ... */
    wide_uvec stride;     /* a^VECTOR */
    uvec limit;
} dice;

/* x times the lanes' multipliers, mod 2^31 - 1 */
HDK_INLINE uvec times(uvec x, wide_uvec even, wide_uvec odd)
{
    const wide_uvec low = (wide_uvec){0} + 0xffffffffu;
    /* with the multipliers doubled, the product's halves are its quotient and twice its rest */
    wide_uvec e = ((wide_uvec)x & low) * (even & low), o = ((wide_uvec)x >> 32) * (odd & low);
    uvec high = (uvec)(e >> 32 | (o & ~low)), rest = (uvec)((e & low) | o << 32) >> 1;
    uvec sum = high + rest, less = sum - HD__MCG31_MODULUS;
    uvec y;
    HDK_UNROLL
    for (int l = 0; l < VECTOR; l++) {
        y[l] = sum[l] < less[l] ? sum[l] : less[l];
    }
    return y;
}

static dice dice_at(const hdk_head *h, int64_t i, int64_t j)
{
    dice d = {.h = h, .number = h->first + i * h->s + j};
    if (h->keep < 1 && !h->bits) {
        d.x = hd__mcg31_times(h->seed, hd__mcg31_power(d.number));
        d.next_row = hd__mcg31_power(h->s);
        uint32_t a = 1;
        for (int l = 0; l < VECTOR; l++, a = hd__mcg31_times(a, HD__MCG31_MULTIPLIER)) {
            if (l % 2) {
                d.odd[l / 2] = 2 * a;
            } else {
                d.even[l / 2] = 2 * a;
            }
        }
        d.stride = (wide_uvec){0} + 2 * a;
        d.limit = (uvec){0} + h->limit;
    }
    return d;
}

/* What the first vector of a row begins with. */
HDK_INLINE uvec dice_lanes(const dice *d)
{
    return times((uvec){0} + d->x, d->even, d->odd);
}

static inline void dice_next_row(dice *d)
{
    d->number += d->h->s;
    d->x = hd__mcg31_times(d->x, d->next_row);
}

/* All bits of a lane where the weight is kept. */
static ivec kept_bits(const dice *d, int64_t j, int64_t n)
{
    ivec y = {0};
    for (int l = 0; l < VECTOR && j + l < n; l++) {
        int64_t at = d->number + j + l;
        y[l] = -(d->h->bits[at >> 3] >> (at & 7) & 1);
    }
    return y;
}

/* The mask of the n weights of a row, for vectors one after another; `lanes` is the stream's. */
HDK_INLINE ivec roll(const dice *d, uvec *lanes, int64_t j, int64_t n)
{
    if (d->h->bits) {
        return kept_bits(d, j, n);
    }
    ivec kept = (ivec)(*lanes < d->limit);
    *lanes = times(*lanes, d->stride, d->stride);
    return kept;
}

/* ---------------------------------------------------------------- packing */

/* n rows times `scale`, `width` columns of zeros behind the last. */
static void pack_rows(float *to, int64_t width, const hdk_rows *m, int64_t from, int64_t n,
                      int64_t cols, float scale)
{
    for (int64_t i = 0; i < n; i++, to += width) {
        const float *x = (const float *)m->p + (from + i) * m->row;
        if (m->col == 1) {
            for (int64_t e = 0; e < cols; e++) {
                to[e] = x[e] * scale;
            }
        } else {
            for (int64_t e = 0; e < cols; e++) {
                to[e] = x[e * m->col] * scale;
            }
        }
        for (int64_t e = cols; e < width; e++) {
            to[e] = 0;
        }
    }
}

/* n rows transposed: panels of WIDE rows, (cols, WIDE) each, zeros where there is no row. */
static void pack_panels(float *to, const hdk_rows *m, int64_t from, int64_t n, int64_t cols)
{
    int64_t row = m->row, fours = m->col == 1 ? cols / 4 * 4 : 0;
    for (int64_t i0 = 0; i0 < n; i0 += WIDE, to += cols * WIDE) {
        const float *x = (const float *)m->p + (from + i0) * row;
        int64_t some = least(n - i0, WIDE), i = 0;
        if (some < WIDE) {
            memset(to, 0, (size_t)(cols * WIDE) * sizeof *to);
        }
        for (; i + 4 <= some; i += 4) {
            for (int64_t e = 0; e < fours; e += 4) {
                hdk_turn_four(to + e * WIDE + i, WIDE, x + i * row + e, row);
            }
        }
        for (int64_t j = 0; j < some; j++) {
            for (int64_t e = j < i ? fours : 0; e < cols; e++) {
                to[e * WIDE + j] = x[j * row + e * m->col];
            }
        }
    }
}

static void unpack_rows(const hdk_rows *m, int64_t from, int64_t n, int64_t cols, const float *x,
                        int64_t width, float scale)
{
    for (int64_t i = 0; i < n; i++, x += width) {
        float *to = (float *)m->p + (from + i) * m->row;
        for (int64_t e = 0; e < cols; e++) {
            to[e * m->col] = x[e] * scale;
        }
    }
}

/* ---------------------------------------------------------------- blocks */

static inline float scale_of(const hdk_head *h)
{
    return (float)(h->divisor != 0 ? 1 / h->divisor : h->scale);
}

/* how many of the n keys from j0 on query i sees */
static inline int64_t seen_in(const hdk_head *h, int64_t i, int64_t j0, int64_t n)
{
    return least(most(seen_by(h, i) - j0, 0), n);
}

/* y (rows, n) = a (rows, k) times panels (k, WIDE), but for what no row of a tile sees */
static void score_block(const hdk_head *h, int64_t i0, int64_t rows, int64_t j0, int64_t n,
                        const float *a, int64_t a_row, const float *panels, int64_t k, float *y)
{
    for (int64_t j = 0; j < n; j += WIDE, panels += k * WIDE) {
        for (int64_t i = 0; i < rows; i += TALL) {
            int64_t some = least(rows - i, TALL);
            if (seen_in(h, i0 + i + some - 1, j0, n) > j) {
                tile_f32[some](k, a + i * a_row, a_row, 1, panels, WIDE, y + i * KEYS + j, KEYS,
                               false);
            }
        }
    }
}

/* y (rows, width) += w (rows, n) times x (n, width) */
static void add_over_keys(const hdk_head *h, int64_t i0, int64_t rows, int64_t j0, int64_t n,
                          const float *w, const float *x, int64_t width, float *y)
{
    for (int64_t e = 0; e < width; e += WIDE) {
        for (int64_t i = 0; i < rows; i += TALL) {
            int64_t some = least(rows - i, TALL), k = seen_in(h, i0 + i + some - 1, j0, n);
            tile_f32[some](k, w + i * KEYS, KEYS, 1, x + e, width, y + i * width + e, width, true);
        }
    }
}

/* y (n, width) += w (rows, n)^T times x (rows, width) */
static void add_over_queries(const hdk_head *h, int64_t i0, int64_t rows, int64_t j0, int64_t n,
                             const float *w, const float *x, int64_t width, float *y)
{
    for (int64_t e = 0; e < width; e += WIDE) {
        for (int64_t j = 0; j < n; j += TALL) {
            /* the queries before do not see these keys */
            int64_t some = least(n - j, TALL), i = most(j0 + j + 1 - h->sees - i0, 0);
            if (i < rows) {
                tile_f32[some](rows - i, w + i * KEYS + j, 1, KEYS, x + i * width + e, width,
                               y + j * width + e, width, true);
            }
        }
    }
}

/* The mask of query i on the scores of n keys. */
static void mask_row(const hdk_head *h, int64_t i, int64_t j0, int64_t n, float *x)
{
    int64_t step = h->mask.col, at = i * h->mask.row + j0 * step;
    if (h->mask_is_bool) {
        const uint8_t *mask = (const uint8_t *)h->mask.p + at;
        for (int64_t j = 0; j < n; j++) {
            x[j] = mask[j * step] ? x[j] : -INFINITY;
        }
    } else {
        const float *mask = (const float *)h->mask.p + at;
        for (int64_t j = 0; j < n; j++) {
            x[j] += mask[j * step];
        }
    }
}

static inline void fill(float *x, int64_t from, int64_t to, float value)
{
    for (int64_t j = from; j < to; j++) {
        x[j] = value;
    }
}

/* ---------------------------------------------------------------- forward */

typedef struct forward_state {
    const void **packed;     /* whose keys and values these are */
    float *panels, *values;  /* keys (s / WIDE, d, WIDE), values (s, wide_v) */
    float *q, *scores, *out; /* (QUERIES, d), (QUERIES, KEYS), (QUERIES, wide_v) */
    float *max, *sum;        /* (QUERIES), (QUERIES, VECTOR) */
    int64_t wide_v;
    size_t size;
} forward_state;

/* The parts of scratch, one behind another. */
static float *part_of(char *scratch, size_t *size, int64_t n)
{
    float *p = scratch ? (float *)(scratch + *size) : NULL;
    *size += ((size_t)n * sizeof *p + 63) / 64 * 64;
    return p;
}

static forward_state forward_state_in(const hdk_head *h, void *scratch)
{
    forward_state f = {.wide_v = round_up(h->dv, WIDE)};
    f.packed = (const void **)part_of(scratch, &f.size, 16);
    f.panels = part_of(scratch, &f.size, round_up(h->s, WIDE) * h->d);
    f.values = part_of(scratch, &f.size, h->s * f.wide_v);
    f.q = part_of(scratch, &f.size, QUERIES * h->d);
    f.scores = part_of(scratch, &f.size, QUERIES * KEYS);
    f.out = part_of(scratch, &f.size, QUERIES * f.wide_v);
    f.max = part_of(scratch, &f.size, QUERIES);
    f.sum = part_of(scratch, &f.size, QUERIES * VECTOR);
    return f;
}

static size_t tiles_forward_room(const hdk_head *h)
{
    return forward_state_in(h, NULL).size;
}

static void pack_keys(const hdk_head *h, forward_state *f)
{
    if (f->packed[0] == h->k.p && f->packed[1] == h->v.p) {
        return;
    }
    int64_t seen = seen_by(h, h->l - 1);
    pack_panels(f->panels, &h->k, 0, seen, h->d);
    pack_rows(f->values, f->wide_v, &h->v, 0, seen, h->dv, 1);
    f->packed[0] = h->k.p;
    f->packed[1] = h->v.p;
}

/* x (n) = exp(x - max), *sum += their sum by lanes; then dropout, which the sum does not see.
 * Behind the n there is room for a vector. */
static void weigh(float *x, int64_t n, float max, vec *sum, const dice *d)
{
    vec m = all(max), s = *sum;
    fill(x, n, round_up(n, VECTOR), -INFINITY);
    if (d->h->keep >= 1) {
        for (int64_t j = 0; j < n; j += VECTOR) {
            vec w = exp_of(load(x + j) - m);
            s += w;
            store(x + j, w);
        }
    } else {
        uvec lanes = dice_lanes(d);
        for (int64_t j = 0; j < n; j += VECTOR) {
            vec w = exp_of(load(x + j) - m);
            s += w;
            store(x + j, (vec)((ivec)w & roll(d, &lanes, j, n)));
        }
    }
    *sum = s;
}

/* One row of scores to weights relative to the largest score so far, which may grow: then what was
 * summed up before shrinks. */
static void softmax_row(const hdk_head *h, forward_state *f, int64_t r, int64_t n, const dice *d)
{
    float *x = f->scores + r * KEYS, *out = f->out + r * f->wide_v;
    vec *sum = (vec *)(f->sum + r * VECTOR), high = all(-INFINITY);
    int64_t whole = n / VECTOR * VECTOR;
    float max = f->max[r];
    (void)h;
    for (int64_t j = 0; j < whole; j += VECTOR) {
        high = larger(load(x + j), high);
    }
    float before = max;
    max = fmaxf(max, largest_of(high));
    for (int64_t j = whole; j < n; j++) {
        max = x[j] > max ? x[j] : max;
    }
    if (max > before) {
        f->max[r] = max;
        float shrink = hdk_vexpf(before - max);
        *sum *= shrink;
        for (int64_t e = 0; e < f->wide_v; e += VECTOR) {
            store(out + e, load(out + e) * shrink);
        }
    }
    weigh(x, n, max == -INFINITY ? 0 : max, sum, d);
}

static void finish_row(const hdk_head *h, forward_state *f, int64_t i, int64_t r)
{
    float sum = sum_of(load(f->sum + r * VECTOR)), *lse = (float *)h->lse + i;
    float scale = keep_scale_f32(h) / sum;
    *lse = f->max[r] + logf(sum);
    if (sum == 0) { /* no key is seen */
        *lse = h->safe ? INFINITY : NAN;
        scale = h->safe ? 0 : NAN;
    }
    hdk_rows row = h->out;
    unpack_rows(&row, i, 1, h->dv, f->out + r * f->wide_v, f->wide_v, scale);
}

static void forward_block(const hdk_head *h, forward_state *f, int64_t i0, int64_t rows)
{
    int64_t seen = seen_by(h, i0 + rows - 1);
    pack_rows(f->q, h->d, &h->q, i0, rows, h->d, scale_of(h));
    memset(f->out, 0, (size_t)(rows * f->wide_v) * sizeof *f->out);
    memset(f->sum, 0, (size_t)(rows * VECTOR) * sizeof *f->sum);
    fill(f->max, 0, rows, -INFINITY);
    for (int64_t j0 = 0; j0 < seen; j0 += KEYS) {
        int64_t n = least(seen - j0, KEYS);
        score_block(h, i0, rows, j0, n, f->q, h->d, f->panels + j0 * h->d, h->d, f->scores);
        dice d = dice_at(h, i0, j0);
        for (int64_t r = 0; r < rows; r++, dice_next_row(&d)) {
            int64_t in_row = seen_in(h, i0 + r, j0, n);
            if (h->mask.p) {
                mask_row(h, i0 + r, j0, in_row, f->scores + r * KEYS);
            }
            softmax_row(h, f, r, in_row, &d);
            fill(f->scores + r * KEYS, in_row, n, 0);
        }
        add_over_keys(h, i0, rows, j0, n, f->scores, f->values + j0 * f->wide_v, f->wide_v, f->out);
    }
    for (int64_t r = 0; r < rows; r++) {
        finish_row(h, f, i0 + r, r);
    }
}

static void tiles_forward(const hdk_head *h, int64_t from, int64_t to, void *scratch)
{
    forward_state f = forward_state_in(h, scratch);
    pack_keys(h, &f);
    for (int64_t i = from; i < to; i += QUERIES) {
        forward_block(h, &f, i, least(to - i, QUERIES));
    }
}

/* w = exp(scores - lse) mask / keep, of one block of queries, after its forward */
static void tiles_weights(const hdk_head *h, int64_t from, int64_t to, void *weights, void *scratch)
{
    forward_state f = forward_state_in(h, scratch);
    float scale = keep_scale_f32(h);
    for (int64_t i0 = from; i0 < to; i0 += QUERIES) {
        int64_t rows = least(to - i0, QUERIES);
        pack_rows(f.q, h->d, &h->q, i0, rows, h->d, scale_of(h));
        for (int64_t j0 = 0; j0 < h->s; j0 += KEYS) {
            int64_t n = least(h->s - j0, KEYS);
            score_block(h, i0, rows, j0, n, f.q, h->d, f.panels + j0 * h->d, h->d, f.scores);
            dice d = dice_at(h, i0, j0);
            for (int64_t r = 0; r < rows; r++, dice_next_row(&d)) {
                float *x = f.scores + r * KEYS, lse = ((float *)h->lse)[i0 + r];
                float *to_row = (float *)weights + (i0 + r) * h->s + j0;
                int64_t in_row = seen_in(h, i0 + r, j0, n);
                vec sum = {0};
                if (h->mask.p) {
                    mask_row(h, i0 + r, j0, in_row, x);
                }
                weigh(x, in_row, lse, &sum, &d);
                fill(x, in_row, n, lse == lse ? 0 : NAN);
                for (int64_t j = 0; j < n; j++) {
                    to_row[j] = x[j] * scale;
                }
            }
        }
    }
}

/* ---------------------------------------------------------------- backward */

typedef struct backward_state {
    const void **packed;          /* whose queries these are */
    float *q, *dy, *dq;           /* (l, wide), (l, wide_v), (l, wide) */
    float *both;                  /* (l): dout . out */
    float *k, *panels, *v_panels; /* (KEYS, wide), (KEYS / WIDE, d, WIDE), and of the values */
    float *dk, *dv, *w, *ds;      /* (KEYS, wide), (KEYS, wide_v), (QUERIES, KEYS) twice */
    int64_t wide, wide_v;
    size_t size;
} backward_state;

static backward_state backward_state_in(const hdk_head *h, void *scratch)
{
    backward_state b = {.wide = round_up(h->d, WIDE), .wide_v = round_up(h->dv, WIDE)};
    b.packed = (const void **)part_of(scratch, &b.size, 16);
    b.q = part_of(scratch, &b.size, h->l * b.wide);
    b.dy = part_of(scratch, &b.size, h->l * b.wide_v);
    b.dq = part_of(scratch, &b.size, h->l * b.wide);
    b.both = part_of(scratch, &b.size, h->l);
    b.k = part_of(scratch, &b.size, KEYS * b.wide);
    b.panels = part_of(scratch, &b.size, KEYS * h->d);
    b.v_panels = part_of(scratch, &b.size, KEYS * h->dv);
    b.dk = part_of(scratch, &b.size, KEYS * b.wide);
    b.dv = part_of(scratch, &b.size, KEYS * b.wide_v);
    b.w = part_of(scratch, &b.size, QUERIES * KEYS);
    b.ds = part_of(scratch, &b.size, QUERIES * KEYS);
    return b;
}

static size_t tiles_backward_room(const hdk_head *h)
{
    return backward_state_in(h, NULL).size;
}

static float product_of_rows(const float *a, const float *b, int64_t b_col, int64_t n)
{
    vec sum = {0};
    int64_t e = 0;
    for (; e + VECTOR <= n && b_col == 1; e += VECTOR) {
        sum = muladd_f32(load(a + e), load(b + e), sum);
    }
    return sum_of(sum) + dot_f32(a + e, 1, b + e * b_col, b_col, n - e);
}

/* dy is kept over `keep`, as the weights that are kept are. */
static void pack_queries(const hdk_head *h, const hdk_head_grads *g, backward_state *b)
{
    if (b->packed[0] == h->q.p && b->packed[1] == g->dout.p) {
        return;
    }
    pack_rows(b->q, b->wide, &h->q, 0, h->l, h->d, scale_of(h));
    pack_rows(b->dy, b->wide_v, &g->dout, 0, h->l, h->dv, keep_scale_f32(h));
    for (int64_t i = 0; i < h->l; i++) {
        b->both[i] =
            product_of_rows(b->dy + i * b->wide_v, row_f32(&h->out, i), h->out.col, h->dv) *
            (float)h->keep;
    }
    b->packed[0] = h->q.p;
    b->packed[1] = g->dout.p;
}

/* w = scores to exp(w - lse), kept ones; ds = dout v^T to w (ds kept - both); n of a row */
static void gradient_row(float *w, float *ds, int64_t n, float lse, float both, const dice *d)
{
    vec m = all(lse), c = all(both);
    if (d->h->keep >= 1) {
        for (int64_t j = 0; j < n; j += VECTOR) {
            vec p = exp_of(load(w + j) - m);
            store(w + j, p);
            store(ds + j, p * (load(ds + j) - c));
        }
        return;
    }
    uvec lanes = dice_lanes(d);
    for (int64_t j = 0; j < n; j += VECTOR) {
        ivec kept = roll(d, &lanes, j, n);
        vec p = exp_of(load(w + j) - m);
        store(w + j, (vec)((ivec)p & kept));
        store(ds + j, p * ((vec)((ivec)load(ds + j) & kept) - c));
    }
}

static void backward_block(const hdk_head *h, backward_state *b, int64_t i0, int64_t rows,
                           int64_t j0, int64_t n)
{
    const float *q = b->q + i0 * b->wide, *dy = b->dy + i0 * b->wide_v;
    score_block(h, i0, rows, j0, n, q, b->wide, b->panels, h->d, b->w);
    score_block(h, i0, rows, j0, n, dy, b->wide_v, b->v_panels, h->dv, b->ds);
    dice d = dice_at(h, i0, j0);
    for (int64_t r = 0; r < rows; r++, dice_next_row(&d)) {
        int64_t in_row = seen_in(h, i0 + r, j0, n);
        float *w = b->w + r * KEYS, *ds = b->ds + r * KEYS;
        if (h->mask.p) {
            mask_row(h, i0 + r, j0, in_row, w);
        }
        gradient_row(w, ds, in_row, ((const float *)h->lse)[i0 + r], b->both[i0 + r], &d);
        clear_hidden_f32(h, i0 + r, j0, in_row, ds);
        fill(w, in_row, n, 0);
        fill(ds, in_row, n, 0);
    }
    add_over_queries(h, i0, rows, j0, n, b->w, dy, b->wide_v, b->dv);
    add_over_queries(h, i0, rows, j0, n, b->ds, q, b->wide, b->dk);
    add_over_keys(h, i0, rows, j0, n, b->ds, b->k, b->wide, b->dq + i0 * b->wide);
}

static void tiles_backward(const hdk_head *h, const hdk_head_grads *g, int64_t from, int64_t to,
                           void *scratch)
{
    backward_state b = backward_state_in(h, scratch);
    pack_queries(h, g, &b);
    memset(b.dq, 0, (size_t)(h->l * b.wide) * sizeof *b.dq);
    for (int64_t j0 = from; j0 < to; j0 += KEYS) {
        int64_t n = least(to - j0, KEYS), first = most(j0 + 1 - h->sees, 0) / QUERIES * QUERIES;
        pack_rows(b.k, b.wide, &h->k, j0, n, h->d, 1);
        pack_panels(b.panels, &h->k, j0, n, h->d);
        pack_panels(b.v_panels, &h->v, j0, n, h->dv);
        memset(b.dk, 0, (size_t)(n * b.wide) * sizeof *b.dk);
        memset(b.dv, 0, (size_t)(n * b.wide_v) * sizeof *b.dv);
        for (int64_t i0 = first; i0 < h->l; i0 += QUERIES) {
            backward_block(h, &b, i0, least(h->l - i0, QUERIES), j0, n);
        }
        unpack_rows(&g->dk, j0, n, h->d, b.dk, b.wide, 1);
        unpack_rows(&g->dv, j0, n, h->dv, b.dv, b.wide_v, 1);
    }
    unpack_rows(&g->dq, 0, h->l, h->d, b.dq, b.wide, scale_of(h));
}

#undef T
#undef MULADD
#undef NAME
#undef VECTOR
