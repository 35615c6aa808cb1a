/* train_ranks.c - the ranks of a training run, with libheed-mpi or without it. */
#include "train_ranks.h"

bool ranks_first(void)
{
    return ranks_this() == 0;
}

#ifdef HEED_HAVE_MPI
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "heed/mpi.h"

static hd_ddp *ddp; /* NULL: there is one rank, or ranks_join was not called */

static bool stop_printing(void)
{
    int null = open("/dev/null", O_WRONLY);
    bool ok = null >= 0 && dup2(null, STDOUT_FILENO) >= 0;
    int cause = errno;
    if (null >= 0) {
        close(null);
    }
    return ok || hd_error_set(HD_IO, "/dev/null: %s", strerror(cause));
}

bool ranks_start(int *argc, char ***argv)
{
    if (!hd_mpi_init(argc, argv)) {
        return false;
    }
    return ranks_first() || stop_printing();
}

void ranks_end(void)
{
    hd_mpi_finish();
}

int ranks_count(void)
{
    return hd_mpi_size();
}

int ranks_this(void)
{
    return hd_mpi_rank();
}

bool ranks_print(void)
{
    if (ranks_count() == 1) {
        return true;
    }
    char *mine = hd_mpi_describe(), *all = hd_mpi_gather_text(mine);
    bool ok = all;
    if (ok) {
        fputs(all, stdout);
        fflush(stdout);
    }
    hd_free(mine);
    hd_free(all);
    return ok;
}

bool ranks_all_ok(const char *what, bool ok)
{
    return ranks_count() == 1 ? ok : hd_mpi_all_ok(what, ok);
}

bool ranks_same(const char *what, const char *text)
{
    return ranks_count() == 1 ? text != NULL : hd_mpi_all_same(what, text);
}

bool ranks_sum(int n, double *values)
{
    return hd_mpi_sum(n, values);
}

hd_tensor *ranks_gather(hd_tensor *x)
{
    return hd_mpi_gather(x);
}

bool ranks_join(hd_module *model, bool shard)
{
    if (ranks_count() == 1) {
        return model;
    }
    hd_ddp_options o = hd_ddp_defaults();
    o.shard_optimizer = shard;
    ddp = hd_ddp_new(model, &o);
    return ddp;
}

void ranks_leave(void)
{
    hd_ddp_free(ddp);
    ddp = NULL;
}

void ranks_average(bool on)
{
    if (ddp) {
        hd_ddp_no_sync(ddp, !on);
    }
}

hd_list *ranks_parameters(hd_list *all)
{
    return ddp ? hd_ddp_parameters(ddp) : all;
}

bool ranks_step(hd_optim *o)
{
    return ddp ? hd_ddp_step(ddp, o) : hd_optim_step(o);
}

bool ranks_save_optim(const hd_optim *o, hd_dict *d, const char *prefix)
{
    return ddp ? hd_ddp_optim_save(ddp, o, d, prefix) : hd_optim_save(o, d, prefix);
}

bool ranks_load_optim(hd_optim *o, const hd_dict *d, const char *prefix)
{
    return ddp ? hd_ddp_optim_load(ddp, o, d, prefix) : hd_optim_load(o, d, prefix);
}

#else

bool ranks_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return true;
}

void ranks_end(void)
{
}

int ranks_count(void)
{
    return 1;
}

int ranks_this(void)
{
    return 0;
}

bool ranks_print(void)
{
    return true;
}

bool ranks_all_ok(const char *what, bool ok)
{
    (void)what;
    return ok;
}

bool ranks_same(const char *what, const char *text)
{
    (void)what;
    return text != NULL;
}

bool ranks_sum(int n, double *values)
{
    (void)n;
    (void)values;
    return true;
}

hd_tensor *ranks_gather(hd_tensor *x)
{
    return hd_unsqueeze(x, 0);
}

bool ranks_join(hd_module *model, bool shard)
{
    (void)shard;
    return model;
}

void ranks_leave(void)
{
}

void ranks_average(bool on)
{
    (void)on;
}

hd_list *ranks_parameters(hd_list *all)
{
    return all;
}

bool ranks_step(hd_optim *o)
{
    return hd_optim_step(o);
}

bool ranks_save_optim(const hd_optim *o, hd_dict *d, const char *prefix)
{
    return hd_optim_save(o, d, prefix);
}

bool ranks_load_optim(hd_optim *o, const hd_dict *d, const char *prefix)
{
    return hd_optim_load(o, d, prefix);
}
#endif
