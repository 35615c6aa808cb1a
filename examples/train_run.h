/* train_run.h - a training run: what it consists of, and its checkpoints. */
#ifndef HEED_EXAMPLES_TRAIN_RUN_H
#define HEED_EXAMPLES_TRAIN_RUN_H

#include "train_log.h"
#include "train_settings.h"

typedef struct {
    settings s;
    char dir[PATH_SIZE];
    char prompt[256]; /* of samples */
    hd_tokenizer *tokenizer;
    hd_tokens *train_tokens, *val_tokens;
    int64_t text_hash;
    hd_dataset *train_set, *val_set;
    hd_loader *loader, *val_loader;
    hd_generator *val_generator, *sample_generator; /* watching a run draws nothing from its own */
    hd_module *model;
    hd_list *parameters;
    hd_optim *optim;
    hd_schedule *schedule;
    run_log log;
    int64_t step, best_step; /* 0: none yet */
    double best_loss;
} run;

/* Each in turn; what they made is run_free's to free. */
bool run_read_data(run *r, const hd_dict *state); /* state: of the run that goes on; or NULL */
bool run_make_model(run *r);                      /* seeds, too */
bool run_make_loaders(run *r);
void run_free(run *r);

void run_path(const run *r, char path[2 * PATH_SIZE], const char *name); /* dir/name */

/* Saves a checkpoint of the run as it is, and settles. */
bool run_save(run *r);
/* The links to the checkpoint of the run's step and to the best; the others are removed. Also when
 * resuming: the run may have been killed between a save and this. */
bool run_settle(const run *r);
/* Removes what saves that were killed left unfinished. */
void run_remove_leftovers(const run *r);
/* The step of the newest checkpoint in the run's directory; 0: none. */
int64_t run_newest_step(const run *r);
/* run_save's checkpoint of a step; to be freed. */
bool run_load(const run *r, int64_t step, hd_dict **model, hd_dict **state);
/* Everything that a checkpoint holds, into a run that was made from its settings. */
bool run_restore(run *r, const hd_dict *model, const hd_dict *state);

#endif
