/* shared.h - those functions of system.h that the libraries in libs/ also call. */
#ifndef HEED_BASE_SHARED_H
#define HEED_BASE_SHARED_H

#include "base/sibling.h"

/* The number of CPUs that the process may run on; the machine's number if the system has no
 * affinity; less than 1 if it is unknown. */
HD__SIBLING int hd__sys_affinity_cpus(void);

/* Between enter and leave, the calling thread reads and writes numbers with a decimal point,
 * whatever the program's locale is. leave gets the result of enter. If memory runs out, enter
 * returns NULL and the locale stays. */
HD__SIBLING void *hd__sys_locale_enter(void);
HD__SIBLING void hd__sys_locale_leave(void *before);

/* Describes the file at path, in the open directory `at` or in HD__SYS_HERE. If path is a link and
 * not `follow`, describes the link. Returns 0, or -1 with errno. */
enum { HD__SYS_HERE = -2 }; /* the working directory; -1 is the result of a failed open */
enum { HD__SYS_FILE, HD__SYS_DIRECTORY, HD__SYS_LINK, HD__SYS_SPECIAL };

typedef struct hd__sys_info {
    int kind;
    unsigned mode; /* its permissions, as chmod takes them */
    bool own;      /* the process's user owns it */
    int64_t size;
    uint64_t device, number; /* together they identify the file */
} hd__sys_info;

HD__SIBLING int hd__sys_stat(int at, const char *path, bool follow, hd__sys_info *info);

#endif
