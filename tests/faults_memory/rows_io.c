/* rows_io.c - the rows of io.h. */
#include "faults_memory/faults.h"

static const hd_safetensors_options mapped = {.size = sizeof(hd_safetensors_options), .map = true};

static void load_checkpoint(world *w, outcome *o)
{
    hd_dict *model = NULL, *state = NULL;
    bool ok = hd_checkpoint_load(in_folder(w, "checkpoint"), &model, &state);
    keep(o, thing_of_bool(ok));
    KEEP_OUT(o, "model", model);
    KEEP_OUT(o, "state", state);
}

#define ROWS "faults_memory/rows_io.h"
#define TABLE table_io
#define NAME "io"
#define PARTS FILES
#include "faults_memory/table.h"
