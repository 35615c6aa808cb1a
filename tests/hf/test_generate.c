/* test_generate.c - tests of text generation: probabilities, draws, ends, batches, and text that
 * appears token by token. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"

/* A small GPT-2 with so many tokens. */
static hd_module *small(int64_t vocab)
{
    hd_gpt2_config c = hd_gpt2_config_defaults();
    c.vocab_size = vocab;
    c.n_positions = 32;
    c.n_embd = 8;
    c.n_layer = 2;
    c.n_head = 2;
    c.initializer_range = 1;
    hd_module *m = hd_gpt2_new(&c);
    ck_assert_msg(m, "%s", hd_error_message());
    return m;
}

/* ---------------------------------------------------------------- draws */

START_TEST(probabilities_of_transformers)
{
    HD_SCOPE;
    hd_dict *d = hd_load_safetensors(MODELS "/sampling.safetensors", NULL);
    hd_tensor *logits = hd_dict_get(d, "logits"), *cases = hd_dict_get(d, "cases");
    hd_tensor *before = hd_clone(logits);
    for (int64_t i = 0; i < hd_size(cases, 0); i++) {
        char name[16];
        hd_generate_options o = hd_generate_defaults();
        o.temperature = hd_get(cases, i, 0);
        o.top_k = (int64_t)hd_get(cases, i, 1);
        o.top_p = hd_get(cases, i, 2);
        o.repetition_penalty = hd_get(cases, i, 3);
        snprintf(name, sizeof name, "p.%d", (int)i);
        hd_tensor *tokens;
        hd_tensor *p = hd_generate_probabilities(logits, hd_dict_get(d, "ids"), &o, &tokens);
        hd_tensor *wanted = hd_gather(hd_dict_get(d, name), 1, tokens);
        hd_tensor *kept = hd_eq(hd_gt_scalar(p, 0), hd_gt_scalar(wanted, 0));
        ck_assert_msg(hd_allclose(p, wanted, 0, 1e-6, false) && hd_item(hd_all(kept)) == 1,
                      "%s: %s", name, hd_error_message());
        /* and none that transformers keeps is missing */
        ck_assert(fabs(hd_item(hd_sum(wanted)) - 2) < 1e-5);
    }
    ck_assert(hd_equal(logits, before));
    hd_dict_free(d);
}
END_TEST

START_TEST(draws_are_seeded)
{
    HD_SCOPE;
    hd_module *m = small(40);
    hd_generate_options o = hd_generate_defaults();
    o.do_sample = true;
    hd_tensor *ids = hd_ones(HD_INT64, 3, 4), *all[3];
    for (int i = 0; i < 3; i++) {
        hd_manual_seed(i / 2);
        all[i] = hd_generate(m, ids, &o); /* (3, 24) */
        ck_assert_int_eq(hd_size(all[i], 1), 24);
    }
    ck_assert(hd_equal(all[0], all[1]) && !hd_equal(all[0], all[2]));
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- ends */

/* What on_token was called with. */
typedef struct heard {
    int64_t n, row[64], id[64], most; /* most: false after so many calls */
    char text[256];                   /* of row 0 */
    int64_t bytes;
} heard;

static bool hear(int64_t row, int64_t id, const char *text, int64_t n, void *user)
{
    heard *h = user;
    h->row[h->n] = row;
    h->id[h->n++] = id;
    ck_assert(h->bytes + n < 256 && text[n] == '\0');
    if (row == 0) {
        memcpy(h->text + h->bytes, text, (size_t)n);
        h->bytes += n;
    }
    return h->n != h->most;
}

START_TEST(a_text_ends_and_another_goes_on)
{
    HD_SCOPE;
    hd_module *m = small(40);
    heard h = {.most = -1};
    hd_generate_options o = hd_generate_defaults();
    o.max_new_tokens = 6;
    hd_tensor *ids = hd_view(hd_arange(0, 6, 1), 2, 3);
    hd_tensor *plain = hd_generate(m, ids, &o); /* (2, 9) */
    o.eos_token_id[0] = 39;
    o.eos_token_id[1] = hd_get_int(plain, 0, 4); /* the second new token of the first text */
    o.num_eos = 2;
    o.pad_token_id = 7;
    o.on_token = hear;
    o.user = &h;
    hd_tensor *all = hd_generate(m, ids, &o);
    int64_t at = 0;
    for (int64_t t = 3; t < hd_size(all, 1); t++) {
        ck_assert_int_eq(hd_get_int(all, 0, t), t < 5 ? hd_get_int(plain, 0, t) : 7);
        for (int64_t row = t < 5 ? 0 : 1; row < 2; row++, at++) {
            ck_assert(h.row[at] == row && h.id[at] == hd_get_int(all, row, t));
        }
    }
    ck_assert_int_eq(h.n, at);
    ck_assert_str_eq(h.text, "");
    o.pad_token_id = -1;
    o.on_token = NULL;
    all = hd_generate(m, ids, &o);
    ck_assert(hd_size(all, 1) == 5 || hd_get_int(all, 0, 5) == 39);
    hd_module_free(m);
}
END_TEST

START_TEST(the_user_stops)
{
    HD_SCOPE;
    hd_module *m = small(40);
    heard h = {.most = 3};
    hd_generate_options o = hd_generate_defaults();
    o.on_token = hear;
    o.user = &h;
    ck_assert_int_eq(hd_size(hd_generate(m, hd_ones(HD_INT64, 1, 2), &o), 1), 5);
    o.max_new_tokens = 0;
    ck_assert_int_eq(hd_size(hd_generate(m, hd_ones(HD_INT64, 1, 2), &o), 1), 2);
    hd_module_free(m);
}
END_TEST

START_TEST(modules_keep_their_modes)
{
    HD_SCOPE;
    hd_module *m = small(40), *norm = hd_module_get(m, "transformer.h.1.ln_1");
    ck_assert(hd_module_eval(norm));
    hd_tensor *all = hd_generate(m, hd_ones(HD_INT64, 1, 2), NULL);
    ck_assert(hd_module_training(m) && !hd_module_training(norm));
    ck_assert(hd_module_training(hd_module_get(m, "transformer.h.1.ln_2")));
    ck_assert(hd_module_eval(m) && hd_equal(all, hd_generate(m, hd_ones(HD_INT64, 1, 2), NULL)));
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- text as it grows */

/* A head that wants these tokens, whatever it gets. */
typedef struct teller {
    hd_module base;
    const int64_t *ids;
    int64_t at, vocab;
} teller;

static hd_tensor *teller_forward(hd_module *self, hd_tensor *x)
{
    teller *m = (teller *)self;
    return hd_to(hd_one_hot(hd_full(HD_INT64, m->ids[m->at++], hd_size(x, 0)), m->vocab),
                 HD_FLOAT32);
}

/* What on_token hears: a model with `more` tokens than t has writes the n ids after the prompt. */
static heard told(const hd_tokenizer *t, int64_t more, hd_tensor *prompt, hd_tensor *mask,
                  int64_t n, const int64_t *ids)
{
    static const hd_module_type type = HD_MODULE_TYPE(teller, "Teller", teller_forward);
    HD_SCOPE;
    teller *head = (teller *)hd_module_new(&type);
    head->ids = ids;
    head->vocab = hd_tokenizer_size(t) + more;
    hd_module *m = small(head->vocab);
    ck_assert(hd_module_set(m, "lm_head", &head->base));
    heard h = {.most = -1};
    hd_generate_options o = hd_generate_defaults();
    o.max_new_tokens = n;
    o.attention_mask = mask;
    o.tokenizer = t;
    o.on_token = hear;
    o.user = &h;
    ck_assert_msg(hd_generate(m, prompt, &o), "%s", hd_error_message());
    ck_assert_int_eq(h.n, n * hd_size(prompt, 0));
    hd_module_free(m);
    return h;
}

/* Writes the ids after "a" and compares the text; likewise with a token after each that the
 * tokenizer has not, and in the prompt, too. */
static void ck_pieces(const char *file, int64_t n, const int64_t *ids, const char *whole)
{
    HD_SCOPE;
    char path[512];
    int64_t mixed[32];
    snprintf(path, sizeof path, GOLDEN_DIR "/tokenizers/%s", file);
    hd_tokenizer *t = hd_tokenizer_json(path);
    hd_tensor *prompt = hd_unsqueeze(hd_tokenizer_encode_with(t, "a", -1, NULL), 0); /* (1, n) */
    ck_assert_str_eq(told(t, 0, prompt, HD_NONE, n, ids).text, whole);
    hd_tensor *beyond = hd_full(HD_INT64, hd_tokenizer_size(t) + 1, 1, 1);
    for (int64_t i = 0; i < n; i++) {
        mixed[2 * i] = ids[i];
        mixed[2 * i + 1] = hd_tokenizer_size(t);
    }
    ck_assert_str_eq(told(t, 2, hd_cat(1, beyond, prompt), HD_NONE, 2 * n, mixed).text, whole);
    hd_tokenizer_free(t);
}

/* The ids of a text without special tokens */
static int64_t ids_of(const char *file, const char *text, int64_t *ids)
{
    HD_SCOPE;
    char path[512];
    snprintf(path, sizeof path, GOLDEN_DIR "/tokenizers/%s", file);
    hd_tokenizer *t = hd_tokenizer_json(path);
    hd_tensor *x = hd_tokenizer_encode(t, text, -1, HD_SPECIAL_ALLOW);
    int64_t n = hd_numel(x);
    for (int64_t i = 0; i < n; i++) {
        ids[i] = hd_get_int(x, i);
    }
    hd_tokenizer_free(t);
    return n;
}

START_TEST(text_grows_by_whole_characters)
{
    static const char *const files[] = {"gpt2.json", "smollm.json", "llama2.json", "llama3.json",
                                        "qwen2.json"};
    int64_t ids[32];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int64_t n = ids_of(files[i], " n\xC3\xA9\xE2\x82\xAC \xF0\x9F\x98\x80", ids);
        bool llama2 = strcmp(files[i], "llama2.json") == 0; /* which puts a space before a text */
        ck_pieces(files[i], n, ids,
                  llama2 ? "  n\xC3\xA9\xE2\x82\xAC \xF0\x9F\x98\x80"
                         : " n\xC3\xA9\xE2\x82\xAC \xF0\x9F\x98\x80");
        /* the last character is not whole when the text ends */
        ck_pieces(files[i], n - 1, ids,
                  llama2 ? "  n\xC3\xA9\xE2\x82\xAC \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                         : " n\xC3\xA9\xE2\x82\xAC \xEF\xBF\xBD");
    }
}
END_TEST

/* Padding between the bytes of a character */
START_TEST(padding_has_no_text)
{
    HD_SCOPE;
    static const int64_t padded[] = {'a', 0xE2, 'x', 0x82}, more[] = {0xAC, 'b'};
    hd_tokenizer *t = hd_tokenizer_bytes();
    hd_tensor *prompt = hd_from_data(HD_INT64, padded, 1, 4), *mask = hd_ne_scalar(prompt, 'x');
    hd_tensor *alone = hd_cat(1, hd_narrow(prompt, 1, 0, 2), hd_narrow(prompt, 1, 3, 1));
    heard h = told(t, 0, prompt, mask, 2, more), want = told(t, 0, alone, HD_NONE, 2, more);
    ck_assert_str_eq(h.text, want.text);
    ck_assert_str_eq(h.text, "b");
    hd_tokenizer_free(t);
}
END_TEST

/* GPT-2's tokenizer with one added token more, whose text is written as JSON */
static hd_tokenizer *with_token(const char *content)
{
    static const char end[] = "\"special\":true}";
    char path[512];
    size_t n;
    char *json = read_file(GOLDEN_DIR "/tokenizers/gpt2.json", &n), *at = strstr(json, end);
    ck_assert_ptr_nonnull(at);
    at += strlen(end);
    snprintf(path, sizeof path, "%s", temporary("tokenizer.json"));
    FILE *f = fopen(path, "w");
    fprintf(f, "%.*s,{\"id\":961,\"content\":\"%s\",\"special\":false}%s", (int)(at - json), json,
            content, at);
    ck_assert_int_eq(fclose(f), 0);
    free(json);
    hd_tokenizer *t = hd_tokenizer_json(path);
    ck_assert_msg(t, "%s", hd_error_message());
    unlink(path);
    return t;
}

START_TEST(a_zero_is_a_character_like_others)
{
    HD_SCOPE;
    hd_tokenizer *t = hd_tokenizer_bytes();
    heard h = told(t, 0, hd_zeros(HD_INT64, 1, 2), HD_NONE, 5, (int64_t[]){'a', 0, 0, 'b', 0});
    ck_assert_int_eq(h.bytes, 5);
    ck_assert_mem_eq(h.text, "a\0\0b\0", 5);
    hd_tokenizer_free(t);
    t = with_token("x\\u0000y");
    int64_t id = hd_tokenizer_id(t, "x\0y", 3);
    h = told(t, 0, hd_zeros(HD_INT64, 1, 2), HD_NONE, 1, &id);
    ck_assert_int_eq(h.bytes, 3);
    ck_assert_mem_eq(h.text, "x\0y", 3);
    hd_tokenizer_free(t);
}
END_TEST

/* ---------------------------------------------------------------- what on_token changes */

/* What it does at its third call */
typedef struct meddler {
    hd_module *m;
    hd_generate_options *o;
    int calls, what;
} meddler;

static bool meddle(int64_t row, int64_t id, const char *text, int64_t n, void *user)
{
    meddler *w = user;
    (void)row, (void)id, (void)text, (void)n;
    if (++w->calls != 3) {
        return true;
    }
    if (w->what == 0) {
        hd_module_free(hd_module_take(w->m, "transformer.h.1"));
    } else if (w->what == 1) {
        ck_assert(hd_module_set(w->m, "lm_head", hd_linear_new(8, 40, false)));
    } else {
        w->o->num_eos = INT64_MAX;
        w->o->max_new_tokens = 1000;
        w->o->temperature = -1;
        w->o->on_token = NULL;
    }
    return true;
}

START_TEST(on_token_changes_the_model_or_its_options)
{
    HD_SCOPE;
    for (int what = 0; what < 3; what++) {
        hd_module *m = small(40);
        hd_generate_options o = hd_generate_defaults();
        meddler w = {m, &o, 0, what};
        o.max_new_tokens = 6;
        o.on_token = meddle;
        o.user = &w;
        ck_assert(hd_module_eval(hd_module_get(m, "transformer.h.1")));
        hd_tensor *all = hd_generate(m, hd_ones(HD_INT64, 1, 2), &o);
        ck_assert(what == 0 ? !all : hd_size(all, 1) == 8);
        ck_assert_int_eq(hd_error_code(), what == 0 ? HD_STATE : HD_OK);
        hd_error_clear();
        ck_assert_int_eq(w.calls, what == 0 ? 3 : 6);
        ck_assert(hd_module_training(m) && hd_module_training(hd_module_get(m, "lm_head")));
        ck_assert(hd_module_training(hd_module_get(m, "transformer.h.0.mlp")));
        ck_assert(what == 0 || !hd_module_training(hd_module_get(m, "transformer.h.1")));
        hd_module_free(m);
    }
}
END_TEST

/* An allocator that puts each block on pages of its own. Reading a freed block crashes. */
typedef struct guard {
    int64_t left; /* the blocks that it still gives before it refuses one; < 0: it refuses none */
    hd_module *m;
} guard;

static size_t guard_bytes(size_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

static void *guard_alloc(size_t bytes, size_t alignment, void *user)
{
    guard *g = user;
    (void)alignment; /* pages are aligned to more */
    if (g->left >= 0 && g->left-- == 0) {
        return NULL;
    }
    void *p =
        mmap(NULL, guard_bytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void guard_free(void *p, size_t bytes, void *user)
{
    (void)user;
    ck_assert_int_eq(mprotect(p, guard_bytes(bytes), PROT_NONE), 0);
}

static int64_t guard_left; /* the blocks that heed gets after on_token has freed a module */

static bool free_and_end(int64_t row, int64_t id, const char *text, int64_t n, void *user)
{
    guard *g = user;
    (void)row, (void)id, (void)text, (void)n;
    hd_module_free(hd_module_take(g->m, "transformer.h.1"));
    g->left = guard_left;
    return false;
}

static bool guarded_generate(guard *g)
{
    HD_SCOPE;
    g->m = small(40);
    hd_generate_options o = hd_generate_defaults();
    o.on_token = free_and_end;
    o.user = g;
    ck_assert(hd_module_eval(hd_module_get(g->m, "transformer.h.0.mlp")));
    hd_tensor *all = hd_generate(g->m, hd_ones(HD_INT64, 1, 2), &o);
    bool refused = g->left < 0;
    g->left = -1;
    ck_assert(hd_error_code() == (all ? HD_OK : HD_MEMORY) && !all == refused);
    hd_error_clear();
    ck_assert(hd_module_training(g->m) && hd_module_training(hd_module_get(g->m, "lm_head")));
    ck_assert(!all || !hd_module_training(hd_module_get(g->m, "transformer.h.0.mlp")));
    hd_module_free(g->m);
    return all;
}

/* Each block after on_token is refused once, also those with which heed visits the model. */
START_TEST(a_freed_module_is_not_read)
{
    bool done = false;
    for (guard_left = 0; !done && guard_left < 100; guard_left++) {
        guard g = {.left = -1};
        hd_shutdown();
        ck_assert(
            hd_set_allocator(&(hd_allocator){sizeof(hd_allocator), guard_alloc, guard_free, &g}));
        done = guarded_generate(&g);
        hd_shutdown();
        ck_assert(hd_set_allocator(NULL));
    }
    ck_assert(done && guard_left > 1);
}
END_TEST

/* ---------------------------------------------------------------- options */

START_TEST(logits_may_have_any_strides)
{
    HD_SCOPE;
    hd_generate_options o = hd_generate_defaults();
    o.repetition_penalty = 2;
    hd_tensor *x = hd_randn(HD_FLOAT32, 5, 2), *ids = hd_ones(HD_INT64, 2, 1), *of, *to;
    hd_tensor *p = hd_generate_probabilities(hd_t(x), ids, &o, &of);
    ck_assert(hd_equal(p, hd_generate_probabilities(hd_contiguous(hd_t(x)), ids, &o, &to)));
    ck_assert(hd_equal(of, to));
}
END_TEST

START_TEST(cold_texts_and_none)
{
    HD_SCOPE;
    hd_module *m = small(9);
    hd_generate_options o = hd_generate_defaults();
    o.temperature = 0; /* without do_sample it has no effect */
    hd_tensor *y = hd_generate(m, hd_zeros(HD_INT64, 0, 2), &o);
    ck_assert(y && hd_size(y, 0) == 0 && hd_size(y, 1) >= 2);
    ck_assert_ptr_nonnull(hd_generate(m, hd_zeros(HD_INT64, 1, 2), &o));
    o.do_sample = true;
    ck_assert_ptr_null(hd_generate(m, hd_zeros(HD_INT64, 1, 2), &o));
    ck_error(HD_VALUE, "hd_generate: temperature 0: expected a number above 0");
    hd_module_free(m);
}
END_TEST

/* hd_module_set may put any module anywhere. */
/* A block that belongs to no model */
static hd_module *small_block(void)
{
    hd_module *m = small(9), *block = hd_module_take(m, "transformer.h.0");
    hd_module_free(m);
    return block;
}

START_TEST(parts_that_are_others)
{
    HD_SCOPE;
    hd_tensor *ids = hd_zeros(HD_INT64, 1, 2);
    hd_generate_options o = hd_generate_defaults();
    o.repetition_penalty = 1.5;
    hd_module *m = small(9), *other = small(9);
    hd_module *moved = hd_module_take(other, "transformer.h.1");
    hd_module *third = small(9);
    ck_assert(hd_module_list_append(hd_module_get(third, "transformer.h"), small_block()));
    ck_assert_ptr_null(hd_generate(third, ids, &o));
    ck_error(
        HD_STATE,
        "GPT2Attention: the model has layer 2, counted from 0, but its configuration has 2 layers");
    hd_module_free(third);
    ck_assert(hd_module_set(m, "transformer.h.0", moved)); /* it counts its place anew */
    ck_assert_ptr_nonnull(hd_generate(m, ids, &o));
    ck_assert_ptr_null(hd_generate(other, ids, &o)); /* a place is empty */
    ck_assert_int_ne(hd_error_code(), HD_OK);
    hd_error_clear();
    ck_assert(hd_module_set(m, "lm_head", hd_linear_new(8, 3, false)));
    ck_assert_ptr_null(hd_generate(m, hd_add_scalar(ids, 8), &o));
    ck_error(HD_INDEX, "hd_generate: id 8: expected 0 to 2");
    ck_assert(hd_module_set(m, "transformer.h.1.attn", hd_linear_new(8, 8, true)));
    ck_assert_ptr_null(hd_forward(m, ids));
    ck_error(HD_STATE, "GPT2Block: a module of the model is Linear: expected GPT2Attention");
    hd_module_free(hd_module_take(m, "transformer"));
    ck_assert_ptr_null(hd_forward(m, ids));
    ck_error(HD_STATE, "GPT2LMHeadModel: a module of the model is NULL: expected GPT2Model");
    hd_module_free(m);
    hd_module_free(other);
}
END_TEST

START_TEST(options_of_a_folder)
{
    hd_generate_options o;
    ck_assert(hd_generate_options_load(MODELS "/llama", &o));
    ck_assert(o.num_eos == 1 && o.eos_token_id[0] == 2 && o.pad_token_id == 0);
    ck_assert(!o.do_sample && o.top_k == 50 && o.temperature == 1);
    const char *folder = temporary("options");
    char path[512];
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/config.json", folder);
    write_file(path, "{\"eos_token_id\": 5, \"top_k\": 3}", 31);
    ck_no_warning(ck_assert(hd_generate_options_load(folder, &o)));
    ck_assert(o.num_eos == 1 && o.eos_token_id[0] == 5 && o.top_k == 50);
    static const char text[] =
        "{\"eos_token_id\": [3, 4], \"do_sample\": true, \"temperature\": 0.6, \"top_p\": 0.9, "
        "\"top_k\": 7, \"repetition_penalty\": 1.1, \"max_new_tokens\": 9, \"min_p\": 0.1}";
    snprintf(path, sizeof path, "%s/generation_config.json", folder);
    write_file(path, text, strlen(text));
    char warning[600];
    snprintf(warning, sizeof warning,
             "hd_generate_options_load: '%s': min_p has no effect: heed does not know this key",
             path);
    ck_warning(ck_assert(hd_generate_options_load(folder, &o)), warning);
    ck_assert(o.num_eos == 2 && o.eos_token_id[1] == 4 && o.do_sample && o.temperature == 0.6);
    ck_assert(o.top_p == 0.9 && o.top_k == 7 && o.repetition_penalty == 1.1);
    ck_assert_int_eq(o.max_new_tokens, 9);
    unlink(path);
    snprintf(path, sizeof path, "%s/config.json", folder);
    unlink(path);
    rmdir(folder);
}
END_TEST

/* A model whose words have become more takes a tokenizer with as many, and the new ones fill. */
START_TEST(a_resized_vocabulary)
{
    HD_SCOPE;
    hd_tokenizer *t = hd_tokenizer_bytes();
    hd_module *m = small(200);
    hd_tensor *ids = hd_view(hd_arange(0, 4, 1), 2, 2);
    hd_generate_options o = hd_generate_defaults();
    o.tokenizer = t;
    o.num_eos = 1;
    o.pad_token_id = 255;
    ck_assert_ptr_null(hd_generate(m, ids, &o));
    ck_error(HD_VALUE, "hd_generate: the tokenizer has 256 tokens: expected at most 200, the "
                       "vocab_size of the model");
    ck_assert(hd_module_set(m, "transformer.wte", hd_embedding_new(256, 8, HD_NO_PADDING)));
    ck_assert(hd_module_set(m, "lm_head", hd_linear_new(8, 256, false)));
    ck_assert_msg(hd_generate(m, ids, &o) != NULL, "%s", hd_error_message());
    o.pad_token_id = 256;
    ck_assert_ptr_null(hd_generate(m, ids, &o));
    ck_error(HD_VALUE, "hd_generate: the pad token is 256: expected less than 256, the vocab_size "
                       "of the model, which reads it after the end of a text");
    hd_module_free(m);
    hd_tokenizer_free(t);
}
END_TEST

Suite *suite_generate(void)
{
    const TTest *const tests[] = {probabilities_of_transformers,
                                  draws_are_seeded,
                                  a_text_ends_and_another_goes_on,
                                  the_user_stops,
                                  modules_keep_their_modes,
                                  text_grows_by_whole_characters,
                                  logits_may_have_any_strides,
                                  cold_texts_and_none,
                                  parts_that_are_others,
                                  options_of_a_folder,
                                  padding_has_no_text,
                                  a_zero_is_a_character_like_others,
                                  on_token_changes_the_model_or_its_options,
                                  a_freed_module_is_not_read,
                                  a_resized_vocabulary};
    return SUITE("generate", tests);
}
