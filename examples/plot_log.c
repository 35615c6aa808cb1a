/* plot_log.c - draws the loss curve of a run of train_gpt: DIR/log.csv to DIR/loss.svg, and to
 * DIR/loss.png where heed-viz was built with libpng.
 *
 * usage: plot_log DIR */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heed/heed.h"
#include "heed/viz.h"

enum { LINE = 256, PATH = 4096 };

typedef struct {
    int64_t n, room;
    double *step, *loss, *val_loss; /* val_loss NaN where it was not measured */
} curve;

static bool grow(curve *c)
{
    double **columns[] = {&c->step, &c->loss, &c->val_loss};
    c->room = c->room > 0 ? 2 * c->room : 1024;
    for (int i = 0; i < 3; i++) {
        double *more = realloc(*columns[i], (size_t)c->room * sizeof *more);
        if (more == NULL)
            return hd_error_set(HD_MEMORY, "plot_log: out of memory");
        *columns[i] = more;
    }
    return true;
}

/* A row is step,epoch,lr,loss,val_loss; the last field may be empty. */
static bool add_row(curve *c, const char *line)
{
    double step, loss, val_loss = NAN;
    int fields = sscanf(line, "%lf,%*f,%*f,%lf,%lf", &step, &loss, &val_loss);
    if (fields < 2)
        return hd_error_set(HD_FORMAT, "plot_log: '%.40s': expected step,epoch,lr,loss,val_loss",
                            line);
    if (c->n == c->room && !grow(c))
        return false;
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
    if (f == NULL)
        return hd_error_set(HD_IO, "plot_log: %s: expected a run's directory", path);
    bool ok = fgets(line, sizeof line, f) != NULL; /* the names of the columns */
    while (ok && fgets(line, sizeof line, f) != NULL)
        ok = add_row(c, line);
    fclose(f);
    return ok || hd_error_code() != HD_OK || hd_error_set(HD_FORMAT, "plot_log: %s is empty", path);
}

/* The validation losses that were measured, moved together. */
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
    if (!hd_picture_save_svg(p, path))
        return false;
    printf("loss curve: %s\n", path);
    snprintf(path, sizeof path, "%s/loss.png", dir);
    return !hd_has_png() || hd_picture_save_png(p, path, 2);
}

static bool draw(const curve *c, const char *dir)
{
    double *step = calloc((size_t)c->n + 1, sizeof *step), *loss = calloc((size_t)c->n + 1, 8);
    curve v = step != NULL && loss != NULL ? measured(c, step, loss) : (curve){0};
    hd_series series[] = {{"training", c->n, c->step, c->loss},
                          {"validation", v.n, v.step, v.loss}};
    hd_plot_options o = hd_plot_defaults();
    o.title = "train_gpt";
    o.x_label = "step";
    o.y_label = "loss, nats a token";
    hd_picture *p = hd_plot_lines(2, series, &o);
    bool ok = p != NULL && save(p, dir);
    hd_picture_free(p);
    free(step);
    free(loss);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: plot_log DIR\n");
        return 2;
    }
    curve c = {0};
    bool ok = read_log(&c, argv[1]) && hd_error_code() == HD_OK && draw(&c, argv[1]);
    free(c.step);
    free(c.loss);
    free(c.val_loss);
    if (!ok)
        fprintf(stderr, "%s\n", hd_error_message());
    return !ok;
}
