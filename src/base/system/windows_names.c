/* windows_names.c - the functions of system.h for names of files, on Windows.
 *
 * Windows refuses to rename or remove a file while another program, such as a virus scanner, has it
 * open for a moment. So a refused call is repeated for half a second. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/windows_files.h"

/* ---------------------------------------------------------------- renaming and removing */

enum { MOST_TRIES = 50 };

/* After a failure: if its errno says that another program may have the file open, waits a moment
 * and returns true. Otherwise returns false. */
static bool busy(void)
{
    bool perhaps = errno == EACCES || errno == EBUSY;
    Sleep(perhaps ? 10 : 0);
    return perhaps;
}

/* Numbers from the documentation of NtSetInformationFile. The classes with EX need Windows 10 and
 * NTFS. */
enum { RENAME = 10, DISPOSE = 13, DISPOSE_EX = 64, RENAME_EX = 65 };
enum { REPLACE = 1, REMOVE = 1, AT_ONCE = 2, REMOVE_READ_ONLY = 16 };

/* Calls NtSetInformationFile for the open file fd, and closes fd. First passes the class `newer`,
 * with `flags` at the beginning of `what`. If that fails, passes the class `older`, with 1 there.
 * Returns 0, or -1 with errno. If fd is -1, the result of a failed open, returns -1 and leaves
 * errno. */
static int set_closing(int fd, void *what, ULONG bytes, int newer, ULONG flags, int older)
{
    IO_STATUS_BLOCK done;
    NTSTATUS status = 0;
    if (fd < 0) {
        return -1;
    }
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        *(ULONG *)what = flags;
        status = HD__IN_NTDLL(NtSetInformationFile)(hd__sys_handle(fd), &done, what, bytes, newer);
        if (status < 0) {
            *(ULONG *)what = 1;
            status =
                HD__IN_NTDLL(NtSetInformationFile)(hd__sys_handle(fd), &done, what, bytes, older);
        }
        if (status >= 0 || (hd__sys_status_failed(status), !busy())) {
            break;
        }
    }
    hd__sys_drop(fd);
    return status < 0 ? hd__sys_status_failed(status) : 0;
}

int hd__sys_mkdir(const char *path)
{
    WCHAR wide[HD__SYS_PATH];
    return hd__sys_widen(path, wide) && (CreateDirectoryW(wide, NULL) || hd__sys_failed() == 0)
               ? 0
               : -1;
}

int hd__sys_unlink(int at, const char *path)
{
    ULONG what;
    return set_closing(hd__sys_open_at(at, path, DELETE, 0), &what, sizeof what, DISPOSE_EX,
                       REMOVE | AT_ONCE | REMOVE_READ_ONLY, DISPOSE);
}

int hd__sys_rmdir(const char *path)
{
    return hd__sys_unlink(HD__SYS_HERE, path);
}

/* Writes the file name `path` to `name` without the dots and spaces at its end, which CreateFileW
 * leaves out. ntdll would keep them, and CreateFileW would not find the renamed file later. Returns
 * false with errno if no file can have this name, such as "COM1". */
static bool plain_name(const char *path, WCHAR name[HD__SYS_PATH])
{
    WCHAR whole[HD__SYS_PATH + 3] = L"C:\\", *last = NULL;
    if (!hd__sys_widen(path, whole + 3)) {
        return false;
    }
    DWORD n = GetFullPathNameW(whole, HD__SYS_PATH, name, &last);
    if (n == 0 || n >= HD__SYS_PATH || !last || wcsncmp(name, L"C:\\", 3) != 0) {
        errno = n < HD__SYS_PATH ? EINVAL : ENAMETOOLONG;
        return false;
    }
    memmove(name, last, (wcslen(last) + 1) * sizeof *last);
    return true;
}

int hd__sys_rename_in(int at, const char *old, const char *path)
{
    struct {
        ULONG flags;
        HANDLE directory;
        ULONG bytes;
        WCHAR name[HD__SYS_PATH];
    } to = {.directory = hd__sys_handle(at)};
    if (!plain_name(path, to.name)) {
        return -1;
    }
    to.bytes = (ULONG)(wcslen(to.name) * sizeof *to.name);
    return set_closing(hd__sys_open_at(at, old, DELETE, 0), &to, sizeof to, RENAME_EX,
                       REPLACE | AT_ONCE, RENAME);
}

static int rename_wide(const WCHAR *old, const WCHAR *path)
{
    for (int tries = 0; !MoveFileExW(old, path, MOVEFILE_WRITE_THROUGH); tries++) {
        hd__sys_failed();
        if (tries == MOST_TRIES || !busy()) {
            return -1;
        }
    }
    return 0;
}

int hd__sys_rename(const char *old, const char *path)
{
    WCHAR from[HD__SYS_PATH], to[HD__SYS_PATH];
    return hd__sys_widen(old, from) && hd__sys_widen(path, to) ? rename_wide(from, to) : -1;
}

/* ---------------------------------------------------------------- exchanging
 *
 * Three renames exchange two names: b -> aside, a -> b, aside -> a. `aside` is b's name with
 * ".heed-old" at its end. If the process ends after the first rename, nothing is at b. So a
 * function that looks for b, and finds nothing, first renames `aside` to b. If another process is
 * still at its exchange then, its second rename fails, and it begins the exchange again.
 * If the process ends after the second rename, the next exchange moves `aside` away. */

/* Writes path and `end` to `to`, without a slash between them. Returns false with errno if path is
 * not UTF-8, or if the result is too long. */
static bool path_with(const char *path, const WCHAR *end, WCHAR to[HD__SYS_PATH])
{
    if (!hd__sys_widen(path, to)) {
        return false;
    }
    size_t n = wcslen(to);
    while (n > 1 && (to[n - 1] == L'/' || to[n - 1] == L'\\')) {
        n--;
    }
    if (n + wcslen(end) >= HD__SYS_PATH) {
        errno = ENAMETOOLONG;
        return false;
    }
    wcscpy(to + n, end);
    return true;
}

static bool aside_of(const char *path, WCHAR to[HD__SYS_PATH])
{
    return path_with(path, L".heed-old", to);
}

/* If the caller's last system call did not find path (ENOENT), renames `aside` to path, because an
 * exchange may have been cut off. Returns true if path may be there now, so that the caller tries
 * again. Otherwise returns false. */
static bool mended(int at, const char *path)
{
    WCHAR aside[HD__SYS_PATH], to[HD__SYS_PATH];
    if (at != HD__SYS_HERE || errno != ENOENT || !hd__sys_widen(path, to) ||
        !aside_of(path, aside)) {
        return false;
    }
    bool moved = MoveFileExW(aside, to, MOVEFILE_WRITE_THROUGH);
    return moved || GetFileAttributesW(to) != INVALID_FILE_ATTRIBUTES;
}

/* Renames `to` to `aside`. If there is an `aside` already, first renames the old one to `away`:
 * nothing needs the old one, because `to` exists. Returns 0, or -1 with errno. */
static int move_aside(const WCHAR *to, const WCHAR *aside, const WCHAR *away)
{
    int done = rename_wide(to, aside);
    if (done != 0 && errno == EEXIST && rename_wide(aside, away) == 0) {
        done = rename_wide(to, aside);
    }
    return done;
}

/* Undoes the renames of an exchange after one of them has failed. Returns the errno of the failed
 * rename. `second` is true if the second rename had succeeded. */
static int exchange_undo(const WCHAR *from, const WCHAR *to, const WCHAR *aside, bool second)
{
    int cause = errno;
    if (!second || rename_wide(to, from) == 0) {
        MoveFileExW(aside, to, MOVEFILE_WRITE_THROUGH);
    }
    return cause;
}

/* If the third rename fails with ENOENT, another exchange has moved `aside` away, and this exchange
 * counts as done. */
int hd__sys_exchange(const char *a, const char *b)
{
    WCHAR from[HD__SYS_PATH], to[HD__SYS_PATH], aside[HD__SYS_PATH], away[HD__SYS_PATH];
    bool second;
    if (!hd__sys_widen(a, from) || !hd__sys_widen(b, to) || !aside_of(b, aside) ||
        !path_with(a, L"-old", away)) {
        return errno;
    }
    do {
        while (move_aside(to, aside, away) != 0) {
            if (!mended(HD__SYS_HERE, b)) {
                return errno;
            }
        }
        second = rename_wide(from, to) == 0;
    } while (!second && errno == EEXIST);
    bool third = second && (rename_wide(aside, from) == 0 || errno == ENOENT);
    return third ? 0 : exchange_undo(from, to, aside, second);
}

/* ---------------------------------------------------------------- looking */

static int open_found(int at, const char *path, DWORD access, bool follow)
{
    int fd = hd__sys_open_at(at, path, access, follow ? HD__SYS_FOLLOW : 0);
    return fd < 0 && mended(at, path)
               ? hd__sys_open_at(at, path, access, follow ? HD__SYS_FOLLOW : 0)
               : fd;
}

int hd__sys_stat(int at, const char *path, bool follow, hd__sys_info *info)
{
    int fd = open_found(at, path, FILE_READ_ATTRIBUTES, follow);
    int done = fd < 0 ? -1 : hd__sys_fstat(fd, info);
    hd__sys_drop(fd);
    return done;
}

int hd__sys_open_directory(const char *path, bool follow)
{
    hd__sys_info info;
    int fd = open_found(HD__SYS_HERE, path, GENERIC_READ, follow);
    if (fd < 0 || (hd__sys_fstat(fd, &info) == 0 && info.kind == HD__SYS_DIRECTORY)) {
        return fd;
    }
    hd__sys_drop(fd);
    errno = info.kind == HD__SYS_LINK ? ELOOP : ENOTDIR;
    return -1;
}

/* ---------------------------------------------------------------- the names in a directory */

struct hd__sys_list {
    int fd;
    bool begun;
    const FILE_FULL_DIR_INFO *next; /* NULL: the buffer has no more entries */
    char name[3 * 260];             /* UTF-8; a word of UTF-16 takes at most three bytes */
    _Alignas(FILE_FULL_DIR_INFO) char buffer[1 << 14];
};

hd__sys_list *hd__sys_list_of(int fd)
{
    hd__sys_list *list = malloc(sizeof *list);
    if (list) {
        list->fd = fd;
        list->begun = false;
        list->next = NULL;
    }
    return list;
}

hd__sys_list *hd__sys_list_at(const char *path)
{
    int fd = hd__sys_open_directory(path, true);
    hd__sys_list *list = fd < 0 ? NULL : hd__sys_list_of(fd);
    if (!list) {
        hd__sys_drop(fd);
    }
    return list;
}

int hd__sys_list_fd(hd__sys_list *list)
{
    return list->fd;
}

/* Returns the next entry of the directory. Returns NULL with 0 in *cause at the end, and NULL with
 * an errno in *cause if the directory cannot be read. */
static const FILE_FULL_DIR_INFO *list_step(hd__sys_list *list, int *cause)
{
    if (!list->next) {
        FILE_INFO_BY_HANDLE_CLASS class =
            list->begun ? FileFullDirectoryInfo : FileFullDirectoryRestartInfo;
        list->begun = true;
        if (!GetFileInformationByHandleEx(hd__sys_handle(list->fd), class, list->buffer,
                                          sizeof list->buffer)) {
            *cause = GetLastError() == ERROR_NO_MORE_FILES ? 0 : (hd__sys_failed(), errno);
            return NULL;
        }
        list->next = (const FILE_FULL_DIR_INFO *)list->buffer;
    }
    const FILE_FULL_DIR_INFO *each = list->next;
    list->next = each->NextEntryOffset == 0
                     ? NULL
                     : (const FILE_FULL_DIR_INFO *)((const char *)each + each->NextEntryOffset);
    return each;
}

static bool is_itself(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

const char *hd__sys_list_next(hd__sys_list *list, int *cause)
{
    const FILE_FULL_DIR_INFO *each;
    do {
        each = list_step(list, cause);
        int n = !each ? 0
                      : WideCharToMultiByte(CP_UTF8, 0, each->FileName,
                                            (int)(each->FileNameLength / sizeof(WCHAR)), list->name,
                                            sizeof list->name - 1, NULL, NULL);
        list->name[n] = '\0';
    } while (each && is_itself(list->name));
    return each ? list->name : NULL;
}

void hd__sys_list_end(hd__sys_list *list)
{
    hd__sys_drop(list->fd);
    free(list);
}
