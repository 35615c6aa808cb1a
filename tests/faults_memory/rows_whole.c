/* rows_whole.c - rows of a training program: one step of a GPT. */
#include <math.h>

#include "faults_memory/faults.h"

static hd_tensor *loss_of(world *w)
{
    return hd_cross_entropy(hd_flatten(hd_forward(w->gpt, w->gpt_x), 0, 1),
                            hd_flatten(w->gpt_y, 0, 1));
}

/* The norm is smaller, so the gradients stay as they are, and each is either missing or as it is
 * at the end. The rows of optim clip. */
static bool train_step(world *w)
{
    HD_SCOPE;
    hd_optim_zero_grad(w->gpt_optim);
    return hd_backward(loss_of(w)) &&
           isfinite(hd_clip_grad_norm_(w->gpt_parameters, 1e9, 2, false)) &&
           hd_optim_step(w->gpt_optim) && hd_schedule_step(w->gpt_schedule);
}

#define ROWS "faults_memory/rows_whole.h"
#define TABLE table_whole
#define NAME "whole"
#define PARTS GPT
#include "faults_memory/table.h"
