/* picture.c - makes a picture, adds rectangles, lines and texts to it, and saves it as SVG. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "viz/viz_internal.h"

hd_picture *hd__picture_new(double width, double height)
{
    hd_picture *p = hd_alloc(sizeof *p);
    if (p) {
        *p = (hd_picture){.width = width, .height = height};
        hd__draw_rect(p, 0, 0, width, height, HD__WHITE);
    }
    return p;
}

bool hd__picture_given(const char *function, const hd_picture *p)
{
    return hd__given(function, "p", p) &&
           (p->freed != HD__PICTURE_FREED ||
            hd_error_set(HD_STATE, "%s: p was freed by hd_picture_free", function));
}

/* The mark lies far enough in the block that hd_free leaves it there. */
_Static_assert(offsetof(hd_picture, freed) >= 64, "a free block's first bytes are written over");

void hd_picture_free(hd_picture *p)
{
    if (p && (void *)p != (void *)HD_NONE && hd__picture_given("hd_picture_free", p)) {
        p->freed = HD__PICTURE_FREED;
        hd_free(p->items);
        hd_free(p->points);
        hd_free(p->texts.s);
        hd_free(p);
    }
}

hd_picture *hd__picture_ready(hd_picture *p)
{
    if (p && p->failed) {
        hd_picture_free(p);
        p = NULL;
    }
    return p;
}

/* ---------------------------------------------------------------- drawing */

/* A new item. After a failure it is one that nobody reads. */
static hd__item *add(hd_picture *p, hd__shape_kind kind, hd__rgb color)
{
    static _Thread_local hd__item nowhere;
    p->failed = p->failed || !hd__grow(&p->items, &p->items_room, p->n_items + 1, sizeof *p->items);
    hd__item *item = p->failed ? &nowhere : &p->items[p->n_items++];
    *item = (hd__item){.kind = kind, .color = color};
    return item;
}

void hd__draw_rect(hd_picture *p, double x, double y, double w, double h, hd__rgb color)
{
    hd__item *item = add(p, HD__RECT, color);
    item->at = (hd__point){x, y};
    item->w = w;
    item->h = h;
}

void hd__draw_line(hd_picture *p, double width, double dash, hd__rgb color)
{
    hd__item *item = add(p, HD__LINE, color);
    item->width = width;
    item->dash = dash;
    item->first = p->n_points;
}

void hd__draw_to(hd_picture *p, double x, double y)
{
    p->failed =
        p->failed || !hd__grow(&p->points, &p->points_room, p->n_points + 1, sizeof *p->points);
    if (!p->failed) {
        p->points[p->n_points++] = (hd__point){x, y};
        p->items[p->n_items - 1].n++;
    }
}

void hd__draw_segment(hd_picture *p, double x0, double y0, double x1, double y1, double width,
                      hd__rgb color)
{
    hd__draw_line(p, width, 0, color);
    hd__draw_to(p, x0, y0);
    hd__draw_to(p, x1, y1);
}

hd__item *hd__draw_text(hd_picture *p, double x, double y, double size, hd__anchor anchor,
                        const char *text)
{
    hd__item *item = add(p, HD__TEXT, HD__INK);
    item->at = (hd__point){x, y};
    item->size = size;
    item->anchor = anchor;
    item->first = (int64_t)p->texts.len;
    item->n = (int64_t)strlen(text) + 1;
    hd__text_add(&p->texts, text, (size_t)item->n);
    p->failed = p->failed || p->texts.failed;
    return item;
}

void hd__draw_text_upwards(hd_picture *p, double x, double y, double size, hd__anchor anchor,
                           const char *text)
{
    hd__draw_text(p, x, y, size, anchor, text)->upwards = true;
}

/* ---------------------------------------------------------------- public */

double hd_picture_width(const hd_picture *p)
{
    return hd__picture_given("hd_picture_width", p) ? p->width : NAN;
}

double hd_picture_height(const hd_picture *p)
{
    return hd__picture_given("hd_picture_height", p) ? p->height : NAN;
}

/* hd_ndim failed, because its x was freed: gives the error the names that the user knows. */
static bool name_again(const char *function, const char *arg)
{
    char text[400];
    const char *rest = strstr(hd_error_message(), ": x ");
    snprintf(text, sizeof text, "%s", rest ? rest + strlen(": x ") : hd_error_message());
    hd_error_clear();
    return hd_error_set(HD_STATE, "%s: %s %s", function, arg, text);
}

bool hd__viz_tensor_given(const char *function, const char *arg, const hd_tensor *x)
{
    if (x == HD_NONE) {
        return hd_error_set(HD_NULL_ARG, "%s: %s is HD_NONE: expected a tensor", function, arg);
    }
    if (!hd__given(function, arg, x)) {
        return false;
    }
    bool first = hd_error_code() == HD_OK;
    return hd_ndim(x) >= 0 || (first && name_again(function, arg));
}

bool hd__viz_may_save(const char *function, const char *arg, const void *p, const char *path)
{
    return hd__given(function, arg, p) && hd__given(function, "path", path) &&
           hd__may_save(function);
}

bool hd_picture_save_svg(const hd_picture *p, const char *path)
{
    if (!hd__picture_given("hd_picture_save_svg", p) ||
        !hd__viz_may_save("hd_picture_save_svg", "p", p, path)) {
        return false;
    }
    char *svg = hd_picture_svg(p);
    bool ok = svg && hd__whole_write("hd_picture_save_svg", path, svg, strlen(svg));
    hd_free(svg);
    return ok;
}
