/* raster.h - a picture as pixels. */
#ifndef HEED_VIZ_RASTER_H
#define HEED_VIZ_RASTER_H

#include "viz/viz_internal.h"

typedef struct hd__canvas {
    int width, height;
    double scale;       /* pixels for a length of 1 in the picture */
    uint8_t *rgb;       /* height rows of width pixels of 3 bytes */
    uint8_t *cover;     /* how much of each pixel the line being drawn covers, 0 to 255 */
    int x0, y0, x1, y1; /* the part of cover that is not 0: x0 <= x < x1, y0 <= y < y1 */
} hd__canvas;

/* Draws p; false if memory runs out. The caller calls hd__canvas_free in either case. */
bool hd__rasterise(hd__canvas *c, const hd_picture *p, double scale);
void hd__canvas_free(hd__canvas *c);

#endif
