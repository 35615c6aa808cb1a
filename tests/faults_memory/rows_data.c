/* rows_data.c - the rows of data.h. */
#include "faults_memory/faults.h"

static const char text[] = "every character";

static hd_loader_options shuffled(void)
{
    hd_loader_options o = hd_loader_defaults();
    o.shuffle = true;
    return o;
}

static hd_list *own_item(int64_t i, void *user)
{
    (void)user;
    return hd_list_of(hd_full(HD_INT64, i, 3), hd_full(HD_INT64, 1, 1));
}

static bool all_of_batch(hd_loader *l, outcome *o)
{
    hd_list *batch = NULL;
    bool ok = hd_loader_next_list(l, &batch);
    keep(o, thing_of_bool(ok));
    if (ok) {
        KEEP_OUT(o, "batch", batch);
    }
    return ok;
}

static bool batches(hd_loader *l, outcome *o)
{
    hd_tensor *x = NULL, *y = NULL;
    bool ok = hd_loader_next(l, &x, &y);
    keep(o, thing_of_bool(ok));
    if (ok) {
        KEEP_OUT(o, "input", x);
        KEEP_OUT(o, "target", y);
    }
    return ok;
}

#define ROWS "faults_memory/rows_data.h"
#define TABLE table_data
#define NAME "data"
#define PARTS (DATA | FILES)
#include "faults_memory/table.h"
