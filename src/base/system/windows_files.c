/* windows_files.c - the functions of system.h for files, on Windows.
 *
 * An open file is a handle, which fits into an int: Windows uses 32 bits of it, and -1 is no
 * handle. Paths are UTF-8. ntdll opens a name in an open directory: it takes the handle of the
 * directory, so that a rename of the directory makes no difference.
 *
 * Files have no modes on Windows, which decides itself who may remove a file. hd__sys_sync does
 * nothing for a directory. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/windows_files.h"

/* ---------------------------------------------------------------- errors */

/* Sets errno to the meaning of a Windows error. Returns -1. */
static int fail_with(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_PATHNAME:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH: errno = ENOENT; break;
    case ERROR_INVALID_NAME: errno = EINVAL; break;
    case ERROR_ACCESS_DENIED: errno = EACCES; break;
    case ERROR_USER_MAPPED_FILE:
    case ERROR_SHARING_VIOLATION: errno = EBUSY; break;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS: errno = EEXIST; break;
    case ERROR_DIR_NOT_EMPTY: errno = ENOTEMPTY; break;
    case ERROR_DIRECTORY: errno = ENOTDIR; break;
    case ERROR_WRITE_PROTECT: errno = EROFS; break;
    case ERROR_DISK_FULL: errno = ENOSPC; break;
    case ERROR_TOO_MANY_OPEN_FILES: errno = EMFILE; break;
    case ERROR_INSUFFICIENT_BUFFER:
    case ERROR_FILENAME_EXCED_RANGE: errno = ENAMETOOLONG; break;
    case ERROR_NO_UNICODE_TRANSLATION: errno = EILSEQ; break;
    case ERROR_COMMITMENT_LIMIT:
    case ERROR_NOT_ENOUGH_MEMORY: errno = ENOMEM; break;
    default: errno = EIO;
    }
    return -1;
}

int hd__sys_failed(void)
{
    return fail_with(GetLastError());
}

int hd__sys_status_failed(NTSTATUS status)
{
    return fail_with(HD__IN_NTDLL(RtlNtStatusToDosError)(status));
}

static int fd_of(HANDLE handle)
{
    return handle == INVALID_HANDLE_VALUE ? hd__sys_failed() : (int)(intptr_t)handle;
}

/* ---------------------------------------------------------------- opening */

enum { SHARED = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

bool hd__sys_widen(const char *path, WCHAR wide[HD__SYS_PATH])
{
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, HD__SYS_PATH);
    if (n == 0) {
        hd__sys_failed();
    }
    return n > 0;
}

static int open_in(int at, WCHAR *name, DWORD access, int how)
{
    HANDLE handle;
    IO_STATUS_BLOCK done;
    size_t n = wcscmp(name, L".") == 0 ? 0 : wcslen(name); /* an empty name opens `at` */
    UNICODE_STRING string = {(USHORT)(n * sizeof *name), (USHORT)(n * sizeof *name), name};
    OBJECT_ATTRIBUTES object = {.Length = sizeof object,
                                .RootDirectory = hd__sys_handle(at),
                                .ObjectName = &string,
                                .Attributes = OBJ_CASE_INSENSITIVE};
    NTSTATUS status = HD__IN_NTDLL(NtCreateFile)(
        &handle, access | SYNCHRONIZE, &object, &done, NULL, FILE_ATTRIBUTE_NORMAL, SHARED,
        how & HD__SYS_NEW ? FILE_CREATE : FILE_OPEN,
        FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT |
            (how & HD__SYS_FOLLOW ? 0 : FILE_OPEN_REPARSE_POINT),
        NULL, 0);
    return status < 0 ? hd__sys_status_failed(status) : fd_of(handle);
}

static int open_here(const WCHAR *path, DWORD access, int how)
{
    DWORD flags =
        FILE_FLAG_BACKUP_SEMANTICS | (how & HD__SYS_FOLLOW ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
    return fd_of(CreateFileW(path, access, SHARED, NULL,
                             how & HD__SYS_NEW ? CREATE_NEW : OPEN_EXISTING, flags, NULL));
}

int hd__sys_open_at(int at, const char *path, DWORD access, int how)
{
    WCHAR wide[HD__SYS_PATH];
    return !hd__sys_widen(path, wide) ? -1
           : at == HD__SYS_HERE       ? open_here(wide, access, how)
                                      : open_in(at, wide, access, how);
}

int hd__sys_open(int at, const char *path)
{
    return hd__sys_open_at(at, path, GENERIC_READ, HD__SYS_FOLLOW);
}

int hd__sys_create(int at, const char *path)
{
    return hd__sys_open_at(at, path, GENERIC_WRITE | FILE_READ_ATTRIBUTES, HD__SYS_NEW);
}

/* Returns the number of bytes that one call transfers: n, but at most 2^30, because a DWORD counts
 * them. */
static DWORD at_once(size_t n)
{
    return n < 1u << 30 ? (DWORD)n : 1u << 30;
}

ptrdiff_t hd__sys_pread(int fd, void *bytes, size_t n, int64_t at)
{
    DWORD got = 0;
    OVERLAPPED from = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    if (!ReadFile(hd__sys_handle(fd), bytes, at_once(n), &got, &from) &&
        GetLastError() != ERROR_HANDLE_EOF) {
        return hd__sys_failed();
    }
    return (ptrdiff_t)got;
}

ptrdiff_t hd__sys_write(int fd, const void *bytes, size_t n)
{
    DWORD put;
    return WriteFile(hd__sys_handle(fd), bytes, at_once(n), &put, NULL) ? (ptrdiff_t)put
                                                                        : hd__sys_failed();
}

/* A directory's names need no sync: MOVEFILE_WRITE_THROUGH, or the journal of the file system, has
 * made them durable. */
int hd__sys_sync(int fd)
{
    hd__sys_info info;
    bool synced = hd__sys_fstat(fd, &info) == 0 &&
                  (info.kind == HD__SYS_DIRECTORY || FlushFileBuffers(hd__sys_handle(fd)) ||
                   hd__sys_failed() == 0);
    return synced ? 0 : errno;
}

void *hd__sys_map(int fd, int64_t n, bool writable)
{
    if (n > PTRDIFF_MAX) { /* on a machine of 32 bits */
        errno = EFBIG;
        return NULL;
    }
    HANDLE mapping = CreateFileMappingW(hd__sys_handle(fd), NULL,
                                        writable ? PAGE_WRITECOPY : PAGE_READONLY, 0, 0, NULL);
    void *bytes =
        mapping ? MapViewOfFile(mapping, writable ? FILE_MAP_COPY : FILE_MAP_READ, 0, 0, (size_t)n)
                : NULL;
    if (!bytes) {
        hd__sys_failed();
    }
    if (mapping) {
        CloseHandle(mapping);
    }
    return bytes;
}

/* ---------------------------------------------------------------- locks
 *
 * A file is locked while a mutex named after the file exists. The mutex ends with its last handle,
 * and so with the process. LockFile cannot be used, because it locks no directories. */

typedef struct file_lock {
    struct file_lock *next;
    int fd;
    HANDLE mutex;
} file_lock;

static file_lock *file_locks;
static pthread_mutex_t file_locks_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Makes the mutex that locks fd. Returns 0 or an errno: EWOULDBLOCK if the mutex exists already.
 * Windows denies access to a mutex of another user, which counts as existing, too. */
static int mutex_make(int fd, HANDLE *mutex)
{
    hd__sys_info info;
    char name[64];
    if (hd__sys_fstat(fd, &info) != 0) {
        return errno;
    }
    snprintf(name, sizeof name, "Global\\heed-%" PRIx64 "-%" PRIx64, info.device, info.number);
    *mutex = CreateMutexA(NULL, FALSE, name);
    DWORD error = GetLastError();
    if (*mutex && error != ERROR_ALREADY_EXISTS) {
        return 0;
    }
    if (*mutex) {
        CloseHandle(*mutex);
    }
    return *mutex || error == ERROR_ACCESS_DENIED ? EWOULDBLOCK : (fail_with(error), errno);
}

int hd__sys_lock(int fd)
{
    file_lock *made = malloc(sizeof *made);
    int cause = made ? mutex_make(fd, &made->mutex) : ENOMEM;
    if (cause != 0) {
        free(made);
        return cause;
    }
    HD__LOCKED(file_locks_mutex);
    made->fd = fd;
    made->next = file_locks;
    file_locks = made;
    return 0;
}

static void unlock(int fd)
{
    HD__LOCKED(file_locks_mutex);
    for (file_lock **at = &file_locks, *each; (each = *at);) {
        if (each->fd == fd) {
            *at = each->next;
            CloseHandle(each->mutex);
            free(each);
        } else {
            at = &each->next;
        }
    }
}

int hd__sys_close(int fd)
{
    unlock(fd);
    return CloseHandle(hd__sys_handle(fd)) ? 0 : (hd__sys_failed(), errno);
}

void hd__sys_drop(int fd)
{
    if (fd >= 0) {
        unlock(fd);
        CloseHandle(hd__sys_handle(fd));
    }
}

/* ---------------------------------------------------------------- names */

/* Symbolic links and junctions are links. Other reparse points are files whose bytes lie elsewhere,
 * such as those of OneDrive. */
static bool is_link(int fd, DWORD attributes)
{
    FILE_ATTRIBUTE_TAG_INFO tag;
    return attributes & FILE_ATTRIBUTE_REPARSE_POINT &&
           GetFileInformationByHandleEx(hd__sys_handle(fd), FileAttributeTagInfo, &tag,
                                        sizeof tag) &&
           (tag.ReparseTag == IO_REPARSE_TAG_SYMLINK ||
            tag.ReparseTag == IO_REPARSE_TAG_MOUNT_POINT);
}

/* Windows itself decides who may remove a file, so each file counts as the user's own. */
int hd__sys_fstat(int fd, hd__sys_info *info)
{
    BY_HANDLE_FILE_INFORMATION is;
    *info = (hd__sys_info){.kind = HD__SYS_SPECIAL, .mode = 0666, .own = true};
    if (GetFileType(hd__sys_handle(fd)) != FILE_TYPE_DISK) {
        return 0;
    }
    if (!GetFileInformationByHandle(hd__sys_handle(fd), &is)) {
        return hd__sys_failed();
    }
    bool directory = is.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    info->kind = is_link(fd, is.dwFileAttributes) ? HD__SYS_LINK
                 : directory                      ? HD__SYS_DIRECTORY
                                                  : HD__SYS_FILE;
    info->mode = directory ? 0777 : 0666;
    info->size = (int64_t)is.nFileSizeHigh << 32 | is.nFileSizeLow;
    info->device = is.dwVolumeSerialNumber;
    info->number = (uint64_t)is.nFileIndexHigh << 32 | is.nFileIndexLow;
    return 0;
}

int hd__sys_chmod(int at, const char *path, unsigned mode)
{
    (void)at, (void)path, (void)mode;
    errno = ENOSYS;
    return -1;
}

int hd__sys_may_remove_in(int fd)
{
    (void)fd;
    return 0;
}
