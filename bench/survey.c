/* survey.c - heed-survey: times every operation of autograd.h and the draws of tensor.h, for
 * compare.py --survey.
 *
 * One process measures all rows, so that no row needs a process start. Each operation is a survey()
 * in the table of functions (tools/functions/rows.py), in these letters:
 *
 * inputs has a letter for each of x, y and z:
 *     x y    normal numbers, integers from -100 to 99 (y: from 1 to 99), bools
 *     p q    numbers from 0.5 to 1.5, integers from 1 to 4
 *     u e    ones; the same numbers as x
 *     m      a mask of bools
 *     P      probabilities
 *     r c    an index of dim 0 for each row, an index of dim 1 for each column
 *     R C    an index of dim 0 for each element, one of dim 1, as for gather
 *     T      a class of x for each row
 *     w      a number for each column, as in y
 * dtypes: f float32, d float64, i int64, b bool. The inputs from m to T have dtypes of their own.
 * layouts: c contiguous, t transposed, s every second column, k (rows, 1), o (1, columns). Of
 * several inputs, s is the layout of all, and t, k and o are those of the last.
 * way: F forward only; B backward too, for floats; V a view: as B, and its forward takes the same
 * time at every size; I in place, without grad.
 *
 * Inputs are drawn from the seed 123, so that PyTorch can draw the same. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: heed-survey --list | --check | --threads N\n"
                            "  --list       prints a line of JSON for each row\n"
                            "  --check      runs each row of the smallest size once\n"
                            "  --threads N  answers the lines on stdin, each with a line of JSON: "
                            "the number of a row sets\n"
                            "               it up, and \"turn\" measures it\n";

/* A turn of short work has as many runs as take this long, after runs that are not timed: a thread
 * that has slept runs on the CPU of its caller for some milliseconds, until the system moves it. */
static const double turn_ns = 4e6, warm_ns = 10e6;

/* ---------------------------------------------------------------- operations */

typedef enum way { F, B, V, I } way;

typedef struct survey_op {
    const char *name, *inputs, *dtypes, *layouts;
    way way;
} survey_op;

#define OP(name, inputs, dtypes, layouts, way, ...) {#name, inputs, dtypes, layouts, way},
static const survey_op ops[] = {
#include "survey_made.h"
};
#undef OP

#define OP(name, ...) OP_##name,
enum {
#include "survey_made.h"
    OPS
};
#undef OP

static hd_tensor *run(int op, hd_tensor *const *in)
{
    hd_tensor *x = in[0], *y = in[1], *z = in[2], *other;
    (void)z;
    switch (op) {
#define OP(name, inputs, dtypes, layouts, way, ...)                                                \
    case OP_##name:                                                                                \
        return __VA_ARGS__;
#include "survey_made.h"
#undef OP
    default: return NULL;
    }
}

/* ---------------------------------------------------------------- rows */

static const int64_t sizes[][2] = {{32, 32}, {1024, 1024}, {8192, 4096}};
enum { SMALL, MIDDLE, LARGE, SIZES, DTYPES = 4, LAYOUTS = 5, INPUTS = 3 };

static const char dtypes[] = "fdib", layouts[] = "ctsko";
static const char *const layout_names[] = {"contiguous", "transposed", "sliced", "column", "row"};

typedef struct survey_row {
    int size, dtype, layout, op;
    bool backward;
} survey_row;

/* Is the operation recorded, and its backward measured? */
static bool has_grad(const survey_op *op)
{
    return op->way == B || op->way == V;
}

/* Rows of another dtype than float32 have one layout, the small size has one too, and the backward
 * of float64 is measured at one size: it has the loops of forward. */
static bool is_wanted(const survey_row *r)
{
    const survey_op *op = &ops[r->op];
    bool float32 = r->dtype == 0, first = layouts[r->layout] == op->layouts[0];
    if (!strchr(op->dtypes, dtypes[r->dtype]) || !strchr(op->layouts, layouts[r->layout]) ||
        (!first && (!float32 || r->size == SMALL))) {
        return false;
    }
    if (r->backward) {
        return has_grad(op) && (float32 || (r->dtype == 1 && r->size == MIDDLE));
    }
    return op->way != V || r->size == SMALL;
}

/* Calls f for each row, in an order in which rows that can share inputs follow each other. */
static void for_each_row(void (*f)(int id, const survey_row *r, void *user), void *user)
{
    enum { WAYS = 2, ROWS = SIZES * DTYPES * LAYOUTS * OPS * WAYS };
    for (int id = 0, at = 0; at < ROWS; at++) {
        survey_row r = {
            .size = at / (DTYPES * LAYOUTS * OPS * WAYS),
            .dtype = at / (LAYOUTS * OPS * WAYS) % DTYPES,
            .layout = at / (OPS * WAYS) % LAYOUTS,
            .op = at / WAYS % OPS,
            .backward = at % WAYS == 1,
        };
        if (is_wanted(&r)) {
            f(id++, &r, user);
        }
    }
}

static void print_row(int i, const survey_row *r, void *user)
{
    const survey_op *op = &ops[r->op];
    (void)user;
    printf("{\"id\": %d, \"name\": \"%s/%s/%s/%dx%d/%s\", \"op\": \"%s\", \"inputs\": \"%s\", ", i,
           op->name, hd_dtype_name((hd_dtype)r->dtype), layout_names[r->layout],
           (int)sizes[r->size][0], (int)sizes[r->size][1], r->backward ? "backward" : "forward",
           op->name, op->inputs);
    printf("\"dtype\": \"%s\", \"layout\": \"%c\", \"rows\": %d, \"columns\": %d, ",
           hd_dtype_name((hd_dtype)r->dtype), layouts[r->layout], (int)sizes[r->size][0],
           (int)sizes[r->size][1]);
    printf("\"backward\": %s, \"grad\": %s, \"in_place\": %s}\n", r->backward ? "true" : "false",
           has_grad(op) ? "true" : "false", op->way == I ? "true" : "false");
}

typedef struct found {
    int id;
    survey_row row;
} found;

static void find_row(int i, const survey_row *r, void *user)
{
    found *wanted = user;
    if (i == wanted->id) {
        wanted->row = *r;
    }
}

/* ---------------------------------------------------------------- inputs */

/* What is drawn is kept for the rows that follow, as long as they have the same size, dtype and
 * layout. */
enum { KEPT = 24 };
static struct kept {
    char letter, layout;
    hd_tensor *t;
} kept[KEPT];
static survey_row kept_for;

/* Drops what is kept under the letter; 0: all. */
static void drop(char letter)
{
    for (int i = 0; i < KEPT; i++) {
        if (letter == 0 || kept[i].letter == letter) {
            hd_release(kept[i].t);
            kept[i] = (struct kept){0};
        }
    }
}

static hd_tensor *numbers(char letter, hd_dtype d, int64_t rows, int64_t columns)
{
    bool positive = letter == 'p' || letter == 'q';
    if (letter == 'u') {
        return hd_ones(d, rows, columns);
    }
    if (letter == 'm' || d == HD_BOOL) {
        return hd_to(hd_randint(HD_INT64, 0, 2, rows, columns), HD_BOOL);
    }
    if (d == HD_INT64) {
        return hd_randint(d, letter == 'x' ? -100 : 1, positive ? 5 : 100, rows, columns);
    }
    return positive ? hd_add_scalar(hd_rand(d, rows, columns), 0.5) : hd_randn(d, rows, columns);
}

static hd_tensor *matrix(char letter, char layout, hd_dtype d, int64_t rows, int64_t columns)
{
    switch (layout) {
    case 't': return hd_t(numbers(letter, d, columns, rows));
    case 's': return hd_slice_step(numbers(letter, d, rows, 2 * columns), 1, 0, HD_END, 2);
    case 'k': return numbers(letter, d, rows, 1);
    case 'o': return numbers(letter, d, 1, columns);
    default: return numbers(letter, d, rows, columns);
    }
}

static hd_tensor *other_input(char letter, hd_dtype d, int64_t rows, int64_t columns)
{
    switch (letter) {
    case 'P': return hd_rand(d, rows, columns);
    case 'r': return hd_randint(HD_INT64, 0, rows, rows);
    case 'c': return hd_randint(HD_INT64, 0, columns, columns);
    case 'R': return hd_randint(HD_INT64, 0, rows, rows, columns);
    case 'C': return hd_randint(HD_INT64, 0, columns, rows, columns);
    case 'T': return hd_randint(HD_INT64, 0, columns, rows);
    default: return hd_reshape(numbers(letter, d, 1, columns), columns);
    }
}

static const char matrices[] = "xypquem";

/* The layout of input i: all have that of the row if it is 's', else the last matrix has it. */
static char layout_of(const survey_op *op, int i, char layout)
{
    bool last = strchr(matrices, op->inputs[i]);
    for (const char *s = &op->inputs[i] + 1; *s; s++) {
        last &= !strchr(matrices, *s);
    }
    return strchr(matrices, op->inputs[i]) && (last || layout == 's') ? layout : 'c';
}

static hd_tensor *draw(const survey_row *r, char letter, char layout)
{
    HD_NO_GRAD;
    char drawn_as = letter == 'e' ? 'x' : letter;
    hd_dtype d = (hd_dtype)r->dtype;
    const int64_t *size = sizes[r->size];
    hd_manual_seed(123 + (uint64_t)drawn_as);
    return strchr(matrices, drawn_as) ? matrix(drawn_as, layout, d, size[0], size[1])
                                      : other_input(drawn_as, d, size[0], size[1]);
}

static hd_tensor *input(const survey_row *r, int i)
{
    char letter = ops[r->op].inputs[i];
    int free = 0;
    if (r->size != kept_for.size || r->dtype != kept_for.dtype || r->layout != kept_for.layout) {
        drop(0);
        kept_for = *r;
    }
    char layout = layout_of(&ops[r->op], i, layouts[r->layout]);
    for (int j = 0; j < KEPT; j++) {
        if (kept[j].letter == letter && kept[j].layout == layout) {
            return kept[j].t;
        }
        free = kept[j].letter ? free : j;
    }
    kept[free] = (struct kept){letter, layout, hd_retain(draw(r, letter, layout))};
    return kept[free].t;
}

/* ---------------------------------------------------------------- one row */

typedef struct survey_work {
    survey_row row;
    hd_tensor *in[INPUTS], *y, *dy;
    int calls;
    double bytes; /* that the work must read and write */
} survey_work;

static hd_tensor *run_once(survey_work *w)
{
    if (!w->row.backward) {
        return run(w->row.op, w->in);
    }
    for (int i = 0; i < INPUTS; i++) {
        if (w->in[i] && hd_requires_grad(w->in[i])) {
            hd_set_grad(w->in[i], HD_NONE);
        }
    }
    hd_backward_with(w->y, w->dy, true);
    return hd_grad(w->in[0]);
}

static double time_of_one(survey_work *w)
{
    double begin = bench_now();
    {
        HD_SCOPE;
        run_once(w);
    }
    return bench_now() - begin;
}

static double bytes_of(const hd_tensor *t)
{
    static const int bytes[] = {4, 8, 8, 1};
    return t && t != HD_NONE ? (double)(hd_numel(t) * bytes[hd_dtype_of(t)]) : 0;
}

/* The bytes of the inputs and of the result; of dy and the gradients for backward. */
static double traffic(const survey_work *w, const hd_tensor *y)
{
    double sum = w->row.backward ? bytes_of(w->dy) : bytes_of(y);
    for (int i = 0; i < INPUTS; i++) {
        bool counts = w->in[i] && (!w->row.backward || hd_requires_grad(w->in[i]));
        sum += counts ? bytes_of(w->in[i]) : 0;
    }
    return sum;
}

static double first_run(survey_work *w)
{
    HD_SCOPE;
    hd_manual_seed(123);
    hd_tensor *y = run_once(w);
    w->bytes = y ? traffic(w, y) : 0;
    HD_NO_GRAD;
    return y ? hd_item(hd_mean(hd_abs(hd_to(y, HD_FLOAT64)))) : NAN;
}

static void end_row(survey_work *w)
{
    for (int i = 0; i < INPUTS; i++) {
        hd_release(w->in[i]);
    }
    hd_release(w->y);
    hd_release(w->dy);
    if (ops[w->row.op].way == I) {
        drop('x'); /* it has changed */
    }
    *w = (survey_work){0};
}

/* Draws the inputs of r, and runs it once. Returns the mean size of the result; NaN on failure. */
static double set_up(survey_work *w, const survey_row *r)
{
    HD_SCOPE;
    const survey_op *op = &ops[r->op];
    *w = (survey_work){.row = *r};
    for (int i = 0; op->inputs[i]; i++) {
        hd_tensor *t = input(r, i);
        bool differentiable = has_grad(op) && t && hd_dtype_of(t) <= HD_FLOAT64;
        w->in[i] = hd_retain(differentiable ? hd_requires_grad_(hd_detach(t), true) : t);
    }
    if (r->backward) {
        hd_manual_seed(122);
        w->y = hd_retain(run(r->op, w->in));
        hd_manual_seed(121);
        w->dy = hd_retain(hd_randn_n(hd_dtype_of(w->y), hd_ndim(w->y), hd_sizes(w->y)));
    }
    return first_run(w);
}

static bool begin_row(survey_work *w, const survey_row *r)
{
    double check = set_up(w, r), ns = time_of_one(w), begin = bench_now();
    for (int i = 0; i < 10 && bench_now() - begin < turn_ns; i++) {
        double again = time_of_one(w);
        ns = again < ns ? again : ns;
    }
    double calls = turn_ns / (ns + 1);
    w->calls = calls < 1 ? 1 : calls > 1e5 ? 100000 : (int)calls;
    printf("{\"check\": %.9g, \"ns\": %.1f, \"bytes\": %.0f}\n", check, ns, w->bytes);
    return hd_error_code() == HD_OK;
}

/* Runs r once if it has the smallest size, and says which row failed. After a failure, does
 * nothing. */
static void check_row(int id, const survey_row *r, void *user)
{
    int *rows = user;
    (void)id;
    if (r->size != SMALL || hd_error_code() != HD_OK) {
        return;
    }
    survey_work w;
    set_up(&w, r);
    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "heed-survey: %s of %s: %s\n", ops[r->op].name,
                hd_dtype_name((hd_dtype)r->dtype), hd_error_message());
    }
    *rows += 1;
    end_row(&w);
}

/* A turn, and for work on large tensors the better one of the bandwidths before and after it. */
static void turn(survey_work *w, int threads)
{
    const bench_traffic copy = {.in = 1, .out = 1, .bytes = 4.0 * 4096 * 4096};
    bool large = w->row.size == LARGE;
    double before = large ? bench_peak_bandwidth(threads, &copy) : 0;
    for (double end = bench_now() + warm_ns; bench_now() < end;) {
        time_of_one(w);
    }
    double begin = bench_now();
    for (int i = 0; i < w->calls; i++) {
        HD_SCOPE;
        run_once(w);
    }
    double ns = (bench_now() - begin) / w->calls;
    double after = large ? bench_peak_bandwidth(threads, &copy) : 0;
    printf("{\"ns\": %.1f, \"peak\": %.2f}\n", ns, before > after ? before : after);
}

static bool serve(int threads)
{
    char line[64];
    survey_work w = {0};
    bool ok = hd_set_num_threads(threads);
    while (ok && fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "turn\n") == 0) {
            turn(&w, threads);
        } else {
            end_row(&w);
            found f = {.id = atoi(line)};
            for_each_row(find_row, &f);
            ok = begin_row(&w, &f.row);
        }
        fflush(stdout);
        ok = ok && hd_error_code() == HD_OK;
    }
    if (!ok) {
        fprintf(stderr, "heed-survey: %s: %s\n", ops[w.row.op].name, hd_error_message());
    }
    end_row(&w);
    drop(0);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for_each_row(print_row, NULL);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--check") == 0) {
        int rows = 0;
        for_each_row(check_row, &rows);
        drop(0);
        printf("%d rows\n", rows);
        return hd_error_code() == HD_OK ? 0 : 1;
    }
    int threads = argc == 3 && strcmp(argv[1], "--threads") == 0 ? atoi(argv[2]) : 0;
    if (threads < 1) {
        fputs(usage, stderr);
        return 2;
    }
    return serve(threads) ? 0 : 1;
}
