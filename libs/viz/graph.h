/* graph.h - the backward graph that hd_graph_dot reads, groups by module and writes as DOT.
 *
 * Nodes and modules have numbers, which do not depend on addresses. Node 0 is the tensor's own node
 * and module 0 is the whole graph; -1 means none. Nothing recurses, so a graph may have any depth.
 *
 * A view has no box. If it is the only user of a call's result, the call's box names it; otherwise
 * the arrows through it do. */
#ifndef HEED_VIZ_GRAPH_H
#define HEED_VIZ_GRAPH_H

#include "viz/viz_internal.h"

typedef struct hd__viz_graph_node {
    const hd_node *node;
    const char *op;    /* its grad_fn, "MulBackward0" */
    const char *name;  /* its dotted name in the caller's dictionary, or NULL */
    int64_t inputs;    /* the place of its first input in the graph's inputs */
    int64_t uses;      /* how often other nodes take it */
    bool placed;       /* it is in the order */
    int64_t back;      /* in put_in_order: the node from which the walk came */
    int turn;          /* in put_in_order: the input that is visited next */
    int64_t leaf;      /* itself, or the leaf that it is a view of, or -1 */
    int64_t last_user; /* the last node in the order that takes it */
    int64_t user;      /* of a leaf: the first call that takes it or a view of it */
    int64_t weight;    /* of a call: its first named leaf, or -1 */
    int64_t taker;     /* of a named leaf: the last call that takes it with data */
    int64_t takers;    /* of a named leaf: the number of such calls */
    int64_t below;     /* the nearest node that every way to the tensor goes through */
    int64_t depth;     /* the length of the chain of `below` down to the tensor */
    int64_t jump;      /* a node further down on this chain */
    int64_t module;    /* the module in which it is drawn */
    int64_t box;       /* the module whose box hides it, or -1 */
    bool layout;       /* a call that only views or copies its one input */
} hd__viz_graph_node;

typedef struct hd__viz_graph_module {
    const char *name; /* the first `len` bytes are its dotted name */
    size_t len;
    int depth; /* 0 for module 0 */
    int64_t parent;
    int64_t end;             /* the node at which the ways from its calls come together, or -1 */
    bool numbered, named;    /* it has a child whose name is a number; one whose name is not */
    bool list;               /* it is, or may be, a list of modules, which is not called */
    bool once;               /* it was called once: some leaf of it goes into one call only */
    const char *class_name;  /* "MultiHeadAttention", or NULL */
    int64_t calls, clusters; /* directly in it */
    bool drawn;              /* as a cluster */
    int64_t cluster;         /* itself if drawn, else the nearest cluster around it; 0: none */
    int64_t box;             /* itself or the module around it that is drawn as one box, or -1 */
} hd__viz_graph_module;

typedef struct hd__viz_graph {
    const hd_graph_options *o;
    hd__viz_graph_node *nodes;
    hd__viz_graph_module *modules;
    int64_t n, n_modules, nodes_room, modules_room;
    int64_t *inputs;  /* the numbers of all nodes' inputs; -1: it needs no gradient */
    int64_t *order;   /* the nodes' numbers, every node after its inputs */
    hd_dict *numbers; /* the nodes' numbers by their addresses */
    bool clusters;    /* some module is drawn as a cluster */
    hd__text t;       /* the DOT text */
} hd__viz_graph;

/* ---------------------------------------------------------------- graph_nodes.c */

/* Reads the graph of root into g, with the nodes' names in `names` (or NULL). False if memory runs
 * out. The names of users' ops belong to the scope. */
bool hd__viz_graph_read(hd__viz_graph *g, const hd_node *root, const hd_dict *names);

/* The node that is input k of node i, and in *output (unless NULL) the output of it that i takes;
 * -1 if the input needs no gradient */
int64_t hd__viz_graph_input(const hd__viz_graph *g, int64_t i, int k, int *output);
int64_t hd__viz_graph_elements(const hd_node *node, int output);

/* True if op without "Backward0" is one of `names`, such as "|View|Transpose|". */
bool hd__viz_graph_op_in(const char *op, const char *names);
/* The length of op without "Backward0": 7 for "SoftmaxBackward0". */
int hd__viz_graph_op_length(const char *op);

/* ---------------------------------------------------------------- graph_modules.c */

/* Finds the module of every node, and how modules are drawn. False if memory runs out. */
bool hd__viz_graph_group(hd__viz_graph *g, const hd_dict *names);

/* ---------------------------------------------------------------- dot_boxes.c */

enum { HD__DOT_OUTPUTS = 4, HD__DOT_VIEWS = 4 }; /* the most outputs and views in a label */

#define HD__DOT_LEAF "style=\"filled,rounded\", fontsize=9, fillcolor=\"#cfe5f2\""
#define HD__DOT_CALL "fillcolor=\"#ffffff\""
#define HD__DOT_BOX "peripheries=2, fillcolor=\"#e3efda\""
#define HD__DOT_RESULT "fillcolor=\"#fbe3b3\", penwidth=2"

/* Writes the boxes of calls, leaves and modules, in the clusters of their modules. */
void hd__viz_dot_boxes(hd__viz_graph *g);

/* True if node i is a view without a box, and in no module's box. */
bool hd__viz_dot_is_hidden(const hd__viz_graph *g, int64_t i);
/* True if node i has a box of its own. */
bool hd__viz_dot_is_drawn(const hd__viz_graph *g, int64_t i);
/* The hidden view that node i's box names, because only this view uses i's result; -1: none */
int64_t hd__viz_dot_view_after(const hd__viz_graph *g, int64_t i);

void hd__viz_dot_escape(hd__viz_graph *g, const char *s, size_t n);
void hd__viz_dot_sizes(hd__viz_graph *g, int64_t i); /* " (2, 8, 32)" */

/* ---------------------------------------------------------------- dot_arrows.c */

/* Writes the arrows. False if memory runs out. */
bool hd__viz_dot_arrows(hd__viz_graph *g);

#endif
