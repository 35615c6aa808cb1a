/* viz_internal.h - libheed-viz: curves and attention maps as SVG, the backward graph as DOT.
 *
 * It may include the public headers up to heed/autograd.h, which walk the graph, and base's headers
 * for siblings (base/sibling.h). Programs use it by heed/viz.h; of heed's own, train_attention,
 * finetune, plot_log and draw_graph.
 *
 * A picture is the SVG that is written while lines.c and attention_map.c draw rectangles, lines and
 * texts. y points downwards, and a length of 1 is one pixel. After one failure the text is `failed`
 * and takes nothing more, so drawing is checked once, at its end. */
#ifndef HEED_VIZ_INTERNAL_H
#define HEED_VIZ_INTERNAL_H

#include "base/error/args.h"
#include "base/error/speak.h"
#include "base/files/whole_file.h"
#include "base/system/shared.h"
#include "base/text/text.h"
#include "heed/viz.h"
#include "tensor/arg.h"

/* ---------------------------------------------------------------- texts (svg_text.c) */

/* The character at *s, which moves on; U+FFFD for a byte that is not UTF-8. */
uint32_t hd__viz_character(const char **s);

/* Adds the n bytes at s with escapes[i] in place of each special[i]. A control character, or one
 * that XML 1.0 cannot hold, becomes U+FFFD. */
void hd__viz_escape(hd__text *t, const char *s, size_t n, const char *special,
                    const char *const *escapes);

/* How wide the text is at most, in the fonts that an SVG names. */
double hd__viz_text_width(const char *text, double size);
/* How many bytes of the text have room in `width`; if not all have, with dots after them. */
size_t hd__viz_text_fit(const char *text, double size, double width);

/* ---------------------------------------------------------------- pictures */

typedef uint32_t hd__viz_rgb; /* 0xRRGGBB */

enum { HD__INK = 0x333333, HD__PALE = 0xE4E4E4, HD__WHITE = 0xFFFFFF };

struct hd_picture {
    double width, height;
    hd__text svg;
    void *locale;    /* of the user, while the picture is drawn with points in its numbers */
    char unused[32]; /* hd_free writes over the first 64 bytes, which are these and those above */
    uint32_t freed;  /* HD__PICTURE_FREED after hd_picture_free, until the memory is used again */
};

#define HD__PICTURE_FREED 0x6f3e2d1cu

/* ---------------------------------------------------------------- drawing (svg.c) */

/* With a white background. Until hd__viz_picture_ready, the thread is in the C locale. */
hd_picture *hd__viz_picture_new(double width, double height);
void hd__viz_draw_rect(hd_picture *p, double x, double y, double w, double h, hd__viz_rgb color);
/* Begins a line through the points that hd__viz_draw_to adds. dash is the length of dashes and of
 * gaps; 0: it is solid. hd__viz_draw_end ends it. */
void hd__viz_draw_line(hd_picture *p, double width, double dash, hd__viz_rgb color);
void hd__viz_draw_to(hd_picture *p, double x, double y);
void hd__viz_draw_end(hd_picture *p);
void hd__viz_draw_segment(hd_picture *p, double x0, double y0, double x1, double y1, double width,
                          double dash, hd__viz_rgb color);
/* An unfilled rectangle, in HD__INK. */
void hd__viz_draw_frame(hd_picture *p, double x, double y, double w, double h);
/* In HD__INK; (x, y) is the "start", "middle" or "end" of its baseline, which may run upwards. If
 * the text is wider than `width`, it is cut and ends with dots. NULL: there is none. */
void hd__viz_draw_text(hd_picture *p, double x, double y, double size, const char *anchor,
                       bool upwards, double width, const char *text);
/* Returns the picture; if it failed, frees it and returns NULL. */
hd_picture *hd__viz_picture_ready(hd_picture *p);

/* ---------------------------------------------------------------- axes (axis.c) */

enum { HD__MAX_TICKS = 24, HD__TICK_TEXT = 64 };

typedef struct hd__viz_axis {
    bool log;
    bool whole;    /* its ticks are whole numbers */
    double lo, hi; /* the values at the ends; of a log axis their log10 */
    int n;
    double at[HD__MAX_TICKS]; /* 0 at lo, 1 at hi */
    char label[HD__MAX_TICKS][HD__TICK_TEXT];
} hd__viz_axis;

/* Can the axis show v? */
bool hd__viz_axis_takes(bool log, double v);
/* An axis from lo to hi, made longer by `pad` of its length at both ends. lo > hi means that there
 * is no value to show. */
hd__viz_axis hd__viz_axis_of(bool log, double lo, double hi, double pad);
/* Chooses at most max ticks, at round values. */
void hd__viz_axis_ticks(hd__viz_axis *a, int max);
/* 0 at lo, 1 at hi. */
double hd__viz_axis_at(const hd__viz_axis *a, double v);

#endif
