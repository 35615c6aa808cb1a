/* viz_internal.h - the picture, and what draws into it.
 *
 * A picture is the SVG that is written while lines.c and attention.c draw rectangles, lines and
 * texts. y points downwards, and a length of 1 is one pixel. After one failure the text is `failed`
 * and takes nothing more, so drawing is checked once, at its end. */
#ifndef HEED_VIZ_INTERNAL_H
#define HEED_VIZ_INTERNAL_H

#include "base/error/args.h"
#include "base/text/text.h"
#include "base/text/whole.h"
#include "heed/viz.h"

/* ---------------------------------------------------------------- texts (text.c) */

/* Adds v with up to `decimals` decimals (at most 9), without trailing zeros, and with a point in
 * every locale. |v| < 1e9. */
void hd__viz_number(hd__text *t, double v, int decimals);

/* The character at *s, which moves on; U+FFFD for a byte that is not UTF-8. */
uint32_t hd__viz_character(const char **s);

/* Adds the n bytes at s with escapes[i] in place of each special[i]. A control character, or one
 * that XML 1.0 cannot hold, becomes U+FFFD. */
void hd__viz_escape(hd__text *t, const char *s, size_t n, const char *special,
                    const char *const *escapes);

/* How wide the text is at most, in the fonts that an SVG names. */
double hd__text_width(const char *text, double size);
/* Copies text to out. If it is wider than `width`, or longer than `room`, it is cut and ends with
 * dots. */
void hd__text_fit(char *out, size_t room, const char *text, double size, double width);

/* ---------------------------------------------------------------- arguments (picture.c) */

/* Is x, which the caller calls `arg`, a tensor, and neither NULL nor HD_NONE? */
bool hd__viz_tensor_given(const char *function, const char *arg, const hd_tensor *x);

/* Are p, which the caller calls `arg`, and path given, and does no error stand? */
bool hd__viz_may_save(const char *function, const char *arg, const void *p, const char *path);

/* ---------------------------------------------------------------- pictures */

typedef uint32_t hd__rgb; /* 0xRRGGBB */

enum { HD__INK = 0x333333, HD__PALE = 0xE4E4E4, HD__WHITE = 0xFFFFFF };

typedef enum hd__anchor { HD__START, HD__MIDDLE, HD__END } hd__anchor;

struct hd_picture {
    double width, height;
    hd__text svg;
    struct {
        int64_t n; /* points of the line that is being drawn */
        double x, y, width, dash;
        hd__rgb color;
    } line;
    uint32_t freed; /* HD__PICTURE_FREED after hd_picture_free, until the memory is used again */
};

#define HD__PICTURE_FREED 0x6f3e2d1cu

/* Is p a picture, as far as that can be known? */
bool hd__picture_given(const char *function, const hd_picture *p);

/* ---------------------------------------------------------------- drawing (svg.c) */

hd_picture *hd__picture_new(double width, double height); /* with a white background */
void hd__draw_rect(hd_picture *p, double x, double y, double w, double h, hd__rgb color);
/* Begins a line through the points that hd__draw_to adds. dash is the length of dashes and of gaps;
 * 0: it is solid. hd__draw_end ends it. A line of one point is a dot. */
void hd__draw_line(hd_picture *p, double width, double dash, hd__rgb color);
void hd__draw_to(hd_picture *p, double x, double y);
void hd__draw_end(hd_picture *p);
void hd__draw_segment(hd_picture *p, double x0, double y0, double x1, double y1, double width,
                      double dash, hd__rgb color);
/* In HD__INK; (x, y) is the start, middle or end of its baseline, which may run upwards. */
void hd__draw_text(hd_picture *p, double x, double y, double size, hd__anchor anchor, bool upwards,
                   const char *text);
/* With its middle at (x, y), and cut if it is wider than `width`. NULL: there is none. */
void hd__draw_title(hd_picture *p, double x, double y, double size, bool upwards, const char *text,
                    double width);
/* Returns the picture; if it failed, frees it and returns NULL. */
hd_picture *hd__picture_ready(hd_picture *p);

/* ---------------------------------------------------------------- axes (axis.c) */

enum { HD__MAX_TICKS = 24, HD__TICK_TEXT = 64 };

typedef struct hd__axis {
    bool log;
    double lo, hi; /* the values at the ends; of a log axis their log10 */
    int n;
    double at[HD__MAX_TICKS]; /* 0 at lo, 1 at hi */
    char label[HD__MAX_TICKS][HD__TICK_TEXT];
} hd__axis;

/* Can the axis show v? */
bool hd__axis_takes(bool log, double v);
/* An axis from lo to hi, made longer by `pad` of its length at both ends. lo > hi means that there
 * is no value to show. */
hd__axis hd__axis_of(bool log, double lo, double hi, double pad);
/* Chooses at most max ticks, at round values. */
void hd__axis_ticks(hd__axis *a, int max);
/* 0 at lo, 1 at hi. */
double hd__axis_at(const hd__axis *a, double v);
double hd__axis_label_width(const hd__axis *a, double size); /* of the widest label */

#endif
