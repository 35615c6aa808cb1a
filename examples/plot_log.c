/* plot_log.c - draws the loss curve of a run of train_gpt. It reads DIR/log.csv and writes
 * DIR/loss.svg. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heed/heed.h"
#include "heed/viz.h"
#include "program.h"

enum { LINE = 256, PATH = 4096 };
enum { STEP = 0, LOSS = 3, VAL_LOSS = 4, FIELDS = 5 }; /* the columns */

static const char heading[] = "step,epoch,lr,loss,val_loss"; /* val_loss may be empty */

typedef struct {
    int64_t n, room;
    double *step, *loss, *val_loss; /* val_loss is NaN where it was not measured */
} curve;

static bool grow(curve *c)
{
    double **columns[] = {&c->step, &c->loss, &c->val_loss};
    c->room = c->room > 0 ? 2 * c->room : 1024;
    for (int i = 0; i < 3; i++) {
        double *more = realloc(*columns[i], (size_t)c->room * sizeof *more);
        if (!more) {
            return hd_error_set(HD_MEMORY, "memory ran out");
        }
        *columns[i] = more;
    }
    return true;
}

static bool add_row(curve *c, double step, double loss, double val_loss)
{
    if (c->n == c->room && !grow(c)) {
        return false;
    }
    c->step[c->n] = step;
    c->loss[c->n] = loss;
    c->val_loss[c->n++] = val_loss;
    return true;
}

/* Reads the FIELDS numbers of a row, which commas separate. The last number may be missing, and
 * becomes NaN. False if the row is wrong. */
static bool read_row(const char *line, double row[FIELDS])
{
    const char *at = line;
    for (int i = 0; i < FIELDS; i++) {
        char *end = (char *)at;
        row[i] = isspace((unsigned char)*at) ? NAN : strtod(at, &end);
        bool missing = end == at;
        if ((missing && i < FIELDS - 1) || *end != (i < FIELDS - 1 ? ',' : '\0')) {
            return false;
        }
        row[i] = missing ? NAN : row[i];
        at = end + 1;
    }
    return isfinite(row[STEP]);
}

/* Reads the next line without its newline. Returns 1, or 0 at the end of the file, or -1 for a line
 * that has a NUL byte or is too long. A last line without a newline counts as the end, because the
 * run may be about to write its rest. */
static int read_line(FILE *f, char line[LINE])
{
    int c, n = 0, status = 1;
    while ((c = getc(f)) != '\n' && c != EOF) {
        status = c == '\0' || n == LINE - 1 ? -1 : status;
        if (status == 1) {
            line[n++] = (char)c;
        }
    }
    line[n] = '\0';
    return c == EOF ? 0 : status;
}

static bool read_rows(curve *c, FILE *f, const char *path)
{
    char line[LINE];
    double row[FIELDS];
    long long number = 1;
    bool good = read_line(f, line) == 1 && strcmp(line, heading) == 0;
    for (int status; good && (status = read_line(f, line)) != 0;) {
        number++;
        good = status == 1 && read_row(line, row);
        if (good && !add_row(c, row[STEP], row[LOSS], row[VAL_LOSS])) {
            return false;
        }
    }
    return good || hd_error_set(HD_FORMAT, "%s: line %lld: expected %s", path, number, heading);
}

static bool read_log(curve *c, const char *dir)
{
    char path[PATH];
    snprintf(path, sizeof path, "%.*s/log.csv", directory_length(dir), dir);
    FILE *f = fopen(path, "r");
    if (!f) {
        return hd_error_set(HD_IO, "%s: %s: expected the directory of a run", path,
                            strerror(errno));
    }
    bool ok = read_rows(c, f, path) &&
              (!ferror(f) || hd_error_set(HD_IO, "%s: %s", path, strerror(errno)));
    fclose(f);
    return ok && (c->n > 0 || hd_error_set(HD_FORMAT, "%s has no steps yet", path));
}

/* Copies the steps that have a validation loss to step, and these losses to loss. Returns both as a
 * curve. */
static curve measured(const curve *c, double *step, double *loss)
{
    curve v = {.step = step, .loss = loss};
    for (int64_t i = 0; i < c->n; i++) {
        if (!isnan(c->val_loss[i])) {
            step[v.n] = c->step[i];
            loss[v.n++] = c->val_loss[i];
        }
    }
    return v;
}

static bool save(const hd_picture *p, const char *dir)
{
    char path[PATH];
    snprintf(path, sizeof path, "%.*s/loss.svg", directory_length(dir), dir);
    bool ok = hd_picture_save_svg(p, path);
    if (ok) {
        char word[SHELL_WORD];
        printf("loss curve: %s; rsvg-convert -o loss.png %s makes a PNG of it\n", path,
               shell_word(path, word));
    }
    return ok;
}

/* Writes the last name of a path to out, such as "gpt-1" for "runs/gpt-1/", and returns it. */
static const char *last_name(const char *dir, char out[PATH])
{
    snprintf(out, PATH, "%.*s", directory_length(dir), dir);
    const char *slash = strrchr(out, '/');
    return slash && slash[1] != '\0' ? slash + 1 : out;
}

static bool draw(const curve *c, const char *dir)
{
    double *step = calloc((size_t)c->n + 1, sizeof *step), *loss = calloc((size_t)c->n + 1, 8);
    curve v = step && loss ? measured(c, step, loss) : (curve){0};
    hd_series series[] = {{"training", c->n, c->step, c->loss},
                          {"validation", v.n, v.step, v.loss}};
    hd_plot_options o = hd_plot_defaults();
    char title[PATH];
    o.title = last_name(dir, title);
    o.x_label = "step";
    o.y_label = "loss, nats per token";
    hd_picture *p = hd_plot_lines(2, series, &o);
    bool ok = p && save(p, dir);
    hd_picture_free(p);
    free(step);
    free(loss);
    return ok;
}

static const char help[] =
    "usage: plot_log DIR\n"
    "       plot_log --help | --version\n"
    "\n"
    "Draws the loss curve of a run of train_gpt: the training loss of each step, and the "
    "validation\n"
    "loss of the steps that have one, in nats per token (a uniform guess among n tokens has the\n"
    "loss log n).\n"
    "\n"
    "  DIR        the directory of the run, such as gpt-1; write -- before a name that begins "
    "with\n"
    "             a dash\n"
    "  --help     prints this text\n"
    "  --version  prints the version of heed\n"
    "\n"
    "The program reads DIR/log.csv. It writes DIR/loss.svg and replaces an older one. The run may\n"
    "still be training. The program rsvg-convert (Debian: librsvg2-bin) makes a PNG of the curve:\n"
    "rsvg-convert -o loss.png DIR/loss.svg\n"
    "The exit status is 0 if the curve was written, 1 if the log cannot be read or the curve "
    "cannot\n"
    "be written, and 2 if the arguments are wrong.\n"
    "Example: plot_log gpt-1\n";

static int wrong_usage(const char *program, const char *what, const char *argument)
{
    fprintf(stderr, "%s: %s%s (see --help)\n", program, what, argument);
    return 2;
}

static int plot(const char *program, const char *dir)
{
    curve c = {0};
    bool ok = read_log(&c, dir) && hd_error_code() == HD_OK && draw(&c, dir);
    free(c.step);
    free(c.loss);
    free(c.val_loss);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", program, hd_error_message());
    }
    return ok && stdout_written(program) ? 0 : 1;
}

int main(int argc, char **argv)
{
    open_standard_files();
    hd_on_warning(hd_warning_print, NULL);
    int about = about_status(argc, argv, "plot_log", help);
    if (about >= 0) {
        return about;
    }
    int dir = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    if (argc > dir && dir == 1 && argv[1][0] == '-') {
        return wrong_usage(argv[0], "unknown option ", argv[1]);
    }
    if (argc != dir + 1) {
        return argc > dir ? wrong_usage(argv[0], "more than one directory: ", argv[dir + 1])
                          : wrong_usage(argv[0], "expected the directory of a run", "");
    }
    return plot(argv[0], argv[dir]);
}
