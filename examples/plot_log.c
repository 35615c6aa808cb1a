/* plot_log.c - draws the loss curve of a run of train_gpt. It reads DIR/log.csv and writes
 * DIR/loss.svg; if heed-viz was built with libpng, it writes DIR/loss.png too.
 *
 * usage: plot_log DIR */
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

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: %s DIR\n", argv[0]);
        return 2;
    }
    curve c = {0};
    bool ok = read_log(&c, argv[1]) && hd_error_code() == HD_OK && draw(&c, argv[1]);
    free(c.step);
    free(c.loss);
    free(c.val_loss);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", argv[0], hd_error_message());
    }
    return !ok;
}
