/* topk.c - topk, the k largest or smallest elements along a dim in order, and sort, which is topk
 * of all elements.
 *
 * A heap (Williams 1964) holds those k of the elements read so far that come first in the result.
 * Elements are compared by integer keys; NaN is the largest, and -0 equals 0. Of equal elements,
 * the one with the lower index comes first. In PyTorch their order depends on a C++ library. */
#include <inttypes.h>
#include <math.h>

#include "autograd/ops/pick.h"
#include "autograd/record.h"
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/dtype.h"
#include "tensor/kernels/index.h"
#include "tensor/shape.h"
#include "tensor/strides.h"

enum {
    TOPK_GRAIN = 32768, /* up to this many elements, one thread computes all */
    FEW = 16            /* for k up to FEW, a sorted array is faster than a heap */
};

typedef struct entry {
    int64_t key; /* the smaller key comes first */
    int64_t at;  /* the index of the element */
} entry;

static inline bool before(const entry *a, const entry *b)
{
    return a->key < b->key || (a->key == b->key && a->at < b->at);
}

/* Inserts v into the sorted entries e[0] to e[n - 2], after those with the same key. The entry
 * e[n - 1] is overwritten, so that e has n entries afterwards. */
static void insert(entry *e, int64_t n, entry v)
{
    int64_t i = n - 1;
    for (; i > 0 && v.key < e[i - 1].key; i--) {
        e[i] = e[i - 1];
    }
    e[i] = v;
}

/* Replaces the top of a heap of n entries by v. The top is the entry that comes last, and leaves a
 * hole. Moves the hole to the bottom first, and then up to the place of v. */
static void replace_top(entry *e, int64_t n, entry v)
{
    int64_t hole = 0, child = 2;
    for (; child < n; child = 2 * hole + 2) {
        child -= before(&e[child], &e[child - 1]);
        e[hole] = e[child];
        hole = child;
    }
    if (child == n) { /* the hole has only a left child */
        e[hole] = e[child - 1];
        hole = child - 1;
    }
    for (; hole > 0 && before(&e[(hole - 1) / 2], &v); hole = (hole - 1) / 2) {
        e[hole] = e[(hole - 1) / 2];
    }
    e[hole] = v;
}

/* Returns an integer key for v. A larger value has a larger key, and NaN has the largest. */
static int64_t key_of(double v)
{
    int64_t bits;
    if (isnan(v)) {
        return INT64_MAX;
    }
    v += 0.0; /* turns -0 into 0 */
    memcpy(&bits, &v, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

/* Returns the entry of element i of the line x. Smaller elements come first, or larger ones if
 * `largest` is true. */
static entry topk_entry(const void *x, int dtype, int64_t i, bool largest)
{
    int64_t key = dtype == HD_FLOAT32   ? key_of(((const float *)x)[i])
                  : dtype == HD_FLOAT64 ? key_of(((const double *)x)[i])
                                        : ((const int64_t *)x)[i];
    return (entry){largest ? ~key : key, i};
}

/* Writes the entries of the k smallest (or largest) of the n elements of line x to e, sorted. A
 * kernel, `next`, skips elements that come after all entries in e. */
static void select_first(entry *e, int64_t k, const void *x, int dtype, int64_t n, bool largest)
{
    void (*const put)(entry *, int64_t, entry) = k <= FEW ? insert : replace_top;
    const entry *last = put == insert ? &e[k - 1] : &e[0];
    for (int64_t i = 0; i < k; i++) {
        e[i] = (entry){INT64_MAX, INT64_MAX};
    }
    for (int64_t i = 0; i < n; i++) {
        i = i < k ? i : hdk_index()->next[dtype](x, i, n, last->at, largest);
        entry v = i < n ? topk_entry(x, dtype, i, largest) : *last;
        if (i < k || v.key < last->key) {
            put(e, put == insert && i < k ? i + 1 : k, v);
        }
    }
    for (int64_t i = k - 1; i > 0 && put == replace_top; i--) {
        entry v = e[i];
        e[i] = e[0];
        put(e, i, v);
    }
}

/* ---------------------------------------------------------------- topk */

static const hd__op topk_op = HD__OP_KIND("TopkBackward0", hd__op_scatter_backward, HD__PUT);

/* The arguments of run_task. A line lies along the last dim. It has n elements of x and k elements
 * of indices. Both tensors are contiguous. */
typedef struct topk_lines {
    const hd_tensor *x, *indices;
    entry *e; /* scratch, k entries for each task */
    int64_t lines, k, n, tasks;
    bool largest;
} topk_lines;

static void run_task(int task, void *arg)
{
    const topk_lines *l = arg;
    entry *e = l->e + task * l->k;
    const int64_t bytes = l->n * hd__tensor_bytes_of(l->x->dtype);
    const int64_t end = l->lines * (task + 1) / l->tasks;
    for (int64_t i = l->lines * task / l->tasks; i < end; i++) {
        int64_t *to = (int64_t *)hd__tensor_ptr(l->indices) + i * l->k;
        select_first(e, l->k, (const char *)hd__tensor_ptr(l->x) + i * bytes, l->x->dtype, l->n,
                     l->largest);
        for (int64_t j = 0; j < l->k; j++) {
            to[j] = e[j].at;
        }
    }
}

/* Fills each line of `indices` with the indices of the k smallest (or largest) elements of that
 * line of x, sorted by element. Both tensors are contiguous. Returns false with an error if memory
 * runs out. */
static bool fill_indices(hd_tensor *indices, const hd_tensor *x, int64_t k, int64_t n, bool largest)
{
    topk_lines l = {.x = x, .indices = indices, .k = k, .n = n, .largest = largest};
    l.lines = indices->numel / k;
    l.tasks = x->numel > TOPK_GRAIN ? hd__parallel_width() : 1;
    l.tasks = l.tasks < l.lines ? l.tasks : l.lines;
    l.e = hd__arg_alloc_items(l.tasks * k, sizeof *l.e);
    if (!l.e) {
        return false;
    }
    hd__parallel((int)l.tasks, run_task, &l);
    hd_free(l.e);
    return true;
}

/* Returns the indices of the k smallest (or largest) elements of x along dim, sorted by element;
 * NULL with an error on failure. */
static hd_tensor *topk_indices(hd_tensor *x, int64_t k, int dim, bool largest)
{
    HD_NO_GRAD;
    if (!hd__tensor_number_dtype(x->dtype)) {
        return NULL;
    }
    int64_t n = x->ndim ? x->sizes[dim] : 1;
    if (k < 0 || k > n) {
        return hd_fail(HD_VALUE, "k %" PRId64 " at dim %d of %s: expected 0 to %" PRId64, k, dim,
                       HD__SHAPE(x), n);
    }
    HD__SCOPE_OR(NULL);
    int last = x->ndim ? x->ndim - 1 : 0;
    hd_tensor *lines = hd_contiguous(dim == last ? x : hd_transpose(x, dim, last));
    hd_tensor *indices = lines ? hd__tensor_empty_with(HD_INT64, lines, x->ndim, last, k) : NULL;
    if (!indices ||
        (indices->numel > 0 && !fill_indices(indices, lines, x->ndim ? k : 1, n, largest))) {
        return NULL;
    }
    if (dim != last) {
        hd_tensor *moved = hd_transpose(indices, dim, last);
        indices = moved ? hd__tensor_clone(moved) : NULL;
    }
    return hd_scope_return(indices);
}

hd_tensor *hd_topk(hd_tensor *x, int64_t k, int dim, bool largest, hd_tensor **indices)
{
    HD__CALL("hd_topk");
    int d = hd__tensor_dim_of(x, dim);
    hd_tensor *at = d < 0 ? NULL : topk_indices(x, k, d, largest);
    hd_tensor *y = at ? hd__op_gather(x, d, at) : NULL;
    y = HD__RECORD(&topk_op, y, HD__IN(1, &x), HD__SAVES(1, &at), HD__PARAMS(d));
    if (y && indices) {
        *indices = at;
    }
    return y;
}

/* ---------------------------------------------------------------- sort */

static const hd__op sort_op = HD__OP_KIND("SortBackward1", hd__op_scatter_backward, HD__PUT);

/* Returns a copy of y that is laid out as x. y is contiguous. NULL if y is NULL or memory runs
 * out. */
static hd_tensor *laid_out(hd_tensor *y, const hd_tensor *x)
{
    hd_tensor *copy = y ? hd__tensor_laid_out_as(hd__tensor_empty_as(y->dtype, y), x) : NULL;
    return hd__tensor_copy(copy, y);
}

/* Returns the indices that sort x along dim d; NULL on failure. */
static hd_tensor *sorted_indices(hd_tensor *x, int d, bool descending)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    hd_tensor *keys = x->dtype == HD_BOOL ? hd_to(x, HD_INT64) : x;
    hd_tensor *at = keys ? topk_indices(keys, x->ndim ? x->sizes[d] : 1, d, descending) : NULL;
    return hd_scope_return(laid_out(at, x));
}

/* Returns the elements of x at the indices `at` along dim d, unrecorded and laid out as x; NULL on
 * failure. */
static hd_tensor *picked(hd_tensor *x, int d, hd_tensor *at)
{
    HD__SCOPE_OR(NULL);
    return hd_scope_return(laid_out(hd__op_gather(x, d, at), x));
}

hd_tensor *hd_sort(hd_tensor *x, int dim, bool descending, hd_tensor **indices)
{
    HD__CALL("hd_sort");
    int d = hd__tensor_dim_of(x, dim);
    hd_tensor *at = d < 0 ? NULL : sorted_indices(x, d, descending);
    hd_tensor *y = at ? picked(x, d, at) : NULL;
    y = HD__RECORD(&sort_op, y, HD__IN(1, &x), HD__SAVES(1, &at), HD__PARAMS(d));
    if (y && indices) {
        *indices = at;
    }
    return y;
}

hd_tensor *hd_argsort(hd_tensor *x, int dim, bool descending)
{
    HD__CALL("hd_argsort");
    int d = hd__tensor_dim_of(x, dim);
    return hd__record_told(NULL, d < 0 ? NULL : sorted_indices(x, d, descending), 1, &x);
}
