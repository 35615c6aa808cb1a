/* for_nn_and_optim.h - the internal functions of tensor that nn and optim may call. They include no
 * other internal header of tensor. Each section names the file of its functions. */
#ifndef HEED_TENSOR_FOR_NN_AND_OPTIM_H
#define HEED_TENSOR_FOR_NN_AND_OPTIM_H

#include "base/error/error.h"
#include "base/events.h"
#include "base/memory/object.h"
#include "base/text/text.h"
#include "heed/tensor.h"
#include "tensor/arg.h"

/* ---------------------------------------------------------------- arguments (tensor_args.c,
 * list.c) */

/* True if x, which is not NULL, is a tensor: not HD_NONE and not freed. Sets no error. */
bool hd__tensor_exists(const hd_tensor *x);
/* True if l is a list whose scope is still open. Otherwise sets an error. */
bool hd__tensor_list_arg(const char *arg, const hd_list *l);

/* x's sizes in a message: "(2, 3)". */
#define HD__DIMS(x) HD__SIZES(hd_ndim(x), hd_sizes(x))

static inline bool hd__tensor_is_float(int dtype)
{
    return dtype == HD_FLOAT32 || dtype == HD_FLOAT64;
}

/* True for every floating-point dtype, also for bfloat16, which heed only stores. */
static inline bool hd__tensor_holds_floats(int d)
{
    return hd__tensor_is_float(d) || d == HD_BFLOAT16;
}

/* ---------------------------------------------------------------- writing (access.c, copy.c) */

/* True if hd_data_mut(x) would succeed; otherwise fails as it does. Changes nothing. A function
 * that writes to several tensors checks all of them first. */
bool hd__tensor_may_write(hd_tensor *x);
/* True if every element of x may be written separately. Fails for an expanded x, for a leaf that
 * requires grad in grad mode, and for a gradient that was passed to a hook. */
bool hd__tensor_writable(const char *arg, hd_tensor *x);
/* True if several indices reach the same element, as in an expanded tensor. */
bool hd__tensor_overlaps_itself(const hd_tensor *x);
/* Copies a row-major array of x's dtype to x. The caller has called hd__tensor_writable. */
void hd__tensor_write_array(hd_tensor *x, const void *array);

/* ---------------------------------------------------------------- another dtype (lifecycle.c) */

/* True if hd__tensor_take_over may be called on leaf t. Fails with HD_STATE while a backward runs
 * on this thread. */
bool hd__tensor_may_take_over(const hd_tensor *t);
/* Gives leaf t the storage, dtype and strides of y, a fresh tensor of t's shape. Its .grad becomes
 * g, or none for HD_NONE. It keeps its holders and hooks. Views of t, and aliases that a graph
 * saved, keep the old storage. Cannot fail. */
void hd__tensor_take_over(hd_tensor *t, const hd_tensor *y, hd_tensor *g);
extern atomic_uint hd__tensor_taken_over; /* the number of these calls in the process */

/* ---------------------------------------------------------------- warnings (access.c) */

/* How a leaf's .grad was used. Kept up to date only while a program listens to warnings. */
typedef struct hd__tensor_grad_use {
    uint64_t by;     /* the optimizer that stepped with it; 0: none, or the program changed it */
    int64_t version; /* of the .grad, after that step or the last backward: the later of both */
    int64_t stepped; /* version of the leaf itself after that step */
    bool added;      /* a backward has added to it since that step */
    atomic_bool written; /* a backward has written it since the last step of any optimizer */
} hd__tensor_grad_use;

/* The record of p's .grad, which the caller may change; NULL if p is no leaf or has never required
 * grad. *version, unless NULL, becomes the present version of p's .grad; -1 without one. */
hd__tensor_grad_use *hd__tensor_grad_use_of(const hd_tensor *p, int64_t *version);
/* The number of in-place changes of x's storage so far. */
int64_t hd__tensor_version_of(const hd_tensor *x);

/* ---------------------------------------------------------------- scopes (scope.c) */

/* The innermost scope of this thread; NULL until the thread makes its first tensor. */
extern HD__TLS hd_scope *hd__scope_top;
/* The first field of every scope. After a scope closes, a new one may have its address, but never
 * its serial number. */
typedef struct hd__scope_head {
    uint64_t serial; /* above 0; no two scopes of a thread have the same */
} hd__scope_head;
static inline uint64_t hd__scope_serial(const hd_scope *s)
{
    return ((const hd__scope_head *)s)->serial;
}
/* The number of open scopes inside s on this thread. Returns -1 if s is not open, or if its serial
 * number is not `wanted`; a `wanted` of 0 matches every number. */
int hd__scopes_above(const hd_scope *s, uint64_t wanted);
/* Fails with HD_STATE, because the user's code, named `who`, left `above` scopes open. If above is
 * -1, it closed a scope that it had not opened. */
bool hd__scopes_wrong(const char *who, int above);

/* Moves t's text into the innermost scope. NULL if memory runs out, or ran out in t before. */
const char *hd__tensor_text_give(hd__text *t);

/* ---------------------------------------------------------------- dictionaries (dict.c) */

/* Checks the arguments of a function that saves or loads state; `arg` is the object's name. */
#define hd__tensor_state_given(arg, object, d, prefix)                                             \
    (hd__object(arg, object) && hd__object("d", d) && hd__arg_given("prefix", prefix))

/* The largest count of steps or epochs that a function loads from saved state. A double holds it
 * exactly, and no later step overflows it. */
#define HD__MOST_SAVED ((int64_t)1 << 53)

/* Ends a function that saves state and has filled `fresh`, a new dictionary. If `complete`, moves
 * all entries of fresh to d; none if memory runs out. Frees fresh, which may be NULL. Returns true
 * if it has moved them. */
bool hd__dict_commit(hd_dict *d, hd_dict *fresh, bool complete);

/* The body of a function that saves an object's state: checks its arguments, lets `write` fill a
 * new dictionary in a scope, and ends with hd__dict_commit. */
#define hd__tensor_state_save(arg, object, d, prefix, write)                                       \
    (hd__tensor_state_given(arg, object, d, prefix) &&                                             \
     hd__dict_state_write(object, d, prefix, write))
bool hd__dict_state_write(const void *object, hd_dict *d, const char *prefix,
                          bool (*write)(const void *object, hd_dict *fresh, const char *prefix));
/* Marks a name in fresh, so that hd__dict_commit removes it from d. */
bool hd__dict_set_removed(hd_dict *fresh, const char *name);
/* A row-major copy of d's tensor `key`. It must have x's dtype and shape: "hd_optim_load: 'o.sum'
 * is float32 (2,): expected float32 (3,)". `of`: a text before the key in the message, or "". */
hd_tensor *hd__dict_copy(const char *of, const hd_dict *d, const char *key, const hd_tensor *x);
/* *v = d's integer `name`. Fails if it is outside [least, most]: "hd_optim_load: 'o.step' is 0:
 * expected 1 to 9". False for a NULL name, after a failed hd__dict_field. */
bool hd__dict_int_within(const hd_dict *d, const char *name, int64_t least, int64_t most,
                         int64_t *v);

#endif
