/* graph.h - the backward graph and its text in Graphviz's language: nodes, their names, the modules
 * that they belong to, and what is drawn of them.
 *
 * Nodes and modules have numbers, which do not depend on addresses. Node 0 is the tensor's own node
 * and module 0 is the whole graph; -1 means none. Nothing here recurses, so a graph may have any
 * depth.
 *
 * A view has no box of its own: it stands in the box of the call whose result only it uses, else on
 * the arrows that lead through it. */
#ifndef HEED_VIZ_GRAPH_H
#define HEED_VIZ_GRAPH_H

#include "viz/viz_internal.h"

typedef struct hd__viz_graph_node {
    const hd_node *node;
    const char *op;    /* its grad_fn, "MulBackward0" */
    const char *name;  /* its dotted name in the caller's dictionary, or NULL */
    int64_t inputs;    /* where those of its inputs begin in the graph's */
    int64_t uses;      /* how many inputs of other nodes it is */
    bool placed;       /* it has its place in the order */
    int64_t back;      /* while the order is made: the node whose input it is on the way to it, */
    int turn;          /* and which of its own inputs has its turn */
    int64_t leaf;      /* the leaf that it is, or is a view of */
    int64_t last_user; /* the last node in the order that takes it */
    int64_t user;      /* of a leaf: the first call that takes it or a view of it */
    int64_t weight;    /* the named leaf that gave it its module */
    int64_t taker;     /* of a named leaf: the last call that takes it beside data, */
    int64_t takers;    /* and how many do */
    int64_t below;     /* the nearest node that every way to the tensor goes through */
    int64_t depth;     /* how many such nodes there are */
    int64_t jump;      /* one of them, further down */
    int64_t module;    /* where it is drawn */
    int64_t box;       /* the module whose box hides it, or -1 */
    bool layout;       /* a call that only views or copies its one input: no number changes */
} hd__viz_graph_node;

typedef struct hd__viz_graph_module {
    const char *name; /* the first `len` bytes are its dotted name */
    size_t len;
    int depth; /* of module 0 it is 0 */
    int64_t parent;
    int64_t end;             /* the node at which the ways from its calls come together, or -1 */
    bool numbered, named;    /* it has a child whose name is a number; one whose name is not */
    bool list;               /* it is, or may be, a list of modules, which is not called */
    bool once;               /* a leaf in it goes into one call only, so that it was called once */
    const char *class_name;  /* "MultiHeadAttention", or NULL */
    int64_t calls, clusters; /* what stands in it: calls, and clusters inside it */
    bool drawn;              /* as a cluster */
    int64_t cluster;         /* the nearest cluster around what is in it; 0: none */
    int64_t box; /* it is part of this module, which is drawn as one box; -1: it is not */
} hd__viz_graph_module;

typedef struct hd__viz_graph {
    const hd_graph_options *o;
    hd__viz_graph_node *nodes;
    hd__viz_graph_module *modules;
    int64_t n, n_modules, nodes_room, modules_room;
    int64_t *inputs;  /* the numbers of all nodes' inputs; -1: it needs no gradient */
    int64_t *order;   /* the nodes' numbers, every node after its inputs */
    hd_dict *numbers; /* the nodes' numbers by their addresses */
    bool clusters;    /* a module is drawn as a cluster */
    hd__text t;       /* what is written */
} hd__viz_graph;

/* ---------------------------------------------------------------- graph_nodes.c */

/* Reads the graph above root, and the names that the dictionary (or NULL) has for its nodes. False
 * if memory runs out. Texts live in the scope. */
bool hd__viz_graph_read(hd__viz_graph *g, const hd_node *root, const hd_dict *names);

/* The number of input k of node i, and which output of it that is; -1 if it needs no gradient. */
int64_t hd__viz_graph_input(const hd__viz_graph *g, int64_t i, int k, int *output);
int64_t hd__viz_graph_elements(const hd_node *node, int output);

/* Is the op, without "Backward0", one of `names`, such as "|View|Transpose|"? */
bool hd__viz_graph_op_in(const char *op, const char *names);
/* "Softmax" of "SoftmaxBackward0" */
int hd__viz_graph_op_length(const char *op);

/* ---------------------------------------------------------------- graph_modules.c */

/* Finds the module of every node. */
bool hd__viz_graph_group(hd__viz_graph *g, const hd_dict *names);

/* ---------------------------------------------------------------- dot_boxes.c */

enum { HD__DOT_OUTPUTS = 4, HD__DOT_VIEWS = 4 }; /* the most that a text names */

#define HD__DOT_LEAF "style=\"filled,rounded\", fontsize=9, fillcolor=\"#cfe5f2\""
#define HD__DOT_CALL "fillcolor=\"#ffffff\""
#define HD__DOT_BOX "peripheries=2, fillcolor=\"#e3efda\""
#define HD__DOT_RESULT "fillcolor=\"#fbe3b3\", penwidth=2"

/* Writes the boxes of calls, leaves and modules, in the clusters of their modules. */
void hd__viz_dot_boxes(hd__viz_graph *g);

/* Is node i a view that has no box of its own, and is in no module's? */
bool hd__viz_dot_is_hidden(const hd__viz_graph *g, int64_t i);
/* Has node i a box of its own? */
bool hd__viz_dot_is_drawn(const hd__viz_graph *g, int64_t i);
/* The view that is the only user of node i's result, and stands in its box; -1: there is none. */
int64_t hd__viz_dot_view_after(const hd__viz_graph *g, int64_t i);

void hd__viz_dot_escape(hd__viz_graph *g, const char *s, size_t n);
void hd__viz_dot_sizes(hd__viz_graph *g, int64_t i); /* " (2, 8, 32)" */

/* ---------------------------------------------------------------- dot_arrows.c */

/* Writes the arrows. False if memory runs out. */
bool hd__viz_dot_arrows(hd__viz_graph *g);

#endif
