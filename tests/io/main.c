/* main.c - runs every suite of the io layer; with arguments, is one end of the round trip. */
#include <stdio.h>
#include <unistd.h>

#include "suites.h"

static int64_t bytes_before, tensors_before;
static int open_before;
static char here[32];

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++) {
        n += lseek(fd, 0, SEEK_CUR) != -1;
    }
    return n;
}

static void begin(void)
{
    bool memory = access("/dev/shm", W_OK) == 0; /* where syncing costs nothing */
    snprintf(here, sizeof here, "%s/heed-io-XXXXXX", memory ? "/dev/shm" : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(here));
    ck_assert_int_eq(chdir(here), 0);
    hd_manual_seed(123);
    hd_error_clear();
    open_before = open_files();
    bytes_before = hd_bytes_live();
    tensors_before = hd_tensor_count();
}

static void end(void)
{
    limit_file_size(0);
    ck_no_error();
    ck_assert_int_eq(hd_tensor_count(), tensors_before);
    ck_assert_int_eq(hd_bytes_live(), bytes_before);
    ck_assert_int_eq(open_files(), open_before);
    ck_assert_int_eq(seteuid(getuid()), 0);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", here);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(system(command), 0);
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

static Suite *(*const suites[])(void) = {
    suite_verdicts, suite_safetensors, suite_mapping, suite_npy, suite_files, suite_checkpoint,
};

int main(int argc, char **argv)
{
    if (argc > 1) {
        return roundtrip_main(argc, argv);
    }
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        srunner_add_suite(runner, suites[i]());
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
