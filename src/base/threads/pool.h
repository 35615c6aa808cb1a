/* pool.h - runs the pieces of a call on several threads (pool.c). */
#ifndef HEED_BASE_POOL_H
#define HEED_BASE_POOL_H

#include "base/system/threads.h"
#include "heed/base.h"

/* Returns the number of threads that a call may use, at least 1. */
int hd__parallel_width(void);

/* Calls f(0, arg) to f(pieces - 1, arg), each once, on the pool and the calling thread, and returns
 * when all pieces are done. The pieces begin in the order of their numbers. With one thread, inside
 * a piece, or while another call has the pool, the calling thread runs all pieces. A piece must not
 * wait for another piece, fail, record, or allocate tensors. If the pieces need scratch memory, the
 * caller allocates it for all of them beforehand, and each piece uses its own part. */
void hd__parallel(int pieces, void (*f)(int piece, void *arg), void *arg);

/* Calls f(begin, end, arg) for disjoint ranges that cover [0, n), through hd__parallel, with at
 * most one range per thread. The length of each range except the last is a multiple of `grain`. If
 * n <= grain, calls f(0, n, arg) once. The results of f must not depend on where the ranges
 * begin. */
void hd__parallel_for(int64_t n, int64_t grain, void (*f)(int64_t begin, int64_t end, void *arg),
                      void *arg);

enum { HD__MAX_THREADS = 1024 };

/* Sets the thread count from HEED_THREADS. Without HEED_THREADS the count is the number of CPUs
 * that the process may use, or 1 at the CPU level "plain". If HEED_THREADS is wrong, writes a
 * message into `wrong`. */
void hd__pool_start(char *wrong, size_t size);

/* Ends and joins the workers. Does nothing while a call uses them. */
void hd__pool_stop(void);

/* Resets the pool in the child of a fork, which has no workers. The caller holds hd__pool_lock. */
void hd__pool_fork_child(void);

extern pthread_mutex_t hd__pool_lock; /* start.c locks it around a fork */

#endif
