/* scenarios.c - the calls of heed that save, load or remove files. */
#include "judge.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_VIZ
#include "heed/viz.h"
#endif
#ifdef HAVE_CONFIG
#include "heed/config.h"
#endif
#ifdef HAVE_HF
#include "heed/hf.h"
#endif

/* What goes before a call must work; nothing is failed there. */
#define MUST(ok)                                                                                   \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "faults_files: %s: %s\n", #ok, hd_error_message());                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---------------------------------------------------------------- values */

/* The old files have `from` 1, and the new ones 2. */
static hd_tensor *numbers(int from)
{
    return hd_reshape(hd_arange(from, from + 24, 1), 3, 2, 4);
}

static hd_dict *model_of(int from)
{
    hd_dict *d = hd_dict_new();
    MUST(hd_dict_set(d, "weight", hd_to(numbers(from), HD_FLOAT32)) &&
         hd_dict_set(d, "bias", hd_full(HD_FLOAT64, from, 5)) &&
         hd_dict_set(d, "mask", hd_full(HD_BOOL, from, 3)));
    return d;
}

static hd_dict *state_of(int from)
{
    hd_dict *d = hd_dict_new();
    hd_tokenizer *t = hd_tokenizer_chars("the quick brown fox", -1);
    MUST(hd_dict_set_int(d, "step", from) && hd_dict_set_double(d, "lr", 0.1 * from) &&
         hd_dict_set_string(d, "note", from == 1 ? "old" : "new") &&
         hd_dict_set(d, "moment", numbers(from)) && hd_tokenizer_save(t, d, "tokenizer"));
    hd_tokenizer_free(t);
    return d;
}

static bool same_tensor(const hd_tensor *x, hd_tensor *y)
{
    return x && y && hd_equal((hd_tensor *)x, y);
}

static bool is_model(const hd_dict *d, int from)
{
    return d && hd_dict_len(d) == 3 &&
           same_tensor(hd_dict_get(d, "weight"), hd_to(numbers(from), HD_FLOAT32)) &&
           same_tensor(hd_dict_get(d, "bias"), hd_full(HD_FLOAT64, from, 5)) &&
           same_tensor(hd_dict_get(d, "mask"), hd_full(HD_BOOL, from, 3));
}

/* Also two that hd_checkpoint_save adds, and the two of the tokenizer. */
static bool is_state(const hd_dict *d, int from)
{
    int64_t step = 0;
    double lr = 0;
    if (!d || hd_dict_len(d) != 8 || !hd_dict_get_int(d, "step", &step) ||
        !hd_dict_get_double(d, "lr", &lr)) {
        return false;
    }
    hd_tokenizer *t = hd_tokenizer_load(d, "tokenizer");
    bool ok = step == from && lr == 0.1 * from && hd_tokenizer_size(t) == 16 &&
              strcmp(hd_dict_get_string(d, "note"), from == 1 ? "old" : "new") == 0 &&
              same_tensor(hd_dict_get(d, "moment"), numbers(from));
    hd_tokenizer_free(t);
    return ok;
}

/* ---------------------------------------------------------------- safetensors */

static bool save_st(int from)
{
    HD_SCOPE;
    hd_dict *d = model_of(from);
    bool ok = hd_save_safetensors("x", d);
    hd_dict_free(d);
    return ok;
}

static bool load_st_with(const char *path, bool map, int from)
{
    HD_SCOPE;
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = map;
    hd_dict *d = hd_load_safetensors(path, &o);
    bool ok = d && is_model(d, from);
    hd_dict_free(d);
    return ok;
}

static void old_st(void)
{
    MUST(save_st(1));
}

static bool new_st(void)
{
    return save_st(2);
}

static bool is_new_st(void)
{
    return load_st_with("x", false, 2);
}

static bool load_st(void)
{
    return load_st_with("x", false, 1);
}

static bool load_mapped(void)
{
    return load_st_with("x", true, 1);
}

/* One tensor that is mapped, and one that is read, because it needs a conversion. */
static bool read_st(void)
{
    HD_SCOPE;
    hd_safetensors *f = hd_safetensors_open("x", NULL);
    hd_tensor *x = f ? hd_safetensors_read(f, hd_safetensors_find(f, "bias")) : NULL;
    bool ok = x && same_tensor(x, hd_full(HD_FLOAT64, 1, 5));
    hd_safetensors_close(f);
    return ok;
}

static void half_floats(void)
{
    static const char header[] =
        "{\"h\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}}  ";
    const unsigned char length[8] = {sizeof header - 1}, data[4] = {0, 0x3C, 0, 0x40};
    FILE *f = fopen("x", "wb");
    MUST(f && fwrite(length, 1, 8, f) == 8 && fwrite(header, 1, sizeof header - 1, f) > 0 &&
         fwrite(data, 1, 4, f) == 4 && fclose(f) == 0);
}

static bool load_half(void)
{
    HD_SCOPE;
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = true;
    hd_dict *d = hd_load_safetensors("x", &o);
    bool ok = d && hd_item(hd_sum(hd_dict_get(d, "h"))) == 3;
    hd_dict_free(d);
    return ok;
}

static void part_of(const char *path, const char *name, hd_tensor *x)
{
    hd_dict *d = hd_dict_new();
    MUST(hd_dict_set(d, name, x) && hd_save_safetensors(path, d));
    hd_dict_free(d);
}

/* Two files and their index. */
static void old_index(void)
{
    static const char index[] = "{\"weight_map\": {\"w\": \"x1\", \"bias\": \"x2\"}}";
    HD_SCOPE;
    part_of("x1", "w", numbers(1));
    part_of("x2", "bias", hd_full(HD_FLOAT64, 1, 5));
    FILE *f = fopen("x.index.json", "wb");
    MUST(f && fwrite(index, 1, sizeof index - 1, f) == sizeof index - 1 && fclose(f) == 0);
}

static bool read_index(bool map)
{
    HD_SCOPE;
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = map;
    hd_safetensors *f = hd_safetensors_open("x.index.json", &o);
    hd_tensor *w = f ? hd_safetensors_read(f, 0) : NULL, *b = w ? hd_safetensors_read(f, 1) : NULL;
    bool ok = same_tensor(w, numbers(1)) && same_tensor(b, hd_full(HD_FLOAT64, 1, 5));
    hd_safetensors_close(f);
    return ok;
}

static bool read_parts(void)
{
    return read_index(false);
}

static bool map_parts(void)
{
    return read_index(true);
}

/* ---------------------------------------------------------------- npy, tokens */

static bool save_npy(int from)
{
    HD_SCOPE;
    return hd_save_npy("x", hd_transpose(numbers(from), 0, 2));
}

static bool load_npy_of(int from)
{
    HD_SCOPE;
    hd_tensor *x = hd_load_npy("x");
    return x && same_tensor(x, hd_transpose(numbers(from), 0, 2));
}

static void old_npy(void)
{
    MUST(save_npy(1));
}

static bool new_npy(void)
{
    return save_npy(2);
}

static bool is_new_npy(void)
{
    return load_npy_of(2);
}

static bool load_npy(void)
{
    return load_npy_of(1);
}

static bool write_tokens(int from)
{
    HD_SCOPE;
    return hd_tokens_write("x", HD_TOKEN_U16, hd_arange(from, from + 9, 1));
}

static bool read_tokens_of(int from)
{
    HD_SCOPE;
    hd_tokens *t = hd_tokens_open("x", HD_TOKEN_U16);
    hd_tensor *ids = t ? hd_tokens_read(t, 0, 9) : NULL;
    bool ok = ids && hd_tokens_len(t) == 9 && same_tensor(ids, hd_arange(from, from + 9, 1));
    hd_tokens_free(t);
    return ok;
}

static void old_tokens(void)
{
    MUST(write_tokens(1));
}

static bool new_tokens(void)
{
    return write_tokens(2);
}

static bool is_new_tokens(void)
{
    return read_tokens_of(2);
}

static bool read_tokens(void)
{
    return read_tokens_of(1);
}

static bool read_bpe(void)
{
    hd_tokenizer *t = hd_tokenizer_bpe(GOLDEN_DIR "/bpe_vocab.json", GOLDEN_DIR "/bpe_merges.txt");
    bool ok = t && hd_tokenizer_size(t) > 256;
    hd_tokenizer_free(t);
    return ok;
}

static bool read_tokenizer_json(void)
{
    hd_tokenizer *t = hd_tokenizer_json(GOLDEN_DIR "/tokenizers/qwen2.json");
    bool ok = t && hd_tokenizer_size(t) > 256;
    hd_tokenizer_free(t);
    return ok;
}

/* ---------------------------------------------------------------- checkpoints */

static bool with_checkpoint(bool (*save)(const char *dir, const hd_dict *, const hd_dict *),
                            int from)
{
    HD_SCOPE;
    hd_dict *model = model_of(from), *state = state_of(from);
    bool ok = save("c", model, state);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

static bool is_checkpoint_of(int from)
{
    HD_SCOPE;
    hd_dict *model = NULL, *state = NULL;
    bool ok =
        hd_checkpoint_load("c", &model, &state) && is_model(model, from) && is_state(state, from);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

static bool save_checkpoint(void)
{
    return with_checkpoint(hd_checkpoint_save, 2);
}

static bool replace_checkpoint(void)
{
    return with_checkpoint(hd_checkpoint_replace, 2);
}

static bool remove_checkpoint(void)
{
    return hd_checkpoint_remove("c");
}

static void old_checkpoint(void)
{
    MUST(with_checkpoint(hd_checkpoint_save, 1));
}

/* The new one gets these permissions. */
static void old_read_only(void)
{
    old_checkpoint();
    MUST(chmod("c/model.safetensors", 0440) == 0 && chmod("c/state.safetensors", 0600) == 0 &&
         chmod("c", 0550) == 0);
}

static bool is_new_checkpoint(void)
{
    return is_checkpoint_of(2);
}

static bool load_checkpoint(void)
{
    return is_checkpoint_of(1);
}

static bool load_model_only(void)
{
    HD_SCOPE;
    hd_dict *model = NULL;
    bool ok = hd_checkpoint_load("c", &model, NULL) && is_model(model, 1);
    hd_dict_free(model);
    return ok;
}

/* A removal that could not go on: the checkpoint is hidden. */
static void left_over(void)
{
    old_checkpoint();
    stand_in.keeps = 1;
    bool removed = hd_checkpoint_remove("c");
    stand_in.keeps = 0;
    MUST(!removed && access("c", F_OK) != 0);
    hd_error_clear();
}

/* The name of the hidden directory; there is one. */
static void hidden_name(char name[256])
{
    DIR *dir = opendir(".");
    name[0] = '\0';
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, ".heed-", 6) == 0) {
            snprintf(name, 256, "%s", e->d_name);
        }
    }
    MUST(name[0] && closedir(dir) == 0);
}

/* Saving removes what is left over, so that waits under another name. */
static void old_and_left_over(void)
{
    char name[256];
    left_over();
    hidden_name(name);
    MUST(rename(name, "away") == 0);
    old_checkpoint();
    MUST(rename("away", name) == 0);
}

static bool has_mode(const char *path, mode_t mode)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & 07777) == mode;
}

static bool is_new_read_only(void)
{
    return is_new_checkpoint() && has_mode("c", 0550) && has_mode("c/model.safetensors", 0440) &&
           has_mode("c/state.safetensors", 0600);
}

static bool is_removed(void)
{
    return access("c", F_OK) != 0;
}

/* ---------------------------------------------------------------- the libraries beside heed */

#ifdef HAVE_HF

static hd_module *two_linears(void)
{
    return hd_sequential(hd_linear_new(3, 4, true), hd_linear_new(4, 2, true));
}

static bool save_adapter(void)
{
    hd_manual_seed(1);
    hd_module *m = two_linears();
    MUST(hd_lora_apply(m, NULL));
    bool ok = hd_lora_save(m, "x");
    hd_module_free(m);
    return ok;
}

static void old_adapter(void)
{
    MUST(save_adapter());
}

static bool load_adapter(void)
{
    hd_module *m = two_linears();
    bool ok = hd_lora_load(m, "x");
    MUST(ok == (hd_module_num_parameters(m, true) == 8 * (3 + 4) + 8 * (4 + 2)));
    hd_module_free(m);
    return ok;
}

#endif
#ifdef HAVE_CONFIG

typedef struct settings {
    int64_t seed;
    char text[16];
} settings;

static const hd_config_field fields[] = {
    HD_CONFIG_INT_OF(settings, seed, "seed", 123, -1000, 1000),
    HD_CONFIG_STRING_OF(settings, text, "data.text", "a.txt"),
};
static const hd_config_table table = HD_CONFIG_TABLE(settings, fields, NULL);

static bool save_config(int from)
{
    settings s = {.seed = from, .text = "b.txt"};
    return hd_config_save(&table, &s, "x");
}

static bool load_config_of(int from)
{
    settings s = {0};
    return hd_config_load(&table, &s, "x", 0, NULL) && s.seed == from &&
           strcmp(s.text, "b.txt") == 0;
}

static void old_config(void)
{
    MUST(save_config(1));
}

static bool new_config(void)
{
    return save_config(2);
}

static bool is_new_config(void)
{
    return load_config_of(2);
}

static bool load_config(void)
{
    return load_config_of(1);
}

#endif

#ifdef HAVE_VIZ

static hd_picture *plot(int from)
{
    const double y[] = {from, 2, 0};
    const hd_series line = {"loss", 3, NULL, y};
    return hd_plot_lines(1, &line, NULL);
}

static bool save_svg_of(int from)
{
    hd_picture *p = plot(from);
    bool ok = hd_picture_save_svg(p, "x");
    hd_picture_free(p);
    return ok;
}

static void old_svg(void)
{
    MUST(save_svg_of(1));
}

static bool new_svg(void)
{
    return save_svg_of(2);
}

static bool save_dot(void)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3);
    hd_requires_grad_(x, true);
    return hd_graph_save_dot(hd_sum(hd_exp(x)), NULL, "x");
}

#endif

#ifdef HAVE_HF

static hd_module *model_folder(const char *folder)
{
    return hd_from_pretrained(folder, NULL);
}

static bool load_model(void)
{
    hd_module *m = model_folder(GOLDEN_DIR "/models/llama");
    hd_generate_options o;
    bool ok = m && hd_generate_options_load(GOLDEN_DIR "/models/llama", &o);
    hd_module_free(m);
    return ok;
}

static bool save_model(void)
{
    hd_module *m = model_folder(GOLDEN_DIR "/models/gpt2");
    hd_save_pretrained_options o = hd_save_pretrained_defaults();
    o.source = GOLDEN_DIR "/chat";
    bool ok = m && hd_save_pretrained(m, "m", &o);
    hd_module_free(m);
    return ok;
}

static bool is_new_model(void)
{
    hd_module *m = model_folder("m");
    hd_generate_options o;
    bool ok = m && hd_generate_options_load("m", &o) && o.num_eos == 1;
    hd_module_free(m);
    return ok;
}

#endif

/* ---------------------------------------------------------------- the table */

const scenario scenarios[] = {
    {"save_safetensors, new", NULL, new_st, is_new_st, "'x'", true, false, NULL},
    {"save_safetensors, over an old one", old_st, new_st, is_new_st, "'x'", true, false, NULL},
    {"load_safetensors", old_st, load_st, NULL, "'x'", true, false, NULL},
    {"load_safetensors, mapped", old_st, load_mapped, NULL, "'x'", true, false, NULL},
    {"load_safetensors, converted", half_floats, load_half, NULL, "'x'", true, false, NULL},
    {"safetensors_open and _read", old_st, read_st, NULL, "'x'", true, false, NULL},
    {"safetensors_open of an index", old_index, read_parts, NULL, NULL, true, false, NULL},
    {"safetensors_open of an index, mapped", old_index, map_parts, NULL, NULL, true, false, NULL},
    {"save_npy, new", NULL, new_npy, is_new_npy, "'x'", true, false, NULL},
    {"save_npy, over an old one", old_npy, new_npy, is_new_npy, "'x'", true, false, NULL},
    {"load_npy", old_npy, load_npy, NULL, "'x'", true, false, NULL},
    {"tokens_write, new", NULL, new_tokens, is_new_tokens, "'x'", true, false, NULL},
    {"tokens_write, over old ones", old_tokens, new_tokens, is_new_tokens, "'x'", true, false,
     NULL},
    {"tokens_open", old_tokens, read_tokens, NULL, "'x'", true, false, NULL},
    {"tokenizer_bpe", NULL, read_bpe, NULL, NULL, true, false, NULL},
    {"tokenizer_json", NULL, read_tokenizer_json, NULL, NULL, true, false, NULL},
    {"checkpoint_save", NULL, save_checkpoint, is_new_checkpoint, "'c", false, true, NULL},
    {"checkpoint_save, with a left-over", left_over, save_checkpoint, is_new_checkpoint, "'c",
     false, true, NULL},
    {"checkpoint_replace, new", NULL, replace_checkpoint, is_new_checkpoint, NULL, true, true,
     NULL},
    {"checkpoint_replace, an old one", old_checkpoint, replace_checkpoint, is_new_checkpoint, NULL,
     true, true, NULL},
    {"checkpoint_replace, with a left-over", old_and_left_over, replace_checkpoint,
     is_new_checkpoint, NULL, true, true, NULL},
    {"checkpoint_replace, a read-only one", old_read_only, replace_checkpoint, is_new_read_only,
     NULL, true, true, NULL},
    {"checkpoint_load", old_checkpoint, load_checkpoint, NULL, "'c/", true, false, NULL},
    {"checkpoint_load, model only", old_checkpoint, load_model_only, NULL, "'c/", true, false,
     NULL},
    {"checkpoint_remove", old_checkpoint, remove_checkpoint, is_removed, "'c", false, true, NULL},
    {"checkpoint_remove, a read-only one", old_read_only, remove_checkpoint, is_removed, "'c",
     false, true, NULL},
    {"checkpoint_remove, what is left", left_over, remove_checkpoint, is_removed, "'c", false, true,
     NULL},
#ifdef HAVE_HF
    {"lora_save", NULL, save_adapter, load_adapter, "'x", false, true, NULL},
    {"lora_load", old_adapter, load_adapter, NULL, "'x/", true, false, NULL},
#endif
#ifdef HAVE_CONFIG
    {"config_save, new", NULL, new_config, is_new_config, "'x'", true, false, NULL},
    {"config_save, over an old one", old_config, new_config, is_new_config, "'x'", true, false,
     NULL},
    {"config_load", old_config, load_config, NULL, "'x'", true, false, NULL},
#endif
#ifdef HAVE_VIZ
    {"picture_save_svg, new", NULL, new_svg, NULL, "'x'", true, false, NULL},
    {"picture_save_svg, over an old one", old_svg, new_svg, NULL, "'x'", true, false, NULL},
    {"graph_save_dot", NULL, save_dot, NULL, "'x'", true, false, NULL},
#endif
#ifdef HAVE_HF
    {"from_pretrained", NULL, load_model, NULL, NULL, true, false, NULL},
    {"save_pretrained", NULL, save_model, is_new_model, NULL, false, true, NULL},
#endif
};
const int n_scenarios = sizeof scenarios / sizeof scenarios[0];
