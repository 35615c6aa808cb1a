/* train_events.h - writes the log of a run as event files, which TensorBoard shows.
 *
 * A file is events.out.tfevents.TIME.HOST in the directory of the run. TIME is the time in seconds
 * at which the file began. It is later than the TIME of each older file there, so that the names
 * have the order of the files. The program begins a file at its first step. Each step is one record
 * with some scalars. If the same run is done again, only TIME, HOST and the time in each record
 * differ. */
#ifndef HEED_EXAMPLES_TRAIN_EVENTS_H
#define HEED_EXAMPLES_TRAIN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *dir; /* NULL: no event files are wanted */
    int64_t resumed; /* the step after which the run was resumed; 0: it is a new run */
    int fd;          /* -1 before the first step, which opens the file */
} event_log;

typedef struct {
    const char *tag;
    double value; /* is rounded to a float */
} event_scalar;

/* Makes a log in the directory dir, which must live as long as the log. dir NULL makes a log that
 * writes nothing. */
event_log events_new(const char *dir, int64_t resumed);
/* Appends the n scalars of a step as one record: at most 8 scalars, with tags of at most 32 bytes.
 * The record is one write, so that a killed program leaves no part of it. Returns false with an
 * error on failure. */
bool events_write(event_log *e, int64_t step, int n, const event_scalar *scalars);
/* Syncs the file to the disk. Returns false with an error on failure. */
bool events_sync(const event_log *e);
void events_close(event_log *e);

/* Returns the checksum CRC-32C (Castagnoli) of n bytes. That of "123456789" is E3069283. */
uint32_t events_crc32c(const void *bytes, size_t n);

#endif
