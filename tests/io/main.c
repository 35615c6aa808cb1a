/* main.c - runs all suites of the io layer. With arguments it is one end of the round trip
 * (roundtrip.c). */
#include <stdio.h>
#include <unistd.h>

#include "suites.h"

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

void begin_in_a_folder(void)
{
    bool memory = access("/dev/shm", W_OK) == 0; /* a sync costs nothing there */
    snprintf(here, sizeof here, "%s/heed-io-XXXXXX", memory ? "/dev/shm" : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(here));
    ck_assert_int_eq(chdir(here), 0);
    open_before = open_files();
    leak_checked_begin();
}

void end_in_a_folder(void)
{
    limit_file_size(0);
    leak_checked_end();
    ck_assert_int_eq(open_files(), open_before);
    ck_assert_int_eq(seteuid(getuid()), 0);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", here);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(system(command), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        return roundtrip_main(argc, argv);
    }
    return RUN_SUITES(SUITES);
}
