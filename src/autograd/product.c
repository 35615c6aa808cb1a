/* product.c - batched matrix products between tensors of any strides.
 *
 * A batch dim becomes part of the rows (b is the same for all of it) or of the inner size (it is
 * summed over) where the strides allow it: a Linear over (b, t, in) is one product, and so is the
 * gradient of its weight. What remains is cut into blocks of c, which no two threads share. */
#include "autograd/product.h"

#include "tensor/kernels/gemm.h"

enum { BLOCK_ROWS = 240, BLOCK_COLS = 128, GRAIN = 65536 /* multiplications worth a thread */ };

typedef struct batch_dim {
    int64_t size, a, b, c; /* strides in elements; c 0: summed over */
} batch_dim;

typedef struct task {
    hdk_product one; /* the first of the batch, whole */
    int dtype;
    int64_t bytes;        /* an element */
    int n_kept, n_summed; /* dims, innermost first */
    batch_dim kept[HD_MAX_DIMS], summed[HD_MAX_DIMS];
    int64_t rows, cols; /* of a block */
    int64_t row_blocks, col_blocks;
} task;

/* ---------------------------------------------------------------- matrices */

hd__matrix hd__matrix_left(const hd_tensor *x)
{
    int n = x->ndim;
    if (n == 1) {
        return (hd__matrix){x, 1, x->sizes[0], 0, x->strides[0], 0};
    }
    return (hd__matrix){
        x, x->sizes[n - 2], x->sizes[n - 1], x->strides[n - 2], x->strides[n - 1], n - 2};
}

hd__matrix hd__matrix_right(const hd_tensor *x)
{
    return x->ndim == 1 ? hd__matrix_t(hd__matrix_left(x)) : hd__matrix_left(x);
}

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

hd__matrix hd__matrix_t(hd__matrix x)
{
    return (hd__matrix){x.t, x.cols, x.rows, x.col, x.row, x.batch};
}

bool hd__product_dtypes(const char *function, const hd_tensor *a, const hd_tensor *b)
{
    if (a->dtype != b->dtype) {
        hd_error_set(HD_DTYPE, "%s: %s and %s: expected one dtype", function,
                     hd_dtype_name((hd_dtype)a->dtype), hd_dtype_name((hd_dtype)b->dtype));
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

/* ---------------------------------------------------------------- blocks */

static const void *move(const void *p, int64_t elements, int64_t bytes)
{
    return p ? (const char *)p + elements * bytes : NULL;
}

/* One block of c, over all matrices that are summed into it. */
static void run_block(const task *t, hdk_product p)
{
    int64_t at[HD_MAX_DIMS] = {0};
    int d;
    do {
        hdk_gemm()->product[t->dtype](&p);
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

static void run_blocks(int64_t begin, int64_t end, void *arg)
{
    const task *t = arg;
    for (int64_t u = begin; u < end; u++) {
        hdk_product p = t->one;
        int64_t rest = u, a = 0, b = 0, c = 0;
        int64_t j = rest % t->col_blocks * t->cols;
        rest /= t->col_blocks;
        int64_t i = rest % t->row_blocks * t->rows;
        rest /= t->row_blocks;
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
        run_block(t, p);
    }
}

/* Even blocks, whole tiles high. */
static int64_t cut(int64_t n, int64_t block, int64_t unit)
{
    int64_t blocks = (n + block - 1) / block;
    return blocks <= 1 ? n : ((n + blocks - 1) / blocks + unit - 1) / unit * unit;
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
                          .c_row = c.row};
    if (bias) {
        t.one.bias = hd__ptr(bias);
        t.one.bias_step = bias->strides[0];
    }
    t.dtype = c.t->dtype;
    t.n_kept = t.n_summed = 0;
    sort_batches(&t, &a, &b, &c);
    int64_t m = t.one.m, n = t.one.n, k = t.one.k > 0 ? t.one.k : 1;
    if (t.n_kept == 0 && t.n_summed == 0 && m * n <= GRAIN / k) {
        hdk_gemm()->product[t.dtype](&t.one);
        return;
    }
    t.bytes = hd_dtype_size((hd_dtype)t.dtype);
    t.rows = cut(m, BLOCK_ROWS, 6);
    t.cols = cut(n, BLOCK_COLS, 32);
    t.row_blocks = (m + t.rows - 1) / t.rows;
    t.col_blocks = (n + t.cols - 1) / t.cols;
    int64_t blocks = t.row_blocks * t.col_blocks, work = t.rows * t.cols * k;
    for (int d = 0; d < t.n_kept; d++) {
        blocks *= t.kept[d].size;
    }
    for (int d = 0; d < t.n_summed; d++) {
        work *= t.summed[d].size;
    }
    hd__parallel_for(blocks, GRAIN / (work < GRAIN ? work : GRAIN), run_blocks, &t);
}
