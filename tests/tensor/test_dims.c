/* test_dims.c - compares walks over dims with nested loops: all shapes of small sizes, and some of
 * up to HD_MAX_DIMS dims, with strides of any sign and broadcast operands. The walks use only
 * numbers: the tensors have no memory. */
#include "strided.h"
#include "tensor/dims.h"
#include "tensor/strides.h"

enum { PLACES = 4096, LAYOUTS = 12 };

typedef struct offsets {
    int64_t of[HD__WALKED];
} offsets;

typedef struct operands {
    hd_tensor t[HD__WALKED];
    hd_tensor *x[HD__WALKED];
} operands;

/* Tensors that broadcast to t[0]. Layout 0: all are contiguous. */
static void make_operands(dice *r, operands *o, int n, int ndim, const int64_t *sizes, int layout)
{
    memset(o, 0, sizeof *o);
    for (int i = 0; i < n; i++) {
        hd_tensor *x = o->x[i] = &o->t[i];
        int lead = i && layout ? (int)roll(r, (uint32_t)ndim + 1) : 0;
        x->dtype = (uint8_t)roll(r, 4);
        x->ndim = (uint8_t)(ndim - lead);
        for (int d = 0; d < x->ndim; d++) {
            x->sizes[d] = i && layout && roll(r, 4) == 0 ? 1 : sizes[lead + d];
        }
        hd__tensor_default_strides(x->ndim, x->sizes, x->strides);
        for (int d = 0; d < x->ndim && layout > 1; d++) {
            int other = (int)roll(r, x->ndim);
            int64_t stride = x->strides[d];
            x->strides[d] = layout % 3 ? x->strides[other] : (int64_t)roll(r, 9) - 4;
            x->strides[other] = layout % 3 ? stride : x->strides[other];
        }
    }
}

/* The offsets of all elements in row-major order, by one loop inside another. */
static int64_t nest(const operands *o, int n, int d, offsets at, offsets *out, int64_t count)
{
    const hd_tensor *y = o->x[0];
    if (d == y->ndim) {
        out[count] = at;
        return count + 1;
    }
    for (int64_t k = 0; k < y->sizes[d]; k++) {
        offsets inside = at;
        for (int i = 0; i < n; i++) {
            const hd_tensor *x = o->x[i];
            int own = d - (y->ndim - x->ndim);
            if (own >= 0 && x->sizes[own] == y->sizes[d]) {
                inside.of[i] += k * x->strides[own] * hd_dtype_size(x->dtype);
            }
        }
        count = nest(o, n, d + 1, inside, out, count);
    }
    return count;
}

static int64_t walk(const hd__dims *w, offsets *out)
{
    hd__dims_place p = {0};
    int64_t count = hd__dims_count(w), i = 0, wrong = 0;
    bool more = count > 0;
    for (; more && i < PLACES; i++) {
        hd__dims_place sought;
        hd__dims_seek(w, i, &sought);
        out[i] = (offsets){0};
        for (int k = 0; k < w->n; k++) {
            out[i].of[k] = p.offset[k];
            wrong += sought.offset[k] != p.offset[k];
        }
        wrong += memcmp(sought.at, p.at, sizeof p.at[0] * (size_t)w->ndim) != 0;
        more = hd__dims_next(w, 0, &p);
    }
    for (int k = 0; k < w->n; k++) {
        wrong += p.offset[k] != 0; /* at the first place again */
    }
    ck_assert(i == count && wrong == 0);
    return count;
}

static int by_offsets(const void *a, const void *b)
{
    const offsets *p = a, *q = b;
    int order = 0;
    for (int i = 0; i < HD__WALKED && order == 0; i++) {
        order = (p->of[i] > q->of[i]) - (p->of[i] < q->of[i]);
    }
    return order;
}

static void ck_walk(const hd__dims *w, const offsets *want, int64_t count)
{
    static offsets got[PLACES];
    ck_assert_int_eq(walk(w, got), count);
    ck_assert_int_eq(memcmp(got, want, sizeof *want * (size_t)count), 0);
}

static void ck_same_set(const hd__dims *w, const offsets *want, int64_t count)
{
    static offsets got[PLACES], sorted[PLACES];
    ck_assert_int_eq(walk(w, got), count);
    memcpy(sorted, want, sizeof *want * (size_t)count);
    qsort(got, (size_t)count, sizeof *got, by_offsets);
    qsort(sorted, (size_t)count, sizeof *sorted, by_offsets);
    ck_assert_int_eq(memcmp(got, sorted, sizeof *want * (size_t)count), 0);
}

/* Runs of the innermost dim, as a loop over them goes. */
static void ck_runs(const hd__dims *w, const offsets *want, int64_t count)
{
    hd__dims_place p = {0};
    int64_t i = 0;
    bool more = count > 0;
    for (; more; i += w->dim[0].size) {
        for (int k = 0; k < w->n; k++) {
            ck_assert_int_eq(p.offset[k], want[i].of[k]);
        }
        more = hd__dims_next(w, 1, &p);
    }
    ck_assert_int_eq(i, count);
}

static int64_t size_of_stride(const hd__dims *w, int d)
{
    return llabs(w->dim[d].stride[0]);
}

static void check_shape(dice *r, int ndim, const int64_t *sizes)
{
    static offsets want[PLACES];
    for (int layout = 0; layout < LAYOUTS; layout++) {
        operands o;
        hd__dims w;
        int n = 1 + layout % HD__WALKED;
        make_operands(r, &o, n, ndim, sizes, layout);
        int64_t count = nest(&o, n, 0, (offsets){0}, want, 0);

        hd__dims_make(&w, ndim, sizes, n, o.x);
        ck_assert(w.n == n && w.ndim == ndim);
        ck_walk(&w, want, count);
        if (ndim > 0) {
            ck_runs(&w, want, count);
        }

        hd__dims merged = w;
        hd__dims_merge(&merged);
        ck_walk(&merged, want, count);
        for (int d = 0; d < merged.ndim; d++) {
            ck_assert_int_ne(merged.dim[d].size, 1);
            ck_assert(d == 0 || !hd__dims_join(&merged.dim[d - 1], &merged.dim[d], n));
        }
        if (layout == 0 && count > 1) {
            ck_assert_int_eq(merged.ndim, 1);
        }

        hd__dims_sort(&w);
        ck_same_set(&w, want, count);
        for (int d = 1; d < ndim; d++) {
            ck_assert_int_le(size_of_stride(&w, d - 1), size_of_stride(&w, d));
        }

        hd__dims_of(&w, n, o.x);
        ck_assert_int_ge(w.ndim, 1);
        ck_same_set(&w, want, count);
        for (int i = 0; i < n && count == 1; i++) {
            ck_assert_int_eq(w.dim[0].stride[i], hd_dtype_size(o.t[i].dtype));
        }
    }
}

START_TEST(walks_are_nested_loops)
{
    dice r = {5};
    int64_t sizes[HD_MAX_DIMS];
    for (int ndim = 0; ndim <= 4; ndim++) {
        for (int shape = 0; shape < 1 << 2 * ndim; shape++) { /* all of sizes 0 to 3 */
            for (int d = 0; d < ndim; d++) {
                sizes[d] = shape >> 2 * d & 3;
            }
            check_shape(&r, ndim, sizes);
        }
    }
    for (int round = 0; round < 60; round++) {
        int ndim = 5 + (int)roll(&r, HD_MAX_DIMS - 4);
        for (int d = 0; d < ndim; d++) {
            sizes[d] = roll(&r, 20) == 0 ? 0 : 1 + roll(&r, ndim > 6 ? 2 : 3);
        }
        check_shape(&r, ndim, sizes);
    }
}
END_TEST

START_TEST(equal_strides_keep_their_order)
{
    hd__dims w = {1, 4, {{3, {8}}, {5, {-4}}, {2, {4}}, {7, {0}}}};
    hd__dims_sort(&w);
    ck_assert(w.dim[0].size == 7 && w.dim[1].size == 5 && w.dim[2].size == 2 && w.dim[3].size == 3);
}
END_TEST

START_TEST(contiguous_operands_are_one_run)
{
    HD_SCOPE;
    hd_tensor *x[] = {hd_zeros(HD_FLOAT32, 2, 3, 4), hd_zeros(HD_FLOAT64, 2, 3, 4),
                      hd_zeros(HD_FLOAT32, 4)};
    hd__dims w;
    hd__dims_of(&w, 2, x);
    ck_assert(w.ndim == 1 && w.dim[0].size == 24);
    ck_assert(w.dim[0].stride[0] == 4 && w.dim[0].stride[1] == 8);
    hd__dims_of(&w, 3, x); /* the third repeats every 4 */
    ck_assert(w.ndim == 2 && w.dim[0].size == 4 && w.dim[1].size == 6);
    ck_assert_int_eq(w.dim[1].stride[2], 0);
}
END_TEST

START_TEST(dims_are_taken_and_appended)
{
    hd__dims w = {2, 3, {{2, {4, 8}}, {3, {8, 0}}, {5, {24, 16}}}};
    hd__dims_axis middle = hd__dims_take(&w, 1);
    ck_assert(w.ndim == 2 && w.dim[0].size == 2 && w.dim[1].size == 5 && middle.size == 3);
    ck_assert(middle.stride[0] == 8 && middle.stride[1] == 0);
    hd__dims_append(&w, &middle);
    ck_assert(w.ndim == 3 && w.dim[2].size == 3 && w.dim[2].stride[0] == 8);
    ck_assert_int_eq(hd__dims_take(&w, 2).size, 3);
    ck_assert_int_eq(hd__dims_take(&w, 0).size, 2);
    ck_assert(w.ndim == 1 && w.dim[0].stride[1] == 16);
}
END_TEST

START_TEST(a_dense_operand_is_visited_in_order_of_memory)
{
    hd__dims w = {2, 3, {{2, {40, 1}}, {3, {-4, 1}}, {4, {100, 1}}}};
    hd__dims_place p = {0};
    hd__dims_dense(&w, 1, 4);
    for (int64_t i = 0; i < 24; i++) {
        ck_assert_int_eq(p.offset[1], 4 * i);
        ck_assert_int_eq(hd__dims_next(&w, 0, &p), i < 23);
    }
}
END_TEST

START_TEST(only_dims_that_go_on_are_joined)
{
    hd__dims_axis inner = {3, {4, 0}}, same = inner;
    ck_assert(!hd__dims_join(&inner, &(hd__dims_axis){5, {12, 4}}, 2));
    ck_assert(!hd__dims_join(&inner, &(hd__dims_axis){5, {16, 0}}, 2));
    ck_assert_int_eq(memcmp(&inner, &same, sizeof inner), 0);
    ck_assert(hd__dims_join(&inner, &(hd__dims_axis){5, {12, 0}}, 2));
    ck_assert(inner.size == 15 && inner.stride[0] == 4 && inner.stride[1] == 0);
}
END_TEST

Suite *suite_dims(void)
{
    const TTest *const tests[] = {
        walks_are_nested_loops,
        equal_strides_keep_their_order,
        contiguous_operands_are_one_run,
        dims_are_taken_and_appended,
        a_dense_operand_is_visited_in_order_of_memory,
        only_dims_that_go_on_are_joined,
    };
    return SUITE_OF("dims", tests);
}
