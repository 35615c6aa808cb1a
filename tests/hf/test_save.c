/* test_save.c - tests of hd_save_pretrained: a saved folder loads with the same bits, and appears
 * complete or not at all. tools/oracle/hf_models.py loads such folders in Python. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"

void remove_saved(const char *folder)
{
    static const char *const names[] = {"config.json", "model.safetensors",
                                        "generation_config.json", "tokenizer.json",
                                        "tokenizer_config.json"};
    char path[512];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(loads_again)
{
    HD_SCOPE;
    char path[512];
    const char *folder = temporary("saved");
    hd_module *m = golden_model(model_folders[_i]), *again = NULL;
    ck_assert_msg(hd_save_pretrained(m, folder, NULL), "%s", hd_error_message());
    ck_assert_int_eq(files_in(folder), 3);
    ck_no_warning(again = hd_from_pretrained(folder, NULL));
    ck_assert_msg(again, "%s", hd_error_message());
    ck_assert_str_eq(hd_module_summary(m), hd_module_summary(again));
    hd_dict *a = hd_module_state_dict(m), *b = hd_module_state_dict(again);
    ck_assert_int_eq(hd_dict_len(a), hd_dict_len(b));
    for (int64_t i = 0; i < hd_dict_len(a); i++) {
        const char *name = hd_dict_name(a, i);
        ck_assert(hd_equal(hd_dict_get(a, name), hd_dict_get(b, name)));
    }
    hd_tensor *ids = hd_view(hd_arange(0, 12, 1), 2, 6);
    ck_assert(hd_equal(hd_forward(m, ids), hd_forward(again, ids)));
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    hd_safetensors *f = hd_safetensors_open(path, NULL);
    ck_assert_str_eq(hd_dict_get_string(hd_safetensors_metadata(f), "format"), "pt");
    bool tied =
        hd_dict_kind_of(a, "lm_head.weight") != HD_DICT_MISSING &&
        hd_module_get_parameter(m, "lm_head.weight") == hd_list_get(hd_module_parameters(m), 0);
    ck_assert((hd_safetensors_find(f, "lm_head.weight") < 0) == tied);
    hd_safetensors_close(f);
    hd_dict_free(a);
    hd_dict_free(b);
    hd_module_free(m);
    hd_module_free(again);
    remove_saved(folder);
}
END_TEST

/* The messages name the function that was called, and the folder as it was given. */
START_TEST(a_full_disk)
{
    char want[600];
    const char *folder = temporary("full");
    hd_module *m = golden_model("gpt2");
    limit_file_size(10000);
    ck_assert(!hd_save_pretrained(m, folder, NULL));
    snprintf(want, sizeof want,
             "hd_save_pretrained: '%s/model.safetensors': cannot write: File too large", folder);
    ck_error(HD_IO, want);
    limit_file_size(10);
    ck_assert(!hd_save_pretrained(m, folder, NULL));
    snprintf(want, sizeof want,
             "hd_save_pretrained: '%s/config.json': cannot write: File too large", folder);
    ck_error(HD_IO, want);
    limit_file_size(1000);
    ck_assert(hd_lora_apply(m, NULL));
    ck_assert(!hd_lora_save(m, folder));
    snprintf(want, sizeof want,
             "hd_lora_save: '%s/adapter_model.safetensors': cannot write: File too large", folder);
    ck_error(HD_IO, want);
    limit_file_size(0);
    ck_assert_int_eq(files_in_folder(), 0);
    hd_module_free(m);
}
END_TEST

/* Writes another text in the place of one that config.json has. */
static void change_config(const char *folder, const char *text, const char *other)
{
    char path[512], was[4096] = "", now[4096];
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *f = fopen(path, "r");
    ck_assert(f && fread(was, 1, sizeof was - 1, f) > 0);
    const char *at = strstr(was, text);
    ck_assert(at);
    snprintf(now, sizeof now, "%.*s%s%s", (int)(at - was), was, other, at + strlen(text));
    fclose(f);
    f = fopen(path, "w");
    ck_assert(f && fputs(now, f) >= 0);
    ck_assert_int_eq(fclose(f), 0);
}

/* The text of a file of a saved folder. Free it. */
static char *text_of(const char *folder, const char *name)
{
    char path[512];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_file(path, &n);
}

/* Loads the first folder, without generation_config.json, and saves it as the second, whose
 * config.json must have these texts. */
static void ck_kept(const char *first, const char *second, const char *const texts[])
{
    char path[512];
    snprintf(path, sizeof path, "%s/generation_config.json", first);
    unlink(path);
    hd_module *m = hd_from_pretrained(first, NULL);
    ck_assert_msg(m && hd_save_pretrained(m, second, NULL), "%s", hd_error_message());
    char *config = text_of(second, "config.json");
    for (; *texts; texts++) {
        ck_assert_msg(strstr(config, *texts), "%s lacks %s", config, *texts);
    }
    ck_assert_int_eq(files_in(second), 2);
    free(config);
    hd_module_free(m);
    remove_saved(second);
}

/* What config.json has of tokens stays; for what it lacks, transformers has values of its own. */
START_TEST(tokens_of_config_json_stay)
{
    char first[512], wanted[1024];
    snprintf(first, sizeof first, "%s", temporary("saved"));
    const char *second = temporary("again");
    hd_module *m = golden_model("gpt2");
    ck_assert_msg(hd_save_pretrained(m, first, NULL), "%s", hd_error_message());
    change_config(first, "\"eos_token_id\": 2", "\"eos_token_id\": [3, 5]");
    change_config(first, "\"bos_token_id\": 1", "\"bos_token_id\": 7");
    change_config(first, "\"pad_token_id\": null", "\"pad_token_id\": 4");
    change_config(first, "\"use_cache\": true", "\"use_cache\": false");
    ck_kept(first, second,
            (const char *const[]){"\"eos_token_id\": [3, 5],", "\"bos_token_id\": 7,",
                                  "\"pad_token_id\": 4,", "\"use_cache\": false,", NULL});
    change_config(first, "\"eos_token_id\": [3, 5],", "");
    change_config(first, "\"bos_token_id\": 7,", "");
    ck_kept(first, second,
            (const char *const[]){"\"eos_token_id\": 50256,", "\"bos_token_id\": 50256,", NULL});
    change_config(first, "\"pad_token_id\": 4", "\"eos_token_id\": null, \"bos_token_id\": null");
    ck_kept(first, second,
            (const char *const[]){"\"eos_token_id\": null,", "\"bos_token_id\": null,",
                                  "\"pad_token_id\": null,", NULL});
    change_config(first, "\"eos_token_id\": null", "\"eos_token_id\": \"no\"");
    ck_assert_ptr_null(hd_from_pretrained(first, NULL));
    snprintf(wanted, sizeof wanted,
             "hd_from_pretrained: '%s/config.json': eos_token_id: found \"no\": expected a whole "
             "number, and at most 16 of them",
             first);
    ck_error(HD_VALUE, wanted);
    hd_module_free(m);
    remove_saved(first);
}
END_TEST

/* A model that was not loaded has no such tokens, and says so: transformers would have others. */
START_TEST(a_new_model_has_no_tokens)
{
    static const char *const lines[] = {"\"bos_token_id\": null,", "\"eos_token_id\": null,",
                                        "\"pad_token_id\": null,", "\"use_cache\": true,"};
    const char *folder = temporary("saved");
    hd_llama_config c = hd_llama_config_defaults();
    c.vocab_size = 10;
    c.hidden_size = c.intermediate_size = 8;
    c.num_hidden_layers = c.num_attention_heads = 1;
    hd_module *m = hd_llama_new(&c);
    ck_assert_msg(hd_save_pretrained(m, folder, NULL), "%s", hd_error_message());
    char *config = text_of(folder, "config.json");
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(strstr(config, lines[i]), "%s lacks %s", config, lines[i]);
    }
    free(config);
    hd_module_free(m);
    remove_saved(folder);
}
END_TEST

/* transformers 4 reads rope_theta and rope_scaling, and 5 rope_parameters. */
START_TEST(rotary_positions_are_written_in_both_forms)
{
    static const char scaling[] =
        "\"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
        "\"original_max_position_embeddings\": 1024";
    char lines[3][256];
    const char *folder = temporary("saved");
    hd_module *m = golden_model("llama3"), *plain = golden_model("qwen2");
    snprintf(lines[0], 256,
             "\"rope_parameters\": {\"rope_type\": \"llama3\", %s, \"rope_theta\": 10000.0},\n",
             scaling);
    snprintf(lines[1], 256, "\"rope_theta\": 10000.0,\n");
    snprintf(lines[2], 256, "\"rope_scaling\": {\"rope_type\": \"llama3\", %s},\n", scaling);
    ck_assert(hd_save_pretrained(m, folder, NULL));
    char *config = text_of(folder, "config.json");
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(strstr(config, lines[i]), "%s lacks %s", config, lines[i]);
    }
    free(config);
    remove_saved(folder);
    ck_assert(hd_save_pretrained(plain, folder, NULL));
    config = text_of(folder, "config.json");
    ck_assert(strstr(config, "{\"rope_type\": \"default\", \"rope_theta\": 10000.0},\n"));
    ck_assert(strstr(config, ",\n  \"rope_theta\": 10000.0,\n"));
    ck_assert(!strstr(config, "rope_scaling"));
    free(config);
    remove_saved(folder);
    hd_module_free(m);
    hd_module_free(plain);
}
END_TEST

/* ---------------------------------------------------------------- the source */

/* That of the source, or else that of the folder which the model was loaded from */
START_TEST(generation_config_stays)
{
    const char *folder = temporary("saved"), *without = temporary("source");
    const char *const sources[] = {NULL, GOLDEN_DIR "/chat", without};
    const int files[] = {3, 5, 4};
    char tokenizer[512];
    snprintf(tokenizer, sizeof tokenizer, "%s/tokenizer.json", without);
    ck_assert_int_eq(mkdir(without, 0700), 0);
    write_file(tokenizer, "{}", 2);
    char *own = text_of(MODELS "/llama", "generation_config.json");
    char *other = text_of(GOLDEN_DIR "/chat", "generation_config.json");
    ck_assert_str_ne(own, other);
    hd_module *m = golden_model("llama");
    hd_save_pretrained_options o = hd_save_pretrained_defaults();
    for (int i = 0; i < 3; i++) {
        o.source = sources[i];
        ck_assert_msg(hd_save_pretrained(m, folder, &o), "%s", hd_error_message());
        char *text = text_of(folder, "generation_config.json");
        ck_assert_str_eq(text, i == 1 ? other : own);
        ck_assert_int_eq(files_in(folder), files[i]);
        free(text);
        remove_saved(folder);
    }
    ck_assert(unlink(tokenizer) == 0 && rmdir(without) == 0);
    free(own);
    free(other);
    hd_module_free(m);
}
END_TEST

START_TEST(generation_config_that_cannot_be_read)
{
    char path[512], wanted[1024];
    const char *folder = temporary("saved");
    hd_module *m = golden_model("gpt2");
    ck_assert(hd_save_pretrained(m, folder, NULL));
    snprintf(path, sizeof path, "%s/generation_config.json", folder);
    ck_assert(unlink(path) == 0 && mkdir(path, 0700) == 0);
    ck_assert_ptr_null(hd_from_pretrained(folder, NULL));
    snprintf(wanted, sizeof wanted,
             "hd_from_pretrained: '%s' is a directory: expected a regular file", path);
    ck_error(HD_IO, wanted);
    ck_assert_int_eq(rmdir(path), 0);
    hd_module_free(m);
    remove_saved(folder);
}
END_TEST

START_TEST(a_source_is_a_folder_with_a_tokenizer)
{
    char path[512], wanted[1024];
    hd_module *m = golden_model("gpt2");
    int before = files_in_folder();
    hd_save_pretrained_options o = hd_save_pretrained_defaults();
    o.source = "no/such";
    ck_assert(!hd_save_pretrained(m, temporary("saved"), &o));
    ck_error(HD_IO, "hd_save_pretrained: 'no/such': cannot find the folder of the tokenizer: "
                    "No such file or directory");
    o.source = path;
    snprintf(path, sizeof path, GOLDEN_DIR "/chat/tokenizer.json");
    ck_assert(!hd_save_pretrained(m, temporary("saved"), &o));
    snprintf(wanted, sizeof wanted,
             "hd_save_pretrained: o->source '%s' is a file: expected the folder of the tokenizer",
             path);
    ck_error(HD_IO, wanted);
    snprintf(path, sizeof path, MODELS "/gpt2");
    ck_assert(!hd_save_pretrained(m, temporary("saved"), &o));
    snprintf(wanted, sizeof wanted,
             "hd_save_pretrained: o->source '%s' has no tokenizer.json, tokenizer.model or "
             "vocab.json: expected a folder with a tokenizer, or NULL",
             path);
    ck_error(HD_IO, wanted);
    ck_assert_int_eq(files_in_folder(), before);
    hd_module_free(m);
}
END_TEST

START_TEST(refuses)
{
    char wanted[1024];
    const char *folder = temporary("saved");
    hd_module *m = golden_model("llama3"), *linear = hd_linear_new(2, 3, true);
    int before = files_in_folder();
    ck_assert(!hd_save_pretrained(linear, folder, NULL));
    ck_error(HD_VALUE, "hd_save_pretrained: m is a Linear: expected a model of heed/hf.h");
    hd_save_pretrained_options o = hd_save_pretrained_defaults();
    o.dtype = HD_INT64;
    ck_assert(!hd_save_pretrained(m, folder, &o));
    ck_error(HD_DTYPE, "hd_save_pretrained: o->dtype int64: expected float32 or bfloat16");
    ck_assert(!hd_save_pretrained(m, "no/such", NULL));
    ck_error(HD_IO,
             "hd_save_pretrained: 'no/such': the folder 'no' does not exist. Create it first");
    hd_error_set(HD_USER, "before");
    ck_assert(!hd_save_pretrained(m, folder, NULL));
    ck_error(HD_USER, "before");
    ck_assert_int_eq(files_in_folder(), before);
    ck_assert(hd_save_pretrained(m, folder, NULL));
    ck_assert(!hd_save_pretrained(m, folder, NULL));
    snprintf(wanted, sizeof wanted, "hd_save_pretrained: '%s' exists already. Choose a new name",
             folder);
    ck_error(HD_IO, wanted);
    ck_assert_int_eq(files_in(folder), 3);
    remove_saved(folder);
    /* a file of the source that cannot be read: nothing is left */
    char path[512];
    const char *source = temporary("source");
    snprintf(path, sizeof path, "%s/tokenizer.json", source);
    ck_assert(mkdir(source, 0700) == 0 && mkdir(path, 0700) == 0);
    o = hd_save_pretrained_defaults();
    o.source = source;
    ck_assert(!hd_save_pretrained(m, folder, &o));
    snprintf(wanted, sizeof wanted,
             "hd_save_pretrained: '%s' is a directory: expected a regular file", path);
    ck_error(HD_IO, wanted);
    rmdir(path);
    rmdir(source);
    ck_assert_int_eq(files_in_folder(), before);
    hd_module_free(m);
    hd_module_free(linear);
}
END_TEST

/* ---------------------------------------------------------------- bfloat16 */

static hd_module *stored_model(const char *folder)
{
    hd_pretrained_options o = hd_pretrained_defaults();
    o.dtype = HD_BFLOAT16;
    hd_module *m = hd_from_pretrained(folder, &o);
    ck_assert_msg(m, "%s", hd_error_message());
    return m;
}

/* Rounds the matrices to bfloat16 and back. */
static void round_matrices(hd_module *m)
{
    HD_NO_GRAD;
    hd_list *all = hd_module_parameters(m);
    for (int64_t i = 0; i < hd_list_len(all); i++) {
        hd_tensor *w = hd_list_get(all, i);
        ck_assert(hd_ndim(w) != 2 || hd_copy_(w, hd_to(hd_to(w, HD_BFLOAT16), HD_FLOAT32)));
    }
}

/* The model as it is saved and loaded again in these dtypes */
static hd_module *saved_and_loaded(hd_module *m, hd_dtype file, hd_dtype memory)
{
    const char *folder = temporary("stored");
    hd_save_pretrained_options o = hd_save_pretrained_defaults();
    o.dtype = file;
    ck_assert_msg(hd_save_pretrained(m, folder, &o), "%s", hd_error_message());
    hd_module *again =
        memory == HD_BFLOAT16 ? stored_model(folder) : hd_from_pretrained(folder, NULL);
    remove_saved(folder);
    ck_assert_msg(again, "%s", hd_error_message());
    return again;
}

START_TEST(bfloat16_gives_the_bits_of_rounded_float32)
{
    HD_SCOPE;
    char path[512];
    snprintf(path, sizeof path, MODELS "/%s", model_folders[_i]);
    hd_module *m = golden_model(model_folders[_i]), *stored = stored_model(path);
    hd_module *again[] = {saved_and_loaded(stored, HD_FLOAT32, HD_FLOAT32),
                          saved_and_loaded(stored, HD_FLOAT32, HD_BFLOAT16),
                          saved_and_loaded(stored, HD_BFLOAT16, HD_BFLOAT16)};
    round_matrices(m);
    hd_tensor *ids = hd_view(hd_arange(0, 24, 1), 2, 12), *y = hd_forward(m, ids);
    ck_assert(hd_equal(hd_forward(stored, ids), y));
    hd_tensor *text = hd_generate(m, ids, NULL);
    ck_assert(hd_equal(hd_generate(stored, ids, NULL), text));
    ck_assert(hd_equal(hd_forward(again[0], ids), y));
    ck_assert(hd_equal(hd_forward(again[1], ids), y));
    hd_dict *a = hd_module_named_parameters(stored), *b = hd_module_named_parameters(again[2]);
    ck_assert_int_eq(hd_dict_len(a), hd_list_len(hd_module_parameters(m))); /* tied as m is */
    for (int64_t i = 0; i < hd_dict_len(a); i++) {
        hd_tensor *w = hd_dict_get(a, hd_dict_name(a, i));
        hd_tensor *v = hd_dict_get(b, hd_dict_name(a, i));
        bool matrix = hd_ndim(w) == 2;
        ck_assert_int_eq(hd_dtype_of(w), matrix ? HD_BFLOAT16 : HD_FLOAT32);
        ck_assert_int_eq(hd_requires_grad(w), !matrix);
        w = hd_to(hd_to(hd_detach(w), HD_BFLOAT16), HD_FLOAT32); /* rounded once */
        ck_assert(hd_equal(w, hd_to(hd_detach(v), HD_FLOAT32)));
    }
    hd_dict_free(a);
    hd_dict_free(b);
    hd_module_free(m);
    hd_module_free(stored);
    for (int i = 0; i < 3; i++) {
        hd_module_free(again[i]);
    }
}
END_TEST

/* The number of m's matrices of float32 */
static int64_t float32_matrices(const hd_module *m)
{
    int64_t n = 0;
    hd_list *all = hd_module_parameters(m);
    for (int64_t i = 0; i < hd_list_len(all); i++) {
        hd_tensor *p = hd_list_get(all, i);
        n += hd_ndim(p) == 2 && hd_dtype_of(p) == HD_FLOAT32;
    }
    return n;
}

START_TEST(bfloat16_learns_with_adapters)
{
    HD_SCOPE;
    char path[512];
    snprintf(path, sizeof path, MODELS "/%s", model_folders[_i]);
    hd_module *m = stored_model(path);
    hd_manual_seed(1);
    ck_assert(hd_lora_apply(m, NULL));
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 0.02;
    hd_optim *optim = hd_adamw_new(hd_module_parameters(m), &o);
    hd_tensor *ids = hd_view(hd_arange(0, 24, 1), 2, 12), *targets = hd_flatten(ids, 0, 1);
    double losses[8];
    for (int i = 0; i < 8; i++) {
        HD_SCOPE;
        hd_tensor *loss = hd_cross_entropy(hd_flatten(hd_forward(m, ids), 0, 1), targets);
        losses[i] = hd_item(loss);
        ck_assert_msg(hd_optim_zero_grad(optim) && hd_backward(loss) && hd_optim_step(optim), "%s",
                      hd_error_message());
    }
    ck_assert_double_lt(losses[7], 0.9 * losses[0]);
    hd_optim_free(optim);
    hd_tensor *y = hd_forward(m, ids);
    int64_t of_adapters = float32_matrices(m); /* two for each */
    ck_assert_int_gt(of_adapters, 0);
    ck_assert_msg(hd_lora_merge(m), "%s", hd_error_message());
    ck_assert_int_eq(float32_matrices(m), of_adapters / 2);
    HD_NO_GRAD;
    hd_tensor *off = hd_max(hd_abs(hd_sub(hd_forward(m, ids), y)));
    ck_assert_double_le(hd_item(off), 1e-5 * hd_item(hd_max(hd_abs(y))));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 0);
    hd_module *again = saved_and_loaded(m, HD_FLOAT32, HD_FLOAT32);
    ck_assert(hd_equal(hd_forward(again, ids), hd_forward(m, ids)));
    hd_module_free(again);
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- memory */

enum { WIDE = 64, WORDS = 4096, LAYERS = 6 };

/* A GPT-2 whose largest tensor has a megabyte, in a new folder. */
static void save_wide(const char *folder, hd_dtype d)
{
    hd_gpt2_config c = hd_gpt2_config_defaults();
    c.vocab_size = WORDS;
    c.n_positions = 8;
    c.n_embd = WIDE;
    c.n_layer = LAYERS;
    c.n_head = 2;
    hd_module *m = hd_gpt2_new(&c);
    hd_save_pretrained_options o = hd_save_pretrained_defaults();
    o.dtype = d;
    ck_assert_msg(hd_save_pretrained(m, folder, &o), "%s", hd_error_message());
    hd_module_free(m);
}

/* The most bytes beyond those of `matrices` that loading needs: the largest tensor, and what the
 * modules themselves take. Weights that stay in the mapped file take none. */
START_TEST(loading_needs_the_model_and_its_largest_tensor)
{
    const struct {
        hd_dtype file, model;
        bool map;
        int64_t matrices; /* bytes for each element that the model has in memory */
    } cases[] = {{HD_FLOAT32, HD_FLOAT32, true, 0},  {HD_FLOAT32, HD_BFLOAT16, true, 2},
                 {HD_BFLOAT16, HD_FLOAT32, true, 4}, {HD_BFLOAT16, HD_BFLOAT16, true, 0},
                 {HD_FLOAT32, HD_FLOAT32, false, 4}, {HD_BFLOAT16, HD_BFLOAT16, false, 2}};
    const int64_t largest = 4 * WORDS * WIDE, elements = WORDS * WIDE + LAYERS * 12 * WIDE * WIDE;
    const char *folder = temporary("wide");
    save_wide(folder, cases[_i].file);
    hd_pretrained_options o = hd_pretrained_defaults();
    o.dtype = cases[_i].model;
    o.map = cases[_i].map;
    hd_empty_cache();
    int64_t before = hd_bytes_live();
    hd_bytes_peak_reset();
    hd_module *m = hd_from_pretrained(folder, &o);
    int64_t most = hd_bytes_peak() - before;
    ck_assert_msg(m, "%s", hd_error_message());
    printf("%s as %s: at most %.2f MB while loading\n", hd_dtype_name(cases[_i].file),
           hd_dtype_name(o.dtype), (double)most / 1e6);
    ck_assert_int_le(most, cases[_i].matrices * elements + largest + 300000);
    ck_assert_int_ge(hd_bytes_live() - before, cases[_i].matrices * elements);
    hd_module_free(m);
    remove_saved(folder);
}
END_TEST

/* Weights in the mapped file are the process's own when they change. */
START_TEST(learning_does_not_change_the_file)
{
    HD_SCOPE;
    const char *folder = temporary("wide");
    save_wide(folder, HD_FLOAT32);
    hd_module *m = hd_from_pretrained(folder, NULL), *again = hd_from_pretrained(folder, NULL);
    hd_tensor *w = hd_module_get_parameter(m, "transformer.wte.weight");
    ck_assert(w == hd_module_get_parameter(m, "lm_head.weight"));
    ck_assert(hd_requires_grad(w));
    hd_sgd_options o = hd_sgd_defaults();
    hd_optim *optim = hd_sgd_new(hd_module_parameters(m), &o);
    hd_backward(hd_sum(hd_forward(m, hd_ones(HD_INT64, 1, 4))));
    ck_assert_msg(hd_optim_step(optim), "%s", hd_error_message());
    hd_module *third = hd_from_pretrained(folder, NULL);
    hd_tensor *second = hd_module_get_parameter(again, "transformer.wte.weight");
    ck_assert(!hd_equal(w, second));
    ck_assert(hd_equal(hd_module_get_parameter(third, "transformer.wte.weight"), second));
    hd_optim_free(optim);
    hd_module_free(m);
    hd_module_free(again);
    hd_module_free(third);
    remove_saved(folder);
}
END_TEST

Suite *suite_save(void)
{
    const TTest *const tests[] = {refuses,
                                  a_full_disk,
                                  tokens_of_config_json_stay,
                                  a_new_model_has_no_tokens,
                                  rotary_positions_are_written_in_both_forms,
                                  generation_config_stays,
                                  generation_config_that_cannot_be_read,
                                  a_source_is_a_folder_with_a_tokenizer,
                                  learning_does_not_change_the_file};
    Suite *s = SUITE("save", tests);
    TCase *c = tcase_create("loads_again");
    tcase_add_checked_fixture(c, leak_checked_begin, leak_checked_end);
    tcase_add_loop_test(c, loads_again, 0, MODEL_FOLDERS);
    tcase_add_loop_test(c, bfloat16_gives_the_bits_of_rounded_float32, 0, MODEL_FOLDERS);
    tcase_add_loop_test(c, bfloat16_learns_with_adapters, 0, MODEL_FOLDERS);
    tcase_add_loop_test(c, loading_needs_the_model_and_its_largest_tensor, 0, 6);
    suite_add_tcase(s, c);
    return s;
}
