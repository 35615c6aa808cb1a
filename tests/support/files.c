/* files.c - temporary folders, and whole files; see files.h. */
#include "support/files.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[40];

/* ---------------------------------------------------------------- the folder */

bool folder_make(void)
{
    bool memory = access("/dev/shm", W_OK) == 0;
    snprintf(folder, sizeof folder, "%s/heed-test-XXXXXX", memory ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        return false;
    }
    return true;
}

const char *temporary(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* How many files there are besides . and .., -1 without the folder. f, where it is given, gets the
 * path of each in the folder of this run. */
static int each_file(const char *where, void (*f)(const char *path))
{
    int n = 0;
    DIR *d = opendir(where);
    if (!d) {
        return -1;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            n++;
            if (f) {
                f(temporary(e->d_name));
            }
        }
    }
    closedir(d);
    return n;
}

static void remove_file(const char *path)
{
    remove(path);
}

int files_in(const char *where)
{
    return each_file(where, NULL);
}

int files_in_folder(void)
{
    return files_in(folder);
}

void folder_remove(void)
{
    each_file(folder, remove_file);
    rmdir(folder);
}

/* ---------------------------------------------------------------- whole files */

void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    ck_assert_msg(f, "%s", path);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

const char *file_of(const char *name, const void *bytes, size_t n)
{
    const char *path = temporary(name);
    write_file(path, bytes, n);
    return path;
}

void write_file_at(const char *path, int64_t at, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    ck_assert_msg(fd >= 0, "%s", path);
    ck_assert_int_eq(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n);
    ck_assert_int_eq(close(fd), 0);
}

char *read_file(const char *path, size_t *n)
{
    struct stat st;
    ck_assert_msg(stat(path, &st) == 0, "there is no %s", path);
    char *bytes = malloc((size_t)st.st_size + 1);
    FILE *f = fopen(path, "rb");
    ck_assert(f && bytes);
    *n = fread(bytes, 1, (size_t)st.st_size, f);
    ck_assert_uint_eq(*n, (size_t)st.st_size);
    bytes[*n] = '\0';
    fclose(f);
    return bytes;
}

void ck_file(const char *path, const char *wanted)
{
    size_t n;
    char *text = read_file(path, &n);
    ck_assert_str_eq(text, wanted);
    free(text);
}

void limit_file_size(size_t n)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN); /* so that the write fails with EFBIG instead */
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = n ? n : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}
