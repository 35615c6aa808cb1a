/* attention_forward.h - attention in tiles, forward: a part of attention_tiles.h. The output is
 *     o = e^(s - m) @ v / sum(e^(s - m))
 * s are the scores q @ k^T * scale + mask, and m is the largest score of the row so far. If a later
 * block has a larger score, o and the sum are scaled down. */

/* The buffers in scratch. The comments give their shapes, in the order of the names. */
typedef struct forward_state {
    const void **packed;     /* two pointers: the k.p and v.p that were packed last */
    float *panels, *values;  /* keys (s / WIDE, d, WIDE), values (s, wide_v) */
    float *q, *scores, *out; /* (QUERIES, d), (QUERIES, KEYS), (QUERIES, wide_v) */
    float *max, *sum;        /* (QUERIES,), (QUERIES, HDK_V) */
    int64_t wide_v, size;
} forward_state;

/* Returns the next n floats of scratch, which begin *size bytes after its beginning, and adds their
 * bytes, rounded up to a multiple of 64, to *size. If scratch is NULL, only adds the bytes and
 * returns NULL. */
static float *next_floats(char *scratch, int64_t *size, int64_t n)
{
    float *p = scratch ? (float *)(scratch + *size) : NULL;
    *size += rounded_up(n * (int64_t)sizeof *p, 64);
    return p;
}

static forward_state forward_state_in(const hdk_head *h, void *scratch)
{
    forward_state f = {.wide_v = rounded_up(h->dv, WIDE)};
    f.packed = (const void **)next_floats(scratch, &f.size, 16);
    f.panels = next_floats(scratch, &f.size, rounded_up(h->s, WIDE) * h->d);
    f.values = next_floats(scratch, &f.size, h->s * f.wide_v);
    f.q = next_floats(scratch, &f.size, QUERIES * h->d);
    f.scores = next_floats(scratch, &f.size, QUERIES * KEYS);
    f.out = next_floats(scratch, &f.size, QUERIES * f.wide_v);
    f.max = next_floats(scratch, &f.size, QUERIES);
    f.sum = next_floats(scratch, &f.size, QUERIES * HDK_V);
    return f;
}

static int64_t tiles_forward_room(const hdk_head *h)
{
    return forward_state_in(h, NULL).size;
}

/* True if keys and values are read in place, without packing. A few queries read them only once, so
 * packing would take longer. The answer is the same for every part of a head. */
static bool in_place(const hdk_head *h)
{
    return h->l <= HDK_SPLIT_ROWS && h->k.col == 1 && h->v.col == 1 && h->dv % WIDE == 0;
}

static void pack_keys(const hdk_head *h, forward_state *f)
{
    if (in_place(h) || (f->packed[0] == h->k.p && f->packed[1] == h->v.p)) {
        return;
    }
    int64_t seen = seen_by(h, h->l - 1);
    pack_panels(f->panels, &h->k, 0, seen, h->d);
    pack_scaled(f->values, f->wide_v, &h->v, 0, seen, h->dv, 1);
    f->packed[0] = h->k.p;
    f->packed[1] = h->v.p;
}

/* Prefetches the n values from j0 on, so that memory sends them while the scores are computed. */
static void ask_for_values(const hdk_head *h, int64_t j0, int64_t n)
{
    const float *v = (const float *)h->v.p + j0 * h->v.row;
    for (int64_t j = 0; j < n; j++) {
        hdk_prefetch_at(v + j * h->v.row, 0, (size_t)h->dv * sizeof *v);
    }
}

/* Sets f->scores (rows, n) to the scores, before the mask, of the queries in f->q, from query i0
 * on, and of the n keys from j0 on. */
static void scores_of(const hdk_head *h, forward_state *f, int64_t i0, int64_t rows, int64_t j0,
                      int64_t n)
{
    if (!in_place(h)) {
        score_block(h, i0, rows, j0, n, f->q, h->d, f->panels + j0 * h->d, h->d, f->scores);
        return;
    }
    hdk_product p = {.m = rows,
                     .n = n,
                     .k = h->d,
                     .a = f->q,
                     .a_row = h->d,
                     .a_col = 1,
                     .b = (const float *)h->k.p + j0 * h->k.row,
                     .b_row = 1,
                     .b_col = h->k.row,
                     .c = f->scores,
                     .c_row = KEYS,
                     .order = HDK_SPLIT};
    HDK_TABLE(hdk_gemm).product[HDK_F32](&p, NULL);
}

/* Replaces the n elements of x by exp(x - max), and adds them to *sum. Then dropout sets some of
 * them to 0, which does not change the sum. Also overwrites the elements after x, up to the end of
 * x's last vector. */
static void weigh(float *x, int64_t n, float max, vec_f32 *sum, const dice *d)
{
    vec_f32 m = vall_f32(max), s = *sum;
    fill_row(x, n, rounded_up(n, HDK_V), -INFINITY);
    if (d->h->keep >= 1) {
        for (int64_t j = 0; j < n; j += HDK_V) {
            vec_f32 w = vexp_quick_f32(vload_f32(x + j) - m);
            s += w;
            vstore_f32(x + j, w);
        }
    } else {
        vec_u32 lanes = dice_lanes(d);
        for (int64_t j = 0; j < n; j += HDK_V) {
            vec_f32 w = vexp_quick_f32(vload_f32(x + j) - m);
            s += w;
            vstore_f32(x + j, vkeep_f32(w, dice_roll(d, &lanes, j, n)));
        }
    }
    *sum = s;
}

/* Turns the n scores x in row r into weights e^(x - f->max[r]), where f->max[r] is the row's
 * largest score so far. If a score is larger, first raises f->max[r] to it, and scales down the
 * row's output and sum so far. */
static void weigh_row(forward_state *f, int64_t r, int64_t n, const dice *d)
{
    float *x = f->scores + r * KEYS, *out = f->out + r * f->wide_v;
    vec_f32 *sum = (vec_f32 *)(f->sum + r * HDK_V), high = vall_f32(-INFINITY);
    int64_t whole = n / HDK_V * HDK_V;
    float max = f->max[r];
    for (int64_t j = 0; j < whole; j += HDK_V) {
        high = vmax_f32(vload_f32(x + j), high);
    }
    float before = max;
    max = fmaxf(max, vlargest_f32(high));
    for (int64_t j = whole; j < n; j++) {
        max = x[j] > max ? x[j] : max;
    }
    if (max > before) {
        f->max[r] = max;
        float shrink = scalar_exp_f32(before - max);
        *sum *= shrink;
        for (int64_t e = 0; e < f->wide_v; e += HDK_V) {
            vstore_f32(out + e, vload_f32(out + e) * shrink);
        }
    }
    weigh(x, n, max == -INFINITY ? 0 : max, sum, d);
}

static void finish_row(const hdk_head *h, forward_state *f, int64_t i, int64_t r)
{
    float sum = vsum_f32(vload_f32(f->sum + r * HDK_V)), *lse = (float *)h->lse + i;
    float scale = keep_scale_f32(h) / sum;
    *lse = f->max[r] + logf(sum);
    if (sum == 0) { /* the query sees no key */
        *lse = h->safe ? INFINITY : NAN;
        scale = h->safe ? 0 : NAN;
    }
    hdk_rows row = h->out;
    unpack_scaled(&row, i, 1, h->dv, f->out + r * f->wide_v, f->wide_v, scale);
}

static void forward_block(const hdk_head *h, forward_state *f, int64_t i0, int64_t rows)
{
    int64_t seen = seen_by(h, i0 + rows - 1), value = in_place(h) ? h->v.row : f->wide_v;
    const float *values = in_place(h) ? h->v.p : f->values;
    pack_scaled(f->q, h->d, &h->q, i0, rows, h->d, scale_of(h));
    memset(f->out, 0, (size_t)(rows * f->wide_v) * sizeof *f->out);
    memset(f->sum, 0, (size_t)(rows * HDK_V) * sizeof *f->sum);
    fill_row(f->max, 0, rows, -INFINITY);
    for (int64_t j0 = 0; j0 < seen; j0 += KEYS) {
        int64_t n = smaller(seen - j0, KEYS);
        if (in_place(h)) {
            ask_for_values(h, j0, n);
        }
        scores_of(h, f, i0, rows, j0, n);
        dice d = dice_at(h, i0, j0);
        for (int64_t r = 0; r < rows; r++, dice_next_row(&d)) {
            int64_t in_row = seen_in(h, i0 + r, j0, n);
            if (h->mask.p) {
                mask_row(h, i0 + r, j0, in_row, f->scores + r * KEYS);
            }
            weigh_row(f, r, in_row, &d);
            fill_row(f->scores + r * KEYS, in_row, n, 0);
        }
        add_over_keys(h, i0, rows, j0, n, f->scores, values + j0 * value, value, f->out, f->wide_v);
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
        forward_block(h, &f, i, smaller(to - i, QUERIES));
    }
}

/* Computes weights = exp(scores - lse), times dropout's 0 or 1 / keep, for the queries [from, to),
 * whose lse forward has written. */
static void tiles_weights(const hdk_head *h, int64_t from, int64_t to, void *weights, void *scratch)
{
    forward_state f = forward_state_in(h, scratch);
    float scale = keep_scale_f32(h);
    for (int64_t i0 = from; i0 < to; i0 += QUERIES) {
        int64_t rows = smaller(to - i0, QUERIES);
        pack_scaled(f.q, h->d, &h->q, i0, rows, h->d, scale_of(h));
        for (int64_t j0 = 0; j0 < h->s; j0 += KEYS) {
            int64_t n = smaller(h->s - j0, KEYS);
            scores_of(h, &f, i0, rows, j0, n);
            dice d = dice_at(h, i0, j0);
            for (int64_t r = 0; r < rows; r++, dice_next_row(&d)) {
                float *x = f.scores + r * KEYS, lse = ((float *)h->lse)[i0 + r];
                float *to_row = (float *)weights + (i0 + r) * h->s + j0;
                int64_t in_row = seen_in(h, i0 + r, j0, n);
                vec_f32 sum = {0};
                if (h->mask.p) {
                    mask_row(h, i0 + r, j0, in_row, x);
                }
                weigh(x, in_row, lse, &sum, &d);
                fill_row(x, in_row, n, lse == lse ? 0 : NAN);
                for (int64_t j = 0; j < n; j++) {
                    to_row[j] = x[j] * scale;
                }
            }
        }
    }
}
