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
#include "tensor/dims.h"

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

/* The first k of n entries in front, as a heap. */
static void heap_select(entry *e, int64_t k, int64_t n)
{
    for (int64_t i = k / 2 - 1; i >= 0; i--) {
        sift(e, i, k, e[i]);
    }
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

/* Brings the first k of n entries to the front, in order. */
static void order(entry *e, int64_t k, int64_t n)
{
    if (k * 64 <= n) {
        heap_select(e, k, n);
        heap_sort(e, k);
    } else {
        select_kth(e, k, n);
        sort_coarsely(e, k - 1, patience(k - 1));
        insertion_sort(e, k - 1);
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

/* n elements of a dtype, `stride` bytes apart */
static void read_keys(entry *e, int dtype, const char *x, int64_t stride, int64_t n, bool largest)
{
    for (int64_t i = 0; i < n; i++, x += stride) {
        int64_t key = dtype == HD_FLOAT32   ? key_of(*(const float *)x)
                      : dtype == HD_FLOAT64 ? key_of(*(const double *)x)
                                            : *(const int64_t *)x;
        e[i] = (entry){largest ? ~key : key, i};
    }
}

/* ---------------------------------------------------------------- topk */

/* y = x[index]:  dx[index] += dy */
static void topk_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd__scatter_backward(n, dy, dx, true);
}

static const hd__op topk_op = {.name = "TopkBackward0", .backward = topk_backward};

static bool fill_indices(hd_tensor *indices, hd_tensor *x, int dim, int64_t k, int64_t n,
                         bool largest)
{
    entry *e = hd__alloc_items(n, sizeof *e);
    hd__dims lines;
    hd__place p = {0};
    hd__axis line = {1, {0}};
    if (!e) {
        return false;
    }
    hd__dims_make(&lines, indices->ndim, indices->sizes, 2, (hd_tensor *[]){indices, x});
    if (x->ndim > 0) {
        line = hd__dims_take(&lines, x->ndim - 1 - dim);
    }
    do {
        char *to = (char *)hd__ptr(indices) + p.offset[0];
        read_keys(e, x->dtype, (char *)hd__ptr(x) + p.offset[1], line.stride[1], n, largest);
        order(e, k, n);
        for (int64_t i = 0; i < k; i++, to += line.stride[0]) {
            *(int64_t *)to = e[i].at;
        }
    } while (hd__dims_next(&lines, 0, &p));
    hd_free(e);
    return true;
}

/* The indices of the k first, or NULL with the error set. */
static hd_tensor *topk_indices(hd_tensor *x, int64_t k, int dim, bool largest)
{
    if (x->dtype == HD_BOOL) {
        return hd_error_set(HD_DTYPE, "hd_topk: bool: expected float32, float64 or int64");
    }
    int64_t n = x->ndim ? x->sizes[dim] : 1, sizes[HD_MAX_DIMS];
    if (k < 0 || k > n) {
        return hd_error_set(HD_VALUE,
                            "hd_topk: k %" PRId64 " at dim %d of %s: expected 0 to %" PRId64, k,
                            dim, HD__SHAPE(x), n);
    }
    memcpy(sizes, x->sizes, x->ndim * sizeof *sizes);
    sizes[dim] = k;
    hd_tensor *indices = hd__empty("hd_topk", HD_INT64, x->ndim, sizes);
    if (!indices || indices->numel == 0) {
        return indices;
    }
    return fill_indices(indices, x, dim, x->ndim ? k : 1, n, largest) ? indices : NULL;
}

hd_tensor *hd_topk(hd_tensor *x, int64_t k, int dim, bool largest, hd_tensor **indices)
{
    if (!hd__arg("hd_topk", "x", x)) {
        return NULL;
    }
    int d = hd__dim("hd_topk", x, dim);
    hd_tensor *at = d < 0 ? NULL : topk_indices(x, k, d, largest);
    hd_tensor *y = at ? hd__gather("hd_topk", x, d, at) : NULL;
    y = hd__record(&topk_op, y,
                   &(hd__record_args){.n_in = 1,
                                      .in = &x,
                                      .n_saved = 1,
                                      .saved = &at,
                                      .params = &d,
                                      .params_size = sizeof d});
    if (y && indices) {
        *indices = at;
    }
    return y;
}
