/* shared.h - those functions of system.h that the libraries in libs/ also call. */
#ifndef HEED_BASE_SHARED_H
#define HEED_BASE_SHARED_H

#include "base/sibling.h"

/* Returns the number of CPUs that the process may run on, or the machine's number if the system has
 * no CPU affinity. Returns less than 1 if the number is unknown. */
HD__SIBLING int hd__sys_affinity_cpus(void);

/* Between enter and leave, the calling thread reads and writes numbers with a decimal point,
 * whatever the program's locale is. Pass the result of enter to leave. If memory runs out, enter
 * returns NULL and does not change the locale. */
HD__SIBLING void *hd__sys_locale_enter(void);
HD__SIBLING void hd__sys_locale_leave(void *before);

/* Writes a description of the file at path into *info. A relative path begins in the open directory
 * `at`, or in the working directory if `at` is HD__SYS_HERE. If path is a symbolic link, the
 * description is of the link itself, or of its target if `follow`. Returns 0, or -1 with errno. */
enum { HD__SYS_HERE = -2 }; /* not -1, the result of a failed open */
enum { HD__SYS_FILE, HD__SYS_DIRECTORY, HD__SYS_LINK, HD__SYS_SPECIAL };

typedef struct hd__sys_info {
    int kind;
    unsigned mode; /* the permission bits, as chmod takes them */
    bool own;      /* the process's user owns the file */
    int64_t size;
    uint64_t device, number; /* together they identify the file */
} hd__sys_info;

HD__SIBLING int hd__sys_stat(int at, const char *path, bool follow, hd__sys_info *info);

#endif
