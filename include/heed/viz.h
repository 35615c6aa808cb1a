/* viz.h - pictures: curves, such as those of a loss, attention maps, and the graph of backward
 * (libheed-viz).
 *
 * A picture is drawn once and saved as SVG. `rsvg-convert -o picture.png picture.svg` (Debian's
 * librsvg2-bin) makes a PNG of it. Text is UTF-8 in any language, shown in the fonts of the
 * reader's machine. Bytes that are not UTF-8, and control characters, become U+FFFD. The same input
 * gives the same bytes in every locale. A file is written whole or not at all: a failed save leaves
 * the old file. While an error is set, saving does nothing and returns false. Even colour-blind
 * readers can tell the colours apart (Okabe and Ito 2008). */
#ifndef HEED_VIZ_H
#define HEED_VIZ_H

#include "heed/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- pictures */

/* A picture. No scope owns it: free it with hd_picture_free. A function that gets a freed picture
 * fails with HD_STATE, until its memory is reused; after that, the behaviour is undefined. */
typedef struct hd_picture hd_picture;

HD_API void hd_picture_free(hd_picture *p); /* frees p; takes NULL */
/* the width in pixels at scale 1; NaN on error */
HD_API double hd_picture_width(const hd_picture *p);
/* the height in pixels at scale 1; NaN on error */
HD_API double hd_picture_height(const hd_picture *p);
HD_API char *hd_picture_svg(const hd_picture *p); /* the text of an SVG file; free with hd_free */
/* writes the text of hd_picture_svg to the file at path */
HD_API bool hd_picture_save_svg(const hd_picture *p, const char *path);

/* ---------------------------------------------------------------- curves */

/* A curve of a plot, with n points. */
typedef struct hd_series {
    const char *name; /* the curve's text in the legend; NULL or "": none */
    int64_t n;        /* the number of points */
    const double *x;  /* n values; NULL: 0, 1, 2, ... */
    /* n values; a gap in the curve stands for NaN, infinities, values beyond 1e300, and on a log
     * axis for values <= 0 */
    const double *y;
} hd_series;

typedef struct hd_plot_options {
    size_t size;
    const char *title, *x_label, *y_label; /* default NULL: no title or label */
    bool log_x, log_y;                     /* default false; if true, the axis is logarithmic */
    /* default false; if true, the ticks of x are whole numbers, as for epochs. If every x of the
     * points is a whole number, so are the ticks, even with false. */
    bool whole_x;
    int width, height; /* default 720, 440; in pixels, each 200 to 8192 */
} hd_plot_options;

HD_API hd_plot_options hd_plot_defaults(void);
/* Draws one curve for each of n series (at most 64), all in one pair of axes. o NULL: the
 * defaults. */
HD_API hd_picture *hd_plot_lines(int64_t n, const hd_series *series, const hd_plot_options *o);

/* ---------------------------------------------------------------- attention */

typedef struct hd_attention_map_options {
    size_t size;
    const char *title; /* default NULL: no title */
    int columns; /* default 0: about as many columns as rows; else the number of panels in a row */
    double max;  /* default 0: the largest weight; else the weight that gets the darkest colour */
} hd_attention_map_options;

HD_API hd_attention_map_options hd_attention_map_defaults(void);
/* Draws attention weights (heads, queries, keys), or (queries, keys) for one head, of float32 or
 * float64. If weights has a batch, pass hd_select(weights, 0, i) for its element i. Each head has a
 * panel, with queries from top to bottom and keys from left to right. Weights <= 0 are white, and
 * NaN is red. `queries` and `keys` hold a text for each query and each key. queries NULL: the
 * queries are numbered. keys NULL: the keys have the texts of the queries if there are as many keys
 * as queries; otherwise they are numbered. o NULL: the defaults. */
HD_API hd_picture *hd_attention_map(const hd_tensor *weights, const char *const *queries,
                                    const char *const *keys, const hd_attention_map_options *o);

/* ---------------------------------------------------------------- the graph */

/* The options of a graph's picture. Each box of the picture is a recorded call, with its operation
 * and the shape of its result, or a leaf that requires grad. Arrows lead from inputs to results.
 * Data and buffers need no gradient, so they are not in the graph. A view has no box of its own.
 * The box of the viewed tensor names the view, as in "then View, Transpose (2, 4, 8, 8)". A frame
 * around boxes is a module. */
typedef struct hd_graph_options {
    size_t size;
    const char *title; /* default NULL: no title; the text above the graph */
    /* default 0: every module is a frame; else each module at this depth of nesting is a single
     * box */
    int depth;
    bool full; /* default false; if true, views have boxes, too, and each call shows its grad_fn */
    bool parameters; /* default true; if false, leaves have no boxes */
    bool legend;     /* default true; if false, the picture has no legend */
    bool sideways;   /* default false; if true, arrows point to the right and not downwards */
} hd_graph_options;

HD_API hd_graph_options hd_graph_defaults(void);

/* Returns the graph that backward from x would walk, as a text in Graphviz's language DOT. `dot
 * -Tsvg FILE -o graph.svg` makes a picture of it, and `dot -Tpdf -Gsize=7.5,10.5 FILE -o graph.pdf`
 * makes one for a sheet of paper. The text does not depend on addresses in memory. Free it with
 * hd_free. HD_GRAD: x does not require grad.
 *
 * names (NULL: none) is a dictionary such as hd_module_named_parameters returns. A box gets the
 * name of the parameter that its call uses, as in "Linear W_query". In a parameter's name, each
 * part that ends before a dot names a module: "att" and "att.W_query" in "att.W_query.weight". If
 * an entry of the dictionary is a string, its key is a module's name, and the string is the
 * module's class. Other entries are ignored.
 *
 * A call is drawn in the frame of the module whose parameters it uses. A call without parameters is
 * drawn in a module if calls of this module come before it and after it, as the ReLU between two
 * Linears. If the first or last calls of a module use no parameter, the graph cannot tell them from
 * the caller's calls, so they are drawn outside the module: a last ReLU, the sum after a last
 * branch, and the loss. A call between two modules of a list is also drawn outside them. If `names`
 * does not have a module's class, the module counts as a list if all its children have numbers as
 * names. */
HD_API char *hd_graph_dot(hd_tensor *x, const hd_dict *names);
/* Writes the text of hd_graph_dot to a file. */
HD_API bool hd_graph_save_dot(hd_tensor *x, const hd_dict *names, const char *path);
/* Do the same as hd_graph_dot and hd_graph_save_dot, with options (o NULL: the defaults). HD_VALUE:
 * depth is negative. */
HD_API char *hd_graph_dot_with(hd_tensor *x, const hd_dict *names, const hd_graph_options *o);
HD_API bool hd_graph_save_dot_with(hd_tensor *x, const hd_dict *names, const char *path,
                                   const hd_graph_options *o);

#ifdef __cplusplus
}
#endif
#endif
