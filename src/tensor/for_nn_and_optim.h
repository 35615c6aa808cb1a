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
/* True if l is a list whose scope is still open; otherwise sets an error. */
bool hd__tensor_list_arg(const char *arg, const hd_list *l);

/* x's sizes as a string for a message: "(2, 3)". */
#define HD__DIMS(x) HD__SIZES(hd_ndim(x), hd_sizes(x))

static inline bool hd__tensor_is_float(int dtype)
{
    return dtype == HD_FLOAT32 || dtype == HD_FLOAT64;
}

/* True if d is a floating-point dtype. bfloat16, which heed only stores, is one. */
static inline bool hd__tensor_holds_floats(int d)
{
    return hd__tensor_is_float(d) || d == HD_BFLOAT16;
}

/* ---------------------------------------------------------------- writing (access.c, copy.c) */

/* True if hd_data_mut(x) would succeed; otherwise sets the error that hd_data_mut would set.
 * Changes nothing. A function that writes to several tensors checks all of them first. */
bool hd__tensor_may_write(hd_tensor *x);
/* True if every element of x may be written separately; otherwise sets an error. Refuses an
 * expanded x, a leaf that requires grad in grad mode, and a gradient that was passed to a hook. */
bool hd__tensor_writable(const char *arg, hd_tensor *x);
/* True if several indices reach the same element, as in an expanded tensor. */
bool hd__tensor_overlaps_itself(const hd_tensor *x);
/* Copies a row-major array of x's dtype to x. The caller has checked x with hd__tensor_writable. */
void hd__tensor_write_array(hd_tensor *x, const void *array);

/* ---------------------------------------------------------------- another dtype (lifecycle.c) */

/* True if hd__tensor_take_over may be called on leaf t. Fails with HD_STATE while a backward runs
 * on this thread. */
bool hd__tensor_may_take_over(const hd_tensor *t);
/* Gives leaf t the storage, dtype and strides of y, a new tensor of t's shape. Its .grad becomes g;
 * if g is HD_NONE, t has no .grad afterwards. t keeps its references and hooks. Views of t, and
 * aliases that a graph saved, keep the old storage. Cannot fail. */
void hd__tensor_take_over(hd_tensor *t, const hd_tensor *y, hd_tensor *g);
extern atomic_uint hd__tensor_taken_over; /* number of calls of hd__tensor_take_over */

/* ---------------------------------------------------------------- warnings (access.c) */

/* A record of how a leaf's .grad was used. It is kept up to date only while a program listens to
 * warnings. */
typedef struct hd__tensor_grad_use {
    /* number of the optimizer that stepped with it; 0 if none did, or if the program changed it */
    uint64_t by;
    int64_t version;     /* the .grad's version after that step or the last backward, if later */
    int64_t stepped;     /* the leaf's version after that step */
    bool added;          /* a backward has added to it since that step */
    atomic_bool written; /* a backward has written it since the last step of any optimizer */
} hd__tensor_grad_use;

/* Returns the record of p's .grad, which the caller may change. Returns NULL if p has no node, or
 * is not a leaf that ever required grad. If p has a node and version is not NULL, sets *version to
 * the version of p's .grad, or to -1 if p has no .grad. */
hd__tensor_grad_use *hd__tensor_grad_use_of(const hd_tensor *p, int64_t *version);
/* Returns the number of in-place changes of x's storage so far. */
int64_t hd__tensor_version_of(const hd_tensor *x);

/* ---------------------------------------------------------------- scopes (scope.c) */

/* The innermost scope of this thread; NULL until the thread makes its first tensor. */
extern HD__TLS hd_scope *hd__scope_top;
/* The first field of every scope. After a scope closes, a new one may have its address, but never
 * its serial number. */
typedef struct hd__scope_head {
    uint64_t serial; /* above 0; no two scopes of a thread share one */
} hd__scope_head;
static inline uint64_t hd__scope_serial(const hd_scope *s)
{
    return ((const hd__scope_head *)s)->serial;
}
/* Returns the number of open scopes inside s on this thread, or of all open scopes if s is NULL.
 * Returns -1 if s is not open, or if its serial number is not `wanted`. A `wanted` of 0 matches
 * every number. */
int hd__scopes_above(const hd_scope *s, uint64_t wanted);
/* Sets HD_STATE and returns false, because the user's code, named `who`, left `above` scopes open.
 * If above is -1, it closed a scope that it had not opened. */
bool hd__scopes_wrong(const char *who, int above);

/* Moves t's text into the innermost scope, and returns it. Returns NULL if memory runs out, or ran
 * out while t was built. */
const char *hd__tensor_text_give(hd__text *t);

/* ---------------------------------------------------------------- dictionaries (dict.c) */

/* Checks the arguments of a function that saves or loads state; `arg` is the name of the argument
 * `object`. */
#define hd__tensor_state_given(arg, object, d, prefix)                                             \
    (hd__object(arg, object) && hd__object("d", d) && hd__arg_given("prefix", prefix))

/* The largest count of steps or epochs that a function loads from saved state. A double holds it
 * exactly, and no later step overflows it. */
#define HD__MOST_SAVED ((int64_t)1 << 53)

/* The last step of a function that saves state and has filled `fresh`, a new dictionary. If
 * `complete`, moves all entries of fresh to d, or none if memory runs out. Frees fresh, which may
 * be NULL. Returns true if it has moved the entries. */
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
/* Returns a row-major copy of d's tensor `key`. Fails with HD_SHAPE unless it has x's dtype and
 * shape: "hd_optim_load: 'o.sum' is float32 (2,): expected float32 (3,)". `of` is a string that
 * comes before the key in the message, or "". */
hd_tensor *hd__dict_copy(const char *of, const hd_dict *d, const char *key, const hd_tensor *x);
/* Sets *v to d's integer `name`. Fails with HD_VALUE if it is outside [least, most]:
 * "hd_optim_load: 'o.step' is 0: expected 1 to 9". Also returns false if name is NULL, as it is
 * after hd__dict_field has failed. */
bool hd__dict_int_within(const hd_dict *d, const char *name, int64_t least, int64_t most,
                         int64_t *v);

#endif
