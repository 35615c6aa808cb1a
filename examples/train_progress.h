/* train_progress.h - shows the progress of a training run on stdout.
 *
 * On a terminal there is one line with a bar, which is drawn again after every step and always fits
 * the terminal. In a pipe, with NO_COLOR, or on a terminal that cannot erase a line (TERM=dumb),
 * there are plain lines. */
#ifndef HEED_EXAMPLES_TRAIN_PROGRESS_H
#define HEED_EXAMPLES_TRAIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_LINE = 256 };

/* The numbers of a line. */
typedef struct {
    int64_t step, steps;
    double loss, val_loss;    /* val_loss NaN: not measured at this step */
    double tokens_per_second; /* on average since the program began */
    int64_t seconds_left;
} progress_numbers;

/* Writes the line for a terminal of `columns` columns to out, without a newline. Returns its
 * length, which is less than columns; with columns 0 the line is as long as needed. `bar` is true
 * for a line that will be erased; it begins with a bar. If the line is too long, the bar becomes
 * shorter, and then the least important numbers go. The steps stay longest. If they are too long,
 * the line shows how many per cent of them are done, or is empty. There is no bar under 40 columns,
 * nor beside a validation loss. */
int progress_line(char out[PROGRESS_LINE], const progress_numbers *n, int columns, bool bar);

typedef struct {
    bool bar;
    int columns, shown; /* of the terminal, and of the line with the bar that is on it now */
    int64_t steps, every, tokens_per_step;
    int64_t first; /* the step at which the clock began */
    double start;  /* the time at which it began, in seconds */
} progress;

/* The width of the terminal on stdout. If the terminal does not know its width (a serial line), it
 * is the environment variable COLUMNS, or 80. */
int progress_columns(void);

/* Catches SIGWINCH and SIGCONT if there is a bar. */
progress progress_new(int64_t step, int64_t steps, int64_t every, int64_t tokens_per_step);
/* Must be called after every step. A step with a validation loss has a line of its own. */
void progress_show(progress *p, int64_t step, double loss, double val_loss);
void progress_clear(progress *p); /* removes the bar; call it before other output */

#endif
