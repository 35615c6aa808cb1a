/* plot_log.c - draws the loss curve of a run of train_gpt. It reads DIR/log.csv and writes
 * DIR/loss.svg; if heed-viz was built with libpng, it writes DIR/loss.png too. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heed/heed.h"
#include "heed/viz.h"

enum { LINE = 256, PATH = 4096 };

static const char heading[] = "step,epoch,lr,loss,val_loss"; /* a row may have no val_loss */

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

static bool add_row(curve *c, const char *path, const char *line)
{
    double step, loss, val_loss = NAN;
    int fields = sscanf(line, "%lf,%*f,%*f,%lf,%lf", &step, &loss, &val_loss);
    if (fields < 2) {
        return hd_error_set(HD_FORMAT, "%s: line %lld: expected %s", path, (long long)c->n + 2,
                            heading);
    }
    if (c->n == c->room && !grow(c)) {
        return false;
    }
    c->step[c->n] = step;
    c->loss[c->n] = loss;
    c->val_loss[c->n++] = val_loss;
    return true;
}

static bool read_log(curve *c, const char *dir)
{
    char path[PATH], line[LINE];
    snprintf(path, sizeof path, "%s/log.csv", dir);
    FILE *f = fopen(path, "r");
    if (!f) {
        return hd_error_set(HD_IO, "%s: %s: expected the directory of a run", path,
                            strerror(errno));
    }
    bool ok = fgets(line, sizeof line, f) && strcspn(line, "\n") == strlen(heading) &&
              strncmp(line, heading, strlen(heading)) == 0;
    if (!ok) {
        hd_error_set(HD_FORMAT, "%s: line 1: expected %s", path, heading);
    }
    while (ok && fgets(line, sizeof line, f)) {
        ok = add_row(c, path, line);
    }
    fclose(f);
    return ok && (c->n > 0 || hd_error_set(HD_FORMAT, "%s has no steps yet", path));
}

/* The steps that have a validation loss, and these losses. */
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
    snprintf(path, sizeof path, "%s/loss.svg", dir);
    if (!hd_picture_save_svg(p, path)) {
        return false;
    }
    printf("loss curve: %s", path);
    snprintf(path, sizeof path, "%s/loss.png", dir);
    bool ok = !hd_has_png() || hd_picture_save_png(p, path, 2);
    if (ok && hd_has_png()) {
        printf(", %s", path);
    }
    printf("\n");
    return ok;
}

/* "gpt-1" of "runs/gpt-1/". */
static const char *last_name(const char *dir, char out[PATH])
{
    snprintf(out, PATH, "%s", dir);
    for (size_t n = strlen(out); n > 1 && out[n - 1] == '/';) {
        out[--n] = '\0';
    }
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
    "The program reads DIR/log.csv. It writes DIR/loss.svg and, if heed was built with libpng,\n"
    "DIR/loss.png, and replaces older ones. The run may still be training.\n"
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
    return ok && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("plot_log %s\n", hd_version());
        return 0;
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
