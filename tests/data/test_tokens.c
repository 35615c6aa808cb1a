/* test_tokens.c - tests of token files: bytes and sizes, refusals, the file after a failed write,
 * and parts. */
#include "suites.h"
#include "tensor/lifecycle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t read_bytes(const char *path, unsigned char *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(bytes, 1, room, f) : 0;
    if (f) {
        fclose(f);
    }
    return f ? (int64_t)n : -1;
}

/* x holds these integers. */
static void check_ints(const hd_tensor *x, int64_t n, const int64_t *want)
{
    ck_assert_ptr_nonnull(x);
    ck_assert_int_eq(hd_dtype_of(x), HD_INT64);
    ck_assert_int_eq(hd_numel(x), n);
    for (int64_t i = 0; i < n; i++) {
        ck_assert_int_eq(hd_get_int(x, i), want[i]);
    }
}

START_TEST(files_hold_the_ids_little_endian)
{
    unsigned char bytes[32];
    const int64_t ids[] = {0, 1, 258, 65535}, large[] = {65536, 4294967295, 7};
    const char *path = temporary("ids.bin");
    ck_assert(hd_tokens_write(path, HD_TOKEN_U16, hd_from_data(HD_INT64, ids, 4)));
    ck_assert_int_eq(read_bytes(path, bytes, sizeof bytes), 8);
    ck_assert(memcmp(bytes, "\0\0\1\0\2\1\377\377", 8) == 0);
    hd_tokens *t = hd_tokens_open(path, HD_TOKEN_U16);
    ck_assert_int_eq(hd_tokens_len(t), 4);
    check_ints(hd_tokens_read(t, 0, 4), 4, ids);
    check_ints(hd_tokens_read(t, 2, 1), 1, ids + 2);
    check_ints(hd_tokens_read(t, 4, 0), 0, ids);

    ck_assert(hd_tokens_write(path, HD_TOKEN_U32, hd_from_data(HD_INT64, large, 3)));
    check_ints(hd_tokens_read(t, 0, 4), 4, ids); /* the old file is still mapped */
    hd_tokens_free(t);
    ck_assert_int_eq(read_bytes(path, bytes, sizeof bytes), 12);
    ck_assert(memcmp(bytes, "\0\0\1\0\377\377\377\377\7\0\0\0", 12) == 0);
    t = hd_tokens_open(path, HD_TOKEN_U32);
    check_ints(hd_tokens_read(t, 0, 3), 3, large);
    hd_tokens_free(t);
    ck_no_error();
}
END_TEST

START_TEST(from_memory_and_from_strides)
{
    hd_tokens *t;
    {
        HD_SCOPE;
        int64_t two = 2;
        hd_tensor *x = hd_arange(0, 12, 1);                               /* (12,) */
        hd_tensor *odd = hd__tensor_alias(x, 1, (int64_t[]){5}, &two, 1); /* (5,) 1 3 5 7 9 */
        t = hd_tokens_from(odd);
    }
    const int64_t want[] = {1, 3, 5, 7, 9};
    check_ints(hd_tokens_read(t, 0, 5), 5, want);
    hd_tokens_free(t);
    t = hd_tokens_from(hd_empty(HD_INT64, 0));
    ck_assert_int_eq(hd_tokens_len(t), 0);
    hd_tokens_free(t);
    hd_tokens_free(NULL);
}
END_TEST

START_TEST(empty_file)
{
    hd_tokens *t = hd_tokens_open(file_of("empty.bin", "", 0), HD_TOKEN_U16), *a, *b;
    ck_assert_int_eq(hd_tokens_len(t), 0);
    ck_assert_int_eq(hd_numel(hd_tokens_read(t, 0, 0)), 0);
    ck_assert(hd_tokens_split(t, 0.5, &a, &b));
    ck_assert_int_eq(hd_tokens_len(a) + hd_tokens_len(b), 0);
    hd_tokens_free(a);
    hd_tokens_free(b);
    hd_tokens_free(t);
    ck_assert(hd_tokens_write(temporary("empty.bin"), HD_TOKEN_U32, hd_empty(HD_INT64, 0)));
    ck_no_error();
}
END_TEST

/* Without a standard input, a file that is opened may have the number 0. */
START_TEST(files_without_a_standard_input)
{
    const char *path = file_of("three.bin", "\1\0\2\0\3\0", 6);
    ck_assert_int_eq(close(STDIN_FILENO), 0);
    hd_tokens *t = hd_tokens_open(path, HD_TOKEN_U16);
    ck_elements(hd_tokens_read(t, 0, 3), 1, 2, 3);
    hd_tokens_free(t);
    ck_assert_int_eq(open("/dev/null", O_RDONLY), STDIN_FILENO); /* every file was closed */
    ck_no_error();
}
END_TEST

START_TEST(split_is_the_floor_of_the_fraction)
{
    static const struct {
        int64_t len;
        double fraction;
        int64_t first; /* Python: int(fraction * len) */
    } rows[] = {{10, 0.9, 9}, {10, 0, 0},      {10, 1, 10},  {0, 0.9, 0},
                {7, 0.9, 6},  {100, 0.29, 28}, {3, 0.999, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        HD_SCOPE;
        hd_tokens *t = counted_tokens(rows[i].len), *a, *b;
        ck_assert(hd_tokens_split(t, rows[i].fraction, &a, &b));
        hd_tokens_free(t); /* the parts hold its bytes */
        ck_assert_int_eq(hd_tokens_len(a), rows[i].first);
        ck_assert_int_eq(hd_tokens_len(b), rows[i].len - rows[i].first);
        if (hd_tokens_len(b) > 0) {
            ck_assert_int_eq(hd_item_int(hd_tokens_read(b, 0, 1)), rows[i].first);
        }
        hd_tokens *c, *d;
        ck_assert(hd_tokens_split(b, 0.5, &c, &d)); /* a part of a part */
        hd_tokens_free(b);
        hd_tokens_free(a);
        if (hd_tokens_len(d) > 0) {
            ck_assert_int_eq(hd_item_int(hd_tokens_read(d, hd_tokens_len(d) - 1, 1)),
                             rows[i].len - 1);
        }
        hd_tokens_free(c);
        hd_tokens_free(d);
    }
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

/* ---------------------------------------------------------------- errors */

static void check_message(hd_code code, const char *format, const char *path)
{
    char want[600];
    snprintf(want, sizeof want, format, path);
    ck_error(code, want);
}

START_TEST(refuses_files)
{
    const char *path = file_of("odd.bin", "abc", 3);
    ck_assert_ptr_null(hd_tokens_open(path, HD_TOKEN_U16));
    check_message(HD_FORMAT, "hd_tokens_open: '%s': the file has 3 bytes: expected a multiple of 2",
                  path);
    path = file_of("six.bin", "abcdef", 6);
    ck_assert_ptr_null(hd_tokens_open(path, HD_TOKEN_U32));
    check_message(HD_FORMAT, "hd_tokens_open: '%s': the file has 6 bytes: expected a multiple of 4",
                  path);
    path = temporary("");
    ck_assert_ptr_null(hd_tokens_open(path, HD_TOKEN_U16));
    check_message(HD_IO, "hd_tokens_open: '%s' is a directory: expected a regular file", path);
    path = temporary("fifo");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_ptr_null(hd_tokens_open(path, HD_TOKEN_U16));
    check_message(HD_IO, "hd_tokens_open: '%s' is a special file: expected a regular file", path);
    path = temporary("missing.bin");
    ck_assert_ptr_null(hd_tokens_open(path, HD_TOKEN_U16));
    check_message(HD_IO, "hd_tokens_open: '%s': cannot open: No such file or directory", path);
    ck_assert_ptr_null(hd_tokens_open(path, (hd_token_type)3));
    ck_error(HD_VALUE, "hd_tokens_open: type 3: expected HD_TOKEN_U16 or HD_TOKEN_U32");
}
END_TEST

/* 4 GB of zeros, which are a hole of the file, and three ids after them */
START_TEST(more_than_4_gb_are_mapped_whole_or_refused)
{
    const int64_t zeros = INT64_C(1) << 31, before[] = {0, 7}, after[] = {7, 8};
    const char *path = temporary("large.bin");
    write_file_at(path, 2 * zeros, "\7\0\10\0\11\0", 6);
    hd_tokens *t = hd_tokens_open(path, HD_TOKEN_U16);
    if (2 * zeros > PTRDIFF_MAX) {
        ck_assert_ptr_null(t);
        check_message(HD_IO, "hd_tokens_open: '%s': cannot map: File too large", path);
        return;
    }
    hd_tensor *input, *target;
    hd_dataset *windows = hd_windows_new(t, 2, 1);
    ck_assert_int_eq(hd_tokens_len(t), zeros + 3);
    ck_assert_int_eq(hd_dataset_len(windows), zeros + 1);
    ck_assert(hd_dataset_get(windows, -2, &input, &target));
    check_ints(input, 2, before);
    check_ints(target, 2, after);
    hd_dataset_free(windows);
    hd_tokens_free(t);
}
END_TEST

START_TEST(failed_writes_leave_the_old_file)
{
    unsigned char bytes[16];
    const char *path = file_of("old.bin", "old!", 4);
    const int64_t large[] = {5, 65536}, negative[] = {-1};
    ck_assert(!hd_tokens_write(path, HD_TOKEN_U16, hd_from_data(HD_INT64, large, 2)));
    ck_error(HD_VALUE, "hd_tokens_write: id 65536 at position 1: expected 0 to 65535");
    ck_assert(!hd_tokens_write(path, HD_TOKEN_U32, hd_from_data(HD_INT64, negative, 1)));
    ck_error(HD_VALUE, "hd_tokens_write: id -1 at position 0: expected 0 to 4294967295");
    ck_assert(!hd_tokens_write(path, HD_TOKEN_U32, hd_zeros(HD_FLOAT32, 2)));
    ck_error(HD_SHAPE, "hd_tokens_write: ids float32 (2,): expected int64 (n,)");
    ck_assert(!hd_tokens_write(path, HD_TOKEN_U32, hd_zeros(HD_INT64, 2, 1)));
    ck_error(HD_SHAPE, "hd_tokens_write: ids int64 (2, 1): expected int64 (n,)");
    ck_assert_int_eq(read_bytes(path, bytes, sizeof bytes), 4);
    ck_assert(memcmp(bytes, "old!", 4) == 0);

    path = temporary("none/ids.bin");
    ck_assert(!hd_tokens_write(path, HD_TOKEN_U32, hd_zeros(HD_INT64, 2)));
    char message[256];
    snprintf(message, sizeof message,
             "hd_tokens_write: '%s': the folder '%.*s' does not exist. Create it first", path,
             (int)(strrchr(path, '/') - path), path);
    ck_error(HD_IO, message);
    path = temporary("folder");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert(!hd_tokens_write(path, HD_TOKEN_U32, hd_zeros(HD_INT64, 2)));
    check_message(HD_IO, "hd_tokens_write: '%s' is a directory: expected a regular file, or none",
                  path);
    ck_assert_int_eq(rmdir(path), 0);

    path = temporary("old.bin");
    hd_error_set(HD_USER, "some error");
    ck_assert(!hd_tokens_write(path, HD_TOKEN_U32, hd_zeros(HD_INT64, 2)));
    ck_error(HD_USER, "some error"); /* it stood first */
    ck_assert_int_eq(read_bytes(path, bytes, sizeof bytes), 4);
}
END_TEST

START_TEST(refuses_arguments)
{
    hd_tokens *t = counted_tokens(5), *a, *b;
    ck_assert_ptr_null(hd_tokens_read(t, 3, 3));
    ck_error(HD_INDEX, "hd_tokens_read: at 3, n 3: expected a range within the 5 tokens");
    ck_assert_ptr_null(hd_tokens_read(t, -1, 1));
    ck_error(HD_INDEX, "hd_tokens_read: at -1, n 1: expected a range within the 5 tokens");
    ck_assert_ptr_null(hd_tokens_read(t, 0, -1));
    ck_error(HD_INDEX, "hd_tokens_read: at 0, n -1: expected a range within the 5 tokens");
    ck_assert_ptr_null(hd_tokens_read(t, INT64_MAX, INT64_MAX));
    ck_error(HD_INDEX, "hd_tokens_read: at 9223372036854775807, n 9223372036854775807: expected a "
                       "range within the 5 tokens");
    ck_assert(!hd_tokens_split(t, 1.5, &a, &b));
    ck_error(HD_VALUE, "hd_tokens_split: fraction 1.5: expected 0 to 1");
    ck_assert(!hd_tokens_split(t, NAN, &a, &b));
    ck_error(HD_VALUE, "hd_tokens_split: fraction nan: expected 0 to 1");
    ck_assert(!hd_tokens_split(NULL, 0.5, &a, &b));
    ck_error(HD_NULL_ARG, "hd_tokens_split: t is NULL");
    ck_assert_ptr_null(hd_tokens_from(HD_NONE));
    ck_assert_int_eq(hd_error_code(), HD_NULL_ARG);
    hd_error_clear();
    ck_assert_int_eq(hd_tokens_len(NULL), -1);
    ck_error(HD_NULL_ARG, "hd_tokens_len: t is NULL");
    hd_tokens_free(t);
}
END_TEST

Suite *suite_tokens(void)
{
    const TTest *const tests[] = {
        files_hold_the_ids_little_endian,
        from_memory_and_from_strides,
        empty_file,
        files_without_a_standard_input,
        split_is_the_floor_of_the_fraction,
        refuses_files,
        more_than_4_gb_are_mapped_whole_or_refused,
        failed_writes_leave_the_old_file,
        refuses_arguments,
    };
    return SUITE_OF("tokens", tests);
}
