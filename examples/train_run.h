/* train_run.h - a training run and its checkpoints.
 *
 * A rank is a process that mpirun starts (train_ranks.h); every rank has a run. Unless a comment
 * says otherwise, all ranks call each function. Only rank 0 has a log and writes files. */
#ifndef HEED_EXAMPLES_TRAIN_RUN_H
#define HEED_EXAMPLES_TRAIN_RUN_H

#include "train_log.h"
#include "train_ranks.h"
#include "train_settings.h"

typedef struct {
    settings s;
    bool refused;         /* the settings or arguments are wrong */
    int64_t ranks_before; /* the number of ranks that saved the resumed checkpoint; 0: a new run */
    bool dealt;           /* the run has several ranks, or had them before it was resumed */
    char dir[PATH_SIZE];
    char prompt[256]; /* the text that samples continue */
    hd_tokenizer *tokenizer;
    hd_tokens *train_tokens, *val_tokens;
    int64_t text_hash;
    hd_dataset *train_set, *val_set;
    hd_loader *loader, *val_loader;
    hd_generator *val_generator, *sample_generator; /* separate from the training's generator */
    hd_module *model;
    hd_list *parameters;
    hd_optim *optim;
    hd_schedule *schedule;
    run_log log;
    int64_t step, best_step; /* steps done; step of the best loss; 0: none yet */
    double best_loss;
} run;

/* Call these in this order. Each returns false with an error on failure. run_free frees everything,
 * even after a failure. */
bool run_read_data(run *r, const hd_dict *state); /* state NULL: the run is new */
bool run_make_model(run *r);                      /* seeds the generator first */
bool run_make_loaders(run *r);
void run_free(run *r);

/* Makes the run's directory, which is the setting `out`, or the first free name of gpt-1, gpt-2 and
 * so on. Returns false with an error on failure. Only rank 0 calls it. */
bool run_make_directory(run *r);
void run_path(const run *r, char path[2 * PATH_SIZE], const char *name); /* sets path to dir/name */

/* Saves a checkpoint of the run as it is now, then calls run_settle. Returns false with an error on
 * failure. */
bool run_save(run *r);
/* Sets the links `last` and `best` and removes the other checkpoints. A resumed run calls it before
 * its first step, because the run may have been killed between a save and this call. Returns false
 * with an error on failure. Only rank 0 calls it. */
bool run_settle(const run *r);
/* Removes the unfinished files of saves that were killed. Only rank 0 calls it. */
void run_remove_leftovers(const run *r);
/* Returns the step of the newest checkpoint in the run's directory, or 0 if there is none, or -1
 * with an error if the directory cannot be read. One rank may call it alone. */
int64_t run_newest_step(const run *r);
/* Loads the checkpoint that run_save made at a step. The caller frees both dictionaries. Returns
 * false with an error on failure. */
bool run_load(run *r, int64_t step, hd_dict **model, hd_dict **state);
/* Restores everything from a checkpoint in a run that was made from the settings. Returns false
 * with an error on failure. */
bool run_restore(run *r, const hd_dict *model, const hd_dict *state);

#endif
