/* leave.h - ends a child process that a test has forked. _exit and abort do not write the counters
 * that tools/coverage reads; a build with HEED_COUNTERS writes them first. */
#ifndef HEED_TESTS_LEAVE_H
#define HEED_TESTS_LEAVE_H

#include <signal.h>
#include <unistd.h>

#ifdef HEED_COUNTERS
void __gcov_dump(void);

static inline void write_counters(int signal)
{
    (void)signal;
    __gcov_dump();
}
#else
static inline void write_counters(int signal)
{
    (void)signal;
}
#endif

/* In place of _exit */
static inline void leave(int status)
{
    write_counters(0);
    _exit(status);
}

/* From here on abort counts too: it ends the process when this handler has returned. */
static inline void leave_after_abort(void)
{
    signal(SIGABRT, write_counters);
}

#endif
