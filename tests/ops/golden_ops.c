/* golden_ops.c - runs the cases of ops.txt, grads.txt, signs.txt and functions.txt, by calls that
 * the table of functions generates. */
#include "golden_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/start.h"
#include "golden_calls.h"
#include "suites.h"
#include "support/golden_tensor.h"
#include "support/level.h"
#include "support/support.h"

#include "golden_made.h"

static const char *const sections[] = {GOLDEN_SECTIONS};
enum {
    SECTIONS = sizeof sections / sizeof sections[0],
    OPS = sizeof golden_ops / sizeof *golden_ops
};

/* A float64 result of float32 inputs may have been rounded to float32 on its way. */
static bool close_enough(const golden_case *c, double got, double want, bool exact)
{
    if (got == want || (isnan(got) && isnan(want))) {
        return true;
    }
    bool single = false;
    for (int k = 0; k < c->count; k++) {
        single |= c->records[k].type == GOLDEN_F32;
    }
    double relative = single ? 1e-6 : 1e-12, absolute = single ? 1e-7 : 1e-13;
    return !exact && isfinite(want) && fabs(got - want) <= relative * fabs(want) + absolute;
}

/* y is the record's tensor: dtype, sizes, values, and with `signs` the signs of zeros */
static void same(const golden_case *c, const char *field, hd_tensor *y, bool exact, bool signs)
{
    const golden_record *r = golden_get(c, "%s", field);
    ck_assert_msg(y && y != HD_NONE, "%s/%s: no result: %s", c->name, field, hd_error_message());
    ck_assert_msg(hd_dtype_of(y) == dtype_of_record(r), "%s/%s: %s, expected %s", c->name, field,
                  hd_dtype_name(hd_dtype_of(y)), hd_dtype_name(dtype_of_record(r)));
    hd_tensor *like = hd_empty_n(dtype_of_record(r), r->ndim, r->sizes);
    ck_assert_msg(hd_ndim(y) == r->ndim &&
                      memcmp(hd_sizes(y), r->sizes, sizeof(int64_t) * (size_t)r->ndim) == 0,
                  "%s/%s: %s, expected %s", c->name, field, hd_shape_repr(y), hd_shape_repr(like));
    for (int64_t i = 0; i < r->numel; i++) {
        int64_t index[HD_MAX_DIMS], rest = i;
        for (int d = r->ndim - 1; d >= 0; d--) {
            index[d] = rest % r->sizes[d];
            rest /= r->sizes[d];
        }
        double got = hd_get_n(y, r->ndim, index);
        bool ok = r->i ? hd_get_int_n(y, r->ndim, index) == r->i[i]
                       : close_enough(c, got, r->d[i], exact);
        ok &= !signs || got != 0 || r->d[i] != 0 || !signbit(got) == !signbit(r->d[i]);
        ck_assert_msg(ok, "%s/%s at level %s: element %lld is %.17g, expected %.17g", c->name,
                      field, hd_cpu_level(), (long long)i, got, r->d[i]);
    }
}

static bool in_place(const char *op)
{
    return op[strlen(op) - 1] == '_' || strcmp(op, "setitem") == 0;
}

static void run_case(const golden_case *c, const golden_op *op, bool signs)
{
    HD_SCOPE;
    golden_args a = {.c = c};
    hd_tensor *leaves[GOLDEN_INPUTS];
    for (const golden_record *r; (r = golden_get(c, "in%d", a.n)); a.n++) {
        leaves[a.n] = tensor_of(r);
        if (golden_get(c, "grad%d", a.n)) {
            hd_requires_grad_(leaves[a.n], true);
        }
        a.x[a.n] = a.n == 0 && in_place(op->op) ? hd_clone(leaves[0]) : leaves[a.n];
    }
    hd_tensor *y = op->f(&a);
    if (golden_get(c, "error")) {
        ck_assert_msg(!y, "%s: a result, expected an error like: %s", c->name,
                      golden_text(c, "error", ""));
        ck_assert_msg(strncmp(hd_error_message(), "hd_", 3) == 0, "%s: message '%s'", c->name,
                      hd_error_message());
        hd_error_clear();
        return;
    }
    same(c, golden_get(c, "out") ? "out" : "out0", y, op->exact, signs);
    for (int k = 1; golden_get(c, "out%d", k); k++) {
        char field[16];
        snprintf(field, sizeof field, "out%d", k);
        same(c, field, a.extra[k - 1], op->exact, signs);
    }
    const golden_record *gy = golden_get(c, "gy");
    if (gy) {
        ck_assert_msg(hd_backward_with(y, tensor_of(gy), false), "%s: %s", c->name,
                      hd_error_message());
    }
    for (int k = 0; k < a.n; k++) {
        char field[16];
        snprintf(field, sizeof field, "grad%d", k);
        if (golden_get(c, "%s", field)) {
            same(c, field, hd_grad(leaves[k]), op->exact, signs);
        }
    }
    ck_assert_str_eq(hd_error_message(), "");
}

/* Runs the cases of the section's operations, and counts them. */
static void run_file(const char *path, const char *section, bool signs, int *counts)
{
    golden_file *f = golden_read(path);
    ck_assert_ptr_nonnull(f);
    for (int k = 0; k < f->count; k++) {
        const char *name = golden_text(&f->cases[k], "op", "");
        for (int i = 0; i < OPS; i++) {
            if (strcmp(golden_ops[i].section, section) == 0 &&
                strcmp(golden_ops[i].op, name) == 0) {
                run_case(&f->cases[k], &golden_ops[i], signs);
                counts[i]++;
            }
        }
    }
    golden_free(f);
}

/* Fails at the first case that differs, and for an operation without a case. */
START_TEST(values_and_gradients_are_pytorchs)
{
    warnings_expected();
    int counts[OPS] = {0};
    run_file(GOLDEN_DIR "/ops.txt", sections[_i], false, counts);
    run_file(GOLDEN_DIR "/grads.txt", sections[_i], false, counts);
    run_file(GOLDEN_DIR "/functions.txt", sections[_i], false, counts);
    const int before = leave_plain(), best = hd__level;
    for (hd__level = 0; hd__level <= best; hd__level++) {
        run_file(GOLDEN_DIR "/signs.txt", sections[_i], true, counts);
    }
    hd__level = before;
    for (int i = 0; i < OPS; i++) {
        ck_assert_msg(strcmp(golden_ops[i].section, sections[_i]) != 0 || counts[i] > 0,
                      "no case of %s", golden_ops[i].op);
    }
}
END_TEST

Suite *suite_golden(void)
{
    Suite *s = suite_create("golden");
    suite_add_loop(s, values_and_gradients_are_pytorchs, SECTIONS);
    return s;
}
