/* train_progress.c - the line that shows the progress of a training run, and the width of the
 * terminal. */
#define _DEFAULT_SOURCE /* SIGWINCH and TIOCGWINSZ, which POSIX did not have in 2008 */
#define _DARWIN_C_SOURCE
#include "train_progress.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif

#include "program.h"

/* ---------------------------------------------------------------- the line */

enum { WIDEST_BAR = 30, NARROWEST_BAR = 5, COLUMNS_FOR_BAR = 40 };
enum { COLUMNS_FOR_CTRL_C = 2 };

/* The forms in which a line can show the numbers, the longest first. */
static const struct form {
    const char *step, *loss, *validation; /* the words before the numbers; NULL: no such number */
    bool rate, left;
} forms[] = {
    {"step ", "  loss ", "  validation ", true, true},
    {"step ", "  loss ", "  validation ", false, true},
    {"step ", "  loss ", "  validation ", false, false},
    {"step ", "  loss ", "  val ", false, false},
    {"", "  ", "  ", false, false},
    {"", NULL, "  ", false, false},
    {"", NULL, NULL, false, false},
};
enum { FORMS = sizeof forms / sizeof forms[0], FORMS_FOR_BAR = 4 };

/* Appends to the text in out, which has `at` bytes, and cuts the text off where out is full.
 * Returns the new length. */
#if defined(__GNUC__) || defined(__clang__)
__attribute__((format(printf, 3, 4)))
#endif
static int
append(char out[PROGRESS_LINE], int at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out + at, (size_t)(PROGRESS_LINE - at), format, args);
    va_end(args);
    return n < PROGRESS_LINE - at ? at + n : PROGRESS_LINE - 1;
}

/* Appends v with `digits` digits after its decimal point. From 1e9 on, appends v with an
 * exponent. */
static int append_number(char out[PROGRESS_LINE], int at, double v, int digits)
{
    return fabs(v) < 1e9 ? append(out, at, "%.*f", digits, v) : append(out, at, "%.4g", v);
}

static int append_time(char out[PROGRESS_LINE], int at, int64_t seconds)
{
    long long s = seconds;
    return s < 3600 ? append(out, at, "  ETA %lld:%02lld", s / 60, s % 60)
                    : append(out, at, "  ETA %lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}

/* Writes the numbers in the form f. Returns the length. */
static int put_numbers(char out[PROGRESS_LINE], const progress_numbers *n, const struct form *f)
{
    int at = append(out, 0, "%s%lld/%lld", f->step, (long long)n->step, (long long)n->steps);
    if (f->loss) {
        at = append_number(out, append(out, at, "%s", f->loss), n->loss, 4);
    }
    if (f->validation && !isnan(n->val_loss)) {
        at = append_number(out, append(out, at, "%s", f->validation), n->val_loss, 4);
    }
    if (f->rate) {
        at = append_number(out, append(out, at, "  "), n->tokens_per_second, 0);
        at = append(out, at, " tokens/s");
    }
    return f->left ? append_time(out, at, n->seconds_left) : at;
}

/* Writes "[###...] " with `columns` columns between the brackets. Returns the length. */
static int put_bar(char *out, const progress_numbers *n, int columns)
{
    int done = (int)((double)columns * (double)n->step / (double)n->steps);
    out[0] = '[';
    memset(out + 1, '#', (size_t)done);
    memset(out + 1 + done, '.', (size_t)(columns - done));
    memcpy(out + 1 + columns, "] ", 3);
    return columns + 3;
}

/* Returns the number of bytes that a line may have. The last column stays empty, because some
 * terminals go to the next row after it. A line with a bar also leaves columns for the ^C that a
 * terminal shows at Ctrl-C. */
static int room_for(int columns, bool bar)
{
    int room = columns - 1 - (bar ? COLUMNS_FOR_CTRL_C : 0);
    return columns == 0 || room > PROGRESS_LINE - 1 ? PROGRESS_LINE - 1 : room > 0 ? room : 0;
}

int progress_line(char out[PROGRESS_LINE], const progress_numbers *n, int columns, bool bar)
{
    char numbers[PROGRESS_LINE];
    int room = room_for(columns, bar);
    bool wide = columns == 0 || columns >= COLUMNS_FOR_BAR;
    for (int i = 0; bar && wide && isnan(n->val_loss) && i < FORMS_FOR_BAR; i++) {
        int length = put_numbers(numbers, n, &forms[i]), rest = room - length - 3;
        if (rest >= NARROWEST_BAR) {
            int at = put_bar(out, n, rest < WIDEST_BAR ? rest : WIDEST_BAR);
            memcpy(out + at, numbers, (size_t)length + 1);
            return at + length;
        }
    }
    int length = room + 1;
    for (int i = 0; length > room && i < FORMS; i++) {
        length = put_numbers(out, n, &forms[i]);
    }
    if (length > room) {
        length = append(out, 0, "%d%%", (int)(100 * (double)n->step / (double)n->steps));
    }
    length = length <= room ? length : 0; /* a part of a number would be wrong */
    out[length] = '\0';
    return length;
}

/* ---------------------------------------------------------------- the terminal */

static volatile sig_atomic_t width_unknown;

/* The terminal's width has changed, or the program continues after Ctrl-Z and may have missed a
 * change. */
static void on_resize(int number)
{
    (void)number;
    width_unknown = 1;
}

static void catch_resizes(void)
{
    struct sigaction a = {.sa_handler = on_resize, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
#ifdef SIGWINCH
    sigaction(SIGWINCH, &a, NULL);
#endif
    sigaction(SIGCONT, &a, NULL);
    width_unknown = 1;
}

int progress_columns(void)
{
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
#endif
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    long columns = text ? strtol(text, &end, 10) : 0;
    return columns > 0 && columns < 10000 && *end == '\0' ? (int)columns : 80;
}

/* True if stdout is a terminal that can erase a line, and NO_COLOR is not set. */
static bool wants_bar(void)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && no_color[0] != '\0') && terminal &&
           strcmp(terminal, "dumb") != 0;
}

/* Moves the cursor to the start of an empty line, for which it erases the line with the bar. If the
 * terminal has become narrower than that line, the line now takes several rows or lacks its end,
 * depending on the terminal. Then it stays, and a new line begins. */
static void begin_line(progress *p)
{
    if (!p->bar) {
        return;
    }
    if (width_unknown) {
        width_unknown = 0;
        p->columns = progress_columns();
    }
    fputs(p->shown >= p->columns ? "\n" : "\r\033[K", stdout);
    p->shown = 0;
}

/* ---------------------------------------------------------------- showing */

progress progress_new(int64_t step, int64_t steps, int64_t every, int64_t tokens_per_step)
{
    progress p = {.bar = wants_bar(),
                  .columns = 80,
                  .steps = steps,
                  .every = every,
                  .tokens_per_step = tokens_per_step,
                  .first = step,
                  .start = seconds_now()};
    if (p.bar) {
        catch_resizes();
    }
    return p;
}

void progress_clear(progress *p)
{
    begin_line(p);
    fflush(stdout);
}

void progress_show(progress *p, int64_t step, double loss, double val_loss)
{
    bool line = !isnan(val_loss) || step == p->steps;
    if (!p->bar && !line && step % p->every != 0) {
        return;
    }
    double seconds = seconds_now() - p->start, done = (double)(step - p->first);
    double rate = done / (seconds > 1e-9 ? seconds : 1e-9); /* steps a second */
    progress_numbers n = {.step = step,
                          .steps = p->steps,
                          .loss = loss,
                          .val_loss = val_loss,
                          .tokens_per_second = rate * (double)p->tokens_per_step,
                          .seconds_left = (int64_t)((double)(p->steps - step) / rate)};
    char text[PROGRESS_LINE];
    begin_line(p);
    int length = progress_line(text, &n, p->bar ? p->columns : 0, p->bar && !line);
    bool stays = line || !p->bar;
    printf("%s%s", text, stays ? "\n" : "");
    p->shown = stays ? 0 : length;
    fflush(stdout);
}
