/* product.c - batched matrix products c = a @ b of tensors of any strides, a (m, k) and b (k, n).
 *
 * If the strides allow it, a batch dim becomes part of the rows m (if b is the same along it) or of
 * the inner size k (if it is summed over). So a Linear over x (batch, time, in) is one product, and
 * so is the gradient of its weight. The remaining work is divided evenly among the threads, in
 * whole matrices or in cells, which are rectangles of c. Every thread packs into scratch of its
 * own. */
#include "base/threads/pool.h"
#include "tensor/dtype.h"
#include "tensor/product.h"

#include "tensor/kernels/copy.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/gemm.h"

enum {
    PRODUCT_GRAIN = 65536, /* each of several threads gets at least this many multiplications */
    PACKING = 6, /* packing a row or column of a cell costs as much as this many elements of c */
    /* With this many matrices for each thread, no matrix is cut, even if some threads get more than
     * others. */
    EVEN_ENOUGH = 4,
    /* Of two cuts that cost the same, the one with more cells from top to bottom is faster if c has
     * at most FEW_COLUMNS columns and the rows of b are dense. */
    FEW_COLUMNS = 256,
    LONG_DOT = 1 << 17, /* the threads share a dot product of at least this many elements */
    DOT_PARTS = 8,
    /* A bfloat16 b is widened to float32 in parts of at most WIDE_FEW elements if a has at most
     * HDK_SPLIT_ROWS rows, and WIDE_MANY elements otherwise. Without scratch, a part has WIDE_LEAST
     * elements. */
    WIDE_FEW = 1 << 14,
    WIDE_MANY = 1 << 18,
    WIDE_LEAST = 1 << 12,
    WIDE_LINES = 32 /* a part has at least this many dense rows or columns, if b has as many */
};

enum { A, B, C }; /* the operands of a walk over batches */

typedef struct product_task {
    hdk_product one; /* the first product of the batch, before it is cut into cells */
    int dtype;
    int64_t bytes, b_bytes; /* bytes of an element of a and of c; bytes of an element of b */
    bool widens;            /* b is bfloat16, and is widened to float32 in parts */
    int64_t wide;           /* elements of scratch for a widened part of b */
    int64_t steps, span;    /* number of rows and columns of a widened part of b */
    hd__dims batch, summed; /* batch dims that c has; batch dims that are summed over */
    int64_t rows, cols;     /* size of a cell; the last cells may be smaller */
    int64_t down, across; /* numbers of cells of one matrix, from top to bottom and left to right */
    int64_t cells;        /* number of cells of all matrices */
    int pieces;           /* number of tasks, each a range of cells */
    char *scratch;        /* `room` bytes for each piece; NULL if room is 0 or memory ran out */
    int64_t room;
} product_task;

/* ---------------------------------------------------------------- matrices */

hd__product_matrix hd__product_matrix_result(const hd_tensor *y, bool no_rows, bool no_cols)
{
    hd__product_matrix m = {y, 1, 1, 0, 0, y->ndim};
    if (!no_cols) {
        m.batch--;
        m.cols = y->sizes[m.batch];
        m.col = y->strides[m.batch];
    }
    if (!no_rows) {
        m.batch--;
        m.rows = y->sizes[m.batch];
        m.row = y->strides[m.batch];
    }
    return m;
}

bool hd__product_dtypes(const char *a_name, const hd_tensor *a, const char *b_name,
                        const hd_tensor *b)
{
    return hd__tensor_one_dtype(a_name, a, b_name, b) && hd__tensor_number_dtype(a->dtype);
}

/* ---------------------------------------------------------------- batches */

/* Makes `dim`, a batch dim, part of p's rows or, if it is summed over, of p's inner size k. If the
 * strides do not allow it, changes nothing and returns false without an error. */
static bool absorb(hdk_product *p, int64_t bytes, const hd__dims_axis *dim)
{
    bool summed = dim->stride[C] == 0;
    int64_t *size = summed ? &p->k : &p->m, *other = summed ? &p->b_row : &p->c_row;
    int64_t *a = summed ? &p->a_col : &p->a_row;
    hd__dims_axis own = {*size, {*a * bytes, *other * bytes}};
    hd__dims_axis next = {dim->size, {dim->stride[A], dim->stride[summed ? B : C]}};
    if (!summed && dim->stride[B] != 0) {
        return false;
    }
    if (*size == 1) {
        *a = next.stride[0] / bytes;
        *other = next.stride[1] / bytes;
    } else if (!hd__dims_join(&own, &next, 2)) {
        return false;
    }
    *size *= dim->size;
    return true;
}

static int64_t batch_size(const hd__product_matrix *x, int d)
{
    return d < 0 ? 1 : x->t->sizes[d];
}

/* Makes each batch dim a part of t->one if its strides allow it (absorb). Puts the others into
 * t->batch or t->summed. */
static void sort_batches(product_task *t, const hd__product_matrix *a, const hd__product_matrix *b,
                         const hd__product_matrix *c)
{
    for (int da = a->batch - 1, db = b->batch - 1, dc = c->batch - 1; da >= 0 || db >= 0;
         da--, db--, dc--) {
        int64_t size = batch_size(a, da) == 1 ? batch_size(b, db) : batch_size(a, da);
        hd__dims_axis dim = {size,
                             {hd__dims_stride_over(a->t, da, size) * t->bytes,
                              hd__dims_stride_over(b->t, db, size) * t->bytes,
                              hd__dims_stride_over(c->t, dc, size) * t->bytes}};
        if (size == 0) { /* the sum is empty */
            t->one.k = 0;
        } else if (size != 1 && !absorb(&t->one, t->bytes, &dim)) {
            hd__dims_append(dim.stride[C] == 0 ? &t->summed : &t->batch, &dim);
        }
    }
}

/* ---------------------------------------------------------------- cells */

static const void *moved(const void *p, int64_t bytes)
{
    return p ? (const char *)p + bytes : NULL;
}

static int64_t ceil_div(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* Sets *steps and *cols to the numbers of rows and columns of b that are widened at a time. This
 * part of b fits into `room` elements. It has whole dense lines (rows or columns) of b, or pieces
 * of lines if fewer than WIDE_LINES would fit. Products of the order HDK_SPLIT are not cut, because
 * their sums cannot continue from part to part. */
static void widened_at_once(const hdk_product *p, int64_t room, int64_t *steps, int64_t *cols)
{
    const int64_t part = room / WIDE_LINES;
    *steps = p->k < part ? p->k : part;
    *cols = room / (*steps ? *steps : 1) / WIDE_LINES * WIDE_LINES;
    if (p->b_col == 1) {
        *cols = p->n < part ? p->n : part;
        *steps = p->k < room / *cols ? p->k : room / *cols;
    }
    *cols = *cols < p->n ? *cols : p->n;
    *steps += *steps == 0; /* at least 1, even if k is 0 */
}

/* Widens the rows [q, q + part->k) and the columns [j, j + part->n) of b into `to`, and makes `to`
 * the b of `part`. */
static void widen_part(const hdk_product *p, hdk_product *part, int64_t q, int64_t j, float *to)
{
    const bool by_rows = p->b_col == 1;
    const int64_t lines = by_rows ? part->k : part->n, len = by_rows ? part->n : part->k;
    const int64_t line = by_rows ? p->b_row : p->b_col, next = by_rows ? 1 : p->b_row;
    const uint16_t *from = (const uint16_t *)p->b + q * p->b_row + j * p->b_col;
    const int64_t strides[] = {sizeof *to, next * (int64_t)sizeof *from};
    for (int64_t l = 0; l < lines; l++) {
        hdk_convert(HD_FLOAT32, HD_BFLOAT16)(
            (char *[]){(char *)(to + l * len), (char *)(uintptr_t)(from + l * line)}, strides, len,
            NULL);
    }
    part->b = to;
    part->b_row = by_rows ? len : 1;
    part->b_col = by_rows ? 1 : len;
}

/* Computes a product whose b is bfloat16. The result has the same bits as for b converted to
 * float32. */
static void run_widened(const product_task *t, const hdk_product *p, char *scratch)
{
    float few[WIDE_LEAST];
    float *to = scratch ? (float *)scratch : few;
    int64_t steps = t->steps, cols = t->span, q;
    if (p->order == HDK_SPLIT) {
        hdk_gemm()->bf16(p);
        return;
    }
    if (scratch) {
        scratch += t->wide * (int64_t)sizeof *to;
    } else {
        widened_at_once(p, WIDE_LEAST, &steps, &cols);
    }
    for (int64_t j = 0; j < p->n; j += cols) {
        hdk_product part = *p;
        part.n = p->n - j < cols ? p->n - j : cols;
        part.c = (float *)p->c + j;
        q = 0;
        do {
            part.k = p->k - q < steps ? p->k - q : steps;
            widen_part(p, &part, q, j, to);
            part.a = moved(p->a, q * p->a_col * t->bytes);
            part.bias = q + part.k == p->k ? moved(p->bias, j * p->bias_step * t->bytes) : NULL;
            hdk_gemm()->product[HD_FLOAT32](&part, scratch);
            part.add = true;
            q += part.k;
        } while (q < p->k);
    }
}

static void run_product(const product_task *t, const hdk_product *p, void *scratch)
{
    if (t->widens) {
        run_widened(t, p, scratch);
    } else {
        hdk_gemm_for(t->dtype)->product[t->dtype](p, scratch);
    }
}

/* Returns the bytes of scratch for the largest cell, or 0 if it needs none. If b is widened, also
 * sets t->wide, t->steps and t->span, the size of its parts. */
static int64_t room_for(product_task *t)
{
    hdk_product largest = t->one;
    largest.m = t->rows;
    largest.n = t->cols;
    int64_t (*const room)(const hdk_product *) = hdk_gemm_for(t->dtype)->room[t->dtype];
    if (!t->widens) {
        return room(&largest);
    }
    if (largest.order == HDK_SPLIT) {
        return 0;
    }
    int64_t all = ceil_div(largest.n * largest.k, 64) * 64;
    t->wide = largest.m <= HDK_SPLIT_ROWS ? WIDE_FEW : WIDE_MANY;
    t->wide = all < WIDE_LEAST ? WIDE_LEAST : all < t->wide ? all : t->wide;
    widened_at_once(&largest, t->wide, &t->steps, &t->span);
    int64_t rest = largest.k % t->steps, most;
    largest.n = t->span;
    largest.k = t->steps;
    most = room(&largest);
    largest.k = rest; /* the last part has fewer steps, but may need more scratch */
    rest = room(&largest);
    return (most > rest ? most : rest) + t->wide * (int64_t)sizeof(float);
}

/* Computes one cell of c as the sum of the products over all indices of the batch dims
 * t->summed. */
static void run_summed(const product_task *t, const hdk_product *cell, void *scratch)
{
    hdk_product p = *cell;
    hd__dims_place at;
    hd__dims_seek(&t->summed, 0, &at);
    do {
        p.a = moved(cell->a, at.offset[A]);
        p.b = moved(cell->b, at.offset[B]);
        run_product(t, &p, scratch);
        p.add = true;
    } while (hd__dims_next(&t->summed, 0, &at));
}

static void run_cell(const product_task *t, int64_t cell, void *scratch)
{
    hdk_product p = t->one;
    hd__dims_place at;
    int64_t rest = cell / t->across, matrix = rest / t->down;
    int64_t j = (cell - rest * t->across) * t->cols, i = (rest - matrix * t->down) * t->rows;
    hd__dims_seek(&t->batch, matrix, &at);
    p.a = moved(p.a, at.offset[A] + i * p.a_row * t->bytes);
    p.b = moved(p.b, at.offset[B] + j * p.b_col * t->b_bytes);
    p.c = (char *)p.c + at.offset[C] + (i * p.c_row + j) * t->bytes;
    p.bias = moved(p.bias, j * p.bias_step * t->bytes);
    p.m = p.m - i < t->rows ? p.m - i : t->rows;
    p.n = p.n - j < t->cols ? p.n - j : t->cols;
    run_summed(t, &p, scratch);
}

static void run_piece(int piece, void *arg)
{
    const product_task *t = arg;
    int64_t begin = t->cells * piece / t->pieces, end = t->cells * (piece + 1) / t->pieces;
    for (int64_t cell = begin; cell < end; cell++) {
        run_cell(t, cell, t->scratch ? t->scratch + piece * t->room : NULL);
    }
}

/* Cuts each matrix into at most `cells` cells, so that the largest cell costs as little as
 * possible. Sets the cells' size and number in t. The width of a cell is a multiple of a tile's
 * width, except at the right edge. The cost of a cell includes the packing of its rows and
 * columns. */
static void cut_matrices(product_task *t, int64_t cells)
{
    int64_t m = t->one.m, n = t->one.n, unit = hdk_gemm()->tile_cols, best = INT64_MAX;
    bool by_rows = n <= FEW_COLUMNS && t->one.b_col == 1;
    for (int64_t down = 1; down <= cells; down++) {
        int64_t rows = ceil_div(m, down), cols = ceil_div(ceil_div(n, unit), cells / down) * unit;
        int64_t cost = rows * cols + PACKING * (rows + cols);
        if (cells % down == 0 && (cost < best || (by_rows && cost == best))) {
            best = cost;
            t->rows = rows;
            t->cols = cols < n ? cols : n;
        }
    }
    t->down = ceil_div(m, t->rows);
    t->across = ceil_div(n, t->cols);
}

static void deal(product_task *t)
{
    int64_t matrices = hd__dims_count(&t->batch);
    int64_t k = (t->one.k > 0 ? t->one.k : 1) * hd__dims_count(&t->summed);
    int64_t worth = t->one.m * t->one.n * k / PRODUCT_GRAIN * matrices,
            width = hd__parallel_width();
    width = worth < width ? worth : width;
    bool whole = width < 2 || matrices % width == 0 || matrices >= EVEN_ENOUGH * width;
    cut_matrices(t, whole ? 1 : width);
    t->cells = matrices * t->down * t->across;
    t->pieces = (int)(width < 1 ? 1 : width < t->cells ? width : t->cells);
}

/* True if PyTorch's matrix product with k <= 1 can give -0 (not +0). With a bias it always can.
 * Without a bias it can if all of this holds: k is 1, at most one factor has a batch, a has more
 * than one row (its batch counts as rows), b has more than one column (its batch counts as
 * columns). */
static bool keeps_signed_zero(const hd__product_matrix *a, const hd__product_matrix *b, bool bias)
{
    int64_t of_a = hd__tensor_count_of(a->batch, a->t->sizes),
            of_b = hd__tensor_count_of(b->batch, b->t->sizes);
    bool single = a->batch == 0 || b->batch == 0;
    return bias || (a->cols == 1 && single && of_a * a->rows > 1 && of_b * b->cols > 1);
}

/* Returns the order in which the products of an element are summed. It depends on the whole
 * product, not on cells and threads, so the result does not depend on them either. If b is a batch
 * of matrices, each element is one sum over all steps, in order. So attention that is written as
 * two products gives the same bits as fused attention of at most HD__FEW_KEYS keys. */
static hdk_order order_of_sums(const product_task *t, const hd__product_matrix *a,
                               const hd__product_matrix *b, const hd__product_matrix *c, bool bias)
{
    const hdk_product *p = &t->one;
    const bool dense = p->a_col == 1 && p->b_row == 1;
    const int64_t lanes = p->n == 1 ? p->m : p->n; /* number of rows of a, or of columns of b */
    if (p->k <= 1) {
        return t->summed.ndim == 0 && keeps_signed_zero(a, b, bias) ? HDK_ONE_STEP : HDK_CHAIN;
    }
    if (c->t->ndim == 0 && dense && p->k >= HDK_LONG) {
        return HDK_LONG_DOT;
    }
    bool split = b->batch == 0 && p->k >= HDK_SPLIT_STEPS && dense &&
                 (p->m <= HDK_SPLIT_ROWS || p->n == 1) && lanes > HDK_SPLIT_ELEMENTS / p->k;
    return split ? HDK_SPLIT : HDK_CHAIN;
}

/* Sets the strides of dims of size 1 to 0. Such a stride may have any value, so an offset
 * computed from it could overflow. */
static void clear_strides(hdk_product *p)
{
    p->a_row = p->m > 1 ? p->a_row : 0;
    p->b_col = p->n > 1 ? p->b_col : 0;
    p->a_col = p->k > 1 ? p->a_col : 0;
    p->b_row = p->k > 1 ? p->b_row : 0;
}

/* ---------------------------------------------------------------- dot products of long vectors */

typedef struct dot_parts {
    const hdk_product *whole;
    int dtype;
    int64_t bytes, len; /* bytes of an element; number of elements of a part */
    int64_t sums[DOT_PARTS];
} dot_parts;

static void run_dots(int64_t begin, int64_t end, void *arg)
{
    dot_parts *d = arg;
    for (int64_t i = begin; i < end; i++) {
        hdk_product p = *d->whole;
        p.a = moved(p.a, i * d->len * d->bytes);
        p.b = moved(p.b, i * d->len * d->bytes);
        p.c = &d->sums[i];
        p.k = i < DOT_PARTS - 1 ? d->len : p.k - i * d->len;
        hdk_gemm_for(d->dtype)->product[d->dtype](&p, NULL);
    }
}

/* Sets p's c to the dot product of two long vectors. It is computed in DOT_PARTS parts, whatever
 * the number of threads, and the sums of the parts are added in order. */
static void dot_in_parts(const hdk_product *p, int dtype)
{
    dot_parts d = {p, dtype, hd__tensor_bytes_of(dtype),
                   .len = ceil_div(p->k, 64 * DOT_PARTS) * 64};
    hdk_loop add = hdk_binary_loop(HDK_ADD, dtype);
    hd__parallel_for(DOT_PARTS, 1, run_dots, &d);
    memcpy(p->c, &d.sums[0], (size_t)d.bytes);
    for (int i = 1; i < DOT_PARTS; i++) {
        add((char *[]){p->c, p->c, (char *)&d.sums[i]}, (int64_t[]){d.bytes, d.bytes, d.bytes}, 1,
            NULL);
    }
}

void hd__product(hd__product_matrix a, hd__product_matrix b, hd__product_matrix c,
                 const hd_tensor *bias)
{
    product_task t;
    if (c.t->numel == 0) {
        return;
    }
    t.one = (hdk_product){.m = a.rows,
                          .n = b.cols,
                          .k = a.cols,
                          .a = hd__tensor_ptr(a.t),
                          .b = hd__tensor_ptr(b.t),
                          .c = hd__tensor_ptr(c.t),
                          .a_row = a.row,
                          .a_col = a.col,
                          .b_row = b.row,
                          .b_col = b.col,
                          .c_row = c.row};
    if (bias) {
        t.one.bias = hd__tensor_ptr(bias);
        t.one.bias_step = bias->strides[0];
    }
    t.dtype = c.t->dtype;
    t.bytes = hd__tensor_bytes_of(t.dtype);
    t.b_bytes = hd__tensor_bytes_of(b.t->dtype);
    t.widens = b.t->dtype == HD_BFLOAT16;
    t.batch.n = t.summed.n = 3;
    t.batch.ndim = t.summed.ndim = 0;
    sort_batches(&t, &a, &b, &c);
    HD__FLOP(2 * t.one.m * t.one.n * t.one.k * hd__dims_count(&t.batch) *
             hd__dims_count(&t.summed));
    clear_strides(&t.one);
    t.one.order = order_of_sums(&t, &a, &b, &c, bias);
    if (t.one.order == HDK_LONG_DOT && t.one.k >= LONG_DOT) {
        dot_in_parts(&t.one, t.dtype);
        return;
    }
    if (t.batch.ndim == 0 && t.summed.ndim == 0 && t.one.m * t.one.n * t.one.k <= PRODUCT_GRAIN) {
        run_product(&t, &t.one, NULL);
        return;
    }
    deal(&t);
    t.room = ceil_div(room_for(&t), 64) * 64;
    t.scratch = t.room > 0 ? hd__mem_alloc(t.room * t.pieces) : NULL;
    hd__parallel(t.pieces, run_piece, &t);
    hd_free(t.scratch);
}
