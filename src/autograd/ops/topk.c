/* topk.c - the k largest or smallest along a dim, in order.
 *
 * In PyTorch the order of ties follows from the algorithms of the C++ library, so that this file
 * has the same ones. If k is small compared with n, a heap finds them (Williams 1964). Otherwise
 * Hoare's selection finds them and an introspective sort orders them (Musser 1997); both cut at the
 * median of three and end with an insertion sort. Values become integer keys of the same order
 * first; NaN is above everything, and -0 equals 0. */
#include <inttypes.h>
#include <math.h>

#include "autograd/ops/index.h"
#include "tensor/kernels/index.h"

enum { GRAIN = 32768 }; /* elements that are worth several threads */

typedef struct entry {
    int64_t key; /* the lesser key comes first */
    int64_t at;
} entry;

static inline bool before(const entry *a, const entry *b)
{
    return a->key < b->key;
}

static inline void swap(entry *a, entry *b)
{
    entry t = *a;
    *a = *b;
    *b = t;
}

/* ---------------------------------------------------------------- heap */

/* Puts v into a heap of n entries that has a hole; the hole first sinks to the bottom. The top of
 * the heap is the entry that comes last. */
static void sift(entry *e, int64_t hole, int64_t n, entry v)
{
    int64_t top = hole, child = 2 * hole + 2;
    for (; child < n; child = 2 * hole + 2) {
        child -= before(&e[child], &e[child - 1]);
        e[hole] = e[child];
        hole = child;
    }
    if (child == n) { /* there is a left child only */
        e[hole] = e[child - 1];
        hole = child - 1;
    }
    for (; hole > top && before(&e[(hole - 1) / 2], &v); hole = (hole - 1) / 2) {
        e[hole] = e[(hole - 1) / 2];
    }
    e[hole] = v;
}

static void heap_make(entry *e, int64_t k)
{
    for (int64_t i = k / 2 - 1; i >= 0; i--) {
        sift(e, i, k, e[i]);
    }
}

/* The first k of n entries in front, as a heap. */
static void heap_select(entry *e, int64_t k, int64_t n)
{
    heap_make(e, k);
    for (int64_t i = k; i < n; i++) {
        if (before(&e[i], &e[0])) {
            entry v = e[i];
            e[i] = e[0];
            sift(e, 0, k, v);
        }
    }
}

static void heap_sort(entry *e, int64_t k)
{
    for (int64_t i = k - 1; i > 0; i--) {
        entry v = e[i];
        e[i] = e[0];
        sift(e, 0, i, v);
    }
}

/* ---------------------------------------------------------------- partition */

/* Cuts n > 3 entries at the median of the second, the middle and the last one: no entry before the
 * cut belongs after one that follows it. */
static int64_t partition(entry *e, int64_t n)
{
    entry *a = &e[1], *b = &e[n / 2], *c = &e[n - 1];
    if (before(a, b)) {
        swap(e, before(b, c) ? b : before(a, c) ? c : a);
    } else {
        swap(e, before(a, c) ? a : before(b, c) ? c : b);
    }
    for (int64_t i = 1, j = n;; i++) {
        while (before(&e[i], &e[0])) {
            i++;
        }
        do {
            j--;
        } while (before(&e[0], &e[j]));
        if (i >= j) {
            return i;
        }
        swap(&e[i], &e[j]);
    }
}

static void insertion_sort(entry *e, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        entry v = e[i];
        int64_t j = i;
        for (; j > 0 && before(&v, &e[j - 1]); j--) {
            e[j] = e[j - 1];
        }
        e[j] = v;
    }
}

/* How many cuts are made before the heap takes over, because the pivots are bad. */
static int patience(int64_t n)
{
    int cuts = 0;
    for (; n > 1; n >>= 1) {
        cuts += 2;
    }
    return cuts;
}

/* Puts the k-th entry in its place; no entry before it belongs after it. */
static void select_kth(entry *e, int64_t k, int64_t n)
{
    for (int cuts = patience(n); n > 3; cuts--) {
        if (cuts == 0) {
            heap_select(e, k, n);
            swap(&e[0], &e[k - 1]);
            return;
        }
        int64_t cut = partition(e, n);
        if (cut < k) {
            e += cut;
            n -= cut;
            k -= cut;
        } else {
            n = cut;
        }
    }
    insertion_sort(e, n);
}

/* Sorts down to runs of 16. `cuts` bounds the depth of the recursion. */
static void sort_coarsely(entry *e, int64_t n, int cuts)
{
    while (n > 16) {
        if (cuts-- == 0) {
            heap_select(e, n, n);
            heap_sort(e, n);
            return;
        }
        int64_t cut = partition(e, n);
        sort_coarsely(e + cut, n - cut, cuts);
        n = cut;
    }
}

/* ---------------------------------------------------------------- keys */

static int64_t key_of(double v)
{
    int64_t bits;
    if (isnan(v)) {
        return INT64_MAX;
    }
    v += 0.0; /* -0 to 0 */
    memcpy(&bits, &v, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

/* The entry of element i of a dense line */
static entry topk_entry(const void *x, int dtype, int64_t i, bool largest)
{
    int64_t key = dtype == HD_FLOAT32   ? key_of(((const float *)x)[i])
                  : dtype == HD_FLOAT64 ? key_of(((const double *)x)[i])
                                        : ((const int64_t *)x)[i];
    return (entry){largest ? ~key : key, i};
}

/* The heap of the first k of n elements. A kernel passes over elements that come after its top. */
static void stream_select(entry *e, int64_t k, const void *x, int dtype, int64_t n, bool largest)
{
    for (int64_t i = 0; i < k; i++) {
        e[i] = topk_entry(x, dtype, i, largest);
    }
    heap_make(e, k);
    for (int64_t i = k; i < n; i++) {
        i = hdk_index()->next[dtype](x, i, n, e[0].at, largest);
        entry v = i < n ? topk_entry(x, dtype, i, largest) : e[0];
        if (before(&v, &e[0])) {
            sift(e, 0, k, v);
        }
    }
}

/* ---------------------------------------------------------------- topk */

/* y = x[index]:  dx[index] += dy */
static void topk_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd__scatter_backward(n, dy, dx, true);
}

static const hd__op topk_op = {.name = "TopkBackward0", .backward = topk_backward};

/* The lines of x and of the indices, which both are contiguous with the line's dim last */
typedef struct lines {
    const hd_tensor *x, *indices;
    entry *e; /* for each task */
    int64_t lines, k, n, tasks, room;
    bool largest;
} lines;

static bool by_heap(int64_t k, int64_t n)
{
    return k * 64 <= n;
}

/* Brings the first k elements of a line to the front of e, in order. */
static void order(entry *e, const lines *l, const void *x)
{
    int64_t k = l->k, n = l->n;
    if (by_heap(k, n)) {
        stream_select(e, k, x, l->x->dtype, n, l->largest);
        heap_sort(e, k);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        e[i] = topk_entry(x, l->x->dtype, i, l->largest);
    }
    select_kth(e, k, n);
    sort_coarsely(e, k - 1, patience(k - 1));
    insertion_sort(e, k - 1);
}

static void run_task(int task, void *arg)
{
    const lines *l = arg;
    entry *e = l->e + task * l->room;
    const int64_t bytes = l->n * hd__bytes_of(l->x->dtype);
    const int64_t end = l->lines * (task + 1) / l->tasks;
    for (int64_t i = l->lines * task / l->tasks; i < end; i++) {
        int64_t *to = (int64_t *)hd__ptr(l->indices) + i * l->k;
        order(e, l, (const char *)hd__ptr(l->x) + i * bytes);
        for (int64_t j = 0; j < l->k; j++) {
            to[j] = e[j].at;
        }
    }
}

/* x and indices are contiguous, and lines are their last dim. */
static bool fill_indices(hd_tensor *indices, const hd_tensor *x, int64_t k, int64_t n, bool largest)
{
    lines l = {.x = x, .indices = indices, .k = k, .n = n, .largest = largest};
    l.lines = indices->numel / k;
    l.tasks = x->numel > GRAIN ? hd__parallel_width() : 1;
    l.tasks = l.tasks < l.lines ? l.tasks : l.lines;
    l.room = by_heap(k, n) ? k : n;
    l.e = hd__alloc_items(l.tasks * l.room, sizeof *l.e);
    if (!l.e) {
        return false;
    }
    hd__parallel((int)l.tasks, run_task, &l);
    hd_free(l.e);
    return true;
}

/* x with dim and the last dim exchanged */
static hd_tensor dim_last(const hd_tensor *x, int dim)
{
    hd_tensor y = hd__geometry_of(x);
    int last = x->ndim - 1;
    if (last >= 0) {
        y.sizes[dim] = x->sizes[last];
        y.strides[dim] = x->strides[last];
        y.sizes[last] = x->sizes[dim];
        y.strides[last] = x->strides[dim];
        hd__geometry_changed(&y);
    }
    return y;
}

/* The indices of the k first, or NULL with the error set. */
static hd_tensor *topk_indices(hd_tensor *x, int64_t k, int dim, bool largest)
{
    if (!hd__number_dtype(x->dtype)) {
        return NULL;
    }
    int64_t n = x->ndim ? x->sizes[dim] : 1;
    if (k < 0 || k > n) {
        return hd__fail(HD_VALUE, "k %" PRId64 " at dim %d of %s: expected 0 to %" PRId64, k, dim,
                        HD__SHAPE(x), n);
    }
    hd_tensor *indices = hd__empty_with(HD_INT64, x, x->ndim, dim, k);
    if (!indices || indices->numel == 0) {
        return indices;
    }
    k = x->ndim ? k : 1;
    if (hd__contig(x) && dim == (x->ndim ? x->ndim - 1 : 0)) {
        return fill_indices(indices, x, k, n, largest) ? indices : NULL;
    }
    HD__SCOPE_OR(NULL);
    hd_tensor at = dim_last(indices, dim), moved = dim_last(x, dim);
    hd_tensor *dense = hd__empty_as(x->dtype, &moved);
    hd_tensor *found = dense ? hd__empty_as(HD_INT64, &at) : NULL;
    if (!found) {
        return NULL;
    }
    hd__copy(dense, &moved);
    bool ok = fill_indices(found, dense, k, n, largest);
    hd__copy(&at, found);
    return ok ? indices : NULL;
}

hd_tensor *hd_topk(hd_tensor *x, int64_t k, int dim, bool largest, hd_tensor **indices)
{
    HD__CALL("hd_topk");
    int d = hd__dim_of(x, dim);
    hd_tensor *at = d < 0 ? NULL : topk_indices(x, k, d, largest);
    hd_tensor *y = at ? hd__gather(x, d, at) : NULL;
    y = HD__RECORD(&topk_op, y, HD__IN(1, &x), HD__SAVES(1, &at), HD__PARAMS(d));
    if (y && indices) {
        *indices = at;
    }
    return y;
}
