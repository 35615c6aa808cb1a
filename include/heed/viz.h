/* viz.h - pictures: loss curves, attention maps, the backward graph (libheed-viz).
 *
 * A picture is drawn once and saved as SVG. `rsvg-convert -o picture.png picture.svg` (Debian's
 * librsvg2-bin) makes a PNG of it. Text is UTF-8 in any language, shown in the fonts of the
 * reader's machine; bytes that are no UTF-8 and control characters become U+FFFD. Equal input gives
 * equal bytes in every locale. Files are written whole or not at all: a failed save leaves the old
 * file. While an error is set, saving does nothing and returns false. The colours differ for
 * colour-blind readers too (Okabe and Ito 2008). */
#ifndef HEED_VIZ_H
#define HEED_VIZ_H

#include "heed/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- pictures */

/* A picture. It lives in no scope: free it with hd_picture_free. The use of a freed picture is
 * HD_STATE until something else takes its memory, and undefined then. */
typedef struct hd_picture hd_picture;

HD_API void hd_picture_free(hd_picture *p);          /* frees p; takes NULL */
HD_API double hd_picture_width(const hd_picture *p); /* in pixels at scale 1; NaN on error */
/* in pixels at scale 1; NaN on error */
HD_API double hd_picture_height(const hd_picture *p);
HD_API char *hd_picture_svg(const hd_picture *p); /* the text of an SVG file; free with hd_free */
HD_API bool hd_picture_save_svg(const hd_picture *p, const char *path); /* that text, to a file */

/* ---------------------------------------------------------------- curves */

/* A line of a plot: n points. */
typedef struct hd_series {
    const char *name; /* its text in the legend; NULL or "": none */
    int64_t n;        /* the number of points */
    const double *x;  /* NULL: 0, 1, 2, ... */
    const double *y;  /* values that cannot be shown leave a gap: NaN, infinite, over 1e300, and
                      * on a log axis values of 0 and below */
} hd_series;

typedef struct hd_plot_options {
    size_t size;
    const char *title, *x_label, *y_label; /* NULL: none */
    bool log_x, log_y;                     /* false */
    /* false; if true, the ticks of x are whole numbers, as for epochs. They always are if every x
     * of the points is a whole number. */
    bool whole_x;
    int width, height; /* 720, 440; each 200 to 8192 */
} hd_plot_options;

HD_API hd_plot_options hd_plot_defaults(void);
/* Draws one line for each of up to 64 series, in one pair of axes. o NULL: defaults. */
HD_API hd_picture *hd_plot_lines(int64_t n, const hd_series *series, const hd_plot_options *o);

/* ---------------------------------------------------------------- attention */

typedef struct hd_attention_map_options {
    size_t size;
    const char *title; /* NULL: none */
    int columns;       /* 0: about as many columns as rows; else the panels in a row */
    double max;        /* 0: the largest weight; the weight with the darkest colour */
} hd_attention_map_options;

HD_API hd_attention_map_options hd_attention_map_defaults(void);
/* Draws weights (heads, queries, keys), or (queries, keys) for one head, of a float dtype; of a
 * batch, hd_select(weights, 0, i) is one element. Each head has a panel, with queries downwards and
 * keys to the right. Weights of 0 and less are white, NaN is red. `queries` and `keys` hold a text
 * for every token. queries NULL: the numbers of the tokens. keys NULL: the texts of the queries if
 * there are as many keys as queries, else numbers. o NULL: defaults. */
HD_API hd_picture *hd_attention_map(const hd_tensor *weights, const char *const *queries,
                                    const char *const *keys, const hd_attention_map_options *o);

/* ---------------------------------------------------------------- the graph */

/* The options of a graph's picture. Each box of the graph is a recorded call, with its operation
 * and the shape of its result, or a leaf that requires grad. Arrows lead from inputs to results.
 * Data and buffers need no gradient, so they are not in the graph. Views stand in the box of the
 * tensor that they are views of: "then View, Transpose (2, 4, 8, 8)". A frame is a module. */
typedef struct hd_graph_options {
    size_t size;
    const char *title; /* NULL: none; it stands above the graph */
    int depth;         /* 0: modules are frames; else a module nested this deep is one box */
    bool full;         /* false; if true, each view has a box, and each call shows its grad_fn */
    bool parameters;   /* true; if false, leaves have no boxes */
    bool legend;       /* true; if false, no list of the boxes' meanings */
    bool sideways;     /* false; if true, arrows point to the right and not downwards */
} hd_graph_options;

HD_API hd_graph_options hd_graph_defaults(void);

/* Returns the graph that backward from x would walk, in Graphviz's language. `dot -Tsvg FILE -o
 * graph.svg` makes a picture of it, and `dot -Tpdf -Gsize=7.5,10.5 FILE -o graph.pdf` one for a
 * sheet of paper. The text does not depend on addresses. Free it with hd_free. HD_GRAD: x does not
 * require grad.
 *
 * names (NULL: none) is a dictionary such as hd_module_named_parameters gives. Its tensors give
 * their names to the boxes, "Linear W_query", and the dotted parts of these names are the modules,
 * "trf_blocks.0.att". A string in the dictionary is the class of the module of that name. Other
 * entries are skipped.
 *
 * A call is in the module whose parameters it takes. Any other call is in a module if calls before
 * it and after it are, as the ReLU between two Linears. If a module begins or ends without a
 * parameter, the graph does not tell its calls from the caller's: a last ReLU, the sum after a last
 * branch and the loss stand outside. So do the calls between the modules of a list, or of a module
 * with numbered children whose class is not given. */
HD_API char *hd_graph_dot(hd_tensor *x, const hd_dict *names);
/* Writes that text to a file. */
HD_API bool hd_graph_save_dot(hd_tensor *x, const hd_dict *names, const char *path);
/* hd_graph_dot and hd_graph_save_dot with options. o NULL means the defaults. HD_VALUE: depth is
 * below 0. */
HD_API char *hd_graph_dot_with(hd_tensor *x, const hd_dict *names, const hd_graph_options *o);
HD_API bool hd_graph_save_dot_with(hd_tensor *x, const hd_dict *names, const char *path,
                                   const hd_graph_options *o);

#ifdef __cplusplus
}
#endif
#endif
