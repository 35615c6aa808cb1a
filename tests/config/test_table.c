/* test_table.c - tests of invalid settings tables, ranges without bounds, and checks that refuse
 * without a message. */
#include <limits.h>

#include "suites.h"

typedef struct small {
    int i;
    int64_t large;
    double d, most, any;
    bool b;
    char text[4];
} small;

static void ck_fault(const hd_config_field *fields, int64_t n, const char *message)
{
    small s;
    const hd_config_table table = {sizeof table, sizeof(small), fields, n, NULL};
    ck_assert(!hd_config_defaults(&table, &s));
    ck_error(HD_VALUE, message);
}

START_TEST(another_size)
{
    const hd_config_field field = HD_CONFIG_INT_OF(small, i, "a", 1, 0, 9);
    const hd_config_table table = {8, sizeof(small), &field, 1, NULL};
    small s;
    ck_assert(!hd_config_defaults(&table, &s));
    ck_error(HD_VALUE,
             sized("hd_config_defaults: t->size 8: expected %zu, as HD_CONFIG_TABLE gives",
                   sizeof(hd_config_table)));
}
END_TEST

#define FAULT(message, ...)                                                                        \
    do {                                                                                           \
        const hd_config_field fields_[] = {__VA_ARGS__};                                           \
        ck_fault(fields_, (int64_t)(sizeof fields_ / sizeof *fields_),                             \
                 "hd_config_defaults: the table's field " message);                                \
    } while (0)

#define I(path) HD_CONFIG_INT_OF(small, i, path, 1, 0, 9)

START_TEST(faults)
{
    FAULT(
        "1, 'a': an earlier field has the same path, or one of the two paths begins with the other",
        I("a"), I("a"));
    FAULT("1, 'a.b': an earlier field has the same path, or one of the two paths begins with the "
          "other",
          I("a"), I("a.b"));
    FAULT(
        "1, 'a': an earlier field has the same path, or one of the two paths begins with the other",
        I("a.b"), I("a"));
    FAULT("2, 'a.c': it is apart from the other fields of its object. Put them together", I("a.b"),
          I("d"), I("a.c"));
    FAULT("0, '': expected names with dots between them", I(""));
    FAULT("0, '.a': expected names with dots between them", I(".a"));
    FAULT("0, 'a.': expected names with dots between them", I("a."));
    FAULT("0, 'a..b': expected names with dots between them", I("a..b"));
    FAULT("0, '': expected names with dots between them", I(NULL));
    FAULT("0, 'a': its default is not allowed", HD_CONFIG_INT_OF(small, i, "a", 10, 0, 9));
    FAULT("0, 'a': its default is not allowed", HD_CONFIG_INT_OF(small, i, "a", 0.5, 0, 9));
    FAULT("0, 'a': its default is not allowed", HD_CONFIG_DOUBLE_OF(small, d, "a", NAN, 0, 9));
    hd_config_field four = HD_CONFIG_BOOL_OF(small, b, "a", 4); /* neither true nor false */
    four.min = four.max = 4;
    FAULT("0, 'a': its default is not allowed", four);
    FAULT("0, 'a': its default is not allowed", HD_CONFIG_STRING_OF(small, text, "a", "abcd"));
    FAULT("0, 'a': its default is not allowed", HD_CONFIG_STRING_OF(small, text, "a", NULL));
    FAULT("0, 'a': its default is not allowed", HD_CONFIG_ENUM_OF(small, i, "a", "x", "y|z"));
    FAULT("0, 'a': its default is not allowed", HD_CONFIG_ENUM_OF(small, i, "a", NULL, "y|z"));
    FAULT("0, 'a': its default is not allowed", HD_CONFIG_ENUM_OF(small, i, "a", "x", NULL));
    FAULT("0, 'a': the size of the struct's field does not fit the type, or it is "
          "outside the struct",
          HD_CONFIG_BOOL_OF(small, i, "a", true));
    FAULT("0, 'a': the size of the struct's field does not fit the type, or it is "
          "outside the struct",
          HD_CONFIG_DOUBLE_OF(small, i, "a", 1, 0, 1));
    FAULT("0, 'a': the size of the struct's field does not fit the type, or it is "
          "outside the struct",
          HD_CONFIG_ENUM_OF(small, large, "a", "x", "x"));
    const hd_config_field beyond = {"a", HD_CONFIG_INT, sizeof(small), 4, 1, 0, 9, NULL, NULL};
    ck_fault(
        &beyond, 1,
        "hd_config_defaults: the table's field 0, 'a': the size of the struct's field does not "
        "fit the type, or it is outside the struct");
    ck_fault(&beyond, 0, "hd_config_defaults: t->n 0: expected 1 or more fields");
    const hd_config_field no_type = {"a", (hd_config_type)9, 0, sizeof(int), 1, 0, 9, NULL, NULL};
    ck_fault(
        &no_type, 1,
        "hd_config_defaults: the table's field 0, 'a': the size of the struct's field does not "
        "fit the type, or it is outside the struct");
    small s;
    const hd_config_table no_fields = {sizeof no_fields, sizeof(small), NULL, 1, NULL};
    ck_assert(!hd_config_defaults(&no_fields, &s));
    ck_error(HD_NULL_ARG, "hd_config_defaults: t->fields is NULL");
    ck_assert(!hd_config_defaults(NULL, &s));
    ck_error(HD_NULL_ARG, "hd_config_defaults: t is NULL");
    ck_assert(!hd_config_defaults(&settings_table, NULL));
    ck_error(HD_NULL_ARG, "hd_config_defaults: config is NULL");
}
END_TEST

/* The C type bounds what the table leaves open. */
START_TEST(open_ranges)
{
    static const hd_config_field fields[] = {
        HD_CONFIG_INT_OF(small, i, "i", 0, -INFINITY, INFINITY),
        HD_CONFIG_INT_OF(small, large, "large", 0, -INFINITY, INFINITY),
        HD_CONFIG_DOUBLE_OF(small, d, "d", 0, 0, INFINITY),
        HD_CONFIG_DOUBLE_OF(small, most, "most", 0, -INFINITY, 1),
        HD_CONFIG_DOUBLE_OF(small, any, "any", 0, -INFINITY, INFINITY),
    };
    static const hd_config_table table = HD_CONFIG_TABLE(small, fields, NULL);
    static const struct {
        const char *set, *message;
    } rows[] = {
        {"i=2147483648", "i: found 2147483648: expected an integer from -2147483648 to 2147483647"},
        {"large=9007199254740993", "large: found 9007199254740992: expected an integer from "
                                   "-9007199254740991 to 9007199254740991"},
        {"d=-1", "d: found -1: expected a number, at least 0"},
        {"most=2", "most: found 2: expected a number, at most 1"},
        {"any=x", "any: found \"x\": expected a number"},
    };
    small s;
    char message[256];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert(!hd_config_load(&table, &s, NULL, 1, &rows[i].set));
        snprintf(message, sizeof message, "hd_config_load: setting %s: %s", rows[i].set,
                 rows[i].message);
        ck_error(HD_VALUE, message);
    }
    const char *const good[] = {"i=-2147483648", "large=-9007199254740991", "d=1e308"};
    ck_assert(hd_config_load(&table, &s, NULL, 3, good));
    ck_assert_int_eq(s.i, INT_MIN);
    ck_assert_int_eq(s.large, -9007199254740991);
    ck_assert(s.d == 1e308);
    s.d = INFINITY; /* in the range, but JSON has no such number */
    ck_assert_ptr_null(hd_config_text(&table, &s));
    ck_error(HD_VALUE, "hd_config_text: the struct: d: found inf: expected a number, at least 0");
}
END_TEST

static bool silent(const void *config, const hd_config_source *from)
{
    (void)config, (void)from;
    return false;
}

START_TEST(a_silent_check)
{
    static const hd_config_field fields[] = {I("i")};
    static const hd_config_table table = HD_CONFIG_TABLE(small, fields, silent);
    small s;
    ck_assert(!hd_config_load(&table, &s, NULL, 0, NULL));
    ck_error(HD_USER, "hd_config_load: the settings: the check returned false without an error. A "
                      "check that refuses a value must call hd_config_refuse");
    ck_assert_ptr_null(hd_config_text(&table, &(small){.i = 3}));
    ck_error(HD_USER, "hd_config_text: the struct: the check returned false without an error. A "
                      "check that refuses a value must call hd_config_refuse");
}
END_TEST

static bool refuses_nothing(const void *config, const hd_config_source *from)
{
    (void)config;
    ck_assert(!hd_config_refuse(from, NULL, "text"));
    ck_error(HD_NULL_ARG, "hd_config_refuse: path is NULL");
    ck_assert(!hd_config_refuse(from, "i", NULL));
    ck_error(HD_NULL_ARG, "hd_config_refuse: format is NULL");
    return true;
}

START_TEST(a_refusal_without_a_path)
{
    static const hd_config_field fields[] = {I("i")};
    static const hd_config_table table = HD_CONFIG_TABLE(small, fields, refuses_nothing);
    small s;
    ck_assert(hd_config_load(&table, &s, NULL, 0, NULL));
    ck_assert_int_eq(s.i, 1);
}
END_TEST

/* A text with room for its end alone can only be empty. */
START_TEST(room_for_nothing)
{
    typedef struct nothing {
        char text[1];
    } nothing;
    static const hd_config_field fields[] = {HD_CONFIG_STRING_OF(nothing, text, "text", "")};
    static const hd_config_table table = HD_CONFIG_TABLE(nothing, fields, NULL);
    const char *set = "text=a";
    nothing t = {"x"};
    ck_assert(hd_config_defaults(&table, &t));
    ck_assert_str_eq(t.text, "");
    ck_assert(!hd_config_load(&table, &t, NULL, 1, &set));
    ck_error(HD_VALUE, "hd_config_load: setting text=a: text: found \"a\": expected a string of at "
                       "most 0 bytes");
}
END_TEST

Suite *suite_table(void)
{
    const TTest *const tests[] = {another_size, faults,         room_for_nothing,
                                  open_ranges,  a_silent_check, a_refusal_without_a_path};
    return SUITE("table", tests);
}
