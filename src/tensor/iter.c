/* iter.c - walks up to four strided operands together, element by element.
 *
 * Dims are ordered so that the output's smallest stride is innermost, and neighbours that all
 * operands lay out densely are merged: contiguous operands become one long run. */
#include "tensor/tensor_internal.h"

enum { GRAIN = 32768 };

typedef struct task {
    const hd__iter *it;
    hdk_loop f;
    const void *params;
} task;

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Should dim a lie inside dim b? By the output's strides, then by the inputs'. */
static bool inside(const hd__iter *it, int a, int b)
{
    for (int i = 0; i < it->n; i++) {
        int64_t sa = magnitude(it->strides[i][a]), sb = magnitude(it->strides[i][b]);
        if (sa != sb && sa != 0 && sb != 0) {
            return sa < sb;
        }
    }
    return false;
}

static void swap_dims(hd__iter *it, int a, int b)
{
    int64_t size = it->sizes[a];
    it->sizes[a] = it->sizes[b];
    it->sizes[b] = size;
    for (int i = 0; i < it->n; i++) {
        int64_t stride = it->strides[i][a];
        it->strides[i][a] = it->strides[i][b];
        it->strides[i][b] = stride;
    }
}

static void sort_dims(hd__iter *it)
{
    for (int i = 1; i < it->ndim; i++) {
        for (int j = i; j > 0 && inside(it, j, j - 1); j--) {
            swap_dims(it, j, j - 1);
        }
    }
}

static void merge_dims(hd__iter *it)
{
    int last = 0;
    for (int d = 1; d < it->ndim; d++) {
        bool dense = true;
        for (int i = 0; i < it->n; i++) {
            dense &= it->strides[i][d] == it->strides[i][last] * it->sizes[last];
        }
        if (dense) {
            it->sizes[last] *= it->sizes[d];
            continue;
        }
        swap_dims(it, ++last, d);
    }
    it->ndim = it->ndim ? last + 1 : 0;
}

void hd__iter_init(hd__iter *it, int n, hd_tensor *const *operands)
{
    const hd_tensor *y = operands[0];
    it->n = n;
    it->ndim = 0;
    it->numel = y->numel;
    for (int d = y->ndim - 1; d >= 0; d--) {
        if (y->sizes[d] == 1) {
            continue;
        }
        it->sizes[it->ndim] = y->sizes[d];
        for (int i = 0; i < n; i++) {
            const hd_tensor *x = operands[i];
            int at = d - (y->ndim - x->ndim);
            bool spread = at < 0 || x->sizes[at] == 1;
            it->strides[i][it->ndim] = spread ? 0 : x->strides[at] * hd_dtype_size(x->dtype);
        }
        it->ndim++;
    }
    for (int i = 0; i < n; i++) {
        it->data[i] = hd__ptr(operands[i]);
    }
    sort_dims(it);
    merge_dims(it);
    if (it->ndim == 0) { /* one element */
        it->ndim = 1;
        it->sizes[0] = 1;
        for (int i = 0; i < n; i++) {
            it->strides[i][0] = hd_dtype_size(operands[i]->dtype);
        }
    }
}

/* Elements [begin, end) in the iterator's order. */
static void run_range(int64_t begin, int64_t end, void *arg)
{
    const task *t = arg;
    const hd__iter *it = t->it;
    int64_t at[HD_MAX_DIMS], inner[4], rest = begin;
    char *data[4];
    for (int i = 0; i < it->n; i++) {
        data[i] = it->data[i];
        inner[i] = it->strides[i][0];
    }
    for (int d = 0; d < it->ndim; d++) {
        at[d] = rest % it->sizes[d];
        rest /= it->sizes[d];
        for (int i = 0; i < it->n; i++) {
            data[i] += at[d] * it->strides[i][d];
        }
    }
    while (begin < end) {
        int64_t run = it->sizes[0] - at[0];
        run = run < end - begin ? run : end - begin;
        t->f(data, inner, run, t->params);
        begin += run;
        for (int i = 0; i < it->n; i++) {
            data[i] -= at[0] * inner[i];
        }
        at[0] = 0;
        for (int d = 1; d < it->ndim; d++) {
            bool carry = ++at[d] == it->sizes[d];
            for (int i = 0; i < it->n; i++) {
                data[i] += it->strides[i][d] * (carry ? 1 - it->sizes[d] : 1);
            }
            if (!carry) {
                break;
            }
            at[d] = 0;
        }
    }
}

void hd__iter_run(const hd__iter *it, hdk_loop f, const void *params)
{
    task t = {it, f, params};
    if (it->numel <= GRAIN) {
        run_range(0, it->numel, &t);
    } else {
        hd__parallel_for(it->numel, GRAIN, run_range, &t);
    }
}

void hd__map(hdk_loop f, const void *params, int n, hd_tensor *const *operands)
{
    hd__iter it;
    if (operands[0]->numel == 0) {
        return;
    }
    hd__iter_init(&it, n, operands);
    hd__iter_run(&it, f, params);
}
