/* gemm_body.h - the matrix product: a template (template.h) for gemm.c, which defines its macros.
 *
 * c is cut into tiles (gemm_tile.h), and k into runs of DEPTH steps. A panel of a (the rows of a
 * tile) stays in the L1 cache while the panels of b come from the L2 cache. Panels are packed
 * k-major, from operands of any strides. An operand is read in place if few tiles use its panels.
 *
 * Every element of c is one chain of multiply-adds over k, in order, on every path. So a row and a
 * column give the same bits in products of any size, however the work is cut. There are two
 * exceptions. In products of few rows or one column with a large matrix (gemm_split.h), one chain
 * would leave memory idle. In the dot of two vectors of HDK_LONG or more elements, every step of
 * one chain would wait for the step before. */

/* ---------------------------------------------------------------- packing */

/* A lane is a row of matrix a or a column of matrix b, and a step is one index along k. A panel of
 * `lanes` lanes has a row for each step; its rows lie `width` elements apart. In x, which is a or
 * b, lanes lie `lane` elements apart. */

/* Copies one step of a panel to `to`: an element of each lane. In x these elements are adjacent. */
HDK_INLINE void fn(copy_lanes)(T *to, int64_t lanes, const T *x)
{
    if (lanes < 4) {
        for (int64_t l = 0; l < lanes; l++) {
            to[l] = x[l];
        }
        return;
    }
    for (int64_t l = 0; l + 4 <= lanes; l += 4) {
        *(FOUR *)(to + l) = *(const FOUR *)(x + l);
    }
    *(FOUR *)(to + lanes - 4) = *(const FOUR *)(x + lanes - 4);
}

static void fn(pack_any)(T *to, int64_t width, int64_t lanes, int64_t steps, const T *x,
                         int64_t lane, int64_t step)
{
    for (int64_t p = 0; p < steps; p++) {
        for (int64_t l = 0; l < lanes; l++) {
            to[p * width + l] = x[l * lane + p * step];
        }
    }
}

/* Packs lanes whose elements are adjacent in memory, 64 steps at a time, so that this part of the
 * panel stays in the L1 cache. The last four lanes may overlap the four before them. */
static void fn(pack_steps)(T *to, int64_t width, int64_t lanes, int64_t steps, const T *x,
                           int64_t lane)
{
    int64_t whole = lanes < 4 ? 0 : steps & ~(int64_t)3;
    for (int64_t q = 0; q < whole; q += 64) {
        int64_t end = whole - q < 64 ? whole : q + 64;
        for (int64_t l = 0; l < lanes; l += 4) {
            int64_t at = l + 4 <= lanes ? l : lanes - 4;
            for (int64_t p = q; p < end; p += 4) {
                __builtin_prefetch(x + (at + p / 4 % 4) * lane + p + 64); /* the next part */
                fn(turn_four)(to + p * width + at, width, x + at * lane + p, lane);
            }
        }
    }
    fn(pack_any)(to + whole * width, width, lanes, steps - whole, x + whole, lane, 1);
}

/* Packs one step of a panel, whose elements are adjacent in x. Missing lanes become 0. */
HDK_INLINE void fn(pack_step)(T *to, int64_t width, int64_t lanes, const T *x)
{
    if (lanes == WIDTH) {
        fn(vstore)(to, fn(vload)(x));
        fn(vstore)(to + VECTOR, fn(vload)(x + VECTOR));
        return;
    }
    fn(copy_lanes)(to, lanes, x);
    for (int64_t l = lanes; l < width; l++) {
        to[l] = 0;
    }
}

/* Packs all lanes into panels of `width` lanes; missing lanes become 0. Adjacent lanes are packed
 * for TOGETHER panels at a time, so memory is read in long runs, and few lines are read twice. */
static void fn(pack)(T *to, int64_t width, int64_t lanes, int64_t steps, const T *x, int64_t lane,
                     int64_t step)
{
    enum { TOGETHER = 4, FAR = 16 }; /* x is prefetched FAR steps before it is read */
    for (int64_t i = 0; i < lanes; i += TOGETHER * width) {
        int64_t end = lanes - i < TOGETHER * width ? lanes : i + TOGETHER * width;
        for (int64_t p = 0; p < steps && lane == 1; p++) {
            for (int64_t l = i; l < end; l += width) {
                __builtin_prefetch(x + l + (p + FAR) * step);
                __builtin_prefetch(x + l + width - 1 + (p + FAR) * step);
                fn(pack_step)(to + l * steps + p * width, width, end - l < width ? end - l : width,
                              x + l + p * step);
            }
        }
        for (int64_t l = i; l < end && lane != 1; l += width) {
            int64_t some = end - l < width ? end - l : width;
            for (int64_t p = 0; p < steps && some < width; p++) {
                fn(pack_step)(to + l * steps + p * width, width, 0, x);
            }
            if (step == 1) {
                fn(pack_steps)(to + l * steps, width, some, steps, x + l * lane, lane);
            } else {
                fn(pack_any)(to + l * steps, width, some, steps, x + l * lane, lane, step);
            }
        }
    }
}

/* ---------------------------------------------------------------- tiles */

/* Adds bias to each row of c (rows, cols). */
static void fn(add_bias)(T *c, int64_t c_row, int64_t rows, int64_t cols, const T *bias,
                         int64_t step)
{
    for (int64_t i = 0; i < rows; i++, c += c_row) {
        for (int64_t j = 0; j < cols && step == 1; j++) {
            c[j] += bias[j];
        }
        for (int64_t j = 0; j < cols && step != 1; j++) {
            c[j] += bias[j * step];
        }
    }
}

/* A block of c, and the operands of its tiles, packed or in place. */
typedef struct BLOCK {
    int64_t rows, cols, steps;
    int64_t height; /* number of rows of each tile except the last */
    const T *a, *b;
    int64_t a_panel, a_row, a_step; /* a_panel: elements from one panel to the next */
    int64_t b_panel, b_step;
    T *c;
    int64_t c_row;
    const T *raw_a; /* the part of a to pack; NULL if it is packed already or read in place */
    const T *raw_b; /* b, if the first row of tiles packs it; NULL if b is read in place */
    int64_t raw_a_row, raw_a_col, raw_b_row, raw_b_col;
    bool far_c;    /* true if c does not fit in the L2 cache */
    bool go_on;    /* true to add to c instead of setting it */
    const T *bias; /* NULL if there is none */
    int64_t bias_step;
} BLOCK;

/* Computes a tile in a buffer and copies it to c, for a number of columns that is no multiple of
 * UNIT. */
static void fn(edge)(const BLOCK *t, TILE_LOOP tile, hdk_ask ask, int64_t rows, int64_t cols,
                     const T *a, const T *b, T *c)
{
    T edge[HDK_TILE_ROWS * WIDTH];
    for (int64_t i = 0; i < rows && t->go_on; i++) {
        for (int64_t j = 0; j < WIDTH; j++) {
            edge[i * WIDTH + j] = j < cols ? c[i * t->c_row + j] : 0;
        }
    }
    tile(t->steps, a, t->a_row, t->a_step, b, t->b_step, edge, WIDTH, t->go_on, ask);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            c[i * t->c_row + j] = edge[i * WIDTH + j];
        }
    }
}

/* Packs up to GROUP panels of a, from row i, into `to`. */
static void fn(pack_group)(const BLOCK *t, int64_t i, T *to)
{
    int64_t some = GROUP * t->height, left = t->rows - i;
    fn(pack)(to, t->height, left < some ? left : some, t->steps, t->raw_a + i * t->raw_a_row,
             t->raw_a_row, t->raw_a_col);
}

/* Computes a tile of c. If raw_b is not NULL, b is an empty panel, which is filled from raw_b. */
static void fn(one)(const BLOCK *t, hdk_ask ask, int64_t rows, int64_t cols, const T *a,
                    const T *raw_b, const T *b, T *c, const T *bias)
{
    TILE_LOOP tile = (cols > UNIT || !HALVES ? fn(tile) : fn(half))[rows];
    bool whole = raw_b && t->raw_b_col == 1 && cols == WIDTH;
    PACKING_LOOP packing = whole ? fn(packing)[rows] : NULL;
    if (raw_b && !packing) {
        fn(pack)((T *)b, WIDTH, cols, t->steps, raw_b, t->raw_b_col, t->raw_b_row);
    }
    if (packing) {
        packing(t->steps, a, t->a_row, t->a_step, raw_b, t->raw_b_row, (T *)b, c, t->c_row,
                t->go_on);
    } else if (cols % UNIT == 0) {
        tile(t->steps, a, t->a_row, t->a_step, b, t->b_step, c, t->c_row, t->go_on, ask);
    } else {
        fn(edge)(t, tile, ask, rows, cols, a, b, c);
    }
    if (bias) {
        fn(add_bias)(c, t->c_row, rows, cols, bias, t->bias_step);
    }
}

static void fn(tiles)(BLOCK *t)
{
    const T *a = t->a, *raw_b = t->raw_b;
    T *c = t->c;
    hdk_ask ask = raw_b ? HDK_ASK_NOTHING : HDK_ASK_B;
    for (int64_t i = 0; i < t->rows; i += t->height, a += t->a_panel, c += t->height * t->c_row) {
        int64_t rows = t->rows - i < t->height ? t->rows - i : t->height;
        if (t->raw_a && i % (GROUP * t->height) == 0) {
            fn(pack_group)(t, i, (T *)a);
        }
        const T *b = t->b;
        for (int64_t j = 0; j < t->cols; j += WIDTH, b += t->b_panel) {
            int64_t cols = t->cols - j < WIDTH ? t->cols - j : WIDTH;
            fn(one)(t, ask, rows, cols, a, raw_b ? raw_b + j * t->raw_b_col : NULL, b, c + j,
                    t->bias ? t->bias + j * t->bias_step : NULL);
        }
        raw_b = NULL;
        ask = t->far_c ? HDK_ASK_C : HDK_ASK_NOTHING;
    }
    t->raw_a = NULL;
}

/* ---------------------------------------------------------------- blocks */

/* Computes the block's columns from j on. Tiles read b in place if panels is NULL. Otherwise the
 * first row of tiles packs b into panels. */
static void fn(columns)(BLOCK *t, const hdk_product *p, int64_t step, int64_t j, T *panels)
{
    const T *b = (const T *)p->b + step * p->b_row + j * p->b_col;
    t->raw_b = panels ? b : NULL;
    t->b = panels ? panels : b;
    t->b_panel = panels ? WIDTH * t->steps : WIDTH;
    t->b_step = panels ? WIDTH : p->b_row;
    t->c += j;
    t->bias = p->bias && step + t->steps == p->k ? (const T *)p->bias + j * p->bias_step : NULL;
    fn(tiles)(t);
    t->c -= j;
}

/* Computes all columns of the block's rows. With `panels`, how->cols columns at a time are packed
 * there. If panels is NULL and b's columns are dense, tiles read whole UNITs of columns in place;
 * the remaining columns are packed into a panel on the stack, WIDTH at a time. */
static void fn(block_row)(BLOCK *t, const hdk_product *p, const hdk_blocking *how, int64_t step,
                          T *panels)
{
    T panel[WIDTH * SHALLOW];
    int64_t whole = p->n / UNIT * UNIT;
    for (int64_t j = 0; j < p->n; j += t->cols) {
        bool in_place = p->b_col == 1 && !panels && j < whole;
        int64_t most = in_place ? whole : panels ? how->cols : WIDTH;
        t->cols = p->n - j < most ? p->n - j : most;
        fn(columns)(t, p, step, j, in_place ? NULL : panels ? panels : panel);
    }
}

static void fn(run)(const hdk_product *p, const hdk_blocking *how, T *scratch)
{
    T *panels_a = how->pack_a ? scratch : NULL, *panels_b = NULL;
    if (how->pack_b) {
        panels_b = scratch + (how->pack_a ? how->room_a : 0);
    }
    BLOCK t = {.c_row = p->c_row,
               .raw_a_row = p->a_row,
               .raw_a_col = p->a_col,
               .raw_b_row = p->b_row,
               .raw_b_col = p->b_col,
               .bias_step = p->bias_step};
    t.far_c = p->m * p->n * (int64_t)sizeof(T) >= hd__start_second_cache;
    for (int64_t i = 0; i < p->m; i += t.rows) {
        t.rows = p->m - i < how->rows ? p->m - i : how->rows;
        t.height = hdk_evenly(t.rows, HDK_TILE_ROWS);
        t.c = (T *)p->c + i * p->c_row;
        for (int64_t step = 0; step < p->k; step += t.steps) {
            t.steps = p->k - step < how->depth ? p->k - step : how->depth;
            t.go_on = p->add || step > 0;
            t.a = (const T *)p->a + i * p->a_row + step * p->a_col;
            t.a_panel = t.height * p->a_row, t.a_row = p->a_row, t.a_step = p->a_col;
            if (panels_a) {
                t.raw_a = t.a;
                t.a = panels_a;
                t.a_panel = t.height * t.steps, t.a_row = 1, t.a_step = t.height;
            }
            fn(block_row)(&t, p, how, step, panels_b);
        }
    }
}

/* ---------------------------------------------------------------- small products */

/* Computes `some` neighbouring columns of c, from column j on, each element as one chain of
 * multiply-adds. */
HDK_INLINE void fn(chain)(const int some, const hdk_product *t, int64_t j)
{
    const int64_t k = t->k, a_col = t->a_col, b_row = t->b_row, b_col = t->b_col;
    const T *a = t->a, *b = (const T *)t->b + j * b_col;
    T *c = (T *)t->c + j;
    for (int64_t i = t->m; i > 0; i--, a += t->a_row, c += t->c_row) {
        const T *x = a, *y = b;
        T acc[8];
        HDK_UNROLL
        for (int r = 0; r < some; r++) {
            acc[r] = t->add ? c[r] : 0;
        }
        for (int64_t left = k; left > 0; left--, x += a_col, y += b_row) {
            HDK_UNROLL
            for (int r = 0; r < some; r++) {
                acc[r] = FMA(*x, y[r * b_col], acc[r]); /* heed-loop */
            }
        }
        HDK_UNROLL
        for (int r = 0; r < some; r++) {
            c[r] = acc[r];
        }
    }
}

static void fn(chains)(const hdk_product *t)
{
    int64_t j = 0;
    for (; j + 8 <= t->n; j += 8) {
        fn(chain)(8, t, j);
    }
    for (; j + 3 <= t->n; j += 3) {
        fn(chain)(3, t, j);
    }
    if (t->n - j == 2) {
        fn(chain)(2, t, j);
    } else if (t->n - j == 1) {
        fn(chain)(1, t, j);
    }
}

/* Computes c += x @ b, with x (steps,), b (steps, cols) and c (cols,). The elements of x lie x_step
 * apart. */
HDK_INLINE void fn(add_rows)(const int steps, int64_t cols, const T *x, int64_t x_step, const T *b,
                             int64_t b_row, T *c)
{
    int64_t j = 0;
    for (; j + VECTOR <= cols; j += VECTOR) {
        V y = fn(vload)(c + j);
        HDK_UNROLL
        for (int q = 0; q < steps; q++) {
            V u = fn(vall)(x[q * x_step]);
            y = fn(vmuladd)(u, fn(vload)(b + q * b_row + j), y); /* heed-loop */
        }
        fn(vstore)(c + j, y);
    }
    for (; j < cols; j++) {
        for (int q = 0; q < steps; q++) {
            c[j] = FMA(x[q * x_step], b[q * b_row + j], c[j]); /* heed-loop */
        }
    }
}

/* For fn(rows): adds the products of `steps` steps to `cols` columns of c, in tiles if c has more
 * than three rows. The columns that no tile covers are computed one row of c at a time. */
static void fn(some_steps)(const hdk_product *p, int64_t steps, int64_t cols, const T *a,
                           const T *b, T *c)
{
    int64_t whole = p->m > 3 ? cols / UNIT * UNIT : 0, height = hdk_evenly(p->m, HDK_TILE_ROWS);
    BLOCK t = {.rows = p->m,
               .height = height,
               .cols = whole,
               .steps = steps,
               .a = a,
               .a_panel = height * p->a_row,
               .a_row = p->a_row,
               .a_step = p->a_col,
               .b = b,
               .b_panel = WIDTH,
               .b_step = p->b_row,
               .c = c,
               .c_row = p->c_row,
               .go_on = true};
    fn(tiles)(&t);
    for (int64_t i = 0; i < p->m && whole < cols; i++, a += p->a_row, c += p->c_row) {
        if (steps == STREAMS) {
            fn(add_rows)(STREAMS, cols - whole, a, p->a_col, b + whole, p->b_row, c + whole);
            continue;
        }
        for (int64_t r = 0; r < steps; r++) {
            fn(add_rows)(1, cols - whole, a + r * p->a_col, p->a_col, b + r * p->b_row + whole,
                         p->b_row, c + whole);
        }
    }
}

/* Computes c = a @ b for few rows of a and dense rows of b. Reads each row of b once, STREAMS of
 * them side by side, as fast as memory delivers them. */
static void fn(rows)(const hdk_product *p)
{
    enum { SPAN = 4096 / sizeof(T) };
    for (int64_t i = 0; i < p->m && !p->add; i++) {
        memset((T *)p->c + i * p->c_row, 0, (size_t)p->n * sizeof(T));
    }
    for (int64_t q = 0; q < p->k; q += STREAMS) {
        int64_t steps = p->k - q < STREAMS ? p->k - q : STREAMS;
        for (int64_t j = 0; j < p->n; j += SPAN) {
            fn(some_steps)(p, steps, p->n - j < SPAN ? p->n - j : SPAN,
                           (const T *)p->a + q * p->a_col, (const T *)p->b + q * p->b_row + j,
                           (T *)p->c + j);
        }
    }
}

/* Computes the dot of two long dense vectors, in CHAINS chains. */
static void fn(long_dot)(const hdk_product *p)
{
    enum { CHAINS = 64 };
    const T *a = p->a, *b = p->b, *end = a + p->k;
    T chain[CHAINS] = {0}, *c = p->c, sum = p->add ? *c : 0;
    for (; end - a >= CHAINS; a += CHAINS, b += CHAINS) {
        for (int l = 0; l < CHAINS; l++) {
            chain[l] = FMA(a[l], b[l], chain[l]); /* heed-loop */
        }
    }
    for (; a < end; a++, b++) {
        sum = FMA(*a, *b, sum); /* heed-loop */
    }
    for (int l = 0; l < CHAINS; l++) {
        sum += chain[l];
    }
    *c = sum;
}

/* Computes c for k <= 1. There is no sum, so a product of -0 stays -0. For k = 0, c is -0, so that
 * adding bias gives bias. */
static void fn(outer)(const hdk_product *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        const T x = p->k > 0 ? ((const T *)p->a)[i * p->a_row] : 0, *b = p->b;
        T *restrict c = (T *)p->c + i * p->c_row;
        if (p->k == 0) {
            for (int64_t j = 0; j < p->n; j++) {
                c[j] = -(T)0;
            }
        } else if (p->b_col == 1) {
            for (int64_t j = 0; j < p->n; j++) {
                c[j] = x * b[j]; /* heed-loop */
            }
        } else {
            for (int64_t j = 0; j < p->n; j++) {
                c[j] = x * b[j * p->b_col]; /* heed-loop */
            }
        }
    }
}

/* Returns the function that computes p, or NULL for tiles. Every path gives p->order's bits.
 *
 *     order of sums   shape and layout           path        because
 *     one step        any                        outer       there is no sum
 *     long dot        two dense vectors          long_dot    a chain's steps wait for each other
 *     split           few rows, dense columns    split       one chain would leave memory idle
 *     chain           few multiplications        chains      a tile would cost more
 *     chain           few rows, dense rows of b  rows        memory is read once, in its order
 *     chain           any other                  tiles       panels are read from the caches
 *
 * Exception: 5 to 8 rows take tiles if b fits in the caches and a tile has room for 8 rows. Tiles
 * are then faster than the path rows, and twice as fast on 2 threads. */
static hdk_path fn(path_of)(const hdk_product *p)
{
    switch (p->order) {
    case HDK_ONE_STEP: return fn(outer);
    case HDK_LONG_DOT: return fn(long_dot);
    case HDK_SPLIT: return fn(split);
    case HDK_CHAIN: break;
    }
    if (p->k == 0 || p->m * p->n * p->k <= TILE_WORTH || (p->m < 4 && p->n < VECTOR)) {
        return fn(chains);
    }
    bool in_caches = p->k * p->n * (int64_t)sizeof(T) <= HDK_STREAM_BYTES;
    bool one_tile = p->m > 4 && HDK_TILE_ROWS >= HDK_SPLIT_ROWS; /* a tile has room for 8 rows */
    bool few = p->m <= HDK_SPLIT_ROWS && p->b_col == 1 && !(one_tile && in_caches);
    return few ? fn(rows) : NULL; /* NULL means tiles */
}

static void fn(product)(const hdk_product *p, void *scratch)
{
    hdk_product turned;
    if (p->n == 1 && p->c_row == 1 && p->m > 1) { /* c^T = b^T @ a^T has one row, not one column */
        turned = hdk_turned(p);
        p = &turned;
    }
    const hdk_path path = fn(path_of)(p);
    if (!path) {
        hdk_blocking how = hdk_plan(p, WIDTH, DEPTH, scratch);
        fn(run)(p, &how, scratch);
        return;
    }
    path(p);
    if (p->bias) {
        fn(add_bias)(p->c, p->c_row, p->m, p->n, p->bias, p->bias_step);
    }
}

static int64_t fn(room)(const hdk_product *p)
{
    hdk_blocking how = hdk_plan(p, WIDTH, DEPTH, true);
    return (how.room_a + how.room_b) * (int64_t)sizeof(T);
}

/* Names: copy_lanes_f32 copy_lanes_f64 pack_any_f32 pack_any_f64 pack_steps_f32 pack_steps_f64
 * pack_step_f32 pack_step_f64 pack_f32 pack_f64 add_bias_f32 add_bias_f64 edge_f32 edge_f64
 * pack_group_f32 pack_group_f64 one_f32 one_f64 tiles_f32 tiles_f64 columns_f32 columns_f64
 * block_row_f32 block_row_f64 run_f32 run_f64 chain_f32 chain_f64 chains_f32 chains_f64
 * add_rows_f32 add_rows_f64 some_steps_f32 some_steps_f64 rows_f32 rows_f64 long_dot_f32
 * long_dot_f64 outer_f32 outer_f64 path_of_f32 path_of_f64 product_f32 product_f64 room_f32
 * room_f64 */
