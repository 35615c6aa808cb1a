/* main.c - runs the tables, counts the refused allocations, and names the running row if the
 * program crashes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faults_memory/suites.h"
#include "support/files.h"

int64_t *injections, *scope_injections, *rows_chosen;

/* Check runs each test in a child, and a crash there says nothing else. */
static void crashed(int signal)
{
    char text[200], line[240];
    snprintf(line, sizeof line, "signal %d in: %s\n", signal, injection_running(text));
    if (write(STDERR_FILENO, line, strlen(line)) < 0) {
        _exit(2);
    }
    raise(signal); /* the handler was taken away as it was called */
}

static void catch_crashes(void)
{
    struct sigaction a = {.sa_handler = crashed, .sa_flags = (int)SA_RESETHAND};
    const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &a, NULL);
    }
}

int main(void)
{
    const char *only = getenv("FAULTS_ROW");
    setenv("CK_DEFAULT_TIMEOUT", "1500", 0); /* a table takes minutes under a sanitizer */
    injections = mmap(NULL, 3 * sizeof *injections, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (injections == MAP_FAILED || !folder_make()) {
        return 1;
    }
    rows_chosen = injections + 1;
    scope_injections = injections + 2;
    catch_crashes();
    int failed = RUN_SUITES(SUITES);
    folder_remove();
    printf("%lld injections, and %lld below many scopes\n", (long long)*injections,
           (long long)*scope_injections);
    if (only && *rows_chosen == 0) {
        fprintf(stderr, "FAULTS_ROW=%s: no row has such a function\n", only);
        return 1;
    }
    if (!getenv("CK_RUN_SUITE") && !getenv("HEED_SKIP") && !only &&
        (*injections < LEAST_INJECTIONS || *scope_injections < LEAST_OF_SCOPES)) {
        fprintf(stderr, "expected at least %d injections, and %d below many scopes\n",
                LEAST_INJECTIONS, LEAST_OF_SCOPES);
        return 1;
    }
    return failed;
}
