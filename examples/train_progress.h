/* train_progress.h - shows the progress of a training run on stdout.
 *
 * On a terminal it is one line with a bar, which is drawn again after every step and always fits
 * the terminal. In a pipe, with NO_COLOR, or on a terminal that cannot erase a line (TERM=dumb), it
 * is plain lines, which stay. */
#ifndef HEED_EXAMPLES_TRAIN_PROGRESS_H
#define HEED_EXAMPLES_TRAIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_LINE = 256 };

/* The numbers that a line of progress shows. */
typedef struct {
    int64_t step, steps;
    double loss, val_loss;    /* val_loss NaN: not measured at this step */
    double tokens_per_second; /* on average since the program began */
    int64_t seconds_left;
} progress_numbers;

/* Writes a line of progress to out, without a newline. Returns its length, which is less than
 * columns, the width of the terminal. If columns is 0, the line is as long as it needs to be. If
 * `bar` is true, the line begins with a bar; the caller erases such a line before the next one.
 * There is no bar on a terminal of less than 40 columns, nor beside a validation loss. If a line is
 * too long, first its bar becomes shorter, and then it loses the least important numbers. The
 * numbers of steps go last. If even they are too long, the line shows the percentage of the steps
 * that are done, or is empty. */
int progress_line(char out[PROGRESS_LINE], const progress_numbers *n, int columns, bool bar);

typedef struct {
    bool bar;
    int columns, shown; /* the widths of the terminal and of the line with a bar on it; 0: none */
    int64_t steps, every, tokens_per_step;
    int64_t first; /* the steps that were done when the program began */
    double start;  /* the time at which the program began, in seconds */
} progress;

/* Returns the width of the terminal on stdout. If the terminal does not know its width, as on a
 * serial line, returns the number in the environment variable COLUMNS, or 80. */
int progress_columns(void);

/* Makes the progress of a run of `steps` steps that has done `step` of them. Without a bar, every
 * `every` steps have a line. With a bar, catches SIGWINCH and SIGCONT, after which the terminal may
 * have another width. */
progress progress_new(int64_t step, int64_t steps, int64_t every, int64_t tokens_per_step);
/* Shows a step; the caller calls it after every step. A step with a validation loss has a line that
 * stays. val_loss NaN: not measured. */
void progress_show(progress *p, int64_t step, double loss, double val_loss);
void progress_clear(progress *p); /* removes the bar; call it before other output */

#endif
