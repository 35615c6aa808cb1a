/* init.c - starts and ends MPI, and gives a rank its number, host and description. */
#include "mpi/mpi_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

hd__mpi_world hd__mpi = {.size = 1,
                         .host_size = 1,
                         .control = MPI_COMM_NULL,
                         .parts = MPI_COMM_NULL,
                         .averages = MPI_COMM_NULL};

static MPI_Comm *const communicators[] = {&hd__mpi.control, &hd__mpi.parts, &hd__mpi.averages};

bool hd__mpi_ok(int result)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (result == MPI_SUCCESS) {
        return true;
    }
    MPI_Error_string(result, text, &n);
    hd__mpi.apart = true;
    return hd_fail(HD_IO, "MPI: %s", text);
}

/* ---------------------------------------------------------------- beginning */

/* The variables that launchers set in the environment of the processes that they start. */
static const struct {
    const char *name;
    bool number; /* true: its value is the number of processes; false: another value */
} left_by_launchers[] = {
    {"PMI_RANK", false},       {"PMI_SIZE", true},
    {"PMI_FD", false},         {"PMI_PORT", false},
    {"PMIX_RANK", false},      {"PMIX_NAMESPACE", false},
    {"MPI_LOCALNRANKS", true}, {"OMPI_COMM_WORLD_SIZE", true},
    {"SLURM_PROCID", false},   {"PALS_RANKID", false},
};

enum { LEFT = sizeof left_by_launchers / sizeof left_by_launchers[0] };

int hd__mpi_launched(void)
{
    long most = 0;
    for (int i = 0; i < LEFT; i++) {
        const char *text = getenv(left_by_launchers[i].name);
        long n = text && left_by_launchers[i].number ? strtol(text, NULL, 10) : 0;
        n = text && (n < 1 || n > INT_MAX) ? 1 : n;
        most = n > most ? n : most;
    }
    return (int)most;
}

static bool find_host(void)
{
    MPI_Comm host;
    bool ok = hd__mpi_ok(
        MPI_Comm_split_type(hd__mpi.control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    if (ok) {
        MPI_Comm_rank(host, &hd__mpi.host_rank);
        MPI_Comm_size(host, &hd__mpi.host_size);
        MPI_Comm_free(&host);
    }
    return ok;
}

static bool make_communicators(void)
{
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++) {
        ok = hd__mpi_ok(MPI_Comm_dup(MPI_COMM_WORLD, communicators[i]));
        if (ok) {
            MPI_Comm_set_errhandler(*communicators[i], MPI_ERRORS_RETURN);
        }
    }
    return ok;
}

static bool start_mpi(int *argc, char ***argv, bool there)
{
    int level = MPI_THREAD_FUNNELED;
    hd__mpi.ours = !there;
    if (!there && !hd__mpi_ok(MPI_Init_thread(argc, argv, level, &level))) {
        return false;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &hd__mpi.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &hd__mpi.size);
    return make_communicators() && find_host() && hd__mpi_meetings_begin();
}

/* Unless HEED_THREADS is set, sets the number of threads to this rank's share of the machine's
 * CPUs. If the launcher has bound the rank to fewer CPUs than this share, sets the number of
 * threads to the number of these CPUs. Returns false with an error on failure. */
static bool share_cpus(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int mine = hd_num_threads(), bound = hd__sys_affinity_cpus();
    int all = online > 0 && bound > 0 && bound < online ? (int)online : mine;
    int each = all / hd__mpi.host_size;
    each = each > mine ? mine : each;
    return getenv("HEED_THREADS") || hd__mpi.host_size == 1 ||
           hd_set_num_threads(each > 1 ? each : 1);
}

bool hd_mpi_init(int *argc, char ***argv)
{
    HD__CALL("hd_mpi_init");
    int there = 0;
    if (!HD__SIBLING_OK()) {
        return false;
    }
    if (hd__mpi.begun) {
        return hd_fail(HD_STATE, "it was called already. Call it once");
    }
    hd__mpi.begun = true;
    MPI_Initialized(&there);
    return (!there && hd__mpi_launched() == 0) || (start_mpi(argc, argv, there) && share_cpus());
}

/* ---------------------------------------------------------------- the end */

static bool mpi_runs(void)
{
    int there = 0, ended = 0;
    MPI_Initialized(&there);
    MPI_Finalized(&ended);
    return there && !ended;
}

static bool end_mpi(void)
{
    for (int i = 0; i < 3; i++) {
        if (*communicators[i] != MPI_COMM_NULL) {
            MPI_Comm_free(communicators[i]);
        }
    }
    return !hd__mpi.ours || hd__mpi_ok(MPI_Finalize());
}

bool hd_mpi_finish(void)
{
    HD__CALL("hd_mpi_finish");
    if (!hd__mpi.begun || hd__mpi.ended) {
        return true;
    }
    if (hd__mpi_in_round()) {
        return false;
    }
    hd__mpi.apart |= !mpi_runs(); /* the program may have ended MPI */
    hd_ddp_free(hd__mpi.ddp);
    hd__mpi_meet_to_end();
    hd__mpi.ended = true;
    bool ok = !mpi_runs() || end_mpi();
    hd__mpi_meetings_end();
    hd__mpi.rank = hd__mpi.host_rank = 0;
    hd__mpi.size = hd__mpi.host_size = 1;
    return ok;
}

void hd_mpi_abort(int status)
{
    if (mpi_runs()) {
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    _Exit(status);
}

/* ---------------------------------------------------------------- this rank */

int hd_mpi_rank(void)
{
    return hd__mpi.rank;
}

int hd_mpi_size(void)
{
    return hd__mpi.size;
}

int hd_mpi_host_rank(void)
{
    return hd__mpi.host_rank;
}

int hd_mpi_host_size(void)
{
    return hd__mpi.host_size;
}

char *hd_mpi_describe(void)
{
    HD__CALL("hd_mpi_describe");
    char host[256] = "";
    const char *level = hd_cpu_level();
    hd__text t = {0};
    gethostname(host, sizeof host - 1);
    hd__text_format(&t, "rank %d of %d: host %s, %d thread%s, %s", hd__mpi.rank, hd__mpi.size, host,
                    hd_num_threads(), hd_num_threads() == 1 ? "" : "s", level ? level : "no level");
    return hd__text_take(&t);
}
