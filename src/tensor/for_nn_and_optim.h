/* for_nn_and_optim.h - what tensor offers, besides its public functions, to nn and optim. They see
 * no more of a tensor than a user does, so they include this header and no other internal one of
 * tensor. Its functions stand in the files that its chapters name. */
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

/* Is x, which is not NULL, a tensor that is not freed, and not HD_NONE? Sets no error. */
bool hd__tensor_exists(const hd_tensor *x);
/* Is l a list, and did its scope not close? */
bool hd__tensor_list_arg(const char *arg, const hd_list *l);

/* x's sizes in a message, as HD__SIZES writes them. */
#define HD__DIMS(x) HD__SIZES(hd_ndim(x), hd_sizes(x))

static inline bool hd__tensor_is_float(int dtype)
{
    return dtype == HD_FLOAT32 || dtype == HD_FLOAT64;
}

/* Are elements of dtype d floating-point numbers, be it only for storing? */
static inline bool hd__tensor_holds_floats(int d)
{
    return hd__tensor_is_float(d) || d == HD_BFLOAT16;
}

/* ---------------------------------------------------------------- writing (access.c, copy.c) */

/* Does hd_data_mut give x's elements? Fails where it does, and changes nothing: whoever writes to
 * several tensors asks for all of them before the first is written. */
bool hd__tensor_may_write(hd_tensor *x);
/* May all elements of x be written, each by itself? Fails for an expanded x, for a leaf that
 * requires grad in grad mode, and for a gradient that is lent to a hook. */
bool hd__tensor_writable(const char *arg, hd_tensor *x);
/* Do two indices reach the same element, as in an expanded tensor? */
bool hd__tensor_overlaps_itself(const hd_tensor *x);
/* x = the array, row-major and of x's dtype. The caller has asked hd__tensor_writable. */
void hd__tensor_write_array(hd_tensor *x, const void *array);

/* ---------------------------------------------------------------- another dtype (lifecycle.c) */

/* May the leaf t take over other elements? Not while a backward runs on this thread: HD_STATE. */
bool hd__tensor_may_take_over(const hd_tensor *t);
/* t becomes what y is, a fresh tensor of its shape: it takes over storage, dtype and layout, and
 * its .grad becomes g, or nothing for HD_NONE. Its holders and hooks stay. Views of t, and what a
 * graph saved of it, keep the storage that it had. Cannot fail. */
void hd__tensor_take_over(hd_tensor *t, const hd_tensor *y, hd_tensor *g);
extern atomic_uint hd__tensor_taken_over; /* how often that was called */

/* ---------------------------------------------------------------- warnings (access.c) */

/* What is known of a leaf's .grad while somebody hears warnings. */
typedef struct hd__tensor_grad_use {
    uint64_t by;     /* the optimizer that stepped with it and, but for backward, changed it last */
    int64_t version; /* of its storage after that step, or after the last backward */
    int64_t stepped; /* the version of the leaf itself after that step */
    bool added;      /* a backward has added to it since */
    atomic_bool written; /* a backward has written it since an optimizer looked */
} hd__tensor_grad_use;

/* That of p, to be changed, and the version of its .grad now, or -1, unless `version` is NULL. It
 * gives NULL if p is no leaf that requires grad, or did so once. */
hd__tensor_grad_use *hd__tensor_grad_use_of(const hd_tensor *p, int64_t *version);
/* How often x's elements were changed in place. */
int64_t hd__tensor_version_of(const hd_tensor *x);

/* ---------------------------------------------------------------- scopes (scope.c) */

/* The innermost scope of this thread; NULL until the thread makes its first tensor. */
extern HD__TLS hd_scope *hd__scope_top;
/* Every scope begins with its serial number. A scope that is closed may be followed by another one
 * at the same address, but with another number. */
typedef struct hd__scope_head {
    uint64_t serial; /* above 0; no two scopes of a thread have the same */
} hd__scope_head;
static inline uint64_t hd__scope_serial(const hd_scope *s)
{
    return ((const hd__scope_head *)s)->serial;
}
/* How many scopes are open above s on this thread; -1 if s itself, with that serial number, is not
 * open; 0 stands for any number. */
int hd__scopes_above(const hd_scope *s, uint64_t wanted);
/* The user's code, which `who` names, left so many scopes open, or (-1) closed scopes that it had
 * not opened. Fails with HD_STATE. */
bool hd__scopes_wrong(const char *who, int above);

/* Moves a text into the innermost scope, and frees it. Returns NULL after a failure. */
const char *hd__tensor_text_give(hd__text *t);

/* ---------------------------------------------------------------- dictionaries (dict.c) */

/* Are the object, which the caller calls `arg`, the dictionary d and prefix all given? */
#define hd__tensor_state_given(arg, object, d, prefix)                                             \
    (hd__object(arg, object) && hd__object("d", d) && hd__arg_given("prefix", prefix))

/* The largest count of steps or epochs that is taken from saved state: a double has it exactly, and
 * no later step overflows it. */
#define HD__MOST_SAVED ((int64_t)1 << 53)

/* A saving function writes all of its entries to d or none: it fills `fresh`, a new dictionary, and
 * ends with this. If complete, what is in fresh goes to d, or nothing if memory runs out. Frees
 * fresh, which may be NULL. Returns whether d has it all now. */
bool hd__dict_commit(hd_dict *d, hd_dict *fresh, bool complete);

/* What a function that saves the state of an object, the argument `arg`, does: checks its
 * arguments, has `write` fill a dictionary in a scope, and then changes d as hd__dict_commit
 * does. */
#define hd__tensor_state_save(arg, object, d, prefix, write)                                       \
    (hd__tensor_state_given(arg, object, d, prefix) &&                                             \
     hd__dict_state_write(object, d, prefix, write))
bool hd__dict_state_write(const void *object, hd_dict *d, const char *prefix,
                          bool (*write)(const void *object, hd_dict *fresh, const char *prefix));
/* Notes in fresh that d shall not have this name any more. */
bool hd__dict_set_removed(hd_dict *fresh, const char *name);
/* A row-major copy of d's tensor for x, whose dtype and shape it must have: "hd_optim_load: 'o.sum'
 * is float32 (2,): expected float32 (3,)". `of`: what the message names before the key, or "". */
hd_tensor *hd__dict_copy(const char *of, const hd_dict *d, const char *key, const hd_tensor *x);
/* Reads the integer `name` of d, which must be in [least, most]: "hd_optim_load: 'o.step' is 0:
 * expected 1 to 9". name NULL: false. */
bool hd__dict_int_within(const hd_dict *d, const char *name, int64_t least, int64_t most,
                         int64_t *v);

#endif
