/* elementwise.c - runs the kernels' loops over the elements of tensors.
 *
 * Small contiguous operands of one shape take a single call of a loop. Other operands are walked
 * (dims.h). The loop is then called for each run, which is a row of elements along the innermost
 * dim. If an input is transposed, the loop is called for each row of a tile. */
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/dtype.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/copy.h"
#include "tensor/shape.h"
#include "tensor/strides.h"

enum {
    DIRECT = 32768,    /* a contiguous tensor of at most this many elements needs no walk */
    LOOP_GRAIN = 32768 /* a task has at least this many elements */
};

hd_tensor *hd__loop_number_of(hd__loop_number *n, hd_dtype d, hd_scalar s)
{
    hd__tensor_scalar_bytes(d, s, &n->bytes);
    n->storage.data = &n->bytes;
    atomic_init(&n->t.refs, 1);
    n->t.mark = HD__TENSOR;
    n->t.dtype = (uint8_t)d;
    n->t.ndim = 0;
    n->t.flags = HD__F_CONTIGUOUS;
    n->t.storage = &n->storage;
    n->t.offset = 0;
    n->t.numel = 1;
    return &n->t;
}

/* ---------------------------------------------------------------- results */

hd_tensor *hd__loop_out(hd_dtype d, int n, hd_tensor *const *xs)
{
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    if (!hd__tensor_broadcast(n, xs, &ndim, sizes)) {
        return NULL;
    }
    hd_tensor *y = hd__tensor_empty(d, ndim, sizes);
    bool contiguous = true;
    for (int i = 0; i < n; i++) {
        contiguous &= hd__tensor_contig(xs[i]);
    }
    if (y && !contiguous && y->numel > 0) {
        hd__dims w;
        hd__dims_make(&w, ndim, sizes, n, xs);
        hd__dims_lay_out(&w, y);
    }
    return y;
}

/* ---------------------------------------------------------------- loops */

typedef struct task {
    hdk_loop f;
    const void *params;
    const hd__dims *dims;
    char *const *data;
    void (*after)(void);
} task;

/* Calls the loop for the places [begin, end) of the walk. */
static void run_range(int64_t begin, int64_t end, void *arg)
{
    const task *t = arg;
    const hd__dims *w = t->dims;
    hd__dims_place p;
    hd__dims_seek(w, begin, &p);
    int64_t done = p.at[0]; /* elements of the first run that lie before `begin` */
    while (begin < end) {
        char *data[HD__WALKED];
        int64_t run = w->dim[0].size - done;
        run = run < end - begin ? run : end - begin;
        for (int i = 0; i < w->n; i++) {
            data[i] = t->data[i] + p.offset[i];
            p.offset[i] -= done * w->dim[0].stride[i];
        }
        t->f(data, w->dim[0].stride, run, t->params);
        begin += run;
        done = 0;
        hd__dims_next(w, 1, &p);
    }
    if (t->after) {
        t->after();
    }
}

void hd__loop(hdk_loop f, const void *params, const hd__dims *w, char *const *data,
              void (*after)(void))
{
    task t = {f, params, w, data, after};
    int64_t count = hd__dims_count(w);
    if (count <= LOOP_GRAIN) {
        run_range(0, count, &t);
    } else {
        hd__parallel_for(count, LOOP_GRAIN, run_range, &t);
    }
}

/* ---------------------------------------------------------------- transposed inputs */

enum {
    TILES_WORTH = 256, /* tiles are used only if the output has at least this many elements */
    /* a row of a transposed tile has at most this many bytes; in a copy, where the tiling's f is
     * NULL, at most this many elements */
    ROW = 1024,
    SHORTEST = 1024 /* a run that is written past the cache has at least this many bytes */
};

/* A walk over tiles of two dims, `across` and `along`. An input that is dense along `across` is
 * transposed tile by tile. Each of its cache lines is then read once, not once for each element. */
typedef struct tiling {
    hdk_loop f;
    const void *params;
    const hd__dims *outer; /* the walk without the dims `across` and `along` */
    hd__dims_axis across, along;
    char *const *data;
    hd_tensor *const *operands;
    bool turned[HD__WALKED]; /* true for operands that are transposed */
    /* the columns of a tile; the numbers of tiles in the directions `across` and `along` */
    int64_t columns, strips, parts;
} tiling;

/* Writes the tile of input k that begins at `from`, transposed, to y. y has `rows` rows of
 * `columns` elements; its rows lie `row` bytes apart. */
static void turn_tile(const tiling *t, int k, char *y, int64_t row, const char *from, int64_t rows,
                      int64_t columns)
{
    hdk_copy_for(HD_INT64)->transpose[t->operands[k]->dtype](y, row, from, t->along.stride[k], rows,
                                                             columns);
}

static void run_tile(const tiling *t, char *const *data, int64_t rows, int64_t columns)
{
    _Alignas(64) char room[HD__WALKED][HDK_STRIP * ROW];
    char *at[HD__WALKED];
    int64_t step[HD__WALKED], strides[HD__WALKED];
    int n = t->outer->n;
    for (int k = 0; k < n; k++) {
        at[k] = t->turned[k] ? room[k] : data[k];
        step[k] = t->turned[k] ? ROW : t->across.stride[k];
        strides[k] = t->turned[k] ? hd__tensor_bytes_of(t->operands[k]->dtype) : t->along.stride[k];
        if (t->turned[k]) {
            turn_tile(t, k, room[k], ROW, data[k], rows, columns);
        }
    }
    for (int64_t r = 0; r < rows; r++) {
        t->f(at, strides, columns, t->params);
        for (int k = 0; k < n; k++) {
            at[k] += step[k];
        }
    }
}

static void run_tiles(int64_t begin, int64_t end, void *arg)
{
    const tiling *t = arg;
    for (int64_t task = begin; task < end; task++) {
        char *data[HD__WALKED];
        hd__dims_place p;
        int64_t rest = task / t->parts, outer = rest / t->strips;
        int64_t j = (task - rest * t->parts) * t->columns,
                i = (rest - outer * t->strips) * HDK_STRIP;
        int64_t rows = t->across.size - i, columns = t->along.size - j;
        rows = rows < HDK_STRIP ? rows : HDK_STRIP;
        columns = columns < t->columns ? columns : t->columns;
        hd__dims_seek(t->outer, outer, &p);
        for (int k = 0; k < t->outer->n; k++) {
            data[k] = t->data[k] + p.offset[k] + i * t->across.stride[k] + j * t->along.stride[k];
        }
        if (t->f) {
            run_tile(t, data, rows, columns);
        } else {
            turn_tile(t, 1, data[0], t->across.stride[0], data[1], rows, columns);
        }
    }
}

int hd__loop_tiled_dim(const hd__dims *w, hd_tensor *const *operands)
{
    for (int k = 1; k < w->n && operands[0]->numel >= TILES_WORTH; k++) {
        int d = hd__dims_across(w, k, hd__tensor_bytes_of(operands[k]->dtype));
        if (d > 0) {
            return d;
        }
    }
    return 0;
}

void hd__loop_over_tiles(hdk_loop f, const void *params, hd__dims *w, int d, char *const *data,
                         hd_tensor *const *operands)
{
    tiling t = {f, params, w, .data = data, .operands = operands};
    int64_t widest = 1;
    for (int k = 1; k < w->n; k++) {
        int64_t item = hd__tensor_bytes_of(operands[k]->dtype);
        t.turned[k] = hd__dims_across(w, k, item) == d;
        widest = f && t.turned[k] && item > widest ? item : widest;
    }
    t.across = hd__dims_take(w, d);
    t.along = hd__dims_take(w, 0);
    t.columns = t.along.size < ROW / widest ? t.along.size : ROW / widest;
    t.strips = (t.across.size + HDK_STRIP - 1) / HDK_STRIP;
    t.parts = (t.along.size + t.columns - 1) / t.columns;
    hd__parallel_for(hd__dims_count(w) * t.strips * t.parts,
                     LOOP_GRAIN / (HDK_STRIP * t.columns) + 1, run_tiles, &t);
}

/* Returns true if the output should be written past the cache. This is faster if the output is
 * large and written in long runs, and each input is small or read in order. Returns false for
 * bools, whose loops take longer than the writes. */
static bool goes_past_cache(const hd__dims *w, hd_tensor *const *operands)
{
    const hd_tensor *y = operands[0];
    int64_t item = hd__tensor_bytes_of(y->dtype);
    bool so = y->dtype != HD_BOOL && y->numel * item >= HDK_STREAM_BYTES &&
              w->dim[0].stride[0] == item && w->dim[0].size * item >= SHORTEST;
    for (int k = 1; k < w->n && so; k++) {
        bool any_order = operands[k]->numel < y->numel || hd__tensor_dense(operands[k]);
        for (int d = 1; d < w->ndim && !any_order; d++) {
            so = so && w->dim[d - 1].stride[k] < w->dim[d].stride[k];
        }
    }
    return so;
}

static hd_tensor *map_elements(hdk_loop f, const void *params, int n, hd_tensor *const *operands,
                               bool to_new)
{
    hd__dims w;
    char *data[HD__WALKED];
    if (!operands[0] || operands[0]->numel == 0) {
        return operands[0];
    }
    hd__dims_of(&w, n, operands);
    for (int i = 0; i < n; i++) {
        data[i] = hd__tensor_ptr(operands[i]);
    }
    int d = hd__loop_tiled_dim(&w, operands);
    if (d > 0) {
        hd__loop_over_tiles(f, params, &w, d, data, operands);
    } else if (to_new && goes_past_cache(&w, operands)) {
        hdk_past_cache past = {f, params, n, hd__tensor_bytes_of(operands[0]->dtype)};
        hd__loop(hdk_copy()->past_cache, &past, &w, data, hdk_copy()->past_cache_end);
    } else {
        hd__loop(f, params, &w, data, NULL);
    }
    return operands[0];
}

hd_tensor *hd__map(hdk_loop f, const void *params, int n, hd_tensor *const *operands)
{
    return map_elements(f, params, n, operands, false);
}

hd_tensor *hd__map_to_new(hdk_loop f, const void *params, int n, hd_tensor *const *operands)
{
    return map_elements(f, params, n, operands, true);
}

/* ---------------------------------------------------------------- loops into results */

hd_tensor *hd__map_unary(hdk_loop f, const void *params, hd_dtype in, hd_tensor *x)
{
    if (x->dtype == in && hd__tensor_contig(x) && x->numel <= DIRECT) {
        hd_tensor *y = hd__tensor_empty_as(in, x);
        if (y) {
            const int64_t strides[] = {hd__tensor_bytes_of(in), hd__tensor_bytes_of(in)};
            f((char *[]){hd__tensor_ptr(y), hd__tensor_ptr(x)}, strides, y->numel, params);
        }
        return y;
    }
    hd_tensor *y = hd__loop_out(in, 1, &x);
    x = y ? hd__tensor_cast(x, in) : NULL;
    return x ? hd__map_to_new(f, params, 2, (hd_tensor *[]){y, x}) : NULL;
}

static hd_tensor *map_direct(hdk_loop f, hd_dtype out, hd_tensor *a, hd_tensor *b,
                             const void *params)
{
    hd_tensor *y = hd__tensor_empty_as(out, a);
    if (y) {
        int64_t in = hd__tensor_bytes_of(a->dtype);
        const int64_t strides[] = {hd__tensor_bytes_of(out), in, b->ndim ? in : 0};
        f((char *[]){hd__tensor_ptr(y), hd__tensor_ptr(a), hd__tensor_ptr(b)}, strides, y->numel,
          params);
    }
    return y;
}

static hd_tensor *map_two(hdk_loop f, const void *params, hd_dtype in, hd_dtype out, hd_tensor *a,
                          hd_tensor *b)
{
    if (a->dtype == in && b->dtype == in && a->numel <= DIRECT && hd__tensor_contig(a) &&
        (b->ndim == 0 || (hd__tensor_contig(b) && hd__tensor_same_shape(a, b)))) {
        return map_direct(f, out, a, b, params);
    }
    a = hd__tensor_cast(a, in); /* cast first: the result's strides follow those of the casts */
    b = a ? hd__tensor_cast(b, in) : NULL;
    hd_tensor *y = b ? hd__loop_out(out, 2, (hd_tensor *[]){a, b}) : NULL;
    return hd__map_to_new(f, params, 3, (hd_tensor *[]){y, a, b});
}

hd_tensor *hd__map_binary(hdk_loop f, hd_dtype in, hd_dtype out, hd_tensor *a, hd_tensor *b)
{
    return map_two(f, NULL, in, out, a, b);
}

hd_tensor *hd__loop_add(hd_tensor *a, hd_tensor *b)
{
    hd_dtype d = a->dtype;
    return hd__map_binary(hdk_binary_for(d)->of[HDK_ADD][d], d, d, a, b);
}

void hd__loop_add_into(hd_tensor *y, hd_tensor *b)
{
    hd__map(hdk_binary_for(y->dtype)->of[HDK_ADD][y->dtype], NULL, 3, (hd_tensor *[]){y, y, b});
}

hd_tensor *hd__map_backward(int op, const void *params, hd_tensor *dy, hd_tensor *saved)
{
    hd_dtype d = dy->dtype;
    hdk_loop loop = hdk_binary_loop(op, d);
    if (hd__tensor_held_once(dy) && saved->dtype == d && hd__tensor_same_shape(dy, saved)) {
        return hd__map(loop, params, 3, (hd_tensor *[]){dy, dy, saved});
    }
    return map_two(loop, params, d, d, dy, saved);
}

/* ---------------------------------------------------------------- arithmetic */

enum { NUMBER = -1 }; /* stands for b's dtype if b is a number */

static hdk_loop loop_for(int op, int a, int b, hd_dtype *d)
{
    if (op == HDK_DIV && !hd__tensor_is_float(*d)) {
        *d = HD_FLOAT32;
    }
    hdk_loop loop = hdk_binary_loop(op, *d);
    if (!loop || (op == HDK_SUB && (a == HD_BOOL || b == HD_BOOL))) {
        hd_fail(HD_DTYPE, "%s and %s: expected %s", hd_dtype_name(a),
                b == NUMBER ? "a number" : hd_dtype_name(b),
                op == HDK_SUB ? "no bool. Use hd_logical_xor or hd_logical_not" : "numbers");
        return NULL;
    }
    return loop;
}

hdk_loop hd__loop_arith(int op, const hd_tensor *a, const hd_tensor *b, hd_dtype *d)
{
    *d = hd__tensor_promote(a, b);
    return loop_for(op, a->dtype, b->dtype, d);
}

hdk_loop hd__loop_arith_scalar(int op, const hd_tensor *x, hd_scalar s, hd_dtype *d)
{
    *d = hd__tensor_promote_scalar(x, s);
    return loop_for(op, x->dtype, NUMBER, d);
}
