/* test_mutations.c - loads thousands of damaged configuration files. Each is loaded or refused
 * without a crash or a leak. A refusal gives a message and an error code that the header promises,
 * and leaves the struct unchanged. The sanitizers run this test too. HEED_TEST_COPIES=N
 * (environment) tries N times as many copies. */
#include "suites.h"
#include "support/mutations.h"

static const char good[] =
    "{\n"
    "  \"seed\": 42,\n"
    "  \"model\": {\"emb_dim\": 64, \"n_heads\": 4, \"qkv\": {\"bias\": true}},\n"
    "  \"train\": {\"schedule\": \"cosine\", \"lr\": 4.5e-4},\n"
    "  \"data\": \"a\\u00e9\\n\"\n"
    "}\n";

static settings load_good(void)
{
    settings s;
    ck_assert_msg(load_text(&s, good), "%s", hd_error_message());
    return s;
}

/* Loads copy `seed`, and returns whether it was taken. */
static bool survives(int seed)
{
    mutation m = mutation_of(good, sizeof good - 1, (uint64_t)seed);
    settings s = changed_settings(), before = s;
    const int64_t live = hd_bytes_live();
    bool ok =
        hd_config_load_text(&settings_table, &s, "t.json", (const char *)m.bytes, m.n, 0, NULL);
    const hd_code code = hd_error_code();
    ck_assert_msg(ok || ((code == HD_FORMAT || code == HD_VALUE) && *hd_error_message()),
                  "copy %d: %s: %s", seed, hd_code_name(code), hd_error_message());
    ck_assert_msg(ok || memcmp(&s, &before, sizeof s) == 0, "copy %d: settings changed", seed);
    ck_assert_msg(hd_bytes_live() == live, "copy %d: a leak", seed);
    free(m.bytes);
    hd_error_clear();
    return ok;
}

START_TEST(texts)
{
    load_good();
    const char *times = getenv("HEED_TEST_COPIES");
    int taken = 0, copies = 3000 * (times ? atoi(times) : 1);
    for (int seed = 0; seed < copies; seed++) {
        taken += survives(seed);
    }
    ck_assert_int_gt(taken, 0);
    ck_assert_int_lt(taken, copies);
}
END_TEST

Suite *suite_mutations(void)
{
    const TTest *const tests[] = {texts};
    return SUITE_OF("mutations", tests);
}
