/* lines.c - hd_plot_lines: draws curves in a pair of axes, with ticks, labels and a legend.
 *
 * The legend is above the axes, so that it hides no point. Of the points in one half of a pixel
 * column, only the first, the lowest, the highest and the last are drawn, because the curve looks
 * the same without the others. */
#include <math.h>

#include "viz/viz_internal.h"

enum {
    MAX_SERIES = 64,
    CURVE_TITLE = 16,
    CURVE_LABEL = 13,
    CURVE_SMALL = 12,
    LEGEND_ROW = 20,
    LEGEND_LINE = 26
};

/* The colours of Okabe and Ito, without the yellow, which is hard to see on white. */
static const hd__viz_rgb colors[] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                     0xE69F00, 0x56B4E9, 0x000000};
enum { COLORS = sizeof colors / sizeof colors[0] };

typedef struct point {
    int64_t i;   /* its index in the series */
    double x, y; /* its place in the picture */
} point;

typedef struct plot {
    hd_picture *p;
    const hd_plot_options *o;
    int64_t n;
    const hd_series *series;
    double above;                    /* the y of the legend's top */
    double left, top, width, height; /* the area of the axes */
    hd__viz_axis x, y;
} plot;

hd_plot_options hd_plot_defaults(void)
{
    return (hd_plot_options){.size = sizeof(hd_plot_options), .width = 720, .height = 440};
}

/* ---------------------------------------------------------------- values */

static double x_of(const hd_series *s, int64_t i)
{
    return s->x ? s->x[i] : (double)i;
}

static bool shows(const plot *f, const hd_series *s, int64_t i)
{
    return i >= 0 && i < s->n && hd__viz_axis_takes(f->o->log_x, x_of(s, i)) &&
           hd__viz_axis_takes(f->o->log_y, s->y[i]);
}

static void find_ranges(plot *f)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    bool whole = true; /* true: every x is a whole number */
    for (int64_t k = 0; k < f->n; k++) {
        const hd_series *s = &f->series[k];
        for (int64_t i = 0; i < s->n; i++) {
            if (shows(f, s, i)) {
                double x = x_of(s, i);
                x0 = fmin(x0, x);
                x1 = fmax(x1, x);
                whole = whole && x == floor(x);
                y0 = fmin(y0, s->y[i]);
                y1 = fmax(y1, s->y[i]);
            }
        }
    }
    f->x = hd__viz_axis_of(f->o->log_x, x0, x1, 0.01);
    f->x.whole = f->o->whole_x || (whole && x0 <= x1);
    f->y = hd__viz_axis_of(f->o->log_y, y0, y1, 0.05);
}

static point point_at(const plot *f, const hd_series *s, int64_t i)
{
    return (point){i, f->left + f->width * hd__viz_axis_at(&f->x, x_of(s, i)),
                   f->top + f->height * (1 - hd__viz_axis_at(&f->y, s->y[i]))};
}

/* ---------------------------------------------------------------- legend */

static bool has_text(const char *text)
{
    return text && *text;
}

static double dash_of(int64_t k)
{
    static const double dashes[] = {0, 6, 2.5};
    return dashes[k / COLORS % 3];
}

/* Arranges the legend's entries, the names of the series, in rows. Draws them if `draw` is true.
 * Returns the number of rows. */
static int legend(const plot *f, bool draw)
{
    double x = f->left, room = f->o->width - 24 - x, most = room - LEGEND_LINE - 8;
    int rows = 0;
    for (int64_t k = 0; k < f->n; k++) {
        const char *name = f->series[k].name;
        if (!has_text(name)) {
            continue;
        }
        double width = LEGEND_LINE + 8 + fmin(hd__viz_text_width(name, CURVE_SMALL), most);
        if (rows == 0 || x + width > f->left + room) {
            x = f->left;
            rows++;
        }
        double middle = f->above + LEGEND_ROW * (rows - 0.5);
        if (draw) {
            hd__viz_draw_segment(f->p, x, middle, x + LEGEND_LINE, middle, 2.5, dash_of(k),
                                 colors[k % COLORS]);
            hd__viz_draw_text(f->p, x + LEGEND_LINE + 8, middle + 4, CURVE_SMALL, "start", false,
                              most, name);
        }
        x += width + 20;
    }
    return rows;
}

/* ---------------------------------------------------------------- axes */

/* Returns the width of the widest label of a tick. */
static double label_width(const hd__viz_axis *a)
{
    double widest = 0;
    for (int i = 0; i < a->n; i++) {
        widest = fmax(widest, hd__viz_text_width(a->label[i], CURVE_SMALL));
    }
    return widest;
}

/* Returns the smallest distance between two ticks, as a share of the axis. */
static double closest(const hd__viz_axis *a)
{
    double gap = 1;
    for (int i = 1; i < a->n; i++) {
        gap = fmin(gap, a->at[i] - a->at[i - 1]);
    }
    return gap;
}

/* Chooses the ticks of x: at most 12, or fewer if their labels would touch. */
static void tick_x(plot *f)
{
    int max = 12;
    do {
        hd__viz_axis_ticks(&f->x, max--);
    } while (max >= 2 && closest(&f->x) * f->width < label_width(&f->x) + 10);
}

/* Gives the axes the space that titles, labels and legend leave. The legend is as wide as the axes,
 * whose width depends on the labels of y. These labels depend on the legend's height. So the
 * legend's rows are counted twice. */
static void plot_layout(plot *f)
{
    f->above = 14 + (has_text(f->o->title) ? CURVE_TITLE + 12 : 0);
    double below = 30 + (has_text(f->o->x_label) ? CURVE_LABEL + 8 : 0);
    f->left = 90;
    f->height = f->o->height - f->above - below - LEGEND_ROW * legend(f, false);
    hd__viz_axis_ticks(&f->y, (int)(f->height / 36));
    f->left = 24 + (has_text(f->o->y_label) ? CURVE_LABEL + 8 : 0) + label_width(&f->y);
    int rows = legend(f, false);
    f->top = f->above + LEGEND_ROW * rows + (rows ? 6 : 0);
    f->height = f->o->height - f->top - below;
    f->width = f->o->width - f->left - 24;
    hd__viz_axis_ticks(&f->y, (int)(f->height / 36));
    tick_x(f);
}

static void draw_axes(const plot *f)
{
    double right = f->left + f->width, bottom = f->top + f->height;
    for (int i = 0; i < f->y.n; i++) {
        double y = bottom - f->height * f->y.at[i];
        hd__viz_draw_segment(f->p, f->left, y, right, y, 1, 0, HD__PALE);
        hd__viz_draw_text(f->p, f->left - 8, y + 4, CURVE_SMALL, "end", false, INFINITY,
                          f->y.label[i]);
    }
    for (int i = 0; i < f->x.n; i++) {
        double x = f->left + f->width * f->x.at[i];
        hd__viz_draw_segment(f->p, x, bottom, x, bottom + 5, 1, 0, HD__INK);
        hd__viz_draw_text(f->p, x, bottom + 19, CURVE_SMALL, "middle", false, INFINITY,
                          f->x.label[i]);
    }
    hd__viz_draw_segment(f->p, f->left, f->top, f->left, bottom, 1, 0, HD__INK);
    hd__viz_draw_segment(f->p, f->left, bottom, right, bottom, 1, 0, HD__INK);
}

static void plot_titles(const plot *f)
{
    const hd_plot_options *o = f->o;
    double x = f->left + f->width / 2, y = f->top + f->height / 2;
    hd__viz_draw_text(f->p, o->width / 2.0, 12 + CURVE_TITLE, CURVE_TITLE, "middle", false,
                      o->width - 24, o->title);
    hd__viz_draw_text(f->p, x, o->height - 10, CURVE_LABEL, "middle", false, f->width, o->x_label);
    hd__viz_draw_text(f->p, 8 + CURVE_LABEL, y, CURVE_LABEL, "middle", true, f->height, o->y_label);
}

/* ---------------------------------------------------------------- curves */

/* Consecutive points of a series in one half of a pixel column. */
typedef struct column {
    point first, lowest, highest, last;
} column;

/* Draws the column's first, lowest, highest and last point in the order of the series. Draws a
 * point only once if it is, for example, both the first and the lowest. */
static void draw_column(const plot *f, const column *c)
{
    bool down = c->lowest.i < c->highest.i;
    point points[] = {c->first, down ? c->lowest : c->highest, down ? c->highest : c->lowest,
                      c->last};
    for (int k = 0; k < 4; k++) {
        if (k == 0 || points[k].i > points[k - 1].i) {
            hd__viz_draw_to(f->p, points[k].x, points[k].y);
        }
    }
}

/* Draws a line for each run of points without a gap. A run of one point is a dot: a thicker line
 * from the point to itself. */
static void draw_series(const plot *f, int64_t k)
{
    const hd_series *s = &f->series[k];
    column c = {.first = {0}};
    for (int64_t i = 0; i < s->n; i++) {
        if (!shows(f, s, i)) {
            continue;
        }
        point at = point_at(f, s, i);
        bool begins = !shows(f, s, i - 1), ends = !shows(f, s, i + 1);
        bool apart = floor(2 * at.x) != floor(2 * c.first.x);
        if (begins) {
            hd__viz_draw_line(f->p, ends ? 3.6 : 1.8, dash_of(k), colors[k % COLORS]);
        } else if (apart) {
            draw_column(f, &c);
        }
        if (begins || apart) {
            c = (column){at, at, at, at};
        }
        c.lowest = at.y < c.lowest.y ? at : c.lowest;
        c.highest = at.y > c.highest.y ? at : c.highest;
        c.last = at;
        if (begins && ends) {
            hd__viz_draw_to(f->p, at.x, at.y);
        }
        if (ends) {
            draw_column(f, &c);
            hd__viz_draw_end(f->p);
        }
    }
}

/* ---------------------------------------------------------------- public */

static bool size_ok(const char *what, int size)
{
    return (size >= 200 && size <= 8192) ||
           hd_fail(HD_VALUE, "%s %d: expected 200 to 8192", what, size);
}

static bool series_ok(int64_t n, const hd_series *series)
{
    if (n < 1 || n > MAX_SERIES) {
        return hd_fail(HD_VALUE, "n %lld: expected 1 to %d series", (long long)n, MAX_SERIES);
    }
    if (!hd__arg_given("series", series)) {
        return false;
    }
    for (int64_t k = 0; k < n; k++) {
        if (series[k].n < 0 || (series[k].n > 0 && !series[k].y)) {
            return hd_fail(HD_VALUE,
                           "series %lld: n %lld, y %s: expected n of 0 or more, and n values of y",
                           (long long)k, (long long)series[k].n, series[k].y ? "given" : "NULL");
        }
    }
    return true;
}

hd_picture *hd_plot_lines(int64_t n, const hd_series *series, const hd_plot_options *o)
{
    HD__CALL("hd_plot_lines");
    hd_plot_options defaults = hd_plot_defaults();
    o = o ? o : &defaults;
    if (!HD__SIBLING_OK() || !HD__SIZE_OK(o, "hd_plot_defaults()") || !series_ok(n, series) ||
        !size_ok("width", o->width) || !size_ok("height", o->height)) {
        return NULL;
    }
    plot f = {.p = hd__viz_picture_new(o->width, o->height), .o = o, .n = n, .series = series};
    if (!f.p) {
        return NULL;
    }
    find_ranges(&f);
    plot_layout(&f);
    draw_axes(&f);
    for (int64_t k = 0; k < n; k++) {
        draw_series(&f, k);
    }
    legend(&f, true);
    plot_titles(&f);
    return hd__viz_picture_ready(f.p);
}
