/* test_golden.c - compares optimizer steps with PyTorch, for every option: twenty steps in
 * optim.txt, each of them compared, and a hundred in steps.txt, also under every schedule;
 * clipping. */
#include "cases.h"
#include "support/golden_tensor.h"

/* The largest |value| of a record, by which tolerances are scaled. */
static double largest(const golden_record *r)
{
    double top = 0;
    for (int64_t i = 0; i < r->numel; i++) {
        top = fmax(top, fabs(r->d[i]));
    }
    return top;
}

/* x's elements equal r's from index `from` on, within tolerance times r's largest |value|. */
static void ck_near(const hd_tensor *x, const golden_record *r, int64_t from, double tolerance,
                    const char *name)
{
    for (int64_t i = 0; i < hd_numel(x); i++) {
        double got = element_at(x, i), want = r->d[from + i];
        ck_assert_msg(fabs(got - want) <= tolerance * largest(r),
                      "%s: value %lld is %.17g, expected %.17g", name, (long long)(from + i), got,
                      want);
    }
}

/* ---------------------------------------------------------------- optimizers */

/* Makes a step for each gradient; `out` gets the parameter after every `every`-th step. */
static void run(const golden_file *f, const golden_case *c, bool strided_parameter,
                bool strided_grad)
{
    HD_SCOPE;
    const golden_record *out = golden_get(c, "out");
    bool f32 = out->type == GOLDEN_F32;
    const golden_case *given = case_gradients(f, out->type);
    const golden_record *grads = golden_get(given, "grads");
    hd_tensor *x = case_tensor(golden_get(given, "start"), 0);
    hd_tensor *p = hd_parameter(strided_parameter ? restrided(x) : x, true);
    hd_optim *o = case_optim(c, hd_list_of(p));
    ck_assert_msg(o, "%s: %s", c->name, hd_error_message());
    int64_t steps = grads->sizes[0], every = steps / out->sizes[0];
    for (int64_t k = 0; k < steps; k++) {
        hd_tensor *g = case_tensor(grads, 6 * k);
        ck_assert(hd_set_grad(p, strided_grad ? restrided(g) : g));
        ck_assert_msg(hd_optim_step(o), "%s: %s", c->name, hd_error_message());
        if ((k + 1) % every == 0) {
            ck_near(p, out, 6 * (k / every), f32 ? (steps > 20 ? 1e-5 : 1e-6) : 1e-12, c->name);
        }
    }
    hd_optim_free(o);
}

/* At least so many cases, because each row of the table of optimizers may add some. */
static void run_all(const char *path, int least)
{
    golden_file *f = golden_read(path);
    ck_assert_ptr_nonnull(f);
    int found = 0;
    for (int k = 0; k < f->count; k++) {
        const golden_case *c = &f->cases[k];
        if (golden_get(c, "out") && !golden_get(c, "schedule")) {
            run(f, c, false, false);
            run(f, c, true, false);
            run(f, c, false, true);
            found++;
        }
    }
    ck_assert_int_ge(found, least);
    golden_free(f);
}

START_TEST(twenty_steps)
{
    run_all(GOLDEN_DIR "/optim.txt", 32);
}
END_TEST

START_TEST(a_hundred_steps)
{
    run_all(GOLDEN_DIR "/steps.txt", 42);
}
END_TEST

static bool has_class(const golden_file *f, const char *class)
{
    bool found = false;
    for (int k = 0; k < f->count; k++) {
        found |= strcmp(golden_text(&f->cases[k], "class", ""), class) == 0;
    }
    return found;
}

START_TEST(every_optimizer_has_a_case)
{
    golden_file *f = golden_read(GOLDEN_DIR "/steps.txt");
    ck_assert_ptr_nonnull(f);
#define HAS(kind, class, ...) ck_assert_msg(has_class(f, class), "steps.txt has no " class);
    OPTIMIZERS(HAS)
    golden_free(f);
}
END_TEST

/* ---------------------------------------------------------------- schedules */

static void ck_lr(const golden_case *c, const hd_optim *o, int64_t k)
{
    const golden_record *lrs = golden_get(c, "lrs"); /* (101, 2) */
    for (int64_t i = 0; i < hd_optim_group_count(o); i++) {
        double got = hd_optim_group_lr(o, i), want = lrs->d[2 * k + i];
        ck_assert_msg(fabs(got - want) <= 1e-12 * fabs(want),
                      "%s: lr %lld of group %lld is %.17g, expected %.17g", c->name, (long long)k,
                      (long long)i, got, want);
    }
}

static void run_schedule(const golden_file *f, const golden_case *c)
{
    HD_SCOPE;
    const golden_case *given = case_gradients(f, GOLDEN_F64);
    const golden_record *grads = golden_get(given, "grads"), *start = golden_get(given, "start");
    const golden_record *out = golden_get(c, "out"); /* (10, 2, 2, 3) */
    hd_tensor *p[2];
    for (int i = 0; i < 2; i++) {
        p[i] = hd_parameter(case_tensor(start, 0), true);
    }
    hd_optim *o = case_optim(c, hd_list_of(p[0]));
    if (case_joins(c) < 0) {
        case_second_group(c, o, p[1]);
    }
    hd_schedule *s = case_schedule(c, o);
    ck_assert_msg(s, "%s: %s", c->name, hd_error_message());
    for (int64_t k = 0; k < 100; k++) {
        if (k == case_joins(c)) {
            case_second_group(c, o, p[1]);
        }
        ck_lr(c, o, k);
        for (int i = 0; i < 2; i++) {
            ck_assert(hd_set_grad(p[i], case_tensor(grads, 6 * k)));
        }
        ck_assert_msg(hd_optim_step(o) && case_schedule_step(c, s, k), "%s: %s", c->name,
                      hd_error_message());
        for (int i = 0; i < 2 && k % 10 == 9; i++) {
            ck_near(p[i], out, 12 * (k / 10) + 6 * i, 1e-11, c->name);
        }
    }
    ck_lr(c, o, 100);
    ck_assert_int_eq(hd_schedule_steps(s), 100);
    hd_schedule_free(s);
    hd_optim_free(o);
}

START_TEST(schedules)
{
    golden_file *f = golden_read(GOLDEN_DIR "/steps.txt");
    ck_assert_ptr_nonnull(f);
    int found = 0;
    for (int k = 0; k < f->count; k++) {
        if (golden_get(&f->cases[k], "schedule")) {
            run_schedule(f, &f->cases[k]);
            found++;
        }
    }
    ck_assert_int_eq(found, 27);
    golden_free(f);
}
END_TEST

/* ---------------------------------------------------------------- clipping */

static hd_tensor *with_grad(hd_tensor *g)
{
    hd_tensor *p = hd_parameter(hd_zeros_like(g, hd_dtype_of(g)), true);
    ck_assert(hd_set_grad(p, g));
    return p;
}

static void run_clip(const golden_case *c, bool strided)
{
    HD_SCOPE;
    hd_list *parameters = hd_list_n(0, NULL);
    for (int k = 0; k < 3; k++) {
        hd_tensor *g = tensor_of(golden_get(c, "in%d", k));
        hd_list_append(parameters, with_grad(strided && k == 0 ? restrided(g) : g));
    }
    hd_dtype d = hd_dtype_of(hd_list_get(parameters, 0));
    hd_list_append(parameters, hd_parameter(hd_ones(d, 4), true)); /* without a gradient */
    hd_list_append(parameters, with_grad(hd_zeros(d, 0, 2)));
    double max_norm = golden_double(c, "max_norm", NAN), tolerance = d == HD_FLOAT32 ? 1e-6 : 1e-14;
    if (max_norm < 0) {
        ck_assert(hd_clip_grad_value_(parameters, -max_norm));
    } else {
        double norm =
            hd_clip_grad_norm_(parameters, max_norm, golden_double(c, "norm_type", NAN), true);
        double want = golden_double(c, "norm", NAN);
        ck_assert_msg(fabs(norm - want) <= tolerance * want, "%s: norm %.17g, expected %.17g",
                      c->name, norm, want);
    }
    for (int k = 0; k < 3; k++) {
        const golden_record *out = golden_get(c, "out%d", k);
        ck_near(hd_grad(hd_list_get(parameters, k)), out, 0, tolerance, c->name);
    }
}

START_TEST(clipping)
{
    golden_file *f = golden_read(GOLDEN_DIR "/steps.txt");
    ck_assert_ptr_nonnull(f);
    int found = 0;
    for (int k = 0; k < f->count; k++) {
        if (golden_get(&f->cases[k], "norm_type")) {
            run_clip(&f->cases[k], false);
            run_clip(&f->cases[k], true);
            found++;
        }
    }
    ck_assert_int_eq(found, 34);
    golden_free(f);
}
END_TEST

Suite *suite_golden(void)
{
    const TTest *const tests[] = {
        twenty_steps, a_hundred_steps, every_optimizer_has_a_case, schedules, clipping,
    };
    return SUITE("golden", tests);
}
