/* test_lora.c - compares adapters (LoRA) with those that peft made (tests/golden/lora). */
#include <sys/stat.h>
#include <unistd.h>

#include "../../examples/gpt.h"
#include "suites.h"
#include "support/warnings.h"
#include "tiny.h"

#define ADAPTER GOLDEN_DIR "/lora"

static hd_dict *golden; /* of the running test */

static hd_tensor *of(const char *kind, const char *name)
{
    char key[100];
    snprintf(key, sizeof key, "%s%s%s", kind, *name ? "." : "", name);
    hd_tensor *t = hd_dict_get(golden, key);
    ck_assert_msg(t, "%s", hd_error_message());
    return t;
}

/* The golden model, in training mode. */
static hd_module *golden_tiny(void)
{
    golden = hd_load_safetensors(GOLDEN_DIR "/lora.safetensors", NULL);
    ck_assert_msg(golden, "%s", hd_error_message());
    hd_module *m = tiny_new();
    hd_dict *state = hd_module_state_dict(m);
    for (int64_t i = 0; i < hd_dict_len(state); i++) {
        const char *name = hd_dict_name(state, i);
        ck_assert(hd_copy_(hd_dict_get(state, name), of("weight", name)));
    }
    hd_dict_free(state);
    return m;
}

static void done(hd_module *m)
{
    hd_module_free(m);
    hd_dict_free(golden);
    golden = NULL;
}

static hd_lora_options rank2(void)
{
    hd_lora_options o = hd_lora_defaults();
    o.r = 2;
    o.lora_alpha = 6;
    return o;
}

static void apply(hd_module *m, const hd_lora_options *o)
{
    ck_assert_msg(hd_lora_apply(m, o), "%s", hd_error_message());
}

static void load(hd_module *m, const char *folder)
{
    ck_assert_msg(hd_lora_load(m, folder), "%s", hd_error_message());
}

/* Is each element within `most` of the largest of b? */
static void ck_near(hd_tensor *a, hd_tensor *b, double most)
{
    ck_assert_msg(a && b, "%s", hd_error_message());
    ck_assert_str_eq(hd_shape_repr(a), hd_shape_repr(b));
    double largest = hd_item(hd_max(hd_abs(hd_detach(b))));
    double off = hd_item(hd_max(hd_abs(hd_sub(hd_detach(a), hd_detach(b)))));
    ck_assert_msg(off <= most * largest, "off by %g of %g", off, largest);
}

static hd_tensor *loss_of(hd_module *m)
{
    return hd_mse_loss(hd_forward(m, of("x", "")), of("y", ""));
}

static const char *const adapted[] = {"block.c_attn", "block.c_fc", "block.proj", "head"};

/* The adapters' parameters: "block.c_attn.lora_A.weight", and so on. */
#define EACH_ADAPTER(name)                                                                         \
    char name[100];                                                                                \
    for (int i_ = 0; i_ < 8 && snprintf(name, sizeof name, "%s.lora_%c.weight", adapted[i_ / 2],   \
                                        "AB"[i_ % 2]) > 0;                                         \
         i_++)

/* ---------------------------------------------------------------- values */

START_TEST(draws_are_those_of_peft)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_tensor *before = hd_forward(m, of("x", ""));
    hd_lora_options o = rank2();
    hd_manual_seed(7);
    apply(m, &o);
    EACH_ADAPTER(name)
    {
        ck_assert_msg(hd_equal(hd_module_get_parameter(m, name), of("drawn", name)), "%s", name);
    }
    ck_assert(hd_equal(hd_forward(m, of("x", "")), before));
    done(m);
}
END_TEST

START_TEST(outputs_and_gradients_are_those_of_peft)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    load(m, ADAPTER);
    ck_near(hd_forward(m, of("x", "")), of("unmerged", ""), 1e-5);
    ck_assert(hd_backward(loss_of(m)));
    EACH_ADAPTER(name)
    {
        ck_near(hd_grad(hd_module_get_parameter(m, name)), of("grad", name), 1e-5);
    }
    ck_assert_ptr_eq(hd_grad(hd_module_get_parameter(m, "head.weight")), HD_NONE);
    done(m);
}
END_TEST

START_TEST(a_merge_gives_the_sums_of_peft)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    load(m, ADAPTER);
    hd_module_eval(m);
    ck_assert(hd_lora_merge(m));
    ck_near(hd_forward(m, of("x", "")), of("merged", ""), 1e-5);
    hd_dict *state = hd_module_state_dict(m);
    ck_assert_int_eq(hd_dict_len(state), 7);
    for (int64_t i = 0; i < 7; i++) {
        const char *name = hd_dict_name(state, i);
        ck_near(hd_dict_get(state, name), of("sum", name), 1e-6);
    }
    hd_dict_free(state);
    ck_assert_str_eq(hd_module_get(m, "block.c_attn")->type->name, "Conv1D");
    ck_assert_str_eq(hd_module_get(m, "head")->type->name, "Linear");
    ck_assert(!hd_module_training(hd_module_get(m, "head")));
    ck_assert_int_eq(hd_module_num_parameters(m, true), 0);
    done(m);
}
END_TEST

START_TEST(five_steps_have_the_losses_of_peft)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_lora_options o = rank2();
    hd_manual_seed(7);
    apply(m, &o);
    hd_adamw_options adamw = hd_adamw_defaults();
    adamw.lr = 0.05;
    adamw.weight_decay = 0.1;
    hd_optim *optim = hd_adamw_new(hd_module_parameters(m), &adamw);
    hd_tensor *losses = of("losses", "");
    for (int i = 0; i < 5; i++) {
        HD_SCOPE;
        hd_tensor *loss = loss_of(m);
        ck_assert_double_eq_tol(hd_item(loss), hd_get(losses, i), 1e-5);
        ck_assert(hd_optim_zero_grad(optim) && hd_backward(loss) && hd_optim_step(optim));
    }
    hd_optim_free(optim);
    done(m);
}
END_TEST

START_TEST(dropout_is_that_of_the_native_stream)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_lora_options o = rank2();
    o.lora_dropout = 0.5;
    apply(m, &o);
    {
        HD_NO_GRAD;
        EACH_ADAPTER(name)
        {
            hd_fill_(hd_module_get_parameter(m, name), 0.25);
        }
    }
    hd_generator *g = hd_default_generator();
    hd_bernoulli_stream before = hd_generator_bernoulli(g);
    hd_generator_set_bernoulli(g, HD_BERNOULLI_NATIVE);
    hd_manual_seed(11);
    ck_near(hd_forward(m, of("x", "")), of("dropped", ""), 1e-6);
    hd_generator_set_bernoulli(g, before);
    hd_module_eval(m);
    ck_assert(hd_equal(hd_forward(m, of("x", "")), hd_forward(m, of("x", ""))));
    done(m);
}
END_TEST

START_TEST(float64_too)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_module_to(m, HD_FLOAT64);
    load(m, ADAPTER);
    hd_tensor *x = hd_to(of("x", ""), HD_FLOAT64);
    ck_near(hd_forward(m, x), hd_to(of("unmerged", ""), HD_FLOAT64), 1e-5);
    hd_tensor *y = hd_forward(m, x);
    ck_assert(hd_lora_merge(m));
    ck_near(hd_forward(m, x), y, 1e-14);
    done(m);
}
END_TEST

/* The plain modules follow what happened to the adapted ones. */
START_TEST(a_merge_follows_a_change_of_dtype)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    load(m, ADAPTER);
    hd_module_to(m, HD_FLOAT64);
    ck_assert(hd_lora_merge(m));
    ck_near(hd_forward(m, hd_to(of("x", ""), HD_FLOAT64)), hd_to(of("merged", ""), HD_FLOAT64),
            1e-5);
    done(m);
}
END_TEST

/* The weight and the bias that m has now, and not those that it had before */
START_TEST(a_merge_takes_new_parameters)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    load(m, ADAPTER);
    hd_module_eval(m);
    const char *const names[] = {"block.c_fc.weight", "block.c_fc.bias"};
    for (int i = 0; i < 2; i++) {
        hd_tensor *old = hd_module_get_parameter(m, names[i]);
        ck_assert(hd_module_set_parameter(m, names[i], hd_parameter(hd_neg(old), false)));
    }
    hd_tensor *y = hd_forward(m, of("x", ""));
    ck_assert(hd_lora_merge(m));
    ck_near(hd_forward(m, of("x", "")), y, 1e-5);
    done(m);
}
END_TEST

/* ---------------------------------------------------------------- the model around it */

static int64_t trainable(const hd_module *m)
{
    return hd_module_num_parameters(m, true);
}

/* Raschka, "Build a Large Language Model (From Scratch)", appendix E */
START_TEST(the_counts_of_the_book)
{
    HD_SCOPE;
    HD_NO_INIT;
    const gpt_config c = {50257, 1024, 768, 12, 12, 0, true};
    hd_module *m = gpt_model_new(&c);
    ck_assert(hd_module_set(m, "out_head", hd_linear_new(768, 2, true)));
    ck_assert_int_eq(trainable(m), 124441346);
    ck_assert(hd_module_freeze(m, ""));
    ck_assert_int_eq(trainable(m), 0);
    hd_lora_options o = hd_lora_defaults();
    o.r = o.lora_alpha = 16;
    apply(m, &o);
    ck_assert_int_eq(trainable(m), 2666528);
    hd_module_free(m);
}
END_TEST

START_TEST(all_but_the_adapters_are_frozen)
{
    hd_module *m = tiny_new();
    hd_lora_options o = rank2();
    static const char *const names[] = {"c_attn", "block.proj"};
    o.target_modules = names;
    o.num_target_modules = 2;
    hd_module_eval(hd_module_get(m, "block"));
    apply(m, &o);
    ck_assert_int_eq(trainable(m), 2 * (4 + 4) + 2 * (8 + 4));
    ck_assert(!hd_module_training(hd_module_get(m, "block.proj.lora_A")));
    hd_dict *d = hd_module_named_parameters(m);
    static const char *const order[] = {
        "block.c_attn.weight",        "block.c_attn.bias", "block.c_attn.lora_A.weight",
        "block.c_attn.lora_B.weight", "block.c_fc.weight", "block.c_fc.bias",
        "block.proj.weight",          "block.proj.bias",   "block.proj.lora_A.weight",
        "block.proj.lora_B.weight",   "head.weight"};
    ck_assert_int_eq(hd_dict_len(d), 11);
    for (int64_t i = 0; i < 11; i++) {
        ck_assert_str_eq(hd_dict_name(d, i), order[i]);
    }
    hd_dict_free(d);
    hd_module_free(m);
}
END_TEST

static void ten_steps(hd_module *m, hd_optim *o)
{
    for (int i = 0; i < 10; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(o);
        hd_backward(loss_of(m));
        hd_optim_step(o);
    }
}

/* The first optimizer has only what is frozen then, and the model learns nothing. */
START_TEST(an_optimizer_made_before_the_adapters)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_optim *before = hd_adamw_new(hd_module_parameters(m), NULL);
    hd_lora_options o = rank2();
    apply(m, &o);
    ck_warning(ten_steps(m, before),
               "hd_optim_step: none of the last 10 steps found a gradient, because none of the "
               "optimizer's 7 parameters requires grad. Create the optimizer after hd_lora_apply "
               "and hd_module_freeze, with the parameters that train");
    hd_optim_free(before);
    hd_optim *after = hd_adamw_new(hd_module_parameters(m), NULL);
    ck_no_warning(ten_steps(m, after));
    hd_optim_free(after);
    done(m);
}
END_TEST

START_TEST(all_linear_leaves_the_head_of_a_language_model_out)
{
    hd_module *m = hd_linear_new(4, 4, true);
    ck_assert(!hd_lora_apply(m, NULL));
    ck_error(HD_VALUE, "hd_lora_apply: target_modules: all-linear matches no module of Linear");
    hd_module_free(m);
    typedef struct language_model {
        hd_module base;
        hd_module *body, *lm_head;
    } language_model;
    static const hd_module_type type = HD_MODULE_TYPE(language_model, "LM", NULL);
    language_model *l = (language_model *)hd_module_new(&type);
    hd_register_module(&l->base, "body", &l->body, hd_linear_new(2, 3, true));
    hd_register_module(&l->base, "lm_head", &l->lm_head, hd_linear_new(3, 5, false));
    apply(&l->base, NULL);
    ck_assert_str_eq(l->body->type->name, "lora.Linear");
    ck_assert_str_eq(l->lm_head->type->name, "Linear");
    hd_module_free(&l->base);
}
END_TEST

START_TEST(tied_parameters_stay_tied)
{
    HD_SCOPE;
    hd_module *embedding = hd_embedding_new(3, 4, HD_NO_PADDING);
    hd_module *m = hd_sequential(embedding, hd_linear_new(4, 3, false));
    ck_assert(hd_module_set_parameter(m, "1.weight", hd_module_get_parameter(m, "0.weight")));
    apply(m, NULL);
    ck_assert_ptr_eq(hd_module_get_parameter(m, "1.weight"),
                     hd_module_get_parameter(m, "0.weight"));
    ck_assert_int_eq(hd_module_num_parameters(m, false), 12 + 8 * (4 + 3));
    hd_tensor *table = hd_clone(hd_module_get_parameter(m, "0.weight"));
    hd_tensor *ids = hd_arange(0, 3, 1);
    ck_assert(hd_init_ones_(hd_module_get_parameter(m, "1.lora_B.weight")));
    hd_tensor *before = hd_detach(hd_forward(m, ids));
    ck_assert(hd_lora_merge(m)); /* the embedding does not get the product */
    ck_assert(hd_equal(hd_module_get_parameter(m, "0.weight"), table));
    ck_assert(hd_allclose(hd_forward(m, ids), before, 1e-5, 1e-6, false));
    hd_module_free(m);
}
END_TEST

START_TEST(a_base_is_saved_and_loaded_through_the_adapters)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_dict *report = hd_dict_new(), *state = hd_dict_new();
    static const char *const names[] = {
        "block.c_attn.weight", "block.c_attn.bias", "block.c_fc.weight", "block.c_fc.bias",
        "block.proj.weight",   "block.proj.bias",   "head.weight"};
    for (int i = 0; i < 7; i++) {
        ck_assert(hd_dict_set(state, names[i], of("weight", names[i])));
    }
    load(m, ADAPTER);
    hd_fill_(hd_module_get_parameter(m, "head.weight"), 0);
    ck_assert(hd_module_load_state_dict(m, state, false, report));
    ck_assert_int_eq(hd_dict_len(report), 8); /* the adapters alone are missing */
    ck_near(hd_forward(m, of("x", "")), of("unmerged", ""), 1e-5);
    hd_dict_free(report);
    hd_dict_free(state);
    done(m);
}
END_TEST

START_TEST(a_cache_sees_through_the_adapters)
{
    HD_SCOPE;
    hd_module *m = hd_multi_head_attention_new(4, 4, 6, 0, 2, false);
    apply(m, NULL);
    hd_module_eval(m);
    {
        HD_NO_GRAD;
        hd_fill_(hd_module_get_parameter(m, "W_key.lora_B.weight"), 0.5);
        hd_fill_(hd_module_get_parameter(m, "out_proj.lora_B.weight"), 0.5);
    }
    hd_tensor *x = hd_reshape(hd_sin(hd_to(hd_arange(0, 24, 1), HD_FLOAT32)), 1, 6, 4);
    hd_kv_cache *c = hd_kv_cache_new(m, 1);
    hd_tensor *first = hd_multi_head_attention_cached(m, hd_narrow(x, 1, 0, 4), c);
    hd_tensor *last = hd_multi_head_attention_cached(m, hd_narrow(x, 1, 4, 2), c);
    ck_near(hd_cat(1, first, last), hd_forward(m, x), 1e-5);
    hd_kv_cache_free(c);
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- files */

static void remove_adapter(const char *folder)
{
    char path[300];
    snprintf(path, sizeof path, "%s/adapter_config.json", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/adapter_model.safetensors", folder);
    unlink(path);
    rmdir(folder);
}

START_TEST(what_is_saved_is_loaded)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_lora_options o = rank2();
    o.lora_dropout = 0.125;
    static const char *const names[] = {"c_fc", "head"};
    o.target_modules = names;
    o.num_target_modules = 2;
    apply(m, &o);
    {
        HD_NO_GRAD;
        hd_fill_(hd_module_get_parameter(m, "head.lora_B.weight"), 0.5);
    }
    const char *folder = temporary("adapter");
    char path[300];
    ck_assert_msg(hd_lora_save(m, folder), "%s", hd_error_message());
    ck_assert_int_eq(files_in(folder), 2);
    snprintf(path, sizeof path, "%s/adapter_config.json", folder);
    ck_file(path, "{\n"
                  "  \"base_model_name_or_path\": null,\n"
                  "  \"bias\": \"none\",\n"
                  "  \"fan_in_fan_out\": true,\n"
                  "  \"inference_mode\": true,\n"
                  "  \"lora_alpha\": 6,\n"
                  "  \"lora_dropout\": 0.125,\n"
                  "  \"peft_type\": \"LORA\",\n"
                  "  \"r\": 2,\n"
                  "  \"target_modules\": [\n"
                  "    \"block.c_fc\",\n"
                  "    \"head\"\n"
                  "  ],\n"
                  "  \"task_type\": null,\n"
                  "  \"use_rslora\": false\n"
                  "}");
    hd_module_eval(m);
    hd_tensor *y = hd_forward(m, of("x", ""));
    ck_assert(!hd_lora_save(m, folder));
    ck_error(HD_IO, sized("hd_lora_save: '%s' exists already. Choose a new name", folder));
    done(m);
    m = golden_tiny();
    load(m, folder);
    hd_module_eval(m);
    ck_assert(hd_equal(hd_forward(m, of("x", "")), y));
    remove_adapter(folder);
    done(m);
}
END_TEST

START_TEST(tensors_are_saved_in_the_bytes_of_peft)
{
    hd_module *m = golden_tiny();
    load(m, ADAPTER);
    const char *folder = temporary("again");
    char path[300];
    size_t n, wanted;
    ck_assert(hd_lora_save(m, folder));
    snprintf(path, sizeof path, "%s/adapter_model.safetensors", folder);
    char *bytes = read_file(path, &n);
    char *theirs = read_file(ADAPTER "/adapter_model.safetensors", &wanted);
    ck_assert(n == wanted && memcmp(bytes, theirs, n) == 0);
    free(bytes);
    free(theirs);
    remove_adapter(folder);
    done(m);
}
END_TEST

START_TEST(parts_with_different_options_are_not_saved)
{
    hd_module *m = tiny_new();
    hd_lora_options o = rank2();
    apply(hd_module_get(m, "block"), &o);
    hd_module *more = hd_sequential(m, hd_sequential(hd_linear_new(3, 3, true)));
    o.r = 1;
    apply(hd_module_get(more, "1"), &o);
    ck_assert(!hd_lora_save(more, temporary("parts")));
    ck_error(HD_VALUE, "hd_lora_save: '0.block.c_attn' and '1.0' differ in r, lora_alpha or "
                       "lora_dropout: expected the same in all adapters");
    ck_assert_int_eq(files_in(temporary("parts")), -1);
    hd_module_free(more);
}
END_TEST

/* A folder with the golden tensors and this configuration. */
static const char *folder_with(const char *config)
{
    const char *folder = temporary("given");
    char path[300];
    size_t n;
    remove_adapter(folder);
    ck_assert_int_eq(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/adapter_config.json", folder);
    write_file(path, config, strlen(config));
    char *bytes = read_file(ADAPTER "/adapter_model.safetensors", &n);
    snprintf(path, sizeof path, "%s/adapter_model.safetensors", folder);
    write_file(path, bytes, n);
    free(bytes);
    return folder;
}

/* Loading with this configuration fails so, and leaves no adapter. */
static void ck_config(const char *config, hd_code code, const char *message)
{
    hd_module *m = tiny_new();
    const char *folder = folder_with(config);
    ck_assert(!hd_lora_load(m, folder));
    ck_error(code, sized("hd_lora_load: '%s/%s", folder, message));
    ck_assert(hd_module_num_parameters(m, true) == hd_module_num_parameters(m, false));
    ck_assert(!hd_lora_merge(m));
    hd_error_clear();
    hd_module_free(m);
    remove_adapter(folder);
}

#define BASIC "\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 6, "

START_TEST(configurations_that_are_refused)
{
    static const struct {
        const char *config, *message;
    } cases[] = {
        {"{" BASIC "\"use_rslora\": true}",
         "adapter_config.json': use_rslora: found true: expected the default of this key. heed has "
         "plain LoRA only"},
        {"{" BASIC "\"modules_to_save\": [\"score\"]}",
         "adapter_config.json': modules_to_save.0: found score: expected the default of this key. "
         "heed has plain LoRA only"},
        {"{" BASIC "\"bias\": \"all\"}", "adapter_config.json': bias: found all: expected the "
                                         "default of this key. heed has plain LoRA only"},
        {"{" BASIC "\"init_lora_weights\": \"pissa\"}",
         "adapter_config.json': init_lora_weights: found pissa: expected the default of this key. "
         "heed has plain LoRA only"},
        {"{" BASIC "\"rank_pattern\": {\"head\": 4}}",
         "adapter_config.json': rank_pattern.head: found 4: expected the default of this key. heed "
         "has plain LoRA only"},
        {"{" BASIC "\"target_modules\": \".*c_fc\"}",
         "adapter_config.json': target_modules: found .*c_fc: expected a list of names, or "
         "all-linear"},
        {"{" BASIC "\"target_modules\": [\"c_fc\", [\"c_attn\"]]}",
         "adapter_config.json': target_modules.1.0: found c_attn: expected a list of names, or "
         "all-linear"},
        {"{" BASIC "\"target_modules\": [\"c_fc\", null]}",
         "adapter_config.json': target_modules.1: found null: expected a list of names, or "
         "all-linear"},
        {"{" BASIC "\"target_modules\": {\"a\": \"c_fc\"}}",
         "adapter_config.json': target_modules.a: found c_fc: expected a list of names, or "
         "all-linear"},
        {"{\"peft_type\": \"LORA\", \"r\": 0.5}",
         "adapter_config.json': r: found 0.5: expected a whole number"},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": \"6\"}",
         "adapter_config.json': lora_alpha: found \"6\": expected a number"},
        {"{\"peft_type\": \"IA3\"}", "adapter_config.json': peft_type: found IA3: expected the "
                                     "default of this key. heed has plain LoRA only"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_config(cases[i].config, HD_VALUE, cases[i].message);
    }
    ck_config("{\"r\": 99999999, \"target_modules\": \"all-linear\"}", HD_FORMAT,
              "adapter_model.safetensors' has only 312 bytes of weights: too few for adapters with "
              "r 99999999");
    ck_config("{\"r\": 2,}", HD_FORMAT,
              "adapter_config.json': line 1, column 9: found '}': expected a name in quotes");
}
END_TEST

/* Loads the adapter into m; its file has one tensor more. */
static bool load_with(hd_module *m, const char *name, hd_tensor *x)
{
    char path[300];
    const char *folder =
        folder_with("{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 6, \"target_modules\": "
                    "\"all-linear\"}");
    snprintf(path, sizeof path, "%s/adapter_model.safetensors", folder);
    hd_dict *d = hd_load_safetensors(path, NULL);
    ck_assert(hd_dict_set(d, name, x) && hd_save_safetensors(path, d));
    hd_dict_free(d);
    bool ok = hd_lora_load(m, folder);
    remove_adapter(folder);
    return ok;
}

#define HEAD "base_model.model.head.base_layer.weight"

/* peft writes such copies for an lm_head with an adapter, and for resized embeddings. */
START_TEST(copies_of_the_models_weights)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_tensor *exact = hd_clone(hd_detach(hd_module_get_parameter(m, "head.weight")));
    ck_assert_msg(load_with(m, HEAD, exact), "%s", hd_error_message());
    ck_near(hd_forward(m, of("x", "")), of("unmerged", ""), 1e-5);
    done(m);
    m = golden_tiny();
    ck_assert_msg(load_with(m, HEAD, hd_to(exact, HD_BFLOAT16)), "%s", hd_error_message());
    done(m);
    m = golden_tiny();
    hd_tensor *attn = hd_detach(hd_module_get_parameter(m, "block.c_attn.weight"));
    ck_assert_msg(load_with(m, "base_model.model.block.c_attn.weight", attn), "%s",
                  hd_error_message());
    done(m);
}
END_TEST

static void ck_refused(const char *name, hd_tensor *x, hd_code code, const char *message)
{
    char want[500];
    hd_module *m = golden_tiny();
    ck_assert(!load_with(m, name, x));
    snprintf(want, sizeof want, "hd_lora_load: '%s/adapter_model.safetensors'%s",
             temporary("given"), message);
    ck_error(code, want);
    ck_assert_str_eq(hd_module_get(m, "head")->type->name, "Linear"); /* nothing has changed */
    done(m);
}

START_TEST(tensors_that_are_no_copies)
{
    HD_SCOPE;
    hd_module *m = golden_tiny();
    hd_tensor *head =
        hd_clone(hd_detach(hd_module_get_parameter(m, "head.weight"))); /* (out, in) */
    done(m);
    int64_t out = hd_size(head, 0), in = hd_size(head, 1);
    char message[400];
    snprintf(message, sizeof message,
             ": " HEAD " is (%d, %d): expected (%d, %d), as in this model. Load the adapter into a "
             "model whose vocabulary was resized in the same way",
             (int)out + 8, (int)in, (int)out, (int)in);
    ck_refused(HEAD, hd_zeros(HD_FLOAT32, out + 8, in), HD_SHAPE, message);
    ck_refused(HEAD, hd_add_scalar(head, 0.01), HD_VALUE,
               ": " HEAD " differs from the weight of this model: expected a copy of it. Load the "
               "adapter into the model on which it was trained");
    ck_refused("base_model.model.score.weight", head, HD_VALUE,
               " has base_model.model.score.weight: expected only adapters of target_modules, and "
               "copies of this model's weights");
    ck_refused("base_model.model.head.lora_magnitude_vector", head, HD_VALUE,
               " has base_model.model.head.lora_magnitude_vector: expected only adapters of "
               "target_modules, and copies of this model's weights");
}
END_TEST

START_TEST(adapters_for_another_model)
{
    ck_config("{" BASIC "\"target_modules\": [\"c_fc\"]}", HD_VALUE,
              "adapter_model.safetensors' has base_model.model.block.c_attn.lora_A.weight: "
              "expected only adapters of target_modules, and copies of this model's weights");
    ck_config("{\"peft_type\": \"LORA\", \"r\": 3, \"target_modules\": \"all-linear\"}", HD_SHAPE,
              "adapter_model.safetensors': base_model.model.block.c_attn.lora_A.weight is (2, 4): "
              "expected (3, 4) for this model");
    hd_module *one = hd_sequential(hd_linear_new(4, 4, true));
    const char *folder = folder_with("{" BASIC "\"target_modules\": \"all-linear\"}");
    ck_assert(!hd_lora_load(one, folder));
    ck_error(HD_VALUE,
             sized("hd_lora_load: '%s/adapter_model.safetensors': "
                   "base_model.model.0.lora_A.weight is missing: expected (2, 4) for this model",
                   folder));
    remove_adapter(folder);
    hd_module_free(one);
    hd_module *m = hd_sequential(hd_linear_new(4, 4, true));
    ck_assert(!hd_lora_load(m, ADAPTER));
    ck_error(HD_VALUE,
             "hd_lora_load: target_modules: block.c_attn matches no module of Sequential");
    hd_module_free(m);
}
END_TEST

START_TEST(missing_files)
{
    hd_module *m = tiny_new();
    const char *folder = temporary("nothing");
    ck_assert(!hd_lora_load(m, folder));
    ck_error(HD_IO, sized("hd_lora_load: '%s/adapter_config.json': cannot open: No such file or "
                          "directory",
                          folder));
    folder = folder_with("{" BASIC "\"target_modules\": \"all-linear\"}");
    char path[300];
    snprintf(path, sizeof path, "%s/adapter_model.safetensors", folder);
    unlink(path);
    ck_assert(!hd_lora_load(m, folder));
    ck_error(HD_IO, sized("hd_lora_load: '%s': cannot open: No such file or directory", path));
    ck_assert_int_eq(trainable(m), hd_module_num_parameters(m, false));
    remove_adapter(folder);
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- refusals */

START_TEST(options_that_are_refused)
{
    hd_module *m = tiny_new();
    hd_lora_options o = hd_lora_defaults();
    o.r = 0;
    ck_assert(!hd_lora_apply(m, &o));
    ck_error(
        HD_VALUE,
        "hd_lora_apply: r 0 and lora_alpha 8: expected r of at least 1, and a finite lora_alpha");
    o = hd_lora_defaults();
    o.lora_dropout = 1.5;
    ck_assert(!hd_lora_apply(m, &o));
    ck_error(HD_VALUE, "hd_lora_apply: p 1.5: expected a number from 0 to 1");
    o = hd_lora_defaults();
    o.size--;
    ck_assert(!hd_lora_apply(m, &o));
    ck_error(HD_VALUE,
             sized("hd_lora_apply: o->size %zu: expected %zu, as hd_lora_defaults() gives",
                   sizeof o - 1, sizeof o));
    static const char *const names[] = {"attn", "block"};
    o = hd_lora_defaults();
    o.target_modules = names;
    ck_assert(!hd_lora_apply(m, &o)); /* c_attn does not end in ".attn" */
    ck_error(HD_VALUE, "hd_lora_apply: target_modules: attn matches no module of Tiny");
    o.num_target_modules = 2;
    ck_assert(!hd_lora_apply(m, &o));
    ck_error(HD_VALUE, "hd_lora_apply: 'block' is Block: expected a Linear or a Conv1D");
    o.num_target_modules = 0;
    ck_assert(!hd_lora_apply(m, &o));
    ck_error(HD_VALUE, "hd_lora_apply: target_modules: an empty list matches no module of Tiny");
    ck_assert_int_eq(trainable(m), hd_module_num_parameters(m, false));
    hd_module_free(m);
}
END_TEST

START_TEST(the_wrong_time)
{
    hd_module *m = tiny_new();
    ck_assert(!hd_lora_merge(m));
    ck_error(HD_STATE, "hd_lora_merge: Tiny has no adapters. Call hd_lora_apply first");
    ck_assert(!hd_lora_save(m, temporary("adapter")));
    ck_error(HD_STATE, "hd_lora_save: Tiny has no adapters. Call hd_lora_apply first");
    apply(m, NULL);
    ck_assert(!hd_lora_apply(m, NULL));
    ck_error(HD_STATE,
             "hd_lora_apply: 'block.c_attn' has an adapter already. Call hd_lora_merge first");
    ck_assert(!hd_lora_load(m, ADAPTER));
    ck_error(HD_STATE,
             "hd_lora_load: 'block.c_attn' has an adapter already. Call hd_lora_merge first");
    ck_assert(hd_lora_merge(m));
    hd_lora_options o = rank2();
    apply(hd_module_get(m, "block"), &o);
    static const char *const head[] = {"head"};
    o.target_modules = head;
    o.r = 1;
    ck_assert(!hd_lora_apply(m, &o)); /* a part of m has them */
    hd_error_clear();
    hd_module_free(m);
}
END_TEST

Suite *suite_lora(void)
{
    const TTest *const tests[] = {
        draws_are_those_of_peft,
        outputs_and_gradients_are_those_of_peft,
        a_merge_gives_the_sums_of_peft,
        five_steps_have_the_losses_of_peft,
        dropout_is_that_of_the_native_stream,
        float64_too,
        a_merge_follows_a_change_of_dtype,
        a_merge_takes_new_parameters,
        the_counts_of_the_book,
        all_but_the_adapters_are_frozen,
        an_optimizer_made_before_the_adapters,
        all_linear_leaves_the_head_of_a_language_model_out,
        tied_parameters_stay_tied,
        a_cache_sees_through_the_adapters,
        a_base_is_saved_and_loaded_through_the_adapters,
        what_is_saved_is_loaded,
        tensors_are_saved_in_the_bytes_of_peft,
        parts_with_different_options_are_not_saved,
        configurations_that_are_refused,
        adapters_for_another_model,
        missing_files,
        copies_of_the_models_weights,
        tensors_that_are_no_copies,
        options_that_are_refused,
        the_wrong_time,
    };
    return SUITE("lora", tests);
}
