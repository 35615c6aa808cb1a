/* nn_internal.h - the private part of a module, and what the files of nn share.
 *
 * Invariants: names are unique within a module. The field of a tensor's entry holds a tensor that
 * the module retains. A child's priv->parent is the module that holds it, and only that module
 * frees it. */
#ifndef HEED_NN_INTERNAL_H
#define HEED_NN_INTERNAL_H

#include "base/error/lasting.h"
#include "heed/nn.h"
#include "tensor/for_nn_and_optim.h"

typedef enum hd__kind {
    HD__PARAMETER = 1,
    HD__BUFFER = 2,    /* persistent */
    HD__TRANSIENT = 4, /* a buffer that the state_dict leaves out */
    HD__CHILD = 8
} hd__kind;

typedef struct hd__entry {
    char *name;
    hd__kind kind;
    hd_tensor **tensor; /* the registered field, in the module's struct */
    hd_module **child;  /* likewise; NULL: the child of a container, which is `own` */
    hd_module *own;
} hd__entry;

struct hd__module {
    hd_module *parent; /* NULL: the user frees it */
    hd_module *above;  /* where hd__module_after came from, */
    int64_t place;     /* and which of its entries this module is */
    bool training;
    bool failed; /* a registration failed, so hd_module_ready will fail */
    int64_t n, room;
    hd__entry *entries;         /* in the order of registration */
    bool (*draw)(hd_module *m); /* gives m's own tensors their values; NULL: they have them */
};

/* NULL: e is no child, or the user has emptied its field. */
static inline hd_module *hd__child(const hd__entry *e)
{
    return e->child ? *e->child : e->own;
}

/* The first child of m from entry *i on, whose number *i becomes. NULL: there is none. */
static inline hd_module *hd__child_from(const hd_module *m, int64_t *i)
{
    for (; *i < m->priv->n; ++*i) {
        hd_module *child = hd__child(&m->priv->entries[*i]);
        if (child) {
            return child;
        }
    }
    return NULL;
}

bool hd__has_children(const hd_module *m);

/* The module after m of all those below root, in the order of hd_module_visit; NULL after the last
 * one. root comes before them all. Needs no memory and no recursion: each module notes the way back
 * up, so only one thread may walk. The user may have changed the fields since the registration, and
 * `parent` with it, so that way is noted whenever it is gone down. */
hd_module *hd__module_after(const hd_module *root, hd_module *m);

/* Registers a child that has no field, as containers do, under a name that m does not have yet;
 * otherwise like hd_register_module. */
bool hd__register_own(hd_module *m, const char *name, hd_module *child);

/* The i-th child of a Sequential or ModuleList; NULL if it has fewer. */
hd_module *hd__list_child(const hd_module *list, int64_t i);

/* ---------------------------------------------------------------- arguments */

/* Is x a tensor? NULL and HD_NONE fail with HD_NULL_ARG, a freed tensor with HD_STATE. */
bool hd__tensor_given(const char *arg, const hd_tensor *x);
/* Is value at least `least`? "hd_linear_new: in_features -1: expected 0 or more" */
bool hd__size_arg(const char *arg, int64_t value, int64_t least);
/* Is p a number from 0 to 1? "hd_dropout_new: p 1.5: expected a number from 0 to 1" */
bool hd__probability_arg(const char *arg, double p);
/* Can the width be dealt to so many heads? */
bool hd__heads_arg(const char *arg, int64_t width, int64_t num_heads);
/* Is m a module of that type? "hd_kv_cache_new: Linear: expected a MultiHeadAttention" */
bool hd__type_arg(const char *arg, const hd_module *m, const hd_module_type *type);

bool hd__sizes_are(const hd_tensor *x, int n, const int64_t *sizes);

/* ---------------------------------------------------------------- what is inside */

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

extern HD__TLS uint64_t hd__modules_freed; /* how often this thread has freed modules */

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
 * hd__register_mask, it leaves no tensor in the caller's scope. */
void hd__register_blank(hd_module *m, const char *name, hd_tensor **field, bool wanted, int n,
                        const int64_t *sizes);

/* ---------------------------------------------------------------- layers */

/* A Linear with another class name: the out_proj of nn.MultiheadAttention. */
extern const hd_module_type hd__packed_out_proj_type;
hd_module *hd__linear_blank(const hd_module_type *type, int64_t in_features, int64_t out_features,
                            bool bias);
extern const hd_module_type hd__linear_type;
bool hd__is_module_list(const hd_module *m); /* its summary shows equal children on one line */
/* A Dropout's p; 0 in evaluation mode, and for NULL; -1: m is another module. */
double hd__dropout_now(const hd_module *m);

/* ---------------------------------------------------------------- attention of the notebooks */

/* Each of those classes' structs begins with this. NULL stands for what a class does not have. */
typedef struct hd__attention {
    hd_module base;
    bool keep;
    hd_tensor *weights;                             /* the last ones, retained */
    hd_module *W_query, *W_key, *W_value, *dropout; /* Linear, and Dropout */
    hd_tensor *mask; /* (context_length, context_length), buffer: not 0 where it hides */
} hd__attention;

/* A module of that class with three blank Linear(d_in, d_out) under the notebooks' names and in
 * their order. */
hd_module *hd__attention_blank(const hd_module_type *type, int64_t d_in, int64_t d_out,
                               bool qkv_bias);

/* What the three make of x (..., d_in): (..., d_out) each, computed in the notebooks' order, keys
 * first. */
typedef struct hd__projected {
    hd_tensor *keys, *queries, *values;
} hd__projected;
hd__projected hd__project(const hd__attention *m, hd_tensor *x);

/* The context vectors (..., num_tokens, d), from queries (..., num_tokens, d) of the tokens first,
 * first + 1, ..., and keys and values (..., first + num_tokens, d). The attention is fused unless
 * hd_set_fused_attention(false) was called. */
hd_tensor *hd__masked_attention(hd__attention *m, hd__projected p, int64_t first);
/* softmax(attn_scores / sqrt(d)) values, d the last size of keys. It keeps the weights, after
 * dropout, if it was asked to. */
hd_tensor *hd__weigh(hd__attention *m, hd_tensor *attn_scores, hd_tensor *keys, hd_tensor *values);
void hd__attention_free(hd_module *self); /* the function `free` of these types */
/* Is x (b, num_tokens, d_in), with at most context_length tokens? */
bool hd__tokens_arg(const hd__attention *m, hd_tensor *x);
/* Checks the constructors' arguments. */
bool hd__attention_args(int64_t d_in, int64_t d_out, int64_t context_length, double dropout,
                        int64_t num_heads);
/* Registers the Dropout and the mask, (n, n). */
void hd__register_mask(hd__attention *m, double dropout, int64_t n);

typedef struct hd__multi_head_attention {
    hd__attention base;
    hd_module *out_proj;
    int64_t d_out, num_heads;
} hd__multi_head_attention;

/* hd__project of x (b, num_tokens, d_in), each split to (b, num_heads, num_tokens, head_dim) */
hd__projected hd__project_heads(const hd__multi_head_attention *m, hd_tensor *x);
/* Attention and out_proj for the tokens first, first + 1, ..., from queries (b, num_heads,
 * num_tokens, head_dim), and keys and values (b, num_heads, first + num_tokens, head_dim). Gives
 * (b, num_tokens, d_out). */
hd_tensor *hd__attend(hd__multi_head_attention *m, hd__projected p, int64_t first);

extern const hd_module_type hd__multi_head_attention_type;

#endif
