/* rows_whole.h - a training program as rows; table.h explains the form. */
#ifndef CHECKPOINTS
ROW_AS(DRAWS, hd_forward, "a GPT and its loss", loss_of(w))
ROW_AS(SEQUENCE | DRAWS | STEPS, hd_optim_step, "a step of a GPT", train_step(w))
#else
ROW_AS(SEQUENCE, hd_checkpoint_replace, "a GPT, its optimizer and the rest", save(w))
ROW_AS(SEQUENCE | STEPS, hd_checkpoint_load, "a GPT, its optimizer and the rest", load(w))
#endif
