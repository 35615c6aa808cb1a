/* faulty.c - ranks with faults that run_ranks must notice. ranks.txt and ranks_valgrind.txt in
 * tests/planted run each fault.
 *
 * usage: faulty none | hang | exit | signal | leave | leak | unset */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heed/mpi.h"

/* A process that lives on when its rank has ended. */
static void leave(void)
{
    if (fork() == 0) {
        setsid();
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        sleep(600);
        _exit(0);
    }
}

static void leak(void)
{
    char *volatile lost = hd_alloc(100000);
    lost[0] = 1;
    lost = NULL;
}

static void unset(void)
{
    char *unset = hd_alloc(100);
    if (unset[hd_mpi_rank()] == 7) {
        hd_mpi_abort(1);
    }
    hd_free(unset);
}

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "none";
    bool ok = hd_mpi_init(&argc, &argv), last = hd_mpi_rank() == hd_mpi_size() - 1;
    if (last && strcmp(fault, "hang") == 0) {
        pause();
    } else if (last && strcmp(fault, "exit") == 0) {
        exit(3);
    } else if (last && strcmp(fault, "signal") == 0) {
        raise(SIGKILL);
    } else if (last && strcmp(fault, "leave") == 0) {
        leave();
    } else if (last && strcmp(fault, "leak") == 0) {
        leak();
    } else if (last && strcmp(fault, "unset") == 0) {
        unset();
    }
    return hd_mpi_finish() && ok ? 0 : 1;
}
