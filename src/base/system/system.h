/* system.h - all functions through which heed uses the operating system.
 *
 * The differences between systems stay in this folder, whose functions begin with hd__sys_. All
 * other sources need only C11 and POSIX threads (pthread_..., through threads.h), which exist
 * wherever GCC or Clang does. posix.c keeps to POSIX.1-2008, and platform.c has the functions that
 * need more. Windows has windows.c, windows_files.c and windows_names.c instead. To port heed to
 * another system, replace these files; they call no other part of heed.
 *
 * The header is long, because it lists everything that a system must offer. shared.h declares the
 * functions that the libraries in libs/ also call. threads.h and cpus.h are the same for all
 * systems. */
#ifndef HEED_BASE_SYSTEM_H
#define HEED_BASE_SYSTEM_H

#include "base/system/shared.h"
#include "base/system/threads.h"

/* ---------------------------------------------------------------- threads, time and CPUs */

/* Starts a thread that blocks all signals, so that the program's own threads handle them. Returns
 * false if the thread cannot be started. */
bool hd__sys_thread_start(pthread_t *thread, void *(*f)(void *arg), void *arg);

/* Returns the time of a monotonic clock in nanoseconds. */
int64_t hd__sys_nanoseconds(void);

long hd__sys_process(void); /* the process's id */

/* Returns the bytes of a core's second-level data cache, as the operating system reports them; less
 * than 1 if it does not. */
long hd__sys_second_cache_told(void);

/* ---------------------------------------------------------------- memory */

/* Allocates a block like malloc, at a multiple of `align`: a power of two, at least the size of a
 * pointer. Returns NULL if memory runs out. */
void *hd__sys_block_new(size_t align, size_t bytes);
void hd__sys_block_free(void *p);

/* Maps zeroed pages at a multiple of `align`, a power of two. `bytes` is a multiple of the page
 * size. If `align` exceeds the page size, asks the system for huge pages, which make the first
 * touch of the memory faster. Returns NULL if memory runs out. To free the pages, give all of them
 * to hd__sys_unmap in one call. */
void *hd__sys_pages_map(size_t bytes, size_t align);
size_t hd__sys_page_bytes(void);
/* Returns the memory of the pages to the system, but keeps their addresses. Reads give undefined
 * bytes afterwards. Returns false if the system does not take the memory back. */
bool hd__sys_pages_drop(void *p, size_t bytes);

/* ---------------------------------------------------------------- error texts */

/* Returns the system's text for the errno `cause`, possibly in `text`. HD__WHY brings its own
 * buffer, for messages: hd_fail(HD_IO, "...: %s", HD__WHY(errno)). */
enum { HD__WHY_TEXT = 128 };
const char *hd__sys_why(int cause, char text[HD__WHY_TEXT]);
#define HD__WHY(cause) hd__sys_why((cause), (char[HD__WHY_TEXT]){0})

/* ---------------------------------------------------------------- files
 *
 * All sources of heed open, read, write and rename files only through these functions. If a signal
 * interrupts a call (EINTR), the call is repeated, because the program may handle signals without
 * SA_RESTART. Two calls are not repeated:
 *   close: on Linux and most systems the file is closed already, and another thread may have opened
 *     a file with the same number since.
 *   exchange: a second exchange would undo the first, so the caller looks at the names instead.
 * Unless a comment says otherwise, a function returns -1 or NULL with errno on failure. Open files
 * are closed when the program executes another program. A relative path begins in the open
 * directory `at`, or in the working directory if `at` is HD__SYS_HERE. */

int hd__sys_open(int at, const char *path);   /* opens for reading; never waits for a FIFO */
int hd__sys_create(int at, const char *path); /* creates a file, which must be new, for writing */
/* Opens a directory. If `follow` is false, a symbolic link to a directory is an error. */
int hd__sys_open_directory(const char *path, bool follow);

/* hd__sys_pread reads from byte `at` on. Both functions transfer at most n bytes, and return their
 * number, which may be smaller than n. */
ptrdiff_t hd__sys_pread(int fd, void *bytes, size_t n, int64_t at);
ptrdiff_t hd__sys_write(int fd, const void *bytes, size_t n);
/* Closes a file that was written. Returns 0 or an errno. A file system may report only here that
 * written bytes are lost, so the caller checks the result. An interruption (EINTR) counts as
 * success: the caller has synced the bytes before. */
int hd__sys_close(int fd);
/* Closes a file that was only read, or whose write has failed already. Does nothing for -1, the
 * result of a failed open. */
void hd__sys_drop(int fd);
/* Makes a file's bytes, or the names in a directory, durable. Also empties the drive's own cache,
 * where the system can. Returns 0 or an errno. EINVAL counts as success: file systems that do not
 * sync directories return it. */
int hd__sys_sync(int fd);
/* Locks an open file or directory without waiting. The lock ends when the file is closed, or when
 * the process ends or is killed. Returns 0 or an errno: EWOULDBLOCK if it is locked already. */
int hd__sys_lock(int fd);

/* Maps the first n bytes of an open file, n > 0, as private memory. Returns its address, or NULL
 * with errno. The memory can be written if `writable`, but writes do not change the file.
 * hd__sys_unmap frees it. */
void *hd__sys_map(int fd, int64_t n, bool writable);
void hd__sys_unmap(void *bytes, size_t n); /* also unmaps pages of hd__sys_pages_map */

/* ---------------------------------------------------------------- names */

/* The characters between the names in a path */
#ifdef _WIN32
#define HD__SLASHES "/\\"
#else
#define HD__SLASHES "/"
#endif

static inline bool hd__sys_is_slash(char c)
{
    return c == HD__SLASHES[0] || c == HD__SLASHES[sizeof HD__SLASHES - 2];
}

/* Returns the length of the drive's name that begins the path; 0 without one. On Windows this is 2
 * for "C:\a", and for "C:a", which begins in the working directory of drive C. */
static inline size_t hd__sys_drive_length(const char *path)
{
#ifdef _WIN32
    return path[0] && path[1] == ':' ? 2 : 0;
#else
    (void)path;
    return 0;
#endif
}

int hd__sys_fstat(int fd, hd__sys_info *info);
int hd__sys_chmod(int at, const char *path, unsigned mode);
/* Returns 0 if the mode of the directory fd allows removing files in it, and -1 with errno
 * otherwise. */
int hd__sys_may_remove_in(int fd);
int hd__sys_mkdir(const char *path);
/* Renames the file or directory `old` to `path`. On POSIX, a file or an empty directory at path is
 * replaced; on Windows, the call fails if anything is there. */
int hd__sys_rename(const char *old, const char *path);
/* Renames the file `old` to `path`, and replaces a file that is there. Both names lie in the open
 * directory `at`, which must not be HD__SYS_HERE. */
int hd__sys_rename_in(int at, const char *old, const char *path);
int hd__sys_unlink(int at, const char *path);
int hd__sys_rmdir(const char *path);
/* Exchanges the files at two paths in one step; Windows needs three (windows_names.c). Returns 0 or
 * an errno: ENOSYS, EINVAL or ENOTSUP if the system or the file system cannot do it. After EINTR
 * the exchange may have happened; after any other errno nothing has changed. */
int hd__sys_exchange(const char *a, const char *b);

/* Lists the names in a directory. hd__sys_list_of takes over the open directory fd, and
 * hd__sys_list_end closes it. If hd__sys_list_of fails, fd stays open. */
typedef struct hd__sys_list hd__sys_list;

hd__sys_list *hd__sys_list_of(int fd);
hd__sys_list *hd__sys_list_at(const char *path);
int hd__sys_list_fd(hd__sys_list *list); /* returns the open directory */
/* Returns the next name; skips "." and "..". Returns NULL with 0 in *cause at the end, and NULL
 * with an errno in *cause if the directory cannot be read. */
const char *hd__sys_list_next(hd__sys_list *list, int *cause);
void hd__sys_list_end(hd__sys_list *list);

#endif
