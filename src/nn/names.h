/* names.h - what is inside a module, under dotted names (names.c). */
#ifndef HEED_NN_NAMES_H
#define HEED_NN_NAMES_H

#include "nn/module.h"

/* A walk over a module and all modules below it, parents first. Modules may be nested as deeply as
 * memory allows, so it keeps its place on a stack of its own. It writes to no module.
 *   hd__walk w = {.root = m};
 *   while (hd__walk_next(&w)) {
 *       look_at(w.m);
 *   }
 *   bool ok = hd__walk_end(&w); */
typedef struct hd__walk {
    hd_module *root, *m; /* m: where the walk is */
    const hd__entry *at; /* the entry that holds m; NULL for root */
    bool named;          /* is path wanted? */
    hd__text path;       /* the names that lead to m, with dots; empty for root */
    struct hd__step {
        hd_module *m;
        int64_t next; /* entry */
        size_t len;   /* of m's path */
    } * v;
    int64_t n, room; /* n: m's depth, 1 for root */
} hd__walk;

/* False after the last module, and if memory runs out. */
bool hd__walk_next(hd__walk *w);
/* Frees what w has. Was there enough memory? */
bool hd__walk_end(hd__walk *w);

typedef struct hd__item {
    const char *name; /* with dots; NULL: names were not wanted */
    hd__kind kind;
    hd_tensor **field, *t; /* t: what the field held */
    int64_t first;         /* the index of the first item with that tensor */
} hd__item;

typedef struct hd__items {
    hd__item *v;
    int64_t n, room;
    hd_dict *names; /* from each name to the index of its item, in their order; or NULL */
} hd__items;

/* Collects the tensors of the argument m and of all modules below it whose kind is in the mask
 * `kinds`, in PyTorch's order. A tensor that is in several fields has several items. HD__UNNAMED in
 * kinds leaves the names out: those of n tensors in n nested modules take memory and time in n^2.
 * *items must be zeroed before; free it whatever the result. */
enum { HD__UNNAMED = 16 };
bool hd__collect(const hd_module *m, int kinds, hd__items *items);
void hd__items_free(hd__items *items);

/* The entry of the argument m with this dotted name whose kind is in the mask `kinds`. If there is
 * none, fails with "Linear has no buffer \"mask\"", where `what` is "buffer". So it does if its
 * field is empty, unless holder is given: *holder becomes the module that has the entry. */
hd__entry *hd__find(const hd_module *m, const char *name, int kinds, const char *what,
                    hd_module **holder);

#endif
