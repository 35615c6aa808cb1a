/* test_effective.c - tests that the effective settings can be written and loaded again. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/comma_locale.h"
#include "suites.h"

static const char written[] = "{\n"
                              "    \"seed\": -5,\n"
                              "    \"model\": {\n"
                              "        \"emb_dim\": 64,\n"
                              "        \"n_heads\": 4,\n"
                              "        \"qkv\": {\n"
                              "            \"bias\": true\n"
                              "        }\n"
                              "    },\n"
                              "    \"train\": {\n"
                              "        \"lr\": 0.1,\n"
                              "        \"schedule\": \"linear\"\n"
                              "    },\n"
                              "    \"data\": \"b\\\"\\\\\xc3\xa9\"\n"
                              "}\n";

START_TEST(text)
{
    settings s = changed_settings();
    char *first = hd_config_text(&settings_table, &s);
    ck_assert_str_eq(first, written);
    comma_locale();
    char *second = hd_config_text(&settings_table, &s);
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(second, written);
    hd_free(first);
    hd_free(second);
}
END_TEST

START_TEST(control_characters)
{
    settings s = changed_settings();
    memcpy(s.data, "\b\f\n\r\t\x1f\x7f", 8);
    char *first = hd_config_text(&settings_table, &s);
    ck_assert_ptr_nonnull(
        strstr(first, "\"data\": \"\\u0008\\u000c\\u000a\\u000d\\u0009\\u001f\x7f\"\n"));
    ck_assert(load_text(&s, first));
    ck_assert_str_eq(s.data, "\b\f\n\r\t\x1f\x7f");
    hd_free(first);
}
END_TEST

/* Values of every kind come back bit for bit, and their text byte for byte. */
START_TEST(round_trip)
{
    static const double lrs[] = {0,    1,   0.1,      1.0 / 3, 5e-324, 2.2250738585072014e-308,
                                 1e-5, 0.3, 0.1 + 0.2};
    static const char *const texts[] = {"", "\x01\x1f\n\t", "\"\\/\x7f", "\xf0\x9f\x98\x80"};
    for (int i = 0; i < 9; i++) {
        settings s = changed_settings(), back = {.untouched = "keep"};
        s.lr = lrs[i];
        s.seed = i % 2 ? 9000000000000000 - i : -9000000000000000 + i;
        s.schedule = i % 3;
        s.bias = i % 2;
        snprintf(s.data, sizeof s.data, "%s", texts[i % 4]);
        char *text = hd_config_text(&settings_table, &s);
        ck_assert_msg(text && load_text(&back, text), "%s", hd_error_message());
        ck_assert(back.lr == s.lr);
        ck_assert_int_eq(back.seed, s.seed);
        ck_assert_int_eq(back.schedule, s.schedule);
        ck_assert_int_eq(back.bias, s.bias);
        ck_assert_str_eq(back.data, s.data);
        char *again = hd_config_text(&settings_table, &back);
        ck_assert_str_eq(text, again);
        hd_free(text);
        hd_free(again);
    }
}
END_TEST

START_TEST(saves)
{
    char message[600];
    settings s = changed_settings(), back;
    const char *path = temporary("effective.json");
    ck_assert(hd_config_save(&settings_table, &s, path));
    ck_file(path, written);
    ck_assert(hd_config_load(&settings_table, &back, path, 0, NULL));
    write_file(path, "old", 3);
    s.n_heads = 0;
    ck_assert(!hd_config_save(&settings_table, &s, path));
    ck_error(HD_VALUE,
             "hd_config_save: the struct: model.n_heads: found 0: expected an integer from 1 "
             "to 64");
    ck_file(path, "old");
    s.n_heads = 4;
    hd_error_set(HD_USER, "earlier");
    ck_assert(!hd_config_save(&settings_table, &s, path));
    ck_error(HD_USER, "earlier");
    ck_file(path, "old");
    ck_assert(hd_config_save(&settings_table, &s, path));
    ck_file(path, written);
    path = temporary("no/where.json");
    ck_assert(!hd_config_save(&settings_table, &s, path));
    snprintf(message, sizeof message,
             "hd_config_save: '%s': the folder '%.*s' does not exist. Create it first", path,
             (int)(strrchr(path, '/') - path), path);
    ck_error(HD_IO, message);
    ck_assert(!hd_config_save(&settings_table, &s, NULL));
    ck_error(HD_NULL_ARG, "hd_config_save: path is NULL");
}
END_TEST

START_TEST(refused)
{
    settings s = changed_settings();
    ck_assert_ptr_null(hd_config_text(&settings_table, NULL));
    ck_error(HD_NULL_ARG, "hd_config_text: config is NULL");
    s.n_heads = 5;
    ck_assert_ptr_null(hd_config_text(&settings_table, &s));
    ck_error(HD_VALUE, "hd_config_text: the struct: model.n_heads: found 5: expected a divisor of "
                       "model.emb_dim, 64");
    s = changed_settings();
    s.lr = NAN;
    ck_assert_ptr_null(hd_config_text(&settings_table, &s));
    ck_error(HD_VALUE,
             "hd_config_text: the struct: train.lr: found nan: expected a number from 0 to 1");
    s = changed_settings();
    s.schedule = 3;
    ck_assert_ptr_null(hd_config_text(&settings_table, &s));
    ck_error(HD_VALUE,
             "hd_config_text: the struct: train.schedule: found 3: expected \"constant\", "
             "\"linear\" or \"cosine\"");
    s = changed_settings();
    memset(s.data, 'x', sizeof s.data);
    ck_assert_ptr_null(hd_config_text(&settings_table, &s));
    ck_error(HD_VALUE, "hd_config_text: the struct: data: found a text that is not UTF-8 or has no "
                       "zero at its end: expected a "
                       "string of at most 7 bytes");
    memcpy(s.data, "\xff", 2);
    ck_assert_ptr_null(hd_config_text(&settings_table, &s));
    ck_error(HD_VALUE, "hd_config_text: the struct: data: found a text that is not UTF-8 or has no "
                       "zero at its end: expected a "
                       "string of at most 7 bytes");
    s = changed_settings();
    s.seed = (1LL << 53) + 1;
    ck_assert_ptr_null(hd_config_text(&settings_table, &s));
    ck_error(HD_VALUE,
             "hd_config_text: the struct: seed: found 9007199254740992: expected an integer "
             "from -9e+15 to 9e+15");
}
END_TEST

/* ---------------------------------------------------------------- memory */

static bool loads_a_text(settings *s)
{
    static const char file[] = "{\"data\": \"\\u00e9\", \"model\": {\"qkv\": {\"bias\": true}}}";
    const char *const sets[] = {"seed=4", "data=x", "model={\"n_heads\": 4}"};
    return hd_config_load_text(&settings_table, s, "t.json", file, sizeof file - 1, 3, sets);
}

static bool loads_a_file(settings *s)
{
    return hd_config_load(&settings_table, s, temporary("scarce.json"), 0, NULL);
}

static bool makes_a_text(settings *s)
{
    char *text = hd_config_text(&settings_table, s);
    hd_free(text);
    return text;
}

static bool saves_a_file(settings *s)
{
    return hd_config_save(&settings_table, s, temporary("scarce.out"));
}

static bool names_what_is_allowed(settings *s)
{
    return load_text(s, "{\"model\": {\"something_else\": 1}}");
}

static bool refuses_what_is_no_json(settings *s)
{
    return load_text(s, "{\"data\": \"\\u00e9\", x");
}

/* A file that is saved can be loaded. */
START_TEST(a_text_that_is_too_long)
{
    enum { ROOM = 1 << 20 };
    static char config[ROOM], back[ROOM];
    static const hd_config_field fields[] = {
        {"text", HD_CONFIG_STRING, 0, ROOM, 0, 0, 0, "", NULL}};
    static const hd_config_table table = {sizeof table, ROOM, fields, 1, NULL};
    char message[600];
    const char *path = temporary("long.json");
    const size_t most = ROOM - strlen("{\n    \"text\": \"\"\n}\n");
    memset(config, 'a', most);
    ck_assert_msg(hd_config_save(&table, config, path), "%s", hd_error_message());
    ck_assert_msg(hd_config_load(&table, back, path, 0, NULL), "%s", hd_error_message());
    ck_assert_str_eq(back, config);
    config[most] = 'a';
    ck_assert(!hd_config_save(&table, config, path));
    snprintf(message, sizeof message,
             "hd_config_save: '%s': the text has 1048577 bytes: expected at most 1048576. "
             "hd_config_load reads no larger file.",
             path);
    ck_error(HD_VALUE, message);
    ck_assert(hd_config_load(&table, back, path, 0, NULL));
}
END_TEST

/* The code that each function gives with enough memory. With less it is HD_MEMORY, and the struct
 * stays as it was. */
static const struct {
    bool (*run)(settings *s);
    hd_code code;
    int64_t allocations; /* at least so many */
} scarcities[] = {
    {loads_a_text, HD_OK, 8},
    {loads_a_file, HD_OK, 2},
    {makes_a_text, HD_OK, 2},
    {saves_a_file, HD_OK, 2},
    {names_what_is_allowed, HD_VALUE, 3},
    {refuses_what_is_no_json, HD_FORMAT, 2},
};

START_TEST(runs_out_at_every_allocation)
{
    bool done = false;
    int64_t k = 0;
    write_file(temporary("scarce.json"), "{\"seed\": 7}", 11);
    write_file(temporary("scarce.out"), "old", 3);
    hd_shutdown();
    for (; !done && k < 200; k++) {
        settings s = changed_settings(), before = s;
        scarce m = {.left = k};
        scarce_use(&m);
        bool ok = scarcities[_i].run(&s);
        done = hd_error_code() != HD_MEMORY;
        ck_assert_int_eq(hd_error_code(), done ? scarcities[_i].code : HD_MEMORY);
        ck_assert_int_eq(ok, done && scarcities[_i].code == HD_OK);
        ck_assert(ok || memcmp(&s, &before, sizeof s) == 0);
        hd_error_clear();
        ck_assert_int_eq(m.blocks, 0);
        hd_shutdown();
        scarce_end();
        if (!ok) {
            ck_file(temporary("scarce.out"), "old");
        }
    }
    ck_assert(done);
    ck_assert_int_gt(k, scarcities[_i].allocations);
}
END_TEST

Suite *suite_effective(void)
{
    const TTest *const tests[] = {text,  control_characters,      round_trip,
                                  saves, a_text_that_is_too_long, refused};
    Suite *s = SUITE("effective", tests);
    suite_add_loop(s, runs_out_at_every_allocation, sizeof scarcities / sizeof scarcities[0]);
    return s;
}
