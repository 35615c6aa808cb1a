/* file_faults_internal.h - declarations that the files of the library of file_faults.h share. */
#ifndef HEED_TESTS_FILE_FAULTS_INTERNAL_H
#define HEED_TESTS_FILE_FAULTS_INTERNAL_H

#define _GNU_SOURCE

#include "support/file_faults.h"

#ifdef __linux__

#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>

#define SEEN __attribute__((visibility("default")))

/* Meson requests 64-bit file sizes everywhere; with glibc these calls have other names. */
#ifdef __GLIBC__
#define WIDE(name) name "64"
#else
#define WIDE(name) name
#endif

/* Looks up the C library's function that this one replaces. */
#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real) {                                                                                   \
        *(void **)&real = dlsym(RTLD_NEXT, name);                                                  \
    }

/* ---------------------------------------------------------------- counting and failing */

/* Notes a call; returns whether it fails, with errno set. *part: it may do 1 byte only. */
bool fault_part(call_kind kind, const char *call, size_t *part);
bool fault(call_kind kind, const char *call);
/* The process dies before the call that would change something. */
void changes_something(void);
/* Returns whether the event is the one that fails. */
bool event(char kind, ino_t inode);
/* Whether a read or a write is interrupted; if not, *n may become less. */
bool interrupted(size_t *n);

/* ---------------------------------------------------------------- what is durable */

enum { FILES = 1024 };
extern bool written[FILES]; /* by file descriptor: since it was opened */

void durable_begin(void); /* from now on everything is durable */
bool real_stat(int at, const char *path, int flags, struct stat *st);
bool real_fstat(int fd, struct stat *st);
/* The file was written to, or a name was made in the directory. */
void stain(const struct stat *st, bool directory);
void stain_parent(int at, const char *path);
void clean(const struct stat *st); /* it was synced */
/* A file or a directory is about to get its final name: everything in it must be synced. */
void check_synced(const char *call, int at, const char *path);

/* ---------------------------------------------------------------- files */

int open_file(int at, const char *path, int flags, mode_t mode);
FILE *stream_new(int fd, const char *mode);

#endif
#endif
