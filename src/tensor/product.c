/* product.c - batched matrix products between tensors of any strides.
 *
 * A batch dim becomes part of the rows (b is the same for all of it) or of the inner size (it is
 * summed over) where the strides allow it: a Linear over (b, t, in) is one product, and so is the
 * gradient of its weight. What remains is dealt evenly to the threads, in whole matrices or in
 * cells of a grid over each; every thread packs what it needs into scratch of its own. */
#include "tensor/product.h"

#include "tensor/kernels/gemm.h"

enum {
    GRAIN = 65536,  /* multiplications worth a thread */
    PACKING = 6,    /* packing a row or column of a cell takes as long as so many elements of c */
    EVEN_ENOUGH = 4 /* matrices a thread from which on they are dealt whole, if unevenly */
};

typedef struct batch_dim {
    int64_t size, a, b, c; /* strides in elements; c 0: summed over */
} batch_dim;

typedef struct task {
    hdk_product one; /* the first of the batch, whole */
    int dtype;
    int64_t bytes;        /* an element */
    int n_kept, n_summed; /* dims, innermost first */
    batch_dim kept[HD_MAX_DIMS], summed[HD_MAX_DIMS];
    int64_t rows, cols;   /* of a cell; those at the end may be smaller */
    int64_t down, across; /* cells of one matrix */
    int64_t cells;        /* of all matrices */
    int pieces;
    char *scratch; /* for each piece, or NULL */
    int64_t room;  /* bytes of it */
} task;

/* ---------------------------------------------------------------- matrices */

hd__matrix hd__matrix_result(const hd_tensor *y, bool no_rows, bool no_cols)
{
    hd__matrix m = {y, 1, 1, 0, 0, y->ndim};
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

bool hd__product_dtypes(const char *function, const hd_tensor *a, const hd_tensor *b)
{
    if (a->dtype != b->dtype) {
        hd_error_set(HD_DTYPE, "%s: %s and %s: expected one dtype", function,
                     hd_dtype_name(a->dtype), hd_dtype_name(b->dtype));
        return false;
    }
    if (a->dtype == HD_BOOL) {
        hd_error_set(HD_DTYPE, "%s: bool: expected float32, float64 or int64", function);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- batches */

/* Makes d part of c's rows or of the inner size, if its strides go on from theirs. */
static bool absorb(hdk_product *p, const batch_dim *d)
{
    if (d->c == 0) {
        if (p->k == 1) {
            p->a_col = d->a;
            p->b_row = d->b;
        } else if (d->a != p->k * p->a_col || d->b != p->k * p->b_row) {
            return false;
        }
        p->k *= d->size;
        return true;
    }
    if (d->b != 0) {
        return false;
    }
    if (p->m == 1) {
        p->a_row = d->a;
        p->c_row = d->c;
    } else if (d->a != p->m * p->a_row || d->c != p->m * p->c_row) {
        return false;
    }
    p->m *= d->size;
    return true;
}

/* The stride of batch dim d, counted from the innermost; 0 where x repeats itself or lacks it. */
static int64_t batch_stride(const hd__matrix *x, int d)
{
    int at = x->batch - 1 - d;
    return at < 0 || x->t->sizes[at] == 1 ? 0 : x->t->strides[at];
}

static int64_t batch_size(const hd__matrix *x, int d)
{
    int at = x->batch - 1 - d;
    return at < 0 ? 1 : x->t->sizes[at];
}

static void sort_batches(task *t, const hd__matrix *a, const hd__matrix *b, const hd__matrix *c)
{
    int n = a->batch > b->batch ? a->batch : b->batch;
    for (int d = 0; d < n; d++) {
        batch_dim dim = {.a = batch_stride(a, d), .b = batch_stride(b, d), .c = batch_stride(c, d)};
        dim.size = batch_size(a, d) == 1 ? batch_size(b, d) : batch_size(a, d);
        if (dim.size == 0 && dim.c == 0) { /* a sum of nothing */
            t->one.k = 0;
        } else if (dim.size != 1 && !absorb(&t->one, &dim)) {
            if (dim.c == 0) {
                t->summed[t->n_summed++] = dim;
            } else {
                t->kept[t->n_kept++] = dim;
            }
        }
    }
}

/* ---------------------------------------------------------------- cells */

static const void *move(const void *p, int64_t elements, int64_t bytes)
{
    return p ? (const char *)p + elements * bytes : NULL;
}

/* One cell of c, over all matrices that are summed into it. */
static void run_summed(const task *t, hdk_product p, void *scratch)
{
    int64_t at[HD_MAX_DIMS] = {0};
    int d;
    do {
        hdk_gemm_for(t->dtype)->product[t->dtype](&p, scratch);
        p.add = true;
        for (d = 0; d < t->n_summed; d++) {
            const batch_dim *dim = &t->summed[d];
            bool carry = ++at[d] == dim->size;
            p.a = move(p.a, carry ? dim->a * (1 - dim->size) : dim->a, t->bytes);
            p.b = move(p.b, carry ? dim->b * (1 - dim->size) : dim->b, t->bytes);
            if (!carry) {
                break;
            }
            at[d] = 0;
        }
    } while (d < t->n_summed);
}

static void run_cell(const task *t, int64_t cell, void *scratch)
{
    hdk_product p = t->one;
    int64_t rest = cell, a = 0, b = 0, c = 0;
    int64_t j = rest % t->across * t->cols;
    rest /= t->across;
    int64_t i = rest % t->down * t->rows;
    rest /= t->down;
    for (int d = 0; d < t->n_kept; d++) {
        int64_t at = rest % t->kept[d].size;
        rest /= t->kept[d].size;
        a += at * t->kept[d].a;
        b += at * t->kept[d].b;
        c += at * t->kept[d].c;
    }
    p.a = move(p.a, a + i * p.a_row, t->bytes);
    p.b = move(p.b, b + j * p.b_col, t->bytes);
    p.c = (char *)p.c + (c + i * p.c_row + j) * t->bytes;
    p.bias = move(p.bias, j * p.bias_step, t->bytes);
    p.m = p.m - i < t->rows ? p.m - i : t->rows;
    p.n = p.n - j < t->cols ? p.n - j : t->cols;
    run_summed(t, p, scratch);
}

static void run_piece(int piece, void *arg)
{
    const task *t = arg;
    int64_t begin = t->cells * piece / t->pieces, end = t->cells * (piece + 1) / t->pieces;
    for (int64_t cell = begin; cell < end; cell++) {
        run_cell(t, cell, t->scratch ? t->scratch + piece * t->room : NULL);
    }
}

static int64_t ceil_div(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* Cuts each matrix into at most `cells`, such that the largest costs least: whole tiles wide, and
 * not so long that packing its rows and columns would take much. */
static void cut(task *t, int64_t cells)
{
    int64_t m = t->one.m, n = t->one.n, unit = hdk_gemm()->tile_cols, best = INT64_MAX;
    for (int64_t down = 1; down <= cells; down++) {
        int64_t rows = ceil_div(m, down), cols = ceil_div(ceil_div(n, unit), cells / down) * unit;
        int64_t cost = rows * cols + PACKING * (rows + cols);
        if (cells % down == 0 && cost < best) {
            best = cost;
            t->rows = rows;
            t->cols = cols < n ? cols : n;
        }
    }
    t->down = ceil_div(m, t->rows);
    t->across = ceil_div(n, t->cols);
}

/* Deals the work to as many threads as it is worth. */
static void deal(task *t)
{
    int64_t matrices = 1, k = t->one.k > 0 ? t->one.k : 1;
    for (int d = 0; d < t->n_kept; d++) {
        matrices *= t->kept[d].size;
    }
    for (int d = 0; d < t->n_summed; d++) {
        k *= t->summed[d].size;
    }
    int64_t worth = t->one.m * t->one.n * k / GRAIN * matrices, width = hd__parallel_width();
    width = worth < width ? worth : width;
    bool whole = width < 2 || matrices % width == 0 || matrices >= EVEN_ENOUGH * width;
    cut(t, whole ? 1 : width);
    t->cells = matrices * t->down * t->across;
    t->pieces = (int)(width < 1 ? 1 : width < t->cells ? width : t->cells);
}

void hd__product(hd__matrix a, hd__matrix b, hd__matrix c, const hd_tensor *bias)
{
    task t;
    if (c.t->numel == 0) {
        return;
    }
    t.one = (hdk_product){.m = a.rows,
                          .n = b.cols,
                          .k = a.cols,
                          .a = hd__ptr(a.t),
                          .b = hd__ptr(b.t),
                          .c = hd__ptr(c.t),
                          .a_row = a.row,
                          .a_col = a.col,
                          .b_row = b.row,
                          .b_col = b.col,
                          .c_row = c.row,
                          .dot = c.t->ndim == 0};
    if (bias) {
        t.one.bias = hd__ptr(bias);
        t.one.bias_step = bias->strides[0];
    }
    t.dtype = c.t->dtype;
    t.n_kept = t.n_summed = 0;
    sort_batches(&t, &a, &b, &c);
    if (t.n_kept == 0 && t.n_summed == 0 && t.one.m * t.one.n * t.one.k <= GRAIN) {
        hdk_gemm_for(t.dtype)->product[t.dtype](&t.one, NULL);
        return;
    }
    t.bytes = hd_dtype_size(t.dtype);
    deal(&t);
    hdk_product largest = t.one;
    largest.m = t.rows;
    largest.n = t.cols;
    t.room = ceil_div(hdk_gemm_for(t.dtype)->room[t.dtype](&largest), 64) * 64;
    t.scratch = t.room > 0 ? hd__alloc(t.room * t.pieces) : NULL;
    hd__parallel(t.pieces, run_piece, &t);
    hd_free(t.scratch);
}
