/* gradcheck_table.c - tests every gradcheck row of the table of functions, in all variants of its
 * inputs.
 *
 * Each row is compared with central differences in float64: contiguous, with transposed and with
 * gapped inputs, with each of its broadcasts, with every letter 0 in turn, with all letters 1, and
 * with each input as the only one that requires grad. Then float32 is compared with float64 at
 * sizes around vector and tile edges (meson runs the program at every CPU level). If the row names
 * the result's node, the result must have that node. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "gradcheck_calls.h"
#include "gradcheck_rows.h"
#include "suites.h"
#include "support/support.h"

#include "gradcheck_made.h"

enum { SECTIONS = sizeof all_rows / sizeof all_rows[0] };

/* ---------------------------------------------------------------- inputs */

/* a size for each letter */
typedef struct sizing {
    const char *name;
    int64_t of[26];
} sizing;

typedef enum layout { CONTIGUOUS, TRANSPOSED, GAPPED } layout;

typedef struct variant {
    const gradcheck_row *row;
    const char *const *shapes;
    sizing size;
    layout layout;
    int only; /* the one input that requires grad; -1: all do */
} variant;

static sizing sizing_of(const char *name, const char *letters, const int64_t *sizes, int64_t other)
{
    sizing s = {.name = name};
    for (int i = 0; i < 26; i++) {
        s.of[i] = other;
    }
    for (int i = 0; letters[i]; i++) {
        s.of[letters[i] - 'a'] = sizes[i];
    }
    return s;
}

static sizing usual(void)
{
    return sizing_of("", "bcdhkmnt", (const int64_t[]){2, 5, 4, 2, 5, 3, 4, 3}, 3);
}

static int shape_of(const char *letters, const sizing *size, int64_t *sizes)
{
    int n = 0;
    for (; letters[n]; n++) {
        sizes[n] =
            isdigit((unsigned char)letters[n]) ? letters[n] - '0' : size->of[letters[n] - 'a'];
    }
    return n;
}

/* A float64 tensor of undefined values that lies in memory as the variant asks. */
static hd_tensor *laid_out(layout l, int ndim, const int64_t *sizes)
{
    int64_t base[HD_MAX_DIMS];
    memcpy(base, sizes, sizeof base[0] * (size_t)ndim);
    if (l == TRANSPOSED && ndim >= 2) {
        base[ndim - 1] = sizes[ndim - 2];
        base[ndim - 2] = sizes[ndim - 1];
        return hd_detach(hd_transpose(hd_empty_n(HD_FLOAT64, ndim, base), -1, -2));
    }
    if (l == GAPPED && ndim >= 1) {
        base[ndim - 1] = 2 * sizes[ndim - 1];
        return hd_detach(hd_slice_step(hd_empty_n(HD_FLOAT64, ndim, base), -1, 0, HD_END, 2));
    }
    return hd_empty_n(HD_FLOAT64, ndim, sizes);
}

static uint32_t state;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Uniform, and for ROW_DISTINCT shuffled steps over all inputs together; exact as float32. */
static void fill_inputs(const gradcheck_row *row, int n, hd_tensor **x)
{
    int64_t total = 0, at = 0;
    for (int i = 0; i < n; i++) {
        total += hd_numel(x[i]);
    }
    double *v = malloc(sizeof *v * (size_t)(total + 1));
    for (int64_t i = 0; i < total; i++) {
        double part = row->flags & ROW_DISTINCT ? ((double)i + 0.5) / (double)total
                                                : (double)next_random() / 0x1p24;
        v[i] = (float)(row->lo + (row->hi - row->lo) * part);
    }
    for (int64_t i = total - 1; i > 0; i--) {
        int64_t j = (int64_t)(next_random() % (uint32_t)(i + 1));
        double other = v[j];
        v[j] = v[i];
        v[i] = other;
    }
    for (int i = 0; i < n; i++) {
        hd_copy_from(x[i], v + at, sizeof *v * (size_t)hd_numel(x[i]));
        at += hd_numel(x[i]);
    }
    free(v);
}

static void make_inputs(const variant *v, hd_tensor **x)
{
    for (int i = 0; i < v->row->n; i++) {
        int64_t sizes[HD_MAX_DIMS];
        int ndim = shape_of(v->shapes[i], &v->size, sizes);
        x[i] = laid_out(v->layout, ndim, sizes);
    }
    fill_inputs(v->row, v->row->n, x);
    for (int i = 0; i < v->row->n; i++) {
        hd_requires_grad_(x[i], v->only < 0 || v->only == i);
    }
}

/* ---------------------------------------------------------------- one variant */

/* user is the row: an in-place one gets clones */
static hd_tensor *call_row(hd_tensor *const *x, int n, void *user)
{
    const gradcheck_row *row = user;
    hd_tensor *y[ROW_INPUTS];
    for (int i = 0; i < n; i++) {
        y[i] = row->flags & ROW_INPLACE ? hd_clone(x[i]) : x[i];
    }
    return row->f(y, n, NULL);
}

/* On failure a line on what failed. */
static bool check_differences(const variant *v, char *text, size_t size)
{
    HD_SCOPE;
    hd_tensor *x[ROW_INPUTS];
    make_inputs(v, x);
    bool ok = hd_gradcheck_n(call_row, (void *)(uintptr_t)v->row, v->row->n, x, NULL);
    if (!ok || hd_error_code() != HD_OK) {
        static const char *const layouts[] = {"contiguous", "transposed", "gapped"};
        snprintf(text, size, "%s (%s), %s%s, %s, grad of %d: %s", v->row->function, v->row->note,
                 v->size.name, v->shapes == v->row->shapes ? "" : "broadcast", layouts[v->layout],
                 v->only, hd_error_message());
        hd_error_clear();
        return false;
    }
    return true;
}

/* The gradients of all inputs for uneven gradients of y; NULL on failure. y comes first. */
static hd_list *results(const gradcheck_row *row, hd_tensor *const *inputs, hd_dtype d)
{
    hd_tensor *x[ROW_INPUTS], *found[ROW_INPUTS + 1];
    for (int i = 0; i < row->n; i++) {
        x[i] = hd_requires_grad_(hd_clone(hd_to(hd_detach(inputs[i]), d)), true);
    }
    hd_manual_seed(0);
    hd_tensor *y = call_row(x, row->n, (void *)(uintptr_t)row);
    if (!y) {
        return NULL;
    }
    hd_tensor *dy = hd_empty_like(y, HD_FLOAT32);
    for (int64_t i = 0; i < hd_numel(dy); i++) {
        ((float *)hd_data_mut(dy))[i] = (float)(0.5 + (double)(i % 7) / 8);
    }
    dy = hd_to(dy, hd_dtype_of(y));
    hd_grad_options o = hd_grad_defaults();
    o.allow_unused = true;
    hd_list *grads = hd_grad_of(hd_list_n(1, &y), hd_list_n(row->n, x), hd_list_n(1, &dy), &o);
    found[0] = hd_detach(y);
    for (int i = 0; grads && i < row->n; i++) {
        hd_tensor *g = hd_list_get(grads, i);
        found[i + 1] = g == HD_NONE ? hd_zeros_like(x[i], d) : g;
    }
    return grads ? hd_list_n(row->n + 1, found) : NULL;
}

enum { F32_PART = 50000 }; /* the error allowed: the largest absolute value over this */

static bool check_float32(const variant *v, char *text, size_t size)
{
    HD_SCOPE;
    hd_tensor *x[ROW_INPUTS];
    make_inputs(v, x);
    hd_list *single = results(v->row, x, HD_FLOAT32), *twice = results(v->row, x, HD_FLOAT64);
    snprintf(text, size, "%s (%s), %s: %s", v->row->function, v->row->note, v->size.name,
             hd_error_message());
    hd_error_clear();
    for (int k = 0; single && twice && k <= v->row->n; k++) {
        hd_tensor *a = hd_contiguous(hd_to(hd_list_get(single, k), HD_FLOAT64));
        hd_tensor *b = hd_contiguous(hd_to(hd_list_get(twice, k), HD_FLOAT64));
        const double *p = hd_data(a), *q = hd_data(b);
        double most = 0;
        for (int64_t i = 0; i < hd_numel(b); i++) {
            most = fmax(most, fabs(q[i]));
        }
        for (int64_t i = 0; i < hd_numel(b); i++) {
            if (!(fabs(p[i] - q[i]) <= most / F32_PART)) {
                snprintf(text, size, "%s (%s), %s: %s %d at %lld: float32 %.9g, float64 %.9g",
                         v->row->function, v->row->note, v->size.name, k ? "grad" : "result",
                         k ? k - 1 : 0, (long long)i, p[i], q[i]);
                return false;
            }
        }
    }
    return single && twice;
}

/* ---------------------------------------------------------------- one row */

static bool check_layouts(const gradcheck_row *row, const char *const *shapes, char *text,
                          size_t size)
{
    for (layout l = CONTIGUOUS; l <= GAPPED; l++) {
        for (int only = -1; only < (row->n > 1 ? row->n : 0); only++) {
            variant v = {row, shapes, usual(), l, only};
            if (!check_differences(&v, text, size)) {
                return false;
            }
        }
    }
    return true;
}

/* Every letter that occurs 0 in turn, then all of them 1. */
static bool check_small(const gradcheck_row *row, char *text, size_t size)
{
    for (char letter = 'a'; letter <= 'z' && !(row->flags & ROW_NO_ZERO); letter++) {
        bool occurs = false;
        for (int i = 0; i < row->n; i++) {
            occurs |= strchr(row->shapes[i], letter) != NULL;
        }
        variant v = {row, row->shapes, usual(), CONTIGUOUS, -1};
        char name[] = "? = 0, ";
        name[0] = letter;
        v.size.name = name;
        v.size.of[letter - 'a'] = 0;
        if (occurs && !check_differences(&v, text, size)) {
            return false;
        }
    }
    variant v = {row, row->shapes, sizing_of("sizes 1, ", "", NULL, 1), CONTIGUOUS, -1};
    return row->flags & ROW_NO_ONE || check_differences(&v, text, size);
}

static bool check_large(const gradcheck_row *row, char *text, size_t size)
{
    const char *const letters = "bcdhkmnt";
    const sizing sizings[] = {
        sizing_of("at 8", letters, (const int64_t[]){2, 8, 8, 2, 8, 8, 8, 8}, 8),
        sizing_of("past 8", letters, (const int64_t[]){2, 9, 9, 3, 9, 7, 9, 10}, 9),
        sizing_of("past 16", letters, (const int64_t[]){3, 17, 17, 2, 33, 17, 15, 18}, 6),
        sizing_of("past 32", letters, (const int64_t[]){1, 33, 31, 1, 35, 33, 65, 34}, 5),
    };
    for (size_t i = 0; i < sizeof sizings / sizeof sizings[0]; i++) {
        variant v = {row, row->shapes, sizings[i], CONTIGUOUS, -1};
        if (!(row->flags & ROW_NO_F32) && !check_float32(&v, text, size)) {
            return false;
        }
    }
    return true;
}

static bool check_node(const gradcheck_row *row, char *text, size_t size)
{
    HD_SCOPE;
    const variant v = {row, row->shapes, usual(), CONTIGUOUS, -1};
    hd_tensor *x[ROW_INPUTS];
    if (!row->node) {
        return true;
    }
    make_inputs(&v, x);
    const char *node = hd_grad_fn(call_row(x, row->n, (void *)(uintptr_t)row));
    snprintf(text, size, "%s (%s): the node is %s, expected %s", row->function, row->note,
             node ? node : "none", row->node);
    return node && strcmp(node, row->node) == 0;
}

static bool check_row(const gradcheck_row *row, char *text, size_t size)
{
    state = 20260101;
    if (!(row->lo < row->hi)) {
        snprintf(text, size, "%s (%s): no range for its inputs", row->function, row->note);
        return false;
    }
    bool ok = check_node(row, text, size) && check_layouts(row, row->shapes, text, size);
    for (int i = 0; ok && i < ROW_BROADCASTS && row->broadcast[i][0]; i++) {
        ok = check_layouts(row, row->broadcast[i], text, size);
    }
    return ok && check_small(row, text, size) && check_large(row, text, size);
}

START_TEST(rows_of_a_section)
{
    warnings_expected();
    char text[512];
    for (int i = 0; i < all_rows[_i].n; i++) {
        ck_assert_msg(check_row(&all_rows[_i].rows[i], text, sizeof text), "%s", text);
    }
}
END_TEST

/* ---------------------------------------------------------------- a wrong backward */

static bool square_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul(x[0], x[0]);
    return y[0] && hd_save(ctx, x[0]);
}

/* 3 x instead of 2 x */
static void square_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_mul(gy[0], hd_mul_scalar(hd_saved(ctx, 0), 3));
}

static const hd_op wrong_op = {.size = sizeof(hd_op),
                               .name = "WrongSquare",
                               .forward = square_forward,
                               .backward = square_backward};

static hd_tensor *wrong_square(hd_tensor *const *x, int n, void *user)
{
    (void)user;
    return hd_apply_n(&wrong_op, NULL, n, x);
}

START_TEST(a_wrong_backward_is_caught)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT64, 0, 2), true);
    ck_assert(!hd_gradcheck_n(wrong_square, NULL, 1, &x, NULL));
    ck_error(HD_GRAD, "hd_gradcheck: WrongSquareBackward, input 0 at (1,): backward gives "
                      "4.41640786, differences give 2.94427191");
}
END_TEST

static hd_tensor *a_constant(hd_tensor *const *x, int n, void *user)
{
    (void)x, (void)n, (void)user;
    return hd_ones(HD_FLOAT64, 2);
}

static hd_tensor *detached(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    return hd_detach(x[0]);
}

/* What does not require grad has a gradient of 0. */
START_TEST(results_without_a_graph)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT64, 0, 2), true);
    ck_assert(hd_gradcheck_n(a_constant, NULL, 1, &x, NULL));
    ck_assert(!hd_gradcheck_n(detached, NULL, 1, &x, NULL));
    ck_error(HD_GRAD, "hd_gradcheck: f, input 0 at (0,): backward gives 0, "
                      "differences give 1.11803399");
}
END_TEST

START_TEST(the_size_of_options_is_checked)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(vec(HD_FLOAT64, 0, 2), true);
    hd_gradcheck_options o = {.eps = 1e-6, .atol = 1e-5, .rtol = 1e-3};
    ck_assert(!hd_gradcheck_n(wrong_square, NULL, 1, &x, &o));
    ck_error(HD_VALUE,
             sized("hd_gradcheck: o->size 0: expected %zu, as hd_gradcheck_defaults() gives",
                   sizeof(hd_gradcheck_options)));
    ck_assert(!hd_gradcheck_n(wrong_square, NULL, 0, &x, NULL));
    ck_error(HD_VALUE, "hd_gradcheck: 0 inputs: expected 1 to 16");
    o.size = sizeof o - 8;
    ck_assert(!hd_gradcheck_n(wrong_square, NULL, 1, &x, &o));
    ck_error(HD_VALUE,
             sized("hd_gradcheck: o->size %zu: expected %zu, as hd_gradcheck_defaults() gives",
                   o.size, sizeof o));
}
END_TEST

START_TEST(a_wrong_row_is_caught)
{
    gradcheck_row row = {"hd_wrong", "square", wrong_square, 1, {"mn"}, {{0}}, 1, 2, 0, NULL};
    char text[512];
    ck_assert(!check_row(&row, text, sizeof text));
    const char *expected = "hd_wrong (square), , contiguous, grad of -1: hd_gradcheck: "
                           "WrongSquareBackward, input 0 at (0, 0): backward gives ";
    ck_assert_msg(strncmp(text, expected, strlen(expected)) == 0, "%s", text);
    row.node = "MulBackward0";
    ck_assert(!check_row(&row, text, sizeof text));
    ck_assert_str_eq(text,
                     "hd_wrong (square): the node is WrongSquareBackward, expected MulBackward0");
}
END_TEST

/* right in float64, wrong in float32 at the ninth element: what only the large sizes can see */
static hd_tensor *wrong_in_float32(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    hd_tensor *y = hd_mul_scalar(x[0], 2);
    if (hd_dtype_of(y) == HD_FLOAT32 && hd_numel(y) > 8) {
        HD_NO_GRAD;
        ((float *)hd_data_mut(y))[8] += 0.01f;
    }
    return y;
}

START_TEST(a_float32_slip_past_a_vector_is_caught)
{
    const gradcheck_row row = {"hd_slip", "", wrong_in_float32, 1, {"m"}, {{0}}, 1, 2, 0, NULL};
    char text[512];
    ck_assert(!check_row(&row, text, sizeof text));
    const char *expected = "hd_slip (), past 16: result 0 at 8: float32 ";
    ck_assert_msg(strncmp(text, expected, strlen(expected)) == 0, "%s", text);
}
END_TEST

Suite *suite_gradcheck(void)
{
    Suite *s = suite_create("gradcheck");
    TCase *t = tcase_create("rows");
    tcase_add_loop_test(t, rows_of_a_section, 0, SECTIONS);
    suite_add_tcase(s, t);
    t = tcase_create("harness");
    tcase_add_test(t, a_wrong_backward_is_caught);
    tcase_add_test(t, results_without_a_graph);
    tcase_add_test(t, the_size_of_options_is_checked);
    tcase_add_test(t, a_wrong_row_is_caught);
    tcase_add_test(t, a_float32_slip_past_a_vector_is_caught);
    suite_add_tcase(s, t);
    return s;
}
