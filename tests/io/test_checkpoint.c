/* test_checkpoint.c - tests that a checkpoint is a directory with the whole state, exactly, or does
 * not exist. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"

static hd_dict *model_of(float value)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    hd_tensor *w = hd_full(HD_FLOAT32, value, 2, 3); /* (2, 3) */
    ck_assert(hd_dict_set(d, "tok_emb.weight", w));
    ck_assert(hd_dict_set(d, "out_head.weight", w)); /* tied */
    return d;
}

static double bits_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static const int64_t ints[] = {0, 1, -1, INT64_MAX, INT64_MIN};
static const uint64_t doubles[] = {0x3fb999999999999a, 0x8000000000000000, 1,
                                   0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000123,
                                   0x7fefffffffffffff};
static const char *const texts[] = {"", "text", "int 3", "double \n\t\"\\\x01 \xc3\xa9"};

enum { INTS = 5, DOUBLES = 7, TEXTS = 4 };

static hd_dict *state_of_everything(void)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    char name[20];
    for (int i = 0; i < INTS; i++) {
        snprintf(name, sizeof name, "int.%d", i);
        ck_assert(hd_dict_set_int(d, name, ints[i]));
    }
    for (int i = 0; i < DOUBLES; i++) {
        snprintf(name, sizeof name, "double.%d", i);
        ck_assert(hd_dict_set_double(d, name, bits_of(doubles[i])));
    }
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "text.%d", i);
        ck_assert(hd_dict_set_string(d, name, texts[i]));
    }
    ck_assert(hd_dict_set(d, "moment", hd_full(HD_FLOAT64, 0.1, 3)));
    ck_assert(hd_dict_set(d, "order", hd_arange(0, 4, 1)));
    return d;
}

static void compare_state(const hd_dict *d)
{
    char name[20];
    for (int i = 0; i < INTS; i++) {
        int64_t v = 7;
        snprintf(name, sizeof name, "int.%d", i);
        ck_assert(hd_dict_get_int(d, name, &v));
        ck_assert_int_eq(v, ints[i]);
    }
    for (int i = 0; i < DOUBLES; i++) {
        double v = 7, want = bits_of(doubles[i]);
        snprintf(name, sizeof name, "double.%d", i);
        ck_assert_int_eq(hd_dict_kind_of(d, name), HD_DICT_DOUBLE);
        ck_assert(hd_dict_get_double(d, name, &v));
        ck_assert_mem_eq(&v, &want, sizeof v);
    }
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "text.%d", i);
        ck_assert_str_eq(hd_dict_get_string(d, name), texts[i]);
    }
    ck_elements(hd_dict_get(d, "moment"), 0.1, 0.1, 0.1);
    ck_elements(hd_dict_get(d, "order"), 0, 1, 2, 3);
}

static void save_one(const char *dir)
{
    hd_dict *model = model_of(1), *state = state_of_everything();
    ck_assert_msg(hd_checkpoint_save(dir, model, state), "%s", hd_error_message());
    hd_dict_free(model);
    hd_dict_free(state);
}

/* ---------------------------------------------------------------- what is in it */

START_TEST(everything_comes_back)
{
    hd_dict *model = NULL, *state = NULL;
    save_one("step-10");
    ck_assert_int_eq(files_in("."), 1);
    ck_assert(hd_checkpoint_load("step-10", &model, &state));
    ck_assert_int_eq(hd_dict_len(model), 2);
    ck_elements(hd_dict_get(model, "tok_emb.weight"), 1, 1, 1, 1, 1, 1);
    ck_elements(hd_dict_get(model, "out_head.weight"), 1, 1, 1, 1, 1, 1);
    compare_state(state);
    ck_assert_int_eq(hd_dict_len(state), INTS + DOUBLES + TEXTS + 2 + 2);
    ck_assert_str_eq(hd_dict_get_string(state, "heed.version"), hd_version());
    ck_assert_str_eq(hd_dict_get_string(state, "heed.cpu_level"), hd_cpu_level());

    /* what was loaded is saved again as the same bytes */
    ck_assert(hd_checkpoint_save("again", model, state));
    ck_assert(same_files("step-10/model.safetensors", "again/model.safetensors"));
    hd_dict_free(model);
    hd_dict_free(state);
    ck_assert(hd_checkpoint_load("again", NULL, &state));
    compare_state(state);
    hd_dict_free(state);
    ck_assert(hd_checkpoint_load("again", &model, NULL));
    hd_dict_free(model);
    ck_assert(hd_checkpoint_load("again/", NULL, NULL));
}
END_TEST

START_TEST(the_model_file_is_a_plain_one)
{
    hd_dict *model = model_of(1);
    save_one("c/"); /* the slash that a shell adds */
    ck_assert(hd_save_safetensors("plain", model));
    ck_assert(same_files("plain", "c/model.safetensors"));
    hd_dict_free(model);
}
END_TEST

START_TEST(generators_come_back)
{
    HD_SCOPE;
    hd_dict *state = hd_dict_new(), *model = model_of(1);
    hd_generator *g = hd_generator_new(5);
    hd_generator_random64(g);
    ck_assert(hd_generator_save(g, state, "rng"));
    ck_assert(hd_checkpoint_save("c", model, state));
    uint64_t next = hd_generator_random64(g);
    hd_dict_free(state);
    hd_dict_free(model);
    ck_assert(hd_checkpoint_load("c", NULL, &state));
    ck_assert(hd_generator_load(g, state, "rng"));
    ck_assert_uint_eq(hd_generator_random64(g), next);
    hd_dict_free(state);
    hd_generator_free(g);
}
END_TEST

/* ---------------------------------------------------------------- failures */

static void fail_to_save(const char *dir, const hd_dict *model, const hd_dict *state, hd_code code,
                         const char *message)
{
    ck_assert(!hd_checkpoint_save(dir, model, state));
    ck_error(code, message);
}

START_TEST(a_name_is_used_once)
{
    hd_dict *model = model_of(2), *state = hd_dict_new();
    save_one("c");
    fail_to_save("c", model, state, HD_IO,
                 "hd_checkpoint_save: 'c' exists already. Choose a new name, or replace the "
                 "checkpoint by hd_checkpoint_replace");
    ck_assert_int_eq(mkdir("empty", 0777), 0);
    fail_to_save("empty", model, state, HD_IO,
                 "hd_checkpoint_save: 'empty' exists already. Choose a new name, or replace the "
                 "checkpoint by hd_checkpoint_replace");
    ck_assert_int_eq(rmdir("empty"), 0);
    ck_assert_int_eq(files_in("."), 1);
    hd_dict_free(model);
    ck_assert(hd_checkpoint_load("c", &model, NULL));
    ck_elements(hd_dict_get(model, "tok_emb.weight"), 1, 1, 1, 1, 1, 1);
    hd_dict_free(model);
    hd_dict_free(state);
}
END_TEST

START_TEST(a_failure_leaves_no_directory)
{
    HD_SCOPE;
    hd_dict *model = model_of(1), *state = hd_dict_new();
    fail_to_save("none/c", model, state, HD_IO,
                 "hd_checkpoint_save: 'none/c': the folder 'none' does not exist. Create it first");
    ck_assert(hd_dict_set_string(state, "text", "\xff"));
    fail_to_save("c", model, state, HD_VALUE,
                 "hd_checkpoint_save: a string has byte 0xff at 7: expected UTF-8");
    ck_assert_int_eq(files_in("."), 0);
    ck_assert(hd_dict_set(state, "text", hd_zeros(HD_FLOAT32, 100000)));
    limit_file_size(100000);
    ck_assert(!hd_checkpoint_save("c", model, state));
    ck_error(HD_IO, "hd_checkpoint_save: 'c/state.safetensors': cannot write: File too large");
    ck_assert_int_eq(files_in("."), 0);
    hd_dict_free(model);
    hd_dict_free(state);
}
END_TEST

START_TEST(the_model_is_tensors)
{
    hd_dict *model = model_of(1), *state = hd_dict_new();
    ck_assert(hd_dict_set_int(model, "step", 1));
    fail_to_save("c", model, state, HD_VALUE,
                 "hd_checkpoint_save: model: 'step' is not a tensor: expected only tensors. Put "
                 "other values into state");
    fail_to_save(NULL, model, state, HD_NULL_ARG, "hd_checkpoint_save: dir is NULL");
    fail_to_save("c", NULL, state, HD_NULL_ARG, "hd_checkpoint_save: model is NULL");
    fail_to_save("c", model, NULL, HD_NULL_ARG, "hd_checkpoint_save: state is NULL");
    ck_assert_int_eq(files_in("."), 0);
    hd_dict_free(model);
    hd_dict_free(state);
}
END_TEST

/* A state file with this one entry. */
static void bad_state(const char *text)
{
    char header[200], message[400];
    hd_dict *model = NULL, *state = NULL;
    snprintf(header, sizeof header, "{\"__metadata__\":{\"x\":\"%s\"}}", text);
    write_safetensors("c/state.safetensors", header, "", 0);
    snprintf(message, sizeof message,
             "hd_checkpoint_load: 'c/state.safetensors': entry 'x' is '%s': expected \"int \", "
             "\"double \" "
             "or \"string \" and a value",
             text);
    ck_assert(!hd_checkpoint_load("c", &model, &state));
    ck_error(HD_FORMAT, message);
    ck_assert(!model && !state);
}

START_TEST(a_damaged_checkpoint)
{
    static const char *const bad[] = {
        "",
        "text",
        "string",
        "int",
        "int ",
        "int 1.5",
        "int  1",
        "int +1",
        "int 1 ",
        "int 9223372036854775808",
        "int -",
        "double 1",
        "double 0x10000000000000",
        "double 3FF0000000000000",
    };
    hd_dict *model = NULL, *state = NULL;
    save_one("c");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bad_state(bad[i]);
    }
    ck_assert_int_eq(unlink("c/state.safetensors"), 0);
    ck_assert(!hd_checkpoint_load("c", &model, &state));
    ck_error(HD_IO, "hd_checkpoint_load: 'c/state.safetensors': cannot open: No such file or "
                    "directory");
    ck_assert(!model && !state);
    ck_assert(!hd_checkpoint_load("none", &model, &state));
    ck_error(HD_IO, "hd_checkpoint_load: 'none/model.safetensors': cannot open: No such file or "
                    "directory");
    model = state = (hd_dict *)&model; /* as in a program that has not set them */
    ck_assert(!hd_checkpoint_load(NULL, &model, &state));
    ck_error(HD_NULL_ARG, "hd_checkpoint_load: dir is NULL");
    ck_assert(!model && !state);
}
END_TEST

/* ---------------------------------------------------------------- removal */

START_TEST(removal)
{
    save_one("c");
    save_one("d");
    write_file("c/config.json", "{}", 2);
    ck_assert(hd_checkpoint_remove("c"));
    ck_assert_int_eq(files_in("."), 1);
    ck_assert(!hd_checkpoint_remove("c"));
    ck_error(HD_FORMAT, "hd_checkpoint_remove: 'c' does not exist: expected a checkpoint");
    ck_assert(!hd_checkpoint_remove("."));
    ck_error(HD_FORMAT,
             "hd_checkpoint_remove: '.' holds no model.safetensors: expected a checkpoint");
    ck_assert_int_eq(unlink("d/state.safetensors"), 0);
    ck_assert(!hd_checkpoint_remove("d"));
    ck_error(HD_FORMAT,
             "hd_checkpoint_remove: 'd' holds no state.safetensors: expected a checkpoint");
    ck_assert(!hd_checkpoint_remove(NULL));
    ck_error(HD_NULL_ARG, "hd_checkpoint_remove: dir is NULL");
    ck_assert_int_eq(access("d/model.safetensors", F_OK), 0);
}
END_TEST

/* If not all of it can be removed, none of it is touched. */
START_TEST(removal_refused)
{
    save_one("c");
    ck_assert_int_eq(symlink("c", "last"), 0);
    ck_assert(!hd_checkpoint_remove("last"));
    ck_error(HD_FORMAT,
             "hd_checkpoint_remove: 'last' is a symbolic link: expected the checkpoint's "
             "own path");
    ck_assert(!hd_checkpoint_remove("last/"));
    ck_error(HD_IO, "hd_checkpoint_remove: 'last/': cannot rename: Not a directory");
    ck_assert_int_eq(mkdir("c/notes", 0777), 0);
    ck_assert(!hd_checkpoint_remove("c"));
    ck_error(HD_FORMAT, "hd_checkpoint_remove: 'c' holds the directory 'notes': expected files");
    ck_assert_int_eq(access("c/model.safetensors", F_OK), 0);
    ck_assert_int_eq(access("c/state.safetensors", F_OK), 0);
    ck_assert_int_eq(files_in("."), 2);
    ck_assert_int_eq(rmdir("c/notes"), 0);
    ck_assert_int_eq(symlink(".", "c/link"), 0); /* the link, not its target */
    ck_assert(hd_checkpoint_remove("c"));
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

Suite *suite_checkpoint(void)
{
    const TTest *const tests[] = {
        everything_comes_back,
        the_model_file_is_a_plain_one,
        generators_come_back,
        a_name_is_used_once,
        a_failure_leaves_no_directory,
        the_model_is_tensors,
        a_damaged_checkpoint,
        removal,
        removal_refused,
    };
    return SUITE("checkpoint", tests);
}
