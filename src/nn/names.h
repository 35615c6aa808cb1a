/* names.h - walks over a module and the modules below it, and finds or collects their tensors under
 * dotted names, as "blocks.0.att.W_query.weight" (names.c). */
#ifndef HEED_NN_NAMES_H
#define HEED_NN_NAMES_H

#include "nn/module.h"

/* A walk over a module and all modules below it, parents first. Its stack lies on the heap, so
 * modules may be nested as deeply as memory allows. It writes to no module.
 *   hd__nn_walk w = {.root = m};
 *   while (hd__nn_walk_next(&w)) {
 *       look_at(w.m);
 *   }
 *   bool ok = hd__nn_walk_end(&w); */
typedef struct hd__nn_walk {
    hd_module *root, *m;    /* m: the current module */
    const hd__nn_entry *at; /* the entry in which m was found; NULL for root */
    bool named;             /* the caller sets it; true: the walk sets `path` */
    hd__text path;          /* m's dotted name; empty for root */
    struct hd__nn_step {
        hd_module *m;
        int64_t next; /* the index of m's entry at which the walk continues */
        size_t len;   /* the length of m's path */
    } * v;
    int64_t n, room; /* n: the number of modules on the stack v, from root to m */
} hd__nn_walk;

/* Moves w->m to the next module. Returns false after the last one, and with an error if memory runs
 * out. hd__nn_walk_end tells the caller which of the two has happened. */
bool hd__nn_walk_next(hd__nn_walk *w);
/* Frees w's memory. Returns false if memory ran out, and so the walk left out modules. */
bool hd__nn_walk_end(hd__nn_walk *w);

typedef struct hd__nn_item {
    const char *name; /* the dotted name; NULL with HD__UNNAMED */
    hd__nn_kind kind;
    hd_tensor **field, *t; /* the field, and the tensor in it */
    int64_t first;         /* index of the first item that has this tensor */
} hd__nn_item;

typedef struct hd__nn_items {
    hd__nn_item *v;
    int64_t n, room;
    hd_dict *names; /* maps each name to its item's index; NULL with HD__UNNAMED */
} hd__nn_items;

/* Collects, in PyTorch's order, the tensors of m and of all modules below it whose kind is in the
 * mask `kinds`. A tensor in several fields has several items. HD__UNNAMED in `kinds` leaves the
 * names out, because the names of n tensors in n nested modules take O(n^2) bytes. Returns false
 * with an error on failure. The caller zeroes *items first, and frees it even after a failure. */
enum { HD__UNNAMED = 16 };
bool hd__nn_collect(const hd_module *m, int kinds, hd__nn_items *items);
void hd__nn_items_free(hd__nn_items *items);

/* Returns the entry with this dotted name whose kind is in the mask `kinds`. If m has none, returns
 * NULL with the error "Linear has no buffer \"mask\"", where `what` is "buffer". If holder is NULL,
 * does the same for an entry whose field is empty. Otherwise sets *holder to the module that has
 * the entry. */
hd__nn_entry *hd__nn_find(const hd_module *m, const char *name, int kinds, const char *what,
                          hd_module **holder);

#endif
