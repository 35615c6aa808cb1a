/* attention_pack.h - packs rows for the register tiles (gemm_tile.h), and unpacks their results: a
 * part of attention_tiles.h. */

/* Sets `to` (n, width) to the n rows of m from `from` on, times `scale`. A row has `cols` elements,
 * and zeros after them. */
static void pack_scaled(float *to, int64_t width, const hdk_rows *m, int64_t from, int64_t n,
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

/* Transposes the n rows of m from `from` on into panels. A panel (cols, WIDE) has WIDE rows of m;
 * zeros fill up the last panel. */
static void pack_panels(float *to, const hdk_rows *m, int64_t from, int64_t n, int64_t cols)
{
    int64_t row = m->row, fours = m->col == 1 ? cols / 4 * 4 : 0;
    for (int64_t i0 = 0; i0 < n; i0 += WIDE, to += cols * WIDE) {
        const float *x = (const float *)m->p + (from + i0) * row;
        int64_t some = smaller(n - i0, WIDE), i = 0;
        if (some < WIDE) {
            memset(to, 0, (size_t)(cols * WIDE) * sizeof *to);
        }
        for (; i + 4 <= some; i += 4) {
            for (int64_t e = 0; e < fours; e += 4) {
                turn_four_f32(to + e * WIDE + i, WIDE, x + i * row + e, row);
            }
        }
        for (int64_t j = 0; j < some; j++) {
            for (int64_t e = j < i ? fours : 0; e < cols; e++) {
                to[e * WIDE + j] = x[j * row + e * m->col];
            }
        }
    }
}

/* Sets the n rows of m from `from` on to x (n, width) times `scale`. */
static void unpack_scaled(const hdk_rows *m, int64_t from, int64_t n, int64_t cols, const float *x,
                          int64_t width, float scale)
{
    for (int64_t i = 0; i < n; i++, x += width) {
        float *to = (float *)m->p + (from + i) * m->row;
        for (int64_t e = 0; e < cols; e++) {
            to[e * m->col] = x[e] * scale;
        }
    }
}
