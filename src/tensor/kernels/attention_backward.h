/* attention_backward.h - attention in tiles, backward: a part of attention_tiles.h. p are the
 * weights, dout is the gradient of the output, and dp = dout @ v^T is the gradient of the weights,
 * which is 0 for a weight that dropout drops:
 *     ds = p * (dp - sum(p * dp)) * scale, dq = ds @ k, dk = ds^T @ q, dv = p^T @ dout. */

/* The buffers in scratch. The comments give their shapes, in the order of the names. */
typedef struct backward_state {
    const void **packed;          /* two pointers: the q.p and dout.p that were packed last */
    float *q, *dy, *dq;           /* (l, wide), (l, wide_v), (l, wide) */
    float *both;                  /* (l,): the dot product of dout and out of each query */
    float *k, *panels, *v_panels; /* (KEYS, wide), panels of (d, WIDE), panels of (dv, WIDE) */
    float *dk, *dv, *w, *ds;      /* (KEYS, wide), (KEYS, wide_v), two (QUERIES, KEYS) */
    int64_t wide, wide_v, size;
} backward_state;

static backward_state backward_state_in(const hdk_head *h, void *scratch)
{
    backward_state b = {.wide = rounded_up(h->d, WIDE), .wide_v = rounded_up(h->dv, WIDE)};
    b.packed = (const void **)next_floats(scratch, &b.size, 16);
    b.q = next_floats(scratch, &b.size, h->l * b.wide);
    b.dy = next_floats(scratch, &b.size, h->l * b.wide_v);
    b.dq = next_floats(scratch, &b.size, h->l * b.wide);
    b.both = next_floats(scratch, &b.size, h->l);
    b.k = next_floats(scratch, &b.size, KEYS * b.wide);
    b.panels = next_floats(scratch, &b.size, KEYS * h->d);
    b.v_panels = next_floats(scratch, &b.size, KEYS * h->dv);
    b.dk = next_floats(scratch, &b.size, KEYS * b.wide);
    b.dv = next_floats(scratch, &b.size, KEYS * b.wide_v);
    b.w = next_floats(scratch, &b.size, QUERIES * KEYS);
    b.ds = next_floats(scratch, &b.size, QUERIES * KEYS);
    return b;
}

static int64_t tiles_backward_room(const hdk_head *h)
{
    return backward_state_in(h, NULL).size;
}

static float product_of_rows(const float *a, const float *b, int64_t b_col, int64_t n)
{
    vec_f32 sum = {0};
    int64_t e = 0;
    for (; e + HDK_V <= n && b_col == 1; e += HDK_V) {
        sum = vmuladd_f32(vload_f32(a + e), vload_f32(b + e), sum);
    }
    return vsum_f32(sum) + strided_dot_f32(a + e, 1, b + e * b_col, b_col, n - e);
}

/* Packs q and dout, and sets b->both, unless scratch holds them already. Divides dout by `keep`, so
 * that the kept weights need not be divided. */
static void pack_queries(const hdk_head *h, const hdk_head_grads *g, backward_state *b)
{
    if (b->packed[0] == h->q.p && b->packed[1] == g->dout.p) {
        return;
    }
    pack_scaled(b->q, b->wide, &h->q, 0, h->l, h->d, scale_of(h));
    pack_scaled(b->dy, b->wide_v, &g->dout, 0, h->l, h->dv, keep_scale_f32(h));
    for (int64_t i = 0; i < h->l; i++) {
        b->both[i] =
            product_of_rows(b->dy + i * b->wide_v, row_f32(&h->out, i), h->out.col, h->dv) *
            (float)h->keep;
    }
    b->packed[0] = h->q.p;
    b->packed[1] = g->dout.p;
}

/* For n keys of one row, replaces the scores in w by the weights, and the elements of dout @ v^T in
 * ds by the gradients of the scores. kept is 1 for a weight that dropout keeps, and 0 for others;
 * `both` is the row's sum(dout * out):
 *     p = exp(w - lse), ds = p * (ds * kept - both), w = p * kept */
static void gradient_row(float *w, float *ds, int64_t n, float lse, float both, const dice *d)
{
    vec_f32 m = vall_f32(lse), c = vall_f32(both);
    if (d->h->keep >= 1) {
        for (int64_t j = 0; j < n; j += HDK_V) {
            vec_f32 p = vexp_quick_f32(vload_f32(w + j) - m);
            vstore_f32(w + j, p);
            vstore_f32(ds + j, p * (vload_f32(ds + j) - c));
        }
        return;
    }
    vec_u32 lanes = dice_lanes(d);
    for (int64_t j = 0; j < n; j += HDK_V) {
        vec_i32 kept = dice_roll(d, &lanes, j, n);
        vec_f32 p = vexp_quick_f32(vload_f32(w + j) - m);
        vstore_f32(w + j, vkeep_f32(p, kept));
        vstore_f32(ds + j, p * (vkeep_f32(vload_f32(ds + j), kept) - c));
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
        fill_row(w, in_row, n, 0);
        fill_row(ds, in_row, n, 0);
    }
    add_over_queries(h, i0, rows, j0, n, b->w, dy, b->wide_v, b->dv);
    add_over_queries(h, i0, rows, j0, n, b->ds, q, b->wide, b->dk);
    add_over_keys(h, i0, rows, j0, n, b->ds, b->k, b->wide, b->dq + i0 * b->wide, b->wide);
}

static void tiles_backward(const hdk_head *h, const hdk_head_grads *g, int64_t from, int64_t to,
                           void *scratch)
{
    backward_state b = backward_state_in(h, scratch);
    pack_queries(h, g, &b);
    memset(b.dq, 0, (size_t)(h->l * b.wide) * sizeof *b.dq);
    for (int64_t j0 = from; j0 < to; j0 += KEYS) {
        int64_t n = smaller(to - j0, KEYS), first = larger(j0 + 1 - h->sees, 0) / QUERIES * QUERIES;
        pack_scaled(b.k, b.wide, &h->k, j0, n, h->d, 1);
        pack_panels(b.panels, &h->k, j0, n, h->d);
        pack_panels(b.v_panels, &h->v, j0, n, h->dv);
        memset(b.dk, 0, (size_t)(n * b.wide) * sizeof *b.dk);
        memset(b.dv, 0, (size_t)(n * b.wide_v) * sizeof *b.dv);
        for (int64_t i0 = first; i0 < h->l; i0 += QUERIES) {
            backward_block(h, &b, i0, smaller(h->l - i0, QUERIES), j0, n);
        }
        unpack_scaled(&g->dk, j0, n, h->d, b.dk, b.wide, 1);
        unpack_scaled(&g->dv, j0, n, h->dv, b.dv, b.wide_v, 1);
    }
    unpack_scaled(&g->dq, 0, h->l, h->d, b.dq, b.wide, scale_of(h));
}
