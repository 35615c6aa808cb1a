/* test_gpt.c - compares the book's GPT (examples/gpt.c) with PyTorch, from the seed alone. The 50
 * losses of a small model with each Bernoulli stream are right only if every initial weight, the
 * loader's order, all dropout masks, gradients and AdamW are right. Also compares initial weights
 * and logits of the 124M model (tests/golden/gpt.txt, gpt_mcg31.txt). */
#include "suites.h"

#include <stdio.h>
#include <unistd.h>

#include "../../examples/gpt.h"
#include "support/golden_reader.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static const gpt_config small = {.vocab_size = 65,
                                 .context_length = 32,
                                 .emb_dim = 64,
                                 .n_heads = 4,
                                 .n_layers = 2,
                                 .drop_rate = 0.1};
static const gpt_config gpt2 = {.vocab_size = 50257,
                                .context_length = 1024,
                                .emb_dim = 768,
                                .n_heads = 12,
                                .n_layers = 12,
                                .drop_rate = 0.1};

/* ---------------------------------------------------------------- training */

/* The ids of the text's characters: their places in the sorted set of them. */
static hd_tokens *read_text(void)
{
    static char text[8192];
    FILE *f = fopen(GOLDEN_DIR "/gpt_text.txt", "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, sizeof text, f);
    ck_assert(n > 0 && n < sizeof text);
    fclose(f);
    hd_tokenizer *chars = hd_tokenizer_chars(text, (int64_t)n);
    hd_tokens *tokens =
        hd_tokens_from(hd_tokenizer_encode(chars, text, (int64_t)n, HD_SPECIAL_TEXT));
    ck_no_error();
    hd_tokenizer_free(chars);
    return tokens;
}

static void ck_names(const golden_case *c, const hd_module *model)
{
    char names[2048] = "";
    hd_dict *d = hd_module_state_dict(model);
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        strcat(strcat(names, i ? " " : ""), hd_dict_name(d, i));
    }
    hd_dict_free(d);
    ck_assert_str_eq(names, golden_text(c, "names", "?"));
}

static double train_step(hd_module *model, hd_optim *optim, hd_tensor *x, hd_tensor *y)
{
    hd_optim_zero_grad(optim);
    hd_tensor *logits = hd_flatten(hd_forward(model, x), 0, 1); /* (b * num_tokens, vocab_size) */
    hd_tensor *loss = hd_cross_entropy(logits, hd_flatten(y, 0, -1));
    hd_backward(loss);
    hd_optim_step(optim);
    return hd_item(loss);
}

static void ck_losses(const golden_record *want, hd_module *model, hd_optim *optim,
                      hd_loader *loader)
{
    for (int64_t step = 0; step < want->numel;) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (4, 32) each */
        if (!hd_loader_next(loader, &x, &y)) {
            ck_no_error();
            continue;
        }
        double loss = train_step(model, optim, x, y);
        ck_no_error();
        ck_assert_msg(fabs(loss - want->d[step]) <= 1e-4, "step %lld: %.7f, expected %.7f",
                      (long long)step, loss, want->d[step]);
        step++;
    }
}

static void check_training(const char *file, hd_bernoulli_stream stream)
{
    golden_file *f = golden_read(file);
    const golden_case *c = golden_find(f, "train");
    const golden_record *losses = golden_get(c, "losses");
    ck_assert(losses && losses->numel == 50);
    hd_tokens *tokens = read_text();
    ck_assert_int_eq(hd_tokens_len(tokens), golden_int(c, "tokens", -1));

    hd_generator_set_bernoulli(hd_default_generator(), stream);
    hd_manual_seed(123);
    hd_module *model = gpt_model_new(&small);
    ck_names(c, model);
    hd_adamw_options a = hd_adamw_defaults();
    a.lr = 4e-4;
    a.weight_decay = 0.1;
    hd_optim *optim = hd_adamw_new(hd_module_parameters(model), &a);
    hd_dataset *windows = hd_windows_new(tokens, 32, 16);
    ck_assert_int_eq(hd_dataset_len(windows), golden_int(c, "windows", -1));
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = 4;
    o.shuffle = o.drop_last = true;
    hd_loader *loader = hd_loader_new(windows, &o);
    ck_losses(losses, model, optim, loader);

    hd_loader_free(loader);
    hd_dataset_free(windows);
    hd_tokens_free(tokens);
    hd_optim_free(optim);
    hd_module_free(model);
    golden_free(f);
}

START_TEST(test_losses_native)
{
    check_training(GOLDEN_DIR "/gpt.txt", HD_BERNOULLI_NATIVE);
}
END_TEST

START_TEST(test_losses_mcg31)
{
    check_training(GOLDEN_DIR "/gpt_mcg31.txt", HD_BERNOULLI_MCG31);
}
END_TEST

/* ---------------------------------------------------------------- the cache */

/* The logits of tokens that come one by one, and of the rest at once, are those of all together up
 * to rounding. */
START_TEST(test_cached)
{
    hd_manual_seed(1);
    hd_module *model = gpt_model_new(&small);
    hd_module_eval(model);
    hd_tensor *tokens = hd_randint(HD_INT64, 0, 65, 2, 12);
    hd_tensor *whole = hd_forward(model, tokens); /* (2, 12, 65) */
    gpt_cache c;
    ck_assert(gpt_cache_new(&c, model, 2));
    for (int64_t i = 0; i < 12; i += i < 7 ? 1 : 5) {
        int64_t n = i < 7 ? 1 : 5;
        hd_tensor *y = gpt_forward_cached(model, hd_narrow(tokens, 1, i, n), &c);
        ck_assert(hd_allclose(y, hd_narrow(whole, 1, i, n), 0, 1e-5, false));
        ck_assert(hd_requires_grad(whole) && !hd_requires_grad(y));
        ck_assert_int_eq(gpt_cache_len(&c), i + n);
    }
    ck_assert(gpt_cache_truncate(&c, 3));
    hd_tensor *y = gpt_forward_cached(model, hd_narrow(tokens, 1, 3, 9), &c);
    ck_assert(hd_allclose(y, hd_narrow(whole, 1, 3, 9), 0, 1e-5, false));
    gpt_cache_free(&c);
    hd_module_free(model);
}
END_TEST

/* ---------------------------------------------------------------- its parts */

/* eps is 1e-5; numbers with a variance of 1e-6 show it. */
START_TEST(test_layer_norm)
{
    HD_SCOPE;
    hd_module *norm = layer_norm_new(2);
    hd_tensor *y = hd_forward(norm, hd_from_data(HD_FLOAT32, ((float[]){-1e-3f, 1e-3f}), 1, 2));
    ck_assert_double_eq_tol(hd_get(y, 0, 1), 1e-3 / sqrt(1e-6 + 1e-5), 1e-6);
    hd_module_free(norm);
}
END_TEST

START_TEST(test_config)
{
    const gpt_config given = {65, 32, 64, 4, 2, 0.1, true};
    gpt_config got = {0};
    hd_dict *d = hd_dict_new();
    ck_assert(gpt_config_save(&given, d, "gpt") && gpt_config_load(&got, d, "gpt"));
    ck_assert(got.vocab_size == 65 && got.context_length == 32 && got.emb_dim == 64);
    ck_assert(got.n_heads == 4 && got.n_layers == 2 && got.drop_rate == 0.1 && got.qkv_bias);
    static const char *const names[] = {"gpt.vocab_size", "gpt.context_length", "gpt.emb_dim",
                                        "gpt.n_heads",    "gpt.n_layers",       "gpt.drop_rate",
                                        "gpt.qkv_bias"};
    for (int i = 0; i < 7; i++) { /* each of them is needed */
        ck_assert(gpt_config_save(&given, d, "gpt") && hd_dict_remove(d, names[i]));
        ck_assert(!gpt_config_load(&got, d, "gpt"));
        ck_assert_int_eq(hd_error_code(), HD_VALUE);
        hd_error_clear();
    }
    hd_dict_free(d);
}
END_TEST

/* ---------------------------------------------------------------- 124M */

/* The sum of each 32-bit word i times (2 i + 1), modulo 2^64. */
static int64_t checksum(const hd_tensor *p)
{
    const unsigned char *bytes = hd_data(p);
    uint64_t sum = 0;
    ck_assert(hd_is_contiguous(p));
    for (int64_t i = 0; i < hd_numel(p); i++) {
        uint32_t word;
        memcpy(&word, bytes + 4 * i, sizeof word);
        sum += word * (2 * (uint64_t)i + 1);
    }
    return (int64_t)sum;
}

static void ck_weights(const golden_case *c, const hd_module *model)
{
    hd_dict *d = hd_module_named_parameters(model);
    int64_t n = 0;
    for (int k = 0; k < c->count; k++) {
        if (strncmp(c->records[k].field, "sum.", 4) != 0) {
            continue;
        }
        const char *name = c->records[k].field + 4;
        ck_assert_str_eq(hd_dict_name(d, n++), name);
        ck_assert_msg(checksum(hd_dict_get(d, name)) == c->records[k].i[0], "%s differs", name);
    }
    ck_assert_int_eq(n, hd_dict_len(d));
    hd_dict_free(d);
}

static void ck_logits(const golden_case *c, hd_module *model)
{
    HD_NO_GRAD;
    const golden_record *tokens = golden_get(c, "tokens"), *want = golden_get(c, "logits");
    ck_assert(tokens && want);
    hd_module_eval(model);
    hd_tensor *logits = /* (b, num_tokens, vocab_size) */
        hd_forward(model, hd_from_data_n(HD_INT64, tokens->i, tokens->ndim, tokens->sizes));
    hd_tensor *y = hd_slice_step(hd_select(logits, 1, -1), 1, 0, HD_END, 997);
    ck_no_error();
    ck_assert_int_eq(hd_numel(y), want->numel);
    for (int64_t i = 0; i < want->numel; i++) {
        ck_assert_double_le(fabs(element_at(y, i) - want->d[i]), 1e-4);
    }
}

START_TEST(test_124m)
{
    golden_file *f = golden_read(GOLDEN_DIR "/gpt.txt");
    hd_manual_seed(123);
    hd_module *model = gpt_model_new(&gpt2);
    ck_no_error();
    ck_weights(golden_find(f, "gpt2"), model);
    ck_logits(golden_find(f, "gpt2"), model);
    hd_module_free(model);
    golden_free(f);
}
END_TEST

/* A configuration from a hostile file cannot ask for an endless model. */
START_TEST(test_config_refused)
{
    static const int64_t refused[] = {0, -1, 1025, INT64_MAX};
    gpt_config cfg = {0};
    char message[120];
    hd_dict *d = hd_dict_new();
    ck_assert(gpt_config_save(&gpt2, d, "model"));
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ck_assert(hd_dict_set_int(d, "model.n_layers", refused[i]));
        ck_assert(!gpt_config_load(&cfg, d, "model"));
        snprintf(message, sizeof message,
                 "gpt_config_load: 'model.n_layers' is %lld: expected 1 to 1024",
                 (long long)refused[i]);
        ck_error(HD_VALUE, message);
    }
    hd_dict_free(d);
}
END_TEST

/* NULL, or the reason why the 124M model, which is 650 MB of weights, is not made here. */
static const char *too_large(void)
{
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return SANITIZED ? "under a sanitizer" : bytes < 2e9 ? "with less than 2 GB of memory" : NULL;
}

Suite *suite_gpt(void)
{
    const TTest *const tests[] = {
        test_losses_native, test_losses_mcg31, test_cached,
        test_layer_norm,    test_config,       test_config_refused,
    };
    Suite *s = SUITE_OF("gpt", tests);
    if (!too_large()) {
        suite_add_loop(s, test_124m, 1);
    } else {
        printf("skipped: test_124m, %s\n", too_large());
    }
    return s;
}
