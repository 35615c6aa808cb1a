/* test_mutations.c - loads thousands of damaged files of every format that heed reads. Each is
 * loaded or refused, without a crash, a leak or a tensor left in the scope. A refusal gives a
 * message and an error code that the header promises. The memory in use stays below a multiple of
 * the file's size, whatever sizes the file claims. The sanitizers run this test too.
 * HEED_TEST_COPIES=N (environment) tries N times as many copies. */
#include <stdio.h>

#include "suites.h"
#include "support/files.h"
#include "support/mutations.h"

typedef struct damaged {
    const char *name;   /* of the file, in the folder of the test */
    bool (*load)(void); /* what is done with it; false: an error is set */
    const void *bytes;  /* the good file */
    size_t n;
    int copies;
} damaged;

/* ---------------------------------------------------------------- what is read */

/* Sums of all elements, so that each byte that a tensor claims to have is touched. */
static bool sum_all(const hd_dict *d)
{
    for (int64_t i = 0; d && i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        if (hd_dict_kind_of(d, name) == HD_DICT_TENSOR && !hd_sum(hd_dict_get(d, name))) {
            return false;
        }
    }
    return d;
}

static bool load_copies(void)
{
    hd_dict *d = hd_load_safetensors(temporary("x"), NULL);
    bool ok = sum_all(d);
    hd_dict_free(d);
    return ok;
}

static bool load_mapped(void)
{
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = true;
    hd_dict *d = hd_load_safetensors(temporary("x"), &o);
    bool ok = sum_all(d);
    hd_dict_free(d);
    return ok;
}

static bool load_each(void)
{
    hd_safetensors *f = hd_safetensors_open(temporary("x"), NULL);
    bool ok = f;
    for (int64_t i = 0; ok && i < hd_safetensors_len(f); i++) {
        ok = hd_sum(hd_safetensors_read(f, i));
    }
    hd_safetensors_close(f);
    return ok;
}

static bool load_npy(void)
{
    return hd_sum(hd_load_npy(temporary("x")));
}

static bool load_checkpoint(void)
{
    hd_dict *model, *state;
    bool ok = hd_checkpoint_load(temporary("c"), &model, &state);
    if (ok) {
        hd_dict_free(model), hd_dict_free(state);
    }
    return ok;
}

static bool load_tokens(void)
{
    hd_tokens *t = hd_tokens_open(temporary("x"), HD_TOKEN_U16);
    bool ok = t;
    hd_tokens_free(t);
    return ok;
}

static bool load_tokenizer(void)
{
    hd_tokenizer *t = hd_tokenizer_bpe(temporary("vocab"), temporary("merges"));
    bool ok = t && hd_tokenizer_encode(t, "attention is all you need", -1, HD_SPECIAL_TEXT);
    hd_tokenizer_free(t);
    return ok;
}

static bool load_tokenizer_json(void)
{
    hd_tokenizer *t = hd_tokenizer_json(temporary("x"));
    bool ok = t && hd_tokenizer_encode_with(t, "attention is all you need", -1, NULL);
    hd_tokenizer_free(t);
    return ok;
}

/* ---------------------------------------------------------------- the copies */

static bool is_a_verdict(hd_code code)
{
    return code == HD_FORMAT || code == HD_DTYPE || code == HD_VALUE;
}

/* Loads copy `seed`, and returns whether it was taken. */
static bool survives(const damaged *d, int seed)
{
    HD_SCOPE;
    mutation m = mutation_of(d->bytes, d->n, (uint64_t)seed);
    write_file(temporary(d->name), m.bytes, m.n);
    free(m.bytes);
    const int64_t live = hd_bytes_live(), tensors = hd_scope_count();
    hd_bytes_peak_reset();
    bool ok = false;
    {
        HD_SCOPE;
        ok = d->load();
    }
    ck_each(ok || (is_a_verdict(hd_error_code()) && *hd_error_message()), "%s, copy %d: %s: %s",
            d->name, seed, hd_code_name(hd_error_code()), hd_error_message());
    ck_each(hd_bytes_live() == live && hd_scope_count() == tensors, "%s, copy %d: a leak", d->name,
            seed);
    const int64_t most = 64 * ((int64_t)d->n + 1024);
    ck_each(hd_bytes_peak() - live < most, "%s, copy %d: %lld bytes for a file of %zu", d->name,
            seed, (long long)(hd_bytes_peak() - live), m.n);
    hd_error_clear();
    return ok;
}

/* The good file is loaded, and not all of its copies are. */
static void try_copies(const damaged *d)
{
    write_file(temporary(d->name), d->bytes, d->n);
    {
        HD_SCOPE;
        ck_assert_msg(d->load(), "%s", hd_error_message());
    }
    const char *times = getenv("HEED_TEST_COPIES");
    int taken = 0, copies = d->copies * (times ? atoi(times) : 1);
    for (int seed = 0; seed < copies; seed++) {
        taken += survives(d, seed);
    }
    ck_assert_int_lt(taken, copies);
    write_file(temporary(d->name), d->bytes, d->n);
}

/* Tries the copies of a file that heed or a test has written. */
static void try_file(const char *path, const char *name, bool (*load)(void), int copies)
{
    size_t n;
    char *bytes = read_file(path, &n);
    try_copies(&(damaged){name, load, bytes, n, copies});
    free(bytes);
}

static void begin(void)
{
    ck_assert(folder_make());
}

static void end(void)
{
    folder_remove();
}

/* ---------------------------------------------------------------- the tests */

START_TEST(safetensors)
{
    const char *path = GOLDEN_DIR "/io/roundtrip.safetensors";
    try_file(path, "x", load_copies, 3000);
    try_file(path, "x", load_mapped, 3000);
    try_file(path, "x", load_each, 3000);
}
END_TEST

START_TEST(npy)
{
    HD_SCOPE;
    ck_assert(hd_save_npy(temporary("good"), hd_ones(HD_FLOAT64, 3, 5)));
    try_file(temporary("good"), "x", load_npy, 3000);
}
END_TEST

START_TEST(checkpoint)
{
    HD_SCOPE;
    hd_dict *model = hd_dict_new(), *state = hd_dict_new();
    ck_assert(hd_dict_set(model, "weight", hd_ones(HD_FLOAT32, 2, 3)) &&
              hd_dict_set(state, "moment", hd_ones(HD_FLOAT64, 4)) &&
              hd_dict_set_string(state, "name", "AdamW") && hd_dict_set_int(state, "step", 7) &&
              hd_dict_set_double(state, "lr", 0.1) &&
              hd_checkpoint_save(temporary("c"), model, state));
    hd_dict_free(model), hd_dict_free(state);
    try_file(temporary("c/state.safetensors"), "c/state.safetensors", load_checkpoint, 3000);
    try_file(temporary("c/model.safetensors"), "c/model.safetensors", load_checkpoint, 1000);
    ck_assert(hd_checkpoint_remove(temporary("c")));
}
END_TEST

START_TEST(tokens)
{
    static const unsigned char ids[200] = {1, 0, 2, 0, 3};
    try_copies(&(damaged){"x", load_tokens, ids, sizeof ids, 500});
}
END_TEST

START_TEST(tokenizer)
{
    size_t n;
    char *merges = read_file(GOLDEN_DIR "/bpe_merges.txt", &n);
    write_file(temporary("merges"), merges, n);
    free(merges);
    try_file(GOLDEN_DIR "/bpe_vocab.json", "vocab", load_tokenizer, 200);
    try_file(GOLDEN_DIR "/bpe_merges.txt", "merges", load_tokenizer, 200);
    try_file(GOLDEN_DIR "/tokenizers/qwen2.json", "x", load_tokenizer_json, 200);
    try_file(GOLDEN_DIR "/tokenizers/llama2.json", "x", load_tokenizer_json, 200);
}
END_TEST

Suite *suite_mutations(void)
{
    const TTest *const tests[] = {safetensors, npy, checkpoint, tokens, tokenizer};
    return SUITE_BETWEEN("mutations", tests, begin, end);
}
