/* svg.c - draws rectangles, lines and texts, each as one element of the picture's SVG.
 *
 * Rectangles have no antialiasing, which would show as a seam between neighbouring cells. */
#include <inttypes.h>

#include "viz/viz_internal.h"

/* ---------------------------------------------------------------- rectangles and lines */

void hd__viz_draw_rect(hd_picture *p, double x, double y, double w, double h, hd__viz_rgb color)
{
    hd__text_format(
        &p->svg, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%06" PRIx32 "\"/>\n",
        x, y, w, h, color);
}

void hd__viz_draw_line(hd_picture *p, double width, double dash, hd__viz_rgb color)
{
    hd__text_format(&p->svg, "<path fill=\"none\" stroke=\"#%06" PRIx32 "\" stroke-width=\"%g\"",
                    color, width);
    if (dash > 0) {
        hd__text_format(&p->svg, " stroke-dasharray=\"%g\"", dash);
    }
    hd__text_puts(&p->svg, width > 1 ? " stroke-linecap=\"round\" stroke-linejoin=\"round\"" : "");
    hd__text_puts(&p->svg, " d=\"M");
}

void hd__viz_draw_to(hd_picture *p, double x, double y)
{
    hd__text_format(&p->svg, " %g %g", x, y);
}

void hd__viz_draw_end(hd_picture *p)
{
    hd__text_puts(&p->svg, "\"/>\n");
}

void hd__viz_draw_segment(hd_picture *p, double x0, double y0, double x1, double y1, double width,
                          double dash, hd__viz_rgb color)
{
    hd__viz_draw_line(p, width, dash, color);
    hd__viz_draw_to(p, x0, y0);
    hd__viz_draw_to(p, x1, y1);
    hd__viz_draw_end(p);
}

void hd__viz_draw_frame(hd_picture *p, double x, double y, double w, double h)
{
    hd__text_format(&p->svg,
                    "<path fill=\"none\" stroke=\"#%06x\" d=\"M %g %g h %g v %g h %g z\"/>\n",
                    HD__INK, x, y, w, h, -w);
}

/* ---------------------------------------------------------------- texts */

/* Returns "ko" or "ja" if the text has Korean or Japanese letters, and NULL otherwise. A viewer
 * needs the language to choose the shapes of Chinese characters, whose codes the languages
 * share. */
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

void hd__viz_draw_text(hd_picture *p, double x, double y, double size, const char *anchor,
                       bool upwards, double width, const char *text)
{
    hd__text *t = &p->svg;
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "\t", "\n", "\r"};
    if (!text || !*text) {
        return;
    }
    const char *language = language_of(text);
    size_t n = hd__viz_text_fit(text, size, width);
    hd__text_format(t, "<text x=\"%g\" y=\"%g\" font-size=\"%g\" text-anchor=\"%s\" fill=\"#%06x\"",
                    x, y, size, anchor, HD__INK);
    if (upwards) {
        hd__text_format(t, " transform=\"rotate(-90 %g %g)\"", x, y);
    }
    if (language) {
        hd__text_format(t, " xml:lang=\"%s\"", language);
    }
    hd__text_puts(t, ">");
    hd__viz_escape(t, text, n, "&<>\"\t\n\r", escapes);
    hd__text_puts(t, text[n] ? "\xe2\x80\xa6</text>\n" : "</text>\n");
}

/* ---------------------------------------------------------------- begin and end of a picture */

hd_picture *hd__viz_picture_new(double width, double height)
{
    hd_picture *p = hd_alloc(sizeof *p);
    void *locale = p ? hd__sys_locale_enter() : NULL;
    if (p && !locale) {
        hd_free(p);
        return hd_fail(HD_MEMORY, "out of memory for the C locale");
    }
    if (p) {
        *p = (hd_picture){.width = width, .height = height, .locale = locale};
        hd__text_format(&p->svg,
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
                        "viewBox=\"0 0 %g %g\" font-family=\"Helvetica, Arial, 'Liberation Sans', "
                        "'DejaVu Sans', 'Apple SD Gothic Neo', 'Malgun Gothic', "
                        "'Noto Sans CJK KR', sans-serif\">\n"
                        "<style>rect { shape-rendering: crispEdges }</style>\n",
                        width, height, width, height);
        hd__viz_draw_rect(p, 0, 0, width, height, HD__WHITE);
    }
    return p;
}

hd_picture *hd__viz_picture_ready(hd_picture *p)
{
    hd__text_puts(&p->svg, "</svg>\n");
    hd__sys_locale_leave(p->locale);
    if (p->svg.failed) {
        hd_picture_free(p);
        p = NULL;
    }
    return p;
}
