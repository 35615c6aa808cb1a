/* files.h - files for tests: a folder for a program's run, and reading and writing whole files. */
#ifndef HEED_TESTS_FILES_H
#define HEED_TESTS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the program's folder, in memory where that is possible: a sync costs nothing there. False,
 * with a line on stderr, when it cannot be made. */
bool folder_make(void);
/* Removes it and all files in it. */
void folder_remove(void);

const char *temporary(const char *name); /* a path in the folder; good until eight later calls */
int files_in_folder(void);
int files_in(const char *folder); /* hidden ones too; -1: there is no such folder */

/* These fail the running test when the file cannot be read or written. */
void write_file(const char *path, const void *bytes, size_t n);
const char *file_of(const char *name, const void *bytes, size_t n); /* in the folder: its path */
/* Writes n bytes at `at`. What nobody has written is a hole, which reads as zeros. */
void write_file_at(const char *path, int64_t at, const void *bytes, size_t n);
char *read_file(const char *path, size_t *n);       /* ended by a zero; free() */
void ck_file(const char *path, const char *wanted); /* holds exactly this text */
/* From here on no file of the process grows beyond n bytes, as on a full disk; 0: no limit. */
void limit_file_size(size_t n);

#endif
