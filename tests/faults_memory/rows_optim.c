/* rows_optim.c - the rows of optim.h. */
#include <math.h>

#include "faults_memory/faults.h"

static hd_cosine_warmup_options cosine(void)
{
    hd_cosine_warmup_options o = hd_cosine_warmup_defaults();
    o.total_steps = 9;
    return o;
}

static hd_cosine_annealing_options annealing(void)
{
    hd_cosine_annealing_options o = hd_cosine_annealing_defaults();
    o.T_max = 10;
    return o;
}

static hd_one_cycle_options one_cycle(void)
{
    hd_one_cycle_options o = hd_one_cycle_defaults();
    o.total_steps = 9;
    o.max_lr = 0.5;
    return o;
}

static hd_adamw_options amsgrad(void)
{
    hd_adamw_options o = hd_adamw_defaults();
    o.amsgrad = true;
    return o;
}

#define ROWS "faults_memory/rows_optim.h"
#define TABLE table_optim
#define NAME "optim"
#define PARTS OPTIMIZERS
#include "faults_memory/table.h"
