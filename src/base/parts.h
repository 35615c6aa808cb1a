/* parts.h - what the files of base offer to each other, and to no other layer. */
#ifndef HEED_BASE_PARTS_H
#define HEED_BASE_PARTS_H

#include "base/base_internal.h"

enum { HD__MAX_THREADS = 1024 };

/* Takes the thread count from HEED_THREADS or the CPUs. If HEED_THREADS is wrong, writes a message
 * into `wrong`. */
void hd__pool_start(char *wrong, size_t size);

/* Ends and joins the pool's workers; does nothing while a call is using them. */
void hd__pool_stop(void);

/* Gives the free blocks that the calling thread keeps to where all threads find them. */
void hd__cache_leave(void);
void hd__cache_fork_prepare(void); /* around a fork, in both processes */
void hd__cache_fork_done(void);

void hd__count_system_alloc(void);

/* The heap (heap.c), for blocks above 1 KiB. They are aligned to HD__HEAP_LINE, and the last 16
 * bytes before a block belong to the caller. NULL: out of memory. */
enum { HD__HEAP_LINE = 64 };
void *hd__heap_alloc(size_t size);
void hd__heap_free(void *p);
void hd__heap_release(void); /* gives free memory to the system */
void hd__heap_sizes(size_t *mapped, size_t *used, size_t *kept);
void hd__heap_fork_prepare(void);
void hd__heap_fork_done(void);

/* The calling thread ends: adds what it counted to the total. */
void hd__count_thread_end(void);
void hd__count_fork_prepare(void); /* around a fork, in both processes */
void hd__count_fork_done(void);

/* The number of CPUs that the process may use by its affinity and its cgroup quota, from 1 to
 * HD__MAX_THREADS. */
int hd__cpus_allowed(void);

/* The least CPU quota, rounded up, of the cgroups that the file `list` names (as /proc/self/cgroup
 * does) and of the groups above them, in the hierarchies mounted under `root`. 0 if there is no
 * limit. */
int hd__cgroup_cpus(const char *list, const char *root);

/* Around a fork. In the child the lock is free and there are no workers. */
void hd__pool_fork_prepare(void);
void hd__pool_fork_parent(void);
void hd__pool_fork_child(void);

#endif
