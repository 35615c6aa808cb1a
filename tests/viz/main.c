/* main.c - runs every suite of the viz library. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/run_suites.h"
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
    ck_assert_msg(f, "%s", path);
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

static Suite *(*const suites[])(void) = {suite_axis, suite_lines, suite_attention,
                                         suite_dot,  suite_files, suite_null};

int main(void)
{
    if (access("/dev/shm", W_OK) != 0) {
        snprintf(folder, sizeof folder, "/tmp/heed-viz-XXXXXX");
    }
    if (!mkdtemp(folder)) {
        perror(folder);
        return EXIT_FAILURE;
    }
    int result = RUN_SUITES(suites);
    empty_folder();
    rmdir(folder);
    return result;
}
