/* system.h - what heed asks of the system, in one place.
 *
 * What differs between systems stays in this folder, and its functions begin with hd__sys_. All
 * other sources are C11, and call POSIX threads (pthread_), which threads.h alone includes: every
 * system that GCC or Clang compiles for has them. posix.c keeps to POSIX.1-2008, and platform.c has
 * what systems offer beyond it. For another system, write another file in place of these two. They
 * use nothing of heed.
 *
 * The header has many functions, and stays one: it is the list of what every system has to offer.
 * shared.h has those that the libraries in libs/ call, too. threads.h and cpus.h are the same for
 * all systems. */
#ifndef HEED_BASE_SYSTEM_H
#define HEED_BASE_SYSTEM_H

#include "base/system/shared.h"
#include "base/system/threads.h"

/* ---------------------------------------------------------------- threads, time and CPUs */

/* Starts a thread that gets no signals: those stay with the program's own threads. */
bool hd__sys_thread_start(pthread_t *thread, void *(*f)(void *arg), void *arg);

/* A clock that only goes forward. */
int64_t hd__sys_nanoseconds(void);

long hd__sys_process(void); /* the number of this process */

/* The bytes of a core's second-level data cache; less than 1 if the system does not say. */
long hd__sys_second_cache_told(void);

/* ---------------------------------------------------------------- memory */

/* A block at a multiple of `align`, which is a power of two and not below the size of a pointer, as
 * malloc gives it; NULL if there is none. */
void *hd__sys_block_new(size_t align, size_t bytes);
void hd__sys_block_free(void *p);

/* Pages at a multiple of `align`, which is a power of two. They are zero. `bytes` is a multiple of
 * a page's. If `align` is more than that, the system is asked for huge pages, which make the first
 * touch of the memory faster. NULL if there are none. hd__sys_unmap gives them back, all of one
 * map. */
void *hd__sys_pages_map(size_t bytes, size_t align);
size_t hd__sys_page_bytes(void);
/* Gives back what the pages hold, but keeps the addresses: what a read finds there afterwards is
 * not defined. Returns false if the system keeps the pages. */
bool hd__sys_pages_drop(void *p, size_t bytes);

/* ---------------------------------------------------------------- words */

/* The system's words for an errno, for a message: hd_fail(HD_IO, "...: %s", HD__WHY(errno)) */
enum { HD__WHY_TEXT = 128 };
const char *hd__sys_why(int cause, char text[HD__WHY_TEXT]);
#define HD__WHY(cause) hd__sys_why((cause), (char[HD__WHY_TEXT]){0})

/* ---------------------------------------------------------------- files
 *
 * All sources of heed open, read, write and name files through these functions and no others. A
 * signal may interrupt a call (EINTR). The call is then made again, because the caller's program
 * may handle signals without SA_RESTART. Two calls are not made again:
 *   close: on Linux and most systems the file is closed already. Another thread may have opened a
 *     file since, which has the same number.
 *   exchange: a second exchange would undo the first. Its caller looks at the names.
 * Where nothing else is said, a function returns -1 or NULL with errno on failure. All files that
 * are opened are closed when the program executes another one. `at` is an open directory in which
 * path lies, or HD__SYS_HERE. */

int hd__sys_open(int at, const char *path);   /* for reading, and never waits */
int hd__sys_create(int at, const char *path); /* a new file for writing, which all may read */
/* Opens a directory. If not `follow`, path must not be a link to one. */
int hd__sys_open_directory(const char *path, bool follow);

/* These read and write at most n bytes, and may do a part. */
ptrdiff_t hd__sys_pread(int fd, void *bytes, size_t n, int64_t at);
ptrdiff_t hd__sys_write(int fd, const void *bytes, size_t n);
/* Returns 0 or an errno. A file system may keep what was written until then, and tell only here
 * that it is lost. So whoever has written to a file looks at the result; for one that was only read
 * nothing can be lost. An interruption is no failure: what was synced before stays so. */
int hd__sys_close(int fd);
/* Closes what nothing can be lost of: it was only read, or the failure of a write is known. There
 * is nothing to close of what could not be opened, -1. */
void hd__sys_drop(int fd);
/* Makes what was written, or the names in a directory, durable, through the cache of the drive too.
 * Returns 0 or an errno. A file system that needs no sync for directories is no failure. */
int hd__sys_sync(int fd);
/* Locks an open file or directory without waiting. The lock ends when the file is closed, also by a
 * process that is killed. Returns 0, or an errno: EWOULDBLOCK if another one has it. */
int hd__sys_lock(int fd);

/* The first n bytes of an open file, n > 0, as the process's own memory. Writing to it changes no
 * file. */
void *hd__sys_map(int fd, int64_t n, bool writable);
void hd__sys_unmap(void *bytes, size_t n); /* or pages of hd__sys_pages_map */

/* ---------------------------------------------------------------- names */

int hd__sys_fstat(int fd, hd__sys_info *info);
int hd__sys_chmod(int at, const char *path, unsigned mode);
int hd__sys_may_remove_in(int fd); /* from the open directory fd, by its mode */
int hd__sys_mkdir(const char *path);
int hd__sys_rename(const char *old, const char *path);
int hd__sys_rename_in(int at, const char *old, const char *path); /* both in the directory */
int hd__sys_unlink(int at, const char *path);
int hd__sys_rmdir(const char *path);
/* Exchanges what two paths name, in one step. Returns 0, or an errno, with which nothing changed:
 * ENOSYS, EINVAL or ENOTSUP if the system or the file system cannot do it. */
int hd__sys_exchange(const char *a, const char *b);

/* The names in a directory. list_of takes the open directory fd, which list_end then closes; if it
 * fails, fd stays open. */
typedef struct hd__sys_list hd__sys_list;

hd__sys_list *hd__sys_list_of(int fd);
hd__sys_list *hd__sys_list_at(const char *path);
int hd__sys_list_fd(hd__sys_list *list); /* the open directory */
/* The next name, without "." and ".."; NULL with 0 in *cause at the end, and with an errno if the
 * directory cannot be read. */
const char *hd__sys_list_next(hd__sys_list *list, int *cause);
void hd__sys_list_end(hd__sys_list *list);

#endif
