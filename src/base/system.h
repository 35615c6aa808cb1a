/* system.h - the system's calls for files, in one place.
 *
 * All sources of heed open, read, write and name files through these functions and no others. A
 * call that a signal has interrupted (EINTR) is made again, because the caller's program may handle
 * signals without SA_RESTART. Two calls are not made again:
 *   close: the file is closed already, on Linux and most systems, and its number may belong to
 *     another thread's file by then.
 *   hd__exchange: a second exchange would undo the first. Its caller looks what the names are.
 * Everything else is as POSIX says: -1 or NULL with errno on failure. All files that are opened are
 * closed when the program executes another one.
 *
 * It uses nothing of heed, so a library beside libheed may compile system.c in. */
#ifndef HEED_BASE_SYSTEM_H
#define HEED_BASE_SYSTEM_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---------------------------------------------------------------- files */

int hd__sys_open(const char *path, int flags);
int hd__sys_openat(int at, const char *path, int flags); /* a new file may be read by all */
/* Both read and write at most n bytes, and may do a part. */
ssize_t hd__sys_read(int fd, void *bytes, size_t n);
ssize_t hd__sys_pread(int fd, void *bytes, size_t n, int64_t at);
ssize_t hd__sys_write(int fd, const void *bytes, size_t n);
/* Returns 0 or an errno. A file system may keep what was written until then, and tell only here
 * that it is lost. So whoever has written to a file looks at the result; for one that was only read
 * nothing can be lost. An interruption is no failure: what was synced before stays so. */
int hd__sys_close(int fd);
/* Closes what nothing can be lost of: it was only read, or the failure of a write is known. */
void hd__sys_drop(int fd);
/* Makes what was written, or the names in a directory, durable. Returns 0 or an errno. A file
 * system that needs no sync for directories is no failure. */
int hd__sys_sync(int fd);

/* The first n bytes of an open file, n > 0, as the process's own memory. Writing to it changes no
 * file. Returns NULL with errno on failure. */
void *hd__sys_map(int fd, int64_t n, bool writable);
void hd__sys_unmap(void *bytes, size_t n);

/* ---------------------------------------------------------------- names */

int hd__sys_stat(const char *path, struct stat *st);
int hd__sys_lstat(const char *path, struct stat *st);
int hd__sys_fstat(int fd, struct stat *st);
int hd__sys_statat(int at, const char *path, struct stat *st, int flags);
int hd__sys_chmodat(int at, const char *path, mode_t mode);
int hd__sys_accessat(int at, const char *path, int mode); /* for the effective user */
int hd__sys_mkdir(const char *path);
int hd__sys_rename(const char *old, const char *path);
int hd__sys_renameat(int at, const char *old, const char *path); /* both in the directory `at` */
int hd__sys_unlinkat(int at, const char *path);
int hd__sys_rmdir(const char *path);

/* ---------------------------------------------------------------- directories */

/* Opens what the open directory fd holds. On success closedir closes fd, too; on failure fd stays
 * open. */
DIR *hd__sys_fdopendir(int fd);
DIR *hd__sys_opendir(const char *path);
/* The next name, without "." and ".."; NULL with 0 in *cause at the end, and with an errno if the
 * directory cannot be read. */
const char *hd__sys_readdir(DIR *dir, int *cause);

#endif
