/* test_save.c - hd_save_pretrained: what was written is loaded again with the same bits, and a
 * folder appears whole or not at all. tools/oracle/hf_models.py loads it in Python. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"

/* Removes a saved folder. */
static void remove_saved(const char *folder)
{
    static const char *const names[] = {"config.json", "model.safetensors",
                                        "generation_config.json"};
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
    char source[512], path[512];
    const char *folder = temporary("saved");
    snprintf(source, sizeof source, MODELS "/%s", model_folders[_i]);
    hd_module *m = golden_model(model_folders[_i]), *again = NULL;
    hd_save_pretrained_options o = hd_save_pretrained_defaults();
    o.source = source;
    ck_assert_msg(hd_save_pretrained(m, folder, &o), "%s", hd_error_message());
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
    ck_error(HD_DTYPE, "hd_save_pretrained: o->dtype int64: expected float32");
    ck_assert(!hd_save_pretrained(m, "no/such", NULL));
    ck_error(HD_IO, "hd_save_pretrained: 'no/such': the folder 'no' does not exist: create it "
                    "first");
    hd_error_set(HD_USER, "before");
    ck_assert(!hd_save_pretrained(m, folder, NULL));
    ck_error(HD_USER, "before");
    ck_assert_int_eq(files_in_folder(), before);
    ck_assert(hd_save_pretrained(m, folder, NULL));
    ck_assert(!hd_save_pretrained(m, folder, NULL));
    snprintf(wanted, sizeof wanted,
             "hd_save_pretrained: '%s': cannot create a directory in '%.*s': File exists", folder,
             (int)(strrchr(folder, '/') - folder), folder);
    ck_error(HD_IO, wanted);
    ck_assert_int_eq(files_in(folder), 2);
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
             "hd_save_pretrained: '%s': a directory: expected a regular file", path);
    ck_error(HD_IO, wanted);
    rmdir(path);
    rmdir(source);
    ck_assert_int_eq(files_in_folder(), before);
    hd_module_free(m);
    hd_module_free(linear);
}
END_TEST

Suite *suite_save(void)
{
    const TTest *const tests[] = {refuses};
    Suite *s = SUITE("save", tests);
    TCase *c = tcase_create("loads_again");
    tcase_add_checked_fixture(c, leak_checked_begin, leak_checked_end);
    tcase_add_loop_test(c, loads_again, 0, MODEL_FOLDERS);
    suite_add_tcase(s, c);
    return s;
}
