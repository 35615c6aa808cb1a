/* child.h - runs a test's function in a child process and reads its output, because the function
 * may end the process or write to stderr. */
#ifndef HEED_TESTS_CHILD_H
#define HEED_TESTS_CHILD_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/leave.h"

/* Runs f in a child whose stderr is a pipe, and its stdout too if `both`, with a buffer. Writes all
 * that comes out of the pipe to text, and returns the child's status. */
static inline int child_prints(void (*f)(void), bool both, char *text, size_t size)
{
    int ends[2], status = 0;
    fflush(stdout);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        if (both) {
            dup2(ends[1], STDOUT_FILENO);
            setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
        }
        leave_after_abort();
        f();
        leave(0);
    }
    close(ends[1]);
    waitpid(child, &status, 0);
    size_t length = 0;
    for (ssize_t n; (n = read(ends[0], text + length, size - 1 - length)) > 0;) {
        length += (size_t)n;
    }
    text[length] = '\0';
    close(ends[0]);
    return status;
}

#endif
