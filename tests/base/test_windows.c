/* test_windows.c - tests the functions of system.h on Windows: paths in UTF-8 and in a drive's
 * working directory, names in an open directory, names that Windows changes or refuses, locks, and
 * an exchange that was interrupted. It prints what is wrong.
 *
 * usage: test_windows FOLDER, which is empty */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/files/hidden.h"

static int failures;

#define CHECK(right)                                                                               \
    do {                                                                                           \
        errno = 0;                                                                                 \
        if (!(right)) {                                                                            \
            printf("line %d: %s: errno %d\n", __LINE__, #right, errno);                            \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static void put(int at, const char *path, const char *text)
{
    int fd = hd__sys_create(at, path);
    CHECK(fd >= 0);
    CHECK(hd__sys_write(fd, text, strlen(text)) == (ptrdiff_t)strlen(text));
    CHECK(hd__sys_sync(fd) == 0);
    CHECK(hd__sys_close(fd) == 0);
}

static bool there(int at, const char *path)
{
    hd__sys_info info;
    return hd__sys_stat(at, path, false, &info) == 0;
}

static int names_in(const char *path)
{
    int n = 0, cause;
    hd__sys_list *list = hd__sys_list_at(path);
    CHECK(list);
    while (list && hd__sys_list_next(list, &cause)) {
        n++;
    }
    CHECK(cause == 0);
    hd__sys_list_end(list);
    return n;
}

static void files(void)
{
    char bytes[8] = "";
    hd__sys_info info;
    CHECK(hd__sys_mkdir("мир") == 0);
    CHECK(hd__sys_mkdir("мир") != 0 && errno == EEXIST);
    put(HD__SYS_HERE, "мир/да", "hello");
    put(HD__SYS_HERE, "мир\\b", "world");
    CHECK(names_in("мир") == 2);
    CHECK(hd__sys_stat(HD__SYS_HERE, "мир", true, &info) == 0 && info.kind == HD__SYS_DIRECTORY);
    CHECK(!there(HD__SYS_HERE, "мир/c") && errno == ENOENT);
    CHECK(hd__sys_open_directory("мир/b", true) < 0 && errno == ENOTDIR);

    int fd = hd__sys_open(HD__SYS_HERE, "мир/b");
    CHECK(hd__sys_pread(fd, bytes, 8, 1) == 4 && memcmp(bytes, "orld", 4) == 0);
    CHECK(hd__sys_pread(fd, bytes, 8, 5) == 0);
    char *mapped = hd__sys_map(fd, 5, true);
    CHECK(mapped && memcmp(mapped, "world", 5) == 0);
    *mapped = 'W'; /* changes no file */
    CHECK(hd__sys_pread(fd, bytes, 1, 0) == 1 && *bytes == 'w');
    hd__sys_unmap(mapped, 5);
    hd__sys_drop(fd);
}

static void directory(void)
{
    hd__sys_info info;
    int at = hd__sys_open_directory("мир", false);
    int other = hd__sys_open_directory("мир", false);
    CHECK(hd__sys_lock(at) == 0);
    CHECK(hd__sys_lock(other) == EWOULDBLOCK);
    hd__sys_drop(at);
    CHECK(hd__sys_lock(other) == 0);
    put(other, "new", "new");
    CHECK(hd__sys_rename_in(other, "new", "b") == 0);
    CHECK(hd__sys_stat(other, "b", true, &info) == 0 && info.size == 3);
    CHECK(hd__sys_rmdir("мир") != 0 && errno == ENOTEMPTY);
    CHECK(hd__sys_unlink(other, "b") == 0 && hd__sys_unlink(other, "да") == 0);
    CHECK(hd__sys_rmdir("мир") == 0);
    hd__sys_drop(other);
    CHECK(!there(HD__SYS_HERE, "мир"));
}

static void exchange(void)
{
    hd__sys_mkdir("a");
    put(HD__SYS_HERE, "a/1", "");
    hd__sys_mkdir("b");
    put(HD__SYS_HERE, "b/2", "");
    CHECK(hd__sys_rename("a", "b") != 0 && errno == EEXIST);
    CHECK(hd__sys_exchange("a", "b") == 0);
    CHECK(there(HD__SYS_HERE, "b/1") && there(HD__SYS_HERE, "a/2"));
    CHECK(!there(HD__SYS_HERE, "b.heed-old"));
    CHECK(hd__sys_exchange("a", "c") == ENOENT && there(HD__SYS_HERE, "a/2"));

    /* the process ended after the first rename */
    CHECK(hd__sys_rename("b", "b.heed-old") == 0);
    int fd = hd__sys_open_directory("b", false);
    CHECK(fd >= 0 && there(HD__SYS_HERE, "b/1"));
    hd__sys_drop(fd);

    /* after the second one */
    hd__sys_mkdir("b.heed-old");
    CHECK(hd__sys_exchange("a", "b") == 0);
    CHECK(there(HD__SYS_HERE, "b/2") && there(HD__SYS_HERE, "a/1"));
    CHECK(!there(HD__SYS_HERE, "b.heed-old"));
}

/* Writes a file, and looks whether it is there under the same name and under another one. */
static void writes(const char *path, const char *other)
{
    CHECK(hd__file_whole_write(path, "text", 4));
    CHECK(there(HD__SYS_HERE, path) && there(HD__SYS_HERE, other));
    CHECK(hd__sys_unlink(HD__SYS_HERE, other) == 0 && !there(HD__SYS_HERE, path));
}

static void odd_paths(void)
{
    char here[4096], relative[] = "?:new";
    CHECK(getcwd(here, sizeof here));
    *relative = *here;
    writes(relative, "new");
    hd__folder folder = {.path = relative};
    hd__folder_hidden_name(&folder);
    CHECK(strncmp(folder.hidden + 1, ":./.heed-", 9) == 0);
    CHECK(hd__file_parent_length("C:b") == 2 && strcmp(hd__file_last_part("C:b"), "b") == 0);

    writes("dots. .", "dots");
    CHECK(!hd__file_whole_write("a*b", "", 0));
    CHECK(hd__sys_open(HD__SYS_HERE, "a*b") < 0 && errno == EINVAL);
    CHECK(!hd__file_whole_write("COM9", "", 0) && names_in(".") == 0);
}

int main(int argc, char **argv)
{
    if (argc != 2 || chdir(argv[1]) != 0) {
        return 2;
    }
    odd_paths();
    files();
    directory();
    exchange();
    CHECK(hd__file_parent_length("C:\\a\\b") == 4 && hd__file_parent_length("C:/b") == 3);
    CHECK(strcmp(hd__file_last_part("C:\\a\\b"), "b") == 0);
    CHECK(there(HD__SYS_HERE, "C:") && there(HD__SYS_HERE, "C:/"));
    printf("%d wrong\n", failures);
    return failures != 0;
}
