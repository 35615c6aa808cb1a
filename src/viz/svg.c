/* svg.c - a picture as SVG: the display list, element by element.
 *
 * Rectangles are drawn without smoothing, so that cells side by side show no seam. */
#include "viz/viz_internal.h"

/* ---------------------------------------------------------------- pieces */

static void put_attribute(hd__vtext *t, const char *name, double v)
{
    hd__vtext_puts(t, " ");
    hd__vtext_puts(t, name);
    hd__vtext_puts(t, "=\"");
    hd__vtext_number(t, v, 2);
    hd__vtext_puts(t, "\"");
}

static void put_color(hd__vtext *t, const char *name, hd__rgb color)
{
    static const char digits[] = "0123456789abcdef";
    hd__vtext_puts(t, " ");
    hd__vtext_puts(t, name);
    hd__vtext_puts(t, "=\"#");
    for (int shift = 20; shift >= 0; shift -= 4) {
        hd__vtext_add(t, &digits[color >> shift & 15], 1);
    }
    hd__vtext_puts(t, "\"");
}

/* Escaped; what XML 1.0 cannot hold becomes U+FFFD. */
static void put_escaped(hd__vtext *t, const char *s)
{
    while (*s) {
        uint32_t code = hd__vutf8_next(&s);
        bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
        switch (code) {
        case '&': hd__vtext_puts(t, "&amp;"); break;
        case '<': hd__vtext_puts(t, "&lt;"); break;
        case '>': hd__vtext_puts(t, "&gt;"); break;
        case '"': hd__vtext_puts(t, "&quot;"); break;
        default: hd__vtext_utf8(t, control || code == 0xFFFE || code == 0xFFFF ? 0xFFFD : code);
        }
    }
}

/* ---------------------------------------------------------------- items */

static void put_rect(hd__vtext *t, const hd__item *item)
{
    hd__vtext_puts(t, "<rect");
    put_attribute(t, "x", item->at.x);
    put_attribute(t, "y", item->at.y);
    put_attribute(t, "width", item->w);
    put_attribute(t, "height", item->h);
    put_color(t, "fill", item->color);
    hd__vtext_puts(t, "/>\n");
}

static void put_line(hd__vtext *t, const hd_picture *p, const hd__item *item)
{
    hd__vtext_puts(t, "<path d=\"");
    for (size_t i = 0; i < item->n + (item->n == 1); i++) { /* a dot is a line to itself */
        const hd__point *q = &p->points[item->first + (item->n == 1 ? 0 : i)];
        hd__vtext_puts(t, i == 0 ? "M" : i == 1 ? " L" : " ");
        hd__vtext_number(t, q->x, 2);
        hd__vtext_puts(t, " ");
        hd__vtext_number(t, q->y, 2);
    }
    hd__vtext_puts(t, "\" fill=\"none\"");
    put_color(t, "stroke", item->color);
    put_attribute(t, "stroke-width", item->n == 1 ? 2 * item->width : item->width);
    if (item->dash > 0) {
        put_attribute(t, "stroke-dasharray", item->dash);
    }
    hd__vtext_puts(t, item->width > 1 ? " stroke-linecap=\"round\" stroke-linejoin=\"round\"/>\n"
                                      : "/>\n");
}

static void put_text(hd__vtext *t, const hd_picture *p, const hd__item *item)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    hd__vtext_puts(t, "<text");
    put_attribute(t, "x", item->at.x);
    put_attribute(t, "y", item->at.y);
    put_attribute(t, "font-size", item->size);
    hd__vtext_puts(t, " text-anchor=\"");
    hd__vtext_puts(t, anchors[item->anchor]);
    hd__vtext_puts(t, "\"");
    put_color(t, "fill", item->color);
    if (item->upwards) {
        hd__vtext_puts(t, " transform=\"rotate(-90 ");
        hd__vtext_number(t, item->at.x, 2);
        hd__vtext_puts(t, " ");
        hd__vtext_number(t, item->at.y, 2);
        hd__vtext_puts(t, ")\"");
    }
    hd__vtext_puts(t, ">");
    put_escaped(t, p->texts + item->first);
    hd__vtext_puts(t, "</text>\n");
}

/* ---------------------------------------------------------------- public */

static void put_head(hd__vtext *t, const hd_picture *p)
{
    hd__vtext_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    put_attribute(t, "width", p->width);
    put_attribute(t, "height", p->height);
    hd__vtext_puts(t, " viewBox=\"0 0 ");
    hd__vtext_number(t, p->width, 2);
    hd__vtext_puts(t, " ");
    hd__vtext_number(t, p->height, 2);
    hd__vtext_puts(t, "\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n"
                      "<style>rect { shape-rendering: crispEdges }</style>\n");
}

char *hd_picture_svg(const hd_picture *p)
{
    if (!p) {
        return hd_error_set(HD_NULL_ARG, "hd_picture_svg: p is NULL");
    }
    hd__vtext t = {0};
    put_head(&t, p);
    for (size_t i = 0; i < p->n_items; i++) {
        const hd__item *item = &p->items[i];
        switch (item->kind) {
        case HD__RECT: put_rect(&t, item); break;
        case HD__LINE: put_line(&t, p, item); break;
        case HD__TEXT: put_text(&t, p, item); break;
        }
    }
    hd__vtext_puts(&t, "</svg>\n");
    return hd__vtext_take(&t);
}
