/* dot.h - the graph's text in Graphviz's language while it is being written.
 *
 * dot.c begins and ends it, dot_boxes.c writes the boxes and clusters, and dot_arrows.c the arrows.
 * A view has no box of its own: it stands in the box of the call whose result only it uses, else on
 * the arrows that lead through it. */
#ifndef HEED_VIZ_DOT_H
#define HEED_VIZ_DOT_H

#include "viz/graph.h"

enum { HD__DOT_OUTPUTS = 4, HD__DOT_VIEWS = 4 }; /* the most that a text names */

#define HD__DOT_LEAF "style=\"filled,rounded\", fontsize=9, fillcolor=\"#cfe5f2\""
#define HD__DOT_CALL "fillcolor=\"#ffffff\""
#define HD__DOT_BOX "peripheries=2, fillcolor=\"#e3efda\""
#define HD__DOT_RESULT "fillcolor=\"#fbe3b3\", penwidth=2"

typedef struct hd__dot {
    const hd__graph *g;
    const hd_graph_options *o;
    hd__text t;
} hd__dot;

/* ---------------------------------------------------------------- dot_boxes.c */

void hd__dot_boxes(hd__dot *d);

const hd__graph_module *hd__dot_module(const hd__dot *d, int64_t i); /* of node i */
/* Is node i a view that has no box of its own? */
bool hd__dot_is_hidden(const hd__dot *d, int64_t i);
/* Has node i a box of its own? */
bool hd__dot_is_drawn(const hd__dot *d, int64_t i);
/* The view that is the only user of node i's result, and stands in its box; -1: there is none. */
int64_t hd__dot_view_after(const hd__dot *d, int64_t i);

void hd__dot_escape(hd__dot *d, const char *s);
void hd__dot_sizes(hd__dot *d, int64_t i); /* " (2, 8, 32)" */

/* ---------------------------------------------------------------- dot_arrows.c */

bool hd__dot_arrows(hd__dot *d); /* false if memory runs out */

#endif
