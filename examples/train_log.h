/* train_log.h - the logs of a run: log.csv, log.jsonl and, if wanted, TensorBoard's event files. */
#ifndef HEED_EXAMPLES_TRAIN_LOG_H
#define HEED_EXAMPLES_TRAIN_LOG_H

#include <math.h>
#include <stdio.h>

#include "heed/heed.h"
#include "train_events.h"

typedef struct {
    int64_t step, epoch;
    double lr, loss, val_loss; /* val_loss NaN: not measured at this step */
} log_row;

/* The logs of a run: log.csv and log.jsonl, with the same rows, and the event files. If the same
 * run is done again, log.csv and log.jsonl are the same byte for byte. */
typedef struct {
    FILE *csv, *jsonl;
    event_log events;
} run_log;

/* Opens log.csv and log.jsonl in the directory dir and cuts them to these sizes. Size 0 begins a
 * new log. Returns false with an error if a file is shorter or cannot be written. */
bool log_open(run_log *l, const char *dir, int64_t csv_size, int64_t jsonl_size);
/* Makes log_write write event files, too. See events_new for the arguments. */
void log_add_events(run_log *l, const char *dir, int64_t resumed);
bool log_write(run_log *l, const log_row *row);
/* Syncs the files to the disk, and sets the sizes of log.csv and log.jsonl. Returns false with an
 * error on failure. */
bool log_sync(const run_log *l, int64_t *csv_size, int64_t *jsonl_size);
void log_close(run_log *l);

#endif
