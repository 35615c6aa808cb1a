/* dataset.h - datasets and their items (dataset.c). */
#ifndef HEED_DATA_DATASET_H
#define HEED_DATA_DATASET_H

#include <stdatomic.h>

#include "heed/data.h"

struct hd_dataset {
    atomic_int refs;
    atomic_bool freed; /* true if the program has called hd_dataset_free */
    /* of a part: the whole dataset, to which the part holds a reference; NULL: not a part */
    hd_dataset *whole;
    int64_t len;
    int64_t *order; /* order[k] is the number of item k in `whole`; NULL: not a part */

    /* the program's function that makes item i; NULL: the items are windows */
    hd_list *(*get)(int64_t i, void *user);
    void *user;
    void (*release)(void *user); /* frees user; may be NULL */
    /* the tokens of the windows, to which the whole dataset holds a reference; NULL: no windows */
    hd_tokens *tokens;
    int64_t max_length, stride;
};

/* Returns false with an error if s is NULL, or if the program has freed s. Public functions begin
 * with this check. Loaders and parts may still use a dataset that the program has freed. */
bool hd__data_dataset_given(const hd_dataset *s);
hd_dataset *hd__data_dataset_hold(const hd_dataset *s);
void hd__data_dataset_drop(hd_dataset *s); /* drops a reference to s; s may be NULL */

/* Returns a list of two tensors, for the inputs and targets of n windows. Each is (n, max_length),
 * or (max_length,) if ndim is 1; the elements are undefined. Returns NULL with an error if memory
 * runs out. */
hd_list *hd__data_windows_empty(const hd_dataset *s, int ndim, int64_t n);
/* Writes the input and the target of window `item` of s to row number `row` of the two tensors of
 * b. Cannot fail. */
void hd__data_windows_fill(const hd_list *b, int64_t row, const hd_dataset *s, int64_t item);

/* Returns the list of an item's tensors, in the innermost scope, which the caller has opened for
 * them. Returns NULL with an error if the program's get fails or memory runs out. */
hd_list *hd__data_dataset_item(const hd_dataset *s, int64_t item);
/* Returns false with an error unless l has two tensors. `what` is the name of l in the message, as
 * in "a batch of 3 tensors: expected 2, ...". */
bool hd__data_is_pair(const char *what, const hd_list *l);
/* Sets *input and *target (NULL: not wanted) to the two tensors of l, and moves these to the
 * enclosing scope. */
void hd__data_pair_give(const hd_list *l, hd_tensor **input, hd_tensor **target);

/* Checks a call of the program's own code that returns a list:
 *   hd__data_visit v = hd__data_visit_begin();
 *   return hd__data_visit_gave(&v, "collate", call_collate(...));
 * The caller has opened a scope. hd__data_visit_gave returns l, the list that the code returned. It
 * returns NULL with an error if the code failed, left a scope open, or returned something else than
 * a list of tensors. `who` names the code in the message. */
typedef struct hd__data_visit {
    const hd_scope *scope;
    uint64_t serial, failures;
} hd__data_visit;

hd__data_visit hd__data_visit_begin(void);
hd_list *hd__data_visit_gave(const hd__data_visit *v, const char *who, hd_list *l);

/* Returns a batch of n items, a list (collate.c). Tensor k of the list stacks tensor k of each item
 * along a new first dim. Returns NULL with an error if the items have different numbers, dtypes or
 * shapes of tensors, or if memory runs out. */
hd_list *hd__data_stack_items(hd_list *const *items, int64_t n);

#endif
