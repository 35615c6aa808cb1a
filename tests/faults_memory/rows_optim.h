/* rows_optim.h - the functions of optim.h as rows; table.h explains the form. */

/* ---------------------------------------------------------------- optimizers */

ROW(hd_adamw_new, "amsgrad", hd_adamw_new(w->parameters, &(hd_adamw_options[]){amsgrad()}[0]))
SKIP_ROW(hd_optim_free, "every world calls it")
ROW(hd_optim_step, "the first one", hd_optim_step(w->sgd))
ROW(hd_optim_step, "a later one", hd_optim_step(w->adamw))
NEVER_ROW(hd_optim_zero_grad, hd_optim_zero_grad(w->adamw))
NEVER_ROW(hd_optim_lr, hd_optim_lr(w->adamw))
NEVER_ROW(hd_optim_set_lr, hd_optim_set_lr(w->adamw, 0.5))
NEVER_ROW(hd_optim_add_group, hd_optim_add_group(w->adamw, w->leaves, NULL))
NEVER_ROW(hd_optim_group_count, hd_optim_group_count(w->adamw))
NEVER_ROW(hd_optim_group_lr, hd_optim_group_lr(w->adamw, 0))
NEVER_ROW(hd_optim_group_set_lr, hd_optim_group_set_lr(w->adamw, 0, 0.5))

/* ---------------------------------------------------------------- state */

ROW(hd_optim_save, "", hd_optim_save(w->adamw, w->dict, "new"))
ROW(hd_optim_save, "in place of others", hd_optim_save(w->adamw, w->adamw_state, "o"))
ROW(hd_optim_load, "", hd_optim_load(w->adamw, w->adamw_state, "o"))
ROW(hd_optim_load, "SGD", hd_optim_load(w->sgd, w->sgd_state, "o"))
ROW(hd_schedule_save, "", hd_schedule_save(w->schedule, w->dict, "new"))
ROW(hd_schedule_save, "in place of others", hd_schedule_save(w->schedule, w->schedule_state, "s"))
ROW(hd_schedule_load, "", hd_schedule_load(w->schedule, w->schedule_state, "s"))

/* ---------------------------------------------------------------- schedules */

ROW(hd_constant_lr_new, "", hd_constant_lr_new(w->adamw, 0.5, 3))
ROW(hd_step_lr_new, "", hd_step_lr_new(w->adamw, 3, 0.5))
ROW(hd_linear_lr_new, "", hd_linear_lr_new(w->adamw, 0.5, 1, 3))
ROW(hd_cosine_warmup_new, "",
    hd_cosine_warmup_new(w->adamw, &(hd_cosine_warmup_options[]){cosine()}[0]))
ROW(hd_one_cycle_new, "", hd_one_cycle_new(w->adamw, &(hd_one_cycle_options[]){one_cycle()}[0]))
ROW(hd_cosine_annealing_new, "",
    hd_cosine_annealing_new(w->adamw, &(hd_cosine_annealing_options[]){annealing()}[0]))
ROW(hd_reduce_on_plateau_new, "", hd_reduce_on_plateau_new(w->adamw, NULL))
SKIP_ROW(hd_schedule_free, "every world calls it")
NEVER_ROW(hd_schedule_step, hd_schedule_step(w->schedule))
NEVER_ROW(hd_schedule_step_metric, hd_schedule_step_metric(w->plateau, 0.5))
NEVER_ROW(hd_schedule_steps, hd_schedule_steps(w->schedule) == 0)

/* ---------------------------------------------------------------- clipping */

ROW(hd_clip_grad_norm_, "", hd_clip_grad_norm_(w->parameters, 0.1, 2, false))
ROW(hd_clip_grad_norm_, "the largest", hd_clip_grad_norm_(w->parameters, 0.1, INFINITY, true))
ROW(hd_clip_grad_value_, "", hd_clip_grad_value_(w->parameters, 0.1))
