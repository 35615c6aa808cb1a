/* support.c - helpers of the io tests: they write safetensors files, compare files, drop root's
 * permissions, and find files that a save left behind. */
#include <dirent.h>
#include <unistd.h>

#include "suites.h"

bool same_files(const char *a, const char *b)
{
    size_t n, m;
    char *x = read_file(a, &n), *y = read_file(b, &m);
    bool same = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

void write_safetensors(const char *path, const char *header, const void *data, size_t n)
{
    size_t length = strlen(header);
    char *bytes = calloc(1, 8 + length + n);
    ck_assert_ptr_nonnull(bytes);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (char)((uint64_t)length >> 8 * i);
    }
    memcpy(bytes + 8, header, length);
    if (n > 0) {
        memcpy(bytes + 8 + length, data, n);
    }
    write_file(path, bytes, 8 + length + n);
    free(bytes);
}

bool as_nobody(void)
{
    enum { NOBODY = 65534 };
    return geteuid() != 0 || seteuid(NOBODY) == 0;
}

void left_over(char name[256])
{
    DIR *here = opendir(".");
    int found = 0;
    for (struct dirent *e; (e = readdir(here));) {
        if (strncmp(e->d_name, ".heed-", 6) == 0) {
            snprintf(name, 256, "%s", e->d_name);
            found++;
        }
    }
    closedir(here);
    ck_assert_int_eq(found, 1);
}
