/* test_null.c - passes NULL for each pointer that mpi's functions take. */
#include "support/null_rows.h"
#include "suites.h"

static void run_table(const char *error)
{
    HD_SCOPE;
    hd_ddp_figures figures;
    hd_tensor *bad;
    hd_module *model = hd_linear_new(2, 2, true);
    hd_ddp *ddp = hd_ddp_new(model, NULL);
    hd_optim *o = hd_sgd_new(hd_ddp_parameters(ddp), NULL);
    hd_dict *d = hd_dict_new();
#include "null_table.h"
    ck_assert_msg(wrong == 0, "%d of the above", wrong);
    hd_dict_free(d);
    hd_optim_free(o);
    hd_ddp_free(ddp);
    hd_module_free(model);
}

NULL_SUITE
