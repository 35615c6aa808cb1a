/* pick.c - picks elements along one dim: y[.., i, ..] = x[.., index[.., i, ..], ..], and its
 * backward.
 *
 * A line is a row of elements along the dim. Each thread walks lines of its own in the order of the
 * index. So the order of sums does not depend on the number of threads. */
#include "autograd/ops/pick.h"
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/dims.h"

enum {
    PICK_GRAIN = 32768, /* the fewest elements of a task */
    PICK_SIDE = 256,    /* the largest number of lines that one call of p->f walks */
    /* the largest number of lines if all lines share one index; large, so that rows stay whole */
    WHOLE = 4096
};

enum { Y, X, INDEX, OPERANDS };

typedef struct picks {
    hd__dims lines; /* all dims except the indexed one */
    /* the number of positions along the indexed dim; the bytes between them in each operand */
    int64_t n, step[OPERANDS];
    char *data[OPERANDS];
    void (*f)(const struct picks *p, char *const *data, const int64_t *side, int64_t k);
} picks;

/* Defines the function `name`, which applies DO to each element of k lines. The lines lie side[...]
 * bytes apart. If the elements of a line are adjacent in y, goes line by line, otherwise position
 * by position. */
#define PICK_LINES(name, T, DO)                                                                    \
    static void name(const picks *p, char *const *data, const int64_t *side, int64_t k)            \
    {                                                                                              \
        const int64_t size = sizeof(T), n = p->n, sy = p->step[Y], sx = p->step[X];                \
        const int64_t si = p->step[INDEX], yj = side[Y], xj = side[X], ij = side[INDEX];           \
        for (int64_t j = 0; sy == size && j < k; j++) {                                            \
            T *y = (T *)(data[Y] + j * yj);                                                        \
            char *x = data[X] + j * xj;                                                            \
            const char *at = data[INDEX] + j * ij;                                                 \
            if (sx == size && si == sizeof(int64_t)) {                                             \
                for (int64_t i = 0; i < n; i++) {                                                  \
                    DO(y[i], ((T *)x)[((const int64_t *)at)[i]]);                                  \
                }                                                                                  \
            } else {                                                                               \
                for (int64_t i = 0; i < n; i++) {                                                  \
                    DO(y[i], *(T *)(x + *(const int64_t *)(at + i * si) * sx));                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (int64_t i = 0; sy != size && i < n; i++) {                                            \
            char *y = data[Y] + i * sy;                                                            \
            const char *at = data[INDEX] + i * si;                                                 \
            if (yj == size && xj == size && ij == sizeof(int64_t)) {                               \
                for (int64_t j = 0; j < k; j++) {                                                  \
                    T *x = (T *)(data[X] + ((const int64_t *)at)[j] * sx);                         \
                    DO(((T *)y)[j], x[j]);                                                         \
                }                                                                                  \
            } else if (yj == size && ij == 0) { /* one index for all lines */                      \
                char *x = data[X] + *(const int64_t *)at * sx;                                     \
                for (int64_t j = 0; j < k; j++) {                                                  \
                    DO(((T *)y)[j], *(T *)(x + j * xj));                                           \
                }                                                                                  \
            } else {                                                                               \
                for (int64_t j = 0; j < k; j++) {                                                  \
                    char *x = data[X] + *(const int64_t *)(at + j * ij) * sx;                      \
                    DO(*(T *)(y + j * yj), *(T *)(x + j * xj));                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define TAKE(y, x) (y) = (x)
#define PUT(y, x) (x) = (y)
#define ADD(y, x) (x) += (y)
#define OR(y, x) (x) |= (y)

PICK_LINES(take_1, uint8_t, TAKE)
PICK_LINES(take_4, uint32_t, TAKE)
PICK_LINES(take_8, uint64_t, TAKE)
PICK_LINES(put_1, uint8_t, PUT)
PICK_LINES(put_4, uint32_t, PUT)
PICK_LINES(put_8, uint64_t, PUT)
PICK_LINES(add_f32, float, ADD)
PICK_LINES(add_f64, double, ADD)
PICK_LINES(add_i64, uint64_t, ADD) /* unsigned, so that overflow wraps */
PICK_LINES(or_1, uint8_t, OR)

/* Handles lines [begin, end), which are numbered with the innermost dim first. */
static void run_lines(int64_t begin, int64_t end, void *arg)
{
    const picks *p = arg;
    const hd__dims_axis one = {1, {0}}, *side = p->lines.ndim > 0 ? &p->lines.dim[0] : &one;
    while (begin < end) {
        hd__dims_place at = {0};
        char *data[OPERANDS];
        hd__dims_seek(&p->lines, begin, &at);
        int64_t k = side->size - at.at[0];
        k = k < end - begin ? k : end - begin;
        int64_t most = side->stride[INDEX] == 0 ? WHOLE : PICK_SIDE;
        k = k < most ? k : most;
        for (int i = 0; i < OPERANDS; i++) {
            data[i] = p->data[i] + at.offset[i];
        }
        p->f(p, data, side->stride, k);
        begin += k;
    }
}

hd_tensor hd__op_geometry_of(const hd_tensor *x)
{
    hd_tensor y = {.dtype = x->dtype,
                   .ndim = x->ndim,
                   .flags = x->flags,
                   .storage = x->storage,
                   .offset = x->offset,
                   .numel = x->numel};
    memcpy(y.sizes, x->sizes, x->ndim * sizeof *x->sizes);
    memcpy(y.strides, x->strides, x->ndim * sizeof *x->strides);
    return y;
}

void hd__op_pick(hd__op_pick_way way, hd_tensor *y, hd_tensor *x, int dim, const hd_tensor *index)
{
    static void (*const loops[][4])(const picks *, char *const *, const int64_t *, int64_t) = {
        [HD__TAKE] = {take_4, take_8, take_8, take_1},
        [HD__PUT] = {put_4, put_8, put_8, put_1},
        [HD__ADD] = {add_f32, add_f64, add_i64, or_1},
    };
    if (y->numel == 0) {
        return;
    }
    picks p = {.f = loops[way][y->dtype]};
    hd__dims_axis along = {1, {0}};
    hd_tensor first = hd__op_geometry_of(x); /* x's strides with y's sizes, to find x's lines */
    first.ndim = y->ndim;
    memcpy(first.sizes, y->sizes, sizeof first.sizes);
    hd_tensor *operands[] = {y, &first, (hd_tensor *)index};
    hd__dims_make(&p.lines, y->ndim, y->sizes, OPERANDS, operands);
    for (int i = 0; i < OPERANDS; i++) {
        p.data[i] = hd__tensor_ptr(operands[i]);
    }
    if (y->ndim > 0) {
        along = hd__dims_take(&p.lines, y->ndim - 1 - dim);
    }
    hd__dims_merge(&p.lines);
    p.n = along.size;
    memcpy(p.step, along.stride, sizeof p.step);
    /* If this dim of x has size 1, all indices into the dim are 0. The dim's stride may then be any
     * number and must not be used. */
    p.step[X] = x->ndim && x->sizes[dim] > 1 ? x->strides[dim] * hd__tensor_bytes_of(x->dtype) : 0;
    hd__parallel_for(hd__dims_count(&p.lines), PICK_GRAIN / p.n, run_lines, &p);
}

hd_tensor *hd__op_gather(hd_tensor *x, int dim, hd_tensor *index)
{
    hd_tensor *y = hd__tensor_empty_as(x->dtype, index);
    if (y) {
        hd__op_pick(HD__TAKE, y, x, dim, index);
    }
    return y;
}

hd_tensor *hd__op_zeros_like_input(hd__node *n, hd_dtype dtype)
{
    const hd__node_out_meta *meta = hd__node_input_meta(n, 0);
    return hd_zeros_n(dtype, meta->ndim, meta->sizes);
}

/* Returns hd__op_geometry_of(x). If x has fewer than ndim dims, inserts a dim of size 1 at dim. */
static hd_tensor with_dim(const hd_tensor *x, int ndim, int dim)
{
    hd_tensor g = hd__op_geometry_of(x);
    if (x->ndim < ndim) {
        size_t after = (size_t)(x->ndim - dim) * sizeof *g.sizes;
        memmove(&g.sizes[dim + 1], &g.sizes[dim], after);
        memmove(&g.strides[dim + 1], &g.strides[dim], after);
        g.sizes[dim] = 1;
        g.strides[dim] = 0; /* so that p->f walks lines of one element in one loop */
        g.ndim++;
    }
    return g;
}

void hd__op_scatter_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dim = hd__node_params(n);
    hd_tensor *y = hd__tensor_contiguous(dy[0]);
    dx[0] = hd__op_zeros_like_input(n, dy[0]->dtype);
    if (y && dx[0] && y->numel > 0) { /* an index without elements may have any number of dims */
        hd_tensor index = with_dim(hd__node_saved_get(n, 0), dx[0]->ndim, *dim);
        hd_tensor from = with_dim(y, dx[0]->ndim, *dim);
        hd__op_pick((hd__op_pick_way)n->op->kind, &from, dx[0], *dim, &index);
    }
}
