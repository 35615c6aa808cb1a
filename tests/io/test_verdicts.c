/* test_verdicts.c - loads every file of tests/golden/io: heed must accept each file that Python's
 * safetensors and NumPy accept, with the same values, unless verdicts.h lists the file. */
#include <stdio.h>

#include "suites.h"
#include "support/little_endian.h"
#include "verdicts.h"

/* ---------------------------------------------------------------- what a format is */

static hd_dict *load_npy(void)
{
    HD_SCOPE;
    hd_tensor *x = hd_load_npy("x");
    hd_dict *d = x ? hd_dict_new() : NULL;
    ck_assert(!d || hd_dict_set(d, "x", x));
    return d;
}

static hd_dict *load_copies(void)
{
    return hd_load_safetensors("x", NULL);
}

static hd_dict *load_mapped(void)
{
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = true;
    return hd_load_safetensors("x", &o);
}

static bool save_npy(const hd_dict *d)
{
    return hd_save_npy("y", hd_dict_get(d, "x"));
}

static bool save_safetensors(const hd_dict *d)
{
    return hd_save_safetensors("y", d);
}

static const struct format {
    const char *file, *function;
    hd_dict *(*load)(void);
    bool (*save)(const hd_dict *d);
    const refusal *refused;
    size_t n_refused;
} formats[] = {
    {"safetensors.txt", "hd_load_safetensors", load_copies, save_safetensors, refused_safetensors,
     sizeof refused_safetensors / sizeof *refused_safetensors},
    {"safetensors.txt", "hd_load_safetensors", load_mapped, save_safetensors, refused_safetensors,
     sizeof refused_safetensors / sizeof *refused_safetensors},
    {"npy.txt", "hd_load_npy", load_npy, save_npy, refused_npy,
     sizeof refused_npy / sizeof *refused_npy},
};

static const struct format *format;
static size_t refused, compared, saved;

/* ---------------------------------------------------------------- one case */

static void expect_refusal(const golden_case *c, const refusal *r)
{
    char message[600];
    snprintf(message, sizeof message, "%s: 'x': %s", format->function, r->message);
    ck_assert_msg(r->differs == c->python_loads, "%s: Python %s", c->name,
                  c->python_loads ? "takes it: say so" : "refuses it too");
    ck_assert_ptr_null(format->load());
    ck_assert_msg(strcmp(hd_error_message(), message) == 0, "%s: %s", c->name, hd_error_message());
    ck_error(r->code, message);
}

static void compare_tensor(const golden_case *c, const hd_dict *d, const golden_tensor *t)
{
    HD_SCOPE;
    hd_tensor *x = hd_dict_get(d, t->name);
    ck_assert_msg(x, "%s: %s", c->name, hd_error_message());
    ck_assert_str_eq(hd_dtype_name(hd_dtype_of(x)), t->dtype);
    ck_assert_str_eq(hd_shape_repr(x), t->shape);
    ck_assert(hd_is_contiguous(x));
    unsigned char *bytes = malloc(t->n + 1);
    ck_assert(hd_copy_to(x, bytes, t->n));
    if (strcmp(c->name, "native order") != 0) { /* NumPy takes it as the reader's, too */
        little_endian(bytes, t->n, (size_t)hd_dtype_size(hd_dtype_of(x)));
    }
    ck_assert_msg(memcmp(bytes, t->bytes, t->n) == 0, "%s: other values", c->name);
    free(bytes);
    compared++;
}

static void expect_load(const golden_case *c)
{
    hd_dict *d = format->load();
    ck_assert_msg(d, "%s: %s", c->name, hd_error_message());
    ck_assert_msg(c->python_loads, "%s: Python refuses it", c->name);
    int tensors = 0;
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        tensors += hd_dict_kind_of(d, hd_dict_name(d, i)) == HD_DICT_TENSOR;
    }
    ck_assert_msg(tensors == c->tensors || c->n > 100000, "%s: %d tensors", c->name, tensors);
    for (int i = 0; i < c->tensors; i++) {
        compare_tensor(c, d, &c->tensor[i]);
    }
    if (strncmp(c->name, "saved", 5) == 0) { /* as Python wrote it */
        ck_assert_msg(format->save(d), "%s: %s", c->name, hd_error_message());
        ck_assert_msg(same_files("x", "y"), "%s: other bytes", c->name);
        saved++;
    }
    hd_dict_free(d);
}

static void check_case(const golden_case *c)
{
    write_file("x", c->bytes, c->n);
    const refusal *next = &format->refused[refused];
    if (refused < format->n_refused && strcmp(next->name, c->name) == 0) {
        expect_refusal(c, next);
        refused++;
    } else {
        expect_load(c);
    }
}

/* Every case loads or is in the list, and the list holds no other case. Some of what Python wrote
 * is written again. */
static void check_format(const struct format *f)
{
    format = f;
    refused = compared = saved = 0;
    ck_assert_int_gt(for_each_case(format->file, check_case), (int)format->n_refused);
    ck_assert_uint_eq(refused, format->n_refused);
    ck_assert_uint_gt(compared, 40);
    ck_assert_uint_ge(saved, 2);
}

START_TEST(safetensors_as_python)
{
    check_format(&formats[0]);
}
END_TEST

START_TEST(safetensors_as_python_mapped)
{
    check_format(&formats[1]);
}
END_TEST

START_TEST(npy_as_numpy)
{
    check_format(&formats[2]);
}
END_TEST

Suite *suite_verdicts(void)
{
    const TTest *const tests[] = {safetensors_as_python, safetensors_as_python_mapped,
                                  npy_as_numpy};
    return SUITE("verdicts", tests);
}
