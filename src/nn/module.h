/* module.h - the private part of a module, which lists its tensors and children by name, and the
 * functions with which constructors fill it (module.c).
 *
 * Invariants: names are unique within a module. The module retains the tensor in each registered
 * field. A child's priv->parent is the module that holds the child; only the parent frees it. */
#ifndef HEED_NN_MODULE_H
#define HEED_NN_MODULE_H

#include "heed/nn.h"
#include "tensor/for_nn_and_optim.h"

typedef enum hd__nn_kind {
    HD__PARAMETER = 1,
    HD__BUFFER = 2,    /* a buffer that is in the state_dict */
    HD__TRANSIENT = 4, /* a buffer that is not in the state_dict */
    HD__CHILD = 8
} hd__nn_kind;

typedef struct hd__nn_entry {
    char *name;
    hd__nn_kind kind;
    hd_tensor **tensor; /* the field of the tensor in the module's struct; NULL for a child */
    /* the field of the child in the module's struct; NULL for a tensor, and for a child of a
     * container, which has no fields */
    hd_module **child;
    hd_module *own; /* the child itself, if the module is a container; otherwise NULL */
} hd__nn_entry;

/* A stray is a module without a parent that another module's forward has run.
 * src/diagnose/stray_modules.c warns of strays, and its lock protects this struct. */
typedef struct hd__nn_stray {
    const char *text;       /* such as "Net runs a Linear"; NULL if the module is not a stray */
    hd_module *prev, *next; /* the module's neighbours in the list of stray modules */
    bool told;              /* true once the warning was given */
} hd__nn_stray;

struct hd__module {
    hd_module *parent; /* the module that holds this one; NULL: none, so the user frees this one */
    hd_module *above;  /* for hd__module_after: the module from which the walk came to this one */
    int64_t place;     /* for hd__module_after: this module's index among above's entries */
    bool training;
    bool failed; /* true if a registration failed; hd_module_ready then fails, too */
    int64_t n, room;
    hd__nn_entry *entries;      /* n entries, in the order of registration */
    bool (*draw)(hd_module *m); /* draws the values of m's own tensors; NULL: none is to be drawn */
    hd__nn_stray stray;
};

/* Returns the child in entry e, or NULL if e holds a tensor, or if the user has set the field to
 * NULL. */
static inline hd_module *hd__nn_child(const hd__nn_entry *e)
{
    return e->child ? *e->child : e->own;
}

/* Returns the first child of m at entry *i or later, and sets *i to its entry. Returns NULL if no
 * child follows. */
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

/* Returns the module that follows m in the order of hd_module_visit, which begins with root; NULL
 * after the last one. Needs no memory and no recursion: on the way down it stores in each module
 * the module from which it came (`above`). So only one thread may walk at a time. The walk cannot
 * use `parent`: the user may have put a module without this parent into a field. */
hd_module *hd__module_after(const hd_module *root, hd_module *m);

/* Registers a child of a container m, as hd_register_module does, but without a field in m's
 * struct. The name must be new in m. On failure, frees the child and returns false with an error,
 * as hd_register_module does. */
bool hd__nn_register_own(hd_module *m, const char *name, hd_module *child);

/* The number of times that this thread has freed modules. By comparing it before and after a call
 * of the user's code, a walk sees whether that code has freed modules. */
extern HD__TLS uint64_t hd__nn_modules_freed;

/* ---------------------------------------------------------------- making and drawing */

/* A constructor allocates all tensors first and draws their values last. So a module that is too
 * large fails at once, and no random number is drawn for it. A function whose name ends in
 * _blank makes parameters with undefined values, and the module's `draw` fills them later. Under
 * HD_NO_INIT the parameters are zero, and nothing is drawn. */

/* Ends a constructor: calls hd_module_ready, then draws the values of m and of all modules below
 * it. If `draw` is not NULL, it becomes the function that draws m's own tensors. Returns m. On
 * failure, or if m is NULL, returns NULL; m is then freed, and the random generator is in its old
 * state. */
hd_module *hd__module_drawn(hd_module *m, bool (*draw)(hd_module *m));
/* Draws the values of m's own tensors, once. Under HD_NO_INIT only marks them as drawn. Returns
 * false with an error if a draw fails. */
bool hd__module_draw(hd_module *m);

/* Registers a new float32 parameter of n sizes with undefined values. If `wanted` is false, only
 * sets *field to HD_NONE. If the registration fails, hd_module_ready fails, too. Leaves no tensor
 * in the caller's scope. */
void hd__nn_register_blank(hd_module *m, const char *name, hd_tensor **field, bool wanted, int n,
                           const int64_t *sizes);

#endif
