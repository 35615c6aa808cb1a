/* index.c - ops that read or write the elements to which an index tensor points: index_select,
 * gather, embedding, index_add, scatter; and one_hot, bincount, nonzero.
 *
 * Every index is checked before the result is allocated. Each thread of backward has its own
 * columns and walks all indices, so the order of the sums does not depend on the number of threads.
 *
 * pick.c walks any strides. For contiguous tensors this file copies and adds whole rows, because
 * hd__op_pick takes 20% more instructions for 256 rows of 64 floats, and 50% more for one row. */
#include "autograd/ops/pick.h"
#include "autograd/record.h"
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/copy.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/index.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

#include <inttypes.h>
#include <stdatomic.h>

enum { INDEX_GRAIN = 32768 }; /* the fewest elements of a task */

/* ---------------------------------------------------------------- checking */

static bool index_arg(const hd_tensor *index)
{
    return hd__tensor_arg("index", index) && hd__tensor_dtype_is("index", index, HD_INT64);
}

static hd_tensor *range_fail(const hd_tensor *index, int64_t flat, int64_t n)
{
    int64_t value = ((const int64_t *)hd__tensor_ptr(index))[flat];
    return n == 0 ? hd_fail(HD_INDEX, "index %" PRId64 " at %s: the indexed dim has size 0", value,
                            HD__INDEX(index, flat))
                  : hd_fail(HD_INDEX, "index %" PRId64 " at %s: expected 0 to %" PRId64, value,
                            HD__INDEX(index, flat), n - 1);
}

typedef struct index_range {
    const int64_t *index;
    int64_t n;
    _Atomic bool broken;
} index_range;

static void check_range(int64_t begin, int64_t end, void *arg)
{
    index_range *r = arg;
    if (!hdk_index()->in_range(r->index + begin, end - begin, r->n)) {
        atomic_store(&r->broken, true);
    }
}

/* Returns index, or a contiguous copy of it; NULL with HD_INDEX if an element is not in [0, n). */
static hd_tensor *checked(hd_tensor *index, int64_t n)
{
    index = hd__tensor_contiguous(index);
    if (!index) {
        return NULL;
    }
    index_range r = {.index = hd__tensor_ptr(index), .n = n};
    hd__parallel_for(index->numel, INDEX_GRAIN, check_range, &r);
    for (int64_t flat = 0; r.broken && flat < index->numel; flat++) {
        if ((uint64_t)r.index[flat] >= (uint64_t)n) {
            return range_fail(index, flat, n);
        }
    }
    return index;
}

/* ---------------------------------------------------------------- along one dim */

/* n indices into dim 1 of a tensor whose dims are folded into (outer, len, inner) */
typedef struct index_lines {
    int64_t outer, len, inner, n;
    const int64_t *index;
    const void *from;
    void *to;
    int dtype;
    int64_t skip; /* the index whose gradient backward skips; negative if there is none */
} index_lines;

static index_lines lines_of(const hd_tensor *x, int dim, const hd_tensor *index,
                            const hd_tensor *from, const hd_tensor *to)
{
    return (index_lines){.outer = hd__tensor_count_of(dim, x->sizes),
                         .len = x->ndim ? x->sizes[dim] : 1,
                         .inner = hd__tensor_count_of(x->ndim - dim - 1, x->sizes + dim + 1),
                         .n = index->numel,
                         .index = hd__tensor_ptr(index),
                         .from = hd__tensor_ptr(from),
                         .to = hd__tensor_ptr(to),
                         .dtype = from->dtype};
}

/* Copies lines [begin, end) of the result's outer * n lines. Converts bfloat16 to float32. */
static void pick_lines(int64_t begin, int64_t end, void *arg)
{
    const index_lines *l = arg;
    size_t bytes = (size_t)(l->inner * hd__tensor_bytes_of(l->dtype));
    const hdk_loop widen = l->dtype == HD_BFLOAT16 ? hdk_convert(HD_FLOAT32, l->dtype) : NULL;
    int64_t outer = begin / l->n, i = begin % l->n;
    for (int64_t r = begin; r < end; r++, i++) {
        outer += i == l->n;
        i = i == l->n ? 0 : i;
        const char *from = (const char *)l->from + (size_t)(outer * l->len + l->index[i]) * bytes;
        if (widen) {
            widen((char *[]){(char *)((float *)l->to + r * l->inner), (char *)(uintptr_t)from},
                  (int64_t[]){sizeof(float), sizeof(uint16_t)}, l->inner, NULL);
        } else {
            memcpy((char *)l->to + (size_t)r * bytes, from, bytes);
        }
    }
}

/* Returns hd__op_geometry_of(index) with ndim dims: all indices along dim, and size 1 elsewhere. */
static hd_tensor index_along(const hd_tensor *index, int ndim, int dim)
{
    hd_tensor at = hd__op_geometry_of(index);
    at.ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        at.sizes[d] = d == dim ? index->numel : 1;
        at.strides[d] = 1;
    }
    return at;
}

/* Sets y[.., i, ..] = x[.., index[i], ..] along dim. */
static void pick(hd_tensor *y, hd_tensor *x, int dim, const hd_tensor *index)
{
    if (!hd__tensor_contig(x) || dim == x->ndim - 1) {
        hd_tensor at = index_along(index, y->ndim, dim);
        hd__op_pick(HD__TAKE, y, x, dim, &at);
        return;
    }
    index_lines l = lines_of(x, dim, index, x, y);
    hd__parallel_for(l.outer * l.n, INDEX_GRAIN / (l.inner + 1), pick_lines, &l);
}

/* For columns (o, c) in [begin, end), and each i in order: to[o][index[i]][c] += from[o][i][c] */
static void add_columns(int64_t begin, int64_t end, void *arg)
{
    const index_lines *l = arg;
    const int dtype = l->dtype;
    const int64_t item = hd__tensor_bytes_of(dtype), dense[] = {item, item, item};
    const hdk_loop add = hdk_binary_loop(HDK_ADD, dtype);
    while (begin < end) {
        int64_t o = begin / l->inner, c = begin % l->inner;
        int64_t some = l->inner - c < end - begin ? l->inner - c : end - begin;
        char *x = (char *)(uintptr_t)l->from + (o * l->n * l->inner + c) * item;
        char *to = (char *)l->to + (o * l->len * l->inner + c) * item;
        for (int64_t i = 0; i < l->n; i++, x += l->inner * item) {
            char *y = to + l->index[i] * l->inner * item;
            if (l->index[i] != l->skip) {
                add((char *[]){y, y, x}, dense, some, NULL);
            }
        }
        begin += some;
    }
}

typedef struct pick_params {
    int dim;
    int64_t skip;
} pick_params;

/* y[i] = x[index[i]] along dim:  dx[index[i]] += dy[i] */
static void pick_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const pick_params *params = hd__node_params(n);
    hd_tensor *index = hd__node_saved_get(n, 0), *from = hd__tensor_contiguous(dy[0]);
    dx[0] = hd__op_zeros_like_input(n, dy[0]->dtype);
    if (!from || !dx[0]) {
        return;
    }
    index_lines l = lines_of(dx[0], params->dim, index, from, dx[0]);
    if (l.inner == 1 && from->ndim == dx[0]->ndim && params->skip < 0) {
        hd_tensor at = index_along(index, from->ndim, params->dim);
        hd__op_pick(HD__ADD, from, dx[0], params->dim, &at);
        return;
    }
    l.skip = params->skip;
    int64_t columns = l.n > 0 ? l.outer * l.inner : 0; /* for n = 0 there is no work */
    hd__parallel_for(columns, INDEX_GRAIN / (l.n + 1), add_columns, &l);
}

static const hd__op index_select_op = HD__OP("IndexSelectBackward0", pick_backward);
static const hd__op embedding_op = HD__OP("EmbeddingBackward0", pick_backward);

static hd_tensor *record_pick(const hd__op *op, hd_tensor *y, hd_tensor *x, hd_tensor *index,
                              pick_params params)
{
    return HD__RECORD(op, y, HD__IN(1, &x), HD__SAVES(1, &index), HD__PARAMS(params));
}

hd_tensor *hd_index_select(hd_tensor *x, int dim, hd_tensor *index)
{
    HD__CALL("hd_index_select");
    int d = hd__tensor_arg("x", x) && index_arg(index) ? hd__tensor_dim(x, dim) : -1;
    if (d < 0) {
        return NULL;
    }
    if (index->ndim > 1 || (x->ndim == 0 && index->numel != 1)) {
        return hd_fail(HD_SHAPE, "x %s and index %s: expected an index of %s", HD__SHAPE(x),
                       HD__SHAPE(index), x->ndim ? "1 dim" : "1 element");
    }
    index = checked(index, x->ndim ? x->sizes[d] : 1);
    hd_tensor *y = index ? hd__tensor_empty_with(x->dtype, x, x->ndim, d, index->numel) : NULL;
    if (!y) {
        return NULL;
    }
    pick(y, x, d, index);
    return record_pick(&index_select_op, y, x, index, (pick_params){d, -1});
}

hd_tensor *hd_embedding(hd_tensor *index, hd_tensor *weight, int64_t padding_idx)
{
    HD__CALL("hd_embedding");
    if (!index_arg(index) || !hd__tensor_any_arg("weight", weight, false)) {
        return NULL;
    }
    if (weight->ndim != 2 || index->ndim == HD_MAX_DIMS) {
        return hd_fail(
            HD_SHAPE,
            "index %s and weight %s: expected an index of up to %d dims, and a weight (n, d)",
            HD__SHAPE(index), HD__SHAPE(weight), HD_MAX_DIMS - 1);
    }
    const int64_t count = weight->sizes[0];
    if (padding_idx != HD_NO_PADDING) {
        if (padding_idx < -count || padding_idx >= count) {
            return hd_fail(HD_INDEX,
                           "padding_idx %" PRId64 " of weight %s: expected %" PRId64 " to %" PRId64
                           ", or HD_NO_PADDING",
                           padding_idx, HD__SHAPE(weight), -count, count - 1);
        }
        padding_idx += padding_idx < 0 ? count : 0;
    }
    int n = index->ndim;
    int64_t rows[] = {index->numel, weight->sizes[1]};
    index = checked(index, count);
    const bool widens = weight->dtype == HD_BFLOAT16;
    weight = widens ? hd__tensor_contiguous(weight) : weight;
    hd_tensor *y = index && weight ? hd__tensor_empty_with(widens ? HD_FLOAT32 : weight->dtype,
                                                           index, n + 1, n, rows[1])
                                   : NULL;
    if (!y) {
        return NULL;
    }
    hd_tensor flat = hd__op_geometry_of(y); /* (numel of index, d) */
    flat.ndim = 2;
    memcpy(flat.sizes, rows, sizeof rows);
    hd__tensor_default_strides(2, rows, flat.strides);
    pick(&flat, weight, 0, index);
    return record_pick(&embedding_op, y, weight, index, (pick_params){0, padding_idx});
}

/* ---------------------------------------------------------------- gather */

static const hd__op gather_op = HD__OP_KIND("GatherBackward0", hd__op_scatter_backward, HD__ADD);

static bool gather_shapes_ok(const hd_tensor *x, int dim, const hd_tensor *index)
{
    int nx = x->ndim ? x->ndim : 1, ni = index->ndim ? index->ndim : 1;
    if (index->numel == 0) {
        return true;
    }
    bool ok = nx == ni;
    for (int d = 0; ok && d < x->ndim && d < index->ndim; d++) {
        ok = d == dim || index->sizes[d] <= x->sizes[d];
    }
    return ok || hd_fail(HD_SHAPE,
                         "x %s and index %s: expected equal numbers of dims, and index sizes up to "
                         "x's, except at dim %d",
                         HD__SHAPE(x), HD__SHAPE(index), dim);
}

hd_tensor *hd_gather(hd_tensor *x, int dim, hd_tensor *index)
{
    HD__CALL("hd_gather");
    int d = hd__tensor_arg("x", x) && index_arg(index) ? hd__tensor_dim(x, dim) : -1;
    if (d < 0 || !gather_shapes_ok(x, d, index)) {
        return NULL;
    }
    index = checked(index, x->ndim ? x->sizes[d] : 1);
    hd_tensor *y = index ? hd__op_gather(x, d, index) : NULL;
    hd_tensor *saved[] = {index, x}; /* as in PyTorch, x must not change before backward */
    return HD__RECORD(&gather_op, y, HD__IN(1, &x), HD__SAVES(2, saved), HD__PARAMS(d));
}

/* ---------------------------------------------------------------- index_add, scatter */

/* dx += dy;  dsource[i] += dy[index[i]] along dim */
static void index_add_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dim = hd__node_params(n);
    dx[0] = dy[0];
    dx[1] = hd__node_needs(n, 1) ? hd_index_select(dy[0], *dim, hd__node_saved_get(n, 0)) : HD_NONE;
}

static const hd__op index_add_op = HD__OP("IndexAddBackward0", index_add_backward);

/* Returns false with HD_SHAPE if index or source does not fit x. A 0-d x needs 1 index. */
static bool addends_ok(const hd_tensor *x, int d, const hd_tensor *index, const hd_tensor *source)
{
    int64_t sizes[HD_MAX_DIMS];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[d] = index->numel;
    bool ok = index->ndim <= 1 && (x->ndim || index->numel == 1) &&
              hd__tensor_has_sizes(source, x->ndim, sizes);
    return ok || hd_fail(HD_SHAPE,
                         "x %s, index %s and source %s: expected an index of 1 dim, and a source "
                         "of x's shape with index's length at dim %d",
                         HD__SHAPE(x), HD__SHAPE(index), HD__SHAPE(source), d);
}

hd_tensor *hd_index_add(hd_tensor *x, int dim, hd_tensor *index, hd_tensor *source)
{
    HD__CALL("hd_index_add");
    bool ok = hd__tensor_arg("x", x) && index_arg(index) && hd__tensor_arg("source", source) &&
              hd__tensor_one_dtype("x", x, "source", source);
    int d = ok ? hd__tensor_dim(x, dim) : -1;
    if (d < 0 || !addends_ok(x, d, index, source)) {
        return NULL;
    }
    hd_tensor *in[] = {x, source};
    index = checked(index, x->ndim ? x->sizes[d] : 1);
    source = index ? hd__tensor_contiguous(source) : NULL;
    hd_tensor *y = source ? hd__tensor_clone(x) : NULL;
    if (y) {
        hd_tensor at = index_along(index, x->ndim, d);
        hd__op_pick(HD__ADD, source, y, d, &at);
    }
    return HD__RECORD(&index_add_op, y, HD__IN(2, in), HD__SAVES(1, &index), HD__PARAMS(d));
}

/* dx += dy, but 0 where source was written;  dsource[i] += dy[index[i]] along dim */
static void put_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dim = hd__node_params(n);
    hd_tensor *index = hd__node_saved_get(n, 0);
    if (hd__node_needs(n, 0)) {
        hd_tensor *zeros = hd_zeros_n((hd_dtype)dy[0]->dtype, index->ndim, index->sizes);
        dx[0] = hd_scatter(dy[0], *dim, index, zeros);
    }
    if (hd__node_needs(n, 1)) {
        const hd__node_out_meta *source = hd__node_input_meta(n, 1);
        dx[1] = index->numel ? hd_gather(dy[0], *dim, index)
                             : hd_zeros_n((hd_dtype)source->dtype, source->ndim, source->sizes);
    }
}

static const hd__op scatter_op = HD__OP("ScatterBackward0", put_backward);

/* Returns source[0:n0, 0:n1, ...] for index's sizes n; NULL with HD_SHAPE if source is smaller. */
static hd_tensor *covered(hd_tensor *source, const hd_tensor *index)
{
    bool ok = (source->ndim ? source->ndim : 1) == (index->ndim ? index->ndim : 1);
    for (int d = 0; ok && d < index->ndim; d++) {
        ok = index->sizes[d] <= (source->ndim ? source->sizes[d] : 1);
    }
    if (!ok) {
        return hd_fail(HD_SHAPE,
                       "source %s and index %s: expected equal numbers of dims, and index sizes up "
                       "to source's",
                       HD__SHAPE(source), HD__SHAPE(index));
    }
    for (int d = 0; d < index->ndim && source && source->ndim; d++) {
        source =
            index->sizes[d] < source->sizes[d] ? hd_narrow(source, d, 0, index->sizes[d]) : source;
    }
    return source && source->ndim != index->ndim ? hd_reshape_n(source, index->ndim, index->sizes)
                                                 : source;
}

hd_tensor *hd_scatter(hd_tensor *x, int dim, hd_tensor *index, hd_tensor *source)
{
    HD__CALL("hd_scatter");
    bool ok = hd__tensor_arg("x", x) && index_arg(index) && hd__tensor_arg("source", source) &&
              hd__tensor_one_dtype("x", x, "source", source);
    int d = ok ? hd__tensor_dim(x, dim) : -1;
    if (d < 0 || !gather_shapes_ok(x, d, index)) {
        return NULL;
    }
    source = index->numel ? covered(source, index) : source;
    index = source ? checked(index, x->ndim ? x->sizes[d] : 1) : NULL;
    hd_tensor *from = index ? hd__tensor_contiguous(source) : NULL;
    hd_tensor *y = from ? hd__tensor_clone(x) : NULL;
    if (y && index->numel) {
        hd__op_pick(HD__PUT, from, y, d, index);
    }
    hd_tensor *in[] = {x, source};
    return HD__RECORD(&scatter_op, y, HD__IN(2, in), HD__SAVES(1, &index), HD__PARAMS(d));
}

/* ---------------------------------------------------------------- one_hot */

hd_tensor *hd_one_hot(hd_tensor *index, int64_t num_classes)
{
    HD__CALL("hd_one_hot");
    if (!index_arg(index)) {
        return NULL;
    }
    if (num_classes < -1 || num_classes == 0 || (num_classes == -1 && index->numel == 0)) {
        return hd_fail(HD_VALUE,
                       "num_classes %" PRId64
                       " for index %s: expected 1 or more, or -1 with a nonempty index",
                       num_classes, HD__SHAPE(index));
    }
    index = checked(index, num_classes == -1 ? INT64_MAX : num_classes);
    if (!index) {
        return NULL;
    }
    const int64_t *at = hd__tensor_ptr(index);
    bool infer = num_classes == -1;
    for (int64_t i = 0; i < index->numel && infer; i++) {
        num_classes = at[i] >= num_classes ? at[i] + 1 : num_classes;
    }
    int n = index->ndim;
    hd_tensor *y = hd__tensor_empty_with(HD_INT64, index, n + 1, n, num_classes);
    if (!y) {
        return NULL;
    }
    int64_t *to = hd__tensor_ptr(y);
    hd__tensor_fill(y, hd_scalar_int(0));
    for (int64_t i = 0; i < index->numel; i++) {
        to[i * num_classes + at[i]] = 1;
    }
    return hd__record_told(NULL, y, 1, &index);
}

/* ---------------------------------------------------------------- bincount */

hd_tensor *hd_bincount(hd_tensor *x, int64_t minlength)
{
    HD__CALL("hd_bincount");
    if (!hd__tensor_arg("x", x) || !hd__tensor_dtype_is("x", x, HD_INT64)) {
        return NULL;
    }
    if (x->ndim != 1 || minlength < 0) {
        return hd_fail(x->ndim != 1 ? HD_SHAPE : HD_VALUE,
                       "x %s, minlength %" PRId64 ": expected x (n,), and a minlength of 0 or more",
                       HD__SHAPE(x), minlength);
    }
    hd_tensor *index = checked(x, INT64_MAX);
    const int64_t *at = index ? hd__tensor_ptr(index) : NULL;
    for (int64_t i = 0; index && i < index->numel; i++) {
        minlength = at[i] >= minlength ? at[i] + 1 : minlength;
    }
    hd_tensor *y = index ? hd__tensor_empty(HD_INT64, 1, &minlength) : NULL;
    if (!y) {
        return NULL;
    }
    int64_t *to = hd__tensor_ptr(y);
    hd__tensor_fill(y, hd_scalar_int(0));
    for (int64_t i = 0; i < index->numel; i++) {
        to[at[i]]++;
    }
    return hd__record_told(NULL, y, 1, &x);
}

/* ---------------------------------------------------------------- nonzero */

/* Writes the position of each true element of x to a column of y (ndim, n). x is contiguous. */
static void write_places(const hd_tensor *x, hd_tensor *y)
{
    const uint8_t *truth = hd__tensor_ptr(x);
    int64_t *to = hd__tensor_ptr(y), n = y->sizes[1], column = 0, place[HD_MAX_DIMS] = {0};
    for (int64_t i = 0; i < x->numel; i++) {
        if (truth[i]) {
            for (int d = 0; d < x->ndim; d++) {
                to[d * n + column] = place[d];
            }
            column++;
        }
        for (int d = x->ndim - 1; d >= 0 && ++place[d] == x->sizes[d]; d--) {
            place[d] = 0;
        }
    }
}

hd_tensor *hd_nonzero(hd_tensor *x)
{
    HD__CALL("hd_nonzero");
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    hd_tensor *truth = hd__tensor_arg("x", x) ? hd_contiguous(hd_to(x, HD_BOOL)) : NULL;
    hd_tensor *count = truth ? hd_sum(truth) : NULL;
    if (!count) {
        return NULL;
    }
    const int64_t ndim = x->ndim, n = hd_item_int(count);
    hd_tensor *columns = hd__tensor_empty(HD_INT64, 2, (int64_t[]){ndim, n});
    if (!columns) {
        return NULL;
    }
    write_places(truth, columns); /* transposed below, so that strides are PyTorch's */
    hd_tensor *y = hd__tensor_alias(columns, 2, (int64_t[]){n, ndim}, (int64_t[]){1, n}, 0);
    return hd__record_told(NULL, hd_scope_return(y), 1, &x);
}
