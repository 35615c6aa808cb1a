/* test_set.c - tests of settings given on the command line. */
#include <stdio.h>

#include "suites.h"

static bool set(settings *s, const char *a, const char *b)
{
    const char *const sets[] = {a, b};
    static const char file[] = "{\"model\": {\"emb_dim\": 96, \"n_heads\": 8}}";
    return hd_config_load_text(&settings_table, s, "t.json", file, sizeof file - 1, b ? 2 : 1,
                               sets);
}

START_TEST(taken)
{
    settings s;
    ck_assert(set(&s, "model.n_heads=6", "train.lr=1e-3"));
    ck_assert_int_eq(s.n_heads, 6);
    ck_assert_int_eq(s.emb_dim, 96); /* of the file */
    ck_assert(s.lr == 1e-3);
    ck_assert(set(&s, "model.qkv.bias=true", "seed=-12"));
    ck_assert(s.bias);
    ck_assert_int_eq(s.seed, -12);
    ck_assert(set(&s, "train.schedule=constant", "data=a=b \"c"));
    ck_assert_int_eq(s.schedule, 0);
    ck_assert_str_eq(s.data, "a=b \"c");
    ck_assert(set(&s, "data=", "data=123")); /* a text without quotes; the later one stays */
    ck_assert_str_eq(s.data, "123");
    ck_assert(set(&s, "data=true", "data="));
    ck_assert_str_eq(s.data, "");
    ck_assert(set(&s, "model={\"n_heads\": 2, \"emb_dim\": 6}", NULL)); /* as in JSON */
    ck_assert_int_eq(s.emb_dim, 6);
    ck_assert(set(&s, "model.emb_dim=70", "model.n_heads=7")); /* checked at the end */
    ck_assert_int_eq(s.n_heads, 7);
}
END_TEST

START_TEST(refused)
{
    static const struct {
        const char *set;
        hd_code code;
        const char *message;
    } rows[] = {
        {"seed", HD_VALUE, "setting seed: expected key=value"},
        {"", HD_VALUE, "setting : expected key=value"},
        {"=1", HD_VALUE, "setting =1: : unknown: expected one of seed, model, train, data"},
        {"lr=1", HD_VALUE, "setting lr=1: lr: unknown: did you mean 'train.lr'?"},
        {"model.nheads=1", HD_VALUE,
         "setting model.nheads=1: model.nheads: unknown: did you mean 'model.n_heads'?"},
        {"modl.n_heads=1", HD_VALUE,
         "setting modl.n_heads=1: modl.n_heads: unknown: did you mean 'model.n_heads'?"},
        {"model.n_heads=0", HD_VALUE,
         "setting model.n_heads=0: model.n_heads: found 0: expected an integer from 1 to 64"},
        {"model.n_heads=", HD_VALUE,
         "setting model.n_heads=: model.n_heads: found \"\": expected an integer from 1 to 64"},
        {"model.n_heads=04", HD_VALUE,
         "setting model.n_heads=04: model.n_heads: found \"04\": expected an integer from 1 to 64"},
        {"model.n_heads=0x4", HD_VALUE,
         "setting model.n_heads=0x4: model.n_heads: found \"0x4\": expected an integer from 1 to "
         "64"},
        {"model.n_heads=2.5", HD_VALUE,
         "setting model.n_heads=2.5: model.n_heads: found 2.5: expected an integer from 1 to 64"},
        {"train.lr=nan", HD_VALUE,
         "setting train.lr=nan: train.lr: found \"nan\": expected a number from 0 to 1"},
        {"model.qkv.bias=True", HD_VALUE,
         "setting model.qkv.bias=True: model.qkv.bias: found \"True\": expected true or false"},
        {"train.schedule=Cosine", HD_VALUE,
         "setting train.schedule=Cosine: train.schedule: found \"Cosine\": expected \"constant\", "
         "\"linear\" or \"cosine\": did you mean \"cosine\"?"},
        {"data=12345678", HD_VALUE,
         "setting data=12345678: data: found \"12345678\": expected a string of at most 7 bytes"},
        {"data=\xff", HD_VALUE,
         "setting data=?: data: found bytes that are not UTF-8: expected UTF-8"},
        {"model=3", HD_VALUE, "setting model=3: model: found 3: expected an object"},
        {"model={\"n_heads\": 1, \"n_heads\": 2}", HD_FORMAT,
         "setting model={\"n_heads\": 1, \"n_heads\": 2}: model.n_heads: given twice"},
        {"model.n_heads=7", HD_VALUE,
         "t.json: model.n_heads: found 7: expected a divisor of model.emb_dim, 96"},
    };
    char message[512];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        settings s = changed_settings(), before = s;
        ck_assert_msg(!set(&s, "seed=4", rows[i].set), "taken: %s", rows[i].set);
        snprintf(message, sizeof message, "hd_config_load_text: %s", rows[i].message);
        ck_error(rows[i].code, message);
        ck_assert_mem_eq(&s, &before, sizeof s);
    }
}
END_TEST

START_TEST(without_a_file)
{
    settings s;
    const char *const sets[] = {"model.n_heads=7"};
    ck_assert(!hd_config_load(&settings_table, &s, NULL, 1, sets));
    ck_error(HD_VALUE,
             "hd_config_load: the settings: model.n_heads: found 7: expected a divisor of "
             "model.emb_dim, 768");
    const char *const good[] = {"seed=9"};
    ck_assert(hd_config_load(&settings_table, &s, NULL, 1, good));
    ck_assert_int_eq(s.seed, 9);
}
END_TEST

START_TEST(arguments)
{
    settings s;
    const char *const holes[] = {"seed=1", NULL};
    ck_assert(!hd_config_load(&settings_table, NULL, NULL, 0, NULL));
    ck_error(HD_NULL_ARG, "hd_config_load: config is NULL");
    ck_assert(!hd_config_load(NULL, &s, NULL, 0, NULL));
    ck_error(HD_NULL_ARG, "hd_config_load: t is NULL");
    ck_assert(!hd_config_load(&settings_table, &s, NULL, 1, NULL));
    ck_error(HD_NULL_ARG, "hd_config_load: sets is NULL");
    ck_assert(!hd_config_load(&settings_table, &s, NULL, 2, holes));
    ck_error(HD_NULL_ARG, "hd_config_load: sets[1] is NULL");
    ck_assert(!hd_config_load(&settings_table, &s, NULL, -1, holes));
    ck_error(HD_VALUE, "hd_config_load: n_sets -1: expected 0 or more");
    ck_assert(!hd_config_load_text(&settings_table, &s, NULL, "", 0, 0, NULL));
    ck_error(HD_NULL_ARG, "hd_config_load_text: name is NULL");
    ck_assert(!hd_config_load_text(&settings_table, &s, "t", NULL, 0, 0, NULL));
    ck_error(HD_NULL_ARG, "hd_config_load_text: text is NULL");
    ck_assert(!hd_config_refuse(NULL, "p", "text"));
    ck_error(HD_NULL_ARG, "hd_config_refuse: from is NULL");
}
END_TEST

Suite *suite_set(void)
{
    const TTest *const tests[] = {taken, refused, without_a_file, arguments};
    return SUITE("set", tests);
}
