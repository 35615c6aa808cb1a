/* svg.c - writes a picture as SVG: each item is one element.
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

/* ---------------------------------------------------------------- items */

static void put_rect(hd__text *t, const hd__item *item)
{
    hd__text_puts(t, "<rect");
    put_attribute(t, "x", item->at.x);
    put_attribute(t, "y", item->at.y);
    put_attribute(t, "width", item->w);
    put_attribute(t, "height", item->h);
    put_color(t, "fill", item->color);
    hd__text_puts(t, "/>\n");
}

static void put_line(hd__text *t, const hd_picture *p, const hd__item *item)
{
    hd__text_puts(t, "<path d=\"");
    for (int64_t i = 0; i < item->n + (item->n == 1);
         i++) { /* a dot: a line from a point to itself */
        const hd__point *q = &p->points[item->first + (item->n == 1 ? 0 : i)];
        hd__text_puts(t, i == 0 ? "M" : i == 1 ? " L" : " ");
        put_point(t, q->x, q->y);
    }
    hd__text_puts(t, "\" fill=\"none\"");
    put_color(t, "stroke", item->color);
    put_attribute(t, "stroke-width", item->n == 1 ? 2 * item->width : item->width);
    if (item->dash > 0) {
        put_attribute(t, "stroke-dasharray", item->dash);
    }
    hd__text_puts(t, item->width > 1 ? " stroke-linecap=\"round\" stroke-linejoin=\"round\"/>\n"
                                     : "/>\n");
}

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

static void put_text(hd__text *t, const hd_picture *p, const hd__item *item)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "\t", "\n", "\r"};
    hd__text_puts(t, "<text");
    put_attribute(t, "x", item->at.x);
    put_attribute(t, "y", item->at.y);
    put_attribute(t, "font-size", item->size);
    hd__text_format(t, " text-anchor=\"%s\"", anchors[item->anchor]);
    put_color(t, "fill", item->color);
    if (item->upwards) {
        hd__text_puts(t, " transform=\"rotate(-90 ");
        put_point(t, item->at.x, item->at.y);
        hd__text_puts(t, ")\"");
    }
    const char *language = language_of(p->texts.s + item->first);
    if (language) {
        hd__text_format(t, " xml:lang=\"%s\"", language);
    }
    hd__text_puts(t, ">");
    hd__viz_escape(t, p->texts.s + item->first, "&<>\"\t\n\r", escapes);
    hd__text_puts(t, "</text>\n");
}

/* ---------------------------------------------------------------- public */

static void put_head(hd__text *t, const hd_picture *p)
{
    hd__text_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    put_attribute(t, "width", p->width);
    put_attribute(t, "height", p->height);
    hd__text_puts(t, " viewBox=\"0 0 ");
    put_point(t, p->width, p->height);
    hd__text_puts(t, "\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', "
                     "'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans CJK KR', sans-serif\">\n"
                     "<style>rect { shape-rendering: crispEdges }</style>\n");
}

char *hd_picture_svg(const hd_picture *p)
{
    if (!hd__picture_given("hd_picture_svg", p)) {
        return NULL;
    }
    hd__text t = {0};
    put_head(&t, p);
    for (int64_t i = 0; i < p->n_items; i++) {
        const hd__item *item = &p->items[i];
        switch (item->kind) {
        case HD__RECT: put_rect(&t, item); break;
        case HD__LINE: put_line(&t, p, item); break;
        case HD__TEXT: put_text(&t, p, item); break;
        }
    }
    hd__text_puts(&t, "</svg>\n");
    return hd__text_take(&t);
}
