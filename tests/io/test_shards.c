/* test_shards.c - tests of an index that joins several files: their tensors load as from one file,
 * and a faulty index or file is refused. */
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"
#include "tensor/tensor_struct.h"

#define OPENS "hd_safetensors_open: 'm.index.json': "

static void write_index(const char *text)
{
    write_file("m.index.json", text, strlen(text));
}

/* A file with two tensors and a text. */
static void save_shard(const char *path, const char *a, hd_tensor *x, const char *b, hd_tensor *y)
{
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, a, x) && hd_dict_set(d, b, y));
    ck_assert(hd_dict_set_string(d, "format", "pt") && hd_dict_set_string(d, "part", path));
    ck_assert(hd_save_safetensors(path, d));
    hd_dict_free(d);
}

/* wte and extra in m-1, ln and head in m-2 */
static void save_shards(void)
{
    HD_SCOPE;
    save_shard("m-1", "wte", vec(HD_FLOAT32, 1, 2, 3), "extra", hd_ones(HD_FLOAT32, 1));
    save_shard("m-2", "ln", hd_arange(4, 6, 1), "head", hd_full(HD_FLOAT64, 0.5, 2, 1));
}

static const char three[] =
    "{\"metadata\": {\"total_size\": 44, \"part\": \"index\"},\n"
    " \"weight_map\": {\"head\": \"m-2\", \"wte\": \"m-1\", \"ln\": \"m-2\"}}\n";

/* ---------------------------------------------------------------- as one file */

static void check_three(const hd_safetensors *f)
{
    HD_SCOPE;
    ck_assert_int_eq(hd_safetensors_len(f), 3);
    ck_assert_str_eq(hd_safetensors_name(f, 0), "head");
    ck_assert_str_eq(hd_safetensors_name(f, 1), "wte");
    ck_assert_str_eq(hd_safetensors_name(f, -1), "ln");
    ck_assert_int_eq(hd_safetensors_find(f, "ln"), 2);
    ck_assert_int_eq(hd_safetensors_find(f, "extra"), -1);
    ck_assert_str_eq(hd_safetensors_type(f, 0), "F64");
    ck_assert_str_eq(hd_safetensors_type(f, 1), "F32");
    ck_assert_int_eq(hd_safetensors_ndim(f, 0), 2);
    ck_assert_int_eq(hd_safetensors_sizes(f, 0)[0], 2);
    ck_assert_int_eq(hd_safetensors_sizes(f, 0)[1], 1);
    ck_assert_int_eq(hd_safetensors_bytes(f, 2), 16);
    ck_elements(hd_safetensors_read(f, 0), 0.5, 0.5);
    ck_elements(hd_safetensors_read(f, 1), 1, 2, 3);
    ck_elements(hd_safetensors_read(f, 2), 4, 5);
    ck_no_error();
    ck_assert_ptr_null(hd_safetensors_read(f, 3));
    ck_error(HD_INDEX, "hd_safetensors_read: index 3 of 3 tensors: expected -3 to 2");
}

/* The metadata are those of m-2, which weight_map names first, and then those of m-1. */
START_TEST(an_index_is_like_one_file)
{
    save_shards();
    write_index(three);
    hd_safetensors *f = hd_safetensors_open("m.index.json", NULL);
    ck_assert_msg(f, "%s", hd_error_message());
    check_three(f);
    const hd_dict *metadata = hd_safetensors_metadata(f);
    ck_assert_int_eq(hd_dict_len(metadata), 2);
    ck_assert_str_eq(hd_dict_get_string(metadata, "format"), "pt");
    ck_assert_str_eq(hd_dict_get_string(metadata, "part"), "m-2");
    hd_safetensors_close(f);
}
END_TEST

START_TEST(its_files_are_mapped)
{
    HD_SCOPE;
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = true;
    save_shards();
    write_index(three);
    hd_safetensors *f = hd_safetensors_open("m.index.json", &o);
    check_three(f);
    hd_tensor *wte = hd_safetensors_read(f, 1);
    ck_assert(!wte->storage->release == hd__io_big_endian);
    hd_safetensors_close(f);
    ck_elements(wte, 1, 2, 3);
}
END_TEST

START_TEST(an_index_is_loaded)
{
    save_shards();
    write_index(three);
    hd_dict *d = hd_load_safetensors("m.index.json", NULL);
    ck_assert_msg(d, "%s", hd_error_message());
    ck_assert_int_eq(hd_dict_len(d), 5);
    ck_assert_str_eq(hd_dict_name(d, 0), "head");
    ck_elements(hd_dict_get(d, "wte"), 1, 2, 3);
    ck_assert_str_eq(hd_dict_get_string(d, "part"), "m-2");
    hd_dict_free(d);
}
END_TEST

START_TEST(its_files_lie_beside_it)
{
    ck_assert_int_eq(mkdir("d", 0777), 0);
    save_shards();
    write_index(three);
    ck_assert_int_eq(rename("m-1", "d/m-1"), 0);
    ck_assert_int_eq(rename("m-2", "d/m-2"), 0);
    ck_assert_int_eq(rename("m.index.json", "d/.index.json"), 0);
    hd_safetensors *f = hd_safetensors_open("d/.index.json", NULL);
    ck_assert_msg(f, "%s", hd_error_message());
    check_three(f);
    hd_safetensors_close(f);
}
END_TEST

START_TEST(an_index_without_tensors)
{
    write_index("{\"weight_map\": {}}");
    hd_safetensors *f = hd_safetensors_open("m.index.json", NULL);
    ck_assert_int_eq(hd_safetensors_len(f), 0);
    ck_assert_int_eq(hd_dict_len(hd_safetensors_metadata(f)), 0);
    hd_safetensors_close(f);
    ck_no_error();
}
END_TEST

/* Only the end of the path tells an index. */
START_TEST(another_name_is_no_index)
{
    write_file("index.json", three, sizeof three - 1);
    ck_assert_ptr_null(hd_safetensors_open("index.json", NULL));
    ck_error(HD_FORMAT,
             sized("hd_safetensors_open: 'index.json': not a safetensors file: its first 8 bytes "
                   "give a header of 7017841271895827067 bytes: expected at most %zu",
                   sizeof three - 1 - 8));
}
END_TEST

/* ---------------------------------------------------------------- what is wrong */

static void refused(const char *index, hd_code code, const char *message)
{
    const int64_t bytes = hd_bytes_live();
    write_index(index);
    ck_assert_ptr_null(hd_safetensors_open("m.index.json", NULL));
    ck_error(code, message);
    ck_assert_int_eq(hd_bytes_live(), bytes);
}

START_TEST(an_index_that_is_no_index)
{
    refused("", HD_FORMAT, OPENS "index: line 1, column 1: found the end: expected a value");
    refused("[]", HD_FORMAT, OPENS "index: line 1, column 1: found an array: expected an object");
    refused("{\"metadata\": {\"a\": [1, {}]}}", HD_FORMAT,
            OPENS "index 'weight_map': is missing: expected an object with the file of each "
                  "tensor");
    refused("{\"weight_map\": []}", HD_FORMAT,
            OPENS "index: line 1, column 16: found an array: expected an object");
    refused("{\"weight_map\": {}, \"weight_map\": {}}", HD_FORMAT,
            OPENS "index 'weight_map': comes twice: expected it once");
    refused("{\"metadata\": {\"a\": tru}}", HD_FORMAT,
            OPENS "index: line 1, column 20: found 't': expected a value");
    refused("{\"weight_map\": {}} x", HD_FORMAT,
            OPENS "index: line 1, column 20: found 'x': expected the end");
    ck_assert_int_eq(unlink("m.index.json"), 0);
    ck_assert_ptr_null(hd_safetensors_open("m.index.json", NULL));
    ck_error(HD_IO, OPENS "cannot open: No such file or directory");
}
END_TEST

/* The tensor w and its file. */
static void refused_file(const char *file, const char *message)
{
    char index[100];
    snprintf(index, sizeof index, "{\"weight_map\": {\"wte\": \"m-1\", \"w\": %s}}", file);
    refused(index, HD_FORMAT, message);
}

#define NAMED(file)                                                                                \
    OPENS "tensor 'w': the file '" file                                                            \
          "' in weight_map: expected the name of a file beside the index"

START_TEST(names_of_files)
{
    save_shards();
    refused_file("\"\"", NAMED(""));
    refused_file("\".\"", NAMED("."));
    refused_file("\"..\"", NAMED(".."));
    refused_file("\"../m-1\"", NAMED("../m-1"));
    refused_file("\"/m-1\"", NAMED("/m-1"));
    refused_file("\"a\\\\m-1\"", NAMED("a\\m-1"));
    refused_file("3", OPENS "tensor 'w': a number in weight_map: expected the name of a file");
    refused_file("[\"m-1\"]",
                 OPENS "tensor 'w': an array in weight_map: expected the name of a file");
    refused_file("\"m-1",
                 OPENS "index: line 1, column 42: found the end: expected a closing quote");
    refused_file("\"m-1\\u0000\"", OPENS "tensor 'm-1': U+0000 at byte 3: expected none in a text");
}
END_TEST

START_TEST(names_of_tensors)
{
    save_shards();
    refused("{\"weight_map\": {\"wte\": \"m-1\", \"wte\": \"m-1\"}}", HD_FORMAT,
            OPENS "tensor 'wte': comes twice: expected each name once");
    refused("{\"weight_map\": {\"\": \"m-1\"}}", HD_FORMAT,
            OPENS "tensor '': an empty name: expected some text");
    refused("{\"weight_map\": {\"wte\": \"m-1\", \"head\": \"m-1\"}}", HD_FORMAT,
            OPENS "tensor 'head': './m-1' has no tensor of this name: expected one, as weight_map "
                  "says");
}
END_TEST

/* The files before it are open then. */
START_TEST(a_file_that_is_not_there_or_not_good)
{
    save_shards();
    ck_assert_int_eq(mkdir("d", 0777), 0);
    write_file("short", "12345678", 7);
    refused("{\"weight_map\": {\"wte\": \"m-1\", \"head\": \"m-3\"}}", HD_IO,
            OPENS "tensor 'head': cannot open its file './m-3': No such file or directory");
    refused("{\"weight_map\": {\"wte\": \"m-1\", \"head\": \"d\"}}", HD_IO,
            "hd_safetensors_open: './d' is a directory: expected a regular file");
    refused("{\"weight_map\": {\"wte\": \"m-1\", \"head\": \"short\"}}", HD_FORMAT,
            "hd_safetensors_open: './short': the file has 7 bytes: expected 8 or more");
    refused("{\"weight_map\": {\"wte\": \"m-1\", \"head\": \"m.index.json\"}}", HD_FORMAT,
            "hd_safetensors_open: './m.index.json': not a safetensors file: its first 8 bytes give "
            "a header of "
            "8388068008349082235 bytes: expected at most 46");
}
END_TEST

START_TEST(the_longest_index)
{
    write_index("");
    ck_assert_int_eq(truncate("m.index.json", 100000001), 0);
    ck_assert_ptr_null(hd_safetensors_open("m.index.json", NULL));
    ck_error(HD_FORMAT, "hd_safetensors_open: 'm.index.json' has 100000001 bytes: expected at most "
                        "100000000");
}
END_TEST

Suite *suite_shards(void)
{
    const TTest *const tests[] = {
        an_index_is_like_one_file, its_files_are_mapped,
        an_index_is_loaded,        its_files_lie_beside_it,
        an_index_without_tensors,  another_name_is_no_index,
        an_index_that_is_no_index, names_of_files,
        names_of_tensors,          a_file_that_is_not_there_or_not_good,
        the_longest_index,
    };
    return SUITE("shards", tests);
}
