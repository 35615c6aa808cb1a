/* graph.h - the backward graph as dot.c draws it: its nodes, their names, and the modules that they
 * belong to.
 *
 * Nodes and modules have numbers, which do not depend on addresses. Node 0 is the tensor's own node
 * and module 0 is the whole graph; -1 means none. Nothing here recurses, so a graph may have any
 * depth. */
#ifndef HEED_VIZ_GRAPH_H
#define HEED_VIZ_GRAPH_H

#include "viz/viz_internal.h"

typedef struct hd__graph_node {
    const hd_node *node;
    const char *op;    /* its grad_fn, "MulBackward0" */
    const char *name;  /* its dotted name in the caller's dictionary, or NULL */
    int64_t uses;      /* how many inputs of other nodes it is */
    bool met;          /* while the order is made: it has a place in it, or will get one */
    int64_t leaf;      /* the leaf that it is, or is a view of */
    int64_t last_user; /* the last node in the order that takes it */
    int64_t user;      /* of a leaf: the first call that takes it or a view of it */
    int64_t weight;    /* the named leaf that gave it its module */
    int64_t taker;     /* of a named leaf: the last call that takes it beside data */
    bool several;      /* of a named leaf: several calls do */
    int64_t below;     /* the nearest node that every way to the tensor goes through */
    int64_t depth;     /* how many such nodes there are */
    int64_t jump;      /* one of them, further down */
    int64_t module;    /* where it is drawn */
    int64_t next;      /* the next node of the same module */
    bool layout;       /* a call that only views or copies its one input: no number changes */
} hd__graph_node;

typedef struct hd__graph_module {
    const char *name; /* the first `len` bytes are its dotted name */
    size_t len;
    int depth;                                     /* of module 0 it is 0 */
    int64_t parent, first_child, last_child, next; /* next: the next child of the same parent */
    int64_t first_node, last_node;                 /* the nodes that belong to it */
    int64_t end;             /* the node at which the ways from its calls come together, or -1 */
    bool list;               /* it is, or may be, a list of modules, which is not called */
    bool once;               /* a leaf in it goes into one call only, so that it was called once */
    const char *class_name;  /* "MultiHeadAttention", or NULL */
    int64_t calls, clusters; /* what stands in it: calls, and clusters inside it */
    bool drawn;              /* as a cluster */
    int64_t cluster;         /* the nearest cluster around what is in it; 0: none */
    int64_t box; /* it is part of this module, which is drawn as one box; -1: it is not */
} hd__graph_module;

typedef struct hd__graph {
    hd__graph_node *nodes;
    hd__graph_module *modules;
    int64_t n, n_modules, nodes_room, modules_room;
    int64_t *order; /* the nodes' numbers, every node after its inputs */
    int64_t *slots; /* open-addressed: number + 1 by the node's address; 0: free */
    int64_t n_slots;
} hd__graph;

/* ---------------------------------------------------------------- graph_nodes.c */

/* Reads the graph above root, and the names that the dictionary (or NULL) has for its nodes. False
 * if memory runs out; the caller calls hd__graph_free in either case. Texts live in the scope. */
bool hd__graph_read(hd__graph *g, const hd_node *root, const hd_dict *names);
void hd__graph_free(hd__graph *g);

/* The number of input k of node i, and which output of it that is; -1 if it needs no gradient. */
int64_t hd__graph_input(const hd__graph *g, int64_t i, int k, int *output);
bool hd__graph_is_leaf(const hd__graph *g, int64_t i);
int64_t hd__graph_elements(const hd_node *node, int output);

/* ---------------------------------------------------------------- graph_modules.c */

/* Finds the module of every node. Modules nested `depth` deep become boxes; 0: none does. */
bool hd__graph_group(hd__graph *g, const hd_dict *names, int depth);

/* ---------------------------------------------------------------- graph_titles.c */

/* What a reader calls node i: "Linear W_query", "Softmax", "att.out_proj.weight". Names begin after
 * the name of the module `cluster`. */
void hd__graph_title(const hd__graph *g, int64_t i, int64_t cluster, hd__text *t);
/* "Softmax" of "SoftmaxBackward0" */
int hd__graph_op_length(const char *op);

#endif
