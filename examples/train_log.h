/* train_log.h - the logs of a run, log.csv and log.jsonl. */
#ifndef HEED_EXAMPLES_TRAIN_LOG_H
#define HEED_EXAMPLES_TRAIN_LOG_H

#include <math.h>
#include <stdio.h>

#include "heed/heed.h"

typedef struct {
    int64_t step, epoch;
    double lr, loss, val_loss; /* val_loss NaN: not measured at this step */
} log_row;

/* Two files with the same rows; the same run gives the same bytes. */
typedef struct {
    FILE *csv, *jsonl;
} run_log;

/* Opens both files in the directory dir and cuts them to these sizes; sizes 0 begin new logs. */
bool log_open(run_log *l, const char *dir, int64_t csv_size, int64_t jsonl_size);
bool log_write(const run_log *l, const log_row *row);
/* Brings both files to the disk, and gives their sizes. */
bool log_sync(const run_log *l, int64_t *csv_size, int64_t *jsonl_size);
void log_close(run_log *l);

#endif
