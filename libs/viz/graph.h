/* graph.h - the backward graph that hd_graph_dot reads, groups by modules and writes as DOT.
 *
 * Nodes and modules have numbers, which do not depend on addresses. Node 0 is the tensor's own
 * node, module 0 is the whole graph, and -1 means none. No function is recursive, so a graph may
 * have any depth. A path leads from a node to the tensor. Each of its nodes is an input of the next
 * one.
 *
 * A view without a name has no box, unless the option `full` is set. If such a view is the only
 * user of a call's result, the text in the call's box mentions the view; otherwise the labels of
 * the arrows through the view do. */
#ifndef HEED_VIZ_GRAPH_H
#define HEED_VIZ_GRAPH_H

#include "viz/viz_internal.h"

typedef struct hd__viz_graph_node {
    const hd_node *node;
    const char *op;    /* its grad_fn, such as "MulBackward0" */
    const char *name;  /* its dotted name in the caller's dictionary, or NULL */
    int64_t inputs;    /* the index of its first input in the graph's inputs */
    int64_t uses;      /* the number of times that it is an input of other nodes */
    bool placed;       /* it is in the graph's `order` */
    int64_t back;      /* in put_in_order: the node from which the walk came */
    int turn;          /* in put_in_order: the number of the input that is visited next */
    int64_t leaf;      /* itself if a leaf, or the leaf of which it is a view, or -1 */
    int64_t last_user; /* the last node in the order that has it as an input */
    int64_t user;      /* of a leaf: the first call that takes the leaf or a view of it; else -1 */
    int64_t weight;    /* of a call: the first named leaf that it takes, or -1 */
    /* of a named leaf: calls that take the leaf and also data (takes_data in graph_modules.c) */
    int64_t taker;  /* the last of these calls, or -1 */
    int64_t takers; /* the number of these calls */
    int64_t below;  /* the nearest later node that is on all paths from this node to the tensor */
    int64_t depth;  /* the number of steps, each to `below`, from here to the tensor */
    int64_t jump;   /* a node further down the chain of `below`, for long walks (graph_modules.c) */
    int64_t module; /* the module in which it is drawn */
    int64_t box;    /* the module whose box hides it, or -1 */
    bool layout;    /* a call that only views or copies its one input */
} hd__viz_graph_node;

typedef struct hd__viz_graph_module {
    const char *name; /* the first `len` bytes are its dotted name */
    size_t len;
    int depth; /* the number of modules around it; 0 for module 0 */
    int64_t parent;
    int64_t end;          /* the first node on all paths from its calls to the tensor, or -1 */
    bool numbered, named; /* numbered: some child's name is a number; named: some child's is not */
    bool list;            /* it is, or may be, a list of modules, which is not called */
    bool once; /* known to be called only once: one of its leaves is used in only one call */
    const char *class_name;  /* such as "MultiHeadAttention", or NULL */
    int64_t calls, clusters; /* the numbers of calls, and of clusters and boxes, directly in it */
    bool drawn;              /* it is drawn as a cluster */
    int64_t cluster; /* its own number if drawn; else that of the nearest cluster around it, or 0 */
    /* the number of the module, itself or one around it, that is drawn as one box; or -1 */
    int64_t box;
} hd__viz_graph_module;

typedef struct hd__viz_graph {
    const hd_graph_options *o;
    hd__viz_graph_node *nodes;
    hd__viz_graph_module *modules;
    int64_t n, n_modules, nodes_room, modules_room;
    int64_t *inputs;  /* the inputs of all nodes, node by node; -1 for one that needs no gradient */
    int64_t *order;   /* the nodes' numbers, every node after its inputs */
    hd_dict *numbers; /* the nodes' numbers by their addresses */
    bool clusters;    /* at least one module is drawn as a cluster */
    hd__text t;       /* the DOT text */
} hd__viz_graph;

/* ---------------------------------------------------------------- graph_nodes.c */

/* Reads the graph of root into g. `names` has tensors by their names; NULL if there are no names.
 * Returns false with an error on failure. The innermost scope owns the names of users' ops. */
bool hd__viz_graph_read(hd__viz_graph *g, const hd_node *root, const hd_dict *names);

/* Returns the node that is input k of node i, or -1 if the input needs no gradient. If output is
 * not NULL, *output gets the number of the returned node's output that i takes. */
int64_t hd__viz_graph_input(const hd__viz_graph *g, int64_t i, int k, int *output);
/* Returns the number of elements of the node's output number `output`. */
int64_t hd__viz_graph_elements(const hd_node *node, int output);

/* True if op without "Backward0" is one of `names`, such as "|View|Transpose|". */
bool hd__viz_graph_op_in(const char *op, const char *names);
/* Returns the length of op without "Backward0", such as 7 for "SoftmaxBackward0". */
int hd__viz_graph_op_length(const char *op);

/* ---------------------------------------------------------------- graph_modules.c */

/* Finds the module of every node, and decides how each module is drawn. `names` has the classes of
 * modules. Returns false with an error if memory runs out. */
bool hd__viz_graph_group(hd__viz_graph *g, const hd_dict *names);

/* ---------------------------------------------------------------- dot_boxes.c */

/* The largest number of outputs, and of views, in one label. */
enum { HD__DOT_OUTPUTS = 4, HD__DOT_VIEWS = 4 };

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
/* Returns the hidden view that node i's box mentions, because only this view uses i's result.
 * Returns -1 if there is none. */
int64_t hd__viz_dot_view_after(const hd__viz_graph *g, int64_t i);

/* Writes the n bytes at s as a part of a quoted string. */
void hd__viz_dot_escape(hd__viz_graph *g, const char *s, size_t n);
/* Writes the sizes of node i's outputs, such as " (2, 8, 32)". */
void hd__viz_dot_sizes(hd__viz_graph *g, int64_t i);

/* ---------------------------------------------------------------- dot_arrows.c */

/* Writes all arrows. Returns false with an error if memory runs out. */
bool hd__viz_dot_arrows(hd__viz_graph *g);

#endif
