/* picture.c - the public functions of a picture: its size, its SVG, saving and freeing. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "viz/viz_internal.h"

/* Returns false with an error if p is NULL, or a freed picture whose memory was not used again. */
static bool picture_given(const hd_picture *p)
{
    return hd__arg_given("p", p) &&
           (p->freed != HD__PICTURE_FREED || hd_fail(HD_STATE, "p was freed by hd_picture_free"));
}

/* hd_free overwrites the first 64 bytes of a block, and must not overwrite the mark `freed`. */
_Static_assert(offsetof(hd_picture, freed) >= 64, "a free block's first bytes are written over");

void hd_picture_free(hd_picture *p)
{
    HD__CALL("hd_picture_free");
    if (p && (void *)p != (void *)HD_NONE && picture_given(p)) {
        p->freed = HD__PICTURE_FREED;
        hd_free(p->svg.s);
        hd_free(p);
    }
}

/* ---------------------------------------------------------------- public */

double hd_picture_width(const hd_picture *p)
{
    HD__CALL("hd_picture_width");
    return picture_given(p) ? p->width : NAN;
}

double hd_picture_height(const hd_picture *p)
{
    HD__CALL("hd_picture_height");
    return picture_given(p) ? p->height : NAN;
}

char *hd_picture_svg(const hd_picture *p)
{
    HD__CALL("hd_picture_svg");
    char *svg = picture_given(p) ? hd_alloc(p->svg.len + 1) : NULL;
    return svg ? memcpy(svg, p->svg.s, p->svg.len + 1) : NULL;
}

bool hd_picture_save_svg(const hd_picture *p, const char *path)
{
    HD__CALL("hd_picture_save_svg");
    return picture_given(p) && hd__arg_given("path", path) && hd__arg_may_save() &&
           hd__file_whole_write(path, p->svg.s, p->svg.len);
}
