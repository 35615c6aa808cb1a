/* gemm_body.h - the matrix product for one element type; gemm.c includes it once for each.
 *
 * Wants T (the element), MULADD(a, b, c), NAME(x) (x with the type's suffix) and VECTOR (elements
 * of a vector register). Every element of c is one chain over k, in order, whatever path computes
 * it: a row and a column give the same bits in products of any size, however the work is cut. */

typedef T NAME(vec) __attribute__((vector_size(VECTOR * sizeof(T)), aligned(sizeof(T)), may_alias));

static inline __attribute__((always_inline)) NAME(vec)
    NAME(muladd)(NAME(vec) a, NAME(vec) b, NAME(vec) c)
{
    NAME(vec) y;
    UNROLL
    for (int l = 0; l < VECTOR; l++) {
        y[l] = MULADD(a[l], b[l], c[l]);
    }
    return y;
}

/* c (rows, vecs vectors) in registers over k steps; go_on: c holds the chains so far. */
static inline __attribute__((always_inline)) void
NAME(tile)(const int rows, const int vecs, int64_t k, const T *a, int64_t a_row, int64_t a_col,
           const T *b, int64_t b_row, T *c, int64_t c_row, bool go_on)
{
    NAME(vec) acc[TILE_ROWS][2];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            acc[i][j] = (NAME(vec)){0};
            if (go_on) {
                acc[i][j] = *(const NAME(vec) *)(c + i * c_row + j * VECTOR);
            }
        }
    }
    for (int64_t p = 0; p < k; p++) {
        UNROLL
        for (int i = 0; i < rows; i++) {
            NAME(vec) x = (NAME(vec)){0} + a[i * a_row + p * a_col];
            UNROLL
            for (int j = 0; j < vecs; j++) {
                NAME(vec) y = *(const NAME(vec) *)(b + p * b_row + j * VECTOR);
                acc[i][j] = NAME(muladd)(x, y, acc[i][j]);
            }
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            *(NAME(vec) *)(c + i * c_row + j * VECTOR) = acc[i][j];
        }
    }
}

/* All m rows of c under one panel of b. */
static inline __attribute__((always_inline)) void
NAME(rows)(const int vecs, int64_t m, int64_t k, const T *a, int64_t a_row, int64_t a_col,
           const T *b, int64_t b_row, T *c, int64_t c_row, bool go_on)
{
    int64_t i = 0;
    for (; i + TILE_ROWS <= m; i += TILE_ROWS) {
        NAME(tile)
        (TILE_ROWS, vecs, k, a + i * a_row, a_row, a_col, b, b_row, c + i * c_row, c_row, go_on);
    }
    for (; i + 3 <= m; i += 3) {
        NAME(tile)(3, vecs, k, a + i * a_row, a_row, a_col, b, b_row, c + i * c_row, c_row, go_on);
    }
    for (; i < m; i++) {
        NAME(tile)(1, vecs, k, a + i * a_row, a_row, a_col, b, b_row, c + i * c_row, c_row, go_on);
    }
}

static void NAME(rows1)(int64_t m, int64_t k, const T *a, int64_t a_row, int64_t a_col, const T *b,
                        int64_t b_row, T *c, int64_t c_row, bool go_on)
{
    NAME(rows)(1, m, k, a, a_row, a_col, b, b_row, c, c_row, go_on);
}

static void NAME(rows2)(int64_t m, int64_t k, const T *a, int64_t a_row, int64_t a_col, const T *b,
                        int64_t b_row, T *c, int64_t c_row, bool go_on)
{
    NAME(rows)(2, m, k, a, a_row, a_col, b, b_row, c, c_row, go_on);
}

/* k rows of `cols` columns of b, densely, each filled up with zeros to `width`. */
static void NAME(pack)(T *to, int64_t k, int64_t width, int64_t cols, const T *b, int64_t b_row,
                       int64_t b_col)
{
    if (b_col == 1) {
        for (int64_t p = 0; p < k; p++) {
            for (int64_t j = 0; j < cols; j++) {
                to[p * width + j] = b[p * b_row + j];
            }
        }
    } else {
        for (int64_t j = 0; j < cols; j++) {
            for (int64_t p = 0; p < k; p++) {
                to[p * width + j] = b[p * b_row + j * b_col];
            }
        }
    }
    for (int64_t j = cols; j < width; j++) {
        for (int64_t p = 0; p < k; p++) {
            to[p * width + j] = 0;
        }
    }
}

/* Columns [j, j + cols) of c, by panels of b that are packed DEPTH rows at a time. Tiles are whole:
 * the last columns go through a buffer of a few rows. */
static void NAME(packed)(const hdk_product *t, int64_t j, int64_t cols)
{
    const T *a = t->a, *b = (const T *)t->b + j * t->b_col;
    T *c = (T *)t->c + j, panel[DEPTH * 2 * VECTOR], edge[TILE_ROWS * 2 * VECTOR];
    int64_t width = cols > VECTOR ? 2 * VECTOR : VECTOR;
    void (*rows)(int64_t, int64_t, const T *, int64_t, int64_t, const T *, int64_t, T *, int64_t,
                 bool) = cols > VECTOR ? NAME(rows2) : NAME(rows1);
    for (int64_t p = 0; p < t->k; p += DEPTH) {
        int64_t depth = t->k - p < DEPTH ? t->k - p : DEPTH;
        bool go_on = t->add || p > 0;
        NAME(pack)(panel, depth, width, cols, b + p * t->b_row, t->b_row, t->b_col);
        if (cols == width) {
            rows(t->m, depth, a + p * t->a_col, t->a_row, t->a_col, panel, width, c, t->c_row,
                 go_on);
            continue;
        }
        for (int64_t i = 0; i < t->m; i += TILE_ROWS) {
            int64_t some = t->m - i < TILE_ROWS ? t->m - i : TILE_ROWS;
            for (int64_t r = 0; r < some && go_on; r++) {
                for (int64_t l = 0; l < width; l++) {
                    edge[r * width + l] = l < cols ? c[(i + r) * t->c_row + l] : 0;
                }
            }
            rows(some, depth, a + i * t->a_row + p * t->a_col, t->a_row, t->a_col, panel, width,
                 edge, width, go_on);
            for (int64_t r = 0; r < some; r++) {
                for (int64_t l = 0; l < cols; l++) {
                    c[(i + r) * t->c_row + l] = edge[r * width + l];
                }
            }
        }
    }
}

/* `some` elements of a row of c, side by side. */
static inline __attribute__((always_inline)) void NAME(chain)(const int some, const hdk_product *t,
                                                              const T *a, const T *b, T *c)
{
    int64_t k = t->k, a_col = t->a_col, b_row = t->b_row, b_col = t->b_col;
    T acc[8];
    UNROLL
    for (int r = 0; r < some; r++) {
        acc[r] = t->add ? c[r] : 0;
    }
    for (int64_t p = 0; p < k; p++) {
        UNROLL
        for (int r = 0; r < some; r++) {
            acc[r] = MULADD(a[p * a_col], b[p * b_row + r * b_col], acc[r]);
        }
    }
    UNROLL
    for (int r = 0; r < some; r++) {
        c[r] = acc[r];
    }
}

/* Columns [j, j + cols) of c element by element. */
static void NAME(chains)(const hdk_product *t, int64_t j, int64_t cols)
{
    const T *a = t->a, *b = (const T *)t->b + j * t->b_col;
    T *c = (T *)t->c + j;
    for (int64_t i = 0; i < t->m; i++, a += t->a_row, c += t->c_row) {
        int64_t l = 0;
        for (; l + 8 <= cols; l += 8) {
            NAME(chain)(8, t, a, b + l * t->b_col, c + l);
        }
        for (; l + 3 <= cols; l += 3) {
            NAME(chain)(3, t, a, b + l * t->b_col, c + l);
        }
        if (cols - l == 2) {
            NAME(chain)(2, t, a, b + l * t->b_col, c + l);
        } else if (cols - l == 1) {
            NAME(chain)(1, t, a, b + l * t->b_col, c + l);
        }
    }
}

/* Column by column panel: in place where b's rows are dense and few rows of a would repay a copy,
 * packed where many do, chain by chain where the panel is too thin for either. */
static void NAME(panels)(const hdk_product *t)
{
    bool dense = t->b_col == 1;
    for (int64_t j = 0, cols; j < t->n; j += cols) {
        int64_t left = t->n - j;
        cols = left >= 2 * VECTOR ? 2 * VECTOR : left;
        cols = dense && cols < 2 * VECTOR && cols > VECTOR ? VECTOR : cols;
        if (dense && cols % VECTOR == 0 && t->m < PACK_ROWS) {
            (cols == VECTOR ? NAME(rows1) : NAME(rows2))(t->m, t->k, t->a, t->a_row, t->a_col,
                                                         (const T *)t->b + j, t->b_row,
                                                         (T *)t->c + j, t->c_row, t->add);
        } else if (t->m < TILE_ROWS / 2 || cols < VECTOR / 4) {
            NAME(chains)(t, j, cols);
        } else {
            NAME(packed)(t, j, cols);
        }
    }
}

static void NAME(product)(const hdk_product *t)
{
    hdk_product turned;
    if (t->n == 1 && t->c_row == 1 && t->m > 1) { /* c^T = b^T a^T: a long row, not a column */
        turned = *t;
        turned.m = 1, turned.n = t->m, turned.bias_step = 0;
        turned.a = t->b, turned.a_row = t->b_col, turned.a_col = t->b_row;
        turned.b = t->a, turned.b_row = t->a_col, turned.b_col = t->a_row;
        t = &turned;
    }
    if (t->k == 0 || t->m * t->n * t->k <= FEW) {
        NAME(chains)(t, 0, t->n);
    } else {
        NAME(panels)(t);
    }
    for (int64_t i = 0; i < t->m && t->bias; i++) {
        for (int64_t j = 0; j < t->n; j++) {
            ((T *)t->c)[i * t->c_row + j] += ((const T *)t->bias)[j * t->bias_step];
        }
    }
}

#undef T
#undef MULADD
#undef NAME
#undef VECTOR
