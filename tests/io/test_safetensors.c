/* test_safetensors.c - tests of saving and loading beyond test_verdicts.c: bytes, order, metadata,
 * the open file, arguments. */
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "suites.h"
#include "support/little_endian.h"
#include "tensor/lifecycle.h"

#define ROUNDTRIP GOLDEN_DIR "/io/roundtrip.safetensors"
#define ENTRY(dtype, shape, begin, end)                                                            \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"

/* ---------------------------------------------------------------- bytes */

START_TEST(the_round_trip_through_pytorch)
{
    hd_dict *d = roundtrip_dict();
    ck_assert(hd_save_safetensors("heed", d));
    ck_assert(same_files("heed", ROUNDTRIP));
    hd_dict_free(d);

    d = hd_load_safetensors(ROUNDTRIP, NULL);
    ck_assert_int_eq(hd_dict_len(d), 11);
    ck_assert(hd_save_safetensors("again", d));
    ck_assert(same_files("again", ROUNDTRIP));
    hd_dict_free(d);
}
END_TEST

/* The header is written by hand from the format's description; Python keeps no order of the
 * metadata. */
START_TEST(metadata_is_written_in_the_dictionarys_order)
{
    HD_SCOPE;
    static const char want[] =
        "\xA0\0\0\0\0\0\0\0"
        "{\"__metadata__\":{\"z\":\"1\",\"a \\\"\":\"\\\\\\n\\u0001\xc3\xa9\"},"
        "\"b\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"a\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[8,9]}}      "
        "\2\0\0\0\0\0\0\0\1";
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, "a", hd_scalar_tensor(HD_BOOL, 1)));
    ck_assert(hd_dict_set_string(d, "z", "1"));
    ck_assert(hd_dict_set(d, "b", hd_full(HD_INT64, 2, 1)));
    ck_assert(hd_dict_set_string(d, "a \"", "\\\n\x01\xc3\xa9"));
    ck_assert(hd_save_safetensors("x", d));
    hd_dict_free(d);
    size_t n;
    char *bytes = read_file("x", &n);
    ck_assert_str_eq(bytes + 8, want + 8);
    ck_assert_uint_eq(n, sizeof want - 1);
    ck_assert_mem_eq(bytes, want, n);
    free(bytes);

    d = hd_load_safetensors("x", NULL);
    ck_assert_str_eq(hd_dict_get_string(d, "a \""), "\\\n\x01\xc3\xa9");
    ck_assert_str_eq(hd_dict_name(d, 0), "b");
    ck_assert_str_eq(hd_dict_name(d, 2), "z");
    hd_dict_free(d);
}
END_TEST

START_TEST(views_are_written_row_major)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    hd_tensor *x = hd_from_data(HD_INT64, ((int64_t[]){1, 2, 3, 4, 5, 6}), 2, 3); /* (2, 3) */
    int64_t sizes[] = {3, 2}, strides[] = {1, 3};
    ck_assert(hd_dict_set(d, "x", x));
    ck_assert(hd_dict_set(d, "x.T", hd__tensor_alias(x, 2, sizes, strides, 0)));
    ck_assert(hd_save_safetensors("x", d));
    hd_dict_free(d);
    d = hd_load_safetensors("x", NULL);
    ck_elements(hd_dict_get(d, "x"), 1, 2, 3, 4, 5, 6);
    ck_elements(hd_dict_get(d, "x.T"), 1, 4, 2, 5, 3, 6);
    ck_assert(!hd_shares_storage(hd_dict_get(d, "x"), hd_dict_get(d, "x.T")));
    hd_dict_free(d);
}
END_TEST

START_TEST(larger_than_any_buffer)
{
    HD_SCOPE;
    enum { N = 50001 };
    hd_dict *d = hd_dict_new();
    hd_tensor *x = hd_randn(HD_FLOAT64, N);
    uint16_t *halves = malloc(2 * N);
    for (int i = 0; i < N; i++) {
        halves[i] = (uint16_t)(i % 0x7C00); /* all that are finite and not negative */
    }
    little_endian(halves, 2 * N, 2);
    write_safetensors("half", "{\"h\":" ENTRY("F16", "[50001]", 0, 100002) "}", halves, 2 * N);
    free(halves);
    ck_assert(hd_dict_set(d, "x", x) && hd_save_safetensors("x", d));
    hd_dict_free(d);
    d = hd_load_safetensors("x", NULL);
    ck_assert_mem_eq(hd_data(hd_dict_get(d, "x")), hd_data(x), 8 * N);
    hd_dict_free(d);
    d = hd_load_safetensors("half", NULL);
    const float *h = hd_data(hd_dict_get(d, "h"));
    for (int i = 0; i < N; i++) { /* each is one unit above the one before */
        int e = i % 0x7C00 >> 10, f = i % 0x400;
        ck_assert(h[i] == (e ? ldexpf(1 + f / 1024.0f, e - 15) : ldexpf(f / 1024.0f, -14)));
    }
    hd_dict_free(d);
}
END_TEST

/* Under a locale with a decimal comma and grouped digits, where the system has one. */
START_TEST(the_locale_does_not_matter)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    for (int i = 0; i < 4 && !setlocale(LC_ALL, comma[i]); i++) {
    }
    hd_dict *d = roundtrip_dict();
    ck_assert(hd_save_safetensors("x", d));
    ck_assert(same_files("x", ROUNDTRIP));
    hd_dict_free(d);
    setlocale(LC_ALL, "C");
}
END_TEST

/* ---------------------------------------------------------------- the open file */

START_TEST(a_file_tensor_by_tensor)
{
    HD_SCOPE;
    write_safetensors("x",
                      "{\"__metadata__\":{\"b\":\"text\"},\"b\":" ENTRY(
                          "U8", "[2,1]", 2, 4) ",\"a\":" ENTRY("BF16", "[]", 0, 2) "}",
                      "\x80\x3f\5\6", 4);
    hd_safetensors *f = hd_safetensors_open("x", NULL);
    ck_assert_int_eq(hd_safetensors_len(f), 2);
    ck_assert_str_eq(hd_safetensors_name(f, 0), "b");
    ck_assert_str_eq(hd_safetensors_name(f, -1), "a");
    ck_assert_str_eq(hd_safetensors_type(f, 0), "U8");
    ck_assert_str_eq(hd_safetensors_type(f, 1), "BF16");
    ck_assert_int_eq(hd_safetensors_ndim(f, 0), 2);
    ck_assert_int_eq(hd_safetensors_ndim(f, 1), 0);
    ck_assert_int_eq(hd_safetensors_sizes(f, 0)[0], 2);
    ck_assert_int_eq(hd_safetensors_sizes(f, 0)[1], 1);
    ck_assert_int_eq(hd_safetensors_bytes(f, 0), 2);
    ck_assert_int_eq(hd_safetensors_bytes(f, 1), 2);
    ck_assert_int_eq(hd_safetensors_find(f, "a"), 1);
    ck_assert_int_eq(hd_safetensors_find(f, "c"), -1);
    ck_assert_int_eq(hd_safetensors_find(f, ""), -1);
    ck_assert_str_eq(hd_dict_get_string(hd_safetensors_metadata(f), "b"), "text");
    hd_tensor *b = hd_safetensors_read(f, 0), *a = hd_safetensors_read(f, 1);
    ck_no_error();

    ck_assert_ptr_null(hd_safetensors_read(f, 2));
    ck_error(HD_INDEX, "hd_safetensors_read: index 2 of 2 tensors: expected -2 to 1");
    ck_assert_ptr_null(hd_safetensors_name(f, -3));
    ck_error(HD_INDEX, "hd_safetensors_name: index -3 of 2 tensors: expected -2 to 1");
    ck_assert_int_eq(hd_safetensors_bytes(NULL, 0), -1);
    ck_error(HD_NULL_ARG, "hd_safetensors_bytes: f is NULL");
    ck_assert_int_eq(hd_safetensors_find(f, NULL), -1);
    ck_error(HD_NULL_ARG, "hd_safetensors_find: name is NULL");
    hd_safetensors_close(f);
    hd_safetensors_close(NULL);
    ck_repr(b, "tensor([[5],\n        [6]])");
    ck_repr(a, "tensor(1.)");
}
END_TEST

START_TEST(a_conversion_that_fails_leaves_nothing)
{
    HD_SCOPE;
    write_safetensors("x",
                      "{\"a\":" ENTRY("F32", "[1]", 0, 4) ",\"b\":" ENTRY("U64", "[1]", 4, 12) "}",
                      "\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12);
    int64_t bytes = hd_bytes_live(), tensors = hd_tensor_count();
    ck_assert_ptr_null(hd_load_safetensors("x", NULL));
    ck_error(HD_VALUE, "hd_load_safetensors: 'x': tensor 'b': element 0 is 18446744073709551615: "
                       "expected at most 9223372036854775807");
    ck_assert_int_eq(hd_bytes_live(), bytes);
    ck_assert_int_eq(hd_tensor_count(), tensors);
}
END_TEST

/* ---------------------------------------------------------------- arguments */

/* Larger than the buffer that conversions go through. */
START_TEST(the_place_of_what_does_not_fit)
{
    enum { N = 5000, AT = 4321 };
    static uint64_t data[N];
    char message[200];
    data[AT] = (uint64_t)INT64_MAX + 3;
    if (hd__io_big_endian) {
        data[AT] = __builtin_bswap64(data[AT]);
    }
    write_safetensors("x",
                      "{\"w\":{\"dtype\":\"U64\",\"shape\":[50,100],\"data_offsets\":[0,40000]}}",
                      data, sizeof data);
    ck_assert_ptr_null(hd_load_safetensors("x", NULL));
    snprintf(message, sizeof message,
             "hd_load_safetensors: 'x': tensor 'w': element %d is 9223372036854775810: expected at "
             "most 9223372036854775807",
             AT);
    ck_error(HD_VALUE, message);
}
END_TEST

/* Empty tensors have the offsets of their neighbours, wherever the header names them. */
START_TEST(empty_tensors_stand_anywhere)
{
    write_safetensors("x",
                      "{\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]},"
                      "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]},"
                      "\"m\":{\"dtype\":\"U8\",\"shape\":[3,0],\"data_offsets\":[2,2]},"
                      "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                      "\"e\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
                      "\1\2\3\4", 4);
    hd_dict *d = hd_load_safetensors("x", NULL);
    ck_assert_msg(d, "%s", hd_error_message());
    ck_elements(hd_dict_get(d, "a"), 1, 2);
    ck_elements(hd_dict_get(d, "b"), 3, 4);
    hd_dict_free(d);
}
END_TEST

/* A file with a hole as large as such a header. */
START_TEST(the_longest_header)
{
    write_safetensors("x", "", "", 0);
    for (int beyond = 0; beyond < 2; beyond++) {
        const int64_t length = 100000000 + beyond;
        unsigned char bytes[8] = {0};
        for (int i = 0; i < 8; i++) {
            bytes[i] = (unsigned char)(length >> 8 * i);
        }
        write_file("x", bytes, 8);
        ck_assert_int_eq(truncate("x", 8 + length), 0);
        ck_assert_ptr_null(hd_load_safetensors("x", NULL));
        ck_error(HD_FORMAT,
                 beyond ? "hd_load_safetensors: 'x': not a safetensors file: its first 8 bytes "
                          "give a header of 100000001 bytes: expected at most 100000000"
                        : "hd_load_safetensors: 'x': header: line 1, column 1: found "
                          "byte 0x00: expected a value");
    }
}
END_TEST

/* The start of what torch.save writes, now and before its version 1.6. */
START_TEST(files_of_torch_save)
{
    write_file("x", "PK\3\4\0\0\10\10\0\0", 10);
    ck_assert_ptr_null(hd_load_safetensors("x", NULL));
    ck_error(HD_FORMAT,
             "hd_load_safetensors: 'x': not a safetensors file: its first 8 bytes give a header of "
             "578712552184433488 bytes: expected at most 2. It looks like a file of "
             "torch.save. Save it with safetensors.torch.save_file");
    write_file("x", "\x80\2\x8a\nl\xfc\x9c\x46", 8);
    ck_assert_ptr_null(hd_load_safetensors("x", NULL));
    ck_error(HD_FORMAT,
             "hd_load_safetensors: 'x': not a safetensors file: its first 8 bytes give a header of "
             "5088219219985302144 bytes: expected at most 0. It looks like a file of "
             "torch.save. Save it with safetensors.torch.save_file");
}
END_TEST

/* The names are escaped as serde_json does it, and so Python's safetensors. */
START_TEST(every_control_character_in_a_name)
{
    static const char wanted[] =
        "{\"\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f"
        "\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001"
        "c"
        "\\u001d\\u001e\\u001f \\\"\\\\/\x7f\":{\"dtype\":\"BOOL\",\"shape\":[],";
    HD_SCOPE;
    char name[40] = "";
    size_t n;
    for (int c = 1; c <= 32; c++) {
        name[c - 1] = (char)c;
    }
    strcat(name, "\"\\/\x7f");
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, name, hd_ones_n(HD_BOOL, 0, NULL)));
    ck_assert(hd_save_safetensors("x", d));
    hd_dict_free(d);
    char *bytes = read_file("x", &n);
    ck_assert_uint_gt(n, 8 + sizeof wanted);
    ck_assert_mem_eq(bytes + 8, wanted, sizeof wanted - 1);
    free(bytes);
    d = hd_load_safetensors("x", NULL);
    ck_assert_str_eq(hd_dict_name(d, 0), name);
    hd_dict_free(d);
}
END_TEST

START_TEST(what_cannot_be_saved)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set_int(d, "step", 3));
    ck_assert(!hd_save_safetensors("x", d));
    ck_error(HD_VALUE, "hd_save_safetensors: 'step' is a number: expected a tensor or a string");
    ck_assert(hd_dict_set_string(d, "step", "\xc3("));
    ck_assert(!hd_save_safetensors("x", d));
    ck_error(HD_VALUE, "hd_save_safetensors: a string has byte 0xc3 at 0: expected UTF-8");
    ck_assert(hd_dict_remove(d, "step"));
    ck_assert(hd_dict_set(d, "a\xff", hd_ones(HD_BOOL, 1)));
    ck_assert(!hd_save_safetensors("x", d));
    ck_error(HD_VALUE, "hd_save_safetensors: a name has byte 0xff at 1: expected UTF-8");
    ck_assert(hd_dict_remove(d, "a\xff"));
    ck_assert(hd_dict_set(d, "__metadata__", hd_ones(HD_BOOL, 1)));
    ck_assert(!hd_save_safetensors("x", d));
    ck_error(HD_VALUE, "hd_save_safetensors: a tensor named '__metadata__': expected another name");
    ck_assert_int_eq(files_in("."), 0);
    hd_dict_free(d);
}
END_TEST

/* 2^62 elements, which are one */
static hd_tensor *expanded(hd_dtype dtype)
{
    const int64_t sizes[] = {(int64_t)1 << 62}, strides[] = {0};
    return hd__tensor_alias(hd_ones(dtype, 1), 1, sizes, strides, 0);
}

/* More than a computer has room for: one tensor, and two together. */
START_TEST(sizes_that_overflow)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, "wide", expanded(HD_FLOAT32)));
    ck_assert(!hd_save_safetensors("x", d));
    ck_error(HD_MEMORY,
             "hd_save_safetensors: (4611686018427387904,) of float32: the size overflows");
    ck_assert(hd_dict_remove(d, "wide"));
    hd_tensor *half = expanded(HD_BOOL);
    ck_assert(hd_dict_set(d, "one", half) && hd_dict_set(d, "two", half));
    ck_assert(!hd_save_safetensors("x", d));
    ck_error(HD_MEMORY,
             sizeof(size_t) < 8 /* then each alone is too large */
                 ? "hd_save_safetensors: (4611686018427387904,) of bool: the size overflows"
                 : "hd_save_safetensors: the size of all tensors overflows");
    ck_assert_int_eq(files_in("."), 0);
    hd_dict_free(d);
}
END_TEST

/* A header that no reader would take is not written. */
START_TEST(a_header_that_is_too_long)
{
    enum { TEXT = 100000000 - 100 };
    hd_dict *d = hd_dict_new();
    char *text = malloc(TEXT + 1);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', TEXT);
    text[TEXT] = '\0';
    ck_assert(hd_dict_set_string(d, "a", text) && hd_dict_set_string(d, "b", text + TEXT - 100));
    ck_assert(!hd_save_safetensors("x", d));
    ck_error(HD_VALUE, "hd_save_safetensors: the names and texts need a header of 100000032 bytes: "
                       "expected at most "
                       "100000000");
    ck_assert_int_eq(files_in("."), 0);
    free(text);
    hd_dict_free(d);
}
END_TEST

START_TEST(arguments)
{
    hd_dict *d = hd_dict_new();
    hd_safetensors_options o = {.map = true};
    ck_assert(!hd_save_safetensors(NULL, d));
    ck_error(HD_NULL_ARG, "hd_save_safetensors: path is NULL");
    ck_assert(!hd_save_safetensors("x", NULL));
    ck_error(HD_NULL_ARG, "hd_save_safetensors: d is NULL");
    ck_assert_ptr_null(hd_load_safetensors(NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_load_safetensors: path is NULL");
    ck_assert_ptr_null(hd_safetensors_open(NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_safetensors_open: path is NULL");
    ck_assert_ptr_null(hd_load_safetensors("x", &o));
    ck_error(HD_VALUE, sized("hd_load_safetensors: o->size 0: expected %zu, as "
                             "hd_safetensors_defaults() gives",
                             sizeof(hd_safetensors_options)));
    hd_dict_free(d);
}
END_TEST

Suite *suite_safetensors(void)
{
    const TTest *const tests[] = {
        the_round_trip_through_pytorch,
        metadata_is_written_in_the_dictionarys_order,
        views_are_written_row_major,
        larger_than_any_buffer,
        the_locale_does_not_matter,
        a_file_tensor_by_tensor,
        a_conversion_that_fails_leaves_nothing,
        the_place_of_what_does_not_fit,
        empty_tensors_stand_anywhere,
        the_longest_header,
        files_of_torch_save,
        every_control_character_in_a_name,
        what_cannot_be_saved,
        sizes_that_overflow,
        a_header_that_is_too_long,
        arguments,
    };
    return SUITE("safetensors", tests);
}
