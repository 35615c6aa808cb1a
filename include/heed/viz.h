/* viz.h - pictures: loss curves, attention maps, the backward graph (libheed-viz).
 *
 * A picture is drawn once and saved as SVG or PNG. Text is UTF-8; in a PNG, characters outside
 * ASCII appear as boxes. Equal input gives equal bytes, whatever the locale. Files are written
 * whole or not at all: a failed save leaves the old file. While an error stands, saving does
 * nothing and returns false. Colours are told apart by the colour-blind too (Okabe and Ito 2008).
 */
#ifndef HEED_VIZ_H
#define HEED_VIZ_H

#include "heed/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- pictures */

typedef struct hd_picture hd_picture; /* not in any scope: hd_picture_free */

HD_API void hd_picture_free(hd_picture *p);          /* takes NULL */
HD_API double hd_picture_width(const hd_picture *p); /* in pixels of scale 1; NaN on error */
HD_API double hd_picture_height(const hd_picture *p);
HD_API char *hd_picture_svg(const hd_picture *p); /* the SVG file's text; free with hd_free */
HD_API bool hd_picture_save_svg(const hd_picture *p, const char *path);
/* scale: pixels of the file to one of the picture, 0.1 to 16; 2 suits most screens. HD_STATE when
 * heed was built without libpng (hd_has_png() is false). */
HD_API bool hd_picture_save_png(const hd_picture *p, const char *path, double scale);
HD_API bool hd_has_png(void);

/* ---------------------------------------------------------------- curves */

typedef struct hd_series {
    const char *name; /* in the legend; NULL or "": not there */
    int64_t n;
    const double *x; /* NULL: 0, 1, 2, ... */
    const double *y; /* a value that cannot be shown leaves a gap: NaN, infinite, over 1e300, or not
                       * above 0 on a log axis */
} hd_series;

typedef struct hd_plot_options {
    size_t size;
    const char *title, *x_label, *y_label; /* NULL: none */
    bool log_x, log_y;                     /* false */
    int width, height;                     /* 720, 440: 200 to 8192 */
} hd_plot_options;

HD_API hd_plot_options hd_plot_defaults(void);
/* One line a series, in one pair of axes; up to 64. o NULL: defaults. */
HD_API hd_picture *hd_plot_lines(int64_t n, const hd_series *series, const hd_plot_options *o);

/* ---------------------------------------------------------------- attention */

typedef struct hd_attention_map_options {
    size_t size;
    const char *title; /* NULL: none */
    int columns;       /* panels side by side; 0: about as many as below each other */
    double max;        /* the weight of the darkest colour; 0: the largest there is */
} hd_attention_map_options;

HD_API hd_attention_map_options hd_attention_map_defaults(void);
/* weights (heads, queries, keys), or (queries, keys) for one head, of a float dtype: a panel a
 * head, queries downwards, keys to the right; 0 and less is white, NaN is red. queries and keys: a
 * text for every token; NULL: its number; keys NULL with as many keys as queries: the queries'
 * texts. Of a batch, hd_select(weights, 0, i) is one. o NULL: defaults. */
HD_API hd_picture *hd_attention_map(const hd_tensor *weights, const char *const *queries,
                                    const char *const *keys, const hd_attention_map_options *o);

/* ---------------------------------------------------------------- the graph */

/* What backward from x would walk, in Graphviz's language (dot -Tsvg FILE): a box for each recorded
 * call with its grad_fn and the shape of its result, one for each leaf that requires grad; arrows
 * point from inputs to results. names: as hd_module_named_parameters gives them; a leaf that is in
 * it shows its name. NULL: none. Free the text with hd_free. */
HD_API char *hd_graph_dot(hd_tensor *x, const hd_dict *names);
HD_API bool hd_graph_save_dot(hd_tensor *x, const hd_dict *names, const char *path);

#ifdef __cplusplus
}
#endif
#endif
