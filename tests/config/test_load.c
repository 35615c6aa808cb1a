/* test_load.c - tests of loading settings from files and texts: accepted inputs, and the message of
 * every refusal. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/comma_locale.h"
#include "suites.h"

START_TEST(everything)
{
    settings s = {.untouched = "keep"};
    ck_assert(load_text(&s, " {\"train\": {\"schedule\": \"linear\", \"lr\": 1e-1},\n"
                            "  \"model\": {\"qkv\": {\"bias\": true}, \"n_heads\": 4.0,\n"
                            "             \"emb_dim\": 64},\n"
                            "  \"data\": \"b\\\"\\\\\\u00e9\", \"seed\": -5}\n"));
    settings want = changed_settings();
    ck_assert_str_eq(s.untouched, "keep");
    ck_assert_int_eq(s.seed, want.seed);
    ck_assert_int_eq(s.emb_dim, want.emb_dim);
    ck_assert_int_eq(s.n_heads, want.n_heads);
    ck_assert_int_eq(s.schedule, want.schedule);
    ck_assert(s.lr == 0.1);
    ck_assert(s.bias);
    ck_assert_str_eq(s.data, want.data);
}
END_TEST

static void ck_defaults(const settings *s)
{
    ck_assert_int_eq(s->seed, 123);
    ck_assert_int_eq(s->emb_dim, 768);
    ck_assert_int_eq(s->n_heads, 12);
    ck_assert_int_eq(s->schedule, 2);
    ck_assert(s->lr == 4e-4);
    ck_assert(!s->bias);
    ck_assert_str_eq(s->data, "a.txt");
}

/* A field that the text does not name gets its default, whatever the struct held. */
START_TEST(defaults)
{
    settings s = changed_settings();
    ck_assert(hd_config_defaults(&settings_table, &s));
    ck_defaults(&s);
    s = changed_settings();
    ck_assert(load_text(&s, "{}"));
    ck_defaults(&s);
    s = changed_settings();
    ck_assert(load_text(&s, "{\"model\": {\"qkv\": {}}}"));
    ck_defaults(&s);
    s = changed_settings();
    ck_assert(hd_config_load(&settings_table, &s, NULL, 0, NULL)); /* no file */
    ck_defaults(&s);
}
END_TEST

START_TEST(numbers)
{
    settings s;
    ck_assert(load_text(&s, "{\"seed\": 9000000000000000, \"train\": {\"lr\": 1}}"));
    ck_assert_int_eq(s.seed, 9000000000000000);
    ck_assert(s.lr == 1);
    ck_assert(load_text(&s, "{\"seed\": -9E15, \"train\": {\"lr\": -0.0}}"));
    ck_assert_int_eq(s.seed, -9000000000000000);
    ck_assert(load_text(&s, "{\"train\": {\"lr\": 0.30000000000000004}}"));
    ck_assert(s.lr == 0.1 + 0.2);
    comma_locale();
    double lrs[2] = {0};
    static const char *const sets[] = {"train.lr=0.0625"};
    lrs[0] = load_text(&s, "{\"train\": {\"lr\": 0.125}}") ? s.lr : 0;
    lrs[1] = hd_config_load_text(&settings_table, &s, "t.json", "{}", 2, 1, sets) ? s.lr : 0;
    bool high = load_text(&s, "{\"train\": {\"lr\": 1.5}}");
    setlocale(LC_ALL, "C");
    ck_assert(lrs[0] == 0.125 && lrs[1] == 0.0625 && !high);
    ck_error(HD_VALUE,
             "hd_config_load_text: t.json: train.lr: found 1.5: expected a number from 0 to 1");
}
END_TEST

/* ---------------------------------------------------------------- refusals */

typedef struct refusal {
    const char *text;
    hd_code code;
    const char *message; /* after "hd_config_load_text: t.json: " */
} refusal;

static const refusal refusals[] = {
    /* no JSON */
    {"", HD_FORMAT, "line 1, column 1: found the end: expected a value"},
    {" \n", HD_FORMAT, "line 2, column 1: found the end: expected a value"},
    {"{\"seed\": 01}", HD_FORMAT, "line 1, column 11: found '1': expected ',' or '}'"},
    {"{\"seed\": 1.}", HD_FORMAT, "line 1, column 12: found '}': expected a digit"},
    {"{\"seed\": 1e999}", HD_FORMAT,
     "line 1, column 10: found '1': expected a number that a double can hold"},
    {"{\"seed\": +1}", HD_FORMAT, "line 1, column 10: found '+': expected a value"},
    {"{\"seed\": NaN}", HD_FORMAT, "line 1, column 10: found 'N': expected a value"},
    {"{\"data\": \"\xff\"}", HD_FORMAT, "line 1, column 11: found byte 0xff: expected UTF-8"},
    {"\xef\xbb\xbf{}", HD_FORMAT, "line 1, column 1: found byte 0xef: expected a value"},
    {"{\"data\": \"\\ud800\"}", HD_FORMAT,
     "line 1, column 11: found '\\': expected a JSON escape, with surrogates in pairs"},
    {"{\"data\": \"a\\u0000b\"}", HD_FORMAT,
     "line 1, column 10: found '\"': expected a text without a zero in it"},
    {"{\"seed\\u0000\": 1}", HD_FORMAT,
     "line 1, column 2: found '\"': expected a text without a zero in it"},
    {"{\"seed\": 1,}", HD_FORMAT, "line 1, column 12: found '}': expected a name in quotes"},
    {"{\"seed\": 1", HD_FORMAT, "line 1, column 11: found the end: expected ',' or '}'"},
    {"{\"seed\": 1} x", HD_FORMAT, "line 1, column 13: found 'x': expected the end"},
    {"{} // a comment", HD_FORMAT, "line 1, column 4: found '/': expected the end"},
    {"{'seed': 1}", HD_FORMAT, "line 1, column 2: found ''': expected a name in quotes"},
    /* no object */
    {"[1]", HD_FORMAT, "found an array: expected an object"},
    {"3", HD_FORMAT, "found 3: expected an object"},
    {"null", HD_FORMAT, "found null: expected an object"},
    /* given twice */
    {"{\"seed\": 1, \"seed\": 1}", HD_FORMAT, "seed: given twice"},
    {"{\"seed\": 1, \"s\\u0065ed\": 2}", HD_FORMAT, "seed: given twice"},
    {"{\"model\": {\"n_heads\": 2, \"emb_dim\": 4, \"n_heads\": 2}}", HD_FORMAT,
     "model.n_heads: given twice"},
    {"{\"model\": {}, \"model\": {}}", HD_FORMAT, "model: given twice"},
    /* unknown */
    {"{\"sede\": 1}", HD_VALUE, "sede: unknown: did you mean 'seed'?"},
    {"{\"train\": {\"rl\": 1}}", HD_VALUE, "train.rl: unknown: did you mean 'train.lr'?"},
    {"{\"SEED\": 1}", HD_VALUE, "SEED: unknown: did you mean 'seed'?"},
    {"{\"modle\": {}}", HD_VALUE, "modle: unknown: did you mean 'model'?"},
    {"{\"model\": {\"n_head\": 1}}", HD_VALUE,
     "model.n_head: unknown: did you mean 'model.n_heads'?"},
    {"{\"n_heads\": 1}", HD_VALUE, "n_heads: unknown: did you mean 'model.n_heads'?"},
    {"{\"model\": {\"lr\": 1}}", HD_VALUE, "model.lr: unknown: did you mean 'train.lr'?"},
    {"{\"learning_rate\": 1}", HD_VALUE,
     "learning_rate: unknown: expected one of seed, model, train, data"},
    {"{\"model\": {\"activation\": 1}}", HD_VALUE,
     "model.activation: unknown: expected one of emb_dim, n_heads, qkv"},
    {"{\"\": 1}", HD_VALUE, ": unknown: expected one of seed, model, train, data"},
    {"{\"model\": {\"\": 1}}", HD_VALUE, "model.: unknown: did you mean 'model'?"},
    {"{\"model.n_heads\": 1}", HD_VALUE,
     "model.n_heads: the name has a dot in it. Write nested objects"},
    {"{\"a\\u0001\\u007fb\\nc\": 1}", HD_VALUE,
     "a??b?c: unknown: expected one of seed, model, train, data"},
    /* wrong types */
    {"{\"seed\": \"1\"}", HD_VALUE, "seed: found \"1\": expected an integer from -9e+15 to 9e+15"},
    {"{\"seed\": 1.5}", HD_VALUE, "seed: found 1.5: expected an integer from -9e+15 to 9e+15"},
    {"{\"seed\": null}", HD_VALUE, "seed: found null: expected an integer from -9e+15 to 9e+15"},
    {"{\"model\": {\"n_heads\": [4]}}", HD_VALUE,
     "model.n_heads: found an array: expected an integer from 1 to 64"},
    {"{\"model\": {\"n_heads\": true}}", HD_VALUE,
     "model.n_heads: found true: expected an integer from 1 to 64"},
    {"{\"model\": {\"qkv\": {\"bias\": 1}}}", HD_VALUE,
     "model.qkv.bias: found 1: expected true or false"},
    {"{\"model\": {\"qkv\": {\"bias\": \"false\"}}}", HD_VALUE,
     "model.qkv.bias: found \"false\": expected true or false"},
    {"{\"train\": {\"lr\": false}}", HD_VALUE,
     "train.lr: found false: expected a number from 0 to 1"},
    {"{\"train\": {\"schedule\": 2}}", HD_VALUE,
     "train.schedule: found 2: expected \"constant\", \"linear\" or \"cosine\""},
    {"{\"data\": {}}", HD_VALUE, "data: found an object: expected a string of at most 7 bytes"},
    {"{\"data\": 7}", HD_VALUE, "data: found 7: expected a string of at most 7 bytes"},
    {"{\"model\": 3}", HD_VALUE, "model: found 3: expected an object"},
    {"{\"model\": {\"qkv\": \"yes\"}}", HD_VALUE, "model.qkv: found \"yes\": expected an object"},
    /* out of range */
    {"{\"model\": {\"n_heads\": 0}}", HD_VALUE,
     "model.n_heads: found 0: expected an integer from 1 to 64"},
    {"{\"model\": {\"n_heads\": 65}}", HD_VALUE,
     "model.n_heads: found 65: expected an integer from 1 to 64"},
    {"{\"model\": {\"emb_dim\": 4294967360}}", HD_VALUE,
     "model.emb_dim: found 4294967360: expected an integer from 1 to 65536"},
    {"{\"seed\": 9000000000000001}", HD_VALUE,
     "seed: found 9000000000000001: expected an integer from -9e+15 to 9e+15"},
    {"{\"train\": {\"lr\": -1e-300}}", HD_VALUE,
     "train.lr: found -1e-300: expected a number from 0 to 1"},
    {"{\"train\": {\"lr\": 1.0000000000000002}}", HD_VALUE,
     "train.lr: found 1.0000000000000002: expected a number from 0 to 1"},
    {"{\"data\": \"12345678\"}", HD_VALUE,
     "data: found \"12345678\": expected a string of at most 7 bytes"},
    {"{\"train\": {\"schedule\": \"cosin\"}}", HD_VALUE,
     "train.schedule: found \"cosin\": expected \"constant\", \"linear\" or \"cosine\": did you "
     "mean "
     "\"cosine\"?"},
    {"{\"train\": {\"schedule\": \"step\"}}", HD_VALUE,
     "train.schedule: found \"step\": expected \"constant\", \"linear\" or \"cosine\""},
    {"{\"train\": {\"schedule\": \"constant|linear\"}}", HD_VALUE,
     "train.schedule: found \"constant|linear\": expected \"constant\", \"linear\" or \"cosine\""},
    /* combinations */
    {"{\"model\": {\"n_heads\": 7}}", HD_VALUE,
     "model.n_heads: found 7: expected a divisor of model.emb_dim, 768"},
};

START_TEST(refused)
{
    char message[512];
    const refusal *r = &refusals[_i];
    settings s = changed_settings(), before = s;
    ck_assert_msg(!load_text(&s, r->text), "taken: %s", r->text);
    snprintf(message, sizeof message, "hd_config_load_text: t.json: %s", r->message);
    ck_error(r->code, message);
    ck_assert_mem_eq(&s, &before, sizeof s); /* nothing half done */
}
END_TEST

static void ck_text(const char *text, size_t n, hd_code code, const char *message)
{
    settings s;
    ck_assert(!hd_config_load_text(&settings_table, &s, "t.json", text, n, 0, NULL));
    ck_error(code, message);
}

START_TEST(hostile)
{
    enum { MILLION = 1000000 };
    char *text = malloc(MILLION);
    ck_text("{}\0\0", 4, HD_FORMAT,
            "hd_config_load_text: t.json: line 1, column 3: found byte 0x00: expected the end");
    memset(text, '[', 10000);
    ck_text(
        text, 10000, HD_FORMAT,
        "hd_config_load_text: t.json: line 1, column 128: found '[': expected at most 127 levels "
        "of nesting");
    for (int i = 0; i < 10000; i++) {
        memcpy(text + 5 * i, "{\"a\":", 5);
    }
    ck_text(
        text, 50000, HD_FORMAT,
        "hd_config_load_text: t.json: line 1, column 636: found '{': expected at most 127 levels "
        "of nesting");
    memset(text, 'x', MILLION); /* a name of a million letters */
    memcpy(text, "{\"", 2);
    memcpy(text + MILLION - 5, "\": 1}", 5);
    ck_text(text, MILLION, HD_VALUE,
            "hd_config_load_text: t.json: "
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxx"
            "x...: unknown: expected one of seed, model, train, data");
    free(text);
}
END_TEST

/* ---------------------------------------------------------------- files */

static void ck_path(const char *path, hd_code code, const char *format)
{
    char message[600];
    settings s = changed_settings(), before = s;
    ck_assert(!hd_config_load(&settings_table, &s, path, 0, NULL));
    snprintf(message, sizeof message, format, path);
    ck_error(code, message);
    ck_assert_mem_eq(&s, &before, sizeof s);
}

START_TEST(files)
{
    settings s;
    const char *path = temporary("good.json");
    write_file(path, "{\"seed\": 7}", 11);
    ck_assert(hd_config_load(&settings_table, &s, path, 0, NULL));
    ck_assert_int_eq(s.seed, 7);
    write_file(path, "{\"sed\": 7}", 10);
    ck_path(path, HD_VALUE, "hd_config_load: '%s': sed: unknown: did you mean 'seed'?");
    write_file(path, "", 0);
    ck_path(path, HD_FORMAT,
            "hd_config_load: '%s': line 1, column 1: found the end: expected a value");
    ck_path(temporary("none.json"), HD_IO,
            "hd_config_load: '%s': cannot open: No such file or directory");
    ck_path("/tmp", HD_IO, "hd_config_load: '%s' is a directory: expected a regular file");
    path = temporary("fifo");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_path(path, HD_IO, "hd_config_load: '%s' is a special file: expected a regular file");
    path = temporary("large.json");
    char *large = malloc((1 << 20) + 1);
    memset(large, ' ', (1 << 20) + 1);
    memcpy(large, "{}", 2);
    write_file(path, large, 1 << 20);
    ck_assert(hd_config_load(&settings_table, &s, path, 0, NULL));
    write_file(path, large, (1 << 20) + 1);
    ck_path(path, HD_FORMAT, "hd_config_load: '%s' has 1048577 bytes: expected at most 1048576");
    free(large);
    path = temporary("secret.json");
    write_file(path, "{}", 2);
    chmod(path, 0);
    if (geteuid() != 0) {
        ck_path(path, HD_IO, "hd_config_load: '%s': cannot open: Permission denied");
    }
}
END_TEST

Suite *suite_load(void)
{
    const TTest *const tests[] = {everything, defaults, numbers, hostile, files};
    Suite *s = SUITE("load", tests);
    TCase *c = tcase_create("refused");
    tcase_add_loop_test(c, refused, 0, sizeof refusals / sizeof refusals[0]);
    suite_add_tcase(s, c);
    return s;
}
