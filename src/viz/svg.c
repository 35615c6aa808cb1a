/* svg.c - draws into a picture: each rectangle, line or text is one element of its SVG.
 *
 * Rectangles are drawn without smoothing, so that no seam shows between neighbouring cells. */
#include <inttypes.h>

#include "viz/viz_internal.h"

/* ---------------------------------------------------------------- pieces */

static void put_attribute(hd__text *t, const char *name, double v)
{
    hd__text_format(t, " %s=\"", name);
    hd__viz_number(t, v, 2);
    hd__text_puts(t, "\"");
}

static void put_color(hd__text *t, const char *name, hd__rgb color)
{
    hd__text_format(t, " %s=\"#%06" PRIx32 "\"", name, color);
}

/* "3 4.5" */
static void put_point(hd__text *t, double x, double y)
{
    hd__viz_number(t, x, 2);
    hd__text_puts(t, " ");
    hd__viz_number(t, y, 2);
}

/* ---------------------------------------------------------------- rectangles and lines */

void hd__draw_rect(hd_picture *p, double x, double y, double w, double h, hd__rgb color)
{
    hd__text *t = &p->svg;
    hd__text_puts(t, "<rect");
    put_attribute(t, "x", x);
    put_attribute(t, "y", y);
    put_attribute(t, "width", w);
    put_attribute(t, "height", h);
    put_color(t, "fill", color);
    hd__text_puts(t, "/>\n");
}

void hd__draw_line(hd_picture *p, double width, double dash, hd__rgb color)
{
    p->line.n = 0;
    p->line.width = width;
    p->line.dash = dash;
    p->line.color = color;
    hd__text_puts(&p->svg, "<path d=\"");
}

void hd__draw_to(hd_picture *p, double x, double y)
{
    hd__text_puts(&p->svg, p->line.n == 0 ? "M" : p->line.n == 1 ? " L" : " ");
    put_point(&p->svg, x, y);
    p->line.n++;
    p->line.x = x;
    p->line.y = y;
}

void hd__draw_end(hd_picture *p)
{
    hd__text *t = &p->svg;
    double width = p->line.width;
    if (p->line.n == 1) { /* a dot: a line from a point to itself */
        hd__draw_to(p, p->line.x, p->line.y);
        width *= 2;
    }
    hd__text_puts(t, "\" fill=\"none\"");
    put_color(t, "stroke", p->line.color);
    put_attribute(t, "stroke-width", width);
    if (p->line.dash > 0) {
        put_attribute(t, "stroke-dasharray", p->line.dash);
    }
    hd__text_puts(t, p->line.width > 1 ? " stroke-linecap=\"round\" stroke-linejoin=\"round\"/>\n"
                                       : "/>\n");
}

void hd__draw_segment(hd_picture *p, double x0, double y0, double x1, double y1, double width,
                      double dash, hd__rgb color)
{
    hd__draw_line(p, width, dash, color);
    hd__draw_to(p, x0, y0);
    hd__draw_to(p, x1, y1);
    hd__draw_end(p);
}

/* ---------------------------------------------------------------- texts */

/* The language that Chinese characters of a text are written for: they have the same codes, but
 * other shapes, in Korean, Japanese and Chinese. */
static const char *language_of(const char *text)
{
    const char *language = NULL;
    while (*text && !language) {
        uint32_t code = hd__viz_character(&text);
        language = code >= 0xAC00 && code <= 0xD7A3   ? "ko"
                   : code >= 0x3041 && code <= 0x30FF ? "ja"
                                                      : NULL;
    }
    return language;
}

void hd__draw_text(hd_picture *p, double x, double y, double size, hd__anchor anchor, bool upwards,
                   const char *text)
{
    hd__text *t = &p->svg;
    static const char *const anchors[] = {"start", "middle", "end"};
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "\t", "\n", "\r"};
    const char *language = language_of(text);
    hd__text_puts(t, "<text");
    put_attribute(t, "x", x);
    put_attribute(t, "y", y);
    put_attribute(t, "font-size", size);
    hd__text_format(t, " text-anchor=\"%s\"", anchors[anchor]);
    put_color(t, "fill", HD__INK);
    if (upwards) {
        hd__text_puts(t, " transform=\"rotate(-90 ");
        put_point(t, x, y);
        hd__text_puts(t, ")\"");
    }
    if (language) {
        hd__text_format(t, " xml:lang=\"%s\"", language);
    }
    hd__text_puts(t, ">");
    hd__viz_escape(t, text, strlen(text), "&<>\"\t\n\r", escapes);
    hd__text_puts(t, "</text>\n");
}

void hd__draw_title(hd_picture *p, double x, double y, double size, bool upwards, const char *text,
                    double width)
{
    char cut[256];
    if (text && *text) {
        hd__text_fit(cut, sizeof cut, text, size, width);
        hd__draw_text(p, x, y, size, HD__MIDDLE, upwards, cut);
    }
}

/* ---------------------------------------------------------------- the whole */

hd_picture *hd__picture_new(double width, double height)
{
    hd_picture *p = hd_alloc(sizeof *p);
    if (p) {
        *p = (hd_picture){.width = width, .height = height};
        hd__text *t = &p->svg;
        hd__text_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                         "<svg xmlns=\"http://www.w3.org/2000/svg\"");
        put_attribute(t, "width", width);
        put_attribute(t, "height", height);
        hd__text_puts(t, " viewBox=\"0 0 ");
        put_point(t, width, height);
        hd__text_puts(t,
                      "\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', "
                      "'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans CJK KR', sans-serif\">\n"
                      "<style>rect { shape-rendering: crispEdges }</style>\n");
        hd__draw_rect(p, 0, 0, width, height, HD__WHITE);
    }
    return p;
}

hd_picture *hd__picture_ready(hd_picture *p)
{
    if (p) {
        hd__text_puts(&p->svg, "</svg>\n");
    }
    if (p && p->svg.failed) {
        hd_picture_free(p);
        p = NULL;
    }
    return p;
}
