/* test_memory.c - runs out of memory at each step of a tokenizer's life, and saves a tokenizer
 * after an earlier error. */
#include "suites.h"
#include "support/scarce.h"

/* A small BPE: the 256 bytes and one merge. */
static const char *vocab_path, *merges_path;

static void write_bpe(void)
{
    hd__text v = {0};
    char c[4];
    uint32_t next = 256;
    for (uint32_t b = 0; b < 256; b++) {
        bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        int length = hd__utf8_put(printable ? b : next++, c);
        hd__text_format(&v, "%s\"%s%.*s\": %u", b ? ", " : "{", b == '"' || b == '\\' ? "\\" : "",
                        length, c, (unsigned)b);
    }
    hd__text_puts(&v, ", \"ab\": 256, \"<|endoftext|>\": 257}");
    vocab_path = file_of("small.json", v.s, v.len);
    merges_path = file_of("small.txt", "#version: 0.2\na b\n", 18);
    hd_free(v.s);
}

static bool use_tokenizer(hd_tokenizer *t, hd_dict *d)
{
    HD_SCOPE;
    hd_tensor *ids = hd_tokenizer_encode(t, "ab aab<|endoftext|>", -1, HD_SPECIAL_ALLOW);
    bool ok = hd_tokenizer_decode(t, ids, NULL) && hd_tokenizer_save(t, d, "tok");
    hd_tokenizer *u = ok ? hd_tokenizer_load(d, "tok") : NULL;
    hd_tokenizer_free(u);
    hd_tokenizer_free(t);
    return u;
}

static bool whole_way(void)
{
    hd_dict *d = hd_dict_new();
    bool ok = d && use_tokenizer(hd_tokenizer_chars("ab <|endoftx>", -1), d) &&
              use_tokenizer(hd_tokenizer_bpe(vocab_path, merges_path), d);
    hd_dict_free(d);
    return ok;
}

START_TEST(runs_out_at_every_allocation)
{
    write_bpe();
    ck_assert_int_gt(scarce_at_each(whole_way, false), 50);
}
END_TEST

/* ---------------------------------------------------------------- saving */

START_TEST(nothing_is_saved_while_an_error_stands)
{
    hd_dict *d = hd_dict_new();
    hd_tokenizer *t = hd_tokenizer_bytes();
    hd_error_set(HD_USER, "an error");
    ck_assert(!hd_tokenizer_save(t, d, ""));
    ck_assert_int_eq(hd_dict_len(d), 0);
    ck_error(HD_USER, "an error");
    hd_tokenizer_free(t);
    hd_dict_free(d);
}
END_TEST

Suite *suite_memory(void)
{
    const TTest *const tests[] = {
        runs_out_at_every_allocation,
        nothing_is_saved_while_an_error_stands,
    };
    return SUITE_OF("memory", tests);
}
