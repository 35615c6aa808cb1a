/* main.c - runs every suite of the viz library. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "suites.h"

/* ---------------------------------------------------------------- files */

static char folder[] = "/dev/shm/heed-viz-XXXXXX"; /* in memory: a sync costs nothing there */

const char *temporary(const char *name)
{
    static char path[sizeof folder + 300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    char *bytes = malloc(1 << 24);
    *n = fread(bytes, 1, (1 << 24) - 1, f);
    bytes[*n] = '\0';
    fclose(f);
    return bytes;
}

int files_in_folder(void)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    closedir(d);
    return n;
}

static void empty_folder(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            remove(temporary(e->d_name));
        }
    }
    closedir(d);
}

/* ---------------------------------------------------------------- suites */

static int64_t bytes_before, tensors_before;

static void begin(void)
{
    hd_manual_seed(123);
    hd_error_clear();
    bytes_before = hd_bytes_live();
    tensors_before = hd_tensor_count();
}

static void end(void)
{
    ck_no_error();
    ck_assert_int_eq(hd_tensor_count(), tensors_before);
    ck_assert_int_eq(hd_bytes_live(), bytes_before);
}

Suite *suite_of(const char *name, const TTest *const *tests, size_t n)
{
    Suite *s = suite_create(name);
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, begin, end);
    for (size_t i = 0; i < n; i++) {
        tcase_add_test(c, tests[i]);
    }
    suite_add_tcase(s, c);
    return s;
}

static Suite *(*const suites[])(void) = {suite_axis, suite_lines, suite_attention, suite_dot,
                                         suite_files};

int main(void)
{
    if (access("/dev/shm", W_OK) != 0) {
        snprintf(folder, sizeof folder, "/tmp/heed-viz-XXXXXX");
    }
    if (!mkdtemp(folder)) {
        perror(folder);
        return EXIT_FAILURE;
    }
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        srunner_add_suite(runner, suites[i]());
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    empty_folder();
    rmdir(folder);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
