/* shared.h - what the libraries in libs/ ask of the system, beside libheed itself (system.h). */
#ifndef HEED_BASE_SHARED_H
#define HEED_BASE_SHARED_H

#include "base/sibling.h"

/* How many CPUs the process may run on, or how many the machine has where the system has no
 * affinity; less than 1 if it does not say. */
HD__SIBLING int hd__sys_affinity_cpus(void);

/* Between enter and leave, the calling thread writes and reads numbers with a point, whatever the
 * program's locale is. Enter returns what leave needs; if memory runs out, it returns NULL, and the
 * locale stays. */
HD__SIBLING void *hd__sys_locale_enter(void);
HD__SIBLING void hd__sys_locale_leave(void *before);

/* `at` is an open directory in which path lies, or HD__SYS_HERE. If not `follow`, a link is not
 * followed. Returns 0, or -1 with errno on failure. */
enum { HD__SYS_HERE = -2 }; /* -1 is one that could not be opened */
enum { HD__SYS_FILE, HD__SYS_DIRECTORY, HD__SYS_LINK, HD__SYS_SPECIAL };

typedef struct hd__sys_info {
    int kind;
    unsigned mode; /* who may read and write it, as chmod takes it */
    bool own;      /* the process's user owns it */
    int64_t size;
    uint64_t device, number; /* the two together tell it from all others */
} hd__sys_info;

HD__SIBLING int hd__sys_stat(int at, const char *path, bool follow, hd__sys_info *info);

#endif
