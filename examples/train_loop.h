/* train_loop.h - the steps of a training run, and the signals that stop it. */
#ifndef HEED_EXAMPLES_TRAIN_LOOP_H
#define HEED_EXAMPLES_TRAIN_LOOP_H

#include "train_run.h"

/* Catches SIGINT, SIGTERM, SIGHUP and SIGUSR1. If one of them comes to any rank, run_train finishes
 * the current step, saves the run and stops. */
void loop_catch_signals(void);
int loop_signal(void);   /* the signal that came; 0: none */
bool loop_hung_up(void); /* true if SIGHUP came, so that nobody reads the output */

/* Trains to the last step, or until a signal comes or the step `stop_at` is done. Returns false
 * with an error on failure. */
bool run_train(run *r, int64_t stop_at);
bool run_print_sample(const run *r); /* rank 0 draws a sample and prints it */

#endif
