/* picture.c - the public functions of a picture, and what it and a tensor must be to be drawn. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "viz/viz_internal.h"

/* Is p a picture, as far as that can be known? */
static bool picture_given(const char *function, const hd_picture *p)
{
    return hd__given_to(function, "p", p) &&
           (p->freed != HD__PICTURE_FREED ||
            hd_error_set(HD_STATE, "%s: p was freed by hd_picture_free", function));
}

/* The mark lies far enough in the block that hd_free leaves it there. */
_Static_assert(offsetof(hd_picture, freed) >= 64, "a free block's first bytes are written over");

void hd_picture_free(hd_picture *p)
{
    if (p && (void *)p != (void *)HD_NONE && picture_given("hd_picture_free", p)) {
        p->freed = HD__PICTURE_FREED;
        hd_free(p->svg.s);
        hd_free(p);
    }
}

/* ---------------------------------------------------------------- public */

double hd_picture_width(const hd_picture *p)
{
    return picture_given("hd_picture_width", p) ? p->width : NAN;
}

double hd_picture_height(const hd_picture *p)
{
    return picture_given("hd_picture_height", p) ? p->height : NAN;
}

bool hd__viz_tensor_given(const char *function, const char *arg, const hd_tensor *x)
{
    if (x == HD_NONE) {
        return hd_error_set(HD_NULL_ARG, "%s: %s is HD_NONE: expected a tensor", function, arg);
    }
    bool first = hd_error_code() == HD_OK;
    if (!hd__given_to(function, arg, x) || hd_ndim(x) >= 0) {
        return x;
    }
    if (first) { /* x was freed: the error gets the names that the user knows */
        char text[400];
        snprintf(text, sizeof text, "%s", hd_error_message() + strlen("hd_ndim: x "));
        hd_error_clear();
        hd_error_set(HD_STATE, "%s: %s %s", function, arg, text);
    }
    return false;
}

char *hd_picture_svg(const hd_picture *p)
{
    char *svg = picture_given("hd_picture_svg", p) ? hd_alloc(p->svg.len + 1) : NULL;
    return svg ? memcpy(svg, p->svg.s, p->svg.len + 1) : NULL;
}

bool hd_picture_save_svg(const hd_picture *p, const char *path)
{
    return picture_given("hd_picture_save_svg", p) &&
           hd__given_to("hd_picture_save_svg", "path", path) &&
           hd__may_save("hd_picture_save_svg") &&
           hd__whole_write("hd_picture_save_svg", path, NULL, p->svg.s, p->svg.len);
}
