/* test_print.c - tests of printing: PyTorch's own reprs (golden/repr.txt), options, lists, floats,
 * writing. */
#include "suites.h"

#include "support/golden_tensor.h"
#include "tensor/copy.h"
#include "tensor/lifecycle.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- golden cases */

/* What autograd would attach to a tensor; here it is the suffix itself. */
static void release_suffix(void *attachment)
{
    (void)attachment;
}

static void describe_suffix(const hd_tensor *t, char *text, size_t n)
{
    snprintf(text, n, "%s", (const char *)t->attachment);
}

static const hd__tensor_attachment_ops suffix_ops = {.release = release_suffix,
                                                     .describe = describe_suffix};

static void set_suffix(hd_tensor *x, const char *suffix)
{
    x->attachment = (void *)(uintptr_t)suffix;
    x->attachment_ops = &suffix_ops;
}

static void set_flags(hd_tensor *x, const char *flags)
{
    if (strncmp(flags, "parameter", 9) == 0) {
        x->flags |= HD__F_PARAMETER;
    }
    if (strcmp(flags, "mul1") == 0) {
        set_suffix(x, "grad_fn=<MulBackward0>");
    } else if (strcmp(flags, "requires_grad") == 0 ||
               (strcmp(flags, "parameter") == 0 && hd__tensor_is_float(x->dtype))) {
        set_suffix(x, "requires_grad=True");
    }
}

static hd_tensor *from_ramp(const golden_case *c)
{
    const golden_record *sizes = golden_get(c, "sizes"), *ramp = golden_get(c, "ramp");
    hd_tensor *x = hd_empty_n(HD_FLOAT64, (int)sizes->numel, sizes->i);
    for (int64_t i = 0; i < x->numel; i++) {
        ((double *)hd__tensor_ptr(x))[i] = ramp->d[0] + ramp->d[1] * (double)i;
    }
    const char *dtype = golden_text(c, "dtype", "f32");
    return hd__tensor_cast(x, strcmp(dtype, "f32") == 0    ? HD_FLOAT32
                              : strcmp(dtype, "f64") == 0  ? HD_FLOAT64
                              : strcmp(dtype, "i64") == 0  ? HD_INT64
                              : strcmp(dtype, "bf16") == 0 ? HD_BFLOAT16
                                                           : HD_BOOL);
}

static hd_tensor *step_view(const hd_tensor *x, const char *step)
{
    hd_tensor v = *x;
    char name[16];
    int used, d;
    int64_t n[3];
    ck_assert_int_eq(sscanf(step, "%15s%n", name, &used), 1);
    if (strcmp(name, "permute") == 0) {
        for (int i = 0; i < x->ndim; i++) {
            ck_assert_int_eq(sscanf(step += used, "%d%n", &d, &used), 1);
            v.sizes[i] = x->sizes[d];
            v.strides[i] = x->strides[d];
        }
    } else if (strcmp(name, "transpose") == 0) {
        ck_assert_int_eq(sscanf(step + used, "%d %" SCNd64, &d, &n[0]), 2);
        v.sizes[d] = x->sizes[n[0]];
        v.strides[d] = x->strides[n[0]];
        v.sizes[n[0]] = x->sizes[d];
        v.strides[n[0]] = x->strides[d];
    } else {
        ck_assert_str_eq(name, "slice");
        ck_assert_int_eq(
            sscanf(step + used, "%d %" SCNd64 " %" SCNd64 " %" SCNd64, &d, &n[0], &n[1], &n[2]), 4);
        v.offset += n[0] * x->strides[d];
        v.sizes[d] = (n[1] - n[0] + n[2] - 1) / n[2];
        v.strides[d] *= n[2];
    }
    return hd__tensor_alias(x, v.ndim, v.sizes, v.strides, v.offset);
}

static hd_tensor *case_tensor(const golden_case *c)
{
    const golden_record *values = golden_get(c, "values");
    hd_tensor *x = values ? tensor_of(values) : from_ramp(c);
    const char *view = golden_text(c, "view", "");
    while (*view) {
        x = step_view(x, view);
        view += strcspn(view, ";");
        view += strspn(view, "; ");
    }
    set_flags(x, golden_text(c, "flags", ""));
    return x;
}

static hd_print_options case_options(const golden_case *c)
{
    const char *profile = golden_text(c, "profile", "default");
    hd_print_options o = strcmp(profile, "short") == 0  ? hd_print_short()
                         : strcmp(profile, "full") == 0 ? hd_print_full()
                                                        : hd_print_defaults();
    o.precision = (int)golden_int(c, "precision", o.precision);
    o.threshold = golden_int(c, "threshold", o.threshold);
    o.edgeitems = golden_int(c, "edgeitems", o.edgeitems);
    o.linewidth = (int)golden_int(c, "linewidth", o.linewidth);
    o.sci_mode = (int)golden_int(c, "sci_mode", o.sci_mode);
    return o;
}

static golden_file *read_golden(void)
{
    golden_file *f = golden_read(GOLDEN_DIR "/repr.txt");
    ck_assert_ptr_nonnull(f);
    return f;
}

START_TEST(golden_tensors)
{
    golden_file *f = read_golden();
    int tensors = 0;
    for (int k = 0; k < f->count; k++) {
        HD_SCOPE;
        const golden_case *c = &f->cases[k];
        if (!golden_get(c, "values") && !golden_get(c, "ramp")) {
            continue;
        }
        const char *expected = golden_text(c, "repr", NULL);
        hd_tensor *x = case_tensor(c);
        hd_print_options o = case_options(c);
        ck_assert_msg(strcmp(hd_repr_with(x, &o), expected) == 0, "%s:\n%s\nexpected:\n%s", c->name,
                      hd_repr_with(x, &o), expected);
        ck_assert(hd_set_print_options(&o));
        ck_assert_str_eq(hd_repr(x), expected);
        ck_assert_str_eq(hd_repr_with(x, NULL), expected);
        ck_assert(hd_set_print_options(NULL));
        tensors++;
    }
    ck_assert_int_ge(tensors, 190);
    golden_free(f);
    ck_assert_int_eq(hd_scope_count(), 0);
}
END_TEST

START_TEST(golden_floats)
{
    golden_file *f = read_golden();
    int floats = 0;
    for (int k = 0; k < f->count; k++) {
        const golden_case *c = &f->cases[k];
        if (strncmp(c->name, "float_", 6) == 0) {
            ck_assert_str_eq(hd_float_repr(golden_double(c, "value", 0)),
                             golden_text(c, "repr", NULL));
            floats++;
        }
    }
    ck_assert_int_ge(floats, 37);
    golden_free(f);
}
END_TEST

static const char *golden_repr(const golden_file *f, const char *name)
{
    const golden_case *c = golden_find(f, name);
    ck_assert_ptr_nonnull(c);
    return golden_text(c, "repr", NULL);
}

START_TEST(golden_lists)
{
    golden_file *f = read_golden();
    hd_tensor *x = hd_from_data(HD_FLOAT32, ((float[]){1.5f, 2}), 2);
    hd_tensor *y = hd_from_data(HD_INT64, ((int64_t[]){1, 2, 3, 4}), 2, 2);
    ck_assert_str_eq(hd_list_repr(hd_list_of(hd_scalar_tensor(HD_FLOAT32, 3.5), x)),
                     golden_repr(f, "list_of_rows"));
    ck_assert_str_eq(hd_list_repr(hd_list_of(y, y)), golden_repr(f, "list_2d"));
    ck_assert_str_eq(hd_list_repr(hd_list_n(0, NULL)), golden_repr(f, "list_empty"));

    hd_tensor *row0 = hd_from_data(HD_FLOAT32, ((float[]){1, 2}), 2);
    hd_tensor *row1 = hd_from_data(HD_FLOAT32, ((float[]){3, 4.5f}), 2);
    set_suffix(row0, "grad_fn=<UnbindBackward0>");
    set_suffix(row1, "grad_fn=<UnbindBackward0>");
    ck_assert_str_eq(hd_list_repr(hd_list_of(row0, row1)), golden_repr(f, "list_iterated_grad"));

    ck_assert_str_eq(hd_shape_repr(hd_scalar_tensor(HD_FLOAT32, 0)), golden_repr(f, "size_0"));
    ck_assert_str_eq(hd_shape_repr(hd_zeros(HD_BOOL, 3)), golden_repr(f, "size_1"));
    ck_assert_str_eq(hd_shape_repr(hd_zeros(HD_INT64, 2, 6, 3)), golden_repr(f, "size_3"));
    ck_assert_str_eq(hd_shape_repr(hd_zeros(HD_INT64, 0, 1)), golden_repr(f, "size_zero"));
    golden_free(f);
}
END_TEST

/* ---------------------------------------------------------------- beyond the golden cases */

START_TEST(list_details)
{
    ck_assert_str_eq(hd_list_repr(hd_list_of(HD_NONE, hd_ones(HD_BOOL, 1), HD_NONE)),
                     "[None, tensor([True]), None]");
    hd_tensor *p = hd_ones(HD_FLOAT32, 1);
    set_flags(p, "parameter");
    ck_assert_str_eq(hd_list_repr(hd_list_of(p)),
                     "[Parameter containing:\ntensor([1.], requires_grad=True)]");
    /* A suffix wraps by the last line of its own tensor, wherever that line stands in the list. */
    hd_tensor *x = hd_full(HD_FLOAT32, 0.125, 6);
    set_suffix(x, "grad_fn=<MulBackward0>");
    ck_assert_str_eq(
        hd_list_repr(hd_list_of(x, x)),
        "[tensor([0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250],\n"
        "       grad_fn=<MulBackward0>), tensor([0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250],\n"
        "       grad_fn=<MulBackward0>)]");
}
END_TEST

START_TEST(nan_has_no_sign)
{
    ck_assert_str_eq(hd_repr(hd_full(HD_FLOAT64, copysign(NAN, -1), 1)),
                     "tensor([nan], dtype=torch.float64)");
    ck_assert_str_eq(hd_float_repr(copysign(NAN, -1)), "nan");
}
END_TEST

START_TEST(powers_of_two_read_back)
{
    for (int e = -1074; e <= 1023; e++) {
        HD_SCOPE;
        double v = ldexp(1, e);
        const char *text = hd_float_repr(v), *digits = text;
        ck_assert(strtod(text, NULL) == v);
        int significant = 0, zeros = 0;
        for (digits += strspn(digits, "0."); *digits && *digits != 'e'; digits++) {
            significant += *digits != '.';
            zeros = *digits == '0' || *digits == '.' ? zeros + (*digits == '0') : 0;
        }
        ck_assert_int_le(significant - zeros, 17);
    }
    ck_assert_str_eq(hd_float_repr(-ldexp(1, -24)), "-5.960464477539063e-08");
    ck_assert_str_eq(hd_float_repr(ldexp(1, -1022)), "2.2250738585072014e-308");
    ck_assert_str_eq(hd_float_repr(9999999999999998.0), "9999999999999998.0");
    ck_assert_str_eq(hd_float_repr(0.00012), "0.00012");
    ck_assert_str_eq(hd_float_repr(-120.0), "-120.0");
}
END_TEST

START_TEST(numbers_ignore_the_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8", "ps_AF",
                                        "ps_AF.UTF-8", "de_DE",       "es_ES.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (setlocale(LC_NUMERIC, names[i])) {
            ck_assert_str_eq(hd_repr(hd_full(HD_FLOAT32, 0.5, 2)), "tensor([0.5000, 0.5000])");
            ck_assert_str_eq(hd_repr(hd_full(HD_FLOAT32, -1.5e-7, 1)), "tensor([-1.5000e-07])");
            ck_assert_str_eq(hd_repr(hd_full(HD_FLOAT32, -12, 1)), "tensor([-12.])");
            ck_assert_str_eq(hd_float_repr(-0.1), "-0.1");
            ck_assert_str_eq(hd_float_repr(1e-5), "1e-05");
            ck_assert_str_eq(hd_float_repr(ldexp(1, -24)), "5.960464477539063e-08");
        }
    }
    setlocale(LC_NUMERIC, "C");
}
END_TEST

START_TEST(hidden_elements_cost_nothing)
{
    hd_tensor *one = hd_full(HD_FLOAT32, 0.25, 1, 1);
    hd_tensor *x = hd__tensor_expand(one, 2, (int64_t[]){INT64_C(1) << 30, INT64_C(1) << 30});
    hd_print_options o = hd_print_defaults();
    o.edgeitems = 1;
    ck_assert_str_eq(hd_repr_with(x, &o), "tensor([[0.2500,  ..., 0.2500],\n        ...,\n"
                                          "        [0.2500,  ..., 0.2500]])");
    o.edgeitems = INT64_MAX;
    ck_assert_str_eq(hd_repr_with(one, &o), "tensor([[0.2500]])");
}
END_TEST

START_TEST(longest_numbers)
{
    hd_print_options o = hd_print_defaults();
    o.precision = 1000;
    o.sci_mode = 0;
    ck_assert_uint_eq(strlen(hd_repr_with(hd_full(HD_FLOAT64, -1.5e308, 1), &o)),
                      strlen("tensor([-.],\n       dtype=torch.float64)") + 309);
    ck_assert_uint_eq(strlen(hd_repr_with(hd_full(HD_FLOAT64, -1.5, 1), &o)),
                      strlen("tensor([-1.],\n       dtype=torch.float64)") + 1000);
}
END_TEST

/* ---------------------------------------------------------------- options */

START_TEST(profiles)
{
    hd_print_options o = hd_print_defaults();
    ck_assert_uint_eq(o.size, sizeof o);
    ck_assert_int_eq(o.precision, 4);
    ck_assert_int_eq(o.threshold, 1000);
    ck_assert_int_eq(o.edgeitems, 3);
    ck_assert_int_eq(o.linewidth, 80);
    ck_assert_int_eq(o.sci_mode, -1);
    o = hd_print_short();
    ck_assert_int_eq(o.precision, 2);
    ck_assert_int_eq(o.threshold, 1000);
    ck_assert_int_eq(o.edgeitems, 2);
    o = hd_print_full();
    ck_assert_int_eq(o.precision, 4);
    ck_assert_int_eq(o.threshold, INT64_MAX);
}
END_TEST

START_TEST(invalid_options)
{
    hd_print_options o = hd_print_short();
    ck_assert(hd_set_print_options(&o));
    hd_tensor *x = hd_full(HD_FLOAT32, 0.5, 1);

#define REFUSED(field, value, message)                                                             \
    o = hd_print_defaults();                                                                       \
    o.field = value;                                                                               \
    ck_assert(!hd_set_print_options(&o));                                                          \
    ck_error(HD_VALUE, sized("hd_set_print_options: " message, sizeof o));                         \
    ck_assert_str_eq(hd_repr_with(x, &o), "NULL");                                                 \
    ck_error(HD_VALUE, sized("hd_repr_with: " message, sizeof o))

    REFUSED(size, 3, "o->size 3: expected %zu, as hd_print_defaults() gives");
    REFUSED(precision, -1, "precision -1: expected 0 to 1000");
    REFUSED(precision, 1001, "precision 1001: expected 0 to 1000");
    REFUSED(threshold, -1, "threshold -1: expected 0 or more");
    REFUSED(edgeitems, -1, "edgeitems -1: expected 0 or more");
    REFUSED(linewidth, 0, "linewidth 0: expected 1 or more");
    REFUSED(sci_mode, 2, "sci_mode 2: expected -1 to 1");
    REFUSED(sci_mode, -2, "sci_mode -2: expected -1 to 1");
#undef REFUSED
    ck_assert_str_eq(hd_repr(x), "tensor([0.50])"); /* the earlier options are in force */
    ck_assert(hd_set_print_options(NULL));
    ck_assert_str_eq(hd_repr(x), "tensor([0.5000])");
}
END_TEST

/* ---------------------------------------------------------------- writing, errors, memory */

START_TEST(writes)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    int64_t owned = hd_scope_count();
    ck_assert(hd_fprint(f, x));
    ck_assert_int_eq(hd_scope_count(), owned); /* nothing is left in the scope */
    hd_list *l = hd_list_of(x, HD_NONE);
    ck_assert(hd_fprint_list(f, l));
    fclose(f);
    ck_assert_str_eq(text, "tensor([1., 1.])\n[tensor([1., 1.]), None]\n");
    free(text);

    f = fopen("/dev/null", "r");
    errno = 0;
    ck_assert_uint_eq(fwrite("x", 1, 1, f), 0);
    const char *why = errno ? strerror(errno) : "unknown error"; /* as the C library says it */
    errno = ENOENT;                                              /* of an earlier call */
    ck_assert(!hd_fprint(f, x));
    ck_error(HD_IO, sized("hd_fprint: 17 bytes not written: %s", why));
    ck_assert(!hd_fprint_list(f, l));
    ck_error(HD_IO, sized("hd_fprint_list: 25 bytes not written: %s", why));
    fclose(f);
}
END_TEST

START_TEST(prints_to_stdout)
{
    char text[64] = "";
    FILE *f = tmpfile();
    fflush(stdout);
    int out = dup(STDOUT_FILENO);
    ck_assert(f && out >= 0 && dup2(fileno(f), STDOUT_FILENO) >= 0);
    hd_tensor *x = hd_ones(HD_INT64, 1);
    bool ok = hd_print(x) && hd_print_list(hd_list_of(x)) && hd_print(HD_NONE);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    ck_assert(ok);
    ck_assert_str_eq(text, "tensor([1])\n[tensor([1])]\nNone\n");
    ck_assert_uint_eq(n, strlen(text));
}
END_TEST

START_TEST(missing_arguments)
{
    hd_tensor *x = hd_ones(HD_INT64, 1);
    ck_assert_str_eq(hd_repr(NULL), "NULL");
    ck_error(HD_NULL_ARG, "hd_repr: x is NULL: expected a tensor or HD_NONE");
    ck_assert_str_eq(hd_repr_with(NULL, NULL), "NULL");
    ck_error(HD_NULL_ARG, "hd_repr_with: x is NULL: expected a tensor or HD_NONE");
    ck_assert_str_eq(hd_list_repr(NULL), "NULL");
    ck_error(HD_NULL_ARG, "hd_list_repr: l is NULL");
    ck_assert_str_eq(hd_shape_repr(NULL), "NULL");
    ck_error(HD_NULL_ARG, "hd_shape_repr: x is NULL");
    ck_assert_str_eq(hd_shape_repr(HD_NONE), "NULL");
    ck_error(HD_NULL_ARG, "hd_shape_repr: x is HD_NONE: expected a tensor");
    ck_assert(!hd_print(NULL));
    ck_error(HD_NULL_ARG, "hd_print: x is NULL: expected a tensor or HD_NONE");
    ck_assert(!hd_print_list(NULL));
    ck_error(HD_NULL_ARG, "hd_print_list: l is NULL");
    ck_assert(!hd_fprint(NULL, x));
    ck_error(HD_NULL_ARG, "hd_fprint: f is NULL");
    ck_assert(!hd_fprint(NULL, HD_NONE));
    ck_error(HD_NULL_ARG, "hd_fprint: f is NULL");
    ck_assert(!hd_fprint_list(NULL, hd_list_of(x)));
    ck_error(HD_NULL_ARG, "hd_fprint_list: f is NULL");
    ck_assert(!hd_fprint_list(stdout, NULL));
    ck_error(HD_NULL_ARG, "hd_fprint_list: l is NULL");
}
END_TEST

/* A chain that failed is printed without a crash, and its first error is set. */
START_TEST(failed_texts_can_be_printed)
{
    char line[64];
    hd_tensor *bad = hd_ones(HD_INT64, -1);
    snprintf(line, sizeof line, "%s %s", hd_repr(bad), hd_shape_repr(bad));
    ck_assert_str_eq(line, "NULL NULL");
    ck_error(HD_SHAPE, "hd_ones: (-1,): expected sizes of 0 or more");
}
END_TEST

START_TEST(none_is_printed)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    hd_print_options o = hd_print_short();
    ck_assert_str_eq(hd_repr(HD_NONE), "None");
    ck_assert_str_eq(hd_repr_with(HD_NONE, &o), "None");
    ck_assert_str_eq(hd_repr_with(HD_NONE, NULL), "None");
    ck_assert(hd_fprint(f, HD_NONE));
    fclose(f);
    ck_assert_str_eq(text, "None\n");
    free(text);
    o.precision = -1;
    ck_assert_str_eq(hd_repr_with(HD_NONE, &o), "NULL");
    ck_error(HD_VALUE, "hd_repr_with: precision -1: expected 0 to 1000");
}
END_TEST

START_TEST(out_of_memory)
{
    scarce s = {.left = -1};
    scarce_use(&s);
    hd_scope *scope = hd_scope_open();
    hd_tensor *x = hd_full(HD_FLOAT32, 0.5, 10, 30);
    int64_t blocks = s.blocks, failures = 0;
    for (bool done = false; !done; failures += !done) {
        s.left = failures;
        done = strcmp(hd_repr(x), "NULL") != 0;
        s.left = -1;
        ck_assert_int_eq(done, hd_error_code() == HD_OK);
        ck_assert(done || (hd_error_code() == HD_MEMORY && s.blocks == blocks));
        hd_error_clear();
    }
    ck_assert_int_ge(failures, 4); /* the text grows, and then belongs to the scope */
    s.left = 0;
    ck_assert_str_eq(hd_repr_with(x, NULL), "NULL");
    ck_assert_str_eq(hd_shape_repr(x), "NULL");
    ck_assert_str_eq(hd_repr(HD_NONE), "None"); /* which needs no memory */
    FILE *f = fopen("/dev/null", "w");
    ck_assert(!hd_fprint(f, x));
    fclose(f);
    ck_assert_int_eq(hd_error_code(), HD_MEMORY);
    hd_error_clear();
    hd_scope_close(scope);
    ck_assert_int_eq(s.blocks, 0);
    scarce_end();
}
END_TEST

Suite *suite_print(void)
{
    const TTest *const tests[] = {
        golden_tensors,
        golden_floats,
        golden_lists,
        list_details,
        nan_has_no_sign,
        powers_of_two_read_back,
        numbers_ignore_the_locale,
        hidden_elements_cost_nothing,
        longest_numbers,
        profiles,
        invalid_options,
        writes,
        prints_to_stdout,
        missing_arguments,
        failed_texts_can_be_printed,
        none_is_printed,
        out_of_memory,
    };
    return SUITE_OF("print", tests);
}
