/* test_memory.c - memory that runs out at every moment on the way from a text to batches. */
#include "suites.h"
#include "support/scarce.h"

/* A small BPE: the 256 bytes and one merge. */
static const char *vocab_path, *merges_path;
static const char *tokens_path;

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

static bool use_loader(hd_loader *l, hd_dict *d)
{
    HD_SCOPE;
    hd_tensor *x, *y;
    return hd_loader_next(l, &x, &y) && hd_loader_save(l, d, "loader") &&
           hd_loader_load(l, d, "loader") && hd_loader_next(l, &x, &y);
}

static bool use_tokens(const char *path, hd_dict *d)
{
    HD_SCOPE;
    hd_loader_options o = hd_loader_defaults();
    hd_dataset *parts[2] = {0};
    hd_tokens *first = NULL, *rest = NULL;
    o.shuffle = true;
    hd_tensor *ids = hd_arange(0, 20, 1);
    hd_tokens *memory = hd_tokens_from(ids);
    bool ok = hd_tokens_write(path, HD_TOKEN_U16, ids);
    hd_tokens *t = ok ? hd_tokens_open(path, HD_TOKEN_U16) : NULL;
    ok = hd_tokens_split(t, 0.9, &first, &rest);
    hd_dataset *s = ok ? hd_windows_new(first, 2, 1) : NULL;
    ok = s && hd_random_split(s, 2, (int64_t[]){10, 6}, NULL, parts);
    hd_loader *l = ok ? hd_loader_new(parts[0], &o) : NULL;
    ok = l && use_loader(l, d);
    hd_loader_free(l);
    hd_dataset_free(parts[0]);
    hd_dataset_free(parts[1]);
    hd_dataset_free(s);
    hd_tokens_free(first);
    hd_tokens_free(rest);
    hd_tokens_free(t);
    hd_tokens_free(memory);
    return ok;
}

static bool whole_way(void)
{
    hd_dict *d = hd_dict_new();
    bool ok = d && use_tokens(tokens_path, d) &&
              hd_generator_save(hd_default_generator(), d, "rng") &&
              use_tokenizer(hd_tokenizer_chars("ab <|endoftx>", -1), d) &&
              use_tokenizer(hd_tokenizer_bpe(vocab_path, merges_path), d);
    hd_dict_free(d);
    return ok;
}

START_TEST(runs_out_at_every_allocation)
{
    write_bpe();
    tokens_path = temporary("scarce.bin");
    ck_assert_int_gt(scarce_at_each(whole_way, false), 100);
}
END_TEST

Suite *suite_memory(void)
{
    const TTest *const tests[] = {runs_out_at_every_allocation};
    return SUITE_OF("memory", tests);
}
