/* raster.c - draws a picture's items into pixels.
 *
 * Rectangles snap to pixels, as in the SVG. Everything else is lines with round ends: the nearer a
 * pixel's centre is to the middle of the line, the more of the pixel is covered. The colour of a
 * line, or of a text, is mixed into the picture once all of its segments have covered their pixels,
 * and the largest cover of a pixel counts. So places where segments meet are not drawn twice. */
#include <math.h>

#include "viz/font.h"
#include "viz/raster.h"

/* ---------------------------------------------------------------- coverage */

static void cover(hd__canvas *c, int x, int y, double part)
{
    uint8_t v = (uint8_t)lround(255 * fmin(fmax(part, 0), 1));
    uint8_t *at = &c->cover[(size_t)y * (size_t)c->width + (size_t)x];
    *at = v > *at ? v : *at;
}

static int clamp_pixel(double v, int most)
{
    return v < 0 ? 0 : v > most ? most : (int)v;
}

static void widen_bounds(hd__canvas *c, int x0, int y0, int x1, int y1)
{
    c->x0 = x0 < c->x0 ? x0 : c->x0;
    c->y0 = y0 < c->y0 ? y0 : c->y0;
    c->x1 = x1 > c->x1 ? x1 : c->x1;
    c->y1 = y1 > c->y1 ? y1 : c->y1;
}

/* The distance of (x, y) from the segment a b. */
static double segment_distance(double x, double y, hd__point a, hd__point b)
{
    double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    double t = length > 0 ? ((x - a.x) * dx + (y - a.y) * dy) / length : 0;
    t = fmin(fmax(t, 0), 1);
    return hypot(x - a.x - t * dx, y - a.y - t * dy);
}

/* Covers the segment from a to b, which are in pixels. In each row it looks only at the columns
 * that the segment can reach. */
static void cover_segment(hd__canvas *c, hd__point a, hd__point b, double width)
{
    double reach = width / 2 + 1, dy = b.y - a.y;
    int y0 = clamp_pixel(floor(fmin(a.y, b.y) - reach), c->height);
    int y1 = clamp_pixel(ceil(fmax(a.y, b.y) + reach), c->height);
    int left = clamp_pixel(floor(fmin(a.x, b.x) - reach), c->width);
    int right = clamp_pixel(ceil(fmax(a.x, b.x) + reach), c->width);
    widen_bounds(c, left, y0, right, y1);
    for (int y = y0; y < y1; y++) {
        int x0 = left, x1 = right;
        if (fabs(dy) > 2 * reach) { /* long and steep: only near where it crosses the row */
            double slope = (b.x - a.x) / dy, middle = a.x + (y + 0.5 - a.y) * slope;
            double near = reach * (1 + 2 * fabs(slope));
            x0 = clamp_pixel(fmax(floor(middle - near), left), c->width);
            x1 = clamp_pixel(fmin(ceil(middle + near), right), c->width);
        }
        for (int x = x0; x < x1; x++) {
            cover(c, x, y, width / 2 + 0.5 - segment_distance(x + 0.5, y + 0.5, a, b));
        }
    }
}

/* Mixes the covered pixels with color, and clears the coverage. */
static void paint(hd__canvas *c, hd__rgb color)
{
    for (int y = c->y0; y < c->y1; y++) {
        for (int x = c->x0; x < c->x1; x++) {
            size_t at = (size_t)y * (size_t)c->width + (size_t)x;
            unsigned part = c->cover[at];
            for (int i = 0; i < 3 && part; i++) {
                unsigned is = c->rgb[3 * at + (size_t)i], want = color >> (16 - 8 * i) & 255;
                c->rgb[3 * at + (size_t)i] =
                    (uint8_t)((is * (255 - part) + want * part + 127) / 255);
            }
            c->cover[at] = 0;
        }
    }
    c->x0 = c->width;
    c->y0 = c->height;
    c->x1 = c->y1 = 0;
}

/* ---------------------------------------------------------------- items */

static void draw_rect(hd__canvas *c, const hd__item *item)
{
    int x0 = clamp_pixel(round(item->at.x * c->scale), c->width);
    int x1 = clamp_pixel(round((item->at.x + item->w) * c->scale), c->width);
    int y0 = clamp_pixel(round(item->at.y * c->scale), c->height);
    int y1 = clamp_pixel(round((item->at.y + item->h) * c->scale), c->height);
    for (int y = y0; y < y1; y++) {
        uint8_t *row = c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x0);
        for (int x = x0; x < x1; x++, row += 3) {
            row[0] = (uint8_t)(item->color >> 16);
            row[1] = (uint8_t)(item->color >> 8);
            row[2] = (uint8_t)item->color;
        }
    }
}

static hd__point point_between(hd__point a, hd__point b, double t)
{
    return (hd__point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}

/* Dashes and gaps are `dash` long; *done is how much of the line lies before a. */
static void cover_dashed(hd__canvas *c, hd__point a, hd__point b, double width, double dash,
                         double *done)
{
    double length = hypot(b.x - a.x, b.y - a.y), at = 0;
    while (at < length) {
        double phase = fmod(*done + at, 2 * dash);
        double end = fmin(length, at + (phase < dash ? dash : 2 * dash) - phase);
        if (phase < dash) {
            cover_segment(c, point_between(a, b, at / length), point_between(a, b, end / length),
                          width);
        }
        at = end > at ? end : nextafter(length, INFINITY);
    }
    *done = fmod(*done + length, 2 * dash);
}

static void draw_line(hd__canvas *c, const hd_picture *p, const hd__item *item)
{
    double width = item->width * c->scale, dash = item->dash * c->scale, done = 0;
    for (int64_t i = 0; i < item->n; i++) {
        hd__point b = p->points[item->first + i], a = i ? p->points[item->first + i - 1] : b;
        a = (hd__point){a.x * c->scale, a.y * c->scale};
        b = (hd__point){b.x * c->scale, b.y * c->scale};
        if (item->n == 1) {
            cover_segment(c, a, b, 2 * width);
        } else if (i > 0 && dash > 0) {
            cover_dashed(c, a, b, width, dash, &done);
        } else if (i > 0) {
            cover_segment(c, a, b, width);
        }
    }
    paint(c, item->color);
}

static int grid(char digit)
{
    return digit <= '9' ? digit - '0' : digit - 'A' + 10;
}

/* Where a point of the font's grid lies, x units to the right of the text's anchor. */
static hd__point glyph_point(const hd__canvas *c, const hd__item *item, double x, double y)
{
    double unit = HD__FONT_UNIT * item->size;
    double right = x * unit, down = (y - 9) * unit;
    hd__point at = item->upwards ? (hd__point){item->at.x + down, item->at.y - right}
                                 : (hd__point){item->at.x + right, item->at.y + down};
    return (hd__point){at.x * c->scale, at.y * c->scale};
}

/* A part of a glyph, x units to the right of the text's anchor. */
static void draw_part(hd__canvas *c, const hd__item *item, const hd__glyph_part *part, double x,
                      double thick)
{
    double width = fmax(thick * item->size * c->scale, 0.9);
    hd__point from = {0, 0};
    const char *s = part->strokes;
    for (bool first = true; *s; s++) {
        if (*s == ' ') {
            first = true;
            continue;
        }
        hd__point to = glyph_point(c, item, x + part->x + part->wide * grid(s[0]),
                                   part->y + part->high * grid(s[1]));
        if (!first) {
            cover_segment(c, from, to, width);
        }
        from = to;
        first = false;
        s++;
    }
}

/* A mark goes to the glyph before it, so a glyph is drawn when the next one is known. */
static void draw_text(hd__canvas *c, const hd_picture *p, const hd__item *item)
{
    const char *text = p->texts.s + item->first;
    double units = hd__text_width(text, item->size) / (HD__FONT_UNIT * item->size);
    double x = 1 - (item->anchor == HD__START ? 0 : item->anchor == HD__END ? units : units / 2);
    while (*text) {
        hd__glyph g = hd__glyph_of(hd__viz_character(&text));
        for (const char *next = text; *next; text = next) {
            hd__glyph mark = hd__glyph_of(hd__viz_character(&next));
            if (!mark.mark) {
                break;
            }
            hd__glyph_add_mark(&g, mark.parts[0].strokes);
        }
        for (int i = 0; i < g.n && !g.mark; i++) {
            draw_part(c, item, &g.parts[i], x, g.thick);
        }
        x += g.advance;
    }
    paint(c, item->color);
}

/* ---------------------------------------------------------------- the whole */

bool hd__rasterise(hd__canvas *c, const hd_picture *p, double scale)
{
    int width = (int)ceil(p->width * scale - 1e-6), height = (int)ceil(p->height * scale - 1e-6);
    size_t pixels = (size_t)width * (size_t)height;
    *c = (hd__canvas){.width = width, .height = height, .scale = scale};
    c->rgb = hd_alloc(3 * pixels);
    c->cover = hd_alloc(pixels);
    if (!c->rgb || !c->cover) {
        return false;
    }
    memset(c->rgb, 255, 3 * pixels);
    memset(c->cover, 0, pixels);
    paint(c, HD__WHITE); /* nothing is covered yet: this only resets the bounds */
    for (int64_t i = 0; i < p->n_items; i++) {
        const hd__item *item = &p->items[i];
        switch (item->kind) {
        case HD__RECT: draw_rect(c, item); break;
        case HD__LINE: draw_line(c, p, item); break;
        case HD__TEXT: draw_text(c, p, item); break;
        }
    }
    return true;
}

void hd__canvas_free(hd__canvas *c)
{
    hd_free(c->rgb);
    hd_free(c->cover);
}
