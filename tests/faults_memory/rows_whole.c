/* rows_whole.c - what a training program does: a step of a GPT, and a checkpoint of it. */
#include <math.h>

#include "faults_memory/faults.h"

static hd_tensor *loss_of(world *w)
{
    return hd_cross_entropy(hd_flatten(hd_forward(w->gpt, w->gpt_x), 0, 1),
                            hd_flatten(w->gpt_y, 0, 1));
}

static bool train_step(world *w)
{
    HD_SCOPE;
    hd_optim_zero_grad(w->gpt_optim);
    return hd_backward(loss_of(w)) &&
           isfinite(hd_clip_grad_norm_(w->gpt_parameters, 0.5, 2, false)) &&
           hd_optim_step(w->gpt_optim) && hd_schedule_step(w->gpt_schedule);
}

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

#define ROWS "faults_memory/rows_whole.h"
#define TABLE table_whole
#define NAME "whole"
#define PARTS (FILES | GPT)
#include "faults_memory/table.h"
