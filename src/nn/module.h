/* module.h - the private part of a module, and how constructors fill it (module.c).
 *
 * Invariants: names are unique within a module. The field of a tensor's entry holds a tensor that
 * the module retains. A child's priv->parent is the module that holds it, and only that module
 * frees it. */
#ifndef HEED_NN_MODULE_H
#define HEED_NN_MODULE_H

#include "heed/nn.h"
#include "tensor/for_nn_and_optim.h"

typedef enum hd__nn_kind {
    HD__PARAMETER = 1,
    HD__BUFFER = 2,    /* persistent */
    HD__TRANSIENT = 4, /* a buffer that the state_dict leaves out */
    HD__CHILD = 8
} hd__nn_kind;

typedef struct hd__nn_entry {
    char *name;
    hd__nn_kind kind;
    hd_tensor **tensor; /* the registered field, in the module's struct */
    hd_module **child;  /* likewise; NULL: the child of a container, which is `own` */
    hd_module *own;
} hd__nn_entry;

/* For the warning of stray_modules.c in src/diagnose, whose lock protects it. */
typedef struct hd__nn_stray {
    const char *text;       /* "Net runs a Linear"; NULL: the module is not in the list */
    hd_module *prev, *next; /* its neighbours there */
    bool told;              /* the warning was given */
} hd__nn_stray;

struct hd__module {
    hd_module *parent; /* NULL: the user frees it */
    hd_module *above;  /* where hd__module_after came from, */
    int64_t place;     /* and which of its entries this module is */
    bool training;
    bool failed; /* a registration failed, so hd_module_ready will fail */
    int64_t n, room;
    hd__nn_entry *entries;      /* in the order of registration */
    bool (*draw)(hd_module *m); /* gives m's own tensors their values; NULL: they have them */
    hd__nn_stray stray;
};

/* NULL: e is no child, or the user has emptied its field. */
static inline hd_module *hd__nn_child(const hd__nn_entry *e)
{
    return e->child ? *e->child : e->own;
}

/* The first child of m from entry *i on, whose number *i becomes. NULL: there is none. */
static inline hd_module *hd__nn_child_from(const hd_module *m, int64_t *i)
{
    for (; *i < m->priv->n; ++*i) {
        hd_module *child = hd__nn_child(&m->priv->entries[*i]);
        if (child) {
            return child;
        }
    }
    return NULL;
}

bool hd__nn_has_children(const hd_module *m);

/* The module after m of all those below root, in the order of hd_module_visit; NULL after the last
 * one. root comes before them all. Needs no memory and no recursion: each module notes the way back
 * up, so only one thread may walk. The user may have changed the fields since the registration, and
 * `parent` with it, so that way is noted whenever it is gone down. */
hd_module *hd__module_after(const hd_module *root, hd_module *m);

/* Registers a child that has no field, as containers do, under a name that m does not have yet;
 * otherwise like hd_register_module. */
bool hd__nn_register_own(hd_module *m, const char *name, hd_module *child);

extern HD__TLS uint64_t hd__nn_modules_freed; /* how often this thread has freed modules */

/* ---------------------------------------------------------------- making and drawing */

/* A constructor first asks for all memory, and then writes to it: what is too large is refused at
 * once, and drawing cannot fail. The functions named `blank` make a module whose parameters have
 * undefined values; it has a `draw` to give them their values. Under HD_NO_INIT they are zero, and
 * nothing draws.
 *
 * Ends a constructor as hd_module_ready does, and draws m, by `draw` if it is not NULL, and all
 * modules below it. Gives m, or NULL, with m freed and nothing drawn. m may be NULL. */
hd_module *hd__module_drawn(hd_module *m, bool (*draw)(hd_module *m));
/* Draws m alone, unless it has its values, or HD_NO_INIT stands. */
bool hd__module_draw(hd_module *m);

/* Registers a new parameter without values, or HD_NONE if it is not wanted. Like
 * hd__nn_register_mask, it leaves no tensor in the caller's scope. */
void hd__nn_register_blank(hd_module *m, const char *name, hd_tensor **field, bool wanted, int n,
                           const int64_t *sizes);

#endif
