/* viz_internal.h - the functions with which libheed-viz draws pictures: shapes, texts and axes.
 *
 * libheed-viz writes curves and attention maps as SVG, and the backward graph as DOT (graph.h). It
 * includes the public headers up to heed/autograd.h, and the headers of base that base/sibling.h
 * lists.
 *
 * A picture is a growing SVG text, to which lines.c and attention_map.c add rectangles, lines and
 * texts. y points downwards, and a length of 1 is one pixel. If memory runs out, the text is marked
 * as `failed` and grows no more, so only hd__viz_picture_ready checks for failure. */
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

/* Returns the character at *s, and moves *s past it. For a byte that is not UTF-8, returns U+FFFD
 * and moves *s by one byte. */
uint32_t hd__viz_character(const char **s);

/* Appends the n bytes at s to t, with escapes[i] in place of each special[i]. Other control
 * characters, and characters that XML 1.0 forbids, become U+FFFD. */
void hd__viz_escape(hd__text *t, const char *s, size_t n, const char *special,
                    const char *const *escapes);

/* Returns an upper bound of the text's width in the fonts that the SVG names. */
double hd__viz_text_width(const char *text, double size);
/* Returns the length of the text in bytes if the text fits in `width`. Otherwise returns the number
 * of bytes that fit with an ellipsis after them. */
size_t hd__viz_text_fit(const char *text, double size, double width);

/* ---------------------------------------------------------------- pictures */

typedef uint32_t hd__viz_rgb; /* 0xRRGGBB */

enum { HD__INK = 0x333333, HD__PALE = 0xE4E4E4, HD__WHITE = 0xFFFFFF };

struct hd_picture {
    double width, height;
    hd__text svg;
    void *locale;    /* the locale that the thread had before hd__viz_picture_new */
    char unused[32]; /* hd_free overwrites the first 64 bytes; `freed` must lie after them */
    uint32_t freed;  /* HD__PICTURE_FREED after hd_picture_free, until the memory is used again */
};

#define HD__PICTURE_FREED 0x6f3e2d1cu

/* ---------------------------------------------------------------- drawing (svg.c) */

/* Returns a new white picture, and sets the thread's locale to C until hd__viz_picture_ready.
 * Returns NULL with an error if memory runs out. */
hd_picture *hd__viz_picture_new(double width, double height);
void hd__viz_draw_rect(hd_picture *p, double x, double y, double w, double h, hd__viz_rgb color);
/* hd__viz_draw_line begins a line, hd__viz_draw_to adds a point to it, and hd__viz_draw_end ends
 * it. dash is the length of the dashes and of the gaps; 0: a solid line. */
void hd__viz_draw_line(hd_picture *p, double width, double dash, hd__viz_rgb color);
void hd__viz_draw_to(hd_picture *p, double x, double y);
void hd__viz_draw_end(hd_picture *p);
void hd__viz_draw_segment(hd_picture *p, double x0, double y0, double x1, double y1, double width,
                          double dash, hd__viz_rgb color);
/* Draws the outline of a rectangle in HD__INK. */
void hd__viz_draw_frame(hd_picture *p, double x, double y, double w, double h);
/* Draws a text (NULL: none) in HD__INK. anchor says which point of the baseline is at (x, y): its
 * "start", "middle" or "end". If upwards is true, the baseline runs upwards. A text wider than
 * `width` is cut and ends in an ellipsis. */
void hd__viz_draw_text(hd_picture *p, double x, double y, double size, const char *anchor,
                       bool upwards, double width, const char *text);
/* Ends the picture and returns it. If memory ran out during drawing, frees the picture and returns
 * NULL with an error. */
hd_picture *hd__viz_picture_ready(hd_picture *p);

/* ---------------------------------------------------------------- axes (axis.c) */

enum { HD__MAX_TICKS = 24, HD__TICK_TEXT = 64 };

typedef struct hd__viz_axis {
    bool log;
    bool whole;               /* true: only whole numbers get ticks */
    double lo, hi;            /* the values at the two ends; if log is true, their log10 */
    int n;                    /* the number of ticks */
    double at[HD__MAX_TICKS]; /* each tick's place: 0 at lo, 1 at hi */
    char label[HD__MAX_TICKS][HD__TICK_TEXT];
} hd__viz_axis;

/* True if an axis can show v: |v| is at most 1e300, and v is above 0 if log is true. */
bool hd__viz_axis_takes(bool log, double v);
/* Returns an axis from lo to hi, extended at both ends by pad times its length. If lo > hi, the
 * axis is from 0 to 1. */
hd__viz_axis hd__viz_axis_of(bool log, double lo, double hi, double pad);
/* Sets the axis's ticks, at round values. There are at most max ticks, or at most 2 if max is less
 * than 2; but a log axis with only one or two powers of ten may have up to 8. */
void hd__viz_axis_ticks(hd__viz_axis *a, int max);
/* Returns the place of value v on the axis: 0 at lo, 1 at hi. */
double hd__viz_axis_at(const hd__viz_axis *a, double v);

#endif
