/* test_files.c - tests obstacles to reading and writing: special files, permissions, full disks,
 * long names, missing memory. A failed save leaves the old file and no other. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "suites.h"
#include "tensor/lifecycle.h"

/* A dictionary with w, n float32 ones; free it with hd_dict_free. */
static hd_dict *ones(int64_t n)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, "w", hd_ones(HD_FLOAT32, n)));
    return d;
}

static void save_ones(const char *path, int64_t n)
{
    hd_dict *d = ones(n);
    ck_assert_msg(hd_save_safetensors(path, d), "%s", hd_error_message());
    hd_dict_free(d);
}

static void fail_to_save(const char *path, int64_t n, hd_code code, const char *message)
{
    hd_dict *d = ones(n);
    ck_assert(!hd_save_safetensors(path, d));
    ck_error(code, message);
    hd_dict_free(d);
}

static void fail_to_load(const char *path, hd_code code, const char *message)
{
    ck_assert_ptr_null(hd_load_safetensors(path, NULL));
    ck_error(code, message);
}

/* ---------------------------------------------------------------- reading */

START_TEST(only_regular_files_are_read)
{
    ck_assert_int_eq(mkdir("directory", 0777), 0);
    ck_assert_int_eq(mkfifo("fifo", 0666), 0);
    fail_to_load("none", HD_IO,
                 "hd_load_safetensors: 'none': cannot open: No such file or directory");
    fail_to_load("directory", HD_IO,
                 "hd_load_safetensors: 'directory' is a directory: expected a regular file");
    fail_to_load("fifo", HD_IO,
                 "hd_load_safetensors: 'fifo' is a special file: expected a regular file");
    fail_to_load("/dev/zero", HD_IO,
                 "hd_load_safetensors: '/dev/zero' is a special file: expected a regular file");
    ck_assert_ptr_null(hd_load_npy("fifo"));
    ck_error(HD_IO, "hd_load_npy: 'fifo' is a special file: expected a regular file");
}
END_TEST

START_TEST(an_unreadable_file)
{
    save_ones("x", 3);
    ck_assert_int_eq(chmod("x", 0), 0);
    ck_assert_int_eq(chmod(".", 0755), 0);
    if (as_nobody()) {
        fail_to_load("x", HD_IO, "hd_load_safetensors: 'x': cannot open: Permission denied");
    }
}
END_TEST

START_TEST(a_symbolic_link_is_followed)
{
    save_ones("x", 3);
    ck_assert_int_eq(symlink("x", "link"), 0);
    hd_dict *d = hd_load_safetensors("link", NULL);
    ck_elements(hd_dict_get(d, "w"), 1, 1, 1);
    hd_dict_free(d);
}
END_TEST

/* ---------------------------------------------------------------- writing */

START_TEST(saving_replaces)
{
    save_ones("x", 3);
    save_ones("x", 1);
    hd_dict *d = hd_load_safetensors("x", NULL);
    ck_elements(hd_dict_get(d, "w"), 1);
    hd_dict_free(d);
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

START_TEST(a_full_disk)
{
    save_ones("x", 3);
    save_ones("same", 3);
    limit_file_size(100000);
    fail_to_save("x", 100000, HD_IO, "hd_save_safetensors: 'x': cannot write: File too large");
    ck_assert(same_files("x", "same"));
    fail_to_save("new", 100000, HD_IO, "hd_save_safetensors: 'new': cannot write: File too large");
    HD_SCOPE;
    ck_assert(!hd_save_npy("x", hd_ones(HD_FLOAT64, 100000)));
    ck_error(HD_IO, "hd_save_npy: 'x': cannot write: File too large");
    ck_assert(same_files("x", "same"));
    ck_assert_int_eq(files_in("."), 2);
}
END_TEST

START_TEST(a_directory_that_cannot_be_written)
{
    ck_assert_int_eq(mkdir("directory", 0755), 0);
    ck_assert_int_eq(chmod(".", 0755), 0);
    save_ones("directory/x", 3);
    save_ones("same", 3);
    if (geteuid() != 0) {
        ck_assert_int_eq(chmod("directory", 0555), 0);
    }
    if (as_nobody()) {
        fail_to_save("directory/x", 1, HD_IO,
                     "hd_save_safetensors: 'directory/x': cannot create a file in 'directory': "
                     "Permission denied");
        ck_assert(same_files("directory/x", "same"));
    }
    fail_to_save(
        "none/x", 1, HD_IO,
        "hd_save_safetensors: 'none/x': the folder 'none' does not exist. Create it first");
}
END_TEST

/* What cannot be opened cannot be synced. The error comes before anything changes, not after the
 * rename. */
START_TEST(a_directory_that_cannot_be_read)
{
    ck_assert_int_eq(mkdir("directory", 0777), 0);
    save_ones("directory/x", 3);
    save_ones("same", 3);
    ck_assert_int_eq(chmod(".", 0755), 0);
    ck_assert_int_eq(chmod("directory", 0333), 0);
    if (as_nobody()) {
        fail_to_save("directory/x", 1, HD_IO,
                     "hd_save_safetensors: 'directory/x': cannot create a file in 'directory': "
                     "Permission denied");
        ck_assert(same_files("directory/x", "same"));
        hd_dict *d = ones(1);
        ck_assert(!hd_checkpoint_save("directory/c", d, d));
        ck_error(HD_IO, "hd_checkpoint_save: 'directory/c': cannot create a directory in "
                        "'directory': Permission denied");
        ck_assert_int_ne(access("directory/c", F_OK), 0);
        hd_dict_free(d);
    }
    ck_assert_int_eq(seteuid(getuid()), 0);
    ck_assert_int_eq(chmod("directory", 0777), 0);
    ck_assert_int_eq(chdir("directory"), 0);
    ck_assert_int_eq(files_in("."), 1);
    ck_assert_int_eq(chdir(".."), 0);
}
END_TEST

START_TEST(only_regular_files_are_replaced)
{
    ck_assert_int_eq(mkdir("directory", 0777), 0);
    ck_assert_int_eq(mkfifo("fifo", 0666), 0);
    fail_to_save(
        "directory", 1, HD_IO,
        "hd_save_safetensors: 'directory' is a directory: expected a regular file, or none");
    fail_to_save("fifo", 1, HD_IO,
                 "hd_save_safetensors: 'fifo' is a special file: expected a regular file, or none");
    fail_to_save("/dev/full", 1, HD_IO,
                 "hd_save_safetensors: '/dev/full' is a special file: expected a regular file, or "
                 "none");
    ck_assert_int_eq(files_in("."), 2);
}
END_TEST

START_TEST(nothing_is_saved_while_an_error_stands)
{
    HD_SCOPE;
    save_ones("x", 3);
    save_ones("same", 3);
    hd_dict *d = ones(1);
    hd_tensor *x = hd_ones(HD_FLOAT32, 1);
    hd_error_set(HD_USER, "the first error");
    ck_assert(!hd_save_safetensors("x", d));
    ck_assert(!hd_save_npy("x", x));
    ck_assert(!hd_checkpoint_save("c", d, d) && !hd_checkpoint_replace("c", d, d));
    ck_error(HD_USER, "the first error");
    ck_assert(same_files("x", "same"));
    ck_assert_int_eq(files_in("."), 2);

    hd_error_set(HD_USER, "the first error"); /* reading goes on */
    hd_dict *loaded = hd_load_safetensors("x", NULL);
    ck_error(HD_USER, "the first error");
    ck_elements(hd_dict_get(loaded, "w"), 1, 1, 1);
    hd_dict_free(loaded);
    hd_dict_free(d);
}
END_TEST

START_TEST(the_longest_name)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    save_ones(name, 3);
    hd_dict *d = hd_load_safetensors(name, NULL);
    ck_elements(hd_dict_get(d, "w"), 1, 1, 1);
    hd_dict_free(d);
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

/* Begins to write a file, and is killed; its unfinished file stays. */
static void killed_save(const char *path)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        hd__file_whole file;
        hd__file_whole_begin(&file, path);
        hd__file_whole_add(&file, "some", 4);
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

START_TEST(what_a_killed_process_left)
{
    char name[256];
    killed_save("x");
    ck_assert_int_eq(files_in("."), 1);
    save_ones("y", 3);
    ck_assert_int_eq(files_in("."), 2); /* that of x is not y's */
    killed_save("x");
    ck_assert_int_eq(files_in("."), 2);
    save_ones("x", 3);
    ck_assert_int_eq(files_in("."), 2);
    killed_save("x");
    left_over(name);
    ck_assert_int_eq(remove(name), 0);
    ck_assert_int_eq(mkdir(name, 0777), 0); /* a directory of that name stays */
    save_ones("x", 3);
    ck_assert_int_eq(files_in("."), 3);
}
END_TEST

START_TEST(what_a_living_process_writes)
{
    hd__file_whole file;
    hd__file_whole_begin(&file, "x");
    hd__file_whole_add(&file, "some", 4);
    save_ones("x", 3);
    ck_assert_int_eq(files_in("."), 2);
    ck_assert(hd__file_whole_end(&file, true));
    ck_assert_int_eq(files_in("."), 1);
    size_t n;
    char *bytes = read_file("x", &n);
    ck_assert_uint_eq(n, 4);
    free(bytes);
}
END_TEST

START_TEST(paths)
{
    char here[200], path[300];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/x", here);
    ck_assert_int_eq(mkdir("a", 0777), 0);
    save_ones(path, 3);
    save_ones("./a/../a//x", 3);
    ck_assert(same_files("x", "a/x"));
    ck_assert_int_eq(files_in("."), 2);

    /* Longer than the system takes: the message begins with the path's first bytes. */
    char longest[5000];
    memset(longest, 'd', sizeof longest);
    longest[4998] = '/';
    longest[4999] = '\0';
    hd_dict *d = hd_dict_new();
    ck_assert(!hd_checkpoint_save(longest, d, d));
    ck_assert_int_eq(hd_error_code(), HD_IO);
    ck_assert_ptr_nonnull(strstr(hd_error_message(), strerror(ENAMETOOLONG)));
    hd_error_clear();
    longest[2500] = '/';
    ck_assert(!hd_checkpoint_replace(longest, d, d));
    ck_assert_int_eq(hd_error_code(), HD_IO);
    ck_assert_ptr_nonnull(strstr(hd_error_message(), strerror(ENAMETOOLONG)));
    hd_error_clear();
    hd_dict_free(d);
    ck_assert_int_eq(files_in("."), 2);
}
END_TEST

START_TEST(a_file_is_made_with_the_umask)
{
    struct stat st;
    umask(027);
    save_ones("x", 3);
    ck_assert_int_eq(stat("x", &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
}
END_TEST

/* ---------------------------------------------------------------- memory */

static bool load_everything(void)
{
    HD_SCOPE;
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = true;
    hd_dict *d = hd_load_safetensors("x", NULL), *m = d ? hd_load_safetensors("x", &o) : NULL;
    hd_tensor *x = m ? hd_load_npy("y") : NULL;
    bool ok = x && hd_save_safetensors("x2", m) && hd_save_npy("y2", x) &&
              hd_checkpoint_save("c", d, m) && hd_checkpoint_replace("c", d, m);
    hd_dict_free(d);
    hd_dict_free(m);
    hd_dict *model = NULL, *state = NULL;
    ok = ok && hd_checkpoint_load("c", &model, &state);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok && hd_checkpoint_remove("c");
}

/* Every allocation fails once; what was there stays as it was. */
START_TEST(out_of_memory)
{
    write_safetensors("x",
                      "{\"\\u0061\":{\"dtype\":\"F16\",\"shape\":[1,2],\"data_offsets\":[8,12]},"
                      "\"b\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}} ",
                      "\0\0\0\0\0\0\xf0\x3f\0\x3c\0\x3c", 12);
    {
        HD_SCOPE;
        int64_t sizes[] = {2, 2}, strides[] = {1, 2};
        hd_tensor *x = hd_arange(0, 4, 1);
        ck_assert(hd_save_npy("y", hd__tensor_alias(x, 2, sizes, strides, 0)));
    }
    scarce s = {.left = -1};
    scarce_use(&s);
    int64_t failures = 0;
    for (bool done = false; !done; failures += !done) {
        s.left = failures;
        done = load_everything();
        s.left = -1;
        ck_assert_int_eq(hd_error_code(), done ? HD_OK : HD_MEMORY);
        hd_error_clear();
        if (!done && access("c", F_OK) == 0) { /* it was saved, and loading it failed */
            ck_assert_msg(hd_checkpoint_remove("c"), "%s", hd_error_message());
        }
        ck_assert_int_eq(s.blocks, 0);
    }
    scarce_end();
    ck_assert_int_gt(failures, 60);
    ck_assert_int_eq(files_in("."), 4);
}
END_TEST

Suite *suite_files(void)
{
    const TTest *const tests[] = {
        only_regular_files_are_read,
        an_unreadable_file,
        a_symbolic_link_is_followed,
        saving_replaces,
        a_full_disk,
        a_directory_that_cannot_be_written,
        a_directory_that_cannot_be_read,
        only_regular_files_are_replaced,
        nothing_is_saved_while_an_error_stands,
        the_longest_name,
        what_a_killed_process_left,
        what_a_living_process_writes,
        paths,
        a_file_is_made_with_the_umask,
        out_of_memory,
    };
    return SUITE("files", tests);
}
