/* rows_checkpoint.c - rows of a training program: a checkpoint of its whole state. */
#include "faults_memory/faults.h"

static bool save(world *w)
{
    HD_SCOPE;
    hd_dict *model = hd_module_state_dict(w->gpt), *state = hd_dict_new();
    bool ok = model && state && hd_optim_save(w->gpt_optim, state, "optim") &&
              hd_schedule_save(w->gpt_schedule, state, "schedule") &&
              hd_generator_save(w->generator, state, "generator") &&
              hd_checkpoint_replace(in_folder(w, "checkpoint"), model, state);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

static bool load_from(world *w, const hd_dict *model, const hd_dict *state)
{
    return hd_module_load_state_dict(w->gpt, model, true, NULL) &&
           hd_optim_load(w->gpt_optim, state, "optim") &&
           hd_schedule_load(w->gpt_schedule, state, "schedule") &&
           hd_generator_load(w->generator, state, "generator");
}

static bool load(world *w)
{
    hd_dict *model = NULL, *state = NULL;
    bool ok = hd_checkpoint_load(in_folder(w, "gpt"), &model, &state) && load_from(w, model, state);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

#define CHECKPOINTS
#define ROWS "faults_memory/rows_whole.h"
#define TABLE table_checkpoint
#define NAME "checkpoint"
#define PARTS (FOLDER | GPT)
#include "faults_memory/table.h"
